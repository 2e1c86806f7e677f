/* jobs_times.h: moments and lengths of time as people give them to selvage jobs. */
#ifndef SELVAGE_JOBS_TIMES_H
#define SELVAGE_JOBS_TIMES_H

#include "selvage/app.h"

enum { JOBS_DATE_ROOM = 32 };

/* "2015-02-01T12:30:00", UTC, or "-" if it is not known or open; returns text. */
const char *jobs_date(int64_t at, char text[JOBS_DATE_ROOM]);

/* The same with a Z behind it, or null. */
void jobs_json_time(sv_json *json, const char *key, int64_t at);

/* "10 min", "90 s", "2 d": in the largest unit that leaves nothing over; returns text. */
const char *jobs_span(int64_t seconds, char text[JOBS_DATE_ROOM]);

/* A date, perhaps with a time of day, or seconds since 1970. */
bool jobs_moment(const char *text, int64_t *at);

/* "600s", "10m", "10min", "2h" or "1d": at least a second. */
bool jobs_length(const char *text, int64_t *seconds);

/* The same for waits, also "90" (seconds) and "500ms"; a year at most. */
bool jobs_wait(const char *text, double *seconds);

/* Digits with at most one point. */
bool jobs_real(const char *text, double *value);

#endif
