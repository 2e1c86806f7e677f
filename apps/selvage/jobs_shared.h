/* jobs_shared.h: the verbs below selvage jobs, one a file. */
#ifndef SELVAGE_JOBS_SHARED_H
#define SELVAGE_JOBS_SHARED_H

#include <selvage/jobs.h>

#include "selvage/app.h"

int jobs_read(struct app *app, int argc, char **argv);
int jobs_filter(struct app *app, int argc, char **argv);
int jobs_follow(struct app *app, int argc, char **argv);
int jobs_replay(struct app *app, int argc, char **argv);
int jobs_make(struct app *app, int argc, char **argv);

#endif
