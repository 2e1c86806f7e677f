/*
 * follow.h: what jobs follow decides by, without processes and clocks: gains, waits, and what is
 * remembered from one run to the next.
 */
#ifndef SV_JOBS_FOLLOW_H
#define SV_JOBS_FOLLOW_H

#include <selvage/experimental/jobs.h>
#include <selvage/metrics.h>
#include <selvage/routing.h>

/* So long at most is waited for a batch system that does not answer. */
#define SV_FOLLOW_MAX_WAIT 3600.0

/* What tables do for jobs: the busiest channel of all, and of a job on average. */
typedef struct sv_follow_weight {
    uint64_t max;
    double mean;
} sv_follow_weight;

/*
 * How much lower a weight is, in percent: of its two parts the one that falls more counts, and if
 * the other rises, that is taken off. 0 if there is nothing to gain.
 */
double sv_follow_gain(sv_follow_weight now, sv_follow_weight then);

/* Weighs tables. Time: as sv_jobs_count. */
sv_status sv_follow_weigh(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                          const sv_jobmap *map, sv_follow_weight *weight);

/* Tables that an engine (or "auto") would make for jobs; map may have none. Time: as sv_route. */
sv_status sv_follow_predict(sv_ctx *ctx, const sv_fabric *fabric, const char *engine,
                            const sv_route_request *request, const sv_jobmap *map,
                            sv_routes **routes);

/* Seconds to wait after so many failures in a row: doubled each time, up to the most. */
double sv_follow_wait(double every, uint32_t failures);

/*
 * Seconds of a floor that are left when it has been so long since the last time; a time that lies
 * in the future (the clock was set back) counts as now.
 */
double sv_follow_floor_left(double floor, double since);

/* A number for who works with whom, of one fabric; jobs' names and order do not count. */
uint64_t sv_follow_digest(const sv_jobmap *map);

/* What is remembered. Times are seconds since 1970; 0: never. */
typedef struct sv_follow_state {
    int64_t rerouted;  /* when tables were asked for last */
    int64_t retry;     /* when the batch system is to be asked again */
    uint32_t failures; /* of it, in a row */
    bool pending;      /* a map is written, and nobody could be told */
    bool known;        /* there was a last time: */
    uint64_t all;      /* the digest of all its jobs, those on one switch included */
} sv_follow_state;

/*
 * IO if a path is something that one would have to wait for, such as a pipe, or (unless allowed) a
 * directory. What is not there is fine.
 */
sv_status sv_follow_check_file(sv_ctx *ctx, const char *path, bool directory);

/* Reads it; a file that is not there is a beginning. BAD_INPUT: it is something else. */
sv_status sv_follow_state_load(sv_ctx *ctx, const char *path, sv_follow_state *state);
sv_status sv_follow_state_save(sv_ctx *ctx, const char *path, const sv_follow_state *state);

#endif
