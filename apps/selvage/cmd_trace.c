/*
 * cmd_trace.c: selvage trace VERB: what MPI programs say to whom: recorded, read, made up, told.
 */
#include <stdio.h>
#include <string.h>

#include "selvage/trace_shared.h"

static const struct {
    const char *name, *full, *summary;
    int (*run)(struct app *app, int argc, char **argv);
} verbs[] = {
    {"record", "trace record", "run an MPI program, and write down what its ranks do",
     trace_record},
    {"join", "trace join", "one file of the files of ranks", trace_join},
    {"convert", "trace convert", "between file formats", trace_convert},
    {"make", "trace make", "a program's communication without the program", trace_make},
    {"info", "trace info", "who talks to whom, sizes, calls, phases", trace_info},
    {"check", "trace check", "whether a trace is whole: nothing is missing, nothing is twice",
     trace_check},
    {"seed", "trace seed", "solutions worked out beforehand, for sim --store", trace_seed},
};

enum { NUM_VERBS = sizeof verbs / sizeof verbs[0] };

static void print_names(char *to, size_t room)
{
    size_t length = 0;
    for (int i = 0; i < NUM_VERBS && length < room; i++)
        length += (size_t)snprintf(to + length, room - length, "%s%s",
                                   i == 0               ? ""
                                   : i == NUM_VERBS - 1 ? " and "
                                                        : ", ",
                                   verbs[i].name);
}

static void print_help(sv_text *out)
{
    sv_text_print(out, "usage: selvage trace VERB [ARGUMENTS]\n\n");
    for (int i = 0; i < NUM_VERBS; i++)
        sv_text_print(out, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
    sv_text_print(out,
                  "\nA TRACE is a .svt file, a folder of them (one a rank), a GOAL schedule, or "
                  "the .otf2 file\nof an archive.\n"
                  "selvage trace VERB --help explains a verb.\n");
}

int cmd_trace(struct app *app, int argc, char **argv)
{
    sv_text out;
    char names[128];
    print_names(names, sizeof names);
    for (int i = 0; i < NUM_VERBS && argc > 1; i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            app->verb = verbs[i].full;
            return verbs[i].run(app, argc - 1, argv + 1);
        }
    if (argc < 2)
        return app_usage_error(app, "which of %s?", names);
    if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        return app_usage_error(app, "'%s' is none of %s", argv[1], names);
    sv_status status = app_print_begin(app, &out);
    if (status == SV_OK) {
        print_help(&out);
        status = app_print_end(app, &out);
    }
    return app_exit(app, status);
}
