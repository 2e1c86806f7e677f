/*
 * repair.h: tables for a fabric in which something failed or came back, from those that were there:
 * as few entries as possible change, and it is said how to bring them into the switches.
 *
 * Where old tables come with orders (routes.h), or have some, only destinations whose paths are
 * broken change, and all new paths keep to the same orders: so old and new paths together cannot
 * deadlock. What remains to be asked is what a packet meets that finds old entries at some switches
 * and new ones at others, and that is told, too.
 */
#ifndef SELVAGE_REPAIR_H
#define SELVAGE_REPAIR_H

#include <selvage/routing.h>
#include <selvage/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sv_repair_request {
    const char *engine;            /* that routes everything anew if there is no other way */
    const sv_route_request *route; /* what it is told; NULL: all defaults. LMC stays as it was */
    sv_traffic traffic;            /* whose packets must not deadlock */
    bool proven; /* the caller knows that old tables keep to their orders and join everybody */
    bool full;   /* route everything anew in any case */
} sv_repair_request;

/* How new entries may be brought into the switches. */
typedef enum sv_safety {
    SV_SAFE_UNJUDGED, /* nobody has looked */
    SV_SAFE_ANYHOW,   /* in any order */
    SV_SAFE_STEPS,    /* step by step: in any order within a step */
    SV_SAFE_QUIET, /* so, if the pairs listed, whose SLs change, send nothing until all is done */
    SV_SAFE_NEVER  /* so, but pairs are listed whose SLs stay, too: no steps were found for them */
} sv_safety;

/* An entry that changes: of a switch for a destination, which is in a block of 64 LIDs. */
typedef struct sv_repair_entry {
    sv_node s;
    uint32_t destination, block, step; /* step: from 0 on */
} sv_repair_entry;

/* Who must ask for its path (and SL) again. A switch stands for its terminals, too. */
typedef struct sv_repath {
    sv_node from;
    uint32_t destination;
} sv_repath;

typedef struct sv_repair_report {
    sv_routes *before; /* the old tables in the numbers of the fabric; owned by the report */
    bool full;         /* the engine routed everything anew */
    char why[200];     /* then why; else empty */
    bool orders_found; /* old tables had no orders, or wrong ones: some were found */

    uint64_t reordered;    /* destinations for which orders had to be changed */
    uint64_t destinations; /* whose entries or SLs changed */
    uint64_t entries;      /* of live switches */
    uint64_t blocks;       /* of 64 LIDs */
    uint64_t writes;       /* of such blocks: one that changes in several steps counts for each */
    uint64_t sls;          /* pairs of a switch (or node) and a destination whose SL changed */
    uint64_t new_lids;     /* destinations that got a LID */

    sv_safety safety;
    uint32_t steps;         /* 1 where any order will do */
    sv_repair_entry *entry; /* [listed], by step, block and switch */
    uint64_t listed;  /* entries, or 0 where everything was routed anew and they are too many */
    sv_repath *pairs; /* [num_pairs]; NULL: more than 16 million are not listed */
    uint64_t num_pairs;
    sv_ascent followed; /* of all that changed; all zero if the engine routed everything anew */
    uint64_t lost;      /* pairs of terminals, to what was followed, that have no path now */

    uint64_t prove_ns;  /* orders of old tables: looked for, and all paths held against them */
    uint64_t repair_ns; /* new tables */
    uint64_t verify_ns; /* these and all mixtures followed, updates put in order */
    sv_pool *store;
} sv_repair_report;

/*
 * Repairs tables.
 *
 * old_fabric and old_routes: as they were; fabric: as it is now, numbered in any way (nodes are
 * matched by GUID). Nodes keep their LIDs; new ones get LIDs that nobody had. Multicast groups are
 * not carried over. *routes: owned by the caller (sv_routes_free), with orders where there are any.
 * *report: owned by the caller (sv_repair_report_free); report may be NULL. INFEASIBLE, BAD_INPUT:
 * as sv_route.
 *
 * Time: proving O(switches × destinations); the rest O(switches) for each destination that is
 * touched, if nothing but cables failed; else again O(switches × destinations).
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *whole = NULL, *broken = NULL;
 * sv_routes *old = NULL, *routes = NULL;
 * sv_repair_report *report = NULL;
 * const sv_repair_request request = {.engine = "weave", .traffic = SV_TRAFFIC_MANAGED};
 * if (sv_topology_generate(ctx, "torus:4x4,hosts=1", &whole) == SV_OK &&
 *     sv_route(ctx, whole, "weave", NULL, &old, NULL) == SV_OK) {
 *     sv_mask *mask = sv_mask_new(ctx, whole);
 *     sv_mask_cable(mask, whole, whole->hops[0].channel);
 *     if (sv_fabric_mask(ctx, whole, mask, &broken) == SV_OK &&
 *         sv_repair(ctx, whole, old, broken, &request, &routes, &report) == SV_OK)
 *         printf("%s\n", report->lost == 0 ? "all paths mended" : "paths lost");
 *     sv_mask_free(mask);
 * }
 * sv_repair_report_free(report);
 * sv_routes_free(routes);
 * sv_routes_free(old);
 * sv_fabric_free(broken);
 * sv_fabric_free(whole);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_repair(sv_ctx *ctx, const sv_fabric *old_fabric,
                                       const sv_routes *old_routes, const sv_fabric *fabric,
                                       const sv_repair_request *request, sv_routes **routes,
                                       sv_repair_report **report);
SV_API void sv_repair_report_free(sv_repair_report *report);

#ifdef __cplusplus
}
#endif
#endif
