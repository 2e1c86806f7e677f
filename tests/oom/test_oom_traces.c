/*
 * test_oom_traces.c: reading, checking, writing and replaying traces, again with the 1st, 2nd, 3rd
 * … allocation failing.
 */
#include "support/tracing.h"

#include "traces/otf2.h"

struct bed {
    sv_fabric *f;
    sv_routes *r;
    test_buffer svt, goal;
};

static bool swallow(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return true;
}

static const sv_sim_model model = {.cable = 7000,
                                   .credit = 1,
                                   .input = 100,
                                   .output = 100,
                                   .speedup = 100,
                                   .ways = 1,
                                   .vls = 1,
                                   .mtu_bytes = 2048,
                                   .header_bytes = 26,
                                   .drain = 450,
                                   .open = 4};

static sv_status replay(sv_ctx *ctx, const struct bed *bed, const sv_mpi_trace *t)
{
    const sv_mpi_replay_request request = {.model = &model, .eager_bytes = 500, .random = true};
    sv_mpi_replay *of = NULL;
    sv_sim_result *result = NULL;
    sv_status status = sv_mpi_replay_new(ctx, bed->f, bed->r, t, &request, &of);
    assert_true((status == SV_OK) == (of != NULL));
    if (status == SV_OK) {
        const sv_sim_setup setup = {
            .model = model, .control = {.limit = SV_NEVER}, .source = sv_mpi_replay_source(of)};
        status = sv_simulate(ctx, bed->f, bed->r, &setup, &result);
    }
    if (status == SV_OK) {
        sv_mpi_replay_result end = sv_mpi_replay_end(of);
        status = end.status;
        assert_true(status != SV_OK || end.done);
    }
    sv_sim_free(result);
    sv_mpi_replay_free(of);
    return status;
}

static sv_status use(sv_ctx *ctx, void *arg, const test_buffer *bytes, bool goal)
{
    sv_memory memory = {bytes->text, bytes->length};
    sv_source source = sv_memory_source(&memory, "oom");
    const sv_sink sink = {"nothing", NULL, swallow};
    sv_mpi_trace *t = NULL;
    sv_status status = goal ? sv_mpi_read_goal(ctx, &source, &t) : sv_mpi_read(ctx, &source, &t);
    assert_true((status == SV_OK) == (t != NULL));
    if (status == SV_OK)
        status = sv_mpi_write(ctx, t, &sink);
    if (status == SV_OK)
        status = sv_mpi_write_goal(ctx, t, &sink);
    if (status == SV_OK)
        status = replay(ctx, arg, t);
    sv_mpi_free(t);
    return status;
}

static sv_status use_svt(sv_ctx *ctx, void *arg)
{
    const struct bed *bed = arg;
    return use(ctx, arg, &bed->svt, false);
}

static sv_status use_goal(sv_ctx *ctx, void *arg)
{
    const struct bed *bed = arg;
    return use(ctx, arg, &bed->goal, true);
}

static void traces(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct bed bed = {.f = test_fabric(ctx, "torus:3,hosts=2")};
    OK(ctx, sv_route(ctx, bed.f, "updn", NULL, &bed.r, NULL));
    sv_mpi_trace *t = trace_random(ctx, 7,
                                   (trace_wish){.ranks = 5,
                                                .groups = 2,
                                                .acts = 60,
                                                .bytes = 2000,
                                                .collectives = true,
                                                .computes = true,
                                                .begins = true});
    for (int i = 0; i < 40; i++) /* something to fold */
        for (uint32_t rank = 0; rank < 5; rank++) {
            sv_mpi_event e = {.kind = SV_MPI_COLLECTIVE,
                              .call = i % 3 == 0 ? SV_CALL_SCAN : SV_CALL_BARRIER};
            OK(ctx, sv_mpi_add(t, rank, &e));
        }
    sv_sink sink = test_sink(&bed.svt);
    OK(ctx, sv_mpi_write(ctx, t, &sink));
    sink = test_sink(&bed.goal);
    OK(ctx, sv_mpi_write_goal(ctx, t, &sink));
    test_out_of_memory("a .svt file", use_svt, &bed);
    test_out_of_memory("a GOAL schedule", use_goal, &bed);
    free(bed.svt.text);
    free(bed.goal.text);
    sv_mpi_free(t);
    sv_routes_free(bed.r);
    sv_fabric_free(bed.f);
    sv_ctx_free(ctx);
}

/* Events as an archive has them. */
static sv_status hand_over(sv__otf2 *o)
{
    uint32_t held;
    SV_TRY(sv_mpi_new(o->ctx, "oom", 2, &o->trace));
    SV_TRY(sv_map_add(&o->comm_of, 7, 0, &held));
    SV_TRY(sv_array_push(o->ctx, &o->comms, (sv__otf2_comm){.known = true}));
    for (uint32_t rank = 0; rank < 2; rank++) {
        SV_TRY(sv__otf2_begin(o, rank));
        for (uint64_t i = 0; i < 30; i++) {
            SV_TRY(sv__otf2_irecv(o, 2 * i));
            SV_TRY(sv__otf2_isend(o, &(sv__otf2_message){!rank, 7, 0, 5}, 2 * i + 1));
        }
        for (uint64_t i = 0; i < 30; i++)
            SV_TRY(sv__otf2_complete(o, 2 * i, &(sv__otf2_message){!rank, 7, 0, 5}));
        const sv__otf2_coll c = {SV_CALL_BCAST, 7, 0, rank == 0 ? 20 : 0, 10};
        SV_TRY(sv__otf2_collective(o, &c));
        SV_TRY(sv__otf2_collective_begin(o, 99));
        SV_TRY(sv__otf2_collective_end(o, 99, &c));
        SV_TRY(sv__otf2_end(o));
    }
    SV_TRY(sv__otf2_even_out(o));
    return sv_mpi_check(o->ctx, o->trace);
}

static sv_status use_otf2(sv_ctx *ctx, void *arg)
{
    (void)arg;
    sv__otf2 o = {.ctx = ctx, .path = "oom", .resolution = 1};
    sv_map_init(&o.comm_of, ctx);
    sv_map_init(&o.region_of, ctx);
    sv_status status = hand_over(&o);
    sv__otf2_release(&o);
    sv_mpi_free(o.trace);
    sv_map_release(&o.comm_of);
    sv_map_release(&o.region_of);
    sv_array_release(ctx, &o.comms);
    return status;
}

static void archives(void **state)
{
    (void)state;
    test_out_of_memory("events of an archive", use_otf2, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(traces), cmocka_unit_test(archives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
