/*
 * test_simulate.c: times that can be written down: one packet and one flow over links, switches,
 * buffers and adapters of all kinds, exact to the tick. Each test says how its number follows from
 * docs/simulator.md ("rule"); tests/oracle has the cases for which there is no formula.
 *
 * W: bytes of a packet with its header, n its blocks, tau ticks a byte on a link, chi across.
 */
#include "support/simulating.h"

TEST_CONTEXT

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* ---- rule 1 ---- */

static void every_link_has_whole_ticks_a_byte(void **state)
{
    (void)state;
    static const struct {
        sv_speed speed;
        uint64_t ticks;
    } of_4x[] = {{SV_SPEED_SDR, 1800},  {SV_SPEED_DDR, 900}, {SV_SPEED_QDR, 450},
                 {SV_SPEED_FDR10, 360}, {SV_SPEED_FDR, 264}, {SV_SPEED_EDR, 144},
                 {SV_SPEED_HDR, 72},    {SV_SPEED_NDR, 36},  {SV_SPEED_XDR, 18}};
    static const uint8_t widths[] = {1, 2, 4, 8, 12};
    for (uint32_t i = 0; i < LENGTH(of_4x); i++)
        for (uint32_t w = 0; w < LENGTH(widths); w++) {
            const sv_link link = {.speed = (uint8_t)of_4x[i].speed, .width = widths[w]};
            assert_int_equal(of_4x[i].ticks * 4 % widths[w], 0);
            assert_int_equal(sv_sim_byte_ticks(&link), of_4x[i].ticks * 4 / widths[w]);
        }
    assert_int_equal(sv_sim_byte_ticks(&(sv_link){0}), QDR);
}

/* ---- one packet ---- */

/*
 * A chain of h switches has h + 1 links. Where all links and crossings take tau a byte, a packet of
 * at least a block waits at each end of a link for its first block (max over k of rule 11 is that
 * of k = 1, as e(k) - 64 (k - 1) <= 64), and the next link starts when that block is across: a hop
 * takes cable + 64 tau + switch + 64 tau. Drained at tau a byte it is done after another
 * cable + 64 tau + W tau.
 */
static void a_packet_alone_takes_two_blocks_a_hop(void **state)
{
    (void)state;
    for (uint32_t hops = 1; hops <= 6; hops++) {
        char spec[32];
        snprintf(spec, sizeof spec, "mesh:1x%u,hosts=2", hops);
        sim_case c = sim_begin(ctx, test_fabric(ctx, spec));
        const sim_send send = {0, 2 * hops - 1, 2048, 123456};
        c.model.drain = QDR;
        const uint64_t block = 64 * QDR, hop = 7001 + block + 180007 + block;
        const sv_sim_result *result = sim_run(ctx, &c, &send, 1, 1);
        assert_int_equal(result->end, SV_SIM_COMPLETED);
        assert_int_equal(result->time, 123456 + hops * hop + 7001 + block + 2074 * QDR);
        assert_int_equal(c.num_arrivals, 1);
        assert_int_equal(c.arrivals[0].time, result->time);
        assert_int_equal(c.arrivals[0].injected, 123456);
        assert_int_equal(c.arrivals[0].ready, 123456);
        assert_int_equal(c.arrivals[0].from, 0);
        assert_int_equal(c.arrivals[0].to, 2 * hops - 1);
        /* Granted by switch i + 1 a block before its link starts. */
        assert_int_equal(c.num_events, 1 + hops);
        for (uint32_t i = 1; i <= hops; i++)
            assert_int_equal(c.events[i].time, 123456 + i * hop - block);
        sim_finish(&c);
    }
}

static const struct chain {
    uint8_t speed[4];
    uint64_t tau[4];
} chains[] = {
    {{SV_SPEED_QDR, SV_SPEED_QDR, SV_SPEED_QDR, SV_SPEED_QDR}, {QDR, QDR, QDR, QDR}},
    {{SV_SPEED_SDR, SV_SPEED_QDR, SV_SPEED_FDR, SV_SPEED_HDR}, {SDR, QDR, FDR, HDR}},
    {{SV_SPEED_HDR, SV_SPEED_FDR, SV_SPEED_QDR, SV_SPEED_SDR}, {HDR, FDR, QDR, SDR}},
    {{SV_SPEED_FDR, SV_SPEED_SDR, SV_SPEED_HDR, SV_SPEED_DDR}, {FDR, SDR, HDR, DDR}},
};

/* Three switches in a row between two hosts. */
static sv_fabric *chain_of(const struct chain *chain)
{
    const sim_cable cables[] = {{SIM_HOST, 0, chain->speed[0], 4},
                                {0, 1, chain->speed[1], 4},
                                {1, 2, chain->speed[2], 4},
                                {2, SIM_HOST + 1, chain->speed[3], 4}};
    return sim_fabric(ctx, 3, 2, cables, 4);
}

/*
 * The general form (rules 11, 14, 18): the sum over switches of cable + max over k of
 * (e(k) tau' - 64 (k - 1) chi) + switch + e(1) chi, then the same with the drain. sim_alone adds it
 * up, block by block, for every speed-up; lengths round a block are where the last one matters.
 */
static void speeds_and_speedups_mix(void **state)
{
    (void)state;
    static const uint32_t speedups[] = {100, 101, 125, 133, 150, 200, 700, 1000000};
    static const uint64_t drains[] = {1, 143, QDR, 2000};
    static const uint32_t payloads[] = {0, 1, 37, 38, 39, 101, 102, 103, 1000, 2048};
    for (uint32_t i = 0; i < LENGTH(chains); i++) {
        sim_case c = sim_begin(ctx, chain_of(&chains[i]));
        for (uint32_t k = 0; k < LENGTH(speedups) * LENGTH(drains) * LENGTH(payloads); k++) {
            uint32_t payload = payloads[k % LENGTH(payloads)];
            c.model.speedup = speedups[k / LENGTH(payloads) % LENGTH(speedups)];
            c.model.drain = drains[k / LENGTH(payloads) / LENGTH(speedups)];
            const sim_send send = {0, 1, payload, 0};
            const sv_sim_result *result = sim_run(ctx, &c, &send, 1, 1);
            assert_int_equal(result->time, sim_alone(&c.model, payload + 26, chains[i].tau, 4));
            assert_int_equal(result->payload_bytes, payload);
            assert_int_equal(result->packets, 1);
        }
        sim_finish(&c);
    }
}

/*
 * By hand, from a link of 1,800 to one of 264 at speed-up 100, W = 2,074, n = 33: block 33 is whole
 * 2,074 * 1,800 = 3,733,200 after the start; blocks before it take 32 * 64 * 264 = 540,672 to
 * cross, so it may start 3,192,528 after the first byte came: nearly all of the packet is waited
 * for. Block 32 asks for 2,048 * 1,800 - 31 * 64 * 264 = 3,162,624, less; so the last decides.
 * From 264 to 1,800 it is the first block alone: 64 * 264 = 16,896.
 */
static void a_slow_link_before_a_fast_one_stores_the_packet(void **state)
{
    (void)state;
    const sim_cable cables[] = {{SIM_HOST, 0, SV_SPEED_SDR, 4}, {0, SIM_HOST + 1, SV_SPEED_FDR, 4}};
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 1, 2, cables, 2));
    const sim_send there = {0, 1, 2048, 0}, back = {1, 0, 2048, 0};
    c.model.cable = c.model.switch_delay = 0;
    c.model.drain = SDR;
    sim_run(ctx, &c, &there, 1, 1);
    assert_int_equal(c.events[1].time, 3192528);
    /* The link starts after a block of 264; drained at 1,800 the first block decides. */
    assert_int_equal(c.result->time, 3192528 + 16896 + 16896 + 2074 * 1800);
    sim_run(ctx, &c, &back, 1, 1);
    assert_int_equal(c.events[1].time, 16896);
    assert_int_equal(c.result->time, 16896 + 64 * 1800 + 64 * 1800 + 2074 * 1800);
    sim_finish(&c);
}

/* model.byte_ticks is that of 4X links: one of width 1 takes four times as long a byte. */
static void one_speed_for_all(void **state)
{
    (void)state;
    const sim_cable cables[] = {{SIM_HOST, 0, SV_SPEED_SDR, 4}, {0, SIM_HOST + 1, SV_SPEED_FDR, 1}};
    const uint64_t tau[] = {1000, 4000}, own[] = {SDR, 4 * FDR};
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 1, 2, cables, 2));
    const sim_send send = {0, 1, 2000, 0};
    sim_run(ctx, &c, &send, 1, 1);
    assert_int_equal(c.result->time, sim_alone(&c.model, 2026, own, 2));
    c.model.byte_ticks = 1000;
    sim_run(ctx, &c, &send, 1, 1);
    assert_int_equal(c.result->time, sim_alone(&c.model, 2026, tau, 2));
    sim_finish(&c);
}

/* ---- one flow ---- */

/* Rule 2: a message of 3 mtu + 5 is four packets, the last of 5 + header bytes; they follow each
 * other without gaps, so the last starts 3 W tau after the first. */
static void messages_are_cut(void **state)
{
    (void)state;
    const uint64_t tau[] = {QDR, QDR};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    const sim_send send = {0, 1, 3 * 2048 + 5, 10};
    c.model.drain = QDR;
    sim_run(ctx, &c, &send, 1, 1);
    assert_int_equal(c.result->packets, 4);
    assert_int_equal(c.result->arrived_packets, 4);
    assert_int_equal(c.result->messages, 1);
    assert_int_equal(c.result->arrived_messages, 1);
    assert_int_equal(c.result->payload_bytes, 3 * 2048 + 5);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(sim_injection(&c, 0, i), 10 + i * 2074 * QDR);
    /* The last one has less than a block, so it could be there before the one before it is drained:
     * each is drained in its turn, without gaps. */
    uint64_t third = 10 + 2 * 2074 * QDR + sim_alone(&c.model, 2074, tau, 2);
    uint64_t last = 10 + 3 * 2074 * QDR + sim_alone(&c.model, 31, tau, 2);
    assert_int_equal(c.result->time, last > third + 31 * QDR ? last : third + 31 * QDR);
    const sim_send whole = {0, 1, 4 * 2048, 0};
    sim_run(ctx, &c, &whole, 1, 1);
    assert_int_equal(c.result->packets, 4);
    sim_finish(&c);
}

/*
 * One flow of m equal packets. Every stage handles one packet after another, each taking P ticks of
 * the slowest stage: injecting max(W inject, (W + inband) tau), crossing W chi, sending
 * (W + inband) tau, draining W drain. With room enough nobody else is waited for: behind the
 * slowest stage packets keep its distance, before it they only queue. So the last arrives exactly
 * (m - 1) P after the first.
 */
static void the_slowest_stage_sets_the_pace(void **state)
{
    (void)state;
    enum { MANY = 500 };
    static const struct stage {
        uint32_t chain, speedup, inband;
        uint64_t inject, drain, pace; /* pace: P */
    } stages[] = {
        {0, 100, 0, 0, 1, 2074ULL * QDR},        /* links */
        {0, 100, 0, 451, 1, 2074ULL * 451},      /* injecting */
        {0, 100, 0, 0, 777, 2074ULL * 777},      /* draining */
        {0, 100, 40, 0, 1, 2114ULL * QDR},       /* flow control between packets */
        {0, 100, 40, 455, 1, 2114ULL * QDR},     /* 2,074 * 455 < 2,114 * 450 */
        {0, 100, 40, 0, 458, 2114ULL * QDR},     /* 2,074 * 458 < 2,114 * 450 */
        {0, 100, 40, 0, 459, 2074ULL * 459},     /* 2,074 * 459 > 2,114 * 450 */
        {1, 200, 0, 0, 1, 2074ULL * SDR},        /* the first link */
        {2, 200, 0, 0, 1, 2074ULL * SDR},        /* the last */
        {3, 200, 0, 0, 1, 2074ULL * SDR},        /* one between */
        {3, 200, 100, 0, 1, 2174ULL * SDR},      /* with flow control */
        {3, 200, 0, 2001, 2000, 2074ULL * 2001}, /* adapters */
    };
    for (uint32_t i = 0; i < LENGTH(stages); i++) {
        const struct stage *stage = &stages[i];
        sim_case c = sim_begin(ctx, chain_of(&chains[stage->chain]));
        const sim_send send = {0, 1, 2048, 0};
        c.model.speedup = stage->speedup;
        c.model.inband_bytes = stage->inband;
        c.model.inject = stage->inject;
        c.model.drain = stage->drain;
        sim_run(ctx, &c, &send, 1, MANY);
        assert_int_equal(c.num_arrivals, MANY);
        assert_int_equal(c.arrivals[0].time,
                         sim_alone(&c.model, 2074, chains[stage->chain].tau, 4));
        for (uint32_t k = 0; k < MANY; k++)
            assert_int_equal(c.arrivals[k].time, c.arrivals[0].time + k * stage->pace);
        sim_finish(&c);
    }
}

/*
 * Draining stands still for the last `pause` of each `period` (rule 18). Always busy from d on, j
 * bytes are drained at the first tick with work(t) - work(d) >= j drain. work is period - pause a
 * period, so over many packets the pace is W drain period / (period - pause).
 */
static void pauses_slow_draining(void **state)
{
    (void)state;
    enum { MANY = 200 };
    static const uint64_t periods[][2] = {{180000, 18000}, {997, 996}, {5000000, 1234567}, {2, 1}};
    for (uint32_t i = 0; i < LENGTH(periods); i++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
        const sim_send send = {0, 1, 2048, 0};
        const uint64_t period = c.model.period = periods[i][0], on = period - periods[i][1];
        c.model.pause = periods[i][1];
        c.model.drain = 600;
        sim_run(ctx, &c, &send, 1, MANY);
        /* Ready as rule 11 says; 600 > 450, so the first block decides. */
        uint64_t d = sim_hop(&c.model, 2074, QDR, QDR) + 7001 + 64 * QDR;
        uint64_t done = d / period * on + (d % period < on ? d % period : on);
        for (uint32_t k = 0; k < MANY; k++) {
            done += 2074 * 600;
            /* The first t with work(t) = done: `done` is the end of a working part, or inside. */
            uint64_t t = (done - 1) / on * period + (done - 1) % on + 1;
            assert_int_equal(c.arrivals[k].time, t);
        }
        sim_finish(&c);
    }
}

/*
 * Drained one at a time (rule 18): a packet ready while draining stands still starts when it goes
 * on. With a period of 2^40 and a pause from 2^30 on, nothing is drained before 2^40 what was not
 * drained by 2^30.
 */
static void what_comes_in_a_pause_waits(void **state)
{
    (void)state;
    const uint64_t period = 1ULL << 40, on = 1ULL << 30, tau[] = {QDR, QDR};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    c.model.period = period;
    c.model.pause = period - on;
    c.model.drain = QDR;
    const uint64_t alone = sim_alone(&c.model, 2074, tau, 2);
    /* Exactly done when it stands still; a tick later; in the middle of the pause. */
    const sim_send just = {0, 1, 2048, on - alone}, late = {0, 1, 2048, on - alone + 1},
                   in = {0, 1, 2048, 2 * on};
    sim_run(ctx, &c, &just, 1, 1);
    assert_int_equal(c.result->time, on);
    sim_run(ctx, &c, &late, 1, 1);
    assert_int_equal(c.result->time, period + 1);
    sim_run(ctx, &c, &in, 1, 1);
    assert_int_equal(c.result->time, period + 2074 * QDR);
    sim_finish(&c);
}

/* ---- buffers ---- */

/*
 * An input buffer of m packets of n whole blocks on cables so long that credits are what is waited
 * for. A packet started at s is granted at g = s + cable + 64 tau + switch, its last credit is back
 * at g + W chi + credit: one round trip R after s (rules 7, 8, 13). Packet j + m starts exactly R
 * after packet j: m packets, 64 B bytes, a round trip, and never more. With W = 2,048.
 */
static void credits_bound_what_a_long_cable_carries(void **state)
{
    (void)state;
    enum { MANY = 60 };
    for (uint32_t packets = 1; packets <= 5; packets++)
        for (uint32_t inband = 0; inband <= 8; inband += 8) {
            sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
            const sim_send send = {0, 1, 1984, 0};
            c.model.header_bytes = 64;
            c.model.mtu_bytes = 1984;
            c.model.cable = c.model.credit = 5000000;
            c.model.input = 32 * packets;
            c.model.inband_bytes = inband;
            /* In band: over the other link, which is idle. */
            uint64_t trip = 5000000 + 64 * QDR + 180007 + 2048 * QDR + inband * QDR + 5000000;
            uint64_t burst = (2048 + inband) * QDR;
            assert_true(packets * burst < trip);
            sim_run(ctx, &c, &send, 1, MANY);
            for (uint32_t k = 0; k < MANY; k++)
                assert_int_equal(sim_injection(&c, 0, k), k / packets * trip + k % packets * burst);
            sim_finish(&c);
        }
}

/*
 * Room for one packet and x blocks: the next starts when n - x blocks are free again (rule 7), so a
 * round trip is shorter by the crossing of the rest.
 */
static void credits_come_back_block_by_block(void **state)
{
    (void)state;
    enum { MANY = 40 };
    for (uint32_t x = 0; x < 33; x++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
        const sim_send send = {0, 1, 2048, 0};
        c.model.input = 33 + x;
        c.model.drain = QDR; /* so that the adapter's buffer, as small, turns round faster */
        uint64_t pace =
            7001 + 64 * QDR + 180007 + sim_end_byte(2074, 33 - x) * QDR + c.model.credit;
        pace = pace > 2074 * QDR ? pace : 2074 * QDR;
        sim_run(ctx, &c, &send, 1, MANY);
        for (uint32_t k = 0; k < MANY; k++)
            assert_int_equal(sim_injection(&c, 0, k), k * pace);
        sim_finish(&c);
    }
}

/*
 * The same between switch and adapter, where the buffer is freed by draining: granted at g, its
 * link starts at g + 64 chi, it is drained from d = that + cable + 64 tau (drain 500 > 450) on, and
 * the next may be granted when all of it is back: d + W drain + credit.
 */
static void adapters_return_credits_as_they_drain(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    const sim_send send = {0, 1, 2048, 0};
    c.model.input = 33;
    c.model.drain = 500;
    c.model.switch_delay = 1009; /* so that the switch's buffer turns round faster */
    const uint64_t trip = 64 * QDR + 7001 + 64 * QDR + 2074 * 500 + c.model.credit;
    const uint64_t first = 7001 + 64 * QDR + 1009;
    sim_run(ctx, &c, &send, 1, 30);
    for (uint32_t k = 0; k < 30; k++) {
        const sim_event *grant = sim_grant(&c, sim_last_channel(c.f, 1), k);
        assert_int_equal(grant->time, first + k * trip);
    }
    sim_finish(&c);
}

/*
 * An output buffer of one packet: the next is granted when the last block has left (rule 14), at
 * start + W tau, and its own first block must be across before the link starts again: the pace is
 * W tau + 64 chi. With x blocks more it is granted when n - x have left: e(n - x) tau + 64 chi,
 * unless the way in takes longer (W chi) or the link (W tau).
 */
static void output_buffers_bound_the_pace(void **state)
{
    (void)state;
    for (uint32_t x = 0; x <= 33; x += 3)
        for (uint32_t speedup = 100; speedup <= 200; speedup += 100) {
            sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
            const sim_send send = {0, 1, 2048, 0};
            c.model.output = 33 + x;
            c.model.speedup = speedup;
            uint64_t chi = speedup == 100 ? 450 : 225;
            uint64_t pace = (33 - x > 0 ? sim_end_byte(2074, 33 - x) * QDR : 0) + 64 * chi;
            pace = pace > 2074 * QDR ? pace : 2074 * QDR;
            uint64_t first = 7001 + sim_wait(2074, QDR, chi) + 180007;
            sim_run(ctx, &c, &send, 1, 30);
            for (uint32_t k = 0; k < 30; k++)
                assert_int_equal(c.arrivals[k].time - c.arrivals[0].time, k * pace);
            assert_int_equal(sim_grant(&c, sim_last_channel(c.f, 1), 0)->time, first);
            sim_finish(&c);
        }
}

/*
 * Credits in band wait for the packet that their link is sending (rule 8). Host 0 has sent a packet
 * at D into a buffer of one; its last block is free at f = D + cable + 64 tau + switch + W chi. The
 * other link, switch to host 0, started host 1's packet at s = t + cable + 64 tau + switch + 64
 * chi, t being when that was ready. s < f < s + W tau: credits go at s + W tau; s = f or later, or
 * s + W tau <= f: at f, with nothing in the way.
 */
static void credits_in_band_wait_for_packets(void **state)
{
    (void)state;
    const uint64_t d = 1000000, there = 7001 + 64 * QDR + 180007, f = d + there + 2074 * QDR;
    const uint64_t late = d + (2074 - 64) * QDR, early = d - 64 * QDR;
    const struct {
        uint64_t t;
        bool waits;
    } cases[] = {{early - 1, false}, {early, false}, {early + 1, true}, {d, true},
                 {late - 1, true},   {late, false},  {late + 1, false}};
    for (uint32_t i = 0; i < LENGTH(cases); i++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
        const sim_send sends[] = {{0, 2, 2048, d}, {0, 2, 2048, d}, {1, 0, 2048, cases[i].t}};
        c.model.inband_bytes = 24;
        c.model.input = 33;
        sim_run(ctx, &c, sends, 3, 1);
        uint64_t sent = cases[i].t + there + 64 * QDR + 2074 * QDR;
        assert_int_equal(sim_injection(&c, 0, 1),
                         (cases[i].waits ? sent : f) + 24 * QDR + c.model.credit);
        sim_finish(&c);
    }
}

/* ---- adapters ---- */

/* Rule 17: with one message open at a time, a message on another VL waits for the last packet of
 * the one before; with two open they take turns. */
static void open_messages_take_turns(void **state)
{
    (void)state;
    static const uint8_t vl_of[] = {0, 0, 1};
    const sim_send sends[] = {{0, 1, 4 * 2048, 0}, {0, 2, 4 * 2048, 0}};
    static const uint32_t apart[] = {0, 0, 0, 0, 1, 1, 1, 1}, turns[] = {0, 1, 0, 1, 0, 1, 0, 1};
    for (uint32_t open = 1; open <= 2; open++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
        sim_vls_by_receiver(ctx, &c, vl_of);
        c.model.open = open;
        sim_run(ctx, &c, sends, 2, 1);
        uint32_t k = 0;
        for (uint32_t i = 0; i < c.num_events; i++)
            if (c.events[i].hop == 0) {
                assert_int_equal(c.events[i].tag, (open == 1 ? apart : turns)[k]);
                assert_int_equal(c.events[i].time, k * 2074 * QDR);
                k++;
            }
        assert_int_equal(k, 8);
        sim_finish(&c);
    }
}

/* A message that is ready while another is being sent waits for the link; one that is ready later
 * starts when it is ready. On one VL the order is that of the list, whatever is open. */
static void messages_start_when_ready(void **state)
{
    (void)state;
    const sim_send sends[] = {{0, 1, 2048, 5}, {0, 2, 100, 6}, {0, 1, 0, 5000000}};
    for (uint32_t open = 1; open <= 3; open++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
        c.model.open = open;
        sim_run(ctx, &c, sends, 3, 1);
        assert_int_equal(sim_injection(&c, 0, 0), 5);
        assert_int_equal(sim_injection(&c, 0, 1), 5 + 2074 * QDR);
        assert_int_equal(sim_injection(&c, 0, 2), 5000000);
        sim_finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_link_has_whole_ticks_a_byte),
        cmocka_unit_test(a_packet_alone_takes_two_blocks_a_hop),
        cmocka_unit_test(speeds_and_speedups_mix),
        cmocka_unit_test(a_slow_link_before_a_fast_one_stores_the_packet),
        cmocka_unit_test(one_speed_for_all),
        cmocka_unit_test(messages_are_cut),
        cmocka_unit_test(the_slowest_stage_sets_the_pace),
        cmocka_unit_test(pauses_slow_draining),
        cmocka_unit_test(what_comes_in_a_pause_waits),
        cmocka_unit_test(credits_bound_what_a_long_cable_carries),
        cmocka_unit_test(credits_come_back_block_by_block),
        cmocka_unit_test(adapters_return_credits_as_they_drain),
        cmocka_unit_test(output_buffers_bound_the_pace),
        cmocka_unit_test(credits_in_band_wait_for_packets),
        cmocka_unit_test(open_messages_take_turns),
        cmocka_unit_test(messages_start_when_ready),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
