/*
 * fuzz_traces.h: the part of fuzz.c about traces: what was read and is a trace is written and read
 * again, and replayed.
 */
#ifndef SELVAGE_FUZZ_TRACES_H
#define SELVAGE_FUZZ_TRACES_H

/* A trace that is one is replayed for a while. */
static void replay(sv_ctx *ctx, const sv_mpi_trace *trace)
{
    const sv_sim_model model = {.cable = 77400,
                                .credit = 77400,
                                .input = 40,
                                .output = 33,
                                .speedup = 100,
                                .ways = 2,
                                .lanes = 1,
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
            .control = {.limit = (uint64_t)20000 * SV_TICKS_A_NS, .wall_ns = 1000000000},
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

struct bytes {
    char *at;
    size_t length;
};

static bool keep(void *user, const void *more, size_t size)
{
    struct bytes *bytes = user;
    char *grown = realloc(bytes->at, bytes->length + size + 1);
    if (grown == NULL)
        return false;
    bytes->at = grown;
    memcpy(grown + bytes->length, more, size);
    bytes->length += size;
    return true;
}

/* Written as .svt and read again, it has as many events of each rank. */
static void write_and_read(sv_ctx *ctx, const sv_mpi_trace *trace)
{
    struct bytes bytes = {0};
    sv_sink sink = {"bytes", &bytes, keep};
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

static void run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_mpi_trace *trace = NULL;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return;
    memcpy(copy, data, size);
    sv_memory memory = {(const char *)copy, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
#ifdef FUZZ_SVT
    sv__svt_seal(copy, size); /* or nothing would ever get past the sum */
    sv_status status = sv_mpi_read(ctx, &source, &trace);
#else
    sv_status status = sv_mpi_read_goal(ctx, &source, &trace);
#endif
    if (status == SV_OK)
        status = sv_mpi_check(ctx, trace);
    else if (status == SV_BAD_INPUT)
        MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
    if (status == SV_OK) {
        write_and_read(ctx, trace);
        replay(ctx, trace);
    } else {
        must_explain(ctx, status);
    }
    sv_mpi_free(trace);
    free(copy);
}

#endif
