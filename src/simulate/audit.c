/*
 * audit.c: whether the simulator itself keeps what a lossless network promises: nothing lost,
 * nothing twice, packets of a flow in order.
 *
 * Nothing lost, nothing twice: each packet is a number (who sent it, and which of his it is) that
 * is mixed and added up where it is injected and where it arrives; at the end both sums are equal.
 * Order: the last packet of a flow that arrived is remembered in a table with one place for flows
 * of the same hash; a flow whose place another took in between is not judged there (the tests
 * compare every packet with the slow simulator). Where tables change, packets overtake each other,
 * and get lost: those who were dropped are added like those who arrived. With a policy it is data
 * packets that are added up, by their pair and their number there, and reorder.c keeps the order.
 *
 * Cost: O(1) a packet.
 */
#include "simulate/state.h"

enum { PLACES = 1 << 12 };

static uint64_t mix(uint64_t a)
{
    a = (a ^ (a >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    a = (a ^ (a >> 27)) * UINT64_C(0x94d049bb133111eb);
    return a ^ (a >> 31);
}

static uint64_t identity(uint32_t from, uint32_t serial)
{
    return mix(((uint64_t)from << 32 | serial) + 1);
}

sv_status sv__audit_init(sv__sim *x)
{
    x->seen = SV_ARENA_NEW(&x->arena, sv__flow, PLACES);
    return x->seen == NULL ? SV_NO_MEMORY : SV_OK;
}

void sv__audit_injected(sv__sim *x, uint32_t from, uint32_t serial)
{
    x->sum_in += identity(from, serial);
}

void sv__audit_gone(sv__sim *x, uint32_t from, uint32_t serial)
{
    x->sum_out += identity(from, serial);
}

sv_status sv__audit_arrived(sv__sim *x, const sv__packet *packet, const sv__cargo *cargo)
{
    uint64_t hash = mix((uint64_t)packet->from << 32 | packet->destination);
    sv__flow *place = &x->seen[hash & (PLACES - 1)];
    int32_t later = (int32_t)(cargo->serial - place->serial);
    x->sum_out += identity(packet->from, cargo->serial);
    /* Numbers go round: who was silent for thousands of millions of packets is not judged. */
    if (place->used && place->from == packet->from && place->destination == packet->destination &&
        later <= 0 && later > -(1 << 30))
        return sv_fail(x->ctx, SV_UNSUPPORTED,
                       "the simulator is wrong: a packet overtook one of its flow");
    *place = (sv__flow){packet->from, packet->destination, cargo->serial, true};
    return SV_OK;
}

sv_status sv__audit_end(const sv__team *team)
{
    uint64_t injected = 0, gone = 0, in = 0, out = 0;
    for (uint32_t i = 0; i < team->count; i++) {
        const sv__sim *x = &team->parts[i];
        injected += x->injected - x->control_injected;
        gone += x->arrived - x->control_arrived + x->dropped;
        in += team->parts[i].sum_in;
        out += team->parts[i].sum_out;
    }
    if (injected == gone && in != out)
        return sv_fail(team->parts[0].ctx, SV_UNSUPPORTED,
                       "the simulator is wrong: what arrived is not what was sent");
    return SV_OK;
}
