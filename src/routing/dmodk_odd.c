/*
 * dmodk_odd.c: trees so odd that ways by levels could deadlock with those over the foot.
 *
 * Everything then goes up and down the foot's order, as updn does: who can go down all the way
 * must, all others go up to where it is nearest. Among equals the digits of the destination choose.
 *
 * Cost: O(channels) a home and O(channels) a row.
 */
#include <string.h>

#include "base/threads.h"
#include "routing/dmodk.h"

struct odd {
    const sv__dmodk *k;
    uint32_t *by_place, live;
    uint32_t **hops, **order; /* [threads][switches] */
    bool **down;
};

/* Who reaches the home, going down first. */
static uint32_t search(const struct odd *o, unsigned worker, uint32_t home)
{
    const sv_core *core = &o->k->core;
    const uint32_t *place = o->k->foot.place;
    uint32_t *hops = o->hops[worker], *order = o->order[worker], head = 0, tail = 0;
    bool *down = o->down[worker];
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    memset(down, 0, core->num_switches * sizeof *down);
    hops[home] = 0;
    down[home] = true;
    order[tail++] = home;
    for (; head < tail; head++)
        for (uint32_t e = core->first[order[head]]; e < core->first[order[head] + 1]; e++) {
            uint32_t from = core->neighbour[e];
            if (place[from] > place[order[head]] || hops[from] != SV_NONE)
                continue;
            hops[from] = hops[order[head]] + 1;
            down[from] = true;
            order[tail++] = from;
        }
    for (uint32_t i = 0; i < o->live; i++) {
        uint32_t s = o->by_place[i];
        for (uint32_t e = core->first[s]; !down[s] && e < core->first[s + 1]; e++) {
            uint32_t up = core->neighbour[e];
            if (place[up] < i && hops[up] != SV_NONE && hops[up] + 1 < hops[s])
                hops[s] = hops[up] + 1;
        }
        if (!down[s] && hops[s] != SV_NONE)
            order[tail++] = s;
    }
    return tail;
}

static bool leads_on(const struct odd *o, unsigned worker, uint32_t s, uint32_t to)
{
    const uint32_t *place = o->k->foot.place, *hops = o->hops[worker];
    const bool *down = o->down[worker];
    if (hops[to] == SV_NONE || hops[to] + 1 != hops[s])
        return false;
    return down[s] ? place[to] > place[s] && down[to] : place[to] < place[s];
}

static void fill(const struct odd *o, unsigned worker, uint32_t count, uint64_t index, uint8_t *row)
{
    const sv_core *core = &o->k->core;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t s = o->order[worker][i], choices = 0;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
            choices += leads_on(o, worker, s, core->neighbour[e]);
        uint64_t left = index / o->k->level[o->k->level_of[s]].divisor % choices;
        for (uint32_t e = core->first[s];; e++)
            if (leads_on(o, worker, s, core->neighbour[e]) && left-- == 0) {
                row[s] = core->port[e];
                break;
            }
    }
}

static sv_status route_home(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    const struct odd *o = arg;
    const sv_fabric *f = o->k->job->fabric;
    const sv_routes *r = o->k->job->routes;
    sv_node home = {(uint32_t)piece};
    (void)ctx;
    if (!sv_node_alive(f, home))
        return SV_OK;
    uint32_t count = search(o, worker, home.i);
    fill(o, worker, count, o->k->ordinal[home.i], r->ports[r->first[home.i]]);
    SV_FOR_HOPS (f, home, hop) {
        if (sv_is_switch(f, hop->to))
            continue;
        for (uint32_t d = r->first[hop->to.i]; d < r->first[hop->to.i + 1]; d++) {
            uint64_t index = o->k->index[hop->to.i - f->num_switches] + (d - r->first[hop->to.i]);
            fill(o, worker, count, index, r->ports[d]);
            r->ports[d][home.i] = (uint8_t)f->port[hop->channel.i];
        }
    }
    return SV_OK;
}

sv_status sv__dmodk_by_order(sv__dmodk *k)
{
    sv_arena *arena = k->job->arena;
    uint32_t n = k->core.num_switches;
    unsigned threads = sv_ctx_threads(k->job->ctx, n);
    struct odd o = {.k = k,
                    .by_place = SV_ARENA_NEW(arena, uint32_t, n),
                    .hops = SV_ARENA_NEW(arena, uint32_t *, threads),
                    .order = SV_ARENA_NEW(arena, uint32_t *, threads),
                    .down = SV_ARENA_NEW(arena, bool *, threads)};
    if (o.by_place == NULL || o.hops == NULL || o.order == NULL || o.down == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < threads; i++) {
        o.hops[i] = SV_ARENA_NEW(arena, uint32_t, n);
        o.order[i] = SV_ARENA_NEW(arena, uint32_t, n);
        o.down[i] = SV_ARENA_NEW(arena, bool, n);
        if (o.hops[i] == NULL || o.order[i] == NULL || o.down[i] == NULL)
            return SV_NO_MEMORY;
    }
    for (uint32_t s = 0; s < n; s++)
        if (k->foot.place[s] != SV_NONE) {
            o.by_place[k->foot.place[s]] = s;
            o.live++;
        }
    return sv_parallel(k->job->ctx, "routing", n, route_home, &o);
}
