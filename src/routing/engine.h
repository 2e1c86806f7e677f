/*
 * engine.h: how to add a routing engine: one file with an sv__engine, one line in registry.c, one
 * test.
 *
 * route fills job->routes, which come empty: one row a destination (sv_routes_row), SLs and VLs
 * where more than one is used. Scratch comes from job->arena, which the caller releases; there is
 * no clean-up to do. An engine that cannot do the fabric returns INFEASIBLE with a message that
 * says what it found and where; it never routes in some unsafe way instead.
 */
#ifndef SV_ROUTING_ENGINE_H
#define SV_ROUTING_ENGINE_H

#include <selvage/routing.h>

#include "cdg/core.h"
#include "routes/routes.h"

struct sv_layering;

typedef struct sv__routing_job {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv_fabric *fabric;
    const sv_route_request *request;
    unsigned vls; /* VLs that may be used: at least 1 */
    sv_routes *routes;
    sv_route_report *report;
} sv__routing_job;

typedef struct sv__engine {
    sv_engine_info about;
    sv_status (*route)(sv__routing_job *job);
    /* Options that do not go together; NULL: all do. Names and values were looked at before. */
    sv_status (*check)(sv_ctx *ctx, const sv_route_request *request);
} sv__engine;

extern const sv__engine sv__engine_minhop, sv__engine_sssp, sv__engine_updn, sv__engine_dnup,
    sv__engine_dor, sv__engine_dfsssp, sv__engine_lash, sv__engine_nue, sv__engine_weave;
extern const sv__engine sv__engine_sar;
extern const sv__engine sv__engine_ftree;
extern const sv__engine sv__engine_dmodk;
extern const sv__engine sv__engine_torus2qos;

extern const sv__engine sv__engine_dla, sv__engine_d3r, sv__engine_sssp_df, sv__engine_minhop_df;

/* Says what an engine made for one kind of fabric took this one for; words as for printf. */
void sv__found(sv__routing_job *job, const char *kind, const char *words, ...) SV_PRINTF(3, 4);

/* Adds a number to what was found, or a list of them (the first 16 count). */
void sv__fact(sv__routing_job *job, const char *name, uint32_t value);
void sv__fact_list(sv__routing_job *job, const char *name, const uint32_t *values, uint32_t count);

/* The value of an option ("first" of "break=first"), or NULL. */
const char *sv__job_option(const sv__routing_job *job, const char *name);
const char *sv__request_option(const sv_route_request *request, const char *name);

/*
 * Fills in what follows from the row of a terminal's switch: the port to the terminal itself.
 * Terminals that hang on no live switch have empty rows.
 */
sv_status sv__end_row(sv__routing_job *job, uint32_t destination, uint8_t **row, sv_node *home);

/* The switch that a destination is or hangs on; SV_NONE: none. */
static inline uint32_t sv__home_of(const sv__routing_job *job, uint32_t destination)
{
    sv_node to = job->routes->node[destination];
    return sv_is_switch(job->fabric, to) ? to.i : sv_switch_of(job->fabric, to).i;
}

/* Says in the report that some paths, between switches without terminals, fit no VL. */
void sv__note_unsafe(sv__routing_job *job, uint64_t paths);

/* VLs are assigned: places what is left, fills idle VLs, and tells about it in the report. */
sv_status sv__finish_vls(sv__routing_job *job, struct sv_layering *vls);

/* What lots for a destination depend on, besides the channel: itself and the seed. */
static inline uint32_t sv__lots(const sv__routing_job *job, uint32_t destination)
{
    return destination * 0x85ebca77u ^ (uint32_t)(job->request->seed * 0xc2b2ae3d27d4eb4fu >> 32);
}

enum { SV__LOT = 0xffff, SV__LOT_BITS = 16 };

/* 16 bits that look drawn by lot, always the same for the same channel, destination and seed. */
static inline uint32_t sv__lot(uint32_t entry, uint32_t lots)
{
    return (entry * 0x9e3779b1u ^ lots) * 0x2c1b3c6du >> 16;
}

/*
 * Routes are added to the weight of a channel. Its low bits are a lot, which decides between equals
 * and is drawn anew each time: so to compare ways is to compare weights, nothing else.
 */
static inline uint64_t sv__weigh(uint64_t weight, uint64_t routes, uint32_t entry, uint32_t lots)
{
    return ((weight >> SV__LOT_BITS) + routes) << SV__LOT_BITS | sv__lot(entry, lots);
}

/*
 * How many destinations are routed side by side, all with the weights of the batch's beginning: it
 * depends on the fabric only, so that tables do not depend on the number of threads.
 */
uint32_t sv__batch(const sv_fabric *fabric);

/*
 * The order in which destinations are routed (schedule.h). *count entries; from the job's arena;
 * NULL: no memory.
 */
uint32_t *sv__destinations(sv__routing_job *job, uint32_t batch, uint32_t *count);

#endif
