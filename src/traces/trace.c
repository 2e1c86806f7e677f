/*
 * trace.c: traces in memory: ranks with their events, groups of ranks, names of calls.
 *
 * Idea: events are plain arrays, one a rank, that grow by half. Groups are few, so the one that
 * is wanted is looked for among all, by size and ordinal first.
 *
 * Invariants: group 0 is all ranks in order; no two groups have the same ranks and ordinal; name is
 * never NULL. What events say is not looked at here (check.c does that).
 * Cost: O(1) an event, amortised; O(groups + ranks of one) a group.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "traces/traces.h"

static const char *const call_names[SV_CALL_COUNT] = {
    [SV_CALL_NONE] = "none",
    [SV_CALL_SEND] = "MPI_Send",
    [SV_CALL_SSEND] = "MPI_Ssend",
    [SV_CALL_ISEND] = "MPI_Isend",
    [SV_CALL_RECV] = "MPI_Recv",
    [SV_CALL_IRECV] = "MPI_Irecv",
    [SV_CALL_SENDRECV] = "MPI_Sendrecv",
    [SV_CALL_WAIT] = "MPI_Wait",
    [SV_CALL_WAITALL] = "MPI_Waitall",
    [SV_CALL_WAITANY] = "MPI_Waitany",
    [SV_CALL_TEST] = "MPI_Test",
    [SV_CALL_BARRIER] = "MPI_Barrier",
    [SV_CALL_BCAST] = "MPI_Bcast",
    [SV_CALL_REDUCE] = "MPI_Reduce",
    [SV_CALL_ALLREDUCE] = "MPI_Allreduce",
    [SV_CALL_GATHER] = "MPI_Gather",
    [SV_CALL_ALLGATHER] = "MPI_Allgather",
    [SV_CALL_SCATTER] = "MPI_Scatter",
    [SV_CALL_ALLTOALL] = "MPI_Alltoall",
    [SV_CALL_REDUCE_SCATTER] = "MPI_Reduce_scatter",
    [SV_CALL_SCAN] = "MPI_Scan",
};

const char *sv_mpi_call_name(unsigned call)
{
    return call < SV_CALL_COUNT ? call_names[call] : NULL;
}

static const char *const begun_names[SV_CALL_COUNT] = {
    [SV_CALL_BARRIER] = "MPI_Ibarrier",
    [SV_CALL_BCAST] = "MPI_Ibcast",
    [SV_CALL_REDUCE] = "MPI_Ireduce",
    [SV_CALL_ALLREDUCE] = "MPI_Iallreduce",
    [SV_CALL_GATHER] = "MPI_Igather",
    [SV_CALL_ALLGATHER] = "MPI_Iallgather",
    [SV_CALL_SCATTER] = "MPI_Iscatter",
    [SV_CALL_ALLTOALL] = "MPI_Ialltoall",
    [SV_CALL_REDUCE_SCATTER] = "MPI_Ireduce_scatter",
    [SV_CALL_SCAN] = "MPI_Iscan",
};

const char *sv_mpi_begun_name(unsigned call)
{
    return call < SV_CALL_COUNT ? begun_names[call] : NULL;
}

/* ---- making ---- */

static sv_status make_world(sv_mpi_trace *trace)
{
    trace->ranks = sv_alloc(trace->ctx, trace->num_ranks, sizeof *trace->ranks);
    trace->groups = sv_alloc(trace->ctx, 1, sizeof *trace->groups);
    if (trace->ranks == NULL || trace->groups == NULL)
        return SV_NO_MEMORY;
    trace->num_groups = 1;
    sv_mpi_group *world = &trace->groups[0];
    world->ranks = sv_alloc(trace->ctx, trace->num_ranks, sizeof *world->ranks);
    if (world->ranks == NULL)
        return SV_NO_MEMORY;
    world->size = trace->num_ranks;
    for (uint32_t rank = 0; rank < trace->num_ranks; rank++)
        world->ranks[rank] = rank;
    return SV_OK;
}

sv_status sv_mpi_new(sv_ctx *ctx, const char *name, uint32_t ranks, sv_mpi_trace **trace)
{
    if (ranks == 0 || ranks > SV__MAX_RANKS)
        return sv_fail(ctx, SV_BAD_INPUT, "a trace has 1 to %u ranks, not %u",
                       (unsigned)SV__MAX_RANKS, ranks);
    sv_mpi_trace *t = sv_alloc(ctx, 1, sizeof *t);
    if (t == NULL)
        return SV_NO_MEMORY;
    t->ctx = ctx;
    t->num_ranks = ranks;
    t->name = sv_alloc(ctx, strlen(name) + 1, 1);
    sv_status status = t->name == NULL ? SV_NO_MEMORY : make_world(t);
    if (status != SV_OK) {
        sv_mpi_free(t);
        return status;
    }
    memcpy(t->name, name, strlen(name));
    *trace = t;
    return SV_OK;
}

void sv_mpi_free(sv_mpi_trace *trace)
{
    if (trace == NULL)
        return;
    for (uint32_t rank = 0; trace->ranks != NULL && rank < trace->num_ranks; rank++) {
        sv_release(trace->ctx, trace->ranks[rank].lines);
        sv_release(trace->ctx, trace->ranks[rank].events);
    }
    for (uint32_t group = 0; group < trace->num_groups; group++)
        sv_release(trace->ctx, trace->groups[group].ranks);
    sv_release(trace->ctx, trace->ranks);
    sv_release(trace->ctx, trace->groups);
    sv_release(trace->ctx, trace->name);
    sv_release(trace->ctx, trace);
}

sv_status sv__mpi_reserve(sv_mpi_trace *trace, uint32_t rank, uint64_t more)
{
    sv_mpi_rank *of = &trace->ranks[rank];
    if (more > SV__MAX_EVENTS - of->length)
        return sv_fail(trace->ctx, SV_UNSUPPORTED, "rank %u has more than %llu events", rank,
                       (unsigned long long)SV__MAX_EVENTS);
    size_t room = (size_t)of->room;
    SV_TRY(sv__array_grow(trace->ctx, (void **)&of->events, &room, (size_t)(of->length + more),
                          sizeof *of->events));
    of->room = room;
    return SV_OK;
}

sv_status sv_mpi_add(sv_mpi_trace *trace, uint32_t rank, const sv_mpi_event *event)
{
    if (rank >= trace->num_ranks)
        return sv_fail(trace->ctx, SV_BAD_INPUT, "an event of rank %u, of %u", rank,
                       trace->num_ranks);
    sv_mpi_rank *of = &trace->ranks[rank];
    if (of->length == of->room)
        SV_TRY(sv__mpi_reserve(trace, rank, 1));
    of->events[of->length++] = *event;
    return SV_OK;
}

sv_status sv__mpi_add_line(sv_mpi_trace *trace, uint32_t rank, const sv_mpi_event *event,
                           uint64_t line)
{
    SV_TRY(sv_mpi_add(trace, rank, event));
    sv_mpi_rank *of = &trace->ranks[rank];
    size_t room = (size_t)of->lines_room;
    SV_TRY(sv__array_grow(trace->ctx, (void **)&of->lines, &room, (size_t)of->length,
                          sizeof *of->lines));
    of->lines_room = room;
    of->lines[of->length - 1] = line > UINT32_MAX ? 0 : (uint32_t)line;
    return SV_OK;
}

sv__mpi_place sv__mpi_place_of(const sv_mpi_trace *trace, uint32_t rank, uint64_t event)
{
    const sv_mpi_rank *of = &trace->ranks[rank];
    sv__mpi_place place;
    int length = 0;
    if (of->lines != NULL && event < of->length && of->lines[event] > 0)
        length =
            snprintf(place.text, sizeof place.text, "%.200s:%u: ", trace->name, of->lines[event]);
    snprintf(place.text + length, sizeof place.text - (size_t)length, "rank %u, event %llu", rank,
             (unsigned long long)event);
    return place;
}

/* ---- groups ---- */

static sv_status group_is_fine(const sv_mpi_trace *trace, const uint32_t *ranks, uint32_t size)
{
    if (size == 0 || size > trace->num_ranks)
        return sv_fail(trace->ctx, SV_BAD_INPUT, "a group of %u ranks, of %u", size,
                       trace->num_ranks);
    uint8_t *seen = sv_alloc(trace->ctx, trace->num_ranks, 1);
    if (seen == NULL)
        return SV_NO_MEMORY;
    sv_status status = SV_OK;
    for (uint32_t i = 0; i < size && status == SV_OK; i++) {
        if (ranks[i] >= trace->num_ranks)
            status = sv_fail(trace->ctx, SV_BAD_INPUT, "a group has rank %u, of %u", ranks[i],
                             trace->num_ranks);
        else if (seen[ranks[i]]++ > 0)
            status = sv_fail(trace->ctx, SV_BAD_INPUT, "a group has rank %u twice", ranks[i]);
    }
    sv_release(trace->ctx, seen);
    return status;
}

sv_status sv_mpi_add_group(sv_mpi_trace *trace, const uint32_t *ranks, uint32_t size,
                           uint32_t ordinal, uint16_t *group)
{
    SV_TRY(group_is_fine(trace, ranks, size));
    for (uint32_t i = 0; i < trace->num_groups; i++) {
        const sv_mpi_group *is = &trace->groups[i];
        if (is->size == size && is->ordinal == ordinal &&
            memcmp(is->ranks, ranks, size * sizeof *ranks) == 0) {
            *group = (uint16_t)i;
            return SV_OK;
        }
    }
    if (trace->num_groups > UINT16_MAX)
        return sv_fail(trace->ctx, SV_UNSUPPORTED, "more than %d groups of ranks", UINT16_MAX + 1);
    uint32_t *copy = sv_alloc(trace->ctx, size, sizeof *copy);
    if (copy == NULL)
        return SV_NO_MEMORY;
    sv_mpi_group *grown =
        sv_resize(trace->ctx, trace->groups, trace->num_groups + 1, sizeof *grown);
    if (grown == NULL) {
        sv_release(trace->ctx, copy);
        return SV_NO_MEMORY;
    }
    memcpy(copy, ranks, size * sizeof *copy);
    trace->groups = grown;
    grown[trace->num_groups] = (sv_mpi_group){copy, size, ordinal};
    *group = (uint16_t)trace->num_groups++;
    return SV_OK;
}
