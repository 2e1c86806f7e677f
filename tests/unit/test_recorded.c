/*
 * test_recorded.c: the traces of real programs that are shipped (tests/traces): they are sound, and
 * replay to their end, with small messages eager and without.
 */
#include "support/simulating.h"
#include "support/tracing.h"
#include "support/trials.h"

TEST_CONTEXT

static const char *const names[] = {"chain", "comb", "hpcc"};

static void replay_to_the_end(const sv_mpi_trace *trace, uint32_t eager_bytes)
{
    sim_case c = sim_begin(ctx, test_fabric(ctx, "kary:k=64,n=1,hosts=64"));
    sv_mpi_replay *replay = NULL;
    const sv_mpi_replay_request request = {.model = &c.model, .eager_bytes = eager_bytes};
    OK(ctx, sv_mpi_replay_new(ctx, c.f, c.r, trace, &request, &replay));
    const sv_sim_setup setup = {c.model, c.control, sv_mpi_replay_source(replay)};
    sv_sim_free(c.result);
    c.result = NULL;
    OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
    sv_mpi_replay_result end = sv_mpi_replay_end(replay);
    assert_int_equal(end.status, SV_OK);
    assert_true(end.done);
    assert_int_equal(end.blocked, SV_NONE);
    assert_true(end.time > 0);
    sv_mpi_replay_free(replay);
    sim_finish(&c);
}

/* hpcc's rings are 58 GB: half a minute, for all trials only, and too much with sanitizers. */
static bool large(const sv_mpi_trace *trace)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* as gcc has it */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
    return strcmp(trace->name, "hpcc") == 0;
#else
    return !test_enough() && strcmp(trace->name, "hpcc") == 0;
#endif
}

static void recorded_programs_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sv_mpi_trace *trace = NULL;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.svt", TRACES, names[i]);
        OK(ctx, sv_mpi_load(ctx, path, &trace));
        OK(ctx, sv_mpi_check(ctx, trace));
        assert_int_equal(trace->num_ranks, 64);
        if (!large(trace)) {
            if (test_enough())
                replay_to_the_end(trace, 0);
            if (test_enough() || i == 1)
                replay_to_the_end(trace, 4096);
        }
        sv_mpi_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_programs_end),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
