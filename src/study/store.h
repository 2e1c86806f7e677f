/*
 * store.h: the database of a study. docs/study.md says what is in it.
 */
#ifndef SV_STUDY_STORE_H
#define SV_STUDY_STORE_H

#include <sqlite3.h>

#include "study/claims.h"
#include "study/study.h"

typedef struct sv__store_db {
    sv_ctx *ctx;
    const char *path;
    sqlite3 *db;
    sv__claims claims; /* of who writes */
    bool writes;
    sqlite3_stmt *result, *lost, *fabric, *loads, *timeline, *spent;
} sv__store_db;

/* Opens a database for writing; it is made, or brought up to date, if need be. */
sv_status sv__store_open(sv__store_db *store, sv_ctx *ctx, const char *path);
/* The same for reading: it must be there. */
sv_status sv__store_read(sv__store_db *store, sv_ctx *ctx, const char *path);
void sv__store_close(sv__store_db *store);

/* Writes a plan and its cells. retry: results of limits and errors are forgotten. ids[cells] of the
 * database; done[cells]: whether there is a result.
 */
sv_status sv__store_plan(sv__store_db *store, const sv_study *study, bool retry, int64_t *ids,
                         bool *done);

/*
 * Takes a cell, which may have got its result from another process since: *taken and not *done: it
 * is to be run, and given back with sv__store_give_back.
 */
sv_status sv__store_take(sv__store_db *store, int64_t id, bool *taken, bool *done);
void sv__store_give_back(const sv__store_db *store, int64_t id);

/* What came out of a cell, in one transaction. */
sv_status sv__store_put(sv__store_db *store, const sv_study *study, int64_t id, const char *fabric,
                        const sv__result *result);

/* An error of SQLite as one of ours. */
sv_status sv__store_fail(const sv__store_db *store, const char *doing);

/* A statement without answer; tried again, for a minute, while others have the database locked. */
sv_status sv__store_run(const sv__store_db *store, const char *sql, const char *doing);

#endif
