/*
 * minhop.c: engines minhop and dor: shortest paths, balanced at each switch for itself.
 *
 * minhop (thesis 3.3.1): a search from the destination's switch gives every switch its distance.
 * Among the ports that lead one step closer, each switch takes the one that carries the fewest
 * routes so far. What lies behind a port, and how loaded that is, does not matter; sssp is for
 * that. Among equals it is drawn by lot: taking the first again and again makes symmetric fabrics
 * resonate (2,178 routes on the busiest channel of the 10-ary 3-tree with 1,100 terminals, when
 * tried, instead of 1,529).
 *
 * dor (thesis 3.3.3), as OpenSM understands it: of the switches one step closer, always that behind
 * the lowest port; ports are taken to be in the order of dimensions. Only between parallel cables
 * to that same switch is there a choice. On meshes and hypercubes so cabled this cannot deadlock;
 * elsewhere it may, which sv_verify tells.
 *
 * Both take any fabric and may deadlock.
 * Cost: O(channels) for each switch with destinations, then O(ways closer) a destination.
 */
#include "routing/dag.h"

/* Weights keep 40 bits for routes; above them stand the addresses. */
#define ONE_ADDRESS ((uint64_t)1 << 56)

struct minhop {
    sv__routing_job *job;
    sv_core core;
    sv__dags dags;
    uint64_t *load; /* [entries]: by cable: addresses of the terminal at hand, routes that leave by
                       it, lot (sv__weigh) */
    uint64_t *flow; /* [switches]: routes that come by, of the destination at hand */
};

/*
 * The cable that a switch takes: used by the fewest addresses of the terminal, then by the fewest
 * routes, then by lot. first_only: to the switch behind its first such port only. load, neighbour:
 * of its cables.
 */
static uint32_t choose(const uint64_t *load, const uint32_t *neighbour, const uint8_t *cables,
                       uint32_t count, bool first_only)
{
    uint32_t best = cables[0];
    uint64_t min = UINT64_MAX;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t key = load[cables[k]];
        if (first_only && neighbour[cables[k]] != neighbour[cables[0]])
            continue;
        /* No branch: which of them is least cannot be foreseen. */
        best = key < min ? cables[k] : best;
        min = key < min ? key : min;
    }
    return best;
}

static sv_status route_one(struct minhop *m, uint32_t d, bool first_only)
{
    const sv_fabric *f = m->job->fabric;
    const sv_routes *r = m->job->routes;
    sv_node home, to = r->node[d];
    uint8_t *row;
    uint64_t terminal = !sv_is_switch(f, to);
    uint64_t address = r->first[to.i + 1] - r->first[to.i] > 1 ? ONE_ADDRESS : 0;
    uint32_t lots = sv__lots(m->job, d);
    SV_TRY(sv__end_row(m->job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    const sv__dag *dag = sv__dag_to(&m->dags, home.i);
    if (dag == NULL)
        return SV_NO_MEMORY;
    if (address > 0 && d == r->first[to.i])
        for (uint32_t e = 0; e < m->core.first[m->core.num_switches]; e++)
            m->load[e] &= ONE_ADDRESS - 1;
    for (uint32_t i = 0; i < dag->count; i++)
        m->flow[dag->order[i]] = terminal * m->core.terminals[dag->order[i]];
    /* The farthest first, so that each switch knows what comes by. */
    for (uint32_t i = dag->count; i-- > 1;) {
        uint32_t s = dag->order[i], first = m->core.first[s];
        uint32_t e =
            first + choose(m->load + first, m->core.neighbour + first, dag->cables + dag->first[i],
                           dag->first[i + 1] - dag->first[i], first_only);
        row[s] = m->core.port[e];
        m->load[e] = sv__weigh(m->load[e], m->flow[s], m->core.back[e], lots) + address;
        m->flow[m->core.neighbour[e]] += m->flow[s];
    }
    return SV_OK;
}

static sv_status route(sv__routing_job *job, bool first_only)
{
    struct minhop m = {.job = job};
    uint32_t count, *order = sv__destinations(job, 1, &count), n = job->fabric->num_switches;
    SV_TRY(sv_core_init(&m.core, job->arena, job->fabric));
    SV_TRY(sv__dags_init(&m.dags, job, &m.core, NULL, NULL, NULL));
    m.load = SV_ARENA_NEW(job->arena, uint64_t, m.core.first[n]);
    m.flow = SV_ARENA_NEW(job->arena, uint64_t, n);
    if (order == NULL || m.load == NULL || m.flow == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < m.core.first[n]; e++)
        m.load[e] = sv__lot(m.core.back[e], sv__lots(job, SV_NONE));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(route_one(&m, order[i], first_only));
    }
    return SV_OK;
}

static sv_status route_minhop(sv__routing_job *job)
{
    return route(job, false);
}

static sv_status route_dor(sv__routing_job *job)
{
    return route(job, true);
}

const sv__engine sv__engine_minhop = {
    {"minhop", "shortest paths, balanced at each switch for itself; may deadlock", "thesis 3.3.1",
     SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL, NULL},
    route_minhop};

const sv__engine sv__engine_dor = {
    {"dor", "dimension order by port order; deadlock-free on meshes and hypercubes only",
     "thesis 3.3.3", SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL, NULL},
    route_dor};
