/*
 * replay.c: a history of jobs over a fabric, with several engines (thesis 5.3.2).
 *
 * Idea: engines that follow no jobs route once, with all threads. Scenes are independent of each
 * other, so threads take one each: route it with every engine that follows jobs, judge the tables,
 * count the routes inside jobs, and forget them. A scene without jobs has nothing to route or
 * count.
 *
 * Invariants: a scene writes to its own row only, and what is counted of tables is added up when
 * all are done, so threads do not show. No engine vouches for its own tables: verify does.
 * Cost: routing, judging and counting, for each scene and engine; the memory of one set of tables a
 * thread. Source: thesis 5.3.2, Fig. 5.8; Tables 5.1 and 5.2.
 */
#include "jobs/replay.h"

#include <math.h>
#include <selvage/verify.h>
#include <string.h>

#include "base/pool.h"
#include "base/threads.h"

const char *sv_replay_metric_name(sv_replay_metric metric)
{
    static const char *const names[SV_REPLAY_METRICS] = {"max_efi", "job_efi_avg",
                                                         "dark_fibre_percent", "job_links_avg"};
    return metric < SV_REPLAY_METRICS ? names[metric] : NULL;
}

struct play {
    const sv_fabric *fabric;
    const sv_replay_plan *plan;
    sv__replay_samples scenes;
    sv_routes *fixed[SV_MAX_REPLAY_ENGINES]; /* of engines that follow no jobs */
    sv_replay_tables *of_scene;              /* [scenes][engines]: what routing each did */
    double *values;                          /* as in sv_replay */
};

/* ---- routing ---- */

/* Judges tables and notes what came of it. */
static sv_status judge(sv_ctx *ctx, const struct play *p, const sv_routes *routes,
                       const sv_route_report *report, sv_replay_tables *about)
{
    sv_verification *found = NULL;
    SV_TRY(sv_verify(ctx, p->fabric, routes, NULL, &found));
    sv_verdict verdict = found->deadlock_free[SV_TRAFFIC_MANAGED];
    about->routed = 1;
    about->unconnected = found->unreachable[SV_PAIRS_TERMINAL_TERMINAL] > found->split_pairs;
    about->deadlocking = verdict == SV_VERDICT_NO;
    about->undecided = verdict == SV_VERDICT_UNKNOWN;
    about->vls = found->vls_used;
    about->nanoseconds = report->nanoseconds;
    sv_verification_free(found);
    return SV_OK;
}

/* *routes stays NULL where an engine cannot do these jobs, or this fabric. */
static sv_status route(sv_ctx *ctx, const struct play *p, uint32_t engine, const sv_jobmap *jobs,
                       sv_replay_tables *about, sv_routes **routes)
{
    const sv_replay_engine *by = &p->plan->engines[engine];
    const sv_route_request request = {.vls = p->plan->vls,
                                      .seed = p->plan->seed,
                                      .jobs = jobs,
                                      .options = by->options,
                                      .num_options = by->num_options};
    sv_route_report report;
    sv_status status = sv_route(ctx, p->fabric, by->name, &request, routes, &report);
    if (status == SV_INFEASIBLE || (status == SV_UNSUPPORTED && jobs == NULL)) {
        about->infeasible = 1;
        return SV_OK;
    }
    return status == SV_OK ? judge(ctx, p, *routes, &report, about) : status;
}

/* ---- counting ---- */

static void set_values(double *values, const sv_jobs_load *load)
{
    values[SV_REPLAY_EFI] = (double)load->efi.max;
    values[SV_REPLAY_JOB_EFI] = load->spread > 0 ? load->job_max_avg : NAN;
    values[SV_REPLAY_DARK] = load->dark_fibre;
    values[SV_REPLAY_LINKS] = load->spread > 0 ? load->job_links_avg : NAN;
}

static sv_status play_engine(sv_ctx *ctx, const struct play *p, uint32_t scene, uint32_t engine)
{
    size_t place = (size_t)scene * p->plan->num_engines + engine;
    double *values = &p->values[place * SV_REPLAY_METRICS];
    const sv_jobmap *map = p->scenes.maps[scene];
    sv_routes *routes = p->fixed[engine], *made = NULL;
    sv_jobs_load load = {.dark_fibre = 100};
    sv_status status = SV_OK;
    for (int i = 0; i < SV_REPLAY_METRICS; i++)
        values[i] = NAN;
    if (map->num_jobs == 0) {
        set_values(values, &load);
        return SV_OK;
    }
    if (p->plan->engines[engine].jobs) {
        status = route(ctx, p, engine, map, &p->of_scene[place], &made);
        routes = made;
    }
    if (status == SV_OK && routes != NULL)
        status = sv_jobs_count(ctx, p->fabric, routes, map, NULL, NULL, &load);
    if (status == SV_OK && routes != NULL)
        set_values(values, &load);
    sv_routes_free(made);
    return status;
}

static sv_status play_scene(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)worker;
    const struct play *p = arg;
    for (uint32_t e = 0; e < p->plan->num_engines; e++)
        SV_TRY(play_engine(ctx, p, (uint32_t)piece, e));
    return SV_OK;
}

/* ---- all of it ---- */

static sv_status check_engines(sv_ctx *ctx, const sv_replay_plan *plan)
{
    if (plan->num_engines < 1 || plan->num_engines > SV_MAX_REPLAY_ENGINES)
        return sv_refuse(ctx, "%u engines: 1 to %d can take part", plan->num_engines,
                         SV_MAX_REPLAY_ENGINES);
    for (uint32_t k = 0; k < plan->num_engines; k++) {
        const sv_replay_engine *e = &plan->engines[k];
        const sv_jobmap none = {0};
        const sv_route_request request = {
            .jobs = e->jobs ? &none : NULL, .options = e->options, .num_options = e->num_options};
        SV_TRY(sv_route_check(ctx, e->name, &request));
    }
    return SV_OK;
}

static const char *copy(sv_ctx *ctx, sv_pool *store, const char *text)
{
    size_t length = strlen(text);
    char *kept = SV_POOL_NEW(store, ctx, char, length + 1);
    if (kept != NULL)
        memcpy(kept, text, length);
    return kept;
}

/* Copies of what the replay keeps of the plan, and of the samples. */
static sv_status keep(sv_ctx *ctx, const struct play *p, sv_replay *r, sv_pool *store)
{
    const sv__replay_samples *s = &p->scenes;
    sv_replay_engine *engines = SV_POOL_NEW(store, ctx, sv_replay_engine, p->plan->num_engines);
    sv_replay_sample *samples = SV_POOL_NEW(store, ctx, sv_replay_sample, s->num_samples);
    sv_replay_scene *scenes = SV_POOL_NEW(store, ctx, sv_replay_scene, s->num_scenes);
    if (engines == NULL || samples == NULL || scenes == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < p->plan->num_engines; e++) {
        const sv_replay_engine *by = &p->plan->engines[e];
        engines[e].jobs = by->jobs;
        engines[e].name = copy(ctx, store, by->name);
        engines[e].label = copy(ctx, store, by->label != NULL ? by->label : by->name);
        if (engines[e].name == NULL || engines[e].label == NULL)
            return SV_NO_MEMORY;
    }
    memcpy(samples, s->samples, s->num_samples * sizeof *samples);
    memcpy(scenes, s->scenes, s->num_scenes * sizeof *scenes);
    *r = (sv_replay){.samples = samples,
                     .num_samples = s->num_samples,
                     .scenes = scenes,
                     .num_scenes = s->num_scenes,
                     .engines = engines,
                     .num_engines = p->plan->num_engines,
                     .every = p->plan->every,
                     .idle = s->idle,
                     .unknown_hosts = s->unknown_hosts,
                     .store = store};
    memcpy(r->unknown, s->unknown, sizeof r->unknown);
    return SV_OK;
}

/* Adds up what routing the scenes did. */
static void add_up(const struct play *p, sv_replay_tables *tables)
{
    for (uint32_t s = 0; s < p->scenes.num_scenes; s++)
        for (uint32_t e = 0; e < p->plan->num_engines; e++) {
            const sv_replay_tables *one = &p->of_scene[(size_t)s * p->plan->num_engines + e];
            tables[e].routed += one->routed;
            tables[e].infeasible += one->infeasible;
            tables[e].unconnected += one->unconnected;
            tables[e].deadlocking += one->deadlocking;
            tables[e].undecided += one->undecided;
            tables[e].vls = one->vls > tables[e].vls ? one->vls : tables[e].vls;
            tables[e].nanoseconds += one->nanoseconds;
        }
}

/*
 * Routes once with engines that follow no jobs. One that cannot is told of, and has no values; if
 * none can there is nothing to compare.
 */
static sv_status route_fixed(sv_ctx *ctx, struct play *p, sv_replay_tables *tables)
{
    bool some = false;
    for (uint32_t e = 0; e < p->plan->num_engines; e++) {
        const sv_replay_engine *by = &p->plan->engines[e];
        some = some || by->jobs;
        if (by->jobs)
            continue;
        SV_TRY(route(ctx, p, e, NULL, &tables[e], &p->fixed[e]));
        some = some || p->fixed[e] != NULL;
        if (p->fixed[e] == NULL)
            sv_warn(ctx, "no tables of %.100s: %s", by->label != NULL ? by->label : by->name,
                    sv_ctx_message(ctx));
    }
    return some ? SV_OK : sv_fail(ctx, SV_INFEASIBLE, "no engine has tables for this fabric");
}

static sv_status run(sv_ctx *ctx, struct play *p, sv_arena *arena, sv_pool *store, sv_replay *r)
{
    uint32_t engines = p->plan->num_engines;
    size_t cells = (size_t)p->scenes.num_scenes * engines;
    sv_replay_tables *tables = SV_POOL_NEW(store, ctx, sv_replay_tables, engines);
    p->values = SV_POOL_NEW(store, ctx, double, cells *SV_REPLAY_METRICS);
    p->of_scene = SV_ARENA_NEW(arena, sv_replay_tables, cells);
    if (tables == NULL || p->values == NULL || p->of_scene == NULL)
        return SV_NO_MEMORY;
    SV_TRY(route_fixed(ctx, p, tables));
    SV_TRY(sv_parallel(ctx, "replaying", p->scenes.num_scenes, play_scene, p));
    add_up(p, tables);
    SV_TRY(keep(ctx, p, r, store));
    r->tables = tables;
    r->values = p->values;
    return SV_OK;
}

sv_status sv_replay_run(sv_ctx *ctx, const sv_fabric *fabric, const sv_allocations *history,
                        const sv_replay_plan *plan, sv_replay **replay)
{
    struct play p = {.fabric = fabric, .plan = plan};
    sv_arena arena;
    SV_TRY(check_engines(ctx, plan));
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_arena_init(&arena, ctx);
    sv_replay *r = SV_POOL_NEW(store, ctx, sv_replay, 1);
    sv_status status =
        r == NULL ? SV_NO_MEMORY : sv__find_scenes(ctx, fabric, history, plan, &arena, &p.scenes);
    if (status == SV_OK)
        status = run(ctx, &p, &arena, store, r);
    for (uint32_t e = 0; e < plan->num_engines; e++)
        sv_routes_free(p.fixed[e]);
    sv__free_scenes(&p.scenes);
    sv_arena_release(&arena);
    if (status == SV_OK)
        *replay = r;
    else
        sv__pool_drop(store);
    return status;
}

void sv_replay_free(sv_replay *replay)
{
    if (replay != NULL)
        sv__pool_drop(replay->store);
}
