/*
 * charts.h: throughput over failures: a chart is one fabric under one traffic and one family of
 * failures, with a curve for each contender; the fault-free cell belongs to all of them.
 */
#ifndef SV_STUDY_CHARTS_H
#define SV_STUDY_CHARTS_H

#include "study/cases.h"
#include "study/statistics.h"

typedef struct sv__curve {
    uint32_t contender;
    const sv__study_case **at; /* by level and seed, the fault-free one first if there is one */
    size_t count;
    size_t drawn;                  /* of them: the others say nothing of the engine */
    const sv__study_case **points; /* those of them with a throughput that counts */
    double *x, *y;                 /* failed parts and throughput of the points */
    size_t num_points;
    double fault_free; /* NAN if not measured */
    bool has_line;
    sv_line line;
    size_t outcomes[SV__NUM_OUTCOMES];
    bool safe; /* every cell that was drawn is ok */
} sv__curve;

typedef struct sv__study_chart {
    uint32_t fabric, traffic, family; /* family: that of no failures where there are no others */
    sv__cause kind;
    sv__curve *curves;
    size_t num_curves;
    uint32_t *levels; /* those that any curve has, in order */
    size_t num_levels;
} sv__study_chart;

typedef struct sv__study_charts {
    sv__study_chart *at;
    size_t count;
    double *scratch; /* twice room for a number of each case */
} sv__study_charts;

/* All charts of cases with traffic, in the arena of the cases. */
sv_status sv__charts_make(const sv__study_cases *cases, sv__study_charts *charts);

/* Throughputs of a curve at a level; *cells: how many were drawn, with or without one. */
sv_sample sv__curve_level(const sv__study_charts *charts, const sv__curve *curve, uint32_t level,
                          size_t *cells);

/* Whether it is ok in every cell of a level, and has been measured there. */
bool sv__curve_safe_at(const sv__curve *curve, uint32_t level);

/* Throughput of a less that of b, over cells (of a level, or SV__ALL_LEVELS) that both have. */
#define SV__ALL_LEVELS UINT32_MAX
sv_sample sv__curves_differ(const sv__study_charts *charts, const sv__curve *a, const sv__curve *b,
                            uint32_t level);

/*
 * Throughput of a less that of b in the mean over some levels (in order): one number
 * for each seed that both have at all of them, since what fails of a seed at one amount fails at
 * larger ones too. Of the fault-free cell where there are no failures.
 */
sv_sample sv__curves_differ_by_seed(const sv__study_cases *cases, const sv__study_charts *charts,
                                    const uint32_t *levels, size_t num_levels, const sv__curve *a,
                                    const sv__curve *b);

/*
 * Where the lines of two curves over the cells that both have cross, the parts between which they
 * cannot be told apart, and whether a is the better one before. False if they do not, or not within
 * the failures that were simulated.
 */
typedef struct sv__crossing {
    double at, low, high;
    bool a_first;
    size_t cells;
} sv__crossing;

bool sv__curves_cross(const sv__study_charts *charts, const sv__curve *a, const sv__curve *b,
                      sv__crossing *crossing);

/* Whether both are safe, and no other safe line is above a's at x, where b crosses it. */
bool sv__chart_highest(const sv__study_chart *chart, const sv__curve *a, const sv__curve *b,
                       double x);

/* Columns fabric, traffic and failures (the family), and their values. */
void sv__chart_columns(sv_table *table);
void sv__chart_names(const sv__study_cases *cases, const sv__study_chart *chart, sv_table *table);

/* "failed links", "failed switches", "failed parts". */
const char *sv__chart_parts(const sv__study_chart *chart);

/*
 * Whether the first of two means that were measured on the same cells can be told from the second:
 * 1, 0, or -1 if nobody can say (a single cell).
 */
int sv__told_apart(const sv_sample *difference);

#endif
