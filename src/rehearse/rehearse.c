/*
 * rehearse.c: an update of tables in the simulator. (Being written.)
 */
#include <selvage/rehearse.h>

#include "base/ctx.h"

sv_status sv_rehearse(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *before,
                      const sv_routes *after, const sv_rehearsal_request *request,
                      sv_rehearsal **rehearsal)
{
    (void)fabric, (void)before, (void)after, (void)request, (void)rehearsal;
    return sv_fail(ctx, SV_UNSUPPORTED, "rehearsals are being written");
}
