/*
 * update.c: how long it takes to find a safe order, and to prove it, beside routing.
 *
 *     bench_update FABRIC ENGINE [LANES [repair]]   a line of JSON
 *     bench_update                                  the figures of docs/performance.md
 *
 * A cable fails; all is routed anew (or old tables are repaired), and an order of updates from the
 * old tables to the new ones is planned. One thread. Times mean little on a shared machine: the
 * ratio of planning to routing, both of the same run, means more.
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static void must(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "bench_update: %s\n", sv_ctx_message(ctx));
    exit(1);
}

/* The fabric without one cable. */
static sv_fabric *fail(sv_ctx *ctx, const sv_fabric *whole)
{
    const sv_fault_plan plan = {.seed = 1, .links = {.value = 1}};
    sv_fabric *left = NULL;
    sv_fault_report report;
    sv_mask *mask = sv_mask_new(ctx, whole);
    if (mask == NULL)
        exit(1);
    must(ctx, sv_faults_draw(ctx, whole, &plan, mask, &report));
    must(ctx, sv_fabric_mask(ctx, whole, mask, &left));
    sv_mask_free(mask);
    return left;
}

/* Old tables as they are for what is left. */
static sv_routes *carry(sv_ctx *ctx, const sv_fabric *whole, const sv_routes *old,
                        const sv_fabric *left)
{
    sv_match *match = NULL;
    sv_routes *carried = NULL;
    must(ctx, sv_match_new(ctx, whole, left, SV_MATCH_GUID, &match));
    must(ctx, sv_routes_remap(ctx, whole, old, left, match, &carried));
    sv_match_free(match);
    return carried;
}

static void show(const char *spec, const char *engine, unsigned vls, bool repair)
{
    static const char *const ways[] = {"nothing", "at-once", "steps", "repath", "never"};
    const sv_route_request request = {.seed = 1, .vls = vls};
    const sv_repair_request mend = {
        .engine = engine, .route = &request, .traffic = SV_TRAFFIC_MANAGED};
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *whole = NULL;
    sv_routes *old = NULL, *new = NULL;
    sv_update *plan = NULL;
    sv_ctx_set_threads(ctx, 1);
    must(ctx, sv_topology_generate(ctx, spec, &whole));
    must(ctx, sv_route(ctx, whole, engine, &request, &old, NULL));
    sv_fabric *left = fail(ctx, whole);
    sv_routes *carried = carry(ctx, whole, old, left);
    double begin = now();
    if (repair) {
        sv_repair_report *report = NULL;
        must(ctx, sv_repair(ctx, whole, old, left, &mend, &new, &report));
        sv_repair_report_free(report);
    } else {
        must(ctx, sv_route(ctx, left, engine, &request, &new, NULL));
    }
    double routed = now() - begin;
    must(ctx, sv_update_plan(ctx, left, carried, new, NULL, &plan));
    double planned = (double)plan->plan_ns / 1e9, proved = (double)plan->prove_ns / 1e9;
    printf(
        "{\"fabric\": \"%s\", \"engine\": \"%s\", \"repair\": %s, \"way\": \"%s\", \"steps\": %u, "
        "\"entries\": %llu, \"pairs\": %llu, \"must\": %llu, \"route_s\": %.3f, \"plan_s\": "
        "%.3f, \"prove_s\": %.3f, \"plan_by_route\": %.2f, \"peak_mb\": %.0f}\n",
        spec, engine, repair ? "true" : "false", ways[plan->way], plan->steps,
        (unsigned long long)plan->num_entries, (unsigned long long)plan->num_pairs,
        (unsigned long long)plan->must_pairs, routed, planned, proved,
        planned / (routed > 0 ? routed : 1e-9), peak_mb());
    fflush(stdout);
    sv_update_free(plan);
    sv_routes *const all[] = {old, carried, new};
    for (int i = 0; i < 3; i++)
        sv_routes_free(all[i]);
    sv_fabric_free(left);
    sv_fabric_free(whole);
    sv_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        show("kary:k=6,n=3,hosts=6", "dfsssp", 7, false);
        show("kary:k=10,n=3,total=1100", "dfsssp", 8, false);
        show("kary:k=10,n=3,total=1100", "ftree", 1, false);
        show("torus:4x4x4,hosts=2", "dfsssp", 8, false);
        show("torus:7x7x7,hosts=4", "dfsssp", 8, false);
        return 0;
    }
    show(argv[1], argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 0,
         argc > 4 && strcmp(argv[4], "repair") == 0);
    return 0;
}
