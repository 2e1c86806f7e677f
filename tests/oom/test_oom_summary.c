/*
 * test_oom_summary.c: skeletons, what is said of traces and the flows of phases, with every
 * allocation failing in turn.
 */
#include "support/testing.h"

#include "base/ctx.h"

static sv_status make(sv_ctx *ctx, void *arg)
{
    sv_mpi_trace *trace = NULL;
    sv_status status = sv_mpi_skeleton_make(ctx, arg, &trace);
    assert_true((status == SV_OK) == (trace != NULL));
    sv_mpi_free(trace);
    return status;
}

static void skeletons(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "lu:class=S,ranks=4,iterations=1",    "mg:class=S,ranks=4,iterations=1",
        "ft:class=W,ranks=64,iterations=1",   "pop:ranks=4,steps=1,iterations=2,diagnostics=2",
        "sweep3d:ranks=4,iterations=1,nz=20", "smg2000:ranks=2,n=2,iterations=1"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        char spec[80];
        snprintf(spec, sizeof spec, "%s", specs[i]);
        test_out_of_memory(spec, make, spec);
    }
}

static sv_status sum_up(sv_ctx *ctx, void *arg)
{
    sv_mpi_summary *summary = NULL;
    sv_status status = sv_mpi_summarise(ctx, arg, &summary);
    assert_true((status == SV_OK) == (summary != NULL));
    sv_mpi_flow *flows = NULL;
    uint32_t count;
    for (uint32_t phase = 0; status == SV_OK && phase < 2; phase++) {
        status = sv_mpi_phase_flows(ctx, arg, summary, phase, &flows, &count);
        assert_true((status == SV_OK) == (flows != NULL));
        sv_release(ctx, flows);
        flows = NULL;
    }
    sv_mpi_summary_free(summary);
    return status;
}

static void summaries(void **state)
{
    (void)state;
    static const char *const specs[] = {"mg:class=S,ranks=4,iterations=2",
                                        "pop:ranks=4,steps=1,iterations=2,diagnostics=2",
                                        "ft:class=W,ranks=64,iterations=1"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_ctx *ctx = sv_ctx_new(NULL);
        sv_mpi_trace *trace;
        OK(ctx, sv_mpi_skeleton_make(ctx, specs[i], &trace));
        test_out_of_memory(specs[i], sum_up, trace);
        sv_mpi_free(trace);
        sv_ctx_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(skeletons), cmocka_unit_test(summaries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
