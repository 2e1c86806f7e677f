/*
 * credits.c: blocks that become free one after the other, without an event for each.
 *
 * A packet that leaves a buffer at a constant rate frees block k at a time that follows from k. So
 * an output buffer, or a sender's credits, are a number of blocks and a few ramps, and when they
 * reach a number is arithmetic. Ramps are only looked at when blocks are lacking.
 *
 * Places in an output buffer become free in the order of its packets, since the link sends one at a
 * time; credits of a VL come back from several packets at a time.
 *
 * In band (rule 8), a credit for a block that became free while the other link sent a packet waits
 * for that packet's end. So at time t the credits are back whose blocks were free at z = t - delay,
 * or, if a packet was on the way at z, at its start; for that the last packets of each link are
 * kept (sv__line).
 *
 * Cost: linear in the ramps, which are as many as packets move at a time.
 */
#include <string.h>

#include "simulate/state.h"

/* ---- the clock of an adapter's bus ---- */

static uint64_t work_by(const sv_sim_model *m, uint64_t time)
{
    if (m->pause == 0)
        return time;
    uint64_t busy = m->period - m->pause, part = time % m->period;
    return time / m->period * busy + /*~pause_work*/ (part < busy ? part : busy);
}

uint64_t sv__drained_at(const sv_sim_model *m, uint64_t from, uint64_t ticks)
{
    if (/*~pause_none*/ m->pause == 0 || ticks == 0)
        return from + ticks;
    uint64_t busy = m->period - m->pause, work = work_by(m, from) + ticks;
    /* The first time at which that much is done: at the end of a busy part, not of the pause. */
    return /*~pause_edge*/ (work - 1) / busy * m->period + (work - 1) % busy + 1;
}

/* ---- one ramp ---- */

static uint64_t block_free(const sv_sim_model *m, const sv__ramp *ramp, uint32_t k, bool drain)
{
    uint64_t ticks = sv__block_end(ramp->length, k) * ramp->rate;
    return drain ? sv__drained_at(m, ramp->from, ticks) : ramp->from + ticks;
}

/* How many blocks of a ramp are free by a time. */
static uint32_t free_by(const sv_sim_model *m, const sv__ramp *ramp, uint64_t time, bool drain)
{
    if (time <= ramp->from)
        return 0;
    uint64_t done = drain ? work_by(m, time) - work_by(m, ramp->from) : time - ramp->from;
    if (done /*~block_late*/ >= /*~block_short*/ (uint64_t)ramp->length * ramp->rate)
        return sv__blocks(ramp->length);
    return (uint32_t)(done / ((uint64_t)SV__BLOCK * ramp->rate));
}

/* ---- output buffers ---- */

static sv__ramp *place_of(const sv__output *o, uint32_t i)
{
    return &o->buffer[(o->buffer_first + i) & (((uint32_t)1 << o->buffer_log) - 1)];
}

uint64_t sv__room(sv__sim *x, sv__output *o, uint32_t n)
{
    while (o->buffer_free < n && o->buffer_length > 0) {
        sv__ramp *ramp = place_of(o, 0);
        uint32_t by_now = free_by(x->m, ramp, x->now, false);
        o->buffer_free += by_now - ramp->taken;
        ramp->taken = (uint16_t)by_now;
        if (by_now < sv__blocks(ramp->length))
            break;
        o->buffer_first++;
        o->buffer_length--;
    }
    if (o->buffer_free >= n)
        return 0;
    uint32_t lacking = n /*~room_forget*/ - o->buffer_free;
    for (uint32_t i = 0;; i++) {
        const sv__ramp *ramp = place_of(o, i);
        uint32_t more = sv__blocks(ramp->length) - ramp->taken;
        if (more >= lacking)
            return block_free(x->m, ramp, ramp->taken + lacking, false);
        lacking -= more;
    }
}

/* Drops packets from the ring that have left. */
static void shorten(const sv__sim *x, sv__output *o)
{
    for (; o->buffer_length > 0; o->buffer_first++, o->buffer_length--) {
        const sv__ramp *ramp = place_of(o, 0);
        uint32_t n = sv__blocks(ramp->length);
        if (free_by(x->m, ramp, x->now, false) < n)
            return;
        o->buffer_free += n - ramp->taken;
    }
}

/* Makes room for twice as many packets in the ring (four at first). */
static sv_status widen(sv__sim *x, sv__output *o)
{
    uint8_t log = o->buffer == NULL ? 2 : (uint8_t)(o->buffer_log + 1);
    sv__ramp *at = sv_arena_raw(&x->arena, (size_t)1 << log, sizeof *at);
    if (at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < o->buffer_length; i++)
        at[i] = *place_of(o, i);
    o->buffer = at;
    o->buffer_first = 0;
    o->buffer_log = log;
    return SV_OK;
}

sv_status sv__room_take(sv__sim *x, sv__output *o, uint64_t start, uint32_t length)
{
    if (o->buffer == NULL || o->buffer_length >> o->buffer_log > 0) {
        shorten(x, o);
        if (o->buffer_length >= ((uint32_t)1 << o->buffer_log) / 2)
            SV_TRY(widen(x, o));
    }
    *place_of(o, o->buffer_length++) =
        (sv__ramp){.from = start, .rate = /*~room_cross*/ o->byte, .length = (uint16_t)length};
    o->buffer_free -= sv__blocks(length);
    return SV_OK;
}

/* ---- what a link sends, for credits in band ---- */

sv_status sv__line_add(sv__sim *x, uint32_t channel, uint64_t from, uint64_t until)
{
    sv__line *line = &x->lines[channel];
    uint64_t delay = x->m->credit + (uint64_t)x->m->inband_bytes * x->outputs[channel].byte;
    while (line->length > 0 && line->at[line->first].until /*~sent_forget*/ + delay < x->now) {
        line->first++;
        line->length--;
    }
    if (line->first + line->length == line->room) {
        uint32_t room = line->length < line->room / 2 ? line->room : 2 * line->room + 8;
        sv__sim_sent *at = line->at;
        if (room > line->room && (at = sv_arena_raw(&x->arena, room, sizeof *at)) == NULL)
            return SV_NO_MEMORY;
        if (line->length > 0)
            memmove(at, line->at + line->first, line->length * sizeof *at);
        *line = (sv__line){.at = at, .length = line->length, .room = room};
    }
    line->at[line->first + line->length++] = (sv__sim_sent){from, until};
    return SV_OK;
}

/* The packet that the other link of a channel's cable had on the way at a time, or NULL. */
static const sv__sim_sent *on_the_way(const sv__sim *x, uint32_t channel, uint64_t time)
{
    const sv__line *line = &x->lines[/*~inband_own*/ x->f->reverse[channel].i];
    for (uint32_t i = 0; i < line->length; i++) {
        const sv__sim_sent *sent = &line->at[line->first + i];
        if (sent->from /*~sent_start*/ <= time && time /*~sent_end*/ < sent->until)
            return sent;
    }
    return NULL;
}

/* ---- credits ---- */

static uint64_t delay_of(const sv__sim *x, uint32_t channel)
{
    if (x->lines == NULL)
        return x->m->credit;
    return x->m->credit /*~inband_time*/ +
           (uint64_t)x->m->inband_bytes * x->outputs[x->f->reverse[channel].i].byte;
}

/* Moves what is back by now into there. */
static void settle(sv__sim *x, uint32_t channel, sv__credits *c, bool drain)
{
    uint64_t delay = delay_of(x, channel);
    if (x->now < delay)
        return;
    uint64_t time = x->now - delay;
    const sv__sim_sent *sent =
        /*~inband_free*/ x->lines == NULL ? NULL : on_the_way(x, channel, time);
    time = sent != NULL ? sent->from : time;
    for (uint32_t i = 0; i < c->length;) {
        sv__ramp *ramp = &c->at[i];
        uint32_t by_now = free_by(x->m, ramp, time, drain);
        by_now = by_now < ramp->taken ? ramp->taken : by_now;
        c->there += by_now - ramp->taken;
        ramp->taken = (uint16_t)by_now;
        if (by_now < sv__blocks(ramp->length))
            i++;
        else
            c->at[i] = c->at[--c->length];
    }
}

/* How far ramps are at a time. */
struct stand {
    uint32_t have;   /* blocks that are free by then, beyond those taken */
    uint32_t active; /* ramps that have begun and are not done */
    uint64_t next;   /* when another begins */
};

static struct stand stand_at(const sv_sim_model *m, const sv__credits *c, uint64_t time, bool drain)
{
    struct stand s = {.next = SV_NEVER};
    for (uint32_t i = 0; i < c->length; i++) {
        const sv__ramp *ramp = &c->at[i];
        uint32_t k = free_by(m, ramp, time, drain);
        s.have += k > ramp->taken ? k - ramp->taken : 0;
        if (ramp->from > time)
            s.next = ramp->from < s.next ? ramp->from : s.next;
        else
            s.active += k < sv__blocks(ramp->length);
    }
    return s;
}

/*
 * A time not after the first at which lacking more blocks are free, as a rule that time; SV_NEVER:
 * not with what is known. From one stand to the next: not before one of the ramps at work has
 * freed its share of what lacks, or is done, or another begins.
 */
static uint64_t free_at(const sv_sim_model *m, const sv__credits *c, uint32_t lacking, bool drain,
                        uint64_t time)
{
    uint32_t more = 0;
    for (uint32_t i = 0; i < c->length; i++)
        more += sv__blocks(c->at[i].length) - c->at[i].taken;
    if (more /*~credit_just*/ < lacking)
        return SV_NEVER;
    if (c->length == 1)
        return block_free(m, &c->at[0], c->at[0].taken + lacking, drain);
    for (int round = 0; round < 8; round++) {
        struct stand s = stand_at(m, c, time, drain);
        if (s.have >= lacking)
            break;
        uint64_t min = s.next;
        uint32_t share =
            s.active == 0 ? 0 : /*~free_first*/ (lacking - s.have + s.active - 1) / s.active;
        for (uint32_t i = 0; i < c->length; i++) {
            const sv__ramp *ramp = &c->at[i];
            uint32_t n = sv__blocks(ramp->length), k = free_by(m, ramp, time, drain);
            if (ramp->from > time || k == n)
                continue;
            uint64_t then = block_free(m, ramp, n - k < share ? n : k + share, drain);
            min = then < min ? then : min;
        }
        time = min;
    }
    return time;
}

bool sv__credits_there(sv__sim *x, uint32_t channel, unsigned vl, uint32_t n, uint64_t *when)
{
    sv__credits *c = sv__credits_of(x, channel, vl);
    if (c->there >= n)
        return true;
    bool drain = /*~drain_pauses*/ !sv__is_switch(x, x->outputs[channel].head);
    settle(x, channel, c, drain);
    if (c->there >= n)
        return true;
    c->need = c->need == 0 || n /*~need_max*/ < c->need ? n : c->need;
    uint64_t delay = delay_of(x, channel);
    uint64_t time = free_at(x->m, c, n - c->there, drain, x->now < delay ? 0 : x->now - delay);
    if (time == SV_NEVER) {
        *when = SV_NEVER;
        return false;
    }
    if (x->lines != NULL) {
        uint64_t at = sv__max(time, x->now < delay ? 0 : x->now - delay);
        const sv__sim_sent *sent = on_the_way(x, channel, at);
        time = sent != NULL && sent->from < at ? sent->until : time;
    }
    *when = sv__max(time + delay, x->now + 1);
    return false;
}

sv_status sv__credits_back(sv__sim *x, uint32_t channel, unsigned vl, sv__ramp ramp)
{
    sv__credits *c = sv__credits_of(x, channel, vl);
    if (c->length == c->room) {
        settle(x, channel, c, !sv__is_switch(x, x->outputs[channel].head));
        if (c->length > c->room / 2) {
            uint32_t room = 2 * c->room;
            sv__ramp *at = sv_arena_raw(&x->arena, room, sizeof *at);
            if (at == NULL)
                return SV_NO_MEMORY;
            memcpy(at, c->at, c->length * sizeof *at);
            c->at = at;
            c->room = room;
        }
    }
    c->at[c->length++] = ramp;
    if (/*~need_none*/ c->need > 0) { /* somebody waits: when could that be enough? */
        uint64_t when;
        if (sv__credits_there(x, channel, vl, c->need, &when))
            when = x->now + 1;
        sv__events_plan(x, channel, when);
    }
    return SV_OK;
}
