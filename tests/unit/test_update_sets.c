/*
 * test_update_sets.c: two sets of routes in one: rows, service levels, VLs, LIDs; what is
 * refused; files.
 */
#include <unistd.h>

#include "support/testing.h"

TEST_CONTEXT

static sv_routes *routed(const sv_fabric *f, const char *engine, unsigned vls, sv_sl_mode mode)
{
    const sv_route_request request = {.vls = vls, .sl_mode = mode, .seed = 1};
    sv_routes *r = NULL;
    OK(ctx, sv_route(ctx, f, engine, &request, &r, NULL));
    return r;
}

/* Everything that is promised, entry by entry. */
static void compare(const sv_fabric *f, const sv_routes *base, const sv_routes *high,
                    const sv_routes *both, unsigned vl)
{
    OK(ctx, sv_routes_check(ctx, f, both));
    assert_int_equal(both->lmc, 1);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        uint32_t d = both->first[v];
        bool terminal = v >= f->num_switches;
        assert_memory_equal(both->ports[d], base->ports[base->first[v]], f->num_switches);
        if (terminal)
            assert_memory_equal(both->ports[d + 1], high->ports[high->first[v]], f->num_switches);
        for (uint32_t w = 0; w < sv_num_nodes(f); w++) {
            assert_int_equal(sv_route_sl(both, (sv_node){w}, d),
                             sv_route_sl(base, (sv_node){w}, base->first[v]));
            if (terminal)
                assert_int_equal(sv_route_sl(both, (sv_node){w}, d + 1), vl);
        }
        if (terminal && sv_node_alive(f, (sv_node){v})) {
            assert_int_equal(both->lid[d] % 2, 0);
            assert_int_not_equal(both->lid[d], 0);
            assert_int_equal(both->lid[d + 1], both->lid[d] + 1);
        }
    }
    for (uint32_t c = 0; c < f->num_channels; c++)
        for (uint32_t k = f->first[f->head[c].i]; k < f->first[f->head[c].i + 1]; k++) {
            sv_node s = f->head[c];
            unsigned in = f->port[f->reverse[c].i], out = f->port[f->hops[k].channel.i];
            if (!sv_is_switch(f, s))
                continue;
            const sv_sl2vl *is = sv_route_sl2vl(both, f, s, in, out),
                           *was = sv_route_sl2vl(base, f, s, in, out);
            for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
                assert_int_equal(is->of_sl[sl], sl == vl ? vl : was->of_sl[sl]);
        }
}

static void both_sets_are_as_they_were(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *engine;
        unsigned vls;
        sv_sl_mode mode;
    } cases[] = {{"torus:4x4,hosts=2", "weave", 3, SV_SLS_PAIR},
                 {"torus:4x4,hosts=2", "weave", 3, SV_SLS_ONE},
                 {"torus:4x4,hosts=2", "dfsssp", 4, SV_SLS_PAIR},
                 {"torus:4x4,hosts=2", "weave", 7, SV_SLS_DESTINATION},
                 {"kary:k=3,n=2,hosts=3", "ftree", 1, SV_SLS_PAIR},
                 {"dragonfly:a=4,h=2,g=9,hosts=2", "dla", 2, SV_SLS_PAIR},
                 {"random:switches=12,links=24,hosts=2,seed=3", "nue", 2, SV_SLS_PAIR}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sv_fabric *f = test_fabric(ctx, cases[i].spec);
        sv_routes *base = routed(f, cases[i].engine, cases[i].vls, cases[i].mode),
                  *high = routed(f, "updn", 1, SV_SLS_PAIR), *both = NULL;
        sv_verification *found = NULL;
        OK(ctx, sv_update_two_sets(ctx, f, base, high, cases[i].vls, &both));
        compare(f, base, high, both, cases[i].vls);
        OK(ctx, sv_verify(ctx, f, both, NULL, &found));
        assert_int_equal(found->deadlock_free[SV_TRAFFIC_ALL], SV_VERDICT_YES);
        assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], 0);
        sv_verification_free(found);
        sv_routes_free(both);
        sv_routes_free(high);
        sv_routes_free(base);
        sv_fabric_free(f);
    }
}

/* Where the fabric has LIDs that are aligned, they stay; others get new ones. */
static void lids_stay_where_they_are_aligned(void **state)
{
    (void)state;
    sv_fabric *plain = test_fabric(ctx, "mesh:1x2,hosts=2"), *f = NULL;
    sv_routes *named = test_routed(ctx, plain, "updn", 0), *both = NULL;
    const uint16_t lids[] = {1, 9, 20, 31, 40, 22};
    memcpy(named->lid, lids, sizeof lids);
    OK(ctx, sv_fabric_with_lids(ctx, plain, named, &f));
    OK(ctx, sv_update_two_sets(ctx, f, named, named, 1, &both));
    const uint16_t wanted[] = {1, 9, 20, 21, 2, 3, 40, 41, 22, 23};
    assert_memory_equal(both->lid, wanted, sizeof wanted);
    sv_routes_free(both);
    sv_routes_free(named);
    sv_fabric_free(f);
    sv_fabric_free(plain);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1"), *other = test_fabric(ctx, "mesh:1x2");
    sv_routes *base = routed(f, "dfsssp", 4, SV_SLS_PAIR),
              *high = routed(f, "updn", 1, SV_SLS_PAIR), *two = test_routed(ctx, f, "updn", 1),
              *small = test_routed(ctx, other, "updn", 0), *both = NULL;
    FAILS(ctx, sv_update_two_sets(ctx, f, base, high, 2, &both), SV_INFEASIBLE,
          "use service level 2 themselves");
    FAILS(ctx, sv_update_two_sets(ctx, f, base, high, 64, &both), SV_BAD_INPUT, "VL 64");
    FAILS(ctx, sv_update_two_sets(ctx, f, two, high, 7, &both), SV_BAD_INPUT,
          "base tables have LMC 1");
    FAILS(ctx, sv_update_two_sets(ctx, f, base, two, 7, &both), SV_BAD_INPUT,
          "high tables have LMC 1");
    FAILS(ctx, sv_update_two_sets(ctx, f, base, small, 7, &both), SV_BAD_INPUT, "another fabric");
    sv_routes *offset = NULL;
    const sv_route_request moved = {.vls = 2, .sl_offset = 4, .seed = 1};
    OK(ctx, sv_route(ctx, f, "dfsssp", &moved, &offset, NULL));
    FAILS(ctx, sv_update_two_sets(ctx, f, offset, high, 1, &both), SV_INFEASIBLE,
          "use VL 1 themselves (service level 5)");
    OK(ctx, sv_update_two_sets(ctx, f, offset, high, 2, &both));
    compare(f, offset, high, both, 2);
    sv_routes_free(both);
    both = NULL;
    base->sl_form = SV_SL_UNKNOWN;
    FAILS(ctx, sv_update_two_sets(ctx, f, base, high, 7, &both), SV_BAD_INPUT, "do not tell");
    assert_null(both);
    sv_routes_free(offset);
    sv_routes_free(small);
    sv_routes_free(two);
    sv_routes_free(high);
    sv_routes_free(base);
    sv_fabric_free(other);
    sv_fabric_free(f);
}

/* The VL is not starved where arbitration tables name VLs, and groups come along. */
static void arbitration_and_groups_come_along(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x2,hosts=1");
    sv_routes *base = test_routed(ctx, f, "updn", 0), *both = NULL;
    sv_group *group;
    OK(ctx, sv_routes_add_group(ctx, base, 0xc000, &group));
    group->sl = 0;
    group->ports[1][0] = 6;
    base->vlarb[SV_VLARB_SWE] =
        (sv_vlarb){.given = true, .low = {.length = 1, .vl = {0}, .weight = {32}}, .high_limit = 3};
    OK(ctx, sv_update_two_sets(ctx, f, base, base, 1, &both));
    assert_int_equal(both->num_groups, 1);
    assert_int_equal(both->groups[0].mlid, 0xc000);
    assert_int_equal(both->groups[0].sl, 0);
    assert_int_equal(both->groups[0].ports[1][0], 6);
    const sv_vlarb *a = &both->vlarb[SV_VLARB_SWE];
    assert_true(a->given && a->low.length == 2 && a->high_limit == 3);
    assert_int_equal(a->low.vl[1], 1);
    assert_int_equal(a->low.weight[1], 32);
    assert_false(both->vlarb[SV_VLARB_CA].given);
    sv_routes_free(both);
    sv_routes_free(base);
    sv_fabric_free(f);
}

static sv_node matched(const sv_fabric *f, const sv_match *match, uint32_t v)
{
    return (sv_node){v < f->num_switches ? match->switches[v]
                                         : f->num_switches + match->terminals[v - f->num_switches]};
}

/* Written and read again, both as a directory and as one file. */
static void files_hold_two_sets(void **state)
{
    (void)state;
    char directory[] = "/tmp/selvage-sets-XXXXXX", path[100];
    sv_fabric *f = test_fabric(ctx, "torus:3x4,hosts=2");
    sv_routes *base = routed(f, "dfsssp", 3, SV_SLS_PAIR),
              *high = routed(f, "updn", 1, SV_SLS_PAIR), *both = NULL;
    assert_non_null(mkdtemp(directory));
    OK(ctx, sv_update_two_sets(ctx, f, base, high, 3, &both));
    for (int one = 0; one < 2; one++) {
        sv_fabric *again = NULL;
        sv_routes *read = NULL;
        sv_match *match = NULL;
        snprintf(path, sizeof path, "%s/%s", directory, one ? "t.svr" : "d");
        OK(ctx, sv_dump_write(ctx, f, both, path));
        OK(ctx, sv_dump_read(ctx, path, &again, &read));
        OK(ctx, sv_match_new(ctx, f, again, SV_MATCH_GUID, &match));
        assert_int_equal(read->lmc, 1);
        for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
            sv_node to = matched(f, match, v);
            for (uint32_t k = 0; k < both->first[v + 1] - both->first[v]; k++) {
                uint32_t d = both->first[v] + k, e = read->first[to.i] + k;
                assert_int_equal(both->lid[d], read->lid[e]);
                for (uint32_t s = 0; s < f->num_switches; s++)
                    assert_int_equal(both->ports[d][s], read->ports[e][matched(f, match, s).i]);
                for (uint32_t w = 0; w < sv_num_nodes(f); w++)
                    if (w != v)
                        assert_int_equal(sv_route_sl(both, (sv_node){w}, d),
                                         sv_route_sl(read, matched(f, match, w), e));
            }
        }
        sv_match_free(match);
        sv_routes_free(read);
        sv_fabric_free(again);
    }
    snprintf(path, sizeof path, "rm -r %s", directory);
    assert_int_equal(system(path), 0);
    sv_routes_free(both);
    sv_routes_free(high);
    sv_routes_free(base);
    sv_fabric_free(f);
}

struct sets {
    sv_fabric *fabric;
    sv_routes *base, *high;
};

static sv_status make_again(sv_ctx *other, void *arg)
{
    struct sets *x = arg;
    sv_routes *both = NULL;
    sv_status status = sv_update_two_sets(other, x->fabric, x->base, x->high, 3, &both);
    assert_true((status == SV_OK) == (both != NULL));
    sv_routes_free(both);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x4,hosts=1");
    struct sets x = {f, routed(f, "weave", 3, SV_SLS_ONE), routed(f, "updn", 1, SV_SLS_PAIR)};
    test_out_of_memory("two sets", make_again, &x);
    sv_routes_free(x.high);
    sv_routes_free(x.base);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sets_are_as_they_were),
        cmocka_unit_test(lids_stay_where_they_are_aligned),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(arbitration_and_groups_come_along),
        cmocka_unit_test(files_hold_two_sets),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
