#include "traces/traces.h"
sv_status sv__read_otf2(sv_ctx *ctx, const char *path, sv_mpi_trace **trace)
{
    (void)trace;
    return sv_fail(ctx, SV_UNSUPPORTED, "%s: this selvage reads no OTF2 (built without it)", path);
}
