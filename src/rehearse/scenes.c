/*
 * scenes.c: from step to step.
 *
 * At once is one step with all blocks that differ, by block and then by switch, as OpenSM sends
 * them. By a plan each step goes: those who are to be silent in it are told, and answer when their
 * packets have arrived; its blocks are written, with what is right in all 64 entries then; where
 * the plan says so, packets of before leave. Whoever need not be silent any more hears of it with
 * the next step, or at the end.
 *
 * Invariants: a step's blocks go out when all that it waits for has been answered. If somebody does
 * not answer at all (`tries`), no further step begins: what came after would count on it.
 *
 * Cost: linear in the entries that change, and for each step in switches and terminals.
 */
#include <string.h>

#include "base/bitset.h"
#include "rehearse/trial.h"
#include "routes/routes.h"

static const sv_update *plan_of(const sv__trial *x)
{
    return x->q->way == SV_REHEARSE_AT_ONCE ? NULL : x->q->plan;
}

/* Whether a pair of the plan is one that is to be silent here. Nobody sends to switches. */
static bool heeds(const sv__trial *x, const sv_update_pair *pair)
{
    if (sv_is_switch(x->f, x->after->node[pair->destination]))
        return false;
    return x->q->way == SV_REHEARSE_HOLD ||
           (x->q->way == SV_REHEARSE_STEPS && /*~silent_untold*/ pair->must);
}

/* Notes that a terminal hears of a pair's first step, and of that after its last. */
static void tell_of(sv__trial *x, uint32_t terminal, const sv_update_pair *pair)
{
    size_t n = x->f->num_terminals;
    sv_bit_set(x->tells, pair->from_step * n + terminal);
    /*~speak_untold*/ sv_bit_set(x->tells, (pair->to_step + 1) * n + terminal);
}

/* One pair of the plan: where it is found again, and who hears of it. */
static sv_status note_pair(sv__trial *x, const sv_update_pair *pair)
{
    uint32_t held;
    uint64_t key = (uint64_t)pair->from.i << 32 | pair->destination;
    SV_TRY(sv_map_add(&x->plan_of, key, (uint32_t)x->spans.length, &held));
    if (held == x->spans.length) {
        SV_TRY(sv_array_push(x->ctx, &x->spans, *pair));
    } else {
        sv_update_pair *span = &x->spans.at[held];
        span->from_step = pair->from_step < span->from_step ? pair->from_step : span->from_step;
        span->to_step = pair->to_step > span->to_step ? pair->to_step : span->to_step;
        pair = span;
    }
    if (!sv_is_switch(x->f, pair->from)) {
        tell_of(x, pair->from.i - x->f->num_switches, pair);
        return SV_OK;
    }
    for (uint32_t i = x->homes[pair->from.i]; i < x->homes[pair->from.i + 1]; i++)
        tell_of(x, x->at_home[i], pair);
    return SV_OK;
}

/* Terminals by their switch. */
static sv_status list_homes(sv__trial *x)
{
    const uint32_t *home = x->after->home;
    x->homes = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)x->f->num_switches + 2);
    x->at_home = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)x->f->num_terminals + 1);
    if (x->homes == NULL || x->at_home == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < x->f->num_terminals; t++)
        if (home[t] != SV_NONE)
            x->homes[home[t] + 2]++;
    for (uint32_t s = 2; s < x->f->num_switches + 2; s++)
        x->homes[s] += x->homes[s - 1];
    for (uint32_t t = 0; t < x->f->num_terminals; t++)
        if (home[t] != SV_NONE)
            x->at_home[x->homes[home[t] + 1]++] = t;
    return SV_OK;
}

enum { UNSEEN, ON_WAY, GOOD, BAD };

/* Which switches' packets for a destination arrive by old tables. */
static void mark_old(const sv__trial *x, uint32_t d, uint8_t *mark, uint32_t *stack)
{
    const sv_fabric *f = x->f;
    memset(mark, UNSEEN, f->num_switches);
    for (uint32_t start = 0; start < f->num_switches; start++) {
        uint32_t depth = 0, s = start;
        uint8_t end = BAD;
        while (s < f->num_switches && mark[s] == UNSEEN) {
            unsigned port = sv_route_port(x->before, (sv_node){s}, d);
            sv_channel c = port == 0 || port == SV_NO_PORT ? SV_NO_CHANNEL
                                                           : sv_channel_at(f, (sv_node){s}, port);
            mark[s] = ON_WAY;
            stack[depth++] = s;
            s = c.i == SV_NONE ? SV_NONE : f->head[c.i].i;
        }
        if (s < f->num_switches)
            end = mark[s] == ON_WAY ? BAD : mark[s];
        else if (s == x->before->node[d].i)
            end = GOOD;
        while (depth > 0)
            mark[stack[--depth]] = end;
    }
}

/*
 * Pairs that old tables do not join are in no plan: there is nothing to keep. But on the way some
 * mixture may join them, and a later one otherwise. So they are silent as long as entries of their
 * destination change.
 */
static sv_status note_broken(sv__trial *x, const sv_update *plan)
{
    uint32_t n = x->after->num_destinations;
    uint32_t *last = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)n + 1);
    uint32_t *stack = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)x->f->num_switches + 1);
    uint8_t *mark = SV_ARENA_NEW(&x->arena, uint8_t, (size_t)x->f->num_switches + 1);
    if (last == NULL || stack == NULL || mark == NULL)
        return SV_NO_MEMORY;
    for (uint64_t i = 0; i < plan->num_entries; i++) /* by step */
        last[plan->entries[i].destination] = plan->entries[i].step + 1;
    for (uint32_t d = 0; d < n; d++) {
        if (last[d] == 0 || sv_is_switch(x->f, x->after->node[d]))
            continue;
        mark_old(x, d, mark, stack);
        for (uint32_t s = 0; s < x->f->num_switches; s++)
            if (mark[s] == BAD)
                SV_TRY(note_pair(x, &(sv_update_pair){.from = {s},
                                                      .destination = d,
                                                      .from_step = plan->first_step[d],
                                                      .to_step = last[d] - 1}));
    }
    return SV_OK;
}

sv_status sv__scene_init(sv__trial *x)
{
    const sv_update *plan = plan_of(x);
    x->steps = plan != NULL ? plan->steps : 1;
    if (x->q->way == SV_REHEARSE_AT_ONCE || x->q->way == SV_REHEARSE_FIVE)
        return SV_OK;
    if (plan == NULL)
        return sv_fail(x->ctx, SV_BAD_INPUT, "steps need a plan");
    if (plan->num_pairs > 0 && plan->pairs == NULL)
        return sv_fail(x->ctx, SV_INFEASIBLE, "more pairs than a plan lists would be silent");
    SV_TRY(list_homes(x));
    x->tells = sv_bitset_new(&x->arena, (size_t)(x->steps + 1) * x->f->num_terminals);
    if (x->tells == NULL)
        return SV_NO_MEMORY;
    for (uint64_t i = 0; i < plan->num_pairs; i++)
        if (heeds(x, &plan->pairs[i])) {
            if (plan->pairs[i].from_step > plan->pairs[i].to_step ||
                plan->pairs[i].to_step >= x->steps)
                return sv_fail(x->ctx, SV_BAD_INPUT, "a pair of the plan is silent in no step");
            SV_TRY(note_pair(x, &plan->pairs[i]));
        }
    return /*~broken_speak*/ x->q->way == SV_REHEARSE_HOLD ? note_broken(x, plan) : SV_OK;
}

/* ---- what a step writes ---- */

/* Whether some packet of a node would get another VL. */
static bool vls_differ(const sv__trial *x, sv_node v)
{
    unsigned ports = sv_is_switch(x->f, v) ? x->f->switches[v.i].ports : 0;
    for (unsigned in = 0; in <= ports; in++)
        for (unsigned out = 0; out <= ports; out++)
            if (memcmp(sv_route_sl2vl(x->before, x->f, v, in, out),
                       sv_route_sl2vl(x->after, x->f, v, in, out), sizeof(sv_sl2vl)) != 0)
                return true;
    return false;
}

static sv_status add_vls(sv__trial *x)
{
    for (uint32_t v = 0; v < sv_num_nodes(x->f); v++)
        if (sv_node_alive(x->f, (sv_node){v}) && vls_differ(x, (sv_node){v}))
            SV_TRY(sv__batch_add(x, SV__SET_VLS, (sv_node){v}, 0));
    return SV_OK;
}

/* All blocks that differ, by block and switch. */
static sv_status add_all(sv__trial *x)
{
    const sv_routes *a = x->before, *b = x->after;
    uint32_t blocks = 0, n = b->num_switches;
    for (uint32_t d = 0; d < b->num_destinations; d++)
        blocks = sv__routes_block(b, d) >= blocks ? sv__routes_block(b, d) + 1 : blocks;
    uint64_t *differ = sv_bitset_new(&x->arena, (size_t)blocks * n);
    if (differ == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < b->num_destinations; d++)
        for (uint32_t s = 0; (s = sv__rows_differ(a->ports[d], b->ports[d], s, n)) < n; s++)
            if (sv_node_alive(x->f, (sv_node){s}))
                sv_bit_set(differ, (size_t)sv__routes_block(b, d) * n + s);
    for (size_t i = 0; i < (size_t)blocks * n; i++)
        if (sv_bit(differ, i))
            SV_TRY(
                sv__batch_add(x, SV__SET_BLOCK, (sv_node){(uint32_t)(i % n)}, (uint32_t)(i / n)));
    return SV_OK;
}

/* Entries of the plan's present step, which are sorted by block and switch. */
static sv_status add_step(sv__trial *x, const sv_update *plan)
{
    uint32_t block = SV_NONE, s = SV_NONE;
    for (; x->entry < plan->num_entries && plan->entries[x->entry].step == x->step; x->entry++) {
        const sv_update_entry *e = &plan->entries[x->entry];
        uint8_t *row = sv_routes_row(x->ctx, x->tables, e->destination);
        if (row == NULL)
            return SV_NO_MEMORY;
        /*~step_last*/ row[e->s.i] = x->after->ports[e->destination][e->s.i];
        if (e->block != block || e->s.i != s)
            SV_TRY(sv__batch_add(x, SV__SET_BLOCK, e->s, e->block));
        block = e->block;
        s = e->s.i;
    }
    return SV_OK;
}

static sv_status write_step(sv__trial *x)
{
    const sv_update *plan = plan_of(x);
    x->scene = SV__SCENE_WRITE;
    x->begun = x->step + 1;
    sv__batch_clear(x);
    if (x->step == 0)
        SV_TRY(sv_routes_clone(x->ctx, plan != NULL ? x->before : x->after, &x->tables));
    if (/*~vls_kept*/ x->step == 0 && (plan == NULL || plan->vls))
        SV_TRY(add_vls(x));
    SV_TRY(plan != NULL ? add_step(x, plan) : add_all(x));
    return sv__batch_send(x);
}

sv_status sv__scene_write(sv__trial *x)
{
    sv__phase_begin(x, 2);
    if (x->steps > 0)
        return write_step(x);
    x->scene = SV__SCENE_WRITE;
    sv__batch_clear(x);
    return sv__batch_send(x);
}

/* ---- silence ---- */

static sv_status tell(sv__trial *x, uint32_t step)
{
    size_t n = x->f->num_terminals;
    x->scene = step < x->steps ? SV__SCENE_TELL : SV__SCENE_RELEASE;
    sv__batch_clear(x);
    for (uint32_t t = 0; x->tells != NULL && t < n; t++)
        if (sv_bit(x->tells, step * n + t) &&
            sv_node_alive(x->f, (sv_node){x->f->num_switches + t}))
            SV_TRY(sv__batch_add(x, SV__TELL_STEP, (sv_node){x->f->num_switches + t}, step));
    return sv__batch_send(x);
}

/* ---- from one to the next ---- */

sv_status sv__scene_begin(sv__trial *x)
{
    sv__phase_begin(x, 1);
    if (x->q->way == SV_REHEARSE_FIVE)
        return sv__apps_begin(x);
    if (x->q->way == SV_REHEARSE_AT_ONCE || x->steps == 0)
        return sv__scene_write(x);
    return tell(x, 0);
}

void sv__scene_over(sv__trial *x, bool done)
{
    x->scene = SV__SCENE_OVER;
    x->report->done = done;
    if (done)
        sv__phase_begin(x, 4);
    if (x->q->rest > 0)
        sv__trial_note(x, x->now + x->q->rest, SV__DUE_REST, 0, 0, 0);
}

/* A step is over (or there was none to begin with). */
static sv_status next_step(sv__trial *x)
{
    x->report->steps += x->steps > 0;
    if (++x->step < x->steps)
        return x->q->way == SV_REHEARSE_FIVE ? write_step(x) : tell(x, x->step);
    if (x->q->way == SV_REHEARSE_FIVE)
        return sv__apps_programmed(x);
    sv__phase_begin(x, 3);
    return tell(x, x->steps);
}

sv_status sv__scene_settled(sv__trial *x, uint32_t step)
{
    return x->scene == SV__SCENE_SETTLE && x->step == step ? next_step(x) : SV_OK;
}

sv_status sv__scene_next(sv__trial *x)
{
    const sv_update *plan = plan_of(x);
    switch (x->scene) {
    case SV__SCENE_TELL:
        return x->step == 0 ? sv__scene_write(x) : write_step(x);
    case SV__SCENE_WRITE:
        if (/*~fail_unseen*/ x->batch.failed) {
            sv__scene_over(x, false);
            return SV_OK;
        }
        if (/*~step_waits*/ plan == NULL || !plan->settle)
            return next_step(x);
        x->scene = SV__SCENE_SETTLE;
        sv__packets_settle(x, x->step, x->now + x->q->settle);
        return SV_OK;
    case SV__SCENE_RELEASE:
        sv__scene_over(x, true);
        return SV_OK;
    default:
        return SV_OK;
    }
}
