/*
 * balance.h: the family of distributed routing balancing: what its policies share (points 1 to 17
 * of docs/decisions/0028-policies.md).
 *
 * pairs.c keeps pairs of terminals that talk and their paths; balance.c has the hooks; monitor.c
 * what switches and destinations do; decide.c what sources do; watchdog.c timers; notes.c what
 * packets carry.
 */
#ifndef SV_ADAPT_BALANCE_H
#define SV_ADAPT_BALANCE_H

#include "adapt/adapt.h"
#include "adapt/store.h"
#include "adapt/trend.h"
#include "adapt/wire.h"
#include "base/array.h"
#include "base/cells.h"

#define SV__NO_PATH UINT32_MAX

enum { SV__MAX_KNOWN = 256 }; /* paths of a pair: a mark has eight bits for them */

/* ---- what packets carry (notes.c) ---- */

/* A note: contending flows that a switch has found; or what an acknowledgement tells, and the note
 * of the flows that it brings. */
typedef struct sv__note {
    uint32_t next; /* of those that are free */
    uint32_t uses; /* by packets, and by who keeps it */
    uint32_t pair; /* whose acknowledgement it is; SV_NONE: of flows */
    uint32_t mark; /* of the packet that is acknowledged */
    uint32_t told; /* flows, or 0 */
    bool last;     /* of its message */
    uint64_t waited;
    sv__flows flows;
} sv__note;

/* Notes by number, from 1 on; their memory is used again. */
typedef struct sv__notes {
    sv_arena *arena;
    SV_ARRAY(sv__note *) blocks;
    uint32_t free, count, max_flows;
} sv__notes;

/* 0: no memory. The note is empty and has one use. */
uint32_t sv__notes_take(sv_ctx *ctx, sv__notes *notes);
sv__note *sv__notes_at(const sv__notes *notes, uint32_t note);
/* One use less; note 0 is fine. */
void sv__notes_drop(sv__notes *notes, uint32_t note);

/* ---- pairs ---- */

/* A message that is not acknowledged yet. */
typedef struct sv__drb_sent {
    uint64_t since, span; /* when its watchdog began, and how long that is */
    bool acknowledged;
} sv__drb_sent;

/* Those of a pair, in their order, going round. */
typedef struct sv__outstanding {
    sv__drb_sent *at;
    uint32_t first, count, room; /* room is a power of two, or 0 */
    uint32_t serial;             /* of the first */
    bool armed;                  /* it is among the watchdogs … */
    uint64_t alarm;              /* … for then */
} sv__outstanding;

typedef struct sv__drb_pair {
    uint32_t from, to, destination; /* terminals; of the tables */
    /* The paths that are known: path 0 first; and candidates in the order of point 2. */
    sv__adapt_path *paths;
    uint8_t *order;
    uint16_t num_paths, room, num_order;
    bool searched; /* for candidates */
    bool several;  /* it ever had more than one path open */

    sv__metapath meta;
    sv__open_path alone; /* where meta is as long as it is path 0 only */
    double base;         /* what path 0 takes empty, ticks */
    uint64_t back;       /* what an acknowledgement takes, empty … */
    uint64_t round;      /* … and a full packet there and it back */
    sv__zone zone;
    uint32_t probe;        /* a path that was opened and not heard of, or SV__NO_PATH */
    uint32_t trial;        /* acknowledgements until a solution is judged; 0: none is */
    sv__solution *applied; /* that one */
    sv__solution *last;    /* the one that was applied last */
    bool held;             /* applied unasked, and not failed: paths stay open */
    sv__trend *trend;

    sv__flows newest;  /* contending flows since the zone was low */
    sv__flows episode; /* those for which it is high … */
    bool asked;        /* … and the store was asked for them */
    sv__solution_store store;

    uint32_t serial; /* of the next message */
    sv__outstanding sent;
    uint32_t carried; /* at the destination: flows that are to go with the next acknowledgement */
} sv__drb_pair;

/* ---- who watches (tests) ---- */

typedef enum sv__saw_kind {
    SV__SAW_CHOICE,   /* path; drawn */
    SV__SAW_LOOK,     /* flows at a switch */
    SV__SAW_ACK,      /* path, waited, flows; before anything is decided */
    SV__SAW_NOTICE,   /* a switch's flows have come; likewise */
    SV__SAW_LATE,     /* a watchdog ran out; likewise */
    SV__SAW_ZONE,     /* latency, zone: judged anew */
    SV__SAW_FORESEEN, /* … and it is the trend that says high */
    SV__SAW_OPENED,   /* path */
    SV__SAW_CLOSED,
    SV__SAW_APPLIED, /* solution; before its paths are opened and others closed */
    SV__SAW_FAILED,
    SV__SAW_KEPT,
    SV__SAW_IMPROVED
} sv__saw_kind;

typedef struct sv__saw {
    sv__saw_kind kind;
    uint64_t time;
    const sv__drb_pair *pair; /* or NULL: of SV__SAW_LOOK */
    uint32_t path;
    uint64_t waited;
    double drawn, latency;
    sv_channel out; /* of SV__SAW_LOOK */
    const sv__flows *flows;
    const sv__solution *solution;
} sv__saw;

typedef struct sv__spy {
    void *user;
    void (*saw)(void *user, const sv__saw *saw);
} sv__spy;

/* ---- all of it ---- */

typedef struct sv__alarm {
    uint64_t time;
    uint32_t pair;
} sv__alarm;

/* Bytes that wait, by flow: a table of hashes, and which entries are in use. */
enum { SV__MAX_WAITING = 4096 };
typedef struct sv__drb_tally {
    uint64_t bytes;
    uint32_t flow, look; /* look: which one it is of */
} sv__drb_tally;

typedef struct sv__tallies {
    uint32_t look, count;
    uint32_t used[SV__MAX_WAITING];
    sv__drb_tally at[2 * SV__MAX_WAITING];
} sv__tallies;

typedef struct sv__balance {
    sv_adapt *a;
    bool fast, predictive;
    uint32_t full; /* bytes on the wire of a full packet */

    sv_cells index; /* of source and destination to pairs */
    SV_ARRAY(sv__drb_pair *) pairs;
    sv__shelf shelf;
    sv__notes notes;
    SV_ARRAY(sv__alarm) alarms; /* a heap by time, then pair */

    uint64_t look;    /* ticks between two looks */
    uint64_t *looked; /* [channels]: when that output may be looked at again … */
    uint32_t *told;   /* … and the note of what was seen, 0: nobody contends */
    sv_sim_waiting *waiting;
    sv__tallies *tallies;
    sv__flows found;
    sv__open_path *scratch; /* [paths] */

    const sv__spy *spy;
} sv__balance;

sv_status sv__balance_make(sv_adapt *a, bool fast, bool predictive);
void sv__balance_release(sv_adapt *a);
sv_status sv__balance_load(sv_adapt *a, const sv_source *source);
sv_status sv__balance_save(const sv_adapt *a, const sv_sink *sink);
/* Who is told from now on, or NULL. */
void sv__balance_spy(sv_adapt *a, const sv__spy *spy);

static inline void sv__tell(const sv__balance *b, const sv__saw *saw)
{
    if (b->spy != NULL)
        b->spy->saw(b->spy->user, saw);
}

/* pairs.c: the number of a pair, which is made if there is none. */
sv_status sv__pairs_get(sv__balance *b, uint32_t from, uint32_t destination, uint32_t *pair);
/* The same, or SV_NONE. Time: O(1). */
uint32_t sv__pairs_find(const sv__balance *b, uint32_t from, uint32_t destination);
/* The path of a pair with these vias, which is added if need be. BAD_INPUT: tables do not carry
 * it; INFEASIBLE: too many. */
sv_status sv__pairs_path(sv__balance *b, sv__drb_pair *p, const sv_sim_way *way, uint32_t *path);
/* Room for more than one open path, and candidates. */
sv_status sv__pairs_search(sv__balance *b, sv__drb_pair *p);
/* Room for flows. */
sv_status sv__pairs_learn(sv__balance *b, sv__drb_pair *p);

/* decide.c. flows: count 0 if none came. */
sv_status sv__decide_ack(sv__balance *b, sv__drb_pair *p, uint64_t now, uint32_t path,
                         uint64_t waited, const sv__flows *flows);
sv_status sv__decide_notice(sv__balance *b, sv__drb_pair *p, uint64_t now, const sv__flows *flows);
sv_status sv__decide_late(sv__balance *b, sv__drb_pair *p, uint64_t now);
/* A message is about to go (point 17). */
sv_status sv__decide_message(sv__balance *b, sv__drb_pair *p, uint64_t now);
/* Keeps flows and metapath as a solution (point 14). */
sv_status sv__decide_keep(sv__balance *b, sv__drb_pair *p, uint64_t now, const sv__flows *flows,
                          double latency);

/* monitor.c: hooks of switches, and of terminals that data packets come to. */
sv_status sv__monitor_depart(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                             uint64_t waited, sv_sim_head *head);
sv_status sv__monitor_arrive(sv__balance *b, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                             sv_sim_head *head);
/* Those of waiting packets (fewer than SV__MAX_WAITING) and of one more that contribute most, as a
 * set. */
void sv__monitor_pick(sv__tallies *tallies, const sv_sim_waiting *waiting, uint32_t count,
                      const sv_sim_waiting *granted, double share, uint32_t max, sv__flows *found);

/* watchdog.c. */
sv_status sv__watchdog_sent(sv__balance *b, sv_sim_run *stage, uint32_t pair, uint64_t now,
                            uint64_t span);
/* A message was acknowledged, by the low 24 bits of its number. */
sv_status sv__watchdog_heard(sv__balance *b, sv_sim_run *stage, uint32_t pair, uint64_t now,
                             uint32_t serial);
sv_status sv__watchdog_timer(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again);

#endif
