/*
 * weave_enrich.c: VLs get all turns that they can have: those that agree with the order of
 * channels that a VL has come to, and in VLs that are idle those of an up/down order.
 *
 * Invariant: every VL stays acyclic; no turn is taken out.
 * Cost: O(turns) a VL, no search.
 */
#include "routing/weave.h"

#include <string.h>

/* Distances from a root, and the switches in their order. */
static void rank(const sv_core *core, uint32_t root, uint32_t *hops, uint32_t *queue)
{
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    hops[root] = 0;
    queue[0] = root;
    uint32_t tail = sv_core_spread(core, hops, queue, 0, 1);
    /* Other components follow; their order does not matter. */
    for (uint32_t s = 0; s < core->num_switches; s++)
        if (hops[s] == SV_NONE)
            queue[tail++] = s;
}

sv_status sv__weave_add_order(sv__weave *w, const uint32_t *queue)
{
    const sv_core *core = &w->core;
    uint32_t n = core->num_switches, *place = w->added;
    uint32_t *start = SV_ARENA_NEW(w->job->arena, uint32_t, core->num_entries);
    if (start == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        place[queue[i]] = i;
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t from = place[core->entries[e].from], to = place[core->to[e]];
        start[e] = to < from ? n - 1 - to : n + to;
    }
    if (w->turns == NULL)
        SV_TRY(sv_cdg_add_vl(&w->cdg, start));
    for (uint32_t in = 0; in < core->num_entries; in++) {
        uint32_t s = core->to[in], from = core->entries[in].from;
        bool came_down = place[s] > place[from];
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t to = core->entries[e].from;
            if (to != from && !(came_down && place[to] < place[s]))
                sv__weave_add_turn(w, in, core->back[e]);
        }
    }
    return SV_OK;
}

/* Idle VLs get orders, from roots far from each other. */
static sv_status add_orders(sv__weave *w, unsigned vls)
{
    uint32_t n = w->core.num_switches, root = 0;
    uint32_t *hops = w->flow, *queue = w->stack, *nearest = w->spare;
    memset(nearest, 0xff, n * sizeof *nearest);
    while (w->cdg.num_vls < vls) {
        rank(&w->core, root, hops, queue);
        SV_TRY(sv__weave_add_order(w, queue));
        uint32_t farthest = 0;
        for (uint32_t s = 0; s < n; s++) {
            nearest[s] = hops[s] < nearest[s] ? hops[s] : nearest[s];
            if (nearest[s] != SV_NONE && nearest[s] > farthest) {
                farthest = nearest[s];
                root = s;
            }
        }
    }
    return SV_OK;
}

sv_status sv__weave_enrich(sv__weave *w, unsigned vls)
{
    const sv_core *core = &w->core;
    SV_TRY(sv_progress(w->job->ctx, "enriching", 0, vls));
    if (w->turns != NULL) {
        sv__turns_enrich(w);
        return SV_OK;
    }
    for (unsigned l = 0; l < w->cdg.num_vls; l++) {
        const uint32_t *place = w->cdg.vl[l].place;
        for (uint32_t in = 0; in < core->num_entries; in++) {
            uint32_t s = core->to[in];
            for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
                if (place[in] < place[core->back[e]] && e != in)
                    sv_cdg_add(&w->cdg, l, in, core->back[e]);
        }
    }
    return add_orders(w, vls);
}
