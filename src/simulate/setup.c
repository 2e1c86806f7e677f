/*
 * setup.c: an empty fabric, ready to run: ports, buffers, credits, and the numbers of the model
 * checked.
 *
 * Cost: linear in channels, VLs and (with virtual output queues) ports of switches.
 */
#include <string.h>

#include "simulate/state.h"

sv_status sv__check_model(sv_ctx *ctx, const sv_sim_model *m, uint32_t header)
{
    if (m->mtu_bytes == 0 || m->header_bytes == 0 || (uint64_t)m->mtu_bytes + header > UINT16_MAX)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "MTU and header are 1 byte or more each, and not over 65,535 together");
    uint32_t blocks = sv__blocks(m->mtu_bytes + header);
    if (m->vls == 0 || m->vls > SV_MAX_VLS || m->ways == 0 || m->ways > 255 || m->speedup < 100)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "VLs are 1 to %d, ways 1 to 255, the speed-up 100 percent or more",
                       SV_MAX_VLS);
    if (m->credit == 0 || m->drain == 0 || m->open == 0)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "credits' delay, draining and open messages are 1 or more");
    if (m->drain > 1 << 24 || m->inject > 1 << 24 || m->byte_ticks > 1 << 24 || m->open > 1 << 20)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "a byte takes at most 2^24 ticks, and at most 2^20 messages are open");
    if (m->inband_bytes > UINT16_MAX || m->cable > UINT32_MAX || m->credit > UINT32_MAX ||
        m->switch_delay > UINT32_MAX)
        return sv_fail(ctx, SV_BAD_INPUT, "delays are below %lu ns", UINT32_MAX / 1800ul);
    if (m->pause > 0 && m->pause >= m->period)
        return sv_fail(ctx, SV_BAD_INPUT, "pauses are as long as what they are pauses of");
    if (m->input > UINT32_MAX / 2 || m->output > UINT32_MAX / 2)
        return sv_fail(ctx, SV_BAD_INPUT, "buffers are below 2^31 blocks");
    if (blocks > m->input || blocks > m->output)
        return sv_fail(ctx, SV_INFEASIBLE,
                       "a packet of %u blocks does not fit buffers of %u and %u", blocks, m->input,
                       m->output);
    return SV_OK;
}

uint64_t sv_sim_byte_ticks(const sv_link *link)
{
    static const uint16_t of_four[SV_SPEED_COUNT] = {450, 1800, 900, 450, 360,
                                                     264, 144,  72,  36,  18};
    unsigned width = link->width > 0 ? link->width : 4;
    uint64_t ticks =
        /*~width_4x*/ (uint64_t)of_four[link->speed < SV_SPEED_COUNT ? link->speed : 0] * 4 / width;
    return ticks > 0 ? ticks : 1;
}

/* Each VL that may be used must have a weight somewhere. */
static sv_status check_arbitration(const sv__sim *x, const sv_vlarb *v, const char *whose)
{
    for (uint32_t vl = 0; v->given && vl < x->m->vls; vl++) {
        bool found = false;
        for (unsigned i = 0; i < v->high.length; i++)
            found |= v->high.vl[i] == vl && v->high.weight[i] > 0;
        for (unsigned i = 0; i < v->low.length; i++)
            found |= v->low.vl[i] == vl && v->low.weight[i] > 0;
        if (!found)
            return sv_fail(x->ctx, SV_BAD_INPUT, "VL %u has no weight in the VL arbitration of %s",
                           vl, whose);
    }
    return SV_OK;
}

static sv_status init_turns(sv__sim *x)
{
    const sv_vlarb *ca = &x->r->vlarb[SV_VLARB_CA], *swe = &x->r->vlarb[SV_VLARB_SWE];
    if (!x->m->weighted || (!ca->given && !swe->given))
        return SV_OK;
    SV_TRY(check_arbitration(x, ca, "adapters"));
    SV_TRY(check_arbitration(x, swe, "switches"));
    x->turns = SV_ARENA_NEW(&x->arena, sv__turn, x->f->num_channels);
    if (x->turns == NULL)
        return SV_NO_MEMORY;
    for (uint32_t c = 0; c < x->f->num_channels; c++) {
        const sv_vlarb *v = x->f->tail[c].i < x->f->num_switches ? swe : ca;
        x->turns[c].high_left = /*~weight_first*/ v->high.length > 0 ? v->high.weight[0] : 0;
        x->turns[c].low_left = v->low.length > 0 ? v->low.weight[0] : 0;
    }
    return SV_OK;
}

static void init_outputs(sv__sim *x)
{
    const sv_fabric *f = x->f;
    for (uint32_t i = f->num_channels; i < x->num_inputs; i++) /* port 0 of a switch */
        x->outputs[i] = (sv__output){.head = i - f->num_channels};
    for (uint32_t c = 0; c < f->num_channels; c++) {
        const sv_link *link = sv_link_of(f, (sv_channel){c});
        uint64_t byte = sv_sim_byte_ticks(link);
        if (x->m->byte_ticks > 0) {
            unsigned width = link->width > 0 ? link->width : 4;
            byte = sv__max(1, x->m->byte_ticks * 4 / width);
        }
        uint64_t cross = /*~cross_link*/ 100 * byte / x->m->speedup;
        x->outputs[c] = (sv__output){.byte = (uint32_t)byte,
                                     .cross = /*~cross_zero*/ (uint32_t)sv__max(1, cross),
                                     .head = f->head[c].i,
                                     .in_port = f->port[/*~in_port_own*/ f->reverse[c].i],
                                     .last_vl = SV_NO_VL,
                                     .buffer_free = /*~output_size*/ x->m->output};
        for (uint32_t l = 0; l < x->m->vls; l++) {
            sv__credits *credits = sv__credits_of(x, c, l);
            credits->there = /*~credit_lacks*/ x->m->input;
            credits->at = credits->few;
            credits->room = 2;
        }
    }
}

/* Channels are numbered by the node they leave, then by port. */
static sv_status init_ports(sv__sim *x)
{
    const sv_fabric *f = x->f;
    uint32_t ports = 0;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        x->port_base[s] = ports;
        ports += f->switches[s].ports + 1u;
    }
    x->port_base[f->num_switches] = ports;
    x->by_port = SV_ARENA_NEW(&x->arena, uint32_t, ports);
    if (x->by_port == NULL)
        return SV_NO_MEMORY;
    memset(x->by_port, 0xff, ports * sizeof *x->by_port);
    for (uint32_t c = 0; c < f->num_channels; c++) {
        uint32_t s = f->tail[c].i;
        if (s >= f->num_switches)
            continue;
        x->first_port[s + 1] = c + 1;
        if (sv_channel_alive(f, (sv_channel){c}))
            x->by_port[x->port_base[s] + f->port[c]] = c;
    }
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (x->first_port[s + 1] < x->first_port[s])
            x->first_port[s + 1] = x->first_port[s];
    return SV_OK;
}

static sv_status init_queues(sv__sim *x)
{
    const sv_fabric *f = x->f;
    uint64_t queues = 0;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        x->first_queue[c] = (uint32_t)queues;
        uint32_t s = f->head[c].i;
        if (s < f->num_switches)
            queues +=
                (uint64_t)x->m->vls * (x->m->voq ? x->first_port[s + 1] - x->first_port[s] : 1);
        if (queues >= UINT32_MAX)
            break;
    }
    for (uint32_t i = f->num_channels; i < x->num_inputs; i++) { /* port 0 of switches: one VL */
        uint32_t s = i - f->num_channels;
        x->first_queue[i] = (uint32_t)queues;
        queues += /*~port_zero_queue*/ x->m->voq ? x->first_port[s + 1] - x->first_port[s] : 1;
    }
    if (queues >= UINT32_MAX)
        return sv_fail(x->ctx, SV_INFEASIBLE, "more than 2^32 queues: fewer VLs, or no VOQ");
    x->first_queue[x->num_inputs] = (uint32_t)queues;
    x->queues = sv_arena_raw(&x->arena, queues, sizeof *x->queues);
    if (x->queues == NULL)
        return SV_NO_MEMORY;
    memset(x->queues, 0xff, queues * sizeof *x->queues);
    return SV_OK;
}

sv_status sv__sim_init(sv__sim *x)
{
    const sv_fabric *f = x->f;
    size_t n = f->num_channels, inputs = x->num_inputs, vls = x->m->vls;
    size_t before = x->policy != NULL ? f->num_terminals : 0; /* slots of events.c: never used */
    x->outputs = SV_ARENA_NEW(&x->arena, sv__output, before + inputs);
    x->credits = SV_ARENA_NEW(&x->arena, sv__credits, inputs * vls);
    x->last_pair = SV_ARENA_NEW(&x->arena, uint32_t, n * vls);
    x->first_queue = SV_ARENA_NEW(&x->arena, uint32_t, inputs + 1);
    x->ways = SV_ARENA_NEW(&x->arena, uint64_t, inputs * x->m->ways);
    x->first_port = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)f->num_switches + 1);
    x->port_base = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)f->num_switches + 1);
    if (x->outputs == NULL || x->credits == NULL || x->last_pair == NULL ||
        x->first_queue == NULL || x->ways == NULL || x->first_port == NULL || x->port_base == NULL)
        return SV_NO_MEMORY;
    x->outputs += before;
    memset(x->last_pair, 0xff, n * vls * sizeof *x->last_pair);
    if (x->m->inband_bytes > 0) {
        x->lines = SV_ARENA_NEW(&x->arena, sv__line, n);
        if (x->lines == NULL)
            return SV_NO_MEMORY;
    }
    x->adapters = SV_ARENA_NEW(&x->arena, sv__adapter, f->num_terminals);
    x->outboxes = SV_ARENA_NEW(&x->arena, sv__queue, f->num_terminals * vls);
    if (x->adapters == NULL || x->outboxes == NULL)
        return SV_NO_MEMORY;
    memset(x->outboxes, 0xff, f->num_terminals * vls * sizeof *x->outboxes);
    x->min = x->min_data = sv__blocks(x->m->mtu_bytes + x->header);
    x->max_hops = (uint16_t)(f->num_switches < UINT16_MAX ? f->num_switches : UINT16_MAX - 1);
    x->free_packet = x->free_opened = SV_NONE;
    init_outputs(x);
    SV_TRY(init_ports(x));
    SV_TRY(init_queues(x));
    return init_turns(x);
}
