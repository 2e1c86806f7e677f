/*
 * study_tables.c: a database's answers on standard output.
 *
 * Text shows the beginning of a list of single cells only, unless that is what was asked for. CSV
 * of one table is just that; of several, each has a line with '#' and its name in front, and an
 * empty one between.
 */
#include "selvage/study_tables.h"

#include <string.h>

enum { CELLS_SHOWN = 40 };

static void print_text(sv_text *out, const sv_tables *tables, bool all)
{
    const char *between = "";
    size_t rows = 0;
    for (size_t i = 0; i < tables->count; i++)
        rows += sv_table_rows(tables->at[i]);
    for (size_t i = 0; i < tables->count; i++) {
        const sv_table *t = tables->at[i];
        bool cells = strcmp(t->name, "compare-cells") == 0;
        if (sv_table_rows(t) == 0 && (rows > 0 || i > 0))
            continue; /* that there is nothing is said once */
        sv_text_print(out, "%s", between);
        between = "\n\n";
        sv_table_write_text(out, t, cells && !all ? CELLS_SHOWN : 0);
    }
}

static void print_csv(sv_text *out, const sv_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        if (tables->count > 1)
            sv_text_print(out, "%s# %s\n", i > 0 ? "\n" : "", tables->at[i]->name);
        sv_table_write_csv(out, tables->at[i]);
    }
}

static void print_json(sv_text *out, const char *name, const sv_tables *tables)
{
    sv_json json;
    sv_json_init(&json, out);
    sv_json_begin_object(&json, NULL);
    sv_json_text(&json, "study", name);
    sv_json_begin_array(&json, "tables");
    for (size_t i = 0; i < tables->count; i++)
        sv_table_write_json(&json, NULL, tables->at[i]);
    sv_json_end(&json, ']');
    sv_json_end(&json, '}');
}

static sv_status print_tables(struct app *app, const char *name,
                              const struct study_print_options *o, const sv_tables *tables)
{
    sv_text out;
    sv_status status = app_print_begin(app, &out);
    if (status == SV_OK) {
        if (o->format == STUDY_JSON)
            print_json(&out, name, tables);
        else if (o->format == STUDY_CSV)
            print_csv(&out, tables);
        else
            print_text(&out, tables, o->table != NULL);
        status = app_print_end(app, &out);
    }
    return status;
}

/* Leaves only the table that was asked for. */
static sv_status choose(struct app *app, const char *table, sv_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        if (strcmp(tables->at[i]->name, table) == 0) {
            tables->at[0] = tables->at[i];
            tables->count = 1;
            return SV_OK;
        }
    return sv_refuse(app->ctx, "there is no table '%s' in this answer", table);
}

static sv_status answer(struct app *app, sqlite3 *db, const char *name,
                        const sv_answer_options *options, sv_tables *tables)
{
    if (strcmp(name, "all") == 0)
        return sv_answer_all(app->ctx, db, options, tables);
    return sv_answer(app->ctx, db, name, options, tables);
}

int study_print(struct app *app, const char *db, const char *name,
                const struct study_print_options *o)
{
    sqlite3 *opened = NULL;
    sv_answer_options options = o->answer;
    sv_arena arena;
    sv_tables tables;
    sv_arena_init(&arena, app->ctx);
    sv_tables_init(&tables, &arena);
    sv_status status = sv_answers_open(app->ctx, db, &opened);
    if (status == SV_OK && o->other != NULL)
        status = sv_answers_open(app->ctx, o->other, &options.other);
    if (status == SV_OK)
        status = answer(app, opened, name, &options, &tables);
    if (status == SV_OK && o->table != NULL)
        status = choose(app, o->table, &tables);
    if (status == SV_OK)
        status = print_tables(app, name, o, &tables);
    int code = app_exit(app, status);
    sqlite3_close(opened);
    if (options.other != o->answer.other)
        sqlite3_close(options.other);
    sv_arena_release(&arena);
    return code;
}
