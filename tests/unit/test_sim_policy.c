/*
 * test_sim_policy.c: a policy in the simulator that does nothing changes nothing; how runs with one
 * end; what is refused; and that the same policy does the same again. test_sim_policy_ways.c has
 * what ways do.
 */
#include "policy_bed.h"

TEST_CONTEXT

/* ---- a policy that does nothing ---- */

static sv_status choose_nothing(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                                const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    (void)stage;
    (void)now;
    (void)terminal;
    (void)message;
    assert_int_equal(way->vias, 0);
    assert_int_equal(way->mark, 0);
    assert_true(offset == 0 || offset < message->bytes);
    ++*(uint64_t *)user;
    return SV_OK;
}

static sv_status depart_nothing(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                                uint64_t waited, sv_sim_head *head)
{
    (void)stage;
    (void)now;
    (void)out;
    assert_true(head->waited >= waited);
    ++*(uint64_t *)user;
    return SV_OK;
}

static sv_status deliver_nothing(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                                 sv_sim_head *head)
{
    (void)stage;
    (void)terminal;
    assert_true(head->injected < now);
    ++*(uint64_t *)user;
    return SV_OK;
}

static sv_status timer_nothing(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    assert_int_equal(*again, SV_NEVER);
    ++*(uint64_t *)user;
    *again = now + 777777;
    sv_sim_call(stage, now + 555555);
    return SV_OK;
}

static int by_terminal(const void *a, const void *b)
{
    const sv_sim_arrival *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* Everything that was told of a run; c->arrivals are sorted on the way. */
static void same_runs(sim_case *a, sim_case *b)
{
    const sv_sim_result *r = a->result, *s = b->result;
    assert_int_equal(r->end, s->end);
    assert_int_equal(r->time, s->time);
    assert_int_equal(r->packets, s->packets);
    assert_int_equal(r->messages, s->messages);
    assert_int_equal(r->arrived_packets, s->arrived_packets);
    assert_int_equal(r->arrived_messages, s->arrived_messages);
    assert_int_equal(r->packet_hops, s->packet_hops);
    assert_int_equal(r->payload_bytes, s->payload_bytes);
    assert_int_equal(r->num_stuck, s->num_stuck);
    assert_memory_equal(r->latency, s->latency, SV_SIM_BINS * sizeof *r->latency);
    assert_memory_equal(r->terminals, s->terminals, a->f->num_terminals * sizeof *r->terminals);
    assert_memory_equal(r->channels, s->channels, a->f->num_channels * sizeof *r->channels);
    assert_int_equal(a->num_events, b->num_events);
    for (uint32_t i = 0; i < a->num_events; i++) {
        assert_int_equal(a->events[i].time, b->events[i].time);
        assert_int_equal(a->events[i].packet, b->events[i].packet);
        assert_int_equal(a->events[i].channel.i, b->events[i].channel.i);
        assert_int_equal(a->events[i].vl, b->events[i].vl);
    }
    for (uint32_t i = 0; i < a->num_packets; i++)
        if (a->packet_time[i] < r->time)
            assert_int_equal(a->packet_time[i], b->packet_time[i]);
    assert_int_equal(a->num_arrivals, b->num_arrivals);
    qsort(a->arrivals, a->num_arrivals, sizeof *a->arrivals, by_terminal);
    qsort(b->arrivals, b->num_arrivals, sizeof *b->arrivals, by_terminal);
    for (uint32_t i = 0; i < a->num_arrivals; i++)
        assert_memory_equal(&a->arrivals[i], &b->arrivals[i], sizeof *a->arrivals);
}

enum { SENDS = 600 };

/* Messages of all sizes from everybody to everybody, for some microseconds. */
static void draw(sim_send *sends, uint32_t terminals, uint64_t seed)
{
    sv_rng rng;
    sv_rng_init(&rng, seed);
    for (uint32_t i = 0; i < SENDS; i++) {
        uint32_t from = (uint32_t)sv_rng_below(&rng, terminals), to = from;
        while (to == from)
            to = (uint32_t)sv_rng_below(&rng, terminals);
        sends[i] = (sim_send){from, to, (uint32_t)sv_rng_below(&rng, 9000), 20000ull * i};
    }
}

static void a_policy_that_does_nothing_changes_nothing(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"torus:4x4,hosts=2", "mesh:1x3,hosts=3",
                                          "dragonfly:a=4,p=2,h=2,g=9", "torus:5,hosts=2"};
    uint64_t calls[4] = {0};
    const sv_sim_policy nothing = {.segments = 1},
                        chooses = {.user = &calls[0],
                                   .segments = 1,
                                   .by_packet = true,
                                   .choose = choose_nothing},
                        hears = {.user = &calls[1], .segments = 1, .deliver = deliver_nothing},
                        all = {.user = &calls[2],
                               .segments = 2,
                               .by_packet = true,
                               .first = 5,
                               .choose = choose_nothing,
                               .depart = depart_nothing,
                               .deliver = deliver_nothing,
                               .timer = timer_nothing};
    const sv_sim_policy *const policies[] = {&nothing, &chooses, &hears, &all};
    for (uint32_t i = 0; i < LENGTH(fabrics); i++)
        for (uint32_t k = 0; k < 2 * LENGTH(policies); k++) {
            sim_send sends[SENDS];
            sim_case plain = sim_begin(ctx, test_fabric(ctx, fabrics[i])),
                     with = sim_begin(ctx, test_fabric(ctx, fabrics[i]));
            draw(sends, plain.f->num_terminals, 1 + i);
            plain.model.input = 70;
            plain.model.output = 40;
            plain.model.voq = k % 2 == 0;
            plain.model.inband_bytes = k % 2 == 0 ? 0 : 8;
            plain.model.drain = QDR;
            plain.model.open = 1 + k;
            plain.model.speedup = 130;
            plain.control.warm_up = 1000000;
            with.model = plain.model;
            with.control = plain.control;
            with.policy = policies[k / 2];
            sim_run(ctx, &plain, sends, SENDS, 1);
            sim_run(ctx, &with, sends, SENDS, 1);
            same_runs(&plain, &with);
            assert_int_equal(with.result->control_packets, 0);
            assert_int_equal(with.result->detours, 0);
            assert_int_equal(with.result->early, 0);
            plain.control.limit = with.control.limit = plain.result->time / 2;
            sim_run(ctx, &plain, sends, SENDS, 1);
            sim_run(ctx, &with, sends, SENDS, 1);
            same_runs(&plain, &with);
            sim_finish(&plain);
            sim_finish(&with);
        }
    assert_true(calls[0] > 2000 && calls[1] > 2000 && calls[2] > 5000);
}

/* ---- rules 20, 33 ---- */

static sv_status tick(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    (void)user;
    (void)stage;
    *again = now + 100000;
    return SV_OK;
}

/* Everybody to the next but one in a ring of five, one VL: with and without a timer that never
 * ends, and with a VL for all beside it. */
static void deadlocks_are_found(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, test_fabric(ctx, "torus:5,hosts=4"));
    sv_routes_free(c.r);
    OK(ctx, sv_route(ctx, c.f, "sssp", &(sv_route_request){.vls = 1}, &c.r, NULL));
    sim_send sends[20];
    for (uint32_t t = 0; t < 20; t++)
        sends[t] = (sim_send){t, (t + 8) % 20, 2048, 0};
    c.model.input = c.model.output = 33;
    unsigned vls = sv_sim_table_vls(c.f, c.r);
    sv_sim_policy policy = {.segments = 1, .first = 7};
    for (uint32_t k = 0; k < 8; k++) {
        policy.adaptive = k / 4;
        policy.timer = k % 2 == 0 ? NULL : tick;
        policy.deliver = k / 2 % 2 == 0 ? NULL : deliver_nothing;
        uint64_t calls = 0;
        policy.user = &calls;
        c.model.vls = vls + policy.adaptive;
        c.control.ignore_stuck = k % 2 == 1;
        c.policy = &policy;
        const sv_sim_result *r = sim_run(ctx, &c, sends, 20, 40);
        if (r->end != SV_SIM_DEADLOCK)
            fail_msg("case %u ends with %d", k, r->end);
        assert_true(r->num_stuck >= 5 * (1 + policy.adaptive));
        assert_int_equal(r->num_stuck, c.num_stuck);
    }
    sim_finish(&c);
}

/* With one packet a buffer escape VLs are full in a ring again and again, while credits of
 * adaptive VLs are on their way: whoever looks for deadlocks (every some thousand hops) must see
 * that. */
static void adaptive_vls_help_out_of_full_escape_vls(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, test_fabric(ctx, "torus:5,hosts=1"));
    sv_routes_free(c.r);
    OK(ctx, sv_route(ctx, c.f, "sssp", &(sv_route_request){.vls = 1}, &c.r, NULL));
    sim_send sends[5];
    for (uint32_t t = 0; t < 5; t++)
        sends[t] = (sim_send){t, (t + 2) % 5, 2048, 0};
    c.model.input = c.model.output = 33;
    c.model.credit = 4000000; /* long after the buffer is empty */
    for (unsigned adaptive = 0; adaptive < 3; adaptive++) {
        const sv_sim_policy policy = {.segments = 1, .adaptive = adaptive};
        c.model.vls = sv_sim_table_vls(c.f, c.r) + adaptive;
        c.policy = &policy;
        sim_run(ctx, &c, sends, 5, 10000);
        assert_int_equal(c.result->end, adaptive == 0 ? SV_SIM_DEADLOCK : SV_SIM_COMPLETED);
    }
    sim_finish(&c);
}

/* ---- what is refused ---- */

static sv_sim_policy changed(struct script *s, unsigned segments, unsigned adaptive,
                             uint32_t header)
{
    sv_sim_policy policy = scripted(s, segments);
    policy.adaptive = adaptive;
    policy.header_bytes = header;
    return policy;
}

static void policies_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        unsigned segments, adaptive, header;
        sv_status status;
        const char *says;
    } wrong[] = {
        {0, 0, 0, SV_BAD_INPUT, "a policy has 1 to 3 segments, not 0"},
        {4, 0, 0, SV_BAD_INPUT, "a policy has 1 to 3 segments, not 4"},
        {1, 0, 100000, SV_BAD_INPUT, "header of 100000 bytes is too long"},
        {1, 0, 65000, SV_BAD_INPUT, "not over 65,535 together"},
        {1, 0, 2000, SV_INFEASIBLE, "a packet of 64 blocks does not fit"},
        {3, 0, 0, SV_INFEASIBLE, "3 segments of 1 VLs and 0 adaptive ones are more than 2"},
        {1, 2, 0, SV_INFEASIBLE, "1 segments of 1 VLs and 2 adaptive ones are more than 2"},
        {1, UINT32_MAX, 0, SV_INFEASIBLE, "adaptive ones are more than 2 VLs"}};
    sim_case c = ring(ctx);
    const sim_send send = {0, 1, 100, 0};
    struct script s = {0};
    c.sends = &send;
    c.count = 1;
    c.model.vls = 2;
    c.model.input = 40;
    assert_int_equal(sv_sim_table_vls(c.f, c.r), 1);
    for (uint32_t i = 0; i < LENGTH(wrong); i++) {
        sv_sim_policy policy = changed(&s, wrong[i].segments, wrong[i].adaptive, wrong[i].header);
        c.policy = &policy;
        FAILS(ctx, sim_try(ctx, &c), wrong[i].status, wrong[i].says);
    }
    sv_sim_policy policy = scripted(&s, 2);
    const sv_sim_director director = {.first = SV_NEVER};
    const sv_sim_source source = {.user = &c, .next = sim_next};
    const sv_sim_setup both = {.model = c.model,
                               .control = c.control,
                               .source = &source,
                               .director = &director,
                               .policy = &policy};
    sv_sim_result *result = NULL;
    FAILS(ctx, sv_simulate(ctx, c.f, c.r, &both, &result), SV_BAD_INPUT,
          "a policy and a director exclude each other");
    assert_null(result);
    /* Weights count where the tables have some. */
    c.policy = &policy;
    c.model.weighted = true;
    s.c = &c;
    OK(ctx, sim_try(ctx, &c));
    c.r->vlarb[SV_VLARB_CA].given = true;
    FAILS(ctx, sim_try(ctx, &c), SV_BAD_INPUT, "a policy and VLs by weights exclude each other");
    sim_finish(&c);
}

static void ways_that_are_none_are_refused(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send send = {0, 1, 100, 0};
    const struct {
        sv_sim_way way;
        const char *says;
    } wrong[] = {
        {{.vias = 2}, "a way by 2 switches is not one of 2 segments"},
        {{.vias = 200}, "a way by 200 switches is not one of 2 segments"},
        {{.vias = 1, .via = {sim_destination(&c, 2)}}, "which is no switch"},
        {{.vias = 1, .via = {c.r->num_destinations}}, "which is no switch"},
    };
    c.model.vls = 2;
    for (uint32_t i = 0; i < LENGTH(wrong); i++) {
        struct script s = {.num_ways = 1, .ways = {wrong[i].way}};
        const sv_sim_policy policy = scripted(&s, 2);
        c.policy = &policy;
        c.sends = &send;
        c.count = 1;
        FAILS(ctx, sim_try(ctx, &c), SV_BAD_INPUT, wrong[i].says);
    }
    /* Tables that have no way to the via, or none on from it. */
    struct script s = {.num_ways = 1, .ways = {{.vias = 1, .via = {c.r->first[3]}}}};
    const sv_sim_policy policy = scripted(&s, 2);
    c.policy = &policy;
    sv_routes_row(ctx, c.r, sim_destination(&c, 1))[3] = SV_NO_PORT;
    FAILS(ctx, sim_try(ctx, &c), SV_BAD_INPUT, "switch 's' has no way for a packet to 'h");
    s.asked = 0;
    sv_routes_row(ctx, c.r, c.r->first[3])[0] = SV_NO_PORT;
    FAILS(ctx, sim_try(ctx, &c), SV_BAD_INPUT, "switch 's' has no way for a packet to 's'");
    sim_finish(&c);
}

/* A timer that asks for the past, or changes tables. */
static sv_status never_later(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    (void)user;
    (void)stage;
    *again = now;
    return SV_OK;
}

static sv_status changes_tables(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    (void)now;
    (void)again;
    return sv_sim_set_block(stage, (sv_node){0}, 0, user);
}

static void control_packets_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct order order;
        sv_status status;
        const char *says;
    } wrong[] = {
        {{9, 9, 4, 0, 90, 0}, SV_BAD_INPUT, "has a control packet for no other host"},
        {{9, 10, 0, UINT32_MAX - 3, 90, 0}, SV_BAD_INPUT, "control packet for no other host"},
        {{9, 8, 4, 1, 90, 0}, SV_BAD_INPUT, "is ready in the past"},
        {{9, 9, 0, 1, 90, 0}, SV_BAD_INPUT, "is ready in the past"},
        {{9, 9, 8, 1, 90, 0}, SV_BAD_INPUT, "node 8 sends a control packet"},
        {{9, 9, 4, 1, 0, 0}, SV_BAD_INPUT, "has 1 to 65,535 bytes, not 0"},
        {{9, 9, 4, 1, 65536, 0}, SV_BAD_INPUT, "has 1 to 65,535 bytes, not 65536"},
        {{9, 9, 4, 1, 40 * 64 + 1, 0}, SV_INFEASIBLE, "of 41 blocks does not fit"}};
    sim_case c = ring(ctx);
    const sim_send send = {0, 1, 100, 100};
    c.sends = &send;
    c.count = 1;
    c.model.output = 40;
    for (uint32_t i = 0; i < LENGTH(wrong); i++) {
        struct script s = {.c = &c, .orders = &wrong[i].order, .num_orders = 1};
        const sv_sim_policy policy = scripted(&s, 1);
        c.policy = &policy;
        FAILS(ctx, sim_try(ctx, &c), wrong[i].status, wrong[i].says);
    }
    sv_sim_policy policy = {.user = c.r, .segments = 1, .first = 9, .timer = never_later};
    c.policy = &policy;
    FAILS(ctx, sim_try(ctx, &c), SV_BAD_INPUT, "a policy wants to be called again at tick 9 of 9");
    policy.timer = changes_tables;
    FAILS(ctx, sim_try(ctx, &c), SV_BAD_INPUT, "tables change at the beginning of a tick only");
    sim_finish(&c);
}

/* ---- the same again ---- */

/* A policy that does at random what can be done, and adds up what it hears. */
struct chance {
    const sim_case *c;
    sv_rng rng;
    unsigned segments;
    uint64_t sum, heard, early;
    uint32_t *next; /* [terminals × terminals]: number of the packet that comes next, if in order */
};

static void add(struct chance *a, uint64_t what)
{
    a->sum = (a->sum ^ what) * UINT64_C(0x9e3779b97f4a7c15);
    a->heard++;
}

static sv_status choose_at_random(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                                  const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    struct chance *a = user;
    const sv_fabric *f = a->c->f;
    add(a, now ^ terminal ^ offset);
    way->vias = (uint8_t)sv_rng_below(&a->rng, a->segments);
    for (uint32_t i = 0; i < way->vias; i++)
        way->via[i] = a->c->r->first[sv_rng_below(&a->rng, f->num_switches)];
    add(a, sv_sim_backlog(stage, (sv_channel){(uint32_t)sv_rng_below(&a->rng, f->num_channels)}));
    if (sv_rng_below(&a->rng, 8) > 0)
        return SV_OK;
    return sv_sim_send(stage, (sv_node){f->num_switches + terminal}, message->destination, 70, now,
                       0, 0);
}

static sv_status depart_at_random(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                                  uint64_t waited, sv_sim_head *head)
{
    struct chance *a = user;
    sv_sim_waiting waiting[64];
    uint64_t bytes = 0;
    uint32_t count = sv_sim_waiting_for(stage, out, waiting, LENGTH(waiting));
    for (uint32_t i = 0; i < count; i++)
        bytes += waiting[i].bytes;
    assert_true(sv_sim_backlog(stage, out) >= bytes);
    add(a, now ^ waited ^ head->sequence ^ bytes);
    sv_sim_call(stage, now + sv_rng_below(&a->rng, 1000));
    if (head->control || sv_rng_below(&a->rng, 8) > 0)
        return SV_OK;
    return sv_sim_send(stage, a->c->f->tail[out.i], a->c->r->first[head->from.i], 90,
                       now + 1 + sv_rng_below(&a->rng, 100000), 0, 0);
}

static sv_status deliver_at_random(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                                   sv_sim_head *head)
{
    struct chance *a = user;
    const sv_fabric *f = a->c->f;
    add(a, now ^ terminal ^ head->waited ^ head->injected);
    if (head->control)
        return SV_OK;
    uint32_t from = head->from.i - f->num_switches;
    uint32_t *next = &a->next[from * f->num_terminals + terminal];
    a->early += head->sequence != *next;
    while (head->sequence == *next) /* what was early before is not followed: an upper bound */
        ++*next;
    if (!head->last)
        return SV_OK;
    return sv_sim_send(stage, (sv_node){f->num_switches + terminal}, a->c->r->first[head->from.i],
                       64, now + sv_rng_below(&a->rng, 2) * 5000, 0, 0);
}

static sv_status hear_nothing(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                              sv_sim_head *head)
{
    struct chance *a = user;
    (void)stage;
    (void)now;
    (void)terminal;
    (void)head;
    a->early++;
    return SV_OK;
}

static sv_status timer_at_random(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    struct chance *a = user;
    (void)stage;
    add(a, now);
    *again = now + 1 + sv_rng_below(&a->rng, 500000);
    return SV_OK;
}

static uint64_t run_at_random(sim_case *c, uint64_t seed, unsigned segments, unsigned adaptive)
{
    struct chance a = {.c = c, .segments = segments};
    sv_rng_init(&a.rng, seed);
    a.next = calloc((size_t)c->f->num_terminals * c->f->num_terminals, sizeof *a.next);
    const sv_sim_policy policy = {.user = &a,
                                  .segments = segments,
                                  .adaptive = adaptive,
                                  .header_bytes = 8,
                                  .by_packet = seed % 2 == 0,
                                  .patience = 100000,
                                  .choose = choose_at_random,
                                  .depart = depart_at_random,
                                  .deliver = deliver_at_random,
                                  .timer = timer_at_random};
    c->policy = &policy;
    OK(ctx, sim_try(ctx, c));
    assert_true(a.heard > 1000);
    assert_true(c->result->early <= a.early);
    c->policy = NULL;
    free(a.next);
    return a.sum;
}

static void the_same_policy_does_the_same_again(void **state)
{
    (void)state;
    uint64_t early = 0, control = 0, completed = 0;
    for (uint32_t k = 0; k < 12; k++) {
        sim_send sends[SENDS];
        sim_case c =
            sim_begin(ctx, test_fabric(ctx, k % 3 == 0 ? "mesh:4x4,hosts=2" : "torus:4x4,hosts=2"));
        draw(sends, c.f->num_terminals, 1 + k);
        c.sends = sends;
        c.count = SENDS;
        c.model.input = 100;
        c.model.output = 50;
        c.model.voq = k % 2 == 0;
        c.model.inband_bytes = k % 4 == 0 ? 8 : 0;
        c.model.drain = QDR;
        c.model.ways = 1 + k % 3;
        c.model.vls = 3 * sv_sim_table_vls(c.f, c.r) + 2;
        uint64_t sum = run_at_random(&c, k, 1 + k % 3, k % 2);
        const uint64_t time = c.result->time, hops = c.result->packet_hops;
        early += c.result->early;
        control += c.result->control_packets;
        if (c.result->end == SV_SIM_COMPLETED) {
            completed++;
            assert_int_equal(c.result->arrived_messages, SENDS);
            assert_int_equal(c.num_arrivals, SENDS);
            assert_true(c.result->arrived_packets >= c.result->packets - c.result->control_packets);
        }
        assert_int_equal(run_at_random(&c, k, 1 + k % 3, k % 2), sum);
        assert_int_equal(c.result->time, time);
        assert_int_equal(c.result->packet_hops, hops);
        sim_finish(&c);
    }
    assert_true(early > 100 && control > 5000 && completed > 6);
}

/*
 * Whether somebody hears of packets in their tick or nobody does, so that they count as arrived
 * when that is known: the same run.
 */
static void hearing_of_packets_changes_nothing(void **state)
{
    (void)state;
    uint64_t early = 0, calls = 0;
    for (uint32_t k = 0; k < 10; k++) {
        sim_send sends[SENDS];
        sim_case cases[2];
        uint64_t sums[2];
        for (uint32_t i = 0; i < 2; i++) {
            sim_case *c = &cases[i];
            *c = sim_begin(ctx, test_fabric(ctx, "mesh:4x4,hosts=2"));
            draw(sends, c->f->num_terminals, 70 + k);
            c->sends = sends;
            c->count = SENDS;
            c->model.voq = k % 2 == 0;
            c->model.drain = QDR;
            c->model.vls = 3 * sv_sim_table_vls(c->f, c->r) + 2;
            c->control.limit = k % 3 == 0 ? 8000000 : SV_NEVER;
            struct chance a = {.c = c, .segments = 1 + k % 3};
            sv_rng_init(&a.rng, k);
            const sv_sim_policy policy = {.user = &a,
                                          .segments = 1 + k % 3,
                                          .adaptive = k % 2,
                                          .by_packet = k % 4 < 2,
                                          .choose = choose_at_random,
                                          .deliver = i == 0 ? NULL : hear_nothing,
                                          .timer = timer_at_random};
            c->policy = &policy;
            OK(ctx, sim_try(ctx, c));
            sums[i] = a.sum;
            calls += a.early;
        }
        const sv_sim_result *r = cases[0].result, *s = cases[1].result;
        same_runs(&cases[0], &cases[1]);
        assert_int_equal(sums[0], sums[1]);
        assert_int_equal(r->early, s->early);
        assert_true(r->early_wait == s->early_wait);
        assert_int_equal(r->early_max, s->early_max);
        assert_int_equal(r->detours, s->detours);
        assert_int_equal(r->control_packets, s->control_packets);
        early += r->early;
        sim_finish(&cases[0]);
        sim_finish(&cases[1]);
    }
    assert_true(early > 100 && calls > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_does_nothing_changes_nothing),
        cmocka_unit_test(deadlocks_are_found),
        cmocka_unit_test(adaptive_vls_help_out_of_full_escape_vls),
        cmocka_unit_test(policies_that_are_none_are_refused),
        cmocka_unit_test(ways_that_are_none_are_refused),
        cmocka_unit_test(control_packets_that_are_none_are_refused),
        cmocka_unit_test(the_same_policy_does_the_same_again),
        cmocka_unit_test(hearing_of_packets_changes_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
