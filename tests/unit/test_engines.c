/*
 * test_engines.c: what engines are asked, and what up and down routing promises: addresses,
 * options, roots; the same tables on any number of threads.
 */
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

/* Every offset of the LMC arrives, and parallel cables are shared among them. */
static void addresses_take_different_ways(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x2,hosts=1,r=4");
    const char *engines[] = {"minhop", "sssp", "updn", "dnup", "dor"};
    for (int i = 0; i < 5; i++) {
        sv_routes *r = test_routed(ctx, f, engines[i], 2);
        uint32_t to = r->first[3];
        for (uint32_t k = 0; k < 4; k++)
            for (uint32_t l = 0; l < k; l++)
                assert_int_not_equal(r->ports[to + k][0], r->ports[to + l][0]);
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

static void requests_are_checked(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2x2");
    sv_routes *r = NULL;
    sv_node root = {0};
    const char *no_value[] = {"break"}, *unknown[] = {"x=1"};
    sv_route_request request = {.roots = &root, .num_roots = 1};
    FAILS(ctx, sv_route(ctx, f, "warp", NULL, &r, NULL), SV_BAD_INPUT,
          "there is no engine 'warp' (there are minhop, sssp, updn, dnup, dor, ");
    FAILS(ctx, sv_route(ctx, f, "sssp", &request, &r, NULL), SV_BAD_INPUT,
          "engine sssp knows no roots");
    request = (sv_route_request){.hosts = &root, .num_hosts = 1};
    FAILS(ctx, sv_route(ctx, f, "sssp", &request, &r, NULL), SV_BAD_INPUT,
          "engine sssp knows no order of hosts");
    request = (sv_route_request){.options = no_value, .num_options = 1};
    FAILS(ctx, sv_route(ctx, f, "sssp", &request, &r, NULL), SV_BAD_INPUT, "is not NAME=VALUE");
    request.options = unknown;
    FAILS(ctx, sv_route(ctx, f, "sssp", &request, &r, NULL), SV_BAD_INPUT,
          "engine sssp has no option 'x' (it has none)");
    assert_true(sv_ctx_in_request(ctx));
    FAILS(ctx, sv_route_check(ctx, "sssp", &request), SV_BAD_INPUT,
          "engine sssp has no option 'x'");
    FAILS(ctx, sv_route_check(ctx, "wave", NULL), SV_BAD_INPUT,
          "there is no engine 'wave': did you mean 'weave'? (there are");
    OK(ctx, sv_route_check(ctx, "weave", NULL));
    request = (sv_route_request){.sl_offset = 16};
    FAILS(ctx, sv_route(ctx, f, "sssp", &request, &r, NULL), SV_BAD_INPUT, "SL offset");
    assert_null(r);
    sv_fabric_free(f);
}

/* One, some and silly roots: always connected and free of deadlocks, switches included. */
static void any_roots_will_do(void **state)
{
    (void)state;
    const char *specs[] = {"torus:5x4,hosts=1", "kary:k=3,n=3,hosts=3", "kautz:d=2,k=3,hosts=1",
                           "random:switches=20,links=30,total=20,seed=3", "slimfly:q=5,hosts=1"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (uint32_t count = 1; count <= f->num_switches; count = count * 3 + 1) {
            sv_node roots[64];
            sv_routes *r = NULL;
            sv_verification *found = NULL;
            for (uint32_t k = 0; k < count; k++)
                roots[k] = (sv_node){k * 7 % f->num_switches};
            const sv_route_request request = {.roots = roots, .num_roots = count};
            OK(ctx, sv_route(ctx, f, i % 2 ? "updn" : "dnup", &request, &r, NULL));
            OK(ctx, sv_verify(ctx, f, r, NULL, &found));
            for (int k = 0; k < SV_PAIRS_COUNT; k++)
                assert_int_equal(found->unreachable[k], 0);
            for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
                assert_int_equal(found->deadlock_free[k], SV_VERDICT_YES);
            sv_verification_free(found);
            sv_routes_free(r);
        }
        sv_fabric_free(f);
    }
}

/* On trees, up and down between leaves is as short as can be, and as balanced as sssp. */
static void trees_lose_nothing_by_up_and_down(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=4,n=2,hosts=4", "kary:k=4,n=3,hosts=4",
                           "xgft:h=2,m=6/6,w=3/3,hosts=12", "tsubame2:rail=2", "deimos"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        sv_load best, mine;
        sv_routes *a = test_routed(ctx, f, "sssp", 0), *b = test_routed(ctx, f, "updn", 0);
        OK(ctx, sv_routes_load(ctx, f, a, NULL, &best));
        OK(ctx, sv_routes_load(ctx, f, b, NULL, &mine));
        assert_float_equal(mine.hops_avg, best.hops_avg, 1e-9);
        if (strcmp(specs[i], "deimos") != 0) /* three trees side by side */
            assert_true((double)mine.max <= 1.15 * (double)best.max);
        sv_routes_free(b);
        sv_routes_free(a);
        sv_fabric_free(f);
    }
}

static void same_tables(const sv_routes *a, const sv_routes *b)
{
    assert_int_equal(a->num_destinations, b->num_destinations);
    assert_int_equal(a->sl_form, b->sl_form);
    for (uint32_t d = 0; d < a->num_destinations; d++) {
        assert_memory_equal(a->ports[d], b->ports[d], a->num_switches);
        if (a->sl_form == SV_SL_BY_SWITCH)
            assert_memory_equal(a->sls[d], b->sls[d], a->num_switches);
    }
}

/* Fabrics large enough for batches: the same tables whatever the number of threads. */
static void threads_do_not_show(void **state)
{
    (void)state;
    /* The order lets few trials take none of the slowest: weave on this torus. */
    const char *specs[] = {"kary:k=6,n=4,hosts=1", "torus:8x8x8,hosts=2",
                           "dragonfly:a=16,p=1,h=4,g=33",
                           "random:switches=520,links=1500,total=700,seed=4"};
    const char *engines[] = {"sssp", "updn", "dnup", "minhop", "dfsssp", "weave"};
    const int many = test_enough() ? 4 : 2;
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (size_t k = 0; k < sizeof engines / sizeof engines[0]; k++) {
            const unsigned threads[] = {1, 3, 2, 7};
            if (!test_takes(&seen))
                continue;
            const sv_route_request request = {.vls = 8, .lmc = i == 0};
            sv_routes *r[4] = {NULL};
            for (int t = 0; t < many; t++) {
                sv_ctx_set_threads(ctx, threads[t]);
                OK(ctx, sv_route(ctx, f, engines[k], &request, &r[t], NULL));
                same_tables(r[0], r[t]);
            }
            for (int t = 0; t < many; t++)
                sv_routes_free(r[t]);
        }
        sv_fabric_free(f);
    }
    sv_ctx_set_threads(ctx, 0);
}

/* On trees one VL is enough, for packets between spines, too. */
static void trees_need_one_vl(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=4,n=2,hosts=4", "kary:k=4,n=3,hosts=4",
                           "xgft:h=2,m=6/6,w=3/3,hosts=12", "xgft:h=3,m=3/3/4,w=2/3/2,hosts=2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (unsigned vls = 1; vls <= 8; vls *= 2) {
            sv_fabric *f = test_fabric(ctx, specs[i]);
            const sv_route_request request = {.vls = vls};
            sv_route_report report;
            sv_routes *r = NULL;
            sv_verification *found = NULL;
            OK(ctx, sv_route(ctx, f, "weave", &request, &r, &report));
            assert_int_equal(report.vls_needed, 1);
            assert_int_equal(report.vls_used, vls);
            OK(ctx, sv_verify(ctx, f, r, NULL, &found));
            for (int k = 0; k < SV_PAIRS_COUNT; k++)
                assert_int_equal(found->unreachable[k], 0);
            for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
                assert_int_equal(found->deadlock_free[k], SV_VERDICT_YES);
            sv_verification_free(found);
            sv_routes_free(r);
            sv_fabric_free(f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_take_different_ways),
        cmocka_unit_test(requests_are_checked),
        cmocka_unit_test(any_roots_will_do),
        cmocka_unit_test(trees_lose_nothing_by_up_and_down),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(trees_need_one_vl),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
