/*
 * ticks.c: logical time, by running all ranks as far as messages let them.
 *
 * Idea: a stack of ranks that can go on. One is taken and goes through its events until it has to
 * wait: for a message that is not sent yet (whoever sends it puts the rank back), for the others of
 * a collective (the last one puts all back), or for a message from anybody. Messages of a channel
 * are taken in the order in which receives for it are posted. What a tick is does not depend on the
 * order of running, for it is the least solution of inequalities that go one way in time.
 *
 * Receives that name no sender or no tag wait until nobody else can go on; then the lowest rank
 * that waits so takes, of the messages for it that no receive has yet, the one with the lowest
 * tick, then sender, then tag. So they, too, have one answer.
 *
 * Invariants: a channel has at most one rank that waits, its receiver; a message's number in its
 * channel is its place in `ticks`; `posted` receives have been given numbers.
 * Source: Lamport 1978; the idea of a logical trace: Wong, Rexachs and Luque, PAS2P (2009).
 * Cost: O(1) an event expected (hashing), and O(ranks + channels of a rank) a receive from anybody.
 */
#include "traces/ticks.h"

#include "base/array.h"
#include "base/map.h"

#define NO_BLOCK UINT64_MAX

typedef struct channel {
    SV_ARRAY(uint32_t) ticks; /* of the messages sent */
    uint32_t from, to, tag, group;
    uint64_t posted;                  /* receives that have a number */
    uint64_t sent_block, taken_block; /* of sender and receiver, the last that used it */
    uint32_t next;                    /* of the same receiver, or SV_NONE */
} channel;

enum { GOES, AT_MESSAGE, AT_ANY, AT_GROUP, AT_BEGUN, DONE };

typedef struct runner {
    uint64_t at;    /* event */
    uint64_t block; /* number of its block */
    uint64_t wanted;
    uint32_t tick;     /* of its block */
    uint32_t channel;  /* AT_MESSAGE: waits for message `wanted` of it; AT_BEGUN: for `wanted` */
    uint32_t channels; /* the first of those to it */
    uint8_t state;
    bool used, sent, closed; /* its block: has something, has sent, takes no more */
} runner;

/* What a request stands for: a message of a channel, or (channel SV_NONE) one from anybody; or a
 * collective that was begun (number: which; channel: its group). */
typedef struct pending {
    uint64_t number;
    uint64_t event;
    uint32_t channel;
    bool receive, collective;
} pending;

typedef struct group_state {
    uint32_t arrived, tick;
} group_state;

/* A collective that some of its ranks have begun, or all. */
typedef struct begun {
    const sv_mpi_event *event; /* of the group's first rank */
    uint32_t arrived, tick;
} begun;

typedef struct engine {
    sv_ctx *ctx;
    const sv_mpi_trace *trace;
    const sv__tick_visitor *visitor;
    runner *runners;
    group_state *groups;
    uint32_t *ready, num_ready; /* a stack */
    sv_map pairs, labels, by_both, requests;
    sv_map turns; /* of rank and group: how many it has begun */
    sv_map nth;   /* of group and that number: which of begun */
    uint32_t num_pairs, num_labels;
    uint64_t done, total; /* events */
    SV_ARRAY(channel) channels;
    SV_ARRAY(pending) pendings;
    SV_ARRAY(begun) begun;
} engine;

/* ---- channels ---- */

static sv_status number_of(sv_map *map, uint64_t key, uint32_t *count, uint32_t *number)
{
    SV_TRY(sv_map_add(map, key, *count, number));
    *count += *number == *count;
    return SV_OK;
}

static sv_status find_channel(engine *e, uint32_t from, uint32_t to, uint32_t tag, uint32_t group,
                              uint32_t *found)
{
    uint32_t pair, label, count = (uint32_t)e->channels.length;
    SV_TRY(number_of(&e->pairs, (uint64_t)from << 32 | to, &e->num_pairs, &pair));
    SV_TRY(number_of(&e->labels, (uint64_t)tag << 32 | group, &e->num_labels, &label));
    SV_TRY(sv_map_add(&e->by_both, (uint64_t)pair << 32 | label, count, found));
    if (*found < count)
        return SV_OK;
    SV_TRY(sv_array_push(e->ctx, &e->channels,
                         (channel){.from = from,
                                   .to = to,
                                   .tag = tag,
                                   .group = group,
                                   .sent_block = NO_BLOCK,
                                   .taken_block = NO_BLOCK,
                                   .next = e->runners[to].channels}));
    e->runners[to].channels = count;
    return SV_OK;
}

/* ---- blocks ---- */

/* The next thing goes into the block, or into a new one. */
static void put_in_block(runner *r, bool new_one)
{
    if (r->used && (r->closed || new_one)) {
        r->block++;
        r->tick++;
        r->sent = r->closed = false;
    }
    r->used = true;
}

static void make_ready(engine *e, uint32_t rank)
{
    e->runners[rank].state = GOES;
    e->ready[e->num_ready++] = rank;
}

static sv_status send(engine *e, uint32_t rank, const sv_mpi_event *event)
{
    runner *r = &e->runners[rank];
    uint32_t number;
    SV_TRY(find_channel(e, rank, event->peer, event->tag, event->group, &number));
    channel *c = &e->channels.at[number];
    put_in_block(r, c->sent_block == r->block);
    r->sent = true;
    c->sent_block = r->block;
    SV_TRY(sv_array_push(e->ctx, &c->ticks, r->tick));
    runner *other = &e->runners[event->peer];
    if (other->state == AT_MESSAGE && other->channel == number && other->wanted < c->ticks.length)
        make_ready(e, event->peer);
    return e->visitor->message(e->visitor->user, rank, event, r->tick);
}

/* A message is there. */
static void take(engine *e, runner *r, uint32_t number, uint64_t message)
{
    channel *c = &e->channels.at[number];
    put_in_block(r, r->sent || c->taken_block == r->block);
    c->taken_block = r->block;
    if (r->tick <= c->ticks.at[message])
        r->tick = c->ticks.at[message] + 1;
}

/* Goes on with a message if it is there; else waits for it. */
static void take_or_wait(engine *e, runner *r, uint32_t number, uint64_t message)
{
    if (message < e->channels.at[number].ticks.length) {
        take(e, r, number, message);
        r->at++;
        return;
    }
    r->state = AT_MESSAGE;
    r->channel = number;
    r->wanted = message;
}

static bool names_all(const sv_mpi_event *event)
{
    return event->peer != SV_MPI_ANY && event->tag != SV_MPI_ANY;
}

/* A receive is posted: it gets the next number of its channel, unless it is from anybody. */
static sv_status post(engine *e, uint32_t rank, const sv_mpi_event *event, pending *posted)
{
    *posted = (pending){.channel = SV_NONE, .event = e->runners[rank].at, .receive = true};
    if (!names_all(event))
        return SV_OK;
    SV_TRY(find_channel(e, event->peer, rank, event->tag, event->group, &posted->channel));
    posted->number = e->channels.at[posted->channel].posted++;
    return SV_OK;
}

static sv_status receive(engine *e, runner *r, const pending *p)
{
    if (p->channel == SV_NONE)
        r->state = AT_ANY;
    else
        take_or_wait(e, r, p->channel, p->number);
    return SV_OK;
}

/* ---- requests ---- */

static sv_status keep(engine *e, uint32_t rank, uint32_t request, const pending *p)
{
    uint32_t slot, count = (uint32_t)e->pendings.length;
    SV_TRY(sv_map_add(&e->requests, (uint64_t)rank << 32 | request, count, &slot));
    if (slot == count)
        SV_TRY(sv_array_push(e->ctx, &e->pendings, *p));
    e->pendings.at[slot] = *p;
    return SV_OK;
}

static pending *kept(engine *e, uint32_t rank, uint32_t request)
{
    uint32_t slot = sv_map_get(&e->requests, (uint64_t)rank << 32 | request);
    return slot == SV_ABSENT ? NULL : &e->pendings.at[slot];
}

/* Goes on if all ranks have begun the collective that is wanted; else waits for them. */
static void end_or_wait(engine *e, uint32_t rank)
{
    runner *r = &e->runners[rank];
    const sv_mpi_event *event = &e->trace->ranks[rank].events[r->at];
    const begun *b = &e->begun.at[r->wanted];
    if (b->arrived < e->trace->groups[kept(e, rank, event->request)->channel].size) {
        r->state = AT_BEGUN;
        return;
    }
    put_in_block(r, r->sent);
    if (r->tick <= b->tick)
        r->tick = b->tick + 1;
    r->at++;
}

static sv_status wait_for(engine *e, uint32_t rank, const sv_mpi_event *event)
{
    runner *r = &e->runners[rank];
    pending *p = kept(e, rank, event->request);
    if (p != NULL && p->collective) {
        r->wanted = p->number;
        end_or_wait(e, rank);
        return SV_OK;
    }
    if (p != NULL && p->receive)
        return receive(e, r, p);
    r->at++;
    return SV_OK;
}

/* ---- collectives ---- */

static sv_status meet(engine *e, uint32_t rank, const sv_mpi_event *event)
{
    runner *r = &e->runners[rank];
    const sv_mpi_group *group = &e->trace->groups[event->group];
    group_state *g = &e->groups[event->group];
    put_in_block(r, true);
    r->closed = true;
    r->state = AT_GROUP;
    g->tick = g->arrived == 0 || r->tick > g->tick ? r->tick : g->tick;
    if (++g->arrived < group->size)
        return SV_OK;
    g->arrived = 0;
    for (uint32_t i = 0; i < group->size; i++) {
        runner *member = &e->runners[group->ranks[i]];
        member->tick = g->tick;
        member->at++;
        if (group->ranks[i] != rank)
            make_ready(e, group->ranks[i]);
    }
    r->state = GOES; /* it is running: not for the stack */
    const runner *first = &e->runners[group->ranks[0]];
    return e->visitor->collective(e->visitor->user,
                                  &e->trace->ranks[group->ranks[0]].events[first->at - 1], g->tick);
}

/* Which of begun is the one that a rank begins now. */
static sv_status find_begun(engine *e, uint32_t rank, uint32_t group, uint32_t *found)
{
    uint64_t key = (uint64_t)rank << 32 | group;
    uint32_t turn, count = (uint32_t)e->begun.length;
    SV_TRY(sv_map_add(&e->turns, key, 0, &turn));
    sv_map_set(&e->turns, key, turn + 1);
    SV_TRY(sv_map_add(&e->nth, (uint64_t)group << 32 | turn, count, found));
    return *found < count ? SV_OK : sv_array_push(e->ctx, &e->begun, (begun){0});
}

static sv_status begin(engine *e, uint32_t rank, const sv_mpi_event *event)
{
    runner *r = &e->runners[rank];
    const sv_mpi_group *group = &e->trace->groups[event->group];
    uint32_t number;
    SV_TRY(find_begun(e, rank, event->group, &number));
    begun *b = &e->begun.at[number];
    put_in_block(r, true);
    r->closed = true;
    b->tick = b->arrived == 0 || r->tick > b->tick ? r->tick : b->tick;
    b->event = group->ranks[0] == rank ? event : b->event;
    const pending p = {.number = number, .channel = event->group, .collective = true};
    SV_TRY(keep(e, rank, event->request, &p));
    if (++b->arrived < group->size)
        return SV_OK;
    for (uint32_t i = 0; i < group->size; i++) {
        const runner *member = &e->runners[group->ranks[i]];
        if (member->state == AT_BEGUN && member->wanted == number)
            make_ready(e, group->ranks[i]);
    }
    return e->visitor->collective(e->visitor->user, b->event, b->tick);
}

/* ---- running ---- */

static sv_status do_event(engine *e, uint32_t rank, const sv_mpi_event *event)
{
    runner *r = &e->runners[rank];
    pending p = {.channel = SV_NONE};
    switch (event->kind) {
    case SV_MPI_RECV:
        SV_TRY(post(e, rank, event, &p));
        return receive(e, r, &p);
    case SV_MPI_WAIT:
        return wait_for(e, rank, event);
    case SV_MPI_COLLECTIVE:
        return meet(e, rank, event);
    case SV_MPI_ICOLLECTIVE:
        SV_TRY(begin(e, rank, event));
        break;
    case SV_MPI_SEND:
        SV_TRY(send(e, rank, event));
        break;
    case SV_MPI_ISEND:
        SV_TRY(send(e, rank, event));
        SV_TRY(keep(e, rank, event->request, &p));
        break;
    case SV_MPI_IRECV:
        SV_TRY(post(e, rank, event, &p));
        SV_TRY(keep(e, rank, event->request, &p));
        break;
    default:
        break;
    }
    r->at++;
    return SV_OK;
}

static sv_status run_rank(engine *e, uint32_t rank)
{
    runner *r = &e->runners[rank];
    const sv_mpi_rank *of = &e->trace->ranks[rank];
    if (r->channel != SV_NONE) { /* what it waited for is there */
        take(e, r, r->channel, r->wanted);
        r->channel = SV_NONE;
        r->at++;
    }
    while (r->state == GOES && r->at < of->length) {
        if ((++e->done & 0xffff) == 0)
            SV_TRY(sv_progress(e->ctx, "logical time", e->done, e->total));
        SV_TRY(do_event(e, rank, &of->events[r->at]));
    }
    if (r->state == GOES)
        r->state = DONE;
    return SV_OK;
}

/* ---- from anybody ---- */

/* The receive that a rank waits at. */
static const sv_mpi_event *any_of(engine *e, uint32_t rank)
{
    const sv_mpi_event *events = e->trace->ranks[rank].events;
    const sv_mpi_event *event = &events[e->runners[rank].at];
    return event->kind == SV_MPI_WAIT ? &events[kept(e, rank, event->request)->event] : event;
}

static bool before(const channel *a, const channel *b)
{
    uint32_t x = a->ticks.at[a->posted], y = b->ticks.at[b->posted];
    if (x != y)
        return x < y;
    return a->from != b->from ? a->from < b->from : a->tag < b->tag;
}

static uint32_t best_for(engine *e, uint32_t rank)
{
    const sv_mpi_event *want = any_of(e, rank);
    uint32_t best = SV_NONE;
    for (uint32_t i = e->runners[rank].channels; i != SV_NONE; i = e->channels.at[i].next) {
        const channel *c = &e->channels.at[i];
        if (c->posted < c->ticks.length && c->group == want->group &&
            (want->peer == SV_MPI_ANY || want->peer == c->from) &&
            (want->tag == SV_MPI_ANY || want->tag == c->tag) &&
            (best == SV_NONE || before(c, &e->channels.at[best])))
            best = i;
    }
    return best;
}

/* Nobody can go on: one that waits for anybody gets a message. */
static sv_status settle(engine *e, bool *more)
{
    uint32_t stuck = SV_NONE;
    *more = false;
    for (uint32_t rank = 0; rank < e->trace->num_ranks && !*more; rank++) {
        runner *r = &e->runners[rank];
        if (r->state != DONE && stuck == SV_NONE)
            stuck = rank;
        uint32_t best = r->state == AT_ANY ? best_for(e, rank) : SV_NONE;
        if (best != SV_NONE) {
            r->channel = best;
            r->wanted = e->channels.at[best].posted++;
            make_ready(e, rank);
            *more = true;
        }
    }
    if (!*more && stuck != SV_NONE)
        return sv_fail(e->ctx, SV_BAD_INPUT, "trace '%s': rank %u waits for ever at its event %llu",
                       e->trace->name, stuck, (unsigned long long)e->runners[stuck].at);
    return SV_OK;
}

static sv_status run(engine *e)
{
    for (uint32_t rank = e->trace->num_ranks; rank-- > 0;) {
        e->total += e->trace->ranks[rank].length;
        e->runners[rank].channel = e->runners[rank].channels = SV_NONE;
        make_ready(e, rank);
    }
    for (bool more = true; more;) {
        while (e->num_ready > 0) {
            uint32_t rank = e->ready[--e->num_ready];
            SV_TRY(run_rank(e, rank));
        }
        SV_TRY(settle(e, &more));
    }
    return SV_OK;
}

sv_status sv__ticks(sv_ctx *ctx, const sv_mpi_trace *trace, const sv__tick_visitor *visitor)
{
    engine e = {.ctx = ctx, .trace = trace, .visitor = visitor};
    sv_map *maps[] = {&e.pairs, &e.labels, &e.by_both, &e.requests, &e.turns, &e.nth};
    for (int i = 0; i < 6; i++)
        sv_map_init(maps[i], ctx);
    e.runners = sv_alloc(ctx, trace->num_ranks, sizeof *e.runners);
    e.ready = sv_alloc(ctx, trace->num_ranks, sizeof *e.ready);
    e.groups = sv_alloc(ctx, trace->num_groups, sizeof *e.groups);
    sv_status status = SV_NO_MEMORY;
    if (e.runners != NULL && e.ready != NULL && e.groups != NULL)
        status = run(&e);
    for (size_t i = 0; i < e.channels.length; i++)
        sv_array_release(ctx, &e.channels.at[i].ticks);
    sv_array_release(ctx, &e.channels);
    sv_array_release(ctx, &e.pendings);
    sv_array_release(ctx, &e.begun);
    for (int i = 0; i < 6; i++)
        sv_map_release(maps[i]);
    sv_release(ctx, e.runners);
    sv_release(ctx, e.ready);
    sv_release(ctx, e.groups);
    return status;
}
