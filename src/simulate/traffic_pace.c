/*
 * traffic_pace.c: when messages are ready that come with a load.
 *
 * Idea: the distance of two messages is drawn in messages (one, or exponential with mean one), and
 * then spent as time: a message is worth (time on the wire / load) ticks in a burst, (time on the
 * wire / rest) between bursts, or for ever where nothing is sent. So the mean load of each phase is
 * what was asked for, however bursts and messages compare in length, and without bursts there is
 * one phase without end.
 *
 * Exponential numbers are von Neumann's (1951): from comparisons of uniform ones alone, so that
 * they are exact, and the same on every machine, which a logarithm is not.
 *
 * A rate is a load that differs from rank to rank as their links do. A rank may be without bursts
 * (noise); the last burst is the end of it, too.
 *
 * Invariant: times of a rank do not decrease.
 * Cost: O(1), four to five random numbers a message.
 */
#include <math.h>

#include "simulate/traffic.h"

/* Beyond all that is simulated: absurd loads end there instead of going round to 0. */
#define FAR (UINT64_MAX / 4)

static uint64_t later(uint64_t t, double ticks)
{
    return ticks < (double)(FAR - t) ? t + (uint64_t)ticks : FAR;
}

/* Mean 1. The length of the first descending run of uniform numbers is odd with probability
 * 1 - 1/e; then its first number is the fraction, else one more whole has passed. */
static double exponential(sv_rng *rng)
{
    for (double whole = 0;; whole++) {
        uint64_t first = sv_rng_next(rng), last = first;
        for (bool odd = true;; odd = !odd) {
            uint64_t number = sv_rng_next(rng);
            if (number >= last && odd)
                return whole + (double)(first >> 11) * 0x1p-53;
            if (number >= last)
                break;
            last = number;
        }
    }
}

/* How much later the next message is, in messages. */
static double distance(const sv__play *play, uint32_t rank, bool first)
{
    if (!play->regular)
        return exponential(&play->rng[rank]);
    return first ? (double)(sv_rng_next(&play->rng[rank]) >> 11) * 0x1p-53 : 1;
}

/* Spends messages' worth of time from t on, through bursts and what is between them. calm 0:
 * nothing is sent there. */
static uint64_t spend(const sv__play *play, uint64_t offset, uint64_t t, double left, double busy,
                      double calm, bool *rest)
{
    uint64_t cycle = play->on + play->off;
    double worth = (double)play->on / busy;
    if (calm > 0)
        worth += (double)play->off / calm;
    if (left >= worth) { /* whole cycles at once: a burst may be shorter than a message */
        double cycles = floor(left / worth), spent = cycles * worth;
        left = left > spent ? left - spent : 0;
        t = later(t, cycles * (double)cycle);
    }
    while (t < FAR) {
        uint64_t at = (t + offset) % cycle, end = at < play->on ? play->on - at : cycle - at;
        double mean = at < play->on ? busy : calm;
        if (mean > 0) {
            double need = left * mean, share = (double)end / mean;
            *rest = at >= play->on;
            if (need < (double)end)
                return later(t, need);
            left = left > share ? left - share : 0;
        }
        t += end;
    }
    return FAR;
}

double sv__rank_load(const sv__play *play, uint32_t rank)
{
    if (play->rate == 0)
        return play->load;
    return play->rate * play->byte_ticks[rank] * play->wire_bytes / play->bytes;
}

uint64_t sv__burst_at(const sv__play *play, uint32_t rank, uint64_t time)
{
    return (time + (play->offset == NULL ? 0 : play->offset[rank])) / (play->on + play->off);
}

bool sv__pace_next(sv__play *play, uint32_t rank, bool *rest)
{
    bool first = play->time[rank] == SV_NEVER;
    uint64_t t = first ? 0 : play->time[rank], offset = 0;
    double wire = play->wire_bytes * play->byte_ticks[rank];
    double load =
        play->moves->load != NULL ? play->moves->load(play, rank) : sv__rank_load(play, rank);
    double busy = wire / load, left = distance(play, rank, first), ticks = left * busy;
    *rest = false;
    if (play->off == 0 || (play->moves->steady != NULL && play->moves->steady(play, rank))) {
        t = later(t, ticks + 0.5);
    } else {
        offset = play->offset == NULL ? 0 : play->offset[rank];
        t = spend(play, offset, t, left, busy, play->rest > 0 ? wire / play->rest : 0, rest);
    }
    play->time[rank] = t;
    return t + offset < play->end;
}
