/*
 * sssp.c: engine sssp: shortest paths, balanced over the whole fabric (IPDPS'11 Alg. 1, thesis Alg.
 * 3.1).
 *
 * Destinations are routed one after the other. Every channel has a weight, the number of routes
 * from terminals over it so far; the paths to the next destination are those of least weight among
 * the shortest. The paper gets "among the shortest" by starting all weights at |V|²; comparing
 * (hops, weight) is the same and needs no heap: which hops lead one step closer does not change
 * with the weights (dag.c), and in the order of distance all next hops of a switch are known before
 * its turn comes.
 *
 * What the paper leaves open decides the balance: destinations go round-robin over switches
 * (shared.c), and among equals it is drawn by lot.
 *
 * Takes any fabric; may deadlock.
 * Cost: O(channels) a destination.
 */
#include "routing/sssp.h"

void sv__sssp_clear(sv__sssp *x)
{
    for (uint32_t e = 0; e < x->core.num_entries; e++)
        x->weight[e] = sv__lot(e, sv__lots(x->job, SV_NONE));
}

sv_status sv__sssp_init(sv__sssp *x, sv__job *job, void *engine, sv__search_fn *search,
                        sv__allow_fn *allow)
{
    uint32_t n = job->fabric->num_switches;
    x->job = job;
    SV_TRY(sv_core_init(&x->core, job->arena, job->fabric));
    x->weight = SV_ARENA_NEW(job->arena, uint64_t, x->core.first[n]);
    x->path = SV_ARENA_NEW(job->arena, uint64_t, n);
    x->via = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->routes = SV_ARENA_NEW(job->arena, uint32_t, n);
    if (x->weight == NULL || x->path == NULL || x->via == NULL || x->routes == NULL)
        return SV_NO_MEMORY;
    sv__sssp_clear(x);
    return sv__dags_init(&x->dags, job, &x->core, engine, search, allow);
}

/* Each switch takes the way of least weight; those it may go on to have taken theirs. */
static void choose(sv__sssp *x, const sv__dag *dag, uint8_t *row)
{
    const uint64_t *weight = x->weight;
    uint64_t *path = x->path;
    path[dag->order[0]] = 0;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], best = dag->first[i];
        uint64_t least = UINT64_MAX;
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
            uint64_t key = path[dag->ways[k].next] + weight[dag->ways[k].entry];
            /* No branch: which of them is least cannot be foreseen. */
            best = key < least ? k : best;
            least = key < least ? key : least;
        }
        path[s] = least & ~(uint64_t)SV__LOT;
        x->via[s] = best;
        row[s] = x->core.entries[dag->ways[best].entry].port;
    }
}

/* Adds the routes of all terminals to the weights, from the tips inwards. */
void sv__sssp_weigh(sv__sssp *x, const sv__dag *dag, uint32_t lots)
{
    for (uint32_t i = 0; i < dag->count; i++)
        x->routes[dag->order[i]] = x->core.terminals[dag->order[i]];
    for (uint32_t i = dag->count; i-- > 1;) {
        uint32_t s = dag->order[i];
        const sv__way *way = &dag->ways[x->via[s]];
        x->weight[way->entry] = sv__weigh(x->weight[way->entry], x->routes[s], way->entry, lots);
        x->routes[way->next] += x->routes[s];
    }
}

static sv_status route_one(sv__sssp *x, uint32_t d)
{
    uint8_t *row;
    sv_node home;
    SV_TRY(sv__end_row(x->job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    const sv__dag *dag = sv__dag_to(&x->dags, home.i);
    if (dag == NULL)
        return SV_NO_MEMORY;
    choose(x, dag, row);
    if (!sv_is_switch(x->job->fabric, x->job->routes->node[d]))
        sv__sssp_weigh(x, dag, sv__lots(x->job, d));
    return SV_OK;
}

sv_status sv__sssp_run(sv__sssp *x)
{
    uint32_t count, *order = sv__destinations(x->job, &count);
    if (order == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(x->job->ctx, "routing", i, count));
        SV_TRY(route_one(x, order[i]));
    }
    return SV_OK;
}

static sv_status route(sv__job *job)
{
    sv__sssp x = {0};
    SV_TRY(sv__sssp_init(&x, job, NULL, NULL, NULL));
    return sv__sssp_run(&x);
}

const sv__engine sv__engine_sssp = {
    {"sssp", "shortest paths, balanced over the whole fabric; may deadlock",
     "IPDPS'11 Alg. 1, thesis Alg. 3.1", SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL, NULL},
    route};
