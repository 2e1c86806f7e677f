/*
 * trial.h: one rehearsal, for the files of this room.
 *
 * Who does what: agenda.c keeps what is to happen and when; batch.c sends datagrams and repeats
 * them; scenes.c goes from step to step; pairs.c knows who may send, and when nothing of it is
 * under way; packets.c follows packets; apps.c has applications, and the machines of the five
 * phases.
 */
#ifndef SV_REHEARSE_TRIAL_H
#define SV_REHEARSE_TRIAL_H

#include <selvage/experimental/rehearse.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "base/rng.h"

/* Kinds of what is to happen. */
typedef enum sv__due_kind {
    SV__DUE_BEGIN,
    SV__DUE_REST,          /* nothing new is sent any more */
    SV__DUE_DELIVER,       /* a datagram gets to its node: item, batch */
    SV__DUE_ANSWER,        /* its answer gets back: item, batch */
    SV__DUE_RETRY,         /* nothing came back: item, batch, and which try it was */
    SV__DUE_OVER,          /* a batch is over, and no datagram of it is under way: batch */
    SV__DUE_SETTLED,       /* packets of before have left: step */
    SV__DUE_DRAINED,       /* a pair has nothing under way, and its sender knows: pair, turn */
    SV__DUE_TO_MANAGER,    /* mail */
    SV__DUE_TO_SUBSCRIBER, /* mail */
    SV__DUE_TOLD,          /* a rank hears from its rank 0: terminal, turn of the application */
    SV__DUE_BACK,          /* rank 0 hears that a rank is done: application, turn */
    SV__DUE_TICK           /* of a machine: application, or SV_NONE for the manager */
} sv__due_kind;

typedef struct sv__due {
    uint64_t time, serial; /* serial: what was noted first comes first */
    sv__due_kind kind;
    uint32_t a, b, c;
    sv_five_mail mail;
} sv__due;

/* What a datagram does at the node it is for. */
typedef enum sv__item_kind { SV__SET_BLOCK, SV__SET_VLS, SV__TELL_STEP } sv__item_kind;

typedef struct sv__item {
    sv__item_kind kind;
    sv_node node;
    uint32_t block;
    uint32_t tries;
    bool there, answered; /* there: it took effect once */
} sv__item;

/* Datagrams that belong together: the next step begins when all are answered. */
typedef struct sv__batch {
    SV_ARRAY(sv__item) items;
    uint32_t number;        /* of the batch */
    uint32_t next, waiting; /* items that are sent; of those, not yet answered */
    uint32_t answered;      /* or given up */
    bool repeated, failed;  /* something was sent twice; somebody does not answer */
    uint64_t last_sent;
} sv__batch;

enum { SV__OLD = 1, SV__NEW = 2 };

/* A terminal and a destination (a base address) that it sends to. */
typedef struct sv__rehearse_pair {
    uint32_t from, destination;
    uint32_t next;               /* of the same terminal */
    uint32_t from_step, to_step; /* of the plan; SV_NONE: it may always send */
    uint32_t open;               /* messages whose packets are not all arrived or dropped */
    uint32_t turn;               /* counts draining */
    uint64_t last;               /* arrival of what has arrived last */
    uint64_t told;               /* to be silent */
    uint64_t wanting;            /* since then it has something to send and may not; SV_NEVER: no */
    uint64_t until[2];           /* packets of old and new entries that have left: the last */
    uint32_t alive[2];           /* the same, under way */
    uint8_t sl;                  /* of its connection */
    bool sent;                   /* there is one */
    bool asks;                   /* it asks for the SL again */
    bool joined;                 /* old tables have a path for it, and new ones, too */
    bool silent, draining, high, mixed;
} sv__rehearse_pair;

typedef struct sv__terminal {
    uint32_t first;       /* pair, or SV_NONE */
    uint32_t draining;    /* pairs */
    uint32_t at;          /* the step it heard of last, counted from 1 on; 0: none */
    uint32_t item;        /* whose answer waits for draining; SV_NONE: none */
    uint32_t application; /* index, or SV_NONE */
    uint32_t turn;        /* of its application */
    bool outside;         /* may not send yet, or not any more */
    bool high;            /* where its pairs belong */
    bool owes;            /* tells its rank 0 when they are there */
} sv__terminal;

/* A message. */
typedef struct sv__rehearse_message {
    uint32_t tag, bytes;
    uint32_t pair, destination; /* once it is opened */
    uint32_t packets, left;     /* injected; neither arrived nor dropped, or not yet injected */
    uint32_t next;              /* that is free */
    bool closed;                /* the source has heard of it, or never will */
} sv__rehearse_message;

/* A packet. */
typedef struct sv__track {
    uint64_t injected;
    uint32_t parcel, payload;
    uint8_t kinds;
    bool last, over;
} sv__track;

typedef struct sv__rehearse_late {
    uint64_t time;
    uint32_t bytes;
} sv__rehearse_late;

typedef enum sv__rehearse_step {
    SV__SCENE_BEFORE,
    SV__SCENE_TELL,
    SV__SCENE_WRITE,
    SV__SCENE_SETTLE,
    SV__SCENE_RELEASE,
    SV__SCENE_OVER
} sv__rehearse_step;

typedef struct sv__apps sv__apps;

typedef struct sv__trial {
    sv_ctx *ctx;
    sv_arena arena;
    const sv_fabric *f;
    const sv_routes *before, *after;
    const sv_rehearsal_request *q;
    sv_rehearsal *report;
    sv_sim_run *run;
    sv_status status; /* of calls that cannot fail */
    bool acting, resting;
    uint64_t now, rested; /* rested: since when it rests */
    sv_rng rng;

    SV_ARRAY(sv__due) agenda; /* a heap */
    uint64_t serial;

    sv__batch batch;
    sv__rehearse_step scene;
    uint32_t step, steps;      /* the present one */
    uint32_t begun;            /* steps that have begun */
    uint32_t *homes, *at_home; /* terminals of switch s: at_home[homes[s]] … */
    sv_routes *tables;         /* what the present step makes of old tables */
    uint64_t *tells; /* [(steps + 1) × terminals]: whom a step is told to; NULL: nobody */
    uint64_t entry;  /* of the plan: the first of the present step */

    sv__terminal *terminals;
    SV_ARRAY(sv__rehearse_pair) pairs;
    sv_map pair_of; /* terminal << 32 | destination */
    sv_map plan_of; /* node << 32 | destination: index into spans */
    SV_ARRAY(sv_update_pair) spans;

    SV_ARRAY(sv__rehearse_message) parcels;
    uint32_t free_parcel;
    SV_ARRAY(sv__track) tracks; /* of packets from first_packet on */
    uint32_t first_packet;
    size_t leading;         /* of them, over */
    uint64_t under_way;     /* of them */
    uint64_t latest;        /* arrival of all */
    uint32_t settle_before; /* packets below that must have left */
    uint64_t settle_left, settle_at;
    unsigned phase;
    SV_ARRAY(sv__rehearse_late) late; /* arrivals that are not yet in a phase */
    size_t late_max;                  /* that is put off no longer */
    uint64_t seen;                    /* the last injection */

    sv__apps *apps;
} sv__trial;

/* ---- agenda.c ---- */

/* There is no memory in a call that cannot fail: the run ends in the next tick, and nothing more is
 * done. */
void sv__trial_fail(sv__trial *x);

/* Notes what is to happen. Where there is no memory for it, the trial's status says so. */
void sv__trial_note(sv__trial *x, uint64_t time, sv__due_kind kind, uint32_t a, uint32_t b,
                    uint32_t c);
void sv__trial_post(sv__trial *x, uint64_t time, sv__due_kind kind, const sv_five_mail *mail);
/* Takes what is due; false: nothing is. */
bool sv__trial_take(sv__trial *x, uint64_t now, sv__due *due);

/* Whether a datagram is lost, which counts it; how long it takes. */
bool sv__trial_lost(sv__trial *x);
uint64_t sv__trial_delay(sv__trial *x);

/* ---- batch.c ---- */

void sv__batch_clear(sv__trial *x);
sv_status sv__batch_add(sv__trial *x, sv__item_kind kind, sv_node node, uint32_t block);
/* Sends. sv__scene_next is called when all is answered. */
sv_status sv__batch_send(sv__trial *x);
sv_status sv__batch_due(sv__trial *x, const sv__due *due);
/* A terminal has nothing under way of what is to be silent: its answer goes out. */
void sv__batch_answer(sv__trial *x, uint32_t item);

/* ---- scenes.c ---- */

sv_status sv__scene_init(sv__trial *x);
sv_status sv__scene_begin(sv__trial *x);
/* Begins to set entries: at once, or by the plan's steps. */
sv_status sv__scene_write(sv__trial *x);
/* A batch is over; packets have left. */
sv_status sv__scene_next(sv__trial *x);
sv_status sv__scene_settled(sv__trial *x, uint32_t step);
/* Nothing is left to be done. */
void sv__scene_over(sv__trial *x, bool done);

/* ---- pairs.c ---- */

sv_status sv__pairs_init(sv__trial *x);
bool sv__pairs_open(void *user, uint32_t terminal, uint64_t now, sv_sim_message *message,
                    uint8_t *sl);
/* A terminal hears that a step is about to begin. */
void sv__pairs_step(sv__trial *x, uint32_t terminal, uint32_t step);
/* It is to be on high addresses, or on base ones. */
void sv__pairs_move(sv__trial *x, uint32_t terminal, bool high);
/* A message of a pair has arrived, or what is left of it was dropped. */
void sv__pairs_arrived(sv__trial *x, uint32_t pair);
sv_status sv__pairs_drained(sv__trial *x, uint32_t pair, uint32_t turn);

/* ---- packets.c ---- */

sv_status sv__packets_init(sv__trial *x);
/* The source of a run, and who watches it. */
extern const sv_sim_source sv__packets_source;
extern const sv_sim_watch sv__packets_watch;
/* The next phase begins now; those between it and the present one did not come. */
void sv__phase_begin(sv__trial *x, unsigned phase);
/* All is over; the last phase was when nothing new was sent any more. */
void sv__phase_end(sv__trial *x, uint64_t time);
/* sv__scene_settled is called when all packets of before have left. */
void sv__packets_settle(sv__trial *x, uint32_t step, uint64_t min);

/* ---- apps.c ---- */

sv_status sv__apps_init(sv__trial *x);
void sv__apps_release(sv__trial *x);
/* What the manager counted. */
void sv__apps_count(sv__trial *x);
sv_status sv__apps_begin(sv__trial *x);
sv_status sv__apps_due(sv__trial *x, const sv__due *due);
/* All entries are set. */
sv_status sv__apps_programmed(sv__trial *x);
/* A rank's pairs are where they belong: if its rank 0 waits for it, it hears of it. */
void sv__apps_rank_done(sv__trial *x, uint32_t terminal);

#endif
