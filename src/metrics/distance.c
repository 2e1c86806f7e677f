/*
 * distance.c: components, and distances between all switches.
 *
 * Idea: breadth-first search from 64 switches at once, one bit each (Then et al. 2014): a step
 * moves all 64 frontiers over a cable with one "or", for the switches that were reached in the step
 * before. Pairs at distance d are counted when their bit is first set.
 *
 * Where it may be too much (a million switches in a row would take days), a batch of switches from
 * all over the fabric tells what one costs. If all would cost more than MAX_WORK, only some
 * switches are searched from, spread evenly: then means are those of the sample, and the diameter
 * is what was seen.
 *
 * Invariant: results are integer sums, and what is sampled depends on the fabric alone, so they do
 * not depend on the number of threads.
 * Cost: O(switches / 64 * (diameter or 64, if that is less) * channels) word operations, and one
 * addition for each pair of switches with terminals; bounded as said.
 */
#include <selvage/metrics.h>
#include <stdatomic.h>
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

/* Steps over a channel: about 40 seconds of a core, and about two. */
#define MAX_WORK    UINT64_C(5000000000)
#define SAMPLE_WORK UINT64_C(250000000)

/* So many of them between two looks at whether to go on. */
enum { LOOK_UP = 1 << 22 };

struct batch {
    uint64_t pairs, sum;                   /* of ordered pairs of different switches */
    uint64_t terminal_pairs, terminal_sum; /* the same, each pair times its terminals */
    uint64_t work;
    uint32_t longest;
};

struct scratch {
    uint64_t *seen, *frontier, *next; /* bits of each switch; the last two all 0 between steps */
    uint32_t *list, *reached;         /* switches with a frontier; those with bits in next */
};

struct survey {
    sv_ctx *ctx; /* the caller's, whose thread is worker 0 */
    const sv_fabric *f;
    uint32_t *sources, num_sources; /* live switches: all, or a sample */
    uint64_t *terminals;            /* of each switch */
    struct batch *batches;
    struct scratch *scratch; /* one a worker */
    atomic_bool stop;
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

/* One step of all frontiers; how many switches have bits in next. */
static uint32_t spread(const sv_fabric *f, const struct scratch *x, uint32_t count, uint64_t *work)
{
    uint32_t reached = 0;
    for (uint32_t i = 0; i < count; i++) {
        sv_node v = {x->list[i]};
        uint64_t bits = x->frontier[v.i];
        x->frontier[v.i] = 0;
        SV_FOR_HOPS (f, v, hop)
            if (sv_is_switch(f, hop->to)) {
                if (x->next[hop->to.i] == 0)
                    x->reached[reached++] = hop->to.i;
                x->next[hop->to.i] |= bits;
                ++*work;
            }
    }
    return reached;
}

/* Makes what is new in next the frontier; how many switches have one. */
static uint32_t advance(const struct survey *survey, const struct scratch *x, uint32_t reached,
                        struct batch *batch, const uint32_t *sources, uint32_t distance)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < reached; i++) {
        uint32_t v = x->reached[i];
        uint64_t bits = x->next[v] & ~x->seen[v];
        x->next[v] = 0;
        if (bits == 0)
            continue;
        x->seen[v] |= bits;
        x->frontier[v] = bits;
        x->list[count++] = v;
        count_new(survey, batch, sources, v, bits, distance);
    }
    return count;
}

/* The caller's thread asks, and tells the others. */
static bool asked_to_stop(struct survey *survey, unsigned worker)
{
    if (worker == 0 && sv_cancelled(survey->ctx))
        atomic_store(&survey->stop, true);
    return atomic_load(&survey->stop);
}

static uint32_t begin_batch(const struct survey *survey, const struct scratch *x,
                            struct batch *batch, const uint32_t *sources)
{
    size_t bytes = survey->f->num_switches * sizeof(uint64_t);
    uint32_t count = (uint32_t)(survey->sources + survey->num_sources - sources);
    count = count < 64 ? count : 64;
    memset(x->seen, 0, bytes);
    memset(x->frontier, 0, bytes);
    memset(x->next, 0, bytes);
    for (uint32_t i = 0; i < count; i++) {
        x->seen[sources[i]] |= (uint64_t)1 << i;
        x->frontier[sources[i]] |= (uint64_t)1 << i;
        x->list[i] = sources[i];
        /* Terminals of one switch are 0 cables apart; each is paired with all but itself. */
        uint64_t own = survey->terminals[sources[i]];
        batch->terminal_pairs += own * (own - (own > 0));
    }
    return count;
}

static sv_status search_batch(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    struct survey *survey = arg;
    const struct scratch *x = &survey->scratch[worker];
    struct batch *batch = &survey->batches[piece];
    const uint32_t *sources = survey->sources + 64 * piece;
    uint64_t looked = 0;
    uint32_t count = begin_batch(survey, x, batch, sources);
    for (uint32_t distance = 1; count > 0; distance++) {
        uint32_t reached = spread(survey->f, x, count, &batch->work);
        count = advance(survey, x, reached, batch, sources, distance);
        batch->longest = count > 0 ? distance : batch->longest;
        if (batch->work - looked < LOOK_UP)
            continue;
        looked = batch->work;
        if (asked_to_stop(survey, worker))
            return sv_fail(ctx, SV_CANCELLED, "cancelled during distances");
    }
    return SV_OK;
}

static sv_status make_scratch(sv_arena *arena, struct survey *survey, unsigned workers)
{
    uint32_t n = survey->f->num_switches;
    survey->scratch = SV_ARENA_NEW(arena, struct scratch, workers);
    if (survey->scratch == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < workers; i++) {
        struct scratch *x = &survey->scratch[i];
        x->seen = SV_ARENA_NEW(arena, uint64_t, n);
        x->frontier = SV_ARENA_NEW(arena, uint64_t, n);
        x->next = SV_ARENA_NEW(arena, uint64_t, n);
        x->list = SV_ARENA_NEW(arena, uint32_t, n);
        x->reached = SV_ARENA_NEW(arena, uint32_t, n);
        if (x->seen == NULL || x->frontier == NULL || x->next == NULL || x->list == NULL ||
            x->reached == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
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
    survey->batches = SV_ARENA_NEW(arena, struct batch, *pieces);
    if (survey->batches == NULL)
        return SV_NO_MEMORY;
    return make_scratch(arena, survey, sv_ctx_threads(ctx, *pieces));
}

/* Searches from so many switches only, spread over all of them. */
static sv_status search_some(sv_ctx *ctx, sv_arena *arena, struct survey *survey, uint64_t pieces)
{
    uint64_t all = survey->num_sources, some = 64 * pieces;
    uint32_t *whole = survey->sources, *sources = SV_ARENA_NEW(arena, uint32_t, some);
    if (sources == NULL)
        return SV_NO_MEMORY;
    for (uint64_t i = 0; i < some; i++)
        sources[i] = whole[(2 * i + 1) * all / (2 * some)];
    survey->sources = sources;
    survey->num_sources = (uint32_t)some;
    return sv_parallel(ctx, "distances", pieces, search_batch, survey);
}

/* How many batches of switches can be afforded: all, or fewer. */
static sv_status plan(sv_ctx *ctx, sv_arena *arena, const struct survey *survey, uint64_t *pieces)
{
    /* A channel is stepped over once for each switch, at most. */
    if (*pieces < 3 || survey->f->live_channels <= MAX_WORK / survey->num_sources)
        return SV_OK;
    struct survey probe = {.ctx = survey->ctx,
                           .f = survey->f,
                           .sources = survey->sources,
                           .num_sources = survey->num_sources,
                           .terminals = survey->terminals,
                           .scratch = survey->scratch};
    struct batch tried = {0};
    probe.batches = &tried;
    SV_TRY(search_some(ctx, arena, &probe, 1));
    if (tried.work > MAX_WORK / *pieces)
        *pieces = SAMPLE_WORK / tried.work + 1;
    return SV_OK;
}

static sv_status search(sv_ctx *ctx, sv_arena *arena, struct survey *survey, uint64_t *pieces)
{
    uint64_t all = *pieces;
    SV_TRY(plan(ctx, arena, survey, pieces));
    return *pieces < all ? search_some(ctx, arena, survey, *pieces)
                         : sv_parallel(ctx, "distances", all, search_batch, survey);
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

/* Pairs of terminals that reach each other, by components. */
static sv_status count_pairs(sv_arena *arena, const sv_fabric *f, uint64_t *pairs)
{
    uint64_t *seen = sv_bitset_new(arena, sv_num_nodes(f));
    uint32_t *stack = SV_ARENA_NEW(arena, uint32_t, sv_num_nodes(f));
    if (seen == NULL || stack == NULL)
        return SV_NO_MEMORY;
    *pairs = 0;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        if (!sv_node_alive(f, (sv_node){v}) || sv_bit(seen, v))
            continue;
        uint64_t terminals = sv_flood(f, (sv_node){v}, false, seen, stack);
        *pairs += terminals * (terminals - (terminals > 0));
    }
    return SV_OK;
}

static sv_status add_up(sv_arena *arena, const struct survey *survey, uint64_t pieces,
                        sv_distances *distances)
{
    struct batch all = {.terminal_pairs = back_to_back(survey->f)};
    bool sampled = survey->num_sources < survey->f->live_switches;
    for (uint64_t i = 0; i < pieces; i++) {
        const struct batch *batch = &survey->batches[i];
        all.pairs += batch->pairs;
        all.sum += batch->sum;
        all.terminal_pairs += batch->terminal_pairs;
        all.terminal_sum += batch->terminal_sum;
        all.longest = batch->longest > all.longest ? batch->longest : all.longest;
    }
    uint64_t terminals = survey->f->live_terminals, pairs = all.terminal_pairs;
    if (sampled)
        SV_TRY(count_pairs(arena, survey->f, &pairs));
    *distances = (sv_distances){
        .diameter = all.longest,
        .mean_distance = all.pairs == 0 ? 0 : (double)all.sum / (double)all.pairs,
        .mean_terminal_distance =
            all.terminal_pairs == 0 ? 0 : (double)all.terminal_sum / (double)all.terminal_pairs,
        .terminal_pairs = pairs,
        .unreachable_pairs = terminals == 0 ? 0 : terminals * (terminals - 1) - pairs,
        .sampled_switches = sampled ? survey->num_sources : 0};
    return SV_OK;
}

sv_status sv_fabric_distances(sv_ctx *ctx, const sv_fabric *fabric, sv_distances *distances)
{
    struct survey survey = {.ctx = ctx, .f = fabric};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    uint64_t pieces;
    sv_status status = prepare(ctx, &arena, &survey, &pieces);
    if (status == SV_OK)
        status = search(ctx, &arena, &survey, &pieces);
    if (status == SV_OK)
        status = add_up(&arena, &survey, pieces, distances);
    sv_arena_release(&arena);
    return status;
}
