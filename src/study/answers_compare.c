/*
 * answers_compare.c: two engines, or two databases, cell by cell.
 *
 * A pair are two cells of the same fabric, failures, seed and traffic; only they are compared, so
 * what differs is the routing (or whatever made the other database different). Differences are B
 * less A, with the confidence of their mean.
 *
 * Cost: O(cases log cases); names of the two databases are matched once.
 */
#include <math.h>
#include <string.h>

#include "study/cases.h"
#include "study/statistics.h"

typedef struct pair {
    const sv__study_case *a, *b;
} pair;

typedef struct comparison {
    const sv__study_cases *left, *right;
    const char *a, *b;
    pair *at;
    size_t count;
    size_t alone[2]; /* cells of A and B that the other does not have */
    double *x;       /* scratch, one a pair */
} comparison;

typedef double measure(const sv__study_case *c);

/* Balance and lengths of tables that do not join all pairs look too good. */
static double of_tables(const sv__study_case *c, sv__study_measure value)
{
    return c->outcome <= SV__CASE_DEADLOCK ? c->value[value] : NAN;
}

static double efi_of(const sv__study_case *c)
{
    return of_tables(c, SV__EFI_MAX);
}

static double hops_of(const sv__study_case *c)
{
    return of_tables(c, SV__HOPS_AVG);
}

static double ebb_of(const sv__study_case *c)
{
    return of_tables(c, SV__EBB_AVG);
}

static double vls_of(const sv__study_case *c)
{
    return of_tables(c, SV__VLS_NEEDED);
}

static double latency_of(const sv__study_case *c)
{
    return c->outcome <= SV__CASE_UNSAFE ? c->value[SV__LATENCY_AVG] : NAN;
}

static double tail_of(const sv__study_case *c)
{
    return c->outcome <= SV__CASE_UNSAFE ? c->value[SV__LATENCY_P99] : NAN;
}

static double seconds_of(const sv__study_case *c)
{
    return of_tables(c, SV__ROUTE_SECONDS);
}

static const struct {
    const char *name, *unit;
    measure *of;
    bool more_is_better;
} measures[] = {
    {"throughput", "GB/s", sv__case_throughput, true},
    {"latency, mean", "µs", latency_of, false},
    {"latency, 99 %", "µs", tail_of, false},
    {"EFI, most routes on a channel", NULL, efi_of, false},
    {"hops", NULL, hops_of, false},
    {"effective bisection bandwidth", NULL, ebb_of, true},
    {"VLs needed", NULL, vls_of, false},
    {"seconds to route", "s", seconds_of, false},
};

enum { NUM_MEASURES = sizeof measures / sizeof measures[0] };

static const char *const ends[] = {"ok",         "can deadlock", "deadlock",
                                   "incomplete", "refused",      "other"};

/* ---- pairs ---- */

/* What an index of the left database is in the right one; ABSENT where it is not. */
#define ABSENT UINT32_MAX

typedef struct matches {
    uint32_t *fabric, *level, *traffic;
} matches;

static sv_status match_names(const comparison *c, matches *m)
{
    const sv__study_cases *l = c->left, *r = c->right;
    m->fabric = SV_ARENA_NEW(l->arena, uint32_t, l->num_fabrics + 1);
    m->level = SV_ARENA_NEW(l->arena, uint32_t, l->num_levels + 1);
    m->traffic = SV_ARENA_NEW(l->arena, uint32_t, l->num_traffics + 1);
    if (m->fabric == NULL || m->level == NULL || m->traffic == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < l->num_fabrics; i++) {
        m->fabric[i] = ABSENT;
        for (uint32_t k = 0; k < r->num_fabrics && m->fabric[i] == ABSENT; k++)
            if (strcmp(l->fabrics[i].full, r->fabrics[k].full) == 0)
                m->fabric[i] = k;
    }
    for (size_t i = 0; i < l->num_levels; i++) {
        m->level[i] = ABSENT;
        for (uint32_t k = 0; k < r->num_levels && m->level[i] == ABSENT; k++)
            if (strcmp(l->levels[i].words, r->levels[k].words) == 0)
                m->level[i] = k;
    }
    for (size_t i = 0; i < l->num_traffics; i++) {
        m->traffic[i] = ABSENT;
        for (uint32_t k = 0; k < r->num_traffics && m->traffic[i] == ABSENT; k++)
            if (strcmp(l->traffics[i], r->traffics[k]) == 0)
                m->traffic[i] = k;
    }
    return SV_OK;
}

/* Pairs of one contender here and one there. */
static void pair_contenders(comparison *c, const matches *m, uint32_t a, uint32_t b)
{
    size_t before = c->count, cells[2] = {0, 0};
    for (size_t i = 0; i < c->left->count; i++) {
        const sv__study_case *x = &c->left->at[i];
        if (x->contender != a)
            continue;
        cells[0]++;
        const sv__study_case *y = sv__case_find(
            c->right, m->fabric[x->fabric], m->traffic[x->traffic], b, m->level[x->level], x->seed);
        if (y != NULL)
            c->at[c->count++] = (pair){x, y};
    }
    for (size_t i = 0; i < c->right->count; i++)
        cells[1] += c->right->at[i].contender == b;
    for (int i = 0; i < 2; i++)
        c->alone[i] += cells[i] - (c->count - before);
}

static sv_status find_contender(const sv__study_cases *cases, const char *name, uint32_t *index)
{
    const sv__contender *found = sv__contender_find(cases, name);
    if (found == NULL)
        return sv_fail(cases->ctx, SV_BAD_INPUT,
                       "no cells of '%s' (or several kinds: say VLs and options as in \"nue/4 "
                       "name=value\")",
                       name);
    *index = (uint32_t)(found - cases->contenders);
    return SV_OK;
}

static sv_status make_pairs(comparison *c, const sv_answer_options *o)
{
    matches m;
    uint32_t a = 0, b = 0;
    SV_TRY(match_names(c, &m));
    c->at = SV_ARENA_NEW(c->left->arena, pair, c->left->count + 1);
    c->x = SV_ARENA_NEW(c->left->arena, double, c->left->count + 1);
    if (c->at == NULL || c->x == NULL)
        return SV_NO_MEMORY;
    if (o->a != NULL || o->b != NULL) {
        SV_TRY(find_contender(c->left, o->a != NULL ? o->a : o->b, &a));
        SV_TRY(find_contender(c->right, o->b != NULL ? o->b : o->a, &b));
        pair_contenders(c, &m, a, b);
        return SV_OK;
    }
    for (a = 0; a < c->left->num_contenders; a++)
        for (b = 0; b < c->right->num_contenders; b++)
            if (strcmp(c->left->contenders[a].full, c->right->contenders[b].full) == 0)
                pair_contenders(c, &m, a, b);
    return SV_OK;
}

/* ---- tables ---- */

static void difference_columns(sv_table *t)
{
    sv_table_column(t, "pairs", NULL, 0);
    sv_table_column(t, "A", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "B", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "B - A", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "±", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "B / A", NULL, 3);
    sv_table_column(t, "A better", NULL, 0);
    sv_table_column(t, "B better", NULL, 0);
    sv_table_column(t, "equal", NULL, 0);
    sv_table_column(t, "told apart", NULL, SV_TEXT_COLUMN);
}

/* The values of difference_columns for a measure over some pairs. False (and nothing) of none. */
static bool difference(const comparison *c, const pair *at, size_t count, int which,
                       double values[9], const char **told)
{
    double sum[2] = {0, 0}, better[3] = {0, 0, 0};
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        double a = measures[which].of(at[i].a), b = measures[which].of(at[i].b);
        if (isnan(a) || isnan(b))
            continue;
        sum[0] += a;
        sum[1] += b;
        c->x[n++] = b - a;
        better[a == b ? 2 : (b > a) == measures[which].more_is_better ? 1 : 0]++;
    }
    sv_sample s = sv_sample_of(c->x, n);
    const double found[] = {(double)n, sum[0] / (double)n, sum[1] / (double)n, s.mean,
                            s.half,    sum[1] / sum[0],    better[0],          better[1],
                            better[2]};
    memcpy(values, found, sizeof found);
    *told = isnan(s.half) ? NULL : fabs(s.mean) > s.half ? "yes" : "no";
    return n > 0;
}

static void put_difference(sv_table *t, const double values[9], const char *told)
{
    for (int i = 0; i < 9; i++)
        sv_table_number(t, values[i]);
    sv_table_text(t, told);
}

static void add_overall(const comparison *c, sv_tables *tables)
{
    sv_table *t = sv_table_new(
        tables, "compare", "Compared over all cells",
        sv_tables_keep(tables,
                       "A: %s. B: %s. Means over the pairs of cells where both have a value; ± is "
                       "of the mean difference (95 %%).",
                       c->a, c->b));
    double values[9];
    const char *told;
    sv_table_column(t, "measure", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "unit", NULL, SV_TEXT_COLUMN);
    difference_columns(t);
    for (int i = 0; i < NUM_MEASURES; i++)
        if (difference(c, c->at, c->count, i, values, &told)) {
            sv_table_text(t, measures[i].name);
            sv_table_text(t, measures[i].unit);
            put_difference(t, values, told);
        }
    if (c->alone[0] > 0 || c->alone[1] > 0)
        sv_table_note(t, "Without a counterpart: %zu cell%s of A and %zu of B.", c->alone[0],
                      c->alone[0] == 1 ? "" : "s", c->alone[1]);
    sv__note_cells(c->left, t);
}

static void add_by_faults(const comparison *c, sv_tables *tables)
{
    sv_table *t = sv_table_new(tables, "compare-faults", "Compared by fabric and failures",
                               "Throughput, or where nothing was simulated the most routes on a "
                               "channel.");
    static const char *const heads[] = {"fabric", "traffic", "faults", "engine", "measure"};
    double values[9];
    const char *told;
    for (int i = 0; i < 5; i++)
        sv_table_column(t, heads[i], NULL, SV_TEXT_COLUMN);
    difference_columns(t);
    for (size_t i = 0, end; i < c->count; i = end) {
        const sv__study_case *first = c->at[i].a;
        for (end = i; end < c->count && c->at[end].a->fabric == first->fabric &&
                      c->at[end].a->traffic == first->traffic &&
                      c->at[end].a->contender == first->contender &&
                      c->at[end].a->level == first->level;)
            end++;
        int which = first->traffic == 0 ? 3 : 0;
        if (!difference(c, &c->at[i], end - i, which, values, &told))
            continue;
        sv_table_text(t, c->left->fabrics[first->fabric].name);
        sv_table_text(t, c->left->traffics[first->traffic]);
        sv_table_text(t, c->left->levels[first->level].words);
        sv_table_text(t, c->left->contenders[first->contender].name);
        sv_table_text(t, measures[which].name);
        put_difference(t, values, told);
    }
}

static void add_ends(const comparison *c, sv_tables *tables)
{
    sv_table *t = sv_table_new(tables, "compare-ends", "How pairs ended",
                               "Pairs of cells by how A ended (down) and B (across).");
    size_t counts[SV__NUM_OUTCOMES][SV__NUM_OUTCOMES] = {{0}};
    for (size_t i = 0; i < c->count; i++)
        counts[c->at[i].a->outcome][c->at[i].b->outcome]++;
    sv_table_column(t, "A", NULL, SV_TEXT_COLUMN);
    for (int k = 0; k < SV__NUM_OUTCOMES; k++)
        sv_table_column(t, ends[k], NULL, 0);
    for (int i = 0; i < SV__NUM_OUTCOMES; i++) {
        size_t sum = 0;
        for (int k = 0; k < SV__NUM_OUTCOMES; k++)
            sum += counts[i][k];
        if (sum == 0)
            continue;
        sv_table_text(t, ends[i]);
        for (int k = 0; k < SV__NUM_OUTCOMES; k++)
            sv_table_number(t, (double)counts[i][k]);
    }
}

static void cell_columns(sv_table *t)
{
    static const char *const heads[] = {"fabric", "traffic", "faults"};
    static const char *const both[][3] = {
        {"throughput A", "throughput B", "GB/s"},
        {"latency A", "latency B", "µs"},
        {"EFI A", "EFI B", NULL},
        {"VLs A", "VLs B", NULL},
    };
    for (int i = 0; i < 3; i++)
        sv_table_column(t, heads[i], NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "seed", NULL, 0);
    sv_table_column(t, "engine A", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "engine B", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "end A", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "end B", NULL, SV_TEXT_COLUMN);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++)
            sv_table_column(t, both[i][k], both[i][2], SV_ANY_DIGITS);
}

static void add_cells(const comparison *c, sv_tables *tables)
{
    static measure *const shown[] = {sv__case_throughput, latency_of, efi_of, vls_of};
    sv_table *t = sv_table_new(tables, "compare-cells", "Compared cell by cell",
                               "Every pair of cells of the same fabric, failures, seed and "
                               "traffic.");
    cell_columns(t);
    for (size_t i = 0; i < c->count; i++) {
        const sv__study_case *a = c->at[i].a, *b = c->at[i].b;
        sv_table_text(t, c->left->fabrics[a->fabric].name);
        sv_table_text(t, c->left->traffics[a->traffic]);
        sv_table_text(t, c->left->levels[a->level].words);
        sv_table_number(t, (double)a->seed);
        sv_table_text(t, c->left->contenders[a->contender].name);
        sv_table_text(t, c->right->contenders[b->contender].name);
        sv_table_text(t, ends[a->outcome]);
        sv_table_text(t, ends[b->outcome]);
        for (int k = 0; k < 4; k++) {
            sv_table_number(t, shown[k](a));
            sv_table_number(t, shown[k](b));
        }
    }
}

sv_status sv__answer_compare(const sv__study_cases *cases, const sv_answer_options *o,
                             sv_tables *tables)
{
    sv__study_cases others;
    comparison c = {.left = cases, .right = cases};
    if (o->other == NULL && (o->a == NULL || o->b == NULL))
        return sv_refuse(cases->ctx, "compare needs two engines or two databases");
    c.a = o->a != NULL ? o->a : o->b != NULL ? o->b : "the first database";
    c.b = o->b != NULL ? o->b : o->a != NULL ? o->a : "the second database";
    if (o->other != NULL) {
        sv_answer_options all = *o;
        all.plan = 0; /* plans have other numbers there */
        SV_TRY(sv__cases_read(&others, cases->arena, o->other, &all));
        c.right = &others;
    }
    SV_TRY(make_pairs(&c, o));
    add_overall(&c, tables);
    add_by_faults(&c, tables);
    add_ends(&c, tables);
    add_cells(&c, tables);
    return tables->status;
}
