/*
 * answers_usability.c: which engine can be used on which fabric (thesis, Table 4.3; SC 2014, Table
 * IV).
 *
 * The papers have three messages: o, no deadlock was seen; r, the routing failed; d, a deadlock was
 * seen. Ours are finer: c, the tables can deadlock but did not (an o there); i, pairs are not
 * joined or packets go in circles; x, the cell says nothing (a limit, faults that cannot be drawn).
 */
#include <stdio.h>
#include <string.h>

#include "study/bundles.h"

static const char messages[] = "ocdirx"; /* in the order of sv__outcome */
static const char *const outcome_names[SV__NUM_OUTCOMES] = {
    "ok", "can deadlock", "deadlock", "incomplete", "refused", "other"};

/* "o", or "o8 d2" where cells differ. */
static void put_counts(const size_t counts[SV__NUM_OUTCOMES], sv_table *t)
{
    char text[SV__NUM_OUTCOMES * 24] = "";
    size_t all = 0;
    for (int o = 0; o < SV__NUM_OUTCOMES; o++)
        all += counts[o];
    for (int o = 0; o < SV__NUM_OUTCOMES; o++) {
        size_t end = strlen(text);
        if (counts[o] == all)
            snprintf(text, sizeof text, "%c", messages[o]);
        else if (counts[o] > 0)
            snprintf(text + end, sizeof text - end, "%s%c%zu", end > 0 ? " " : "", messages[o],
                     counts[o]);
    }
    sv_table_text(t, all > 0 ? text : NULL);
}

static void put_letters(const sv__bundles *bundles, const sv__bundle *b, sv_table *t)
{
    (void)bundles;
    size_t counts[SV__NUM_OUTCOMES];
    for (int o = 0; o < SV__NUM_OUTCOMES; o++)
        counts[o] = sv__bundle_outcomes(b, (sv__outcome)o);
    put_counts(counts, t);
}

/* Fabrics down, engines across, all failures together: the papers' table. */
static void add_overall(const sv__study_cases *cases, const sv__bundles *bundles, sv_tables *tables)
{
    sv_table *t = sv_table_new(
        tables, "usability", "Which engine can be used where",
        "o: deadlock-free and complete; c: can deadlock, but did not; d: deadlocked in the "
        "simulation; i: incomplete; r: refused; x: cannot be told. With numbers of cells where "
        "they "
        "differ, over all failures. (The papers' o is o or c.)");
    sv_table_column(t, "fabric", NULL, SV_TEXT_COLUMN);
    for (size_t k = 0; k < cases->num_contenders; k++)
        sv_table_column(t, cases->contenders[k].name, NULL, SV_TEXT_COLUMN);
    for (size_t i = 0, end; i < bundles->count; i = end) {
        uint32_t group = bundles->at[i].group;
        for (end = i; end < bundles->count && bundles->at[end].group == group;)
            end++;
        sv_table_text(t, cases->groups[group]);
        for (size_t k = 0; k < cases->num_contenders; k++) {
            size_t counts[SV__NUM_OUTCOMES] = {0};
            for (size_t b = i; b < end; b++)
                for (int o = 0; bundles->at[b].contender == k && o < SV__NUM_OUTCOMES; o++)
                    counts[o] += sv__bundle_outcomes(&bundles->at[b], (sv__outcome)o);
            put_counts(counts, t);
        }
    }
    sv__note_cells(cases, t);
}

static void add_shares(const sv__study_cases *cases, const sv__bundles *bundles, sv_tables *tables)
{
    sv_table *t = sv_table_new(tables, "usability-shares", "How cells ended",
                               "Shares of the cells of a fabric, an amount of failures and an "
                               "engine.");
    sv__bundle_columns(t);
    sv_table_column(t, "cells", NULL, 0);
    for (int o = 0; o < SV__NUM_OUTCOMES; o++)
        sv_table_column(t, outcome_names[o], "%", 1);
    for (size_t i = 0; i < bundles->count; i++) {
        const sv__bundle *b = &bundles->at[i];
        sv__bundle_names(cases, b, t);
        sv_table_number(t, (double)b->count);
        for (int o = 0; o < SV__NUM_OUTCOMES; o++)
            sv_table_number(t, 100 * (double)sv__bundle_outcomes(b, (sv__outcome)o) /
                                   (double)b->count);
    }
}

/* One row for each way in which the cells of a bundle failed, with the first one's words. */
static void add_failures(const sv__study_cases *cases, const sv__bundles *bundles,
                         sv_tables *tables)
{
    sv_table *t = sv_table_new(tables, "usability-words", "Why cells failed",
                               "The first failing cell's own words, and how many ended so.");
    sv__bundle_columns(t);
    sv_table_column(t, "end", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "cells", NULL, 0);
    sv_table_column(t, "words", NULL, SV_TEXT_COLUMN);
    for (size_t i = 0; i < bundles->count; i++) {
        const sv__bundle *b = &bundles->at[i];
        for (int o = SV__CASE_OK + 1; o < SV__NUM_OUTCOMES; o++) {
            const sv__study_case *first = NULL;
            for (size_t k = 0; k < b->count && first == NULL; k++)
                if (b->at[k].outcome == (sv__outcome)o)
                    first = &b->at[k];
            if (first == NULL)
                continue;
            sv__bundle_names(cases, b, t);
            sv_table_text(t, outcome_names[o]);
            sv_table_number(t, (double)sv__bundle_outcomes(b, (sv__outcome)o));
            sv_table_text(t, first->words);
        }
    }
}

sv_status sv__answer_usability(const sv__study_cases *cases, const sv_answer_options *options,
                               sv_tables *tables)
{
    (void)options;
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, false, &bundles));
    add_overall(cases, &bundles, tables);
    sv__matrix(cases, &bundles, tables, "usability-faults",
               "Which engine can be used where, by failures", "Letters as above.", SV_TEXT_COLUMN,
               put_letters);
    add_shares(cases, &bundles, tables);
    add_failures(cases, &bundles, tables);
    return tables->status;
}
