/*
 * replay_scenes.c: a history as a row of scenes: samples in a row with the same jobs on several
 * switches.
 *
 * Idea: where nothing began or ended since the sample before, nothing is looked at; else the jobs
 * that run are placed on the fabric, and those on several switches compared with the last ones.
 * Names of jobs do not count (thesis 5.2.2.1: then tables would be the same).
 *
 * Invariants: scenes are consecutive, neighbours are different; every sample has one.
 * Cost: O(samples × (hosts + jobs)). Source: thesis 5.3.2, Fig. 5.6.
 */
#include "jobs/replay.h"

#include <string.h>

enum { MAX_SAMPLES = 10000000 };

/* The span of samples: the plan's, or the history's. */
static sv_status find_span(sv_ctx *ctx, const sv_allocations *history, const sv_replay_plan *plan,
                           int64_t *begin, uint32_t *samples)
{
    int64_t from = plan->begin == SV_TIME_UNKNOWN ? history->begin : plan->begin;
    int64_t until = plan->until == SV_TIME_UNKNOWN ? history->end : plan->until;
    if (plan->every < 1)
        return sv_refuse(ctx, "samples every %lld seconds", (long long)plan->every);
    if (from == SV_TIME_UNKNOWN || until == SV_TIME_UNKNOWN)
        return sv_fail(ctx, SV_BAD_INPUT, "the history tells no times");
    if (until <= from && plan->until == SV_TIME_UNKNOWN)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "the time to replay is empty: nothing in the history ends "
                       "later; until when (--until)?");
    if (until <= from)
        return sv_refuse(ctx, "the time to replay is empty");
    uint64_t count = ((uint64_t)until - (uint64_t)from - 1) / (uint64_t)plan->every + 1;
    if (count > MAX_SAMPLES)
        return sv_refuse(ctx, "%llu samples are too many", (unsigned long long)count);
    *begin = from;
    *samples = (uint32_t)count;
    return SV_OK;
}

/* For each sample whether something began or ended since the one before. */
static void mark_changes(const sv_allocations *history, int64_t begin, int64_t every,
                         uint32_t samples, bool *changed)
{
    changed[0] = true;
    for (uint32_t i = 0; i < history->count; i++) {
        const int64_t moments[2] = {history->list[i].begin, history->list[i].end};
        for (int k = 0; k < 2; k++) {
            if (moments[k] == SV_TIME_UNKNOWN || moments[k] == SV_TIME_OPEN || moments[k] <= begin)
                continue;
            uint64_t at = ((uint64_t)(moments[k] - begin) - 1) / (uint64_t)every + 1;
            if (at < samples)
                changed[at] = true;
        }
    }
}

/* Takes a map over as a new scene, or frees it: it is the last one's. */
static sv_status add_map(sv_ctx *ctx, sv__replay_samples *s, uint32_t sample, sv_jobmap *map)
{
    bool same = false;
    sv_status status =
        s->num_scenes > 0 ? sv_jobmap_same(ctx, s->maps[s->num_scenes - 1], map, &same) : SV_OK;
    if (status != SV_OK || same) {
        sv_jobmap_free(map);
        return status;
    }
    s->scenes[s->num_scenes] =
        (sv_replay_scene){.first = sample, .jobs = map->num_jobs, .terminals = map->num_terminals};
    s->maps[s->num_scenes++] = map;
    return SV_OK;
}

sv_status sv__find_scenes(sv_ctx *ctx, const sv_fabric *fabric, const sv_allocations *history,
                          const sv_replay_plan *plan, sv_arena *arena, sv__replay_samples *found)
{
    int64_t begin = 0;
    sv_placed placed = {0};
    bool strange = false, known = false; /* some jobs have no host in the fabric; some have */
    *found = (sv__replay_samples){0};
    SV_TRY(find_span(ctx, history, plan, &begin, &found->num_samples));
    bool *changed = SV_ARENA_NEW(arena, bool, found->num_samples);
    found->samples = SV_ARENA_NEW(arena, sv_replay_sample, found->num_samples);
    found->scenes = SV_ARENA_NEW(arena, sv_replay_scene, found->num_samples);
    found->maps = SV_ARENA_NEW(arena, sv_jobmap *, found->num_samples);
    if (changed == NULL || found->samples == NULL || found->scenes == NULL || found->maps == NULL)
        return SV_NO_MEMORY;
    mark_changes(history, begin, plan->every, found->num_samples, changed);
    for (uint32_t i = 0; i < found->num_samples; i++) {
        int64_t at = begin + (int64_t)i * plan->every;
        if (changed[i]) {
            sv_jobmap *map = NULL;
            SV_TRY(
                sv_allocations_map(ctx, history, at, fabric, plan->placing, true, &map, &placed));
            SV_TRY(add_map(ctx, found, i, map));
            strange = strange || placed.homeless > 0;
            known = known || placed.running > placed.homeless;
            if (placed.unknown_hosts > found->unknown_hosts) {
                found->unknown_hosts = placed.unknown_hosts;
                memcpy(found->unknown, placed.unknown, sizeof placed.unknown);
            }
        }
        uint32_t scene = found->num_scenes - 1;
        found->samples[i] = (sv_replay_sample){at, scene, placed.running};
        found->idle += found->scenes[scene].jobs == 0;
        found->scenes[scene].samples++;
        SV_TRY(sv_progress(ctx, "looking for changes", i + 1, found->num_samples));
    }
    if (strange && !known)
        return sv_fail(ctx, SV_BAD_INPUT, "not one host of the history is in the fabric");
    return SV_OK;
}

void sv__free_scenes(sv__replay_samples *scenes)
{
    for (uint32_t i = 0; i < scenes->num_scenes; i++)
        sv_jobmap_free(scenes->maps[i]);
}
