/*
 * answers_usability.c: which engine can be used on which fabric (thesis, Table 4.3; SC 2014, Table
 * IV).
 *
 * The papers have three letters: o, no deadlock was seen; r, the routing failed; d, a deadlock was
 * seen. Ours are finer: c, the tables can deadlock but did not (an o there); i, pairs are not
 * joined or packets go in circles; x, the cell says nothing (a limit, faults that cannot be drawn).
 */
#include <stdio.h>
#include <string.h>

#include "study/bundles.h"

static const char letters[] = "ocdirx"; /* in the order of sv__outcome */
static const char *const outcome_names[SV__NUM_OUTCOMES] = {
    "ok", "can deadlock", "deadlock", "incomplete", "refused", "other"};

/* "o", or "o8 d2" where cells differ. */
static void put_letters(const sv__bundles *bundles, const sv__bundle *b, sv_table *t)
{
    (void)bundles;
    char text[SV__NUM_OUTCOMES * 24] = "";
    for (int o = 0; o < SV__NUM_OUTCOMES; o++) {
        size_t count = sv__bundle_outcomes(b, (sv__outcome)o), end = strlen(text);
        if (count == b->count)
            snprintf(text, sizeof text, "%c", letters[o]);
        else if (count > 0)
            snprintf(text + end, sizeof text - end, "%s%c%zu", end > 0 ? " " : "", letters[o],
                     count);
    }
    sv_table_text(t, text);
}

static void add_shares(const sv__cases *cases, const sv__bundles *bundles, sv_tables *tables)
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
    sv__note_cells(cases, t);
}

/* One row for each way in which the cells of a bundle failed, with the first one's words. */
static void add_failures(const sv__cases *cases, const sv__bundles *bundles, sv_tables *tables)
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
            const sv__case *first = NULL;
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

sv_status sv__answer_usability(const sv__cases *cases, const sv_answer_options *options,
                               sv_tables *tables)
{
    (void)options;
    sv__bundles bundles;
    SV_TRY(sv__bundles_make(cases, false, &bundles));
    sv__matrix(cases, &bundles, tables, "usability", "Which engine can be used where",
               "o: deadlock-free and complete; c: can deadlock, but did not; d: deadlocked in the "
               "simulation; i: incomplete; r: refused; x: cannot be told. With numbers of cells "
               "where they differ. (The papers' o is o or c.)",
               SV_TEXT_COLUMN, put_letters);
    add_shares(cases, &bundles, tables);
    add_failures(cases, &bundles, tables);
    return tables->status;
}
