/*
 * test_follow.c: what jobs follow decides by: gains, waits, floors, and what it remembers.
 */
#define _DEFAULT_SOURCE
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "jobs/follow.h"
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

static void is_near(double a, double b)
{
    if (fabs(a - b) > 1e-9)
        fail_msg("%.12g is not %.12g", a, b);
}

static void test_gains(void **state)
{
    (void)state;
    static const struct {
        sv_follow_weight now, then;
        double gain;
    } cases[] = {
        {{160, 40}, {60, 30}, 62.5}, /* the one that falls more */
        {{100, 50}, {90, 30}, 40},   /* whichever it is */
        {{100, 50}, {100, 50}, 0},   /* nothing */
        {{100, 50}, {90, 55}, 0},    /* what rises is taken off */
        {{100, 50}, {90, 51}, 8},    /* … */
        {{100, 50}, {110, 55}, -20}, /* both rise */
        {{0, 0}, {0, 0}, 0},         /* nothing runs */
        {{0, 0}, {5, 2}, 0},         /* nothing to gain */
        {{4, 0}, {3, 0}, 25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_near(sv_follow_gain(cases[i].now, cases[i].then), cases[i].gain);
}

static void test_waits(void **state)
{
    (void)state;
    is_near(sv_follow_wait(300, 0), 300);
    is_near(sv_follow_wait(300, 1), 600);
    is_near(sv_follow_wait(300, 3), 2400);
    is_near(sv_follow_wait(300, 4), 3600);
    is_near(sv_follow_wait(300, 1000), 3600);
    is_near(sv_follow_wait(7200, 0), 7200); /* longer by itself: as asked for */
    is_near(sv_follow_wait(7200, 5), 7200);
    is_near(sv_follow_floor_left(600, 0), 600);
    is_near(sv_follow_floor_left(600, 250), 350);
    is_near(sv_follow_floor_left(600, 600), 0);
    is_near(sv_follow_floor_left(600, 1e9), 0);
    is_near(sv_follow_floor_left(600, -50), 600);
    is_near(sv_follow_floor_left(0, 0), 0);
}

static sv_jobmap *make_map(const sv_fabric *f, const char *text)
{
    sv_jobmap *map = NULL;
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "map");
    OK(ctx, sv_jobmap_read(ctx, f, &source, &map));
    return map;
}

static void test_digests(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=2,n=2,hosts=2");
    static const struct {
        const char *text;
        bool same; /* as the first */
    } cases[] = {{"host0 a\nhost1 a\nhost2 b\nhost3 b\n", true},
                 {"host3 1\nhost2 1\nhost0 2\nhost1 2\n", true},
                 {"host0 a\nhost1 b\nhost2 b\nhost3 a\n", false},
                 {"host0 a\nhost1 a\nhost2 b\n", false},
                 {"host0 a\nhost1 a\nhost2 a\nhost3 a\n", false},
                 {"", false}};
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_jobmap *map = make_map(f, cases[i].text);
        uint64_t digest = sv_follow_digest(map);
        first = i == 0 ? digest : first;
        assert_int_equal(digest == first, cases[i].same);
        sv_jobmap_free(map);
    }
    sv_fabric_free(f);
}

/* Tables that are made for jobs are better for them than those that are not. */
static void test_predictions(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4");
    sv_jobmap *map = make_map(f, "host0 1\nhost4 1\nhost8 1\nhost12 1\nhost5 3\nhost6 3\n"
                                 "host9 3\nhost13 3\n"),
              *none = make_map(f, "");
    static const char *const engines[] = {"sar", "weave", "auto"};
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        const sv_route_request request = {.seed = 1};
        sv_routes *with = NULL, *without = NULL;
        sv_follow_weight now, then, nothing;
        OK(ctx, sv_follow_predict(ctx, f, engines[e], &request, none, &without));
        OK(ctx, sv_follow_predict(ctx, f, engines[e], &request, map, &with));
        OK(ctx, sv_follow_weigh(ctx, f, without, map, &now));
        OK(ctx, sv_follow_weigh(ctx, f, with, map, &then));
        OK(ctx, sv_follow_weigh(ctx, f, with, none, &nothing));
        assert_int_equal(nothing.max, 0);
        assert_true(then.max <= now.max);
        assert_true(sv_follow_gain(now, then) >= 0);
        sv_routes_free(with);
        sv_routes_free(without);
    }
    sv_routes *routes = NULL;
    const sv_route_request request = {.seed = 1};
    FAILS(ctx, sv_follow_predict(ctx, f, "updn", &request, map, &routes), SV_BAD_INPUT, "jobs");
    sv_jobmap_free(none);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

static char folder[64], path[80];

static void put(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static sv_status save_and_load(sv_ctx *with, void *arg)
{
    (void)arg;
    sv_follow_state back = {.failures = 77};
    const sv_follow_state kept = {1700000000, 1700000600, 3,
                                  true,       true,       UINT64_C(0xfedcba9876543210)};
    SV_TRY(sv_follow_state_save(with, path, &kept));
    SV_TRY(sv_follow_state_load(with, path, &back));
    assert_int_equal(back.rerouted, kept.rerouted);
    assert_int_equal(back.retry, kept.retry);
    assert_int_equal(back.failures, 3);
    assert_true(back.pending);
    assert_true(back.known);
    assert_true(back.all == kept.all);
    return SV_OK;
}

static void test_states(void **state)
{
    (void)state;
    sv_follow_state s = {.failures = 9};
    snprintf(folder, sizeof folder, "/tmp/selvage-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    OK(ctx, sv_follow_state_load(ctx, path, &s)); /* a beginning */
    assert_int_equal(s.failures, 0);
    OK(ctx, save_and_load(ctx, NULL));
    test_out_of_memory("a state", save_and_load, NULL);
    put("# hello\n\nfailures 99999999\nfuture 12\n  rerouted 5\n");
    OK(ctx, sv_follow_state_load(ctx, path, &s));
    assert_int_equal(s.failures, 1000);
    assert_int_equal(s.rerouted, 5);
    s.failures = 8;
    static const char *const bad[] = {"rerouted\n",     "rerouted -5\n", "retry soon\n",
                                      "failures 1 2\n", "all xyz\n",     "\x01\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(bad[i]);
        FAILS(ctx, sv_follow_state_load(ctx, path, &s), SV_BAD_INPUT, "state:1:");
        assert_int_equal(s.failures, 8);
    }
    sv_rng rng;
    sv_rng_init(&rng, 5);
    for (uint32_t i = 0; i < test_times(2000); i++) { /* anything at all */
        char text[] = "rerouted 12\nretry 5\nfailures 3\npending 1\nall 00ff\n";
        for (uint64_t n = sv_rng_below(&rng, 6); n > 0; n--)
            text[sv_rng_below(&rng, sizeof text - 1)] = (char)sv_rng_below(&rng, 256);
        put(text);
        sv_status status = sv_follow_state_load(ctx, path, &s);
        assert_true(status == SV_OK || status == SV_BAD_INPUT);
    }
    unlink(path);
    mkdir(path, 0700);
    assert_int_equal(sv_follow_state_load(ctx, path, &s), SV_IO);
    rmdir(path);
    FAILS(ctx, sv_follow_state_save(ctx, "/does/not/exist/state", &s), SV_IO, "state");
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gains),   cmocka_unit_test(test_waits),
        cmocka_unit_test(test_digests), cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
