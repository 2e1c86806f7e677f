/*
 * test_multicast.c: multicast trees: that they span, that the judge finds no deadlock with them,
 * that groups get the smallest part, and that making room changes nothing but names.
 */
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

/* Tables for a fabric; NULL if the engine cannot do it. option: NULL, or one of the engine. */
static sv_routes *route_so(const sv_fabric *f, const char *engine, unsigned vls, sv_sl_mode mode,
                           const char *option)
{
    const sv_route_request request = {
        .vls = vls, .sl_mode = mode, .seed = 1, .options = &option, .num_options = option != NULL};
    sv_routes *r = NULL;
    sv_status status = sv_route(ctx, f, engine, &request, &r, NULL);
    assert_true(status == SV_OK || status == SV_INFEASIBLE);
    return r;
}

static sv_routes *route(const sv_fabric *f, const char *engine, unsigned vls, sv_sl_mode mode)
{
    return route_so(f, engine, vls, mode, NULL);
}

static uint32_t lot(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* A fabric of which one in some cables is gone, and one in some switches: it may be in pieces. */
static sv_fabric *broken(const char *spec, unsigned cables, unsigned switches, uint64_t seed)
{
    sv_fabric *f = test_fabric(ctx, spec), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_joins_switches(f, (sv_channel){c}) && lot(&seed, 2 * cables) == 0)
            sv_mask_cable(mask, f, (sv_channel){c});
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (lot(&seed, switches) == 0)
            sv_mask_node(mask, (sv_node){s});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    sv_fabric_free(f);
    return left;
}

/* Every live switch is in order once, after its parent; roots are as many as there are pieces. */
static void check_tree(const sv_fabric *f, const sv_mtree *t)
{
    uint32_t *level = malloc((f->num_switches + 1) * sizeof *level), roots = 0, depth = 0;
    uint32_t *piece = malloc((f->num_switches + 1) * sizeof *piece);
    memset(level, 0xff, (f->num_switches + 1) * sizeof *level);
    assert_int_equal(t->num_switches, f->num_switches);
    assert_int_equal(t->num_order, f->live_switches);
    for (uint32_t i = 0; i < t->num_order; i++) {
        uint32_t s = t->order[i], c = t->up[s];
        assert_true(sv_node_alive(f, (sv_node){s}));
        assert_int_equal(level[s], SV_NONE);
        if (c == SV_NONE) {
            level[s] = 0;
            piece[s] = roots++;
            continue;
        }
        assert_true(sv_channel_alive(f, (sv_channel){c}) && f->tail[c].i == s);
        assert_true(sv_joins_switches(f, (sv_channel){c}) && level[f->head[c].i] != SV_NONE);
        level[s] = level[f->head[c].i] + 1;
        piece[s] = piece[f->head[c].i];
        depth = level[s] > depth ? level[s] : depth;
    }
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_channel_alive(f, (sv_channel){c}) && sv_joins_switches(f, (sv_channel){c}))
            assert_int_equal(piece[f->tail[c].i], piece[f->head[c].i]);
    assert_int_equal(t->num_pieces, roots);
    assert_int_equal(t->depth, depth);
    free(level);
    free(piece);
}

/* The judge finds no deadlock of all groups along the tree with unicast packets. */
static void check_together(const sv_fabric *f, const sv_routes *r, const sv_mtree *t,
                           sv_traffic traffic)
{
    sv_routes *clone = NULL;
    sv_verification *found = NULL;
    OK(ctx, sv_routes_clone(ctx, r, &clone));
    OK(ctx, sv_mtree_add_all(ctx, t, f, clone, 0xc000));
    assert_int_equal(clone->groups[clone->num_groups - 1].sl, t->sl);
    OK(ctx, sv_verify(ctx, f, clone, NULL, &found));
    assert_int_equal(found->multicast, SV_VERDICT_YES);
    assert_int_equal(found->together[traffic], SV_VERDICT_YES);
    sv_verification_free(found);
    sv_routes_free(clone);
}

/* All packets of two tables go the same ways on the same VLs; SLs may differ. */
static void check_same_vls(const sv_fabric *f, const sv_routes *a, const sv_routes *b)
{
    enum { MAX = 64 };
    for (uint32_t d = 0; d < a->num_destinations; d++)
        for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
            sv_hop_taken x[MAX], y[MAX];
            uint32_t n, m;
            sv_node at, there;
            unsigned sl = sv_route_sl(a, (sv_node){v}, d), other = sv_route_sl(b, (sv_node){v}, d);
            if (!sv_node_alive(f, (sv_node){v}) || sl == SV_NO_SL)
                continue;
            assert_int_equal(sv_routes_trace(f, a, (sv_node){v}, d, sl, x, MAX, &n, &at),
                             sv_routes_trace(f, b, (sv_node){v}, d, other, y, MAX, &m, &there));
            assert_int_equal(n, m);
            for (uint32_t i = 0; i < n; i++)
                assert_true(x[i].channel.i == y[i].channel.i && x[i].vl == y[i].vl);
        }
}

/* Makes room in tables and checks everything about it. Returns whether there was a tree. */
static bool make_room(const sv_fabric *f, const sv_routes *before, sv_traffic traffic, unsigned sl,
                      uint32_t *pieces)
{
    sv_routes *r = NULL;
    sv_mtree *t = NULL;
    unsigned other = SV_NO_SL;
    OK(ctx, sv_routes_clone(ctx, before, &r));
    sv_status status = sv_mtree_make_room(ctx, f, r, traffic, sl, NULL, 0, &t, &other);
    assert_true(status == SV_OK || status == SV_INFEASIBLE);
    assert_true((status == SV_OK) == (t != NULL) && (status == SV_OK) == (other != SV_NO_SL));
    OK(ctx, sv_routes_check(ctx, f, r));
    if (status == SV_OK) {
        assert_int_equal(t->sl, sl);
        *pieces = t->num_pieces;
        check_tree(f, t);
        check_together(f, r, t, traffic);
    }
    check_same_vls(f, before, r);
    sv_mtree_free(t);
    sv_routes_free(r);
    return status == SV_OK;
}

/* weave leaves room always if it is asked to, and nearly always if not. Returns the pieces. */
static uint32_t weave_room(const sv_fabric *f, unsigned vls, int mode, unsigned *without)
{
    uint32_t pieces = 0;
    sv_routes *plain = route(f, "weave", vls, (sv_sl_mode)mode);
    sv_routes *asked = route_so(f, "weave", vls, (sv_sl_mode)mode, "multicast=yes");
    *without += !make_room(f, plain, SV_TRAFFIC_ALL, 0, &pieces);
    if (!make_room(f, asked, SV_TRAFFIC_ALL, 0, &pieces))
        fail_msg("%u VLs, mode %d: %s", vls, mode, sv_ctx_message(ctx));
    sv_routes_free(plain);
    sv_routes_free(asked);
    return pieces;
}

static void weave_leaves_room(void **state)
{
    (void)state;
    const char *specs[] = {"torus:4x4x3,hosts=1",
                           "torus:5x5,hosts=1",
                           "dragonfly:a=4,p=2,h=2,g=9",
                           "random:switches=20,links=45,total=40,seed=1",
                           "random:switches=40,links=120,total=60,seed=2",
                           "kautz:d=2,k=4",
                           "kary:k=4,n=3,hosts=1",
                           "mesh:1x1,hosts=3",
                           "mesh:1x2,hosts=1"};
    const unsigned vls[] = {1, 2, 4, 8};
    unsigned without = 0;
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (int k = 0; k < 4; k++)
            for (int mode = 0; mode < SV_SLS_COUNT; mode++)
                if (test_takes(&seen))
                    assert_int_equal(weave_room(f, vls[k], mode, &without), 1);
        sv_fabric_free(f);
    }
    assert_in_range(without, 0, 6);
}

static void so_it_does_in_broken_fabrics(void **state)
{
    (void)state;
    const char *specs[] = {"torus:4x4x3,hosts=1", "dragonfly:a=4,p=2,h=2,g=9",
                           "kary:k=4,n=3,hosts=1"};
    unsigned without = 0, split = 0;
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            sv_fabric *f = broken(specs[i], 3, 12, seed);
            for (int mode = 0; mode < SV_SLS_COUNT; mode++)
                if (test_takes(&seen))
                    split += weave_room(f, seed == 1 ? 1 : 4, mode, &without) > 1;
            sv_fabric_free(f);
        }
    assert_true(split > 0 || !test_enough());
    assert_in_range(without, 0, 4);
}

/* Two that take longer: a tree that no root gives, and one of many channels. */
static void hard_cases(void **state)
{
    (void)state;
    uint32_t pieces;
    sv_fabric *f = test_fabric(ctx, "random:switches=20,links=45,total=40,seed=1");
    sv_routes *r = route(f, "weave", 2, SV_SLS_DESTINATION);
    assert_true(make_room(f, r, SV_TRAFFIC_ALL, 0, &pieces));
    sv_routes_free(r);
    sv_fabric_free(f);
    f = test_fabric(ctx, "xgft:h=2,m=8/16,w=8/8,hosts=1");
    r = route(f, "updn", 1, SV_SLS_PAIR);
    sv_mtree *t = NULL;
    OK(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_MANAGED, 0, NULL, 0, &t));
    check_tree(f, t);
    check_together(f, r, t, SV_TRAFFIC_MANAGED);
    sv_mtree_free(t);
    sv_routes_free(r);
    sv_fabric_free(f);
}

static void other_engines(void **state)
{
    (void)state;
    const char *engines[] = {"updn", "dnup", "nue", "dfsssp", "lash", "sssp", "minhop", "dor"};
    const char *specs[] = {"torus:4x4x3,hosts=1", "dragonfly:a=4,p=2,h=2,g=9",
                           "kary:k=4,n=3,hosts=1"};
    uint32_t pieces;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
            sv_fabric *f = test_fabric(ctx, specs[i]);
            sv_routes *r = route(f, engines[e], 0, SV_SLS_PAIR);
            sv_verification *found = NULL;
            if (r != NULL) {
                OK(ctx, sv_verify(ctx, f, r, NULL, &found));
                bool safe = found->deadlock_free[SV_TRAFFIC_MANAGED] == SV_VERDICT_YES;
                assert_int_equal(make_room(f, r, SV_TRAFFIC_MANAGED, 0, &pieces), safe);
            }
            sv_verification_free(found);
            sv_routes_free(r);
            sv_fabric_free(f);
        }
}

/* ---- groups ---- */

static bool has_port(uint64_t (*ports)[4], uint32_t s, unsigned port)
{
    return ports[s][port >> 6] >> (port & 63) & 1;
}

/* How many ports a copy of a packet reaches from a switch, not going back by a port. */
static uint32_t reach(const sv_fabric *f, uint64_t (*ports)[4], uint32_t s, unsigned came,
                      bool *got)
{
    uint32_t count = 0;
    if (has_port(ports, s, 0) && came != 0) {
        got[s] = true;
        count++;
    }
    SV_FOR_HOPS (f, (sv_node){s}, hop) {
        unsigned port = f->port[hop->channel.i], back = f->port[f->reverse[hop->channel.i].i];
        if (port == came || !has_port(ports, s, port))
            continue;
        assert_false(got[hop->to.i]); /* no second copy */
        if (sv_is_switch(f, hop->to)) {
            assert_true(has_port(ports, hop->to.i, back)); /* and no dead end */
            uint32_t behind = reach(f, ports, hop->to.i, back, got);
            assert_true(behind > 0);
            count += behind;
        } else {
            got[hop->to.i] = true;
            count++;
        }
    }
    return count;
}

/* What each member sends gets to all others of its piece, and to nobody else. */
static void check_group(const sv_fabric *f, uint64_t (*ports)[4], const uint32_t *piece,
                        const sv_node *members, size_t count)
{
    uint32_t nodes = sv_num_nodes(f);
    bool *got = calloc(nodes, sizeof *got), *joined = calloc(f->num_switches, sizeof *joined);
    for (size_t i = 0; i < count; i++) {
        sv_node m = members[i];
        sv_node at = sv_is_switch(f, m) ? m : sv_switch_of(f, m);
        unsigned came = 0;
        size_t others = 0;
        memset(got, 0, nodes);
        SV_FOR_HOPS (f, m, hop)
            if (!sv_is_switch(f, m))
                came = f->port[f->reverse[hop->channel.i].i];
        for (size_t k = 0; k < count; k++) {
            sv_node k_at = sv_is_switch(f, members[k]) ? members[k] : sv_switch_of(f, members[k]);
            others += k != i && piece[k_at.i] == piece[at.i];
        }
        assert_int_equal(has_port(ports, at.i, came), others > 0);
        assert_int_equal(reach(f, ports, at.i, came, got), others);
        for (size_t k = 0; k < count; k++) {
            sv_node k_at = sv_is_switch(f, members[k]) ? members[k] : sv_switch_of(f, members[k]);
            assert_int_equal(got[members[k].i], k != i && piece[k_at.i] == piece[at.i]);
            joined[k_at.i] = joined[k_at.i] || others > 0;
        }
    }
    free(got);
    free(joined);
}

/* Sets that draw themselves, of terminals and switches, without repetition. */
static size_t draw(const sv_fabric *f, uint64_t *seed, sv_node *members)
{
    size_t count = 0;
    unsigned chance = 2 + (unsigned)(*seed % 13);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        if (lot(seed, chance) == 0 && sv_node_alive(f, (sv_node){v}) &&
            (sv_is_switch(f, (sv_node){v}) || sv_switch_of(f, (sv_node){v}).i != SV_NONE))
            members[count++] = (sv_node){v};
    }
    return count;
}

static void groups_get_the_smallest_part(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint32_t trial = 0; trial < test_times(200); trial++) {
        sv_fabric *f = broken("torus:4x4,hosts=2", 2, 9, (uint64_t)(trial / 10));
        sv_routes *r = route(f, "updn", 1, SV_SLS_PAIR);
        sv_mtree *t = NULL;
        sv_node members[100];
        uint64_t ports[16][4];
        uint32_t piece[16] = {0};
        OK(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 0, NULL, 0, &t));
        for (uint32_t i = 0, next = 0; i < t->num_order; i++) {
            uint32_t s = t->order[i];
            piece[s] = t->up[s] == SV_NONE ? next++ : piece[f->head[t->up[s]].i];
        }
        size_t count = draw(f, &seed, members);
        memset(ports, 0xff, sizeof ports);
        OK(ctx, sv_mtree_prune(ctx, t, f, members, count, ports));
        check_group(f, ports, piece, members, count);
        /* Ports that no member's packets pass are not there: all cables join two parts of it. */
        uint32_t ends = 0, switches = 0, pieces = 0;
        for (uint32_t s = 0; s < 16; s++) {
            bool any = false, seen = false;
            for (unsigned p = 0; p < 256; p++) {
                sv_channel c = p == 0 ? SV_NO_CHANNEL : sv_channel_at(f, (sv_node){s}, p);
                any = any || has_port(ports, s, p);
                if (has_port(ports, s, p) && p > 0)
                    assert_int_not_equal(c.i, SV_NONE);
                ends += has_port(ports, s, p) && p > 0 && sv_is_switch(f, f->head[c.i]);
            }
            switches += any;
            for (uint32_t before = 0; before < s; before++)
                for (int w = 0; w < 4; w++)
                    seen = seen || (ports[before][w] != 0 && piece[before] == piece[s]);
            pieces += any && !seen;
        }
        assert_int_equal(ends, 2 * (switches - pieces)); /* a tree in each piece */
        sv_mtree_free(t);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

static void odd_members(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=2"); /* terminals 3 4, 5 6, 7 8 */
    sv_routes *r = route(f, "updn", 1, SV_SLS_PAIR);
    sv_mtree *t = NULL;
    uint64_t ports[3][4], zero[3][4] = {{0}};
    OK(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 0, NULL, 0, &t));
    const sv_node twice[] = {{3}, {3}};
    memset(ports, 0xff, sizeof ports);
    OK(ctx, sv_mtree_prune(ctx, t, f, twice, 2, ports)); /* alone */
    assert_memory_equal(ports, zero, sizeof ports);
    OK(ctx, sv_mtree_prune(ctx, t, f, NULL, 0, ports));
    assert_memory_equal(ports, zero, sizeof ports);
    const sv_node neighbours[] = {{3}, {4}};
    OK(ctx, sv_mtree_prune(ctx, t, f, neighbours, 2, ports));
    assert_int_equal(__builtin_popcountll(ports[0][0]), 2);
    assert_memory_equal(ports[1], zero, 2 * sizeof ports[0]);
    const sv_node nobody[] = {{3}, {9}};
    FAILS(ctx, sv_mtree_prune(ctx, t, f, nobody, 2, ports), SV_BAD_INPUT, "member 1");
    assert_int_equal(__builtin_popcountll(ports[0][0]), 2); /* untouched */
    sv_mtree_free(t);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* ---- several trees, and no tree ---- */

static void trees_beside_each_other(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1");
    sv_routes *r = route(f, "weave", 2, SV_SLS_PAIR), *both = NULL;
    sv_mtree *a = NULL, *b = NULL, *c = NULL;
    sv_verification *found = NULL;
    OK(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 0, NULL, 0, &a));
    const sv_mtree *others[] = {a, NULL};
    OK(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 1, others, 1, &b));
    others[1] = b;
    OK(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 2, others, 2, &c)); /* VL 0 once more */
    OK(ctx, sv_routes_clone(ctx, r, &both));
    OK(ctx, sv_mtree_add_all(ctx, a, f, both, 0xc000));
    OK(ctx, sv_mtree_add_all(ctx, b, f, both, 0xc001));
    OK(ctx, sv_mtree_add_all(ctx, c, f, both, 0xc002));
    OK(ctx, sv_verify(ctx, f, both, NULL, &found));
    assert_int_equal(found->together[SV_TRAFFIC_ALL], SV_VERDICT_YES);
    sv_verification_free(found);
    sv_routes_free(both);
    sv_mtree_free(a);
    sv_mtree_free(b);
    sv_mtree_free(c);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Where nothing is left, a VL that nobody uses will do; packets keep theirs. */
static void a_vl_of_its_own(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x5,hosts=1");
    sv_routes *before = route(f, "nue", 2, SV_SLS_PAIR), *r = NULL;
    sv_mtree *t = NULL, *second = NULL;
    unsigned other = 99;
    OK(ctx, sv_routes_clone(ctx, before, &r));
    FAILS(ctx, sv_mtree_own_vl(ctx, f, r, SV_TRAFFIC_MANAGED, 0, 1, NULL, 0, &t, &other),
          SV_INFEASIBLE, "VL 1 is in use");
    FAILS(ctx, sv_mtree_own_vl(ctx, f, r, SV_TRAFFIC_MANAGED, 0, 64, NULL, 0, &t, &other),
          SV_BAD_INPUT, "VLs 0 to 63");
    OK(ctx, sv_mtree_own_vl(ctx, f, r, SV_TRAFFIC_MANAGED, 0, 2, NULL, 0, &t, &other));
    assert_int_equal(other, 2);
    assert_int_equal(t->depth, 4);
    check_tree(f, t);
    check_together(f, r, t, SV_TRAFFIC_MANAGED);
    check_same_vls(f, before, r);
    /* Nobody has SL 0 now, but a tree: that stays. */
    const sv_mtree *others[] = {t};
    FAILS(ctx, sv_mtree_own_vl(ctx, f, r, SV_TRAFFIC_MANAGED, 0, 3, others, 1, &second, &other),
          SV_INFEASIBLE, "has a tree");
    OK(ctx, sv_mtree_own_vl(ctx, f, r, SV_TRAFFIC_MANAGED, 7, 3, others, 1, &second, &other));
    assert_int_equal(other, 7);
    check_same_vls(f, before, r);
    sv_mtree_free(t);
    sv_mtree_free(second);
    sv_routes_free(r);
    sv_routes_free(before);
    /* One SL for all is a name like others. */
    before = route(f, "updn", 1, SV_SLS_PAIR);
    OK(ctx, sv_routes_clone(ctx, before, &r));
    r->sl = 3;
    t = NULL;
    OK(ctx, sv_mtree_own_vl(ctx, f, r, SV_TRAFFIC_ALL, 3, 1, NULL, 0, &t, &other));
    assert_int_equal(r->sl, other);
    assert_int_not_equal(other, 3);
    check_same_vls(f, before, r);
    sv_mtree_free(t);
    t = NULL;
    sv_routes_free(r);
    sv_routes_free(before);
    /* What fails leaves no trace. */
    before = route(f, "minhop", 1, SV_SLS_PAIR);
    OK(ctx, sv_routes_clone(ctx, before, &r));
    FAILS(ctx, sv_mtree_own_vl(ctx, f, r, SV_TRAFFIC_MANAGED, 0, 2, NULL, 0, &t, &other),
          SV_INFEASIBLE, "even without");
    assert_int_equal(r->sl, before->sl);
    assert_memory_equal(r->vl_tables, before->vl_tables, sizeof *r->vl_tables);
    sv_routes_free(r);
    sv_routes_free(before);
    sv_fabric_free(f);
}

static void refusals(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5,hosts=1"), *g = test_fabric(ctx, "mesh:1x2,hosts=1");
    sv_routes *r = route(f, "minhop", 1, SV_SLS_PAIR), *s = route(g, "updn", 1, SV_SLS_PAIR);
    sv_mtree *t = NULL, *small = NULL;
    unsigned other = 77;
    FAILS(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 0, NULL, 0, &t), SV_INFEASIBLE,
          "even without multicast");
    FAILS(ctx, sv_mtree_make_room(ctx, f, r, SV_TRAFFIC_ALL, 0, NULL, 0, &t, &other), SV_INFEASIBLE,
          "even without multicast");
    FAILS(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 16, NULL, 0, &t), SV_BAD_INPUT, "no SL 16");
    FAILS(ctx, sv_mtree_new(ctx, g, r, SV_TRAFFIC_ALL, 0, NULL, 0, &t), SV_BAD_INPUT,
          "another fabric");
    FAILS(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_COUNT, 0, NULL, 0, &t), SV_BAD_INPUT, "traffic");
    OK(ctx, sv_mtree_new(ctx, g, s, SV_TRAFFIC_ALL, 0, NULL, 0, &small));
    const sv_mtree *others[] = {small};
    FAILS(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 0, others, 1, &t), SV_BAD_INPUT,
          "other tables");
    assert_null(t);
    assert_int_equal(other, 77);
    sv_mtree_free(NULL);
    sv_mtree_free(small);
    sv_routes_free(r);
    sv_routes_free(s);
    sv_fabric_free(f);
    sv_fabric_free(g);
}

/* An SL that some switch or adapter discards reaches nobody. */
static void what_is_discarded_gets_no_tree(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x3,hosts=1");
    sv_routes *r = route(f, "updn", 1, SV_SLS_PAIR);
    sv_mtree *t = NULL;
    sv_sl2vl vls = {{0}};
    vls.of_sl[3] = SV_NO_VL;
    uint32_t table = sv_routes_sl2vl_table(ctx, r, &vls);
    r->vls_of[1] = (uint16_t)table;
    FAILS(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 3, NULL, 0, &t), SV_INFEASIBLE, "SL 3");
    OK(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 2, NULL, 0, &t));
    sv_mtree_free(t);
    t = NULL;
    r->vls_of[1] = r->vls_of[0];
    r->vls_of[4] = (uint16_t)table; /* a terminal */
    FAILS(ctx, sv_mtree_new(ctx, f, r, SV_TRAFFIC_ALL, 3, NULL, 0, &t), SV_INFEASIBLE,
          "discards packets of SL 3");
    /* Nobody sends on it, so it just gets the VLs of another. */
    unsigned other = 99;
    OK(ctx, sv_mtree_make_room(ctx, f, r, SV_TRAFFIC_ALL, 3, NULL, 0, &t, &other));
    assert_int_not_equal(other, 3);
    check_together(f, r, t, SV_TRAFFIC_ALL);
    sv_mtree_free(t);
    sv_routes_free(r);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weave_leaves_room),
        cmocka_unit_test(so_it_does_in_broken_fabrics),
        cmocka_unit_test(hard_cases),
        cmocka_unit_test(other_engines),
        cmocka_unit_test(groups_get_the_smallest_part),
        cmocka_unit_test(odd_members),
        cmocka_unit_test(trees_beside_each_other),
        cmocka_unit_test(a_vl_of_its_own),
        cmocka_unit_test(refusals),
        cmocka_unit_test(what_is_discarded_gets_no_tree),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
