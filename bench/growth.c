/*
 * growth.c: where the time of engine weave goes.
 *
 *     bench_growth FABRIC LANES [THREADS]
 *
 * Routes and checks, and prints a line of JSON: seconds and peak memory of each phase. Phases are
 * told apart by what the library shows as progress; one lasts until the next shows up. The first
 * try, whether sssp's tables fit one VL, counts as "try".
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { TRY, LAY, ENRICH, SPREAD, CHECK, PHASES };

static const char *const names[] = {"try", "lay", "enrich", "spread", "check"};

struct watch {
    int phase;
    double began, seconds[PHASES], peak_mb[PHASES];
};

static void enter(struct watch *watch, int phase)
{
    double at = now();
    watch->seconds[watch->phase] += at - watch->began;
    watch->peak_mb[watch->phase] = peak_mb();
    watch->phase = phase;
    watch->began = at;
}

/* "VLs" is the laying once it goes over all switches twice (the try looks at few destinations).
 */
static void progress(void *user, const char *what, uint64_t done, uint64_t total)
{
    struct watch *watch = user;
    int phase = watch->phase;
    (void)done;
    (void)total;
    if (strcmp(what, "vls") == 0 && phase == TRY)
        phase = LAY;
    else if (strcmp(what, "enriching") == 0)
        phase = ENRICH;
    else if (strcmp(what, "routing") == 0 && phase == ENRICH)
        phase = SPREAD;
    else if (strcmp(what, "checking") == 0)
        phase = CHECK;
    if (phase != watch->phase)
        enter(watch, phase);
}

static void must(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "bench_growth: %s\n", sv_ctx_message(ctx));
    exit(1);
}

int main(int argc, char **argv)
{
    struct watch watch = {.phase = TRY};
    sv_host host = {.user = &watch, .progress = progress};
    sv_ctx *ctx = sv_ctx_new(&host);
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    sv_verification *found = NULL;
    sv_route_report report;
    if (argc < 3) {
        fprintf(stderr, "usage: bench_growth FABRIC LANES [THREADS]\n");
        return 2;
    }
    const sv_route_request request = {.seed = 1, .vls = (unsigned)atoi(argv[2])};
    sv_ctx_set_threads(ctx, argc > 3 ? (unsigned)atoi(argv[3]) : 0);
    must(ctx, sv_topology_generate(ctx, argv[1], &fabric));
    watch.began = now();
    must(ctx, sv_route(ctx, fabric, "weave", &request, &routes, &report));
    enter(&watch, CHECK);
    must(ctx, sv_verify(ctx, fabric, routes, NULL, &found));
    enter(&watch, CHECK);
    printf("{\"fabric\": \"%s\", \"switches\": %u, \"terminals\": %u, \"needed\": %u, "
           "\"free\": %s",
           argv[1], fabric->num_switches, fabric->num_terminals, report.vls_needed,
           found->deadlock_free[SV_TRAFFIC_ALL] == SV_VERDICT_YES ? "true" : "false");
    for (int i = 0; i < PHASES; i++)
        printf(", \"%s\": %.3f, \"%s_mb\": %.0f", names[i], watch.seconds[i], names[i],
               watch.peak_mb[i]);
    printf("}\n");
    sv_verification_free(found);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    sv_ctx_free(ctx);
    return 0;
}
