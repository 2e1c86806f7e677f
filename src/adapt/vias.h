/*
 * vias.h: random switches to go by, for Valiant and UGAL.
 */
#ifndef SV_ADAPT_VIAS_H
#define SV_ADAPT_VIAS_H

#include "adapt/adapt.h"

typedef struct sv__vias sv__vias;

/* Makes the list that set.via asks for, in the arena. */
sv_status sv__vias_new(sv_adapt *a, sv__vias **vias);
/*
 * Draws a switch for a packet from a terminal to a destination: *via is its destination number, or
 * SV_NONE where there is none (the two are on one switch, or no other one leads on). *s: the switch
 * of the terminal, SV_NONE if it has none. Time: O(1), and O(length) to see that it leads on.
 */
void sv__vias_draw(sv_adapt *a, const sv__vias *vias, uint32_t from, uint32_t destination,
                   uint32_t *s, uint32_t *via);

/* Whether some switch could be drawn for this pair of switches. */
uint32_t sv__vias_count(const sv__vias *vias, uint32_t s, uint32_t d);
/* The i-th of them. */
uint32_t sv__vias_at(const sv__vias *vias, uint32_t s, uint32_t d, uint32_t i);

#endif
