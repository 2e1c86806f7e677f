/*
 * reorder.c: where packets arrive when a policy chooses their ways: in their tick, and delivered in
 * the order of their messages (rules 32 and 33).
 *
 * When a packet will have arrived is known when it is granted towards its terminal. If there is a
 * hook that hears of packets, it waits for its tick in its terminal's queue (of one terminal,
 * packets arrive in the order in which they come in); if there is none, it counts as arrived at
 * once, as in runs without a policy, since at one terminal the order is the same. Control packets
 * always wait: a run may end before they arrive.
 *
 * Packets that are early wait in a list of their pair, ordered by their numbers; their places among
 * x->packets are the list (next, and out for the one before; start is when it arrived).
 *
 * Cost: O(1) for each packet, and for one that is early O(packets of its pair that wait and have
 * larger numbers).
 */
#include "simulate/policy.h"

sv_status sv__pair_of(sv__sim *x, uint32_t from, uint32_t to, uint32_t *pair)
{
    sv__policy *k = x->policy;
    *pair = sv_cells_get(&k->pair_of, from, to);
    if (*pair != SV_ABSENT)
        return SV_OK;
    SV_TRY(sv_array_reserve(x->ctx, &k->pairs, k->pairs.length + 1));
    SV_TRY(sv_cells_add(&k->pair_of, from, to, (uint32_t)k->pairs.length, pair));
    k->pairs.at[k->pairs.length++] = (sv__pair){.first = SV_NONE, .last = SV_NONE};
    return SV_OK;
}

/* Puts an early packet into the list of its pair. */
static void keep(sv__sim *x, sv__pair *pair, uint32_t p)
{
    sv__packet *at = x->packets;
    uint32_t before = pair->last, number = x->heads[p].sequence;
    while (before != SV_NONE && x->heads[before].sequence - pair->due > number - pair->due)
        before = at[before].out;
    uint32_t after = before == SV_NONE ? pair->first : at[before].next;
    at[p].out = before;
    at[p].next = after;
    *(before == SV_NONE ? &pair->first : &at[before].next) = p;
    *(after == SV_NONE ? &pair->last : &at[after].out) = p;
}

/* Takes the first early packet of a pair out of the list. */
static uint32_t release(sv__sim *x, sv__pair *pair)
{
    uint32_t p = pair->first;
    pair->first = x->packets[p].next;
    *(pair->first == SV_NONE ? &pair->last : &x->packets[pair->first].out) = SV_NONE;
    return p;
}

/* A packet is delivered; its message with it, if it is the last one. */
static sv_status deliver(sv__sim *x, uint32_t p, uint32_t to, uint64_t time)
{
    const sv__cargo cargo = x->cargo[p];
    uint32_t from = x->packets[p].from;
    bool last = x->packets[p].last;
    x->policy->pairs.at[cargo.serial].due++;
    x->last_arrival = sv__max(x->last_arrival, time);
    sv__packet_free(x, p);
    return last ? sv__arrive(x, from, &cargo, to, time) : SV_OK;
}

/* What was early and is so no more is delivered. */
static sv_status catch_up(sv__sim *x, uint32_t pair, uint32_t to, uint64_t time)
{
    sv__policy *k = x->policy;
    for (;;) {
        sv__pair *of = &k->pairs.at[pair];
        if (of->first == SV_NONE || x->heads[of->first].sequence != of->due)
            return SV_OK;
        uint32_t p = release(x, of);
        const sv__packet *packet = &x->packets[p];
        k->early[to] -= packet->length - x->header;
        if (time < x->result->until)
            x->result->early_wait += time - packet->start;
        if (packet->last)
            SV_TRY(sv__count_arrival(
                x, &(sv__late){.time = time, .cargo = x->cargo[p], .to = to, .last = true}));
        SV_TRY(deliver(x, p, to, time));
    }
}

static void be_early(sv__sim *x, uint32_t p, uint32_t to, uint64_t time)
{
    sv__policy *k = x->policy;
    sv_sim_result *r = x->result;
    x->packets[p].start = time;
    k->early[to] += x->packets[p].length - x->header;
    if (time < r->until) {
        r->early++;
        r->early_most = sv__max(r->early_most, k->early[to]);
    }
    keep(x, &k->pairs.at[x->cargo[p].serial], p);
}

static sv_status hear(sv__sim *x, uint32_t p, uint32_t to)
{
    const sv_sim_policy *hooks = x->policy->hooks;
    sv_sim_head head = x->heads[p];
    return hooks->deliver(hooks->user, x, x->now, to, &head);
}

/* A data packet arrives at a time that is now, or that nobody waits for. */
static sv_status data_arrived(sv__sim *x, uint32_t p, uint32_t to, uint64_t time)
{
    const sv__packet *packet = &x->packets[p];
    uint32_t pair = x->cargo[p].serial, sequence = x->heads[p].sequence;
    bool due = sequence == x->policy->pairs.at[pair].due;
    const sv__late arrival = {time, x->cargo[p], to, packet->length, true, due && packet->last};
    x->arrived++;
    sv__audit_gone(x, pair, sequence);
    SV_TRY(sv__count_arrival(x, &arrival));
    if (x->watch->arrived != NULL)
        x->watch->arrived(x->watch->user, x->cargo[p].number, time);
    if (x->policy->hooks->deliver != NULL)
        SV_TRY(hear(x, p, to));
    if (!due) {
        be_early(x, p, to, time);
        return SV_OK;
    }
    SV_TRY(deliver(x, p, to, time));
    return catch_up(x, pair, to, time);
}

static sv_status control_arrived(sv__sim *x, uint32_t p, uint32_t to)
{
    x->arrived++;
    x->control_arrived++;
    x->result->arrived_packets++;
    if (x->watch->arrived != NULL)
        x->watch->arrived(x->watch->user, x->cargo[p].number, x->now);
    if (x->policy->hooks->deliver != NULL)
        SV_TRY(hear(x, p, to));
    sv__packet_free(x, p);
    return SV_OK;
}

sv_status sv__policy_drained(sv__sim *x, uint32_t p, uint32_t to, uint64_t time)
{
    sv__packet *packet = &x->packets[p];
    sv__queue *box = &x->policy->inboxes[to];
    if (!x->policy->queued && !packet->control)
        return data_arrived(x, p, to, time);
    packet->start = time;
    packet->next = SV_NONE;
    if (box->first == SV_NONE) {
        box->first = p;
        sv__events_arrival(x, to, time);
    } else {
        x->packets[box->last].next = p;
    }
    box->last = p;
    return SV_OK;
}

sv_status sv__policy_arrived(sv__sim *x, uint32_t to)
{
    sv__queue *box = &x->policy->inboxes[to];
    uint32_t p = box->first;
    box->first = x->packets[p].next;
    if (box->first != SV_NONE)
        sv__events_arrival(x, to, x->packets[box->first].start);
    return x->packets[p].control ? control_arrived(x, p, to) : data_arrived(x, p, to, x->now);
}
