/*
 * repair.c: from old tables and a fabric with failed or returned parts to new tables.
 *
 * 1. Prove: old tables have orders, or some are found, and keep to them.
 * 2. Carry: the old tables in the numbers of the fabric as it is (carry.c).
 * 3. Mend: destinations whose paths are broken get others that keep to the orders (mend.c). All
 *    that did not change still does, so old and new paths together cannot deadlock.
 * 4. Plan: all mixtures of old and new are judged, by verify/ alone (plan.c).
 *
 * Where there are no orders (old tables can deadlock; an SL does not keep to one VL) or orders
 * leave no way, the engine routes everything anew, and step 4 says what that does.
 *
 * Invariant: nothing is trusted that mend.c says; tables that do not hold are not handed out.
 * Cost: see selvage/repair.h.
 */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "repair/repair.h"

struct work {
    sv_ctx *ctx;
    sv_arena arena;
    const sv_fabric *from, *f;
    const sv_routes *old;
    const sv_repair_request *request;
    sv_repair_report *report;
    sv_routes *known; /* the old tables, with orders */
    sv_routes *made;
    sv__carried carried;
    bool thorough; /* old tables have flaws of their own: every destination is looked at */
};

/* Notes why everything has to be routed anew. */
static void give_up(struct work *w, const char *why)
{
    w->report->full = true;
    snprintf(w->report->why, sizeof w->report->why, "%s", why);
}

/* ---- 1 ---- */

static sv_status find_orders(struct work *w)
{
    sv_status status = sv_verify_orders(w->ctx, w->from, w->known, w->request->traffic);
    w->report->orders_found = status == SV_OK;
    if (status == SV_INFEASIBLE) {
        give_up(w, "the old tables can deadlock, so there are no orders to keep to");
        return SV_OK;
    }
    return status;
}

/* Holds all paths against the orders; with proven, only whether that can be done. */
static sv_status hold(struct work *w, bool *holds)
{
    sv_ascent found = {0};
    uint64_t *nobody = NULL;
    *holds = true;
    if (w->request->proven) {
        nobody = sv_bitset_new(&w->arena, w->known->num_destinations);
        if (nobody == NULL)
            return SV_NO_MEMORY;
    }
    sv_status status = sv_verify_ascent(w->ctx, w->from, w->known, w->known, w->request->traffic,
                                        nobody, false, NULL, &found);
    if (status == SV_UNSUPPORTED) {
        give_up(w, "the old tables change VLs on the way");
        return SV_OK;
    }
    SV_TRY(status);
    *holds = found.descents == 0;
    w->thorough = found.lost + found.lost_others + found.looping > 0;
    return SV_OK;
}

static sv_status prove(struct work *w)
{
    bool holds = true;
    SV_TRY(sv_routes_clone(w->ctx, w->old, &w->known));
    if (w->request->full) {
        give_up(w, "as asked for");
        return SV_OK;
    }
    if (w->known->orders == NULL)
        SV_TRY(find_orders(w));
    if (!w->report->full)
        SV_TRY(hold(w, &holds));
    if (holds || w->report->full)
        return SV_OK;
    sv_warn(w->ctx, "the old tables do not keep to the orders that came with them: others are "
                    "looked for");
    SV_TRY(find_orders(w));
    if (!w->report->full)
        SV_TRY(hold(w, &holds));
    if (!holds && !w->report->full)
        give_up(w, "the old tables keep to no orders");
    return SV_OK;
}

/* ---- 2 and 3 ---- */

static bool has_lids(const sv_routes *r)
{
    for (uint32_t d = 0; d < r->num_destinations; d++)
        if (r->lid[d] != 0)
            return true;
    return false;
}

/* The carried tables with LIDs for everybody. */
static sv_status begin(struct work *w)
{
    SV_TRY(sv_routes_clone(w->ctx, w->carried.before, &w->made));
    if (!has_lids(w->old))
        return SV_OK;
    SV_TRY(sv_routes_add_lids(w->ctx, w->f, w->made, w->old));
    for (uint32_t d = 0; d < w->made->num_destinations; d++)
        w->report->new_lids += w->made->lid[d] != w->carried.before->lid[d];
    return SV_OK;
}

/* Whether the row of a destination has an entry behind which there is something else now. */
static bool is_touched(const sv__carried *c, uint32_t d)
{
    for (uint32_t i = 0; i < c->num_spots; i++)
        if (c->before->ports[d][c->spots[i].s] == c->spots[i].port)
            return true;
    return false;
}

/* Destinations that the orders leave no way to; orders are changed for them. */
static sv_status mend_stuck(struct work *w, sv__mend *m, const uint32_t *stuck, uint32_t count)
{
    bool done = true;
    SV_TRY(sv__reorder_begin(m));
    for (uint32_t i = 0; i < count && done; i++) {
        SV_TRY(sv_progress(w->ctx, "repairing", i, count));
        SV_TRY(sv__mend_one(m, stuck[i], &done));
        if (!done) {
            w->report->full = true;
            snprintf(w->report->why, sizeof w->report->why, "no orders leave a way to \"%s\"",
                     sv_node_name(w->f, w->made->node[stuck[i]]));
        }
    }
    w->report->reordered = count;
    return sv__reorder_end(m);
}

static sv_status mend(struct work *w)
{
    sv__mend m;
    bool everybody = w->thorough || w->carried.grown, done = true;
    uint32_t count = w->made->num_destinations, num_stuck = 0;
    uint32_t *stuck = SV_ARENA_NEW(&w->arena, uint32_t, count);
    if (stuck == NULL)
        return SV_NO_MEMORY;
    if (w->carried.grown)
        SV_TRY(sv__insert_orders(&w->carried, w->made));
    SV_TRY(sv__mend_init(&m, &w->carried, w->made, w->request->traffic));
    for (uint32_t d = 0; d < count; d++) {
        if (d % 64 == 0)
            SV_TRY(sv_progress(w->ctx, "repairing", d, count));
        if (!everybody && !is_touched(&w->carried, d))
            continue;
        SV_TRY(sv__mend_one(&m, d, &done));
        if (!done)
            stuck[num_stuck++] = d;
    }
    return num_stuck == 0 ? SV_OK : mend_stuck(w, &m, stuck, num_stuck);
}

static bool same_sls(const sv_routes *a, const sv_routes *b, const sv_fabric *f, uint32_t d,
                     uint64_t *count)
{
    bool by_node = a->sl_form == SV_SL_BY_NODE || b->sl_form == SV_SL_BY_NODE;
    bool rows = by_node || a->sl_form == SV_SL_BY_SWITCH || b->sl_form == SV_SL_BY_SWITCH;
    uint64_t before = *count;
    if (rows ? a->sl_form == b->sl_form && a->sls[d] == b->sls[d]
             : sv_route_sl(a, a->node[d], d) == sv_route_sl(b, b->node[d], d))
        return true;
    for (uint32_t v = 0; v < f->num_switches + (by_node ? f->num_terminals : 0); v++)
        *count += sv_node_alive(f, (sv_node){v}) &&
                  sv_route_sl(a, (sv_node){v}, d) != sv_route_sl(b, (sv_node){v}, d);
    return *count == before;
}

/* Service levels that depend on less than the pair may not be changed for one pair. */
static void keep_mode(struct work *w)
{
    static const char *const kinds[SV_SLS_COUNT] = {"", "the same both ways", "by destination",
                                                    "one for all"};
    sv_sl_mode mode = w->request->route != NULL ? w->request->route->sl_mode : SV_SLS_PAIR;
    uint64_t changed = 0;
    if (mode == SV_SLS_PAIR)
        return;
    for (uint32_t d = 0; d < w->made->num_destinations && changed == 0; d++)
        if (sv_node_alive(w->f, w->made->node[d]))
            same_sls(w->carried.before, w->made, w->f, d, &changed);
    if (changed == 0)
        return;
    w->report->full = true;
    snprintf(w->report->why, sizeof w->report->why, "service levels would not be %s any longer",
             kinds[mode]);
}

/* ---- everything anew ---- */

static sv_status route_all(struct work *w)
{
    sv_route_request request = {.seed = 1};
    sv_fabric *fabric = NULL;
    sv_routes *anew = NULL;
    if (w->request->route != NULL)
        request = *w->request->route;
    request.lmc = w->old->lmc;
    SV_TRY(sv_fabric_with_lids(w->ctx, w->f, w->made, &fabric));
    sv_status status = sv_route(w->ctx, fabric, w->request->engine, &request, &anew, NULL);
    sv_fabric_free(fabric);
    SV_TRY(status);
    sv_routes_free(w->made);
    w->made = anew;
    return SV_OK;
}

/* ---- 4 ---- */

/* What changed, and whose packets are to be followed: those of all that changed or was touched. */
static sv_status count_changes(struct work *w, uint64_t **changed)
{
    const sv_routes *a = w->carried.before, *b = w->made;
    sv_repair_report *r = w->report;
    *changed = sv_bitset_new(&w->arena, b->num_destinations);
    if (*changed == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < b->num_destinations; d++) {
        uint64_t entries = 0;
        if (!sv_node_alive(w->f, b->node[d]))
            continue;
        const uint8_t *was = a->ports[d], *is = b->ports[d];
        uint32_t n = was == is ? 0 : b->num_switches;
        for (uint32_t s = 0; (s = sv__rows_differ(was, is, s, n)) < n; s++)
            entries += sv_node_alive(w->f, (sv_node){s});
        bool differs = !same_sls(a, b, w->f, d, &r->sls) || entries > 0;
        r->entries += entries;
        r->destinations += differs;
        if (differs || r->full || w->carried.grown || w->thorough || r->reordered > 0 ||
            is_touched(&w->carried, d))
            sv_bit_set(*changed, d);
    }
    return sv_routes_changed_blocks(w->ctx, w->f, a, b, &r->blocks);
}

static sv_status finish(struct work *w)
{
    uint64_t *changed;
    SV_TRY(count_changes(w, &changed));
    return sv__repair_plan(&w->carried, w->made, w->request, changed, w->report);
}

/* Tables that do not hold are a fault of ours; nobody is left without tables for that. */
static sv_status start_over(struct work *w)
{
    sv_repair_report *r = w->report;
    sv_warn(w->ctx, "%s", sv_ctx_message(w->ctx));
    give_up(w, "the repaired tables did not hold");
    r->destinations = r->entries = r->blocks = r->sls = r->reordered = r->lost = 0;
    r->followed = (sv_ascent){0};
    SV_TRY(route_all(w));
    return finish(w);
}

static sv_status run(struct work *w)
{
    sv_repair_report *r = w->report;
    uint64_t begun = sv_now_ns(w->ctx);
    SV_TRY(prove(w));
    uint64_t proven = sv_now_ns(w->ctx);
    SV_TRY(sv__carry(&w->carried, w->ctx, &w->arena, w->from, w->known, w->f));
    SV_TRY(begin(w));
    if (!r->full)
        SV_TRY(mend(w));
    if (!r->full)
        keep_mode(w);
    if (r->full)
        SV_TRY(route_all(w));
    uint64_t made = sv_now_ns(w->ctx);
    sv_status status = finish(w);
    if (status == SV_INFEASIBLE && !r->full)
        status = start_over(w);
    SV_TRY(status);
    r->prove_ns = proven - begun;
    r->repair_ns = made - proven;
    r->verify_ns = sv_now_ns(w->ctx) - made;
    return SV_OK;
}

sv_status sv_repair(sv_ctx *ctx, const sv_fabric *old_fabric, const sv_routes *old_routes,
                    const sv_fabric *fabric, const sv_repair_request *request, sv_routes **routes,
                    sv_repair_report **report)
{
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    struct work w = {
        .ctx = ctx, .from = old_fabric, .f = fabric, .old = old_routes, .request = request};
    sv_arena_init(&w.arena, ctx);
    w.report = SV_POOL_NEW(store, ctx, sv_repair_report, 1);
    sv_status status = w.report == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        w.report->store = store;
        status = run(&w);
    }
    if (status == SV_OK) {
        w.report->before = w.carried.before;
        *routes = w.made;
        if (report != NULL)
            *report = w.report;
        else
            sv_repair_report_free(w.report);
    } else {
        sv_routes_free(w.carried.before);
        sv_routes_free(w.made);
        sv__pool_drop(store);
    }
    sv_routes_free(w.known);
    sv_arena_release(&w.arena);
    return status;
}

void sv_repair_report_free(sv_repair_report *report)
{
    if (report == NULL)
        return;
    sv_routes_free(report->before);
    sv__pool_drop(report->store);
}
