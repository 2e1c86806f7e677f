/*
 * test_torus.c: engine torus2qos: what it finds and refuses, OpenSM's torus-2QoS.conf, levels of
 * service, addresses and parallel cables. tests/oracle/test_torus.c holds its paths to coordinates.
 */
#include "support/testing.h"

#include <unistd.h>

#include "base/file.h"
#include "structure/torus.h"

TEST_CONTEXT

static void must_hold(const sv_fabric *f, const sv_routes *r)
{
    sv_verification *found = NULL;
    OK(ctx, sv_routes_check(ctx, f, r));
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->loops, 0);
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], found->split_pairs);
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
        assert_int_equal(found->deadlock_free[k], SV_VERDICT_YES);
    sv_verification_free(found);
}

static sv_routes *route(const sv_fabric *f, const char *const *options, size_t count,
                        sv_route_report *report)
{
    sv_routes *r = NULL;
    const sv_route_request request = {.options = options, .num_options = count};
    OK(ctx, sv_route(ctx, f, "torus2qos", &request, &r, report));
    must_hold(f, r);
    return r;
}

/* ---- structure ---- */

static void says_what_it_found(void **state)
{
    (void)state;
    const struct {
        const char *spec, *kind;
        uint32_t dims, size[4], wraps[4];
        unsigned vls, sls;
    } known[] = {
        {"torus:4x4x3,hosts=4", "torus", 3, {4, 4, 3}, {1, 1, 1}, 1, 1},
        {"torus:5x6x7,hosts=1", "torus", 3, {5, 6, 7}, {1, 1, 1}, 2, 8},
        {"torus:5x3x2,hosts=1", "torus", 3, {5, 3, 2}, {1, 1, 0}, 2, 2},
        {"mesh:5x5", "mesh", 2, {5, 5}, {0, 0}, 1, 1},
        {"torus:1x7", "torus", 1, {7}, {1}, 2, 2},
        {"mesh:1x2", "mesh", 1, {2}, {0}, 1, 1},
        {"torus:5x5x5x5,hosts=1", "torus", 4, {5, 5, 5, 5}, {1, 1, 1, 1}, 2, 16},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sv_fabric *f = test_fabric(ctx, known[i].spec);
        sv_route_report report;
        sv_routes *r = route(f, NULL, 0, &report);
        const sv_structure_fact *facts = report.structure.facts;
        assert_string_equal(report.structure.kind, known[i].kind);
        assert_string_equal(facts[0].name, "size");
        assert_string_equal(facts[1].name, "wraps");
        assert_int_equal(facts[0].count, known[i].dims);
        for (uint32_t d = 0; d < known[i].dims; d++) {
            assert_int_equal(facts[0].values[d], known[i].size[d]);
            assert_int_equal(facts[1].values[d], known[i].wraps[d]);
        }
        assert_int_equal(facts[2].values[0], 0);
        assert_int_equal(facts[3].values[0], 0);
        assert_int_equal(report.vls_needed, known[i].vls);
        assert_int_equal(report.sls_used, known[i].sls);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

/* A fabric without some switches and without some cables, by the numbers of switches. */
static sv_fabric *without(const char *spec, const uint32_t *gone, const uint32_t (*cut)[2],
                          uint32_t switches, uint32_t cables)
{
    sv_fabric *f = test_fabric(ctx, spec), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    for (uint32_t i = 0; i < switches; i++)
        sv_mask_node(mask, (sv_node){gone[i]});
    for (uint32_t i = 0; i < cables; i++)
        for (uint32_t c = 0; c < f->num_channels; c++)
            if (f->tail[c].i == cut[i][0] && f->head[c].i == cut[i][1])
                sv_mask_cable(mask, f, (sv_channel){c});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    sv_fabric_free(f);
    return left;
}

static void counts_what_is_missing(void **state)
{
    (void)state;
    const uint32_t gone[] = {12}, cut[][2] = {{0, 1}, {6, 11}};
    sv_fabric *f = without("torus:5x5,hosts=2", gone, cut, 1, 2);
    sv_route_report report;
    sv_routes *r = route(f, NULL, 0, &report);
    assert_string_equal(report.structure.facts[2].name, "missing_switches");
    assert_int_equal(report.structure.facts[2].values[0], 1);
    assert_string_equal(report.structure.facts[3].name, "missing_links");
    assert_int_equal(report.structure.facts[3].values[0], 2);
    assert_int_equal(report.vls_needed, 3);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Rings in one dimension, lines in the other; switches without terminals. */
static void each_dimension_for_itself(void **state)
{
    (void)state;
    const uint32_t cut[][2] = {{5, 0}, {11, 6}, {17, 12}, {23, 18}, {29, 24}};
    sv_fabric *f = without("torus:5x6,total=7", NULL, cut, 0, 5);
    sv_route_report report;
    sv_routes *r = route(f, NULL, 0, &report);
    assert_string_equal(report.structure.kind, "torus");
    assert_int_equal(report.structure.facts[1].values[0], 1);
    assert_int_equal(report.structure.facts[1].values[1], 0);
    assert_int_equal(report.structure.facts[3].values[0], 0);
    assert_int_equal(report.vls_needed, 2);
    assert_int_equal(report.sls_used, 2);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Two failed links cut a ring in two: OpenSM refuses, here there are detours. */
static void a_ring_cut_in_two_is_routed(void **state)
{
    (void)state;
    const uint32_t cut[][2] = {{0, 1}, {2, 3}};
    sv_fabric *f = without("torus:5x5x5,hosts=1", NULL, cut, 0, 2);
    sv_route_report report;
    sv_routes *r = route(f, NULL, 0, &report);
    assert_int_equal(report.vls_needed, 4);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void what_is_no_torus_is_refused(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=4,n=2,hosts=4",
                           "dragonfly:a=4,p=2,h=2,g=9",
                           "hyperx:4x4,hosts=1",
                           "kautz:d=2,k=3,hosts=1",
                           "random:switches=20,links=50,total=40,seed=1",
                           "slimfly:q=5,hosts=1",
                           "expressmesh:8x6,gap=2,hosts=1",
                           "xgft:h=2,m=6/6,w=3/3,hosts=12"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        sv_routes *r = NULL;
        FAILS(ctx, sv_route(ctx, f, "torus2qos", NULL, &r, NULL), SV_INFEASIBLE,
              "no mesh or torus");
        assert_non_null(strchr(sv_ctx_message(ctx), '\''));
        assert_null(r);
        sv_fabric_free(f);
    }
}

/* Five dimensions can be ordered in 120 ways: not all are tried before it refuses. */
static void a_refusal_comes_in_time(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:3x3x3x2x3,hosts=1"), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    const sv_fault_plan plan = {.seed = 4, .links = {true, 250000}};
    sv_fault_report report;
    sv_routes *r = NULL;
    OK(ctx, sv_faults_draw(ctx, f, &plan, mask, &report));
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    FAILS(ctx, sv_route(ctx, left, "torus2qos", NULL, &r, NULL), SV_INFEASIBLE,
          "in 24 orders of dimensions");
    sv_fabric_free(left);
    sv_mask_free(mask);
    sv_fabric_free(f);
}

/* Each piece is a mesh or torus of its own. */
static void pieces_are_routed_each(void **state)
{
    (void)state;
    const uint32_t cut[][2] = {{0, 3}, {1, 4}, {2, 5}, {6, 3}, {7, 4}, {8, 5}};
    sv_fabric *f = without("mesh:4x3,hosts=2", NULL, cut, 0, 6);
    sv_route_report report;
    sv_routes *r = route(f, NULL, 0, &report);
    assert_int_equal(report.components, 3);
    assert_string_equal(report.structure.facts[4].name, "pieces");
    assert_int_equal(report.structure.facts[4].values[0], 3);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void vls_are_asked_for(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x5,hosts=1");
    sv_routes *r = NULL;
    const char *both[] = {"qos=2"};
    sv_route_request request = {.vls = 1};
    FAILS(ctx, sv_route(ctx, f, "torus2qos", &request, &r, NULL), SV_INFEASIBLE,
          "needs 2 VLs: there are 1");
    request = (sv_route_request){.vls = 3, .options = both, .num_options = 1};
    FAILS(ctx, sv_route(ctx, f, "torus2qos", &request, &r, NULL), SV_INFEASIBLE,
          "needs 4 VLs, for two levels of service: there are 3");
    sv_fabric_free(f);
    f = test_fabric(ctx, "torus:5x5x5x5x5,hosts=1");
    FAILS(ctx, sv_route(ctx, f, "torus2qos", NULL, &r, NULL), SV_INFEASIBLE,
          "needs 2^5 service levels");
    sv_fabric_free(f);
}

/* VLs that are told are VLs that packets are on: detours may do with one more, not two. */
static void vls_are_told_as_they_are(void **state)
{
    (void)state;
    bool three = false;
    for (uint32_t s = 0; s < 10; s++)
        for (uint32_t a = 0; a < 10; a += 2) {
            const uint32_t gone[] = {s}, cut[][2] = {{a, (a + 2) % 10}};
            sv_fabric *f = without("torus:5x2,hosts=1", gone, cut, 1, 1);
            sv_route_request request = {.vls = 8};
            sv_routes *r = NULL;
            sv_route_report report;
            sv_verification *found = NULL;
            if (sv_route(ctx, f, "torus2qos", &request, &r, &report) == SV_OK) {
                must_hold(f, r);
                OK(ctx, sv_verify(ctx, f, r, NULL, &found));
                assert_int_equal(found->vls_used, report.vls_used);
                sv_verification_free(found);
                sv_routes_free(r);
                request.vls = report.vls_needed;
                OK(ctx, sv_route(ctx, f, "torus2qos", &request, &r, NULL));
                must_hold(f, r);
                for (uint32_t t = 0; t < r->num_vl_tables; t++)
                    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
                        assert_in_range(r->vl_tables[t].of_sl[sl], 0, request.vls - 1);
                sv_routes_free(r);
                three |= report.vls_needed == 3;
            }
            sv_fabric_free(f);
        }
    assert_true(three);
}

/* ---- levels, addresses, cables ---- */

/* Both levels are free of deadlock, and have no VL in common. */
static void levels_are_apart(void **state)
{
    (void)state;
    const uint32_t gone[] = {7};
    const char *first[] = {"qos=2"}, *second[] = {"qos=2", "level=1"}, *bad[] = {"level=1"};
    for (int broken = 0; broken < 2; broken++) {
        sv_fabric *f = without("torus:5x5,hosts=2", gone, NULL, (uint32_t)broken, 0);
        sv_route_report report;
        sv_routes *a = route(f, first, 1, &report), *b = route(f, second, 2, NULL);
        assert_int_equal(report.sls_used, 16);
        assert_int_equal(report.vls_needed, broken ? 8 : 4);
        assert_int_equal(report.vls_used, 4 + (broken ? 4 : 2));
        for (uint32_t t = 0; t < f->num_terminals; t++)
            for (uint32_t s = 0; s < f->num_switches; s++) {
                uint32_t d = a->first[f->num_switches + t], count;
                sv_hop_taken one[64], two[64];
                sv_node at;
                if (!sv_node_alive(f, (sv_node){s}) || a->home[t] == SV_NONE || a->home[t] == s ||
                    !sv_node_alive(f, (sv_node){f->num_switches + t}))
                    continue;
                unsigned sl = sv_route_sl(a, (sv_node){s}, d);
                assert_in_range(sl, 0, 7);
                assert_int_equal(sv_route_sl(b, (sv_node){s}, d), sl + 8);
                sv_routes_trace(f, a, (sv_node){s}, d, sl, one, 64, &count, &at);
                sv_routes_trace(f, b, (sv_node){s}, d, sl + 8, two, 64, &count, &at);
                for (uint32_t i = 0; i < count; i++) {
                    bool last = i + 1 == count;
                    assert_int_equal(one[i].channel.i, two[i].channel.i);
                    assert_in_range(one[i].vl, 0, 3);
                    assert_int_equal(two[i].vl, one[i].vl + (last ? 1 : 4));
                }
            }
        sv_routes_free(b);
        sv_routes_free(a);
        sv_fabric_free(f);
    }
    sv_fabric *f = test_fabric(ctx, "torus:5x5");
    sv_routes *r = NULL;
    sv_route_request request = {.options = bad, .num_options = 1};
    FAILS(ctx, sv_route(ctx, f, "torus2qos", &request, &r, NULL), SV_BAD_INPUT, "level is 0, or 1");
    bad[0] = "qos=3";
    FAILS(ctx, sv_route(ctx, f, "torus2qos", &request, &r, NULL), SV_BAD_INPUT, "qos=3 is not 1|2");
    sv_fabric_free(f);
}

/* Addresses of a terminal take parallel cables in turn, and both ways round a tie. */
static void addresses_take_different_ways(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:6,hosts=1,r=4");
    sv_routes *r = test_routed(ctx, f, "torus2qos", 2);
    must_hold(f, r);
    uint32_t to = r->first[f->num_switches + 1];
    bool ways[6] = {false};
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t l = 0; l < k; l++) /* the neighbour of its switch */
            assert_int_not_equal(r->ports[to + k][0], r->ports[to + l][0]);
        sv_channel c = sv_channel_at(f, (sv_node){4}, r->ports[to + k][4]); /* opposite: a tie */
        ways[f->head[c.i].i] = true;
    }
    assert_true(ways[3] && ways[5]);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* A fabric without a terminal, as one that is found again after its host was switched off. */
static sv_fabric *found_without(const sv_fabric *f, uint32_t terminal)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fabric *left = NULL;
    test_buffer text = {0};
    sv_sink sink = test_sink(&text);
    sv_mask_node(mask, (sv_node){f->num_switches + terminal});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    OK(ctx, sv_fabric_write(ctx, left, SV_FORMAT_IBNETDISCOVER, &sink));
    sv_fabric *again = test_read(ctx, text.text);
    free(text.text);
    sv_fabric_free(left);
    sv_mask_free(mask);
    return again;
}

/* A host that is gone changes the SLs of no others, though nothing tells that it was there. */
static void hosts_come_and_go(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:6x6,hosts=4");
    sv_routes *before = test_routed(ctx, f, "torus2qos", 0);
    for (uint32_t gone = 0; gone < 4; gone++) {
        sv_fabric *g = found_without(f, gone);
        sv_routes *after = test_routed(ctx, g, "torus2qos", 0);
        sv_match *match = NULL;
        OK(ctx, sv_match_new(ctx, f, g, SV_MATCH_GUID, &match));
        for (uint32_t t = 0; t < f->num_terminals; t++)
            for (uint32_t s = 0; s < f->num_switches && t != gone; s++) {
                sv_node to = {g->num_switches + match->terminals[t]};
                assert_int_equal(
                    sv_route_sl(after, (sv_node){match->switches[s]}, after->first[to.i]),
                    sv_route_sl(before, (sv_node){s}, before->first[f->num_switches + t]));
            }
        sv_match_free(match);
        sv_routes_free(after);
        sv_fabric_free(g);
    }
    sv_routes_free(before);
    sv_fabric_free(f);
}

static uint64_t busiest(const char *spec, const char *engine)
{
    sv_fabric *f = test_fabric(ctx, spec);
    sv_routes *r = test_routed(ctx, f, engine, 0);
    sv_load load;
    OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
    sv_routes_free(r);
    sv_fabric_free(f);
    return load.max;
}

/* On tori dimension order is perfectly balanced, and parallel cables share alike. */
static void loads_are_even(void **state)
{
    (void)state;
    assert_int_equal(busiest("torus:4x4x4,hosts=4", "torus2qos"), 512);
    assert_int_equal(busiest("torus:8x8,hosts=4", "torus2qos"), 1024);
    assert_int_equal(busiest("torus:5x5x5,hosts=2", "torus2qos"), 300);
    assert_int_equal(busiest("torus:5x5,hosts=4,r=4", "torus2qos"),
                     busiest("torus:5x5,hosts=4", "torus2qos") / 4);
    assert_int_equal(busiest("torus:6x6,hosts=4,r=2", "torus2qos"),
                     busiest("torus:6x6,hosts=4", "torus2qos") / 2);
}

/* ---- torus-2QoS.conf ---- */

static sv_status read_conf(const char *text, sv_torus_conf *conf, sv_arena *arena)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "conf");
    return sv_torus_conf_read(ctx, arena, &source, conf);
}

static void reads_the_example_of_the_manual(void **state)
{
    (void)state;
    sv_arena arena;
    sv_torus_conf conf;
    sv_arena_init(&arena, ctx);
    OK(ctx, read_conf("\n# 4x5\ntorus 1 4 5m trailing words\n\n"
                      "yp_link 0x200000 0x200005  # plus\nym_link 0x200000 0x20000f\n"
                      "zp_link 0x200000 0x200001\r\nportgroup_max_ports 20\nmax_changes 4\n"
                      "next_seed\n  yp_link 0x20000b 0x200010\nym_link 0x20000b 0x200006\n"
                      "zp_link 0x20000b 0x20000c\ny_dateline -2  # back\nz_dateline -1\n"
                      "port_order 7 10 8 7 # twice\n",
                      &conf, &arena));
    assert_int_equal(conf.radix[0], 1);
    assert_int_equal(conf.radix[1], 4);
    assert_int_equal(conf.radix[2], 5);
    assert_true(conf.wraps[1] && !conf.wraps[2]);
    assert_int_equal(conf.num_seeds, 2);
    assert_int_equal(conf.seeds[0].to[1][1], 0x20000f);
    assert_int_equal(conf.seeds[1].from, 0x20000b);
    assert_int_equal(conf.seeds[1].dateline[1], -2);
    assert_int_equal(conf.num_port_order, 3);
    assert_int_equal(conf.port_order[2], 8);
    sv_arena_release(&arena);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    const char *bad[][2] = {
        {"xp_link 1 2\n", "conf:1: the first word must be torus or mesh, not 'xp_link'"},
        {"", "conf:1: neither torus nor mesh"},
        {"torus 4 4\n", "conf:1: expected three sizes"},
        {"torus 4 4 q\n", "conf:1: 'q' is not a size"},
        {"torus 4 0 4\n", "conf:1: '0' is not a size"},
        {"torus 1 1 1\n", "conf:1: all sizes are 1"},
        {"mesh 4 4 1\n\nwarp 1\n", "conf:3: unknown word 'warp'"},
        {"torus 4 4 1\nxp_link 0x1\n", "conf:2: expected the GUIDs of two switches"},
        {"torus 4 4 1\nxp_link 0x1 zz\n", "conf:2: expected the GUIDs of two switches"},
        {"torus 4 4 1\nxp_link 1 1\n", "conf:2: a link from a switch to itself"},
        {"torus 4 4 1\nxp_link 1 2\nyp_link 2 3\n", "conf:3: links of one seed leave one switch"},
        {"torus 4 4 1\nx_dateline q\n", "conf:2: expected a position"},
        {"torus 4 4 1\nmax_changes\n", "conf:2: expected a number"},
        {"torus 4 4 1\nport_order 1 900\n", "conf:2: '900' is not a port"},
        {"torus 4 4 1\n", "no seed"},
        {"torus 4 4 1\nxp_link 1 2\n", "conf:2: the seed that begins here has no y link"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sv_arena arena;
        sv_torus_conf conf;
        sv_arena_init(&arena, ctx);
        FAILS(ctx, read_conf(bad[i][0], &conf, &arena), SV_BAD_INPUT, bad[i][1]);
        sv_arena_release(&arena);
    }
}

/* A file with a text; its option "config=…" into option. */
static void write_conf(const char *text, char *option, size_t size)
{
    char path[] = "/tmp/selvage-torus-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    snprintf(option, size, "config=%s", path);
}

/* The seed's text for a generated fabric: at a switch, to its neighbours along x and y. */
static void seed_text(const sv_fabric *f, char *text, size_t size, const char *head, uint32_t s,
                      uint32_t x, uint32_t y, const char *tail)
{
    snprintf(text, size, "%s\nxp_link 0x%llx 0x%llx\nyp_link 0x%llx 0x%llx\n%s\n", head,
             (unsigned long long)f->switches[s].guid, (unsigned long long)f->switches[x].guid,
             (unsigned long long)f->switches[s].guid, (unsigned long long)f->switches[y].guid,
             tail);
}

/* Axes and datelines are what a configuration says: seen by the SLs of paths. */
static void a_configuration_decides(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x6,hosts=1"); /* switch 6 x + y */
    char text[600], option[100];
    const char *options[] = {option};
    sv_route_report report;
    /* x and y exchanged; the common switch is (x = 2, y = 1) with y first. */
    seed_text(f, text, sizeof text, "torus 6 5 1", 13, 14, 19, "x_dateline -1\ny_dateline -2");
    write_conf(text, option, sizeof option);
    sv_routes *r = route(f, options, 1, &report);
    assert_int_equal(report.structure.facts[0].values[0], 6);
    assert_int_equal(report.structure.facts[0].values[1], 5);
    /* From (0, 5) to (0, 0): across the dateline of what is called x here, bit 0. */
    assert_int_equal(sv_route_sl(r, (sv_node){5}, r->first[f->num_switches + 0]), 1);
    assert_int_equal(sv_route_sl(r, (sv_node){24}, r->first[f->num_switches + 0]), 2);
    sv_routes_free(r);
    remove(option + 7);
    /* The dateline three further: now between y = 2 and y = 3. */
    seed_text(f, text, sizeof text, "torus 6 5 1", 13, 14, 19, "x_dateline 2\ny_dateline -2");
    write_conf(text, option, sizeof option);
    r = route(f, options, 1, NULL);
    assert_int_equal(sv_route_sl(r, (sv_node){5}, r->first[f->num_switches + 0]), 0);
    assert_int_equal(sv_route_sl(r, (sv_node){2}, r->first[f->num_switches + 3]), 1);
    sv_routes_free(r);
    remove(option + 7);
    sv_fabric_free(f);
}

/* The first seed that is all there counts, and tells the same. */
static void the_next_seed_steps_in(void **state)
{
    (void)state;
    const uint32_t gone[] = {0};
    sv_fabric *f = test_fabric(ctx, "torus:5x6,hosts=1"), *g = NULL;
    char one[600], two[600], both[1300], option[100];
    const char *options[] = {option};
    seed_text(f, one, sizeof one, "torus 5 6 1", 0, 6, 1, "");
    seed_text(f, two, sizeof two, "next_seed", 13, 19, 14, "x_dateline -2\ny_dateline -1");
    snprintf(both, sizeof both, "%s%s", one, two);
    write_conf(both, option, sizeof option);
    g = without("torus:5x6,hosts=1", gone, NULL, 1, 0);
    sv_routes *a = route(f, options, 1, NULL), *b = route(g, options, 1, NULL);
    for (uint32_t s = 1; s < f->num_switches; s++)
        for (uint32_t t = 1; t < f->num_terminals; t++)
            assert_int_equal(sv_route_sl(a, (sv_node){s}, a->first[f->num_switches + t]),
                             sv_route_sl(b, (sv_node){s}, b->first[f->num_switches + t]));
    sv_routes_free(b);
    sv_routes_free(a);
    remove(option + 7);
    write_conf(one, option, sizeof option);
    const sv_route_request request = {.options = options, .num_options = 1};
    FAILS(ctx, sv_route(ctx, g, "torus2qos", &request, &a, NULL), SV_INFEASIBLE,
          "no seed is all there");
    remove(option + 7);
    sv_fabric_free(g);
    sv_fabric_free(f);
}

static void what_differs_is_told(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x6,hosts=1");
    const char *heads[][2] = {{"torus 5 5 1", "y has 6 switches in a ring"},
                              {"mesh 5 6 1", "x has 5 switches in a ring"},
                              {"torus 5 6m 1", "y has 6 switches in a ring"},
                              {"torus 5 6 3", "no z link"}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char text[600], option[100];
        const char *options[] = {option};
        sv_routes *r = NULL;
        const sv_route_request request = {.options = options, .num_options = 1};
        seed_text(f, text, sizeof text, heads[i][0], 0, 6, 1, "");
        write_conf(text, option, sizeof option);
        FAILS(ctx, sv_route(ctx, f, "torus2qos", &request, &r, NULL),
              i == 3 ? SV_BAD_INPUT : SV_INFEASIBLE, heads[i][1]);
        remove(option + 7);
    }
    sv_fabric_free(f);
}

/* Rings of four are pairs of dimensions to the graph: the links of a seed say which belong
 * together. */
static void rings_of_four_by_configuration(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4x4,hosts=1"); /* switch 16 x + 4 y + z */
    char text[900], option[100];
    const char *options[] = {option};
    const uint32_t to[6] = {16, 48, 4, 12, 1, 3};
    int length = snprintf(text, sizeof text, "torus 4 4 4\n");
    for (int k = 0; k < 6; k++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%c%c_link 0x%llx 0x%llx\n",
                           "xyz"[k / 2], "pm"[k % 2], (unsigned long long)f -> switches[0].guid,
                           (unsigned long long)f->switches[to[k]].guid);
    write_conf(text, option, sizeof option);
    sv_route_report report;
    sv_routes *r = route(f, options, 1, &report);
    for (int d = 0; d < 3; d++)
        assert_int_equal(report.structure.facts[0].values[d], 4);
    sv_routes_free(r);
    remove(option + 7);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(says_what_it_found, begin, end),
        cmocka_unit_test_setup_teardown(counts_what_is_missing, begin, end),
        cmocka_unit_test_setup_teardown(each_dimension_for_itself, begin, end),
        cmocka_unit_test_setup_teardown(a_ring_cut_in_two_is_routed, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_torus_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_refusal_comes_in_time, begin, end),
        cmocka_unit_test_setup_teardown(pieces_are_routed_each, begin, end),
        cmocka_unit_test_setup_teardown(vls_are_asked_for, begin, end),
        cmocka_unit_test_setup_teardown(vls_are_told_as_they_are, begin, end),
        cmocka_unit_test_setup_teardown(levels_are_apart, begin, end),
        cmocka_unit_test_setup_teardown(addresses_take_different_ways, begin, end),
        cmocka_unit_test_setup_teardown(hosts_come_and_go, begin, end),
        cmocka_unit_test_setup_teardown(loads_are_even, begin, end),
        cmocka_unit_test_setup_teardown(reads_the_example_of_the_manual, begin, end),
        cmocka_unit_test_setup_teardown(bad_lines_are_named, begin, end),
        cmocka_unit_test_setup_teardown(a_configuration_decides, begin, end),
        cmocka_unit_test_setup_teardown(the_next_seed_steps_in, begin, end),
        cmocka_unit_test_setup_teardown(what_differs_is_told, begin, end),
        cmocka_unit_test_setup_teardown(rings_of_four_by_configuration, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
