/*
 * charts.c: throughput over failures, curve by curve.
 *
 * The fault-free cell has seed 0 and counts once, however many seeds there are: it is one
 * experiment. Engines are compared on cells that both can do: seeds are paired, so the same parts
 * have failed, and the difference of two throughputs varies less than either. Two regression lines
 * over the same cells cross where the regression of their differences is nought; and where that is
 * not to be told from nought, nor are the lines (Fieller).
 *
 * Cost: O(cases) for each family of failures; comparisons O(cells of the curves).
 */
#include "study/charts.h"

#include <math.h>

static bool is_free(const sv__study_cases *cases, const sv__study_case *c)
{
    return cases->levels[c->level].kind == SV__CAUSE_NONE;
}

/* ---- making them ---- */

/* A curve from a run of cases of one fabric, traffic and contender; without cells if it has none of
 * the chart's failures. */
static sv_status make_curve(const sv__study_cases *cases, size_t from, size_t to,
                            const sv__study_chart *chart, sv__curve *curve)
{
    sv_arena *arena = cases->arena;
    size_t room = 0, own = 0;
    for (size_t i = from; i < to; i++) {
        bool in_family = cases->levels[cases->at[i].level].family == chart->family;
        room += in_family || is_free(cases, &cases->at[i]);
        own += in_family && !cases->at[i].undrawn;
    }
    *curve = (sv__curve){.contender = cases->at[from].contender,
                         .at = SV_ARENA_NEW(arena, const sv__study_case *, room + 1),
                         .points = SV_ARENA_NEW(arena, const sv__study_case *, room + 1),
                         .x = SV_ARENA_NEW(arena, double, room + 1),
                         .y = SV_ARENA_NEW(arena, double, room + 1),
                         .fault_free = NAN};
    if (curve->at == NULL || curve->points == NULL || curve->x == NULL || curve->y == NULL)
        return SV_NO_MEMORY;
    for (size_t i = from; own > 0 && i < to; i++) {
        const sv__study_case *c = &cases->at[i];
        if (!is_free(cases, c) && cases->levels[c->level].family != chart->family)
            continue;
        curve->at[curve->count++] = c;
        if (c->undrawn)
            continue;
        curve->drawn++;
        curve->outcomes[c->outcome]++;
        double x = sv__case_failed(cases, c, chart->kind), y = sv__case_throughput(c);
        if (isnan(x) || isnan(y))
            continue;
        curve->points[curve->num_points] = c;
        curve->x[curve->num_points] = x;
        curve->y[curve->num_points++] = y;
        if (is_free(cases, c))
            curve->fault_free = y;
    }
    curve->safe = curve->outcomes[SV__CASE_OK] == curve->drawn;
    curve->has_line = sv_line_of(curve->x, curve->y, curve->num_points, &curve->line);
    return SV_OK;
}

/* The levels of the chart's cases, in order of rank. */
static sv_status list_levels(const sv__study_cases *cases, sv__study_chart *chart)
{
    bool *used = SV_ARENA_NEW(cases->arena, bool, cases->num_levels + 1);
    uint32_t *by_rank = SV_ARENA_NEW(cases->arena, uint32_t, cases->num_levels + 1);
    chart->levels = SV_ARENA_NEW(cases->arena, uint32_t, cases->num_levels + 1);
    if (used == NULL || by_rank == NULL || chart->levels == NULL)
        return SV_NO_MEMORY;
    for (size_t k = 0; k < chart->num_curves; k++)
        for (size_t i = 0; i < chart->curves[k].count; i++) {
            const sv__study_case *c = chart->curves[k].at[i];
            if (c->undrawn)
                continue;
            used[c->rank] = true;
            by_rank[c->rank] = c->level;
        }
    for (size_t rank = 0; rank < cases->num_levels; rank++)
        if (used[rank])
            chart->levels[chart->num_levels++] = by_rank[rank];
    return SV_OK;
}

/* The chart of cases from … to, which are of one fabric and traffic; unless it has no curves. */
static sv_status add_scene(const sv__study_cases *cases, size_t from, size_t to, uint32_t family,
                           sv__study_charts *charts)
{
    sv__study_chart *chart = &charts->at[charts->count];
    *chart =
        (sv__study_chart){.fabric = cases->at[from].fabric,
                          .traffic = cases->at[from].traffic,
                          .family = family,
                          .kind = sv__family_cause(cases, family),
                          .curves = SV_ARENA_NEW(cases->arena, sv__curve, cases->num_contenders)};
    if (chart->curves == NULL)
        return SV_NO_MEMORY;
    for (size_t i = from; i < to;) {
        size_t end = sv__run_end(cases, i, 3);
        SV_TRY(make_curve(cases, i, end, chart, &chart->curves[chart->num_curves]));
        chart->num_curves += chart->curves[chart->num_curves].count > 0;
        i = end;
    }
    charts->count += chart->num_curves > 0;
    return list_levels(cases, chart);
}

/* Whether a run of cases has failures of a family. */
static bool has_family(const sv__study_cases *cases, size_t from, size_t to, uint32_t family)
{
    for (size_t i = from; i < to; i++)
        if (cases->levels[cases->at[i].level].family == family)
            return true;
    return false;
}

sv_status sv__charts_make(const sv__study_cases *cases, sv__study_charts *charts)
{
    size_t room = 0, end;
    for (size_t i = 0; i < cases->count; i = sv__run_end(cases, i, 2))
        room += cases->num_families;
    *charts =
        (sv__study_charts){.at = SV_ARENA_NEW(cases->arena, sv__study_chart, room + 1),
                           .scratch = SV_ARENA_NEW(cases->arena, double, 2 * cases->count + 2)};
    if (charts->at == NULL || charts->scratch == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < cases->count; i = end) {
        end = sv__run_end(cases, i, 2);
        if (cases->at[i].traffic == 0)
            continue;
        size_t before = charts->count;
        uint32_t free_family = UINT32_MAX;
        for (uint32_t f = 0; f < cases->num_families; f++) {
            if (!has_family(cases, i, end, f))
                continue;
            if (sv__family_cause(cases, f) == SV__CAUSE_NONE)
                free_family = f;
            else
                SV_TRY(add_scene(cases, i, end, f, charts));
        }
        if (charts->count == before && free_family != UINT32_MAX)
            SV_TRY(add_scene(cases, i, end, free_family, charts));
    }
    return SV_OK;
}

/* ---- looking at them ---- */

sv_sample sv__curve_level(const sv__study_charts *charts, const sv__curve *curve, uint32_t level,
                          size_t *cells)
{
    size_t count = 0;
    *cells = 0;
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->at[i]->level != level || curve->at[i]->undrawn)
            continue;
        double throughput = sv__case_throughput(curve->at[i]);
        if (!isnan(throughput))
            charts->scratch[count++] = throughput;
        ++*cells;
    }
    return sv_sample_of(charts->scratch, count);
}

bool sv__curve_safe_at(const sv__curve *curve, uint32_t level)
{
    size_t cells = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const sv__study_case *c = curve->at[i];
        if (c->level != level || c->undrawn)
            continue;
        if (c->outcome != SV__CASE_OK || isnan(c->value[SV__THROUGHPUT]))
            return false;
        cells++;
    }
    return cells > 0;
}

/* Pairs of points of the same level and seed: x and a's y less b's, into the scratch. */
static size_t pair(const sv__study_charts *charts, const sv__curve *a, const sv__curve *b,
                   uint32_t level, double **x, double **y)
{
    size_t count = 0, k = 0;
    *x = charts->scratch;
    *y = charts->scratch + a->num_points;
    for (size_t i = 0; i < a->num_points; i++) {
        const sv__study_case *p = a->points[i];
        while (k < b->num_points &&
               (b->points[k]->rank < p->rank ||
                (b->points[k]->rank == p->rank && b->points[k]->seed < p->seed)))
            k++;
        if (k == b->num_points)
            break;
        if (b->points[k]->level != p->level || b->points[k]->seed != p->seed ||
            (level != SV__ALL_LEVELS && p->level != level))
            continue;
        (*x)[count] = a->x[i];
        (*y)[count++] = a->y[i] - b->y[k];
    }
    return count;
}

sv_sample sv__curves_differ(const sv__study_charts *charts, const sv__curve *a, const sv__curve *b,
                            uint32_t level)
{
    double *x, *y;
    size_t count = pair(charts, a, b, level, &x, &y);
    return sv_sample_of(y, count);
}

/* The throughput of a level and seed; NAN if there is none. */
static double point_at(const sv__curve *curve, uint32_t level, int64_t seed)
{
    for (size_t i = 0; i < curve->num_points; i++)
        if (curve->points[i]->level == level && curve->points[i]->seed == seed)
            return curve->y[i];
    return NAN;
}

sv_sample sv__curves_differ_by_seed(const sv__study_cases *cases, const sv__study_charts *charts,
                                    const uint32_t *levels, size_t num_levels, const sv__curve *a,
                                    const sv__curve *b)
{
    size_t count = 0;
    uint32_t last = levels[num_levels - 1];
    for (size_t i = 0; i < a->num_points; i++) {
        int64_t seed = a->points[i]->seed;
        double sum = 0;
        if (a->points[i]->level != last)
            continue; /* every seed once: those of one level, as all must be there */
        for (size_t l = 0; l < num_levels; l++) {
            uint32_t level = levels[l];
            int64_t own = cases->levels[level].kind == SV__CAUSE_NONE ? 0 : seed;
            sum += point_at(a, level, own) - point_at(b, level, own);
        }
        if (!isnan(sum))
            charts->scratch[count++] = sum / (double)num_levels;
    }
    return sv_sample_of(charts->scratch, count);
}

bool sv__curves_cross(const sv__study_charts *charts, const sv__curve *a, const sv__curve *b,
                      sv__crossing *crossing)
{
    double *x, *y;
    sv_line line;
    crossing->cells = pair(charts, a, b, SV__ALL_LEVELS, &x, &y);
    if (!sv_line_of(x, y, crossing->cells, &line) ||
        !sv_line_reaches(&line, 0, &crossing->at, &crossing->low, &crossing->high))
        return false;
    crossing->a_first = line.slope < 0;
    return crossing->at > line.min_x && crossing->at <= line.max_x;
}

bool sv__chart_highest(const sv__study_chart *chart, const sv__curve *a, const sv__curve *b,
                       double x)
{
    for (size_t k = 0; k < chart->num_curves; k++) {
        const sv__curve *other = &chart->curves[k];
        if (other != a && other != b && other->safe && other->has_line &&
            sv_line_at(&other->line, x) > sv_line_at(&a->line, x))
            return false;
    }
    return a->safe && b->safe;
}

void sv__chart_columns(sv_table *table)
{
    sv_table_column(table, "fabric", NULL, SV_TEXT_COLUMN);
    sv_table_column(table, "traffic", NULL, SV_TEXT_COLUMN);
    sv_table_column(table, "failures", NULL, SV_TEXT_COLUMN);
}

void sv__chart_names(const sv__study_cases *cases, const sv__study_chart *chart, sv_table *table)
{
    sv_table_text(table, cases->fabrics[chart->fabric].name);
    sv_table_text(table, cases->traffics[chart->traffic]);
    sv_table_text(table, cases->families[chart->family]);
}

const char *sv__chart_parts(const sv__study_chart *chart)
{
    return chart->kind == SV__CAUSE_LINKS      ? "failed links"
           : chart->kind == SV__CAUSE_SWITCHES ? "failed switches"
                                               : "failed parts";
}

int sv__told_apart(const sv_sample *difference)
{
    if (isnan(difference->half))
        return -1;
    return fabs(difference->mean) > difference->half;
}
