/*
 * otf2.h: an OTF2 archive while it is read: what definitions say (otf2.c), and the events of one
 * location after the other (otf2_events.c, which needs no library).
 */
#ifndef SV_TRACES_OTF2_H
#define SV_TRACES_OTF2_H

#include "base/array.h"
#include "base/map.h"
#include "traces/traces.h"

/* A communicator: world ranks by its own, and its number in the trace. Of those of one rank each
 * (MPI_COMM_SELF) self is set, and nothing else. */
typedef struct sv__otf2_comm {
    uint32_t group_ref;
    bool self, known;
    uint16_t group;
} sv__otf2_comm;

typedef struct sv__otf2_region {
    uint32_t name_ref;
    bool mpi;
    uint8_t call; /* sv_mpi_call */
} sv__otf2_region;

/* How a rank stands. */
typedef struct sv__otf2_rank {
    uint32_t rank;
    uint64_t left;            /* when the last MPI call was left; UINT64_MAX: none was yet */
    uint32_t depth;           /* of MPI regions */
    uint8_t call;             /* of the outermost, until an event has it */
    bool both;                /* in MPI_Sendrecv */
    uint32_t own[2];          /* requests of that, or SV_NONE */
    sv_map requests;          /* the archive's: our number + 1, 0: over */
    SV_ARRAY(uint64_t) began; /* of each of our numbers: its event + 1, 0: free */
} sv__otf2_rank;

typedef struct sv__otf2 {
    sv_ctx *ctx;
    const char *path;
    sv_mpi_trace *trace;
    sv_status status; /* of a callback that failed */
    uint64_t resolution;
    sv_map comm_of, region_of; /* references: places in the arrays below */
    SV_ARRAY(sv__otf2_comm) comms;
    SV_ARRAY(sv__otf2_region) regions;
    sv__otf2_rank now;
    uint64_t handled; /* events of this rank that mean something */
    uint64_t lost;    /* receives that never came, collectives that are none of ours or never
                         ended */
    uint64_t uneven;  /* collectives with different sizes */
} sv__otf2;

/* What a message event has in common. comm: the archive's reference; peer: a rank of that. */
typedef struct sv__otf2_message {
    uint32_t peer, comm, tag;
    uint64_t bytes;
} sv__otf2_message;

/* A collective: the archive's communicator, a root of that, what the rank sent and received. */
typedef struct sv__otf2_coll {
    unsigned call; /* sv_mpi_call; SV_CALL_NONE: none of ours */
    uint32_t comm, root;
    uint64_t sent, received;
} sv__otf2_coll;

sv_status sv__otf2_begin(sv__otf2 *o, uint32_t rank);
sv_status sv__otf2_enter(sv__otf2 *o, uint64_t time, uint32_t region);
sv_status sv__otf2_leave(sv__otf2 *o, uint64_t time, uint32_t region);
sv_status sv__otf2_send(sv__otf2 *o, const sv__otf2_message *m);
sv_status sv__otf2_receive(sv__otf2 *o, const sv__otf2_message *m);
sv_status sv__otf2_isend(sv__otf2 *o, const sv__otf2_message *m, uint64_t request);
sv_status sv__otf2_irecv(sv__otf2 *o, uint64_t request);
/* A request is over; of a receive m tells what came. */
sv_status sv__otf2_complete(sv__otf2 *o, uint64_t request, const sv__otf2_message *m);
sv_status sv__otf2_collective(sv__otf2 *o, const sv__otf2_coll *c);
/* One begins; which it is is known when it ends. */
sv_status sv__otf2_collective_begin(sv__otf2 *o, uint64_t request);
sv_status sv__otf2_collective_end(sv__otf2 *o, uint64_t request, const sv__otf2_coll *c);
/* The rank has no more. */
sv_status sv__otf2_end(sv__otf2 *o);
void sv__otf2_release(sv__otf2 *o);
/* All ranks were read: the sizes of collectives are made one. */
sv_status sv__otf2_even_out(sv__otf2 *o);

/* Which call a region is. */
unsigned sv__otf2_call(const char *region);

#endif
