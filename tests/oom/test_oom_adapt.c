/*
 * test_oom_adapt.c: policies made and run with the 1st, 2nd, 3rd … allocation failing.
 */
#include "support/testing.h"

#include <selvage/adapt.h>
#include <selvage/traffic.h>

struct job {
    const sv_fabric *f;
    const sv_routes *r;
    const char *spec;
};

static const sv_sim_model small = {.cable = 7000,
                                   .credit = 1,
                                   .input = 40,
                                   .output = 40,
                                   .speedup = 100,
                                   .ways = 1,
                                   .mtu_bytes = 2048,
                                   .header_bytes = 26,
                                   .drain = 450,
                                   .open = 2,
                                   .voq = true};

static sv_status run_policy(sv_ctx *ctx, void *arg)
{
    const struct job *job = arg;
    sv_sim_setup setup = {.model = small, .control = {.limit = SV_NEVER}};
    const sv_adapt_request request = {.spec = job->spec, .model = &small, .seed = 1};
    const sv_sim_traffic_request traffic = {
        .spec = "shift:by=2", .model = &small, .bytes = 3000, .seed = 1, .messages = 6};
    sv_adapt *a = NULL;
    sv_sim_traffic *made = NULL;
    sv_sim_result *result = NULL;
    unsigned lanes = 0;
    sv_status status = sv_adapt_new(ctx, job->f, job->r, &request, &a, &lanes);
    assert_true((status == SV_OK) == (a != NULL));
    if (status == SV_OK)
        status = sv_sim_traffic_new(ctx, job->f, job->r, &traffic, &made);
    if (status == SV_OK) {
        setup.model.lanes = lanes;
        setup.source = sv_sim_traffic_source(made);
        setup.policy = sv_adapt_policy(a);
        status = sv_simulate(ctx, job->f, job->r, &setup, &result);
    }
    if (status == SV_OK)
        assert_int_equal(result->end, SV_SIM_COMPLETED);
    sv_sim_free(result);
    sv_sim_traffic_free(made);
    sv_adapt_free(a);
    return status;
}

static void policies(void **state)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, "dragonfly:a=2,p=1,h=1,g=3");
    sv_routes *r = test_routed(ctx, f, "dla", 0);
    (void)state;
    for (size_t i = 0; sv_adapt_at(i) != NULL; i++) {
        struct job job = {f, r, sv_adapt_at(i)->name};
        test_out_of_memory(job.spec, run_policy, &job);
    }
    sv_routes_free(r);
    sv_fabric_free(f);
    sv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
