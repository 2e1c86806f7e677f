/*
 * test_faults.c: amounts, lists of failures, and what their messages say. That random failures cut
 * nobody off is checked against a second implementation in tests/oracle/test_faults.c.
 */
#include "support/testing.h"

#include "base/file.h"

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

static void amounts(void **state)
{
    (void)state;
    sv_amount a;
    OK(ctx, sv_amount_parse(ctx, "12", &a));
    assert_false(a.relative);
    assert_int_equal(a.value, 12);
    OK(ctx, sv_amount_parse(ctx, "1%", &a));
    assert_true(a.relative);
    assert_int_equal(a.value, 10000);
    OK(ctx, sv_amount_parse(ctx, "0.25%", &a));
    assert_int_equal(a.value, 2500);
    OK(ctx, sv_amount_parse(ctx, "100%", &a));
    const char *wrong[] = {"",    "x",    "-1",     "1.5", "1.%", "%",
                           "1%%", "101%", "100.1%", "1 %", "1e3", "0.00001%"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(sv_amount_parse(ctx, wrong[i], &a), SV_BAD_INPUT);
}

static void percentages_are_rounded_down(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=16,n=2,hosts=16");
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_plan plan = {.seed = 1, .links = {true, 10000}};
    sv_fault_report report;
    OK(ctx, sv_faults_draw(ctx, f, &plan, mask, &report));
    assert_int_equal(report.links, 2); /* 1 % of 256 */
    sv_mask_free(mask);
    sv_fabric_free(f);
}

static void both_in_a_ratio(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "tsubame2:rail=1");
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_plan plan = {.seed = 1, .both = {true, 10000}, .ratio_switches = 1, .ratio_links = 13};
    sv_fault_report report;
    OK(ctx, sv_faults_draw(ctx, f, &plan, mask, &report));
    assert_int_equal(report.links, 36); /* 1 % of 3,621 */
    assert_int_equal(report.switches, 2);
    sv_mask_free(mask);
    sv_fabric_free(f);
}

static sv_status read_list(const sv_fabric *f, const char *text, sv_mask *mask,
                           sv_fault_report *report)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "list");
    *report = (sv_fault_report){0};
    return sv_faults_read(ctx, f, &source, mask, report);
}

static void lists_are_obeyed(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=2"), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_report report;
    OK(ctx, read_list(f,
                      "# what broke\n\nswitch sw0-0 # with a remark\n"
                      "link sw1-1 4 sw2-1 3\nport \"sw3-3\" 1\nadapter host9\n"
                      "switch 0x02005e1a00000001\n",
                      mask, &report));
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    OK(ctx, sv_fabric_check(ctx, left));
    assert_int_equal(report.switches, 1);
    assert_int_equal(report.links, 1);
    assert_int_equal(report.adapters, 1);
    assert_int_equal(report.lost_terminals, 4);
    assert_int_equal(left->live_switches, 15);
    assert_int_equal(left->live_terminals, 32 - 2 - 1 - 1);
    assert_int_equal(test_links(left), 32 - 4 - 1);

    /* What is written reads back to the same. */
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_faults_write(ctx, f, mask, &sink));
    sv_mask *again = sv_mask_new(ctx, f);
    sv_fabric *same = NULL;
    OK(ctx, read_list(f, buffer.text, again, &report));
    OK(ctx, sv_fabric_mask(ctx, f, again, &same));
    assert_memory_equal(same->dead_channels, left->dead_channels, (f->num_channels + 7) / 8);
    free(buffer.text);
    sv_mask_free(mask);
    sv_mask_free(again);
    sv_fabric_free(left);
    sv_fabric_free(same);
    sv_fabric_free(f);
}

static void wrong_lists_have_a_place(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=2");
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_report report;
    const struct {
        const char *text, *message;
    } wrong[] = {
        {"switch sw0-0\nswitch sw9-9\n", "list:2: no node is called 'sw9-9'"},
        {"switch host1\n", "list:1: 'host1' is not a switch"},
        {"adapter sw0-0\n", "list:1: 'sw0-0' is a switch"},
        {"port sw0-0 99\n", "list:1: port 99 of 'sw0-0' has no cable"},
        {"port sw0-0 x\n", "list:1: 'x' is not the number of a port"},
        {"link sw0-0 3 sw1-1 3\n", "list:1: no cable joins 'sw0-0' port 3 and 'sw1-1' port 3"},
        {"melt sw0-0\n", "list:1: not 'switch NODE'"},
        {"switch\n", "list:1: not 'switch NODE'"},
        {"switch \"sw0-0\n", "list:1: a quote is not closed"},
        {"switch a b c d e f g h\n", "list:1: not 'switch NODE'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        FAILS(ctx, read_list(f, wrong[i].text, mask, &report), SV_BAD_INPUT, wrong[i].message);
        for (size_t w = 0; w * 64 < sv_num_nodes(f); w++)
            assert_true(mask->nodes[w] == 0); /* nothing was done */
    }
    sv_mask_free(mask);
    sv_fabric_free(f);
}

static void when_no_choice_is_left(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:5");
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_plan plan = {.seed = 1, .links = {false, 1}};
    sv_fault_report report;
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE,
          "only 0 of 1 links can fail (4 candidates) without cutting terminals off");
    plan = (sv_fault_plan){.seed = 1, .switches = {false, 4}};
    OK(ctx, sv_faults_draw(ctx, f, &plan, mask, &report)); /* from the ends inwards */
    plan.keep_terminals = true;
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE, "(0 candidates)");
    plan = (sv_fault_plan){.seed = 1, .adapters = {false, 6}};
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE, "5 of 6 adapters");
    sv_mask_free(mask);
    sv_fabric_free(f);
}

/* The same seed must give the same failures in every version: published studies depend on it. */
static void seeds_never_change(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1");
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_plan plan = {.seed = 1, .links = {false, 2}, .switches = {false, 1}};
    sv_fault_report report;
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_faults_draw(ctx, f, &plan, mask, &report));
    OK(ctx, sv_faults_write(ctx, f, mask, &sink));
    assert_string_equal(buffer.text,
                        "switch 0x02005e1a0000000f # sw3-2\n"
                        "link 0x02005e1a00000004 2 0x02005e1a00000010 3 # sw0-3 sw3-3\n"
                        "link 0x02005e1a0000000d 5 0x02005e1a0000000e 4 # sw3-0 sw3-1\n");
    free(buffer.text);
    sv_mask_free(mask);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts),
        cmocka_unit_test(percentages_are_rounded_down),
        cmocka_unit_test(both_in_a_ratio),
        cmocka_unit_test(lists_are_obeyed),
        cmocka_unit_test(wrong_lists_have_a_place),
        cmocka_unit_test(when_no_choice_is_left),
        cmocka_unit_test(seeds_never_change),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
