/*
 * deadlock.c: packets that can never move again, whatever others do (rule 20).
 *
 * All packets in buffers of switches are suspects. One is acquitted if no suspect is before it in
 * its queue and the buffer it wants has room for it beside the suspects in there. What remains when
 * nobody can be acquitted any more is a deadlock. Whoever is acquitted makes room in one buffer: so
 * queues whose first suspect waits for that buffer are tried again, and no others.
 *
 * With adaptive VLs (rule 27) a packet wants several buffers, and is acquitted if one of them has
 * room; it waits for the channel then, whatever the VL, so whoever makes room there has all that
 * wait for the channel tried again.
 *
 * Cost: O(queues + packets in them); with adaptive VLs, O(queues + packets × queues of a switch).
 */
#include <string.h>

#include "simulate/state.h"

struct trial {
    const sv__team *team;
    sv__sim *x; /* the first part: what all share */
    sv_arena arena;
    uint32_t *held;          /* [channels × VLs]: blocks of suspects in each buffer */
    uint32_t *front;         /* [queues]: the first suspect */
    uint32_t *waiting;       /* [channels × VLs]: queues whose front waits for that buffer */
    uint32_t *next;          /* [queues]: in that list */
    uint32_t *channel;       /* [queues]: it comes in by */
    uint32_t first_adaptive; /* VL */
};

/* Whether the next buffer of a packet has no room for it beside the suspects. */
static bool is_full(const struct trial *t, const sv__packet *packet)
{
    const sv__sim *x = t->x;
    uint32_t n = sv__blocks(packet->length);
    const uint32_t *held = t->held + (size_t)packet->out * x->m->vls;
    /*~stuck_adapter*/ if (!sv__is_switch(x, x->outputs[packet->out].head))
        return false;
    bool full = x->m->input - held[/*~stuck_vl*/ packet->out_vl] /*~fits_just*/ < n;
    for (uint32_t i = 0; i < /*~stuck_escape*/ x->adaptive && full;
         i++) /* the VLs after those of all segments */
        full = x->m->input - held[t->first_adaptive + i] < n;
    return full;
}

/* Which list of those that wait a VL of a channel belongs to. */
static size_t list_of(const struct trial *t, uint32_t channel, unsigned vl)
{
    return (size_t)channel * t->x->m->vls + (t->x->adaptive > 0 ? 0 : vl);
}

/* The packets at the end of a channel. */
static const sv__packet *packets_at(const struct trial *t, uint32_t channel)
{
    const sv__sim *x = t->x;
    return t->team->parts[x->part_of == NULL ? 0 : x->part_of[x->outputs[channel].head]].packets;
}

/* Acquits packets of a queue from its front on, and of those that this frees, by a stack made of
 * the waiting lists. */
static void acquit(struct trial *t, uint32_t first)
{
    const sv__sim *x = t->x;
    uint32_t stack = first;
    t->next[first] = SV_NONE;
    while (stack != SV_NONE) {
        uint32_t q = stack, p = t->front[q];
        if (p == SV_NONE) {
            stack = t->next[q];
            continue;
        }
        const sv__packet *packet = &packets_at(t, t->channel[q])[p];
        size_t wants = list_of(t, packet->out, packet->out_vl);
        if (is_full(t, packet)) {
            stack = t->next[q];
            t->next[q] = t->waiting[wants];
            t->waiting[wants] = q;
            continue;
        }
        size_t in = /*~stuck_list*/ list_of(t, t->channel[q], packet->vl);
        t->held[(size_t)t->channel[q] * x->m->vls + packet->vl] -= sv__blocks(packet->length);
        t->front[q] = /*~stuck_front*/ packet->next;
        while (/*~stuck_again*/ t->waiting[in] != SV_NONE) { /* tried again, after this one */
            uint32_t other = t->waiting[in];
            t->waiting[in] = t->next[other];
            t->next[other] = t->next[q];
            t->next[q] = other;
        }
    }
}

static sv_status note(struct trial *t, uint32_t queues, bool control)
{
    sv__sim *x = t->x;
    sv_sim_result *r = x->result;
    uint32_t count = 0, data = 0;
    for (uint32_t q = 0; q < queues; q++)
        for (uint32_t p = t->front[q]; p != SV_NONE; p = packets_at(t, t->channel[q])[p].next) {
            count++;
            data += !packets_at(t, t->channel[q])[p].control;
        }
    if (data == 0 && (count == 0 || !control))
        return SV_OK;
    r->stuck = sv_alloc(x->ctx, count, sizeof *r->stuck);
    if (r->stuck == NULL)
        return SV_NO_MEMORY;
    for (uint32_t q = 0; q < queues; q++) {
        const sv__packet *packets = packets_at(t, t->channel[q]);
        for (uint32_t p = t->front[q]; p != SV_NONE; p = packets[p].next) {
            const sv__packet *packet = &packets[p];
            sv_channel in = {t->channel[q] < x->f->num_channels ? t->channel[q] : SV_NONE};
            uint64_t since = packet->start; /* at port 0: it was ready */
            if (in.i == SV_NONE)
                since += x->m->switch_delay + x->m->cable;
            uint32_t destination =
                /*~stuck_target*/ x->policy != NULL ? x->heads[p].destination : packet->destination;
            r->stuck[r->num_stuck++] = (sv_sim_stuck){.in = in,
                                                      .out = {packet->out},
                                                      .vl = packet->vl,
                                                      .out_vl = packet->out_vl,
                                                      .behind = p != t->front[q],
                                                      .from = packet->from,
                                                      .destination = destination,
                                                      .since = since};
            r->stuck_since = sv__max(r->stuck_since, since);
            if (x->watch->stuck != NULL)
                x->watch->stuck(x->watch->user, x->cargo[p].number, in, packet->vl);
        }
    }
    return SV_OK;
}

static sv_status try_all(struct trial *t, bool control)
{
    sv__sim *x = t->x;
    uint32_t queues = x->first_queue[x->num_inputs];
    size_t buffers = (size_t)x->num_inputs * x->m->vls;
    t->held = SV_ARENA_NEW(&t->arena, uint32_t, buffers);
    t->waiting = SV_ARENA_NEW(&t->arena, uint32_t, buffers);
    t->front = SV_ARENA_NEW(&t->arena, uint32_t, queues);
    t->next = SV_ARENA_NEW(&t->arena, uint32_t, queues);
    t->channel = SV_ARENA_NEW(&t->arena, uint32_t, queues);
    if (t->held == NULL || t->waiting == NULL || t->front == NULL || t->next == NULL ||
        t->channel == NULL)
        return SV_NO_MEMORY;
    memset(t->waiting, 0xff, buffers * sizeof *t->waiting);
    for (uint32_t c = 0; c < /*~stuck_port_zero*/ x->num_inputs; c++)
        for (uint32_t q = x->first_queue[c]; q < x->first_queue[c + 1]; q++) {
            t->channel[q] = c;
            const sv__packet *packets = packets_at(t, c);
            t->front[q] = x->queues[q].first;
            for (uint32_t p = t->front[q]; p != SV_NONE; p = /*~held_first*/ packets[p].next)
                t->held[(size_t)c * x->m->vls + packets[p].vl] +=
                    /*~held_block*/ sv__blocks(packets[p].length);
        }
    for (uint32_t q = 0; q < queues; q++)
        if (t->front[q] != SV_NONE)
            acquit(t, q);
    return note(t, queues, control);
}

sv_status sv__find_stuck(const sv__team *team, bool control)
{
    struct trial t = {.team = team, .x = &team->parts[0]};
    if (t.x->policy != NULL)
        t.first_adaptive = sv__policy_first_adaptive(t.x);
    sv_arena_init(&t.arena, t.x->ctx);
    sv_status status = try_all(&t, control);
    sv_arena_release(&t.arena);
    return status;
}
