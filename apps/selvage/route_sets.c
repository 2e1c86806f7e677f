/*
 * route_sets.c: selvage route --two-sets: base addresses by the engine that is asked for, high ones
 * by updn on a VL of their own (thesis 5.2.3).
 */
#include "selvage/app.h"

sv_status app_two_sets_begin(struct app *app, const sv_fabric *fabric, sv_route_request *request,
                             app_two_sets *sets)
{
    unsigned vls = request->vls > 0 ? request->vls : sv_vls_offered(fabric);
    if (vls < 2)
        return sv_fail(app->ctx, SV_INFEASIBLE,
                       "two sets need two VLs, and links have one (--vls takes more)");
    sets->vl = vls - 1;
    request->vls = vls - 1;
    request->lmc = 0;
    return SV_OK;
}

sv_status app_two_sets_end(struct app *app, const sv_fabric *fabric,
                           const sv_route_request *request, const app_two_sets *sets,
                           sv_routes **routes, sv_route_report *report)
{
    const sv_route_request asked = {
        .vls = 1, .roots = request->roots, .num_roots = request->num_roots, .seed = request->seed};
    sv_routes *high = NULL, *both = NULL;
    sv_route_report second;
    sv_status status = sv_route(app->ctx, fabric, "updn", &asked, &high, &second);
    if (status == SV_OK)
        status = sv_update_two_sets(app->ctx, fabric, *routes, high, sets->vl, &both);
    sv_routes_free(high);
    if (status != SV_OK)
        return status;
    sv_routes_free(*routes);
    *routes = both;
    report->nanoseconds += second.nanoseconds;
    report->no_lids = false;
    return SV_OK;
}

void app_print_two_sets(sv_text *out, const app_two_sets *sets)
{
    if (sets->wanted)
        sv_text_print(out,
                      "two sets       LMC 1: base addresses by the engine, high ones by updn on "
                      "VL %u\n",
                      sets->vl);
}

void app_json_two_sets(sv_json *j, const app_two_sets *sets)
{
    if (!sets->wanted)
        return;
    sv_json_begin_object(j, "two_sets");
    sv_json_text(j, "high", "updn");
    sv_json_number(j, "vl", sets->vl);
    sv_json_end(j, '}');
}
