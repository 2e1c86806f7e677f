/*
 * five_subscriber.c: an application's side of the five phases.
 *
 * Idea: whatever comes in changes what is known (an epoch, a confirmed round), then `settle` says
 * where flows ought to be by that and turns the place towards it; once they are there, DONE is said
 * until it is noted. Rounds of SUBSCRIBE run beside that.
 *
 * Invariants:
 * - Flows come to base addresses only in an even epoch, with a lease that is good for `margin` and
 *   more; the lease counts from the first sending of a confirmed round, and the manager's from when
 *   it came, so the manager's ends later.
 * - An epoch never goes back, whatever brings it. What brings none that is new brings nobody back.
 * - DONE is sent only while it is true.
 * - Serials grow through all lives of a number: they begin with the time, in steps shorter than
 *   rounds, so nothing that was meant for an earlier life is taken for an answer.
 *
 * Cost: O(1) each. Source: thesis 5.2.3; rules: docs/decisions/0027-update.md.
 */
#include "update/five.h"

#define OWES(kind) (1u << (kind))

enum { SERIALS_A_ROUND = 16 }; /* so many lives a number may have while one round lasts */

static uint32_t first_serial(const sv_five_subscriber *s, uint64_t now)
{
    uint64_t round = s->options.retry;
    if (s->options.lease > 0)
        round = sv__sooner(round, sv__third(&s->options));
    return (uint32_t)(now / (round < SERIALS_A_ROUND ? 1 : round / SERIALS_A_ROUND));
}

static void next_serial(sv_five_subscriber *s, uint64_t now)
{
    s->serial = s->once ? s->serial + 1 : /*~serial_life*/ first_serial(s, now);
    s->once = true;
}

/* ---- rounds ---- */

static void subscribe(sv_five_subscriber *s, uint64_t now)
{
    s->owes |= OWES(SV_FIVE_SUBSCRIBE);
    s->again = sv__after(now, s->options.retry);
}

static void begin_round(sv_five_subscriber *s, uint64_t now)
{
    next_serial(s, now);
    s->first = now;
    s->asking = true;
    subscribe(s, now);
}

/* Without a lease, rounds are for those who may have missed that they can come back. */
static void plan_round(sv_five_subscriber *s, uint64_t now)
{
    if (s->options.lease > 0)
        s->renew = sv__after(s->first, sv__third(&s->options));
    else if (/*~high_asks*/ s->place == SV_FIVE_ON_HIGH)
        s->renew = sv__after(now, sv__all_tries(&s->options));
    else
        s->renew = UINT64_MAX;
}

/* ---- places ---- */

static bool is_odd(const sv_five_subscriber *s)
{
    return s->epoch & 1;
}

/* Whether all flows, if there are any, are where the epoch wants them. */
static bool is_settled(const sv_five_subscriber *s)
{
    return !s->member ||
           /*~done_before*/ s->place == (is_odd(s) ? SV_FIVE_ON_HIGH : SV_FIVE_ON_BASE);
}

static void turn(sv_five_subscriber *s)
{
    bool high = /*~fence_repath*/ s->fenced || is_odd(s);
    if (high && /*~back_turns*/ (s->place == SV_FIVE_ON_BASE || s->place == SV_FIVE_RETURNING))
        s->place = SV_FIVE_LEAVING;
    else if (!high &&
             /*~leave_called*/ (s->place == SV_FIVE_ON_HIGH || s->place == SV_FIVE_LEAVING))
        s->place = SV_FIVE_RETURNING;
}

static void settle(sv_five_subscriber *s, uint64_t now)
{
    if (s->member)
        turn(s);
    if (!is_settled(s)) {
        s->done = UINT64_MAX;
        /*~done_next*/ s->owes &= ~OWES(SV_FIVE_DONE);
    } else if (!s->noted && s->done == UINT64_MAX) {
        s->owes |= OWES(SV_FIVE_DONE);
        s->done = sv__after(now, s->options.retry);
    }
}

/* Whether an epoch is not older than the one known; it is then the one known. Then settle. */
static bool learn(sv_five_subscriber *s, uint32_t epoch)
{
    if (s->knows && /*~epoch_older*/ !sv__newer(epoch, s->epoch))
        return /*~epoch_present*/ epoch == s->epoch;
    s->knows = true;
    /*~fence_news*/ s->epoch = epoch;
    s->noted = false;
    s->done = UINT64_MAX;
    return true;
}

/* ---- what its owner says ---- */

void sv_five_subscriber_begin(sv_five_subscriber *s, uint64_t now)
{
    if (s->begun)
        return;
    s->begun = true;
    s->farewells = 0;
    s->owes = 0;
    begin_round(s, now);
}

void sv_five_subscriber_end(sv_five_subscriber *s, uint64_t now)
{
    if (!s->begun)
        return;
    s->begun = s->member = s->asking = s->fenced = false;
    s->place = SV_FIVE_OUTSIDE;
    s->done = s->renew = s->fence = UINT64_MAX;
    /*~bye_serial*/ next_serial(s, now);
    s->farewells = s->options.tries;
    s->owes = OWES(SV_FIVE_UNSUBSCRIBE);
    s->again = sv__after(now, s->options.retry);
}

void sv_five_subscriber_migrated(sv_five_subscriber *s, uint64_t now)
{
    if (s->place == SV_FIVE_LEAVING)
        s->place = SV_FIVE_ON_HIGH;
    else if (s->place == SV_FIVE_RETURNING)
        s->place = SV_FIVE_ON_BASE;
    else
        return;
    if (!s->asking)
        plan_round(s, now);
    settle(s, now);
}

/* ---- datagrams ---- */

static void confirm(sv_five_subscriber *s, const sv_five_mail *mail, uint64_t now)
{
    if (!s->once /*~serial_any*/ || mail->serial != s->serial)
        return;
    if (!s->begun) {
        s->farewells = 0;
        s->owes &= ~OWES(SV_FIVE_UNSUBSCRIBE);
        return;
    }
    bool news = !s->knows || sv__newer(mail->epoch, s->epoch);
    learn(s, mail->epoch);
    uint64_t good = s->options.lease == 0
                        ? UINT64_MAX
                        : sv__after(/*~lease_confirm*/ s->first,
                                    s->options.lease /*~fence_lease*/ - s->options.margin);
    if (/*~confirm_late*/ s->asking && now >= good) {
        begin_round(s, now); /* the manager may have forgotten this one */
    } else if (s->asking) {
        s->asking = s->fenced = false;
        s->owes &= ~OWES(SV_FIVE_SUBSCRIBE);
        s->fence = good;
        if (!s->member)
            s->place = /*~join_base*/ is_odd(s) ? SV_FIVE_ON_HIGH : SV_FIVE_ON_BASE;
        s->member = true;
        plan_round(s, now);
    }
    settle(s, now);
    if (news && !is_settled(s))
        s->owes |= OWES(SV_FIVE_HEARD);
}

/* UNPATH or REPATH. */
static void asked(sv_five_subscriber *s, const sv_five_mail *mail, uint64_t now)
{
    if ((mail->epoch & 1) != (mail->kind == SV_FIVE_UNPATH) || !learn(s, mail->epoch))
        return;
    if (!s->begun) { /* the manager thinks that it is there */
        /*~outside_quiet*/ s->owes |=
            OWES(SV_FIVE_DONE) | (s->once ? OWES(SV_FIVE_UNSUBSCRIBE) : 0);
        return;
    }
    s->noted = false;
    s->done = UINT64_MAX;
    settle(s, now);
    if (!is_settled(s))
        s->owes |= OWES(SV_FIVE_HEARD);
}

void sv_five_subscriber_receive(sv_five_subscriber *s, const sv_five_mail *mail, uint64_t now)
{
    if (mail->subscriber != s->number)
        return;
    if (mail->kind == SV_FIVE_CONFIRM) {
        confirm(s, mail, now);
    } else if (mail->kind == SV_FIVE_UNPATH || mail->kind == SV_FIVE_REPATH) {
        asked(s, mail, now);
    } else if (mail->kind == SV_FIVE_NOTED && s->knows /*~noted_any*/ && mail->epoch == s->epoch &&
               is_settled(s)) {
        s->noted = true;
        s->done = UINT64_MAX;
        s->owes &= ~OWES(SV_FIVE_DONE);
    }
}

bool sv_five_subscriber_next(sv_five_subscriber *s, sv_five_mail *mail)
{
    static const sv_five_kind kinds[] = {SV_FIVE_HEARD, SV_FIVE_DONE, SV_FIVE_SUBSCRIBE,
                                         SV_FIVE_UNSUBSCRIBE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!(s->owes & OWES(kinds[i])))
            continue;
        s->owes &= ~OWES(kinds[i]);
        bool serial = kinds[i] == SV_FIVE_SUBSCRIBE || kinds[i] == SV_FIVE_UNSUBSCRIBE;
        *mail = (sv_five_mail){.kind = kinds[i],
                               .subscriber = s->number,
                               .epoch = serial ? 0 : s->epoch,
                               .serial = serial ? s->serial : 0};
        return true;
    }
    return false;
}

/* ---- time ---- */

static void say_farewell(sv_five_subscriber *s, uint64_t now)
{
    if (s->farewells == 0 || now < s->again)
        return;
    s->farewells--;
    s->again = sv__after(now, s->options.retry);
    if (s->farewells > 0)
        s->owes |= OWES(SV_FIVE_UNSUBSCRIBE);
}

void sv_five_subscriber_tick(sv_five_subscriber *s, uint64_t now)
{
    if (!s->begun) {
        say_farewell(s, now);
        return;
    }
    if (/*~fence_none*/ s->member && !s->fenced && now >= s->fence) {
        s->fenced = true;
        settle(s, now);
    }
    if (s->asking && now >= s->again) {
        if (/*~round_ends*/ s->options.lease > 0 && now - s->first >= sv__third(&s->options))
            begin_round(s, now);
        else
            subscribe(s, now);
    } else if (!s->asking && now >= s->renew) {
        if (s->options.lease > 0 || s->place == SV_FIVE_ON_HIGH)
            begin_round(s, now);
        else
            s->renew = UINT64_MAX;
    }
    if (/*~done_once*/ now >= s->done) {
        s->owes |= OWES(SV_FIVE_DONE);
        s->done = sv__after(now, s->options.retry);
    }
}

uint64_t sv_five_subscriber_due(const sv_five_subscriber *s)
{
    if (!s->begun)
        return s->farewells > 0 ? s->again : UINT64_MAX;
    uint64_t due = sv__sooner(s->asking ? s->again : s->renew, s->done);
    return s->member && !s->fenced ? sv__sooner(due, s->fence) : due;
}

/* ---- the rest ---- */

sv_five_place sv_five_subscriber_place(const sv_five_subscriber *s)
{
    return s->place;
}

sv_status sv_five_subscriber_new(sv_ctx *ctx, uint32_t number, const sv_five_options *options,
                                 sv_five_subscriber **subscriber)
{
    SV_TRY(sv__five_check(ctx, options));
    sv_five_subscriber *s = sv_alloc(ctx, 1, sizeof *s);
    if (s == NULL)
        return SV_NO_MEMORY;
    s->ctx = ctx;
    s->options = *options;
    s->number = number;
    s->noted = true;
    s->again = s->renew = s->fence = s->done = UINT64_MAX;
    *subscriber = s;
    return SV_OK;
}

void sv_five_subscriber_free(sv_five_subscriber *s)
{
    if (s != NULL)
        sv_release(s->ctx, s);
}
