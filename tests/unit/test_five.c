/*
 * test_five.c: the machines of the five phases together, and the application's, rule by rule and
 * race by race. (test_five_manager.c has the manager's, tests/oracle/test_five.c random trials.)
 */
#include "five_bed.h"

/* ---- both ---- */

static void a_whole_update(void **state)
{
    (void)state;
    sv_five_mail mail;
    make(&usual);
    sv_five_subscriber_begin(s, 0);
    for (uint64_t now = 0; now < 60; now++) {
        if (now == 20)
            assert_true(sv_five_manager_begin(m, now));
        if (now == 30) {
            PLACE(SV_FIVE_LEAVING);
            PHASE(SV_FIVE_LEAVE);
            sv_five_subscriber_migrated(s, now);
        }
        if (now == 40) {
            PLACE(SV_FIVE_ON_HIGH);
            PHASE(SV_FIVE_PROGRAM);
            sv_five_manager_programmed(m, now);
        }
        if (now == 50) {
            PLACE(SV_FIVE_RETURNING);
            PHASE(SV_FIVE_RETURN);
            sv_five_subscriber_migrated(s, now);
        }
        while (sv_five_subscriber_next(s, &mail))
            OK(ctx, sv_five_manager_receive(m, &mail, now));
        while (sv_five_manager_next(m, &mail))
            sv_five_subscriber_receive(s, &mail, now);
    }
    PLACE(SV_FIVE_ON_BASE);
    PHASE(SV_FIVE_IDLE);
    sv_five_count count = sv_five_manager_count(m);
    assert_int_equal(count.epoch, 2);
    assert_int_equal(count.updates, 1);
    assert_int_equal(count.subscribers, 1);
    assert_int_equal(count.called_off + count.expelled + count.again, 0);
    assert_int_equal(count.sent, 6); /* CONFIRM, UNPATH, REPATH and three NOTED */
}

static void options_that_cannot_work(void **state)
{
    (void)state;
    sv_five_options options = usual;
    options.retry = 0;
    FAILS(ctx, sv_five_manager_new(ctx, &options, &m), SV_BAD_INPUT, "retry");
    options = usual;
    options.tries = 0;
    FAILS(ctx, sv_five_subscriber_new(ctx, 7, &options, &s), SV_BAD_INPUT, "tries");
    options = usual;
    options.margin = 200;
    FAILS(ctx, sv_five_subscriber_new(ctx, 7, &options, &s), SV_BAD_INPUT, "margin");
    options.lease = 0; /* then it does not matter */
    OK(ctx, sv_five_manager_new(ctx, &options, &m));
    sv_five_manager_free(NULL);
    sv_five_subscriber_free(NULL);
}

static void numbers_go_round(void **state)
{
    (void)state;
    assert_true(sv__newer(0, UINT32_MAX) && sv__newer(3, UINT32_MAX - 5) && sv__newer(2, 1));
    assert_false(sv__newer(UINT32_MAX, 0) || sv__newer(1, 1) || sv__newer(1, 2));
    assert_int_equal(sv__after(UINT64_MAX - 1, 5), UINT64_MAX);
    make(&usual);
    settled(UINT32_MAX - 1, 0);
    tell(SV_FIVE_UNPATH, UINT32_MAX, 0, 1);
    SAYS(SV_FIVE_HEARD, UINT32_MAX);
    tell(SV_FIVE_REPATH, 0, 0, 2);
    SAYS(SV_FIVE_HEARD, 0);
    PLACE(SV_FIVE_RETURNING);
    tell(SV_FIVE_UNPATH, UINT32_MAX, 0, 3);
    SILENT();
    PLACE(SV_FIVE_RETURNING);
    m->count.epoch = UINT32_MAX - 1;
    assert_true(sv_five_manager_begin(m, 0));
    sv_five_manager_programmed(m, 0);
    assert_int_equal(sv_five_manager_count(m).epoch, 0);
}

/* ---- an application ---- */

static void subscribes_until_confirmed(void **state)
{
    (void)state;
    make(&without_lease);
    assert_int_equal(sv_five_subscriber_due(s), UINT64_MAX);
    sv_five_subscriber_begin(s, 1000);
    sv_five_subscriber_begin(s, 1001);
    uint32_t serial = SAYS(SV_FIVE_SUBSCRIBE, 0);
    SILENT();
    assert_int_equal(sv_five_subscriber_due(s), 1010);
    sv_five_subscriber_tick(s, 1009);
    SILENT();
    for (uint64_t now = 1010; now < 2000; now += 10) {
        sv_five_subscriber_tick(s, now);
        assert_int_equal(SAYS(SV_FIVE_SUBSCRIBE, 0), serial);
    }
    PLACE(SV_FIVE_OUTSIDE);
    tell(SV_FIVE_CONFIRM, 4, serial + 1, 2000);
    PLACE(SV_FIVE_OUTSIDE);
    sv_five_subscriber_receive(s, &(sv_five_mail){SV_FIVE_CONFIRM, 8, 4, serial}, 2000);
    PLACE(SV_FIVE_OUTSIDE);
    tell(SV_FIVE_CONFIRM, 4, serial, 2000);
    PLACE(SV_FIVE_ON_BASE);
    SAYS(SV_FIVE_DONE, 4);
    tell(SV_FIVE_NOTED, 4, 0, 2001);
    SILENT();
    assert_int_equal(sv_five_subscriber_due(s), UINT64_MAX);
}

static void leaves_and_returns(void **state)
{
    (void)state;
    make(&without_lease);
    settled(2, 0);
    sv_five_subscriber_migrated(s, 0); /* means nothing now */
    PLACE(SV_FIVE_ON_BASE);
    tell(SV_FIVE_UNPATH, 4, 0, 1); /* no such thing */
    tell(SV_FIVE_REPATH, 3, 0, 1);
    SILENT();
    tell(SV_FIVE_UNPATH, 3, 0, 1);
    PLACE(SV_FIVE_LEAVING);
    SAYS(SV_FIVE_HEARD, 3);
    tell(SV_FIVE_NOTED, 3, 0, 2); /* of nothing that it said */
    tell(SV_FIVE_UNPATH, 3, 0, 2);
    SAYS(SV_FIVE_HEARD, 3);
    SILENT();
    sv_five_subscriber_migrated(s, 5);
    PLACE(SV_FIVE_ON_HIGH);
    SAYS(SV_FIVE_DONE, 3);
    for (uint64_t now = 15; now < 200; now += 10) {
        sv_five_subscriber_tick(s, now);
        SAYS(SV_FIVE_DONE, 3);
        if (now == 35) /* three retries on high without a lease: a round */
            SAYS(SV_FIVE_SUBSCRIBE, 0);
        else if (now > 35)
            SAYS(SV_FIVE_SUBSCRIBE, 0);
        SILENT();
        tell(SV_FIVE_NOTED, 2, 0, now);
    }
    tell(SV_FIVE_CONFIRM, 3, s->serial, 200);
    tell(SV_FIVE_NOTED, 3, 0, 200);
    sv_five_subscriber_tick(s, 210);
    SILENT();
    tell(SV_FIVE_UNPATH, 3, 0, 211); /* late: DONE, which is HEARD */
    SAYS(SV_FIVE_DONE, 3);
    SILENT();
    tell(SV_FIVE_UNPATH, 1, 0, 212);
    tell(SV_FIVE_REPATH, 2, 0, 212);
    SILENT();
    tell(SV_FIVE_REPATH, 4, 0, 213);
    PLACE(SV_FIVE_RETURNING);
    SAYS(SV_FIVE_HEARD, 4);
    sv_five_subscriber_migrated(s, 214);
    PLACE(SV_FIVE_ON_BASE);
    SAYS(SV_FIVE_DONE, 4);
}

static void turns_round(void **state)
{
    (void)state;
    make(&usual);
    settled(2, 0);
    tell(SV_FIVE_UNPATH, 3, 0, 1);
    tell(SV_FIVE_REPATH, 4, 0, 2); /* called off */
    PLACE(SV_FIVE_RETURNING);
    SAYS(SV_FIVE_HEARD, 4);
    SILENT(); /* nothing of 3 */
    tell(SV_FIVE_UNPATH, 5, 0, 3);
    PLACE(SV_FIVE_LEAVING);
    sv_five_subscriber_migrated(s, 4);
    tell(SV_FIVE_REPATH, 6, 0, 4); /* DONE(5) was not taken: it must not become one of 6 */
    SAYS(SV_FIVE_HEARD, 6);
    SILENT();
    PLACE(SV_FIVE_RETURNING);
    tell(SV_FIVE_REPATH, 8, 0, 5); /* 7 was called off unheard */
    PLACE(SV_FIVE_RETURNING);
    SAYS(SV_FIVE_HEARD, 8);
    sv_five_subscriber_migrated(s, 6);
    SAYS(SV_FIVE_DONE, 8);
    tell(SV_FIVE_REPATH, 10, 0, 7); /* and so was 9 */
    PLACE(SV_FIVE_ON_BASE);
    SAYS(SV_FIVE_DONE, 10);
    SILENT();
}

static void joins_high(void **state)
{
    (void)state;
    make(&usual);
    sv_five_subscriber_begin(s, 0);
    uint32_t serial = SAYS(SV_FIVE_SUBSCRIBE, 0);
    tell(SV_FIVE_CONFIRM, 3, serial, 1);
    PLACE(SV_FIVE_ON_HIGH);
    SAYS(SV_FIVE_DONE, 3);
    tell(SV_FIVE_NOTED, 3, 0, 1);
    SILENT();
    tell(SV_FIVE_CONFIRM, 4, serial, 2); /* of its second SUBSCRIBE: news */
    PLACE(SV_FIVE_RETURNING);
    SAYS(SV_FIVE_HEARD, 4);
}

/* It has answered UNPATH, so its late confirmation must not bring it to base addresses. */
static void confirmed_after_unpath(void **state)
{
    (void)state;
    make(&usual);
    sv_five_subscriber_begin(s, 0);
    uint32_t serial = SAYS(SV_FIVE_SUBSCRIBE, 0);
    tell(SV_FIVE_UNPATH, 3, 0, 1);
    PLACE(SV_FIVE_OUTSIDE);
    SAYS(SV_FIVE_DONE, 3); /* no flows */
    sv_five_subscriber_tick(s, 11);
    SAYS(SV_FIVE_DONE, 3);
    SAYS(SV_FIVE_SUBSCRIBE, 0);
    tell(SV_FIVE_CONFIRM, 2, serial, 12);
    PLACE(SV_FIVE_ON_HIGH);
}

static void renews(void **state)
{
    (void)state;
    make(&usual);
    uint32_t serial = settled(2, 0);
    assert_int_equal(sv_five_subscriber_due(s), 100);
    sv_five_subscriber_tick(s, 100);
    assert_int_equal(SAYS(SV_FIVE_SUBSCRIBE, 0), serial + 1);
    sv_five_subscriber_tick(s, 110);
    assert_int_equal(SAYS(SV_FIVE_SUBSCRIBE, 0), serial + 1);
    tell(SV_FIVE_CONFIRM, 2, serial, 111); /* of the round before */
    assert_int_equal(s->fence, 250);
    tell(SV_FIVE_CONFIRM, 2, serial + 1, 115);
    assert_int_equal(s->fence, 350); /* from the first sending */
    tell(SV_FIVE_CONFIRM, 2, serial + 1, 190);
    assert_int_equal(s->fence, 350);
    assert_int_equal(sv_five_subscriber_due(s), 200);
    for (uint64_t now = 200; now < 300; now += 10) {
        sv_five_subscriber_tick(s, now);
        assert_int_equal(SAYS(SV_FIVE_SUBSCRIBE, 0), serial + 2);
    }
    sv_five_subscriber_tick(s, 300); /* a third of a lease without an answer: a new round */
    assert_int_equal(SAYS(SV_FIVE_SUBSCRIBE, 0), serial + 3);
    tell(SV_FIVE_CONFIRM, 2, serial + 2, 301);
    assert_int_equal(s->fence, 350);
    PLACE(SV_FIVE_ON_BASE);
}

static void leaves_of_its_own_accord(void **state)
{
    (void)state;
    make(&usual);
    settled(2, 0);
    for (uint64_t now = 100; now <= 240; now += 10)
        sv_five_subscriber_tick(s, now);
    PLACE(SV_FIVE_ON_BASE);
    assert_true(sv_five_subscriber_due(s) <= 250);
    sv_five_subscriber_tick(s, 250);
    PLACE(SV_FIVE_LEAVING);
    SAYS(SV_FIVE_SUBSCRIBE, 0);
    SILENT();
    sv_five_subscriber_migrated(s, 280);
    PLACE(SV_FIVE_ON_HIGH);
    SILENT(); /* nobody asked */
    tell(SV_FIVE_REPATH, 4, 0, 285);
    PLACE(SV_FIVE_ON_HIGH); /* this may be old */
    SAYS(SV_FIVE_HEARD, 4);
    SILENT();
    tell(SV_FIVE_UNPATH, 5, 0, 290);
    SAYS(SV_FIVE_DONE, 5);
    tell(SV_FIVE_REPATH, 6, 0, 295);
    SAYS(SV_FIVE_HEARD, 6);
    PLACE(SV_FIVE_ON_HIGH);
    sv_five_subscriber_tick(s, 300);
    tell(SV_FIVE_CONFIRM, 6, s->serial, 310);
    PLACE(SV_FIVE_RETURNING);
    sv_five_subscriber_migrated(s, 320);
    PLACE(SV_FIVE_ON_BASE);
    SAYS(SV_FIVE_DONE, 6);
}

static void fenced_while_returning(void **state)
{
    (void)state;
    make(&usual);
    settled(3, 0);
    tell(SV_FIVE_REPATH, 4, 0, 240);
    PLACE(SV_FIVE_RETURNING);
    sv_five_subscriber_tick(s, 250);
    PLACE(SV_FIVE_LEAVING);
    tell(SV_FIVE_REPATH, 4, 0, 251);
    PLACE(SV_FIVE_LEAVING);
    sv_five_subscriber_tick(s, 260);
    tell(SV_FIVE_CONFIRM, 4, s->serial, 262); /* comes in time, before all have left */
    PLACE(SV_FIVE_RETURNING);
}

/* The manager may have forgotten it since. */
static void confirmed_too_late(void **state)
{
    (void)state;
    sv_five_options options = usual;
    options.retry = 400; /* so that the round goes on */
    make(&options);
    sv_five_subscriber_begin(s, 0);
    uint32_t serial = SAYS(SV_FIVE_SUBSCRIBE, 0);
    tell(SV_FIVE_CONFIRM, 2, serial, 250);
    PLACE(SV_FIVE_OUTSIDE);
    SAYS(SV_FIVE_DONE, 2); /* what it knows now, it answers; there are no flows */
    assert_int_equal(SAYS(SV_FIVE_SUBSCRIBE, 0), serial + 1);
    tell(SV_FIVE_CONFIRM, 2, serial, 251);
    PLACE(SV_FIVE_OUTSIDE);
    tell(SV_FIVE_CONFIRM, 2, serial + 1, 499);
    PLACE(SV_FIVE_ON_BASE);
    assert_int_equal(sv_five_subscriber_due(s), 350); /* the next round is over time */
    sv_five_subscriber_tick(s, 499);
    sv_five_subscriber_tick(s, 500);
    PLACE(SV_FIVE_LEAVING);
    tell(SV_FIVE_CONFIRM, 2, serial + 2, 749);
    PLACE(SV_FIVE_LEAVING);
}

static void says_farewell(void **state)
{
    (void)state;
    make(&usual);
    sv_five_subscriber_end(s, 0);
    SILENT();
    uint32_t serial = settled(2, 0);
    tell(SV_FIVE_UNPATH, 3, 0, 1);
    sv_five_subscriber_end(s, 2);
    sv_five_subscriber_end(s, 2);
    PLACE(SV_FIVE_OUTSIDE);
    assert_int_equal(SAYS(SV_FIVE_UNSUBSCRIBE, 0), serial + 1);
    SILENT(); /* no HEARD */
    for (uint64_t now = 12; now <= 22; now += 10) {
        assert_int_equal(sv_five_subscriber_due(s), now);
        sv_five_subscriber_tick(s, now);
        assert_int_equal(SAYS(SV_FIVE_UNSUBSCRIBE, 0), serial + 1);
    }
    sv_five_subscriber_tick(s, 32); /* three times, and no more */
    SILENT();
    assert_int_equal(sv_five_subscriber_due(s), UINT64_MAX);
    tell(SV_FIVE_UNPATH, 3, 0, 40); /* it was not heard */
    SAYS(SV_FIVE_DONE, 3);
    assert_int_equal(SAYS(SV_FIVE_UNSUBSCRIBE, 0), serial + 1);
    SILENT();
    sv_five_subscriber_begin(s, 50);
    assert_int_equal(SAYS(SV_FIVE_SUBSCRIBE, 0), serial + 2);
    tell(SV_FIVE_CONFIRM, 3, serial + 1, 51); /* of the farewell */
    PLACE(SV_FIVE_OUTSIDE);
    sv_five_subscriber_end(s, 52);
    SAYS(SV_FIVE_UNSUBSCRIBE, 0);
    tell(SV_FIVE_CONFIRM, 3, serial + 3, 53);
    assert_int_equal(sv_five_subscriber_due(s), UINT64_MAX);
    PLACE(SV_FIVE_OUTSIDE);
}

static void never_begun(void **state)
{
    (void)state;
    make(&usual);
    tell(SV_FIVE_CONFIRM, 2, 0, 1);
    tell(SV_FIVE_NOTED, 0, 0, 1);
    SILENT();
    tell(SV_FIVE_UNPATH, 3, 0, 1); /* for whoever had its number */
    SAYS(SV_FIVE_DONE, 3);
    SILENT();
    PLACE(SV_FIVE_OUTSIDE);
}

/* Serials of a new life are newer than those of the one before, on the same clock. */
static void a_number_is_used_again(void **state)
{
    (void)state;
    make(&usual);
    uint64_t now = UINT64_C(123456789);
    sv_five_subscriber_begin(s, now);
    for (uint32_t i = 0; i < 1000; i++) {
        now = sv_five_subscriber_due(s);
        sv_five_subscriber_tick(s, now);
    }
    sv_five_subscriber_end(s, now);
    uint32_t old = SAYS(SV_FIVE_UNSUBSCRIBE, 0);
    sv_five_subscriber_free(s);
    s = NULL;
    OK(ctx, sv_five_subscriber_new(ctx, 7, &usual, &s));
    sv_five_subscriber_begin(s, now + 1);
    uint32_t serial = SAYS(SV_FIVE_SUBSCRIBE, 0);
    assert_true(sv__newer(serial, old));
    /* The manager waits for the one before. */
    joined(7, old - 1, 0);
    sv_five_manager_begin(m, 0);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    give(SV_FIVE_SUBSCRIBE, 7, serial, 1);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    tell(SV_FIVE_UNPATH, 1, 0, now + 2);
    SAYS(SV_FIVE_DONE, 1);
    give(SV_FIVE_DONE, 7, 1, 2);
    PHASE(SV_FIVE_PROGRAM);
    give(SV_FIVE_UNSUBSCRIBE, 7, old, 3);
    joined(7, serial, 3);
    assert_int_equal(sv_five_manager_count(m).subscribers, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_update),
        TEST(options_that_cannot_work),
        TEST(numbers_go_round),
        TEST(subscribes_until_confirmed),
        TEST(leaves_and_returns),
        TEST(turns_round),
        TEST(joins_high),
        TEST(confirmed_after_unpath),
        TEST(renews),
        TEST(leaves_of_its_own_accord),
        TEST(fenced_while_returning),
        TEST(confirmed_too_late),
        TEST(says_farewell),
        TEST(never_begun),
        TEST(a_number_is_used_again),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
