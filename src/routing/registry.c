/*
 * registry.c: the table of engines, and what is done around each of them: options, VLs, LIDs.
 */
#include <stdio.h>
#include <string.h>

#include "base/bitset.h"
#include "base/near.h"
#include "fabric/derive.h"
#include "routing/engine.h"

static const sv__engine *const engines[] = {
    &sv__engine_minhop,    &sv__engine_sssp,   &sv__engine_updn,  &sv__engine_dnup,
    &sv__engine_dor,       &sv__engine_dfsssp, &sv__engine_lash,  &sv__engine_nue,
    &sv__engine_weave,     &sv__engine_sar,    &sv__engine_ftree, &sv__engine_dmodk,
    &sv__engine_torus2qos, &sv__engine_dla,    &sv__engine_d3r,   &sv__engine_sssp_df,
    &sv__engine_minhop_df,
};

enum { NUM_ENGINES = sizeof engines / sizeof engines[0] };

const sv_engine_info *sv_engine_at(size_t i)
{
    return i < NUM_ENGINES ? &engines[i]->about : NULL;
}

static sv_status find_engine(sv_ctx *ctx, const char *name, const sv__engine **engine)
{
    char known[400] = "";
    size_t used = 0;
    sv_near near;
    for (size_t i = 0; i < NUM_ENGINES; i++) {
        if (strcmp(engines[i]->about.name, name) == 0) {
            *engine = engines[i];
            return SV_OK;
        }
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 engines[i]->about.name);
    }
    return sv_refuse(ctx, "there is no engine '%.200s'%s (there are %s)", name,
                     sv_near_hint(&near, sv_span_of(name), known), known);
}

const char *sv__request_option(const sv_route_request *request, const char *name)
{
    size_t length = strlen(name);
    const char *value = NULL;
    for (size_t i = 0; i < request->num_options; i++)
        if (strncmp(request->options[i], name, length) == 0 && request->options[i][length] == '=')
            value = request->options[i] + length + 1;
    return value;
}

const char *sv__job_option(const sv__routing_job *job, const char *name)
{
    return sv__request_option(job->request, name);
}

/* Whether a value is one of "yes|no", "1-9" (a range), "N" (a number from 1 on) or "FILE". */
static bool takes(const char *values, const char *value)
{
    sv_scan scan = sv_scan_of(sv_span_of(values));
    for (bool more = true; more;) {
        sv_span word;
        uint64_t min, max, number;
        more = sv_scan_until(&scan, '|', &word);
        word = more ? word : sv_scan_rest(&scan);
        sv_scan range = sv_scan_of(word);
        bool ranged = sv_scan_number(&range, UINT32_MAX, &min) && sv_scan_char(&range, '-') &&
                      sv_scan_number(&range, UINT32_MAX, &max);
        if (sv_span_is(word, "N")) {
            min = 1;
            max = UINT32_MAX;
            ranged = true;
        }
        if (ranged ? sv_span_number(sv_span_of(value), max, &number) && number >= min
                   : sv_span_is(word, "FILE") || sv_span_is(word, value))
            return true;
    }
    return false;
}

static sv_status check_option(sv_ctx *ctx, const sv_engine_info *about, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return sv_refuse(ctx, "option '%.200s' is not NAME=VALUE", text);
    char known[200] = "";
    size_t used = 0;
    sv_span name = {text, (size_t)(equals - text)};
    sv_near near;
    for (const sv_engine_option *o = about->options; o != NULL && o->name != NULL; o++) {
        if (sv_span_is(name, o->name))
            return takes(o->values, equals + 1) ? SV_OK
                                                : sv_refuse(ctx, "engine %s: %.200s is not %s",
                                                            about->name, text, o->values);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "",
                                 o->name);
    }
    return sv_refuse(ctx, "engine %s has no option '%.*s'%s (%s%s)", about->name, SV_SPAN(name),
                     sv_near_hint(&near, name, known), used > 0 ? "known: " : "it has none", known);
}

static sv_status check_request(sv_ctx *ctx, const sv__engine *engine,
                               const sv_route_request *request)
{
    const sv_engine_info *about = &engine->about;
    for (size_t i = 0; i < request->num_options; i++)
        SV_TRY(check_option(ctx, about, request->options[i]));
    if (request->num_roots > 0 && !(about->traits & SV_ENGINE_ROOTS))
        return sv_refuse(ctx, "engine %s knows no roots (updn does)", about->name);
    if (request->num_hosts > 0 && !(about->traits & SV_ENGINE_HOSTS))
        return sv_refuse(ctx, "engine %s knows no order of hosts (ftree does)", about->name);
    if (request->jobs != NULL && !(about->traits & SV_ENGINE_JOBS))
        return sv_refuse(ctx, "engine %s follows no jobs (sar, weave, dfsssp, nue and sssp do)",
                         about->name);
    if ((unsigned)request->sl_mode >= SV_SLS_COUNT)
        return sv_refuse(ctx, "there is no such mode of service levels");
    if (request->sl_mode != SV_SLS_PAIR && about->traits & SV_ENGINE_VLS &&
        !(about->traits & (SV_ENGINE_SL_MODES | SV_ENGINE_ONE_SL)))
        return sv_refuse(ctx, "engine %s chooses service levels by source and destination only",
                         about->name);
    if (request->lmc > 7 || request->vls > SV_MAX_VLS || request->sl_offset >= SV_HARDWARE_SLS)
        return sv_refuse(ctx, "LMC is 0 to 7, VLs 1 to %d, the SL offset 0 to %d", SV_MAX_VLS,
                         SV_HARDWARE_SLS - 1);
    return engine->check != NULL ? engine->check(ctx, request) : SV_OK;
}

sv_status sv_route_check(sv_ctx *ctx, const char *name, const sv_route_request *request)
{
    const sv__engine *engine = NULL;
    SV_TRY(find_engine(ctx, name, &engine));
    return request != NULL ? check_request(ctx, engine, request) : SV_OK;
}

unsigned sv_vls_offered(const sv_fabric *f)
{
    unsigned min = 0;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_channel_alive(f, channel) || !sv_joins_switches(f, channel))
            continue;
        unsigned vls = sv_link_of(f, channel)->vls;
        if (vls > 0 && (min == 0 || vls < min))
            min = vls;
    }
    return min > 0 ? min : 8;
}

/* The same, but not more than there are SLs from the offset on where each VL takes one. */
static unsigned vls_to_use(const sv_fabric *f, const sv_engine_info *about,
                           const sv_route_request *request)
{
    unsigned offered = sv_vls_offered(f), left = SV_HARDWARE_SLS - request->sl_offset;
    return offered < left || about->traits & SV_ENGINE_BY_PORTS ? offered : left;
}

static sv_status count_components(sv__routing_job *job)
{
    const sv_fabric *f = job->fabric;
    uint32_t nodes = sv_num_nodes(f);
    uint64_t *seen = sv_bitset_new(job->arena, nodes);
    uint32_t *stack = SV_ARENA_NEW(job->arena, uint32_t, nodes);
    if (seen == NULL || stack == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < nodes; v++)
        if (sv_node_alive(f, (sv_node){v}) && !sv_bit(seen, v))
            job->report->components += sv_flood(f, (sv_node){v}, false, seen, stack) > 0;
    return SV_OK;
}

/* Moves all SLs up by the offset; tables treat them as before. */
static sv_status offset_sls(sv__routing_job *job)
{
    sv_routes *r = job->routes;
    unsigned offset = job->request->sl_offset;
    if (offset == 0)
        return SV_OK;
    if (job->report->sls_used + offset > SV_HARDWARE_SLS)
        return sv_fail(job->ctx, SV_INFEASIBLE,
                       "%u service levels from %u on: InfiniBand has no more than %d",
                       job->report->sls_used, offset, SV_HARDWARE_SLS);
    for (uint32_t t = 0; t < r->num_vl_tables; t++) {
        sv_sl2vl old = r->vl_tables[t];
        for (unsigned sl = offset; sl < SV_HARDWARE_SLS; sl++)
            r->vl_tables[t].of_sl[sl] = old.of_sl[sl - offset];
    }
    r->sl = (uint8_t)(r->sl + offset);
    size_t rows = sv__routes_sl_rows(r), length = sv__routes_sl_row_length(r);
    for (size_t i = 0; i < rows; i++) {
        uint8_t *row = sv_routes_sl_row(job->ctx, r, (uint32_t)i);
        if (row == NULL)
            return SV_NO_MEMORY;
        for (size_t k = 0; k < length; k++)
            row[k] = row[k] == SV_NO_SL ? SV_NO_SL : (uint8_t)(row[k] + offset);
    }
    return SV_OK;
}

static sv_status run(sv__routing_job *job, const sv__engine *engine)
{
    uint64_t begin = sv_now_ns(job->ctx);
    SV_TRY(sv_routes_new(job->ctx, job->fabric, job->request->lmc, &job->routes));
    SV_TRY(engine->route(job));
    SV_TRY(offset_sls(job));
    job->report->nanoseconds = sv_now_ns(job->ctx) - begin;
    sv_status status = sv_routes_assign_lids(job->ctx, job->fabric, job->routes);
    job->report->no_lids = status == SV_INFEASIBLE;
    return status == SV_INFEASIBLE ? SV_OK : status;
}

sv_status sv_route(sv_ctx *ctx, const sv_fabric *fabric, const char *name,
                   const sv_route_request *request, sv_routes **routes, sv_route_report *report)
{
    const sv_route_request defaults = {.seed = 1};
    sv_route_report unwanted;
    const sv__engine *engine = NULL;
    sv_arena arena;
    if (request == NULL)
        request = &defaults;
    if (report == NULL)
        report = &unwanted;
    *report = (sv_route_report){.vls_needed = 1, .vls_used = 1, .sls_used = 1};
    SV_TRY(find_engine(ctx, name, &engine));
    SV_TRY(check_request(ctx, engine, request));
    sv_arena_init(&arena, ctx);
    sv__routing_job job = {.ctx = ctx,
                           .arena = &arena,
                           .fabric = fabric,
                           .request = request,
                           .vls = request->vls > 0 ? request->vls
                                                   : vls_to_use(fabric, &engine->about, request),
                           .report = report};
    sv_status status = count_components(&job);
    if (status == SV_OK)
        status = run(&job, engine);
    if (status == SV_OK)
        *routes = job.routes;
    else
        sv_routes_free(job.routes);
    sv_arena_release(&arena);
    return status;
}
