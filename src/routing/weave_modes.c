/*
 * weave_modes.c: weave where SLs may not be chosen freely for each source and destination.
 *
 * - One SL for all: two VLs by turn (weave_turns.c).
 * - The same SL in both directions of a pair: an SL stands for two VLs by turn. Trees are laid in
 *   one such pair of VLs, and the others get as many of the same paths as they can have. For any
 *   two switches it is kept which SLs are open to all paths between them, both ways; a tree that
 *   would leave none is not taken. What was laid never does that: it is open to all that is left.
 * - SLs by destination: a VL for each home, in which its trees are laid; others are taken where
 *   shortest paths are open in them.
 *
 * Invariant: whatever the mode, every path that counts has a VL that has all its turns.
 * Cost: reversible: 8 bytes for any two switches.
 */
#include <string.h>

#include "base/rng.h"
#include "routing/weave.h"
#include "vls/vls.h"

/* ---- by source and destination ---- */

/* Each path goes to the least loaded VL that is open to it. */
static void record_pair(sv__weave *w, sv__pick *p)
{
    const sv__wtree *t = &w->tree;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t s = t->order[i];
        unsigned best = 0;
        uint64_t min = UINT64_MAX;
        for (sv_vl_mask m = t->open[s]; m != 0; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctzll(m);
            best = p->load[l] < min ? l : best;
            min = p->load[l] < min ? p->load[l] : min;
        }
        p->load[best] += p->terminal ? w->sources[s] : 0;
        p->sls[s] = (uint8_t)best;
    }
}

const sv__mode sv__mode_pair = {SV_SL_BY_SWITCH, NULL, record_pair};

/* ---- one ---- */

static const sv__mode mode_one = {SV_SL_CONSTANT, NULL, NULL};

sv_status sv__weave_run_one(sv__weave *w)
{
    sv__routing_job *job = w->job;
    job->vls = SV__PAIR;
    w->mode = &mode_one;
    SV_TRY(sv__turns_init(w));
    SV_TRY(sv__weave_lay_best(w, 0));
    SV_TRY(sv__weave_spread(w));
    SV_TRY(sv__turns_finish(w, &job->report->vls_used));
    job->report->sls_used = 1;
    return SV_OK;
}

/* ---- the same both ways ---- */

struct reversible {
    sv_vl_mask *both; /* [switch][switch]: first VLs of the SLs that all paths can have */
    uint64_t *load;   /* [SLs]: terminals' paths */
};

static sv_vl_mask *both_of(const sv__weave *w, uint32_t a, uint32_t b)
{
    const struct reversible *x = w->own;
    return &x->both[(size_t)(a < b ? a : b) * w->core.num_switches + (a < b ? b : a)];
}

static void prepare_both(sv__weave *w, const sv__dag *dag)
{
    for (uint32_t i = 1; i < dag->count; i++)
        w->want[dag->order[i]] = *both_of(w, dag->order[i], dag->order[0]);
}

/* SLs that a path has no VL for are none for the pair, either way. */
static void narrow(sv__weave *w)
{
    const sv__wtree *t = &w->tree;
    for (uint32_t i = 1; i < t->count; i++) {
        sv_vl_mask *both = both_of(w, t->order[i], t->home);
        if ((*both & t->open[t->order[i]]) != 0) /* else it is counted as unsafe */
            *both &= t->open[t->order[i]];
    }
}

static void record_both(sv__weave *w, sv__pick *p)
{
    (void)p;
    narrow(w);
}

static const sv__mode mode_reversible = {SV_SL_CONSTANT, prepare_both, record_both};

/* Pairs of VLs beside the first, and which of them the trees that are laid have both ways. */
static sv_status add_pairs(sv__weave *w, unsigned pairs)
{
    uint32_t n = w->core.num_switches, *homes = SV_ARENA_NEW(w->job->arena, uint32_t, n);
    sv_rng rng;
    if (homes == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        homes[s] = n - 1 - s;
    sv_rng_init(&rng, 1);
    for (unsigned i = 1; i < pairs; i++) {
        SV_TRY(sv__turns_add_pair(w, homes));
        sv_rng_shuffle(&rng, homes, n);
    }
    sv__turns_enrich(w);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a; b < n; b++)
            *both_of(w, a, b) = SV__FIRST_VLS >> (SV_CDG_MAX_VLS - sv__weave_num_vls(w));
    for (uint32_t home = 0; home < n; home++) {
        sv__wtree_use_laid(w, home);
        narrow(w);
    }
    return SV_OK;
}

/* Of the SLs that two switches have left, that with the fewest paths. */
static void choose(sv__weave *w, uint32_t a, uint32_t b)
{
    struct reversible *x = w->own;
    sv_vl_mask *both = both_of(w, a, b), left = *both;
    unsigned best = 0;
    uint64_t min = UINT64_MAX;
    for (; left != 0; left &= left - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(left) / SV__PAIR;
        best = x->load[sl] < min ? sl : best;
        min = x->load[sl] < min ? x->load[sl] : min;
    }
    *both = best;
    x->load[best] += (uint64_t)w->core.terminals[a] * w->core.terminals[b];
}

static sv_status write_sls(sv__weave *w)
{
    sv__routing_job *job = w->job;
    sv_routes *r = job->routes;
    for (uint32_t a = 0; a < r->num_switches; a++)
        for (uint32_t b = a; b < r->num_switches; b++)
            choose(w, a, b);
    SV_TRY(sv_routes_set_sl_form(job->ctx, r, SV_SL_BY_SWITCH));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        uint32_t home = sv__home_of(job, d);
        uint8_t *sls = sv_routes_sl_row(job->ctx, r, d);
        if (sls == NULL)
            return SV_NO_MEMORY;
        for (uint32_t s = 0; s < r->num_switches; s++)
            sls[s] = home == SV_NONE ? 0 : (uint8_t)*both_of(w, s, home);
    }
    return SV_OK;
}

sv_status sv__weave_run_reversible(sv__weave *w)
{
    sv__routing_job *job = w->job;
    size_t n = w->core.num_switches;
    unsigned vls = job->vls < SV_HARDWARE_VLS ? job->vls : SV_HARDWARE_VLS;
    unsigned pairs = vls / SV__PAIR;
    if (pairs < 2)
        return sv__weave_run_one(w);
    struct reversible x = {.both = SV_ARENA_NEW(job->arena, sv_vl_mask, n * n),
                           .load = SV_ARENA_NEW(job->arena, uint64_t, pairs)};
    if (x.both == NULL || x.load == NULL)
        return SV_NO_MEMORY;
    w->own = &x;
    w->mode = &mode_reversible;
    job->vls = SV__PAIR;
    SV_TRY(sv__turns_init(w));
    SV_TRY(sv__weave_lay_best(w, 0));
    SV_TRY(add_pairs(w, pairs));
    SV_TRY(sv__weave_spread(w));
    SV_TRY(write_sls(w));
    SV_TRY(sv__turns_finish(w, &job->report->vls_used));
    job->report->sls_used = pairs;
    return SV_OK;
}

/* ---- by destination ---- */

/* VLs in which trees are laid; more would leave each too few turns. Further ones share theirs. */
enum { MAX_BY_DESTINATION = 4 };

/* The least loaded VL in which all shortest paths are open, or that in which it is laid. */
static void prepare_vl(sv__weave *w, const sv__dag *dag)
{
    sv_vl_mask tried = 0;
    for (unsigned i = 0; i < w->cdg.num_vls; i++) {
        unsigned best = 0;
        uint64_t min = UINT64_MAX;
        for (unsigned l = 0; l < w->cdg.num_vls; l++)
            if (!(tried >> l & 1) && w->load[l] < min) {
                min = w->load[l];
                best = l;
            }
        w->play = (sv_vl_mask)1 << best;
        tried |= w->play;
        if (sv__weave_grow(w, dag))
            return;
    }
    w->play = sv__weave_home_vls(w, dag->order[0]);
}

static void record_vl(sv__weave *w, sv__pick *p)
{
    unsigned vl = (unsigned)__builtin_ctzll(w->play);
    p->sls[p->destination] = (uint8_t)vl;
    p->load[vl] += p->terminal;
}

static const sv__mode mode_destination = {SV_SL_BY_DESTINATION, prepare_vl, record_vl};

sv_status sv__weave_run_destination(sv__weave *w)
{
    sv__routing_job *job = w->job;
    unsigned used = sv_vls_to_use(1, job->vls);
    job->vls = used < MAX_BY_DESTINATION ? used : MAX_BY_DESTINATION;
    w->mode = &mode_destination;
    w->by_destination = true;
    SV_TRY(sv__weave_lay_best(w, job->vls));
    SV_TRY(sv__weave_spread(w));
    used -= used % job->vls;
    uint8_t *sls = sv_routes_sl_row(job->ctx, job->routes, 0);
    if (sls == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < job->routes->num_destinations; d++)
        sls[d] = (uint8_t)(sls[d] == SV_NO_SL ? 0 : sls[d] + d * job->vls % used);
    job->report->vls_used = job->report->sls_used = used;
    return sv_sl2vl_identity(job->ctx, job->routes, used);
}

/* ---- tables that fit one VL, spread over those there are ---- */

static sv_status share_by_destination(sv__routing_job *job, unsigned vls)
{
    sv_routes *r = job->routes;
    SV_TRY(sv_routes_set_sl_form(job->ctx, r, SV_SL_BY_DESTINATION));
    uint8_t *sls = sv_routes_sl_row(job->ctx, r, 0);
    if (sls == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < r->num_destinations; d++)
        sls[d] = (uint8_t)(d % vls);
    return SV_OK;
}

static sv_status share_both_ways(sv__routing_job *job, unsigned vls)
{
    sv_routes *r = job->routes;
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        uint32_t home = sv__home_of(job, d);
        uint8_t *sls = sv_routes_sl_row(job->ctx, r, d);
        if (sls == NULL)
            return SV_NO_MEMORY;
        for (uint32_t s = 0; s < r->num_switches; s++)
            sls[s] = home == SV_NONE ? 0 : (uint8_t)((s + home) % vls);
    }
    return SV_OK;
}

sv_status sv__weave_share(sv__routing_job *job, unsigned vls)
{
    unsigned used = sv_vls_to_use(1, vls);
    if (job->request->sl_mode == SV_SLS_ONE)
        return sv_routes_set_sl_form(job->ctx, job->routes, SV_SL_CONSTANT);
    SV_TRY(job->request->sl_mode == SV_SLS_DESTINATION ? share_by_destination(job, used)
                                                       : share_both_ways(job, used));
    job->report->vls_used = job->report->sls_used = used;
    return sv_sl2vl_identity(job->ctx, job->routes, used);
}
