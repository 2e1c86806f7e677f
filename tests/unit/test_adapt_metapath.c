/*
 * test_adapt_metapath.c: arithmetic of metapaths (thesis Eqs. 3.3 to 3.6), trends, and who
 * contends, by hand.
 */
#include "support/testing.h"

#include "adapt/balance.h"

#include <math.h>

static void assert_near(double is, double wanted)
{
    if (fabs(is - wanted) > 1e-9 * (1 + fabs(wanted)))
        fail_msg("%.12g is not %.12g", is, wanted);
}

/* ---- Eqs. 3.3 to 3.6 ---- */

static void a_metapath_is_as_fast_as_its_paths_together(void **state)
{
    (void)state;
    sv__open_path at[4];
    sv__metapath m = {at, 0};
    sv__metapath_open(&m, 0, 100, 0);
    assert_near(sv__metapath_latency(&m), 100);
    sv__metapath_open(&m, 7, 100, 200);
    assert_near(sv__metapath_latency(&m), 75); /* 1 / (1/100 + 1/300) */
    sv__metapath_open(&m, 3, 150, 0);
    assert_near(sv__metapath_latency(&m), 50);
    assert_int_equal(sv__metapath_find(&m, 7), 1);
    assert_int_equal(sv__metapath_find(&m, 1), UINT32_MAX);
    assert_int_equal(sv__metapath_close(&m), 3);
    assert_int_equal(m.count, 2);
    assert_near(sv__metapath_latency(&m), 75);
}

static void zones_begin_beyond_thresholds(void **state)
{
    (void)state;
    assert_int_equal(sv__metapath_zone(200, 50, 200), SV__MEDIUM);
    assert_int_equal(sv__metapath_zone(200.01, 50, 200), SV__HIGH);
    assert_int_equal(sv__metapath_zone(50, 50, 200), SV__MEDIUM);
    assert_int_equal(sv__metapath_zone(49.99, 50, 200), SV__LOW);
}

static void faster_paths_are_taken_more_often(void **state)
{
    (void)state;
    sv__open_path at[3];
    sv__metapath m = {at, 0};
    sv__metapath_open(&m, 0, 300, 0);
    sv__metapath_open(&m, 1, 100, 0);
    sv__metapath_open(&m, 2, 100, 50);
    /* 1/300 : 1/100 : 1/150 is 1 : 3 : 2. */
    assert_int_equal(sv__metapath_pick(&m, 0), 0);
    assert_int_equal(sv__metapath_pick(&m, 1 / 6.0 - 1e-9), 0);
    assert_int_equal(sv__metapath_pick(&m, 1 / 6.0 + 1e-9), 1);
    assert_int_equal(sv__metapath_pick(&m, 4 / 6.0 - 1e-9), 1);
    assert_int_equal(sv__metapath_pick(&m, 4 / 6.0 + 1e-9), 2);
    assert_int_equal(sv__metapath_pick(&m, nextafter(1, 0)), 2);
    m.count = 1;
    assert_int_equal(sv__metapath_pick(&m, 0.999), 0);
}

static void the_newest_acknowledgement_has_its_share(void **state)
{
    (void)state;
    sv__open_path at[2];
    sv__metapath m = {at, 0};
    sv__metapath_open(&m, 0, 100, 0);
    sv__metapath_open(&m, 5, 100, 60);
    assert_false(sv__metapath_hear(&m, 4, 10, 1));
    assert_true(sv__metapath_hear(&m, 0, 40, 0.25)); /* the first counts whole */
    assert_near(at[0].waited, 40);
    assert_true(sv__metapath_hear(&m, 0, 80, 0.25));
    assert_near(at[0].waited, 50);
    assert_true(sv__metapath_hear(&m, 5, 0, 0.25)); /* even where one was kept */
    assert_near(at[1].waited, 0);
    assert_near(sv__open_latency(&at[0]), 150);
}

/* ---- trends ---- */

static sv__trend *new_trend(uint32_t room)
{
    sv__trend *t = calloc(1, sizeof *t + room * sizeof t->at[0]);
    t->room = room;
    return t;
}

static void a_trend_is_a_straight_line(void **state)
{
    (void)state;
    sv__trend *t = new_trend(4);
    for (uint64_t i = 0; i < 3; i++)
        sv__trend_add(t, 1000 + 10 * i, 50 + 5.0 * (double)i);
    assert_near(sv__trend_at(t, 1100), 0); /* too few */
    sv__trend_add(t, 1030, 65);
    assert_near(sv__trend_at(t, 1030), 65);
    assert_near(sv__trend_at(t, 1050), 75);
    /* The oldest goes. Through (10, 55), (20, 60), (30, 65), (40, 90): slope 1.1. */
    sv__trend_add(t, 1040, 90);
    assert_near(sv__trend_at(t, 1040), 67.5 + 1.1 * 15);
    assert_near(sv__trend_at(t, 1140), 67.5 + 1.1 * 115);
    sv__trend_forget(t);
    assert_near(sv__trend_at(t, 1140), 0);
    free(t);
}

static void a_trend_that_falls_tells_nothing(void **state)
{
    (void)state;
    sv__trend *t = new_trend(3);
    for (uint64_t i = 0; i < 3; i++)
        sv__trend_add(t, 10 * i, 50 - (double)i);
    assert_near(sv__trend_at(t, 40), 0);
    for (uint64_t i = 0; i < 3; i++)
        sv__trend_add(t, 100, 50 + (double)i); /* all at once */
    assert_near(sv__trend_at(t, 140), 0);
    free(t);
}

/* Large times lose no digits. */
static void a_trend_late_in_a_run_is_as_good(void **state)
{
    (void)state;
    sv__trend *t = new_trend(3);
    uint64_t late = (uint64_t)1 << 60;
    for (uint64_t i = 0; i < 3; i++)
        sv__trend_add(t, late + 10 * i, 50 + 5.0 * (double)i);
    assert_near(sv__trend_at(t, late + 40), 70);
    free(t);
}

/* ---- contending flows ---- */

static void pick(const sv_sim_waiting *w, uint32_t count, sv_sim_waiting granted, double share,
                 uint32_t max, const uint32_t *wanted, uint32_t num_wanted)
{
    static sv__tallies tallies;
    uint32_t at[64];
    sv__flows found = {.at = at};
    for (int again = 0; again < 2; again++) {
        sv__monitor_pick(&tallies, w, count, &granted, share, max, &found);
        assert_int_equal(found.count, num_wanted);
        for (uint32_t i = 0; i < num_wanted; i++)
            assert_int_equal(found.at[i], wanted[i]);
    }
}

static void those_that_contribute_max_contend(void **state)
{
    (void)state;
    /* The thesis' example (Fig. 3.13): 1-5 half, 2-7 nearly a third, others little. */
    const sv_sim_waiting w[] = {{1, 5, 100, 0}, {2, 7, 100, 0}, {1, 5, 100, 0},
                                {3, 4, 50, 0},  {1, 5, 100, 0}, {2, 7, 100, 0},
                                {1, 5, 100, 0}, {6, 4, 50, 0},  {2, 7, 100, 0}};
    const sv_sim_waiting granted = {1, 5, 100, 0};
    const uint32_t two[] = {sv__flow(1, 5), sv__flow(2, 7)};
    const uint32_t all[] = {sv__flow(1, 5), sv__flow(2, 7), sv__flow(3, 4), sv__flow(6, 4)};
    pick(w, 9, granted, 0.2, 8, two, 2);
    pick(w, 9, granted, 0, 8, all, 4);
    pick(w, 9, granted, 0, 3, all, 3); /* of equal ones the smaller */
    pick(w, 9, granted, 0, 1, all, 1);
    pick(w, 0, granted, 1, 8, two, 1);
}

static void a_share_is_of_bytes_with_the_packet_that_leaves(void **state)
{
    (void)state;
    const sv_sim_waiting w[] = {{9, 1, 100, 0}};
    const uint32_t both[] = {sv__flow(2, 1), sv__flow(9, 1)}, one[] = {sv__flow(2, 1)};
    pick(w, 1, (sv_sim_waiting){2, 1, 300, 0}, 0.25, 8, both, 2);
    pick(w, 1, (sv_sim_waiting){2, 1, 301, 0}, 0.25, 8, one, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_metapath_is_as_fast_as_its_paths_together),
        cmocka_unit_test(zones_begin_beyond_thresholds),
        cmocka_unit_test(faster_paths_are_taken_more_often),
        cmocka_unit_test(the_newest_acknowledgement_has_its_share),
        cmocka_unit_test(a_trend_is_a_straight_line),
        cmocka_unit_test(a_trend_that_falls_tells_nothing),
        cmocka_unit_test(a_trend_late_in_a_run_is_as_good),
        cmocka_unit_test(those_that_contribute_max_contend),
        cmocka_unit_test(a_share_is_of_bytes_with_the_packet_that_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
