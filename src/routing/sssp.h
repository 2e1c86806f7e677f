/* sssp.h: the search of engine sssp, for engines that balance as it does. */
#ifndef SV_ROUTING_SSSP_H
#define SV_ROUTING_SSSP_H

#include "base/threads.h"
#include "routing/dag.h"
#include "routing/schedule.h"

/* What a thread needs. */
typedef struct sv__sssp_worker {
    sv__dag_maker maker;
    uint64_t *path; /* [switches]: weight of the way from each, without lots */
} sv__sssp_worker;

/* A destination of the batch at hand. */
typedef struct sv__sssp_tree {
    uint32_t destination, home, lots; /* home SV_NONE: there is nothing to do */
    bool terminal;
    uint8_t *row;
    uint8_t *cable;   /* [switches]: the one it takes, or SV__NO_CABLE */
    uint32_t *routes; /* [switches]: from terminals behind it, its own included */
} sv__sssp_tree;

typedef struct sv__sssp {
    sv__routing_job *job;
    sv_core core;
    sv__dags dags;
    uint64_t *weight; /* [entries]: by cable: routes that leave by it, and its lot (sv__weigh) */
    sv__schedule schedule;
    uint32_t *order; /* of destinations: that of the schedule */
    uint32_t count, done;
    uint32_t batch; /* destinations that are routed side by side */
    unsigned threads;
    sv__sssp_worker *workers; /* [threads] */
    sv__sssp_tree *trees;     /* [batch] */
} sv__sssp;

enum { SV__NO_CABLE = 255 };

/* engine, search, allow: as for sv__dags_init; search NULL: all shortest paths. */
sv_status sv__sssp_init(sv__sssp *x, sv__routing_job *job, void *engine, sv__search_fn *search,
                        sv__allow_fn *allow);

/*
 * Routes all destinations that are left: each by the ways of least weight among those allowed,
 * whose routes then add to the weights.
 */
sv_status sv__sssp_run(sv__sssp *x);

/* Counts the routes behind each switch of a tree (t->cable) that count, into t->routes. */
void sv__sssp_count(const sv__sssp *x, const sv__dag *dag, sv__sssp_tree *t);

/* Balances once more (sssp_again.c): so many rounds in all, of jobs so many. */
sv_status sv__sssp_again(sv__sssp *x, unsigned rounds, unsigned job_rounds);

/* The same for the next few only, at least count if there are as many. */
sv_status sv__sssp_some(sv__sssp *x, uint32_t count);

#endif
