/*
 * control.c: packets that a policy sends itself (rule 29).
 *
 * At a terminal they wait in a list by the times at which they are ready, then by the calls, and go
 * before packets of messages. At a switch they are in the queue of port 0 from the call on: an
 * input without credits, over a link that takes no time; its start is such that rule 11 comes to
 * the time at which the packet is ready (modulo 2^64). The sender of a packet is a terminal,
 * counted from 0; of a switch's packet it is the switch's number less the number of switches, so
 * that adding that gives the node for all.
 *
 * Cost: O(1) for each packet; where terminals' packets are not sent in the order in which they are
 * ready, O(packets that wait there).
 */
#include "simulate/policy.h"

static sv_status check(const sv__sim *x, sv_node from, uint32_t destination, uint32_t bytes,
                       uint64_t ready)
{
    if (x->policy == NULL)
        return sv_fail(x->ctx, SV_BAD_INPUT, "control packets are for policies");
    if (from.i >= sv_num_nodes(x->f) ||
        (!sv__is_switch(x, from.i) && x->adapters[from.i - x->f->num_switches].channel == SV_NONE))
        return sv_fail(x->ctx, SV_BAD_INPUT, "node %u sends a control packet and has no cable",
                       from.i);
    if (destination >= x->r->num_destinations || sv__is_switch(x, x->r->node[destination].i) ||
        x->r->node[destination].i == from.i)
        return sv_fail(x->ctx, SV_BAD_INPUT, "'%s' has a control packet for no other host",
                       sv_node_name(x->f, from));
    if (ready < x->now + sv__is_switch(x, from.i))
        return sv_fail(x->ctx, SV_BAD_INPUT, "a control packet of '%s' is ready in the past",
                       sv_node_name(x->f, from));
    if (bytes == 0 || bytes > UINT16_MAX)
        return sv_fail(x->ctx, SV_BAD_INPUT, "a control packet has 1 to 65,535 bytes, not %u",
                       bytes);
    if (sv__blocks(bytes) > x->m->input || sv__blocks(bytes) > x->m->output)
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "a control packet of %u blocks does not fit buffers of %u and %u",
                       sv__blocks(bytes), x->m->input, x->m->output);
    return SV_OK;
}

/* A control packet begins. SV_NONE: no memory. */
static uint32_t make(sv__sim *x, sv_node from, const sv__control *c)
{
    uint32_t p = sv__packet_new(x), blocks = sv__blocks(c->length);
    if (p == SV_NONE)
        return SV_NONE;
    uint64_t injected = /*~control_sent*/ sv__max(c->ready, x->now);
    x->packets[p] =
        (sv__packet){.start = injected /*~control_delay*/ - x->m->switch_delay - x->m->cable,
                     .destination = c->destination,
                     .from = from.i - x->f->num_switches,
                     .length = c->length,
                     .sl = c->sl,
                     .control = true};
    x->cargo[p] =
        (sv__cargo){.ready = c->ready, .injected = injected, .number = (uint32_t)x->injected++};
    x->heads[p] = (sv_sim_head){.way = {.mark = c->mark},
                                .from = from,
                                .destination = c->destination,
                                .bytes = c->length,
                                .injected = injected,
                                .note = /*~control_note*/ c->note,
                                .control = true};
    if (x->listens)
        x->waited[p] = 0;
    /*~control_small*/ x->min = blocks < x->min ? blocks : x->min;
    x->control_injected++;
    x->result->control_packets++;
    x->result->control_bytes += c->length;
    return p;
}

/* ---- of switches ---- */

static sv_status send_from_switch(sv__sim *x, sv_node from, const sv__control *c)
{
    sv__packet way = {.destination = c->destination};
    SV_TRY(sv__way_from(x, &way, from));
    uint32_t p = make(x, from, c);
    if (p == SV_NONE)
        return SV_NO_MEMORY;
    sv__packet *packet = &x->packets[p];
    packet->sl = /*~control_sl*/ way.sl;
    packet->out = way.out;
    packet->out_vl = way.out_vl;
    packet->hops = way.hops;
    SV_TRY(sv__enqueue(x, p, x->f->num_channels + from.i));
    sv__waiting_add(x, p, x->f->num_channels + from.i);
    return SV_OK;
}

/* ---- of terminals ---- */

static sv_status control_new(sv__sim *x, const sv__control *c, uint32_t *made)
{
    sv__policy *k = x->policy;
    if (k->free_control != SV_NONE) {
        *made = k->free_control;
        k->free_control = k->controls.at[*made].next;
        k->controls.at[*made] = *c;
        return SV_OK;
    }
    *made = (uint32_t)k->controls.length;
    return sv_array_push(x->ctx, &k->controls, *c);
}

/* Puts a control packet into its terminal's list. */
static void line_up(sv__policy *k, sv__queue *box, uint32_t i)
{
    sv__control *at = k->controls.at;
    at[i].next = SV_NONE;
    if (box->first == SV_NONE) {
        box->first = box->last = i;
    } else if (/*~control_calls*/ at[box->last].ready <= at[i].ready) {
        at[box->last].next = i;
        box->last = i;
    } else {
        uint32_t *link = &box->first;
        while (at[*link].ready /*~control_last*/ <= at[i].ready)
            link = &at[*link].next;
        at[i].next = *link;
        *link = i;
    }
}

static sv_status send_from_terminal(sv__sim *x, uint32_t t, sv__control *c)
{
    sv__policy *k = x->policy;
    unsigned sl = sv_route_sl(x->r, (sv_node){x->f->num_switches + t}, c->destination), vl;
    uint32_t i;
    SV_TRY(sv__adapter_vl(x, t, c->destination, sl, &vl));
    c->sl = (uint8_t)sl;
    c->vl = (uint8_t)vl;
    SV_TRY(control_new(x, c, &i));
    line_up(k, &k->outboxes[t], i);
    sv__events_plan(x, x->adapters[t].channel,
                    sv__max(c->ready, x->now /*~control_turn*/ + /*~control_tick*/ (t < k->turns)));
    return SV_OK;
}

sv_status sv_sim_send(sv_sim_run *x, sv_node from, uint32_t destination, uint32_t bytes,
                      uint64_t ready, uint32_t mark, uint32_t note)
{
    SV_TRY(check(x, from, destination, bytes, ready));
    sv__control c = {.ready = ready,
                     .destination = destination,
                     .mark = mark,
                     .note = note,
                     .length = (uint16_t)bytes};
    if (sv__is_switch(x, from.i))
        return send_from_switch(x, from, &c);
    return send_from_terminal(x, from.i - x->f->num_switches, &c);
}

uint64_t sv__control_ready(const sv__sim *x, uint32_t t)
{
    uint32_t i = x->policy->outboxes[t].first;
    return i == SV_NONE ? SV_NEVER : x->policy->controls.at[i].ready;
}

sv_status sv__control_inject(sv__sim *x, uint32_t t, uint32_t channel, bool *sent, uint64_t *next)
{
    sv__policy *k = x->policy;
    uint32_t i = k->outboxes[t].first;
    uint64_t when;
    if (i == SV_NONE)
        return SV_OK;
    const sv__control c = k->controls.at[i];
    bool may = false;
    if (/*~control_early*/ c.ready > x->now)
        when = c.ready;
    else
        may =
            /*~control_credit*/ sv__credits_there(x, channel, c.vl, sv__blocks(c.length), &when);
    if (!may) {
        *next = when < *next ? when : *next;
        return SV_OK;
    }
    k->outboxes[t].first = c.next;
    k->controls.at[i].next = k->free_control;
    k->free_control = i;
    uint32_t p = make(x, (sv_node){x->f->num_switches + t}, &c);
    if (p == SV_NONE)
        return SV_NO_MEMORY;
    /*~control_link*/ sv__take_link(x, channel, c.vl, c.length);
    if (x->watch->injected != NULL)
        x->watch->injected(x->watch->user, x->cargo[p].number, t, c.mark, x->now);
    *sent = true;
    SV_TRY(sv__send(x, p, channel, c.vl, x->now, false));
    sv__waiting_add(x, p, channel);
    return SV_OK;
}
