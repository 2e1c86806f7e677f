/*
 * VLs.c: how many routes, and how many of their hops, are on each VL.
 *
 * Idea: like loads (load.c), but what is carried inwards over the tree of a destination is a number
 * of routes for each SL, because from there on the SL alone decides about VLs. Where all
 * terminals of a switch have one SL and one table of VLs they are handled as one.
 *
 * Invariants: waiting[s] has a bit for every SL with routes that left switch s towards another one;
 * it is empty between destinations. Sums are integers, so the number of threads does not show.
 * Cost: O(switches × SLs that meet) a destination.
 */
#include <string.h>

#include "base/threads.h"
#include "metrics/tree.h"

/* What a worker has for itself. */
struct part {
    sv__tree tree;
    uint32_t *routes;  /* [switches × SLs] that left a switch for another */
    uint64_t *waiting; /* [switches]: the SLs of them */
    sv_vl_use use;
};

struct count {
    const sv_fabric *fabric;
    const sv_routes *tables;
    sv_portmap ports;
    uint32_t *terminals;
    bool *uniform; /* [switches]: all terminals have the same SLs and VLs */
    struct part *parts;
};

/* Routes with an SL that came into a switch at a port leave it; their VL. */
static unsigned leave(const struct count *c, struct part *p, uint32_t s, unsigned in, unsigned sl,
                      uint32_t routes)
{
    const sv_fabric *f = c->fabric;
    uint32_t out = p->tree.out[s];
    unsigned vl = sv_route_sl2vl(c->tables, f, (sv_node){s}, in, f->port[out])->of_sl[sl];
    if (vl == SV_NO_VL) {
        p->use.discarded += routes;
    } else if (p->tree.hops[s] > 0) {
        p->use.hops[vl] += routes;
        p->routes[(size_t)s * SV_MAX_SLS + sl] += routes;
        p->waiting[s] |= (uint64_t)1 << sl;
    }
    return vl;
}

/* Routes that start at terminals like this one. */
static void start(const struct count *c, struct part *p, uint32_t s, const sv_hop *hop, uint32_t d,
                  uint32_t routes)
{
    const sv_fabric *f = c->fabric;
    sv_channel up = f->reverse[hop->channel.i];
    unsigned sl = sv_route_sl(c->tables, hop->to, d);
    if (sl >= SV_MAX_SLS) {
        p->use.unknown += routes;
        return;
    }
    if (sv_route_sl2vl(c->tables, f, hop->to, 0, f->port[up.i])->of_sl[sl] == SV_NO_VL) {
        p->use.discarded += routes;
        return;
    }
    unsigned vl = leave(c, p, s, f->port[hop->channel.i], sl, routes);
    if (vl == SV_NO_VL)
        return;
    if (p->tree.hops[s] > 0)
        p->use.routes[vl] += routes;
    else
        p->use.local += routes;
}

static void start_all(const struct count *c, struct part *p, uint32_t s, uint32_t d)
{
    const sv_fabric *f = c->fabric;
    sv_node to = c->tables->node[d];
    uint32_t own = c->terminals[s] - (sv_switch_of(f, to).i == s);
    SV_FOR_HOPS (f, ((sv_node){s}), hop) {
        if (sv_is_switch(f, hop->to) || hop->to.i == to.i)
            continue;
        start(c, p, s, hop, d, c->uniform[s] ? own : 1);
        if (c->uniform[s])
            return;
    }
}

/* What left a switch arrives at the next one and leaves that. */
static void pass_on(const struct count *c, struct part *p, uint32_t s)
{
    const sv_fabric *f = c->fabric;
    uint32_t out = p->tree.out[s];
    for (uint64_t sls = p->waiting[s]; sls != 0; sls &= sls - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(sls);
        uint32_t *routes = &p->routes[(size_t)s * SV_MAX_SLS + sl];
        leave(c, p, f->head[out].i, f->port[f->reverse[out].i], sl, *routes);
        *routes = 0;
    }
    p->waiting[s] = 0;
}

static sv_status count_one(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct count *c = arg;
    const sv_fabric *f = c->fabric;
    struct part *p = &c->parts[worker];
    sv_node to = {f->num_switches + (uint32_t)piece};
    if (!sv_node_alive(f, to))
        return SV_OK;
    for (uint32_t d = c->tables->first[to.i]; d < c->tables->first[to.i + 1]; d++) {
        sv__tree_make(&p->tree, f, &c->ports, c->tables, d);
        for (uint32_t i = 0; i < p->tree.count; i++) {
            uint32_t s = p->tree.order[i];
            if (p->tree.hops[s] == SV_NONE)
                continue;
            start_all(c, p, s, d);
            pass_on(c, p, s);
        }
    }
    return SV_OK;
}

static bool is_uniform(const sv_fabric *f, const sv_routes *r, uint32_t s)
{
    uint32_t first = SV_NONE;
    if (r->sl_form == SV_SL_BY_NODE || r->sl2vl_by_port[s] != NULL)
        return false;
    SV_FOR_HOPS (f, ((sv_node){s}), hop) {
        if (sv_is_switch(f, hop->to))
            continue;
        if (first == SV_NONE)
            first = r->vls_of[hop->to.i];
        if (r->vls_of[hop->to.i] != first)
            return false;
    }
    return true;
}

static sv_status prepare(struct count *c, sv_arena *arena, unsigned workers)
{
    const sv_fabric *f = c->fabric;
    SV_TRY(sv_portmap_init(&c->ports, arena, f));
    c->terminals = sv__terminals(arena, f);
    c->uniform = SV_ARENA_NEW(arena, bool, f->num_switches);
    c->parts = SV_ARENA_NEW(arena, struct part, workers);
    if (c->terminals == NULL || c->uniform == NULL || c->parts == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++)
        c->uniform[s] = is_uniform(f, c->tables, s);
    for (unsigned i = 0; i < workers; i++) {
        struct part *p = &c->parts[i];
        SV_TRY(sv__tree_init(&p->tree, arena, f));
        p->routes = SV_ARENA_NEW(arena, uint32_t, (size_t)f->num_switches * SV_MAX_SLS);
        p->waiting = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
        if (p->routes == NULL || p->waiting == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

sv_status sv_routes_vls(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        sv_vl_use *use)
{
    SV_TRY(sv__tables_fit(ctx, fabric, routes));
    unsigned workers = sv_ctx_threads(ctx, fabric->num_terminals);
    struct count c = {.fabric = fabric, .tables = routes};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = prepare(&c, &arena, workers);
    if (status == SV_OK)
        status = sv_parallel(ctx, "counting VLs", fabric->num_terminals, count_one, &c);
    if (status == SV_OK) {
        *use = (sv_vl_use){.known = routes->sl2vl_known};
        for (unsigned i = 0; i < workers; i++) {
            const sv_vl_use *part = &c.parts[i].use;
            use->local += part->local;
            use->discarded += part->discarded;
            use->unknown += part->unknown;
            for (unsigned vl = 0; vl < SV_MAX_VLS; vl++) {
                use->routes[vl] += part->routes[vl];
                use->hops[vl] += part->hops[vl];
            }
        }
    }
    sv_arena_release(&arena);
    return status;
}
