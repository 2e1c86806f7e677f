/*
 * test_live_five.c: two sets of routes from sweep to sweep, and base entries that wait: what is
 * handed over when, after a change of jobs, after failures, and if another change comes before.
 */
#define _DEFAULT_SOURCE
#include <selvage/experimental/update.h>
#include <stdlib.h>

#include "support/living.h"

enum { VLS = 4 };
static const char torus[] = "torus:4x4,hosts=2";

static sv_live_options fives(void)
{
    sv_live_options options = defaults();
    options.update = SV_LIVE_FIVE;
    options.route.lmc = 1;
    options.route.vls = VLS;
    return options;
}

static sv_fabric *torus_without(const char *what)
{
    return found_with(torus, what, 1);
}

static bool is_high(const sv_routes *r, uint32_t d)
{
    return d != r->first[r->node[d].i];
}

/* Whether the rows of base (or high) addresses are the same. */
static bool same_rows(const sv_routes *a, const sv_routes *b, bool high)
{
    assert_int_equal(a->num_destinations, b->num_destinations);
    for (uint32_t d = 0; d < a->num_destinations; d++)
        if (is_high(a, d) == high && memcmp(a->ports[d], b->ports[d], a->num_switches) != 0)
            return false;
    return true;
}

/* Packets to high addresses arrive, from everywhere, on the last VL; base ones are never on it.
 */
static void expect_sets(const sv_fabric *f, const sv_routes *r, bool base_too)
{
    assert_int_equal(r->lmc, 1);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
            sv_hop_taken hops[64];
            uint32_t count;
            sv_node at;
            unsigned sl = sv_route_sl(r, (sv_node){v}, d);
            if (v == r->node[d].i || !sv_node_alive(f, (sv_node){v}) ||
                (!is_high(r, d) && !base_too))
                continue;
            assert_int_equal(sv_routes_trace(f, r, (sv_node){v}, d, sl, hops, 64, &count, &at),
                             SV_TRACE_ARRIVED);
            for (uint32_t i = 0; i < count; i++)
                assert_true((hops[i].vl == VLS - 1) == is_high(r, d));
        }
}

/* A job map in a file, or none. */
static void run_jobs(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static sv_routes *copy_of(const sv_routes *r)
{
    sv_routes *copy = NULL;
    OK(ctx, sv_routes_clone(ctx, r, &copy));
    return copy;
}

static void test_two_sets(void **state)
{
    (void)state;
    sv_live_options options = fives();
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, torus_without(NULL), SV_LIVE_UNKNOWN);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_true(r.whole);
    assert_int_equal(r.vls, VLS);
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
    assert_ptr_equal(sv_live_held(live), sv_live_routes(live));
    expect_sets(sv_live_fabric(live), sv_live_routes(live), true);
    const sv_fabric *f = sv_live_fabric(live);
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        uint32_t d = sv_live_routes(live)->first[f->num_switches + t];
        assert_int_equal(sv_live_routes(live)->lid[d], f->terminals[t].lid);
        assert_int_equal(sv_live_routes(live)->lid[d + 1], f->terminals[t].lid + 1);
    }
    sv_live_free(live);
}

/* Base entries wait for everybody to leave; high ones stay. */
static void test_jobs_wait(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    run_jobs(path, "");
    sv_live_options options = fives();
    options.jobs_path = path;
    options.engine = "sar";
    sv_live *live = start(&options);
    sweep(live, torus_without(NULL), 0);
    sv_routes *old = copy_of(sv_live_routes(live));
    const sv_fabric *f = sv_live_fabric(live);
    char text[400];
    snprintf(text, sizeof text, "%s 1\n%s 1\n%s 1\n", sv_node_name(f, (sv_node){16}),
             sv_node_name(f, (sv_node){31}), sv_node_name(f, (sv_node){40}));
    run_jobs(path, text);
    sv_live_report r = sweep(live, torus_without(NULL), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_false(same_rows(old, sv_live_routes(live), false));
    assert_true(same_rows(old, sv_live_routes(live), true));
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_OPEN);
    OK(ctx, sv_live_pass(live));
    assert_true(same_rows(old, sv_live_held(live), false));
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_LEFT);
    assert_false(sv_live_broken(live));
    r = sweep(live, torus_without(NULL), 0); /* a sweep in between changes nothing */
    assert_int_equal(r.how, SV_LIVE_SAME);
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_LEFT);
    assert_true(same_rows(old, sv_live_held(live), false));
    expect_sets(sv_live_fabric(live), sv_live_held(live), true);
    OK(ctx, sv_live_pass(live));
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
    assert_ptr_equal(sv_live_held(live), sv_live_routes(live));
    sv_routes_free(old);
    sv_live_free(live);
    unlink(path);
}

/*
 * A manager that ends while base entries wait, and starts again: they wait again, for whoever is on
 * base addresses does not know of it. One that ends after that changes nothing.
 */
static void test_starts_again(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX", kept[] = "/tmp/selvage-test-XXXXXX.svr";
    close(mkstemp(path));
    close(mkstemps(kept, 4));
    unlink(kept);
    run_jobs(path, "");
    sv_live_options options = fives();
    options.jobs_path = path;
    options.state_path = kept;
    options.engine = "sar";
    sv_live *first = start(&options);
    sweep(first, torus_without(NULL), SV_LIVE_UNKNOWN);
    sv_routes *old = copy_of(sv_live_routes(first));
    const sv_fabric *f = sv_live_fabric(first);
    char text[400];
    snprintf(text, sizeof text, "%s 1\n%s 1\n%s 1\n", sv_node_name(f, (sv_node){16}),
             sv_node_name(f, (sv_node){31}), sv_node_name(f, (sv_node){40}));
    run_jobs(path, text);
    sweep(first, torus_without(NULL), 0);
    OK(ctx, sv_live_pass(first));
    assert_int_equal(sv_live_next(first), SV_LIVE_GATE_LEFT);
    for (int times = 0; times < 2; times++) { /* so does the next, and that after it */
        sv_live *live = start(&options);
        sweep(live, torus_without(NULL), SV_LIVE_UNKNOWN);
        assert_int_equal(sv_live_next(live), SV_LIVE_GATE_OPEN);
        OK(ctx, sv_live_pass(live));
        assert_int_equal(sv_live_next(live), SV_LIVE_GATE_LEFT);
        assert_true(same_rows(old, sv_live_held(live), false));
        assert_false(same_rows(old, sv_live_routes(live), false));
        assert_true(sv_live_held_proven(live));
        if (times == 1)
            OK(ctx, sv_live_pass(live));
        sv_live_free(live);
    }
    sv_live *last = start(&options);
    sweep(last, torus_without(NULL), SV_LIVE_UNKNOWN);
    while (sv_live_next(last) == SV_LIVE_GATE_OPEN)
        OK(ctx, sv_live_pass(last));
    assert_int_equal(sv_live_next(last), SV_LIVE_GATE_NONE);
    assert_true(same_rows(sv_live_routes(first), sv_live_routes(last), false));
    sv_live_free(last);
    sv_routes_free(old);
    sv_live_free(first);
    unlink(path);
    unlink(kept);
    char key[64];
    snprintf(key, sizeof key, "%s.jobs", kept);
    unlink(key);
}

/* High entries are mended at once, base ones wait, though they are broken. */
static void test_failures(void **state)
{
    (void)state;
    sv_live_options options = fives();
    sv_live *live = start(&options);
    sweep(live, torus_without(NULL), 0);
    sv_routes *old = copy_of(sv_live_routes(live));
    sv_live_report r = sweep(live, torus_without("cable 3"), 0);
    assert_int_equal(r.how, SV_LIVE_REPAIRED);
    assert_true(sv_live_broken(live));
    OK(ctx, sv_live_pass(live));
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_LEFT);
    assert_true(same_rows(old, sv_live_held(live), false));
    assert_true(sv_live_held_proven(live));
    assert_true(same_rows(sv_live_routes(live), sv_live_held(live), true));
    expect_sets(sv_live_fabric(live), sv_live_held(live), false);
    expect_sets(sv_live_fabric(live), sv_live_routes(live), true);

    sweep(live, torus_without("cable 9"), 0); /* another, before anybody has left */
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_OPEN);
    OK(ctx, sv_live_pass(live));
    assert_true(same_rows(old, sv_live_held(live), false));
    expect_sets(sv_live_fabric(live), sv_live_held(live), false);

    r = sweep(live, torus_without(NULL), 0); /* all is well again: nobody has to leave */
    assert_int_equal(r.how, SV_LIVE_RETURNED);
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_OPEN);
    OK(ctx, sv_live_pass(live));
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
    assert_true(same_rows(old, sv_live_held(live), false));
    sv_routes_free(old);
    sv_live_free(live);
}

/* Tables of before are the very same when the fabric is, whatever room multicast needs. */
static void test_return(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:4x4,hosts=1", "torus:5x5,hosts=1", "kautz:d=2,k=3",
                                        "random:switches=12,links=30,total=24"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_live_options options = fives();
        sv_live *live = start(&options);
        sweep(live, found_with(specs[i], NULL, 1), 0);
        sv_routes *old = copy_of(sv_live_routes(live));
        sweep(live, found_with(specs[i], "cable 2", 1), 0);
        OK(ctx, sv_live_pass(live));
        if (sv_live_next(live) != SV_LIVE_GATE_NONE)
            OK(ctx, sv_live_pass(live));
        sv_live_report r = sweep(live, found_with(specs[i], NULL, 1), 0);
        assert_int_equal(r.how, SV_LIVE_RETURNED);
        assert_true(same_rows(old, sv_live_routes(live), false));
        assert_true(same_rows(old, sv_live_routes(live), true));
        expect_sets(sv_live_fabric(live), sv_live_routes(live), true);
        sv_routes_free(old);
        sv_live_free(live);
    }
}

static void ports_of_all(sv_live *live, unsigned sl, uint64_t (*ports)[4])
{
    const sv_fabric *f = sv_live_fabric(live);
    sv_node *members = calloc(f->num_terminals, sizeof *members);
    assert_non_null(members);
    for (uint32_t t = 0; t < f->num_terminals; t++)
        members[t] = (sv_node){f->num_switches + t};
    OK(ctx, sv_live_group(live, sl, members, f->num_terminals, ports));
    free(members);
}

/* Trees stay as long as what is held does, if they join everybody; and are proven with it. */
static void test_trees(void **state)
{
    (void)state;
    uint64_t before[16][4], now[16][4];
    sv_live_options options = fives();
    options.no_repair = true; /* all is routed anew: new trees */
    sv_live *live = start(&options);
    sweep(live, torus_without(NULL), 0);
    ports_of_all(live, 0, before);
    for (int cable = 0; cable < 32; cable++) {
        char what[20];
        snprintf(what, sizeof what, "cable %d", cable);
        sweep(live, torus_without(what), 0);
        OK(ctx, sv_live_pass(live));
        assert_true(sv_live_held_proven(live));
        ports_of_all(live, 0, now);
        ports_of_all(live, 1, now); /* an SL that no group had before */
        assert_true(sv_live_held_proven(live));
        sweep(live, torus_without(NULL), 0);
        OK(ctx, sv_live_pass(live));
    }
    sweep(live, torus_without("cable 5"), 0);
    ports_of_all(live, 0, before); /* before the gate: what was before still holds */
    OK(ctx, sv_live_pass(live));
    ports_of_all(live, 0, now);
    assert_memory_equal(before, now, sizeof now);
    sv_live_free(live);
}

/* Whoever was not there before gets entries at once; who was waits. */
static void test_newcomers(void **state)
{
    (void)state;
    sv_live_options options = fives();
    sv_live *live = start(&options);
    sv_fabric *whole = torus_without(NULL);
    uint64_t guid = whole->terminals[7].guid;
    sv_fabric_free(whole);
    sweep(live, torus_without("node 23"), 0); /* terminal 7 */
    sweep(live, torus_without(NULL), 0);
    OK(ctx, sv_live_pass(live));
    const sv_fabric *f = sv_live_fabric(live);
    const sv_routes *held = sv_live_held(live);
    uint32_t seen = 0;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        for (uint32_t s = 0; s < f->num_switches && f->terminals[t].guid == guid; s++, seen++)
            assert_int_not_equal(held->ports[held->first[f->num_switches + t]][s], SV_NO_PORT);
    assert_int_equal(seen, f->num_switches);
    sv_live_free(live);
}

/* Somebody else was in charge: nothing is held back, since nobody knows what there is. */
static void test_unknown(void **state)
{
    (void)state;
    sv_live_options options = fives();
    sv_live *live = start(&options);
    sweep(live, torus_without(NULL), 0);
    sweep(live, torus_without("cable 3"), SV_LIVE_UNKNOWN);
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
    OK(ctx, sv_live_pass(live)); /* no harm */
    assert_ptr_equal(sv_live_held(live), sv_live_routes(live));
    sv_live_free(live);
}

static void test_at_once(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    assert_null(sv_live_held(live));
    sweep(live, found(torus, NULL), 0);
    sweep(live, found(torus, "cable 3"), 0);
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
    assert_ptr_equal(sv_live_held(live), sv_live_routes(live));
    assert_false(sv_live_broken(live));
    sv_live_free(live);
}

static void test_refusals(void **state)
{
    (void)state;
    sv_live_options options = fives();
    sv_live *live = NULL;
    sv_live_report r;
    options.route.lmc = 0;
    assert_int_equal(sv_live_new(NULL, &options, &live, message, sizeof message), SV_BAD_INPUT);
    assert_non_null(strstr(message, "LMC 1"));
    options = fives();
    options.route.vls = 1;
    live = start(&options);
    assert_int_equal(sv_live_sweep(live, torus_without(NULL), 0, &r), SV_INFEASIBLE);
    assert_non_null(strstr(r.problem, "two VLs"));
    sv_live_free(live);
}

/* Tables of the state file have both sets; a repair starts from their base. */
static void test_restart(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX.svr";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    sv_live_options options = fives();
    options.state_path = path;
    sv_live *before = start(&options);
    sweep(before, torus_without(NULL), 0);
    const sv_routes *old = sv_live_routes(before);
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, torus_without(NULL), SV_LIVE_UNKNOWN);
    assert_int_equal(r.how, SV_LIVE_RETURNED);
    assert_true(same_rows(old, sv_live_held(live), false));
    assert_true(same_rows(old, sv_live_held(live), true));
    r = sweep(live, torus_without("cable 3"), 0);
    assert_int_equal(r.how, SV_LIVE_REPAIRED);
    expect_sets(sv_live_fabric(live), sv_live_routes(live), true);
    sv_live_free(live);
    sv_live_free(before);
    unlink(path);
}

/* Tables with two addresses a terminal that are no two sets: they are not used. */
static void test_other_tables(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX.svr";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    sv_live_options options = fives();
    options.state_path = path;
    options.update = SV_LIVE_AT_ONCE;
    sv_live *live = start(&options);
    assert_int_equal(sweep(live, torus_without(NULL), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
    options.update = SV_LIVE_FIVE;
    live = start(&options);
    sv_live_report r = sweep(live, torus_without(NULL), SV_LIVE_UNKNOWN);
    assert_int_not_equal(r.how, SV_LIVE_RETURNED);
    assert_non_null(strstr(r.problem, "last VL"));
    expect_sets(sv_live_fabric(live), sv_live_routes(live), true);
    sv_live_free(live);
    unlink(path);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t fail_at = 0;
    bool failed = true;
    while (failed) {
        test_memory memory = {.fail_at = ++fail_at};
        sv_host host = test_host(&memory);
        sv_live_options options = fives();
        sv_live *live = NULL;
        sv_live_report r;
        if (sv_live_new(&host, &options, &live, message, sizeof message) == SV_OK) {
            const char *const without[] = {NULL, "cable 3", "node 4", NULL};
            for (int i = 0; i < 4; i++) {
                (void)!sv_live_sweep(live, found_with("torus:3x3,hosts=1", without[i], 1), 0, &r);
                (void)!sv_live_pass(live);
                if (sv_live_held(live) != NULL)
                    OK(ctx, sv_routes_check(ctx, sv_live_fabric(live), sv_live_held(live)));
                if (i == 2)
                    (void)!sv_live_pass(live);
            }
        }
        sv_live_free(live);
        assert_int_equal(memory.blocks, 0);
        failed = memory.count >= fail_at;
        if (fail_at > 100) /* the first ones all, then fewer and fewer */
            fail_at += fail_at / 8;
    }
    assert_true(fail_at > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sets),     cmocka_unit_test(test_jobs_wait),
        cmocka_unit_test(test_starts_again), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_return),       cmocka_unit_test(test_trees),
        cmocka_unit_test(test_newcomers),    cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_at_once),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_restart),      cmocka_unit_test(test_other_tables),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
