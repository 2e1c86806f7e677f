/*
 * pathsets.h: the ways of pairs of terminals, for random.c and cyclic.c.
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
    sv__path *scratch; /* [paths] */
} sv__pathsets;

/* Into a->state. */
sv_status sv__pathsets_make(sv_adapt *a);
void sv__pathsets_release(sv_adapt *a);
/* Both are valid until the next call. BAD_INPUT: tables do not join the pair. */
sv_status sv__pathsets_of(sv_adapt *a, uint32_t from, uint32_t destination, sv__pathset **set,
                          const sv_sim_way **ways);

#endif
