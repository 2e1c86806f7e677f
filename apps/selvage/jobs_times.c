/*
 * jobs_times.c: moments and lengths of time as people give them to selvage jobs, and dates back.
 */
#include "selvage/jobs_times.h"

#include <string.h>
#include <time.h>

#include "faults/times.h"

const char *jobs_date(int64_t at, char text[JOBS_DATE_ROOM])
{
    struct tm parts;
    time_t seconds = (time_t)at;
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, JOBS_DATE_ROOM, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
        strcpy(text, "?");
    return text;
}

bool jobs_length(const char *text, int64_t *seconds)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    double value;
    size_t length = strlen(text);
    if (length > 1 && text[length - 1] == 'm') { /* as Slurm's people write minutes */
        if (!sv__scan_plain(&scan, &value) || scan.at != text + length - 1 || value > 1e9)
            return false;
        value *= 60;
    } else if (sv__scan_length(&scan, &value) && sv_scan_done(&scan)) {
        value *= 3600;
    } else {
        return false;
    }
    *seconds = (int64_t)(value + 0.5);
    return *seconds >= 1;
}

bool jobs_moment(const char *text, int64_t *at)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    sv__moment moment;
    uint64_t number;
    if (sv_span_number(sv_span_of(text), INT64_C(1) << 40, &number)) {
        *at = (int64_t)number;
        return true;
    }
    if (!sv__scan_moment(&scan, &moment) || !sv_scan_done(&scan) || !moment.dated)
        return false;
    double seconds = moment.hours * 3600;
    *at = (int64_t)(seconds < 0 ? seconds - 0.5 : seconds + 0.5);
    return true;
}

bool jobs_real(const char *text, double *value)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    return sv__scan_plain(&scan, value) && sv_scan_done(&scan);
}
