/*
 * registry.c: the list of policies, and what all of them have in common: made from a spec, asked
 * for their hooks, told to end.
 *
 * To add a policy: one file with an sv__policy_kind, and a line in the table here. Help, options
 * and messages come from it.
 *
 * Making one: the spec is read, the ways of the fabric are made ready, VLs are counted and proven
 * (VLs.c), then the policy fills in its hooks. What was made is freed however it went.
 *
 * Cost: as sv_verify, where packets have vias.
 */
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/near.h"

static const sv__policy_kind *const kinds[] = {
    &sv__policy_deterministic, &sv__policy_random,    &sv__policy_cyclic, &sv__policy_valiant,
    &sv__policy_ugal_l,        &sv__policy_ugal_g,    &sv__policy_drb,    &sv__policy_fr_drb,
    &sv__policy_pr_drb,        &sv__policy_pr_fr_drb,
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const sv_adapt_about *sv_adapt_at(size_t i)
{
    return i < KINDS ? &kinds[i]->about : NULL;
}

static sv_status find_kind(sv_ctx *ctx, const char *spec, sv_span name,
                           const sv__policy_kind **kind)
{
    char known[300] = "";
    for (size_t i = 0; i < KINDS; i++) {
        if (sv_span_is(name, kinds[i]->about.name)) {
            *kind = kinds[i];
            return SV_OK;
        }
        size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "",
                 kinds[i]->about.name);
    }
    sv_near near;
    return sv_refuse(ctx, "policy '%.200s': there is no '%.*s'%s (known: %s)", spec, SV_SPAN(name),
                     sv_near_hint(&near, name, known), known);
}

/* Splits "policy:keys". */
static sv_status read_spec(sv_ctx *ctx, const char *spec, const sv__policy_kind **kind,
                           sv__settings *set)
{
    sv_scan scan = sv_scan_of(sv_span_of(spec));
    sv_span name;
    bool colon = sv_scan_until(&scan, ':', &name);
    if (!colon) {
        name = sv_scan_rest(&scan);
        scan.at = scan.end;
    }
    SV_TRY(find_kind(ctx, spec, name, kind));
    if (colon && sv_scan_done(&scan))
        return sv_refuse(ctx, "policy '%.200s': nothing after the colon", spec);
    return sv__keys_read(ctx, &(*kind)->about, spec, sv_scan_rest(&scan), set);
}

sv_status sv_adapt_check(sv_ctx *ctx, const char *spec)
{
    const sv__policy_kind *kind;
    sv__settings settings;
    return read_spec(ctx, spec, &kind, &settings);
}

static sv_status must_keep(sv_ctx *ctx, const sv__policy_kind *kind)
{
    return kind->about.keeps
               ? SV_OK
               : sv_fail(ctx, SV_UNSUPPORTED, "policy '%s' keeps no solutions", kind->about.name);
}

static sv_status make(sv_adapt *a, const sv_adapt_request *request, unsigned *vls)
{
    SV_TRY(read_spec(a->ctx, request->spec, &a->kind, &a->set));
    if (request->store != NULL)
        SV_TRY(must_keep(a->ctx, a->kind));
    a->policy = (sv_sim_policy){
        .user = a, .by_packet = a->set.by_packet, .patience = UINT64_MAX, .first = SV_NEVER};
    SV_TRY(sv__vls_find(a, request, vls));
    SV_TRY(sv__ways_new(a));
    SV_TRY(a->kind->make(a));
    return request->store != NULL ? a->kind->load(a, request->store) : SV_OK;
}

sv_status sv_adapt_new(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                       const sv_adapt_request *request, sv_adapt **adapt, unsigned *vls)
{
    sv_adapt *a = sv_alloc(ctx, 1, sizeof *a);
    unsigned needed = 0;
    if (a == NULL)
        return SV_NO_MEMORY;
    a->ctx = ctx;
    a->f = fabric;
    a->r = routes;
    a->model = *request->model;
    sv_arena_init(&a->arena, ctx);
    sv_rng_init(&a->rng, request->seed);
    a->seed = request->seed;
    sv_status status = make(a, request, &needed);
    if (status != SV_OK) {
        sv_adapt_free(a);
        return status;
    }
    *adapt = a;
    *vls = needed;
    return SV_OK;
}

void sv_adapt_free(sv_adapt *adapt)
{
    if (adapt == NULL)
        return;
    if (adapt->kind != NULL && adapt->kind->release != NULL)
        adapt->kind->release(adapt);
    sv__ways_free(adapt);
    sv_arena_release(&adapt->arena);
    sv_release(adapt->ctx, adapt);
}

const sv_sim_policy *sv_adapt_policy(const sv_adapt *adapt)
{
    return &adapt->policy;
}

sv_adapt_report sv_adapt_end(const sv_adapt *adapt)
{
    return adapt->report;
}

const sv_adapt_router *sv_adapt_routers(const sv_adapt *adapt)
{
    return adapt->routers;
}

sv_status sv_adapt_store_write(sv_ctx *ctx, const sv_adapt *adapt, const sv_sink *sink)
{
    SV_TRY(must_keep(ctx, adapt->kind));
    return adapt->kind->save(adapt, sink);
}
