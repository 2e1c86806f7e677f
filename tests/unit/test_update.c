/*
 * test_update.c: safe orders of updates: plans for changes of every kind, each step judged by
 * verify/ (which sv_update_plan does already, and here once more on tables that are put together by
 * hand), and what plans promise about entries, pairs and tables between steps.
 */
#include "support/testing.h"
#include "support/trials.h"

#include <string.h>

TEST_CONTEXT

/* ---- making changes ---- */

static sv_fabric *without_cable(const sv_fabric *f, uint64_t seed)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fabric *left = NULL;
    uint32_t cables = 0;
    for (uint32_t c = 0; c < f->num_channels; c++)
        cables += sv_joins_switches(f, (sv_channel){c}) && sv_is_cable(f, (sv_channel){c});
    uint64_t n = seed % cables;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_joins_switches(f, (sv_channel){c}) && sv_is_cable(f, (sv_channel){c}) && n-- == 0)
            sv_mask_cable(mask, f, (sv_channel){c});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    return left;
}

static sv_routes *route(const sv_fabric *f, const char *engine, unsigned vls, uint64_t seed)
{
    const sv_route_request request = {.vls = vls, .seed = seed};
    sv_routes *r = NULL;
    OK(ctx, sv_route(ctx, f, engine, &request, &r, NULL));
    return r;
}

/* ---- judging plans ---- */

static bool is_safe(const sv_fabric *f, const sv_routes *a, const sv_routes *b)
{
    sv_transition *t = NULL;
    OK(ctx, sv_verify_transition(ctx, f, a, b, SV_TRAFFIC_MANAGED, &t));
    bool safe = sv_transition_safe(t);
    sv_transition_free(t);
    return safe;
}

/* Every entry that differs has one step, and none that does not. */
static void entries_are_right(const sv_fabric *f, const sv_routes *a, const sv_routes *b,
                              const sv_update *u)
{
    uint64_t differ = 0;
    for (uint32_t d = 0; d < a->num_destinations; d++)
        for (uint32_t s = 0; s < f->num_switches; s++)
            differ += a->ports[d][s] != b->ports[d][s] && sv_node_alive(f, (sv_node){s});
    assert_int_equal(u->num_entries, differ);
    for (uint64_t i = 0; i < u->num_entries; i++) {
        const sv_update_entry *e = &u->entries[i];
        assert_int_not_equal(a->ports[e->destination][e->s.i], b->ports[e->destination][e->s.i]);
        assert_true(e->step < u->steps && e->step >= u->first_step[e->destination]);
        if (i > 0)
            assert_true(e[-1].step <= e->step);
    }
}

/* Tables between steps: as the list says, and old and new ones at the ends. */
static void tables_are_right(const sv_fabric *f, const sv_routes *a, const sv_routes *b,
                             const sv_update *u)
{
    for (uint32_t done = 0; done <= u->steps; done++) {
        sv_routes *t = NULL;
        OK(ctx, sv_update_tables(ctx, f, a, b, u, done, false, &t));
        OK(ctx, sv_routes_check(ctx, f, t));
        for (uint32_t d = 0; done == u->steps && d < a->num_destinations; d++)
            assert_memory_equal(t->ports[d], b->ports[d], f->num_switches);
        for (uint64_t i = 0; i < u->num_entries; i++) {
            const sv_update_entry *e = &u->entries[i];
            const sv_routes *like = e->step < done ? b : a;
            assert_int_equal(t->ports[e->destination][e->s.i], like->ports[e->destination][e->s.i]);
        }
        for (uint32_t d = 0; d < a->num_destinations; d++)
            for (uint32_t v = 0; v < sv_num_nodes(f); v += 3) {
                unsigned sl = sv_route_sl(t, (sv_node){v}, d);
                bool told = u->first_step[d] < done;
                unsigned right = sv_route_sl(told ? b : a, (sv_node){v}, d);
                if (right != SV_NO_SL)
                    assert_int_equal(sl, right);
            }
        sv_routes_free(t);
    }
}

/* Steps of a plan that asks nobody to be silent, once more by hand. */
static void steps_are_safe(const sv_fabric *f, const sv_routes *a, const sv_routes *b,
                           const sv_update *u)
{
    for (uint32_t step = 0; step < u->steps; step++) {
        sv_routes *now = NULL, *then = NULL;
        OK(ctx, sv_routes_clone(ctx, a, &now));
        for (uint64_t i = 0; i < u->num_entries; i++) {
            const sv_update_entry *e = &u->entries[i];
            if (e->step < step)
                sv_routes_row(ctx, now, e->destination)[e->s.i] = b->ports[e->destination][e->s.i];
        }
        OK(ctx, sv_update_tables(ctx, f, a, b, u, step + 1, false, &then));
        if (u->vls && step > 0) { /* VLs are new then */
            sv_routes_free(now);
            OK(ctx, sv_update_tables(ctx, f, a, b, u, step, false, &now));
        }
        assert_true(is_safe(f, now, then));
        sv_routes_free(then);
        sv_routes_free(now);
    }
}

static sv_update_way plan(const sv_fabric *f, const sv_routes *a, const sv_routes *b,
                          uint32_t *count)
{
    sv_update *u = NULL;
    OK(ctx, sv_update_plan(ctx, f, a, b, NULL, &u));
    entries_are_right(f, a, b, u);
    tables_are_right(f, a, b, u);
    if (u->way == SV_UPDATE_STEPS)
        steps_are_safe(f, a, b, u);
    if (u->way == SV_UPDATE_STEPS && !u->vls)
        assert_false(is_safe(f, a, b));
    if (u->way == SV_UPDATE_AT_ONCE)
        assert_true(is_safe(f, a, b));
    uint32_t bad;
    OK(ctx, sv_update_prove(ctx, f, a, b, u, SV_TRAFFIC_MANAGED, &bad));
    assert_int_equal(bad, SV_NONE);
    sv_update_way way = u->way;
    if (getenv("SELVAGE_VERBOSE") != NULL)
        printf("%-60s %u steps, %llu entries, %llu of %llu blocks, %llu pairs, %llu must; moved "
               "%llu; %s%s\n",
               sv_update_way_name(way), u->steps, (unsigned long long)u->num_entries,
               (unsigned long long)u->writes, (unsigned long long)u->blocks,
               (unsigned long long)u->num_pairs, (unsigned long long)u->must_pairs,
               (unsigned long long)u->moved, u->settle ? "settles " : "", u->why);
    sv_update_free(u);
    count[way]++;
    return way;
}

/* Of changes that need silence, the part that does not: old and new side by side, and safe. */
static uint64_t plan_part(const sv_fabric *f, const sv_routes *a, const sv_routes *b)
{
    const sv_update_request request = {.traffic = SV_TRAFFIC_MANAGED, .partial = true};
    sv_update *u = NULL;
    sv_routes *made = NULL;
    sv_verification *found = NULL;
    OK(ctx, sv_update_plan(ctx, f, a, b, &request, &u));
    assert_int_equal(u->must_pairs, 0);
    assert_true(u->left == 0 || u->why[0] != 0);
    if (u->way == SV_UPDATE_STEPS)
        steps_are_safe(f, a, b, u);
    OK(ctx, sv_update_tables(ctx, f, a, b, u, u->steps, false, &made));
    OK(ctx, sv_verify(ctx, f, made, NULL, &found));
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_MANAGED], SV_VERDICT_YES);
    assert_int_equal(found->loops, 0);
    uint64_t moved = 0;
    for (uint32_t d = 0; d < a->num_destinations; d++) {
        const sv_routes *like = u->first_step[d] == SV_NONE ? a : b;
        assert_memory_equal(made->ports[d], like->ports[d], f->num_switches);
        moved += like == b;
    }
    assert_true(u->way == SV_UPDATE_NOTHING || moved == u->moved);
    sv_verification_free(found);
    sv_routes_free(made);
    sv_update_free(u);
    return moved;
}

/* ---- tables by hand ---- */

static uint8_t port_to(const sv_fabric *f, uint32_t s, uint32_t v)
{
    SV_FOR_HOPS (f, ((sv_node){s}), hop)
        if (hop->to.i == v)
            return (uint8_t)f->port[hop->channel.i];
    fail_msg("no cable from %u to %u", s, v);
    return SV_NO_PORT;
}

/* Switches that are all joined, or some that are not: everybody goes straight, on SL 0, where he
 * can. SLs 0, 2 … have VL 0, the others VL 1. */
static sv_routes *straight(const sv_fabric *f)
{
    sv_routes *r = NULL;
    sv_sl2vl vls;
    OK(ctx, sv_routes_new(ctx, f, 0, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
        vls.of_sl[sl] = (uint8_t)(sl % 2);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        r->vls_of[v] = (uint16_t)sv_routes_sl2vl_table(ctx, r, &vls);
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_DESTINATION));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        sv_node to = r->node[d], home = sv_is_switch(f, to) ? to : sv_switch_of(f, to);
        uint8_t *row = sv_routes_row(ctx, r, d);
        sv_routes_sl_row(ctx, r, 0)[d] = 0;
        if (!sv_node_alive(f, to))
            continue;
        SV_FOR_HOPS (f, home, hop)
            if (sv_is_switch(f, hop->to))
                row[hop->to.i] = (uint8_t)f->port[f->reverse[hop->channel.i].i];
        row[home.i] = sv_is_switch(f, to) ? 0 : port_to(f, home.i, to.i);
    }
    return r;
}

/* Packets from switch s to the t-th terminal go by another switch. */
static void around(sv_routes *r, const sv_fabric *f, uint32_t s, uint32_t by, uint32_t t)
{
    sv_routes_row(ctx, r, r->first[f->num_switches + t])[s] = port_to(f, s, by);
}

/* The step in which a switch's entry for a terminal changes; SV_NONE: in none. */
static uint32_t step_of(const sv_fabric *f, const sv_routes *r, const sv_update *u, uint32_t s,
                        uint32_t t)
{
    for (uint64_t i = 0; i < u->num_entries; i++)
        if (u->entries[i].s.i == s && u->entries[i].destination == r->first[f->num_switches + t])
            return u->entries[i].step;
    return SV_NONE;
}

/* Old and new tables of a full mesh, which a test changes, and the plan it asks for. */
struct by_hand {
    sv_fabric *f;
    sv_routes *a, *b;
    sv_update *u;
};

static struct by_hand by_hand(const char *spec)
{
    struct by_hand x = {.f = test_fabric(ctx, spec)};
    x.a = straight(x.f);
    x.b = straight(x.f);
    return x;
}

static void release(struct by_hand *x)
{
    sv_update_free(x->u);
    sv_routes_free(x->a);
    sv_routes_free(x->b);
    sv_fabric_free(x->f);
}

/* ---- tests ---- */

static void nothing_changes(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1");
    sv_routes *r = route(f, "weave", 2, 1);
    sv_update *u = NULL;
    OK(ctx, sv_update_plan(ctx, f, r, r, NULL, &u));
    assert_int_equal(u->way, SV_UPDATE_NOTHING);
    assert_int_equal(u->steps, 0);
    assert_int_equal(u->num_entries + u->num_pairs + u->writes + u->sls, 0);
    sv_update_free(u);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Half a change is better than none. */
static void parts_of_changes(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:4x4,hosts=1", "torus:3x3x2,hosts=2",
                                        "random:switches=9,links=18,hosts=2,seed=3"};
    uint64_t moved = 0;
    uint32_t seen = 0;
    for (uint64_t trial = 0; trial < 12; trial++) {
        if (!test_takes(&seen))
            continue;
        sv_fabric *f = test_fabric(ctx, specs[trial % 3]);
        const char *engine = trial < 6 ? "weave" : "nue";
        sv_routes *a = route(f, engine, 1 + trial % 4, 1);
        sv_routes *b = route(f, engine, 1 + trial % 4, trial + 2);
        moved += plan_part(f, a, b);
        sv_routes_free(a);
        sv_routes_free(b);
        sv_fabric_free(f);
    }
    assert_true(moved > 0 || !test_enough());
}

static void random_changes(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "torus:4x4,hosts=1", "torus:3x3x2,hosts=2",
        "mesh:3x4,hosts=1",  "random:switches=9,links=18,hosts=2,seed=3",
        "kary:k=3,n=2",      "dragonfly:a=3,p=1,h=1,g=4"};
    static const char *const engines[] = {"weave", "dfsssp", "nue", "updn", "lash"};
    uint32_t count[SV_UPDATE_WAYS] = {0};
    uint32_t seen = 0;
    for (uint64_t trial = 0; trial < 120; trial++) {
        if (!test_takes(&seen))
            continue;
        sv_fabric *f = test_fabric(ctx, specs[trial % 6]);
        sv_fabric *left = without_cable(f, trial * 7);
        const char *engine = engines[trial / 6 % 5];
        unsigned vls = 4;
        sv_routes *a = route(f, engine, vls, 1), *b = NULL;
        switch (trial / 30) {
        case 0: /* a failure */
            b = route(left, engine, vls, 1);
            plan(left, a, b, count);
            break;
        case 1: /* its repair */
            b = route(left, engine, vls, 1);
            plan(f, b, a, count);
            break;
        case 2: /* another engine */
            b = route(f, engines[(trial + 1) % 5], vls, 1);
            plan(f, a, b, count);
            break;
        default:
            b = route(f, engine, vls, 2 + trial);
            plan(f, a, b, count);
        }
        sv_routes_free(a);
        sv_routes_free(b);
        sv_fabric_free(left);
        sv_fabric_free(f);
    }
    if (getenv("SELVAGE_VERBOSE") != NULL)
        for (int i = 0; i < SV_UPDATE_WAYS; i++)
            printf("%s: %u\n", sv_update_way_name((sv_update_way)i), count[i]);
    if (test_enough())
        assert_true(count[SV_UPDATE_AT_ONCE] > 0 && count[SV_UPDATE_STEPS] > 0 &&
                    count[SV_UPDATE_REPATH] > 0);
}

/* Packets to what is dead go on by old entries: who sends them is asked to be silent, too. */
static void packets_to_the_dead(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1"), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    const sv_route_request old = {.vls = 4, .sl_mode = SV_SLS_REVERSIBLE, .seed = 65};
    sv_routes *a = NULL;
    sv_update *u = NULL;
    uint64_t to_dead = 0;
    sv_mask_node(mask, (sv_node){20});
    sv_mask_node(mask, (sv_node){24});
    sv_mask_cable(mask, f, (sv_channel){70});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    OK(ctx, sv_route(ctx, f, "dor", &old, &a, NULL));
    sv_routes *b = route(left, "lash", 2, 80);
    memcpy(b->lid, a->lid, a->num_destinations * sizeof *a->lid);
    OK(ctx, sv_update_plan(ctx, left, a, b, NULL, &u));
    assert_int_equal(u->way, SV_UPDATE_NEVER);
    for (uint64_t i = 0; i < u->num_pairs; i++)
        to_dead += u->pairs[i].must && !sv_node_alive(left, b->node[u->pairs[i].destination]);
    assert_true(to_dead > 0);
    sv_update_free(u);
    sv_routes_free(b);
    sv_routes_free(a);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* Tables with a group of all terminals, if there is a tree that fits. */
static sv_routes *route_tree(const sv_fabric *f, const char *engine, uint64_t seed)
{
    sv_routes *r = route(f, engine, 2, seed);
    sv_mtree *tree = NULL;
    if (sv_mtree_new(ctx, f, r, SV_TRAFFIC_MANAGED, 0, NULL, 0, &tree) == SV_OK) {
        OK(ctx, sv_mtree_add_all(ctx, tree, f, r, 0xc000));
        sv_mtree_free(tree);
        return r;
    }
    sv_routes_free(r);
    return NULL;
}

/* New trees are there while steps are taken: a plan that forgets them does not hold. */
static void trees_of_new_tables(void **state)
{
    (void)state;
    static const char *const engines[] = {"weave", "dfsssp", "nue"};
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1");
    uint32_t count[SV_UPDATE_WAYS] = {0}, planned = 0;
    for (uint64_t trial = 0; trial < test_times(24); trial++) {
        sv_routes *a = route(f, engines[trial % 3], 2, 1 + trial);
        sv_routes *b = route_tree(f, engines[trial / 3 % 3], 50 + trial);
        if (b != NULL)
            plan(f, a, b, count);
        planned += b != NULL;
        sv_routes_free(a);
        sv_routes_free(b);
    }
    assert_true(!test_enough() || (planned > 8 && count[SV_UPDATE_AT_ONCE] < planned));
    sv_fabric_free(f);
}

/* 1 sent by 0, and 0 is to send by 1: 1 has to leave first. */
static void a_circle_needs_levels(void **state)
{
    (void)state;
    struct by_hand x = by_hand("fullmesh:3,hosts=1");
    around(x.a, x.f, 1, 0, 2);
    around(x.b, x.f, 0, 1, 2);
    OK(ctx, sv_update_plan(ctx, x.f, x.a, x.b, NULL, &x.u));
    assert_int_equal(x.u->way, SV_UPDATE_STEPS);
    assert_int_equal(x.u->steps, 2);
    assert_int_equal(x.u->num_entries, 2);
    assert_int_equal(step_of(x.f, x.b, x.u, 1, 2), 0);
    assert_int_equal(step_of(x.f, x.b, x.u, 0, 2), 1);
    assert_int_equal(x.u->must_pairs, 0);
    release(&x);
}

/*
 * 1 sent by 0, which forgets the way: 1 has to leave first. Who is at 0 loses it all the same, and
 * a plan that is held against verify/ does not do that.
 */
static void a_way_is_not_lost(void **state)
{
    (void)state;
    const sv_update_request request = {.traffic = SV_TRAFFIC_MANAGED, .unproven = true};
    struct by_hand x = by_hand("fullmesh:3,hosts=1");
    around(x.a, x.f, 1, 0, 2);
    sv_routes_row(ctx, x.b, x.b->first[5])[0] = SV_NO_PORT;
    FAILS(ctx, sv_update_plan(ctx, x.f, x.a, x.b, NULL, &x.u), SV_INFEASIBLE,
          "the new tables lose the way from");
    OK(ctx, sv_update_plan(ctx, x.f, x.a, x.b, &request, &x.u));
    assert_int_equal(x.u->way, SV_UPDATE_STEPS);
    assert_int_equal(x.u->steps, 2);
    assert_int_equal(step_of(x.f, x.b, x.u, 1, 2), 0);
    assert_int_equal(step_of(x.f, x.b, x.u, 0, 2), 1);
    release(&x);
}

/* Old: 0 to 2 by 1. New: 1 to 0 by 2, and 2 to 1 by 0. All three together can deadlock: one after
 * the other they need no help, but packets must have left. */
static void a_ring_needs_groups(void **state)
{
    (void)state;
    const sv_update_request few = {.traffic = SV_TRAFFIC_TERMINALS, .max_steps = 1};
    const sv_update_request any = {.traffic = SV_TRAFFIC_TERMINALS};
    struct by_hand x = by_hand("fullmesh:3,hosts=1");
    around(x.a, x.f, 0, 1, 2);
    around(x.b, x.f, 1, 2, 0);
    around(x.b, x.f, 2, 0, 1);
    OK(ctx, sv_update_plan(ctx, x.f, x.a, x.b, &any, &x.u));
    assert_int_equal(x.u->way, SV_UPDATE_STEPS);
    assert_int_equal(x.u->steps, 2);
    assert_true(x.u->settle);
    uint32_t last = step_of(x.f, x.b, x.u, 1, 0) == 1 ? 0 : 1; /* of the new ones, one is late */
    assert_int_equal(step_of(x.f, x.b, x.u, 0, 2), 0);
    assert_int_equal(step_of(x.f, x.b, x.u, last == 0 ? 1 : 2, last), 1);
    sv_update_free(x.u);
    x.u = NULL;
    OK(ctx, sv_update_plan(ctx, x.f, x.a, x.b, &few, &x.u)); /* one step: somebody is silent */
    assert_int_equal(x.u->way, SV_UPDATE_NEVER);
    assert_non_null(strstr(x.u->why, "more than 1 step"));
    assert_true(x.u->must_pairs > 0);
    release(&x);
}

/* The same, and the old way stays, but on the other VL: who holds SL 0 must ask again. With SL 0
 * all the time nothing helps, and without help only a part moves. */
static void old_sls_are_held(void **state)
{
    (void)state;
    const sv_update_request all = {.traffic = SV_TRAFFIC_TERMINALS};
    const sv_update_request some = {.traffic = SV_TRAFFIC_TERMINALS, .partial = true};
    struct by_hand x = by_hand("fullmesh:3,hosts=1");
    around(x.a, x.f, 0, 1, 2);
    around(x.b, x.f, 0, 1, 2);
    around(x.b, x.f, 1, 2, 0);
    around(x.b, x.f, 2, 0, 1);
    FAILS(ctx, sv_update_plan(ctx, x.f, x.a, x.b, &all, &x.u), SV_BAD_INPUT,
          "the new tables can deadlock by themselves");
    sv_routes_sl_row(ctx, x.b, 0)[x.b->first[5]] = 1;
    OK(ctx, sv_update_plan(ctx, x.f, x.a, x.b, &all, &x.u));
    assert_int_equal(x.u->way, SV_UPDATE_REPATH);
    assert_true(x.u->must_pairs > 0);
    for (uint64_t i = 0; i < x.u->num_pairs; i++)
        assert_true(!x.u->pairs[i].must || x.u->pairs[i].destination == x.b->first[5]);
    assert_non_null(strstr(x.u->why, "hold from before"));
    sv_update_free(x.u);
    x.u = NULL;
    OK(ctx, sv_update_plan(ctx, x.f, x.a, x.b, &some, &x.u));
    assert_int_equal(x.u->way, SV_UPDATE_STEPS);
    assert_int_equal(x.u->must_pairs, 0);
    assert_int_equal(x.u->left, 1);
    release(&x);
}

/* VLs change first, alone, if entries do not change with them in any order. */
static void vls_come_first(void **state)
{
    (void)state;
    sv_sl2vl vls;
    struct by_hand x = by_hand("fullmesh:3,hosts=1");
    around(x.a, x.f, 1, 0, 2);
    around(x.b, x.f, 0, 1, 2);
    for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
        vls.of_sl[sl] = (uint8_t)(1 - sl % 2);
    for (uint32_t v = 0; v < 6; v++)
        x.b->vls_of[v] = (uint16_t)sv_routes_sl2vl_table(ctx, x.b, &vls);
    OK(ctx, sv_update_plan(ctx, x.f, x.a, x.b, NULL, &x.u));
    assert_int_equal(x.u->way, SV_UPDATE_STEPS);
    assert_true(x.u->vls);
    assert_int_equal(x.u->steps, 3);
    assert_int_equal(step_of(x.f, x.b, x.u, 1, 2), 1);
    assert_int_equal(step_of(x.f, x.b, x.u, 0, 2), 2);
    sv_routes *t = NULL;
    OK(ctx, sv_update_tables(ctx, x.f, x.a, x.b, x.u, 1, false, &t));
    assert_int_equal(sv_route_sl2vl(t, x.f, (sv_node){0}, 1, 2)->of_sl[0], 1);
    assert_int_equal(t->ports[t->first[5]][1], x.a->ports[t->first[5]][1]);
    sv_routes_free(t);
    release(&x);
}

/* What is gone gets no packets; what is new had none: nobody is asked for anything. */
static void the_dead_and_the_new(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:4,hosts=1"), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_update *u = NULL;
    sv_mask_node(mask, (sv_node){3});
    sv_mask_node(mask, (sv_node){7});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_routes *whole = straight(f), *less = straight(left);
    memcpy(less->lid, whole->lid, whole->num_destinations * sizeof *whole->lid);
    OK(ctx, sv_update_plan(ctx, left, whole, less, NULL, &u));
    assert_int_equal(u->way, SV_UPDATE_AT_ONCE);
    assert_int_equal(u->num_entries, 6); /* of three switches, for two that are dead */
    assert_int_equal(u->num_pairs, 0);
    sv_update_free(u);
    OK(ctx, sv_update_plan(ctx, f, less, whole, NULL, &u));
    assert_int_equal(u->way, SV_UPDATE_AT_ONCE);
    assert_int_equal(u->num_entries, 6 + 8); /* and all of the switch that is new */
    assert_int_equal(u->must_pairs, 0);
    sv_update_free(u);
    sv_routes_free(whole);
    sv_routes_free(less);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

static void tables_that_do_not_belong_together(void **state)
{
    (void)state;
    struct by_hand x = by_hand("fullmesh:3,hosts=1"), y = by_hand("fullmesh:4,hosts=1");
    FAILS(ctx, sv_update_plan(ctx, x.f, y.a, x.b, NULL, &x.u), SV_BAD_INPUT,
          "old and new tables have different destinations");
    FAILS(ctx, sv_update_plan(ctx, x.f, y.a, y.b, NULL, &x.u), SV_BAD_INPUT,
          "old and new tables have different destinations");
    x.b->lid[2]++;
    FAILS(ctx, sv_update_plan(ctx, x.f, x.a, x.b, NULL, &x.u), SV_BAD_INPUT,
          "old and new tables have different LIDs");
    x.b->lid[2]--;
    OK(ctx, sv_routes_set_sl_form(ctx, x.a, SV_SL_UNKNOWN));
    FAILS(ctx, sv_update_plan(ctx, x.f, x.a, x.b, NULL, &x.u), SV_UNSUPPORTED,
          "the service levels of the old tables are not known");
    around(y.b, y.f, 0, 1, 2);
    around(y.b, y.f, 1, 0, 2);
    FAILS(ctx, sv_update_plan(ctx, y.f, y.a, y.b, NULL, &y.u), SV_BAD_INPUT,
          "the new tables make packets go in circles");
    assert_null(x.u);
    assert_null(y.u);
    release(&x);
    release(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changes),
        cmocka_unit_test(parts_of_changes),
        cmocka_unit_test(random_changes),
        cmocka_unit_test(packets_to_the_dead),
        cmocka_unit_test(trees_of_new_tables),
        cmocka_unit_test(a_circle_needs_levels),
        cmocka_unit_test(a_way_is_not_lost),
        cmocka_unit_test(a_ring_needs_groups),
        cmocka_unit_test(old_sls_are_held),
        cmocka_unit_test(vls_come_first),
        cmocka_unit_test(the_dead_and_the_new),
        cmocka_unit_test(tables_that_do_not_belong_together),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
