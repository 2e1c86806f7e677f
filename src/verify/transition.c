/*
 * transition.c: what can happen while switches go over from old tables to new ones.
 *
 * While tables are being reprogrammed each switch may have the old or the new entry for a
 * destination, and old or new VLs, and a packet may carry the SL that was right before or after.
 * We take all of it at once: two ways out of a switch instead of one, and every combination of
 * VLs. If nothing goes wrong in that union, nothing goes wrong in any order of updates. The
 * reverse is not true: a union may have a cycle that no single mixture has (it is an answer on the
 * safe side).
 *
 * Idea: as in rows.c, sets of SLs for each VL of each way out are handed on until none grows any
 * more; but with two ways out this is a graph and not a tree, so a list of what changed replaces
 * the order from the tips inwards.
 *
 * Cost: as rows.c, times four at most, plus what circles in the union add.
 */
#include <selvage/verify.h>
#include <string.h>

#include "base/bitset.h"
#include "base/pool.h"
#include "verify/judge.h"

enum { WAYS = 2 };
enum { NOWHERE, GOES, ENDS };

struct change {
    sv_ctx *ctx;
    const sv_fabric *f;
    const sv_routes *tables[WAYS];
    sv__verify_case judged; /* the new tables */
    sv_portmap ports;
    sv__deps deps;
    unsigned vls;
    sv_traffic traffic;
    const uint64_t *const *quiet; /* [destinations]: who sends nothing; NULL: nobody */
    bool unknown;                 /* an SL that nobody told was stood in for */
    bool matters;                 /* SLs may go different VLs */
    sv_transition *found;
    /* For each switch; those with WAYS at [s * WAYS + way]. */
    uint8_t *ways, *kind;
    sv_channel *out;
    bool *strands, *strands_old;
    uint8_t *colour;
    uint32_t *stack;
    /* Of each way out: SLs on each VL, and whether it waits in the queue. */
    uint64_t *sets;
    uint32_t *queue;
    uint64_t *queued;
    uint32_t head, count;
};

/* Whether a node sends nothing to a destination meanwhile. */
static bool is_quiet(const struct change *x, sv_node from, uint32_t d)
{
    return x->quiet != NULL && x->quiet[d] != NULL && sv_bit(x->quiet[d], from.i);
}

static uint8_t classify(const struct change *x, uint32_t d, uint32_t s, unsigned port,
                        sv_channel *out)
{
    sv_node to = x->tables[1]->node[d];
    *out = sv_portmap_at(&x->ports, s, port);
    if (out->i == SV_NONE)
        return port == 0 && s == to.i ? ENDS : NOWHERE;
    sv_node next = x->f->head[out->i];
    if (sv_is_switch(x->f, next))
        return GOES;
    return next.i == to.i ? ENDS : NOWHERE;
}

/* The ways out of every switch; two only where they differ. Old first. */
static void list_ways(struct change *x, uint32_t d)
{
    for (uint32_t s = 0; s < x->f->num_switches; s++) {
        unsigned a = x->tables[0]->ports[d][s], b = x->tables[1]->ports[d][s];
        x->ways[s] = a == b ? 1 : 2;
        x->kind[s * WAYS] = classify(x, d, s, a, &x->out[s * WAYS]);
        x->kind[s * WAYS + 1] = classify(x, d, s, b, &x->out[s * WAYS + 1]);
    }
}

static uint32_t next_of(const struct change *x, uint32_t way)
{
    return x->f->head[x->out[way].i].i;
}

/* Whether the union has a circle that can be entered from a switch; colours what was seen. */
static bool circles_from(struct change *x, uint32_t start, uint32_t *at)
{
    enum { WHITE, GREY, GREY2, BLACK };
    uint32_t depth = 0;
    x->stack[depth++] = start;
    while (depth > 0) {
        uint32_t s = x->stack[depth - 1];
        unsigned way = x->colour[s];
        if (way > x->ways[s] - 1u) {
            x->colour[s] = BLACK;
            depth--;
            continue;
        }
        x->colour[s]++;
        if (x->kind[s * WAYS + way] != GOES)
            continue;
        uint32_t next = next_of(x, s * WAYS + way);
        if (x->colour[next] == WHITE) {
            x->stack[depth++] = next;
        } else if (x->colour[next] != BLACK) {
            *at = next;
            return true;
        }
    }
    return false;
}

static void find_circle(struct change *x, uint32_t d)
{
    memset(x->colour, 0, x->f->num_switches);
    for (uint32_t s = 0; s < x->f->num_switches; s++) {
        uint32_t at;
        if (!sv_node_alive(x->f, (sv_node){s}) || x->colour[s] != 0 || !circles_from(x, s, &at))
            continue;
        if (x->found->looping++ == 0) {
            x->found->loop_destination = d;
            x->found->loop_at = (sv_node){at};
        }
        return;
    }
}

/* Marks switches from where some way (or the old one) ends nowhere. */
static void spread_dead_ends(struct change *x)
{
    uint32_t n = x->f->num_switches;
    for (uint32_t s = 0; s < n; s++) {
        x->strands_old[s] = x->kind[s * WAYS] == NOWHERE;
        x->strands[s] = x->strands_old[s] || x->kind[s * WAYS + 1] == NOWHERE;
    }
    for (bool news = true; news;) {
        news = false;
        for (uint32_t s = 0; s < n; s++) {
            for (unsigned k = 0; k < x->ways[s] && !x->strands[s]; k++)
                if (x->kind[s * WAYS + k] == GOES && x->strands[next_of(x, s * WAYS + k)])
                    news = x->strands[s] = true;
            if (!x->strands_old[s] && x->kind[s * WAYS] == GOES &&
                x->strands_old[next_of(x, s * WAYS)])
                news = x->strands_old[s] = true;
        }
    }
}

/* Pairs with a switch that lose a path: from switches, and from terminals to a switch. */
static void count_strays(struct change *x, uint32_t d)
{
    sv_node to = x->tables[1]->node[d];
    unsigned to_switch = sv_is_switch(x->f, to);
    for (uint32_t s = 0; s < x->f->num_switches; s++) {
        if (!x->strands[s] || x->strands_old[s] || s == to.i || !sv_node_alive(x->f, (sv_node){s}))
            continue;
        if (to_switch + 1 <= (unsigned)x->traffic && !is_quiet(x, (sv_node){s}, d))
            x->found->strays++;
        if (to_switch == 0 || x->traffic < SV_TRAFFIC_MANAGED)
            continue;
        SV_FOR_HOPS (x->f, (sv_node){s}, hop)
            x->found->strays += !sv_is_switch(x->f, hop->to) && !is_quiet(x, hop->to, d);
    }
}

static void count_dead_ends(struct change *x, uint32_t d)
{
    sv_node to = x->tables[1]->node[d];
    spread_dead_ends(x);
    count_strays(x, d);
    if (sv_is_switch(x->f, to))
        return;
    for (uint32_t t = 0; t < x->f->num_terminals; t++) {
        sv_node from = {x->f->num_switches + t};
        if (!sv_node_alive(x->f, from) || from.i == to.i || is_quiet(x, from, d))
            continue;
        sv_node s = sv_switch_of(x->f, from);
        /* Without a switch of its own, only what it is cabled to can be reached. */
        bool loose = s.i == SV_NONE, joined = loose && sv_degree(x->f, from) > 0 &&
                                              x->f->hops[x->f->first[from.i]].to.i == to.i;
        if (loose ? joined : !x->strands[s.i])
            continue;
        x->found->broken += loose || x->strands_old[s.i];
        if (x->found->dead_ends++ == 0)
            x->found->lost = (sv_lost_pair){from, loose ? from : s, d, SV_TRACE_NO_ENTRY};
    }
}

/* ---- dependencies ---- */

static void enqueue(struct change *x, uint32_t way)
{
    if (sv_bit(x->queued, way))
        return;
    sv_bit_set(x->queued, way);
    x->queue[(x->head + x->count++) % (x->f->num_switches * WAYS)] = way;
}

/* Whether packets leave a switch by a way: to another, or to the terminal they are for. */
static bool leaves(const struct change *x, uint32_t way)
{
    return x->kind[way] == GOES || (x->kind[way] == ENDS && x->out[way].i != SV_NONE);
}

/*
 * Adds SLs that come in at a port to a way out, by old and new VLs; notes dependencies on a. What
 * ends at a terminal waits for nothing any more, but may be discarded.
 */
static void put(struct change *x, uint32_t s, unsigned way, unsigned in, sv_channel a,
                unsigned vl_a, uint64_t sls)
{
    sv_channel b = x->out[s * WAYS + way];
    uint64_t *sets = &x->sets[(size_t)(s * WAYS + way) * x->vls];
    for (int k = 0; k < WAYS; k++) {
        const sv_sl2vl *vls = sv_route_sl2vl(x->tables[k], x->f, (sv_node){s}, in, x->f->port[b.i]);
        for (uint64_t left = sls; left != 0; left &= left - 1) {
            unsigned sl = (unsigned)__builtin_ctzll(left), vl = vls->of_sl[sl];
            if (vl == SV_NO_VL) {
                x->found->discards = true;
                continue;
            }
            if (x->kind[s * WAYS + way] != GOES)
                continue;
            if (a.i != SV_NONE)
                sv__deps_add(&x->deps, a, vl_a, b, vl);
            if (!(sets[vl] >> sl & 1)) {
                sets[vl] |= (uint64_t)1 << sl;
                enqueue(x, s * WAYS + way);
            }
        }
    }
}

static uint64_t sls_of(struct change *x, sv_node from, uint32_t d)
{
    uint64_t sls = 0;
    for (int k = 0; k < WAYS; k++) {
        unsigned sl = sv_route_sl(x->tables[k], from, d), max = x->tables[k]->num_sls;
        x->unknown |= sl >= SV_MAX_SLS;
        sls |= sl < SV_MAX_SLS ? (uint64_t)1 << sl
                               : UINT64_MAX >> (SV_MAX_SLS - max); /* not known: any */
    }
    return sls;
}

/* The SLs that a terminal's adapter does not discard, before or after. */
static uint64_t sent_by(struct change *x, sv_node from, uint32_t d)
{
    uint64_t sls = sls_of(x, from, d), sent = 0;
    for (int k = 0; k < WAYS; k++) {
        const sv_sl2vl *vls = sv_route_sl2vl(x->tables[k], x->f, from, 0, 0);
        for (uint64_t left = sls; left != 0; left &= left - 1) {
            unsigned sl = (unsigned)__builtin_ctzll(left);
            if (vls->of_sl[sl] == SV_NO_VL)
                x->found->discards = true;
            else
                sent |= (uint64_t)1 << sl;
        }
    }
    return sent;
}

static void inject(struct change *x, uint32_t d)
{
    const sv_fabric *f = x->f;
    sv_node to = x->tables[1]->node[d];
    unsigned to_switch = sv_is_switch(f, to);
    for (uint32_t s = 0; s < f->num_switches; s++)
        for (unsigned k = 0; k < x->ways[s]; k++) {
            if (!leaves(x, s * WAYS + k))
                continue;
            if (s != to.i && to_switch + 1 <= (unsigned)x->traffic && !is_quiet(x, (sv_node){s}, d))
                put(x, s, k, 0, SV_NO_CHANNEL, 0, sls_of(x, (sv_node){s}, d));
            SV_FOR_HOPS (f, (sv_node){s}, hop)
                if (!sv_is_switch(f, hop->to) && hop->to.i != to.i &&
                    to_switch <= (unsigned)x->traffic && !is_quiet(x, hop->to, d))
                    put(x, s, k, f->port[hop->channel.i], SV_NO_CHANNEL, 0, sent_by(x, hop->to, d));
        }
}

static void flow(struct change *x, uint32_t d)
{
    inject(x, d);
    while (x->count > 0) {
        uint32_t way = x->queue[x->head];
        x->head = (x->head + 1) % (x->f->num_switches * WAYS);
        x->count--;
        sv_bit_clear(x->queued, way);
        uint32_t next = next_of(x, way);
        unsigned in = x->f->port[x->f->reverse[x->out[way].i].i];
        for (unsigned k = 0; k < x->ways[next]; k++)
            for (unsigned vl = 0; vl < x->vls; vl++)
                if (leaves(x, next * WAYS + k) && x->sets[(size_t)way * x->vls + vl])
                    put(x, next, k, in, x->out[way], vl, x->sets[(size_t)way * x->vls + vl]);
    }
    memset(x->sets, 0, (size_t)x->f->num_switches * WAYS * x->vls * sizeof *x->sets);
}

/* ---- all of it ---- */

static sv_status prepare(struct change *x, sv_arena *arena)
{
    size_t n = x->f->num_switches;
    for (int k = 0; k < WAYS; k++) {
        SV_TRY(sv__case_init(&x->judged, arena, x->f, x->tables[k], NULL));
        x->vls = x->judged.vls > x->vls ? x->judged.vls : x->vls;
        x->matters |= x->judged.sl_matters;
    }
    x->judged.vls = x->vls; /* now that of the new tables, with room for the old ones' VLs */
    x->ports = x->judged.ports;
    SV_TRY(sv__deps_init(&x->deps, arena, x->f, &x->ports, x->vls, false));
    x->ways = SV_ARENA_NEW(arena, uint8_t, n);
    x->kind = SV_ARENA_NEW(arena, uint8_t, n * WAYS);
    x->out = SV_ARENA_NEW(arena, sv_channel, n * WAYS);
    x->strands = SV_ARENA_NEW(arena, bool, n);
    x->strands_old = SV_ARENA_NEW(arena, bool, n);
    x->colour = SV_ARENA_NEW(arena, uint8_t, n);
    x->stack = SV_ARENA_NEW(arena, uint32_t, n + 1);
    x->sets = SV_ARENA_NEW(arena, uint64_t, n * WAYS * x->vls);
    x->queue = SV_ARENA_NEW(arena, uint32_t, n * WAYS + 1);
    x->queued = sv_bitset_new(arena, n * WAYS);
    return x->ways == NULL || x->kind == NULL || x->out == NULL || x->strands == NULL ||
                   x->strands_old == NULL || x->colour == NULL || x->stack == NULL ||
                   x->sets == NULL || x->queue == NULL || x->queued == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

static sv_status judge(struct change *x, sv_arena *arena)
{
    sv__vertex *cycle;
    size_t length;
    SV_TRY(sv__deps_order(&x->deps, arena, NULL, &cycle, &length));
    if (length == 0) {
        x->found->deadlock_free = SV_VERDICT_YES;
        return SV_OK;
    }
    bool known =
        x->tables[0]->sl2vl_known && x->tables[1]->sl2vl_known && !(x->unknown && x->matters);
    x->found->deadlock_free = known ? SV_VERDICT_NO : SV_VERDICT_UNKNOWN;
    x->found->cycle = SV_POOL_NEW(x->found->store, x->ctx, sv_wait, length);
    if (x->found->cycle == NULL)
        return SV_NO_MEMORY;
    x->found->cycle_length = length;
    for (size_t i = 0; i < length; i++)
        x->found->cycle[i] = (sv_wait){.channel = cycle[i].channel,
                                       .vl = cycle[i].vl,
                                       .sl = SV_NO_SL,
                                       .from = SV_NO_NODE,
                                       .destination = SV_NONE};
    return SV_OK;
}

static sv_status run(struct change *x, sv_arena *arena)
{
    uint32_t count = x->tables[1]->num_destinations;
    SV_TRY(prepare(x, arena));
    x->found->lost.from = x->found->loop_at = SV_NO_NODE;
    for (uint32_t d = 0; d < count; d++) {
        if (d % 64 == 0)
            SV_TRY(sv_progress(x->ctx, "checking the transition", d, count));
        list_ways(x, d);
        if (sv_node_alive(x->f, x->tables[1]->node[d])) {
            find_circle(x, d);
            count_dead_ends(x, d);
        }
        flow(x, d);
    }
    SV_TRY(sv__walk_groups(x->ctx, &x->judged, &x->deps));
    SV_TRY(sv_routes_changed_blocks(x->ctx, x->f, x->tables[0], x->tables[1],
                                    &x->found->changed_blocks));
    return judge(x, arena);
}

sv_status sv_verify_transition(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *old_routes,
                               const sv_routes *new_routes, sv_traffic traffic,
                               sv_transition **result)
{
    return sv_verify_transition_quiet(ctx, fabric, old_routes, new_routes, traffic, NULL, result);
}

sv_status sv_verify_transition_quiet(sv_ctx *ctx, const sv_fabric *fabric,
                                     const sv_routes *old_routes, const sv_routes *new_routes,
                                     sv_traffic traffic, const uint64_t *const *quiet,
                                     sv_transition **result)
{
    if (old_routes->num_destinations != new_routes->num_destinations)
        return sv_fail(ctx, SV_BAD_INPUT, "old and new tables have different destinations");
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    struct change x = {.ctx = ctx,
                       .f = fabric,
                       .tables = {old_routes, new_routes},
                       .traffic = traffic,
                       .quiet = quiet};
    x.found = SV_POOL_NEW(store, ctx, sv_transition, 1);
    sv_status status = x.found == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        x.found->store = store;
        status = run(&x, &arena);
    }
    sv_arena_release(&arena);
    if (status == SV_OK)
        *result = x.found;
    else
        sv__pool_drop(store);
    return status;
}

void sv_transition_free(sv_transition *t)
{
    if (t != NULL)
        sv__pool_drop(t->store);
}
