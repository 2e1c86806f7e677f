/*
 * compare.c: tables against a fabric, against each other, and mixtures of two.
 *
 * Blocks are runs of 64 LIDs, as one management datagram sets them; where destinations have no
 * LIDs, of 64 destinations. Rows that two tables share are known to be equal without looking.
 * Cost: linear in what is compared.
 */
#include "base/bitset.h"
#include "routes/routes.h"

static sv_status check_row(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r, uint32_t d)
{
    for (uint32_t s = 0; s < r->num_switches; s++) {
        unsigned port = r->ports[d][s];
        if (port != SV_NO_PORT && port > f->switches[s].ports)
            return sv_fail(ctx, SV_BAD_INPUT, "switch \"%s\" sends to port %u of %u",
                           f->switches[s].name, port, f->switches[s].ports);
    }
    return SV_OK;
}

sv_status sv_routes_check(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r)
{
    uint32_t nodes = sv_num_nodes(f);
    if (r->num_switches != f->num_switches || r->num_terminals != f->num_terminals)
        return sv_fail(ctx, SV_BAD_INPUT, "tables that belong to another fabric");
    for (uint32_t v = 0; v < nodes; v++) {
        uint32_t width = v < f->num_switches ? 1 : 1u << r->lmc;
        if (r->first[v + 1] - r->first[v] != width || r->vls_of[v] >= r->num_vl_tables)
            return sv_fail(ctx, SV_BAD_INPUT, "destinations or VLs of node %u are wrong", v);
    }
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        if (r->node[d].i >= nodes || d < r->first[r->node[d].i] || d >= r->first[r->node[d].i + 1])
            return sv_fail(ctx, SV_BAD_INPUT, "destination %u is not its node's", d);
        SV_TRY(check_row(ctx, f, r, d));
    }
    for (uint32_t s = 0; s < r->num_switches; s++) {
        size_t ports = f->switches[s].ports + 1u;
        for (size_t i = 0; r->sl2vl_by_port[s] != NULL && i < ports * ports; i++)
            if (r->sl2vl_by_port[s][i] >= r->num_vl_tables)
                return sv_fail(ctx, SV_BAD_INPUT, "VLs of switch \"%s\" are wrong",
                               f->switches[s].name);
    }
    return SV_OK;
}

sv_status sv_routes_changed_blocks(sv_ctx *ctx, const sv_fabric *f, const sv_routes *a,
                                   const sv_routes *b, uint64_t *blocks)
{
    if (a->num_destinations != b->num_destinations || a->num_switches != b->num_switches)
        return sv_fail(ctx, SV_BAD_INPUT, "tables of different fabrics");
    uint32_t max = 0;
    for (uint32_t d = 0; d < b->num_destinations; d++)
        max = sv__routes_block(b, d) > max ? sv__routes_block(b, d) : max;
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    uint64_t *changed = sv_bitset_new(&arena, (size_t)(max + 1) * b->num_switches);
    uint64_t count = 0;
    for (uint32_t d = 0; changed != NULL && d < b->num_destinations; d++) {
        if (a->ports[d] == b->ports[d])
            continue;
        const uint8_t *was = a->ports[d], *is = b->ports[d];
        for (uint32_t s = 0; (s = sv__rows_differ(was, is, s, b->num_switches)) < b->num_switches;
             s++) {
            size_t bit = (size_t)sv__routes_block(b, d) * b->num_switches + s;
            if (sv_bit(changed, bit) || !sv_node_alive(f, (sv_node){s}))
                continue;
            sv_bit_set(changed, bit);
            count++;
        }
    }
    sv_arena_release(&arena);
    if (changed == NULL)
        return SV_NO_MEMORY;
    *blocks = count;
    return SV_OK;
}

sv_status sv_routes_mix_block(sv_ctx *ctx, sv_routes *mixture, const sv_routes *with, sv_node s,
                              uint32_t block)
{
    if (mixture->num_destinations != with->num_destinations ||
        mixture->num_switches != with->num_switches)
        return sv_fail(ctx, SV_BAD_INPUT, "tables of different fabrics");
    for (uint32_t d = 0; d < with->num_destinations; d++) {
        if (sv__routes_block(with, d) != block || mixture->ports[d][s.i] == with->ports[d][s.i])
            continue;
        uint8_t *row = sv_routes_row(ctx, mixture, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        row[s.i] = with->ports[d][s.i];
    }
    return SV_OK;
}
