/*
 * roots.c: from where to grow a tree, the most promising switches first.
 *
 * Two things make a root good. Trees from the middle of the fabric are shallow: there the farthest
 * switch is near. And trees fit where unicast packets do not turn back: in an order of all
 * channels, packets go up into the root before they go down from it, so at a good root channels
 * inwards come before those outwards. Neither tells the whole truth, so roots are taken from both
 * lists in turn. Among equals, switches far apart in number come first: neighbours fail alike.
 *
 * Cost: a search for each switch of the piece, or a bounded number of them: then the farthest of
 * those switches is what counts.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "multicast/grow.h"

enum { STEPS = 1 << 24 /* of all breadth-first searches together */ };

/* The farthest switch from each, as far as there is time to look. */
static void find_far(sv__mgrower *x)
{
    uint32_t searches = sv__mgrower_times(x, STEPS), from = x->piece[0];
    for (uint32_t i = 0; i < x->count; i++)
        x->far[x->piece[i]] = 0;
    for (uint32_t k = 0; k < x->count && k < searches; k++) {
        if (searches >= x->count)
            from = x->piece[k];
        sv__mgrower_spread(x, from);
        for (uint32_t i = 0; i < x->count; i++) {
            uint32_t s = x->piece[i];
            x->far[s] = x->hops[s] > x->far[s] ? x->hops[s] : x->far[s];
        }
        from = x->queue[x->count - 1]; /* ends of the fabric tell the most, and then any switch */
        if (k % 2 == 1)
            from = x->piece[(uint64_t)k * 0x9e3779b1u % x->count];
    }
}

/* How many channels into a switch come before the same cable's channel out of it. */
static uint32_t turns_back(const sv__mgraph *g, uint32_t s)
{
    const uint32_t *place = g->cdg.vl[0].place, *first = g->wide.first;
    uint32_t late = 0;
    for (uint32_t k = first[s]; k < first[s + 1]; k++)
        late += place[k] > place[g->wide.back[k]];
    return late;
}

/* Pairs of a grade and a switch, so that equals keep the order of numbers. */
static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void sv__mgrower_rank(sv__mgrower *x)
{
    sv_rng rng;
    uint32_t n = x->count, found = 0;
    find_far(x);
    sv_rng_init(&rng, 1);
    for (uint32_t i = 0; i < n; i++)
        x->queue[i] = x->piece[i];
    sv_rng_shuffle(&rng, x->queue, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = x->queue[i], late = turns_back(x->g, s);
        late = late > 255 ? 255 : late;
        x->by_far[i] = ((uint64_t)x->far[s] << 8 | late) << 32 | i;
        x->by_turns[i] = ((uint64_t)late << 24 | x->far[s]) << 32 | i;
    }
    qsort(x->by_far, n, sizeof *x->by_far, ascending);
    qsort(x->by_turns, n, sizeof *x->by_turns, ascending);
    for (uint32_t i = 0; i < n; i++)
        x->hops[x->piece[i]] = SV_NONE;
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t s = x->queue[(uint32_t)(i % 2 == 0 ? x->by_turns[i / 2] : x->by_far[i / 2])];
        if (x->hops[s] == SV_NONE)
            x->roots[found++] = s;
        x->hops[s] = 0;
    }
}
