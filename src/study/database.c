/*
 * database.c: whether a file is a database of a study, and what SQLite says as one of our errors.
 *
 * Idea: what is wrong with the file itself (it is no database, is cut off or damaged, lacks a table
 * or a column) is invalid input; what the system refuses (to read, to write, to lock) is not. The
 * tables that there must be are those that the steps of the schema make, in an empty database in
 * memory; more tables or columns are somebody else's and fine.
 *
 * Cost: microseconds a column; sv_database_whole reads all of the file.
 */
#include <string.h>
#include <sys/stat.h>

#include "study/answers.h"
#include "study/schema.h"

sv_status sv_database_fail(sv_ctx *ctx, sqlite3 *db, const char *path, const char *doing)
{
    int code = db != NULL ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    const char *why = db != NULL ? sqlite3_errmsg(db) : "out of memory";
    if (path == NULL)
        path = sqlite3_db_filename(db, "main");
    if (code == SQLITE_READONLY_ROLLBACK)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "%s: the journal beside it (%s-journal) is of a writer who died, or not its "
                       "own: run a study on it, or remove the journal if it does not belong there",
                       path, path);
    switch (code == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : code & 0xff) {
    case SQLITE_NOMEM:
        return sv_fail(ctx, SV_NO_MEMORY, "out of memory");
    case SQLITE_NOTADB:
        return sv_fail(ctx, SV_BAD_INPUT, "%s: is no database of a study", path);
    case SQLITE_CORRUPT:
        return sv_fail(ctx, SV_BAD_INPUT, "%s: is damaged (%s): take a copy, or a new database",
                       path, why);
    case SQLITE_INTERRUPT:
        return sv_fail(ctx, SV_CANCELLED, "cancelled while %s was read", path);
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return sv_fail(ctx, SV_BAD_INPUT, "%s: is not as a database of a study should be: %s", path,
                       why);
    default:
        return sv_fail(ctx, SV_IO, "%s: cannot %s: %s", path, doing, why);
    }
}

sv_status sv_database_regular(sv_ctx *ctx, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
        return SV_OK; /* or SQLite says what is wrong */
    return sv_fail(ctx, SV_BAD_INPUT, "%s: is no database of a study: it is not a regular file",
                   path);
}

/* ---- tables ---- */

/* A database in memory with all tables and nothing in them. */
static sv_status make_empty(sv_ctx *ctx, sqlite3 **db)
{
    int code = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    for (int i = 1; code == SQLITE_OK && i <= sv__schema_version(); i++)
        code = sqlite3_exec(*db, sv__schema_step(i), NULL, NULL, NULL);
    return code == SQLITE_OK ? SV_OK : sv_database_fail(ctx, *db, "a database in memory", "make");
}

/* Whether a database has a column of a table; -1: SQLite fails. */
static int has(sqlite3_stmt *ask, const char *table, const char *column)
{
    sqlite3_bind_text(ask, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(ask, 2, column, -1, SQLITE_STATIC);
    int code = sqlite3_step(ask);
    int found = code == SQLITE_ROW ? sqlite3_column_int(ask, 0) : -1;
    sqlite3_reset(ask);
    return found;
}

static sv_status compare(sv_ctx *ctx, sqlite3 *db, const char *path, sqlite3_stmt *wanted,
                         sqlite3_stmt *ask)
{
    int code;
    while ((code = sqlite3_step(wanted)) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(wanted, 0);
        const char *column = (const char *)sqlite3_column_text(wanted, 1);
        int found = has(ask, table, column), any = found == 0 ? has(ask, table, NULL) : 1;
        if (found < 0 || any < 0)
            return sv_database_fail(ctx, db, path, "read");
        if (any == 0)
            return sv_fail(ctx, SV_BAD_INPUT, "%s: has no table '%s', as databases of studies have",
                           path, table);
        if (found == 0)
            return sv_fail(ctx, SV_BAD_INPUT,
                           "%s: has no column '%s' in table '%s', as databases of studies have",
                           path, column, table);
    }
    return code == SQLITE_DONE ? SV_OK : sv_database_fail(ctx, NULL, path, "read");
}

sv_status sv_database_check(sv_ctx *ctx, sqlite3 *db, const char *path)
{
    static const char WANTED[] = "SELECT m.name, c.name FROM sqlite_master m JOIN "
                                 "pragma_table_info(m.name) c WHERE m.type = 'table'";
    static const char ASK[] =
        "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 OR ?2 IS NULL)";
    sqlite3 *empty = NULL;
    sqlite3_stmt *wanted = NULL, *ask = NULL;
    sv_status status = make_empty(ctx, &empty);
    if (status == SV_OK && sqlite3_prepare_v2(empty, WANTED, -1, &wanted, NULL) != SQLITE_OK)
        status = sv_database_fail(ctx, empty, "a database in memory", "read");
    if (status == SV_OK && sqlite3_prepare_v2(db, ASK, -1, &ask, NULL) != SQLITE_OK)
        status = sv_database_fail(ctx, db, path, "read");
    if (status == SV_OK)
        status = compare(ctx, db, path, wanted, ask);
    sqlite3_finalize(ask);
    sqlite3_finalize(wanted);
    sqlite3_close(empty);
    return status;
}

sv_status sv_database_whole(sv_ctx *ctx, sqlite3 *db, const char *path)
{
    sqlite3_stmt *ask = NULL;
    sv_status status = SV_OK;
    if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &ask, NULL) != SQLITE_OK ||
        sqlite3_step(ask) != SQLITE_ROW)
        status = sv_database_fail(ctx, db, path, "read");
    const char *said = status == SV_OK ? (const char *)sqlite3_column_text(ask, 0) : NULL;
    if (status == SV_OK && (said == NULL || strcmp(said, "ok") != 0))
        status = sv_fail(ctx, SV_BAD_INPUT, "%s: is damaged (%.200s): take a copy", path,
                         said != NULL ? said : "no memory");
    sqlite3_finalize(ask);
    return status;
}
