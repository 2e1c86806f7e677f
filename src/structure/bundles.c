/*
 * bundles.c: merging parallel cables.
 *
 * Structures are about who is next to whom, not about how many cables there are. A cycle of
 * dependencies between cables is one between bundles, too, so what is free of cycles on bundles is
 * free of them on cables.
 *
 * Cost: linear, but for finding the bundle of a cable: the neighbours of a switch are looked
 * through for each of its cables.
 */
#include "structure/bundles.h"

struct arrays {
    uint32_t *first, *from, *to, *back, *first_port;
    uint8_t *ports;
};

/* The bundles that leave a switch, from place count on; returns the next place. */
static uint32_t gather(const sv_fabric *f, struct arrays *a, uint32_t s, uint32_t count,
                       uint32_t *ports)
{
    a->first[s] = count;
    SV_FOR_HOPS (f, (sv_node){s}, hop) {
        uint32_t b = a->first[s];
        if (!sv_is_switch(f, hop->to) || hop->to.i == s)
            continue;
        while (b < count && a->to[b] != hop->to.i)
            b++;
        if (b == count) {
            a->from[b] = s;
            a->to[count++] = hop->to.i;
        }
    }
    for (uint32_t b = a->first[s]; b < count; b++) {
        a->first_port[b] = *ports;
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            if (hop->to.i == a->to[b])
                a->ports[(*ports)++] = (uint8_t)f->port[hop->channel.i];
    }
    return count;
}

sv_status sv_bundles_init(sv_bundles *g, sv_arena *arena, const sv_fabric *f)
{
    uint32_t n = f->num_switches, count = 0, ports = 0;
    size_t max = (size_t)f->live_channels + 1;
    struct arrays a = {.first = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1),
                       .from = SV_ARENA_NEW(arena, uint32_t, max),
                       .to = SV_ARENA_NEW(arena, uint32_t, max),
                       .back = SV_ARENA_NEW(arena, uint32_t, max),
                       .first_port = SV_ARENA_NEW(arena, uint32_t, max),
                       .ports = SV_ARENA_NEW(arena, uint8_t, max)};
    if (a.first == NULL || a.from == NULL || a.to == NULL || a.back == NULL ||
        a.first_port == NULL || a.ports == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        count = gather(f, &a, s, count, &ports);
    a.first[n] = count;
    a.first_port[count] = ports;
    for (uint32_t b = 0; b < count; b++) {
        a.back[b] = a.first[a.to[b]];
        while (a.to[a.back[b]] != a.from[b])
            a.back[b]++;
    }
    *g = (sv_bundles){n, count, a.first, a.from, a.to, a.back, a.first_port, a.ports};
    return SV_OK;
}

sv_status sv_bundles_core(const sv_bundles *g, sv_arena *arena, sv_core *core)
{
    sv_entry *entries = SV_ARENA_NEW(arena, sv_entry, g->count);
    uint8_t *port = SV_ARENA_NEW(arena, uint8_t, g->count);
    uint32_t *terminals = SV_ARENA_NEW(arena, uint32_t, g->num_switches);
    if (entries == NULL || port == NULL || terminals == NULL)
        return SV_NO_MEMORY;
    for (uint32_t b = 0; b < g->count; b++) {
        entries[b] = (sv_entry){g->to[b], b, g->ports[g->first_port[g->back[b]]]};
        port[b] = g->ports[g->first_port[b]];
    }
    *core = (sv_core){g->num_switches, g->count, g->first, entries,  g->back,
                      g->from,         g->to,    port,     terminals};
    return SV_OK;
}
