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

#include <pthread.h>
#include <stdatomic.h>

#include "routing/engine.h"

typedef struct sv__dag {
    uint32_t count;        /* switches that can reach the home */
    const uint32_t *order; /* [count]: next hops before those who take them; the home first */
    const uint32_t *first; /* [count + 1]: order[i] has cables[first[i]] … first[i + 1] - 1 */
    const uint8_t *cables; /* those it may take, numbered at the switch that takes them */
} sv__dag;

/* The cable of a way, as a number over all switches: neighbour, back and port of the core say more.
 */
static inline uint32_t sv__dag_cable(const sv_core *core, const sv__dag *dag, uint32_t s,
                                     uint32_t k)
{
    return core->first[s] + dag->cables[k];
}

/*
 * What an engine says about a home: fills order and hops (SV_NONE where there is no way) and
 * returns the count. mark: [2 × switches], for what it wants to tell its allow function.
 */
typedef uint32_t sv__search_fn(void *engine, uint32_t home, uint32_t *order, uint32_t *hops,
                               bool *mark);

/* Whether a hop that leads one step closer may be taken. */
typedef bool sv__allow_fn(void *engine, const bool *mark, uint32_t from, uint32_t to);

/* Scratch of one thread, and the ways it has worked out last. */
typedef struct sv__dag_maker {
    uint32_t *hops, *order, *first;
    uint8_t *cables;
    bool *mark;
    sv__dag last;
    uint32_t last_home;
} sv__dag_maker;

typedef struct sv__dags {
    sv__routing_job *job;
    const sv_core *core;
    void *engine;
    sv__search_fn *search;    /* NULL: all shortest ways */
    sv__allow_fn *allow;      /* NULL: all may */
    sv__dag_maker maker;      /* of the thread that began */
    _Atomic(sv__dag *) *kept; /* [switches] */
    size_t bytes_left;        /* of the memory set aside; this and the arena under the lock */
    pthread_mutex_t lock;
} sv__dags;

/* search NULL: all shortest ways. */
sv_status sv__dags_init(sv__dags *dags, sv__routing_job *job, const sv_core *core, void *engine,
                        sv__search_fn *search, sv__allow_fn *allow);

/* For a further thread. From the job's arena, so before threads are at work. */
sv_status sv__dag_maker_init(sv__dag_maker *maker, sv__dags *dags);

/* All ways to a switch; valid until the maker's next call. NULL: no memory. */
const sv__dag *sv__dag_make(sv__dags *dags, sv__dag_maker *maker, uint32_t home);

/* The same for engines that have one thread only. */
static inline const sv__dag *sv__dag_to(sv__dags *dags, uint32_t home)
{
    return sv__dag_make(dags, &dags->maker, home);
}

#endif
