/*
 * test_sim_policy_ways.c: packets that choose their way (rules 25 to 33 of docs/simulator.md),
 * times that can be written down: ways by vias, order, waiting, control packets, adaptive VLs.
 * tests/oracle has the cases for which there is no formula.
 */
#include "policy_bed.h"

TEST_CONTEXT

/* ---- rules 25, 26 ---- */

/*
 * From host 0 to host 1, which are neighbours: each hop takes what it takes without a policy, so
 * the tick follows from the number of switches; the VL on each link is that of the segment.
 */
static void a_way_leads_by_its_vias(void **state)
{
    (void)state;
    static const struct {
        uint8_t vias, via[2], segments, hops;
        uint8_t vl[5]; /* of each link after the first, in VLs of the tables */
    } ways[] = {
        {0, {0, 0}, 1, 2, {0, 0}},       {0, {0, 0}, 3, 2, {0, 0}}, {1, {3, 0}, 2, 4, {0, 1, 1, 1}},
        {1, {0, 0}, 2, 2, {1, 1}},       {1, {1, 0}, 3, 2, {0, 1}}, {2, {3, 2}, 3, 4, {0, 1, 2, 2}},
        {2, {3, 3}, 3, 4, {0, 2, 2, 2}}, {2, {0, 1}, 3, 2, {1, 2}}, {2, {0, 0}, 3, 2, {2, 2}}};
    sim_case c = ring(ctx);
    unsigned vls = sv_sim_table_vls(c.f, c.r);
    const sim_send send = {0, 1, 2048, 123456};
    c.model.vls = 3 * vls;
    for (uint32_t i = 0; i < LENGTH(ways); i++) {
        struct script s = {.num_ways = 1};
        for (uint32_t k = 0; k < ways[i].vias; k++)
            s.ways[0].via[k] = c.r->first[ways[i].via[k]];
        s.ways[0].vias = ways[i].vias;
        s.ways[0].mark = 77;
        sv_sim_policy policy = scripted(&s, ways[i].segments);
        policy.header_bytes = 12;
        const sv_sim_result *r = run_script(ctx, &c, &s, &policy, &send, 1);
        assert_int_equal(r->end, SV_SIM_COMPLETED);
        assert_int_equal(r->time, 123456 + alone(ways[i].hops, 2048 + 26 + 12));
        assert_int_equal(r->detours, ways[i].vias > 0);
        assert_int_equal(r->payload_bytes, 2048);
        assert_int_equal(c.num_events, 1 + ways[i].hops);
        for (uint32_t k = 0; k < ways[i].hops; k++)
            assert_int_equal(c.events[1 + k].vl, ways[i].vl[k] * vls);
        assert_int_equal(s.asked, 1);
        assert_int_equal(s.asked_at[0], 123456);
        assert_int_equal(s.num_departed, 0);
        assert_int_equal(s.num_delivered, 1);
        const sv_sim_head *head = &s.delivered[0].head;
        assert_int_equal(s.delivered[0].time, r->time);
        assert_int_equal(s.delivered[0].at, 1);
        assert_int_equal(head->way.mark, 77);
        assert_int_equal(head->segment, ways[i].vias);
        assert_int_equal(head->from.i, 4);
        assert_int_equal(head->destination, sim_destination(&c, 1));
        assert_int_equal(head->bytes, 2048 + 26 + 12);
        assert_int_equal(head->injected, 123456);
        assert_int_equal(head->waited, 0);
        assert_true(head->last && !head->control);
    }
    sim_finish(&c);
}

/* The SL of a segment is that of the tables from where it begins, at port 0. */
static void a_segment_has_the_service_level_of_its_switch(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const uint8_t sender[] = {3, 0, 0, 0};
    const sim_send send = {0, 1, 100, 0};
    struct script s = {.num_ways = 1, .ways = {{.vias = 1, .via = {c.r->first[3]}}}};
    const sv_sim_policy policy = scripted(&s, 2);
    sim_vls_by_sender(ctx, &c, sender);
    sv_routes_sl_row(ctx, c.r, sim_destination(&c, 1))[3] = 5; /* from switch 3 */
    unsigned vls = sv_sim_table_vls(c.f, c.r);
    assert_int_equal(vls, c.r->num_sls);
    c.model.vls = 2 * vls;
    sv_routes_sl_row(ctx, c.r, c.r->first[3])[4] = 2; /* from host 0 to switch 3 */
    run_script(ctx, &c, &s, &policy, &send, 1);
    assert_int_equal(c.events[1].vl, 2);
    assert_int_equal(c.events[2].vl, vls + 5);
    assert_int_equal(c.events[4].vl, vls + 5);
    /* With a table of its own from port 0, that table's VL begins the segment. */
    sv_sl2vl other;
    memset(&other, 1, sizeof other);
    uint32_t table = sv_routes_sl2vl_table(ctx, c.r, &other);
    for (unsigned out = 1; out <= 3; out++)
        OK(ctx, sv_routes_set_sl2vl(ctx, c.f, c.r, (sv_node){3}, 0, out, table));
    run_script(ctx, &c, &s, &policy, &send, 1);
    assert_int_equal(c.events[1].vl, 2);
    assert_int_equal(c.events[2].vl, vls + 1);
    assert_int_equal(c.events[3].vl, vls + 5);
    sim_finish(&c);
}

/* ---- rules 28, 32 ---- */

/* Three packets, the first by a detour of two more switches: the others are there before it. */
static void order_is_restored_where_packets_end(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send send = {0, 1, 3 * 2048, 0};
    const uint64_t packet = 2074 * QDR, slow = alone(4, 2074), fast = alone(2, 2074);
    struct script s = {.num_ways = 3, .ways = {{.vias = 1, .via = {c.r->first[3]}}}};
    sv_sim_policy policy = scripted(&s, 2);
    policy.by_packet = true;
    c.model.vls = 2 * sv_sim_table_vls(c.f, c.r);
    /* Injected one after the other; the detour is longer than one packet takes, not than two:
     * the second is there before the first, and the third comes right after it. */
    c.model.switch_delay = 500000;
    const uint64_t more = 2 * (500000 - 180007);
    const sv_sim_result *r = run_script(ctx, &c, &s, &policy, &send, 1);
    const uint64_t second = packet + fast + more, first = slow + 2 * more;
    assert_true(second < first && first < 2 * packet + fast + more);
    assert_int_equal(s.asked, 3);
    assert_int_equal(s.offsets[0], 0);
    assert_int_equal(s.offsets[1], 2048);
    assert_int_equal(s.offsets[2], 4096);
    assert_int_equal(s.asked_at[1], 0);
    assert_int_equal(s.asked_at[2], packet);
    assert_int_equal(s.num_delivered, 3);
    assert_int_equal(s.delivered[0].head.sequence, 1);
    assert_int_equal(s.delivered[0].time, second);
    assert_int_equal(s.delivered[1].head.sequence, 0);
    assert_int_equal(s.delivered[2].head.sequence, 2);
    assert_int_equal(s.delivered[1].time, first > second + packet ? first : second + packet);
    assert_int_equal(r->early, 1);
    assert_int_equal(r->early_max, 2048);
    assert_int_equal(r->early_wait, s.delivered[1].time - second);
    assert_int_equal(r->detours, 1);
    assert_int_equal(c.num_arrivals, 1);
    assert_int_equal(c.arrivals[0].time, s.delivered[2].time);
    assert_int_equal(r->time, s.delivered[2].time);
    sim_finish(&c);
}

/* The last packet of a message may wait for one of the message before, and two of them at once. */
static void messages_arrive_in_order(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send sends[] = {{0, 1, 100, 0}, {0, 1, 100, 0}, {0, 1, 200, 0}, {2, 1, 300, 0}};
    struct script s = {.num_ways = 4, .ways = {{.vias = 2, .via = {c.r->first[3], c.r->first[2]}}}};
    sv_sim_policy policy = scripted(&s, 3);
    c.model.vls = 3 * sv_sim_table_vls(c.f, c.r);
    policy.deliver = NULL; /* with and without somebody who hears of packets */
    policy.depart = NULL;
    for (int again = 0; again < 2; again++) {
        const sv_sim_result *r = run_script(ctx, &c, &s, &policy, sends, LENGTH(sends));
        assert_int_equal(r->early, 2);
        assert_int_equal(r->early_max, 300);
        assert_int_equal(r->arrived_messages, 4);
        assert_int_equal(c.num_arrivals, 4);
        assert_int_equal(c.arrivals[0].from, 2);
        for (uint32_t i = 1; i < 4; i++) {
            assert_int_equal(c.arrivals[i].tag, i - 1);
            assert_int_equal(c.arrivals[i].time, alone(4, 126));
        }
        assert_int_equal(r->early_wait, 2 * alone(4, 126) - c.packet_time[2] - c.packet_time[3]);
        assert_int_equal(r->time, alone(4, 126));
        assert_int_equal(r->terminals[1].received_bytes, 700);
        policy.deliver = deliver_listed;
    }
    assert_int_equal(s.num_delivered, 4);
    sim_finish(&c);
}

/* A packet whose VL is another one than before goes to the end of that VL's queue: by VL, the
 * turns are 0, 1, then 0 again. */
static void a_message_changes_vls(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send sends[] = {{0, 1, 3 * 2048, 0}, {0, 2, 2048, 0}};
    static const uint8_t none[4];
    sim_vls_by_sender(ctx, &c, none);
    sv_routes_sl_row(ctx, c.r, c.r->first[3])[4] = 1; /* host 0 to switch 3 goes on VL 1 */
    c.model.vls = 2 * sv_sim_table_vls(c.f, c.r);
    /* Asked: message 0, message 1 (opened at once), then for packets 1 and 2 of message 0. */
    struct script s = {.num_ways = 4, .ways = {[2] = {.vias = 1, .via = {c.r->first[3]}}}};
    sv_sim_policy policy = scripted(&s, 2);
    policy.by_packet = true;
    run_script(ctx, &c, &s, &policy, sends, LENGTH(sends));
    assert_int_equal(s.asked, 4);
    /* Packet 1 of message 0 is on VL 1, and has its turn after VL 0; then VL 0's first is
     * message 1, and message 0 is behind it. */
    static const uint32_t tags[] = {0, 0, 1, 0};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < c.num_events; i++)
        if (c.events[i].hop == 0)
            assert_int_equal(c.events[i].tag, tags[seen++]);
    assert_int_equal(seen, 4);
    sim_finish(&c);
}

/* ---- rules 30, 31 ---- */

/*
 * Three hosts send to a fourth at once. All are ready at r = cable + 64 tau + switch; the ports of
 * the switch are asked in order, and the port's entry is taken for W chi each time: the second
 * waits for W chi, the third for twice that.
 */
static void waiting_is_summed_up_and_seen(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 4, SV_SPEED_QDR));
    const sim_send sends[] = {{0, 3, 2048, 0}, {1, 3, 2048, 0}, {2, 3, 2048, 0}};
    const uint64_t packet = 2074 * QDR, ready = 7001 + 64 * QDR + 180007;
    struct script s = {0};
    sv_sim_policy policy = scripted(&s, 1);
    c.model.drain = QDR;
    run_script(ctx, &c, &s, &policy, sends, 3);
    assert_int_equal(s.num_departed, 2);
    assert_int_equal(s.departed[0].waited, packet);
    assert_int_equal(s.departed[0].time, ready + packet);
    assert_int_equal(s.departed[0].head.from.i, 2);
    assert_int_equal(s.departed[1].waited, 2 * packet);
    assert_int_equal(s.departed[1].head.waited, 2 * packet);
    assert_int_equal(s.departed[1].head.note, 0);
    assert_int_equal(s.num_delivered, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(s.delivered[i].head.waited, i * packet);
        assert_int_equal(s.delivered[i].head.note, i > 0);
        assert_int_equal(s.delivered[i].head.bytes, 2074);
    }
    /* At the second grant the third waits: 2,074 bytes; the link, which started the first packet 64
     * tau after its grant, sends the second up to 64 + W bytes from now. */
    policy.patience = packet - 1;
    s.fail_with = SV_CANCELLED; /* looked at no later */
    s.num_departed = s.asked = s.num_delivered = 0;
    assert_int_equal(sim_try(ctx, &c), SV_CANCELLED);
    assert_int_equal(s.num_departed, 1);
    assert_int_equal(s.waiting, 1);
    assert_int_equal(s.who[0].from, 2);
    assert_int_equal(s.who[0].to, 3);
    assert_int_equal(s.who[0].bytes, 2074);
    assert_int_equal(s.who[0].since, 0);
    assert_int_equal(s.backlog, 2074 + 64 + 2074);
    s.fail_with = SV_OK;
    policy.patience = packet;
    run_script(ctx, &c, &s, &policy, sends, 3);
    assert_int_equal(s.num_departed, 1);
    assert_int_equal(s.departed[0].waited, 2 * packet);
    policy.patience = 2 * packet;
    run_script(ctx, &c, &s, &policy, sends, 3);
    assert_int_equal(s.num_departed, 0);
    sim_finish(&c);
}

/* ---- rule 29 ---- */

/* A control packet of a host takes what a packet takes; one of a switch is granted when it is
 * ready, and has a link less to go. The run ends with the last message. */
static void control_packets_travel(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send late = {3, 2, 64, 50000000};
    const struct order orders[] = {{5, 5000, 4, 1, 90, 7}, {5, 20000, 2, 0, 90, 9}};
    struct script s = {.orders = orders, .num_orders = 2};
    const sv_sim_policy policy = scripted(&s, 1);
    const sv_sim_result *r = run_script(ctx, &c, &s, &policy, &late, 1);
    assert_int_equal(r->end, SV_SIM_COMPLETED);
    assert_int_equal(r->time, 50000000 + alone(2, 90));
    assert_int_equal(r->packets, 3);
    assert_int_equal(r->arrived_packets, 3);
    assert_int_equal(r->messages, 1);
    assert_int_equal(r->arrived_messages, 1);
    assert_int_equal(r->latencies, 1);
    assert_int_equal(r->control_packets, 2);
    assert_int_equal(r->control_bytes, 180);
    assert_int_equal(r->packet_hops, 2 + 3 + 2);
    assert_int_equal(r->payload_bytes, 64);
    assert_int_equal(s.num_delivered, 3);
    const struct heard *host = &s.delivered[0], *router = &s.delivered[1];
    assert_int_equal(host->time, 5000 + alone(2, 90));
    assert_int_equal(host->at, 1);
    assert_true(host->head.control && !host->head.last);
    assert_int_equal(host->head.way.mark, 7);
    assert_int_equal(host->head.note, 8);
    assert_int_equal(host->head.from.i, 4);
    assert_int_equal(host->head.injected, 5000);
    assert_int_equal(host->head.bytes, 90);
    /* Ready at 20,000 where others are after a cable, a block and the switch. */
    assert_int_equal(router->time, 20000 + alone(3, 90) - 7001 - 64 * QDR - 180007);
    assert_int_equal(router->at, 0);
    assert_int_equal(router->head.from.i, 2);
    assert_int_equal(router->head.way.mark, 9);
    assert_int_equal(router->head.injected, 20000);
    assert_int_equal(router->head.waited, 0);
    sim_finish(&c);
}

/* Of a host: before packets of messages, by the times at which they are ready. */
static void control_packets_go_first(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send sends[] = {{0, 1, 4096, 1000}, {3, 2, 64, 50000000}};
    const struct order orders[] = {{0, 3000, 4, 1, 100, 1},
                                   {0, 1000, 4, 1, 200, 2},
                                   {1000, 1000, 4, 1, 300, 3},
                                   {1000, 40000000, 4, 1, 400, 4}};
    struct script s = {.orders = orders, .num_orders = 4};
    const sv_sim_policy policy = scripted(&s, 1);
    run_script(ctx, &c, &s, &policy, sends, 2);
    static const struct {
        uint32_t tag;
        uint64_t time;
    } wanted[] = {{2, 1000},
                  {3, 1000 + 200 * QDR},
                  {1, 1000 + 500 * QDR},
                  {0, 1000 + 600 * QDR},
                  {0, 1000 + 2674 * QDR},
                  {4, 40000000}};
    for (uint32_t i = 0; i < LENGTH(wanted); i++) {
        assert_int_equal(sim_injection(&c, 0, i), wanted[i].time);
        assert_int_equal(c.tag_of[i], wanted[i].tag);
    }
    assert_int_equal(s.asked_at[0], 1000 + 600 * QDR); /* no message is opened before */
    sim_finish(&c);
}

/* Of a switch: in the order of calls, though the first of them is ready last. */
static void control_packets_of_a_switch_queue(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send late = {3, 2, 64, 50000000};
    const struct order orders[] = {
        {0, 900000, 2, 2, 200, 1}, {0, 10, 2, 2, 100, 2}, {0, 20, 2, 1, 50, 3}};
    struct script s = {.orders = orders, .num_orders = 3};
    const sv_sim_policy policy = scripted(&s, 1);
    run_script(ctx, &c, &s, &policy, &late, 1);
    /* One queue: the second is granted when the entry is free, the third, which goes elsewhere,
     * one tick after the second, if the input's one way is free: when that has crossed. */
    assert_int_equal(c.events[0].time, 900000);
    assert_int_equal(c.events[1].time, 900000 + 200 * QDR);
    assert_int_equal(c.events[2].time, 900000 + 300 * QDR);
    assert_int_equal(s.delivered[2].head.waited, 900000 + 300 * QDR - 20);
    c.model.voq = true;
    run_script(ctx, &c, &s, &policy, &late, 1);
    assert_int_equal(c.events[0].time, 20); /* the third */
    assert_int_equal(c.events[0].packet, 2);
    sim_finish(&c);
}

/* ---- rule 27 ---- */

/*
 * Buffers of one packet, and two adaptive VLs beside an escape VL: of four packets of one
 * message the first three take the adaptive VLs and then the escape VL, the fourth the first
 * VL that has credits again: when the first packet, drained slowly, has left.
 */
static void packets_take_what_vl_has_credits(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    const sim_send send = {0, 1, 4 * 2048, 0};
    unsigned vls = sv_sim_table_vls(c.f, c.r);
    const sv_sim_policy policy = {.segments = 1, .adaptive = 2};
    c.model.vls = vls + 2;
    c.model.input = 33;
    c.model.drain = 10 * QDR;
    c.policy = &policy;
    sim_run(ctx, &c, &send, 1, 1);
    uint32_t grants = 0;
    const unsigned wanted[] = {vls, vls + 1, 0, vls};
    for (uint32_t i = 0; i < c.num_events; i++)
        if (c.events[i].hop == 1)
            assert_int_equal(c.events[i].vl, wanted[grants++]);
    assert_int_equal(grants, 4);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    sim_finish(&c);
}

/* ---- rule 33 ---- */

/* A run ends at the tick of its last delivery: what arrives then is heard, what would be granted or
 * called then is not. */
static void a_run_ends_with_its_data(void **state)
{
    (void)state;
    sim_case c = ring(ctx);
    const sim_send send = {0, 1, 2048, 0};
    const uint64_t end = alone(2, 2074);
    /* One that arrives at host 2 in the same tick, one a tick later, and one granted then. */
    const struct order orders[] = {{0, end - alone(2, 90), 7, 2, 90, 1},
                                   {0, end - alone(2, 90) + 1, 5, 0, 90, 2},
                                   {0, end, 2, 3, 90, 3},
                                   {end, end + 1, 2, 3, 90, 4}};
    struct script s = {.orders = orders, .num_orders = 4};
    const sv_sim_policy policy = scripted(&s, 1);
    const sv_sim_result *r = run_script(ctx, &c, &s, &policy, &send, 1);
    assert_int_equal(r->end, SV_SIM_COMPLETED);
    assert_int_equal(r->time, end);
    assert_int_equal(s.ordered, 3);
    assert_int_equal(s.num_delivered, 2);
    assert_int_equal(s.delivered[1].head.way.mark, 1);
    assert_int_equal(r->control_packets, 3);
    assert_int_equal(r->packets, 4);
    assert_int_equal(r->arrived_packets, 2);
    assert_int_equal(r->packet_hops, 6);
    sim_finish(&c);
}

/* Packets that are ready at the end of time are in nobody's way: control packets do not count. */
static void control_packets_that_are_never_ready_stay(void **state)
{
    (void)state;
    static const struct order orders[] = {
        {9, SV_NEVER, 0, 1, 90, 0},     {9, SV_NEVER, 4, 1, 90, 0},
        {9, SV_NEVER - 1, 0, 1, 90, 0}, {9, SV_NEVER - 1, 4, 1, 90, 0},
        {9, SV_NEVER - 1, 4, 1, 90, 0}, {10, 11, 4, 2, 90, 0}};
    sim_case c = ring(ctx);
    const sim_send sends[] = {{0, 1, 100, 100}, {0, 1, 100, 1000000}};
    struct script s = {.orders = orders, .num_orders = LENGTH(orders)};
    const sv_sim_policy policy = scripted(&s, 1);
    const sv_sim_result *r = run_script(ctx, &c, &s, &policy, sends, 2);
    assert_int_equal(r->end, SV_SIM_COMPLETED);
    assert_int_equal(r->arrived_messages, 2);
    assert_int_equal(r->arrived_packets, 3);
    sim_finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_way_leads_by_its_vias),
        cmocka_unit_test(a_segment_has_the_service_level_of_its_switch),
        cmocka_unit_test(order_is_restored_where_packets_end),
        cmocka_unit_test(messages_arrive_in_order),
        cmocka_unit_test(a_message_changes_vls),
        cmocka_unit_test(waiting_is_summed_up_and_seen),
        cmocka_unit_test(control_packets_travel),
        cmocka_unit_test(control_packets_go_first),
        cmocka_unit_test(control_packets_of_a_switch_queue),
        cmocka_unit_test(packets_take_what_vl_has_credits),
        cmocka_unit_test(a_run_ends_with_its_data),
        cmocka_unit_test(control_packets_that_are_never_ready_stay),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
