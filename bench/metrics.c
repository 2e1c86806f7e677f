/*
 * metrics.c: how long metrics of forwarding tables take.
 *
 *     bench_metrics [FABRIC ENGINE MATCHINGS]
 *
 * One thread. Without arguments the figures of docs/performance.md. Flows are pairs of a matching:
 * drawn, followed, and given their share of the most crowded channel on the way.
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static void must(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "bench_metrics: %s\n", sv_ctx_message(ctx));
    exit(1);
}

static void show_matchings(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r, uint32_t matchings)
{
    sv_matchings found;
    double begin = now();
    must(ctx, sv_routes_matchings(ctx, f, r, matchings, 1, NULL, &found));
    double seconds = now() - begin;
    printf("  effective bisection: %u matchings of %u flows in %.3f s, %.0f flows/s (%.4f)\n",
           matchings, found.flows, seconds, (double)found.flows * matchings / seconds, found.avg);
}

static void show_rest(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r)
{
    static const uint32_t numbers[] = {1, 2, 5, 10};
    const sv_lost_plan plan = {.seed = 1, .trials = 100, .failures = numbers, .count = 4};
    sv_load load;
    sv_stretch stretch;
    sv_vl_use vls;
    sv_bound bound;
    sv_lost lost[4];
    double begin = now();
    must(ctx, sv_routes_load(ctx, f, r, NULL, &load));
    printf("  loads %.3f s", now() - begin);
    begin = now();
    must(ctx, sv_routes_stretch(ctx, f, r, &stretch));
    printf(", stretch %.3f s", now() - begin);
    begin = now();
    must(ctx, sv_routes_vls(ctx, f, r, &vls));
    printf(", VLs %.3f s", now() - begin);
    begin = now();
    must(ctx, sv_routes_bound(ctx, f, r, &bound));
    printf(", bounds %.3f s", now() - begin);
    begin = now();
    must(ctx, sv_routes_lost(ctx, f, r, &plan, lost, NULL, NULL));
    printf(", 4 × 100 draws of lost links %.3f s\n", now() - begin);
    fflush(stdout);
}

static void show(const char *spec, const char *engine, uint32_t matchings)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    sv_ctx_set_threads(ctx, 1);
    must(ctx, sv_topology_generate(ctx, spec, &fabric));
    must(ctx, sv_route(ctx, fabric, engine, NULL, &routes, NULL));
    printf("%s %s\n", spec, engine);
    show_matchings(ctx, fabric, routes, matchings);
    show_rest(ctx, fabric, routes);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    sv_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        show(argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
        return 0;
    }
    show("kary:k=10,n=3,total=1024", "updn", 10000);
    show("random:switches=125,links=1000,total=1000,radix=36,seed=1", "sssp", 10000);
    show("torus:10x10x10,hosts=4", "updn", 1000);
    return 0;
}
