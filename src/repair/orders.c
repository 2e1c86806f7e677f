/*
 * orders.c: switches that are new get a place in orders that know nothing of them.
 *
 * They are hung on the rest as leaves: what leaves them towards the rest comes before everything,
 * what leads to them comes after everything, in every VL. So paths from and to them can be made
 * of any path of the neighbour; only transit through them cannot (a later full routing uses them
 * for that). Several new switches that hang on each other are counted from the old ones outwards,
 * which is up and down in the order of a search.
 *
 * Numbers that are there keep their order; they are moved up to make room below.
 * Cost: linear in ports and VLs.
 */
#include "base/ctx.h"
#include "repair/repair.h"

/* New switches in the order of a search from the old ones; rank: 0 is old. */
static uint32_t rank_new(const sv__carried *c, uint32_t *rank, uint32_t *queue)
{
    const sv_fabric *f = c->f;
    uint32_t tail = 0, count = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (c->was[s] != SV_NONE && sv_node_alive(f, (sv_node){s}))
            queue[tail++] = s;
    for (uint32_t head = 0; head < tail; head++)
        SV_FOR_HOPS (f, ((sv_node){queue[head]}), hop)
            if (sv_is_switch(f, hop->to) && c->was[hop->to.i] == SV_NONE && rank[hop->to.i] == 0) {
                rank[hop->to.i] = ++count;
                queue[tail++] = hop->to.i;
            }
    return count;
}

static uint32_t highest(const sv_routes *r, size_t count)
{
    uint32_t max = 0;
    for (size_t i = 0; i < count; i++)
        if (r->orders[i] != SV_NONE && r->orders[i] > max)
            max = r->orders[i];
    return max;
}

sv_status sv__insert_orders(const sv__carried *c, sv_routes *made)
{
    const sv_fabric *f = c->f;
    unsigned vls = made->order_vls;
    size_t count = (size_t)made->order_first[f->num_switches] * vls;
    uint32_t *rank = SV_ARENA_NEW(c->arena, uint32_t, f->num_switches);
    uint32_t *queue = SV_ARENA_NEW(c->arena, uint32_t, f->num_switches), *numbers;
    if (rank == NULL || queue == NULL)
        return SV_NO_MEMORY;
    uint32_t fresh = rank_new(c, rank, queue), max = highest(made, count);
    if (fresh == 0 || max > SV_NONE - 2 - 2 * fresh) /* no room is left: then without */
        return SV_OK;
    const uint32_t *old = made->orders;
    SV_TRY(sv_routes_set_orders(c->ctx, f, made, vls, &numbers));
    for (size_t i = 0; i < count; i++)
        numbers[i] = old[i] == SV_NONE ? SV_NONE : old[i] + fresh;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop) {
            if (!sv_is_switch(f, hop->to) || (rank[s] == 0 && rank[hop->to.i] == 0))
                continue;
            bool up = rank[hop->to.i] < rank[s];
            size_t at = (size_t)(made->order_first[s] + f->port[hop->channel.i]) * vls;
            for (unsigned l = 0; l < vls; l++)
                numbers[at + l] = up ? fresh - rank[s] : max + fresh + rank[hop->to.i];
        }
    return SV_OK;
}
