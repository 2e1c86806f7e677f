/*
 * make.h: what the files that make histories up share.
 */
#ifndef SV_JOBS_MAKE_H
#define SV_JOBS_MAKE_H

#include <selvage/experimental/replay.h>

#include "base/arena.h"

/* The hosts of a fabric that compute, in the order of their names. */
typedef struct sv__hosts {
    uint32_t count;
    const char **names;
    uint32_t *first, *switches; /* of host h: switches[first[h]] … switches[first[h + 1] - 1] */
} sv__hosts;

/* Names live in the arena. INFEASIBLE: fewer than two, or odd names. */
sv_status sv__find_hosts(sv_ctx *ctx, const sv_fabric *fabric, sv_arena *arena, sv__hosts *hosts);

/* A job as it is submitted. */
typedef struct sv__wish {
    int64_t submit, run, limit;
    uint32_t nodes;
    bool killed;
} sv__wish;

/*
 * Draws jobs until they are work enough for the warm-up and what is told, with all of the plan's
 * numbers filled in. *wishes, by submit: in the arena.
 */
sv_status sv__draw_jobs(sv_ctx *ctx, const sv_history_plan *plan, uint32_t hosts, sv_arena *arena,
                        sv__wish **wishes, uint32_t *count);

/*
 * Gives jobs their nodes and times, until an end. jobs[count] are as zeroed memory; lists of hosts
 * are in the arena.
 */
sv_status sv__run_queue(sv_ctx *ctx, const sv__wish *wishes, uint32_t count, uint32_t hosts,
                        int64_t until, bool best_fit, sv_arena *arena, sv_made_job *jobs);

#endif
