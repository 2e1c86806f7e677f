/*
 * test_faults.c: random failures (faults.h) against a slow and obvious second opinion.
 *
 * What is left of a fabric is worked out here from its channels and the bits of a mask alone: who
 * is alive, and by passing labels along cables until nothing changes, who reaches whom. Every draw
 * on thousands of small fabrics is then held against the header's promises:
 *
 *   nothing critical   all pairs of terminals: those that could talk and still exist can talk
 *   counts             as many as asked for, of the right kind and within the limits of the plan
 *   nesting            the draw for n is part of the draw for n + 1
 *   the end            when n + 1 are refused, after the draw for n really nothing more can fail
 *                      (each candidate left is tried); where every switch has terminals, n is the
 *                      number of cables beyond a spanning forest
 *   clean failure      mask and report are untouched
 *   determinism        twice the same, whatever the number of threads
 *
 * Lists of failures are written, read and compared by what they leave alive; sv_faults_cut_off is
 * held against the labels. Trials are numbered; a number is its seed.
 */
#include "support/testing.h"

#include "base/file.h"

#include <fnmatch.h>

enum { MOST_SWITCHES = 10, NODES = 400, CHANNELS = 2000 };

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

/* ---- fabrics ---- */

typedef struct maker {
    sv_builder *builder;
    uint64_t dice, guid;
    uint16_t used[MOST_SWITCHES];
    uint32_t switches, adapter;
    bool second; /* the last adapter has a port left */
} maker;

static void join(maker *m, uint32_t a, uint32_t b)
{
    static const sv_link link = {.width = 4, .speed = SV_SPEED_EDR};
    for (uint32_t k = one_in(&m->dice, 6) ? 2 : 1; k > 0; k--) {
        sv_end from = {.index = a, .port = ++m->used[a]}, to = {.index = b, .port = ++m->used[b]};
        sv_builder_add_cable(m->builder, from, to, &link);
    }
}

/* A terminal, on the second port of the adapter before or on a new one. */
static sv_end host(maker *m)
{
    sv_end end = {.terminal = true};
    char name[32];
    snprintf(name, sizeof name, "node %u", (unsigned)m->guid % 7);
    sv_adapter_info card = {.name = name, .guid = ++m->guid, .ports = 2};
    card.kind = one_in(&m->dice, 8) ? 1 + below(&m->dice, 2) : SV_ADAPTER_HOST;
    if (!m->second)
        sv_builder_add_adapter(m->builder, &card, &m->adapter);
    end.port = m->second ? 2 : 1;
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

static sv_fabric *make(sv_ctx *ctx, uint64_t seed)
{
    static const char *const names[] = {"leaf", "spine ", "core#"};
    static const sv_link link = {.width = 4, .speed = SV_SPEED_EDR};
    maker m = {.builder = sv_builder_new(ctx), .dice = seed, .guid = 0x1000};
    sv_fabric *f = NULL;
    uint32_t bare = below(&m.dice, 4), most = 1 + below(&m.dice, 3);
    m.switches = 1 + below(&m.dice, MOST_SWITCHES);
    for (uint32_t i = 0; i < m.switches; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%u", names[below(&m.dice, 3)], i);
        sv_switch_info about = {.name = name, .guid = ++m.guid, .ports = 200};
        sv_builder_add_switch(m.builder, &about, NULL);
    }
    shape(&m);
    for (uint32_t i = 0; i < m.switches; i++)
        for (uint32_t h = bare > 0 && one_in(&m.dice, 1 + bare) ? 0 : 1 + below(&m.dice, most);
             h > 0; h--) {
            sv_end at = {.index = i, .port = ++m.used[i]};
            sv_builder_add_cable(m.builder, at, host(&m), &link);
        }
    if (one_in(&m.dice, 8)) { /* two terminals back to back */
        sv_end a = host(&m), b = host(&m);
        sv_builder_add_cable(m.builder, a, b, &link);
    }
    OK(ctx, sv_builder_finish(m.builder, &f));
    OK(ctx, sv_fabric_check(ctx, f));
    return f;
}

/* ---- masks ---- */

static bool bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static sv_mask *copy_of(sv_ctx *ctx, const sv_fabric *f, const sv_mask *mask)
{
    sv_mask *copy = sv_mask_new(ctx, f);
    assert_non_null(copy);
    for (uint32_t v = 0; mask != NULL && v < sv_num_nodes(f); v++)
        if (bit(mask->nodes, v))
            sv_mask_node(copy, (sv_node){v});
    for (uint32_t c = 0; mask != NULL && c < f->num_channels; c++)
        if (bit(mask->channels, c))
            sv_mask_cable(copy, f, (sv_channel){c});
    return copy;
}

static bool within(const sv_fabric *f, const sv_mask *small, const sv_mask *large)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (bit(small->nodes, v) && !bit(large->nodes, v))
            return false;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (bit(small->channels, c) && !bit(large->channels, c))
            return false;
    return true;
}

static bool same(const sv_fabric *f, const sv_mask *a, const sv_mask *b)
{
    return within(f, a, b) && within(f, b, a);
}

/* Everything with a chance of one in …. */
static sv_mask *any_mask(sv_ctx *ctx, const sv_fabric *f, uint32_t rare, uint64_t *dice)
{
    sv_mask *mask = copy_of(ctx, f, NULL);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (one_in(dice, rare))
            sv_mask_node(mask, (sv_node){v});
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (one_in(dice, rare))
            sv_mask_cable(mask, f, (sv_channel){c});
    return mask;
}

/* ---- what a mask leaves ---- */

typedef struct world {
    bool node[NODES], channel[CHANNELS]; /* alive */
    uint32_t group[NODES];               /* the same for nodes that reach each other */
    uint32_t terminals[NODES];           /* on a switch */
    uint32_t level[NODES];               /* distance to the nearest switch with terminals */
    uint32_t live_terminals;
} world;

/* Passes labels and levels along cables until nothing changes. */
static void spread(const sv_fabric *f, world *w)
{
    bool changed = true;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        w->group[v] = v;
        w->level[v] = v < f->num_switches && w->terminals[v] > 0 ? 0 : UINT32_MAX;
    }
    while (changed) {
        changed = false;
        for (uint32_t c = 0; c < f->num_channels; c++) {
            uint32_t a = f->tail[c].i, b = f->head[c].i;
            if (w->channel[c] && w->group[a] < w->group[b]) {
                w->group[b] = w->group[a];
                changed = true;
            }
            if (w->channel[c] && a < f->num_switches && b < f->num_switches &&
                w->level[a] != UINT32_MAX && w->level[a] + 1 < w->level[b]) {
                w->level[b] = w->level[a] + 1;
                changed = true;
            }
        }
    }
}

static void settle(const sv_fabric *f, const sv_mask *mask, world *w)
{
    bool cabled[NODES] = {false};
    assert_true(sv_num_nodes(f) <= NODES && f->num_channels <= CHANNELS);
    memset(w, 0, sizeof *w);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        w->node[v] = sv_node_alive(f, (sv_node){v}) && !bit(mask->nodes, v);
    for (uint32_t c = 0; c < f->num_channels; c++) {
        uint32_t a = f->tail[c].i, b = f->head[c].i;
        assert_int_equal(bit(mask->channels, c), bit(mask->channels, f->reverse[c].i));
        w->channel[c] = sv_channel_alive(f, (sv_channel){c}) && !bit(mask->channels, c) &&
                        w->node[a] && w->node[b];
        cabled[a] |= w->channel[c];
        w->terminals[a] += w->channel[c] && b >= f->num_switches;
    }
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++) {
        w->node[v] = w->node[v] && cabled[v];
        w->live_terminals += w->node[v];
    }
    spread(f, w);
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

/* ---- what a plan allows ---- */

static bool fits(const char *pattern, const sv_fabric *f, uint32_t v)
{
    return pattern == NULL || fnmatch(pattern, f->switches[v].name, 0) == 0;
}

static bool may_link(const sv_fabric *f, const world *w, const sv_fault_plan *plan, uint32_t c)
{
    uint32_t a = f->tail[c].i, b = f->head[c].i;
    if (!w->channel[c] || c > f->reverse[c].i || a == b || a >= f->num_switches ||
        b >= f->num_switches)
        return false;
    uint32_t lower = w->level[a] < w->level[b] ? w->level[a] : w->level[b];
    return fits(plan->only, f, a) && fits(plan->only, f, b) &&
           (fits(plan->touching, f, a) || fits(plan->touching, f, b)) &&
           (!plan->limit_level || lower == plan->level);
}

static bool may_switch(const sv_fabric *f, const world *w, const sv_fault_plan *plan, uint32_t v)
{
    return w->node[v] && fits(plan->only, f, v) && fits(plan->touching, f, v) &&
           (!plan->limit_level || w->level[v] == plan->level) &&
           !(plan->keep_terminals && w->terminals[v] > 0);
}

static bool may_adapter(const sv_fabric *f, const world *w, uint32_t adapter)
{
    bool some = false;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        some |= f->terminals[t].adapter == adapter && w->node[f->num_switches + t];
    return some && f->adapters[adapter].kind == SV_ADAPTER_HOST;
}

static void count(const sv_fabric *f, const world *w, const sv_fault_plan *plan,
                  sv_fault_report *choices)
{
    *choices = (sv_fault_report){0};
    for (uint32_t c = 0; c < f->num_channels; c++)
        choices->links += may_link(f, w, plan, c);
    for (uint32_t v = 0; v < f->num_switches; v++)
        choices->switches += may_switch(f, w, plan, v);
    for (uint32_t a = 0; a < f->num_adapters; a++)
        choices->adapters += may_adapter(f, w, a);
}

/* ---- one draw ---- */

typedef struct trial {
    char name[96];
    sv_ctx *ctx;
    sv_fabric *f;
    sv_mask *start; /* failed before the draw */
    world before;
    sv_fault_plan plan;
    sv_fault_report choices; /* how many candidates there are */
} trial;

static void wrong(const trial *t, const char *what)
{
    const sv_fabric *f = t->f;
    const sv_fault_plan *p = &t->plan;
    for (uint32_t v = 0; v < f->num_switches; v++)
        if (t->before.node[v])
            print_error("%s (%u terminals)  ", f->switches[v].name, t->before.terminals[v]);
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (t->before.channel[c] && c < f->reverse[c].i && f->head[c].i < f->num_switches)
            print_error(" %u-%u", f->tail[c].i, f->head[c].i);
    print_error(
        "\nlinks %llu%s switches %llu%s adapters %llu%s both %llu%s %u:%u only %s touching %s "
        "level %d%s\n",
        (unsigned long long)p->links.value, p->links.relative ? "ppm" : "",
        (unsigned long long)p->switches.value, p->switches.relative ? "ppm" : "",
        (unsigned long long)p->adapters.value, p->adapters.relative ? "ppm" : "",
        (unsigned long long)p->both.value, p->both.relative ? "ppm" : "", p->ratio_switches,
        p->ratio_links, p->only ? p->only : "-", p->touching ? p->touching : "-",
        p->limit_level ? (int)p->level : -1, p->keep_terminals ? " keep terminals" : "");
    fail_msg("%s: %s", t->name, what);
}

static uint64_t amount_of(sv_amount amount, uint64_t choices)
{
    return amount.relative ? choices * amount.value / 1000000 : amount.value;
}

/* sv_fabric_mask and this file agree on what is left. */
static void check_result(const trial *t, const sv_mask *mask, const world *after)
{
    sv_fabric *result = NULL;
    OK(t->ctx, sv_fabric_mask(t->ctx, t->f, mask, &result));
    if (sv_fabric_check(t->ctx, result) != SV_OK)
        wrong(t, sv_ctx_message(t->ctx));
    for (uint32_t v = 0; v < sv_num_nodes(result); v++)
        if (sv_node_alive(result, (sv_node){v}) != after->node[v])
            wrong(t, "another node is alive than should be");
    for (uint32_t c = 0; c < result->num_channels; c++)
        if (sv_channel_alive(result, (sv_channel){c}) != after->channel[c])
            wrong(t, "another channel is alive than should be");
    sv_fabric_free(result);
}

/* Whether an adapter was chosen: a terminal of it is in the mask, its switch is not. */
static bool adapter_chosen(const trial *t, const sv_mask *got, uint32_t adapter)
{
    const sv_fabric *f = t->f;
    bool chosen = false;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        uint32_t v = f->tail[c].i, end = f->head[c].i;
        chosen |= v >= f->num_switches && f->terminals[v - f->num_switches].adapter == adapter &&
                  t->before.node[v] && bit(got->nodes, v) &&
                  (end >= f->num_switches || !bit(got->nodes, end));
    }
    return chosen;
}

/* What was added to the mask, and that it was allowed. */
static sv_fault_report chosen(const trial *t, const sv_mask *got, const world *after)
{
    const sv_fabric *f = t->f;
    sv_fault_report sum = {0};
    for (uint32_t v = 0; v < f->num_switches; v++)
        if (bit(got->nodes, v) && !bit(t->start->nodes, v)) {
            sum.switches++;
            if (!may_switch(f, &t->before, &t->plan, v))
                wrong(t, "a switch failed that may not");
        }
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (bit(got->channels, c) && !bit(t->start->channels, c) && c < f->reverse[c].i &&
            after->node[f->tail[c].i] && after->node[f->head[c].i]) {
            sum.links++;
            if (!may_link(f, &t->before, &t->plan, c))
                wrong(t, "a link failed that may not");
        }
    for (uint32_t a = 0; a < f->num_adapters; a++)
        if (adapter_chosen(t, got, a)) {
            sum.adapters++;
            if (!may_adapter(f, &t->before, a) || may_adapter(f, after, a))
                wrong(t, "an adapter failed that may not, or in part only");
        }
    sum.lost_terminals = t->before.live_terminals - after->live_terminals;
    return sum;
}

static void verify(const trial *t, const sv_mask *got, const sv_fault_report *report)
{
    const sv_fault_plan *plan = &t->plan;
    world after;
    settle(t->f, got, &after);
    check_result(t, got, &after);
    if (!within(t->f, t->start, got))
        wrong(t, "the draw took something out of the mask");
    if (!harmless(t->f, &t->before, &after))
        wrong(t, "two terminals were parted");
    sv_fault_report sum = chosen(t, got, &after);
    uint64_t links = amount_of(plan->links, t->choices.links);
    uint64_t switches = amount_of(plan->switches, t->choices.switches);
    if (plan->ratio_links != 0) {
        links = amount_of(plan->both, t->choices.links);
        switches = links * plan->ratio_switches / plan->ratio_links;
    }
    if (sum.links != links || sum.switches != switches ||
        sum.adapters != amount_of(plan->adapters, t->choices.adapters))
        wrong(t, "other than the wanted number failed");
    if (sum.links != report->links || sum.switches != report->switches ||
        sum.adapters != report->adapters || sum.lost_terminals != report->lost_terminals)
        wrong(t, "the report is wrong");
}

/* Draws, twice, and checks all that can be said about one draw. The mask is the caller's. */
static sv_status draw(const trial *t, sv_mask **got)
{
    sv_fault_report untouched, report, again;
    sv_mask *second = copy_of(t->ctx, t->f, t->start);
    memset(&untouched, 0x5a, sizeof untouched);
    report = again = untouched;
    *got = copy_of(t->ctx, t->f, t->start);
    sv_ctx_set_threads(t->ctx, 1);
    sv_status status = sv_faults_draw(t->ctx, t->f, &t->plan, *got, &report);
    sv_ctx_set_threads(t->ctx, 7);
    if (sv_faults_draw(t->ctx, t->f, &t->plan, second, &again) != status ||
        !same(t->f, *got, second) || memcmp(&report, &again, sizeof report) != 0)
        wrong(t, "two draws differ");
    if (status == SV_OK)
        verify(t, *got, &report);
    else if (status != SV_INFEASIBLE)
        wrong(t, sv_ctx_message(t->ctx));
    else if (!same(t->f, *got, t->start) || memcmp(&report, &untouched, sizeof report) != 0)
        wrong(t, "the refused draw left traces");
    sv_mask_free(second);
    return status;
}

/* ---- how many can fail ---- */

enum { LINKS, SWITCHES, ADAPTERS, KINDS };

/* After the largest draw: whatever could fail now would part two terminals. */
static void check_stuck(const trial *t, int kind, const sv_mask *got)
{
    const sv_fabric *f = t->f;
    world after, next;
    settle(f, got, &after);
    uint32_t last = kind == LINKS ? f->num_channels : f->num_switches;
    for (uint32_t i = 0; i < last && kind != ADAPTERS; i++) {
        if (kind == LINKS ? !may_link(f, &t->before, &t->plan, i) || !after.channel[i]
                          : !may_switch(f, &t->before, &t->plan, i) || !after.node[i])
            continue;
        sv_mask *more = copy_of(t->ctx, f, got);
        if (kind == LINKS)
            sv_mask_cable(more, f, (sv_channel){i});
        else
            sv_mask_node(more, (sv_node){i});
        settle(f, more, &next);
        if (harmless(f, &t->before, &next))
            wrong(t, "refused, but one more could fail");
        sv_mask_free(more);
    }
    for (uint32_t a = 0; a < f->num_adapters && kind == ADAPTERS; a++)
        if (may_adapter(f, &after, a))
            wrong(t, "refused, but one more adapter could fail");
}

/* Asks for 0, 1, 2 … until refused. Returns the last number that was not, or UINT32_MAX. */
static uint32_t sweep(trial *t, int kind)
{
    sv_amount *asked = kind == LINKS      ? &t->plan.links
                       : kind == ADAPTERS ? &t->plan.adapters
                                          : &t->plan.switches;
    sv_mask *got, *last = NULL;
    uint32_t most = UINT32_MAX;
    for (*asked = (sv_amount){false, 0}; draw(t, &got) == SV_OK; asked->value++) {
        if (last != NULL && !within(t->f, last, got))
            wrong(t, "the smaller draw is not part of the larger one");
        sv_mask_free(last);
        last = got;
        most = (uint32_t)asked->value;
    }
    sv_mask_free(got);
    for (uint64_t more = 1; last != NULL && more < UINT64_MAX / 4; more = more * 16 + 1) {
        asked->value = most + 1 + more;
        if (draw(t, &got) == SV_OK)
            wrong(t, "more can fail than could before");
        sv_mask_free(got);
    }
    asked->value = most;
    if (last != NULL)
        check_stuck(t, kind, last);
    sv_mask_free(last);
    return most;
}

/* ---- the trials ---- */

static void limit(sv_fault_plan *plan, uint64_t *dice)
{
    static const char *const patterns[] = {"leaf*", "*[0-3]", "spine ?", "none*", "*", "*e*"};
    plan->only = one_in(dice, 3) ? patterns[below(dice, 6)] : NULL;
    plan->touching = one_in(dice, 3) ? patterns[below(dice, 6)] : NULL;
    plan->limit_level = one_in(dice, 3);
    plan->level = below(dice, 3);
    plan->keep_terminals = one_in(dice, 3);
}

/* A fabric, at times with failures of its own, and a mask, at times with something in it. */
static void start_trial(trial *t, const char *what, uint32_t number, uint64_t *dice)
{
    snprintf(t->name, sizeof t->name, "%s trial %u", what, number);
    *dice = number;
    t->ctx = sv_ctx_new(NULL);
    sv_fabric *whole = make(t->ctx, *dice), *f = NULL;
    sv_mask *mask = any_mask(t->ctx, whole, one_in(dice, 3) ? 10 : UINT32_MAX, dice);
    OK(t->ctx, sv_fabric_mask(t->ctx, whole, mask, &f));
    sv_mask_free(mask);
    sv_fabric_free(whole);
    t->f = f;
    t->start = any_mask(t->ctx, f, one_in(dice, 4) ? 12 : UINT32_MAX, dice);
    settle(f, t->start, &t->before);
    t->plan = (sv_fault_plan){.seed = roll(dice)};
    if (one_in(dice, 2))
        limit(&t->plan, dice);
    count(f, &t->before, &t->plan, &t->choices);
}

static void end_trial(trial *t)
{
    sv_mask_free(t->start);
    sv_fabric_free(t->f);
    sv_ctx_free(t->ctx);
}

/* Cables beyond a spanning forest; UINT32_MAX where not every switch has terminals. */
static uint32_t spare_links(const trial *t)
{
    uint32_t spare = t->choices.links;
    for (uint32_t v = 0; v < t->f->num_switches; v++) {
        if (t->before.node[v] && t->before.terminals[v] == 0)
            return UINT32_MAX;
        spare -= t->before.node[v] && t->before.group[v] != v;
    }
    return spare;
}

/* A percentage draws what the number it stands for draws. */
static void check_percentage(trial *t, int kind, uint64_t *dice)
{
    sv_amount *asked[] = {&t->plan.links, &t->plan.switches, &t->plan.adapters};
    const uint32_t of[] = {t->choices.links, t->choices.switches, t->choices.adapters};
    sv_mask *relative, *absolute;
    *asked[kind] = (sv_amount){true, below(dice, 1000001)};
    sv_status status = draw(t, &relative);
    *asked[kind] = (sv_amount){false, amount_of(*asked[kind], of[kind])};
    if (draw(t, &absolute) != status || !same(t->f, relative, absolute))
        wrong(t, "a percentage draws other failures than its number");
    sv_mask_free(relative);
    sv_mask_free(absolute);
}

static void test_sweeps(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 3000; number++) {
        trial t;
        uint64_t dice;
        start_trial(&t, "sweep", number, &dice);
        int kind = (int)below(&dice, KINDS);
        if (kind != SWITCHES && one_in(&dice, 3))
            t.plan.switches.value = below(&dice, 3);
        if (kind == ADAPTERS && one_in(&dice, 3))
            t.plan.links.value = below(&dice, 3);
        bool alone = t.plan.switches.value == 0 && t.plan.links.value == 0;
        uint32_t most = sweep(&t, kind);
        bool limits = t.plan.only || t.plan.touching || t.plan.limit_level;
        if (alone && most == UINT32_MAX)
            wrong(&t, "none at all is too many");
        if (alone && kind == LINKS && !limits && spare_links(&t) != UINT32_MAX &&
            most != spare_links(&t))
            wrong(&t, "not all spare links can fail");
        if (alone)
            check_percentage(&t, kind, &dice);
        end_trial(&t);
    }
}

/* Several kinds at once, and both in a ratio. */
static void test_mixed(void **state)
{
    (void)state;
    uint32_t done = 0;
    for (uint32_t number = 0; number < 4000; number++) {
        trial t;
        uint64_t dice;
        sv_mask *got;
        start_trial(&t, "mixed", number, &dice);
        sv_amount links = {one_in(&dice, 2), 0};
        links.value = links.relative ? below(&dice, 300000) : below(&dice, 4);
        if (one_in(&dice, 2)) {
            t.plan.both = links;
            t.plan.ratio_switches = below(&dice, 4);
            t.plan.ratio_links = 1 + below(&dice, 4);
        } else {
            t.plan.links = links;
            t.plan.switches = (sv_amount){true, below(&dice, 400000)};
        }
        t.plan.adapters = (sv_amount){true, below(&dice, 400000)};
        done += draw(&t, &got) == SV_OK;
        sv_mask_free(got);
        end_trial(&t);
    }
    assert_true(done > 1000);
}

/* What is written can be read, and leaves the same. */
static void check_list(const trial *t, const sv_mask *mask)
{
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    sv_fault_report report;
    sv_mask *read = copy_of(t->ctx, t->f, NULL);
    world wanted, left;
    OK(t->ctx, sv_faults_write(t->ctx, t->f, mask, &sink));
    sv_memory memory = {buffer.text, buffer.length};
    sv_source source = sv_memory_source(&memory, "list");
    if (sv_faults_read(t->ctx, t->f, &source, read, &report) != SV_OK) {
        print_error("%s", buffer.text);
        wrong(t, sv_ctx_message(t->ctx));
    }
    settle(t->f, mask, &wanted);
    settle(t->f, read, &left);
    check_result(t, read, &wanted);
    if (memcmp(&wanted, &left, sizeof left) != 0) {
        print_error("%s", buffer.text);
        wrong(t, "the list leaves something else");
    }
    sv_mask_free(read);
    free(buffer.text);
}

static void check_cut_off(const trial *t, const sv_mask *mask)
{
    world w;
    sv_fabric *f = NULL;
    uint32_t size[NODES] = {0}, largest = 0, got;
    settle(t->f, mask, &w);
    OK(t->ctx, sv_fabric_mask(t->ctx, t->f, mask, &f));
    OK(t->ctx, sv_faults_cut_off(t->ctx, f, &got));
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
        if (w.node[v] && ++size[w.group[v]] > largest)
            largest = size[w.group[v]];
    if (got != w.live_terminals - largest)
        wrong(t, "another number of terminals is cut off");
    sv_fabric_free(f);
}

static void test_lists(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 3000; number++) {
        trial t;
        uint64_t dice;
        sv_mask *got;
        start_trial(&t, "list", number, &dice);
        t.plan.links.value = below(&dice, 3);
        t.plan.switches.value = below(&dice, 2);
        t.plan.adapters.value = below(&dice, 3);
        draw(&t, &got);
        check_list(&t, got);
        sv_mask_free(got);
        got = any_mask(t.ctx, t.f, 2 + below(&dice, 10), &dice);
        check_list(&t, got);
        check_cut_off(&t, got);
        sv_mask_free(got);
        end_trial(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
