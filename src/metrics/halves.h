/*
 * halves.h: two halves of the switch graph, and how to make them better: fewer cables between them,
 * terminals more equally shared.
 */
#ifndef SV_METRICS_HALVES_H
#define SV_METRICS_HALVES_H

#include "metrics/graph.h"

typedef struct sv__halves {
    const sv__metrics_graph *graph;
    uint32_t *weight; /* terminals of each vertex (1 each when there are none at all) */
    uint64_t total;
} sv__halves;

/* How good a partition is: less is better, first gap, then cut. */
typedef struct sv__cut {
    uint64_t gap; /* by how much the sides differ; 0 if that counts as equal */
    uint64_t cables;
} sv__cut;

enum { SV__FEW = 16 }; /* vertices up to which all partitions are tried */

sv_status sv__halves_make(sv__halves *halves, sv_arena *arena, const sv__metrics_graph *graph,
                          const sv_fabric *fabric);

sv__cut sv__halves_judge(const sv__halves *halves, const uint8_t *side);

static inline bool sv__cut_better(sv__cut a, sv__cut b)
{
    return a.gap != b.gap ? a.gap < b.gap : a.cables < b.cables;
}

/* The best of all partitions; only for few vertices. */
void sv__halves_try_all(const sv__halves *halves, uint8_t *side);

/* Improves a partition by moving vertices until that no longer helps. */
sv_status sv__halves_refine(const sv__halves *halves, sv_arena *arena, uint8_t *side);

/*
 * The best halves that METIS finds in so many runs, improved (bisection.c). *found is false, and
 * side not set, in a build without METIS.
 */
sv_status sv__halves_search(sv_ctx *ctx, sv_arena *arena, const sv__halves *halves, uint32_t seed,
                            uint32_t runs, uint8_t *side, bool *found);

#endif
