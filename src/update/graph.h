/*
 * graph.h: which channel and VL waits for which, counted, and kept free of cycles.
 *
 * Vertices are numbers; an edge is there as often as somebody needs it. An order of all vertices in
 * which every edge ascends is kept; an edge that would close a cycle is refused. Taking edges away
 * leaves the order valid.
 */
#ifndef SV_UPDATE_GRAPH_H
#define SV_UPDATE_GRAPH_H

#include "base/arena.h"

typedef struct sv__edge {
    uint32_t from, to, count;
    uint32_t next_out, next_in; /* of the same vertex */
} sv__edge;

typedef struct sv__update_graph {
    sv_ctx *ctx;
    uint32_t vertices;
    uint32_t *place, *at; /* [vertices]: its place, and who has a place */
    uint32_t *out, *in;   /* [vertices]: first edge, or SV_NONE */
    sv__edge *edges;      /* those nobody needs any more stay */
    uint32_t num_edges, room;
    uint32_t *table, table_size;               /* of edges by their ends; a power of two */
    uint32_t *ahead, *behind, *stack, *places; /* [vertices]: of a search */
    uint8_t *seen;
} sv__update_graph;

/* An edge as one number: from above, to below. */
typedef uint64_t sv__turn_key;

sv_status sv__graph_init(sv__update_graph *g, sv_ctx *ctx, sv_arena *arena, uint32_t vertices);
void sv__graph_release(sv__update_graph *g);
/* Takes all edges away. */
void sv__graph_clear(sv__update_graph *g);
/* The same edges and order as another graph of as many vertices. */
sv_status sv__graph_copy(sv__update_graph *g, const sv__update_graph *from);

/*
 * Adds edges, each once more; *closed (and nothing is added) if one of them would close a cycle.
 * Time: O(1) an edge where the order agrees, else what lies between its ends.
 */
sv_status sv__graph_add(sv__update_graph *g, const sv__turn_key *edges, size_t count, bool *closed);

/* Takes edges away, each once. They must be there. */
void sv__graph_remove(sv__update_graph *g, const sv__turn_key *edges, size_t count);

#endif
