/*
 * routing.h: engines: they fill forwarding tables for a fabric.
 *
 * An engine is a line in a table: options, help, studies, reports and the plugin all come from it.
 * No engine vouches for its own tables: sv_verify does.
 */
#ifndef SELVAGE_ROUTING_H
#define SELVAGE_ROUTING_H

#include <selvage/jobmap.h>
#include <selvage/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sv_engine_trait {
    SV_ENGINE_ANY_TOPOLOGY = 1,  /* takes any fabric */
    SV_ENGINE_DEADLOCK_FREE = 2, /* its tables never have a cycle of dependencies */
    SV_ENGINE_MINIMAL = 4,       /* all paths are as short as can be */
    SV_ENGINE_VLS = 8,           /* uses more than one VL */
    SV_ENGINE_ROOTS = 16,        /* heeds a list of roots */
    SV_ENGINE_SL_MODES = 32,     /* has all of sv_sl_mode, not only the first */
    SV_ENGINE_ONE_SL = 64,       /* several VLs with one SL: fits all modes */
    SV_ENGINE_HOSTS = 128,       /* heeds an order of the terminals, and what they are for */
    SV_ENGINE_BY_PORTS = 256,    /* VLs go by ports, too: it may use more of them than SLs */
    SV_ENGINE_JOBS = 512         /* heeds a job map */
} sv_engine_trait;

/* What the service level of a packet may depend on. */
typedef enum sv_sl_mode {
    SV_SLS_PAIR,        /* source and destination */
    SV_SLS_REVERSIBLE,  /* the same, and it is one in both directions, as connections have it */
    SV_SLS_DESTINATION, /* the destination alone */
    SV_SLS_ONE,         /* nothing: one for all; VLs may still differ, by the ports of a switch */
    SV_SLS_COUNT
} sv_sl_mode;

/* The mode that tables keep to. Time: quadratic in the switches. */
SV_API sv_sl_mode sv_routes_sl_mode(const sv_fabric *fabric, const sv_routes *routes);

typedef struct sv_engine_option {
    const char *name, *values, *help; /* values: "N", "1-9", "weakest|strongest|first" … */
} sv_engine_option;

typedef struct sv_engine_info {
    const char *name, *summary, *source;
    unsigned traits;                 /* sv_engine_trait bits */
    const sv_engine_option *options; /* ends with a NULL name; NULL: none */
} sv_engine_info;

/* The engines, in the order of the manual; NULL beyond the last. Time: O(1). */
SV_API const sv_engine_info *sv_engine_at(size_t i);

typedef struct sv_route_request {
    unsigned vls;         /* VLs that may be used; 0: as many as every link offers (8 if unknown) */
    unsigned lmc;         /* 0 … 7 */
    unsigned sl_offset;   /* added to every SL: a QoS level of its own */
    sv_sl_mode sl_mode;   /* engines that use one VL, and one SL, meet all of them */
    const sv_node *roots; /* of engines that heed them; NULL: found by themselves */
    size_t num_roots;
    const sv_node *hosts; /* terminals in the order they are to be routed, the rest after them; of
                             engines that heed it; NULL: as the engine finds best */
    size_t num_hosts;
    const sv_jobmap *jobs; /* balance routes inside these jobs first (thesis Alg. 5.1); of engines
                              that heed it; NULL: all routes count the same */
    uint64_t seed;
    const char *const *options; /* "name=value" */
    size_t num_options;
} sv_route_request;

enum { SV_MAX_FACTS = 8, SV_MAX_FACT_VALUES = 16 };

/* Something counted of a structure: "groups" 9, or "size" 4, 4, 3. */
typedef struct sv_structure_fact {
    const char *name;
    uint32_t values[SV_MAX_FACT_VALUES], count;
    bool list; /* several values, even if it has one */
} sv_structure_fact;

/* What a fabric looks like to an engine that is made for one kind. */
typedef struct sv_structure {
    const char *kind; /* "fat tree", "torus", "mesh", "dragonfly", "low diameter"; NULL: the engine
                         did not look */
    char words[200];  /* the same for people: "9 groups of 4 switches, each pair 1 cable" */
    sv_structure_fact facts[SV_MAX_FACTS];
    uint32_t num_facts;
} sv_structure;

typedef struct sv_route_report {
    unsigned vls_needed;  /* VLs with which it could do */
    unsigned vls_used;    /* the highest VL that tables have, and one */
    unsigned sls_used;    /* the same for SLs, before the offset */
    uint64_t fallbacks;   /* destinations that had to be routed in some lesser way */
    uint64_t nanoseconds; /* of the engine alone */
    uint32_t components;  /* that the fabric falls into (with terminals) */
    bool no_lids;         /* there are more destinations than LIDs */
    sv_structure structure;
    char note[200]; /* what else is worth saying, or empty */
} sv_route_report;

/*
 * Whether there is such an engine, with these options, and what else the request asks of it, for
 * callers that want to know before they have a fabric: roots, hosts and jobs are not looked at,
 * only whether there are any. request: NULL is fine. BAD_INPUT (sv_ctx_in_request) as sv_route.
 * Time: O(options).
 */
SV_API SV_MUST_USE sv_status sv_route_check(sv_ctx *ctx, const char *engine,
                                            const sv_route_request *request);

/*
 * Routes a fabric.
 *
 * request: NULL for all defaults. *routes: owned by the caller (sv_routes_free), with LIDs unless
 * the fabric is too large for them. *report may be NULL. BAD_INPUT: no such engine or option;
 * INFEASIBLE: this engine cannot do this fabric, and the message says what it found and where. A
 * fabric in several components is routed in each of them.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * if (sv_topology_generate(ctx, "kary:k=4,n=2,hosts=4", &fabric) == SV_OK &&
 *     sv_route(ctx, fabric, "sssp", NULL, &routes, NULL) == SV_OK)
 *     printf("%u rows\n", routes->num_destinations);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_route(sv_ctx *ctx, const sv_fabric *fabric, const char *engine,
                                      const sv_route_request *request, sv_routes **routes,
                                      sv_route_report *report);

/* VLs that every live link between switches offers; 8 where links do not tell. Time: linear. */
SV_API unsigned sv_vls_offered(const sv_fabric *fabric);

#ifdef __cplusplus
}
#endif
#endif
