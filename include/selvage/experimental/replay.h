/*
 * replay.h: histories of jobs: making one up for a fabric that has none, and playing one over a
 * fabric with several engines (thesis 5.3.2).
 */
#ifndef SELVAGE_REPLAY_H
#define SELVAGE_REPLAY_H

#include <selvage/experimental/jobs.h>
#include <selvage/routing.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- making a history up ---- */

/*
 * What a made-up history is like. Jobs come as a Poisson process with the rhythm of days and weeks;
 * have one node, or a number of nodes whose logarithm is uniform, often a power of two, sometimes
 * large; run for a log-normal time, for which their users ask too much; and get whole nodes, first
 * come first served with EASY backfilling.
 */
typedef struct sv_history_plan {
    uint64_t seed;
    int64_t begin;     /* seconds since 1970, UTC; at least 0 */
    uint32_t days;     /* that are told: 1 … 3660 */
    uint32_t warm_up;  /* days before them, which are not: 0 … 3660 */
    double load;       /* share of the nodes that jobs keep busy, if they can: above 0, at most 1 */
    double single;     /* share of jobs with one node: 0 … 1 */
    double powers;     /* of the others, share with a power of two: 0 … 1 */
    double large;      /* of the others, share that is large: 0 … 1 */
    uint32_t usual;    /* nodes: others have 2 … usual; 0: 32, or what there is */
    uint32_t largest;  /* nodes: large ones have usual … largest; 0: a quarter of all */
    double run_hours;  /* the median of run times: 1/60 … 168 */
    double run_spread; /* standard deviation of their logarithm: 0 … 5 */
    double several;    /* wanted share of jobs on several switches, met as far as it goes by another
                          share of jobs with one node; below 0: as it comes */
    bool best_fit;     /* nodes: the fewest runs of neighbours, as Slurm's topology/default does;
                          else the lowest that are free */
} sv_history_plan;

/* What is used unless something else is said. Time: O(1). */
SV_API sv_history_plan sv_history_defaults(void);

typedef struct sv_made_job {
    int64_t submit, begin, end; /* begin, end SV_TIME_OPEN: it never began */
    int64_t limit;              /* seconds that its user asked for */
    int64_t promised;      /* the latest begin, as told when it first had to wait at the head of the
                              queue; SV_TIME_UNKNOWN: it did not wait there */
    const uint32_t *hosts; /* ascending numbers */
    uint32_t num_hosts;
    uint32_t switches; /* that its hosts hang on; 0: it never began */
    bool killed;       /* at its limit */
} sv_made_job;

typedef struct sv_history {
    const sv_made_job *jobs; /* as they were submitted, those of the warm-up, too */
    uint32_t count;
    const char *const *hosts; /* in the order of their names, numbers as numbers */
    uint32_t num_hosts;
    int64_t warm, begin, end; /* of the warm-up, and of what is told */
    double single;            /* share of jobs with one node that was drawn with */
    /* Of what is told: jobs that ran in it. */
    uint32_t told, several; /* jobs, and those on several switches */
    double utilisation;     /* share of nodes × time */
    double mean_hosts, mean_switches, mean_wait_hours;
    uint32_t max_hosts;
    sv_pool *store;
} sv_history;

/*
 * Makes a history up for the hosts of a fabric that compute.
 *
 * *history: owned by the caller (sv_history_free). The same plan and fabric make the same history.
 * BAD_INPUT: a number of the plan is out of bounds; INFEASIBLE: fewer than two hosts, or a host
 * whose name no list of hosts can hold. Time: O(jobs × (hosts + queue)), ten times that if a share
 * of jobs on several switches is wanted.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_history *history = NULL;
 * const sv_history_plan plan = sv_history_defaults();
 * if (sv_topology_generate(ctx, "kary:k=4,n=2,hosts=4", &fabric) == SV_OK &&
 *     sv_history_make(ctx, fabric, &plan, &history) == SV_OK)
 *     printf("%u jobs, %.0f %% of the nodes busy\n", history->told, 100 * history->utilisation);
 * sv_history_free(history);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_history_make(sv_ctx *ctx, const sv_fabric *fabric,
                                             const sv_history_plan *plan, sv_history **history);

/*
 * Writes what is told as sacct --parsable2 --truncate does: JobID|Start|End|State|NodeList, times
 * cut to what is told. Jobs are numbered as they were submitted. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_history_write(sv_ctx *ctx, const sv_history *history,
                                              const sv_sink *sink);

/* Writes all jobs with what the scheduler knew, as CSV; times are seconds since warm. */
SV_API SV_MUST_USE sv_status sv_history_write_trace(sv_ctx *ctx, const sv_history *history,
                                                    const sv_sink *sink);

/* Frees a history. NULL is fine. */
SV_API void sv_history_free(sv_history *history);

/* ---- replaying ---- */

enum { SV_MAX_REPLAY_ENGINES = 16 };

/* An engine that takes part. */
typedef struct sv_replay_engine {
    const char *name;
    bool jobs; /* is told the jobs and routes again when they change (SV_ENGINE_JOBS); others route
                  once for the whole replay */
    const char *const *options; /* "name=value" */
    size_t num_options;
    const char *label; /* what it is called where it is told of; NULL: its name */
} sv_replay_engine;

typedef struct sv_replay_plan {
    const sv_replay_engine *engines;
    uint32_t num_engines; /* 1 … SV_MAX_REPLAY_ENGINES */
    int64_t begin, until; /* samples are at begin, begin + every, … below until; SV_TIME_UNKNOWN: as
                             the history begins and ends */
    int64_t every;        /* seconds */
    sv_placing placing;
    unsigned vls; /* as of sv_route_request */
    uint64_t seed;
} sv_replay_plan;

/* What is measured: the four plots of thesis Fig. 5.8, from the top. */
typedef enum sv_replay_metric {
    SV_REPLAY_EFI,     /* most routes inside jobs on a channel */
    SV_REPLAY_JOB_EFI, /* most routes of a job on a channel, mean over jobs */
    SV_REPLAY_DARK,    /* percent of channels without routes inside jobs */
    SV_REPLAY_LINKS,   /* channels that a job's routes use, mean over jobs; more is better */
    SV_REPLAY_METRICS
} sv_replay_metric;

/* "max_efi", "job_efi_avg", "dark_fibre_percent", "job_links_avg". Time: O(1). */
SV_API const char *sv_replay_metric_name(sv_replay_metric metric);

typedef struct sv_replay_sample {
    int64_t at;
    uint32_t scene;   /* the jobs on several switches */
    uint32_t running; /* jobs, all of them */
} sv_replay_sample;

/* Samples in a row with the same jobs on several switches. */
typedef struct sv_replay_scene {
    uint32_t first, samples;
    uint32_t jobs, terminals; /* terminals that run one of them */
} sv_replay_scene;

/* What became of an engine's tables, and what verify says of them. */
typedef struct sv_replay_tables {
    uint32_t routed;      /* tables */
    uint32_t infeasible;  /* scenes for which there are none, or 1 if there are none at all of an
                             engine that follows no jobs; their values are missing */
    uint32_t unconnected; /* tables in which terminals do not reach each other */
    uint32_t deadlocking; /* tables that are not deadlock-free (terminals and switches) */
    uint32_t undecided;
    unsigned vls;         /* VLs that they use at most */
    uint64_t nanoseconds; /* of routing, on one core each if jobs are followed */
} sv_replay_tables;

typedef struct sv_replay {
    const sv_replay_sample *samples;
    uint32_t num_samples;
    const sv_replay_scene *scenes;
    uint32_t num_scenes;
    const sv_replay_engine *engines; /* copies; label is never NULL; no options */
    uint32_t num_engines;
    const sv_replay_tables *tables; /* [num_engines] */
    const double *values;           /* [num_scenes][num_engines][SV_REPLAY_METRICS]; NAN: missing */
    int64_t every;
    uint32_t idle;                     /* samples without a job on several switches */
    uint32_t unknown_hosts;            /* at most, at a sample */
    uint32_t unknown[SV_PLACED_NAMED]; /* numbers of the first of these */
    sv_pool *store;
} sv_replay;

/*
 * Plays a history over a fabric: samples it, routes where jobs on several switches have changed
 * since the sample before, judges every new table and counts routes inside those jobs.
 *
 * *replay: owned by the caller (sv_replay_free); the same at any number of threads but for times.
 * BAD_INPUT: no such engine, one that follows no jobs but should, no times in the history, no
 * sample, hosts none of which is in the fabric; INFEASIBLE: an engine that follows no jobs cannot
 * route the fabric (one that does may fail for some scenes). Time: that of routing, for each scene
 * and engine that follows jobs.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_allocations *history = NULL;
 * sv_replay *replay = NULL;
 * const sv_replay_engine engines[] = {{.name = "sar", .jobs = true}, {.name = "dfsssp"}};
 * const sv_replay_plan plan = {.engines = engines, .num_engines = 2, .every = 600,
 *                              .begin = SV_TIME_UNKNOWN, .until = SV_TIME_UNKNOWN};
 * if (sv_topology_generate(ctx, "taurus", &fabric) == SV_OK &&
 *     sv_allocations_load(ctx, "history.txt", SV_JOBS_AUTO, &history) == SV_OK &&
 *     sv_replay_run(ctx, fabric, history, &plan, &replay) == SV_OK)
 *     printf("%.1f routes fewer on the busiest channel, on average\n",
 *            sv_replay_improvement(replay, SV_REPLAY_EFI, 0, 1).mean);
 * sv_replay_free(replay);
 * sv_allocations_free(history);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_replay_run(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_allocations *history,
                                           const sv_replay_plan *plan, sv_replay **replay);

/* Frees a replay. NULL is fine. */
SV_API void sv_replay_free(sv_replay *replay);

/*
 * By how much one engine is better than another in a metric, over the samples that have jobs on
 * several switches and values of both (thesis Tables 5.1 and 5.2). Better is less, but for links.
 */
typedef struct sv_improvement {
    uint32_t samples;
    double max, max_percent;   /* the largest differences: absolute, and in percent of the other */
    double mean, mean_percent; /* mean difference, and that in percent of the other's mean */
    double value, other;       /* means of both */
} sv_improvement;

/* All NAN but for the samples if there are none. Time: linear in scenes. */
SV_API sv_improvement sv_replay_improvement(const sv_replay *replay, sv_replay_metric metric,
                                            uint32_t engine, uint32_t other);

/* How often jobs on several switches change, in days from the first sample on. */
typedef struct sv_replay_changes {
    uint32_t days;     /* whole ones, or the only one */
    uint32_t min, max; /* a day */
    double mean;
} sv_replay_changes;

/* Time: linear in samples. */
SV_API sv_replay_changes sv_replay_count_changes(const sv_replay *replay);

/* A line for each sample and engine, as CSV. Time: linear. */
SV_API SV_MUST_USE sv_status sv_replay_write_csv(sv_ctx *ctx, const sv_replay *replay,
                                                 const sv_sink *sink);

/* The four plots of thesis Fig. 5.8 as one picture. Time: linear. */
SV_API SV_MUST_USE sv_status sv_replay_write_svg(sv_ctx *ctx, const sv_replay *replay,
                                                 const char *title, const sv_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
