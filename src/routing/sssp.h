/* sssp.h: the search of engine sssp, for engines that balance as it does. */
#ifndef SV_ROUTING_SSSP_H
#define SV_ROUTING_SSSP_H

#include "routing/dag.h"

typedef struct sv__sssp {
    sv__job *job;
    sv_core core;
    sv__dags dags;
    uint64_t *weight; /* [entries]: routes on each channel, and its lot (sv__weigh) */
    uint64_t *path;   /* [switches]: weight of the way from each, without lots */
    uint32_t *via;    /* [switches]: the way it takes, an index into the ways of the dag */
    uint32_t *routes; /* [switches]: from terminals behind it, its own included */
} sv__sssp;

/* engine, search, allow: as for sv__dags_init; search NULL: all shortest paths. */
sv_status sv__sssp_init(sv__sssp *x, sv__job *job, void *engine, sv__search_fn *search,
                        sv__allow_fn *allow);

/*
 * Routes all destinations: each by the ways of least weight among those allowed, whose routes then
 * add to the weights.
 */
sv_status sv__sssp_run(sv__sssp *x);

/* Forgets all weights. */
void sv__sssp_clear(sv__sssp *x);

/* Adds the routes of all terminals to the weights, by the ways in x->via, from the tips inwards. */
void sv__sssp_weigh(sv__sssp *x, const sv__dag *dag, uint32_t lots);

#endif
