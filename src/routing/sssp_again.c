/*
 * sssp_again.c: what jobs have in sssp's tables is balanced once more, on shortest paths alone.
 *
 * One pass (thesis Alg. 5.1) adds up weights along paths: a way over one full and one empty channel
 * is as good as one over two half full ones, and early destinations do not know what late ones will
 * need. Here each destination of a job is taken out of the loads and routed anew by prices: the
 * fourth power of what a channel would carry. Of ten leaf switches with three jobs (thesis
 * Fig. 5.2) that lowers the busiest channel from 84 routes to 60 or fewer; docs/decisions/0026.
 *
 * Used where all shortest paths fit one lane, as on trees; elsewhere weave has its own second round
 * (weave_again.c).
 *
 * Invariants: paths stay shortest; loads are always those of the rows.
 * Cost: a round as sssp's pass over the destinations of jobs.
 */
#include <string.h>

#include "routing/sssp.h"

struct again {
    sv__sssp *x;
    sv_core_ports ports;
    uint64_t *load; /* [entries]: by cable: routes of jobs that leave by it */
    uint64_t unit;  /* of loads: the mean, or an eighth of the most where few channels have any */
};

/* What a channel with a load costs: the eighth power of it, in units. */
static uint64_t price(const struct again *a, uint64_t load)
{
    enum { UNIT = 8, MOST = 1 << 12 };
    uint64_t share = (load << UNIT) / a->unit;
    share = share > MOST ? MOST : share;
    uint64_t fourth = share * share * share * share >> 2 * UNIT;
    return (fourth * fourth >> 2 * UNIT) + share;
}

/* The routes of the tree at hand are put into the loads, or taken out. */
static void put(struct again *a, const sv__dag *dag, const sv__sssp_tree *t, bool in)
{
    const sv_core *core = &a->x->core;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i];
        uint64_t *load = &a->load[core->first[s] + t->cable[s]];
        *load = in ? *load + t->routes[s] : *load - t->routes[s];
    }
}

/* The cables that a row's ports are, and the routes behind each switch. */
static void use_row(struct again *a, const sv__dag *dag, sv__sssp_tree *t)
{
    const sv_core *core = &a->x->core;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i];
        t->cable[s] =
            (uint8_t)(core->back[sv_core_entry(&a->ports, s, t->row[s])] - core->first[s]);
    }
    sv__sssp_count(a->x, dag, t);
}

/* What a way costs if so many routes are put on it. first: the switch that it leads to. */
static uint64_t way_price(const struct again *a, const sv__sssp_tree *t, uint32_t s, uint32_t cable,
                          uint32_t routes)
{
    const sv_core *core = &a->x->core;
    uint64_t sum = 0;
    for (;;) {
        sum += price(a, a->load[core->first[s] + cable] + routes);
        s = core->neighbour[core->first[s] + cable];
        if (s == t->home)
            return sum;
        cable = t->cable[s];
    }
}

/* Some routes from a switch are put on its way. */
static void walk(const struct again *a, const sv__sssp_tree *t, uint32_t s, uint32_t routes)
{
    const sv_core *core = &a->x->core;
    for (; s != t->home; s = core->neighbour[core->first[s] + t->cable[s]])
        a->load[core->first[s] + t->cable[s]] += routes;
}

/* Each switch takes the cheapest way for the routes that start there. */
static void choose(struct again *a, const sv__dag *dag, const uint32_t *sources, sv__sssp_tree *t)
{
    const sv_core *core = &a->x->core;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], first = core->first[s], best = 0, lot = 0;
        uint64_t least = UINT64_MAX;
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
            uint32_t cable = dag->cables[k];
            uint64_t key = way_price(a, t, s, cable, sources[s]);
            uint32_t drawn = sv__lot(core->back[first + cable], t->lots);
            if (key < least || (key == least && drawn < lot)) {
                least = key;
                best = cable;
                lot = drawn;
            }
        }
        t->cable[s] = (uint8_t)best;
        t->row[s] = core->port[first + best];
        if (sources[s] > 0)
            walk(a, t, s, sources[s]);
    }
}

/* One destination once more; first: it is only put into the loads. */
static sv_status route_again(struct again *a, uint32_t d, bool first)
{
    sv__sssp *x = a->x;
    sv__sssp_tree *t = &x->trees[0];
    sv_node home;
    t->destination = d;
    SV_TRY(sv__end_row(x->job, d, &t->row, &home));
    if (t->row == NULL)
        return SV_OK;
    t->home = home.i;
    t->lots = sv__lots(x->job, d);
    const sv__dag *dag = sv__dag_make(&x->dags, &x->workers[0].maker, home.i);
    if (dag == NULL)
        return SV_NO_MEMORY;
    use_row(a, dag, t);
    if (!first) {
        put(a, dag, t, false);
        const uint32_t *sources =
            sv__schedule_sources(&x->schedule, x->job->routes, d, x->core.terminals, t->routes);
        choose(a, dag, sources, t);
    } else {
        put(a, dag, t, true);
    }
    return SV_OK;
}

static void find_unit(struct again *a)
{
    uint64_t sum = 0, most = 0;
    uint32_t entries = a->x->core.num_entries;
    for (uint32_t e = 0; e < entries; e++) {
        sum += a->load[e];
        most = a->load[e] > most ? a->load[e] : most;
    }
    a->unit = sum / entries + 1;
    a->unit = a->unit < most / 8 ? most / 8 : a->unit;
}

sv_status sv__sssp_again(sv__sssp *x, unsigned rounds)
{
    struct again a = {.x = x};
    uint32_t count = x->schedule.end[0];
    if (count == 0 || rounds < 2 || x->core.num_entries == 0)
        return SV_OK;
    SV_TRY(sv_core_ports_init(&a.ports, x->job->arena, &x->core, x->job->fabric));
    a.load = SV_ARENA_NEW(x->job->arena, uint64_t, x->core.num_entries);
    if (a.load == NULL)
        return SV_NO_MEMORY;
    for (unsigned round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < count; i++) {
            if (i % 64 == 0)
                SV_TRY(sv_progress(x->job->ctx, "balancing jobs", i, count));
            if (x->order[i] != SV_NONE)
                SV_TRY(route_again(&a, x->order[i], round == 0));
        }
        if (round == 0)
            find_unit(&a);
    }
    return SV_OK;
}
