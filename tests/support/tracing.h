/*
 * tracing.h: what tests of traces share: random traces that are some, comparing traces, writing
 * them into memory and reading them again.
 */
#ifndef SELVAGE_TRACING_H
#define SELVAGE_TRACING_H

#include "support/testing.h"

#include "base/file.h"
#include "base/rng.h"
#include "traces/traces.h"

/* How a random trace is. */
typedef struct trace_wish {
    uint32_t ranks, groups, acts;
    uint32_t bytes; /* most */
    bool any;       /* receives from anybody, or with any tag; then nobody sends to itself */
    bool collectives, computes;
    bool begins; /* with collectives: half of them are begun, and waited for some time later */
} trace_wish;

typedef struct trace_maker {
    sv_ctx *ctx;
    sv_mpi_trace *t;
    sv_rng rng;
    trace_wish wish;
    uint32_t *open[64]; /* requests in use, of each rank */
    uint32_t count[64], room[64];
} trace_maker;

static inline void trace_put(trace_maker *m, uint32_t rank, sv_mpi_event event)
{
    OK(m->ctx, sv_mpi_add(m->t, rank, &event));
}

static inline uint32_t trace_draw(trace_maker *m, uint32_t below)
{
    return (uint32_t)sv_rng_below(&m->rng, below);
}

/* The smallest number that is free; it is in use now. */
static inline uint32_t trace_request(trace_maker *m, uint32_t rank)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < m->count[rank];) {
        if (m->open[rank][i] == number) {
            number++;
            i = 0;
        } else {
            i++;
        }
    }
    if (m->count[rank] == m->room[rank]) {
        m->room[rank] += 16;
        m->open[rank] = realloc(m->open[rank], m->room[rank] * sizeof(uint32_t));
    }
    m->open[rank][m->count[rank]++] = number;
    return number;
}

static inline void trace_wait(trace_maker *m, uint32_t rank, uint32_t i)
{
    trace_put(
        m, rank,
        (sv_mpi_event){.kind = SV_MPI_WAIT, .call = SV_CALL_WAIT, .request = m->open[rank][i]});
    m->open[rank][i] = m->open[rank][--m->count[rank]];
}

static inline void trace_message(trace_maker *m)
{
    uint16_t group = (uint16_t)trace_draw(m, m->t->num_groups);
    const sv_mpi_group *g = &m->t->groups[group];
    uint32_t from = g->ranks[trace_draw(m, g->size)], to = g->ranks[trace_draw(m, g->size)];
    if (m->wish.any && from == to)
        return;
    sv_mpi_event send = {.kind = SV_MPI_SEND,
                         .call = SV_CALL_SEND,
                         .peer = to,
                         .group = group,
                         .tag = trace_draw(m, 3),
                         .amount = trace_draw(m, m->wish.bytes + 1)};
    sv_mpi_event receive = send;
    receive.kind = SV_MPI_RECV;
    receive.call = SV_CALL_RECV;
    receive.peer = from;
    if (m->wish.any && trace_draw(m, 4) == 0)
        receive.peer = SV_MPI_ANY;
    if (m->wish.any && trace_draw(m, 4) == 0)
        receive.tag = SV_MPI_ANY;
    if (from == to || trace_draw(m, 2)) {
        send.kind = SV_MPI_ISEND;
        send.call = SV_CALL_ISEND;
        send.request = trace_request(m, from);
    }
    if (trace_draw(m, 2)) {
        receive.kind = SV_MPI_IRECV;
        receive.call = SV_CALL_IRECV;
        receive.request = trace_request(m, to);
    }
    trace_put(m, from, send);
    trace_put(m, to, receive);
}

/* Two messages that are received in the other order. */
static inline void trace_crossed(trace_maker *m)
{
    uint32_t from = trace_draw(m, m->wish.ranks), to = trace_draw(m, m->wish.ranks);
    if (from == to)
        return;
    for (uint32_t tag = 10; tag < 12; tag++)
        trace_put(m, from,
                  (sv_mpi_event){.kind = SV_MPI_ISEND,
                                 .call = SV_CALL_ISEND,
                                 .peer = to,
                                 .tag = tag,
                                 .amount = trace_draw(m, m->wish.bytes + 1),
                                 .request = trace_request(m, from)});
    for (uint32_t tag = 11; tag >= 10; tag--)
        trace_put(m, to,
                  (sv_mpi_event){.kind = SV_MPI_IRECV,
                                 .call = SV_CALL_IRECV,
                                 .peer = from,
                                 .tag = tag,
                                 .request = trace_request(m, to)});
}

static inline void trace_collective(trace_maker *m)
{
    uint16_t group = (uint16_t)trace_draw(m, m->t->num_groups);
    const sv_mpi_group *g = &m->t->groups[group];
    sv_mpi_event e = {
        .kind = SV_MPI_COLLECTIVE,
        .call = (uint8_t)(SV_CALL_BARRIER + trace_draw(m, SV_CALL_COUNT - SV_CALL_BARRIER)),
        .group = group,
        .peer = g->ranks[trace_draw(m, g->size)],
        .amount = trace_draw(m, m->wish.bytes + 1)};
    if (m->wish.begins && trace_draw(m, 2))
        e.kind = SV_MPI_ICOLLECTIVE;
    for (uint32_t i = 0; i < g->size; i++) {
        if (e.kind == SV_MPI_ICOLLECTIVE)
            e.request = trace_request(m, g->ranks[i]);
        trace_put(m, g->ranks[i], e);
    }
}

static inline void trace_groups(trace_maker *m)
{
    uint32_t n = m->wish.ranks, all[64];
    uint16_t number;
    for (uint32_t k = 0; k < m->wish.groups; k++) {
        for (uint32_t i = 0; i < n; i++)
            all[i] = i;
        sv_rng_shuffle(&m->rng, all, n);
        /* Not among the arguments: which is drawn first would be the compiler's choice. */
        uint32_t ordinal = trace_draw(m, 2), size = 1 + trace_draw(m, n);
        OK(m->ctx, sv_mpi_add_group(m->t, all, size, ordinal, &number));
    }
}

/* A trace whose events follow from one order of all that happens, so that without receives from
 * anybody it comes to its end however it is replayed. */
static inline sv_mpi_trace *trace_random(sv_ctx *ctx, uint64_t seed, trace_wish wish)
{
    trace_maker m = {.ctx = ctx, .wish = wish};
    sv_rng_init(&m.rng, seed);
    OK(ctx, sv_mpi_new(ctx, "random", wish.ranks, &m.t));
    trace_groups(&m);
    for (uint32_t k = 0; k < wish.acts; k++) {
        uint32_t what = trace_draw(&m, 8), rank = trace_draw(&m, wish.ranks);
        if (what == 0 && wish.computes)
            trace_put(&m, rank,
                      (sv_mpi_event){.kind = SV_MPI_COMPUTE, .amount = trace_draw(&m, 5000)});
        else if (what == 1 && wish.collectives)
            trace_collective(&m);
        else if (what <= 3 && m.count[rank] > 0)
            trace_wait(&m, rank, trace_draw(&m, m.count[rank]));
        else if (what == 4)
            trace_crossed(&m);
        else
            trace_message(&m);
    }
    for (uint32_t rank = 0; rank < wish.ranks; rank++) {
        while (m.count[rank] > 0)
            trace_wait(&m, rank, trace_draw(&m, m.count[rank]));
        free(m.open[rank]);
    }
    return m.t;
}

/* ---- comparing ---- */

static inline bool trace_group_same(const sv_mpi_group *a, const sv_mpi_group *b)
{
    return a->size == b->size && a->ordinal == b->ordinal &&
           memcmp(a->ranks, b->ranks, a->size * sizeof *a->ranks) == 0;
}

static inline bool trace_event_same(const sv_mpi_trace *t, const sv_mpi_event *a,
                                    const sv_mpi_trace *u, const sv_mpi_event *b)
{
    bool waits = a->kind == SV_MPI_WAIT, computes = a->kind == SV_MPI_COMPUTE;
    bool later = waits || sv__begins(a);
    bool message = !waits && !computes && !sv__is_collective(a);
    return a->kind == b->kind && a->call == b->call && (waits || a->amount == b->amount) &&
           (!later || a->request == b->request) && (waits || computes || a->peer == b->peer) &&
           (!message || a->tag == b->tag) &&
           (waits || computes || trace_group_same(&t->groups[a->group], &u->groups[b->group]));
}

/* The same but for numbers of groups. */
static inline bool trace_same(const sv_mpi_trace *t, const sv_mpi_trace *u)
{
    if (t->num_ranks != u->num_ranks || strcmp(t->name, u->name) != 0)
        return false;
    for (uint32_t rank = 0; rank < t->num_ranks; rank++) {
        if (t->ranks[rank].length != u->ranks[rank].length)
            return false;
        for (uint64_t i = 0; i < t->ranks[rank].length; i++)
            if (!trace_event_same(t, &t->ranks[rank].events[i], u, &u->ranks[rank].events[i]))
                return false;
    }
    return true;
}

/* ---- files in memory ---- */

static inline sv_status trace_read(sv_ctx *ctx, const char *bytes, size_t length,
                                   sv_mpi_trace **trace)
{
    sv_memory memory = {bytes, length};
    sv_source source = sv_memory_source(&memory, "memory");
    return sv_mpi_read(ctx, &source, trace);
}

static inline test_buffer trace_written(sv_ctx *ctx, const sv_mpi_trace *trace)
{
    test_buffer buffer = {0};
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_mpi_write(ctx, trace, &sink));
    return buffer;
}

#endif
