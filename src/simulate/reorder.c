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
 * Packets that are early wait in a ring of their pair, at the place of their number; their start is
 * when they arrived.
 *
 * Cost: O(1) for each packet. Memory: four bytes for each packet of a pair between the one that is
 * due and the last that is early, at the worst times two.
 */
#include <string.h>

#include "simulate/policy.h"

sv_status sv__pair_of(sv__sim *x, uint32_t from, uint32_t to, uint32_t *pair)
{
    sv__policy *k = x->policy;
    /*~pairs_source*/ *pair = sv_cells_get(&k->pair_of, from, to);
    if (*pair != SV_ABSENT)
        return SV_OK;
    SV_TRY(sv_array_reserve(x->ctx, &k->pairs, k->pairs.length + 1));
    SV_TRY(sv_cells_add(&k->pair_of, from, to, (uint32_t)k->pairs.length, pair));
    k->pairs.at[k->pairs.length++] = (sv__sim_pair){0};
    return SV_OK;
}

/* Makes the ring of a pair long enough for a packet so many numbers ahead of the one due. */
static sv_status widen(sv__sim *x, sv__sim_pair *pair, uint32_t ahead)
{
    uint32_t room = pair->room == 0 ? 8 : pair->room;
    while (room <= ahead && room < UINT32_MAX / 2)
        room *= 2;
    uint32_t *early = sv_alloc(x->ctx, room, sizeof *early);
    if (early == NULL)
        return SV_NO_MEMORY;
    memset(early, 0xff, room * sizeof *early);
    for (uint32_t i = 0; i < /*~ring_half*/ pair->room; i++) {
        uint32_t number = /*~ring_places*/ pair->due + i;
        early[number & (room - 1)] = pair->early[number & (pair->room - 1)];
    }
    x->policy->early_room += room - pair->room;
    sv_release(x->ctx, pair->early);
    pair->early = early;
    pair->room = room;
    return SV_OK;
}

/* Puts an early packet into the ring of its pair. */
static sv_status keep(sv__sim *x, sv__sim_pair *pair, uint32_t p)
{
    uint32_t number = x->heads[p].sequence, ahead = number - pair->due;
    if (ahead /*~ring_long*/ >= pair->room)
        SV_TRY(widen(x, pair, ahead));
    /*~early_order*/ pair->early[number & (pair->room - 1)] = p;
    return SV_OK;
}

/* Takes the packet of a pair that is due out of its ring; SV_NONE: it is not there yet. */
static uint32_t release(sv__sim_pair *pair)
{
    if (pair->room == 0)
        return SV_NONE;
    uint32_t *place = &pair->early[pair->due & (pair->room - 1)], p = *place;
    *place = SV_NONE;
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
        uint32_t p = release(&k->pairs.at[pair]);
        if (p == SV_NONE)
            return SV_OK;
        const sv__packet *packet = &x->packets[p];
        /*~early_bytes*/ k->early[to] -= packet->length - x->header;
        if (time < x->result->until)
            x->result->early_wait += time - packet->start;
        if (packet->last)
            SV_TRY(sv__count_arrival(
                x, &(sv__sim_late){.time = time, .cargo = x->cargo[p], .to = to, .last = true}));
        /*~early_one*/ SV_TRY(deliver(x, p, to, time));
    }
}

static sv_status be_early(sv__sim *x, uint32_t p, uint32_t to, uint64_t time)
{
    sv__policy *k = x->policy;
    sv_sim_result *r = x->result;
    x->packets[p].start = /*~early_since*/ time;
    k->early[to] += x->packets[p].length /*~early_header*/ - x->header;
    if (time < r->until) {
        r->early++;
        r->early_max = sv__max(r->early_max, k->early[to]);
    }
    return keep(x, &k->pairs.at[x->cargo[p].serial], p);
}

static sv_status hear(sv__sim *x, uint32_t p, uint32_t to)
{
    const sv_sim_policy *hooks = x->policy->hooks;
    sv_sim_head head = x->heads[p];
    head.waited = x->waited[p];
    return hooks->deliver(hooks->user, x, x->now, to, &head);
}

/* A data packet arrives at a time that is now, or that nobody waits for. */
static sv_status data_arrived(sv__sim *x, uint32_t p, uint32_t to, uint64_t time)
{
    const sv__packet *packet = &x->packets[p];
    uint32_t pair = x->cargo[p].serial, sequence = x->heads[p].sequence;
    bool due = /*~early_none*/ sequence == x->policy->pairs.at[pair].due;
    const sv__sim_late arrival = {time, x->cargo[p], to, packet->length, true, due && packet->last};
    x->arrived++;
    sv__audit_gone(x, pair, sequence);
    SV_TRY(sv__count_arrival(x, &arrival));
    if (x->watch->arrived != NULL)
        x->watch->arrived(x->watch->user, x->cargo[p].number, time);
    /*~hook_after*/ if (x->policy->hooks->deliver != NULL)
        SV_TRY(hear(x, p, to));
    if (!due)
        return be_early(x, p, to, time);
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
