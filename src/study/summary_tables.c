/*
 * summary_tables.c: which engine, where nothing was simulated: by the most routes on a channel
 * (EFI), which bounds what an all-to-all can get.
 *
 * Groups of fabrics with a simulated cell are left out here. Of the engines that are ok in every
 * cell, that with the least EFI in the mean over all amounts of failures is named, and whether the
 * next one can be told from it, by paired cells.
 */
#include <math.h>

#include "study/bundles.h"
#include "study/summary.h"

/* The bundles of one group, and who may be chosen. */
typedef struct group {
    const sv__study_cases *cases;
    const sv__bundles *bundles;
    size_t from, to;
    uint32_t *levels;            /* that were measured */
    size_t num_levels, measured; /* contenders that were, safe or not */
    sv__choice choice;
    double *differences; /* scratch */
} group;

static bool is_simulated(const group *g)
{
    for (size_t i = g->from; i < g->to; i++)
        for (size_t k = 0; k < g->bundles->at[i].count; k++)
            if (g->bundles->at[i].at[k].traffic != 0)
                return true;
    return false;
}

/* The levels that anyone was measured at, in order. */
static sv_status list_levels(group *g)
{
    g->levels = SV_ARENA_NEW(g->cases->arena, uint32_t, g->cases->num_levels + 1);
    if (g->levels == NULL)
        return SV_NO_MEMORY;
    for (size_t i = g->from; i < g->to; i++) {
        const sv__bundle *b = &g->bundles->at[i];
        if (sv__bundle_drawn(b) > 0 &&
            (g->num_levels == 0 || g->levels[g->num_levels - 1] != b->level))
            g->levels[g->num_levels++] = b->level;
    }
    return SV_OK;
}

/* Makes a candidate of a contender that was ok in every cell; EFI is what counts. */
static sv_status consider(group *g, uint32_t contender)
{
    size_t cells = 0, ok = 0;
    for (size_t i = g->from; i < g->to; i++)
        if (g->bundles->at[i].contender == contender) {
            cells += sv__bundle_drawn(&g->bundles->at[i]);
            ok += sv__bundle_outcomes(&g->bundles->at[i], SV__CASE_OK);
        }
    g->measured += cells > 0;
    if (cells == 0 || ok < cells)
        return SV_OK;
    SV_TRY(sv__choice_add(g->cases, contender, cells, &g->choice));
    for (size_t i = g->from; i < g->to; i++) {
        const sv__bundle *b = &g->bundles->at[i];
        for (size_t k = 0; b->contender == contender && k < b->count; k++)
            if (!b->at[k].undrawn)
                sv__choice_cell(&b->at[k], b->at[k].value[SV__EFI_MAX], &g->choice);
    }
    return SV_OK;
}

/* EFI of b less that of a, over cells of both. */
static sv_sample differ(const group *g, const sv__study_candidate *a, const sv__study_candidate *b)
{
    size_t count = 0;
    for (size_t p = 0, q = 0; p < a->count; p++) {
        const sv__measured *x = &a->at[p];
        while (q < b->count && sv__measured_order(&b->at[q], x) < 0)
            q++;
        if (q < b->count && sv__measured_order(&b->at[q], x) == 0)
            g->differences[count++] = b->at[q].value - x->value;
    }
    return sv_sample_of(g->differences, count);
}

static void say(const group *g, const char *engine, const char *next, const sv_sample *d,
                sv_text *out)
{
    sv_text_print(out, "%s, not simulated: ", g->cases->groups[g->bundles->at[g->from].group]);
    if (next == NULL)
        sv_text_print(out, "use %s. %s", engine,
                      sv__say_alone(&g->choice, g->measured, g->cases->open > 0));
    else if (isnan(d->half) && d->mean == 0)
        sv_text_print(out,
                      "%s and %s have equally loaded busiest channels (one cell, so without "
                      "confidence).",
                      engine, next);
    else if (isnan(d->half))
        sv_text_print(out,
                      "%s has the least loaded busiest channel; next is %s with %.4g routes more "
                      "(one cell, so without confidence).",
                      engine, next, d->mean);
    else if (fabs(d->mean) > d->half)
        sv_text_print(out,
                      "%s has the least loaded busiest channel; next is %s with %.4g ± %.2g "
                      "routes more over %zu paired cells.",
                      engine, next, d->mean, d->half, d->count);
    else
        sv_text_print(out,
                      "%s and %s have the least loaded busiest channels and cannot be told apart "
                      "(%.4g ± %.2g routes over %zu paired cells).",
                      engine, next, d->mean, d->half, d->count);
    sv__say_missing(g->cases, &g->choice, g->levels, g->num_levels, out);
}

static sv_status add_group(group *g, sv_table *t)
{
    SV_TRY(list_levels(g));
    SV_TRY(sv__choice_begin(g->cases, g->cases->num_contenders, &g->choice));
    for (uint32_t k = 0; k < g->cases->num_contenders; k++)
        SV_TRY(consider(g, k));
    SV_TRY(sv__choose(g->cases, &g->choice));
    const sv__study_candidate *best = sv__choice_best(&g->choice, -1, NULL);
    if (best == NULL)
        return SV_OK;
    const sv__study_candidate *next = sv__choice_best(&g->choice, -1, best);
    const char *engine = g->cases->contenders[best->contender].name;
    const char *second = next == NULL ? NULL : g->cases->contenders[next->contender].name;
    sv_sample d = next == NULL ? sv_sample_of(NULL, 0) : differ(g, best, next);
    sv_table_text(t, g->cases->groups[g->bundles->at[g->from].group]);
    sv_table_text(t, engine);
    sv_table_number(t, best->score);
    sv_table_text(t, second);
    sv_table_number(t, d.mean);
    sv_table_number(t, d.half);
    sv_table_text(t, isnan(d.half) ? NULL : fabs(d.mean) > d.half ? "yes" : "no");
    sv_text out;
    sv_text_init(&out, g->cases->ctx, NULL);
    say(g, engine, second, &d, &out);
    sv_status status = sv_text_finish(&out);
    if (status == SV_OK)
        sv_table_note(t, "%s", out.at);
    sv_text_release(&out);
    return status;
}

sv_status sv__summary_tables(const sv__study_cases *cases, sv_tables *tables)
{
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, true, &bundles));
    double *differences = SV_ARENA_NEW(cases->arena, double, cases->count + 1);
    if (differences == NULL)
        return SV_NO_MEMORY;
    sv_table *t = sv_table_new(tables, "summary-tables", "What to use where nothing was simulated",
                               "Of the engines that are ok in every cell, that with the fewest "
                               "routes on its busiest channel (EFI), in the mean over all amounts "
                               "of failures.");
    sv_table_column(t, "fabric", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "engine", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "EFI", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "next", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "more", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "±", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "told apart", NULL, SV_TEXT_COLUMN);
    for (size_t i = 0, end; i < bundles.count; i = end) {
        for (end = i; end < bundles.count && bundles.at[end].group == bundles.at[i].group;)
            end++;
        group g = {
            .cases = cases, .bundles = &bundles, .from = i, .to = end, .differences = differences};
        if (!is_simulated(&g))
            SV_TRY(add_group(&g, t));
    }
    sv__note_undrawn(cases, t);
    return SV_OK;
}
