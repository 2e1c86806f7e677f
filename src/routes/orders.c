/*
 * orders.c: orders that belong to tables (selvage/routes.h).
 *
 * They stand by switch and port, not by channel: a cable that fails keeps its numbers, and gets
 * them back when it returns. Arrays are never changed once they are shared; whoever wants other
 * numbers sets new ones, so clones can share them.
 *
 * Cost: linear in ports and VLs.
 */
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"
#include "routes/routes.h"

static uint32_t *first_ports(sv_ctx *ctx, const sv_fabric *f, sv_routes *r)
{
    uint32_t *first = SV_POOL_NEW(r->store, ctx, uint32_t, (size_t)f->num_switches + 1);
    for (uint32_t s = 0; first != NULL && s < f->num_switches; s++)
        first[s + 1] = first[s] + f->switches[s].ports + 1u;
    return first;
}

sv_status sv_routes_set_orders(sv_ctx *ctx, const sv_fabric *f, sv_routes *r, unsigned vls,
                               uint32_t **numbers)
{
    r->orders = NULL;
    r->order_vls = 0;
    if (vls == 0)
        return SV_OK;
    const uint32_t *first = first_ports(ctx, f, r);
    size_t count = first == NULL ? 0 : (size_t)first[f->num_switches] * vls;
    uint32_t *made = first == NULL ? NULL : SV_POOL_NEW(r->store, ctx, uint32_t, count + 1);
    if (made == NULL)
        return SV_NO_MEMORY;
    memset(made, 0xff, count * sizeof *made); /* SV_NONE */
    r->orders = made;
    r->order_first = first;
    r->order_vls = (uint8_t)vls;
    *numbers = made;
    return SV_OK;
}

sv_status sv__routes_carry_orders(sv_ctx *ctx, const sv_routes *from, const sv_fabric *to,
                                  sv_routes *made, const uint32_t *node)
{
    uint32_t *numbers;
    if (from->orders == NULL)
        return SV_OK;
    SV_TRY(sv_routes_set_orders(ctx, to, made, from->order_vls, &numbers));
    for (uint32_t s = 0; s < made->num_switches; s++) {
        if (node[s] == SV_NONE)
            continue;
        const uint32_t *mine = made->order_first, *theirs = from->order_first;
        uint32_t a = mine[s + 1] - mine[s], b = theirs[node[s] + 1] - theirs[node[s]];
        memcpy(numbers + (size_t)mine[s] * made->order_vls,
               sv_route_order(from, (sv_node){node[s]}, 0),
               (size_t)(a < b ? a : b) * made->order_vls * sizeof *numbers);
    }
    return SV_OK;
}
