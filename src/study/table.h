/*
 * table.h: a table that says something: for a terminal, as CSV, as JSON, or in a report's page.
 *
 * Tables are built call by call and live in an arena. Errors are kept (as in text.h): build away
 * and look at sv_tables.status once, at the end. Every call takes a NULL table, which is what
 * sv_table_new gives when there is no memory.
 *
 *     sv_table *t = sv_table_new(&tables, "vls", "VLs needed", "How many …");
 *     sv_table_column(t, "fabric", NULL, SV_TEXT_COLUMN);
 *     sv_table_column(t, "needed", "VLs", 0);
 *     sv_table_text(t, "torus:4x4");
 *     sv_table_number(t, 3);
 */
#ifndef SV_STUDY_TABLE_H
#define SV_STUDY_TABLE_H

#include "base/json.h"
#include "base/text.h"

/* How a column's numbers are shown: so many digits behind the point, or as many as say something.
 */
enum { SV_TEXT_COLUMN = -2, SV_ANY_DIGITS = -1 };

typedef struct sv_table_head {
    const char *name, *unit; /* unit: NULL if there is none */
    int digits;              /* or SV_TEXT_COLUMN, SV_ANY_DIGITS */
} sv_table_head;

typedef struct sv_table_value {
    const char *text; /* NULL: a number */
    double number;    /* NAN: missing */
} sv_table_value;

typedef struct sv_table {
    struct sv_tables *owner;
    const char *name;         /* for machines: "degradation-lines" */
    const char *title, *says; /* for people: a heading, and a sentence that says how to read it */
    sv_table_head *heads;
    size_t num_columns, room_columns;
    sv_table_value *values; /* row by row */
    size_t num_values, room_values;
    const char **notes;
    size_t num_notes, room_notes;
} sv_table;

typedef struct sv_tables {
    sv_arena *arena;
    sv_table **at;
    size_t count, room;
    sv_status status;
} sv_tables;

void sv_tables_init(sv_tables *tables, sv_arena *arena);

/* The texts are not copied here, nor are names and units of columns. */
sv_table *sv_table_new(sv_tables *tables, const char *name, const char *title, const char *says);
void sv_table_column(sv_table *table, const char *name, const char *unit, int digits);

/* The next value of the row, or the first of the next one. Texts are copied; NULL is missing. */
void sv_table_text(sv_table *table, const char *text);
void sv_table_print(sv_table *table, const char *format, ...) SV_PRINTF(2, 3);
void sv_table_number(sv_table *table, double number); /* NAN or infinite: missing */
void sv_table_missing(sv_table *table);

/* A remark below the table; a sentence. */
void sv_table_note(sv_table *table, const char *format, ...) SV_PRINTF(2, 3);

static inline size_t sv_table_rows(const sv_table *table)
{
    return table->num_columns == 0 ? 0 : table->num_values / table->num_columns;
}

/* A table by its name, or NULL. */
const sv_table *sv_tables_find(const sv_tables *tables, const char *name);

/* A copy of a text that lives as long as the tables; "" without memory. */
const char *sv_tables_keep(sv_tables *tables, const char *format, ...) SV_PRINTF(2, 3);

/* Aligned, for a terminal. most: rows at most, 0 for all; a line says how many more there are. */
void sv_table_write_text(sv_text *out, const sv_table *table, size_t max);

/* RFC 4180; the first line has the columns' names. */
void sv_table_write_csv(sv_text *out, const sv_table *table);

/* {"name", "title", "says", "columns": [{"name", "unit", "kind"}], "rows": [[…]], "notes": […]} */
void sv_table_write_json(sv_json *json, const char *key, const sv_table *table);

#endif
