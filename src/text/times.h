/*
 * times.h: numbers, dates and lengths of time as people type them. Independent of the locale.
 */
#ifndef SV_TEXT_TIMES_H
#define SV_TEXT_TIMES_H

#include "base/text.h"

/* Hours of a year, on average. */
#define SV__YEAR_HOURS (24 * 365.25)

/* Digits with at most one point, fifteen at most. */
bool sv__scan_plain(sv_scan *scan, double *value);

/* A number with s, min, h, d or y behind it, up to 1000 years. Blanks are nowhere allowed. */
bool sv__scan_length(sv_scan *scan, double *hours);

/* A moment: what was written, and where it is. */
typedef struct sv__moment {
    bool dated;     /* a date, in hours since 1970 (UTC); else a number, in hours */
    bool whole_day; /* a date without a time of day: hours is midnight before it */
    double hours;
} sv__moment;

/*
 * A date of the years 1900 to 9999, perhaps with a time of day behind a T or blanks, perhaps with a
 * zone behind that; or as sv__scan_length. What follows is left alone.
 */
bool sv__scan_moment(sv_scan *scan, sv__moment *moment);

enum { SV__DATE_ROOM = 32 };

/* The last second of the year 9999. */
#define SV__LAST_MOMENT INT64_C(253402300799)

/* Seconds since 1970 as sacct writes them, 2015-02-01T12:30:00, UTC; of the years 1 to 9999. */
void sv__date_text(int64_t at, char text[SV__DATE_ROOM]);

/* A length of time: a number and s, m or min, h, d or y, up to 1000 years, and nothing else. */
bool sv__span_length(sv_span text, double *seconds);

#endif
