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

/* The bundles of one group, and one contender among them. */
typedef struct group {
    const sv__cases *cases;
    const sv__bundles *bundles;
    size_t from, to;
} group;

static bool is_simulated(const group *g)
{
    for (size_t i = g->from; i < g->to; i++)
        for (size_t k = 0; k < g->bundles->at[i].count; k++)
            if (g->bundles->at[i].at[k].traffic != 0)
                return true;
    return false;
}

static size_t num_levels(const group *g)
{
    size_t levels = 0;
    for (size_t i = g->from; i < g->to; i++)
        levels += i == g->from || g->bundles->at[i].level != g->bundles->at[i - 1].level;
    return levels;
}

/* Mean EFI of a contender over all levels; NAN if it is not ok everywhere. */
static double score(const group *g, uint32_t contender)
{
    double sum = 0;
    size_t levels = 0;
    for (size_t i = g->from; i < g->to; i++) {
        const sv__bundle *b = &g->bundles->at[i];
        if (b->contender != contender)
            continue;
        if (sv__bundle_outcomes(b, SV__CASE_OK) < b->count)
            return NAN;
        sum += sv__bundle_sample(g->bundles, b, SV__EFI_MAX).mean;
        levels++;
    }
    return levels == num_levels(g) ? sum / (double)levels : NAN;
}

static uint32_t best_of(const group *g, uint32_t but)
{
    uint32_t best = UINT32_MAX;
    double least = INFINITY;
    for (uint32_t k = 0; k < g->cases->num_contenders; k++) {
        double points = k == but ? NAN : score(g, k);
        if (points < least) {
            best = k;
            least = points;
        }
    }
    return best;
}

/* EFI of b less that of a, over cells of both. */
static sv_sample differ(const group *g, uint32_t a, uint32_t b)
{
    size_t count = 0;
    for (size_t i = g->from; i < g->to; i++) {
        const sv__bundle *x = &g->bundles->at[i];
        if (x->contender != a)
            continue;
        for (size_t k = g->from; k < g->to; k++) {
            const sv__bundle *y = &g->bundles->at[k];
            if (y->contender != b || y->level != x->level)
                continue;
            for (size_t p = 0, q = 0; p < x->count; p++) {
                while (q < y->count &&
                       (y->at[q].fabric < x->at[p].fabric ||
                        (y->at[q].fabric == x->at[p].fabric && y->at[q].seed < x->at[p].seed)))
                    q++;
                if (q < y->count && y->at[q].fabric == x->at[p].fabric &&
                    y->at[q].seed == x->at[p].seed)
                    g->bundles->scratch[count++] =
                        y->at[q].value[SV__EFI_MAX] - x->at[p].value[SV__EFI_MAX];
            }
        }
    }
    return sv_sample_of(g->bundles->scratch, count);
}

static void say(const group *g, uint32_t best, uint32_t next, const sv_sample *d, sv_table *t)
{
    const char *name = g->cases->groups[g->bundles->at[g->from].group];
    const char *engine = g->cases->contenders[best].name;
    if (next == UINT32_MAX)
        sv_table_note(t, "%s, not simulated: use %s; no other engine is safe in all cells.", name,
                      engine);
    else if (isnan(d->half))
        sv_table_note(t,
                      "%s, not simulated: %s has the least loaded busiest channel; next is %s with "
                      "%.4g routes more (one cell, so without confidence).",
                      name, engine, g->cases->contenders[next].name, d->mean);
    else if (fabs(d->mean) > d->half)
        sv_table_note(t,
                      "%s, not simulated: %s has the least loaded busiest channel; next is %s with "
                      "%.4g ± %.2g routes more over %zu paired cells.",
                      name, engine, g->cases->contenders[next].name, d->mean, d->half, d->count);
    else
        sv_table_note(t,
                      "%s, not simulated: %s and %s have the least loaded busiest channels and "
                      "cannot be told apart (%.4g ± %.2g routes over %zu paired cells).",
                      name, engine, g->cases->contenders[next].name, d->mean, d->half, d->count);
}

static void add_group(const group *g, sv_table *t)
{
    uint32_t best = best_of(g, UINT32_MAX);
    if (best == UINT32_MAX)
        return;
    uint32_t next = best_of(g, best);
    sv_sample d = next == UINT32_MAX ? sv_sample_of(NULL, 0) : differ(g, best, next);
    sv_table_text(t, g->cases->groups[g->bundles->at[g->from].group]);
    sv_table_text(t, g->cases->contenders[best].name);
    sv_table_number(t, score(g, best));
    sv_table_text(t, next == UINT32_MAX ? NULL : g->cases->contenders[next].name);
    sv_table_number(t, d.mean);
    sv_table_number(t, d.half);
    sv_table_text(t, isnan(d.half) ? NULL : fabs(d.mean) > d.half ? "yes" : "no");
    say(g, best, next, &d, t);
}

sv_status sv__summary_tables(const sv__cases *cases, sv_tables *tables)
{
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, true, &bundles));
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
        group g = {cases, &bundles, i, end};
        if (!is_simulated(&g))
            add_group(&g, t);
    }
    return SV_OK;
}
