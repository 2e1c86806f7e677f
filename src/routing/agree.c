/*
 * agree.c: tables whose paths all go up first, then down, in an order of the switches.
 *
 * Such paths cannot wait for each other in a circle: along any of them channels first climb and
 * then descend. So nothing has to be put into a dependency graph; two comparisons a hop tell. On
 * trees that holds for the shortest paths from and to terminals (orient.c: one summit, which costs
 * paths between leaves nothing).
 *
 * It does not hold for all paths between switches without terminals. Those that do not agree either
 * get others that do: down if there is a way that only goes down, else up to whoever is nearest,
 * as in updn.c; or, where paths must stay shortest, they go into the second VL if they go down
 * first, then up, by levels: in a VL for themselves that is just as safe.
 *
 * Invariant: rows of paths that count are never changed.
 * Cost: O(switches) a destination; O(channels) for each switch that is one and has such paths.
 */
#include "routing/agree.h"

#include <string.h>

#include "routing/orient.h"

enum { CHUNK = 64 };

/* What is known of a switch's path to the destination at hand. */
enum { UNKNOWN, FOLLOWED, DOWN_ONLY, AGREES, DISAGREES };

struct sv__agree_worker {
    uint32_t *next;   /* [switches]: where it sends, or SV_NONE */
    uint32_t *length; /* [switches]: hops to the home */
    uint32_t *chain;  /* [switches] */
    uint8_t *state;   /* [switches] */
    bool *up;         /* [switches]: whether it sends up */
};

static sv_status init_workers(sv__agree *a)
{
    sv_arena *arena = a->x->job->arena;
    uint32_t n = a->x->core.num_switches;
    a->threads = sv_ctx_threads(a->x->job->ctx, a->x->job->routes->num_destinations);
    a->workers = SV_ARENA_NEW(arena, struct sv__agree_worker, a->threads);
    if (a->workers == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < a->threads; i++) {
        struct sv__agree_worker *w = &a->workers[i];
        w->next = SV_ARENA_NEW(arena, uint32_t, n);
        w->length = SV_ARENA_NEW(arena, uint32_t, n);
        w->chain = SV_ARENA_NEW(arena, uint32_t, n);
        w->state = SV_ARENA_NEW(arena, uint8_t, n);
        w->up = SV_ARENA_NEW(arena, bool, n);
        if (w->next == NULL || w->length == NULL || w->chain == NULL || w->state == NULL ||
            w->up == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

sv_status sv__agree_init(sv__agree *a, const sv__sssp *x, sv_layering *vls)
{
    const sv_core *core = &x->core;
    uint32_t n = core->num_switches, bare = 0, found, tail = 0;
    *a = (sv__agree){.x = x, .vls = vls};
    for (uint32_t s = 0; s < n; s++)
        bare += core->terminals[s] == 0 && sv_node_alive(x->job->fabric, (sv_node){s});
    if (bare == 0)
        return SV_OK; /* no levels */
    uint32_t *place = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    uint32_t *down = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    uint32_t *level = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    if (place == NULL || down == NULL || level == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        level[s] = core->terminals[s] > 0 ? 0 : SV_NONE;
        if (level[s] == 0)
            down[tail++] = s;
    }
    sv_core_spread(core, level, down, 0, tail);
    SV_TRY(sv__orient(x->job, core, SV__RANK_LEAVES, NULL, 0, place, &found));
    for (uint32_t s = 0; s < n; s++)
        a->live += place[s] != SV_NONE;
    for (uint32_t s = 0; s < n; s++)
        if (place[s] != SV_NONE)
            down[a->live - 1 - place[s]] = s;
    a->place = place;
    a->down = down;
    a->level = level;
    return init_workers(a);
}

static uint32_t home_of(const sv__agree *a, uint32_t d)
{
    sv_node to = a->x->job->routes->node[d];
    return sv_is_switch(a->x->job->fabric, to) ? to.i : sv_switch_of(a->x->job->fabric, to).i;
}

/* Where each switch sends, and which way, by an order in which lower numbers are higher. */
static void read_row(const sv__agree *a, struct sv__agree_worker *w, uint32_t d, uint32_t home)
{
    const sv_core *core = &a->x->core;
    const uint8_t *row = a->x->job->routes->ports[d];
    for (uint32_t s = 0; s < core->num_switches; s++) {
        uint32_t e = s == home ? SV_NONE : sv_core_entry(&a->vls->ports, s, row[s]);
        w->next[s] = e == SV_NONE ? SV_NONE : core->to[e];
        w->up[s] = e != SV_NONE && a->place[core->to[e]] < a->place[s];
    }
}

/* Whether no switch that counts is sent up again after it went down. */
static bool test_one(const sv__agree *a, struct sv__agree_worker *w, uint32_t d, uint32_t home)
{
    const sv_core *core = &a->x->core;
    bool terminal = !sv_is_switch(a->x->job->fabric, a->x->job->routes->node[d]), agree = true;
    read_row(a, w, d, home);
    for (uint32_t s = 0; s < core->num_switches && terminal; s++)
        if (w->next[s] != SV_NONE)
            agree = agree && (w->up[s] || !w->up[w->next[s]]);
    if (terminal)
        return agree;
    memset(w->state, UNKNOWN, core->num_switches);
    for (uint32_t from = 0; from < core->num_switches && agree; from++)
        for (uint32_t s = from;
             core->terminals[from] > 0 && w->state[s] == UNKNOWN && w->next[s] != SV_NONE && agree;
             s = w->next[s]) {
            w->state[s] = FOLLOWED;
            agree = w->up[s] || !w->up[w->next[s]];
        }
    return agree;
}

struct loop {
    sv__agree *a;
    const uint32_t *destinations; /* NULL: all switches */
    uint32_t count;
    bool detours;
    unsigned vls;
    bool *second; /* [chunks]: whether some path went into the second VL */
};

static sv_status test_chunk(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    const struct loop *loop = arg;
    const sv__agree *a = loop->a;
    for (uint64_t i = piece * CHUNK; i < loop->count && i < (piece + 1) * CHUNK; i++) {
        uint32_t d = loop->destinations[i], home = d == SV_NONE ? SV_NONE : home_of(a, d);
        if (home != SV_NONE && a->place[home] != SV_NONE &&
            !test_one(a, &a->workers[worker], d, home))
            return sv_fail(ctx, SV_INFEASIBLE, "a path goes up after it went down");
    }
    return SV_OK;
}

sv_status sv__agree_test(sv__agree *a, const uint32_t *destinations, uint32_t count, bool *agree)
{
    struct loop loop = {.a = a, .destinations = destinations, .count = count};
    *agree = false;
    if (a->place == NULL)
        return SV_OK;
    sv_status status = sv_parallel(a->x->job->ctx, "vls", ((uint64_t)count + CHUNK - 1) / CHUNK,
                                   test_chunk, &loop);
    *agree = status == SV_OK;
    return status == SV_INFEASIBLE ? SV_OK : status;
}

/* What is known of a switch, given the one it sends to. up: by place; else by level, downside up.
 */
static uint8_t judge(const sv__agree *a, const struct sv__agree_worker *w, uint32_t s,
                     bool by_level)
{
    uint32_t to = w->next[s];
    if (by_level && a->level[s] == a->level[to])
        return DISAGREES;
    bool first = by_level ? a->level[to] < a->level[s] : w->up[s];
    if (w->state[to] == DOWN_ONLY)
        return first ? AGREES : DOWN_ONLY;
    return w->state[to] == AGREES && first ? AGREES : DISAGREES;
}

/* The state of all paths of a row. DOWN_ONLY is what may be sent to from any direction. */
static void follow_all(const sv__agree *a, struct sv__agree_worker *w, uint32_t home, bool by_level)
{
    uint32_t n = a->x->core.num_switches;
    memset(w->state, UNKNOWN, n);
    w->state[home] = DOWN_ONLY;
    w->length[home] = 0;
    for (uint32_t from = 0; from < n; from++) {
        uint32_t s = from, count = 0;
        for (; w->state[s] == UNKNOWN && w->next[s] != SV_NONE; s = w->next[s]) {
            w->state[s] = FOLLOWED;
            w->chain[count++] = s;
        }
        if (w->state[s] == UNKNOWN || w->state[s] == FOLLOWED)
            w->state[s] = DISAGREES; /* it leads nowhere, or in a circle */
        while (count-- > 0) {
            s = w->chain[count];
            w->length[s] = w->length[w->next[s]] + 1;
            w->state[s] = w->state[s] == DISAGREES ? DISAGREES : judge(a, w, s, by_level);
        }
    }
}

/* A switch takes the nearest neighbour below that only goes down, or the nearest above. */
static void take_other(const sv__agree *a, struct sv__agree_worker *w, uint32_t s, bool up,
                       uint32_t lots, uint8_t *row)
{
    const sv_core *core = &a->x->core;
    uint32_t best = SV_NONE;
    uint64_t min = UINT64_MAX;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        uint32_t to = core->neighbour[e];
        bool fits =
            up ? a->place[to] < a->place[s] && (w->state[to] == AGREES || w->state[to] == DOWN_ONLY)
               : a->place[to] > a->place[s] && w->state[to] == DOWN_ONLY;
        uint64_t key = (uint64_t)w->length[to] << SV__LOT_BITS | sv__lot(core->back[e], lots);
        if (fits && key < min) {
            min = key;
            best = e;
        }
    }
    if (best == SV_NONE)
        return;
    w->length[s] = w->length[core->neighbour[best]] + 1;
    w->state[s] = up ? AGREES : DOWN_ONLY;
    row[s] = core->port[best];
}

/* Paths that do not agree get others. */
static void relay(const sv__agree *a, struct sv__agree_worker *w, uint32_t d, uint8_t *row)
{
    uint32_t lots = sv__lots(a->x->job, d);
    for (uint32_t i = 0; i < a->live; i++)
        if (w->state[a->down[i]] == DISAGREES)
            take_other(a, w, a->down[i], false, lots, row);
    for (uint32_t i = a->live; i-- > 0;)
        if (w->state[a->down[i]] == DISAGREES)
            take_other(a, w, a->down[i], true, lots, row);
}

/* VLs, and if need be paths, of a row. */
static sv_status finish_chunk(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    struct loop *loop = arg;
    const sv__agree *a = loop->a;
    const sv_routes *r = a->x->job->routes;
    struct sv__agree_worker *w = &a->workers[worker];
    uint32_t n = r->num_switches;
    (void)ctx;
    for (uint64_t i = piece * CHUNK; i < loop->count && i < (piece + 1) * CHUNK; i++) {
        uint32_t d = (uint32_t)i, home = home_of(a, d), disagree = 0;
        uint8_t *sls = r->sls[d];
        if (home == SV_NONE || !sv_node_alive(a->x->job->fabric, r->node[d]))
            continue;
        memset(sls, 0, n);
        if (!sv_is_switch(a->x->job->fabric, r->node[d]))
            continue;
        read_row(a, w, d, home);
        follow_all(a, w, home, false);
        if (loop->detours)
            relay(a, w, d, r->ports[d]);
        for (uint32_t s = 0; s < n; s++) {
            sls[s] = w->state[s] == DISAGREES ? SV_NO_SL : 0;
            disagree += w->state[s] == DISAGREES && w->next[s] != SV_NONE;
        }
        if (disagree == 0 || loop->vls < 2)
            continue;
        read_row(a, w, d, home);
        follow_all(a, w, home, true);
        for (uint32_t s = 0; s < n; s++)
            if (sls[s] == SV_NO_SL && w->state[s] != DISAGREES) {
                sls[s] = 1;
                loop->second[piece] = true;
            }
    }
    return SV_OK;
}

sv_status sv__agree_finish(sv__agree *a, bool detours, unsigned vls)
{
    sv__routing_job *job = a->x->job;
    sv_routes *r = job->routes;
    uint64_t chunks = ((uint64_t)r->num_destinations + CHUNK - 1) / CHUNK;
    struct loop loop = {.a = a,
                        .count = r->num_destinations,
                        .detours = detours,
                        .vls = vls,
                        .second = SV_ARENA_NEW(job->arena, bool, chunks)};
    if (loop.second == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < r->num_destinations; d++)
        if (sv_routes_sl_row(job->ctx, r, d) == NULL ||
            (sv_is_switch(job->fabric, r->node[d]) && sv_routes_row(job->ctx, r, d) == NULL))
            return SV_NO_MEMORY;
    SV_TRY(sv_parallel(job->ctx, "vls", chunks, finish_chunk, &loop));
    a->vls->vls = 1;
    for (uint64_t i = 0; i < chunks; i++)
        a->vls->vls = loop.second[i] ? 2 : a->vls->vls;
    return SV_OK;
}
