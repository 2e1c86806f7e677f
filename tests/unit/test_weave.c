/*
 * test_weave.c: engine weave with any number of VLs on many fabrics, judged by sv_verify, and how
 * good its tables are beside those of other engines.
 */
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

/* The same fabric with some switches dead, which may cut it into pieces. */
static sv_fabric *broken(const sv_fabric *whole, uint64_t seed)
{
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_fabric *f = NULL;
    assert_non_null(mask);
    for (uint32_t s = 0; s < whole->num_switches; s++)
        if ((s * 2654435761u + seed * 40503u) % 7 == 0)
            sv_mask_node(mask, (sv_node){s});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    sv_mask_free(mask);
    return f;
}

/* weave: with any number of VLs, whatever the fabric; all packets, switch to switch, too. */
static void woven(const sv_fabric *f, unsigned vls, double longer, double busier)
{
    sv_routes *r = NULL, *plain = NULL;
    sv_verification *found = NULL;
    sv_route_report report;
    sv_load load, best;
    OK(ctx, sv_route(ctx, f, "weave", &(sv_route_request){.vls = vls, .seed = 1}, &r, &report));
    OK(ctx, sv_routes_check(ctx, f, r));
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_string_equal(report.note, "");
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
    assert_int_equal(found->loops, 0);
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], found->split_pairs);
    assert_true(report.vls_needed <= vls && found->vls_used <= vls);
    OK(ctx, sv_route(ctx, f, "sssp", NULL, &plain, NULL));
    OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
    OK(ctx, sv_routes_load(ctx, f, plain, NULL, &best));
    assert_true(load.hops_avg <= best.hops_avg * longer);
    assert_true((double)load.max <= (double)best.max * busier);
    sv_verification_free(found);
    sv_routes_free(plain);
    sv_routes_free(r);
}

/* Trees, where sssp's paths fit one VL, are balanced to a tenth above the least there can be. */
static void trees_are_balanced(void **state)
{
    (void)state;
    static const char *const specs[] = {"kary:k=6,n=3,hosts=6", "xgft:h=1,m=10,w=6,hosts=18,r=3",
                                        "kary:k=10,n=3,hosts=4", "xgft:h=2,m=6/6,w=3/3,hosts=12"};
    for (int i = 0; i < 8; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i / 2]);
        sv_routes *r = test_routed(ctx, f, i % 2 == 0 ? "weave" : "dfsssp", 0);
        sv_load load;
        sv_bound bound;
        OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
        OK(ctx, sv_routes_bound(ctx, f, r, &bound));
        assert_true((double)load.max <= 1.12 * (double)bound.efi);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

/* The same if most hosts are gone: few channels have any load. */
static void sparse_trees(void **state)
{
    (void)state;
    for (uint32_t left = 19; left < 100; left += 9) {
        sv_fabric *whole = test_fabric(ctx, "kary:k=18,n=2,hosts=18"), *f = NULL;
        sv_mask *mask = sv_mask_new(ctx, whole);
        sv_load once, twice;
        for (uint32_t t = left; t < whole->num_terminals; t++)
            sv_mask_node(mask, (sv_node){whole->num_switches + t});
        OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
        sv_routes *r = test_routed(ctx, f, "weave", 0), *plain = test_routed(ctx, f, "sssp", 0);
        OK(ctx, sv_routes_load(ctx, f, r, NULL, &twice));
        OK(ctx, sv_routes_load(ctx, f, plain, NULL, &once));
        assert_true(twice.max <= once.max);
        sv_routes_free(plain);
        sv_routes_free(r);
        sv_mask_free(mask);
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
}

/* More VLs may be used than hardware has; they are not, unless they are needed. */
static void more_vls_than_hardware_has(void **state)
{
    (void)state;
    sv_fabric *whole = test_fabric(ctx, "slimfly:q=5,hosts=1"), *f = NULL;
    sv_mask *mask = sv_mask_new(ctx, whole);
    for (uint32_t c = 0; c < whole->num_channels; c += 11) /* links and links of hosts */
        sv_mask_cable(mask, whole, (sv_channel){c});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    woven(f, 15, 1.1, 3);
    woven(f, 16, 1.1, 3);
    woven(f, SV_MAX_VLS, 1.1, 3);
    sv_mask_free(mask);
    sv_fabric_free(f);
    sv_fabric_free(whole);
}

static void weave_takes_the_vls_there_are(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "torus:5,hosts=2",       "torus:5x5,hosts=1",         "torus:6x5,hosts=2,r=2",
        "kary:k=3,n=3,hosts=2",  "hypercube:5,hosts=1",       "fullmesh:9,hosts=1",
        "kautz:d=3,k=3,hosts=1", "dragonfly:a=4,p=2,h=2,g=9", "slimfly:q=5,hosts=1",
        "mesh:1x2,hosts=0",      "hyperx:4x4x3,hosts=1",      "fullmesh:1,hosts=2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (unsigned vls = 1; vls <= 4; vls++)
            woven(f, vls, vls == 1 ? 1.25 : 1.06, vls == 1 ? 10 : 3);
        sv_fabric_free(f);
    }
    for (uint32_t seed = 1; seed <= test_times(25); seed++) {
        char spec[96];
        uint32_t size = 1 + (seed - 1) % 25;
        snprintf(spec, sizeof spec, "random:switches=%u,links=%u,total=%u,seed=%u", 5 + 2 * size,
                 7 + 5 * size, 5 + 2 * size, seed);
        sv_fabric *whole = test_fabric(ctx, spec), *f = broken(whole, (uint64_t)seed);
        woven(whole, 1 + (unsigned)seed % 3, 1.25, 12);
        woven(f, 1, 1.25, 12);
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
}

/* What the incumbent's nue takes 8 VLs, 49,676 routes and 7.6 hops for. */
static void weave_on_a_large_torus(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, test_enough() ? "torus:7x7x7,hosts=4" : "torus:5x5x5,hosts=4");
    woven(f, 2, 1.06, 3);
    woven(f, 8, 1.0001, 1.15);
    sv_fabric_free(f);
}

/* With one VL: shorter paths and a less busy channel than any other engine that needs only one.
 */
static void weave_is_best_with_one_vl(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:5x5x5,hosts=2", "dragonfly:a=6,p=3,h=3,g=12",
                                        "random:switches=60,links=300,total=240,seed=3",
                                        "hyperx:5x5x4,hosts=2"};
    static const char *const engines[] = {"updn", "dnup", "nue"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        const sv_route_request request = {.vls = 1, .seed = 1};
        sv_routes *r = NULL;
        sv_load best, load;
        OK(ctx, sv_route(ctx, f, "weave", &request, &r, NULL));
        OK(ctx, sv_routes_load(ctx, f, r, NULL, &best));
        sv_routes_free(r);
        for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
            OK(ctx, sv_route(ctx, f, engines[e], &request, &r, NULL));
            OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
            sv_routes_free(r);
            assert_true(best.max < load.max);
            assert_true(best.hops_avg <= load.hops_avg);
        }
        sv_fabric_free(f);
    }
}

/* Fabrics on which paths between switches without terminals once had no VL. */
static void bare_switches_are_safe(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *links;
        uint64_t seed;
    } cases[] = {{"dragonfly+:l=3,s=3,h=6,g=2,p=2", "4.1%", 4873},
                 {"dragonfly+:l=2,s=5,h=4,g=8,p=5", "0", 1},
                 {"kary:k=3,n=2,hosts=2", "1", 55},
                 {"kary:k=4,n=3,hosts=4", "3.4%", 9085}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_fabric *whole = test_fabric(ctx, cases[i].spec), *f = NULL;
        sv_fault_plan plan = {.seed = cases[i].seed};
        sv_fault_report report;
        sv_mask *mask = sv_mask_new(ctx, whole);
        assert_non_null(mask);
        OK(ctx, sv_amount_parse(ctx, cases[i].links, &plan.links));
        OK(ctx, sv_faults_draw(ctx, whole, &plan, mask, &report));
        OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
        for (unsigned vls = 1; vls <= 8; vls++)
            woven(f, vls, 1.25, 12);
        sv_mask_free(mask);
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
}

/* What a mode promises about SLs. */
static void assert_mode(const sv_fabric *f, const sv_routes *r, sv_sl_mode mode)
{
    uint32_t nodes = sv_num_nodes(f);
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            sv_node v = {a}, u = {b}, other = {b == 0};
            if (a == b || !sv_node_alive(f, v) || !sv_node_alive(f, u) || r->home[0] == SV_NONE)
                continue;
            unsigned sl = sv_route_sl(r, v, r->first[b]);
            if (mode == SV_SLS_ONE)
                assert_int_equal(sl, 0);
            if (mode == SV_SLS_REVERSIBLE)
                assert_int_equal(sl, sv_route_sl(r, u, r->first[a]));
            if (mode == SV_SLS_DESTINATION)
                assert_int_equal(sl, sv_route_sl(r, other, r->first[b]));
        }
}

/* Routes in a mode, and judges. Returns the busiest channel. */
static uint64_t in_mode(const sv_fabric *f, sv_sl_mode mode, unsigned vls)
{
    const sv_route_request request = {.vls = vls, .seed = 1, .sl_mode = mode};
    const sv_verify_options options = {.reversible = mode == SV_SLS_REVERSIBLE};
    sv_routes *r = NULL;
    sv_verification *found = NULL;
    sv_route_report report;
    sv_load load;
    OK(ctx, sv_route(ctx, f, "weave", &request, &r, &report));
    OK(ctx, sv_routes_check(ctx, f, r));
    OK(ctx, sv_verify(ctx, f, r, &options, &found));
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_MANAGED], SV_VERDICT_YES);
    assert_int_equal(found->loops, 0);
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], found->split_pairs);
    if (report.note[0] == 0)
        assert_int_equal(found->deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
    assert_true(found->vls_used <= vls && report.vls_used <= vls);
    assert_mode(f, r, mode);
    OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
    sv_verification_free(found);
    sv_routes_free(r);
    return load.max;
}

static void all_modes_keep_what_they_promise(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "torus:5,hosts=2",      "torus:5x4,hosts=2",         "torus:4x4x4,hosts=1",
        "kary:k=3,n=3,hosts=2", "dragonfly:a=4,p=2,h=2,g=9", "kautz:d=3,k=3,hosts=1",
        "mesh:1x2,hosts=1",     "slimfly:q=5,hosts=1",       "dragonfly+:l=2,s=2,h=2,g=2,p=1"};
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (int mode = 0; mode < SV_SLS_COUNT; mode++)
            for (unsigned vls = 1; vls <= 9; vls += vls < 5 ? 1 : 4)
                if (test_takes(&seen))
                    in_mode(f, (sv_sl_mode)mode, vls);
        sv_fabric_free(f);
    }
    for (int seed = 1; seed <= 20; seed++) {
        char spec[96];
        if (!test_takes(&seen))
            continue;
        snprintf(spec, sizeof spec, "random:switches=%d,links=%d,total=%d,seed=%d", 5 + 2 * seed,
                 7 + 5 * seed, 5 + 2 * seed, seed);
        sv_fabric *whole = test_fabric(ctx, spec), *f = broken(whole, (uint64_t)seed);
        in_mode(f, (sv_sl_mode)(seed % SV_SLS_COUNT), 1 + (unsigned)seed / 4);
        in_mode(whole, SV_SLS_ONE, 2);
        in_mode(whole, SV_SLS_REVERSIBLE, 6);
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
}

/* One SL, VLs by turn: much better than one VL, and the same SL both ways costs little. */
static void what_modes_cost(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:5x5x5,hosts=2", "dragonfly:a=8,p=4,h=4,g=13",
                                        "random:switches=125,links=1000,total=500,seed=1"};
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        if (!test_takes(&seen))
            continue;
        sv_fabric *f = test_fabric(ctx, specs[i]);
        double one = (double)in_mode(f, SV_SLS_ONE, 2);
        assert_true(one <= 0.7 * (double)in_mode(f, SV_SLS_PAIR, 1));
        assert_true((double)in_mode(f, SV_SLS_REVERSIBLE, 4) <=
                    1.1 * (double)in_mode(f, SV_SLS_PAIR, 4));
        sv_fabric_free(f);
    }
}

static void what_cannot_be(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x5,hosts=1");
    sv_routes *r = NULL;
    const char *const bad[] = {"rounds=0", "rounds=10", "rounds=many"};
    sv_route_request request = {.vls = 4, .seed = 1, .sl_mode = SV_SLS_ONE};
    FAILS(ctx, sv_route(ctx, f, "dfsssp", &request, &r, NULL), SV_BAD_INPUT,
          "by source and destination only");
    OK(ctx, sv_route(ctx, f, "updn", &request, &r, NULL)); /* one SL anyway */
    sv_routes_free(r);
    request.sl_mode = SV_SLS_COUNT;
    FAILS(ctx, sv_route(ctx, f, "weave", &request, &r, NULL), SV_BAD_INPUT, "no such mode");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        request = (sv_route_request){.vls = 2, .options = &bad[i], .num_options = 1};
        FAILS(ctx, sv_route(ctx, f, "weave", &request, &r, NULL), SV_BAD_INPUT, "is not 1-9");
    }
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weave_takes_the_vls_there_are),
        cmocka_unit_test(trees_are_balanced),
        cmocka_unit_test(sparse_trees),
        cmocka_unit_test(more_vls_than_hardware_has),
        cmocka_unit_test(weave_on_a_large_torus),
        cmocka_unit_test(weave_is_best_with_one_vl),
        cmocka_unit_test(bare_switches_are_safe),
        cmocka_unit_test(all_modes_keep_what_they_promise),
        cmocka_unit_test(what_modes_cost),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
