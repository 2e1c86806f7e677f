/*
 * test_vls.c: engines that put paths into VLs: every way of doing it on many fabrics, judged by
 * sv_verify; how many VLs they take; idle VLs; pairs that share a level; what cannot be.
 */
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

/* A way of routing: an engine, and one option of it or NULL. */
struct way {
    const char *engine, *option;
};

static const struct way ways[] = {{"dfsssp", NULL},
                                  {"dfsssp", "assign=joint"},
                                  {"dfsssp", "assign=weakest"},
                                  {"dfsssp", "assign=strongest"},
                                  {"dfsssp", "assign=first"},
                                  {"dfsssp", "assign=online"},
                                  {"lash", NULL}};

enum { WAYS = sizeof ways / sizeof ways[0] };

static sv_status route(const sv_fabric *f, struct way way, unsigned vls, unsigned lmc,
                       sv_routes **r, sv_route_report *report)
{
    const sv_route_request request = {.vls = vls,
                                      .lmc = lmc,
                                      .seed = 1,
                                      .options = &way.option,
                                      .num_options = way.option != NULL};
    return sv_route(ctx, f, way.engine, &request, r, report);
}

/* Routes, and judges: no deadlock, everybody joined, no way longer than it must be. */
static unsigned judged(const sv_fabric *f, struct way way, unsigned vls, unsigned lmc)
{
    sv_routes *r = NULL;
    sv_verification *found = NULL;
    sv_route_report report;
    sv_load load;
    sv_distances distances;
    OK(ctx, route(f, way, vls, lmc, &r, &report));
    OK(ctx, sv_routes_check(ctx, f, r));
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_MANAGED], SV_VERDICT_YES);
    if (report.note[0] == '\0')
        assert_int_equal(found->deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
    assert_int_equal(found->loops, 0);
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], found->split_pairs);
    assert_true(report.vls_needed >= 1 && report.vls_needed <= vls && report.vls_used <= vls);
    assert_true(found->vls_used <= vls);
    OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
    OK(ctx, sv_fabric_distances(ctx, f, &distances));
    if (load.pairs > 0)
        assert_float_equal(load.hops_avg, distances.mean_terminal_distance, 1e-9);
    sv_verification_free(found);
    sv_routes_free(r);
    return report.vls_needed;
}

static void all_ways_are_free_of_deadlock_and_shortest(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "torus:5,hosts=2",           "torus:4x4,hosts=1",    "torus:5x3,hosts=2",
        "mesh:3x3,hosts=1",          "kary:k=3,n=2,hosts=3", "hypercube:4,hosts=1",
        "fullmesh:6,hosts=2",        "torus:5,hosts=1,r=2",  "kautz:d=2,k=3,hosts=1",
        "dragonfly:a=4,p=2,h=2,g=9", "slimfly:q=5,hosts=1",  "fullmesh:1,hosts=3",
        "mesh:1x2,hosts=0"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (int w = 0; w < WAYS; w++)
            judged(f, ways[w], 16, i % 3 == 1);
        sv_fabric_free(f);
    }
}

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

static void random_fabrics_with_failures(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= test_times(25); seed++) {
        char spec[96];
        uint32_t size = 1 + (seed - 1) % 25;
        snprintf(spec, sizeof spec, "random:switches=%u,links=%u,total=%u,seed=%u", 5 + size,
                 7 + 2 * size, 3 + 2 * size, seed);
        sv_fabric *whole = test_fabric(ctx, spec), *f = broken(whole, (uint64_t)seed);
        for (int w = 0; w < WAYS; w++)
            judged(seed % 2 == 0 ? whole : f, ways[w], 32, seed % 2 == 0);
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
}

static void vls_needed(void **state)
{
    (void)state;
    sv_fabric *ring = test_fabric(ctx, "torus:5,hosts=1");
    /* Two hops around the ring, from everywhere: one VL is a circle, two are enough. */
    for (int w = 0; w < WAYS; w++)
        assert_int_equal(judged(ring, ways[w], 8, 0), 2);
    sv_routes *r = NULL;
    for (int w = 0; w < WAYS; w++)
        FAILS(ctx, route(ring, ways[w], 1, 0, &r, NULL), SV_INFEASIBLE, "needs 2 VLs, 1 is there");
    sv_fabric_free(ring);
    /* A tree needs one, however it is done; so does a ring of four with shortest paths that may
     * choose. */
    sv_fabric *tree = test_fabric(ctx, "kary:k=4,n=3,hosts=4");
    for (int w = 0; w < WAYS; w++)
        assert_int_equal(judged(tree, ways[w], 1, 0), 1);
    sv_fabric_free(tree);
}

/* Switches without terminals can talk, too, if there are idle VLs. */
static void idle_vls_serve_switches(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=3,hosts=4");
    for (int w = 0; w < WAYS; w++) {
        sv_routes *r = NULL;
        sv_verification *found = NULL;
        sv_route_report report;
        OK(ctx, route(f, ways[w], 4, 0, &r, &report));
        OK(ctx, sv_verify(ctx, f, r, NULL, &found));
        assert_int_equal(report.vls_needed, 1);
        assert_string_equal(report.note, "");
        assert_int_equal(found->deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
        sv_verification_free(found);
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

/* Paths are spread over no more VLs than hardware has, unless they are needed. */
static void vls_beyond_hardware(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x5,hosts=1");
    for (int w = 0; w < WAYS; w++) {
        sv_routes *r = NULL;
        sv_route_report report;
        OK(ctx, route(f, ways[w], 40, 0, &r, &report));
        assert_int_equal(report.vls_used, SV_HARDWARE_VLS);
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

/* Small fabrics are tried several times: of these, one VL does, with both parallel cables. */
static void small_fabrics_are_tried_again(void **state)
{
    (void)state;
    static const char *const specs[] = {"random:switches=5,links=6,hosts=1,seed=4",
                                        "random:switches=6,links=7,hosts=1,seed=7",
                                        "random:switches=7,links=9,hosts=1,seed=4"};
    for (int i = 0; i < 3; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        assert_int_equal(judged(f, (struct way){"dfsssp", NULL}, 1, 0), 1);
        sv_fabric_free(f);
    }
}

/* Fewer VLs than by breaking cycles: what the peers need (shared figures), halved. */
static void paths_and_vls_together_take_fewer_vls(void **state)
{
    (void)state;
    const struct way joint = {"dfsssp", NULL}, weakest = {"dfsssp", "assign=weakest"};
    static const struct {
        const char *spec;
        unsigned incumbent;
    } peers[] = {{"random:switches=125,links=1000,total=1000,radix=36,seed=1", 5},
                 {"dragonfly:a=12,p=6,h=6,g=15", 6},
                 {"kary:k=10,n=3,total=1100", 1},
                 {"torus:4x4x4,hosts=4", 9}};
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        sv_fabric *f = test_fabric(ctx, peers[i].spec);
        unsigned vls = judged(f, joint, 8, 0);
        assert_true(vls <= (peers[i].incumbent + 1) / 2);
        assert_true(vls <= judged(f, weakest, 32, 0));
        sv_fabric_free(f);
    }
}

/* Idle VLs take their share of the routes. */
static void idle_vls_are_filled(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x5,hosts=2");
    for (int w = 0; w < WAYS; w++) {
        sv_routes *r = NULL;
        sv_route_report report;
        uint64_t routes[8] = {0}, all = 0;
        OK(ctx, route(f, ways[w], 8, 0, &r, &report));
        for (uint32_t d = f->num_switches; d < r->num_destinations; d++)
            for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
                if (r->home[v - f->num_switches] != r->home[r->node[d].i - f->num_switches]) {
                    unsigned sl = sv_route_sl(r, (sv_node){v}, d);
                    assert_true(sl < 8);
                    routes[sl]++;
                    all++;
                }
        for (unsigned l = 0; l < 8; l++) {
            if (w < 2) /* chosen together, all VLs are alike */
                assert_true(routes[l] > all / 10 && routes[l] < all / 6);
            if (l >= report.vls_needed)
                assert_true(routes[l] > all / 20);
        }
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

static void lash_uses_one_level_both_ways(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "random:switches=20,links=40,total=40,seed=3");
    for (unsigned vls = 4; vls <= 8; vls += 4) {
        sv_routes *r = NULL;
        OK(ctx, route(f, (struct way){"lash", NULL}, vls, 1, &r, NULL));
        for (uint32_t a = 0; a < sv_num_nodes(f); a++)
            for (uint32_t b = 0; b < sv_num_nodes(f); b++)
                for (uint32_t d = r->first[b]; a != b && d < r->first[b + 1]; d++)
                    assert_int_equal(sv_route_sl(r, (sv_node){a}, d),
                                     sv_route_sl(r, (sv_node){b}, r->first[a]));
        /* One path between two switches, for all that is on them. */
        for (uint32_t d = f->num_switches; d < r->num_destinations; d++) {
            uint32_t home = r->home[r->node[d].i - f->num_switches];
            for (uint32_t s = 0; s < f->num_switches; s++)
                if (s != home)
                    assert_int_equal(r->ports[d][s], r->ports[home][s]);
        }
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

/* Of a kind of work: how often it told how far it is. */
struct calls {
    const char *of;
    unsigned count;
};

static void count_calls(void *user, const char *what, uint64_t done, uint64_t total)
{
    struct calls *calls = user;
    (void)done;
    (void)total;
    calls->count += strcmp(what, calls->of) == 0;
}

/* How often a way tells how far it is with some work, and so can be stopped. */
static unsigned calls_of(const char *work, const char *spec, struct way way, sv_routes **r,
                         unsigned *vls)
{
    struct calls calls = {.of = work};
    sv_ctx *usual = ctx;
    sv_route_report report;
    ctx = sv_ctx_new(&(sv_host){.user = &calls, .progress = count_calls});
    sv_fabric *f = test_fabric(ctx, spec);
    OK(ctx, route(f, way, 64, 0, r, &report));
    *vls = report.vls_needed;
    sv_fabric_free(f);
    sv_ctx_free(ctx);
    ctx = usual;
    return calls.count;
}

static void long_work_can_be_stopped(void **state)
{
    (void)state;
    static const char tree[] = "xgft:h=2,m=4/4,w=4/4,hosts=4";
    sv_routes *r = NULL;
    unsigned vls;
    /* Paths that count, what they are made of, and the rest: each destination by destination. */
    unsigned calls = calls_of("vls", tree, (struct way){"dfsssp", NULL}, &r, &vls);
    assert_true(calls >= 3 * ((r->num_destinations + 63) / 64));
    sv_routes_free(r);
    /* A search begins at each channel; the first ones break nearly all cycles. */
    calls =
        calls_of("vls", "torus:4x4x4,hosts=1", (struct way){"dfsssp", "assign=weakest"}, &r, &vls);
    assert_true(calls > 2 * vls * (4 * 4 * 4 * 6 / 64));
    sv_routes_free(r);
    assert_true(calls_of("routing", tree, (struct way){"lash", NULL}, &r, &vls) > 0);
    sv_routes_free(r);
    /* Searches in each layer. */
    calls = calls_of("escape paths", tree, (struct way){"nue", NULL}, &r, &vls);
    assert_true(calls >= 2 * vls);
    sv_routes_free(r);
}

static void what_cannot_be(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5,hosts=1");
    sv_routes *r = NULL;
    FAILS(ctx, route(f, (struct way){"dfsssp", "assign=most"}, 8, 0, &r, NULL), SV_BAD_INPUT,
          "engine dfsssp: assign=most is not joint|weakest|");
    FAILS(ctx, route(f, (struct way){"lash", "assign=first"}, 8, 0, &r, NULL), SV_BAD_INPUT,
          "lash has no option");
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_are_free_of_deadlock_and_shortest),
        cmocka_unit_test(random_fabrics_with_failures),
        cmocka_unit_test(vls_needed),
        cmocka_unit_test(paths_and_vls_together_take_fewer_vls),
        cmocka_unit_test(idle_vls_serve_switches),
        cmocka_unit_test(vls_beyond_hardware),
        cmocka_unit_test(small_fabrics_are_tried_again),
        cmocka_unit_test(idle_vls_are_filled),
        cmocka_unit_test(lash_uses_one_level_both_ways),
        cmocka_unit_test(long_work_can_be_stopped),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
