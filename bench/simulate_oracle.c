/*
 * simulate_oracle.c: the simulator beside the one that moves block by block (tests/oracle), on the
 * same work, in one run: an exchange by growing shifts. All arrivals must be the same.
 *
 *     bench_simulate_oracle FABRIC ENGINE [ROUNDS]   as JSON
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "oracle/sim_oracle.h"

enum { MAX_HOPS = 64, BYTES = 2048, HEADER = 26 };

struct work {
    sv_fabric *fabric;
    sv_routes *routes;
    uint32_t rounds;
    uint32_t *sent;
    uint64_t *arrived; /* [terminals × rounds]: by the fast one */
    uint32_t *packet;  /* tag of each packet as it is injected */
};

static void must(sv_ctx *ctx, bool holds)
{
    if (holds)
        return;
    fprintf(stderr, "bench_simulate_oracle: %s\n", sv_ctx_message(ctx));
    exit(1);
}

static uint32_t partner(const struct work *w, uint32_t t, uint32_t k)
{
    uint32_t n = w->fabric->num_terminals, shift = k / 2 + 1;
    uint32_t to = (t + (k % 2 == 0 ? shift : n - shift)) % n;
    return w->routes->first[w->fabric->num_switches + to];
}

static bool next_message(void *user, uint32_t t, sv_sim_message *message)
{
    struct work *w = user;
    uint32_t k = w->sent[t];
    if (k == w->rounds)
        return false;
    w->sent[t]++;
    *message =
        (sv_sim_message){.destination = partner(w, t, k), .bytes = BYTES, .tag = t * w->rounds + k};
    return true;
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    (void)terminal;
    (void)time;
    ((struct work *)user)->packet[packet] = tag;
}

static void arrived(void *user, uint32_t packet, uint64_t time)
{
    struct work *w = user;
    w->arrived[w->packet[packet]] = time;
}

static const sv_sim_model model = {.cable = 43 * SV_TICKS_PER_NS,
                                   .credit = 43 * SV_TICKS_PER_NS,
                                   .switch_delay = 100 * SV_TICKS_PER_NS,
                                   .input = 128,
                                   .output = 78,
                                   .speedup = 150,
                                   .ways = 3,
                                   .vls = 8,
                                   .mtu_bytes = BYTES,
                                   .header_bytes = HEADER,
                                   .inject = 450,
                                   .drain = 450,
                                   .pause = 10 * SV_TICKS_PER_NS,
                                   .period = 100 * SV_TICKS_PER_NS,
                                   .open = 4,
                                   .voq = true};

static double run_fast(sv_ctx *ctx, struct work *w, uint64_t *hops)
{
    const sv_sim_source source = {.user = w, .next = next_message};
    const sv_sim_watch watch = {.user = w, .injected = injected, .arrived = arrived};
    const sv_sim_setup setup = {
        .model = model, .control = {.limit = SV_NEVER}, .source = &source, .watch = &watch};
    sv_sim_result *result = NULL;
    double begun = now();
    must(ctx, sv_simulate(ctx, w->fabric, w->routes, &setup, &result) == SV_OK);
    double seconds = now() - begun;
    *hops = result->packet_hops;
    sv_sim_free(result);
    return seconds;
}

/* One packet of the oracle's. */
static void trace(sv_ctx *ctx, const struct work *w, uint32_t t, uint32_t k, oracle_packet *p,
                  oracle_hop *hops, uint64_t *granted)
{
    const sv_fabric *f = w->fabric;
    sv_hop_taken taken[MAX_HOPS];
    uint32_t count, to = partner(w, t, k);
    sv_node from = {f->num_switches + t}, at;
    must(ctx, sv_routes_trace(f, w->routes, from, to, sv_route_sl(w->routes, from, to), taken,
                              MAX_HOPS, &count, &at) == SV_TRACE_ARRIVED);
    for (uint32_t i = 0; i < count; i++)
        hops[i] =
            (oracle_hop){f->tail[taken[i].channel.i].i, f->port[taken[i].channel.i], taken[i].vl};
    *p = (oracle_packet){.message = t * w->rounds + k,
                         .length = BYTES + HEADER,
                         .num_hops = count,
                         .hops = hops,
                         .granted = granted};
}

static double run_slow(sv_ctx *ctx, const struct work *w, bool *same)
{
    const sv_fabric *f = w->fabric;
    uint32_t count = f->num_terminals * w->rounds, cables = 0;
    oracle_packet *packets = calloc(count, sizeof *packets);
    oracle_hop *hops = calloc((size_t)count * MAX_HOPS, sizeof *hops);
    uint64_t *granted = calloc((size_t)count * MAX_HOPS, sizeof *granted);
    uint32_t *ports = calloc(f->num_switches, sizeof *ports);
    oracle_cable *cable = calloc(f->num_channels, sizeof *cable);
    for (uint32_t i = 0; i < count; i++)
        trace(ctx, w, i / w->rounds, i % w->rounds, &packets[i], hops + (size_t)i * MAX_HOPS,
              granted + (size_t)i * MAX_HOPS);
    for (uint32_t s = 0; s < f->num_switches; s++)
        ports[s] = f->switches[s].ports;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_is_cable(f, (sv_channel){c}))
            cable[cables++] =
                (oracle_cable){f->tail[c].i, f->port[c], f->head[c].i, f->port[f->reverse[c].i],
                               sv_sim_byte_ticks(sv_link_of(f, (sv_channel){c}))};
    const oracle_params params = {.cable = model.cable,
                                  .credit = model.credit,
                                  .switch_delay = model.switch_delay,
                                  .input = model.input,
                                  .output = model.output,
                                  .speedup = model.speedup,
                                  .ways = model.ways,
                                  .vls = model.vls,
                                  .inject = model.inject,
                                  .drain = model.drain,
                                  .pause = model.pause,
                                  .period = model.period,
                                  .open = model.open,
                                  .voq = model.voq,
                                  .limit = UINT64_MAX};
    double begun = now();
    oracle_run(&params, f->num_switches, ports, f->num_terminals, cable, cables, packets, count);
    double seconds = now() - begun;
    *same = true;
    for (uint32_t i = 0; i < count; i++)
        *same = *same && packets[i].arrived == w->arrived[packets[i].message];
    free(packets);
    free(hops);
    free(granted);
    free(ports);
    free(cable);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bench_simulate_oracle FABRIC ENGINE [ROUNDS]\n");
        return 2;
    }
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct work w = {0};
    uint64_t hops;
    bool same;
    must(ctx, sv_topology_generate(ctx, argv[1], &w.fabric) == SV_OK);
    must(ctx, sv_route(ctx, w.fabric, argv[2], NULL, &w.routes, NULL) == SV_OK);
    w.rounds = argc > 3 ? (uint32_t)atoi(argv[3]) : w.fabric->num_terminals - 1;
    w.sent = calloc(w.fabric->num_terminals, sizeof *w.sent);
    w.arrived = calloc((size_t)w.fabric->num_terminals * w.rounds, sizeof *w.arrived);
    w.packet = calloc((size_t)w.fabric->num_terminals * w.rounds, sizeof *w.packet);
    double fast = run_fast(ctx, &w, &hops), slow = run_slow(ctx, &w, &same);
    printf("{\"packet_hops\": %llu, \"seconds\": %.3f, \"oracle_seconds\": %.3f, \"ratio\": %.0f, "
           "\"same_arrivals\": %s}\n",
           (unsigned long long)hops, fast, slow, slow / fast, same ? "true" : "false");
    free(w.sent);
    free(w.arrived);
    free(w.packet);
    sv_routes_free(w.routes);
    sv_fabric_free(w.fabric);
    sv_ctx_free(ctx);
    return same ? 0 : 1;
}
