/*
 * weave_again.c: a second round: each destination is taken out of the loads and routed anew, by
 * prices that grow with the fourth power of the load.
 *
 * The first round routes early destinations without knowing where the late ones will have to go.
 * Once all loads are known, mending finds better ways: the busiest channel gets down by a tenth, on
 * tori below that of sssp. A third round brings nothing (docs/decisions/0014).
 *
 * Invariant: as in the first round; what a destination had is kept where nothing else is open.
 * Cost: as the first round.
 */
#include <string.h>

#include "routing/weave.h"

struct again {
    const sv__schedule *schedule;
    uint32_t begin, end; /* of the phase */
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
    sv__wtree_mend_often(w);
}

/* The routes of the tree at hand are taken out of the loads, or put in; prices follow. */
static void put(sv__weave *w, struct again *x, bool in, uint32_t lots)
{
    const sv__wtree *t = &w->tree;
    sv__wtree_flows(w);
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t s = t->order[i], e = t->out[s];
        x->load[e] = in ? x->load[e] + w->flow[s] : x->load[e] - w->flow[s];
        w->weight[w->core.back[e]] = price(x, e, lots);
    }
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
    if (pick.terminal) {
        put(w, x, false, sv__lots(w->job, d));
        find_again(w, x, dag, row);
        put(w, x, true, sv__lots(w->job, d));
    } else if (!all_open(w))
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
    for (uint32_t e = 0; e < w->core.num_entries; e++)
        w->weight[w->core.back[e]] = price(x, e, sv__lots(w->job, SV_NONE));
    for (uint32_t i = x->begin; i < x->end; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(w->job->ctx, "balancing", i, x->schedule->count));
        SV_TRY(route_again(w, x, x->schedule->order[i]));
    }
    return SV_OK;
}

sv_status sv__weave_rounds(const sv__job *job, bool jobs, unsigned *rounds)
{
    const char *text = sv__job_option(job, "rounds");
    *rounds = jobs || job->fabric->num_switches <= 512 ? 2 : 1;
    if (text == NULL)
        return SV_OK;
    if (text[0] < '1' || text[0] > '9' || text[1] != 0)
        return sv_fail(job->ctx, SV_BAD_INPUT, "rounds are 1 to 9, not \"%s\"", text);
    *rounds = (unsigned)(text[0] - '0');
    return SV_OK;
}

sv_status sv__weave_again(sv__weave *w, const sv__schedule *schedule, uint32_t begin, uint32_t end,
                          const uint64_t *load, uint64_t unsafe)
{
    struct again x = {.schedule = schedule, .begin = begin, .end = end};
    uint64_t most = 0;
    unsigned rounds;
    bool jobs = end <= schedule->end[0];
    SV_TRY(sv__weave_rounds(w->job, jobs, &rounds));
    if (rounds < 2)
        return SV_OK;
    SV_TRY(sv_core_ports_init(&x.ports, w->job->arena, &w->core, w->job->fabric));
    x.load = SV_ARENA_NEW(w->job->arena, uint64_t, w->core.num_entries);
    if (x.load == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < w->core.num_entries; e++) {
        x.load[e] = w->weight[w->core.back[e]] >> SV__LOT_BITS;
        x.mean += x.load[e];
        most = x.load[e] > most ? x.load[e] : most;
    }
    x.mean = x.mean / w->core.num_entries + 1;
    if (jobs && x.mean < most / 16) /* few channels have any load: all prices would be the same */
        x.mean = most / 16;
    for (unsigned i = 1; i < rounds; i++) {
        memcpy(w->load, load, sizeof w->load);
        w->unsafe = unsafe;
        SV_TRY(spread_again(w, &x));
    }
    return SV_OK;
}
