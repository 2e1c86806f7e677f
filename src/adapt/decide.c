/*
 * decide.c: what a source does when it hears of its paths: zones, opening and closing, solutions
 * applied and kept (points 3 to 6, 9, 13 to 15, 17).
 *
 * An acknowledgement changes the latency of its path. While a path that was opened has not been
 * heard of, or a solution is on trial, that is all: one thing is tried at a time, and judged by
 * what it did. Otherwise the zone is found anew, and
 *
 *     other to high   solution that is alike, or a path is opened
 *     high to other   flows and paths are kept
 *     high            a path is opened
 *     low             the path opened last is closed (unless held), flows are forgotten
 *
 * An episode is the time from going high to leaving it. Its flows are those known when it begins
 * (or the first that come in it): what the source knows at the same point next time.
 *
 * Invariants: path 0 is open; paths opened minus closed is what is open beside it; a solution's
 * paths are known to its pair.
 *
 * Cost: O(paths), and O(solutions × flows) when a zone goes high or leaves it. Source: thesis
 * 3.2.3 to 3.2.8, A.2; the trend and point 17 are ours (5.2).
 */
#include "adapt/balance.h"

static void tell(const sv__balance *b, sv__saw_kind kind, const sv__drb_pair *p, uint64_t now,
                 uint32_t path, const sv__solution *s)
{
    sv__tell(b, &(sv__saw){.kind = kind, .time = now, .pair = p, .path = path, .solution = s});
}

static void changed(sv__balance *b, sv__drb_pair *p)
{
    sv_adapt_report *report = &b->a->report;
    /*~trend_kept*/ if (p->trend != NULL)
        sv__trend_forget(p->trend);
    if (p->meta.count > report->max_paths)
        report->max_paths = p->meta.count;
    report->pairs += p->meta.count > 1 && !p->several;
    p->several |= p->meta.count > 1;
}

static double empty_of(const sv__balance *b, const sv__drb_pair *p, uint32_t path)
{
    return /*~empty_path*/ (double)sv__ways_empty(b->a, p->from, p->paths[path].channels, b->full);
}

/* The next candidate that is not open, if there may be more. */
static sv_status open_next(sv__balance *b, sv__drb_pair *p, uint64_t now)
{
    if (/*~alone_opens*/ p->held && p->meta.count == 1)
        return SV_OK; /* known to need no other */
    SV_TRY(sv__pairs_search(b, p));
    if (/*~paths_less*/ p->meta.count >= b->a->set.paths)
        return SV_OK;
    for (uint32_t i = 0; i < p->num_order; i++) {
        uint32_t path = p->order[/*~order_last*/ i];
        if (sv__metapath_find(&p->meta, path) != UINT32_MAX)
            continue;
        sv__metapath_open(&p->meta, path, empty_of(b, p, path), 0);
        p->probe = path;
        b->a->report.opened++;
        changed(b, p);
        tell(b, SV__SAW_OPENED, p, now, path, NULL);
        return SV_OK;
    }
    return SV_OK;
}

static void close_last(sv__balance *b, sv__drb_pair *p, uint64_t now)
{
    if (p->meta.count < 2)
        return;
    /*~close_none*/ uint32_t path = sv__metapath_close(&p->meta);
    b->a->report.closed++;
    changed(b, p);
    tell(b, SV__SAW_CLOSED, p, now, path, NULL);
}

/* ---- solutions ---- */

static sv_adapt_router *router_of(sv__balance *b, const sv__solution *s)
{
    return s->flows.router != SV_NONE ? &b->a->routers[s->flows.router] : NULL;
}

static void count_applied(sv__balance *b, sv__solution *s)
{
    sv_adapt_report *report = &b->a->report;
    sv_adapt_router *router = router_of(b, s);
    s->applied++;
    report->applied++;
    report->repeated += s->applied == 1;
    if (s->applied > report->max_applied)
        report->max_applied = s->applied;
    if (router != NULL) {
        router->applied++;
        router->repeated += s->applied == 1;
    }
}

/* Its paths are the metapath; those that are open keep what is known of them. */
static sv_status apply(sv__balance *b, sv__drb_pair *p, uint64_t now, sv__solution *s)
{
    SV_TRY(sv__pairs_search(b, p));
    tell(b, SV__SAW_APPLIED, p, now, SV__NO_PATH, s);
    sv__metapath made = {b->scratch, 0};
    made.at[made.count++] = p->meta.at[0];
    for (uint32_t i = 0; i < s->num_paths && made.count < b->a->set.paths; i++) {
        uint32_t path = s->paths[i].path, at = sv__metapath_find(&p->meta, path);
        if (path == 0)
            continue;
        if (at != UINT32_MAX) {
            /*~paths_anew*/ made.at[made.count++] = p->meta.at[at];
            continue;
        }
        sv__metapath_open(&made, path, empty_of(b, p, path), /*~paths_empty*/ s->paths[i].waited);
        b->a->report.opened++;
        tell(b, SV__SAW_OPENED, p, now, path, NULL);
    }
    for (uint32_t i = 0; i < p->meta.count; i++)
        if (sv__metapath_find(&made, p->meta.at[i].path) == UINT32_MAX) {
            b->a->report.closed++;
            tell(b, SV__SAW_CLOSED, p, now, p->meta.at[i].path, NULL);
        }
    for (uint32_t i = 0; i < made.count; i++)
        p->meta.at[i] = made.at[i];
    p->meta.count = made.count;
    /*~probe_solution*/ p->probe = SV__NO_PATH;
    p->trial = /*~trial_longer*/ b->a->set.trial;
    /*~held_other*/ p->applied = p->last = s;
    count_applied(b, s);
    changed(b, p);
    return SV_OK;
}

/* The solution for the flows of this episode, if it would change anything. */
static sv_status try_solution(sv__balance *b, sv__drb_pair *p, uint64_t now, bool *applied)
{
    *applied = false;
    sv__solution *s = sv__store_find(&p->store, &p->episode, b->a->set.similar);
    if (s == NULL)
        return SV_OK;
    if (/*~open_applied*/ sv__solution_covered(s, &p->meta)) {
        /*~open_failed*/ s->failed = true;
        return SV_OK;
    }
    *applied = true;
    return apply(b, p, now, s);
}

sv_status sv__decide_keep(sv__balance *b, sv__drb_pair *p, uint64_t now, const sv__flows *flows,
                          double latency)
{
    if (flows->count == 0 /*~keep_alone*/ || p->meta.count < 2)
        return SV_OK;
    sv_adapt_report *report = &b->a->report;
    sv__solution *s = sv__store_find(&p->store, flows, b->a->set.similar);
    bool added = s == NULL;
    if (/*~keep_newest*/ !added && latency >= s->latency && !s->failed)
        return SV_OK;
    if (added && (s = sv__store_add(&p->store, &b->shelf)) == NULL)
        return SV_NO_MEMORY;
    sv__solution_fill(s, flows, &p->meta, latency, b->shelf.max_paths);
    report->patterns += added;
    report->improved += !added;
    if (added && router_of(b, s) != NULL)
        router_of(b, s)->patterns++;
    tell(b, added ? SV__SAW_KEPT : SV__SAW_IMPROVED, p, now, SV__NO_PATH, s);
    return SV_OK;
}

/* ---- zones ---- */

/* Flows for which it is high; none may be known yet. */
static void begin_episode(sv__drb_pair *p, const sv__flows *flows)
{
    p->episode.count = 0;
    p->asked = false;
    if (flows->count > 0)
        sv__flows_copy(&p->episode, flows);
}

/* It is high, and nothing is being tried. */
static sv_status high(sv__balance *b, sv__drb_pair *p, uint64_t now)
{
    bool begins = p->zone != SV__HIGH, applied = false;
    p->zone = SV__HIGH;
    if (begins)
        begin_episode(p, &p->newest);
    if (b->predictive && p->episode.count > 0 && !p->asked) {
        p->asked = true;
        SV_TRY(try_solution(b, p, now, &applied));
    }
    return applied ? SV_OK : open_next(b, p, now);
}

static sv_status not_high(sv__balance *b, sv__drb_pair *p, uint64_t now, sv__zone zone,
                          double latency)
{
    if (/*~keep_medium*/ p->zone == SV__HIGH)
        SV_TRY(sv__decide_keep(b, p, now, &p->episode, latency));
    p->zone = zone;
    if (/*~close_medium*/ zone == SV__LOW) {
        /*~flows_older*/ p->newest.count = 0;
        if (/*~held_closed*/ !p->held)
            close_last(b, p, now);
    }
    return SV_OK;
}

/* Whether the trend crosses the threshold soon. */
static sv_status foresee(sv__balance *b, sv__drb_pair *p, uint64_t now, double latency,
                         double high_at, bool *soon)
{
    const sv__settings *set = &b->a->set;
    *soon = false;
    if (set->trend == 0)
        return SV_OK;
    if (p->trend == NULL) {
        p->trend =
            sv_arena_alloc(&b->a->arena, 1, sizeof *p->trend + set->trend * sizeof p->trend->at[0]);
        if (p->trend == NULL)
            return SV_NO_MEMORY;
        p->trend->room = set->trend;
    }
    sv__trend_add(p->trend, now, latency);
    *soon =
        sv__trend_at(p->trend, now + (uint64_t)(set->ahead * /*~trend_ahead*/ (double)p->round)) >
        high_at;
    return SV_OK;
}

static sv_status judge(sv__balance *b, sv__drb_pair *p, uint64_t now)
{
    const sv__settings *set = &b->a->set;
    double latency = sv__metapath_latency(&p->meta), high_at = set->high * /*~high_first*/ p->base;
    sv__zone zone = sv__metapath_zone(latency, set->low * p->base, high_at);
    bool soon;
    SV_TRY(foresee(b, p, now, latency, high_at, &soon));
    sv__tell(b, &(sv__saw){.kind = SV__SAW_ZONE, .time = now, .pair = p, .latency = latency});
    if (soon && zone != SV__HIGH) {
        zone = SV__HIGH;
        b->a->report.foreseen++;
        tell(b, SV__SAW_FORESEEN, p, now, SV__NO_PATH, NULL);
    }
    return zone == SV__HIGH ? high(b, p, now) : not_high(b, p, now, zone, latency);
}

/* A solution has been tried for long enough: whether it failed. */
static void end_trial(sv__balance *b, sv__drb_pair *p, uint64_t now)
{
    double latency = sv__metapath_latency(&p->meta);
    if (latency > b->a->set.high * p->base) {
        /*~fail_never*/ p->applied->failed = true;
        /*~held_failed*/ p->held = false;
        b->a->report.failed++;
        tell(b, SV__SAW_FAILED, p, now, SV__NO_PATH, p->applied);
    }
    p->applied = NULL;
}

static sv_status learn(sv__balance *b, sv__drb_pair *p, const sv__flows *flows)
{
    if (!b->predictive || flows->count == 0)
        return SV_OK;
    SV_TRY(sv__pairs_learn(b, p));
    sv__flows_copy(&p->newest, flows);
    if (p->zone == SV__HIGH && /*~flows_newest*/ p->episode.count == 0)
        /*~flows_late*/ begin_episode(p, flows); /* the first that come while it is */
    b->a->report.notices++;
    return SV_OK;
}

sv_status sv__decide_ack(sv__balance *b, sv__drb_pair *p, uint64_t now, uint32_t path,
                         uint64_t waited, const sv__flows *flows)
{
    sv__tell(b, &(sv__saw){.kind = SV__SAW_ACK,
                           .time = now,
                           .pair = p,
                           .path = path,
                           .waited = waited,
                           .flows = flows});
    SV_TRY(learn(b, p, flows));
    if (!sv__metapath_hear(&p->meta, path, (double)waited, b->a->set.smooth))
        return SV_OK; /* closed by now */
    if (/*~probe_any*/ p->probe == path)
        p->probe = SV__NO_PATH;
    if (p->trial > 0) {
        if (--p->trial > 0)
            return SV_OK;
        end_trial(b, p, now);
    } else if (/*~probe_none*/ p->probe != SV__NO_PATH) {
        return SV_OK;
    }
    return judge(b, p, now);
}

sv_status sv__decide_notice(sv__balance *b, sv__drb_pair *p, uint64_t now, const sv__flows *flows)
{
    sv__tell(b, &(sv__saw){.kind = SV__SAW_NOTICE, .time = now, .pair = p, .flows = flows});
    bool known = p->zone == SV__HIGH && p->episode.count > 0;
    SV_TRY(learn(b, p, flows));
    if (p->trial > 0 /*~notice_episode*/ || known)
        return SV_OK;
    sv__solution *s = sv__store_find(&p->store, &p->newest, b->a->set.similar);
    if (s == NULL || sv__solution_covered(s, &p->meta))
        return SV_OK;
    /*~notice_zone*/ p->zone = SV__HIGH;
    begin_episode(p, &p->newest);
    p->asked = true;
    return apply(b, p, now, s);
}

sv_status sv__decide_late(sv__balance *b, sv__drb_pair *p, uint64_t now)
{
    tell(b, SV__SAW_LATE, p, now, SV__NO_PATH, NULL);
    return /*~late_trial*/ p->trial > 0 ? SV_OK : high(b, p, now);
}

/* What a pair begins with: what was applied last, or the oldest; such that have paths first. */
static sv__solution *to_begin_with(const sv__drb_pair *p)
{
    sv__solution *alone = NULL;
    if (/*~last_never*/ p->last != NULL && !p->last->failed)
        return p->last;
    for (sv__solution *s = p->store.first; s != NULL; s = s->next) {
        if (/*~oldest_alone*/ !s->failed && s->num_paths > 1)
            return s;
        if (/*~alone_failed*/ !s->failed && alone == NULL)
            alone = s;
    }
    return /*~alone_never*/ alone;
}

sv_status sv__decide_message(sv__balance *b, sv__drb_pair *p, uint64_t now)
{
    if (p->meta.count > 1 || p->trial > 0 || p->held)
        return SV_OK;
    sv__solution *s = to_begin_with(p);
    if (s == NULL)
        return SV_OK;
    if (/*~alone_applied*/ s->num_paths > 1)
        SV_TRY(apply(b, p, now, s));
    b->a->report.unasked += /*~alone_counts*/ s->num_paths > 1;
    p->last = s;
    p->held = true;
    return SV_OK;
}
