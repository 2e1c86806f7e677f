/*
 * calls_all.c: collectives with one size for all ranks, blocking and begun.
 *
 * Bytes are what a rank gives: the vector (MPI_Bcast, MPI_Reduce, MPI_Allreduce, MPI_Scan, and of
 * MPI_Reduce_scatter the whole one), its block (MPI_Gather, MPI_Allgather, MPI_Scatter: what one
 * rank gets), or what goes to each other rank (MPI_Alltoall). Where MPI_IN_PLACE makes the sending
 * side's arguments mean nothing, those of the other side count.
 */
#include "record.h"

/* How the sizes of both sides are read. */
static uint64_t side(const void *given, int count, MPI_Datatype type, int other_count,
                     MPI_Datatype other)
{
    return given == MPI_IN_PLACE ? rec_bytes(other_count, other) : rec_bytes(count, type);
}

/*
 * DEFINE(name, call, root, bytes, parameters, arguments): MPI_name and MPI_Iname, noted as a
 * collective of so many bytes.
 */
#define DEFINE(name, iname, call, root, bytes, parameters, arguments)                              \
    WRAP(name);                                                                                    \
    int PMPI_##name(UNPACK parameters)                                                             \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(name)(UNPACK arguments);                                                   \
        if (noted && code == MPI_SUCCESS)                                                          \
            rec_collective(call, rec_comm_of(comm), root, bytes);                                  \
        rec_leave();                                                                               \
        return code;                                                                               \
    }                                                                                              \
    WRAP(iname);                                                                                   \
    int PMPI_##iname(UNPACK parameters, MPI_Request *request)                                      \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(iname)(UNPACK arguments, request);                                         \
        if (noted && code == MPI_SUCCESS)                                                          \
            rec_begin_collective(call, rec_comm_of(comm), root, bytes, request);                   \
        rec_leave();                                                                               \
        return code;                                                                               \
    }
#define UNPACK(...) __VA_ARGS__

DEFINE(Barrier, Ibarrier, SV_CALL_BARRIER, -1, 0, (MPI_Comm comm), (comm))

DEFINE(Bcast, Ibcast, SV_CALL_BCAST, root, rec_bytes(count, type),
       (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
       (buffer, count, type, root, comm))

DEFINE(Reduce, Ireduce, SV_CALL_REDUCE, root, rec_bytes(count, type),
       (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
        MPI_Comm comm),
       (in, out, count, type, op, root, comm))

#define VECTOR       (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
#define VECTOR_GIVEN (in, out, count, type, op, comm)

DEFINE(Allreduce, Iallreduce, SV_CALL_ALLREDUCE, -1, rec_bytes(count, type), VECTOR, VECTOR_GIVEN)
DEFINE(Scan, Iscan, SV_CALL_SCAN, -1, rec_bytes(count, type), VECTOR, VECTOR_GIVEN)
DEFINE(Exscan, Iexscan, SV_CALL_SCAN, -1, rec_bytes(count, type), VECTOR, VECTOR_GIVEN)

/* The whole vector of a rank. */
static uint64_t whole_vector(int count, MPI_Datatype type, MPI_Comm comm)
{
    int size = 1;
    PMPI_Comm_size(comm, &size);
    return rec_bytes((MPI_Aint)count * size, type);
}

DEFINE(Reduce_scatter_block, Ireduce_scatter_block, SV_CALL_REDUCE_SCATTER, -1,
       whole_vector(count, type, comm), VECTOR, VECTOR_GIVEN)

#define BLOCKS                                                                                     \
    const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,                 \
        MPI_Datatype in_type

DEFINE(Allgather, Iallgather, SV_CALL_ALLGATHER, -1,
       side(out, out_count, out_type, in_count, in_type), (BLOCKS, MPI_Comm comm),
       (out, out_count, out_type, in, in_count, in_type, comm))
DEFINE(Alltoall, Ialltoall, SV_CALL_ALLTOALL, -1, side(out, out_count, out_type, in_count, in_type),
       (BLOCKS, MPI_Comm comm), (out, out_count, out_type, in, in_count, in_type, comm))
DEFINE(Gather, Igather, SV_CALL_GATHER, root, side(out, out_count, out_type, in_count, in_type),
       (BLOCKS, int root, MPI_Comm comm),
       (out, out_count, out_type, in, in_count, in_type, root, comm))
DEFINE(Scatter, Iscatter, SV_CALL_SCATTER, root, side(in, in_count, in_type, out_count, out_type),
       (BLOCKS, int root, MPI_Comm comm),
       (out, out_count, out_type, in, in_count, in_type, root, comm))
