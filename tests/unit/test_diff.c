/*
 * test_diff.c: what changed between two fabrics: every kind of change alone, several together, and
 * that nothing is reported twice.
 */
#include "support/testing.h"

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

/* A fabric in ibsim's short hand; GUIDs are 0x200000 and 0x100000 upwards. */
#define BASE                                                                                       \
    "Switch 8 \"S1\"\n[1] \"S2\"[1] # \"\" lid 0 4xQDR\n[2] \"H1\"[1]\n[3] \"S2\"[3] # \"\" lid "  \
    "0 "                                                                                           \
    "4xQDR\n\n"                                                                                    \
    "Switch 8 \"S2\"\n[1] \"S1\"[1] # \"\" lid 0 4xQDR\n[2] \"H2\"[1]\n[3] \"S1\"[3] # \"\" lid "  \
    "0 "                                                                                           \
    "4xQDR\n\n"                                                                                    \
    "Hca 2 \"H1\"\n[1] \"S1\"[2]\n\nHca 2 \"H2\"\n[1] \"S2\"[2]\n"

static void print_kinds(const sv_diff *diff)
{
    for (size_t i = 0; i < diff->length; i++)
        print_message("kind %u what %u %u %u\n", diff->changes[i].kind, diff->changes[i].what,
                      diff->changes[i].a, diff->changes[i].b);
}

/* Compares two texts; wanted is kind and what, pairs of digits ("22": a cable moved). */
static void expect(const char *old, const char *new, sv_match_by by, const char *wanted)
{
    sv_fabric *a = test_read(ctx, old), *b = test_read(ctx, new);
    sv_diff *diff = NULL;
    OK(ctx, sv_fabric_diff(ctx, a, b, by, &diff));
    char found[200] = "";
    for (size_t i = 0; i < diff->length && i < 60; i++)
        snprintf(found + 3 * i, sizeof found - 3 * i, "%u%u ", diff->changes[i].kind,
                 diff->changes[i].what);
    if (strcmp(found, wanted) != 0) {
        print_kinds(diff);
        fail_msg("'%s' instead of '%s'", found, wanted);
    }
    sv_diff_free(diff);
    sv_fabric_free(a);
    sv_fabric_free(b);
}

static void nothing_changed(void **state)
{
    (void)state;
    expect(BASE, BASE, SV_MATCH_GUID, "");
    expect(BASE, BASE, SV_MATCH_NAME, "");
}

static void a_cable_is_lost_or_added(void **state)
{
    (void)state;
    const char *less = "Switch 8 \"S1\"\n[1] \"S2\"[1] # \"\" lid 0 4xQDR\n[2] \"H1\"[1]\n\n"
                       "Switch 8 \"S2\"\n[1] \"S1\"[1] # \"\" lid 0 4xQDR\n[2] \"H2\"[1]\n\n"
                       "Hca 2 \"H1\"\n[1] \"S1\"[2]\n\nHca 2 \"H2\"\n[1] \"S2\"[2]\n";
    expect(BASE, less, SV_MATCH_GUID, "12 ");
    expect(less, BASE, SV_MATCH_GUID, "02 ");
}

static void a_host_is_replugged(void **state)
{
    (void)state;
    const char *moved =
        "Switch 8 \"S1\"\n[1] \"S2\"[1] # \"\" lid 0 4xQDR\n[3] \"S2\"[3] # \"\" lid 0 4xQDR\n\n"
        "Switch 8 \"S2\"\n[1] \"S1\"[1] # \"\" lid 0 4xQDR\n[2] \"H2\"[1]\n"
        "[3] \"S1\"[3] # \"\" lid 0 4xQDR\n[5] \"H1\"[1]\n\n"
        "Hca 2 \"H1\"\n[1] \"S2\"[5]\n\nHca 2 \"H2\"\n[1] \"S2\"[2]\n";
    expect(BASE, moved, SV_MATCH_GUID, "22 ");
}

static void two_hosts_are_swapped(void **state)
{
    (void)state;
    const char *swapped = "Switch 8 \"S1\"\n[1] \"S2\"[1] # \"\" lid 0 4xQDR\n[2] \"H2\"[1]\n"
                          "[3] \"S2\"[3] # \"\" lid 0 4xQDR\n\n"
                          "Switch 8 \"S2\"\n[1] \"S1\"[1] # \"\" lid 0 4xQDR\n[2] \"H1\"[1]\n"
                          "[3] \"S1\"[3] # \"\" lid 0 4xQDR\n\n"
                          "Hca 2 \"H1\"\n[1] \"S2\"[2]\n\nHca 2 \"H2\"\n[1] \"S1\"[2]\n";
    expect(BASE, swapped, SV_MATCH_GUID, "22 22 ");
}

static void a_cable_gets_slower(void **state)
{
    (void)state;
    const char *slow = "Switch 8 \"S1\"\n[1] \"S2\"[1] # \"\" lid 0 4xSDR\n[2] \"H1\"[1]\n"
                       "[3] \"S2\"[3] # \"\" lid 0 4xQDR\n\n"
                       "Switch 8 \"S2\"\n[1] \"S1\"[1] # \"\" lid 0 4xSDR\n[2] \"H2\"[1]\n"
                       "[3] \"S1\"[3] # \"\" lid 0 4xQDR\n\n"
                       "Hca 2 \"H1\"\n[1] \"S1\"[2]\n\nHca 2 \"H2\"\n[1] \"S2\"[2]\n";
    expect(BASE, slow, SV_MATCH_GUID, "32 ");
}

/* As fast a VL, but fewer of them. */
static void a_cable_gets_narrower(void **state)
{
    (void)state;
    const char *wide = "Switch 8 \"A\"\n[1] \"B\"[1] # \"\" lid 0 4xQDR\n\nSwitch 8 \"B\"\n[1] "
                       "\"A\"[1] # \"\" lid 0 4xQDR\n";
    const char *narrow = "Switch 8 \"A\"\n[1] \"B\"[1] # \"\" lid 0 1xQDR\n\nSwitch 8 \"B\"\n[1] "
                         "\"A\"[1] # \"\" lid 0 1xQDR\n";
    expect(wide, narrow, SV_MATCH_GUID, "32 ");
}

static void a_switch_takes_its_cables_along(void **state)
{
    (void)state;
    const char *less = "Switch 8 \"S1\"\n[2] \"H1\"[1]\n\nHca 2 \"H1\"\n[1] \"S1\"[2]\n";
    expect(BASE, less, SV_MATCH_GUID, "10 11 ");
    expect(less, BASE, SV_MATCH_GUID, "00 01 ");
}

static void a_name_changes(void **state)
{
    (void)state;
    const char *old = "Switch 8 \"S1\" # \"one\"\n[1] \"H1\"[1]\n\nHca 1 \"H1\"\n[1] \"S1\"[1]\n";
    const char *new = "Switch 8 \"S1\" # \"two\"\n[1] \"H1\"[1]\n\nHca 1 \"H1\"\n[1] \"S1\"[1]\n";
    expect(old, new, SV_MATCH_GUID, "40 ");
    /* By name it is another switch, and the host was moved to it. */
    expect(old, new, SV_MATCH_NAME, "10 00 22 ");
    const char *host = "Switch 8 \"S1\" # \"one\"\n[1] \"H1\"[1]\n\nHca 1 \"H1\" # \"other\"\n"
                       "[1] \"S1\"[1]\n";
    expect(old, host, SV_MATCH_GUID, "41 ");
}

/* Another switch in the place of one is not that one. */
static void a_switch_is_replaced(void **state)
{
    (void)state;
    const char *old = "Switch 8 \"S1\"\n[1] \"S2\"[1]\n\nSwitch 8 \"S2\"\n[1] \"S1\"[1]\n";
    const char *new = "Switch 8 \"S1\"\n[1] \"S2\"[1]\n\nswitchguid=0x77\nSwitch 8 \"S2\"\n[1] "
                      "\"S1\"[1]\n";
    expect(old, new, SV_MATCH_GUID, "10 00 22 ");
    expect(old, new, SV_MATCH_NAME, "");
}

/* Names and GUIDs that are not unique: nodes are told apart by where they are cabled. */
static void twins_are_told_apart_by_their_place(void **state)
{
    (void)state;
    const char *old = "Switch 8 \"S1\" # \"root\"\n[1] \"S2\"[1]\n[2] \"S3\"[1]\n[3] \"H1\"[1]\n"
                      "[4] \"H2\"[1]\n\nSwitch 8 \"S2\" # \"twin\"\n[1] \"S1\"[1]\n\n"
                      "Switch 8 \"S3\" # \"twin\"\n[1] \"S1\"[2]\n\n"
                      "Hca 1 \"H1\" # \"HCA\"\n[1] \"S1\"[3]\n\nHca 1 \"H2\" # \"HCA\"\n[1] "
                      "\"S1\"[4]\n";
    const char *less = "Switch 8 \"S1\" # \"root\"\n[2] \"S3\"[1]\n[3] \"H1\"[1]\n\n"
                       "Switch 8 \"S3\" # \"twin\"\n[1] \"S1\"[2]\n\n"
                       "Hca 1 \"H1\" # \"HCA\"\n[1] \"S1\"[3]\n";
    expect(old, old, SV_MATCH_NAME, "");
    expect(old, less, SV_MATCH_NAME, "10 11 ");
    /* A twin that is cabled at another port of its own may be another one. */
    const char *turned = "Switch 8 \"S1\" # \"root\"\n[1] \"S2\"[2]\n[2] \"S3\"[1]\n"
                         "[3] \"H1\"[1]\n[4] \"H2\"[1]\n\n"
                         "Switch 8 \"S2\" # \"twin\"\n[2] \"S1\"[1]\n\n"
                         "Switch 8 \"S3\" # \"twin\"\n[1] \"S1\"[2]\n\n"
                         "Hca 1 \"H1\" # \"HCA\"\n[1] \"S1\"[3]\n\nHca 1 \"H2\" # \"HCA\"\n[1] "
                         "\"S1\"[4]\n";
    expect(old, turned, SV_MATCH_NAME, "10 00 22 ");
    const char *same_guids = "switchguid=0x5\nSwitch 8 \"S1\"\n[1] \"S2\"[2]\n\nswitchguid=0x6\n"
                             "Switch 8 \"S2\"\n[2] \"S1\"[1]\n[3] \"S3\"[1]\n\nswitchguid=0x6\n"
                             "Switch 8 \"S3\"\n[1] \"S2\"[3]\n";
    expect(same_guids, same_guids, SV_MATCH_GUID, "");
    /* All alike: nothing to start from, so all are lost and added. */
    const char *alike = "Switch 8 \"S1\" # \"x\"\n[1] \"S2\"[1]\n\nSwitch 8 \"S2\" # \"x\"\n"
                        "[1] \"S1\"[1]\n";
    expect(alike, alike, SV_MATCH_NAME, "10 10 00 00 ");
}

/* Nodes that are called nothing are not all the same one. */
static void nothing_is_no_identity(void **state)
{
    (void)state;
    const char *old = "switchguid=0x0\nSwitch 8 \"A\" # \"\"\n[1] \"B\"[1]\n\n"
                      "Switch 8 \"B\"\n[1] \"A\"[1]\n";
    const char *new = "switchguid=0x1\nSwitch 8 \"B\"\n[2] \"C\"[1]\n\n"
                      "switchguid=0x0\nSwitch 8 \"C\" # \"\"\n[1] \"B\"[2]\n";
    expect(old, new, SV_MATCH_GUID, "10 00 ");
    expect(old, new, SV_MATCH_NAME, "10 00 ");
    expect(old, old, SV_MATCH_GUID, "");
    expect(old, old, SV_MATCH_NAME, "");
}

/* Both ports of an adapter are cabled to the same switch; one of the cables is moved. */
static void ports_of_an_adapter_are_told_apart(void **state)
{
    (void)state;
    const char *old = "Switch 8 \"A\"\n[1] \"H\"[1]\n[2] \"H\"[2]\n\nHca 2 \"H\"\n[1] \"A\"[1]\n"
                      "[2] \"A\"[2]\n";
    const char *new = "Switch 8 \"A\"\n[1] \"H\"[1]\n[3] \"H\"[2]\n\nHca 2 \"H\"\n[1] \"A\"[1]\n"
                      "[2] \"A\"[3]\n";
    expect(old, old, SV_MATCH_GUID, "");
    expect(old, new, SV_MATCH_GUID, "22 ");
}

/* One host gone, another plugged into its place: it is that host that moved. */
static void a_host_takes_the_place_of_another(void **state)
{
    (void)state;
    const char *old = "Switch 8 \"A\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n\nHca 1 \"H1\"\n[1] \"A\"[1]\n"
                      "\nHca 1 \"H2\"\n[1] \"A\"[2]\n";
    const char *new = "Switch 8 \"A\"\n[1] \"H2\"[1]\n\nHca 1 \"H2\"\n[1] \"A\"[1]\n";
    expect(old, new, SV_MATCH_NAME, "11 22 ");
}

static void what_is_not_known_has_not_changed(void **state)
{
    (void)state;
    const char *known = "Switch 8 \"A\"\n[1] \"B\"[1] # \"\" lid 0 4xQDR\n\nSwitch 8 \"B\"\n[1] "
                        "\"A\"[1] # \"\" lid 0 4xQDR\n";
    const char *unknown = "Switch 8 \"A\"\n[1] \"B\"[1]\n\nSwitch 8 \"B\"\n[1] \"A\"[1]\n";
    expect(known, unknown, SV_MATCH_GUID, "");
}

/* Whatever fails, the difference to the whole fabric is exactly that. */
static void failures_are_the_difference(void **state)
{
    (void)state;
    sv_fabric *whole = test_fabric(ctx, "dragonfly:a=4,p=2,h=2,g=9");
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sv_fault_plan plan = {.seed = seed,
                              .links = {false, seed % 7},
                              .switches = {false, seed % 3},
                              .adapters = {false, seed % 2}};
        sv_fault_report report;
        sv_mask *mask = sv_mask_new(ctx, whole);
        sv_fabric *left = NULL;
        sv_diff *diff = NULL;
        uint32_t lost[3] = {0};
        OK(ctx, sv_faults_draw(ctx, whole, &plan, mask, &report));
        OK(ctx, sv_fabric_mask(ctx, whole, mask, &left));
        OK(ctx, sv_fabric_diff(ctx, whole, left, SV_MATCH_GUID, &diff));
        for (size_t i = 0; i < diff->length; i++) {
            assert_int_equal(diff->changes[i].kind, SV_CHANGE_LOST);
            lost[diff->changes[i].what]++;
        }
        assert_int_equal(lost[SV_WHAT_CABLE], report.links);
        assert_int_equal(lost[SV_WHAT_SWITCH], report.switches);
        assert_int_equal(lost[SV_WHAT_ADAPTER], report.lost_terminals);
        sv_diff_free(diff);
        OK(ctx, sv_fabric_diff(ctx, left, left, SV_MATCH_NAME, &diff));
        assert_int_equal(diff->length, 0);
        sv_diff_free(diff);
        sv_fabric_free(left);
        sv_mask_free(mask);
    }
    sv_fabric_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changed),
        cmocka_unit_test(a_cable_is_lost_or_added),
        cmocka_unit_test(a_host_is_replugged),
        cmocka_unit_test(two_hosts_are_swapped),
        cmocka_unit_test(a_cable_gets_slower),
        cmocka_unit_test(a_cable_gets_narrower),
        cmocka_unit_test(a_switch_takes_its_cables_along),
        cmocka_unit_test(a_name_changes),
        cmocka_unit_test(a_switch_is_replaced),
        cmocka_unit_test(twins_are_told_apart_by_their_place),
        cmocka_unit_test(nothing_is_no_identity),
        cmocka_unit_test(ports_of_an_adapter_are_told_apart),
        cmocka_unit_test(a_host_takes_the_place_of_another),
        cmocka_unit_test(what_is_not_known_has_not_changed),
        cmocka_unit_test(failures_are_the_difference),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
