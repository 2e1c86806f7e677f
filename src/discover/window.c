/*
 * window.c: a window of questions.
 *
 * Idea: a slot for each question on the wire. The transaction that goes with a question holds the
 * number of its slot and a serial number, so an answer finds its slot at once and one that comes
 * too late, for a question that was asked again, finds nothing. Questions are put in order; answers
 * come as they like.
 *
 * A busy answer is treated like none: the slot waits for its time to be over and asks again.
 *
 * Invariants: a slot is free or holds a question that is on the wire; no deadline is before
 * next_deadline; each question is taken exactly once, unless ask said no.
 *
 * Cost: O(1) for each datagram, O(window) for each timeout.
 */
#include "discover/window.h"

enum { SLOT_BITS = 10, NEVER = 0 };

/* At least so often it is looked whether somebody wants to stop. */
static const uint64_t longest_wait_ns = 100000000;

struct slot {
    uint64_t question, deadline_ns;
    uint32_t transaction; /* NEVER: the slot is free */
    unsigned tries;
};

struct run {
    sv__window *w;
    const sv__questions *q;
    struct slot *slots;
    uint16_t *free; /* [num_free]: free slots */
    unsigned num_free;
    uint64_t next_question, done, next_deadline_ns;
};

static uint32_t new_transaction(sv__window *w, size_t slot)
{
    do
        w->serial++;
    while ((uint32_t)(w->serial << SLOT_BITS) == 0);
    return w->serial << SLOT_BITS | (uint32_t)slot;
}

static sv_status put(struct run *r, size_t slot, uint8_t *mad)
{
    struct slot *s = &r->slots[slot];
    s->transaction = new_transaction(r->w, slot);
    s->deadline_ns = sv_now_ns(r->w->ctx) + r->w->timeout_ns;
    if (r->next_deadline_ns > s->deadline_ns)
        r->next_deadline_ns = s->deadline_ns;
    r->w->sent++;
    r->w->again += s->tries++ > 0;
    sv__mad_set_transaction(mad, s->transaction);
    return r->w->wire->send(r->w->wire->user, mad);
}

/* Fills the window with the next questions. */
static sv_status fill(struct run *r)
{
    uint8_t mad[SV__MAD_BYTES];
    while (r->num_free > 0 && r->next_question < r->q->count) {
        uint64_t i = r->next_question++;
        if (!r->q->ask(r->q->user, i, mad)) {
            r->done++;
            continue;
        }
        unsigned slot = r->free[--r->num_free];
        r->slots[slot] = (struct slot){.question = i};
        SV_TRY(put(r, slot, mad));
    }
    return SV_OK;
}

static sv_status finish(struct run *r, size_t slot, const uint8_t *mad)
{
    r->slots[slot].transaction = NEVER;
    r->free[r->num_free++] = (uint16_t)slot;
    r->done++;
    return r->q->take(r->q->user, r->slots[slot].question, mad);
}

/* No answer in time: once more, or never. */
static sv_status retry(struct run *r, size_t slot)
{
    uint8_t mad[SV__MAD_BYTES];
    const struct slot *s = &r->slots[slot];
    if (s->tries >= r->w->tries || !r->q->ask(r->q->user, s->question, mad))
        return finish(r, slot, NULL);
    return put(r, slot, mad);
}

static sv_status retry_late(struct run *r)
{
    uint64_t now = sv_now_ns(r->w->ctx);
    if (now < r->next_deadline_ns)
        return SV_OK;
    r->next_deadline_ns = UINT64_MAX;
    for (size_t i = 0; i < r->w->size; i++) {
        if (r->slots[i].transaction == NEVER)
            continue;
        if (r->slots[i].deadline_ns <= now)
            SV_TRY(retry(r, i));
        else if (r->next_deadline_ns > r->slots[i].deadline_ns)
            r->next_deadline_ns = r->slots[i].deadline_ns;
    }
    return SV_OK;
}

static sv_status take(struct run *r, const sv__answer *answer)
{
    uint32_t transaction = sv__mad_transaction(answer->mad);
    size_t slot = transaction & ((1u << SLOT_BITS) - 1);
    if (slot >= r->w->size || r->slots[slot].transaction != transaction || transaction == NEVER)
        return SV_OK; /* too late, or somebody else's */
    if (answer->lost)
        return retry(r, slot);
    if (!sv__mad_is_answer(answer->mad) || sv__mad_is_busy(answer->mad))
        return SV_OK;
    return finish(r, slot, answer->mad);
}

static sv_status receive(struct run *r)
{
    sv__answer answer;
    bool got = false;
    uint64_t now = sv_now_ns(r->w->ctx), wait = longest_wait_ns;
    if (r->next_deadline_ns <= now)
        wait = 0;
    else if (r->next_deadline_ns - now < wait)
        wait = r->next_deadline_ns - now;
    SV_TRY(r->w->wire->receive(r->w->wire->user, wait, &answer, &got));
    return got ? take(r, &answer) : SV_OK;
}

static sv_status run(struct run *r)
{
    uint64_t told = 0;
    for (;;) {
        SV_TRY(fill(r));
        if (r->num_free == r->w->size)
            return SV_OK;
        SV_TRY(receive(r));
        SV_TRY(retry_late(r));
        if (r->done >= told || sv_cancelled(r->w->ctx)) {
            SV_TRY(sv_progress(r->w->ctx, r->q->what, r->done, r->q->count));
            told = r->done + 64;
        }
    }
}

sv_status sv__window_run(sv__window *w, const sv__questions *q)
{
    sv_arena arena;
    sv_arena_init(&arena, w->ctx);
    struct run r = {.w = w,
                    .q = q,
                    .slots = SV_ARENA_NEW(&arena, struct slot, w->size),
                    .free = SV_ARENA_NEW(&arena, uint16_t, w->size),
                    .num_free = w->size,
                    .next_deadline_ns = UINT64_MAX};
    sv_status status = r.slots == NULL || r.free == NULL ? SV_NO_MEMORY : SV_OK;
    for (unsigned i = 0; status == SV_OK && i < w->size; i++)
        r.free[i] = (uint16_t)(w->size - 1 - i);
    if (status == SV_OK)
        status = run(&r);
    sv_arena_release(&arena);
    return status;
}
