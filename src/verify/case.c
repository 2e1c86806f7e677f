/*
 * case.c: what is known of tables before any packet is followed: their VLs, their SLs, the parts
 * that the fabric falls into.
 *
 * SLs that all VL tables treat alike cannot be told apart by where packets go; one stands for
 * all of them.
 *
 * Cost: linear in nodes, channels and VL tables.
 */
#include "base/bitset.h"
#include "verify/rows.h"

/* Groups SLs by what all VL tables do with them. */
static void find_classes(sv__verify_case *c)
{
    const sv_routes *r = c->routes;
    for (unsigned sl = 0; sl < r->num_sls; sl++) {
        unsigned same = 0;
        for (; same < sl; same++) {
            uint32_t t = 0;
            while (t < r->num_vl_tables && r->vl_tables[t].of_sl[same] == r->vl_tables[t].of_sl[sl])
                t++;
            if (t == r->num_vl_tables)
                break;
        }
        c->class_of[sl] = (uint8_t)same;
        if (same == sl)
            c->sls |= (uint64_t)1 << sl;
    }
    c->vls = 1;
    for (uint32_t t = 0; t < r->num_vl_tables; t++)
        for (unsigned sl = 0; sl < r->num_sls; sl++) {
            unsigned vl = r->vl_tables[t].of_sl[sl];
            c->discards |= vl == SV_NO_VL;
            if (vl != SV_NO_VL && vl >= c->vls)
                c->vls = vl + 1;
        }
    c->sl_matters = (c->sls & (c->sls - 1)) != 0;
    for (uint32_t v = r->num_switches; c->discards && v < sv_num_nodes(c->fabric); v++)
        for (unsigned sl = 0; sl < r->num_sls; sl++)
            c->adapters_discard |= r->vl_tables[r->vls_of[v]].of_sl[sl] == SV_NO_VL;
}

static sv_status find_components(sv__verify_case *c, sv_arena *arena)
{
    const sv_fabric *f = c->fabric;
    uint32_t nodes = sv_num_nodes(f), count = 0;
    uint64_t *seen = sv_bitset_new(arena, nodes);
    uint32_t *stack = SV_ARENA_NEW(arena, uint32_t, nodes);
    c->component = SV_ARENA_NEW(arena, uint32_t, nodes);
    if (seen == NULL || stack == NULL || c->component == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < nodes; v++) {
        if (!sv_node_alive(f, (sv_node){v}) || sv_bit(seen, v))
            continue;
        uint32_t depth = 0;
        stack[depth++] = v;
        sv_bit_set(seen, v);
        while (depth > 0) {
            sv_node at = {stack[--depth]};
            c->component[at.i] = count;
            SV_FOR_HOPS (f, at, hop)
                if (!sv_bit(seen, hop->to.i)) {
                    sv_bit_set(seen, hop->to.i);
                    stack[depth++] = hop->to.i;
                }
        }
        count++;
    }
    c->split = count > 1;
    return SV_OK;
}

sv_status sv__case_init(sv__verify_case *c, sv_arena *arena, const sv_fabric *f, const sv_routes *r,
                        const sv_verify_options *options)
{
    *c = (sv__verify_case){.fabric = f, .routes = r};
    if (options != NULL)
        c->options = *options;
    if (r->num_switches != f->num_switches || r->num_terminals != f->num_terminals)
        return sv_fail(arena->ctx, SV_BAD_INPUT, "tables that belong to another fabric");
    if (c->options.assume && c->options.assumed_sl >= r->num_sls)
        return sv_fail(arena->ctx, SV_BAD_INPUT, "the tables have no SL %u (they have 0 to %u)",
                       c->options.assumed_sl, r->num_sls - 1u);
    find_classes(c);
    c->terminals = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    if (c->terminals == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            c->terminals[s] += !sv_is_switch(f, hop->to);
    SV_TRY(find_components(c, arena));
    return sv_portmap_init(&c->ports, arena, f);
}

static uint64_t one_sl(const sv__verify_case *c, sv_node from, uint32_t d, sv__unknown unknown)
{
    unsigned sl = sv_route_sl(c->routes, from, d);
    if (sl < c->routes->num_sls)
        return (uint64_t)1 << c->class_of[sl];
    if (!c->sl_matters)
        return c->sls; /* whichever it is, packets go the same way */
    switch (unknown) {
    case SV__UNKNOWN_ANY:
        return c->sls;
    case SV__UNKNOWN_ZERO:
        return 1;
    default:
        return 0;
    }
}

uint64_t sv__case_sls(const sv__verify_case *c, sv_node from, uint32_t d, sv__unknown unknown)
{
    if (c->options.assume)
        return (uint64_t)1 << c->class_of[c->options.assumed_sl];
    uint64_t sls = one_sl(c, from, d, unknown);
    if (c->options.reversible)
        for (uint32_t back = c->routes->first[from.i]; back < c->routes->first[from.i + 1]; back++)
            sls |= one_sl(c, c->routes->node[d], back, unknown);
    return sls;
}
