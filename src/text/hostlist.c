/*
 * hostlist.c: host lists as Slurm writes them: "n[001-018,33]-ib,login".
 *
 * Idea: a list is names between commas; a name is letters with ranges of numbers in brackets
 * between them, several perhaps, of which the last runs fastest. The list is walked over twice:
 * first to check it and to count, so that an absurd one costs nothing; then to write the names.
 *
 * Writing goes the other way: names are sorted by prefix and number; those of one prefix share
 * brackets, and consecutive numbers of one width become a range.
 *
 * Invariants: numbers of a range have at least as many digits as its low end is written with.
 * Nothing is handed out of a list that is not right to its end. What is written stands for the same
 * names, each as often as it came.
 * Cost: linear in what the list stands for; writing sorts.
 * Source: the slurm.conf manual, on node names.
 */
#include "text/hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 1000000, MAX_BRACKETS = 8, MAX_DIGITS = 15, LONGEST_NAME = 255 };

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
    return scan->at - start <= MAX_DIGITS;
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
        size_t max = (size_t)snprintf(text, sizeof text, "%0*llu", range.width,
                                      (unsigned long long)range.high);
        *digits = max > *digits ? max : *digits;
    } while (*count <= MAX_NAMES && sv_scan_char(scan, ','));
    if (*count > MAX_NAMES)
        return sv_fail(ctx, SV_BAD_INPUT, "more than %d hosts in a list", MAX_NAMES);
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
        if (*count > MAX_NAMES)
            return sv_fail(ctx, SV_BAD_INPUT, "more than %d hosts in a list", MAX_NAMES);
        if (++brackets > MAX_BRACKETS)
            return sv_fail(ctx, SV_BAD_INPUT, "more than %d brackets in a name", MAX_BRACKETS);
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
    } while (all <= MAX_NAMES && sv_scan_char(&scan, ','));
    if (all > MAX_NAMES)
        return sv_fail(ctx, SV_BAD_INPUT, "more than %d hosts in a list", MAX_NAMES);
    return SV_OK;
}

/* ---- expanding ---- */

struct writer {
    sv__host_fn *take;
    void *user;
    char name[LONGEST_NAME + 1];
};

/*
 * Writes what the rest of a name stands for behind the first length letters. Calls itself once for
 * each bracket in a name, so MAX_BRACKETS deep at most. *scan ends behind the name.
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

sv_status sv__hostlist_expand(sv_ctx *ctx, const char *text, size_t length, sv__host_fn *take,
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

/* ---- writing ---- */

struct name {
    const char *text;
    size_t prefix; /* length without the digits at the end */
    uint64_t number;
    bool numbered, padded; /* padded: the digits start with 0 and are not "0" */
};

static struct name split(const char *text)
{
    struct name name = {.text = text, .prefix = strlen(text)};
    size_t length = name.prefix;
    while (name.prefix > 0 && text[name.prefix - 1] >= '0' && text[name.prefix - 1] <= '9' &&
           length - name.prefix < 9)
        name.prefix--;
    name.numbered = name.prefix < length && name.prefix > 0;
    if (!name.numbered)
        name.prefix = length;
    for (size_t i = name.prefix; i < length; i++)
        name.number = name.number * 10 + (uint64_t)(text[i] - '0');
    name.padded = name.numbered && text[name.prefix] == '0' && length - name.prefix > 1;
    return name;
}

int sv_hostname_order(const void *a, const void *b)
{
    struct name x = split(*(const char *const *)a), y = split(*(const char *const *)b);
    size_t common = x.prefix < y.prefix ? x.prefix : y.prefix;
    int order = strncmp(x.text, y.text, common);
    if (order != 0)
        return order;
    if (x.prefix != y.prefix)
        return x.prefix < y.prefix ? -1 : 1;
    if (x.number != y.number)
        return x.number < y.number ? -1 : 1;
    return strcmp(x.text, y.text);
}

static bool follows(const struct name *before, const struct name *after)
{
    return before->numbered && after->numbered && after->number == before->number + 1 &&
           ((!before->padded && !after->padded) || strlen(before->text) == strlen(after->text));
}

static bool same_prefix(const struct name *a, const struct name *b)
{
    return a->numbered && b->numbered && a->prefix == b->prefix &&
           strncmp(a->text, b->text, a->prefix) == 0;
}

void sv_hostlist_write(sv_text *out, const char **names, size_t count)
{
    qsort(names, count, sizeof *names, sv_hostname_order);
    for (size_t i = 0; i < count;) {
        struct name first = split(names[i]);
        size_t end = i + 1;
        while (end < count) {
            struct name next = split(names[end]);
            if (!same_prefix(&first, &next))
                break;
            end++;
        }
        if (i > 0)
            sv_text_print(out, ",");
        if (end == i + 1) {
            sv_text_print(out, "%s", names[i++]);
            continue;
        }
        sv_text_print(out, "%.*s[", (int)first.prefix, first.text);
        for (size_t from = i; from < end;) {
            size_t to = from;
            struct name last = split(names[from]), next;
            while (to + 1 < end && (next = split(names[to + 1]), follows(&last, &next))) {
                last = next;
                to++;
            }
            sv_text_print(out, "%s%s", from == i ? "" : ",", names[from] + first.prefix);
            if (to > from)
                sv_text_print(out, "-%s", names[to] + first.prefix);
            from = to + 1;
        }
        sv_text_print(out, "]");
        i = end;
    }
}
