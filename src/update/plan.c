/*
 * plan.c: a safe order of updates: from old tables to new ones in steps.
 *
 * Idea: if all mixtures of old and new entries are safe, one step will do. If none of them can
 * deadlock, but some make packets circle or lose their way, entries of each destination change from
 * its end outwards (levels.c), all destinations together. Otherwise destinations move in groups:
 * what waits for what on account of all that has not moved (old rows, old SLs), of all that has
 * (new rows, SLs from before, which connections hold, and new ones) and of all mixtures of the
 * group must be free of cycles (graph.c). When a group has moved its old dependencies are gone, and
 * others may find room. If no group can move, a destination may one level at a time; if none can,
 * pairs whose SL changes are silent, and come back with the new one.
 *
 * Greedy: a destination that moves is never moved back. Orders may exist that are not found.
 *
 * Nothing that is said here is believed: verify/ judges every step at the end.
 *
 * Cost: each destination that changes is gathered (O(switches × lanes)) once for each round of
 * groups until it moves, and the graph is as large as turns between channels and lanes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "fabric/store.h"
#include "update/update.h"

enum { MOST_STEPS = 256, MOST_WORK = 1 << 27 };

struct plan {
    sv_ctx *ctx;
    sv_arena *arena;
    sv__sides x;
    sv__gatherer gather;
    sv__levels levels;
    sv__graph graph;
    sv_update *u;
    uint32_t most_steps;
    uint32_t *changed; /* [num_changed]: destinations, by block */
    uint32_t num_changed;
    uint32_t *last_step;       /* [destinations]; u->first_step is the first */
    uint64_t *moved, *fine;    /* one bit a destination */
    uint64_t *repath, *hushed; /* the same: as sv__silence has them */
    uint32_t *group, num_group;
    uint32_t num_moved, steps;
    bool circles; /* old tables have some: there is nothing to keep to */
};

/* Who is silent while a destination moves. */
enum silence { NOBODY, REPATH, HUSHED };

/* Packets that are there while a destination moves, and once it has. */
static const sv__sls meanwhile[] = {SV__BOTH_SLS, SV__KEPT_SLS, SV__STILL_SLS};
static const sv__sls afterwards[] = {SV__BOTH_SLS, SV__NEW_SLS, SV__NEW_SLS};

/* ---- dependencies ---- */

static const uint8_t *old_row(const struct plan *p, uint32_t d)
{
    return p->x.before->ports[d];
}

static const uint8_t *new_row(const struct plan *p, uint32_t d)
{
    return p->x.after->ports[d];
}

/* Adds to the graph what rows mean for a destination, or takes it away. */
static sv_status add(struct plan *p, uint32_t d, const uint8_t *a, const uint8_t *b, sv__sls sls,
                     bool *closed)
{
    SV_TRY(sv__gather(&p->gather, d, a, b, sls));
    return sv__graph_add(&p->graph, p->gather.edges, p->gather.num_edges, closed);
}

static sv_status take(struct plan *p, uint32_t d, const uint8_t *a, const uint8_t *b, sv__sls sls)
{
    SV_TRY(sv__gather(&p->gather, d, a, b, sls));
    sv__graph_remove(&p->graph, p->gather.edges, p->gather.num_edges);
    return SV_OK;
}

/* All of the old tables. */
static sv_status add_old(struct plan *p, bool *closed)
{
    uint32_t count = p->x.after->num_destinations;
    *closed = false;
    for (uint32_t d = 0; !*closed && d < count; d++)
        SV_TRY(add(p, d, old_row(p, d), old_row(p, d), SV__OLD_SLS, closed));
    return SV_OK;
}

/* ---- groups ---- */

static uint32_t levels_of(struct plan *p, uint32_t d)
{
    uint32_t levels = sv__level(&p->levels, d, sv_bit(p->fine, d));
    return levels > 0 ? levels : 1;
}

/* A destination has its steps, from the next one on; returns how many. */
static uint32_t settle_in(struct plan *p, uint32_t d, enum silence who)
{
    uint32_t levels = levels_of(p, d);
    sv_bit_set(p->moved, d);
    if (who != NOBODY)
        sv_bit_set(who == REPATH ? p->repath : p->hushed, d);
    p->u->first_step[d] = p->steps;
    p->last_step[d] = p->steps + levels - 1;
    p->num_moved++;
    return levels;
}

/*
 * Whether a destination can move beside all that is in the graph, which then has its mixtures, and
 * what is there once it has moved, instead of what it had before.
 */
static sv_status try_one(struct plan *p, uint32_t d, enum silence who, bool *fits)
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
static sv_status move_group(struct plan *p, enum silence who)
{
    uint32_t most = 0;
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
        most = levels > most ? levels : most;
    }
    p->steps += most;
    return SV_OK;
}

/* Whether each level of a destination fits, one after the other; the graph is without it. */
static sv_status try_levels(struct plan *p, uint32_t d, enum silence who, bool *fits)
{
    uint32_t levels = sv__level(&p->levels, d, true);
    bool closed = levels < 2;
    for (uint32_t at = 0; !closed && at < levels; at++) {
        const uint8_t *now = sv__row_at(&p->levels, d, at, 0);
        const uint8_t *then = sv__row_at(&p->levels, d, at + 1, 1);
        SV_TRY(add(p, d, now, then, meanwhile[who], &closed));
        if (!closed)
            sv__graph_remove(&p->graph, p->gather.edges, p->gather.num_edges);
    }
    *fits = !closed;
    return SV_OK;
}

/* Moves one destination level by level, if there is one that can. */
static sv_status move_finely(struct plan *p, enum silence who, bool *done)
{
    *done = false;
    for (uint32_t i = 0; !*done && i < p->num_changed; i++) {
        uint32_t d = p->changed[i];
        bool closed = false;
        if (sv_bit(p->moved, d))
            continue;
        SV_TRY(take(p, d, old_row(p, d), old_row(p, d), SV__OLD_SLS));
        SV_TRY(try_levels(p, d, who, done));
        if (*done) {
            SV_TRY(add(p, d, new_row(p, d), new_row(p, d), afterwards[who], &closed));
            *done = !closed;
        }
        if (!*done) {
            SV_TRY(add(p, d, old_row(p, d), old_row(p, d), SV__OLD_SLS, &closed));
            continue;
        }
        sv_bit_set(p->fine, d);
        p->steps += settle_in(p, d, who);
    }
    return SV_OK;
}

/* Moves what can move, with as few silent as possible; false: it is stuck. */
static sv_status move_some(struct plan *p, enum silence least, enum silence most, bool *moved)
{
    uint32_t before = p->num_moved;
    bool done;
    for (enum silence who = least; who <= most && p->num_moved == before; who++) {
        SV_TRY(move_group(p, who));
        if (p->num_moved == before && who != HUSHED)
            SV_TRY(move_finely(p, who, &done));
    }
    *moved = p->num_moved > before;
    return SV_OK;
}

static void begin_again(struct plan *p)
{
    size_t words = sv_bitset_words(p->x.after->num_destinations) + 1;
    memset(p->moved, 0, words * sizeof *p->moved);
    memset(p->fine, 0, words * sizeof *p->fine);
    memset(p->repath, 0, words * sizeof *p->repath);
    memset(p->hushed, 0, words * sizeof *p->hushed);
    memset(p->u->first_step, 0xff, p->x.after->num_destinations * sizeof *p->u->first_step);
    memset(p->last_step, 0xff, p->x.after->num_destinations * sizeof *p->last_step);
    p->num_moved = 0;
    p->steps = p->u->lanes;
}

/* All destinations that are left in one group, each by its levels. */
static void move_rest(struct plan *p, enum silence who)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->num_changed; i++) {
        if (sv_bit(p->moved, p->changed[i]))
            continue;
        uint32_t levels = settle_in(p, p->changed[i], who);
        most = levels > most ? levels : most;
    }
    p->steps += most;
}

static void move_together(struct plan *p, enum silence who)
{
    begin_again(p);
    move_rest(p, who);
}

/*
 * Moves everything, group after group. *done: false if it is stuck, or takes too many steps.
 * From REPATH to HUSHED it never is stuck: whatever is left then moves at once, because who moved
 * before holds new SLs only, and what is left is silent: all that is there belongs to the new
 * tables.
 */
static sv_status move_all(struct plan *p, enum silence least, enum silence most, bool *done)
{
    bool closed, moved = true;
    begin_again(p);
    sv__graph_release(&p->graph);
    SV_TRY(sv__graph_init(&p->graph, p->ctx, p->arena, p->x.f->num_channels * p->x.lanes));
    SV_TRY(add_old(p, &closed));
    if (closed)
        snprintf(p->u->why, sizeof p->u->why, "the old tables can deadlock by themselves");
    while (!closed && moved && p->num_moved < p->num_changed && p->steps <= p->most_steps)
        SV_TRY(move_some(p, least, most, &moved));
    *done = !closed && p->num_moved == p->num_changed && p->steps <= p->most_steps;
    if (!*done && !closed)
        snprintf(p->u->why, sizeof p->u->why,
                 p->steps > p->most_steps
                     ? "it would take more than %u steps; %u of %u destinations could be moved"
                     : "after %u steps nothing could be moved any more; %u of %u destinations were",
                 p->steps > p->most_steps ? p->most_steps : p->steps, p->num_moved, p->num_changed);
    if (!*done && !closed && least == REPATH && most == HUSHED && p->steps <= p->most_steps) {
        move_rest(p, HUSHED);
        *done = true;
    }
    return SV_OK;
}

/* ---- which way ---- */

/* Groups: with nobody silent, then pairs whose SL changes, then those whose path does. */
static sv_status move_in_groups(struct plan *p)
{
    bool done = false;
    uint64_t work = (uint64_t)p->x.f->num_switches * p->x.after->num_destinations;
    p->u->settle = true;
    if (work > MOST_WORK) {
        snprintf(p->u->why, sizeof p->u->why,
                 "the fabric is too large to look for groups of destinations");
    } else {
        SV_TRY(move_all(p, NOBODY, REPATH, &done));
        if (!done)
            SV_TRY(move_all(p, REPATH, REPATH, &done));
        p->u->moved = p->num_moved;
        if (!done)
            SV_TRY(move_all(p, NOBODY, HUSHED, &done));
        if (!done)
            SV_TRY(move_all(p, REPATH, HUSHED, &done));
    }
    if (!done)
        move_together(p, HUSHED);
    return SV_OK;
}

/* SL-to-lane tables change first, if that is safe by itself. */
static sv_status try_lanes(struct plan *p, bool *safe)
{
    sv_transition *found = NULL;
    *safe = true;
    if (!p->u->lanes)
        return SV_OK;
    SV_TRY(sv__verify_union(&p->x, true, &found));
    *safe = !found->discards && found->deadlock_free == SV_VERDICT_YES;
    sv_transition_free(found);
    if (!*safe)
        snprintf(p->u->why, sizeof p->u->why,
                 "SL-to-lane tables change, and old and new ones together can deadlock");
    return SV_OK;
}

/* Everybody is silent, to all destinations. */
static void hush_all(struct plan *p)
{
    p->u->settle = true;
    p->u->moved = 0;
    move_together(p, HUSHED);
    memset(p->hushed, 0xff, sv_bitset_words(p->x.after->num_destinations) * sizeof *p->hushed);
}

static sv_status choose(struct plan *p)
{
    sv_transition *found = NULL;
    bool lanes_safe;
    SV_TRY(sv__verify_union(&p->x, false, &found));
    bool flows = !found->discards && found->deadlock_free == SV_VERDICT_YES;
    bool arrives = found->looping == 0 && found->dead_ends == found->broken;
    sv_transition_free(found);
    p->u->moved = p->num_changed;
    if (flows && arrives) {
        p->u->way = SV_UPDATE_AT_ONCE;
        begin_again(p);
        for (uint32_t i = 0; i < p->num_changed; i++)
            p->u->first_step[p->changed[i]] = p->last_step[p->changed[i]] = 0;
        p->steps = 1;
        return SV_OK;
    }
    p->u->way = SV_UPDATE_STEPS;
    SV_TRY(try_lanes(p, &lanes_safe));
    if (flows) {
        move_together(p, NOBODY);
        return SV_OK;
    }
    if (!lanes_safe) {
        hush_all(p);
        return SV_OK;
    }
    return move_in_groups(p);
}

/* ---- what comes of it ---- */

static int by_step(const void *a, const void *b)
{
    const sv_update_entry *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->s.i != y->s.i)
        return x->s.i < y->s.i ? -1 : 1;
    return x->destination < y->destination ? -1 : x->destination > y->destination;
}

static sv_status list_entries(struct plan *p)
{
    sv_update *u = p->u;
    uint64_t room = 0;
    for (uint32_t i = 0; i < p->num_changed; i++)
        for (uint32_t s = 0; s < p->x.f->num_switches; s++)
            room += sv__changes(&p->x, s, p->changed[i]);
    u->entries = SV_STORE_NEW(u->store, p->ctx, sv_update_entry, room + 1);
    if (u->entries == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < p->num_changed; i++) {
        uint32_t d = p->changed[i], block = sv__routes_block(p->x.after, d);
        bool stepwise = u->way != SV_UPDATE_AT_ONCE;
        if (stepwise)
            sv__level(&p->levels, d, sv_bit(p->fine, d));
        for (uint32_t s = 0; s < p->x.f->num_switches; s++)
            if (sv__changes(&p->x, s, d))
                u->entries[u->num_entries++] = (sv_update_entry){
                    {s}, d, block, u->first_step[d] + (stepwise ? p->levels.level[s] : 0)};
    }
    if (u->num_entries > 0)
        qsort(u->entries, u->num_entries, sizeof *u->entries, by_step);
    for (uint64_t i = 0; i < u->num_entries; i++)
        u->writes += i == 0 || u->entries[i].step != u->entries[i - 1].step ||
                     u->entries[i].block != u->entries[i - 1].block ||
                     u->entries[i].s.i != u->entries[i - 1].s.i;
    return sv_routes_changed_blocks(p->ctx, p->x.f, p->x.before, p->x.after, &u->blocks);
}

static sv_status conclude(struct plan *p)
{
    const sv__silence silence = {p->repath, p->hushed};
    sv_update *u = p->u;
    bool hushed = false;
    u->steps = p->steps;
    SV_TRY(list_entries(p));
    SV_TRY(sv__list_pairs(&p->x, p->arena, &silence, p->last_step, u));
    for (uint32_t d = 0; d < p->x.after->num_destinations; d++)
        hushed |= sv_bit(p->hushed, d);
    if (hushed) {
        u->way = SV_UPDATE_NEVER;
    } else if (u->must_pairs > 0) {
        u->way = SV_UPDATE_REPATH;
        snprintf(u->why, sizeof u->why,
                 "with the SLs that %llu pairs hold from before there could be a deadlock",
                 (unsigned long long)u->must_pairs);
    } else {
        u->why[0] = 0;
    }
    return SV_OK;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Destinations that change, by block. */
static sv_status list_changed(struct plan *p)
{
    uint32_t n = p->x.after->num_destinations;
    uint64_t *keys = SV_ARENA_NEW(p->arena, uint64_t, n + 1);
    p->changed = SV_ARENA_NEW(p->arena, uint32_t, n + 1);
    p->group = SV_ARENA_NEW(p->arena, uint32_t, n + 1);
    p->last_step = SV_ARENA_NEW(p->arena, uint32_t, n + 1);
    p->moved = sv_bitset_new(p->arena, n);
    p->fine = sv_bitset_new(p->arena, n);
    p->repath = sv_bitset_new(p->arena, n);
    p->hushed = sv_bitset_new(p->arena, n);
    p->u->first_step = SV_STORE_NEW(p->u->store, p->ctx, uint32_t, n + 1);
    if (keys == NULL || p->changed == NULL || p->group == NULL || p->last_step == NULL ||
        p->moved == NULL || p->fine == NULL || p->repath == NULL || p->hushed == NULL ||
        p->u->first_step == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < n; d++) {
        bool differs = sv__sls_change(&p->x, d);
        for (uint32_t s = 0; !differs && s < p->x.f->num_switches; s++)
            differs = sv__changes(&p->x, s, d);
        if (differs && sv_node_alive(p->x.f, p->x.after->node[d]))
            keys[p->num_changed++] = (uint64_t)sv__routes_block(p->x.after, d) << 32 | d;
    }
    if (p->num_changed > 0)
        qsort(keys, p->num_changed, sizeof *keys, ascending);
    for (uint32_t i = 0; i < p->num_changed; i++)
        p->changed[i] = (uint32_t)keys[i];
    begin_again(p);
    return SV_OK;
}

/* Whether tables are fit for a plan. */
static sv_status check(struct plan *p)
{
    sv_verification *found = NULL;
    SV_TRY(sv_verify(p->ctx, p->x.f, p->x.after, NULL, &found));
    sv_verdict free = found->deadlock_free[p->x.traffic];
    uint64_t loops = found->loops;
    sv_verification_free(found);
    if (free != SV_VERDICT_YES || loops > 0)
        return sv_fail(p->ctx, SV_BAD_INPUT, "the new tables %s",
                       loops > 0               ? "make packets go in circles"
                       : free == SV_VERDICT_NO ? "can deadlock by themselves"
                                               : "may deadlock by themselves: that cannot be told");
    const sv_verify_options quick = {.quick = true};
    SV_TRY(sv_verify(p->ctx, p->x.f, p->x.before, &quick, &found));
    p->circles = found->loops > 0;
    sv_verification_free(found);
    return SV_OK;
}

static sv_status make(struct plan *p)
{
    SV_TRY(sv__gather_init(&p->gather, &p->x, p->arena));
    SV_TRY(sv__levels_init(&p->levels, &p->x, p->arena));
    SV_TRY(check(p));
    p->u->lanes = sv__lanes_change(&p->x);
    SV_TRY(list_changed(p));
    if (p->num_changed == 0 && !p->u->lanes)
        return SV_OK;
    if (p->circles) {
        snprintf(p->u->why, sizeof p->u->why, "the old tables make packets go in circles");
        hush_all(p);
    } else {
        SV_TRY(choose(p));
    }
    return conclude(p);
}

/* Nothing of the above is believed. What is safe in any order was judged already. */
static sv_status prove(const struct plan *p)
{
    const sv__sides *x = &p->x;
    const sv_update *u = p->u;
    uint32_t bad;
    if (u->way == SV_UPDATE_NOTHING || u->way == SV_UPDATE_AT_ONCE || u->pairs == NULL ||
        p->circles)
        return SV_OK;
    SV_TRY(sv_update_prove(p->ctx, x->f, x->before, x->after, u, x->traffic, &bad));
    if (bad == SV_NONE)
        return SV_OK;
    return sv_fail(p->ctx, SV_INFEASIBLE, "step %u of %u does not hold (please report this)",
                   bad + 1, u->steps);
}

static sv_status run(struct plan *p, const sv_fabric *fabric, const sv_routes *before,
                     const sv_routes *after, const sv_update_request *request)
{
    static const sv_update_request usual = {.traffic = SV_TRAFFIC_MANAGED};
    request = request != NULL ? request : &usual;
    uint64_t begun = sv_now_ns(p->ctx);
    p->most_steps = request->most_steps > 0 ? request->most_steps : MOST_STEPS;
    SV_TRY(sv__sides_init(&p->x, p->arena, p->ctx, fabric, before, after, request->traffic));
    sv_status status = make(p);
    sv__gather_release(&p->gather);
    sv__graph_release(&p->graph);
    if (status != SV_OK)
        return status;
    uint64_t planned = sv_now_ns(p->ctx);
    p->u->plan_ns = planned - begun;
    if (!request->unproven)
        SV_TRY(prove(p));
    p->u->prove_ns = sv_now_ns(p->ctx) - planned;
    return SV_OK;
}

sv_status sv_update_plan(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *before,
                         const sv_routes *after, const sv_update_request *request,
                         sv_update **update)
{
    sv__store *store = sv__store_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    struct plan p = {.ctx = ctx, .arena = &arena};
    p.u = SV_STORE_NEW(store, ctx, sv_update, 1);
    sv_status status = p.u == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        p.u->store = store;
        status = run(&p, fabric, before, after, request);
    }
    sv_arena_release(&arena);
    if (status == SV_OK)
        *update = p.u;
    else
        sv__store_drop(store);
    return status;
}

void sv_update_free(sv_update *update)
{
    if (update != NULL)
        sv__store_drop(update->store);
}

const char *sv_update_way_name(sv_update_way way)
{
    static const char *const names[SV_UPDATE_WAYS] = {
        "nothing changes", "in any order", "step by step",
        "step by step, with pairs whose SLs change silent meanwhile",
        "step by step, with pairs whose paths change silent meanwhile"};
    return way < SV_UPDATE_WAYS ? names[way] : "?";
}
