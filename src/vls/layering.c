/*
 * layering.c: what all ways to assign VLs share: the trees of destinations.
 *
 * A tree is listed by following each switch until one is met that is listed already, so it takes
 * one step a switch; tables that lead nowhere, or in a circle, are left out.
 *
 * Cost: O(switches) a tree.
 */
#include "vls/vls.h"

sv_status sv_layering_init(sv_layering *x, sv_ctx *ctx, sv_arena *arena, const sv_fabric *f,
                           const sv_core *core, sv_routes *routes)
{
    uint32_t n = core->num_switches;
    *x = (sv_layering){
        .ctx = ctx, .arena = arena, .fabric = f, .core = core, .routes = routes, .vls = 1};
    x->tree.order = SV_ARENA_NEW(arena, uint32_t, n);
    x->tree.via = SV_ARENA_NEW(arena, uint32_t, n);
    x->tree.chain = SV_ARENA_NEW(arena, uint32_t, n);
    x->tree.state = SV_ARENA_NEW(arena, uint8_t, n);
    if (x->tree.order == NULL || x->tree.via == NULL || x->tree.chain == NULL ||
        x->tree.state == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_core_ports_init(&x->ports, arena, core, f));
    return sv_routes_set_sl_form(ctx, routes, SV_SL_BY_SWITCH);
}

/* Lists a switch and those it sends through, as far as they are not listed; the last of them first.
 */
static void list_chain(sv_layering *x, uint32_t s, uint32_t home)
{
    sv_tree *t = &x->tree;
    uint32_t length = 0;
    while (s != home && t->state[s] == 0 && t->via[s] != SV_NONE) {
        t->state[s] = 1; /* being followed */
        t->chain[length++] = s;
        s = x->core->to[t->via[s]];
    }
    bool arrives = s == home || t->state[s] == 2;
    while (length > 0) {
        uint32_t listed = t->chain[--length];
        t->state[listed] = arrives ? 2 : 3;
        if (arrives)
            t->order[t->count++] = listed;
        else
            t->via[listed] = SV_NONE;
    }
}

void sv_layering_tree(sv_layering *x, uint32_t d)
{
    const uint8_t *row = x->routes->ports[d];
    sv_tree *t = &x->tree;
    sv_node to = x->routes->node[d];
    uint32_t n = x->core->num_switches;
    uint32_t home = sv_is_switch(x->fabric, to) ? to.i : sv_switch_of(x->fabric, to).i;
    t->count = 0;
    if (home == SV_NONE || !sv_node_alive(x->fabric, to))
        return;
    for (uint32_t s = 0; s < n; s++) {
        t->via[s] = sv_core_entry(&x->ports, s, row[s]);
        t->state[s] = 0;
    }
    t->via[home] = SV_NONE;
    t->order[t->count++] = home;
    for (uint32_t s = 0; s < n; s++)
        list_chain(x, s, home);
}

sv_status sv_layering_run(sv_layering *x, sv_vl_method method, unsigned max)
{
    return method == SV_VLS_ONLINE ? sv__vls_online(x, max) : sv__vls_break(x, method, max);
}
