/*
 * waiting.c: how much waits for an output, and who (rule 31).
 *
 * Bytes are a number for each channel. Who waits is asked by policies that hear of departures, and
 * often, where queues are long and most of what is in them goes elsewhere. So they have lists of
 * the data packets of each input, VL and output, beside the queues, and for each output a set of
 * the inputs and VLs whose list is not empty, in the order of rule 31.
 *
 * Invariant: a packet that is granted is the first of its list, since it is the first of its queue.
 *
 * Cost: O(1) for each packet and hop; O(inputs × VLs / 64 + packets told) for each question. A
 * policy that does not hear of departures pays for bytes only, and for a question O(inputs × VLs
 * + packets in their queues).
 */
#include "simulate/policy.h"

sv_status sv__waiting_init(sv__sim *x)
{
    const sv_fabric *f = x->f;
    sv__waiting *w = &x->policy->waiting;
    uint64_t lists = 0, words = 0;
    if (x->policy->hooks->depart == NULL)
        return SV_OK;
    w->first_list = SV_ARENA_NEW(&x->arena, uint64_t, f->num_channels);
    w->first_word = SV_ARENA_NEW(&x->arena, uint64_t, f->num_channels);
    if (w->first_list == NULL || w->first_word == NULL)
        return SV_NO_MEMORY;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        uint32_t to = f->head[c].i, from = f->tail[c].i;
        w->first_list[c] = lists;
        w->first_word[c] = words;
        if (sv__is_switch(x, to))
            lists += (uint64_t)x->m->vls * (x->first_port[to + 1] - x->first_port[to]);
        if (sv__is_switch(x, from))
            words += sv_bitset_words((size_t)x->m->vls *
                                     (x->first_port[from + 1] - x->first_port[from]));
    }
    w->lists = sv_arena_raw(&x->arena, lists, sizeof *w->lists);
    w->sets = SV_ARENA_NEW(&x->arena, uint64_t, words);
    if (w->lists == NULL || w->sets == NULL)
        return SV_NO_MEMORY;
    for (uint64_t i = 0; i < lists; i++)
        w->lists[i] = (sv__queue){SV_NONE, SV_NONE};
    return SV_OK;
}

/* The list of an input and VL for an output of the same switch. */
static sv__queue *list_of(const sv__sim *x, uint32_t in, unsigned vl, uint32_t out)
{
    uint32_t s = x->outputs[in].head, first = x->first_port[s];
    const sv__waiting *w = &x->policy->waiting;
    return &w->lists[w->first_list[in] + (uint64_t)vl * (x->first_port[s + 1] - first) +
                     (out - first)];
}

/* Where that stands in the set of the output: channels that leave a switch are in the order of
 * ports. */
static size_t bit_of(const sv__sim *x, uint32_t in, unsigned vl)
{
    uint32_t port = x->f->reverse[in].i - x->first_port[x->outputs[in].head];
    return /*~waits_vls*/ (size_t)port * x->m->vls + vl;
}

void sv__waiting_add(sv__sim *x, uint32_t p, uint32_t in)
{
    const sv__packet *packet = &x->packets[p];
    sv__waiting *w = &x->policy->waiting;
    if (x->load == NULL) /* nobody can ask */
        return;
    x->load[packet->out] += packet->length;
    if (w->lists == NULL || /*~waits_control*/ packet->control)
        return;
    sv__queue *list = list_of(x, in, packet->vl, packet->out);
    w->next[p] = SV_NONE;
    if (list->first == SV_NONE) {
        list->first = p;
        sv_bit_set(w->sets + w->first_word[packet->out], bit_of(x, in, packet->vl));
    } else {
        w->next[list->last] = p;
    }
    list->last = p;
}

void sv__waiting_cut(sv__sim *x, uint32_t p, uint32_t in, unsigned vl, uint32_t out)
{
    sv__waiting *w = &x->policy->waiting;
    /*~load_kept*/ x->load[out] -= x->packets[p].length;
    if (w->lists == NULL || x->packets[p].control)
        return;
    sv__queue *list = list_of(x, in, vl, out);
    /*~waits_kept*/ list->first = w->next[p];
    if (list->first == SV_NONE)
        sv_bit_clear(w->sets + w->first_word[out], bit_of(x, in, vl));
}

uint64_t sv_sim_backlog(const sv_sim_run *x, sv_channel c)
{
    const sv__output *o = &x->outputs[c.i];
    uint64_t waits = x->load != NULL ? x->load[c.i] : 0;
    return waits + /*~backlog_link*/ (o->link_free > x->now
                                          ? (o->link_free - x->now) / /*~backlog_pace*/ o->byte
                                          : 0);
}

static sv_sim_waiting about(const sv__sim *x, uint32_t p)
{
    const sv__packet *packet = &x->packets[p];
    uint32_t to = x->r->node[x->heads[p].destination].i - x->f->num_switches;
    return (sv_sim_waiting){packet->from, to, packet->length, packet->start};
}

/* Adds the packets of a queue that wait for a channel. */
static uint32_t add_waiting(const sv__sim *x, uint32_t q, uint32_t out, sv_sim_waiting *waiting,
                            uint32_t count, uint32_t max)
{
    uint32_t p = x->queues[q].first;
    for (; p != SV_NONE && count < max; p = x->packets[p].next) {
        const sv__packet *packet = &x->packets[p];
        if (/*~about_control*/ packet->control || packet->out != out)
            continue;
        waiting[count++] = about(x, p);
    }
    return count;
}

/* By the lists. */
static uint32_t tell_lists(const sv__sim *x, uint32_t out, sv_sim_waiting *waiting, uint32_t max)
{
    const sv__waiting *w = &x->policy->waiting;
    uint32_t s = x->f->tail[out].i, first = x->first_port[s], vls = x->m->vls, count = 0;
    size_t words = sv_bitset_words((size_t)vls * (x->first_port[s + 1] - first));
    for (size_t i = 0; i < words; i++)
        for (uint64_t left = w->sets[w->first_word[out] + i]; left != 0; left &= left - 1) {
            uint32_t bit = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(left);
            uint32_t in = x->f->reverse[first + bit / vls].i;
            uint32_t p = list_of(x, in, bit % vls, out)->first;
            for (; p != SV_NONE && count < max; p = w->next[p])
                waiting[count++] = about(x, p);
        }
    return count;
}

uint32_t sv_sim_waiting_for(const sv_sim_run *x, sv_channel c, sv_sim_waiting *waiting,
                            uint32_t max)
{
    uint32_t s = x->f->tail[c.i].i, count = 0;
    if (!sv__is_switch(x, s) || x->policy == NULL)
        return 0;
    if (x->policy->waiting.lists != NULL)
        return tell_lists(x, c.i, waiting, max);
    uint32_t first = x->first_port[s], ports = x->first_port[s + 1] - first;
    for (uint32_t out = first; out < first + ports; out++) {
        uint32_t in = x->f->reverse[out].i, q = x->first_queue[in];
        for (uint32_t vl = 0; vl < x->m->vls; vl++)
            count = add_waiting(x, x->m->voq ? q + vl * ports + (c.i - first) : q + vl, c.i,
                                waiting, count, max);
    }
    return count;
}
