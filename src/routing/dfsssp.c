/*
 * dfsssp.c: engine dfsssp: sssp, with paths put into VLs so that nothing can deadlock (IPDPS'11
 * Alg. 2, thesis Alg. 3.6); and engine sar, which is that with a job map (thesis Alg. 5.1).
 *
 * The papers choose all paths first and then break cycles, or put path after path into the first
 * VL that takes it; that is assign=weakest, strongest, first and online. By default (joint) those
 * tables are kept only if they fit one VL, as on trees. If not, paths and VLs are chosen
 * together (weave.c), which takes fewer VLs than either: 2 in place of 5 on a random fabric of
 * 125 switches, 4 in place of 42 on a 7×7×7 torus with failed links.
 *
 * What follows from a job map is in schedule.c: only routes inside jobs count, the largest job
 * comes first. assign=online and the like are the thesis' one pass; with joint what jobs have is
 * balanced once more (sssp_again.c, weave_again.c).
 *
 * Cost: sssp, and that of the method.
 */
#include <stdio.h>
#include <string.h>

#include "routing/sssp.h"
#include "routing/weave.h"
#include "vls/vls.h"

static const char *const method_names[] = {"weakest", "strongest", "first", "online", "joint"};

enum { JOINT = SV_VLS_ONLINE + 1 };

static unsigned method_of(const sv__routing_job *job)
{
    const char *name = sv__job_option(job, "assign");
    unsigned method = 0;
    while (name != NULL && method < JOINT && strcmp(name, method_names[method]) != 0)
        method++;
    return name != NULL ? method : JOINT;
}

static sv_status route(sv__routing_job *job)
{
    sv__sssp x = {0};
    sv_layering vls;
    unsigned method = method_of(job);
    if (method == JOINT)
        return sv__weave_route(job, "dfsssp", false);
    SV_TRY(sv__sssp_init(&x, job, NULL, NULL, NULL));
    SV_TRY(sv__sssp_run(&x));
    SV_TRY(sv_layering_init(&vls, job->ctx, job->arena, job->fabric, &x.core, job->routes));
    sv_status status = sv_layering_run(&vls, (sv_vl_method)method, SV_MAX_VLS);
    if (status == SV_INFEASIBLE)
        return sv_fail(job->ctx, status, "dfsssp needs more than %d VLs, %u %s there", SV_MAX_VLS,
                       job->vls, job->vls == 1 ? "is" : "are");
    SV_TRY(status);
    if (vls.vls > job->vls)
        return sv_fail(job->ctx, SV_INFEASIBLE, "dfsssp needs %u VLs, %u %s there", vls.vls,
                       job->vls, job->vls == 1 ? "is" : "are");
    return sv__finish_vls(job, &vls);
}

static const sv_engine_option options[] = {
    {"assign", "joint|weakest|strongest|first|online", "how paths are assigned to VLs"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_dfsssp = {{"dfsssp",
                                       "sssp, with paths put into VLs so that nothing can deadlock",
                                       "IPDPS'11 Alg. 2, thesis Alg. 3.6",
                                       SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL |
                                           SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS | SV_ENGINE_JOBS,
                                       options},
                                      route};

/* ---- with a job map ---- */

static sv_status route_jobs(sv__routing_job *job)
{
    SV_TRY(route(job));
    if (job->request->jobs == NULL)
        snprintf(job->report->note, sizeof job->report->note, "no job map: as dfsssp");
    return SV_OK;
}

static const sv_engine_option sar_options[] = {
    {"assign", "joint|weakest|strongest|first|online", "how paths are assigned to VLs"},
    {"rounds", "1-9", "with assign=joint: how often destinations are routed (default 2)"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_sar = {
    {"sar", "dfsssp that balances routes inside the jobs of a job map first", "thesis Alg. 5.1",
     SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS |
         SV_ENGINE_JOBS,
     sar_options},
    route_jobs};
