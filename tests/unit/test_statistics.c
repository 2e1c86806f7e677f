/*
 * test_statistics.c: quantiles of Student's distribution as printed in tables, a regression whose
 * answers are known (Anscombe's first), and the ends: one number, no spread, level lines.
 */
#include "support/testing.h"

#include <math.h>

#include "study/statistics.h"

static void expect(double found, double wanted, double within)
{
    if (!(fabs(found - wanted) <= within))
        fail_msg("%.12g is not %.12g", found, wanted);
}

static void expect_nan(double found)
{
    if (!isnan(found))
        fail_msg("%g is a number", found);
}

/* t of 97.5 % and 99.5 %, as printed everywhere. */
static void quantiles_of_student(void **state)
{
    static const struct {
        double df, t975, t995;
    } printed[] = {{1, 12.7062047364, 63.6567411629},   {2, 4.30265272991, 9.92484320092},
                   {3, 3.18244630528, 5.84090930973},   {4, 2.7764451052, 4.60409487142},
                   {5, 2.57058183661, 4.03214298356},   {9, 2.26215716274, 3.24983554402},
                   {10, 2.22813885196, 3.16927267261},  {29, 2.0452296421, 2.75638590367},
                   {30, 2.0422724563, 2.7499956536},    {100, 1.98397151845, 2.62589052138},
                   {1000, 1.96233908082, 2.58075469807}};
    (void)state;
    for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++) {
        expect(sv_student_quantile(0.975, printed[i].df), printed[i].t975, 1e-9 * printed[i].t975);
        expect(sv_student_quantile(0.995, printed[i].df), printed[i].t995, 1e-9 * printed[i].t995);
        expect(sv_student_quantile(0.025, printed[i].df), -printed[i].t975, 1e-8);
        expect(sv_student_half(printed[i].df), printed[i].t975, 1e-9 * printed[i].t975);
    }
    expect(sv_student_quantile(0.975, 1e7), 1.95996398454, 1e-6);
    expect(sv_student_quantile(0.5, 7), 0, 1e-12);
    expect_nan(sv_student_quantile(0, 3));
    expect_nan(sv_student_quantile(1, 3));
    expect_nan(sv_student_half(0));
}

/* Of one degree it is Cauchy's, of two it has a closed form. */
static void cdf_of_student(void **state)
{
    (void)state;
    for (double t = -20; t <= 20; t += 0.37) {
        expect(sv_student_cdf(t, 1), 0.5 + atan(t) / acos(-1), 1e-13);
        expect(sv_student_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-13);
        for (double df = 1; df < 400; df *= 2.3)
            expect(sv_student_cdf(sv_student_quantile(sv_student_cdf(t / 8, df), df), df),
                   sv_student_cdf(t / 8, df), 1e-12);
    }
}

static void means(void **state)
{
    (void)state;
    const double four[] = {2, 4, 4, 6};
    sv_sample s = sv_sample_of(four, 4);
    expect(s.mean, 4, 0);
    expect(s.sdv, sqrt(8.0 / 3), 1e-15);
    expect(s.half, 3.18244630528 * sqrt(8.0 / 3) / 2, 1e-9);
    expect(s.min, 2, 0);
    expect(s.max, 6, 0);
    s = sv_sample_of(four, 1);
    expect(s.mean, 2, 0);
    expect_nan(s.sdv);
    expect_nan(s.half);
    expect_nan(sv_sample_of(four, 0).mean);
    const double far[] = {1e9 + 1, 1e9 + 2, 1e9 + 3}; /* a sum of squares would lose these digits */
    expect(sv_sample_of(far, 3).sdv, 1, 1e-9);
}

static void quantiles_of_numbers(void **state)
{
    (void)state;
    double numbers[] = {9, 1, INFINITY, 4};
    sv_sort_numbers(numbers, 4);
    expect(numbers[0], 1, 0);
    expect(numbers[2], 9, 0);
    expect(sv_quantile(numbers, 3, 0.5), 4, 0);
    expect(sv_quantile(numbers, 3, 0.25), 2.5, 1e-15);
    expect(sv_quantile(numbers, 3, 1), 9, 0);
    assert_true(isinf(sv_quantile(numbers, 4, 1)));
    assert_true(isinf(sv_quantile(numbers, 4, 0.9)));
    const double ends[] = {1, INFINITY, INFINITY};
    assert_true(isinf(sv_quantile(ends, 3, 0.75)));
    expect_nan(sv_quantile(numbers, 0, 0.5));
}

/* Ranks as in tables of the sign test: of 10 the 2nd and 9th, of 20 the 6th and 15th. */
static void interval_of_the_median(void **state)
{
    (void)state;
    double numbers[40], low, high;
    for (int i = 0; i < 40; i++)
        numbers[i] = i + 1;
    static const int known[][3] = {{6, 1, 6},  {8, 1, 8},   {9, 2, 8},
                                   {10, 2, 9}, {20, 6, 15}, {40, 14, 27}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sv_median_interval(numbers, (size_t)known[i][0], &low, &high);
        expect(low, known[i][1], 0);
        expect(high, known[i][2], 0);
    }
    sv_median_interval(numbers, 5, &low, &high);
    expect_nan(low);
    expect_nan(high);
    sv_median_interval(numbers, 0, &low, &high);
    expect_nan(low);
}

static const double anscombe_x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
static const double anscombe_y[] = {8.04, 6.95, 7.58,  8.81, 8.33, 9.96,
                                    7.24, 4.26, 10.84, 4.82, 5.68};

static void regression(void **state)
{
    (void)state;
    sv_line line;
    assert_true(sv_line_of(anscombe_x, anscombe_y, 11, &line));
    expect(line.intercept, 3.00009090909, 1e-10);
    expect(line.slope, 0.500090909091, 1e-11);
    expect(line.r2, 0.666542459509, 1e-11);
    expect(line.error, 1.23660332273, 1e-10);
    expect(sv_line_slope_half(&line), 2.26215716274 * 0.117905500596, 1e-9);
    expect(sv_line_intercept_half(&line), 2.26215716274 * 1.12474679082, 1e-9);
    expect(sv_line_at(&line, 9), 7.50090909091, 1e-10);
    expect(sv_line_half(&line, 9), 2.26215716274 * 1.23660332273 / sqrt(11), 1e-9);
    expect(line.min_x, 4, 0);
    expect(line.max_x, 14, 0);
}

static void lines_that_are_none(void **state)
{
    (void)state;
    sv_line line;
    const double same[] = {3, 3, 3}, y[] = {1, 2, 3}, x[] = {0, 1, 2}, level[] = {5, 5, 5};
    assert_false(sv_line_of(same, y, 3, &line));
    expect_nan(line.slope);
    assert_false(sv_line_of(x, y, 1, &line));
    assert_true(sv_line_of(x, y, 2, &line)); /* two points: a line, but no confidence */
    expect(line.slope, 1, 1e-15);
    expect_nan(line.error);
    expect_nan(sv_line_half(&line, 1));
    assert_true(sv_line_of(x, level, 3, &line));
    expect(line.slope, 0, 0);
    expect_nan(line.r2); /* there is nothing to explain */
}

static void crossings(void **state)
{
    (void)state;
    sv_line a, b;
    double at, low, high;
    const double x[] = {0, 10, 20}, falls[] = {100, 80, 60}, slower[] = {90, 80, 70};
    assert_true(sv_line_of(x, falls, 3, &a) && sv_line_of(x, slower, 3, &b));
    assert_true(sv_lines_cross(&a, &b, &at));
    expect(at, 10, 1e-12);
    assert_false(sv_lines_cross(&a, &a, &at));
    assert_true(sv_line_reaches(&a, 90, &at, &low, &high)); /* all points on the line */
    expect(at, 5, 1e-12);
    expect(low, 5, 1e-9);
    expect(high, 5, 1e-9);
}

/* At the ends of Fieller's interval the line's band touches y. */
static void where_a_line_reaches(void **state)
{
    (void)state;
    sv_line line;
    double at, low, high;
    assert_true(sv_line_of(anscombe_x, anscombe_y, 11, &line));
    assert_true(sv_line_reaches(&line, 8, &at, &low, &high));
    expect(sv_line_at(&line, at), 8, 1e-12);
    assert_true(low < at && at < high);
    expect(fabs(sv_line_at(&line, low) - 8), sv_line_half(&line, low), 1e-9);
    expect(fabs(sv_line_at(&line, high) - 8), sv_line_half(&line, high), 1e-9);
    /* A slope that is not to be told from none: bounded on one side, or not at all. */
    const double x[] = {0, 1, 2, 3}, y[] = {5, 4.6, 5.1, 4.8};
    assert_true(sv_line_of(x, y, 4, &line));
    assert_true(sv_line_reaches(&line, 4.9, &at, &low, &high));
    assert_true(isinf(low) && isinf(high));
    assert_true(sv_line_reaches(&line, 3, &at, &low, &high));
    assert_true(isfinite(low) && low > 3 && low <= at && isinf(high));
    expect(fabs(sv_line_at(&line, low) - 3), sv_line_half(&line, low), 1e-9);
    assert_true(sv_line_reaches(&line, 7, &at, &low, &high)); /* the other way */
    assert_true(isinf(low) && isfinite(high) && high < 0 && high >= at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_student),
        cmocka_unit_test(cdf_of_student),
        cmocka_unit_test(means),
        cmocka_unit_test(quantiles_of_numbers),
        cmocka_unit_test(interval_of_the_median),
        cmocka_unit_test(regression),
        cmocka_unit_test(lines_that_are_none),
        cmocka_unit_test(crossings),
        cmocka_unit_test(where_a_line_reaches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
