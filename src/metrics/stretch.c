/*
 * stretch.c: how much longer routes are than the shortest.
 *
 * Idea: one search from every switch with terminals gives the distances of all others to it; the
 * trees of its terminals (tree.c) give the hops. Routes are gathered by distance, so that the mean
 * of the quotients is a sum of whole numbers divided at the end.
 *
 * Invariant: sums are integers, so the number of threads does not show.
 * Cost: O(channels) a switch with terminals, O(switches) a destination.
 */
#include <string.h>

#include "base/threads.h"
#include "metrics/tree.h"

/* What a worker has for itself. */
struct part {
    sv__tree tree;
    uint32_t *distance, *queue; /* [switches] */
    uint64_t *pairs, *hops;     /* [switches]: of routes of that distance */
    uint64_t longer;
    double max;
};

struct survey {
    const sv_fabric *fabric;
    const sv_routes *routes;
    sv_portmap ports;
    uint32_t *terminals;
    struct part *parts;
};

static void search(const sv_fabric *f, struct part *p, uint32_t from)
{
    uint32_t head = 0, tail = 0;
    memset(p->distance, 0xff, f->num_switches * sizeof *p->distance);
    p->distance[from] = 0;
    p->queue[tail++] = from;
    while (head < tail) {
        uint32_t s = p->queue[head++];
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            if (sv_is_switch(f, hop->to) && p->distance[hop->to.i] == SV_NONE) {
                p->distance[hop->to.i] = p->distance[s] + 1;
                p->queue[tail++] = hop->to.i;
            }
    }
}

/* The routes to one destination, whose switch the distances are from. */
static void compare(const struct survey *c, struct part *p, uint32_t home)
{
    for (uint32_t i = 0; i < p->tree.count; i++) {
        uint32_t s = p->tree.order[i], hops = p->tree.hops[s], own = c->terminals[s];
        if (hops == SV_NONE || own == 0 || s == home)
            continue;
        uint32_t distance = p->distance[s];
        double stretch = (double)hops / distance;
        p->pairs[distance] += own;
        p->hops[distance] += (uint64_t)own * hops;
        p->longer += hops > distance ? own : 0;
        p->max = stretch > p->max ? stretch : p->max;
    }
}

static sv_status measure_one(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct survey *c = arg;
    const sv_fabric *f = c->fabric;
    struct part *p = &c->parts[worker];
    sv_node home = {(uint32_t)piece};
    if (c->terminals[home.i] == 0)
        return SV_OK;
    search(f, p, home.i);
    SV_FOR_HOPS (f, home, hop) {
        if (sv_is_switch(f, hop->to))
            continue;
        for (uint32_t d = c->routes->first[hop->to.i]; d < c->routes->first[hop->to.i + 1]; d++) {
            sv__tree_make(&p->tree, f, &c->ports, c->routes, d);
            compare(c, p, home.i);
        }
    }
    return SV_OK;
}

static sv_status prepare(struct survey *c, sv_arena *arena, unsigned workers)
{
    const sv_fabric *f = c->fabric;
    SV_TRY(sv_portmap_init(&c->ports, arena, f));
    c->terminals = sv__terminals(arena, f);
    c->parts = SV_ARENA_NEW(arena, struct part, workers);
    if (c->terminals == NULL || c->parts == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < workers; i++) {
        struct part *p = &c->parts[i];
        SV_TRY(sv__tree_init(&p->tree, arena, f));
        p->distance = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->queue = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->pairs = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
        p->hops = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
        if (p->distance == NULL || p->queue == NULL || p->pairs == NULL || p->hops == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

static sv_stretch sum_up(const struct survey *c, unsigned workers)
{
    sv_stretch all = {.max = 1};
    double sum = 0;
    for (unsigned i = 0; i < workers; i++) {
        all.longer_pairs += c->parts[i].longer;
        all.max = c->parts[i].max > all.max ? c->parts[i].max : all.max;
    }
    for (uint32_t distance = 1; distance < c->fabric->num_switches; distance++) {
        uint64_t hops = 0;
        for (unsigned i = 0; i < workers; i++) {
            hops += c->parts[i].hops[distance];
            all.pairs += c->parts[i].pairs[distance];
        }
        sum += (double)hops / distance;
    }
    all.avg = all.pairs > 0 ? sum / (double)all.pairs : 1;
    return all;
}

sv_status sv_routes_stretch(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                            sv_stretch *stretch)
{
    SV_TRY(sv__tables_fit(ctx, fabric, routes));
    unsigned workers = sv_ctx_threads(ctx, fabric->num_switches);
    struct survey c = {.fabric = fabric, .routes = routes};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = prepare(&c, &arena, workers);
    if (status == SV_OK)
        status = sv_parallel(ctx, "comparing lengths", fabric->num_switches, measure_one, &c);
    if (status == SV_OK)
        *stretch = sum_up(&c, workers);
    sv_arena_release(&arena);
    return status;
}
