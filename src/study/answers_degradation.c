/*
 * answers_degradation.c: throughput as parts fail (thesis, Figures 4.4 to 4.8 and Tables 4.4 to
 * 4.6).
 *
 * Four tables: means over seeds with their confidence; regression lines over the number of failed
 * parts; the best engine for each amount; and where two lines cross, so that another engine is
 * better from there on. Tables that can deadlock have throughput too, if they did not, but are
 * never called the best.
 */
#include <math.h>

#include "base/text.h"
#include "study/charts.h"

/* ---- means ---- */

static void mean_row(const sv__study_cases *cases, const sv__study_charts *charts,
                     const sv__study_chart *chart, const sv__curve *curve, uint32_t level,
                     sv_table *t)
{
    size_t cells, failed = 0;
    double parts = 0;
    for (size_t i = 0; i < curve->count; i++) {
        double x = sv__case_failed(cases, curve->at[i], chart->kind);
        if (curve->at[i]->level == level && !curve->at[i]->undrawn && !isnan(x)) {
            parts += x;
            failed++;
        }
    }
    sv_sample y = sv__curve_level(charts, curve, level, &cells);
    if (cells == 0)
        return;
    sv__chart_names(cases, chart, t);
    sv_table_text(t, cases->levels[level].words);
    sv_table_text(t, cases->contenders[curve->contender].name);
    sv_table_number(t, (double)cells);
    sv_table_number(t, (double)y.count);
    sv_table_number(t, failed > 0 ? parts / (double)failed : NAN);
    sv_table_number(t, y.mean);
    sv_table_number(t, y.half);
    sv_table_number(t, 100 * y.mean / curve->fault_free);
    sv_table_number(t, y.min);
    sv_table_number(t, y.max);
}

static void add_means(const sv__study_cases *cases, const sv__study_charts *charts,
                      sv_tables *tables)
{
    sv_table *t =
        sv_table_new(tables, "degradation", "Throughput as parts fail",
                     "Mean over seeds with its 95 % confidence, and its share of the fault-free "
                     "throughput of the same engine; seeds are paired, so engines meet the same "
                     "failures.");
    sv__chart_columns(t);
    sv_table_column(t, "faults", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "engine", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "cells", NULL, 0);
    sv_table_column(t, "measured", NULL, 0);
    sv_table_column(t, "failed", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "throughput", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "±", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "kept", "%", 1);
    sv_table_column(t, "min", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "max", "GB/s", SV_ANY_DIGITS);
    for (size_t s = 0; s < charts->count; s++) {
        const sv__study_chart *chart = &charts->at[s];
        for (size_t l = 0; l < chart->num_levels; l++)
            for (size_t k = 0; k < chart->num_curves; k++)
                mean_row(cases, charts, chart, &chart->curves[k], chart->levels[l], t);
    }
    sv__note_cells(cases, t);
    sv__note_undrawn(cases, t);
}

/* ---- lines ---- */

static void add_lines(const sv__study_cases *cases, const sv__study_charts *charts,
                      sv_tables *tables)
{
    sv_table *t = sv_table_new(
        tables, "degradation-lines", "Throughput over the number of failures: regression",
        "A line over all measured cells: throughput = intercept + slope × failed parts (links, "
        "switches, or both together), with 95 % confidence of both.");
    sv__chart_columns(t);
    sv_table_column(t, "engine", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "cells", NULL, 0);
    sv_table_column(t, "intercept", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "intercept ±", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "slope", "GB/s a failure", SV_ANY_DIGITS);
    sv_table_column(t, "slope ±", "GB/s a failure", SV_ANY_DIGITS);
    sv_table_column(t, "R²", NULL, 2);
    sv_table_column(t, "slope/intercept", "% a failure", 3);
    sv_table_column(t, "fault-free", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "safe", NULL, SV_TEXT_COLUMN);
    for (size_t s = 0; s < charts->count; s++)
        for (size_t k = 0; k < charts->at[s].num_curves; k++) {
            const sv__curve *curve = &charts->at[s].curves[k];
            const sv_line *line = &curve->line;
            if (!curve->has_line)
                continue;
            sv__chart_names(cases, &charts->at[s], t);
            sv_table_text(t, cases->contenders[curve->contender].name);
            sv_table_number(t, (double)line->count);
            sv_table_number(t, line->intercept);
            sv_table_number(t, sv_line_intercept_half(line));
            sv_table_number(t, line->slope);
            sv_table_number(t, sv_line_slope_half(line));
            sv_table_number(t, line->r2);
            sv_table_number(t, 100 * line->slope / line->intercept);
            sv_table_number(t, curve->fault_free);
            sv_table_text(t, curve->safe ? "yes" : "no");
        }
}

/* ---- the best ---- */

/* The best curve at a level but one; safe: only those that are. NULL if there is none. */
static const sv__curve *best_at(const sv__study_charts *charts, const sv__study_chart *chart,
                                uint32_t level, const sv__curve *but, bool safe)
{
    const sv__curve *best = NULL;
    double max = -INFINITY;
    for (size_t k = 0; k < chart->num_curves; k++) {
        const sv__curve *curve = &chart->curves[k];
        size_t cells;
        double mean = sv__curve_level(charts, curve, level, &cells).mean;
        if (curve != but && mean > max && (!safe || sv__curve_safe_at(curve, level))) {
            best = curve;
            max = mean;
        }
    }
    return best;
}

/* The others that cannot be told from the best one. */
static void put_equals(const sv__study_cases *cases, const sv__study_charts *charts,
                       const sv__study_chart *chart, uint32_t level, const sv__curve *best,
                       sv_table *t)
{
    sv_text names;
    sv_text_init(&names, cases->ctx, NULL);
    for (size_t k = 0; k < chart->num_curves; k++) {
        const sv__curve *curve = &chart->curves[k];
        if (curve == best || !sv__curve_safe_at(curve, level))
            continue;
        sv_sample difference = sv__curves_differ(charts, best, curve, level);
        if (sv__told_apart(&difference) == 0)
            sv_text_print(&names, "%s%s", names.length > 0 ? ", " : "",
                          cases->contenders[curve->contender].name);
    }
    if (sv_text_finish(&names) != SV_OK && t != NULL)
        t->owner->status = SV_NO_MEMORY;
    sv_table_text(t, names.length > 0 ? names.at : NULL);
    sv_text_release(&names);
}

static void best_row(const sv__study_cases *cases, const sv__study_charts *charts,
                     const sv__study_chart *chart, uint32_t level, sv_table *t)
{
    const sv__curve *best = best_at(charts, chart, level, NULL, true);
    const sv__curve *any = best_at(charts, chart, level, NULL, false);
    size_t cells;
    if (any == NULL)
        return;
    sv__chart_names(cases, chart, t);
    sv_table_text(t, cases->levels[level].words);
    if (best == NULL) {
        for (int i = 0; i < 6; i++)
            sv_table_missing(t);
    } else {
        const sv__curve *next = best_at(charts, chart, level, best, true);
        sv_table_text(t, cases->contenders[best->contender].name);
        sv_table_number(t, sv__curve_level(charts, best, level, &cells).mean);
        sv_table_text(t, next == NULL ? NULL : cases->contenders[next->contender].name);
        sv_sample difference =
            next == NULL ? sv_sample_of(NULL, 0) : sv__curves_differ(charts, best, next, level);
        sv_table_number(t, difference.mean);
        sv_table_number(t, difference.half);
        put_equals(cases, charts, chart, level, best, t);
    }
    bool faster = any != best && !sv__curve_safe_at(any, level);
    sv_table_text(t, faster ? cases->contenders[any->contender].name : NULL);
    sv_table_number(t, faster ? sv__curve_level(charts, any, level, &cells).mean : NAN);
}

static void add_best(const sv__study_cases *cases, const sv__study_charts *charts,
                     sv_tables *tables)
{
    sv_table *t =
        sv_table_new(tables, "degradation-best", "The best engine for each amount of failures",
                     "By mean throughput, of engines that are ok in all cells of the row; the "
                     "difference to the next is of paired cells, and those that it cannot be told "
                     "apart from are named. Faster: one that failed or can deadlock in some cell.");
    sv__chart_columns(t);
    sv_table_column(t, "faults", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "best", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "throughput", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "next", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "difference", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "±", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "cannot be told from", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "faster, not safe", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "its throughput", "GB/s", SV_ANY_DIGITS);
    for (size_t s = 0; s < charts->count; s++)
        for (size_t l = 0; l < charts->at[s].num_levels; l++)
            best_row(cases, charts, &charts->at[s], charts->at[s].levels[l], t);
}

/* ---- crossings ---- */

static void crossing_row(const sv__study_cases *cases, const sv__study_chart *chart,
                         const sv__curve *from, const sv__curve *to, const sv__crossing *c,
                         sv_table *t)
{
    double links = cases->fabrics[chart->fabric].links;
    sv__chart_names(cases, chart, t);
    sv_table_text(t, cases->contenders[from->contender].name);
    sv_table_text(t, cases->contenders[to->contender].name);
    sv_table_number(t, c->at);
    sv_table_number(t, c->low);
    sv_table_number(t, c->high);
    sv_table_number(t, chart->kind == SV__CAUSE_LINKS ? 100 * c->at / links : NAN);
    sv_table_number(t, sv_line_at(&from->line, c->at));
    sv_table_number(t, (double)c->cells);
    bool bounded = isfinite(c->low) && isfinite(c->high);
    sv_table_text(t, !sv__chart_highest(chart, from, to, c->at) ? "no"
                     : bounded                                  ? "yes"
                                                                : "cannot be told");
}

static void add_crossings(const sv__study_cases *cases, const sv__study_charts *charts,
                          sv_tables *tables)
{
    sv_table *t = sv_table_new(
        tables, "degradation-crossings", "Where another engine becomes the better one",
        "Failed parts at which the regression lines of two engines cross, over the cells that both "
        "can do; between low and high they cannot be told apart (95 %; a dash: no bound). Switch: "
        "the two are the best of all safe ones there, so that an administrator should.");
    sv__chart_columns(t);
    sv_table_column(t, "from", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "to", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "at", NULL, 1);
    sv_table_column(t, "low", NULL, 1);
    sv_table_column(t, "high", NULL, 1);
    sv_table_column(t, "of all links", "%", 2);
    sv_table_column(t, "throughput", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "cells", NULL, 0);
    sv_table_column(t, "switch", NULL, SV_TEXT_COLUMN);
    for (size_t s = 0; s < charts->count; s++) {
        const sv__study_chart *chart = &charts->at[s];
        for (size_t k = 0; k < chart->num_curves; k++)
            for (size_t m = k + 1; m < chart->num_curves; m++) {
                const sv__curve *a = &chart->curves[k], *b = &chart->curves[m];
                sv__crossing crossing;
                if (sv__curves_cross(charts, a, b, &crossing))
                    crossing_row(cases, chart, crossing.a_first ? a : b, crossing.a_first ? b : a,
                                 &crossing, t);
            }
    }
}

sv_status sv__answer_degradation(const sv__study_cases *cases, const sv_answer_options *options,
                                 sv_tables *tables)
{
    (void)options;
    sv__study_charts charts;
    SV_TRY(sv__charts_make(cases, &charts));
    add_means(cases, &charts, tables);
    add_lines(cases, &charts, tables);
    add_best(cases, &charts, tables);
    add_crossings(cases, &charts, tables);
    return tables->status;
}
