/*
 * weave_seed.c: what the last VL has before the first tree is laid.
 *
 * With detours a VL must have some way from everywhere to everywhere, or trees that were laid
 * early could leave none to those that come late. A spanning tree is enough and leaves the most
 * room; which one decides much of the result, and no one is best everywhere. On dragonflies with
 * one VL all turns of an up/down order are better than any tree. Or there is no seed, and luck
 * decides whether all pairs get a path.
 *
 * Invariant: with a seed, any tree can be laid along w->spanning.
 * Cost: O(turns).
 */
#include <string.h>

#include "routing/orient.h"
#include "routing/weave.h"

/* Distances from the lowest numbered switch of each component. */
static void rank(const sv_core *core, uint32_t *hops, uint32_t *queue)
{
    uint32_t tail = 0;
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    for (uint32_t s = 0; s < core->num_switches; s++)
        if (hops[s] == SV_NONE) {
            hops[s] = 0;
            queue[tail] = s;
            tail = sv_core_spread(core, hops, queue, tail, tail + 1);
        }
}

/* Each switch hangs on a neighbour one step nearer to the root: the first or last of its ports. */
static void span_by_port(sv__weave *w, bool last)
{
    const sv_core *core = &w->core;
    uint32_t *hops = w->flow;
    rank(core, hops, w->stack);
    for (uint32_t s = 0; s < core->num_switches; s++) {
        uint32_t chosen = SV_NONE;
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
            if (hops[core->entries[k].from] + 1 == hops[s] && (last || chosen == SV_NONE))
                chosen = k;
        if (chosen != SV_NONE)
            w->spanning[chosen] = w->spanning[core->back[chosen]] = true;
    }
}

/* On the first of its neighbours in an order. */
static void span_by_order(sv__weave *w, const uint32_t *place)
{
    const sv_core *core = &w->core;
    for (uint32_t s = 0; s < core->num_switches; s++) {
        uint32_t chosen = SV_NONE, first = place[s];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
            if (place[core->entries[k].from] < first) {
                first = place[core->entries[k].from];
                chosen = k;
            }
        if (chosen != SV_NONE)
            w->spanning[chosen] = w->spanning[core->back[chosen]] = true;
    }
}

/* Depth first: each switch after the one it was found from; its cables as
 * they are numbered or, in every other attempt, the other way round; each from another root. */
static void order_depth_first(sv__weave *w, unsigned attempt, uint32_t *place)
{
    const sv_core *core = &w->core;
    uint32_t n = core->num_switches, next = 0, *up = w->spare, first = attempt * 0x9e3779b1u % n;
    memset(place, 0xff, n * sizeof *place);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = (i + first) % n;
        if (place[s] != SV_NONE)
            continue;
        up[s] = SV_NONE;
        place[s] = next++;
        while (s != SV_NONE) {
            uint32_t chosen = SV_NONE;
            for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
                if (place[core->entries[k].from] == SV_NONE &&
                    (chosen == SV_NONE || attempt % 2 == 1))
                    chosen = core->entries[k].from;
            if (chosen != SV_NONE) {
                up[chosen] = s;
                place[chosen] = next++;
            }
            s = chosen == SV_NONE ? up[s] : chosen;
        }
    }
}

/* The order of engine updn; dead switches come last. */
static sv_status order_up_down(sv__weave *w, uint32_t *place)
{
    uint32_t found, next = 0, n = w->core.num_switches;
    SV_TRY(sv__orient(w->job, &w->core, SV__RANK_ROOTS, NULL, 0, place, &found));
    for (uint32_t s = 0; s < n; s++)
        next += place[s] != SV_NONE;
    for (uint32_t s = 0; s < n; s++)
        if (place[s] == SV_NONE)
            place[s] = next++;
    return SV_OK;
}

/* All turns that go up and then down in an order, in a new VL, and a tree that follows it. */
static sv_status seed_order(sv__weave *w, sv__seed seed, unsigned attempt)
{
    uint32_t n = w->core.num_switches, *place = SV_ARENA_NEW(w->job->arena, uint32_t, n);
    if (place == NULL)
        return SV_NO_MEMORY;
    if (seed == SV__SEED_DEEP)
        order_depth_first(w, attempt, place);
    else
        SV_TRY(order_up_down(w, place));
    for (uint32_t s = 0; s < n; s++)
        w->stack[place[s]] = s;
    span_by_order(w, place);
    return sv__weave_add_order(w, w->stack);
}

void sv__weave_add_turn(sv__weave *w, uint32_t in, uint32_t out)
{
    if (w->turns == NULL)
        sv_cdg_add(&w->cdg, w->cdg.num_vls - 1, in, out);
    else
        sv__turns_join(w, sv__weave_num_vls(w) - SV__PAIR, in, out);
}

static void add_turns(sv__weave *w)
{
    const sv_core *core = &w->core;
    for (uint32_t in = 0; in < core->num_entries; in++)
        for (uint32_t k = core->first[core->to[in]]; k < core->first[core->to[in] + 1]; k++)
            if (w->spanning[in] && w->spanning[k] && k != in)
                sv__weave_add_turn(w, in, core->back[k]);
}

sv_status sv__weave_seed_vl(sv__weave *w, sv__weave_plan plan, const uint32_t *start)
{
    if (plan.seed == SV__SEED_NONE)
        return w->turns == NULL ? sv_cdg_add_vl(&w->cdg, start) : SV_OK;
    w->spanning = SV_ARENA_NEW(w->job->arena, bool, w->core.num_entries);
    if (w->spanning == NULL)
        return SV_NO_MEMORY;
    if (plan.seed == SV__SEED_UPDN || plan.seed == SV__SEED_DEEP)
        return seed_order(w, plan.seed, plan.attempt);
    if (w->turns == NULL)
        SV_TRY(sv_cdg_add_vl(&w->cdg, start));
    span_by_port(w, plan.seed == SV__SEED_LAST);
    add_turns(w);
    return SV_OK;
}
