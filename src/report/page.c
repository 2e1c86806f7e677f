/*
 * page.c: selvage report's page: a template (web/dist/page.html) with a title and the data put into
 * it.
 *
 * The data is JSON in a script element of a type that no browser runs. Everything that the page
 * shows it computes from that, except what report --text also prints: means, confidence, lines,
 * verdicts and recommendations come from study/, so that page and terminal say the same.
 *
 * Invariant: the same database makes the same page, on every machine. Cost: see report.h.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "report/data.h"
#include "report/template.h"

/* RESERVE: for what is written behind the drawings, and for characters that grow. */
enum { DEFAULT_BYTES = 10 * 1000 * 1000, RESERVE = 20 * 1000, PIECE = 65536 };

/* Every column of a cell and its result; seconds are the only ones that a machine decides about. */
static const char cells_sql[] =
    "SELECT cell.id AS cell, cell.fabric, cell.faults, cell.fault_kind, cell.fault_unit,"
    " cell.fault_amount, cell.seed, cell.engine, cell.vls, cell.options, cell.traffic,"
    " cell.profile, cell.message, cell.load, cell.what, result.*, spent.route_seconds,"
    " spent.seconds, spent.bytes"
    " FROM cell JOIN result ON result.cell = cell.id LEFT JOIN spent ON spent.cell = cell.id"
    " ORDER BY cell.id";

/* All bytes of a file, as {"name", "svg": base64}. */
static sv_status write_picture(sv__report *r, const char *path)
{
    SV_ARRAY(char) bytes = {0};
    sv_file file;
    SV_TRY(sv_file_open(&file, r->ctx, path));
    sv_status status = SV_OK;
    for (int64_t got = 1; got > 0 && status == SV_OK;) {
        status = sv_array_reserve(r->ctx, &bytes, bytes.length + PIECE);
        if (status != SV_OK)
            break;
        got = file.source.read(file.source.user, bytes.at + bytes.length, PIECE);
        if (got < 0)
            status = sv_fail(r->ctx, SV_IO, "cannot read '%s'", path);
        else
            bytes.length += (size_t)got;
        if (bytes.length > r->max)
            status = sv_fail(r->ctx, SV_INFEASIBLE,
                             "'%s' is larger than the page may become (--megabytes)", path);
    }
    sv_file_close(&file);
    if (status == SV_OK && (bytes.length < 5 || (memcmp(bytes.at, "<?xml", 5) != 0 &&
                                                 memcmp(bytes.at, "<svg", 4) != 0)))
        status = sv_fail(r->ctx, SV_BAD_INPUT, "'%s' is no SVG", path);
    if (status == SV_OK) {
        const char *name = strrchr(path, '/');
        sv_json_begin_row(&r->json, NULL, '{');
        sv_json_text(&r->json, "name", name == NULL ? path : name + 1);
        sv__pack_bytes(&r->json, "svg", bytes.at, bytes.length);
        sv_json_end(&r->json, '}');
    }
    sv_array_release(r->ctx, &bytes);
    return status;
}

static sv_status write_pictures(sv__report *r, const sv_report_request *request)
{
    sv_json_begin_array(&r->json, "pictures");
    for (size_t i = 0; i < request->num_pictures; i++)
        SV_TRY(write_picture(r, request->pictures[i]));
    sv_json_end(&r->json, ']');
    return r->text.status;
}

static sv_status write_data(sv__report *r, const char *title, const sv_report_request *request)
{
    sv_json_begin_object(&r->json, NULL);
    sv_json_text(&r->json, "title", title);
    sv_json_text(&r->json, "version", sv_version());
    const char *name = strrchr(r->name, '/');
    sv_json_text(&r->json, "database", name == NULL ? r->name : name + 1);
    SV_TRY(sv__write_rows(r, "plans",
                          "SELECT study, words, version, cells, (SELECT count(*) FROM planned"
                          " JOIN result ON result.cell = planned.cell WHERE planned.plan = plan.id)"
                          " AS done FROM plan ORDER BY id"));
    SV_TRY(sv__write_rows(r, "cells", cells_sql));
    SV_TRY(sv__write_rows(r, "lost", "SELECT * FROM lost ORDER BY cell, kind, failures"));
    SV_TRY(sv__write_tables(r));
    SV_TRY(write_pictures(r, request));
    SV_TRY(sv__write_drawings(r));
    sv_json_end(&r->json, '}');
    return r->text.status;
}

static sv_status write_page(const sv__report *r, const char *title, const sv_sink *sink)
{
    sv__script script;
    sv_text out;
    sv_text_init(&out, r->ctx, sink);
    sv_text_add(&out, sv__template.head, sv__template.head_length);
    sv__html_text(&out, title);
    sv_text_add(&out, sv__template.middle, sv__template.middle_length);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    SV_TRY(status);
    sv__script_init(&script, sink);
    sv_text_init(&out, r->ctx, &script.sink);
    for (size_t i = 0; i < r->text.length; i += 32768) {
        size_t left = r->text.length - i;
        sv_text_add(&out, r->text.at + i, left < 32768 ? left : 32768);
    }
    status = sv_text_finish(&out);
    sv_text_release(&out);
    SV_TRY(status);
    sv_text_init(&out, r->ctx, sink);
    sv_text_add(&out, sv__template.tail, sv__template.tail_length);
    status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

/* What the page is called if nobody says. */
static sv_status own_title(sv__report *r, char *title, size_t room)
{
    sqlite3_stmt *query;
    bool more = false;
    SV_TRY(sv__query(r, "SELECT count(DISTINCT fabric), min(fabric) FROM cell", &query));
    sv_status status = sv__next_row(r, query, &more);
    int64_t count = more ? sqlite3_column_int64(query, 0) : 0;
    const char *first = count == 1 ? (const char *)sqlite3_column_text(query, 1) : NULL;
    if (first != NULL)
        snprintf(title, room, "Study of %s", first);
    else
        snprintf(title, room, "Study of %lld fabrics", (long long)count);
    sqlite3_finalize(query);
    return status;
}

sv_status sv_report_write(sv_ctx *ctx, const sv_report_request *request, const sv_sink *sink)
{
    size_t max = request->max_bytes == 0 ? DEFAULT_BYTES : request->max_bytes;
    size_t own = sv__template.head_length + sv__template.middle_length + sv__template.tail_length;
    sv__report r = {.ctx = ctx, .max = max > own + RESERVE ? max - own - RESERVE : 0};
    char own_words[300];
    sv_text_init(&r.text, ctx, NULL);
    sv_json_init(&r.json, &r.text);
    sv_status status = sv__report_open(&r, request->database);
    const char *title = request->title;
    if (status == SV_OK && title == NULL) {
        status = own_title(&r, own_words, sizeof own_words);
        title = own_words;
    }
    if (status == SV_OK)
        status = write_data(&r, title, request);
    if (status == SV_OK)
        status = write_page(&r, title, sink);
    sv__report_close(&r);
    sv_text_release(&r.text);
    return status;
}
