/*
 * fabric.c: how long it takes to generate, check, write and read fabrics, and the metrics of info;
 * each as the best of several runs, with the peak memory of the process so far.
 *
 * usage: bench_fabric [SPEC…]   (default: the two sizes that docs/performance.md states)
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "bench.h"

enum { RUNS = 5 };

static void must(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "bench_fabric: %s\n", sv_ctx_message(ctx));
    exit(1);
}

static void report(const char *what, double seconds)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("  %-28s %8.3f s   peak %6.1f MiB\n", what, seconds, (double)usage.ru_maxrss / 1024);
}

struct text {
    char *at;
    size_t length, room;
};

static bool collect(void *user, const void *bytes, size_t size)
{
    struct text *text = user;
    if (text->length + size > text->room) {
        text->room = 2 * (text->length + size);
        char *grown = realloc(text->at, text->room);
        if (grown == NULL)
            return false;
        text->at = grown;
    }
    memcpy(text->at + text->length, bytes, size);
    text->length += size;
    return true;
}

static sv_fabric *generate(sv_ctx *ctx, const char *spec)
{
    double best = 1e9;
    sv_fabric *fabric = NULL;
    for (int run = 0; run < RUNS; run++) {
        sv_fabric_free(fabric);
        double start = now();
        must(ctx, sv_topology_generate(ctx, spec, &fabric));
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
    }
    report("generate", best);
    return fabric;
}

static void read_back(sv_ctx *ctx, const struct text *text)
{
    double best = 1e9, best_check = 1e9;
    for (int run = 0; run < RUNS; run++) {
        sv_memory memory = {text->at, text->length};
        sv_source source = sv_memory_source(&memory, "bench");
        sv_fabric *fabric = NULL;
        double start = now();
        must(ctx, sv_fabric_read(ctx, &source, SV_FORMAT_AUTO, &fabric));
        double read = now() - start;
        must(ctx, sv_fabric_check(ctx, fabric));
        double both = now() - start;
        best = read < best ? read : best;
        best_check = both < best_check ? both : best_check;
        sv_fabric_free(fabric);
    }
    report("parse and build", best);
    report("parse, build and check", best_check);
}

static void measure_metrics(sv_ctx *ctx, const sv_fabric *fabric)
{
    sv_distances distances;
    uint32_t k;
    double start = now();
    must(ctx, sv_fabric_distances(ctx, fabric, &distances));
    report("distances", now() - start);
    start = now();
    must(ctx, sv_fabric_edge_connectivity(ctx, fabric, &k));
    report("edge connectivity", now() - start);
    start = now();
    must(ctx, sv_fabric_vertex_connectivity(ctx, fabric, &k));
    report("vertex connectivity", now() - start);
}

static void bench(sv_ctx *ctx, const char *spec)
{
    printf("%s\n", spec);
    sv_fabric *fabric = generate(ctx, spec);
    printf("  %u switches, %u terminals, %u channels\n", fabric->num_switches,
           fabric->num_terminals, fabric->num_channels);
    struct text text = {NULL, 0, 0};
    sv_sink sink = {"bench", &text, collect};
    double start = now();
    must(ctx, sv_fabric_write(ctx, fabric, SV_FORMAT_IBNETDISCOVER, &sink));
    report("write ibnetdiscover text", now() - start);
    printf("  %.1f MB of text\n", (double)text.length / 1e6);
    read_back(ctx, &text);
    measure_metrics(ctx, fabric);
    free(text.at);
    sv_fabric_free(fabric);
}

int main(int argc, char **argv)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    if (ctx == NULL)
        return 1;
    if (argc > 1)
        for (int i = 1; i < argc; i++)
            bench(ctx, argv[i]);
    else {
        bench(ctx, "xgft:h=2,m=20/16,w=10/12,total=4000,radix=36");
        bench(ctx, "xgft:h=2,m=32/64,w=32/32,hosts=32,radix=64");
    }
    sv_ctx_free(ctx);
    return 0;
}
