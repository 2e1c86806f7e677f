/*
 * diff.c: what changed between two fabrics.
 *
 * Idea: match the parts (match.c). Nodes without a partner are lost or added and take their cables
 * with them. A cable that is gone while one of its two ports has a new cable to somewhere else was
 * moved. Terminals' ends are looked at before switches' ends, since hosts are re-plugged more often
 * than switches. What is left is lost or added.
 *
 * Invariant: every live cable of both fabrics is matched, moved, lost, added, or goes with a node:
 * exactly one of them; each new cable explains at most one old one.
 * Cost: linear, expected.
 */
#include <string.h>

#include "base/array.h"
#include "fabric/derive.h"
#include <selvage/fabric.h>

#include "base/pool.h"

struct differ {
    sv_ctx *ctx;
    const sv_fabric *old, *new;
    sv_match_by by;
    const sv_match *match;
    uint64_t *explained; /* new channels that are matched or moved to */
    uint64_t *told;      /* old cables that were moved */
    SV_ARRAY(sv_change) changes;
};

static sv_status add(struct differ *d, sv_change_kind kind, sv_change_what what, uint32_t a,
                     uint32_t b)
{
    sv_change change = {(uint8_t)kind, (uint8_t)what, a, b};
    return sv_array_push(d->ctx, &d->changes, change);
}

static void explain(struct differ *d, uint32_t channel)
{
    sv_bit_set(d->explained, channel);
    sv_bit_set(d->explained, d->new->reverse[channel].i);
}

/* The partner in the new fabric of a node of the old one. */
static sv_node forward(const struct differ *d, sv_node v)
{
    if (sv_is_switch(d->old, v)) {
        uint32_t s = d->match->switches[v.i];
        return s == SV_NONE ? SV_NO_NODE : (sv_node){s};
    }
    uint32_t t = d->match->terminals[v.i - d->old->num_switches];
    return t == SV_NONE ? SV_NO_NODE : (sv_node){d->new->num_switches + t};
}

/* Whether the box a node belongs to exists in the new fabric. */
static bool box_stays(const struct differ *d, sv_node v)
{
    if (sv_is_switch(d->old, v))
        return d->match->switches[v.i] != SV_NONE;
    return d->match->adapters[sv_terminal_of(d->old, v)->adapter] != SV_NONE;
}

static sv_status diff_switches(struct differ *d, sv_arena *scratch)
{
    uint64_t *kept = sv_bitset_new(scratch, d->new->num_switches);
    if (kept == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < d->old->num_switches; s++) {
        if (!sv_node_alive(d->old, (sv_node){s}))
            continue;
        uint32_t to = d->match->switches[s];
        if (to == SV_NONE) {
            SV_TRY(add(d, SV_CHANGE_LOST, SV_WHAT_SWITCH, s, SV_NONE));
            continue;
        }
        sv_bit_set(kept, to);
        if (strcmp(d->old->switches[s].name, d->new->switches[to].name) != 0)
            SV_TRY(add(d, SV_CHANGE_RENAMED, SV_WHAT_SWITCH, s, to));
    }
    for (uint32_t s = 0; s < d->new->num_switches; s++)
        if (sv_node_alive(d->new, (sv_node){s}) && !sv_bit(kept, s))
            SV_TRY(add(d, SV_CHANGE_ADDED, SV_WHAT_SWITCH, SV_NONE, s));
    return SV_OK;
}

static sv_status diff_adapters(struct differ *d, sv_arena *scratch)
{
    uint64_t *kept = sv_bitset_new(scratch, d->new->num_adapters);
    bool *was = sv_live_adapters(scratch, d->old), *is = sv_live_adapters(scratch, d->new);
    if (kept == NULL || was == NULL || is == NULL)
        return SV_NO_MEMORY;
    for (uint32_t a = 0; a < d->old->num_adapters; a++) {
        if (!was[a])
            continue;
        uint32_t to = d->match->adapters[a];
        if (to == SV_NONE) {
            SV_TRY(add(d, SV_CHANGE_LOST, SV_WHAT_ADAPTER, a, SV_NONE));
            continue;
        }
        sv_bit_set(kept, to);
        if (strcmp(d->old->adapters[a].name, d->new->adapters[to].name) != 0)
            SV_TRY(add(d, SV_CHANGE_RENAMED, SV_WHAT_ADAPTER, a, to));
    }
    for (uint32_t a = 0; a < d->new->num_adapters; a++)
        if (is[a] && !sv_bit(kept, a))
            SV_TRY(add(d, SV_CHANGE_ADDED, SV_WHAT_ADAPTER, SV_NONE, a));
    return SV_OK;
}

/* Ports whose adapter is the same by its GUID, and which have another. */
static sv_status diff_ports(struct differ *d)
{
    for (uint32_t t = 0; t < d->old->num_terminals; t++) {
        uint32_t to = d->match->terminals[t];
        if (to == SV_NONE)
            continue;
        uint64_t was = d->old->terminals[t].guid, is = d->new->terminals[to].guid;
        if (was != is && was != 0 && is != 0)
            SV_TRY(add(d, SV_CHANGE_LINK, SV_WHAT_PORT, t, to));
    }
    return SV_OK;
}

/* What is not known cannot have changed. */
static bool same_link(const sv_link *a, const sv_link *b)
{
    bool width = a->width == b->width || a->width == 0 || b->width == 0;
    return width && (a->speed == b->speed || a->speed == 0 || b->speed == 0);
}

/* Cables that are in both: only their speed can have changed. */
static sv_status diff_matched(struct differ *d)
{
    for (uint32_t c = 0; c < d->old->num_channels; c++) {
        uint32_t to = d->match->channels[c];
        if (to == SV_NONE)
            continue;
        sv_bit_set(d->explained, to);
        if (sv_is_cable(d->old, (sv_channel){c}) &&
            !same_link(sv_link_of(d->old, (sv_channel){c}), sv_link_of(d->new, (sv_channel){to})))
            SV_TRY(add(d, SV_CHANGE_LINK, SV_WHAT_CABLE, c, to));
    }
    return SV_OK;
}

/* The new cable at the port where an old channel left, if nothing explains it yet. */
static uint32_t moved_to(const struct differ *d, uint32_t c)
{
    sv_node stayed = forward(d, d->old->tail[c]);
    if (stayed.i == SV_NONE)
        return SV_NONE;
    sv_channel there = sv_channel_at(d->new, stayed, d->old->port[c]);
    return there.i == SV_NONE || sv_bit(d->explained, there.i) ? SV_NONE : there.i;
}

/* Whether a cable of the old fabric is neither in the new one nor explained by it yet. */
static bool is_gone(const struct differ *d, uint32_t c)
{
    return sv_channel_alive(d->old, (sv_channel){c}) && sv_is_cable(d->old, (sv_channel){c}) &&
           d->match->channels[c] == SV_NONE && !sv_bit(d->told, c);
}

/* Tells of a cable as moved, if the port where channel c leaves has a new one. */
static sv_status try_moved(struct differ *d, uint32_t c)
{
    uint32_t there = moved_to(d, c), cable = c < d->old->reverse[c].i ? c : d->old->reverse[c].i;
    if (there == SV_NONE)
        return SV_OK;
    explain(d, there);
    sv_bit_set(d->told, cable);
    return add(d, SV_CHANGE_MOVED, SV_WHAT_CABLE, c, there);
}

/* Cables that are gone: hosts that were re-plugged first, then moved cables of switches. */
static sv_status diff_gone(struct differ *d)
{
    const sv_fabric *old = d->old;
    for (int terminals = 1; terminals >= 0; terminals--)
        for (uint32_t c = 0; c < old->num_channels; c++)
            for (int end = 0; end < 2 && is_gone(d, c); end++) {
                uint32_t from = end == 0 ? c : old->reverse[c].i;
                if (sv_is_switch(old, old->tail[from]) == !terminals)
                    SV_TRY(try_moved(d, from));
            }
    for (uint32_t c = 0; c < old->num_channels; c++)
        if (is_gone(d, c) && box_stays(d, old->tail[c]) && box_stays(d, old->head[c]))
            SV_TRY(add(d, SV_CHANGE_LOST, SV_WHAT_CABLE, c, SV_NONE));
    return SV_OK;
}

/* Whether the box of a node of the new fabric was in the old one. */
static bool box_was(const struct differ *d, const uint64_t *old_adapters, const uint64_t *switches,
                    sv_node v)
{
    if (sv_is_switch(d->new, v))
        return sv_bit(switches, v.i);
    return sv_bit(old_adapters, sv_terminal_of(d->new, v)->adapter);
}

static sv_status diff_new_cables(struct differ *d, sv_arena *scratch)
{
    uint64_t *switches = sv_bitset_new(scratch, d->new->num_switches);
    uint64_t *adapters = sv_bitset_new(scratch, d->new->num_adapters);
    if (switches == NULL || adapters == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < d->old->num_switches; s++)
        if (d->match->switches[s] != SV_NONE)
            sv_bit_set(switches, d->match->switches[s]);
    for (uint32_t a = 0; a < d->old->num_adapters; a++)
        if (d->match->adapters[a] != SV_NONE)
            sv_bit_set(adapters, d->match->adapters[a]);
    for (uint32_t c = 0; c < d->new->num_channels; c++)
        if (sv_channel_alive(d->new, (sv_channel){c}) && sv_is_cable(d->new, (sv_channel){c}) &&
            !sv_bit(d->explained, c) && box_was(d, adapters, switches, d->new->tail[c]) &&
            box_was(d, adapters, switches, d->new->head[c]))
            SV_TRY(add(d, SV_CHANGE_ADDED, SV_WHAT_CABLE, SV_NONE, c));
    return SV_OK;
}

static sv_status diff_all(struct differ *d, sv_arena *scratch)
{
    d->explained = sv_bitset_new(scratch, d->new->num_channels);
    d->told = sv_bitset_new(scratch, d->old->num_channels);
    if (d->explained == NULL || d->told == NULL)
        return SV_NO_MEMORY;
    SV_TRY(diff_switches(d, scratch));
    SV_TRY(diff_adapters(d, scratch));
    if (d->by == SV_MATCH_GUID)
        SV_TRY(diff_ports(d));
    SV_TRY(diff_matched(d));
    SV_TRY(diff_gone(d));
    return diff_new_cables(d, scratch);
}

/* Puts the collected changes into an object of their own. */
static sv_status hand_over(struct differ *d, sv_diff **diff)
{
    sv_pool *store = sv__pool_new(d->ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_diff *result = SV_POOL_NEW(store, d->ctx, sv_diff, 1);
    sv_change *changes = SV_POOL_NEW(store, d->ctx, sv_change, d->changes.length);
    if (result == NULL || changes == NULL) {
        sv__pool_drop(store);
        return SV_NO_MEMORY;
    }
    if (d->changes.length > 0)
        memcpy(changes, d->changes.at, d->changes.length * sizeof *changes);
    *result = (sv_diff){changes, d->changes.length, store};
    *diff = result;
    return SV_OK;
}

sv_status sv_fabric_diff(sv_ctx *ctx, const sv_fabric *old_fabric, const sv_fabric *new_fabric,
                         sv_match_by by, sv_diff **diff)
{
    struct differ d = {.ctx = ctx, .old = old_fabric, .new = new_fabric, .by = by};
    sv_match *match = NULL;
    SV_TRY(sv_match_new(ctx, old_fabric, new_fabric, by, &match));
    d.match = match;
    sv_arena scratch;
    sv_arena_init(&scratch, ctx);
    sv_status status = diff_all(&d, &scratch);
    if (status == SV_OK)
        status = hand_over(&d, diff);
    sv_arena_release(&scratch);
    sv_array_release(ctx, &d.changes);
    sv_match_free(match);
    return status;
}

void sv_diff_free(sv_diff *diff)
{
    if (diff != NULL)
        sv__pool_drop(diff->store);
}
