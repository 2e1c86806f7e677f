/*
 * orient.h: an order of the switches for up/down routing.
 *
 * A hop to a switch that comes earlier goes up, to a later one down. Up first, then down reaches
 * every switch from every other exactly when each component has one switch without an earlier
 * neighbour: so that is what every order here has.
 */
#ifndef SV_ROUTING_ORIENT_H
#define SV_ROUTING_ORIENT_H

#include "routing/engine.h"

/* What to start from. */
typedef enum sv__ranking {
    SV__RANK_ROOTS, /* distance from roots */
    SV__RANK_LEAVES /* distance from leaves, farthest first */
} sv__ranking;

/*
 * place[switch] from 0 on. roots: NULL to find them: those of the top level if that makes shorter
 * paths than a single switch in the middle. found: gets the number of roots that ranks start from.
 */
sv_status sv__orient(sv__job *job, const sv_core *core, sv__ranking ranking, const sv_node *roots,
                     size_t num_roots, uint32_t *place, uint32_t *found);

#endif
