/*
 * goal_order.c: the operations of one rank of a GOAL schedule as one sequence (goal.c has the
 * rule).
 *
 * Idea: an operation counts those it needs that have not begun, and those whose end it needs that
 * are not done. Without either it is ready, and goes into one of three queues (receives, messages,
 * computing). If all have begun, but not all are done, it could begin after some waiting: it goes
 * into a fourth. When nothing is ready the sequence waits for what the first of those needs.
 *
 * Invariant: each operation goes through each queue at most once. Cost: linear in operations and
 * dependencies.
 */
#include "base/arena.h"
#include "traces/goal.h"

/* Numbers of operations, first in, first out. */
struct queue {
    uint32_t *at, first, end;
};

/* Edges by operation: those of i are at[first[i]] … before first[i + 1]. Each is 2 × the other
 * operation, + 1: it need only have begun. */
struct edges {
    uint32_t *first, *at;
};

enum { READY_RECV, READY_SEND, READY_CALC, AFTER_WAITING, BEGUN, QUEUES };

struct order {
    sv__goal *g;
    sv_arena arena;
    uint32_t count;
    struct edges needs, lets;
    uint32_t *unbegun, *undone; /* [ops]: how many of those it needs */
    uint32_t *request;          /* [ops] */
    uint8_t *begun, *done;      /* [ops] */
    struct queue queue[QUEUES];
    uint32_t *free; /* numbers of requests that were used, a stack */
    uint32_t num_free, requests;
    uint32_t last; /* the operation that the last event began; SV_NONE: none */
    bool several;
};

static void push(struct queue *q, uint32_t op)
{
    q->at[q->end++] = op;
}

static sv_status queue_init(struct order *o, struct queue *q)
{
    q->at = SV_ARENA_NEW(&o->arena, uint32_t, o->count);
    return q->at == NULL ? SV_NO_MEMORY : SV_OK;
}

/* ---- edges ---- */

static sv_status resolve(struct order *o, const sv__goal_edge *edge, uint32_t *what,
                         uint32_t *needs)
{
    sv__goal *g = o->g;
    *what = sv_names_get(&g->labels, edge->what);
    *needs = sv_names_get(&g->labels, edge->needs);
    if (*what == SV_ABSENT || *needs == SV_ABSENT)
        return sv_fail(g->ctx, SV_BAD_INPUT, "%s:%llu: label '%.*s' is not there", g->name,
                       (unsigned long long)edge->line,
                       SV_SPAN(*what == SV_ABSENT ? edge->what : edge->needs));
    return SV_OK;
}

/* Sorts edges by one of their ends. */
static sv_status sort_edges(struct order *o, struct edges *by, bool needs)
{
    const sv__goal *g = o->g;
    uint32_t ends[2];
    by->first = SV_ARENA_NEW(&o->arena, uint32_t, o->count + (size_t)2);
    by->at = SV_ARENA_NEW(&o->arena, uint32_t, g->edges.length);
    if (by->first == NULL || by->at == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < g->edges.length; i++) {
        SV_TRY(resolve(o, &g->edges.at[i], &ends[0], &ends[1]));
        by->first[ends[!needs] + 2]++;
    }
    for (uint32_t i = 0; i < o->count; i++)
        by->first[i + 2] += by->first[i + 1];
    for (size_t i = 0; i < g->edges.length; i++) {
        SV_TRY(resolve(o, &g->edges.at[i], &ends[0], &ends[1]));
        by->at[by->first[ends[!needs] + 1]++] = 2 * ends[needs] + g->edges.at[i].starts;
    }
    return SV_OK;
}

static sv_status make_edges(struct order *o)
{
    SV_TRY(sort_edges(o, &o->needs, true));
    SV_TRY(sort_edges(o, &o->lets, false));
    for (uint32_t op = 0; op < o->count; op++)
        for (uint32_t i = o->needs.first[op]; i < o->needs.first[op + 1]; i++) {
            o->unbegun[op]++;
            o->undone[op] += (o->needs.at[i] & 1) == 0;
        }
    return SV_OK;
}

/* One of those it needs has begun, or is done. */
static void look_again(struct order *o, uint32_t op)
{
    uint8_t kind = o->g->ops.at[op].kind;
    if (o->unbegun[op] > 0)
        return;
    if (o->undone[op] == 0)
        push(&o->queue[kind == SV_MPI_IRECV   ? READY_RECV
                       : kind == SV_MPI_ISEND ? READY_SEND
                                              : READY_CALC],
             op);
    else
        push(&o->queue[AFTER_WAITING], op);
}

static void has_begun(struct order *o, uint32_t op)
{
    o->begun[op] = 1;
    for (uint32_t i = o->lets.first[op]; i < o->lets.first[op + 1]; i++)
        if (--o->unbegun[o->lets.at[i] / 2] == 0)
            look_again(o, o->lets.at[i] / 2);
}

static void is_done(struct order *o, uint32_t op)
{
    o->done[op] = 1;
    for (uint32_t i = o->lets.first[op]; i < o->lets.first[op + 1]; i++)
        if ((o->lets.at[i] & 1) == 0 && --o->undone[o->lets.at[i] / 2] == 0)
            look_again(o, o->lets.at[i] / 2);
}

/* Whether one operation needs the end of another. */
static bool needs_end(const struct order *o, uint32_t op, uint32_t of)
{
    for (uint32_t i = o->needs.first[op]; i < o->needs.first[op + 1]; i++)
        if (o->needs.at[i] == 2 * of)
            return true;
    return false;
}

/* ---- events ---- */

static sv_status begin(struct order *o, uint32_t i)
{
    const sv__goal_op *op = &o->g->ops.at[i];
    sv_mpi_event e = {.kind = op->kind, .amount = op->amount, .peer = op->peer, .tag = op->tag};
    o->last = i;
    if (op->kind != SV_MPI_COMPUTE) {
        e.call = op->kind == SV_MPI_ISEND ? SV_CALL_ISEND : SV_CALL_IRECV;
        e.request = o->request[i] = o->num_free > 0 ? o->free[--o->num_free] : o->requests++;
        push(&o->queue[BEGUN], i);
    }
    SV_TRY(sv__mpi_add_line(o->g->trace, o->g->rank, &e, op->line));
    if (op->kind == SV_MPI_COMPUTE) { /* done first: who needs it must not wait for it */
        o->done[i] = 1;
        for (uint32_t k = o->lets.first[i]; k < o->lets.first[i + 1]; k++)
            o->undone[o->lets.at[k] / 2] -= (o->lets.at[k] & 1) == 0;
    }
    has_begun(o, i);
    return SV_OK;
}

/* Waits for one that has begun. */
static sv_status finish(struct order *o, uint32_t i)
{
    sv_mpi_rank *of = &o->g->trace->ranks[o->g->rank];
    o->free[o->num_free++] = o->request[i];
    if (o->last == i) { /* begun just before */
        sv_mpi_event *e = &of->events[of->length - 1];
        bool sends = e->kind == SV_MPI_ISEND;
        e->kind = sends ? SV_MPI_SEND : SV_MPI_RECV;
        e->call = sends ? SV_CALL_SEND : SV_CALL_RECV;
        e->request = 0;
    } else {
        sv_mpi_event e = {.kind = SV_MPI_WAIT, .call = SV_CALL_WAIT, .request = o->request[i]};
        SV_TRY(sv__mpi_add_line(o->g->trace, o->g->rank, &e, o->g->ops.at[i].line));
    }
    o->last = SV_NONE;
    is_done(o, i);
    return SV_OK;
}

enum { LOOKS = 64 };

/* Whether something that could begin once a message is there has to wait for op, which computes. */
static void look_who_waits(struct order *o, uint32_t op)
{
    const struct queue *q = &o->queue[AFTER_WAITING];
    if (o->g->ops.at[op].kind != SV_MPI_COMPUTE || o->g->ops.at[op].amount == 0)
        return;
    for (uint32_t k = q->first; k < q->end && k < q->first + LOOKS && !o->several; k++)
        for (uint32_t i = o->needs.first[q->at[k]]; i < o->needs.first[q->at[k] + 1]; i++) {
            uint32_t needed = o->needs.at[i] / 2;
            o->several |= (o->needs.at[i] & 1) == 0 && !o->done[needed] && !o->begun[q->at[k]] &&
                          o->g->ops.at[needed].kind == SV_MPI_IRECV;
        }
}

/* Whether something that could begin after other waiting has to wait for what op needs, too. */
static void look_for_choice(struct order *o, uint32_t op)
{
    const struct queue *q = &o->queue[AFTER_WAITING];
    for (uint32_t k = q->first; k < q->end && k < q->first + LOOKS && !o->several; k++)
        for (uint32_t i = o->needs.first[op]; i < o->needs.first[op + 1]; i++) {
            uint32_t needed = o->needs.at[i] / 2;
            o->several |= (o->needs.at[i] & 1) == 0 && !o->done[needed] && !o->begun[q->at[k]] &&
                          o->undone[q->at[k]] > 0 && o->g->ops.at[needed].kind == SV_MPI_IRECV &&
                          !needs_end(o, q->at[k], needed);
        }
}

/* Waits for all that an operation needs: messages first, then receives. */
static sv_status wait_for_needs(struct order *o, uint32_t op)
{
    for (int receives = 0; receives < 2; receives++)
        for (uint32_t i = o->needs.first[op]; i < o->needs.first[op + 1]; i++) {
            uint32_t needed = o->needs.at[i] / 2;
            if ((o->needs.at[i] & 1) == 0 && !o->done[needed] &&
                (o->g->ops.at[needed].kind == SV_MPI_IRECV) == receives)
                SV_TRY(finish(o, needed));
        }
    return SV_OK;
}

static sv_status run(struct order *o)
{
    for (;;) {
        struct queue *q = o->queue;
        while (q < &o->queue[AFTER_WAITING] && q->first == q->end)
            q++;
        if (q->first == q->end)
            break;
        uint32_t op = q->at[q->first++];
        if (q < &o->queue[AFTER_WAITING]) {
            look_who_waits(o, op);
            SV_TRY(begin(o, op));
        } else if (!o->begun[op]) {
            look_for_choice(o, op);
            SV_TRY(wait_for_needs(o, op));
        }
    }
    for (struct queue *q = &o->queue[BEGUN]; q->first < q->end; q->first++)
        if (!o->done[q->at[q->first]])
            SV_TRY(finish(o, q->at[q->first]));
    return SV_OK;
}

static sv_status prepare(struct order *o)
{
    sv_arena *arena = &o->arena;
    o->unbegun = SV_ARENA_NEW(arena, uint32_t, o->count);
    o->undone = SV_ARENA_NEW(arena, uint32_t, o->count);
    o->request = SV_ARENA_NEW(arena, uint32_t, o->count);
    o->begun = SV_ARENA_NEW(arena, uint8_t, o->count);
    o->done = SV_ARENA_NEW(arena, uint8_t, o->count);
    o->free = SV_ARENA_NEW(arena, uint32_t, o->count);
    if (o->unbegun == NULL || o->undone == NULL || o->request == NULL || o->begun == NULL ||
        o->done == NULL || o->free == NULL)
        return SV_NO_MEMORY;
    for (int i = 0; i < QUEUES; i++)
        SV_TRY(queue_init(o, &o->queue[i]));
    return make_edges(o);
}

static sv_status order_them(struct order *o)
{
    sv__goal *g = o->g;
    bool cpus = false;
    SV_TRY(prepare(o));
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->unbegun[i] == 0)
            look_again(o, i);
        cpus |= g->ops.at[i].cpu != g->ops.at[0].cpu;
    }
    SV_TRY(run(o));
    uint32_t begun = 0;
    for (int i = 0; i < AFTER_WAITING; i++)
        begun += o->queue[i].end;
    if (begun < o->count)
        return sv_fail(g->ctx, SV_BAD_INPUT,
                       "%s:%llu: rank %u has operations that require each other", g->name,
                       (unsigned long long)g->line, g->rank);
    g->several += o->several;
    g->cpus += cpus;
    return SV_OK;
}

sv_status sv__goal_order(sv__goal *g)
{
    struct order o = {.g = g, .count = (uint32_t)g->ops.length, .last = SV_NONE};
    if (g->ops.length > UINT32_MAX / 4 || g->edges.length > UINT32_MAX / 4)
        return sv_fail(g->ctx, SV_UNSUPPORTED, "%s: rank %u has too many operations", g->name,
                       g->rank);
    sv_arena_init(&o.arena, g->ctx);
    sv_status status = order_them(&o);
    sv_arena_release(&o.arena);
    return status;
}
