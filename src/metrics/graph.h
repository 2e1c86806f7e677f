/*
 * graph.h: the switch graph as connectivity and bisection need it: live switches, numbered without
 * gaps, each pair of neighbours once with the number of cables between them.
 */
#ifndef SV_METRICS_GRAPH_H
#define SV_METRICS_GRAPH_H

#include <selvage/fabric.h>

#include "base/arena.h"

typedef struct sv__metrics_graph {
    uint32_t n;
    uint32_t *first; /* [n + 1] into peer and cables */
    uint32_t *peer;
    uint32_t *cables;
    uint32_t *id; /* [n] the switch */
} sv__metrics_graph;

sv_status sv__graph_make(sv__metrics_graph *graph, sv_arena *arena, const sv_fabric *fabric);

bool sv__graph_is_connected(const sv__metrics_graph *graph, sv_arena *arena, sv_status *status);

#endif
