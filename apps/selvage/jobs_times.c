/*
 * jobs_times.c: moments and lengths of time as people give them to selvage jobs, and dates back.
 */
#include "selvage/jobs_times.h"

#include <stdio.h>
#include <string.h>

#include "text/times.h"

const char *jobs_date(int64_t at, char text[JOBS_DATE_ROOM])
{
    char date[SV__DATE_ROOM];
    snprintf(text, JOBS_DATE_ROOM, "-");
    if (at == SV_TIME_UNKNOWN || at == SV_TIME_OPEN)
        return text;
    sv__date_text(at, date);
    snprintf(text, JOBS_DATE_ROOM, "%s", date);
    return text;
}

void jobs_json_time(sv_json *json, const char *key, int64_t at)
{
    char date[JOBS_DATE_ROOM + 1];
    if (at == SV_TIME_UNKNOWN || at == SV_TIME_OPEN) {
        sv_json_null(json, key);
        return;
    }
    jobs_date(at, date);
    strcat(date, "Z");
    sv_json_text(json, key, date);
}

const char *jobs_span(int64_t seconds, char text[JOBS_DATE_ROOM])
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int unit = 0;
    while (seconds % units[unit].seconds != 0)
        unit++;
    snprintf(text, JOBS_DATE_ROOM, "%lld %s", (long long)(seconds / units[unit].seconds),
             units[unit].name);
    return text;
}

bool jobs_length(const char *text, int64_t *seconds)
{
    double value;
    if (!sv__span_length(sv_span_of(text), &value))
        return false;
    *seconds = (int64_t)(value + 0.5);
    return *seconds >= 1;
}

bool jobs_wait(const char *text, double *seconds)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    bool plain = sv__scan_plain(&scan, seconds);
    sv_span unit = sv_scan_rest(&scan);
    if (plain && sv_span_is(unit, "ms"))
        *seconds /= 1000;
    else if (!(plain && unit.length == 0) && !sv__span_length(sv_span_of(text), seconds))
        return false;
    return *seconds <= 366 * 86400.0;
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
