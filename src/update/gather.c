/*
 * gather.c: what waits for what on account of one destination: a packet that holds a channel on a
 * lane and wants the next.
 *
 * Idea: sets of SLs are handed on from each way out of a switch to those of the next, lane by lane,
 * until none grows any more; a switch has two ways out where old and new entries differ. (verify/
 * does the same in its own words, for all destinations, and judges what comes of this.)
 *
 * Cost: O(switches × lanes) for a destination, as a rule.
 */
#include <stdlib.h>
#include <string.h>

#include "update/update.h"

enum { WAYS = 2 };

sv_status sv__gather_init(sv__gatherer *g, const sv__sides *x, sv_arena *arena)
{
    size_t ways = (size_t)x->f->num_switches * WAYS;
    *g = (sv__gatherer){.x = x, .arena = arena};
    g->sets = SV_ARENA_NEW(arena, uint64_t, ways * x->lanes);
    g->queue = SV_ARENA_NEW(arena, uint32_t, ways + 1);
    g->queued = sv_bitset_new(arena, ways);
    g->mark = SV_ARENA_NEW(arena, uint8_t, x->f->num_switches);
    g->stack = SV_ARENA_NEW(arena, uint32_t, x->f->num_switches);
    return g->sets == NULL || g->queue == NULL || g->queued == NULL || g->mark == NULL ||
                   g->stack == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

void sv__gather_release(sv__gatherer *g)
{
    sv_release(g->x->ctx, g->edges);
    g->edges = NULL;
}

static sv_status note(sv__gatherer *g, uint32_t from, uint32_t to)
{
    if (g->num_edges == g->room) {
        size_t room = g->room == 0 ? 1024 : 2 * g->room;
        sv__turn_key *edges = sv_resize(g->x->ctx, g->edges, room, sizeof *edges);
        if (edges == NULL)
            return SV_NO_MEMORY;
        g->edges = edges;
        g->room = room;
    }
    g->edges[g->num_edges++] = (sv__turn_key)from << 32 | to;
    return SV_OK;
}

static void enqueue(sv__gatherer *g, uint32_t way)
{
    if (sv_bit(g->queued, way))
        return;
    sv_bit_set(g->queued, way);
    g->queue[(g->head + g->count++) % (g->x->f->num_switches * WAYS)] = way;
}

/* SLs that come into a switch at a port go out at another; held: the vertex they hold, or SV_NONE.
 */
static sv_status pass(sv__gatherer *g, uint32_t way, unsigned in, unsigned out, uint32_t held,
                      uint64_t sls)
{
    const sv__sides *x = g->x;
    uint32_t s = way / WAYS, channel = sv_portmap_at(&x->ports, s, out).i;
    uint64_t *sets = &g->sets[(size_t)way * x->lanes];
    const sv_lanes *lanes = sv_route_lanes(x->after, x->f, (sv_node){s}, in, out);
    for (; sls != 0; sls &= sls - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(sls), lane = lanes->of_sl[sl];
        if (lane == SV_NO_LANE)
            continue;
        if (held != SV_NONE)
            SV_TRY(note(g, held, channel * x->lanes + lane));
        if (!(sets[lane] >> sl & 1)) {
            sets[lane] |= (uint64_t)1 << sl;
            enqueue(g, way);
        }
    }
    return SV_OK;
}

static uint64_t bit_of(unsigned sl)
{
    return sl < SV_MOST_SLS ? (uint64_t)1 << sl : 0;
}

/* The SLs of packets of a node. */
static uint64_t sls_of(const sv__sides *x, sv_node from, uint32_t d, sv__sls which)
{
    unsigned was = sv__old_sl(x, from, d), is = sv__new_sl(x, from, d);
    if (which == SV__KEPT_SLS || which == SV__STILL_SLS)
        return was == is ? bit_of(is) : 0;
    return (which != SV__NEW_SLS ? bit_of(was) : 0) | (which != SV__OLD_SLS ? bit_of(is) : 0);
}

/* All that comes into a way out of a switch, from the switch itself and its terminals. */
static sv_status inject(sv__gatherer *g, uint32_t d, uint32_t s, unsigned k, unsigned port,
                        sv__sls which)
{
    const sv__sides *x = g->x;
    sv_node to = x->after->node[d];
    unsigned to_switch = sv_is_switch(x->f, to);
    if (sv__next_switch(x, s, port) == SV_NONE ||
        (which == SV__STILL_SLS && g->mark[s] != SV__SAME))
        return SV_OK;
    if (s != to.i && to_switch + 1 <= (unsigned)x->traffic)
        SV_TRY(pass(g, s * WAYS + k, 0, port, SV_NONE, sls_of(x, (sv_node){s}, d, which)));
    if (to_switch > (unsigned)x->traffic)
        return SV_OK;
    SV_FOR_HOPS (x->f, (sv_node){s}, hop)
        if (!sv_is_switch(x->f, hop->to) && hop->to.i != to.i)
            SV_TRY(pass(g, s * WAYS + k, x->f->port[hop->channel.i], port, SV_NONE,
                        sls_of(x, hop->to, d, which)));
    return SV_OK;
}

static int ascending(const void *a, const void *b)
{
    sv__turn_key x = *(const sv__turn_key *)a, y = *(const sv__turn_key *)b;
    return x < y ? -1 : x > y;
}

static void sort(sv__gatherer *g)
{
    size_t kept = 0;
    if (g->num_edges > 0)
        qsort(g->edges, g->num_edges, sizeof *g->edges, ascending);
    for (size_t i = 0; i < g->num_edges; i++)
        if (i == 0 || g->edges[i] != g->edges[i - 1])
            g->edges[kept++] = g->edges[i];
    g->num_edges = kept;
}

/* Hands on what came to a way out: to the ways out of the next switch. */
static sv_status hand_on(sv__gatherer *g, uint32_t way, const uint8_t *const *rows)
{
    const sv__sides *x = g->x;
    const sv_place *place = sv_portmap_place(&x->ports, way / WAYS, rows[way % WAYS][way / WAYS]);
    uint32_t next = place->end >> 8;
    for (unsigned k = 0; k < WAYS; k++) {
        unsigned port = rows[k][next];
        if ((k > 0 && port == rows[0][next]) || sv__next_switch(x, next, port) == SV_NONE)
            continue;
        for (unsigned lane = 0; lane < x->lanes; lane++) {
            uint64_t sls = g->sets[(size_t)way * x->lanes + lane];
            if (sls != 0)
                SV_TRY(pass(g, next * WAYS + k, place->end & 255, port,
                            place->channel * x->lanes + lane, sls));
        }
    }
    return SV_OK;
}

sv_status sv__gather(sv__gatherer *g, uint32_t d, const uint8_t *a, const uint8_t *b, sv__sls sls)
{
    const sv__sides *x = g->x;
    const uint8_t *const rows[WAYS] = {a, b};
    uint32_t n = x->f->num_switches;
    sv_status status = SV_OK;
    g->num_edges = 0;
    if (sls == SV__STILL_SLS)
        sv__mark_paths(x, d, g->mark, g->stack);
    for (uint32_t s = 0; status == SV_OK && s < n; s++)
        for (unsigned k = 0; status == SV_OK && k < (a[s] == b[s] ? 1 : WAYS); k++)
            status = inject(g, d, s, k, rows[k][s], sls);
    while (status == SV_OK && g->count > 0) {
        uint32_t way = g->queue[g->head];
        g->head = (g->head + 1) % (n * WAYS);
        g->count--;
        sv_bit_clear(g->queued, way);
        status = hand_on(g, way, rows);
    }
    memset(g->sets, 0, (size_t)n * WAYS * x->lanes * sizeof *g->sets);
    sort(g);
    return status;
}

/* ---- multicast ---- */

static bool is_member(const sv_group *group, uint32_t s, unsigned port)
{
    return group->ports[s][port >> 6] >> (port & 63) & 1;
}

/* The lanes on which a switch may send copies out of a port, whatever they came in at. */
static uint64_t lanes_of_copies(const sv__sides *x, uint32_t s, unsigned out, unsigned sl)
{
    uint64_t lanes = 0;
    SV_FOR_HOPS (x->f, (sv_node){s}, hop) {
        unsigned in = x->f->port[hop->channel.i];
        unsigned lane = sv_route_lanes(x->after, x->f, (sv_node){s}, in, out)->of_sl[sl];
        lanes |= in != out && lane != SV_NO_LANE ? (uint64_t)1 << lane : 0;
    }
    return lanes;
}

/* Copies that come in over a channel wait for those that go out of all other ports. */
static sv_status gather_copies(sv__gatherer *g, const sv_group *group, sv_channel c)
{
    const sv__sides *x = g->x;
    unsigned sl = group->sl < SV_MOST_SLS ? group->sl : 0, in = x->f->port[x->f->reverse[c.i].i];
    sv_node to = x->f->head[c.i];
    uint64_t lanes = lanes_of_copies(x, x->f->tail[c.i].i, x->f->port[c.i], sl);
    SV_FOR_HOPS (x->f, to, hop) {
        unsigned out = x->f->port[hop->channel.i];
        unsigned lane = sv_route_lanes(x->after, x->f, to, in, out)->of_sl[sl];
        if (out == in || !sv_is_switch(x->f, hop->to) || !is_member(group, to.i, out) ||
            lane == SV_NO_LANE)
            continue;
        for (uint64_t left = lanes; left != 0; left &= left - 1)
            SV_TRY(note(g, c.i * x->lanes + (unsigned)__builtin_ctzll(left),
                        hop->channel.i * x->lanes + lane));
    }
    return SV_OK;
}

sv_status sv__gather_groups(sv__gatherer *g)
{
    const sv__sides *x = g->x;
    g->num_edges = 0;
    for (uint32_t k = 0; k < x->after->num_groups; k++)
        for (uint32_t c = 0; c < x->f->num_channels; c++) {
            const sv_group *group = &x->after->groups[k];
            if (sv_channel_alive(x->f, (sv_channel){c}) &&
                sv_joins_switches(x->f, (sv_channel){c}) &&
                is_member(group, x->f->tail[c].i, x->f->port[c]))
                SV_TRY(gather_copies(g, group, (sv_channel){c}));
        }
    sort(g);
    return SV_OK;
}
