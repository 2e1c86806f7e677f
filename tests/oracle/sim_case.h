/*
 * sim_case.h: random cases for the fast and the slow simulator: a small fabric, tables, a model and
 * messages; and what somebody changes while they run (sim_changes.c).
 */
#ifndef TESTS_ORACLE_SIM_CASE_H
#define TESTS_ORACLE_SIM_CASE_H

#include <selvage/experimental.h>
#include <selvage/selvage.h>

#include "sim_oracle.h"

typedef struct sim_message {
    uint64_t ready;
    uint32_t from, number; /* number: before it was sorted */
    uint32_t destination, bytes;
} sim_message;

/* From a tick on a node has a part of one of the two tables. */
typedef struct sim_change {
    uint64_t tick;
    uint32_t node, block; /* SIM_VLS: its VLs */
    uint8_t with;         /* of sim_case.tables */
} sim_change;

#define SIM_VLS UINT32_MAX

enum { SIM_GRAIN = 64 * 450 }; /* ticks: a block at 4X QDR */

typedef struct sim_wake {
    uint64_t tick;
    uint32_t terminal;
} sim_wake;

/* What a terminal is told when it opens messages. SV_NEVER: never. */
typedef struct sim_habit {
    uint64_t silent_from, silent_until; /* it opens nothing */
    uint64_t address_from;              /* messages go to another address of where they go */
    uint64_t sl_from;                   /* they get an SL of its own */
    uint8_t sl;
} sim_habit;

typedef struct sim_case {
    sv_ctx *ctx;
    sv_fabric *f, *whole; /* whole: f was masked from it, or NULL */
    sv_routes *r;         /* at the beginning; one of tables where they change */
    sv_sim_model model;
    uint64_t limit;
    sim_message *messages; /* by terminal, then in order */
    uint32_t num_messages;
    bool reluctant; /* the source tells messages as late as can be */

    bool changing; /* there is a director, and what follows */
    sv_routes *tables[2];
    sim_change *changes; /* by tick; of one tick and place the last holds */
    sim_wake *wakes;     /* by tick */
    sim_habit *habits;   /* [terminals] */
    uint32_t num_changes, num_wakes;
    bool snap;    /* some changes are to come at ticks at which packets move */
    bool asks;    /* the director wants to know of messages that are opened */
    bool patient; /* nobody looks for deadlocks while the director has something to do */
    bool calls;   /* the director is called by sv_sim_call, not by *again */

    bool choosing; /* there is a policy; what it says is sim_policy.c's */
    unsigned segments, adaptive;
    uint32_t policy_bytes, table_vls; /* its header's; L of rule 25 */
} sim_case;

/* The case of a seed, always the same; to be released. */
sim_case sim_case_draw(sv_ctx *ctx, uint64_t seed, bool changing);
/* One for a policy: VLs for segments, and adaptive ones; all nodes send to all. */
sim_case sim_case_draw_choosing(sv_ctx *ctx, uint64_t seed);
void sim_case_release(sim_case *c);

/* Its model and limit in the oracle's terms (sim_terms.c); and its ports and cables, which are to
 * be freed. */
oracle_params sim_case_params(const sim_case *c);
oracle_cable *sim_case_cables(const sim_case *c, uint32_t *ports, uint32_t *count);

/* ---- what changes (sim_changes.c) ---- */

struct sv_rng;

/* Any SL for each pair, any VL for each SL and pair of ports; of switches, one in discards SLs
 * has none (0: all have). */
void sim_vls_draw(const sim_case *c, sv_routes *r, struct sv_rng *rng, uint32_t discards);
/* The second tables, changes, habits. grain: ticks are multiples of it. */
void sim_changes_draw(sim_case *c, struct sv_rng *rng, uint64_t grain);
/* Moves some changes, and what terminals do, to the next of these ticks, or a tick before or after.
 */
void sim_changes_snap(sim_case *c, uint64_t seed, uint64_t *ticks, uint32_t count);
/* Nothing of it happens at a tick or later; who is silent by then stays so. */
void sim_changes_cut(sim_case *c, uint64_t tick);

/* What switches do with packets that are sent to them at a tick: ARRIVED: there is a way. */
sv_trace_end sim_way_at(const sim_case *c, uint32_t destination, unsigned sl, sv_node s,
                        unsigned in, uint64_t now, unsigned *out, uint8_t *vl);
/* The VL of an SL at a terminal. */
uint8_t sim_vl_at(const sim_case *c, uint32_t terminal, unsigned sl, uint64_t now);
/* Whether a terminal opens a message at a tick, and what the director says then. */
bool sim_open_at(const sim_case *c, uint32_t terminal, uint64_t now, uint32_t *destination,
                 uint8_t *sl);

#endif
