/*
 * update_rehearse.c: updates in the simulator: each way, with so many seeds of delays; the traffic
 * is the same in all.
 *
 * Five phases need two sets of routes. Tables with one address a terminal get a second set, by
 * updn, on the VL after those in use, if there is one left.
 */
#include <stdio.h>

#include "selvage/update_shared.h"

/* ---- two sets ---- */

static sv_status compose(struct app *app, struct update *u)
{
    const sv_route_request asked = {.vls = 1, .seed = 1};
    const app_table_pair *x = &u->x;
    unsigned a = sv_sim_vls(x->f, x->carried), b = sv_sim_vls(x->f, x->r), vl = a > b ? a : b;
    sv_routes *high = NULL;
    if (vl >= u->vls)
        return sv_fail(app->ctx, SV_INFEASIBLE,
                       "five phases need a VL for themselves, and tables use %u of %u", vl, u->vls);
    SV_TRY(sv_route(app->ctx, x->f, "updn", &asked, &high, NULL));
    sv_status status = sv_update_two_sets(app->ctx, x->f, x->carried, high, vl, &u->before2);
    if (status == SV_OK)
        status = sv_update_two_sets(app->ctx, x->f, x->r, high, vl, &u->after2);
    sv_routes_free(high);
    u->composed = true;
    return status;
}

/* Tables for five phases, and a plan for their base entries. */
static sv_status make_two(struct app *app, struct update *u)
{
    const sv_update_request request = {.traffic = u->o->traffic};
    if (u->x.r->lmc == 0) {
        SV_TRY(compose(app, u));
    } else {
        u->before2 = u->x.carried;
        u->after2 = u->x.r;
    }
    return sv_update_plan(app->ctx, u->x.f, u->before2, u->after2, &request, &u->plan2);
}

/* ---- one run ---- */

/* Whether some hosts never subscribe, and meet entries that change; else all change at once. */
static bool is_outside(const struct update *u, const uint32_t *application)
{
    for (uint32_t t = 0; application != NULL && t < u->x.f->num_terminals; t++)
        if (application[t] == SV_NONE && sv_node_alive(u->x.f, (sv_node){u->x.f->num_switches + t}))
            return true;
    return false;
}

static void make_request(const struct update *u, unsigned way, uint64_t seed,
                         const uint32_t *application, sv_rehearsal_request *q)
{
    const struct update_options *o = u->o;
    *q = (sv_rehearsal_request){.way = (sv_rehearsal_way)way,
                                .plan = way != SV_REHEARSE_FIVE      ? u->plan
                                        : is_outside(u, application) ? u->plan2
                                                                     : NULL,
                                .control = {.limit = o->sim.limit_ticks},
                                .begin = o->begin_ticks,
                                .delay_min = o->delay_min,
                                .delay_max = o->delay_max,
                                .loss = (unsigned)o->loss,
                                .retry = o->retry_ticks,
                                .window = (uint32_t)o->window,
                                .ack = 1000 * SV_TICKS_PER_NS,
                                .settle = o->settle_ticks,
                                .five = {.retry = o->retry_ticks, .tries = 20},
                                .application = application,
                                .dead = SV_NONE,
                                .forward = 10 * 1000 * SV_TICKS_PER_NS,
                                .rest = o->rest_ticks,
                                .seed = seed};
}

/* A packet of a connection from before has its SL: as its VL tells, where VLs go by SL. */
static void guess_sls(const struct update *u, const sv_routes *before, struct update_tally *tally)
{
    for (size_t i = 0; i < tally->cycle_length; i++) {
        sv_wait *w = &tally->cycle[i];
        sv_node tail = u->x.f->tail[w->channel.i];
        const sv_sl2vl *vls = &before->vl_tables[before->vls_of[tail.i]];
        unsigned old = sv_route_sl(before, w->from, w->destination);
        if (old < SV_MAX_SLS && vls->of_sl[old] == w->vl &&
            (w->sl >= SV_MAX_SLS || vls->of_sl[w->sl] != w->vl))
            w->sl = (uint8_t)old;
    }
}

static sv_status note_deadlock(struct app *app, struct sim *sim, const sv_rehearsal *r,
                               uint64_t seed, struct update_tally *tally)
{
    if (r->together || tally->deadlocks++ > 0)
        return SV_OK;
    sim->result = r->sim;
    tally->deadlock_seed = seed;
    tally->deadlock_time = r->sim->stuck_since;
    tally->stuck = r->sim->num_stuck;
    return sim_find_cycle(app, sim, &tally->cycle, &tally->cycle_length);
}

static void add(struct update_tally *tally, const sv_rehearsal *r, uint64_t seed)
{
    tally->runs++;
    tally->done += r->done;
    tally->called_off += r->five.called_off > 0;
    tally->inconsistent += r->inconsistent;
    tally->blocks += r->blocks;
    tally->datagrams += r->datagrams;
    tally->lost += r->lost;
    tally->again += r->again;
    tally->steps = r->steps > tally->steps ? r->steps : tally->steps;
    tally->held += r->held;
    tally->held_max = r->held_max > tally->held_max ? r->held_max : tally->held_max;
    tally->drain_max = r->drain_max > tally->drain_max ? r->drain_max : tally->drain_max;
    tally->both_deadlock_free = r->both_deadlock_free;
    for (int i = 0; i < SV_SIM_INCIDENTS; i++) {
        if (tally->incidents[i] == 0 && r->sim->incidents[i] > 0)
            tally->first[i] = (struct update_first){seed, r->sim->example[i]};
        tally->incidents[i] += r->sim->incidents[i];
        tally->harmed[i] += r->harmed[i];
    }
    for (int i = 0; i < SV_REHEARSE_PHASES; i++)
        if (r->phase[i].until >= r->phase[i].from) {
            tally->time[i] += r->phase[i].until - r->phase[i].from;
            tally->bytes[i] += r->phase[i].bytes;
        }
}

/* One run of a way, whose tables are in sim. */
static sv_status run(struct app *app, struct update *u, struct sim *sim, unsigned way,
                     uint64_t seed, const uint32_t *application)
{
    const sv_routes *before = way == SV_REHEARSE_FIVE ? u->before2 : u->x.carried;
    sv_rehearsal_request q;
    sv_rehearsal *r = NULL;
    make_request(u, way, seed, application, &q);
    q.model = sim->setup.model;
    SV_TRY(sim_load_traffic(app, sim));
    u->traffic = sim->traffic;
    q.source = sim->setup.source;
    sv_status status = sv_rehearse(app->ctx, u->x.f, before, sim->r, &q, &r);
    sv_sim_traffic_free(sim->made);
    sim->made = NULL;
    u->cancelled = status == SV_CANCELLED || (r != NULL && r->sim->end == SV_SIM_CANCELLED);
    if (status == SV_OK && !u->cancelled) {
        add(&u->tally[way], r, seed);
        status = note_deadlock(app, sim, r, seed, &u->tally[way]);
        guess_sls(u, before, &u->tally[way]);
    }
    sim->result = NULL;
    sv_rehearsal_free(r);
    return u->cancelled ? SV_OK : status;
}

/* ---- all runs ---- */

/* Each job is an application; hosts without one never subscribed. *application: to be released. */
static sv_status find_applications(struct app *app, const struct update *u, uint32_t **application)
{
    sv_jobmap *jobs = NULL;
    if (u->o->sim.jobs == NULL)
        return SV_OK;
    *application = sv_alloc(app->ctx, (size_t)u->x.f->num_terminals + 1, sizeof **application);
    if (*application == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_jobmap_load(app->ctx, u->x.f, u->o->sim.jobs, &jobs));
    for (uint32_t t = 0; t < u->x.f->num_terminals; t++)
        (*application)[t] = SV_NONE;
    for (uint32_t j = jobs->num_jobs; j-- > 0;)
        for (uint32_t k = 0; k < jobs->jobs[j].num_terminals; k++)
            (*application)[jobs->jobs[j].terminals[k].i - u->x.f->num_switches] = j;
    sv_jobmap_free(jobs);
    return SV_OK;
}

static sv_status rehearse_way(struct app *app, struct update *u, unsigned way,
                              const uint32_t *application)
{
    struct update_tally *tally = &u->tally[way];
    struct sim sim = {.o = &u->o->sim, .f = u->x.f};
    sv_routes *after = way == SV_REHEARSE_FIVE ? u->after2 : u->x.r;
    const sv_routes *before = way == SV_REHEARSE_FIVE ? u->before2 : u->x.carried;
    sim.r = after;
    SV_TRY(sim_fit_model(app, &sim));
    unsigned vls = sv_sim_vls(u->x.f, before);
    if (sim.setup.model.vls < vls)
        sim.setup.model.vls = vls;
    tally->vls = sim.setup.model.vls;
    for (uint64_t k = 0; k < u->o->runs && !u->cancelled; k++)
        SV_TRY(run(app, u, &sim, way, u->o->seed + k, application));
    return SV_OK;
}

sv_status update_rehearse(struct app *app, struct update *u)
{
    uint32_t *application = NULL;
    const struct update_options *o = u->o;
    u->vls = o->vls == SIM_NOT_GIVEN ? sv_vls_offered(u->x.f) : (unsigned)o->vls;
    if (o->begin_ticks >= o->sim.limit_ticks)
        return sv_refuse(app->ctx, "a run stops (--limit) before the update begins (--begin)");
    sv_status status = find_applications(app, u, &application);
    if (status == SV_OK && o->ways[SV_REHEARSE_FIVE]) {
        status = make_two(app, u);
        if ((status == SV_INFEASIBLE || status == SV_BAD_INPUT) && !o->one) {
            snprintf(u->why_not, sizeof u->why_not, "%s", sv_ctx_message(app->ctx));
            u->tally[SV_REHEARSE_FIVE].why_not = u->why_not;
            status = SV_OK;
        }
    }
    for (unsigned way = 0; status == SV_OK && way < SV_REHEARSE_WAYS && !u->cancelled; way++)
        if (o->ways[way] && u->tally[way].why_not == NULL) {
            status = rehearse_way(app, u, way, application);
            bool refused = status == SV_INFEASIBLE || status == SV_BAD_INPUT;
            if (refused && !o->one && u->tally[way].runs == 0 && way == SV_REHEARSE_FIVE) {
                snprintf(u->why_not, sizeof u->why_not, "%s", sv_ctx_message(app->ctx));
                u->tally[way].why_not = u->why_not;
                status = SV_OK;
            }
        }
    sv_release(app->ctx, application);
    return status;
}
