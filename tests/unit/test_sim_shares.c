/*
 * test_sim_shares.c: who gets how much when several want the same: turns of ports and VLs,
 * weights, rings, heads of lines, ways out of an input. Most are exact: which packet goes at which
 * tick follows from docs/simulator.md ("rule") by counting slots of W chi ticks, in which an output
 * port takes one packet after another.
 */
#include "support/simulating.h"

TEST_CONTEXT

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

enum { W = 2074, SLOT = W * QDR };

/* Of grants first … last - 1 of a channel, how many are of a message of the list. */
static uint32_t granted_of(const sim_case *c, sv_channel channel, uint32_t first, uint32_t last,
                           uint32_t tag)
{
    uint32_t number = 0, count = 0;
    for (uint32_t i = 0; i < c->num_events; i++)
        if (c->events[i].hop > 0 && c->events[i].channel.i == channel.i) {
            count += number >= first && number < last && c->events[i].tag == tag;
            number++;
        }
    assert_true(number >= last);
    return count;
}

/* Grants of a channel repeat a pattern of messages, one a slot from the first on. */
static void assert_pattern(const sim_case *c, sv_channel channel, const uint32_t *tags,
                           uint32_t length, uint32_t grants, uint64_t slot)
{
    uint32_t number = 0;
    uint64_t first = 0;
    for (uint32_t i = 0; i < c->num_events && number < grants; i++)
        if (c->events[i].hop > 0 && c->events[i].channel.i == channel.i) {
            first = number == 0 ? c->events[i].time : first;
            assert_int_equal(c->events[i].tag, tags[number % length]);
            assert_int_equal(c->events[i].time, first + number * slot);
            number++;
        }
    assert_int_equal(number, grants);
}

/* ---- many to one ---- */

/*
 * N senders at ports 2, 3, … of one switch, all to the host at port 1, all ready at once: their
 * first packets are ready at the same tick, and from then on each always has one. The port takes
 * one in W chi, in the order of input ports going round (rule 16). So grant j is of sender j mod N,
 * j slots after the first, and what arrives is what the last link (or the drain) takes, shared out
 * equally to the packet.
 */
static void many_to_one_is_shared_equally(void **state)
{
    (void)state;
    enum { EACH = 100 };
    static const uint64_t drains[] = {1, QDR, 1000};
    for (uint32_t n = 1; n <= 9; n++)
        for (uint32_t i = 0; i < LENGTH(drains); i++) {
            sim_case c = sim_begin(ctx, sim_star(ctx, n + 1, SV_SPEED_QDR));
            sim_send sends[9];
            for (uint32_t s = 0; s < n; s++)
                sends[s] = (sim_send){s + 1, 0, 2048, 0};
            c.model.drain = drains[i];
            const sv_sim_result *result = sim_run(ctx, &c, sends, n, EACH);
            uint64_t slot = W * (drains[i] > QDR ? drains[i] : QDR);
            assert_int_equal(c.num_arrivals, n * EACH);
            for (uint32_t j = 0; j < n * EACH; j++) {
                assert_int_equal(c.arrivals[j].from, 1 + j % n);
                assert_int_equal(c.arrivals[j].time, c.arrivals[0].time + j * slot);
            }
            assert_int_equal(result->time, c.arrivals[n * EACH - 1].time);
            sim_finish(&c);
        }
}

/* The same with VLs: VLs take turns, then the ports of a VL (rule 16). Two and two share
 * equally; of three on VL 0 and one on VL 1 the one alone gets half. */
static void vls_take_turns_before_ports(void **state)
{
    (void)state;
    static const uint8_t even[] = {0, 0, 0, 1, 1}, odd[] = {0, 0, 0, 0, 1};
    static const uint32_t even_turns[] = {0, 2, 1, 3}, odd_turns[] = {0, 3, 1, 3, 2, 3};
    const sim_send sends[] = {{1, 0, 2048, 0}, {2, 0, 2048, 0}, {3, 0, 2048, 0}, {4, 0, 2048, 0}};
    for (int i = 0; i < 2; i++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 5, SV_SPEED_QDR));
        sim_vls_by_sender(ctx, &c, i == 0 ? even : odd);
        sim_run(ctx, &c, sends, 4, 300);
        if (i == 0)
            assert_pattern(&c, sim_last_channel(c.f, 0), even_turns, 4, 1200, SLOT);
        else
            assert_pattern(&c, sim_last_channel(c.f, 0), odd_turns, 6, 600, SLOT);
        sim_finish(&c);
    }
}

/*
 * Turns within a VL are of pairs of an input port and the VL a packet came by, by port, then by
 * VL (rule 16). Hosts 0 and 1 send on VLs 0 and 1 over the cable that is port 1 of switch 1,
 * host 2 is at port 2 there; towards host 3 all are on VL 0. The cable brings a packet a slot and
 * two of its three pairs' turns are a slot each, so, once all three queue, it goes round: 0, 1, 2.
 */
static void vls_that_join_take_turns_by_port_and_vl(void **state)
{
    (void)state;
    static const uint8_t vl_of[] = {0, 1, 0, 0};
    const sim_cable cables[] = {{0, 1, SV_SPEED_QDR, 4},
                                {0, SIM_HOST, SV_SPEED_QDR, 4},
                                {0, SIM_HOST + 1, SV_SPEED_QDR, 4},
                                {1, SIM_HOST + 2, SV_SPEED_QDR, 4},
                                {1, SIM_HOST + 3, SV_SPEED_QDR, 4}};
    const sim_send sends[] = {{0, 3, 2048, 0}, {1, 3, 2048, 0}, {2, 3, 2048, 0}};
    const sv_sl2vl all_on_0 = {{0}};
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 2, 4, cables, 5));
    sim_vls_by_sender(ctx, &c, vl_of);
    c.r->vls_of[1] = (uint16_t)sv_routes_sl2vl_table(ctx, c.r, &all_on_0);
    c.control.limit = 500ULL * SLOT;
    sim_run(ctx, &c, sends, 3, UINT32_MAX);
    const sv_channel last = sim_last_channel(c.f, 3);
    const sim_event *before = sim_grant(&c, last, 99);
    for (uint32_t k = 100; k < 400; k++) {
        const sim_event *grant = sim_grant(&c, last, k);
        assert_int_equal(grant->vl, 0);
        assert_int_equal(grant->tag, (before->tag + 1) % 3);
        assert_int_equal(grant->time, before->time + SLOT);
        before = grant;
    }
    sim_finish(&c);
}

/*
 * Turns are between ports, not senders: along a row of switches whoever joins last gets half. Hosts
 * 0, 1, 2 on switches 0, 1, 2, all to host 3 on switch 2: of each four packets two are host 2's,
 * one host 1's, one host 0's.
 */
static void who_joins_late_gets_half(void **state)
{
    (void)state;
    const sim_cable cables[] = {{0, SIM_HOST, SV_SPEED_QDR, 4},
                                {1, SIM_HOST + 1, SV_SPEED_QDR, 4},
                                {2, SIM_HOST + 2, SV_SPEED_QDR, 4},
                                {2, SIM_HOST + 3, SV_SPEED_QDR, 4},
                                {0, 1, SV_SPEED_QDR, 4},
                                {1, 2, SV_SPEED_QDR, 4}};
    const sim_send sends[] = {{0, 3, 2048, 0}, {1, 3, 2048, 0}, {2, 3, 2048, 0}};
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 3, 4, cables, 6));
    c.control.limit = 1000ULL * SLOT;
    sim_run(ctx, &c, sends, 3, UINT32_MAX);
    const sv_channel last = sim_last_channel(c.f, 3);
    assert_in_range(granted_of(&c, last, 100, 900, 2), 399, 401);
    assert_in_range(granted_of(&c, last, 100, 900, 1), 199, 201);
    assert_in_range(granted_of(&c, last, 100, 900, 0), 199, 201);
    assert_int_equal(c.result->end, SV_SIM_LIMIT);
    sim_finish(&c);
}

/* ---- weights ---- */

/* Two VLs that are always wanted, and in which order packets of n blocks go (rule 16). */
static const struct weights {
    uint8_t limit;
    sv_vlarb_table high, low;
    uint32_t blocks;
    uint32_t zeros, ones; /* so many packets of VL 0, so many of VL 1, and again */
} weights[] = {
    /* A weight of w lets ceil(w / n) packets through: they go as long as something is left. */
    {0, {0}, {2, {0, 1}, {3, 1}}, 1, 3, 1},
    {0, {0}, {2, {0, 1}, {3, 1}}, 2, 2, 1},
    {0, {0}, {2, {0, 1}, {3, 1}}, 3, 1, 1},
    {0, {0}, {2, {0, 1}, {4, 3}}, 3, 2, 1},
    {0, {0}, {2, {0, 1}, {255, 5}}, 1, 255, 5},
    {0, {2, {0, 1}, {2, 7}}, {0}, 1, 2, 7},
    /* An entry of weight 0 is passed over; a VL may have several entries. */
    {0, {0}, {4, {1, 0, 0, 1}, {0, 2, 3, 2}}, 1, 5, 2},
    /* After max(1, 64 limit) blocks from the high list it is the low one's turn, for a packet. */
    {0, {1, {0}, {255}}, {1, {1}, {9}}, 1, 1, 1},
    {0, {1, {0}, {255}}, {1, {1}, {9}}, 3, 1, 1},
    {1, {1, {0}, {255}}, {1, {1}, {9}}, 1, 64, 1},
    {1, {1, {0}, {255}}, {1, {1}, {9}}, 3, 22, 1}, /* 21 packets have 63 blocks, fewer than 64 */
    {2, {1, {0}, {1}}, {1, {1}, {1}}, 1, 128, 1},  /* the list has but one entry: its own again */
    {255, {1, {0}, {1}}, {1, {1}, {9}}, 1, 400, 0},
};

static void assert_weighted(const struct weights *w, const uint32_t *tags, uint32_t count)
{
    assert_true(count >= 400);
    for (uint32_t j = 0; j < 400; j++)
        assert_int_equal(tags[j], j % (w->zeros + w->ones) >= w->zeros);
}

/* Senders at ports 2 and 3, on VLs 0 and 1; the last link is the slowest, so that both always
 * have a packet when it takes one. */
static void switches_heed_weights(void **state)
{
    (void)state;
    static const uint8_t vl_of[] = {0, 0, 1};
    const sim_cable cables[] = {{0, SIM_HOST, SV_SPEED_SDR, 4},
                                {0, SIM_HOST + 1, SV_SPEED_QDR, 4},
                                {0, SIM_HOST + 2, SV_SPEED_QDR, 4}};
    for (uint32_t i = 0; i < LENGTH(weights); i++) {
        uint32_t bytes = 64 * weights[i].blocks - 26, tags[1000], count = 0;
        const sim_send sends[] = {{1, 0, bytes, 0}, {2, 0, bytes, 0}};
        sim_case c = sim_begin(ctx, sim_fabric(ctx, 1, 3, cables, 3));
        sim_vls_by_sender(ctx, &c, vl_of);
        c.r->vlarb[SV_VLARB_SWE] = (sv_vlarb){.given = true,
                                              .high_limit = weights[i].limit,
                                              .high = weights[i].high,
                                              .low = weights[i].low};
        c.model.weighted = true;
        c.model.vls = 2;
        sim_run(ctx, &c, sends, 2, 450);
        for (uint32_t k = 0; k < c.num_events; k++)
            if (c.events[k].hop == 1)
                tags[count++] = c.events[k].tag;
        assert_weighted(&weights[i], tags, count);
        sim_finish(&c);
    }
}

/* One host sends to two others, on VLs 0 and 1. */
static void adapters_heed_weights(void **state)
{
    (void)state;
    static const uint8_t vl_of[] = {0, 0, 1};
    for (uint32_t i = 0; i < LENGTH(weights); i++) {
        uint32_t bytes = 64 * weights[i].blocks - 26, tags[1000], count = 0;
        const sim_send sends[] = {{0, 1, 450 * bytes, 0}, {0, 2, 450 * bytes, 0}};
        sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
        sim_vls_by_receiver(ctx, &c, vl_of);
        c.r->vlarb[SV_VLARB_CA] = (sv_vlarb){.given = true,
                                             .high_limit = weights[i].limit,
                                             .high = weights[i].high,
                                             .low = weights[i].low};
        c.model.weighted = true;
        c.model.vls = 2;
        c.model.mtu_bytes = bytes;
        sim_run(ctx, &c, sends, 2, 1);
        for (uint32_t k = 0; k < c.num_events; k++)
            if (c.events[k].hop == 0)
                tags[count++] = c.events[k].tag;
        assert_weighted(&weights[i], tags, count);
        sim_finish(&c);
    }
}

/* Weights count when they are asked for and where tables have them; else VLs take turns. */
static void without_weights_vls_take_turns(void **state)
{
    (void)state;
    static const uint8_t vl_of[] = {0, 0, 1};
    static const uint32_t turns[] = {0, 1};
    const sim_send sends[] = {{1, 0, 2048, 0}, {2, 0, 2048, 0}};
    for (int asked = 0; asked < 2; asked++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
        sim_vls_by_sender(ctx, &c, vl_of);
        c.model.weighted = asked;
        c.model.vls = 2;
        c.r->vlarb[SV_VLARB_SWE] = (sv_vlarb){.given = !asked, .low = {2, {0, 1}, {255, 1}}};
        sim_run(ctx, &c, sends, 2, 100);
        assert_pattern(&c, sim_last_channel(c.f, 0), turns, 2, 200, SLOT);
        sim_finish(&c);
    }
}

/* ---- rings ---- */

/* Payload that each terminal received between warm_up and warm_up + sample, in packets. */
static uint64_t packets_received(const sim_case *c, uint32_t terminal)
{
    return c->result->terminals[terminal].received_bytes / 2048;
}

/*
 * A ring of five, everybody to the next one: each cable of the ring has one flow, and all run at
 * link speed: SAMPLE / SLOT packets each. Everybody to the next but one: two flows a cable. Each
 * switch's way on is shared in turns between its own host and what passes, half and half, which is
 * just what each flow needs on both its cables: half of link speed, and no more can be. (Two VLs
 * keep it from a deadlock; a cable's two flows share it whether they are on one VL or on two.)
 */
static void a_ring_carries_what_its_cables_can(void **state)
{
    (void)state;
    enum { SLOTS = 1000 };
    for (uint32_t shift = 1; shift <= 2; shift++) {
        const sv_route_request request = {.vls = 2, .seed = 1};
        sim_case c = sim_begin(ctx, test_fabric(ctx, "torus:5"));
        sim_send sends[5];
        sv_routes_free(c.r);
        OK(ctx, sv_route(ctx, c.f, "dfsssp", &request, &c.r, NULL));
        for (uint32_t i = 0; i < 5; i++)
            sends[i] = (sim_send){i, (i + shift) % 5, 2048, 0};
        c.model.voq = true;
        c.control.warm_up = 500ULL * SLOT;
        c.control.sample = (uint64_t)SLOTS * SLOT;
        sim_run(ctx, &c, sends, 5, UINT32_MAX);
        for (uint32_t i = 0; i < 5; i++) {
            if (shift == 1)
                assert_int_equal(packets_received(&c, i), SLOTS);
            else
                assert_in_range(packets_received(&c, i), SLOTS / 2 - 5, SLOTS / 2 + 5);
        }
        assert_true(c.result->payload_bytes <= 2048ULL * (5 * SLOTS / shift + 1));
        assert_true(c.result->payload_bytes >= 2048ULL * (5 * SLOTS / shift) * 99 / 100);
        sim_finish(&c);
    }
}

/* ---- heads of lines ---- */

/*
 * Two senders A (port 3) and B (port 4), two receivers X (port 1) and Y (port 2), all links and
 * crossings of one speed: everything happens in slots. Both send X X Y Y X X Y Y … of one packet.
 *
 * One queue a port: slot 1 A's X1 (B's waits); 2 B's X1, in turn; 3 A's X2; 4 A's Y1 and B's X2; 5
 * B's Y1, as Y's last was A; 6 A's Y2; 7 A's X3 and B's Y2; 8 B's X3; 9 A's X4; 10 A's Y3 and B's
 * X4 … So A's packets 2 j - 1 and 2 j go in slots 3 j - 2 and 3 j, B's in 3 j - 1 and 3 j + 1: two
 * thirds of what outputs could. With 4 K packets each, B's last goes in slot 6 K + 1.
 *
 * Queues by output: packet j of each is there from slot j on. X takes A's X1, B's X1, A's X2 in
 * slots 1, 2, 3, and in slot 3 Y, which finds A crossing already, B's Y1; from then on X takes A
 * and B in turn and Y the other one. X is done in slot 4 K, Y, two slots later, in 4 K + 2.
 */
static void heads_of_lines_block_without_output_queues(void **state)
{
    (void)state;
    enum { K = 50 };
    static const sim_send sends[] = {{2, 0, 2048, 0}, {2, 0, 2048, 0}, {2, 1, 2048, 0},
                                     {2, 1, 2048, 0}, {3, 0, 2048, 0}, {3, 0, 2048, 0},
                                     {3, 1, 2048, 0}, {3, 1, 2048, 0}};
    for (int voq = 0; voq < 2; voq++) {
        const uint64_t tau[] = {QDR, QDR};
        sim_case c = sim_begin(ctx, sim_star(ctx, 4, SV_SPEED_QDR));
        c.model.voq = voq;
        sim_run(ctx, &c, sends, 8, K);
        uint64_t slots = voq ? 4 * K + 2 : 6 * K + 1;
        assert_int_equal(c.result->time, sim_alone(&c.model, W, tau, 2) + (slots - 1) * SLOT);
        const uint64_t first = sim_grant(&c, sim_last_channel(c.f, 0), 0)->time;
        const sim_event *x = sim_grant(&c, sim_last_channel(c.f, 0), 4 * K - 1);
        if (voq)
            assert_int_equal(x->time, first + (4 * K - 1) * SLOT);
        sim_finish(&c);
    }
}

/*
 * A cable between two switches, host 0's packets over it to a host behind a slow link (1X SDR, 16
 * times as slow), host 1's to one behind a fast one; two ways out of the cable's input. On one VL
 * the cable's buffer lets in one of each in turn, so both get what the slow link takes, queues by
 * output or not: room is shared. On two VLs the slow one's share is a sixteenth of the cable and
 * the other has the rest. On one VL with one way out of the input, a slow packet takes it for 16
 * slots and a fast one for one, in turn: one of each in 17 slots.
 */
static void vls_do_not_block_each_other(void **state)
{
    (void)state;
    static const uint8_t one[] = {0, 0, 0, 0}, two[] = {0, 1, 0, 0};
    enum { SLOTS = 16 * 17 * 6 };
    const sim_cable cables[] = {{0, SIM_HOST, SV_SPEED_QDR, 4},
                                {0, SIM_HOST + 1, SV_SPEED_QDR, 4},
                                {0, 1, SV_SPEED_QDR, 4},
                                {1, SIM_HOST + 2, SV_SPEED_SDR, 1},
                                {1, SIM_HOST + 3, SV_SPEED_QDR, 4}};
    const sim_send sends[] = {{0, 2, 2048, 0}, {1, 3, 2048, 0}};
    for (int i = 0; i < 6; i++) {
        bool vls = i >= 4, ways = i >= 2;
        sim_case c = sim_begin(ctx, sim_fabric(ctx, 2, 4, cables, 5));
        sim_vls_by_sender(ctx, &c, vls ? two : one);
        c.model.voq = i & 1;
        c.model.ways = ways ? 2 : 1;
        c.control.warm_up = (uint64_t)SLOTS * SLOT;
        c.control.sample = (uint64_t)SLOTS * SLOT;
        sim_run(ctx, &c, sends, 2, UINT32_MAX);
        uint64_t slow = SLOTS / (ways ? 16 : 17), fast = ways && vls ? SLOTS * 15 / 16 : slow;
        assert_in_range(packets_received(&c, 2), slow - 1, slow + 1);
        assert_in_range(packets_received(&c, 3), fast - 2, fast + 2);
        sim_finish(&c);
    }
}

/*
 * Three packets X X Y come over a link of 72 to outputs of 450. X's take W chi each. The third is
 * granted: with one way out of the input, after both (rule 12); with two, a tick after the second,
 * as it is first in its queue from then on (rule 9); with queues by output and two ways when it is
 * ready, 2 W 72 after the first; with one way after both again, as X is before Y (rule 15).
 */
static void an_input_has_so_many_ways_out(void **state)
{
    (void)state;
    const sim_cable cables[] = {{0, SIM_HOST, SV_SPEED_QDR, 4},
                                {0, SIM_HOST + 1, SV_SPEED_QDR, 4},
                                {0, SIM_HOST + 2, SV_SPEED_HDR, 4}};
    const sim_send sends[] = {{2, 0, 2048, 0}, {2, 0, 2048, 0}, {2, 1, 2048, 0}};
    const uint64_t first = 7001 + 64 * HDR + 180007;
    const struct {
        uint32_t ways;
        bool voq;
        uint64_t third;
    } cases[] = {
        {1, false, 2 * SLOT}, {2, false, SLOT + 1}, {1, true, 2 * SLOT}, {2, true, 2 * W * HDR}};
    for (uint32_t i = 0; i < LENGTH(cases); i++) {
        sim_case c = sim_begin(ctx, sim_fabric(ctx, 1, 3, cables, 3));
        c.model.ways = cases[i].ways;
        c.model.voq = cases[i].voq;
        sim_run(ctx, &c, sends, 3, 1);
        assert_int_equal(sim_grant(&c, sim_last_channel(c.f, 0), 0)->time, first);
        assert_int_equal(sim_grant(&c, sim_last_channel(c.f, 0), 1)->time, first + SLOT);
        assert_int_equal(sim_grant(&c, sim_last_channel(c.f, 1), 0)->time, first + cases[i].third);
        sim_finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_to_one_is_shared_equally),
        cmocka_unit_test(vls_take_turns_before_ports),
        cmocka_unit_test(vls_that_join_take_turns_by_port_and_vl),
        cmocka_unit_test(who_joins_late_gets_half),
        cmocka_unit_test(switches_heed_weights),
        cmocka_unit_test(adapters_heed_weights),
        cmocka_unit_test(without_weights_vls_take_turns),
        cmocka_unit_test(a_ring_carries_what_its_cables_can),
        cmocka_unit_test(heads_of_lines_block_without_output_queues),
        cmocka_unit_test(vls_do_not_block_each_other),
        cmocka_unit_test(an_input_has_so_many_ways_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
