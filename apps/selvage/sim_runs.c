/*
 * sim_runs.c: several simulations of the same fabric: policy by policy, and each with the same
 * seeds, so that each is compared with the first on the very same traffic.
 *
 * Seeds go round outside, policies inside: whoever stops it early has as many runs of each, but for
 * one. A run that was stopped counts for nothing.
 */
#include <string.h>

#include "selvage/sim_shared.h"

struct runs {
    sim_contender *all;
    size_t count;
    bool stopped;
};

static void release(struct app *app, struct runs *runs)
{
    for (size_t i = 0; i < runs->count && runs->all != NULL; i++) {
        sv_release(app->ctx, runs->all[i].measures);
        sv_release(app->ctx, runs->all[i].reports);
        sim_release_map(app, &runs->all[i]);
    }
    sv_release(app->ctx, runs->all);
}

static sv_status prepare(struct app *app, const struct sim *sim, struct runs *runs)
{
    const struct sim_options *o = sim->o;
    runs->count = o->policies.length > 0 ? o->policies.length : 1;
    runs->all = sv_alloc(app->ctx, runs->count, sizeof *runs->all);
    if (runs->all == NULL)
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

/* One policy with one seed. */
static sv_status run(struct app *app, struct sim *sim, sim_contender *c, struct runs *runs)
{
    sim->policy = c->policy;
    sv_status status = sim_run(app, sim);
    if (status == SV_OK && sim->result->end == SV_SIM_CANCELLED)
        status = SV_CANCELLED;
    if (status == SV_OK) {
        c->ends[sim->result->end]++;
        c->lanes = sim->setup.model.lanes;
        c->seconds += sim->seconds;
        c->measures[c->runs] = sim_measure(sim);
        if (sim->adapt != NULL)
            c->reports[c->runs] = sv_adapt_end(sim->adapt);
        c->runs++;
        if (sim->o->picture != NULL)
            status = sim_take_map(app, sim, c);
    }
    if (status == SV_CANCELLED) {
        runs->stopped = true;
        status = SV_OK;
    }
    return status;
}

static sv_status run_all(struct app *app, struct sim *sim, struct runs *runs)
{
    const struct sim_options *given = sim->o;
    struct sim_options own = *given;
    uint64_t done = 0, all = given->num_seeds * runs->count;
    sv_status status = SV_OK;
    sim->o = &own;
    for (uint64_t s = 0; s < given->num_seeds; s++)
        for (size_t i = 0; i < runs->count && status == SV_OK && !runs->stopped; i++) {
            own.seed = given->first_seed + s;
            status = run(app, sim, &runs->all[i], runs);
            sim_end_run(app, sim);
            if (status == SV_OK && sv_progress(app->ctx, "runs", ++done, all) == SV_CANCELLED)
                runs->stopped = true;
        }
    sim->o = given;
    return status;
}

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
    struct runs runs = {0};
    bool dead = false;
    sv_status status = prepare(app, sim, &runs);
    if (status == SV_OK)
        status = run_all(app, sim, &runs);
    if (status == SV_OK && runs.stopped && runs.all[0].runs == 0)
        status = sv_fail(app->ctx, SV_CANCELLED, "cancelled before a run was over");
    if (status == SV_OK) {
        app->concluding = true;
        sim->setup.model = sim->o->model;
        if (sim->traffic == NULL)
            sim->traffic = "";
        status = tell(app, sim, &runs);
    }
    for (size_t i = 0; i < runs.count && runs.all != NULL; i++)
        dead = dead || runs.all[i].ends[SV_SIM_DEADLOCK] > 0;
    release(app, &runs);
    if (status != SV_OK)
        return app_exit(app, status);
    return runs.stopped ? EXIT_CANCELLED : dead ? EXIT_NO : EXIT_YES;
}
