/*
 * test_topology.c: spec strings and the published configurations, from inside. The families'
 * graphs are compared with second constructions in tests/oracle/test_topologies.py.
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

/* Every preset gives the published numbers of switches, terminals and links. */
static void presets_are_as_published(void **state)
{
    (void)state;
    size_t count = 0;
    for (const sv_preset *preset; (preset = sv_preset_at(count)) != NULL; count++) {
        sv_fabric *f = test_fabric(ctx, preset->name);
        if ((preset->switches != 0 && preset->switches != f->num_switches) ||
            preset->terminals != f->num_terminals ||
            (preset->links != 0 && preset->links != test_links(f)))
            fail_msg("%s: %u switches, %u terminals, %u links instead of %u, %u, %u", preset->name,
                     f->num_switches, f->num_terminals, test_links(f), preset->switches,
                     preset->terminals, preset->links);
        sv_components components;
        OK(ctx, sv_fabric_components(ctx, f, &components));
        assert_int_equal(components.all, 1);
        sv_fabric_free(f);
    }
    assert_int_equal(count, 54);
}

static void every_family_has_a_working_example(void **state)
{
    (void)state;
    for (size_t i = 0; sv_topology_at(i) != NULL; i++) {
        assert_true(sv_topology_is_spec(sv_topology_at(i)->example));
        sv_fabric_free(test_fabric(ctx, sv_topology_at(i)->example));
    }
}

static void keys_change_a_preset(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "t61-torus,hosts=2,r=1,speed=EDR");
    assert_int_equal(f->num_terminals, 300);
    assert_int_equal(test_links(f), 450);
    assert_int_equal(f->links[0].speed, SV_SPEED_EDR);
    assert_int_equal(f->switches[0].ports, 36);
    sv_fabric_free(f);
    /* Terminals, however the preset and the user count them. */
    const struct {
        const char *spec;
        uint32_t terminals;
    } counts[] = {{"t61-random,hosts=2", 250},    {"t61-random,total=7", 7},
                  {"t61-dragonfly,hosts=2", 360}, {"t61-dragonfly,total=9", 9},
                  {"t61-dragonfly,p=1", 180},     {"t61-torus,total=9", 9}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        f = test_fabric(ctx, counts[i].spec);
        assert_int_equal(f->num_terminals, counts[i].terminals);
        sv_fabric_free(f);
    }
}

/* Of the real machines' terminals, those that do not compute come last. */
static void roles_are_as_published(void **state)
{
    (void)state;
    const struct {
        const char *spec;
        uint32_t compute;
    } systems[] = {
        {"deimos", 726}, {"tsubame2:rail=1", 1408}, {"tsubame2:rail=2", 1408}, {"taurus", 2014}};
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        sv_fabric *f = test_fabric(ctx, systems[i].spec);
        for (uint32_t t = 0; t < f->num_terminals; t++)
            assert_int_equal(f->terminals[t].role,
                             t < systems[i].compute ? SV_ROLE_COMPUTE : SV_ROLE_OTHER);
        sv_fabric_free(f);
    }
}

/* Taurus' third island is QDR, up to and including its cables to the director. */
static void cables_are_as_fast_as_their_slower_end(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "taurus");
    for (uint32_t c = 0; c < f->num_channels; c++) {
        bool slow = strncmp(sv_node_name(f, f->tail[c]), "i3-", 3) == 0 ||
                    strncmp(sv_node_name(f, f->head[c]), "i3-", 3) == 0;
        assert_int_equal(sv_link_of(f, (sv_channel){c})->speed, slow ? SV_SPEED_QDR : SV_SPEED_FDR);
    }
    sv_fabric_free(f);
}

/* Cables between two groups of a Cascade are spread: no two of them join the same switches. */
static void global_cables_of_a_cascade_are_spread(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "cascade:g=2");
    for (uint32_t s = 0; s < 96; s++) {
        bool seen[192] = {false};
        SV_FOR_HOPS (f, ((sv_node){s}), hop) {
            if (!sv_is_switch(f, hop->to) || hop->to.i < 96)
                continue;
            assert_false(seen[hop->to.i]);
            seen[hop->to.i] = true;
        }
    }
    sv_fabric_free(f);
}

static void links_are_as_asked(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2,width=12,speed=hdr,mtu=4096,vls=15");
    assert_int_equal(f->links[0].width, 12);
    assert_int_equal(f->links[0].speed, SV_SPEED_HDR);
    assert_int_equal(f->links[0].mtu_bytes, 4096);
    assert_int_equal(f->links[0].vls, 15);
    assert_int_equal(sv_link_mbit(&f->links[0]), 600000);
    sv_fabric_free(f);
}

static void terminals_come_first_then_dimensions(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x3,hosts=2,r=2");
    /* The middle of the ring: two terminals, then minus and plus of x, minus and plus of y. */
    const char *wanted[] = {"host8", "host9", "sw0-1", "sw0-1", "sw2-1",
                            "sw2-1", "sw1-0", "sw1-0", "sw1-2", "sw1-2"};
    sv_node v = {4};
    assert_string_equal(sv_node_name(f, v), "sw1-1");
    assert_int_equal(sv_degree(f, v), 10);
    for (unsigned port = 1; port <= 10; port++) {
        sv_channel c = sv_channel_at(f, v, port);
        assert_string_equal(sv_node_name(f, f->head[c.i]), wanted[port - 1]);
    }
    sv_fabric_free(f);
}

static void refused(const char *spec, sv_status status, const char *text)
{
    sv_fabric *f = NULL;
    FAILS(ctx, sv_topology_generate(ctx, spec, &f), status, text);
    assert_null(f);
}

static void wrong_specs_are_explained(void **state)
{
    (void)state;
    refused("torus:4x4,hots=3", SV_BAD_INPUT,
            "spec 'torus:4x4,hots=3': unknown key 'hots': did you mean 'hosts'? (known: hosts, "
            "total, r, radix");
    refused("tours:4x4", SV_BAD_INPUT, "'tours' is no family or preset");
    refused("torus:", SV_BAD_INPUT, "nothing after the colon");
    refused("torus", SV_BAD_INPUT, "the size is missing");
    refused("torus:4x", SV_BAD_INPUT, "is not numbers");
    refused("torus:4xa", SV_BAD_INPUT, "is not numbers");
    refused("torus:0x4", SV_BAD_INPUT, "is not numbers");
    refused("torus:4x4y", SV_BAD_INPUT, "has something odd at its end");
    refused("hyperx:4x3,k=2", SV_BAD_INPUT, "k= has 1 numbers for 2 dimensions");
    refused("dragonfly:a=4,p=2,h=2,g=9,hosts=3", SV_BAD_INPUT, "exclude each other");
    refused("dragonfly:a=4,p=2,h=2,g=9,total=3", SV_BAD_INPUT, "exclude each other");
    refused("torus:4x4,", SV_BAD_INPUT, "nothing after the last comma");
    refused("torus:4x4,,r=2", SV_BAD_INPUT, "is not key=value");
    refused("torus:4x4,r", SV_BAD_INPUT, "'r' is not key=value");
    refused("torus:4x4,r=", SV_BAD_INPUT, "'r=' is not key=value");
    refused("torus:4x4,r=1,r=2", SV_BAD_INPUT, "given twice");
    refused("torus:4x4,r=0", SV_BAD_INPUT, "r=0 is not a number in 1…10000");
    refused("torus:4x4,hosts=2,total=9", SV_BAD_INPUT, "exclude each other");
    refused("torus:4x4,speed=warp", SV_BAD_INPUT, "speed=warp is none of");
    refused("torus:4x4,width=3", SV_BAD_INPUT, "width=3 is none of");
    refused("torus:4x4,vls=3", SV_BAD_INPUT, "vls=3 is none of");
    refused("torus:4x4,mtu=300", SV_BAD_INPUT, "mtu=300 is none of");
    refused("kary:k=4", SV_BAD_INPUT, "key 'n' is missing");
    refused("kary:4,k=4,n=2", SV_BAD_INPUT, "'4' is not key=value");
    refused("xgft:h=2,m=3,w=2/2", SV_BAD_INPUT, "needs 2 numbers");
    refused("dragonfly:a=4,h=2,g=9,arrangement=round", SV_BAD_INPUT, "is none of absolute");
    refused("deimos:hosts=3", SV_BAD_INPUT, "the terminals of this system are fixed");
    refused("taurus:total=30", SV_BAD_INPUT, "the terminals of this system are fixed");
    refused("t61-torus:4x4", SV_BAD_INPUT, "a preset has no size");
    refused("", SV_BAD_INPUT, "is no family");
}

static void impossible_specs_are_infeasible(void **state)
{
    (void)state;
    refused("torus:4x4x4,hosts=40,radix=36", SV_INFEASIBLE,
            "switch 'sw0-0-0' needs 46 ports (40 for terminals, 6 for switches) and has 36");
    refused("torus:100000x100000", SV_INFEASIBLE, "2^32 switches");
    refused("torus:60000x60000", SV_INFEASIBLE, "3600000000 switches");
    refused("mesh:2,total=134000000", SV_INFEASIBLE, "ports");
    refused("kary:k=1000,n=9", SV_INFEASIBLE, "2^32");
    refused("kautz:d=1000,k=9", SV_INFEASIBLE, "2^32");
    refused("dragonfly:a=4,h=2,g=10", SV_INFEASIBLE,
            "10 groups need 9 global ports each and have 8");
    refused("slimfly:q=6", SV_INFEASIBLE, "prime power");
    refused("slimfly:q=15", SV_INFEASIBLE, "prime power");
    refused("jellyfish:switches=5,degree=3", SV_INFEASIBLE, "no simple graph");
    refused("jellyfish:switches=4,degree=4", SV_INFEASIBLE, "no simple graph");
    refused("jellyfish:switches=6,degree=1", SV_INFEASIBLE, "no connected graph has 6 switches");
    refused("random:switches=10,links=9", SV_INFEASIBLE, "the ring alone needs 10");
    refused("random:switches=10,links=100,radix=5", SV_INFEASIBLE, "no free ports left after");
    refused("random:switches=3,links=5,radix=4", SV_INFEASIBLE,
            "no free ports left after 4 of 5 links");
    refused("cascade:g=242", SV_BAD_INPUT, "g=242");
    refused("cascade:g=3,global=500", SV_INFEASIBLE, "3 groups leave each pair 480");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_as_published),
        cmocka_unit_test(every_family_has_a_working_example),
        cmocka_unit_test(keys_change_a_preset),
        cmocka_unit_test(roles_are_as_published),
        cmocka_unit_test(cables_are_as_fast_as_their_slower_end),
        cmocka_unit_test(global_cables_of_a_cascade_are_spread),
        cmocka_unit_test(links_are_as_asked),
        cmocka_unit_test(terminals_come_first_then_dimensions),
        cmocka_unit_test(wrong_specs_are_explained),
        cmocka_unit_test(impossible_specs_are_infeasible),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
