/*
 * dmodk_odd.c: trees so odd that ways by levels could deadlock with those over the foot, or that
 * hosts on both sides of cables within a level have no others.
 *
 * A closed form has nothing to say there. Everything goes up and down the foot's order, as updn
 * does it: who can go down all the way must, all others go up to where it is nearest, and among
 * equals the least weight decides (sssp.c).
 *
 * Cost: as sssp, O(channels) a destination.
 */
#include <string.h>

#include "routing/dmodk.h"
#include "routing/sssp.h"

struct odd {
    sv__sssp x;
    const uint32_t *place;
    uint32_t *by_place, live;
};

/* Who reaches the home: going down only, nearest first, then the others by the order. */
static uint32_t search(void *engine, uint32_t home, uint32_t *order, uint32_t *hops, bool *down)
{
    const struct odd *o = engine;
    const sv_core *core = &o->x.core;
    uint32_t tail = 0;
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    memset(down, 0, core->num_switches * sizeof *down);
    hops[home] = 0;
    down[home] = true;
    order[tail++] = home;
    for (uint32_t head = 0; head < tail; head++)
        for (uint32_t e = core->first[order[head]]; e < core->first[order[head] + 1]; e++) {
            uint32_t from = core->neighbour[e];
            if (o->place[from] > o->place[order[head]] || hops[from] != SV_NONE)
                continue;
            hops[from] = hops[order[head]] + 1;
            down[from] = true;
            order[tail++] = from;
        }
    for (uint32_t i = 0; i < o->live; i++) {
        uint32_t s = o->by_place[i];
        for (uint32_t e = core->first[s]; !down[s] && e < core->first[s + 1]; e++) {
            uint32_t up = core->neighbour[e];
            if (o->place[up] < i && hops[up] != SV_NONE && hops[up] + 1 < hops[s])
                hops[s] = hops[up] + 1;
        }
        if (!down[s] && hops[s] != SV_NONE)
            order[tail++] = s;
    }
    return tail;
}

static bool allow(void *engine, const bool *down, uint32_t from, uint32_t to)
{
    const struct odd *o = engine;
    bool goes_down = o->place[to] > o->place[from];
    return down[from] ? goes_down && down[to] : !goes_down;
}

sv_status sv__dmodk_by_order(sv__dmodk *k)
{
    uint32_t n = k->core.num_switches;
    struct odd o = {.place = k->foot.place, .by_place = SV_ARENA_NEW(k->job->arena, uint32_t, n)};
    if (o.by_place == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        if (k->foot.place[s] != SV_NONE) {
            o.by_place[k->foot.place[s]] = s;
            o.live++;
        }
    SV_TRY(sv__sssp_init(&o.x, k->job, &o, search, allow));
    return sv__sssp_run(&o.x);
}
