/*
 * requests.c: which MPI_Request is which event, and what happens when it is done.
 *
 * Idea: a table by handle. Open MPI gives sends that are done at once one and the same handle, so
 * there may be several under one; then that counts which was put at the address where it is waited
 * for, else the oldest.
 *
 * A receive is settled when it is done. One that was cancelled, or never got anything, did not
 * happen. A collective that was begun happens where it is waited for, but never before one of the
 * same group that was begun earlier. What is never waited for is at the end.
 *
 * Cost: O(1) expected.
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { PLACES = 1 << 12 };

static struct {
    rec_request *at[PLACES];
    uint32_t *orphans; /* numbers of events that nobody waits for */
    size_t num_orphans, room;
} table;

/* ---- the table ---- */

static rec_request **place_of(MPI_Request handle)
{
    uint64_t key = 0;
    memcpy(&key, &handle, sizeof handle < sizeof key ? sizeof handle : sizeof key);
    return &table.at[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

rec_request *rec_request_new(const MPI_Request *address)
{
    rec_request *request = rec_alloc(sizeof *request);
    if (request == NULL)
        return NULL;
    request->handle = *address;
    request->address = address;
    rec_request **at = place_of(*address);
    while (*at != NULL) /* the oldest is the first */
        at = &(*at)->next;
    *at = request;
    return request;
}

rec_request *rec_request_of(MPI_Request handle, const void *address)
{
    rec_request *oldest = NULL;
    for (rec_request *r = *place_of(handle); r != NULL; r = r->next) {
        if (r->handle != handle)
            continue;
        if (r->address == address)
            return r;
        if (oldest == NULL)
            oldest = r;
    }
    return oldest;
}

static void remove_request(rec_request *request)
{
    rec_request **at = place_of(request->handle);
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
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
    case REC_COLLECTIVE:
        if (!r->pending->done)
            rec_happen(r->pending->group, r->pending);
        free(r->pending);
        break;
    case REC_MESSAGES:
        for (uint32_t i = 0; i < r->num_numbers; i++)
            rec_wait(r->numbers[i]);
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
    if (running && (r->kind == REC_RECV || r->kind == REC_COLLECTIVE)) {
        rec_cannot("receives and collectives that are forgotten before they are done");
        if (r->kind == REC_RECV)
            rec_drop(r->place);
        else if (!r->pending->done)
            rec_happen(r->pending->group, r->pending);
    }
    if (running && r->kind == REC_COLLECTIVE)
        free(r->pending);
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
        while (table.at[i] != NULL) {
            rec_request *r = table.at[i];
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
