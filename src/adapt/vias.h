/*
 * vias.h: random switches to go by, for Valiant and UGAL.
 */
#ifndef SV_ADAPT_VIAS_H
#define SV_ADAPT_VIAS_H

#include "adapt/adapt.h"

typedef struct sv__vias sv__vias;

/* Makes the list that set.via asks for, in the arena: it is the policy's state. */
sv_status sv__vias_new(sv_adapt *a);
/* A detour that was drawn. */
typedef struct sv__detour {
    uint32_t s;   /* the switch of the terminal; SV_NONE if it has none */
    uint32_t via; /* destination number; SV_NONE: there is no detour (the two are on one switch,
                     or no other one leads on) */
    uint32_t channels; /* from s on, the last one to the terminal among them */
} sv__detour;

/* Draws a switch for a packet from a terminal to a destination. Time: O(1), and O(length) to see
 * that it leads on. */
sv__detour sv__vias_draw(sv_adapt *a, const sv__vias *vias, uint32_t from, uint32_t destination);

/* A packet goes by a detour that was drawn. */
void sv__vias_take(sv_adapt *a, const sv__detour *detour, sv_sim_way *way);

/* How many switches could be drawn for a pair of switches. */
uint32_t sv__vias_count(const sv__vias *vias, uint32_t s, uint32_t d);
/* The i-th of them. */
uint32_t sv__vias_at(const sv__vias *vias, uint32_t s, uint32_t d, uint32_t i);

#endif
