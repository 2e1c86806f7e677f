/*
 * table_print.c: tables as text, CSV and JSON.
 *
 * Text: columns are as wide as their widest value (in characters, not bytes), numbers to the right,
 * missing values a dash. A column that leaves its digits open gets as many that its largest number
 * shows five. CSV and JSON have ten significant digits always: they are for going on with.
 *
 * Cost: linear; text formats every value twice, to know how wide columns are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "study/table.h"

enum { SHOWN_DIGITS = 5, KEPT_DIGITS = 10, MAX_DIGITS = 12 };

static bool is_missing(const sv_table_value *v)
{
    return v->text == NULL && isnan(v->number);
}

/* Digits behind the point that make so many significant ones. */
static int digits_for(double number, int significant)
{
    if (number == 0)
        return 0;
    int before = (int)floor(log10(fabs(number))) + 1;
    int digits = significant - before;
    return digits < 0 ? 0 : digits > MAX_DIGITS ? MAX_DIGITS : digits;
}

static int column_digits(const sv_table *t, size_t column)
{
    if (t->heads[column].digits != SV_ANY_DIGITS)
        return t->heads[column].digits;
    double largest = 0;
    bool whole = true;
    for (size_t i = column; i < t->num_values; i += t->num_columns) {
        const sv_table_value *v = &t->values[i];
        if (v->text != NULL || isnan(v->number))
            continue;
        largest = fmax(largest, fabs(v->number));
        whole = whole && fabs(v->number - round(v->number)) <= 1e-9 * fmax(1, fabs(v->number));
    }
    return whole ? 0 : digits_for(largest, SHOWN_DIGITS);
}

/* ---- text ---- */

static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != 0; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* A value as text; buffer is for numbers. */
static const char *shown(const sv_table_value *v, int digits, char *buffer, size_t size)
{
    if (v->text != NULL)
        return v->text[0] == 0 ? "-" : v->text;
    if (isnan(v->number))
        return "-";
    snprintf(buffer, size, "%.*f", digits < 0 ? 0 : digits, v->number);
    if (buffer[0] == '-' && strspn(buffer + 1, "0.") == strlen(buffer + 1))
        return buffer + 1; /* no minus in front of nothing */
    return buffer;
}

static void pad(sv_text *out, size_t width)
{
    for (size_t i = 0; i < width; i++)
        sv_text_add(out, " ", 1);
}

/* One cell of a line; the last one, if it is text, gets no blanks behind it. */
static void put(sv_text *out, const char *text, size_t width, bool number, bool first, bool last)
{
    size_t own = width_of(text), blanks = width > own ? width - own : 0;
    if (!first)
        pad(out, 2);
    if (number)
        pad(out, blanks);
    for (const char *c = text; *c != 0; c++) /* a value is on one line, whatever is in a name */
        sv_text_add(out, (unsigned char)*c < 0x20 || *c == 0x7f ? "?" : c, 1);
    if (!number && !last)
        pad(out, blanks);
}

static void head_text(const sv_table_head *head, char *buffer, size_t size)
{
    if (head->unit == NULL)
        snprintf(buffer, size, "%s", head->name);
    else
        snprintf(buffer, size, "%s (%s)", head->name, head->unit);
}

/* widths and digits: one a column. */
static void write_rows(sv_text *out, const sv_table *t, size_t rows, const size_t *widths,
                       const int *digits)
{
    char buffer[400];
    for (size_t c = 0; c < t->num_columns; c++) {
        head_text(&t->heads[c], buffer, sizeof buffer);
        put(out, buffer, widths[c], digits[c] >= 0, c == 0, c + 1 == t->num_columns);
    }
    sv_text_add(out, "\n", 1);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < t->num_columns; c++) {
            const sv_table_value *v = &t->values[r * t->num_columns + c];
            put(out, shown(v, digits[c], buffer, sizeof buffer), widths[c], digits[c] >= 0, c == 0,
                c + 1 == t->num_columns);
        }
        sv_text_add(out, "\n", 1);
    }
}

static void write_body(sv_text *out, const sv_table *t, size_t rows)
{
    char buffer[400];
    size_t *widths = sv_alloc(out->ctx, t->num_columns, sizeof *widths);
    int *digits = sv_alloc(out->ctx, t->num_columns, sizeof *digits);
    if (widths == NULL || digits == NULL) {
        out->status = SV_NO_MEMORY;
    } else {
        for (size_t c = 0; c < t->num_columns; c++) {
            digits[c] = column_digits(t, c);
            head_text(&t->heads[c], buffer, sizeof buffer);
            widths[c] = width_of(buffer);
            for (size_t r = 0; r < rows; r++) {
                const sv_table_value *v = &t->values[r * t->num_columns + c];
                size_t width = width_of(shown(v, digits[c], buffer, sizeof buffer));
                widths[c] = width > widths[c] ? width : widths[c];
            }
        }
        write_rows(out, t, rows, widths, digits);
    }
    sv_release(out->ctx, widths);
    sv_release(out->ctx, digits);
}

/* A sentence, on lines of at most so many characters if its words allow it. */
static void wrap(sv_text *out, const char *text)
{
    enum { WIDTH = 100 };
    size_t column = 0;
    while (*text != 0) {
        char word[400];
        size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t width = width_of(word);
        if (column > 0 && column + 1 + width > WIDTH) {
            sv_text_add(out, "\n", 1);
            column = 0;
        }
        if (column > 0)
            sv_text_add(out, " ", 1);
        column += width + (column > 0);
        sv_text_add(out, text, length);
        text += length + (text[length] == ' ');
    }
    sv_text_add(out, "\n", 1);
}

void sv_table_write_text(sv_text *out, const sv_table *t, size_t max)
{
    size_t all = sv_table_rows(t), rows = max > 0 && max < all ? max : all;
    sv_text_print(out, "%s\n", t->title);
    wrap(out, t->says);
    sv_text_add(out, "\n", 1);
    if (all > 0)
        write_body(out, t, rows);
    else if (t->num_columns > 0)
        sv_text_print(out, "(nothing)\n");
    if (rows < all)
        sv_text_print(out, "… and %zu more rows\n", all - rows);
    if (t->num_notes > 0)
        sv_text_add(out, "\n", 1);
    for (size_t i = 0; i < t->num_notes; i++)
        wrap(out, t->notes[i]);
}

/* ---- CSV ---- */

void sv_table_write_csv(sv_text *out, const sv_table *t)
{
    char buffer[400];
    for (size_t c = 0; c < t->num_columns; c++) {
        head_text(&t->heads[c], buffer, sizeof buffer);
        sv_csv_field(out, buffer);
        sv_text_add(out, c + 1 == t->num_columns ? "\n" : ",", 1);
    }
    for (size_t i = 0; i < t->num_columns * sv_table_rows(t); i++) {
        const sv_table_value *v = &t->values[i];
        if (v->text != NULL)
            sv_csv_field(out, v->text);
        else if (!is_missing(v))
            sv_text_print(out, "%.*g", KEPT_DIGITS, v->number);
        sv_text_add(out, (i + 1) % t->num_columns == 0 ? "\n" : ",", 1);
    }
}

/* ---- JSON ---- */

static void json_value(sv_json *json, const sv_table_value *v)
{
    if (v->text != NULL)
        sv_json_text(json, NULL, v->text);
    else if (is_missing(v))
        sv_json_null(json, NULL);
    else if (v->number == floor(v->number))
        sv_json_real(json, NULL, v->number + 0.0, 0);
    else
        sv_json_real(json, NULL, v->number, digits_for(v->number, KEPT_DIGITS) + 2);
}

void sv_table_write_json(sv_json *json, const char *key, const sv_table *t)
{
    sv_json_begin_object(json, key);
    sv_json_text(json, "name", t->name);
    sv_json_text(json, "title", t->title);
    sv_json_text(json, "says", t->says);
    sv_json_begin_array(json, "columns");
    for (size_t c = 0; c < t->num_columns; c++) {
        sv_json_begin_row(json, NULL, '{');
        sv_json_text(json, "name", t->heads[c].name);
        sv_json_text(json, "unit", t->heads[c].unit);
        sv_json_text(json, "kind", t->heads[c].digits == SV_TEXT_COLUMN ? "text" : "number");
        sv_json_end(json, '}');
    }
    sv_json_end(json, ']');
    sv_json_begin_array(json, "rows");
    for (size_t r = 0; r < sv_table_rows(t); r++) {
        sv_json_begin_row(json, NULL, '[');
        for (size_t c = 0; c < t->num_columns; c++)
            json_value(json, &t->values[r * t->num_columns + c]);
        sv_json_end(json, ']');
    }
    sv_json_end(json, ']');
    sv_json_begin_array(json, "notes");
    for (size_t i = 0; i < t->num_notes; i++)
        sv_json_text(json, NULL, t->notes[i]);
    sv_json_end(json, ']');
    sv_json_end(json, '}');
}
