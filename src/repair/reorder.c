/*
 * reorder.c: orders that leave no way are changed, as little as need be.
 *
 * An order has to agree only with turns that packets take. So for destinations that are stuck, the
 * dependency graph of all that packets do (before, after and in between) is built, one a VL, with
 * the orders as they are; then trees are grown once more, and where no way ascends, turns are added
 * that close no cycle (cdg.c), which moves some channels in the order. Every turn that a new tree
 * might use is added at once, so that what was found open stays open.
 *
 * Invariant: all turns that packets take, or took, ascend in the orders at every moment.
 * Cost: O(switches × destinations) to build the graphs, then as cdg.c for each turn.
 */
#include <string.h>

#include "base/ctx.h"
#include "cdg/cdg.h"
#include "repair/repair.h"

struct sv__reorder {
    sv__mend *m;
    sv_core core;
    sv_cdg cdg;
    uint32_t *entry; /* [places of ports]: in the core, or SV_NONE */
    /* Scratch, for each switch. */
    sv__vl_set *vls;
    uint32_t *queue;
    bool *queued;
};

sv__vl_set sv__reorder_ascends(const sv__reorder *x, uint32_t in, uint32_t out)
{
    uint32_t a = x->entry[in], b = x->entry[out];
    if (a == SV_NONE || b == SV_NONE)
        return 0;
    sv__vl_set vls = 0;
    for (unsigned l = 0; l < x->cdg.num_vls; l++)
        vls |= (sv__vl_set)(x->cdg.vl[l].place[a] < x->cdg.vl[l].place[b]) << l;
    return vls & x->m->all;
}

sv__vl_set sv__reorder_add(sv__reorder *x, uint32_t in, uint32_t out, sv__vl_set vls)
{
    uint32_t a = x->entry[in], b = x->entry[out];
    sv__vl_set added = 0;
    if (a == SV_NONE || b == SV_NONE)
        return 0;
    for (; vls != 0; vls &= vls - 1) {
        unsigned l = (unsigned)__builtin_ctzll(vls);
        if (sv_cdg_add(&x->cdg, l, a, b))
            added |= (sv__vl_set)1 << l;
    }
    return added;
}

/* ---- what packets do ---- */

/* The ways out of a switch, before and after, as places; SV_NONE: none to a switch. */
static void ways_of(const sv__reorder *x, uint32_t d, uint32_t s, uint32_t *ways)
{
    const sv__mend *m = x->m;
    const sv_routes *tables[] = {m->before, m->made};
    for (int k = 0; k < 2; k++) {
        unsigned port = tables[k]->ports[d][s];
        uint32_t place = m->carried->ports.first[s] + port;
        ways[k] = port == SV_NO_PORT || x->entry[place] == SV_NONE ? SV_NONE : place;
    }
    if (ways[0] == ways[1])
        ways[1] = SV_NONE;
}

static uint32_t end_of(const sv__reorder *x, uint32_t way)
{
    return x->m->carried->ports.places[way].end >> 8;
}

/* VLs of all that comes through each switch, by old and new ways and SLs. */
static void flow(sv__reorder *x, uint32_t d)
{
    uint32_t n = x->m->f->num_switches, head = 0, count = 0;
    for (uint32_t s = 0; s < n; s++) {
        x->vls[s] = sv_node_alive(x->m->f, (sv_node){s}) ? sv__vls_of_both(x->m, d, s) : 0;
        x->queued[s] = true;
        x->queue[count++] = s;
    }
    for (; count > 0; count--) {
        uint32_t s = x->queue[head], ways[2];
        head = (head + 1) % n;
        x->queued[s] = false;
        ways_of(x, d, s, ways);
        for (int k = 0; k < 2; k++) {
            uint32_t to = ways[k] == SV_NONE ? SV_NONE : end_of(x, ways[k]);
            if (to == SV_NONE || (x->vls[s] & ~x->vls[to]) == 0)
                continue;
            x->vls[to] |= x->vls[s];
            if (!x->queued[to]) {
                x->queued[to] = true;
                x->queue[(head + count++ - 1) % n] = to;
            }
        }
    }
}

/* Adds the turns of all packets to a destination, as far as they ascend. */
static void pin(sv__reorder *x, uint32_t d)
{
    flow(x, d);
    for (uint32_t s = 0; s < x->m->f->num_switches; s++) {
        uint32_t ways[2], next[2];
        ways_of(x, d, s, ways);
        for (int k = 0; k < 2; k++) {
            if (ways[k] == SV_NONE)
                continue;
            ways_of(x, d, end_of(x, ways[k]), next);
            for (int i = 0; i < 2; i++)
                if (next[i] != SV_NONE)
                    sv__reorder_add(x, ways[k], next[i],
                                    x->vls[s] & sv__reorder_ascends(x, ways[k], next[i]));
        }
    }
}

/* ---- making and ending ---- */

static sv_status add_vls(sv__reorder *x)
{
    const sv__mend *m = x->m;
    uint32_t *start = SV_ARENA_NEW(m->arena, uint32_t, x->core.num_entries);
    if (start == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_cdg_init(&x->cdg, m->arena, &x->core));
    for (unsigned l = 0; l < m->vls; l++) {
        for (uint32_t s = 0; s < m->f->num_switches; s++)
            SV_FOR_HOPS (m->f, ((sv_node){s}), hop) {
                uint32_t place = m->carried->ports.first[s] + m->f->port[hop->channel.i];
                if (x->entry[place] != SV_NONE)
                    start[x->entry[place]] = m->made->orders[(size_t)place * m->vls + l];
            }
        SV_TRY(sv_cdg_add_vl(&x->cdg, start));
    }
    return SV_OK;
}

static sv_status number_entries(sv__reorder *x)
{
    const sv__mend *m = x->m;
    sv_core_ports ports;
    SV_TRY(sv_core_init(&x->core, m->arena, m->f));
    SV_TRY(sv_core_ports_init(&ports, m->arena, &x->core, m->f));
    size_t places = m->carried->ports.first[m->f->num_switches];
    x->entry = SV_ARENA_NEW(m->arena, uint32_t, places);
    if (x->entry == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < m->f->num_switches; s++)
        for (unsigned p = 0; p <= m->f->switches[s].ports; p++)
            x->entry[m->carried->ports.first[s] + p] = sv_core_entry(&ports, s, p);
    return SV_OK;
}

sv_status sv__reorder_begin(sv__mend *m)
{
    uint32_t n = m->f->num_switches;
    sv__reorder *x = SV_ARENA_NEW(m->arena, sv__reorder, 1);
    if (x == NULL)
        return SV_NO_MEMORY;
    x->m = m;
    x->vls = SV_ARENA_NEW(m->arena, sv__vl_set, n);
    x->queue = SV_ARENA_NEW(m->arena, uint32_t, n);
    x->queued = SV_ARENA_NEW(m->arena, bool, n);
    if (x->vls == NULL || x->queue == NULL || x->queued == NULL)
        return SV_NO_MEMORY;
    SV_TRY(number_entries(x));
    SV_TRY(add_vls(x));
    for (uint32_t d = 0; d < m->made->num_destinations; d++) {
        if (d % 64 == 0)
            SV_TRY(sv_progress(m->ctx, "reordering", d, m->made->num_destinations));
        if (sv_node_alive(m->f, m->made->node[d]))
            pin(x, d);
    }
    m->reorder = x;
    return SV_OK;
}

sv_status sv__reorder_end(sv__mend *m)
{
    const sv__reorder *x = m->reorder;
    const uint32_t *old = m->made->orders;
    size_t places = m->carried->ports.first[m->f->num_switches];
    uint32_t *numbers;
    SV_TRY(sv_routes_set_orders(m->ctx, m->f, m->made, m->vls, &numbers));
    for (size_t place = 0; place < places; place++)
        for (unsigned l = 0; l < m->vls; l++)
            numbers[place * m->vls + l] = x->entry[place] == SV_NONE
                                              ? old[place * m->vls + l]
                                              : x->cdg.vl[l].place[x->entry[place]] + 1;
    m->reorder = NULL;
    return SV_OK;
}
