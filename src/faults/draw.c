/*
 * draw.c: random failures that cut nobody off.
 *
 * Idea: put all candidates of a kind into random order (one shuffle, from the plan's seed) and fail
 * them one by one, skipping those that would be critical at that moment. So a larger number of
 * failures of a kind contains a smaller one, and "no choice left" is simply the end of the list.
 * A skipped switch can become harmless when others fail (with them go the terminals it would have
 * separated), so the list is gone through again until nothing changes; a skipped cable cannot.
 *
 * Percentages are of the candidates, rounded down: 1 % of 256 links is 2 (docs/papers.md). The
 * kinds have random streams of their own, so asking for switches does not reorder the links.
 *
 * Cost: the searches of critical.c, one for each draw.
 */
#include <fnmatch.h>
#include <selvage/faults.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "fabric/derive.h"
#include "faults/critical.h"

struct draw {
    sv_ctx *ctx;
    const sv_fabric *f;
    const sv_fault_plan *plan;
    sv_arena arena;
    sv__state state;
    uint32_t *level; /* of every switch, when the plan asks for one */
    sv_fault_report report;
};

sv_status sv_amount_parse(sv_ctx *ctx, const char *text, sv_amount *amount)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    uint64_t whole, fraction = 0, scale = 10000;
    bool good = sv_scan_number(&scan, UINT32_MAX, &whole);
    sv_scan point = scan;
    if (good && sv_scan_char(&scan, '.')) {
        good = false;
        for (; scan.at < scan.end && *scan.at >= '0' && *scan.at <= '9'; scan.at++) {
            scale /= 10;
            fraction += (uint64_t)(*scan.at - '0') * scale;
            good = scale > 0; /* four decimals are what the millionths can hold */
        }
    }
    bool relative = good && sv_scan_char(&scan, '%');
    if (!good || !sv_scan_done(&scan) || (!relative && point.at != scan.end))
        return sv_refuse(ctx, "'%.100s' is neither a number nor a percentage", text);
    if (relative && (whole > 100 || (whole == 100 && fraction > 0)))
        return sv_refuse(ctx, "'%.100s' is more than 100%%", text);
    *amount = (sv_amount){relative, relative ? whole * 10000 + fraction : whole};
    return SV_OK;
}

sv_status sv_ratio_parse(sv_ctx *ctx, const char *text, uint32_t *switches, uint32_t *links)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    uint64_t first, second;
    if (!sv_scan_number(&scan, 1000000, &first) || !sv_scan_char(&scan, ':') ||
        !sv_scan_number(&scan, 1000000, &second) || !sv_scan_done(&scan) || second == 0)
        return sv_refuse(ctx, "'%.100s' is not SWITCHES:LINKS", text);
    *switches = (uint32_t)first;
    *links = (uint32_t)second;
    return SV_OK;
}

/* ---- candidates ---- */

static bool fits(const char *pattern, const sv_fabric *f, sv_node s)
{
    return fnmatch(pattern, sv_node_name(f, s), 0) == 0;
}

/* Whether a switch is within the plan's limits, whatever is to fail. */
static bool switch_fits(const struct draw *d, sv_node s)
{
    const sv_fault_plan *plan = d->plan;
    return (!plan->limit_level || d->level[s.i] == plan->level) &&
           (plan->only == NULL || fits(plan->only, d->f, s)) &&
           (plan->touching == NULL || fits(plan->touching, d->f, s));
}

static bool switch_is_candidate(const struct draw *d, sv_node s)
{
    return sv_node_alive(d->f, s) && switch_fits(d, s) &&
           !(d->plan->keep_terminals && sv_has_hosts(d->f, s));
}

static bool cable_is_candidate(const struct draw *d, sv_channel c)
{
    const sv_fabric *f = d->f;
    const sv_fault_plan *plan = d->plan;
    if (!sv_channel_alive(f, c) || !sv_is_cable(f, c) || !sv_joins_switches(f, c))
        return false;
    sv_node a = f->tail[c.i], b = f->head[c.i];
    if (plan->limit_level) {
        uint32_t low = d->level[a.i] < d->level[b.i] ? d->level[a.i] : d->level[b.i];
        if (low != plan->level)
            return false;
    }
    return (plan->only == NULL || (fits(plan->only, f, a) && fits(plan->only, f, b))) &&
           (plan->touching == NULL || fits(plan->touching, f, a) || fits(plan->touching, f, b));
}

/* Host adapters with a live port on a switch within the limits. */
static bool *fitting_adapters(struct draw *d)
{
    const sv_fabric *f = d->f;
    bool *good = SV_ARENA_NEW(&d->arena, bool, f->num_adapters);
    for (uint32_t t = 0; good != NULL && t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t}, at = sv_switch_of(f, v);
        uint32_t a = f->terminals[t].adapter;
        bool limited = d->plan->limit_level || d->plan->only != NULL || d->plan->touching != NULL;
        if (sv_node_alive(f, v) && f->adapters[a].kind == SV_ADAPTER_HOST &&
            (!limited || (at.i != SV_NONE && switch_fits(d, at))))
            good[a] = true;
    }
    return good;
}

enum kind { SWITCHES, LINKS, ADAPTERS };
static const char *const kind_names[] = {"switches", "links", "adapters"};

/* All candidates of a kind, in random order. */
static sv_status candidates(struct draw *d, enum kind kind, uint32_t **list, uint32_t *count)
{
    const sv_fabric *f = d->f;
    uint32_t all = kind == SWITCHES ? f->num_switches
                   : kind == LINKS  ? f->num_channels
                                    : f->num_adapters;
    uint32_t found = 0, *ids = SV_ARENA_NEW(&d->arena, uint32_t, all);
    bool *fitting = kind == ADAPTERS ? fitting_adapters(d) : NULL;
    if (ids == NULL || (kind == ADAPTERS && fitting == NULL))
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < all; i++) {
        bool good = kind == SWITCHES ? switch_is_candidate(d, (sv_node){i})
                    : kind == LINKS  ? cable_is_candidate(d, (sv_channel){i})
                                     : fitting[i];
        if (good)
            ids[found++] = i;
    }
    sv_rng rng;
    sv_rng_init(&rng, d->plan->seed * 4 + (uint64_t)kind);
    sv_rng_shuffle(&rng, ids, found);
    *list = ids;
    *count = found;
    return SV_OK;
}

static uint32_t how_many(const sv_amount *amount, uint32_t candidates)
{
    uint64_t number = amount->value;
    if (amount->relative)
        number = number > 1000000 ? candidates : (uint64_t)candidates * number / 1000000;
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

/* ---- failing ---- */

/* Fails one candidate unless that is critical; false if it is. */
static bool fail_one(struct draw *d, enum kind kind, uint32_t id)
{
    if (kind == SWITCHES) {
        if (sv__switch_is_critical(&d->state, (sv_node){id}))
            return false;
        d->report.lost_terminals += sv__fail_node(&d->state, (sv_node){id});
        d->report.switches++;
        return true;
    }
    if (sv__cable_is_critical(&d->state, (sv_channel){id}))
        return false;
    sv__fail_cable(&d->state, (sv_channel){id});
    d->report.links++;
    return true;
}

/* Whether a candidate went with something that failed before. */
static bool is_gone(const struct draw *d, enum kind kind, uint32_t id)
{
    return kind == SWITCHES ? sv_bit(d->state.dead_nodes, id) : sv_bit(d->state.dead_channels, id);
}

/* Goes through the list until enough have failed, again while a pass still changes something. */
static sv_status fail_some(struct draw *d, enum kind kind, uint32_t *list, uint32_t count,
                           uint32_t wanted)
{
    uint32_t failed = 0, left = count;
    for (bool progress = true; failed < wanted && progress && left > 0;) {
        uint32_t skipped = 0;
        progress = false;
        for (uint32_t i = 0; i < left && failed < wanted; i++) {
            SV_TRY(sv_progress(d->ctx, "failing", failed, wanted));
            if (is_gone(d, kind, list[i]))
                continue;
            if (fail_one(d, kind, list[i])) {
                failed++;
                progress = true;
            } else {
                d->report.critical++;
                list[skipped++] = list[i];
            }
        }
        left = kind == SWITCHES ? skipped : 0;
    }
    if (failed == wanted)
        return SV_OK;
    return sv_fail(d->ctx, SV_INFEASIBLE,
                   "only %u of %u %s can fail (%u candidates) without cutting terminals off from "
                   "each other",
                   failed, wanted, kind_names[kind], count);
}

/* Asking for some of nothing is a mistake in the limits, also if it is a percentage. */
static sv_status some_fit(const struct draw *d, enum kind kind, const sv_amount *amount,
                          uint32_t count)
{
    const sv_fault_plan *plan = d->plan;
    bool limited = plan->limit_level || plan->only != NULL || plan->touching != NULL ||
                   (plan->keep_terminals && kind == SWITCHES);
    if (amount->value == 0 || count > 0 || !limited)
        return SV_OK;
    return sv_fail(d->ctx, SV_INFEASIBLE, "no %s fit the limits", kind_names[kind]);
}

static sv_status draw_adapters(struct draw *d)
{
    uint32_t *list, count;
    SV_TRY(candidates(d, ADAPTERS, &list, &count));
    SV_TRY(some_fit(d, ADAPTERS, &d->plan->adapters, count));
    uint32_t wanted = how_many(&d->plan->adapters, count), failed = 0;
    bool *chosen = SV_ARENA_NEW(&d->arena, bool, d->f->num_adapters);
    bool *live = SV_ARENA_NEW(&d->arena, bool, d->f->num_adapters);
    if (chosen == NULL || live == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < d->f->num_terminals; t++) {
        uint32_t node = d->f->num_switches + t;
        if (sv_node_alive(d->f, (sv_node){node}) && !sv_bit(d->state.dead_nodes, node))
            live[d->f->terminals[t].adapter] = true;
    }
    for (uint32_t i = 0; i < count && failed < wanted; i++)
        if (live[list[i]]) {
            chosen[list[i]] = true;
            failed++;
        }
    for (uint32_t t = 0; t < d->f->num_terminals; t++) {
        sv_node v = {d->f->num_switches + t};
        if (!chosen[d->f->terminals[t].adapter])
            continue;
        d->report.lost_terminals += sv_node_alive(d->f, v) && !sv_bit(d->state.dead_nodes, v.i);
        sv__fail_node(&d->state, v);
    }
    d->report.adapters = failed;
    if (failed == wanted)
        return SV_OK;
    return sv_fail(d->ctx, SV_INFEASIBLE, "only %u of %u adapters can fail", failed, wanted);
}

static sv_status draw_all(struct draw *d)
{
    const sv_fault_plan *plan = d->plan;
    uint32_t *switches, *links, num_switches, num_links;
    if (plan->both.value > 0 && plan->ratio_links == 0)
        return sv_refuse(d->ctx, "failures of both kinds need a ratio");
    SV_TRY(sv__state_init(&d->state, &d->arena, d->f));
    uint32_t highest;
    d->level = plan->limit_level ? sv_switch_levels(&d->arena, d->f, &highest) : NULL;
    if (plan->limit_level && d->level == NULL)
        return SV_NO_MEMORY;
    SV_TRY(candidates(d, SWITCHES, &switches, &num_switches));
    SV_TRY(candidates(d, LINKS, &links, &num_links));
    uint32_t want_switches = how_many(&plan->switches, num_switches);
    uint32_t want_links = how_many(&plan->links, num_links);
    SV_TRY(some_fit(d, SWITCHES, &plan->switches, num_switches));
    SV_TRY(some_fit(d, LINKS, &plan->links, num_links));
    SV_TRY(some_fit(d, LINKS, &plan->both, num_links));
    if (plan->ratio_links > 0) {
        want_links = how_many(&plan->both, num_links);
        uint64_t share = (uint64_t)want_links * plan->ratio_switches / plan->ratio_links;
        want_switches = share > UINT32_MAX ? UINT32_MAX : (uint32_t)share;
    }
    SV_TRY(fail_some(d, SWITCHES, switches, num_switches, want_switches));
    SV_TRY(fail_some(d, LINKS, links, num_links, want_links));
    return draw_adapters(d);
}

sv_status sv_faults_draw(sv_ctx *ctx, const sv_fabric *fabric, const sv_fault_plan *plan,
                         sv_mask *mask, sv_fault_report *report)
{
    struct draw d = {.ctx = ctx, .f = fabric, .plan = plan};
    sv_arena_init(&d.arena, ctx);
    sv_status status = draw_all(&d);
    if (status == SV_OK) {
        sv__state_mask(&d.state, mask);
        *report = d.report;
    }
    sv_arena_release(&d.arena);
    return status;
}
