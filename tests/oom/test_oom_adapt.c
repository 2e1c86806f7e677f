/*
 * test_oom_adapt.c: policies made and run with the 1st, 2nd, 3rd … allocation failing.
 */
#include "support/testing.h"

#include <selvage/experimental/adapt.h>
#include <selvage/traffic.h>

#include "base/file.h"

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
    unsigned vls = 0;
    sv_status status = sv_adapt_new(ctx, job->f, job->r, &request, &a, &vls);
    assert_true((status == SV_OK) == (a != NULL));
    if (status == SV_OK)
        status = sv_sim_traffic_new(ctx, job->f, job->r, &traffic, &made);
    if (status == SV_OK) {
        setup.model.vls = vls;
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

/* ---- the family of DRB, busy ---- */

struct busy {
    const sv_fabric *f;
    const sv_routes *r;
    const char *spec, *store;
    char *saved;
};

/* A crowd, solutions read, found and written. */
static sv_status run_busy(sv_ctx *ctx, void *arg)
{
    struct busy *job = arg;
    sv_sim_model model = small;
    sv_memory memory = {job->store, job->store == NULL ? 0 : strlen(job->store)};
    sv_source source = sv_memory_source(&memory, "store");
    const sv_adapt_request request = {.spec = job->spec,
                                      .model = &model,
                                      .seed = 1,
                                      .store = job->store == NULL ? NULL : &source};
    const sv_sim_traffic_request traffic = {
        .spec = "uniform", .model = &small, .bytes = 2048, .seed = 1, .messages = 60};
    sv_sim_setup setup = {.model = model, .control = {.limit = SV_NEVER}};
    sv_adapt *a = NULL;
    sv_sim_traffic *made = NULL;
    sv_sim_result *result = NULL;
    test_buffer buffer = {0};
    sv_sink sink = test_sink(&buffer);
    unsigned vls = 0;
    sv_status status = sv_adapt_new(ctx, job->f, job->r, &request, &a, &vls);
    if (status == SV_OK)
        status = sv_sim_traffic_new(ctx, job->f, job->r, &traffic, &made);
    if (status == SV_OK) {
        setup.model.vls = vls;
        setup.source = sv_sim_traffic_source(made);
        setup.policy = sv_adapt_policy(a);
        status = sv_simulate(ctx, job->f, job->r, &setup, &result);
    }
    if (status == SV_OK) {
        assert_true(sv_adapt_end(a).opened > 0);
        status = sv_adapt_store_write(ctx, a, &sink);
    }
    if (status == SV_OK && job->saved == NULL) {
        assert_true(sv_adapt_end(a).patterns > 0);
        job->saved = buffer.text;
    } else {
        free(buffer.text);
    }
    sv_sim_free(result);
    sv_sim_traffic_free(made);
    sv_adapt_free(a);
    return status;
}

static void busy_policies(void **state)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, "kary:k=2,n=2,hosts=2");
    sv_routes *r = test_routed(ctx, f, "dmodk", 0);
    (void)state;
    struct busy job = {f, r, "pr-fr-drb:notify=router,high=1.1,low=0.9,trend=3", NULL, NULL};
    test_out_of_memory("pr-fr-drb in a crowd", run_busy, &job);
    struct busy again = {f, r, "pr-drb:notify=destination,high=1.1,low=0.9", job.saved, NULL};
    test_out_of_memory("pr-drb with a store", run_busy, &again);
    free(job.saved);
    free(again.saved);
    sv_routes_free(r);
    sv_fabric_free(f);
    sv_ctx_free(ctx);
}

/* ---- seeds ---- */

struct seed {
    const sv_fabric *f;
    const sv_routes *r;
    const sv_mpi_trace *trace;
};

static sv_status run_seed(sv_ctx *ctx, void *arg)
{
    const struct seed *job = arg;
    sv_node map[4];
    for (uint32_t i = 0; i < 4; i++)
        map[i] = (sv_node){job->f->num_switches + i};
    const sv_adapt_seed_request request = {.model = &small, .map = map, .flows = 4};
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    sv_status status = sv_adapt_seed(ctx, job->f, job->r, job->trace, &request, &sink);
    free(buffer.text);
    return status;
}

static void seeds(void **state)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct seed job = {test_fabric(ctx, "kary:k=2,n=2,hosts=2"), NULL, NULL};
    sv_routes *r = test_routed(ctx, job.f, "dmodk", 0);
    sv_mpi_trace *trace = NULL;
    (void)state;
    OK(ctx, sv_mpi_skeleton_make(ctx, "mg:class=S,ranks=4,iterations=1", &trace));
    job.r = r;
    job.trace = trace;
    test_out_of_memory("a store from a trace", run_seed, &job);
    sv_mpi_free(trace);
    sv_routes_free(r);
    sv_fabric_free((sv_fabric *)(uintptr_t)job.f);
    sv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies), cmocka_unit_test(busy_policies),
                                       cmocka_unit_test(seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
