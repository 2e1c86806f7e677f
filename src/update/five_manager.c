/*
 * five_manager.c: the subnet manager's side of the five phases.
 *
 * Idea: a list of applications, each with what it has answered in the present epoch, and a count
 * of those that have not. Every call changes the list, then `advance` looks whether the phase is
 * over. An epoch is odd in LEAVE and PROGRAM, even else; it changes when a phase begins in which
 * everybody is asked something.
 *
 * Invariants:
 * - Whoever has flows on base addresses is in the list; it leaves it by its own word, or when its
 *   lease is over, by which time it has left base addresses (five_subscriber.c). With `trust`, or
 *   when the caller says `gone`, it may leave it sooner.
 * - Somebody in the list who is neither ASKED nor HEARD in an odd epoch is not on base addresses:
 * it said so, or came in that epoch, and CONFIRM told it.
 * - Who has not answered UNPATH gets neither a confirmation nor more lease. The one without the
 *   other would be wrong: somebody confirmed goes on for longer than the manager waits; somebody
 *   who is given more lease, and hears nothing, is waited for without end.
 * - While somebody is missing, `due` is a time.
 *
 * Cost: a datagram O(log members), or O(members) of somebody new; a tick O(members). `due` is a
 * lower bound: it is worked out anew in ticks only.
 *
 * Source: thesis 5.2.3; rules: docs/decisions/0027-update.md.
 */
#include "update/five.h"

#define OWES(kind) (1u << (kind))

/* ---- the list ---- */

/* Where a number is, or would be. */
static size_t place_of(const sv_five_manager *m, uint32_t number)
{
    size_t low = 0, high = m->members.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->members.at[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static sv__five_member *find(sv_five_manager *m, uint32_t number)
{
    size_t at = place_of(m, number);
    bool there = at < m->members.length && m->members.at[at].number == number;
    return there ? &m->members.at[at] : NULL;
}

/* Somebody new, who has not subscribed yet. */
static sv_status add(sv_five_manager *m, const sv_five_mail *mail, sv__five_member **member)
{
    size_t at = place_of(m, mail->subscriber);
    SV_TRY(sv_array_reserve(m->ctx, &m->members, m->members.length + 1));
    for (size_t i = m->members.length++; i > at; i--)
        m->members.at[i] = m->members.at[i - 1];
    *member = &m->members.at[at];
    **member =
        (sv__five_member){.number = mail->subscriber, .serial = mail->serial, .state = SV__LEFT};
    return SV_OK;
}

static void remove_at(sv_five_manager *m, size_t at)
{
    for (size_t i = at; i + 1 < m->members.length; i++)
        m->members.at[i] = m->members.at[i + 1];
    m->members.length--;
    if (m->turn > at)
        m->turn--;
}

static bool is_missing(const sv__five_member *member)
{
    return member->state == SV__ASKED || member->state == SV__HEARD;
}

static void set_state(sv_five_manager *m, sv__five_member *member, sv__five_state state)
{
    m->missing -= is_missing(member);
    m->count.subscribers -= member->state != SV__LEFT;
    member->state = state;
    m->missing += is_missing(member);
    m->count.subscribers += state != SV__LEFT;
}

static void set_next(sv_five_manager *m, sv__five_member *member, uint64_t time)
{
    member->next = time;
    m->due = sv__sooner(m->due, time);
}

/* ---- phases ---- */

static void advance(sv_five_manager *m)
{
    if (m->missing > 0)
        return;
    if (m->phase == SV_FIVE_LEAVE)
        m->phase = SV_FIVE_PROGRAM;
    else if (m->phase == SV_FIVE_RETURN)
        m->phase = SV_FIVE_IDLE;
}

/* UNPATH or REPATH, as the epoch is. */
static void owe_ask(sv_five_manager *m, sv__five_member *member)
{
    m->count.again += member->times > 0 && !(member->owes & OWES(SV_FIVE_UNPATH));
    member->owes |= OWES(SV_FIVE_UNPATH);
}

/* It goes out, and again after a while. */
static void ask(sv_five_manager *m, sv__five_member *member, uint64_t now)
{
    owe_ask(m, member);
    member->times++;
    set_next(m, member, sv__after(now, m->options.retry));
}

/* A new epoch: everybody is told. What was to be noted of the old one is not of interest now. */
static void enter(sv_five_manager *m, sv_five_phase phase, uint64_t now)
{
    m->phase = phase;
    m->count.epoch++;
    for (size_t i = 0; i < m->members.length; i++) {
        sv__five_member *member = &m->members.at[i];
        if (member->state == SV__LEFT)
            continue;
        set_state(m, member, SV__ASKED);
        member->owes &= ~/*~noted_next*/ (OWES(SV_FIVE_NOTED) | OWES(SV_FIVE_UNPATH));
        member->times = 0;
        ask(m, member, now);
    }
    advance(m);
}

bool sv_five_manager_begin(sv_five_manager *m, uint64_t now)
{
    if (m->phase != SV_FIVE_IDLE)
        return false;
    m->count.updates++;
    enter(m, SV_FIVE_LEAVE, now);
    return true;
}

void sv_five_manager_programmed(sv_five_manager *m, uint64_t now)
{
    if (m->phase == SV_FIVE_PROGRAM)
        enter(m, SV_FIVE_RETURN, now);
}

void sv_five_manager_gone(sv_five_manager *m, uint32_t subscriber, uint64_t now)
{
    (void)now;
    sv__five_member *member = find(m, subscriber);
    if (member == NULL)
        return;
    set_state(m, member, SV__LEFT);
    remove_at(m, (size_t)(member - m->members.at));
    advance(m);
}

/* ---- datagrams ---- */

static sv_status subscribe(sv_five_manager *m, const sv_five_mail *mail, uint64_t now)
{
    sv__five_member *member = find(m, mail->subscriber);
    if (member == NULL) {
        SV_TRY(add(m, mail, &member));
        set_state(m, member, SV__DONE);
    } else if (member->state == SV__LEFT) {
        if (!sv__newer(mail->serial, member->serial))
            return SV_OK; /* from before it left */
        set_state(m, member, SV__DONE);
    } else if (/*~confirm_lease*/ member->state == SV__ASKED && m->phase == SV_FIVE_LEAVE) {
        /*~confirm_asked*/ owe_ask(m, member);
        return SV_OK;
    }
    if (/*~serial_newest*/ sv__newer(mail->serial, member->serial))
        member->serial = mail->serial;
    member->confirm = mail->serial;
    member->owes |= OWES(SV_FIVE_CONFIRM);
    /*~lease_renew*/ member->lease_end =
        m->options.lease == 0 ? UINT64_MAX : sv__after(now, m->options.lease);
    m->due = sv__sooner(m->due, member->lease_end);
    return SV_OK;
}

static sv_status unsubscribe(sv_five_manager *m, const sv_five_mail *mail)
{
    sv__five_member *member = find(m, mail->subscriber);
    if (member == NULL) {
        SV_TRY(add(m, mail, &member));
    } else if (/*~bye_earlier*/ member->state != SV__LEFT &&
               !sv__newer(mail->serial, member->serial)) {
        return SV_OK; /* of an earlier life */
    }
    set_state(m, member, SV__LEFT);
    if (sv__newer(mail->serial, member->serial))
        member->serial = mail->serial;
    member->confirm = mail->serial;
    member->owes = OWES(SV_FIVE_CONFIRM);
    /*~bye_waits*/ advance(m);
    return SV_OK;
}

/* Without end, whoever has heard is asked from time to time: it may have left unheard since. */
static uint64_t patience_of(const sv_five_manager *m)
{
    return m->options.patience > 0 ? m->options.patience : sv__all_tries(&m->options);
}

static void answer(sv_five_manager *m, const sv_five_mail *mail, uint64_t now)
{
    sv__five_member *member = find(m, mail->subscriber);
    if (member == NULL || member->state == SV__LEFT)
        return;
    if (/*~done_any*/ mail->epoch != m->count.epoch) {
        if (/*~done_older*/ mail->kind == SV_FIVE_DONE)
            owe_ask(m, member); /* it does not know of the present epoch */
    } else if (mail->kind == SV_FIVE_DONE) {
        member->owes |= OWES(SV_FIVE_NOTED);
        member->owes &= ~OWES(SV_FIVE_UNPATH);
        set_state(m, member, SV__DONE);
        advance(m);
    } else if (member->state == SV__ASKED) {
        member->owes &= ~OWES(SV_FIVE_UNPATH);
        /*~heard_done*/ set_state(m, member, SV__HEARD);
        set_next(m, member, sv__after(now, patience_of(m)));
    }
}

sv_status sv_five_manager_receive(sv_five_manager *m, const sv_five_mail *mail, uint64_t now)
{
    switch (mail->kind) {
    case SV_FIVE_SUBSCRIBE:
        return subscribe(m, mail, now);
    case SV_FIVE_UNSUBSCRIBE:
        return unsubscribe(m, mail);
    case SV_FIVE_HEARD:
    case SV_FIVE_DONE:
        answer(m, mail, now);
        return SV_OK;
    default:
        return SV_OK;
    }
}

bool sv_five_manager_next(sv_five_manager *m, sv_five_mail *mail)
{
    for (size_t tried = 0; tried < m->members.length; tried++) {
        if (m->turn >= m->members.length)
            m->turn = 0;
        sv__five_member *member = &m->members.at[m->turn];
        if (member->owes == 0) {
            m->turn++;
            continue;
        }
        sv_five_kind kind = member->owes & OWES(SV_FIVE_CONFIRM)  ? SV_FIVE_CONFIRM
                            : member->owes & OWES(SV_FIVE_UNPATH) ? SV_FIVE_UNPATH
                                                                  : SV_FIVE_NOTED;
        member->owes &= ~OWES(kind);
        bool odd = m->count.epoch & 1;
        *mail = (sv_five_mail){.kind = kind == SV_FIVE_UNPATH && !odd ? SV_FIVE_REPATH : kind,
                               .subscriber = member->number,
                               .epoch = /*~join_epoch*/ m->count.epoch,
                               .serial = kind == SV_FIVE_CONFIRM ? member->confirm : 0};
        m->count.sent++;
        if (member->state == SV__LEFT)
            remove_at(m, m->turn);
        return true;
    }
    return false;
}

/* ---- time ---- */

/* What becomes of somebody whose time is up. */
typedef enum fate { STAYS, IS_EXPELLED, ENDS_UPDATE } fate;

static fate fate_of(sv_five_manager *m, sv__five_member *member, uint64_t now)
{
    if (member->state == SV__LEFT)
        return STAYS;
    if (/*~heard_lease*/ now >= member->lease_end)
        return IS_EXPELLED;
    if (!is_missing(member) || now < member->next)
        return STAYS;
    bool leave = m->phase == SV_FIVE_LEAVE, heard = member->state == SV__HEARD;
    bool waits = /*~return_waits*/ leave && m->options.lease > 0 && !m->options.trust;
    if (heard && m->options.patience == 0) {
        /*~heard_asked*/ owe_ask(m, member);
        set_next(m, member, sv__after(now, patience_of(m)));
    } else if (!heard && (/*~unpath_once*/ member->times < m->options.tries || waits)) {
        ask(m, member, now);
    } else if (!leave) {
        set_state(m, member, SV__DONE); /* it is in nobody's way */
    } else {
        return /*~expel_late*/ !heard /*~expel_trust*/ && m->options.trust ? IS_EXPELLED
                                                                           : ENDS_UPDATE;
    }
    return STAYS;
}

void sv_five_manager_tick(sv_five_manager *m, uint64_t now)
{
    bool off = false;
    size_t kept = 0;
    for (size_t i = 0; i < m->members.length; i++) {
        sv__five_member *member = &m->members.at[i];
        fate end = fate_of(m, member, now);
        off |= end == ENDS_UPDATE;
        if (end == IS_EXPELLED) {
            set_state(m, member, SV__LEFT);
            m->count.expelled++;
        } else {
            m->members.at[kept++] = *member;
        }
    }
    m->members.length = kept;
    if (off) {
        m->count.called_off++;
        /*~goes_on*/ enter(m, SV_FIVE_RETURN, now);
    }
    advance(m);
    m->due = UINT64_MAX;
    for (size_t i = 0; i < kept; i++) {
        const sv__five_member *member = &m->members.at[i];
        if (member->state != SV__LEFT)
            m->due = sv__sooner(m->due, member->lease_end);
        if (is_missing(member))
            m->due = sv__sooner(m->due, member->next);
    }
}

uint64_t sv_five_manager_due(const sv_five_manager *m)
{
    return m->due;
}

/* ---- the rest ---- */

sv_five_phase sv_five_manager_phase(const sv_five_manager *m)
{
    return m->phase;
}

sv_five_count sv_five_manager_count(const sv_five_manager *m)
{
    return m->count;
}

sv_status sv__five_check(sv_ctx *ctx, const sv_five_options *options)
{
    if (options->retry == 0 || options->tries == 0)
        return sv_fail(ctx, SV_BAD_INPUT, "five phases: retry and tries must be more than 0");
    if (options->lease > 0 && options->margin >= options->lease - sv__third(options))
        return sv_fail(ctx, SV_BAD_INPUT,
                       "five phases: margin must be less than two thirds of lease");
    return SV_OK;
}

sv_status sv_five_manager_new(sv_ctx *ctx, const sv_five_options *options,
                              sv_five_manager **manager)
{
    SV_TRY(sv__five_check(ctx, options));
    sv_five_manager *m = sv_alloc(ctx, 1, sizeof *m);
    if (m == NULL)
        return SV_NO_MEMORY;
    m->ctx = ctx;
    m->options = *options;
    m->count.epoch = options->epoch + (options->epoch & 1);
    m->due = UINT64_MAX;
    *manager = m;
    return SV_OK;
}

void sv_five_manager_free(sv_five_manager *m)
{
    if (m == NULL)
        return;
    sv_array_release(m->ctx, &m->members);
    sv_release(m->ctx, m);
}
