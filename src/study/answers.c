/*
 * answers.c: the answers there are, and how a database is opened to be asked.
 *
 * Whoever adds one writes an answers_<name>.c, a line in cases.h and one here; command and report
 * then have it.
 */
#include "study/answers.h"

#include <string.h>

#include "base/ctx.h"
#include "study/cases.h"
#include "study/schema.h"

static const struct {
    const char *name, *summary;
    sv__answer *make;
    bool asked; /* only when it is asked for */
} answers[] = {
    {"summary", "which engine for which fabric, and why", sv__answer_summary, false},
    {"usability", "which engine can be used on which fabric", sv__answer_usability, false},
    {"degradation", "throughput as parts fail, regressions, where to switch engines",
     sv__answer_degradation, false},
    {"lifetime", "years until throughput falls below a threshold", sv__answer_lifetime, false},
    {"lost", "routes lost before tables are computed anew", sv__answer_lost, false},
    {"vls", "VLs that deadlock freedom takes", sv__answer_vls, false},
    {"balance", "routes on channels, longest paths, fallbacks", sv__answer_balance, false},
    {"ebb", "effective bisection bandwidth", sv__answer_ebb, false},
    {"runtime", "seconds to route, and what can be routed at all", sv__answer_runtime, false},
    {"compare", "two engines or two databases, cell by cell", sv__answer_compare, true},
};

enum { NUM_ANSWERS = sizeof answers / sizeof answers[0] };

static sv_status ask_number(sv_ctx *ctx, sqlite3 *db, const char *path, const char *sql,
                            sqlite3_int64 *number)
{
    sqlite3_stmt *query = NULL;
    sv_status status = SV_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK ||
        sqlite3_step(query) != SQLITE_ROW)
        status = sv_database_fail(ctx, db, path, "read");
    else
        *number = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return status;
}

static sv_status check_version(sv_ctx *ctx, const char *path, sqlite3 *db)
{
    sqlite3_int64 id = 0, version = 0;
    SV_TRY(ask_number(ctx, db, path, "PRAGMA application_id", &id));
    SV_TRY(ask_number(ctx, db, path, "PRAGMA user_version", &version));
    if (id != SV__SCHEMA_ID)
        return sv_fail(ctx, SV_BAD_INPUT, "%s: is no database of a study", path);
    if (version > sv__schema_version())
        return sv_fail(ctx, SV_UNSUPPORTED,
                       "%s: version %lld, written by a newer selvage (this: %d)", path,
                       (long long)version, sv__schema_version());
    if (version < sv__schema_version())
        return sv_fail(ctx, SV_BAD_INPUT,
                       "%s: version %lld is brought up to date (%d) when a study is run on it",
                       path, (long long)version, sv__schema_version());
    return sv_database_check(ctx, db, path);
}

static int is_cancelled(void *ctx)
{
    return sv_cancelled(ctx);
}

sv_status sv_answers_open(sv_ctx *ctx, const char *path, sqlite3 **db)
{
    sqlite3 *opened = NULL;
    sv_status status = SV_OK;
    SV_TRY(sv_database_regular(ctx, path));
    if (sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        status = sv_fail(ctx, opened == NULL ? SV_NO_MEMORY : SV_IO, "cannot open '%s': %s", path,
                         opened == NULL ? "out of memory" : sqlite3_errmsg(opened));
    if (status == SV_OK) {
        sqlite3_busy_timeout(opened, 10000); /* a study may be writing to it */
        sqlite3_progress_handler(opened, 100000, is_cancelled, ctx);
        status = check_version(ctx, path, opened);
    }
    if (status == SV_OK)
        *db = opened;
    else
        sqlite3_close(opened);
    return status;
}

const char *sv_answer_name(size_t index)
{
    return index < NUM_ANSWERS ? answers[index].name : NULL;
}

const char *sv_answer_summary(size_t index)
{
    return index < NUM_ANSWERS ? answers[index].summary : NULL;
}

sv_status sv_answer(sv_ctx *ctx, sqlite3 *db, const char *name, const sv_answer_options *options,
                    sv_tables *tables)
{
    const sv_answer_options none = {0};
    sv__study_cases cases;
    options = options == NULL ? &none : options;
    for (int i = 0; i < NUM_ANSWERS; i++)
        if (strcmp(answers[i].name, name) == 0) {
            SV_TRY(sv__cases_read(&cases, tables->arena, db, options));
            return answers[i].make(&cases, options, tables);
        }
    return sv_refuse(ctx, "no answer is called '%s'", name);
}

sv_status sv_answer_all(sv_ctx *ctx, sqlite3 *db, const sv_answer_options *options,
                        sv_tables *tables)
{
    const sv_answer_options none = {0};
    sv__study_cases cases;
    options = options == NULL ? &none : options;
    SV_TRY(sv__cases_read(&cases, tables->arena, db, options));
    for (int i = 0; i < NUM_ANSWERS; i++) {
        if (answers[i].asked)
            continue;
        SV_TRY(sv_progress(ctx, "answering", (uint64_t)i, NUM_ANSWERS));
        size_t kept = tables->count;
        SV_TRY(answers[i].make(&cases, options, tables));
        for (size_t k = kept; k < tables->count; k++)
            if (sv_table_rows(tables->at[k]) > 0)
                tables->at[kept++] = tables->at[k];
        tables->count = kept;
    }
    return SV_OK;
}
