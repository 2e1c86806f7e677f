/*
 * sim_trial.h: a case that the fast and the slow simulator run (test_sim.c), with tables that
 * change or not (sim_trial.c has what that takes).
 */
#ifndef TESTS_ORACLE_SIM_TRIAL_H
#define TESTS_ORACLE_SIM_TRIAL_H

#include "sim_case.h"
#include "sim_oracle.h"

enum { MAX_HOPS = 32 };

/* One packet's times, as the fast simulator tells them. */
struct seen {
    uint64_t *granted, arrived;
    uint32_t hops, room;
    bool stuck;
};

/* What befell a packet (of the oracle's), and why. */
struct incident {
    uint64_t time;
    uint32_t what, packet, node;
    uint8_t why;
};

struct incidents {
    struct incident *all;
    uint32_t count, room;
};

struct trial {
    sim_case c;
    uint64_t seed;
    uint32_t *next;         /* [terminals]: the message it sends next */
    uint32_t *first_packet; /* [messages]: of the oracle's */
    uint32_t *sent;         /* [messages]: packets so far */
    uint32_t *after;        /* [messages]: it is not told before so many have arrived there */
    uint32_t *heard;        /* [terminals]: messages that have arrived there */
    uint32_t *packet_of;    /* [packets]: the oracle's packet of each of the fast one's */
    oracle_packet *packets;
    oracle_hop *hops;
    uint64_t *granted;
    uint32_t num_packets;
    struct seen *seen;

    /* Of tables that change. */
    uint32_t *destination; /* [messages]: as they were opened */
    uint8_t *sl;
    struct incidents expected, told;
    uint32_t change, wake; /* the first that is still to come */
    uint64_t cut;          /* the director's first call that was not made */
    sv_sim_run *stage;
};

/* The oracle, with what it has to ask where tables change. Changes are moved to where they matter
 * after a first run. */
oracle_end trial_run_oracle(struct trial *t, oracle_params *params, const uint32_t *ports,
                            const oracle_cable *cables, uint32_t num_cables);
/* Frees what it found out about packets. */
void trial_forget(struct trial *t);
/* The fast one has ended by a deadlock though the director had more to do: he cannot free anybody,
 * and is not called when nothing else happens any more. Then it must be as if he had planned
 * nothing more: the oracle is to be run again. False: it is not so. */
bool trial_cut(struct trial *t, const sv_sim_result *r);

/* The fast one's director, and the watch that is told of incidents. */
sv_sim_director trial_director(struct trial *t);
void trial_incident(void *user, sv_sim_incident what, const sv_sim_example *which);
/* Whether incidents were those that the oracle knows of. */
void trial_compare_incidents(struct trial *t, const sv_sim_result *r);

#endif
