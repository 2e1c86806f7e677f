/*
 * adapter.c: where packets begin and end: messages are asked for, opened, cut into packets and
 * injected (rule 17), and packets are drained (rules 18, 19).
 *
 * The source is asked for one message more than is open, so that the time of the next is known.
 * When something arrives at an adapter whose source had nothing, the source is asked again.
 *
 * Cost: O(VLs in use) for each packet.
 */
#include "simulate/state.h"

/* ---- packets ---- */

uint32_t sv__packet_new(sv__sim *x)
{
    if (x->free_packet != SV_NONE) {
        uint32_t p = x->free_packet;
        x->free_packet = x->packets[p].next;
        return p;
    }
    if (x->num_packets == x->packets_room) {
        uint32_t room = x->packets_room == 0 ? 1024 : x->packets_room + x->packets_room / 2;
        sv__packet *packets = sv_resize(x->ctx, x->packets, room, sizeof *packets);
        if (packets == NULL)
            return SV_NONE;
        x->packets = packets;
        sv__cargo *cargo = sv_resize(x->ctx, x->cargo, room, sizeof *cargo);
        if (cargo == NULL)
            return SV_NONE;
        x->cargo = cargo;
        if (x->policy != NULL && sv__policy_room(x, room) != SV_OK)
            return SV_NONE;
        x->packets_room = room;
    }
    return x->num_packets++;
}

void sv__packet_free(sv__sim *x, uint32_t p)
{
    x->packets[p].next = x->free_packet;
    x->free_packet = p;
}

static uint32_t opened_new(sv__sim *x)
{
    if (x->free_opened != SV_NONE) {
        uint32_t i = x->free_opened;
        x->free_opened = x->opened[i].next;
        return i;
    }
    if (x->num_opened == x->opened_room) {
        uint32_t room = x->opened_room == 0 ? 256 : x->opened_room + x->opened_room / 2;
        sv__sim_open *opened = sv_resize(x->ctx, x->opened, room, sizeof *opened);
        if (opened == NULL)
            return SV_NONE;
        x->opened = opened;
        if (x->policy != NULL && sv__policy_open_room(x, room) != SV_OK)
            return SV_NONE;
        x->opened_room = room;
    }
    return x->num_opened++;
}

/* ---- messages ---- */

/* Asks the source for what a terminal sends next, unless that is known. */
static sv_status ask(sv__sim *x, uint32_t t)
{
    sv__adapter *a = &x->adapters[t];
    if (a->has_coming || a->idle)
        return SV_OK;
    uint64_t before = a->coming.ready;
    if (!x->source->next(x->source->user, t, &a->coming)) {
        a->coming.ready = before;
        a->idle = true;
        return SV_OK;
    }
    sv_node from = {x->f->num_switches + t};
    if (a->channel == SV_NONE)
        return sv_fail(x->ctx, SV_BAD_INPUT, "'%s' has a message to send and no cable",
                       sv_node_name(x->f, from));
    if (a->coming.destination >= x->r->num_destinations ||
        sv__is_switch(x, x->r->node[a->coming.destination].i) ||
        x->r->node[a->coming.destination].i == from.i)
        return sv_fail(x->ctx, SV_BAD_INPUT, "'%s' has a message for no other host",
                       sv_node_name(x->f, from));
    if (a->coming.ready < before)
        return sv_fail(x->ctx, SV_BAD_INPUT, "messages of '%s' are not in order of time",
                       sv_node_name(x->f, from));
    a->has_coming = true;
    x->pending++;
    return SV_OK;
}

static inline sv_status vl_of(sv__sim *x, uint32_t t, uint32_t destination, unsigned sl,
                              unsigned *vl)
{
    sv_node from = {x->f->num_switches + t};
    if (sl >= SV_MAX_SLS)
        return sv_fail(x->ctx, SV_BAD_INPUT, "the service level from '%s' to '%s' is not known",
                       sv_node_name(x->f, from), sv_node_name(x->f, x->r->node[destination]));
    *vl = sv_route_sl2vl(x->r, x->f, from, 0, x->f->port[x->adapters[t].channel])->of_sl[sl];
    if (*vl >= x->m->vls)
        return sv_fail(x->ctx, SV_BAD_INPUT, "'%s' has no VL for service level %u",
                       sv_node_name(x->f, from), sl);
    return SV_OK;
}

sv_status sv__adapter_vl(sv__sim *x, uint32_t t, uint32_t destination, unsigned sl, unsigned *vl)
{
    return vl_of(x, t, destination, sl, vl);
}

/* Puts an open message at the end of a VL's queue. */
static inline void join(sv__sim *x, uint32_t t, unsigned vl, uint32_t i)
{
    sv__queue *box = &x->outboxes[(size_t)t * x->m->vls + vl];
    x->opened[i].next = SV_NONE;
    if (box->first == SV_NONE)
        box->first = i;
    else
        /*~open_last*/ x->opened[box->last].next = i;
    box->last = i;
    x->adapters[t].vls |= (uint64_t)1 << vl;
}

/* Takes the first message out of a VL's queue. */
static inline uint32_t leave(sv__sim *x, uint32_t t, unsigned vl)
{
    sv__queue *box = &x->outboxes[(size_t)t * x->m->vls + vl];
    uint32_t i = box->first;
    box->first = x->opened[i].next;
    if (box->first == SV_NONE)
        x->adapters[t].vls &= ~((uint64_t)1 << vl);
    return i;
}

/* Opens what is ready, as much as may be open. */
static sv_status open_messages(sv__sim *x, uint32_t t)
{
    sv__adapter *a = &x->adapters[t];
    SV_TRY(ask(x, t));
    while (a->has_coming /*~open_early*/ && a->coming.ready <= x->now &&
           a->open /*~open_more*/ < x->m->open && !a->held) {
        sv_node from = {x->f->num_switches + t};
        sv_sim_message message = a->coming;
        unsigned sl = sv_route_sl(x->r, from, message.destination), vl;
        if (x->direction != NULL) {
            SV_TRY(sv__direct_open(x, t, &message, &sl));
            if (a->held)
                break;
        }
        uint32_t i = opened_new(x);
        if (i == SV_NONE)
            return SV_NO_MEMORY;
        x->opened[i] = (sv__sim_open){.message = message, .sl = (uint8_t)sl};
        SV_TRY(x->policy != NULL ? sv__policy_open(x, t, i, &vl)
                                 : vl_of(x, t, message.destination, sl, &vl));
        join(x, t, vl, i);
        a->open++;
        a->has_coming = false;
        x->result->messages++;
        SV_TRY(ask(x, t));
    }
    return SV_OK;
}

/* ---- injecting ---- */

static uint32_t payload_of(const sv__sim *x, const sv__sim_open *open)
{
    uint32_t left = open->message.bytes - open->sent;
    return left < x->m->mtu_bytes ? left : x->m->mtu_bytes;
}

/* Makes the next packet of an open message. SV_NONE: no memory. */
static uint32_t make_packet(sv__sim *x, uint32_t t, uint32_t i)
{
    sv__adapter *a = &x->adapters[t];
    sv__sim_open *open = &x->opened[i];
    uint32_t payload = payload_of(x, open), p = sv__packet_new(x);
    if (p == SV_NONE)
        return SV_NONE;
    open->injected = open->sent == 0 ? x->now : open->injected;
    open->sent += payload;
    x->packets[p] = (sv__packet){.destination = open->message.destination,
                                 .from = t,
                                 .length = (uint16_t)(payload + x->header),
                                 .sl = open->sl,
                                 .last = /*~last_full*/ open->sent == open->message.bytes};
    x->cargo[p] = (sv__cargo){.ready = open->message.ready,
                              .injected = open->injected,
                              .tag = open->message.tag,
                              .bytes = open->message.bytes,
                              .number = (uint32_t)x->injected++,
                              .serial = a->serial++};
    if (x->policy != NULL)
        sv__policy_injected(x, p, i);
    else
        sv__audit_injected(x, t, x->cargo[p].serial);
    return p;
}

static inline void take_link(sv__sim *x, uint32_t channel, unsigned vl, uint32_t length)
{
    sv__output *o = &x->outputs[channel];
    uint32_t blocks = sv__blocks(length);
    sv__credits *c = sv__credits_of(x, channel, vl);
    c->there -= blocks;
    c->need = 0;
    o->link_free = x->now + /*~adapter_inband*/ (uint64_t)(length + x->m->inband_bytes) * o->byte;
    o->entry_free = x->now + /*~inject_header*/ length * x->m->inject;
    x->min = blocks < x->min ? blocks : x->min;
    if (x->now >= x->result->from && x->now < x->result->until) {
        sv_sim_channel *of = &x->result->channels[channel];
        of->packets++;
        of->bytes += length;
    }
}

void sv__take_link(sv__sim *x, uint32_t channel, unsigned vl, uint32_t length)
{
    take_link(x, channel, vl, length);
}

/* The way of the next packet of a message that has begun is chosen anew (rule 28). */
static sv_status choose_again(sv__sim *x, uint32_t t, uint32_t i, unsigned vl)
{
    unsigned other;
    SV_TRY(sv__policy_choose(x, t, i, &other));
    if (/*~vl_stays*/ other != vl)
        join(x, t, other, leave(x, t, vl));
    return SV_OK;
}

static sv_status inject(sv__sim *x, uint32_t t, uint32_t channel, unsigned vl, uint64_t vls)
{
    uint32_t i = x->outboxes[(size_t)t * x->m->vls + vl].first, p = make_packet(x, t, i);
    if (p == SV_NONE)
        return SV_NO_MEMORY;
    const sv__packet *packet = &x->packets[p];
    bool again = /*~ask_once*/ !packet->last && x->policy != NULL && sv__policy_by_packet(x);
    if (packet->last) {
        leave(x, t, vl);
        x->opened[i].next = x->free_opened;
        x->free_opened = i;
        /*~open_first*/ x->adapters[t].open--;
        x->pending--;
    }
    sv__take_vl(x, channel, vl, vls, sv__blocks(packet->length));
    take_link(x, channel, vl, packet->length);
    if (x->now >= x->result->from && x->now < x->result->until)
        x->result->terminals[t].sent_bytes += packet->length - x->header;
    if (x->watch->injected != NULL)
        x->watch->injected(x->watch->user, x->cargo[p].number, t, x->cargo[p].tag, x->now);
    SV_TRY(sv__send(x, p, channel, vl, x->now, false));
    if (x->policy != NULL)
        sv__waiting_add(x, p, channel);
    return again ? choose_again(x, t, i, vl) : SV_OK;
}

/* The VLs whose first packet may be injected; else when to look again. */
static uint64_t injectable(sv__sim *x, uint32_t t, uint32_t channel, uint64_t *next)
{
    uint64_t vls = 0;
    for (uint64_t left = x->adapters[t].vls; left != 0; left &= left - 1) {
        unsigned vl = (unsigned)__builtin_ctzll(left);
        const sv__queue *box = &x->outboxes[(size_t)t * x->m->vls + vl];
        uint32_t payload = payload_of(x, &x->opened[box->first]);
        uint64_t when;
        if (sv__credits_there(x, channel, vl, sv__blocks(/*~credit_header*/ payload + x->header),
                              &when))
            vls |= (uint64_t)1 << vl;
        else
            *next = when < *next ? when : *next;
    }
    return vls;
}

sv_status sv__look_adapter(sv__sim *x, uint32_t channel)
{
    sv__output *o = &x->outputs[channel];
    uint32_t t = x->f->tail[channel].i - x->f->num_switches;
    sv__adapter *a = &x->adapters[t];
    uint64_t free = /*~inject_link*/ sv__max(o->link_free, o->entry_free), next = SV_NEVER, vls = 0;
    bool sent = false;
    if (free > x->now) {
        sv__events_plan(x, channel, free);
        return SV_OK;
    }
    /*~messages_first*/ /*~messages_open*/ if (x->policy != NULL)
        SV_TRY(sv__control_inject(x, t, channel, &sent, &next));
    if (/*~messages_first*/ !sent) {
        SV_TRY(open_messages(x, t));
        vls = injectable(x, t, channel, &next);
    }
    if (vls != 0)
        SV_TRY(inject(x, t, channel, /*~inject_min*/ sv__one_vl(x, channel, vls), vls));
    free = sv__max(o->link_free, o->entry_free);
    if (sent || vls != 0) {
        next = a->vls != 0 ? free : SV_NEVER;
        uint64_t control = x->policy != NULL ? sv__control_ready(x, t) : SV_NEVER;
        if (control < SV_NEVER)
            next = sv__max(control, free) < next ? sv__max(control, free) : next;
    }
    if (a->has_coming && /*~ready_waits*/ a->open < x->m->open) {
        uint64_t time = sv__max(a->coming.ready, free);
        next = time < next && !a->held ? time : next;
    }
    sv__events_plan(x, channel, next);
    return SV_OK;
}

sv_status sv__adapters_begin(sv__sim *x)
{
    const sv_fabric *f = x->f;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t};
        bool cabled = sv_node_alive(f, v) && sv_switch_of(f, v).i != SV_NONE;
        if (sv__elsewhere(x, v.i))
            continue;
        x->adapters[t].channel = cabled ? f->hops[f->first[v.i]].channel.i : SV_NONE;
        SV_TRY(ask(x, t));
        if (x->adapters[t].has_coming)
            sv__events_plan(x, x->adapters[t].channel, x->adapters[t].coming.ready);
    }
    return SV_OK;
}

/* ---- draining ---- */

sv_status sv__arrive(sv__sim *x, uint32_t from, const sv__cargo *cargo, uint32_t to, uint64_t time)
{
    sv__adapter *a = &x->adapters[to];
    if (x->source->arrived == NULL)
        return SV_OK;
    const sv_sim_arrival arrival = {.ready = cargo->ready,
                                    .injected = cargo->injected,
                                    .time = time,
                                    .from = from,
                                    .to = to,
                                    .bytes = cargo->bytes,
                                    .tag = cargo->tag};
    x->source->arrived(x->source->user, &arrival);
    if (a->has_coming && a->coming.ready > time && x->source->back != NULL) {
        x->source->back(x->source->user, to, &a->coming);
        a->has_coming = false;
        x->pending--;
        a->coming.ready = time;
    } else if (!a->idle) {
        return SV_OK;
    }
    /*~idle_asked*/ a->idle = false;
    SV_TRY(ask(x, to));
    if (a->has_coming)
        sv__events_plan(x, a->channel, sv__max(a->coming.ready, x->now));
    return SV_OK;
}

sv_status sv__drain(sv__sim *x, uint32_t p, uint32_t channel)
{
    const sv__packet *packet = &x->packets[p];
    const sv__cargo *cargo = &x->cargo[p];
    const sv__output *o = &x->outputs[channel];
    uint32_t to = o->head - x->f->num_switches, drain = (uint32_t)x->m->drain;
    if (x->r->node[packet->destination].i != o->head)
        return sv_fail(x->ctx, SV_BAD_INPUT, "a packet to '%s' ends at '%s'",
                       sv_node_name(x->f, x->r->node[packet->destination]),
                       sv_node_name(x->f, (sv_node){o->head}));
    uint64_t ready = packet->start + /*~drain_delay*/ sv__ready_after(x, packet->length, o->byte,
                                                                      /*~drain_pace*/ drain);
    uint64_t from = /*~drain_beside*/ sv__max(x->adapters[to].drained, ready);
    uint64_t end = sv__drained_at(x->m, from, (uint64_t)packet->length * drain);
    x->adapters[to].drained = /*~drain_early*/ end;
    SV_TRY(sv__credits_back(
        x, channel, packet->vl,
        (sv__ramp){.from = /*~drain_ready*/ from, .rate = drain, .length = packet->length}));
    if (x->policy != NULL)
        return sv__policy_drained(x, p, to, end);
    x->arrived++;
    x->last_arrival = sv__max(x->last_arrival, end);
    SV_TRY(x->direction != NULL ? sv__direct_arrived(x, p, to, end)
                                : sv__audit_arrived(x, packet, cargo));
    const sv__sim_late arrival = {end, *cargo, to, packet->length, true, packet->last};
    SV_TRY(sv__count_arrival(x, &arrival));
    if (x->watch->arrived != NULL)
        x->watch->arrived(x->watch->user, cargo->number, end);
    if (packet->last && x->source->arrived != NULL)
        SV_TRY(sv__arrive(x, packet->from, cargo, to, end));
    sv__packet_free(x, p);
    return SV_OK;
}
