/*
 * sls.c: the SL of each pair of nodes, from the subnet manager.
 *
 * Switches do not know SLs: packets carry them, and senders get them by asking the subnet manager
 * for the path. So it is asked the same, once for each source (by its base LID) and each LID that
 * is another node's. Large answers get lost on the way in simulators and are slow to get right on
 * real fabrics; small ones, many at once, are neither.
 *
 * A manager that never answered is an error; one that has no path for a pair leaves that SL
 * unknown.
 *
 * Invariants: rows by node hold what was answered; nobody sends to itself, so those entries say
 * nothing and may become anything when the form shrinks.
 * Cost: (nodes × LIDs) datagrams and bytes, until the form is known.
 */
#include <string.h>

#include "discover/net.h"

/* In rows by node only: the manager knows no path. */
enum { NO_PATH = SV_NO_SL - 1 };

struct asking {
    sv__discover_net *net;
    sv_routes *routes;
    sv_discovery *found;
    uint64_t failed, no_path;
};

static bool ask_path(void *user, uint64_t i, uint8_t *mad)
{
    const struct asking *a = user;
    const sv_routes *r = a->routes;
    uint32_t nodes = sv_num_nodes(a->net->fabric);
    uint32_t d = (uint32_t)(i / nodes), v = (uint32_t)(i % nodes);
    uint16_t from = r->lid[r->first[v]], to = r->lid[d];
    if (r->node[d].i == v || from == 0 || to == 0)
        return false;
    sv__mad_ask_path(mad, from, to);
    return true;
}

static sv_status take_path(void *user, uint64_t i, const uint8_t *mad)
{
    struct asking *a = user;
    uint32_t nodes = sv_num_nodes(a->net->fabric);
    uint32_t d = (uint32_t)(i / nodes), v = (uint32_t)(i % nodes);
    if (mad == NULL && a->found->paths == 0 && a->failed == 0)
        return sv_fail(a->net->ctx, SV_IO, "the subnet manager at LID %u does not answer: no SLs",
                       a->net->sm_lid);
    bool none = mad != NULL && sv__mad_has_no_records(mad);
    if (mad == NULL || (sv__mad_status(mad) != 0 && !none)) {
        a->failed++;
        return SV_OK;
    }
    a->no_path += none;
    a->found->paths++;
    uint8_t *row = sv_routes_sl_row(a->net->ctx, a->routes, d);
    if (row == NULL)
        return SV_NO_MEMORY;
    row[v] = none ? NO_PATH : (uint8_t)sv__mad_path_sl(mad);
    return SV_OK;
}

static uint64_t count_pairs(const sv_fabric *f, const sv_routes *r)
{
    uint64_t sources = 0, destinations = 0;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        sources += r->lid[r->first[v]] != 0;
    for (uint32_t d = 0; d < r->num_destinations; d++)
        destinations += r->lid[d] != 0;
    return sources == 0 ? 0 : destinations * (sources - 1);
}

sv_status sv__read_sls(sv__discover_net *net, sv__window *window, sv_routes *routes,
                       sv_discovery *found)
{
    struct asking a = {.net = net, .routes = routes, .found = found};
    uint64_t nodes = sv_num_nodes(net->fabric);
    sv__questions q = {.what = "paths",
                       .count = nodes * routes->num_destinations,
                       .user = &a,
                       .ask = ask_path,
                       .take = take_path};
    if (net->sm_lid == 0)
        return sv_fail(net->ctx, SV_IO, "no subnet manager is known here: no SLs");
    sv_note(net->ctx, "asking the subnet manager at LID %u for the SLs of %llu pairs", net->sm_lid,
            (unsigned long long)count_pairs(net->fabric, routes));
    SV_TRY(sv_routes_set_sl_form(net->ctx, routes, SV_SL_BY_NODE));
    SV_TRY(sv__window_run(window, &q));
    found->unanswered += a.failed;
    if (a.failed > 0)
        sv_warn(net->ctx, "no SL for %llu pair(s)", (unsigned long long)a.failed);
    if (a.no_path > 0)
        sv_note(net->ctx, "the subnet manager knows no path for %llu pair(s)",
                (unsigned long long)a.no_path);
    return sv__shrink_sls(net->ctx, net->fabric, routes);
}

/* ---- the smallest form ---- */

/* Whether a pair exists at all. */
static bool counts(const sv_fabric *f, const sv_routes *r, uint32_t d, uint32_t v)
{
    return r->node[d].i != v && r->sls[d][v] != NO_PATH && r->lid[d] != 0 &&
           r->lid[r->first[v]] != 0 && sv_node_alive(f, (sv_node){v}) &&
           sv_node_alive(f, r->node[d]);
}

/* The one SL of a destination, from everybody; false: there are several. *sl: SV_NO_SL if none. */
static bool one_sl(const sv_fabric *f, const sv_routes *r, uint32_t d, uint8_t *sl)
{
    bool any = false;
    *sl = SV_NO_SL;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        if (!counts(f, r, d, v))
            continue;
        if (any && r->sls[d][v] != *sl)
            return false;
        *sl = r->sls[d][v];
        any = true;
    }
    return true;
}

/* The SLs of a destination by source switch; false: two terminals of a switch differ. */
static bool by_switch(const sv_fabric *f, const sv_routes *r, uint32_t d, uint8_t *row, bool *set)
{
    memset(row, SV_NO_SL, f->num_switches);
    memset(set, 0, f->num_switches * sizeof *set);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        uint32_t home = v < f->num_switches ? v : r->home[v - f->num_switches];
        if (!counts(f, r, d, v))
            continue;
        if (home == SV_NONE || (set[home] && row[home] != r->sls[d][v]))
            return false;
        row[home] = r->sls[d][v];
        set[home] = true;
    }
    return true;
}

static sv_status make_by_destination(sv_ctx *ctx, sv_routes *r, const uint8_t *sls, bool constant)
{
    uint8_t first = 0;
    for (uint32_t d = 0; d < r->num_destinations; d++)
        if (sls[d] != SV_NO_SL)
            first = sls[d];
    SV_TRY(sv_routes_set_sl_form(ctx, r, constant ? SV_SL_CONSTANT : SV_SL_BY_DESTINATION));
    if (constant) {
        r->sl = first;
        return SV_OK;
    }
    uint8_t *row = sv_routes_sl_row(ctx, r, 0);
    if (row != NULL)
        memcpy(row, sls, r->num_destinations);
    return row == NULL ? SV_NO_MEMORY : SV_OK;
}

static sv_status make_by_switch(sv_ctx *ctx, sv_routes *r, const uint8_t *sls)
{
    SV_TRY(sv_routes_set_sl_form(ctx, r, SV_SL_BY_SWITCH));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        uint8_t *row = sv_routes_sl_row(ctx, r, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        memcpy(row, sls + (size_t)d * r->num_switches, r->num_switches);
    }
    return SV_OK;
}

static sv_status keep_by_node(sv_ctx *ctx, sv_routes *r)
{
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        uint8_t *row = sv_routes_sl_row(ctx, r, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        for (uint32_t v = 0; v < r->num_switches + r->num_terminals; v++)
            row[v] = row[v] == NO_PATH ? SV_NO_SL : row[v];
    }
    return SV_OK;
}

static sv_status shrink(sv_ctx *ctx, sv_arena *arena, const sv_fabric *f, sv_routes *r)
{
    size_t n = r->num_destinations;
    uint8_t *single = SV_ARENA_NEW(arena, uint8_t, n);
    uint8_t *rows = SV_ARENA_NEW(arena, uint8_t, n * r->num_switches);
    bool *set = SV_ARENA_NEW(arena, bool, r->num_switches);
    bool fits = true, constant = true, switches = true;
    uint8_t first = SV_NO_SL;
    if (single == NULL || rows == NULL || set == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < n; d++) {
        fits = fits && one_sl(f, r, d, &single[d]);
        bool alive = r->lid[d] != 0 && sv_node_alive(f, r->node[d]);
        first = alive && first == SV_NO_SL ? single[d] : first;
        constant = constant && (!alive || (single[d] == first && first != SV_NO_SL));
        switches = switches && by_switch(f, r, d, rows + (size_t)d * r->num_switches, set);
    }
    if (fits)
        return make_by_destination(ctx, r, single, constant);
    return switches ? make_by_switch(ctx, r, rows) : keep_by_node(ctx, r);
}

sv_status sv__shrink_sls(sv_ctx *ctx, const sv_fabric *f, sv_routes *r)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = shrink(ctx, &arena, f, r);
    sv_arena_release(&arena);
    return status;
}
