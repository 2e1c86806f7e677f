/*
 * live.h: tables for a fabric that is running, sweep after sweep.
 *
 * A subnet manager looks at its fabric again and again. Each time this takes what it found and
 * comes to tables that are proven before anybody sees them: those that were there if nothing
 * changed, those that were there with as little changed as possible if something did, new ones if
 * that does not do, those of a simpler engine if the one that was asked for cannot. If nothing can
 * be proven, the last tables that were stay. The plugin for OpenSM is a thin layer around this;
 * nothing here knows of OpenSM.
 *
 * Tables are proven together with one multicast tree for each service level that groups use; every
 * group is a part of such a tree (multicast.h), so groups come and go without a new proof.
 */
#ifndef SELVAGE_LIVE_H
#define SELVAGE_LIVE_H

#include <selvage/experimental/multicast.h>
#include <selvage/experimental/repair.h>
#include <selvage/experimental/update.h>
#include <selvage/metrics.h>
#include <selvage/routing.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sv_live sv_live;

/* How switches come from the tables that they hold to new ones. */
typedef enum sv_live_update {
    SV_LIVE_AT_ONCE, /* all is handed over in the sweep that found it */
    SV_LIVE_FIVE,    /* in five phases (update.h): two addresses a terminal, base ones wait */
    SV_LIVE_STEPS    /* step by step (update.h), where all at once could do harm */
} sv_live_update;

typedef struct sv_live_options {
    const char *engine;     /* NULL: weave; "auto": sv_route_auto */
    sv_route_request route; /* what it is told; roots come from roots_path, no order of hosts */
    const char *roots_path; /* GUIDs of root switches, read in every sweep; NULL: none */
    const char *jobs_path; /* a job map, read in every sweep: what runs now. If that changed, all is
                              routed anew. No such file: nothing runs. NULL: jobs do not count */
    const char *pin_path;  /* tables to be used whenever they are valid; NULL: none */
    const char *state_path; /* an .svr file that keeps the last proven tables; NULL: none */
    sv_traffic traffic;     /* whose packets must be proven not to deadlock */
    uint64_t budget_ns;     /* that an engine may take, or a repair; 0: any */
    bool no_repair;         /* route everything anew after every change */
    bool careful;           /* no change that could deadlock for a moment if there is another way */
    unsigned drift_percent; /* the busiest channel of repaired tables may carry so much more than
                               that of those routed last before all is routed anew; 0: any */
    bool no_multicast;      /* no trees are wanted */
    sv_live_update update;  /* FIVE: route.lmc is 1, and engines get a VL less: the last one is
                               for high addresses, which go by updn */
} sv_live_options;

/* How tables came about. */
typedef enum sv_live_how {
    SV_LIVE_NOTHING,     /* there are none: nothing could be proven, or nothing was asked yet */
    SV_LIVE_SAME,        /* the fabric is as it was, and so are they */
    SV_LIVE_PINNED,      /* those of pin_path */
    SV_LIVE_RETURNED,    /* the fabric is again as it was when they were made */
    SV_LIVE_REPAIRED,    /* from those before */
    SV_LIVE_ROUTED,      /* anew, by the engine that was asked for */
    SV_LIVE_FELL_BACK,   /* anew, by another: the one that was asked for could not */
    SV_LIVE_REINSTALLED, /* the last ones that were proven, as far as the fabric still has them */
    SV_LIVE_COUNT
} sv_live_how;

/* What is known about going from the tables before to these. */
typedef enum sv_passage {
    SV_PASSAGE_UNJUDGED,  /* nobody knows what was there before */
    SV_PASSAGE_NONE,      /* nothing changes */
    SV_PASSAGE_ANY_ORDER, /* safe in any order of updates */
    SV_PASSAGE_STEPS,     /* safe step by step; all at once, packets can meet a loop on the way */
    SV_PASSAGE_LOSSY,     /* no deadlock; packets can circle or be dropped for a moment */
    SV_PASSAGE_QUIET,     /* safe if pairs whose SLs change are quiet meanwhile */
    SV_PASSAGE_UNSAFE,    /* could deadlock while both are in the switches */
    SV_PASSAGE_COUNT
} sv_passage;

typedef struct sv_live_report {
    sv_live_how how;
    char engine[32]; /* whose tables they are */
    bool proven;     /* no loop, no deadlock, multicast included; false only with NOTHING */
    bool whole;      /* everybody reaches everybody whom cables allow */
    uint64_t pairs, lost, split; /* of terminals: all, without a path, without cables for one */
    uint64_t lost_others;        /* pairs with switches that have no path though there are cables */
    unsigned vls;                /* in use */
    uint64_t dependencies;       /* that were followed for the proof */
    uint64_t efi;                /* the busiest channel carries so many routes */
    uint32_t jobs, jobs_terminals; /* of the job map, and terminals with a job */
    uint64_t jobs_efi;             /* the busiest channel carries so many routes inside jobs */
    double hops;                   /* on average */
    sv_passage passage;
    uint32_t steps;                   /* of SV_PASSAGE_STEPS and SV_PASSAGE_QUIET */
    uint64_t route_ns;                /* engines and repairs, those in vain included */
    uint64_t verify_ns;               /* trees and proofs */
    uint32_t parts_lost, parts_added; /* switches, adapters, cables since the sweep before */
    char fabric[256];  /* the same in words, with an example; empty: nothing, or the first sweep */
    char problem[512]; /* what went wrong on the way, or empty */
    char note[200];    /* what else is worth saying, or empty */
} sv_live_report;

enum {
    SV_LIVE_ANEW = 1,   /* route everything anew, whatever there is */
    SV_LIVE_UNKNOWN = 2 /* switches may hold anything: somebody else was in charge */
};

/*
 * Starts. host: as sv_ctx_new; options: copied, texts too. *live: owned by the caller
 * (sv_live_free). BAD_INPUT: no such engine, or it has no such option; IO: a file that is named
 * cannot be read; jobs_path with an engine that follows no jobs, or with pin_path: BAD_INPUT.
 * message gets why, in one line. Time: O(1), and reading what is to be read.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_live *live = NULL;
 * sv_live_report report;
 * char message[512];
 * const sv_live_options options = {.traffic = SV_TRAFFIC_MANAGED, .route = {.seed = 1}};
 * if (sv_live_new(NULL, &options, &live, message, sizeof message) == SV_OK &&
 *     sv_topology_generate(ctx, "torus:4x4,hosts=1", &fabric) == SV_OK &&
 *     sv_live_sweep(live, fabric, 0, &report) == SV_OK)
 *     printf("%s\n", report.proven && report.whole ? "proven" : "not proven");
 * sv_live_free(live);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_live_new(const sv_host *host, const sv_live_options *options,
                                         sv_live **live, char *message, size_t size);
SV_API void sv_live_free(sv_live *live);

/*
 * Takes a fabric as it was found, which belongs to live from now on however this ends, and comes to
 * tables for it. Terminals keep the LIDs of the fabric. flags: SV_LIVE_ANEW, SV_LIVE_UNKNOWN.
 *
 * SV_OK: sv_live_routes are proven for sv_live_fabric, which is this fabric. Anything else: they
 * are what they were; the message is in report->problem. Time: as routing and verifying.
 */
SV_API SV_MUST_USE sv_status sv_live_sweep(sv_live *live, sv_fabric *fabric, unsigned flags,
                                           sv_live_report *report);

/* As sv_ctx_set_threads. */
SV_API void sv_live_set_threads(sv_live *live, unsigned threads);

/*
 * The fabric and tables of the last sweep that went well, valid until the next; or NULL. What is
 * cloned from them must be freed before live is.
 */
SV_API const sv_fabric *sv_live_fabric(const sv_live *live);
SV_API const sv_routes *sv_live_routes(const sv_live *live);

/* ---- tables that are held back ---- */

/*
 * What switches are to hold now may differ from what sv_live_sweep came to: the way from the one to
 * the other is a queue of tables, one to be handed over at a time, with a gate before each. A sweep
 * that comes to other tables makes a new queue, from what is held now to those.
 *
 * With SV_LIVE_FIVE: tables with old base entries and new high ones, which nobody is on; then, once
 * everybody has left base addresses, the new ones. With SV_LIVE_STEPS: those of each step; the
 * first at once, each of the others when switches have confirmed the one before.
 */
typedef enum sv_live_gate {
    SV_LIVE_GATE_NONE,      /* nothing is held back: switches are to hold sv_live_routes */
    SV_LIVE_GATE_OPEN,      /* the next tables may be handed over at once */
    SV_LIVE_GATE_CONFIRMED, /* when switches have confirmed those before (for orders of updates) */
    SV_LIVE_GATE_LEFT       /* when everybody who subscribed has left base addresses */
} sv_live_gate;

SV_API sv_live_gate sv_live_next(const sv_live *live);

/* Goes through the gate: sv_live_held are the next tables from now on. Anything but SV_OK: they are
 * what they were. Time: linear in destinations. */
SV_API SV_MUST_USE sv_status sv_live_pass(sv_live *live);

/* Tables that switches are to hold now, for sv_live_fabric; valid until the next sweep or
 * sv_live_pass; or NULL. */
SV_API const sv_routes *sv_live_held(const sv_live *live);

/* With SV_LIVE_STEPS: how many steps of how many were passed (0 of 0: nothing is held back), and
 * whether packets that are under way must have left before the next. */
SV_API void sv_live_steps(const sv_live *live, uint32_t *done, uint32_t *count, bool *settle);

/* Whether those have lost paths that sv_live_routes has: something failed. With SV_LIVE_FIVE those
 * to base addresses count. */
SV_API bool sv_live_broken(const sv_live *live);

/*
 * Whether those are proven, but for paths that they lost: no loop and no deadlock, together with
 * the trees that sv_live_group goes by meanwhile (those of before where they still join everybody).
 */
SV_API bool sv_live_held_proven(const sv_live *live);

/* ---- five phases around sweeps ---- */

/*
 * Who keeps the gate of SV_LIVE_FIVE: when tables wait for it, subscribers are asked to leave base
 * addresses; when they have, a sweep is wanted, which hands the tables over; when switches have
 * confirmed them, subscribers are asked to come back. What comes from subscribers, and goes to
 * them, is between the caller and the manager (update.h).
 *
 * If an update is called off, tables stay, and the next sweep tries again; unless something failed:
 * entries that are broken anyway change all the same (forced).
 */
typedef struct sv_live_phases sv_live_phases;

/*
 * options: copied; now: the time. Whoever subscribed to an earlier manager is not known yet, so
 * nothing is begun for the length of a lease. *phases: owned by the caller. BAD_INPUT: options that
 * are wrong.
 */
SV_API SV_MUST_USE sv_status sv_live_phases_new(sv_ctx *ctx, const sv_five_options *options,
                                                uint64_t now, sv_live_phases **phases);
SV_API void sv_live_phases_free(sv_live_phases *phases);
SV_API sv_five_manager *sv_live_phases_manager(sv_live_phases *phases);

/* In a sweep, after sv_live_sweep: goes through the gates that are open. Then sv_live_held is to be
 * handed over. Anything but SV_OK: there is no memory. Time: as sv_live_pass. */
SV_API SV_MUST_USE sv_status sv_live_phases_choose(sv_live_phases *phases, sv_live *live,
                                                   uint64_t now);

/* All switches have confirmed what was handed over in the last sweep. */
SV_API void sv_live_phases_confirmed(sv_live_phases *phases, uint64_t now);

/* Whether a sweep is wanted, which would hand something over. To be asked after whatever happened.
 */
SV_API bool sv_live_phases_wants_sweep(sv_live_phases *phases, uint64_t now);

/* What happened since this was asked last; false: nothing. */
typedef struct sv_live_news {
    sv_five_phase from, to;
    sv_five_count count;
    uint32_t called_off, expelled; /* since then */
    bool forced; /* called off, but entries are broken: they change all the same */
} sv_live_news;
SV_API bool sv_live_phases_news(sv_live_phases *phases, sv_live_news *news);

/* Whether tables of the last sweep were handed over because everybody had left. */
SV_API bool sv_live_phases_left(const sv_live_phases *phases);

/*
 * The ports of a multicast group with a service level: ports[num_switches] bits, as sv_mtree_prune.
 * A service level that no group had before gets a tree of its own, proven together with the rest;
 * INFEASIBLE if there is none (message as sv_live_message). Time: linear; for a new SL as
 * sv_verify.
 */
SV_API SV_MUST_USE sv_status sv_live_group(sv_live *live, unsigned sl, const sv_node *members,
                                           size_t count, uint64_t (*ports)[4]);

/* Why the last call failed. */
SV_API const char *sv_live_message(const sv_live *live);

/* "repaired", "safe in any order" and so on. Time: O(1). */
SV_API const char *sv_live_how_name(sv_live_how how);
SV_API const char *sv_passage_name(sv_passage passage);

/* ---- for those who watch ---- */

/* What a status file tells. */
typedef struct sv_live_status {
    sv_live_report last; /* of the tables in use */
    const char *version; /* of the program around this, or NULL */
    bool active;         /* the tables in the switches are ours; false: last says nothing of them */
    char inactive[160];  /* why they are not; empty: they are */
    bool dry_run;
    int64_t heartbeat;                  /* when the program around this said last that it runs */
    unsigned heartbeat_seconds;         /* how often it does; 0: only when something happens */
    uint64_t sweeps, changes, failures; /* sweeps; those that changed tables; those in vain */
    uint64_t entries, blocks;           /* LFT entries and blocks of 64 that the last change sent */
    uint64_t groups;                    /* multicast groups with a tree */
    uint32_t switches, terminals;
    double seconds;          /* that the last sweep took here, import and hand-over included */
    int64_t unix_time;       /* of the last sweep */
    char last_fault[256];    /* what the fabric lost last; empty: nothing yet */
    int64_t last_fault_time; /* 0: never */
    char last_problem[512];  /* what went wrong here last; empty: nothing yet */
    int64_t last_problem_time;
    uint32_t step,
        steps;         /* of an update: so many of so many were handed over; 0 of 0: it is done */
    const char *phase; /* of five: "idle", "leave", "program", "return"; NULL: not in use */
    uint32_t subscribers, updates, called_off, expelled;
} sv_live_status;

/* Replaces a file at once by the status as JSON, or as Prometheus' text format. */
SV_API SV_MUST_USE sv_status sv_live_write_json(sv_ctx *ctx, const sv_live_status *status,
                                                const char *path);
SV_API SV_MUST_USE sv_status sv_live_write_prometheus(sv_ctx *ctx, const sv_live_status *status,
                                                      const char *path);

#ifdef __cplusplus
}
#endif
#endif
