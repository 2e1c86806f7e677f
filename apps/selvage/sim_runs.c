/*
 * sim_runs.c: several simulations of the same fabric: policy by policy, and each with the same
 * seeds, so that each is compared with the first on the very same traffic.
 *
 * Idea: runs know nothing of each other, so there are as many at once as there are threads; what
 * threads are left over are shared among them (a run without a policy can use several). Each has a
 * place of its own for what it found, and these are put together in the order in which they were
 * asked for: what is told does not depend on threads. Runs begin in that order, too, seeds outside,
 * policies inside. Whoever stops it early has of each policy the runs before the first one that was
 * not over: a run that was stopped counts for nothing.
 *
 * If a run fails those after it are stopped, those before go on: the first that fails is told, as
 * if they had come one after the other. Warnings are those of the first run; the others have the
 * same.
 *
 * Cost: memory of as many runs as there are threads; O(switches) a run for --latency-map.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "selvage/sim_shared.h"

/* What one run found. */
struct found {
    bool over;
    sv_sim_end end;
    bool blocked;
    unsigned vls;
    double seconds;
    sim_measures measures;
    sv_adapt_report report;
    sim_contender map; /* nothing but its part of the map */
};

struct runs {
    struct app *app;
    const struct sim *sim; /* what all have in common */
    sim_contender *all;
    size_t count;
    uint64_t num_found;
    struct found *found;         /* [seeds × policies] */
    unsigned threads_each;       /* that a run may use */
    atomic_uint_fast64_t failed; /* the first run that did; UINT64_MAX: none */
    atomic_bool stopped;
    pthread_mutex_t lock; /* who talks to the host has it */
    uint64_t done;
    const char *traffic; /* as the first run has it */
};

/* Who does a run. */
struct worker {
    struct runs *runs;
    uint64_t run;
    bool shows; /* how far it is */
};

/* ---- the host, for several at once ---- */

static const sv_host *host_of(const struct worker *worker)
{
    return &worker->runs->app->ctx->host;
}

static void *worker_resize(void *user, void *block, size_t size)
{
    const sv_host *host = host_of(user);
    return host->resize(host->user, block, size);
}

static uint64_t worker_clock(void *user)
{
    const sv_host *host = host_of(user);
    return host->clock_ns(host->user);
}

static void worker_log(void *user, sv_log_level level, const char *message)
{
    struct worker *worker = user;
    const sv_host *host = host_of(worker);
    if (worker->run != 0 || host->log == NULL)
        return;
    pthread_mutex_lock(&worker->runs->lock);
    host->log(host->user, level, message);
    pthread_mutex_unlock(&worker->runs->lock);
}

static void worker_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
    struct worker *worker = user;
    const sv_host *host = host_of(worker);
    if (!worker->shows || host->progress == NULL)
        return;
    pthread_mutex_lock(&worker->runs->lock);
    host->progress(host->user, what, done, total);
    pthread_mutex_unlock(&worker->runs->lock);
}

static bool worker_cancelled(void *user)
{
    const struct worker *worker = user;
    const sv_host *host = host_of(worker);
    return worker->run > atomic_load(&worker->runs->failed) ||
           (host->cancelled != NULL && host->cancelled(host->user));
}

/* Tells that a run is over; notes whether that was enough. */
static void tell_progress(struct runs *runs)
{
    pthread_mutex_lock(&runs->lock);
    if (sv_progress(runs->app->ctx, "runs", ++runs->done, runs->num_found) == SV_CANCELLED)
        atomic_store(&runs->stopped, true);
    pthread_mutex_unlock(&runs->lock);
}

/* ---- making room ---- */

static void release(struct app *app, struct runs *runs)
{
    for (uint64_t i = 0; i < runs->num_found && runs->found != NULL; i++)
        sim_release_map(app, &runs->found[i].map);
    for (size_t i = 0; i < runs->count && runs->all != NULL; i++) {
        sv_release(app->ctx, runs->all[i].measures);
        sv_release(app->ctx, runs->all[i].reports);
        sim_release_map(app, &runs->all[i]);
    }
    sv_release(app->ctx, runs->found);
    sv_release(app->ctx, runs->all);
}

static sv_status prepare(struct app *app, const struct sim *sim, struct runs *runs)
{
    const struct sim_options *o = sim->o;
    runs->count = o->policies.length > 0 ? o->policies.length : 1;
    runs->num_found = o->num_seeds * runs->count;
    runs->all = sv_alloc(app->ctx, runs->count, sizeof *runs->all);
    runs->found = sv_alloc(app->ctx, runs->num_found, sizeof *runs->found);
    if (runs->all == NULL || runs->found == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < runs->count; i++) {
        sim_contender *c = &runs->all[i];
        *c = (sim_contender){.policy = o->policies.length > 0 ? o->policies.at[i] : NULL};
        c->measures = sv_alloc(app->ctx, o->num_seeds, sizeof *c->measures);
        c->reports = sv_alloc(app->ctx, o->num_seeds, sizeof *c->reports);
        if (c->measures == NULL || c->reports == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

/* ---- running ---- */

/* One policy with one seed. CANCELLED: it was told to stop. */
static sv_status run(struct app *app, struct sim *sim, struct found *found)
{
    SV_TRY(sim_run(app, sim));
    if (sim->result->end == SV_SIM_CANCELLED)
        return SV_CANCELLED;
    found->end = sim->result->end;
    found->blocked = sim_blocked(sim);
    found->vls = sim->vls;
    found->seconds = sim->seconds;
    found->measures = sim_measure(sim);
    if (sim->adapt != NULL)
        found->report = sv_adapt_end(sim->adapt);
    if (sim->o->picture != NULL)
        SV_TRY(sim_take_map(app, sim, &found->map, sim->o->seed == sim->o->first_seed));
    found->over = true;
    return SV_OK;
}

/* Notes the first run that failed. */
static void note_failure(struct runs *runs, uint64_t number)
{
    uint_fast64_t first = atomic_load(&runs->failed);
    while (number < first && !atomic_compare_exchange_weak(&runs->failed, &first, number))
        ;
}

static sv_status run_piece(sv_ctx *ctx, unsigned thread, uint64_t number, void *arg)
{
    struct runs *runs = arg;
    struct worker own_worker = {runs, number, thread == 0};
    struct app own = {.ctx = ctx, .verb = runs->app->verb};
    struct sim_options o = *runs->sim->o;
    struct sim sim = *runs->sim;
    const sv_host before = ctx->host;
    if (atomic_load(&runs->stopped))
        return SV_OK;
    ctx->host = (sv_host){&own_worker,     worker_resize,    worker_log,
                          worker_progress, worker_cancelled, worker_clock};
    sv_ctx_set_threads(ctx, runs->threads_each);
    o.seed = o.first_seed + number / runs->count;
    sim.o = &o;
    sim.policy = runs->all[number % runs->count].policy;
    sv_status status = run(&own, &sim, &runs->found[number]);
    if (number == 0)
        runs->traffic = sim.traffic;
    sim_end_run(&own, &sim);
    ctx->host = before;
    if (status == SV_CANCELLED) {
        atomic_store(&runs->stopped, true);
        return SV_OK;
    }
    if (status != SV_OK)
        note_failure(runs, number);
    else
        tell_progress(runs);
    return status;
}

static sv_status run_all(struct runs *runs)
{
    sv_ctx *ctx = runs->app->ctx;
    runs->threads_each = sv_ctx_threads(ctx, UINT64_MAX) / sv_ctx_threads(ctx, runs->num_found);
    atomic_init(&runs->failed, UINT64_MAX);
    atomic_init(&runs->stopped, false);
    pthread_mutex_init(&runs->lock, NULL);
    sv_status status = sv_parallel(ctx, NULL, runs->num_found, run_piece, runs);
    pthread_mutex_destroy(&runs->lock);
    return status;
}

/* ---- putting together ---- */

static void add(sim_contender *c, struct found *found, uint32_t switches)
{
    c->ends[found->end]++;
    c->blocked += found->blocked;
    c->vls = found->vls;
    c->seconds += found->seconds;
    c->measures[c->runs] = found->measures;
    c->reports[c->runs] = found->report;
    c->runs++;
    sim_add_map(c, &found->map, switches);
}

static void gather(struct runs *runs, const struct sim *sim)
{
    for (size_t i = 0; i < runs->count; i++)
        for (uint64_t k = i; k < runs->num_found && runs->found[k].over; k += runs->count)
            add(&runs->all[i], &runs->found[k], sim->f->num_switches);
}

/* ---- telling ---- */

static sv_status tell(struct app *app, const struct sim *sim, const struct runs *runs)
{
    sv_text out;
    if (sim->o->picture != NULL)
        SV_TRY(sim_draw_map(app, sim, runs->all, runs->count));
    if (sim->o->file_on_output)
        return SV_OK;
    SV_TRY(app_print_begin(app, &out));
    (sim->o->json ? sim_json_contenders : sim_print_contenders)(&out, sim, runs->all, runs->count,
                                                                runs->stopped);
    return app_print_end(app, &out);
}

int sim_compare(struct app *app, struct sim *sim)
{
    struct runs runs = {.app = app, .sim = sim};
    bool dead = false;
    sv_status status = prepare(app, sim, &runs);
    if (status == SV_OK)
        status = run_all(&runs);
    if (status == SV_OK)
        gather(&runs, sim);
    if (status == SV_OK && runs.stopped && runs.all[0].runs == 0)
        status = sv_fail(app->ctx, SV_CANCELLED, "cancelled before a run was over");
    if (status == SV_OK) {
        app->concluding = true;
        sim->setup.model = sim->o->model;
        sim->traffic = runs.traffic != NULL ? runs.traffic : "";
        status = tell(app, sim, &runs);
    }
    for (size_t i = 0; i < runs.count && runs.all != NULL; i++)
        dead = dead || runs.all[i].ends[SV_SIM_DEADLOCK] > 0 || runs.all[i].blocked > 0;
    release(app, &runs);
    if (status != SV_OK)
        return app_exit(app, status);
    return runs.stopped ? EXIT_CANCELLED : dead ? EXIT_NO : EXIT_YES;
}
