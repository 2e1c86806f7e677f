/*
 * dag.h: for one switch, all ways that lead there: which next hops every other switch may take.
 *
 * Engines route many destinations of the same switch (its terminals, their addresses, itself), one
 * after the other and mixed with those of others. Which hops are allowed is the same for all of
 * them; only the choice among them differs. So it is worked out once for a switch and kept, as long
 * as that fits into the memory set aside for it.
 */
#ifndef SV_ROUTING_DAG_H
#define SV_ROUTING_DAG_H

#include "routing/engine.h"

/* A hop that is allowed. */
typedef struct sv__way {
    uint32_t next;  /* the switch it leads to */
    uint32_t entry; /* of the core: the channel */
} sv__way;

typedef struct sv__dag {
    uint32_t count;        /* switches that can reach the home */
    const uint32_t *order; /* [count]: next hops before those who take them; the home first */
    const uint32_t *first; /* [count + 1]: order[i] has ways[first[i]] … ways[first[i + 1] - 1] */
    const sv__way *ways;
} sv__dag;

/*
 * What an engine says about a home: fills order and hops (SV_NONE where there is no way) and
 * returns the count.
 */
typedef uint32_t sv__search_fn(void *engine, uint32_t home, uint32_t *order, uint32_t *hops);

/* Whether a hop that leads one step closer may be taken. */
typedef bool sv__allow_fn(void *engine, uint32_t from, uint32_t to);

typedef struct sv__dags {
    sv__job *job;
    const sv_core *core;
    void *engine;
    sv__search_fn *search; /* NULL: all shortest ways */
    sv__allow_fn *allow;   /* NULL: all may */
    uint32_t *hops, *order, *first;
    sv__way *ways;     /* of the home at hand, if it is not kept */
    sv__dag **kept;    /* [switches] */
    size_t bytes_left; /* of the memory set aside */
    sv__dag last;
    uint32_t last_home;
} sv__dags;

/* search NULL: all shortest ways. */
sv_status sv__dags_init(sv__dags *dags, sv__job *job, const sv_core *core, void *engine,
                        sv__search_fn *search, sv__allow_fn *allow);

/* All ways to a switch; valid until the next call. NULL: no memory. */
const sv__dag *sv__dag_to(sv__dags *dags, uint32_t home);

#endif
