/*
 * dates.c: seconds since 1970 as dates of the Gregorian calendar, whatever zone the machine is in;
 * and lengths of time.
 *
 * Idea: years of 400 repeat; within them days are counted from the first of March, so that a leap
 * day comes last. Cost: O(1).
 */
#include "jobs/dates.h"

#include <stdio.h>

#include "faults/times.h"

void sv__date_text(int64_t at, char text[SV__DATE_ROOM])
{
    int second = (int)((at % 86400 + 86400) % 86400);
    int64_t day = (at - second) / 86400 + 719468; /* since 0000-03-01 */
    int of_era = (int)(day % 146097);
    int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = of_era - (365 * year + year / 4 - year / 100);
    int month = (5 * of_year + 2) / 153; /* 0 is March */
    int of_month = of_year - (153 * month + 2) / 5 + 1;
    int full = (int)(day / 146097) * 400 + year + (month >= 10);
    snprintf(text, SV__DATE_ROOM, "%04d-%02d-%02dT%02d:%02d:%02d", full % 10000,
             (month + 2) % 12 + 1, of_month, second / 3600, second / 60 % 60, second % 60);
}

bool sv__jobs_length(sv_span text, double *seconds)
{
    sv_scan scan = sv_scan_of(text);
    double value;
    if (sv__scan_length(&scan, &value) && sv_scan_done(&scan)) {
        *seconds = value * 3600;
        return true;
    }
    scan = sv_scan_of(text); /* as Slurm's people write minutes */
    if (!sv__scan_plain(&scan, &value) || !sv_scan_char(&scan, 'm') || !sv_scan_done(&scan) ||
        value > 1000 * SV__YEAR_HOURS * 60)
        return false;
    *seconds = value * 60;
    return true;
}
