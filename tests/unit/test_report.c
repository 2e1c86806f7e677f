/* The page's data: packed numbers, text that may stand in HTML. */
#include <math.h>
#include <selvage/experimental/report.h>
#include <sqlite3.h>
#include <unistd.h>

#include "report/pack.h"
#include "study/schema.h"
#include "support/testing.h"

TEST_CONTEXT

/* ---- packing ---- */

static void assert_packed(const double *numbers, size_t count, const char *wanted)
{
    sv_text text;
    sv_json json;
    sv_text_init(&text, ctx, NULL);
    sv_json_init(&json, &text);
    sv_json_begin_row(&json, NULL, '[');
    sv__pack_numbers(&json, NULL, numbers, count);
    sv_json_end(&json, ']');
    OK(ctx, sv_text_finish(&text));
    assert_string_equal(text.at, wanted);
    sv_text_release(&text);
}

static void test_numbers_take_the_smallest_form(void **state)
{
    (void)state;
    assert_packed((double[]){1, -2, NAN}, 3,
                  "[{\"type\": \"i8\", \"length\": 3, \"data\": \"Af6A\"}]\n");
    assert_packed((double[]){-127, 127}, 2,
                  "[{\"type\": \"i8\", \"length\": 2, \"data\": \"gX8=\"}]\n");
    assert_packed((double[]){-128, 1}, 2, /* -128 would be no number */
                  "[{\"type\": \"i16\", \"length\": 2, \"data\": \"gP8BAA==\"}]\n");
    assert_packed((double[]){65536, NAN}, 2,
                  "[{\"type\": \"i32\", \"length\": 2, \"data\": \"AAABAAAAAIA=\"}]\n");
    assert_packed((double[]){4294967296.0}, 1,
                  "[{\"type\": \"f64\", \"length\": 1, \"data\": \"AAAAAAAA8EE=\"}]\n");
    assert_packed((double[]){0.1}, 1,
                  "[{\"type\": \"f64\", \"length\": 1, \"data\": \"mpmZmZmZuT8=\"}]\n");
    assert_packed((double[]){7, 7, 7, 7}, 4,
                  "[{\"type\": \"i8\", \"length\": 4, \"data\": \"Bw==\"}]\n");
    assert_packed(NULL, 0, "[{\"type\": \"i8\", \"length\": 0, \"data\": \"\"}]\n");
}

static void test_no_name_ends_a_script(void **state)
{
    (void)state;
    test_buffer buffer = {0};
    sv_sink sink = test_sink(&buffer);
    sv__script script;
    sv_text text;
    sv_json json;
    sv__script_init(&script, &sink);
    sv_text_init(&text, ctx, &script.sink);
    sv_json_init(&json, &text);
    sv_json_begin_row(&json, NULL, '[');
    sv_json_text(&json, NULL, "</script><script>alert(1)</script>");
    sv_json_text(&json, NULL, "<!--\xff\"\\\n");
    sv_json_text(&json, NULL, "<");
    sv_json_end(&json, ']');
    OK(ctx, sv_text_finish(&text));
    assert_string_equal(buffer.text, "[\"\\u003c/script>\\u003cscript>alert(1)\\u003c/script>\", "
                                     "\"\\u003c!--\\ufffd\\\"\\\\\\u000a\", \"\\u003c\"]\n");
    sv_text_release(&text);
    free(buffer.text);
}

static bool refuse(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    return size != 6; /* the escape */
}

static void test_script_passes_failures_on(void **state)
{
    (void)state;
    sv_sink sink = {.name = "full", .write = refuse};
    sv__script script;
    sv__script_init(&script, &sink);
    assert_true(script.sink.write(script.sink.user, "abc", 3));
    assert_false(script.sink.write(script.sink.user, "a<b", 3));
}

static void test_html_text(void **state)
{
    (void)state;
    sv_text text;
    sv_text_init(&text, ctx, NULL);
    sv__html_text(&text, "a<b>&\"é\xff</title>");
    assert_string_equal(text.at, "a&lt;b>&amp;&quot;é\xef\xbf\xbd&lt;/title>");
    sv_text_release(&text);
}

/* ---- all of it ---- */

static const char content[] =
    "INSERT INTO plan VALUES (1, 'run', 'run --fabric pair', '0.1.0', 2);"
    "INSERT INTO cell VALUES (1, 'a', 'pair', 'none', 'none', '', 0, 0, 'nue', 0, '', 'exchange',"
    " 'qdr', 2048, 0, 'sim'), (2, 'b', 'pair', 'links 1%', 'link', '%', 1, 1, 'nue', 0, '',"
    " 'exchange', 'qdr', 2048, 0, 'sim');"
    "INSERT INTO planned VALUES (1, 0, 1), (1, 1, 2);"
    "INSERT INTO result (cell, status, words, links_failed, throughput) VALUES"
    " (1, 'ok', '', 0, 2.5), (2, 'ok', '', 1, 1.5);"
    "INSERT INTO fabric VALUES ('pair', 2, 2, 2,"
    " '{\"switches\": [[\"a\", 1], [\"b\", 1]], \"cables\": [[0, 1, 1, 1], [0, 2, 1, 2]]}');"
    "INSERT INTO loads VALUES (1, x'0000000000000000', x'0101');"
    "INSERT INTO timeline VALUES (1, 1, 2.5, 1.0, x'00000000');";

static void fill_database(const char *path)
{
    sqlite3 *db = NULL;
    char text[64];
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (int version = 1; version <= sv__schema_version(); version++)
        assert_int_equal(sqlite3_exec(db, sv__schema_step(version), NULL, NULL, NULL), SQLITE_OK);
    snprintf(text, sizeof text, "PRAGMA user_version = %d; PRAGMA application_id = %d",
             sv__schema_version(), SV__SCHEMA_ID);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, content, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static bool swallow(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return true;
}

static sv_status write_report(sv_ctx *own, void *arg)
{
    sv_sink sink = {.name = "nowhere", .write = swallow};
    sv_report_request request = {.database = arg};
    return sv_report_write(own, &request, &sink);
}

static void test_report_without_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    fill_database(path);
    test_out_of_memory("report", write_report, path);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_take_the_smallest_form),
        cmocka_unit_test(test_no_name_ends_a_script),
        cmocka_unit_test(test_script_passes_failures_on),
        cmocka_unit_test(test_html_text),
        cmocka_unit_test(test_report_without_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
