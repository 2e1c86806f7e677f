/*
 * answers_summary.c: what to do, in words, with the evidence.
 *
 * For each fabric, traffic and kind of failures: of the engines that are ok in every cell, the one
 * with the most throughput in the mean over all amounts of failures (each amount counts once), on
 * the cells that all of them have (summary_choice.c). Its next is the best of the others. They are
 * compared seed by seed, in the mean over all amounts; where the mean of these differences is
 * within its confidence, the sentence says that they cannot be told apart. Where another engine is
 * better from some number of failures on, it says from which; and it says why others are out of the
 * question.
 *
 * Nothing is recommended that was not measured: what was not simulated is judged by the busiest
 * channel (summary_tables.c), and said so.
 */
#include <math.h>
#include <string.h>

#include "study/charts.h"
#include "study/summary.h"

/* What is said about one chart. */
typedef struct advice {
    const sv__study_chart *chart;
    const sv__curve *best, *next; /* NULL if there is none */
    uint32_t last;                /* the amount of failures that is told about */
    double kept, there;           /* at last: share of the fault-free throughput, and throughput */
    sv_sample difference;         /* best less next, over seeds */
    sv__choice choice;
} advice;

static const char *name_of(const sv__study_cases *cases, const sv__curve *curve)
{
    return cases->contenders[curve->contender].name;
}

static double terminals_of(const sv__study_cases *cases, const sv__study_chart *chart)
{
    return cases->fabrics[chart->fabric].terminals;
}

/* ---- choosing ---- */

static sv_status choose(const sv__study_cases *cases, const sv__study_chart *chart,
                        sv__choice *choice)
{
    SV_TRY(sv__choice_begin(cases, chart->num_curves, choice));
    for (size_t k = 0; k < chart->num_curves; k++) {
        const sv__curve *curve = &chart->curves[k];
        if (!curve->safe)
            continue;
        SV_TRY(sv__choice_add(cases, curve->contender, curve->count, choice));
        for (size_t i = 0; i < curve->count; i++)
            sv__choice_cell(curve->at[i], sv__case_throughput(curve->at[i]), choice);
    }
    return sv__choose(cases, choice);
}

static const sv__curve *curve_of(const sv__study_chart *chart, const sv__study_candidate *candidate)
{
    for (size_t k = 0; candidate != NULL && k < chart->num_curves; k++)
        if (chart->curves[k].contender == candidate->contender)
            return &chart->curves[k];
    return NULL;
}

/* The amount to tell about: that of the years asked for, or the largest that was measured. */
static uint32_t level_to_tell(const sv__study_cases *cases, const sv__study_charts *charts,
                              const sv__study_chart *chart, const sv__curve *best, double years)
{
    uint32_t last = chart->levels[chart->num_levels - 1];
    bool found = false;
    for (size_t l = chart->num_levels; best != NULL && l-- > 0;) {
        const sv__level *level = &cases->levels[chart->levels[l]];
        size_t cells;
        if (sv__curve_level(charts, best, chart->levels[l], &cells).count == 0)
            continue;
        if (years > 0 && level->kind == SV__CAUSE_YEARS && level->amount == years)
            return chart->levels[l];
        last = found ? last : chart->levels[l];
        found = true;
    }
    return last;
}

static sv_status advise(const sv__study_cases *cases, const sv__study_charts *charts,
                        const sv__study_chart *chart, double years, advice *a)
{
    *a = (advice){.chart = chart, .kept = NAN, .there = NAN, .difference = sv_sample_of(NULL, 0)};
    SV_TRY(choose(cases, chart, &a->choice));
    const sv__study_candidate *best = sv__choice_best(&a->choice, 1, NULL);
    a->best = curve_of(chart, best);
    a->last = level_to_tell(cases, charts, chart, a->best, years);
    if (a->best == NULL)
        return SV_OK;
    size_t cells;
    a->next = curve_of(chart, sv__choice_best(&a->choice, 1, best));
    a->there = sv__curve_level(charts, a->best, a->last, &cells).mean;
    a->kept = a->there / a->best->fault_free;
    if (a->next != NULL)
        a->difference = sv__curves_differ_by_seed(cases, charts, a->choice.levels,
                                                  a->choice.num_levels, a->best, a->next);
    return SV_OK;
}

/* ---- saying ---- */

static bool has_failures(const sv__study_cases *cases, const advice *a)
{
    return cases->levels[a->last].kind != SV__CAUSE_NONE;
}

/* ": 468.3 GB/s without failures, 211 GB/s (45 %) after links 40%." */
static void say_throughput(const sv__study_cases *cases, const advice *a, sv_text *out)
{
    if (!isnan(a->best->fault_free))
        sv_text_print(out, ": %.5g GB/s without failures", a->best->fault_free);
    if (!has_failures(cases, a)) {
        sv_text_print(out, ".");
        return;
    }
    sv_text_print(out, "%s %.5g GB/s", isnan(a->best->fault_free) ? ":" : ",", a->there);
    if (!isnan(a->kept))
        sv_text_print(out, " (%.0f %%)", 100 * a->kept);
    sv_text_print(out, " after %s.", cases->levels[a->last].words);
}

/* Engines that were run under this traffic, but not with these failures. */
static size_t say_absent(const sv__study_cases *cases, const advice *a, sv_text *out)
{
    size_t absent = 0;
    for (size_t i = 0; i < cases->count; i = sv__run_end(cases, i, 3)) {
        const sv__study_case *c = &cases->at[i];
        bool here = c->fabric == a->chart->fabric && c->traffic == a->chart->traffic;
        for (size_t k = 0; here && k < a->chart->num_curves; k++)
            here = a->chart->curves[k].contender != c->contender;
        if (!here)
            continue;
        if (out != NULL)
            sv_text_print(out, "%s%s", absent == 0 ? " Not measured with these failures: " : ", ",
                          cases->contenders[c->contender].name);
        absent++;
    }
    if (absent > 0 && out != NULL)
        sv_text_print(out, ".");
    return absent;
}

static void say_next(const sv__study_cases *cases, const advice *a, sv_text *out)
{
    const sv_sample *d = &a->difference;
    if (a->next == NULL) {
        bool more = cases->open > 0 || say_absent(cases, a, NULL) > 0;
        const char *alone = sv__say_alone(&a->choice, a->chart->num_curves, more);
        sv_text_print(out, "%s%s", alone[0] == 0 ? "" : " ", alone);
        return;
    }
    const char *side = d->mean < 0 ? "above" : "below", *next = name_of(cases, a->next);
    if (d->count == 0)
        sv_text_print(out, " Next is %s, without a seed that both have at all amounts.", next);
    else if (isnan(d->half) && fabs(d->mean) <= 1e-9 * a->there)
        sv_text_print(out, " %s has the same throughput with the only seed: no confidence.", next);
    else if (isnan(d->half))
        sv_text_print(out, " Next is %s, %.4g GB/s %s with the only seed: no confidence.", next,
                      fabs(d->mean), side);
    else if (sv__told_apart(d) == 1)
        sv_text_print(out, " Next is %s, %.4g ± %.2g GB/s %s in the mean over %zu seeds.", next,
                      fabs(d->mean), d->half, side, d->count);
    else
        sv_text_print(out,
                      " It cannot be told apart from %s: the difference over %zu seeds is "
                      "%.4g ± %.2g GB/s.",
                      next, d->count, d->mean, d->half);
}

/* Where others are better than the recommended one. */
static void say_crossings(const sv__study_cases *cases, const sv__study_charts *charts,
                          const advice *a, sv_text *out)
{
    for (size_t k = 0; k < a->chart->num_curves; k++) {
        const sv__curve *other = &a->chart->curves[k];
        sv__crossing c;
        if (other == a->best || !other->safe || !sv__curves_cross(charts, a->best, other, &c) ||
            !sv__chart_highest(a->chart, a->best, other, c.at))
            continue;
        if (c.a_first)
            sv_text_print(out, " From about %.0f %s on, %s is better", c.at,
                          sv__chart_parts(a->chart), name_of(cases, other));
        else
            sv_text_print(out, " Up to about %.0f %s, %s is better", c.at,
                          sv__chart_parts(a->chart), name_of(cases, other));
        if (isfinite(c.low) && isfinite(c.high))
            sv_text_print(out, " (between %.1f and %.1f they cannot be told apart).",
                          fmax(c.low, 0), c.high);
        else
            sv_text_print(out, ", but how the two lines differ is within their confidence.");
    }
}

/* Engines that are out of the question, and why. */
static void say_unsafe(const sv__study_cases *cases, const advice *a, sv_text *out)
{
    static const char *const what[SV__NUM_OUTCOMES] = {
        NULL,      "can deadlock",          "deadlocked in", "left pairs unjoined in",
        "refused", "could not be judged in"};
    const char *separator = " Not usable: ";
    for (size_t k = 0; k < a->chart->num_curves; k++) {
        const sv__curve *curve = &a->chart->curves[k];
        if (curve->safe)
            continue;
        sv_text_print(out, "%s%s (", separator, name_of(cases, curve));
        const char *comma = "";
        for (int o = SV__CASE_OK + 1; o < SV__NUM_OUTCOMES; o++) {
            if (curve->outcomes[o] == 0)
                continue;
            sv_text_print(out, "%s%s %zu", comma, what[o], curve->outcomes[o]);
            comma = ", ";
        }
        sv_text_print(out, " of %zu cell%s)", curve->drawn, curve->drawn == 1 ? "" : "s");
        separator = ", ";
    }
    if (separator[0] == ',')
        sv_text_print(out, ".");
}

static void say(const sv__study_cases *cases, const sv__study_charts *charts, const advice *a,
                sv_table *t)
{
    sv_text out;
    sv_text_init(&out, cases->ctx, NULL);
    sv_text_print(&out, "%s, %s, %s: ", cases->fabrics[a->chart->fabric].name,
                  cases->traffics[a->chart->traffic], cases->families[a->chart->family]);
    if (a->best == NULL) {
        bool more = cases->open > 0 || say_absent(cases, a, NULL) > 0;
        sv_text_print(&out, a->choice.count > 0 ? "no throughput of a safe engine was measured."
                            : more ? "no engine that was measured is safe in all cells."
                                   : "no engine is safe in all cells.");
    } else {
        sv_text_print(&out, "use %s", name_of(cases, a->best));
        say_throughput(cases, a, &out);
        say_next(cases, a, &out);
        say_crossings(cases, charts, a, &out);
    }
    sv__say_missing(cases, &a->choice, a->chart->levels, a->chart->num_levels, &out);
    say_absent(cases, a, &out);
    say_unsafe(cases, a, &out);
    if (sv_text_finish(&out) == SV_OK)
        sv_table_note(t, "%s", out.at);
    else if (t != NULL)
        t->owner->status = SV_NO_MEMORY;
    sv_text_release(&out);
}

/* ---- the table ---- */

static void summary_columns(sv_table *t)
{
    sv__chart_columns(t);
    sv_table_column(t, "engine", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "fault-free", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "after", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "throughput", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "a terminal", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "kept", "%", 1);
    sv_table_column(t, "next", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "difference", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "±", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "told apart", NULL, SV_TEXT_COLUMN);
}

static void summary_row(const sv__study_cases *cases, const advice *a, sv_table *t)
{
    sv__chart_names(cases, a->chart, t);
    if (a->best == NULL) {
        for (int i = 0; i < 10; i++)
            sv_table_missing(t);
        return;
    }
    int told = sv__told_apart(&a->difference);
    sv_table_text(t, name_of(cases, a->best));
    sv_table_number(t, a->best->fault_free);
    sv_table_text(t, cases->levels[a->last].words);
    sv_table_number(t, a->there);
    sv_table_number(t, a->there / terminals_of(cases, a->chart));
    sv_table_number(t, 100 * a->kept);
    sv_table_text(t, a->next == NULL ? NULL : name_of(cases, a->next));
    sv_table_number(t, a->difference.mean);
    sv_table_number(t, a->difference.half);
    sv_table_text(t, told < 0 ? NULL : told == 1 ? "yes" : "no");
}

/* Of the fabrics under the same traffic and failures: which gives and which keeps most. */
static void say_fabrics(const sv__study_cases *cases, const advice *all, size_t count, size_t first,
                        sv_table *t)
{
    const advice *gives = NULL, *keeps = NULL, *a = &all[first];
    size_t fabrics = 0;
    double min = INFINITY, min_kept = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const advice *b = &all[i];
        if (b->chart->traffic != a->chart->traffic || b->last != a->last || b->best == NULL)
            continue;
        if (i < first)
            return; /* said already */
        fabrics++;
        double each = b->there / terminals_of(cases, b->chart);
        if (each > 0 && (gives == NULL || each > gives->there / terminals_of(cases, gives->chart)))
            gives = b;
        min = fmin(min, each);
        min_kept = fmin(min_kept, b->kept);
        if (b->kept > 0 && (keeps == NULL || b->kept > keeps->kept))
            keeps = b;
    }
    if (fabrics < 2)
        return;
    const char *traffic = cases->traffics[a->chart->traffic];
    bool fails = has_failures(cases, a);
    const char *after = fails ? "after " : "without failures";
    const char *words = fails ? cases->levels[a->last].words : "";
    double max = gives == NULL ? NAN : gives->there / terminals_of(cases, gives->chart);
    if (max - min <= 1e-9 * max)
        sv_table_note(t, "All %zu fabrics give a terminal the same %s%s (%s): %.4g GB/s.", fabrics,
                      after, words, traffic, max);
    else if (gives != NULL)
        sv_table_note(t, "Of %zu fabrics, %s with %s gives a terminal most %s%s (%s): %.4g GB/s.",
                      fabrics, cases->fabrics[gives->chart->fabric].name,
                      name_of(cases, gives->best), after, words, traffic, max);
    if (keeps == NULL || !fails)
        return;
    if (keeps->kept - min_kept <= 1e-9 * keeps->kept)
        sv_table_note(t, "All %zu fabrics keep the same share of their own throughput: %.0f %%.",
                      fabrics, 100 * keeps->kept);
    else
        sv_table_note(t, "Of %zu fabrics, %s with %s keeps most of its own throughput: %.0f %%.",
                      fabrics, cases->fabrics[keeps->chart->fabric].name,
                      name_of(cases, keeps->best), 100 * keeps->kept);
}

sv_status sv__answer_summary(const sv__study_cases *cases, const sv_answer_options *options,
                             sv_tables *tables)
{
    sv__study_charts charts;
    SV_TRY(sv__charts_make(cases, &charts));
    advice *all = SV_ARENA_NEW(cases->arena, advice, charts.count + 1);
    if (all == NULL)
        return SV_NO_MEMORY;
    sv_table *t = sv_table_new(
        tables, "summary", "What to use",
        "Of the engines that are ok in every cell, the one with the most throughput in "
        "the mean over all amounts of failures, and the next after it; the difference "
        "is of both means, seed by seed, with its 95 % confidence.");
    summary_columns(t);
    for (size_t s = 0; s < charts.count; s++) {
        SV_TRY(advise(cases, &charts, &charts.at[s], options->years, &all[s]));
        summary_row(cases, &all[s], t);
        say(cases, &charts, &all[s], t);
    }
    for (size_t s = 0; s < charts.count; s++)
        if (all[s].best != NULL)
            say_fabrics(cases, all, charts.count, s, t);
    sv__note_cells(cases, t);
    sv__note_undrawn(cases, t);
    SV_TRY(sv__summary_tables(cases, tables));
    return tables->status;
}
