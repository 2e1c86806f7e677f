/*
 * discover.c: a live fabric and what is programmed into it, from one port of this host.
 *
 * Idea: the fabric first (net.c), since it gives the ways on which everything else is asked; then
 * tables (tables.c); then, if wanted, SLs (sls.c). LIDs and LMC are what the ports say, and tables
 * are kept for those LIDs only.
 *
 * Nothing is changed in the fabric: all datagrams are Get.
 *
 * Cost: datagrams, over the window; see the single files.
 */
#include <selvage/experimental/discover.h>

#include "base/ctx.h"

#ifdef SELVAGE_IBNETDISC

#include <stdio.h>

#include "discover/net.h"

enum { TIMEOUT_MS = 500, TRIES = 3, WINDOW = 64 };

bool sv_can_discover(void)
{
    return true;
}

static sv_status complete(sv_ctx *ctx, const sv_discover_options *given, sv_discover_options *o)
{
    *o = given != NULL ? *given : (sv_discover_options){0};
    o->timeout_ms = o->timeout_ms == 0 ? TIMEOUT_MS : o->timeout_ms;
    o->tries = o->tries == 0 ? TRIES : o->tries;
    o->window = o->window == 0 ? WINDOW : o->window;
    if (o->window > SV__MAX_WINDOW)
        return sv_refuse(ctx, "a window of %u (at most %d)", o->window, SV__MAX_WINDOW);
    if (o->timeout_ms > 3600000)
        return sv_refuse(ctx, "a timeout of %u ms (at most an hour)", o->timeout_ms);
    return SV_OK;
}

/* Terminals without a LID take no part; switches without one mean that nothing is set up yet. */
static sv_status leave_out(sv__discover_net *net)
{
    sv_fabric *f = net->fabric, *left = NULL;
    uint32_t without = 0, example = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (f->switches[s].lid == 0)
            return sv_fail(net->ctx, SV_INFEASIBLE,
                           "switch \"%s\" has no LID, so there are no tables yet: is a subnet "
                           "manager running?",
                           f->switches[s].name);
    sv_mask *mask = sv_mask_new(net->ctx, f);
    if (mask == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (f->terminals[t].lid == 0) {
            sv_mask_node(mask, (sv_node){f->num_switches + t});
            example = f->num_switches + t;
            without++;
        }
    sv_status status = without > 0 ? sv_fabric_mask(net->ctx, f, mask, &left) : SV_OK;
    sv_mask_free(mask);
    if (status == SV_OK && without > 0) {
        sv_warn(net->ctx, "%u port(s) of adapters have no LID and are left out, \"%s\" for example",
                without, sv_node_name(f, (sv_node){example}));
        net->fabric = left;
        sv_fabric_free(f);
    }
    return status;
}

/* The LMC that all terminals have at least. */
static void find_lmc(sv__discover_net *net)
{
    const sv_fabric *f = net->fabric;
    unsigned max = 0;
    net->lmc = 7;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        if (!sv_node_alive(f, (sv_node){f->num_switches + t}))
            continue;
        net->lmc = f->terminals[t].lmc < net->lmc ? f->terminals[t].lmc : net->lmc;
        max = f->terminals[t].lmc > max ? f->terminals[t].lmc : max;
    }
    if (f->live_terminals == 0)
        net->lmc = 0;
    else if (max > net->lmc)
        sv_warn(net->ctx, "terminals have an LMC of %u to %u: only 2^%u LIDs of each are looked at",
                net->lmc, max, net->lmc);
}

static sv_status make_routes(sv__discover_net *net, sv_routes **routes)
{
    const sv_fabric *f = net->fabric;
    find_lmc(net);
    SV_TRY(sv_routes_new(net->ctx, f, net->lmc, routes));
    sv_routes *r = *routes;
    r->sl_form = SV_SL_UNKNOWN;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        uint32_t lid =
            v < f->num_switches ? f->switches[v].lid : f->terminals[v - f->num_switches].lid;
        for (uint32_t d = r->first[v]; d < r->first[v + 1]; d++, lid++)
            r->lid[d] = sv_node_alive(f, (sv_node){v}) && lid <= SV_LID_MAX ? (uint16_t)lid : 0;
    }
    return SV_OK;
}

static double seconds_since(sv_ctx *ctx, uint64_t *since_ns)
{
    uint64_t now = sv_now_ns(ctx), was = *since_ns;
    *since_ns = now;
    return (double)(now - was) / 1e9;
}

/* Everything behind the fabric itself. */
static sv_status read_all(sv__discover_net *net, sv__port *port, const sv_discover_options *o,
                          sv_routes **routes, sv_discovery *found)
{
    uint64_t since_ns = sv_now_ns(net->ctx);
    SV_TRY(leave_out(net));
    SV_TRY(make_routes(net, routes));
    port->timeout_ms = o->timeout_ms;
    port->sm_lid = net->sm_lid;
    port->sm_sl = net->sm_sl;
    SV_TRY(sv__port_open(port));
    sv__discover_wire wire = sv__port_wire(port);
    sv__window window = {.ctx = net->ctx,
                         .wire = &wire,
                         .size = o->window,
                         .tries = o->tries,
                         .timeout_ns = (uint64_t)o->timeout_ms * 1250000};
    SV_TRY(sv__read_tables(net, &window, *routes, found));
    found->tables_seconds = seconds_since(net->ctx, &since_ns);
    if (o->sls)
        SV_TRY(sv__read_sls(net, &window, *routes, found));
    found->path_seconds = seconds_since(net->ctx, &since_ns);
    found->datagrams = window.sent;
    found->again = window.again;
    return SV_OK;
}

sv_status sv_fabric_discover(sv_ctx *ctx, const sv_discover_options *options, sv_fabric **fabric,
                             sv_routes **routes, sv_discovery *found)
{
    sv_discover_options o;
    sv_discovery seen = {.device = ""};
    sv__discover_net net = {.ctx = ctx};
    sv__port port;
    sv_routes *r = NULL;
    uint64_t since_ns = sv_now_ns(ctx);
    SV_TRY(complete(ctx, options, &o));
    o.fabric_only = o.fabric_only || routes == NULL;
    SV_TRY(sv__port_find(&port, ctx, o.device, o.port));
    snprintf(seen.device, sizeof seen.device, "%s port %d", port.device, port.number);
    sv_arena_init(&net.arena, ctx);
    sv_status status = sv__net_discover(&net, &port, &o);
    seen.fabric_seconds = seconds_since(ctx, &since_ns);
    if (status == SV_OK && !o.fabric_only)
        status = read_all(&net, &port, &o, &r, &seen);
    sv__port_close(&port);
    sv_arena_release(&net.arena);
    if (status != SV_OK) {
        sv_routes_free(r);
        sv_fabric_free(net.fabric);
        return status;
    }
    *fabric = net.fabric;
    if (routes != NULL)
        *routes = r;
    if (found != NULL)
        *found = seen;
    return SV_OK;
}

#else

bool sv_can_discover(void)
{
    return false;
}

sv_status sv_fabric_discover(sv_ctx *ctx, const sv_discover_options *options, sv_fabric **fabric,
                             sv_routes **routes, sv_discovery *found)
{
    (void)options;
    (void)fabric;
    (void)routes;
    (void)found;
    return sv_fail(ctx, SV_UNSUPPORTED,
                   "this selvage was built without libibnetdisc and cannot discover fabrics");
}

#endif
