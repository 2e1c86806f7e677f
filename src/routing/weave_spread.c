/*
 * weave_spread.c: all destinations are routed as sssp does, by the least weight among ways that are
 * open; where that leads into a dead end, the tree that was laid for the home serves, mended.
 *
 * Invariant: every path that must be open is, and gets a lane that has all its turns.
 * Then all is done once more: a destination is taken out of the loads and routed again, by prices
 * that grow with the fourth power of the load. That brings the busiest channel down by a tenth.
 * Cost: as sssp, twice; some ten times the sum of all path lengths for each tree that is mended.
 */
#include "routing/weave.h"

#include <string.h>

enum { MOST_MENDS = 6 };

/* The open shortest way of the least weight. SV_NONE: none is open. */
static uint32_t cheapest(const sv__weave *w, const sv__dag *dag, uint32_t i)
{
    uint32_t best = SV_NONE, s = dag->order[i];
    uint64_t least = UINT64_MAX;
    for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
        uint32_t out = w->core.back[sv__dag_cable(&w->core, dag, s, k)];
        uint64_t key = sv__weave_key(w, out);
        if (key < least && (sv__weave_lanes(w, out) & w->want[s]) != 0) {
            least = key;
            best = out;
        }
    }
    return best;
}

bool sv__weave_grow(sv__weave *w, const sv__dag *dag)
{
    sv__wtree_begin(w, dag->order[0]);
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t best = cheapest(w, dag, i);
        if (best == SV_NONE)
            return false;
        sv__wtree_settle(w, dag->order[i], best, sv__weave_lanes(w, best));
    }
    return true;
}

bool sv__weave_find_tree(sv__weave *w, const sv__dag *dag)
{
    if (sv__weave_grow(w, dag))
        return true;
    w->play = sv__weave_home_lanes(w, dag->order[0]);
    sv__wtree_use_laid(w, dag->order[0]);
    for (unsigned i = 0; i < (w->detours ? MOST_MENDS : 1) && sv__wtree_mend(w); i++)
        ;
    return false;
}

/* A destination: its row, home and ways; *row NULL: nothing leads there. */
static sv_status begin(sv__weave *w, uint32_t d, uint8_t **row, const sv__dag **dag)
{
    sv_node home;
    SV_TRY(sv__end_row(w->job, d, row, &home));
    if (*row == NULL)
        return SV_OK;
    *dag = sv__dag_to(&w->dags, home.i);
    if (*dag == NULL)
        return SV_NO_MEMORY;
    if (w->mode->prepare != NULL)
        w->mode->prepare(w, *dag, d);
    return SV_OK;
}

/* The tree at hand becomes the row of a destination. */
static sv_status finish(sv__weave *w, uint32_t d, uint8_t *row)
{
    const sv__wtree *t = &w->tree;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t s = t->order[i];
        row[s] = w->core.entries[t->out[s]].port;
        w->unsafe += (t->open[s] & w->want[s]) == 0;
    }
    return w->mode->record(w, d);
}

static sv_status route_one(sv__weave *w, uint32_t d)
{
    uint8_t *row;
    const sv__dag *dag;
    SV_TRY(begin(w, d, &row, &dag));
    if (row == NULL)
        return SV_OK;
    sv__weave_find_tree(w, dag);
    SV_TRY(finish(w, d, row));
    if (!sv_is_switch(w->job->fabric, w->job->routes->node[d]))
        sv__wtree_weigh(w, sv__lots(w->job, d));
    return SV_OK;
}

/* The tree at hand, so many times, goes into weights and grade. */
static void weigh_sample(sv__weave *w, const sv__dag *dag, uint64_t times, sv__grade *grade)
{
    const sv__wtree *t = &w->tree;
    for (uint32_t i = 0; i < t->count; i++)
        w->flow[t->order[i]] = w->core.terminals[t->order[i]];
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t s = t->order[i], e = t->out[s];
        w->weight[e] = sv__weigh(w->weight[e], times * w->flow[s], e, sv__lots(w->job, t->home));
        w->flow[w->core.to[e]] += w->flow[s];
        grade->hops += times * w->core.terminals[s] * t->length[s];
        grade->lost += (t->open[s] & w->want[s]) == 0;
    }
    grade->lost += dag->count - t->count;
}

sv_status sv__weave_sample(sv__weave *w, unsigned rounds, sv__grade *grade)
{
    *grade = (sv__grade){0};
    sv__weave_clear(w);
    for (unsigned i = 0; i < rounds; i++)
        for (uint32_t home = 0; home < w->core.num_switches; home++) {
            uint64_t times = ((uint64_t)w->core.terminals[home] + rounds - 1 - i) / rounds;
            if (times == 0)
                continue;
            const sv__dag *dag = sv__dag_to(&w->dags, home);
            if (dag == NULL)
                return SV_NO_MEMORY;
            if (home % 64 == 0)
                SV_TRY(sv_progress(w->job->ctx, "comparing lanes", home, w->core.num_switches));
            w->play = sv__weave_home_lanes(w, home);
            grade->longer += !sv__weave_find_tree(w, dag);
            weigh_sample(w, dag, times, grade);
        }
    for (uint32_t e = 0; e < w->core.num_entries; e++)
        if (w->weight[e] >> SV__LOT_BITS > grade->busiest)
            grade->busiest = w->weight[e] >> SV__LOT_BITS;
    return SV_OK;
}

/* ---- once more ---- */

struct again {
    sv_core_ports ports;
    uint64_t *load; /* [entries]: routes on each channel */
    uint64_t mean;
};

/* What a channel costs: the fourth power of its load, as a share of the mean. */
static uint64_t price(const struct again *x, uint32_t entry, uint32_t lots)
{
    enum { UNIT = 10, MOST = 1 << 16 };
    uint64_t share = (x->load[entry] << UNIT) / x->mean;
    if (share > MOST)
        share = MOST;
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
                sv__wtree_settle(w, s, e, sv__weave_lanes(w, e));
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
    if (!all_open(w)) { /* it was in a lane that is no longer at hand */
        sv__weave_find_tree(w, dag);
        return;
    }
    for (unsigned i = 0; i < MOST_MENDS && sv__wtree_mend(w); i++)
        ;
}

/* The routes of the tree at hand are taken out of the loads, or put in; prices follow. */
static void put(sv__weave *w, struct again *x, bool in, uint32_t lots)
{
    const sv__wtree *t = &w->tree;
    for (uint32_t i = 0; i < t->count; i++)
        w->flow[t->order[i]] = w->core.terminals[t->order[i]];
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t s = t->order[i], e = t->out[s];
        x->load[e] = in ? x->load[e] + w->flow[s] : x->load[e] - w->flow[s];
        w->weight[e] = price(x, e, lots);
        w->flow[w->core.to[e]] += w->flow[s];
    }
}

static sv_status route_again(sv__weave *w, struct again *x, uint32_t d)
{
    uint8_t *row;
    const sv__dag *dag;
    bool terminal = !sv_is_switch(w->job->fabric, w->job->routes->node[d]);
    SV_TRY(begin(w, d, &row, &dag));
    if (row == NULL)
        return SV_OK;
    tree_of_row(w, &x->ports, dag->order[0], row);
    if (terminal) {
        put(w, x, false, sv__lots(w->job, d));
        find_again(w, x, dag, row);
        put(w, x, true, sv__lots(w->job, d));
    } else if (!all_open(w))
        sv__weave_find_tree(w, dag);
    return finish(w, d, row);
}

/* All destinations once more. */
static sv_status spread_again(sv__weave *w, const uint32_t *order, uint32_t count, struct again *x)
{
    memset(w->load, 0, sizeof w->load);
    w->unsafe = 0;
    for (uint32_t e = 0; e < w->core.num_entries; e++)
        w->weight[e] = price(x, e, sv__lots(w->job, SV_NONE));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(w->job->ctx, "balancing", i, count));
        SV_TRY(route_again(w, x, order[i]));
    }
    return SV_OK;
}

/* How often: as the option says, or once more on fabrics that are not large. */
static sv_status find_rounds(const sv__weave *w, unsigned *rounds)
{
    const char *text = sv__job_option(w->job, "rounds");
    *rounds = w->core.num_switches <= 512 ? 2 : 1;
    if (text == NULL)
        return SV_OK;
    if (text[0] < '1' || text[0] > '9' || text[1] != 0)
        return sv_fail(w->job->ctx, SV_BAD_INPUT, "rounds of %s are 1 to 9, not \"%s\"", w->name,
                       text);
    *rounds = (unsigned)(text[0] - '0');
    return SV_OK;
}

static sv_status balance(sv__weave *w, const uint32_t *order, uint32_t count)
{
    struct again x = {.mean = 0};
    unsigned rounds;
    SV_TRY(find_rounds(w, &rounds));
    if (rounds < 2)
        return SV_OK;
    SV_TRY(sv_core_ports_init(&x.ports, w->job->arena, &w->core, w->job->fabric));
    x.load = SV_ARENA_NEW(w->job->arena, uint64_t, w->core.num_entries);
    if (x.load == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < w->core.num_entries; e++) {
        x.load[e] = w->weight[e] >> SV__LOT_BITS;
        x.mean += x.load[e];
    }
    x.mean = x.mean / w->core.num_entries + 1;
    for (unsigned i = 1; i < rounds; i++)
        SV_TRY(spread_again(w, order, count, &x));
    return SV_OK;
}

sv_status sv__weave_spread(sv__weave *w)
{
    sv__job *job = w->job;
    uint32_t count, *order = sv__destinations(job, 1, &count);
    if (order == NULL)
        return SV_NO_MEMORY;
    sv__weave_clear(w);
    SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, w->mode->form));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(route_one(w, order[i]));
    }
    return balance(w, order, count);
}
