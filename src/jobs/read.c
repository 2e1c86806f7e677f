/*
 * read.c: allocations from a file of any format.
 *
 * Idea: the first lines tell the format; each format has a reader that fills a sheet (sheet.h). A
 * file is a squeue's where the first line has its titles or is "JOB STATE NODES"; whatever is not
 * recognised is taken as lines "NODE JOB", whose reader says what it does not understand.
 *
 * Cost: linear, and sorting.
 */
#include <selvage/experimental/jobs.h>
#include <string.h>

#include "base/file.h"
#include "jobmap/jobmap.h"
#include "jobs/sheet.h"
#include "text/hostlist.h"

static const struct {
    const char *name;
    sv_status (*read)(sv__sheet *s);
} formats[SV_JOBS_FORMATS] = {
    [SV_JOBS_AUTO] = {"auto", NULL},
    [SV_JOBS_SQUEUE] = {"squeue", sv__read_squeue},
    [SV_JOBS_JSON] = {"json", sv__read_slurm_json},
    [SV_JOBS_SACCT] = {"sacct", sv__read_sacct},
    [SV_JOBS_SWF] = {"swf", sv__read_swf},
    [SV_JOBS_MAP] = {"map", sv__read_job_lines},
};

const char *sv_jobs_format_name(sv_jobs_format format)
{
    return (unsigned)format < SV_JOBS_FORMATS ? formats[format].name : NULL;
}

/* ---- lines "NODE JOB" ---- */

static sv_status read_map_line(sv__sheet *s, sv_span line, char *words)
{
    const char *node, *job;
    SV_TRY(sv__jobmap_split(&s->lines, line, words, &node, &job));
    if (node == NULL)
        return SV_OK;
    SV_TRY(sv__sheet_begin(s, sv_span_of(job), SV_TIME_UNKNOWN, SV_TIME_OPEN));
    return sv__sheet_host(s, sv_span_of(node));
}

sv_status sv__read_job_lines(sv__sheet *s)
{
    SV_ARRAY(char) words = {0};
    sv_status status = SV_OK;
    bool more = true;
    for (sv_span line; status == SV_OK;) {
        status = sv_lines_next(&s->lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        status = sv_array_reserve(s->ctx, &words, 2 * line.length + 2);
        if (status == SV_OK)
            status = read_map_line(s, line, words.at);
        if (status == SV_OK && s->lines.number % 4096 == 0)
            status = sv_progress(s->ctx, "jobs", s->lines.number, 0);
    }
    sv_array_release(s->ctx, &words);
    return status;
}

/* ---- which format ---- */

/* The next line that says something. */
static bool next_line(sv_scan *scan, sv_span *line)
{
    while (!sv_scan_done(scan)) {
        if (!sv_scan_until(scan, '\n', line)) {
            *line = sv_scan_rest(scan);
            scan->at = scan->end;
        }
        while (line->length > 0 && strchr(" \t\r", line->at[line->length - 1]) != NULL)
            line->length--;
        while (line->length > 0 && strchr(" \t\r", *line->at) != NULL)
            line->at++, line->length--;
        if (line->length > 0 && memchr(line->at, 0, line->length) == NULL)
            return true;
    }
    return false;
}

static sv_jobs_format guess(sv_span start)
{
    sv_scan scan = sv_scan_of(start);
    sv_span line;
    if (!next_line(&scan, &line))
        return SV_JOBS_SQUEUE; /* nothing runs */
    if (*line.at == '{' || *line.at == '[')
        return SV_JOBS_JSON;
    if (*line.at == '#' || *line.at == '"')
        return SV_JOBS_MAP;
    if (sv__swf_line(line))
        return SV_JOBS_SWF;
    if (sv__sacct_titles(line))
        return SV_JOBS_SACCT;
    if (sv__squeue_titles(line) || sv__squeue_plain(line) || memchr(line.at, '|', line.length))
        return SV_JOBS_SQUEUE;
    if (next_line(&scan, &line) && sv__squeue_titles(line)) /* below a date */
        return SV_JOBS_SQUEUE;
    return SV_JOBS_MAP;
}

sv_status sv_allocations_read(sv_ctx *ctx, const sv_source *source, sv_jobs_format format,
                              sv_allocations **result)
{
    sv__sheet s;
    sv_span start = {"", 0}, line;
    sv_status status = sv__sheet_init(&s, ctx, source);
    if (status == SV_OK)
        status = sv_lines_skip_mark(&s.lines);
    if (status == SV_OK)
        status = sv_lines_peek(&s.lines, &start);
    sv_scan scan = sv_scan_of(start);
    s.blank = !next_line(&scan, &line);
    if (status == SV_OK && format == SV_JOBS_AUTO)
        format = guess(start);
    if (status == SV_OK)
        status = formats[format].read(&s);
    if (status == SV_OK)
        status = sv__sheet_finish(&s, result);
    sv__sheet_release(&s);
    return status;
}

sv_status sv_allocations_load(sv_ctx *ctx, const char *path, sv_jobs_format format,
                              sv_allocations **result)
{
    sv_file file;
    SV_TRY(sv_file_open(&file, ctx, path));
    sv_status status = sv_allocations_read(ctx, &file.source, format, result);
    sv_file_close(&file);
    return status;
}

sv_status sv_hostlist_expand(sv_ctx *ctx, const char *text, size_t length, sv_host_fn *take,
                             void *user)
{
    return sv__hostlist_expand(ctx, text, length, take, user);
}
