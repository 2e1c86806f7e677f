/*
 * plan.c: a safe order of updates. (Being written.)
 */
#include <selvage/update.h>

#include "base/ctx.h"

sv_status sv_update_plan(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *before,
                         const sv_routes *after, const sv_update_request *request,
                         sv_update **update)
{
    (void)fabric, (void)before, (void)after, (void)request, (void)update;
    return sv_fail(ctx, SV_UNSUPPORTED, "plans are being written");
}
