/*
 * ways.c: the ways to tables for a fabric, from the one that changes least to the last resort.
 *
 * Each makes tables or says why not; none says whether they are any good (judge.c asks verify/).
 *
 * Cost: as the engine or the repair; the rest is linear in the tables.
 */
#include <selvage/auto.h>
#include <selvage/formats.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "live/live.h"

/* ---- shared ---- */

static bool same_switches(const sv_fabric *a, const sv_fabric *b)
{
    for (uint32_t s = 0; s < a->num_switches; s++)
        if (a->switches[s].guid != b->switches[s].guid ||
            a->switches[s].lid != b->switches[s].lid ||
            a->switches[s].ports != b->switches[s].ports)
            return false;
    return true;
}

static bool same_terminals(const sv_fabric *a, const sv_fabric *b)
{
    for (uint32_t t = 0; t < a->num_terminals; t++)
        if (a->terminals[t].guid != b->terminals[t].guid ||
            a->terminals[t].lid != b->terminals[t].lid ||
            a->terminals[t].lmc != b->terminals[t].lmc)
            return false;
    return true;
}

/* Files do not tell VLs; whether tables fit is judged all the same. */
static bool same_vls(const sv_link *a, const sv_link *b)
{
    return a->vls == b->vls || a->vls == 0 || b->vls == 0;
}

bool sv__live_same(const sv_fabric *a, const sv_fabric *b)
{
    if (a == NULL || b == NULL || a->num_switches != b->num_switches ||
        a->num_terminals != b->num_terminals || a->num_channels != b->num_channels ||
        a->live_channels != b->live_channels || a->live_switches != b->live_switches ||
        a->live_terminals != b->live_terminals || !same_switches(a, b) || !same_terminals(a, b))
        return false;
    for (uint32_t c = 0; c < a->num_channels; c++) {
        sv_channel channel = {c};
        if (a->tail[c].i != b->tail[c].i || a->head[c].i != b->head[c].i ||
            a->port[c] != b->port[c] || a->reverse[c].i != b->reverse[c].i ||
            sv_channel_alive(a, channel) != sv_channel_alive(b, channel) ||
            !same_vls(sv_link_of(a, channel), sv_link_of(b, channel)))
            return false;
    }
    return true;
}

/* The subnet manager gives LIDs; tables follow. */
void sv__live_take_lids(const sv_fabric *f, sv_routes *r)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        uint32_t lid =
            v < f->num_switches ? f->switches[v].lid : f->terminals[v - f->num_switches].lid;
        for (uint32_t d = r->first[v]; d < r->first[v + 1]; d++)
            r->lid[d] = (uint16_t)(lid == 0 ? 0 : lid + (d - r->first[v]));
    }
}

sv_status sv__live_carry(sv_ctx *ctx, const sv__set *from, const sv_fabric *to, sv_routes **result)
{
    sv_match *match = NULL;
    SV_TRY(sv_match_new(ctx, from->fabric, to, SV_MATCH_GUID, &match));
    sv_status status = sv_routes_remap(ctx, from->fabric, from->routes, to, match, result);
    sv_match_free(match);
    if (status == SV_OK)
        sv__live_take_lids(to, *result);
    return status;
}

static sv_status read_roots(sv_live *live, const sv_fabric *f, sv_node *roots, size_t *count)
{
    sv_file file;
    SV_TRY(sv_file_open(&file, live->ctx, live->options.roots_path));
    sv_status status = sv_roots_read(live->ctx, f, &file.source, roots, count, NULL);
    sv_file_close(&file);
    return status;
}

/* What engines are told about this fabric. *roots: to be released. */
static sv_status make_request(sv_live *live, const sv_fabric *f, sv_route_request *request,
                              sv_node **roots)
{
    *request = live->options.route;
    *roots = NULL;
    request->vls = sv__live_engine_vls(live, f);
    request->lmc = sv__live_engine_lmc(live);
    request->jobs = sv__live_jobs(live);
    if (live->options.roots_path == NULL)
        return SV_OK;
    *roots = sv_alloc(live->ctx, f->num_switches, sizeof **roots);
    if (*roots == NULL)
        return SV_NO_MEMORY;
    request->roots = *roots;
    sv_status status = read_roots(live, f, *roots, &request->num_roots);
    if (status == SV_IO || status == SV_BAD_INPUT) {
        sv_warn(live->ctx, "roots are chosen without the file: %s", sv_ctx_message(live->ctx));
        request->num_roots = 0;
        status = SV_OK;
    }
    return status;
}

static void start_clock(sv_live *live, uint64_t budget_ns)
{
    live->overran = false;
    live->budget_ns = budget_ns;
    live->deadline_ns = budget_ns == 0 ? 0 : sv_now_ns(live->ctx) + budget_ns;
}

/* A computation that ran out of time is one that does not do. */
static sv_status stop_clock(sv_live *live, sv_status status, const char *who)
{
    live->deadline_ns = 0;
    if (status == SV_CANCELLED && live->overran)
        return sv_fail(live->ctx, SV_INFEASIBLE, "%s did not finish within %.3g s", who,
                       (double)live->budget_ns / 1e9);
    return status;
}

/* ---- tables that are there already ---- */

/* Other tables of the same fabric need no match of nodes. */
static sv_status copy(sv_live *live, const sv__set *from, const sv_fabric *f, sv_routes **result)
{
    if (!sv__live_same(from->fabric, f))
        return sv__live_carry(live->ctx, from, f, result);
    return sv_routes_clone(live->ctx, from->routes, result);
}

sv_status sv__live_pinned(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    c->engine = "pin";
    if (live->pin.routes == NULL)
        return SV_OK;
    if (live->pin.routes->lmc != live->options.route.lmc)
        return sv_fail(live->ctx, SV_INFEASIBLE, "the pinned tables have LMC %u, the subnet has %u",
                       live->pin.routes->lmc, live->options.route.lmc);
    return copy(live, &live->pin, f, &c->routes);
}

sv_status sv__live_returned(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    c->engine = live->options.engine;
    if (live->home.routes == NULL || !sv__live_same(live->home.fabric, f) ||
        !sv__live_jobs_fit(live, &live->home))
        return SV_OK;
    c->jobs = live->home.jobs;
    c->routes = live->home.routes; /* taken, not shared: clones of clones would pile up */
    live->home.routes = NULL;
    sv_fabric_free(live->home.fabric);
    live->home.fabric = NULL;
    return SV_OK;
}

sv_status sv__live_kept(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    c->engine = "kept"; /* whose they are is not in the file */
    if (live->kept.routes == NULL || live->kept.routes->lmc != live->options.route.lmc ||
        !sv__live_same(live->kept.fabric, f) || !sv__live_jobs_fit(live, &live->kept))
        return SV_OK;
    c->jobs = live->kept.jobs;
    return sv_routes_clone(live->ctx, live->kept.routes, &c->routes);
}

sv_status sv__live_reinstalled(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    c->engine = live->report.engine;
    if (live->now.routes == NULL)
        return SV_OK;
    c->jobs = live->now.jobs;
    return copy(live, &live->now, f, &c->routes);
}

/* ---- repairs ---- */

static sv_passage passage_of(const sv_repair_report *report)
{
    if (report->entries == 0 && report->sls == 0)
        return SV_PASSAGE_NONE;
    switch (report->safety) {
    case SV_SAFE_ANYHOW:
        return SV_PASSAGE_ANY_ORDER;
    case SV_SAFE_STEPS:
        return SV_PASSAGE_STEPS;
    case SV_SAFE_QUIET:
        return SV_PASSAGE_QUIET;
    default:
        return SV_PASSAGE_UNSAFE;
    }
}

/* Carries out a repair; tables that the engine made anew after all are told apart. */
static sv_status repair(sv_live *live, const sv__set *from, bool proven, const sv_fabric *f,
                        const sv_route_request *request, sv__live_candidate *c)
{
    /* Whatever auto has chosen, a repair that fails wants an engine that takes any fabric. */
    bool chosen = strcmp(live->options.engine, "auto") == 0;
    const char *mender = chosen ? "weave" : live->options.engine;
    sv_route_request told = *request;
    told.num_roots = chosen ? 0 : told.num_roots; /* weave heeds none */
    const sv_repair_request wanted = {
        .engine = mender, .route = &told, .traffic = live->options.traffic, .proven = proven};
    sv_repair_report *report = NULL;
    SV_TRY(sv_repair(live->ctx, from->fabric, from->routes, f, &wanted, &c->routes, &report));
    c->how = report->full ? SV_LIVE_ROUTED : SV_LIVE_REPAIRED;
    if (report->full)
        c->engine = mender;
    else
        c->jobs = from->jobs;
    c->passage = report->full ? SV_PASSAGE_UNJUDGED : passage_of(report);
    c->steps = report->steps;
    if (report->full)
        snprintf(live->report.note, sizeof live->report.note, "routed anew: %.180s", report->why);
    sv__live_take_lids(f, c->routes);
    sv_repair_report_free(report);
    return SV_OK;
}

/* A repair that takes longer than routing everything anew is not worth it. */
static uint64_t repair_budget(const sv_live *live)
{
    const uint64_t grace_ns = 1000000000;
    uint64_t own = live->engine_ns == 0 ? 0 : 2 * live->engine_ns + grace_ns;
    uint64_t given = live->options.budget_ns;
    return own == 0 || (given > 0 && given < own) ? given : own;
}

sv_status sv__live_repaired(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    const sv__set *from = live->now.routes != NULL ? &live->now : &live->kept;
    bool proven = from == &live->now && live->report.whole && live->report.split == 0;
    sv_route_request request;
    sv_node *roots = NULL;
    c->engine = from == &live->now ? live->report.engine : "kept";
    if (live->options.no_repair || from->routes == NULL ||
        from->routes->lmc != live->options.route.lmc || !sv__live_jobs_fit(live, from))
        return SV_OK;
    sv__set base = *from;
    if (live->options.update == SV_LIVE_FIVE)
        SV_TRY(sv__live_base_set(live, from, &base.routes));
    start_clock(live, repair_budget(live));
    sv_status status = make_request(live, f, &request, &roots);
    if (status == SV_OK)
        status = repair(live, &base, proven, f, &request, c);
    sv_release(live->ctx, roots);
    if (base.routes != from->routes)
        sv_routes_free(base.routes);
    return stop_clock(live, status, "the repair");
}

/* ---- engines ---- */

sv_status sv__live_route(sv_live *live, const sv_fabric *f, const char *engine,
                         const sv_route_request *request, const char **used, sv_routes **routes,
                         sv_route_report *report)
{
    if (strcmp(engine, "auto") != 0)
        return sv_route(live->ctx, f, engine, request, routes, report);
    uint64_t begin = sv_now_ns(live->ctx);
    sv_selection *tried = sv_alloc(live->ctx, 1, sizeof *tried);
    if (tried == NULL)
        return SV_NO_MEMORY;
    sv_status status =
        sv_route_auto(live->ctx, f, request, live->options.traffic, routes, report, tried);
    if (status == SV_OK) {
        *used = tried->candidates[tried->chosen].engine;
        report->nanoseconds = sv_now_ns(live->ctx) - begin; /* what it takes to route so again */
    }
    sv_release(live->ctx, tried);
    return status;
}

static sv_status run_engine(sv_live *live, const sv_fabric *f, const char *engine,
                            const sv_route_request *request, sv__live_candidate *c)
{
    sv_route_report report;
    c->engine = engine;
    SV_TRY(sv__live_route(live, f, engine, request, &c->engine, &c->routes, &report));
    sv__live_take_lids(f, c->routes);
    live->engine_ns = report.nanoseconds;
    snprintf(live->report.note, sizeof live->report.note, "%s", report.note);
    return SV_OK;
}

/* The engine, with a number of VLs (0: what there is). */
static sv_status run_asked(sv_live *live, const sv_fabric *f, unsigned vls, sv__live_candidate *c)
{
    sv_route_request request;
    sv_node *roots = NULL;
    start_clock(live, live->options.budget_ns);
    c->engine = live->options.engine;
    sv_status status = make_request(live, f, &request, &roots);
    if (vls > 0)
        request.vls = vls;
    if (status == SV_OK)
        status = run_engine(live, f, live->options.engine, &request, c);
    sv_release(live->ctx, roots);
    return stop_clock(live, status, live->options.engine);
}

sv_status sv__live_routed(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    return run_asked(live, f, 0, c);
}

unsigned sv__live_vls_offered(const sv_fabric *f)
{
    unsigned min = 0;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        unsigned vls = sv_link_of(f, (sv_channel){c})->vls;
        if (sv_joins_switches(f, (sv_channel){c}) && vls > 0 && (min == 0 || vls < min))
            min = vls;
    }
    return min;
}

/* weave has a better answer to a lack of room: see below. */
sv_status sv__live_spared(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    unsigned vls = sv__live_engine_vls(live, f);
    vls = vls > 0 ? vls : sv__live_vls_offered(f);
    if (!live->no_room || vls < 2 || strcmp(live->options.engine, "weave") == 0)
        return SV_OK;
    c->own_vl = vls - 1;
    return run_asked(live, f, vls - 1, c);
}

/* An engine that takes every fabric, told nothing but what tables have to keep to (and jobs). */
static sv_status fall_back(sv_live *live, const sv_fabric *f, const char *engine,
                           const sv_jobmap *jobs, const char *option, sv__live_candidate *c)
{
    const sv_route_request *asked = &live->options.route;
    const sv_route_request request = {.vls = sv__live_engine_vls(live, f),
                                      .lmc = sv__live_engine_lmc(live),
                                      .sl_offset = asked->sl_offset,
                                      .sl_mode = asked->sl_mode,
                                      .jobs = jobs,
                                      .seed = asked->seed,
                                      .options = &option,
                                      .num_options = option != NULL};
    return run_engine(live, f, engine, &request, c);
}

/* weave, with room for multicast; which is what was asked for if it was weave, and had the time. */
sv_status sv__live_fell_back(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    if (strcmp(live->options.engine, "weave") == 0 && !live->overran)
        c->how = SV_LIVE_ROUTED;
    return fall_back(live, f, "weave", sv__live_jobs(live),
                     live->options.no_multicast ? NULL : "multicast=yes", c);
}

sv_status sv__live_simplest(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    return fall_back(live, f, "updn", NULL, NULL, c);
}
