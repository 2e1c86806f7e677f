/*
 * test_trees.c: fat trees: the levels that are found, and what ftree promises: no contention in any
 * shift of a full tree, and proven tables of any tree that is left when cables and switches fail.
 */
#include "base/rng.h"
#include "fabric/derive.h"
#include "structure/tree.h"
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

static void find(sv_arena *arena, const sv_fabric *f, const sv_node *roots, size_t num_roots,
                 sv_fat_tree *tree)
{
    sv_core core;
    sv_arena_init(arena, ctx);
    OK(ctx, sv_core_init(&core, arena, f));
    OK(ctx, sv_fat_tree_find(tree, arena, f, &core, roots, num_roots));
}

static uint32_t switch_named(const sv_fabric *f, const char *name)
{
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (strcmp(f->switches[s].name, name) == 0)
            return s;
    fail_msg("no switch %s", name);
    return SV_NONE;
}

/* ---- levels ---- */

static void levels_of_regular_trees(void **state)
{
    (void)state;
    const struct {
        const char *spec;
        uint32_t levels, count[4];
    } rows[] = {{"kary:k=4,n=3,hosts=4", 3, {16, 16, 16}},
                {"xgft:h=2,m=6/6,w=3/3,hosts=2", 3, {36, 18, 9}},
                {"xgft:h=3,m=4/4/2,w=2/2/2,hosts=4", 4, {32, 16, 8, 8}},
                {"tsubame2:rail=2", 3, {81, 108, 54}},
                {"taurus", 4, {118, 75, 12, 6}},
                {"mesh:1x2,hosts=2", 1, {2}},
                {"torus:4x4", 1, {16}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sv_fabric *f = test_fabric(ctx, rows[i].spec);
        sv_arena arena;
        sv_fat_tree tree;
        find(&arena, f, NULL, 0, &tree);
        assert_int_equal(tree.levels, rows[i].levels);
        for (uint32_t l = 0; l < tree.levels; l++)
            assert_int_equal(tree.count[l], rows[i].count[l]);
        assert_int_equal(tree.num_hosts, f->live_terminals);
        sv_arena_release(&arena);
        sv_fabric_free(f);
    }
}

/* Two spines, three leaves, hosts on a spine, a management switch below a leaf and one on a spine.
 */
static const char odd_tree[] =
    "Switch 8 \"S-1\" # \"spine1\"\n[1] \"S-11\"[1]\n[2] \"S-12\"[1]\n[3] \"S-13\"[1]\n"
    "[4] \"H-5\"[1]\n[5] \"S-22\"[1]\n"
    "Switch 8 \"S-2\" # \"spine2\"\n[1] \"S-11\"[2]\n[2] \"S-12\"[2]\n[3] \"S-13\"[2]\n"
    "Switch 8 \"S-11\" # \"leaf1\"\n[1] \"S-1\"[1]\n[2] \"S-2\"[1]\n[3] \"H-31\"[1]\n"
    "[4] \"H-32\"[1]\n[5] \"H-33\"[1]\n[6] \"H-34\"[1]\n[8] \"S-21\"[1]\n"
    "Switch 8 \"S-12\" # \"leaf2\"\n[1] \"S-1\"[2]\n[2] \"S-2\"[2]\n[3] \"H-41\"[1]\n"
    "[4] \"H-42\"[1]\n[5] \"H-43\"[1]\n[6] \"H-44\"[1]\n"
    "Switch 8 \"S-13\" # \"leaf3\"\n[1] \"S-1\"[3]\n[2] \"S-2\"[3]\n[3] \"H-51\"[1]\n"
    "Switch 8 \"S-21\" # \"below\"\n[1] \"S-11\"[8]\n[2] \"H-6\"[1]\n"
    "Switch 8 \"S-22\" # \"aside\"\n[1] \"S-1\"[5]\n[2] \"H-7\"[1]\n"
    "Ca 1 \"H-5\" # \"io\"\n[1] \"S-1\"[4]\n"
    "Ca 1 \"H-6\" # \"admin1\"\n[1] \"S-21\"[2]\n"
    "Ca 1 \"H-7\" # \"admin2\"\n[1] \"S-22\"[2]\n"
    "Ca 1 \"H-31\" # \"h1\"\n[1] \"S-11\"[3]\nCa 1 \"H-32\" # \"h2\"\n[1] \"S-11\"[4]\n"
    "Ca 1 \"H-33\" # \"h3\"\n[1] \"S-11\"[5]\nCa 1 \"H-34\" # \"h4\"\n[1] \"S-11\"[6]\n"
    "Ca 1 \"H-41\" # \"h5\"\n[1] \"S-12\"[3]\nCa 1 \"H-42\" # \"h6\"\n[1] \"S-12\"[4]\n"
    "Ca 1 \"H-43\" # \"h7\"\n[1] \"S-12\"[5]\nCa 1 \"H-44\" # \"h8\"\n[1] \"S-12\"[6]\n"
    "Ca 1 \"H-51\" # \"h9\"\n[1] \"S-13\"[3]\n";

static void hosts_anywhere_and_switches_hung_on(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, odd_tree);
    sv_arena arena;
    sv_fat_tree tree;
    find(&arena, f, NULL, 0, &tree);
    uint32_t leaf = tree.level[switch_named(f, "leaf1")];
    assert_int_equal(tree.level[switch_named(f, "leaf2")], leaf);
    assert_int_equal(tree.level[switch_named(f, "leaf3")], leaf); /* one host, but a leaf */
    assert_int_equal(tree.level[switch_named(f, "spine1")], leaf + 1);
    assert_int_equal(tree.level[switch_named(f, "spine2")], leaf + 1);
    assert_int_equal(tree.level[switch_named(f, "below")], leaf - 1);
    assert_int_equal(tree.level[switch_named(f, "aside")], leaf);
    assert_int_equal(tree.sideways, 0);
    sv_arena_release(&arena);
    /* With roots given. */
    sv_node root = {switch_named(f, "spine2")};
    find(&arena, f, &root, 1, &tree);
    assert_int_equal(tree.level[root.i], tree.levels - 1);
    assert_int_equal(tree.level[switch_named(f, "leaf1")], tree.levels - 2);
    assert_int_equal(tree.level[switch_named(f, "spine1")], tree.levels - 3);
    sv_arena_release(&arena);
    sv_fabric_free(f);
}

static void print_host(test_buffer *b, uint32_t id, uint32_t on, uint32_t port)
{
    b->length += (size_t)sprintf(b->text + b->length, "Ca 1 \"H-%x\" # \"h%x\"\n[1] \"S-%x\"[%u]\n",
                                 id, id, on, port);
}

/* A tree of two levels, as text, with hosts on leaves and io on the first spine. Switches are
 * called tag, tag + 1, …, spines first. */
static void print_tree(test_buffer *b, uint32_t tag, uint32_t spines, uint32_t leaves,
                       uint32_t hosts, uint32_t io)
{
    for (uint32_t i = 0; i < spines + leaves; i++) {
        bool leaf = i >= spines;
        uint32_t ends = leaf ? spines : leaves, more = leaf ? hosts : i == 0 ? io : 0;
        b->length +=
            (size_t)sprintf(b->text + b->length, "Switch 36 \"S-%x\" # \"%x\"\n", tag + i, tag + i);
        for (uint32_t k = 0; k < ends; k++)
            b->length +=
                (size_t)sprintf(b->text + b->length, "[%u] \"S-%x\"[%u]\n", k + 1,
                                tag + k + (leaf ? 0 : spines), 1 + (leaf ? i - spines : i));
        for (uint32_t k = 0; k < more; k++)
            b->length += (size_t)sprintf(b->text + b->length, "[%u] \"H-%x\"[1]\n", ends + k + 1,
                                         (tag + i) * 64 + k);
    }
    for (uint32_t i = 0; i < spines + leaves; i++)
        for (uint32_t k = 0; k < (i >= spines ? hosts : i == 0 ? io : 0); k++)
            print_host(b, (tag + i) * 64 + k, tag + i, (i >= spines ? spines : leaves) + k + 1);
}

/* Leaves of one part do not have to be as full as those of another; nor roots named in each. */
static void parts_have_levels_of_their_own(void **state)
{
    (void)state;
    static char text[1 << 12];
    test_buffer b = {.text = text};
    print_tree(&b, 0x100, 2, 2, 4, 0);
    print_tree(&b, 0x200, 2, 2, 1, 0);
    sv_fabric *f = test_read(ctx, text);
    const sv_node root = {switch_named(f, "100")};
    for (size_t roots = 0; roots <= 1; roots++) {
        sv_arena arena;
        sv_fat_tree tree;
        find(&arena, f, &root, roots, &tree);
        assert_int_equal(tree.cables, 8);
        assert_int_equal(tree.sideways, 0);
        uint32_t top = tree.level[switch_named(f, "100")];
        assert_int_equal(top, tree.levels - 1);
        assert_int_equal(tree.level[switch_named(f, "102")], top - 1);
        assert_int_equal(tree.level[switch_named(f, "202")], top - 1);
        assert_int_equal(tree.level[switch_named(f, "203")], top - 1);
        assert_int_equal(tree.level[switch_named(f, "200")], top);
        assert_int_equal(tree.level[switch_named(f, "201")], top);
        sv_arena_release(&arena);
    }
    sv_fabric_free(f);
}

/* How many leaves a spine sees is compared with spines of its own part, not with larger trees. */
static void small_parts_keep_their_roots(void **state)
{
    (void)state;
    static char text[1 << 16];
    test_buffer b = {.text = text};
    print_tree(&b, 0x100, 3, 12, 4, 1);
    print_tree(&b, 0x200, 2, 4, 4, 1);
    sv_fabric *f = test_read(ctx, text);
    sv_arena arena;
    sv_fat_tree tree;
    find(&arena, f, NULL, 0, &tree);
    assert_int_equal(tree.levels, 2);
    assert_int_equal(tree.level[switch_named(f, "100")], 1);
    assert_int_equal(tree.level[switch_named(f, "200")], 1);
    assert_int_equal(tree.level[switch_named(f, "201")], 1);
    assert_int_equal(tree.level[switch_named(f, "202")], 0);
    sv_arena_release(&arena);
    sv_fabric_free(f);
}

/* Whatever the numbers of the switches are, hosts of a subtree stand side by side. */
static void tree_order_keeps_subtrees_together(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=3,n=3,hosts=2");
    sv_arena arena;
    sv_fat_tree tree;
    find(&arena, f, NULL, 0, &tree);
    assert_int_equal(tree.num_leaves, 9);
    for (uint32_t i = 0; i < 18; i++) /* leaves 0-2 are a subtree, as are 3-5 and 6-8 */
        assert_int_equal(tree.hosts[i], f->num_switches + i);
    sv_arena_release(&arena);
    sv_fabric_free(f);
}

/* ---- shifts ---- */

/* The most flows on a channel between switches when each host sends to the one s further. */
static uint32_t contention(const sv_fabric *f, const sv_routes *r, const sv_fat_tree *t, uint32_t s,
                           uint32_t *flows)
{
    uint32_t max = 0;
    memset(flows, 0, f->num_channels * sizeof *flows);
    for (uint32_t i = 0; i < t->num_hosts; i++) {
        sv_hop_taken hops[16];
        uint32_t count;
        sv_node at;
        assert_int_equal(sv_routes_trace(f, r, (sv_node){t->hosts[i]},
                                         r->first[t->hosts[(i + s) % t->num_hosts]], 0, hops, 16,
                                         &count, &at),
                         SV_TRACE_ARRIVED);
        for (uint32_t k = 0; k < count; k++)
            if (sv_joins_switches(f, hops[k].channel)) {
                uint32_t now = ++flows[hops[k].channel.i];
                max = now > max ? now : max;
            }
    }
    return max;
}

static void shifts_do_not_contend(const char *engine, const char *spec, uint32_t allowed)
{
    sv_fabric *f = test_fabric(ctx, spec);
    sv_routes *r = test_routed(ctx, f, engine, 0);
    uint32_t *flows = calloc(f->num_channels, sizeof *flows);
    sv_arena arena;
    sv_fat_tree tree;
    find(&arena, f, NULL, 0, &tree);
    for (uint32_t s = 1; s < tree.num_hosts; s++) {
        uint32_t max = contention(f, r, &tree, s, flows);
        if (max > allowed)
            fail_msg("%s on %s, shift %u: %u flows on a channel", engine, spec, s, max);
    }
    free(flows);
    sv_arena_release(&arena);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void every_shift_of_a_full_tree_is_free_of_contention(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=4,n=3,hosts=4",         "kary:k=2,n=5,hosts=2",
                           "kary:k=8,n=2,hosts=8",         "kary:k=4,n=2,hosts=8,r=2",
                           "xgft:h=2,m=4/6,w=4/4,hosts=4", "xgft:h=2,m=3/4,w=2/3,hosts=2",
                           "kary:k=5,n=3,hosts=5",         "xgft:h=1,m=7,w=6,hosts=6"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        shifts_do_not_contend("ftree", specs[i], 1);
    /* Two hosts for each cable up: two flows. */
    shifts_do_not_contend("ftree", "xgft:h=1,m=6,w=3,hosts=6", 2);
    /* Hosts are missing: half of the leaves have seven, the others six. */
    shifts_do_not_contend("ftree", "kary:k=10,n=3,total=650", 1);
}

/* ---- failures ---- */

/* Fails some cables, and at times switches; what is left, and the mask's fabric to free. */
static sv_fabric *break_some(const sv_fabric *f, sv_rng *rng)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fabric *left = NULL;
    uint32_t links = 1 + (uint32_t)sv_rng_below(rng, 8), switches = (uint32_t)sv_rng_below(rng, 3);
    for (uint32_t i = 0; i < links; i++) {
        sv_channel c = {(uint32_t)sv_rng_below(rng, f->num_channels)};
        if (sv_joins_switches(f, c))
            sv_mask_cable(mask, f, c);
    }
    for (uint32_t i = 0; i < switches; i++)
        sv_mask_node(mask, (sv_node){(uint32_t)sv_rng_below(rng, f->num_switches)});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    return left;
}

/* Whether all live switches hang together. */
static bool in_one_piece(const sv_fabric *f)
{
    uint32_t *stack = calloc(sv_num_nodes(f), sizeof *stack), seen = 0, from = 0;
    uint64_t *bits = calloc(sv_num_nodes(f) / 64 + 1, sizeof *bits);
    while (!sv_node_alive(f, (sv_node){from}))
        from++;
    sv_flood(f, (sv_node){from}, true, bits, stack);
    for (uint32_t s = 0; s < f->num_switches; s++)
        seen += (bits[s / 64] >> (s % 64)) & 1;
    free(stack);
    free(bits);
    return seen == f->live_switches;
}

/* Tables must join whatever hangs together and be free of deadlocks. */
static void must_hold(const sv_fabric *f, const sv_routes *r, const char *what)
{
    sv_verification *found = NULL;
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    uint64_t lost = found->unreachable[SV_PAIRS_TERMINAL_TERMINAL] - found->split_pairs;
    if (lost > 0 || found->loops > 0)
        fail_msg("%s: %llu pairs lost, %llu loops", what, (unsigned long long)lost,
                 (unsigned long long)found->loops);
    for (int k = 0; k < SV_PAIRS_COUNT && in_one_piece(f); k++)
        if (found->unreachable[k] > 0)
            fail_msg("%s: %llu pairs of kind %d lost", what,
                     (unsigned long long)found->unreachable[k], k);
    if (found->deadlock_free[SV_TRAFFIC_MANAGED] != SV_VERDICT_YES)
        fail_msg("%s: can deadlock", what);
    sv_verification_free(found);
}

static void broken_trees_are_proven(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=3,n=3,hosts=3", "kary:k=4,n=2,hosts=4",
                           "xgft:h=2,m=4/4,w=2/3,hosts=3", "kary:k=2,n=4,hosts=2",
                           "xgft:h=2,m=3/3,w=3/2,hosts=2,r=2"};
    sv_rng rng;
    sv_rng_init(&rng, 7);
    for (uint32_t trial = 0; trial < test_times(400); trial++) {
        const char *spec = specs[trial % 5];
        sv_fabric *f = test_fabric(ctx, spec), *left = break_some(f, &rng);
        sv_routes *r = NULL;
        const sv_route_request request = {.lmc = trial % 7 == 0, .seed = trial};
        char what[80];
        snprintf(what, sizeof what, "trial %u on %s", trial, spec);
        OK(ctx, sv_route(ctx, left, "ftree", &request, &r, NULL));
        must_hold(left, r, what);
        sv_routes_free(r);
        sv_fabric_free(left);
        sv_fabric_free(f);
    }
}

static void odd_trees_are_proven(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, odd_tree);
    sv_route_report report;
    sv_routes *r = NULL;
    OK(ctx, sv_route(ctx, f, "ftree", NULL, &r, &report));
    must_hold(f, r, "hosts anywhere");
    assert_string_equal(report.structure.kind, "fat tree");
    assert_string_equal(report.structure.facts[0].name, "levels");
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* ---- requests ---- */

static void what_is_no_tree_is_refused(void **state)
{
    (void)state;
    sv_routes *r = NULL;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1");
    FAILS(ctx, sv_route(ctx, f, "ftree", NULL, &r, NULL), SV_INFEASIBLE,
          "ftree: this is no tree: 32 of 32 cables between switches join two of one level, for "
          "example 'sw0-0' and 'sw3-0', as all switches have hosts");
    sv_fabric_free(f);
    f = test_fabric(ctx, "torus:4x4,hosts=0");
    FAILS(ctx, sv_route(ctx, f, "ftree", NULL, &r, NULL), SV_INFEASIBLE,
          "ftree: no switch has hosts, so there are no levels");
    sv_fabric_free(f);
    f = test_fabric(ctx, "kary:k=2,n=2,hosts=1");
    const char *wrong[] = {"align=maybe"};
    const sv_route_request request = {.options = wrong, .num_options = 1};
    FAILS(ctx, sv_route(ctx, f, "ftree", &request, &r, NULL), SV_BAD_INPUT,
          "align=maybe is not yes|no|auto");
    sv_fabric_free(f);
}

/* I/O nodes, one on each leaf, share the ways among themselves; so do hosts that are listed. */
static void kinds_of_hosts_share_the_ways(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4"), *g = NULL;
    sv_role roles[16];
    sv_routes *r = NULL;
    for (uint32_t t = 0; t < 16; t++)
        roles[t] = t % 4 == 3 ? SV_ROLE_IO : SV_ROLE_COMPUTE;
    OK(ctx, sv_fabric_with_roles(ctx, f, roles, &g));
    OK(ctx, sv_route(ctx, g, "ftree", NULL, &r, NULL));
    uint32_t ways = 0; /* of leaf 0 to the I/O nodes of the other leaves */
    for (uint32_t t = 7; t < 16; t += 4)
        ways |= 1u << r->ports[r->first[f->num_switches + t]][0];
    assert_int_equal(__builtin_popcount(ways), 3);
    sv_routes_free(r);
    sv_node order[4] = {{f->num_switches + 4}, {f->num_switches + 8}, {f->num_switches + 12}};
    const sv_route_request request = {.hosts = order, .num_hosts = 3};
    OK(ctx, sv_route(ctx, f, "ftree", &request, &r, NULL));
    ways = 0;
    for (uint32_t i = 0; i < 3; i++)
        ways |= 1u << r->ports[r->first[order[i].i]][0];
    assert_int_equal(__builtin_popcount(ways), 3);
    must_hold(f, r, "in order");
    sv_routes_free(r);
    sv_fabric_free(g);
    sv_fabric_free(f);
}

/* A host that is listed again and again is routed where it is listed first. */
static void orders_may_repeat_hosts(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4");
    sv_routes *once = NULL, *often = NULL;
    sv_node *order = calloc(MANY, sizeof *order);
    assert_non_null(order);
    for (uint32_t i = 0; i < MANY; i++)
        order[i].i = f->num_switches + (i < 3 ? 5 * i : 5);
    sv_route_request request = {.hosts = order, .num_hosts = 3};
    OK(ctx, sv_route(ctx, f, "ftree", &request, &once, NULL));
    request.num_hosts = MANY;
    OK(ctx, sv_route(ctx, f, "ftree", &request, &often, NULL));
    for (uint32_t d = 0; d < once->num_destinations; d++)
        assert_memory_equal(once->ports[d], often->ports[d], f->num_switches);
    free(order);
    sv_routes_free(once);
    sv_routes_free(often);
    sv_fabric_free(f);
}

/* The addresses of a host are reached over different roots. */
static void addresses_take_different_roots(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4");
    sv_routes *r = test_routed(ctx, f, "ftree", 2);
    for (uint32_t t = 4; t < 16; t++) {
        uint32_t ways = 0;
        for (uint32_t k = 0; k < 4; k++)
            ways |= 1u << r->ports[r->first[f->num_switches + t] + k][0];
        assert_int_equal(__builtin_popcount(ways), 4);
    }
    sv_routes_free(r);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_regular_trees),
        cmocka_unit_test(hosts_anywhere_and_switches_hung_on),
        cmocka_unit_test(parts_have_levels_of_their_own),
        cmocka_unit_test(small_parts_keep_their_roots),
        cmocka_unit_test(tree_order_keeps_subtrees_together),
        cmocka_unit_test(every_shift_of_a_full_tree_is_free_of_contention),
        cmocka_unit_test(broken_trees_are_proven),
        cmocka_unit_test(odd_trees_are_proven),
        cmocka_unit_test(what_is_no_tree_is_refused),
        cmocka_unit_test(kinds_of_hosts_share_the_ways),
        cmocka_unit_test(orders_may_repeat_hosts),
        cmocka_unit_test(addresses_take_different_roots),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
