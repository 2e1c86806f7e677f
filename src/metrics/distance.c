/*
 * distance.c: components, and distances between all switches.
 *
 * Idea: breadth-first search from 64 switches at once, one bit each (Then et al. 2014): a step
 * moves all 64 frontiers over a cable with one "or". Pairs at distance d are counted when their
 * bit is first set.
 *
 * Invariant: results are integer sums, so they do not depend on the number of threads.
 * Cost: O(switches / 64 * diameter * channels) word operations, and one addition for each pair of
 * switches with terminals.
 */
#include <selvage/metrics.h>
#include <string.h>

#include "base/bitset.h"
#include "base/threads.h"
#include "fabric/derive.h"

/* ---- components ---- */

sv_status sv_fabric_components(sv_ctx *ctx, const sv_fabric *fabric, sv_components *components)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    uint32_t nodes = sv_num_nodes(fabric);
    uint64_t *all = sv_bitset_new(&arena, nodes), *switches = sv_bitset_new(&arena, nodes);
    uint32_t *stack = SV_ARENA_NEW(&arena, uint32_t, nodes);
    sv_components found = {0, 0};
    sv_status status = all == NULL || switches == NULL || stack == NULL ? SV_NO_MEMORY : SV_OK;
    for (uint32_t v = 0; status == SV_OK && v < nodes; v++) {
        if (!sv_node_alive(fabric, (sv_node){v}))
            continue;
        if (!sv_bit(all, v)) {
            sv_flood(fabric, (sv_node){v}, false, all, stack);
            found.all++;
        }
        if (v < fabric->num_switches && !sv_bit(switches, v)) {
            sv_flood(fabric, (sv_node){v}, true, switches, stack);
            found.switches++;
        }
    }
    sv_arena_release(&arena);
    if (status == SV_OK)
        *components = found;
    return status;
}

/* ---- distances ---- */

struct batch {
    uint64_t pairs, sum;                   /* of ordered pairs of different switches */
    uint64_t terminal_pairs, terminal_sum; /* the same, each pair times its terminals */
    uint32_t longest;
};

struct scratch {
    uint64_t *seen, *frontier, *next;
};

struct survey {
    const sv_fabric *f;
    uint32_t *sources, num_sources; /* the live switches */
    uint64_t *terminals;            /* of each switch */
    struct batch *batches;
    struct scratch *scratch; /* one a worker */
};

/* Counts what was reached for the first time: new bits of one switch, distance cables away. */
static void count_new(const struct survey *survey, struct batch *batch, const uint32_t *sources,
                      uint32_t v, uint64_t bits, uint32_t distance)
{
    uint64_t count = (uint64_t)__builtin_popcountll(bits);
    batch->pairs += count;
    batch->sum += count * distance;
    if (survey->terminals[v] == 0)
        return;
    uint64_t near = 0;
    for (; bits != 0; bits &= bits - 1)
        near += survey->terminals[sources[__builtin_ctzll(bits)]];
    batch->terminal_pairs += near * survey->terminals[v];
    batch->terminal_sum += near * survey->terminals[v] * distance;
}

/* One step of all frontiers; false when none of them moved. */
static bool spread(const struct survey *survey, const struct scratch *scratch)
{
    const sv_fabric *f = survey->f;
    bool moved = false;
    for (uint32_t v = 0; v < f->num_switches; v++) {
        uint64_t bits = scratch->frontier[v];
        if (bits == 0)
            continue;
        SV_FOR_HOPS (f, ((sv_node){v}), hop)
            if (sv_is_switch(f, hop->to)) {
                scratch->next[hop->to.i] |= bits;
                moved = true;
            }
    }
    return moved;
}

static sv_status search_batch(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    struct survey *survey = arg;
    const sv_fabric *f = survey->f;
    const struct scratch *scratch = &survey->scratch[worker];
    struct batch *batch = &survey->batches[piece];
    const uint32_t *sources = survey->sources + 64 * piece;
    size_t bytes = f->num_switches * sizeof(uint64_t);
    memset(scratch->seen, 0, bytes);
    memset(scratch->frontier, 0, bytes);
    for (uint32_t i = 0; i < 64 && 64 * piece + i < survey->num_sources; i++) {
        scratch->seen[sources[i]] |= (uint64_t)1 << i;
        scratch->frontier[sources[i]] |= (uint64_t)1 << i;
        /* Terminals of one switch are 0 cables apart; each is paired with all but itself. */
        uint64_t own = survey->terminals[sources[i]];
        batch->terminal_pairs += own * (own - (own > 0));
    }
    for (uint32_t distance = 1;; distance++) {
        memset(scratch->next, 0, bytes);
        if (!spread(survey, scratch))
            return SV_OK;
        uint64_t any = 0;
        for (uint32_t v = 0; v < f->num_switches; v++) {
            uint64_t bits = scratch->next[v] & ~scratch->seen[v];
            scratch->frontier[v] = bits;
            if (bits == 0)
                continue;
            scratch->seen[v] |= bits;
            any |= bits;
            count_new(survey, batch, sources, v, bits, distance);
        }
        if (any == 0)
            return SV_OK;
        batch->longest = distance;
    }
}

static sv_status prepare(sv_ctx *ctx, sv_arena *arena, struct survey *survey, uint64_t *pieces)
{
    const sv_fabric *f = survey->f;
    survey->sources = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    survey->terminals = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
    if (survey->sources == NULL || survey->terminals == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        if (!sv_node_alive(f, (sv_node){s}))
            continue;
        survey->sources[survey->num_sources++] = s;
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            survey->terminals[s] += !sv_is_switch(f, hop->to);
    }
    *pieces = (survey->num_sources + 63) / 64;
    unsigned workers = sv_ctx_threads(ctx, *pieces);
    survey->batches = SV_ARENA_NEW(arena, struct batch, *pieces);
    survey->scratch = SV_ARENA_NEW(arena, struct scratch, workers);
    if (survey->batches == NULL || survey->scratch == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < workers; i++) {
        survey->scratch[i].seen = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
        survey->scratch[i].frontier = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
        survey->scratch[i].next = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
        if (survey->scratch[i].seen == NULL || survey->scratch[i].frontier == NULL ||
            survey->scratch[i].next == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

/* Pairs of terminals that are cabled to each other without a switch: 0 cables apart. */
static uint64_t back_to_back(const sv_fabric *f)
{
    uint64_t pairs = 0;
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
        SV_FOR_HOPS (f, ((sv_node){v}), hop)
            pairs += !sv_is_switch(f, hop->to);
    return pairs;
}

static void add_up(const struct survey *survey, uint64_t pieces, sv_distances *distances)
{
    struct batch all = {.terminal_pairs = back_to_back(survey->f)};
    for (uint64_t i = 0; i < pieces; i++) {
        const struct batch *batch = &survey->batches[i];
        all.pairs += batch->pairs;
        all.sum += batch->sum;
        all.terminal_pairs += batch->terminal_pairs;
        all.terminal_sum += batch->terminal_sum;
        all.longest = batch->longest > all.longest ? batch->longest : all.longest;
    }
    uint64_t terminals = survey->f->live_terminals;
    *distances = (sv_distances){
        .diameter = all.longest,
        .mean_distance = all.pairs == 0 ? 0 : (double)all.sum / (double)all.pairs,
        .mean_terminal_distance =
            all.terminal_pairs == 0 ? 0 : (double)all.terminal_sum / (double)all.terminal_pairs,
        .terminal_pairs = all.terminal_pairs,
        .unreachable_pairs = terminals == 0 ? 0 : terminals * (terminals - 1) - all.terminal_pairs};
}

sv_status sv_fabric_distances(sv_ctx *ctx, const sv_fabric *fabric, sv_distances *distances)
{
    struct survey survey = {.f = fabric};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    uint64_t pieces;
    sv_status status = prepare(ctx, &arena, &survey, &pieces);
    if (status == SV_OK)
        status = sv_parallel(ctx, "distances", pieces, search_batch, &survey);
    if (status == SV_OK)
        add_up(&survey, pieces, distances);
    sv_arena_release(&arena);
    return status;
}
