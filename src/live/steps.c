/*
 * steps.c: tables reach switches step by step where all at once could do harm.
 *
 * A subnet manager sends all blocks of a sweep at once, and switches take them as they come. Where
 * that is not safe, update/ is asked for steps that are; each is handed over in a sweep of its own,
 * when switches have confirmed the one before (stages.c).
 *
 * If there are no such steps for all of it, and nothing is broken (other jobs run, or repairs have
 * drifted), as much is changed as can be without harm, and the rest stays as it is: tables of old
 * and new rows, which are proven as all others are. Not so where these tables and no others are
 * wanted: pinned ones, those of before, and whenever somebody asks for all of it.
 *
 * What is broken waits for one such queue, not for another: if yet another change comes before it
 * is mended, all is handed over at once, or a cable that comes and goes could keep it broken for
 * ever.
 *
 * Cost: as sv_update_plan, which is given as long as routing and proving took (and a second); on
 * large fabrics nothing is looked for.
 */
#include <stdio.h>

#include "live/live.h"

enum {
    MAX_STEPS = 24,     /* a step is a sweep */
    MAX_WORK = 1 << 23, /* switches × destinations */
};

static bool is_wanted(const sv_live *live, unsigned flags, const sv__live_candidate *c)
{
    bool harmless = c->passage == SV_PASSAGE_NONE || c->passage == SV_PASSAGE_ANY_ORDER ||
                    c->passage == SV_PASSAGE_UNJUDGED;
    return live->options.update == SV_LIVE_STEPS && !harmless && !(flags & SV_LIVE_UNKNOWN) &&
           live->now.routes != NULL && live->now.routes->lmc == c->routes->lmc;
}

/* Whether it is these tables that are wanted, and not others that are nearly as good. */
static bool is_exact(unsigned flags, const sv__live_candidate *c)
{
    return flags & SV_LIVE_ANEW || c->how == SV_LIVE_PINNED || c->how == SV_LIVE_RETURNED;
}

/* Nobody has a path that broke until this is over. */
static void start_clock(sv_live *live)
{
    const uint64_t grace_ns = 1000000000;
    uint64_t own = 2 * live->engine_ns + grace_ns, given = live->options.budget_ns;
    live->overran = false;
    live->deadline_ns = sv_now_ns(live->ctx) + (given > 0 && given < own ? given : own);
}

/* A plan that takes too long is none. */
static sv_status stop_clock(sv_live *live, sv_status status)
{
    live->deadline_ns = 0;
    return status == SV_CANCELLED && live->overran ? SV_INFEASIBLE : status;
}

/* A plan; NULL: there is none. Of statuses only those count that have nothing to do with it. */
static sv_status plan(sv_live *live, const sv_fabric *f, const sv_routes *held,
                      const sv__live_candidate *c, sv_update **made)
{
    const sv_update_request request = {
        .traffic = live->options.traffic, .max_steps = MAX_STEPS, .partial = true};
    sv_update *u = NULL;
    start_clock(live);
    sv_status status = stop_clock(live, sv_update_plan(live->ctx, f, held, c->whole, &request, &u));
    if (status == SV_NO_MEMORY || status == SV_CANCELLED || status == SV_IO)
        return status;
    if (status == SV_OK && (u->steps == 0 || u->steps > MAX_STEPS || u->must_pairs > 0)) {
        sv_update_free(u);
        u = NULL;
    }
    *made = u;
    return SV_OK;
}

/* Whether tables that a partial plan comes to will do, with the trees of the whole ones, and all of
 * its steps; the candidate has them. */
static sv_status judge_part(sv_live *live, const sv_fabric *f, const sv_routes *held,
                            const sv_update *u, sv__live_candidate *c, bool *fine)
{
    uint32_t bad = SV_NONE;
    sv_status status = sv__live_verify_again(live, f, c);
    *fine = false;
    if (status == SV_INFEASIBLE || (status == SV_OK && !c->whole_reach))
        return SV_OK;
    SV_TRY(status);
    start_clock(live);
    status = stop_clock(
        live, sv_update_prove(live->ctx, f, held, c->whole, u, live->options.traffic, &bad));
    *fine = status == SV_OK && bad == SV_NONE;
    if (!*fine)
        return status == SV_INFEASIBLE ? SV_OK : status;
    SV_TRY(sv__live_keep_orders(live, f, c));
    return sv_routes_load(live->ctx, f, c->routes, NULL, &c->load);
}

/* The candidate becomes as much of itself as can be reached without harm, if it can. */
static sv_status take_part(sv_live *live, const sv_fabric *f, const sv_routes *held,
                           const sv_update *u, sv__live_candidate *c, bool *taken)
{
    sv_routes *whole = c->routes, *part = NULL;
    SV_TRY(sv_update_tables(live->ctx, f, held, whole, u, u->steps, false, &part));
    sv_status status = sv_routes_set_orders(live->ctx, f, part, 0, NULL); /* others' */
    c->routes = part;
    if (status == SV_OK)
        status = judge_part(live, f, held, u, c, taken);
    if (status == SV_OK && *taken) {
        sv_routes_free(whole);
        snprintf(live->report.note, sizeof live->report.note,
                 "%llu of %llu destinations that would change stay as they are: there is no safe "
                 "order for them",
                 (unsigned long long)u->left, (unsigned long long)(u->left + u->moved));
        return SV_OK;
    }
    sv_routes_free(part);
    c->routes = whole;
    return status == SV_OK ? sv__live_verify_again(live, f, c) : status;
}

sv_status sv__live_find_steps(sv_live *live, const sv_fabric *f, unsigned flags,
                              sv__live_candidate *c, sv__stages *stages)
{
    const sv__set from = {.fabric = live->now.fabric,
                          .routes =
                              live->stages.held != NULL ? live->stages.held : live->now.routes};
    sv__stages made = {0};
    bool taken = true;
    if (!is_wanted(live, flags, c) ||
        (uint64_t)f->num_switches * c->routes->num_destinations > MAX_WORK)
        return SV_OK;
    SV_TRY(sv__live_carry(live->ctx, &from, f, &made.held));
    made.broken = sv__live_has_lost(f, made.held, c->routes, true);
    if (made.broken && live->stages.plan != NULL && live->stages.broken) {
        sv__live_stages_release(&made);
        return SV_OK;
    }
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
        made.fits |= (uint16_t)((c->trees[sl] != NULL) << sl);
    sv_status status = plan(live, f, made.held, c, &made.plan);
    if (status == SV_OK && made.plan != NULL && made.plan->left > 0) {
        taken = false;
        if (!is_exact(flags, c) && !made.broken)
            status = take_part(live, f, made.held, made.plan, c, &taken);
    }
    if (status == SV_OK && made.plan != NULL && taken)
        status = sv_routes_clone(live->ctx, made.held, &made.from);
    if (status != SV_OK || made.plan == NULL || !taken) {
        sv__live_stages_release(&made);
        return status;
    }
    made.count = made.plan->steps;
    made.proven = true;
    c->passage = made.count > 1 ? SV_PASSAGE_STEPS : SV_PASSAGE_ANY_ORDER;
    c->steps = made.count;
    c->stepwise = true;
    *stages = made;
    return SV_OK;
}
