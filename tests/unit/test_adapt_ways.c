/*
 * test_adapt_ways.c: specs of policies and their keys; ways by hand on a mesh and a tree; what a
 * packet takes over an empty way, by the simulator; VLs that are needed, and tables that are not
 * safe. (tests/oracle has all ways of random fabrics, and all dependencies.)
 */
#include "adapt/adapt.h"
#include "support/simulating.h"
#include "support/trials.h"

TEST_CONTEXT

static const sv_sim_model model = {.speedup = 100};

static sv_status make(const sv_fabric *f, const sv_routes *r, const char *spec, sv_adapt **a,
                      unsigned *vls)
{
    const sv_adapt_request request = {.spec = spec, .model = &model, .seed = 3};
    return sv_adapt_new(ctx, f, r, &request, a, vls);
}

static sv_adapt *made(const sv_fabric *f, const sv_routes *r, const char *spec)
{
    sv_adapt *a = NULL;
    unsigned vls = 0;
    OK(ctx, make(f, r, spec, &a, &vls));
    return a;
}

/* ---- specs ---- */

static void specs_are_refused(void **state)
{
    static const struct {
        const char *spec, *text;
    } bad[] = {
        {"", "there is no ''"},
        {"nobody", "there is no 'nobody' (known: deterministic, random"},
        {"random:", "nothing after the colon"},
        {"random:paths=2,", "nothing after the last comma"},
        {"random:paths", "'paths' is not key=value"},
        {"random:=3", "'=3' is not key=value"},
        {"random:paths=", "'paths=' is not key=value"},
        {"random:paths=2,paths=3", "key 'paths' is given twice"},
        {"random:high=3", "'random' has no key 'high' (known: paths, vias, reach"},
        {"random:paths=0", "paths=0 is not a whole number in 1…64"},
        {"random:paths=65", "paths=65 is not"},
        {"random:paths=2.5", "paths=2.5 is not a whole number"},
        {"random:paths=-1", "paths=-1 is not"},
        {"random:by=flow", "by=flow is not one of message, packet"},
        {"valiant:via=none", "via=none is not one of terminals, far, all"},
        {"ugal-l:bias=x", "bias=x is not a number in 0…1000000000000"},
    };
    sv_fabric *f = test_fabric(ctx, "mesh:2x2,hosts=1");
    sv_routes *r = test_routed(ctx, f, "dor", 0);
    sv_adapt *a = NULL;
    unsigned vls = 77;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        FAILS(ctx, make(f, r, bad[i].spec, &a, &vls), SV_BAD_INPUT, bad[i].text);
        assert_null(a);
        assert_int_equal(vls, 77);
    }
    const sv_source store = {.name = "store"};
    const sv_adapt_request request = {.spec = "random", .model = &model, .store = &store};
    FAILS(ctx, sv_adapt_new(ctx, f, r, &request, &a, &vls), SV_UNSUPPORTED,
          "policy 'random' keeps no solutions");
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void keys_have_defaults(void **state)
{
    sv_fabric *f = test_fabric(ctx, "mesh:2x2,hosts=1");
    sv_routes *r = test_routed(ctx, f, "dor", 0);
    (void)state;
    for (size_t i = 0; sv_adapt_at(i) != NULL; i++) {
        const sv_adapt_about *about = sv_adapt_at(i);
        char spec[400];
        int length = snprintf(spec, sizeof spec, "%s", about->name);
        for (size_t k = 0; about->keys[k] != NULL; k++) {
            assert_true(strlen(about->keys[k]->meaning) > 0);
            length += snprintf(spec + length, sizeof spec - (size_t)length, "%s%s=%s",
                               k == 0 ? ":" : ",", about->keys[k]->name, about->keys[k]->otherwise);
        }
        sv_adapt *plain = made(f, r, about->name), *all = made(f, r, spec);
        const sv_adapt_router *routers = sv_adapt_routers(plain);
        assert_true(routers == NULL || routers[0].notices == 0);
        assert_memory_equal(&plain->set, &all->set, sizeof plain->set);
        sv_adapt_free(plain);
        sv_adapt_free(all);
    }
    assert_null(sv_adapt_at(1000));
    sv_adapt *a = made(f, r, "random:paths=7,vias=1,reach=3,stretch=9,by=packet,adaptive=2");
    assert_int_equal(a->set.paths, 7);
    assert_int_equal(a->set.vias, 1);
    assert_int_equal(a->set.reach, 3);
    assert_int_equal(a->set.stretch, 9);
    assert_true(a->set.by_packet && sv_adapt_policy(a)->by_packet);
    assert_int_equal(sv_adapt_policy(a)->adaptive, 2);
    assert_int_equal(sv_adapt_policy(a)->segments, 2);
    test_buffer buffer = {0};
    sv_sink sink = test_sink(&buffer);
    FAILS(ctx, sv_adapt_store_write(ctx, a, &sink), SV_UNSUPPORTED, "'random' keeps no solutions");
    free(buffer.text);
    sv_adapt_free(a);
    sv_adapt_free(NULL);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* ---- ways ---- */

/* From corner to corner of a mesh by dimension order: x x y y. Around it by the other neighbour of
 * either end, or of both, which shares nothing. */
static void ways_on_a_mesh(void **state)
{
    sv_fabric *f = test_fabric(ctx, "mesh:3x3,hosts=1");
    sv_routes *r = test_routed(ctx, f, "dor", 0);
    sv_adapt *a = made(f, r, "random:reach=1,stretch=0");
    sv__adapt_path paths[8];
    uint32_t count = 0, to = r->first[9 + 8];
    sv_channel own[8], other[8];
    uint32_t length;
    (void)state;
    OK(ctx, sv__ways_find(a, 0, to, 8, paths, &count));
    assert_int_equal(count, 4);
    static const struct {
        uint8_t vias, shared;
    } wanted[] = {{0, 4}, {2, 0}, {1, 1}, {1, 1}};
    OK(ctx, sv__ways_channels(a, 0, to, &paths[0].way, own, 8, &length));
    assert_int_equal(length, 6);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(paths[i].channels, 6);
        assert_int_equal(paths[i].way.vias, wanted[i].vias);
        assert_int_equal(paths[i].shared, wanted[i].shared);
        assert_int_equal(paths[i].way.mark, i);
        OK(ctx, sv__ways_channels(a, 0, to, &paths[i].way, other, 8, &length));
        assert_int_equal(length, 6);
        assert_int_equal(other[0].i, own[0].i);
        assert_int_equal(other[5].i, own[5].i);
    }
    sv_node before = f->tail[own[4].i]; /* the switch before the last on path 0 */
    for (uint32_t k = 0; k < 2; k++)
        assert_true(r->node[paths[1].way.via[k]].i != before.i);
    OK(ctx, sv__ways_find(a, 0, to, 2, paths, &count)); /* fewer are the first of them */
    assert_int_equal(count, 2);
    assert_int_equal(paths[1].way.vias, 2);
    sv_adapt_free(a);
    a = made(f, r, "random:reach=1,stretch=0,vias=1");
    OK(ctx, sv__ways_find(a, 0, to, 8, paths, &count));
    assert_int_equal(count, 3);
    OK(ctx, sv__ways_find(a, 0, r->first[9 + 1], 8, paths, &count)); /* neighbours: none as short */
    assert_int_equal(count, 1);
    FAILS(ctx, sv__ways_find(a, 0, r->first[9], 8, paths, &count), SV_BAD_INPUT, "do not carry");
    sv_adapt_free(a);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* By each of the other spines, none of which shares anything; none between hosts of one leaf. */
static void ways_on_a_tree(void **state)
{
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4");
    sv_routes *r = test_routed(ctx, f, "dmodk", 0);
    sv_adapt *a = made(f, r, "cyclic:reach=1,stretch=0");
    sv__adapt_path paths[8];
    uint32_t count = 0;
    (void)state;
    OK(ctx, sv__ways_find(a, 0, r->first[f->num_switches + 5], 8, paths, &count));
    assert_int_equal(count, 4);
    for (uint32_t i = 1; i < count; i++) {
        assert_int_equal(paths[i].way.vias, 1);
        assert_int_equal(paths[i].channels, 4);
        assert_int_equal(paths[i].shared, 0);
        for (uint32_t k = 1; k < i; k++)
            assert_true(paths[i].way.via[0] != paths[k].way.via[0]);
    }
    OK(ctx, sv__ways_find(a, 0, r->first[f->num_switches + 1], 8, paths, &count));
    assert_int_equal(count, 1);
    assert_int_equal(paths[0].channels, 2);
    assert_int_equal(paths[0].shared, 0);
    sv_adapt_free(a);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* ---- empty latency ---- */

/* Hosts at both ends of a row of switches, links of the speeds given. */
static sim_case row_of(const uint8_t *speeds, uint32_t links)
{
    sim_cable cables[8];
    for (uint32_t i = 0; i < links; i++)
        cables[i] =
            (sim_cable){i == 0 ? SIM_HOST : i - 1, i + 1 == links ? SIM_HOST + 1 : i, speeds[i], 4};
    return sim_begin(ctx, sim_fabric(ctx, links - 1, 2, cables, links));
}

static void draw_model(sv_sim_model *m, sv_rng *rng)
{
    *m = sim_model();
    m->cable = sv_rng_below(rng, 20000);
    m->switch_delay = sv_rng_below(rng, 200000);
    m->speedup = 100 + (uint32_t)sv_rng_below(rng, 200);
    m->drain = 1 + sv_rng_below(rng, 900);
    m->inject = sv_rng_below(rng, 900);
    m->mtu_bytes = 4096;
    m->header_bytes = 1 + (uint32_t)sv_rng_below(rng, 80);
    m->voq = sv_rng_below(rng, 2) == 0;
    m->inband_bytes = sv_rng_below(rng, 2) == 0 ? 0 : 16;
    m->byte_ticks = sv_rng_below(rng, 4) == 0 ? 1 + sv_rng_below(rng, 700) : 0;
}

static void empty_is_alone(void **state)
{
    sv_rng rng;
    (void)state;
    sv_rng_init(&rng, 5);
    for (uint32_t trial = 0; trial < test_times(300); trial++) {
        uint32_t links = 2 + (uint32_t)sv_rng_below(&rng, 6), length, vls;
        uint8_t speeds[8];
        bool same = trial % 2 == 0;
        for (uint32_t i = 0; i < links; i++)
            speeds[i] = same && i > 0 ? speeds[0] : (uint8_t)(1 + sv_rng_below(&rng, 9));
        sim_case c = row_of(speeds, links);
        draw_model(&c.model, &rng);
        sim_send send = {0, 1, (uint32_t)sv_rng_below(&rng, 4097), 0};
        sim_run(ctx, &c, &send, 1, 1);
        assert_int_equal(c.num_arrivals, 1);
        uint64_t took = c.arrivals[0].time - c.arrivals[0].injected;
        sv_adapt *a = NULL;
        sv_channel channels[8];
        const sv_sim_way way = {.vias = 0};
        const sv_adapt_request request = {.spec = "deterministic", .model = &c.model};
        OK(ctx, sv_adapt_new(ctx, c.f, c.r, &request, &a, &vls));
        OK(ctx, sv__ways_channels(a, 0, sim_destination(&c, 1), &way, channels, 8, &length));
        assert_int_equal(length, links);
        uint32_t bytes = send.bytes + c.model.header_bytes;
        assert_int_equal(sv__ways_empty_over(a, channels, length, bytes), took);
        if (same)
            assert_int_equal(sv__ways_empty(a, 0, links, bytes), took);
        sv_adapt_free(a);
        sim_finish(&c);
    }
}

/* ---- VLs and proof ---- */

static void vls_are_counted(void **state)
{
    sv_fabric *f = test_fabric(ctx, "dragonfly:a=4,p=1,h=1,g=5");
    sv_routes *r = test_routed(ctx, f, "dla", 0);
    static const struct {
        const char *spec;
        unsigned vls;
    } wanted[] = {{"deterministic", 2}, {"deterministic:adaptive=3", 5}, {"random", 6},
                  {"random:vias=1", 4}, {"valiant:adaptive=1", 5},       {"ugal-g", 4}};
    sv_adapt *a = NULL;
    unsigned vls = 0;
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        OK(ctx, make(f, r, wanted[i].spec, &a, &vls));
        assert_int_equal(vls, wanted[i].vls);
        sv_adapt_free(a);
    }
    a = NULL;
    FAILS(ctx, make(f, r, "random:adaptive=3", &a, &vls), SV_INFEASIBLE,
          "needs 9 VLs (3 segments × 2 of the tables + 3 adaptive), and switches have 8: "
          "tables with 1 or fewer would do");
    FAILS(ctx, make(f, r, "random:adaptive=6", &a, &vls), SV_INFEASIBLE,
          "a VL for each of 3 segments and 6 adaptive ones, and switches have 8");
    assert_null(a);
    const sv_adapt_request few = {.spec = "random", .model = &model, .max_vls = 5};
    FAILS(ctx, sv_adapt_new(ctx, f, r, &few, &a, &vls), SV_INFEASIBLE, "switches have 5");
    const sv_adapt_request many = {.spec = "random:adaptive=8", .model = &model, .max_vls = 14};
    OK(ctx, sv_adapt_new(ctx, f, r, &many, &a, &vls));
    assert_int_equal(vls, 14);
    sv_adapt_free(a);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Unless told otherwise there are as many VLs as links have, or as tables use. */
static void links_offer_vls(void **state)
{
    static const struct {
        const char *fabric, *refused, *made;
        unsigned offered;
    } cases[] = {
        {"dragonfly:a=4,p=1,h=1,g=5,vls=15", "random:adaptive=10", "random:adaptive=9", 15},
        {"dragonfly:a=4,p=1,h=1,g=5,vls=4", "random", "valiant", 4},
        {"dragonfly:a=4,p=1,h=1,g=5,vls=1", "valiant", "deterministic", 2}};
    const sv_route_request two = {.vls = 2};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_fabric *f = test_fabric(ctx, cases[i].fabric);
        sv_routes *r = NULL;
        sv_adapt *a = NULL;
        unsigned vls = 0;
        char text[32];
        OK(ctx, sv_route(ctx, f, "dla", &two, &r, NULL));
        snprintf(text, sizeof text, "switches have %u", cases[i].offered);
        FAILS(ctx, make(f, r, cases[i].refused, &a, &vls), SV_INFEASIBLE, text);
        OK(ctx, make(f, r, cases[i].made, &a, &vls));
        assert_int_equal(vls, cases[i].offered);
        sv_adapt_free(a);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

static void unsafe_tables_are_refused(void **state)
{
    sv_fabric *f = test_fabric(ctx, "torus:5,hosts=1");
    sv_routes *r = test_routed(ctx, f, "minhop", 0);
    sv_adapt *a = NULL;
    unsigned vls = 0;
    (void)state;
    FAILS(ctx, make(f, r, "valiant", &a, &vls), SV_INFEASIBLE, "could wait for each other");
    assert_non_null(strstr(sv_ctx_message(ctx), "5 channels"));
    assert_non_null(strstr(sv_ctx_message(ctx), "nue with 4 VLs"));
    OK(ctx, make(f, r, "deterministic", &a, &vls)); /* as without a policy */
    sv_adapt_free(a);
    const sv_adapt_request request = {.spec = "valiant", .model = &model, .unproven = true};
    OK(ctx, sv_adapt_new(ctx, f, r, &request, &a, &vls));
    assert_int_equal(vls, 2);
    sv_adapt_free(a);
    a = NULL;
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_UNKNOWN));
    FAILS(ctx, make(f, r, "valiant", &a, &vls), SV_INFEASIBLE, "wait for each other");
    sv_routes_free(r);
    const sv_route_request four = {.vls = 4};
    OK(ctx, sv_route(ctx, f, "nue", &four, &r, NULL));
    OK(ctx, make(f, r, "valiant", &a, &vls));
    sv_adapt_free(a);
    a = NULL;
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_UNKNOWN));
    FAILS(ctx, make(f, r, "valiant", &a, &vls), SV_INFEASIBLE,
          "is not known: these tables do not tell all service levels");
    assert_null(a);
    sv_routes_free(r);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_are_refused), cmocka_unit_test(keys_have_defaults),
        cmocka_unit_test(ways_on_a_mesh),    cmocka_unit_test(ways_on_a_tree),
        cmocka_unit_test(empty_is_alone),    cmocka_unit_test(vls_are_counted),
        cmocka_unit_test(links_offer_vls),   cmocka_unit_test(unsafe_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
