/*
 * cmd_jobs.c: selvage jobs VERB: what stands between a batch system and the routing.
 */
#include <stdio.h>
#include <string.h>

#include "selvage/jobs_shared.h"

static const struct {
    const char *name, *full, *summary;
    int (*run)(struct app *app, int argc, char **argv);
} verbs[] = {
    {"read", "jobs read", "who runs where, as a job map: from squeue, JSON, sacct or SWF",
     jobs_read},
    {"filter", "jobs filter", "whether jobs changed in a way that routing should follow",
     jobs_filter},
    {"follow", "jobs follow", "a daemon: polls the batch system, and has OpenSM reroute",
     jobs_follow},
    {"replay", "jobs replay", "a history of jobs over a fabric, with several engines", jobs_replay},
    {"make", "jobs make", "a history made up, for fabrics without one", jobs_make},
};

enum { NUM_VERBS = sizeof verbs / sizeof verbs[0] };

static void print_help(sv_text *out)
{
    sv_text_print(out, "usage: selvage jobs VERB [ARGUMENTS]\n\n");
    for (int i = 0; i < NUM_VERBS; i++)
        sv_text_print(out, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
    sv_text_print(out, "\nselvage jobs VERB --help explains a verb.\n");
}

int cmd_jobs(struct app *app, int argc, char **argv)
{
    sv_text out;
    for (int i = 0; i < NUM_VERBS && argc > 1; i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            app->verb = verbs[i].full;
            return verbs[i].run(app, argc - 1, argv + 1);
        }
    if (argc < 2)
        return app_usage_error(app, "which of read, filter, follow, replay and make?");
    if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        return app_usage_error(app, "'%s' is none of read, filter, follow, replay and make",
                               argv[1]);
    sv_status status = app_print_begin(app, &out);
    if (status == SV_OK) {
        print_help(&out);
        status = app_print_end(app, &out);
    }
    return app_exit(app, status);
}
