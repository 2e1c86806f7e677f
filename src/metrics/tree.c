/*
 * tree.c: the switches' entries for one destination, put in order.
 *
 * Idea: entries form a tree that leads to the destination, and perhaps rings and tips that lead
 * nowhere. Peeling off switches that nobody sends to gives an order in which sums can be carried
 * inwards; backwards it is the order in which distances are known.
 *
 * Invariant: in order[0 … count) each switch stands before the one it sends to; switches on rings,
 * and those only rings lead to, are missing and have hops SV_NONE.
 * Cost: O(switches) a destination.
 */
#include "metrics/tree.h"

#include <string.h>

sv_status sv__tree_init(sv__tree *t, sv_arena *arena, const sv_fabric *f)
{
    t->count = 0;
    t->out = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    t->hops = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    t->order = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    t->feeders = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    return t->out == NULL || t->hops == NULL || t->order == NULL || t->feeders == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

/* Switches from the tips inwards; those on rings are left out. */
static void peel(sv__tree *t, const sv_fabric *f, const sv_portmap *ports, const uint8_t *row)
{
    uint32_t tail = 0;
    memset(t->feeders, 0, f->num_switches * sizeof *t->feeders);
    for (uint32_t s = 0; s < f->num_switches; s++) {
        t->out[s] = sv_portmap_at(ports, s, row[s]).i;
        if (t->out[s] != SV_NONE && sv_is_switch(f, f->head[t->out[s]]))
            t->feeders[f->head[t->out[s]].i]++;
    }
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (t->feeders[s] == 0)
            t->order[tail++] = s;
    for (uint32_t i = 0; i < tail; i++) {
        uint32_t out = t->out[t->order[i]];
        if (out == SV_NONE || !sv_is_switch(f, f->head[out]))
            continue;
        uint32_t next = f->head[out].i;
        if (--t->feeders[next] == 0)
            t->order[tail++] = next;
    }
    t->count = tail;
}

/* Hops from every switch to a destination; SV_NONE where packets do not arrive. */
static void measure(sv__tree *t, const sv_fabric *f, sv_node to)
{
    memset(t->hops, 0xff, f->num_switches * sizeof *t->hops);
    for (uint32_t i = t->count; i-- > 0;) {
        uint32_t s = t->order[i], out = t->out[s];
        if (out == SV_NONE)
            t->hops[s] = s == to.i ? 0 : SV_NONE;
        else if (!sv_is_switch(f, f->head[out]))
            t->hops[s] = f->head[out].i == to.i ? 0 : SV_NONE;
        else if (t->hops[f->head[out].i] != SV_NONE)
            t->hops[s] = t->hops[f->head[out].i] + 1;
    }
}

void sv__tree_make(sv__tree *t, const sv_fabric *f, const sv_portmap *ports, const sv_routes *r,
                   uint32_t d)
{
    peel(t, f, ports, r->ports[d]);
    measure(t, f, r->node[d]);
}

uint32_t *sv__terminals(sv_arena *arena, const sv_fabric *f)
{
    uint32_t *terminals = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    for (uint32_t s = 0; terminals != NULL && s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            terminals[s] += !sv_is_switch(f, hop->to);
    return terminals;
}

sv_status sv__tables_fit(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r)
{
    if (r->num_switches == f->num_switches && r->num_terminals == f->num_terminals)
        return SV_OK;
    return sv_fail(ctx, SV_BAD_INPUT, "tables that belong to another fabric");
}
