/*
 * update.h: from old tables to new ones while traffic runs.
 *
 * A subnet manager cannot change a fabric at once: it sends blocks of 64 entries, one datagram
 * each, and switches take them when they come. Meanwhile packets meet mixtures. There are two ways
 * to keep them from harm (docs/update.md):
 *
 * - A safe order (sv_update_plan): steps such that whatever a step's blocks do in whatever order,
 *   nobody who keeps a path loses it, nothing goes in circles, and packets cannot wait for each
 *   other for ever, whatever SLs connections hold that were opened before.
 * - Five phases (sv_five_…): every terminal has two addresses; who takes part leaves the one whose
 *   entries change for the other, whose entries do not, and comes back when all is done.
 *
 * rehearse.h tries them in the simulator, and carelessness, too.
 */
#ifndef SELVAGE_UPDATE_H
#define SELVAGE_UPDATE_H

#include <selvage/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- safe orders ---- */

typedef enum sv_update_way {
    SV_UPDATE_UNPLANNED, /* there is no plan */
    SV_UPDATE_NOTHING,   /* old and new are the same */
    SV_UPDATE_AT_ONCE,   /* in any order */
    SV_UPDATE_STEPS,     /* step by step, in any order within a step */
    SV_UPDATE_REPATH,    /* so, if the pairs that must do so are silent around their steps */
    SV_UPDATE_NEVER,     /* so, but some of them hold SLs that stay: only their path changes */
    SV_UPDATE_WAYS
} sv_update_way;

typedef struct sv_update_request {
    sv_traffic traffic; /* whose packets there are */
    uint32_t
        max_steps; /* 0: 256. Groups of destinations stop there; one group takes what it takes */
    bool partial;  /* only what can be changed with nobody's help; the rest stays as it was */
    bool unproven; /* steps are not held against verify/ once more (it is the caller's to do) */
} sv_update_request;

/* An entry that changes, and in which step (from 0 on). */
typedef struct sv_update_entry {
    sv_node s;
    uint32_t destination, block, step;
} sv_update_entry;

/*
 * A pair that has a path, which changes, or whose SL changes: who sends, and to which destination;
 * every pair, if SL-to-VL tables change; with NEVER some without a path, too. Who sends is a
 * switch, which stands for its terminals, too; or a node for itself, where SLs are by node (in old
 * or new tables). The pair is to be silent, its packets arrived, before step `from_step` begins,
 * and may send again, after asking for its SL, when step `to_step` is over: the first and the last
 * step of its destination (from step 0 on if SL-to-VL tables change).
 */
typedef struct sv_update_pair {
    sv_node from;
    uint32_t destination, from_step, to_step;
    bool must; /* or a deadlock is possible; else packets may overtake others and no more */
} sv_update_pair;

typedef struct sv_update {
    sv_update_way way;
    uint32_t steps; /* 0: nothing to do */
    bool settle;    /* packets under way must have left before the next step begins */
    bool vls;       /* SL-to-VL tables change: in the first step, alone unless it is the only one */
    sv_update_entry *entries; /* [num_entries]: by step, block, switch, destination */
    uint64_t num_entries;
    uint64_t blocks, writes; /* of 64 LIDs that change; datagrams: a block counts in each step */
    uint64_t sls;            /* pairs (of a switch or node, and a destination) whose SL changes */
    sv_update_pair *pairs;   /* [num_pairs]; NULL: there are more than 16 million */
    uint64_t num_pairs, must_pairs;
    uint32_t
        *first_step; /* [destinations]: in which its entries or SLs begin to change, or SV_NONE */
    uint64_t moved;  /* destinations that change; of NEVER: that could be with REPATH */
    char why[200];   /* of NEVER and REPATH: in one line; else empty */
    uint64_t left;   /* of a partial plan: destinations that stay as they were */
    uint64_t plan_ns, prove_ns;
    sv_pool *store;
} sv_update;

/*
 * Looks for a safe order. (If the old tables can deadlock, or make packets circle, by themselves,
 * that may happen until the first step is over, whoever is silent.)
 *
 * before, after: tables of this fabric, which is as it is now (those of another come through
 * sv_routes_remap), with the same destinations and LIDs. request: NULL for managed traffic and
 * defaults. *update: owned by the caller (sv_update_free). Way NEVER is an answer, too. BAD_INPUT:
 * tables that do not belong together, or new ones that can deadlock by themselves, together with
 * their multicast trees (which are taken to be there from the beginning; old ones are not looked
 * at). UNSUPPORTED: SLs, or VLs that decide, are not known. INFEASIBLE: the new tables lose a way
 * that the old ones have. Time: as
 * sv_verify_transition for each step, and for each destination that changes O(switches × SLs) once
 * or more.
 */
SV_API SV_MUST_USE sv_status sv_update_plan(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_routes *before, const sv_routes *after,
                                            const sv_update_request *request, sv_update **update);
SV_API void sv_update_free(sv_update *update);

/*
 * Tables once `done` steps are over: 0: before, update->steps: after, or as much of it as a partial
 * plan changes. Their SLs are those that new
 * connections are told: a destination's are the new ones as soon as its first step begins, so with
 * `begun` those that begin in step `done` have theirs, too. *tables: owned by the caller.
 */
SV_API SV_MUST_USE sv_status sv_update_tables(sv_ctx *ctx, const sv_fabric *fabric,
                                              const sv_routes *before, const sv_routes *after,
                                              const sv_update *update, uint32_t done, bool begun,
                                              sv_routes **tables);

/* Judges every step of a plan by verify/. *bad: the first step that is not safe, SV_NONE: all are.
 */
SV_API SV_MUST_USE sv_status sv_update_prove(sv_ctx *ctx, const sv_fabric *fabric,
                                             const sv_routes *before, const sv_routes *after,
                                             const sv_update *update, sv_traffic traffic,
                                             uint32_t *bad);

/* "in any order" and so on. Time: O(1). */
SV_API const char *sv_update_way_name(sv_update_way way);

/* ---- two sets of routes ---- */

/*
 * Tables with LMC 1 from two with LMC 0: base addresses by the one, high ones by the other with all
 * its packets on SL and VL `VL`, which the first must not use (INFEASIBLE). LIDs: the fabric's
 * where aligned. *both: owned by the caller. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_update_two_sets(sv_ctx *ctx, const sv_fabric *fabric,
                                                const sv_routes *base, const sv_routes *high,
                                                unsigned vl, sv_routes **both);

/* ---- five phases ---- */

/*
 * The protocol of two machines that know no clock, no fabric and no network: whoever runs them
 * hands them datagrams and the time, and does what they say. docs/decisions/0027-update.md has its
 * rules.
 */
typedef enum sv_five_kind {
    SV_FIVE_SUBSCRIBE,   /* to the manager; also renews */
    SV_FIVE_UNSUBSCRIBE, /* to the manager */
    SV_FIVE_CONFIRM,     /* of either, from the manager */
    SV_FIVE_UNPATH,      /* from the manager: leave base addresses */
    SV_FIVE_REPATH,      /* from the manager: come back */
    SV_FIVE_HEARD,       /* of either, to the manager */
    SV_FIVE_DONE,        /* to the manager: all have left (or are back) */
    SV_FIVE_NOTED,       /* of that, from the manager */
    SV_FIVE_KINDS
} sv_five_kind;

typedef struct sv_five_mail {
    sv_five_kind kind;
    uint32_t subscriber; /* whom it is to, or from: any number that its owner chose */
    uint32_t epoch;      /* 0 of SUBSCRIBE and UNSUBSCRIBE; odd: base addresses are to be left */
    uint32_t serial;     /* of SUBSCRIBE, UNSUBSCRIBE, and CONFIRM, which repeats it; else 0 */
} sv_five_mail;

/*
 * A mail in InfiniBand's notices: 24 bytes at the end of their 54 of details. Those to the manager
 * are in traps "local changes" (144), those from it in reports of UnPath (68; epochs that are odd)
 * and RePath (69). counter: another one for each datagram, or subnet managers take repetitions for
 * noise. False: these bytes are no mail. Time: O(1).
 */
enum { SV_FIVE_BYTES = 24, SV_FIVE_DETAILS = 54 };
SV_API void sv_five_pack(const sv_five_mail *mail, uint32_t counter, uint8_t bytes[SV_FIVE_BYTES]);
SV_API bool sv_five_unpack(const uint8_t bytes[SV_FIVE_BYTES], sv_five_mail *mail);

typedef enum sv_five_phase {
    SV_FIVE_IDLE,    /* 1 and 5: subscriptions come and go */
    SV_FIVE_LEAVE,   /* 2: who subscribed drains and migrates to high addresses */
    SV_FIVE_PROGRAM, /* 3: base entries change */
    SV_FIVE_RETURN,  /* 4: back to base addresses */
    SV_FIVE_PHASES
} sv_five_phase;

/* All times in any unit, the same everywhere. */
typedef struct sv_five_options {
    uint64_t retry;    /* until what was not answered is sent again */
    uint32_t tries;    /* before somebody is given up */
    uint64_t lease;    /* a subscription that is not renewed for so long is over; 0: it never is */
    uint64_t margin;   /* a subscriber whose renewal is not confirmed leaves base addresses for good
                          this long before the manager's lease ends: what draining may take. Less
                          than two thirds of a lease by what a datagram and its answer take */
    uint64_t patience; /* for somebody who has heard, and is not done; then the update is called
                          off, and whoever has left comes back to old tables; 0: for ever, or until
                          its lease is over */
    bool trust; /* who does not answer `tries` times is taken for dead at once (the thesis), and not
                   when its lease is over. With no lease and no trust the update is called off then
                 */
    uint32_t epoch; /* the manager's first, made even: of one that starts again, not older than the
                       last of the one before */
} sv_five_options;

typedef struct sv_five_manager sv_five_manager;
SV_API SV_MUST_USE sv_status sv_five_manager_new(sv_ctx *ctx, const sv_five_options *options,
                                                 sv_five_manager **manager);
SV_API void sv_five_manager_free(sv_five_manager *manager);
/*
 * New tables are there: begins with phase 2. False: not idle. A manager that starts again, and so
 * knows nobody, is not to begin before a lease has passed: by then all have renewed, or left.
 */
SV_API bool sv_five_manager_begin(sv_five_manager *manager, uint64_t now);
SV_API SV_MUST_USE sv_status sv_five_manager_receive(sv_five_manager *manager,
                                                     const sv_five_mail *mail, uint64_t now);
/* Somebody is known to be gone (its port is down, its job has ended). */
SV_API void sv_five_manager_gone(sv_five_manager *manager, uint32_t subscriber, uint64_t now);
/* All switches have their entries, and no older block is still under way to one: ends phase 3. */
SV_API void sv_five_manager_programmed(sv_five_manager *manager, uint64_t now);
/* Time passes; to be called at sv_five_manager_due or soon after. */
SV_API void sv_five_manager_tick(sv_five_manager *manager, uint64_t now);
SV_API uint64_t sv_five_manager_due(const sv_five_manager *manager); /* UINT64_MAX: nothing is */
/* What is to be sent now; false: nothing more. */
SV_API bool sv_five_manager_next(sv_five_manager *manager, sv_five_mail *mail);
SV_API sv_five_phase sv_five_manager_phase(const sv_five_manager *manager);

typedef struct sv_five_count {
    uint32_t subscribers, epoch;
    uint32_t updates, called_off; /* begun; of those, so many */
    uint32_t expelled;            /* their leases were over, or by `trust` */
    uint64_t sent, again;         /* datagrams; of those, UNPATH and REPATH repeated */
} sv_five_count;
SV_API sv_five_count sv_five_manager_count(const sv_five_manager *manager);

/* One application: its rank 0, for all of its ranks, which must not outlive it. */
typedef enum sv_five_place {
    SV_FIVE_OUTSIDE, /* not subscribed: its flows are not under the protocol's care */
    SV_FIVE_ON_BASE, /* flows use base addresses */
    SV_FIVE_LEAVING, /* flows drain, and migrate to high addresses one by one */
    SV_FIVE_ON_HIGH,
    SV_FIVE_RETURNING /* flows drain, and migrate back one by one */
} sv_five_place;

typedef struct sv_five_subscriber sv_five_subscriber;
SV_API SV_MUST_USE sv_status sv_five_subscriber_new(sv_ctx *ctx, uint32_t number,
                                                    const sv_five_options *options,
                                                    sv_five_subscriber **subscriber);
SV_API void sv_five_subscriber_free(sv_five_subscriber *subscriber);
/* Flows begin only when the place is ON_BASE (or ON_HIGH): after the first confirmation. */
SV_API void sv_five_subscriber_begin(sv_five_subscriber *subscriber, uint64_t now);
SV_API void sv_five_subscriber_end(sv_five_subscriber *subscriber, uint64_t now);
SV_API void sv_five_subscriber_receive(sv_five_subscriber *subscriber, const sv_five_mail *mail,
                                       uint64_t now);
/*
 * All flows of all ranks have migrated, as the place says: LEAVING becomes ON_HIGH, RETURNING
 * ON_BASE. A place may turn round while ranks still do what it was before; what they report of that
 * does not count.
 */
SV_API void sv_five_subscriber_migrated(sv_five_subscriber *subscriber, uint64_t now);
SV_API void sv_five_subscriber_tick(sv_five_subscriber *subscriber, uint64_t now);
SV_API uint64_t sv_five_subscriber_due(const sv_five_subscriber *subscriber);
SV_API bool sv_five_subscriber_next(sv_five_subscriber *subscriber, sv_five_mail *mail);
SV_API sv_five_place sv_five_subscriber_place(const sv_five_subscriber *subscriber);

#ifdef __cplusplus
}
#endif
#endif
