/*
 * study_team.c: the other processes of a study, if a launcher of MPI started this one.
 *
 * What talks to MPI is a module (plugin/mpi; modules.c finds it). A process that has company but
 * cannot talk to it must not run: all would do the same work.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../plugin/mpi/team.h"
#include "selvage/study_shared.h"

static struct {
    void *module;
    unsigned on_this_machine;
    void (*close)(const sv_study_team *team);
} loaded;

sv_status selvage_team_fail(sv_ctx *ctx, const char *doing, const char *why)
{
    return sv_fail(ctx, SV_IO, "cannot %s between processes: %s", doing, why);
}

/* How many processes the launcher started, as far as the environment tells. */
static int company(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && atoi(value) > 1)
            return atoi(value);
    }
    return 1;
}

/* Loads the module and meets the others; NULL, or why that did not go. */
static const char *meet(struct app *app, const sv_study_team **team)
{
    char path[PATH_MAX];
    if (app_find_module(app, "selvage-mpi.so", path) != SV_OK)
        return sv_ctx_message(app->ctx);
    loaded.module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (loaded.module == NULL)
        return dlerror();
    const sv_study_team *(*open)(unsigned *) = NULL;
    *(void **)&open = dlsym(loaded.module, "selvage_team_open");
    *(void **)&loaded.close = dlsym(loaded.module, "selvage_team_close");
    if (open == NULL || loaded.close == NULL)
        return "its module is none of selvage";
    *team = open(&loaded.on_this_machine);
    if (*team == NULL)
        return "MPI does not start";
    if ((*team)->size == 1) { /* the launcher's doing, not ours */
        study_team_close(*team);
        *team = NULL;
        return "it was built with another MPI than the launcher's";
    }
    return NULL;
}

int study_team_open(struct app *app, const sv_study_team **team)
{
    *team = NULL;
    int processes = company();
    if (processes <= 1)
        return -1;
    const char *failed = meet(app, team);
    if (failed == NULL)
        return -1;
    char why[2 * PATH_MAX];
    snprintf(why, sizeof why, "%s", failed);
    return app_exit(app, sv_fail(app->ctx, SV_UNSUPPORTED,
                                 "started %d times, but this selvage cannot talk to the others: %s",
                                 processes, why));
}

void study_team_close(const sv_study_team *team)
{
    if (team != NULL)
        loaded.close(team);
}

unsigned study_team_threads(const sv_study_team *team)
{
    (void)team;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned here = loaded.on_this_machine > 0 ? loaded.on_this_machine : 1;
    return cores > (long)here ? (unsigned)cores / here : 1;
}
