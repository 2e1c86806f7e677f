/* jobs_shared.h: the verbs below selvage jobs, one a file. */
#ifndef SELVAGE_JOBS_SHARED_H
#define SELVAGE_JOBS_SHARED_H

#include <selvage/experimental/jobs.h>

#include "base/map.h"
#include "selvage/app.h"

/* --format F of jobs. EXIT_USAGE for an unknown one, else -1. */
int jobs_format(struct app *app, const char *name, sv_jobs_format *format);

/* Warns of the first hosts that are not in the fabric, with their lines, and counts the rest. */
void jobs_warn_unknown(struct app *app, const char *file, const sv_allocations *jobs,
                       const sv_placed *placed);

/* BAD_INPUT when jobs run, and not one of their hosts is in the fabric: it is another's. */
sv_status jobs_must_be_there(struct app *app, const char *file, const sv_allocations *jobs,
                             const sv_placed *placed);

/* Whether there are jobs, and all of them have ended: then nothing is known of what runs now. */
bool jobs_all_ended(const sv_allocations *jobs);

int jobs_read(struct app *app, int argc, char **argv);
int jobs_filter(struct app *app, int argc, char **argv);
int jobs_follow(struct app *app, int argc, char **argv);
int jobs_replay(struct app *app, int argc, char **argv);
int jobs_make(struct app *app, int argc, char **argv);

#endif
