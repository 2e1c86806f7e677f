/*
 * switch.c: packets from buffer to buffer, by the rules of docs/simulator.md.
 *
 * Idea: when an output grants a packet, everything about that hop is settled: when its blocks
 * cross, leave, arrive, and free their places. So the only event is that of looking at an output,
 * at a time at which it may grant something; and a packet is put into the queue of the next switch
 * at once, with the time from which on it may be granted there.
 *
 * Invariants: an output that has packets wanting it is planned for a time not after the first at
 * which one of them may be granted, as far as is known; what makes that earlier (a new first
 * packet, credits that come back) plans it anew, what makes it later is seen when it is looked at.
 *
 * Cost: between one and two looks for each packet and hop, each linear in the queues that want the
 * output.
 */
#include <string.h>

#include "simulate/state.h"

/* The queue of a packet that comes in by a channel on its VL and wants an output. */
static uint32_t queue_of(const sv__sim *x, uint32_t in, unsigned vl, uint32_t out)
{
    if (/*~voq_none*/ !x->m->voq)
        return x->first_queue[in] + vl;
    uint32_t s = x->outputs[in].head, first = x->first_port[s];
    return x->first_queue[in] /*~voq_vls*/ + vl * (x->first_port[s + 1] - first) + (out - first);
}

/* The way of an input port that is free first. */
static uint64_t *way_of(const sv__sim *x, uint32_t in)
{
    uint64_t *ways = x->ways + (size_t)in * x->m->ways, *way = ways;
    for (uint32_t i = 1; i < x->m->ways; i++)
        way = ways[i] /*~way_last*/ < *way ? &ways[i] : way;
    return way;
}

/* The first packet of a queue is a new one, from a time on: its output hears of it. */
static sv_status want(sv__sim *x, uint32_t q, uint32_t in, uint64_t since)
{
    const sv__packet *p = &x->packets[x->queues[q].first];
    const sv__output *from = &x->outputs[in];
    sv__output *o = &x->outputs[p->out];
    if (o->num_wants == o->wants_room) {
        uint16_t room = (uint16_t)(o->wants_room == 0 ? 4 : 2 * o->wants_room);
        sv__sim_want *wants = sv_arena_raw(&x->arena, room, sizeof *wants);
        if (wants == NULL)
            return SV_NO_MEMORY;
        if (o->num_wants > 0)
            memcpy(wants, o->wants, o->num_wants * sizeof *wants);
        o->wants = wants;
        o->wants_room = room;
        if (room > x->could_room) {
            x->could = sv_arena_raw(&x->arena, room, 1);
            x->could_room = room;
            if (x->could == NULL)
                return SV_NO_MEMORY;
        }
    }
    uint64_t ready = p->start /*~delay_none*/ + x->m->switch_delay +
                     sv__ready_after(x, p->length, from->byte, /*~ready_pace*/ o->cross);
    sv__sim_want *w = &o->wants[o->num_wants++];
    *w = (sv__sim_want){.ready = /*~first_early*/ sv__max(ready, since),
                        .queue = q,
                        .in = in,
                        .packet = x->queues[q].first,
                        .pair = /*~pair_vl*/ from->in_port * x->m->vls + p->vl,
                        .blocks = (uint16_t)sv__blocks(p->length),
                        .vl = p->out_vl,
                        .escape = /*~escape_vl*/ p->out_vl};
    if (p->control)
        /*~control_wants*/ x->controls[p->out]++;
    sv__events_plan(x, p->out, /*~look_late*/ sv__max(w->ready, o->entry_free));
    return SV_OK;
}

/* Where a packet goes on from the switch at the end of a channel. */
static sv_status find_way(sv__sim *x, uint32_t p, uint32_t over)
{
    if (x->direction != NULL)
        return sv__direct_way(x, p, over);
    sv__packet *packet = &x->packets[p];
    const sv__output *o = &x->outputs[over];
    sv_node at = {o->head};
    unsigned port = sv_route_port(x->r, at, packet->destination);
    uint32_t base = x->port_base[at.i];
    uint32_t out = base + port < x->port_base[at.i + 1] ? x->by_port[base + port] : SV_NONE;
    if (out == SV_NONE && port == 0 && x->policy != NULL)
        return sv__policy_turn(x, p, at);
    if (out == SV_NONE)
        return sv_fail(x->ctx, SV_BAD_INPUT, "switch '%s' has no way for a packet to '%s'",
                       sv_node_name(x->f, at), sv_node_name(x->f, x->r->node[packet->destination]));
    if (++packet->hops > x->max_hops)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "a packet to '%s' goes in a circle through switch '%s'",
                       sv_node_name(x->f, x->r->node[packet->destination]), sv_node_name(x->f, at));
    packet->out = out;
    packet->out_vl =
        /*~vl_kept*/ sv_route_sl2vl(x->r, x->f, at, /*~vl_in_port*/ o->in_port, port)
            ->of_sl[packet->sl];
    if (packet->out_vl >= x->m->vls)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "switch '%s' has no VL for service level %u from port %u to port %u",
                       sv_node_name(x->f, at), packet->sl, o->in_port, port);
    if (packet->segment > 0)
        /*~segment_vls*/ packet->out_vl += (uint8_t)(packet->segment * x->vl_step);
    return SV_OK;
}

sv_status sv__enqueue(sv__sim *x, uint32_t p, uint32_t channel)
{
    sv__packet *packet = &x->packets[p];
    if (packet->out == SV_NONE)
        return sv__direct_drop(x, p, channel);
    packet->next = SV_NONE;
    uint32_t q = queue_of(x, channel, packet->vl, packet->out);
    sv__queue *queue = &x->queues[q];
    if (queue->first == SV_NONE) {
        queue->first = queue->last = p;
        return want(x, q, channel, 0);
    }
    x->packets[queue->last].next = p;
    /*~queue_last*/ queue->last = p;
    return SV_OK;
}

sv_status sv__send(sv__sim *x, uint32_t p, uint32_t channel, unsigned vl, uint64_t start,
                   bool has_way)
{
    sv__packet *packet = &x->packets[p];
    packet->start = start;
    packet->vl = (uint8_t)vl;
    if (x->lines != NULL)
        SV_TRY(sv__line_add(x, channel, start,
                            start + /*~credit_inband*/ (uint64_t)packet->length *
                                        x->outputs[channel].byte));
    if (has_way)
        return sv__enqueue(x, p, channel);
    if (sv__elsewhere(x, x->outputs[channel].head))
        return sv__post_packet(x, p, channel);
    return sv__receive(x, p, channel);
}

sv_status sv__receive(sv__sim *x, uint32_t p, uint32_t channel)
{
    if (!sv__is_switch(x, x->outputs[channel].head))
        return sv__drain(x, p, channel);
    SV_TRY(find_way(x, p, channel));
    return sv__enqueue(x, p, channel);
}

/* ---- granting ---- */

/* Statistics of a grant, and whoever watches. How long it waited. */
static uint64_t count(sv__sim *x, const sv__packet *packet, uint32_t p, uint32_t in, uint32_t out,
                      unsigned vl, uint64_t start)
{
    const sv__output *o = &x->outputs[out];
    uint64_t ready = packet->start + x->m->switch_delay +
                     sv__ready_after(x, packet->length, x->outputs[in].byte, o->cross);
    uint64_t waited = x->now > ready ? x->now - ready : 0;
    if (start >= x->result->from && start < x->result->until) {
        sv_sim_channel *of = &x->result->channels[out];
        of->packets++;
        of->bytes += packet->length;
        of->waited += waited;
    }
    x->result->packet_hops++;
    if (x->plain)
        return waited;
    if (x->k->interval > 0)
        sv__count_cell(x, x->f->tail[out].i, packet->length, waited);
    if (x->watch->granted != NULL)
        x->watch->granted(x->watch->user, x->cargo[p].number, (sv_channel){out}, vl, x->now);
    return waited;
}

/* The end of a grant with a policy: what the packet came by gets its credits, unless it is port 0,
 * and whoever listens hears of it. */
static sv_status go_on(sv__sim *x, const sv__sim_want *w, uint32_t out, uint64_t start, unsigned vl,
                       sv__ramp ramp, uint64_t waited)
{
    bool here = sv__is_switch(x, x->outputs[out].head);
    if (x->load != NULL)
        sv__waiting_cut(x, w->packet, w->in, vl, out);
    if (/*~port_zero_credit*/ w->in < x->f->num_channels)
        SV_TRY(sv__credits_back(x, w->in, vl, ramp));
    /*~depart_before*/ SV_TRY(sv__send(x, w->packet, out, w->vl, start, here));
    if (here && x->load != NULL)
        sv__waiting_add(x, w->packet, out);
    return /*~depart_before*/ x->listens ? sv__policy_granted(x, w->packet, out, waited) : SV_OK;
}

/* What a policy needs of a packet that is granted, long before it is needed. */
static inline void fetch_ahead(const sv__sim *x, const sv__output *o, uint32_t p)
{
    if (x->listens)
        __builtin_prefetch(&x->waited[p]);
    if (x->policy != NULL && !sv__is_switch(x, o->head)) {
        __builtin_prefetch(&x->cargo[p]);
        __builtin_prefetch(&x->heads[p].destination);
    }
}

static sv_status grant(sv__sim *x, uint32_t out, uint32_t chosen, uint64_t vls)
{
    sv__output *o = &x->outputs[out];
    const sv__sim_want w = o->wants[chosen];
    sv__queue *queue = &x->queues[w.queue];
    uint32_t p = w.packet;
    const sv__packet packet = x->packets[p];
    bool here = sv__is_switch(x, o->head) && !sv__elsewhere(x, o->head);
    if (here) /* where it goes on there will be looked up: the line may come meanwhile */
        __builtin_prefetch(&x->r->ports[packet.destination][o->head]);
    __builtin_prefetch(sv__credits_of(x, w.in, packet.vl));
    if (packet.next != SV_NONE)
        __builtin_prefetch(&x->packets[packet.next]);
    fetch_ahead(x, o, p);
    uint64_t crossed = x->now + (uint64_t)packet.length * o->cross;
    uint64_t start =
        sv__max(o->link_free, /*~link_now*/ x->now + sv__block_end(packet.length, 1) * o->cross);
    *way_of(x, w.in) = /*~way_block*/ crossed;
    o->wants[chosen] = o->wants[--o->num_wants];
    if (packet.control)
        x->controls[out]--;
    queue->first = packet.next;
    sv__take_vl(x, out, w.vl, vls, w.blocks);
    /*~pair_vls*/ x->last_pair[(size_t)out * x->m->vls + w.vl] = w.pair;
    o->entry_free = /*~entry_link*/ crossed;
    o->link_free =
        start + /*~switch_inband*/ (uint64_t)(packet.length + x->m->inband_bytes) * o->byte;
    sv__credits *c = sv__credits_of(x, out, w.vl);
    c->there -= /*~grant_credit*/ w.blocks;
    /*~need_kept*/ c->need = 0;
    SV_TRY(sv__room_take(x, o, /*~room_now*/ start, packet.length));
    uint64_t waited = count(x, &packet, p, w.in, out, w.vl, start);
    if (queue->first != SV_NONE)
        SV_TRY(want(x, w.queue, w.in, x->now + 1));
    if (here) {
        SV_TRY(find_way(x, p, out));
        uint32_t next = x->packets[p].out;
        if (next != SV_NONE) {
            __builtin_prefetch(&x->queues[queue_of(x, out, w.vl, next)]);
            __builtin_prefetch(&x->outputs[next]);
        }
    }
    const sv__ramp ramp = {.from = /*~input_link*/ x->now,
                           .rate = /*~input_link*/ /*~input_pace*/ o->cross,
                           .length = packet.length};
    if (x->policy != NULL)
        return go_on(x, &w, out, start, packet.vl, ramp, waited);
    SV_TRY((sv__elsewhere(x, x->f->tail[w.in].i) ? sv__post_credits
                                                 : sv__credits_back)(x, w.in, packet.vl, ramp));
    return sv__send(x, p, out, w.vl, start, here);
}

/* Which of the wants that an output could grant now comes first in its VL (rule 16). */
static uint32_t first_in_vl(const sv__sim *x, uint32_t channel, unsigned vl)
{
    const sv__output *o = &x->outputs[channel];
    uint32_t last = x->last_pair[(size_t)channel * x->m->vls + vl], best = SV_NONE;
    uint64_t best_key = UINT64_MAX;
    for (uint32_t i = 0; i < o->num_wants; i++) {
        if (!x->could[i] || o->wants[i].vl != vl)
            continue;
        uint32_t pair = o->wants[i].pair;
        uint64_t key = pair + (/*~pair_none*/ last != SV_NONE && pair /*~pair_again*/ <= last
                                   ? (uint64_t)1 << 32
                                   : 0);
        if (key < best_key) {
            best_key = key;
            best = i;
        }
    }
    return best;
}

/* The wants that may be granted now, as flags, and their VLs; else when to look again. */
static uint64_t grantable(sv__sim *x, uint32_t channel, uint64_t *next)
{
    sv__output *o = &x->outputs[channel];
    uint64_t vls = 0, lacking = 0;
    for (uint32_t i = 0; i < o->num_wants; i++) {
        const sv__sim_want *w = &o->wants[i];
        __builtin_prefetch(&x->packets[w->packet]);
        __builtin_prefetch(&x->queues[w->queue]);
        uint64_t time = /*~way_any*/ w->ready > x->now ? w->ready : *way_of(x, w->in);
        x->could[i] = 0;
        if (/*~room_small*/ time <= x->now && o->buffer_free < w->blocks)
            time = sv__room(x, o, w->blocks);
        if (time <= x->now) {
            if (lacking >> w->vl & 1) /* and somebody has planned for it */
                continue;
            if (sv__credits_of(x, channel, w->vl)->there >= w->blocks ||
                sv__credits_there(x, channel, w->vl, w->blocks, &time)) {
                x->could[i] = 1;
                vls |= (uint64_t)1 << w->vl;
                continue;
            }
            if (/*~lack_all*/ w->blocks == x->min)
                lacking |= (uint64_t)1 << w->vl;
        }
        *next = time < *next ? time : *next;
    }
    return vls;
}

/* The same where there are adaptive VLs: which VL each of them stands for is found out now
 * (rule 27). */
static uint64_t grantable_adaptive(sv__sim *x, uint32_t channel, uint64_t *next)
{
    sv__output *o = &x->outputs[channel];
    uint64_t vls = 0, lacking = 0;
    for (uint32_t i = 0; i < o->num_wants; i++) {
        sv__sim_want *w = &o->wants[i];
        uint64_t time = sv__max(w->ready, *way_of(x, w->in));
        /*~adaptive_room*/ if (time <= x->now)
            time = sv__room(x, o, w->blocks);
        x->could[i] = time <= x->now && sv__stand_for(x, channel, w, &lacking, next);
        if (x->could[i])
            vls |= (uint64_t)1 << w->vl;
        else if (time > x->now)
            *next = time < *next ? time : *next;
    }
    return vls;
}

/* Blocks of the smallest packet that may want an output: control packets are small. */
static inline uint32_t min_of(const sv__sim *x, uint32_t channel)
{
    return x->controls == NULL || x->controls[channel] > 0 ? x->min : x->min_data;
}

sv_status sv__look(sv__sim *x, uint32_t channel)
{
    sv__output *o = &x->outputs[channel];
    uint64_t next = SV_NEVER;
    if (o->num_wants == 0)
        return SV_OK;
    uint64_t room = o->entry_free > x->now ? 0 : sv__room_for(x, o, min_of(x, channel));
    if (o->entry_free > x->now || room > x->now) {
        sv__events_plan(x, channel, sv__max(o->entry_free, room));
        return SV_OK;
    }
    uint64_t vls =
        x->adaptive > 0 ? grantable_adaptive(x, channel, &next) : grantable(x, channel, &next);
    if (vls == 0) {
        sv__events_plan(x, channel, next);
        return SV_OK;
    }
    unsigned vl = /*~vl_min*/ sv__one_vl(x, channel, vls);
    SV_TRY(grant(x, channel, first_in_vl(x, channel, vl), vls));
    if (o->num_wants > 0)
        sv__events_plan(x, channel, sv__max(o->entry_free, sv__room_for(x, o, min_of(x, channel))));
    return SV_OK;
}
