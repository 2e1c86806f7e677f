/*
 * two_sets.c: tables with two addresses a terminal from two tables with one.
 *
 * Five phases (thesis 5.2.3) need a set of routes that stays while the other changes: base
 * addresses go by the tables that serve best, high ones by some that need a single VL and change
 * only when something fails. Packets to high addresses have an SL and a VL for themselves, so
 * neither set can make the other wait for ever, whatever mixture one of them is in.
 *
 * Switches have one address: it belongs to the base set. So do multicast groups.
 *
 * Invariants: on the VL there are packets to high addresses and no others; whatever the base
 * tables say of SLs and VLs is as it was. Whether each set is free of deadlocks is for verify/.
 * Cost: linear in the tables.
 */
#include <selvage/experimental/update.h>
#include <string.h>

#include "base/bitset.h"
#include "base/ctx.h"
#include "routes/routes.h"

struct sets {
    sv_ctx *ctx;
    const sv_fabric *fabric;
    const sv_routes *base, *high;
    unsigned vl;
    sv_routes *both;
    uint32_t *table; /* [tables of base]: its number here, once it is known; SV_NONE before */
    uint64_t sls;    /* that base uses, one bit each */
};

/* ---- what is refused ---- */

static sv_status check_tables(const struct sets *x, const sv_routes *r, const char *what)
{
    SV_TRY(sv_routes_check(x->ctx, x->fabric, r));
    if (r->lmc != 0)
        return sv_fail(x->ctx, SV_BAD_INPUT, "the %s tables have LMC %u, not 0", what, r->lmc);
    return SV_OK;
}

/* Notes the SLs of a row. */
static void note_row(struct sets *x, const uint8_t *row, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (row[i] < SV_MAX_SLS)
            x->sls |= (uint64_t)1 << row[i];
}

static void note_sls(struct sets *x)
{
    const sv_routes *r = x->base;
    size_t rows = sv__routes_sl_rows(r), length = sv__routes_sl_row_length(r);
    if (r->sl_form == SV_SL_CONSTANT)
        note_row(x, &r->sl, 1);
    for (size_t i = 0; i < rows; i++)
        note_row(x, r->sls[i], length);
    for (uint32_t g = 0; g < r->num_groups; g++)
        note_row(x, &r->groups[g].sl, 1);
}

static sv_status check_sls(struct sets *x)
{
    if (x->base->sl_form == SV_SL_UNKNOWN || !x->base->sl2vl_known)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "the base tables do not tell which service levels and VLs are in use");
    note_sls(x);
    if (x->sls >> x->vl & 1)
        return sv_fail(x->ctx, SV_INFEASIBLE, "the base tables use service level %u themselves",
                       x->vl);
    return SV_OK;
}

/* ---- VLs ---- */

/* The table here that is one of base's, and has the VL besides. */
static sv_status carry_table(struct sets *x, uint32_t t, uint32_t *number)
{
    sv_sl2vl vls = x->base->vl_tables[t];
    if (x->table[t] == SV_NONE) {
        for (unsigned sl = 0; sl < x->base->num_sls; sl++)
            if (x->sls >> sl & 1 && vls.of_sl[sl] == x->vl)
                return sv_fail(x->ctx, SV_INFEASIBLE,
                               "the base tables use VL %u themselves (service level %u)", x->vl,
                               sl);
        vls.of_sl[x->vl] = (uint8_t)x->vl;
        x->table[t] = sv_routes_sl2vl_table(x->ctx, x->both, &vls);
    }
    *number = x->table[t];
    return *number == SV_NONE ? SV_NO_MEMORY : SV_OK;
}

static sv_status carry_pairs(struct sets *x, uint32_t s)
{
    size_t ports = x->fabric->switches[s].ports + 1u;
    const uint16_t *by_ports = x->base->sl2vl_by_port[s];
    for (size_t i = 0; by_ports != NULL && i < ports * ports; i++) {
        uint32_t number;
        SV_TRY(carry_table(x, by_ports[i], &number));
        SV_TRY(sv_routes_set_sl2vl(x->ctx, x->fabric, x->both, (sv_node){s}, (unsigned)(i / ports),
                                   (unsigned)(i % ports), number));
    }
    return SV_OK;
}

static sv_status carry_vls(struct sets *x)
{
    uint32_t nodes = sv_num_nodes(x->fabric), number;
    unsigned max = x->base->num_sls;
    x->both->num_sls = (uint8_t)(max > x->vl ? max : x->vl + 1);
    for (uint32_t v = 0; v < nodes; v++) {
        SV_TRY(carry_table(x, x->base->vls_of[v], &number));
        x->both->vls_of[v] = (uint16_t)number;
    }
    for (uint32_t s = 0; s < x->base->num_switches; s++)
        SV_TRY(carry_pairs(x, s));
    return SV_OK;
}

/* A VL that no table of an arbitration names would never send: it gets the weight of the
 * heaviest. */
static void carry_arbitration(const struct sets *x)
{
    for (unsigned who = 0; who < SV_VLARB_COUNT; who++) {
        sv_vlarb *a = &x->both->vlarb[who];
        bool named = false;
        uint8_t weight = 0;
        *a = x->base->vlarb[who];
        for (unsigned i = 0; i < a->high.length; i++)
            named |= a->high.vl[i] == x->vl && a->high.weight[i] > 0;
        for (unsigned i = 0; i < a->low.length; i++) {
            named |= a->low.vl[i] == x->vl && a->low.weight[i] > 0;
            weight = a->low.weight[i] > weight ? a->low.weight[i] : weight;
        }
        if (!a->given || named || a->low.length >= 64)
            continue;
        a->low.vl[a->low.length] = (uint8_t)x->vl;
        a->low.weight[a->low.length++] = weight > 0 ? weight : 64;
    }
}

/* ---- rows ---- */

/* Entries, and SLs where they have a row each, of one destination. */
static sv_status carry_destination(struct sets *x, const sv_routes *from, uint32_t d, uint32_t to)
{
    uint8_t *row = sv_routes_row(x->ctx, x->both, to);
    if (row == NULL)
        return SV_NO_MEMORY;
    memcpy(row, from->ports[d], from->num_switches);
    if (x->both->sl_form == SV_SL_BY_DESTINATION)
        return SV_OK;
    uint8_t *sls = sv_routes_sl_row(x->ctx, x->both, to);
    if (sls == NULL)
        return SV_NO_MEMORY;
    if (from == x->base)
        memcpy(sls, from->sls[d], sv__routes_sl_row_length(from));
    else
        memset(sls, (int)x->vl, sv__routes_sl_row_length(x->both));
    return SV_OK;
}

static sv_status carry_rows(struct sets *x)
{
    const sv_routes *b = x->base;
    uint32_t nodes = sv_num_nodes(x->fabric);
    bool rows = b->sl_form == SV_SL_BY_SWITCH || b->sl_form == SV_SL_BY_NODE;
    SV_TRY(sv_routes_set_sl_form(x->ctx, x->both,
                                 rows ? (sv_sl_form)b->sl_form : SV_SL_BY_DESTINATION));
    uint8_t *sls = rows ? NULL : sv_routes_sl_row(x->ctx, x->both, 0);
    if (!rows && sls == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < nodes; v++) {
        uint32_t d = b->first[v], to = x->both->first[v];
        SV_TRY(carry_destination(x, b, d, to));
        if (sls != NULL)
            sls[to] = b->sl_form == SV_SL_CONSTANT ? b->sl : b->sls[0][d];
        if (v < b->num_switches)
            continue;
        SV_TRY(carry_destination(x, x->high, d, to + 1));
        if (sls != NULL)
            sls[to + 1] = (uint8_t)x->vl;
    }
    return SV_OK;
}

static sv_status carry_groups(const struct sets *x)
{
    for (uint32_t g = 0; g < x->base->num_groups; g++) {
        const sv_group *from = &x->base->groups[g];
        sv_group *to;
        SV_TRY(sv_routes_add_group(x->ctx, x->both, from->mlid, &to));
        to->sl = from->sl;
        memcpy(to->ports, from->ports, x->base->num_switches * sizeof *from->ports);
    }
    return SV_OK;
}

static sv_status make(struct sets *x)
{
    SV_TRY(check_tables(x, x->base, "base"));
    SV_TRY(check_tables(x, x->high, "high"));
    if (x->vl >= SV_MAX_VLS)
        return sv_fail(x->ctx, SV_BAD_INPUT, "VL %u (they are 0 to %d)", x->vl, SV_MAX_VLS - 1);
    SV_TRY(check_sls(x));
    SV_TRY(sv_routes_new(x->ctx, x->fabric, 1, &x->both));
    SV_TRY(carry_vls(x));
    carry_arbitration(x);
    SV_TRY(carry_rows(x));
    SV_TRY(carry_groups(x));
    return sv_routes_assign_lids(x->ctx, x->fabric, x->both);
}

sv_status sv_update_two_sets(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *base,
                             const sv_routes *high, unsigned vl, sv_routes **both)
{
    struct sets x = {ctx, fabric, base, high, vl, NULL, NULL, 0};
    x.table = sv_alloc(ctx, base->num_vl_tables, sizeof *x.table);
    if (x.table == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < base->num_vl_tables; t++)
        x.table[t] = SV_NONE;
    sv_status status = make(&x);
    sv_release(ctx, x.table);
    if (status == SV_OK)
        *both = x.both;
    else
        sv_routes_free(x.both);
    return status;
}
