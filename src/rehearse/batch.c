/*
 * batch.c: datagrams from the manager to nodes, a batch at a time.
 *
 * A datagram takes a drawn time each way, or gets lost either way. What is not answered after
 * `retry` is sent again. A node does what a datagram says when it gets there, every time; of one
 * that tells a terminal to be silent the answer goes out when nothing of that is under way any more
 * (it is repeated meanwhile; how often has no limit).
 *
 * Invariant: when a batch is over no datagram of it is under way, so a late second copy never
 * undoes what the next batch did: where something was sent twice, that is the longest delay after
 * the last sending. (Subnets have a longest life of packets; a manager who knows it can do so.)
 *
 * Cost: O(log n) a datagram.
 */
#include "rehearse/trial.h"

void sv__batch_clear(sv__trial *x)
{
    sv__batch *b = &x->batch;
    b->items.length = 0;
    b->number++;
    b->next = b->waiting = b->answered = 0;
    b->repeated = b->failed = false;
    b->last_sent = 0;
}

sv_status sv__batch_add(sv__trial *x, sv__item_kind kind, sv_node node, uint32_t block)
{
    return sv_array_push(x->ctx, &x->batch.items,
                         (sv__item){.kind = kind, .node = node, .block = block});
}

/* One datagram, and the time after which it is sent again. */
static void send(sv__trial *x, uint32_t i)
{
    sv__batch *b = &x->batch;
    sv__item *item = &b->items.at[i];
    x->report->again += item->tries > 0;
    b->repeated |= item->tries > 0;
    item->tries++;
    b->last_sent = x->now;
    if (!sv__trial_lost(x))
        sv__trial_note(x, x->now + sv__trial_delay(x), SV__DUE_DELIVER, i, b->number, 0);
    sv__trial_note(x, x->now + x->q->retry, SV__DUE_RETRY, i, b->number, item->tries);
}

/* As many as the window allows; and when all are answered, that is that. */
static void go_on(sv__trial *x)
{
    sv__batch *b = &x->batch;
    while (b->next < b->items.length &&
           (x->q->window == 0 || b->waiting /*~window_more*/ < x->q->window)) {
        b->waiting++;
        send(x, b->next++);
    }
    if (b->answered < b->items.length)
        return;
    uint64_t quiet = /*~copy_late*/ b->repeated ? b->last_sent + x->q->delay_max + 1 : x->now;
    sv__trial_note(x, quiet > x->now ? quiet : x->now, SV__DUE_OVER, b->number, 0, 0);
}

sv_status sv__batch_send(sv__trial *x)
{
    go_on(x);
    return x->status;
}

void sv__batch_answer(sv__trial *x, uint32_t item)
{
    if (!sv__trial_lost(x))
        sv__trial_note(x, x->now + sv__trial_delay(x), SV__DUE_ANSWER, item, x->batch.number, 0);
}

static sv_status deliver(sv__trial *x, uint32_t i)
{
    sv__item *item = &x->batch.items.at[i];
    bool first = !item->there;
    item->there = true;
    if (item->kind == SV__SET_BLOCK) {
        SV_TRY(sv_sim_set_block(x->run, item->node, item->block, x->tables));
        x->report->blocks += /*~blocks_each*/ first;
    } else if (item->kind == SV__SET_VLS) {
        SV_TRY(sv_sim_set_sl2vl(x->run, item->node, x->after));
    } else {
        sv__terminal *t = &x->terminals[item->node.i - x->f->num_switches];
        t->item = i;
        if (first)
            sv__pairs_step(x, item->node.i - x->f->num_switches, item->block);
        /*~answer_early*/ if (t->draining > 0)
            return SV_OK;
        t->item = SV_NONE;
    }
    sv__batch_answer(x, i);
    return SV_OK;
}

static void settle_item(sv__trial *x)
{
    x->batch.waiting--;
    x->batch.answered++;
    go_on(x);
}

sv_status sv__batch_due(sv__trial *x, const sv__due *due)
{
    if (due->kind == SV__DUE_OVER)
        return due->a == x->batch.number ? sv__scene_next(x) : SV_OK;
    if (due->b != x->batch.number && due->kind == SV__DUE_DELIVER)
        return sv_fail(x->ctx, SV_BAD_INPUT, "a datagram has outlived its batch");
    if (due->b != x->batch.number)
        return SV_OK;
    sv__item *item = &x->batch.items.at[due->a];
    if (due->kind == SV__DUE_DELIVER)
        return deliver(x, due->a);
    if (item->answered || (due->kind == SV__DUE_RETRY && due->c != item->tries))
        return SV_OK;
    if (due->kind == SV__DUE_ANSWER) {
        item->answered = true;
        settle_item(x);
    } else if (item->kind != SV__TELL_STEP && /*~switch_ever*/ x->q->tries > 0 &&
               item->tries >= x->q->tries) {
        item->answered = x->batch.failed = true; /* nobody waits for it any more */
        settle_item(x);
    } else {
        /*~send_once*/ send(x, due->a);
    }
    return x->status;
}
