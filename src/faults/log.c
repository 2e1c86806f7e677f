/*
 * log.c: logs of failures: "TIME KIND [REPAIR]" a line.
 *
 * Idea: lines in any order become (time, kind, repair), sorted at the end. A date without a time
 * says that something failed on that day, not when: several of one day are spread evenly over it,
 * in the order of their lines, so that neither the first day of a log has failures at age 0 nor
 * failures of one day have no time between them.
 *
 * Invariants: times ascend; all are dates, or all are numbers.
 * Cost: linear, and sorting.
 */
#include <selvage/faults.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/pool.h"
#include "text/times.h"

/* A line: a failure, and what sorting needs to know of it. */
struct entry {
    sv_failure failure;
    uint64_t line;
    bool whole_day;
};

struct reader {
    sv_ctx *ctx;
    sv_lines lines;
    SV_ARRAY(struct entry) entries;
    bool dated;
};

/* ---- lines ---- */

static bool same_word(sv_span word, const char *name)
{
    size_t i = 0;
    for (; i < word.length && name[i] != 0; i++) {
        char c = word.at[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != name[i])
            return false;
    }
    return i == word.length && name[i] == 0;
}

static bool kind_of(sv_span word, sv_failure_kind *kind)
{
    static const struct {
        const char *name;
        sv_failure_kind kind;
    } names[] = {{"link", SV_FAILURE_LINK},          {"cable", SV_FAILURE_LINK},
                 {"switch", SV_FAILURE_SWITCH},      {"adapter", SV_FAILURE_ADAPTER},
                 {"nic", SV_FAILURE_ADAPTER},        {"hca", SV_FAILURE_ADAPTER},
                 {"software", SV_FAILURE_SOFTWARE},  {"unspecified", SV_FAILURE_UNSPECIFIED},
                 {"unknown", SV_FAILURE_UNSPECIFIED}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (same_word(word, names[i].name)) {
            *kind = names[i].kind;
            return true;
        }
    return false;
}

/* The next word; false at the end of the line or at a comment. */
static bool next_word(sv_scan *scan, sv_span *word)
{
    sv_scan_blanks(scan);
    return !sv_scan_done(scan) && *scan->at != '#' && sv_scan_word(scan, word);
}

static bool at_word_end(const sv_scan *scan)
{
    return sv_scan_done(scan) || *scan->at == ' ' || *scan->at == '\t';
}

static sv_status read_time(struct reader *r, sv_scan *scan, sv__moment *moment)
{
    sv_scan start = *scan;
    sv_span word = {scan->at, 0};
    if (!sv__scan_moment(scan, moment) || !at_word_end(scan)) {
        sv_scan_word(&start, &word);
        return sv_lines_fail(&r->lines,
                             "'%.*s' is neither a date (2010-09-01, 2010-09-01T17:30) nor a number "
                             "with s, min, h, d or y",
                             SV_SPAN(word));
    }
    if (r->entries.length > 0 && moment->dated != r->dated)
        return sv_lines_fail(&r->lines, "times are %s here and %s before",
                             moment->dated ? "dates" : "numbers", r->dated ? "dates" : "numbers");
    r->dated = moment->dated;
    return SV_OK;
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    sv_span word;
    sv__moment moment;
    struct entry entry = {.line = r->lines.number, .failure.repair_hours = -1};
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#')
        return SV_OK;
    SV_TRY(read_time(r, &scan, &moment));
    entry.failure.hours = moment.hours;
    entry.whole_day = moment.whole_day;
    if (!next_word(&scan, &word))
        return sv_lines_fail(&r->lines, "what failed? link, switch, adapter, software or "
                                        "unspecified");
    if (!kind_of(word, &entry.failure.kind))
        return sv_lines_fail(&r->lines,
                             "'%.*s' is not link, switch, adapter, software or unspecified",
                             SV_SPAN(word));
    if (next_word(&scan, &word) && !sv_span_is(word, "-")) {
        sv_scan length = sv_scan_of(word);
        if (!sv__scan_length(&length, &entry.failure.repair_hours) || !sv_scan_done(&length))
            return sv_lines_fail(&r->lines,
                                 "'%.*s' is not how long a repair took: a number with s, min, h, d "
                                 "or y, or -",
                                 SV_SPAN(word));
    }
    if (next_word(&scan, &word))
        return sv_lines_fail(&r->lines, "'%.*s' is more than a time, a kind and a repair",
                             SV_SPAN(word));
    return sv_array_push(r->ctx, &r->entries, entry);
}

static sv_status read_lines(struct reader *r)
{
    for (sv_span line;;) {
        bool more;
        SV_TRY(sv_lines_next(&r->lines, &line, &more));
        if (!more)
            return SV_OK;
        SV_TRY(read_line(r, line));
        if (r->lines.number % 4096 == 0)
            SV_TRY(sv_progress(r->ctx, "failures", r->lines.number, 0));
    }
}

/* ---- the log ---- */

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->failure.hours != y->failure.hours)
        return x->failure.hours < y->failure.hours ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Failures of a day without a time, all at its midnight so far, are spread over it. */
static void spread_days(struct entry *at, size_t length)
{
    for (size_t i = 0, next; i < length; i = next) {
        size_t days = 0, done = 0;
        for (next = i; next < length && at[next].failure.hours == at[i].failure.hours; next++)
            days += at[next].whole_day;
        for (size_t k = i; k < next; k++)
            if (at[k].whole_day)
                at[k].failure.hours += 24 * ((double)done++ + 0.5) / (double)days;
    }
}

static sv_status make_log(struct reader *r, sv_failure_log **log)
{
    size_t length = r->entries.length;
    struct entry *entries = r->entries.at;
    sv_pool *store = sv__pool_new(r->ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_failure_log *made = SV_POOL_NEW(store, r->ctx, sv_failure_log, 1);
    sv_failure *at = SV_POOL_NEW(store, r->ctx, sv_failure, length + 1);
    if (made == NULL || at == NULL) {
        sv__pool_drop(store);
        return SV_NO_MEMORY;
    }
    if (length > 0) {
        qsort(entries, length, sizeof *entries, by_time);
        spread_days(entries, length);
        qsort(entries, length, sizeof *entries, by_time);
    }
    for (size_t i = 0; i < length; i++)
        at[i] = entries[i].failure;
    *made = (sv_failure_log){.at = at, .length = length, .dated = r->dated, .store = store};
    *log = made;
    return SV_OK;
}

sv_status sv_failure_log_read(sv_ctx *ctx, const sv_source *source, sv_failure_log **log)
{
    struct reader r = {.ctx = ctx};
    SV_TRY(sv_lines_init(&r.lines, ctx, source));
    sv_status status = read_lines(&r);
    if (status == SV_OK)
        status = make_log(&r, log);
    sv_array_release(ctx, &r.entries);
    sv_lines_release(&r.lines);
    return status;
}

sv_status sv_failure_log_load(sv_ctx *ctx, const char *path, sv_failure_log **log)
{
    sv_file file;
    SV_TRY(sv_file_open(&file, ctx, path));
    sv_status status = sv_failure_log_read(ctx, &file.source, log);
    sv_file_close(&file);
    return status;
}

void sv_failure_log_free(sv_failure_log *log)
{
    if (log != NULL)
        sv__pool_drop(log->store);
}

/* ---- moments besides ---- */

sv_status sv_failure_moment(sv_ctx *ctx, const sv_failure_log *log, const char *text, bool last,
                            double *hours)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    sv__moment moment;
    if (!sv__scan_moment(&scan, &moment) || !sv_scan_done(&scan))
        return sv_refuse(ctx, "'%.100s' is neither a date nor a number with s, min, h, d or y",
                         text);
    if (log->length > 0 && moment.dated != log->dated)
        return sv_fail(ctx, SV_BAD_INPUT, "'%.100s' is a %s, and the log's times are %s", text,
                       moment.dated ? "date" : "number", log->dated ? "dates" : "numbers");
    *hours = moment.hours + (last && moment.whole_day ? 24 : 0);
    return SV_OK;
}

sv_status sv_failure_hours(sv_ctx *ctx, const char *text, double *hours)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    double length;
    if (!sv__scan_length(&scan, &length) || !sv_scan_done(&scan))
        return sv_refuse(ctx, "'%.100s' is not a number with s, min, h, d or y", text);
    *hours = length;
    return SV_OK;
}
