/*
 * goal.h: a GOAL schedule while it is read: text (goal.c), then the order of a rank's operations
 * (goal_order.c).
 */
#ifndef SV_TRACES_GOAL_H
#define SV_TRACES_GOAL_H

#include "base/array.h"
#include "base/map.h"
#include "traces/traces.h"

typedef struct sv__goal_op {
    uint64_t amount;
    uint64_t line;
    uint32_t peer, tag, cpu;
    uint8_t kind; /* SV_MPI_COMPUTE, ISEND, IRECV */
} sv__goal_op;

typedef struct sv__goal_edge {
    sv_span what, needs; /* labels */
    uint64_t line;
    bool starts; /* "irequires" */
} sv__goal_edge;

typedef struct sv__goal {
    sv_ctx *ctx;
    const char *name;
    const char *at, *end;
    uint64_t line;
    bool new_line; /* the word is the end of a line: the next is on another one */
    sv_span word;
    sv_mpi_trace *trace;
    uint32_t rank; /* what follows is of it */
    SV_ARRAY(sv__goal_op) ops;
    SV_ARRAY(sv__goal_edge) edges;
    sv_names labels;        /* to ops */
    uint32_t several, cpus; /* ranks that are not exact: see goal.c */
} sv__goal;

/* Adds a rank's operations to the trace, in an order. */
sv_status sv__goal_order(sv__goal *g);

#endif
