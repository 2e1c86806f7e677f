/*
 * options.c: command lines by table. --name VALUE, --name=VALUE, -x VALUE, -xVALUE; "--" ends the
 * options. --help is everybody's; --threads N, too, and goes straight into the context.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/near.h"
#include "selvage/app.h"

int app_usage_error(struct app *app, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "selvage %s: ", app->verb);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (see selvage %s --help)\n", app->verb);
    return EXIT_USAGE;
}

static void print_option(const app_option *option)
{
    char left[64];
    int length = option->letter != 0 ? snprintf(left, sizeof left, "-%c, ", option->letter)
                                     : snprintf(left, sizeof left, "    ");
    snprintf(left + length, sizeof left - (size_t)length, "--%s%s%s", option->name,
             option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    if (strlen(left) > 26)
        printf("  %s\n  %-26s %s\n", left, "", option->help);
    else
        printf("  %-26s %s\n", left, option->help);
}

static const app_option common[] = {
    {"threads", 0, OPTION_NUMBER, NULL, "N", "threads to use (default: one for each core)"},
    {"help", 'h', OPTION_FLAG, NULL, NULL, "print this"},
    {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};

static int print_help(const struct app *app, const app_usage *usage)
{
    printf("usage: selvage %s %s\n\n%s\n\n", app->verb, usage->arguments, usage->summary);
    for (const app_option *option = usage->options; option->name != NULL; option++)
        print_option(option);
    for (const app_option *option = common; option->name != NULL; option++)
        print_option(option);
    printf("\nexample:\n");
    for (const char *line = usage->example; *line != 0;) {
        size_t length = strcspn(line, "\n");
        printf("  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (fflush(stdout) == 0)
        return EXIT_YES;
    fprintf(stderr, "selvage: cannot write '<stdout>': %s\n", strerror(errno));
    return EXIT_SYSTEM;
}

static const app_option *find(const app_option *table, const char *name, size_t length, char letter)
{
    for (const app_option *option = table; option->name != NULL; option++) {
        if (letter != 0
                ? option->letter == letter
                : strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static bool is_digits(const char *text)
{
    return *text != 0 && text[strspn(text, "0123456789")] == 0;
}

/* Stores a value; -1 or an exit code. */
static int store(struct app *app, const app_option *option, const char *value)
{
    uint64_t number = 0, max = option->kind == OPTION_SEED ? UINT64_MAX : UINT64_MAX - 1;
    if ((option->kind == OPTION_NUMBER || option->kind == OPTION_SEED) &&
        !sv_span_number(sv_span_of(value), max, &number))
        return app_usage_error(app, "--%s: '%s' is not a number%s", option->name, value,
                               is_digits(value) ? ": it is too large" : " (digits alone)");
    if (strcmp(option->name, "threads") == 0) {
        if (number < 1 || number > 1024)
            return app_usage_error(app, "--threads: '%s' is not in 1…1024", value);
        sv_ctx_set_threads(app->ctx, (unsigned)number);
        return -1;
    }
    app_list *list = option->value;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option->value = true;
        break;
    case OPTION_TEXT:
        *(const char **)option->value = value;
        break;
    case OPTION_NUMBER:
    case OPTION_SEED:
        *(uint64_t *)option->value = number;
        break;
    case OPTION_LIST:
        if (list->length == APP_MAX_LIST)
            return app_usage_error(app, "--%s is given more than %d times", option->name,
                                   APP_MAX_LIST);
        list->at[list->length++] = value;
        break;
    }
    return -1;
}

/* Which options came: a bit each, of the verb's and of everybody's. */
struct seen {
    uint64_t own, common;
};

/* Whether this came before; it has now. */
static bool again(struct seen *seen, const app_usage *usage, const app_option *option)
{
    bool is_common = option >= common && option < common + sizeof common / sizeof common[0];
    uint64_t *bits = is_common ? &seen->common : &seen->own;
    uint64_t bit = UINT64_C(1) << (option - (is_common ? common : usage->options));
    bool was = (*bits & bit) != 0;
    *bits |= bit;
    return was;
}

static int unknown_option(struct app *app, const app_usage *usage, const char *text, bool is_long,
                          size_t length)
{
    sv_text known;
    sv_near near = {""};
    sv_text_init(&known, app->ctx, NULL);
    for (const app_option *option = usage->options; option->name != NULL; option++)
        sv_text_print(&known, "--%s, ", option->name);
    for (const app_option *option = common; option->name != NULL; option++)
        sv_text_print(&known, "--%s, ", option->name);
    if (is_long && known.status == SV_OK)
        sv_near_hint(&near, (sv_span){text, length + 2}, known.at);
    sv_text_release(&known);
    return app_usage_error(app, "unknown option '%s'%s", text, near.hint);
}

/* One option at argv[*i]; -1 or an exit code. */
static int parse_option(struct app *app, const app_usage *usage, int argc, char **argv, int *i,
                        struct seen *seen)
{
    const char *text = argv[*i], *value = NULL;
    bool is_long = text[1] == '-';
    const char *name = text + (is_long ? 2 : 1);
    size_t length = is_long ? strcspn(name, "=") : 1;
    char letter = is_long ? 0 : *name;
    const app_option *option = find(usage->options, name, length, letter);
    if (option == NULL)
        option = find(common, name, length, letter);
    if (option == NULL)
        return unknown_option(app, usage, text, is_long, length);
    if (strcmp(option->name, "help") == 0)
        return print_help(app, usage);
    if (name[length] != 0)
        value = name + length + (is_long ? 1 : 0);
    if (again(seen, usage, option) && option->kind != OPTION_FLAG && option->kind != OPTION_LIST)
        return app_usage_error(app, "--%s is given twice", option->name);
    if (option->kind == OPTION_FLAG && value != NULL)
        return app_usage_error(app, "--%s takes no value", option->name);
    if (option->kind != OPTION_FLAG && value == NULL) {
        if (*i + 1 >= argc)
            return app_usage_error(app, "--%s needs %s", option->name, option->argument);
        value = argv[++*i];
    }
    return store(app, option, value);
}

int app_check_limits(struct app *app, const app_limit *limits, size_t count)
{
    for (const app_limit *l = limits; l < limits + count; l++)
        if (l->value != UINT64_MAX && (l->value < l->min || l->value > l->max))
            return app_usage_error(app, "--%s: %llu is not in %llu…%llu", l->name,
                                   (unsigned long long)l->value, (unsigned long long)l->min,
                                   (unsigned long long)l->max);
    return -1;
}

void app_warn_vls(struct app *app, uint64_t asked, unsigned used)
{
    if (asked != UINT64_MAX && asked > SV_HARDWARE_VLS && used <= SV_HARDWARE_VLS)
        sv_warn(app->ctx,
                "--vls %llu: no more than %d VLs are used unless they are needed, as InfiniBand "
                "has no more",
                (unsigned long long)asked, SV_HARDWARE_VLS);
}

int app_one_stream(struct app *app, const char *stream, const char *const *uses, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += uses[i] != NULL && strcmp(uses[i], "-") == 0;
    return used < 2 ? -1 : app_usage_error(app, "%zu things want standard %s", used, stream);
}

/* The directory of a path and what it is called there; false if there is no such directory. */
static bool find_directory(const char *path, struct stat *directory, const char **name)
{
    char text[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (length >= sizeof text)
        return false;
    memcpy(text, path, length);
    text[length] = 0;
    *name = path + length;
    return stat(length == 0 ? "." : text, directory) == 0;
}

bool app_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const char *name, *other;
    if (a == NULL || b == NULL || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    if (strcmp(a, b) == 0)
        return true;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    return find_directory(a, &x, &name) && find_directory(b, &y, &other) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino && strcmp(name, other) == 0;
}

int app_two_files(struct app *app, const char *option, const char *path, const char *other,
                  const char *other_path)
{
    if (!app_same_file(path, other_path))
        return -1;
    return app_usage_error(app, "--%s and --%s are the same file", option, other);
}

int app_parse(struct app *app, const app_usage *usage, int argc, char **argv, const char **words,
              int min, int max)
{
    int count = 0;
    bool options = true;
    struct seen seen = {0, 0};
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1] != 0) {
            int code = parse_option(app, usage, argc, argv, &i, &seen);
            if (code >= 0)
                return code;
        } else if (count == max) {
            return app_usage_error(app, "'%s' is one argument too many", argv[i]);
        } else {
            words[count++] = argv[i];
        }
    }
    if (count < min)
        return app_usage_error(app, "%d argument%s missing: selvage %s %s", min - count,
                               min - count == 1 ? " is" : "s are", app->verb, usage->arguments);
    return -1;
}
