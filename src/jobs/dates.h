/*
 * dates.h: moments as sacct writes them, 2015-02-01T12:30:00, UTC; lengths of time.
 */
#ifndef SV_JOBS_DATES_H
#define SV_JOBS_DATES_H

#include <stdint.h>

#include "base/text.h"

enum { SV__DATE_ROOM = 32 };

/* The last second of the year 9999. */
#define SV__LAST_MOMENT INT64_C(253402300799)

/* Of the years 1 to 9999. */
void sv__date_text(int64_t at, char text[SV__DATE_ROOM]);

/* A length of time: a number and s, m or min, h, d or y, up to 1000 years, and nothing else. */
bool sv__jobs_length(sv_span text, double *seconds);

#endif
