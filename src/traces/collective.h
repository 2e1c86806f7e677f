/*
 * collective.h: collectives as messages: step by step, what a rank sends and what it waits for.
 *
 * Ranks are those of the group, 0 … size - 1. In a step a rank first sends (if to is not SV_NONE),
 * then waits (if from is not SV_NONE); then its next step begins. Schedules are those of common MPI
 * libraries (docs/traces.md): barrier by dissemination, broadcast and reduce by binomial trees,
 * all-reduce by recursive doubling (large: reduce-scatter and all-gather), all-gather by recursive
 * doubling or a ring, gather and scatter by binomial trees, all-to-all by pairs, scan by doubling.
 */
#ifndef SV_TRACES_COLLECTIVE_H
#define SV_TRACES_COLLECTIVE_H

#include <selvage/experimental/traces.h>

typedef struct sv__coll_step {
    uint32_t to, from; /* ranks of the group, or SV_NONE */
    uint64_t to_bytes, from_bytes;
} sv__coll_step;

typedef struct sv__coll {
    unsigned call; /* sv_mpi_call */
    uint32_t size, me, root;
    uint64_t bytes; /* of what a rank gives: a vector; its block; to each other rank */
} sv__coll;

/* Step number step of a rank, from 0 on; false: there is none, it is done. Time: O(log size). */
bool sv__coll_step_at(const sv__coll *coll, uint32_t step, sv__coll_step *found);

#endif
