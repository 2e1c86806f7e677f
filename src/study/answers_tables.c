/*
 * answers_tables.c: what is known of tables without traffic: VLs (IPDPS 2011, Figure 9), balance
 * (thesis, Figure 6.10), running time (Figure 6.12) and effective bisection bandwidth (IPDPS 2011,
 * Figures 4 to 6).
 *
 * Fabrics that differ in seed= only are one group; values are means over its members, as the papers
 * have them, with the mean's confidence. Cases that did not get so far are left out of a mean and
 * counted.
 */
#include <math.h>

#include "study/bundles.h"

static bool has(const sv__bundles *bundles, const sv__bundle *bundle, sv__study_measure value)
{
    return sv__bundle_sample(bundles, bundle, value).count > 0;
}

/* Leaves bundles that have a value, and those that were not routed at all where others have one. */
static void keep_measured(sv__bundles *bundles, sv__study_measure value, bool refused)
{
    size_t count = 0, measured = 0;
    for (size_t i = 0; i < bundles->count; i++)
        measured += has(bundles, &bundles->at[i], value);
    for (size_t i = 0; i < bundles->count; i++)
        if (has(bundles, &bundles->at[i], value) ||
            (refused && measured > 0 && sv__bundle_routed(&bundles->at[i]) == 0))
            bundles->at[count++] = bundles->at[i];
    bundles->count = count;
}

/* Columns that all of them begin with. */
static void begin_columns(sv_table *t)
{
    sv__bundle_columns(t);
    sv_table_column(t, "cells", NULL, 0);
    sv_table_column(t, "routed", NULL, 0);
}

static void begin_row(const sv__study_cases *cases, const sv__bundle *b, sv_table *t)
{
    sv__bundle_names(cases, b, t);
    sv_table_number(t, (double)b->count);
    sv_table_number(t, (double)sv__bundle_routed(b));
}

/* ---- VLs ---- */

static void put_vls(const sv__bundles *bundles, const sv__bundle *b, sv_table *t)
{
    sv_table_number(t, sv__bundle_sample(bundles, b, SV__VLS_NEEDED).mean);
}

sv_status sv__answer_vls(const sv__study_cases *cases, const sv_answer_options *options,
                         sv_tables *tables)
{
    (void)options;
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, true, &bundles));
    keep_measured(&bundles, SV__VLS_NEEDED, true);
    sv__matrix(cases, &bundles, tables, "vls", "VLs needed, in the mean",
               "Virtual lanes that deadlock freedom takes, for each engine; a dash: not routed.",
               SV_ANY_DIGITS, put_vls);
    sv_table *t = sv_table_new(
        tables, "vls-range", "VLs needed and used",
        "Minimum, mean and maximum of VLs over the cells that were routed; used is what "
        "traffic is then spread over.");
    begin_columns(t);
    sv_table_column(t, "min", NULL, 0);
    sv_table_column(t, "mean", NULL, 2);
    sv_table_column(t, "±", NULL, 2);
    sv_table_column(t, "max", NULL, 0);
    sv_table_column(t, "max used", NULL, 0);
    for (size_t i = 0; i < bundles.count; i++) {
        const sv__bundle *b = &bundles.at[i];
        sv_sample needed = sv__bundle_sample(&bundles, b, SV__VLS_NEEDED);
        begin_row(cases, b, t);
        sv_table_number(t, needed.min);
        sv_table_number(t, needed.mean);
        sv_table_number(t, needed.half);
        sv_table_number(t, needed.max);
        sv_table_number(t, sv__bundle_sample(&bundles, b, SV__VLS_USED).max);
    }
    sv__note_cells(cases, t);
    return tables->status;
}

/* ---- balance ---- */

static void balance_columns(sv_table *t)
{
    begin_columns(t);
    sv_table_column(t, "EFI min", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "EFI avg", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "EFI max", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "±", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "EFI sdv", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "bound", NULL, SV_ANY_DIGITS);
    sv_table_column(t, "hops", NULL, 3);
    sv_table_column(t, "longest path", NULL, 2);
    sv_table_column(t, "longest of all", NULL, 0);
    sv_table_column(t, "fallbacks", "%", 3);
    sv_table_column(t, "cells with fallbacks", NULL, 0);
}

static void balance_row(const sv__study_cases *cases, const sv__bundles *bundles,
                        const sv__bundle *b, sv_table *t)
{
    sv_sample max = sv__bundle_sample(bundles, b, SV__EFI_MAX);
    sv_sample longest = sv__bundle_sample(bundles, b, SV__HOPS_MAX);
    double fallbacks = 0, destinations = 0, with = 0;
    for (size_t i = 0; i < b->count; i++) {
        double lesser = b->at[i].value[SV__FALLBACKS], all = b->at[i].value[SV__TERMINALS];
        if (isnan(lesser) || isnan(all))
            continue;
        fallbacks += lesser;
        destinations += all;
        with += lesser > 0;
    }
    begin_row(cases, b, t);
    sv_table_number(t, sv__bundle_sample(bundles, b, SV__EFI_MIN).mean);
    sv_table_number(t, sv__bundle_sample(bundles, b, SV__EFI_AVG).mean);
    sv_table_number(t, max.mean);
    sv_table_number(t, max.half);
    sv_table_number(t, sv__bundle_sample(bundles, b, SV__EFI_SDV).mean);
    sv_table_number(t, sv__bundle_sample(bundles, b, SV__EFI_BOUND).mean);
    sv_table_number(t, sv__bundle_sample(bundles, b, SV__HOPS_AVG).mean);
    sv_table_number(t, longest.mean);
    sv_table_number(t, longest.max);
    sv_table_number(t, destinations > 0 ? 100 * fallbacks / destinations : NAN);
    sv_table_number(t, destinations > 0 ? with : NAN);
}

sv_status sv__answer_balance(const sv__study_cases *cases, const sv_answer_options *options,
                             sv_tables *tables)
{
    (void)options;
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, true, &bundles));
    sv_table *t = sv_table_new(
        tables, "balance", "Balance of tables",
        "Routes on a channel between switches (edge forwarding index): least, average, "
        "most and deviation of a cell, in the mean over cells, the bound that no tables "
        "can beat, the longest path in the mean and of all cells, and how many "
        "destinations were routed in some lesser way.");
    balance_columns(t);
    keep_measured(&bundles, SV__EFI_MAX, false);
    for (size_t i = 0; i < bundles.count; i++)
        balance_row(cases, &bundles, &bundles.at[i], t);
    sv__note_cells(cases, t);
    return tables->status;
}

/* ---- running time ---- */

/* Seconds of the cells that were routed: how fast an engine gives up is not asked. */
static sv_sample routed_seconds(const sv__bundles *bundles, const sv__bundle *b)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        const sv__study_case *c = &b->at[i];
        if (c->outcome != SV__CASE_ENGINE && c->outcome != SV__CASE_OTHER &&
            !isnan(c->value[SV__ROUTE_SECONDS]))
            bundles->scratch[count++] = c->value[SV__ROUTE_SECONDS];
    }
    return sv_sample_of(bundles->scratch, count);
}

static void put_seconds(const sv__bundles *bundles, const sv__bundle *b, sv_table *t)
{
    sv_table_number(t, routed_seconds(bundles, b).mean);
}

sv_status sv__answer_runtime(const sv__study_cases *cases, const sv_answer_options *options,
                             sv_tables *tables)
{
    (void)options;
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, true, &bundles));
    keep_measured(&bundles, SV__ROUTE_SECONDS, true);
    sv__matrix(cases, &bundles, tables, "runtime", "Seconds to route",
               "Seconds of one thread to compute tables, in the mean; a dash: not routed.",
               SV_ANY_DIGITS, put_seconds);
    sv_table *t = sv_table_new(tables, "runtime-range", "Seconds to route, and applicability",
                               "How many of the cells an engine could route, and the seconds that "
                               "those took.");
    sv__bundle_columns(t);
    sv_table_column(t, "terminals", NULL, 0);
    sv_table_column(t, "cells", NULL, 0);
    sv_table_column(t, "routed", NULL, 0);
    sv_table_column(t, "applicability", "%", 1);
    sv_table_column(t, "mean", "s", SV_ANY_DIGITS);
    sv_table_column(t, "±", "s", SV_ANY_DIGITS);
    sv_table_column(t, "min", "s", SV_ANY_DIGITS);
    sv_table_column(t, "max", "s", SV_ANY_DIGITS);
    for (size_t i = 0; i < bundles.count; i++) {
        const sv__bundle *b = &bundles.at[i];
        sv_sample seconds = routed_seconds(&bundles, b);
        double routed = (double)sv__bundle_routed(b);
        sv__bundle_names(cases, b, t);
        sv_table_number(t, sv__bundle_sample(&bundles, b, SV__TERMINALS).mean);
        sv_table_number(t, (double)b->count);
        sv_table_number(t, routed);
        sv_table_number(t, 100 * routed / (double)b->count);
        sv_table_number(t, seconds.mean);
        sv_table_number(t, seconds.half);
        sv_table_number(t, seconds.min);
        sv_table_number(t, seconds.max);
    }
    sv__note_cells(cases, t);
    return tables->status;
}

/* ---- effective bisection bandwidth ---- */

static void put_ebb(const sv__bundles *bundles, const sv__bundle *b, sv_table *t)
{
    sv_table_number(t, sv__bundle_sample(bundles, b, SV__EBB_AVG).mean);
}

sv_status sv__answer_ebb(const sv__study_cases *cases, const sv_answer_options *options,
                         sv_tables *tables)
{
    (void)options;
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, true, &bundles));
    keep_measured(&bundles, SV__EBB_AVG, false);
    sv__matrix(cases, &bundles, tables, "ebb", "Effective bisection bandwidth",
               "The share of full bandwidth that a flow gets in the mean when random halves of the "
               "terminals send to each other.",
               4, put_ebb);
    sv_table *t = sv_table_new(tables, "ebb-range", "Effective bisection bandwidth over matchings",
                               "Mean over cells with its confidence; least and most of any "
                               "matching; deviation over the matchings of a cell.");
    begin_columns(t);
    sv_table_column(t, "mean", NULL, 4);
    sv_table_column(t, "±", NULL, 4);
    sv_table_column(t, "min", NULL, 4);
    sv_table_column(t, "max", NULL, 4);
    sv_table_column(t, "deviation", NULL, 4);
    for (size_t i = 0; i < bundles.count; i++) {
        const sv__bundle *b = &bundles.at[i];
        sv_sample avg = sv__bundle_sample(&bundles, b, SV__EBB_AVG);
        begin_row(cases, b, t);
        sv_table_number(t, avg.mean);
        sv_table_number(t, avg.half);
        sv_table_number(t, sv__bundle_sample(&bundles, b, SV__EBB_MIN).min);
        sv_table_number(t, sv__bundle_sample(&bundles, b, SV__EBB_MAX).max);
        sv_table_number(t, sv__bundle_sample(&bundles, b, SV__EBB_SDV).mean);
    }
    sv__note_cells(cases, t);
    return tables->status;
}
