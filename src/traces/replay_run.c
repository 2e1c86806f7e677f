/*
 * replay_run.c: ranks run through their events, each by its own clock.
 *
 * Idea: a rank goes on until it has to wait, or until it has something for the wire; then it pauses
 * until the simulator has asked for that, so that a rank which only sends does not fill the memory.
 * Waiting is for slots: one a request, one for a SEND and one for a RECV of its own (a step of a
 * collective waits for both). A slot knows when it was done, which may be before or after the
 * rank's clock: it goes on at the later of both.
 *
 * A collective that was begun is a strand: it goes through its steps by itself, with a clock that
 * begins at its rank's and two slots of its own, whatever the rank does; after its last step the
 * request is done. Several of a group may be under way, so messages of collectives are tagged with
 * which of the group's they belong to (all ranks begin them in one order).
 *
 * Invariants: a rank that is neither done nor blocked nor paused is in the list of those that run,
 * or is running; so is a strand whose slots are done. What a rank pauses for is ready by its own
 * clock, never by a strand's, which may be ahead: else what the rank sends next would be told late.
 * Cost: O(1) an event or a step of a collective (O(log size)).
 */
#include "traces/replay.h"

static uint64_t plus(uint64_t time, uint64_t ticks)
{
    const uint64_t max = SV_NEVER / 4;
    return ticks < max - time ? time + ticks : max;
}

static uint64_t ticks_of(const sv_mpi_replay *p, uint64_t ns)
{
    if (p->compute == 1)
        return ns < SV_NEVER / SV_TICKS_PER_NS / 4 ? ns * SV_TICKS_PER_NS : SV_NEVER / 4;
    double ticks = (double)ns * SV_TICKS_PER_NS * p->compute + 0.5;
    return ticks < (double)(SV_NEVER / 4) ? (uint64_t)ticks : SV_NEVER / 4;
}

void sv__replay_go_on(sv_mpi_replay *p, uint32_t rank)
{
    sv__actor *actor = &p->actors[rank];
    if (actor->runnable || actor->done)
        return;
    actor->runnable = true;
    actor->blocked = false;
    p->runnable.at[p->runnable.length++] = rank; /* there is room for all */
}

void sv__replay_done(sv_mpi_replay *p, uint32_t rank, uint32_t slot, uint64_t time)
{
    sv__actor *actor = &p->actors[rank];
    actor->slots[slot].done = time;
    if (slot > actor->requests + 1) {
        uint64_t request = (slot - actor->requests - 2) / 2;
        sv__strand *strand = &actor->strands[request];
        if (!strand->runnable &&
            sv_array_push(p->ctx, &p->ready, (uint64_t)rank << 32 | request) != SV_OK)
            p->status = SV_NO_MEMORY;
        strand->runnable = true;
    } else if (actor->blocked) {
        sv__replay_go_on(p, rank);
    }
}

/* Whether a slot is done; then the rank's clock is not before it. */
static bool passed(sv_mpi_replay *p, sv__actor *actor, uint64_t slot)
{
    uint64_t done = actor->slots[slot].done;
    if (done == SV_NEVER)
        return false;
    if (done > actor->time) {
        p->waiting += done - actor->time;
        actor->time = done;
    }
    return true;
}

/* ---- collectives ---- */

static sv__coll coll_of(const sv_mpi_replay *p, uint32_t rank, const sv_mpi_event *e)
{
    return (sv__coll){.call = e->call,
                      .size = p->trace->groups[e->group].size,
                      .me = sv__place_in(p, e->group, rank),
                      .root = sv__place_in(p, e->group, e->peer),
                      .bytes = e->amount};
}

/* Which of its group's collectives the rank begins now. */
static uint32_t take_turn(sv_mpi_replay *p, uint32_t rank, const sv_mpi_event *e)
{
    return p->turns[e->group][sv__place_in(p, e->group, rank)]++;
}

/* Of a step of a collective: the receive is there before the message goes, as in MPI_Sendrecv. what
 * has when, which of the group's it is, and the first of its two slots. */
static void begin_step(sv_mpi_replay *p, uint32_t rank, const sv_mpi_event *e,
                       const sv__coll_step *step, sv__replay_want what, bool *told)
{
    sv__slot *slots = p->actors[rank].slots + what.slot;
    const uint32_t *ranks = p->trace->groups[e->group].ranks;
    what.group = 2 * (uint32_t)e->group + 1;
    slots[0].done = slots[1].done = 0;
    if (step->from != SV_NONE) {
        sv__replay_want receive = what;
        receive.peer = ranks[step->from];
        receive.slot++;
        sv__replay_receive(p, rank, &receive);
    }
    if (step->to != SV_NONE) {
        what.peer = ranks[step->to];
        what.bytes = step->to_bytes;
        sv__replay_send(p, rank, &what, told);
    }
}

/* A collective goes on: false: it waits. */
static bool collective(sv_mpi_replay *p, uint32_t rank, const sv_mpi_event *e, bool *told)
{
    sv__actor *actor = &p->actors[rank];
    const sv__coll coll = coll_of(p, rank, e);
    if (!actor->begun && actor->step == 0)
        actor->turn = take_turn(p, rank, e);
    for (;;) {
        sv__coll_step step;
        if (actor->begun) {
            if (!passed(p, actor, actor->requests) || !passed(p, actor, actor->requests + 1))
                return false;
            actor->step++;
            actor->begun = false;
        }
        if (!sv__coll_step_at(&coll, actor->step, &step)) {
            actor->step = 0;
            return true;
        }
        actor->begun = true;
        const sv__replay_want what = {
            .now = actor->time, .tag = actor->turn, .slot = (uint32_t)actor->requests};
        begin_step(p, rank, e, &step, what, told);
        if (*told)
            return false;
    }
}

/* A collective that was begun goes on as far as it can. told: as of sv__replay_send, of its
 * rank, which begins it now, or NULL. */
static void run_strand(sv_mpi_replay *p, uint32_t rank, uint32_t request, bool *told)
{
    sv__actor *actor = &p->actors[rank];
    sv__strand *strand = &actor->strands[request];
    const sv__coll coll = coll_of(p, rank, strand->event);
    const uint32_t slot = (uint32_t)actor->requests + 2 + 2 * request;
    const sv__slot *slots = actor->slots + slot;
    sv__coll_step step;
    while (p->status == SV_OK) {
        if (strand->begun) {
            uint64_t done = slots[0].done > slots[1].done ? slots[0].done : slots[1].done;
            if (done == SV_NEVER)
                break;
            strand->time = done > strand->time ? done : strand->time;
            strand->step++;
        }
        strand->begun = sv__coll_step_at(&coll, strand->step, &step);
        if (!strand->begun) {
            sv__replay_done(p, rank, request, strand->time);
            break;
        }
        bool pauses = told != NULL && !*told && strand->time == actor->time;
        const sv__replay_want what = {.now = strand->time, .tag = strand->turn, .slot = slot};
        begin_step(p, rank, strand->event, &step, what, pauses ? told : NULL);
    }
    strand->runnable = false;
}

static void begin_strand(sv_mpi_replay *p, uint32_t rank, const sv_mpi_event *e, bool *told)
{
    sv__actor *actor = &p->actors[rank];
    actor->slots[e->request].done = SV_NEVER;
    actor->strands[e->request] = (sv__strand){
        .event = e, .time = actor->time, .turn = take_turn(p, rank, e), .runnable = true};
    run_strand(p, rank, e->request, told);
}

/* ---- events ---- */

static void begin(sv_mpi_replay *p, uint32_t rank, const sv_mpi_event *e, bool *told)
{
    sv__actor *actor = &p->actors[rank];
    bool own = e->kind == SV_MPI_SEND || e->kind == SV_MPI_RECV;
    const sv__replay_want what = {
        .now = actor->time,
        .bytes = e->amount,
        .peer = e->peer,
        .tag = e->tag,
        .group = 2 * (uint32_t)e->group,
        .slot = !own ? e->request : (uint32_t)actor->requests + (e->kind == SV_MPI_RECV)};
    switch ((sv_mpi_kind)e->kind) {
    case SV_MPI_COMPUTE:
        actor->time = plus(actor->time, ticks_of(p, e->amount));
        break;
    case SV_MPI_SEND:
    case SV_MPI_ISEND:
        sv__replay_send(p, rank, &what, told);
        break;
    case SV_MPI_RECV:
    case SV_MPI_IRECV:
        sv__replay_receive(p, rank, &what);
        break;
    case SV_MPI_ICOLLECTIVE:
        begin_strand(p, rank, e, told);
        break;
    case SV_MPI_WAIT:
    case SV_MPI_COLLECTIVE:
    case SV_MPI_KINDS:
        break;
    }
}

/* The slot that an event waits for; SV_NEVER: none. */
static uint64_t waits_for(const sv__actor *actor, const sv_mpi_event *e)
{
    return e->kind == SV_MPI_SEND   ? actor->requests
           : e->kind == SV_MPI_RECV ? actor->requests + 1
           : e->kind == SV_MPI_WAIT ? e->request
                                    : SV_NEVER;
}

/* One event, or the rest of one. False: it is not over yet. */
static bool advance(sv_mpi_replay *p, uint32_t rank, const sv_mpi_event *e, bool *told)
{
    sv__actor *actor = &p->actors[rank];
    if (e->kind == SV_MPI_COLLECTIVE)
        return collective(p, rank, e, told);
    if (!actor->begun) {
        begin(p, rank, e, told);
        actor->begun = true;
        if (*told)
            return false;
    }
    uint64_t slot = waits_for(actor, e);
    if (slot != SV_NEVER && !passed(p, actor, slot))
        return false;
    actor->begun = false;
    return true;
}

static void run(sv_mpi_replay *p, uint32_t rank)
{
    sv__actor *actor = &p->actors[rank];
    const sv_mpi_rank *of = &p->trace->ranks[rank];
    while (p->status == SV_OK) {
        bool told = false;
        if (actor->at == of->length) {
            actor->at = 0;
            if (++actor->round >= p->rounds || of->length == 0) {
                actor->done = true;
                p->left--;
                p->last = actor->time > p->last ? actor->time : p->last;
                return;
            }
        }
        if (advance(p, rank, &of->events[actor->at], &told)) {
            actor->at++;
        } else {
            actor->paused = told;
            actor->blocked = !told;
            return;
        }
    }
}

void sv__replay_run(sv_mpi_replay *p)
{
    while (p->runnable.length > 0 || p->ready.length > 0) {
        if (p->ready.length > 0) {
            uint64_t strand = p->ready.at[--p->ready.length];
            run_strand(p, (uint32_t)(strand >> 32), (uint32_t)strand, NULL);
            continue;
        }
        uint32_t rank = p->runnable.at[--p->runnable.length];
        p->actors[rank].runnable = false;
        run(p, rank);
    }
}
