/*
 * seed.c: solutions worked out beforehand from a trace (point 16; thesis 5.2, "offline
 * meta-information").
 *
 * For each relevant phase of the trace: its flows between terminals, in which of its steps each of
 * them is, and which channels they take by the tables. Flows of one step meet, those of different
 * ones do not. A channel between switches that flows of two sources take in a step is contended;
 * those of its flows that have most bytes are the pattern that its switch would find there.
 *
 * Ways are found for all flows of the phase together, so that they stay out of each other's way. A
 * flow whose path 0 has no channel that is busier than the flow's ends stays on it: it is the ends
 * that it waits for, and no other way helps. Others are cut into as many pieces as a pair may have
 * paths; each piece takes the way on which the busiest channel of all of the flow's steps is the
 * least busy (then the shortest, then the first), the largest flows first. That is done twice, the
 * second time with all others in their places. A flow's ways are its solution for the pattern of
 * each channel and step in which it meets others, whether it is among those that have most bytes or
 * not, with waits such that Eq. 3.6 gives each way its pieces. Who has path 0 alone, and waits for
 * its ends only when all others are in their places, has that as a solution, with itself as
 * pattern: for point 17. The decision has all of it to the letter.
 *
 * Links count as equally fast. The steps of one collective count as one.
 *
 * Invariant: the load of a channel in a step is that of all pieces that lie on it then.
 *
 * Cost: phases × steps × flows × paths × candidates × length. Memory: steps × channels, and linear
 * in the flows of a phase, times candidates and length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/balance.h"

enum { ROUNDS = 2, MAX_CANDIDATES = 32, CANDIDATES_A_PATH = 3 };

/* A way of a flow. */
struct way {
    sv_sim_way way;
    sv_channel *channels; /* from terminal to terminal */
    uint32_t length;
    uint32_t pieces;
};

struct flow {
    uint32_t from, to;     /* terminals */
    uint64_t bytes, steps; /* of one step, a mean; which */
    struct way *ways;
    uint32_t num_ways, used; /* used: with pieces */
    bool contends;           /* others stay on path 0 */
};

/* The work on one phase. */
struct phase {
    sv_adapt *a;
    sv__balance *b;
    sv_arena arena;
    struct flow *flows;
    uint32_t count, steps;
    uint64_t *load;    /* [steps × channels]: bytes × paths, now */
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
    /*~flows_pair*/ if (x->bytes != y->bytes)
        return x->bytes > y->bytes /*~flows_light*/ ? -1 : 1;
    return by_pair(a, b);
}

/* Whether a flow is in a step. */
static bool is_in(const struct flow *flow, unsigned step)
{
    return /*~steps_one*/ (flow->steps >> step & 1) != 0;
}

static void join(struct flow *to, const struct flow *from)
{
    /*~flow_bytes*/ to->bytes += from->bytes;
    /*~flow_steps*/ to->steps |= from->steps;
}

/* Bytes of all steps become those of one, a mean. */
static void spread(struct phase *x, struct flow *flow)
{
    uint64_t count = 0;
    for (unsigned s = 0; s < 64; s++)
        if (is_in(flow, s)) {
            count++;
            x->steps = s < x->steps ? x->steps : s + 1;
        }
    flow->bytes = /*~flow_all*/ 1 + flow->bytes / (count > 0 ? count : 1);
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
            x->flows[kept++] =
                (struct flow){.from = map[ranks[i].from].i - switches,
                              .to = map[ranks[i].to].i - switches,
                              .bytes = ranks[i].bytes /*~bytes_none*/ + ranks[i].messages,
                              .steps = ranks[i].steps};
    if (kept > 1)
        qsort(x->flows, kept, sizeof *x->flows, by_pair);
    x->count = 0;
    for (uint32_t i = 0; i < kept; i++)
        if (x->count > 0 && by_pair(&x->flows[x->count - 1], &x->flows[i]) == 0)
            join(&x->flows[x->count - 1], &x->flows[i]);
        else
            x->flows[x->count++] = x->flows[i];
    for (uint32_t i = 0; i < x->count; i++)
        spread(x, &x->flows[i]);
    if (x->count > 1)
        qsort(x->flows, x->count, sizeof *x->flows, by_bytes);
    return SV_OK;
}

/* The channels of a way. */
static sv_status fill_way(struct phase *x, const struct flow *flow, struct way *w)
{
    sv_adapt *a = x->a;
    uint32_t destination = a->r->first[a->f->num_switches + flow->to], count;
    w->channels = SV_ARENA_NEW(&x->arena, sv_channel, w->length);
    if (w->channels == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__ways_channels(a, flow->from, destination, &w->way, w->channels, w->length, &count));
    return SV_OK;
}

static sv_status find_ways(struct phase *x, struct flow *flow)
{
    sv_adapt *a = x->a;
    sv__adapt_path found[MAX_CANDIDATES];
    uint32_t max = /*~cand_two*/ CANDIDATES_A_PATH * a->set.paths, count;
    if (max > /*~cand_fewer*/ MAX_CANDIDATES)
        max = /*~cand_fewer*/ MAX_CANDIDATES;
    SV_TRY(sv__ways_find(a, flow->from, a->r->first[a->f->num_switches + flow->to], max, found,
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
    x->load = SV_ARENA_NEW(&x->arena, uint64_t, (size_t)x->steps * channels);
    if (x->first == NULL || x->load == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 1; k + 1 < x->flows[i].ways[0].length; k++, all++)
            x->first[x->flows[i].ways[0].channels[k].i + 2]++;
    x->crosses = SV_ARENA_NEW(&x->arena, uint32_t, all);
    if (x->crosses == NULL)
        return SV_NO_MEMORY;
    for (uint32_t c = 2; c <= channels + 1; c++)
        x->first[c] += x->first[c - 1];
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 1; k + 1 < x->flows[i].ways[0].length; k++)
            x->crosses[x->first[x->flows[i].ways[0].channels[k].i + 1]++] = i;
    return SV_OK;
}

/* ---- balance ---- */

/* Loads of a step. */
static uint64_t *loads(const struct phase *x, unsigned step)
{
    return x->load + (size_t)step * x->a->f->num_channels;
}

static void put(struct phase *x, const struct flow *flow, const struct way *w, uint64_t bytes,
                bool away)
{
    for (unsigned s = 0; s < x->steps; s++)
        for (uint32_t i = 0; /*~load_all*/ is_in(flow, s) && i < w->length; i++)
            loads(x, s)[w->channels[i].i] += away ? (uint64_t)0 - bytes : bytes;
}

/* The busiest channel between switches of a way in a step. */
static uint64_t busiest_in(const struct phase *x, const struct way *w, unsigned step)
{
    uint64_t max = 0;
    for /*~load_ends*/ (uint32_t i = 1; i + /*~load_last*/ 1 < w->length; i++)
        if (loads(x, step)[w->channels[i].i] > max)
            max = loads(x, step)[w->channels[i].i];
    return max;
}

/* … in any of a flow's steps, with a piece more. */
static uint64_t busiest(const struct phase *x, const struct flow *flow, const struct way *w)
{
    uint64_t max = 0;
    for (unsigned s = 0; s < x->steps; s++)
        if (/*~busy_any*/ is_in(flow, s) && busiest_in(x, w, s) > max)
            max = busiest_in(x, w, s);
    return max + flow->bytes;
}

/* Whether a flow's path 0 is busier than its ends in a step: then it is the way that it waits for.
 */
static bool is_crowded(const struct phase *x, const struct flow *flow)
{
    const struct way *w = flow->ways;
    for (unsigned s = 0; s < x->steps; s++) {
        uint64_t out = loads(x, /*~crowd_step*/ s)[w->channels[0].i];
        uint64_t in = loads(x, s)[w->channels[w->length - 1].i];
        if (/*~crowd_others*/ is_in(flow, s) &&
            busiest_in(x, w, s) /*~crowd_equal*/ > (out > in /*~crowd_one*/ ? out : in))
            return true;
    }
    return false;
}

/* By the tables alone. */
static void find_contended(struct phase *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        put(x, &x->flows[i], x->flows[i].ways, x->flows[i].bytes * x->a->set.paths, false);
    for (uint32_t i = 0; i < x->count; i++)
        x->flows[i].contends = /*~stay_none*/ is_crowded(x, &x->flows[i]);
    /*~lie_both*/ memset(x->load, 0, (size_t)x->steps * x->a->f->num_channels * sizeof *x->load);
}

/* Lays all pieces of a flow anew. A piece weighs what the flow has: loads are times paths. */
static void lay(struct phase *x, struct flow *flow)
{
    uint32_t pieces = x->a->set.paths;
    for (uint32_t i = 0; i < flow->num_ways; i++)
        put(x, flow, &flow->ways[i], /*~lie_again*/ flow->ways[i].pieces * flow->bytes, true);
    for (uint32_t i = 0; i < flow->num_ways; i++)
        flow->ways[i].pieces = 0;
    flow->used = 1; /* path 0 is open, with pieces or not */
    for (uint32_t k = 0; k < pieces; k++) {
        struct way *best = NULL;
        uint64_t min = 0;
        for (uint32_t i = 0; i < (flow->contends ? flow->num_ways : 1); i++) {
            struct way *w = &flow->ways[i];
            if (i > 0 && w->pieces == 0 && flow->used == /*~used_zero*/ pieces)
                continue;
            uint64_t max = busiest(x, flow, w);
            if (best == NULL || /*~length_first*/ max < min ||
                /*~length_any*/ (max == min && w->length /*~length_last*/ < best->length)) {
                best = w;
                min = max;
            }
        }
        flow->used += best != flow->ways && best->pieces == 0;
        best->pieces++;
        /*~pieces_one*/ put(x, flow, best, flow->bytes, false);
    }
}

/* ---- solutions ---- */

/* The metapath of a flow, with waits that give each way its pieces. */
static sv_status metapath_of(struct phase *x, const struct flow *flow, sv__drb_pair *p,
                             sv__metapath *m, double *latency)
{
    double whole = 0, pieces = 0;
    m->count = 0;
    for (uint32_t i = 0; i < flow->num_ways; i++) {
        const struct way *w = &flow->ways[i];
        uint32_t path;
        if (/*~path_left*/ i > 0 && w->pieces == 0)
            continue;
        SV_TRY(sv__pairs_path(x->b, p, &w->way, &path));
        double share = w->pieces > 0 ? w->pieces : /*~piece_half*/ 0.25;
        double empty =
            (double)sv__ways_empty(x->a, flow->from, w->length, /*~full_bare*/ x->b->full);
        sv__metapath_open(m, path, empty, share);
        whole = /*~longest_last*/ share * empty > whole ? share * empty : whole;
        pieces += share;
    }
    for (uint32_t i = 0; i < m->count; i++) /* share of it is above */
        m->at[i].waited = whole / m->at[i].waited /*~wait_latency*/ - m->at[i].empty;
    *latency = whole /*~latency_one*/ / pieces;
    return SV_OK;
}

static sv_status keep(struct phase *x, const struct flow *flow, const sv__flows *pattern)
{
    sv_adapt *a = x->a;
    uint32_t pair;
    double latency = 0;
    sv__metapath m = {x->b->scratch, 0};
    SV_TRY(sv__pairs_get(x->b, flow->from, a->r->first[a->f->num_switches + flow->to], &pair));
    sv__drb_pair *p = x->b->pairs.at[pair];
    if (/*~alike_none*/ sv__store_find(&p->store, pattern, /*~alike_same*/ a->set.similar) != NULL)
        return SV_OK;
    SV_TRY(metapath_of(x, flow, p, &m, &latency));
    sv__solution *s = sv__store_add(&p->store, &x->b->shelf);
    if (s == NULL)
        return SV_NO_MEMORY;
    sv__solution_fill(s, pattern, &m, latency, x->b->shelf.max_paths);
    return SV_OK;
}

/* Who meets on a channel in a step, those that have most bytes; empty if all are of one source. */
static void pattern_of(struct phase *x, uint32_t c, unsigned step, sv__flows *pattern)
{
    bool contended = false;
    *pattern = (sv__flows){pattern->at, 0, /*~found_end*/ x->a->f->tail[c].i};
    for (uint32_t i = x->first[c]; i < x->first[c + 1]; i++) {
        const struct flow *flow = &x->flows[x->crosses[i]];
        /*~told_steps*/ if (/*~told_contend*/ !is_in(flow, step))
            continue;
        if (pattern->count < x->a->set.flows)
            pattern->at[pattern->count++] = sv__flow(flow->from, flow->to);
        contended = contended || /*~source_self*/ sv__flow_from(pattern->at[0]) != flow->from;
    }
    pattern->count = contended ? pattern->count : 0;
    /*~pattern_order*/ sv__flows_sort(pattern);
}

/* Who waits for nothing but its ends is to stay where it is. */
static sv_status keep_still(struct phase *x, sv__flows *pattern)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const struct flow *flow = &x->flows[i];
        if (flow->used > 1 /*~stay_crowded*/ || /*~stay_tables*/ is_crowded(x, flow))
            continue;
        *pattern = (sv__flows){pattern->at, 1, /*~stay_switch*/ SV_NONE};
        pattern->at[0] = sv__flow(flow->from, flow->to);
        SV_TRY(keep(x, flow, pattern));
    }
    return SV_OK;
}

/* A pattern for each channel and step, and a solution for each flow of it that has several ways. */
static sv_status solve(struct phase *x)
{
    sv__flows *pattern = &x->b->found;
    for /*~channels_down*/ (uint32_t c = 0; c < x->a->f->num_channels; c++)
        for /*~steps_down*/ (unsigned s = 0; s < x->steps; s++) {
            pattern_of(x, c, s, pattern);
            for (uint32_t i = x->first[c];
                 /*~kept_untold*/ pattern->count > 0 && i < x->first[c + 1]; i++) {
                const struct flow *flow = &x->flows[x->crosses[i]];
                if (/*~kept_steps*/ flow->used > 1 && is_in(flow, s))
                    SV_TRY(keep(x, flow, pattern));
            }
        }
    return /*~stay_told*/ keep_still(x, pattern);
}

static sv_status work(struct phase *x, const sv_mpi_flow *ranks, uint32_t count, const sv_node *map)
{
    SV_TRY(gather(x, ranks, count, map));
    for (uint32_t i = 0; i < x->count; i++)
        SV_TRY(find_ways(x, &x->flows[i]));
    SV_TRY(index_channels(x));
    find_contended(x);
    for (uint32_t round = 0; round < /*~rounds_one*/ ROUNDS; round++)
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
        if (/*~phase_any*/ summary->phases[i].relevant)
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
    unsigned vls = 0;
    SV_TRY(check_map(ctx, fabric, trace, request->map));
    if (/*~flows_asked*/ request->flows > 0)
        snprintf(flows, sizeof flows, ",flows=%u", request->flows);
    snprintf(spec, sizeof spec, "pr-drb:paths=%u%s",
             request->paths > 0 ? request->paths : /*~paths_three*/ 4, flows);
    SV_TRY(sv_adapt_new(ctx, fabric, routes,
                        &(sv_adapt_request){.spec = spec,
                                            .model = request->model,
                                            .seed = /*~seed_other*/ request->seed,
                                            .max_vls = SV_MAX_VLS,
                                            .unproven = true},
                        &a, &vls));
    sv_status status = seed_all(ctx, a, trace, request->map);
    if (status == SV_OK)
        status = sv_adapt_store_write(ctx, a, sink);
    sv_adapt_free(a);
    return status;
}
