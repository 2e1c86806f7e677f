/*
 * otf2_events.c: from the events of an OTF2 archive to those of a trace.
 *
 * Idea: MPI regions tell which call an event is from; the time between leaving one and entering the
 * next, by the archive's clock, is computing. (What is before the first region and after the last
 * does not count.) A receive that was started tells from whom only when it is over: its IRECV
 * stands where it began, and is filled in then; one that is never over is taken out at the end. So
 * does a collective that was begun.
 * MPI_Sendrecv's message and receive become ISEND and IRECV, which its end waits for.
 *
 * Sizes of collectives are the sums that Score-P writes: all a rank sends to all. What a rank gives
 * is had by dividing; of a group's ranks the largest counts for all.
 *
 * Invariant: numbers of requests are the smallest that are free. Cost: O(1) an event.
 */
#include <string.h>

#include "traces/otf2.h"

unsigned sv__otf2_call(const char *region)
{
    static const struct {
        const char *name;
        uint8_t call;
    } names[] = {{"MPI_Send", SV_CALL_SEND},         {"MPI_Bsend", SV_CALL_SEND},
                 {"MPI_Rsend", SV_CALL_SEND},        {"MPI_Ssend", SV_CALL_SSEND},
                 {"MPI_Isend", SV_CALL_ISEND},       {"MPI_Ibsend", SV_CALL_ISEND},
                 {"MPI_Irsend", SV_CALL_ISEND},      {"MPI_Issend", SV_CALL_ISEND},
                 {"MPI_Start", SV_CALL_ISEND},       {"MPI_Startall", SV_CALL_ISEND},
                 {"MPI_Recv", SV_CALL_RECV},         {"MPI_Irecv", SV_CALL_IRECV},
                 {"MPI_Sendrecv", SV_CALL_SENDRECV}, {"MPI_Sendrecv_replace", SV_CALL_SENDRECV},
                 {"MPI_Wait", SV_CALL_WAIT},         {"MPI_Waitall", SV_CALL_WAITALL},
                 {"MPI_Waitany", SV_CALL_WAITANY},   {"MPI_Waitsome", SV_CALL_WAITANY},
                 {"MPI_Test", SV_CALL_TEST},         {"MPI_Testall", SV_CALL_TEST},
                 {"MPI_Testany", SV_CALL_TEST},      {"MPI_Testsome", SV_CALL_TEST}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, region) == 0)
            return names[i].call;
    return SV_CALL_NONE;
}

static sv_status bad(const sv__otf2 *o, const char *what)
{
    return sv_fail(o->ctx, SV_BAD_INPUT, "%s: rank %u, after %llu events: %s", o->path, o->now.rank,
                   (unsigned long long)o->handled, what);
}

/* Adds an event; the first of a call has it. */
static sv_status add(sv__otf2 *o, sv_mpi_event *e)
{
    if (e->kind != SV_MPI_COMPUTE && !sv__is_collective(e)) {
        e->call = o->now.call;
        o->now.call = SV_CALL_NONE;
    }
    return sv_mpi_add(o->trace, o->now.rank, e);
}

/* ---- time ---- */

static uint64_t to_ns(uint64_t ticks, uint64_t resolution)
{
    const uint64_t second = 1000000000;
    if (resolution == second)
        return ticks;
    return ticks / resolution * second +
           (uint64_t)((double)(ticks % resolution) / (double)resolution * (double)second + 0.5);
}

static sv_status compute(sv__otf2 *o, uint64_t ticks)
{
    sv_mpi_rank *of = &o->trace->ranks[o->now.rank];
    sv_mpi_event e = {.kind = SV_MPI_COMPUTE, .amount = to_ns(ticks, o->resolution)};
    if (e.amount == 0)
        return SV_OK;
    if (of->length > 0 && of->events[of->length - 1].kind == SV_MPI_COMPUTE) {
        of->events[of->length - 1].amount += e.amount;
        return SV_OK;
    }
    return add(o, &e);
}

sv_status sv__otf2_enter(sv__otf2 *o, uint64_t time, uint32_t region)
{
    uint32_t place = sv_map_get(&o->region_of, region);
    o->handled++;
    if (place == SV_ABSENT || !o->regions.at[place].mpi)
        return SV_OK;
    if (o->now.depth++ > 0)
        return SV_OK;
    o->now.call = o->regions.at[place].call;
    o->now.both = o->now.call == SV_CALL_SENDRECV;
    return o->now.left < time ? compute(o, time - o->now.left) : SV_OK;
}

/* ---- requests ---- */

static sv_status request_new(sv__otf2 *o, uint32_t *number)
{
    sv__otf2_rank *now = &o->now;
    uint32_t free = 0;
    while (free < now->began.length && now->began.at[free] != 0)
        free++;
    if (free == now->began.length)
        SV_TRY(sv_array_push(o->ctx, &now->began, 0));
    now->began.at[free] = o->trace->ranks[now->rank].length + 1;
    *number = free;
    return SV_OK;
}

static sv_status wait_for(sv__otf2 *o, uint32_t number)
{
    sv_mpi_event e = {.kind = SV_MPI_WAIT, .request = number};
    o->now.began.at[number] = 0;
    return add(o, &e);
}

/* The archive's number of a request that begins. */
static sv_status remember(sv__otf2 *o, uint64_t request, uint32_t number)
{
    uint32_t held;
    SV_TRY(sv_map_add(&o->now.requests, request, number + 1, &held));
    if (held != number + 1 && held != 0)
        return bad(o, "a request begins that has not ended");
    sv_map_set(&o->now.requests, request, number + 1);
    return SV_OK;
}

sv_status sv__otf2_leave(sv__otf2 *o, uint64_t time, uint32_t region)
{
    uint32_t place = sv_map_get(&o->region_of, region);
    sv__otf2_rank *now = &o->now;
    o->handled++;
    if (place == SV_ABSENT || !o->regions.at[place].mpi || now->depth == 0 || --now->depth > 0)
        return SV_OK;
    for (int i = 0; i < 2; i++)
        if (now->own[i] != SV_NONE) {
            uint32_t number = now->own[i];
            now->own[i] = SV_NONE;
            SV_TRY(wait_for(o, number));
        }
    now->call = SV_CALL_NONE;
    now->both = false;
    now->left = time;
    return SV_OK;
}

/* ---- messages ---- */

/* Peer and group of an event, from the archive's. */
static sv_status fill(sv__otf2 *o, const sv__otf2_message *m, sv_mpi_event *e)
{
    uint32_t place = sv_map_get(&o->comm_of, m->comm);
    if (place == SV_ABSENT)
        return bad(o, "a communicator that is not defined");
    const sv__otf2_comm *comm = &o->comms.at[place];
    e->tag = m->tag == SV_MPI_ANY ? 0 : m->tag;
    e->amount = m->bytes;
    e->group = comm->group;
    e->peer = o->now.rank;
    if (comm->self)
        return sv_mpi_add_group(o->trace, &o->now.rank, 1, 0, &e->group);
    const sv_mpi_group *g = &o->trace->groups[comm->group];
    if (!comm->known || m->peer >= g->size)
        return bad(o, "a peer that is not in the communicator");
    e->peer = g->ranks[m->peer];
    return SV_OK;
}

sv_status sv__otf2_send(sv__otf2 *o, const sv__otf2_message *m)
{
    sv_mpi_event e = {.kind = o->now.both ? SV_MPI_ISEND : SV_MPI_SEND};
    o->handled++;
    SV_TRY(fill(o, m, &e));
    if (o->now.both) {
        SV_TRY(request_new(o, &e.request));
        o->now.own[0] = e.request;
    }
    return add(o, &e);
}

sv_status sv__otf2_receive(sv__otf2 *o, const sv__otf2_message *m)
{
    sv_mpi_event e = {.kind = o->now.both ? SV_MPI_IRECV : SV_MPI_RECV};
    o->handled++;
    SV_TRY(fill(o, m, &e));
    if (o->now.both) {
        SV_TRY(request_new(o, &e.request));
        o->now.own[1] = e.request;
    }
    return add(o, &e);
}

sv_status sv__otf2_isend(sv__otf2 *o, const sv__otf2_message *m, uint64_t request)
{
    sv_mpi_event e = {.kind = SV_MPI_ISEND};
    o->handled++;
    SV_TRY(fill(o, m, &e));
    SV_TRY(request_new(o, &e.request));
    SV_TRY(remember(o, request, e.request));
    return add(o, &e);
}

sv_status sv__otf2_irecv(sv__otf2 *o, uint64_t request)
{
    sv_mpi_event e = {.kind = SV_MPI_IRECV, .peer = SV_MPI_ANY};
    o->handled++;
    SV_TRY(request_new(o, &e.request));
    SV_TRY(remember(o, request, e.request));
    return add(o, &e);
}

/* The event of a request that ends, of a kind, and its number. */
static sv_status find_begun(sv__otf2 *o, uint64_t request, sv_mpi_kind kind, uint32_t *number,
                            sv_mpi_event **began)
{
    uint32_t found = sv_map_get(&o->now.requests, request);
    o->handled++;
    if (found == SV_ABSENT || found == 0)
        return bad(o, "a request ends that has not begun");
    *number = found - 1;
    *began = &o->trace->ranks[o->now.rank].events[o->now.began.at[*number] - 1];
    return (*began)->kind == kind ? SV_OK : bad(o, "a request ends as what it is not");
}

sv_status sv__otf2_complete(sv__otf2 *o, uint64_t request, const sv__otf2_message *m)
{
    uint32_t number = 0;
    sv_mpi_event *began = NULL;
    SV_TRY(find_begun(o, request, m != NULL ? SV_MPI_IRECV : SV_MPI_ISEND, &number, &began));
    if (m != NULL)
        SV_TRY(fill(o, m, began));
    sv_map_set(&o->now.requests, request, 0);
    return wait_for(o, number);
}

/* ---- collectives ---- */

/* What a rank gives, of what it sent to all and received from all. */
static uint64_t share(unsigned call, uint64_t size, uint64_t me, uint64_t root, uint64_t sent,
                      uint64_t received)
{
    switch (call) {
    case SV_CALL_BCAST:
    case SV_CALL_SCATTER:
        return me == root ? sent / size : received;
    case SV_CALL_REDUCE:
    case SV_CALL_GATHER:
        return me == root ? received / size : sent;
    case SV_CALL_ALLREDUCE:
    case SV_CALL_ALLGATHER:
    case SV_CALL_ALLTOALL: /* in place the rank itself is not counted */
        return size > 1 && sent % size != 0 && sent % (size - 1) == 0 ? sent / (size - 1)
                                                                      : sent / size;
    case SV_CALL_REDUCE_SCATTER:
        return sent;
    case SV_CALL_SCAN:
        return sent / (size - me);
    default:
        return 0;
    }
}

/* Call, root, group and bytes of an event. */
static sv_status fill_collective(sv__otf2 *o, const sv__otf2_coll *c, sv_mpi_event *e)
{
    bool rooted = c->call == SV_CALL_BCAST || c->call == SV_CALL_SCATTER ||
                  c->call == SV_CALL_REDUCE || c->call == SV_CALL_GATHER;
    const sv__otf2_message m = {.peer = rooted ? c->root : 0, .comm = c->comm};
    SV_TRY(fill(o, &m, e));
    const sv_mpi_group *g = &o->trace->groups[e->group];
    uint32_t me = 0;
    while (me < g->size && g->ranks[me] != o->now.rank)
        me++;
    if (me == g->size)
        return bad(o, "the rank is not in the communicator");
    e->call = (uint8_t)c->call;
    e->amount = share(c->call, g->size, me, c->root, c->sent, c->received);
    return SV_OK;
}

sv_status sv__otf2_collective(sv__otf2 *o, const sv__otf2_coll *c)
{
    sv_mpi_event e = {.kind = SV_MPI_COLLECTIVE};
    o->handled++;
    if (c->call == SV_CALL_NONE) {
        o->lost++;
        return SV_OK;
    }
    SV_TRY(fill_collective(o, c, &e));
    return add(o, &e);
}

sv_status sv__otf2_collective_begin(sv__otf2 *o, uint64_t request)
{
    sv_mpi_event e = {.kind = SV_MPI_ICOLLECTIVE};
    o->handled++;
    SV_TRY(request_new(o, &e.request));
    SV_TRY(remember(o, request, e.request));
    return add(o, &e);
}

sv_status sv__otf2_collective_end(sv__otf2 *o, uint64_t request, const sv__otf2_coll *c)
{
    uint32_t number = 0;
    sv_mpi_event *began = NULL;
    SV_TRY(find_begun(o, request, SV_MPI_ICOLLECTIVE, &number, &began));
    sv_map_set(&o->now.requests, request, 0);
    if (c->call == SV_CALL_NONE) {
        began->kind = SV_MPI_KINDS; /* to be left out */
        o->now.began.at[number] = 0;
        o->lost++;
        return SV_OK;
    }
    SV_TRY(fill_collective(o, c, began));
    return wait_for(o, number);
}

/* The sizes of a group's k-th collective: the largest of its ranks' is that of all. */
static sv_status even_out_group(sv__otf2 *o, uint16_t group)
{
    SV_ARRAY(sv_mpi_event *) first = {0};
    const sv_mpi_group *g = &o->trace->groups[group];
    sv_status status = SV_OK;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < g->size && status == SV_OK; i++) {
            const sv_mpi_rank *of = &o->trace->ranks[g->ranks[i]];
            size_t k = 0;
            for (uint64_t n = 0; n < of->length && status == SV_OK; n++) {
                sv_mpi_event *e = &of->events[n];
                if (!sv__is_collective(e) || e->group != group)
                    continue;
                if (i == 0 && pass == 0)
                    status = sv_array_push(o->ctx, &first, e);
                if (k < first.length && pass == 0 && e->amount > first.at[k]->amount)
                    first.at[k]->amount = e->amount;
                if (k < first.length && pass == 1 && e->amount != first.at[k]->amount) {
                    e->amount = first.at[k]->amount;
                    o->uneven++;
                }
                k++;
            }
        }
    sv_array_release(o->ctx, &first);
    return status;
}

sv_status sv__otf2_even_out(sv__otf2 *o)
{
    for (uint32_t group = 0; group < o->trace->num_groups; group++)
        SV_TRY(even_out_group(o, (uint16_t)group));
    return SV_OK;
}

/* ---- ranks ---- */

sv_status sv__otf2_begin(sv__otf2 *o, uint32_t rank)
{
    sv__otf2_release(o);
    o->now.rank = rank;
    o->now.left = UINT64_MAX;
    o->now.own[0] = o->now.own[1] = SV_NONE;
    sv_map_init(&o->now.requests, o->ctx);
    o->handled = 0;
    return SV_OK;
}

void sv__otf2_release(sv__otf2 *o)
{
    if (o->now.requests.ctx != NULL)
        sv_map_release(&o->now.requests);
    sv_array_release(o->ctx, &o->now.began);
    o->now = (sv__otf2_rank){0};
}

sv_status sv__otf2_end(sv__otf2 *o)
{
    sv_mpi_rank *of = &o->trace->ranks[o->now.rank];
    uint64_t kept = 0;
    for (uint32_t i = 0; i < o->now.began.length; i++) {
        if (o->now.began.at[i] == 0)
            continue;
        sv_mpi_event *e = &of->events[o->now.began.at[i] - 1];
        if (e->kind == SV_MPI_IRECV || e->kind == SV_MPI_ICOLLECTIVE) {
            e->kind = SV_MPI_KINDS; /* to be left out */
            o->lost++;
        } else {
            SV_TRY(wait_for(o, i));
        }
    }
    for (uint64_t i = 0; i < of->length; i++)
        if (of->events[i].kind != SV_MPI_KINDS)
            of->events[kept++] = of->events[i];
    of->length = kept;
    return SV_OK;
}
