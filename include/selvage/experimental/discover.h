/*
 * discover.h: a live fabric, and what is programmed into it now.
 *
 * In a library of its own, libselvage_discover.a, which takes libselvage.a, libibnetdisc, libibmad
 * and libibumad (pkg-config: selvage-discover), so that programs which only route (a plugin of the
 * subnet manager, say) need none of the three. That is also why selvage.h does not include it.
 */
#ifndef SELVAGE_DISCOVER_H
#define SELVAGE_DISCOVER_H

#include <selvage/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero everywhere gives the defaults. */
typedef struct sv_discover_options {
    const char *device;  /* an adapter of this host ("mlx5_0"); NULL: the first that is active */
    unsigned port;       /* its port; 0: the first that is active */
    unsigned timeout_ms; /* how long an answer may take; 0: 500 */
    unsigned tries;      /* how often a question is asked; 0: 3 */
    unsigned window;     /* questions on the wire at once, up to 1024; 0: 64 */
    bool fabric_only;    /* no tables */
    bool sls;            /* ask the subnet manager for the SL of every pair */
} sv_discover_options;

/* What it took, and what is missing. */
typedef struct sv_discovery {
    char device[64];           /* "mlx5_0 port 1" */
    uint64_t datagrams, again; /* sent for tables and paths, and of them not for the first time */
    uint64_t lft_blocks, sl2vl_tables, mft_blocks, paths; /* that were answered */
    uint64_t unanswered; /* questions without an answer: what they asked for is not known */
    uint32_t silent;     /* nodes that left one unanswered */
    double fabric_seconds, tables_seconds, path_seconds;
} sv_discovery;

/* Whether this build can discover. Time: O(1). */
SV_API bool sv_can_discover(void);

/*
 * Reads the fabric that a port of this host is cabled to: nodes and cables through libibnetdisc;
 * then, by directed routes, so that it works whatever is programmed, the forwarding tables of all
 * switches up to their highest LID, the SL-to-VL tables of all pairs of cabled ports and of all
 * adapters, and the multicast tables; then, if wanted, the SL of each pair of nodes from the subnet
 * manager, which takes a question for each.
 *
 * options: NULL for all defaults. *fabric, *routes: owned by the caller (sv_fabric_free,
 * sv_routes_free); routes NULL: as fabric_only. *found (may be NULL): set on success.
 * SLs that were not asked for are unknown (SV_SL_UNKNOWN). Terminals without a LID are left out,
 * with a warning. A node that does not answer is a warning, too, and counted; its entries are
 * missing, and if VLs of a switch are, sl2vl_known is false.
 *
 * IO: no device, no permission, or nobody answers; INFEASIBLE: switches without LIDs (no subnet
 * manager was there yet); UNSUPPORTED: not in this build.
 * Time: linear in what is asked, over the window; memory: linear in the results.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_discover_options options = {.window = 32};
 * if (sv_fabric_discover(ctx, &options, &fabric, &routes, NULL) != SV_OK)
 *     printf("%s\n", sv_ctx_message(ctx));
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_fabric_discover(sv_ctx *ctx, const sv_discover_options *options,
                                                sv_fabric **fabric, sv_routes **routes,
                                                sv_discovery *found);

#ifdef __cplusplus
}
#endif
#endif
