/*
 * sssp_again.c: sssp's tables are balanced once more, on shortest paths alone.
 *
 * One pass adds up weights along paths: a way over one full and one empty channel is as good as one
 * over two half full ones, and early destinations do not know what late ones will need. Here each
 * destination is taken out of the loads, and its switches, from the near to the far, take the way
 * whose channels would cost the least: the eighth power of what each would carry. Each choice is in
 * the loads before the next is made. Of ten leaf switches with 18 hosts that lowers the busiest
 * channel from 252 routes to 162 (which is the bound); with three jobs on them (thesis Fig. 5.2),
 * of routes inside jobs, from 84 to 60 (docs/decisions/0026).
 *
 * With a job map only routes inside jobs count at first. Switches over which none of them leads to
 * a destination are free to send anywhere: they choose by the loads of all routes, so that what is
 * not inside a job is balanced, too, without costing jobs anything.
 *
 * Used where all shortest paths fit one VL, as on trees; elsewhere weave has its own second round
 * (weave_again.c).
 *
 * Invariants: paths stay shortest; loads are always those of the rows; the busiest channel of what
 * counts never gets busier (but on fabrics too large to keep the rows of a round).
 * Cost: a round is sssp's pass times the length of paths.
 */
#include <string.h>

#include "routing/sssp.h"

/* Routes on channels. */
struct loads {
    uint64_t *of;  /* [entries]: by cable: routes that leave by it */
    uint64_t unit; /* the mean, or an eighth of the most where few channels have any */
};

struct again {
    sv__sssp *x;
    sv_core_ports ports;
    struct loads counted; /* of the phase at hand */
    struct loads all;     /* of all terminals to destinations of jobs, if there are any */
    bool jobs;            /* the phase at hand is theirs */
    uint64_t *flow;       /* [switches]: scratch */
};

static void find_unit(const struct again *a, struct loads *l)
{
    uint64_t sum = 0, max = 0;
    uint32_t entries = a->x->core.num_entries;
    for (uint32_t e = 0; e < entries; e++) {
        sum += l->of[e];
        max = l->of[e] > max ? l->of[e] : max;
    }
    l->unit = sum / entries + 1;
    l->unit = l->unit < max / 8 ? max / 8 : l->unit;
}

/*
 * What a channel with a load costs: the eighth power of it, in units; beyond 16 units, where that
 * would be more than fits, steeply more for each. Always more for more, and sums of 64 still fit.
 */
static uint64_t price(const struct loads *l, uint64_t load)
{
    enum { UNIT = 8, MAX = (1 << 12) - 1, BEYOND = 1 << 16, SLOPE = 40 };
    uint64_t share = (load << UNIT) / l->unit, beyond = share > MAX ? share - MAX : 0;
    share = share > MAX ? MAX : share;
    beyond = beyond > BEYOND ? BEYOND : beyond;
    uint64_t fourth = share * share * share * share >> 2 * UNIT;
    return (fourth * fourth >> 2 * UNIT) + share + (beyond << SLOPE);
}

/* What the way from a switch over a cable costs if so many routes are put on it. */
static uint64_t way_price(const struct again *a, const struct loads *l, const sv__sssp_tree *t,
                          uint32_t s, uint32_t cable, uint32_t routes)
{
    const sv_core *core = &a->x->core;
    uint64_t sum = 0;
    for (;;) {
        sum += price(l, l->of[core->first[s] + cable] + routes);
        s = core->neighbour[core->first[s] + cable];
        if (s == t->home)
            return sum;
        cable = t->cable[s];
    }
}

/* A switch takes its cheapest way. i: its place in the order. */
static void take_cheapest(const struct again *a, const struct loads *l, const sv__dag *dag,
                          uint32_t i, uint32_t routes, sv__sssp_tree *t)
{
    const sv_core *core = &a->x->core;
    uint32_t s = dag->order[i], first = core->first[s], best = 0, lot = 0;
    uint64_t min = UINT64_MAX;
    for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
        uint32_t cable = dag->cables[k], drawn = sv__lot(core->back[first + cable], t->lots);
        uint64_t key = way_price(a, l, t, s, cable, routes);
        if (key < min || (key == min && drawn < lot)) {
            min = key;
            best = cable;
            lot = drawn;
        }
    }
    t->cable[s] = (uint8_t)best;
    t->row[s] = core->port[first + best];
}

/* Some routes from a switch are put on its way. */
static void walk(const struct again *a, struct loads *l, const sv__sssp_tree *t, uint32_t s,
                 uint32_t routes)
{
    const sv_core *core = &a->x->core;
    for (; routes > 0 && s != t->home; s = core->neighbour[core->first[s] + t->cable[s]])
        l->of[core->first[s] + t->cable[s]] += routes;
}

/* All routes from sources over the tree at hand are put into loads, or taken out. */
static void put(const struct again *a, struct loads *l, const sv__dag *dag, const uint32_t *sources,
                const sv__sssp_tree *t, bool in)
{
    const sv_core *core = &a->x->core;
    for (uint32_t i = 0; i < dag->count; i++)
        a->flow[dag->order[i]] = sources[dag->order[i]];
    for (uint32_t i = dag->count; i-- > 1;) {
        uint32_t s = dag->order[i], cable = core->first[s] + t->cable[s];
        l->of[cable] = in ? l->of[cable] + a->flow[s] : l->of[cable] - a->flow[s];
        a->flow[core->neighbour[cable]] += a->flow[s];
    }
}

/* The cables that a row's ports are. */
static void use_row(const struct again *a, const sv__dag *dag, sv__sssp_tree *t)
{
    const sv_core *core = &a->x->core;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], entry = sv_core_entry(&a->ports, s, t->row[s]);
        t->cable[s] = (uint8_t)(core->back[entry] - core->first[s]);
    }
}

/* Switches without routes that count, their own or others', choose by the loads of all. */
static void free_the_rest(struct again *a, const sv__dag *dag, sv__sssp_tree *t)
{
    sv__sssp_count(a->x, dag, t);
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], routes = a->x->core.terminals[s];
        if (t->routes[s] == 0)
            take_cheapest(a, &a->all, dag, i, routes, t);
        walk(a, &a->all, t, s, routes);
    }
}

/* One destination once more; first: it is only put into the loads. */
static sv_status route_again(struct again *a, uint32_t d, bool first)
{
    sv__sssp *x = a->x;
    sv__sssp_tree *t = &x->trees[0];
    sv_node home;
    SV_TRY(sv__end_row(x->job, d, &t->row, &home));
    if (t->row == NULL || sv_is_switch(x->job->fabric, x->job->routes->node[d]))
        return SV_OK;
    const sv__dag *dag = sv__dag_make(&x->dags, &x->workers[0].maker, home.i);
    if (dag == NULL)
        return sv_fail(x->job->ctx, SV_NO_MEMORY, "out of memory");
    const uint32_t *all = x->core.terminals;
    const uint32_t *sources = sv__schedule_sources(&x->schedule, x->job->routes, d, all, t->routes);
    t->destination = d;
    t->home = home.i;
    t->lots = sv__lots(x->job, d);
    use_row(a, dag, t);
    put(a, &a->counted, dag, sources, t, first);
    if (a->jobs)
        put(a, &a->all, dag, all, t, first);
    for (uint32_t i = 1; i < dag->count && !first; i++) {
        uint32_t s = dag->order[i];
        take_cheapest(a, &a->counted, dag, i, sources[s], t);
        walk(a, &a->counted, t, s, sources[s]);
    }
    if (a->jobs && !first)
        free_the_rest(a, dag, t);
    return SV_OK;
}

static uint64_t busiest(const struct again *a)
{
    uint64_t max = 0;
    for (uint32_t e = 0; e < a->x->core.num_entries; e++)
        max = a->counted.of[e] > max ? a->counted.of[e] : max;
    return max;
}

/* Rows of the phase are copied to kept, or back. */
static sv_status copy_rows(const struct again *a, uint32_t begin, uint32_t end, uint8_t *kept,
                           bool back)
{
    sv__routing_job *job = a->x->job;
    size_t n = a->x->core.num_switches;
    for (uint32_t i = begin; i < end; i++, kept += n) {
        uint32_t d = a->x->order[i];
        uint8_t *row = d == SV_NONE || job->routes->ports[d] == NULL
                           ? NULL
                           : sv_routes_row(job->ctx, job->routes, d);
        if (row != NULL)
            memcpy(back ? row : kept, back ? kept : row, n);
        else if (d != SV_NONE && job->routes->ports[d] != NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

static sv_status balance_once(struct again *a, uint32_t begin, uint32_t end, bool first)
{
    sv__sssp *x = a->x;
    for (uint32_t i = begin; i < end; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(x->job->ctx, "balancing", i, x->count));
        if (x->order[i] != SV_NONE)
            SV_TRY(route_again(a, x->order[i], first));
    }
    return SV_OK;
}

/* Rounds of a phase; the one with the least busiest channel is kept. */
static sv_status balance_phase(struct again *a, uint32_t begin, uint32_t end, unsigned rounds)
{
    enum { MAX_BYTES = 1 << 28 }; /* beyond, the last round stands */
    sv__sssp *x = a->x;
    size_t bytes = (size_t)(end - begin) * x->core.num_switches;
    uint8_t *kept = bytes > MAX_BYTES ? NULL : sv_arena_raw(x->job->arena, bytes, 1);
    if (kept == NULL && bytes <= MAX_BYTES)
        return SV_NO_MEMORY;
    memset(a->counted.of, 0, x->core.num_entries * sizeof *a->counted.of);
    SV_TRY(balance_once(a, begin, end, true));
    find_unit(a, &a->counted);
    find_unit(a, &a->all);
    uint64_t min = busiest(a), now = min;
    for (unsigned round = 1; round < rounds; round++) {
        if (kept != NULL && now <= min)
            SV_TRY(copy_rows(a, begin, end, kept, false));
        min = now < min ? now : min;
        SV_TRY(balance_once(a, begin, end, false));
        now = busiest(a);
    }
    return kept != NULL && now > min ? copy_rows(a, begin, end, kept, true) : SV_OK;
}

sv_status sv__sssp_again(sv__sssp *x, unsigned rounds, unsigned job_rounds)
{
    sv_arena *arena = x->job->arena;
    struct again a = {.x = x};
    uint32_t entries = x->core.num_entries, begin = 0;
    if (entries == 0)
        return SV_OK;
    SV_TRY(sv_core_ports_init(&a.ports, arena, &x->core, x->job->fabric));
    a.counted.of = SV_ARENA_NEW(arena, uint64_t, entries);
    a.all.of = SV_ARENA_NEW(arena, uint64_t, entries);
    a.flow = SV_ARENA_NEW(arena, uint64_t, x->core.num_switches);
    if (a.counted.of == NULL || a.all.of == NULL || a.flow == NULL)
        return SV_NO_MEMORY;
    for (unsigned phase = 0; phase < SV__PHASES; phase++) {
        unsigned wanted = phase == 0 ? job_rounds : rounds;
        uint32_t end = x->schedule.end[phase];
        a.jobs = phase == 0;
        if (end > begin && wanted > 1)
            SV_TRY(balance_phase(&a, begin, end, wanted));
        begin = end;
    }
    return SV_OK;
}
