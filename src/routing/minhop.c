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
#include <string.h>

#include "routing/dag.h"

struct minhop {
    sv__job *job;
    sv__core core;
    sv__dags dags;
    uint64_t *load; /* [entries]: routes on each channel */
    uint64_t *flow; /* [switches]: routes that come by, of the destination at hand */
    uint8_t *mine;  /* [entries]: addresses on each, of the terminal at hand */
};

/*
 * The way that a switch takes: used by the fewest addresses of the terminal, then by the fewest
 * routes, then by lot. first_only: to the switch behind its first such port only.
 */
static const sv__way *choose(const struct minhop *m, const sv__way *ways, uint32_t count,
                             uint32_t lots, bool first_only)
{
    const sv__way *best = ways;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t e = ways[k].entry;
        uint64_t key = (uint64_t)m->mine[e] << 56 | m->load[e] << 16 | sv__lot(e, lots);
        if (first_only && ways[k].next != ways[0].next)
            continue;
        /* No branch: which of them is least cannot be foreseen. */
        best = key < least ? &ways[k] : best;
        least = key < least ? key : least;
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
    bool several = r->first[to.i + 1] - r->first[to.i] > 1;
    uint32_t lots = sv__lots(m->job, d);
    SV_TRY(sv__end_row(m->job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    const sv__dag *dag = sv__dag_to(&m->dags, home.i);
    if (dag == NULL)
        return SV_NO_MEMORY;
    if (several && d == r->first[to.i])
        memset(m->mine, 0, m->core.first[m->core.num_switches]);
    for (uint32_t i = 0; i < dag->count; i++)
        m->flow[dag->order[i]] = terminal * m->core.terminals[dag->order[i]];
    /* The farthest first, so that each switch knows what comes by. */
    for (uint32_t i = dag->count; i-- > 1;) {
        uint32_t s = dag->order[i];
        const sv__way *way = choose(m, dag->ways + dag->first[i], dag->first[i + 1] - dag->first[i],
                                    lots, first_only);
        row[s] = m->core.entries[way->entry].port;
        m->load[way->entry] += m->flow[s];
        m->flow[way->next] += m->flow[s];
        m->mine[way->entry] = (uint8_t)(m->mine[way->entry] + several);
    }
    return SV_OK;
}

static sv_status route(sv__job *job, bool first_only)
{
    struct minhop m = {.job = job};
    uint32_t count, *order = sv__destinations(job, &count), n = job->fabric->num_switches;
    SV_TRY(sv__core_init(&m.core, job));
    SV_TRY(sv__dags_init(&m.dags, job, &m.core, &m.core, sv__search_all, NULL));
    m.load = SV_ARENA_NEW(job->arena, uint64_t, m.core.first[n]);
    m.mine = SV_ARENA_NEW(job->arena, uint8_t, m.core.first[n]);
    m.flow = SV_ARENA_NEW(job->arena, uint64_t, n);
    if (order == NULL || m.load == NULL || m.mine == NULL || m.flow == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(route_one(&m, order[i], first_only));
    }
    return SV_OK;
}

static sv_status route_minhop(sv__job *job)
{
    return route(job, false);
}

static sv_status route_dor(sv__job *job)
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
