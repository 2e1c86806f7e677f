/*
 * times.c: dates and lengths of time.
 *
 * Idea: everything becomes hours in a double, in which a second is exact enough for 10,000 years.
 * Dates are of the Gregorian calendar as ISO 8601 writes them; days are counted from the first of
 * March, so that leap days come last (Fliegel and Van Flandern's old trick).
 *
 * Cost: O(length).
 */
#include "text/times.h"

#include <stdio.h>

/* ---- numbers ---- */

static double scan_digits(sv_scan *scan, int *count)
{
    double value = 0;
    for (*count = 0; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; ++*count)
        value = value * 10 + (*scan->at++ - '0');
    return value;
}

/* Digits behind the point go through one division, so that 0.1 is the number nearest to a tenth. */
bool sv__scan_plain(sv_scan *scan, double *value)
{
    enum { MAX_DIGITS = 15 };
    sv_scan start = *scan;
    int whole, behind = 0;
    double scale = 1, fraction = 0;
    *value = scan_digits(scan, &whole);
    if (sv_scan_char(scan, '.'))
        fraction = scan_digits(scan, &behind);
    if (whole + behind == 0 || whole + behind > MAX_DIGITS) {
        *scan = start;
        return false;
    }
    for (int i = 0; i < behind; i++)
        scale *= 10;
    *value = (*value * scale + fraction) / scale;
    return true;
}

bool sv__scan_length(sv_scan *scan, double *hours)
{
    static const struct {
        const char *name;
        double hours;
    } units[] = {{"s", 1.0 / 3600}, {"min", 1.0 / 60}, {"h", 1}, {"d", 24}, {"y", SV__YEAR_HOURS}};
    sv_scan start = *scan;
    double value;
    if (sv__scan_plain(scan, &value))
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (sv_scan_text(scan, units[i].name) &&
                value * units[i].hours <= 1e3 * SV__YEAR_HOURS) {
                *hours = value * units[i].hours;
                return true;
            }
    *scan = start;
    return false;
}

/* ---- dates ---- */

/* Exactly so many digits, from least to most. */
static bool scan_field(sv_scan *scan, int digits, int min, int max, int *value)
{
    sv_scan start = *scan;
    int count;
    double number = scan_digits(scan, &count);
    if (count != digits || number < min || number > max) {
        *scan = start;
        return false;
    }
    *value = (int)number;
    return true;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01. */
static int days_since_1970(int year, int month, int day)
{
    int from_march = month > 2 ? month - 3 : month + 9, y = month > 2 ? year : year - 1;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 + day - 1 - 719468;
}

static bool scan_date(sv_scan *scan, int *days)
{
    int year, month, day;
    if (!scan_field(scan, 4, 1900, 9999, &year) || !sv_scan_char(scan, '-') ||
        !scan_field(scan, 2, 1, 12, &month) || !sv_scan_char(scan, '-') ||
        !scan_field(scan, 2, 1, days_of_month(year, month), &day))
        return false;
    *days = days_since_1970(year, month, day);
    return true;
}

/* 17:30 or 17:30:05.25 */
static bool scan_clock(sv_scan *scan, double *hours)
{
    int hour, minute;
    double second = 0;
    if (!scan_field(scan, 2, 0, 23, &hour) || !sv_scan_char(scan, ':') ||
        !scan_field(scan, 2, 0, 59, &minute))
        return false;
    if (sv_scan_char(scan, ':') && (!sv__scan_plain(scan, &second) || second > 60))
        return false;
    *hours = hour + minute / 60.0 + second / 3600;
    return true;
}

/* Z, +09:00, -0500 or +01; nothing is UTC. */
static bool scan_zone(sv_scan *scan, double *hours)
{
    int hour, minute = 0;
    *hours = 0;
    if (sv_scan_char(scan, 'Z'))
        return true;
    bool behind = sv_scan_char(scan, '-');
    if (!behind && !sv_scan_char(scan, '+'))
        return true;
    sv_scan four = *scan;
    int both;
    if (scan_field(&four, 4, 0, 1459, &both)) {
        *scan = four;
        hour = both / 100;
        minute = both % 100;
    } else if (!scan_field(scan, 2, 0, 14, &hour) ||
               (sv_scan_char(scan, ':') && !scan_field(scan, 2, 0, 59, &minute))) {
        return false;
    }
    *hours = (behind ? -1 : 1) * (hour + minute / 60.0);
    return minute < 60;
}

/* Whether a time of day follows the blanks: two digits and a colon. */
static bool clock_follows(sv_scan *scan)
{
    sv_scan ahead = *scan;
    int hour;
    sv_scan_blanks(&ahead);
    sv_scan digits = ahead;
    if (ahead.at == scan->at || !scan_field(&digits, 2, 0, 99, &hour) ||
        !sv_scan_char(&digits, ':'))
        return false;
    *scan = ahead;
    return true;
}

bool sv__scan_moment(sv_scan *scan, sv__moment *moment)
{
    sv_scan start = *scan, ahead = *scan;
    double hours = 0, zone = 0;
    int days;
    *moment = (sv__moment){0};
    if (sv__scan_length(&ahead, &moment->hours)) {
        *scan = ahead;
        return true;
    }
    bool good = scan_date(scan, &days), clocked = good && sv_scan_char(scan, 'T');
    if (good && !clocked)
        clocked = clock_follows(scan);
    if (clocked)
        good = scan_clock(scan, &hours) && scan_zone(scan, &zone);
    if (!good) {
        *scan = start;
        return false;
    }
    *moment = (sv__moment){true, !clocked, days * 24.0 + hours - zone};
    return true;
}

/* ---- written, and as Slurm has them ---- */

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

bool sv__span_length(sv_span text, double *seconds)
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
