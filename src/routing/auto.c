/*
 * auto.c: engine "auto".
 *
 * Nothing is guessed: an engine for trees knows best whether a fabric is a tree, and says so by
 * refusing. So all engines that do not take any fabric are tried, and weave, which does. No engine
 * is believed: what it makes is verified, and what does not hold is out, even if that would be a
 * bug.
 *
 * Comparing: the busiest channel bounds what uniform traffic can get, so it comes first; but
 * numbers that differ by a fiftieth are luck, and then shorter paths and fewer VLs, which are
 * left for other uses, are worth more.
 *
 * Cost: that of every engine that fits, and for each O(switches × destinations) to judge.
 */
#include <selvage/auto.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"

static bool is_tried(const sv_engine_info *engine, bool jobs)
{
    return !(engine->traits & SV_ENGINE_ANY_TOPOLOGY) || strcmp(engine->name, "weave") == 0 ||
           (jobs && strcmp(engine->name, "sar") == 0);
}

/* Loads, and the busiest channel: of all routes, or of those inside jobs. */
static sv_status measure(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                         const sv_jobmap *jobs, sv_candidate *c)
{
    sv_jobs_load inside;
    SV_TRY(sv_routes_load(ctx, fabric, routes, NULL, &c->load));
    c->busiest = c->load.max;
    if (jobs == NULL)
        return SV_OK;
    SV_TRY(sv_jobs_count(ctx, fabric, routes, jobs, NULL, NULL, &inside));
    c->busiest = inside.efi.max;
    return SV_OK;
}

/* What is wrong with tables, into why; empty: nothing. */
static void find_fault(const sv_verification *found, sv_traffic traffic, char *why, size_t size)
{
    uint64_t lost = found->unreachable[SV_PAIRS_TERMINAL_TERMINAL] - found->split_pairs;
    why[0] = 0;
    if (lost > 0)
        snprintf(why, size, "%llu pairs of terminals are not joined", (unsigned long long)lost);
    else if (found->loops > 0)
        snprintf(why, size, "%llu forwarding loops", (unsigned long long)found->loops);
    else if (found->deadlock_free[traffic] != SV_VERDICT_YES)
        snprintf(why, size, "they can deadlock");
}

/* Routes with one engine and judges it. *routes: NULL unless proven. */
static sv_status try_engine(sv_ctx *ctx, const sv_fabric *fabric, const sv_engine_info *engine,
                            const sv_route_request *request, sv_traffic traffic, sv_candidate *c,
                            sv_routes **routes)
{
    sv_route_request asked = *request;
    sv_verification *found = NULL;
    *c = (sv_candidate){.engine = engine->name};
    if (!(engine->traits & SV_ENGINE_ROOTS))
        asked.num_roots = 0;
    if (!(engine->traits & SV_ENGINE_HOSTS))
        asked.num_hosts = 0;
    if (!(engine->traits & SV_ENGINE_JOBS))
        asked.jobs = NULL;
    sv_status status = sv_route(ctx, fabric, engine->name, &asked, routes, &c->report);
    if (status == SV_INFEASIBLE || status == SV_UNSUPPORTED || status == SV_BAD_INPUT) {
        /* The name stands beside it anyway. */
        const char *why = sv_ctx_message(ctx);
        size_t length = strlen(engine->name);
        bool named = strncmp(why, engine->name, length) == 0 && strncmp(why + length, ": ", 2) == 0;
        snprintf(c->why, sizeof c->why, "%s", named ? why + length + 2 : why);
        return SV_OK;
    }
    SV_TRY(status);
    status = sv_verify(ctx, fabric, *routes, NULL, &found);
    if (status == SV_OK)
        find_fault(found, traffic, c->why, sizeof c->why);
    sv_verification_free(found);
    c->candidacy = c->why[0] != 0 ? SV_CANDIDATE_UNPROVEN : SV_CANDIDATE_PROVEN;
    if (status == SV_OK && c->candidacy == SV_CANDIDATE_PROVEN)
        status = measure(ctx, fabric, *routes, request->jobs, c);
    if (status != SV_OK || c->candidacy != SV_CANDIDATE_PROVEN) {
        sv_routes_free(*routes);
        *routes = NULL;
    }
    return status;
}

/* What candidates are compared by, in turn; parts: one part in so many counts as equal. */
typedef double figure_fn(const sv_candidate *c);

static double busiest(const sv_candidate *c)
{
    return (double)c->busiest;
}

static double mean_hops(const sv_candidate *c)
{
    return c->load.hops_avg;
}

static double vls(const sv_candidate *c)
{
    return c->report.vls_needed;
}

static double service_levels(const sv_candidate *c)
{
    return c->report.sls_used;
}

static const struct rule {
    figure_fn *figure;
    double parts;
    const char *reason; /* what the chosen one has */
} rules[] = {{busiest, 50, "fewer routes on its busiest channel"},
             {mean_hops, 200, "shorter paths"},
             {vls, 1e9, "need of fewer VLs"},
             {service_levels, 1e9, "fewer service levels"}};

enum { NUM_RULES = sizeof rules / sizeof rules[0] };

/*
 * The best: by each rule in turn all are out that are clearly worse than the least of those still
 * in it; of what is left the first. out[i]: the rule that put i out, NUM_RULES: none. SV_NONE:
 * nothing is proven.
 */
static uint32_t find_best(const sv_selection *s, int *out)
{
    uint32_t best = SV_NONE;
    for (uint32_t i = 0; i < s->count; i++)
        out[i] = s->candidates[i].candidacy == SV_CANDIDATE_PROVEN ? NUM_RULES : -1;
    for (int r = 0; r < NUM_RULES; r++) {
        double min = 0;
        bool any = false;
        for (uint32_t i = 0; i < s->count; i++) {
            double figure = rules[r].figure(&s->candidates[i]);
            if (out[i] == NUM_RULES && (!any || figure < min)) {
                min = figure;
                any = true;
            }
        }
        for (uint32_t i = 0; i < s->count; i++)
            if (out[i] == NUM_RULES &&
                rules[r].figure(&s->candidates[i]) > min + min / rules[r].parts)
                out[i] = r;
    }
    for (uint32_t i = s->count; i-- > 0;)
        best = out[i] == NUM_RULES ? i : best;
    return best;
}

/* Says of each that was not chosen what the chosen one does better. */
static void explain(sv_selection *s)
{
    int out[SV_MAX_CANDIDATES];
    s->chosen = find_best(s, out);
    sv_candidate *best = &s->candidates[s->chosen];
    uint32_t others = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        sv_candidate *c = &s->candidates[i];
        if (out[i] < 0 || c == best)
            continue;
        snprintf(c->why, sizeof c->why, "%s has %s", best->engine,
                 out[i] < NUM_RULES ? rules[out[i]].reason : "as good figures and comes first");
        others++;
    }
    best->candidacy = SV_CANDIDATE_CHOSEN;
    snprintf(best->why, sizeof best->why, "%s",
             others == 0 ? "no other engine does this fabric" : "best of those that do it");
}

struct trial {
    sv_ctx *ctx;
    const sv_fabric *fabric;
    const sv_route_request *request;
    sv_traffic traffic;
    sv_selection *s;
    sv_routes *kept;  /* of the best so far */
    uint32_t kept_of; /* which that is */
};

static sv_status try_all(struct trial *t)
{
    const sv_engine_info *engine;
    int out[SV_MAX_CANDIDATES];
    sv_selection *s = t->s;
    for (size_t i = 0; (engine = sv_engine_at(i)) != NULL && s->count < SV_MAX_CANDIDATES; i++) {
        sv_routes *routes = NULL;
        if (!is_tried(engine, t->request->jobs != NULL))
            continue;
        SV_TRY(try_engine(t->ctx, t->fabric, engine, t->request, t->traffic,
                          &s->candidates[s->count], &routes));
        s->count++;
        if (routes != NULL && find_best(s, out) == s->count - 1) {
            sv_routes_free(t->kept);
            t->kept = routes;
            t->kept_of = s->count - 1;
        } else {
            sv_routes_free(routes);
        }
    }
    return SV_OK;
}

/* Chooses; routes once more if the best is one that was not kept. */
static sv_status conclude(struct trial *t)
{
    sv_selection *s = t->s;
    if (t->kept != NULL) {
        explain(s);
        if (t->kept_of == s->chosen)
            return SV_OK;
        sv_candidate *c = &s->candidates[s->chosen], again;
        sv_routes_free(t->kept);
        t->kept = NULL;
        for (size_t i = 0; sv_engine_at(i) != NULL; i++)
            if (strcmp(sv_engine_at(i)->name, c->engine) == 0)
                return try_engine(t->ctx, t->fabric, sv_engine_at(i), t->request, t->traffic,
                                  &again, &t->kept);
    }
    char why[sizeof s->candidates[0].why] = "nothing fits";
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->candidates[i].engine, "weave") == 0)
            memcpy(why, s->candidates[i].why, sizeof why);
    return sv_fail(t->ctx, SV_INFEASIBLE, "no engine routes this: weave: %s", why);
}

sv_status sv_route_auto(sv_ctx *ctx, const sv_fabric *fabric, const sv_route_request *request,
                        sv_traffic traffic, sv_routes **routes, sv_route_report *report,
                        sv_selection *selection)
{
    const sv_route_request defaults = {.seed = 1};
    if (request == NULL)
        request = &defaults;
    if (request->num_options > 0)
        return sv_refuse(ctx, "auto passes no options on: '%.200s'", request->options[0]);
    struct trial t = {.ctx = ctx,
                      .fabric = fabric,
                      .request = request,
                      .traffic = traffic,
                      .s = sv_alloc(ctx, 1, sizeof *t.s)};
    if (t.s == NULL)
        return SV_NO_MEMORY;
    *t.s = (sv_selection){0};
    sv_status status = try_all(&t);
    if (status == SV_OK)
        status = conclude(&t);
    if (status == SV_OK) {
        *routes = t.kept;
        if (report != NULL)
            *report = t.s->candidates[t.s->chosen].report;
        if (selection != NULL)
            *selection = *t.s;
    } else {
        sv_routes_free(t.kept);
    }
    sv_release(ctx, t.s);
    return status;
}
