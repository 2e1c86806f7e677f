/*
 * depend.c: what unicast packets of tables wait for, found out by whoever grows trees.
 *
 * verify/ judges trees and may share nothing with this room, so the walk here is another one. It
 * sends out one packet of each source and SL and follows it hop by hop (verify/ hands sets of SLs
 * from switch to switch, from the tips inwards). A packet that comes to a way out of a switch where
 * one with its SL and VL has been before is given up: from there on everything is known. So each
 * way out, VL and SL is gone through once for a destination, and forwarding loops end by
 * themselves.
 *
 * Turns are bits: for each switch, (cable in, VL, cable out, VL). The order of all turns comes from
 * taking away what nobody waits for any more (sv__mdeps_order).
 *
 * SLs that are not given may be any. SLs that all SL2VL tables treat alike are one (class_of).
 *
 * Invariant: a worker's passed set is all zero between destinations.
 * Cost: O(switches × SLs that meet there) for a destination, on several threads; memory: cables² ×
 * VLs² bits a switch.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "multicast/multicast.h"

enum { DESTINATIONS_PER_PIECE = 64 };

struct walk {
    const sv__mdeps *deps;
    const sv_fabric *f;
    const sv_routes *r;
    sv_traffic traffic;
    sv_portmap ports;
    const uint32_t *entry_of;
    bool by_ports;     /* some switch chooses VLs by ports */
    bool discarding;   /* some adapter discards some SL */
    unsigned width;    /* words of passed for a switch: VLs if by_ports, else 1 */
    uint64_t **passed; /* [workers]: [switches × width]: SLs that went out there already */
};

/* ---- turns ---- */

/* The bits of all turns from one channel on a VL: as many as cables of the switch, times VLs. */
static uint64_t row_of(const sv__mdeps *x, sv__muse in, uint64_t *length)
{
    const sv_core *core = x->core;
    uint32_t s = core->to[in.entry];
    *length = (uint64_t)(core->first[s + 1] - core->first[s]) * x->vls;
    return x->first[s] + ((in.entry - core->first[s]) * (uint64_t)x->vls + in.vl) * *length;
}

static uint64_t bit_of(const sv__mdeps *x, sv__muse in, sv__muse out)
{
    uint64_t length, row = row_of(x, in, &length);
    uint32_t cable = x->core->back[out.entry] - x->core->first[x->core->to[in.entry]];
    return row + (uint64_t)cable * x->vls + out.vl;
}

/* The first bit that is set from one on, or the end. */
static uint64_t next_bit(const sv__mdeps *x, uint64_t i, uint64_t end)
{
    while (i < end) {
        uint64_t word = atomic_load_explicit(&x->bits[i >> 6], memory_order_relaxed) >> (i & 63);
        if (word != 0)
            return i + (uint64_t)__builtin_ctzll(word) < end ? i + (uint64_t)__builtin_ctzll(word)
                                                             : end;
        i = (i | 63) + 1;
    }
    return end;
}

/* Calls fn for each turn from one channel on a VL. */
static sv_status each_from(const sv__mdeps *x, sv__muse in, sv__mdeps_fn *fn, void *arg)
{
    const sv_core *core = x->core;
    uint64_t length, row = row_of(x, in, &length), i = row;
    uint32_t first = core->first[core->to[in.entry]];
    while ((i = next_bit(x, i, row + length)) < row + length) {
        uint64_t at = i++ - row;
        sv__muse out = {core->back[first + at / x->vls], (uint32_t)(at % x->vls)};
        SV_TRY(fn(arg, in, out));
    }
    return SV_OK;
}

static void set_bit(const sv__mdeps *x, uint64_t i)
{
    uint64_t bit = (uint64_t)1 << (i & 63);
    if (!(atomic_load_explicit(&x->bits[i >> 6], memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(&x->bits[i >> 6], bit, memory_order_relaxed);
}

sv_status sv__mdeps_each(const sv__mdeps *x, sv__mdeps_fn *fn, void *arg)
{
    for (uint32_t e = 0; e < x->core->num_entries; e++)
        for (unsigned vl = 0; vl < x->vls; vl++)
            SV_TRY(each_from(x, (sv__muse){e, vl}, fn, arg));
    return SV_OK;
}

/* ---- packets ---- */

/* Follows a packet of an SL that came into a switch at a port (0: the switch itself sent it). */
static void follow(const struct walk *w, const uint8_t *row, uint64_t *passed, uint32_t s,
                   unsigned in, unsigned sl)
{
    sv__muse held = {SV_NONE, 0};
    for (;;) {
        const sv_place *place = sv_portmap_place(&w->ports, s, row[s]);
        if (place->channel == SV_NONE || place->end >> 8 >= w->f->num_switches)
            return; /* it has arrived, or is lost */
        unsigned vl = sv_route_sl2vl(w->r, w->f, (sv_node){s}, in, row[s])->of_sl[sl];
        if (vl == SV_NO_VL)
            return;
        sv__muse next = {w->entry_of[place->channel], vl};
        if (held.entry != SV_NONE && next.entry != SV_NONE)
            set_bit(w->deps, bit_of(w->deps, held, next));
        uint64_t *seen = &passed[(size_t)s * w->width + (w->width > 1 ? vl : 0)];
        if (*seen >> sl & 1)
            return;
        *seen |= (uint64_t)1 << sl;
        held = next;
        in = place->end & 255;
        s = place->end >> 8;
    }
}

/* The SLs that packets of a node to a destination may have, one of each class. */
static uint64_t sls_of(const struct walk *w, sv_node from, uint32_t d)
{
    unsigned sl = sv_route_sl(w->r, from, d);
    return sl < w->r->num_sls ? (uint64_t)1 << w->deps->class_of[sl] : w->deps->classes;
}

static void send(const struct walk *w, const uint8_t *row, uint64_t *passed, uint32_t s,
                 unsigned in, uint64_t sls)
{
    for (; sls != 0; sls &= sls - 1)
        follow(w, row, passed, s, in, (unsigned)__builtin_ctzll(sls));
}

/* What the terminals of a switch send; one of them speaks for all where nothing tells them apart.
 */
static void send_terminals(const struct walk *w, uint32_t d, uint32_t s, uint64_t *passed)
{
    const sv_routes *r = w->r;
    bool alike = r->sl_form != SV_SL_BY_NODE && r->sl2vl_by_port[s] == NULL && !w->discarding;
    SV_FOR_HOPS (w->f, (sv_node){s}, hop) {
        if (sv_is_switch(w->f, hop->to) || hop->to.i == r->node[d].i)
            continue;
        uint64_t sls = sls_of(w, hop->to, d);
        const sv_sl2vl *own = &r->vl_tables[r->vls_of[hop->to.i]];
        for (uint64_t left = sls; left != 0 && w->discarding; left &= left - 1)
            if (own->of_sl[__builtin_ctzll(left)] == SV_NO_VL)
                sls &= ~(left & -left);
        send(w, r->ports[d], passed, s, w->f->port[hop->channel.i], sls);
        if (alike)
            return;
    }
}

/* All packets for one destination. */
static void walk_destination(const struct walk *w, uint32_t d, uint64_t *passed)
{
    sv_node to = w->r->node[d];
    unsigned ends = sv_is_switch(w->f, to); /* of a pair, how many are switches so far */
    if (!sv_node_alive(w->f, to) || ends > (unsigned)w->traffic)
        return;
    memset(passed, 0, (size_t)w->f->num_switches * w->width * sizeof *passed);
    for (uint32_t s = 0; s < w->f->num_switches; s++) {
        if (!sv_node_alive(w->f, (sv_node){s}))
            continue;
        send_terminals(w, d, s, passed);
        if (s != to.i && ends + 1 <= (unsigned)w->traffic)
            send(w, w->r->ports[d], passed, s, 0, sls_of(w, (sv_node){s}, d));
    }
}

static sv_status walk_piece(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    const struct walk *w = arg;
    (void)ctx;
    uint64_t end = (piece + 1) * DESTINATIONS_PER_PIECE;
    for (uint64_t d = piece * DESTINATIONS_PER_PIECE; d < end && d < w->r->num_destinations; d++)
        walk_destination(w, (uint32_t)d, w->passed[worker]);
    return SV_OK;
}

/* ---- tables ---- */

static bool alike(const sv_routes *r, unsigned a, unsigned b)
{
    for (uint32_t t = 0; t < r->num_vl_tables; t++)
        if (r->vl_tables[t].of_sl[a] != r->vl_tables[t].of_sl[b])
            return false;
    return true;
}

/* Which SLs go the same ways, and how many VLs there are. */
static void look_at_tables(sv__mdeps *x, const sv_routes *r)
{
    x->vls = 1;
    for (unsigned sl = 0; sl < r->num_sls; sl++) {
        unsigned first = 0;
        while (!alike(r, first, sl))
            first++;
        x->class_of[sl] = (uint8_t)first;
        x->classes |= (uint64_t)1 << first;
        for (uint32_t t = 0; t < r->num_vl_tables; t++) {
            unsigned vl = r->vl_tables[t].of_sl[sl];
            if (vl != SV_NO_VL && vl >= x->vls)
                x->vls = vl + 1;
        }
    }
}

static sv_status make_bits(sv__mdeps *x, sv_arena *arena)
{
    const sv_core *core = x->core;
    uint64_t count = 0;
    x->first = SV_ARENA_NEW(arena, uint64_t, core->num_switches);
    if (x->first == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < core->num_switches; s++) {
        uint64_t row = (uint64_t)(core->first[s + 1] - core->first[s]) * x->vls;
        x->first[s] = count;
        count += row * row;
    }
    x->bits = sv_arena_alloc(arena, count / 64 + 1, sizeof *x->bits);
    return x->bits == NULL ? SV_NO_MEMORY : SV_OK;
}

static sv_status prepare(struct walk *w, sv_arena *arena, unsigned workers)
{
    const sv_fabric *f = w->f;
    const sv_routes *r = w->r;
    for (uint32_t s = 0; s < f->num_switches; s++)
        w->by_ports |= r->sl2vl_by_port[s] != NULL;
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
        for (unsigned sl = 0; sl < r->num_sls; sl++)
            w->discarding |= r->vl_tables[r->vls_of[v]].of_sl[sl] == SV_NO_VL;
    w->width = w->by_ports ? w->deps->vls : 1;
    w->passed = SV_ARENA_NEW(arena, uint64_t *, workers);
    for (unsigned i = 0; w->passed != NULL && i < workers; i++)
        if ((w->passed[i] = SV_ARENA_NEW(arena, uint64_t, (size_t)f->num_switches * w->width)) ==
            NULL)
            return SV_NO_MEMORY;
    return w->passed == NULL ? SV_NO_MEMORY : sv_portmap_init(&w->ports, arena, f);
}

sv_status sv__mdeps_init(sv__mdeps *x, sv_arena *arena, const sv_fabric *f, const sv_routes *r,
                         sv_traffic traffic, const sv_core *core, const uint32_t *entry_of)
{
    uint64_t pieces = (r->num_destinations + DESTINATIONS_PER_PIECE - 1) / DESTINATIONS_PER_PIECE;
    sv_ctx *ctx = arena->ctx;
    *x = (sv__mdeps){.core = core};
    if (r->num_switches != f->num_switches || r->num_terminals != f->num_terminals)
        return sv_fail(ctx, SV_BAD_INPUT, "tables that belong to another fabric");
    look_at_tables(x, r);
    SV_TRY(make_bits(x, arena));
    struct walk w = {.deps = x, .f = f, .r = r, .traffic = traffic, .entry_of = entry_of};
    sv_arena scratch;
    sv_arena_init(&scratch, ctx);
    sv_status status = prepare(&w, &scratch, sv_ctx_threads(ctx, pieces));
    if (status == SV_OK)
        status = sv_parallel(ctx, "finding dependencies", pieces, walk_piece, &w);
    sv_arena_release(&scratch);
    return status;
}

/* ---- an order ---- */

struct order {
    const sv__mdeps *deps;
    uint32_t *waiting; /* [entries × VLs]: how many wait for it that have no place yet */
    uint32_t *queue;
    uint32_t count;
};

static uint32_t vertex(const sv__mdeps *x, sv__muse use)
{
    return use.entry * x->vls + use.vl;
}

static sv_status count_waiting(void *arg, sv__muse waits, sv__muse for_whom)
{
    struct order *o = arg;
    (void)waits;
    o->waiting[vertex(o->deps, for_whom)]++;
    return SV_OK;
}

/* What waits has got its place. */
static sv_status release(void *arg, sv__muse waits, sv__muse for_whom)
{
    struct order *o = arg;
    uint32_t v = vertex(o->deps, for_whom);
    (void)waits;
    if (--o->waiting[v] == 0)
        o->queue[o->count++] = v;
    return SV_OK;
}

sv_status sv__mdeps_order(const sv__mdeps *x, sv_arena *arena, uint32_t *place, bool *cyclic)
{
    uint32_t vertices = x->core->num_entries * x->vls;
    struct order o = {.deps = x,
                      .waiting = SV_ARENA_NEW(arena, uint32_t, vertices),
                      .queue = SV_ARENA_NEW(arena, uint32_t, vertices)};
    if (o.waiting == NULL || o.queue == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__mdeps_each(x, count_waiting, &o));
    for (uint32_t v = 0; v < vertices; v++)
        if (o.waiting[v] == 0)
            o.queue[o.count++] = v;
    for (uint32_t i = 0; i < o.count; i++) {
        uint32_t v = o.queue[i];
        place[v] = i;
        SV_TRY(each_from(x, (sv__muse){v / x->vls, v % x->vls}, release, &o));
    }
    *cyclic = o.count < vertices;
    return SV_OK;
}
