/*
 * groups.c: destinations move in groups, one after the other, so that nothing waits for ever.
 *
 * Idea: what waits for what on account of all that has not moved (old rows, old SLs), of all that
 * has (new rows, SLs from before, which connections hold, and new ones) and of all mixtures of the
 * group must be free of cycles (graph.c). When a group has moved its old dependencies are gone, and
 * others may find room. If no group can move, one may level by level; if none can, pairs whose SL
 * changes are silent, and come back with the new one; and if that does not help, those whose path
 * changes are, too, of as few destinations as it takes.
 *
 * Greedy: a destination that moved is never moved back. Orders may exist that are not found.
 *
 * Cost: each destination that changes is gathered (O(switches × VLs)) once or more for each round
 * until it moves, and the graph is as large as turns between channels and VLs.
 */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "update/update.h"

enum { MAX_WORK = 1 << 27, FEW_WORK = 1 << 14 };

/* Packets that are there while a destination moves, and once it has. */
static const sv__sls meanwhile[] = {SV__BOTH_SLS, SV__KEPT_SLS, SV__STILL_SLS};
static const sv__sls afterwards[] = {SV__BOTH_SLS, SV__NEW_SLS, SV__NEW_SLS};

/* ---- dependencies ---- */

static const uint8_t *old_row(const sv__update_planner *p, uint32_t d)
{
    return p->x.before->ports[d];
}

static const uint8_t *new_row(const sv__update_planner *p, uint32_t d)
{
    return p->x.after->ports[d];
}

/* Adds to the graph what rows mean for a destination, or takes it away. */
static sv_status add(sv__update_planner *p, uint32_t d, const uint8_t *a, const uint8_t *b,
                     sv__sls sls, bool *closed)
{
    SV_TRY(sv__gather(&p->gather, d, a, b, sls));
    return sv__graph_add(&p->graph, p->gather.edges, p->gather.num_edges, closed);
}

static sv_status take(sv__update_planner *p, uint32_t d, const uint8_t *a, const uint8_t *b,
                      sv__sls sls)
{
    SV_TRY(sv__gather(&p->gather, d, a, b, sls));
    sv__graph_remove(&p->graph, p->gather.edges, p->gather.num_edges);
    return SV_OK;
}

/* All of the old tables, and trees, which stay as they are. */
static sv_status add_old(sv__update_planner *p, bool *closed)
{
    uint32_t count = p->x.after->num_destinations;
    SV_TRY(sv__gather_trees(&p->gather));
    SV_TRY(sv__graph_add(&p->graph, p->gather.edges, p->gather.num_edges, closed));
    for (uint32_t d = 0; !*closed && d < count; d++) {
        SV_TRY(sv_progress(p->ctx, "planning", 0, p->num_changed));
        SV_TRY(add(p, d, old_row(p, d), old_row(p, d), SV__OLD_SLS, closed));
    }
    return SV_OK;
}

/* ---- groups ---- */

static uint32_t levels_of(sv__update_planner *p, uint32_t d)
{
    uint32_t levels = sv__level(&p->levels, d, sv_bit(p->fine, d));
    return levels > 0 ? levels : 1;
}

/* A destination has its steps, from the next one on; returns how many. */
static uint32_t settle_in(sv__update_planner *p, uint32_t d, sv__who who)
{
    uint32_t levels = levels_of(p, d);
    sv_bit_set(p->moved, d);
    if (who != SV__NOBODY)
        sv_bit_set(who == SV__REPATH ? p->repath : p->hushed, d);
    p->u->first_step[d] = p->steps;
    p->last_step[d] = p->steps + levels - 1;
    p->num_moved++;
    return levels;
}

/*
 * Whether a destination can move beside all that is in the graph, which then has its mixtures, and
 * what is there once it has moved, instead of what it had before.
 */
static sv_status try_one(sv__update_planner *p, uint32_t d, sv__who who, bool *fits)
{
    const uint8_t *was = old_row(p, d), *is = new_row(p, d);
    bool closed;
    SV_TRY(take(p, d, was, was, SV__OLD_SLS));
    SV_TRY(add(p, d, was, is, meanwhile[who], &closed));
    if (!closed) {
        SV_TRY(add(p, d, is, is, afterwards[who], &closed));
        if (closed)
            SV_TRY(take(p, d, was, is, meanwhile[who]));
    }
    *fits = !closed;
    if (closed)
        SV_TRY(add(p, d, was, was, SV__OLD_SLS, &closed));
    return SV_OK;
}

/* Moves all destinations that can move together. */
static sv_status move_group(sv__update_planner *p, sv__who who)
{
    uint32_t max = 0;
    p->num_group = 0;
    for (uint32_t i = 0; i < p->num_changed; i++) {
        uint32_t d = p->changed[i];
        bool fits = false;
        if (sv_bit(p->moved, d))
            continue;
        SV_TRY(sv_progress(p->ctx, "planning", p->num_moved, p->num_changed));
        SV_TRY(try_one(p, d, who, &fits));
        if (fits)
            p->group[p->num_group++] = d;
    }
    for (uint32_t i = 0; i < p->num_group; i++) {
        uint32_t d = p->group[i]; /* mixtures are gone */
        SV_TRY(take(p, d, old_row(p, d), new_row(p, d), meanwhile[who]));
        uint32_t levels = settle_in(p, d, who);
        max = levels > max ? levels : max;
    }
    p->steps += max;
    return SV_OK;
}

/*
 * Level by level: a graph for each level, with what is there while that level of the whole group
 * changes. More destinations fit than with all mixtures at once, at the price of more steps.
 */

/* As many graphs as destinations that have not moved have levels, and one for what is there when
 * all have moved; all as the graph is now. */
static sv_status fill_levels(sv__update_planner *p)
{
    p->num_levels = 2;
    for (uint32_t i = 0; i < p->num_changed; i++) {
        uint32_t d = p->changed[i];
        uint32_t levels = sv_bit(p->moved, d) ? 0 : sv__level(&p->levels, d, true);
        if (levels >= p->num_levels && levels < SV__MAX_LEVELS)
            p->num_levels = levels + 1;
    }
    for (uint32_t l = 0; l < p->num_levels; l++) {
        sv__update_graph *g = &p->fine_graphs[l];
        if (g->ctx == NULL)
            SV_TRY(sv__graph_init(g, p->ctx, p->arena, p->graph.vertices));
        SV_TRY(sv__graph_copy(g, &p->graph));
    }
    return SV_OK;
}

/* What packets to a destination do while a level changes; after its last one, what it has then. */
static sv_status gather_level(sv__update_planner *p, uint32_t d, sv__who who, uint32_t at,
                              uint32_t levels)
{
    if (at >= levels)
        return sv__gather(&p->gather, d, new_row(p, d), new_row(p, d), afterwards[who]);
    const uint8_t *now = sv__row_at(&p->levels, d, at, 0);
    const uint8_t *then = sv__row_at(&p->levels, d, at + 1, 1);
    return sv__gather(&p->gather, d, now, then, meanwhile[who]);
}

/* In the graphs of the levels below one: what a destination had before, instead of its move. */
static sv_status undo_levels(sv__update_planner *p, uint32_t d, sv__who who, uint32_t below,
                             uint32_t levels)
{
    bool closed;
    for (uint32_t l = 0; l < below; l++) {
        SV_TRY(gather_level(p, d, who, l, levels));
        sv__graph_remove(&p->fine_graphs[l], p->gather.edges, p->gather.num_edges);
    }
    SV_TRY(sv__gather(&p->gather, d, old_row(p, d), old_row(p, d), SV__OLD_SLS));
    for (uint32_t l = 0; l < p->num_levels; l++)
        SV_TRY(sv__graph_add(&p->fine_graphs[l], p->gather.edges, p->gather.num_edges, &closed));
    return SV_OK;
}

static sv_status try_levels(sv__update_planner *p, uint32_t d, sv__who who, bool *fits)
{
    uint32_t levels = sv__level(&p->levels, d, true), l = 0;
    bool closed = false;
    *fits = false;
    if (levels >= p->num_levels)
        return SV_OK;
    levels = levels > 0 ? levels : 1;
    SV_TRY(sv__gather(&p->gather, d, old_row(p, d), old_row(p, d), SV__OLD_SLS));
    for (uint32_t k = 0; k < p->num_levels; k++)
        sv__graph_remove(&p->fine_graphs[k], p->gather.edges, p->gather.num_edges);
    for (; !closed && l < p->num_levels; l += !closed) {
        SV_TRY(gather_level(p, d, who, l, levels));
        SV_TRY(sv__graph_add(&p->fine_graphs[l], p->gather.edges, p->gather.num_edges, &closed));
    }
    *fits = !closed;
    return closed ? undo_levels(p, d, who, l, levels) : SV_OK;
}

/* Moves all destinations that can move together level by level. */
static sv_status move_finely(sv__update_planner *p, sv__who who)
{
    uint32_t max = 0;
    bool closed;
    p->num_group = 0;
    SV_TRY(fill_levels(p));
    for (uint32_t i = 0; i < p->num_changed; i++) {
        bool fits = false;
        if (sv_bit(p->moved, p->changed[i]))
            continue;
        SV_TRY(sv_progress(p->ctx, "planning", p->num_moved, p->num_changed));
        SV_TRY(try_levels(p, p->changed[i], who, &fits));
        if (fits)
            p->group[p->num_group++] = p->changed[i];
    }
    for (uint32_t i = 0; i < p->num_group; i++)
        SV_TRY(take(p, p->group[i], old_row(p, p->group[i]), old_row(p, p->group[i]), SV__OLD_SLS));
    for (uint32_t i = 0; i < p->num_group; i++) {
        uint32_t d = p->group[i];
        SV_TRY(add(p, d, new_row(p, d), new_row(p, d), afterwards[who], &closed));
        sv_bit_set(p->fine, d);
        uint32_t levels = settle_in(p, d, who);
        max = levels > max ? levels : max;
    }
    p->steps += max;
    return SV_OK;
}

/* Moves what can move, with as few silent as possible; false: it is stuck. */
static sv_status move_some(sv__update_planner *p, sv__who min, sv__who max, bool *moved)
{
    uint32_t before = p->num_moved;
    for (sv__who who = min; who <= max && p->num_moved == before; who++) {
        SV_TRY(move_group(p, who));
        if (p->num_moved == before && who != SV__HUSHED)
            SV_TRY(move_finely(p, who));
    }
    *moved = p->num_moved > before;
    return SV_OK;
}

void sv__begin_again(sv__update_planner *p)
{
    size_t words = sv_bitset_words(p->x.after->num_destinations) + 1;
    memset(p->moved, 0, words * sizeof *p->moved);
    memset(p->fine, 0, words * sizeof *p->fine);
    memset(p->repath, 0, words * sizeof *p->repath);
    memset(p->hushed, 0, words * sizeof *p->hushed);
    memset(p->u->first_step, 0xff, p->x.after->num_destinations * sizeof *p->u->first_step);
    memset(p->last_step, 0xff, p->x.after->num_destinations * sizeof *p->last_step);
    p->num_moved = 0;
    p->steps = p->u->vls;
}

/* All destinations that are left in one group, each by its levels. */
static void move_rest(sv__update_planner *p, sv__who who)
{
    uint32_t max = 0;
    for (uint32_t i = 0; i < p->num_changed; i++) {
        if (sv_bit(p->moved, p->changed[i]))
            continue;
        uint32_t levels = settle_in(p, p->changed[i], who);
        max = levels > max ? levels : max;
    }
    p->steps += max;
}

void sv__move_together(sv__update_planner *p, sv__who who)
{
    sv__begin_again(p);
    move_rest(p, who);
}

/*
 * Moves everything, group after group. *done: false if it is stuck, or takes too many steps.
 * From SV__REPATH to SV__HUSHED it never is stuck: whatever is left then moves at once, because who
 * moved before holds new SLs only, and what is left is silent: all that is there belongs to the new
 * tables.
 */
static sv_status move_all(sv__update_planner *p, sv__who min, sv__who max, bool *done)
{
    bool closed, moved = true;
    sv__begin_again(p);
    if (p->graph.ctx == NULL)
        SV_TRY(sv__graph_init(&p->graph, p->ctx, p->arena, p->x.f->num_channels * p->x.vls));
    sv__graph_clear(&p->graph);
    SV_TRY(add_old(p, &closed));
    if (closed)
        snprintf(p->u->why, sizeof p->u->why, "the old tables%s deadlock %s",
                 p->x.before->sl2vl_known ? " can" : ", whose VLs are not known, may",
                 p->x.after->num_groups == 0 ? "by themselves"
                                             : "by themselves, or with the new multicast trees");
    while (!closed && moved && p->num_moved < p->num_changed && p->steps <= p->max_steps)
        SV_TRY(move_some(p, min, max, &moved));
    *done = !closed && p->num_moved == p->num_changed && p->steps <= p->max_steps;
    if (!*done && !closed)
        snprintf(p->u->why, sizeof p->u->why,
                 p->steps > p->max_steps
                     ? "it would take more than %u steps; %u of %u destinations could be moved"
                     : "after %u steps nothing could be moved any more; %u of %u destinations were",
                 p->steps > p->max_steps ? p->max_steps : p->steps, p->num_moved, p->num_changed);
    if (!*done && !closed && min == SV__REPATH && max == SV__HUSHED && p->steps <= p->max_steps) {
        move_rest(p, SV__HUSHED);
        *done = true;
    }
    return SV_OK;
}
/* Destinations that could not move come first next time. */
static void stuck_first(sv__update_planner *p)
{
    uint32_t count = 0;
    for (int moved = 0; moved < 2; moved++)
        for (uint32_t i = 0; i < p->num_changed; i++)
            if (sv_bit(p->moved, p->changed[i]) == (moved == 1))
                p->group[count++] = p->changed[i];
    memcpy(p->changed, p->group, p->num_changed * sizeof *p->changed);
}

/* Several times, as it is greedy, unless that takes long. */
static sv_status move_all_somehow(sv__update_planner *p, sv__who min, sv__who max, bool *done)
{
    uint64_t work = (uint64_t)p->x.f->num_switches * p->num_changed;
    int tries = work < FEW_WORK ? 4 : work < 8 * FEW_WORK ? 2 : 1;
    *done = false;
    for (int i = 0; !*done && i < tries; i++) {
        if (i > 0)
            stuck_first(p);
        SV_TRY(move_all(p, min, max, done));
        if (p->num_moved > p->u->moved)
            p->u->moved = p->num_moved;
    }
    return SV_OK;
}

/* Who can move does, the rest stays: with nobody silent. */
static sv_status move_part(sv__update_planner *p)
{
    bool done;
    SV_TRY(move_all(p, SV__NOBODY, SV__NOBODY, &done));
    p->u->moved = p->num_moved;
    p->u->left = p->num_changed - p->num_moved;
    if (p->num_moved == 0) { /* then VLs need not change either */
        p->u->vls = false;
        p->steps = 0;
    }
    return SV_OK;
}

/* Groups: with nobody silent, then pairs whose SL changes, then those whose path does. */
sv_status sv__move_in_groups(sv__update_planner *p)
{
    bool done = false;
    uint64_t work = (uint64_t)p->x.f->num_switches * p->x.after->num_destinations;
    p->u->settle = true;
    p->u->moved = 0;
    if (work > MAX_WORK) {
        snprintf(p->u->why, sizeof p->u->why,
                 "the fabric is too large to look for groups of destinations");
        p->u->left = p->partial ? p->num_changed : 0;
    } else if (p->partial) {
        return move_part(p);
    } else {
        SV_TRY(move_all_somehow(p, SV__NOBODY, SV__NOBODY, &done));
        if (!done)
            SV_TRY(move_all(p, SV__NOBODY, SV__REPATH, &done));
        if (!done)
            SV_TRY(move_all_somehow(p, SV__REPATH, SV__REPATH, &done));
        if (done)
            p->u->moved = p->num_changed;
        else
            SV_TRY(move_all(p, SV__REPATH, SV__HUSHED, &done));
    }
    if (!done && !p->partial)
        sv__move_together(p, SV__HUSHED);
    return SV_OK;
}
