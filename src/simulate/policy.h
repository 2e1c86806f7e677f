/*
 * policy.h: what a run has in addition when somebody chooses ways in it, for policy.c, control.c
 * and reorder.c.
 */
#ifndef SV_SIMULATE_POLICY_H
#define SV_SIMULATE_POLICY_H

#include "base/array.h"
#include "base/bitset.h"
#include "base/cells.h"
#include "simulate/state.h"

/* Two terminals, one of which sends to the other. */
typedef struct sv__sim_pair {
    uint32_t opened, due; /* numbers: of the next message's first packet; to be delivered next */
    uint32_t *early;      /* [room]: packets that are early, each at its number; SV_NONE: none */
    uint32_t room;        /* a power of two, or 0 */
} sv__sim_pair;

/* Who waits for which output: waiting.c. */
typedef struct sv__waiting {
    sv__queue *lists;     /* by input, VL, output; NULL: there are none */
    uint64_t *first_list; /* [channels]: of an input */
    uint64_t *sets;       /* bits: inputs and VLs */
    uint64_t *first_word; /* [channels]: of an output */
    uint32_t *next;       /* as x->packets: in its list */
} sv__waiting;

/* What an open message has besides. */
typedef struct sv__sim_plan {
    sv_sim_way way;          /* of its next packet … */
    uint32_t pair, sequence; /* … whose number in its pair this is */
} sv__sim_plan;

/* A control packet that waits at a terminal. */
typedef struct sv__control {
    uint64_t ready;
    uint32_t next;
    uint32_t destination, mark, note;
    uint16_t length;
    uint8_t sl, vl;
} sv__control;

typedef struct sv__policy {
    const sv_sim_policy *hooks;
    uint64_t next;           /* the timer is called; SV_NEVER: not unless somebody asks for it */
    uint32_t first_adaptive; /* VL */
    uint32_t turns;          /* terminals that have had their turn in this tick, in choose */
    bool queued;             /* arrivals wait for their tick */

    sv_cells pair_of; /* from, to: the place in pairs */
    SV_ARRAY(sv__sim_pair) pairs;
    sv__sim_plan *plans; /* as x->opened */
    uint32_t plans_room, heads_room;
    sv__queue *inboxes;  /* [terminals]: packets being drained, in order */
    uint64_t *early;     /* [terminals]: bytes of packets that are early */
    uint64_t early_room; /* of all pairs' rings */

    sv__waiting waiting;

    SV_ARRAY(sv__control) controls;
    uint32_t free_control;
    sv__queue *outboxes; /* [terminals]: control packets in the order of rule 29 */
} sv__policy;

/* Where a packet goes on from a switch that it begins a segment at: as if the switch had sent it
 * (rule 26). */
sv_status sv__way_from(sv__sim *x, sv__packet *packet, sv_node at);

#endif
