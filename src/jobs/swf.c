/*
 * swf.c: the Standard Workload Format, with lists of nodes.
 *
 * Idea: a line is a job: 18 numbers, of which the first is its own, the second when it was
 * submitted, the third how long it waited and the fourth how long it ran. Lines of some logs have
 * more behind these: {1241,1241,1253}, the node of each of its processors. Only with these lists is
 * it known where jobs ran. Times are seconds from UnixStartTime, if the header has one, else since
 * 1970 (or since whenever: then they are small). Some logs have that header and count from 1970
 * nevertheless, so that a time at or after UnixStartTime is taken as it is.
 *
 * Invariants: jobs that did not run (a run time or wait that is not known, or not above 0) are left
 * out.
 * Cost: linear.
 * Source: D. Feitelson's definition of the format, version 2.2; the MetaCentrum logs for the lists.
 */
#include <string.h>

#include "jobs/sheet.h"

enum { FIELDS = 18, MAX_DIGITS = 20, NUMBER = 0, SUBMIT = 1, WAIT = 2, RUN = 3 };

#define MAX_SECONDS INT64_C(100000000000) /* three thousand years */

struct reader {
    sv__sheet *s;
    int64_t start;       /* UnixStartTime, or 0 */
    uint64_t jobs, told; /* lines, and those with lists */
};

/* -1, 12, 12.5: what is behind the point does not matter. */
static bool to_number(sv_span word, int64_t *value)
{
    sv_scan scan = sv_scan_of(word);
    uint64_t whole, behind;
    bool negative = sv_scan_char(&scan, '-');
    if (!sv_scan_number(&scan, INT64_MAX, &whole))
        return false;
    if (sv_scan_char(&scan, '.') && !sv_scan_done(&scan) &&
        !sv_scan_number(&scan, UINT64_MAX, &behind))
        return false;
    *value = negative ? -(int64_t)whole : (int64_t)whole;
    return sv_scan_done(&scan);
}

/* Whether a word looks like a number, however large. */
static bool is_number(sv_span word)
{
    size_t digits = 0;
    for (size_t i = 0; i < word.length; i++) {
        bool digit = word.at[i] >= '0' && word.at[i] <= '9';
        if (!digit && word.at[i] != '.' && !(i == 0 && word.at[i] == '-'))
            return false;
        digits += digit;
    }
    return digits > 0;
}

bool sv__swf_line(sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    sv_scan_blanks(&scan);
    if (!sv_scan_done(&scan) && *scan.at == ';')
        return true;
    for (int i = 0; i < FIELDS; i++) {
        sv_span word;
        sv_scan_blanks(&scan);
        if (!sv_scan_word(&scan, &word) || !is_number(word))
            return false;
    }
    return true;
}

/* "; UnixStartTime: 1356994800" */
static sv_status read_comment(struct reader *r, sv_scan *scan)
{
    sv_span word;
    int64_t value;
    while (sv_scan_char(scan, ';'))
        sv_scan_blanks(scan);
    if (!sv_scan_text(scan, "UnixStartTime"))
        return SV_OK;
    sv_scan_blanks(scan);
    sv_scan_char(scan, ':');
    sv_scan_blanks(scan);
    if (!sv_scan_word(scan, &word) || !to_number(word, &value) || value > MAX_SECONDS)
        return sv_lines_fail(&r->s->lines, "UnixStartTime is not a number of seconds");
    r->start = value < 0 ? 0 : value;
    return SV_OK;
}

/* {1241,1241,1253} */
static sv_status read_list(struct reader *r, sv_span list)
{
    sv_scan scan = {list.at + 1, list.at + list.length};
    sv_span last = {NULL, 0};
    bool good;
    do {
        sv_span id = {scan.at, 0};
        while (scan.at < scan.end && *scan.at >= '0' && *scan.at <= '9')
            scan.at++;
        id.length = (size_t)(scan.at - id.at);
        good = id.length > 0 && id.length <= MAX_DIGITS;
        if (!good)
            break;
        /* one for each processor: mostly the same again */
        if (last.length != id.length || memcmp(last.at, id.at, id.length) != 0)
            SV_TRY(sv__sheet_host(r->s, id));
        last = id;
    } while (sv_scan_char(&scan, ','));
    if (good && sv_scan_char(&scan, '}') && sv_scan_done(&scan))
        return SV_OK;
    return sv_lines_fail(&r->s->lines, "'%.*s' is not a list of node numbers", SV_SPAN(list));
}

static sv_status add_job(struct reader *r, sv_span number, const int64_t *values, sv_span list)
{
    int64_t submit = values[SUBMIT], wait = values[WAIT], run = values[RUN];
    r->jobs++;
    r->told += list.length > 0;
    if (list.length <= 2 || submit < 0 || wait < 0 || run <= 0) {
        r->s->left_out++;
        return SV_OK;
    }
    if (submit > MAX_SECONDS || wait > MAX_SECONDS || run > MAX_SECONDS)
        return sv_lines_fail(&r->s->lines, "a time beyond all calendars");
    int64_t begin = submit + wait + (submit < r->start ? r->start : 0);
    SV_TRY(sv__sheet_begin(r->s, number, begin, begin + run));
    return read_list(r, list);
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    sv_span word, number = {NULL, 0}, list = {NULL, 0};
    int64_t values[FIELDS];
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan))
        return SV_OK;
    if (*scan.at == ';')
        return read_comment(r, &scan);
    for (int i = 0; i < FIELDS; i++) {
        sv_scan_blanks(&scan);
        if (!sv_scan_word(&scan, &word))
            return sv_lines_fail(&r->s->lines, "%d fields where there should be %d", i, FIELDS);
        if (!to_number(word, &values[i]))
            return sv_lines_fail(&r->s->lines, "field %d, '%.*s', is %s", i + 1, SV_SPAN(word),
                                 is_number(word) ? "too large" : "not a number");
        if (i == NUMBER)
            number = word;
    }
    sv_scan_blanks(&scan);
    if (sv_scan_word(&scan, &word) && word.at[0] == '{')
        list = word;
    return add_job(r, number, values, list);
}

sv_status sv__read_swf(sv__sheet *s)
{
    struct reader r = {.s = s};
    for (sv_span line;;) {
        bool more;
        SV_TRY(sv_lines_next(&s->lines, &line, &more));
        if (!more)
            break;
        SV_TRY(read_line(&r, line));
        if (s->lines.number % 4096 == 0)
            SV_TRY(sv_progress(s->ctx, "jobs", s->lines.number, 0));
    }
    if (r.jobs > 0 && r.told == 0)
        return sv_fail(s->ctx, SV_UNSUPPORTED,
                       "%s: no lists of nodes {1,2,…} behind the %d fields: it does not tell where "
                       "jobs ran",
                       s->lines.source->name, FIELDS);
    return SV_OK;
}
