/*
 * lids.c: LIDs for destinations.
 *
 * A subnet manager keeps the LIDs that it finds; so do we, as far as they fit: a terminal's is
 * aligned to its 2^LMC addresses, and no two overlap. Of two nodes that claim the same, the first
 * keeps it. The rest gets the lowest free ones, in the order of nodes.
 *
 * Cost: linear in nodes and LIDs.
 */
#include "base/bitset.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "routes/routes.h"

struct giver {
    const sv_fabric *fabric;
    sv_routes *routes;
    uint64_t *taken; /* one bit a LID */
};

static uint32_t width_of(const sv_routes *r, uint32_t v)
{
    return r->first[v + 1] - r->first[v];
}

static bool is_free(const struct giver *g, uint32_t lid, uint32_t width)
{
    if (lid == 0 || lid % width != 0 || lid + width - 1 > SV_LID_MAX)
        return false;
    for (uint32_t k = 0; k < width; k++)
        if (sv_bit(g->taken, lid + k))
            return false;
    return true;
}

static void give(struct giver *g, uint32_t v, uint32_t lid)
{
    for (uint32_t k = 0; k < width_of(g->routes, v); k++) {
        sv_bit_set(g->taken, lid + k);
        g->routes->lid[g->routes->first[v] + k] = (uint16_t)(lid + k);
    }
}

static uint32_t lid_in(const sv_fabric *f, uint32_t v)
{
    return v < f->num_switches ? f->switches[v].lid : f->terminals[v - f->num_switches].lid;
}

/* The lowest LID from *next on that is free for a number of addresses; false when none is left. */
static bool next_free(const struct giver *g, uint32_t width, uint32_t *next)
{
    uint32_t lid = (*next + width - 1) / width * width;
    for (; lid + width - 1 <= SV_LID_MAX; lid += width)
        if (is_free(g, lid, width)) {
            *next = lid;
            return true;
        }
    return false;
}

/* LIDs for all live nodes that have none: the fabric's own where it is free, else the next. */
static sv_status give_rest(sv_ctx *ctx, struct giver *g)
{
    const sv_fabric *f = g->fabric;
    uint32_t nodes = sv_num_nodes(f), next[2] = {1, 1};
    const uint16_t *lid = g->routes->lid;
    const uint32_t *first = g->routes->first;
    for (uint32_t v = 0; v < nodes; v++)
        if (sv_node_alive(f, (sv_node){v}) && lid[first[v]] == 0 &&
            is_free(g, lid_in(f, v), width_of(g->routes, v)))
            give(g, v, lid_in(f, v));
    for (uint32_t v = 0; v < nodes; v++) {
        if (!sv_node_alive(f, (sv_node){v}) || lid[first[v]] != 0)
            continue;
        uint32_t width = width_of(g->routes, v);
        if (!next_free(g, width, &next[width > 1]))
            return sv_fail(ctx, SV_INFEASIBLE, "no free LID is left for \"%s\" (LMC %u)",
                           sv_node_name(f, (sv_node){v}), g->routes->lmc);
        give(g, v, next[width > 1]);
    }
    return SV_OK;
}

static sv_status give_all(sv_ctx *ctx, struct giver *g)
{
    const sv_fabric *f = g->fabric;
    uint64_t wanted = f->live_switches + ((uint64_t)f->live_terminals << g->routes->lmc);
    if (wanted > SV_LID_MAX)
        return sv_fail(ctx, SV_INFEASIBLE, "%llu addresses, but InfiniBand has %u unicast LIDs",
                       (unsigned long long)wanted, SV_LID_MAX);
    return give_rest(ctx, g);
}

sv_status sv_routes_assign_lids(sv_ctx *ctx, const sv_fabric *f, sv_routes *r)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    struct giver g = {f, r, sv_bitset_new(&arena, SV_LID_MAX + 1)};
    for (uint32_t d = 0; d < r->num_destinations; d++)
        r->lid[d] = 0;
    sv_status status = g.taken == NULL ? SV_NO_MEMORY : give_all(ctx, &g);
    sv_arena_release(&arena);
    if (status != SV_OK)
        for (uint32_t d = 0; d < r->num_destinations; d++)
            r->lid[d] = 0;
    return status;
}

static void take_lids(uint64_t *taken, const sv_routes *r)
{
    for (uint32_t d = 0; r != NULL && d < r->num_destinations; d++)
        if (r->lid[d] <= SV_LID_MAX)
            sv_bit_set(taken, r->lid[d]);
}

sv_status sv_routes_add_lids(sv_ctx *ctx, const sv_fabric *f, sv_routes *r, const sv_routes *before)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    struct giver g = {f, r, sv_bitset_new(&arena, SV_LID_MAX + 1)};
    sv_status status = g.taken == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        take_lids(g.taken, r);
        take_lids(g.taken, before);
        status = give_rest(ctx, &g);
    }
    sv_arena_release(&arena);
    return status;
}

static sv_status with_lids(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *r, sv_pool *store,
                           sv_fabric **result)
{
    sv_fabric *f = SV_POOL_NEW(store, ctx, sv_fabric, 1);
    sv_switch_info *switches = SV_POOL_NEW(store, ctx, sv_switch_info, fabric->num_switches);
    sv_terminal_info *terminals = SV_POOL_NEW(store, ctx, sv_terminal_info, fabric->num_terminals);
    if (f == NULL || switches == NULL || terminals == NULL)
        return SV_NO_MEMORY;
    *f = *fabric;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        switches[s] = fabric->switches[s];
        switches[s].lid = r->lid[r->first[s]];
        switches[s].lmc = 0;
    }
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        terminals[t] = fabric->terminals[t];
        terminals[t].lid = r->lid[r->first[f->num_switches + t]];
        terminals[t].lmc = r->lmc;
    }
    f->switches = switches;
    f->terminals = terminals;
    f->store = store;
    *result = f;
    return SV_OK;
}

sv_status sv_fabric_with_lids(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *r,
                              sv_fabric **result)
{
    sv_pool *store = sv__pool_new(ctx, fabric->store);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_status status = with_lids(ctx, fabric, r, store, result);
    if (status != SV_OK)
        sv__pool_drop(store);
    return status;
}
