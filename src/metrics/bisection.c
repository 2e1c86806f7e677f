/*
 * bisection.c: how few cables join two halves, as far as can be told.
 *
 * Idea: of few switches all partitions are tried. Of many, METIS partitions the switch graph,
 * vertices weighted by their terminals and edges by their cables, with two methods and several
 * seeds; the best three results are then improved by moving switches (halves.c). The true bisection
 * is NP-hard; this is an upper bound of it.
 *
 * Cost: some tens of passes over the channels.
 */
#include <selvage/metrics.h>

#include "metrics/halves.h"

#ifndef SELVAGE_METIS

sv_status sv_fabric_bisection(sv_ctx *ctx, const sv_fabric *fabric, uint32_t seed,
                              sv_bisection *bisection)
{
    (void)fabric, (void)seed, (void)bisection;
    return sv_fail(ctx, SV_UNSUPPORTED, "this build has no METIS: no bisection estimate");
}

sv_status sv__halves_search(sv_ctx *ctx, sv_arena *arena, const sv__halves *h, uint32_t seed,
                            uint32_t runs, uint8_t *side, bool *found)
{
    (void)ctx, (void)arena, (void)h, (void)seed, (void)runs, (void)side;
    *found = false;
    return SV_OK;
}

#else

#include <string.h>

#include "base/metis.h"

/* Of more than MANY switches fewer runs are made, since each takes seconds: two at least. */
enum { RUNS = 16, KEPT = 3, MANY = 50000 };

/* The best partitions so far, best first. */
struct best {
    uint8_t *side[KEPT + 1];
    sv__cut cut[KEPT + 1];
    int count;
};

static sv_status to_metis(sv_metis_graph *m, sv_arena *arena, const sv__halves *h)
{
    const sv__metrics_graph *graph = h->graph;
    uint32_t edges = graph->first[graph->n];
    m->n = (idx_t)graph->n;
    m->first = SV_ARENA_NEW(arena, idx_t, (size_t)graph->n + 1);
    m->peer = SV_ARENA_NEW(arena, idx_t, edges);
    m->edge_weight = SV_ARENA_NEW(arena, idx_t, edges);
    m->vertex_weight = SV_ARENA_NEW(arena, idx_t, graph->n);
    m->part = SV_ARENA_NEW(arena, idx_t, graph->n);
    if (m->first == NULL || m->peer == NULL || m->edge_weight == NULL || m->vertex_weight == NULL ||
        m->part == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v <= graph->n; v++)
        m->first[v] = (idx_t)graph->first[v];
    for (uint32_t k = 0; k < edges; k++) {
        m->peer[k] = (idx_t)graph->peer[k];
        m->edge_weight[k] = (idx_t)graph->cables[k];
    }
    for (uint32_t v = 0; v < graph->n; v++)
        m->vertex_weight[v] = (idx_t)h->weight[v];
    return SV_OK;
}

/* Puts a partition among the best, if it belongs there. */
static void consider(struct best *best, const sv__halves *h, const idx_t *part)
{
    uint8_t *side = best->side[best->count];
    for (uint32_t v = 0; v < h->graph->n; v++)
        side[v] = (uint8_t)part[v];
    sv__cut cut = sv__halves_judge(h, side);
    int place = best->count;
    while (place > 0 && sv__cut_better(cut, best->cut[place - 1]))
        place--;
    for (int i = best->count; i > place; i--) {
        best->side[i] = best->side[i - 1];
        best->cut[i] = best->cut[i - 1];
    }
    best->side[place] = side;
    best->cut[place] = cut;
    best->count += best->count < KEPT;
}

sv_status sv__halves_search(sv_ctx *ctx, sv_arena *arena, const sv__halves *h, uint32_t seed,
                            uint32_t runs, uint8_t *side, bool *found)
{
    sv_metis_graph m;
    struct best best = {.count = 0};
    SV_TRY(to_metis(&m, arena, h));
    for (int i = 0; i <= KEPT; i++)
        if ((best.side[i] = SV_ARENA_NEW(arena, uint8_t, h->graph->n)) == NULL)
            return SV_NO_MEMORY;
    for (uint32_t run = 0; run < runs; run++) {
        SV_TRY(sv_progress(ctx, "bisection", run, (uint64_t)runs + KEPT));
        sv_metis_how how = {.parts = 2,
                            .seed = seed * runs + run,
                            .recursive = run % 2 == 0,
                            .slack = 1,
                            .cuts = 4};
        SV_TRY(sv_metis_split(ctx, &m, &how));
        consider(&best, h, m.part);
    }
    sv__cut min = {UINT64_MAX, UINT64_MAX};
    for (int i = 0; i < best.count; i++) {
        SV_TRY(sv_progress(ctx, "bisection", (uint64_t)runs + (uint64_t)i, (uint64_t)runs + KEPT));
        SV_TRY(sv__halves_refine(h, arena, best.side[i]));
        sv__cut cut = sv__halves_judge(h, best.side[i]);
        if (sv__cut_better(cut, min)) {
            min = cut;
            memcpy(side, best.side[i], h->graph->n);
        }
    }
    *found = true;
    return SV_OK;
}

/* Cables and their capacity between the two sides, and the terminals on each. */
static sv_status measure(const sv__metrics_graph *graph, const sv_fabric *f, const uint8_t *part,
                         sv_arena *arena, sv_bisection *b)
{
    uint8_t *side = SV_ARENA_NEW(arena, uint8_t, f->num_switches);
    bool known = true;
    if (side == NULL)
        return SV_NO_MEMORY;
    *b = (sv_bisection){0};
    for (uint32_t v = 0; v < graph->n; v++)
        side[graph->id[v]] = part[v];
    for (uint32_t v = 0; v < graph->n; v++) {
        uint32_t s = graph->id[v];
        SV_FOR_HOPS (f, ((sv_node){s}), hop) {
            if (!sv_is_switch(f, hop->to)) {
                b->terminals[side[s]]++;
            } else if (side[s] < side[hop->to.i]) {
                uint32_t mbit = sv_link_mbit(sv_link_of(f, hop->channel));
                b->cables++;
                b->mbit += mbit;
                known = known && mbit > 0;
            }
        }
    }
    if (!known)
        b->mbit = 0;
    if (b->terminals[0] < b->terminals[1]) {
        uint32_t larger = b->terminals[1];
        b->terminals[1] = b->terminals[0];
        b->terminals[0] = larger;
    }
    return SV_OK;
}

static sv_status bisect(sv_ctx *ctx, sv_arena *arena, const sv_fabric *fabric, uint32_t seed,
                        sv_bisection *bisection)
{
    sv__metrics_graph graph;
    sv__halves h;
    bool found;
    SV_TRY(sv__graph_make(&graph, arena, fabric));
    SV_TRY(sv__halves_make(&h, arena, &graph, fabric));
    uint8_t *side = SV_ARENA_NEW(arena, uint8_t, graph.n);
    if (side == NULL)
        return SV_NO_MEMORY;
    uint32_t runs = graph.n <= MANY ? RUNS : (uint32_t)((uint64_t)RUNS * MANY / graph.n);
    if (graph.n <= SV__FEW)
        sv__halves_try_all(&h, side);
    else
        SV_TRY(sv__halves_search(ctx, arena, &h, seed, runs > 2 ? runs : 2, side, &found));
    return measure(&graph, fabric, side, arena, bisection);
}

sv_status sv_fabric_bisection(sv_ctx *ctx, const sv_fabric *fabric, uint32_t seed,
                              sv_bisection *bisection)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_bisection found;
    sv_status status = bisect(ctx, &arena, fabric, seed, &found);
    sv_arena_release(&arena);
    if (status == SV_OK)
        *bisection = found;
    return status;
}

#endif
