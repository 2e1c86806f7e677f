/*
 * routes.c: how long engines and checks take, and how much memory.
 *
 *     bench_routes FABRIC ENGINE [TIMES]   routes TIMES times (5) and prints the median as JSON
 *     bench_routes                         the figures of docs/performance.md
 *
 * One thread for engines; checks use what the machine has. Peak memory is that of the process so
 * far, the fabric included.
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static void must(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "bench_routes: %s\n", sv_ctx_message(ctx));
    exit(1);
}

static sv_fabric *load(sv_ctx *ctx, const char *argument)
{
    sv_fabric *fabric = NULL;
    if (access(argument, R_OK) == 0)
        must(ctx, sv_fabric_load(ctx, argument, &fabric));
    else
        must(ctx, sv_topology_generate(ctx, argument, &fabric));
    return fabric;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of an engine; *routes is the last result. */
static double time_engine(sv_ctx *ctx, const sv_fabric *fabric, const char *engine, int times,
                          sv_routes **routes)
{
    double seconds[99];
    for (int i = 0; i < times; i++) {
        sv_route_report report;
        sv_routes_free(*routes);
        *routes = NULL;
        must(ctx, sv_route(ctx, fabric, engine, NULL, routes, &report));
        seconds[i] = (double)report.nanoseconds / 1e9;
    }
    qsort(seconds, (size_t)times, sizeof *seconds, ascending);
    return seconds[times / 2];
}

/* Spreads destinations over VLs, so that a check has to look at all of them. */
static void use_vls(sv_ctx *ctx, sv_routes *routes, unsigned vls)
{
    sv_sl2vl identity;
    for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
        identity.of_sl[sl] = (uint8_t)(sl % vls);
    uint32_t table = sv_routes_sl2vl_table(ctx, routes, &identity);
    for (uint32_t v = 0; v < routes->num_switches + routes->num_terminals; v++)
        routes->vls_of[v] = (uint16_t)table;
    must(ctx, sv_routes_set_sl_form(ctx, routes, SV_SL_BY_SWITCH));
    for (uint32_t d = 0; d < routes->num_destinations; d++) {
        uint8_t *row = sv_routes_sl_row(ctx, routes, d);
        for (uint32_t s = 0; s < routes->num_switches; s++)
            row[s] = (uint8_t)((d + s) % vls);
    }
}

static void show(const char *spec, const char *engine, unsigned vls)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *fabric = load(ctx, spec);
    sv_routes *routes = NULL;
    sv_verification *found = NULL;
    double seconds = time_engine(ctx, fabric, engine, 1, &routes);
    if (vls > 1)
        use_vls(ctx, routes, vls);
    double begin = now();
    must(ctx, sv_verify(ctx, fabric, routes, NULL, &found));
    printf("%-34s %-6s %u VL%s: routed in %.3f s, checked in %.3f s (%llu dependencies, %s), "
           "peak %.0f MB\n",
           spec, engine, vls, vls == 1 ? " " : "s", seconds, now() - begin,
           (unsigned long long)found->dependencies,
           found->deadlock_free[SV_TRAFFIC_ALL] == SV_VERDICT_YES ? "free" : "not free", peak_mb());
    fflush(stdout);
    sv_verification_free(found);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    sv_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        show("torus:10x10x10,hosts=4", "updn", 1);
        show("torus:10x10x10,hosts=4", "updn", 8);
        show("torus:10x10x10,hosts=4", "sssp", 8);
        show("kary:k=10,n=3,total=1100", "sssp", 1);
        show("xgft:h=2,m=32/64,w=32/32,hosts=32", "minhop", 1);
        show("xgft:h=2,m=32/64,w=32/32,hosts=32", "updn", 1);
        return 0;
    }
    int times = argc > 3 ? atoi(argv[3]) : 5;
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_ctx_set_threads(ctx, 1);
    sv_fabric *fabric = load(ctx, argv[1]);
    sv_routes *routes = NULL;
    double seconds =
        time_engine(ctx, fabric, argv[2], times < 1 || times > 99 ? 5 : times, &routes);
    printf("{\"seconds\": %.6f, \"peak_mb\": %.1f}\n", seconds, peak_mb());
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    sv_ctx_free(ctx);
    return 0;
}
