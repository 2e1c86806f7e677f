/*
 * cell.c: one cell, from its fabric to its result.
 *
 * Whatever goes wrong in a cell is what it gave: the engine's refusal, tables that do not join all,
 * a limit. So a cell has a context of its own, whose allocator counts and whose clock is looked at,
 * and nothing of it outlives it.
 *
 * Invariant: the result depends on the study and the cell alone, but for what was spent (and for
 * limits of time, which depend on the machine).
 * Cost: that of routing, verifying, measuring and simulating; one thread.
 */
#include <selvage/faults.h>
#include <selvage/formats.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "study/study.h"

/* ---- the host of a cell ---- */

struct guard {
    const sv__cell_limits *limits;
    sv_ctx *outer;
    uint64_t bytes, max; /* now, and at most so far */
    uint64_t until_ns;   /* 0: never */
    bool refused, late, stopped;
};

/* Before each block: how large it is. */
struct head {
    alignas(max_align_t) size_t size;
};

static void *guard_resize(void *user, void *block, size_t size)
{
    struct guard *g = user;
    struct head *head = block != NULL ? (struct head *)block - 1 : NULL;
    size_t old = head != NULL ? head->size : 0;
    if (size == 0) {
        g->bytes -= old;
        sv_release(g->outer, head);
        return NULL;
    }
    if (g->limits->bytes > 0 && size > old && g->bytes + (size - old) > g->limits->bytes) {
        g->refused = true;
        return NULL;
    }
    head = sv_resize(g->outer, head, 1, sizeof *head + size);
    if (head == NULL)
        return NULL;
    head->size = size;
    g->bytes += size - old;
    g->max = g->bytes > g->max ? g->bytes : g->max;
    return head + 1;
}

static bool guard_cancelled(void *user)
{
    struct guard *g = user;
    g->stopped = g->stopped || g->limits->stop(g->limits->user);
    g->late = g->late || (g->until_ns > 0 && sv_now_ns(g->outer) > g->until_ns);
    return g->stopped || g->late;
}

static uint64_t guard_clock(void *user)
{
    return sv_now_ns(((struct guard *)user)->outer);
}

/* ---- fabrics ---- */

/* A spec, a file, or a directory of tables with the fabric in it. */
static sv_status load_named(sv_ctx *ctx, const char *name, sv_fabric **fabric)
{
    struct stat about;
    bool there = stat(name, &about) == 0;
    size_t length = strlen(name);
    bool svr = length > 4 && strcmp(name + length - 4, ".svr") == 0;
    if (!there || (S_ISDIR(about.st_mode) && sv_topology_is_spec(name)))
        return sv_topology_generate(ctx, name, fabric);
    return S_ISDIR(about.st_mode) || svr ? sv_dump_read(ctx, name, fabric, NULL)
                                         : sv_fabric_load(ctx, name, fabric);
}

/* ---- failures ---- */

/* Everything of the plan that is not in the fabric that was found. */
static sv_status mask_state(sv__bench *b, const char *path, sv_mask *mask, sv_fault_report *report)
{
    sv_fabric *found = NULL;
    sv_match *match = NULL;
    sv_status status = load_named(b->ctx, path, &found);
    if (status == SV_OK)
        status = sv_match_new(b->ctx, b->whole, found, SV_MATCH_GUID, &match);
    const sv_fabric *f = b->whole;
    uint32_t same = 0;
    for (uint32_t s = 0; status == SV_OK && s < f->num_switches; s++)
        same += match->switches[s] != SV_NONE;
    if (status == SV_OK && 2 * same < f->live_switches)
        status = sv_fail(b->ctx, SV_BAD_INPUT,
                         "%s: has %u of the plan's %u switches: is it another fabric?", path, same,
                         f->live_switches);
    for (uint32_t s = 0; status == SV_OK && s < f->num_switches; s++)
        if (match->switches[s] == SV_NONE && sv_node_alive(f, (sv_node){s})) {
            sv_mask_node(mask, (sv_node){s});
            report->switches++;
        }
    for (uint32_t c = 0; status == SV_OK && c < f->num_channels; c++) {
        bool between = sv_is_switch(f, f->tail[c]) && sv_is_switch(f, f->head[c]);
        bool ends = !between || (match->switches[f->tail[c].i] != SV_NONE &&
                                 match->switches[f->head[c].i] != SV_NONE);
        if (match->channels[c] != SV_NONE || c > f->reverse[c].i || !ends ||
            !sv_channel_alive(f, (sv_channel){c}))
            continue;
        sv_mask_cable(mask, f, (sv_channel){c});
        report->links += between;
    }
    sv_match_free(match);
    sv_fabric_free(found);
    return status;
}

static sv_status draw(sv__bench *b, sv_mask *mask, sv_fault_report *report)
{
    const sv__fault *fault = b->cell->fault;
    sv_fault_plan plan = {.seed = b->cell->seed,
                          .ratio_switches = fault->ratio_switches,
                          .ratio_links = fault->ratio_links};
    switch (fault->kind) {
    case SV__LINKS:
        plan.links = fault->value;
        break;
    case SV__SWITCHES:
        plan.switches = fault->value;
        break;
    case SV__BOTH:
        plan.both = fault->value;
        break;
    case SV__STATE:
        return mask_state(b, fault->file, mask, report);
    case SV__YEARS: {
        sv_failure_model model;
        SV_TRY(sv_failure_model_parse(b->ctx, fault->model, &model));
        return sv_faults_age(b->ctx, b->whole, &model, fault->amount, b->cell->seed, mask, report);
    }
    case SV__NO_FAULTS:
        return SV_OK;
    }
    return sv_faults_draw(b->ctx, b->whole, &plan, mask, report);
}

static sv_status let_fail(sv__bench *b)
{
    sv_fault_report report = {0};
    sv_mask *mask = sv_mask_new(b->ctx, b->whole);
    if (mask == NULL)
        return SV_NO_MEMORY;
    sv_status status = draw(b, mask, &report);
    if (status == SV_OK)
        status = sv_fabric_mask(b->ctx, b->whole, mask, &b->f);
    sv_mask_free(mask);
    if (status != SV_OK)
        return status;
    sv__set_integer(b->result, SV__C_links_failed, report.links);
    sv__set_integer(b->result, SV__C_switches_failed, report.switches);
    sv__set_integer(b->result, SV__C_adapters_failed, report.adapters);
    sv__set_integer(b->result, SV__C_terminals_lost,
                    b->whole->live_terminals - b->f->live_terminals);
    return SV_OK;
}

/* ---- the cell ---- */

void sv__say(sv__result *r, const char *status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    snprintf(r->status, sizeof r->status, "%s", status);
    vsnprintf(r->words, sizeof r->words, format, args);
    va_end(args);
}

static sv_status load_fabric(sv__bench *b)
{
    if (b->cell->router->tables != NULL)
        return sv_dump_read(b->ctx, b->cell->router->tables, &b->whole, &b->r);
    return load_named(b->ctx, b->cell->fabric, &b->whole);
}

static sv_status route(sv__bench *b)
{
    const sv__router *router = b->cell->router;
    if (router->tables != NULL)
        return SV_OK;
    const sv_route_request request = {.vls = b->cell->vls,
                                      .seed = 1,
                                      .options = router->options,
                                      .num_options = router->num_options};
    sv_route_report report;
    SV_TRY(sv_route(b->ctx, b->f, router->name, &request, &b->r, &report));
    sv__set_integer(b->result, SV__C_vls_needed, report.vls_needed);
    sv__set_integer(b->result, SV__C_vls_used, report.vls_used);
    sv__set_integer(b->result, SV__C_sls_used, report.sls_used);
    sv__set_integer(b->result, SV__C_fallbacks, report.fallbacks);
    return SV_OK;
}

/* The steps of a cell, and what it is called when one fails for a reason of its own. */
static const struct step {
    sv_status (*run)(sv__bench *b);
    const char *failed;
    size_t seconds; /* place in the result of what it took; 0: not kept */
} steps[] = {
    {load_fabric, "fabric", 0},
    {let_fail, "faults", 0},
    {sv__measure_fabric, "error", 0},
    {route, "engine", offsetof(sv__result, route_seconds)},
    {sv__verify_tables, "error", offsetof(sv__result, verify_seconds)},
    {sv__measure_tables, "error", offsetof(sv__result, metrics_seconds)},
    {sv__measure_simulation, "error", offsetof(sv__result, sim_seconds)},
};

static sv_status go_through(sv__bench *b, const struct guard *g)
{
    sv__result *r = b->result;
    sv__say(r, "ok", "%s", "");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint64_t begun = sv_now_ns(b->ctx);
        sv_status status = steps[i].run(b);
        if (steps[i].seconds > 0 && (steps[i].run != route || b->cell->router->tables == NULL))
            *(double *)((char *)r + steps[i].seconds) = (double)(sv_now_ns(b->ctx) - begun) / 1e9;
        if (g->stopped)
            return SV_CANCELLED;
        if (g->late)
            sv__say(r, "time", "%s", "took longer than it may");
        else if (g->refused || status == SV_NO_MEMORY)
            sv__say(r, "memory", "%s",
                    g->refused ? "needs more memory than it may have" : "out of memory");
        else if (status != SV_OK)
            sv__say(r, steps[i].failed, "%s", sv_ctx_message(b->ctx));
        if (g->late || g->refused || status != SV_OK)
            return SV_OK;
    }
    return SV_OK;
}

sv_status sv__cell_run(const sv_study *study, uint32_t cell, const sv__cell_limits *limits,
                       sv_arena *arena, sv__result *result)
{
    struct guard guard = {.limits = limits, .outer = arena->ctx};
    uint64_t begun = sv_now_ns(arena->ctx);
    if (limits->seconds > 0)
        guard.until_ns = begun + (uint64_t)(limits->seconds * 1e9);
    const sv_host own = {.user = &guard,
                         .resize = guard_resize,
                         .cancelled = guard_cancelled,
                         .clock_ns = guard_clock};
    *result = (sv__result){.status = "error"};
    sv__bench bench = {.study = study,
                       .cell = &study->cells[cell],
                       .result = result,
                       .arena = arena,
                       .until_ns = guard.until_ns};
    bench.ctx = sv_ctx_new(&own);
    if (bench.ctx == NULL)
        return SV_NO_MEMORY;
    sv_ctx_set_threads(bench.ctx, 1);
    sv_status status = go_through(&bench, &guard);
    sv_release(bench.ctx, bench.load);
    sv_routes_free(bench.r);
    sv_fabric_free(bench.f);
    sv_fabric_free(bench.whole);
    sv_ctx_free(bench.ctx);
    result->seconds = (double)(sv_now_ns(arena->ctx) - begun) / 1e9;
    result->bytes = guard.max;
    return status;
}
