/*
 * test_answers.c: answers when memory runs out, whatever allocation fails, and databases that are
 * none. What they say is compared with a second implementation in tests/oracle/test_answers.py.
 */
#include "support/testing.h"

#include <unistd.h>

#include "study/answers.h"
#include "study/schema.h"

TEST_CONTEXT

static void must(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

/* A database with two fabrics, three engines, failures of two kinds and lost routes. */
static sqlite3 *small_database(const char *path)
{
    static const char *const engines[] = {"nue", "lash", "minhop"};
    sqlite3 *db = NULL;
    char sql[1200];
    int id = 0;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    must(db, sv__schema_step(1));
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", SV__SCHEMA_ID,
             sv__schema_version());
    must(db, sql);
    for (int fabric = 0; fabric < 2; fabric++)
        for (int engine = 0; engine < 3; engine++)
            for (int amount = 0; amount < 9; amount++) {
                bool years = amount > 4;
                snprintf(
                    sql, sizeof sql,
                    "INSERT INTO cell VALUES (%d, 'key %d', 'torus:%dx3,seed=%d', '%s', '%s', '%s',"
                    " %d, %d, '%s', %d, '', '%s', 'qdr', 2048, 0, 'metrics');"
                    "INSERT INTO result (cell, status, words, links_failed, switches_failed,"
                    " terminals, vls_needed, efi_max, ebb_avg, throughput)"
                    " VALUES (%d, '%s', '', %d, 0, 9, 2, %d, 0.4, %d);"
                    "INSERT INTO lost VALUES (%d, 'links', 1, 10, 90, 2, 1, 1, 2, 2, 3, 2)",
                    id, id, 3 + fabric % 2, fabric,
                    amount == 0 ? "none"
                    : years
                        ? (const char *[]){"years 1", "years 2", "years 3", "years 4"}[amount - 5]
                        : (const char *[]){"", "links 1%", "links 2%", "links 3%",
                                           "links 4%"}[amount],
                    amount == 0 ? "none"
                    : years     ? "years"
                                : "link",
                    years ? "years" : "%", years ? amount - 4 : amount, amount > 0, engines[engine],
                    4 * engine, fabric == 0 ? "exchange" : "", id, engine == 2 ? "unsafe" : "ok",
                    amount, 50 + id, 900 - 90 * amount - 70 * engine + 40 * amount * engine, id);
                must(db, sql);
                id++;
            }
    must(db, "INSERT INTO fabric VALUES ('torus:3x3,seed=0', 9, 9, 18, NULL)");
    /* Two contents of a file, failures that cannot be drawn, and a share of nothing. */
    for (int i = 0; i < 6; i++) {
        snprintf(sql, sizeof sql,
                 "INSERT INTO cell VALUES (%d, 'fabric=n.net#%016d faults=%d', 'n.net', '%s', '%s',"
                 " '%%', 1, 1, 'nue', 4, '', 'exchange', 'qdr', 2048, 0, 'metrics %d');"
                 "INSERT INTO result (cell, status, words, links_failed, switches_failed, switches,"
                 " terminals, links, throughput) VALUES (%d, '%s', '', %d, 0, 4, 8, 6, 100)",
                 id, i / 3, i,
                 i % 3 == 0   ? "none"
                 : i % 3 == 1 ? "links 1%"
                              : "links 90%",
                 i % 3 == 0 ? "none" : "link", i, id, i % 3 == 2 ? "faults" : "ok", 0);
        must(db, sql);
        id++;
    }
    return db;
}

static sv_status answer_all(sv_ctx *own, void *arg)
{
    sv_answer_options options = {.links_a_year = 0.1, .a = "nue", .b = "lash"};
    sv_arena arena;
    sv_tables tables;
    sv_arena_init(&arena, own);
    sv_tables_init(&tables, &arena);
    sv_status status = sv_answer_all(own, arg, &options, &tables);
    if (status == SV_OK)
        status = sv_answer(own, arg, "compare", &options, &tables);
    if (status == SV_OK) {
        assert_string_equal(tables.at[0]->name, "summary");
        assert_non_null(sv_tables_find(&tables, "degradation-crossings"));
        assert_non_null(sv_tables_find(&tables, "lifetime"));
        assert_non_null(sv_tables_find(&tables, "lost"));
        assert_non_null(sv_tables_find(&tables, "compare-cells"));
        for (size_t i = 0; i < tables.count; i++)
            assert_int_equal(tables.at[i]->num_values % tables.at[i]->num_columns, 0);
    }
    sv_arena_release(&arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    sqlite3 *db = small_database(":memory:");
    test_out_of_memory("answers", answer_all, db);
    sqlite3_close(db);
}

static void names_and_options(void **state)
{
    (void)state;
    size_t count = 0;
    for (; sv_answer_name(count) != NULL; count++)
        assert_non_null(sv_answer_summary(count));
    assert_int_equal(count, 10);
    assert_null(sv_answer_summary(count));
    sqlite3 *db = small_database(":memory:");
    sv_arena arena;
    sv_tables tables;
    sv_arena_init(&arena, ctx);
    sv_tables_init(&tables, &arena);
    FAILS(ctx, sv_answer(ctx, db, "none", NULL, &tables), SV_BAD_INPUT, "'none'");
    FAILS(ctx, sv_answer(ctx, db, "compare", NULL, &tables), SV_BAD_INPUT, "two engines");
    sv_answer_options options = {.fabric = "torus:4x3,seed=1"};
    OK(ctx, sv_answer(ctx, db, "degradation", &options, &tables)); /* that one has no traffic */
    assert_int_equal(sv_table_rows(tables.at[0]), 0);
    options = (sv_answer_options){.fabric = "n.net"};
    OK(ctx, sv_answer(ctx, db, "summary", &options, &tables));
    assert_int_equal(sv_table_rows(sv_tables_find(&tables, "summary")), 2); /* two contents */
    sv_arena_release(&arena);
    sv_arena_init(&arena, ctx);
    sv_tables_init(&tables, &arena);
    options = (sv_answer_options){.plan = 7};
    OK(ctx, sv_answer(ctx, db, "usability", &options, &tables));
    assert_int_equal(sv_table_rows(sv_tables_find(&tables, "usability")), 0);
    sv_arena_release(&arena);
    sqlite3_close(db);
}

static void databases_that_are_none(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-answers-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    sqlite3 *db = NULL;
    FAILS(ctx, sv_answers_open(ctx, "/nowhere/study.db", &db), SV_IO, "/nowhere/study.db");
    FAILS(ctx, sv_answers_open(ctx, path, &db), SV_BAD_INPUT, "is no database of a study");
    assert_int_equal(write(file, "a text, and no database", 23), 23);
    FAILS(ctx, sv_answers_open(ctx, path, &db), SV_BAD_INPUT, "is no database of a study");
    assert_int_equal(ftruncate(file, 0), 0);
    sqlite3 *made = small_database(path);
    OK(ctx, sv_answers_open(ctx, path, &db));
    assert_int_equal(sqlite3_exec(db, "DELETE FROM cell", NULL, NULL, NULL), SQLITE_READONLY);
    sqlite3_close(db);
    must(made, "PRAGMA user_version = 99");
    FAILS(ctx, sv_answers_open(ctx, path, &db), SV_UNSUPPORTED, "newer selvage");
    must(made, "PRAGMA user_version = 0");
    FAILS(ctx, sv_answers_open(ctx, path, &db), SV_BAD_INPUT, "brought up to date");
    sqlite3_close(made);
    close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory),
        cmocka_unit_test(names_and_options),
        cmocka_unit_test(databases_that_are_none),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
