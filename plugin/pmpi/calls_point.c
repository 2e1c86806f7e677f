/*
 * calls_point.c: messages from one rank to another, blocking and begun.
 *
 * What each becomes: docs/decisions/0029-traces.md. A buffered send never blocks, so it is an ISEND
 * that is waited for at the end. Messages to and from MPI_PROC_NULL are nothing, but their requests
 * must be known: they may have the same handle as others.
 */
#include <stdlib.h>

#include "record.h"

/* ---- sending ---- */

static void sent(unsigned call, uint64_t bytes, int to, int tag, MPI_Comm c)
{
    const rec_comm *comm = rec_comm_of(c);
    uint32_t peer;
    if (!rec_peer(comm, to, &peer))
        return;
    rec_call(call);
    sv_mpi_event event = rec_message(SV_MPI_SEND, comm, peer, tag, bytes);
    rec_event(&event);
}

#define BLOCKING(name, call)                                                                       \
    WRAP(name);                                                                                    \
    int PMPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag,             \
                    MPI_Comm comm)                                                                 \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(name)(buffer, count, type, to, tag, comm);                                 \
        if (noted && code == MPI_SUCCESS)                                                          \
            sent(call, rec_bytes(count, type), to, tag, comm);                                     \
        rec_leave();                                                                               \
        return code;                                                                               \
    }

BLOCKING(Send, SV_CALL_SEND)
BLOCKING(Rsend, SV_CALL_SEND)
BLOCKING(Ssend, SV_CALL_SSEND)

WRAP(Bsend);
int PMPI_Bsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm c)
{
    bool noted = rec_enter();
    int code = REAL(Bsend)(buffer, count, type, to, tag, c);
    const rec_comm *comm = noted && code == MPI_SUCCESS ? rec_comm_of(c) : NULL;
    uint32_t peer;
    if (rec_peer(comm, to, &peer)) {
        rec_call(SV_CALL_SEND);
        sv_mpi_event event = rec_message(SV_MPI_ISEND, comm, peer, tag, rec_bytes(count, type));
        event.request = rec_number();
        rec_event(&event);
        rec_request_orphan(event.request);
    }
    rec_leave();
    return code;
}

/* ---- beginning ---- */

/* Its event happens now. */
static void start(rec_request *r)
{
    r->active = true;
    if (r->kind != REC_SEND && r->kind != REC_RECV)
        return;
    r->event.call = (uint8_t)rec_take_call();
    r->event.request = rec_number();
    if (r->kind == REC_SEND)
        rec_event(&r->event);
    else
        r->place = rec_hold(&r->event);
}

/* What *address is from now on: a message, or nothing. */
static rec_request *prepare(rec_kind kind, uint64_t bytes, int rank, int tag, MPI_Comm c,
                            const MPI_Request *address)
{
    const rec_comm *comm = rec_comm_of(c);
    uint32_t peer = SV_MPI_ANY;
    rec_request *r = rec_request_new(address);
    bool anybody = kind == REC_RECV && rank == MPI_ANY_SOURCE;
    if (r == NULL || comm == NULL || (!anybody && !rec_peer(comm, rank, &peer)))
        return r;
    r->kind = kind;
    r->peers = comm->peers;
    r->event = rec_message(kind == REC_SEND ? SV_MPI_ISEND : SV_MPI_IRECV, comm, peer, tag, bytes);
    return r;
}

static void begun(unsigned call, rec_kind kind, uint64_t bytes, int rank, int tag, MPI_Comm comm,
                  const MPI_Request *address)
{
    rec_request *r = prepare(kind, bytes, rank, tag, comm, address);
    rec_call(call);
    if (r != NULL)
        start(r);
}

#define BEGINNING(name)                                                                            \
    WRAP(name);                                                                                    \
    int PMPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag,             \
                    MPI_Comm comm, MPI_Request *request)                                           \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(name)(buffer, count, type, to, tag, comm, request);                        \
        if (noted && code == MPI_SUCCESS)                                                          \
            begun(SV_CALL_ISEND, REC_SEND, rec_bytes(count, type), to, tag, comm, request);        \
        rec_leave();                                                                               \
        return code;                                                                               \
    }

BEGINNING(Isend)
BEGINNING(Ibsend)
BEGINNING(Issend)
BEGINNING(Irsend)

WRAP(Irecv);
int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    bool noted = rec_enter();
    int code = REAL(Irecv)(buffer, count, type, from, tag, comm, request);
    if (noted && code == MPI_SUCCESS)
        begun(SV_CALL_IRECV, REC_RECV, rec_bytes(count, type), from, tag, comm, request);
    rec_leave();
    return code;
}

/* ---- again and again ---- */

#define PERSISTENT(name)                                                                           \
    WRAP(name);                                                                                    \
    int PMPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag,             \
                    MPI_Comm comm, MPI_Request *request)                                           \
    {                                                                                              \
        bool noted = rec_enter();                                                                  \
        int code = REAL(name)(buffer, count, type, to, tag, comm, request);                        \
        rec_request *r = NULL;                                                                     \
        if (noted && code == MPI_SUCCESS)                                                          \
            r = prepare(REC_SEND, rec_bytes(count, type), to, tag, comm, request);                 \
        if (r != NULL)                                                                             \
            r->persistent = true;                                                                  \
        rec_leave();                                                                               \
        return code;                                                                               \
    }

PERSISTENT(Send_init)
PERSISTENT(Bsend_init)
PERSISTENT(Ssend_init)
PERSISTENT(Rsend_init)

WRAP(Recv_init);
int PMPI_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    bool noted = rec_enter();
    int code = REAL(Recv_init)(buffer, count, type, from, tag, comm, request);
    rec_request *r = NULL;
    if (noted && code == MPI_SUCCESS)
        r = prepare(REC_RECV, rec_bytes(count, type), from, tag, comm, request);
    if (r != NULL)
        r->persistent = true;
    rec_leave();
    return code;
}

static void started(const MPI_Request *address)
{
    rec_request *r = rec_request_of(*address, address);
    if (r == NULL || !r->persistent)
        return;
    rec_call(r->kind == REC_RECV ? SV_CALL_IRECV : SV_CALL_ISEND);
    start(r);
}

WRAP(Start);
int PMPI_Start(MPI_Request *request)
{
    bool noted = rec_enter();
    int code = REAL(Start)(request);
    if (noted && code == MPI_SUCCESS)
        started(request);
    rec_leave();
    return code;
}

WRAP(Startall);
int PMPI_Startall(int count, MPI_Request requests[])
{
    bool noted = rec_enter();
    int code = REAL(Startall)(count, requests);
    for (int i = 0; i < count && noted && code == MPI_SUCCESS; i++)
        started(&requests[i]);
    rec_leave();
    return code;
}

/* ---- receiving ---- */

/* A receive that is done: whom it was from is known. */
static bool received(unsigned kind, const rec_comm *comm, MPI_Status *status, sv_mpi_event *event)
{
    MPI_Count bytes = 0;
    uint32_t peer;
    if (!rec_peer(comm, status->MPI_SOURCE, &peer))
        return false;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    *event = rec_message(kind, comm, peer, status->MPI_TAG, bytes > 0 ? (uint64_t)bytes : 0);
    return true;
}

WRAP(Recv);
int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    sv_mpi_event event;
    bool noted = rec_enter();
    int code = REAL(Recv)(buffer, count, type, from, tag, comm, s);
    if (noted && code == MPI_SUCCESS) {
        rec_call(SV_CALL_RECV);
        if (received(SV_MPI_RECV, rec_comm_of(comm), s, &event))
            rec_event(&event);
    }
    rec_leave();
    return code;
}

static void exchanged(uint64_t bytes, int to, int tag, MPI_Comm c, MPI_Status *status)
{
    const rec_comm *comm = rec_comm_of(c);
    sv_mpi_event out, in;
    uint32_t peer;
    rec_call(SV_CALL_SENDRECV);
    bool sends = rec_peer(comm, to, &peer);
    if (sends) {
        out = rec_message(SV_MPI_ISEND, comm, peer, tag, bytes);
        out.request = rec_number();
        rec_event(&out);
    }
    bool receives = received(SV_MPI_IRECV, comm, status, &in);
    if (receives) {
        in.request = rec_number();
        rec_event(&in);
    }
    if (sends)
        rec_wait(out.request);
    if (receives)
        rec_wait(in.request);
}

WRAP(Sendrecv);
int PMPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                  void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                  MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    bool noted = rec_enter();
    int code = REAL(Sendrecv)(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                              in_tag, comm, s);
    if (noted && code == MPI_SUCCESS)
        exchanged(rec_bytes(out_count, out_type), to, out_tag, comm, s);
    rec_leave();
    return code;
}

WRAP(Sendrecv_replace);
int PMPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int out_tag, int from,
                          int in_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    bool noted = rec_enter();
    int code = REAL(Sendrecv_replace)(buffer, count, type, to, out_tag, from, in_tag, comm, s);
    if (noted && code == MPI_SUCCESS)
        exchanged(rec_bytes(count, type), to, out_tag, comm, s);
    rec_leave();
    return code;
}
