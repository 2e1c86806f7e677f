/*
 * gather.c: what waits for what on account of one destination, or of multicast trees: a packet that
 * holds a channel on a VL and wants the next.
 *
 * Idea: sets of SLs are handed on from each way out of a switch to those of the next, VL by VL,
 * until none grows any more; a switch has two ways out where old and new entries differ. (verify/
 * does the same in its own words, for all destinations, and judges what comes of this.)
 *
 * Cost: O(switches × VLs) for a destination, as a rule.
 */
#include <stdlib.h>
#include <string.h>

#include "update/update.h"

enum { WAYS = 2 };

sv_status sv__gather_init(sv__gatherer *g, const sv__sides *x, sv_arena *arena)
{
    size_t ways = (size_t)x->f->num_switches * WAYS;
    *g = (sv__gatherer){.x = x, .arena = arena};
    g->sets = SV_ARENA_NEW(arena, uint64_t, ways * x->vls);
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
    uint64_t *sets = &g->sets[(size_t)way * x->vls];
    const sv_sl2vl *vls = sv_route_sl2vl(x->after, x->f, (sv_node){s}, in, out);
    for (; sls != 0; sls &= sls - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(sls), vl = vls->of_sl[sl];
        if (vl == SV_NO_VL)
            continue;
        if (held != SV_NONE)
            SV_TRY(note(g, held, channel * x->vls + vl));
        if (!(sets[vl] >> sl & 1)) {
            sets[vl] |= (uint64_t)1 << sl;
            enqueue(g, way);
        }
    }
    return SV_OK;
}

static uint64_t bit_of(unsigned sl)
{
    return sl < SV_MAX_SLS ? (uint64_t)1 << sl : 0;
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
        for (unsigned vl = 0; vl < x->vls; vl++) {
            uint64_t sls = g->sets[(size_t)way * x->vls + vl];
            if (sls != 0)
                SV_TRY(pass(g, next * WAYS + k, place->end & 255, port,
                            place->channel * x->vls + vl, sls));
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
    memset(g->sets, 0, (size_t)n * WAYS * x->vls * sizeof *g->sets);
    sort(g);
    return status;
}

/* ---- multicast trees ---- */

/* What has been reached, of one group: a channel and VL is a vertex. */
struct tree {
    sv__gatherer *g;
    const sv_group *group;
    uint64_t *seen;
    uint32_t *queue, count;
};

static bool in_mask(const struct tree *t, uint32_t s, unsigned port)
{
    return t->group->ports[s][port >> 6] >> (port & 63) & 1;
}

/* A packet in a switch that came in at a port is copied to all others of the mask. */
static sv_status copy(struct tree *t, uint32_t s, unsigned in, uint32_t held)
{
    const sv__sides *x = t->g->x;
    unsigned sl = t->group->sl < SV_MAX_SLS ? t->group->sl : 0;
    SV_FOR_HOPS (x->f, (sv_node){s}, hop) {
        unsigned out = x->f->port[hop->channel.i];
        if (out == in || !in_mask(t, s, out) || !sv_is_switch(x->f, hop->to))
            continue;
        unsigned vl = sv_route_sl2vl(x->after, x->f, (sv_node){s}, in, out)->of_sl[sl];
        uint32_t vertex = hop->channel.i * x->vls + vl;
        if (vl >= x->vls)
            continue;
        if (held != SV_NONE)
            SV_TRY(note(t->g, held, vertex));
        if (sv_bit(t->seen, vertex))
            continue;
        sv_bit_set(t->seen, vertex);
        t->queue[t->count++] = vertex;
    }
    return SV_OK;
}

static sv_status walk(struct tree *t)
{
    const sv_fabric *f = t->g->x->f;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, (sv_node){s}, hop) { /* anybody may send, and stale masks are believed */
            unsigned back = f->port[f->reverse[hop->channel.i].i];
            if (!sv_is_switch(f, hop->to) || in_mask(t, hop->to.i, back))
                SV_TRY(copy(t, s, f->port[hop->channel.i], SV_NONE));
        }
    for (uint32_t i = 0; i < t->count; i++) {
        sv_channel c = {t->queue[i] / t->g->x->vls};
        SV_TRY(copy(t, f->head[c.i].i, f->port[f->reverse[c.i].i], t->queue[i]));
    }
    return SV_OK;
}

sv_status sv__gather_trees(sv__gatherer *g)
{
    const sv__sides *x = g->x;
    size_t vertices = (size_t)x->f->num_channels * x->vls;
    sv_status status = SV_OK;
    g->num_edges = 0;
    for (uint32_t i = 0; status == SV_OK && i < x->after->num_groups; i++) {
        sv_arena arena;
        sv_arena_init(&arena, x->ctx);
        struct tree t = {.g = g, .group = &x->after->groups[i]};
        t.seen = sv_bitset_new(&arena, vertices);
        t.queue = SV_ARENA_NEW(&arena, uint32_t, vertices + 1);
        status = t.seen == NULL || t.queue == NULL ? SV_NO_MEMORY : walk(&t);
        sv_arena_release(&arena);
    }
    sort(g);
    return status;
}
