/*
 * mend.c: a tree where none can be grown from a root.
 *
 * Cables are taken in some order, each if it joins two parts that are not joined yet and closes no
 * cycle of dependencies. If parts are left, the cables between them have come too late: what was
 * taken before keeps them out. So one of them, by lot, moves to the front of the order, and all is
 * taken anew. What is hard comes first in the end. Orders that got worse for some rounds are given
 * up for the best one so far.
 *
 * Trees that are found so may be deep, so this comes after growing from roots (grow.c).
 *
 * Invariant: order holds each cable of the piece once.
 * Cost: a round is a tree and its refused cables; the number of rounds is bounded by work.
 */
#include <string.h>

#include "base/rng.h"
#include "multicast/grow.h"

enum { PATIENCE = 20 /* rounds without progress before the best order comes back */ };

struct mending {
    sv__mgrower *x;
    uint32_t *part;         /* [switches]: towards the one that stands for its part */
    uint32_t *order, *best; /* [count]: cables */
    uint32_t count, max;    /* most: cables taken by the best order */
    uint32_t stale;
    sv_rng rng;
};

static uint32_t part_of(uint32_t *part, uint32_t s)
{
    while (part[s] != s)
        s = part[s] = part[part[s]];
    return s;
}

static bool joins_parts(struct mending *m, uint32_t cable)
{
    const sv_core *core = m->x->core;
    return part_of(m->part, core->to[cable]) != part_of(m->part, core->neighbour[cable]);
}

/* Takes what fits, in order. */
static sv_status take_all(struct mending *m)
{
    sv__mgrower *x = m->x;
    x->num_cables = 0;
    for (uint32_t i = 0; i < x->count; i++)
        m->part[x->piece[i]] = x->piece[i];
    for (uint32_t i = 0; i < m->count && x->num_cables + 1 < x->count; i++) {
        uint32_t cable = m->order[i];
        bool fits = false;
        if (joins_parts(m, cable))
            SV_TRY(sv__mgraph_take(x->g, cable, &fits));
        if (!fits)
            continue;
        m->part[part_of(m->part, x->core->to[cable])] = part_of(m->part, x->core->neighbour[cable]);
        x->cables[x->num_cables++] = cable;
    }
    return SV_OK;
}

/* One of the cables between parts that are left comes first from now on. */
static void move_one(struct mending *m)
{
    uint32_t late = 0, chosen = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (joins_parts(m, m->order[i]) && sv_rng_below(&m->rng, ++late) == 0)
            chosen = i;
    uint32_t cable = m->order[chosen];
    memmove(m->order + 1, m->order, chosen * sizeof *m->order);
    m->order[0] = cable;
}

/* Keeps the best order, or goes back to it. */
static void compare(struct mending *m)
{
    size_t bytes = m->count * sizeof *m->order;
    if (m->x->num_cables >= m->max) {
        m->stale = m->x->num_cables > m->max ? 0 : m->stale;
        m->max = m->x->num_cables;
        memcpy(m->best, m->order, bytes);
    } else if (++m->stale > PATIENCE) {
        m->stale = 0;
        memcpy(m->order, m->best, bytes);
    }
}

static sv_status begin(struct mending *m, sv__mgrower *x)
{
    const sv_core *core = x->core;
    *m = (struct mending){.x = x};
    m->part = SV_ARENA_NEW(&x->g->arena, uint32_t, core->num_switches);
    m->order = SV_ARENA_NEW(&x->g->arena, uint32_t, core->num_entries);
    m->best = SV_ARENA_NEW(&x->g->arena, uint32_t, core->num_entries);
    if (m->part == NULL || m->order == NULL || m->best == NULL)
        return SV_NO_MEMORY;
    sv_rng_init(&m->rng, 1);
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t s = x->piece[i];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
            if (k < core->back[k])
                m->order[m->count++] = k;
    }
    return SV_OK;
}

sv_status sv__mgrower_mend(sv__mgrower *x, uint32_t rounds, bool *found)
{
    struct mending m;
    sv__mgraph *g = x->g;
    size_t turns = g->turns.length, uses = g->uses.length;
    SV_TRY(begin(&m, x));
    *found = false;
    for (uint32_t round = 0; round < rounds && !*found; round++) {
        SV_TRY(sv_progress(g->m->ctx, "multicast", round, rounds));
        SV_TRY(take_all(&m));
        *found = x->num_cables + 1 == x->count;
        if (*found)
            memcpy(x->best, x->cables, x->num_cables * sizeof *x->best);
        compare(&m);
        move_one(&m);
        sv__mgraph_back(g, turns, uses, x->cables, x->num_cables);
    }
    x->num_cables = 0;
    return SV_OK;
}
