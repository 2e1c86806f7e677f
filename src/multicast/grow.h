/* grow.h: what the search for trees shares: the piece of the fabric at hand, and its best tree. */
#ifndef SV_MULTICAST_GROW_H
#define SV_MULTICAST_GROW_H

#include "multicast/multicast.h"

typedef struct sv__mgrower {
    sv__mgraph *g;
    const sv_core *core;
    uint32_t *piece; /* [count]: its switches */
    uint32_t count;
    uint32_t *roots;         /* [count]: the most promising first */
    uint32_t *far;           /* [switches]: hops to the farthest switch */
    uint32_t *cables, *best; /* [count - 1]: of the tree at hand, and of the best so far */
    uint32_t num_cables, best_depth;
    /* Scratch, [switches] each. */
    uint32_t *hops, *queue;
    uint64_t *by_far, *by_turns;
} sv__mgrower;

/* Hops from a switch, and queue: all of its piece, nearest first. */
void sv__mgrower_spread(sv__mgrower *x, uint32_t from);

/* How many roots may be tried. */
uint32_t sv__mgrower_tries(const sv__mgrower *x);

/* Finds roots. */
void sv__mgrower_rank(sv__mgrower *x);

#endif
