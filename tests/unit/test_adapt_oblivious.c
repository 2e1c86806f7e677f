/*
 * test_adapt_oblivious.c: policies that choose by lot or in turn, and UGAL: which ways, how often;
 * in the simulator everything arrives by them, and on a dragonfly they have the shapes that are
 * known of them (Kim et al., ISCA 2008): where all of a group sends to the next, shortest paths
 * have one cable to share, Valiant about half of the bandwidth, UGAL nearly that or more; where
 * traffic is uniform, shortest paths and UGAL are far above Valiant.
 */
#include "adapt/vias.h"
#include "support/simulating.h"

#include <selvage/profiles.h>
#include <selvage/traffic.h>

TEST_CONTEXT

typedef struct bed {
    sv_fabric *f;
    sv_routes *r;
    sv_adapt *a;
    unsigned vls;
} bed;

static const sv_sim_model plain = {.speedup = 100};

static void give_policy(bed *b, const char *spec, const sv_sim_model *model, uint64_t seed)
{
    const sv_adapt_request request = {
        .spec = spec, .model = model, .seed = seed, .max_vls = SV_HARDWARE_VLS};
    sv_adapt_free(b->a);
    b->a = NULL;
    OK(ctx, sv_adapt_new(ctx, b->f, b->r, &request, &b->a, &b->vls));
}

static bed make_bed(const char *fabric, const char *engine, unsigned vls)
{
    bed b = {.f = test_fabric(ctx, fabric)};
    const sv_route_request request = {.vls = vls};
    OK(ctx, sv_route(ctx, b.f, engine, &request, &b.r, NULL));
    return b;
}

static void free_bed(bed *b)
{
    sv_adapt_free(b->a);
    sv_routes_free(b->r);
    sv_fabric_free(b->f);
}

static sv_sim_way choose(const bed *b, uint32_t from, uint32_t to)
{
    const sv_sim_policy *p = sv_adapt_policy(b->a);
    const sv_sim_message message = {.destination = b->r->first[b->f->num_switches + to]};
    sv_sim_way way = {0};
    OK(ctx, p->choose(p->user, NULL, 0, from, &message, 0, &way));
    return way;
}

/* ---- choices ---- */

static void cyclic_takes_turns(void **state)
{
    bed b = make_bed("kary:k=4,n=2,hosts=4", "dmodk", 1);
    (void)state;
    give_policy(&b, "cyclic:paths=3,stretch=0", &plain, 1);
    for (uint32_t i = 0; i < 30; i++) { /* pairs do not disturb each other */
        assert_int_equal(choose(&b, 0, 5).mark, i % 3);
        assert_int_equal(choose(&b, 5, 0).mark, i % 3);
        assert_int_equal(choose(&b, 0, 1).mark, 0);
    }
    sv_adapt_report report = sv_adapt_end(b.a);
    assert_int_equal(report.choices, 90);
    assert_int_equal(report.detours, 40);
    assert_int_equal(report.pairs, 2);
    assert_int_equal(report.max_paths, 3);
    free_bed(&b);
}

static void random_is_even(void **state)
{
    enum { N = 40000 };
    uint32_t seen[4] = {0}, same = 0;
    bed b = make_bed("kary:k=4,n=2,hosts=4", "dmodk", 1);
    bed c = make_bed("kary:k=4,n=2,hosts=4", "dmodk", 1);
    (void)state;
    give_policy(&b, "random", &plain, 1);
    give_policy(&c, "random", &plain, 1);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t mark = choose(&b, 0, 5).mark;
        assert_true(mark < 4);
        seen[mark]++;
        assert_int_equal(choose(&c, 0, 5).mark, mark); /* same seed, same choices */
    }
    for (int i = 0; i < 4; i++) /* five standard deviations */
        assert_true(fabs(seen[i] - N / 4.0) < 5 * sqrt(N * 0.25 * 0.75));
    give_policy(&c, "random", &plain, 2);
    for (uint32_t i = 0; i < 100; i++)
        same += choose(&c, 0, 5).mark == choose(&b, 0, 5).mark;
    assert_true(same < 60);
    free_bed(&b);
    free_bed(&c);
}

/* How often each switch is the via of a pair. */
static void count_vias(const bed *b, uint32_t from, uint32_t to, uint32_t *seen, uint32_t draws)
{
    memset(seen, 0, b->f->num_switches * sizeof *seen);
    for (uint32_t i = 0; i < draws; i++) {
        sv_sim_way way = choose(b, from, to);
        assert_int_equal(way.vias, 1);
        seen[b->r->node[way.via[0]].i]++;
    }
}

static void assert_even(const uint32_t *seen, uint32_t n, const bool *may, uint32_t draws)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < n; s++)
        count += may[s];
    double p = 1.0 / count;
    for (uint32_t s = 0; s < n; s++) {
        if (!may[s])
            assert_int_equal(seen[s], 0);
        else
            assert_true(fabs(seen[s] - draws * p) < 5 * sqrt(draws * p * (1 - p)));
    }
}

static void valiant_is_even(void **state)
{
    enum { N = 60000 };
    uint32_t seen[64];
    bool may[64];
    bed b = make_bed("kary:k=4,n=2,hosts=4", "dmodk", 1); /* 8 switches, 4 of them leaves */
    (void)state;
    give_policy(&b, "valiant", &plain, 1);
    for (uint32_t s = 0; s < 8; s++) {
        may[s] = false;
        SV_FOR_HOPS (b.f, (sv_node){s}, hop)
            may[s] |= hop->to.i >= 8;
    }
    uint32_t from = sv_switch_of(b.f, (sv_node){8}).i, to = sv_switch_of(b.f, (sv_node){8 + 5}).i;
    may[from] = may[to] = false;
    count_vias(&b, 0, 5, seen, N);
    assert_even(seen, 8, may, N);
    give_policy(&b, "valiant:via=all", &plain, 1);
    for (uint32_t s = 0; s < 8; s++)
        may[s] = s != from && s != to;
    count_vias(&b, 0, 5, seen, N);
    assert_even(seen, 8, may, N);
    assert_int_equal(choose(&b, 0, 1).vias, 0); /* on one switch */
    free_bed(&b);
}

/* Of a dragonfly, other groups than both, or the one that both are in. */
static void far_is_another_group(void **state)
{
    enum { N = 60000, A = 4, G = 5, SWITCHES = A * G };
    static const uint32_t pairs[][2] = {{0, 4}, {0, 19}, {7, 9}, {0, 1}, {17, 18}, {12, 3}};
    uint32_t seen[SWITCHES];
    bool may[SWITCHES];
    bed b = make_bed("dragonfly:a=4,p=1,h=1,g=5", "dla", 2);
    (void)state;
    give_policy(&b, "valiant:via=far", &plain, 1);
    for (uint32_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        uint32_t s = sv_switch_of(b.f, (sv_node){SWITCHES + pairs[i][0]}).i;
        uint32_t d = sv_switch_of(b.f, (sv_node){SWITCHES + pairs[i][1]}).i;
        for (uint32_t v = 0; v < SWITCHES; v++)
            may[v] = s / A == d / A ? v / A == s / A && v != s && v != d
                                    : v / A != s / A && v / A != d / A;
        count_vias(&b, pairs[i][0], pairs[i][1], seen, N);
        assert_even(seen, SWITCHES, may, N);
    }
    give_policy(&b, "valiant", &plain, 1); /* anywhere */
    for (uint32_t v = 0; v < SWITCHES; v++)
        may[v] = v != sv_switch_of(b.f, (sv_node){SWITCHES}).i &&
                 v != sv_switch_of(b.f, (sv_node){SWITCHES + 4}).i;
    count_vias(&b, 0, 4, seen, N);
    assert_even(seen, SWITCHES, may, N);
    free_bed(&b);
}

/* Switches that nobody can reach any more are no vias. */
static void vias_lead_on(void **state)
{
    bed b = make_bed("mesh:1x4,hosts=1", "dor", 1);
    (void)state;
    sv_mask *mask = sv_mask_new(ctx, b.f);
    sv_fabric *left = NULL;
    SV_FOR_HOPS (b.f, (sv_node){2}, hop)
        if (hop->to.i == 3)
            sv_mask_cable(mask, b.f, hop->channel);
    OK(ctx, sv_fabric_mask(ctx, b.f, mask, &left));
    sv_mask_free(mask);
    sv_fabric_free(b.f);
    sv_routes_free(b.r);
    b.f = left;
    OK(ctx, sv_route(ctx, b.f, "updn", NULL, &b.r, NULL));
    give_policy(&b, "valiant", &plain, 1);
    for (uint32_t i = 0; i < 200; i++) {
        sv_sim_way way = choose(&b, 0, 1);
        assert_true(way.vias == 0 || b.r->node[way.via[0]].i == 2);
    }
    uint64_t detours = sv_adapt_end(b.a).detours;
    assert_true(detours > 150);
    sv_routes_row(ctx, b.r, b.r->first[4 + 1])[2] = SV_NO_PORT; /* there, but not on */
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(choose(&b, 0, 1).vias, 0);
    assert_int_equal(sv_adapt_end(b.a).detours, detours);
    free_bed(&b);
}

static unsigned port_to(const sv_fabric *f, uint32_t from, uint32_t to)
{
    unsigned port = 0;
    SV_FOR_HOPS (f, (sv_node){from}, hop)
        port = hop->to.i == to ? f->port[hop->channel.i] : port;
    return port;
}

/* How many of 200 packets go by a switch; the others go by none (eight draws lead nowhere). */
static uint32_t draws_of(const bed *b, uint32_t from, uint32_t to, uint32_t via)
{
    uint32_t detours = 0;
    for (uint32_t i = 0; i < 200; i++) {
        sv_sim_way way = choose(b, from, to);
        assert_true(way.vias == 0 || b->r->node[way.via[0]].i == via);
        detours += way.vias;
    }
    return detours;
}

/* Nor are those where tables discard packets on the way there, or on from there. */
static void vias_have_vls(void **state)
{
    uint32_t seen[4];
    bed b = make_bed("mesh:1x4,hosts=1", "updn", 1);
    sv_sl2vl none;
    (void)state;
    memset(&none, SV_NO_VL, sizeof none);
    uint32_t table = sv_routes_sl2vl_table(ctx, b.r, &none);
    assert_int_not_equal(table, SV_NONE);
    give_policy(&b, "valiant", &plain, 1);
    count_vias(&b, 0, 1, seen, 200);
    assert_true(seen[2] > 50 && seen[3] > 50);
    OK(ctx,
       sv_routes_set_sl2vl(ctx, b.f, b.r, (sv_node){3}, 0, port_to(b.f, 3, 2), table)); /* on */
    give_policy(&b, "valiant", &plain, 1);
    assert_true(draws_of(&b, 0, 1, 2) > 150);
    OK(ctx, sv_routes_set_sl2vl(ctx, b.f, b.r, (sv_node){1}, port_to(b.f, 1, 0), port_to(b.f, 1, 2),
                                table)); /* there */
    give_policy(&b, "valiant", &plain, 1);
    assert_int_equal(draws_of(&b, 0, 1, SV_NONE), 0);
    assert_true(draws_of(&b, 2, 1, 0) > 150); /* from elsewhere they do */
    free_bed(&b);
}

/* ---- in the simulator ---- */

/* Traffic for so long after as long a time; the share of what terminals can inject. */
static double share(bed *b, const char *policy, const char *traffic, double load, double us,
                    double *latency_us)
{
    sv_sim_model model;
    sv_sim_traffic *made = NULL;
    sv_sim_result *result = NULL;
    OK(ctx, sv_profile_model(ctx, "qdr", &model));
    give_policy(b, policy, &model, 7);
    model.vls = b->vls;
    const sv_sim_traffic_request request = {
        .spec = traffic, .model = &model, .load = load, .seed = 5};
    OK(ctx, sv_sim_traffic_new(ctx, b->f, b->r, &request, &made));
    uint64_t window = (uint64_t)(us * 1000 * SV_TICKS_PER_NS);
    const sv_sim_setup setup = {.model = model,
                                .control = {.limit = SV_NEVER, .warm_up = window, .sample = window},
                                .source = sv_sim_traffic_source(made),
                                .policy = sv_adapt_policy(b->a)};
    OK(ctx, sv_simulate(ctx, b->f, b->r, &setup, &result));
    assert_int_equal(result->end, SV_SIM_STEADY);
    double full = b->f->num_terminals * 1e9 * SV_TICKS_PER_NS / QDR * 2048 / 2074;
    double found = result->throughput / full;
    if (latency_us != NULL)
        *latency_us =
            (double)(result->latency_sum / result->latencies) / (1000.0 * SV_TICKS_PER_NS);
    sv_sim_free(result);
    sv_sim_traffic_free(made);
    return found;
}

/* All of a group to the next: 8 hosts share one cable; others can be had. */
static void shapes_where_groups_collide(void **state)
{
    bed b = make_bed("dragonfly:a=4,p=2,h=2,g=9", "dla", 2);
    (void)state;
    double minimal = share(&b, "deterministic", "shift:by=8", 0, 200, NULL);
    double valiant = share(&b, "valiant", "shift:by=8", 0, 200, NULL);
    double local = share(&b, "ugal-l", "shift:by=8", 0, 200, NULL);
    double global = share(&b, "ugal-g", "shift:by=8", 0, 200, NULL);
    print_message("shift by a group: minimal %.3f, valiant %.3f, ugal-l %.3f, ugal-g %.3f\n",
                  minimal, valiant, local, global);
    assert_true(minimal > 0.122 && minimal <= 0.1251); /* 1 / 8 */
    assert_true(valiant > 0.40 && valiant < 0.52);
    assert_true(local > 0.85 * valiant && local < 0.60);
    assert_true(global > 0.98 * local && global > valiant);
    free_bed(&b);
}

static void shapes_where_traffic_is_even(void **state)
{
    bed b = make_bed("dragonfly:a=4,p=2,h=2,g=9", "dla", 2);
    double calm[4];
    (void)state;
    double minimal = share(&b, "deterministic", "uniform", 0, 200, NULL);
    double valiant = share(&b, "valiant", "uniform", 0, 200, NULL);
    double local = share(&b, "ugal-l", "uniform", 0, 200, NULL);
    double global = share(&b, "ugal-g", "uniform", 0, 200, NULL);
    print_message("uniform: minimal %.3f, valiant %.3f, ugal-l %.3f, ugal-g %.3f\n", minimal,
                  valiant, local, global);
    assert_true(minimal > 0.70);
    assert_true(valiant < 0.55 && valiant > 0.38);
    assert_true(local > 0.95 * minimal && global > 0.97 * minimal);
    share(&b, "deterministic", "uniform", 0.1, 100, &calm[0]);
    share(&b, "valiant", "uniform", 0.1, 100, &calm[1]);
    share(&b, "ugal-l", "uniform", 0.1, 100, &calm[2]);
    share(&b, "ugal-g", "uniform", 0.1, 100, &calm[3]);
    print_message("at a load of 0.1: %.2f, %.2f, %.2f, %.2f us\n", calm[0], calm[1], calm[2],
                  calm[3]);
    assert_true(calm[1] > 1.3 * calm[0] && calm[2] < 1.15 * calm[0] && calm[3] < 1.15 * calm[0]);
    free_bed(&b);
}

/* With a large bias nobody leaves the tables' own path, and all is as without a policy. */
static void bias_keeps_packets_home(void **state)
{
    bed b = make_bed("dragonfly:a=4,p=2,h=2,g=9", "dla", 2);
    (void)state;
    double minimal = share(&b, "deterministic", "shift:by=8", 0, 50, NULL);
    double local = share(&b, "ugal-l:bias=1000000000", "shift:by=8", 0, 50, NULL);
    assert_int_equal(sv_adapt_end(b.a).detours, 0);
    assert_true(sv_adapt_end(b.a).choices > 1000);
    assert_true(local == minimal);
    double global = share(&b, "ugal-g:bias=1000000000", "shift:by=8", 0, 50, NULL);
    assert_int_equal(sv_adapt_end(b.a).detours, 0);
    assert_true(global == minimal);
    free_bed(&b);
}

/* Twenty messages of some packets from everybody. *report: what the policy did. */
static sv_sim_result *run_all(bed *b, const char *policy, sv_adapt_report *report)
{
    sv_sim_model model = sim_model();
    sv_sim_traffic *made = NULL;
    sv_sim_result *result = NULL;
    model.input = 70;
    give_policy(b, policy, &model, 3);
    model.vls = b->vls;
    const sv_sim_traffic_request request = {
        .spec = "uniform", .model = &model, .seed = 5, .bytes = 7000, .messages = 20};
    OK(ctx, sv_sim_traffic_new(ctx, b->f, b->r, &request, &made));
    const sv_sim_setup setup = {.model = model,
                                .control = {.limit = SV_NEVER},
                                .source = sv_sim_traffic_source(made),
                                .policy = sv_adapt_policy(b->a)};
    OK(ctx, sv_simulate(ctx, b->f, b->r, &setup, &result));
    assert_int_equal(result->end, SV_SIM_COMPLETED);
    assert_int_equal(result->arrived_messages, 20 * b->f->num_terminals);
    assert_int_equal(result->payload_bytes, 20ull * 7000 * b->f->num_terminals);
    sv_sim_traffic_free(made);
    *report = sv_adapt_end(b->a);
    return result;
}

/* By whatever way, everything arrives; and a second run does the same. */
static void all_arrives(void **state)
{
    static const struct {
        const char *spec;
        bool asked, by_packet, oblivious;
    } policies[] = {{"deterministic:adaptive=1", false, false, false},
                    {"random:by=packet", true, true, true},
                    {"cyclic:adaptive=2", true, false, true},
                    {"valiant:via=all", true, true, true},
                    {"ugal-l:by=message", true, false, false},
                    {"ugal-g:adaptive=1", true, true, false}};
    static const char *const fabrics[][2] = {{"torus:4x4,hosts=2", "nue"},
                                             {"kary:k=4,n=2,hosts=4", "dmodk"},
                                             {"dragonfly:a=4,p=1,h=1,g=5", "dla"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        bed b = make_bed(fabrics[i][0], fabrics[i][1], 2);
        for (size_t k = 0; k < sizeof policies / sizeof policies[0]; k++) {
            sv_adapt_report first, second;
            sv_sim_result *once = run_all(&b, policies[k].spec, &first);
            sv_sim_result *twice = run_all(&b, policies[k].spec, &second);
            assert_int_equal(once->time, twice->time);
            assert_int_equal(once->latency_sum, twice->latency_sum);
            assert_memory_equal(&first, &second, sizeof first);
            uint64_t choices = policies[k].by_packet ? once->packets : once->messages;
            assert_int_equal(first.choices, policies[k].asked ? choices : 0);
            assert_true(!policies[k].oblivious || once->detours > once->packets / 20);
            assert_true(policies[k].asked || once->detours == 0);
            assert_true(!policies[k].by_packet || once->detours == first.detours);
            sv_sim_free(once);
            sv_sim_free(twice);
        }
        free_bed(&b);
    }
}

/* ---- packets go as they are told ---- */

enum { MAX_PACKETS = 4000, MAX_LENGTH = 32 };

/* What a policy said, and what became of it; messages of one packet, one at a time. */
typedef struct diary {
    bed *b;
    const sv_sim_policy *inner;
    sv_sim_way said[MAX_PACKETS];
    uint32_t destination[MAX_PACKETS], num_said;
    uint32_t last[64]; /* [terminals]: what was said last */
    uint32_t packet[MAX_PACKETS], terminal[MAX_PACKETS], num_packets;
    sv_hop_taken hops[MAX_PACKETS][MAX_LENGTH];
    uint32_t length[MAX_PACKETS];
} diary;

static sv_status choose_and_tell(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                                 const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    diary *l = user;
    sv_status status = l->inner->choose(l->inner->user, stage, now, terminal, message, offset, way);
    assert_true(l->num_said < MAX_PACKETS);
    l->said[l->num_said] = *way;
    l->destination[l->num_said] = message->destination;
    l->last[terminal] = l->num_said++;
    return status;
}

static void log_injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag,
                         uint64_t time)
{
    diary *l = user;
    (void)tag, (void)time;
    assert_int_equal(packet, l->num_packets);
    l->terminal[packet] = terminal;
    l->packet[packet] = l->last[terminal];
    l->num_packets++;
}

static void log_granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    diary *l = user;
    (void)time;
    assert_true(l->length[packet] < MAX_LENGTH);
    l->hops[packet][l->length[packet]++] = (sv_hop_taken){out, (uint8_t)vl};
}

/* Rules 25 and 26: segment after segment as if its first node had sent it. */
static void check_packet(const diary *l, uint32_t packet)
{
    const bed *b = l->b;
    const sv_sim_way *way = &l->said[l->packet[packet]];
    uint32_t own = sv_sim_table_vls(b->f, b->r), at = 0, count = 0;
    sv_node from = {b->f->num_switches + l->terminal[packet]}, end;
    sv_channel channels[MAX_LENGTH];
    OK(ctx, sv__ways_channels(b->a, l->terminal[packet], l->destination[l->packet[packet]], way,
                              channels, MAX_LENGTH, &count));
    assert_int_equal(count, l->length[packet] + 1); /* the first is no grant */
    for (uint32_t g = 0; g <= way->vias; g++) {
        uint32_t d = g < way->vias ? way->via[g] : l->destination[l->packet[packet]];
        sv_hop_taken hops[MAX_LENGTH];
        assert_int_equal(sv_routes_trace(b->f, b->r, from, d, sv_route_sl(b->r, from, d), hops,
                                         MAX_LENGTH, &count, &end),
                         SV_TRACE_ARRIVED);
        for (uint32_t i = g == 0; i < count; i++, at++) {
            assert_int_equal(l->hops[packet][at].channel.i, hops[i].channel.i);
            assert_int_equal(l->hops[packet][at].vl, g * own + hops[i].vl);
            assert_int_equal(channels[at + 1].i, hops[i].channel.i);
        }
        from = b->r->node[d];
    }
}

static void packets_go_as_told(void **state)
{
    static const char *const cases[][3] = {{"mesh:4x4,hosts=2", "dor", "random:paths=8"},
                                           {"torus:4x4,hosts=2", "nue", "random:paths=8"},
                                           {"dragonfly:a=4,p=1,h=1,g=5", "dla", "cyclic:reach=3"},
                                           {"kary:k=2,n=3,hosts=2", "dmodk", "valiant:via=all"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bed b = make_bed(cases[i][0], cases[i][1], 3);
        sv_sim_model model = sim_model();
        diary *l = calloc(1, sizeof *l);
        give_policy(&b, cases[i][2], &model, 1);
        l->b = &b;
        l->inner = sv_adapt_policy(b.a);
        sv_sim_policy outer = *l->inner;
        outer.user = l;
        outer.choose = choose_and_tell;
        model.vls = b.vls;
        model.open = 1;
        sv_sim_traffic *made = NULL;
        sv_sim_result *result = NULL;
        const sv_sim_traffic_request request = {
            .spec = "uniform", .model = &model, .seed = 2, .messages = 60};
        OK(ctx, sv_sim_traffic_new(ctx, b.f, b.r, &request, &made));
        const sv_sim_watch watch = {.user = l, .injected = log_injected, .granted = log_granted};
        const sv_sim_setup setup = {.model = model,
                                    .control = {.limit = SV_NEVER},
                                    .source = sv_sim_traffic_source(made),
                                    .watch = &watch,
                                    .policy = &outer};
        OK(ctx, sv_simulate(ctx, b.f, b.r, &setup, &result));
        assert_int_equal(result->packets, l->num_packets);
        assert_int_equal(l->num_packets, 60 * b.f->num_terminals);
        for (uint32_t p = 0; p < l->num_packets; p++)
            check_packet(l, p);
        sv_sim_free(result);
        sv_sim_traffic_free(made);
        free_bed(&b);
        free(l);
    }
}

/* ---- order ---- */

/* Messages of all terminals to the one half round, long and short ones, by their numbers. */
struct posted {
    const bed *b;
    uint32_t next[64], due[64], arrived;
};

static bool post(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct posted *p = user;
    const sv_fabric *f = p->b->f;
    uint32_t n = f->num_terminals, to = (terminal + n / 2) % n, number = p->next[terminal];
    if (number == 40)
        return false;
    *message = (sv_sim_message){.destination = p->b->r->first[f->num_switches + to],
                                .bytes = number % 2 ? 100 : 20000,
                                .tag = number};
    p->next[terminal]++;
    return true;
}

static void come(void *user, const sv_sim_arrival *arrival)
{
    struct posted *p = user;
    assert_int_equal(arrival->tag, p->due[arrival->from]);
    p->due[arrival->from]++;
    p->arrived++;
}

/* Ways begin with different VLs here, and so a terminal sends packets of several messages in
 * turn: what comes after a long one is not there before it. */
static void messages_of_a_pair_arrive_in_their_order(void **state)
{
    static const char *const specs[] = {"deterministic", "valiant", "random:by=message", "drb",
                                        "ugal-l:by=message,adaptive=2"};
    bed b = make_bed("torus:4x4,hosts=2", "nue", 4);
    (void)state;
    for (uint32_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct posted p = {.b = &b};
        const sv_sim_source source = {.user = &p, .next = post, .arrived = come};
        sv_sim_setup setup = {.control = {.limit = SV_NEVER}, .source = &source};
        sv_sim_result *result = NULL;
        OK(ctx, sv_profile_model(ctx, "qdr", &setup.model));
        give_policy(&b, specs[i], &setup.model, 1);
        setup.model.vls = b.vls;
        setup.policy = sv_adapt_policy(b.a);
        OK(ctx, sv_simulate(ctx, b.f, b.r, &setup, &result));
        assert_int_equal(result->end, SV_SIM_COMPLETED);
        assert_int_equal(p.arrived, 40 * b.f->num_terminals);
        sv_sim_free(result);
    }
    free_bed(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cyclic_takes_turns),
        cmocka_unit_test(random_is_even),
        cmocka_unit_test(valiant_is_even),
        cmocka_unit_test(far_is_another_group),
        cmocka_unit_test(vias_lead_on),
        cmocka_unit_test(vias_have_vls),
        cmocka_unit_test(shapes_where_groups_collide),
        cmocka_unit_test(shapes_where_traffic_is_even),
        cmocka_unit_test(bias_keeps_packets_home),
        cmocka_unit_test(all_arrives),
        cmocka_unit_test(packets_go_as_told),
        cmocka_unit_test(messages_of_a_pair_arrive_in_their_order),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
