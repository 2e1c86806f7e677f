/*
 * age.c: a fabric after some years without repairs.
 *
 * Idea: each part of each kind draws an exponential number of mean 1 from its kind's stream, in the
 * order of ids, dead parts too; the model turns that into the years it lives. Those that live too
 * short are sorted and fail one after the other, skipping those that would be critical at that
 * moment: somebody repairs them. More years only make the list longer at its end, so failures of
 * a few years are among those of many.
 *
 * Invariants: a part's number depends on seed, kind and id alone; what has failed stays so.
 * Cost: linear to draw, sorting, and a search of critical.c for each switch and link that fails.
 * Source: thesis 4.2 (fail in place: only critical failures are repaired), 4.1 (Weibull).
 */
#include <math.h>
#include <selvage/faults.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/rng.h"
#include "faults/critical.h"
#include "faults/model.h"

struct death {
    double years;
    sv_failure_kind kind;
    uint32_t id;
};

struct ageing {
    sv_ctx *ctx;
    const sv_fabric *f;
    sv_arena arena;
    sv__state state;
    bool *mortal;              /* [adapters]: of hosts, with a live port */
    uint32_t *next, *terminal; /* terminals of each adapter, as lists that end with SV_NONE */
    SV_ARRAY(struct death) deaths;
    sv_fault_report report;
};

/* ---- parts ---- */

static uint32_t ids_of(const sv_fabric *f, sv_failure_kind kind)
{
    return kind == SV_FAILURE_LINK     ? f->num_channels
           : kind == SV_FAILURE_SWITCH ? f->num_switches
                                       : f->num_adapters;
}

/* Whether an id stands for a part of the kind, dead or alive. */
static bool is_part(const sv_fabric *f, sv_failure_kind kind, uint32_t id)
{
    sv_channel c = {id};
    return kind != SV_FAILURE_LINK || (sv_is_cable(f, c) && sv_joins_switches(f, c));
}

static bool can_fail(const struct ageing *a, sv_failure_kind kind, uint32_t id)
{
    return kind == SV_FAILURE_LINK     ? sv_channel_alive(a->f, (sv_channel){id})
           : kind == SV_FAILURE_SWITCH ? sv_node_alive(a->f, (sv_node){id})
                                       : a->mortal[id];
}

static sv_status find_adapters(struct ageing *a)
{
    const sv_fabric *f = a->f;
    a->mortal = SV_ARENA_NEW(&a->arena, bool, f->num_adapters);
    a->terminal = SV_ARENA_NEW(&a->arena, uint32_t, f->num_adapters);
    a->next = SV_ARENA_NEW(&a->arena, uint32_t, f->num_terminals);
    if (a->mortal == NULL || a->terminal == NULL || a->next == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < f->num_adapters; i++)
        a->terminal[i] = SV_NONE;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        uint32_t of = f->terminals[t].adapter;
        a->next[t] = a->terminal[of];
        a->terminal[of] = t;
        if (f->adapters[of].kind == SV_ADAPTER_HOST &&
            sv_node_alive(f, (sv_node){f->num_switches + t}))
            a->mortal[of] = true;
    }
    return SV_OK;
}

sv_status sv_failure_parts(sv_ctx *ctx, const sv_fabric *fabric, uint32_t parts[SV_FAILURE_PARTS])
{
    struct ageing a = {.ctx = ctx, .f = fabric};
    sv_arena_init(&a.arena, ctx);
    sv_status status = find_adapters(&a);
    for (unsigned k = 0; status == SV_OK && k < SV_FAILURE_PARTS; k++) {
        parts[k] = 0;
        for (uint32_t id = 0; id < ids_of(fabric, k); id++)
            parts[k] += is_part(fabric, k, id) && can_fail(&a, k, id);
    }
    sv_arena_release(&a.arena);
    return status;
}

/* ---- lives ---- */

/* An exponential number of mean 1, never 0. */
static double strength(sv_rng *rng)
{
    return -log(((double)(sv_rng_next(rng) >> 11) + 0.5) * 0x1p-53);
}

static int by_years(const void *a, const void *b)
{
    const struct death *x = a, *y = b;
    if (x->years != y->years)
        return x->years < y->years ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static sv_status draw_lives(struct ageing *a, const sv_failure_model *model, double years,
                            uint64_t seed)
{
    /* Streams of their own, not those of sv_faults_draw. */
    static const uint64_t apart = UINT64_C(0x6c696665) << 32;
    for (unsigned kind = 0; kind < SV_FAILURE_PARTS; kind++) {
        sv_rng rng;
        sv_rng_init(&rng, (seed * 4 + kind) ^ apart);
        for (uint32_t id = 0; id < ids_of(a->f, kind); id++) {
            if (!is_part(a->f, kind, id))
                continue;
            double life = sv__failure_life(model, kind, strength(&rng));
            if (life <= years && can_fail(a, kind, id))
                SV_TRY(sv_array_push(a->ctx, &a->deaths, (struct death){life, kind, id}));
        }
    }
    if (a->deaths.length > 0)
        qsort(a->deaths.at, a->deaths.length, sizeof *a->deaths.at, by_years);
    return SV_OK;
}

/* ---- failing ---- */

static void fail_link(struct ageing *a, sv_channel c)
{
    if (sv_bit(a->state.dead_channels, c.i))
        return;
    if (sv__cable_is_critical(&a->state, c)) {
        a->report.critical++;
        return;
    }
    sv__fail_cable(&a->state, c);
    a->report.links++;
}

static void fail_switch(struct ageing *a, sv_node s)
{
    if (sv__switch_is_critical(&a->state, s)) {
        a->report.critical++;
        return;
    }
    a->report.lost_terminals += sv__fail_node(&a->state, s);
    a->report.switches++;
}

/* An adapter whose terminals all went with their switches is gone already. */
static void fail_adapter(struct ageing *a, uint32_t adapter)
{
    uint32_t lost = 0;
    for (uint32_t t = a->terminal[adapter]; t != SV_NONE; t = a->next[t]) {
        sv_node v = {a->f->num_switches + t};
        if (sv_node_alive(a->f, v) && !sv_bit(a->state.dead_nodes, v.i))
            lost += 1 + sv__fail_node(&a->state, v);
    }
    a->report.lost_terminals += lost;
    a->report.adapters += lost > 0;
}

static sv_status fail_all(struct ageing *a)
{
    for (size_t i = 0; i < a->deaths.length; i++) {
        const struct death *death = &a->deaths.at[i];
        SV_TRY(sv_progress(a->ctx, "failing", i, a->deaths.length));
        if (death->kind == SV_FAILURE_LINK)
            fail_link(a, (sv_channel){death->id});
        else if (death->kind == SV_FAILURE_SWITCH)
            fail_switch(a, (sv_node){death->id});
        else
            fail_adapter(a, death->id);
    }
    return SV_OK;
}

sv_status sv_faults_age(sv_ctx *ctx, const sv_fabric *fabric, const sv_failure_model *model,
                        double years, uint64_t seed, sv_mask *mask, sv_fault_report *report)
{
    struct ageing a = {.ctx = ctx, .f = fabric};
    if (!(years >= 0 && years <= SV__MAX_YEARS))
        return sv_refuse(ctx, "years are from 0 to %g, not %g", SV__MAX_YEARS, years);
    if (!sv__failure_model_good(model))
        return sv_fail(ctx, SV_BAD_INPUT, "a number of the failure model is out of its bounds");
    sv_arena_init(&a.arena, ctx);
    sv_status status = sv__state_init(&a.state, &a.arena, fabric);
    if (status == SV_OK)
        status = find_adapters(&a);
    if (status == SV_OK)
        status = draw_lives(&a, model, years, seed);
    if (status == SV_OK)
        status = fail_all(&a);
    if (status == SV_OK) {
        sv__state_mask(&a.state, mask);
        *report = a.report;
    }
    sv_array_release(ctx, &a.deaths);
    sv_arena_release(&a.arena);
    return status;
}
