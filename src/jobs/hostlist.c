/*
 * hostlist.c: host lists as Slurm writes them: "n[001-018,33]-ib,login".
 *
 * Idea: a list is names between commas; a name is letters with ranges of numbers in brackets
 * between them, several perhaps, of which the last runs fastest. The list is walked over twice:
 * first to check it and to count, so that an absurd one costs nothing; then to write the names.
 *
 * Invariants: numbers of a range have at least as many digits as its low end is written with.
 * Nothing is handed out of a list that is not right to its end.
 * Cost: linear in what the list stands for.
 * Source: the slurm.conf manual, on node names.
 */
#include "jobs/hostlist.h"

#include <selvage/jobs.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { MOST_NAMES = 1000000, MOST_BRACKETS = 8, MOST_DIGITS = 15, LONGEST_NAME = 255 };

/* Numbers low … high, with at least width digits. */
struct range {
    uint64_t low, high;
    int width;
};

static bool scan_end(sv_scan *scan, uint64_t *number, int *width)
{
    const char *start = scan->at;
    if (!sv_scan_number(scan, UINT64_MAX, number))
        return false;
    *width = (int)(scan->at - start);
    return scan->at - start <= MOST_DIGITS;
}

/* "7" or "001-018". */
static bool scan_range(sv_scan *scan, struct range *range)
{
    int width;
    if (!scan_end(scan, &range->low, &range->width))
        return false;
    range->high = range->low;
    return !sv_scan_char(scan, '-') || scan_end(scan, &range->high, &width);
}

/* ---- checking ---- */

static bool is_plain(char c)
{
    return (unsigned char)c > ' ' && c != 127 && strchr("[],()|{}\"'\\#;", c) == NULL;
}

bool sv__host_listable(const char *name)
{
    size_t length = 0;
    while (name[length] != 0 && is_plain(name[length]))
        length++;
    return name[length] == 0 && length > 0 && length <= LONGEST_NAME;
}

/* The text from a scan's place to the next comma or bracket, for messages. */
static sv_span piece_at(const sv_scan *scan)
{
    sv_span piece = {scan->at, 0};
    while (scan->at + piece.length < scan->end && strchr(",[]", piece.at[piece.length]) == NULL)
        piece.length++;
    return piece;
}

/* What stands behind an opening bracket: how many numbers, and how long the longest is. */
static sv_status check_bracket(sv_ctx *ctx, sv_scan *scan, uint64_t *count, size_t *digits)
{
    struct range range;
    *count = *digits = 0;
    do {
        sv_scan start = *scan;
        char text[32];
        if (!scan_range(scan, &range) || !(sv_scan_done(scan) || strchr(",]", *scan->at) != NULL))
            return sv_fail(ctx, SV_BAD_INPUT, "'%.*s' in brackets is not a number or a range",
                           SV_SPAN(piece_at(&start)));
        if (range.high < range.low)
            return sv_fail(ctx, SV_BAD_INPUT, "range '%.*s' descends", SV_SPAN(piece_at(&start)));
        *count += range.high - range.low + 1;
        size_t most = (size_t)snprintf(text, sizeof text, "%0*llu", range.width,
                                       (unsigned long long)range.high);
        *digits = most > *digits ? most : *digits;
    } while (*count <= MOST_NAMES && sv_scan_char(scan, ','));
    if (*count > MOST_NAMES)
        return sv_fail(ctx, SV_BAD_INPUT, "more than %d hosts in a list", MOST_NAMES);
    return sv_scan_char(scan, ']') ? SV_OK : sv_fail(ctx, SV_BAD_INPUT, "a bracket is not closed");
}

/* One name, up to a comma or the end; *count: for how many it stands. */
static sv_status check_name(sv_ctx *ctx, sv_scan *scan, uint64_t *count)
{
    size_t length = 0;
    unsigned brackets = 0;
    *count = 1;
    for (; !sv_scan_done(scan) && *scan->at != ','; length++) {
        uint64_t numbers;
        size_t digits;
        if (!sv_scan_char(scan, '[')) {
            if (!is_plain(*scan->at))
                return sv_fail(ctx, SV_BAD_INPUT, "'%.*s' cannot be in the name of a host", 1,
                               scan->at);
            scan->at++;
            continue;
        }
        SV_TRY(check_bracket(ctx, scan, &numbers, &digits));
        *count *= numbers;
        length += digits - 1;
        if (*count > MOST_NAMES)
            return sv_fail(ctx, SV_BAD_INPUT, "more than %d hosts in a list", MOST_NAMES);
        if (++brackets > MOST_BRACKETS)
            return sv_fail(ctx, SV_BAD_INPUT, "more than %d brackets in a name", MOST_BRACKETS);
    }
    if (length == 0)
        return sv_fail(ctx, SV_BAD_INPUT, "an empty name in a list of hosts");
    if (length > LONGEST_NAME)
        return sv_fail(ctx, SV_BAD_INPUT, "a name of more than %d letters", LONGEST_NAME);
    return SV_OK;
}

static sv_status check_list(sv_ctx *ctx, sv_scan scan)
{
    uint64_t count, all = 0;
    do {
        SV_TRY(check_name(ctx, &scan, &count));
        all += count;
    } while (all <= MOST_NAMES && sv_scan_char(&scan, ','));
    if (all > MOST_NAMES)
        return sv_fail(ctx, SV_BAD_INPUT, "more than %d hosts in a list", MOST_NAMES);
    return SV_OK;
}

/* ---- writing ---- */

struct writer {
    sv_host_fn *take;
    void *user;
    char name[LONGEST_NAME + 1];
};

/*
 * Writes what the rest of a name stands for behind the first length letters. Calls itself once for
 * each bracket in a name, so MOST_BRACKETS deep at most. *scan ends behind the name.
 */
static sv_status write_names(struct writer *w, sv_scan *scan, size_t length)
{
    for (; !sv_scan_done(scan) && *scan->at != ',' && *scan->at != '['; scan->at++)
        w->name[length++] = *scan->at;
    if (!sv_scan_char(scan, '[')) {
        w->name[length] = 0;
        return w->take(w->user, w->name, length);
    }
    sv_scan rest = *scan;
    sv_span inside;
    struct range range;
    sv_scan_until(&rest, ']', &inside);
    sv_scan behind = rest;
    while (scan_range(scan, &range)) {
        for (uint64_t n = range.low; n <= range.high; n++) {
            int digits = snprintf(w->name + length, sizeof w->name - length, "%0*llu", range.width,
                                  (unsigned long long)n);
            behind = rest;
            SV_TRY(write_names(w, &behind, length + (size_t)digits));
        }
        if (!sv_scan_char(scan, ','))
            break;
    }
    *scan = behind;
    return SV_OK;
}

sv_status sv_hostlist_expand(sv_ctx *ctx, const char *text, size_t length, sv_host_fn *take,
                             void *user)
{
    struct writer w = {.take = take, .user = user};
    sv_scan scan = {text, text + length};
    SV_TRY(check_list(ctx, scan));
    do
        SV_TRY(write_names(&w, &scan, 0));
    while (sv_scan_char(&scan, ','));
    return SV_OK;
}
