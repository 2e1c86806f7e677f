/*
 * carry.c: a tree of one fabric in the numbers of another.
 *
 * After a failure somewhere else the tree that is in the switches still joins everybody. To keep it
 * means that no multicast table changes, and so nothing can circle meanwhile. Whether its packets
 * still cannot deadlock with those of tables that did change is for verify/ to say.
 *
 * Invariant: what is carried spans each piece of the new fabric, over cables that are there.
 * Cost: linear.
 */
#include <string.h>

#include "base/ctx.h"
#include "fabric/derive.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "multicast/multicast.h"

struct carry {
    sv_ctx *ctx;
    const sv_mtree *old;
    const sv_fabric *to;
    const sv_match *match;
    sv_mtree *made;
};

/* Pieces of the live switches; SV_NONE: no memory. */
static uint32_t count_pieces(sv_ctx *ctx, const sv_fabric *f)
{
    sv_arena arena;
    uint32_t pieces = 0;
    sv_arena_init(&arena, ctx);
    uint64_t *seen = sv_bitset_new(&arena, sv_num_nodes(f));
    uint32_t *stack = SV_ARENA_NEW(&arena, uint32_t, sv_num_nodes(f));
    for (uint32_t v = 0; seen != NULL && stack != NULL && v < f->num_switches; v++)
        if (sv_node_alive(f, (sv_node){v}) && !sv_bit(seen, v)) {
            sv_flood(f, (sv_node){v}, true, seen, stack);
            pieces++;
        }
    if (seen == NULL || stack == NULL)
        pieces = SV_NONE;
    sv_arena_release(&arena);
    return pieces;
}

/* One switch with its cable towards the root; false: something is not there any more. */
static bool carry_switch(struct carry *x, uint32_t s)
{
    sv_mtree *t = x->made;
    uint32_t up = x->old->up[s], v = x->match->switches[s];
    if (v == SV_NONE)
        return true; /* whoever is below it finds no cable */
    t->order[t->num_order++] = v;
    if (up == SV_NONE) {
        t->num_pieces++;
        return true;
    }
    t->up[v] = x->match->channels[up];
    return t->up[v] != SV_NONE && sv_channel_alive(x->to, (sv_channel){t->up[v]}) &&
           sv_is_switch(x->to, x->to->head[t->up[v]]);
}

static sv_status run(struct carry *x)
{
    const sv_status gone = SV_INFEASIBLE;
    for (uint32_t i = 0; i < x->old->num_order; i++)
        if (!carry_switch(x, x->old->order[i]))
            return sv_fail(x->ctx, gone, "a cable of the multicast tree is gone");
    if (x->made->num_order != x->to->live_switches)
        return sv_fail(x->ctx, gone, "there are switches that the multicast tree does not reach");
    uint32_t pieces = count_pieces(x->ctx, x->to);
    if (pieces == SV_NONE)
        return SV_NO_MEMORY;
    if (pieces != x->made->num_pieces)
        return sv_fail(x->ctx, gone, "the multicast tree is in more pieces than the fabric");
    return SV_OK;
}

sv_status sv_mtree_carry(sv_ctx *ctx, const sv_mtree *tree, const sv_fabric *fabric,
                         const sv_match *match, sv_mtree **result)
{
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    size_t room = (size_t)fabric->num_switches + tree->num_order + 1;
    struct carry x = {.ctx = ctx, .old = tree, .to = fabric, .match = match};
    x.made = SV_POOL_NEW(store, ctx, sv_mtree, 1);
    uint32_t *up = SV_POOL_NEW(store, ctx, uint32_t, room);
    uint32_t *order = SV_POOL_NEW(store, ctx, uint32_t, room);
    sv_status status = SV_NO_MEMORY;
    if (x.made != NULL && up != NULL && order != NULL) {
        memset(up, 0xff, room * sizeof *up);
        *x.made = (sv_mtree){.num_switches = fabric->num_switches,
                             .sl = tree->sl,
                             .up = up,
                             .order = order,
                             .depth = tree->depth,
                             .store = store};
        status = run(&x);
    }
    if (status == SV_OK)
        *result = x.made;
    else
        sv__pool_drop(store);
    return status;
}
