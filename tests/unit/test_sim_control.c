/*
 * test_sim_control.c: what ends a run, and what is counted in it: limits, windows, cancelling; sums
 * that must agree with each other, with the log of what happened and with the way that tables give
 * packets. Counts inside a window are exact where a flow has a known pace.
 */
#include "support/simulating.h"

#include <math.h>

TEST_CONTEXT

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

enum { W = 2074, SLOT = W * QDR };

/* ---- sums ---- */

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Quantiles are at most 1/32 above the exact ones, never below. */
static void assert_quantiles(const sim_case *c)
{
    static const double shares[] = {0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
    uint64_t *sorted = calloc(c->num_arrivals, sizeof *sorted), last = 0;
    for (uint32_t i = 0; i < c->num_arrivals; i++)
        sorted[i] = c->arrivals[i].time - c->arrivals[i].injected;
    qsort(sorted, c->num_arrivals, sizeof *sorted, by_size);
    for (uint32_t i = 0; i < LENGTH(shares); i++) {
        uint32_t rank = (uint32_t)ceil(shares[i] * c->num_arrivals - 1e-6);
        uint64_t exact = sorted[rank - 1], found = sv_sim_quantile(c->result, shares[i]);
        if (found < exact || found > exact + exact / 32)
            fail_msg("quantile %g is %llu, should be %llu", shares[i], (unsigned long long)found,
                     (unsigned long long)exact);
        assert_true(found >= last);
        last = found;
    }
    free(sorted);
}

/* Every latency that was told is in its bin. */
static void assert_bins(const sim_case *c)
{
    uint64_t *bins = calloc(SV_SIM_BINS, sizeof *bins);
    for (uint32_t i = 0; i < c->num_arrivals; i++) {
        uint32_t b = 0;
        while (b + 1 < SV_SIM_BINS &&
               sv_sim_bin_from(b + 1) <= c->arrivals[i].time - c->arrivals[i].injected)
            b++;
        bins[b]++;
    }
    assert_memory_equal(bins, c->result->latency, SV_SIM_BINS * sizeof *bins);
    free(bins);
}

static void bins_are_narrow(void **state)
{
    (void)state;
    assert_int_equal(sv_sim_bin_from(0), 0);
    for (uint32_t b = 0; b + 1 < SV_SIM_BINS; b++) {
        uint64_t from = sv_sim_bin_from(b), next = sv_sim_bin_from(b + 1);
        if (next == SV_NEVER) /* the last that can be */
            break;
        assert_true(next > from);
        assert_true(next - from <= 1 || next - from <= from / 32);
    }
    assert_true(sv_sim_bin_from(SV_SIM_BINS - 1) >= 1ULL << 63);
}

/* ---- to the end ---- */

static uint32_t draw(uint64_t seed, uint32_t terminals, uint32_t each, sim_send *sends)
{
    sv_rng rng;
    uint32_t count = 0;
    sv_rng_init(&rng, seed);
    for (uint32_t t = 0; t < terminals; t++)
        for (uint32_t k = 0; k < each; k++) {
            uint32_t to = (uint32_t)sv_rng_below(&rng, terminals);
            if (to != t)
                sends[count++] = (sim_send){t, to, (uint32_t)sv_rng_below(&rng, 5000), k * 100000};
        }
    return count;
}

/* What each channel carries, by the way that tables give each message. */
static void assert_channels_by_tables(const sim_case *c)
{
    sv_sim_channel *wanted = calloc(c->f->num_channels, sizeof *wanted);
    uint64_t hops = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        sv_hop_taken taken[64];
        uint32_t count, bytes = c->sends[i].bytes;
        uint32_t packets = bytes == 0 ? 1 : (bytes + 2047) / 2048;
        sv_node at, from = {c->f->num_switches + c->sends[i].from};
        uint32_t to = sim_destination(c, c->sends[i].to);
        sv_routes_trace(c->f, c->r, from, to, sv_route_sl(c->r, from, to), taken, 64, &count, &at);
        for (uint32_t k = 0; k < count; k++) {
            wanted[taken[k].channel.i].packets += packets;
            wanted[taken[k].channel.i].bytes += bytes + 26 * packets;
        }
        hops += (uint64_t)packets * (count - 1); /* switches */
    }
    for (uint32_t i = 0; i < c->f->num_channels; i++) {
        assert_int_equal(c->result->channels[i].packets, wanted[i].packets);
        assert_int_equal(c->result->channels[i].bytes, wanted[i].bytes);
    }
    assert_int_equal(c->result->packet_hops, hops);
    free(wanted);
}

static void assert_log(const sim_case *c)
{
    uint64_t latency = 0, total = 0, last = 0, bytes = 0, injected = 0;
    for (uint32_t i = 0; i < c->num_arrivals; i++) {
        const sv_sim_arrival *a = &c->arrivals[i];
        const sim_send *send = &c->sends[a->tag];
        assert_int_equal(a->from, send->from);
        assert_int_equal(a->to, send->to);
        assert_int_equal(a->bytes, send->bytes);
        assert_int_equal(a->ready, send->ready);
        assert_true(a->ready <= a->injected && a->injected < a->time);
        latency += a->time - a->injected;
        total += a->time - a->ready;
        last = sim_max(last, a->time);
        bytes += a->bytes;
    }
    for (uint32_t i = 0; i < c->num_events; i++)
        injected += c->events[i].hop == 0;
    assert_int_equal(c->result->latency_sum, latency);
    assert_int_equal(c->result->total_sum, total);
    assert_int_equal(c->result->time, last);
    assert_int_equal(c->result->payload_bytes, bytes);
    assert_int_equal(c->result->packets, injected);
    assert_int_equal(c->result->arrived_packets, injected);
}

static void everything_that_is_sent_arrives(void **state)
{
    (void)state;
    static const char *const specs[] = {"kary:k=3,n=3,hosts=3", "torus:4x4,hosts=2",
                                        "dragonfly:a=3,p=2,h=1,g=4"};
    sim_send *sends = calloc(10000, sizeof *sends);
    for (uint32_t i = 0; i < 2 * LENGTH(specs); i++) {
        sim_case c = sim_begin(ctx, test_fabric(ctx, specs[i / 2]));
        sv_routes_free(c.r);
        c.r = test_routed(ctx, c.f, "dfsssp", 0);
        c.model.voq = i % 2 == 0;
        c.model.input = 40;
        uint32_t count = draw(i, c.f->num_terminals, 50, sends);
        const sv_sim_result *result = sim_run(ctx, &c, sends, count, 1);
        assert_int_equal(result->end, SV_SIM_COMPLETED);
        assert_int_equal(result->messages, count);
        assert_int_equal(result->arrived_messages, count);
        assert_int_equal(c.num_arrivals, count);
        assert_int_equal(result->from, 0);
        assert_int_equal(result->until, result->time);
        uint64_t *bytes = calloc(2ULL * c.f->num_terminals, sizeof *bytes);
        for (uint32_t k = 0; k < count; k++) {
            bytes[2 * sends[k].from] += sends[k].bytes;
            bytes[2 * sends[k].to + 1] += sends[k].bytes;
        }
        for (uint32_t t = 0; t < c.f->num_terminals; t++) {
            assert_int_equal(result->terminals[t].sent_bytes, bytes[2 * t]);
            assert_int_equal(result->terminals[t].received_bytes, bytes[2 * t + 1]);
        }
        free(bytes);
        sim_assert_adds_up(&c);
        assert_log(&c);
        assert_bins(&c);
        assert_quantiles(&c);
        assert_channels_by_tables(&c);
        sim_finish(&c);
    }
    free(sends);
}

/* Nothing to send is done at once. */
static void nothing_to_send_is_complete(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    sim_run(ctx, &c, NULL, 0, 1);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(c.result->time, 0);
    assert_int_equal(c.result->messages, 0);
    assert_int_equal(sv_sim_quantile(c.result, 0.5), 0);
    sim_assert_adds_up(&c);
    sim_finish(&c);
}

/*
 * N hosts send one packet each to another at once: they are ready at the same tick and taken slot
 * by slot, so the last channel was waited for 0 + 1 + … + (N - 1) slots. Packets of one host come a
 * slot apart and wait for nobody.
 */
static void waiting_is_counted(void **state)
{
    (void)state;
    sim_send sends[6];
    sim_case c = sim_begin(ctx, sim_star(ctx, 7, SV_SPEED_QDR));
    for (uint32_t s = 0; s < 6; s++)
        sends[s] = (sim_send){s + 1, 0, 2048, 0};
    sim_run(ctx, &c, sends, 6, 1);
    assert_int_equal(c.result->channels[sim_last_channel(c.f, 0).i].waited, 15 * SLOT);
    sim_run(ctx, &c, sends, 1, 2);
    assert_int_equal(c.result->channels[sim_last_channel(c.f, 0).i].waited, 0);
    sim_finish(&c);
}

/* ---- limits ---- */

/* Nothing happens at the limit or later (rule 20): the arrival at a is there from a limit of a + 1
 * on. What starts at the limit does not start. */
static void nothing_happens_at_the_limit(void **state)
{
    (void)state;
    const uint64_t tau[] = {QDR, QDR};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    const sim_send sends[] = {{0, 1, 2048, 1000}, {0, 1, 2048, 1ULL << 40}};
    const uint64_t arrival = 1000 + sim_alone(&c.model, W, tau, 2);
    const struct {
        uint64_t limit, injected, arrived;
    } cases[] = {{1, 0, 0},
                 {1000, 0, 0},
                 {1001, 1, 0},
                 {arrival, 1, 0},
                 {arrival + 1, 1, 1},
                 {1ULL << 40, 1, 1},
                 {(1ULL << 40) + 1, 2, 1}};
    for (uint32_t i = 0; i < LENGTH(cases); i++) {
        c.control.limit = cases[i].limit;
        sim_run(ctx, &c, sends, 2, 1);
        assert_int_equal(c.result->end, SV_SIM_LIMIT);
        assert_int_equal(c.result->time, cases[i].limit);
        assert_int_equal(c.result->until, cases[i].limit);
        assert_int_equal(c.result->packets, cases[i].injected);
        assert_int_equal(c.result->arrived_packets, cases[i].arrived);
        assert_int_equal(c.result->arrived_messages, cases[i].arrived);
        assert_int_equal(c.result->payload_bytes, cases[i].arrived * 2048);
        sim_assert_adds_up(&c);
    }
    c.control.limit = arrival + 1;
    sim_run(ctx, &c, sends, 1, 1);
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(c.result->time, arrival);
    sim_finish(&c);
}

/* The same with a buffer full of packets that wait to be drained, ten slots each: packet k arrives
 * 10 k slots after the first, and only what is there before the limit counts, in a window or not.
 */
static void what_is_not_yet_drained_does_not_count(void **state)
{
    (void)state;
    const uint64_t tau[] = {QDR, QDR};
    const sim_send send = {0, 1, 2048, 0};
    for (int window = 0; window < 2; window++) {
        sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
        uint64_t arrived = 0, counted = 0;
        c.model.drain = 10 * QDR;
        c.control.limit = 400ULL * SLOT;
        c.control.warm_up = window * 100ULL * SLOT;
        c.control.sample = window * 1000ULL * SLOT;
        for (uint64_t k = 0; k < 100; k++) {
            uint64_t time = sim_alone(&c.model, W, tau, 2) + 10 * k * SLOT;
            arrived += time < c.control.limit;
            counted += time < c.control.limit && time >= c.control.warm_up;
        }
        sim_run(ctx, &c, &send, 1, UINT32_MAX);
        assert_int_equal(c.result->end, SV_SIM_LIMIT);
        assert_int_equal(c.result->until, c.control.limit);
        assert_int_equal(c.num_arrivals, arrived);
        assert_int_equal(c.result->arrived_packets, arrived);
        assert_int_equal(c.result->payload_bytes, counted * 2048);
        assert_int_equal(c.result->latencies, counted);
        sim_finish(&c);
    }
}

/* A host whose clock goes on by a millisecond at each look, and that cancels at some look. */
struct looks {
    uint64_t clock, asked, cancel_at;
};

static uint64_t next_millisecond(void *user)
{
    struct looks *looks = user;
    return looks->clock += 1000000;
}

static bool cancel_in_time(void *user)
{
    struct looks *looks = user;
    return ++looks->asked >= looks->cancel_at;
}

static void the_wall_clock_ends_it(void **state)
{
    (void)state;
    struct looks looks = {0};
    const sv_host host = {.user = &looks, .clock_ns = next_millisecond};
    sv_ctx *own = sv_ctx_new(&host);
    sim_case c = sim_begin(own, sim_star(own, 2, SV_SPEED_QDR));
    const sim_send sends[] = {{0, 1, 2048, 0}, {1, 0, 2048, 0}};
    c.control.wall_ns = 20000000;
    looks.clock = 0;
    sim_run(own, &c, sends, 2, UINT32_MAX);
    assert_int_equal(c.result->end, SV_SIM_LIMIT);
    assert_in_range(looks.clock, 20000000, 30000000);
    assert_true(c.result->time > 0 && c.result->arrived_messages > 0);
    assert_int_equal(c.result->until, c.result->time);
    sim_assert_adds_up(&c);
    sim_finish(&c);
    sv_ctx_free(own);
}

/* Cancelled early or late, there is a result of what was there then. */
static void cancelling_is_a_result(void **state)
{
    (void)state;
    static const uint64_t when[] = {1, 2, 3, 10, 100};
    uint64_t before = 0;
    for (uint32_t i = 0; i < LENGTH(when); i++) {
        struct looks looks = {.cancel_at = SV_NEVER};
        const sv_host host = {.user = &looks, .cancelled = cancel_in_time};
        sv_ctx *own = sv_ctx_new(&host);
        sim_case c = sim_begin(own, sim_star(own, 3, SV_SPEED_QDR));
        const sim_send sends[] = {{0, 1, 2048, 0}, {1, 0, 10000, 0}, {2, 0, 5, 0}};
        looks.cancel_at = looks.asked + when[i];
        sim_run(own, &c, sends, 3, UINT32_MAX);
        assert_int_equal(c.result->end, SV_SIM_CANCELLED);
        assert_int_equal(c.result->until, c.result->time);
        assert_true(c.result->arrived_messages >= before);
        before = c.result->arrived_messages;
        sim_assert_adds_up(&c);
        sim_finish(&c);
        sv_ctx_free(own);
    }
    assert_true(before > 100);
}

/* ---- windows ---- */

/*
 * One flow of one-packet messages: packet k is injected at k slots, its last link starts a hop
 * later, it arrives at k slots and the time that it takes alone. What happens at from … until - 1
 * counts: arrivals, starts of links, injections, each by its own time.
 */
static void only_the_window_counts(void **state)
{
    (void)state;
    const uint64_t tau[] = {QDR, QDR};
    const sim_send send = {0, 1, 2048, 0};
    for (int64_t shift = -1; shift <= 1; shift++)
        for (int64_t more = -1; more <= 1; more++) {
            sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
            const uint64_t alone = sim_alone(&c.model, W, tau, 2),
                           hop = sim_hop(&c.model, W, QDR, QDR);
            const uint64_t from = c.control.warm_up =
                (uint64_t)((int64_t)alone + 10 * SLOT + shift);
            const uint64_t sample = c.control.sample = (uint64_t)(20 * SLOT + more),
                           until = from + sample;
            uint64_t arrived = 0, started = 0, injected = 0;
            for (uint64_t k = 0; k < 100; k++) {
                arrived += k * SLOT + alone >= from && k * SLOT + alone < until;
                started += k * SLOT + hop >= from && k * SLOT + hop < until;
                injected += k * SLOT >= from && k * SLOT < until;
            }
            const sv_sim_result *result = sim_run(ctx, &c, &send, 1, UINT32_MAX);
            assert_int_equal(result->end, SV_SIM_STEADY);
            assert_int_equal(result->from, from);
            assert_int_equal(result->until, until);
            assert_int_equal(result->time, until);
            assert_int_equal(result->payload_bytes, arrived * 2048);
            assert_int_equal(result->latencies, arrived);
            assert_int_equal(result->latency_sum, arrived * alone);
            assert_int_equal(result->channels[sim_last_channel(c.f, 1).i].packets, started);
            assert_int_equal(result->channels[sim_last_channel(c.f, 1).i].bytes, started * W);
            assert_int_equal(result->terminals[0].sent_bytes, injected * 2048);
            sim_assert_adds_up(&c);
            sim_finish(&c);
        }
}

/* Payload counts packet by packet, messages count when their last one is there: of messages of ten
 * packets a window of 25 slots sees 25 packets and two or three messages. */
static void parts_of_messages_count(void **state)
{
    (void)state;
    const sim_send send = {0, 1, 20480, 0};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    c.control.warm_up = 31 * SLOT;
    c.control.sample = 25 * SLOT;
    sim_run(ctx, &c, &send, 1, UINT32_MAX);
    assert_int_equal(c.result->payload_bytes, 25 * 2048);
    assert_in_range(c.result->latencies, 2, 3);
    sim_assert_adds_up(&c);
    sim_finish(&c);
}

/* ---- the timeline ---- */

/* Cells of a switch are its channels, interval by interval. For one flow: packet k is granted, and
 * its link starts, a quarter of a slot after slot k began: one packet a row. */
static void the_timeline_is_the_channels_in_slices(void **state)
{
    (void)state;
    enum { MANY = 100 };
    sim_send *sends = calloc(10000, sizeof *sends);
    sim_case c = sim_begin(ctx, test_fabric(ctx, "kary:k=3,n=2,hosts=3"));
    c.control.interval = 1234567;
    c.model.input = 66;
    sim_run(ctx, &c, sends, draw(7, c.f->num_terminals, 100, sends), 1);
    assert_true((c.result->rows - 1) * c.control.interval <= c.result->time);
    for (uint32_t s = 0; s < c.f->num_switches; s++) {
        sv_sim_channel by_channel = {0}, by_time = {0};
        SV_FOR_HOPS (c.f, (sv_node){s}, hop) {
            by_channel.packets += c.result->channels[hop->channel.i].packets;
            by_channel.bytes += c.result->channels[hop->channel.i].bytes;
            by_channel.waited += c.result->channels[hop->channel.i].waited;
        }
        for (uint32_t row = 0; row < c.result->rows; row++) {
            const sv_sim_cell *cell = &c.result->timeline[row * c.f->num_switches + s];
            by_time.packets += cell->packets;
            by_time.bytes += cell->bytes;
            by_time.waited += cell->waited;
        }
        assert_memory_equal(&by_channel, &by_time, sizeof by_time);
        assert_true(by_time.packets > 0 && by_time.waited > 0);
    }
    sim_finish(&c);
    free(sends);
    c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    const sim_send send = {0, 1, 2048, 0};
    c.control.interval = SLOT;
    sim_run(ctx, &c, &send, 1, MANY);
    assert_in_range(c.result->rows, MANY, MANY + 2);
    for (uint32_t row = 0; row < c.result->rows; row++) {
        assert_int_equal(c.result->timeline[row].packets, row < MANY);
        assert_int_equal(c.result->timeline[row].bytes, row < MANY ? W : 0);
        assert_int_equal(c.result->timeline[row].waited, 0);
    }
    sim_finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_narrow),
        cmocka_unit_test(everything_that_is_sent_arrives),
        cmocka_unit_test(nothing_to_send_is_complete),
        cmocka_unit_test(waiting_is_counted),
        cmocka_unit_test(nothing_happens_at_the_limit),
        cmocka_unit_test(what_is_not_yet_drained_does_not_count),
        cmocka_unit_test(the_wall_clock_ends_it),
        cmocka_unit_test(cancelling_is_a_result),
        cmocka_unit_test(only_the_window_counts),
        cmocka_unit_test(parts_of_messages_count),
        cmocka_unit_test(the_timeline_is_the_channels_in_slices),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
