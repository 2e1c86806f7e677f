/*
 * test_oom_five.c: the machines of the five phases with the 1st, 2nd, 3rd … allocation failing. A
 * datagram that finds no memory is as good as lost.
 */
#include "support/testing.h"

enum { MEMBERS = 40 };

static const sv_five_options options = {
    .retry = 10, .tries = 3, .lease = 300, .margin = 50, .patience = 100};

static sv_status some_subscribe(sv_ctx *ctx, void *arg)
{
    (void)arg;
    sv_five_manager *m = NULL;
    sv_five_subscriber *s = NULL;
    sv_status status = sv_five_manager_new(ctx, &options, &m);
    assert_true((status == SV_OK) == (m != NULL));
    if (status == SV_OK) {
        status = sv_five_subscriber_new(ctx, 7, &options, &s);
        assert_true((status == SV_OK) == (s != NULL));
    }
    for (uint32_t i = 0; status == SV_OK && i < MEMBERS; i++) {
        sv_five_mail mail = {i % 4 == 3 ? SV_FIVE_UNSUBSCRIBE : SV_FIVE_SUBSCRIBE, i, 0, 1};
        uint32_t before = sv_five_manager_count(m).subscribers;
        status = sv_five_manager_receive(m, &mail, 0);
        uint32_t more = sv_five_manager_count(m).subscribers - before;
        assert_int_equal(more, status == SV_OK && i % 4 != 3);
    }
    sv_five_manager_free(m);
    sv_five_subscriber_free(s);
    return status;
}

static void subscribing(void **state)
{
    (void)state;
    test_out_of_memory("five phases", some_subscribe, NULL);
}

static void as_good_as_lost(void **state)
{
    (void)state;
    test_memory memory = {0};
    sv_host host = test_host(&memory);
    sv_ctx *ctx = sv_ctx_new(&host);
    sv_five_manager *m = NULL;
    sv_five_mail mail = {SV_FIVE_SUBSCRIBE, 0, 0, 1}, answer;
    OK(ctx, sv_five_manager_new(ctx, &options, &m));
    uint32_t lost = 0;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        mail.subscriber = i * 27 % MEMBERS;
        memory.fail_at = memory.count + 1;
        if (sv_five_manager_receive(m, &mail, i) == SV_NO_MEMORY) {
            lost++;
            assert_false(sv_five_manager_next(m, &answer));
            memory.fail_at = 0;
            OK(ctx, sv_five_manager_receive(m, &mail, i));
        }
        assert_true(sv_five_manager_next(m, &answer));
        assert_int_equal(answer.subscriber, mail.subscriber);
    }
    assert_true(lost > 2);
    memory.fail_at = memory.count + 1; /* nothing else needs any */
    assert_true(sv_five_manager_begin(m, 50));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        mail = (sv_five_mail){SV_FIVE_DONE, i, 1, 0};
        OK(ctx, sv_five_manager_receive(m, &mail, 51));
    }
    assert_int_equal(sv_five_manager_phase(m), SV_FIVE_PROGRAM);
    sv_five_manager_free(m);
    sv_ctx_free(ctx);
    assert_int_equal(memory.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(subscribing),
                                       cmocka_unit_test(as_good_as_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
