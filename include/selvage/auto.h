/*
 * auto.h: engine "auto": tries the engines that fit a fabric, judges what they make, takes the
 * best and says why.
 */
#ifndef SELVAGE_AUTO_H
#define SELVAGE_AUTO_H

#include <selvage/metrics.h>
#include <selvage/routing.h>
#include <selvage/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sv_candidacy {
    SV_CANDIDATE_REFUSED,  /* the engine cannot do this fabric, or not what is asked: why says more
                            */
    SV_CANDIDATE_UNPROVEN, /* its tables do not hold: why says what is wrong */
    SV_CANDIDATE_PROVEN,
    SV_CANDIDATE_CHOSEN
} sv_candidacy;

/* An engine that was tried. */
typedef struct sv_candidate {
    const char *engine;
    sv_candidacy candidacy;
    char why[300]; /* refused, unproven or chosen: why; else what the chosen one does better */
    sv_route_report report; /* unless refused */
    sv_load load;           /* if proven */
    uint64_t busiest; /* what it is judged by: routes on the busiest channel, of all or, with a
                         job map, of those inside jobs */
} sv_candidate;

enum { SV_MAX_CANDIDATES = 24 };

typedef struct sv_selection {
    sv_candidate candidates[SV_MAX_CANDIDATES];
    uint32_t count, chosen;
} sv_selection;

/*
 * Routes a fabric with the best engine for it: those made for one kind of fabric, and weave, are
 * all tried within the VLs of the request; out are tables that, by sv_verify, do not join all
 * terminals of each component, have loops, or can deadlock under the kind of traffic. Of the rest
 * the least busy channel wins (one in fifty more counts as equal), then the fewest hops on average
 * (one in two hundred), then the fewest VLs that deadlock freedom takes, then the fewest SLs,
 * then who stands first in the table of engines.
 *
 * With a job map only routes inside jobs count, and sar is tried, too.
 *
 * request: as for sv_route, without options; roots, orders of hosts and jobs go to engines that
 * heed them. *routes: owned by the caller. *report, *selection: may be NULL. INFEASIBLE if no
 * engine's tables hold; the message tells weave's reason. Time: that of all engines and judgements.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_selection tried;
 * if (sv_topology_generate(ctx, "kary:k=4,n=2,hosts=4", &fabric) == SV_OK &&
 *     sv_route_auto(ctx, fabric, NULL, SV_TRAFFIC_MANAGED, &routes, NULL, &tried) == SV_OK)
 *     printf("%s\n", tried.candidates[tried.chosen].engine);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_route_auto(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_route_request *request, sv_traffic traffic,
                                           sv_routes **routes, sv_route_report *report,
                                           sv_selection *selection);

#ifdef __cplusplus
}
#endif
#endif
