/* test_five_wire.c: mails of the five phases as bytes: the same after a round trip, or refused. */
#include <selvage/experimental/update.h>

#include "support/testing.h"

static void test_round_trip(void **state)
{
    (void)state;
    for (int kind = 0; kind < SV_FIVE_KINDS; kind++) {
        const sv_five_mail mail = {.kind = (sv_five_kind)kind,
                                   .subscriber = 49151,
                                   .epoch = 0xfedcba98u,
                                   .serial = 0x01020304u + (uint32_t)kind};
        uint8_t bytes[SV_FIVE_BYTES], again[SV_FIVE_BYTES];
        sv_five_mail back = {0};
        sv_five_pack(&mail, 7, bytes);
        assert_true(sv_five_unpack(bytes, &back));
        assert_int_equal(back.kind, mail.kind);
        assert_int_equal(back.subscriber, mail.subscriber);
        assert_int_equal(back.epoch, mail.epoch);
        assert_int_equal(back.serial, mail.serial);
        sv_five_pack(&mail, 8, again);
        assert_memory_not_equal(bytes, again, sizeof bytes);
    }
}

/* The bytes are the same on every machine. */
static void test_bytes(void **state)
{
    (void)state;
    static const uint8_t expected[SV_FIVE_BYTES] = {
        'S', 'V', 'F', '5', 1, SV_FIVE_DONE, 0, 0, 0, 0, 0, 9, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 2};
    const sv_five_mail mail = {.kind = SV_FIVE_DONE, .subscriber = 9, .epoch = 261};
    uint8_t bytes[SV_FIVE_BYTES];
    sv_five_pack(&mail, 2, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    const sv_five_mail mail = {.kind = SV_FIVE_HEARD};
    for (int i = 0; i < 6; i++) {
        uint8_t bytes[SV_FIVE_BYTES];
        sv_five_mail back;
        sv_five_pack(&mail, 0, bytes);
        bytes[i] = i == 5 ? SV_FIVE_KINDS : bytes[i] ^ 1;
        assert_false(sv_five_unpack(bytes, &back));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
