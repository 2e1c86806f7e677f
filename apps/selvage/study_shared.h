/*
 * study_shared.h: what the files of `selvage study` share.
 */
#ifndef SELVAGE_STUDY_SHARED_H
#define SELVAGE_STUDY_SHARED_H

#include <selvage/experimental/study.h>

#include "selvage/app.h"

/* What was typed. */
struct study_options {
    const char *name;
    const char *words[APP_MAX_LIST];
    int num_words;
    app_list fabrics, links, switches, both, years, states, seeds, engines, vls, traffic, messages,
        loads, tables;
    const char *ratio, *model, *profile, *lost, *part, *keep, *database, *seconds, *memory,
        *threshold, *table;
    bool no_sim, bound, retry, json, csv, dry_run, quiet;
    int64_t plan; /* in the database, once it was run; 0: all of them */
    uint64_t ebb, stop_after, slurm;
};

/* A study that has a name: what it does unless told otherwise. */
typedef struct study_kind {
    const char *name;
    const char *fabric, *links, *years, *model, *seeds, *engines, *vls, *lost, *messages;
    unsigned ebb;
    bool no_sim;
    bool no_run;        /* only reads what is there */
    const char *answer; /* of the database; NULL: none */
} study_kind;

const study_kind *study_kind_named(const char *name);
/* Says that there is none of that name; EXIT_USAGE. */
int study_kind_unknown(struct app *app, const char *name);

/* Fills a request from options and the kind's defaults; -1 or an exit code. The lists are kept in
 * the options. */
int study_request(struct app *app, struct study_options *o, const study_kind *kind,
                  sv_study_request *request, sv_study_limits *limits);

/* A line on the terminal: how far it is. */
struct study_bar {
    struct app *app;
    uint64_t told_ns;
    bool shown;
};
void study_bar_show(void *user, const sv_study_progress *progress);
void study_bar_clear(struct study_bar *bar);

/* A script for Slurm that runs the study as an array of jobs. */
void study_print_slurm(sv_text *out, const struct study_options *o, const char *words);

/* The processes that mpirun started. *team NULL: this one is alone. An exit code, or -1. */
int study_team_open(struct app *app, const sv_study_team **team);
void study_team_close(const sv_study_team *team);
/* Cells at a time for each process, so that those of a machine share its cores. */
unsigned study_team_threads(const sv_study_team *team);

#endif
