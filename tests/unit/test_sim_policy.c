/*
 * test_sim_policy.c: packets that choose their way (rules 25 to 33 of docs/simulator.md): times
 * that can be written down, what hooks see, what is refused, and that a policy that does nothing
 * changes nothing. tests/oracle has the cases for which there is no formula.
 */
#include "support/simulating.h"

TEST_CONTEXT

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* ---- a policy that does nothing ---- */

static sv_status choose_nothing(void *user, sv_sim_stage *stage, uint64_t now, uint32_t terminal,
                                const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    (void)stage;
    (void)now;
    (void)terminal;
    (void)message;
    assert_int_equal(way->vias, 0);
    assert_int_equal(way->mark, 0);
    assert_true(offset == 0 || offset < message->bytes);
    ++*(uint64_t *)user;
    return SV_OK;
}

static sv_status depart_nothing(void *user, sv_sim_stage *stage, uint64_t now, sv_channel out,
                                uint64_t waited, sv_sim_head *head)
{
    (void)stage;
    (void)now;
    (void)out;
    assert_true(head->waited >= waited);
    ++*(uint64_t *)user;
    return SV_OK;
}

static sv_status deliver_nothing(void *user, sv_sim_stage *stage, uint64_t now, uint32_t terminal,
                                 sv_sim_head *head)
{
    (void)stage;
    (void)terminal;
    assert_true(head->injected < now);
    ++*(uint64_t *)user;
    return SV_OK;
}

static sv_status timer_nothing(void *user, sv_sim_stage *stage, uint64_t now, uint64_t *again)
{
    assert_int_equal(*again, SV_NEVER);
    ++*(uint64_t *)user;
    *again = now + 777777;
    sv_sim_call(stage, now + 555555);
    return SV_OK;
}

static int by_terminal(const void *a, const void *b)
{
    const sv_sim_arrival *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* Everything that was told of a run; c->arrivals are sorted on the way. */
static void same_runs(sim_case *a, sim_case *b)
{
    const sv_sim_result *r = a->result, *s = b->result;
    assert_int_equal(r->end, s->end);
    assert_int_equal(r->time, s->time);
    assert_int_equal(r->packets, s->packets);
    assert_int_equal(r->messages, s->messages);
    assert_int_equal(r->arrived_packets, s->arrived_packets);
    assert_int_equal(r->arrived_messages, s->arrived_messages);
    assert_int_equal(r->packet_hops, s->packet_hops);
    assert_int_equal(r->payload_bytes, s->payload_bytes);
    assert_int_equal(r->num_stuck, s->num_stuck);
    assert_memory_equal(r->latency, s->latency, SV_SIM_BINS * sizeof *r->latency);
    assert_memory_equal(r->terminals, s->terminals, a->f->num_terminals * sizeof *r->terminals);
    assert_memory_equal(r->channels, s->channels, a->f->num_channels * sizeof *r->channels);
    assert_int_equal(a->num_events, b->num_events);
    for (uint32_t i = 0; i < a->num_events; i++) {
        assert_int_equal(a->events[i].time, b->events[i].time);
        assert_int_equal(a->events[i].packet, b->events[i].packet);
        assert_int_equal(a->events[i].channel.i, b->events[i].channel.i);
        assert_int_equal(a->events[i].lane, b->events[i].lane);
    }
    for (uint32_t i = 0; i < a->num_packets; i++)
        if (a->packet_time[i] < r->time)
            assert_int_equal(a->packet_time[i], b->packet_time[i]);
    assert_int_equal(a->num_arrivals, b->num_arrivals);
    qsort(a->arrivals, a->num_arrivals, sizeof *a->arrivals, by_terminal);
    qsort(b->arrivals, b->num_arrivals, sizeof *b->arrivals, by_terminal);
    for (uint32_t i = 0; i < a->num_arrivals; i++)
        assert_memory_equal(&a->arrivals[i], &b->arrivals[i], sizeof *a->arrivals);
}

enum { SENDS = 600 };

/* Messages of all sizes from everybody to everybody, for some microseconds. */
static void draw(sim_send *sends, uint32_t terminals, uint64_t seed)
{
    sv_rng rng;
    sv_rng_init(&rng, seed);
    for (uint32_t i = 0; i < SENDS; i++) {
        uint32_t from = (uint32_t)sv_rng_below(&rng, terminals), to = from;
        while (to == from)
            to = (uint32_t)sv_rng_below(&rng, terminals);
        sends[i] = (sim_send){from, to, (uint32_t)sv_rng_below(&rng, 9000), 20000ull * i};
    }
}

static void a_policy_that_does_nothing_changes_nothing(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"torus:4x4,hosts=2", "mesh:1x3,hosts=3", "dragonfly:a=4,p=2,h=2,g=9",
                                          "torus:5,hosts=2"};
    uint64_t calls[4] = {0};
    const sv_sim_policy nothing = {.segments = 1},
                        chooses = {.user = &calls[0],
                                   .segments = 1,
                                   .by_packet = true,
                                   .choose = choose_nothing},
                        hears = {.user = &calls[1], .segments = 1, .deliver = deliver_nothing},
                        all = {.user = &calls[2],
                               .segments = 2,
                               .by_packet = true,
                               .first = 5,
                               .choose = choose_nothing,
                               .depart = depart_nothing,
                               .deliver = deliver_nothing,
                               .timer = timer_nothing};
    const sv_sim_policy *const policies[] = {&nothing, &chooses, &hears, &all};
    for (uint32_t i = 0; i < LENGTH(fabrics); i++)
        for (uint32_t k = 0; k < 2 * LENGTH(policies); k++) {
            sim_send sends[SENDS];
            sim_case plain = sim_begin(ctx, test_fabric(ctx, fabrics[i])),
                     with = sim_begin(ctx, test_fabric(ctx, fabrics[i]));
            draw(sends, plain.f->num_terminals, 1 + i);
            plain.model.input = 70;
            plain.model.output = 40;
            plain.model.voq = k % 2 == 0;
            plain.model.inband_bytes = k % 2 == 0 ? 0 : 8;
            plain.model.drain = QDR;
            plain.model.open = 1 + k;
            plain.model.speedup = 130;
            plain.control.warm_up = 1000000;
            with.model = plain.model;
            with.control = plain.control;
            with.policy = policies[k / 2];
            sim_run(ctx, &plain, sends, SENDS, 1);
            sim_run(ctx, &with, sends, SENDS, 1);
            same_runs(&plain, &with);
            assert_int_equal(with.result->control_packets, 0);
            assert_int_equal(with.result->detours, 0);
            assert_int_equal(with.result->early, 0);
            plain.control.limit = with.control.limit = plain.result->time / 2;
            sim_run(ctx, &plain, sends, SENDS, 1);
            sim_run(ctx, &with, sends, SENDS, 1);
            same_runs(&plain, &with);
            sim_finish(&plain);
            sim_finish(&with);
        }
    assert_true(calls[0] > 2000 && calls[1] > 2000 && calls[2] > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_does_nothing_changes_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
