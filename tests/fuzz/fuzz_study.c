/*
 * fuzz_study.c: databases of studies, damaged or strange. Every answer in every form, the page,
 * merging with a sound one in both directions, and a study that goes on in it: they end, with a
 * result or a refusal, and what they print is JSON where it says so.
 *
 * An input changes a small sound database. Pieces (files.h): s, SQL that is run in it; p, bytes
 * that are then put into the file (three bytes where, one what); c, the bytes that the file has at
 * most (two bytes); o, options of answers: two contenders, a line each; r, a file instead of all
 * that.
 */
#include <jansson.h>
#include <selvage/experimental/report.h>
#include <selvage/experimental/study.h>
#include <sqlite3.h>

#include "files.h"
#include "report/template.h"
#include "study/answers.h"
#include "study/schema.h"
#include "study/store.h"

const size_t fuzz_memory = 64 << 20;

enum { SQL_STEPS = 200 * 1000, HEAP = 256 << 20 };

/* ---- the sound database ---- */

static const char ROWS[] =
    "INSERT INTO plan VALUES (1, 'degradation', 'words of it', '0.1.0', 24);"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 23) "
    "INSERT INTO cell SELECT i + 1, 'fabric=' || iif(i < 12, 'torus:3', 'a,seed=2') || ' cell ' || "
    "i, iif(i < 12, 'torus:3', 'a,seed=2'), iif(i % 3 = 0, 'none', 'links ' || (i % 3) || '%'), "
    "iif(i % 3 = 0, 'none', 'link'), iif(i % 3 = 0, '', '%'), i % 3, i % 2, "
    "iif(i / 3 % 2 = 0, 'nue', 'updn'), 0, '', 'exchange', 'qdr', 2048, 0, 'metrics sim' FROM n;"
    "INSERT INTO planned SELECT 1, id - 1, id FROM cell;"
    "INSERT INTO result SELECT id, iif(id % 7 = 0, 'unsafe', 'ok'), '', fault_amount, 0, 0, 0, 3, "
    "6, 3, 2, 2, 2, 0, 30, 0, 0, 1, 4, 5.5, 7, 0.5, 4, 1.5, 2, 0.7, 0.5, 0.9, 0.1, 10, "
    "'completed', 30.5 - id, 100, 1000, 3000, 2.5, 2, 9, 10, 1, 2, 3, 4, 5, 3 FROM cell;"
    "INSERT INTO lost SELECT id, 'links', 2, 10, 30, 1.5, 0, 1, 1.5, 2, 4, 1.5 FROM cell WHERE id "
    "< 4;"
    "INSERT INTO fabric VALUES ('torus:3', 3, 6, 3, '{\"switches\":[[\"a\",2],[\"b\",2],[\"c\",2]],"
    "\"cables\":[[0,1,1,2],[1,1,2,2],[2,1,0,2]]}'), ('a,seed=2', 4, 4, 3, NULL);"
    "INSERT INTO loads VALUES (1, x'010203040506070809000102', x'010203');"
    "INSERT INTO timeline VALUES (1, 2, 10, 3, x'010203040506070809000102');"
    "INSERT INTO spent SELECT id, 0.1, 0.1, 0.1, 1, 1.5, 1000000, 'here', '0.1.0', "
    "'2026-01-01T00:00:00Z' FROM cell;";

static void must_sql(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        abort();
    }
}

/* As bytes, made once. Small pages, so that trees have several levels. */
static const unsigned char *sound(sqlite3_int64 *size)
{
    static unsigned char *bytes;
    static sqlite3_int64 length;
    if (bytes == NULL) {
        sqlite3 *db = NULL;
        char text[64];
        sqlite3_hard_heap_limit64(HEAP);
        if (sqlite3_open(":memory:", &db) != SQLITE_OK)
            abort();
        must_sql(db, "PRAGMA page_size = 512");
        for (int i = 1; i <= sv__schema_version(); i++)
            must_sql(db, sv__schema_step(i));
        snprintf(text, sizeof text, "PRAGMA user_version = %d", sv__schema_version());
        must_sql(db, text);
        snprintf(text, sizeof text, "PRAGMA application_id = %d", SV__SCHEMA_ID);
        must_sql(db, text);
        must_sql(db, ROWS);
        bytes = sqlite3_serialize(db, "main", &length, 0);
        sqlite3_close(db);
        if (bytes == NULL)
            abort();
    }
    *size = length;
    return bytes;
}

/* ---- what an input makes of it ---- */

struct file {
    unsigned char *at; /* SQLite's memory */
    sqlite3_int64 size;
};

static int too_long(void *user)
{
    (void)user;
    return 1;
}

/* Other files are none of its business. */
static int allow(void *user, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)user, (void)b, (void)c, (void)d;
    if (action == SQLITE_PRAGMA)
        return strcmp(a, "user_version") == 0 || strcmp(a, "application_id") == 0 ||
                       strcmp(a, "writable_schema") == 0
                   ? SQLITE_OK
                   : SQLITE_DENY;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

static struct file run_sql(struct file file, const struct piece *p)
{
    sqlite3 *db = NULL;
    char *sql = calloc(1, p->size + 1);
    struct file made = file;
    if (sql == NULL || sqlite3_open(":memory:", &db) != SQLITE_OK)
        abort();
    memcpy(sql, p->at, p->size);
    sqlite3_deserialize(db, "main", file.at, file.size, file.size,
                        SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_progress_handler(db, SQL_STEPS, too_long, NULL);
    sqlite3_set_authorizer(db, allow, NULL);
    /* statement by statement, so that one that fails does not keep others from being run */
    for (const char *rest = sql; *rest != 0;) {
        sqlite3_stmt *statement = NULL;
        const char *next = NULL;
        if (sqlite3_prepare_v2(db, rest, -1, &statement, &next) != SQLITE_OK) {
            next = strchr(rest, ';');
            next = next == NULL ? "" : next + 1;
        }
        while (statement != NULL && sqlite3_step(statement) == SQLITE_ROW)
            continue;
        sqlite3_finalize(statement);
        rest = next;
    }
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    made.at = sqlite3_serialize(db, "main", &made.size, 0);
    sqlite3_close(db);
    free(sql);
    return made;
}

static void patch(struct file *file, const struct piece *p)
{
    for (size_t i = 0; i + 4 <= p->size && file->size > 0; i += 4) {
        size_t where = (size_t)p->at[i] | (size_t)p->at[i + 1] << 8 | (size_t)p->at[i + 2] << 16;
        file->at[where % (size_t)file->size] = p->at[i + 3];
    }
}

static void cut(struct file *file, const struct piece *p)
{
    size_t max = p->size < 2 ? 0 : (size_t)p->at[0] | (size_t)p->at[1] << 8;
    if ((size_t)file->size > max)
        file->size = (sqlite3_int64)max;
}

static struct file copy(const void *bytes, size_t size)
{
    struct file file = {sqlite3_malloc64(size + 1), (sqlite3_int64)size};
    if (file.at == NULL)
        abort();
    if (size > 0)
        memcpy(file.at, bytes, size);
    return file;
}

/* ---- what is asked ---- */

/* Damage may be told as what the system says. */
static void must_end(sv_ctx *ctx, sv_status status)
{
    if (status != SV_OK && status != SV_IO)
        must_explain(ctx, status);
    if (status == SV_IO)
        MUST(sv_ctx_message(ctx)[0] != 0);
}

static void must_be_json(sv_ctx *ctx, const char *text, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, &error);
    if (root == NULL)
        fprintf(stderr, "%.*s\n%s, line %d\n", (int)size, text, error.text, error.line);
    MUST(root != NULL);
    json_decref(root);
}

static void print(sv_ctx *ctx, const sv_table *table)
{
    sv_text text;
    sv_json json;
    sv_text_init(&text, ctx, NULL);
    sv_table_write_text(&text, table, 3);
    sv_table_write_csv(&text, table);
    MUST(text.status == SV_OK || text.status == SV_NO_MEMORY);
    sv_text_release(&text);
    sv_json_init(&json, &text);
    sv_table_write_json(&json, NULL, table);
    if (text.status == SV_OK)
        must_be_json(ctx, text.at, text.length);
    sv_text_release(&text);
}

/* All answers, and the one that has to be asked for. */
static void ask_all(sv_ctx *ctx, const sv_answer_options *options)
{
    sqlite3 *db = NULL;
    sv_arena arena;
    sv_tables tables;
    sv_arena_init(&arena, ctx);
    sv_tables_init(&tables, &arena);
    sv_status status = sv_answers_open(ctx, fuzz_path("db"), &db);
    must_end(ctx, status);
    if (status == SV_OK) {
        must_end(ctx, sv_answer_all(ctx, db, options, &tables));
        must_end(ctx, sv_answer(ctx, db, "compare", options, &tables));
        for (size_t i = 0; i < tables.count; i++)
            print(ctx, tables.at[i]);
    }
    sqlite3_close(db);
    sv_arena_release(&arena);
}

struct page {
    char at[8 << 20];
    size_t length;
};

static bool fill_page(void *user, const void *more, size_t size)
{
    struct page *page = user;
    if (size > sizeof page->at - page->length)
        return false;
    memcpy(page->at + page->length, more, size);
    page->length += size;
    return true;
}

/* The page is the template with a title and JSON, none of which ends a script. */
static void report(sv_ctx *ctx)
{
    static struct page page; /* most of it is the template: not to be made room for every time */
    sv_sink sink = {"page", &page, fill_page};
    page.length = 0;
    char path[500];
    snprintf(path, sizeof path, "%s", fuzz_path("db"));
    const sv_report_request request = {.database = path, .title = "title"};
    sv_status status = sv_report_write(ctx, &request, &sink);
    must_end(ctx, status);
    if (status == SV_OK) {
        size_t front = sv__template.head_length + strlen("title") + sv__template.middle_length;
        size_t length = page.length - front - sv__template.tail_length;
        MUST(page.length >= front + sv__template.tail_length);
        MUST(memchr(page.at + front, '<', length) == NULL);
        must_be_json(ctx, page.at + front, length);
    }
}

/* One into another; the sound one stays sound. */
static void merge(sv_ctx *ctx, const struct file *file)
{
    sqlite3_int64 size;
    const unsigned char *bytes = sound(&size);
    sqlite3 *db = NULL;
    fuzz_write("sound", bytes, (size_t)size);
    must_end(ctx, sv_study_merge(ctx, fuzz_path("sound"), fuzz_path("db")));
    MUST(sv_answers_open(ctx, fuzz_path("sound"), &db) == SV_OK);
    sqlite3_close(db);
    fuzz_write("sound", bytes, (size_t)size);
    fuzz_write("db", file->at, (size_t)file->size);
    must_end(ctx, sv_study_merge(ctx, fuzz_path("db"), fuzz_path("sound")));
}

/* A study that goes on, with a result that is made up. */
static void go_on(sv_ctx *ctx)
{
    static const char *const fabrics[] = {"torus:3"}, *const engines[] = {"nue,updn"};
    const sv_study_request request = {
        .study = "run", .fabrics = {fabrics, 1}, .engines = {engines, 1}, .no_simulation = true};
    sv__result result = {.status = "ok", .fabric_switches = 3, .machine = "here"};
    sv_study *study = NULL;
    sv__store_db store;
    int64_t ids[2] = {0};
    bool done[2] = {false};
    MUST(sv_study_new(ctx, &request, &study) == SV_OK && sv_study_cells(study) == 2);
    char path[500];
    snprintf(path, sizeof path, "%s", fuzz_path("db"));
    sv_status status = sv__store_open(&store, ctx, path);
    if (status == SV_OK) {
        status = sv__store_plan(&store, study, true, ids, done);
        if (status == SV_OK)
            status = sv__store_put(&store, study, ids[0], "torus:3", &result);
        sv__store_close(&store);
    }
    must_end(ctx, status);
    sv_study_free(study);
}

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sqlite3_int64 length;
    const unsigned char *bytes = sound(&length);
    struct file file = copy(bytes, (size_t)length);
    char names[2][64] = {"nue", "updn"};
    for (struct piece p = {.rest = data, .left = size}; fuzz_next_piece(&p);) {
        if (p.letter == 's')
            file = run_sql(file, &p);
        else if (p.letter == 'p')
            patch(&file, &p);
        else if (p.letter == 'c')
            cut(&file, &p);
        else if (p.letter == 'o')
            snprintf(names[0], sizeof names[0], "%.*s", (int)p.size, (const char *)p.at);
        else if (p.letter == 'r') {
            sqlite3_free(file.at);
            file = copy(p.at, p.size);
        }
    }
    char *line = strchr(names[0], '\n');
    if (line != NULL) {
        strcpy(names[1], line + 1);
        *line = 0;
    }
    const sv_answer_options options = {.a = names[0], .b = names[1]};
    fuzz_folder();
    fuzz_write("db", file.at, file.at == NULL ? 0 : (size_t)file.size);
    ask_all(ctx, &options);
    report(ctx);
    merge(ctx, &file);
    fuzz_write("db", file.at, file.at == NULL ? 0 : (size_t)file.size);
    go_on(ctx);
    sqlite3_free(file.at);
}
