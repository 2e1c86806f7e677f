/*
 * test_faults.c: random failures (faults.h) against a slow and obvious second opinion.
 *
 * What is left of a fabric is worked out here from its channels and the bits of a mask alone: who
 * is alive and, by passing labels along cables until nothing changes, who reaches whom. Every draw
 * on thousands of small fabrics is then held against the header's promises:
 *
 *   nothing critical   all pairs of terminals: those that could talk and still exist can talk
 *   counts             as many as asked for, of the right kind, within the limits of the plan
 *   nesting            the draw for n is part of the draw for n + 1
 *   the end            when n + 1 are refused, after the draw for n really nothing more can fail
 *                      (each candidate left is tried); where every switch has terminals, n is the
 *                      number of cables beyond a spanning forest
 *   clean failure      mask and report are untouched
 *   determinism        twice the same, whatever the number of threads
 *
 * Lists are written, read and compared by what they leave alive. A trial's number is its seed. Odd
 * fabrics and finer points have tests of their own, so that one failure does not hide another.
 */
#include "support/testing.h"
#include "support/trials.h"

#include "base/file.h"

#include <fnmatch.h>

enum { MAX_SWITCHES = 10, NODES = 200, CHANNELS = 600, FAR = 1000 };

/* splitmix64 */
static uint64_t roll(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(roll(state) % n);
}

static bool one_in(uint64_t *state, uint32_t n)
{
    return below(state, n) == 0;
}

/* What is out of the ordinary in a trial. */
enum {
    PAIRS = 1,         /* two terminals cabled back to back */
    ROUTERS = 2,       /* and special adapters among the hosts */
    HALF_ADAPTERS = 4, /* one port of an adapter in a mask without the other */
    LOST_ADAPTERS = 8  /* lost terminals are to be right for failed adapters, too */
};

typedef struct maker {
    sv_builder *builder;
    uint64_t dice, guid;
    uint16_t used[MAX_SWITCHES];
    uint32_t odd, switches, adapter;
    bool second; /* the last adapter has a port left */
} maker;

static const sv_link any_link = {.width = 4, .speed = SV_SPEED_EDR};

static void join(maker *m, uint32_t a, uint32_t b)
{
    for (uint32_t k = one_in(&m->dice, 6) ? 2 : 1; k > 0; k--) {
        sv_end from = {.index = a, .port = ++m->used[a]}, to = {.index = b, .port = ++m->used[b]};
        sv_builder_add_cable(m->builder, from, to, &any_link);
    }
}

/* A terminal, on the second port of the adapter before or on a new one. */
static sv_end host(maker *m)
{
    sv_end end = {.terminal = true, .port = m->second ? 2 : 1};
    sv_adapter_info card = {.name = "node 1", .guid = ++m->guid, .ports = 2};
    card.kind = m->odd & ROUTERS ? below(&m->dice, 3) : SV_ADAPTER_HOST;
    if (!m->second)
        sv_builder_add_adapter(m->builder, &card, &m->adapter);
    m->second = !m->second && one_in(&m->dice, 3);
    sv_terminal_info about = {.guid = ++m->guid, .adapter = m->adapter, .port = end.port};
    sv_builder_add_terminal(m->builder, &about, &end.index);
    return end;
}

static void shape(maker *m)
{
    uint32_t n = m->switches, kind = below(&m->dice, 6), rare = 2 + below(&m->dice, 3);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            if ((kind == 0 && one_in(&m->dice, j)) ||                    /* much like a tree */
                (kind == 1 && (j == i + 1 || (i == 0 && j == n - 1))) || /* a ring */
                (kind == 2 && i < n / 3 && j >= n / 3) ||                /* spines and leaves */
                (kind == 3 && n < 8) ||                                  /* all to all */
                (kind >= 4 && one_in(&m->dice, rare)))
                join(m, i, j);
    if (one_in(&m->dice, 3))
        join(m, 0, below(&m->dice, n)); /* at times a loopback plug */
}

static sv_fabric *make(sv_ctx *ctx, uint64_t seed, uint32_t odd)
{
    static const char *const names[] = {"leaf", "spine ", "core#"};
    maker m = {.builder = sv_builder_new(ctx), .odd = odd, .dice = seed, .guid = 0x1000};
    sv_fabric *f = NULL;
    uint32_t bare = below(&m.dice, 4), max = 1 + below(&m.dice, 3);
    m.switches = 1 + below(&m.dice, MAX_SWITCHES);
    for (uint32_t i = 0; i < m.switches; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%u", names[below(&m.dice, 3)], i);
        sv_switch_info about = {.name = name, .guid = ++m.guid, .ports = 200};
        sv_builder_add_switch(m.builder, &about, NULL);
    }
    shape(&m);
    for (uint32_t i = 0; i < m.switches; i++)
        for (uint32_t h = bare > 0 && one_in(&m.dice, 1 + bare) ? 0 : 1 + below(&m.dice, max);
             h > 0; h--) {
            sv_end at = {.index = i, .port = ++m.used[i]};
            sv_builder_add_cable(m.builder, at, host(&m), &any_link);
        }
    if (odd & PAIRS && one_in(&m.dice, 2)) {
        sv_end a = host(&m), b = host(&m);
        sv_builder_add_cable(m.builder, a, b, &any_link);
    }
    OK(ctx, sv_builder_finish(m.builder, &f));
    OK(ctx, sv_fabric_check(ctx, f));
    return f;
}

/* A set of failures: of node v at v, of channel c at NODES + c. */
typedef struct set {
    bool at[NODES + CHANNELS];
} set;

static sv_mask *to_mask(sv_ctx *ctx, const sv_fabric *f, const set *failed)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (failed->at[v])
            sv_mask_node(mask, (sv_node){v});
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (failed->at[NODES + c])
            sv_mask_cable(mask, f, (sv_channel){c});
    return mask;
}

/* Frees the mask. */
static void from_mask(sv_mask *mask, const sv_fabric *f, set *failed)
{
    *failed = (set){{false}};
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        failed->at[v] = mask->nodes[v / 64] >> (v % 64) & 1;
    for (uint32_t c = 0; c < f->num_channels; c++)
        failed->at[NODES + c] = mask->channels[c / 64] >> (c % 64) & 1;
    for (uint32_t c = 0; c < f->num_channels; c++)
        assert_int_equal(failed->at[NODES + c], failed->at[NODES + f->reverse[c].i]);
    sv_mask_free(mask);
}

/* Every node and cable with a chance of one in …. */
static void draw_set(const sv_fabric *f, uint32_t odd, uint32_t rare, uint64_t *dice, set *failed)
{
    *failed = (set){{false}};
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        failed->at[v] = one_in(dice, rare);
    for (uint32_t c = 0; c < f->num_channels; c++)
        failed->at[NODES + c] = failed->at[NODES + f->reverse[c].i] = one_in(dice, rare);
    for (uint32_t t = 1; t < f->num_terminals && !(odd & HALF_ADAPTERS); t++)
        if (f->terminals[t].adapter == f->terminals[t - 1].adapter)
            failed->at[f->num_switches + t] = failed->at[f->num_switches + t - 1];
}

/* What a set of failures leaves. */
typedef struct world {
    bool node[NODES], channel[CHANNELS]; /* alive */
    uint32_t group[NODES];               /* the same for nodes that reach each other */
    uint32_t terminals[NODES];           /* on a switch */
    uint32_t hosts[NODES];               /* of them, those that are no part of the switch */
    uint32_t level[NODES];               /* distance to the nearest leaf */
    uint32_t live_terminals;
} world;

/* Whether two switches are neighbours. */
static bool joined(const sv_fabric *f, const world *w, uint32_t a, uint32_t b)
{
    bool some = false;
    for (uint32_t c = 0; c < f->num_channels; c++)
        some |= w->channel[c] && f->tail[c].i == a && f->head[c].i == b && a != b;
    return some;
}

/* Whether a switch without hosts shares more than half of its neighbours with one that has some. */
static bool like_a_leaf(const sv_fabric *f, const world *w, uint32_t s)
{
    for (uint32_t leaf = 0; leaf < f->num_switches; leaf++) {
        uint32_t all = 0, common = 0;
        for (uint32_t v = 0; v < f->num_switches; v++) {
            all += joined(f, w, s, v);
            common += joined(f, w, s, v) && joined(f, w, leaf, v);
        }
        if (w->hosts[leaf] > 0 && 2 * common > all)
            return true;
    }
    return false;
}

/* Levels are passed along cables until nothing changes. */
static void spread_levels(const sv_fabric *f, world *w)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < f->num_channels; c++) {
            uint32_t a = f->tail[c].i, b = f->head[c].i;
            bool nearer = w->channel[c] && sv_joins_switches(f, (sv_channel){c}) &&
                          w->level[a] + 1 < w->level[b];
            w->level[b] = nearer ? w->level[a] + 1 : w->level[b];
            changed |= nearer;
        }
    }
}

static void find_levels(const sv_fabric *f, world *w)
{
    bool leaf[NODES] = {false};
    for (int round = 0; round < 2; round++) {
        for (uint32_t v = 0; v < f->num_switches; v++)
            leaf[v] |= w->hosts[v] > 0 || (round == 1 && w->level[v] == 2 && like_a_leaf(f, w, v));
        for (uint32_t v = 0; v < sv_num_nodes(f); v++)
            w->level[v] = leaf[v] ? 0 : FAR;
        spread_levels(f, w);
    }
}

/* Labels are passed along cables until nothing changes. */
static void settle(const sv_fabric *f, const set *failed, world *w)
{
    memset(w, 0, sizeof *w);
    for (uint32_t v = 0; v < f->num_switches; v++)
        w->node[v] = sv_node_alive(f, (sv_node){v}) && !failed->at[v];
    for (uint32_t c = 0; c < f->num_channels; c++) {
        uint32_t a = f->tail[c].i, b = f->head[c].i;
        w->channel[c] = sv_channel_alive(f, (sv_channel){c}) && !failed->at[NODES + c] &&
                        sv_node_alive(f, f->tail[c]) && !failed->at[a] &&
                        sv_node_alive(f, f->head[c]) && !failed->at[b];
        w->terminals[a] += w->channel[c] && b >= f->num_switches;
        w->hosts[a] +=
            w->channel[c] && b >= f->num_switches &&
            f->adapters[f->terminals[b - f->num_switches].adapter].kind != SV_ADAPTER_SPECIAL;
        w->node[a] |= w->channel[c]; /* a terminal lives by its cable */
    }
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        w->live_terminals += v >= f->num_switches && w->node[v];
        w->group[v] = v;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < f->num_channels; c++) {
            uint32_t a = f->tail[c].i, b = f->head[c].i;
            bool less = w->channel[c] && w->group[a] < w->group[b];
            w->group[b] = w->group[less ? a : b];
            changed |= less;
        }
    }
}

/* No two terminals that are left were parted. */
static bool harmless(const sv_fabric *f, const world *before, const world *after)
{
    for (uint32_t a = f->num_switches; a < sv_num_nodes(f); a++)
        for (uint32_t b = f->num_switches; b < a; b++)
            if (after->node[a] && after->node[b] && before->group[a] == before->group[b] &&
                after->group[a] != after->group[b])
                return false;
    return true;
}

enum { LINKS, SWITCHES, ADAPTERS, KINDS };

typedef struct trial {
    const struct job *job;
    uint32_t number;
    uint64_t dice;
    sv_ctx *ctx;
    sv_fabric *whole, *f; /* f: at times with failures */
    set start;            /* nothing, or these failures */
    world before;
    sv_fault_plan plan;
    uint32_t choices[KINDS]; /* how many candidates there are */
} trial;

typedef struct job {
    const char *name;
    void (*run)(trial *);
    uint32_t trials, odd;
    const char *spec; /* of a fabric, instead of random ones */
} job;

static void wrong(const trial *t, const char *what)
{
    const sv_fabric *f = t->f;
    const sv_fault_plan *p = &t->plan;
    const sv_amount amounts[] = {p->links, p->switches, p->adapters, p->both};
    for (uint32_t v = 0; v < f->num_switches; v++)
        if (t->before.node[v])
            print_error("%u: %s (%u), ", v, f->switches[v].name, t->before.terminals[v]);
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (t->before.channel[c] && c < f->reverse[c].i && f->head[c].i < f->num_switches)
            print_error(" %u-%u", f->tail[c].i, f->head[c].i);
    print_error("\nlinks, switches, adapters, both:");
    for (int i = 0; i < 4; i++)
        print_error(" %g%s", (double)amounts[i].value, amounts[i].relative ? " millionths" : "");
    print_error(" %u:%u, only %s, touching %s, level %d%s\n", p->ratio_switches, p->ratio_links,
                p->only ? p->only : "-", p->touching ? p->touching : "-",
                p->limit_level ? (int)p->level : -1, p->keep_terminals ? ", keep terminals" : "");
    fail_msg("%s, trial %u: %s", t->job->name, t->number, what);
}

/* Whether there is a channel, switch or adapter i (with a live terminal), and it is alive. */
static bool alive(const trial *t, const world *w, int kind, uint32_t i)
{
    bool some = false;
    for (uint32_t k = 0; kind == ADAPTERS && k < t->f->num_terminals; k++)
        some |= t->f->terminals[k].adapter == i && w->node[t->f->num_switches + k];
    return some || (kind == LINKS && w->channel[i]) ||
           (kind == SWITCHES && i < t->f->num_switches && w->node[i]);
}

static bool fits(const char *pattern, const sv_fabric *f, uint32_t v)
{
    return pattern == NULL || fnmatch(pattern, f->switches[v].name, 0) == 0;
}

/* Whether a live port of an adapter is on a switch within the plan's limits, if there are any. */
static bool adapter_fits(const trial *t, uint32_t adapter)
{
    const sv_fault_plan *plan = &t->plan;
    const sv_fabric *f = t->f;
    bool some = !plan->only && !plan->touching && !plan->limit_level;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        uint32_t s = f->tail[c].i, v = f->head[c].i;
        some |= t->before.channel[c] && s < f->num_switches && v >= f->num_switches &&
                f->terminals[v - f->num_switches].adapter == adapter && fits(plan->only, f, s) &&
                fits(plan->touching, f, s) &&
                (!plan->limit_level || t->before.level[s] == plan->level);
    }
    return some;
}

/* Whether the plan lets something fail that is alive. One channel of a cable stands for it. */
static bool allowed(const trial *t, int kind, uint32_t i)
{
    const sv_fault_plan *plan = &t->plan;
    const sv_fabric *f = t->f;
    const uint32_t *level = t->before.level;
    if (kind == ADAPTERS)
        return f->adapters[i].kind == SV_ADAPTER_HOST && adapter_fits(t, i);
    uint32_t a = kind == LINKS ? f->tail[i].i : i, b = kind == LINKS ? f->head[i].i : i;
    if (kind == LINKS && (i > f->reverse[i].i || !sv_joins_switches(f, (sv_channel){i})))
        return false;
    return fits(plan->only, f, a) && fits(plan->only, f, b) &&
           (fits(plan->touching, f, a) || fits(plan->touching, f, b)) &&
           (!plan->limit_level || (level[a] < level[b] ? level[a] : level[b]) == plan->level) &&
           !(kind == SWITCHES && plan->keep_terminals && t->before.hosts[i] > 0);
}

static sv_amount *amount_at(sv_fault_plan *plan, int kind)
{
    return kind == LINKS ? &plan->links : kind == SWITCHES ? &plan->switches : &plan->adapters;
}

static uint64_t wanted(const trial *t, int kind)
{
    sv_fault_plan plan = t->plan;
    bool both = plan.ratio_links != 0 && kind != ADAPTERS;
    sv_amount amount = both ? plan.both : *amount_at(&plan, kind);
    uint64_t choices = t->choices[both ? LINKS : kind];
    uint64_t sum = amount.relative ? choices * amount.value / 1000000 : amount.value;
    return both && kind == SWITCHES ? sum * plan.ratio_switches / plan.ratio_links : sum;
}

/* Whether a part is among the failures itself and not (an adapter, a link) with a switch. */
static bool chosen(const trial *t, const set *got, int kind, uint32_t i)
{
    const sv_fabric *f = t->f;
    bool some = false;
    if (kind == SWITCHES)
        return got->at[i];
    if (kind == LINKS)
        return i < f->reverse[i].i && got->at[NODES + i] && !got->at[f->tail[i].i] &&
               !got->at[f->head[i].i];
    for (uint32_t c = 0; c < f->num_channels; c++) {
        uint32_t v = f->tail[c].i;
        some |= v >= f->num_switches && f->terminals[v - f->num_switches].adapter == i &&
                got->at[v] && !got->at[f->head[c].i] && t->before.node[v];
    }
    return some;
}

static void check_counts(const trial *t, const set *got, const world *after,
                         const sv_fault_report *report)
{
    const uint32_t told[KINDS] = {report->links, report->switches, report->adapters};
    for (int kind = 0; kind < KINDS; kind++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < CHANNELS; i++)
            if (alive(t, &t->before, kind, i) && chosen(t, got, kind, i)) {
                if (!allowed(t, kind, i) || alive(t, after, kind, i))
                    wrong(t, "something failed that may not, or in part only");
                sum++;
            }
        if (sum != wanted(t, kind) || sum != told[kind])
            wrong(t, "other than the wanted number failed, or was reported");
    }
    if (report->lost_terminals != t->before.live_terminals - after->live_terminals &&
        (t->job->odd & LOST_ADAPTERS || report->adapters == 0))
        wrong(t, "other than the lost terminals were reported");
}

/* sv_fabric_mask must leave what this file thinks is left. */
static void check_left(const trial *t, const set *got, const world *after)
{
    world seen;
    sv_fabric *result = NULL;
    sv_mask *mask = to_mask(t->ctx, t->f, got);
    OK(t->ctx, sv_fabric_mask(t->ctx, t->f, mask, &result));
    OK(t->ctx, sv_fabric_check(t->ctx, result));
    settle(result, &(set){{false}}, &seen);
    if (memcmp(&seen, after, sizeof seen) != 0)
        wrong(t, "sv_fabric_mask leaves something else");
    sv_fabric_free(result);
    sv_mask_free(mask);
}

static bool within(const set *small, const set *large)
{
    bool is = true;
    for (uint32_t i = 0; i < NODES + CHANNELS; i++)
        is &= small->at[i] <= large->at[i];
    return is;
}

/* Draws, twice, and checks all that can be said about one draw. */
static sv_status draw(const trial *t, set *got)
{
    sv_fault_report report[3];
    sv_status status[2];
    set drawn[2];
    world after;
    memset(report, 0x5a, sizeof report);
    for (int i = 0; i < 2; i++) {
        sv_mask *mask = to_mask(t->ctx, t->f, &t->start);
        sv_ctx_set_threads(t->ctx, i == 0 ? 1 : 7);
        status[i] = sv_faults_draw(t->ctx, t->f, &t->plan, mask, &report[i]);
        from_mask(mask, t->f, &drawn[i]);
    }
    *got = drawn[0];
    settle(t->f, got, &after);
    if (status[0] != status[1] || memcmp(&drawn[0], &drawn[1], sizeof *drawn) != 0 ||
        memcmp(&report[0], &report[1], sizeof *report) != 0)
        wrong(t, "two draws differ");
    if (status[0] != SV_OK && status[0] != SV_INFEASIBLE)
        wrong(t, sv_ctx_message(t->ctx));
    if (status[0] != SV_OK && (memcmp(got, &t->start, sizeof *got) != 0 ||
                               memcmp(&report[0], &report[2], sizeof *report) != 0))
        wrong(t, "the refused draw left traces");
    if (!within(&t->start, got) || !harmless(t->f, &t->before, &after))
        wrong(t, "two terminals were parted, or something failed before was repaired");
    check_left(t, got, &after);
    if (status[0] == SV_OK)
        check_counts(t, got, &after, &report[0]);
    return status[0];
}

/* After the largest draw: whatever could fail now would part two terminals. */
static void check_stuck(const trial *t, int kind, const set *got)
{
    const sv_fabric *f = t->f;
    world after, next;
    settle(f, got, &after);
    for (uint32_t i = 0; i < CHANNELS; i++) {
        set more = *got;
        if (!alive(t, &after, kind, i) || !allowed(t, kind, i))
            continue;
        if (kind == LINKS)
            more.at[NODES + i] = more.at[NODES + f->reverse[i].i] = true;
        else if (kind == SWITCHES)
            more.at[i] = true;
        settle(f, &more, &next); /* an adapter is never critical */
        if (harmless(f, &t->before, &next))
            wrong(t, "refused, but one more could fail");
    }
}

/* Asks for 0, 1, 2 … until refused. Returns the last number that was not, or UINT32_MAX. */
static uint32_t sweep(trial *t, int kind)
{
    sv_amount *asked = amount_at(&t->plan, kind);
    set got, last;
    uint32_t max = UINT32_MAX;
    for (*asked = (sv_amount){false, 0}; draw(t, &got) == SV_OK; asked->value++) {
        if (max != UINT32_MAX && !within(&last, &got))
            wrong(t, "the smaller draw is not part of the larger one");
        last = got;
        max = (uint32_t)asked->value;
    }
    for (uint64_t more = 1; max != UINT32_MAX && more < UINT64_MAX / 256; more *= 200) {
        asked->value = max + 1 + more;
        if (draw(t, &got) == SV_OK)
            wrong(t, "more can fail than could before");
    }
    asked->value = max;
    if (max != UINT32_MAX)
        check_stuck(t, kind, &last);
    return max;
}

/* Links, switches or adapters, and nothing else: a trial of a test, as are all that follow. */
static void sweep_one_kind(trial *t)
{
    int kind = (int)(t->number % (t->job->odd & PAIRS ? ADAPTERS : KINDS));
    bool all = kind == ADAPTERS ||
               (kind == LINKS && !t->plan.only && !t->plan.touching && !t->plan.limit_level);
    uint32_t max = sweep(t, kind), spare = t->choices[kind];
    for (uint32_t v = 0; kind == LINKS && v < t->f->num_switches; v++) {
        all &= !t->before.node[v] || t->before.terminals[v] > 0;
        spare -= t->before.node[v] && t->before.group[v] != v; /* a cable of a spanning forest */
    }
    if (all && max != spare)
        wrong(t, "not all that is spare can fail");
    set relative, absolute;
    if (t->choices[kind] == 0)
        return; /* a percentage of nothing is refused where there are limits */
    *amount_at(&t->plan, kind) = (sv_amount){true, roll(&t->dice) % 1000001};
    sv_status status = draw(t, &relative);
    *amount_at(&t->plan, kind) = (sv_amount){false, wanted(t, kind)};
    if (draw(t, &absolute) != status || memcmp(&relative, &absolute, sizeof absolute) != 0)
        wrong(t, "a percentage draws other failures than its number");
}

/* A kind after those that are drawn before it. */
static void sweep_after_others(trial *t)
{
    t->plan.switches.value = below(&t->dice, 3);
    t->plan.links.value = below(&t->dice, 3);
    sweep(t, t->number % 2 == 0 ? LINKS : ADAPTERS);
}

/* Several kinds at once, or links and switches in a ratio. */
static void mixed(trial *t)
{
    sv_fault_plan *plan = &t->plan;
    sv_amount links = {one_in(&t->dice, 2), 0};
    set got;
    links.value = links.relative ? below(&t->dice, 300000) : below(&t->dice, 4);
    if (one_in(&t->dice, 2)) {
        plan->both = links;
        plan->ratio_switches = below(&t->dice, 4);
        plan->ratio_links = 1 + below(&t->dice, 13);
    } else {
        plan->links = links;
        plan->switches = (sv_amount){true, below(&t->dice, 400000)};
    }
    plan->adapters = (sv_amount){true, below(&t->dice, 400000)};
    draw(t, &got);
}

/* What is written can be read, and leaves the same. */
static void check_list(const trial *t, const set *failed)
{
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    sv_fault_report report;
    sv_mask *mask = to_mask(t->ctx, t->whole, failed), *read = sv_mask_new(t->ctx, t->whole);
    set again;
    world want, left;
    OK(t->ctx, sv_faults_write(t->ctx, t->whole, mask, &sink));
    sv_memory memory = {buffer.text, buffer.length};
    sv_source source = sv_memory_source(&memory, "list");
    sv_status status = sv_faults_read(t->ctx, t->whole, &source, read, &report);
    from_mask(read, t->whole, &again);
    settle(t->whole, failed, &want);
    settle(t->whole, &again, &left);
    if (status != SV_OK || memcmp(&want, &left, sizeof left) != 0) {
        print_error("%s", buffer.text);
        wrong(t, status != SV_OK ? sv_ctx_message(t->ctx) : "the list leaves something else");
    }
    sv_mask_free(mask);
    free(buffer.text);
}

/* Of what was drawn, and of anything. */
static void lists(trial *t)
{
    set failed;
    t->plan.links.value = below(&t->dice, 3);
    t->plan.switches.value = below(&t->dice, 2);
    t->plan.adapters.value = t->job->odd & PAIRS ? 0 : below(&t->dice, 3);
    draw(t, &failed);
    check_list(t, &failed);
    draw_set(t->whole, t->job->odd, 2 + below(&t->dice, 10), &t->dice, &failed);
    check_list(t, &failed);
}

static void cut_off(trial *t)
{
    uint32_t size[NODES] = {0}, largest = 0, got;
    OK(t->ctx, sv_faults_cut_off(t->ctx, t->f, &got));
    for (uint32_t v = t->f->num_switches; v < sv_num_nodes(t->f); v++)
        if (t->before.node[v] && ++size[t->before.group[v]] > largest)
            largest = size[t->before.group[v]];
    if (got != t->before.live_terminals - largest)
        wrong(t, "another number of terminals is cut off");
}

static void run(void **state)
{
    static const char *const patterns[] = {"leaf*", "*[0-3]", "spine ?", "none*", "*", "*e*"};
    const job *j = *state;
    for (uint32_t number = 0; number < test_times(j->trials); number++) {
        trial t = {.job = j, .number = number, .dice = ~number, .ctx = sv_ctx_new(NULL)};
        t.whole = j->spec ? test_fabric(t.ctx, j->spec) : make(t.ctx, number, j->odd);
        assert_true(sv_num_nodes(t.whole) <= NODES && t.whole->num_channels <= CHANNELS);
        draw_set(t.whole, j->odd, one_in(&t.dice, 3) ? 10 : UINT32_MAX, &t.dice, &t.start);
        sv_mask *mask = to_mask(t.ctx, t.whole, &t.start);
        OK(t.ctx, sv_fabric_mask(t.ctx, t.whole, mask, &t.f));
        settle(t.f, &t.start, &t.before);
        find_levels(t.f, &t.before);
        t.plan.seed = roll(&t.dice);
        if (one_in(&t.dice, 2)) {
            t.plan.only = one_in(&t.dice, 3) ? patterns[below(&t.dice, 6)] : NULL;
            t.plan.touching = one_in(&t.dice, 3) ? patterns[below(&t.dice, 6)] : NULL;
            t.plan.limit_level = one_in(&t.dice, 3);
            t.plan.level = below(&t.dice, 3);
            t.plan.keep_terminals = one_in(&t.dice, 3);
        }
        for (int kind = 0; kind < KINDS; kind++)
            for (uint32_t i = 0; i < CHANNELS; i++)
                t.choices[kind] += alive(&t, &t.before, kind, i) && allowed(&t, kind, i);
        j->run(&t);
        sv_mask_free(mask);
        sv_fabric_free(t.f);
        sv_fabric_free(t.whole);
        sv_ctx_free(t.ctx);
    }
}

int main(void)
{
    job jobs[] = {{"one kind", sweep_one_kind, 9000, 0},
                  {"one kind, hyperx", sweep_one_kind, 6, 0, "hyperx:4x3"},
                  {"one kind, path", sweep_one_kind, 30, 0, "mesh:8"},
                  {"one kind, ring", sweep_one_kind, 30, 0, "torus:8"},
                  {"one kind, terminals back to back", sweep_one_kind, 3000, PAIRS},
                  {"one kind, routers are no hosts", sweep_one_kind, 3000, ROUTERS},
                  {"one kind after others", sweep_after_others, 4000, 0},
                  {"mixed", mixed, 4000, 0},
                  {"mixed, torus", mixed, 100, 0, "torus:4x4x3,hosts=2"},
                  {"mixed, tree", mixed, 100, 0, "kary:k=4,n=3"},
                  {"mixed, dragonfly", mixed, 100, 0, "dragonfly:a=4,h=2,g=9"},
                  {"mixed, lost terminals of adapters", mixed, 1000, LOST_ADAPTERS},
                  {"lists", lists, 3000, PAIRS},
                  {"lists, one port of an adapter", lists, 1000, HALF_ADAPTERS},
                  {"cut off", cut_off, 4000, PAIRS}};
    struct CMUnitTest tests[sizeof jobs / sizeof *jobs];
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        tests[i] = (struct CMUnitTest){jobs[i].name, run, NULL, NULL, &jobs[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
