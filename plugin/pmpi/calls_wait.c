/*
 * calls_wait.c: waiting for requests, testing them, and looking for messages.
 *
 * Idea: handles are gone after the call that ends them, so they are copied before it. A test that
 * says no, and MPI_Probe, are nothing; but the time they take is MPI's, not the program's.
 * MPI_Mprobe takes a message: it is received there, and MPI_Mrecv waits for it.
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* ---- copies ---- */

enum { FEW = 16 };

typedef struct copies {
    MPI_Request *handles, few_handles[FEW];
    MPI_Status *statuses, few_statuses[FEW];
    bool ok, own; /* own: the program has no use for statuses */
} copies;

/* noted and no memory: nothing is noted. */
static void copy(copies *c, bool noted, int count, const MPI_Request *requests,
                 MPI_Status *statuses)
{
    size_t n = count > 0 ? (size_t)count : 0;
    c->handles = c->few_handles;
    c->statuses = statuses;
    c->own = statuses == MPI_STATUSES_IGNORE;
    c->ok = noted;
    if (!noted)
        return;
    if (n > FEW)
        c->handles = rec_alloc(n * sizeof *c->handles);
    if (c->own)
        c->statuses = n <= FEW ? c->few_statuses : rec_alloc(n * sizeof *c->statuses);
    c->ok = c->handles != NULL && c->statuses != NULL;
    if (!c->ok)
        c->statuses = statuses;
    else
        memcpy(c->handles, requests, n * sizeof *requests);
}

static void release(copies *c, MPI_Status *statuses)
{
    if (c->handles != c->few_handles)
        free(c->handles);
    if (c->statuses != c->few_statuses && c->statuses != statuses)
        free(c->statuses);
}

static void done(const copies *c, int i, const MPI_Request *requests, MPI_Status *status)
{
    rec_request *r = NULL;
    if (c->handles[i] != MPI_REQUEST_NULL)
        r = rec_request_of(c->handles[i], &requests[i]);
    if (r != NULL)
        rec_request_done(r, status);
}

static void all_done(const copies *c, unsigned call, int count, const MPI_Request *requests)
{
    rec_call(call);
    for (int i = 0; i < count; i++)
        done(c, i, requests, &c->statuses[i]);
}

static void some_done(const copies *c, unsigned call, int count, const int *indices,
                      const MPI_Request *requests)
{
    rec_call(call);
    for (int i = 0; i < count; i++)
        done(c, indices[i], requests, &c->statuses[i]);
}

/* ---- one ---- */

WRAP(Wait);
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, 1, request, s);
    int code = REAL(Wait)(request, s);
    if (c.ok && code == MPI_SUCCESS)
        all_done(&c, SV_CALL_WAIT, 1, request);
    release(&c, s);
    rec_leave();
    return code;
}

WRAP(Test);
int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, 1, request, s);
    int code = REAL(Test)(request, flag, s);
    if (c.ok && code == MPI_SUCCESS && *flag)
        all_done(&c, SV_CALL_TEST, 1, request);
    release(&c, s);
    rec_leave();
    return code;
}

/* ---- all ---- */

WRAP(Waitall);
int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, count, requests, statuses);
    int code = REAL(Waitall)(count, requests, c.statuses);
    if (c.ok && code == MPI_SUCCESS)
        all_done(&c, SV_CALL_WAITALL, count, requests);
    release(&c, statuses);
    rec_leave();
    return code;
}

WRAP(Testall);
int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, count, requests, statuses);
    int code = REAL(Testall)(count, requests, flag, c.statuses);
    if (c.ok && code == MPI_SUCCESS && *flag)
        all_done(&c, SV_CALL_TEST, count, requests);
    release(&c, statuses);
    rec_leave();
    return code;
}

/* ---- any ---- */

static void one_done(const copies *c, unsigned call, int index, const MPI_Request *requests,
                     MPI_Status *status)
{
    rec_call(call);
    if (index != MPI_UNDEFINED)
        done(c, index, requests, status);
}

WRAP(Waitany);
int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, count, requests, s);
    int code = REAL(Waitany)(count, requests, index, s);
    if (c.ok && code == MPI_SUCCESS)
        one_done(&c, SV_CALL_WAITANY, *index, requests, s);
    release(&c, s);
    rec_leave();
    return code;
}

WRAP(Testany);
int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, count, requests, s);
    int code = REAL(Testany)(count, requests, index, flag, s);
    if (c.ok && code == MPI_SUCCESS && *flag)
        one_done(&c, SV_CALL_TEST, *index, requests, s);
    release(&c, s);
    rec_leave();
    return code;
}

WRAP(Waitsome);
int PMPI_Waitsome(int count, MPI_Request requests[], int *num_done, int indices[],
                  MPI_Status statuses[])
{
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, count, requests, statuses);
    int code = REAL(Waitsome)(count, requests, num_done, indices, c.statuses);
    if (c.ok && code == MPI_SUCCESS && *num_done != MPI_UNDEFINED)
        some_done(&c, SV_CALL_WAITANY, *num_done, indices, requests);
    release(&c, statuses);
    rec_leave();
    return code;
}

WRAP(Testsome);
int PMPI_Testsome(int count, MPI_Request requests[], int *num_done, int indices[],
                  MPI_Status statuses[])
{
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, count, requests, statuses);
    int code = REAL(Testsome)(count, requests, num_done, indices, c.statuses);
    if (c.ok && code == MPI_SUCCESS && *num_done != MPI_UNDEFINED)
        some_done(&c, SV_CALL_TEST, *num_done, indices, requests);
    release(&c, statuses);
    rec_leave();
    return code;
}

WRAP(Request_free);
int PMPI_Request_free(MPI_Request *request)
{
    copies c;
    bool noted = rec_enter();
    copy(&c, noted, 1, request, c.few_statuses);
    int code = REAL(Request_free)(request);
    rec_request *r = NULL;
    if (c.ok && code == MPI_SUCCESS)
        r = rec_request_of(c.handles[0], request);
    if (r != NULL)
        rec_request_forget(r);
    rec_leave();
    return code;
}

/* ---- looking ---- */

WRAP(Probe);
int PMPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    rec_enter();
    int code = REAL(Probe)(from, tag, comm, status);
    rec_leave();
    return code;
}

WRAP(Iprobe);
int PMPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    rec_enter();
    int code = REAL(Iprobe)(from, tag, comm, flag, status);
    rec_leave();
    return code;
}

WRAP(Request_get_status);
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    rec_enter();
    int code = REAL(Request_get_status)(request, flag, status);
    rec_leave();
    return code;
}

/* ---- taking ---- */

typedef struct taken {
    struct taken *next;
    MPI_Message message;
    uint32_t number;
} taken;

static taken *all_taken;

static void take(MPI_Message message, MPI_Comm c, MPI_Status *status)
{
    const rec_comm *comm = rec_comm_of(c);
    MPI_Count bytes = 0;
    uint32_t peer;
    if (!rec_peer(comm, status->MPI_SOURCE, &peer))
        return;
    taken *t = rec_alloc(sizeof *t);
    if (t == NULL)
        return;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    sv_mpi_event event =
        rec_message(SV_MPI_IRECV, comm, peer, status->MPI_TAG, bytes > 0 ? (uint64_t)bytes : 0);
    event.request = rec_number();
    rec_event(&event);
    *t = (taken){.next = all_taken, .message = message, .number = event.request};
    all_taken = t;
}

static bool find_taken(MPI_Message message, uint32_t *number)
{
    for (taken **at = &all_taken; *at != NULL; at = &(*at)->next)
        if ((*at)->message == message) {
            taken *t = *at;
            *number = t->number;
            *at = t->next;
            free(t);
            return true;
        }
    return false;
}

WRAP(Mprobe);
int PMPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    bool noted = rec_enter();
    int code = REAL(Mprobe)(from, tag, comm, message, s);
    if (noted && code == MPI_SUCCESS)
        take(*message, comm, s);
    rec_leave();
    return code;
}

WRAP(Improbe);
int PMPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    MPI_Status own, *s = status != MPI_STATUS_IGNORE ? status : &own;
    bool noted = rec_enter();
    int code = REAL(Improbe)(from, tag, comm, flag, message, s);
    if (noted && code == MPI_SUCCESS && *flag)
        take(*message, comm, s);
    rec_leave();
    return code;
}

WRAP(Mrecv);
int PMPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    MPI_Message before = *message;
    uint32_t number;
    bool noted = rec_enter();
    int code = REAL(Mrecv)(buffer, count, type, message, status);
    if (noted && code == MPI_SUCCESS && find_taken(before, &number)) {
        rec_call(SV_CALL_RECV);
        rec_wait(number);
    }
    rec_leave();
    return code;
}

WRAP(Imrecv);
int PMPI_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message,
                MPI_Request *request)
{
    MPI_Message before = *message;
    uint32_t number;
    bool noted = rec_enter();
    int code = REAL(Imrecv)(buffer, count, type, message, request);
    if (noted && code == MPI_SUCCESS) {
        rec_request *r = rec_request_new(request);
        if (r != NULL && find_taken(before, &number)) {
            r->kind = REC_SEND; /* its event was there: it is only waited for */
            r->event.request = number;
        }
    }
    rec_leave();
    return code;
}
