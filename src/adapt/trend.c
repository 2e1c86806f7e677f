/*
 * trend.c: a straight line through the last latencies of a metapath.
 *
 * Least squares, times counted from the newest sample so that large ticks lose no digits. A line
 * that falls tells nothing. What was seen before a metapath changed says nothing about the new one:
 * whoever changes it forgets.
 *
 * Cost: O(1) a sample, O(samples) a question.
 */
#include "adapt/trend.h"

void sv__trend_add(sv__trend *t, uint64_t time, double latency)
{
    t->at[t->next] = (sv__sample){time, latency};
    t->next = t->next + 1 == t->room ? 0 : t->next + 1;
    if (t->count < t->room)
        t->count++;
}

double sv__trend_at(const sv__trend *t, uint64_t time)
{
    if (t->count < /*~trend_fewer*/ t->room || t->room < 2)
        return 0;
    uint64_t newest = t->at[(t->next + t->room - 1) % t->room].time;
    double n = t->room, x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t i = 0; i < t->room; i++) {
        double back = -(double)(newest - t->at[i].time);
        x += back;
        y += t->at[i].latency;
        xx += back * back;
        xy += back * t->at[i].latency;
    }
    double spread = n * xx - x * x;
    if (spread <= 0)
        return 0;
    double slope = (n * xy - x * y) / spread;
    return slope /*~trend_falls*/ > 0
               ? (y - slope * x) / n + /*~trend_now*/ slope * (double)(time - newest)
               : 0;
}
