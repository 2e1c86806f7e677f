/*
 * test_traffic_runs.c: traffic and the engine together: every pattern comes to its end, and to the
 * same one with several threads.
 */
#include "unit/traffic_bed.h"

TEST_CONTEXT

static const sv_sim_model whole = {.cable = 10800,
                                   .credit = 10800,
                                   .switch_delay = 180000,
                                   .input = 128,
                                   .output = 78,
                                   .speedup = 100,
                                   .ways = 1,
                                   .vls = 1,
                                   .mtu_bytes = 2048,
                                   .header_bytes = 26,
                                   .inject = 450,
                                   .drain = 450,
                                   .open = 2};

static sv_sim_result *simulate(const struct bed *bed, const char *spec, unsigned threads)
{
    sv_sim_traffic_request request = {.spec = spec, .model = &whole, .bytes = 5000, .seed = 1};
    sv_sim_traffic *t = NULL;
    sv_sim_result *result = NULL;
    OK(ctx, sv_sim_traffic_new(ctx, bed->f, bed->r, &request, &t));
    const sv_sim_setup setup = {.model = whole,
                                .control = {.limit = (uint64_t)SV_TICKS_PER_NS * 1000000000},
                                .source = sv_sim_traffic_source(t)};
    assert_false(sv_sim_traffic_endless(t));
    sv_ctx_set_threads(ctx, threads);
    OK(ctx, sv_simulate(ctx, bed->f, bed->r, &setup, &result));
    assert_int_equal(result->end, SV_SIM_COMPLETED);
    assert_int_equal(result->messages, result->arrived_messages);
    if (sv_sim_traffic_source(t)->messages > 0)
        assert_int_equal(result->messages, sv_sim_traffic_source(t)->messages);
    sv_sim_traffic_free(t);
    return result;
}

static const char *const specs[] = {"exchange:load=0.7",
                                    "uniform:messages=30",
                                    "hotspot:messages=30,load=0.3,senders=4,spots=2",
                                    "stencil:messages=24",
                                    "matching:rounds=9",
                                    "shift:by=7,messages=20,on=3us,off=9us,rest=0.1",
                                    "changing:on=3us,off=9us,bursts=4,rest=0.2,ranks=20",
                                    "1toN",
                                    "Nto1:rounds=2",
                                    "pingpong:pairs=far",
                                    "ring",
                                    "allreduce:rounds=2",
                                    "allreduce:by=doubling,rounds=3",
                                    "allgather:rounds=2",
                                    "allgather:by=doubling,rounds=2"};

static void all_patterns_come_to_their_end(void **state)
{
    (void)state;
    struct bed bed = {.f = test_fabric(ctx, "mesh:3x3,hosts=3")};
    bed.r = test_routed(ctx, bed.f, "updn", 0);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_sim_result *one = simulate(&bed, specs[i], 1);
        sv_sim_result *three = simulate(&bed, specs[i], 3);
        assert_true(one->time > 0);
        assert_int_equal(one->time, three->time);
        assert_int_equal(one->messages, three->messages);
        assert_int_equal(one->total_sum, three->total_sum);
        sv_sim_free(one);
        sv_sim_free(three);
    }
    release(&bed);
}

/* A ping-pong over an idle network takes as long for each message as for the first. */
static void answers_go_when_they_can(void **state)
{
    (void)state;
    struct bed bed = {.f = test_fabric(ctx, "mesh:1x2,hosts=1")};
    bed.r = test_routed(ctx, bed.f, "updn", 0);
    sv_sim_result *once = simulate(&bed, "pingpong:rounds=1", 1);
    sv_sim_result *often = simulate(&bed, "pingpong:rounds=50", 1);
    assert_int_equal(often->time, 50 * once->time);
    sv_sim_free(once);
    sv_sim_free(often);
    release(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_patterns_come_to_their_end),
        cmocka_unit_test(answers_go_when_they_can),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
