/*
 * test_sim_director.c: the slow simulator, where tables change, against times worked out by hand
 * from docs/simulator.md, rules 21 to 24.
 *
 * Numbers are those of test_sim_oracle.c: packets of 256 bytes (4 blocks), links that take 2 ticks
 * a byte, switches that cross at 1, draining and injecting at 1, the cable 5, the switch 10, a
 * credit
 * 3. A packet is ready at a switch 335 after its link started, arrives at an adapter 581 after
 * that, and its link starts 64 after a grant.
 *
 * All is on one net: two switches 0 and 1 with two cables between their ports 2 and 3, and adapters
 * 2 and 3 at their ports 1. Packets go from 2 to 3, by port 2 of switch 0 unless a test says
 * otherwise.
 */
#include "oracle/sim_oracle.h"
#include "support/testing.h"

#define NEVER UINT64_MAX
#define ALL   UINT32_MAX

enum { MAX = 16 };

/* From a tick on a switch sends a packet, or all, to a port and VL. Port 0: it is dropped. */
struct says {
    uint64_t from;
    uint32_t node, packet, port;
    uint8_t vl;
};

struct told {
    oracle_incident what;
    uint32_t packet, node;
    uint64_t time;
    uint8_t why;
};

static struct {
    oracle_params params;
    oracle_cable cables[4];
    oracle_packet packets[MAX];
    oracle_hop hops[MAX];
    struct says says[MAX];
    struct told told[MAX];
    uint64_t opened[MAX], silent_until;
    uint32_t num_packets, num_says, num_told;
} n;

static void say(uint64_t from, uint32_t node, uint32_t packet, uint32_t port, uint8_t vl)
{
    n.says[n.num_says++] = (struct says){from, node, packet, port, vl};
}

static void fresh(void)
{
    memset(&n, 0, sizeof n);
    n.params = oracle_easy(2, 1000000);
    const oracle_cable cables[] = {
        {2, 1, 0, 1, 2}, {0, 2, 1, 2, 2}, {0, 3, 1, 3, 2}, {1, 1, 3, 1, 2}};
    memcpy(n.cables, cables, sizeof cables);
    say(0, 0, ALL, 2, 0);
    say(0, 1, ALL, 1, 0);
}

static void packet(uint64_t ready)
{
    uint32_t p = n.num_packets++;
    n.hops[p] = (oracle_hop){2, 1, 0};
    n.packets[p] = (oracle_packet){
        .ready = ready, .message = p, .length = 256, .num_hops = 1, .hops = &n.hops[p]};
}

/* Of what was said the last that holds; what is dropped is so because of its packet's number. */
static bool look(void *user, uint32_t packet, uint32_t node, uint32_t in_port, uint64_t now,
                 oracle_hop *way, uint8_t *why)
{
    (void)user;
    (void)in_port;
    for (uint32_t i = 0; i < n.num_says; i++) {
        const struct says *s = &n.says[i];
        if (s->from <= now && s->node == node && (s->packet == packet || s->packet == ALL)) {
            way->out_port = s->port;
            way->vl = s->vl;
        }
    }
    *why = (uint8_t)(packet + 7);
    return way->out_port != 0;
}

static bool opens(void *user, uint32_t packet, uint64_t now, uint8_t *vl)
{
    (void)user;
    n.opened[packet] = now;
    *vl = now >= 1000;
    return now >= n.silent_until;
}

static void incident(void *user, oracle_incident what, uint32_t packet, uint32_t node, uint64_t now,
                     uint8_t why)
{
    (void)user;
    n.told[n.num_told++] = (struct told){what, packet, node, now, why};
}

static oracle_end run(void)
{
    static const uint32_t ports[] = {3, 3};
    const oracle_director director = {.look = look,
                                      .open = opens,
                                      .incident = incident,
                                      .wakes = &n.silent_until,
                                      .num_wakes = 1};
    n.params.director = &director;
    return oracle_run(&n.params, 2, ports, 2, n.cables, 4, n.packets, n.num_packets);
}

static void release(void)
{
    for (uint32_t p = 0; p < n.num_packets; p++) {
        free(n.packets[p].hops);
        free(n.packets[p].granted);
    }
}

static void assert_told(uint32_t i, oracle_incident what, uint32_t packet, uint32_t node,
                        uint64_t time)
{
    assert_true(i < n.num_told);
    assert_int_equal(n.told[i].what, what);
    assert_int_equal(n.told[i].packet, packet);
    assert_int_equal(n.told[i].node, node);
    assert_int_equal(n.told[i].time, time);
    assert_int_equal(n.told[i].why, what == ORACLE_DROPPED ? packet + 7 : 0);
}

/* Rule 21: switch 0 is looked at when the packet is injected, at 0, and switch 1 when switch 0
 * grants it, at 335: not before, and not when it is ready there, at 734. */
static void test_look(void **state)
{
    (void)state;
    for (uint64_t late = 0; late < 2; late++) {
        fresh();
        packet(0);
        say(late, 0, ALL, 3, 0);
        say(335 + late, 1, ALL, 1, 1);
        assert_int_equal(run(), ORACLE_COMPLETED);
        const oracle_packet *p = &n.packets[0];
        assert_int_equal(p->num_hops, 3);
        assert_int_equal(p->hops[1].out_port, late ? 2 : 3);
        assert_int_equal(p->hops[2].vl, !late);
        assert_int_equal(p->granted[1], 335);
        assert_int_equal(p->granted[2], 734);
        assert_int_equal(p->arrived, 798 + 581);
        assert_int_equal(n.num_told, 0);
        release();
    }
}

/* Rule 22: blocks of the first are whole at 128 k + 5, the last at 517. With room for one packet
 * the second goes when that credit is back, at 520; else when the link is free, at 512. In band (10
 * bytes) the link is free at 532, and the credit is back at 517 + 20 + 3. */
static void test_drop(void **state)
{
    (void)state;
    static const uint64_t second[] = {512, 520, 540};
    for (uint32_t i = 0; i < 3; i++) {
        fresh();
        n.params.input = i > 0 ? 4 : 1000;
        n.params.inband = i == 2 ? 10 : 0;
        packet(0);
        packet(0);
        say(0, 0, 0, 0, 0);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_true(n.packets[0].dropped);
        assert_int_equal(n.packets[0].num_hops, 1);
        assert_int_equal(n.packets[0].arrived, NEVER);
        assert_false(n.packets[1].dropped);
        assert_int_equal(n.packets[1].granted[0], second[i]);
        assert_int_equal(n.packets[1].granted[1], second[i] + 335);
        assert_int_equal(n.num_told, 1);
        assert_told(0, ORACLE_DROPPED, 0, 0, 0);
        release();
    }
}

/* At the second switch, and over a link that takes 4: granted at 5 + 128 + 10 = 143, the link
 * starts at 143 + 128, the last block is whole at 271 + 1024 + 5 = 1300. The second packet goes
 * over the first link at 143 + 512 + 3 = 658, is ready at 801 and waits for the credit until 1303.
 * It is completed though the last packet is dropped, too. */
static void test_drop_later(void **state)
{
    (void)state;
    fresh();
    n.params.input = 4;
    n.cables[1].tau = 4;
    packet(0);
    packet(0);
    say(0, 1, ALL, 0, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(n.packets[0].granted[1], 143);
    assert_int_equal(n.packets[1].granted[0], 658);
    assert_int_equal(n.packets[1].granted[1], 1303);
    assert_int_equal(n.num_told, 2);
    assert_told(0, ORACLE_DROPPED, 0, 1, 143);
    assert_told(1, ORACLE_DROPPED, 1, 1, 1303);
    release();
}

/* It is dropped at 335, when switch 0 grants it, or not at all. */
static void test_drop_and_limit(void **state)
{
    (void)state;
    for (uint64_t limit = 335; limit < 337; limit++) {
        fresh();
        n.params.limit = limit;
        packet(0);
        say(0, 1, ALL, 0, 0);
        assert_int_equal(run(), limit == 335 ? ORACLE_LIMIT : ORACLE_COMPLETED);
        assert_int_equal(n.num_told, limit == 336);
        assert_false(n.packets[0].stuck);
        release();
    }
}

/* Rule 23: switch 1 sends it back by port 3 until 1000: granted at 335, 734 (looped: to switch 0),
 * 1133, by which switch 1 has its port 1 again, and 1532; arrived 1596 + 581. Told once. */
static void test_circle(void **state)
{
    (void)state;
    fresh();
    packet(0);
    say(0, 1, ALL, 3, 0);
    say(1000, 1, ALL, 1, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(n.packets[0].num_hops, 5);
    for (uint32_t k = 1; k < 5; k++)
        assert_int_equal(n.packets[0].granted[k], 335 + 399 * (k - 1));
    assert_int_equal(n.packets[0].arrived, 1596 + 581);
    assert_int_equal(n.num_told, 1);
    assert_told(0, ORACLE_CIRCLED, 0, 0, 734);
    release();
}

/* It has looped, too, when it is dropped there. */
static void test_circle_and_drop(void **state)
{
    (void)state;
    fresh();
    packet(0);
    say(0, 1, ALL, 3, 0);
    say(734, 0, ALL, 0, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(n.num_told, 2);
    assert_told(0, ORACLE_CIRCLED, 0, 0, 734);
    assert_told(1, ORACLE_DROPPED, 0, 0, 734);
    release();
}

/* Rule 24: the first goes by a cable that takes 20 ticks a byte, crosses at 10, and is overtaken by
 * two. Granted at 5 + 128 + 10 = 143 (a block comes in 128 and crosses in 640), it starts at 783,
 * is ready at 783 + 5 + max(64 · 20, 5120 − 192) + 10 = 5726, starts at 5790 and arrives at 6371.
 * Those who overtook it are not told, nor is the last, ready at 7000. */
static void test_overtaken(void **state)
{
    (void)state;
    fresh();
    n.cables[2].tau = 20;
    packet(0);
    packet(0);
    packet(0);
    packet(7000);
    say(0, 0, 0, 3, 0);
    assert_int_equal(run(), ORACLE_COMPLETED);
    assert_int_equal(n.packets[0].granted[1], 143);
    assert_int_equal(n.packets[0].granted[2], 5726);
    assert_int_equal(n.packets[0].arrived, 6371);
    assert_true(n.packets[2].arrived < 6371);
    assert_int_equal(n.num_told, 1);
    assert_told(0, ORACLE_OVERTAKEN, 0, 3, 6371);
    release();
}

/* Rule 21: a message is opened when it is ready, others let it, and the link is free: one by one at
 * 0 and 512, or both at 0; the third, ready at 600, at 1024, and its VL is that of then. */
static void test_opened(void **state)
{
    (void)state;
    for (uint32_t open = 1; open <= 2; open++) {
        fresh();
        n.params.open = open;
        packet(0);
        packet(0);
        packet(600);
        assert_int_equal(run(), ORACLE_COMPLETED);
        assert_int_equal(n.opened[0], 0);
        assert_int_equal(n.opened[1], open == 1 ? 512 : 0);
        assert_int_equal(n.opened[2], 1024);
        assert_int_equal(n.packets[2].granted[0], 1024);
        assert_int_equal(n.packets[1].hops[0].vl, 0);
        assert_int_equal(n.packets[2].hops[0].vl, 1);
        release();
    }
}

/* Nothing is opened before the adapter is woken; if it never is, the run has met its limit. */
static void test_silent(void **state)
{
    (void)state;
    for (int never = 0; never < 2; never++) {
        fresh();
        n.silent_until = never ? NEVER : 1234;
        n.params.limit = NEVER;
        packet(0);
        assert_int_equal(run(), never ? ORACLE_LIMIT : ORACLE_COMPLETED);
        assert_int_equal(n.packets[0].granted[0], never ? NEVER : 1234);
        release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look),       cmocka_unit_test(test_drop),
        cmocka_unit_test(test_drop_later), cmocka_unit_test(test_drop_and_limit),
        cmocka_unit_test(test_circle),     cmocka_unit_test(test_circle_and_drop),
        cmocka_unit_test(test_overtaken),  cmocka_unit_test(test_opened),
        cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
