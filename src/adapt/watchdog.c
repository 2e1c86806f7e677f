/*
 * watchdog.c: acknowledgements that are late (FR-DRB; point 9).
 *
 * A pair keeps its messages that are not acknowledged, in their order; its watchdog is that of the
 * oldest of them. All pairs that wait are in one heap by time. An acknowledgement does not touch
 * the heap: a pair stays in it until its time comes, and is put back in if a younger message is the
 * oldest by then. So a message costs O(1), but for the first of a pair that was idle.
 *
 * Invariant: a pair with messages that are not acknowledged is in the heap (armed), once, at no
 * later time than its watchdog's.
 */
#include "adapt/balance.h"

/* ---- the heap ---- */

static bool before(const sv__alarm *a, const sv__alarm *b)
{
    return a->time != b->time ? a->time < b->time : a->pair < b->pair;
}

static sv_status put(sv__balance *b, sv__alarm alarm)
{
    SV_TRY(sv_array_push(b->a->ctx, &b->alarms, alarm));
    sv__alarm *at = b->alarms.at;
    size_t i = b->alarms.length - 1;
    for (; i > 0 && before(&alarm, &at[(i - 1) / 2]); i = (i - 1) / 2)
        at[i] = at[(i - 1) / 2];
    at[i] = alarm;
    return SV_OK;
}

static void take_first(sv__balance *b)
{
    sv__alarm *at = b->alarms.at;
    const sv__alarm last = at[--b->alarms.length];
    size_t length = b->alarms.length, i = 0;
    for (size_t k = 1; k < length; k = 2 * i + 1) {
        k += k + 1 < length && before(&at[k + 1], &at[k]);
        if (!before(&at[k], &last))
            break;
        at[i] = at[k];
        i = k;
    }
    if (length > 0)
        at[i] = last;
}

/* ---- messages of a pair ---- */

static sv_status push(sv_ctx *ctx, sv__outstanding *o, sv__sent sent)
{
    if (o->count == o->room) {
        uint32_t room = o->room == 0 ? 8 : 2 * o->room;
        sv__sent *at = sv_alloc(ctx, room, sizeof *at);
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

sv_status sv__watchdog_sent(sv__balance *b, sv_sim_stage *stage, uint32_t pair, uint64_t now,
                            uint64_t span)
{
    sv__outstanding *o = &b->pairs.at[pair]->sent;
    if (o->count == 0)
        o->serial = b->pairs.at[pair]->serial;
    SV_TRY(push(b->a->ctx, o, (sv__sent){.since = now, .span = span}));
    if (o->armed)
        return SV_OK;
    SV_TRY(put(b, (sv__alarm){now + span, pair}));
    o->armed = true;
    if (b->alarms.at[0].pair == pair)
        sv_sim_call(stage, now + span);
    return SV_OK;
}

void sv__watchdog_heard(sv__pair *p, uint32_t serial)
{
    sv__outstanding *o = &p->sent;
    uint32_t behind = (serial - o->serial) & 0xffffff;
    if (behind >= o->count)
        return;
    o->at[(o->first + behind) & (o->room - 1)].acknowledged = true;
    while (o->count > 0 && o->at[o->first].acknowledged) {
        o->first = (o->first + 1) & (o->room - 1);
        o->count--;
        o->serial++;
    }
}

/* A pair's time has come: it is late, or goes back into the heap. */
static sv_status look(sv__balance *b, uint32_t pair, uint64_t now)
{
    sv__pair *p = b->pairs.at[pair];
    sv__outstanding *o = &p->sent;
    o->armed = false;
    if (o->count == 0)
        return SV_OK;
    sv__sent *oldest = &o->at[o->first];
    if (oldest->since + oldest->span <= now) {
        b->a->report.watchdogs++;
        SV_TRY(sv__decide_late(b, p, now));
        for (uint32_t i = 0; i < o->count; i++)
            o->at[(o->first + i) & (o->room - 1)].since = now;
    }
    o->armed = true;
    return put(b, (sv__alarm){oldest->since + oldest->span, pair});
}

sv_status sv__watchdog_timer(void *user, sv_sim_stage *stage, uint64_t now, uint64_t *again)
{
    (void)stage;
    sv__balance *b = ((sv_adapt *)user)->state;
    while (b->alarms.length > 0 && b->alarms.at[0].time <= now) {
        uint32_t pair = b->alarms.at[0].pair;
        take_first(b);
        SV_TRY(look(b, pair, now));
    }
    *again = b->alarms.length > 0 ? b->alarms.at[0].time : SV_NEVER;
    return SV_OK;
}
