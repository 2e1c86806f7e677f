/*
 * grow.c: looks for a tree, one piece of the fabric after the other.
 *
 * From a root the tree grows breadth first, so it is as shallow as it can be; a cable that would
 * close a cycle of dependencies is left out (graph.c), and what it led to is reached by another or
 * not at all. If everything is reached, that is a tree. Several roots are tried (roots.c) until one
 * is as shallow as any tree from its root can be, or enough have been tried. If none gives one,
 * mend.c has another way.
 *
 * To find out that a cable closes a cycle can take a search through much of the fabric. On large
 * fabrics most of those that do need not be known: what they lead to is reached by others. So long
 * searches are given up at first, and made only when nothing else is left to grow. Channels are
 * sorted for each root so that most searches are short.
 *
 * What packets wait for does not depend on which switch of a tree is called its root, so in the end
 * that is its middle.
 *
 * Invariants: the cables in the graph are those of all pieces that are done, and of the tree at
 * hand.
 * Cost: for each root, the tree's turns, and searches for cycles where the order of channels does
 * not agree.
 */
#include "multicast/grow.h"

#include <string.h>

enum {
    QUICK = 8,       /* roots tried in a quick search */
    FURTHER = 8,     /* roots tried after one has given a tree */
    STEPS = 1 << 21, /* of all longer searches together, by channels */
    ROUNDS = 1000,
    PATIENCE = 1000 /* channels that a search may come upon before it has to wait */
};

void sv__mgrower_spread(sv__mgrower *x, uint32_t from)
{
    for (uint32_t i = 0; i < x->count; i++)
        x->hops[x->piece[i]] = SV_NONE;
    x->hops[from] = 0;
    x->queue[0] = from;
    sv_core_spread(x->core, x->hops, x->queue, 0, 1);
}

/* Channels towards the root come first, if unicast packets let them, the farthest before others. */
static void sort_channels(sv__mgrower *x, uint32_t root)
{
    const sv_core *core = x->core;
    unsigned vls = x->g->num_vls;
    sv__mgrower_spread(x, root);
    uint32_t max = x->hops[x->queue[x->count - 1]];
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t s = x->piece[i], to = x->hops[s];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
            uint32_t from = x->hops[core->neighbour[k]];
            for (unsigned l = 0; l < vls; l++)
                x->key[k * vls + l] = to < from ? max - from : to == from ? max : max + to;
        }
    }
    sv_cdg_sort(&x->g->cdg, 0, x->key, 2 * x->core->num_switches + 1, x->first);
}

/* The tree at hand, breadth first: what is in queue from head on has not been looked at. */
struct front {
    uint32_t head, tail;
    uint32_t first_late, num_late;
};

/* Takes a cable to a switch that is not reached, if it fits. */
static sv_status reach(sv__mgrower *x, struct front *t, uint32_t cable)
{
    uint32_t v = x->core->neighbour[cable];
    bool fits = false;
    if (x->hops[v] == SV_NONE)
        SV_TRY(sv__mgraph_take(x->g, cable, &fits));
    if (!fits)
        return SV_OK;
    x->cables[x->num_cables++] = cable;
    x->hops[v] = x->hops[x->core->to[cable]] + 1;
    x->queue[t->tail++] = v;
    return SV_OK;
}

/* All cables of switches that have not been looked at; those that take long to decide wait. */
static sv_status advance(sv__mgrower *x, struct front *t)
{
    const sv_core *core = x->core;
    for (; t->head < t->tail; t->head++) {
        uint32_t s = x->queue[t->head];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
            x->g->gave_up = false;
            SV_TRY(reach(x, t, k));
            if (x->g->gave_up)
                x->late[t->num_late++] = k;
        }
    }
    return SV_OK;
}

/* From a root outwards. hops: of the tree; SV_NONE where it does not reach. */
static sv_status grow_from(sv__mgrower *x, uint32_t root, uint32_t *reached)
{
    struct front t = {.tail = 1};
    sort_channels(x, root);
    x->num_cables = 0;
    for (uint32_t i = 0; i < x->count; i++)
        x->hops[x->piece[i]] = SV_NONE;
    x->hops[root] = 0;
    x->queue[0] = root;
    do {
        x->g->cdg.patience = PATIENCE;
        SV_TRY(advance(x, &t));
        x->g->cdg.patience = 0;
        while (t.head == t.tail && t.tail < x->count && t.first_late < t.num_late)
            SV_TRY(reach(x, &t, x->late[t.first_late++]));
    } while (t.head < t.tail);
    *reached = t.tail;
    return SV_OK;
}

/* Hops and queue along the tree that the graph has. */
static void spread_in_tree(sv__mgrower *x, uint32_t from, uint32_t *up)
{
    const sv_core *core = x->core;
    uint32_t tail = 0;
    up[from] = SV_NONE;
    x->hops[from] = 0;
    x->queue[tail++] = from;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t s = x->queue[head];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
            if (x->g->taken[k] && k != (up[s] == SV_NONE ? SV_NONE : core->back[up[s]])) {
                uint32_t v = core->neighbour[k];
                up[v] = k;
                x->hops[v] = x->hops[s] + 1;
                x->queue[tail++] = v;
            }
    }
}

/* The middle of the tree that the graph has becomes its root. Returns how deep it is from there. */
static uint32_t settle_root(sv__mgrower *x, uint32_t *up)
{
    spread_in_tree(x, x->piece[0], up);
    spread_in_tree(x, x->queue[x->count - 1], up);
    uint32_t s = x->queue[x->count - 1];
    for (uint32_t i = x->hops[s] / 2; i > 0; i--)
        s = x->core->to[up[s]];
    spread_in_tree(x, s, up);
    return x->hops[x->queue[x->count - 1]];
}

/* Takes the cables of the tree at hand out again. */
static void clear_piece(sv__mgrower *x, size_t turns, size_t uses)
{
    sv__mgraph_back(x->g, turns, uses, x->cables, x->num_cables);
    x->num_cables = 0;
}

static sv_status try_roots(sv__mgrower *x, uint32_t tries, uint32_t *up, bool *found)
{
    sv__mgraph *g = x->g;
    size_t turns = g->turns.length, uses = g->uses.length;
    uint32_t left = tries, reached;
    *found = false;
    for (uint32_t i = 0; i < x->count && left > 0; i++, left--) {
        if (*found && x->far[x->roots[i]] >= x->best_depth)
            continue;
        SV_TRY(sv_progress(g->m->ctx, "multicast", i, x->count));
        SV_TRY(grow_from(x, x->roots[i], &reached));
        uint32_t depth = reached < x->count ? SV_NONE : settle_root(x, up);
        if (depth < x->best_depth) {
            x->best_depth = depth;
            memcpy(x->best, x->cables, x->num_cables * sizeof *x->best);
            left = *found || left < FURTHER ? left : FURTHER;
            *found = true;
        }
        clear_piece(x, turns, uses);
    }
    return SV_OK;
}

/* The best tree of the piece goes into the graph, to stay. */
static sv_status keep_best(sv__mgrower *x, sv__mplan *plan)
{
    bool fits;
    for (uint32_t i = 0; i + 1 < x->count; i++)
        SV_TRY(sv__mgraph_take(x->g, x->best[i], &fits));
    uint32_t depth = settle_root(x, plan->up);
    memcpy(plan->order + plan->count, x->queue, x->count * sizeof *x->queue);
    plan->count += x->count;
    plan->pieces++;
    plan->depth = depth > plan->depth ? depth : plan->depth;
    return SV_OK;
}

static sv_status begin(sv__mgrower *x, sv__mgraph *g, sv__mplan *plan)
{
    uint32_t n = g->m->core.num_switches;
    uint32_t **arrays[] = {&x->piece, &x->roots, &x->far,   &x->cables,  &x->best,
                           &x->hops,  &x->queue, &plan->up, &plan->order};
    *x = (sv__mgrower){.g = g, .core = &g->m->core};
    *plan = (sv__mplan){0};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if ((*arrays[i] = SV_ARENA_NEW(&g->arena, uint32_t, n)) == NULL)
            return SV_NO_MEMORY;
    x->by_far = SV_ARENA_NEW(&g->arena, uint64_t, n);
    x->by_turns = SV_ARENA_NEW(&g->arena, uint64_t, n);
    x->late = SV_ARENA_NEW(&g->arena, uint32_t, g->m->core.num_entries);
    x->key = SV_ARENA_NEW(&g->arena, uint32_t, g->wide.num_entries);
    x->first = SV_ARENA_NEW(&g->arena, uint32_t, 2 * (size_t)n + 1);
    return x->by_far == NULL || x->by_turns == NULL || x->late == NULL || x->key == NULL ||
                   x->first == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

/* A tree for the piece at hand, as the best. */
static sv_status search(sv__mgrower *x, unsigned searches, uint32_t *up, bool *found)
{
    bool quick = searches == 0;
    uint32_t tries = quick ? QUICK : sv__mgrower_times(x, STEPS / searches);
    uint32_t rounds = quick ? 0 : sv__mgrower_times(x, STEPS / 2 / searches);
    x->best_depth = SV_NONE;
    sv__mgrower_rank(x);
    SV_TRY(try_roots(x, tries, up, found));
    if (*found || quick)
        return SV_OK;
    return sv__mgrower_mend(x, rounds < ROUNDS ? rounds : ROUNDS, found);
}

sv_status sv__mgrow(sv__mgraph *g, unsigned searches, sv__mplan *plan, bool *found)
{
    sv__mgrower x;
    SV_TRY(begin(&x, g, plan));
    uint32_t n = g->m->core.num_switches, *seen = SV_ARENA_NEW(&g->arena, uint32_t, n);
    if (seen == NULL)
        return SV_NO_MEMORY;
    memset(seen, 0xff, n * sizeof *seen);
    *found = true;
    for (uint32_t s = 0; s < n && *found; s++) {
        if (seen[s] != SV_NONE || !sv_node_alive(g->m->fabric, (sv_node){s}))
            continue;
        seen[s] = 0;
        x.piece[0] = s;
        x.count = sv_core_spread(x.core, seen, x.piece, 0, 1);
        SV_TRY(search(&x, searches, plan->up, found));
        if (*found)
            SV_TRY(keep_best(&x, plan));
    }
    return SV_OK;
}
