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

/* What a list says twice has failed once. */
static void failures_count_once(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=2");
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_report report;
    OK(ctx, read_list(f,
                      "link sw1-1 4 sw2-1 3\nport sw2-1 3\nlink sw2-1 3 sw1-1 4\n"
                      "adapter host9\nadapter host9\nswitch sw0-0\nswitch sw0-0\n",
                      mask, &report));
    assert_int_equal(report.links, 1);
    assert_int_equal(report.adapters, 1);
    assert_int_equal(report.switches, 1);
    assert_int_equal(report.lost_terminals, 3);
    sv_mask_free(mask);
    sv_fabric_free(f);
}

/* Without GUIDs nodes are written by name, whatever is in it. */
static void names_survive_a_list(void **state)
{
    (void)state;
    sv_builder *builder = sv_builder_new(ctx);
    const sv_switch_info about[] = {{.name = "C:\\n \"x\"", .ports = 2}, {.name = "#", .ports = 2}};
    const sv_link link = {.width = 4, .speed = SV_SPEED_QDR};
    sv_fabric *f = NULL;
    for (int i = 0; i < 2; i++)
        OK(ctx, sv_builder_add_switch(builder, &about[i], NULL));
    for (uint16_t port = 1; port <= 2; port++)
        OK(ctx, sv_builder_add_cable(builder, (sv_end){.index = 0, .port = port},
                                     (sv_end){.index = 1, .port = port}, &link));
    OK(ctx, sv_builder_finish(builder, &f));
    sv_mask *mask = sv_mask_new(ctx, f), *again = sv_mask_new(ctx, f);
    sv_fault_report report;
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    sv_mask_cable(mask, f, sv_channel_at(f, (sv_node){0}, 2));
    OK(ctx, sv_faults_write(ctx, f, mask, &sink));
    OK(ctx, read_list(f, buffer.text, again, &report));
    assert_int_equal(report.links, 1);
    assert_int_equal(again->channels[0], mask->channels[0]);
    free(buffer.text);
    sv_mask_free(mask);
    sv_mask_free(again);
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
        {"switch sw0-0\nswitch sw9-9\n", "list:2: no switch is called 'sw9-9'"},
        {"switch host1\n", "list:1: no switch is called 'host1'"},
        {"adapter sw0-0\n", "list:1: no adapter is called 'sw0-0'"},
        {"port nobody 1\n", "list:1: no node is called 'nobody'"},
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

/* A host with two ports, a switch of the same name, and names with quotes in them. */
static void strange_names_are_found(void **state)
{
    (void)state;
    sv_memory memory = {"Switch 8 \"A\" # \"tank\"\n[1] \"x\"[1]\n[2] \"x\"[2]\n[3] \"y\"[1]\n\n"
                        "Hca 2 \"x\" # \"tank mlx4_0\"\n[1] \"A\"[1]\n[2] \"A\"[2]\n\n"
                        "Hca 1 \"y\" # \"a \"quoted\" \\ name\"\n[1] \"A\"[3]\n",
                        0};
    memory.left = strlen(memory.at);
    sv_source source = sv_memory_source(&memory, "m");
    sv_fabric *f = NULL;
    OK(ctx, sv_fabric_read(ctx, &source, SV_FORMAT_AUTO, &f));
    const struct {
        const char *line;
        uint32_t switches, adapters, lost;
    } good[] = {
        {"adapter tank", 0, 1, 2},
        {"adapter \"tank mlx4_0\"", 0, 1, 2},
        {"adapter 0x100000", 0, 1, 2},
        {"adapter 0x100002", 0, 1, 2},
        {"adapter tank/2", 0, 1, 2},
        {"switch tank", 1, 0, 3},
        {"port \"tank mlx4_0\" 2", 0, 0, 1},
        {"port 0x100000 2", 0, 0, 1},
        {"adapter \"a \\\"quoted\\\" \\\\ name\"", 0, 1, 1},
        {"link \"tank mlx4_0\" 1 0x200000 1", 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        sv_mask *mask = sv_mask_new(ctx, f);
        sv_fault_report report;
        OK(ctx, read_list(f, good[i].line, mask, &report));
        assert_int_equal(report.switches, good[i].switches);
        assert_int_equal(report.adapters, good[i].adapters);
        assert_int_equal(report.lost_terminals, good[i].lost);
        sv_mask_free(mask);
    }
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_report report;
    FAILS(ctx, read_list(f, "port tank 2", mask, &report), SV_BAD_INPUT,
          "list:1: more than one node is called 'tank': give GUID, LID or port of one: switch "
          "'tank' ");
    OK(ctx, read_list(f, "switch tank\nadapter tank\nport tank/1 1\n", mask, &report));
    assert_int_equal(report.lost_terminals, 3); /* each once */
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
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE,
          "no switches fit the limits");
    plan = (sv_fault_plan){.seed = 1, .links = {true, 100000}, .only = "nobody*"};
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE,
          "no links fit the limits");
    plan = (sv_fault_plan){
        .both = {true, 100000}, .ratio_switches = 1, .ratio_links = 2, .only = "nobody*"};
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE,
          "no links fit the limits");
    plan = (sv_fault_plan){.seed = 1, .adapters = {false, 1}, .only = "sw0"};
    OK(ctx, sv_faults_draw(ctx, f, &plan, mask, &report));
    plan.adapters.value = 2;
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE, "1 of 2 adapters");
    plan = (sv_fault_plan){.both = {false, UINT32_MAX}, .ratio_switches = 65536, .ratio_links = 1};
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_INFEASIBLE, "switches can fail");
    plan = (sv_fault_plan){.both = {false, 1}};
    FAILS(ctx, sv_faults_draw(ctx, f, &plan, mask, &report), SV_BAD_INPUT, "need a ratio");
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
        cmocka_unit_test(failures_count_once),
        cmocka_unit_test(names_survive_a_list),
        cmocka_unit_test(wrong_lists_have_a_place),
        cmocka_unit_test(strange_names_are_found),
        cmocka_unit_test(when_no_choice_is_left),
        cmocka_unit_test(seeds_never_change),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
