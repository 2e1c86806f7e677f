/*
 * adapt.h: policies for the simulator: who sends packets another way than the tables' when it is
 * crowded there. Oblivious ones, UGAL, and the family of distributed routing balancing (thesis of
 * Nunez Castillo, 2013).
 *
 * A spec string is "policy" or "policy:key=value,…" ("pr-drb:paths=4,high=2"). sv_adapt_at lists
 * policies and their keys. docs/adapt.md has all definitions.
 */
#ifndef SELVAGE_ADAPT_H
#define SELVAGE_ADAPT_H

#include <selvage/experimental/traces.h>
#include <selvage/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sv_adapt sv_adapt;

/* A key of a policy, what it means, what stands for it when it is not given, and whose choice that
 * is: the thesis', or ours. */
typedef struct sv_adapt_key {
    const char *name, *meaning, *otherwise;
    bool published;
} sv_adapt_key;

typedef struct sv_adapt_about {
    const char *name, *summary, *source;
    const sv_adapt_key *const *keys; /* ends with NULL */
    bool keeps;                      /* solutions: it takes and writes a store (predictive) */
} sv_adapt_about;

/* The policies; NULL beyond the last. Time: O(1). */
SV_API const sv_adapt_about *sv_adapt_at(size_t i);

/*
 * Whether a spec has a policy that there is, with keys that it has and values that they can take.
 * BAD_INPUT (sv_ctx_in_request) as sv_adapt_new. Time: linear in the spec.
 */
SV_API SV_MUST_USE sv_status sv_adapt_check(sv_ctx *ctx, const char *spec);

typedef struct sv_adapt_request {
    const char *spec;
    const sv_sim_model *model;
    uint64_t seed;
    unsigned max_vls;       /* that switches have; 0: as links offer, or tables use if more */
    const sv_source *store; /* solutions to begin with (pr-…), or NULL */
    bool unproven;          /* do not ask whether segments can deadlock: for experiments */
} sv_adapt_request;

/*
 * Makes a policy for tables of a fabric.
 *
 * Keeps fabric and routes. *VLs: how many VLs the model must have: segments × those of the
 * tables + adaptive ones. BAD_INPUT: a spec that is none. INFEASIBLE: more VLs than there are; or
 * packets that go by way of switches could deadlock with these tables (sv_verify is asked about all
 * pairs of nodes), with the reason. UNSUPPORTED: a store, but it keeps no solutions. *adapt: owned
 * by the caller, good for one run.
 *
 * Time: as sv_verify, and O(switches²) where ways are chosen.
 */
SV_API SV_MUST_USE sv_status sv_adapt_new(sv_ctx *ctx, const sv_fabric *fabric,
                                          const sv_routes *routes, const sv_adapt_request *request,
                                          sv_adapt **adapt, unsigned *vls);
SV_API void sv_adapt_free(sv_adapt *adapt);
/* For sv_sim_setup; valid as long as the policy is. */
SV_API const sv_sim_policy *sv_adapt_policy(const sv_adapt *adapt);

/* What a policy did. Zeroes where it has no such thing. */
typedef struct sv_adapt_report {
    uint64_t choices, detours;      /* ways that were chosen; those with vias */
    uint64_t acks, predictive_acks; /* control packets: of destinations, of routers */
    uint64_t notices;               /* that told of contending flows and came to a source */
    uint64_t opened, closed;        /* paths */
    uint64_t watchdogs;             /* that ran out */
    uint64_t foreseen;              /* times that the trend alone said high */
    uint64_t patterns;              /* different sets of contending flows: solutions kept */
    uint64_t seeded;                /* of those, from the store it began with */
    uint64_t repeated;              /* of those, which came again */
    uint64_t applied;               /* times that a solution was applied */
    uint64_t max_applied;           /* of one of them */
    uint64_t unasked;               /* of those times, before a message, nobody having told */
    uint64_t improved;              /* solutions that a better one replaced */
    uint64_t failed;                /* applied, and still high after that */
    uint32_t pairs;                 /* of terminals that ever had more than one path */
    uint32_t max_paths;             /* open at a time, of a pair */
    uint32_t segments;              /* of a way, at most: each has the VLs of the tables anew */
    uint32_t adaptive;              /* VLs besides, which all packets share */
    bool proven;                    /* sv_verify: packets that go by switches never deadlock */
} sv_adapt_report;

SV_API sv_adapt_report sv_adapt_end(const sv_adapt *adapt);

/* Of one switch: what was found there ("router" of the thesis). */
typedef struct sv_adapt_router {
    uint64_t notices, patterns, repeated, applied;
} sv_adapt_router;
/* [switches], or NULL where there is no such thing. */
SV_API const sv_adapt_router *sv_adapt_routers(const sv_adapt *adapt);

/* Writes the solutions that were found (docs/formats.md). UNSUPPORTED: it keeps none. */
SV_API SV_MUST_USE sv_status sv_adapt_store_write(sv_ctx *ctx, const sv_adapt *adapt,
                                                  const sv_sink *sink);

/*
 * Past the thesis (its 5.2): solutions worked out beforehand from a trace: for each relevant phase,
 * who contends where by these tables, and a set of paths for each of them that balances it. map:
 * terminals by rank. Written as a store. Time: phases × flows × paths.
 */
typedef struct sv_adapt_seed_request {
    const sv_sim_model *model;
    const sv_node *map; /* [ranks of the trace] */
    unsigned paths;     /* at most, of a pair; 0: 4 */
    unsigned flows;     /* at most, of a pattern; 0: as policies have it */
    uint64_t seed;
} sv_adapt_seed_request;
SV_API SV_MUST_USE sv_status sv_adapt_seed(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_routes *routes, const sv_mpi_trace *trace,
                                           const sv_adapt_seed_request *request,
                                           const sv_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
