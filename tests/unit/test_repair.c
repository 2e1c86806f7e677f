/*
 * test_repair.c: repairs where the random ones of tests/oracle do not go: masked fabrics, orders
 * that are wrong or missing, parts that come back, what is promised about memory and numbers; and
 * orders as tables and files keep them.
 */
#include "support/testing.h"
#include "support/trials.h"

#include <unistd.h>

TEST_CONTEXT

/* The fabric without the n-th cable between switches. */
static sv_fabric *without_cable(const sv_fabric *f, uint32_t n)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fabric *left = NULL;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_joins_switches(f, (sv_channel){c}) && sv_is_cable(f, (sv_channel){c}) && n-- == 0)
            sv_mask_cable(mask, f, (sv_channel){c});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    return left;
}

static sv_fabric *without_node(const sv_fabric *f, uint32_t v)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fabric *left = NULL;
    sv_mask_node(mask, (sv_node){v});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    return left;
}

/* Tables must be right by themselves. */
static void judge(const sv_fabric *f, const sv_routes *r)
{
    sv_verification *found = NULL;
    OK(ctx, sv_routes_check(ctx, f, r));
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], found->split_pairs);
    assert_int_equal(found->loops, 0);
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_MANAGED], SV_VERDICT_YES);
    sv_verification_free(found);
}

/* Tables must keep to their orders. */
static void keeps_to_orders(const sv_fabric *f, const sv_routes *r)
{
    sv_ascent found;
    OK(ctx, sv_verify_ascent(ctx, f, r, r, SV_TRAFFIC_MANAGED, NULL, false, NULL, &found));
    assert_int_equal(found.descents, 0);
    assert_int_equal(found.looping, 0);
}

static sv_routes *repair(const sv_fabric *from, const sv_routes *old, const sv_fabric *to,
                         sv_repair_report **report)
{
    const sv_repair_request request = {.engine = "weave", .traffic = SV_TRAFFIC_MANAGED};
    sv_routes *r = NULL;
    OK(ctx, sv_repair(ctx, from, old, to, &request, &r, report));
    judge(to, r);
    if (r->orders != NULL)
        keeps_to_orders(to, r);
    /* What it says about the change is what the slow way says. */
    sv_transition *t = NULL;
    OK(ctx, sv_verify_transition(ctx, to, (*report)->before, r, SV_TRAFFIC_MANAGED, &t));
    bool safe = sv_transition_safe(t);
    if ((*report)->safety == SV_SAFE_ANYHOW)
        assert_true(safe);
    assert_int_equal(t->changed_blocks, (*report)->blocks);
    sv_transition_free(t);
    return r;
}

/* Every cable of a fabric fails once; nothing that still works changes. */
static void any_cable(const char *spec, const char *engine, unsigned vls)
{
    sv_fabric *f = test_fabric(ctx, spec);
    const sv_route_request request = {.vls = vls, .seed = 1};
    sv_routes *old = NULL;
    OK(ctx, sv_route(ctx, f, engine, &request, &old, NULL));
    uint32_t links = test_links(f);
    for (uint32_t n = 0; n < links; n++) {
        sv_fabric *left = without_cable(f, n);
        sv_repair_report *report = NULL;
        sv_routes *r = repair(f, old, left, &report);
        assert_int_equal(report->lost, 0);
        for (uint32_t d = 0; !report->full && d < r->num_destinations; d++) {
            bool used = false;
            for (uint32_t s = 0; s < r->num_switches; s++) {
                sv_channel c = sv_channel_at(f, (sv_node){s}, old->ports[d][s]);
                used |= c.i != SV_NONE && !sv_channel_alive(left, c);
            }
            assert_int_equal(old->lid[d], r->lid[d]);
            if (!used)
                assert_memory_equal(old->ports[d], r->ports[d], r->num_switches);
        }
        sv_repair_report_free(report);
        sv_routes_free(r);
        sv_fabric_free(left);
    }
    sv_routes_free(old);
    sv_fabric_free(f);
}

static void any_cable_may_fail(void **state)
{
    (void)state;
    any_cable("torus:3x3,hosts=1", "weave", 1);
    any_cable("torus:4x3,hosts=1", "weave", 2);
    any_cable("torus:4x3,hosts=1", "weave", 8);
    any_cable("kary:k=3,n=2,hosts=2", "weave", 1);
    any_cable("dragonfly:a=3,p=1,h=1,g=4", "updn", 1);
}

/* A switch fails, and the tables after that are repaired when it comes back, with its LIDs. */
static void goes_and_comes(const char *spec, unsigned vls, uint32_t stride)
{
    sv_fabric *f = test_fabric(ctx, spec);
    const sv_route_request request = {.vls = vls, .lmc = 1, .seed = 1};
    sv_routes *old = NULL;
    OK(ctx, sv_route(ctx, f, "weave", &request, &old, NULL));
    for (uint32_t s = 0; s < f->num_switches; s += stride) {
        sv_fabric *left = without_node(f, s);
        sv_repair_report *report = NULL, *again = NULL;
        sv_routes *r = repair(f, old, left, &report);
        sv_routes *back = repair(left, r, f, &again);
        assert_false(report->full || again->full);
        for (uint32_t d = 0; d < old->num_destinations; d++)
            if (sv_node_alive(left, old->node[d]))
                assert_int_equal(old->lid[d], back->lid[d]);
        assert_int_equal(again->new_lids, f->live_switches - left->live_switches +
                                              2 * (f->live_terminals - left->live_terminals));
        sv_routes_free(back);
        sv_routes_free(r);
        sv_repair_report_free(again);
        sv_repair_report_free(report);
        sv_fabric_free(left);
    }
    sv_routes_free(old);
    sv_fabric_free(f);
}

/* Tables that were made without a switch know nothing of it: its packets have no SLs yet. */
static void a_switch_is_new(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "xgft:h=2,m=2/3,w=2/2,hosts=2");
    const sv_route_request one = {.vls = 1, .seed = 1};
    for (uint32_t s = 0; s < f->num_switches; s++) {
        sv_fabric *left = without_node(f, s);
        sv_routes *old = NULL;
        sv_repair_report *report = NULL;
        OK(ctx, sv_route(ctx, left, "weave", &one, &old, NULL));
        sv_routes_free(repair(left, old, f, &report));
        sv_repair_report_free(report);
        sv_routes_free(old);
        sv_fabric_free(left);
    }
    sv_fabric_free(f);
}

static void a_switch_goes_and_comes(void **state)
{
    (void)state;
    goes_and_comes("torus:4x4,hosts=2", 0, 5);
    goes_and_comes("xgft:h=2,m=2/3,w=2/2,hosts=2", 1, 1);
}

/* Nothing happened: nothing changes. */
static void nothing_to_do(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1");
    sv_routes *old = test_routed(ctx, f, "weave", 0);
    sv_repair_report *report = NULL;
    sv_routes *r = repair(f, old, f, &report);
    assert_int_equal(report->entries + report->sls + report->blocks + report->destinations, 0);
    assert_int_equal(report->safety, SV_SAFE_ANYHOW);
    assert_false(report->orders_found);
    sv_repair_report_free(report);
    sv_routes_free(r);
    sv_routes_free(old);
    sv_fabric_free(f);
}

/* Orders that are missing or nonsense are not believed. */
static void orders_are_not_believed(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1"), *left = without_cable(f, 3);
    for (int kind = 0; kind < 3; kind++) {
        sv_routes *old = test_routed(ctx, f, "weave", 0);
        uint32_t *numbers;
        OK(ctx, sv_routes_set_orders(ctx, f, old, kind == 0 ? 0 : 8, &numbers));
        for (uint32_t i = 0; kind == 2 && i < old->order_first[f->num_switches] * 8; i++)
            numbers[i] = i * 2654435761u;
        sv_repair_report *report = NULL;
        sv_routes *r = repair(f, old, left, &report);
        assert_true(report->orders_found);
        assert_false(report->full);
        sv_repair_report_free(report);
        sv_routes_free(r);
        sv_routes_free(old);
    }
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* Tables that can deadlock, or that change VLs, are routed anew, and it is said why. */
static void no_orders_to_keep_to(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:6,hosts=1"), *left = without_cable(f, 2);
    sv_routes *old = test_routed(ctx, f, "minhop", 0);
    sv_repair_report *report = NULL;
    sv_routes *r = repair(f, old, left, &report);
    assert_true(report->full);
    assert_non_null(strstr(report->why, "can deadlock"));
    sv_repair_report_free(report);
    sv_routes_free(r);
    sv_routes_free(old);
    old = test_routed(ctx, f, "updn", 0);
    const sv_sl2vl vls = {{1, 0}};
    uint32_t table = sv_routes_sl2vl_table(ctx, old, &vls);
    OK(ctx, sv_routes_set_sl2vl(ctx, f, old, (sv_node){1}, 1, 2, table));
    r = repair(f, old, left, &report);
    assert_true(report->full);
    assert_non_null(strstr(report->why, "change VLs"));
    sv_repair_report_free(report);
    sv_routes_free(r);
    sv_routes_free(old);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* The engine that has to do everything anew may refuse, and nothing is handed out. */
static void engines_may_refuse(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:6,hosts=1"), *left = without_cable(f, 2);
    sv_routes *old = test_routed(ctx, f, "updn", 0), *r = NULL;
    sv_repair_report *report = NULL;
    const sv_repair_request request = {.engine = "nobody", .full = true};
    FAILS(ctx, sv_repair(ctx, f, old, left, &request, &r, &report), SV_BAD_INPUT, "nobody");
    assert_true(r == NULL && report == NULL);
    sv_routes_free(old);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

/* An order of a single VL that leaves no way is changed instead of everything. */
static void orders_change_if_they_must(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4x3,hosts=2");
    const sv_route_request one = {.vls = 1, .seed = 1};
    sv_routes *old = NULL;
    uint64_t changed = 0, full = 0;
    OK(ctx, sv_route(ctx, f, "weave", &one, &old, NULL));
    for (uint32_t n = 0; n < test_times(40); n++) {
        sv_fabric *left = without_cable(f, n);
        sv_repair_report *report = NULL;
        sv_routes *r = repair(f, old, left, &report);
        changed += report->reordered > 0;
        full += report->full;
        sv_repair_report_free(report);
        sv_routes_free(r);
        sv_fabric_free(left);
    }
    assert_true(changed > 0 || !test_enough());
    assert_true(full <= 10); /* a single VL may have no other order, either */
    sv_routes_free(old);
    sv_fabric_free(f);
}

/* Cables that lead elsewhere now, from the same ports: the nodes are the same, nothing else is. */
static void everything_is_cabled_anew(void **state)
{
    (void)state;
    const char *const pairs[][2] = {{"torus:4x4x3,hosts=4", "torus:6x5x4,hosts=4"},
                                    {"torus:6x5x4,hosts=4", "torus:4x4x3,hosts=4"},
                                    {"torus:4x4,hosts=1", "hypercube:4,hosts=1"},
                                    {"torus:8,hosts=2", "random:switches=8,links=14,total=16"}};
    for (int i = 0; i < 4; i++) {
        sv_fabric *f = test_fabric(ctx, pairs[i][0]), *g = test_fabric(ctx, pairs[i][1]);
        sv_routes *old = test_routed(ctx, f, "updn", 0);
        sv_repair_report *report = NULL;
        sv_routes_free(repair(f, old, g, &report));
        sv_repair_report_free(report);
        sv_routes_free(old);
        sv_fabric_free(g);
        sv_fabric_free(f);
    }
}

/* ---- orders as tables and files keep them ---- */

static void same_orders(const sv_routes *a, const sv_routes *b)
{
    assert_int_equal(a->order_vls, b->order_vls);
    assert_int_equal(a->order_first[a->num_switches], b->order_first[b->num_switches]);
    assert_memory_equal(a->orders, b->orders,
                        (size_t)a->order_first[a->num_switches] * a->order_vls * 4);
}

static void files_keep_orders(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x3,hosts=1");
    sv_routes *old = test_routed(ctx, f, "weave", 0);
    char directory[] = "/tmp/selvage-orders-XXXXXX", file[64], command[128];
    assert_non_null(mkdtemp(directory));
    assert_non_null(old->orders);
    snprintf(file, sizeof file, "%s/t.svr", directory);
    const char *paths[] = {directory, file};
    for (int i = 0; i < 2; i++) {
        sv_fabric *g = NULL;
        sv_routes *r = NULL;
        OK(ctx, sv_dump_write(ctx, f, old, paths[i]));
        OK(ctx, sv_dump_read(ctx, paths[i], &g, &r));
        assert_non_null(r->orders);
        same_orders(old, r);
        sv_routes_free(r);
        sv_fabric_free(g);
    }
    /* Tables without orders leave none of others behind. */
    snprintf(file, sizeof file, "%s/selvage.orders", directory);
    assert_int_equal(access(file, F_OK), 0);
    OK(ctx, sv_routes_set_orders(ctx, f, old, 0, NULL));
    OK(ctx, sv_dump_write(ctx, f, old, directory));
    assert_int_not_equal(access(file, F_OK), 0);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    sv_routes_free(old);
    sv_fabric_free(f);
}

/* A clone shares orders; other numbers for the one are not the other's. */
static void clones_share_orders(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5,hosts=1");
    sv_routes *old = test_routed(ctx, f, "weave", 0), *clone = NULL;
    uint32_t *numbers;
    OK(ctx, sv_routes_clone(ctx, old, &clone));
    assert_ptr_equal(old->orders, clone->orders);
    OK(ctx, sv_routes_set_orders(ctx, f, clone, 2, &numbers));
    assert_ptr_equal(numbers, clone->orders);
    assert_int_equal(numbers[0], SV_NONE);
    assert_ptr_not_equal(old->orders, clone->orders);
    sv_routes_free(old);
    assert_int_equal(clone->orders[1], SV_NONE);
    sv_routes_free(clone);
    sv_fabric_free(f);
}

/* LIDs that somebody had are not given to others. */
static void new_lids_were_nobodys(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4,hosts=1");
    sv_routes *old = test_routed(ctx, f, "updn", 0), *r = NULL;
    OK(ctx, sv_routes_clone(ctx, old, &r));
    uint16_t gone = old->lid[2];
    r->lid[2] = 0;
    OK(ctx, sv_routes_add_lids(ctx, f, r, old));
    assert_int_not_equal(r->lid[2], gone);
    for (uint32_t d = 0; d < old->num_destinations; d++)
        assert_true(d == 2 ? r->lid[d] != 0 : r->lid[d] == old->lid[d]);
    r->lid[2] = 0;
    OK(ctx, sv_routes_add_lids(ctx, f, r, NULL));
    assert_int_equal(r->lid[2], gone);
    sv_routes_free(r);
    sv_routes_free(old);
    sv_fabric_free(f);
}

/*
 * Two repairs: a cable is gone, then a terminal comes back to a switch that had none. It takes
 * paths that nobody took before, and that the first repair had not looked at.
 */
static void test_new_terminals(void **state)
{
    (void)state;
    const sv_route_request how = {.vls = 8, .seed = 1};
    const sv_repair_request request = {
        .engine = "weave", .traffic = SV_TRAFFIC_MANAGED, .route = &how};
    sv_fabric *whole = test_fabric(ctx, "torus:4x4x3,hosts=1");
    for (uint32_t i = 0; i < test_times(40); i++) {
        sv_fabric *first = without_node(whole, whole->num_switches + i % whole->num_terminals);
        sv_fabric *second = without_cable(first, 7 * i % test_links(first));
        sv_fabric *third = without_cable(whole, 7 * i % test_links(first));
        sv_routes *r[3] = {NULL};
        sv_repair_report *report[2] = {NULL};
        OK(ctx, sv_route(ctx, first, "weave", &how, &r[0], NULL));
        OK(ctx, sv_repair(ctx, first, r[0], second, &request, &r[1], &report[0]));
        OK(ctx, sv_repair(ctx, second, r[1], third, &request, &r[2], &report[1]));
        judge(third, r[2]);
        for (int k = 0; k < 2; k++) {
            assert_null(strstr(report[k]->why, "did not hold"));
            sv_repair_report_free(report[k]);
        }
        for (int k = 0; k < 3; k++)
            sv_routes_free(r[k]);
        sv_fabric_free(third);
        sv_fabric_free(second);
        sv_fabric_free(first);
    }
    sv_fabric_free(whole);
}

/* Who only wants tables need not take the report: the same tables, and nothing is lost (LSan). */
static void a_report_may_be_unwanted(void **state)
{
    (void)state;
    const sv_repair_request request = {.engine = "weave", .traffic = SV_TRAFFIC_MANAGED};
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=1"), *left = without_cable(f, 3);
    sv_routes *old = NULL, *with = NULL, *without = NULL;
    sv_repair_report *report = NULL;
    OK(ctx, sv_route(ctx, f, "weave", NULL, &old, NULL));
    OK(ctx, sv_repair(ctx, f, old, left, &request, &with, &report));
    OK(ctx, sv_repair(ctx, f, old, left, &request, &without, NULL));
    uint64_t entries = 0;
    for (uint32_t d = 0; d < with->num_destinations; d++)
        for (uint32_t s = 0; s < left->num_switches; s++)
            entries +=
                sv_route_port(with, (sv_node){s}, d) != sv_route_port(without, (sv_node){s}, d);
    assert_int_equal(entries, 0);
    sv_repair_report_free(report);
    sv_routes_free(without);
    sv_routes_free(with);
    sv_routes_free(old);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_terminals),         cmocka_unit_test(any_cable_may_fail),
        cmocka_unit_test(a_switch_goes_and_comes),    cmocka_unit_test(a_switch_is_new),
        cmocka_unit_test(everything_is_cabled_anew),  cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(orders_are_not_believed),    cmocka_unit_test(no_orders_to_keep_to),
        cmocka_unit_test(engines_may_refuse),         cmocka_unit_test(files_keep_orders),
        cmocka_unit_test(clones_share_orders),        cmocka_unit_test(new_lids_were_nobodys),
        cmocka_unit_test(orders_change_if_they_must), cmocka_unit_test(a_report_may_be_unwanted)};
    return cmocka_run_group_tests(tests, begin, end);
}
