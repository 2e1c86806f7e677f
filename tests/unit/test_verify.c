/*
 * test_verify.c: verdicts on tables where the random ones of tests/oracle do not go: large numbers,
 * dead nodes, quick looks, more SLs than hardware has.
 */
#include "support/testing.h"

TEST_CONTEXT

/* The example of a lost pair is that with the lowest destination, and then the lowest source. */
static void the_first_lost_pair_is_shown(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=2"); /* terminals 3 4, 5 6, 7 8 */
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    sv_verification *found = NULL;
    sv_routes_row(ctx, r, r->first[8])[0] = SV_NO_PORT;
    sv_routes_row(ctx, r, r->first[4])[1] = SV_NO_PORT;
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], 2 + 4);
    assert_int_equal(found->lost.destination, r->first[4]);
    assert_int_equal(found->lost.from.i, 5);
    assert_int_equal(found->lost.at.i, 1);
    assert_int_equal(found->lost.why, SV_TRACE_NO_ENTRY);
    sv_verification_free(found);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Terminals use the SL of their switch, not of a neighbour that is cabled before them. */
static void terminals_behind_other_ports(void **state)
{
    (void)state;
    sv_fabric *f = test_read(
        ctx, "switchguid=0x1\nSwitch 4 \"S-1\" # \"a\"\n[2] \"S-2\"[2]\n[4] \"H-10\"[1](11)\n\n"
             "switchguid=0x2\nSwitch 4 \"S-2\" # \"b\"\n[2] \"S-1\"[2]\n[3] \"H-20\"[1](21)\n\n"
             "caguid=0x10\nCa 1 \"H-10\" # \"x\"\n[1](11) \"S-1\"[4]\n\n"
             "caguid=0x20\nCa 1 \"H-20\" # \"y\"\n[1](21) \"S-2\"[3]\n");
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    sv_verification *found = NULL;
    const sv_sl2vl vls = {{0, 1, 2, 3}};
    uint32_t table = sv_routes_sl2vl_table(ctx, r, &vls);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        r->vls_of[v] = (uint16_t)table;
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_SWITCH));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        bool at_a = r->node[d].i == 0 || r->node[d].i == 2;
        sv_routes_sl_row(ctx, r, d)[0] = at_a ? 2 : 1; /* 1 on the way from a to b */
        sv_routes_sl_row(ctx, r, d)[1] = at_a ? 3 : 2; /* 3 on the way back, 2 on none */
    }
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->vls_used, 2);
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], 0);
    sv_verification_free(found);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* However many destinations there are, and however they are shared out, none is left out. */
static void every_destination_is_looked_at(void **state)
{
    (void)state;
    for (unsigned hosts = 29; hosts < 100; hosts += hosts % 32 == 2 ? 27 : 1) {
        char spec[32];
        snprintf(spec, sizeof spec, "mesh:1x1,hosts=%u", hosts);
        sv_fabric *f = test_fabric(ctx, spec);
        sv_routes *r = test_routed(ctx, f, "updn", 0);
        sv_verification *found = NULL;
        for (uint32_t d = 0; d < r->num_destinations; d++)
            sv_routes_row(ctx, r, d)[0] = SV_NO_PORT;
        OK(ctx, sv_verify(ctx, f, r, NULL, &found));
        assert_int_equal(found->pairs[SV_PAIRS_TERMINAL_TERMINAL], hosts * (hosts - 1));
        assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], hosts * (hosts - 1));
        sv_verification_free(found);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

/* Whatever is discarded takes no channel, in however large a fabric. */
static void nothing_flows_where_all_is_discarded(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x300,hosts=1");
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    sv_verification *found = NULL;
    const sv_sl2vl vls = {{SV_NO_VL}};
    uint32_t table = sv_routes_sl2vl_table(ctx, r, &vls);
    for (uint32_t s = 0; s < f->num_switches; s++)
        r->vls_of[s] = (uint16_t)table;
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->vls_used, 0);
    assert_int_equal(found->dependencies, 0);
    for (int k = 0; k < SV_PAIRS_COUNT; k++) /* an adapter's own switch takes it all the same */
        assert_int_equal(found->unreachable[k],
                         found->pairs[k] - (k == SV_PAIRS_TERMINAL_SWITCH ? 300 : 0));
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
    sv_verification_free(found);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* What is dead is neither source nor destination of a change. */
static void the_dead_do_not_count(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=2"), *left = NULL;
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_transition *change = NULL;
    sv_mask_node(mask, (sv_node){8});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    OK(ctx, sv_verify_transition(ctx, left, r, r, SV_TRAFFIC_ALL, &change));
    assert_int_equal(change->dead_ends, 0);
    assert_int_equal(change->looping, 0);
    assert_int_equal(change->deadlock_free, SV_VERDICT_YES);
    sv_transition_free(change);
    sv_routes_free(r);
    /* Nor are they in files: two kinds of lines, each with a first word, a LID and an SL. A line
     * of ours before them says whose SLs they are. */
    OK(ctx, sv_route(ctx, left, "updn", NULL, &r, NULL));
    const sv_routes_format formats[] = {SV_ROUTES_PSL, SV_ROUTES_IBDMCHK_PSL};
    for (int i = 0; i < 2; i++) {
        test_buffer buffer;
        sv_sink sink = test_sink(&buffer);
        size_t lines = 0;
        OK(ctx, sv_routes_write(ctx, left, r, formats[i], &sink));
        for (const char *at = buffer.text; at != NULL && *at != 0; at = strchr(at, '\n') + 1) {
            const char *lid = strchr(at, ' ') + 1;
            if (*at == '#')
                continue;
            assert_true(*lid >= '1' && *lid <= '8');
            lines++;
        }
        assert_int_equal(lines, i == 0 ? 8 : 5 * 8);
        free(buffer.text);
    }
    sv_mask_free(mask);
    sv_routes_free(r);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* A quick look says yes or nothing, and does not pretend that SLs were unknown. */
static void quick_looks(void **state)
{
    (void)state;
    const sv_verify_options quick = {.quick = true};
    sv_fabric *f = test_fabric(ctx, "torus:4,hosts=1");
    const char *engines[] = {"updn", "dor"};
    for (int i = 0; i < 2; i++) {
        sv_routes *r = test_routed(ctx, f, engines[i], 0);
        sv_verification *found = NULL;
        OK(ctx, sv_verify(ctx, f, r, &quick, &found));
        for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
            assert_int_equal(found->together[k], i == 0 ? SV_VERDICT_YES : SV_VERDICT_UNJUDGED);
        assert_false(found->sl_unknown);
        assert_null(found->cycle);
        sv_verification_free(found);
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

/*
 * A multicast tree that is no tree: every switch of a ring hands packets on to both sides. A full
 * look finds the credit loop; a quick look does not judge multicast, and must not say yes.
 */
static void quick_looks_judge_no_multicast(void **state)
{
    (void)state;
    const sv_verify_options quick = {.quick = true};
    sv_fabric *f = test_fabric(ctx, "torus:4,hosts=1");
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    sv_group *group = NULL;
    OK(ctx, sv_routes_add_group(ctx, r, 0xc000, &group));
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            if (sv_is_switch(f, hop->to))
                group->ports[s][0] |= (uint64_t)1 << f->port[hop->channel.i];
    sv_verification *found = NULL;
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->multicast, SV_VERDICT_NO);
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
    sv_verification_free(found);
    OK(ctx, sv_verify(ctx, f, r, &quick, &found));
    assert_int_equal(found->multicast, SV_VERDICT_UNJUDGED);
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++) {
        assert_int_equal(found->deadlock_free[k], SV_VERDICT_YES);
        assert_int_equal(found->together[k], SV_VERDICT_UNJUDGED);
    }
    sv_verification_free(found);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* What nobody has filled in claims nothing. */
static void zeros_claim_nothing(void **state)
{
    (void)state;
    const sv_verification nothing = {0};
    const sv_transition change = {0};
    const sv_ascent ascent = {0};
    const sv_repair_report repair = {0};
    const sv_update plan = {0};
    assert_int_not_equal(nothing.deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
    assert_int_equal(nothing.multicast, SV_VERDICT_UNJUDGED);
    assert_false(sv_transition_safe(&change));
    assert_false(sv_ascent_safe(&ascent));
    assert_int_not_equal(repair.safety, SV_SAFE_ANYHOW);
    assert_int_not_equal(plan.way, SV_UPDATE_NOTHING);
    assert_int_not_equal(plan.way, SV_UPDATE_AT_ONCE);
}

/* More SLs than hardware has, none of them known: any may be used while tables change. */
static void unknown_levels_are_any(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4,hosts=1");
    for (unsigned sls = SV_HARDWARE_SLS; sls <= SV_MAX_SLS; sls += 24) {
        sv_routes *r = test_routed(ctx, f, "dor", 0);
        sv_transition *change = NULL;
        sv_sl2vl vls = {{0}};
        for (unsigned sl = 0; sl + 1 < sls; sl++)
            vls.of_sl[sl] = SV_NO_VL;
        uint32_t table = sv_routes_sl2vl_table(ctx, r, &vls);
        for (uint32_t v = 0; v < sv_num_nodes(f); v++)
            r->vls_of[v] = (uint16_t)table;
        r->num_sls = (uint8_t)sls;
        OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_UNKNOWN));
        OK(ctx, sv_verify_transition(ctx, f, r, r, SV_TRAFFIC_ALL, &change));
        assert_int_equal(change->deadlock_free, SV_VERDICT_UNKNOWN);
        assert_int_equal(change->cycle_length, 4);
        sv_transition_free(change);
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_lost_pair_is_shown),
        cmocka_unit_test(terminals_behind_other_ports),
        cmocka_unit_test(every_destination_is_looked_at),
        cmocka_unit_test(nothing_flows_where_all_is_discarded),
        cmocka_unit_test(the_dead_do_not_count),
        cmocka_unit_test(quick_looks),
        cmocka_unit_test(quick_looks_judge_no_multicast),
        cmocka_unit_test(zeros_claim_nothing),
        cmocka_unit_test(unknown_levels_are_any),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
