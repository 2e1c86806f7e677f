/*
 * verify.c: the verdicts on tables.
 *
 * All unicast packets come first: if their dependencies can be put in order, so can those of any
 * part of them. Only when they cannot are the kinds of traffic looked at one by one, for what a
 * cycle needs (it may need switches that talk to switches, which hardly happens) and to show the
 * cycle that matters most.
 *
 * SLs that nobody told: if all SLs at once leave no cycle, none of them can make one, and the
 * answer is yes whatever senders do. If there is a cycle without the pairs whose SL is not known,
 * it is no. In between it cannot be decided, and is not guessed. Where all SLs go the same VLs
 * nothing is unknown. VLs that nobody told: with
 * everything on one VL, no cycle there means none anywhere.
 *
 * Cost: one walk over all rows (rows.c) where the answer is yes, up to eight otherwise.
 */
#include <selvage/verify.h>

#include "base/pool.h"
#include "verify/judge.h"

struct court {
    sv_ctx *ctx;
    const sv__verify_case *c;
    sv_arena *arena;
    sv__deps deps;
    sv_verification *v;
    uint32_t *place; /* [channels × VLs] */
};

/* Keeps the order that was found, from 1 on, so that there is room below. */
static sv_status keep_order(struct court *t)
{
    const sv_fabric *f = t->c->fabric;
    unsigned vls = t->c->vls;
    const uint32_t *first = t->c->ports.first;
    size_t count = (size_t)first[f->num_switches] * vls;
    uint32_t *order = SV_POOL_NEW(t->v->store, t->ctx, uint32_t, count + 1);
    if (order == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        order[i] = SV_NONE;
    for (uint32_t c = 0; c < f->num_channels; c++)
        for (unsigned l = 0; l < vls && sv_joins_switches(f, (sv_channel){c}); l++)
            order[(size_t)(first[f->tail[c].i] + f->port[c]) * vls + l] =
                t->place[(size_t)c * vls + l] + 1;
    t->v->order = order;
    t->v->order_vls = vls;
    return SV_OK;
}

/* Whether dependencies have no cycle; one that they have is kept, if it is the first. */
static sv_status ordered(struct court *t, sv_traffic traffic, sv__unknown unknown, bool groups,
                         bool *yes)
{
    sv__vertex *cycle;
    size_t length;
    sv_arena arena;
    sv_arena_init(&arena, t->ctx);
    sv_status status = sv__deps_order(&t->deps, &arena, t->place, &cycle, &length);
    bool certain = unknown == SV__UNKNOWN_NONE && !t->v->vls_unknown;
    if (status == SV_OK && length > 0 &&
        (t->v->cycle == NULL || (certain && !t->v->cycle_certain))) {
        status =
            sv__explain(t->ctx, t->c, traffic, unknown, cycle, length, t->v->store, &t->v->cycle);
        t->v->cycle_length = length;
        t->v->cycle_traffic = traffic;
        t->v->cycle_certain = certain;
        t->v->cycle_multicast = groups;
    }
    sv_arena_release(&arena);
    *yes = status == SV_OK && length == 0;
    return status;
}

/* Walks one kind of traffic afresh and says whether there is no cycle. */
static sv_status try_traffic(struct court *t, sv_traffic traffic, sv__unknown unknown, bool groups,
                             bool *yes)
{
    sv__deps_clear(&t->deps);
    SV_TRY(sv__walk_all(t->ctx, t->c, traffic, unknown, &t->deps, NULL));
    if (groups)
        SV_TRY(sv__walk_groups(t->ctx, t->c, &t->deps));
    return ordered(t, traffic, unknown, groups, yes);
}

/* The verdict on a kind of traffic for which all SLs at once leave a cycle. */
static sv_status try_known(struct court *t, sv_traffic traffic, bool groups, sv_verdict *verdict)
{
    bool yes;
    *verdict = SV_VERDICT_UNKNOWN;
    if (t->v->vls_unknown)
        return SV_OK;
    SV_TRY(try_traffic(t, traffic, SV__UNKNOWN_NONE, groups, &yes));
    if (!yes)
        *verdict = SV_VERDICT_NO;
    return SV_OK;
}

static sv_status judge_traffic(struct court *t, sv_traffic traffic, bool groups,
                               sv_verdict *verdict)
{
    bool yes;
    SV_TRY(try_traffic(t, traffic, SV__UNKNOWN_ANY, groups, &yes));
    *verdict = SV_VERDICT_YES;
    if (!yes)
        return try_known(t, traffic, groups, verdict);
    return groups ? SV_OK : keep_order(t); /* larger kinds come later */
}

static sv_status judge_unicast(struct court *t, bool all_ordered)
{
    sv_verification *v = t->v;
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++) {
        v->deadlock_free[k] = SV_VERDICT_YES;
        if (!all_ordered && t->c->options.quick)
            v->deadlock_free[k] = SV_VERDICT_UNJUDGED;
        else if (!all_ordered)
            SV_TRY(judge_traffic(t, (sv_traffic)k, false, &v->deadlock_free[k]));
        v->on_sl0[k] = v->deadlock_free[k];
        if (v->deadlock_free[k] == SV_VERDICT_UNKNOWN) {
            bool yes;
            SV_TRY(try_traffic(t, (sv_traffic)k, SV__UNKNOWN_ZERO, false, &yes));
            v->on_sl0[k] = yes ? SV_VERDICT_YES : SV_VERDICT_NO;
        }
    }
    return SV_OK;
}

static sv_status judge_multicast(struct court *t)
{
    sv_verification *v = t->v;
    bool yes;
    if (t->c->routes->num_groups == 0) {
        v->multicast = SV_VERDICT_YES;
        for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
            v->together[k] = v->deadlock_free[k];
        return SV_OK;
    }
    if (t->c->options.quick)
        return SV_OK; /* multicast stays unjudged, and so does what needs it */
    sv__deps_clear(&t->deps);
    SV_TRY(sv__walk_groups(t->ctx, t->c, &t->deps));
    SV_TRY(ordered(t, SV_TRAFFIC_TERMINALS, SV__UNKNOWN_NONE, true, &yes));
    v->multicast = yes ? SV_VERDICT_YES : v->vls_unknown ? SV_VERDICT_UNKNOWN : SV_VERDICT_NO;
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
        SV_TRY(judge_traffic(t, (sv_traffic)k, true, &v->together[k]));
    return SV_OK;
}

/* An SL that nobody told and that would have decided shows as an undecided verdict. */
static void note_unknown(sv_verification *v)
{
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
        v->sl_unknown |= v->together[k] == SV_VERDICT_UNKNOWN && !v->vls_unknown;
}

/* Why the example of a lost pair is lost: with the first of its SLs that does not arrive. */
static void explain_lost(const sv__verify_case *c, sv_verification *v,
                         const sv__verify_tally *tally)
{
    sv_lost_pair *lost = &v->lost;
    *lost = (sv_lost_pair){tally->lost_from, SV_NO_NODE, tally->lost_destination, 0};
    if (lost->from.i == SV_NONE)
        return;
    uint64_t sls = sv__case_sls(c, lost->from, lost->destination, SV__UNKNOWN_ANY);
    uint32_t count;
    for (lost->why = SV_TRACE_ARRIVED; sls != 0 && lost->why == SV_TRACE_ARRIVED; sls &= sls - 1)
        lost->why =
            (uint8_t)sv_routes_trace(c->fabric, c->routes, lost->from, lost->destination,
                                     (unsigned)__builtin_ctzll(sls), NULL, 0, &count, &lost->at);
}

static sv_status judge(struct court *t)
{
    sv_verification *v = t->v;
    sv__verify_tally tally;
    bool yes;
    v->sl_unknown =
        t->c->routes->sl_form == SV_SL_UNKNOWN && !t->c->options.assume && t->c->sl_matters;
    v->vls_unknown = !t->c->routes->sl2vl_known;
    if (!t->c->options.quick)
        t->place = SV_ARENA_NEW(t->arena, uint32_t, (size_t)t->c->fabric->num_channels * t->c->vls);
    if (t->place == NULL && !t->c->options.quick)
        return SV_NO_MEMORY;
    SV_TRY(sv__deps_init(&t->deps, t->arena, t->c->fabric, &t->c->ports, t->c->vls, false));
    SV_TRY(sv__walk_all(t->ctx, t->c, SV_TRAFFIC_ALL, SV__UNKNOWN_ANY, &t->deps, &tally));
    for (int i = 0; i < SV_PAIRS_COUNT; i++) {
        v->pairs[i] = tally.pairs[i];
        v->unreachable[i] = tally.unreachable[i];
    }
    v->split_pairs = tally.split_pairs;
    v->loops = tally.loops;
    v->loop_destination = tally.loop_destination;
    v->loop_at = tally.loop_at;
    v->dependencies = sv__deps_count(&t->deps, true);
    v->vls_used = sv__deps_vls_used(&t->deps);
    explain_lost(t->c, v, &tally);
    sv__vertex *cycle;
    size_t length;
    SV_TRY(sv__deps_order(&t->deps, t->arena, t->place, &cycle, &length));
    yes = length == 0;
    if (yes && t->place != NULL)
        SV_TRY(keep_order(t));
    SV_TRY(judge_unicast(t, yes));
    SV_TRY(judge_multicast(t));
    if (!t->c->options.quick)
        note_unknown(v);
    return SV_OK;
}

sv_status sv_verify(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                    const sv_verify_options *options, sv_verification **result)
{
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv__verify_case c;
    struct court t = {.ctx = ctx, .c = &c, .arena = &arena};
    t.v = SV_POOL_NEW(store, ctx, sv_verification, 1);
    sv_status status = t.v == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        t.v->store = store;
        status = sv__case_init(&c, &arena, fabric, routes, options);
    }
    if (status == SV_OK)
        status = judge(&t);
    sv_arena_release(&arena);
    if (status == SV_OK)
        *result = t.v;
    else
        sv__pool_drop(store);
    return status;
}

void sv_verification_free(sv_verification *v)
{
    if (v != NULL)
        sv__pool_drop(v->store);
}
