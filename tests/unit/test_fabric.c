/*
 * test_fabric.c: the multigraph: building it, proving it, failing parts of it, finding nodes in it,
 * and what it weighs at the size it must hold.
 */
#include "support/testing.h"

#include "base/bitset.h"

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

static const sv_link qdr = {.width = 4, .speed = SV_SPEED_QDR};

static sv_end at_switch(uint32_t s, uint16_t port)
{
    return (sv_end){.index = s, .port = port};
}

static sv_end at_terminal(uint32_t t, uint16_t port)
{
    return (sv_end){.terminal = true, .index = t, .port = port};
}

/* Two switches joined by two cables, one with a loopback plug; a two-port adapter on both. */
static sv_builder *small(void)
{
    sv_builder *b = sv_builder_new(ctx);
    sv_switch_info left = {.name = "left", .guid = 1, .ports = 8, .lid = 11};
    sv_switch_info right = {.name = "right", .guid = 2, .ports = 8, .lid = 12};
    sv_adapter_info card = {.name = "host mlx5_0", .guid = 0x10, .ports = 2};
    OK(ctx, sv_builder_add_switch(b, &left, NULL));
    OK(ctx, sv_builder_add_switch(b, &right, NULL));
    OK(ctx, sv_builder_add_adapter(b, &card, NULL));
    for (uint16_t port = 1; port <= 2; port++) {
        sv_terminal_info end = {.guid = 0x10u + port, .port = port, .lid = (uint16_t)(20 + port)};
        OK(ctx, sv_builder_add_terminal(b, &end, NULL));
    }
    OK(ctx, sv_builder_add_cable(b, at_switch(0, 5), at_switch(1, 2), &qdr));
    OK(ctx, sv_builder_add_cable(b, at_switch(1, 1), at_switch(0, 3), &qdr));
    OK(ctx, sv_builder_add_cable(b, at_switch(0, 8), at_switch(0, 7), &qdr));
    OK(ctx, sv_builder_add_cable(b, at_terminal(0, 1), at_switch(0, 1), &qdr));
    OK(ctx, sv_builder_add_cable(b, at_switch(1, 8), at_terminal(1, 2), &qdr));
    return b;
}

static sv_fabric *small_fabric(void)
{
    sv_fabric *f = NULL;
    OK(ctx, sv_builder_finish(small(), &f));
    OK(ctx, sv_fabric_check(ctx, f));
    return f;
}

static void channels_are_in_port_order(void **state)
{
    (void)state;
    sv_fabric *f = small_fabric();
    assert_int_equal(f->num_channels, 10);
    const uint16_t ports[] = {1, 3, 5, 7, 8};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(f->port[i], ports[i]);
        assert_int_equal(f->tail[i].i, 0);
    }
    assert_int_equal(sv_channel_at(f, (sv_node){0}, 5).i, 2);
    assert_int_equal(sv_channel_at(f, (sv_node){0}, 4).i, SV_NONE);
    assert_int_equal(f->port[f->reverse[2].i], 2);
    assert_int_equal(f->reverse[3].i, 4); /* the loopback plug */
    assert_int_equal(sv_switch_of(f, (sv_node){3}).i, 1);
    assert_string_equal(sv_node_name(f, (sv_node){2}), "host mlx5_0");
    assert_int_equal(test_links(f), 2);
    assert_int_equal(f->num_links, 1);
    sv_fabric_free(f);
}

/* What a VL carries after coding, in Mbit/s. */
static void cables_have_their_bandwidth(void **state)
{
    (void)state;
    static const uint32_t mbit[SV_SPEED_COUNT] = {
        [SV_SPEED_SDR] = 2000,    [SV_SPEED_DDR] = 4000,   [SV_SPEED_QDR] = 8000,
        [SV_SPEED_FDR10] = 10000, [SV_SPEED_FDR] = 13636,  [SV_SPEED_EDR] = 25000,
        [SV_SPEED_HDR] = 50000,   [SV_SPEED_NDR] = 100000, [SV_SPEED_XDR] = 200000};
    for (uint8_t speed = 0; speed < SV_SPEED_COUNT; speed++) {
        assert_int_equal(sv_link_mbit(&(sv_link){.width = 1, .speed = speed}), mbit[speed]);
        assert_int_equal(sv_link_mbit(&(sv_link){.width = 12, .speed = speed}), 12 * mbit[speed]);
    }
}

static void wrong_parts_are_refused(void **state)
{
    (void)state;
    sv_fabric *f = NULL;
    sv_builder *b = small();
    FAILS(ctx, sv_builder_add_cable(b, at_switch(0, 9), at_switch(1, 3), &qdr), SV_BAD_INPUT,
          "switch 'left' has no port 9: it has 8");
    assert_int_equal(sv_builder_finish(b, &f), SV_BAD_INPUT); /* it stays failed */
    b = small();
    OK(ctx, sv_builder_add_cable(b, at_switch(0, 5), at_switch(1, 3), &qdr));
    FAILS(ctx, sv_builder_finish(b, &f), SV_BAD_INPUT, "port 5 of 'left' is used twice");
    b = small();
    FAILS(ctx, sv_builder_add_cable(b, at_switch(0, 4), at_switch(2, 3), &qdr), SV_BAD_INPUT,
          "unknown switch 2");
    sv_builder_free(b);
    b = small();
    sv_terminal_info end = {.adapter = 0, .port = 3};
    FAILS(ctx, sv_builder_add_terminal(b, &end, NULL), SV_BAD_INPUT, "has no port 3");
    FAILS(ctx, sv_builder_add_cable(b, at_terminal(0, 2), at_switch(0, 2), &qdr), SV_BAD_INPUT,
          "terminal that is port 1");
    sv_builder_free(b);
    b = small();
    end.port = 0;
    FAILS(ctx, sv_builder_add_terminal(b, &end, NULL), SV_BAD_INPUT, "has no port 0");
    FAILS(ctx, sv_builder_add_cable(b, at_switch(0, 0), at_switch(1, 3), &qdr), SV_BAD_INPUT,
          "switch 'left' has no port 0");
    sv_builder_free(b);
    assert_null(f);
}

/* Cables share what describes them only if it is the same in every respect. */
static void cables_keep_what_is_theirs(void **state)
{
    (void)state;
    sv_builder *b = small();
    const sv_link kinds[] = {{.width = 4, .speed = SV_SPEED_QDR, .vls = 8},
                             {.width = 4, .speed = SV_SPEED_QDR, .vls = 4},
                             {.width = 4, .speed = SV_SPEED_QDR, .vls = 4, .mtu_bytes = 4096}};
    for (uint16_t i = 0; i < 3; i++) {
        sv_switch_info more = {.name = "more", .ports = 1};
        OK(ctx, sv_builder_add_switch(b, &more, NULL));
        OK(ctx, sv_builder_add_cable(b, at_switch(2u + i, 1), at_switch(1, (uint16_t)(3 + i)),
                                     &kinds[i]));
    }
    sv_fabric *f = NULL;
    OK(ctx, sv_builder_finish(b, &f));
    for (uint16_t i = 0; i < 3; i++) {
        const sv_link *link = sv_link_of(f, sv_channel_at(f, (sv_node){2u + i}, 1));
        assert_int_equal(link->vls, kinds[i].vls);
        assert_int_equal(link->mtu_bytes, kinds[i].mtu_bytes);
    }
    sv_fabric_free(f);
}

static void an_empty_fabric_is_a_fabric(void **state)
{
    (void)state;
    sv_fabric *f = NULL;
    sv_components components;
    sv_distances distances;
    uint32_t k;
    OK(ctx, sv_builder_finish(sv_builder_new(ctx), &f));
    OK(ctx, sv_fabric_check(ctx, f));
    OK(ctx, sv_fabric_components(ctx, f, &components));
    assert_int_equal(components.all, 0);
    OK(ctx, sv_fabric_distances(ctx, f, &distances));
    OK(ctx, sv_fabric_vertex_connectivity(ctx, f, &k));
    OK(ctx, sv_fabric_edge_connectivity(ctx, f, &k));
    sv_fabric_free(f);
}

/* ---- the self-check sees every kind of damage ---- */

/* A copy of a fabric whose arrays may be scribbled on. */
struct damaged {
    sv_fabric f;
    void *copies[12];
};

static void *copy(const void *from, size_t size)
{
    void *to = malloc(size + 1);
    memcpy(to, from, size);
    return to;
}

static struct damaged damage(const sv_fabric *f)
{
    struct damaged d = {.f = *f};
    uint32_t nodes = sv_num_nodes(f), channels = f->num_channels;
    d.f.first = d.copies[0] = copy(f->first, (nodes + 1) * sizeof *f->first);
    d.f.hops = d.copies[1] = copy(f->hops, f->live_channels * sizeof *f->hops);
    d.f.tail = d.copies[2] = copy(f->tail, channels * sizeof *f->tail);
    d.f.head = d.copies[3] = copy(f->head, channels * sizeof *f->head);
    d.f.reverse = d.copies[4] = copy(f->reverse, channels * sizeof *f->reverse);
    d.f.port = d.copies[5] = copy(f->port, channels * sizeof *f->port);
    d.f.link = d.copies[6] = copy(f->link, channels * sizeof *f->link);
    d.f.terminals = d.copies[7] = copy(f->terminals, f->num_terminals * sizeof *f->terminals);
    d.f.switches = d.copies[8] = copy(f->switches, f->num_switches * sizeof *f->switches);
    d.f.adapters = d.copies[9] = copy(f->adapters, f->num_adapters * sizeof *f->adapters);
    d.f.dead_nodes = d.copies[10] = copy(f->dead_nodes, (nodes + 63) / 64 * 8);
    d.f.dead_channels = d.copies[11] = copy(f->dead_channels, (channels + 63) / 64 * 8);
    return d;
}

static void expect_found(struct damaged *d, const char *what)
{
    sv_status status = sv_fabric_check(ctx, &d->f);
    if (status != SV_BAD_INPUT)
        fail_msg("the check does not see: %s", what);
    for (int i = 0; i < 12; i++)
        free(d->copies[i]);
}

static void the_check_sees_damage(void **state)
{
    (void)state;
    sv_fabric *whole = test_fabric(ctx, "torus:3x3,hosts=2"), *f = NULL;
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_mask_node(mask, (sv_node){4});
    sv_mask_cable(mask, whole, (sv_channel){2});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    OK(ctx, sv_fabric_check(ctx, f));
    struct damaged d;
#define DAMAGE(change)                                                                             \
    d = damage(f);                                                                                 \
    change;                                                                                        \
    expect_found(&d, #change)
    DAMAGE(((uint32_t *)d.copies[0])[0] = 1);
    DAMAGE(((uint32_t *)d.copies[0])[3]++);
    DAMAGE(((sv_hop *)d.copies[1])[0].to.i++);
    DAMAGE(((sv_hop *)d.copies[1])[0].channel.i++);
    DAMAGE(((sv_hop *)d.copies[1])[1] = d.f.hops[0]);
    DAMAGE(((sv_node *)d.copies[2])[5].i++);
    DAMAGE(((sv_node *)d.copies[3])[5].i = 1000);
    DAMAGE(((sv_channel *)d.copies[4])[5].i = 5);
    DAMAGE(((sv_channel *)d.copies[4])[5].i = 6);
    DAMAGE(((uint16_t *)d.copies[5])[5] = 0);
    DAMAGE(((uint16_t *)d.copies[5])[5] = 99);
    DAMAGE(((uint16_t *)d.copies[5])[5] = d.f.port[4]);
    DAMAGE(((uint16_t *)d.copies[6])[5] = 9);
    DAMAGE(((sv_terminal_info *)d.copies[7])[0].adapter = 77);
    DAMAGE(((sv_terminal_info *)d.copies[7])[0].port = 2);
    DAMAGE(((sv_terminal_info *)d.copies[7])[0].role = 9);
    DAMAGE(((sv_terminal_info *)d.copies[7])[0].lmc = 8);
    DAMAGE(((sv_switch_info *)d.copies[8])[0].name = NULL);
    DAMAGE(((sv_switch_info *)d.copies[8])[0].lid = 50000);
    DAMAGE(((sv_adapter_info *)d.copies[9])[0].kind = 9);
    DAMAGE(sv_bit_clear(d.copies[10], 4));
    DAMAGE(sv_bit_set(d.copies[10], 0));
    DAMAGE(sv_bit_clear(d.copies[11], 2));
    DAMAGE(sv_bit_set(d.copies[11], 0));
    DAMAGE(d.f.live_channels++);
    DAMAGE(d.f.live_switches++);
    DAMAGE(d.f.live_terminals--);
    /* What a fabric with one kind of cable cannot show. */
    sv_link links[2] = {f->links[0], f->links[0]};
    DAMAGE((d.f.links = links, d.f.num_links = 2, ((uint16_t *)d.copies[6])[5] = 1));
    links[1].speed = SV_SPEED_COUNT;
    DAMAGE((d.f.links = links, d.f.num_links = 2));
#undef DAMAGE
    sv_mask_free(mask);
    sv_fabric_free(f);
    sv_fabric_free(whole);
}

/* ---- masks ---- */

static void a_failed_switch_takes_its_terminals(void **state)
{
    (void)state;
    sv_fabric *whole = test_fabric(ctx, "torus:4x4x3,hosts=4"), *f = NULL, *more = NULL;
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_mask_node(mask, (sv_node){7});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    OK(ctx, sv_fabric_check(ctx, f));
    assert_int_equal(f->live_switches, 47);
    assert_int_equal(f->live_terminals, 188);
    assert_int_equal(test_links(f), 138);
    assert_int_equal(f->num_channels, whole->num_channels);
    /* Failures add up, and the first fabric may go first. */
    sv_mask *second = sv_mask_new(ctx, f);
    sv_mask_cable(second, f, sv_channel_at(f, (sv_node){0}, 5));
    sv_mask_cable(second, f, sv_channel_at(f, (sv_node){1}, 1));
    OK(ctx, sv_fabric_mask(ctx, f, second, &more));
    sv_fabric_free(whole);
    sv_fabric_free(f);
    OK(ctx, sv_fabric_check(ctx, more));
    assert_int_equal(test_links(more), 137);
    assert_int_equal(more->live_terminals, 187);
    assert_false(sv_node_alive(more, (sv_node){7}));
    sv_fabric *other = test_fabric(ctx, "mesh:2x2"), *none = NULL;
    FAILS(ctx, sv_fabric_mask(ctx, other, mask, &none), SV_BAD_INPUT, "another fabric");
    assert_null(none);
    sv_fabric_free(other);
    sv_mask_free(mask);
    sv_mask_free(second);
    sv_fabric_free(more);
}

static void roles_can_be_given(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2x2"), *g = NULL;
    sv_role roles[4] = {SV_ROLE_IO, SV_ROLE_COMPUTE, SV_ROLE_OTHER, SV_ROLE_IO};
    OK(ctx, sv_fabric_with_roles(ctx, f, roles, &g));
    sv_fabric_free(f);
    OK(ctx, sv_fabric_check(ctx, g));
    for (int t = 0; t < 4; t++)
        assert_int_equal(g->terminals[t].role, roles[t]);
    sv_fabric_free(g);
}

/* ---- finding ---- */

static void nodes_are_found(void **state)
{
    (void)state;
    sv_fabric *f = small_fabric();
    sv_index *index = sv_index_new(ctx, f);
    const struct {
        const char *text;
        uint32_t node;
    } good[] = {{"left", 0},          {"0x2", 1},    {"0x0000000000000001", 0},
                {"host mlx5_0/1", 2}, {"0x11", 2},   {"0x12", 3},
                {"lid 11", 0},        {"lid 22", 3}, {"host mlx5_0/2", 3}};
    sv_node v;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        OK(ctx, sv_index_find(ctx, index, good[i].text, &v));
        assert_int_equal(v.i, good[i].node);
    }
    FAILS(
        ctx, sv_index_find(ctx, index, "host", &v), SV_BAD_INPUT,
        "more than one node is called 'host': give GUID, LID or port of one: 'host mlx5_0/1' "
        "0x0000000000000011 LID 21 on 'left' port 1, 'host mlx5_0/2' 0x0000000000000012 LID 22 on "
        "'right' port 8");
    FAILS(ctx, sv_index_find(ctx, index, "0x10", &v), SV_BAD_INPUT,
          "more than one node is called '0x10': give GUID, LID or port of one: 'host mlx5_0/1' ");
    FAILS(ctx, sv_index_find(ctx, index, "nobody", &v), SV_BAD_INPUT, "no node is called 'nobody'");
    FAILS(ctx, sv_index_find(ctx, index, "lid 99999", &v), SV_BAD_INPUT, "no node");
    FAILS(ctx, sv_index_find(ctx, index, "", &v), SV_BAD_INPUT, "no node");
    sv_index_free(index);
    sv_fabric_free(f);
}

/* Two of everything: neither is meant. */
static void what_two_are_called_is_refused(void **state)
{
    (void)state;
    sv_builder *b = small();
    sv_switch_info twin = {.name = "right", .guid = 2, .ports = 8, .lid = 12};
    sv_adapter_info card = {.name = "left", .guid = 0x20, .ports = 1};
    sv_terminal_info end = {.guid = 0x12, .adapter = 1, .port = 1, .lid = 30, .lmc = 2};
    OK(ctx, sv_builder_add_switch(b, &twin, NULL));
    OK(ctx, sv_builder_add_adapter(b, &card, NULL));
    OK(ctx, sv_builder_add_terminal(b, &end, NULL));
    OK(ctx, sv_builder_add_cable(b, at_terminal(2, 1), at_switch(2, 1), &qdr));
    sv_fabric *f = NULL;
    OK(ctx, sv_builder_finish(b, &f));
    sv_index *index = sv_index_new(ctx, f);
    sv_node v;
    uint32_t adapter;
    sv_channel c;
    FAILS(ctx, sv_index_find_switch(ctx, index, "right", &v), SV_BAD_INPUT,
          "more than one switch is called 'right': give GUID, LID or port of one: switch 'right' "
          "0x0000000000000002 LID 12, switch 'right' 0x0000000000000002 LID 12");
    FAILS(ctx, sv_index_find_switch(ctx, index, "0x2", &v), SV_BAD_INPUT,
          "more than one switch is called '0x2': give GUID, LID or port of one: switch 'right' ");
    FAILS(ctx, sv_index_find(ctx, index, "lid 12", &v), SV_BAD_INPUT,
          "more than one node is called 'lid 12': give GUID, LID or port of one: switch 'right' ");
    FAILS(ctx, sv_index_find(ctx, index, "0x12", &v), SV_BAD_INPUT,
          "more than one node is called '0x12': give GUID, LID or port of one: 'host mlx5_0/2' "
          "0x0000000000000012 LID 22 on 'right' port 8, 'left/1' 0x0000000000000012 LID 30 on "
          "'right' port 1");
    /* A switch and an adapter of one name. */
    OK(ctx, sv_index_find_switch(ctx, index, "left", &v));
    assert_int_equal(v.i, 0);
    OK(ctx, sv_index_find_adapter(ctx, index, "left", &adapter));
    assert_int_equal(adapter, 1);
    FAILS(ctx, sv_index_find(ctx, index, "left", &v), SV_BAD_INPUT,
          "more than one node is called 'left': give GUID, LID or port of one: switch 'left' "
          "0x0000000000000001 LID 11, 'left/1' 0x0000000000000012 LID 30 on 'right' port 1");
    FAILS(ctx, sv_index_find_port(ctx, index, "left", 1, &c), SV_BAD_INPUT,
          "more than one node is called 'left': give GUID, LID or port of one: switch 'left' ");
    /* A port has all the LIDs that its LMC gives it. */
    OK(ctx, sv_index_find(ctx, index, "lid 33", &v));
    assert_int_equal(v.i, 5);
    FAILS(ctx, sv_index_find(ctx, index, "lid 34", &v), SV_BAD_INPUT, "no node");
    sv_index_free(index);
    sv_fabric_free(f);
}

/* Many of a name: some are listed, the rest is counted. */
static void candidates_are_few(void **state)
{
    (void)state;
    sv_builder *b = sv_builder_new(ctx);
    sv_fabric *f = NULL;
    sv_node v;
    for (unsigned i = 1; i <= 9; i++)
        OK(ctx, sv_builder_add_switch(b, &(sv_switch_info){.name = "spine", .guid = i, .ports = 4},
                                      NULL));
    OK(ctx, sv_builder_finish(b, &f));
    sv_index *index = sv_index_new(ctx, f);
    FAILS(ctx, sv_index_find(ctx, index, "spine", &v), SV_BAD_INPUT,
          "one: switch 'spine' 0x0000000000000001, switch 'spine' 0x0000000000000002, switch "
          "'spine' 0x0000000000000003, switch 'spine' 0x0000000000000004 and 5 more");
    sv_index_free(index);
    sv_fabric_free(f);
}

static void oddities_are_noticed(void **state)
{
    (void)state;
    sv_builder *b = small();
    sv_switch_info alone = {.name = "left", .guid = 1, .ports = 4, .lid = 11};
    sv_adapter_info card = {.name = "spare", .ports = 1};
    OK(ctx, sv_builder_add_switch(b, &alone, NULL));
    OK(ctx, sv_builder_add_adapter(b, &card, NULL));
    sv_link slow = {.width = 4, .speed = SV_SPEED_SDR, .one_sided = true};
    OK(ctx, sv_builder_add_cable(b, at_switch(0, 4), at_switch(1, 4), &slow));
    sv_fabric *f = NULL;
    sv_oddities odd;
    OK(ctx, sv_builder_finish(b, &f));
    OK(ctx, sv_fabric_oddities(ctx, f, &odd));
    const uint32_t wanted[SV_ODD_COUNT] = {
        [SV_ODD_ISOLATED_SWITCH] = 1, [SV_ODD_ISOLATED_ADAPTER] = 1, [SV_ODD_ONE_SIDED] = 1,
        [SV_ODD_MIXED_SPEEDS] = 1,    [SV_ODD_DUPLICATE_NAME] = 1,   [SV_ODD_DUPLICATE_GUID] = 1,
        [SV_ODD_DUPLICATE_LID] = 1,   [SV_ODD_LOOPBACK] = 1,         [SV_ODD_NO_GUID] = 1};
    for (int i = 0; i < SV_ODD_COUNT; i++)
        if (odd.count[i] != wanted[i])
            fail_msg("%s: %u times", sv_oddity_name(i), odd.count[i]);
    assert_string_equal(odd.example[SV_ODD_LOOPBACK], "'left' ports 7 and 8");
    sv_fabric_free(f);
}

/* What hangs on terminals: speeds, LIDs that overlap, two hosts back to back. */
static void oddities_of_terminals_are_noticed(void **state)
{
    (void)state;
    sv_builder *b = small();
    sv_link slow = {.width = 4, .speed = SV_SPEED_SDR};
    const sv_adapter_info cards[] = {
        {.name = "near", .guid = 0x20, .ports = 1},
        {.name = "far", .guid = 0x30, .ports = 1},
        {.name = "inside", .guid = 0x40, .ports = 1, .kind = SV_ADAPTER_SPECIAL},
        {.name = "inside", .guid = 0x50, .ports = 1, .kind = SV_ADAPTER_SPECIAL}};
    for (uint32_t i = 0; i < 4; i++) {
        sv_terminal_info end = {.guid = 0x61 + i, .adapter = 1 + i, .port = 1};
        end.lid = i == 0 ? 20 : 0; /* 20 to 23; the small fabric has 21 and 22 */
        end.lmc = 2;
        OK(ctx, sv_builder_add_adapter(b, &cards[i], NULL));
        OK(ctx, sv_builder_add_terminal(b, &end, NULL));
    }
    OK(ctx, sv_builder_add_cable(b, at_terminal(2, 1), at_terminal(3, 1), &qdr));
    OK(ctx, sv_builder_add_cable(b, at_terminal(4, 1), at_switch(0, 6), &qdr));
    OK(ctx, sv_builder_add_cable(b, at_terminal(5, 1), at_switch(1, 6), &slow));
    sv_fabric *f = NULL, *left = NULL;
    sv_oddities odd;
    OK(ctx, sv_builder_finish(b, &f));
    OK(ctx, sv_fabric_oddities(ctx, f, &odd));
    const uint32_t wanted[SV_ODD_COUNT] = {[SV_ODD_MIXED_TERMINALS] = 1,
                                           [SV_ODD_DUPLICATE_LID] = 1,
                                           [SV_ODD_LOOPBACK] = 1,
                                           [SV_ODD_BACK_TO_BACK] = 1};
    for (int i = 0; i < SV_ODD_COUNT; i++)
        if (odd.count[i] != wanted[i])
            fail_msg("%s: %u times", sv_oddity_name(i), odd.count[i]);
    assert_string_equal(odd.example[SV_ODD_MIXED_TERMINALS],
                        "'inside' port 1 is 4xSDR, most are 4xQDR");
    assert_string_equal(odd.example[SV_ODD_BACK_TO_BACK], "'near' and 'far'");
    /* What failed is not odd. */
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_mask_node(mask, (sv_node){1});
    for (uint32_t t = 0; t < f->num_terminals; t++)
        sv_mask_node(mask, (sv_node){f->num_switches + t});
    sv_mask_cable(mask, f, sv_channel_at(f, (sv_node){0}, 7));
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    OK(ctx, sv_fabric_oddities(ctx, left, &odd));
    for (int i = 0; i < SV_ODD_COUNT; i++)
        assert_int_equal(odd.count[i], i == SV_ODD_ISOLATED_SWITCH);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* ---- size ---- */

struct meter {
    size_t now, peak;
};

static void *metered(void *user, void *block, size_t size)
{
    struct meter *meter = user;
    size_t *head = block == NULL ? NULL : (size_t *)block - 2;
    size_t old = head == NULL ? 0 : head[0];
    if (size == 0) {
        meter->now -= old;
        free(head);
        return NULL;
    }
    head = realloc(head, size + 16);
    head[0] = size;
    meter->now += size - old;
    meter->peak = meter->now > meter->peak ? meter->now : meter->peak;
    return head + 2;
}

/* 10,000 switches, 100,000 terminals, 1,000,000 channels. */
static void the_size_to_hold_weighs_less_than_200_bytes_a_channel(void **state)
{
    (void)state;
    struct meter meter = {0, 0};
    sv_host host = {.user = &meter, .resize = metered};
    sv_ctx *own = sv_ctx_new(&host);
    sv_fabric *f = NULL;
    OK(own, sv_topology_generate(own, "random:switches=10000,links=400000,total=100000", &f));
    assert_int_equal(f->num_switches, 10000);
    assert_int_equal(f->num_terminals, 100000);
    assert_int_equal(f->num_channels, 1000000);
    OK(own, sv_fabric_check(own, f));
    print_message("%.1f bytes a channel at most, %.1f kept\n", (double)meter.peak / f->num_channels,
                  (double)meter.now / f->num_channels);
    assert_true(meter.peak < (size_t)200 * f->num_channels);
    sv_fabric_free(f);
    sv_ctx_free(own);
    assert_int_equal(meter.now, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_in_port_order),
        cmocka_unit_test(cables_have_their_bandwidth),
        cmocka_unit_test(wrong_parts_are_refused),
        cmocka_unit_test(cables_keep_what_is_theirs),
        cmocka_unit_test(an_empty_fabric_is_a_fabric),
        cmocka_unit_test(the_check_sees_damage),
        cmocka_unit_test(a_failed_switch_takes_its_terminals),
        cmocka_unit_test(roles_can_be_given),
        cmocka_unit_test(nodes_are_found),
        cmocka_unit_test(what_two_are_called_is_refused),
        cmocka_unit_test(candidates_are_few),
        cmocka_unit_test(oddities_are_noticed),
        cmocka_unit_test(oddities_of_terminals_are_noticed),
        cmocka_unit_test(the_size_to_hold_weighs_less_than_200_bytes_a_channel),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
