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

uint32_t *sv_switch_levels(sv_arena *arena, const sv_fabric *f, uint32_t *highest)
{
    uint32_t *level = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    uint32_t *queue = SV_ARENA_NEW(arena, uint32_t, f->num_switches), head = 0, tail = 0;
    if (level == NULL || queue == NULL)
        return NULL;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        level[s] = SV_NONE;
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            if (!sv_is_switch(f, hop->to) && level[s] == SV_NONE) {
                level[s] = 0;
                queue[tail++] = s;
            }
    }
    *highest = 0;
    while (head < tail) {
        sv_node s = {queue[head++]};
        *highest = level[s.i];
        SV_FOR_HOPS (f, s, hop)
            if (sv_is_switch(f, hop->to) && level[hop->to.i] == SV_NONE) {
                level[hop->to.i] = level[s.i] + 1;
                queue[tail++] = hop->to.i;
            }
    }
    return level;
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
