/*
 * replay.h: what the files that replay histories share.
 */
#ifndef SV_JOBS_REPLAY_H
#define SV_JOBS_REPLAY_H

#include <selvage/experimental/replay.h>
#include <selvage/metrics.h>

#include "base/arena.h"

/* Samples, and the scenes they fall into. */
typedef struct sv__replay_samples {
    sv_replay_sample *samples;
    uint32_t num_samples;
    sv_replay_scene *scenes;
    sv_jobmap **maps; /* of each scene; to be freed */
    uint32_t num_scenes;
    uint32_t idle, unknown_hosts;
    uint32_t unknown[SV_PLACED_NAMED]; /* the first of them */
} sv__replay_samples;

/* All but the maps is in the arena. After a failure, too, the maps are to be freed. */
sv_status sv__find_scenes(sv_ctx *ctx, const sv_fabric *fabric, const sv_allocations *history,
                          const sv_replay_plan *plan, sv_arena *arena, sv__replay_samples *found);
void sv__free_scenes(sv__replay_samples *scenes);

static inline const double *sv__values(const sv_replay *r, uint32_t scene, uint32_t engine)
{
    return &r->values[((size_t)scene * r->num_engines + engine) * SV_REPLAY_METRICS];
}

#endif
