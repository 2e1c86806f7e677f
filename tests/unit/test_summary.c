/*
 * test_summary.c: what is said of traces: small ones by hand, loops as programs have them (halos
 * and sums as in LAMMPS, wavefronts, levels of a multigrid method), and refusals.
 */
#include "support/testing.h"

#include "base/ctx.h"

TEST_CONTEXT

static void add(sv_mpi_trace *trace, uint32_t rank, sv_mpi_event event)
{
    OK(ctx, sv_mpi_add(trace, rank, &event));
}

static void send(sv_mpi_trace *trace, uint32_t from, uint32_t to, uint64_t bytes)
{
    add(trace, from,
        (sv_mpi_event){.kind = SV_MPI_SEND, .call = SV_CALL_SEND, .peer = to, .amount = bytes});
}

static void recv(sv_mpi_trace *trace, uint32_t to, uint32_t from)
{
    add(trace, to, (sv_mpi_event){.kind = SV_MPI_RECV, .call = SV_CALL_RECV, .peer = from});
}

static void all(sv_mpi_trace *trace, unsigned call, uint64_t bytes)
{
    for (uint32_t rank = 0; rank < trace->num_ranks; rank++)
        add(trace, rank,
            (sv_mpi_event){.kind = SV_MPI_COLLECTIVE, .call = (uint8_t)call, .amount = bytes});
}

/* All ranks of a ring send to the one that is so many further on. */
static void shift(sv_mpi_trace *trace, uint32_t by, uint64_t bytes)
{
    uint32_t n = trace->num_ranks;
    for (uint32_t rank = 0; rank < n; rank++) {
        add(trace, rank,
            (sv_mpi_event){.kind = SV_MPI_IRECV,
                           .call = SV_CALL_IRECV,
                           .peer = (rank + n - by) % n,
                           .amount = bytes});
        send(trace, rank, (rank + by) % n, bytes);
        add(trace, rank, (sv_mpi_event){.kind = SV_MPI_WAIT, .call = SV_CALL_WAIT});
    }
}

static sv_mpi_trace *empty(uint32_t ranks)
{
    sv_mpi_trace *trace;
    OK(ctx, sv_mpi_new(ctx, "test", ranks, &trace));
    return trace;
}

static sv_mpi_summary *sum_up(const sv_mpi_trace *trace)
{
    sv_mpi_summary *summary = NULL;
    OK(ctx, sv_mpi_summarise(ctx, trace, &summary));
    return summary;
}

static void is_phase(const sv_mpi_summary *s, uint32_t i, sv_mpi_phase wanted)
{
    assert_true(i < s->num_phases);
    assert_int_equal(s->phases[i].weight, wanted.weight);
    assert_int_equal(s->phases[i].messages, wanted.messages);
    assert_int_equal(s->phases[i].bytes, wanted.bytes);
    assert_int_equal(s->phases[i].first, wanted.first);
    assert_int_equal(s->phases[i].relevant, wanted.relevant);
    assert_int_equal(s->phases[i].collective, wanted.collective);
}

/* ---- sums ---- */

static void nothing(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(3);
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->ranks, 3);
    assert_int_equal(s->events, 0);
    assert_int_equal(s->messages, 0);
    assert_int_equal(s->num_phases, 0);
    assert_int_equal(s->degree_max, 0);
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
    sv_mpi_summary_free(NULL);
}

static void by_hand(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(3);
    send(trace, 0, 1, 100);
    recv(trace, 1, 0);
    send(trace, 0, 1, 0);
    recv(trace, 1, 0);
    send(trace, 2, 0, 128);
    recv(trace, 0, 2);
    send(trace, 1, 1, 7); /* to itself */
    recv(trace, 1, 1);
    add(trace, 2, (sv_mpi_event){.kind = SV_MPI_COMPUTE, .amount = 5000});
    all(trace, SV_CALL_ALLTOALL, 10);
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->events, 12);
    assert_int_equal(s->messages, 4 + 6);
    assert_int_equal(s->bytes, 100 + 128 + 7 + 60);
    assert_int_equal(s->compute_ns, 5000);
    assert_int_equal(s->calls[SV_CALL_SEND], 4);
    assert_int_equal(s->calls[SV_CALL_RECV], 4);
    assert_int_equal(s->calls[SV_CALL_ALLTOALL], 3);
    assert_int_equal(s->calls[SV_CALL_NONE], 0);
    assert_int_equal(s->sizes[0], 1);
    assert_int_equal(s->sizes[3], 1); /* 7 */
    assert_int_equal(s->sizes[4], 6); /* 10 */
    assert_int_equal(s->sizes[7], 1); /* 100 */
    assert_int_equal(s->sizes[8], 1); /* 128 */
    assert_int_equal(s->point_bytes[0 * 3 + 1], 100);
    assert_int_equal(s->all_bytes[0 * 3 + 1], 110);
    assert_int_equal(s->all_messages[0 * 3 + 1], 3);
    assert_int_equal(s->point_bytes[1 * 3 + 1], 7);
    assert_int_equal(s->all_bytes[2 * 3 + 1], 10);
    assert_int_equal(s->point_bytes[2 * 3 + 1], 0);
    assert_int_equal(s->degree[0], 1);
    assert_int_equal(s->degree[1], 0); /* itself is no other */
    assert_int_equal(s->degree[2], 1);
    assert_int_equal(s->degree_max, 1);
    assert_true(s->degree_mean > 0.666 && s->degree_mean < 0.667);
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/* What the recorder makes of MPI_Alltoallv is in the matrix, but nobody's neighbour. */
static void parts_of_collectives(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(3);
    for (uint32_t to = 1; to < 3; to++) {
        add(trace, 0,
            (sv_mpi_event){.kind = SV_MPI_SEND,
                           .call = to == 1 ? SV_CALL_ALLTOALL : SV_CALL_NONE,
                           .peer = to,
                           .tag = SV_MPI_COLLECTIVE_TAG,
                           .amount = 50});
        add(trace, to, (sv_mpi_event){.kind = SV_MPI_RECV, .tag = SV_MPI_COLLECTIVE_TAG});
    }
    send(trace, 0, 1, 7);
    recv(trace, 1, 0);
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->degree[0], 1);
    assert_int_equal(s->point_bytes[1], 7);
    assert_int_equal(s->all_bytes[1], 57);
    assert_int_equal(s->point_bytes[2], 0);
    assert_int_equal(s->all_bytes[2], 50);
    assert_int_equal(s->all_messages[1], 2);
    assert_int_equal(s->calls[SV_CALL_ALLTOALL], 1);
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/* Broadcasts by a tree: as many messages as other ranks, wherever the root is. */
static void rooted(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(5);
    for (uint32_t rank = 0; rank < 5; rank++)
        for (uint32_t root = 0; root < 5; root++)
            add(trace, rank,
                (sv_mpi_event){.kind = SV_MPI_COLLECTIVE,
                               .call = SV_CALL_BCAST,
                               .peer = root,
                               .amount = 1000});
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->messages, 20);
    assert_int_equal(s->bytes, 20000);
    for (uint32_t to = 0; to < 5; to++) {
        uint64_t got = 0;
        for (uint32_t from = 0; from < 5; from++)
            got += s->all_messages[from * 5 + to];
        assert_int_equal(got, 4);
    }
    assert_int_equal(s->num_phases, 1); /* other roots are other steps, which follow each other */
    is_phase(s, 0, (sv_mpi_phase){1, 20, 20000, 0, false, true});
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/* ---- phases ---- */

/* A ping-pong is two steps that follow each other: one phase. */
static void ping_pong(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(2);
    for (int i = 0; i < 50; i++) {
        send(trace, 0, 1, 8);
        recv(trace, 1, 0);
        send(trace, 1, 0, 8);
        recv(trace, 0, 1);
    }
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->num_phases, 1);
    is_phase(s, 0, (sv_mpi_phase){50, 2, 16, 0, true, false});
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/*
 * As LAMMPS does: six shifts a step (their bytes change a little), there and back, now and then
 * others before them, and an all-reduce: two phases that matter, and what is between.
 */
static void halos_and_sums(void **state)
{
    (void)state;
    static const uint32_t by[] = {1, 63, 4, 4, 63, 1};
    sv_mpi_trace *trace = empty(64);
    all(trace, SV_CALL_BCAST, 4);
    for (uint64_t step = 0; step < 400; step++) {
        for (int i = 0; i < 6 && step % 200 == 199; i++)
            shift(trace, by[i], 100);
        for (int i = 0; i < 6; i++)
            shift(trace, by[i], 5000 + step % 7);
        all(trace, SV_CALL_ALLREDUCE, 48);
    }
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->num_phases, 4);
    assert_int_equal(s->relevant_phases, 2);
    assert_int_equal(s->relevant_weight, 798);
    is_phase(s, 1, (sv_mpi_phase){398, 6 * 64, 6 * 64 * 5000, 1, true, false});
    is_phase(s, 2, (sv_mpi_phase){400, 6 * 64, 6 * 64 * 48, 7, true, true});
    is_phase(s, 3, (sv_mpi_phase){2, 12 * 64, 6 * 64 * (100 + 5003), 1 + 199 * 7, false, false});
    assert_int_equal(s->degree_max, 3);
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/* A step that is now and then followed by another one still goes with the one it mostly does. */
static void nearly_always(void **state)
{
    (void)state;
    for (int every = 4; every <= 5; every++) { /* three in four are too few, four in five are not */
        sv_mpi_trace *trace = empty(8);
        for (int i = 0; i < 100; i++) {
            shift(trace, 1, 10);
            if (i % every != every - 1)
                shift(trace, 2, 10);
            else
                shift(trace, 3, 10);
        }
        sv_mpi_summary *s = sum_up(trace);
        assert_int_equal(s->num_phases, every == 4 ? 3 : 2);
        is_phase(s, 0,
                 (sv_mpi_phase){100, every == 4 ? 8 : 16, every == 4 ? 80 : 160, 0, true, false});
        sv_mpi_summary_free(s);
        sv_mpi_free(trace);
    }
}

enum { RANKS = 5, TIMES = 4 };

/* A chain of ranks that hand on planes. */
static sv_mpi_trace *hand_on(int planes)
{
    sv_mpi_trace *trace = empty(RANKS);
    for (int time = 0; time < TIMES; time++) {
        for (int plane = 0; plane < planes; plane++)
            for (uint32_t rank = 0; rank < RANKS; rank++) {
                if (rank > 0)
                    recv(trace, rank, rank - 1);
                if (rank + 1 < RANKS)
                    send(trace, rank, rank + 1, 40);
            }
        all(trace, SV_CALL_BARRIER, 0);
    }
    return trace;
}

/* Fill, full pipe (every rank but the last sends), drain. */
static void wavefront(void **state)
{
    (void)state;
    enum { PLANES = 62 }; /* and three more steps until the last is through: too long for a whole */
    sv_mpi_trace *trace = hand_on(PLANES);
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->num_phases, 4);
    is_phase(s, 0, (sv_mpi_phase){TIMES, 1 + 2 + 3, 6 * 40, 0, true, false});
    is_phase(s, 1, (sv_mpi_phase){TIMES * (PLANES - 3), 4, 4 * 40, 3, true, false});
    is_phase(s, 2, (sv_mpi_phase){TIMES, 3 + 2 + 1, 6 * 40, PLANES, true, false});
    is_phase(s, 3, (sv_mpi_phase){TIMES, 5 + 5 + 5, 0, PLANES + 3, true, true});
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
    trace = hand_on(PLANES - 1); /* short enough */
    s = sum_up(trace);
    assert_int_equal(s->num_phases, 2);
    is_phase(s, 0, (sv_mpi_phase){TIMES, 4 * (PLANES - 1), 4 * (PLANES - 1) * 40, 0, true, false});
    is_phase(s, 1, (sv_mpi_phase){TIMES, 5 + 5 + 5, 0, PLANES + 2, true, true});
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/* What comes once between collectives goes step by step, and is the same phase where it is alike.
 */
static void stretches_and_steps(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(6);
    for (int i = 0; i < 3; i++) {
        shift(trace, 1, 10);
        shift(trace, 2, 10);
        all(trace, SV_CALL_BARRIER, 0);
    }
    for (int i = 0; i < 5; i++) { /* one stretch of 15 steps */
        shift(trace, 1, 10);
        shift(trace, 2, 10);
        shift(trace, 3, 10 + 90 * (i == 0 || i == 3));
    }
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->num_phases, 4);
    is_phase(s, 0, (sv_mpi_phase){3 + 5, 12, 120, 0, true, false});
    is_phase(s, 1, (sv_mpi_phase){3, 18, 0, 2, true, true});
    is_phase(s, 2, (sv_mpi_phase){2, 6, 600, 11, true, false});
    is_phase(s, 3, (sv_mpi_phase){3, 6, 60, 14, true, false});
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/* The same pairs with other sizes are other phases: levels. */
static void levels(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(4);
    for (int i = 0; i < 20; i++) {
        for (int down = 0; down < 4; down++) {
            shift(trace, 1, 4096U >> (2 * down));
            shift(trace, 2, 4096U >> (2 * down));
        }
        for (int up = 2; up >= 0; up--) {
            shift(trace, 1, 4096U >> (2 * up));
            shift(trace, 2, 4096U >> (2 * up));
        }
    }
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->num_phases, 4);
    static const uint64_t weights[] = {40, 40, 40, 20};
    for (uint32_t k = 0; k < 4; k++)
        is_phase(s, k, (sv_mpi_phase){weights[k], 8, 8 * (4096U >> (2 * k)), 2 * k, true, false});
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

static void published_loops(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint32_t phases, relevant;
        uint64_t weight;
    } cases[] = {{"mg:class=S", 14, 12, 141},
                 {"mg:class=A", 17, 15, 186},
                 {"ft:class=B", 4, 2, 25},
                 {"pop:steps=5", 9, 5, 0},
                 {"lu:iterations=20", 16, 6, 2103}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_mpi_trace *trace;
        OK(ctx, sv_mpi_skeleton_make(ctx, cases[i].spec, &trace));
        sv_mpi_summary *s = sum_up(trace);
        if (s->num_phases != cases[i].phases || s->relevant_phases != cases[i].relevant ||
            (cases[i].weight > 0 && s->relevant_weight != cases[i].weight))
            fail_msg("%s: %u phases, %u relevant, weight %llu", cases[i].spec, s->num_phases,
                     s->relevant_phases, (unsigned long long)s->relevant_weight);
        sv_mpi_summary_free(s);
        sv_mpi_free(trace);
    }
}

/* ---- flows ---- */

static void flows_of_a_phase(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(4);
    for (int i = 0; i < 3; i++) {
        shift(trace, 1, 10);
        shift(trace, 1, 1000);
        all(trace, SV_CALL_ALLTOALL, 5);
    }
    sv_mpi_summary *s = sum_up(trace);
    sv_mpi_flow *flows = NULL;
    uint32_t count = 0;
    assert_int_equal(s->num_phases, 2);
    OK(ctx, sv_mpi_phase_flows(ctx, trace, s, 0, &flows, &count));
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(flows[i].to, (flows[i].from + 1) % 4);
        assert_int_equal(flows[i].messages, 2);
        assert_int_equal(flows[i].bytes, 1010);
        assert_int_equal(flows[i].steps, 3); /* the first and the second */
    }
    sv_release(ctx, flows);
    OK(ctx, sv_mpi_phase_flows(ctx, trace, s, 1, &flows, &count));
    assert_int_equal(count, 12);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(flows[i].bytes, 5);
        assert_int_equal(flows[i].steps, 1);
    }
    sv_release(ctx, flows);
    FAILS(ctx, sv_mpi_phase_flows(ctx, trace, s, 2, &flows, &count), SV_BAD_INPUT,
          "no phase 2: there are 2");
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

/* ---- from anybody ---- */

/* The last rank takes from whoever it is; what is sent first is taken first. */
static void anybody(void **state)
{
    (void)state;
    sv_mpi_trace *trace = empty(3);
    for (int i = 0; i < 4; i++) {
        recv(trace, 2, SV_MPI_ANY);
        recv(trace, 2, SV_MPI_ANY);
        send(trace, 2, 0, 3);
        send(trace, 0, 2, 1);
        recv(trace, 0, 2);
        send(trace, 1, 2, 2);
    }
    sv_mpi_summary *s = sum_up(trace);
    assert_int_equal(s->messages, 12);
    assert_int_equal(s->bytes, 4 * 6);
    assert_int_equal(s->degree[2], 1);
    assert_true(s->num_phases > 0);
    sv_mpi_summary_free(s);
    sv_mpi_free(trace);
}

static void refusals(void **state)
{
    (void)state;
    sv_mpi_summary *s = NULL;
    sv_mpi_trace *trace = empty(2); /* each waits for the other first */
    for (uint32_t rank = 0; rank < 2; rank++) {
        recv(trace, rank, 1 - rank);
        send(trace, rank, 1 - rank, 1);
    }
    FAILS(ctx, sv_mpi_summarise(ctx, trace, &s), SV_BAD_INPUT, "rank 0");
    sv_mpi_free(trace);
    trace = empty(2); /* nobody sends */
    recv(trace, 1, 0);
    FAILS(ctx, sv_mpi_summarise(ctx, trace, &s), SV_BAD_INPUT, "rank 1");
    assert_null(s);
    sv_mpi_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(parts_of_collectives),
        cmocka_unit_test(rooted),
        cmocka_unit_test(ping_pong),
        cmocka_unit_test(halos_and_sums),
        cmocka_unit_test(nearly_always),
        cmocka_unit_test(wavefront),
        cmocka_unit_test(stretches_and_steps),
        cmocka_unit_test(levels),
        cmocka_unit_test(published_loops),
        cmocka_unit_test(flows_of_a_phase),
        cmocka_unit_test(anybody),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
