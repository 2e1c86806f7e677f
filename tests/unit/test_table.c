/*
 * test_table.c: tables as text, CSV and JSON: widths in characters, digits, what is missing, names
 * with anything in them; and that a table without memory is no table, but no crash either.
 */
#include "support/testing.h"

#include <math.h>

#include "study/table.h"

TEST_CONTEXT

/* A table with all that there is. */
static void fill(sv_tables *tables)
{
    sv_table *t = sv_table_new(tables, "demo", "A title", "What it says.");
    sv_table_column(t, "fabric", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "±", "GB/s", SV_ANY_DIGITS);
    sv_table_column(t, "cells", NULL, 0);
    sv_table_column(t, "words", NULL, SV_TEXT_COLUMN);
    sv_table_text(t, "torus:4x4,hosts=2");
    sv_table_number(t, 629.7612);
    sv_table_number(t, 70);
    sv_table_text(t, "say \"no\"");
    sv_table_print(t, "Kautz–%d", 2);
    sv_table_number(t, -0.001);
    sv_table_number(t, NAN);
    sv_table_text(t, NULL);
    sv_table_text(t, "x");
    sv_table_number(t, INFINITY);
    sv_table_number(t, 1234567);
    sv_table_text(t, "two\nlines");
    sv_table_note(t, "%d cells have no result yet.", 3);
}

typedef void printer(sv_text *out, const sv_table *table);

static char *printed(printer *print)
{
    sv_arena arena;
    sv_tables tables;
    sv_text out;
    sv_arena_init(&arena, ctx);
    sv_tables_init(&tables, &arena);
    fill(&tables);
    assert_int_equal(tables.status, SV_OK);
    assert_int_equal(sv_table_rows(tables.at[0]), 3);
    assert_ptr_equal(sv_tables_find(&tables, "demo"), tables.at[0]);
    assert_null(sv_tables_find(&tables, "other"));
    sv_text_init(&out, ctx, NULL);
    print(&out, tables.at[0]);
    OK(ctx, sv_text_finish(&out));
    char *text = strdup(out.at);
    sv_text_release(&out);
    sv_arena_release(&arena);
    return text;
}

static void expect(printer *print, const char *wanted)
{
    char *text = printed(print);
    assert_string_equal(text, wanted);
    free(text);
}

static void print_all(sv_text *out, const sv_table *table)
{
    sv_table_write_text(out, table, 0);
}

static void print_two(sv_text *out, const sv_table *table)
{
    sv_table_write_text(out, table, 2);
}

static void print_json(sv_text *out, const sv_table *table)
{
    sv_json json;
    sv_json_init(&json, out);
    sv_table_write_json(&json, NULL, table);
}

static void as_text(void **state)
{
    (void)state;
    expect(print_all, "A title\n"
                      "What it says.\n"
                      "\n"
                      "fabric             ± (GB/s)    cells  words\n"
                      "torus:4x4,hosts=2    629.76       70  say \"no\"\n"
                      "Kautz–2                0.00        -  -\n"
                      "x                         -  1234567  two?lines\n"
                      "\n"
                      "3 cells have no result yet.\n");
    expect(print_two, "A title\n"
                      "What it says.\n"
                      "\n"
                      "fabric             ± (GB/s)  cells  words\n"
                      "torus:4x4,hosts=2    629.76     70  say \"no\"\n"
                      "Kautz–2                0.00      -  -\n"
                      "… and 1 more rows\n"
                      "\n"
                      "3 cells have no result yet.\n");
}

static void as_csv(void **state)
{
    (void)state;
    expect(sv_table_write_csv, "fabric,± (GB/s),cells,words\n"
                               "\"torus:4x4,hosts=2\",629.7612,70,\"say \"\"no\"\"\"\n"
                               "Kautz–2,-0.001,,\n"
                               "x,,1234567,\"two\nlines\"\n");
}

static void as_json(void **state)
{
    (void)state;
    expect(print_json, "{\n"
                       "  \"name\": \"demo\",\n"
                       "  \"title\": \"A title\",\n"
                       "  \"says\": \"What it says.\",\n"
                       "  \"columns\": [\n"
                       "    {\"name\": \"fabric\", \"unit\": null, \"kind\": \"text\"},\n"
                       "    {\"name\": \"±\", \"unit\": \"GB/s\", \"kind\": \"number\"},\n"
                       "    {\"name\": \"cells\", \"unit\": null, \"kind\": \"number\"},\n"
                       "    {\"name\": \"words\", \"unit\": null, \"kind\": \"text\"}\n"
                       "  ],\n"
                       "  \"rows\": [\n"
                       "    [\"torus:4x4,hosts=2\", 629.761200000, 70, \"say \\\"no\\\"\"],\n"
                       "    [\"Kautz–2\", -0.00100000000000, null, null],\n"
                       "    [\"x\", null, 1234567, \"two\\u000alines\"]\n"
                       "  ],\n"
                       "  \"notes\": [\n"
                       "    \"3 cells have no result yet.\"\n"
                       "  ]\n"
                       "}\n");
}

static void without_rows(void **state)
{
    (void)state;
    sv_arena arena;
    sv_tables tables;
    sv_text out;
    sv_arena_init(&arena, ctx);
    sv_tables_init(&tables, &arena);
    sv_table *t = sv_table_new(&tables, "none", "Nothing", "There is nothing.");
    sv_table_column(t, "a", NULL, 0);
    sv_text_init(&out, ctx, NULL);
    sv_table_write_text(&out, t, 0);
    sv_table_write_csv(&out, t);
    OK(ctx, sv_text_finish(&out));
    assert_string_equal(out.at, "Nothing\nThere is nothing.\n\n(nothing)\na\n");
    sv_text_release(&out);
    sv_arena_release(&arena);
}

static sv_status build(sv_ctx *own, void *arg)
{
    (void)arg;
    sv_arena arena;
    sv_tables tables;
    sv_text out;
    sv_arena_init(&arena, own);
    sv_tables_init(&tables, &arena);
    for (int i = 0; i < 20; i++)
        fill(&tables);
    sv_text_init(&out, own, NULL);
    if (tables.status == SV_OK)
        print_all(&out, tables.at[19]);
    sv_status status = tables.status == SV_OK ? sv_text_finish(&out) : tables.status;
    sv_text_release(&out);
    sv_arena_release(&arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    test_out_of_memory("tables", build, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_text),      cmocka_unit_test(as_csv),         cmocka_unit_test(as_json),
        cmocka_unit_test(without_rows), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
