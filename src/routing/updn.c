/*
 * updn.c: engines updn and dnup: up first, then down (thesis 3.3.4).
 *
 * Switches are put in an order (orient.c); a hop to an earlier one goes up, to a later one down. No
 * packet goes up after it has gone down. So along any chain of dependencies channels first climb
 * and then descend, and none can come back to where it began: no deadlock, with one VL, on any
 * fabric.
 *
 * A switch has one entry a destination, for packets from above and below alike. So a switch from
 * which the destination can be reached by going down only must go down, even if there is a shorter
 * way up; all others go up to the neighbour from where it is nearest. Among equals the least
 * weight decides, as in sssp.
 *
 * dnup differs in where ranks come from: the distance from the leaves instead of that from the
 * roots, which suits trees with terminals on several levels.
 *
 * Cost: O(channels) a destination; finding roots O(switches × channels).
 */
#include <stdio.h>

#include "routing/orient.h"
#include "routing/sssp.h"

struct updn {
    sv__sssp x;
    sv__updn ways;
};

static uint32_t search(void *engine, uint32_t home, uint32_t *order, uint32_t *hops, bool *down)
{
    const struct updn *u = engine;
    return sv__updn_search(&u->ways, home, order, hops, down, NULL);
}

static bool allow(void *engine, const bool *down, uint32_t from, uint32_t to)
{
    const struct updn *u = engine;
    return sv__updn_allows(u->ways.place, down, from, to);
}

sv_status sv__updn_along(sv__routing_job *job, const uint32_t *place)
{
    struct updn u = {0};
    SV_TRY(sv__sssp_init(&u.x, job, &u, search, allow));
    SV_TRY(sv__updn_init(&u.ways, job, &u.x.core, place));
    return sv__sssp_run(&u.x);
}

static sv_status route(sv__routing_job *job, sv__ranking ranking)
{
    sv_core core;
    uint32_t roots, *place = SV_ARENA_NEW(job->arena, uint32_t, job->fabric->num_switches);
    if (place == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_core_init(&core, job->arena, job->fabric));
    SV_TRY(sv__orient(job, &core, ranking, job->request->roots, job->request->num_roots, place,
                      &roots));
    SV_TRY(sv__updn_along(job, place));
    snprintf(job->report->note, sizeof job->report->note, "%u root%s %s", roots,
             roots == 1 ? "" : "s", job->request->num_roots > 0 ? "given" : "found");
    return SV_OK;
}

static sv_status route_updn(sv__routing_job *job)
{
    return route(job, SV__RANK_ROOTS);
}

static sv_status route_dnup(sv__routing_job *job)
{
    return route(job, SV__RANK_LEAVES);
}

enum { TRAITS = SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_ROOTS };

const sv__engine sv__engine_updn = {{"updn",
                                     "up to a root, then down; ranks by distance from the roots",
                                     "thesis 3.3.4", TRAITS, NULL},
                                    route_updn};

const sv__engine sv__engine_dnup = {
    {"dnup", "up and then down, ranks by distance from the leaves", "thesis 3.3.4", TRAITS, NULL},
    route_dnup};
