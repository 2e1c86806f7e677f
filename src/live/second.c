/*
 * second.c: second thoughts about tables that were found.
 *
 * Repaired tables that are much worse than those they come from give way to new ones, if these are
 * better. And with careful, to go back to tables of before, or to follow other jobs, in a way that
 * might deadlock is not worth it if those of now can be mended (or left alone) without asking
 * anybody to be quiet. A map that is not followed for that reason is excused (jobs.c).
 *
 * After a restart the tables of the state file are those of now. A subnet manager that starts says
 * that switches may hold anything; what it is careful about is the likely case, that they hold what
 * the state file says.
 *
 * Invariant: a map is excused only while tables of other jobs, or of none, are in use.
 * Cost: as routing and verifying once more, at most.
 */
#include <stdio.h>

#include "live/live.h"

/* Whether tables have become so much worse by repairs that all should be routed anew. */
static bool has_drifted(const sv_live *live, const sv__live_candidate *c)
{
    unsigned percent = live->options.drift_percent;
    return c->how == SV_LIVE_REPAIRED && percent > 0 && live->routed_efi > 0 &&
           (double)c->load.max > (double)live->routed_efi * (1 + percent / 100.0);
}

/* Whether a change cannot deadlock though all of it is sent at once, which subnet managers do. */
static bool is_safe(sv_passage passage)
{
    return passage == SV_PASSAGE_NONE || passage == SV_PASSAGE_ANY_ORDER ||
           passage == SV_PASSAGE_LOSSY;
}

static const char not_followed[] =
    "to follow the jobs could deadlock for a moment: reroute when it is quiet";

/* Whether the tables there are for other jobs than those that run, and nothing else is asked for.
 */
static bool has_other_jobs(const sv_live *live, unsigned flags)
{
    const sv__set *before = live->now.routes != NULL ? &live->now : &live->kept;
    return before->routes != NULL && !(flags & SV_LIVE_ANEW) && !sv__live_jobs_fit(live, before);
}

static void excuse(sv_live *live)
{
    live->excusing = true;
    live->excused = live->jobs_key.digest;
}

void sv__live_shun(sv_live *live, const sv_fabric *f, unsigned flags, const sv__live_candidate *c,
                   bool *stay, sv_live_report *report)
{
    bool mere = has_other_jobs(live, flags) && live->report.whole &&
                sv__live_same(live->now.fabric, f); /* nothing but the jobs changed */
    if (!live->options.careful || c->passage == SV_PASSAGE_UNJUDGED || is_safe(c->passage) ||
        c->stepwise || !mere)
        return;
    excuse(live);
    snprintf(report->note, sizeof report->note, "%s", not_followed);
    *stay = true;
}

/* How it is to go to a candidate; after a restart, from the tables of the state file. */
static sv_status foresee(sv_live *live, const sv_fabric *f, unsigned flags,
                         const sv__live_candidate *c, sv_passage *passage)
{
    sv__live_candidate guess = *c;
    if (live->now.routes == NULL)
        flags &= ~(unsigned)SV_LIVE_UNKNOWN;
    sv_status status = sv__live_passage(live, f, flags, &guess);
    *passage = guess.passage;
    return status;
}

/* Tables that need no risk: those before, as they are or mended. */
static sv_status find_other(sv_live *live, const sv_fabric *f, unsigned flags, bool drifted,
                            sv__live_candidate *other, sv_passage *passage, sv_live_report *report)
{
    if (drifted) {
        SV_TRY(sv__live_go(live, f, sv__live_routed, SV_LIVE_ROUTED, other, report));
    } else {
        if (live->now.routes == NULL)
            SV_TRY(sv__live_go(live, f, sv__live_kept, SV_LIVE_RETURNED, other, report));
        if (other->routes == NULL || !other->whole_reach)
            SV_TRY(sv__live_go(live, f, sv__live_repaired, SV_LIVE_REPAIRED, other, report));
    }
    if (other->routes == NULL)
        return SV_OK;
    SV_TRY(foresee(live, f, flags, other, passage));
    other->passage = flags & SV_LIVE_UNKNOWN ? SV_PASSAGE_UNJUDGED : *passage;
    return SV_OK;
}

static const char *note_of(bool jobs, bool drifted, bool taken)
{
    if (jobs)
        return not_followed;
    if (!drifted)
        return "to go back to the tables of before could deadlock for a moment: reroute when it is "
               "quiet";
    return taken
               ? "routed anew: repairs had made the busiest channel too busy"
               : "the busiest channel has become much busier by repairs: reroute when it is quiet";
}

sv_status sv__live_reconsider(sv_live *live, const sv_fabric *f, unsigned flags,
                              sv__live_candidate *best, sv_live_report *report)
{
    bool careful = live->options.careful, drifted = has_drifted(live, best);
    bool jobs = has_other_jobs(live, flags);
    sv_passage passage = best->passage;
    sv__live_candidate other = {0};
    if (careful && jobs)
        SV_TRY(foresee(live, f, flags, best, &passage));
    bool back = best->how == SV_LIVE_RETURNED && live->now.routes != NULL;
    bool risky = careful && !is_safe(passage) && !best->stepwise &&
                 (back || (jobs && passage != SV_PASSAGE_UNJUDGED));
    if (!drifted && !risky)
        return SV_OK;
    if (risky && jobs)
        excuse(live);
    sv_status status = find_other(live, f, flags, drifted, &other, &passage, report);
    bool take = status == SV_OK && other.routes != NULL && other.whole_reach &&
                (drifted ? other.load.max < best->load.max && (!careful || is_safe(passage))
                         : is_safe(passage));
    if (take) {
        sv__live_candidate spare = *best;
        *best = other;
        other = spare;
    } else if (risky && jobs) {
        live->excusing = false;
    }
    bool followed = take && risky && jobs && best->how == SV_LIVE_ROUTED; /* after all */
    if ((take || drifted) && !followed)
        snprintf(live->report.note, sizeof live->report.note, "%s",
                 note_of(risky && jobs, drifted, take));
    sv__live_candidate_release(&other);
    return status;
}
