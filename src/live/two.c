/*
 * two.c: two sets of routes, for five phases (update.h).
 *
 * Engines, repairs and multicast trees know nothing of it: they make tables with one address a
 * terminal on all VLs but the last, and are judged as ever. Tables that are safe then get a
 * second set, by updn on the last VL, and are verified whole. updn is oblivious: while the fabric
 * stays, so do the entries of high addresses, whatever base ones do.
 *
 * Tables that come from files or from before (pinned, kept, returned) have both sets already.
 *
 * Invariant: nothing but packets to high addresses is on the last VL.
 * Cost: as updn and sv_verify.
 */
#include <selvage/experimental/update.h>
#include <string.h>

#include "live/live.h"

/* VLs in all; 0: nobody tells. */
static unsigned vls_of(const sv_live *live, const sv_fabric *f)
{
    unsigned asked = live->options.route.vls, offered = sv__live_vls_offered(f);
    return offered > 0 && (asked == 0 || asked > offered) ? offered : asked;
}

unsigned sv__live_engine_vls(const sv_live *live, const sv_fabric *f)
{
    unsigned asked = live->options.route.vls, vls = vls_of(live, f);
    if (live->options.update != SV_LIVE_FIVE)
        return asked == 0 ? 0 : vls;
    return vls > 1 ? vls - 1 : 1;
}

unsigned sv__live_engine_lmc(const sv_live *live)
{
    return live->options.update == SV_LIVE_FIVE ? 0 : live->options.route.lmc;
}

static sv_status make_high(sv_live *live, const sv_fabric *f, sv_routes **high)
{
    const sv_route_request request = {.vls = 1, .seed = live->options.route.seed};
    sv_route_report report;
    return sv_route(live->ctx, f, "updn", &request, high, &report);
}

/* Whether an SL has a VL for itself in a table. */
static bool keeps_vl(const sv_sl2vl *vls, uint32_t sls, unsigned vl)
{
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
        if (sls >> sl & 1 && (vls->of_sl[sl] == vl) != (sl == vl))
            return false;
    return true;
}

/* Whether packets to high addresses, and none but those, have an SL and a VL: the last. */
static bool has_sets(const sv_fabric *f, const sv_routes *r, unsigned vl)
{
    uint32_t sls = 0, nodes = sv_num_nodes(f);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        for (uint32_t v = 0; v < nodes; v++) {
            unsigned sl = sv_route_sl(r, (sv_node){v}, d);
            if (sl < SV_HARDWARE_SLS && (d != r->first[r->node[d].i]) != (sl == vl))
                return false;
            sls |= sl < SV_HARDWARE_SLS ? 1u << sl : 0;
        }
    for (uint32_t v = 0; v < nodes; v++) {
        bool by_ports = v < f->num_switches && r->sl2vl_by_port[v] != NULL;
        unsigned ports = by_ports ? f->switches[v].ports : 0;
        for (unsigned in = 0; in <= ports; in++)
            for (unsigned out = 0; out <= ports; out++)
                if (!keeps_vl(sv_route_sl2vl(r, f, (sv_node){v}, in, out), sls, vl))
                    return false;
    }
    return true;
}

bool sv__live_has_sets(const sv_live *live, const sv_fabric *f, const sv_routes *r)
{
    unsigned vls = vls_of(live, f);
    return r->lmc == 1 && vls >= 2 && has_sets(f, r, vls - 1);
}

sv_status sv__live_add_set(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    sv_routes *high = NULL, *both = NULL;
    unsigned vls = vls_of(live, f);
    if (live->options.update != SV_LIVE_FIVE)
        return SV_OK;
    if (c->routes->lmc != 0 && !sv__live_has_sets(live, f, c->routes))
        return sv_fail(live->ctx, SV_INFEASIBLE,
                       "tables of %s do not keep high addresses on the last VL", c->engine);
    if (c->routes->lmc != 0)
        return SV_OK;
    if (vls < 2)
        return sv_fail(live->ctx, SV_INFEASIBLE, "two sets of routes need two VLs, there is %s",
                       vls == 0 ? "no telling how many there are" : "one");
    SV_TRY(make_high(live, f, &high));
    sv_status status = sv_update_two_sets(live->ctx, f, c->routes, high, vls - 1, &both);
    sv_routes_free(high);
    SV_TRY(status);
    sv__live_take_lids(f, both);
    sv_routes_free(c->routes);
    c->routes = both;
    SV_TRY(sv__live_verify_again(live, f, c));
    return sv__live_keep_orders(live, f, c);
}

/* ---- back to one set ---- */

static sv_status copy_vls(sv_ctx *ctx, const sv_fabric *f, const sv_routes *from, sv_routes *to)
{
    to->num_sls = from->num_sls;
    to->sl2vl_known = from->sl2vl_known;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        uint32_t number = sv_routes_sl2vl_table(ctx, to, &from->vl_tables[from->vls_of[v]]);
        if (number == SV_NONE)
            return SV_NO_MEMORY;
        to->vls_of[v] = (uint16_t)number;
    }
    for (uint32_t s = 0; s < f->num_switches; s++) {
        const uint16_t *pairs = from->sl2vl_by_port[s];
        unsigned ports = f->switches[s].ports + 1u;
        for (unsigned i = 0; pairs != NULL && i < ports * ports; i++) {
            uint32_t number = sv_routes_sl2vl_table(ctx, to, &from->vl_tables[pairs[i]]);
            if (number == SV_NONE)
                return SV_NO_MEMORY;
            SV_TRY(sv_routes_set_sl2vl(ctx, f, to, (sv_node){s}, i / ports, i % ports, number));
        }
    }
    return SV_OK;
}

static sv_status copy_rows(sv_ctx *ctx, const sv_fabric *f, const sv_routes *from, sv_routes *to)
{
    SV_TRY(sv_routes_set_sl_form(ctx, to, (sv_sl_form)from->sl_form));
    to->sl = from->sl;
    bool rows = from->sl_form == SV_SL_BY_SWITCH || from->sl_form == SV_SL_BY_NODE;
    size_t length = from->num_switches;
    if (from->sl_form == SV_SL_BY_NODE)
        length += from->num_terminals;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        uint32_t d = from->first[v], e = to->first[v];
        uint8_t *row = sv_routes_row(ctx, to, e);
        uint8_t *sls = from->sl_form >= SV_SL_BY_DESTINATION ? sv_routes_sl_row(ctx, to, e) : NULL;
        if (row == NULL || (from->sl_form >= SV_SL_BY_DESTINATION && sls == NULL))
            return SV_NO_MEMORY;
        memcpy(row, from->ports[d], from->num_switches);
        if (rows)
            memcpy(sls, from->sls[d], length);
        else if (sls != NULL)
            sls[e] = from->sls[0][d];
        to->lid[e] = from->lid[d];
    }
    return SV_OK;
}

static sv_status copy_orders(sv_ctx *ctx, const sv_fabric *f, const sv_routes *from, sv_routes *to)
{
    uint32_t *numbers;
    if (from->orders == NULL)
        return SV_OK;
    SV_TRY(sv_routes_set_orders(ctx, f, to, from->order_vls, &numbers));
    memcpy(numbers, from->orders,
           (size_t)from->order_first[f->num_switches] * from->order_vls * sizeof *numbers);
    return SV_OK;
}

sv_status sv__live_base_set(sv_live *live, const sv__set *from, sv_routes **base)
{
    sv_routes *r = NULL;
    SV_TRY(sv_routes_new(live->ctx, from->fabric, 0, &r));
    sv_status status = copy_vls(live->ctx, from->fabric, from->routes, r);
    if (status == SV_OK)
        status = copy_rows(live->ctx, from->fabric, from->routes, r);
    if (status == SV_OK)
        status = copy_orders(live->ctx, from->fabric, from->routes, r);
    memcpy(r->vlarb, from->routes->vlarb, sizeof r->vlarb);
    if (status == SV_OK)
        *base = r;
    else
        sv_routes_free(r);
    return status;
}
