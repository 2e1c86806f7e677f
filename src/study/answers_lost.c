/*
 * answers_lost.c: routes that are lost when parts fail, until tables are computed anew (thesis,
 * Figure 4.2): as shares of all routes, beside what is to be expected.
 */
#include <math.h>
#include <string.h>

#include "study/cases.h"

/* Columns of the query. */
enum { CELL, KIND, FAILURES, TRIALS, PAIRS, EXPECTED };

static void lost_columns(sv_table *t)
{
    static const char *const shares[] = {
        "expected", "min", "lower quartile", "median", "upper quartile", "max", "mean"};
    sv_table_column(t, "fabric", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "faults", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "engine", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "seed", NULL, 0);
    sv_table_column(t, "of", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "failures", NULL, 0);
    sv_table_column(t, "trials", NULL, 0);
    sv_table_column(t, "routes", NULL, 0);
    for (int i = 0; i < 7; i++)
        sv_table_column(t, shares[i], "%", 3);
}

static void lost_row(const sv__study_cases *cases, const sv__study_case *c, sqlite3_stmt *query,
                     sv_table *t)
{
    double pairs = sqlite3_column_double(query, PAIRS);
    sv_table_text(t, cases->fabrics[c->fabric].name);
    sv_table_text(t, cases->levels[c->level].words);
    sv_table_text(t, cases->contenders[c->contender].name);
    sv_table_number(t, (double)c->seed);
    sv_table_text(t, (const char *)sqlite3_column_text(query, KIND));
    sv_table_number(t, sqlite3_column_double(query, FAILURES));
    sv_table_number(t, sqlite3_column_double(query, TRIALS));
    sv_table_number(t, pairs);
    for (int i = 0; i < 7; i++)
        if (sqlite3_column_type(query, EXPECTED + i) == SQLITE_NULL || !(pairs > 0))
            sv_table_missing(t);
        else
            sv_table_number(t, 100 * sqlite3_column_double(query, EXPECTED + i) / pairs);
}

sv_status sv__answer_lost(const sv__study_cases *cases, const sv_answer_options *options,
                          sv_tables *tables)
{
    (void)options;
    sv_table *t = sv_table_new(
        tables, "lost", "Routes lost to failures",
        "Shares of all routes that are lost when so many parts fail at once and tables "
        "stay as they are: as expected, and over trials.");
    lost_columns(t);
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(cases->db,
                           "SELECT cell, kind, failures, trials, pairs, expected, min, q1, median,"
                           " q3, max, mean FROM lost WHERE cell = ?1 ORDER BY kind, failures",
                           -1, &query, NULL) != SQLITE_OK)
        return sv__sql_failed(cases->ctx, cases->db);
    for (size_t i = 0; i < cases->count; i++) {
        sqlite3_bind_int64(query, 1, cases->at[i].id);
        while (sqlite3_step(query) == SQLITE_ROW)
            lost_row(cases, &cases->at[i], query, t);
        if (sqlite3_reset(query) != SQLITE_OK) {
            sqlite3_finalize(query);
            return sv__sql_failed(cases->ctx, cases->db);
        }
    }
    sqlite3_finalize(query);
    return tables->status;
}
