/*
 * simulate.c: how fast the simulator is: an exchange (every terminal sends to every other one, by
 * growing shifts), or the first rounds of it.
 *
 *     bench_simulate FABRIC ENGINE [ROUNDS [TIMES [LANES [THREADS [POLICY]]]]]
 *                                                                the best of TIMES (3), as JSON
 *
 * Bytes are those of the simulator's own state. POLICY is what the simulator itself costs when
 * there is one: still (it has no hooks), chooses (is asked for each message), hears (has all hooks,
 * and acknowledges each message with a packet of 58 bytes). Runs without it take turns with those,
 * and against_plain is the time of one by that of the other, the best of each.
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct exchange {
    uint32_t terminals, rounds, first;
    uint32_t *sent;
    const sv_routes *routes;
};

static bool next_message(void *user, uint32_t t, sv_sim_message *message)
{
    struct exchange *e = user;
    uint32_t k = e->sent[t], shift = k / 2 + 1;
    if (k >= e->rounds)
        return false;
    e->sent[t]++;
    uint32_t to = (t + (k % 2 == 0 ? shift : e->terminals - shift)) % e->terminals;
    *message = (sv_sim_message){.destination = e->routes->first[e->first + to], .bytes = 2048};
    return true;
}

/* ---- policies that do as little as they can ---- */

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    (void)user, (void)stage, (void)now, (void)terminal, (void)message, (void)offset;
    way->mark = 1;
    return SV_OK;
}

static sv_status depart(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                        uint64_t waited, sv_sim_head *head)
{
    (void)user, (void)stage, (void)now, (void)out, (void)waited, (void)head;
    return SV_OK;
}

static sv_status deliver(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                         sv_sim_head *head)
{
    const struct exchange *e = user;
    if (head->control || !head->last)
        return SV_OK;
    return sv_sim_send(stage, (sv_node){e->first + terminal}, e->routes->first[head->from.i], 58,
                       now, head->way.mark, 0);
}

/* The policy of a name; *policy is room for it. NULL: none. */
static const sv_sim_policy *policy_of(const char *name, struct exchange *e, sv_sim_policy *policy)
{
    *policy = (sv_sim_policy){.user = e, .segments = 1, .first = SV_NEVER};
    if (strcmp(name, "chooses") == 0 || strcmp(name, "hears") == 0)
        policy->choose = choose;
    if (strcmp(name, "hears") == 0) {
        policy->deliver = deliver;
        policy->depart = depart;
    }
    return strcmp(name, "none") == 0 ? NULL : policy;
}

static void must(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "bench_simulate: %s\n", sv_ctx_message(ctx));
    exit(1);
}

/* Seconds of a run; its result comes in place of the one before. */
static double run(sv_ctx *ctx, const sv_fabric *fabric, const sv_sim_setup *setup,
                  sv_sim_result **result)
{
    const struct exchange *e = setup->source->user;
    memset(e->sent, 0, fabric->num_terminals * sizeof *e->sent);
    sv_sim_free(*result);
    *result = NULL;
    double begun = now();
    must(ctx, sv_simulate(ctx, fabric, e->routes, setup, result));
    return now() - begun;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(
            stderr,
            "usage: bench_simulate FABRIC ENGINE [ROUNDS [TIMES [LANES [THREADS [POLICY]]]]]\n");
        return 2;
    }
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_ctx_set_threads(ctx, argc > 6 ? (unsigned)atoi(argv[6]) : 1);
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    must(ctx, sv_topology_generate(ctx, argv[1], &fabric));
    must(ctx, sv_route(ctx, fabric, argv[2], NULL, &routes, NULL));
    struct exchange e = {.terminals = fabric->num_terminals,
                         .rounds = argc > 3 ? (uint32_t)atoi(argv[3]) : fabric->num_terminals - 1,
                         .first = fabric->num_switches,
                         .sent = calloc(fabric->num_terminals, sizeof *e.sent),
                         .routes = routes};
    const sv_sim_source source = {.user = &e, .next = next_message, .threads = true};
    sv_sim_setup setup = {.source = &source,
                          .model = {.cable = 43 * SV_TICKS_PER_NS,
                                    .credit = 43 * SV_TICKS_PER_NS,
                                    .switch_delay = 100 * SV_TICKS_PER_NS,
                                    .input = 128,
                                    .output = 78,
                                    .speedup = 150,
                                    .ways = 3,
                                    .vls = argc > 5 ? (uint32_t)atoi(argv[5]) : 1,
                                    .mtu_bytes = 2048,
                                    .header_bytes = 26,
                                    .inject = 450,
                                    .drain = 450,
                                    .pause = 10 * SV_TICKS_PER_NS,
                                    .period = 110 * SV_TICKS_PER_NS,
                                    .open = 16,
                                    .voq = true},
                          .control = {.limit = SV_NEVER}};
    double best = 1e9, plain = 1e9;
    sv_sim_result *r = NULL;
    sv_sim_policy room;
    const sv_sim_policy *policy = policy_of(argc > 7 ? argv[7] : "none", &e, &room);
    for (int i = argc > 4 ? atoi(argv[4]) : 3; i > 0; i--) {
        if (policy != NULL) {
            double seconds = run(ctx, fabric, &setup, &r);
            plain = seconds < plain ? seconds : plain;
            setup.policy = policy;
        }
        double seconds = run(ctx, fabric, &setup, &r);
        best = seconds < best ? seconds : best;
        setup.policy = NULL;
    }
    printf("{\"end\": %d, \"terminals\": %u, \"packets\": %llu, \"packet_hops\": %llu, "
           "\"looks_a_hop\": %.2f, \"seconds\": %.3f, \"million_packet_hops_a_second\": %.3f, "
           "\"state_bytes_a_terminal\": %.0f, \"gbyte_s\": %.2f, \"peak_mb\": %.0f",
           r->end, fabric->num_terminals, (unsigned long long)r->packets,
           (unsigned long long)r->packet_hops, (double)r->looks / (double)r->packet_hops, best,
           (double)r->packet_hops / best / 1e6, (double)r->state_bytes / fabric->num_terminals,
           r->throughput / 1e9, peak_mb());
    if (policy != NULL)
        printf(", \"control_packets\": %llu, \"against_plain\": %.3f",
               (unsigned long long)r->control_packets, best / plain);
    printf("}\n");
    sv_sim_free(r);
    free(e.sent);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    sv_ctx_free(ctx);
    return 0;
}
