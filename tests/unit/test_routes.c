/*
 * test_routes.c: forwarding tables: sharing, mixing, LIDs, service levels, VLs, traces, and
 * what cannot be.
 */
#include "support/testing.h"

#include "routes/routes.h"

TEST_CONTEXT

static void destinations_are_numbered_by_node(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=2");
    sv_routes *r = NULL;
    OK(ctx, sv_routes_new(ctx, f, 2, &r));
    assert_int_equal(r->num_destinations, 3 + 6 * 4);
    assert_int_equal(r->first[3], 3);
    assert_int_equal(r->first[4], 7);
    assert_int_equal(r->node[6].i, 3);
    assert_int_equal(r->node[7].i, 4);
    assert_int_equal(r->home[0], 0);
    assert_int_equal(r->home[5], 2);
    assert_int_equal(sv_route_port(r, (sv_node){1}, 1), 0);
    assert_int_equal(sv_route_port(r, (sv_node){0}, 1), SV_NO_PORT);
    OK(ctx, sv_routes_check(ctx, f, r));
    sv_routes_free(r);
    FAILS(ctx, sv_routes_new(ctx, f, 8, &r), SV_BAD_INPUT, "an LMC of 8");
    sv_fabric_free(f);
    f = test_fabric(ctx, "fullmesh:256,hosts=0");
    FAILS(ctx, sv_routes_new(ctx, f, 0, &r), SV_INFEASIBLE, "has 255 ports");
    sv_fabric_free(f);
}

static void clones_share_until_they_change(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1");
    sv_routes *old = test_routed(ctx, f, "minhop", 0), *new = NULL;
    OK(ctx, sv_routes_clone(ctx, old, &new));
    for (uint32_t d = 0; d < old->num_destinations; d++)
        assert_ptr_equal(old->ports[d], new->ports[d]);
    unsigned before = sv_route_port(old, (sv_node){0}, 20);
    uint8_t *row = sv_routes_row(ctx, new, 20);
    assert_ptr_not_equal(row, old->ports[20]);
    assert_ptr_equal(row, sv_routes_row(ctx, new, 20));
    row[0] = SV_NO_PORT;
    assert_int_equal(sv_route_port(old, (sv_node){0}, 20), before);
    assert_ptr_equal(old->ports[21], new->ports[21]);
    sv_routes_free(old); /* the clone keeps what it shares */
    assert_int_equal(sv_route_port(new, (sv_node){0}, 20), SV_NO_PORT);
    assert_int_not_equal(sv_route_port(new, (sv_node){0}, 21), SV_NO_PORT);
    sv_routes_free(new);
    sv_fabric_free(f);
}

static void blocks_are_counted_and_mixed(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x5,hosts=4");
    sv_routes *old = test_routed(ctx, f, "minhop", 0), *new = test_routed(ctx, f, "updn", 0),
              *mix = NULL;
    uint64_t blocks, left;
    OK(ctx, sv_routes_changed_blocks(ctx, f, old, old, &blocks));
    assert_int_equal(blocks, 0);
    OK(ctx, sv_routes_changed_blocks(ctx, f, old, new, &blocks));
    assert_in_range(blocks, 25, 50); /* 125 LIDs are two blocks a switch */
    OK(ctx, sv_routes_clone(ctx, old, &mix));
    OK(ctx, sv_routes_mix_block(ctx, mix, new, (sv_node){7}, 0));
    OK(ctx, sv_routes_changed_blocks(ctx, f, mix, new, &left));
    assert_int_equal(left, blocks - 1);
    for (uint32_t d = 0; d < mix->num_destinations; d++)
        for (uint32_t s = 0; s < 25; s++)
            assert_int_equal(mix->ports[d][s],
                             s == 7 && mix->lid[d] < 64 ? new->ports[d][s] : old->ports[d][s]);
    for (uint32_t s = 0; s < 25; s++)
        for (uint32_t block = 0; block < 2; block++)
            OK(ctx, sv_routes_mix_block(ctx, mix, new, (sv_node){s}, block));
    OK(ctx, sv_routes_changed_blocks(ctx, f, mix, new, &left));
    assert_int_equal(left, 0);
    sv_routes_free(mix);
    sv_routes_free(new);
    sv_routes_free(old);
    sv_fabric_free(f);
}

static void lids_are_kept_where_they_fit(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, "switchguid=0x1\n"
                                  "Switch 4 \"S-1\" # \"a\" base port 0 lid 9 lmc 0\n"
                                  "[1] \"H-10\"[1](11) # \"x\" lid 6\n"
                                  "[2] \"H-20\"[1](21) # \"y\" lid 7\n"
                                  "[3] \"H-30\"[1](31) # \"z\" lid 9\n\n"
                                  "caguid=0x10\nCa 1 \"H-10\" # \"x\"\n[1](11) \"S-1\"[1] # lid 6 "
                                  "lmc 0 \"a\" lid 9\n\n"
                                  "caguid=0x20\nCa 1 \"H-20\" # \"y\"\n[1](21) \"S-1\"[2] # lid 7 "
                                  "lmc 0 \"a\" lid 9\n\n"
                                  "caguid=0x30\nCa 1 \"H-30\" # \"z\"\n[1](31) \"S-1\"[3] # lid 9 "
                                  "lmc 0 \"a\" lid 9\n");
    sv_routes *r = NULL;
    OK(ctx, sv_routes_new(ctx, f, 0, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    assert_int_equal(r->lid[0], 9);
    assert_int_equal(r->lid[1], 6);
    assert_int_equal(r->lid[2], 7);
    assert_int_equal(r->lid[3], 1); /* 9 is the switch's */
    sv_routes_free(r);
    OK(ctx, sv_routes_new(ctx, f, 1, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    assert_int_equal(r->lid[r->first[1]], 6); /* and 7 */
    assert_int_equal(r->lid[r->first[1] + 1], 7);
    assert_int_equal(r->lid[r->first[2]], 2); /* 7 is odd, and taken */
    assert_int_equal(r->lid[r->first[3]], 4);
    sv_fabric *g = NULL;
    OK(ctx, sv_fabric_with_lids(ctx, f, r, &g));
    OK(ctx, sv_fabric_check(ctx, g));
    assert_int_equal(g->terminals[1].lid, 2);
    assert_int_equal(g->terminals[1].lmc, 1);
    assert_int_equal(g->switches[0].lid, 9);
    sv_fabric_free(f);
    assert_string_equal(g->switches[0].name, "a");
    sv_fabric_free(g);
    sv_routes_free(r);
}

static void more_destinations_than_lids(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=20,n=2,hosts=20");
    const sv_route_request request = {.lmc = 7};
    sv_route_report report;
    sv_routes *r = NULL;
    OK(ctx, sv_route(ctx, f, "minhop", &request, &r, &report));
    assert_true(report.no_lids);
    assert_int_equal(r->lid[0], 0);
    FAILS(ctx, sv_routes_assign_lids(ctx, f, r), SV_INFEASIBLE,
          "51240 addresses, but InfiniBand has 49151 unicast LIDs");
    FAILS(ctx, sv_dump_write(ctx, f, r, "never-made"), SV_INFEASIBLE, "51240 addresses");
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* With LMC 7 a terminal has 128 LIDs: 383 of them fill all up to the last one. */
static void every_lid_can_be_given(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x4,total=383");
    sv_routes *r = NULL;
    OK(ctx, sv_routes_new(ctx, f, 7, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    assert_int_equal(r->lid[r->num_destinations - 1], SV_LID_MAX);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void service_levels_have_four_forms(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x2,hosts=2");
    sv_routes *r = test_routed(ctx, f, "updn", 0), *clone = NULL;
    sv_node a = {2}, b = {5}, s = {1};
    assert_int_equal(r->sl_form, SV_SL_CONSTANT);
    assert_int_equal(sv_route_sl(r, a, 0), 0);
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_DESTINATION));
    assert_int_equal(sv_route_sl(r, a, 3), SV_NO_SL);
    sv_routes_sl_row(ctx, r, 0)[3] = 5;
    assert_int_equal(sv_route_sl(r, a, 3), 5);
    assert_int_equal(sv_route_sl(r, s, 3), 5);
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_SWITCH));
    sv_routes_sl_row(ctx, r, 3)[1] = 7;
    assert_int_equal(sv_route_sl(r, b, 3), 7); /* b hangs on switch 1 */
    assert_int_equal(sv_route_sl(r, s, 3), 7);
    assert_int_equal(sv_route_sl(r, a, 3), SV_NO_SL);
    OK(ctx, sv_routes_clone(ctx, r, &clone));
    sv_routes_sl_row(ctx, clone, 3)[1] = 8;
    assert_int_equal(sv_route_sl(r, b, 3), 7);
    assert_int_equal(sv_route_sl(clone, b, 3), 8);
    sv_routes_free(clone);
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_NODE));
    sv_routes_sl_row(ctx, r, 3)[5] = 9;
    assert_int_equal(sv_route_sl(r, b, 3), 9);
    assert_int_equal(sv_route_sl(r, s, 3), SV_NO_SL);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void vls_are_pooled(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=1");
    sv_routes *r = test_routed(ctx, f, "updn", 0), *clone = NULL;
    sv_sl2vl vls = {{0}};
    vls.of_sl[3] = 2;
    uint32_t table = sv_routes_sl2vl_table(ctx, r, &vls);
    assert_int_equal(table, 1);
    assert_int_equal(sv_routes_sl2vl_table(ctx, r, &vls), 1);
    OK(ctx, sv_routes_set_sl2vl(ctx, f, r, (sv_node){1}, 2, 3, table));
    assert_int_equal(sv_route_sl2vl(r, f, (sv_node){1}, 2, 3)->of_sl[3], 2);
    assert_int_equal(sv_route_sl2vl(r, f, (sv_node){1}, 3, 2)->of_sl[3], 0);
    assert_null(r->sl2vl_by_port[0]);
    OK(ctx, sv_routes_clone(ctx, r, &clone));
    OK(ctx, sv_routes_set_sl2vl(ctx, f, clone, (sv_node){1}, 2, 3, 0));
    assert_int_equal(sv_route_sl2vl(clone, f, (sv_node){1}, 2, 3)->of_sl[3], 0);
    assert_int_equal(sv_route_sl2vl(r, f, (sv_node){1}, 2, 3)->of_sl[3], 2);
    sv_routes_free(clone);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* A clone has room for more tables of VLs, however many there are: rows behind them stay. */
static void clones_take_more_vls(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:4x4,hosts=1");
    for (uint8_t before = 1; before <= 9; before++) {
        sv_routes *r = test_routed(ctx, f, "minhop", 0), *clone = NULL;
        sv_sl2vl vls = {{0}};
        while (r->num_vl_tables < before) {
            vls.of_sl[0]++;
            assert_int_not_equal(sv_routes_sl2vl_table(ctx, r, &vls), SV_NONE);
        }
        OK(ctx, sv_routes_clone(ctx, r, &clone));
        for (uint32_t d = 0; d < r->num_destinations; d++)
            assert_non_null(sv_routes_row(ctx, clone, d));
        for (vls.of_sl[1] = 1; vls.of_sl[1] <= 9; vls.of_sl[1]++)
            assert_int_not_equal(sv_routes_sl2vl_table(ctx, clone, &vls), SV_NONE);
        for (uint32_t d = 0; d < r->num_destinations; d++)
            assert_memory_equal(clone->ports[d], r->ports[d], r->num_switches);
        sv_routes_free(clone);
        sv_routes_free(r);
    }
    sv_fabric_free(f);
}

/* A node that had VLs by ports and gets plain ones forgets them, and the other way round. */
static void nodes_take_vls(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=1");
    sv_routes *plain = test_routed(ctx, f, "updn", 0), *fine = NULL, *made = NULL;
    const sv_node s = {1};
    const sv_sl2vl two = {{2, 2, 2}}, three = {{3, 3, 3}};
    OK(ctx, sv_routes_clone(ctx, plain, &fine));
    OK(ctx, sv_routes_set_sl2vl(ctx, f, fine, s, 1, 2, sv_routes_sl2vl_table(ctx, fine, &two)));
    OK(ctx, sv_routes_set_sl2vl(ctx, f, fine, s, 2, 1, sv_routes_sl2vl_table(ctx, fine, &three)));
    OK(ctx, sv_routes_clone(ctx, plain, &made));
    for (int i = 0; i < 4; i++) {
        const sv_routes *from = i % 2 == 0 ? fine : plain;
        OK(ctx, sv__routes_take_vls(ctx, f, made, s, from));
        OK(ctx, sv_routes_check(ctx, f, made));
        for (unsigned in = 0; in <= f->switches[s.i].ports; in++)
            for (unsigned out = 0; out <= f->switches[s.i].ports; out++)
                assert_memory_equal(sv_route_sl2vl(made, f, s, in, out),
                                    sv_route_sl2vl(from, f, s, in, out), sizeof two);
    }
    sv_routes_free(made);
    sv_routes_free(fine);
    sv_routes_free(plain);
    sv_fabric_free(f);
}

static void wrong_tables_are_found(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=1"), *g = test_fabric(ctx, "mesh:1x3,hosts=2");
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    FAILS(ctx, sv_routes_check(ctx, g, r), SV_BAD_INPUT, "tables that belong to another fabric");
    sv_routes *more = test_routed(ctx, f, "updn", 1);
    sv_transition *change = NULL;
    sv_verification *found = NULL;
    sv_load load;
    uint64_t blocks;
    FAILS(ctx, sv_verify_transition(ctx, f, r, more, SV_TRAFFIC_ALL, &change), SV_BAD_INPUT,
          "old and new tables have different destinations");
    FAILS(ctx, sv_verify(ctx, g, r, NULL, &found), SV_BAD_INPUT, "belong to another fabric");
    const sv_verify_options assume = {.assume = true, .assumed_sl = SV_HARDWARE_SLS};
    FAILS(ctx, sv_verify(ctx, f, r, &assume, &found), SV_BAD_INPUT,
          "the tables have no SL 16 (they have 0 to 15)");
    FAILS(ctx, sv_routes_load(ctx, g, r, NULL, &load), SV_BAD_INPUT, "belong to another fabric");
    FAILS(ctx, sv_routes_changed_blocks(ctx, f, r, more, &blocks), SV_BAD_INPUT, "different");
    FAILS(ctx, sv_routes_mix_block(ctx, r, more, (sv_node){0}, 0), SV_BAD_INPUT, "different");
    sv_routes_free(more);
    uint8_t *row = sv_routes_row(ctx, r, 4);
    unsigned ports = f->switches[2].ports, good = row[2];
    row[2] = (uint8_t)ports;
    OK(ctx, sv_routes_check(ctx, f, r));
    row[2] = (uint8_t)(ports + 1);
    FAILS(ctx, sv_routes_check(ctx, f, r), SV_BAD_INPUT, "sends to port");
    row[2] = (uint8_t)good;
    r->vls_of[5] = 1;
    FAILS(ctx, sv_routes_check(ctx, f, r), SV_BAD_INPUT, "VLs of node 5 are wrong");
    r->vls_of[5] = 0;
    OK(ctx, sv_routes_set_sl2vl(ctx, f, r, (sv_node){2}, ports, ports, 1));
    FAILS(ctx, sv_routes_check(ctx, f, r), SV_BAD_INPUT, "VLs of switch");
    sv_routes_free(r);
    sv_fabric_free(g);
    sv_fabric_free(f);
}

/* A trace that must end in a way after so many channels. */
static void expect_trace(const sv_fabric *f, const sv_routes *r, uint32_t from, uint32_t d,
                         sv_trace_end wanted, uint32_t channels)
{
    sv_hop_taken hops[64];
    uint32_t count;
    sv_node at;
    assert_int_equal(sv_routes_trace(f, r, (sv_node){from}, d, 0, hops, 64, &count, &at), wanted);
    assert_int_equal(count, channels);
}

static void traces_end_as_they_must(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=1"); /* switches 0 1 2, terminals 3 4 5 */
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    uint32_t to = r->first[5];
    expect_trace(f, r, 3, to, SV_TRACE_ARRIVED, 4);
    expect_trace(f, r, 5, to, SV_TRACE_ARRIVED, 0);
    expect_trace(f, r, 3, r->first[2], SV_TRACE_ARRIVED, 3);
    uint8_t *row = sv_routes_row(ctx, r, to);
    unsigned good = row[1];
    row[1] = SV_NO_PORT;
    expect_trace(f, r, 3, to, SV_TRACE_NO_ENTRY, 2);
    row[1] = 0;
    expect_trace(f, r, 3, to, SV_TRACE_ASTRAY, 2);
    row[1] = 1;
    expect_trace(f, r, 3, to, SV_TRACE_ASTRAY, 3); /* at terminal 4 */
    row[1] = 2;
    expect_trace(f, r, 3, to, SV_TRACE_LOOP, 5); /* back and forth */
    row[1] = (uint8_t)good;
    sv_sl2vl vls = {{SV_NO_VL}};
    uint32_t table = sv_routes_sl2vl_table(ctx, r, &vls);
    OK(ctx, sv_routes_set_sl2vl(ctx, f, r, (sv_node){1}, 2, good, table));
    expect_trace(f, r, 3, to, SV_TRACE_DISCARDED, 2);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void failures_show_in_old_tables(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=1"), *left = NULL;
    sv_routes *r = test_routed(ctx, f, "updn", 0), *again = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_verification *found = NULL;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_joins_switches(f, (sv_channel){c})) {
            sv_mask_cable(mask, f, (sv_channel){c});
            break;
        }
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    OK(ctx, sv_verify(ctx, left, r, NULL, &found));
    assert_true(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL] > 0);
    assert_int_equal(found->lost.why, SV_TRACE_DEAD_PORT);
    sv_verification_free(found);
    OK(ctx, sv_route(ctx, left, "updn", NULL, &again, NULL));
    OK(ctx, sv_verify(ctx, left, again, NULL, &found));
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], 0);
    assert_int_equal(again->num_destinations, r->num_destinations);
    sv_verification_free(found);
    sv_mask_free(mask);
    sv_routes_free(again);
    sv_routes_free(r);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* Loads against one trace a pair. */
static void loads_are_what_traces_say(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "random:switches=12,links=20,total=30,seed=5");
    sv_routes *r = test_routed(ctx, f, "sssp", 1);
    uint64_t *load = calloc(f->num_channels, sizeof *load), sum = 0, hops_sum = 0, pairs = 0;
    uint64_t *slow = calloc(f->num_channels, sizeof *slow), hops_max = 0;
    sv_load about;
    OK(ctx, sv_routes_load(ctx, f, r, load, &about));
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
        for (uint32_t d = r->first[f->num_switches]; d < r->num_destinations; d++) {
            sv_hop_taken hops[64];
            uint32_t count;
            sv_node at;
            if (r->node[d].i == v)
                continue;
            assert_int_equal(sv_routes_trace(f, r, (sv_node){v}, d, 0, hops, 64, &count, &at),
                             SV_TRACE_ARRIVED);
            pairs++;
            hops_sum += count - 2;
            hops_max = count - 2 > hops_max ? count - 2 : hops_max;
            for (uint32_t i = 1; i + 1 < count; i++)
                slow[hops[i].channel.i]++;
        }
    uint64_t max = 0, min = UINT64_MAX;
    double squares = 0;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_joins_switches(f, (sv_channel){c})) {
            assert_int_equal(load[c], slow[c]);
            max = slow[c] > max ? slow[c] : max;
            min = slow[c] < min ? slow[c] : min;
            squares += (double)slow[c] * (double)slow[c];
            sum += slow[c];
        }
    double mean = (double)sum / about.channels;
    assert_int_equal(about.max, max);
    assert_int_equal(about.min, min);
    assert_int_equal(about.hops_max, hops_max);
    assert_float_equal(about.sdv * about.sdv, squares / about.channels - mean * mean, 1e-2);
    assert_int_equal(about.pairs, pairs);
    assert_float_equal(about.hops_avg, (double)hops_sum / (double)pairs, 1e-9);
    assert_float_equal(about.avg, (double)sum / about.channels, 1e-9);
    free(slow);
    free(load);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void loads_without_channels(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1,hosts=3");
    sv_routes *r = test_routed(ctx, f, "minhop", 0);
    sv_load about;
    OK(ctx, sv_routes_load(ctx, f, r, NULL, &about));
    assert_int_equal(about.channels, 0);
    assert_int_equal(about.min, 0);
    assert_int_equal(about.max, 0);
    assert_int_equal(about.pairs, 6);
    assert_int_equal(about.hops_max, 0);
    assert_true(about.avg == 0 && about.sdv == 0 && about.hops_avg == 0);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* VLs that were read can be changed: what all ports share is no table of the switch's own. */
static void vls_from_files_can_be_changed(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=1"), *g = NULL;
    sv_routes *r = test_routed(ctx, f, "updn", 0), *s = NULL;
    sv_sl2vl vls = {{0}};
    char directory[] = "/tmp/selvage-unit-XXXXXX", command[64];
    vls.of_sl[0] = 1;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        r->vls_of[v] = (uint16_t)sv_routes_sl2vl_table(ctx, r, &vls);
    assert_non_null(mkdtemp(directory));
    OK(ctx, sv_dump_write(ctx, f, r, directory));
    OK(ctx, sv_dump_read(ctx, directory, &g, &s));
    assert_null(s->sl2vl_by_port[1]);
    assert_int_equal(sv_route_sl2vl(s, g, (sv_node){1}, 2, 3)->of_sl[0], 1);
    OK(ctx, sv_routes_set_sl2vl(ctx, g, s, (sv_node){1}, 2, 3, 0));
    assert_int_equal(sv_route_sl2vl(s, g, (sv_node){1}, 2, 3)->of_sl[0], 0);
    assert_int_equal(sv_route_sl2vl(s, g, (sv_node){1}, 3, 2)->of_sl[0], 1);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    sv_routes_free(s);
    sv_routes_free(r);
    sv_fabric_free(g);
    sv_fabric_free(f);
}

/* Groups come one by one and keep what they had. */
static void groups_are_kept(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x2");
    sv_routes *r = test_routed(ctx, f, "updn", 0), *clone = NULL;
    sv_group *group;
    for (unsigned i = 0; i < 9; i++) {
        OK(ctx, sv_routes_add_group(ctx, r, 0xc000 + i, &group));
        group->ports[1][0] = i;
    }
    OK(ctx, sv_routes_clone(ctx, r, &clone));
    for (unsigned i = 9; i < 20; i++)
        OK(ctx, sv_routes_add_group(ctx, clone, 0xc000 + i, &group));
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(clone->groups[i].mlid, 0xc000 + i);
        assert_int_equal(clone->groups[i].ports[1][0], i);
    }
    assert_int_equal(r->num_groups, 9);
    sv_routes_free(r);
    assert_int_equal(clone->groups[19].mlid, 0xc000 + 19);
    sv_routes_free(clone);
    sv_fabric_free(f);
}

/* Before: x hangs on a. After: on b, which comes first in the file, and a has fewer ports. */
static const char before[] = "switchguid=0x1\nSwitch 4 \"S-1\" # \"a\"\n"
                             "[2] \"S-2\"[2]\n[4] \"H-10\"[1](11)\n\n"
                             "switchguid=0x2\nSwitch 4 \"S-2\" # \"b\"\n"
                             "[1] \"H-20\"[1](21)\n[2] \"S-1\"[2]\n\n"
                             "caguid=0x10\nCa 1 \"H-10\" # \"x\"\n[1](11) \"S-1\"[4]\n\n"
                             "caguid=0x20\nCa 1 \"H-20\" # \"y\"\n[1](21) \"S-2\"[1]\n";
static const char after[] = "switchguid=0x2\nSwitch 4 \"S-2\" # \"b\"\n"
                            "[1] \"H-20\"[1](21)\n[2] \"S-1\"[2]\n[3] \"H-10\"[1](11)\n\n"
                            "switchguid=0x1\nSwitch 2 \"S-1\" # \"a\"\n[2] \"S-2\"[2]\n\n"
                            "caguid=0x10\nCa 1 \"H-10\" # \"x\"\n[1](11) \"S-2\"[3]\n\n"
                            "caguid=0x20\nCa 1 \"H-20\" # \"y\"\n[1](21) \"S-2\"[1]\n";

static sv_node named(const sv_fabric *f, const char *name)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (strcmp(sv_node_name(f, (sv_node){v}), name) == 0)
            return (sv_node){v};
    fail();
    return SV_NO_NODE;
}

/* Entries, SLs and VLs in the numbers of another fabric. */
static void tables_follow_their_nodes(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, before), *g = test_read(ctx, after);
    sv_routes *old = test_routed(ctx, f, "updn", 0), *carried = NULL;
    sv_match *match = NULL;
    sv_sl2vl vls = {{0, 3}};
    sv_node a = named(f, "a"), b = named(f, "b"), x = named(f, "x"), y = named(f, "y");
    sv_node a2 = named(g, "a"), b2 = named(g, "b"), x2 = named(g, "x"), y2 = named(g, "y");
    assert_int_not_equal(a.i, a2.i);
    uint32_t table = sv_routes_sl2vl_table(ctx, old, &vls), to_x = old->first[x.i];
    OK(ctx, sv_routes_set_sl2vl(ctx, f, old, b, 1, 2, table));
    old->vls_of[y.i] = (uint16_t)table;
    OK(ctx, sv_routes_set_sl_form(ctx, old, SV_SL_BY_SWITCH));
    sv_routes_sl_row(ctx, old, old->first[y.i])[a.i] = 5;
    sv_routes_sl_row(ctx, old, old->first[y.i])[b.i] = 6;
    sv_routes_sl_row(ctx, old, to_x)[b.i] = 7;
    OK(ctx, sv_match_new(ctx, f, g, SV_MATCH_GUID, &match));
    OK(ctx, sv_routes_remap(ctx, f, old, g, match, &carried));
    OK(ctx, sv_routes_check(ctx, g, carried));
    assert_int_equal(sv_route_port(carried, b2, carried->first[x2.i]), 2);
    assert_int_equal(sv_route_port(carried, b2, carried->first[y2.i]), 1);
    assert_int_equal(sv_route_port(carried, a2, carried->first[y2.i]), 2);
    assert_int_equal(sv_route_port(carried, a2, carried->first[x2.i]), SV_NO_PORT); /* was 4 */
    assert_int_equal(carried->lid[carried->first[x2.i]], old->lid[to_x]);
    assert_int_equal(sv_route_sl2vl(carried, g, b2, 1, 2)->of_sl[1], 3);
    assert_int_equal(sv_route_sl2vl(carried, g, b2, 2, 1)->of_sl[1], 0);
    assert_int_equal(sv_route_sl2vl(carried, g, y2, 0, 1)->of_sl[1], 3);
    assert_int_equal(sv_route_sl2vl(carried, g, x2, 0, 1)->of_sl[1], 0);
    /* x still sends as those of a do, though it hangs on b. */
    assert_int_equal(sv_route_sl(carried, x2, carried->first[y2.i]), 5);
    assert_int_equal(sv_route_sl(carried, a2, carried->first[y2.i]), 5);
    assert_int_equal(sv_route_sl(carried, b2, carried->first[y2.i]), 6);
    assert_int_equal(sv_route_sl(carried, y2, carried->first[x2.i]), 7);
    assert_int_equal(sv_route_sl(carried, a2, carried->first[x2.i]), SV_NO_SL);
    sv_match_free(match);
    sv_routes_free(carried);
    sv_routes_free(old);
    sv_fabric_free(g);
    sv_fabric_free(f);
}

/* Neither of the two sees what the other writes, whoever had the rows first. */
static void originals_do_not_write_into_clones(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2x2,hosts=1");
    sv_routes *r = NULL, *clone = NULL;
    OK(ctx, sv_routes_new(ctx, f, 0, &r));
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_SWITCH));
    sv_routes_row(ctx, r, 3)[0] = 2;
    sv_routes_sl_row(ctx, r, 3)[0] = 5;
    OK(ctx, sv_routes_clone(ctx, r, &clone));
    sv_routes_row(ctx, r, 3)[0] = 1;
    sv_routes_sl_row(ctx, r, 3)[0] = 6;
    assert_int_equal(clone->ports[3][0], 2);
    assert_int_equal(clone->sls[3][0], 5);
    sv_routes_row(ctx, clone, 3)[1] = 1;
    assert_int_not_equal(r->ports[3][1], 1);
    sv_routes_free(clone);
    sv_routes_free(r);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(originals_do_not_write_into_clones),
        cmocka_unit_test(destinations_are_numbered_by_node),
        cmocka_unit_test(clones_share_until_they_change),
        cmocka_unit_test(blocks_are_counted_and_mixed),
        cmocka_unit_test(lids_are_kept_where_they_fit),
        cmocka_unit_test(more_destinations_than_lids),
        cmocka_unit_test(every_lid_can_be_given),
        cmocka_unit_test(service_levels_have_four_forms),
        cmocka_unit_test(vls_are_pooled),
        cmocka_unit_test(clones_take_more_vls),
        cmocka_unit_test(nodes_take_vls),
        cmocka_unit_test(wrong_tables_are_found),
        cmocka_unit_test(traces_end_as_they_must),
        cmocka_unit_test(failures_show_in_old_tables),
        cmocka_unit_test(loads_are_what_traces_say),
        cmocka_unit_test(loads_without_channels),
        cmocka_unit_test(vls_from_files_can_be_changed),
        cmocka_unit_test(groups_are_kept),
        cmocka_unit_test(tables_follow_their_nodes),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
