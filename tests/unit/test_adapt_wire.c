/*
 * test_adapt_wire.c: packets of distributed routing balancing, byte by byte (thesis Figs. 3.16 to
 * 3.18), there and back, and cut short.
 */
#include "support/testing.h"
#include "support/trials.h"

#include "adapt/wire.h"
#include "base/rng.h"

static void assert_same(const sv__header *a, const sv__header *b)
{
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->via[0], b->via[0]);
    assert_int_equal(a->via[1], b->via[1]);
    assert_int_equal(a->destination, b->destination);
    assert_int_equal(a->latency_ns, b->latency_ns);
    assert_int_equal(a->predictive, b->predictive);
    assert_int_equal(a->final, b->final);
    assert_int_equal(a->ack, b->ack);
    assert_int_equal(a->segment, b->segment);
    assert_int_equal(a->mpi_type, b->mpi_type);
    assert_int_equal(a->mpi_sequence, b->mpi_sequence);
}

static void data_packets_are_laid_out_as_in_the_thesis(void **state)
{
    (void)state;
    const sv__header h = {.source = 0x01020304,
                          .via = {0x11121314, SV__WIRE_NO_VIA},
                          .destination = 0x31323334,
                          .latency_ns = 0x41424344,
                          .final = true,
                          .segment = 1,
                          .mpi_type = 0x51525354,
                          .mpi_sequence = 0x61626364};
    const uint8_t wanted[SV__WIRE_HEADER] = {1,    2,    3,    4,    0x11, 0x12, 0x13, 0x14,
                                             255,  255,  255,  255,  0x31, 0x32, 0x33, 0x34,
                                             0x41, 0x42, 0x43, 0x44, 0x48, 0,    0,    0,
                                             0x51, 0x52, 0x53, 0x54, 0x61, 0x62, 0x63, 0x64};
    uint8_t bytes[SV__WIRE_HEADER];
    assert_int_equal(sv__wire_put_header(&h, bytes, sizeof bytes), 32);
    assert_memory_equal(bytes, wanted, 32);
}

static void bits_are_where_they_belong(void **state)
{
    (void)state;
    static const struct {
        sv__header h;
        uint8_t byte;
    } cases[] = {{{.predictive = true}, 0x80},
                 {{.final = true}, 0x40},
                 {{.ack = true}, 0x20},
                 {{.segment = 2}, 0x10},
                 {{.segment = 1}, 0x08},
                 {{.predictive = true, .ack = true, .segment = 2}, 0xb0},
                 {{.final = true, .ack = true}, 0x60}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[SV__WIRE_HEADER];
        sv__header got;
        assert_int_equal(sv__wire_put_header(&cases[i].h, bytes, sizeof bytes), 32);
        assert_int_equal(bytes[20], cases[i].byte);
        assert_int_equal(bytes[21] | bytes[22] | bytes[23], 0);
        assert_int_equal(sv__wire_get_header(bytes, sizeof bytes, &got), 32);
        assert_same(&got, &cases[i].h);
        /* What is reserved is not looked at. */
        bytes[20] |= 7;
        bytes[23] = 0xff;
        assert_int_equal(sv__wire_get_header(bytes, sizeof bytes, &got), 32);
        assert_same(&got, &cases[i].h);
    }
}

static void the_predictive_header_is_laid_out_as_in_the_thesis(void **state)
{
    (void)state;
    sv__predictive p = {.type = SV__SEARCH_FULL, .router = 0x0102, .count = 2};
    p.flows[0] = sv__flow(0x1112, 0x1314);
    p.flows[1] = sv__flow(3, 65535);
    const uint8_t wanted[16] = {0, 1, 0, 9, 1, 2, 0, 0, 0x11, 0x12, 0x13, 0x14, 0, 3, 255, 255};
    uint8_t bytes[16];
    assert_int_equal(sv__wire_put_predictive(&p, bytes, sizeof bytes), 16);
    assert_memory_equal(bytes, wanted, 16);
    assert_int_equal(sv__flow_from(p.flows[1]), 3);
    assert_int_equal(sv__flow_to(p.flows[1]), 65535);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    sv_rng rng;
    sv_rng_init(&rng, 1);
    for (uint32_t trial = 0; trial < test_times(2000); trial++) {
        uint8_t bytes[SV__WIRE_HEADER + SV__WIRE_PREDICTIVE + 4 * SV__WIRE_MAX_FLOWS];
        sv__header h = {.source = (uint32_t)sv_rng_next(&rng),
                        .via = {(uint32_t)sv_rng_next(&rng), (uint32_t)sv_rng_next(&rng)},
                        .destination = (uint32_t)sv_rng_next(&rng),
                        .latency_ns = (uint32_t)sv_rng_next(&rng),
                        .predictive = sv_rng_below(&rng, 2),
                        .final = sv_rng_below(&rng, 2),
                        .ack = sv_rng_below(&rng, 2),
                        .segment = (uint8_t)sv_rng_below(&rng, 3),
                        .mpi_type = (uint32_t)sv_rng_next(&rng),
                        .mpi_sequence = (uint32_t)sv_rng_next(&rng)};
        sv__header h_back;
        assert_int_equal(sv__wire_put_header(&h, bytes, sizeof bytes), 32);
        assert_int_equal(sv__wire_get_header(bytes, 32, &h_back), 32);
        assert_same(&h_back, &h);

        sv__predictive p = {.type = (sv__search)sv_rng_below(&rng, 3),
                            .router = (uint16_t)sv_rng_next(&rng),
                            .count = (uint16_t)sv_rng_below(&rng, SV__WIRE_MAX_FLOWS + 1)};
        for (uint32_t i = 0; i < p.count; i++)
            p.flows[i] = (uint32_t)sv_rng_next(&rng);
        sv__predictive p_back;
        size_t length = sv__wire_put_predictive(&p, bytes, sizeof bytes);
        assert_int_equal(length, 8 + 4 * p.count);
        assert_int_equal(sv__wire_get_predictive(bytes, length, &p_back), length);
        assert_int_equal(p_back.type, p.type);
        assert_int_equal(p_back.router, p.router);
        assert_int_equal(p_back.count, p.count);
        assert_memory_equal(p_back.flows, p.flows, p.count * sizeof p.flows[0]);
    }
}

static void what_is_cut_short_is_refused(void **state)
{
    (void)state;
    sv__header h = {.source = 1}, untouched = {.source = 77}, got = untouched;
    sv__predictive p = {.count = 3}, p_got;
    uint8_t bytes[64] = {0};
    for (size_t length = 0; length < SV__WIRE_HEADER; length++) {
        assert_int_equal(sv__wire_put_header(&h, bytes, length), 0);
        assert_int_equal(sv__wire_get_header(bytes, length, &got), 0);
    }
    assert_same(&got, &untouched);
    assert_int_equal(sv__wire_put_predictive(&p, bytes, sizeof bytes), 20);
    for (size_t length = 0; length < 20; length++)
        assert_int_equal(sv__wire_get_predictive(bytes, length, &p_got), 0);
    assert_int_equal(sv__wire_get_predictive(bytes, 20, &p_got), 20);
    for (size_t room = 0; room < 20; room++)
        assert_int_equal(sv__wire_put_predictive(&p, bytes, room), 0);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[400] = {0};
    sv__header h = {.segment = 3}, got;
    sv__predictive p = {.count = SV__WIRE_MAX_FLOWS + 1}, p_got;
    assert_int_equal(sv__wire_put_header(&h, bytes, sizeof bytes), 0);
    bytes[20] = 0x18;
    assert_int_equal(sv__wire_get_header(bytes, sizeof bytes, &got), 0);
    assert_int_equal(sv__wire_put_predictive(&p, bytes, sizeof bytes), 0);
    p = (sv__predictive){.count = 2};
    assert_int_equal(sv__wire_put_predictive(&p, bytes, sizeof bytes), 16);
    bytes[3] = 8; /* no 4 n + 1 */
    assert_int_equal(sv__wire_get_predictive(bytes, sizeof bytes, &p_got), 0);
    bytes[3] = 4; /* of less than none */
    assert_int_equal(sv__wire_get_predictive(bytes, sizeof bytes, &p_got), 0);
    bytes[2] = 1; /* 261: 65 flows */
    bytes[3] = 5;
    assert_int_equal(sv__wire_get_predictive(bytes, sizeof bytes, &p_got), 0);
    bytes[2] = 0;
    bytes[3] = 9;
    bytes[1] = 3; /* no such type */
    assert_int_equal(sv__wire_get_predictive(bytes, sizeof bytes, &p_got), 0);
}

static void latencies_are_nanoseconds_that_do_not_wrap(void **state)
{
    (void)state;
    assert_int_equal(sv__wire_latency(0), 0);
    assert_int_equal(sv__wire_latency(1799), 0);
    assert_int_equal(sv__wire_latency(1800 * 5), 5);
    assert_int_equal(sv__wire_latency((uint64_t)UINT32_MAX * 1800), UINT32_MAX);
    assert_int_equal(sv__wire_latency((uint64_t)UINT32_MAX * 1800 + 1800), UINT32_MAX);
    assert_int_equal(sv__wire_latency(UINT64_MAX), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_packets_are_laid_out_as_in_the_thesis),
        cmocka_unit_test(bits_are_where_they_belong),
        cmocka_unit_test(the_predictive_header_is_laid_out_as_in_the_thesis),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(what_is_cut_short_is_refused),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(latencies_are_nanoseconds_that_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
