/*
 * remap.c: tables of one fabric, in the numbers of another.
 *
 * Two dumps of the same machine number nodes differently. A match by GUID (sv_match_new) tells
 * which is which; entries, SLs and VLs are carried over. Switches and destinations that are new
 * have no entries; ports keep their numbers, so an entry for a port whose cable is gone leads
 * nowhere.
 *
 * Switches know LIDs and no nodes: where another node took a LID over, what they have for it is
 * still the old entry. sv_routes_remap_lids puts it where it belongs.
 *
 * Cost: linear in the tables.
 */
#include "routes/routes.h"

struct remap {
    sv_ctx *ctx;
    const sv_fabric *from, *to;
    const sv_routes *old;
    sv_routes *made;
    uint32_t *node; /* [nodes of to]: the same in from, or SV_NONE */
};

static sv_status invert(struct remap *m, sv_arena *arena, const sv_match *match)
{
    uint32_t n = sv_num_nodes(m->to);
    m->node = SV_ARENA_NEW(arena, uint32_t, n);
    if (m->node == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < n; v++)
        m->node[v] = SV_NONE;
    for (uint32_t s = 0; s < m->from->num_switches; s++)
        if (match->switches[s] != SV_NONE)
            m->node[match->switches[s]] = s;
    for (uint32_t t = 0; t < m->from->num_terminals; t++)
        if (match->terminals[t] != SV_NONE)
            m->node[m->to->num_switches + match->terminals[t]] = m->from->num_switches + t;
    return SV_OK;
}

/* The SLs of destination d, which is e in the old tables. */
static sv_status carry_sls(struct remap *m, uint32_t d, uint32_t e)
{
    const sv_routes *old = m->old;
    sv_routes *made = m->made;
    if (sv__routes_sl_rows(made) == 0)
        return SV_OK;
    uint32_t length = made->sl_form == SV_SL_BY_NODE ? sv_num_nodes(m->to) : made->num_switches;
    bool by_destination = made->sl_form == SV_SL_BY_DESTINATION;
    uint8_t *row = sv_routes_sl_row(m->ctx, made, by_destination ? 0 : d);
    if (row == NULL)
        return SV_NO_MEMORY;
    if (by_destination)
        row[d] = old->sls[0][e];
    for (uint32_t u = 0; !by_destination && u < length; u++)
        if (m->node[u] != SV_NONE)
            row[u] = (uint8_t)sv_route_sl(old, (sv_node){m->node[u]}, e);
    return SV_OK;
}

/* The form of SLs; what a terminal's switch told is its own when it hangs on another one now. */
static sv_sl_form form_of(const struct remap *m)
{
    uint32_t mine = m->to->num_switches, theirs = m->from->num_switches;
    for (uint32_t t = 0; m->old->sl_form == SV_SL_BY_SWITCH && t < m->to->num_terminals; t++) {
        uint32_t v = m->node[mine + t], home = m->made->home[t];
        if (v != SV_NONE && (home == SV_NONE || m->node[home] != m->old->home[v - theirs]))
            return SV_SL_BY_NODE;
    }
    return (sv_sl_form)m->old->sl_form;
}

/* Everything about destination d, which is e in the old tables. */
static sv_status carry_destination(struct remap *m, uint32_t d, uint32_t e)
{
    const sv_routes *old = m->old;
    sv_routes *made = m->made;
    uint8_t *row = sv_routes_row(m->ctx, made, d);
    if (row == NULL)
        return SV_NO_MEMORY;
    made->lid[d] = old->lid[e];
    for (uint32_t s = 0; s < made->num_switches; s++) {
        unsigned port = m->node[s] == SV_NONE ? SV_NO_PORT : old->ports[e][m->node[s]];
        row[s] = port != SV_NO_PORT && port > m->to->switches[s].ports ? SV_NO_PORT : (uint8_t)port;
    }
    return carry_sls(m, d, e);
}

static sv_status carry_vls(struct remap *m, uint32_t v, uint32_t w)
{
    const sv_routes *old = m->old;
    uint32_t table = sv_routes_sl2vl_table(m->ctx, m->made, &old->vl_tables[old->vls_of[w]]);
    if (table == SV_NONE)
        return SV_NO_MEMORY;
    m->made->vls_of[v] = (uint16_t)table;
    if (w >= old->num_switches || old->sl2vl_by_port[w] == NULL)
        return SV_OK;
    unsigned mine = m->to->switches[v].ports, theirs = m->from->switches[w].ports;
    unsigned ports = mine < theirs ? mine : theirs;
    for (unsigned in = 0; in <= ports; in++)
        for (unsigned out = 0; out <= ports; out++) {
            const sv_sl2vl *vls = sv_route_sl2vl(old, m->from, (sv_node){w}, in, out);
            table = sv_routes_sl2vl_table(m->ctx, m->made, vls);
            if (table == SV_NONE)
                return SV_NO_MEMORY;
            SV_TRY(sv_routes_set_sl2vl(m->ctx, m->to, m->made, (sv_node){v}, in, out, table));
        }
    return SV_OK;
}

/* Everything about node v, which is w in the old tables. */
static sv_status carry_node(struct remap *m, uint32_t v, uint32_t w)
{
    const sv_routes *old = m->old;
    for (uint32_t d = m->made->first[v], e = old->first[w]; d < m->made->first[v + 1]; d++, e++)
        SV_TRY(carry_destination(m, d, e));
    return carry_vls(m, v, w);
}

static sv_status carry(struct remap *m)
{
    SV_TRY(sv_routes_new(m->ctx, m->to, m->old->lmc, &m->made));
    SV_TRY(sv_routes_set_sl_form(m->ctx, m->made, form_of(m)));
    m->made->sl = m->old->sl;
    m->made->num_sls = m->old->num_sls;
    m->made->sl2vl_known = m->old->sl2vl_known;
    for (uint32_t v = 0; v < sv_num_nodes(m->to); v++)
        if (m->node[v] != SV_NONE)
            SV_TRY(carry_node(m, v, m->node[v]));
    return sv__routes_carry_orders(m->ctx, m->old, m->to, m->made, m->node);
}

sv_status sv_routes_remap(sv_ctx *ctx, const sv_fabric *from, const sv_routes *old,
                          const sv_fabric *to, const sv_match *match, sv_routes **result)
{
    struct remap m = {.ctx = ctx, .from = from, .to = to, .old = old};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = invert(&m, &arena, match);
    if (status == SV_OK)
        status = carry(&m);
    sv_arena_release(&arena);
    if (status == SV_OK)
        *result = m.made;
    else
        sv_routes_free(m.made);
    return status;
}

/* For every LID the destination that has it; SV_NONE: nobody. */
static uint32_t *owners(sv_arena *arena, const sv_routes *r)
{
    uint32_t *owner = SV_ARENA_NEW(arena, uint32_t, (size_t)UINT16_MAX + 1);
    for (uint32_t lid = 0; owner != NULL && lid <= UINT16_MAX; lid++)
        owner[lid] = SV_NONE;
    for (uint32_t d = r->num_destinations; owner != NULL && d-- > 0;)
        owner[r->lid[d]] = d;
    return owner;
}

sv_status sv_routes_remap_lids(sv_ctx *ctx, const sv_fabric *from, const sv_routes *old,
                               const sv_fabric *to, const sv_match *match, const sv_routes *now,
                               sv_routes *carried, sv_lid_move *moves, uint32_t *count)
{
    struct remap m = {.ctx = ctx, .from = from, .to = to, .old = old, .made = carried};
    sv_arena arena;
    uint32_t found = 0;
    if (now->num_destinations != carried->num_destinations)
        return sv_fail(ctx, SV_BAD_INPUT, "old and new tables have different destinations");
    sv_arena_init(&arena, ctx);
    sv_status status = invert(&m, &arena, match);
    uint32_t *owner = status == SV_OK ? owners(&arena, old) : NULL;
    if (status == SV_OK && owner == NULL)
        status = SV_NO_MEMORY;
    for (uint32_t d = 0; status == SV_OK && d < now->num_destinations; d++) {
        uint32_t lid = now->lid[d], e = owner[lid];
        if (lid == 0 || e == SV_NONE || carried->lid[d] != 0)
            continue;
        status = carry_destination(&m, d, e);
        moves[found++] = (sv_lid_move){(uint16_t)lid, old->node[e], now->node[d]};
    }
    sv_arena_release(&arena);
    if (status == SV_OK)
        *count = found;
    return status;
}
