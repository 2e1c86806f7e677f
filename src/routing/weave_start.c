/*
 * weave_start.c: orders of channels for the first two VLs of large fabrics to begin with.
 *
 * A VL that begins with any order comes to its own by searching (cdg.c), turn by turn. On a
 * dragonfly of 4,096 switches that takes longer than everything else together. But switches are
 * numbered by groups, and a channel may be numbered by the sum of its ends: between two groups
 * local, global, local ascends if the groups do, and descends if they descend. So one VL that
 * begins with this order and one with its reverse take all shortest paths without any search.
 *
 * Whether that holds is tried on some homes: where too few switches have a shortest path that only
 * ascends or only descends (tori: the signs of dimensions are mixed) VLs begin as ever. Smaller
 * fabrics do in any case: search is cheap there, and finds better.
 *
 * Cost: O(channels) a home tried.
 */
#include "routing/weave.h"

enum { MIN_SWITCHES = 2048, HOMES = 16 };

/* How many switches have a shortest path to a home that ascends. best: scratch, [switches]. */
static uint32_t count_ascending(const sv_core *core, const sv__dag *dag, const uint32_t *number,
                                uint32_t *best)
{
    uint32_t count = 0;
    best[dag->order[0]] = UINT32_MAX;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], highest = 0; /* of what it may begin with; 0: there is none */
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
            uint32_t e = sv__dag_cable(core, dag, s, k), mine = number[core->back[e]] + 1;
            if (mine < best[core->neighbour[e]] && mine > highest)
                highest = mine;
        }
        best[s] = highest;
        count += highest > 0;
    }
    return count;
}

sv_status sv__weave_find_starts(sv__weave *w)
{
    const sv_core *core = &w->core;
    uint32_t n = core->num_switches;
    uint64_t found = 0, all = 0;
    w->start[0] = w->start[1] = NULL;
    if (n < MIN_SWITCHES)
        return SV_OK;
    uint32_t *up = SV_ARENA_NEW(w->job->arena, uint32_t, core->num_entries);
    uint32_t *down = SV_ARENA_NEW(w->job->arena, uint32_t, core->num_entries);
    if (up == NULL || down == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < core->num_entries; e++) {
        up[e] = core->neighbour[e] + core->to[e];
        down[e] = 2 * n - up[e];
    }
    for (uint32_t i = 0; i < HOMES; i++) {
        const sv__dag *dag = sv__dag_to(&w->dags, (uint32_t)((uint64_t)i * n / HOMES));
        if (dag == NULL)
            return SV_NO_MEMORY;
        found += count_ascending(core, dag, up, w->spare);
        found += count_ascending(core, dag, down, w->spare);
        all += dag->count - 1;
    }
    if (found < all - all / 64)
        return SV_OK;
    w->start[0] = up;
    w->start[1] = down;
    return SV_OK;
}
