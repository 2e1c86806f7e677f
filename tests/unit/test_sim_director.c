/*
 * test_sim_director.c: what a director may do besides changing blocks: other VLs, other SLs and
 * addresses, messages held back; when he is called; what is refused. And that one who does nothing
 * changes nothing.
 */
#include "support/directing.h"

TEST_CONTEXT

/* ---- one who does nothing ---- */

static void same_numbers(const sv_fabric *f, const sv_sim_result *a, const sv_sim_result *b)
{
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->time, b->time);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->until, b->until);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->packets, b->packets);
    assert_int_equal(a->arrived_messages, b->arrived_messages);
    assert_int_equal(a->arrived_packets, b->arrived_packets);
    assert_int_equal(a->packet_hops, b->packet_hops);
    assert_int_equal(a->looks, b->looks);
    assert_int_equal(a->payload_bytes, b->payload_bytes);
    assert_true(a->throughput == b->throughput);
    assert_true(a->steady_share == b->steady_share);
    assert_int_equal(a->latencies, b->latencies);
    assert_int_equal(a->latency_max, b->latency_max);
    assert_int_equal(a->total_max, b->total_max);
    assert_true(a->latency_sum == b->latency_sum && a->total_sum == b->total_sum);
    assert_memory_equal(a->latency, b->latency, SV_SIM_BINS * sizeof *a->latency);
    assert_memory_equal(a->terminals, b->terminals, f->num_terminals * sizeof *a->terminals);
    assert_memory_equal(a->channels, b->channels, f->num_channels * sizeof *a->channels);
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < (size_t)a->rows * f->num_switches; i++) {
        assert_int_equal(a->timeline[i].packets, b->timeline[i].packets);
        assert_int_equal(a->timeline[i].bytes, b->timeline[i].bytes);
        assert_int_equal(a->timeline[i].waited, b->timeline[i].waited);
    }
    assert_int_equal(a->num_stuck, b->num_stuck);
    assert_int_equal(a->stuck_since, b->stuck_since);
    for (uint32_t i = 0; i < a->num_stuck; i++) {
        assert_int_equal(a->stuck[i].in.i, b->stuck[i].in.i);
        assert_int_equal(a->stuck[i].out.i, b->stuck[i].out.i);
        assert_int_equal(a->stuck[i].since, b->stuck[i].since);
    }
    for (uint32_t what = 0; what < SV_SIM_INCIDENTS; what++) {
        assert_int_equal(a->incidents[what], 0);
        assert_int_equal(b->incidents[what], 0);
    }
}

static sv_status come_again(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    uint64_t *calls = user;
    (void)stage;
    *again = ++*calls < 400 ? now + 77777 : SV_NEVER;
    return SV_OK;
}

static bool let_through(void *user, uint32_t t, uint64_t now, sv_sim_message *message, uint8_t *sl)
{
    (void)user;
    (void)t;
    (void)sl;
    assert_true(now >= message->ready);
    return true;
}

/* A pattern on a fabric: alone, with a director without functions, and with one who only looks. */
static sv_sim_end compare(const char *spec, const char *engine, const char *pattern, bool waits,
                          sv_sim_model model)
{
    sv_fabric *f = test_fabric(ctx, spec);
    sv_routes *r = NULL;
    sv_sim_result *result[3] = {NULL};
    uint64_t calls = 0;
    const sv_sim_director directors[] = {
        {.first = SV_NEVER}, {.user = &calls, .first = 5, .act = come_again, .open = let_through}};
    OK(ctx, sv_route(ctx, f, engine, &(sv_route_request){.vls = 2}, &r, NULL));
    for (int i = 0; i < 3; i++) {
        const sv_sim_traffic_request request = {
            .spec = pattern, .bytes = 5000, .messages = waits ? 0 : 6, .seed = 3, .model = &model};
        sv_sim_traffic *traffic = NULL;
        OK(ctx, sv_sim_traffic_new(ctx, f, r, &request, &traffic));
        const sv_sim_setup setup = {
            .model = model,
            .control = {.limit = 40000000, .warm_up = 1000000, .interval = 1000000},
            .source = sv_sim_traffic_source(traffic),
            .director = i == 0 ? NULL : &directors[i - 1]};
        OK(ctx, sv_simulate(ctx, f, r, &setup, &result[i]));
        sv_sim_traffic_free(traffic);
        same_numbers(f, result[0], result[i]);
    }
    assert_true(calls > 10);
    sv_sim_end how = result[0]->end;
    assert_true(result[0]->arrived_packets > 0 || how == SV_SIM_DEADLOCK);
    for (int i = 0; i < 3; i++)
        sv_sim_free(result[i]);
    sv_routes_free(r);
    sv_fabric_free(f);
    return how;
}

static void who_does_nothing_changes_nothing(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:3x3,hosts=2", "mesh:2x3,hosts=3", "torus:5,hosts=1"};
    static const char *const patterns[] = {"exchange", "uniform",   "bitreverse",
                                           "shuffle",  "transpose", "shift",
                                           "tornado",  "stencil",   "hotspot:senders=2,spots=1",
                                           "matching", "1toN",      "Nto1",
                                           "pingpong", "ring",      "allreduce",
                                           "allgather"};
    for (uint32_t i = 0; i < LENGTH(specs); i++)
        for (uint32_t k = 0; k < LENGTH(patterns); k++) {
            sv_sim_model model = sim_model();
            model.input = model.output = 66;
            model.vls = 2;
            model.drain = QDR;
            model.open = 2;
            model.voq = k % 2;
            model.inband_bytes = k % 3 == 0 ? 8 : 0;
            compare(specs[i], "dfsssp", patterns[k], k >= 12, model);
        }
    sv_sim_model small = sim_model(); /* one packet: they wait for each other for ever */
    small.input = small.output = BLOCKS;
    assert_int_equal(compare("torus:5,hosts=1", "sssp", "shift:by=2", false, small),
                     SV_SIM_DEADLOCK);
}

/* ---- VLs and SLs ---- */

/* A packet to terminal 1 goes by the SL that it is told, on the VL of that number. */
static bool level_three(void *user, uint32_t t, uint64_t now, sv_sim_message *message, uint8_t *sl)
{
    (void)user;
    (void)now;
    assert_int_equal(*sl, t); /* the tables' */
    *sl = message->tag == 1 ? 3 : *sl;
    return true;
}

static void a_message_gets_another_level(void **state)
{
    (void)state;
    static const uint8_t by_sender[] = {0, 1};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    sim_vls_by_sender(ctx, &c, by_sender);
    const sim_send sends[] = {{0, 1, 100, 0}, {0, 1, 100, 0}, {0, 1, 100, 0}, {1, 0, 100, 0}};
    struct script s = {.c = &c, .open = level_three};
    run_script(ctx, &s, sends, 4);
    assert_int_equal(c.result->arrived_packets, 4);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < c.num_events; i++)
        if (c.events[i].hop > 0) {
            assert_int_equal(c.events[i].vl, c.events[i].tag == 1   ? 3
                                             : c.events[i].tag == 3 ? 1
                                                                    : 0);
            seen++;
        }
    assert_int_equal(seen, 4);
    sim_finish(&c);
}

/* Another address of the same node: its own entries are taken. Order is by pair of terminals. */
static bool high_address(void *user, uint32_t t, uint64_t now, sv_sim_message *message, uint8_t *sl)
{
    (void)user;
    (void)t;
    (void)sl;
    message->destination += now >= 3 * FIRST;
    message->bytes = message->tag = 0; /* nobody cares */
    return true;
}

static void a_message_gets_another_address(void **state)
{
    (void)state;
    static const sim_cable detour[] = {{SIM_HOST, 0, SV_SPEED_QDR, 4},
                                       {0, 1, SV_SPEED_QDR, 4},
                                       {0, 2, SV_SPEED_QDR, 4},
                                       {1, 2, SV_SPEED_QDR, 4},
                                       {2, SIM_HOST + 1, SV_SPEED_QDR, 4}};
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 3, 2, detour, LENGTH(detour)));
    sv_routes_free(c.r);
    c.r = test_routed(ctx, c.f, "minhop", 1);
    set_entry(ctx, &c, c.r, 0, 1, 2); /* base: by switch 1 */
    sv_routes_row(ctx, c.r, sim_destination(&c, 1) + 1)[0] = 3;
    c.model.open = 1;
    sim_send sends[20];
    for (uint32_t i = 0; i < 20; i++)
        sends[i] = (sim_send){0, 1, 38, 0};
    struct script s = {.c = &c, .open = high_address};
    run_script(ctx, &s, sends, 20);
    assert_int_equal(c.result->arrived_packets, 20);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(sim_grant(&c, channel_of(&c, 0, 2), k)->packet, k);
    assert_null(sim_grant(&c, channel_of(&c, 0, 2), 3));
    assert_int_equal(c.result->payload_bytes, 20 * 38);
    assert_int_equal(c.result->incidents[SV_SIM_OVERTAKEN], 3);
    assert_int_equal(c.result->example[SV_SIM_OVERTAKEN].destination, sim_destination(&c, 1));
    sim_finish(&c);
}

/* The VLs of a switch, as one table or by ports, from the tick of the change on, and back. */
static void vls_change(void **state)
{
    (void)state;
    for (uint32_t by_ports = 0; by_ports < 2; by_ports++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
        sv_routes *other = NULL;
        sv_sl2vl vls;
        OK(ctx, sv_routes_clone(ctx, c.r, &other));
        memset(&vls, 5, sizeof vls);
        uint32_t table = sv_routes_sl2vl_table(ctx, other, &vls);
        if (by_ports)
            OK(ctx, sv_routes_set_sl2vl(ctx, c.f, other, (sv_node){0}, 1, 2, table));
        else
            other->vls_of[0] = (uint16_t)table;
        const struct step steps[] = {{.kind = VLS, .time = 2 * SLOT, .node = 0, .with = other},
                                     {.kind = VLS, .time = 4 * SLOT, .node = 0, .with = c.r},
                                     {.kind = VLS, .time = 6 * SLOT, .node = 0, .with = other}};
        const sim_send sends[] = {{0, 1, 8 * 2048, 0}, {2, 1, 8 * 2048, 100 * SLOT}};
        struct script s = {.c = &c, .steps = steps, .count = 3};
        run_script(ctx, &s, sends, 2);
        assert_int_equal(c.result->arrived_packets, 16);
        for (uint32_t k = 0; k < 16; k++) {
            const sim_event *grant = sim_grant(&c, channel_of(&c, 0, 2), k);
            bool is = k < 8 ? k / 2 % 2 == 1 : !by_ports;
            assert_int_equal(grant->packet, k);
            assert_int_equal(grant->vl, is ? 5 : 0);
        }
        sv_routes_free(other);
        sim_finish(&c);
    }
}

/* An adapter's VL is settled when a message is opened; a VL that a switch has not is a drop. */
static void vls_of_adapters_and_vls_that_are_none(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    sv_routes *other = NULL;
    sv_sl2vl vls;
    OK(ctx, sv_routes_clone(ctx, c.r, &other));
    memset(&vls, 4, sizeof vls);
    other->vls_of[1] = (uint16_t)sv_routes_sl2vl_table(ctx, other, &vls);
    memset(&vls, SV_NO_VL, sizeof vls);
    other->vls_of[0] = (uint16_t)sv_routes_sl2vl_table(ctx, other, &vls);
    c.model.input = BLOCKS; /* on another VL there is another buffer */
    c.model.open = 1;
    const struct step steps[] = {{.kind = VLS, .time = SLOT, .node = 1, .with = other},
                                 {.kind = VLS, .time = 50 * SLOT, .node = 0, .with = other}};
    const sim_send sends[] = {{0, 1, 2048, 0}, {0, 1, 2048, 0}, {0, 1, 2048, 60 * SLOT}};
    struct script s = {.c = &c, .steps = steps, .count = 2};
    run_script(ctx, &s, sends, 3);
    assert_int_equal(sim_injection(&c, 0, 1), SLOT);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(c.result->arrived_packets, 2);
    assert_int_equal(c.result->incidents[SV_SIM_DROPPED], 1);
    assert_int_equal(c.result->example[SV_SIM_DROPPED].why, SV_TRACE_DISCARDED);
    assert_int_equal(c.result->example[SV_SIM_DROPPED].time, 60 * SLOT);
    sv_routes_free(other);
    sim_finish(&c);
}

/* ---- holding back ---- */

/* Terminal 0 may open its messages number 0 and 1 only, until 2 may be, too. */
static bool hold(void *user, uint32_t t, uint64_t now, sv_sim_message *message, uint8_t *sl)
{
    struct script *s = user;
    (void)now;
    (void)sl;
    s->looked++;
    return t != 0 || message->tag < 2 || s->acted > 0;
}

static void a_terminal_waits_until_it_is_woken(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
    const struct step steps[] = {{.kind = WAKE, .time = 1000 * SLOT + 7, .node = 0}};
    const sim_send sends[] = {{0, 1, 2 * 2048, 0}, {0, 1, 2048, 0}, {0, 1, 2048, 0},
                              {0, 1, 2048, 0},     {2, 1, 2048, 0}, {2, 1, 2048, 5}};
    struct script s = {.c = &c, .steps = steps, .count = 1, .open = hold};
    run_script(ctx, &s, sends, 6);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(sim_injection(&c, 0, k), k * SLOT);
    assert_int_equal(sim_injection(&c, 0, 3), 1000 * SLOT + 7);
    assert_int_equal(sim_injection(&c, 0, 4), 1001 * SLOT + 7);
    assert_int_equal(sim_injection(&c, 2, 1), SLOT); /* others do not care */
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(c.result->arrived_messages, 6);
    assert_int_equal(s.looked, 7); /* each message once, and one again */
    assert_int_equal(s.under_way[0], 0);
    assert_true(c.result->looks < 60);
    /* Nobody wakes it: that is no end. */
    s.count = 0;
    run_script(ctx, &s, sends, 6);
    assert_int_equal(c.result->end, SV_SIM_LIMIT);
    assert_int_equal(c.result->messages, 4);
    assert_int_equal(c.result->arrived_messages, 4);
    /* Woken while it is sending: it waits for its link. */
    const struct step early[] = {{.kind = WAKE, .time = SLOT + 3, .node = 0},
                                 {.kind = WAKE, .time = SLOT + 4, .node = 2}};
    s.steps = early;
    s.count = 2;
    run_script(ctx, &s, sends, 6);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    for (uint32_t k = 0; k < 5; k++)
        assert_int_equal(sim_injection(&c, 0, k), k * SLOT);
    sim_finish(&c);
}

/* ---- when he is called ---- */

struct clock {
    const sim_case *c;
    sv_sim_run *stage;
    uint64_t asked[8]; /* sv_sim_call at an arrival */
    uint64_t acted[64], under_way[64];
    uint32_t count, calls;
};

static sv_status tick(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    struct clock *k = user;
    k->stage = stage;
    k->acted[k->count] = now;
    k->under_way[k->count++] = sv_sim_under_way(stage);
    if (k->calls > 1)
        *again = now + 10;
    k->calls -= k->calls > 0;
    return SV_OK;
}

/* Without traffic he is called all the same, and the run ends after the last call. */
static void he_acts_alone(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    struct clock k = {.c = &c, .calls = 20};
    const sv_sim_source source = {.user = &c, .next = sim_next};
    const sv_sim_director director = {.user = &k, .first = 0, .act = tick};
    sv_sim_setup setup = {c.model, c.control, &source, NULL, &director};
    OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
    assert_int_equal(k.count, 20);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(k.acted[i], 10 * i);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(c.result->time, 0);
    /* Nothing happens at the limit; what he wants to do then does not count. */
    sv_sim_free(c.result);
    c.result = NULL;
    k.count = 0;
    k.calls = 20;
    setup.control.limit = 50;
    OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
    assert_int_equal(k.count, 5);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    sim_finish(&c);
}

static void ask_for_a_call(void *user, const sv_sim_arrival *arrival)
{
    struct clock *k = user;
    sv_sim_call(k->stage, arrival->time);
    sv_sim_call(k->stage, arrival->time + 1);
    sv_sim_call(k->stage, SV_NEVER);
}

static bool one_message(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct clock *k = user;
    if (terminal != 0 || k->asked[0]++ > 0)
        return false;
    *message = (sv_sim_message){.destination = sim_destination(k->c, 1), .bytes = 3 * 2048};
    return true;
}

/* A message's arrival is known when its last packet is granted; he asks to be called when it is
 * there. At that tick, before anything else, the packet is still under way; a tick later it is not.
 */
static void he_is_called_when_he_asks(void **state)
{
    (void)state;
    const uint64_t tau[] = {QDR, QDR};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    struct clock k = {.c = &c};
    const sv_sim_source source = {.user = &k, .next = one_message, .arrived = ask_for_a_call};
    const sv_sim_director director = {.user = &k, .first = SLOT, .act = tick};
    const sv_sim_setup setup = {c.model, c.control, &source, NULL, &director};
    OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
    uint64_t there = 2 * SLOT + sim_alone(&c.model, W, tau, 2);
    assert_int_equal(c.result->time, there);
    assert_int_equal(k.count, 2);
    assert_int_equal(k.acted[0], SLOT);
    assert_int_equal(k.under_way[0], 1); /* the second is injected after him */
    assert_int_equal(k.acted[1], there);
    assert_int_equal(k.under_way[1], 1);
    k.calls = 2;
    k.count = 0;
    k.asked[0] = 0;
    sv_sim_free(c.result);
    c.result = NULL;
    const sv_sim_director later = {.user = &k, .first = there - 9, .act = tick};
    const sv_sim_source quiet = {.user = &k, .next = one_message};
    const sv_sim_setup calm = {c.model, c.control, &quiet, NULL, &later};
    OK(ctx, sv_simulate(ctx, c.f, c.r, &calm, &c.result));
    assert_int_equal(k.count, 2);
    assert_int_equal(k.under_way[0], 1);
    assert_int_equal(k.acted[1], there + 1);
    assert_int_equal(k.under_way[1], 0);
    sim_finish(&c);
}

/* A time that is over is the next tick. */
static sv_status call_yesterday(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    struct clock *k = user;
    k->acted[k->count++] = now;
    if (k->count < 5)
        sv_sim_call(stage, 0);
    if (k->count == 3)
        *again = now + 1000; /* earlier counts */
    return SV_OK;
}

static void a_call_is_a_tick_later_at_the_earliest(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    struct clock k = {.c = &c};
    const sv_sim_source source = {.user = &c, .next = sim_next};
    const sv_sim_director director = {.user = &k, .first = 100, .act = call_yesterday};
    const sv_sim_setup setup = {c.model, c.control, &source, NULL, &director};
    OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
    assert_int_equal(k.count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(k.acted[i], 100 + i);
    sim_finish(&c);
}

/* ---- what is refused ---- */

static bool elsewhere(void *user, uint32_t t, uint64_t now, sv_sim_message *message, uint8_t *sl)
{
    struct script *s = user;
    (void)t;
    (void)now;
    if (s->looked == 0)
        message->destination = sim_destination(s->c, 2);
    else if (s->looked == 1)
        message->destination = SV_NONE;
    else
        *sl = s->looked == 2 ? SV_MAX_SLS : 9;
    return true;
}

static sv_status not_later(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    (void)user;
    (void)stage;
    *again = now;
    return SV_OK;
}

static void change_too_late(void *user, const sv_sim_arrival *arrival)
{
    struct clock *k = user;
    (void)arrival;
    assert_int_equal(sv_sim_set_block(k->stage, (sv_node){0}, 0, k->c->r), SV_BAD_INPUT);
    assert_int_equal(sv_sim_set_sl2vl(k->stage, (sv_node){0}, k->c->r), SV_BAD_INPUT);
    k->calls++;
}

static void wrong_directors_are_refused(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
    sv_fabric *f = test_fabric(ctx, "torus:3,hosts=1");
    sv_routes *foreign = test_routed(ctx, f, "minhop", 0), *renamed = NULL;
    OK(ctx, sv_routes_clone(ctx, c.r, &renamed));
    assert_true(renamed->lid[sim_destination(&c, 1)] != 0);
    renamed->lid[sim_destination(&c, 1)]++;
    const struct step wrong[] = {
        {.kind = BLOCK, .with = foreign},        {.kind = BLOCK, .with = renamed},
        {.kind = BLOCK, .node = 1, .with = c.r}, {.kind = VLS, .with = foreign},
        {.kind = VLS, .node = 4, .with = c.r},   {.kind = FAIL, .time = 3 * SLOT}};
    const sim_send sends[] = {{0, 1, 8 * 2048, 0}};
    for (uint32_t i = 0; i < LENGTH(wrong); i++) {
        struct script s = {.c = &c, .steps = &wrong[i], .count = 1};
        assert_int_equal(try_script(ctx, &s, sends, 1),
                         wrong[i].kind == FAIL ? SV_INFEASIBLE : SV_BAD_INPUT);
        assert_null(c.result);
    }
    const struct step beyond[] = {{.block = 7000, .with = c.r}}; /* no entries in it */
    struct script harmless = {.c = &c, .steps = beyond, .count = 1};
    run_script(ctx, &harmless, sends, 1);
    sv_sl2vl vls = {{0}};
    vls.of_sl[9] = SV_NO_VL;
    c.r->vls_of[1] = (uint16_t)sv_routes_sl2vl_table(ctx, c.r, &vls);
    for (uint64_t i = 0; i < 4; i++) {
        struct script s = {.c = &c, .looked = i};
        sim_again(&c);
        const sv_sim_source source = {.user = &c, .next = sim_next};
        const sv_sim_director director = {.user = &s, .first = SV_NEVER, .open = elsewhere};
        const sv_sim_setup setup = {c.model, c.control, &source, NULL, &director};
        assert_int_equal(sv_simulate(ctx, c.f, c.r, &setup, &c.result), SV_BAD_INPUT);
        assert_null(c.result);
    }
    const sv_sim_source none = {.user = &c, .next = sim_next};
    const sv_sim_director same = {.first = 3, .act = not_later};
    const sv_sim_setup setup = {c.model, c.control, &none, NULL, &same};
    assert_int_equal(sv_simulate(ctx, c.f, c.r, &setup, &c.result), SV_BAD_INPUT);
    struct clock k = {.c = &c};
    const sv_sim_source source = {.user = &k, .next = one_message, .arrived = change_too_late};
    const sv_sim_director early = {.user = &k, .act = tick};
    const sv_sim_setup late = {c.model, c.control, &source, NULL, &early};
    OK(ctx, sv_simulate(ctx, c.f, c.r, &late, &c.result));
    assert_int_equal(k.calls, 1);
    sv_routes_free(renamed);
    sv_routes_free(foreign);
    sv_fabric_free(f);
    sim_finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_does_nothing_changes_nothing),
        cmocka_unit_test(a_message_gets_another_level),
        cmocka_unit_test(a_message_gets_another_address),
        cmocka_unit_test(vls_change),
        cmocka_unit_test(vls_of_adapters_and_vls_that_are_none),
        cmocka_unit_test(a_terminal_waits_until_it_is_woken),
        cmocka_unit_test(he_acts_alone),
        cmocka_unit_test(he_is_called_when_he_asks),
        cmocka_unit_test(a_call_is_a_tick_later_at_the_earliest),
        cmocka_unit_test(wrong_directors_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
