/*
 * summary.h: what summary.c and phases.c share: collectives that are alike, counted once.
 */
#ifndef SV_TRACES_SUMMARY_H
#define SV_TRACES_SUMMARY_H

#include "base/array.h"
#include "base/map.h"
#include "traces/collective.h"

/* Collectives with the same call, group, root and bytes. */
typedef struct sv__coll_kind {
    sv_mpi_event event;       /* of the group's first rank */
    uint64_t times;           /* how often there is one */
    uint64_t messages, bytes; /* of one time */
} sv__coll_kind;

typedef struct sv__coll_kinds {
    sv_ctx *ctx;
    const sv_mpi_trace *trace;
    sv_map shapes, sizes, both;
    uint32_t num_shapes, num_sizes;
    SV_ARRAY(sv__coll_kind) kinds;
} sv__coll_kinds;

void sv__coll_kinds_init(sv__coll_kinds *k, sv_ctx *ctx, const sv_mpi_trace *trace);
void sv__coll_kinds_release(sv__coll_kinds *k);
/* The number of the kind of a collective, added if it is new (with times 0). Time: O(1), or all
 * its messages the first time. */
sv_status sv__coll_kind_of(sv__coll_kinds *k, const sv_mpi_event *event, uint32_t *kind);

/* Calls for each message of one collective, by world ranks. */
typedef sv_status (*sv__coll_message)(void *user, uint32_t from, uint32_t to, uint64_t bytes);
sv_status sv__coll_messages(const sv_mpi_trace *trace, const sv_mpi_event *event,
                            sv__coll_message message, void *user);

/* How many bits a number has: 0 for 0. */
static inline unsigned sv__bits(uint64_t x)
{
    unsigned bits = 0;
    for (; x > 0; x >>= 1)
        bits++;
    return bits;
}

/* Fills in the phases of a summary that has everything else. */
sv_status sv__find_phases(sv_ctx *ctx, const sv_mpi_trace *trace, sv_mpi_summary *summary);

#endif
