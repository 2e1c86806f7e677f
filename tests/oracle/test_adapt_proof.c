/*
 * test_adapt_proof.c: whether packets of policies can wait for each other for ever, from the whole
 * graph of dependencies, built by hand: all pairs of terminals, by way of all switches and all
 * pairs of switches, each followed hop by hop; what switches send themselves; an escape VL a
 * segment (rule 25); and, where there are adaptive VLs, Duato's indirect dependencies: from an
 * escape VL through any stretch of adaptive ones to a later escape VL of the same packet.
 *
 *     oracle_test_adapt_proof [TRIALS [SEED]]
 *
 * Whenever sv_adapt_new says yes the graph has no cycle, and a run with buffers for one packet
 * comes to its end; so where there is a cycle, it says INFEASIBLE, and some such runs do deadlock.
 */
#include "adapt_case.h"

#include "support/trials.h"
#include <selvage/traffic.h>

enum { MAX_HOPS = 200 };

static sv_ctx *ctx;
static uint32_t trials = 150;
static uint64_t seed = 1;

/* Channels and VLs, and who waits for whom. */
typedef struct graph {
    const adapt_case *c;
    uint32_t vls, own, segments, adaptive, size;
    bool *waits; /* [size × size] */
    uint8_t *colour;
} graph;

/* A packet's escape VLs, channel by channel. */
typedef struct trip {
    uint32_t at[3 * MAX_HOPS], length;
} trip;

/* Rule 25. */
static uint32_t vls_of_tables(const adapt_case *c)
{
    uint32_t max = 0;
    for (uint32_t v = 0; v < sv_num_nodes(c->f); v++) {
        unsigned ports = v < c->f->num_switches ? c->f->switches[v].ports : 1;
        for (unsigned in = 0; in <= ports; in++)
            for (unsigned out = 1; out <= ports; out++) {
                const sv_sl2vl *t = sv_route_sl2vl(c->r, c->f, (sv_node){v}, in, out);
                for (unsigned sl = 0; sl < c->r->num_sls; sl++)
                    if (t->of_sl[sl] != SV_NO_VL && t->of_sl[sl] > max)
                        max = t->of_sl[sl];
            }
    }
    return max + 1;
}

static bool segment(const graph *g, sv_node from, uint32_t destination, uint32_t number, trip *t)
{
    sv_hop_taken hops[MAX_HOPS];
    uint32_t count;
    sv_node at;
    if (sv_routes_trace(g->c->f, g->c->r, from, destination,
                        sv_route_sl(g->c->r, from, destination), hops, MAX_HOPS, &count,
                        &at) != SV_TRACE_ARRIVED)
        return false;
    assert_true(count < MAX_HOPS);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(hops[i].vl < g->own);
        t->at[t->length++] = hops[i].channel.i * g->vls + number * g->own + hops[i].vl;
    }
    return true;
}

/* A packet by way of some switches, then to a destination. */
static void add_trip(graph *g, sv_node from, const uint32_t *vias, uint32_t num_vias,
                     uint32_t destination)
{
    trip t = {.length = 0};
    for (uint32_t i = 0; i <= num_vias; i++) {
        if (!segment(g, from, i < num_vias ? g->c->r->first[vias[i]] : destination, i, &t))
            return;
        from = i < num_vias ? (sv_node){vias[i]} : from;
    }
    for (uint32_t i = 0; i + 1 < t.length; i++)
        for (uint32_t k = i + 1; k < t.length && (k == i + 1 || g->adaptive > 0); k++)
            g->waits[(size_t)t.at[i] * g->size + t.at[k]] = true;
}

static void add_pair(graph *g, sv_node from, uint32_t destination)
{
    uint32_t n = g->c->f->num_switches;
    add_trip(g, from, NULL, 0, destination);
    if (from.i < n) /* a control packet of a switch */
        return;
    for (uint32_t v = 0; v < n && g->segments > 1; v++) {
        add_trip(g, from, &v, 1, destination);
        for (uint32_t u = 0; u < n && g->segments > 2; u++)
            add_trip(g, from, (uint32_t[]){v, u}, 2, destination);
    }
}

static bool has_cycle(graph *g, uint32_t v)
{
    if (g->colour[v] != 0)
        return g->colour[v] == 1;
    g->colour[v] = 1;
    for (uint32_t u = 0; u < g->size; u++)
        if (g->waits[(size_t)v * g->size + u] && has_cycle(g, u))
            return true;
    g->colour[v] = 2;
    return false;
}

/* Whether anything can wait for itself. */
static bool can_deadlock(const adapt_case *c, uint32_t own, uint32_t segments, uint32_t adaptive)
{
    graph g = {.c = c,
               .vls = segments * own,
               .own = own,
               .segments = segments,
               .adaptive = adaptive,
               .size = c->f->num_channels * segments * own};
    bool found = false;
    g.waits = calloc((size_t)g.size * g.size, sizeof *g.waits);
    g.colour = calloc(g.size, sizeof *g.colour);
    for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
        for (uint32_t d = c->r->first[c->f->num_switches]; d < c->r->num_destinations; d++)
            if (sv_node_alive(c->f, (sv_node){v}) && sv_node_alive(c->f, c->r->node[d]) &&
                c->r->node[d].i != v)
                add_pair(&g, (sv_node){v}, d);
    for (uint32_t v = 0; v < g.size && !found; v++)
        found = has_cycle(&g, v);
    free(g.waits);
    free(g.colour);
    return found;
}

/* Everybody to everybody, with buffers for one packet; how it ended. */
static sv_sim_end run(const adapt_case *c, const sv_adapt *a, sv_sim_model model, unsigned vls)
{
    sv_node ranks[128];
    sv_sim_traffic *traffic = NULL;
    sv_sim_result *result = NULL;
    uint32_t count = adapt_ranks(c, ranks);
    model.vls = vls;
    if (count < 2)
        return SV_SIM_COMPLETED;
    const sv_sim_traffic_request request = {.spec = "uniform",
                                            .model = &model,
                                            .bytes = 6000,
                                            .seed = seed,
                                            .messages = 15,
                                            .order = ranks,
                                            .num_order = count};
    OK(ctx, sv_sim_traffic_new(ctx, c->f, c->r, &request, &traffic));
    const sv_sim_setup setup = {.model = model,
                                .control = {.limit = SV_NEVER},
                                .source = sv_sim_traffic_source(traffic),
                                .policy = sv_adapt_policy(a)};
    OK(ctx, sv_simulate(ctx, c->f, c->r, &setup, &result));
    sv_sim_end end = result->end;
    sv_sim_free(result);
    sv_sim_traffic_free(traffic);
    return end;
}

/* What was said, and what is so. */
struct tally {
    uint32_t yes, no_cycle, no_careful, many_vls, deadlocks;
};

static sv_sim_model small_model(void)
{
    return (sv_sim_model){.cable = 7000,
                          .credit = 1,
                          .switch_delay = 100000,
                          .input = 36,
                          .output = 36,
                          .speedup = 100,
                          .ways = 1,
                          .mtu_bytes = 2048,
                          .header_bytes = 26,
                          .drain = 450,
                          .open = 4,
                          .voq = seed % 2 == 0};
}

static void one_trial(struct tally *tally)
{
    static const struct {
        const char *name;
        uint32_t segments;
    } policies[] = {{"random:vias=2,adaptive=", 3},
                    {"cyclic:vias=1,adaptive=", 2},
                    {"valiant:adaptive=", 2},
                    {"ugal-l:via=all,adaptive=", 2},
                    {"pr-drb:notify=router,contention=0,look=1us,high=1.01,adaptive=", 3}};
    sv_rng rng;
    sv_adapt *a = NULL;
    unsigned vls = 0;
    char spec[100];
    const sv_sim_model model = small_model();
    sv_rng_init(&rng, seed);
    adapt_case c = adapt_draw(ctx, &rng, true);
    uint32_t p = (uint32_t)sv_rng_below(&rng, 5), adaptive = (uint32_t)sv_rng_below(&rng, 3);
    uint32_t own = vls_of_tables(&c), needed = policies[p].segments * own + adaptive;
    sv_adapt_request request = {
        .spec = spec, .model = &model, .seed = seed, .max_vls = needed - (seed % 16 == 0)};
    snprintf(spec, sizeof spec, "%s%u", policies[p].name, adaptive);
    sv_status status = sv_adapt_new(ctx, c.f, c.r, &request, &a, &vls);
    if (request.max_vls < needed) {
        assert_int_equal(status, SV_INFEASIBLE);
        assert_non_null(strstr(sv_ctx_message(ctx), "VL"));
        tally->many_vls++;
        adapt_free(&c);
        return;
    }
    assert_true(status == SV_OK || status == SV_INFEASIBLE);
    bool cycle = can_deadlock(&c, own, policies[p].segments, adaptive);
    if (status == SV_OK) {
        assert_int_equal(vls, needed);
        assert_int_equal(sv_adapt_policy(a)->segments, policies[p].segments);
        assert_int_equal(sv_adapt_policy(a)->adaptive, adaptive);
        assert_false(cycle);
        assert_int_equal(run(&c, a, model, vls), SV_SIM_COMPLETED);
        tally->yes++;
    } else {
        assert_non_null(strstr(sv_ctx_message(ctx), "wait for each other"));
        assert_true(strcmp(c.engine, "nue") != 0 && strcmp(c.engine, "updn") != 0);
        *(cycle ? &tally->no_cycle : &tally->no_careful) += 1;
        request.unproven = true;
        OK(ctx, sv_adapt_new(ctx, c.f, c.r, &request, &a, &vls));
        assert_int_equal(vls, needed);
        tally->deadlocks += vls <= SV_MAX_VLS && run(&c, a, model, vls) == SV_SIM_DEADLOCK;
    }
    sv_adapt_free(a);
    adapt_free(&c);
}

static void yes_is_safe(void **state)
{
    struct tally t = {0};
    uint64_t first = seed;
    (void)state;
    for (uint32_t i = 0; i < trials; i++) {
        seed = first + i;
        one_trial(&t);
    }
    seed = first;
    print_message(
        "%u times yes, %u times no with a cycle (%u runs deadlock), %u without, %u times too "
        "many VLs\n",
        t.yes, t.no_cycle, t.deadlocks, t.no_careful, t.many_vls);
    assert_true(trials < 100 ||
                (t.yes > trials / 3 && t.no_cycle > trials / 20 && t.deadlocks > trials / 100));
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, trials);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(yes_is_safe)};
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0) /* seed is still that of the trial */
        print_error("oracle_test_adapt_proof 1 %llu shows it\n", (unsigned long long)seed);
    sv_ctx_free(ctx);
    return failed;
}
