/*
 * rehearse.c: an update of tables in the simulator: traffic runs over old tables, these are changed
 * block by block on the way, and what that does is counted.
 *
 * Idea: a director of the simulator (simulate.h) that plays the manager, the datagrams, the
 * switches' agents and the adapters' side of an update, on an agenda of what is to happen when.
 * Packets are the simulator's; the director sees them through a watch.
 *
 * Model: datagrams do not use the fabric; they take a drawn time, and get lost. Same request and
 * seed, same run.
 *
 * Cost: as the simulator, and O(log) for each datagram.
 */
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"
#include "rehearse/trial.h"

/* ---- acting ---- */

static sv_status handle(sv__trial *x, const sv__due *due)
{
    switch (due->kind) {
    case SV__DUE_BEGIN:
        return sv__scene_begin(x);
    case SV__DUE_REST:
        /*~traffic_ends*/ x->resting = true;
        x->rested = x->now;
        return SV_OK;
    case SV__DUE_DELIVER:
    case SV__DUE_ANSWER:
    case SV__DUE_RETRY:
    case SV__DUE_OVER:
        return sv__batch_due(x, due);
    case SV__DUE_SETTLED:
        return sv__scene_settled(x, due->a);
    case SV__DUE_DRAINED:
        return sv__pairs_drained(x, due->a, due->b);
    default:
        return sv__apps_due(x, due);
    }
}

static sv_status act(void *user, sv_sim_run *run, uint64_t now, uint64_t *again)
{
    sv__trial *x = user;
    sv__due due;
    x->run = run;
    x->now = now;
    x->acting = true;
    while (x->status == SV_OK && sv__trial_take(x, now, &due))
        x->status = handle(x, &due);
    x->acting = false;
    *again = x->agenda.length > 0 ? x->agenda.at[0].time : SV_NEVER;
    return x->status;
}

/* ---- what is refused ---- */

static sv_status check_five(sv__trial *x)
{
    const sv_routes *a = x->before, *b = x->after;
    if (b->lmc != 1)
        return sv_fail(x->ctx, SV_BAD_INPUT, "five phases need two addresses a terminal: LMC 1");
    for (uint32_t t = 0; t < b->num_terminals; t++) {
        uint32_t d = b->first[b->num_switches + t] + 1;
        bool same = memcmp(a->ports[d], b->ports[d], b->num_switches) == 0;
        for (uint32_t v = 0; same && v < sv_num_nodes(x->f); v++)
            same = sv_route_sl(a, (sv_node){v}, d) == sv_route_sl(b, (sv_node){v}, d);
        if (!same)
            return sv_fail(x->ctx, SV_BAD_INPUT,
                           "the high address of '%s' has other routes in the new tables",
                           sv_node_name(x->f, b->node[d]));
    }
    return SV_OK;
}

static sv_status check(sv__trial *x)
{
    const sv_rehearsal_request *q = x->q;
    const sv_routes *a = x->before, *b = x->after;
    if (a->num_switches != x->f->num_switches || a->num_terminals != x->f->num_terminals ||
        b->num_switches != a->num_switches || b->num_terminals != a->num_terminals ||
        a->num_destinations != b->num_destinations || a->lmc != b->lmc)
        return sv_fail(x->ctx, SV_BAD_INPUT, "tables that do not belong together");
    if (memcmp(a->lid, b->lid, b->num_destinations * sizeof *b->lid) != 0)
        return sv_fail(x->ctx, SV_BAD_INPUT, "tables of different LIDs");
    if (q->way >= SV_REHEARSE_WAYS || q->delay_min > q->delay_max || q->retry == 0 ||
        q->loss >= 1000)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "a rehearsal that cannot be: its way, delays, retry or loss");
    return q->way == SV_REHEARSE_FIVE ? check_five(x) : SV_OK;
}

/* ---- running ---- */

static sv_status judge(sv__trial *x)
{
    const sv_routes *const tables[] = {x->before, x->after};
    x->report->both_deadlock_free = true;
    for (int i = 0; i < 2; i++) {
        sv_verification *found = NULL;
        SV_TRY(sv_verify(x->ctx, x->f, tables[i], NULL, &found));
        x->report->both_deadlock_free &=
            found->deadlock_free[SV_TRAFFIC_TERMINALS] == SV_VERDICT_YES;
        sv_verification_free(found);
    }
    return SV_OK;
}

static sv_status run(sv__trial *x)
{
    const sv_rehearsal_request *q = x->q;
    sv_sim_source source = sv__packets_source;
    sv_sim_watch watch = sv__packets_watch;
    source.user = watch.user = x;
    source.messages = q->source->messages;
    const sv_sim_director director = {.user = x, .act = act, .open = sv__pairs_open};
    const sv_sim_setup setup = {.model = q->model,
                                .control = q->control,
                                .source = &source,
                                .watch = &watch,
                                .director = &director};
    sv__trial_note(x, q->begin, SV__DUE_BEGIN, 0, 0, 0);
    SV_TRY(x->status);
    SV_TRY(sv_simulate(x->ctx, x->f, x->before, &setup, &x->report->sim));
    SV_TRY(x->status);
    sv__phase_end(x, x->report->sim->time);
    x->report->together = x->report->sim->end != SV_SIM_DEADLOCK;
    sv__apps_count(x);
    return SV_OK;
}

static void release(sv__trial *x)
{
    sv__apps_release(x);
    sv_routes_free(x->tables);
    sv_array_release(x->ctx, &x->agenda);
    sv_array_release(x->ctx, &x->batch.items);
    sv_array_release(x->ctx, &x->pairs);
    sv_array_release(x->ctx, &x->spans);
    sv_array_release(x->ctx, &x->parcels);
    sv_array_release(x->ctx, &x->tracks);
    sv_array_release(x->ctx, &x->late);
    sv_map_release(&x->pair_of);
    sv_map_release(&x->plan_of);
    sv_arena_release(&x->arena);
}

static sv_status rehearse(sv__trial *x)
{
    SV_TRY(check(x));
    SV_TRY(sv__pairs_init(x));
    SV_TRY(sv__packets_init(x));
    SV_TRY(sv__scene_init(x));
    SV_TRY(sv__apps_init(x));
    SV_TRY(judge(x));
    return run(x);
}

sv_status sv_rehearse(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *before,
                      const sv_routes *after, const sv_rehearsal_request *request,
                      sv_rehearsal **rehearsal)
{
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_rehearsal *report = SV_POOL_NEW(store, ctx, sv_rehearsal, 1);
    if (report == NULL) {
        sv__pool_drop(store);
        return SV_NO_MEMORY;
    }
    report->store = store;
    sv__trial x = {
        .ctx = ctx, .f = fabric, .before = before, .after = after, .q = request, .report = report};
    sv_arena_init(&x.arena, ctx);
    sv_map_init(&x.pair_of, ctx);
    sv_map_init(&x.plan_of, ctx);
    sv_rng_init(&x.rng, request->seed);
    sv_status status = rehearse(&x);
    release(&x);
    if (status == SV_OK)
        *rehearsal = report;
    else
        sv_rehearsal_free(report);
    return status;
}

void sv_rehearsal_free(sv_rehearsal *rehearsal)
{
    if (rehearsal == NULL)
        return;
    sv_sim_free(rehearsal->sim);
    sv__pool_drop(rehearsal->store);
}
