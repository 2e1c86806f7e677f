/*
 * foot.h: an order of a tree's switches with one summit, under which whatever goes up the levels
 * and then down them remains legal, and a spanning tree of it for all that levels do not join.
 */
#ifndef SV_ROUTING_FOOT_H
#define SV_ROUTING_FOOT_H

#include "routing/engine.h"

typedef struct sv__foot {
    uint32_t *place;  /* [switches]: the order; SV_NONE: dead */
    uint32_t *way;    /* [switches]: entry (of the switch) of the cable one step towards the
                         summit, to a switch that comes earlier; SV_NONE: it is the summit */
    uint32_t *part;   /* [switches]: component, from 0; SV_NONE: dead */
    uint32_t *summit; /* [parts] */
    uint32_t parts;
    /*
     * Switches at the bottom with other cables than those of the tree that the ways are: packets
     * that come to them along a way must leave over a cable of that tree, too.
     */
    uint32_t *narrow, num_narrow;
    uint32_t odd; /* a switch where going up and down by levels is not legal, or SV_NONE */
} sv__foot;

/* level: [switches], of all live ones. NO_MEMORY only. Time: O(channels), some times over. */
sv_status sv__foot_find(sv__foot *foot, sv__routing_job *job, const sv_core *core,
                        const uint32_t *level);

/* Whether the cable of an entry, or one parallel to it, is of the tree. */
static inline bool sv__foot_owns(const sv__foot *foot, const sv_core *core, uint32_t entry)
{
    uint32_t a = core->to[entry], b = core->neighbour[entry];
    return (foot->way[a] != SV_NONE && core->neighbour[foot->way[a]] == b) ||
           (foot->way[b] != SV_NONE && core->neighbour[foot->way[b]] == a);
}

#endif
