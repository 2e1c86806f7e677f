/*
 * sacct.c: sacct --parsable2: a line of titles, then a job or a step a line, fields between |.
 *
 * Idea: titles say which field is which, so that any selection in any order will do, as long as
 * JobID (or JobIDRaw), Start, End and NodeList are there. Steps (12.batch, 12.0) are parts of their
 * job, which has a line of its own. sacct prints times of the clock on the wall without a zone;
 * they are taken as UTC, which shifts all of them alike.
 *
 * Invariants: jobs that never started, or have no nodes or no length, are left out.
 * Cost: linear.
 * Source: the sacct manual.
 */
#include <string.h>

#include "jobs/sheet.h"

enum { JOB, RAW, START, END, STATE, NODES, COLUMNS };

static const char *const titles[COLUMNS] = {"JobID", "JobIDRaw", "Start",
                                            "End",   "State",    "NodeList"};

struct reader {
    sv__sheet *s;
    int column[COLUMNS]; /* -1: not there */
    int columns;
};

/* The next field; false behind the last. --parsable ends lines with |, --parsable2 does not. */
static bool next_field(sv_scan *scan, bool *more, sv_span *field)
{
    if (!*more)
        return false;
    *more = sv_scan_until(scan, '|', field);
    if (!*more) {
        *field = sv_scan_rest(scan);
        scan->at = scan->end;
    }
    return true;
}

static bool find_titles(sv_span line, int *column, int *columns)
{
    sv_scan scan = sv_scan_of(line);
    bool more = true;
    for (int i = 0; i < COLUMNS; i++)
        column[i] = -1;
    *columns = 0;
    for (sv_span field; next_field(&scan, &more, &field); ++*columns)
        for (int i = 0; i < COLUMNS; i++)
            if (sv__same_word(field, titles[i]))
                column[i] = *columns;
    if (column[JOB] < 0)
        column[JOB] = column[RAW];
    return column[JOB] >= 0 && column[START] >= 0 && column[END] >= 0 && column[NODES] >= 0;
}

bool sv__sacct_titles(sv_span line)
{
    int column[COLUMNS], columns;
    return find_titles(line, column, &columns);
}

/* "Unknown", "None" and nothing are times that there are not. */
static sv_status read_time(struct reader *r, sv_span word, int64_t unknown, int64_t *seconds)
{
    *seconds = unknown;
    if (word.length == 0 || sv__same_word(word, "Unknown") || sv__same_word(word, "None") ||
        sv__slurm_time(word, seconds))
        return SV_OK;
    return sv_lines_fail(&r->s->lines, "'%.*s' is not a time like 2026-11-15T12:34:56",
                         SV_SPAN(word));
}

/* "CANCELLED by 1000": only whether it waits matters. */
static bool is_pending(sv_span state)
{
    return sv__same_word(state, "PENDING") || sv__same_word(state, "REQUEUED");
}

static sv_status add_job(struct reader *r, const sv_span *fields)
{
    sv_span job = fields[JOB], nodes = fields[NODES];
    int64_t begin, end;
    if (!sv__slurm_is_job(job) && memchr(job.at, '.', job.length) == NULL)
        return sv_lines_fail(&r->s->lines, "'%.*s' is not the number of a job", SV_SPAN(job));
    if (memchr(job.at, '.', job.length) != NULL) /* a step */
        return SV_OK;
    SV_TRY(read_time(r, fields[START], SV_TIME_UNKNOWN, &begin));
    SV_TRY(read_time(r, fields[END], SV_TIME_OPEN, &end));
    if (begin == SV_TIME_UNKNOWN || end <= begin || nodes.length == 0 ||
        sv__same_word(nodes, "None assigned") || sv__same_word(nodes, "None") ||
        is_pending(fields[STATE])) {
        r->s->backwards += begin != SV_TIME_UNKNOWN && end < begin;
        r->s->left_out++;
        return SV_OK;
    }
    SV_TRY(sv__sheet_begin(r->s, sv__slurm_job(job), begin, end));
    return sv__sheet_hosts(r->s, nodes);
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_span fields[COLUMNS] = {{line.at, 0}, {line.at, 0}, {line.at, 0},
                               {line.at, 0}, {line.at, 0}, {line.at, 0}};
    sv_scan scan = sv_scan_of(line);
    bool more = true;
    int count = 0;
    for (sv_span field; next_field(&scan, &more, &field); count++)
        for (int i = 0; i < COLUMNS; i++)
            if (r->column[i] == count)
                fields[i] = field;
    if (count != r->columns)
        return sv_lines_fail(&r->s->lines, "%d fields under %d titles: a | in a name?", count,
                             r->columns);
    return add_job(r, fields);
}

sv_status sv__read_sacct(sv__sheet *s)
{
    struct reader r = {.s = s};
    for (sv_span line;;) {
        bool more;
        SV_TRY(sv_lines_next(&s->lines, &line, &more));
        if (!more)
            return SV_OK;
        if (line.length == 0)
            continue;
        if (r.columns > 0)
            SV_TRY(read_line(&r, line));
        else if (!find_titles(line, r.column, &r.columns))
            return sv_lines_fail(&s->lines,
                                 "titles of sacct --parsable2 with JobID, Start, End and NodeList "
                                 "should be here");
        if (s->lines.number % 4096 == 0)
            SV_TRY(sv_progress(s->ctx, "jobs", s->lines.number, 0));
    }
}
