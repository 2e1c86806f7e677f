/*
 * nue_grow.c: the tree of one destination, grown within the complete dependency graph (thesis Alg.
 * 6.2).
 *
 * The thesis' search is Dijkstra's, with all weights so large that fewer hops always win. So it
 * goes by rings: all switches that can be reached with one hop more, each by the way of the least
 * weight whose turn closes no cycle. No heap is needed, and no turn is used before it is known that
 * its switch takes that way: none is left over from ways that were found first and overtaken later.
 * A switch that none of its neighbours can take on comes up again with every neighbour that is
 * reached later.
 *
 * A thrifty search takes turns that are used already wherever they lead as few hops.
 *
 * The search may end with switches that are not reached, because of turns that earlier destinations
 * use; nue_island.c tries to find ways to them. A guarded search never does: it keeps, for every
 * switch that is not reached yet, its escape path to the part of the tree that is there. When a
 * switch takes another way than its escape channel, the turns from those whose escape paths lead
 * over it are added too; if one would close a cycle the switch has to take another way. Once such a
 * neighbour is reached in some other way the turn that was promised to it is taken out again.
 *
 * Why that cannot fail: of the switches that are not reached take one whose escape path leads next
 * to one that is. That turn is there (both on escape paths, or promised), and the turns of all who
 * rely on it are between escape channels; so it can be reached.
 *
 * Invariants: all turns of the tree are in the graph of the layer; weights and hops along it add
 * up. Cost: O(channels), and the tests for cycles.
 */
#include "routing/nue.h"

#include <string.h>

#include "base/bitset.h"

enum { PORT_WORDS = 4 /* bits for all ports of a switch */ };

/* More than any path weighs. */
#define PRICE ((uint64_t)1 << 62)

/* What a turn adds to the weight of a way: when thrifty, one that is not used yet is the last. */
static uint64_t price_of(const sv__nue *x, size_t turn)
{
    return x->thrifty && !(x->cdg.vls[turn] >> x->at & 1) ? PRICE : 0;
}

/* The best way on from a switch that has not been tried; SV_NONE: there is none. */
static uint32_t best_way(const sv__nue *x, uint32_t s, uint32_t ring, const uint64_t *tried)
{
    const sv_core *core = &x->core;
    uint32_t best = SV_NONE, min_hops = SV_NONE;
    uint64_t min = UINT64_MAX;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        uint32_t u = core->entries[e].from, hops = x->hops[u], c = core->back[e];
        if (hops > ring || hops > min_hops || sv_bit(tried, e - core->first[s]))
            continue;
        uint64_t key = x->path[u] + x->weight[c];
        if (u != x->home) {
            if (sv__nue_blocked(x, x->turns[u] + c))
                continue;
            key += price_of(x, x->turns[u] + c);
        }
        if (hops == min_hops && key >= min)
            continue;
        best = c;
        min = key;
        min_hops = hops;
    }
    return best;
}

/* The turn from one that is not reached, over a switch, into a channel: added for its sake. */
static bool promise_one(sv__nue *x, uint32_t in, uint32_t channel)
{
    uint32_t from = x->core.entries[in].from;
    size_t before = x->num_added;
    if (x->hops[from] != SV_NONE)
        return true;
    if (!sv__nue_add(x, in, channel))
        return false;
    x->promised[from] = x->num_added > before;
    return true;
}

/* The same for all whose escape paths lead over a switch. */
static bool promise(sv__nue *x, uint32_t s, uint32_t channel)
{
    const sv__nue_layer *layer = &x->layer[x->at];
    uint32_t escape = sv__nue_escape(x, s);
    for (uint32_t i = layer->first_child[s]; i < layer->first_child[s + 1]; i++)
        if (x->core.back[layer->child[i]] != escape && !promise_one(x, layer->child[i], channel))
            return false;
    return layer->up[s] == SV_NONE || layer->up[s] == escape ||
           promise_one(x, x->core.back[layer->up[s]], channel);
}

static void break_promises(sv__nue *x, uint32_t s)
{
    const sv__nue_layer *layer = &x->layer[x->at];
    uint32_t escape = sv__nue_escape(x, s);
    for (uint32_t i = layer->first_child[s]; i < layer->first_child[s + 1]; i++)
        if (x->core.back[layer->child[i]] != escape)
            x->promised[x->core.entries[layer->child[i]].from] = false;
    if (layer->up[s] != SV_NONE && layer->up[s] != escape)
        x->promised[x->core.to[layer->up[s]]] = false;
}

/* Whether a switch can take a channel; if so, the turns are there. */
static bool take(sv__nue *x, uint32_t s, uint32_t channel)
{
    uint32_t to = x->core.to[channel];
    size_t added = x->num_added, refused = x->num_refused;
    if (x->out[to] != SV_NONE && !sv__nue_add(x, channel, x->out[to]))
        return false;
    if (!x->guarded)
        return true;
    uint32_t escape = sv__nue_escape(x, s);
    if (channel != escape) {
        if (!promise(x, s, channel)) {
            break_promises(x, s);
            sv__nue_undo(x, added, refused);
            return false;
        }
        if (x->promised[s])
            sv_cdg_remove(&x->cdg, x->at, escape, x->out[x->core.to[escape]]);
    }
    x->promised[s] = false; /* it is kept, or not needed any more */
    return true;
}

void sv__nue_reach(sv__nue *x, uint32_t s, uint32_t channel)
{
    uint32_t to = x->core.to[channel];
    x->out[s] = channel;
    x->turns[s] = sv__nue_turns_into(x, channel);
    x->hops[s] = x->hops[to] + 1;
    x->path[s] = (x->path[to] + x->weight[channel]) & ~(uint64_t)SV__LOT;
    x->order[x->count++] = s;
}

/* Neighbours of a switch that is reached may come next, each by the best of its ways. */
static void note_neighbours(sv__nue *x, uint32_t s)
{
    const sv_core *core = &x->core;
    uint64_t path = x->path[s];
    size_t turns = x->turns[s];
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        uint32_t u = core->entries[e].from;
        if (x->hops[u] != SV_NONE || (s != x->home && sv__nue_blocked(x, turns + e)))
            continue;
        uint64_t key = path + x->weight[e] + (s == x->home ? 0 : price_of(x, turns + e));
        if (x->queued[u] != x->round) {
            x->queued[u] = x->round;
            x->next[x->num_next++] = u;
        } else if (key >= x->key[u])
            continue;
        x->key[u] = key;
        x->way[u] = e;
    }
}

/* Those noted are the ones to look at. */
static void next_ring(sv__nue *x)
{
    uint32_t *done = x->now;
    x->now = x->next;
    x->num_now = x->num_next;
    x->next = done;
    x->num_next = 0;
    x->round++;
}

/* A switch takes the best way it can: the one that was noted, or else any other. */
static void reach_one(sv__nue *x, uint32_t s, uint32_t ring)
{
    uint64_t tried[PORT_WORDS] = {0};
    uint32_t channel = x->missed[s] == x->trips ? best_way(x, s, ring, tried) : x->way[s];
    while (channel != SV_NONE) {
        if (take(x, s, channel)) {
            sv__nue_reach(x, s, channel);
            return;
        }
        sv_bit_set(tried, x->core.back[channel] - x->core.first[s]);
        channel = best_way(x, s, ring, tried);
    }
    x->missed[s] = x->trips;
}

/* Everyone who can be reached without an impasse; islands: they may be short cuts. */
static void grow_rings(sv__nue *x, uint32_t ring, bool islands)
{
    for (; next_ring(x), x->num_now > 0; ring++) {
        uint32_t before = x->count;
        for (uint32_t i = 0; i < x->num_now; i++)
            reach_one(x, x->now[i], ring);
        for (uint32_t i = before; i < x->count; i++) {
            if (islands)
                sv__nue_shortcut(x, x->order[i]);
            note_neighbours(x, x->order[i]);
        }
    }
}

static void begin(sv__nue *x, uint32_t home)
{
    const sv__nue_layer *layer = &x->layer[x->at];
    uint32_t n = x->core.num_switches;
    memset(x->hops, 0xff, n * sizeof *x->hops);
    memset(x->out, 0xff, n * sizeof *x->out);
    x->home = home;
    x->num_added = x->num_refused = 0;
    x->num_next = 0;
    x->round++;
    x->hops[home] = 0;
    x->path[home] = 0;
    x->order[0] = home;
    x->count = 1;
    x->trips++;
    x->path_round[home] = x->trips;
    x->path_down[home] = SV_NONE;
    for (uint32_t v = home; layer->up[v] != SV_NONE; v = x->core.to[layer->up[v]]) {
        uint32_t above = x->core.to[layer->up[v]];
        x->path_round[above] = x->trips;
        x->path_down[above] = x->core.back[layer->up[v]];
    }
}

/* What was blocked because of promises may not be so without them. */
static void forget_doubts(sv__nue *x)
{
    while (x->num_refused > 0)
        sv_bit_clear(x->blocked[x->at], x->refused[--x->num_refused]);
}

bool sv__nue_grow(sv__nue *x, uint32_t home, unsigned how)
{
    uint32_t all = x->size[x->component[home]];
    bool guarded = how & SV__NUE_GUARDED;
    x->guarded = guarded;
    x->thrifty = how & SV__NUE_THRIFTY;
    begin(x, home);
    note_neighbours(x, home);
    grow_rings(x, 0, false);
    if (guarded)
        forget_doubts(x);
    bool islands = x->count < all;
    while (x->count < all) {
        if (!sv__nue_backtrack(x)) {
            sv__nue_undo(x, 0, 0);
            return false;
        }
        uint32_t s = x->order[x->count - 1];
        sv__nue_shortcut(x, s);
        note_neighbours(x, s);
        grow_rings(x, x->hops[s], true);
    }
    if (islands)
        sv__nue_reorder(x);
    return true;
}

void sv__nue_fall_back(sv__nue *x)
{
    for (uint32_t s = 0; s < x->core.num_switches; s++)
        x->out[s] = x->component[s] == x->component[x->home] ? sv__nue_escape(x, s) : SV_NONE;
    sv__nue_reorder(x);
}
