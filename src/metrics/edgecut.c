/*
 * edgecut.c: edge connectivity, by contraction.
 *
 * Idea (Nagamochi, Ono and Ibaraki 1994; Stoer and Wagner 1997): visit the vertices, always taking
 * the one with the most cables to those already visited. If visiting an edge lifts that number of
 * its far end to k or more, its two ends are joined by at least k edge-disjoint paths. With k the
 * smallest cut seen so far (at first the smallest degree), such ends can be merged: no cut between
 * them is smaller. Each pass merges at least its last two vertices, in practice nearly all, so a
 * few passes leave one vertex. Every vertex's degree, in every pass, is the size of some cut; the
 * smallest of them is the answer.
 *
 * Invariant: best is the size of a real cut, and no cut is lost by merging unless it is at least
 * best.
 * Cost: O((vertices + edges) log) a pass; in the worst case as many passes as vertices.
 */
#include <selvage/metrics.h>
#include <string.h>

#include "base/sets.h"
#include "metrics/graph.h"

/* A max-heap of vertices by the number of cables to visited ones, with stale entries left in. */
struct heap {
    struct entry {
        uint64_t key;
        uint32_t vertex;
    } * at;
    size_t length;
};

static void heap_push(struct heap *heap, uint64_t key, uint32_t vertex)
{
    size_t i = heap->length++;
    for (; i > 0 && heap->at[(i - 1) / 4].key < key; i = (i - 1) / 4)
        heap->at[i] = heap->at[(i - 1) / 4];
    heap->at[i] = (struct entry){key, vertex};
}

static struct entry heap_pop(struct heap *heap)
{
    struct entry top = heap->at[0], last = heap->at[--heap->length];
    size_t i = 0;
    for (;;) {
        size_t child = 4 * i + 1, best = child;
        if (child >= heap->length)
            break;
        for (size_t k = child + 1; k < child + 4 && k < heap->length; k++)
            if (heap->at[k].key > heap->at[best].key)
                best = k;
        if (heap->at[best].key <= last.key)
            break;
        heap->at[i] = heap->at[best];
        i = best;
    }
    heap->at[i] = last;
    return top;
}

/* A weighted multigraph being contracted. */
struct cut {
    uint32_t n;
    uint32_t *first, *peer;
    uint64_t *weight;
    uint32_t *parent; /* union-find of the current pass */
    uint64_t *reach;  /* weight to visited vertices */
    bool *visited;
    struct heap heap;
    uint64_t best;
};

static void lower_to_degrees(struct cut *cut)
{
    for (uint32_t v = 0; v < cut->n; v++) {
        uint64_t degree = 0;
        for (uint32_t k = cut->first[v]; k < cut->first[v + 1]; k++)
            degree += cut->weight[k];
        if (degree < cut->best)
            cut->best = degree;
    }
}

/* So many vertices between two looks at whether to go on. */
enum { LOOK_UP = 1 << 16 };

/* Visits all vertices and merges what cannot be separated by less than best. */
static sv_status scan(sv_ctx *ctx, struct cut *cut)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < cut->n; v++) {
        cut->parent[v] = v;
        cut->reach[v] = 0;
        cut->visited[v] = false;
    }
    cut->heap.length = 0;
    heap_push(&cut->heap, 0, 0);
    while (cut->heap.length > 0) {
        struct entry top = heap_pop(&cut->heap);
        uint32_t v = top.vertex;
        if (cut->visited[v])
            continue;
        cut->visited[v] = true;
        if (++count % LOOK_UP == 0 && sv_cancelled(ctx))
            return sv_fail(ctx, SV_CANCELLED, "cancelled during edge connectivity");
        for (uint32_t k = cut->first[v]; k < cut->first[v + 1]; k++) {
            uint32_t to = cut->peer[k];
            if (cut->visited[to])
                continue;
            cut->reach[to] += cut->weight[k];
            if (cut->reach[to] >= cut->best)
                cut->parent[sv_set_head(cut->parent, to)] = sv_set_head(cut->parent, v);
            heap_push(&cut->heap, cut->reach[to], to);
        }
    }
    return SV_OK;
}

/* The graph of merged vertices, edges between the same two added up. */
static sv_status contract(struct cut *cut, sv_arena *arena)
{
    uint32_t n = cut->n, merged = 0, at = 0;
    uint32_t *name = SV_ARENA_NEW(arena, uint32_t, n);
    uint32_t *start = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    uint32_t *members = SV_ARENA_NEW(arena, uint32_t, n);
    uint32_t *place = SV_ARENA_NEW(arena, uint32_t, n);
    uint32_t *first = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    uint32_t *peer = SV_ARENA_NEW(arena, uint32_t, cut->first[n]);
    uint64_t *weight = SV_ARENA_NEW(arena, uint64_t, cut->first[n]);
    if (name == NULL || start == NULL || members == NULL || place == NULL || first == NULL ||
        peer == NULL || weight == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < n; v++)
        if (sv_set_head(cut->parent, v) == v)
            name[v] = merged++;
    for (uint32_t v = 0; v < n; v++)
        start[name[sv_set_head(cut->parent, v)] + 1]++;
    for (uint32_t m = 0; m < merged; m++) {
        start[m + 1] += start[m];
        place[m] = start[m];
    }
    for (uint32_t v = 0; v < n; v++)
        members[place[name[sv_set_head(cut->parent, v)]]++] = v;
    memset(place, 0xff, n * sizeof *place);
    for (uint32_t m = 0; m < merged; m++) {
        first[m] = at;
        for (uint32_t i = start[m]; i < start[m + 1]; i++) {
            uint32_t v = members[i];
            for (uint32_t k = cut->first[v]; k < cut->first[v + 1]; k++) {
                uint32_t to = name[sv_set_head(cut->parent, cut->peer[k])];
                if (to == m)
                    continue;
                if (place[to] == SV_NONE || place[to] < first[m]) {
                    place[to] = at;
                    peer[at] = to;
                    weight[at++] = 0;
                }
                weight[place[to]] += cut->weight[k];
            }
        }
    }
    first[merged] = at;
    cut->n = merged;
    cut->first = first;
    cut->peer = peer;
    cut->weight = weight;
    return SV_OK;
}

static sv_status smallest_cut(sv_ctx *ctx, sv_arena *arena, const sv__metrics_graph *graph,
                              uint64_t *result)
{
    uint32_t edges = graph->first[graph->n], n = graph->n;
    struct cut cut = {.n = n, .first = graph->first, .peer = graph->peer, .best = UINT64_MAX};
    cut.weight = SV_ARENA_NEW(arena, uint64_t, edges);
    cut.parent = SV_ARENA_NEW(arena, uint32_t, n);
    cut.reach = SV_ARENA_NEW(arena, uint64_t, n);
    cut.visited = SV_ARENA_NEW(arena, bool, n);
    cut.heap.at = SV_ARENA_NEW(arena, struct entry, (size_t)edges + 1);
    if (cut.weight == NULL || cut.parent == NULL || cut.reach == NULL || cut.visited == NULL ||
        cut.heap.at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t k = 0; k < edges; k++)
        cut.weight[k] = graph->cables[k];
    sv_arena passes[2];
    sv_arena_init(&passes[0], ctx);
    sv_arena_init(&passes[1], ctx);
    sv_status status = SV_OK;
    for (int pass = 0; status == SV_OK && cut.n > 1; pass ^= 1) {
        lower_to_degrees(&cut);
        status = scan(ctx, &cut);
        if (status != SV_OK)
            break;
        sv_arena_release(&passes[pass]); /* what the pass before the last one made */
        status = contract(&cut, &passes[pass]);
        if (status == SV_OK)
            status = sv_progress(ctx, "edge connectivity", n - cut.n, n);
    }
    sv_arena_release(&passes[0]);
    sv_arena_release(&passes[1]);
    *result = cut.best;
    return status;
}

sv_status sv_fabric_edge_connectivity(sv_ctx *ctx, const sv_fabric *fabric, uint32_t *connectivity)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv__metrics_graph graph;
    uint64_t best = 0;
    sv_status status = sv__graph_make(&graph, &arena, fabric);
    if (status == SV_OK && sv__graph_is_connected(&graph, &arena, &status) && graph.n > 1)
        status = smallest_cut(ctx, &arena, &graph, &best);
    sv_arena_release(&arena);
    if (status == SV_OK)
        *connectivity = (uint32_t)best;
    return status;
}
