/* live.h: the inside of the room: what is kept between sweeps, and what a sweep works on. */
#ifndef SV_LIVE_LIVE_H
#define SV_LIVE_LIVE_H

#include <selvage/experimental/live.h>
#include <selvage/experimental/update.h>

#include "base/arena.h"
#include "base/array.h"

/* Which jobs tables were routed for (jobs.c). */
typedef struct sv__jobs_key {
    uint64_t digest;     /* 0: none; 1: nobody knows */
    uint32_t unknown;    /* lines whose node was not there */
    uint64_t missing[4]; /* and which nodes, as sv_jobmap.missing */
} sv__jobs_key;

typedef SV_ARRAY(char) sv__text;

/* Tables and what they are for. */
typedef struct sv__set {
    sv_fabric *fabric;
    sv_routes *routes;
    sv__jobs_key jobs;
} sv__set;

/* Tables that might do. */
typedef struct sv__live_candidate {
    sv_routes *routes;
    sv_routes *whole;                 /* with a group for each tree: what is verified */
    sv_mtree *trees[SV_HARDWARE_SLS]; /* by SL, or NULL */
    sv_verification *found;
    sv_live_how how;
    const char *engine;
    sv__jobs_key jobs;
    sv_passage passage; /* as far as a repair told */
    bool stepwise;      /* switches get it step by step, and that is safe */
    uint32_t steps;
    unsigned own_vl; /* of the first tree alone; 0: it shares one */
    bool safe, whole_reach;
    uint64_t lost, lost_others;
    sv_load load;
} sv__live_candidate;

/* What is held back, and how far it has come (stages.c). */
typedef struct sv__stages {
    sv_routes *held; /* of the fabric of now; NULL: the tables of now */
    uint32_t done, count;
    bool broken;
    sv_update *plan;                  /* of SV_LIVE_STEPS; else NULL */
    sv_routes *from;                  /* what was held when it was made */
    uint16_t fits;                    /* a bit for each SL whose tree its steps are safe with */
    bool proven;                      /* what is held, together with */
    sv_mtree *trees[SV_HARDWARE_SLS]; /* the trees that go with it */
} sv__stages;

struct sv_live {
    sv_ctx *outer;  /* what live itself is made with */
    sv_ctx *ctx;    /* of all work, with a clock that can run out */
    sv_host host;   /* the caller's */
    sv_arena arena; /* texts of the options */
    sv_live_options options;
    uint64_t deadline_ns; /* 0: none */
    uint64_t budget_ns;   /* that it comes from */
    uint64_t engine_ns;   /* that an engine took last */
    bool overran;

    sv__set now;  /* proven; routes NULL: there are none */
    sv__set home; /* to go back to when the fabric is as it was */
    bool mended;  /* those of now are repaired ones */
    sv__set kept; /* of the state file: not proven yet */
    sv__set pin;
    sv__live_candidate used; /* how those of now were judged; its routes are now's */
    sv_live_report report;
    uint64_t routed_efi; /* the busiest channel of the last tables that were not repaired ones */
    bool no_room;        /* some tables of this sweep were fine but for multicast */
    unsigned offered;    /* VLs that links had when the tables of now were made */
    unsigned shared;     /* repairs in a row, whose tables share rows with those before */
    sv__text jobs_text;  /* the last job map that could be read */
    sv_jobmap *jobs;     /* the same for the fabric of this sweep; NULL: none, or not in a sweep */
    sv__jobs_key jobs_key; /* of this sweep */
    bool jobs_seen;        /* jobs_text is a map that was read, if only an empty one */
    bool excusing;         /* a map is not followed, to be careful: */
    uint64_t excused;      /* that with this digest */
    uint16_t group_sls;    /* a bit for each SL that multicast groups have */
    sv__stages stages;
};

/* ---- live.c ---- */

/*
 * Proven tables, for the next start: those of now, or, with SV_LIVE_FIVE, what is held. Not to have
 * them is no reason to stop.
 */
void sv__live_save(sv_live *live);

/* ---- judge.c ---- */

/*
 * Gives a candidate its trees, and verifies it. What is wrong with it goes into text (of size
 * bytes). Anything but SV_OK: it could not be judged.
 */
sv_status sv__live_judge(sv_live *live, const sv_fabric *fabric, sv__live_candidate *c, char *text,
                         size_t size);

/* The same again, with one more tree: the candidate changes only if that is proven, too. */
sv_status sv__live_add_tree(sv_live *live, unsigned sl);

/* Proves a candidate once more, with the trees that it has; INFEASIBLE if that fails now. */
sv_status sv__live_verify_again(sv_live *live, const sv_fabric *fabric, sv__live_candidate *c);

/* Tables without orders get those that the proof came by. */
sv_status sv__live_keep_orders(sv_live *live, const sv_fabric *fabric, sv__live_candidate *c);

void sv__live_candidate_release(sv__live_candidate *c);

/* ---- two.c ---- */

/* VLs that engines may use on a fabric (0: what there is), and the LMC of their tables. */
unsigned sv__live_engine_vls(const sv_live *live, const sv_fabric *f);
unsigned sv__live_engine_lmc(const sv_live *live);

/* With SV_LIVE_FIVE: a candidate that was judged gets its second set, and is verified again. */
sv_status sv__live_add_set(sv_live *live, const sv_fabric *f, sv__live_candidate *c);

/* Whether tables have two sets, apart from each other. */
bool sv__live_has_sets(const sv_live *live, const sv_fabric *f, const sv_routes *r);

/* The base set of tables with two. */
sv_status sv__live_base_set(sv_live *live, const sv__set *from, sv_routes **base);

/* ---- stages.c ---- */

/* A new queue, from what switches hold to a candidate; it is in use once it is adopted. */
sv_status sv__live_aim(sv_live *live, const sv_fabric *f, unsigned flags,
                       const sv__live_candidate *c, sv__stages *stages);
void sv__live_stages_release(sv__stages *stages);
/* Whether switches hold entries (those for high addresses, too?) that lead nowhere now, and need
 * not. */
bool sv__live_has_lost(const sv_fabric *f, const sv_routes *held, const sv_routes *next, bool high);

/* ---- steps.c ---- */

/*
 * With SV_LIVE_STEPS, where all at once could do harm: a queue of steps, from what switches hold to
 * a candidate; which becomes, if nothing is broken, as much of itself as can be reached so. *stages
 * stays empty if there is none.
 */
sv_status sv__live_find_steps(sv_live *live, const sv_fabric *f, unsigned flags,
                              sv__live_candidate *c, sv__stages *stages);

/* The tree that goes with what is held; INFEASIBLE if there is none. Something must be held. */
sv_status sv__live_held_tree(sv_live *live, unsigned sl, const sv_mtree **tree);

/* ---- jobs.c ---- */

/* Reads the job map for a fabric, at the beginning of a sweep; and forgets it at the end. */
sv_status sv__live_read_jobs(sv_live *live, const sv_fabric *f);
void sv__live_drop_jobs(sv_live *live);

/* Whether tables were routed for the jobs of this sweep. */
bool sv__live_jobs_fit(const sv_live *live, const sv__set *set);

/* What engines are told: the map, or NULL if nothing runs; and what tables are for then. */
const sv_jobmap *sv__live_jobs(const sv_live *live);
sv__jobs_key sv__live_told(const sv_live *live);

/* What tables do for the jobs, into the report. */
sv_status sv__live_count_jobs(sv_live *live, const sv_fabric *f, const sv_routes *r,
                              sv_live_report *report);

/* The key of the state file's tables, in a file beside it: "nobody knows" while they are written.
 */
sv_status sv__live_save_key(sv_live *live, bool before);
sv_status sv__live_load_key(sv_live *live);

/* ---- passage.c ---- */

/*
 * What became of the fabric since the tables of now. *unknown: it is not known what switches hold,
 * because some are new, or LIDs are other nodes' than before.
 */
sv_status sv__live_compare(sv_live *live, const sv_fabric *f, sv_live_report *report,
                           bool *unknown);

/* What going from the tables before to a candidate does, unless a repair has told already. */
sv_status sv__live_passage(sv_live *live, const sv_fabric *f, unsigned flags,
                           sv__live_candidate *c);

/* ---- second.c ---- */

/* With careful, a change of jobs alone is not worth the risk: *stay, with a note in the report. */
void sv__live_shun(sv_live *live, const sv_fabric *f, unsigned flags, const sv__live_candidate *c,
                   bool *stay, sv_live_report *report);

/* Thinks over what was found: *best may become other tables. */
sv_status sv__live_reconsider(sv_live *live, const sv_fabric *f, unsigned flags,
                              sv__live_candidate *best, sv_live_report *report);

/* ---- ways.c ---- */

/*
 * The ways to tables, best first. Each makes c->routes (or leaves it NULL: not a way now) or fails,
 * with the message in the context.
 */
typedef sv_status sv__live_way(sv_live *live, const sv_fabric *fabric, sv__live_candidate *c);

sv__live_way sv__live_pinned, sv__live_returned, sv__live_kept, sv__live_repaired, sv__live_routed,
    sv__live_spared, sv__live_fell_back, sv__live_simplest, sv__live_reinstalled;

/* Goes one way (live.c); *best becomes what it leads to if that is better. */
sv_status sv__live_go(sv_live *live, const sv_fabric *f, sv__live_way *make, sv_live_how how,
                      sv__live_candidate *best, sv_live_report *report);

/* sv_route, or sv_route_auto for an engine of that name; *used: whose tables they are then. */
sv_status sv__live_route(sv_live *live, const sv_fabric *fabric, const char *engine,
                         const sv_route_request *request, const char **used, sv_routes **routes,
                         sv_route_report *report);

/* Whether two fabrics are the same: nodes, cables, LIDs, VLs. */
bool sv__live_same(const sv_fabric *a, const sv_fabric *b);

/* Tables get the LIDs of a fabric. */
void sv__live_take_lids(const sv_fabric *f, sv_routes *r);

/* VLs that every link between switches offers; 0 where links do not tell. */
unsigned sv__live_vls_offered(const sv_fabric *f);

/* Tables of one fabric in the numbers of another, with the LIDs of that. */
sv_status sv__live_carry(sv_ctx *ctx, const sv__set *from, const sv_fabric *to, sv_routes **result);

#endif
