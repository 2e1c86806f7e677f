/*
 * trace.c: a trace and all that the library says about it, as text, for
 * tests/oracle/test_summary.py.
 *
 *     support_trace SPEC            a skeleton
 *     support_trace random SEED     a made-up program: messages, waits, collectives, loops
 *
 * Lines: "ranks N", "group RANK…", "e RANK KIND CALL AMOUNT PEER TAG REQUEST GROUP" for each event,
 * "m CALL GROUP ROOT BYTES FROM TO SENT" for each message of each kind of collective; then what is
 * to be checked: "total …", "calls …", "begun …", "sizes …", "cell …", "degree …", "phase …", "flow
 * …".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <selvage/experimental.h>
#include <selvage/selvage.h>

#include "base/rng.h"
#include "traces/summary.h"

enum { MAX_RANKS = 8, MAX_OPEN = 64, TAGS = 3, GROUPS = 3 };

static void need(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "%s\n", sv_ctx_message(ctx));
    exit(1);
}

/* ---- made-up programs ---- */

typedef struct maker {
    sv_ctx *ctx;
    sv_mpi_trace *trace;
    sv_rng rng;
    uint32_t ranks;
    uint16_t groups[GROUPS];
    uint32_t num_groups;
    bool anybody[MAX_RANKS]; /* names no senders */
    struct {
        uint32_t from, to, tag;
    } sent[MAX_OPEN]; /* and not received yet */
    uint32_t num_sent;
    uint32_t open[MAX_RANKS]; /* requests of sends and collectives that nobody waited for yet: 1
                                  … open */
} maker;

static void add(maker *m, uint32_t rank, sv_mpi_event event)
{
    need(m->ctx, sv_mpi_add(m->trace, rank, &event));
}

static uint32_t draw(maker *m, uint32_t bound)
{
    return (uint32_t)sv_rng_below(&m->rng, bound);
}

static sv_mpi_event message(maker *m, unsigned kind, unsigned call, uint32_t peer, uint32_t tag)
{
    static const uint64_t sizes[] = {0, 1, 8, 100, 128, 5000};
    return (sv_mpi_event){.kind = (uint8_t)kind,
                          .call = (uint8_t)call,
                          .peer = peer,
                          .tag = tag,
                          .amount =
                              kind == SV_MPI_RECV || kind == SV_MPI_IRECV ? 0 : sizes[draw(m, 6)]};
}

static void wait(maker *m, uint32_t rank, uint32_t request, unsigned call)
{
    add(m, rank, (sv_mpi_event){.kind = SV_MPI_WAIT, .call = (uint8_t)call, .request = request});
}

static void make_send(maker *m)
{
    static const uint32_t tags[TAGS] = {0, 1, SV_MPI_COLLECTIVE_TAG};
    uint32_t from = draw(m, m->ranks), to = draw(m, m->ranks), tag = tags[draw(m, TAGS)];
    if (m->num_sent == MAX_OPEN)
        return;
    if (draw(m, 2) == 0) {
        add(m, from, message(m, SV_MPI_SEND, SV_CALL_SEND, to, tag));
    } else {
        sv_mpi_event event = message(m, SV_MPI_ISEND, SV_CALL_ISEND, to, tag);
        event.request = ++m->open[from];
        add(m, from, event);
    }
    m->sent[m->num_sent].from = from;
    m->sent[m->num_sent].to = to;
    m->sent[m->num_sent++].tag = tag;
}

/* Receives the first message of the channel of an open one. */
static void make_receive(maker *m)
{
    if (m->num_sent == 0)
        return;
    uint32_t pick = draw(m, m->num_sent), i = 0;
    while (m->sent[i].from != m->sent[pick].from || m->sent[i].to != m->sent[pick].to ||
           m->sent[i].tag != m->sent[pick].tag)
        i++;
    uint32_t to = m->sent[i].to;
    uint32_t from = m->anybody[to] ? SV_MPI_ANY : m->sent[i].from;
    uint32_t tag = m->anybody[to] ? SV_MPI_ANY : m->sent[i].tag;
    if (draw(m, 2) == 0) {
        add(m, to, message(m, SV_MPI_RECV, SV_CALL_RECV, from, tag));
    } else {
        sv_mpi_event event = message(m, SV_MPI_IRECV, SV_CALL_IRECV, from, tag);
        event.request = 0;
        add(m, to, event);
        wait(m, to, 0, SV_CALL_WAIT);
    }
    m->num_sent--;
    for (; i < m->num_sent; i++)
        m->sent[i] = m->sent[i + 1];
}

/* All ranks shift something: receives posted first. */
static void make_shift(maker *m)
{
    uint32_t by = 1 + draw(m, m->ranks), tag = draw(m, TAGS);
    uint64_t bytes = draw(m, 3) * 1000;
    for (uint32_t r = 0; r < m->ranks; r++)
        if (m->anybody[r])
            return;
    for (uint32_t r = 0; r < m->ranks; r++) {
        sv_mpi_event event =
            message(m, SV_MPI_IRECV, SV_CALL_IRECV, (r + m->ranks * 2 - by) % m->ranks, tag);
        event.request = 0;
        add(m, r, event);
        event = message(m, SV_MPI_SEND, SV_CALL_SEND, (r + by) % m->ranks, tag);
        event.amount = bytes;
        add(m, r, event);
        wait(m, r, 0, SV_CALL_WAITALL);
    }
}

static void make_collective(maker *m)
{
    static const unsigned calls[] = {SV_CALL_BARRIER,   SV_CALL_BCAST,    SV_CALL_REDUCE,
                                     SV_CALL_ALLREDUCE, SV_CALL_ALLTOALL, SV_CALL_ALLGATHER};
    uint16_t group = m->groups[draw(m, m->num_groups)];
    unsigned call = calls[draw(m, 6)];
    const sv_mpi_group *g = &m->trace->groups[group];
    bool rooted = call == SV_CALL_BCAST || call == SV_CALL_REDUCE;
    sv_mpi_event event = {.kind = SV_MPI_COLLECTIVE,
                          .call = (uint8_t)call,
                          .group = group,
                          .peer = rooted ? g->ranks[draw(m, g->size)] : 0,
                          .amount = call == SV_CALL_BARRIER ? 0 : 8 * draw(m, 4)};
    if (draw(m, 2) == 0)
        event.kind = SV_MPI_ICOLLECTIVE;
    for (uint32_t i = 0; i < g->size; i++) {
        if (event.kind == SV_MPI_ICOLLECTIVE)
            event.request = ++m->open[g->ranks[i]];
        add(m, g->ranks[i], event);
    }
}

static void end_sends(maker *m, uint32_t rank)
{
    for (; m->open[rank] > 0; m->open[rank]--)
        wait(m, rank, m->open[rank], SV_CALL_NONE);
}

static void make_anything(maker *m)
{
    uint32_t what = draw(m, 20), rank = draw(m, m->ranks);
    if (what < 8)
        make_send(m);
    else if (what < 14)
        make_receive(m);
    else if (what < 16)
        make_shift(m);
    else if (what < 18)
        make_collective(m);
    else if (what < 19)
        end_sends(m, rank);
    else
        add(m, rank, (sv_mpi_event){.kind = SV_MPI_COMPUTE, .amount = draw(m, 1000)});
}

/* A body, several times over; nothing is left open between. */
static void make_loop(maker *m)
{
    uint64_t seed = sv_rng_next(&m->rng);
    uint32_t times = 1 + draw(m, 6), length = 1 + draw(m, 25);
    sv_rng after = m->rng;
    for (uint32_t i = 0; i < times; i++) {
        sv_rng_init(&m->rng, seed);
        for (uint32_t k = 0; k < length; k++)
            make_anything(m);
        while (m->num_sent > 0)
            make_receive(m);
        for (uint32_t rank = 0; rank < m->ranks; rank++)
            end_sends(m, rank);
    }
    m->rng = after;
}

static sv_mpi_trace *make_random(sv_ctx *ctx, uint64_t seed)
{
    maker m = {.ctx = ctx};
    sv_rng_init(&m.rng, seed);
    m.ranks = 1 + draw(&m, MAX_RANKS);
    need(ctx, sv_mpi_new(ctx, "random", m.ranks, &m.trace));
    m.num_groups = 1;
    for (; m.num_groups < GROUPS; m.num_groups++) {
        uint32_t ranks[MAX_RANKS], size = 1 + draw(&m, m.ranks);
        for (uint32_t i = 0; i < m.ranks; i++)
            ranks[i] = i;
        sv_rng_shuffle(&m.rng, ranks, m.ranks);
        need(ctx, sv_mpi_add_group(m.trace, ranks, size, m.num_groups, &m.groups[m.num_groups]));
    }
    for (uint32_t i = 0; i < m.ranks; i++)
        m.anybody[i] = draw(&m, 10) == 0;
    for (uint32_t loops = 1 + draw(&m, 4); loops > 0; loops--)
        make_loop(&m);
    return m.trace;
}

/* ---- as text ---- */

static sv_status print_message(void *user, uint32_t from, uint32_t to, uint64_t bytes)
{
    const sv_mpi_event *e = user;
    printf("m %u %u %u %llu %u %u %llu\n", e->call, e->group, e->peer,
           (unsigned long long)e->amount, from, to, (unsigned long long)bytes);
    return SV_OK;
}

static void print_trace(sv_ctx *ctx, const sv_mpi_trace *t)
{
    sv__coll_kinds kinds;
    sv__coll_kinds_init(&kinds, ctx, t);
    printf("ranks %u\n", t->num_ranks);
    for (uint32_t g = 0; g < t->num_groups; g++) {
        printf("group");
        for (uint32_t i = 0; i < t->groups[g].size; i++)
            printf(" %u", t->groups[g].ranks[i]);
        printf("\n");
    }
    for (uint32_t r = 0; r < t->num_ranks; r++)
        for (uint64_t i = 0; i < t->ranks[r].length; i++) {
            const sv_mpi_event *e = &t->ranks[r].events[i];
            uint32_t kind, known = (uint32_t)kinds.kinds.length;
            printf("e %u %u %u %llu %u %u %u %u\n", r, e->kind, e->call,
                   (unsigned long long)e->amount, e->peer, e->tag, e->request, e->group);
            if (e->kind != SV_MPI_COLLECTIVE && e->kind != SV_MPI_ICOLLECTIVE)
                continue;
            need(ctx, sv__coll_kind_of(&kinds, e, &kind));
            if (kind == known) {
                sv_mpi_event copy = *e;
                need(ctx, sv__coll_messages(t, e, print_message, &copy));
            }
        }
    sv__coll_kinds_release(&kinds);
}

static void print_numbers(const char *name, const uint64_t *at, size_t length)
{
    printf("%s", name);
    for (size_t i = 0; i < length; i++)
        printf(" %llu", (unsigned long long)at[i]);
    printf("\n");
}

static void print_summary(sv_ctx *ctx, const sv_mpi_trace *t)
{
    sv_mpi_summary *s;
    need(ctx, sv_mpi_summarise(ctx, t, &s));
    uint64_t totals[] = {s->events, s->messages, s->bytes, s->compute_ns};
    print_numbers("total", totals, 4);
    print_numbers("calls", s->calls, SV_CALL_COUNT);
    print_numbers("begun", s->begun, SV_CALL_COUNT);
    print_numbers("sizes", s->sizes, 65);
    for (uint32_t from = 0; from < s->ranks; from++)
        for (uint32_t to = 0; to < s->ranks; to++) {
            size_t i = (size_t)from * s->ranks + to;
            uint64_t cell[] = {from, to, s->point_bytes[i], s->all_bytes[i], s->all_messages[i]};
            print_numbers("cell", cell, 5);
        }
    for (uint32_t r = 0; r < s->ranks; r++)
        printf("degree %u %u\n", r, s->degree[r]);
    printf("degrees %.9f %u\n", s->degree_mean, s->degree_max);
    printf("phases %u %u %llu\n", s->num_phases, s->relevant_phases,
           (unsigned long long)s->relevant_weight);
    for (uint32_t p = 0; p < s->num_phases; p++) {
        const sv_mpi_phase *phase = &s->phases[p];
        sv_mpi_flow *flows;
        uint32_t count;
        uint64_t line[] = {phase->weight, phase->messages, phase->bytes,
                           phase->first,  phase->relevant, phase->collective};
        print_numbers("phase", line, 6);
        need(ctx, sv_mpi_phase_flows(ctx, t, s, p, &flows, &count));
        for (uint32_t i = 0; i < count; i++) {
            uint64_t flow[] = {
                p, flows[i].from, flows[i].to, flows[i].messages, flows[i].bytes, flows[i].steps};
            print_numbers("flow", flow, 6);
        }
        sv_release(ctx, flows);
    }
    sv_mpi_summary_free(s);
}

int main(int argc, char **argv)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_mpi_trace *trace;
    if (ctx == NULL || argc < 2)
        return 2;
    if (argc == 3 && strcmp(argv[1], "random") == 0)
        trace = make_random(ctx, strtoull(argv[2], NULL, 10));
    else
        need(ctx, sv_mpi_skeleton_make(ctx, argv[1], &trace));
    print_trace(ctx, trace);
    print_summary(ctx, trace);
    sv_mpi_free(trace);
    sv_ctx_free(ctx);
    return 0;
}
