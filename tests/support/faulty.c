/*
 * faulty.c: an error in the plugin, of the kind that $SELVAGE_FAULT names, in every sweep: what
 * tests/live/test_sanitized.py expects to be found. Linked in front of sv_live_sweep (ld --wrap).
 */
#include <limits.h>
#include <selvage/experimental/live.h>
#include <stdlib.h>
#include <string.h>

sv_status __real_sv_live_sweep(sv_live *live, sv_fabric *fabric, unsigned flags,
                               sv_live_report *report);
sv_status __wrap_sv_live_sweep(sv_live *live, sv_fabric *fabric, unsigned flags,
                               sv_live_report *report);

static void err(const char *fault)
{
    /* volatile: what is wrong must not be optimised away */
    char *volatile bytes = malloc(8);
    volatile unsigned at = 8;
    volatile int large = INT_MAX;
    if (strcmp(fault, "overflow") == 0)
        bytes[at] = 1;
    if (strcmp(fault, "undefined") == 0)
        large = large + 1;
    if (strcmp(fault, "leak") == 0) {
        bytes = NULL;
        return;
    }
    free(bytes);
    if (strcmp(fault, "freed") == 0)
        bytes[0] = 1;
}

sv_status __wrap_sv_live_sweep(sv_live *live, sv_fabric *fabric, unsigned flags,
                               sv_live_report *report)
{
    const char *fault = getenv("SELVAGE_FAULT");
    sv_status status = __real_sv_live_sweep(live, fabric, flags, report);
    if (fault != NULL)
        err(fault);
    return status;
}
