/*
 * test_five_manager.c: the manager of the five phases, rule by rule and race by race.
 */
#include "five_bed.h"

/* ---- the manager ---- */

static void nobody_subscribed(void **state)
{
    (void)state;
    make(&usual);
    assert_int_equal(sv_five_manager_due(m), UINT64_MAX);
    sv_five_manager_programmed(m, 0); /* means nothing now */
    PHASE(SV_FIVE_IDLE);
    for (uint32_t i = 0; i < 3; i++) { /* again at once */
        assert_true(sv_five_manager_begin(m, i));
        PHASE(SV_FIVE_PROGRAM);
        assert_false(sv_five_manager_begin(m, i));
        sv_five_manager_programmed(m, i);
        PHASE(SV_FIVE_IDLE);
    }
    NO_MAIL();
    assert_int_equal(sv_five_manager_count(m).epoch, 6);
    assert_int_equal(sv_five_manager_count(m).updates, 3);
}

static void asks_until_it_is_heard(void **state)
{
    (void)state;
    make(&usual);
    joined(7, 1, 0);
    joined(9, 5, 0);
    sv_five_manager_begin(m, 100);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    GETS(SV_FIVE_UNPATH, 9, 1, 0);
    NO_MAIL();
    assert_int_equal(sv_five_manager_due(m), 110);
    sv_five_manager_tick(m, 109);
    NO_MAIL();
    give(SV_FIVE_HEARD, 7, 1, 109);
    sv_five_manager_tick(m, 110);
    GETS(SV_FIVE_UNPATH, 9, 1, 0);
    NO_MAIL();
    give(SV_FIVE_DONE, 9, 1, 111); /* heard of at once */
    GETS(SV_FIVE_NOTED, 9, 1, 0);
    give(SV_FIVE_HEARD, 9, 1, 112); /* overtaken */
    give(SV_FIVE_DONE, 9, 1, 113);
    GETS(SV_FIVE_NOTED, 9, 1, 0); /* again */
    PHASE(SV_FIVE_LEAVE);
    give(SV_FIVE_DONE, 7, 1, 114);
    GETS(SV_FIVE_NOTED, 7, 1, 0);
    PHASE(SV_FIVE_PROGRAM);
    assert_int_equal(sv_five_manager_count(m).again, 1);
}

static void answers_of_other_epochs(void **state)
{
    (void)state;
    make(&usual);
    joined(7, 1, 0);
    sv_five_manager_begin(m, 0);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    give(SV_FIVE_DONE, 7, 1, 1);
    sv_five_manager_programmed(m, 2); /* NOTED was not taken, and is not true of the next */
    GETS(SV_FIVE_REPATH, 7, 2, 0);
    NO_MAIL();
    give(SV_FIVE_HEARD, 7, 1, 3);
    give(SV_FIVE_DONE, 7, 3, 3);
    PHASE(SV_FIVE_RETURN);
    GETS(SV_FIVE_REPATH, 7, 2, 0);
    give(SV_FIVE_DONE, 7, 1, 3); /* does not know of 2 */
    PHASE(SV_FIVE_RETURN);
    GETS(SV_FIVE_REPATH, 7, 2, 0);
    give(SV_FIVE_DONE, 7, 2, 4);
    PHASE(SV_FIVE_IDLE);
    GETS(SV_FIVE_NOTED, 7, 2, 0);
    give(SV_FIVE_DONE, 7, 1, 5); /* in idleness, too */
    GETS(SV_FIVE_REPATH, 7, 2, 0);
    give(SV_FIVE_DONE, 8, 2, 5); /* strangers */
    give(SV_FIVE_HEARD, 8, 2, 5);
    give(SV_FIVE_UNPATH, 7, 3, 5); /* not for managers */
    give(SV_FIVE_KINDS, 7, 3, 5);
    NO_MAIL();
}

static void joins_in_each_phase(void **state)
{
    (void)state;
    make(&usual);
    joined(1, 1, 0);
    sv_five_manager_begin(m, 0);
    GETS(SV_FIVE_UNPATH, 1, 1, 0);
    joined(2, 1, 0); /* is told 1 by CONFIRM, and not waited for */
    give(SV_FIVE_DONE, 1, 1, 1);
    PHASE(SV_FIVE_PROGRAM);
    GETS(SV_FIVE_NOTED, 1, 1, 0);
    joined(3, 1, 2);
    sv_five_manager_programmed(m, 3);
    for (uint32_t i = 1; i <= 3; i++)
        GETS(SV_FIVE_REPATH, i, 2, 0);
    joined(4, 1, 4);
    for (uint32_t i = 1; i <= 3; i++)
        give(SV_FIVE_DONE, i, 2, 5);
    PHASE(SV_FIVE_IDLE);
    assert_int_equal(sv_five_manager_count(m).subscribers, 4);
}

static void leases_end(void **state)
{
    (void)state;
    make(&usual);
    joined(1, 1, 0);
    joined(2, 1, 0);
    joined(1, 2, 200);
    joined(1, 1, 210); /* late, but somebody is there */
    assert_int_equal(sv_five_manager_due(m), 300);
    sv_five_manager_tick(m, 300);
    assert_int_equal(sv_five_manager_count(m).subscribers, 1);
    assert_int_equal(sv_five_manager_count(m).expelled, 1);
    assert_int_equal(sv_five_manager_due(m), 510);
    sv_five_manager_begin(m, 400);
    GETS(SV_FIVE_UNPATH, 1, 1, 0);
    for (uint64_t now = 410; now < 510; now += 10) { /* long after three tries */
        sv_five_manager_tick(m, now);
        GETS(SV_FIVE_UNPATH, 1, 1, 0);
        PHASE(SV_FIVE_LEAVE);
    }
    sv_five_manager_tick(m, 510);
    PHASE(SV_FIVE_PROGRAM);
    NO_MAIL();
    assert_int_equal(sv_five_manager_count(m).expelled, 2);
    assert_int_equal(sv_five_manager_count(m).called_off, 0);
}

/* Neither confirmed nor given more lease: it would be waited for without end, or be there still. */
static void renewals_of_who_has_not_answered(void **state)
{
    (void)state;
    make(&usual);
    joined(7, 1, 0);
    sv_five_manager_begin(m, 100);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    give(SV_FIVE_SUBSCRIBE, 7, 2, 105);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    NO_MAIL();
    give(SV_FIVE_HEARD, 7, 1, 106);
    joined(7, 2, 107); /* now it is */
    assert_int_equal(m->members.at[0].lease_end, 407);
    give(SV_FIVE_DONE, 7, 1, 108);
    GETS(SV_FIVE_NOTED, 7, 1, 0);
    sv_five_manager_programmed(m, 110);
    GETS(SV_FIVE_REPATH, 7, 2, 0);
    joined(7, 3, 111); /* on its way back there is nothing to fear */
}

static void heard_and_dead(void **state)
{
    (void)state;
    sv_five_options options = usual;
    options.patience = 0;
    make(&options);
    joined(7, 1, 0);
    sv_five_manager_begin(m, 100);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    give(SV_FIVE_HEARD, 7, 1, 101);
    sv_five_manager_tick(m, 110);
    NO_MAIL();
    assert_int_equal(sv_five_manager_due(m), 131);
    sv_five_manager_tick(m, 131); /* three retries: it may have left unheard */
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    assert_int_equal(sv_five_manager_due(m), 161);
    sv_five_manager_tick(m, 299);
    PHASE(SV_FIVE_LEAVE);
    sv_five_manager_tick(m, 300);
    PHASE(SV_FIVE_PROGRAM);
}

static void trust(void **state)
{
    (void)state;
    sv_five_options options = usual;
    options.trust = true;
    make(&options);
    joined(7, 1, 0);
    sv_five_manager_begin(m, 0);
    sv_five_manager_tick(m, 10);
    give(SV_FIVE_SUBSCRIBE, 7, 2, 15); /* asked once more, which does not count */
    sv_five_manager_tick(m, 20);
    PHASE(SV_FIVE_LEAVE);
    sv_five_manager_tick(m, 29);
    PHASE(SV_FIVE_LEAVE);
    sv_five_manager_tick(m, 30);
    PHASE(SV_FIVE_PROGRAM);
    assert_int_equal(sv_five_manager_count(m).expelled, 1);
    assert_int_equal(sv_five_manager_count(m).subscribers, 0);
}

static void called_off_without_lease(void **state)
{
    (void)state;
    make(&without_lease);
    joined(1, 1, 0);
    joined(2, 1, 0);
    sv_five_manager_begin(m, 0);
    give(SV_FIVE_DONE, 1, 1, 5);
    sv_five_manager_tick(m, 10);
    sv_five_manager_tick(m, 20);
    PHASE(SV_FIVE_LEAVE);
    while (sv_five_manager_next(m, &(sv_five_mail){0}))
        ;
    sv_five_manager_tick(m, 30);
    PHASE(SV_FIVE_RETURN); /* without phase 3 */
    GETS(SV_FIVE_REPATH, 1, 2, 0);
    GETS(SV_FIVE_REPATH, 2, 2, 0);
    assert_int_equal(sv_five_manager_count(m).called_off, 1);
    sv_five_manager_programmed(m, 31);
    PHASE(SV_FIVE_RETURN);
    give(SV_FIVE_DONE, 1, 2, 35);
    sv_five_manager_tick(m, 40);
    sv_five_manager_tick(m, 50);
    PHASE(SV_FIVE_RETURN);
    sv_five_manager_tick(m, 60); /* who does not answer is not waited for, and stays subscribed */
    PHASE(SV_FIVE_IDLE);
    assert_int_equal(sv_five_manager_count(m).subscribers, 2);
    assert_int_equal(sv_five_manager_count(m).expelled, 0);
    assert_int_equal(sv_five_manager_due(m), UINT64_MAX);
}

static void patience_ends(void **state)
{
    (void)state;
    make(&usual);
    joined(7, 1, 0);
    sv_five_manager_begin(m, 10);
    give(SV_FIVE_HEARD, 7, 1, 15);
    give(SV_FIVE_HEARD, 7, 1, 50); /* again: nothing new */
    sv_five_manager_tick(m, 114);
    PHASE(SV_FIVE_LEAVE);
    sv_five_manager_tick(m, 115);
    PHASE(SV_FIVE_RETURN);
    GETS(SV_FIVE_REPATH, 7, 2, 0);
    give(SV_FIVE_HEARD, 7, 2, 120);
    sv_five_manager_tick(m, 219);
    PHASE(SV_FIVE_RETURN);
    sv_five_manager_tick(m, 220);
    PHASE(SV_FIVE_IDLE);
    NO_MAIL();
    assert_int_equal(sv_five_manager_count(m).called_off, 1);
    assert_int_equal(sv_five_manager_count(m).subscribers, 1);
    assert_true(sv_five_manager_begin(m, 220)); /* at once; it is asked as all are */
    GETS(SV_FIVE_UNPATH, 7, 3, 0);
    PHASE(SV_FIVE_LEAVE);
}

static void somebody_is_gone(void **state)
{
    (void)state;
    make(&usual);
    for (uint32_t i = 1; i <= 4; i++)
        joined(i, 1, 0);
    sv_five_manager_gone(m, 3, 1);
    sv_five_manager_gone(m, 8, 1);
    sv_five_manager_begin(m, 2);
    sv_five_manager_gone(m, 1, 3); /* with its mail; the others get theirs */
    GETS(SV_FIVE_UNPATH, 2, 1, 0);
    GETS(SV_FIVE_UNPATH, 4, 1, 0);
    NO_MAIL();
    give(SV_FIVE_DONE, 4, 1, 3);
    give(SV_FIVE_HEARD, 2, 1, 3);
    PHASE(SV_FIVE_LEAVE);
    sv_five_manager_gone(m, 2, 4);
    PHASE(SV_FIVE_PROGRAM);
    sv_five_manager_programmed(m, 5);
    sv_five_manager_gone(m, 4, 6);
    PHASE(SV_FIVE_IDLE);
    NO_MAIL();
    assert_int_equal(sv_five_manager_count(m).subscribers, 0);
    assert_int_equal(sv_five_manager_count(m).expelled, 0);
}

static void unsubscribing(void **state)
{
    (void)state;
    make(&usual);
    joined(7, 5, 0);
    give(SV_FIVE_UNSUBSCRIBE, 7, 4, 1); /* of an earlier life */
    NO_MAIL();
    assert_int_equal(sv_five_manager_count(m).subscribers, 1);
    sv_five_manager_begin(m, 2);
    GETS(SV_FIVE_UNPATH, 7, 1, 0);
    give(SV_FIVE_HEARD, 7, 1, 3);
    give(SV_FIVE_UNSUBSCRIBE, 7, 6, 4); /* in mid-update */
    PHASE(SV_FIVE_PROGRAM);
    give(SV_FIVE_SUBSCRIBE, 7, 5, 4); /* overtaken */
    give(SV_FIVE_DONE, 7, 1, 4);
    give(SV_FIVE_UNSUBSCRIBE, 7, 6, 4);
    assert_int_equal(sv_five_manager_count(m).subscribers, 0);
    GETS(SV_FIVE_CONFIRM, 7, 1, 6);
    NO_MAIL();
    give(SV_FIVE_UNSUBSCRIBE, 7, 6, 5); /* its confirmation was lost */
    GETS(SV_FIVE_CONFIRM, 7, 1, 6);
    NO_MAIL();
    give(SV_FIVE_UNSUBSCRIBE, 7, 6, 6);
    give(SV_FIVE_SUBSCRIBE, 7, 7, 6); /* back before it was confirmed */
    GETS(SV_FIVE_CONFIRM, 7, 1, 7);
    assert_int_equal(sv_five_manager_count(m).subscribers, 1);
    sv_five_manager_tick(m, 1000);
    assert_int_equal(sv_five_manager_count(m).subscribers, 0);
    assert_int_equal(sv_five_manager_due(m), UINT64_MAX);
}

/* Two late doubles: the newest serial counts, not the last. */
static void late_doubles_of_an_earlier_life(void **state)
{
    (void)state;
    make(&usual);
    joined(7, 9, 0);
    joined(7, 3, 1);
    give(SV_FIVE_UNSUBSCRIBE, 7, 4, 2);
    NO_MAIL();
    assert_int_equal(sv_five_manager_count(m).subscribers, 1);
}

static void many_in_any_order(void **state)
{
    (void)state;
    make(&usual);
    for (uint32_t i = 0; i < 100; i++)
        joined(i * 37 % 100, i, 0);
    assert_int_equal(sv_five_manager_count(m).subscribers, 100);
    for (uint32_t i = 0; i + 1 < 100; i++)
        assert_true(m->members.at[i].number < m->members.at[i + 1].number);
    sv_five_manager_begin(m, 0);
    for (uint32_t i = 0; i < 100; i += 2)
        give(SV_FIVE_UNSUBSCRIBE, i, 1000, 1);
    for (uint32_t i = 1; i < 100; i += 2)
        give(SV_FIVE_DONE, i, 1, 1);
    PHASE(SV_FIVE_PROGRAM);
    sv_five_mail mail;
    uint32_t kinds[SV_FIVE_KINDS] = {0};
    while (sv_five_manager_next(m, &mail))
        kinds[mail.kind]++;
    assert_int_equal(kinds[SV_FIVE_CONFIRM], 50);
    assert_int_equal(kinds[SV_FIVE_NOTED], 50);
    assert_int_equal(kinds[SV_FIVE_UNPATH], 0); /* answered before they went out */
    assert_int_equal(m->members.length, 50);
}

static void starts_again(void **state)
{
    (void)state;
    sv_five_options options = usual;
    options.epoch = 7;
    make(&options);
    assert_int_equal(sv_five_manager_count(m).epoch, 8);
    joined(7, 1, 0);
    sv_five_manager_begin(m, 300);
    GETS(SV_FIVE_UNPATH, 7, 9, 0);
    sv_five_manager_free(m);
    m = NULL;
    options.epoch = UINT32_MAX;
    OK(ctx, sv_five_manager_new(ctx, &options, &m));
    assert_int_equal(sv_five_manager_count(m).epoch, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_subscribed),
        TEST(asks_until_it_is_heard),
        TEST(answers_of_other_epochs),
        TEST(joins_in_each_phase),
        TEST(leases_end),
        TEST(renewals_of_who_has_not_answered),
        TEST(heard_and_dead),
        TEST(trust),
        TEST(called_off_without_lease),
        TEST(patience_ends),
        TEST(somebody_is_gone),
        TEST(unsubscribing),
        TEST(late_doubles_of_an_earlier_life),
        TEST(many_in_any_order),
        TEST(starts_again),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
