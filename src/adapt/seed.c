/*
 * seed.c: solutions worked out beforehand from a trace (point 16; thesis 5.2, "offline
 * meta-information").
 *
 * For each relevant phase of the trace: its flows between terminals, and which channels they take
 * by the tables. A channel between switches that flows of two sources take is contended; those of
 * its flows that have most bytes are the pattern that its switch would find there.
 *
 * Paths are found for all flows of the phase together, so that they stay out of each other's way.
 * Who meets nobody stays on path 0. A flow that contends is cut into as many pieces as a pair may
 * have paths; each piece takes the way on which the busiest channel is the least busy afterwards
 * (then the shortest, then the first), the largest flows first. That is done twice, the second time
 * with all others in their places. A flow's ways are its solution for each pattern that it is part
 * of, with waits such that Eq. 3.6 gives each way its pieces.
 *
 * Invariant: the load of a channel is that of all pieces that lie on it.
 *
 * Cost: phases × flows × paths × candidates × length. Memory: linear in the flows of a phase, times
 * candidates and length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/balance.h"

enum { ROUNDS = 2, MOST_CANDIDATES = 32, CANDIDATES_A_PATH = 3 };

/* A way of a flow. */
struct way {
    sv_sim_way way;
    sv_channel *channels; /* between switches */
    uint32_t count, length;
    uint32_t pieces;
};

struct flow {
    uint32_t from, to; /* terminals */
    uint64_t bytes;
    struct way *ways;
    uint32_t num_ways, used; /* used: with pieces */
    bool contends;           /* has a pattern; others stay on path 0 */
};

/* The work on one phase. */
struct phase {
    sv_adapt *a;
    sv__balance *b;
    sv_arena arena;
    struct flow *flows;
    uint32_t count;
    uint64_t *load;    /* [channels]: bytes × paths, now */
    uint32_t *first;   /* [channels + 1]: flows by the channels of path 0 */
    uint32_t *crosses; /* flows, most bytes first */
};

/* ---- flows ---- */

static int by_pair(const void *a, const void *b)
{
    const struct flow *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct flow *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return by_pair(a, b);
}

/* Flows between ranks as flows between terminals: each pair once, those of one terminal left out.
 */
static sv_status gather(struct phase *x, const sv_mpi_flow *ranks, uint32_t count,
                        const sv_node *map)
{
    uint32_t switches = x->a->f->num_switches, kept = 0;
    x->flows = SV_ARENA_NEW(&x->arena, struct flow, count);
    if (x->flows == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        if (map[ranks[i].from].i != map[ranks[i].to].i)
            x->flows[kept++] = (struct flow){.from = map[ranks[i].from].i - switches,
                                             .to = map[ranks[i].to].i - switches,
                                             .bytes = ranks[i].bytes + ranks[i].messages};
    if (kept > 1)
        qsort(x->flows, kept, sizeof *x->flows, by_pair);
    x->count = 0;
    for (uint32_t i = 0; i < kept; i++)
        if (x->count > 0 && by_pair(&x->flows[x->count - 1], &x->flows[i]) == 0)
            x->flows[x->count - 1].bytes += x->flows[i].bytes;
        else
            x->flows[x->count++] = x->flows[i];
    if (x->count > 1)
        qsort(x->flows, x->count, sizeof *x->flows, by_bytes);
    return SV_OK;
}

/* The channels between switches of a way. */
static sv_status fill_way(struct phase *x, const struct flow *flow, struct way *w)
{
    sv_adapt *a = x->a;
    uint32_t destination = a->r->first[a->f->num_switches + flow->to], count;
    w->channels = SV_ARENA_NEW(&x->arena, sv_channel, w->length);
    if (w->channels == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__ways_channels(a, flow->from, destination, &w->way, w->channels, w->length, &count));
    w->count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (sv_joins_switches(a->f, w->channels[i]))
            w->channels[w->count++] = w->channels[i];
    return SV_OK;
}

static sv_status find_ways(struct phase *x, struct flow *flow)
{
    sv_adapt *a = x->a;
    sv__path found[MOST_CANDIDATES];
    uint32_t most = CANDIDATES_A_PATH * a->set.paths, count;
    if (most > MOST_CANDIDATES)
        most = MOST_CANDIDATES;
    SV_TRY(sv__ways_find(a, flow->from, a->r->first[a->f->num_switches + flow->to], most, found,
                         &count));
    flow->ways = SV_ARENA_NEW(&x->arena, struct way, count);
    if (flow->ways == NULL)
        return SV_NO_MEMORY;
    flow->num_ways = count;
    for (uint32_t i = 0; i < count; i++) {
        flow->ways[i] = (struct way){.way = found[i].way, .length = found[i].channels};
        SV_TRY(fill_way(x, flow, &flow->ways[i]));
    }
    return SV_OK;
}

/* Which flows take which channel by the tables; flows stand in their order by bytes. */
static sv_status index_channels(struct phase *x)
{
    uint32_t channels = x->a->f->num_channels, all = 0;
    x->first = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)channels + 2);
    x->load = SV_ARENA_NEW(&x->arena, uint64_t, channels);
    if (x->first == NULL || x->load == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 0; k < x->flows[i].ways[0].count; k++, all++)
            x->first[x->flows[i].ways[0].channels[k].i + 2]++;
    x->crosses = SV_ARENA_NEW(&x->arena, uint32_t, all);
    if (x->crosses == NULL)
        return SV_NO_MEMORY;
    for (uint32_t c = 2; c <= channels + 1; c++)
        x->first[c] += x->first[c - 1];
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 0; k < x->flows[i].ways[0].count; k++)
            x->crosses[x->first[x->flows[i].ways[0].channels[k].i + 1]++] = i;
    return SV_OK;
}

/* ---- balance ---- */

static void put(struct phase *x, struct way *w, uint64_t bytes, bool away)
{
    for (uint32_t i = 0; i < w->count; i++)
        x->load[w->channels[i].i] += away ? (uint64_t)0 - bytes : bytes;
}

/* The busiest channel of a way, with a piece more. */
static uint64_t busiest(const struct phase *x, const struct way *w, uint64_t bytes)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < w->count; i++)
        if (x->load[w->channels[i].i] + bytes > most)
            most = x->load[w->channels[i].i] + bytes;
    return most;
}

/* Whether two sources meet on a channel. */
static bool is_contended(const struct phase *x, uint32_t c)
{
    for (uint32_t i = x->first[c] + 1; i < x->first[c + 1]; i++)
        if (x->flows[x->crosses[i]].from != x->flows[x->crosses[i - 1]].from)
            return true;
    return false;
}

static void find_contended(struct phase *x)
{
    for (uint32_t c = 0; c < x->a->f->num_channels; c++)
        if (is_contended(x, c))
            for (uint32_t i = x->first[c]; i < x->first[c + 1]; i++)
                x->flows[x->crosses[i]].contends = true;
}

/* Lays all pieces of a flow anew. A piece weighs what the flow has: loads are times paths. */
static void lay(struct phase *x, struct flow *flow)
{
    uint32_t pieces = x->a->set.paths;
    for (uint32_t i = 0; i < flow->num_ways; i++)
        put(x, &flow->ways[i], flow->ways[i].pieces * flow->bytes, true);
    for (uint32_t i = 0; i < flow->num_ways; i++)
        flow->ways[i].pieces = 0;
    flow->used = 1; /* path 0 is open, with pieces or not */
    for (uint32_t k = 0; k < pieces; k++) {
        struct way *best = NULL;
        uint64_t least = 0;
        for (uint32_t i = 0; i < (flow->contends ? flow->num_ways : 1); i++) {
            struct way *w = &flow->ways[i];
            if (i > 0 && w->pieces == 0 && flow->used == pieces)
                continue;
            uint64_t most = busiest(x, w, flow->bytes);
            if (best == NULL || most < least || (most == least && w->length < best->length)) {
                best = w;
                least = most;
            }
        }
        flow->used += best != flow->ways && best->pieces == 0;
        best->pieces++;
        put(x, best, flow->bytes, false);
    }
}

/* ---- solutions ---- */

/* The metapath of a flow, with waits that give each way its pieces. */
static sv_status metapath_of(struct phase *x, const struct flow *flow, sv__pair *p, sv__metapath *m,
                             double *latency)
{
    double whole = 0, pieces = 0;
    m->count = 0;
    for (uint32_t i = 0; i < flow->num_ways; i++) {
        const struct way *w = &flow->ways[i];
        uint32_t path;
        if (i > 0 && w->pieces == 0)
            continue;
        SV_TRY(sv__pairs_path(x->b, p, &w->way, &path));
        double share = w->pieces > 0 ? w->pieces : 0.25;
        double empty = (double)sv__ways_empty(x->a, flow->from, w->length, x->b->full);
        sv__metapath_open(m, path, empty, share);
        whole = share * empty > whole ? share * empty : whole;
        pieces += share;
    }
    for (uint32_t i = 0; i < m->count; i++) /* share of it is above */
        m->at[i].waited = whole / m->at[i].waited - m->at[i].empty;
    *latency = whole / pieces;
    return SV_OK;
}

static sv_status keep(struct phase *x, const struct flow *flow, const sv__flows *pattern)
{
    sv_adapt *a = x->a;
    uint32_t pair;
    double latency = 0;
    sv__metapath m = {x->b->scratch, 0};
    if (flow->used < 2)
        return SV_OK;
    SV_TRY(sv__pairs_get(x->b, flow->from, a->r->first[a->f->num_switches + flow->to], &pair));
    sv__pair *p = x->b->pairs.at[pair];
    if (sv__store_find(&p->store, pattern, a->set.similar) != NULL)
        return SV_OK;
    SV_TRY(metapath_of(x, flow, p, &m, &latency));
    sv__solution *s = sv__store_add(&p->store, &x->b->shelf);
    if (s == NULL)
        return SV_NO_MEMORY;
    sv__solution_fill(s, pattern, &m, latency, x->b->shelf.most_paths);
    return SV_OK;
}

/* A pattern for each contended channel, and a solution for each flow of it. */
static sv_status solve(struct phase *x)
{
    sv_adapt *a = x->a;
    sv__flows *pattern = &x->b->found;
    for (uint32_t c = 0; c < a->f->num_channels; c++) {
        if (!is_contended(x, c))
            continue;
        pattern->count = 0;
        pattern->router = a->f->tail[c].i;
        for (uint32_t i = x->first[c]; i < x->first[c + 1] && pattern->count < a->set.flows; i++) {
            const struct flow *flow = &x->flows[x->crosses[i]];
            pattern->at[pattern->count++] = sv__flow(flow->from, flow->to);
        }
        sv__flows_sort(pattern);
        for (uint32_t i = x->first[c]; i < x->first[c + 1]; i++)
            SV_TRY(keep(x, &x->flows[x->crosses[i]], pattern));
    }
    return SV_OK;
}

static sv_status work(struct phase *x, const sv_mpi_flow *ranks, uint32_t count, const sv_node *map)
{
    SV_TRY(gather(x, ranks, count, map));
    for (uint32_t i = 0; i < x->count; i++)
        SV_TRY(find_ways(x, &x->flows[i]));
    SV_TRY(index_channels(x));
    find_contended(x);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < x->count; i++)
            lay(x, &x->flows[i]);
    return solve(x);
}

/* ---- all phases ---- */

static sv_status seed_phase(sv_ctx *ctx, sv_adapt *a, const sv_mpi_trace *trace,
                            const sv_mpi_summary *summary, uint32_t phase, const sv_node *map)
{
    sv_mpi_flow *flows = NULL;
    uint32_t count = 0;
    struct phase x = {.a = a, .b = a->state};
    SV_TRY(sv_mpi_phase_flows(ctx, trace, summary, phase, &flows, &count));
    sv_arena_init(&x.arena, ctx);
    sv_status status = work(&x, flows, count, map);
    sv_arena_release(&x.arena);
    sv_release(ctx, flows);
    return status;
}

static sv_status seed_all(sv_ctx *ctx, sv_adapt *a, const sv_mpi_trace *trace, const sv_node *map)
{
    sv_mpi_summary *summary = NULL;
    sv_status status = SV_OK;
    SV_TRY(sv_mpi_summarise(ctx, trace, &summary));
    for (uint32_t i = 0; status == SV_OK && i < summary->num_phases; i++) {
        if (summary->phases[i].relevant)
            status = seed_phase(ctx, a, trace, summary, i, map);
        if (status == SV_OK)
            status = sv_progress(ctx, "phases", i + 1, summary->num_phases);
    }
    sv_mpi_summary_free(summary);
    return status;
}

static sv_status check_map(sv_ctx *ctx, const sv_fabric *f, const sv_mpi_trace *trace,
                           const sv_node *map)
{
    for (uint32_t i = 0; i < trace->num_ranks; i++)
        if (map[i].i >= sv_num_nodes(f) || sv_is_switch(f, map[i]))
            return sv_fail(ctx, SV_BAD_INPUT, "rank %u is not on a terminal", i);
    return SV_OK;
}

sv_status sv_adapt_seed(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const sv_mpi_trace *trace, const sv_adapt_seed_request *request,
                        const sv_sink *sink)
{
    char spec[80], flows[40] = "";
    sv_adapt *a = NULL;
    unsigned lanes = 0;
    SV_TRY(check_map(ctx, fabric, trace, request->map));
    if (request->flows > 0)
        snprintf(flows, sizeof flows, ",flows=%u", request->flows);
    snprintf(spec, sizeof spec, "pr-drb:paths=%u%s", request->paths > 0 ? request->paths : 4,
             flows);
    SV_TRY(sv_adapt_new(ctx, fabric, routes,
                        &(sv_adapt_request){.spec = spec,
                                            .model = request->model,
                                            .seed = request->seed,
                                            .most_lanes = SV_MOST_LANES,
                                            .unproven = true},
                        &a, &lanes));
    sv_status status = seed_all(ctx, a, trace, request->map);
    if (status == SV_OK)
        status = sv_adapt_store_write(ctx, a, sink);
    sv_adapt_free(a);
    return status;
}
