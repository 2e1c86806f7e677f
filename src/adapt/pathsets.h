/*
 * pathsets.h: what random.c and cyclic.c share: all but which way comes next.
 */
#ifndef SV_ADAPT_PATHSETS_H
#define SV_ADAPT_PATHSETS_H

#include "adapt/adapt.h"
#include "base/array.h"
#include "base/map.h"

typedef struct sv__pathset {
    size_t first; /* in ways */
    uint32_t count, turn;
} sv__pathset;

typedef struct sv__pathsets {
    sv_map index; /* terminal and destination */
    SV_ARRAY(sv__pathset) sets;
    SV_ARRAY(sv_sim_way) ways;
    sv__adapt_path *scratch; /* [paths] */
    uint32_t (*pick)(sv_adapt *a, sv__pathset *set);
} sv__pathsets;

extern const sv_adapt_key *const sv__pathsets_keys[];

/* Into a->state, and its hooks. pick: which of a pair's ways the next one takes, below count. */
sv_status sv__pathsets_make(sv_adapt *a, uint32_t (*pick)(sv_adapt *a, sv__pathset *set));
void sv__pathsets_release(sv_adapt *a);

#endif
