/*
 * foot.c: an order with one summit for trees.
 *
 * Packets that go up the levels of a tree and then down cannot deadlock. But roots do not reach
 * each other that way, nor do, after failures, some leaves all roots: they have to go down and up
 * again. Decision 9 has the remedy: a switch at the bottom, the foot, is made the summit of an
 * order, followed by what lies above it. Whoever has no way by levels goes towards the foot, until
 * it meets a switch that has one, or along the tree from the foot to where it wants.
 *
 * All that together is legal if no packet passes a valley: a switch that it enters from an earlier
 * one and leaves to an earlier one. Ways by levels pass a switch from child to parent, child to
 * child or parent to child. So no switch may have two children that come earlier, or a child and a
 * parent. In a tree without failures no switch has two children above the same foot, and it holds.
 * (Leaves are two in one: their cables of the foot's tree stand where the order has them, all
 * others last. No way by levels leads through a leaf; what comes to one over the tree has to leave
 * by the tree, see narrow.) The order is grown such that it goes on to hold: a switch is put into
 * it, behind all that is there, only if it is no valley there. Roots that are not above the foot
 * are joined where a switch has a parent in the order and parents outside. If all fails they are
 * joined anyhow, and odd says that there is a valley.
 *
 * Invariants: each switch but the summit has a neighbour before it (way); the growing part of the
 * order (block) comes first, the rest by level from above.
 *
 * Cost: O(channels) and as much for each round of joining, of which there are few.
 */
#include "routing/foot.h"

#include <string.h>

#include "base/bitset.h"

struct grow {
    const sv_core *core;
    const uint32_t *level;
    sv__foot *foot;
    uint32_t *block, length; /* in order */
    uint64_t *inside;        /* those in block */
    uint64_t *leaf;          /* those without children */
    uint32_t *cursor;        /* [switches]: the next entry a climb looks at */
    uint32_t *stack, *mark;  /* [switches] */
    uint32_t stamp;
};

/* Whether a switch has no children: nobody's way by levels leads through it. */
static bool is_leaf(const struct grow *g, uint32_t s)
{
    return sv_bit(g->leaf, s);
}

/* Whether a switch would be a valley if it came next: too many neighbours are in the block. */
static bool is_valley(const struct grow *g, uint32_t s, uint32_t from)
{
    uint32_t child = SV_NONE;
    bool parent = false;
    for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++) {
        uint32_t to = g->core->neighbour[e];
        if (!sv_bit(g->inside, to) || g->level[to] == g->level[s] ||
            (is_leaf(g, to) && to != from && g->level[to] < g->level[s]))
            continue;
        if (g->level[to] > g->level[s])
            parent = true;
        else if (child == SV_NONE)
            child = to;
        else if (child != to)
            return true;
        if (parent && child != SV_NONE)
            return true;
    }
    return false;
}

/* Puts a switch behind the others; way: its entry from where it was found, or SV_NONE. */
static void append(struct grow *g, uint32_t s, uint32_t way)
{
    g->foot->place[s] = g->length;
    g->foot->way[s] = way;
    g->block[g->length++] = s;
    sv_bit_set(g->inside, s);
}

/* Appends what lies above a switch of the block, as far as it makes no valley, depth first. */
static void climb(struct grow *g, uint32_t from)
{
    const sv_core *core = g->core;
    uint32_t depth = 0;
    g->stack[depth++] = from;
    g->cursor[from] = core->first[from];
    while (depth > 0) {
        uint32_t s = g->stack[depth - 1], e = g->cursor[s]++;
        if (e == core->first[s + 1]) {
            depth--;
            continue;
        }
        uint32_t up = core->neighbour[e];
        if (g->level[up] <= g->level[s] || sv_bit(g->inside, up) || is_valley(g, up, s))
            continue;
        append(g, up, core->back[e]);
        g->cursor[up] = core->first[up];
        g->stack[depth++] = up;
    }
}

static bool is_root(const struct grow *g, uint32_t s)
{
    for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++)
        if (g->level[g->core->neighbour[e]] > g->level[s])
            return false;
    return true;
}

/* How many roots lie above a switch. */
static uint32_t roots_above(struct grow *g, uint32_t from)
{
    uint32_t head = 0, tail = 0, roots = 0, mark = ++g->stamp;
    g->stack[tail++] = from;
    g->mark[from] = mark;
    while (head < tail) {
        uint32_t s = g->stack[head++], before = tail;
        bool root = true;
        for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++) {
            uint32_t up = g->core->neighbour[e];
            if (g->level[up] <= g->level[s])
                continue;
            root = false;
            if (g->mark[up] != mark) {
                g->mark[up] = mark;
                g->stack[tail++] = up;
            }
        }
        roots += root && before == tail;
    }
    return roots;
}

/* Of the lowest switches one with as many roots above it as can be. */
static uint32_t choose_foot(struct grow *g, const uint32_t *members, uint32_t count, uint32_t roots)
{
    enum { TRIES = 64 };
    uint32_t lowest = SV_NONE, best = members[0], max = 0, tries = 0;
    for (uint32_t i = 0; i < count; i++)
        lowest = g->level[members[i]] < lowest ? g->level[members[i]] : lowest;
    for (uint32_t i = 0; i < count && tries < TRIES && max < roots; i++) {
        if (g->level[members[i]] != lowest)
            continue;
        uint32_t above = roots_above(g, members[i]);
        tries++;
        if (above > max) {
            max = above;
            best = members[i];
        }
    }
    return best;
}

/* Whether nothing beside a switch is in the block, but for leaves. */
static bool is_free(const struct grow *g, uint32_t s)
{
    for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++) {
        uint32_t to = g->core->neighbour[e];
        if (sv_bit(g->inside, to) && g->level[to] != g->level[s] &&
            !(is_leaf(g, to) && g->level[to] < g->level[s]))
            return false;
    }
    return true;
}

/* The entry of a cable up into the block, if what lies above but outside may follow; or SV_NONE. */
static uint32_t may_join(const struct grow *g, uint32_t s)
{
    uint32_t into = SV_NONE;
    bool outside = false;
    for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++) {
        uint32_t to = g->core->neighbour[e];
        bool in = sv_bit(g->inside, to);
        if (g->level[to] <= g->level[s]) {
            if (in && g->level[to] < g->level[s] && !is_leaf(g, to))
                return SV_NONE; /* it would be a valley */
            continue;
        }
        if (in && into == SV_NONE)
            into = e;
        if (in)
            continue;
        if (is_free(g, to))
            outside = true;
        else if (!is_leaf(g, s))
            return SV_NONE; /* that one would be a valley */
    }
    return outside ? into : SV_NONE;
}

/* Appends a shortest way from the block to a root outside it; false: there is none. */
static bool join_anyhow(struct grow *g, uint32_t begin)
{
    uint32_t head = 0, tail = 0, found = SV_NONE, mark = ++g->stamp;
    for (uint32_t i = begin; i < g->length; i++) {
        g->stack[tail++] = g->block[i];
        g->mark[g->block[i]] = mark;
    }
    while (head < tail && found == SV_NONE) {
        uint32_t s = g->stack[head++];
        for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++) {
            uint32_t to = g->core->neighbour[e];
            if (g->mark[to] == mark)
                continue;
            g->mark[to] = mark;
            g->cursor[to] = g->core->back[e];
            g->stack[tail++] = to;
            if (is_root(g, to)) {
                found = to;
                break;
            }
        }
    }
    uint32_t steps = 0;
    for (uint32_t s = found; s != SV_NONE && !sv_bit(g->inside, s);) {
        g->stack[steps++] = s;
        s = g->core->neighbour[g->cursor[s]];
    }
    while (steps > 0) {
        uint32_t s = g->stack[--steps];
        append(g, s, g->cursor[s]);
    }
    return found != SV_NONE;
}

/* Grows the block of one component. */
static void grow(struct grow *g, const uint32_t *members, uint32_t count, uint32_t part)
{
    uint32_t roots = 0, root = SV_NONE, begin = g->length;
    for (uint32_t i = 0; i < count; i++)
        if (is_root(g, members[i])) {
            root = members[i];
            roots++;
        }
    uint32_t foot = roots == 1 ? root : choose_foot(g, members, count, roots);
    g->foot->summit[part] = foot;
    append(g, foot, SV_NONE);
    climb(g, foot);
    for (bool again = roots > 1; again;) {
        again = false;
        uint32_t inside = 0;
        for (uint32_t i = begin; i < g->length; i++)
            inside += is_root(g, g->block[i]);
        for (uint32_t i = 0; i < count && inside < roots; i++) {
            uint32_t s = members[i], e = sv_bit(g->inside, s) ? SV_NONE : may_join(g, s);
            if (e == SV_NONE)
                continue;
            append(g, s, e);
            climb(g, s);
            again = true;
        }
    }
    while (join_anyhow(g, begin))
        ;
}

/* All others: by level from above, towards their first parent. */
static sv_status place_rest(struct grow *g, sv_arena *arena)
{
    uint32_t n = g->core->num_switches, highest = 0;
    for (uint32_t s = 0; s < n; s++)
        if (g->foot->part[s] != SV_NONE && g->level[s] > highest)
            highest = g->level[s];
    uint32_t *start = SV_ARENA_NEW(arena, uint32_t, (size_t)highest + 2);
    if (start == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        if (g->foot->part[s] != SV_NONE && !sv_bit(g->inside, s))
            start[highest - g->level[s] + 1]++;
    start[0] = g->length;
    for (uint32_t l = 0; l <= highest; l++)
        start[l + 1] += start[l];
    for (uint32_t s = 0; s < n; s++) {
        if (g->foot->part[s] == SV_NONE || sv_bit(g->inside, s))
            continue;
        g->foot->place[s] = start[highest - g->level[s]]++;
        uint32_t e = g->core->first[s];
        while (g->level[g->core->neighbour[e]] <= g->level[s])
            e++;
        g->foot->way[s] = e;
    }
    return SV_OK;
}

/* A switch that has two children before it, or a child and a parent. */
static uint32_t find_valley(const struct grow *g)
{
    const uint32_t *place = g->foot->place, *level = g->level;
    for (uint32_t s = 0; s < g->core->num_switches; s++) {
        uint32_t child = SV_NONE;
        bool parent = false, two = false;
        for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++) {
            uint32_t to = g->core->neighbour[e];
            if (place[to] > place[s] || level[to] == level[s] ||
                (level[to] < level[s] && is_leaf(g, to) && !sv__foot_owns(g->foot, g->core, e)))
                continue;
            if (level[to] > level[s])
                parent = true;
            else if (child == SV_NONE)
                child = to;
            else
                two = two || child != to;
        }
        if (two || (parent && child != SV_NONE))
            return s;
    }
    return SV_NONE;
}

/* Whether a switch has cables up that are not of the foot's tree. */
static bool is_narrow(const struct grow *g, uint32_t s)
{
    for (uint32_t e = g->core->first[s]; e < g->core->first[s + 1]; e++)
        if (g->level[g->core->neighbour[e]] > g->level[s] && !sv__foot_owns(g->foot, g->core, e))
            return true;
    return false;
}

sv_status sv__foot_find(sv__foot *foot, sv__routing_job *job, const sv_core *core,
                        const uint32_t *level)
{
    sv_arena *arena = job->arena;
    uint32_t n = core->num_switches;
    *foot = (sv__foot){.place = SV_ARENA_NEW(arena, uint32_t, n),
                       .way = SV_ARENA_NEW(arena, uint32_t, n),
                       .part = SV_ARENA_NEW(arena, uint32_t, n),
                       .summit = SV_ARENA_NEW(arena, uint32_t, n)};
    struct grow g = {.core = core,
                     .level = level,
                     .foot = foot,
                     .block = SV_ARENA_NEW(arena, uint32_t, n),
                     .inside = sv_bitset_new(arena, n),
                     .leaf = sv_bitset_new(arena, n),
                     .cursor = SV_ARENA_NEW(arena, uint32_t, n),
                     .stack = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1),
                     .mark = SV_ARENA_NEW(arena, uint32_t, n)};
    uint32_t *members = SV_ARENA_NEW(arena, uint32_t, n), *hops = SV_ARENA_NEW(arena, uint32_t, n);
    if (foot->place == NULL || foot->way == NULL || foot->part == NULL || foot->summit == NULL ||
        g.block == NULL || g.inside == NULL || g.leaf == NULL || g.cursor == NULL ||
        g.stack == NULL || g.mark == NULL || members == NULL || hops == NULL)
        return SV_NO_MEMORY;
    memset(foot->place, 0xff, n * sizeof *foot->place);
    memset(foot->way, 0xff, n * sizeof *foot->way);
    memset(foot->part, 0xff, n * sizeof *foot->part);
    memset(hops, 0xff, n * sizeof *hops);
    for (uint32_t s = 0; s < n; s++) {
        bool leaf = true;
        for (uint32_t e = core->first[s]; leaf && e < core->first[s + 1]; e++)
            leaf = level[core->neighbour[e]] >= level[s];
        if (leaf)
            sv_bit_set(g.leaf, s);
    }
    for (uint32_t s = 0; s < n; s++) {
        if (!sv_node_alive(job->fabric, (sv_node){s}) || foot->part[s] != SV_NONE)
            continue;
        members[0] = s;
        hops[s] = 0;
        uint32_t count = sv_core_spread(core, hops, members, 0, 1);
        for (uint32_t i = 0; i < count; i++)
            foot->part[members[i]] = foot->parts;
        grow(&g, members, count, foot->parts++);
    }
    SV_TRY(place_rest(&g, arena));
    foot->odd = find_valley(&g);
    foot->narrow = SV_ARENA_NEW(arena, uint32_t, g.length);
    if (foot->narrow == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < g.length; i++)
        if (is_leaf(&g, g.block[i]) && is_narrow(&g, g.block[i]))
            foot->narrow[foot->num_narrow++] = g.block[i];
    return SV_OK;
}
