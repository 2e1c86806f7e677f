/*
 * weave_plan.c: in which order homes are laid, what VLs begin with, whether there are detours: no
 * one plan is best everywhere, so several are tried and judged by a sample of destinations.
 *
 * dfsssp has no choice: shortest paths in the fewest VLs that are found. weave takes these, too,
 * if they fit and are well balanced. Else it compares them with others, with detours among them: on
 * an 18×14 torus with 4 VLs that lowers the busiest channel from 1,110 routes to 638.
 *
 * Invariant: at the end the VLs and trees are those of the plan that was chosen, enriched.
 * Cost: laying and a sample for each plan; the larger the fabric, the fewer plans.
 */
#include "base/rng.h"
#include "routing/weave.h"
#include "vls/vls.h"

enum { MAX_PLANS = 25, MAX_SHORTEST = 3 };

struct search {
    sv__weave *w;
    uint32_t *homes;
    unsigned used; /* VLs in all */
    sv__weave_plan plans[MAX_PLANS + MAX_SHORTEST];
    sv__grade grades[MAX_PLANS + MAX_SHORTEST];
    unsigned count;
};

static sv_status begin(struct search *x, sv__weave *w)
{
    *x = (struct search){.w = w};
    x->homes = SV_ARENA_NEW(w->job->arena, uint32_t, w->core.num_switches);
    return x->homes == NULL ? SV_NO_MEMORY : SV_OK;
}

/* Homes in an order that depends on the attempt, the first as they are numbered. */
static sv_status lay_all(struct search *x, sv__weave_plan plan)
{
    sv__weave *w = x->w;
    sv_rng rng;
    for (uint32_t s = 0; s < w->core.num_switches; s++)
        x->homes[s] = s;
    sv_rng_init(&rng, plan.attempt);
    if (plan.attempt > 0)
        sv_rng_shuffle(&rng, x->homes, w->core.num_switches);
    w->detours = plan.detours;
    SV_TRY(sv__weave_vls_begin(w, w->job->vls, plan));
    SV_TRY(sv__weave_lay(w, x->homes));
    return !w->detours && w->stranded > 0 && w->cdg.num_vls < w->job->vls ? sv__weave_rescue(w)
                                                                          : SV_OK;
}

/* ---- shortest paths ---- */

/* How often it is tried to do with fewer VLs, which small fabrics can afford. */
static unsigned attempts(uint32_t switches)
{
    return switches <= 32 ? 48 : switches <= 64 ? 3 : 1;
}

static sv__weave_plan shortest(unsigned attempt)
{
    return (sv__weave_plan){SV__SEED_NONE, attempt, false};
}

/* Without detours: the fewest VLs that are found. */
static sv_status lay_fewest(struct search *x, unsigned *best)
{
    unsigned min = SV_CDG_MAX_VLS + 1, tried = 0, *vls = &x->w->cdg.num_vls;
    for (; tried < attempts(x->w->core.num_switches) && min > 1; tried++) {
        SV_TRY(lay_all(x, shortest(tried)));
        *best = *vls < min ? tried : *best;
        min = *vls < min ? *vls : min;
    }
    return *best + 1 == tried ? SV_OK : lay_all(x, shortest(*best));
}

/* ---- plans ---- */

/*
 * Those with detours, in the order in which they are tried: all kinds as switches are numbered,
 * then those that differ when homes come in another order.
 */
static sv__weave_plan plan_at(unsigned i)
{
    static const sv__seed kinds[] = {SV__SEED_UPDN, SV__SEED_FIRST, SV__SEED_DEEP, SV__SEED_NONE,
                                     SV__SEED_LAST};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    if (i < KINDS)
        return (sv__weave_plan){kinds[i], 0, true};
    i -= KINDS; /* updn's order is always the same */
    return (sv__weave_plan){kinds[1 + i % (KINDS - 1)], 1 + i / (KINDS - 1), true};
}

/* How many of them a fabric can afford. */
static unsigned num_plans(uint32_t switches)
{
    return switches <= 128 ? MAX_PLANS : switches <= 512 ? 10 : switches <= 2048 ? 3 : 2;
}

/* VLs that a plan must leave: one for a spanning tree, if it has none and there is to be one. */
static unsigned spare_vls(const sv__weave *w, sv__weave_plan plan)
{
    return w->room && !plan.detours;
}

/* Judges what is laid, as one of the plans. */
static sv_status judge(struct search *x, sv__weave_plan plan)
{
    sv__weave *w = x->w;
    sv__grade *grade = &x->grades[x->count];
    x->plans[x->count++] = plan;
    bool fits = w->turns != NULL || w->cdg.num_vls + spare_vls(w, plan) <= w->job->vls;
    SV_TRY(sv__weave_enrich(w, x->used));
    SV_TRY(sv__weave_sample(w, w->core.num_switches <= 512 ? 4 : 1, grade));
    grade->lost = fits ? grade->lost + w->stranded : UINT64_MAX;
    return SV_OK;
}

/* Paths that are not there come first, then busiest channel and hops together. */
static bool better(const sv__grade *a, const sv__grade *b)
{
    if (a->lost != b->lost)
        return a->lost < b->lost;
    double h = (double)a->hops / (double)b->hops;
    return (double)a->busiest * h * h * h * h < (double)b->busiest;
}

/* The best of the plans; with one VL, of those with no longer paths than updn's order gives. */
static unsigned best_plan(const struct search *x)
{
    unsigned best = SV_NONE;
    uint64_t max = UINT64_MAX;
    for (unsigned i = 0; i < x->count && x->w->job->vls == 1; i++)
        if (x->plans[i].seed == SV__SEED_UPDN && x->grades[i].lost == 0)
            max = x->grades[i].hops;
    for (unsigned i = 0; i < x->count; i++)
        if ((x->grades[i].hops <= max || x->grades[i].lost > 0) &&
            (best == SV_NONE || better(&x->grades[i], &x->grades[best])))
            best = i;
    return best;
}

/* Tries plans with detours, and lays the best of all. */
static sv_status choose(struct search *x, unsigned plans)
{
    enum { ENOUGH = 3 };
    bool done = false; /* where all paths are shortest there is little left to gain */
    for (unsigned i = 0; i < plans && (i < ENOUGH || !done); i++) {
        if (x->w->room && plan_at(i).seed == SV__SEED_NONE)
            continue;
        SV_TRY(lay_all(x, plan_at(i)));
        SV_TRY(judge(x, plan_at(i)));
        const sv__grade *grade = &x->grades[x->count - 1];
        done = done || (grade->lost == 0 && grade->longer == 0);
    }
    unsigned best = best_plan(x);
    if (best + 1 == x->count)
        return SV_OK;
    SV_TRY(lay_all(x, x->plans[best]));
    return sv__weave_enrich(x->w, x->used);
}

sv_status sv__weave_lay_best(sv__weave *w, unsigned used)
{
    struct search x;
    SV_TRY(begin(&x, w));
    x.used = used;
    return choose(&x, num_plans(w->core.num_switches));
}

/* Whether shortest paths are much worse balanced than they could be at best. */
static bool unbalanced(const struct search *x)
{
    uint64_t mean = x->grades[0].hops / (x->w->core.num_entries + 1) + 1;
    return x->grades[0].busiest > mean + mean * 3 / 10;
}

/* Shortest paths fit: as they are, or something better. */
static sv_status compare(struct search *x, unsigned attempt)
{
    enum { LARGEST = 512, DETOURS = 5 };
    if (x->w->core.num_switches > LARGEST)
        return sv__weave_enrich(x->w, x->used);
    SV_TRY(judge(x, shortest(attempt)));
    if (!unbalanced(x))
        return SV_OK;
    for (unsigned i = 1; i < MAX_SHORTEST; i++) {
        SV_TRY(lay_all(x, shortest(attempt + i)));
        SV_TRY(judge(x, shortest(attempt + i)));
    }
    return choose(x, DETOURS);
}

sv_status sv__weave_lay_shortest(sv__weave *w, unsigned *needed, unsigned *used)
{
    sv__routing_job *job = w->job;
    struct search x;
    unsigned attempt = 0;
    bool detours = w->detours;
    SV_TRY(begin(&x, w));
    w->spare_detours = detours;
    SV_TRY(lay_fewest(&x, &attempt));
    bool fits = w->cdg.num_vls + w->room <= job->vls && w->stranded == 0;
    if (!fits && !detours)
        return sv_fail(job->ctx, SV_INFEASIBLE, "%s needs %u VLs, %u %s there", w->name,
                       w->cdg.num_vls, job->vls, job->vls == 1 ? "is" : "are");
    *needed = fits ? w->cdg.num_vls : job->vls;
    *used = x.used = sv_vls_to_use(*needed, job->vls);
    job->vls = *used; /* plans with detours begin all VLs that there are */
    if (!detours)
        return sv__weave_enrich(w, *used);
    return fits ? compare(&x, attempt) : choose(&x, num_plans(w->core.num_switches));
}
