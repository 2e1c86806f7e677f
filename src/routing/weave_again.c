/*
 * weave_again.c: a second round: each destination is taken out of the loads and routed anew, by
 * prices that grow with the fourth power of the load.
 *
 * The first round routes early destinations without knowing where the late ones will have to go.
 * Once all loads are known, mending finds better ways: the busiest channel gets down by a tenth, on
 * tori below that of sssp. A third round brings nothing (docs/decisions/0014).
 *
 * With a job map only routes inside jobs count. Switches over which none of them leads to a
 * destination are free: they take ways of the same length by the loads of all routes, so that what
 * is not inside a job is balanced, too, without costing jobs anything.
 *
 * Invariant: as in the first round; what a destination had is kept where nothing else is open.
 * Cost: as the first round.
 */
#include <string.h>

#include "base/text.h"
#include "routing/weave.h"

/* Routes on channels, and what they cost. */
struct loads {
    uint64_t *of;     /* [entries] */
    uint64_t *prices; /* [entries]: by cable */
    uint64_t mean;
};

struct again {
    const sv__schedule *schedule;
    uint32_t begin, end; /* of the phase */
    bool jobs;           /* that of jobs */
    sv_core_ports ports;
    struct loads counted, all; /* routes that count; those of all terminals, for jobs only */
    uint32_t *bound;           /* [switches]: scratch */
};

/* What a channel costs: the fourth power of its load, as a share of the mean. */
static uint64_t price(const struct loads *l, uint32_t entry, uint32_t lots)
{
    enum { UNIT = 10, MAX = 1 << 16 };
    uint64_t share = (l->of[entry] << UNIT) / l->mean;
    if (share > MAX)
        share = MAX;
    uint64_t square = share * share >> UNIT;
    return (square * square >> UNIT) << SV__LOT_BITS | sv__lot(entry, lots);
}

/* The tree that a row holds. */
static void tree_of_row(sv__weave *w, const sv_core_ports *ports, uint32_t home, const uint8_t *row)
{
    const sv_core *core = &w->core;
    sv__wtree *t = &w->tree;
    sv__wtree_begin(w, home);
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t e = core->first[t->order[i]]; e < core->first[t->order[i] + 1]; e++) {
            uint32_t s = core->entries[e].from;
            if (t->length[s] == SV_NONE && sv_core_entry(ports, s, row[s]) == e)
                sv__wtree_settle(w, s, e, sv__weave_vls(w, e));
        }
}

/* Whether all paths of the tree at hand are open. */
static bool all_open(const sv__weave *w)
{
    const sv__wtree *t = &w->tree;
    bool open = true;
    for (uint32_t i = 1; i < t->count && open; i++)
        open = (t->open[t->order[i]] & w->want[t->order[i]]) != 0;
    return open;
}

/* The tree of a destination that had one: grown anew, or mended, or as the first time. */
static void find_again(sv__weave *w, const struct again *x, const sv__dag *dag, const uint8_t *row)
{
    if (sv__weave_grow(w, dag))
        return;
    tree_of_row(w, &x->ports, dag->order[0], row);
    if (!all_open(w)) { /* it was in a VL that is no longer at hand */
        sv__weave_find_tree(w, dag);
        return;
    }
    sv__wtree_mend_often(w);
}

/* The routes of the tree at hand are taken out of loads, or put in; prices follow. */
static void put(sv__weave *w, struct loads *l, bool in, uint32_t lots)
{
    const sv__wtree *t = &w->tree;
    sv__wtree_flows(w);
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t s = t->order[i], e = t->out[s];
        l->of[e] = in ? l->of[e] + w->flow[s] : l->of[e] - w->flow[s];
        l->prices[w->core.back[e]] = price(l, e, lots);
    }
}

/* The same for the routes of all terminals. */
static void put_all(sv__weave *w, struct again *x, bool in, uint32_t lots)
{
    const uint32_t *counted = w->sources;
    w->sources = w->core.terminals;
    put(w, &x->all, in, lots);
    w->sources = counted;
}

/* Switches over which no route leads that counts take other ways, by the loads of all routes. */
static void free_the_rest(sv__weave *w, struct again *x)
{
    sv__wtree_flows(w);
    memcpy(x->bound, w->flow, w->core.num_switches * sizeof *x->bound);
    w->weight = x->all.prices;
    sv__wtree_mend(w, x->bound);
    w->weight = x->counted.prices;
}

/* A terminal's tree anew. */
static void improve(sv__weave *w, struct again *x, const sv__dag *dag, const uint8_t *row,
                    uint32_t lots)
{
    put(w, &x->counted, false, lots);
    if (x->jobs)
        put_all(w, x, false, lots);
    find_again(w, x, dag, row);
    if (x->jobs) {
        free_the_rest(w, x);
        put_all(w, x, true, lots);
    }
    put(w, &x->counted, true, lots);
}

static sv_status route_again(sv__weave *w, struct again *x, uint32_t d)
{
    uint8_t *row;
    sv_node home;
    sv__pick pick;
    if (d == SV_NONE)
        return SV_OK;
    sv__weave_aim(w, x->schedule, d);
    SV_TRY(sv__end_row(w->job, d, &row, &home));
    SV_TRY(sv__weave_pick(w, d, &pick));
    if (row == NULL)
        return SV_OK;
    const sv__dag *dag = sv__dag_to(&w->dags, home.i);
    if (dag == NULL)
        return SV_NO_MEMORY;
    if (w->mode->prepare != NULL)
        w->mode->prepare(w, dag);
    tree_of_row(w, &x->ports, home.i, row);
    if (pick.terminal)
        improve(w, x, dag, row, sv__lots(w->job, d));
    else if (!all_open(w))
        sv__weave_find_tree(w, dag);
    w->unsafe += sv__wtree_write(w, row);
    if (w->mode->record != NULL)
        w->mode->record(w, &pick);
    memcpy(w->load, pick.load, sizeof w->load);
    return SV_OK;
}

/* All destinations of the phase once more. */
static sv_status spread_again(sv__weave *w, struct again *x)
{
    for (uint32_t i = x->begin; i < x->end; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(w->job->ctx, "balancing", i, x->schedule->count));
        SV_TRY(route_again(w, x, x->schedule->order[i]));
    }
    return SV_OK;
}

unsigned sv__weave_rounds(const sv__routing_job *job, uint32_t small)
{
    const char *text = sv__job_option(job, "rounds");
    uint64_t rounds = job->fabric->num_switches <= small ? 2 : 1;
    if (text != NULL)
        sv_span_number(sv_span_of(text), 9, &rounds);
    return (unsigned)rounds;
}

/* Prices of loads that are known. few: of few channels: else all prices could be the same. */
static void begin_prices(const sv__weave *w, struct loads *l, bool few)
{
    uint64_t max = 0;
    uint32_t entries = w->core.num_entries;
    l->mean = 0;
    for (uint32_t e = 0; e < entries; e++) {
        l->mean += l->of[e];
        max = l->of[e] > max ? l->of[e] : max;
    }
    l->mean = l->mean / entries + 1;
    if (few && l->mean < max / 16)
        l->mean = max / 16;
    for (uint32_t e = 0; e < entries; e++)
        l->prices[w->core.back[e]] = price(l, e, sv__lots(w->job, SV_NONE));
}

/* Loads of all routes to the destinations of the phase. */
static void count_all(sv__weave *w, struct again *x)
{
    const sv_routes *r = w->job->routes;
    x->all.mean = 1; /* prices do not matter yet */
    for (uint32_t i = x->begin; i < x->end; i++) {
        uint32_t d = x->schedule->order[i];
        if (d == SV_NONE || r->ports[d] == NULL)
            continue;
        tree_of_row(w, &x->ports, sv__home_of(w->job, d), r->ports[d]);
        put_all(w, x, true, 0);
    }
}

static sv_status begin_again(sv__weave *w, struct again *x)
{
    sv_arena *a = w->job->arena;
    uint32_t entries = w->core.num_entries;
    SV_TRY(sv_core_ports_init(&x->ports, a, &w->core, w->job->fabric));
    x->counted.of = SV_ARENA_NEW(a, uint64_t, entries);
    x->counted.prices = w->weight;
    x->all.of = SV_ARENA_NEW(a, uint64_t, entries);
    x->all.prices = SV_ARENA_NEW(a, uint64_t, entries);
    x->bound = SV_ARENA_NEW(a, uint32_t, w->core.num_switches);
    if (x->counted.of == NULL || x->all.of == NULL || x->all.prices == NULL || x->bound == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < entries; e++)
        x->counted.of[e] = w->weight[w->core.back[e]] >> SV__LOT_BITS;
    if (x->jobs)
        count_all(w, x);
    begin_prices(w, &x->counted, x->jobs);
    begin_prices(w, &x->all, false);
    return SV_OK;
}

sv_status sv__weave_again(sv__weave *w, const sv__schedule *schedule, uint32_t begin, uint32_t end,
                          const uint64_t *load, uint64_t unsafe)
{
    struct again x = {.schedule = schedule, .begin = begin, .end = end};
    x.jobs = end <= schedule->end[0];
    unsigned rounds = sv__weave_rounds(w->job, x.jobs ? UINT32_MAX : SV__SMALL);
    if (rounds < 2)
        return SV_OK;
    SV_TRY(begin_again(w, &x));
    for (unsigned i = 1; i < rounds; i++) {
        memcpy(w->load, load, sizeof w->load);
        w->unsafe = unsafe;
        SV_TRY(spread_again(w, &x));
    }
    return SV_OK;
}
