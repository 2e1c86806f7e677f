/*
 * test_otf2.c: events of OTF2 archives become those of traces (no library is needed for that), and
 * a real archive is read where there is one, and the library.
 */
#include "support/tracing.h"

#include <sys/stat.h>

#include "traces/otf2.h"

TEST_CONTEXT

enum { WORLD = 10, PAIR = 11, SELF = 12, UNKNOWN = 13 };
enum { SEND = 1, SENDRECV, WAITALL, IRECV, COLLECTIVE, OTHER, TEST };

static sv__otf2 archive(uint64_t resolution)
{
    static const struct {
        const char *name;
        bool mpi;
    } regions[] = {{"MPI_Send", true},    {"MPI_Sendrecv", true}, {"MPI_Waitall", true},
                   {"MPI_Irecv", true},   {"MPI_Bcast", true},    {"main", false},
                   {"MPI_Testsome", true}};
    sv__otf2 o = {.ctx = ctx, .path = "test", .resolution = resolution};
    uint32_t held;
    uint16_t pair;
    const uint32_t ranks[] = {2, 0};
    OK(ctx, sv_mpi_new(ctx, "test", 3, &o.trace));
    OK(ctx, sv_mpi_add_group(o.trace, ranks, 2, 0, &pair));
    sv_map_init(&o.comm_of, ctx);
    sv_map_init(&o.region_of, ctx);
    for (uint32_t i = 0; i < 7; i++) {
        const sv__otf2_region region = {.mpi = regions[i].mpi,
                                        .call = (uint8_t)sv__otf2_call(regions[i].name)};
        OK(ctx, sv_map_add(&o.region_of, SEND + i, i, &held));
        OK(ctx, sv_array_push(ctx, &o.regions, region));
    }
    const sv__otf2_comm comms[] = {
        {.known = true}, {.known = true, .group = pair}, {.self = true}, {.known = false}};
    for (uint32_t i = 0; i < 4; i++) {
        OK(ctx, sv_map_add(&o.comm_of, WORLD + i, i, &held));
        OK(ctx, sv_array_push(ctx, &o.comms, comms[i]));
    }
    return o;
}

static void release(sv__otf2 *o)
{
    sv__otf2_release(o);
    sv_mpi_free(o->trace);
    sv_map_release(&o->comm_of);
    sv_map_release(&o->region_of);
    sv_array_release(ctx, &o->regions);
    sv_array_release(ctx, &o->comms);
}

static void assert_event(const sv__otf2 *o, uint32_t rank, uint64_t i, sv_mpi_event wanted)
{
    assert_true(i < o->trace->ranks[rank].length);
    assert_true(trace_event_same(o->trace, &wanted, o->trace, &o->trace->ranks[rank].events[i]));
}

static void time_between_calls_is_computing(void **state)
{
    (void)state;
    sv__otf2 o = archive(3000000000u);
    OK(ctx, sv__otf2_begin(&o, 1));
    OK(ctx, sv__otf2_enter(&o, 1000, OTHER));
    OK(ctx, sv__otf2_enter(&o, 7000, SEND)); /* the first call: what was before does not count */
    OK(ctx, sv__otf2_enter(&o, 7001, SEND)); /* within it */
    OK(ctx, sv__otf2_leave(&o, 7002, SEND));
    OK(ctx, sv__otf2_leave(&o, 8000, SEND));
    OK(ctx, sv__otf2_leave(&o, 9000, OTHER));
    OK(ctx, sv__otf2_enter(&o, 11000, SEND)); /* 1000 ns; a call without events */
    OK(ctx, sv__otf2_leave(&o, 11500, SEND));
    OK(ctx, sv__otf2_enter(&o, 13002, SEND)); /* 501 ns */
    OK(ctx, sv__otf2_send(&o, &(sv__otf2_message){2, WORLD, 7, 99}));
    OK(ctx, sv__otf2_leave(&o, 20000, SEND));
    OK(ctx, sv__otf2_leave(&o, 90000, OTHER));
    OK(ctx, sv__otf2_end(&o));
    assert_int_equal(o.trace->ranks[1].length, 2);
    assert_event(&o, 1, 0, (sv_mpi_event){.kind = SV_MPI_COMPUTE, .amount = 1501});
    assert_event(&o, 1, 1,
                 (sv_mpi_event){
                     .kind = SV_MPI_SEND, .call = SV_CALL_SEND, .peer = 2, .tag = 7, .amount = 99});
    assert_int_equal(o.handled, 12);
    release(&o);
}

static void requests_are_filled_in_when_they_end(void **state)
{
    (void)state;
    sv__otf2 o = archive(1000000000);
    OK(ctx, sv__otf2_begin(&o, 0));
    OK(ctx, sv__otf2_enter(&o, 0, IRECV));
    OK(ctx, sv__otf2_irecv(&o, 1001));
    OK(ctx, sv__otf2_leave(&o, 0, IRECV));
    OK(ctx, sv__otf2_irecv(&o, 1002)); /* never ends */
    OK(ctx, sv__otf2_isend(&o, &(sv__otf2_message){0, PAIR, 3, 50}, 1003));
    OK(ctx, sv__otf2_isend(&o, &(sv__otf2_message){0, SELF, 4, 60}, 1004)); /* nobody waits */
    OK(ctx, sv__otf2_enter(&o, 0, WAITALL));
    OK(ctx, sv__otf2_complete(&o, 1003, NULL));
    OK(ctx, sv__otf2_complete(&o, 1001, &(sv__otf2_message){1, WORLD, 5, 70}));
    OK(ctx, sv__otf2_leave(&o, 0, WAITALL));
    OK(ctx, sv__otf2_irecv(&o, 1001)); /* the number may come again */
    OK(ctx, sv__otf2_enter(&o, 0, TEST));
    OK(ctx, sv__otf2_complete(&o, 1001, &(sv__otf2_message){0, SELF, 4, 60}));
    OK(ctx, sv__otf2_leave(&o, 0, TEST));
    OK(ctx, sv__otf2_end(&o));
    assert_int_equal(o.lost, 1);
    uint16_t self;
    const uint32_t me = 0;
    OK(ctx, sv_mpi_add_group(o.trace, &me, 1, 0, &self));
    const sv_mpi_event wanted[] = {
        {.kind = SV_MPI_IRECV, .call = SV_CALL_IRECV, .peer = 1, .tag = 5, .amount = 70},
        {.kind = SV_MPI_ISEND, .peer = 2, .tag = 3, .amount = 50, .group = 1, .request = 2},
        {.kind = SV_MPI_ISEND, .peer = 0, .tag = 4, .amount = 60, .group = self, .request = 3},
        {.kind = SV_MPI_WAIT, .call = SV_CALL_WAITALL, .request = 2},
        {.kind = SV_MPI_WAIT, .request = 0},
        {.kind = SV_MPI_IRECV, .peer = 0, .tag = 4, .amount = 60, .group = self},
        {.kind = SV_MPI_WAIT, .call = SV_CALL_TEST, .request = 0},
        {.kind = SV_MPI_WAIT, .request = 3},
    };
    assert_int_equal(o.trace->ranks[0].length, 8);
    for (uint64_t i = 0; i < 8; i++)
        assert_event(&o, 0, i, wanted[i]);
    FAILS(ctx, sv__otf2_complete(&o, 1001, NULL), SV_BAD_INPUT, "ends that has not begun");
    FAILS(ctx, sv__otf2_send(&o, &(sv__otf2_message){3, WORLD, 0, 0}), SV_BAD_INPUT,
          "a peer that is not in the communicator");
    FAILS(ctx, sv__otf2_send(&o, &(sv__otf2_message){0, UNKNOWN, 0, 0}), SV_BAD_INPUT,
          "a peer that is not in the communicator");
    FAILS(ctx, sv__otf2_send(&o, &(sv__otf2_message){0, 99, 0, 0}), SV_BAD_INPUT,
          "a communicator that is not defined");
    OK(ctx, sv__otf2_irecv(&o, 5));
    FAILS(ctx, sv__otf2_irecv(&o, 5), SV_BAD_INPUT, "a request begins that has not ended");
    FAILS(ctx, sv__otf2_complete(&o, 5, NULL), SV_BAD_INPUT, "ends as what it is not");
    release(&o);
}

static void sendrecv_waits_for_both(void **state)
{
    (void)state;
    sv__otf2 o = archive(1000000000);
    OK(ctx, sv__otf2_begin(&o, 2));
    OK(ctx, sv__otf2_enter(&o, 0, SENDRECV));
    OK(ctx, sv__otf2_send(&o, &(sv__otf2_message){1, WORLD, 3, 50}));
    OK(ctx, sv__otf2_receive(&o, &(sv__otf2_message){0, WORLD, 4, 60}));
    OK(ctx, sv__otf2_leave(&o, 9, SENDRECV));
    OK(ctx, sv__otf2_end(&o));
    const sv_mpi_event wanted[] = {
        {.kind = SV_MPI_ISEND, .call = SV_CALL_SENDRECV, .peer = 1, .tag = 3, .amount = 50},
        {.kind = SV_MPI_IRECV, .peer = 0, .tag = 4, .amount = 60, .request = 1},
        {.kind = SV_MPI_WAIT, .request = 0},
        {.kind = SV_MPI_WAIT, .request = 1},
    };
    assert_int_equal(o.trace->ranks[2].length, 4);
    for (uint64_t i = 0; i < 4; i++)
        assert_event(&o, 2, i, wanted[i]);
    release(&o);
}

/* Sums as Score-P writes them, and what a rank gives. */
static void collectives_have_one_size(void **state)
{
    (void)state;
    static const struct {
        unsigned call;
        uint64_t sent[3], received[3], amount, uneven;
    } cases[] = {
        {SV_CALL_BARRIER, {0}, {0}, 0, 0},
        {SV_CALL_BCAST, {0, 300, 0}, {100, 100, 100}, 100, 0},
        {SV_CALL_SCATTER, {0, 300, 0}, {100, 100, 100}, 100, 0},
        {SV_CALL_GATHER, {100, 100, 100}, {0, 300, 0}, 100, 0},
        {SV_CALL_REDUCE, {100, 100, 100}, {0, 300, 0}, 100, 0},
        {SV_CALL_ALLREDUCE, {24, 24, 24}, {24, 24, 24}, 8, 0},
        {SV_CALL_ALLREDUCE, {16, 16, 16}, {16, 16, 16}, 8, 0}, /* in place */
        {SV_CALL_ALLTOALL, {300, 300, 300}, {300, 300, 300}, 100, 0},
        {SV_CALL_ALLTOALL, {300, 30, 60}, {90, 270, 30}, 100, 2},
        {SV_CALL_REDUCE_SCATTER, {300, 300, 300}, {300, 300, 300}, 300, 0},
        {SV_CALL_SCAN, {300, 200, 100}, {100, 200, 300}, 100, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv__otf2 o = archive(1);
        for (uint32_t rank = 0; rank < 3; rank++) {
            OK(ctx, sv__otf2_begin(&o, rank));
            const sv__otf2_coll c = {cases[i].call, WORLD, 1, cases[i].sent[rank],
                                     cases[i].received[rank]};
            OK(ctx, sv__otf2_collective(&o, &c));
            OK(ctx, sv__otf2_collective(&o, &(sv__otf2_coll){SV_CALL_NONE, WORLD, 1, 0, 0}));
            OK(ctx, sv__otf2_end(&o));
        }
        OK(ctx, sv__otf2_even_out(&o));
        OK(ctx, sv_mpi_check(ctx, o.trace));
        for (uint32_t rank = 0; rank < 3; rank++) {
            assert_int_equal(o.trace->ranks[rank].length, 1);
            assert_int_equal(o.trace->ranks[rank].events[0].call, cases[i].call);
            assert_int_equal(o.trace->ranks[rank].events[0].amount, cases[i].amount);
        }
        assert_int_equal(o.uneven, cases[i].uneven);
        assert_int_equal(o.lost, 3);
        release(&o);
    }
}

/* Where they began; which they were is known when they end. */
static void begun_collectives_are_filled_in_when_they_end(void **state)
{
    (void)state;
    sv__otf2 o = archive(1);
    const sv__otf2_coll none = {SV_CALL_NONE, WORLD, 0, 0, 0};
    const sv__otf2_coll sum = {SV_CALL_ALLREDUCE, WORLD, 0, 24, 24};
    for (uint32_t rank = 0; rank < 3; rank++) {
        const sv__otf2_coll bcast = {SV_CALL_BCAST, WORLD, 1, rank == 1 ? 300 : 0, 100};
        OK(ctx, sv__otf2_begin(&o, rank));
        OK(ctx, sv__otf2_collective_begin(&o, 5));
        OK(ctx, sv__otf2_collective_begin(&o, 6)); /* a communicator is made */
        OK(ctx, sv__otf2_collective_begin(&o, 7));
        OK(ctx, sv__otf2_collective_begin(&o, 8)); /* never ends */
        OK(ctx, sv__otf2_enter(&o, 0, WAITALL));
        OK(ctx, sv__otf2_collective_end(&o, 7, &sum));
        OK(ctx, sv__otf2_collective_end(&o, 6, &none));
        OK(ctx, sv__otf2_collective_end(&o, 5, &bcast));
        FAILS(ctx, sv__otf2_collective_end(&o, 5, &sum), SV_BAD_INPUT, "that has not begun");
        FAILS(ctx, sv__otf2_complete(&o, 8, NULL), SV_BAD_INPUT, "ends as what it is not");
        OK(ctx, sv__otf2_leave(&o, 0, WAITALL));
        OK(ctx, sv__otf2_end(&o));
    }
    OK(ctx, sv__otf2_even_out(&o));
    OK(ctx, sv_mpi_check(ctx, o.trace));
    const sv_mpi_event wanted[] = {
        {.kind = SV_MPI_ICOLLECTIVE, .call = SV_CALL_BCAST, .peer = 1, .amount = 100},
        {.kind = SV_MPI_ICOLLECTIVE, .call = SV_CALL_ALLREDUCE, .amount = 8, .request = 2},
        {.kind = SV_MPI_WAIT, .call = SV_CALL_WAITALL, .request = 2},
        {.kind = SV_MPI_WAIT, .request = 0},
    };
    for (uint32_t rank = 0; rank < 3; rank++) {
        assert_int_equal(o.trace->ranks[rank].length, 4);
        for (uint64_t i = 0; i < 4; i++)
            assert_event(&o, rank, i, wanted[i]);
    }
    assert_int_equal(o.lost, 6);
    release(&o);
}

static void a_real_archive_is_read(void **state)
{
    (void)state;
    const char *source = getenv("SELVAGE_SOURCE");
    char path[1000];
    struct stat about;
    snprintf(path, sizeof path, "%s/../shared/fabrics/traces/otf-stencil4d-64/traces.otf2",
             source == NULL ? "." : source);
    if (stat(path, &about) != 0 || strstr(sv_features(), "otf2") == NULL) {
        print_message("skipped: the real archive, or the library, is not there\n");
        skip();
    }
    sv_mpi_trace *t = NULL;
    OK(ctx, sv_mpi_load(ctx, path, &t));
    OK(ctx, sv_mpi_check(ctx, t));
    assert_int_equal(t->num_ranks, 64);
    uint64_t kinds[SV_MPI_KINDS] = {0}, calls[SV_CALL_COUNT] = {0};
    for (uint32_t rank = 0; rank < 64; rank++)
        for (uint64_t i = 0; i < t->ranks[rank].length; i++) {
            kinds[t->ranks[rank].events[i].kind]++;
            calls[t->ranks[rank].events[i].call]++;
        }
    /* Two times a message to eight neighbours, with receives that one call waits for. */
    assert_int_equal(kinds[SV_MPI_SEND], 64 * 16);
    assert_int_equal(kinds[SV_MPI_IRECV], 64 * 16);
    assert_int_equal(kinds[SV_MPI_WAIT], 64 * 16);
    assert_int_equal(kinds[SV_MPI_COLLECTIVE], 64 * 3);
    assert_int_equal(calls[SV_CALL_SEND], 64 * 16);
    assert_int_equal(calls[SV_CALL_IRECV], 64 * 16);
    assert_int_equal(calls[SV_CALL_WAITALL], 64 * 2);
    assert_int_equal(calls[SV_CALL_BARRIER], 64 * 3);
    assert_true(kinds[SV_MPI_COMPUTE] > 64 * 16);
    sv_mpi_free(t);
}

static void a_broken_archive_is_refused_in_one_line(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-otf2-XXXXXX";
    int file = mkstemp(path);
    FILE *stream = fdopen(file, "w");
    fwrite("\3BOTF2\0\3\2\2", 1, 10, stream);
    fclose(stream);
    sv_mpi_trace *t = NULL;
    sv_status status = sv_mpi_load(ctx, path, &t);
    assert_true(status == SV_BAD_INPUT || status == SV_UNSUPPORTED);
    assert_non_null(strstr(sv_ctx_message(ctx), path));
    assert_null(strchr(sv_ctx_message(ctx), '\n'));
    assert_null(t);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_between_calls_is_computing),
        cmocka_unit_test(requests_are_filled_in_when_they_end),
        cmocka_unit_test(sendrecv_waits_for_both),
        cmocka_unit_test(collectives_have_one_size),
        cmocka_unit_test(begun_collectives_are_filled_in_when_they_end),
        cmocka_unit_test(a_real_archive_is_read),
        cmocka_unit_test(a_broken_archive_is_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
