/*
 * table.c: tables that are built call by call.
 *
 * Invariant: a table whose owner's status is SV_OK has whole rows only, when its maker is done; a
 * value of a text column is text or missing, one of another column a finite number or missing.
 * Cost: linear in what is put in; arrays double, so an arena holds at most twice what is needed.
 */
#include "study/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sv_tables_init(sv_tables *tables, sv_arena *arena)
{
    *tables = (sv_tables){.arena = arena};
}

/* Room for one more element in an array of an arena. */
static bool grow(sv_tables *tables, void **at, size_t length, size_t *room, size_t size)
{
    if (tables->status != SV_OK)
        return false;
    if (length < *room)
        return true;
    size_t next = *room == 0 ? 8 : 2 * *room;
    void *grown = sv_arena_alloc(tables->arena, next, size);
    if (grown == NULL) {
        tables->status = SV_NO_MEMORY;
        return false;
    }
    if (length > 0)
        memcpy(grown, *at, length * size);
    *at = grown;
    *room = next;
    return true;
}

static const char *keep(sv_tables *tables, const char *text)
{
    const char *copy =
        tables->status != SV_OK ? NULL : sv_arena_text(tables->arena, text, strlen(text));
    if (copy == NULL)
        tables->status = SV_NO_MEMORY;
    return copy == NULL ? "" : copy;
}

static const char *SV_PRINTF(2, 0) keep_printed(sv_tables *tables, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = tables->status != SV_OK ? NULL : sv_arena_alloc(tables->arena, size, 1);
    if (text == NULL) {
        tables->status = SV_NO_MEMORY;
        return "";
    }
    vsnprintf(text, size, format, args);
    return text;
}

const char *sv_tables_keep(sv_tables *tables, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *kept = keep_printed(tables, format, args);
    va_end(args);
    return kept;
}

sv_table *sv_table_new(sv_tables *tables, const char *name, const char *title, const char *says)
{
    if (!grow(tables, (void **)&tables->at, tables->count, &tables->room, sizeof *tables->at))
        return NULL;
    sv_table *table = SV_ARENA_NEW(tables->arena, sv_table, 1);
    if (table == NULL) {
        tables->status = SV_NO_MEMORY;
        return NULL;
    }
    *table = (sv_table){.owner = tables, .name = name, .title = title, .says = says};
    tables->at[tables->count++] = table;
    return table;
}

void sv_table_column(sv_table *t, const char *name, const char *unit, int digits)
{
    if (t != NULL &&
        grow(t->owner, (void **)&t->heads, t->num_columns, &t->room_columns, sizeof *t->heads))
        t->heads[t->num_columns++] = (sv_table_head){name, unit, digits};
}

static void add(sv_table *t, sv_table_value value)
{
    if (t != NULL &&
        grow(t->owner, (void **)&t->values, t->num_values, &t->room_values, sizeof *t->values))
        t->values[t->num_values++] = value;
}

void sv_table_text(sv_table *table, const char *text)
{
    if (text == NULL)
        sv_table_missing(table);
    else if (table != NULL)
        add(table, (sv_table_value){.text = keep(table->owner, text)});
}

void sv_table_print(sv_table *table, const char *format, ...)
{
    if (table == NULL)
        return;
    va_list args;
    va_start(args, format);
    add(table, (sv_table_value){.text = keep_printed(table->owner, format, args)});
    va_end(args);
}

void sv_table_number(sv_table *table, double number)
{
    add(table, (sv_table_value){.number = isfinite(number) ? number : NAN});
}

void sv_table_missing(sv_table *table)
{
    add(table, (sv_table_value){.number = NAN});
}

void sv_table_note(sv_table *t, const char *format, ...)
{
    if (t == NULL ||
        !grow(t->owner, (void **)&t->notes, t->num_notes, &t->room_notes, sizeof *t->notes))
        return;
    va_list args;
    va_start(args, format);
    t->notes[t->num_notes++] = keep_printed(t->owner, format, args);
    va_end(args);
}

const sv_table *sv_tables_find(const sv_tables *tables, const char *name)
{
    for (size_t i = 0; i < tables->count; i++)
        if (strcmp(tables->at[i]->name, name) == 0)
            return tables->at[i];
    return NULL;
}
