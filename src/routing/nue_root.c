/*
 * nue_root.c: the escape paths of a layer: where their root is, and what they need.
 *
 * Escape paths are the ways of a spanning tree. Its root is the switch that most shortest paths
 * between destinations of the layer lead over, so that they are short and have few turns (thesis
 * 6.2.3). Paths between destinations stay within the convex subgraph (Alg. 6.1), so betweenness is
 * worked out there (Brandes, J. Math. Sociology 2001), with one search for each switch that has
 * destinations: all terminals of a switch, and itself, are its weight. That is the same as for a
 * graph with terminals as vertices, where paths from and to terminals lead over their switch.
 *
 * Only the turns of ways that lead to a destination of the layer are used (Def. 6.2). The graph
 * begins with an order of channels that all of them agree with: up, the deep ones first, then down.
 *
 * Invariant: a tree's turns never close a cycle, and are never taken out.
 * Cost: O(channels) for each switch with destinations in the layer.
 */
#include "routing/nue.h"

#include <stdlib.h>
#include <string.h>

static bool is_wanted(const sv__wanted *w)
{
    return w->terminals + w->itself > 0;
}

/* Distances from a switch within the graph; returns how many are reached, listed in queue. */
static uint32_t search(const sv_core *core, uint32_t from, uint32_t *hops, uint32_t *queue)
{
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    hops[from] = 0;
    queue[0] = from;
    return sv_core_spread(core, hops, queue, 0, 1);
}

sv_status sv__convex(sv_arena *arena, const sv_core *core, const sv__wanted *wanted, bool *inside)
{
    uint32_t n = core->num_switches, missing = 0;
    uint32_t *hops = SV_ARENA_NEW(arena, uint32_t, n), *queue = SV_ARENA_NEW(arena, uint32_t, n);
    bool *on = SV_ARENA_NEW(arena, bool, n);
    if (hops == NULL || queue == NULL || on == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        inside[s] = is_wanted(&wanted[s]);
        missing += !inside[s];
    }
    for (uint32_t x = 0; x < n && missing > 0; x++) {
        if (x % 16 == 0)
            SV_TRY(sv_progress(arena->ctx, "escape paths", x, n));
        if (!is_wanted(&wanted[x]))
            continue;
        uint32_t count = search(core, x, hops, queue);
        memset(on, 0, n * sizeof *on);
        /* From the farthest inwards: on a shortest path if wanted, or the next one out is on. */
        for (uint32_t i = count; i-- > 1;) {
            uint32_t u = queue[i];
            if (!on[u] && !is_wanted(&wanted[u]))
                continue;
            missing -= !inside[u];
            inside[u] = true;
            for (uint32_t e = core->first[u]; e < core->first[u + 1]; e++)
                if (hops[core->entries[e].from] + 1 == hops[u])
                    on[core->entries[e].from] = true;
        }
    }
    return SV_OK;
}

/* Scratch of Brandes' algorithm. */
struct brandes {
    uint32_t *hops, *queue;
    double *paths, *share; /* [switches]: shortest paths to it; what lies behind it */
};

/* Distances and numbers of shortest paths from a switch, within the convex subgraph. */
static uint32_t count_paths(struct brandes *b, const sv_core *core, const bool *inside,
                            uint32_t from)
{
    uint32_t tail = 1, *queue = b->queue, *hops = b->hops;
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    hops[from] = 0;
    b->paths[from] = 1;
    queue[0] = from;
    for (uint32_t i = 0; i < tail; i++) {
        uint32_t s = queue[i];
        b->share[s] = 0;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t u = core->entries[e].from;
            if (!inside[u])
                continue;
            if (hops[u] == SV_NONE) {
                hops[u] = hops[s] + 1;
                b->paths[u] = 0;
                queue[tail++] = u;
            }
            if (hops[u] == hops[s] + 1)
                b->paths[u] += b->paths[s];
        }
    }
    return tail;
}

sv_status sv__betweenness(sv_arena *arena, const sv_core *core, const sv__wanted *wanted,
                          const bool *inside, double *score)
{
    uint32_t n = core->num_switches;
    struct brandes b = {SV_ARENA_NEW(arena, uint32_t, n), SV_ARENA_NEW(arena, uint32_t, n),
                        SV_ARENA_NEW(arena, double, n), SV_ARENA_NEW(arena, double, n)};
    if (b.hops == NULL || b.queue == NULL || b.paths == NULL || b.share == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        score[s] = 0;
    for (uint32_t x = 0; x < n; x++) {
        if (x % 16 == 0)
            SV_TRY(sv_progress(arena->ctx, "escape paths", x, n));
        if (!is_wanted(&wanted[x]))
            continue;
        double mine = wanted[x].terminals + wanted[x].itself, on = wanted[x].terminals, others = 0;
        uint32_t count = count_paths(&b, core, inside, x);
        for (uint32_t i = count; i-- > 1;) {
            uint32_t u = b.queue[i];
            double here = wanted[u].terminals + wanted[u].itself;
            double each = (here + b.share[u]) / b.paths[u];
            others += here;
            score[u] += mine * b.share[u];
            for (uint32_t e = core->first[u]; e < core->first[u + 1]; e++) {
                uint32_t v = core->entries[e].from;
                if (b.hops[v] + 1 == b.hops[u] && inside[v])
                    b.share[v] += each * b.paths[v];
            }
        }
        /* Those from and to its own terminals, and among these. */
        score[x] += 2 * on * others + on * (on - 1);
    }
    return SV_OK;
}

/* The tree from a root, breadth first; cables of the lowest ports. */
static void spread_tree(const sv_core *core, uint32_t root, uint32_t *up, bool *in, uint32_t *queue)
{
    uint32_t tail = 1;
    in[root] = true;
    queue[0] = root;
    for (uint32_t i = 0; i < tail; i++)
        for (uint32_t e = core->first[queue[i]]; e < core->first[queue[i] + 1]; e++) {
            uint32_t u = core->entries[e].from;
            if (in[u])
                continue;
            in[u] = true;
            up[u] = e;
            queue[tail++] = u;
        }
}

static void list_children(const sv_core *core, sv__nue_layer *layer)
{
    uint32_t n = core->num_switches, count = 0;
    for (uint32_t s = 0; s < n; s++) {
        layer->first_child[s] = count;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
            if (layer->up[core->entries[e].from] == e)
                layer->child[count++] = e;
    }
    layer->first_child[n] = count;
}

sv_status sv__nue_plant(sv__nue *x, sv__nue_layer *layer)
{
    const sv_core *core = &x->core;
    sv_arena *arena = x->job->arena;
    uint32_t n = core->num_switches;
    bool *inside = SV_ARENA_NEW(arena, bool, n), *in = SV_ARENA_NEW(arena, bool, n);
    double *score = SV_ARENA_NEW(arena, double, n);
    uint32_t *root = SV_ARENA_NEW(arena, uint32_t, n), *queue = SV_ARENA_NEW(arena, uint32_t, n);
    layer->up = SV_ARENA_NEW(arena, uint32_t, n);
    layer->first_child = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    layer->child = SV_ARENA_NEW(arena, uint32_t, n);
    if (inside == NULL || in == NULL || score == NULL || root == NULL || queue == NULL ||
        layer->up == NULL || layer->first_child == NULL || layer->child == NULL)
        return SV_NO_MEMORY;
    memset(layer->up, 0xff, n * sizeof *layer->up);
    memset(root, 0xff, n * sizeof *root);
    SV_TRY(sv__convex(arena, core, layer->wanted, inside));
    SV_TRY(sv__betweenness(arena, core, layer->wanted, inside, score));
    for (uint32_t s = 0; s < n; s++) {
        uint32_t c = x->component[s];
        if (inside[s] && (root[c] == SV_NONE || score[s] > score[root[c]]))
            root[c] = s;
    }
    for (uint32_t c = 0; c < n; c++)
        if (root[c] != SV_NONE)
            spread_tree(core, root[c], layer->up, in, queue);
    list_children(core, layer);
    return SV_OK;
}

/* ---- their turns ---- */

/* How far each switch is from the next one that has terminals. */
static void find_levels(const sv_core *core, uint32_t *level, uint32_t *queue)
{
    uint32_t n = core->num_switches, tail = 0;
    for (uint32_t s = 0; s < n; s++) {
        level[s] = core->terminals[s] > 0 ? 0 : SV_NONE;
        if (level[s] == 0)
            queue[tail++] = s;
    }
    sv_core_spread(core, level, queue, 0, tail);
    for (uint32_t s = 0; s < n; s++)
        level[s] = level[s] == SV_NONE ? 0 : level[s];
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/*
 * The order to begin with: most turns should agree with it. Switches far from terminals are high,
 * among equals those near the root; channels up come first, from the low ones on, then those down.
 */
static sv_status first_order(const sv__nue *x, const sv__nue_layer *layer, uint32_t *start)
{
    const sv_core *core = &x->core;
    uint32_t n = core->num_switches;
    uint32_t *level = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    uint32_t *place = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    uint64_t *keys = SV_ARENA_NEW(x->job->arena, uint64_t, n);
    if (level == NULL || place == NULL || keys == NULL)
        return SV_NO_MEMORY;
    find_levels(core, level, place);
    for (uint32_t s = 0; s < n; s++) {
        uint64_t depth = 0;
        for (uint32_t v = s; layer->up[v] != SV_NONE; v = core->to[layer->up[v]])
            depth++;
        /* 16 bits are enough to sort well; it is but a guess. */
        keys[s] = (uint64_t)(0xffff - (level[s] & 0xffff)) << 48 | (depth & 0xffff) << 32 | s;
    }
    qsort(keys, n, sizeof *keys, ascending);
    for (uint32_t i = 0; i < n; i++)
        place[(uint32_t)keys[i]] = i;
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t from = place[core->entries[e].from], to = place[core->to[e]];
        start[e] = to < from ? n - 1 - to : n + to;
    }
    return SV_OK;
}

/* Destinations below each switch in its tree, itself included; and in its whole tree. */
static void count_below(const sv__nue *x, const sv__nue_layer *layer, uint32_t *below,
                        uint32_t *all)
{
    for (uint32_t s = 0; s < x->core.num_switches; s++) {
        uint32_t v = s, here = layer->wanted[s].terminals + layer->wanted[s].itself;
        for (; here > 0 && layer->up[v] != SV_NONE; v = x->core.to[layer->up[v]])
            below[v] += here;
        below[v] += here;
        all[x->component[s]] += here;
    }
}

/* All turns over one switch out into a channel. */
static void use_turns(sv__nue *x, const sv__nue_layer *layer, uint32_t s, uint32_t out)
{
    const sv_core *core = &x->core;
    for (uint32_t i = layer->first_child[s]; i < layer->first_child[s + 1]; i++)
        if (core->back[layer->child[i]] != out)
            sv__nue_add(x, layer->child[i], out);
    if (layer->up[s] != SV_NONE && layer->up[s] != out)
        sv__nue_add(x, core->back[layer->up[s]], out);
}

sv_status sv__nue_open(sv__nue *x, const sv__nue_layer *layer)
{
    const sv_core *core = &x->core;
    sv_arena *arena = x->job->arena;
    uint32_t n = core->num_switches;
    uint32_t *start = SV_ARENA_NEW(arena, uint32_t, core->num_entries);
    uint32_t *below = SV_ARENA_NEW(arena, uint32_t, n), *all = SV_ARENA_NEW(arena, uint32_t, n);
    if (start == NULL || below == NULL || all == NULL)
        return SV_NO_MEMORY;
    SV_TRY(first_order(x, layer, start));
    SV_TRY(x->omega ? sv_cdg_add_plain_vl(&x->cdg) : sv_cdg_add_vl(&x->cdg, start));
    count_below(x, layer, below, all);
    x->at = x->cdg.num_vls - 1;
    for (uint32_t s = 0; s < n; s++) {
        for (uint32_t i = layer->first_child[s]; i < layer->first_child[s + 1]; i++)
            if (below[core->entries[layer->child[i]].from] > 0)
                use_turns(x, layer, s, core->back[layer->child[i]]);
        if (layer->up[s] != SV_NONE && all[x->component[s]] > below[s])
            use_turns(x, layer, s, layer->up[s]);
    }
    x->num_added = x->num_refused = 0;
    return SV_OK;
}
