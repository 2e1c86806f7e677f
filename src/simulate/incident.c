/*
 * incident.c: what becomes of packets while tables change: dropped (rule 22), going in circles
 * (rule 23), overtaken (rule 24).
 *
 * Dropped: the packet is in no queue; its blocks become free as they come in, and it is gone at
 * once. Circles: each packet has a set of the switches it was sent to. Overtaken: for each pair of
 * terminals, the latest packet that has arrived; a packet before it comes too late. When a packet
 * arrives is known before it happens, so arrivals wait in a heap for their time: what is told and
 * counted is in order of time, and nothing of it is after the end of the run.
 *
 * Cost: for each packet and hop O(1), for each packet O(switches / 64 + log packets being drained).
 */
#include <string.h>

#include "base/bitset.h"
#include "base/heap.h"
#include "simulate/director.h"

static void tell(sv__sim *x, sv_sim_incident what, sv_sim_example which)
{
    if (x->result->incidents[what]++ == 0)
        x->result->example[what] = which;
    if (x->watch->incident != NULL)
        x->watch->incident(x->watch->user, what, &which);
}

static sv_sim_example example_of(const sv__sim *x, uint32_t p, sv_node at, sv_trace_end why)
{
    return (sv_sim_example){.time = x->now,
                            .packet = x->cargo[p].number,
                            .from = x->packets[p].from,
                            .destination = x->packets[p].destination,
                            .at = at,
                            .why = (uint8_t)why};
}

/* ---- circles ---- */

/* A packet comes to a switch. */
static sv_status visit(sv__sim *x, uint32_t p, sv_node at)
{
    sv__sim_direction *direction = x->direction;
    if (p >= direction->visited_room) {
        uint64_t *sets =
            sv_resize(x->ctx, direction->visited, x->packets_room * direction->words, sizeof *sets);
        if (sets == NULL)
            return SV_NO_MEMORY;
        direction->visited = sets;
        direction->visited_room = x->packets_room;
    }
    uint64_t *set = direction->visited + p * direction->words;
    if (/*~loop_before*/ x->packets[p].hops == 0)
        memset(set, 0, direction->words * sizeof *set);
    /*~loop_forgets*/ x->packets[p].hops = 1; /* that it has a set */
    if (sv_bit(set, at.i) /*~loop_every*/ && !sv_bit(set, x->f->num_switches)) {
        sv_bit_set(set, x->f->num_switches);
        tell(x, SV_SIM_LOOPED, example_of(x, p, at, SV_TRACE_LOOP));
    }
    sv_bit_set(set, at.i);
    return SV_OK;
}

/* ---- ways ---- */

static sv_trace_end look_up(const sv__sim *x, sv__packet *packet, uint32_t over)
{
    const sv__output *o = &x->outputs[over];
    sv_node at = {o->head};
    unsigned port = sv_route_port(x->r, at, packet->destination);
    uint32_t base = x->port_base[at.i];
    packet->out = SV_NONE;
    if (port == SV_NO_PORT)
        return SV_TRACE_NO_ENTRY;
    if (port == 0)
        return /*~port_zero*/ SV_TRACE_ASTRAY;
    uint32_t out = base + port < x->port_base[at.i + 1] ? x->by_port[base + port] : SV_NONE;
    if (out == SV_NONE)
        return SV_TRACE_DEAD_PORT;
    uint32_t to = x->outputs[out].head;
    if (/*~astray_taken*/ !sv__is_switch(x, to) && to != x->r->node[packet->destination].i)
        return SV_TRACE_ASTRAY;
    packet->out_vl =
        sv_route_sl2vl(x->r, x->f, at, /*~incident_in_port*/ o->in_port, port)->of_sl[packet->sl];
    if (packet->out_vl >= x->m->vls)
        return SV_TRACE_DISCARDED;
    packet->out = out;
    return SV_TRACE_ARRIVED;
}

sv_status sv__direct_way(sv__sim *x, uint32_t p, uint32_t over)
{
    sv_node at = {x->outputs[over].head};
    SV_TRY(visit(x, p, at));
    sv_trace_end end = look_up(x, &x->packets[p], over);
    if (end != SV_TRACE_ARRIVED)
        tell(x, SV_SIM_DROPPED, example_of(x, p, at, end));
    return SV_OK;
}

sv_status sv__direct_drop(sv__sim *x, uint32_t p, uint32_t channel)
{
    const sv__packet *packet = &x->packets[p];
    const sv__ramp ramp = {.from = packet->start /*~drop_cable*/ + x->m->cable,
                           .rate = /*~drop_start*/ x->outputs[channel].byte,
                           .length = packet->length};
    x->dropped++;
    sv__audit_gone(x, packet->from, x->cargo[p].serial);
    SV_TRY(sv__credits_back(x, channel, /*~drop_vl*/ packet->vl, ramp));
    sv__packet_free(x, p);
    return SV_OK;
}

/* ---- arrivals ---- */

static bool earlier(const sv__coming *a, const sv__coming *b)
{
    return a->time != b->time ? a->time < b->time : a->to < b->to;
}

void sv__direct_settle(sv__sim *x, uint64_t time)
{
    sv__sim_direction *direction = x->direction;
    while (direction->coming.length > 0 && direction->coming.at[0].time /*~late_tick*/ < time) {
        const sv__coming one = direction->coming.at[0];
        sv_heap_drop(sv__coming, &direction->coming, earlier);
        if (one.overtaken)
            tell(x, SV_SIM_OVERTAKEN,
                 (sv_sim_example){.time = one.time,
                                  .packet = one.packet,
                                  .from = one.from,
                                  .destination = one.destination,
                                  .at = {x->f->num_switches + one.to}});
    }
}

sv_status sv__direct_arrived(sv__sim *x, uint32_t p, uint32_t to, uint64_t time)
{
    sv__sim_direction *direction = x->direction;
    const sv__packet *packet = &x->packets[p];
    const sv__cargo *cargo = &x->cargo[p];
    uint64_t pair = /*~pair_sender*/ (uint64_t)packet->from << 32 | /*~pair_address*/ to;
    uint32_t latest;
    sv__audit_gone(x, packet->from, cargo->serial);
    SV_TRY(sv_map_add(&direction->latest, pair, cargo->serial, &latest));
    int32_t later = (int32_t)(cargo->serial - latest); /* numbers go round */
    if (later /*~late_last*/ > 0)
        sv_map_set(&direction->latest, pair, cargo->serial);
    sv__direct_settle(x, x->now);
    SV_TRY(sv_array_push(x->ctx, &direction->coming,
                         (sv__coming){.time = time,
                                      .to = to,
                                      .packet = cargo->number,
                                      .from = packet->from,
                                      .destination = packet->destination,
                                      .overtaken = later /*~late_first*/ < 0}));
    sv_heap_rise(sv__coming, &direction->coming, earlier);
    return SV_OK;
}
