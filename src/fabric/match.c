/*
 * match.c: which part of one fabric is which part of another.
 *
 * Idea: numbers differ from file to file, so identity is the GUID of a switch or adapter (or its
 * name, for a plan made before the hardware had GUIDs) and the number of a port. Where that is
 * unique in both fabrics it decides. Names are often not unique (adapters as they come from the
 * factory, aggregation nodes); such nodes are then told apart by where they are: going out from
 * the switches that are matched, two nodes with the same identity behind the same port, and cabled
 * at the same port themselves, are the same. Two channels are the same when both their ends are.
 *
 * Invariant: each map is one-to-one; dead parts match nothing; nodes that match have the same
 * identity.
 * Cost: linear expected, plus a search among a node's ports for each channel.
 */
#include <string.h>

#include "base/map.h"
#include "fabric/derive.h"
#include <selvage/fabric.h>

#include "base/pool.h"

enum kind { SWITCHES, ADAPTERS };

#define AMBIGUOUS (SV_ABSENT - 1)

/* One of the two fabrics. */
struct side {
    const sv_fabric *f;
    bool *live[2];        /* switches, adapters */
    uint32_t *partner[2]; /* in the other fabric, or SV_NONE */
};

struct matcher {
    sv_ctx *ctx;
    sv_match_by by;
    struct side old, new;
    uint32_t *queue; /* old switches that are matched and not yet looked around from */
    uint32_t waiting;
};

static uint32_t count_of(const sv_fabric *f, enum kind kind)
{
    return kind == ADAPTERS ? f->num_adapters : f->num_switches;
}

static uint64_t guid_of(const sv_fabric *f, enum kind kind, uint32_t i)
{
    return kind == ADAPTERS ? f->adapters[i].guid : f->switches[i].guid;
}

static const char *name_of(const sv_fabric *f, enum kind kind, uint32_t i)
{
    return kind == ADAPTERS ? f->adapters[i].name : f->switches[i].name;
}

static sv_status side_init(struct side *side, sv_arena *arena, const sv_fabric *f)
{
    side->f = f;
    side->live[ADAPTERS] = sv_live_adapters(arena, f);
    side->live[SWITCHES] = SV_ARENA_NEW(arena, bool, f->num_switches);
    for (int kind = 0; kind < 2; kind++) {
        side->partner[kind] = SV_ARENA_NEW(arena, uint32_t, count_of(f, kind));
        if (side->live[kind] == NULL || side->partner[kind] == NULL)
            return SV_NO_MEMORY;
        memset(side->partner[kind], 0xff, count_of(f, kind) * sizeof(uint32_t));
    }
    for (uint32_t s = 0; s < f->num_switches; s++)
        side->live[SWITCHES][s] = sv_node_alive(f, (sv_node){s});
    return SV_OK;
}

static void pair_up(struct matcher *m, enum kind kind, uint32_t old, uint32_t new)
{
    m->old.partner[kind][old] = new;
    m->new.partner[kind][new] = old;
    if (kind == SWITCHES)
        m->queue[m->waiting++] = old;
}

/* ---- by identity ---- */

/* All live nodes of a kind by GUID or name; those that are not unique are AMBIGUOUS. */
struct lookup {
    sv_map guids;
    sv_names names;
};

static sv_status lookup_add(struct lookup *lookup, const struct side *side, enum kind kind,
                            sv_match_by by, uint32_t i)
{
    uint32_t held;
    if (by == SV_MATCH_NAME) {
        sv_span name = sv_span_of(name_of(side->f, kind, i));
        SV_TRY(sv_names_add(&lookup->names, name, name.length == 0 ? AMBIGUOUS : i, &held));
        if (held != i)
            sv_names_set(&lookup->names, name, AMBIGUOUS);
        return SV_OK;
    }
    uint64_t guid = guid_of(side->f, kind, i);
    SV_TRY(sv_map_add(&lookup->guids, guid, guid == 0 ? AMBIGUOUS : i, &held));
    if (held != i)
        sv_map_set(&lookup->guids, guid, AMBIGUOUS);
    return SV_OK;
}

static uint32_t lookup_find(const struct lookup *lookup, const sv_fabric *f, enum kind kind,
                            sv_match_by by, uint32_t i)
{
    if (by == SV_MATCH_NAME)
        return sv_names_get(&lookup->names, sv_span_of(name_of(f, kind, i)));
    return sv_map_get(&lookup->guids, guid_of(f, kind, i));
}

static sv_status match_unique(struct matcher *m, enum kind kind)
{
    struct lookup lookups[2];
    const struct side *sides[2] = {&m->old, &m->new};
    sv_status status = SV_OK;
    for (int i = 0; i < 2; i++) {
        sv_map_init(&lookups[i].guids, m->ctx);
        sv_names_init(&lookups[i].names, m->ctx);
        for (uint32_t k = 0; status == SV_OK && k < count_of(sides[i]->f, kind); k++)
            if (sides[i]->live[kind][k])
                status = lookup_add(&lookups[i], sides[i], kind, m->by, k);
    }
    for (uint32_t k = 0; status == SV_OK && k < count_of(m->old.f, kind); k++) {
        if (!m->old.live[kind][k])
            continue;
        uint32_t own = lookup_find(&lookups[0], m->old.f, kind, m->by, k);
        uint32_t other = lookup_find(&lookups[1], m->old.f, kind, m->by, k);
        if (own == k && other != SV_ABSENT && other != AMBIGUOUS)
            pair_up(m, kind, k, other);
    }
    for (int i = 0; i < 2; i++) {
        sv_map_release(&lookups[i].guids);
        sv_names_release(&lookups[i].names);
    }
    return status;
}

/* ---- by place ---- */

static bool same_identity(const struct matcher *m, enum kind kind, uint32_t old, uint32_t new)
{
    if (m->by == SV_MATCH_NAME)
        return strcmp(name_of(m->old.f, kind, old), name_of(m->new.f, kind, new)) == 0;
    return guid_of(m->old.f, kind, old) == guid_of(m->new.f, kind, new);
}

/* The box a node belongs to. */
static enum kind box_of(const sv_fabric *f, sv_node v, uint32_t *i)
{
    bool is_switch = sv_is_switch(f, v);
    *i = is_switch ? v.i : sv_terminal_of(f, v)->adapter;
    return is_switch ? SWITCHES : ADAPTERS;
}

/* Matches what is cabled to the same ports of two switches that are the same. */
static void look_around(struct matcher *m, uint32_t s)
{
    const sv_fabric *old = m->old.f, *new = m->new.f;
    sv_node there = {m->old.partner[SWITCHES][s]};
    SV_FOR_HOPS (old, ((sv_node){s}), hop) {
        uint32_t c = hop->channel.i, i, k;
        sv_channel other = sv_channel_at(new, there, old->port[c]);
        if (other.i == SV_NONE ||
            old->port[old->reverse[c].i] != new->port[new->reverse[other.i].i])
            continue;
        enum kind kind = box_of(old, hop->to, &i);
        if (kind == box_of(new, new->head[other.i], &k) && m->old.partner[kind][i] == SV_NONE &&
            m->new.partner[kind][k] == SV_NONE &&same_identity(m, kind, i, k))
            pair_up(m, kind, i, k);
    }
}

/* ---- terminals and channels ---- */

/* Terminals match when their adapters do and they are the same port. */
static sv_status match_terminals(const struct matcher *m, uint32_t *map)
{
    const sv_fabric *old = m->old.f, *new = m->new.f;
    sv_map ports;
    sv_map_init(&ports, m->ctx);
    sv_status status = SV_OK;
    for (uint32_t t = 0; status == SV_OK && t < new->num_terminals; t++)
        if (sv_node_alive(new, (sv_node){new->num_switches + t}))
            status = sv_map_add(&ports,
                                (uint64_t) new->terminals[t].adapter << 16 | new->terminals[t].port,
                                t, NULL);
    for (uint32_t t = 0; status == SV_OK && t < old->num_terminals; t++) {
        const sv_terminal_info *about = &old->terminals[t];
        bool alive = sv_node_alive(old, (sv_node){old->num_switches + t});
        uint32_t adapter = alive ? m->old.partner[ADAPTERS][about->adapter] : SV_NONE;
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

static sv_status match_all(struct matcher *m, sv_arena *scratch, const sv_fabric *old,
                           const sv_fabric *new, sv_match *match)
{
    SV_TRY(side_init(&m->old, scratch, old));
    SV_TRY(side_init(&m->new, scratch, new));
    m->queue = SV_ARENA_NEW(scratch, uint32_t, old->num_switches);
    if (m->queue == NULL)
        return SV_NO_MEMORY;
    SV_TRY(match_unique(m, SWITCHES));
    SV_TRY(match_unique(m, ADAPTERS));
    for (uint32_t next = 0; next < m->waiting; next++)
        look_around(m, m->queue[next]);
    memcpy(match->switches, m->old.partner[SWITCHES], old->num_switches * sizeof(uint32_t));
    memcpy(match->adapters, m->old.partner[ADAPTERS], old->num_adapters * sizeof(uint32_t));
    SV_TRY(match_terminals(m, match->terminals));
    match_channels(match, old, new);
    return SV_OK;
}

sv_status sv_match_new(sv_ctx *ctx, const sv_fabric *old_fabric, const sv_fabric *new_fabric,
                       sv_match_by by, sv_match **result)
{
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_status status = SV_NO_MEMORY;
    sv_match *match = SV_POOL_NEW(store, ctx, sv_match, 1);
    if (match != NULL) {
        match->store = store;
        match->switches = SV_POOL_NEW(store, ctx, uint32_t, old_fabric->num_switches);
        match->adapters = SV_POOL_NEW(store, ctx, uint32_t, old_fabric->num_adapters);
        match->terminals = SV_POOL_NEW(store, ctx, uint32_t, old_fabric->num_terminals);
        match->channels = SV_POOL_NEW(store, ctx, uint32_t, old_fabric->num_channels);
        if (match->switches != NULL && match->adapters != NULL && match->terminals != NULL &&
            match->channels != NULL) {
            struct matcher m = {.ctx = ctx, .by = by};
            sv_arena scratch;
            sv_arena_init(&scratch, ctx);
            status = match_all(&m, &scratch, old_fabric, new_fabric, match);
            sv_arena_release(&scratch);
        }
    }
    if (status == SV_OK)
        *result = match;
    else
        sv__pool_drop(store);
    return status;
}

void sv_match_free(sv_match *match)
{
    if (match != NULL)
        sv__pool_drop(match->store);
}
