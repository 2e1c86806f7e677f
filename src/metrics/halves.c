/*
 * halves.c: improving a partition in two.
 *
 * Few vertices: all partitions are tried, one vertex changing sides at a time (Gray code), so the
 * result is the true bisection.
 *
 * Many: Fiduccia and Mattheyses (1982). In a pass every vertex is moved once, always the one that
 * saves most cables among those whose move is allowed: from the heavier side, or without terminals.
 * Of all states the pass went through, the best is kept; passes go on while they find a better one.
 * Vertices wait in heaps by what their move saves; entries that are out of date are skipped.
 *
 * Two sides count as equal when they differ by at most one in a hundred terminals (or one); with
 * few vertices only when they differ as little as possible.
 *
 * Cost: 2^15 partitions for few; O(edges log edges) a pass for many, a few passes.
 */
#include "metrics/halves.h"

#include <string.h>

#include "base/heap.h"

sv_status sv__halves_make(sv__halves *h, sv_arena *arena, const sv__metrics_graph *graph,
                          const sv_fabric *f)
{
    *h = (sv__halves){.graph = graph, .weight = SV_ARENA_NEW(arena, uint32_t, graph->n)};
    if (h->weight == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < graph->n; v++) {
        SV_FOR_HOPS (f, ((sv_node){graph->id[v]}), hop)
            h->weight[v] += !sv_is_switch(f, hop->to);
        h->total += h->weight[v];
    }
    if (h->total > 0)
        return SV_OK;
    for (uint32_t v = 0; v < graph->n; v++) /* no terminals: halve the switches */
        h->weight[v] = 1;
    h->total = graph->n;
    return SV_OK;
}

/* By how much the sides differ, given the weight of one. */
static uint64_t gap_of(const sv__halves *h, uint64_t left)
{
    uint64_t right = h->total - left, gap = left < right ? right - left : left - right;
    uint64_t equal = h->graph->n <= SV__FEW ? 0 : h->total / 100 + 1;
    return gap <= equal ? 0 : gap;
}

static uint64_t weigh(const sv__halves *h, const uint8_t *side)
{
    uint64_t left = 0;
    for (uint32_t v = 0; v < h->graph->n; v++)
        left += side[v] == 0 ? h->weight[v] : 0;
    return left;
}

sv__cut sv__halves_judge(const sv__halves *h, const uint8_t *side)
{
    sv__cut cut = {gap_of(h, weigh(h, side)), 0};
    for (uint32_t v = 0; v < h->graph->n; v++)
        for (uint32_t k = h->graph->first[v]; k < h->graph->first[v + 1]; k++)
            cut.cables += side[v] < side[h->graph->peer[k]] ? h->graph->cables[k] : 0;
    return cut;
}

/* What moving a vertex to the other side saves, in cables. */
static int64_t saving(const sv__metrics_graph *g, const uint8_t *side, uint32_t v)
{
    int64_t saved = 0;
    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        saved += side[g->peer[k]] != side[v] ? (int64_t)g->cables[k] : -(int64_t)g->cables[k];
    return saved;
}

void sv__halves_try_all(const sv__halves *h, uint8_t *side)
{
    uint32_t n = h->graph->n;
    uint8_t now[SV__FEW] = {0};
    memset(side, 0, n);
    sv__cut best = sv__halves_judge(h, side), cut = best;
    uint64_t left = h->total;
    /* The last vertex stays where it is: the other half of all partitions is the mirror image. */
    for (uint32_t code = 1; n > 1 && code < 1u << (n - 1); code++) {
        uint32_t v = (uint32_t)__builtin_ctz(code);
        cut.cables = (uint64_t)((int64_t)cut.cables - saving(h->graph, now, v));
        left += now[v] == 0 ? -(uint64_t)h->weight[v] : (uint64_t)h->weight[v];
        now[v] ^= 1;
        cut.gap = gap_of(h, left);
        if (sv__cut_better(cut, best)) {
            best = cut;
            memcpy(side, now, n);
        }
    }
}

/* ---- many vertices ---- */

/* A vertex and what moving it saved when it was put in; the largest saving on top. */
struct entry {
    int64_t saving;
    uint32_t vertex;
};

struct queue {
    struct entry *at;
    size_t length;
};

static bool saves_more(const struct entry *a, const struct entry *b)
{
    return a->saving > b->saving;
}

static void queue_push(struct queue *q, int64_t saving, uint32_t vertex)
{
    q->at[q->length++] = (struct entry){saving, vertex};
    sv_heap_rise(struct entry, q, saves_more);
}

static void queue_pop(struct queue *q)
{
    sv_heap_drop(struct entry, q, saves_more);
}

enum { LEFT, RIGHT, WEIGHTLESS, QUEUES };

struct pass {
    const sv__halves *h;
    uint8_t *side;
    int64_t *saving;
    bool *moved;
    uint32_t *order; /* vertices in the order they were moved */
    struct queue queues[QUEUES];
    uint64_t left;
    sv__cut cut;
};

static struct queue *queue_of(struct pass *p, uint32_t v)
{
    return &p->queues[p->h->weight[v] == 0 ? WEIGHTLESS : p->side[v]];
}

/* Drops entries that are out of date; whether one is left. */
static bool settle(struct pass *p, int which)
{
    struct queue *q = &p->queues[which];
    while (q->length > 0 &&
           (p->moved[q->at[0].vertex] || p->saving[q->at[0].vertex] != q->at[0].saving))
        queue_pop(q);
    return q->length > 0;
}

/* The next vertex to move: from the heavier side (either, if equal), or a weightless one. */
static uint32_t choose(struct pass *p)
{
    uint64_t right = p->h->total - p->left;
    uint32_t best = SV_NONE;
    int64_t max = INT64_MIN;
    for (int which = LEFT; which < QUEUES; which++) {
        if ((which == LEFT && p->left < right) || (which == RIGHT && p->left > right))
            continue;
        if (settle(p, which) && p->queues[which].at[0].saving > max) {
            max = p->queues[which].at[0].saving;
            best = p->queues[which].at[0].vertex;
        }
    }
    return best;
}

static void move(struct pass *p, uint32_t v)
{
    const sv__metrics_graph *g = p->h->graph;
    p->moved[v] = true;
    p->cut.cables = (uint64_t)((int64_t)p->cut.cables - p->saving[v]);
    p->left += p->side[v] == LEFT ? -(uint64_t)p->h->weight[v] : (uint64_t)p->h->weight[v];
    p->side[v] ^= 1;
    p->cut.gap = gap_of(p->h, p->left);
    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        uint32_t to = g->peer[k];
        int64_t twice = 2 * (int64_t)g->cables[k];
        p->saving[to] += p->side[to] == p->side[v] ? -twice : twice;
        if (!p->moved[to])
            queue_push(queue_of(p, to), p->saving[to], to);
    }
}

/* One pass; true if it found something better, which side then holds. */
static bool run_pass(struct pass *p)
{
    uint32_t n = p->h->graph->n, moves = 0, kept = 0;
    for (int which = LEFT; which < QUEUES; which++)
        p->queues[which].length = 0;
    p->left = weigh(p->h, p->side);
    p->cut = sv__halves_judge(p->h, p->side);
    for (uint32_t v = 0; v < n; v++) {
        p->moved[v] = false;
        p->saving[v] = saving(p->h->graph, p->side, v);
        queue_push(queue_of(p, v), p->saving[v], v);
    }
    sv__cut best = p->cut;
    for (uint32_t v; (v = choose(p)) != SV_NONE;) {
        move(p, v);
        p->order[moves++] = v;
        if (sv__cut_better(p->cut, best)) {
            best = p->cut;
            kept = moves;
        }
    }
    while (moves > kept)
        p->side[p->order[--moves]] ^= 1;
    return kept > 0;
}

sv_status sv__halves_refine(const sv__halves *h, sv_arena *arena, uint8_t *side)
{
    uint32_t n = h->graph->n, edges = h->graph->first[n];
    struct pass p = {.h = h, .side = side};
    p.saving = SV_ARENA_NEW(arena, int64_t, n);
    p.moved = SV_ARENA_NEW(arena, bool, n);
    p.order = SV_ARENA_NEW(arena, uint32_t, n);
    if (p.saving == NULL || p.moved == NULL || p.order == NULL)
        return SV_NO_MEMORY;
    for (int which = LEFT; which < QUEUES; which++) {
        p.queues[which].at = SV_ARENA_NEW(arena, struct entry, (size_t)n + edges);
        if (p.queues[which].at == NULL)
            return SV_NO_MEMORY;
    }
    for (int passes = 0; passes < 20 && run_pass(&p); passes++)
        if (sv_cancelled(arena->ctx))
            return sv_fail(arena->ctx, SV_CANCELLED, "cancelled during bisection");
    return SV_OK;
}
