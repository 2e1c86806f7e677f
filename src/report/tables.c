/*
 * tables.c: the library's answers (study/answers.h) for the page: the same numbers that
 * report --text prints, with all their digits.
 *
 * A column of numbers is packed, one with any text is a list. Cost: linear.
 */
#include <math.h>

#include "report/data.h"
#include "study/answers.h"

static bool has_text(const sv_table *t, size_t column)
{
    if (t->heads[column].digits == SV_TEXT_COLUMN)
        return true;
    for (size_t r = 0; r < sv_table_rows(t); r++)
        if (t->values[r * t->num_columns + column].text != NULL)
            return true;
    return false;
}

static void write_values(sv_json *json, const sv_table *t, size_t column)
{
    sv_json_begin_row(json, "values", '[');
    for (size_t r = 0; r < sv_table_rows(t); r++) {
        const sv_table_value *v = &t->values[r * t->num_columns + column];
        if (v->text != NULL)
            sv_json_text(json, NULL, v->text);
        else if (isnan(v->number))
            sv_json_null(json, NULL);
        else
            sv_json_real(json, NULL, v->number, 9);
    }
    sv_json_end(json, ']');
}

static void write_column(sv_json *json, const sv_table *t, size_t column, double *numbers)
{
    const sv_table_head *head = &t->heads[column];
    sv_json_begin_object(json, NULL);
    sv_json_text(json, "name", head->name);
    sv_json_text(json, "unit", head->unit);
    sv_json_real(json, "digits", head->digits, 0);
    if (has_text(t, column)) {
        write_values(json, t, column);
    } else {
        for (size_t r = 0; r < sv_table_rows(t); r++)
            numbers[r] = t->values[r * t->num_columns + column].number;
        sv__pack_numbers(json, "numbers", numbers, sv_table_rows(t));
    }
    sv_json_end(json, '}');
}

static sv_status write_table(sv__report *r, sv_arena *arena, const sv_table *t)
{
    sv_json *json = &r->json;
    double *numbers = SV_ARENA_NEW(arena, double, sv_table_rows(t));
    if (numbers == NULL)
        return SV_NO_MEMORY;
    sv_json_begin_object(json, NULL);
    sv_json_text(json, "name", t->name);
    sv_json_text(json, "title", t->title);
    sv_json_text(json, "says", t->says);
    sv_json_number(json, "rows", sv_table_rows(t));
    sv_json_begin_array(json, "columns");
    for (size_t c = 0; c < t->num_columns; c++)
        write_column(json, t, c, numbers);
    sv_json_end(json, ']');
    sv_json_begin_row(json, "notes", '[');
    for (size_t i = 0; i < t->num_notes; i++)
        sv_json_text(json, NULL, t->notes[i]);
    sv_json_end(json, ']');
    sv_json_end(json, '}');
    return SV_OK;
}

sv_status sv__write_tables(sv__report *r)
{
    sv_arena arena;
    sv_tables tables;
    sv_arena_init(&arena, r->ctx);
    sv_tables_init(&tables, &arena);
    sv_status status = sv_answer_all(r->ctx, r->db, NULL, &tables);
    sv_json_begin_array(&r->json, "tables");
    for (size_t i = 0; status == SV_OK && i < tables.count; i++)
        status = write_table(r, &arena, tables.at[i]);
    sv_json_end(&r->json, ']');
    sv_arena_release(&arena);
    return status;
}
