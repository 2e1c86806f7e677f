/*
 * store.c: the database of a study.
 *
 * Idea: one transaction a cell, with a log written ahead (WAL), so that a process that is killed
 * loses nothing but the cell it was at, and readers can look while a study runs. When a study ends
 * the database is one file again.
 *
 * Several processes may write to it: claims.c says who runs which cell, and who may change how it
 * is kept. The last of them makes it one file again.
 *
 * Invariants: a cell that has a row in result has all its other rows. Results are added, never
 * changed, so two that run the same cell do no harm: the first stays. Only who asks for it (retry)
 * takes results of limits and errors away.
 * Cost: some hundred microseconds a cell.
 */
#include "study/store.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "study/answers.h"
#include "study/schema.h"

/* How long to wait for somebody else who writes, and how long before it is tried again. */
enum { PATIENCE_MS = 60000, AGAIN_MS = 20 };

sv_status sv__store_fail(const sv__store_db *store, const char *doing)
{
    return sv_database_fail(store->ctx, store->db, store->path, doing);
}

/*
 * Whether it is worth trying again. SQLite waits for others by itself (the busy timeout), but not
 * where two could wait for each other: when several find what a process that was killed has left
 * half done, or when the journal changes its kind.
 */
static bool is_busy(const sv__store_db *store, int code, uint64_t since)
{
    const struct timespec moment = {.tv_nsec = AGAIN_MS * 1000000L};
    if ((code & 0xff) != SQLITE_BUSY ||
        sv_now_ns(store->ctx) - since > PATIENCE_MS * UINT64_C(1000000) || sv_cancelled(store->ctx))
        return false;
    nanosleep(&moment, NULL);
    return true;
}

sv_status sv__store_run(const sv__store_db *store, const char *sql, const char *doing)
{
    const uint64_t since = sv_now_ns(store->ctx);
    int code;
    do
        code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    while (is_busy(store, code, since));
    return code == SQLITE_OK ? SV_OK : sv__store_fail(store, doing);
}

/* The first number that a query gives; SQLITE_ROW, or SQLITE_DONE if it gives none. */
static int ask(const sv__store_db *store, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    *value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return code;
}

/* The number that a pragma or a query gives. */
static sv_status number(const sv__store_db *store, const char *sql, int64_t *value)
{
    const uint64_t since = sv_now_ns(store->ctx);
    int code;
    do
        code = ask(store, sql, value);
    while (is_busy(store, code, since));
    return code == SQLITE_ROW || code == SQLITE_DONE ? SV_OK : sv__store_fail(store, "read");
}

/* ---- versions ---- */

/* Whose database it is, and of which version; 0: it is empty. */
static sv_status version_of(const sv__store_db *store, int64_t *version)
{
    int64_t id, tables;
    SV_TRY(number(store, "SELECT count(*) FROM sqlite_master", &tables));
    SV_TRY(number(store, "PRAGMA application_id", &id));
    SV_TRY(number(store, "PRAGMA user_version", version));
    if (tables == 0 && id == 0) {
        *version = 0;
        return SV_OK;
    }
    if (id != SV__SCHEMA_ID || *version < 1)
        return sv_fail(store->ctx, SV_BAD_INPUT, "%s: is no database of a study", store->path);
    if (*version > sv__schema_version())
        return sv_fail(store->ctx, SV_UNSUPPORTED,
                       "%s: was written by a newer selvage (schema %lld, this one knows %d)",
                       store->path, (long long)*version, sv__schema_version());
    return *version == sv__schema_version() ? sv_database_check(store->ctx, store->db, store->path)
                                            : SV_OK;
}

static sv_status migrate(const sv__store_db *store)
{
    int64_t version;
    char text[64];
    SV_TRY(sv__store_run(store, "BEGIN IMMEDIATE", "lock"));
    sv_status status = version_of(store, &version);
    for (int i = (int)version + 1; status == SV_OK && i <= sv__schema_version(); i++)
        status = sv__store_run(store, sv__schema_step(i), "make tables");
    sqlite3_snprintf(sizeof text, text, "PRAGMA user_version = %d", sv__schema_version());
    if (status == SV_OK)
        status = sv__store_run(store, text, "set the version");
    sqlite3_snprintf(sizeof text, text, "PRAGMA application_id = %d", SV__SCHEMA_ID);
    if (status == SV_OK)
        status = sv__store_run(store, text, "set the version");
    if (status == SV_OK)
        return sv__store_run(store, "COMMIT", "write");
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* ---- opening ---- */

static const char *const INSERTS[] = {
    "INSERT OR IGNORE INTO result (cell, status, words, sim_status"
#define COLUMN(name, kind) ", " #name
#include "study/columns.h"
#undef COLUMN
    ") VALUES (?, ?, ?, ?"
#define COLUMN(name, kind) ", ?"
#include "study/columns.h"
#undef COLUMN
    ")",
    "INSERT OR IGNORE INTO lost VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO fabric VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET body = "
    "coalesce(body, excluded.body)",
    "INSERT OR IGNORE INTO loads VALUES (?, ?, ?)",
    "INSERT OR IGNORE INTO timeline VALUES (?, ?, ?, ?, ?)",
    "INSERT OR IGNORE INTO spent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
};

static sv_status prepare(sv__store_db *store)
{
    sqlite3_stmt **const statements[] = {&store->result, &store->lost,     &store->fabric,
                                         &store->loads,  &store->timeline, &store->spent};
    for (int i = 0; i < 6; i++)
        if (sqlite3_prepare_v2(store->db, INSERTS[i], -1, statements[i], NULL) != SQLITE_OK)
            return sv__store_fail(store, "use");
    return SV_OK;
}

static sv_status open_file(sv__store_db *store, sv_ctx *ctx, const char *path, int flags)
{
    *store = (sv__store_db){.ctx = ctx, .path = path, .claims.descriptor = -1};
    SV_TRY(sv_database_regular(ctx, path));
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK) {
        sv_status status = sv__store_fail(store, "open");
        sv__store_close(store);
        return status;
    }
    sqlite3_busy_timeout(store->db, PATIENCE_MS);
    return SV_OK;
}

sv_status sv__store_open(sv__store_db *store, sv_ctx *ctx, const char *path)
{
    SV_TRY(open_file(store, ctx, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    int64_t version = 0;
    sv_status status = version_of(store, &version); /* before anything is left beside it */
    if (status == SV_OK)
        status = sv__claims_open(&store->claims, ctx, sqlite3_db_filename(store->db, "main"));
    store->writes = status == SV_OK;
    if (status == SV_OK)
        status = version_of(store, &version);
    if (status == SV_OK)
        status =
            sv__store_run(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", "open");
    if (status == SV_OK && version < sv__schema_version()) {
        status = migrate(store);
        if (status == SV_OK) /* into the file itself, so that a copy of it is a database */
            status = sv__store_run(store, "PRAGMA wal_checkpoint(TRUNCATE)", "write");
    }
    if (status == SV_OK)
        status = prepare(store);
    if (status == SV_OK)
        sv__claims_enter(&store->claims);
    else
        sv__store_close(store);
    return status;
}

sv_status sv__store_read(sv__store_db *store, sv_ctx *ctx, const char *path)
{
    if (access(path, R_OK) != 0)
        return sv_fail(ctx, SV_IO, "cannot open '%s': %s", path, strerror(errno));
    SV_TRY(open_file(store, ctx, path, SQLITE_OPEN_READWRITE));
    int64_t version;
    sv_status status = version_of(store, &version);
    if (status == SV_OK && version == 0)
        status = sv_fail(ctx, SV_BAD_INPUT, "%s: is no database of a study", path);
    if (status == SV_OK && version < sv__schema_version())
        status = migrate(store);
    if (status != SV_OK)
        sv__store_close(store);
    return status;
}

/* One file again; whoever reads it has a moment to finish, and else it stays as it is. */
static void fold(const sv__store_db *store)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    for (int i = 0; i < 40; i++) {
        int code = sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
        if (code != SQLITE_BUSY && code != SQLITE_LOCKED)
            return;
        nanosleep(&moment, NULL);
    }
}

void sv__store_close(sv__store_db *store)
{
    sqlite3_stmt *const statements[] = {store->result, store->lost,     store->fabric,
                                        store->loads,  store->timeline, store->spent};
    for (int i = 0; i < 6; i++)
        sqlite3_finalize(statements[i]);
    bool last = store->writes && sv__claims_leave(&store->claims);
    if (last && store->result != NULL)
        fold(store);
    sqlite3_close(store->db);
    sv__claims_close(&store->claims, last);
    *store = (sv__store_db){.claims.descriptor = -1};
}

/* ---- cells ---- */

sv_status sv__store_take(sv__store_db *store, int64_t id, bool *taken, bool *done)
{
    char sql[80];
    int64_t found = 0;
    *done = false;
    *taken = sv__claims_take(&store->claims, id);
    if (!*taken)
        return SV_OK;
    sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM result WHERE cell = %lld", (long long)id);
    sv_status status = number(store, sql, &found);
    *done = status == SV_OK && found != 0;
    if (status != SV_OK || *done) {
        sv__claims_drop(&store->claims, id);
        *taken = false;
    }
    return status;
}

void sv__store_give_back(const sv__store_db *store, int64_t id)
{
    sv__claims_drop(&store->claims, id);
}

/* ---- writing ---- */

static int bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    return sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

/* Runs a statement that gives no rows, and makes it ready for the next time. */
static sv_status step(const sv__store_db *store, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sv_status status = code == SQLITE_DONE ? SV_OK : sv__store_fail(store, "write");
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

static sv_status put_result(sv__store_db *store, int64_t id, const sv__result *r)
{
    static const bool integer[] = {
#define INTEGER            true
#define REAL               false
#define COLUMN(name, kind) kind,
#include "study/columns.h"
#undef COLUMN
#undef INTEGER
#undef REAL
    };
    sqlite3_bind_int64(store->result, 1, id);
    bind_text(store->result, 2, r->status);
    bind_text(store->result, 3, r->words);
    if (r->sim_status[0] != 0)
        bind_text(store->result, 4, r->sim_status);
    for (int i = 0; i < SV__COLUMNS; i++) {
        if (!r->values[i].given)
            continue;
        if (integer[i])
            sqlite3_bind_int64(store->result, 5 + i, r->values[i].integer);
        else
            sqlite3_bind_double(store->result, 5 + i, r->values[i].real);
    }
    return step(store, store->result);
}

static sv_status put_lost(sv__store_db *store, int64_t id, const sv_study *study,
                          const sv__lost_row *row)
{
    sqlite3_stmt *s = store->lost;
    const sv_lost *lost = &row->lost;
    sqlite3_bind_int64(s, 1, id);
    bind_text(s, 2, study->lost.switches ? "switches" : "links");
    sqlite3_bind_int64(s, 3, lost->failures);
    sqlite3_bind_int64(s, 4, study->lost.trials);
    sqlite3_bind_int64(s, 5, (int64_t)row->pairs);
    sqlite3_bind_double(s, 6, lost->expected);
    sqlite3_bind_int64(s, 7, (int64_t)lost->min);
    sqlite3_bind_double(s, 8, lost->q1);
    sqlite3_bind_double(s, 9, lost->median);
    sqlite3_bind_double(s, 10, lost->q3);
    sqlite3_bind_int64(s, 11, (int64_t)lost->max);
    sqlite3_bind_double(s, 12, lost->mean);
    return step(store, s);
}

static sv_status put_pictures(sv__store_db *store, int64_t id, const char *fabric,
                              const sv__result *r)
{
    if (r->fabric_switches > 0) {
        sqlite3_bind_text(store->fabric, 1, fabric, -1, SQLITE_STATIC);
        sqlite3_bind_int64(store->fabric, 2, r->fabric_switches);
        sqlite3_bind_int64(store->fabric, 3, r->fabric_terminals);
        sqlite3_bind_int64(store->fabric, 4, r->fabric_links);
        if (r->body != NULL)
            bind_text(store->fabric, 5, r->body);
        SV_TRY(step(store, store->fabric));
    }
    if (r->cables != NULL) {
        sqlite3_bind_int64(store->loads, 1, id);
        sqlite3_bind_blob64(store->loads, 2, r->cables, r->cables_bytes, SQLITE_STATIC);
        sqlite3_bind_blob64(store->loads, 3, r->nodes, r->nodes_bytes, SQLITE_STATIC);
        SV_TRY(step(store, store->loads));
    }
    if (r->timeline != NULL) {
        sqlite3_bind_int64(store->timeline, 1, id);
        sqlite3_bind_int64(store->timeline, 2, r->columns);
        sqlite3_bind_double(store->timeline, 3, r->interval_us);
        sqlite3_bind_double(store->timeline, 4, r->largest_us);
        sqlite3_bind_blob64(store->timeline, 5, r->timeline, r->timeline_bytes, SQLITE_STATIC);
        SV_TRY(step(store, store->timeline));
    }
    return SV_OK;
}

static sv_status put_spent(sv__store_db *store, int64_t id, const sv__result *r)
{
    sqlite3_stmt *s = store->spent;
    const double seconds[] = {r->route_seconds, r->verify_seconds, r->metrics_seconds,
                              r->sim_seconds, r->seconds};
    sqlite3_bind_int64(s, 1, id);
    for (int i = 0; i < 5; i++)
        if (seconds[i] > 0)
            sqlite3_bind_double(s, 2 + i, seconds[i]);
    sqlite3_bind_double(s, 6, r->seconds);
    sqlite3_bind_int64(s, 7, (int64_t)r->bytes);
    bind_text(s, 8, r->machine);
    bind_text(s, 9, sv_version());
    return step(store, s);
}

sv_status sv__store_put(sv__store_db *store, const sv_study *study, int64_t id, const char *fabric,
                        const sv__result *result)
{
    SV_TRY(sv__store_run(store, "BEGIN IMMEDIATE", "write"));
    sv_status status = put_result(store, id, result);
    for (uint32_t i = 0; status == SV_OK && i < result->num_lost; i++)
        status = put_lost(store, id, study, &result->lost[i]);
    if (status == SV_OK)
        status = put_pictures(store, id, fabric, result);
    if (status == SV_OK)
        status = put_spent(store, id, result);
    if (status == SV_OK)
        return sv__store_run(store, "COMMIT", "write");
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
