/*
 * test_sim_oracle.c: the slow simulator against times worked out by hand from docs/simulator.md.
 *
 * Unless a test says otherwise: a packet has 256 bytes (4 blocks), links take 2 ticks a byte, a
 * switch crosses at 1 (speedup 2), draining and injecting take 1, the cable 5, the switch 10, a
 * credit 3, and there is room for everything. Then, after its link started a packet,
 *   ready at a switch:   5 + max(64 · 2, 256 · 2 − 192 · 1) + 10 = 5 + 320 + 10 = 335 later,
 *   ready to be drained: 5 + 320 = 325 later, arrived 256 after that,
 * and a switch that grants it starts the link 64 later, when its first block is across. Each packet
 * is a message of its own, VLs take turns, credits are out of band.
 *
 * Longer than other files: one test for each rule, side by side with its arithmetic.
 */
#include "oracle/sim_oracle.h"
#include "support/testing.h"

#define NEVER UINT64_MAX

enum { MAX_PACKETS = 512, MAX_HOPS = 4, MAX_CABLES = 16, MAX_SWITCHES = 5 };

typedef struct net {
    oracle_params params;
    uint32_t num_switches, num_adapters, num_cables, num_packets;
    uint32_t ports[MAX_SWITCHES];
    oracle_cable cables[MAX_CABLES];
    oracle_packet packets[MAX_PACKETS];
    oracle_hop hops[MAX_PACKETS][MAX_HOPS];
    uint64_t granted[MAX_PACKETS][MAX_HOPS];
} net;

static net n;

static void fresh(uint32_t switches, uint32_t ports, uint32_t adapters)
{
    n = (net){.num_switches = switches, .num_adapters = adapters};
    for (uint32_t i = 0; i < switches; i++)
        n.ports[i] = ports;
    n.params = oracle_easy(1, 100000000);
}

static void wire(uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port, uint64_t tau)
{
    assert_true(n.num_cables < MAX_CABLES);
    n.cables[n.num_cables++] = (oracle_cable){a, a_port, b, b_port, tau};
}

/* One switch; adapter i at its port i + 1. */
static void star(uint32_t adapters)
{
    fresh(1, adapters, adapters);
    for (uint32_t i = 0; i < adapters; i++)
        wire(0, i + 1, 1 + i, 1, 2);
}

static oracle_packet *packet_with(uint64_t ready, uint32_t length, uint32_t num_hops,
                                  const oracle_hop *hops)
{
    assert_true(n.num_packets < MAX_PACKETS);
    uint32_t p = n.num_packets++;
    memcpy(n.hops[p], hops, num_hops * sizeof *hops);
    n.packets[p] = (oracle_packet){.ready = ready,
                                   .message = p,
                                   .length = length,
                                   .num_hops = num_hops,
                                   .hops = n.hops[p],
                                   .granted = n.granted[p]};
    return &n.packets[p];
}

/* In a star: from adapter to adapter, all the way on one VL. */
static oracle_packet *across_star(uint32_t from, uint32_t to, uint32_t length, uint8_t vl)
{
    oracle_hop hops[] = {{1 + from, 1, vl}, {0, to + 1, vl}};
    return packet_with(0, length, 2, hops);
}

/* So many of 256 bytes, across a star. */
static void several(uint32_t count, uint64_t ready, uint32_t from, uint32_t to, uint8_t vl)
{
    for (uint32_t i = 0; i < count; i++)
        across_star(from, to, 256, vl)->ready = ready;
}

static oracle_end run(void)
{
    return oracle_run(&n.params, n.num_switches, n.ports, n.num_adapters, n.cables, n.num_cables,
                      n.packets, n.num_packets);
}

/* Of the packets from … from + count - 1, how many the last switch granted before t. */
static uint32_t granted_before(uint32_t from, uint32_t count, uint64_t t)
{
    uint32_t found = 0;
    for (uint32_t p = from; p < from + count; p++)
        found += n.packets[p].granted[1] < t;
    return found;
}

/* All packets in the order of their grants at a hop: the VL that each takes from there, or the
 * adapter that it comes from (A, B, ...). No two are granted in one tick. */
static const char *in_order(uint32_t hop, bool vls)
{
    static char text[MAX_PACKETS + 1];
    uint32_t length = 0;
    uint64_t after = 0;
    for (;; length++) {
        uint32_t first = n.num_packets;
        for (uint32_t p = 0; p < n.num_packets; p++) {
            uint64_t time = n.granted[p][hop];
            if (time >= after && time != NEVER &&
                (first == n.num_packets || time < n.granted[first][hop]))
                first = p;
        }
        if (first == n.num_packets)
            break;
        after = n.granted[first][hop] + 1;
        text[length] = vls ? (char)('0' + n.hops[first][hop].vl)
                           : (char)('A' + n.hops[first][0].node - n.num_switches);
    }
    text[length] = 0;
    return text;
}

/* A line of 1, 2, 3 switches: granted at 335; the link starts at 399, so at the next switch at
 * 399 + 335 = 734, start 798; then 798 + 335 = 1133, start 1197. Arrived 325 + 256 = 581 after the
 * last start: 980, 1379, 1778. */
static void test_one_packet(void **state)
{
    (void)state;
    const uint64_t granted[] = {0, 335, 734, 1133}, arrived[] = {0, 980, 1379, 1778};
    for (uint32_t switches = 1; switches <= 3; switches++) {
        fresh(switches, 2, 2);
        oracle_hop hops[MAX_HOPS] = {{switches, 1, 0}};
        wire(switches, 1, 0, 1, 2);
        for (uint32_t i = 0; i < switches; i++) {
            wire(i, 2, i + 1 < switches ? i + 1 : switches + 1, 1, 2);
            hops[i + 1] = (oracle_hop){i, 2, 0};
        }
        oracle_packet *p = packet_with(1000, 256, switches + 1, hops);
        assert_int_equal(run(), ORACLE_COMPLETED);
        for (uint32_t i = 0; i <= switches; i++)
            assert_int_equal(p->granted[i], 1000 + granted[i]);
        assert_int_equal(p->arrived, 1000 + arrived[switches]);
        assert_false(p->stuck);
    }
}

/* No switch between: 325 + 256. A packet of one byte: 5 + 2 + 1. The one that is ready first goes
 * first, whatever its number. */
static void test_no_switch(void **state)
{
    (void)state;
    fresh(0, 0, 2);
    wire(0, 1, 1, 1, 2);
    oracle_hop hop = {0, 1, 0};
    oracle_packet *q = packet_with(2000, 1, 1, &hop);
    oracle_packet *p = packet_with(0, 256, 1, &hop);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(p->arrived, 581);
    assert_int_equal(q->arrived, 2008);
}

/* When the last block is short (200 = 3 · 64 + 8) it is the one before that has to be waited for:
 * 3 · 128 − 2 · 64 = 256, not 400 − 192 = 208. */
static void test_short_last_block(void **state)
{
    (void)state;
    star(2);
    oracle_packet *p = across_star(0, 1, 200, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(p->granted[1], 5 + 256 + 10);
}

/* Packets go one behind the other: one each 512 ticks, the link's rate. */
static void test_saturated(void **state)
{
    (void)state;
    star(2);
    for (uint32_t i = 0; i < 100; i++)
        across_star(0, 1, 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(n.packets[i].arrived, 980 + 512 * i);
}

/* The injector is slower than the link: one each 256 · 3 ticks. */
static void test_slow_injector(void **state)
{
    (void)state;
    star(2);
    n.params.inject = 3;
    for (uint32_t i = 0; i < 20; i++)
        across_star(0, 1, 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(n.packets[i].arrived, 980 + 768 * i);
}

/* Long cables: the round trip of a credit on the second link is, from grant to grant, 64 (link
 * starts) + 1000 + 320 (drains) + 256 (drained) + 1000 (credit) = 2640; on the first it is 1000 +
 * 320
 * + 10 + 256 + 1000 = 2586, less. So 1 packet each 2640 with 4 blocks, 2 with 8. The first arrives
 * at 1330 (granted) + 64 + 1320 + 256 = 2970, a second 512 later. */
static void test_credits(void **state)
{
    (void)state;
    for (uint32_t room = 1; room <= 2; room++) {
        star(2);
        n.params.cable = n.params.credit = 1000;
        n.params.input = 4 * room;
        for (uint32_t i = 0; i < 40; i++)
            across_star(0, 1, 256, 0);
        assert_int_equal(run(), ORACLE_COMPLETED);
        for (uint32_t i = 0; i < 40; i++)
            assert_int_equal(n.packets[i].arrived, 2970 + 2640 * (i / room) + 512 * (i % room));
    }
}

/* Three to one: when 90 of 180 are granted each has 30, and the link never rests: the last of 180
 * arrives 179 · 512 after the first. */
static void test_fair_sources(void **state)
{
    (void)state;
    star(4);
    n.params.input = 16;
    n.params.output = 16;
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t i = 0; i < 60; i++)
            across_star(from, 3, 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    uint64_t t = n.packets[30].granted[1]; /* the 31st of the first source */
    uint64_t last = 0;
    for (uint32_t from = 0; from < 3; from++)
        assert_int_equal(granted_before(60 * from, 60, t), 30);
    for (uint32_t p = 0; p < 180; p++)
        last = n.packets[p].arrived > last ? n.packets[p].arrived : last;
    assert_int_equal(last, 980 + 179 * 512);
}

/* From 4 ticks a byte to 2: 5 + max(256, 1024 − 192) + 10 = 847, start 911, arrived 581 later. From
 * 1 to 4 with speedup 1: 5 + 64 + 10 = 79, start 79 + 256 = 335; 5 + 4 · 256 − 192 = 837, and 256.
 */
static void test_speeds(void **state)
{
    (void)state;
    star(2);
    n.cables[0].tau = 4;
    oracle_packet *p = across_star(0, 1, 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(p->granted[1], 847);
    assert_int_equal(p->arrived, 911 + 581);

    star(2);
    n.params.speedup = 100;
    n.cables[0].tau = 1;
    n.cables[1].tau = 4;
    p = across_star(0, 1, 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(p->granted[1], 79);
    assert_int_equal(p->arrived, 335 + 837 + 256);
}

/* Two packets of two sources. The first is granted at 335 and leaves during 399 … 911, a block each
 * 128. The entry is free at 335 + 256 = 591. With room for 8 blocks the second is granted then;
 * with room for 5 when three places are free, at 399 + 384; with room for 4 at 911. One of 2 blocks
 * (it comes late enough not to be the first) wants two places: 399 + 256. One of 1 block has its
 * place at 527, before the entry is free. */
static void test_output_buffer(void **state)
{
    (void)state;
    const struct {
        uint32_t output, length;
        uint64_t granted;
    } cases[] = {{8, 256, 591}, {5, 256, 399 + 384}, {4, 256, 911}, {4, 128, 655}, {4, 64, 591}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        star(3);
        n.params.output = cases[i].output;
        oracle_packet *p = across_star(0, 2, 256, 0), *q = across_star(1, 2, cases[i].length, 0);
        q->ready = 250;
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_int_equal(p->granted[1], 335);
        assert_int_equal(q->granted[1], cases[i].granted);
    }
}

/* Crossing as slowly as the link (ready 5 + 128 + 10 = 143 after the start): the first is granted
 * at 143 and leaves during 271 … 783; the second is ready at 743. At 783 the link is free but
 * nothing is across: it starts at 743 + 128. */
static void test_link_waits(void **state)
{
    (void)state;
    star(3);
    n.params.speedup = 100;
    oracle_packet *p = across_star(0, 2, 256, 0), *q = across_star(1, 2, 256, 0);
    q->ready = 600;
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(p->arrived, 271 + 581);
    assert_int_equal(q->granted[1], 743);
    assert_int_equal(q->arrived, 871 + 581);
}

/* One input, two outputs, crossing at 4 from a link of 1: the first crosses during 79 … 1103, the
 * second is injected at 256 and ready at 335. */
static void test_ways(void **state)
{
    (void)state;
    for (uint32_t ways = 1; ways <= 2; ways++) {
        star(3);
        n.params.speedup = 100;
        n.params.ways = ways;
        n.cables[0].tau = 1;
        n.cables[1].tau = n.cables[2].tau = 4;
        oracle_packet *p = across_star(0, 1, 256, 0), *q = across_star(0, 2, 256, 0);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_int_equal(p->granted[1], 79);
        assert_int_equal(q->granted[0], 256);
        assert_int_equal(q->granted[1], ways == 1 ? 1103 : 335);
    }
}

/* Two sources on VL 0, one on VL 1: VLs share the link half and half. */
static void test_fair_vls(void **state)
{
    (void)state;
    star(4);
    n.params.vls = 2;
    n.params.input = 16;
    n.params.output = 16;
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t i = 0; i < 60; i++)
            across_star(from, 3, 256, from == 2);
    assert_int_equal(run(), ORACLE_COMPLETED);
    uint64_t t = n.packets[15].granted[1];
    assert_int_equal(granted_before(60, 60, t), 15);
    assert_in_range(granted_before(120, 60, t), 29, 31);
}

/* Two VLs of one input port lead to one VL of an output: the lower one goes first, though its
 * packet came later. The output (100 ticks a byte) is busy with a third from 143 on, for 12800. */
static void test_vls_join(void **state)
{
    (void)state;
    star(3);
    n.params.vls = 2;
    n.cables[2].tau = 100;
    oracle_hop first[] = {{1, 1, 1}, {0, 3, 0}}, second[] = {{1, 1, 0}, {0, 3, 0}};
    across_star(1, 2, 256, 0);
    oracle_packet *p = packet_with(200, 256, 2, first), *q = packet_with(300, 256, 2, second);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_true(p->granted[0] < q->granted[0]);
    assert_int_equal(q->granted[1], 143 + 12800);
    assert_int_equal(p->granted[1], 143 + 25600);
}

/* An adapter with packets on two VLs takes them in turn, VL 0 first. */
static void test_adapter_vls(void **state)
{
    (void)state;
    star(2);
    n.params.vls = 2;
    for (uint32_t i = 0; i < 10; i++)
        across_star(0, 1, 256, i < 5 ? 1 : 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(n.packets[i].granted[0], 512 * (2 * i + 1));
        assert_int_equal(n.packets[5 + i].granted[0], 512 * 2 * i);
    }
}

/* Five switches in a ring, an adapter at port 1 of each, clockwise out of port 2 into port 3;
 * switch 0 has two more adapters (ports 4, 5). Each adapter sends 3 packets two switches on; where
 * dateline is asked for, the link from 4 to 0 and what follows is on VL 1. */
static void ring(bool dateline)
{
    fresh(5, 5, 7);
    n.params.input = 4;
    n.params.vls = 2;
    for (uint32_t i = 0; i < 5; i++) {
        wire(i, 1, 5 + i, 1, 2);
        wire(i, 2, (i + 1) % 5, 3, 2);
    }
    wire(0, 4, 10, 1, 2);
    wire(0, 5, 11, 1, 2);
    for (uint32_t i = 0; i < 5; i++) {
        oracle_hop hops[] = {{5 + i, 1, 0},
                             {i, 2, dateline && i == 4},
                             {(i + 1) % 5, 2, dateline && i >= 3},
                             {(i + 2) % 5, 1, 0}};
        for (uint32_t j = 0; j < 3; j++)
            packet_with(0, 256, 4, hops);
    }
    oracle_hop side[] = {{10, 1, 0}, {0, 5, 0}};
    for (uint32_t j = 0; j < 8; j++)
        packet_with(0, 256, 2, side);
}

/* All first packets take the ring's buffers at once (335) and wait for one another. The second ones
 * stand in the adapters' input buffers of the switches, stuck behind full rings; the third ones
 * have no credits and are still in the adapters. The side flow comes through. */
static void test_ring(void **state)
{
    (void)state;
    ring(false);
    assert_int_equal(run(), ORACLE_DEADLOCK);
    for (uint32_t p = 0; p < 15; p++) {
        assert_int_equal(n.packets[p].stuck, p % 3 < 2);
        assert_int_equal(n.packets[p].granted[0], p % 3 == 0 ? 0 : p % 3 == 1 ? 594 : NEVER);
        assert_int_equal(n.packets[p].granted[1], p % 3 == 0 ? 335 : NEVER);
        assert_true(n.packets[p].granted[2] == NEVER && n.packets[p].arrived == NEVER);
    }
    for (uint32_t p = 15; p < 23; p++)
        assert_true(!n.packets[p].stuck && n.packets[p].arrived != NEVER);
    ring(true);
    assert_int_equal(run(), ORACLE_COMPLETED);
}

/* The ring with room for 8 blocks, full with packets of 8. Adapter 0 has three more of 4: one to
 * adapter 10, whose port is busy for 25600 ticks with one from adapter 11; one into the ring; one
 * more to adapter 10. At 10000 the first waits, not of S, and the second stands behind it: that is
 * of S already, for its next buffer is full of S. In the end the third stands behind the second. */
static void test_stuck_behind(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        ring(false);
        n.num_packets = 0;
        n.params.input = 8;
        n.params.limit = late ? n.params.limit : 10000;
        n.cables[10].tau = 200;
        for (uint32_t i = 0; i < 5; i++) {
            oracle_hop hops[] = {
                {5 + i, 1, 0}, {i, 2, 0}, {(i + 1) % 5, 2, 0}, {(i + 2) % 5, 1, 0}};
            packet_with(0, 512, 4, hops);
        }
        oracle_hop busy[] = {{11, 1, 0}, {0, 4, 0}}, side[] = {{5, 1, 0}, {0, 4, 0}};
        oracle_hop into[] = {{5, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 1, 0}};
        packet_with(0, 256, 2, busy);
        oracle_packet *a = packet_with(0, 256, 2, side), *b = packet_with(0, 256, 4, into);
        oracle_packet *c = packet_with(0, 256, 2, side);
        assert_int_equal(run(), ORACLE_DEADLOCK);
        for (uint32_t p = 0; p < 5; p++)
            assert_true(n.packets[p].stuck);
        assert_true(!a->stuck && (a->arrived != NEVER) == late);
        assert_true(b->granted[0] == 1536 && b->granted[1] == NEVER && b->stuck);
        assert_true((c->granted[0] != NEVER) == late && c->stuck == late);
    }
}

/* Two packets to a slow output (100 ticks a byte, crossing at 50, room for one), then one to
 * another. The first is granted at 5 + 128 + 10 = 143, starts at 143 + 3200 and is gone at 28943:
 * then the second is granted. The third is injected at 1024 and ready at 1359. In one queue it is
 * first in the tick after the second's grant; with queues for each output it goes at once. */
static void test_voq(void **state)
{
    (void)state;
    for (int voq = 0; voq < 2; voq++) {
        star(3);
        n.params.voq = voq;
        n.params.output = 4;
        n.cables[1].tau = 100;
        across_star(0, 1, 256, 0);
        across_star(0, 1, 256, 0);
        across_star(0, 2, 256, 0);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_int_equal(n.packets[0].granted[1], 143);
        assert_int_equal(n.packets[1].granted[1], 28943);
        assert_int_equal(n.packets[2].granted[1], voq ? 1359 : 28944);
    }
}

/* The same without such queues, the third on a VL of its own: VLs have each their queue. */
static void test_vl_queues(void **state)
{
    (void)state;
    star(3);
    n.params.vls = 2;
    n.params.output = 4;
    n.cables[1].tau = 100;
    across_star(0, 1, 256, 0);
    across_star(0, 1, 256, 0);
    across_star(0, 2, 256, 1)->ready = 600;
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(n.packets[1].granted[1], 28943);
    assert_int_equal(n.packets[2].granted[1], 1359);
}

/* Draining stands still during 750 … 999 of each 1000: from 724 on 26 bytes, the others from 1000
 * on. */
static void test_pause(void **state)
{
    (void)state;
    star(2);
    n.params.pause = 250;
    n.params.period = 1000;
    oracle_packet *p = across_star(0, 1, 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(p->arrived, 1000 + 256 - 26);
}

/* What happens at the limit does not; a tick more and it does. A packet that waits is not stuck,
 * though it just fits into the next buffer. */
static void test_limit(void **state)
{
    (void)state;
    star(2);
    oracle_packet *p = across_star(0, 1, 256, 0);
    n.params.input = 4;
    n.params.limit = 980;
    assert_int_equal(run(), ORACLE_LIMIT);
    assert_true(p->arrived == NEVER && p->granted[1] == 335 && !p->stuck);
    n.params.limit = 335;
    assert_int_equal(run(), ORACLE_LIMIT);
    assert_true(p->granted[1] == NEVER && !p->stuck);
    n.params.limit = 981;
    assert_int_equal(run(), ORACLE_COMPLETED);
}

/* Room for one packet each at two switches, and one in each when time is up: the second waits for
 * the first (injected when its 4 credits are back, 335 + 256 + 3), but the first can go. */
static void test_waiting_not_stuck(void **state)
{
    (void)state;
    fresh(2, 2, 2);
    n.params.input = 4;
    n.params.limit = 734;
    wire(2, 1, 0, 1, 2);
    wire(0, 2, 1, 1, 2);
    wire(1, 2, 3, 1, 2);
    oracle_hop hops[] = {{2, 1, 0}, {0, 2, 0}, {1, 2, 0}};
    oracle_packet *p = packet_with(0, 256, 3, hops), *q = packet_with(0, 256, 3, hops);
    assert_int_equal(run(), ORACLE_LIMIT);
    assert_true(p->granted[1] == 335 && p->granted[2] == NEVER);
    assert_true(q->granted[0] == 594 && q->granted[1] == NEVER);
    assert_false(p->stuck || q->stuck);
}

/* ---- rule 20 ---- */

/* The ring fills at 335: what is granted then is in the ring's buffers, and stuck, from that tick
 * on, though no block is across yet. Before it nothing is of S: the ring is empty. The second ones
 * are injected at 335 + 256 + 3 = 594 and are stuck at once, on the way. S only grows. */
static void test_stuck_at_once(void **state)
{
    (void)state;
    const struct {
        uint64_t limit;
        bool first, second;
    } cases[] = {{335, false, false}, {336, true, false}, {594, true, false},
                 {595, true, true},   {900, true, true},  {50000, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ring(false);
        n.params.limit = cases[i].limit;
        assert_int_equal(run(), cases[i].first ? ORACLE_DEADLOCK : ORACLE_LIMIT);
        for (uint32_t p = 0; p < 15; p++)
            assert_int_equal(n.packets[p].stuck, p % 3 == 0   ? cases[i].first
                                                 : p % 3 == 1 ? cases[i].second
                                                              : false);
    }
}

/* The ring with room for 8 blocks and a packet of 5 in each place: 3 are left. One of 4 blocks that
 * comes after does not fit and is stuck; one of 3 goes in and is stuck behind the one of 5. One of
 * 3 to the switch's own adapter comes through, until it stands behind one that is stuck. */
static void test_stuck_fewer_left(void **state)
{
    (void)state;
    ring(false);
    n.num_packets = 0;
    n.params.input = 8;
    for (uint32_t i = 0; i < 5; i++) {
        oracle_hop hops[] = {{5 + i, 1, 0}, {i, 2, 0}, {(i + 1) % 5, 2, 0}, {(i + 2) % 5, 1, 0}};
        packet_with(0, 320, 4, hops);
    }
    oracle_hop at0[] = {{5, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 1, 0}};
    oracle_hop at2[] = {{7, 1, 0}, {2, 2, 0}, {3, 2, 0}, {4, 1, 0}},
               side[] = {{5, 1, 0}, {0, 4, 0}};
    oracle_packet *before = packet_with(5000, 192, 2, side);
    oracle_packet *large = packet_with(6000, 256, 4, at0), *after = packet_with(7000, 192, 2, side);
    oracle_packet *small = packet_with(6000, 192, 4, at2);
    assert_int_equal(run(), ORACLE_DEADLOCK);
    for (uint32_t p = 0; p < 5; p++)
        assert_true(n.packets[p].stuck);
    assert_true(before->arrived != NEVER && !before->stuck);
    assert_true(large->granted[0] == 6000 && large->granted[1] == NEVER && large->stuck);
    assert_true(after->granted[0] == 7000 && after->granted[1] == NEVER && after->stuck);
    assert_true(small->granted[1] != NEVER && small->granted[2] == NEVER && small->stuck);
}

/* The ring with room for 6 blocks; packets of 1 … 5 blocks go one, two or three switches on, some
 * of them to a slow adapter (20 ticks a byte): it fills little by little. */
static void mixed_ring(bool voq)
{
    ring(false);
    n.num_packets = 0;
    n.params.input = 6;
    n.params.voq = voq;
    n.cables[2].tau = 20; /* that of switch 1's adapter */
    for (uint32_t j = 0; j < 12; j++)
        for (uint32_t i = 0; i < 5; i++) {
            uint32_t far = (i + j) % 6 ? 2 : 1;
            oracle_hop hops[MAX_HOPS] = {{5 + i, 1, 0}};
            for (uint32_t k = 0; k <= far; k++)
                hops[1 + k] = (oracle_hop){(i + k) % 5, k < far ? 2 : 1, 0};
            packet_with(100 * j, 64 * (1 + (3 * i + j) % 5), far + 2, hops);
        }
}

/* Whenever one looks, what is of S stays of S and is never granted again to the very end. */
static void test_stuck_grows(void **state)
{
    (void)state;
    for (int voq = 0; voq < 2; voq++) {
        uint64_t last[MAX_PACKETS][MAX_HOPS];
        bool stuck[MAX_PACKETS] = {false};
        uint32_t times = 0, before = 0;
        mixed_ring(voq);
        assert_int_equal(run(), ORACLE_DEADLOCK);
        memcpy(last, n.granted, sizeof last);
        for (uint64_t limit = 100; limit < 20000; limit += 250) {
            mixed_ring(voq);
            n.params.limit = limit;
            (void)run();
            uint32_t now = 0;
            for (uint32_t p = 0; p < n.num_packets; p++) {
                assert_true(n.packets[p].stuck || !stuck[p]);
                stuck[p] = n.packets[p].stuck;
                now += stuck[p];
                for (uint32_t k = 0; stuck[p] && k < n.packets[p].num_hops; k++)
                    assert_int_equal(n.granted[p][k], last[p][k]);
            }
            times += now > before;
            before = now;
        }
        assert_true(times > 2);
    }
}

/* ---- rules 4, 8: credits in band ---- */

/* 10 bytes after each packet: the link is free after 266 · 2 = 532, not 512. */
static void test_inband_saturated(void **state)
{
    (void)state;
    star(2);
    n.params.inband = 10;
    for (uint32_t i = 0; i < 100; i++)
        across_star(0, 1, 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(n.packets[i].granted[0], 532 * i);
        assert_int_equal(n.packets[i].arrived, 980 + 532 * i);
    }
}

/* Two sources, one output, whose link starts the first at 399. Room for all: the second is granted
 * when the entry is free (335 + 256, flow control does not cross) and starts at 399 + 532 = 931.
 * Room for one: it is granted when the last byte has left, 399 + 512 = 911, not when the link is
 * free; its first block is across at 975. */
static void test_inband_output(void **state)
{
    (void)state;
    for (int tight = 0; tight < 2; tight++) {
        star(3);
        n.params.inband = 10;
        n.params.output = tight ? 4 : 1000;
        oracle_packet *p = across_star(0, 2, 256, 0), *q = across_star(1, 2, 256, 0);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_int_equal(p->arrived, 980);
        assert_int_equal(q->granted[1], tight ? 911 : 591);
        assert_int_equal(q->arrived, (tight ? 975 : 931) + 581);
    }
}

/* Two adapters and a cable, room for 4 blocks, a credit takes 500 + 10 · 2 = 520. Adapter 0's first
 * packet (256 bytes, at 0) is drained during 325 … 581: f(k) = 389, 453, 517, 581. Then it has one
 * of 256 bytes that needs all four credits, or four of 64 that need one each. Adapter 1 sends
 * `count` packets of `length` bytes at `ready`. */
static void two_ways(uint32_t second, uint64_t ready, uint32_t count, uint32_t length)
{
    fresh(0, 0, 2);
    n.params.inband = 10;
    n.params.credit = 500;
    n.params.input = 4;
    wire(0, 1, 1, 1, 2);
    oracle_hop there = {0, 1, 0}, back = {1, 1, 0};
    packet_with(0, 256, 1, &there);
    for (uint32_t i = 0; i < 256 / second; i++)
        packet_with(0, second, 1, &there);
    for (uint32_t i = 0; i < count; i++)
        packet_with(ready, length, 1, &back);
    assert_int_equal(run(), ORACLE_COMPLETED);
}

/* All four credits are there at:
 * - nothing comes the other way: f(4) + 520 = 1101;
 * - a packet during 400 … 912: 912 + 520 = 1432;
 * - one that ends with f(4), 69 … 581: then f(4) goes at once, 1101; flow control after the packet
 *   (until 601) holds nothing up. A tick later, 70 … 582, it waits for that tick: 1102;
 * - one that starts with f(4), 581 … 1093: 1101. A tick earlier, 580 … 1092: 1092 + 520 = 1612;
 * - two of 128 bytes, 320 … 576 and, after 20 ticks, 596 … 852: f(4) lies between them and goes at
 *   581, not with the next: 1101. */
static void test_inband_last_credit(void **state)
{
    (void)state;
    const struct {
        uint64_t ready;
        uint32_t count, length;
        uint64_t there;
    } cases[] = {{0, 0, 0, 1101},     {400, 1, 256, 1432}, {69, 1, 256, 1101}, {70, 1, 256, 1102},
                 {581, 1, 256, 1101}, {580, 1, 256, 1612}, {320, 2, 128, 1101}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        two_ways(256, cases[i].ready, cases[i].count, cases[i].length);
        assert_int_equal(n.packets[1].granted[0], cases[i].there);
        if (cases[i].count == 2)
            assert_int_equal(n.packets[3].granted[0], 596);
    }
}

/* A packet during 389 … 901: f(1) = 389 goes at once, back at 909; f(2), f(3), f(4) with the end of
 * the packet, back at 901 + 520 = 1421, from where on the link sets the pace: (64 + 10) · 2 = 148.
 * It is each block that is held up, not the packet. */
static void test_inband_each_block(void **state)
{
    (void)state;
    const uint64_t injected[] = {909, 1421, 1421 + 148, 1421 + 296};
    two_ways(64, 389, 1, 256);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(n.packets[1 + i].granted[0], injected[i]);
}

/* At a switch, both ways at once: both first packets are granted at 335, f(k) = 399, 463, 527, 591;
 * both links to adapters start at 399, with f(1), and send until 911. So the first credit is back
 * at 399 + 20 + 3, before the link is free (532), the others at 911 + 23. */
static void test_inband_switch(void **state)
{
    (void)state;
    star(2);
    n.params.inband = 10;
    n.params.input = 4;
    for (uint32_t from = 0; from < 2; from++)
        for (uint32_t i = 0; i < 3; i++)
            across_star(from, 1 - from, i ? 64 : 256, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    for (uint32_t from = 0; from < 2; from++) {
        assert_int_equal(n.packets[3 * from + 1].granted[0], 532);
        assert_int_equal(n.packets[3 * from + 2].granted[0], 934);
    }
}

/* ---- rule 16: tables ---- */

/* A star of two whose adapters choose VLs by tables. Packets have 4 blocks, the link takes one
 * each 512 ticks: slot i is at 512 i. */
static void slots(const oracle_tables *tables)
{
    star(2);
    n.params.vls = 3;
    n.params.adapter_tables = tables;
}

#define TABLE(which, ...)                                                                          \
    .which = (const oracle_entry[]){__VA_ARGS__},                                                  \
    .num_##which = sizeof((const oracle_entry[]){__VA_ARGS__}) / sizeof(oracle_entry)

/* 8 and 4 blocks: two packets, then one. With 5 in place of 8 it is the same: more than 0 are left
 * after the first packet, and what the second takes too much is forgotten. 4 and 4: one and one. */
static void test_weights(void **state)
{
    (void)state;
    const struct {
        uint32_t weight;
        const char *order;
    } cases[] = {
        {8, "001001001111"}, {5, "001001001111"}, {4, "010101010101"}, {1, "010101010101"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const oracle_tables tables = {TABLE(low, {0, cases[i].weight}, {1, 4})};
        slots(&tables);
        several(6, 0, 0, 1, 1);
        several(6, 0, 0, 1, 0);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_string_equal(in_order(0, true), cases[i].order);
    }
}

/* VL 0 has 12 blocks and one packet at first; in slot 1 it has none and loses its turn. From slot
 * 2 on it has packets again, and all of its 12, not the 8 that were left. */
static void test_weight_anew(void **state)
{
    (void)state;
    const oracle_tables tables = {TABLE(low, {0, 12}, {1, 4})};
    slots(&tables);
    several(1, 0, 0, 1, 0);
    several(4, 1000, 0, 1, 0);
    several(4, 0, 0, 1, 1);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_string_equal(in_order(0, true), "010001011");
}

/* VL 0 is alone until slot 3 (VL 1 from 1100 on). In slot 2 nothing is left to it, and it is
 * found again, the last, with all of its 8: so slot 3 is its own too. */
static void test_weight_all_round(void **state)
{
    (void)state;
    const oracle_tables tables = {TABLE(low, {0, 8}, {1, 4})};
    slots(&tables);
    several(8, 0, 0, 1, 0);
    several(3, 1100, 0, 1, 1);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_string_equal(in_order(0, true), "00001001001");
}

/* The list begins with an entry without weight: it is passed over, always. VL 0's turn comes with
 * the third entry. A VL may stand in a list more than once: VL 1 then has two turns of three.
 */
static void test_weight_none(void **state)
{
    (void)state;
    const oracle_tables tables = {TABLE(low, {0, 0}, {1, 4}, {0, 4})};
    slots(&tables);
    several(3, 0, 0, 1, 0);
    several(3, 0, 0, 1, 1);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_string_equal(in_order(0, true), "101010");

    const oracle_tables twice = {TABLE(low, {1, 4}, {0, 4}, {1, 4}, {2, 4})};
    slots(&twice);
    for (uint8_t vl = 0; vl < 3; vl++)
        several(4, 0, 0, 1, vl);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_string_equal(in_order(0, true), "101210120202");
}

static void expect_runs(const uint32_t *runs, size_t count)
{
    char expected[MAX_PACKETS + 1];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < runs[i]; j++)
            expected[length++] = i % 2 ? '1' : '0';
    expected[length] = 0;
    assert_string_equal(in_order(0, true), expected);
}

/* VL 0 is high, VL 1 low. Limit 0: one packet each, high first. Limit 1 is 64 blocks: 16
 * packets of 4 blocks, then one of VL 1; of packets of 3 blocks the 22nd still goes, after 63.
 * Limit 254 is 254 packets of 64 blocks; 255 is none at all, though VL 0 has 300 of them. */
static void test_high_limit(void **state)
{
    (void)state;
    const struct {
        uint32_t limit, length, high, runs[6];
    } cases[] = {{0, 256, 50, {1, 1, 1, 1, 48, 0}},       {1, 256, 50, {16, 1, 16, 1, 18, 0}},
                 {2, 256, 50, {32, 1, 18, 1, 0, 0}},      {1, 192, 50, {22, 1, 22, 1, 6, 0}},
                 {254, 4096, 300, {254, 1, 46, 1, 0, 0}}, {255, 4096, 300, {300, 2, 0, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const oracle_tables tables = {TABLE(high, {0, 4}), TABLE(low, {1, 4}),
                                      .limit = cases[i].limit};
        slots(&tables);
        for (uint32_t p = 0; p < cases[i].high + 2; p++)
            across_star(0, 1, cases[i].length, p >= cases[i].high);
        assert_int_equal(run(), ORACLE_COMPLETED);
        expect_runs(cases[i].runs, 6);
    }
}

/* Limit 1, VL 1 from slot 20 on: 80 blocks have gone from the high list by then, so VL 1 goes
 * at once; then 16 of VL 0. What goes from the low list while the high one has none counts as
 * well: VL 0 from slot 2 on (1000) has its 16 from there. */
static void test_high_since(void **state)
{
    (void)state;
    const oracle_tables tables = {TABLE(high, {0, 4}), TABLE(low, {1, 4}), .limit = 1};
    const uint32_t first[] = {20, 1, 16, 1, 4}, second[] = {0, 2, 16, 1, 4, 1};
    slots(&tables);
    several(40, 0, 0, 1, 0);
    several(2, 20 * 512, 0, 1, 1);
    assert_int_equal(run(), ORACLE_COMPLETED);
    expect_runs(first, 5);
    slots(&tables);
    several(20, 1000, 0, 1, 0);
    several(4, 0, 0, 1, 1);
    assert_int_equal(run(), ORACLE_COMPLETED);
    expect_runs(second, 6);
}

/* High: VL 0 with 8, VL 2 with 4; low: VL 1; limit 0: every second slot is VL 1's. The high
 * list stays where it is meanwhile: 0, 0, 2 in its slots. Then the same with VL 0 empty in slot 1
 * (its others from 1000 on): the high list offers VL 2 then, but is not taken, so that in slot 2
 * VL 0 still has the 4 that were left. */
static void test_high_stands(void **state)
{
    (void)state;
    const oracle_tables tables = {TABLE(high, {0, 8}, {2, 4}), TABLE(low, {1, 4})};
    for (int late = 0; late < 2; late++) {
        slots(&tables);
        several(1, 0, 0, 1, 0);
        several(3, late ? 1000 : 0, 0, 1, 0);
        several(2, 400 * (uint64_t)late, 0, 1, 2);
        several(6, 0, 0, 1, 1);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_string_equal(in_order(0, true), "010121010121");
    }
}

/* A VL without credits has no packet that may go: VL 0 has 100 blocks, but with room for one
 * packet its second one waits for credits until 581 + 3, so slot 1 is VL 1's, at 512. Slot 2 is
 * VL 0's again. */
static void test_weights_credits(void **state)
{
    (void)state;
    const oracle_tables tables = {TABLE(low, {0, 100}, {1, 4})};
    fresh(0, 0, 2);
    wire(0, 1, 1, 1, 2);
    n.params.vls = 2;
    n.params.input = 4;
    n.params.adapter_tables = &tables;
    for (uint32_t i = 0; i < 4; i++) {
        oracle_hop hop = {0, 1, i >= 2};
        packet_with(0, 256, 1, &hop);
    }
    assert_int_equal(run(), ORACLE_COMPLETED);
    const uint64_t injected[] = {0, 1024, 512, 1536};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(n.packets[i].granted[0], injected[i]);
}

/* Sources A and B on VL 0, C on VL 1, to one output with room for one packet: a grant each 576
 * (64 until the link starts, then 512), fewer than come. The switch has a table of its own, 12 and
 * 4: three of VL 0, then one of VL 1. Within VL 0, A and B go on in turn from the one that
 * was granted last on that VL, whatever C did between. The adapters' table lets nobody prefer
 * anything; without a table for switches VLs take turns. */
static void test_weights_switch(void **state)
{
    (void)state;
    const oracle_tables at_switch = {TABLE(low, {0, 12}, {1, 4})};
    const oracle_tables at_adapter = {TABLE(low, {0, 1}, {1, 1})};
    for (int turns = 0; turns < 2; turns++) {
        star(4);
        n.params.vls = 2;
        n.params.output = 4;
        n.params.switch_tables = turns ? NULL : &at_switch;
        n.params.adapter_tables = &at_adapter;
        for (uint32_t from = 0; from < 3; from++)
            several(6, 0, from, 3, from == 2);
        assert_int_equal(run(), ORACLE_COMPLETED);
        for (uint32_t i = 1; i < 3; i++)
            assert_int_equal(n.packets[i].granted[0], 512 * i);
        assert_string_equal(in_order(1, false),
                            turns ? "ACBCACBCACBCABABAB" : "ABACBABCABACBABCCC");
    }
}

/* ---- rule 17: open messages ---- */

/* A message of packets of 256 bytes, in a star. */
static void message(uint32_t number, uint64_t ready, uint32_t count, uint32_t from, uint8_t vl)
{
    for (uint32_t i = 0; i < count; i++) {
        oracle_packet *p = across_star(from, 1 - from, 256, vl);
        p->ready = ready;
        p->message = number;
    }
}

/* Messages of two packets on VLs 0, 1, 2. Slots of 512, none is left empty: a message is open
 * until it is injected, not until it has arrived. With two at a time the third is opened when the
 * first's last packet goes, in slot 2; slot 3 is VL 1's turn. The other adapter has a count of
 * its own. */
static void test_open(void **state)
{
    (void)state;
    const char *const order[] = {"001122", "010122", "012012", "012012"};
    for (uint32_t open = 1; open <= 4; open++) {
        star(2);
        n.params.vls = 3;
        n.params.open = open;
        for (uint8_t vl = 0; vl < 3; vl++)
            message(vl, 0, 2, 0, vl);
        message(3, 100, 1, 1, 0);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_int_equal(n.packets[6].granted[0], 100);
        n.num_packets = 6;
        assert_string_equal(in_order(0, true), order[open - 1]);
        for (uint32_t p = 0; p < 6; p++)
            assert_int_equal(n.packets[p].granted[0] % 512, 0);
    }
}

/* A message that waits for credits keeps others from being opened: room for one packet, so the
 * first one's second packet goes at 335 + 256 + 3 = 594. The other message, on VL 1, goes at 512
 * if two may be open (and then the second packet at 1024), else after it, at 1106. */
static void test_open_waits(void **state)
{
    (void)state;
    for (uint32_t open = 1; open <= 2; open++) {
        star(2);
        n.params.vls = 2;
        n.params.input = 4;
        n.params.open = open;
        message(0, 0, 2, 0, 0);
        message(1, 0, 1, 0, 1);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_int_equal(n.packets[1].granted[0], open == 1 ? 594 : 1024);
        assert_int_equal(n.packets[2].granted[0], open == 1 ? 1106 : 512);
    }
}

/* The order is that of times, then of numbers, not that of the array: 9, 3, 5. Message 7 on VL 1
 * is ready at 300, after all others: with one at a time it waits for all of them, with two for one
 * of 3 and 5 (9 has gone at 0; 3 and 5 are open from 100 on; 3 ends in slot 2, and slot 3 is its
 * own), with three it is open in slot 1, and VLs take turns from there. */
static void test_open_order(void **state)
{
    (void)state;
    const uint64_t slot[3][7] = {
        {3, 4, 1, 2, 0, 5, 6}, {4, 6, 1, 2, 0, 3, 5}, {5, 6, 2, 4, 0, 1, 3}};
    for (uint32_t open = 1; open <= 3; open++) {
        star(2);
        n.params.vls = 2;
        n.params.open = open;
        message(5, 100, 2, 0, 0);
        message(3, 100, 2, 0, 0);
        message(9, 0, 1, 0, 0);
        message(7, 300, 2, 0, 1);
        assert_int_equal(run(), ORACLE_COMPLETED);
        for (uint32_t p = 0; p < 7; p++)
            assert_int_equal(n.packets[p].granted[0], 512 * slot[open - 1][p]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_packet),
        cmocka_unit_test(test_no_switch),
        cmocka_unit_test(test_short_last_block),
        cmocka_unit_test(test_saturated),
        cmocka_unit_test(test_slow_injector),
        cmocka_unit_test(test_credits),
        cmocka_unit_test(test_fair_sources),
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_output_buffer),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_fair_vls),
        cmocka_unit_test(test_adapter_vls),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_voq),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_link_waits),
        cmocka_unit_test(test_vls_join),
        cmocka_unit_test(test_vl_queues),
        cmocka_unit_test(test_stuck_behind),
        cmocka_unit_test(test_waiting_not_stuck),
        cmocka_unit_test(test_stuck_at_once),
        cmocka_unit_test(test_stuck_fewer_left),
        cmocka_unit_test(test_stuck_grows),
        cmocka_unit_test(test_inband_saturated),
        cmocka_unit_test(test_inband_output),
        cmocka_unit_test(test_inband_last_credit),
        cmocka_unit_test(test_inband_each_block),
        cmocka_unit_test(test_inband_switch),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weight_anew),
        cmocka_unit_test(test_weight_all_round),
        cmocka_unit_test(test_weight_none),
        cmocka_unit_test(test_high_limit),
        cmocka_unit_test(test_high_since),
        cmocka_unit_test(test_high_stands),
        cmocka_unit_test(test_weights_credits),
        cmocka_unit_test(test_weights_switch),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_open_waits),
        cmocka_unit_test(test_open_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
