/*
 * vertexcut.c: vertex connectivity, by bounded flows.
 *
 * Idea (Even 1975): let k be the smallest number of neighbours anything has: an upper bound. Order
 * the vertices. If every two of the first k are joined by k disjoint paths, and every later vertex
 * has k disjoint paths to k different vertices before it, nothing smaller than k disconnects the
 * graph. Whenever a flow stops short, at k' < k, it has found a real cut of k' vertices, and the
 * rest is only asked about k'. The order always takes the vertex with the most neighbours before
 * it, so nearly every later vertex has k of them right there and needs no flow at all.
 *
 * Flows are Dinic's on the split graph (each vertex an in-side and an out-side with a unit of
 * capacity between), which is not built: a unit path through v is its predecessor and successor.
 *
 * Invariant: k is never below the connectivity; it is the size of a real cut, or the smallest
 * degree (n - 1 in a complete graph, where no two vertices can be separated).
 * Cost: at most k (k - 1) / 2 + n flows of O(sqrt(n)) phases of O(edges); phases are two to five
 * in practice.
 */
#include <selvage/metrics.h>
#include <string.h>

#include "metrics/graph.h"

enum { IN, OUT }; /* a vertex' two sides: side 2 v + IN, 2 v + OUT */

struct flow {
    const sv__metrics_graph *g;
    uint32_t *order, *rank; /* order[i] is the i-th vertex, rank its inverse */
    uint32_t *next, *prev;  /* of the unit path through a vertex, or SV_NONE */
    uint32_t *level;        /* [2 n] distance from the source in this phase */
    uint32_t *arc;          /* [2 n] the next edge to try */
    uint32_t *queue;        /* [2 n] */
    uint32_t *path;         /* [2 n] sides on the way to the sink */
    uint32_t source, sink;  /* sink SV_NONE: any vertex of rank below limit */
    uint32_t limit;
    const sv_ctx *ctx; /* is asked whether to go on */
    bool stopped;
};

/* So many sides between two times. */
enum { LOOK_UP = 1 << 18 };

static sv_status flow_init(struct flow *flow, sv_arena *arena, const sv__metrics_graph *graph)
{
    size_t n = graph->n;
    *flow = (struct flow){.g = graph};
    flow->order = SV_ARENA_NEW(arena, uint32_t, n);
    flow->rank = SV_ARENA_NEW(arena, uint32_t, n);
    flow->next = SV_ARENA_NEW(arena, uint32_t, n);
    flow->prev = SV_ARENA_NEW(arena, uint32_t, n);
    flow->level = SV_ARENA_NEW(arena, uint32_t, 2 * n);
    flow->arc = SV_ARENA_NEW(arena, uint32_t, 2 * n);
    flow->queue = SV_ARENA_NEW(arena, uint32_t, 2 * n);
    flow->path = SV_ARENA_NEW(arena, uint32_t, 2 * n + 2);
    bool all = flow->order != NULL && flow->rank != NULL && flow->next != NULL &&
               flow->prev != NULL && flow->level != NULL && flow->arc != NULL &&
               flow->queue != NULL && flow->path != NULL;
    return all ? SV_OK : SV_NO_MEMORY;
}

/* Maximum cardinality search: buckets of unplaced vertices by placed neighbours, as lists. */
static sv_status make_order(struct flow *flow, sv_arena *arena)
{
    const sv__metrics_graph *g = flow->g;
    uint32_t n = g->n, max = 0;
    uint32_t *bucket = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    uint32_t *after = SV_ARENA_NEW(arena, uint32_t, n), *before = SV_ARENA_NEW(arena, uint32_t, n);
    uint32_t *count = SV_ARENA_NEW(arena, uint32_t, n);
    if (bucket == NULL || after == NULL || before == NULL || count == NULL)
        return SV_NO_MEMORY;
    memset(bucket, 0xff, ((size_t)n + 1) * sizeof *bucket);
    for (uint32_t v = n; v-- > 0;) {
        before[v] = SV_NONE;
        after[v] = bucket[0];
        if (bucket[0] != SV_NONE)
            before[bucket[0]] = v;
        bucket[0] = v;
        flow->rank[v] = SV_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        while (bucket[max] == SV_NONE)
            max--;
        uint32_t v = bucket[max];
        bucket[max] = after[v];
        if (after[v] != SV_NONE)
            before[after[v]] = SV_NONE;
        flow->order[i] = v;
        flow->rank[v] = i;
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
            uint32_t to = g->peer[k];
            if (flow->rank[to] != SV_NONE)
                continue;
            if (before[to] != SV_NONE)
                after[before[to]] = after[to];
            else
                bucket[count[to]] = after[to];
            if (after[to] != SV_NONE)
                before[after[to]] = before[to];
            count[to]++;
            before[to] = SV_NONE;
            after[to] = bucket[count[to]];
            if (after[to] != SV_NONE)
                before[after[to]] = to;
            bucket[count[to]] = to;
            max = count[to] > max ? count[to] : max;
        }
    }
    return SV_OK;
}

/* ---- one flow ---- */

static bool is_sink(const struct flow *flow, uint32_t side)
{
    uint32_t v = side / 2;
    if (flow->sink != SV_NONE)
        return side == 2 * flow->sink + IN;
    /* A path may end at the out-side of any earlier vertex that does not end one already. */
    return (side & 1) == OUT && flow->rank[v] < flow->limit &&
           !(flow->prev[v] != SV_NONE && flow->next[v] == SV_NONE);
}

/* The number of ways to go on from a side: 0 is the edge inside the vertex. */
static uint32_t arcs(const struct flow *flow, uint32_t side)
{
    uint32_t v = side / 2;
    return (side & 1) == OUT ? 1 + flow->g->first[v + 1] - flow->g->first[v] : 2;
}

/* Where arc number k of a side leads in the residual graph, or SV_NONE. */
static uint32_t residual(const struct flow *flow, uint32_t side, uint32_t k)
{
    uint32_t v = side / 2;
    bool carries = flow->prev[v] != SV_NONE;
    if ((side & 1) == IN) {
        if (k == 0)
            return carries ? SV_NONE : 2 * v + OUT;
        return carries ? 2 * flow->prev[v] + OUT : SV_NONE; /* take the path back */
    }
    if (k == 0)
        return carries ? 2 * v + IN : SV_NONE;
    uint32_t to = flow->g->peer[flow->g->first[v] + k - 1];
    return to == flow->source || flow->prev[to] == v ? SV_NONE : 2 * to + IN;
}

/* Levels from the source; whether a sink was reached. */
static bool label(struct flow *flow)
{
    uint32_t head = 0, tail = 0, reached = SV_NONE;
    memset(flow->level, 0xff, 2 * (size_t)flow->g->n * sizeof *flow->level);
    memset(flow->arc, 0, 2 * (size_t)flow->g->n * sizeof *flow->arc);
    flow->level[2 * flow->source + OUT] = 0;
    flow->queue[tail++] = 2 * flow->source + OUT;
    while (head < tail) {
        uint32_t side = flow->queue[head++];
        if (flow->level[side] >= reached)
            break;
        if (head % LOOK_UP == 0 && sv_cancelled(flow->ctx)) {
            flow->stopped = true;
            return false;
        }
        if (is_sink(flow, side)) {
            reached = flow->level[side];
            continue;
        }
        for (uint32_t k = 0; k < arcs(flow, side); k++) {
            uint32_t to = residual(flow, side, k);
            if (to != SV_NONE && flow->level[to] == SV_NONE) {
                flow->level[to] = flow->level[side] + 1;
                flow->queue[tail++] = to;
            }
        }
    }
    return reached != SV_NONE;
}

/* A path of ascending levels from the source to a sink; its length in sides, or 0. */
static uint32_t find_path(struct flow *flow)
{
    uint32_t length = 0;
    flow->path[length++] = 2 * flow->source + OUT;
    while (length > 0) {
        uint32_t side = flow->path[length - 1];
        if (is_sink(flow, side))
            return length;
        bool advanced = false;
        for (; flow->arc[side] < arcs(flow, side) && !advanced; flow->arc[side]++) {
            uint32_t to = residual(flow, side, flow->arc[side]);
            if (to != SV_NONE && flow->level[to] == flow->level[side] + 1) {
                flow->path[length++] = to;
                advanced = true;
                break;
            }
        }
        if (!advanced) {
            flow->level[side] = SV_NONE; /* a dead end for the rest of the phase */
            length--;
        }
    }
    return 0;
}

/*
 * Puts a unit along a path. Undone pieces of old paths first, then the new ones: a vertex whose
 * old successor is taken away may get a new one.
 */
static void augment(struct flow *flow, uint32_t length)
{
    for (uint32_t i = 0; i + 1 < length; i++) {
        uint32_t from = flow->path[i], to = flow->path[i + 1];
        if ((from & 1) == IN && (to & 1) == OUT && from / 2 != to / 2) {
            flow->next[to / 2] = SV_NONE;
            if (flow->prev[from / 2] == to / 2)
                flow->prev[from / 2] = SV_NONE;
        }
    }
    for (uint32_t i = 0; i + 1 < length; i++) {
        uint32_t from = flow->path[i], to = flow->path[i + 1];
        if ((from & 1) == OUT && (to & 1) == IN && from / 2 != to / 2) {
            if (from / 2 != flow->source)
                flow->next[from / 2] = to / 2;
            if (to / 2 != flow->sink)
                flow->prev[to / 2] = from / 2;
        }
    }
}

/* Disjoint paths from source to sink, at most wanted; none of it counts if it was stopped. */
static uint32_t max_flow(struct flow *flow, uint32_t wanted)
{
    uint32_t found = 0, length;
    memset(flow->next, 0xff, flow->g->n * sizeof *flow->next);
    memset(flow->prev, 0xff, flow->g->n * sizeof *flow->prev);
    while (found < wanted && label(flow))
        while (found < wanted && (length = find_path(flow)) > 0) {
            augment(flow, length);
            found++;
        }
    return found;
}

/* ---- Even's algorithm ---- */

static bool adjacent(const sv__metrics_graph *g, uint32_t a, uint32_t b)
{
    for (uint32_t k = g->first[a]; k < g->first[a + 1]; k++)
        if (g->peer[k] == b)
            return true;
    return false;
}

static sv_status stopped(sv_ctx *ctx)
{
    return sv_fail(ctx, SV_CANCELLED, "cancelled during vertex connectivity");
}

/* All pairs of the first vertices; lowers *k. */
static sv_status check_first(sv_ctx *ctx, struct flow *flow, uint32_t *k)
{
    uint32_t first = *k;
    for (uint32_t j = 1; j < first && j < flow->g->n; j++) {
        SV_TRY(sv_progress(ctx, "vertex connectivity", j, first));
        for (uint32_t i = 0; i < j; i++) {
            flow->source = flow->order[i];
            flow->sink = flow->order[j];
            if (adjacent(flow->g, flow->source, flow->sink))
                continue;
            uint32_t paths = max_flow(flow, *k);
            if (flow->stopped)
                return stopped(ctx);
            *k = paths < *k ? paths : *k;
        }
    }
    return SV_OK;
}

/* Every later vertex against all before it; lowers *k. */
static sv_status check_rest(sv_ctx *ctx, struct flow *flow, uint32_t first, uint32_t *k)
{
    const sv__metrics_graph *g = flow->g;
    for (uint32_t j = first; j < g->n; j++) {
        uint32_t v = flow->order[j], before = 0;
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
            before += flow->rank[g->peer[e]] < j;
        if (before >= *k)
            continue;
        SV_TRY(sv_progress(ctx, "vertex connectivity", j, g->n));
        flow->source = v;
        flow->sink = SV_NONE;
        flow->limit = j;
        uint32_t paths = max_flow(flow, *k);
        if (flow->stopped)
            return stopped(ctx);
        *k = paths < *k ? paths : *k;
    }
    return SV_OK;
}

static sv_status vertex_connectivity(sv_ctx *ctx, sv_arena *arena, const sv__metrics_graph *graph,
                                     uint32_t *connectivity)
{
    struct flow flow;
    uint32_t k = graph->n - 1;
    for (uint32_t v = 0; v < graph->n; v++) {
        uint32_t degree = graph->first[v + 1] - graph->first[v];
        k = degree < k ? degree : k;
    }
    uint32_t first = k;
    if (k < graph->n - 1) {
        SV_TRY(flow_init(&flow, arena, graph));
        flow.ctx = ctx;
        SV_TRY(make_order(&flow, arena));
        SV_TRY(check_first(ctx, &flow, &k));
        SV_TRY(check_rest(ctx, &flow, first, &k));
    }
    *connectivity = k;
    return SV_OK;
}

sv_status sv_fabric_vertex_connectivity(sv_ctx *ctx, const sv_fabric *fabric,
                                        uint32_t *connectivity)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv__metrics_graph graph;
    uint32_t k = 0;
    sv_status status = sv__graph_make(&graph, &arena, fabric);
    if (status == SV_OK && sv__graph_is_connected(&graph, &arena, &status) && graph.n > 1)
        status = vertex_connectivity(ctx, &arena, &graph, &k);
    sv_arena_release(&arena);
    if (status == SV_OK)
        *connectivity = k;
    return status;
}
