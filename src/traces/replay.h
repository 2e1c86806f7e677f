/*
 * replay.h: the inside of replaying: what is shared by who runs ranks (replay_run.c), who matches
 * messages with receives (replay_match.c), and who talks with the simulator (replay.c).
 */
#ifndef SV_TRACES_REPLAY_H
#define SV_TRACES_REPLAY_H

#include "base/array.h"
#include "base/cells.h"
#include "traces/collective.h"
#include "traces/traces.h"

/* What of a message is under way. */
typedef enum sv__leg {
    SV__WHOLE,  /* all of it, at once */
    SV__ASK,    /* nothing: may it come? */
    SV__ANSWER, /* back: it may */
    SV__DATA    /* then all of it */
} sv__leg;

/* A message, from its SEND until its receive has it. */
typedef struct sv__replay_message {
    uint64_t ready; /* of what is under way */
    uint64_t order; /* among those of one terminal that are ready at once; of those that have
                       arrived and nobody receives yet, the order of arrival */
    uint64_t arrived;
    uint32_t from, to; /* ranks */
    uint32_t tag, bytes;
    uint32_t group; /* 2 × group, + 1: of a collective */
    uint32_t send_slot, receive_slot;
    uint32_t next; /* in a list */
    uint8_t leg;   /* sv__leg */
    bool pauses;   /* its rank goes on when it was told */
} sv__replay_message;

/* A receive that has nothing yet. */
typedef struct sv__post {
    uint64_t time, order;
    uint32_t from, tag, group, slot;
    uint32_t next;
} sv__post;

typedef struct sv__replay_list {
    uint32_t first, last; /* SV_NONE: none */
} sv__replay_list;

/* All between two ranks in a group: messages that came early, receives that wait. */
typedef struct sv__vl {
    sv__replay_list early, posted;
    uint32_t group, next; /* the next VL of its receiver */
} sv__vl;

/* What a rank hands over, or wants, at a time. */
typedef struct sv__replay_want {
    uint64_t now, bytes;
    uint32_t peer, tag;
    uint32_t group; /* 2 × group, + 1: of a collective; its tag is then which of the group it is */
    uint32_t slot;
} sv__replay_want;

/* What can be waited for: one of a rank's requests, its own SEND, its own RECV; and for each
 * request, if that is a collective, the same two of its step. */
typedef struct sv__slot {
    uint64_t done; /* SV_NEVER: not yet */
} sv__slot;

/* A collective that was begun goes on by itself, with a clock of its own. */
typedef struct sv__strand {
    const sv_mpi_event *event;
    uint64_t time;
    uint32_t step, turn;
    bool begun, runnable; /* runnable: or running */
} sv__strand;

typedef struct sv__actor {
    uint64_t time, at; /* its clock; its event */
    uint64_t requests; /* slots: its requests, SEND, RECV, then two a strand */
    sv__slot *slots;
    sv__strand *strands; /* [requests], if it begins collectives */
    uint32_t terminal, destination;
    uint32_t round, step; /* of the whole trace; of a collective */
    uint32_t turn;        /* which of its group's collectives that is */
    uint32_t vls;         /* the first, or SV_NONE */
    sv__replay_list any;  /* receives from anybody */
    bool begins;          /* collectives: it has strands */
    bool begun;           /* its event has: waits for slots */
    bool paused;          /* has told something that the simulator has not asked for yet */
    bool blocked, runnable, done;
} sv__actor;

/* What a terminal has to send, the first first (a heap), and whom it goes on with. */
typedef struct sv__outbox {
    SV_ARRAY(uint32_t) heap;
    uint32_t told; /* the rank that goes on when the next one is asked for, or SV_NONE */
} sv__outbox;

struct sv_mpi_replay {
    sv_ctx *ctx;
    const sv_mpi_trace *trace;
    sv_sim_source source;
    sv_status status; /* NO_MEMORY: nothing more comes */
    double compute;
    uint32_t eager, rounds;
    sv__actor *actors;    /* [ranks] */
    sv__outbox *outboxes; /* [terminals] */
    uint32_t num_terminals;
    sv__slot *slots;
    sv__strand *strands;
    SV_ARRAY(sv__replay_message) parcels;
    SV_ARRAY(sv__post) posts;
    uint32_t free_parcel, free_post;
    sv_cells vl_of; /* by receiver; by sender and group */
    SV_ARRAY(sv__vl) vls;
    SV_ARRAY(uint32_t) runnable; /* ranks, a stack */
    SV_ARRAY(uint64_t) ready;    /* strands that can go on: rank << 32 | request */
    uint64_t **places;           /* [groups]: world rank << 32 | place, ascending */
    uint32_t **turns;            /* [groups]: by place: collectives that were begun */
    uint64_t orders;
    uint64_t waiting;
    uint32_t left; /* ranks that have not ended */
    uint64_t last;
};

/* ---- replay.c ---- */

/* Where a world rank stands in a group. */
uint32_t sv__place_in(const sv_mpi_replay *p, uint16_t group, uint32_t rank);

/* ---- replay_match.c ---- */

/* A rank hands a message over. *told: it is for another terminal, and the rank is to pause until
 * the simulator has asked for it; told NULL: it does not pause. */
void sv__replay_send(sv_mpi_replay *p, uint32_t rank, const sv__replay_want *what, bool *told);
/* A rank wants one. */
void sv__replay_receive(sv_mpi_replay *p, uint32_t rank, const sv__replay_want *what);
/* What was under way is there. */
void sv__replay_deliver(sv_mpi_replay *p, uint32_t parcel, uint64_t time);
/* The outbox of a terminal. */
void sv__replay_push(sv_mpi_replay *p, uint32_t terminal, uint32_t parcel);
uint32_t sv__replay_pop(sv_mpi_replay *p, uint32_t terminal);

/* ---- replay_run.c ---- */

/* A slot has what it waits for. */
void sv__replay_done(sv_mpi_replay *p, uint32_t rank, uint32_t slot, uint64_t time);
/* Runs all ranks, and collectives that were begun, that can go on. */
void sv__replay_run(sv_mpi_replay *p);
/* This one can. */
void sv__replay_go_on(sv_mpi_replay *p, uint32_t rank);

#endif
