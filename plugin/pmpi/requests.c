/*
 * requests.c: which MPI_Request is which event, and what happens when it is done.
 *
 * Idea: queues by handle, and by handle and address. Open MPI gives sends that are done at once one
 * and the same handle, so there may be very many under one; then that counts which was put at the
 * address where it is waited for, else the oldest.
 *
 * A receive is settled when it is done. One that was cancelled, or never got anything, did not
 * happen. Sends and collectives stand where they were begun. What is never waited for is at the
 * end.
 *
 * Cost: O(1) expected.
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { PLACES = 1 << 14 };

/* Requests with one handle, or one handle and address, the oldest first. Never empty. */
typedef struct rec_queue {
    struct rec_queue *next; /* of the same place in the table */
    MPI_Request handle;
    const void *address; /* NULL: by handle alone */
    rec_request *first, *last;
} rec_queue;

static struct {
    rec_queue *at[2][PLACES]; /* by REC_BY_HANDLE, REC_BY_BOTH */
    uint32_t *orphans;        /* numbers of events that nobody waits for */
    size_t num_orphans, room;
} table;

/* ---- the table ---- */

/* Where the queue is, or would be put. */
static rec_queue **find_queue(int by, MPI_Request handle, const void *address)
{
    uint64_t key = 0;
    memcpy(&key, &handle, sizeof handle < sizeof key ? sizeof handle : sizeof key);
    key = (key ^ (uint64_t)(uintptr_t)address * 31) * UINT64_C(0x9e3779b97f4a7c15);
    rec_queue **at = &table.at[by][key >> 50];
    while (*at != NULL && ((*at)->handle != handle || (*at)->address != address))
        at = &(*at)->next;
    return at;
}

static const void *key_address(int by, const void *address)
{
    return by == REC_BY_BOTH ? address : NULL;
}

static bool link_request(int by, rec_request *r)
{
    rec_queue **at = find_queue(by, r->handle, key_address(by, r->address)), *q = *at;
    if (q == NULL) {
        q = rec_alloc(sizeof *q);
        if (q == NULL)
            return false;
        *q = (rec_queue){.handle = r->handle, .address = key_address(by, r->address)};
        *at = q;
    }
    r->link[by].before = q->last;
    if (q->last != NULL)
        q->last->link[by].after = r;
    else
        q->first = r;
    q->last = r;
    return true;
}

static void unlink_request(int by, rec_request *r)
{
    rec_queue **at = find_queue(by, r->handle, key_address(by, r->address)), *q = *at;
    rec_request *before = r->link[by].before, *after = r->link[by].after;
    *(before != NULL ? &before->link[by].after : &q->first) = after;
    *(after != NULL ? &after->link[by].before : &q->last) = before;
    if (q->first == NULL) {
        *at = q->next;
        free(q);
    }
}

rec_request *rec_request_new(const MPI_Request *address)
{
    rec_request *request = rec_alloc(sizeof *request);
    if (request == NULL)
        return NULL;
    request->handle = *address;
    request->address = address;
    if (!link_request(REC_BY_HANDLE, request)) {
        free(request);
        return NULL;
    }
    if (!link_request(REC_BY_BOTH, request)) {
        unlink_request(REC_BY_HANDLE, request);
        free(request);
        return NULL;
    }
    return request;
}

rec_request *rec_request_of(MPI_Request handle, const void *address)
{
    rec_queue *q = *find_queue(REC_BY_BOTH, handle, address);
    if (q == NULL)
        q = *find_queue(REC_BY_HANDLE, handle, NULL);
    return q != NULL ? q->first : NULL;
}

static void remove_request(rec_request *request)
{
    unlink_request(REC_BY_HANDLE, request);
    unlink_request(REC_BY_BOTH, request);
    free(request->numbers);
    free(request);
}

void rec_request_orphan(uint32_t number)
{
    if (table.num_orphans == table.room) {
        size_t room = 2 * table.room + 16;
        uint32_t *more = realloc(table.orphans, room * sizeof *more);
        if (more == NULL) {
            rec_give_up("out of memory");
            return;
        }
        table.orphans = more;
        table.room = room;
    }
    table.orphans[table.num_orphans++] = number;
}

/* ---- done ---- */

static void receive_done(rec_request *r, MPI_Status *status)
{
    sv_mpi_event event = r->event;
    MPI_Count bytes = 0;
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    if (cancelled) {
        rec_drop(r->place);
        rec_number_free(event.request);
        return;
    }
    if (event.peer == SV_MPI_ANY && status->MPI_SOURCE >= 0 &&
        (uint32_t)status->MPI_SOURCE < r->peers->size)
        event.peer = r->peers->ranks[status->MPI_SOURCE];
    if (event.tag == SV_MPI_ANY && status->MPI_TAG >= 0)
        event.tag = (uint32_t)status->MPI_TAG;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    if (bytes >= 0)
        event.amount = (uint64_t)bytes;
    rec_settle(r->place, &event);
    rec_wait(event.request);
}

void rec_request_done(rec_request *r, MPI_Status *status)
{
    if (r->persistent && !r->active)
        return;
    switch (r->kind) {
    case REC_NOTHING:
        break;
    case REC_SEND:
        rec_wait(r->event.request);
        break;
    case REC_RECV:
        receive_done(r, status);
        break;
    case REC_MESSAGES:
        for (uint32_t i = 0; i < r->num_numbers; i++)
            rec_wait(r->numbers[i]);
        break;
    case REC_COMM:
        rec_comm_made(r->comm, *r->made);
        break;
    }
    r->active = false;
    if (!r->persistent)
        remove_request(r);
}

void rec_request_forget(rec_request *r)
{
    bool running = !r->persistent || r->active;
    if (running && r->kind == REC_SEND)
        rec_request_orphan(r->event.request);
    if (running && r->kind == REC_MESSAGES)
        for (uint32_t i = 0; i < r->num_numbers; i++)
            rec_request_orphan(r->numbers[i]);
    if (running && r->kind == REC_RECV) {
        rec_cannot("receives that are forgotten before they are done");
        rec_drop(r->place);
    }
    remove_request(r);
}

/* ---- the end ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

void rec_requests_end(void)
{
    for (size_t i = 0; i < PLACES; i++)
        while (table.at[REC_BY_HANDLE][i] != NULL) {
            rec_request *r = table.at[REC_BY_HANDLE][i]->first;
            if ((!r->persistent || r->active) && r->kind == REC_RECV) {
                rec_drop(r->place);
                remove_request(r);
            } else {
                rec_request_forget(r);
            }
        }
    if (table.num_orphans > 1)
        qsort(table.orphans, table.num_orphans, sizeof *table.orphans, by_number);
    for (size_t i = 0; i < table.num_orphans; i++)
        rec_wait(table.orphans[i]);
    free(table.orphans);
    table.orphans = NULL;
    table.num_orphans = table.room = 0;
}
