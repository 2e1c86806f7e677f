/*
 * VLs.c: how many VLs a policy needs, and whether packets that go by way of switches can wait
 * for each other for ever.
 *
 * Each segment of a way has VLs of its own, as many as the tables use; adaptive ones come on top
 * (rule 25). A segment is what a node, terminal or switch, sends by the tables; so where all of
 * that together has no cycle of dependencies (sv_verify, all pairs of nodes), a segment has none,
 * and from one segment packets only go on to the next. The dependencies that adaptive VLs add
 * lead from a channel's escape VL to that of a later channel of the same way, and so close no
 * cycle either (decision 28; tests/oracle/test_adapt_proof.c builds the whole graph).
 *
 * Packets that only go as the tables say are not judged: they do what they would do without a
 * policy.
 *
 * Cost: that of sv_verify.
 */
#include <selvage/routing.h>
#include <selvage/verify.h>

#include "adapt/adapt.h"

/* What one step of a cycle is, for a message. */
static sv_status fail_cycle(const sv_adapt *a, const sv_verification *found, unsigned max)
{
    sv_channel c = found->cycle[0].channel;
    return sv_fail(a->ctx, SV_INFEASIBLE,
                   "policy '%s' sends packets by way of switches, and with these tables such "
                   "packets could wait for each other for ever: %zu channels, '%s' to '%s' on "
                   "VL %u among them; tables for all pairs of nodes (engine nue with %u VLs, "
                   "or updn) would do",
                   a->kind->about.name, found->cycle_length, sv_node_name(a->f, a->f->tail[c.i]),
                   sv_node_name(a->f, a->f->head[c.i]), found->cycle[0].vl, max);
}

static sv_status prove(sv_adapt *a, unsigned max)
{
    sv_verification *found = NULL;
    SV_TRY(sv_verify(a->ctx, a->f, a->r, NULL, &found));
    sv_verdict verdict = found->deadlock_free[/*~prove_hosts*/ SV_TRAFFIC_ALL];
    sv_status status = SV_OK;
    if (verdict == SV_VERDICT_NO && found->cycle_length > 0)
        status = fail_cycle(a, found, max);
    else if (/*~prove_unknown*/ verdict != SV_VERDICT_YES)
        status = sv_fail(a->ctx, SV_INFEASIBLE,
                         "policy '%s' sends packets by way of switches, and whether such packets "
                         "could wait for each other for ever is not known: these tables do not "
                         "tell all %s",
                         a->kind->about.name,
                         found->sl_unknown ? "service levels" : "VLs of service levels");
    sv_verification_free(found);
    return status;
}

/* VLs there are: as told; else what links offer, or more where tables use more. */
static unsigned max_vls(const sv_adapt *a, const sv_adapt_request *request, unsigned own)
{
    unsigned offered = /*~vls_fifteen*/ sv_vls_offered(a->f);
    unsigned max = request->max_vls > 0 ? request->max_vls : /*~vls_own*/ offered > own ? offered
                                                                                        : own;
    return max < SV_MAX_VLS ? max : SV_MAX_VLS;
}

sv_status sv__vls_find(sv_adapt *a, const sv_adapt_request *request, unsigned *vls)
{
    unsigned own = sv_sim_table_vls(a->f, a->r), adaptive = a->set.adaptive;
    unsigned max = max_vls(a, request, own);
    unsigned segments = a->kind->segments <= a->set.vias ? a->kind->segments : a->set.vias + 1;
    unsigned needed = segments * own /*~vls_adaptive*/ + adaptive;
    unsigned could = max > adaptive ? (max - adaptive) / segments : 0;
    if (needed > max && could == 0)
        return sv_fail(a->ctx, SV_INFEASIBLE,
                       "policy '%s' needs a VL for each of %u segments and %u adaptive ones, and "
                       "switches have %u",
                       a->kind->about.name, segments, adaptive, max);
    if (needed > /*~vls_many*/ max)
        return sv_fail(a->ctx, SV_INFEASIBLE,
                       "policy '%s' needs %u VLs (%u segments × %u of the tables + %u adaptive), "
                       "and switches have %u: tables with %u or fewer would do",
                       a->kind->about.name, needed, segments, own, adaptive, max, could);
    if (!request->unproven && (segments > 1 || (a->kind->routers_send && a->set.by_router))) {
        SV_TRY(prove(a, could));
        a->report.proven = true;
    }
    a->policy.segments = a->report.segments = segments;
    a->policy.adaptive = a->report.adaptive = adaptive;
    *vls = needed;
    return SV_OK;
}
