/*
 * tree.c: finds the levels of a fat tree.
 *
 * With roots given a switch's level is its distance from them, counted from below. Without, levels
 * are counted from the leaves, because failures take more from the top: a root that lost its cable
 * to one part of the tree still stands as high above the leaves as before. But real trees have
 * hosts elsewhere, too: I/O nodes on roots, a management switch hung on a leaf or a root. So leaves
 * are, to begin with, switches with at least half as many hosts as the switch of the median host
 * (of its component, if none there has that many), and what looks like one of them
 * (sv_levels_above). Other switches with hosts stand where their distance puts them, unless they
 * see less than half of the leaves that others of that level see below them: then they hang below
 * their neighbours.
 *
 * A switch hung on a root ends up above it. This does no harm: the ways there lead up, the ways
 * back down, and nobody else's turn there.
 *
 * Tree order: subtrees of level l are what cables up to that level hold together, so they are
 * nested; leaves are sorted by the subtrees they are in, the largest first, each numbered by its
 * first leaf.
 *
 * Cost: O(channels) for each level; with hosts above the leaves, for each switch above them.
 */
#include "structure/tree.h"

#include <string.h>

#include "base/bitset.h"
#include "base/sets.h"
#include "fabric/derive.h"

struct finder {
    sv_fat_tree *tree;
    sv_arena *arena;
    const sv_fabric *f;
    const sv_core *core;
    uint32_t *hosts; /* [switches]: hosts on each, without what is inside switches */
    int32_t *height; /* [switches]: levels that may be negative yet */
    uint32_t *queue;
};

static void count_hosts(struct finder *x)
{
    for (uint32_t s = 0; s < x->core->num_switches; s++)
        SV_FOR_HOPS (x->f, ((sv_node){s}), hop)
            x->hosts[s] +=
                !sv_is_switch(x->f, hop->to) &&
                x->f->adapters[sv_terminal_of(x->f, hop->to)->adapter].kind != SV_ADAPTER_SPECIAL;
}

/*
 * How many hosts the switch of the median host has, of the switches that nothing has reached yet:
 * half of all hosts have that many or more. 0: there are no hosts.
 */
static sv_status median_hosts(struct finder *x, const uint32_t *reached, uint32_t *median)
{
    uint32_t max = 0;
    uint64_t all = 0, above = 0;
    for (uint32_t s = 0; s < x->core->num_switches; s++)
        if (reached[s] == SV_NONE) {
            max = x->hosts[s] > max ? x->hosts[s] : max;
            all += x->hosts[s];
        }
    uint64_t *with = SV_ARENA_NEW(x->arena, uint64_t, (size_t)max + 1);
    if (with == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < x->core->num_switches; s++)
        if (reached[s] == SV_NONE)
            with[x->hosts[s]] += x->hosts[s];
    for (*median = max; *median > 1 && 2 * above < all; --*median)
        above += with[*median];
    if (*median < max && 2 * above >= all)
        ++*median;
    return SV_OK;
}

/* How many leaves a switch has below it: each once, so a search down marks them. seen: all clear.
 */
static uint32_t leaves_below(struct finder *x, const uint32_t *level, uint32_t s, uint64_t *seen)
{
    uint32_t head = 0, tail = 0, leaves = 0;
    x->queue[tail++] = s;
    sv_bit_set(seen, s);
    while (head < tail) {
        uint32_t at = x->queue[head++];
        leaves += level[at] == 0;
        for (uint32_t e = x->core->first[at]; e < x->core->first[at + 1]; e++) {
            uint32_t to = x->core->neighbour[e];
            if (level[to] < level[at] && !sv_bit(seen, to)) {
                sv_bit_set(seen, to);
                x->queue[tail++] = to;
            }
        }
    }
    for (uint32_t i = 0; i < tail; i++)
        seen[x->queue[i] / 64] = 0;
    return leaves;
}

/* Where the levels of each switch's component begin if all levels of all components are listed. */
static void number_parts(struct finder *x, const uint32_t *level, uint32_t *part)
{
    uint32_t n = x->core->num_switches, next = 0;
    memset(part, 0xff, n * sizeof *part);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t head = 0, tail = 0, highest = 0;
        if (level[s] == SV_NONE || part[s] != SV_NONE)
            continue;
        part[s] = next;
        x->queue[tail++] = s;
        while (head < tail) {
            uint32_t at = x->queue[head++];
            highest = level[at] > highest ? level[at] : highest;
            for (uint32_t e = x->core->first[at]; e < x->core->first[at + 1]; e++)
                if (part[x->core->neighbour[e]] == SV_NONE) {
                    part[x->core->neighbour[e]] = next;
                    x->queue[tail++] = x->core->neighbour[e];
                }
        }
        next += highest + 1; /* a switch is on each: no more than there are switches */
    }
}

/* Puts switches with hosts that see few leaves, for their level, below their neighbours. */
static sv_status hang_below(struct finder *x, const uint32_t *level, uint32_t highest)
{
    uint32_t n = x->core->num_switches;
    uint64_t *seen = sv_bitset_new(x->arena, n);
    uint32_t *part = SV_ARENA_NEW(x->arena, uint32_t, n);
    uint32_t *max = SV_ARENA_NEW(x->arena, uint32_t, n);
    uint32_t *below = SV_ARENA_NEW(x->arena, uint32_t, n);
    if (seen == NULL || part == NULL || max == NULL || below == NULL)
        return SV_NO_MEMORY;
    number_parts(x, level, part);
    bool any = false;
    for (uint32_t s = 0; s < n; s++)
        any = any || (x->hosts[s] > 0 && level[s] != 0 && level[s] != SV_NONE);
    for (uint32_t s = 0; any && s < n; s++) {
        if (level[s] == 0 || level[s] == SV_NONE)
            continue;
        below[s] = leaves_below(x, level, s, seen);
        uint32_t *here = &max[part[s] + level[s]];
        *here = below[s] > *here ? below[s] : *here;
    }
    for (uint32_t l = 1; any && l <= highest; l++)
        for (uint32_t s = 0; s < n; s++) {
            if (level[s] != l || x->hosts[s] == 0 || 2 * below[s] >= max[part[s] + l])
                continue;
            int32_t min = INT32_MAX;
            for (uint32_t e = x->core->first[s]; e < x->core->first[s + 1]; e++)
                if (x->height[x->core->neighbour[e]] < min)
                    min = x->height[x->core->neighbour[e]];
            x->height[s] = min - 1;
        }
    return SV_OK;
}

/*
 * Leaves get level 0. Components whose switches all have too few hosts are looked at again without
 * the others: at least half of the hosts are dealt with each time.
 */
static sv_status mark_leaves(struct finder *x, uint32_t *level)
{
    uint32_t n = x->core->num_switches, median;
    uint32_t *reached = SV_ARENA_NEW(x->arena, uint32_t, n);
    if (reached == NULL)
        return SV_NO_MEMORY;
    memset(level, 0xff, n * sizeof *level);
    memset(reached, 0xff, n * sizeof *reached);
    for (;;) {
        uint32_t tail = 0;
        SV_TRY(median_hosts(x, reached, &median));
        if (median == 0)
            return SV_OK;
        for (uint32_t s = 0; s < n; s++)
            if (reached[s] == SV_NONE && x->hosts[s] > 0 && 2 * x->hosts[s] >= median) {
                level[s] = reached[s] = 0;
                x->queue[tail++] = s;
            }
        sv_core_spread(x->core, reached, x->queue, 0, tail);
    }
}

/* Heights from the leaves up. */
static sv_status rise(struct finder *x)
{
    uint32_t n = x->core->num_switches, highest;
    uint32_t *level = SV_ARENA_NEW(x->arena, uint32_t, n);
    if (level == NULL)
        return SV_NO_MEMORY;
    SV_TRY(mark_leaves(x, level));
    if (!sv_levels_above(x->arena, x->f, level, &highest))
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        x->height[s] = level[s] == SV_NONE ? INT32_MAX : (int32_t)level[s];
    return hang_below(x, level, highest);
}

/* Heights from the roots down; components without roots keep theirs, the tops side by side. */
static sv_status descend(struct finder *x, const sv_node *roots, size_t num_roots)
{
    uint32_t n = x->core->num_switches, tail = 0;
    int32_t top = 0;
    uint32_t *rank = SV_ARENA_NEW(x->arena, uint32_t, n);
    if (rank == NULL)
        return SV_NO_MEMORY;
    memset(rank, 0xff, n * sizeof *rank);
    for (size_t i = 0; i < num_roots; i++)
        if (sv_is_switch(x->f, roots[i]) && sv_node_alive(x->f, roots[i]) &&
            rank[roots[i].i] == SV_NONE) {
            rank[roots[i].i] = 0;
            x->queue[tail++] = roots[i].i;
        }
    sv_core_spread(x->core, rank, x->queue, 0, tail);
    for (uint32_t s = 0; s < n; s++)
        if (rank[s] == SV_NONE && x->height[s] != INT32_MAX && x->height[s] > top)
            top = x->height[s];
    for (uint32_t s = 0; s < n; s++)
        if (rank[s] != SV_NONE)
            x->height[s] = top - (int32_t)rank[s];
    return SV_OK;
}

/* Levels from heights: the lowest becomes 0. */
static sv_status number_levels(struct finder *x)
{
    sv_fat_tree *t = x->tree;
    uint32_t n = x->core->num_switches;
    int32_t lowest = INT32_MAX, highest = INT32_MIN;
    for (uint32_t s = 0; s < n; s++)
        if (x->height[s] != INT32_MAX && sv_node_alive(x->f, (sv_node){s})) {
            lowest = x->height[s] < lowest ? x->height[s] : lowest;
            highest = x->height[s] > highest ? x->height[s] : highest;
        }
    t->levels = lowest > highest ? 1 : (uint32_t)(highest - lowest) + 1;
    t->count = SV_ARENA_NEW(x->arena, uint32_t, t->levels);
    if (t->count == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        bool placed = x->height[s] != INT32_MAX && sv_node_alive(x->f, (sv_node){s});
        t->level[s] = placed ? (uint32_t)(x->height[s] - lowest) : SV_NONE;
        if (placed)
            t->count[t->level[s]]++;
    }
    return SV_OK;
}

static void judge_cables(struct finder *x)
{
    sv_fat_tree *t = x->tree;
    t->odd_a = t->odd_b = SV_NONE;
    for (uint32_t e = 0; e < x->core->num_entries; e++) {
        uint32_t a = x->core->to[e], b = x->core->neighbour[e];
        if (a >= b || t->level[a] == SV_NONE || t->level[b] == SV_NONE)
            continue;
        uint32_t low = t->level[a] < t->level[b] ? t->level[a] : t->level[b];
        uint32_t step = t->level[a] + t->level[b] - 2 * low;
        t->cables++;
        t->skipping += step > 1;
        if (step == 0 && t->sideways++ == 0) {
            t->odd_a = a;
            t->odd_b = b;
        }
    }
}

/* ---- tree order ---- */

/* Holds together what cables with their upper end on a level join; head stays the first leaf. */
static void join_level(struct finder *x, uint32_t l, uint32_t *head, uint32_t *leaf)
{
    const uint32_t *level = x->tree->level;
    for (uint32_t e = 0; e < x->core->num_entries; e++) {
        uint32_t a = x->core->to[e], b = x->core->neighbour[e];
        if (level[a] != l || level[b] == SV_NONE || level[b] > l)
            continue;
        uint32_t p = sv_set_head(head, a), q = sv_set_head(head, b);
        if (p == q)
            continue;
        uint32_t low = p < q ? p : q, high = p < q ? q : p;
        head[high] = low;
        leaf[low] = leaf[low] < leaf[high] ? leaf[low] : leaf[high];
    }
}

/* Sorts leaves by the first leaf of their subtree, those of one subtree staying as they are. */
static void sort_by_subtree(struct finder *x, uint32_t *head, const uint32_t *leaf, uint32_t *start,
                            uint32_t *sorted)
{
    sv_fat_tree *t = x->tree;
    uint32_t n = x->core->num_switches, next = 0;
    memset(start, 0, n * sizeof *start);
    for (uint32_t i = 0; i < t->num_leaves; i++)
        start[leaf[sv_set_head(head, t->leaves[i])]]++;
    for (uint32_t s = 0; s < n; s++) {
        uint32_t count = start[s];
        start[s] = next;
        next += count;
    }
    for (uint32_t i = 0; i < t->num_leaves; i++)
        sorted[start[leaf[sv_set_head(head, t->leaves[i])]]++] = t->leaves[i];
    memcpy(t->leaves, sorted, t->num_leaves * sizeof *sorted);
}

static sv_status order_leaves(struct finder *x)
{
    sv_fat_tree *t = x->tree;
    uint32_t n = x->core->num_switches;
    uint32_t *head = SV_ARENA_NEW(x->arena, uint32_t, n);
    uint32_t *leaf = SV_ARENA_NEW(x->arena, uint32_t, n);
    uint32_t *start = SV_ARENA_NEW(x->arena, uint32_t, n);
    uint32_t *sorted = SV_ARENA_NEW(x->arena, uint32_t, n);
    t->leaves = SV_ARENA_NEW(x->arena, uint32_t, n);
    if (head == NULL || leaf == NULL || start == NULL || sorted == NULL || t->leaves == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        head[s] = s;
        leaf[s] = x->core->terminals[s] > 0 ? s : SV_NONE;
        if (x->core->terminals[s] > 0)
            t->leaves[t->num_leaves++] = s;
    }
    for (uint32_t l = 0; l < t->levels; l++) {
        join_level(x, l, head, leaf);
        sort_by_subtree(x, head, leaf, start, sorted);
    }
    return SV_OK;
}

static sv_status order_hosts(struct finder *x)
{
    sv_fat_tree *t = x->tree;
    t->hosts = SV_ARENA_NEW(x->arena, uint32_t, x->f->num_terminals);
    if (t->hosts == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < t->num_leaves; i++)
        SV_FOR_HOPS (x->f, ((sv_node){t->leaves[i]}), hop)
            if (!sv_is_switch(x->f, hop->to))
                t->hosts[t->num_hosts++] = hop->to.i;
    return SV_OK;
}

sv_status sv_fat_tree_find(sv_fat_tree *tree, sv_arena *arena, const sv_fabric *f,
                           const sv_core *core, const sv_node *roots, size_t num_roots)
{
    uint32_t n = core->num_switches;
    *tree = (sv_fat_tree){.level = SV_ARENA_NEW(arena, uint32_t, n)};
    struct finder x = {.tree = tree,
                       .arena = arena,
                       .f = f,
                       .core = core,
                       .hosts = SV_ARENA_NEW(arena, uint32_t, n),
                       .height = SV_ARENA_NEW(arena, int32_t, n),
                       .queue = SV_ARENA_NEW(arena, uint32_t, n)};
    if (tree->level == NULL || x.hosts == NULL || x.height == NULL || x.queue == NULL)
        return SV_NO_MEMORY;
    count_hosts(&x);
    SV_TRY(rise(&x));
    SV_TRY(descend(&x, roots, num_roots));
    SV_TRY(number_levels(&x));
    judge_cables(&x);
    SV_TRY(order_leaves(&x));
    return order_hosts(&x);
}

sv_status sv_fat_tree_fits(sv_ctx *ctx, const sv_fat_tree *t, const sv_fabric *f, const char *who)
{
    bool levels = false;
    for (uint32_t l = 0; l < t->levels; l++)
        levels = levels || t->count[l] > 0;
    if (!levels && f->live_switches > 1)
        return sv_fail(ctx, SV_INFEASIBLE, "%s: no switch has hosts, so there are no levels", who);
    if (8 * (uint64_t)t->sideways <= t->cables)
        return SV_OK;
    return sv_fail(ctx, SV_INFEASIBLE,
                   "%s: this is no tree: %u of %u cables between switches join two of one level, "
                   "for example '%s' and '%s'%s",
                   who, t->sideways, t->cables, sv_node_name(f, (sv_node){t->odd_a}),
                   sv_node_name(f, (sv_node){t->odd_b}),
                   t->levels == 1 ? ", as all switches have hosts" : "");
}
