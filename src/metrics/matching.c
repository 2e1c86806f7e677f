/*
 * matching.c: effective bisection bandwidth from random perfect matchings.
 *
 * Idea: shuffle the compute terminals; the first half sends to the second. Follow every flow,
 * counting on each channel and writing its way down; then the largest count on its way is what it
 * shares its bandwidth with. Each matching has a random stream of its own, made from the seed and
 * its number, so that it does not matter who draws it, nor how many others are drawn.
 *
 * Invariants: crowd[] is zero between matchings (what was counted is taken back); sums of one
 * matching are made in one order and matchings are summed in theirs, so the number of threads does
 * not show. In a matching the channels of terminals carry one flow each way, so leaving them out
 * changes nothing.
 * Cost: a few loads a hop; the tables are the only thing that does not fit the nearest cache.
 * Source: effective bisection bandwidth is of Hoefler, Schneider, Lumsdaine: Multistage Switches
 * are not Crossbars, 2008. That only the first of a pair sends is this library's definition.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "base/threads.h"
#include "metrics/tree.h"

/* What a worker has for itself. */
struct part {
    uint32_t *order;         /* [terminals] */
    uint32_t *crowd;         /* [channels]: flows on it */
    uint32_t *end;           /* [flows]: where a flow's way ends in ways */
    SV_ARRAY(uint32_t) ways; /* channels, flow after flow */
    uint64_t lost;
    uint32_t worst;
};

struct draw {
    const sv_fabric *fabric;
    const sv_routes *routes;
    sv_portmap ports;
    uint32_t *terminals; /* that compute */
    uint32_t num_terminals, flows;
    uint64_t seed;
    double *bandwidth; /* [matchings] */
    struct part *parts;
};

/* Follows all flows; NO_MEMORY or OK. A flow that does not arrive ends with SV_NONE. */
static sv_status send(sv_ctx *ctx, const struct draw *d, struct part *p)
{
    const sv_fabric *f = d->fabric;
    const sv_routes *r = d->routes;
    uint32_t n = f->num_switches;
    p->ways.length = 0;
    for (uint32_t i = 0; i < d->flows; i++) {
        uint32_t from = p->order[i], to = p->order[d->flows + i], home = r->home[from - n];
        /* A way takes at most n channels; one more for the mark of a lost flow. */
        if (p->ways.room < p->ways.length + n + 1)
            SV_TRY(sv_array_reserve(ctx, &p->ways, p->ways.length + n + 1));
        uint32_t *way = p->ways.at + p->ways.length;
        uint32_t hops = home == SV_NONE
                            ? SV_NONE
                            : sv__follow(&d->ports, n, r->ports[r->first[to]], home, to, way);
        if (hops == SV_NONE) {
            way[0] = SV_NONE;
            hops = 1;
        } else {
            for (uint32_t k = 0; k < hops; k++)
                p->crowd[way[k]]++;
        }
        p->ways.length += hops;
        p->end[i] = (uint32_t)p->ways.length;
    }
    return SV_OK;
}

/* The mean share of the flows. */
static double share(const struct draw *d, struct part *p)
{
    double sum = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->flows; i++) {
        uint32_t max = 1;
        if (at < p->end[i] && p->ways.at[at] == SV_NONE) {
            p->lost++;
            at = p->end[i];
            continue;
        }
        for (; at < p->end[i]; at++) {
            uint32_t crowd = p->crowd[p->ways.at[at]];
            max = crowd > max ? crowd : max;
        }
        sum += 1.0 / max;
        p->worst = max > p->worst ? max : p->worst;
    }
    for (size_t k = 0; k < p->ways.length; k++)
        if (p->ways.at[k] != SV_NONE)
            p->crowd[p->ways.at[k]] = 0;
    return d->flows > 0 ? sum / d->flows : 0;
}

static sv_status match_one(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    const struct draw *d = arg;
    struct part *p = &d->parts[worker];
    sv_rng rng;
    sv_rng_init(&rng, d->seed + piece);
    memcpy(p->order, d->terminals, d->num_terminals * sizeof *p->order);
    sv_rng_shuffle(&rng, p->order, d->num_terminals);
    SV_TRY(send(ctx, d, p));
    d->bandwidth[piece] = share(d, p);
    return SV_OK;
}

static sv_status prepare(struct draw *d, sv_arena *arena, uint32_t matchings, unsigned workers)
{
    const sv_fabric *f = d->fabric;
    SV_TRY(sv_portmap_init(&d->ports, arena, f));
    d->terminals = SV_ARENA_NEW(arena, uint32_t, f->num_terminals);
    d->bandwidth = SV_ARENA_NEW(arena, double, matchings);
    d->parts = SV_ARENA_NEW(arena, struct part, workers);
    if (d->terminals == NULL || d->bandwidth == NULL || d->parts == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (f->terminals[t].role == SV_ROLE_COMPUTE &&
            sv_node_alive(f, (sv_node){f->num_switches + t}))
            d->terminals[d->num_terminals++] = f->num_switches + t;
    d->flows = d->num_terminals / 2;
    for (unsigned i = 0; i < workers; i++) {
        struct part *p = &d->parts[i];
        p->order = SV_ARENA_NEW(arena, uint32_t, d->num_terminals);
        p->crowd = SV_ARENA_NEW(arena, uint32_t, f->num_channels);
        p->end = SV_ARENA_NEW(arena, uint32_t, d->flows);
        if (p->order == NULL || p->crowd == NULL || p->end == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

static sv_matchings sum_up(const struct draw *d, uint32_t matchings, unsigned workers)
{
    sv_matchings all = {.flows = d->flows, .min = matchings > 0 ? 1 : 0};
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < workers; i++) {
        all.lost += d->parts[i].lost;
        all.worst = d->parts[i].worst > all.worst ? d->parts[i].worst : all.worst;
    }
    for (uint32_t i = 0; i < matchings; i++) {
        double b = d->bandwidth[i];
        sum += b;
        all.min = b < all.min ? b : all.min;
        all.max = b > all.max ? b : all.max;
    }
    all.avg = matchings > 0 ? sum / matchings : 0;
    for (uint32_t i = 0; i < matchings; i++)
        squares += (d->bandwidth[i] - all.avg) * (d->bandwidth[i] - all.avg);
    all.sdv = matchings > 0 ? sqrt(squares / matchings) : 0;
    return all;
}

sv_status sv_routes_matchings(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                              uint32_t matchings, uint64_t seed, double *bandwidth,
                              sv_matchings *found)
{
    SV_TRY(sv__tables_fit(ctx, fabric, routes));
    unsigned workers = sv_ctx_threads(ctx, matchings);
    struct draw d = {.fabric = fabric, .routes = routes};
    sv_rng rng;
    sv_rng_init(&rng, seed);
    d.seed = sv_rng_next(&rng); /* so that neighbouring seeds do not share matchings */
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = prepare(&d, &arena, matchings, workers);
    if (status == SV_OK)
        status = sv_parallel(ctx, "matchings", matchings, match_one, &d);
    if (status == SV_OK) {
        *found = sum_up(&d, matchings, workers);
        if (bandwidth != NULL)
            memcpy(bandwidth, d.bandwidth, matchings * sizeof *bandwidth);
    }
    for (unsigned i = 0; d.parts != NULL && i < workers; i++)
        sv_array_release(ctx, &d.parts[i].ways);
    sv_arena_release(&arena);
    return status;
}
