/*
 * test_oom_replay.c: making histories up and replaying them with the 1st, 2nd, 3rd … allocation
 * failing.
 */
#include "support/testing.h"

#include "base/file.h"

struct replaying {
    const sv_fabric *fabric;
    char *history; /* text */
    double several;
};

static bool swallow(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return true;
}

static const sv_sink nowhere = {.name = "nowhere", .write = swallow};

static sv_status make_one(sv_ctx *ctx, void *arg)
{
    const struct replaying *r = arg;
    sv_history *h = NULL;
    sv_history_plan plan = sv_history_defaults();
    plan.days = 1;
    plan.warm_up = 1;
    plan.several = r->several;
    sv_status status = sv_history_make(ctx, r->fabric, &plan, &h);
    assert_true((status == SV_OK) == (h != NULL));
    if (status == SV_OK)
        status = sv_history_write(ctx, h, &nowhere);
    if (status == SV_OK)
        status = sv_history_write_trace(ctx, h, &nowhere);
    sv_history_free(h);
    return status;
}

static sv_status replay_one(sv_ctx *ctx, void *arg)
{
    const struct replaying *r = arg;
    const sv_replay_engine engines[] = {{.name = "sar", .jobs = true}, {.name = "updn"}};
    const sv_replay_plan plan = {.engines = engines,
                                 .num_engines = 2,
                                 .begin = SV_TIME_UNKNOWN,
                                 .until = SV_TIME_UNKNOWN,
                                 .every = 1800};
    sv_memory memory = {r->history, strlen(r->history)};
    sv_source source = sv_memory_source(&memory, "history");
    sv_allocations *history = NULL;
    sv_replay *replay = NULL;
    sv_status status = sv_allocations_read(ctx, &source, SV_JOBS_SACCT, &history);
    if (status == SV_OK)
        status = sv_replay_run(ctx, r->fabric, history, &plan, &replay);
    assert_true((status == SV_OK) == (replay != NULL));
    if (status == SV_OK)
        status = sv_replay_write_csv(ctx, replay, &nowhere);
    if (status == SV_OK)
        status = sv_replay_write_svg(ctx, replay, "oom", &nowhere);
    sv_replay_free(replay);
    sv_allocations_free(history);
    return status;
}

static void histories(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=1");
    char text[] = "JobID|Start|End|State|NodeList\n"
                  "1|2015-02-01T00:00:00|2015-02-01T02:00:00|COMPLETED|host[0-5]\n"
                  "2|2015-02-01T01:00:00|2015-02-01T02:00:00|COMPLETED|host[6-7]\n";
    struct replaying r = {.fabric = f, .history = text, .several = -1};
    test_out_of_memory("history", make_one, &r);
    r.several = 0.5;
    test_out_of_memory("history with a share", make_one, &r);
    test_out_of_memory("replay", replay_one, &r);
    sv_fabric_free(f);
    sv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(histories)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
