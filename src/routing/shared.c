/*
 * shared.c: what engines share: rows' last hops, the order of destinations, the end of assigning
 * lanes.
 *
 * The order matters for balance: when one switch's terminals are routed one after the other, early
 * choices pile up on the same links before others are heard. Round-robin over switches spreads them
 * (busiest channel of a 10×10×10 torus under minhop: 29,080 routes instead of 38,076).
 *
 * On large fabrics several destinations are routed side by side. Those of neighbours would all take
 * the same way, which nobody has taken yet, and pile up on it (sssp on a tree of 1,280 switches:
 * 34,768 routes instead of 14,336, when tried with batches of 4). So a batch has one destination of
 * each part of the round: every stride-th switch. Then batches do no harm (13,744), and on tori the
 * balance gets better than one by one (10×10×10: 21,656 instead of 23,004). Trees need as many
 * branches at the top as a batch has destinations, so batches are small.
 *
 * Cost: linear.
 */
#include "routing/engine.h"

#include <stdarg.h>
#include <stdio.h>

#include "lanes/lanes.h"

void sv__found(sv__job *job, const char *kind, const char *words, ...)
{
    va_list arguments;
    sv_structure *found = &job->report->structure;
    *found = (sv_structure){.kind = kind};
    va_start(arguments, words);
    vsnprintf(found->words, sizeof found->words, words, arguments);
    va_end(arguments);
}

void sv__fact_list(sv__job *job, const char *name, const uint32_t *values, uint32_t count)
{
    sv_structure *found = &job->report->structure;
    if (found->num_facts == SV_MOST_FACTS)
        return;
    sv_structure_fact *fact = &found->facts[found->num_facts++];
    *fact = (sv_structure_fact){.name = name, .list = true};
    while (fact->count < count && fact->count < SV_MOST_FACT_VALUES) {
        fact->values[fact->count] = values[fact->count];
        fact->count++;
    }
}

void sv__fact(sv__job *job, const char *name, uint32_t value)
{
    sv__fact_list(job, name, &value, 1);
    job->report->structure.facts[job->report->structure.num_facts - 1].list = false;
}

sv_status sv__end_row(sv__job *job, uint32_t d, uint8_t **row, sv_node *home)
{
    const sv_fabric *f = job->fabric;
    sv_node to = job->routes->node[d];
    *row = NULL;
    *home = sv_is_switch(f, to) ? to : sv_switch_of(f, to);
    if (!sv_node_alive(f, to) || home->i == SV_NONE)
        return SV_OK;
    *row = sv_routes_row(job->ctx, job->routes, d);
    if (*row == NULL)
        return SV_NO_MEMORY;
    if (!sv_is_switch(f, to))
        (*row)[home->i] = (uint8_t)f->port[f->reverse[f->hops[f->first[to.i]].channel.i].i];
    return SV_OK;
}

/* How many live terminals the fullest switch has. */
static uint32_t most_terminals(const sv_fabric *f)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        uint32_t count = 0;
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            count += !sv_is_switch(f, hop->to);
        most = count > most ? count : most;
    }
    return most;
}

uint32_t sv__batch(const sv_fabric *f)
{
    return f->num_switches < 512 ? 1 : f->num_switches < 4096 ? 4 : 8;
}

/* The next terminal of every switch that has one left, into list; returns how many. */
static uint32_t next_round(const sv_fabric *f, const sv_hop **next, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        const sv_hop *end = f->hops + f->first[s + 1];
        while (next[s] < end && sv_is_switch(f, next[s]->to))
            next[s]++;
        if (next[s] < end)
            list[count++] = (next[s]++)->to.i;
    }
    return count;
}

/* The bits of a number, the last first. */
static uint32_t mirror(uint32_t number, unsigned bits)
{
    uint32_t result = 0;
    for (; bits > 0; bits--, number >>= 1)
        result = result << 1 | (number & 1);
    return result;
}

/*
 * Adds the destinations of a round's terminals. In batches: every stride-th of the round makes one,
 * filled up with SV_NONE; the next begins about half a stride further, and so on.
 */
static void append_round(const sv_routes *r, const uint32_t *list, uint32_t length, uint32_t batch,
                         uint32_t *order, uint32_t *count)
{
    uint32_t addresses = 1u << r->lmc, stride = (length + batch - 1) / batch;
    unsigned bits = 0;
    for (uint32_t i = 0; i < length && batch == 1; i++)
        for (uint32_t k = 0; k < addresses; k++)
            order[(*count)++] = r->first[list[i]] + k;
    while (stride > 1u << bits)
        bits++;
    for (uint32_t k = 0; k < addresses && batch > 1; k++)
        for (uint32_t i = 0; i < 1u << bits; i++)
            for (uint32_t j = 0, at = mirror(i, bits); j < batch && mirror(i, bits) < stride; j++) {
                order[(*count)++] = at < length ? r->first[list[at]] + k : SV_NONE;
                at += stride;
            }
}

uint32_t *sv__destinations(sv__job *job, uint32_t batch, uint32_t *count)
{
    const sv_fabric *f = job->fabric;
    const sv_routes *r = job->routes;
    uint32_t *order = NULL, rounds = most_terminals(f) << r->lmc;
    order = SV_ARENA_NEW(job->arena, uint32_t, r->num_destinations + (size_t)rounds * batch);
    const sv_hop **next = SV_ARENA_NEW(job->arena, const sv_hop *, f->num_switches);
    uint32_t *list = SV_ARENA_NEW(job->arena, uint32_t, f->num_switches);
    if (order == NULL || next == NULL || list == NULL)
        return NULL;
    *count = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        next[s] = f->hops + f->first[s];
    for (uint32_t length; (length = next_round(f, next, list)) > 0;)
        append_round(r, list, length, batch, order, count);
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            order[(*count)++] = r->first[s];
    return order;
}

void sv__note_unsafe(sv__job *job, uint64_t paths)
{
    if (paths > 0)
        snprintf(job->report->note, sizeof job->report->note,
                 "%llu path%s between switches without terminals fit%s no lane",
                 (unsigned long long)paths, paths == 1 ? "" : "s", paths == 1 ? "s" : "");
}

sv_status sv__finish_lanes(sv__job *job, sv_layering *lanes)
{
    uint64_t unsafe;
    job->report->vls_needed = lanes->lanes;
    SV_TRY(sv_layering_finish(lanes, job->vls, &job->report->vls_used, &unsafe));
    job->report->sls_used = job->report->vls_used;
    sv__note_unsafe(job, unsafe);
    return SV_OK;
}
