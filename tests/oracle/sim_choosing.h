/*
 * sim_choosing.h: a trial of test_sim_policy.c: a case, a policy, and what the oracle makes of
 * them.
 */
#ifndef TESTS_ORACLE_SIM_CHOOSING_H
#define TESTS_ORACLE_SIM_CHOOSING_H

#include "sim_policy.h"

struct trial {
    sim_case c;
    sim_mind mind;
    uint64_t seed;
    uint32_t num_packets;
    oracle_packet *packets;
    oracle_hop *hops;
    uint32_t *first_packet; /* [messages]: of the oracle's */
    uint64_t *heard_at;     /* [messages] */
    bool in_order;          /* what sources hear comes in its tick */
    uint32_t *next;         /* [terminals]: the message it sends next */
    uint32_t *after;        /* [messages]: it is not told before so many have arrived there */
    uint32_t *heard;        /* [terminals]: messages that have arrived there */
    uint64_t *arrived;      /* [room_arrived]: of packets and control packets, by number */
    uint64_t *seen;         /* [room_arrived]: the same, as the fast one tells it */
    uint32_t room_arrived, num_arrived;

    oracle_counts counts;
    sv_sim_channel *channels; /* as the fast one counts */
    uint64_t *waited;         /* [channels]: of packets that were granted */
    sim_log expected;
    uint32_t told; /* of those the fast one has done */
    oracle_stuck *stuck;
    uint32_t num_stuck;
    uint64_t limit_of_timers;
    bool early_end; /* the fast one has seen a deadlock while others moved */
};

/* The packets of all messages, before anything else. */
void choosing_make(struct trial *t);
/* Runs the oracle: the log, who is stuck, what was counted. */
oracle_end choosing_run_oracle(struct trial *t);
/* Before it is run again. */
void choosing_forget(struct trial *t);
/* For a source that does not tell its messages beforehand: which of them can wait until something
 * has been heard at their terminal, since that is before they are ready. */
void choosing_hold_back(struct trial *t);
void choosing_release(struct trial *t);

uint32_t choosing_channel(const struct trial *t, uint32_t node, uint32_t port);
sv_sim_message choosing_message(const struct trial *t, uint32_t i);
/* What is heard of a message, as a record of the log. */
sim_record choosing_hearing(const struct trial *t, uint32_t message, uint64_t now,
                            uint64_t injected);
/* Room for when a packet arrived. */
void choosing_room(struct trial *t, uint32_t number);

#endif
