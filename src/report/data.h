/*
 * data.h: what the page is filled with, between the files of this room.
 */
#ifndef SV_REPORT_DATA_H
#define SV_REPORT_DATA_H

#include <selvage/experimental/report.h>
#include <sqlite3.h>

#include "picture/layout.h"
#include "report/pack.h"

typedef struct sv__report {
    sv_ctx *ctx;
    const char *name; /* of the database */
    sqlite3 *db;
    sv_text text; /* the data, in memory */
    sv_json json;
    size_t max; /* bytes of it */
} sv__report;

/* ---- rows.c ---- */

sv_status sv__report_open(sv__report *r, const char *database);
void sv__report_close(sv__report *r);

/* Prepares a query; release it with sqlite3_finalize. */
sv_status sv__query(sv__report *r, const char *sql, sqlite3_stmt **query);
/* The next row; *more is false behind the last. */
sv_status sv__next_row(sv__report *r, sqlite3_stmt *query, bool *more);
/* All rows of a query under a key: {"rows": n, "columns": {name: numbers, or texts and places}}. */
sv_status sv__write_rows(sv__report *r, const char *key, const char *sql);

/* ---- net.c: a fabric's switches and cables, in the arena. *there: whether there is a body. ----
 */
sv_status sv__net_read(sv__report *r, sv_arena *arena, const char *fabric, sv__picture_net *net,
                       bool *there);

/* ---- tables.c: all answers that the database has anything for ---- */
sv_status sv__write_tables(sv__report *r);

/* ---- drawings.c ---- */

/* Fabrics with their places, loads, timelines: as many as fit, and how many did not. */
sv_status sv__write_drawings(sv__report *r);

#endif
