/*
 * living.h: what tests of live routing share: fabrics as a subnet manager finds them, and sweeps
 * that are judged from outside. Whoever includes it defines _DEFAULT_SOURCE first.
 */
#ifndef SELVAGE_LIVING_H
#define SELVAGE_LIVING_H

#include <unistd.h>

#include "live/live.h"
#include "support/testing.h"

static sv_ctx *ctx;
static char message[512];

static int begin(void **state)
{
    (void)state;
    ctx = sv_ctx_new(NULL);
    return ctx == NULL;
}

static int end(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

static sv_live_options defaults(void)
{
    return (sv_live_options){.traffic = SV_TRAFFIC_MANAGED, .route = {.seed = 1}};
}

static sv_live *start(const sv_live_options *options)
{
    sv_live *live = NULL;
    if (sv_live_new(NULL, options, &live, message, sizeof message) != SV_OK)
        fail_msg("%s", message);
    return live;
}

/* The same without what is dead: who looks at a fabric sees nothing of that. Frees the fabric. */
static sv_fabric *compact(sv_fabric *f, unsigned lmc)
{
    char path[] = "/tmp/selvage-test-XXXXXX.svr";
    sv_fabric *result = NULL;
    sv_routes *r = NULL;
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    OK(ctx, sv_routes_new(ctx, f, lmc, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    OK(ctx, sv_dump_write(ctx, f, r, path));
    OK(ctx, sv_dump_read(ctx, path, &result, NULL));
    unlink(path);
    sv_routes_free(r);
    sv_fabric_free(f);
    return result;
}

/* A fabric with LIDs, as a subnet manager gives them: the same node always has the same. */
static sv_fabric *found_with(const char *spec, const char *without, unsigned lmc)
{
    sv_fabric *f = test_fabric(ctx, spec), *with = NULL, *left = NULL;
    sv_routes *r = NULL;
    sv_mask *mask;
    OK(ctx, sv_routes_new(ctx, f, lmc, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    OK(ctx, sv_fabric_with_lids(ctx, f, r, &with));
    mask = sv_mask_new(ctx, with);
    uint32_t cable = SV_NONE, node = SV_NONE;
    if (without != NULL && sscanf(without, "cable %u", &cable) != 1)
        assert_int_equal(sscanf(without, "node %u", &node), 1);
    for (uint32_t c = 0, n = 0; c < with->num_channels; c++)
        if (sv_joins_switches(with, (sv_channel){c}) && sv_is_cable(with, (sv_channel){c}) &&
            n++ == cable)
            sv_mask_cable(mask, with, (sv_channel){c});
    if (node != SV_NONE)
        sv_mask_node(mask, (sv_node){node});
    OK(ctx, sv_fabric_mask(ctx, with, mask, &left));
    sv_mask_free(mask);
    sv_routes_free(r);
    sv_fabric_free(with);
    sv_fabric_free(f);
    return compact(left, lmc);
}

static inline sv_fabric *found(const char *spec, const char *without)
{
    return found_with(spec, without, 0);
}

/* A sweep that must go well; tables are judged once more, from outside. */
static sv_live_report sweep(sv_live *live, sv_fabric *f, unsigned flags)
{
    sv_live_report report;
    sv_verification *v = NULL;
    if (sv_live_sweep(live, f, flags, &report) != SV_OK)
        fail_msg("%s", report.problem);
    assert_true(report.proven);
    OK(ctx, sv_verify(ctx, sv_live_fabric(live), sv_live_routes(live), NULL, &v));
    assert_int_equal(v->deadlock_free[SV_TRAFFIC_MANAGED], SV_VERDICT_YES);
    assert_int_equal(v->loops, 0);
    assert_int_equal(v->unreachable[SV_PAIRS_TERMINAL_TERMINAL], report.lost + report.split);
    sv_verification_free(v);
    return report;
}

#endif
