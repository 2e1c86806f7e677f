/*
 * answer.c: for tests: a study's schema, and its answers without running one.
 *
 *   answer schema                        SQL that makes an empty database of the newest version
 *   answer DB NAME FORMAT [KEY=VALUE …]  what study_print prints; FORMAT: text, csv, json
 *
 * Keys: plan, fabric, threshold, links, switches (a year), years, a, b, other, table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selvage/study_tables.h"
#include "study/schema.h"

/* That of main.c, which has a main. */
int app_exit(struct app *app, sv_status status)
{
    if (status != SV_OK)
        fprintf(stderr, "answer: %s\n", sv_ctx_message(app->ctx));
    return status == SV_OK ? EXIT_YES : status == SV_BAD_INPUT ? EXIT_BAD_INPUT : EXIT_SYSTEM;
}

/* That of options.c, which has more behind it than is wanted here. */
int app_usage_error(struct app *app, const char *format, ...)
{
    (void)app;
    fprintf(stderr, "answer: %s\n", format);
    return EXIT_USAGE;
}

static void print_schema(void)
{
    for (int version = 1; version <= sv__schema_version(); version++)
        puts(sv__schema_step(version));
    printf("PRAGMA application_id = %d; PRAGMA user_version = %d;\n", SV__SCHEMA_ID,
           sv__schema_version());
}

static int set(struct study_print_options *o, const char *key, const char *value)
{
    const struct {
        const char *key;
        const char **text;
        double *number;
    } keys[] = {
        {"fabric", &o->answer.fabric, NULL},
        {"a", &o->answer.a, NULL},
        {"b", &o->answer.b, NULL},
        {"other", &o->other, NULL},
        {"table", &o->table, NULL},
        {"threshold", NULL, &o->answer.threshold},
        {"links", NULL, &o->answer.links_a_year},
        {"years", NULL, &o->answer.years},
        {"switches", NULL, &o->answer.switches_a_year},
    };
    if (strcmp(key, "plan") == 0) {
        o->answer.plan = atoll(value);
        return 0;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i].key) == 0) {
            if (keys[i].text != NULL)
                *keys[i].text = value;
            else
                *keys[i].number = atof(value);
            return 0;
        }
    fprintf(stderr, "answer: no key '%s'\n", key);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct study_print_options options = {.format = STUDY_TEXT};
    if (argc == 2 && strcmp(argv[1], "schema") == 0) {
        print_schema();
        return 0;
    }
    if (argc < 4)
        return EXIT_USAGE;
    options.format = strcmp(argv[3], "json") == 0  ? STUDY_JSON
                     : strcmp(argv[3], "csv") == 0 ? STUDY_CSV
                                                   : STUDY_TEXT;
    for (int i = 4; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL)
            return EXIT_USAGE;
        *value = 0;
        if (set(&options, argv[i], value + 1) != 0)
            return EXIT_USAGE;
    }
    struct app app = {.ctx = sv_ctx_new(NULL), .verb = "answer"};
    if (app.ctx == NULL)
        return EXIT_SYSTEM;
    int code = study_print(&app, argv[1], argv[2], &options);
    sv_ctx_free(app.ctx);
    return code;
}
