/*
 * agenda.c: what is to happen in a rehearsal, and when; the lots of its datagrams.
 *
 * A heap by time; of what is due at the same time, that which was noted first comes first, so a
 * seed means the same run everywhere. What is noted while the simulator is busy with packets makes
 * it call, in the next tick at the earliest.
 *
 * Cost: O(log n) for each of n.
 */
#include "base/heap.h"
#include "rehearse/trial.h"

static bool before(const sv__due *a, const sv__due *b)
{
    return a->time != b->time ? a->time < b->time : a->serial < b->serial;
}

void sv__trial_fail(sv__trial *x)
{
    x->status = SV_NO_MEMORY;
    if (!x->acting && x->run != NULL)
        sv_sim_call(x->run, 0);
}

static void add(sv__trial *x, sv__due due)
{
    due.serial = x->serial++;
    if (sv_array_push(x->ctx, &x->agenda, due) != SV_OK) {
        sv__trial_fail(x);
        return;
    }
    sv_heap_rise(sv__due, &x->agenda, before);
    if (!x->acting && x->run != NULL)
        sv_sim_call(x->run, due.time);
}

void sv__trial_note(sv__trial *x, uint64_t time, sv__due_kind kind, uint32_t a, uint32_t b,
                    uint32_t c)
{
    add(x, (sv__due){.time = time, .kind = kind, .a = a, .b = b, .c = c});
}

void sv__trial_post(sv__trial *x, uint64_t time, sv__due_kind kind, const sv_five_mail *mail)
{
    add(x, (sv__due){.time = time, .kind = kind, .mail = *mail});
}

bool sv__trial_take(sv__trial *x, uint64_t now, sv__due *due)
{
    if (x->agenda.length == 0 || x->agenda.at[0].time > now)
        return false;
    *due = x->agenda.at[0];
    sv_heap_drop(sv__due, &x->agenda, before);
    return true;
}

bool sv__trial_lost(sv__trial *x)
{
    bool lost = x->q->loss > 0 && /*~loss_none*/ sv_rng_below(&x->rng, 1000) < x->q->loss;
    x->report->datagrams++;
    x->report->lost += lost;
    return lost;
}

uint64_t sv__trial_delay(sv__trial *x)
{
    uint64_t min = x->q->delay_min, max = x->q->delay_max;
    return min + (max > min ? sv_rng_below(&x->rng, max - min + 1) : /*~delay_longer*/ 0);
}
