/*
 * bound.c: what the busiest channel and the mean path of no routing can be below.
 *
 * Idea: all routes from one side of a cut to the other share the channels that cross it, so the
 * busiest of them carries at least the mean; and all routes together take at least as many hops as
 * the distances add up to, shared by all channels. (Both are the linear program's dual with weights
 * 1 on the cut's channels, or on all.) Any set of switches gives a true bound; which sets are
 * looked at only decides how good it is:
 *
 * - each switch (with the terminals' routes to an address all on one channel, since a table has one
 *   entry for it), and each ball: all within so many hops of it;
 * - each cluster: a ball less those of its rim who have more channels outwards than into the ball
 *   (a group of a dragonfly is a ball around any of its switches, less the far ends of their
 *   cables);
 * - each subtree: what still hangs together without the switches above a level;
 * - two halves with equally many terminals (halves.c), in a build with METIS;
 * - all sets, in a component of at most 16 switches.
 *
 * A ball's channels outwards are those from its rim to the next one, so one search from a switch
 * gives all balls and all clusters around it.
 *
 * Invariant: components are judged by themselves, since nothing goes from one to another. What was
 * found from each switch is compared in order, so the number of threads does not show.
 * Cost: O(channels) a switch, on the context's threads; subtrees O(channels) a level, halves some
 * passes, few switches 2^15 sets of a component.
 * Source: thesis Def. 3.12; M.-C. Heydemann, J.-C. Meyer, D. Sotteau: On forwarding indices of
 * networks, 1989 (mean and cuts).
 */
#include <string.h>

#include "base/threads.h"
#include "fabric/derive.h"
#include "metrics/halves.h"
#include "metrics/tree.h"

enum { BATCH = 16 }; /* searches that make a piece of work */

struct component {
    uint32_t first, n; /* in members */
    uint64_t terminals, addresses, channels;
    uint64_t hops; /* distances of all routes, added up */
};

/* The best bound so far, or of one switch. */
struct best {
    uint64_t efi, terminals, channels;
    sv_bound_kind kind;
};

/* What the search from a switch found. */
struct found {
    struct best best;
    uint64_t hops;
};

/* What a worker has for itself: of a search, vertices in the order they were reached. */
struct scratch {
    uint32_t *level, *queue;
    bool *kept;
};

struct survey {
    sv__metrics_graph graph;
    uint64_t *terminals, *addresses; /* [n] of a switch */
    uint32_t *component, *members;   /* [n] */
    struct component *components;
    uint32_t num_components;
    struct found *found; /* [n] */
    struct scratch *scratch;
    struct best best;
};

/* A set of switches: what is inside, and the channels out of it (as many lead into it). */
struct set {
    uint64_t terminals, addresses, channels;
};

/* Keeps the higher of two bounds; of equal ones, the one that is easier to explain. */
static void keep_better(struct best *best, const struct best *other)
{
    if (other->efi > best->efi ||
        (other->efi == best->efi && other->efi > 0 && other->kind < best->kind))
        *best = *other;
}

static void consider(struct best *best, const struct component *c, const struct set *set,
                     sv_bound_kind kind)
{
    uint64_t out = set->terminals * (c->addresses - set->addresses);
    uint64_t in = (c->terminals - set->terminals) * set->addresses, max = out > in ? out : in;
    if (set->channels == 0)
        return;
    uint64_t efi = (max + set->channels - 1) / set->channels;
    keep_better(best, &(struct best){efi, set->terminals, set->channels, kind});
}

/* A switch has one channel for each address, and all its terminals send on that. */
static void consider_switch(struct best *best, const struct component *c, const struct set *set)
{
    if (set->channels == 0)
        return;
    uint64_t others = c->addresses - set->addresses;
    uint64_t efi = (others + set->channels - 1) / set->channels * set->terminals;
    keep_better(best, &(struct best){efi, set->terminals, set->channels, SV_BOUND_SWITCH});
}

static void put_in(struct set *set, const struct survey *s, uint32_t v)
{
    set->terminals += s->terminals[v];
    set->addresses += s->addresses[v];
}

/* ---- balls and clusters ---- */

/* Vertices by distance from one; returns how many it reaches. */
static uint32_t search(const sv__metrics_graph *g, const struct scratch *scratch, uint32_t from)
{
    uint32_t head = 0, tail = 0;
    memset(scratch->level, 0xff, g->n * sizeof *scratch->level);
    scratch->level[from] = 0;
    scratch->queue[tail++] = from;
    while (head < tail) {
        uint32_t v = scratch->queue[head++];
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            if (scratch->level[g->peer[k]] == SV_NONE) {
                scratch->level[g->peer[k]] = scratch->level[v] + 1;
                scratch->queue[tail++] = g->peer[k];
            }
    }
    return tail;
}

/* Channels of a vertex to its own level, kept or not, and to the levels below and above. */
struct near {
    uint64_t down, kept, dropped, up;
};

static struct near look(const sv__metrics_graph *g, const struct scratch *scratch, uint32_t v)
{
    struct near near = {0};
    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        uint32_t to = g->peer[k], level = scratch->level[to];
        if (level < scratch->level[v])
            near.down += g->cables[k];
        else if (level > scratch->level[v])
            near.up += g->cables[k];
        else if (scratch->kept[to])
            near.kept += g->cables[k];
        else
            near.dropped += g->cables[k];
    }
    return near;
}

/*
 * The ball of one more level, queue[begin … end); *set is the ball inside it and becomes the ball.
 * On the way the cluster: the inner ball and those of the level who stay.
 */
static void add_level(const struct survey *s, const struct scratch *scratch, uint32_t begin,
                      uint32_t end, struct set *set, struct best *best)
{
    const sv__metrics_graph *g = &s->graph;
    const struct component *c = &s->components[s->component[scratch->queue[0]]];
    struct set cluster = *set;
    uint32_t dropped = 0;
    set->channels = cluster.channels = 0;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t v = scratch->queue[i];
        struct near near = look(g, scratch, v);
        set->channels += near.up;
        put_in(set, s, v);
        scratch->kept[v] = near.down + near.kept + near.dropped >= near.up;
        if (scratch->kept[v]) {
            cluster.channels += near.up;
            put_in(&cluster, s, v);
        }
        dropped += !scratch->kept[v];
    }
    consider(best, c, set, begin == 0 ? SV_BOUND_SWITCH : SV_BOUND_BALL);
    if (begin == 0)
        consider_switch(best, c, set);
    if (dropped == 0 || dropped == end - begin)
        return; /* the ball, or the one before */
    for (uint32_t i = begin; i < end; i++)
        if (!scratch->kept[scratch->queue[i]]) {
            struct near near = look(g, scratch, scratch->queue[i]);
            cluster.channels += near.down + near.kept;
        }
    consider(best, c, &cluster, SV_BOUND_CLUSTER);
}

static void search_from(const struct survey *s, const struct scratch *scratch, uint32_t from)
{
    struct found *found = &s->found[from];
    uint32_t count = search(&s->graph, scratch, from);
    struct set ball = {0};
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        uint32_t level = scratch->level[scratch->queue[begin]];
        uint64_t addresses = 0;
        for (end = begin; end < count && scratch->level[scratch->queue[end]] == level; end++) {
            addresses += s->addresses[scratch->queue[end]];
            scratch->kept[scratch->queue[end]] = false;
        }
        found->hops += s->terminals[from] * addresses * level;
        add_level(s, scratch, begin, end, &ball, &found->best);
    }
}

static sv_status search_batch(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct survey *s = arg;
    for (uint64_t v = BATCH * piece; v < BATCH * (piece + 1) && v < s->graph.n; v++)
        search_from(s, &s->scratch[worker], (uint32_t)v);
    return SV_OK;
}

/* Searches from all switches, and what comes of them: mean, switches, balls, clusters. */
static sv_status search_all(sv_ctx *ctx, sv_arena *arena, struct survey *s)
{
    uint32_t n = s->graph.n;
    uint64_t pieces = ((uint64_t)n + BATCH - 1) / BATCH;
    unsigned workers = sv_ctx_threads(ctx, pieces);
    s->found = SV_ARENA_NEW(arena, struct found, n);
    s->scratch = SV_ARENA_NEW(arena, struct scratch, workers);
    if (s->found == NULL || s->scratch == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < workers; i++) {
        s->scratch[i].level = SV_ARENA_NEW(arena, uint32_t, n);
        s->scratch[i].queue = SV_ARENA_NEW(arena, uint32_t, n);
        s->scratch[i].kept = SV_ARENA_NEW(arena, bool, n);
        if (s->scratch[i].level == NULL || s->scratch[i].queue == NULL ||
            s->scratch[i].kept == NULL)
            return SV_NO_MEMORY;
    }
    SV_TRY(sv_parallel(ctx, "bounds", pieces, search_batch, s));
    for (uint32_t v = 0; v < n; v++)
        s->components[s->component[v]].hops += s->found[v].hops;
    for (uint32_t i = 0; i < s->num_components; i++) {
        const struct component *c = &s->components[i];
        uint64_t efi = c->channels > 0 ? (c->hops + c->channels - 1) / c->channels : 0;
        keep_better(&s->best, &(struct best){efi, c->terminals, c->channels, SV_BOUND_MEAN});
    }
    for (uint32_t v = 0; v < n; v++)
        keep_better(&s->best, &s->found[v].best);
    return SV_OK;
}

/* ---- other sets ---- */

/* Adds what hangs together with a vertex, no level above the highest. */
static void flood(const struct survey *s, const uint32_t *level, uint32_t highest, uint32_t from,
                  bool *seen, uint32_t *stack, struct set *set)
{
    const sv__metrics_graph *g = &s->graph;
    uint32_t depth = 0;
    seen[from] = true;
    stack[depth++] = from;
    while (depth > 0) {
        uint32_t v = stack[--depth];
        put_in(set, s, v);
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
            uint32_t to = g->peer[k];
            if (level[g->id[to]] > highest) {
                set->channels += g->cables[k];
            } else if (!seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        }
    }
}

static sv_status try_subtrees(sv_arena *arena, struct survey *s, const sv_fabric *f)
{
    uint32_t n = s->graph.n, highest, *level = sv_switch_levels(arena, f, &highest);
    bool *seen = SV_ARENA_NEW(arena, bool, n);
    uint32_t *stack = SV_ARENA_NEW(arena, uint32_t, n);
    if (level == NULL || seen == NULL || stack == NULL)
        return SV_NO_MEMORY;
    for (uint32_t top = 0; top < highest; top++) {
        memset(seen, 0, n * sizeof *seen);
        for (uint32_t v = 0; v < n; v++) {
            struct set set = {0};
            if (seen[v] || level[s->graph.id[v]] > top)
                continue;
            flood(s, level, top, v, seen, stack, &set);
            consider(&s->best, &s->components[s->component[v]], &set, SV_BOUND_SUBTREE);
        }
    }
    return SV_OK;
}

/* Judges a set of vertices, of one component or several. */
static sv_status try_sides(sv_arena *arena, struct survey *s, const uint8_t *side)
{
    const sv__metrics_graph *g = &s->graph;
    struct set *sets = SV_ARENA_NEW(arena, struct set, s->num_components);
    if (sets == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < g->n; v++) {
        struct set *set = &sets[s->component[v]];
        if (side[v] != 0)
            continue;
        put_in(set, s, v);
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            set->channels += side[g->peer[k]] != 0 ? g->cables[k] : 0;
    }
    for (uint32_t i = 0; i < s->num_components; i++)
        consider(&s->best, &s->components[i], &sets[i], SV_BOUND_HALVES);
    return SV_OK;
}

static sv_status try_halves(sv_ctx *ctx, sv_arena *arena, struct survey *s, const sv_fabric *f)
{
    sv__halves h;
    uint8_t *side = SV_ARENA_NEW(arena, uint8_t, s->graph.n);
    if (side == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__halves_make(&h, arena, &s->graph, f));
    bool found;
    SV_TRY(sv__halves_search(ctx, arena, &h, 1, 2, side, &found));
    return found ? try_sides(arena, s, side) : SV_OK;
}

/* All sets of a small component; its last vertex is never inside: those sets are complements. */
static void try_all(struct survey *s, const struct component *c)
{
    const sv__metrics_graph *g = &s->graph;
    const uint32_t *members = s->members + c->first;
    uint32_t inside = 0, number[SV__FEW][SV__FEW] = {{0}}, total[SV__FEW] = {0};
    struct set set = {0};
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = g->first[members[i]]; k < g->first[members[i] + 1]; k++)
            for (uint32_t j = 0; j < c->n; j++)
                if (members[j] == g->peer[k]) {
                    number[i][j] += g->cables[k];
                    total[i] += g->cables[k];
                }
    for (uint32_t code = 1; c->n > 1 && code < 1u << (c->n - 1); code++) {
        uint32_t i = (uint32_t)__builtin_ctz(code), within = 0; /* Gray code: this one moves */
        for (uint32_t j = 0; j < c->n; j++)
            within += inside >> j & 1 ? number[i][j] : 0;
        inside ^= 1u << i;
        if (inside >> i & 1) {
            set.channels = set.channels + total[i] - 2 * (uint64_t)within;
            put_in(&set, s, members[i]);
        } else {
            set.channels = set.channels + 2 * (uint64_t)within - total[i];
            set.terminals -= s->terminals[members[i]];
            set.addresses -= s->addresses[members[i]];
        }
        consider(&s->best, c, &set, SV_BOUND_CUT);
    }
}

/* ---- all together ---- */

/* Terminals of each vertex, and their addresses: one each if there are no tables. */
static sv_status count_terminals(sv_arena *arena, struct survey *s, const sv_fabric *f,
                                 const sv_routes *r)
{
    s->terminals = SV_ARENA_NEW(arena, uint64_t, s->graph.n);
    s->addresses = SV_ARENA_NEW(arena, uint64_t, s->graph.n);
    if (s->terminals == NULL || s->addresses == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < s->graph.n; v++) {
        SV_FOR_HOPS (f, ((sv_node){s->graph.id[v]}), hop) {
            if (sv_is_switch(f, hop->to))
                continue;
            s->terminals[v]++;
            s->addresses[v] += r == NULL ? 1 : r->first[hop->to.i + 1] - r->first[hop->to.i];
        }
    }
    return SV_OK;
}

static sv_status find_components(sv_arena *arena, struct survey *s)
{
    const sv__metrics_graph *g = &s->graph;
    uint32_t tail = 0;
    s->component = SV_ARENA_NEW(arena, uint32_t, g->n);
    s->members = SV_ARENA_NEW(arena, uint32_t, g->n);
    s->components = SV_ARENA_NEW(arena, struct component, g->n);
    if (s->component == NULL || s->members == NULL || s->components == NULL)
        return SV_NO_MEMORY;
    memset(s->component, 0xff, g->n * sizeof *s->component);
    for (uint32_t from = 0; from < g->n; from++) {
        struct component *c = &s->components[s->num_components];
        if (s->component[from] != SV_NONE)
            continue;
        c->first = tail;
        s->component[from] = s->num_components++;
        s->members[tail++] = from;
        for (uint32_t i = c->first; i < tail; i++) {
            uint32_t v = s->members[i];
            c->n++;
            c->terminals += s->terminals[v];
            c->addresses += s->addresses[v];
            for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
                c->channels += g->cables[k];
                if (s->component[g->peer[k]] == SV_NONE) {
                    s->component[g->peer[k]] = s->component[from];
                    s->members[tail++] = g->peer[k];
                }
            }
        }
    }
    return SV_OK;
}

static sv_status survey_all(sv_ctx *ctx, sv_arena *arena, struct survey *s, const sv_fabric *f,
                            const sv_routes *r)
{
    bool many = false;
    SV_TRY(sv__graph_make(&s->graph, arena, f));
    SV_TRY(count_terminals(arena, s, f, r));
    SV_TRY(find_components(arena, s));
    SV_TRY(search_all(ctx, arena, s));
    SV_TRY(try_subtrees(arena, s, f));
    for (uint32_t i = 0; i < s->num_components; i++) {
        if (s->components[i].n <= SV__FEW)
            try_all(s, &s->components[i]);
        else
            many = true;
    }
    return many ? try_halves(ctx, arena, s, f) : SV_OK;
}

sv_status sv_routes_bound(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                          sv_bound *bound)
{
    if (routes != NULL)
        SV_TRY(sv__tables_fit(ctx, fabric, routes));
    struct survey s = {0};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = survey_all(ctx, &arena, &s, fabric, routes);
    uint64_t hops = 0, pairs = 0;
    for (uint32_t i = 0; status == SV_OK && i < s.num_components; i++) {
        const struct component *c = &s.components[i];
        hops += c->hops;
        pairs += c->terminals == 0 ? 0 : (c->terminals - 1) * c->addresses;
    }
    if (status == SV_OK)
        *bound = (sv_bound){.efi = s.best.efi,
                            .kind = s.best.kind,
                            .terminals = s.best.terminals,
                            .channels = s.best.channels,
                            .pairs = pairs,
                            .hops = pairs > 0 ? (double)hops / (double)pairs : 0};
    sv_arena_release(&arena);
    return status;
}

const char *sv_bound_kind_name(sv_bound_kind kind)
{
    static const char *const names[] = {"none",    "mean",    "switch", "ball",
                                        "cluster", "subtree", "halves", "cut"};
    return names[kind];
}
