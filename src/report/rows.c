/*
 * rows.c: rows of the database as columns of the page.
 *
 * A column is taken for what its values are: numbers (NULL is NAN), or texts, of which there are
 * few different ones, each written once. A column without any value is left out.
 *
 * Texts that are all different (a failure's own words, say) could make a page of any size: a column
 * has at most MAX_TEXT bytes of them, and the others become one that says so.
 * Cost: linear.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "report/data.h"
#include "study/answers.h"

enum { MAX_TEXT = 500 * 1000, MAX_COLUMNS = 100 };

static sv_status damaged(sv__report *r)
{
    return sv_database_fail(r->ctx, r->db, r->name, "read");
}

/* All is read as of one moment, even while a study goes on. */
sv_status sv__report_open(sv__report *r, const char *database)
{
    r->name = database;
    SV_TRY(sv_answers_open(r->ctx, database, &r->db));
    return sqlite3_exec(r->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? SV_OK : damaged(r);
}

void sv__report_close(sv__report *r)
{
    sqlite3_close(r->db);
    r->db = NULL;
}

sv_status sv__query(sv__report *r, const char *sql, sqlite3_stmt **query)
{
    *query = NULL;
    return sqlite3_prepare_v2(r->db, sql, -1, query, NULL) == SQLITE_OK ? SV_OK : damaged(r);
}

sv_status sv__next_row(sv__report *r, sqlite3_stmt *query, bool *more)
{
    int code = sqlite3_step(query);
    *more = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SV_OK : damaged(r);
}

/* ---- columns ---- */

typedef struct column {
    SV_ARRAY(double) numbers; /* or places in texts */
    SV_ARRAY(const char *) texts;
    sv_names places;
    size_t text_bytes;
    bool has_text, has_value;
} column;

typedef struct table {
    sv__report *r;
    sv_arena arena; /* of texts */
    column columns[MAX_COLUMNS];
    int count;
    size_t rows;
} table;

static sv_status text_place(table *t, column *c, const char *text, double *place)
{
    size_t length = strlen(text);
    uint32_t held = sv_names_get(&c->places, (sv_span){text, length});
    if (held == SV_ABSENT && c->text_bytes + length > MAX_TEXT) {
        text = "(left out of the page: too many different texts)";
        length = strlen(text);
        held = sv_names_get(&c->places, (sv_span){text, length});
    }
    if (held == SV_ABSENT) {
        char *copy = sv_arena_text(&t->arena, text, length);
        if (copy == NULL)
            return SV_NO_MEMORY;
        SV_TRY(sv_array_push(t->r->ctx, &c->texts, copy));
        SV_TRY(sv_names_add(&c->places, (sv_span){copy, length}, (uint32_t)c->texts.length - 1,
                            &held));
        c->text_bytes += length;
    }
    *place = held;
    return SV_OK;
}

static sv_status take_row(table *t, sqlite3_stmt *query)
{
    for (int i = 0; i < t->count; i++) {
        column *c = &t->columns[i];
        double number = NAN;
        int type = sqlite3_column_type(query, i);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
            const char *text = (const char *)sqlite3_column_text(query, i);
            if (text == NULL && type == SQLITE_TEXT)
                return SV_NO_MEMORY;
            c->has_text = true;
            SV_TRY(text_place(t, c, text == NULL ? "" : text, &number));
        } else if (type != SQLITE_NULL) {
            number = sqlite3_column_double(query, i);
        }
        c->has_value = c->has_value || type != SQLITE_NULL;
        SV_TRY(sv_array_push(t->r->ctx, &c->numbers, number));
    }
    t->rows++;
    return t->rows % 1000 == 0 ? sv_progress(t->r->ctx, "reading cells", t->rows, 0) : SV_OK;
}

static void write_column(table *t, const column *c, const char *name)
{
    sv_json *json = &t->r->json;
    if (!c->has_value)
        return;
    if (!c->has_text) {
        sv__pack_numbers(json, name, c->numbers.at, c->numbers.length);
        return;
    }
    sv_json_begin_row(json, name, '{');
    sv_json_begin_row(json, "texts", '[');
    for (size_t i = 0; i < c->texts.length; i++)
        sv_json_text(json, NULL, c->texts.at[i]);
    sv_json_end(json, ']');
    sv__pack_numbers(json, "places", c->numbers.at, c->numbers.length);
    sv_json_end(json, '}');
}

static sv_status take_rows(table *t, sqlite3_stmt *query)
{
    bool more = true;
    for (;;) {
        SV_TRY(sv__next_row(t->r, query, &more));
        if (!more)
            return SV_OK;
        SV_TRY(take_row(t, query));
    }
}

sv_status sv__write_rows(sv__report *r, const char *key, const char *sql)
{
    sqlite3_stmt *query;
    SV_TRY(sv__query(r, sql, &query));
    table *t = sv_alloc(r->ctx, 1, sizeof *t);
    sv_status status = t == NULL ? SV_NO_MEMORY : SV_OK;
    if (t != NULL) {
        t->r = r;
        t->count = sqlite3_column_count(query);
        t->count = t->count > MAX_COLUMNS ? MAX_COLUMNS : t->count;
        sv_arena_init(&t->arena, r->ctx);
        for (int i = 0; i < t->count; i++)
            sv_names_init(&t->columns[i].places, r->ctx);
        status = take_rows(t, query);
    }
    if (status == SV_OK) {
        sv_json_begin_object(&r->json, key);
        sv_json_number(&r->json, "rows", t->rows);
        sv_json_begin_object(&r->json, "columns");
        for (int i = 0; i < t->count; i++)
            write_column(t, &t->columns[i], sqlite3_column_name(query, i));
        sv_json_end(&r->json, '}');
        sv_json_end(&r->json, '}');
    }
    for (int i = 0; t != NULL && i < t->count; i++) {
        sv_array_release(r->ctx, &t->columns[i].numbers);
        sv_array_release(r->ctx, &t->columns[i].texts);
        sv_names_release(&t->columns[i].places);
    }
    if (t != NULL)
        sv_arena_release(&t->arena);
    sv_release(r->ctx, t);
    sqlite3_finalize(query);
    return status;
}
