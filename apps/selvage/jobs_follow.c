/* jobs_follow.c: not there yet. */
#include "selvage/jobs_shared.h"

int jobs_follow(struct app *app, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return app_exit(app, sv_fail(app->ctx, SV_UNSUPPORTED, "jobs follow is not there yet"));
}
