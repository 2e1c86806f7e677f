/*
 * answers.h: what a study's database says, as tables.
 *
 * An answer reads cells with results (of all plans, or of one) and adds tables; the database is
 * only read. Names of tables begin with the answer's name ("degradation", "degradation-lines", …)
 * and stay, as do names of columns: the report's page and scripts look for them. docs/study.md says
 * what each holds.
 *
 *     sv_tables tables;
 *     sv_tables_init(&tables, &arena);
 *     SV_TRY(sv_answer(ctx, db, "degradation", NULL, &tables));
 */
#ifndef SV_STUDY_ANSWERS_H
#define SV_STUDY_ANSWERS_H

#include <sqlite3.h>

#include "study/table.h"

typedef struct sv_answer_options {
    int64_t plan;       /* only cells of this plan; 0: all */
    const char *fabric; /* only this one; NULL: all */
    double threshold;   /* lifetime: the share of fault-free throughput that must be kept; 0: 0.8 */
    /* lifetime from regressions: shares of links and switches that fail in a year; 0: none. */
    double links_a_year, switches_a_year;
    double years;      /* summary: after so many years; 0: the largest amount of failures */
    const char *a, *b; /* compare: two contenders ("nue", "nue/4", "dfsssp assign=weakest") */
    sqlite3 *other;    /* compare: b (or each contender) is in this database */
} sv_answer_options;

/* Opens a database to read it: one of ours, of this version. BAD_INPUT or IO otherwise. */
sv_status sv_answers_open(sv_ctx *ctx, const char *path, sqlite3 **db);

/*
 * An error of SQLite as one of ours: BAD_INPUT if it is the file's fault, IO if the system's. path
 * NULL: what SQLite calls it. doing: "read", "write" …
 */
sv_status sv_database_fail(sv_ctx *ctx, sqlite3 *db, const char *path, const char *doing);
/* BAD_INPUT if it is a pipe, say, which SQLite would wait for. */
sv_status sv_database_regular(sv_ctx *ctx, const char *path);
/* Whether all tables and columns of this version are there: BAD_INPUT if not. */
sv_status sv_database_check(sv_ctx *ctx, sqlite3 *db, const char *path);
/* Whether every page of it is sound: BAD_INPUT if not. Reads all of it. */
sv_status sv_database_whole(sv_ctx *ctx, sqlite3 *db, const char *path);

/* The answers there are, in the order of a report: name and summary, NULL after the last. */
const char *sv_answer_name(size_t index);
const char *sv_answer_summary(size_t index);

/*
 * Adds an answer's tables. options: NULL for all defaults. BAD_INPUT: there is no such answer, or
 * what is asked for (a contender) is not in the database. A question that the cells say nothing
 * about gives tables without rows.
 * Cost: O(cells log cells) time, all cells of the database in memory.
 */
sv_status sv_answer(sv_ctx *ctx, sqlite3 *db, const char *name, const sv_answer_options *options,
                    sv_tables *tables);

/* All answers that the database has anything for, the summary first. */
sv_status sv_answer_all(sv_ctx *ctx, sqlite3 *db, const sv_answer_options *options,
                        sv_tables *tables);

#endif
