/*
 * store_plan.c: plans and cells into the database, and one database into another.
 *
 * Invariant: cells are known by their keys; their numbers differ from database to database.
 * Cost: a lookup for each cell; one transaction.
 */
#include <string.h>
#include <sys/stat.h>

#include "study/answers.h"
#include "study/store.h"

static sv_status run(const sv__store_db *store, const char *sql)
{
    return sv__store_run(store, sql, "write");
}

static const char *const KINDS[] = {
    [SV__NO_FAULTS] = "none", [SV__LINKS] = "link",  [SV__SWITCHES] = "switch",
    [SV__BOTH] = "both",      [SV__YEARS] = "years", [SV__STATE] = "state"};

enum { ADD_PLAN, ADD_CELL, FIND_CELL, ADD_PLANNED, STATEMENTS };

static const char *const SQL[STATEMENTS] = {
    [ADD_PLAN] = "INSERT INTO plan (study, words, version, cells) VALUES (?, ?, ?, ?) ON CONFLICT "
                 "(words) DO UPDATE SET cells = max(cells, excluded.cells) RETURNING id",
    [ADD_CELL] = "INSERT OR IGNORE INTO cell (key, fabric, faults, fault_kind, fault_unit, "
                 "fault_amount, seed, engine, vls, options, traffic, profile, message, load, what) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [FIND_CELL] = "SELECT id, EXISTS (SELECT 1 FROM result WHERE result.cell = cell.id) FROM cell "
                  "WHERE key = ?",
    [ADD_PLANNED] = "INSERT OR REPLACE INTO planned VALUES (?, ?, ?)",
};

static void bind_cell(sqlite3_stmt *s, const sv_study *study, const sv__cell *c)
{
    const char *const texts[] = {c->key, c->fabric, c->fault->words, KINDS[c->fault->kind],
                                 c->fault->unit};
    for (int i = 0; i < 5; i++)
        sqlite3_bind_text(s, 1 + i, texts[i], -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 6, c->fault->amount);
    sqlite3_bind_int64(s, 7, (int64_t)c->seed);
    sqlite3_bind_text(s, 8, c->router->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 9, c->vls);
    sqlite3_bind_text(s, 10, c->router->words, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 11, c->traffic, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 12, c->profile, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 13, c->message);
    sqlite3_bind_double(s, 14, c->load);
    sqlite3_bind_text(s, 15, study->what, -1, SQLITE_STATIC);
}

/* Adds a cell unless it is there; its number, and whether it has a result. */
static sv_status put_cell(const sv__store_db *store, sqlite3_stmt **s, const sv_study *study,
                          const sv__cell *c, int64_t *id, bool *done)
{
    bind_cell(s[ADD_CELL], study, c);
    bool added = sqlite3_step(s[ADD_CELL]) == SQLITE_DONE;
    sqlite3_reset(s[ADD_CELL]);
    if (!added)
        return sv__store_fail(store, "write");
    sqlite3_bind_text(s[FIND_CELL], 1, c->key, -1, SQLITE_STATIC);
    bool found = sqlite3_step(s[FIND_CELL]) == SQLITE_ROW;
    if (found) {
        *id = sqlite3_column_int64(s[FIND_CELL], 0);
        *done = sqlite3_column_int(s[FIND_CELL], 1) != 0;
    }
    sqlite3_reset(s[FIND_CELL]);
    return found ? SV_OK : sv__store_fail(store, "read");
}

/* Forgets what a cell came to if that was a limit or an error. */
static sv_status forget(const sv__store_db *store, int64_t id, bool *done)
{
    static const char *const tables[] = {"lost", "loads", "timeline", "spent", "result"};
    int64_t found = 0;
    char sql[200];
    sqlite3_stmt *ask = NULL;
    sqlite3_snprintf(sizeof sql, sql,
                     "SELECT 1 FROM result WHERE cell = %lld AND status IN ('time', 'memory', "
                     "'error')",
                     (long long)id);
    if (sqlite3_prepare_v2(store->db, sql, -1, &ask, NULL) == SQLITE_OK)
        found = sqlite3_step(ask) == SQLITE_ROW;
    sqlite3_finalize(ask);
    for (int i = 0; found && i < 5; i++) {
        sqlite3_snprintf(sizeof sql, sql, "DELETE FROM %s WHERE cell = %lld", tables[i],
                         (long long)id);
        SV_TRY(run(store, sql));
    }
    *done = !found;
    return SV_OK;
}

static sv_status put_plan(const sv__store_db *store, sqlite3_stmt **s, const sv_study *study,
                          bool retry, int64_t *ids, bool *done)
{
    sqlite3_bind_text(s[ADD_PLAN], 1, study->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s[ADD_PLAN], 2, study->words, -1, SQLITE_STATIC);
    sqlite3_bind_text(s[ADD_PLAN], 3, sv_version(), -1, SQLITE_STATIC);
    sqlite3_bind_int64(s[ADD_PLAN], 4, study->num_cells);
    if (sqlite3_step(s[ADD_PLAN]) != SQLITE_ROW)
        return sv__store_fail(store, "write");
    int64_t plan = sqlite3_column_int64(s[ADD_PLAN], 0);
    sqlite3_reset(s[ADD_PLAN]);
    for (uint32_t i = 0; i < study->num_cells; i++) {
        SV_TRY(put_cell(store, s, study, &study->cells[i], &ids[i], &done[i]));
        if (retry && done[i])
            SV_TRY(forget(store, ids[i], &done[i]));
        sqlite3_bind_int64(s[ADD_PLANNED], 1, plan);
        sqlite3_bind_int64(s[ADD_PLANNED], 2, study->cells[i].place);
        sqlite3_bind_int64(s[ADD_PLANNED], 3, ids[i]);
        bool added = sqlite3_step(s[ADD_PLANNED]) == SQLITE_DONE;
        sqlite3_reset(s[ADD_PLANNED]);
        if (!added)
            return sv__store_fail(store, "write");
    }
    return SV_OK;
}

sv_status sv__store_plan(sv__store_db *store, const sv_study *study, bool retry, int64_t *ids,
                         bool *done)
{
    sqlite3_stmt *statements[STATEMENTS] = {NULL};
    SV_TRY(run(store, "BEGIN IMMEDIATE"));
    sv_status status = SV_OK;
    for (int i = 0; status == SV_OK && i < STATEMENTS; i++)
        if (sqlite3_prepare_v2(store->db, SQL[i], -1, &statements[i], NULL) != SQLITE_OK)
            status = sv__store_fail(store, "use");
    if (status == SV_OK)
        status = put_plan(store, statements, study, retry, ids, done);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(statements[i]);
    if (status == SV_OK)
        return run(store, "COMMIT");
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* ---- one into another ---- */

/* Cells by their keys; then everything by the new numbers of its cell. */
static const char MERGE[] =
    "INSERT OR IGNORE INTO cell SELECT NULL, key, fabric, faults, fault_kind, fault_unit, "
    "fault_amount, seed, engine, vls, options, traffic, profile, message, load, what FROM "
    "other.cell ORDER BY id;"
    "CREATE TEMP TABLE same AS SELECT o.id AS old, c.id AS new FROM other.cell o JOIN cell c ON "
    "c.key = o.key;"
    "CREATE UNIQUE INDEX temp.same_old ON same (old);"
    "INSERT INTO plan (study, words, version, cells) SELECT study, words, version, cells FROM "
    "other.plan WHERE true ON CONFLICT (words) DO UPDATE SET cells = max(cells, excluded.cells);"
    "INSERT OR REPLACE INTO planned SELECT p.id, x.place, same.new FROM other.planned x JOIN "
    "other.plan o ON o.id = x.plan JOIN plan p ON p.words = o.words JOIN same ON same.old = x.cell;"
    "UPDATE plan SET cells = max(cells, (SELECT count(*) FROM planned WHERE plan = plan.id));";

static sv_status merge_rows(const sv__store_db *store)
{
    static const char *const tables[] = {"result", "lost", "loads", "timeline", "spent"};
    SV_TRY(run(store, MERGE));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        /* All columns but the first, which is the cell. */
        char *sql = NULL;
        sqlite3_stmt *about = NULL;
        char *ask = sqlite3_mprintf("SELECT name FROM pragma_table_info('%q') WHERE cid > 0 ORDER "
                                    "BY cid",
                                    tables[i]);
        char *columns = sqlite3_mprintf("%s", "");
        if (ask != NULL && sqlite3_prepare_v2(store->db, ask, -1, &about, NULL) == SQLITE_OK)
            while (columns != NULL && sqlite3_step(about) == SQLITE_ROW) {
                char *more = sqlite3_mprintf("%s, t.%s", columns,
                                             (const char *)sqlite3_column_text(about, 0));
                sqlite3_free(columns);
                columns = more;
            }
        sqlite3_finalize(about);
        sqlite3_free(ask);
        if (columns != NULL)
            sql = sqlite3_mprintf("INSERT OR IGNORE INTO %s SELECT same.new%s FROM other.%s t JOIN "
                                  "same ON same.old = t.cell",
                                  tables[i], columns, tables[i]);
        sv_status status =
            sql != NULL ? run(store, sql) : sv_fail(store->ctx, SV_NO_MEMORY, "out of memory");
        sqlite3_free(columns);
        sqlite3_free(sql);
        SV_TRY(status);
    }
    return run(store, "INSERT INTO fabric SELECT * FROM other.fabric WHERE true ON CONFLICT (name) "
                      "DO UPDATE SET body = coalesce(body, excluded.body); DROP TABLE temp.same;");
}

sv_status sv_study_merge(sv_ctx *ctx, const char *database, const char *other)
{
    sv__store_db store, from;
    struct stat a, b;
    if (stat(database, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino)
        return sv_refuse(ctx, "'%s' and '%s' are the same database", database, other);
    SV_TRY(sv__store_read(&from, ctx, other)); /* brings it up to date, and tells what is wrong */
    sv_status sound = sv_database_whole(ctx, from.db, other);
    sv__store_close(&from);
    SV_TRY(sound);
    SV_TRY(sv__store_open(&store, ctx, database));
    char *attach = sqlite3_mprintf("ATTACH %Q AS other", other);
    sv_status status =
        attach == NULL ? sv_fail(ctx, SV_NO_MEMORY, "out of memory") : run(&store, attach);
    sqlite3_free(attach);
    if (status == SV_OK)
        status = run(&store, "BEGIN IMMEDIATE");
    if (status == SV_OK) {
        status = merge_rows(&store);
        if (status == SV_OK)
            status = run(&store, "COMMIT");
        else
            sqlite3_exec(store.db, "ROLLBACK", NULL, NULL, NULL);
    }
    sv__store_close(&store);
    return status;
}
