/*
 * derive.c: facts worked out from a fabric by one search or one pass.
 *
 * Cost: linear each.
 */
#include "fabric/derive.h"

#include "base/bitset.h"

bool *sv_live_adapters(sv_arena *arena, const sv_fabric *f)
{
    bool *live = SV_ARENA_NEW(arena, bool, f->num_adapters);
    uint64_t *owns = sv_bitset_new(arena, f->num_adapters);
    if (live == NULL || owns == NULL)
        return NULL;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_bit_set(owns, f->terminals[t].adapter);
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            live[f->terminals[t].adapter] = true;
    }
    for (uint32_t a = 0; a < f->num_adapters; a++)
        live[a] = live[a] || !sv_bit(owns, a);
    return live;
}

bool sv_has_hosts(const sv_fabric *f, sv_node s)
{
    SV_FOR_HOPS (f, s, hop)
        if (!sv_is_switch(f, hop->to) &&
            f->adapters[sv_terminal_of(f, hop->to)->adapter].kind != SV_ADAPTER_SPECIAL)
            return true;
    return false;
}

/* Distances from all switches whose level is 0 already. */
static uint32_t spread_levels(const sv_fabric *f, uint32_t *level, uint32_t *queue)
{
    uint32_t head = 0, tail = 0, highest = 0;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        if (level[s] == 0)
            queue[tail++] = s;
        else
            level[s] = SV_NONE;
    }
    while (head < tail) {
        sv_node s = {queue[head++]};
        highest = level[s.i];
        SV_FOR_HOPS (f, s, hop)
            if (sv_is_switch(f, hop->to) && level[hop->to.i] == SV_NONE) {
                level[hop->to.i] = level[s.i] + 1;
                queue[tail++] = hop->to.i;
            }
    }
    return highest;
}

/* Scratch of looks_like_leaf, for each switch. */
struct likeness {
    uint32_t *neighbour_of; /* the switch it was last seen next to, so that it is counted once */
    uint32_t *seen_from;    /* of a leaf: the neighbour it was last seen from */
    uint32_t *count;        /* of a leaf: neighbours it shares with the switch; zero in between */
};

/* Goes over all leaves that share neighbours with a switch: counts (or forgets) how many. */
static uint32_t share_neighbours(const sv_fabric *f, sv_node s, const uint32_t *level,
                                 const struct likeness *like, bool forget, uint32_t *max)
{
    uint32_t neighbours = 0;
    SV_FOR_HOPS (f, s, hop) {
        uint32_t via = hop->to.i;
        if (!sv_is_switch(f, hop->to) || via == s.i || (!forget && like->neighbour_of[via] == s.i))
            continue;
        like->neighbour_of[via] = s.i;
        neighbours++;
        SV_FOR_HOPS (f, hop->to, next) {
            uint32_t leaf = next->to.i;
            if (!sv_is_switch(f, next->to) || level[leaf] != 0)
                continue;
            if (forget) {
                like->count[leaf] = 0;
                like->seen_from[leaf] = SV_NONE;
            } else if (like->seen_from[leaf] != via) {
                like->seen_from[leaf] = via;
                *max = ++like->count[leaf] > *max ? like->count[leaf] : *max;
            }
        }
    }
    return neighbours;
}

/* Whether more than half of the neighbours of a switch are neighbours of one leaf. */
static bool looks_like_leaf(const sv_fabric *f, sv_node s, const uint32_t *level,
                            const struct likeness *like)
{
    uint32_t max = 0, neighbours = share_neighbours(f, s, level, like, false, &max);
    share_neighbours(f, s, level, like, true, &max);
    return 2 * max > neighbours;
}

uint32_t *sv_switch_levels(sv_arena *arena, const sv_fabric *f, uint32_t *highest)
{
    uint32_t *level = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    if (level == NULL)
        return NULL;
    for (uint32_t s = 0; s < f->num_switches; s++)
        level[s] = sv_has_hosts(f, (sv_node){s}) ? 0 : SV_NONE;
    return sv_levels_above(arena, f, level, highest) ? level : NULL;
}

bool sv_levels_above(sv_arena *arena, const sv_fabric *f, uint32_t *level, uint32_t *highest)
{
    uint32_t *queue = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    struct likeness like = {.neighbour_of = SV_ARENA_NEW(arena, uint32_t, f->num_switches),
                            .seen_from = SV_ARENA_NEW(arena, uint32_t, f->num_switches),
                            .count = SV_ARENA_NEW(arena, uint32_t, f->num_switches)};
    if (queue == NULL || like.neighbour_of == NULL || like.seen_from == NULL || like.count == NULL)
        return false;
    for (uint32_t s = 0; s < f->num_switches; s++)
        like.neighbour_of[s] = like.seen_from[s] = SV_NONE;
    *highest = spread_levels(f, level, queue);
    if (*highest < 2)
        return true;
    uint32_t found = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (level[s] == 2 && looks_like_leaf(f, (sv_node){s}, level, &like))
            queue[found++] = s;
    for (uint32_t i = 0; i < found; i++)
        level[queue[i]] = 0;
    if (found > 0)
        *highest = spread_levels(f, level, queue);
    return true;
}

uint32_t sv_flood(const sv_fabric *f, sv_node from, bool switches_only, uint64_t *seen,
                  uint32_t *stack)
{
    uint32_t depth = 0, terminals = 0;
    sv_bit_set(seen, from.i);
    stack[depth++] = from.i;
    while (depth > 0) {
        sv_node v = {stack[--depth]};
        terminals += !sv_is_switch(f, v);
        SV_FOR_HOPS (f, v, hop)
            if (!sv_bit(seen, hop->to.i) && !(switches_only && !sv_is_switch(f, hop->to))) {
                sv_bit_set(seen, hop->to.i);
                stack[depth++] = hop->to.i;
            }
    }
    return terminals;
}
