/*
 * metis.h: METIS, one call at a time.
 *
 * It draws from the C library's only random generator, which it seeds on every call: two calls at
 * once would disturb each other's numbers (docs/decisions/0004). Only in builds that have METIS.
 */
#ifndef SV_BASE_METIS_H
#define SV_BASE_METIS_H

#ifdef SELVAGE_METIS

#include <metis.h>

#include "base/ctx.h"

/* An undirected graph as METIS takes it: every edge from both ends. */
typedef struct sv_metis_graph {
    idx_t n, *first, *peer, *edge_weight, *vertex_weight;
    idx_t *part; /* [n]: the result */
} sv_metis_graph;

typedef struct sv_metis_how {
    uint32_t parts, seed;
    bool recursive; /* bisect again and again; else k ways at once */
    uint32_t slack; /* thousandths by which the largest part may be too large; 0: METIS' own */
    uint32_t cuts;  /* partitions to choose the best from; 0: one */
} sv_metis_how;

/* Into graph->part. NO_MEMORY; UNSUPPORTED if METIS refuses. Time: linear, many passes. */
sv_status sv_metis_split(sv_ctx *ctx, sv_metis_graph *graph, const sv_metis_how *how);

#endif
#endif
