/*
 * drb_oracle.c: what a source decides, point by point.
 *
 * Invariants: open[0] is path 0; store is in the order in which solutions were kept.
 */
#include "drb_oracle.h"

#include <string.h>

uint64_t drb_hash(const uint32_t *flows, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = hash * UINT64_C(1000003) + flows[i];
    return hash;
}

void drb_tell(drb *o, const drb_pair *p, sv__saw_kind kind, uint32_t path, double latency)
{
    if (o->num_events < DRB_MAX_EVENTS)
        o->events[o->num_events++] = (drb_event){
            .kind = kind, .from = p->from, .to = p->destination, .path = path, .latency = latency};
}

/* ---- points 3 to 5, 7 ---- */

uint64_t drb_empty(const drb *o, uint32_t channels, uint32_t bytes)
{
    uint64_t start = 0, cross = 100 * o->byte / o->model.speedup;
    if (cross == 0)
        cross = 1;
    for (uint32_t i = 0; i < channels; i++) {
        bool last = i + 1 == channels;
        uint64_t speed = last ? o->model.drain : cross, max = 0;
        for (uint64_t k = 1; 64 * (k - 1) < bytes; k++) { /* block by block */
            uint64_t end = 64 * k < bytes ? 64 * k : bytes;
            uint64_t before = 64 * (k - 1) * speed;
            if (end * o->byte > before && end * o->byte - before > max)
                max = end * o->byte - before;
        }
        uint64_t ready = start + o->model.cable + max + (last ? 0 : o->model.switch_delay);
        start = last ? ready + bytes * speed : ready + (bytes < 64 ? bytes : 64) * cross;
    }
    return start;
}

static double latency_of(const drb_pair *p, const drb_open *open)
{
    return p->paths[open->path].empty + open->waited;
}

double drb_latency(const drb_pair *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->num_open; i++)
        sum += 1 / latency_of(p, &p->open[i]);
    return 1 / sum;
}

uint32_t drb_choose(const drb_pair *p, double drawn)
{
    double share = 0;
    for (uint32_t i = 0; i < p->num_open; i++) {
        share += drb_latency(p) / latency_of(p, &p->open[i]);
        if (drawn < share)
            return i;
    }
    return p->num_open - 1;
}

static uint32_t place_of(const drb_pair *p, uint32_t path)
{
    for (uint32_t i = 0; i < p->num_open; i++)
        if (p->open[i].path == path)
            return i;
    return SV_NONE;
}

/* ---- opening and closing ---- */

static void count_open(drb *o, drb_pair *p)
{
    if (p->num_open > 1 && !p->ever) {
        p->ever = true;
        o->report.pairs++;
    }
    if (p->num_open > o->report.max_paths)
        o->report.max_paths = p->num_open;
}

static void open_path(drb *o, drb_pair *p, uint32_t path, double waited)
{
    p->open[p->num_open++] = (drb_open){.path = path, .waited = waited};
    p->samples = 0;
    o->report.opened++;
    drb_tell(o, p, SV__SAW_OPENED, path, 0);
}

static void close_path(drb *o, drb_pair *p, uint32_t place)
{
    drb_tell(o, p, SV__SAW_CLOSED, p->open[place].path, 0);
    for (uint32_t i = place; i + 1 < p->num_open; i++)
        p->open[i] = p->open[i + 1];
    p->num_open--;
    p->samples = 0;
    o->report.closed++;
}

/* Point 6: the next candidate. */
static void open_next(drb *o, drb_pair *p)
{
    if (p->num_open >= o->set.paths || p->still)
        return;
    for (uint32_t i = 1; i < p->candidates; i++)
        if (place_of(p, i) == SV_NONE) {
            open_path(o, p, i, 0);
            p->waits = true;
            p->probe = i;
            count_open(o, p);
            return;
        }
}

/* ---- points 12 to 14 ---- */

static double similarity(const drb_flows *a, const drb_flows *b)
{
    uint32_t both = 0, max = a->count > b->count ? a->count : b->count;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            both += a->at[i] == b->at[k];
    return max == 0 ? 0 : (double)both / max;
}

static uint32_t find_solution(const drb *o, const drb_pair *p, const drb_flows *flows)
{
    uint32_t best = SV_NONE;
    double max = -1;
    for (uint32_t i = 0; i < p->solutions; i++) {
        double s = similarity(&p->store[i].flows, flows);
        if (s > 0 && s >= o->set.similar && s > max) {
            best = i;
            max = s;
        }
    }
    return best;
}

static bool all_open(const drb_pair *p, const drb_solution *s)
{
    for (uint32_t i = 0; i < s->paths; i++)
        if (place_of(p, s->path[i]) == SV_NONE)
            return false;
    return true;
}

static bool has_path(const drb_solution *s, uint32_t path)
{
    for (uint32_t i = 0; i < s->paths; i++)
        if (s->path[i] == path)
            return true;
    return path == 0;
}

static void count_applied(drb *o, drb_pair *p, drb_solution *s)
{
    s->applied++;
    o->report.applied++;
    o->report.repeated += s->applied == 1;
    if (s->applied > o->report.max_applied)
        o->report.max_applied = s->applied;
    if (s->flows.router != SV_NONE) {
        o->routers[s->flows.router].applied++;
        o->routers[s->flows.router].repeated += s->applied == 1;
    }
    (void)p;
}

static void apply(drb *o, drb_pair *p, uint32_t which)
{
    drb_solution *s = &p->store[which];
    drb_open old[DRB_MAX_PATHS], own = p->open[0];
    uint32_t num_old = p->num_open;
    memcpy(old, p->open, sizeof old);
    count_applied(o, p, s);
    drb_tell(o, p, SV__SAW_APPLIED, 0, 0);
    for (uint32_t i = p->num_open; i-- > 1;)
        if (!has_path(s, p->open[i].path))
            close_path(o, p, i);
    p->num_open = 0;
    p->open[p->num_open++] = own;
    for (uint32_t i = 0; i < s->paths; i++) {
        bool was = false;
        if (s->path[i] == 0)
            continue;
        for (uint32_t k = 1; k < num_old; k++)
            if (old[k].path == s->path[i]) {
                p->open[p->num_open++] = old[k];
                was = true;
            }
        if (!was)
            open_path(o, p, s->path[i], s->waited[i]);
    }
    count_open(o, p);
    p->waits = false;
    p->trial = o->set.trial;
    p->solution = which;
    p->last = which + 1;
    p->still = false;
    p->asked = true;
    p->samples = 0;
}

static void fail_solution(drb *o, drb_pair *p, uint32_t which)
{
    p->store[which].failed = true;
    o->report.failed++;
    drb_tell(o, p, SV__SAW_FAILED, 0, 0);
}

static void fill(const drb_pair *p, drb_solution *s, double latency)
{
    s->flows = p->episode;
    s->latency = latency;
    s->failed = false;
    s->paths = p->num_open;
    for (uint32_t i = 0; i < p->num_open; i++) {
        s->path[i] = p->open[i].path;
        s->waited[i] = p->open[i].waited;
    }
}

static void keep(drb *o, drb_pair *p, double latency)
{
    if (p->episode.count == 0 || p->num_open < 2)
        return;
    uint32_t which = find_solution(o, p, &p->episode);
    if (which == SV_NONE) {
        drb_solution *s = &p->store[p->solutions++];
        *s = (drb_solution){0};
        fill(p, s, latency);
        o->report.patterns++;
        if (p->episode.router != SV_NONE)
            o->routers[p->episode.router].patterns++;
        drb_tell(o, p, SV__SAW_KEPT, 0, 0);
    } else if (latency < p->store[which].latency || p->store[which].failed) {
        fill(p, &p->store[which], latency);
        o->report.improved++;
        drb_tell(o, p, SV__SAW_IMPROVED, 0, 0);
    }
}

/* ---- point 15 ---- */

static bool foresees(const drb *o, drb_pair *p, uint64_t now, double latency)
{
    double n = o->set.trend, mean_time = 0, mean = 0, over = 0, under = 0;
    if (o->set.trend == 0 || !o->predictive)
        return false;
    if (p->samples == o->set.trend) {
        for (uint32_t i = 1; i < p->samples; i++) {
            p->sample[i - 1] = p->sample[i];
            p->when[i - 1] = p->when[i];
        }
        p->samples--;
    }
    p->sample[p->samples] = latency;
    p->when[p->samples++] = (double)now;
    if (p->samples < o->set.trend)
        return false;
    for (uint32_t i = 0; i < p->samples; i++) {
        mean_time += p->when[i] / n;
        mean += p->sample[i] / n;
    }
    for (uint32_t i = 0; i < p->samples; i++) {
        over += (p->when[i] - mean_time) * (p->sample[i] - mean);
        under += (p->when[i] - mean_time) * (p->when[i] - mean_time);
    }
    if (under <= 0 || over <= 0)
        return false;
    double round = p->base + (double)p->back;
    double later = (double)now + o->set.ahead * round;
    return mean + over / under * (later - mean_time) > o->set.high * p->base;
}

/* ---- points 6 and 13 ---- */

/* The zone is high: a solution, or one more path. */
static void be_high(drb *o, drb_pair *p, bool begins)
{
    if (begins) {
        p->episode = p->newest;
        p->asked = false;
    }
    if (o->predictive && p->episode.count > 0 && !p->asked) {
        p->asked = true;
        uint32_t which = find_solution(o, p, &p->episode);
        if (which != SV_NONE && !all_open(p, &p->store[which])) {
            apply(o, p, which);
            return;
        }
        if (which != SV_NONE)
            p->store[which].failed = true;
    }
    open_next(o, p);
}

static void judge(drb *o, drb_pair *p, uint64_t now, bool tried)
{
    double latency = drb_latency(p);
    sv__zone was = p->zone;
    p->zone = latency > o->set.high * p->base  ? SV__HIGH
              : latency < o->set.low * p->base ? SV__LOW
                                               : SV__MEDIUM;
    drb_tell(o, p, SV__SAW_ZONE, 0, latency);
    if (foresees(o, p, now, latency) && p->zone != SV__HIGH) {
        p->zone = SV__HIGH;
        o->report.foreseen++;
        drb_tell(o, p, SV__SAW_FORESEEN, 0, 0);
    }
    if (p->zone == SV__HIGH) {
        if (tried) {
            fail_solution(o, p, p->solution);
            p->held = p->still = false;
        }
        be_high(o, p, was != SV__HIGH);
        return;
    }
    if (was == SV__HIGH) {
        keep(o, p, latency);
        p->episode.count = 0;
    }
    if (p->zone == SV__LOW) {
        p->newest.count = 0;
        if (p->num_open > 1 && !p->held)
            close_path(o, p, p->num_open - 1);
    }
}

static void hear_flows(drb_pair *p, const drb_flows *flows)
{
    p->newest = *flows;
    if (p->zone == SV__HIGH && p->episode.count == 0) {
        p->episode = *flows;
        p->asked = false;
    }
}

void drb_ack(drb *o, drb_pair *p, uint64_t now, uint32_t path, uint64_t waited,
             const drb_flows *flows)
{
    uint32_t place = place_of(p, path);
    bool tried = false;
    if (flows != NULL)
        hear_flows(p, flows);
    if (place == SV_NONE)
        return;
    drb_open *open = &p->open[place];
    open->waited = open->heard ? (1 - o->set.smooth) * open->waited + o->set.smooth * (double)waited
                               : (double)waited;
    open->heard = true;
    if (p->trial > 0) {
        if (--p->trial > 0)
            return;
        tried = true;
    } else if (p->waits) {
        if (path != p->probe)
            return;
        p->waits = false;
    }
    judge(o, p, now, tried);
}

void drb_notice(drb *o, drb_pair *p, uint64_t now, const drb_flows *flows)
{
    bool may = p->trial == 0 && (p->zone != SV__HIGH || p->episode.count == 0);
    (void)now;
    hear_flows(p, flows);
    uint32_t which = find_solution(o, p, flows);
    if (!may || which == SV_NONE || all_open(p, &p->store[which]))
        return;
    p->zone = SV__HIGH;
    p->episode = *flows;
    apply(o, p, which);
}

void drb_late(drb *o, drb_pair *p, uint64_t now)
{
    bool begins = p->zone != SV__HIGH;
    (void)now;
    if (p->trial > 0)
        return;
    p->zone = SV__HIGH;
    be_high(o, p, begins);
}

/* ---- point 17 ---- */

/* The oldest solution that has not failed, with so many paths at least. */
static uint32_t oldest(const drb_pair *p, uint32_t paths)
{
    for (uint32_t i = 0; i < p->solutions; i++)
        if (!p->store[i].failed && p->store[i].paths >= paths)
            return i;
    return SV_NONE;
}

void drb_speak(drb *o, drb_pair *p)
{
    bool asked = p->asked;
    if (!o->predictive || !o->set.unasked || p->num_open > 1 || p->trial > 0 || p->held)
        return;
    uint32_t which = oldest(p, 2);
    if (which == SV_NONE)
        which = oldest(p, 1);
    if (p->last > 0 && !p->store[p->last - 1].failed)
        which = p->last - 1;
    if (which == SV_NONE)
        return;
    p->held = true;
    if (p->store[which].paths == 1) { /* path 0 */
        p->still = true;
        return;
    }
    apply(o, p, which);
    p->asked = asked; /* the episode stays what it is */
    o->report.unasked++;
}
