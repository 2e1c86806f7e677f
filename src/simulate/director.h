/*
 * director.h: what a run has in addition when somebody changes tables in it, for director.c and
 * incident.c.
 */
#ifndef SV_SIMULATE_DIRECTOR_H
#define SV_SIMULATE_DIRECTOR_H

#include "base/array.h"
#include "base/map.h"
#include "simulate/state.h"

/* A packet that is drained or will be: when it has arrived, and whether it was overtaken. */
typedef struct sv__coming {
    uint64_t time;
    uint32_t to; /* terminal */
    uint32_t packet, from, destination;
    bool overtaken;
} sv__coming;

typedef struct sv__sim_direction {
    sv_routes *r;  /* tables as they are now: x->r, too */
    uint64_t next; /* the director acts; SV_NEVER: not unless somebody asks for it */
    bool acting;   /* he does */
    uint32_t num_blocks;
    uint32_t *block_first, *block_of; /* destinations by blocks */
    size_t words, visited_room;       /* of a packet's set; packets with one */
    uint64_t *visited;           /* [packets × words]: switches it was in; the last bit: looped */
    sv_map latest;               /* from, to: the latest packet of the pair that arrived */
    SV_ARRAY(sv__coming) coming; /* a heap: by time, then terminal */
} sv__sim_direction;

#endif
