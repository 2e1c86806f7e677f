/*
 * nue_island.c: ways to switches that the search could not reach (thesis 6.2.6.2 and 6.2.6.3).
 *
 * An island is a switch none of whose neighbours can take it on: each goes on into a channel that
 * closes a cycle for whoever comes from the island. Local backtracking (Alg. 6.5): a neighbour that
 * went another way might. Candidates are all pairs of a neighbour and one of its other channels,
 * the shortest first; a neighbour may change if all turns of those who send to it can be used with
 * its new channel too, so that nothing further out has to change.
 *
 * A former island may be a short cut (Alg. 6.6): neighbours that are nearer to the home over it
 * change in the same way. Turns that nobody takes any more are taken out.
 *
 * The thesis keeps a stack of the channels that a switch was reached by earlier; here a switch is
 * reached once, by the best, and what comes into question is looked up when it is needed.
 *
 * Invariants: as of nue_grow.c; who changes is not on the way of its new next hop.
 * Cost: cables² of a switch for each island, and the tests for cycles.
 */
#include "routing/nue.h"

#include <stdlib.h>

/* Whether the way from a switch leads over another. */
static bool leads_over(const sv__nue *x, uint32_t s, uint32_t over)
{
    while (s != over && x->out[s] != SV_NONE)
        s = x->core.to[x->out[s]];
    return s == over;
}

/* Hops and weights of everybody whose way leads over a switch, which has changed its own. */
static void relabel(sv__nue *x, uint32_t changed)
{
    const sv_core *core = &x->core;
    uint32_t *stack = x->routes, depth = 0;
    stack[depth++] = changed;
    while (depth > 0) {
        uint32_t s = stack[--depth], to = core->to[x->out[s]];
        x->hops[s] = x->hops[to] + 1;
        x->path[s] = (x->path[to] + x->weight[x->out[s]]) & ~(uint64_t)SV__LOT;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
            if (x->out[core->entries[e].from] == e)
                stack[depth++] = core->entries[e].from;
    }
}

/*
 * A switch takes another channel, if all turns allow that; also that from one more channel into it
 * (SV_NONE: none).
 */
static bool change_way(sv__nue *x, uint32_t s, uint32_t channel, uint32_t more)
{
    const sv_core *core = &x->core;
    uint32_t to = core->to[channel], old = x->out[s], old_to = core->to[old];
    size_t added = x->num_added, refused = x->num_refused;
    if (leads_over(x, to, s))
        return false;
    bool good = (x->out[to] == SV_NONE || sv__nue_add(x, channel, x->out[to])) &&
                (more == SV_NONE || sv__nue_add(x, more, channel));
    for (uint32_t e = core->first[s]; e < core->first[s + 1] && good; e++)
        if (x->out[core->entries[e].from] == e)
            good = sv__nue_add(x, e, channel);
    if (!good) {
        sv__nue_undo(x, added, refused);
        return false;
    }
    if (x->out[old_to] != SV_NONE)
        sv__nue_drop(x, old, x->out[old_to]);
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
        if (x->out[core->entries[e].from] == e)
            sv__nue_drop(x, e, old);
    x->out[s] = channel;
    x->turns[s] = sv__nue_turns_into(x, channel);
    relabel(x, s);
    return true;
}

static int nearest_first(const void *a, const void *b)
{
    const struct sv__nue_try *x = a, *y = b;
    if (x->hops != y->hops)
        return x->hops < y->hops ? -1 : 1;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    if (x->channel != y->channel)
        return x->channel < y->channel ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

static bool is_blocked(const sv__nue *x, uint32_t in, uint32_t out)
{
    return out != SV_NONE && sv__nue_blocked(x, sv_cdg_turn(&x->cdg, in, out));
}

/* All ways into an island over another channel of a neighbour. */
static uint32_t list_tries(sv__nue *x, uint32_t island)
{
    const sv_core *core = &x->core;
    uint32_t count = 0;
    for (uint32_t e = core->first[island]; e < core->first[island + 1]; e++) {
        uint32_t s = core->entries[e].from, channel = core->back[e];
        if (x->hops[s] == SV_NONE || s == x->home)
            continue;
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
            uint32_t to = core->entries[k].from, other = core->back[k];
            if (x->hops[to] == SV_NONE || other == x->out[s] || is_blocked(x, channel, other) ||
                is_blocked(x, other, x->out[to]))
                continue;
            x->tries[count++] =
                (struct sv__nue_try){x->path[to] + x->weight[other] + x->weight[channel],
                                     x->hops[to] + 2, channel, other};
        }
    }
    qsort(x->tries, count, sizeof *x->tries, nearest_first);
    return count;
}

bool sv__nue_backtrack(sv__nue *x)
{
    for (uint32_t s = 0; s < x->core.num_switches; s++) {
        if (x->hops[s] != SV_NONE || x->component[s] != x->component[x->home])
            continue;
        uint32_t count = list_tries(x, s);
        for (uint32_t i = 0; i < count; i++) {
            const struct sv__nue_try *way = &x->tries[i];
            if (change_way(x, x->core.to[way->channel], way->other, way->channel)) {
                sv__nue_reach(x, s, way->channel);
                return true;
            }
        }
    }
    return false;
}

void sv__nue_shortcut(sv__nue *x, uint32_t s)
{
    const sv_core *core = &x->core;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        uint32_t u = core->entries[e].from;
        if (x->hops[u] == SV_NONE || u == x->home || x->hops[u] < x->hops[s] + 1)
            continue;
        uint64_t path = (x->path[s] + x->weight[e]) & ~(uint64_t)SV__LOT;
        if (x->hops[s] + 1 < x->hops[u] || path < x->path[u])
            change_way(x, u, e, SV_NONE);
    }
}

void sv__nue_reorder(sv__nue *x)
{
    const sv_core *core = &x->core;
    x->order[0] = x->home;
    x->count = 1;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t s = x->order[i];
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
            if (x->out[core->entries[e].from] == e)
                x->order[x->count++] = core->entries[e].from;
    }
}
