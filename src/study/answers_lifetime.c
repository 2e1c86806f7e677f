/*
 * answers_lifetime.c: years until throughput falls below a share of the fault-free one, nobody
 * repairing anything.
 *
 * From cells that aged (failures "years"): for each seed, the first year at which throughput is
 * below, linear between the years that were simulated. An engine that refuses, leaves pairs
 * unjoined or deadlocks ends a life at the last year before. A seed that never falls below is
 * censored: it has a place at the end of the order, so medians and their confidence (by ranks)
 * hold, means do not and are left out. A seed with a cell that says nothing (a limit of time, say)
 * before its end is left out and counted.
 *
 * From regressions and annual rates given by the caller: failures are taken to come evenly, as in
 * the thesis (1 % of the links a year); the years between which the line's confidence band holds
 * the threshold are Fieller's.
 */
#include <math.h>

#include "study/charts.h"

enum { DEFAULT_PERCENT = 80 };

static double threshold_of(const sv_answer_options *o)
{
    return o->threshold > 0 ? o->threshold : DEFAULT_PERCENT / 100.0;
}

/* ---- cells that aged ---- */

/* In the order of the table's columns. */
typedef enum life_end { LIFE_CROSSED, LIFE_ENDED, LIFE_CENSORED, LIFE_UNKNOWN, NUM_ENDS } life_end;

/* The life of a curve's cases from … to, which are of one seed in the order of years. */
static life_end life_of(const sv__study_cases *cases, const sv__study_case *const *at, size_t count,
                        double fault_free, double target, double *years)
{
    double before = 0, had = fault_free;
    for (size_t i = 0; i < count; i++) {
        const sv__study_case *c = at[i];
        double year = cases->levels[c->level].amount, has = sv__case_throughput(c);
        *years = before;
        if (c->outcome == SV__CASE_DEADLOCK || c->outcome == SV__CASE_INCOMPLETE ||
            c->outcome == SV__CASE_ENGINE)
            return LIFE_ENDED;
        if (isnan(has))
            return LIFE_UNKNOWN;
        if (has < target) {
            *years = before + (had - target) / (had - has) * (year - before);
            return LIFE_CROSSED;
        }
        before = year;
        had = has;
    }
    *years = INFINITY;
    return LIFE_CENSORED;
}

static int by_seed(const sv__study_case *a, const sv__study_case *b)
{
    if (a->seed != b->seed)
        return a->seed < b->seed ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The aged cases of a curve by seed and year (they come by year and seed): by insertion. */
static size_t order_by_seed(const sv__study_cases *cases, const sv__curve *curve,
                            const sv__study_case **out)
{
    size_t count = 0;
    for (size_t i = 0; i < curve->count; i++) {
        if (cases->levels[curve->at[i]->level].kind != SV__CAUSE_YEARS)
            continue;
        size_t k = count++;
        for (; k > 0 && by_seed(out[k - 1], curve->at[i]) > 0; k--)
            out[k] = out[k - 1];
        out[k] = curve->at[i];
    }
    return count;
}

static void lifetime_columns(sv_table *t)
{
    sv__chart_columns(t);
    sv_table_column(t, "engine", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "seeds", NULL, 0);
    sv_table_column(t, "fell below", NULL, 0);
    sv_table_column(t, "ended", NULL, 0);
    sv_table_column(t, "lasted", NULL, 0);
    sv_table_column(t, "unknown", NULL, 0);
    sv_table_column(t, "mean", "years", 2);
    sv_table_column(t, "±", "years", 2);
    sv_table_column(t, "median", "years", 2);
    sv_table_column(t, "low", "years", 2);
    sv_table_column(t, "high", "years", 2);
    sv_table_column(t, "simulated", "years", SV_ANY_DIGITS);
}

static sv_status lifetime_row(const sv__study_cases *cases, const sv__study_chart *chart,
                              const sv__curve *curve, double threshold, sv_table *t)
{
    const sv__study_case **at =
        SV_ARENA_NEW(cases->arena, const sv__study_case *, curve->count + 1);
    double *lives = SV_ARENA_NEW(cases->arena, double, curve->count + 1);
    if (at == NULL || lives == NULL)
        return SV_NO_MEMORY;
    size_t count = order_by_seed(cases, curve, at), known = 0, seeds = 0, ends[NUM_ENDS] = {0};
    double horizon = 0, low, high;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && at[end]->seed == at[i]->seed; end++)
            horizon = fmax(horizon, cases->levels[at[end]->level].amount);
        life_end how = life_of(cases, at + i, end - i, curve->fault_free,
                               threshold * curve->fault_free, &lives[known]);
        ends[how]++;
        seeds++;
        known += how != LIFE_UNKNOWN;
    }
    sv_sort_numbers(lives, known);
    sv_sample mean = sv_sample_of(lives, ends[LIFE_CENSORED] > 0 ? 0 : known);
    sv_median_interval(lives, known, &low, &high);
    sv__chart_names(cases, chart, t);
    sv_table_text(t, cases->contenders[curve->contender].name);
    sv_table_number(t, (double)seeds);
    for (int i = 0; i < NUM_ENDS; i++)
        sv_table_number(t, (double)ends[i]);
    sv_table_number(t, mean.mean);
    sv_table_number(t, mean.half);
    sv_table_number(t, sv_quantile(lives, known, 0.5));
    sv_table_number(t, low);
    sv_table_number(t, high);
    sv_table_number(t, horizon);
    return SV_OK;
}

static sv_status add_aged(const sv__study_cases *cases, const sv__study_charts *charts,
                          const sv_answer_options *options, sv_tables *tables)
{
    double threshold = threshold_of(options);
    sv_table *t = sv_table_new(
        tables, "lifetime", "Years that a fabric lasts",
        sv_tables_keep(tables,
                       "Years until throughput falls below %g %% of the fault-free one without "
                       "repairs, over seeds; a median of a dash lies beyond the years that were "
                       "simulated.",
                       100 * threshold));
    size_t without = 0;
    lifetime_columns(t);
    for (size_t s = 0; s < charts->count; s++)
        for (size_t k = 0; k < charts->at[s].num_curves; k++) {
            const sv__curve *curve = &charts->at[s].curves[k];
            if (charts->at[s].kind != SV__CAUSE_YEARS)
                continue;
            without += isnan(curve->fault_free);
            if (!isnan(curve->fault_free))
                SV_TRY(lifetime_row(cases, &charts->at[s], curve, threshold, t));
        }
    if (without > 0)
        sv_table_note(t, "%zu engine%s left out: no fault-free throughput to compare with.",
                      without, without == 1 ? " is" : "s are");
    sv__note_cells(cases, t);
    return SV_OK;
}

/* ---- regressions and rates ---- */

static double failures_a_year(const sv__study_cases *cases, const sv__study_chart *chart,
                              const sv_answer_options *o)
{
    const sv__fabric *fabric = &cases->fabrics[chart->fabric];
    double links = o->links_a_year * fabric->links;
    double switches = o->switches_a_year * fabric->switches;
    if (chart->kind == SV__CAUSE_LINKS)
        return links;
    return chart->kind == SV__CAUSE_SWITCHES ? switches : links + switches;
}

static double not_below_zero(double x)
{
    return x < 0 ? 0 : x; /* and no number stays none, unlike with fmax */
}

static void line_row(const sv__study_cases *cases, const sv__study_chart *chart,
                     const sv__curve *curve, double a_year, double threshold, sv_table *t)
{
    double base = isnan(curve->fault_free) ? curve->line.intercept : curve->fault_free;
    double target = threshold * base, at, low, high;
    bool falls = sv_line_reaches(&curve->line, target, &at, &low, &high) && curve->line.slope < 0;
    at = not_below_zero(at); /* a line that begins below has no years left */
    low = not_below_zero(low);
    high = not_below_zero(high);
    sv__chart_names(cases, chart, t);
    sv_table_text(t, cases->contenders[curve->contender].name);
    sv_table_number(t, target);
    sv_table_number(t, a_year);
    sv_table_number(t, falls ? at : NAN);
    sv_table_number(t, falls ? at / a_year : NAN);
    sv_table_number(t, falls ? low / a_year : NAN);
    sv_table_number(t, falls ? high / a_year : NAN);
    sv_table_number(t, curve->line.max_x / a_year);
    sv_table_text(t, !falls ? "does not fall" : at > curve->line.max_x ? "extrapolated" : "");
}

static void add_from_lines(const sv__study_cases *cases, const sv__study_charts *charts,
                           const sv_answer_options *o, sv_tables *tables)
{
    sv_table *t = sv_table_new(
        tables, "lifetime-lines", "Years that a fabric lasts, by regressions",
        sv_tables_keep(
            tables,
            "Years until the regression line of throughput over failures falls below "
            "%g %% of the fault-free one, if %g %% of all links and %g %% of all switches "
            "fail each year.",
            100 * threshold_of(o), 100 * o->links_a_year, 100 * o->switches_a_year));
    sv__chart_columns(t);
    sv_table_column(t, "engine", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "threshold", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "failures a year", NULL, 2);
    sv_table_column(t, "failures until then", NULL, 1);
    sv_table_column(t, "years", NULL, 2);
    sv_table_column(t, "low", "years", 2);
    sv_table_column(t, "high", "years", 2);
    sv_table_column(t, "simulated", "years", 2);
    sv_table_column(t, "remark", NULL, SV_TEXT_COLUMN);
    bool aged = false;
    for (size_t s = 0; s < charts->count; s++) {
        if (charts->at[s].kind == SV__CAUSE_YEARS) {
            aged = true; /* adapters fail there too, and the table of years answers it */
            continue;
        }
        double a_year = failures_a_year(cases, &charts->at[s], o);
        for (size_t k = 0; k < charts->at[s].num_curves; k++)
            if (charts->at[s].curves[k].has_line && a_year > 0)
                line_row(cases, &charts->at[s], &charts->at[s].curves[k], a_year, threshold_of(o),
                         t);
    }
    if (aged)
        sv_table_note(t, "Fabrics that aged by years are in the table lifetime only.");
}

sv_status sv__answer_lifetime(const sv__study_cases *cases, const sv_answer_options *options,
                              sv_tables *tables)
{
    sv__study_charts charts;
    SV_TRY(sv__charts_make(cases, &charts));
    SV_TRY(add_aged(cases, &charts, options, tables));
    if (options->links_a_year > 0 || options->switches_a_year > 0)
        add_from_lines(cases, &charts, options, tables);
    return tables->status;
}
