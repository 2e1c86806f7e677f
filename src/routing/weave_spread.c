/*
 * weave_spread.c: all destinations are routed as sssp does, by the least weight among ways that are
 * open; where that leads into a dead end, the tree that was laid for the home serves, mended.
 *
 * Invariant: every path that must be open is, and gets a lane that has all its turns.
 * Cost: as sssp; some ten times the sum of all path lengths for each tree that is mended.
 */
#include "routing/weave.h"

#include <string.h>

enum { MOST_MENDS = 6 };

/* The open shortest way of the least weight. SV_NONE: none is open. */
static uint32_t cheapest(const sv__weave *w, const sv__dag *dag, uint32_t i)
{
    uint32_t best = SV_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
        uint32_t out = w->core.back[sv__dag_cable(&w->core, dag, dag->order[i], k)];
        uint64_t key = sv__weave_key(w, out);
        if (key < least && sv__weave_lanes(w, out) != 0) {
            least = key;
            best = out;
        }
    }
    return best;
}

/* A tree of shortest paths, all open; false if some switch finds none. */
static bool grow(sv__weave *w, const sv__dag *dag)
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

/* Each path goes to the least loaded lane that is open to it. */
static void pick_lanes(sv__weave *w, bool terminal, uint8_t *sls)
{
    for (uint32_t i = 1; i < w->tree.count; i++) {
        uint32_t s = w->tree.order[i];
        unsigned best = 0;
        uint64_t least = UINT64_MAX;
        for (sv_lane_mask m = w->tree.open[s]; m != 0; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctzll(m);
            best = w->load[l] < least ? l : best;
            least = w->load[l] < least ? w->load[l] : least;
        }
        w->unsafe += w->tree.open[s] == 0;
        w->load[best] += terminal ? w->core.terminals[s] : 0;
        sls[s] = (uint8_t)best;
    }
}

/* The tree of a home: of shortest open paths, or else what was laid, mended. */
static void find_tree(sv__weave *w, const sv__dag *dag)
{
    if (grow(w, dag))
        return;
    sv__wtree_use_laid(w, dag->order[0]);
    for (unsigned i = 0; i < (w->detours ? MOST_MENDS : 1) && sv__wtree_mend(w); i++)
        ;
}

static sv_status route_one(sv__weave *w, uint32_t d)
{
    sv__job *job = w->job;
    uint8_t *row, *sls = sv_routes_sl_row(job->ctx, job->routes, d);
    sv_node home;
    SV_TRY(sv__end_row(job, d, &row, &home));
    if (sls == NULL)
        return SV_NO_MEMORY;
    memset(sls, 0, job->routes->num_switches);
    if (row == NULL)
        return SV_OK;
    const sv__dag *dag = sv__dag_to(&w->dags, home.i);
    if (dag == NULL)
        return SV_NO_MEMORY;
    bool terminal = !sv_is_switch(job->fabric, job->routes->node[d]);
    find_tree(w, dag);
    for (uint32_t i = 1; i < w->tree.count; i++)
        row[w->tree.order[i]] = w->core.entries[w->tree.out[w->tree.order[i]]].port;
    pick_lanes(w, terminal, sls);
    if (terminal)
        sv__wtree_weigh(w, sv__lots(job, d));
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
        grade->lost += t->open[s] == 0;
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
            find_tree(w, dag);
            weigh_sample(w, dag, times, grade);
        }
    for (uint32_t e = 0; e < w->core.num_entries; e++)
        if (w->weight[e] >> SV__LOT_BITS > grade->busiest)
            grade->busiest = w->weight[e] >> SV__LOT_BITS;
    return SV_OK;
}

sv_status sv__weave_spread(sv__weave *w)
{
    sv__job *job = w->job;
    uint32_t count, *order = sv__destinations(job, 1, &count);
    if (order == NULL)
        return SV_NO_MEMORY;
    sv__weave_clear(w);
    SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, SV_SL_BY_SWITCH));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(route_one(w, order[i]));
    }
    return SV_OK;
}
