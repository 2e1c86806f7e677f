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
    uint32_t *late;  /* [entries]: cables that are worth a longer search */
    uint32_t *key;   /* [channels × VLs]: where each ought to be in the order */
    uint32_t *first; /* [2 × switches + 1] */
} sv__mgrower;

/* How often something may be done that takes a step for each channel, if there are so many steps.
 */
static inline uint32_t sv__mgrower_times(const sv__mgrower *x, uint32_t steps)
{
    return steps / (x->core->num_entries + 1) + 8;
}

/* Hops from a switch, and queue: all of its piece, nearest first. */
void sv__mgrower_spread(sv__mgrower *x, uint32_t from);

/* Looks for a tree in another way, in a number of rounds; it is then the best. */
sv_status sv__mgrower_mend(sv__mgrower *x, uint32_t rounds, bool *found);

/* Finds roots. */
void sv__mgrower_rank(sv__mgrower *x);

#endif
