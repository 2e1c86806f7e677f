/*
 * fuzz_traces.h: what becomes of traces, whatever they were read from: one that passes its check is
 * written and read again, and replayed.
 */
#ifndef SELVAGE_FUZZ_TRACES_H
#define SELVAGE_FUZZ_TRACES_H

#include "base/file.h"
#include "fuzz.h"

/* A trace that is one is replayed for a while. */
static inline void replay(sv_ctx *ctx, const sv_mpi_trace *trace)
{
    const sv_sim_model model = {.cable = 77400,
                                .credit = 77400,
                                .input = 40,
                                .output = 33,
                                .speedup = 100,
                                .ways = 2,
                                .vls = 1,
                                .mtu_bytes = 2048,
                                .header_bytes = 26,
                                .drain = 450,
                                .open = 4};
    const sv_mpi_replay_request request = {.model = &model, .eager_bytes = 1000};
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    sv_mpi_replay *replay = NULL;
    sv_sim_result *result = NULL;
    MUST(sv_topology_generate(ctx, "torus:3,hosts=2", &fabric) == SV_OK);
    MUST(sv_route(ctx, fabric, "updn", NULL, &routes, NULL) == SV_OK);
    sv_status status = sv_mpi_replay_new(ctx, fabric, routes, trace, &request, &replay);
    if (status == SV_OK) {
        const sv_sim_setup setup = {
            .model = model,
            .control = {.limit = (uint64_t)20000 * SV_TICKS_PER_NS, .wall_ns = 1000000000},
            .source = sv_mpi_replay_source(replay)};
        status = sv_simulate(ctx, fabric, routes, &setup, &result);
    }
    if (status != SV_OK)
        must_explain(ctx, status);
    sv_sim_free(result);
    sv_mpi_replay_free(replay);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
}

/* Written as .svt and read again, it has as many events of each rank. */
static inline void write_and_read(sv_ctx *ctx, const sv_mpi_trace *trace)
{
    struct bytes bytes = {0};
    sv_sink sink = {"bytes", &bytes, keep_bytes};
    sv_mpi_trace *again = NULL;
    sv_status status = sv_mpi_write(ctx, trace, &sink);
    if (status == SV_OK) {
        sv_memory memory = {bytes.at, bytes.length};
        sv_source source = sv_memory_source(&memory, "again");
        status = sv_mpi_read(ctx, &source, &again);
        MUST(status == SV_OK || status == SV_NO_MEMORY);
    }
    if (status == SV_OK) {
        MUST(again->num_ranks == trace->num_ranks);
        for (uint32_t rank = 0; rank < trace->num_ranks; rank++)
            MUST(again->ranks[rank].length == trace->ranks[rank].length);
        MUST(sv_mpi_check(ctx, again) != SV_BAD_INPUT);
    } else {
        must_explain(ctx, status);
    }
    sv_mpi_free(again);
    free(bytes.at);
}

static inline void try_trace(sv_ctx *ctx, const sv_mpi_trace *trace)
{
    sv_status status = sv_mpi_check(ctx, trace);
    if (status != SV_OK) {
        must_explain(ctx, status);
        return;
    }
    write_and_read(ctx, trace);
    replay(ctx, trace);
}

#endif
