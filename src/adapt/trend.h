/*
 * trend.h: where latencies are going (point 15 of docs/decisions/0028-policies.md).
 */
#ifndef SV_ADAPT_TREND_H
#define SV_ADAPT_TREND_H

#include <stdint.h>

typedef struct sv__sample {
    uint64_t time;
    double latency;
} sv__sample;

/* The last of them, going round. */
typedef struct sv__trend {
    uint32_t count, next, room;
    sv__sample at[];
} sv__trend;

void sv__trend_add(sv__trend *t, uint64_t time, double latency);
static inline void sv__trend_forget(sv__trend *t)
{
    t->count = t->next = 0;
}
/* The latency at a later time by a straight line through the last room samples (least squares); 0:
 * there are fewer, or all at one time, or it does not rise. Time: O(room). */
double sv__trend_at(const sv__trend *t, uint64_t time);

#endif
