/*
 * tree.c: trees for callers: making one, the part of it that a group needs, the whole as a group.
 *
 * A cable of the tree is in a group's part exactly if there are members on both sides of it. So
 * members are counted from the leaves inwards, once.
 *
 * Invariant: order has parents before children, so that it can be walked either way.
 * Cost: linear but for the search (grow.c).
 */
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"
#include "multicast/multicast.h"

sv_status sv__mtree_make(const sv__mgraph *g, const sv__mplan *plan, sv_mtree **tree)
{
    const sv_core *core = &g->m->core;
    sv_ctx *ctx = g->m->ctx;
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_mtree *t = SV_POOL_NEW(store, ctx, sv_mtree, 1);
    uint32_t *up = SV_POOL_NEW(store, ctx, uint32_t, (size_t)core->num_switches + 1);
    uint32_t *order = SV_POOL_NEW(store, ctx, uint32_t, (size_t)plan->count + 1);
    if (t == NULL || up == NULL || order == NULL) {
        sv__pool_drop(store);
        return SV_NO_MEMORY;
    }
    memset(up, 0xff, core->num_switches * sizeof *up);
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t s = order[i] = plan->order[i];
        up[s] = plan->up[s] == SV_NONE ? SV_NONE : core->entries[plan->up[s]].channel;
    }
    *t = (sv_mtree){.num_switches = core->num_switches,
                    .sl = (uint8_t)g->sl,
                    .up = up,
                    .order = order,
                    .num_order = plan->count,
                    .num_pieces = plan->pieces,
                    .depth = plan->depth,
                    .store = store};
    *tree = t;
    return SV_OK;
}

/* Whether all terminals can send with an SL; *who: one that cannot. */
static bool all_send(const sv__mcast *m, unsigned sl, sv_node *who)
{
    const sv_routes *r = m->routes;
    for (uint32_t v = r->num_switches; v < sv_num_nodes(m->fabric); v++) {
        *who = (sv_node){v};
        if (sv_node_alive(m->fabric, *who) && r->vl_tables[r->vls_of[v]].of_sl[sl] == SV_NO_VL)
            return false;
    }
    return true;
}

sv_status sv__mtree_try(const sv__mcast *m, unsigned sl, unsigned searches, sv_mtree **tree)
{
    sv__mgraph g;
    sv__mplan plan;
    sv_node who;
    bool found = false;
    if (!all_send(m, sl, &who))
        return sv_fail(m->ctx, SV_INFEASIBLE, "\"%s\" discards packets of SL %u",
                       sv_node_name(m->fabric, who), sl);
    sv_status status = sv__mgraph_init(&g, m, sl);
    if (status == SV_OK)
        status = sv__mgrow(&g, searches, &plan, &found);
    if (status == SV_OK && found)
        status = sv__mtree_make(&g, &plan, tree);
    else if (status == SV_OK)
        status =
            sv_fail(m->ctx, SV_INFEASIBLE,
                    "no tree for multicast packets of SL %u was found that cannot deadlock", sl);
    sv__mgraph_release(&g);
    return status;
}

/* A tree along the orders of the tables if there is one, since that outlasts repairs; else any. */
static sv_status try_both(sv__mcast *m, unsigned sl, sv_mtree **tree)
{
    sv_status status = SV_INFEASIBLE;
    m->by_orders = m->routes->orders != NULL;
    if (m->by_orders)
        status = sv__mtree_try(m, sl, 0, tree);
    m->by_orders = false;
    return status == SV_INFEASIBLE ? sv__mtree_try(m, sl, 1, tree) : status;
}

sv_status sv_mtree_new(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                       sv_traffic traffic, unsigned sl, const sv_mtree *const *others,
                       size_t num_others, sv_mtree **tree)
{
    sv_arena arena;
    sv__mcast m;
    sv_arena_init(&arena, ctx);
    sv_status status = sv__mcast_init(&m, &arena, fabric, routes, traffic, sl, others, num_others);
    if (status == SV_OK)
        status = try_both(&m, sl, tree);
    sv_arena_release(&arena);
    return status;
}

void sv_mtree_free(sv_mtree *tree)
{
    if (tree != NULL)
        sv__pool_drop(tree->store);
}

/* ---- groups ---- */

static void set_port(uint64_t (*ports)[4], uint32_t s, unsigned port)
{
    ports[s][port >> 6] |= (uint64_t)1 << (port & 63);
}

static void set_cable(const sv_fabric *f, uint64_t (*ports)[4], uint32_t channel)
{
    uint32_t back = f->reverse[channel].i;
    set_port(ports, f->tail[channel].i, f->port[channel]);
    set_port(ports, f->tail[back].i, f->port[back]);
}

/* Where a member hangs: a port of a switch; SV_NONE if it is dead or on no switch. */
static uint32_t place_of(const sv_fabric *f, sv_node member, unsigned *port)
{
    if (!sv_node_alive(f, member))
        return SV_NONE;
    *port = 0;
    if (sv_is_switch(f, member))
        return member.i;
    sv_node s = sv_switch_of(f, member);
    SV_FOR_HOPS (f, member, hop)
        *port = f->port[f->reverse[hop->channel.i].i];
    return s.i;
}

/* Members at each switch, and the port of each; one that comes again does not count. */
static void count_members(const sv_fabric *f, const sv_node *members, size_t count, uint32_t *below,
                          uint64_t (*ports)[4])
{
    for (size_t i = 0; i < count; i++) {
        unsigned port;
        uint32_t s = place_of(f, members[i], &port);
        if (s == SV_NONE || ports[s][port >> 6] >> (port & 63) & 1)
            continue;
        set_port(ports, s, port);
        below[s]++;
    }
}

static void join_members(const sv_mtree *tree, const sv_fabric *f, uint32_t *below, uint32_t *all,
                         uint64_t (*ports)[4])
{
    for (uint32_t i = tree->num_order; i-- > 0;) {
        uint32_t s = tree->order[i];
        if (tree->up[s] != SV_NONE)
            below[f->head[tree->up[s]].i] += below[s];
    }
    for (uint32_t i = 0; i < tree->num_order; i++) {
        uint32_t s = tree->order[i];
        all[s] = tree->up[s] == SV_NONE ? below[s] : all[f->head[tree->up[s]].i];
        if (tree->up[s] != SV_NONE && below[s] > 0 && below[s] < all[s])
            set_cable(f, ports, tree->up[s]);
        if (all[s] == 1) /* alone */
            memset(ports[s], 0, sizeof ports[s]);
    }
}

sv_status sv_mtree_prune(sv_ctx *ctx, const sv_mtree *tree, const sv_fabric *f,
                         const sv_node *members, size_t count, uint64_t (*ports)[4])
{
    sv_arena arena;
    uint32_t n = tree->num_switches;
    for (size_t i = 0; i < count; i++)
        if (members[i].i >= sv_num_nodes(f))
            return sv_fail(ctx, SV_BAD_INPUT, "member %zu of the group is no node", i);
    sv_arena_init(&arena, ctx);
    uint32_t *below = SV_ARENA_NEW(&arena, uint32_t, n), *all = SV_ARENA_NEW(&arena, uint32_t, n);
    sv_status status = below == NULL || all == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        memset(ports, 0, n * sizeof *ports);
        count_members(f, members, count, below, ports);
        join_members(tree, f, below, all, ports);
    }
    sv_arena_release(&arena);
    return status;
}

sv_status sv_mtree_add_all(sv_ctx *ctx, const sv_mtree *tree, const sv_fabric *f, sv_routes *routes,
                           unsigned mlid)
{
    sv_group *group;
    SV_TRY(sv_routes_add_group(ctx, routes, mlid, &group));
    group->sl = tree->sl;
    for (uint32_t i = 0; i < tree->num_order; i++) {
        uint32_t s = tree->order[i];
        if (tree->up[s] != SV_NONE)
            set_cable(f, group->ports, tree->up[s]);
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            if (!sv_is_switch(f, hop->to))
                set_port(group->ports, s, f->port[hop->channel.i]);
    }
    return SV_OK;
}
