/*
 * sim_policy.h: a policy for both simulators, drawn from a seed, and a log of all that happens in
 * either (test_sim_policy.c compares them).
 */
#ifndef TESTS_ORACLE_SIM_POLICY_H
#define TESTS_ORACLE_SIM_POLICY_H

#include "sim_case.h"
#include "sim_oracle.h"

typedef enum sim_event {
    SIM_INJECTED,
    SIM_GRANTED,
    SIM_CHOOSE,
    SIM_DEPART,
    SIM_DELIVER,
    SIM_TIMER,
    SIM_HEARD,
    SIM_BACKLOG,
    SIM_WAITING,
    SIM_EVENTS
} sim_event;

enum { SIM_VALUES = 22 };

typedef struct sim_record {
    sim_event what;
    uint64_t value[SIM_VALUES];
} sim_record;

typedef struct sim_log {
    sim_record *all;
    uint32_t count, room;
} sim_log;

/* How a policy behaves: one in so many; 0: never. */
typedef struct sim_mind {
    uint64_t seed;
    bool has[SIM_EVENTS]; /* hooks: others are NULL */
    bool by_packet;
    uint64_t patience, first, until; /* timers: from, to */
    uint64_t grain, span;            /* of delays */
    uint32_t detours, looks, calls;
    uint32_t sends[SIM_EVENTS]; /* by hook */
    uint32_t longest;           /* of a control packet */
    bool twins;                 /* control packets that go beside those of data */
    uint64_t cut;               /* no timer from then on */
} sim_mind;

/* What hooks see of a simulator, whichever it is. */
typedef struct sim_world {
    const sim_case *c;
    const sim_mind *mind;
    void *stage;
    void (*send)(void *stage, uint32_t from, uint32_t destination, uint32_t bytes, uint64_t ready,
                 uint32_t mark, uint32_t note);
    void (*call)(void *stage, uint64_t time);
    uint64_t (*backlog)(void *stage, sv_channel c);
    uint32_t (*waiting_for)(void *stage, sv_channel c, sv_sim_waiting *waiting, uint32_t max);
    /* Takes down what happened. */
    void *user;
    void (*note)(void *user, const sim_record *record);
} sim_world;

sim_mind sim_mind_draw(const sim_case *c, uint64_t seed);

void sim_log_add(sim_log *log, const sim_record *record);
/* In a line, for messages. The text is good until the call after the next. */
const char *sim_record_text(const sim_record *record);

/* The hooks. */
void sim_choose(const sim_world *w, uint64_t now, uint32_t terminal, const sv_sim_message *message,
                uint32_t offset, sv_sim_way *way);
void sim_depart(const sim_world *w, uint64_t now, sv_channel out, uint64_t waited,
                sv_sim_head *head);
void sim_deliver(const sim_world *w, uint64_t now, uint32_t terminal, sv_sim_head *head);
void sim_timer(const sim_world *w, uint64_t now, uint64_t *again);

#endif
