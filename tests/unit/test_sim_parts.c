/*
 * test_sim_parts.c: the simulator on several threads says what it says on one: every terminal's and
 * channel's numbers, latencies, timeline, deadlocks and when they were found.
 */
#include "base/rng.h"
#include "support/testing.h"

TEST_CONTEXT

struct drawn {
    const sv_fabric *f;
    const sv_routes *r;
    uint32_t left[512];
    sv_rng rng[512];
};

static bool next_message(void *user, uint32_t t, sv_sim_message *message)
{
    struct drawn *d = user;
    uint32_t to = t;
    if (d->left[t] == 0)
        return false;
    d->left[t]--;
    while (to == t)
        to = (uint32_t)sv_rng_below(&d->rng[t], d->f->num_terminals);
    *message = (sv_sim_message){.ready = message->ready + sv_rng_below(&d->rng[t], 2000000),
                                .destination = d->r->first[d->f->num_switches + to],
                                .bytes = (uint32_t)sv_rng_below(&d->rng[t], 5000)};
    return true;
}

static sv_sim_result *run(struct drawn *d, sv_sim_setup setup, uint32_t messages, unsigned threads)
{
    const sv_sim_source source = {.user = d, .next = next_message, .threads = true};
    sv_sim_result *result = NULL;
    assert_true(d->f->num_terminals <= 512);
    for (uint32_t t = 0; t < d->f->num_terminals; t++) {
        d->left[t] = messages;
        sv_rng_init(&d->rng[t], t + 1);
    }
    setup.source = &source;
    sv_ctx_set_threads(ctx, threads);
    OK(ctx, sv_simulate(ctx, d->f, d->r, &setup, &result));
    return result;
}

static void assert_same(const sv_fabric *f, const sv_sim_result *a, const sv_sim_result *b)
{
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->time, b->time);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->packets, b->packets);
    assert_int_equal(a->arrived_packets, b->arrived_packets);
    assert_int_equal(a->arrived_messages, b->arrived_messages);
    assert_int_equal(a->packet_hops, b->packet_hops);
    assert_int_equal(a->payload_bytes, b->payload_bytes);
    assert_int_equal(a->latency_sum, b->latency_sum);
    assert_int_equal(a->total_sum, b->total_sum);
    assert_true(a->throughput == b->throughput && a->steady_share == b->steady_share);
    assert_memory_equal(a->latency, b->latency, SV_SIM_BINS * sizeof *a->latency);
    assert_memory_equal(a->terminals, b->terminals, f->num_terminals * sizeof *a->terminals);
    assert_memory_equal(a->channels, b->channels, f->num_channels * sizeof *a->channels);
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < (size_t)a->rows * f->num_switches; i++) {
        assert_int_equal(a->timeline[i].packets, b->timeline[i].packets);
        assert_int_equal(a->timeline[i].bytes, b->timeline[i].bytes);
        assert_int_equal(a->timeline[i].waited, b->timeline[i].waited);
    }
    assert_int_equal(a->num_stuck, b->num_stuck);
    for (uint32_t i = 0; i < a->num_stuck; i++) {
        assert_int_equal(a->stuck[i].in.i, b->stuck[i].in.i);
        assert_int_equal(a->stuck[i].out.i, b->stuck[i].out.i);
        assert_int_equal(a->stuck[i].since, b->stuck[i].since);
    }
}

static const sv_sim_setup plain = {.model = {.cable = 43 * SV_TICKS_A_NS,
                                             .credit = 20 * SV_TICKS_A_NS,
                                             .switch_delay = 100 * SV_TICKS_A_NS,
                                             .input = 70,
                                             .output = 40,
                                             .speedup = 150,
                                             .ways = 2,
                                             .lanes = 8,
                                             .mtu_bytes = 2048,
                                             .header_bytes = 26,
                                             .inject = 450,
                                             .drain = 450,
                                             .open = 4,
                                             .voq = true},
                                   .control = {.limit = SV_NEVER, .precision = 0.05}};

static sv_sim_end compare(const char *spec, const char *engine, sv_sim_setup setup,
                          uint32_t messages)
{
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    struct drawn *d = calloc(1, sizeof *d);
    OK(ctx, sv_topology_generate(ctx, spec, &f));
    OK(ctx, sv_route(ctx, f, engine, NULL, &r, NULL));
    d->f = f;
    d->r = r;
    sv_sim_result *one = run(d, setup, messages, 1);
    for (unsigned threads = 2; threads <= 3; threads++) {
        sv_sim_result *many = run(d, setup, messages, threads);
        assert_same(f, one, many);
        sv_sim_free(many);
    }
    sv_sim_end end = one->end;
    sv_sim_free(one);
    sv_routes_free(r);
    sv_fabric_free(f);
    free(d);
    return end;
}

static void completed_runs_are_the_same(void **state)
{
    (void)state;
    assert_int_equal(compare("kary:k=4,n=3,hosts=4", "ftree", plain, 30), SV_SIM_COMPLETED);
    assert_int_equal(compare("dragonfly:a=4,p=2,h=2,g=9", "dfsssp", plain, 30), SV_SIM_COMPLETED);
    sv_sim_setup slow = plain;
    slow.model.voq = false;
    slow.model.pause = 10 * SV_TICKS_A_NS;
    slow.model.period = 110 * SV_TICKS_A_NS;
    assert_int_equal(compare("torus:4x4x3,hosts=4", "nue", slow, 30), SV_SIM_COMPLETED);
}

static void windows_timelines_and_limits_are_the_same(void **state)
{
    (void)state;
    sv_sim_setup setup = plain;
    setup.control.warm_up = 5000 * SV_TICKS_A_NS;
    setup.control.sample = 20000 * SV_TICKS_A_NS;
    setup.control.interval = 3000 * SV_TICKS_A_NS;
    assert_int_equal(compare("torus:4x4x3,hosts=4", "dfsssp", setup, 1000), SV_SIM_STEADY);
    setup.control = (sv_sim_control){.limit = 7777777};
    assert_int_equal(compare("torus:4x4x3,hosts=4", "dfsssp", setup, 1000), SV_SIM_LIMIT);
    setup.control =
        (sv_sim_control){.limit = SV_NEVER, .steady = 10000 * SV_TICKS_A_NS, .precision = 0.2};
    assert_int_equal(compare("torus:4x4x3,hosts=4", "dfsssp", setup, 5000), SV_SIM_STEADY);
}

static void deadlocks_are_the_same(void **state)
{
    (void)state;
    sv_sim_setup setup = plain;
    setup.model.input = setup.model.output = 33;
    setup.model.voq = false;
    assert_int_equal(compare("torus:5x5,hosts=3", "minhop", setup, 200), SV_SIM_DEADLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completed_runs_are_the_same),
        cmocka_unit_test(windows_timelines_and_limits_are_the_same),
        cmocka_unit_test(deadlocks_are_the_same),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
