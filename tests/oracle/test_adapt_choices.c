/*
 * test_adapt_choices.c: every choice that Valiant, UGAL-L and UGAL-G make in simulations, made
 * again: from a list of all switches that may be a via, the same draws, ways followed channel by
 * channel, and what waits there at that moment. Some tables discard what begins at some switches.
 *
 *     oracle_test_adapt_choices [TRIALS [SEED]]
 */
#include "adapt/adapt.h"
#include "adapt_case.h"

#include "support/trials.h"
#include <selvage/traffic.h>

enum { MAX_HOPS = 200, MAX_SWITCHES = 64 };

static sv_ctx *ctx;
static uint32_t trials = 300;
static uint64_t seed = 1;
static char what[200];

typedef enum rule { VALIANT, UGAL_L, UGAL_G } rule;

typedef struct trial {
    adapt_case c;
    sv_adapt *a;
    const sv_sim_policy *inner;
    rule rule;
    sv__via via;
    uint32_t group_size; /* of a dragonfly that is whole; else 0 */
    double bias;
    uint64_t choices, detours;
} trial;

/* ---- the other choice ---- */

static uint32_t group_of(const trial *t, uint32_t s)
{
    return t->via == SV__VIA_FAR && t->group_size > 0 ? s / t->group_size : SV_NONE;
}

static bool may_be(const trial *t, uint32_t v, uint32_t s, uint32_t d)
{
    const sv_fabric *f = t->c.f;
    bool has_terminals = false;
    if (v == s || v == d || !sv_node_alive(f, (sv_node){v}))
        return false;
    for (uint32_t i = 0; i < f->num_terminals; i++)
        has_terminals |= sv_switch_of(f, (sv_node){f->num_switches + i}).i == v;
    if (!has_terminals && t->via != SV__VIA_ALL)
        return false;
    uint32_t own = group_of(t, v), from = group_of(t, s), to = group_of(t, d);
    return own == SV_NONE || (from == to ? own == from : own != from && own != to);
}

/* Whether a packet that begins at a node arrives, VLs and all. */
static bool arrives(const trial *t, sv_node from, uint32_t destination)
{
    const sv_routes *r = t->c.r;
    uint32_t hops;
    sv_node at;
    return sv_routes_trace(t->c.f, r, from, destination, sv_route_sl(r, from, destination), NULL, 0,
                           &hops, &at) == SV_TRACE_ARRIVED;
}

/* The channels between switches of a way from a switch; false if it does not arrive. */
static bool follow(const trial *t, uint32_t s, uint32_t destination, sv_channel *channels,
                   uint32_t *count)
{
    const sv_routes *r = t->c.r;
    uint32_t target = r->node[destination].i;
    for (uint32_t steps = 0; s != target; steps++) {
        unsigned port = sv_route_port(r, (sv_node){s}, destination);
        sv_channel c =
            port == SV_NO_PORT ? SV_NO_CHANNEL : sv_channel_at(t->c.f, (sv_node){s}, port);
        if (c.i == SV_NONE || steps > t->c.f->num_switches)
            return false;
        s = t->c.f->head[c.i].i;
        if (s >= t->c.f->num_switches)
            return s == target;
        channels[(*count)++] = c;
    }
    return true;
}

/* A switch by the same draws as the policy's. */
static uint32_t draw(const trial *t, sv_rng rng, sv_node from, uint32_t s, uint32_t destination)
{
    uint32_t d = sv_switch_of(t->c.f, t->c.r->node[destination]).i;
    uint32_t list[MAX_SWITCHES], count = 0;
    if (s == d)
        return SV_NONE;
    for (uint32_t v = 0; v < t->c.f->num_switches; v++)
        if (may_be(t, v, s, d))
            list[count++] = v;
    for (int tries = 0; count > 0 && tries < 8; tries++) {
        uint32_t v = list[sv_rng_below(&rng, count)];
        if (arrives(t, from, t->c.r->first[v]) && arrives(t, (sv_node){v}, destination))
            return v;
    }
    return SV_NONE;
}

/* What a way costs by the rule of UGAL. */
static double cost(const trial *t, const sv_sim_run *stage, const sv_channel *channels,
                   uint32_t count)
{
    double sum = 0;
    if (t->rule == UGAL_L)
        return count == 0 ? 0 : (double)sv_sim_backlog(stage, channels[0]) * count;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)sv_sim_backlog(stage, channels[i]);
    return sum;
}

static uint32_t expected(const trial *t, const sv_sim_run *stage, sv_rng rng, uint32_t terminal,
                         uint32_t destination)
{
    const sv_fabric *f = t->c.f;
    sv_channel own[MAX_HOPS], detour[MAX_HOPS];
    uint32_t num_own = 0, num_detour = 0;
    sv_node from = {f->num_switches + terminal};
    uint32_t s = sv_switch_of(f, from).i, v = draw(t, rng, from, s, destination);
    if (v == SV_NONE || t->rule == VALIANT)
        return v;
    assert_true(follow(t, s, destination, own, &num_own));
    assert_true(follow(t, s, t->c.r->first[v], detour, &num_detour) &&
                follow(t, v, destination, detour, &num_detour));
    return cost(t, stage, own, num_own) > cost(t, stage, detour, num_detour) + t->bias ? v
                                                                                       : SV_NONE;
}

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    trial *t = user;
    uint32_t via = expected(t, stage, t->a->rng, terminal, message->destination);
    sv_status status = t->inner->choose(t->inner->user, stage, now, terminal, message, offset, way);
    assert_int_equal(status, SV_OK);
    assert_int_equal(way->vias, via == SV_NONE ? 0 : 1);
    assert_int_equal(way->mark, 0);
    if (via != SV_NONE)
        assert_int_equal(way->via[0], t->c.r->first[via]);
    t->choices++;
    t->detours += via != SV_NONE;
    return status;
}

/* ---- trials ---- */

/* Whether tables carry packets between all terminals that they join. */
static bool all_arrive(const trial *t)
{
    sv_node ranks[MAX_SWITCHES * 2];
    uint32_t count = adapt_ranks(&t->c, ranks);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (!arrives(t, ranks[i], t->c.r->first[ranks[j].i]))
                return false;
    return true;
}

/* Some pairs of ports discard everything, as long as terminals do not miss them. */
static void draw_discards(trial *t, sv_rng *rng)
{
    sv_fabric *f = t->c.f;
    sv_routes *r = t->c.r;
    sv_sl2vl none;
    memset(&none, SV_NO_VL, sizeof none);
    if (sv_rng_below(rng, 3) > 0 || !all_arrive(t))
        return;
    uint32_t table = sv_routes_sl2vl_table(ctx, r, &none);
    assert_int_not_equal(table, SV_NONE);
    sv_node ranks[MAX_SWITCHES * 2];
    uint32_t joined = adapt_ranks(&t->c, ranks);
    for (uint32_t i = 0; i < 3 * f->num_switches; i++) {
        sv_node s = {(uint32_t)sv_rng_below(rng, f->num_switches)};
        unsigned ports = f->switches[s.i].ports;
        unsigned in = sv_rng_below(rng, 2) == 0 ? 0 : (unsigned)sv_rng_below(rng, ports + 1u);
        unsigned out = 1 + (unsigned)sv_rng_below(rng, ports);
        uint32_t before = (uint32_t)(sv_route_sl2vl(r, f, s, in, out) - r->vl_tables);
        OK(ctx, sv_routes_set_sl2vl(ctx, f, r, s, in, out, table));
        if (!all_arrive(t) || adapt_ranks(&t->c, ranks) != joined)
            OK(ctx, sv_routes_set_sl2vl(ctx, f, r, s, in, out, before));
    }
}

static void draw_policy(trial *t, sv_rng *rng, const sv_sim_model *model, unsigned *vls)
{
    static const char *const names[] = {"valiant", "ugal-l", "ugal-g"};
    static const char *const vias[] = {"terminals", "far", "all"};
    char spec[100];
    t->rule = (rule)sv_rng_below(rng, 3);
    t->via = (sv__via)sv_rng_below(rng, 3);
    if (strncmp(t->c.spec, "dragonfly:a=", 12) == 0)
        t->group_size = (uint32_t)(t->c.spec[12] - '0');
    if (t->via == SV__VIA_FAR && t->c.failed > 0)
        t->via = SV__VIA_ALL; /* other groups may be found there */
    int length = snprintf(spec, sizeof spec, "%s:via=%s,by=%s", names[t->rule], vias[t->via],
                          sv_rng_below(rng, 2) == 0 ? "packet" : "message");
    if (t->rule != VALIANT && sv_rng_below(rng, 2) == 0) {
        t->bias = (double)sv_rng_below(rng, 3000);
        snprintf(spec + length, sizeof spec - (size_t)length, ",bias=%.0f", t->bias);
    }
    snprintf(what, sizeof what, "%s by %s, %u failed: %s", t->c.spec, t->c.engine, t->c.failed,
             spec);
    const sv_adapt_request request = {
        .spec = spec, .model = model, .seed = seed, .max_vls = SV_MAX_VLS, .unproven = true};
    OK(ctx, sv_adapt_new(ctx, t->c.f, t->c.r, &request, &t->a, vls));
    t->inner = sv_adapt_policy(t->a);
}

/* Traffic among terminals that tables join: those of one part. */
static void simulate(trial *t, const sv_sim_model *model)
{
    sv_node ranks[MAX_SWITCHES * 2];
    sv_sim_traffic *made = NULL;
    sv_sim_result *result = NULL;
    sv_sim_policy outer = *t->inner;
    uint32_t count = adapt_ranks(&t->c, ranks);
    if (count < 2)
        return;
    outer.user = t;
    outer.choose = choose;
    const sv_sim_traffic_request request = {.spec = seed % 2 == 0 ? "uniform" : "shift:by=1",
                                            .model = model,
                                            .bytes = 5000,
                                            .seed = seed,
                                            .messages = 12,
                                            .order = ranks,
                                            .num_order = count};
    OK(ctx, sv_sim_traffic_new(ctx, t->c.f, t->c.r, &request, &made));
    const sv_sim_setup setup = {.model = *model,
                                .control = {.limit = SV_NEVER},
                                .source = sv_sim_traffic_source(made),
                                .policy = &outer};
    OK(ctx, sv_simulate(ctx, t->c.f, t->c.r, &setup, &result));
    sv_sim_free(result);
    sv_sim_traffic_free(made);
}

static void same_choices(void **state)
{
    uint64_t first = seed, choices = 0, detours = 0;
    (void)state;
    for (uint32_t i = 0; i < trials; i++) {
        trial t = {.choices = 0};
        sv_rng rng;
        unsigned vls = 0;
        sv_sim_model model = {.cable = 7000,
                              .credit = 3000,
                              .switch_delay = 100000,
                              .input = 70,
                              .output = 40,
                              .speedup = 100,
                              .ways = 1,
                              .mtu_bytes = 2048,
                              .header_bytes = 26,
                              .drain = 450,
                              .open = 2,
                              .voq = true};
        seed = first + i;
        sv_rng_init(&rng, seed);
        t.c = adapt_draw(ctx, &rng, true);
        draw_discards(&t, &rng);
        draw_policy(&t, &rng, &model, &vls);
        model.vls = vls;
        if (vls <= SV_MAX_VLS)
            simulate(&t, &model);
        choices += t.choices;
        detours += t.detours;
        sv_adapt_free(t.a);
        adapt_free(&t.c);
    }
    seed = first;
    print_message("%llu choices are the same, %llu of them detours\n", (unsigned long long)choices,
                  (unsigned long long)detours);
    assert_true(trials < 100 || (detours > choices / 10 && detours < choices * 9 / 10));
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, trials);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_choices)};
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0)
        print_error("%s\n", what);
    if (failed > 0) /* seed is still that of the trial */
        print_error("oracle_test_adapt_choices 1 %llu shows it\n", (unsigned long long)seed);
    sv_ctx_free(ctx);
    return failed;
}
