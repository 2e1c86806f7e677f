/*
 * near.c: the known name that is nearest to an unknown one.
 *
 * Idea: the distance of two names is the number of letters to insert, leave out, replace, or
 * exchange with their neighbour (optimal string alignment). A name is near if a third of its
 * letters or fewer are wrong, at least one; or if it begins with the unknown one, of two letters at
 * least, which stands for what was typed halfway ("ugal" for "ugal-l"). Of equally near ones the
 * first wins. Case is not counted.
 *
 * Cost: O(length²) a known name, names up to LONGEST letters; longer ones are near to nothing.
 */
#include "base/near.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters to change from a to b; both at most LONGEST long. */
static unsigned distance(sv_span a, sv_span b)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (unsigned k = 0; k <= b.length; k++)
        last[k] = k;
    for (unsigned i = 1; i <= a.length; i++) {
        now[0] = i;
        for (unsigned k = 1; k <= b.length; k++) {
            bool same = lower(a.at[i - 1]) == lower(b.at[k - 1]);
            now[k] = min(last[k - 1] + !same, min(last[k], now[k - 1]) + 1);
            if (i > 1 && k > 1 && lower(a.at[i - 1]) == lower(b.at[k - 2]) &&
                lower(a.at[i - 2]) == lower(b.at[k - 1]))
                now[k] = min(now[k], before[k - 2] + 1);
        }
        unsigned *free = before;
        before = last;
        last = now;
        now = free;
    }
    return last[b.length];
}

/* The letters of a name; the scan is behind the comma after it, or at the end. */
static sv_span next_name(sv_scan *scan)
{
    sv_scan_blanks(scan);
    sv_span name = {scan->at, 0};
    while (scan->at < scan->end && strchr("=,( ", *scan->at) == NULL)
        scan->at++;
    name.length = (size_t)(scan->at - name.at);
    while (!sv_scan_done(scan) && !sv_scan_char(scan, ','))
        scan->at++;
    return name;
}

const char *sv_near_hint(sv_near *near, sv_span name, const char *known)
{
    unsigned third = (unsigned)(name.length / 3), max = third > 1 ? third : 1;
    sv_span best = {NULL, 0};
    near->hint[0] = 0;
    sv_scan scan = sv_scan_of(sv_span_of(known));
    while (!sv_scan_done(&scan)) {
        sv_span other = next_name(&scan);
        if (name.length == 0 || name.length > LONGEST || other.length > LONGEST)
            continue;
        unsigned found = distance(name, other);
        bool begins = name.length > 1 && name.length < other.length &&
                      memcmp(name.at, other.at, name.length) == 0;
        found = begins ? min(found, max) : found;
        if (found > max || (found == max && best.at != NULL) || found >= other.length)
            continue;
        best = other;
        max = found;
    }
    if (best.at != NULL)
        snprintf(near->hint, sizeof near->hint, ": did you mean '%.*s'?", SV_SPAN(best));
    return near->hint;
}
