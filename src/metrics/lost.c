/*
 * lost.c: routes lost when parts fail and nobody reroutes.
 *
 * Idea: with more failures, fewer are still among them (draw.c), so every channel and switch has in
 * each trial a first number of failures with which it is gone: an index into the plan's numbers,
 * one byte. The first that takes a route is the least on its way, which the tree of a destination
 * hands from switch to switch, for all trials of a batch in one go: minima of rows of bytes, which
 * compilers turn into vector instructions.
 *
 * Invariants: sums are integers and each trial has a seed of its own, so the number of threads does
 * not show. Of a batch, unused trials lose nothing.
 * Cost: O(switches × destinations × trials) byte operations, and the draws.
 * Source: thesis 4.2.3.1: Propositions 4.1 and 4.2, Figure 4.2.
 */
#include <selvage/faults.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/threads.h"
#include "metrics/tree.h"

enum { BATCH = 128, MAX_NUMBERS = 200 };

typedef struct row {
    uint8_t at[BATCH]; /* [trial of the batch] */
} row;

/* What a worker has for itself. */
struct part {
    sv__tree tree;
    row *end;             /* [switches]: what takes the route from there */
    uint64_t *lost;       /* [BATCH × (numbers + 1)] */
    uint64_t pairs, hops; /* of all routes; counted in the first batch */
};

struct study {
    const sv_fabric *fabric;
    const sv_routes *routes;
    const sv_lost_plan *plan;
    sv_portmap ports;
    uint32_t *terminals;
    row *gone, *away;       /* [switches], [channels]: what takes them */
    uint32_t first, trials; /* of the batch */
    struct part *parts;
};

/* ---- drawing ---- */

/* Notes what is gone with the number of failures of an index, and was not before. */
static void note(const struct study *c, const sv_mask *mask, uint32_t trial, uint8_t index)
{
    const sv_fabric *f = c->fabric;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_bit(mask->nodes, s) && index < c->gone[s].at[trial])
            c->gone[s].at[trial] = index;
    for (uint32_t k = 0; k < f->num_channels; k++)
        if (sv_bit(mask->channels, k) && index < c->away[k].at[trial])
            c->away[k].at[trial] = index;
}

static sv_status draw_one(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)worker;
    const struct study *c = arg;
    const sv_lost_plan *plan = c->plan;
    sv_status status = SV_OK;
    for (uint32_t i = 0; status == SV_OK && i < plan->count; i++) {
        sv_fault_plan faults = {.seed = plan->seed + c->first + piece};
        sv_fault_report report;
        *(plan->switches ? &faults.switches : &faults.links) =
            (sv_amount){false, plan->failures[i]};
        sv_mask *mask = sv_mask_new(ctx, c->fabric);
        status =
            mask == NULL ? SV_NO_MEMORY : sv_faults_draw(ctx, c->fabric, &faults, mask, &report);
        if (status == SV_OK)
            note(c, mask, (uint32_t)piece, (uint8_t)i);
        sv_mask_free(mask);
    }
    return status;
}

/* ---- counting ---- */

/* What takes the route from a switch: it, its channel, or what takes the rest. */
static void min(row *into, const row *a, const row *b, const row *c)
{
    for (unsigned i = 0; i < BATCH; i++) {
        uint8_t x = a->at[i] < b->at[i] ? a->at[i] : b->at[i];
        into->at[i] = x < c->at[i] ? x : c->at[i];
    }
}

static void count_destination(const struct study *c, struct part *p, uint32_t home)
{
    const sv_fabric *f = c->fabric;
    const sv__tree *t = &p->tree;
    uint32_t stride = c->plan->count + 1;
    for (uint32_t i = t->count; i-- > 0;) {
        uint32_t s = t->order[i], own = c->terminals[s] - (s == home);
        if (t->hops[s] == SV_NONE)
            continue;
        if (t->hops[s] == 0)
            p->end[s] = c->gone[s];
        else
            min(&p->end[s], &c->gone[s], &c->away[t->out[s]], &p->end[f->head[t->out[s]].i]);
        p->pairs += c->first == 0 ? own : 0;
        p->hops += c->first == 0 ? (uint64_t)own * t->hops[s] : 0;
        for (uint32_t trial = 0; own > 0 && trial < c->trials; trial++)
            p->lost[trial * stride + p->end[s].at[trial]] += own;
    }
}

static sv_status count_one(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct study *c = arg;
    const sv_fabric *f = c->fabric;
    struct part *p = &c->parts[worker];
    sv_node to = {f->num_switches + (uint32_t)piece};
    if (!sv_node_alive(f, to))
        return SV_OK;
    for (uint32_t d = c->routes->first[to.i]; d < c->routes->first[to.i + 1]; d++) {
        sv__tree_make(&p->tree, f, &c->ports, c->routes, d);
        count_destination(c, p, sv_switch_of(f, to).i);
    }
    return SV_OK;
}

/* Lost routes of a batch: the sum over workers, and over all numbers up to each. */
static void collect(const struct study *c, unsigned workers, uint64_t *samples)
{
    uint32_t stride = c->plan->count + 1;
    for (uint32_t trial = 0; trial < c->trials; trial++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < c->plan->count; i++) {
            for (unsigned w = 0; w < workers; w++)
                sum += c->parts[w].lost[trial * stride + i];
            samples[(size_t)i * c->plan->trials + c->first + trial] = sum;
        }
    }
}

static sv_status run_batches(sv_ctx *ctx, struct study *c, unsigned workers, uint64_t *samples)
{
    const sv_fabric *f = c->fabric;
    size_t lost = (size_t)BATCH * (c->plan->count + 1) * sizeof(uint64_t);
    for (c->first = 0; c->first < c->plan->trials; c->first += c->trials) {
        uint32_t left = c->plan->trials - c->first;
        c->trials = left < BATCH ? left : BATCH;
        memset(c->gone, (int)c->plan->count, f->num_switches * sizeof *c->gone);
        memset(c->away, (int)c->plan->count, f->num_channels * sizeof *c->away);
        for (unsigned w = 0; w < workers; w++)
            memset(c->parts[w].lost, 0, lost);
        SV_TRY(sv_parallel(ctx, "drawing failures", c->trials, draw_one, c));
        SV_TRY(sv_parallel(ctx, "counting lost routes", f->num_terminals, count_one, c));
        collect(c, workers, samples);
    }
    return SV_OK;
}

/* ---- summing up ---- */

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The value a fraction of the way through sorted numbers, between two of them interpolated. */
static double quantile(const uint64_t *sorted, uint32_t count, double fraction)
{
    double place = fraction * (count - 1);
    uint32_t below = (uint32_t)place;
    double low = (double)sorted[below], high = (double)sorted[below + (below + 1 < count)];
    return low + (high - low) * (place - below);
}

static sv_lost describe(uint32_t failures, uint64_t *samples, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)samples[i];
    qsort(samples, count, sizeof *samples, ascending);
    return (sv_lost){.failures = failures,
                     .min = samples[0],
                     .q1 = quantile(samples, count, 0.25),
                     .median = quantile(samples, count, 0.5),
                     .q3 = quantile(samples, count, 0.75),
                     .max = samples[count - 1],
                     .mean = sum / count};
}

/* What one failure costs on average. */
static double expected_of_one(const struct study *c, unsigned workers, uint64_t *pairs)
{
    const sv_fabric *f = c->fabric;
    uint64_t hops = 0;
    uint32_t channels = 0;
    *pairs = 0;
    for (unsigned w = 0; w < workers; w++) {
        *pairs += c->parts[w].pairs;
        hops += c->parts[w].hops;
    }
    if (c->plan->switches)
        return f->live_switches > 0 ? (double)(hops + *pairs) / f->live_switches : 0;
    for (uint32_t k = 0; k < f->num_channels; k++)
        channels += sv__counts(f, k);
    return channels > 0 ? 2.0 * (double)hops / channels : 0;
}

static sv_status prepare(struct study *c, sv_arena *arena, unsigned workers)
{
    const sv_fabric *f = c->fabric;
    SV_TRY(sv_portmap_init(&c->ports, arena, f));
    c->terminals = sv__terminals(arena, f);
    c->gone = SV_ARENA_NEW(arena, row, f->num_switches);
    c->away = SV_ARENA_NEW(arena, row, f->num_channels);
    c->parts = SV_ARENA_NEW(arena, struct part, workers);
    if (c->terminals == NULL || c->gone == NULL || c->away == NULL || c->parts == NULL)
        return SV_NO_MEMORY;
    for (unsigned w = 0; w < workers; w++) {
        struct part *p = &c->parts[w];
        SV_TRY(sv__tree_init(&p->tree, arena, f));
        p->end = SV_ARENA_NEW(arena, row, f->num_switches);
        p->lost = SV_ARENA_NEW(arena, uint64_t, (size_t)BATCH * (c->plan->count + 1));
        if (p->end == NULL || p->lost == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

static sv_status check_plan(sv_ctx *ctx, const sv_lost_plan *plan)
{
    if (plan->trials == 0)
        return sv_refuse(ctx, "no trials");
    if (plan->count > MAX_NUMBERS)
        return sv_refuse(ctx, "%u numbers of failures are more than %d", plan->count, MAX_NUMBERS);
    for (uint32_t i = 1; i < plan->count; i++)
        if (plan->failures[i] <= plan->failures[i - 1])
            return sv_refuse(ctx, "numbers of failures do not ascend: %u, %u",
                             plan->failures[i - 1], plan->failures[i]);
    return SV_OK;
}

sv_status sv_routes_lost(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                         const sv_lost_plan *plan, sv_lost *lost, uint64_t *pairs,
                         uint64_t *samples)
{
    SV_TRY(sv__tables_fit(ctx, fabric, routes));
    SV_TRY(check_plan(ctx, plan));
    unsigned workers = sv_ctx_threads(ctx, fabric->num_terminals);
    struct study c = {.fabric = fabric, .routes = routes, .plan = plan};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    uint64_t *kept = SV_ARENA_NEW(&arena, uint64_t, (size_t)plan->count * plan->trials);
    sv_status status = kept == NULL ? SV_NO_MEMORY : prepare(&c, &arena, workers);
    if (status == SV_OK)
        status = run_batches(ctx, &c, workers, kept);
    if (status == SV_OK) {
        uint64_t all;
        double one = expected_of_one(&c, workers, &all);
        if (samples != NULL)
            memcpy(samples, kept, (size_t)plan->count * plan->trials * sizeof *kept);
        for (uint32_t i = 0; i < plan->count; i++) {
            lost[i] = describe(plan->failures[i], kept + (size_t)i * plan->trials, plan->trials);
            lost[i].expected = one * plan->failures[i];
        }
        if (pairs != NULL)
            *pairs = all;
    }
    sv_arena_release(&arena);
    return status;
}
