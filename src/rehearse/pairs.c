/*
 * pairs.c: who may send: pairs of a terminal and a destination, their silence and their addresses.
 *
 * A pair is a connection: it keeps the SL that it was told when it first sent, until it has been
 * silent for the sake of an update, or comes back from high addresses; then it asks again. Told is
 * the new SL as soon as the destination's first step begins.
 *
 * A pair that is silent opens no message. It is drained when all packets of all messages that it
 * has opened have arrived (or were dropped), and its sender knows: `ack` later. A terminal whose
 * next message is of a silent pair waits with all that comes after it: messages of a terminal are
 * in order.
 *
 * Invariants: `draining` of a terminal counts its pairs that are; a pair's turn tells whether a
 * noted end of draining is still meant.
 * Cost: O(1) a message; O(pairs of the terminal) when it is told something.
 */
#include "rehearse/trial.h"

sv_status sv__pairs_init(sv__trial *x)
{
    uint32_t n = x->f->num_terminals;
    x->terminals = SV_ARENA_NEW(&x->arena, sv__terminal, (size_t)n + 1);
    if (x->terminals == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < n; t++) {
        x->terminals[t].first = x->terminals[t].item = SV_NONE;
        x->terminals[t].application = SV_NONE;
    }
    return SV_OK;
}

/* The steps in which the plan wants a pair to be silent. */
static void look_up_span(const sv__trial *x, sv__rehearse_pair *pair)
{
    uint32_t home = x->after->home[pair->from];
    uint64_t from = x->f->num_switches + pair->from;
    uint32_t i = sv_map_get(&x->plan_of, from << 32 | pair->destination);
    if (i == SV_ABSENT && home != SV_NONE)
        i = sv_map_get(&x->plan_of, (uint64_t)home << 32 | pair->destination);
    pair->from_step = i == SV_ABSENT ? SV_NONE : x->spans.at[i].from_step;
    pair->to_step = i == SV_ABSENT ? SV_NONE : x->spans.at[i].to_step;
}

/* Whether the steps that its terminal has heard of mean silence. */
static bool in_span(const sv__trial *x, const sv__rehearse_pair *pair)
{
    uint32_t at = x->terminals[pair->from].at;
    return at > 0 && pair->from_step != SV_NONE && pair->from_step < at &&
           at <= pair->to_step /*~silence_early*/ + 1;
}

/* Whether tables join a pair. */
static bool joins(const sv__trial *x, const sv_routes *r, const sv__rehearse_pair *pair)
{
    sv_node from = {x->f->num_switches + pair->from}, at;
    uint32_t hops;
    unsigned sl = sv_route_sl(r, from, pair->destination);
    return sv_routes_trace(x->f, r, from, pair->destination, sl, NULL, 0, &hops, &at) ==
           SV_TRACE_ARRIVED;
}

/* The pair of a message, which is made when it is the first. SV_NONE: no memory. */
static uint32_t pair_of(sv__trial *x, uint32_t t, uint32_t destination)
{
    uint32_t i, n = (uint32_t)x->pairs.length;
    sv__terminal *terminal = &x->terminals[t];
    if (sv_map_add(&x->pair_of, (uint64_t)t << 32 | destination, n, &i) != SV_OK)
        return SV_NONE;
    if (i < n)
        return i;
    sv__rehearse_pair pair = {.from = t,
                              .destination = destination,
                              .next = terminal->first,
                              .wanting = SV_NEVER,
                              .high = /*~left_base*/ terminal->high};
    look_up_span(x, &pair);
    pair.joined = joins(x, x->before, &pair) && joins(x, x->after, &pair);
    if (in_span(x, &pair)) {
        pair.silent = true;
        x->report->held++;
    }
    if (sv_array_push(x->ctx, &x->pairs, pair) != SV_OK)
        return SV_NONE;
    terminal->first = n;
    return n;
}

/* ---- opening ---- */

/* Whether whoever asks is told new SLs of a destination. */
static bool sls_are_new(const sv__trial *x, uint32_t d)
{
    const sv_update *plan = x->q->plan;
    if (x->begun == 0)
        return false;
    if (x->q->way == SV_REHEARSE_AT_ONCE || plan == NULL)
        return true;
    return plan->first_step[d] != SV_NONE && plan->first_step[d] < /*~sl_begin*/ x->begun;
}

static void ask_sl(const sv__trial *x, sv__rehearse_pair *pair)
{
    sv_node from = {x->f->num_switches + pair->from};
    unsigned old = sv_route_sl(x->before, from, pair->destination),
             new = sv_route_sl(x->after, from, pair->destination);
    unsigned sl = sls_are_new(x, pair->destination) ? new : old;
    if (sl == SV_NO_SL) /* a pair that has no path (yet, or any more) */
        sl = old != SV_NO_SL ? old : new != SV_NO_SL ? new : 0;
    pair->sl = (uint8_t)sl;
    pair->asks = false;
}

/* It may send: how long it had to wait. */
static void count_wait(sv__trial *x, sv__rehearse_pair *pair, uint64_t now)
{
    if (pair->wanting == SV_NEVER)
        return;
    uint64_t waited = now - pair->wanting;
    pair->wanting = SV_NEVER;
    /*~held_uncounted*/ x->report->held_sum += waited;
    x->report->held_max = waited > x->report->held_max ? waited : x->report->held_max;
}

bool sv__pairs_open(void *user, uint32_t t, uint64_t now, sv_sim_message *message, uint8_t *sl)
{
    sv__trial *x = user;
    if (x->terminals[t].outside || x->status != SV_OK)
        return false;
    uint32_t i = pair_of(x, t, message->destination);
    if (i == SV_NONE) {
        sv__trial_fail(x);
        return false;
    }
    sv__rehearse_pair *pair = &x->pairs.at[i];
    if (pair->silent) {
        pair->wanting = pair->wanting == SV_NEVER ? now : pair->wanting;
        return false;
    }
    count_wait(x, pair, now);
    pair->open++;
    if (/*~ask_message*/ !pair->sent || pair->asks)
        ask_sl(x, pair);
    pair->sent = true;
    message->destination += pair->high;
    *sl = pair->high ? (uint8_t)sv_route_sl(x->before, (sv_node){x->f->num_switches + t},
                                            message->destination)
                     : pair->sl;
    x->parcels.at[message->tag].pair = i;
    x->parcels.at[message->tag].destination = message->destination;
    return true;
}

/* ---- draining ---- */

static void note_drained(sv__trial *x, uint32_t i)
{
    const sv__rehearse_pair *pair = &x->pairs.at[i];
    uint64_t known = /*~ack_free*/ pair->sent ? pair->last + x->q->ack : 0;
    sv__trial_note(x, known > x->now ? known : x->now, SV__DUE_DRAINED, i, pair->turn, 0);
}

static void drain(sv__trial *x, uint32_t i)
{
    sv__rehearse_pair *pair = &x->pairs.at[i];
    pair->silent = pair->draining = true;
    pair->told = x->now;
    pair->turn++;
    x->terminals[pair->from].draining++;
    x->report->held++;
    if (/*~drained_told*/ pair->open == 0)
        note_drained(x, i);
}

void sv__pairs_arrived(sv__trial *x, uint32_t i)
{
    sv__rehearse_pair *pair = &x->pairs.at[i];
    if (--pair->open == 0 && pair->draining)
        note_drained(x, i);
}

void sv__pairs_step(sv__trial *x, uint32_t t, uint32_t step)
{
    sv__terminal *terminal = &x->terminals[t];
    terminal->at = step + 1 > terminal->at ? step + 1 : terminal->at;
    for (uint32_t i = terminal->first; i != SV_NONE; i = x->pairs.at[i].next) {
        sv__rehearse_pair *pair = &x->pairs.at[i];
        bool silent = in_span(x, pair);
        if (silent && !pair->silent) {
            drain(x, i);
        } else if (!silent && pair->silent) {
            pair->silent = false;
            /*~silent_sl*/ pair->asks = true;
        }
    }
    sv_sim_wake(x->run, t);
}

void sv__pairs_move(sv__trial *x, uint32_t t, bool high)
{
    sv__terminal *terminal = &x->terminals[t];
    terminal->high = high;
    for (uint32_t i = terminal->first; i != SV_NONE; i = x->pairs.at[i].next) {
        sv__rehearse_pair *pair = &x->pairs.at[i];
        if (pair->high != high && !pair->draining) {
            drain(x, i);
        } else if (pair->high == high && pair->draining) { /* it need not leave after all */
            pair->silent = pair->draining = false;
            pair->turn++;
            terminal->draining--;
        }
    }
    sv_sim_wake(x->run, t);
}

sv_status sv__pairs_drained(sv__trial *x, uint32_t i, uint32_t turn)
{
    sv__rehearse_pair *pair = &x->pairs.at[i];
    sv__terminal *terminal = &x->terminals[pair->from];
    if (!pair->draining || pair->turn != turn)
        return SV_OK;
    uint64_t took = pair->last > pair->told ? pair->last - pair->told : 0;
    x->report->drain_max = took > x->report->drain_max ? took : x->report->drain_max;
    pair->draining = false;
    terminal->draining--;
    if (x->q->way == SV_REHEARSE_FIVE) { /* a pair goes its own way */
        pair->high = terminal->high;
        /*~high_sl*/ pair->asks |= !pair->high;
        pair->silent = false;
        sv_sim_wake(x->run, pair->from);
        if (terminal->draining == 0)
            sv__apps_rank_done(x, pair->from);
    } else if (terminal->draining == 0 && terminal->item != SV_NONE) {
        sv__batch_answer(x, terminal->item);
        terminal->item = SV_NONE;
    }
    return x->status;
}
