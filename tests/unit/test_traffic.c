/*
 * test_traffic.c: patterns that do not wait: each against a second way to say who gets what, the
 * load and bursts. (test_traffic_waits.c has the patterns that wait, test_traffic_requests.c what
 * goes for all, test_traffic_file.c files of messages.)
 */
#include "unit/traffic_bed.h"

#include <math.h>

TEST_CONTEXT

/* ---- patterns ---- */

/* Generated fabrics number terminals by switch and port: rank is terminal. */
static void exchange_goes_outwards(void **state)
{
    (void)state;
    for (uint32_t n = 2; n < 12; n++) {
        struct bed bed = bed_of(ctx, n);
        ask(ctx, &bed, (sv_sim_traffic_request){.spec = "exchange:rounds=2"});
        assert_false(sv_sim_traffic_endless(bed.t));
        assert_int_equal(bed.source->messages, 2 * n * (n - 1));
        assert_null(bed.source->arrived);
        assert_null(bed.source->counts);
        for (uint32_t i = 0; i < n; i++)
            for (int round = 0; round < 2; round++) {
                bool seen[16] = {false};
                for (uint32_t d = 1; d < n; d++)
                    for (int way = 0; way < 2; way++) {
                        uint32_t to = way == 0 ? (i + d) % n : (i + n - d) % n;
                        if (!seen[to])
                            assert_int_equal(next_to(&bed, i), to);
                        seen[to] = true;
                    }
            }
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(next_to(&bed, i), SV_NONE);
        release(&bed);
    }
}

/* Each rank sends to expected[rank], always, or nothing if that is itself. */
static void permutes(struct bed *bed, const char *spec, const uint32_t *expected)
{
    ask(ctx, bed, (sv_sim_traffic_request){.spec = spec});
    assert_true(sv_sim_traffic_endless(bed->t));
    assert_int_equal(bed->source->messages, 0);
    for (uint32_t i = 0; i < bed->f->num_terminals; i++)
        for (int k = 0; k < 3; k++) {
            uint32_t to = next_to(bed, i);
            if (to != (expected[i] == i ? SV_NONE : expected[i]))
                fail_msg("%s of %u: %u sends to %u", spec, bed->f->num_terminals, i, to);
        }
}

static void permutations_are_what_they_are_called(void **state)
{
    (void)state;
    for (uint32_t n = 4; n < 40; n++) {
        struct bed bed = bed_of(ctx, n);
        uint32_t to[40], low = 1, bits = 0;
        for (; 2 * low <= n; low *= 2)
            bits++;
        for (uint32_t i = 0; i < n; i++)
            to[i] = i;
        for (uint32_t i = 0; i < low; i++) {
            char digits[8] = "", *other = digits + bits - 1;
            for (uint32_t b = 0; b < bits; b++)
                *other-- = i >> b & 1 ? '1' : '0';
            to[i] = 0;
            for (uint32_t b = bits; b-- > 0;)
                to[i] = 2 * to[i] + (digits[b] == '1');
        }
        permutes(&bed, "bitreverse", to);
        for (uint32_t i = 0; i < low; i++) /* a deck of cards */
            to[i] = i < low / 2 ? 2 * i : 2 * (i - low / 2) + 1;
        permutes(&bed, "shuffle", to);
        uint32_t columns = 1u << bits / 2, rows = low / columns;
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t c = 0; c < columns; c++)
                to[r * columns + c] = c * rows + r;
        permutes(&bed, "transpose", to);
        for (uint32_t i = 0; i < n; i++)
            to[i] = (i + 3) % n;
        permutes(&bed, "shift:by=3", to);
        for (uint32_t i = 0; i < n; i++)
            to[i] = (i + (n + 1) / 2 - 1) % n;
        permutes(&bed, "tornado", to);
        release(&bed);
    }
}

static void tornado_goes_round_in_each_dimension(void **state)
{
    (void)state;
    struct bed bed = bed_on(ctx, "torus:5x4,hosts=3");
    uint32_t to[60], i = 0;
    for (uint32_t x = 0; x < 5; x++)
        for (uint32_t y = 0; y < 4; y++)
            for (uint32_t host = 0; host < 3; host++)
                to[i++] = (x + 2) % 5 * 12 + (y + 1) % 4 * 3 + host;
    permutes(&bed, "tornado:dims=5x4", to);
    release(&bed);
}

/* The box that the manual promises, by trying all. */
static void expected_box(uint32_t n, uint32_t *box)
{
    uint32_t min = n < 27 ? 1 : 3, max = 0;
    for (uint32_t a = min; a <= n; a++)
        for (uint32_t b = min; b <= a && a * b <= n; b++)
            for (uint32_t c = min; c <= b && a * b * c <= n; c++) {
                uint32_t points = a * b * c;
                if (points > max || (points == max && (a < box[0] || (a == box[0] && c > box[2]))))
                    box[0] = a, box[1] = b, box[2] = c, max = points;
            }
}

static void stencil_in(struct bed *bed, const char *spec, const uint32_t *box)
{
    uint32_t n = bed->f->num_terminals, i = 0;
    ask(ctx, bed, (sv_sim_traffic_request){.spec = spec});
    for (uint32_t x = 0; x < box[0]; x++)
        for (uint32_t y = 0; y < box[1]; y++)
            for (uint32_t z = 0; z < box[2]; z++, i++)
                for (int k = 0; k < 12; k++) {
                    uint32_t at[3] = {x, y, z}, side = box[k % 6 / 2];
                    at[k % 6 / 2] += k % 2 == 0 ? side - 1 : 1;
                    at[k % 6 / 2] %= side;
                    uint32_t to = (at[0] * box[1] + at[1]) * box[2] + at[2];
                    if (side > 1)
                        assert_int_equal(next_to(bed, i), to);
                }
    for (; i < n; i++)
        assert_int_equal(next_to(bed, i), SV_NONE);
}

static void stencils_have_six_neighbours(void **state)
{
    (void)state;
    for (uint32_t n = 2; n < 130; n++) {
        struct bed bed = bed_of(ctx, n);
        uint32_t box[3] = {0, 0, 0};
        expected_box(n, box);
        stencil_in(&bed, "stencil", box);
        release(&bed);
    }
    struct bed bed = bed_of(ctx, 342);
    stencil_in(&bed, "stencil", (uint32_t[]){19, 6, 3});
    stencil_in(&bed, "stencil:dims=7x8x6", (uint32_t[]){7, 8, 6});
    stencil_in(&bed, "stencil:dims=2x1x5", (uint32_t[]){2, 1, 5});
    release(&bed);
}

static void one_and_the_others(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 7);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "1toN:root=5,rounds=2"});
    assert_int_equal(bed.source->messages, 12);
    for (uint32_t k = 0; k < 12; k++)
        assert_int_equal(next_to(&bed, 5), (6 + k % 6) % 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(next_to(&bed, i), SV_NONE);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "Nto1:root=2"});
    assert_int_equal(bed.source->messages, 6);
    for (uint32_t i = 0; i < 7; i++)
        for (int k = 0; k < 2; k++)
            assert_int_equal(next_to(&bed, i), i == 2 || k > 0 ? SV_NONE : 2);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "Nto1:rounds=0"});
    assert_true(sv_sim_traffic_endless(bed.t));
    release(&bed);
}

static void uniform_is_uniform(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 9);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "uniform", .seed = 4});
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t count[9] = {0};
        double chi = 0;
        for (int k = 0; k < 8000; k++)
            count[next_to(&bed, i)]++;
        assert_int_equal(count[i], 0);
        for (uint32_t j = 0; j < 9; j++)
            chi += j == i ? 0 : (count[j] - 1000.0) * (count[j] - 1000.0) / 1000;
        assert_true(chi < 26.1 && chi > 0.4); /* 7 degrees of freedom: 99.95 % below 26.02 */
    }
    release(&bed);
}

static void hot_spots_are_the_papers(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 250);
    ask(ctx, &bed,
        (sv_sim_traffic_request){.spec = "hotspot", .seed = 2, .load = 0.25, .bytes = 2048});
    bool spot[250];
    uint32_t spots = 0, senders = 0;
    for (uint32_t i = 0; i < 250; i++) {
        spot[i] = !bed.source->counts(bed.source->user, i);
        spots += spot[i];
    }
    assert_int_equal(spots, 3); /* of floor(0.06 × 250) = 15 senders */
    for (uint32_t i = 0; i < 250; i++) {
        uint32_t hot = 0, reached = 0, last = SV_NONE;
        sv_sim_message message = {0};
        for (int k = 0; k < 2000; k++) {
            assert_true(next(&bed, i, &message));
            uint32_t to = terminal_of(&bed, message.destination);
            hot += spot[to];
            reached += spot[to] && to != last;
            last = to;
        }
        double load = 2000 * 2074.0 * 450 / (double)message.ready;
        bool sender = hot == 2000;
        senders += sender;
        assert_true(!sender || (!spot[i] && reached > 1000));
        assert_true(sender || hot < 80);
        assert_true(fabs(load - (sender ? 1 : 0.25)) < (sender ? 0.1 : 0.025));
    }
    assert_int_equal(senders, 15);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "hotspot:senders=249,spots=1"});
    for (uint32_t i = spots = 0; i < 250; i++)
        spots += !bed.source->counts(bed.source->user, i);
    assert_int_equal(spots, 1);
    release(&bed);
}

/* Number of a matching of six: 5 × 3 × 1. */
static uint32_t number_of(const uint32_t *partner)
{
    uint32_t left[6] = {0, 1, 2, 3, 4, 5}, number = 0;
    for (uint32_t n = 6; n > 0; n -= 2) {
        uint32_t i = 1;
        while (left[i] != partner[left[0]])
            i++;
        number = number * (n - 1) + i - 1;
        memmove(left + i, left + i + 1, (n - i - 1) * sizeof *left);
        memmove(left, left + 1, (n - 2) * sizeof *left);
    }
    return number;
}

static void matchings_are_perfect_and_random(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 6);
    uint32_t count[15] = {0};
    double chi = 0;
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "matching:rounds=15000", .seed = 3});
    assert_int_equal(bed.source->messages, 6 * 15000);
    for (int round = 0; round < 15000; round++) {
        uint32_t partner[6];
        for (uint32_t i = 0; i < 6; i++)
            partner[i] = next_to(&bed, i);
        for (uint32_t i = 0; i < 6; i++)
            assert_true(partner[i] != i && partner[partner[i]] == i);
        count[number_of(partner)]++;
    }
    for (int i = 0; i < 15; i++)
        chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
    assert_true(chi < 38.1 && chi > 3); /* 14 degrees of freedom: 99.95 % below 38.11 */
    release(&bed);
    /* If odd, one is left over, each as often. */
    bed = bed_of(ctx, 5);
    uint32_t total = 0;
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "matching:rounds=5000"});
    assert_int_equal(bed.source->messages, 0);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t sent = 0;
        while (next_to(&bed, i) != SV_NONE)
            sent++;
        assert_true(sent > 3880 && sent < 4120); /* 4000 ± 4.2 × 28 */
        total += sent;
    }
    assert_int_equal(total, 4 * 5000);
    release(&bed);
    bed = bed_of(ctx, 1001);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "matching", .seed = 9});
    uint32_t partner[1001], lone = 0;
    for (uint32_t i = 0; i < 1001; i++)
        partner[i] = next_to(&bed, i);
    for (uint32_t i = 0; i < 1001; i++) {
        lone += partner[i] == SV_NONE;
        assert_true(partner[i] == SV_NONE || partner[partner[i]] == i);
    }
    assert_int_equal(lone, 1);
    release(&bed);
}

/* ---- load ---- */

struct gaps {
    double mean, deviation, first;
};

static struct gaps measure(const struct bed *bed, uint32_t terminal, uint32_t count)
{
    struct gaps gaps = {0};
    uint64_t last = 0;
    double sum = 0, squares = 0;
    sv_sim_message message;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(next(bed, terminal, &message));
        assert_true(message.ready >= last);
        double gap = (double)(message.ready - last);
        last = message.ready;
        if (i == 0)
            gaps.first = gap;
        sum += i > 0 ? gap : 0;
        squares += i > 0 ? gap * gap : 0;
    }
    gaps.mean = sum / (count - 1);
    gaps.deviation = sqrt(fmax(0, squares / (count - 1) - gaps.mean * gaps.mean));
    return gaps;
}

static void the_load_is_that_of_the_own_link(void **state)
{
    (void)state;
    struct bed bed = bed_on(ctx, "mesh:1x2,hosts=2,speed=FDR");
    sv_sim_traffic *own = NULL;
    const struct {
        const char *spec;
        uint32_t bytes;
        double load, gap;
    } cases[] = {
        {"uniform", 2048, 0.5, 2074 * 264 / 0.5},
        {"uniform", 0, 1, 2074 * 264},
        {"shift:bytes=0", 2048, 0.1, 26 * 264 / 0.1},
        {"shift:load=0.25", 2049, 0.1, (2049 + 2 * 26) * 264 / 0.25},
        {"exchange:rounds=0", 10 * 2048, 0.9, 10 * 2074 * 264 / 0.9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char regular[80];
        bool keys = strchr(cases[i].spec, ':') != NULL;
        snprintf(regular, sizeof regular, "%s%carrivals=regular", cases[i].spec, keys ? ',' : ':');
        sv_sim_traffic_request request = {
            .spec = cases[i].spec, .bytes = cases[i].bytes, .load = cases[i].load, .seed = i};
        ask(ctx, &bed, request);
        struct gaps gaps = measure(&bed, 1, 40000);
        assert_true(fabs(gaps.mean / cases[i].gap - 1) < 0.02);
        assert_true(fabs(gaps.deviation / gaps.mean - 1) < 0.03);
        request.spec = regular;
        ask(ctx, &bed, request);
        gaps = measure(&bed, 1, 1000);
        struct gaps other = measure(&bed, 2, 1000);
        assert_true(fabs(gaps.mean - cases[i].gap) < 1);
        assert_true(gaps.deviation < 1);
        assert_true(gaps.first < cases[i].gap && other.first < cases[i].gap);
        assert_true(fabs(gaps.first - other.first) > 1);
    }
    /* The model may say that all links are as fast as another. */
    sv_sim_model slow = model;
    slow.byte_ticks = 1000;
    sv_sim_traffic_request request = {
        .spec = "shift:arrivals=regular", .load = 0.5, .model = &slow};
    OK(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &own));
    bed.source = sv_sim_traffic_source(own);
    assert_true(fabs(measure(&bed, 1, 100).mean - 2074 * 1000 / 0.5) < 1);
    sv_sim_traffic_free(own);
    release(&bed);
}

/* A third of exponential numbers is beyond ln 3, and so on: not only mean and deviation fit. */
static void distances_are_exponential(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 2);
    uint32_t bins[10] = {0};
    double chi = 0;
    uint64_t last = 0;
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "uniform", .load = 1, .seed = 5});
    for (int i = 0; i < 50000; i++) {
        sv_sim_message message;
        assert_true(next(&bed, 0, &message));
        bins[(int)(10 * exp(-(double)(message.ready - last) / (2074 * 450)) * 0.9999999)]++;
        last = message.ready;
    }
    for (int i = 0; i < 10; i++)
        chi += (bins[i] - 5000.0) * (bins[i] - 5000.0) / 5000;
    assert_true(chi < 29.7 && chi > 1); /* 9 degrees of freedom: 99.95 % below 29.67 */
    release(&bed);
}

static void bursts_come_and_go(void **state)
{
    (void)state;
    const uint64_t us = 1000 * SV_TICKS_PER_NS, on = 7 * us, off = 30 * us;
    const double wire = 2074 * 450;
    struct bed bed = bed_of(ctx, 8);
    for (int rest = 0; rest < 2; rest++)
        for (int regular = 0; regular < 2; regular++) {
            char spec[120];
            uint64_t bursts = 0, between = 0, strange = 0, last = 0;
            snprintf(spec, sizeof spec, "shift:by=2,on=7us,off=30us%s%s", rest ? ",rest=0.05" : "",
                     regular ? ",arrivals=regular" : "");
            ask(ctx, &bed, (sv_sim_traffic_request){.spec = spec, .load = 0.6});
            sv_sim_message message = {0};
            for (int k = 0; k < 60000; k++) {
                assert_true(next(&bed, 3, &message));
                assert_true(message.ready >= last);
                last = message.ready;
                bool burst = last % (on + off) < on;
                bursts += burst;
                between += !burst;
                strange += terminal_of(&bed, message.destination) != 5;
                assert_true(!burst || terminal_of(&bed, message.destination) == 5);
            }
            double cycles = (double)last / (double)(on + off);
            assert_true(fabs((double)bursts / cycles / ((double)on / wire * 0.6) - 1) < 0.02);
            if (!rest)
                assert_true(between == 0);
            else
                assert_true(fabs((double)between / cycles / ((double)off / wire * 0.05) - 1) <
                                0.05 &&
                            fabs((double)strange / (double)between / (6 / 7.0) - 1) < 0.03);
        }
    release(&bed);
}

/* Without a load a burst has all of the bandwidth; each terminal may have its own phase. */
static void bursts_may_have_phases(void **state)
{
    (void)state;
    const uint64_t us = 1000 * SV_TICKS_PER_NS;
    struct bed bed = bed_of(ctx, 8);
    uint64_t tenths = 0; /* of the cycle, in which some burst begins */
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "shift:on=20us,off=1ms,phases=random"});
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t last = 0, bursts = 0, begin_at = 0;
        sv_sim_message message;
        for (int k = 0; k < 2000; k++) {
            assert_true(next(&bed, i, &message));
            uint64_t gap = message.ready - last;
            assert_true(k == 0 || gap < 20 * us || gap > 980 * us);
            if (k > 0 && gap > 980 * us) {
                uint64_t at = message.ready % (1020 * us);
                uint64_t apart = at > begin_at ? at - begin_at : begin_at - at;
                assert_true(bursts == 0 || apart < 20 * us || apart > 1000 * us);
                begin_at = at;
                bursts++;
            }
            last = message.ready;
        }
        assert_true(bursts > 40 && bursts < 60); /* 38.6 messages of 0.52 us in each */
        tenths |= UINT64_C(1) << begin_at / (102 * us);
    }
    assert_true(__builtin_popcountll(tenths) >= 4);
    release(&bed);
}

static void absurd_bursts_do_no_harm(void **state)
{
    (void)state;
    const double wire = 2074 * 450;
    struct bed bed = bed_of(ctx, 8);
    /* Bursts much shorter than a message. */
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "shift:on=1,off=9,load=0.5"});
    struct gaps gaps = measure(&bed, 0, 20000);
    assert_true(fabs(gaps.mean / (wire / 0.5 * 10) - 1) < 0.03);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "shift:on=0.001,off=100000s,load=0.000000001"});
    measure(&bed, 0, 1000);
    release(&bed);
}

static void fast_is_at_once_and_limits_hold(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 10);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "uniform:bytes=5", .messages = 7});
    assert_false(sv_sim_traffic_endless(bed.t));
    assert_int_equal(bed.source->messages, 70);
    for (uint32_t i = 0; i < 10; i++) {
        sv_sim_message message;
        for (int k = 0; k < 7; k++) {
            assert_true(next(&bed, i, &message));
            assert_int_equal(message.ready, 0);
            assert_int_equal(message.bytes, 5);
            assert_int_equal(message.tag, 0);
        }
        assert_false(next(&bed, i, &message));
    }
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "exchange:messages=4", .messages = 7});
    assert_int_equal(bed.source->messages, 40);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "bitreverse", .messages = 3});
    assert_int_equal(bed.source->messages, 3 * 4); /* 0, 2, 5 and 7 of 8 are their own reverse */
    release(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchange_goes_outwards),
        cmocka_unit_test(permutations_are_what_they_are_called),
        cmocka_unit_test(tornado_goes_round_in_each_dimension),
        cmocka_unit_test(stencils_have_six_neighbours),
        cmocka_unit_test(one_and_the_others),
        cmocka_unit_test(uniform_is_uniform),
        cmocka_unit_test(hot_spots_are_the_papers),
        cmocka_unit_test(matchings_are_perfect_and_random),
        cmocka_unit_test(the_load_is_that_of_the_own_link),
        cmocka_unit_test(distances_are_exponential),
        cmocka_unit_test(bursts_come_and_go),
        cmocka_unit_test(bursts_may_have_phases),
        cmocka_unit_test(absurd_bursts_do_no_harm),
        cmocka_unit_test(fast_is_at_once_and_limits_hold),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
