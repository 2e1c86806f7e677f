/* agree.h: tables whose paths all go up first, then down: they fit one VL, as on trees. */
#ifndef SV_ROUTING_AGREE_H
#define SV_ROUTING_AGREE_H

#include "routing/sssp.h"
#include "vls/vls.h"

typedef struct sv__agree {
    const sv__sssp *x;
    sv_layering *vls;
    const uint32_t *place; /* [switches]: earlier ones are higher (orient.h); NULL: no levels */
    const uint32_t *down;  /* all live switches, the lowest first */
    const uint32_t *level; /* [switches]: hops from the next terminal */
    uint32_t live;
    unsigned threads;
    struct sv__agree_worker *workers;
} sv__agree;

/* Finds an order of the switches. */
sv_status sv__agree_init(sv__agree *a, const sv__sssp *x, sv_layering *vls);

/*
 * Whether all paths to some destinations that count go up first, then down; SV_NONE among them is
 * left out. Time: O(switches) a destination, on all threads.
 */
sv_status sv__agree_test(sv__agree *a, const uint32_t *destinations, uint32_t count, bool *agree);

/*
 * For tables that agree: all paths that count go into the first VL. Those between switches
 * without terminals that do not agree get others that do (detours), or go into the second VL if
 * they go down first, then up, and there is one. What is left has no SL. VLs that have paths
 * become VLs->VLs.
 */
sv_status sv__agree_finish(sv__agree *a, bool detours, unsigned vls);

/* Gives the tables orders, the same for all VLs, if all paths agree (with detours they do). */
sv_status sv__agree_keep_orders(const sv__agree *a, unsigned vls);

#endif
