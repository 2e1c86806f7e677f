/*
 * dates.h: moments as sacct writes them: 2015-02-01T12:30:00, UTC.
 */
#ifndef SV_JOBS_DATES_H
#define SV_JOBS_DATES_H

#include <stdint.h>

enum { SV__DATE_ROOM = 32 };

/* Of the years 1 to 9999. */
void sv__date_text(int64_t at, char text[SV__DATE_ROOM]);

#endif
