/*
 * five_bed.h: one manager and one application, and datagrams handed over by hand. For
 * test_five.c and test_five_manager.c; each uses some of it.
 */
#ifndef SELVAGE_FIVE_BED_H
#define SELVAGE_FIVE_BED_H

#include "support/testing.h"

#include "update/five.h"

TEST_CONTEXT

static const sv_five_options usual = {
    .retry = 10, .tries = 3, .lease = 300, .margin = 50, .patience = 100};
static const sv_five_options without_lease = {.retry = 10, .tries = 3, .patience = 100};

static sv_five_manager *m;
static sv_five_subscriber *s;

/* All that is to be sent, in no order. */
static struct {
    sv_five_mail mail[256];
    uint32_t count;
} bag;

static inline void make(const sv_five_options *options)
{
    OK(ctx, sv_five_manager_new(ctx, options, &m));
    OK(ctx, sv_five_subscriber_new(ctx, 7, options, &s));
}

static inline int clean(void **state)
{
    (void)state;
    sv_five_manager_free(m);
    sv_five_subscriber_free(s);
    m = NULL;
    s = NULL;
    bag.count = 0;
    return 0;
}

/* ---- the manager's mail ---- */

static inline void give(sv_five_kind kind, uint32_t number, uint32_t value, uint64_t now)
{
    bool serial = kind == SV_FIVE_SUBSCRIBE || kind == SV_FIVE_UNSUBSCRIBE;
    sv_five_mail mail = {kind, number, serial ? 0 : value, serial ? value : 0};
    OK(ctx, sv_five_manager_receive(m, &mail, now));
}

static inline void fill_bag(void)
{
    while (bag.count < 256 && sv_five_manager_next(m, &bag.mail[bag.count]))
        bag.count++;
}

#define GETS(kind, number, epoch, serial)                                                          \
    gets((sv_five_mail){kind, number, epoch, serial}, __LINE__)
static inline void gets(sv_five_mail wanted, int line)
{
    fill_bag();
    for (uint32_t i = 0; i < bag.count; i++)
        if (memcmp(&bag.mail[i], &wanted, sizeof wanted) == 0) {
            bag.mail[i] = bag.mail[--bag.count];
            return;
        }
    fail_msg("line %d: no such mail among %u, the first of kind %d, epoch %u", line, bag.count,
             bag.mail[0].kind, bag.mail[0].epoch);
}

#define NO_MAIL() no_mail(__LINE__)
static inline void no_mail(int line)
{
    fill_bag();
    if (bag.count > 0)
        fail_msg("line %d: mail of kind %d, epoch %u", line, bag.mail[0].kind, bag.mail[0].epoch);
}

static inline void joined(uint32_t number, uint32_t serial, uint64_t now)
{
    give(SV_FIVE_SUBSCRIBE, number, serial, now);
    GETS(SV_FIVE_CONFIRM, number, m->count.epoch, serial);
}

#define PHASE(phase) assert_int_equal(sv_five_manager_phase(m), phase)

/* ---- the application's mail ---- */

static inline void tell(sv_five_kind kind, uint32_t epoch, uint32_t serial, uint64_t now)
{
    sv_five_subscriber_receive(s, &(sv_five_mail){kind, 7, epoch, serial}, now);
}

#define SAYS(kind, epoch) says(kind, epoch, __LINE__)
static inline uint32_t says(sv_five_kind kind, uint32_t epoch, int line)
{
    sv_five_mail mail = {0};
    if (!sv_five_subscriber_next(s, &mail))
        fail_msg("line %d: silence", line);
    if (mail.kind != kind || mail.epoch != epoch || mail.subscriber != 7)
        fail_msg("line %d: kind %d, epoch %u", line, mail.kind, mail.epoch);
    return mail.serial;
}

#define SILENT() silent(__LINE__)
static inline void silent(int line)
{
    sv_five_mail mail;
    if (sv_five_subscriber_next(s, &mail))
        fail_msg("line %d: kind %d, epoch %u", line, mail.kind, mail.epoch);
}

#define PLACE(place) assert_int_equal(sv_five_subscriber_place(s), place)

/* Joins in an epoch and is quiet. Returns its serial. */
static inline uint32_t settled(uint32_t epoch, uint64_t now)
{
    sv_five_subscriber_begin(s, now);
    uint32_t serial = SAYS(SV_FIVE_SUBSCRIBE, 0);
    tell(SV_FIVE_CONFIRM, epoch, serial, now);
    SAYS(SV_FIVE_DONE, epoch);
    tell(SV_FIVE_NOTED, epoch, 0, now);
    SILENT();
    return serial;
}

#define TEST(f) cmocka_unit_test_teardown(f, clean)

#endif
