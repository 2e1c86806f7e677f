/*
 * test_metrics.c: bisections that can be told without trying all: of fabrics with more switches
 * than that is done for, and of cables whose speed is not known; and bounds that can be told by
 * hand. Everything else of metrics.h is compared with igraph and with plain enumeration in
 * tests/oracle/test_graph.c and test_metrics.py.
 */
#include "support/testing.h"

#include "base/bitset.h"
#include "metrics/halves.h"

static sv_ctx *ctx;

static int make_ctx(void **state)
{
    (void)state;
    ctx = sv_ctx_new(NULL);
    return ctx == NULL;
}

static int free_ctx(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

/* Two groups of switches, complete inside, one cable between their first switches. */
static sv_fabric *dumbbell(uint32_t left, uint32_t right, uint32_t hosts)
{
    static const sv_link link = {.width = 4, .speed = SV_SPEED_QDR};
    sv_builder *b = sv_builder_new(ctx);
    uint16_t used[64] = {0};
    sv_fabric *f = NULL;
    for (uint32_t s = 0; s < left + right; s++)
        OK(ctx, sv_builder_add_switch(b, &(sv_switch_info){.name = "s", .ports = 64}, NULL));
    for (uint32_t s = 0; s < left + right; s++) {
        for (uint32_t to = s + 1; to < left + right; to++)
            if ((s < left) == (to < left) || (s == 0 && to == left)) {
                sv_end from = {.index = s, .port = ++used[s]};
                OK(ctx,
                   sv_builder_add_cable(b, from, (sv_end){.index = to, .port = ++used[to]}, &link));
            }
        for (uint32_t h = 0; h < hosts; h++) {
            sv_terminal_info about = {.port = 1};
            sv_end at = {.index = s, .port = ++used[s]}, end = {.terminal = true, .port = 1};
            sv_adapter_info card = {.name = "h", .ports = 1};
            OK(ctx, sv_builder_add_adapter(b, &card, &about.adapter));
            OK(ctx, sv_builder_add_terminal(b, &about, &end.index));
            OK(ctx, sv_builder_add_cable(b, at, end, &link));
        }
    }
    OK(ctx, sv_builder_finish(b, &f));
    return f;
}

static void expect_bisection(const sv_fabric *f, uint32_t cables, uint32_t larger, uint32_t smaller)
{
    sv_bisection b;
    OK(ctx, sv_fabric_bisection(ctx, f, 1, &b));
    assert_int_equal(b.cables, cables);
    assert_int_equal(b.terminals[0], larger);
    assert_int_equal(b.terminals[1], smaller);
    assert_int_equal(b.mbit, (uint64_t)cables * 32000);
}

/* A cut of one cable does not count where the sides differ by more than one in a hundred. */
static void halves_are_halves(void **state)
{
    (void)state;
    if (strstr(sv_features(), "metis") == NULL)
        skip();
    sv_fabric *f = dumbbell(10, 10, 10);
    expect_bisection(f, 1, 100, 100);
    sv_fabric_free(f);
    f = dumbbell(11, 9, 10);
    expect_bisection(f, 10, 100, 100); /* the end of the bridge goes to the other side */
    sv_fabric_free(f);
}

/* From any start, moving switches finds the bridge. */
static void moves_find_the_bridge(void **state)
{
    (void)state;
    sv_fabric *f = dumbbell(10, 10, 1);
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv__metrics_graph graph;
    sv__halves h;
    OK(ctx, sv__graph_make(&graph, &arena, f));
    OK(ctx, sv__halves_make(&h, &arena, &graph, f));
    for (uint32_t turn = 0; turn < 10; turn++) {
        uint8_t side[20];
        for (uint32_t v = 0; v < 20; v++)
            side[v] = (v + turn) % 20 < 10;
        OK(ctx, sv__halves_refine(&h, &arena, side));
        sv__cut cut = sv__halves_judge(&h, side);
        assert_int_equal(cut.gap, 0);
        assert_int_equal(cut.cables, 1);
    }
    sv_arena_release(&arena);
    sv_fabric_free(f);
}

/* METIS alone leaves 154 cables between the halves of Deimos. */
static void estimates_are_refined(void **state)
{
    (void)state;
    if (strstr(sv_features(), "metis") == NULL)
        skip();
    sv_fabric *f = test_fabric(ctx, "deimos");
    sv_bisection b;
    OK(ctx, sv_fabric_bisection(ctx, f, 1, &b));
    assert_in_range(b.cables, 1, 153);
    assert_in_range(b.terminals[0] - b.terminals[1], 0, 729 / 100 + 1);
    sv_fabric_free(f);
}

/* With one cable whose speed is not known nothing is said about the sum. */
static void a_sum_with_unknowns_is_unknown(void **state)
{
    (void)state;
    if (strstr(sv_features(), "metis") == NULL)
        skip();
    sv_fabric *f =
        test_read(ctx, "Switch 8 \"A\"\n[1] \"B\"[1] # \"\" lid 0 4xQDR\n[2] \"B\"[2]\n\n"
                       "Switch 8 \"B\"\n[1] \"A\"[1] # \"\" lid 0 4xQDR\n[2] \"A\"[2]\n");
    sv_bisection b;
    OK(ctx, sv_fabric_bisection(ctx, f, 1, &b));
    assert_int_equal(b.cables, 2);
    assert_int_equal(b.mbit, 0);
    sv_fabric_free(f);
}

/* ---- bounds ---- */

static void expect_bound(const sv_fabric *f, const sv_routes *r, uint64_t efi, sv_bound_kind kind,
                         uint64_t terminals, uint64_t channels)
{
    sv_bound b;
    OK(ctx, sv_routes_bound(ctx, f, r, &b));
    assert_int_equal(b.efi, efi);
    assert_string_equal(sv_bound_kind_name(b.kind), sv_bound_kind_name(kind));
    assert_int_equal(b.terminals, terminals);
    assert_int_equal(b.channels, channels);
}

static void expect_bound_of(const char *spec, uint64_t efi, sv_bound_kind kind, uint64_t terminals,
                            uint64_t channels)
{
    sv_fabric *f = test_fabric(ctx, spec);
    expect_bound(f, NULL, efi, kind, terminals, channels);
    sv_fabric_free(f);
}

static void bounds_of_each_kind(void **state)
{
    (void)state;
    expect_bound_of("mesh:1,hosts=4", 0, SV_BOUND_NONE, 0, 0);
    expect_bound_of("mesh:3", 2, SV_BOUND_MEAN, 3, 4);
    expect_bound_of("torus:7x7x7,hosts=4", 4704, SV_BOUND_MEAN, 1372, 2058);
    /* 1,089 addresses on 10 channels, 109 at least on one of them, with 11 routes each */
    expect_bound_of("kary:k=10,n=3,total=1100", 1199, SV_BOUND_SWITCH, 11, 10);
    expect_bound_of("dragonfly:a=12,p=6,h=6,g=15", 1037, SV_BOUND_CLUSTER, 72, 70);
    expect_bound_of("xgft:h=3,m=4/3/3,w=4/2/2,hosts=4", 288, SV_BOUND_SUBTREE, 48, 16);
    if (strstr(sv_features(), "metis") != NULL)
        expect_bound_of("mesh:8x5,hosts=2", 320, SV_BOUND_HALVES, 40, 5);
    expect_bound_of("mesh:4x4", 16, SV_BOUND_CUT, 8, 4);
}

/* All of one side is within a hop of any of its switches but the one with the bridge. */
static void a_bridge_bounds(void **state)
{
    (void)state;
    const sv_route_request request = {.lmc = 1};
    sv_routes *r = NULL;
    sv_fabric *f = dumbbell(10, 9, 10);
    expect_bound(f, NULL, 9000, SV_BOUND_BALL, 100, 1);
    OK(ctx, sv_route(ctx, f, "sssp", &request, &r, NULL));
    expect_bound(f, r, 18000, SV_BOUND_BALL, 100, 1);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Components are bounded by themselves: without its bridge, three and two switches. */
static void components_bound_themselves(void **state)
{
    (void)state;
    sv_fabric *f = dumbbell(3, 2, 2), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_bound b;
    for (uint32_t k = 0; k < f->num_channels; k++)
        if (f->tail[k].i + f->head[k].i == 3 && f->tail[k].i * f->head[k].i == 0)
            sv_bit_set(mask->channels, k);
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    expect_bound(left, NULL, 4, SV_BOUND_MEAN, 6, 6);
    OK(ctx, sv_routes_bound(ctx, left, NULL, &b));
    assert_int_equal(b.pairs, 6 * 5 + 4 * 3);
    assert_float_equal(b.hops, (6 * 4 + 2 * 4) / 42.0, 1e-12);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

static void bounds_at_any_number_of_threads(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "random:switches=70,links=110,total=100,seed=3");
    sv_bound one, many;
    sv_ctx_set_threads(ctx, 1);
    OK(ctx, sv_routes_bound(ctx, f, NULL, &one));
    sv_ctx_set_threads(ctx, 7);
    OK(ctx, sv_routes_bound(ctx, f, NULL, &many));
    sv_ctx_set_threads(ctx, 0);
    assert_int_equal(one.efi, many.efi);
    assert_int_equal(one.kind, many.kind);
    assert_int_equal(one.terminals, many.terminals);
    assert_int_equal(one.channels, many.channels);
    assert_true(one.hops == many.hops);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_halves),
        cmocka_unit_test(moves_find_the_bridge),
        cmocka_unit_test(estimates_are_refined),
        cmocka_unit_test(a_sum_with_unknowns_is_unknown),
        cmocka_unit_test(bounds_of_each_kind),
        cmocka_unit_test(a_bridge_bounds),
        cmocka_unit_test(components_bound_themselves),
        cmocka_unit_test(bounds_at_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
