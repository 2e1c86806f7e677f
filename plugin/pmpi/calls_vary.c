/*
 * calls_vary.c: collectives in which ranks have different sizes: they become messages, as each rank
 * knows those it takes part in. Where all ranks know all sizes (MPI_Allgatherv,
 * MPI_Reduce_scatter) and these are equal, they are one event as others are.
 */
#include <stdlib.h>

#include "record.h"

/* ---- sizes ---- */

/* Bytes of each rank; types NULL: all of one type. To be freed; NULL after rec_give_up. */
static uint64_t *sizes_of(const rec_comm *comm, const int *counts, MPI_Datatype type,
                          const MPI_Datatype *types)
{
    uint64_t *sizes = rec_alloc(comm->peers->size * sizeof *sizes);
    uint64_t one = types == NULL ? rec_bytes(1, type) : 0;
    for (uint32_t i = 0; i < comm->peers->size && sizes != NULL; i++)
        sizes[i] = types != NULL   ? rec_bytes(counts[i], types[i])
                   : counts[i] > 0 ? (uint64_t)counts[i] * one
                                   : 0;
    return sizes;
}

static bool equal(const rec_comm *comm, const uint64_t *sizes)
{
    for (uint32_t i = 1; i < comm->peers->size; i++)
        if (sizes[i] != sizes[0])
            return false;
    return true;
}

/* Sizes of nothing but one rank's. */
static uint64_t *only(const rec_comm *comm, int rank, uint64_t bytes)
{
    uint64_t *sizes = rec_alloc(comm->peers->size * sizeof *sizes);
    if (sizes != NULL && rank >= 0 && (uint32_t)rank < comm->peers->size)
        sizes[rank] = bytes;
    return sizes;
}

/* Messages of these sizes, which are freed; or none when there is no memory for them. */
static void exchange(const rec_comm *comm, unsigned call, uint64_t *out, uint64_t *in,
                     const MPI_Request *begun)
{
    rec_exchange x = {.out = out, .in = in, .begun = begun, .call = call};
    rec_exchange_all(comm, &x);
    free(out);
    free(in);
}

/* A communicator that has collectives of this kind; a request that was begun is known in any case.
 */
static const rec_comm *usable(MPI_Comm c, const MPI_Request *begun)
{
    const rec_comm *comm = rec_comm_of(c);
    if (comm != NULL && !comm->inter)
        return comm;
    rec_exchange nothing = {.begun = begun};
    rec_exchange_all(comm, &nothing);
    return NULL;
}

/* ---- what calls do ---- */

typedef struct side {
    const void *buffer;
    const int *counts;
    MPI_Datatype type;
    const MPI_Datatype *types;
} side;

static void alltoall(side out, side in, MPI_Comm c, const MPI_Request *begun)
{
    const rec_comm *comm = usable(c, begun);
    if (comm == NULL)
        return;
    if (out.buffer == MPI_IN_PLACE)
        out = in;
    exchange(comm, SV_CALL_ALLTOALL, sizes_of(comm, out.counts, out.type, out.types),
             sizes_of(comm, in.counts, in.type, in.types), begun);
}

static void gather(uint64_t bytes, side in, int root, MPI_Comm c, const MPI_Request *begun)
{
    const rec_comm *comm = usable(c, begun);
    if (comm == NULL)
        return;
    if (comm->me == root)
        exchange(comm, SV_CALL_GATHER, NULL, sizes_of(comm, in.counts, in.type, NULL), begun);
    else
        exchange(comm, SV_CALL_GATHER, only(comm, root, bytes), NULL, begun);
}

static void scatter(side out, uint64_t bytes, int root, MPI_Comm c, const MPI_Request *begun)
{
    const rec_comm *comm = usable(c, begun);
    if (comm == NULL)
        return;
    if (comm->me == root)
        exchange(comm, SV_CALL_SCATTER, sizes_of(comm, out.counts, out.type, NULL), NULL, begun);
    else
        exchange(comm, SV_CALL_SCATTER, NULL, only(comm, root, bytes), begun);
}

static void allgather(side in, MPI_Comm c, const MPI_Request *begun)
{
    const rec_comm *comm = usable(c, begun);
    uint64_t *sizes = comm != NULL ? sizes_of(comm, in.counts, in.type, NULL) : NULL;
    if (sizes == NULL)
        return;
    if (equal(comm, sizes) && begun == NULL)
        rec_collective(SV_CALL_ALLGATHER, comm, -1, sizes[0]);
    else if (equal(comm, sizes))
        rec_begin_collective(SV_CALL_ALLGATHER, comm, -1, sizes[0], begun);
    else if (begun == NULL)
        rec_ring(comm, sizes, SV_CALL_ALLGATHER);
    else {
        uint64_t *out = only(comm, 0, 0);
        for (uint32_t i = 0; i < comm->peers->size && out != NULL; i++)
            out[i] = sizes[comm->me];
        exchange(comm, SV_CALL_ALLGATHER, out, sizes, begun);
        return;
    }
    free(sizes);
}

static void reduce_scatter(const int *counts, MPI_Datatype type, MPI_Comm c,
                           const MPI_Request *begun)
{
    const rec_comm *comm = usable(c, begun);
    uint64_t *sizes = comm != NULL ? sizes_of(comm, counts, type, NULL) : NULL;
    if (sizes == NULL)
        return;
    uint64_t vector = sizes[0] * comm->peers->size;
    if (equal(comm, sizes) && begun == NULL)
        rec_collective(SV_CALL_REDUCE_SCATTER, comm, -1, vector);
    else if (equal(comm, sizes))
        rec_begin_collective(SV_CALL_REDUCE_SCATTER, comm, -1, vector, begun);
    else {
        uint64_t *in = only(comm, 0, 0);
        for (uint32_t i = 0; i < comm->peers->size && in != NULL; i++)
            in[i] = sizes[comm->me];
        exchange(comm, SV_CALL_REDUCE_SCATTER, sizes, in, begun);
        return;
    }
    free(sizes);
}

/* ---- the calls ---- */

#define DEFINE(name, iname, parameters, arguments, what)                                           \
    WRAP(name);                                                                                    \
    int PMPI_##name(UNPACK parameters)                                                             \
    {                                                                                              \
        const MPI_Request *request = NULL;                                                         \
        bool noted = rec_enter();                                                                  \
        int code = REAL(name)(UNPACK arguments);                                                   \
        if (noted && code == MPI_SUCCESS)                                                          \
            what;                                                                                  \
        rec_leave();                                                                               \
        return code;                                                                               \
    }                                                                                              \
    WRAP(iname);                                                                                   \
    int PMPI_##iname(UNPACK parameters, MPI_Request *request)                                      \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(iname)(UNPACK arguments, request);                                         \
        if (noted && code == MPI_SUCCESS)                                                          \
            what;                                                                                  \
        rec_leave();                                                                               \
        return code;                                                                               \
    }
#define UNPACK(...) __VA_ARGS__
#define SIDE(...)   ((side){__VA_ARGS__})

DEFINE(Alltoallv, Ialltoallv,
       (const void *out, const int outs[], const int out_at[], MPI_Datatype out_type, void *in,
        const int ins[], const int in_at[], MPI_Datatype in_type, MPI_Comm comm),
       (out, outs, out_at, out_type, in, ins, in_at, in_type, comm),
       alltoall(SIDE(out, outs, out_type, NULL), SIDE(in, ins, in_type, NULL), comm, request))

DEFINE(Alltoallw, Ialltoallw,
       (const void *out, const int outs[], const int out_at[], const MPI_Datatype out_types[],
        void *in, const int ins[], const int in_at[], const MPI_Datatype in_types[], MPI_Comm comm),
       (out, outs, out_at, out_types, in, ins, in_at, in_types, comm),
       alltoall(SIDE(out, outs, MPI_BYTE, out_types), SIDE(in, ins, MPI_BYTE, in_types), comm,
                request))

DEFINE(Gatherv, Igatherv,
       (const void *out, int count, MPI_Datatype type, void *in, const int ins[], const int in_at[],
        MPI_Datatype in_type, int root, MPI_Comm comm),
       (out, count, type, in, ins, in_at, in_type, root, comm),
       gather(rec_bytes(count, type), SIDE(in, ins, in_type, NULL), root, comm, request))

DEFINE(Scatterv, Iscatterv,
       (const void *out, const int outs[], const int out_at[], MPI_Datatype out_type, void *in,
        int count, MPI_Datatype type, int root, MPI_Comm comm),
       (out, outs, out_at, out_type, in, count, type, root, comm),
       scatter(SIDE(out, outs, out_type, NULL), rec_bytes(count, type), root, comm, request))

DEFINE(Allgatherv, Iallgatherv,
       (const void *out, int count, MPI_Datatype type, void *in, const int ins[], const int in_at[],
        MPI_Datatype in_type, MPI_Comm comm),
       (out, count, type, in, ins, in_at, in_type, comm),
       allgather(SIDE(in, ins, in_type, NULL), comm, request))

DEFINE(Reduce_scatter, Ireduce_scatter,
       (const void *in, void *out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (in, out, counts, type, op, comm), reduce_scatter(counts, type, comm, request))
