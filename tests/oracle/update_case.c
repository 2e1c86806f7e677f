/*
 * update_case.c: random changes of tables (update_case.h).
 *
 * Whatever is drawn, both tables are of the fabric as it is now, with the same destinations and
 * LIDs, as sv_update_plan asks. Tables by hand are random trees towards each destination with
 * random SLs, row by row: one that makes a cycle is drawn again, some times.
 */
#include "update_case.h"

#include "base/file.h"
#include "update_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const engines[] = {"updn", "dfsssp",  "lash",      "nue",    "weave",
                                      "sar",  "sssp-df", "minhop-df", "dnup",   "weave",
                                      "nue",  "dfsssp",  "sssp",      "minhop", "dor"};
static const char *const followers[] = {"dfsssp", "sar", "nue", "weave"};

const char *update_kind_name(update_kind kind)
{
    static const char *const names[] = {"failure", "return", "engine", "jobs",
                                        "repair",  "hand",   "few"};
    return kind < UPDATE_KINDS ? names[kind] : "?";
}

uint32_t update_draw(update_case *c, uint32_t below)
{
    c->lot ^= c->lot << 13;
    c->lot ^= c->lot >> 7;
    c->lot ^= c->lot << 17;
    return (uint32_t)((c->lot * 0x2545f4914f6cdd1du) >> 33) % below;
}

static void note(update_case *c, const char *text)
{
    size_t length = strlen(c->what);
    snprintf(c->what + length, sizeof c->what - length, "%s%s", length ? "; " : "", text);
}

/* ---- fabrics ---- */

static void draw_spec(update_case *c, bool tiny, char *spec, size_t size)
{
    uint32_t a = update_draw(c, 3), b = update_draw(c, 3), hosts = 1 + update_draw(c, 2);
    uint32_t r = 1 + (update_draw(c, 4) == 0), seed = update_draw(c, 99);
    switch (update_draw(c, tiny ? 4 : 11)) {
    case 0:
        snprintf(spec, size, "torus:%u,hosts=%u,r=%u", 3 + a, tiny ? 1 : hosts, r);
        break;
    case 1:
        snprintf(spec, size, "mesh:2x%u,hosts=%u", 2 + b % 2, tiny ? 1 : hosts);
        break;
    case 2:
        snprintf(spec, size, "fullmesh:%u,hosts=1", 3 + a % 2);
        break;
    case 3:
        snprintf(spec, size, "random:switches=%u,links=%u,total=%u,seed=%u", 4 + a, 5 + a + b,
                 3 + b, seed + 1);
        break;
    case 4:
        snprintf(spec, size, "torus:%u,hosts=%u,r=%u", 4 + a + b, hosts, r);
        break;
    case 5:
        snprintf(spec, size, "torus:3x%u,hosts=%u", 3 + b % 2, hosts);
        break;
    case 6:
        snprintf(spec, size, "mesh:3x%u,hosts=%u,r=%u", 2 + b, hosts, r);
        break;
    case 7:
        snprintf(spec, size, "kary:k=2,n=%u,hosts=%u", 2 + a % 2, hosts);
        break;
    case 8:
        snprintf(spec, size, "hypercube:3,hosts=1");
        break;
    case 9:
        snprintf(spec, size, "kautz:d=2,k=2,hosts=1");
        break;
    default:
        snprintf(spec, size, "random:switches=%u,links=%u,total=%u,seed=%u", 6 + a, 9 + a + b,
                 4 + 2 * b, seed + 1);
    }
}

/* Some cables fail, or a switch, or a terminal; or nothing at all. */
static sv_fabric *broken(update_case *c, bool fails)
{
    sv_mask *mask = sv_mask_new(c->ctx, c->whole);
    sv_fabric *f = NULL;
    uint32_t fate = update_draw(c, 6), count = 1 + (update_draw(c, 4) == 0);
    if (mask == NULL)
        abort();
    if (fails && fate == 0)
        sv_mask_node(mask, (sv_node){update_draw(c, c->whole->num_switches)});
    else
        for (uint32_t tries = 0; fails && tries < 50 && count > 0; tries++) {
            sv_channel gone = {update_draw(c, c->whole->num_channels)};
            if (!sv_joins_switches(c->whole, gone) && fate != 1)
                continue;
            sv_mask_cable(mask, c->whole, gone);
            count--;
        }
    if (sv_fabric_mask(c->ctx, c->whole, mask, &f) != SV_OK)
        abort();
    sv_mask_free(mask);
    return f;
}

/* ---- tables by engines ---- */

static sv_jobmap *draw_jobs(update_case *c, const sv_fabric *f)
{
    char text[4096] = "";
    size_t length = 0;
    sv_jobmap *map = NULL;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t};
        if (sv_node_alive(f, v) && length < sizeof text - 100)
            length += (size_t)snprintf(text + length, sizeof text - length, "\"%s\" j%u\n",
                                       sv_node_name(f, v), update_draw(c, 3));
    }
    sv_memory memory = {text, length};
    sv_source source = sv_memory_source(&memory, "jobs");
    return sv_jobmap_read(c->ctx, f, &source, &map) == SV_OK ? map : NULL;
}

static sv_routes *routed(update_case *c, const sv_fabric *f, const char *engine, unsigned lmc,
                         bool jobs)
{
    sv_jobmap *map = jobs ? draw_jobs(c, f) : NULL;
    sv_route_request request = {.lmc = lmc, .jobs = map, .seed = update_draw(c, 5)};
    sv_routes *r = NULL;
    char text[80];
    request.vls = update_draw(c, 3) == 0 ? 1 + update_draw(c, 4) : 8;
    request.sl_offset = update_draw(c, 8) == 0;
    if (request.sl_offset > 0 && request.vls == 8)
        request.vls = 7;
    snprintf(text, sizeof text, "%s vls=%u seed=%u offset=%u%s", engine, request.vls,
             (unsigned)request.seed, request.sl_offset, jobs ? " jobs" : "");
    note(c, text);
    if (sv_route(c->ctx, f, engine, &request, &r, NULL) != SV_OK)
        r = NULL;
    sv_jobmap_free(map);
    return r;
}

static const char *draw_engine(update_case *c)
{
    return engines[update_draw(c, sizeof engines / sizeof engines[0])];
}

/* LIDs that are far enough apart for several blocks, or none at all. */
static void number(sv_routes *r, uint32_t stride)
{
    for (uint32_t v = 0; r != NULL && v < r->num_switches + r->num_terminals; v++)
        for (uint32_t d = r->first[v]; d < r->first[v + 1]; d++)
            r->lid[d] = (uint16_t)(stride * ((v + 1) << r->lmc) + (stride > 0) * (d - r->first[v]));
}

/* ---- tables by hand ---- */

/* A random tree towards a destination, or what a few wrong turns make of a breadth-first one. */
static void draw_row(update_case *c, const sv_fabric *f, uint8_t *row, sv_node to)
{
    uint32_t root = to.i, list[256], count = 0, more = 1 + update_draw(c, 3);
    sv_node at = sv_is_switch(f, to) ? to : sv_switch_of(f, to);
    memset(row, SV_NO_PORT, f->num_switches);
    if (at.i == SV_NONE || !sv_node_alive(f, to))
        return;
    row[at.i] = 0;
    SV_FOR_HOPS (f, at, hop)
        if (hop->to.i == root)
            row[at.i] = (uint8_t)f->port[hop->channel.i];
    list[count++] = at.i;
    for (uint32_t done = 0; done < count;) { /* one of the first `more` of those not yet done */
        uint32_t left = count - done, pick = done + update_draw(c, left < more ? left : more);
        uint32_t s = list[pick];
        list[pick] = list[done];
        list[done++] = s;
        uint32_t turn = update_draw(c, sv_degree(f, (sv_node){s}) + 1);
        for (uint32_t k = 0; k < sv_degree(f, (sv_node){s}); k++) {
            const sv_hop *hop = f->hops + f->first[s] + (k + turn) % sv_degree(f, (sv_node){s});
            if (!sv_is_switch(f, hop->to) || row[hop->to.i] != SV_NO_PORT)
                continue;
            row[hop->to.i] = (uint8_t)f->port[f->reverse[hop->channel.i].i];
            list[count++] = hop->to.i;
        }
    }
}

static void draw_sls(update_case *c, sv_routes *r, uint32_t d, uint32_t sls)
{
    uint32_t width =
        r->sl_form == SV_SL_BY_NODE ? r->num_switches + r->num_terminals : r->num_switches;
    if (r->sl_form == SV_SL_CONSTANT || r->sl_form == SV_SL_UNKNOWN)
        return;
    uint8_t *row = sv_routes_sl_row(c->ctx, r, r->sl_form == SV_SL_BY_DESTINATION ? 0 : d);
    if (r->sl_form == SV_SL_BY_DESTINATION)
        row[d] = (uint8_t)update_draw(c, sls);
    else
        for (uint32_t v = 0; v < width; v++)
            row[v] = (uint8_t)update_draw(c, sls);
}

/* Draws a row until nothing can wait for itself, or patience is at an end. */
static void mend_row(update_case *c, const sv_fabric *f, sv_routes *r, uint32_t d, uint32_t sls)
{
    uint8_t *row = sv_routes_row(c->ctx, r, d);
    for (uint32_t tries = 0; tries < 12; tries++) {
        oracle o;
        draw_row(c, f, row, r->node[d]);
        draw_sls(c, r, d, tries < 6 ? sls : 1);
        oracle_init(&o, f, r, r, c->traffic);
        bool fine = oracle_acyclic(&o, true);
        oracle_release(&o);
        if (fine)
            return;
    }
}

static void draw_vls(update_case *c, const sv_fabric *f, sv_routes *r, uint32_t vls)
{
    sv_sl2vl table;
    for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
        table.of_sl[sl] = (uint8_t)(sl % vls);
    uint32_t all = sv_routes_sl2vl_table(c->ctx, r, &table);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        r->vls_of[v] = (uint16_t)all;
    if (update_draw(c, 4) != 0)
        return;
    note(c, "VLs by ports");
    for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
        table.of_sl[sl] = (uint8_t)((sl + 1) % vls);
    uint32_t other = sv_routes_sl2vl_table(c->ctx, r, &table);
    for (uint32_t s = 0; s < f->num_switches; s++)
        for (unsigned in = 0; in <= f->switches[s].ports; in++)
            for (unsigned out = 1; out <= f->switches[s].ports; out++)
                if (update_draw(c, 5) == 0 &&
                    sv_routes_set_sl2vl(c->ctx, f, r, (sv_node){s}, in, out, other) != SV_OK)
                    abort();
}

static sv_routes *by_hand(update_case *c, const sv_fabric *f, unsigned lmc)
{
    sv_routes *r = NULL;
    uint32_t sls = 1 + update_draw(c, 3);
    static const sv_sl_form forms[] = {SV_SL_CONSTANT, SV_SL_BY_DESTINATION, SV_SL_BY_SWITCH,
                                       SV_SL_BY_NODE};
    if (sv_routes_new(c->ctx, f, lmc, &r) != SV_OK ||
        sv_routes_set_sl_form(c->ctx, r, forms[update_draw(c, 4)]) != SV_OK)
        abort();
    draw_vls(c, f, r, sls);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        memset(sv_routes_row(c->ctx, r, d), SV_NO_PORT, f->num_switches);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        mend_row(c, f, r, d, sls);
    note(c, "by hand");
    return r;
}

static sv_routes *changed(update_case *c, const sv_fabric *f, const sv_routes *old)
{
    sv_routes *r = NULL;
    uint32_t count = 1 + update_draw(c, 6), sls = 1 + update_draw(c, 3);
    if (sv_routes_clone(c->ctx, old, &r) != SV_OK)
        abort();
    while (count-- > 0)
        mend_row(c, f, r, update_draw(c, r->num_destinations), sls);
    note(c, "some rows by hand");
    return r;
}

/* ---- cases ---- */

/* Old tables after a failure: as they are, or without what is gone. */
static sv_routes *carried(update_case *c, sv_routes *old)
{
    sv_match *match = NULL;
    sv_routes *r = NULL;
    if (old == NULL || update_draw(c, 2) == 0)
        return old;
    note(c, "remapped");
    if (sv_match_new(c->ctx, c->whole, c->f, SV_MATCH_GUID, &match) != SV_OK ||
        sv_routes_remap(c->ctx, c->whole, old, c->f, match, &r) != SV_OK)
        abort();
    sv_match_free(match);
    sv_routes_free(old);
    return r;
}

static void draw_repair(update_case *c, unsigned lmc, uint32_t stride)
{
    const char *engine = draw_engine(c);
    sv_routes *old = routed(c, c->whole, engine, lmc, false);
    sv_repair_request request = {.engine = engine, .traffic = c->traffic};
    number(old, stride == 0 ? 1 : stride);
    if (old != NULL &&
        sv_repair(c->ctx, c->whole, old, c->f, &request, &c->after, &c->report) == SV_OK) {
        c->before = c->report->before;
        memcpy(c->after->lid, c->before->lid, c->after->num_destinations * sizeof(uint16_t));
    }
    sv_routes_free(old);
}

static void draw_tables(update_case *c, unsigned lmc)
{
    const char *engine = draw_engine(c);
    switch (c->kind) {
    case UPDATE_FAILURE:
        c->before = carried(c, routed(c, c->whole, engine, lmc, false));
        c->after = routed(c, c->f, update_draw(c, 3) ? engine : draw_engine(c), lmc, false);
        break;
    case UPDATE_RETURN: {
        sv_fabric *was = broken(c, true);
        c->before = routed(c, was, engine, lmc, false);
        c->after = routed(c, c->f, update_draw(c, 3) ? engine : draw_engine(c), lmc, false);
        sv_fabric_free(was);
        break;
    }
    case UPDATE_ENGINE:
        c->before = routed(c, c->f, engine, lmc, false);
        c->after = routed(c, c->f, update_draw(c, 3) == 0 ? engine : draw_engine(c), lmc, false);
        break;
    case UPDATE_JOBS:
        engine = followers[update_draw(c, 4)];
        c->before = routed(c, c->f, engine, lmc, true);
        c->after = routed(c, c->f, engine, lmc, true);
        break;
    case UPDATE_HAND:
        c->before = by_hand(c, c->f, lmc);
        c->after = update_draw(c, 3) ? changed(c, c->f, c->before) : by_hand(c, c->f, lmc);
        break;
    default:
        c->before = routed(c, c->f, engine, lmc, false);
        c->after = c->before != NULL ? changed(c, c->f, c->before) : NULL;
    }
}

bool update_case_draw(sv_ctx *ctx, uint64_t seed, bool tiny, update_case *c)
{
    char spec[100];
    *c = (update_case){.ctx = ctx, .lot = seed * 0x9e3779b97f4a7c15u + 1};
    for (int k = 0; k < 8; k++)
        update_draw(c, 2);
    c->kind = tiny ? UPDATE_HAND + update_draw(c, 2) : update_draw(c, UPDATE_KINDS);
    c->traffic = update_draw(c, 2) ? SV_TRAFFIC_MANAGED : update_draw(c, SV_TRAFFIC_COUNT);
    c->max_steps = update_draw(c, 8) == 0 ? 1 + update_draw(c, 12) : 0;
    draw_spec(c, tiny, spec, sizeof spec);
    note(c, update_kind_name(c->kind));
    note(c, spec);
    if (sv_topology_generate(ctx, spec, &c->whole) != SV_OK)
        return false;
    unsigned lmc = update_draw(c, 5) == 0;
    uint32_t stride = update_draw(c, 8) == 0 ? 0 : 1 + update_draw(c, 12);
    c->f = broken(c, c->kind == UPDATE_FAILURE || c->kind == UPDATE_REPAIR);
    if (c->kind == UPDATE_REPAIR)
        draw_repair(c, lmc, stride);
    else {
        draw_tables(c, lmc);
        number(c->before, stride);
        number(c->after, stride);
    }
    return c->before != NULL && c->after != NULL &&
           c->before->num_destinations == c->after->num_destinations;
}

void update_case_release(update_case *c)
{
    if (c->report == NULL || c->report->before != c->before)
        sv_routes_free(c->before);
    sv_repair_report_free(c->report);
    sv_routes_free(c->after);
    sv_fabric_free(c->f);
    sv_fabric_free(c->whole);
}
