/*
 * statistics.c: means with their confidence, quantiles, straight lines.
 *
 * Student's distribution is the regularised incomplete beta function, by Lentz's continued fraction
 * (Abramowitz and Stegun 26.5.8, 26.7.1); quantiles by Newton's steps kept inside a bracket, so
 * that no table is needed and any degree of freedom will do. Sums are taken of deviations from the
 * mean, not of squares, which would lose the digits that matter.
 *
 * Invariant: no call looks at more than its arguments; all are the same on every machine whose
 * libm is.
 * Cost: linear; quantiles of numbers in order O(1); a Student quantile some ten continued
 * fractions.
 */
#include "study/statistics.h"

#include <math.h>
#include <stdlib.h>

/* ---- Student's distribution ---- */

/* The continued fraction of the incomplete beta function. */
static double beta_fraction(double a, double b, double x)
{
    enum { MAX_TERMS = 1000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= MAX_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double terms[] = {even, odd};
        double step = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + terms[k] * d;
            c = 1 + terms[k] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            value *= step;
        }
        if (fabs(step - 1) < 1e-16)
            break;
    }
    return value;
}

/* y is 1 - x, which the caller knows better: all digits of it may be lost in x. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0 || y <= 0)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2)) /* where the fraction converges fast */
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double sv_student_cdf(double t, double df)
{
    double sum = df + t * t, tail = 0.5 * incomplete_beta(df / 2, 0.5, df / sum, t * t / sum);
    return t > 0 ? 1 - tail : tail;
}

static double student_density(double t, double df)
{
    return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * acos(-1)) -
               (df + 1) / 2 * log1p(t * t / df));
}

double sv_student_quantile(double p, double df)
{
    if (!(p > 0 && p < 1 && df > 0))
        return NAN;
    if (p < 0.5)
        return -sv_student_quantile(1 - p, df);
    double low = 0, high = 1;
    while (sv_student_cdf(high, df) < p)
        low = high, high *= 2;
    double t = (low + high) / 2;
    for (int i = 0; i < 200; i++) {
        double off = sv_student_cdf(t, df) - p;
        if (off > 0)
            high = t;
        else
            low = t;
        double next = t - off / student_density(t, df);
        if (!(next > low && next < high))
            next = (low + high) / 2;
        if (fabs(next - t) <= 1e-14 * (1 + t))
            return next;
        t = next;
    }
    return t;
}

double sv_student_half(double df)
{
    return df < 1 ? NAN : sv_student_quantile(0.975, df);
}

/* ---- numbers ---- */

sv_sample sv_sample_of(const double *numbers, size_t count)
{
    sv_sample s = {count, NAN, NAN, NAN, NAN, NAN};
    if (count == 0)
        return s;
    double sum = 0, squares = 0;
    s.min = s.max = numbers[0];
    for (size_t i = 0; i < count; i++) {
        sum += numbers[i];
        s.min = fmin(s.min, numbers[i]);
        s.max = fmax(s.max, numbers[i]);
    }
    s.mean = sum / (double)count;
    if (count < 2)
        return s;
    for (size_t i = 0; i < count; i++)
        squares += (numbers[i] - s.mean) * (numbers[i] - s.mean);
    s.sdv = sqrt(squares / (double)(count - 1));
    s.half = sv_student_half((double)(count - 1)) * s.sdv / sqrt((double)count);
    return s;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sv_sort_numbers(double *numbers, size_t count)
{
    if (count > 1)
        qsort(numbers, count, sizeof *numbers, compare_numbers);
}

double sv_quantile(const double *ordered, size_t count, double p)
{
    if (count == 0)
        return NAN;
    double place = p * (double)(count - 1);
    size_t below = (size_t)place;
    double part = place - (double)below;
    if (below + 1 >= count || part == 0 || isinf(ordered[below])) /* no inf - inf, no 0 * inf */
        return ordered[below];
    return ordered[below] + part * (ordered[below + 1] - ordered[below]);
}

void sv_median_interval(const double *ordered, size_t count, double *low, double *high)
{
    /* The most k with P(fewer than k of count coins are heads) <= 2.5 %. */
    double chance = pow(0.5, (double)count), sum = 0;
    size_t k = 0;
    while (k < count && sum + chance <= 0.025) {
        sum += chance;
        chance *= (double)(count - k) / (double)(k + 1);
        k++;
    }
    *low = k == 0 ? NAN : ordered[k - 1];
    *high = k == 0 ? NAN : ordered[count - k];
}

/* ---- lines ---- */

bool sv_line_of(const double *x, const double *y, size_t count, sv_line *line)
{
    *line = (sv_line){count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    double mean_y = 0, sxy = 0, syy = 0, left = 0;
    if (count < 2)
        return false;
    line->mean_x = line->sxx = 0;
    line->min_x = line->max_x = x[0];
    for (size_t i = 0; i < count; i++) {
        line->mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
        line->min_x = fmin(line->min_x, x[i]);
        line->max_x = fmax(line->max_x, x[i]);
    }
    if (line->min_x == line->max_x) {
        *line = (sv_line){count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        line->sxx += (x[i] - line->mean_x) * (x[i] - line->mean_x);
        sxy += (x[i] - line->mean_x) * (y[i] - mean_y);
        syy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    line->slope = sxy / line->sxx;
    line->intercept = mean_y - line->slope * line->mean_x;
    for (size_t i = 0; i < count; i++) {
        double off = y[i] - mean_y - line->slope * (x[i] - line->mean_x);
        left += off * off;
    }
    line->r2 = syy > 0 ? 1 - left / syy : NAN;
    line->error = count > 2 ? sqrt(left / (double)(count - 2)) : NAN;
    return true;
}

double sv_line_at(const sv_line *line, double x)
{
    return line->intercept + line->slope * x;
}

double sv_line_half(const sv_line *line, double x)
{
    double off = x - line->mean_x;
    return sv_student_half((double)line->count - 2) * line->error *
           sqrt(1 / (double)line->count + off * off / line->sxx);
}

double sv_line_intercept_half(const sv_line *line)
{
    return sv_line_half(line, 0);
}

double sv_line_slope_half(const sv_line *line)
{
    return sv_student_half((double)line->count - 2) * line->error / sqrt(line->sxx);
}

bool sv_lines_cross(const sv_line *a, const sv_line *b, double *x)
{
    double between = b->slope - a->slope;
    *x = (a->intercept - b->intercept) / between;
    return isfinite(*x);
}

bool sv_line_reaches(const sv_line *line, double y, double *x, double *low, double *high)
{
    *x = (y - line->intercept) / line->slope;
    *low = *high = NAN;
    if (!isfinite(*x))
        return false;
    if (isnan(line->error))
        return true;
    /* (m + slope u)² = h² (1/n + u²/sxx) for u = x - mean_x, m the distance from y at mean_x. */
    double m = sv_line_at(line, line->mean_x) - y;
    double h = sv_student_half((double)line->count - 2) * line->error;
    double a = line->slope * line->slope - h * h / line->sxx;
    double b = m * line->slope, c = m * m - h * h / (double)line->count;
    double root = b * b - a * c;
    if (a <= 0) { /* the slope cannot be told from none: of two rays, the one that x is on */
        *low = -INFINITY;
        *high = INFINITY;
        if (root > 0 && a < 0) {
            double one = (-b + sqrt(root)) / a, two = (-b - sqrt(root)) / a;
            if (*x >= fmax(one, two) + line->mean_x)
                *low = fmax(one, two) + line->mean_x;
            else
                *high = fmin(one, two) + line->mean_x;
        }
        return true;
    }
    *low = line->mean_x + (-b - sqrt(fmax(root, 0))) / a;
    *high = line->mean_x + (-b + sqrt(fmax(root, 0))) / a;
    return true;
}
