/*
 * test_live_steps.c: tables reach switches step by step where all at once could do harm: every
 * table that is handed over is judged from outside, and so is every step between two of them.
 */
#define _DEFAULT_SOURCE
#include <selvage/experimental/update.h>
#include <selvage/formats.h>
#include <stdio.h>
#include <string.h>

#include "support/living.h"
#include "support/trials.h"

static sv_live_options steps(void)
{
    sv_live_options options = defaults();
    options.update = SV_LIVE_STEPS;
    return options;
}

static sv_routes *copy_of(const sv_routes *r)
{
    sv_routes *copy = NULL;
    OK(ctx, sv_routes_clone(ctx, r, &copy));
    return copy;
}

/* A step: connections may hold what they were told before any of them (old's SLs), or are told now.
 */
static void judge_step(const sv_fabric *f, const sv_routes *old, const sv_routes *now,
                       const sv_routes *then)
{
    sv_routes *held = copy_of(now);
    sv_transition *t = NULL;
    if (old->sl_form == SV_SL_BY_SWITCH || old->sl_form == SV_SL_BY_NODE) {
        OK(ctx, sv_routes_set_sl_form(ctx, held, old->sl_form));
        uint32_t length = old->sl_form == SV_SL_BY_SWITCH ? f->num_switches : sv_num_nodes(f);
        for (uint32_t d = 0; d < old->num_destinations; d++) {
            uint8_t *row = sv_routes_sl_row(ctx, held, d);
            for (uint32_t v = 0; v < length; v++)
                row[v] = old->sls[d][v] != SV_NO_SL ? old->sls[d][v]
                                                    : (uint8_t)sv_route_sl(then, (sv_node){v}, d);
        }
    }
    OK(ctx, sv_verify_transition(ctx, f, held, then, SV_TRAFFIC_MANAGED, &t));
    if (!sv_transition_safe(t))
        fail_msg("a step is not safe: %llu circles, %llu stranded (%llu were), %llu strays, "
                 "deadlock-free %d",
                 (unsigned long long)t->looping, (unsigned long long)t->dead_ends,
                 (unsigned long long)t->broken, (unsigned long long)t->strays,
                 (int)t->deadlock_free);
    sv_transition_free(t);
    sv_routes_free(held);
}

/* Hands over what is held back, as a subnet manager would, one step a sweep; returns how many. */
static uint32_t hand_over(sv_live *live, const sv_routes *old)
{
    uint32_t done, count, passed = 0;
    bool settle;
    sv_routes *now = copy_of(old);
    while (sv_live_next(live) != SV_LIVE_GATE_NONE) {
        sv_live_steps(live, &done, &count, &settle);
        assert_int_equal(done, passed);
        assert_int_equal(sv_live_next(live),
                         passed == 0 ? SV_LIVE_GATE_OPEN : SV_LIVE_GATE_CONFIRMED);
        OK(ctx, sv_live_pass(live));
        judge_step(sv_live_fabric(live), old, now, sv_live_held(live));
        sv_routes_free(now);
        now = copy_of(sv_live_held(live));
        passed++;
    }
    assert_ptr_equal(sv_live_held(live), sv_live_routes(live));
    sv_routes_free(now);
    return passed;
}

/* Old tables in the numbers of the fabric of now. */
static sv_routes *carried(const sv_fabric *from, const sv_routes *r, const sv_live *live)
{
    const sv_fabric *to = sv_live_fabric(live);
    sv_match *match = NULL;
    sv_routes *made = NULL;
    OK(ctx, sv_match_new(ctx, from, to, SV_MATCH_GUID, &match));
    OK(ctx, sv_routes_remap(ctx, from, r, to, match, &made));
    memcpy(made->lid, sv_live_routes(live)->lid, made->num_destinations * sizeof *made->lid);
    sv_match_free(match);
    return made;
}

/* Failures on a tree: all at once would make packets circle; step by step it does not. */
static void test_failures(void **state)
{
    (void)state;
    uint32_t several = 0;
    for (uint32_t cable = 0; cable < 24; cable++) {
        sv_live_options options = steps();
        char without[20];
        snprintf(without, sizeof without, "cable %u", cable);
        sv_live *live = start(&options);
        sweep(live, found("kary:k=4,n=2", NULL), 0);
        sv_fabric *before = found("kary:k=4,n=2", NULL);
        sv_routes *old = copy_of(sv_live_routes(live));
        sv_live_report r = sweep(live, found("kary:k=4,n=2", without), 0);
        assert_true(r.whole);
        if (sv_live_next(live) != SV_LIVE_GATE_NONE) {
            sv_routes *was = carried(before, old, live);
            assert_true(r.passage == SV_PASSAGE_STEPS);
            uint32_t passed = hand_over(live, was);
            assert_int_equal(passed, r.steps);
            several += passed > 1;
            sv_routes_free(was);
        }
        sv_routes_free(old);
        sv_fabric_free(before);
        sv_live_free(live);
    }
    if (getenv("SELVAGE_VERBOSE") != NULL)
        printf("%u failures took several steps\n", several);
    assert_true(several > 0);
}

static void run_jobs(const char *path, const sv_fabric *f, unsigned seed)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t t = 0; f != NULL && t < f->num_terminals; t++)
        fprintf(file, "%s %u\n", sv_node_name(f, (sv_node){f->num_switches + t}),
                (t * 7 + seed * 5) % 3);
    fclose(file);
}

/* Other jobs on a torus: there is no safe order for all of it, so a part of it is taken. */
static void test_jobs(void **state)
{
    (void)state;
    uint32_t parts = 0, wholes = 0;
    for (unsigned seed = 1; seed < 9; seed++) {
        char path[] = "/tmp/selvage-test-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
        run_jobs(path, NULL, 0);
        sv_live_options options = steps();
        options.jobs_path = path;
        options.route.vls = 1 + seed % 2;
        sv_live *live = start(&options);
        sweep(live, found("torus:4x4,hosts=2", NULL), 0);
        sv_routes *old = copy_of(sv_live_routes(live));
        run_jobs(path, sv_live_fabric(live), seed);
        sv_live_report r = sweep(live, found("torus:4x4,hosts=2", NULL), 0);
        if (getenv("SELVAGE_VERBOSE") != NULL)
            printf("%s, %s, %u steps %s\n", sv_live_how_name(r.how), sv_passage_name(r.passage),
                   r.steps, r.note);
        if (sv_live_next(live) != SV_LIVE_GATE_NONE) {

            bool part = strstr(r.note, "stay as they are") != NULL;
            parts += part;
            wholes += !part;
            hand_over(live, old);
        }
        /* The same again: nothing changes any more. */
        r = sweep(live, found("torus:4x4,hosts=2", NULL), 0);
        assert_int_equal(r.how, SV_LIVE_SAME);
        assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
        sv_routes_free(old);
        sv_live_free(live);
        unlink(path);
    }
    if (getenv("SELVAGE_VERBOSE") != NULL)
        printf("%u parts, %u wholes\n", parts, wholes);
    assert_true(parts > 0);
}

static uint64_t count_different(const sv_routes *a, const sv_routes *b)
{
    uint64_t count = 0;
    for (uint32_t d = 0; d < a->num_destinations; d++)
        count += memcmp(a->ports[d], b->ports[d], a->num_switches) != 0;
    return count;
}

/* Whether what is held is safe together with the whole tree of an SL. */
static bool is_safe_with(sv_live *live, unsigned sl)
{
    sv_routes *whole = copy_of(sv_live_held(live));
    sv_verification *v = NULL;
    OK(ctx, sv_mtree_add_all(ctx, live->used.trees[sl], sv_live_fabric(live), whole, 0xc000 + sl));
    OK(ctx, sv_verify(ctx, sv_live_fabric(live), whole, NULL, &v));
    bool safe = v->loops == 0 && v->together[SV_TRAFFIC_MANAGED] == SV_VERDICT_YES &&
                v->multicast == SV_VERDICT_YES;
    sv_verification_free(v);
    sv_routes_free(whole);
    return safe;
}

/* Groups that come while steps are under way have trees that are safe with what is held, or none.
 */
static void test_groups(void **state)
{
    (void)state;
    static const char *const specs[] = {"kary:k=4,n=2,hosts=4", "torus:4x4,hosts=2",
                                        "mesh:4x4,hosts=1"};
    uint32_t trees = 0, refused = 0, seen = 0;
    for (unsigned i = 0; i < 3 * 24 * 2; i++) {
        if (!test_takes(&seen))
            continue;
        const char *spec = specs[i % 3];
        sv_live_options options = steps();
        options.route.vls = 2 + i / 72;
        char without[20];
        snprintf(without, sizeof without, "cable %u", i / 3 % 24);
        sv_live *live = start(&options);
        sweep(live, found(spec, without), 0);
        sweep(live, found(spec, i < 36 ? NULL : "cable 1"), 0);
        uint64_t(*ports)[4] = calloc(sv_live_fabric(live)->num_switches, sizeof *ports);
        const sv_node members[2] = {{sv_live_fabric(live)->num_switches},
                                    {sv_live_fabric(live)->num_switches + 5}};
        for (unsigned sl = 1; sv_live_next(live) != SV_LIVE_GATE_NONE; sl++) {
            OK(ctx, sv_live_pass(live));
            if (sv_live_next(live) == SV_LIVE_GATE_NONE || sl >= SV_HARDWARE_SLS)
                continue;
            sv_status status = sv_live_group(live, sl, members, 2, ports);
            if (status != SV_OK && status != SV_INFEASIBLE)
                fail_msg("%s: SL %u: %s", spec, sl, sv_live_message(live));
            trees += status == SV_OK;
            refused += status != SV_OK;
            for (unsigned tree = 1; tree <= sl; tree++)
                assert_true(live->used.trees[tree] == NULL || is_safe_with(live, tree));
        }
        free(ports);
        sv_live_free(live);
    }
    if (getenv("SELVAGE_VERBOSE") != NULL)
        printf("%u trees, %u refused\n", trees, refused);
    assert_true(trees > 0);
}

/* Who asks whether paths are broken hears of what switches hold, not of what they will. */
static void test_broken_meanwhile(void **state)
{
    (void)state;
    const char *spec = "kary:k=4,n=3,hosts=4";
    uint32_t broken = 0;
    for (uint32_t cable = 0; cable < 128; cable += 20) {
        sv_live_options options = steps();
        options.engine = "ftree";
        char without[20];
        snprintf(without, sizeof without, "cable %u", cable);
        sv_live *live = start(&options);
        sweep(live, found(spec, NULL), 0);
        sweep(live, found(spec, without), 0);
        while (sv_live_next(live) != SV_LIVE_GATE_NONE) {
            OK(ctx, sv_live_pass(live));
            sv_verification *v = NULL;
            OK(ctx, sv_verify(ctx, sv_live_fabric(live), sv_live_held(live), NULL, &v));
            bool lost = v->unreachable[SV_PAIRS_TERMINAL_TERMINAL] > 0;
            assert_true(!lost || sv_live_broken(live));
            broken += lost;
            sv_verification_free(v);
        }
        assert_false(sv_live_broken(live));
        sv_live_free(live);
    }
    assert_true(broken > 0);
}

/* Changes that come faster than steps do not keep what is broken from being mended. */
static void test_mended_in_the_end(void **state)
{
    (void)state;
    const char *spec = "kary:k=4,n=3,hosts=4";
    uint32_t again = 0;
    for (uint32_t cable = 0; cable < 128; cable += 20) {
        sv_live_options options = steps();
        options.engine = "ftree";
        char without[20];
        snprintf(without, sizeof without, "cable %u", cable);
        sv_live *live = start(&options);
        sweep(live, found(spec, NULL), 0);
        sweep(live, found(spec, without), 0);
        OK(ctx, sv_live_pass(live));
        if (sv_live_broken(live)) {
            sweep(live, found(spec, without), SV_LIVE_ANEW);
            OK(ctx, sv_live_pass(live));
            assert_false(sv_live_broken(live));
            again++;
        }
        sv_live_free(live);
    }
    assert_true(again > 0);
}

static void pass_all(sv_live *live)
{
    while (sv_live_next(live) != SV_LIVE_GATE_NONE)
        OK(ctx, sv_live_pass(live));
}

/* Tables of before come back whole, however often: a part of them would be yet others each time. */
static void test_returned(void **state)
{
    (void)state;
    const char *spec = "torus:4x4,hosts=2";
    sv_live_options options = steps();
    options.route.vls = 2;
    options.drift_percent = 50;
    sv_live *live = start(&options);
    sweep(live, found(spec, NULL), 0);
    sv_routes *first = copy_of(sv_live_routes(live));
    for (unsigned cable = 0; cable < 24; cable++) {
        char without[20];
        snprintf(without, sizeof without, "cable %u", cable);
        sweep(live, found(spec, without), 0);
        pass_all(live);
        sv_live_report r = sweep(live, found(spec, NULL), 0);
        pass_all(live);
        assert_int_equal(r.how, SV_LIVE_RETURNED);
        assert_int_equal(count_different(first, sv_live_routes(live)), 0);
    }
    sv_routes_free(first);
    sv_live_free(live);
}

/* Somebody who asks for all to be routed anew gets all of it; so does whoever pins tables. */
static void test_all_that_was_asked_for(void **state)
{
    (void)state;
    const char *spec = "torus:4x4,hosts=2";
    char path[] = "/tmp/selvage-test-XXXXXX", pin[] = "/tmp/selvage-test-XXXXXX.svr";
    close(mkstemp(path));
    close(mkstemps(pin, 4));
    uint32_t parts = 0;
    for (unsigned seed = 1; seed < 9; seed++) {
        sv_live_options options = steps();
        options.jobs_path = path;
        options.route.vls = 1 + seed % 2;
        for (unsigned flags = 0; flags < 2; flags++) { /* SV_LIVE_ANEW is 1 */
            run_jobs(path, NULL, 0);
            sv_live *live = start(&options);
            sweep(live, found(spec, NULL), 0);
            run_jobs(path, sv_live_fabric(live), seed);
            sv_live_report r = sweep(live, found(spec, NULL), flags ? SV_LIVE_ANEW : 0);
            pass_all(live);
            bool part = strstr(r.note, "stay as they are") != NULL;
            parts += part;
            assert_false(flags && part);
            if (flags)
                OK(ctx, sv_dump_write(ctx, sv_live_fabric(live), sv_live_routes(live), pin));
            sv_live_free(live);
        }
        options.jobs_path = NULL;
        options.pin_path = pin;
        sv_live *live = start(&options);
        sweep(live, found(spec, NULL), 0);
        sv_routes *all = copy_of(sv_live_routes(live));
        sweep(live, found(spec, "cable 3"), 0);
        pass_all(live);
        sv_live_report r = sweep(live, found(spec, NULL), 0);
        pass_all(live);
        assert_int_equal(r.how, SV_LIVE_PINNED);
        assert_int_equal(count_different(all, sv_live_routes(live)), 0);
        sv_routes_free(all);
        sv_live_free(live);
    }
    assert_true(parts > 0);
    unlink(path);
    unlink(pin);
}

/* A cable fails while steps are under way: a new queue begins from what switches hold then. */
static void test_interrupted(void **state)
{
    (void)state;
    uint32_t interrupted = 0;
    for (uint32_t cable = 0; cable < 24; cable++) {
        sv_live_options options = steps();
        char without[20];
        snprintf(without, sizeof without, "cable %u", cable);
        sv_live *live = start(&options);
        sweep(live, found("kary:k=4,n=2", NULL), 0);
        sweep(live, found("kary:k=4,n=2", without), 0);
        uint32_t done, count;
        bool settle;
        sv_live_steps(live, &done, &count, &settle);
        if (count > 1) {
            OK(ctx, sv_live_pass(live));
            sv_routes *held = copy_of(sv_live_held(live));
            sv_fabric *before = found("kary:k=4,n=2", without);
            sv_live_report r = sweep(live, found("kary:k=4,n=2", NULL), 0); /* it is back */
            assert_true(r.whole);
            if (sv_live_next(live) != SV_LIVE_GATE_NONE) {
                sv_routes *was = carried(before, held, live);
                hand_over(live, was);
                sv_routes_free(was);
            } else { /* in any order, from what was held */
                sv_routes *was = carried(before, held, live);
                judge_step(sv_live_fabric(live), was, was, sv_live_routes(live));
                sv_routes_free(was);
            }
            interrupted++;
            sv_fabric_free(before);
            sv_routes_free(held);
        }
        sv_live_free(live);
    }
    assert_true(interrupted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_jobs),
                                       cmocka_unit_test(test_interrupted),
                                       cmocka_unit_test(test_returned),
                                       cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_broken_meanwhile),
                                       cmocka_unit_test(test_mended_in_the_end),
                                       cmocka_unit_test(test_all_that_was_asked_for)};
    return cmocka_run_group_tests(tests, begin, end);
}
