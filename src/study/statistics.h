/*
 * statistics.h: what studies say about numbers: means with their confidence, quantiles, straight
 * lines and where they cross. All confidence is 95 %, two-sided. Whatever cannot be told (of too
 * few numbers, say) is NAN.
 */
#ifndef SV_STUDY_STATISTICS_H
#define SV_STUDY_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* P(T <= t) of Student's distribution with df > 0 degrees of freedom. */
double sv_student_cdf(double t, double df);

/* Its inverse for 0 < p < 1. */
double sv_student_quantile(double p, double df);

/* The half width of a two-sided interval of 95 %, in standard errors. NAN for df < 1. */
double sv_student_half(double df);

typedef struct sv_sample {
    size_t count;
    double mean, sdv, min, max; /* sdv: of the population that this is a sample of (n - 1) */
    double half;                /* the mean's interval is mean ± half; NAN below two numbers */
} sv_sample;

sv_sample sv_sample_of(const double *numbers, size_t count);

/* Puts numbers into order, infinities last. */
void sv_sort_numbers(double *numbers, size_t count);

/* The p-quantile of numbers in order, linear between two of them. NAN of none. */
double sv_quantile(const double *ordered, size_t count, double p);

/*
 * The interval of the median by ranks: any distribution, at least 95 %. Numbers in order; INFINITY
 * is one that lies beyond what was observed. Both NAN below six numbers.
 */
void sv_median_interval(const double *ordered, size_t count, double *low, double *high);

/* A least-squares line y = intercept + slope x, with what its confidence needs. */
typedef struct sv_line {
    size_t count;
    double intercept, slope, r2;
    double mean_x, sxx; /* and sum of squared deviations of x */
    double error;       /* standard deviation around the line; NAN below three points */
    double min_x, max_x;
} sv_line;

/* False (and all NAN) if the points have fewer than two different x. */
bool sv_line_of(const double *x, const double *y, size_t count, sv_line *line);

double sv_line_at(const sv_line *line, double x);

/* The line's mean at x is sv_line_at ± this. */
double sv_line_half(const sv_line *line, double x);

/* The same of intercept and slope. */
double sv_line_intercept_half(const sv_line *line);
double sv_line_slope_half(const sv_line *line);

/* Where two lines cross; false if they are parallel. */
bool sv_lines_cross(const sv_line *a, const sv_line *b, double *x);

/*
 * Where a line reaches y (false if it is level), and the x between which its confidence band holds
 * y (Fieller): *low and *high are infinite where the band never leaves y on that side.
 */
bool sv_line_reaches(const sv_line *line, double y, double *x, double *low, double *high);

#endif
