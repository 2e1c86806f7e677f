/*
 * fuzz_store.c: stores of policies, with the policy's spec in the first line. A store that is read
 * can be written; what was written is read again, and is written as the same. A policy that has
 * one runs.
 */
#include "base/file.h"
#include "fuzz.h"

const size_t fuzz_memory = 64 << 20;

static const sv_sim_model model = {.cable = 77400,
                                   .credit = 77400,
                                   .input = 40,
                                   .output = 33,
                                   .speedup = 100,
                                   .ways = 2,
                                   .vls = 8,
                                   .mtu_bytes = 2048,
                                   .header_bytes = 26,
                                   .inject = 450,
                                   .drain = 450,
                                   .open = 4};

struct bed {
    sv_fabric *fabric;
    sv_routes *routes;
    const char *spec;
};

static sv_status make(sv_ctx *ctx, const struct bed *bed, const char *name, const char *at,
                      size_t size, sv_adapt **adapt)
{
    sv_memory memory = {at, size};
    sv_source source = sv_memory_source(&memory, name);
    unsigned vls;
    const sv_adapt_request request = {
        .spec = bed->spec, .model = &model, .seed = 1, .max_vls = 8, .store = &source};
    return sv_adapt_new(ctx, bed->fabric, bed->routes, &request, adapt, &vls);
}

/* Traffic that contends, so that solutions are asked for. */
static void play(sv_ctx *ctx, const struct bed *bed, const sv_adapt *adapt)
{
    const sv_sim_traffic_request request = {.spec = "hotspot:senders=3,spots=1", .model = &model};
    sv_sim_traffic *traffic = NULL;
    sv_sim_result *result = NULL;
    MUST(sv_sim_traffic_new(ctx, bed->fabric, bed->routes, &request, &traffic) == SV_OK);
    const sv_sim_setup setup = {
        .model = model,
        .control = {.limit = (uint64_t)20000 * SV_TICKS_PER_NS, .wall_ns = 1000000000},
        .source = sv_sim_traffic_source(traffic),
        .policy = sv_adapt_policy(adapt)};
    sv_status status = sv_simulate(ctx, bed->fabric, bed->routes, &setup, &result);
    if (status != SV_OK)
        must_explain(ctx, status);
    sv_sim_free(result);
    sv_sim_traffic_free(traffic);
}

static void go_round(sv_ctx *ctx, const struct bed *bed, const sv_adapt *adapt)
{
    struct bytes first = {0}, second = {0};
    sv_sink to_first = {"first", &first, keep_bytes}, to_second = {"second", &second, keep_bytes};
    sv_adapt *again = NULL;
    MUST(sv_adapt_store_write(ctx, adapt, &to_first) == SV_OK);
    MUST(make(ctx, bed, "again", first.at, first.length, &again) == SV_OK);
    MUST(sv_adapt_end(again).patterns == sv_adapt_end(adapt).patterns);
    MUST(sv_adapt_store_write(ctx, again, &to_second) == SV_OK);
    MUST(second.length == first.length && memcmp(second.at, first.at, first.length) == 0);
    sv_adapt_free(again);
    free(second.at);
    free(first.at);
}

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    const uint8_t *line = size == 0 ? NULL : memchr(data, '\n', size);
    struct bed bed = {0};
    sv_adapt *adapt = NULL;
    if (line == NULL)
        return;
    char *spec = calloc(1, (size_t)(line - data) + 1);
    if (spec == NULL)
        return;
    memcpy(spec, data, (size_t)(line - data));
    bed.spec = spec;
    MUST(sv_topology_generate(ctx, "kary:k=2,n=3,hosts=2", &bed.fabric) == SV_OK);
    MUST(sv_route(ctx, bed.fabric, "updn", NULL, &bed.routes, NULL) == SV_OK);
    const char *store = (const char *)line + 1;
    sv_status status = make(ctx, &bed, "fuzz", store, size - (size_t)(line - data) - 1, &adapt);
    if (status == SV_OK) {
        go_round(ctx, &bed, adapt);
        play(ctx, &bed, adapt);
    } else {
        must_explain(ctx, status);
    }
    sv_adapt_free(adapt);
    sv_routes_free(bed.routes);
    sv_fabric_free(bed.fabric);
    free(spec);
}
