/*
 * watchdog.c: acknowledgements that are late (FR-DRB; point 9).
 *
 * A pair keeps its messages that are not acknowledged, in their order; its watchdog is that of the
 * oldest of them. All pairs that wait are in one heap by time. An acknowledgement seldom touches
 * the heap: a pair stays in it until its time comes, and is put back in if a younger message is the
 * oldest by then. Only where that has less time than the one before it (it is shorter) the pair is
 * put in once more; the entry that it had is none then. So a message costs O(1), but for the first
 * of a pair that was idle.
 *
 * Invariant: a pair with messages that are not acknowledged is armed, and in the heap at its alarm,
 * which is no later than its watchdog (or, where a message is late when it becomes the oldest, the
 * tick after that).
 */
#include "adapt/balance.h"
#include "base/heap.h"

/* ---- the heap ---- */

static bool before(const sv__alarm *a, const sv__alarm *b)
{
    return a->time != b->time ? a->time < b->time : a->pair < b->pair;
}

static sv_status put(sv__balance *b, sv__alarm alarm)
{
    SV_TRY(sv_array_push(b->a->ctx, &b->alarms, alarm));
    sv_heap_rise(sv__alarm, &b->alarms, before);
    return SV_OK;
}

/* ---- messages of a pair ---- */

static sv_status push(sv_ctx *ctx, sv__outstanding *o, sv__drb_sent sent)
{
    if (o->count == o->room) {
        uint32_t room = o->room == 0 ? 8 : 2 * o->room;
        sv__drb_sent *at = sv_alloc(ctx, room, sizeof *at);
        if (at == NULL)
            return SV_NO_MEMORY;
        for (uint32_t i = 0; i < o->count; i++)
            at[i] = o->at[(o->first + i) & (o->room - 1)];
        sv_release(ctx, o->at);
        o->at = at;
        o->first = 0;
        o->room = room;
    }
    o->at[(o->first + o->count++) & (o->room - 1)] = sent;
    return SV_OK;
}

/* Puts a pair into the heap, earlier than it is in it. */
static sv_status arm(sv__balance *b, sv_sim_run *stage, uint32_t pair, uint64_t time)
{
    sv__outstanding *o = &b->pairs.at[pair]->sent;
    SV_TRY(put(b, (sv__alarm){time, pair}));
    o->armed = true;
    o->alarm = time;
    if (b->alarms.at[0].pair == pair)
        sv_sim_call(stage, time);
    return SV_OK;
}

sv_status sv__watchdog_sent(sv__balance *b, sv_sim_run *stage, uint32_t pair, uint64_t now,
                            uint64_t span)
{
    sv__outstanding *o = &b->pairs.at[pair]->sent;
    if (o->count == 0)
        o->serial = b->pairs.at[pair]->serial;
    SV_TRY(push(b->a->ctx, o, (sv__drb_sent){.since = now, .span = span}));
    bool sooner =
        /*~alarm_all*/ o->count == 1 && now + span < o->alarm; /* than one that was acknowledged */
    return o->armed && !sooner ? SV_OK : arm(b, stage, pair, now + span);
}

sv_status sv__watchdog_heard(sv__balance *b, sv_sim_run *stage, uint32_t pair, uint64_t now,
                             uint32_t serial)
{
    sv__outstanding *o = &b->pairs.at[pair]->sent;
    uint32_t behind = (serial - o->serial) & 0xffffff;
    if (behind >= o->count)
        return SV_OK;
    o->at[/*~ack_oldest*/ (o->first + behind) & (o->room - 1)].acknowledged = true;
    while (o->count > 0 && o->at[o->first].acknowledged) {
        o->first = (o->first + 1) & (o->room - 1);
        o->count--;
        o->serial++;
    }
    if (o->count == 0)
        return SV_OK;
    uint64_t due = o->at[o->first].since + o->at[o->first].span;
    due = due > now ? due : now + 1;
    return /*~alarm_holds*/ due < o->alarm ? arm(b, stage, pair, due) : SV_OK;
}

/* A pair's time has come: it is late, or goes back into the heap. */
static sv_status look(sv__balance *b, const sv__alarm *alarm, uint64_t now)
{
    uint32_t pair = alarm->pair;
    sv__drb_pair *p = b->pairs.at[pair];
    sv__outstanding *o = &p->sent;
    if (!o->armed || o->alarm != alarm->time)
        return SV_OK; /* it was looked at earlier, or will be later */
    o->armed = false;
    if (o->count == 0)
        return SV_OK;
    sv__drb_sent *oldest = &o->at[o->first];
    if (oldest->since + oldest->span <= now) {
        b->a->report.watchdogs++;
        SV_TRY(sv__decide_late(b, p, now));
        for (uint32_t i = 0; i < /*~younger_alone*/ o->count; i++)
            o->at[(o->first + i) & (o->room - 1)].since = now;
    }
    o->armed = true;
    /*~alarm_once*/ o->alarm = oldest->since + oldest->span;
    return put(b, (sv__alarm){o->alarm, pair});
}

sv_status sv__watchdog_timer(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    (void)stage;
    sv__balance *b = ((sv_adapt *)user)->state;
    while (b->alarms.length > 0 && b->alarms.at[0].time <= now) {
        const sv__alarm alarm = b->alarms.at[0];
        sv_heap_drop(sv__alarm, &b->alarms, before);
        SV_TRY(look(b, &alarm, now));
    }
    *again = b->alarms.length > 0 ? b->alarms.at[0].time : SV_NEVER;
    return SV_OK;
}
