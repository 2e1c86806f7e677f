/*
 * test_mpi_replay.c: replaying small traces, with times by hand (docs/traces.md has the rules): a
 * packet that nobody stands in the way of takes what sim_alone says.
 */
#include "support/simulating.h"
#include "support/tracing.h"
#include "support/trials.h"

TEST_CONTEXT

#define NS UINT64_C(1800)

/* A star of hosts, a trace, and how it ended. */
struct stage {
    sim_case c;
    sv_mpi_trace *t;
    sv_mpi_replay_result end;
};

static struct stage stage_of(uint32_t hosts, uint32_t ranks)
{
    struct stage s = {.c = sim_begin(ctx, sim_star(ctx, hosts, SV_SPEED_QDR))};
    OK(ctx, sv_mpi_new(ctx, "test", ranks, &s.t));
    return s;
}

static void finish(struct stage *s)
{
    sv_mpi_free(s->t);
    sim_finish(&s->c);
}

static void replay(struct stage *s, sv_mpi_replay_request request)
{
    sv_mpi_replay *replay = NULL;
    request.model = &s->c.model;
    OK(ctx, sv_mpi_replay_new(ctx, s->c.f, s->c.r, s->t, &request, &replay));
    const sv_sim_setup setup = {s->c.model, s->c.control, sv_mpi_replay_source(replay)};
    sv_sim_free(s->c.result);
    s->c.result = NULL;
    OK(ctx, sv_simulate(ctx, s->c.f, s->c.r, &setup, &s->c.result));
    s->end = sv_mpi_replay_end(replay);
    assert_int_equal(s->end.status, SV_OK);
    sv_mpi_replay_free(replay);
}

static void put(struct stage *s, uint32_t rank, sv_mpi_event event)
{
    OK(ctx, sv_mpi_add(s->t, rank, &event));
}

#define SENDS(peer_, bytes_)                                                                       \
    (sv_mpi_event)                                                                                 \
    {                                                                                              \
        .kind = SV_MPI_SEND, .call = SV_CALL_SEND, .peer = (peer_), .amount = (bytes_)             \
    }
#define RECEIVES(peer_)                                                                            \
    (sv_mpi_event)                                                                                 \
    {                                                                                              \
        .kind = SV_MPI_RECV, .call = SV_CALL_RECV, .peer = (peer_)                                 \
    }
#define COMPUTES(ns_)                                                                              \
    (sv_mpi_event)                                                                                 \
    {                                                                                              \
        .kind = SV_MPI_COMPUTE, .amount = (ns_)                                                    \
    }
#define WAITS(request_)                                                                            \
    (sv_mpi_event)                                                                                 \
    {                                                                                              \
        .kind = SV_MPI_WAIT, .call = SV_CALL_WAIT, .request = (request_)                           \
    }
#define LATER(kind_, peer_, bytes_, request_)                                                      \
    (sv_mpi_event)                                                                                 \
    {                                                                                              \
        .kind = (kind_), .peer = (peer_), .amount = (bytes_), .request = (request_)                \
    }

/* Ticks from handing over to arrival, of one packet alone on a star. */
static uint64_t flight(const struct stage *s, uint64_t bytes)
{
    const uint64_t tau[] = {QDR, QDR};
    return sim_alone(&s->c.model, bytes + s->c.model.header_bytes, tau, 2);
}

static void one_message_takes_its_flight(void **state)
{
    (void)state;
    struct stage s = stage_of(2, 2);
    put(&s, 0, COMPUTES(100));
    put(&s, 0, SENDS(1, 50));
    put(&s, 1, RECEIVES(0));
    put(&s, 1, COMPUTES(7));
    replay(&s, (sv_mpi_replay_request){0});
    assert_true(s.end.done);
    assert_int_equal(s.end.time, 107 * NS + flight(&s, 50));
    assert_int_equal(s.end.waiting, 100 * NS + flight(&s, 50));
    assert_int_equal(s.end.blocked, SV_NONE);
    replay(&s, (sv_mpi_replay_request){.compute = 0.5, .repeat = 3});
    assert_int_equal(s.end.time, 150 * NS + flight(&s, 50) + 7 * NS / 2);
    assert_int_equal(s.c.result->messages, 3);
    finish(&s);
}

/* Above the limit: ask, answer when the receive is there, data. */
static void large_messages_ask_first(void **state)
{
    (void)state;
    struct stage s = stage_of(2, 2);
    put(&s, 0, SENDS(1, 500));
    put(&s, 0, COMPUTES(5000));
    put(&s, 1, COMPUTES(1000));
    put(&s, 1, RECEIVES(0));
    replay(&s, (sv_mpi_replay_request){.eager_bytes = 499});
    assert_true(flight(&s, 0) < 1000 * NS && flight(&s, 500) < 5000 * NS);
    assert_int_equal(s.end.time, 6000 * NS + flight(&s, 0));
    assert_int_equal(s.end.waiting, 1000 * NS + 2 * flight(&s, 0) + flight(&s, 500));
    assert_int_equal(s.c.result->messages, 3);
    assert_int_equal(s.c.result->payload_bytes, 500);
    replay(&s, (sv_mpi_replay_request){.eager_bytes = 500});
    assert_int_equal(s.end.time, 5000 * NS);
    assert_int_equal(s.end.waiting, 0);
    assert_int_equal(s.c.result->messages, 1);
    finish(&s);
}

/* The answer comes while the rank computes, and what it sends after that is known already. */
static void data_does_not_wait_for_what_is_sent_later(void **state)
{
    (void)state;
    struct stage s = stage_of(3, 3);
    put(&s, 0, LATER(SV_MPI_ISEND, 1, 500, 0));
    put(&s, 0, COMPUTES(10000));
    put(&s, 0, SENDS(2, 10));
    put(&s, 0, WAITS(0));
    put(&s, 1, RECEIVES(0));
    put(&s, 2, RECEIVES(0));
    replay(&s, (sv_mpi_replay_request){.eager_bytes = 100});
    assert_int_equal(s.end.time, 10000 * NS + flight(&s, 10));
    assert_int_equal(s.end.waiting,
                     2 * flight(&s, 0) + flight(&s, 500) + 10000 * NS + flight(&s, 10));
    finish(&s);
}

static void ranks_of_one_terminal_do_not_hold_each_other_up(void **state)
{
    (void)state;
    struct stage s = stage_of(2, 3);
    const sv_node map[] = {{1}, {1}, {2}};
    put(&s, 0, COMPUTES(10000));
    put(&s, 0, SENDS(2, 10));
    put(&s, 1, RECEIVES(2));
    put(&s, 1, SENDS(2, 20));
    put(&s, 2, SENDS(1, 30));
    put(&s, 2, RECEIVES(1));
    put(&s, 2, RECEIVES(0));
    replay(&s, (sv_mpi_replay_request){.map = map, .num_map = 3});
    assert_true(s.end.done);
    assert_int_equal(s.end.time, 10000 * NS + flight(&s, 10));
    /* Rank 1 for the flight; rank 2 in all but no time. */
    assert_int_equal(s.end.waiting, flight(&s, 30) + 10000 * NS + flight(&s, 10));
    assert_int_equal(s.c.result->total_max, flight(&s, 30));
    finish(&s);
}

static void messages_on_one_terminal_take_no_time(void **state)
{
    (void)state;
    struct stage s = stage_of(2, 2);
    const sv_node map[] = {{1}, {1}};
    put(&s, 0, COMPUTES(50));
    put(&s, 0, SENDS(1, 500));
    put(&s, 0, RECEIVES(1));
    put(&s, 1, RECEIVES(0));
    put(&s, 1, COMPUTES(1));
    put(&s, 1, SENDS(0, 1000));
    put(&s, 1, LATER(SV_MPI_ISEND, 1, 1000, 0)); /* to itself */
    put(&s, 1, RECEIVES(1));
    put(&s, 1, WAITS(0));
    for (uint32_t eager = 0; eager < 1000; eager += 600) {
        replay(&s, (sv_mpi_replay_request){.map = map, .num_map = 2, .eager_bytes = eager});
        assert_true(s.end.done);
        assert_int_equal(s.end.time, 51 * NS);
        assert_int_equal(s.end.waiting, 51 * NS);
        assert_int_equal(s.c.result->messages, 0);
    }
    finish(&s);
}

/* Both send first: as long as messages are small that works. */
static void who_waits_for_ever_is_told(void **state)
{
    (void)state;
    struct stage s = stage_of(3, 3);
    put(&s, 0, COMPUTES(3));
    put(&s, 1, COMPUTES(3));
    put(&s, 2, COMPUTES(3));
    put(&s, 1, SENDS(2, 1000));
    put(&s, 1, RECEIVES(2));
    put(&s, 2, SENDS(1, 1000));
    put(&s, 2, RECEIVES(1));
    replay(&s, (sv_mpi_replay_request){.eager_bytes = 999});
    assert_false(s.end.done);
    assert_int_equal(s.end.blocked, 1);
    assert_int_equal(s.end.blocked_at, 1);
    assert_int_equal(s.end.time, 3 * NS);
    assert_int_equal(s.c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(s.c.result->messages, 2); /* both ask */
    replay(&s, (sv_mpi_replay_request){.eager_bytes = 1000});
    assert_true(s.end.done);
    assert_int_equal(s.end.time, 3 * NS + flight(&s, 1000));
    finish(&s);
}

/* By sender, tag and group, in order; who takes any takes the first. */
static void receives_get_what_they_want(void **state)
{
    (void)state;
    struct stage s = stage_of(3, 3);
    const uint32_t all[] = {0, 1, 2};
    uint16_t other;
    OK(ctx, sv_mpi_add_group(s.t, all, 3, 1, &other));
    assert_int_equal(other, 1);
    sv_mpi_event send = SENDS(0, 10), receive = RECEIVES(SV_MPI_ANY);
    put(&s, 1, send);           /* tag 0 at 0 */
    put(&s, 1, COMPUTES(1000)); /* at 1000: tag 5 */
    send.tag = 5;
    put(&s, 1, send);
    put(&s, 1, COMPUTES(1000)); /* at 2000: tag 0 in the other group */
    send.tag = 0;
    send.group = other;
    put(&s, 1, send);
    put(&s, 2, COMPUTES(3000)); /* at 3000: tag 0 */
    send.group = 0;
    put(&s, 2, send);
    receive.group = other;
    put(&s, 0, receive); /* until 2000 */
    receive.group = 0;
    receive.tag = SV_MPI_ANY;
    put(&s, 0, receive); /* has tag 0 of rank 1 */
    receive.tag = 0;
    put(&s, 0, receive); /* until 3000 */
    put(&s, 0, COMPUTES(500));
    receive.peer = 1;
    receive.tag = 5;
    put(&s, 0, receive);
    replay(&s, (sv_mpi_replay_request){0});
    assert_true(s.end.done);
    assert_int_equal(s.end.waiting, 3000 * NS + flight(&s, 10));
    assert_int_equal(s.end.time, 3500 * NS + flight(&s, 10));
    finish(&s);
}

/* Both are there when anybody's is wanted: the first goes first, or the named one finds nothing. */
static void who_takes_any_takes_the_first(void **state)
{
    (void)state;
    for (uint32_t first = 1; first <= 2; first++) {
        struct stage s = stage_of(3, 3);
        put(&s, 3 - first, COMPUTES(1000));
        put(&s, 1, SENDS(0, 10));
        put(&s, 2, SENDS(0, 10));
        put(&s, 0, COMPUTES(5000));
        put(&s, 0, RECEIVES(SV_MPI_ANY));
        put(&s, 0, RECEIVES(3 - first));
        replay(&s, (sv_mpi_replay_request){0});
        assert_true(s.end.done);
        assert_int_equal(s.end.time, 5000 * NS);
        finish(&s);
    }
}

/* Tags out of order, early and late, and one more after the last was taken. */
static void tags_may_be_out_of_order(void **state)
{
    (void)state;
    static const uint32_t wanted[] = {3, 1, 4, 2, 0};
    for (uint64_t late = 0; late < 2; late++) {
        struct stage s = stage_of(2, 2);
        put(&s, 1, COMPUTES(late * 900));
        for (uint32_t tag = 0; tag < 5; tag++) {
            sv_mpi_event send = SENDS(1, 10), receive = RECEIVES(0);
            send.tag = tag;
            receive.tag = wanted[tag];
            put(&s, 0, COMPUTES(tag == 4 ? 3000 : 0));
            put(&s, 0, send);
            put(&s, 1, receive);
        }
        replay(&s, (sv_mpi_replay_request){0});
        assert_true(s.end.done);
        assert_int_equal(s.end.time, 3000 * NS + flight(&s, 10));
        finish(&s);
    }
}

static void collectives_are_their_messages(void **state)
{
    (void)state;
    struct stage s = stage_of(4, 4);
    const sv_mpi_event bcast = {
        .kind = SV_MPI_COLLECTIVE, .call = SV_CALL_BCAST, .peer = 1, .amount = 600};
    for (uint32_t rank = 0; rank < 4; rank++)
        put(&s, rank, bcast);
    /* Root 1: to 3 first, then to 2, whose packet waits for the link; 3 sends to 0. */
    replay(&s, (sv_mpi_replay_request){0});
    uint64_t link = (600 + s.c.model.header_bytes) * QDR;
    assert_int_equal(s.c.result->messages, 3);
    assert_int_equal(s.end.time, 2 * flight(&s, 600));
    assert_int_equal(s.end.waiting, 4 * flight(&s, 600) + link);
    /* With asking a step goes on when the answer is there. */
    replay(&s, (sv_mpi_replay_request){.eager_bytes = 10});
    assert_int_equal(s.c.result->messages, 9);
    assert_true(s.end.done);
    finish(&s);
}

/* All calls, sizes above and below the limit, in a group and in all: nobody waits for ever. */
static void collectives_end(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 9; n++) {
        struct stage s = stage_of(9, 9);
        uint16_t group;
        uint32_t all[9];
        for (uint32_t i = 0; i < n; i++)
            all[i] = (i * 2 + 1) % 9;
        OK(ctx, sv_mpi_add_group(s.t, all, n, 0, &group));
        for (uint8_t call = SV_CALL_BARRIER; call < SV_CALL_COUNT; call++)
            for (uint64_t bytes = 10; bytes < 100000; bytes *= 100)
                for (uint32_t i = 0; i < n; i++)
                    put(&s, all[i],
                        (sv_mpi_event){.kind = SV_MPI_COLLECTIVE,
                                       .call = call,
                                       .peer = all[n / 2],
                                       .amount = call == SV_CALL_BARRIER ? 0 : bytes,
                                       .group = group});
        for (uint32_t eager = 0; eager < 3000; eager += 1000) {
            replay(&s, (sv_mpi_replay_request){.eager_bytes = eager, .repeat = 2});
            assert_true(s.end.done);
        }
        finish(&s);
    }
}

#define BEGINS(call_, bytes_, request_)                                                            \
    (sv_mpi_event)                                                                                 \
    {                                                                                              \
        .kind = SV_MPI_ICOLLECTIVE, .call = (call_), .amount = (bytes_), .request = (request_)     \
    }

/* One waits first and sends then, the other receives first and waits then. */
static void waiting_for_a_collective_holds_nobody_up(void **state)
{
    (void)state;
    struct stage s = stage_of(2, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        put(&s, rank, BEGINS(SV_CALL_ALLREDUCE, 8, 0));
    put(&s, 0, WAITS(0));
    put(&s, 0, SENDS(1, 50));
    put(&s, 1, RECEIVES(0));
    put(&s, 1, WAITS(0));
    for (uint32_t repeat = 1; repeat < 3; repeat++) {
        replay(&s, (sv_mpi_replay_request){.repeat = repeat});
        assert_true(s.end.done);
        assert_int_equal(s.end.time, repeat * (flight(&s, 8) + flight(&s, 50)));
    }
    replay(&s, (sv_mpi_replay_request){.eager_bytes = 1}); /* 3 flights each */
    assert_true(s.end.done);
    assert_int_equal(s.end.time, 4 * flight(&s, 0) + flight(&s, 8) + flight(&s, 50));
    finish(&s);
}

/* A tree: from 0 to 2 and 1, from 2 to 3, while all compute. */
static void collectives_go_on_while_ranks_compute(void **state)
{
    (void)state;
    struct stage s = stage_of(4, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        put(&s, rank, BEGINS(SV_CALL_BCAST, 600, 0));
        put(&s, rank, COMPUTES(rank < 3 ? 100000 : 0));
        put(&s, rank, WAITS(0));
    }
    replay(&s, (sv_mpi_replay_request){0});
    assert_true(s.end.done && 2 * flight(&s, 600) < 100000 * NS);
    assert_int_equal(s.end.time, 100000 * NS);
    assert_int_equal(s.end.waiting, 2 * flight(&s, 600)); /* of rank 3 */
    finish(&s);
}

/* Two of a group at once: the second may be over before the first. */
static void collectives_pass_each_other(void **state)
{
    (void)state;
    struct stage s = stage_of(3, 3);
    put(&s, 2, COMPUTES(1000));
    for (uint32_t rank = 0; rank < 3; rank++) {
        put(&s, rank, BEGINS(SV_CALL_BCAST, 600, 0));
        s.t->ranks[rank].events[s.t->ranks[rank].length - 1].peer = 2;
        put(&s, rank, BEGINS(SV_CALL_BCAST, 50, 1));
        put(&s, rank, WAITS(1));
        put(&s, rank, COMPUTES(rank == 1 ? 500 : 0));
        put(&s, rank, WAITS(0));
    }
    replay(&s, (sv_mpi_replay_request){0});
    assert_true(s.end.done);
    /* 2 sends 600 bytes to 0 and to 1, by 1000 ns; 0 sent 50 to 1 at 0, who went on then. */
    uint64_t link = (600 + s.c.model.header_bytes) * QDR;
    assert_int_equal(s.end.time, 1000 * NS + flight(&s, 600) + link);
    assert_int_equal(s.c.result->messages, 4);
    finish(&s);
}

static void who_never_begins_is_waited_for(void **state)
{
    (void)state;
    struct stage s = stage_of(2, 2);
    put(&s, 0, BEGINS(SV_CALL_BARRIER, 0, 0));
    put(&s, 0, WAITS(0));
    put(&s, 0, SENDS(1, 10));
    put(&s, 1, RECEIVES(0));
    put(&s, 1, BEGINS(SV_CALL_BARRIER, 0, 0));
    put(&s, 1, WAITS(0));
    replay(&s, (sv_mpi_replay_request){0});
    assert_false(s.end.done);
    assert_int_equal(s.end.blocked, 0);
    assert_int_equal(s.end.blocked_at, 1);
    finish(&s);
}

static void ranks_are_mapped(void **state)
{
    (void)state;
    struct stage s = stage_of(3, 4);
    sv_mpi_replay *replay_of = NULL;
    sv_node map[] = {{1}, {1}, {2}, {0}};
    sv_mpi_replay_request request = {.model = &s.c.model};
    FAILS(ctx, sv_mpi_replay_new(ctx, s.c.f, s.c.r, s.t, &request, &replay_of), SV_INFEASIBLE,
          "4 ranks, but 3 terminals that compute");
    request.map = map;
    request.num_map = 3;
    FAILS(ctx, sv_mpi_replay_new(ctx, s.c.f, s.c.r, s.t, &request, &replay_of), SV_BAD_INPUT,
          "the map has 3 ranks, the trace 4");
    request.num_map = 4;
    FAILS(ctx, sv_mpi_replay_new(ctx, s.c.f, s.c.r, s.t, &request, &replay_of), SV_BAD_INPUT,
          "rank 3 of the map is on no host on a switch");
    put(&s, 0, SENDS(1, UINT64_C(1) << 32));
    put(&s, 1, RECEIVES(0));
    map[3] = (sv_node){2};
    FAILS(ctx, sv_mpi_replay_new(ctx, s.c.f, s.c.r, s.t, &request, &replay_of), SV_UNSUPPORTED,
          "rank 0, event 0: messages of 4 GiB or more");
    put(&s, 1, WAITS(0));
    FAILS(ctx, sv_mpi_replay_new(ctx, s.c.f, s.c.r, s.t, &request, &replay_of), SV_BAD_INPUT,
          "rank 1, event 1");
    assert_null(replay_of);
    finish(&s);
}

/* Drawn by seed: all places are taken by somebody, the same seed gives the same. */
static void ranks_can_be_anywhere(void **state)
{
    (void)state;
    uint64_t seen = 0;
    for (uint64_t seed = 0; seed < test_times(200); seed++) {
        struct stage s = stage_of(5, 2);
        put(&s, 0, SENDS(1, 10));
        put(&s, 1, RECEIVES(0));
        uint32_t from[2];
        for (int k = 0; k < 2; k++) {
            replay(&s, (sv_mpi_replay_request){.random = true, .seed = seed});
            for (uint32_t t = 0; t < 5; t++)
                from[k] = s.c.result->terminals[t].sent_bytes > 0 ? t : from[k];
        }
        assert_int_equal(from[0], from[1]);
        seen |= UINT64_C(1) << from[0];
        finish(&s);
    }
    assert_true(seen == 31 || !test_enough());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_message_takes_its_flight),
        cmocka_unit_test(large_messages_ask_first),
        cmocka_unit_test(data_does_not_wait_for_what_is_sent_later),
        cmocka_unit_test(ranks_of_one_terminal_do_not_hold_each_other_up),
        cmocka_unit_test(messages_on_one_terminal_take_no_time),
        cmocka_unit_test(who_waits_for_ever_is_told),
        cmocka_unit_test(receives_get_what_they_want),
        cmocka_unit_test(who_takes_any_takes_the_first),
        cmocka_unit_test(tags_may_be_out_of_order),
        cmocka_unit_test(collectives_are_their_messages),
        cmocka_unit_test(collectives_end),
        cmocka_unit_test(waiting_for_a_collective_holds_nobody_up),
        cmocka_unit_test(collectives_go_on_while_ranks_compute),
        cmocka_unit_test(collectives_pass_each_other),
        cmocka_unit_test(who_never_begins_is_waited_for),
        cmocka_unit_test(ranks_are_mapped),
        cmocka_unit_test(ranks_can_be_anywhere),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
