/*
 * routes.c: making, cloning and changing forwarding tables.
 *
 * Idea: a row a destination, because engines compute, and proofs read, all switches' entries for
 * one destination at a time; a switch's LFT is a column, put together when a file is written. Rows
 * are shared until somebody asks to write one: fresh tables share one empty row, a clone shares
 * its original's (docs/decisions/0007). VL tables are pooled: however many pairs of ports there
 * are, only a handful of different tables exist.
 *
 * Invariants: a row whose own_ports bit is not set is never written to; the store of a clone holds
 * a reference to the store its rows live in; VL table 0 sends every SL to VL 0.
 *
 * Cost: O(1) for everything but the first write to a shared row (its length) and making tables
 * (destinations + nodes).
 */
#include <string.h>

#include "base/bitset.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "routes/routes.h"

/* How long a row of SLs is. */
static size_t sl_row_length(const sv_routes *r, unsigned form)
{
    switch (form) {
    case SV_SL_BY_DESTINATION:
        return r->num_destinations;
    case SV_SL_BY_SWITCH:
        return r->num_switches;
    case SV_SL_BY_NODE:
        return (size_t)r->num_switches + r->num_terminals;
    default:
        return 0;
    }
}

size_t sv__routes_sl_row_length(const sv_routes *r)
{
    return sl_row_length(r, r->sl_form);
}

size_t sv__routes_sl_rows(const sv_routes *r)
{
    if (r->sl_form == SV_SL_BY_DESTINATION)
        return 1;
    return r->sl_form == SV_SL_BY_SWITCH || r->sl_form == SV_SL_BY_NODE ? r->num_destinations : 0;
}

static sv_status check_ports(sv_ctx *ctx, const sv_fabric *f)
{
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (f->switches[s].ports > SV_MAX_PORTS)
            return sv_fail(ctx, SV_INFEASIBLE,
                           "switch \"%s\" has %u ports, but forwarding tables number at most %d",
                           f->switches[s].name, f->switches[s].ports, SV_MAX_PORTS);
    return SV_OK;
}

/* Numbers the destinations: all offsets of a node in a row. */
static sv_status number(sv_ctx *ctx, const sv_fabric *f, sv_routes *r)
{
    uint32_t nodes = sv_num_nodes(f);
    uint64_t count = f->num_switches + ((uint64_t)f->num_terminals << r->lmc);
    if (count >= SV_NONE)
        return sv_fail(ctx, SV_INFEASIBLE, "%llu destinations are more than can be numbered",
                       (unsigned long long)count);
    r->num_destinations = (uint32_t)count;
    uint32_t *first = SV_POOL_NEW(r->store, ctx, uint32_t, (size_t)nodes + 1);
    sv_node *node = SV_POOL_NEW(r->store, ctx, sv_node, count);
    uint32_t *home = SV_POOL_NEW(r->store, ctx, uint32_t, f->num_terminals);
    if (first == NULL || node == NULL || home == NULL)
        return SV_NO_MEMORY;
    uint32_t d = 0;
    for (uint32_t v = 0; v < nodes; v++) {
        first[v] = d;
        for (uint32_t k = v < f->num_switches ? 1 : 1u << r->lmc; k > 0; k--)
            node[d++] = (sv_node){v};
    }
    first[nodes] = d;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        home[t] = sv_switch_of(f, (sv_node){f->num_switches + t}).i;
    r->first = first;
    r->node = node;
    r->home = home;
    return SV_OK;
}

/* All arrays that a clone has of its own. */
static sv_status allocate(sv_ctx *ctx, sv_routes *r)
{
    size_t nodes = (size_t)r->num_switches + r->num_terminals, d = r->num_destinations;
    r->lid = SV_POOL_NEW(r->store, ctx, uint16_t, d);
    r->ports = SV_POOL_NEW(r->store, ctx, uint8_t *, d);
    r->vls_of = SV_POOL_NEW(r->store, ctx, uint16_t, nodes);
    r->sl2vl_by_port = SV_POOL_NEW(r->store, ctx, uint16_t *, r->num_switches);
    r->own_ports = SV_POOL_NEW(r->store, ctx, uint64_t, sv_bitset_words(d) + 1);
    r->own_sls = SV_POOL_NEW(r->store, ctx, uint64_t, sv_bitset_words(d) + 1);
    r->own_vls = SV_POOL_NEW(r->store, ctx, uint64_t, sv_bitset_words(r->num_switches) + 1);
    return r->lid == NULL || r->ports == NULL || r->vls_of == NULL || r->sl2vl_by_port == NULL ||
                   r->own_ports == NULL || r->own_sls == NULL || r->own_vls == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

static sv_status fill_empty(sv_ctx *ctx, const sv_fabric *f, sv_routes *r)
{
    uint8_t *empty = SV_POOL_NEW(r->store, ctx, uint8_t, (size_t)r->num_switches + 1);
    if (empty == NULL)
        return SV_NO_MEMORY;
    memset(empty, SV_NO_PORT, r->num_switches);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        r->ports[d] = empty;
    for (uint32_t s = 0; s < r->num_switches; s++) {
        if (!sv_node_alive(f, (sv_node){s}))
            continue;
        uint8_t *row = sv_routes_row(ctx, r, r->first[s]);
        if (row == NULL)
            return SV_NO_MEMORY;
        row[s] = 0;
    }
    sv_sl2vl zero = {{0}};
    r->num_sls = SV_HARDWARE_SLS;
    r->sl_form = SV_SL_CONSTANT;
    r->sl2vl_known = true;
    return sv_routes_sl2vl_table(ctx, r, &zero) == SV_NONE ? SV_NO_MEMORY : SV_OK;
}

sv_status sv_routes_new(sv_ctx *ctx, const sv_fabric *f, unsigned lmc, sv_routes **routes)
{
    if (lmc > 7)
        return sv_fail(ctx, SV_BAD_INPUT, "an LMC of %u (it is 0 to 7)", lmc);
    SV_TRY(check_ports(ctx, f));
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_routes *r = SV_POOL_NEW(store, ctx, sv_routes, 1);
    sv_status status = r == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        r->store = store;
        r->num_switches = f->num_switches;
        r->num_terminals = f->num_terminals;
        r->lmc = (uint8_t)lmc;
        status = number(ctx, f, r);
    }
    if (status == SV_OK)
        status = allocate(ctx, r);
    if (status == SV_OK)
        status = fill_empty(ctx, f, r);
    if (status == SV_OK)
        *routes = r;
    else
        sv__pool_drop(store);
    return status;
}

void sv_routes_free(sv_routes *r)
{
    if (r != NULL)
        sv__pool_drop(r->store);
}

/* Groups are few and small: a clone has its own. */
static sv_status clone_groups(sv_ctx *ctx, const sv_routes *from, sv_routes *to)
{
    to->groups = SV_POOL_NEW(to->store, ctx, sv_group, 2 * (size_t)from->num_groups + 1);
    if (to->groups == NULL)
        return SV_NO_MEMORY;
    for (uint32_t g = 0; g < from->num_groups; g++) {
        size_t bytes = (size_t)from->num_switches * sizeof *from->groups[g].ports;
        to->groups[g] = from->groups[g];
        to->groups[g].ports = sv__pool_alloc(to->store, ctx, 1, bytes + 1);
        if (to->groups[g].ports == NULL)
            return SV_NO_MEMORY;
        memcpy(to->groups[g].ports, from->groups[g].ports, bytes);
    }
    return SV_OK;
}

static sv_status clone_into(sv_ctx *ctx, const sv_routes *from, sv_routes *to)
{
    sv_pool *store = to->store;
    size_t nodes = (size_t)from->num_switches + from->num_terminals;
    *to = *from;
    to->store = store;
    SV_TRY(allocate(ctx, to));
    memcpy(to->lid, from->lid, from->num_destinations * sizeof *to->lid);
    memcpy(to->ports, from->ports, from->num_destinations * sizeof *to->ports);
    memcpy(to->vls_of, from->vls_of, nodes * sizeof *to->vls_of);
    memcpy(to->sl2vl_by_port, from->sl2vl_by_port, from->num_switches * sizeof *to->sl2vl_by_port);
    size_t rows = sv__routes_sl_rows(from);
    to->sls = SV_POOL_NEW(store, ctx, uint8_t *, rows + 1);
    size_t room = 1; /* as sv_routes_sl2vl_table takes it to be */
    while (room < from->num_vl_tables)
        room *= 2;
    to->vl_tables = SV_POOL_NEW(store, ctx, sv_sl2vl, room);
    if (to->sls == NULL || to->vl_tables == NULL)
        return SV_NO_MEMORY;
    if (rows > 0)
        memcpy(to->sls, from->sls, rows * sizeof *to->sls);
    memcpy(to->vl_tables, from->vl_tables, from->num_vl_tables * sizeof(sv_sl2vl));
    return clone_groups(ctx, from, to);
}

/* From now on somebody else has these rows, too: the first write copies them. */
static void disown(const sv_routes *r)
{
    for (size_t i = 0; i < sv_bitset_words(r->num_destinations); i++)
        if ((r->own_ports[i] | r->own_sls[i]) != 0)
            r->own_ports[i] = r->own_sls[i] = 0;
    for (size_t i = 0; i < sv_bitset_words(r->num_switches); i++)
        if (r->own_vls[i] != 0)
            r->own_vls[i] = 0;
}

sv_status sv_routes_clone(sv_ctx *ctx, const sv_routes *routes, sv_routes **clone)
{
    sv_pool *store = sv__pool_new(ctx, routes->store);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_routes *r = SV_POOL_NEW(store, ctx, sv_routes, 1);
    sv_status status = r == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        r->store = store;
        status = clone_into(ctx, routes, r);
    }
    if (status == SV_OK) {
        disown(routes);
        *clone = r;
    } else {
        sv__pool_drop(store);
    }
    return status;
}

/* A row that may be written to: itself if it is ours alone, else a copy. */
static uint8_t *own_row(sv_ctx *ctx, sv_routes *r, uint64_t *own, uint8_t **rows, uint32_t i,
                        size_t length)
{
    if (sv_bit(own, i))
        return rows[i];
    uint8_t *copy = SV_POOL_NEW(r->store, ctx, uint8_t, length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, rows[i], length);
    sv_bit_set(own, i);
    return rows[i] = copy;
}

uint8_t *sv_routes_row(sv_ctx *ctx, sv_routes *r, uint32_t destination)
{
    return own_row(ctx, r, r->own_ports, r->ports, destination, r->num_switches);
}

sv_status sv__routes_raw_rows(sv_ctx *ctx, const sv_fabric *f, sv_routes *r)
{
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        sv_node to = r->node[d];
        bool homeless = !sv_is_switch(f, to) && r->home[to.i - f->num_switches] == SV_NONE;
        if (sv_bit(r->own_ports, d) || homeless || !sv_node_alive(f, to))
            continue;
        uint8_t *row = sv_arena_raw(&r->store->arena, (size_t)r->num_switches + 1, 1);
        if (row == NULL)
            return sv_fail(ctx, SV_NO_MEMORY, "%s", sv_ctx_message(&r->store->ctx));
        sv_bit_set(r->own_ports, d);
        r->ports[d] = row;
    }
    return SV_OK;
}

uint8_t *sv_routes_sl_row(sv_ctx *ctx, sv_routes *r, uint32_t destination)
{
    return own_row(ctx, r, r->own_sls, r->sls, destination, sv__routes_sl_row_length(r));
}

sv_status sv_routes_set_sl_form(sv_ctx *ctx, sv_routes *r, sv_sl_form form)
{
    size_t length = sl_row_length(r, form);
    r->sl_form = (uint8_t)form;
    r->sl = 0;
    r->sls = NULL;
    memset(r->own_sls, 0, sv_bitset_words(r->num_destinations) * sizeof *r->own_sls);
    size_t rows = sv__routes_sl_rows(r);
    if (rows == 0)
        return SV_OK;
    uint8_t *empty = SV_POOL_NEW(r->store, ctx, uint8_t, length + 1);
    r->sls = SV_POOL_NEW(r->store, ctx, uint8_t *, rows + 1);
    if (empty == NULL || r->sls == NULL) {
        r->sl_form = SV_SL_UNKNOWN;
        return SV_NO_MEMORY;
    }
    memset(empty, SV_NO_SL, length);
    for (size_t i = 0; i < rows; i++)
        r->sls[i] = empty;
    return SV_OK;
}

uint32_t sv_routes_sl2vl_table(sv_ctx *ctx, sv_routes *r, const sv_sl2vl *vls)
{
    for (uint32_t i = 0; i < r->num_vl_tables; i++)
        if (memcmp(&r->vl_tables[i], vls, sizeof *vls) == 0)
            return i;
    uint32_t n = r->num_vl_tables;
    if (n > UINT16_MAX) {
        sv_fail(ctx, SV_NO_MEMORY, "more than %d different tables of VLs", UINT16_MAX);
        return SV_NONE;
    }
    if ((n & (n - 1)) == 0) { /* full: twice the room; what is left behind goes with the store */
        sv_sl2vl *more = SV_POOL_NEW(r->store, ctx, sv_sl2vl, n == 0 ? 1 : 2 * (size_t)n);
        if (more == NULL)
            return SV_NONE;
        if (n > 0)
            memcpy(more, r->vl_tables, n * sizeof *more);
        r->vl_tables = more;
    }
    r->vl_tables[n] = *vls;
    return r->num_vl_tables++;
}

sv_status sv_routes_set_sl2vl(sv_ctx *ctx, const sv_fabric *f, sv_routes *r, sv_node s, unsigned in,
                              unsigned out, uint32_t table)
{
    size_t ports = f->switches[s.i].ports + 1u;
    uint16_t *held = r->sl2vl_by_port[s.i];
    if (held == NULL && table == r->vls_of[s.i])
        return SV_OK;
    if (!sv_bit(r->own_vls, s.i)) {
        uint16_t *copy = SV_POOL_NEW(r->store, ctx, uint16_t, ports * ports);
        if (copy == NULL)
            return SV_NO_MEMORY;
        for (size_t i = 0; i < ports * ports; i++)
            copy[i] = held != NULL ? held[i] : r->vls_of[s.i];
        sv_bit_set(r->own_vls, s.i);
        r->sl2vl_by_port[s.i] = copy;
    }
    r->sl2vl_by_port[s.i][in * ports + out] = (uint16_t)table;
    return SV_OK;
}

sv_status sv__routes_take_vls(sv_ctx *ctx, const sv_fabric *f, sv_routes *r, sv_node v,
                              const sv_routes *from)
{
    uint32_t table = sv_routes_sl2vl_table(ctx, r, &from->vl_tables[from->vls_of[v.i]]);
    if (table == SV_NONE)
        return SV_NO_MEMORY;
    if (v.i < r->num_switches) { /* what it had by ports is forgotten */
        r->sl2vl_by_port[v.i] = NULL;
        sv_bit_clear(r->own_vls, v.i);
    }
    r->vls_of[v.i] = (uint16_t)table;
    if (v.i >= r->num_switches || from->sl2vl_by_port[v.i] == NULL)
        return SV_OK;
    unsigned ports = f->switches[v.i].ports + 1u;
    uint32_t was = SV_NONE;
    for (unsigned i = 0; i < ports * ports; i++) {
        uint32_t is = from->sl2vl_by_port[v.i][i];
        if (is != was)
            table = sv_routes_sl2vl_table(ctx, r, &from->vl_tables[is]);
        was = is;
        if (table == SV_NONE)
            return SV_NO_MEMORY;
        SV_TRY(sv_routes_set_sl2vl(ctx, f, r, v, i / ports, i % ports, table));
    }
    return SV_OK;
}

sv_status sv_routes_add_group(sv_ctx *ctx, sv_routes *r, unsigned mlid, sv_group **group)
{
    uint32_t n = r->num_groups;
    bool full = (n & (n - 1)) == 0; /* room doubles at powers of two */
    sv_group *groups = full ? SV_POOL_NEW(r->store, ctx, sv_group, 2 * (size_t)n + 1) : r->groups;
    uint64_t(*ports)[4] = sv__pool_alloc(r->store, ctx, (size_t)r->num_switches + 1, sizeof *ports);
    if (groups == NULL || ports == NULL)
        return SV_NO_MEMORY;
    if (n > 0 && full)
        memcpy(groups, r->groups, n * sizeof *groups);
    groups[n] = (sv_group){.mlid = (uint16_t)mlid, .sl = SV_NO_SL, .ports = ports};
    r->groups = groups;
    r->num_groups = n + 1;
    *group = &groups[n];
    return SV_OK;
}
