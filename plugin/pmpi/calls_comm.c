/*
 * calls_comm.c: communicators that are made, and calls that are not recorded but take time that is
 * not the program's.
 *
 * A new communicator is looked at at once, so that all its ranks count it in the same order (see
 * groups.c). What MPI itself sends to make one is not recorded.
 */
#include "record.h"

#define UNPACK(...) __VA_ARGS__

/* MPI_name(parameters) makes *made. */
#define MAKING(name, parameters, arguments, made)                                                  \
    WRAP(name);                                                                                    \
    int PMPI_##name(UNPACK parameters)                                                             \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(name)(UNPACK arguments);                                                   \
        if (noted && code == MPI_SUCCESS)                                                          \
            rec_comm_of(*made);                                                                    \
        rec_leave();                                                                               \
        return code;                                                                               \
    }

MAKING(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), made)
MAKING(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made), made)
MAKING(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), made)
MAKING(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
       (comm, group, tag, made), made)
MAKING(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made),
       made)
MAKING(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
       (comm, type, key, info, made), made)
MAKING(Cart_create,
       (MPI_Comm comm, int dims, const int sizes[], const int periodic[], int reorder,
        MPI_Comm *made),
       (comm, dims, sizes, periodic, reorder, made), made)
MAKING(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made), made)
MAKING(Graph_create,
       (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
        MPI_Comm *made),
       (comm, nodes, index, edges, reorder, made), made)
MAKING(Dist_graph_create,
       (MPI_Comm comm, int n, const int nodes[], const int degrees[], const int targets[],
        const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
       (comm, n, nodes, degrees, targets, weights, info, reorder, made), made)
MAKING(Dist_graph_create_adjacent,
       (MPI_Comm comm, int in_degree, const int sources[], const int in_weights[], int out_degree,
        const int targets[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made),
       (comm, in_degree, sources, in_weights, out_degree, targets, out_weights, info, reorder,
        made),
       made)
MAKING(Intercomm_create,
       (MPI_Comm local, int leader, MPI_Comm peers, int remote, int tag, MPI_Comm *made),
       (local, leader, peers, remote, tag, made), made)
MAKING(Intercomm_merge, (MPI_Comm inter, int high, MPI_Comm *made), (inter, high, made), made)

/* Not there before it is waited for, but counted here. */
WRAP(Comm_idup);
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    bool noted = rec_enter();
    int code = REAL(Comm_idup)(comm, made, request);
    rec_request *r = noted && code == MPI_SUCCESS ? rec_request_new(request) : NULL;
    rec_comm *known = r != NULL ? rec_comm_begin(comm) : NULL;
    if (known != NULL) {
        r->kind = REC_COMM;
        r->comm = known;
        r->made = made;
    }
    rec_leave();
    return code;
}

/* ---- time that is MPI's ---- */

#define QUIET(name, parameters, arguments, cannot)                                                 \
    WRAP(name);                                                                                    \
    int PMPI_##name(UNPACK parameters)                                                             \
    {                                                                                              \
        const char *what = cannot;                                                                 \
        if (rec_enter() && what != NULL)                                                           \
            rec_cannot(what);                                                                      \
        int code = REAL(name)(UNPACK arguments);                                                   \
        rec_leave();                                                                               \
        return code;                                                                               \
    }
#define ONE_SIDED "one-sided communication (MPI_Win_…)"

QUIET(Comm_free, (MPI_Comm * comm), (comm), NULL)
QUIET(Comm_disconnect, (MPI_Comm * comm), (comm), NULL)
QUIET(Cancel, (MPI_Request * request), (request), NULL)
QUIET(Comm_spawn,
      (const char *command, char *argv[], int max, MPI_Info info, int root, MPI_Comm comm,
       MPI_Comm *inter, int errors[]),
      (command, argv, max, info, root, comm, inter, errors),
      "communication with processes that were started later")
QUIET(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
      (base, size, unit, info, comm, win), ONE_SIDED)
QUIET(Win_allocate,
      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
      (size, unit, info, comm, base, win), ONE_SIDED)
QUIET(Win_allocate_shared,
      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
      (size, unit, info, comm, base, win), ONE_SIDED)
QUIET(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win),
      ONE_SIDED)
QUIET(Win_fence, (int assertion, MPI_Win win), (assertion, win), NULL)
QUIET(Win_lock, (int type, int rank, int assertion, MPI_Win win), (type, rank, assertion, win),
      NULL)
QUIET(Win_unlock, (int rank, MPI_Win win), (rank, win), NULL)
QUIET(Win_lock_all, (int assertion, MPI_Win win), (assertion, win), NULL)
QUIET(Win_unlock_all, (MPI_Win win), (win), NULL)
QUIET(Win_flush, (int rank, MPI_Win win), (rank, win), NULL)
QUIET(Win_flush_all, (MPI_Win win), (win), NULL)
QUIET(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), NULL)
QUIET(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), NULL)
QUIET(Win_complete, (MPI_Win win), (win), NULL)
QUIET(Win_wait, (MPI_Win win), (win), NULL)
QUIET(Win_free, (MPI_Win * win), (win), NULL)
