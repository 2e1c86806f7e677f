/*
 * core.c: the switches and the live channels between them as a compact graph.
 *
 * Invariants: entries of a switch stand in the order of its ports; cables from a switch to itself
 * are left out, they are on no path.
 *
 * Cost: linear.
 */
#include "cdg/core.h"

sv_status sv_core_init(sv_core *core, sv_arena *arena, const sv_fabric *f)
{
    uint32_t n = f->num_switches, count = 0;
    uint32_t *first = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    uint32_t *terminals = SV_ARENA_NEW(arena, uint32_t, n);
    sv_entry *entries = SV_ARENA_NEW(arena, sv_entry, f->live_channels);
    uint32_t *back = SV_ARENA_NEW(arena, uint32_t, f->live_channels);
    uint32_t *to = SV_ARENA_NEW(arena, uint32_t, f->live_channels);
    uint32_t *neighbour = SV_ARENA_NEW(arena, uint32_t, f->live_channels);
    uint8_t *port = SV_ARENA_NEW(arena, uint8_t, f->live_channels);
    uint32_t *entry_of = SV_ARENA_NEW(arena, uint32_t, f->num_channels);
    if (first == NULL || terminals == NULL || entries == NULL || back == NULL || to == NULL ||
        neighbour == NULL || port == NULL || entry_of == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        first[s] = count;
        SV_FOR_HOPS (f, (sv_node){s}, hop) {
            sv_channel in = f->reverse[hop->channel.i];
            if (!sv_is_switch(f, hop->to))
                terminals[s]++;
            else if (hop->to.i != s) {
                entry_of[in.i] = count;
                to[count] = s;
                entries[count++] = (sv_entry){hop->to.i, in.i, (uint8_t)f->port[in.i]};
            }
        }
    }
    first[n] = count;
    for (uint32_t e = 0; e < count; e++) {
        back[e] = entry_of[f->reverse[entries[e].channel].i];
        port[e] = entries[back[e]].port;
        neighbour[e] = entries[e].from;
    }
    *core = (sv_core){n, count, first, entries, back, to, neighbour, port, terminals};
    return SV_OK;
}

sv_status sv_core_widen(const sv_core *core, sv_arena *arena, unsigned times, sv_core *wide)
{
    size_t n = core->num_switches, count = (size_t)core->num_entries * times;
    uint32_t *first = SV_ARENA_NEW(arena, uint32_t, n + 1);
    uint32_t *back = SV_ARENA_NEW(arena, uint32_t, count),
             *to = SV_ARENA_NEW(arena, uint32_t, count);
    uint32_t *neighbour = SV_ARENA_NEW(arena, uint32_t, count);
    uint8_t *port = SV_ARENA_NEW(arena, uint8_t, count);
    sv_entry *entries = SV_ARENA_NEW(arena, sv_entry, count);
    if (first == NULL || back == NULL || to == NULL || neighbour == NULL || port == NULL ||
        entries == NULL)
        return SV_NO_MEMORY;
    for (size_t s = 0; s <= n; s++)
        first[s] = core->first[s] * times;
    for (size_t i = 0; i < count; i++) {
        size_t e = i / times;
        back[i] = core->back[e] * times + (uint32_t)(i % times);
        to[i] = core->to[e];
        neighbour[i] = core->neighbour[e];
        port[i] = core->port[e];
        entries[i] = core->entries[e];
    }
    *wide =
        (sv_core){core->num_switches, (uint32_t)count, first, entries, back, to, neighbour, port,
                  core->terminals};
    return SV_OK;
}

uint32_t sv_core_spread(const sv_core *core, uint32_t *hops, uint32_t *queue, uint32_t head,
                        uint32_t tail)
{
    for (; head < tail; head++)
        for (uint32_t e = core->first[queue[head]]; e < core->first[queue[head] + 1]; e++) {
            uint32_t u = core->entries[e].from;
            if (hops[u] == SV_NONE) {
                hops[u] = hops[queue[head]] + 1;
                queue[tail++] = u;
            }
        }
    return tail;
}

uint32_t *sv_core_inside_out(const sv_core *core, sv_arena *arena)
{
    uint32_t n = core->num_switches, tail = 0;
    uint32_t *level = SV_ARENA_NEW(arena, uint32_t, n), *queue = SV_ARENA_NEW(arena, uint32_t, n);
    uint32_t *number = SV_ARENA_NEW(arena, uint32_t, core->num_entries);
    if (level == NULL || queue == NULL || number == NULL)
        return NULL;
    for (uint32_t s = 0; s < n; s++) {
        level[s] = core->terminals[s] > 0 ? 0 : SV_NONE;
        if (level[s] == 0)
            queue[tail++] = s;
    }
    sv_core_spread(core, level, queue, 0, tail);
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t from = level[core->entries[e].from], to = level[core->to[e]];
        number[e] = from == to ? n : from < to ? from : n + 1 + (n - (from < n ? from : n));
    }
    return number;
}

uint32_t *sv_core_outside_in(const sv_core *core, sv_arena *arena)
{
    uint32_t *number = sv_core_inside_out(core, arena);
    for (uint32_t e = 0; number != NULL && e < core->num_entries; e++)
        number[e] = UINT32_MAX - number[e];
    return number;
}

sv_status sv_core_ports_init(sv_core_ports *ports, sv_arena *arena, const sv_core *core,
                             const sv_fabric *f)
{
    uint32_t n = core->num_switches, count = 0;
    uint32_t *first = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    if (first == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        first[s] = count;
        count += f->switches[s].ports + 1u;
    }
    first[n] = count;
    uint32_t *entry = SV_ARENA_NEW(arena, uint32_t, count);
    if (entry == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        entry[i] = SV_NONE;
    for (uint32_t e = 0; e < core->num_entries; e++)
        entry[first[core->entries[e].from] + core->entries[e].port] = e;
    *ports = (sv_core_ports){first, entry};
    return SV_OK;
}
