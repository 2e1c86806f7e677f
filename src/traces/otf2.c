#include "traces/traces.h"
sv_status sv__read_otf2(sv_ctx *ctx, const char *path, sv_mpi_trace **trace)
{
    (void)trace;
    return sv_fail(ctx, SV_UNSUPPORTED, "%s: this selvage reads no OTF2 (built without it)", path);
}
bool sv__looks_like_goal(const uint8_t *bytes, size_t length)
{
    (void)bytes, (void)length;
    return false;
}
sv_status sv_mpi_read_goal(sv_ctx *ctx, const sv_source *source, sv_mpi_trace **trace)
{
    (void)trace;
    return sv_fail(ctx, SV_UNSUPPORTED, "%s: this selvage reads no GOAL", source->name);
}
