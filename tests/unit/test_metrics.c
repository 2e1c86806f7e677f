/*
 * test_metrics.c: bisections that can be told without trying all: of fabrics with more switches
 * than that is done for, and of cables whose speed is not known. Everything else of metrics.h is
 * compared with igraph and with plain enumeration in tests/oracle/test_graph.c.
 */
#include "support/testing.h"

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
    sv__graph graph;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_halves),
        cmocka_unit_test(moves_find_the_bridge),
        cmocka_unit_test(estimates_are_refined),
        cmocka_unit_test(a_sum_with_unknowns_is_unknown),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
