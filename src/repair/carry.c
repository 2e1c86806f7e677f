/*
 * carry.c: old tables in the numbers of the fabric as it is now, and what is different.
 *
 * Failures that keep all numbers (a mask, or a file without some cables) cost nothing: the tables
 * are a clone. Otherwise rows are copied, entry by entry. New nodes get no entries, but the VLs
 * that everybody has.
 *
 * Cost: O(destinations + channels) where numbers stay, else O(switches × destinations).
 */
#include <string.h>

#include "base/ctx.h"
#include "repair/repair.h"

static sv_status invert(sv__carried *c, const sv_match *match)
{
    uint32_t n = sv_num_nodes(c->f), mine = c->f->num_switches, theirs = c->from->num_switches;
    c->was = SV_ARENA_NEW(c->arena, uint32_t, n);
    if (c->was == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < n; v++)
        c->was[v] = SV_NONE;
    for (uint32_t s = 0; s < theirs; s++)
        if (match->switches[s] != SV_NONE)
            c->was[match->switches[s]] = s;
    for (uint32_t t = 0; t < c->from->num_terminals; t++)
        if (match->terminals[t] != SV_NONE)
            c->was[mine + match->terminals[t]] = theirs + t;
    return SV_OK;
}

/* Whether every node that is alive has its number, ports and place in the fabric from before. */
static bool same_numbers(const sv__carried *c)
{
    const sv_fabric *a = c->from, *b = c->f;
    if (a->num_switches != b->num_switches || a->num_terminals != b->num_terminals)
        return false;
    for (uint32_t v = 0; v < sv_num_nodes(b); v++) {
        sv_node node = {v};
        if (!sv_node_alive(b, node))
            continue;
        if (c->was[v] != v)
            return false;
        if (v < b->num_switches ? a->switches[v].ports != b->switches[v].ports
                                : c->old->home[v - b->num_switches] != sv_switch_of(b, node).i)
            return false;
    }
    return true;
}

/* New nodes treat SLs as the first old one does. */
static void give_vls(const sv__carried *c)
{
    uint32_t n = sv_num_nodes(c->f), first = 0;
    while (first < n && c->was[first] == SV_NONE)
        first++;
    for (uint32_t v = 0; first < n && v < n; v++)
        if (c->was[v] == SV_NONE)
            c->before->vls_of[v] = c->before->vls_of[first];
}

static sv_status carry_tables(sv__carried *c, const sv_match *match)
{
    SV_TRY(invert(c, match));
    if (same_numbers(c)) {
        SV_TRY(sv_routes_clone(c->ctx, c->old, &c->before));
    } else {
        SV_TRY(sv_routes_remap(c->ctx, c->from, c->old, c->f, match, &c->before));
        memcpy(c->before->vlarb, c->old->vlarb, sizeof c->before->vlarb);
        give_vls(c);
    }
    if (c->before->num_groups > 0 || c->old->num_groups > 0)
        sv_warn(c->ctx, "multicast tables are not repaired: they are left out");
    c->before->num_groups = 0;
    return SV_OK;
}

/* What was behind a port before, in the numbers of now: a node and a port; SV_NONE: nothing. */
static uint32_t end_before(const sv__carried *c, const sv_portmap *ports, const sv_match *match,
                           uint32_t s, unsigned port)
{
    uint32_t w = c->was[s], theirs = c->from->num_switches;
    if (w == SV_NONE || port > c->from->switches[w].ports)
        return SV_NONE;
    const sv_place *place = sv_portmap_place(ports, w, port);
    if (place->channel == SV_NONE)
        return SV_NONE;
    uint32_t end = place->end >> 8;
    uint32_t now = end < theirs ? match->switches[end] : match->terminals[end - theirs];
    if (now == SV_NONE)
        return SV_NONE - 1; /* somebody who is gone */
    return (end < theirs ? now : now + c->f->num_switches) << 8 | (place->end & 255);
}

/* Compares what is behind every port with what was. */
static sv_status compare(sv__carried *c, const sv_match *match)
{
    const sv_fabric *f = c->f;
    sv_portmap old_ports;
    SV_TRY(sv_portmap_init(&c->ports, c->arena, f));
    SV_TRY(sv_portmap_init(&old_ports, c->arena, c->from));
    size_t places = c->ports.first[f->num_switches];
    c->changed = sv_bitset_new(c->arena, places);
    c->spots = SV_ARENA_NEW(c->arena, sv__spot, places);
    if (c->changed == NULL || c->spots == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        c->grown |= sv_node_alive(f, (sv_node){v}) && c->was[v] == SV_NONE;
    for (uint32_t s = 0; s < f->num_switches; s++)
        for (unsigned p = 1; p <= f->switches[s].ports && sv_node_alive(f, (sv_node){s}); p++) {
            const sv_place *place = sv_portmap_place(&c->ports, s, p);
            uint32_t before = end_before(c, &old_ports, match, s, p);
            if (place->channel == SV_NONE ? before == SV_NONE : before == place->end)
                continue;
            c->grown |= place->channel != SV_NONE;
            if (before == SV_NONE)
                continue;
            sv_bit_set(c->changed, c->ports.first[s] + p);
            c->spots[c->num_spots++] = (sv__spot){s, (uint8_t)p};
        }
    return SV_OK;
}

sv_status sv__carry(sv__carried *c, sv_ctx *ctx, sv_arena *arena, const sv_fabric *from,
                    const sv_routes *old, const sv_fabric *to)
{
    sv_match *match = NULL;
    *c = (sv__carried){.ctx = ctx, .arena = arena, .from = from, .f = to, .old = old};
    SV_TRY(sv_match_new(ctx, from, to, SV_MATCH_GUID, &match));
    sv_status status = carry_tables(c, match);
    if (status == SV_OK)
        status = compare(c, match);
    sv_match_free(match);
    return status;
}
