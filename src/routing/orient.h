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
sv_status sv__orient(sv__routing_job *job, const sv_core *core, sv__ranking ranking,
                     const sv_node *roots, size_t num_roots, uint32_t *place, uint32_t *found);

/* The same from ranks that the caller knows: rank[switch] below the number of switches. */
sv_status sv__orient_ranks(sv__routing_job *job, const sv_core *core, const uint32_t *rank,
                           uint32_t *place);

/* An order, laid out for searches. */
typedef struct sv__updn {
    const sv_core *core;
    const uint32_t *place; /* [switches]: SV_NONE: dead */
    uint32_t *by_place;    /* the live switches in order */
    uint32_t live;
    uint32_t *first, *ups; /* entries into switch s from those before it, one of each: from
                              ups[first[s]] on */
} sv__updn;

/* place: kept. From the job's arena. Time: O(channels). */
sv_status sv__updn_init(sv__updn *u, sv__routing_job *job, const sv_core *core,
                        const uint32_t *place);

/*
 * Who reaches a home, up first and then down: all such switches into order, next hops before those
 * who take them; hops (SV_NONE: no way) and whether they go down only. via (may be NULL): an entry
 * that each may leave by. Returns how many. Time: O(channels).
 */
uint32_t sv__updn_search(const sv__updn *u, uint32_t home, uint32_t *order, uint32_t *hops,
                         bool *down, uint32_t *via);

/*
 * Routes everything up first and then down an order, among equals by the least weight, as sssp does
 * (updn.c). Time: O(channels) a destination.
 */
sv_status sv__updn_along(sv__routing_job *job, const uint32_t *place);

/* Whether a hop one step closer may be taken: who can go down all the way must, others go up. */
static inline bool sv__updn_allows(const uint32_t *place, const bool *down, uint32_t from,
                                   uint32_t to)
{
    bool goes_down = place[to] > place[from];
    return down[from] ? goes_down && down[to] : !goes_down;
}

#endif
