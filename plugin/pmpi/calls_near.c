/*
 * calls_near.c: collectives among neighbours of a grid or graph: messages to and from each.
 *
 * The order of neighbours is MPI's: of a grid for each dimension the one below, then the one above.
 * Two that are one and the same rank (a ring of two) have the same tag here; both sides then count
 * their messages in the same order.
 */
#include <stdlib.h>

#include "record.h"

/* ---- neighbours ---- */

typedef struct near {
    int *from, *to; /* allocated as one */
    int num_from, num_to;
} near;

static bool make_room(near *n, int num_from, int num_to)
{
    n->from = rec_alloc(((size_t)num_from + (size_t)num_to) * sizeof *n->from);
    n->to = n->from != NULL ? n->from + num_from : NULL;
    n->num_from = num_from;
    n->num_to = num_to;
    return n->from != NULL;
}

static bool of_grid(MPI_Comm comm, near *n)
{
    int dims = 0;
    PMPI_Cartdim_get(comm, &dims);
    if (!make_room(n, 2 * dims, 2 * dims))
        return false;
    for (int i = 0; i < dims; i++) {
        PMPI_Cart_shift(comm, i, 1, &n->from[2 * i], &n->from[2 * i + 1]);
        n->to[2 * i] = n->from[2 * i];
        n->to[2 * i + 1] = n->from[2 * i + 1];
    }
    return true;
}

static bool of_graph(MPI_Comm comm, int me, near *n)
{
    int count = 0;
    PMPI_Graph_neighbors_count(comm, me, &count);
    if (!make_room(n, count, count))
        return false;
    PMPI_Graph_neighbors(comm, me, count, n->from);
    for (int i = 0; i < count; i++)
        n->to[i] = n->from[i];
    return true;
}

static bool of_both_sides(MPI_Comm comm, near *n)
{
    int in = 0, out = 0, weighted;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    int *unused = rec_alloc(((size_t)in + (size_t)out) * sizeof *unused);
    bool ok = unused != NULL && make_room(n, in, out);
    if (ok)
        PMPI_Dist_graph_neighbors(comm, in, n->from, unused, out, n->to, unused + in);
    free(unused);
    return ok;
}

static bool neighbours(MPI_Comm comm, int me, near *n)
{
    int kind = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &kind);
    return kind == MPI_CART         ? of_grid(comm, n)
           : kind == MPI_GRAPH      ? of_graph(comm, me, n)
           : kind == MPI_DIST_GRAPH ? of_both_sides(comm, n)
                                    : false;
}

/* ---- what calls do ---- */

/* Sizes of one side: counts NULL: all of one; types NULL: all of one type. */
typedef struct side {
    int count;
    const int *counts;
    MPI_Datatype type;
    const MPI_Datatype *types;
} side;

static rec_some sized(const int *ranks, int count, side s)
{
    rec_some some = {.ranks = ranks, .count = (uint32_t)count};
    some.sizes = rec_alloc((size_t)count * sizeof *some.sizes);
    if (some.sizes == NULL)
        some.count = 0;
    for (uint32_t i = 0; i < some.count; i++)
        some.sizes[i] = rec_bytes(s.counts != NULL ? s.counts[i] : s.count,
                                  s.types != NULL ? s.types[i] : s.type);
    return some;
}

static void exchanged(unsigned call, side out, side in, MPI_Comm c, const MPI_Request *begun)
{
    const rec_comm *comm = rec_comm_of(c);
    near n;
    if (comm == NULL || !neighbours(c, comm->me, &n)) {
        if (begun != NULL)
            rec_request_new(begun); /* nothing */
        return;
    }
    rec_some to = sized(n.to, n.num_to, out), from = sized(n.from, n.num_from, in);
    rec_exchange_some(comm, &to, &from, call, begun);
    free(to.sizes);
    free(from.sizes);
    free(n.from);
}

/* ---- the calls ---- */

#define UNPACK(...) __VA_ARGS__
#define DEFINE(name, iname, call, parameters, arguments, out, in)                                  \
    WRAP(name);                                                                                    \
    int PMPI_##name(UNPACK parameters)                                                             \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(name)(UNPACK arguments);                                                   \
        if (noted && code == MPI_SUCCESS)                                                          \
            exchanged(call, (side){UNPACK out}, (side){UNPACK in}, comm, NULL);                    \
        rec_leave();                                                                               \
        return code;                                                                               \
    }                                                                                              \
    WRAP(iname);                                                                                   \
    int PMPI_##iname(UNPACK parameters, MPI_Request *request)                                      \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(iname)(UNPACK arguments, request);                                         \
        if (noted && code == MPI_SUCCESS)                                                          \
            exchanged(call, (side){UNPACK out}, (side){UNPACK in}, comm, request);                 \
        rec_leave();                                                                               \
        return code;                                                                               \
    }

DEFINE(Neighbor_allgather, Ineighbor_allgather, SV_CALL_ALLGATHER,
       (const void *a, int m, MPI_Datatype s, void *b, int n, MPI_Datatype t, MPI_Comm comm),
       (a, m, s, b, n, t, comm), (m, NULL, s, NULL), (n, NULL, t, NULL))

DEFINE(Neighbor_alltoall, Ineighbor_alltoall, SV_CALL_ALLTOALL,
       (const void *a, int m, MPI_Datatype s, void *b, int n, MPI_Datatype t, MPI_Comm comm),
       (a, m, s, b, n, t, comm), (m, NULL, s, NULL), (n, NULL, t, NULL))

DEFINE(Neighbor_allgatherv, Ineighbor_allgatherv, SV_CALL_ALLGATHER,
       (const void *a, int m, MPI_Datatype s, void *b, const int n[], const int at[],
        MPI_Datatype t, MPI_Comm comm),
       (a, m, s, b, n, at, t, comm), (m, NULL, s, NULL), (0, n, t, NULL))

DEFINE(Neighbor_alltoallv, Ineighbor_alltoallv, SV_CALL_ALLTOALL,
       (const void *a, const int m[], const int from[], MPI_Datatype s, void *b, const int n[],
        const int at[], MPI_Datatype t, MPI_Comm comm),
       (a, m, from, s, b, n, at, t, comm), (0, m, s, NULL), (0, n, t, NULL))

DEFINE(Neighbor_alltoallw, Ineighbor_alltoallw, SV_CALL_ALLTOALL,
       (const void *a, const int m[], const MPI_Aint from[], const MPI_Datatype s[], void *b,
        const int n[], const MPI_Aint at[], const MPI_Datatype t[], MPI_Comm comm),
       (a, m, from, s, b, n, at, t, comm), (0, m, MPI_BYTE, s), (0, n, MPI_BYTE, t))
