/*
 * messages.c: events of messages and collectives.
 *
 * Idea: a collective with one size for all is one event. Where ranks have different sizes, which no
 * rank knows of all others, each writes down the messages it takes part in, as MPI libraries send
 * them: by pairs, or around a ring. They have a tag of their own, which no program can use.
 *
 * Invariant: what one rank writes as sent the other writes as received: both know the bytes of a
 * pair, so both leave out messages of none. Blocking ones wait pair by pair; those that were begun
 * are all under way at once.
 *
 * Cost: O(size of the communicator).
 */
#include <stdlib.h>

#include "record.h"

sv_mpi_event rec_message(unsigned kind, const rec_comm *comm, uint32_t peer, int tag,
                         uint64_t bytes)
{
    return (sv_mpi_event){.kind = (uint8_t)kind,
                          .call = (uint8_t)rec_take_call(),
                          .peer = peer,
                          .tag = tag == MPI_ANY_TAG ? SV_MPI_ANY : (uint32_t)tag,
                          .group = rec_group_number(comm->group),
                          .amount = bytes};
}

void rec_wait(uint32_t number)
{
    sv_mpi_event event = {.kind = SV_MPI_WAIT, .call = (uint8_t)rec_take_call(), .request = number};
    rec_event(&event);
    rec_number_free(number);
}

/* ---- collectives of one size ---- */

static sv_mpi_event whole(unsigned call, const rec_comm *comm, int root, uint64_t bytes)
{
    uint32_t peer = 0;
    if (root >= 0)
        rec_peer(comm, root, &peer);
    return (sv_mpi_event){.kind = SV_MPI_COLLECTIVE,
                          .call = (uint8_t)call,
                          .peer = peer,
                          .group = rec_group_number(comm->group),
                          .amount = bytes};
}

/* Whether a call can be a collective of its communicator; says so if not. */
static bool can_be_whole(unsigned call, const rec_comm *comm)
{
    if (comm == NULL)
        return false;
    if (comm->inter && call != SV_CALL_BARRIER)
        rec_cannot("collectives of intercommunicators other than MPI_Barrier");
    return !comm->inter || call == SV_CALL_BARRIER;
}

void rec_collective(unsigned call, const rec_comm *comm, int root, uint64_t bytes)
{
    if (!can_be_whole(call, comm))
        return;
    sv_mpi_event event = whole(call, comm, root, bytes);
    rec_event(&event);
}

void rec_begin_collective(unsigned call, const rec_comm *comm, int root, uint64_t bytes,
                          const MPI_Request *address)
{
    rec_request *request = rec_request_new(address);
    if (request == NULL || !can_be_whole(call, comm))
        return; /* nothing */
    sv_mpi_event event = whole(call, comm, root, bytes);
    event.kind = SV_MPI_ICOLLECTIVE;
    event.request = rec_number();
    rec_event(&event);
    request->kind = REC_SEND;
    request->event = event;
}

/* ---- collectives as messages ---- */

/* One that is waited for later; its number. */
static uint32_t begin(unsigned kind, const rec_comm *comm, uint32_t peer, uint64_t bytes)
{
    sv_mpi_event event = rec_message(kind, comm, peer, 0, bytes);
    event.tag = SV_MPI_COLLECTIVE_TAG;
    event.request = rec_number();
    rec_event(&event);
    return event.request;
}

/* Both directions of a step, as far as there is something to send. Returns how many. */
static uint32_t step(const rec_comm *comm, uint32_t to, uint64_t out, uint32_t from, uint64_t in,
                     uint32_t *numbers)
{
    const uint32_t *ranks = comm->peers->ranks;
    uint32_t count = 0;
    if (out > 0)
        numbers[count++] = begin(SV_MPI_ISEND, comm, ranks[to], out);
    if (in > 0)
        numbers[count++] = begin(SV_MPI_IRECV, comm, ranks[from], in);
    return count;
}

/* Whether messages can be written; a request that was begun is then known, as nothing. */
static bool can_be_messages(const rec_comm *comm, const MPI_Request *begun, rec_request **request)
{
    *request = begun != NULL ? rec_request_new(begun) : NULL;
    if (comm != NULL && comm->inter)
        rec_cannot("collectives of intercommunicators other than MPI_Barrier");
    return comm != NULL && !comm->inter && (begun == NULL || *request != NULL);
}

void rec_exchange_all(const rec_comm *comm, const rec_exchange *x)
{
    rec_request *request;
    uint32_t count = 0, pair[2];
    if (!can_be_messages(comm, x->begun, &request))
        return;
    uint32_t size = comm->peers->size, me = (uint32_t)comm->me;
    uint32_t *all = request != NULL ? rec_alloc(2 * (size_t)size * sizeof *all) : NULL;
    if (request != NULL && all == NULL)
        return;
    rec_call(x->call);
    for (uint32_t i = 1; i < size; i++) {
        uint32_t to = (me + i) % size, from = (me + size - i) % size;
        uint32_t n = step(comm, to, x->out != NULL ? x->out[to] : 0, from,
                          x->in != NULL ? x->in[from] : 0, all != NULL ? all + count : pair);
        for (uint32_t k = 0; k < n && all == NULL; k++)
            rec_wait(pair[k]);
        count += n;
    }
    if (request != NULL) {
        request->kind = REC_MESSAGES;
        request->numbers = all;
        request->num_numbers = count;
    }
}

/* Those of one direction; returns how many. */
static uint32_t begin_some(unsigned kind, const rec_comm *comm, const rec_some *some,
                           uint32_t *numbers)
{
    uint32_t count = 0, peer;
    for (uint32_t i = 0; i < some->count; i++)
        if (some->sizes[i] > 0 && rec_peer(comm, some->ranks[i], &peer))
            numbers[count++] = begin(kind, comm, peer, some->sizes[i]);
    return count;
}

void rec_exchange_some(const rec_comm *comm, const rec_some *out, const rec_some *in, unsigned call,
                       const MPI_Request *begun)
{
    rec_request *request;
    if (!can_be_messages(comm, begun, &request))
        return;
    uint32_t *numbers = rec_alloc((out->count + in->count) * sizeof *numbers);
    if (numbers == NULL)
        return;
    rec_call(call);
    uint32_t count = begin_some(SV_MPI_ISEND, comm, out, numbers);
    count += begin_some(SV_MPI_IRECV, comm, in, numbers + count);
    if (request != NULL) {
        request->kind = REC_MESSAGES;
        request->numbers = numbers;
        request->num_numbers = count;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        rec_wait(numbers[i]);
    free(numbers);
}

void rec_ring(const rec_comm *comm, const uint64_t *sizes, unsigned call)
{
    rec_request *request;
    uint32_t pair[2];
    if (!can_be_messages(comm, NULL, &request))
        return;
    uint32_t size = comm->peers->size, me = (uint32_t)comm->me;
    rec_call(call);
    for (uint32_t i = 0; i + 1 < size; i++) {
        uint32_t mine = (me + size - i) % size, next = (me + 2 * size - i - 1) % size;
        uint32_t n =
            step(comm, (me + 1) % size, sizes[mine], (me + size - 1) % size, sizes[next], pair);
        for (uint32_t k = 0; k < n; k++)
            rec_wait(pair[k]);
    }
}
