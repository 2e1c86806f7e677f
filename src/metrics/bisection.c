/*
 * bisection.c: how few cables join two halves, as far as METIS can tell.
 *
 * Idea: partition the switch graph in two, vertices weighted by their terminals and edges by their
 * cables; several seeds and two methods, the smallest cut among the best balanced results wins. The
 * true bisection is NP-hard; this is an upper bound of it.
 *
 * METIS draws random numbers from the C library's only generator, which it seeds on every call; so
 * calls are made one at a time, under the one mutable global of the tree (docs/decisions/0004).
 *
 * Cost: some tens of passes over the channels.
 */
#include <selvage/metrics.h>

#include "metrics/graph.h"

#ifndef SELVAGE_METIS

sv_status sv_fabric_bisection(sv_ctx *ctx, const sv_fabric *fabric, uint32_t seed,
                              sv_bisection *bisection)
{
    (void)fabric, (void)seed, (void)bisection;
    return sv_fail(ctx, SV_UNSUPPORTED, "this build has no METIS: no bisection estimate");
}

#else

#include <metis.h>
#include <pthread.h>

static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;

enum { SEEDS = 8 };

struct halves {
    idx_t n, *first, *peer, *edge_weight, *vertex_weight, *part, *best;
    uint64_t total;
    uint64_t best_cut, best_gap; /* gap: how unequal the sides are */
};

static sv_status to_metis(struct halves *h, sv_arena *arena, const sv_fabric *f,
                          const sv__graph *graph)
{
    uint32_t edges = graph->first[graph->n];
    h->n = (idx_t)graph->n;
    h->first = SV_ARENA_NEW(arena, idx_t, (size_t)graph->n + 1);
    h->peer = SV_ARENA_NEW(arena, idx_t, edges);
    h->edge_weight = SV_ARENA_NEW(arena, idx_t, edges);
    h->vertex_weight = SV_ARENA_NEW(arena, idx_t, graph->n);
    h->part = SV_ARENA_NEW(arena, idx_t, graph->n);
    h->best = SV_ARENA_NEW(arena, idx_t, graph->n);
    if (h->first == NULL || h->peer == NULL || h->edge_weight == NULL || h->vertex_weight == NULL ||
        h->part == NULL || h->best == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v <= graph->n; v++)
        h->first[v] = (idx_t)graph->first[v];
    for (uint32_t k = 0; k < edges; k++) {
        h->peer[k] = (idx_t)graph->peer[k];
        h->edge_weight[k] = (idx_t)graph->cables[k];
    }
    for (uint32_t v = 0; v < graph->n; v++) {
        SV_FOR_HOPS (f, ((sv_node){graph->id[v]}), hop)
            h->vertex_weight[v] += !sv_is_switch(f, hop->to);
        h->total += (uint64_t)h->vertex_weight[v];
    }
    if (h->total == 0) /* no terminals: halve the switches */
        for (uint32_t v = 0; v < graph->n; v++)
            h->vertex_weight[v] = 1;
    h->total = h->total == 0 ? graph->n : h->total;
    return SV_OK;
}

/*
 * Keeps the partition in h->part if it is better balanced than the best, or as well and smaller.
 * Sides that differ by at most a hundredth of the terminals count as equal.
 */
static void keep_better(struct halves *h)
{
    uint64_t cut = 0, left = 0;
    for (idx_t v = 0; v < h->n; v++) {
        if (h->part[v] == 0)
            left += (uint64_t)h->vertex_weight[v];
        for (idx_t k = h->first[v]; k < h->first[v + 1]; k++)
            cut += h->part[v] < h->part[h->peer[k]] ? (uint64_t)h->edge_weight[k] : 0;
    }
    uint64_t right = h->total - left, gap = left < right ? right - left : left - right;
    gap = gap <= h->total / 100 + 1 ? 0 : gap;
    if (gap > h->best_gap || (gap == h->best_gap && cut >= h->best_cut))
        return;
    h->best_gap = gap;
    h->best_cut = cut;
    for (idx_t v = 0; v < h->n; v++)
        h->best[v] = h->part[v];
}

static sv_status partition(sv_ctx *ctx, struct halves *h, uint32_t seed)
{
    idx_t options[METIS_NOPTIONS], one = 1, two = 2, cut;
    for (int i = 0; i < 2 * SEEDS; i++) {
        SV_TRY(sv_progress(ctx, "bisection", (uint64_t)i, 2 * SEEDS));
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = (idx_t)((seed * SEEDS + (uint32_t)i / 2) & 0x7fffffff);
        options[METIS_OPTION_UFACTOR] = 1;
        options[METIS_OPTION_NCUTS] = 4;
        int (*method)(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                      real_t *, real_t *, idx_t *, idx_t *, idx_t *) =
            i % 2 == 0 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
        pthread_mutex_lock(&metis_lock);
        int result = method(&h->n, &one, h->first, h->peer, h->vertex_weight, NULL, h->edge_weight,
                            &two, NULL, NULL, options, &cut, h->part);
        pthread_mutex_unlock(&metis_lock);
        if (result == METIS_ERROR_MEMORY)
            return sv_fail(ctx, SV_NO_MEMORY, "out of memory in METIS");
        if (result != METIS_OK)
            return sv_fail(ctx, SV_UNSUPPORTED, "METIS refused the switch graph (%d)", result);
        keep_better(h);
    }
    return SV_OK;
}

/* Cables and their capacity between the two sides of the best partition. */
static void measure(const struct halves *h, const sv_fabric *f, const sv__graph *graph,
                    uint32_t *side, sv_bisection *b)
{
    *b = (sv_bisection){0};
    bool known = true;
    for (uint32_t v = 0; v < graph->n; v++)
        side[graph->id[v]] = (uint32_t)h->best[v];
    for (uint32_t s = 0; s < f->num_switches; s++) {
        if (!sv_node_alive(f, (sv_node){s}))
            continue;
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
}

static sv_status bisect(sv_ctx *ctx, sv_arena *arena, const sv_fabric *fabric, uint32_t seed,
                        sv_bisection *bisection)
{
    sv__graph graph;
    struct halves h = {.best_cut = UINT64_MAX, .best_gap = UINT64_MAX};
    uint32_t *side = SV_ARENA_NEW(arena, uint32_t, fabric->num_switches);
    if (side == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__graph_make(&graph, arena, fabric));
    SV_TRY(to_metis(&h, arena, fabric, &graph));
    if (graph.n > 1)
        SV_TRY(partition(ctx, &h, seed));
    measure(&h, fabric, &graph, side, bisection);
    return SV_OK;
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
