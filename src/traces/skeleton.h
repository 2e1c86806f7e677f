/*
 * skeleton.h: programs whose communication is written without running them.
 *
 * A skeleton writes its ranks one after the other: what a rank does depends on where it is, never
 * on what others have done. To add one: a file with an sv__skeleton, and a line in skeleton.c.
 */
#ifndef SV_TRACES_SKELETON_H
#define SV_TRACES_SKELETON_H

#include "text/spec.h"

#include <selvage/experimental/traces.h>

/* A skeleton on its way. The first failure is kept, and all further events are left out. */
typedef struct sv__skel {
    sv_ctx *ctx;
    sv__spec spec;
    sv_mpi_trace *trace;
    uint32_t ranks;
    uint32_t rank;       /* whose events are being written */
    double flops_per_ns; /* of a core */
    sv_status status;
} sv__skel;

typedef struct sv__skeleton {
    sv_mpi_skeleton info;
    bool powers; /* only a power of two of ranks will do */
    /* Reads its keys, begins (sv__skel_begin) and writes all ranks. */
    sv_status (*write)(sv__skel *s);
} sv__skeleton;

extern const sv__skeleton sv__skeleton_lu, sv__skeleton_mg, sv__skeleton_ft, sv__skeleton_pop,
    sv__skeleton_smg, sv__skeleton_sweep;

/* Which class of the NAS Parallel Benchmarks: a place in "SWABC". */
sv_status sv__skel_class(sv__skel *s, unsigned *place);
/* All keys are read: nothing is left over, and there is a trace for so many ranks. */
sv_status sv__skel_begin(sv__skel *s, const sv__skeleton *skeleton);
/* Goes through the ranks: program writes the events of s->rank. */
sv_status sv__skel_ranks(sv__skel *s, void (*program)(sv__skel *s, const void *user),
                         const void *user);
/* ranks = sides[0] × sides[1], as square as can be, the longer first. */
void sv__skel_square(uint32_t ranks, uint32_t *sides);

/* ---- events of s->rank ---- */

void sv__skel_compute(sv__skel *s, double flops);
void sv__skel_send(sv__skel *s, uint32_t to, uint32_t tag, uint64_t bytes);
void sv__skel_recv(sv__skel *s, uint32_t from, uint32_t tag, uint64_t bytes);
void sv__skel_isend(sv__skel *s, uint32_t to, uint32_t tag, uint64_t bytes, uint32_t request);
void sv__skel_irecv(sv__skel *s, uint32_t from, uint32_t tag, uint64_t bytes, uint32_t request);
void sv__skel_wait(sv__skel *s, uint32_t request);
/* One MPI_Waitall for requests first … first + count - 1; count 0: nothing. */
void sv__skel_waitall(sv__skel *s, uint32_t first, uint32_t count);
void sv__skel_collective(sv__skel *s, sv_mpi_call call, uint16_t group, uint32_t root,
                         uint64_t bytes);
/* The same of all ranks, with root 0, so many times. */
void sv__skel_all(sv__skel *s, sv_mpi_call call, uint64_t bytes, uint32_t times);

#endif
