/*
 * match.c: which part of one fabric is which part of another.
 *
 * Idea: numbers differ from file to file, so identity is the GUID of a switch or adapter (or its
 * name, for a plan made before the hardware had GUIDs) and the number of a port. Two channels are
 * the same when both their ends are.
 *
 * Invariant: each map is one-to-one; dead parts match nothing.
 * Cost: linear expected, plus a search among a node's ports for each channel.
 */
#include "base/map.h"
#include "fabric/derive.h"
#include "fabric/store.h"

/* One fabric's nodes of one kind by GUID or name. */
struct lookup {
    sv_map guids;
    sv_names names;
    sv_match_by by;
};

/* The two kinds of thing that have a GUID and a name, behind one face. */
struct parts {
    const sv_fabric *f;
    bool adapters;
    const bool *live;
};

static uint32_t parts_count(const struct parts *parts)
{
    return parts->adapters ? parts->f->num_adapters : parts->f->num_switches;
}

static uint64_t parts_guid(const struct parts *parts, uint32_t i)
{
    return parts->adapters ? parts->f->adapters[i].guid : parts->f->switches[i].guid;
}

static const char *parts_name(const struct parts *parts, uint32_t i)
{
    return parts->adapters ? parts->f->adapters[i].name : parts->f->switches[i].name;
}

static bool *live_parts(sv_arena *scratch, const sv_fabric *f, bool adapters)
{
    if (adapters)
        return sv_live_adapters(scratch, f);
    bool *live = SV_ARENA_NEW(scratch, bool, f->num_switches);
    for (uint32_t s = 0; live != NULL && s < f->num_switches; s++)
        live[s] = sv_node_alive(f, (sv_node){s});
    return live;
}

static sv_status lookup_add(sv_ctx *ctx, struct lookup *lookup, const struct parts *parts,
                            uint32_t i)
{
    uint32_t held;
    if (lookup->by == SV_MATCH_NAME) {
        SV_TRY(sv_names_add(&lookup->names, sv_span_of(parts_name(parts, i)), i, &held));
        if (held != i)
            return sv_fail(ctx, SV_BAD_INPUT, "two nodes are called '%s': names cannot match",
                           parts_name(parts, i));
        return SV_OK;
    }
    if (parts_guid(parts, i) == 0)
        return sv_fail(ctx, SV_BAD_INPUT, "'%s' has no GUID: match by name", parts_name(parts, i));
    SV_TRY(sv_map_add(&lookup->guids, parts_guid(parts, i), i, &held));
    if (held != i)
        return sv_fail(ctx, SV_BAD_INPUT, "'%s' and '%s' have the same GUID 0x%016llx",
                       parts_name(parts, held), parts_name(parts, i),
                       (unsigned long long)parts_guid(parts, i));
    return SV_OK;
}

static uint32_t lookup_find(const struct lookup *lookup, const struct parts *parts, uint32_t i)
{
    if (lookup->by == SV_MATCH_NAME)
        return sv_names_get(&lookup->names, sv_span_of(parts_name(parts, i)));
    return sv_map_get(&lookup->guids, parts_guid(parts, i));
}

/* Matches the switches, or the adapters. Both sides must be unambiguous. */
static sv_status match_parts(sv_ctx *ctx, const struct parts *old, const struct parts *new,
                             sv_match_by by, uint32_t *map)
{
    struct lookup lookups[2];
    const struct parts *sides[2] = {new, old};
    sv_status status = SV_OK;
    for (int side = 0; side < 2; side++) {
        lookups[side].by = by;
        sv_map_init(&lookups[side].guids, ctx);
        sv_names_init(&lookups[side].names, ctx);
        for (uint32_t i = 0; status == SV_OK && i < parts_count(sides[side]); i++)
            if (sides[side]->live[i])
                status = lookup_add(ctx, &lookups[side], sides[side], i);
    }
    for (uint32_t i = 0; status == SV_OK && i < parts_count(old); i++)
        map[i] = old->live[i] ? lookup_find(&lookups[0], old, i) : SV_NONE;
    for (int side = 0; side < 2; side++) {
        sv_map_release(&lookups[side].guids);
        sv_names_release(&lookups[side].names);
    }
    return status;
}

/* Terminals match when their adapters do and they are the same port. */
static sv_status match_terminals(sv_ctx *ctx, const sv_fabric *old, const sv_fabric *new,
                                 const uint32_t *adapters, uint32_t *map)
{
    sv_map ports;
    sv_map_init(&ports, ctx);
    sv_status status = SV_OK;
    for (uint32_t t = 0; status == SV_OK && t < new->num_terminals; t++)
        if (sv_node_alive(new, (sv_node){new->num_switches + t}))
            status = sv_map_add(&ports,
                                (uint64_t) new->terminals[t].adapter << 16 | new->terminals[t].port,
                                t, NULL);
    for (uint32_t t = 0; status == SV_OK && t < old->num_terminals; t++) {
        const sv_terminal_info *about = &old->terminals[t];
        bool alive = sv_node_alive(old, (sv_node){old->num_switches + t});
        uint32_t adapter = alive ? adapters[about->adapter] : SV_NONE;
        map[t] = adapter == SV_NONE ? SV_NONE
                                    : sv_map_get(&ports, (uint64_t)adapter << 16 | about->port);
    }
    sv_map_release(&ports);
    return status;
}

static sv_node match_node(const sv_match *match, const sv_fabric *old, const sv_fabric *new,
                          sv_node v)
{
    uint32_t to =
        sv_is_switch(old, v) ? match->switches[v.i] : match->terminals[v.i - old->num_switches];
    if (to == SV_NONE)
        return SV_NO_NODE;
    return (sv_node){sv_is_switch(old, v) ? to : new->num_switches + to};
}

static void match_channels(sv_match *match, const sv_fabric *old, const sv_fabric *new)
{
    for (uint32_t c = 0; c < old->num_channels; c++) {
        match->channels[c] = SV_NONE;
        if (!sv_channel_alive(old, (sv_channel){c}))
            continue;
        sv_node tail = match_node(match, old, new, old->tail[c]);
        sv_node head = match_node(match, old, new, old->head[c]);
        if (tail.i == SV_NONE || head.i == SV_NONE)
            continue;
        sv_channel there = sv_channel_at(new, tail, old->port[c]);
        if (there.i != SV_NONE && new->head[there.i].i ==
                                      head.i &&new->port[new->reverse[there.i].i] ==
                                      old->port[old->reverse[c].i])
            match->channels[c] = there.i;
    }
}

static sv_status match_all(sv_ctx *ctx, sv_arena *scratch, const sv_fabric *old,
                           const sv_fabric *new, sv_match_by by, sv_match *match)
{
    for (int adapters = 0; adapters < 2; adapters++) {
        struct parts was = {old, adapters, live_parts(scratch, old, adapters)};
        struct parts is = {new, adapters, live_parts(scratch, new, adapters)};
        if (was.live == NULL || is.live == NULL)
            return SV_NO_MEMORY;
        SV_TRY(match_parts(ctx, &was, &is, by, adapters ? match->adapters : match->switches));
    }
    SV_TRY(match_terminals(ctx, old, new, match->adapters, match->terminals));
    match_channels(match, old, new);
    return SV_OK;
}

sv_status sv_match_new(sv_ctx *ctx, const sv_fabric *old_fabric, const sv_fabric *new_fabric,
                       sv_match_by by, sv_match **result)
{
    sv__store *store = sv__store_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_status status = SV_NO_MEMORY;
    sv_match *match = SV_STORE_NEW(store, ctx, sv_match, 1);
    if (match != NULL) {
        match->store = store;
        match->switches = SV_STORE_NEW(store, ctx, uint32_t, old_fabric->num_switches);
        match->adapters = SV_STORE_NEW(store, ctx, uint32_t, old_fabric->num_adapters);
        match->terminals = SV_STORE_NEW(store, ctx, uint32_t, old_fabric->num_terminals);
        match->channels = SV_STORE_NEW(store, ctx, uint32_t, old_fabric->num_channels);
        if (match->switches != NULL && match->adapters != NULL && match->terminals != NULL &&
            match->channels != NULL) {
            sv_arena scratch;
            sv_arena_init(&scratch, ctx);
            status = match_all(ctx, &scratch, old_fabric, new_fabric, by, match);
            sv_arena_release(&scratch);
        }
    }
    if (status == SV_OK)
        *result = match;
    else
        sv__store_drop(store);
    return status;
}

void sv_match_free(sv_match *match)
{
    if (match != NULL)
        sv__store_drop(match->store);
}
