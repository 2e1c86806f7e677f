/*
 * test_sim_changes.c: tables that change while traffic runs (docs/simulator.md, rules 21 to 24):
 * which packets go which way, when credits of dropped ones come back, circles, overtaking, all to
 * the tick by hand. test_sim_director.c has what else a director may do.
 */
#include "support/directing.h"

TEST_CONTEXT

/* ---- which packets go which way ---- */

/* A host, four switches of which two are side by side, a host. Port 1 of 0 leads to the host, 2 to
 * 1, 3 to 2; of 1 and 2: 1 to switch 0, 2 to 3; of 3: 1 and 2 to 1 and 2, 3 to the host. */
static const sim_cable diamond[] = {
    {SIM_HOST, 0, SV_SPEED_QDR, 4}, {0, 1, SV_SPEED_QDR, 4}, {0, 2, SV_SPEED_QDR, 4},
    {1, 3, SV_SPEED_QDR, 4},        {2, 3, SV_SPEED_QDR, 4}, {3, SIM_HOST + 1, SV_SPEED_QDR, 4}};

/* A short way from 0 to 3 and one by 1 and 2; port 2 of switch 0 is the long one, 3 the short. */
static const sim_cable detour[] = {{SIM_HOST, 0, SV_SPEED_QDR, 4},
                                   {0, 1, SV_SPEED_QDR, 4},
                                   {0, 3, SV_SPEED_QDR, 4},
                                   {1, 2, SV_SPEED_QDR, 4},
                                   {2, 3, SV_SPEED_QDR, 4},
                                   {3, SIM_HOST + 1, SV_SPEED_QDR, 4},
                                   {0, SIM_HOST + 2, SV_SPEED_QDR, 4},
                                   {3, SIM_HOST + 3, SV_SPEED_QDR, 4}};

static sim_case diamond_case(void)
{
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 4, 2, diamond, LENGTH(diamond)));
    set_entry(ctx, &c, c.r, 0, 1, 2);
    return c;
}

/* Packet k is injected at k slots: from the tick of the change on, that one included, they go by
 * switch 2. */
static void a_packet_is_looked_up_when_it_is_injected(void **state)
{
    (void)state;
    for (uint32_t later = 0; later < 2; later++) {
        sim_case c = diamond_case();
        sv_routes *other = changed(ctx, &c, 0, 1, 3);
        const struct step steps[] = {{.time = 3 * SLOT + later, .node = 0, .with = other}};
        const sim_send sends[] = {{0, 1, 8 * 2048, 0}};
        struct script s = {.c = &c, .steps = steps, .count = 1};
        run_script(ctx, &s, sends, 1);
        assert_int_equal(c.result->end, SV_SIM_COMPLETED);
        for (uint32_t k = 0; k < 8; k++) {
            sv_channel by = channel_of(&c, 0, k < 3 + later ? 2 : 3);
            const sim_event *grant = sim_grant(&c, by, k < 3 + later ? k : k - 3 - later);
            assert_non_null(grant);
            assert_int_equal(grant->packet, k);
            assert_int_equal(grant->time, k * SLOT + READY);
        }
        /* A way is as long as the other: nothing has happened to anybody. */
        assert_int_equal(c.result->arrived_packets, 8);
        for (uint32_t what = 0; what < SV_SIM_INCIDENTS; what++)
            assert_int_equal(c.result->incidents[what], 0);
        assert_int_equal(s.acted, 1);
        sv_routes_free(other);
        sim_finish(&c);
    }
}

/* At switch 1 it is looked up when switch 0 grants it: at k slots and READY. */
static void a_packet_is_looked_up_when_the_switch_before_grants_it(void **state)
{
    (void)state;
    for (uint32_t later = 0; later < 2; later++) {
        sim_case c = diamond_case();
        sv_routes *none = changed(ctx, &c, 1, 1, SV_NO_PORT);
        const struct step steps[] = {{.time = 2 * SLOT + READY + later, .node = 1, .with = none},
                                     {.time = 5 * SLOT + READY, .node = 1, .with = c.r}};
        const sim_send sends[] = {{0, 1, 8 * 2048, 0}};
        struct script s = {.c = &c, .steps = steps, .count = 2};
        run_script(ctx, &s, sends, 1);
        const sv_sim_result *r = c.result;
        assert_int_equal(r->end, SV_SIM_COMPLETED);
        assert_int_equal(r->incidents[SV_SIM_DROPPED], 3 - later);
        assert_int_equal(s.told[SV_SIM_DROPPED], 3 - later);
        assert_int_equal(r->arrived_packets, 5 + later);
        assert_int_equal(r->arrived_messages, 1); /* its last packet has */
        const sv_sim_example *e = &r->example[SV_SIM_DROPPED];
        assert_int_equal(e->time, (2 + later) * SLOT + READY);
        assert_int_equal(e->packet, 2 + later);
        assert_int_equal(e->from, 0);
        assert_int_equal(e->destination, sim_destination(&c, 1));
        assert_int_equal(e->at.i, 1);
        assert_int_equal(e->why, SV_TRACE_NO_ENTRY);
        for (uint32_t k = 0; k < 8; k++)
            assert_int_equal(c.packet_time[k] > 0, k < 2 + later || k >= 5);
        sv_routes_free(none);
        sim_finish(&c);
    }
}

/* 40 hosts at each of two switches, each sending to one of the other switch; of one block of 64
 * addresses, the ways across are taken away at both. */
static void a_block_is_64_addresses(void **state)
{
    (void)state;
    for (uint32_t lids = 0; lids < 2; lids++)
        for (uint32_t block = 0; block < 3; block++) {
            sim_case c = sim_begin(ctx, test_fabric(ctx, "mesh:1x2,hosts=40"));
            sv_routes *none = NULL;
            sim_send sends[80];
            uint32_t lost = 0;
            for (uint32_t d = 0; d < c.r->num_destinations; d++)
                c.r->lid[d] = (uint16_t)(lids ? 9 + 2 * d : 0);
            OK(ctx, sv_routes_clone(ctx, c.r, &none));
            for (uint32_t t = 0; t < 80; t++) {
                uint32_t to = (t + 40) % 80, d = sim_destination(&c, to);
                sends[t] = (sim_send){t, to, 100, 0};
                set_entry(ctx, &c, none, t / 40, to, SV_NO_PORT);
                lost += (lids ? c.r->lid[d] : d) / 64 == block;
            }
            const struct step steps[] = {{.node = 0, .block = block, .with = none},
                                         {.node = 1, .block = block, .with = none}};
            struct script s = {.c = &c, .steps = steps, .count = 2};
            run_script(ctx, &s, sends, 80);
            assert_int_equal(c.result->end, SV_SIM_COMPLETED);
            assert_int_equal(c.result->incidents[SV_SIM_DROPPED], lost);
            assert_int_equal(c.result->arrived_messages, 80 - lost);
            assert_true(lost > 0 || (lids == 0 && block == 2));
            sv_routes_free(none);
            sim_finish(&c);
        }
}

/* ---- drops ---- */

/* Every way of being dropped, at the only switch there is. */
static void every_kind_of_drop_has_its_name(void **state)
{
    (void)state;
    const struct {
        unsigned port, why;
    } ways[] = {{SV_NO_PORT, SV_TRACE_NO_ENTRY},
                {0, SV_TRACE_ASTRAY},
                {1, SV_TRACE_ASTRAY}, /* back to the sender */
                {3, SV_TRACE_ASTRAY}, /* to the third */
                {4, SV_TRACE_DEAD_PORT},
                {200, SV_TRACE_DEAD_PORT}};
    for (uint32_t i = 0; i < LENGTH(ways); i++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
        sv_routes *other = changed(ctx, &c, 0, 1, ways[i].port);
        const struct step steps[] = {{.time = 0, .node = 0, .with = other}};
        const sim_send sends[] = {{0, 1, 100, 0}, {0, 2, 100, 0}};
        struct script s = {.c = &c, .steps = steps, .count = 1};
        run_script(ctx, &s, sends, 2);
        assert_int_equal(c.result->end, SV_SIM_COMPLETED);
        assert_int_equal(c.result->incidents[SV_SIM_DROPPED], 1);
        assert_int_equal(c.result->example[SV_SIM_DROPPED].why, ways[i].why);
        assert_int_equal(c.result->example[SV_SIM_DROPPED].time, 0);
        assert_int_equal(c.result->example[SV_SIM_DROPPED].at.i, 0);
        assert_int_equal(c.result->arrived_messages, 1);
        assert_int_equal(c.result->messages, 2);
        sv_routes_free(other);
        sim_finish(&c);
    }
}

/* A buffer of one packet: the next is injected when the last block of the dropped one was whole at
 * the other end and its credit is back. In band, the flow control takes its time on an idle link.
 */
static void credits_of_dropped_packets_come_back(void **state)
{
    (void)state;
    enum { PACKETS = 6 };
    for (uint32_t inband = 0; inband <= 8; inband += 8) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
        c.model.input = BLOCKS;
        c.model.inband_bytes = inband;
        sv_routes *none = changed(ctx, &c, 0, 1, SV_NO_PORT);
        const uint64_t period = SLOT + c.model.cable + c.model.credit + inband * QDR;
        const struct step steps[] = {{.time = 0, .node = 0, .with = none},
                                     {.time = 4 * period, .node = 0, .with = c.r}};
        const sim_send sends[] = {{0, 1, PACKETS * 2048, 0}};
        struct script s = {.c = &c, .steps = steps, .count = 2};
        run_script(ctx, &s, sends, 1);
        for (uint32_t k = 0; k <= 4; k++)
            assert_int_equal(sim_injection(&c, 0, k), k * period);
        /* The fifth is granted at READY: its last block has crossed SLOT later. */
        assert_int_equal(sim_injection(&c, 0, 5),
                         4 * period + READY + SLOT + c.model.credit + inband * QDR);
        assert_int_equal(c.result->incidents[SV_SIM_DROPPED], 4);
        assert_int_equal(c.result->arrived_packets, 2);
        assert_int_equal(s.under_way[1], 0); /* four were dropped; the fifth comes after */
        assert_int_equal(s.next_packet[1], 4);
        sv_routes_free(none);
        sim_finish(&c);
    }
}

/*
 * The same between switches: a grant, its first block across, the packet sent and whole, the credit
 * back. Two hosts send, so that there is always one that waits. Buffers of two packets: two at a
 * time.
 */
static void credits_of_dropped_packets_come_back_to_switches(void **state)
{
    (void)state;
    for (uint32_t packets = 1; packets <= 2; packets++) {
        sim_case c = sim_begin(ctx, sim_fabric(ctx, 4, 4, detour, LENGTH(detour)));
        c.model.input = packets * BLOCKS;
        c.model.credit = 2000003; /* more than a slot */
        set_entry(ctx, &c, c.r, 0, 1, 2);
        sv_routes *none = changed(ctx, &c, 1, 1, SV_NO_PORT);
        const struct step steps[] = {{.time = 0, .node = 1, .with = none}};
        const sim_send sends[] = {{0, 1, 5 * 2048, 0}, {2, 1, 5 * 2048, 0}};
        struct script s = {.c = &c, .steps = steps, .count = 1};
        run_script(ctx, &s, sends, 2);
        const uint64_t back = FIRST + SLOT + c.model.cable + c.model.credit;
        const sv_channel by = channel_of(&c, 0, 2);
        uint64_t before[2] = {READY, READY + SLOT};
        for (uint32_t k = 0; k < 10; k++) {
            const sim_event *grant = sim_grant(&c, by, k);
            assert_non_null(grant);
            assert_int_equal(grant->time, before[k % packets]);
            before[k % packets] += back;
        }
        assert_int_equal(c.result->end, SV_SIM_COMPLETED);
        assert_int_equal(c.result->incidents[SV_SIM_DROPPED], 10);
        assert_int_equal(c.result->arrived_packets, 0);
        assert_int_equal(c.result->packets, 10);
        sv_routes_free(none);
        sim_finish(&c);
    }
}

/* Its last packet was dropped: a message does not arrive, and nobody waits for it. */
static void a_message_without_its_last_packet_never_arrives(void **state)
{
    (void)state;
    sim_case c = diamond_case();
    sv_routes *none = changed(ctx, &c, 0, 1, SV_NO_PORT);
    const struct step steps[] = {{.time = SLOT, .node = 0, .with = none},
                                 {.time = 2 * SLOT, .node = 0, .with = c.r}};
    const sim_send sends[] = {{0, 1, 2 * 2048, 0}, {0, 1, 2048, 0}};
    struct script s = {.c = &c, .steps = steps, .count = 2};
    run_script(ctx, &s, sends, 2);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(c.result->messages, 2);
    assert_int_equal(c.result->arrived_messages, 1);
    assert_int_equal(c.result->arrived_packets, 2);
    assert_int_equal(c.num_arrivals, 1);
    assert_int_equal(c.arrivals[0].tag, 1);
    assert_int_equal(c.result->payload_bytes, 2 * 2048);
    sv_routes_free(none);
    sim_finish(&c);
}

/* ---- circles ---- */

/* Two switches that send a packet to each other, a short one so that it does not meet its own end.
 * Grant n is at READY + n HOP; switch 1 looks up at even ones. */
static void a_circle_ends_when_the_block_changes(void **state)
{
    (void)state;
    static const sim_cable cables[] = {{SIM_HOST, 0, SV_SPEED_QDR, 4},
                                       {0, 1, SV_SPEED_QDR, 4},
                                       {1, SIM_HOST + 1, SV_SPEED_QDR, 4}};
    static const uint64_t grants[] = {0, 2, 4, 140000}; /* more than a short holds */
    for (uint32_t i = 0; i < 2 * LENGTH(grants); i++) {
        uint64_t n = grants[i / 2], later = i % 2;
        sim_case c = sim_begin(ctx, sim_fabric(ctx, 2, 2, cables, 3));
        sv_routes *good = NULL;
        OK(ctx, sv_routes_clone(ctx, c.r, &good));
        set_entry(ctx, &c, c.r, 1, 1, 1);
        const struct step steps[] = {{.time = READY + n * HOP + later, .node = 1, .with = good}};
        const sim_send sends[] = {{0, 1, 38, 0}};
        struct script s = {.c = &c, .steps = steps, .count = 1};
        run_script(ctx, &s, sends, 1);
        n += 2 * later;
        const sv_sim_result *r = c.result;
        assert_int_equal(r->end, SV_SIM_COMPLETED);
        assert_int_equal(r->time, READY + (n + 1) * HOP + FIRST + sim_drained(&c.model, 64, QDR));
        assert_int_equal(r->packet_hops, n + 2);
        assert_int_equal(r->incidents[SV_SIM_LOOPED], n > 0);
        assert_int_equal(s.told[SV_SIM_LOOPED], n > 0);
        if (n > 0) { /* the first time that it is sent back to switch 0 */
            assert_int_equal(r->example[SV_SIM_LOOPED].time, READY + HOP);
            assert_int_equal(r->example[SV_SIM_LOOPED].at.i, 0);
            assert_int_equal(r->example[SV_SIM_LOOPED].packet, 0);
        }
        assert_int_equal(r->incidents[SV_SIM_DROPPED], 0);
        sv_routes_free(good);
        sim_finish(&c);
    }
}

/* Packets use the places of others that are gone: their sets are empty again. */
static void who_never_came_back_has_not_looped(void **state)
{
    (void)state;
    sim_case c = diamond_case();
    const sim_send sends[] = {{0, 1, 300 * 2048, 0}, {1, 0, 300 * 2048, 0}};
    struct script s = {.c = &c};
    run_script(ctx, &s, sends, 2);
    assert_int_equal(c.result->arrived_packets, 600);
    assert_int_equal(c.result->incidents[SV_SIM_LOOPED], 0);
    sim_finish(&c);
}

/* ---- overtaking ---- */

/*
 * Packets of 64 bytes follow each other in FIRST ticks; the long way takes 2 HOP longer, which is
 * 16.99 of them. So those that went the long way come after the first that did not; and the first
 * of them waits at its last switch until number 16 has crossed.
 */
static void who_takes_the_longer_way_is_overtaken(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 4, 4, detour, LENGTH(detour)));
    sv_routes *other = changed(ctx, &c, 0, 1, 3);
    set_entry(ctx, &c, c.r, 0, 1, 2);
    sim_send sends[24];
    for (uint32_t i = 0; i < 24; i++)
        sends[i] = (sim_send){0, 1, 38, 0};
    const struct step steps[] = {{.time = 4 * FIRST, .node = 0, .with = other}};
    struct script s = {.c = &c, .steps = steps, .count = 1};
    run_script(ctx, &s, sends, 24);
    const sv_sim_result *r = c.result;
    assert_int_equal(r->end, SV_SIM_COMPLETED);
    assert_int_equal(r->arrived_packets, 24);
    assert_int_equal(r->incidents[SV_SIM_OVERTAKEN], 4);
    assert_int_equal(s.told[SV_SIM_OVERTAKEN], 4);
    const sv_sim_example *e = &r->example[SV_SIM_OVERTAKEN];
    const uint64_t first = READY + HOP + 18 * FIRST + sim_drained(&c.model, 64, QDR);
    assert_int_equal(e->packet, 0);
    assert_int_equal(e->time, first);
    assert_int_equal(e->time, c.packet_time[0]);
    assert_int_equal(e->at.i, c.f->num_switches + 1);
    assert_int_equal(e->from, 0);
    /* A run that ends at that tick has not seen it; one tick later it has. */
    for (uint64_t later = 0; later < 2; later++) {
        c.control.limit = first + later;
        run_script(ctx, &s, sends, 24);
        assert_int_equal(c.result->end, SV_SIM_LIMIT);
        assert_int_equal(c.result->incidents[SV_SIM_OVERTAKEN], later);
    }
    sv_routes_free(other);
    sim_finish(&c);
}

/* The same, but later packets are another terminal's, or to another one: nobody is overtaken. */
static void pairs_of_others_do_not_overtake(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 2; kind++) {
        sim_case c = sim_begin(ctx, sim_fabric(ctx, 4, 4, detour, LENGTH(detour)));
        sv_routes *other = changed(ctx, &c, 0, 1, 3);
        set_entry(ctx, &c, c.r, 0, 1, 2);
        set_entry(ctx, &c, c.r, 0, 3, 3);
        sim_send sends[24];
        for (uint32_t i = 0; i < 24; i++) {
            bool first = i < 4;
            sends[i] = (sim_send){first || kind == 0 ? 0 : 2, first || kind == 1 ? 1 : 3, 38,
                                  first ? 0 : 4 * FIRST};
        }
        const struct step steps[] = {{.time = 4 * FIRST, .node = 0, .with = other}};
        struct script s = {.c = &c, .steps = steps, .count = 1};
        run_script(ctx, &s, sends, 24);
        assert_int_equal(c.result->arrived_packets, 24);
        assert_int_equal(c.result->incidents[SV_SIM_OVERTAKEN], 0);
        assert_true(c.packet_time[0] > c.packet_time[10]); /* though they come first */
        sv_routes_free(other);
        sim_finish(&c);
    }
}

/* ---- deadlocks ---- */

/* A ring in which nobody waits for ever as long as tables are those of up*, down*; with shortest
 * ways on one VL, everybody sending to the next but one with buffers of a packet, all do. */
static void a_change_may_end_in_a_deadlock(void **state)
{
    (void)state;
    for (uint32_t change = 0; change < 2; change++) {
        sim_case c = sim_begin(ctx, test_fabric(ctx, "torus:5,hosts=1"));
        sv_routes *ring = NULL;
        struct step steps[6];
        sim_send sends[10];
        sv_routes_free(c.r);
        OK(ctx, sv_route(ctx, c.f, "updn", &(sv_route_request){.vls = 1}, &c.r, NULL));
        OK(ctx, sv_route(ctx, c.f, "sssp", &(sv_route_request){.vls = 1}, &ring, NULL));
        for (uint32_t i = 0; i < 5; i++) {
            sends[i] = (sim_send){i, (i + 2) % 5, 2048, 0};
            sends[i + 5] = (sim_send){i, (i + 2) % 5, 2048, 30 * SLOT};
            steps[i] = (struct step){.time = 20 * SLOT, .node = i, .with = change ? ring : c.r};
        }
        /* Somebody who looks and looks does not keep a run from its end. */
        steps[5] = (struct step){.kind = LOOK, .time = 21 * SLOT, .times = change ? 1000000 : 50};
        c.model.input = c.model.output = BLOCKS;
        struct script s = {.c = &c, .steps = steps, .count = 6};
        run_script(ctx, &s, sends, 10);
        assert_int_equal(c.result->end, change ? SV_SIM_DEADLOCK : SV_SIM_COMPLETED);
        assert_int_equal(c.result->num_stuck, change ? 5 : 0);
        assert_int_equal(c.num_stuck, change ? 5 : 0);
        assert_int_equal(c.result->arrived_messages, change ? 5 : 10);
        assert_int_equal(c.result->incidents[SV_SIM_DROPPED], 0);
        if (change)
            assert_true(c.result->stuck_since >= 30 * SLOT && c.result->time < 1000 * SLOT);
        sv_routes_free(ring);
        sim_finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_looked_up_when_it_is_injected),
        cmocka_unit_test(a_packet_is_looked_up_when_the_switch_before_grants_it),
        cmocka_unit_test(a_block_is_64_addresses),
        cmocka_unit_test(every_kind_of_drop_has_its_name),
        cmocka_unit_test(credits_of_dropped_packets_come_back),
        cmocka_unit_test(credits_of_dropped_packets_come_back_to_switches),
        cmocka_unit_test(a_message_without_its_last_packet_never_arrives),
        cmocka_unit_test(a_circle_ends_when_the_block_changes),
        cmocka_unit_test(who_never_came_back_has_not_looped),
        cmocka_unit_test(who_takes_the_longer_way_is_overtaken),
        cmocka_unit_test(pairs_of_others_do_not_overtake),
        cmocka_unit_test(a_change_may_end_in_a_deadlock),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
