/* schedule.h: in which order destinations are routed, and whose routes to them count. */
#ifndef SV_ROUTING_SCHEDULE_H
#define SV_ROUTING_SCHEDULE_H

#include "routing/engine.h"

enum { SV__PHASES = 3 }; /* jobs, storage, the rest; without a job map all is the rest */

typedef struct sv__schedule {
    uint32_t *order, count; /* destinations; SV_NONE fills batches up */
    uint32_t end[SV__PHASES];
    /* Of the job map; NULL: there is none. */
    const sv_jobmap *map;
    const sv_fabric *fabric;
    uint32_t *first_job, *jobs_of; /* jobs of terminal t: jobs_of[first_job[t] … [t + 1]) */
    uint32_t *first_home;          /* switches of job j: homes[first_home[j] … [j + 1]) */
    struct sv__crowd *homes;       /* with how many of its terminals */
} sv__schedule;

/* A switch with some terminals of a job. */
struct sv__crowd {
    uint32_t home, count;
};

/*
 * Terminals, then switches. Without a job map terminals go round-robin over their switches (the
 * first of each, then the second of each …, addresses of one terminal together). With one: those
 * of the largest job first, in the same way among themselves, then of the next (equally large ones
 * by their terminals; one that runs several jobs counts with the first of them; jobs on one switch
 * are none); then storage without jobs; then all others. At the end of each phase weights are to be
 * forgotten. batch: as sv__batch says; if more than one, those of a batch are of switches far from
 * each other. From the job's arena. Time: linear, and sorting.
 */
sv_status sv__schedule_init(sv__schedule *schedule, sv__routing_job *job, uint32_t batch);

/* Whether a new phase begins at this place of the order. */
static inline bool sv__schedule_turns(const sv__schedule *schedule, uint32_t place)
{
    return place > 0 && (place == schedule->end[0] || place == schedule->end[1]);
}

/*
 * How many terminals on each switch have a route to a destination that counts for the balance: all,
 * or those that share a job with it. all: of the fabric's core; room: [switches], written if it is
 * needed. May be called by several threads. Time: linear in switches and the terminals of its jobs.
 */
const uint32_t *sv__schedule_sources(const sv__schedule *schedule, const sv_routes *routes,
                                     uint32_t destination, const uint32_t *all, uint32_t *room);

#endif
