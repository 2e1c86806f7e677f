/*
 * shared.c: what engines share: rows' last hops, the order of destinations, the end of assigning
 * lanes.
 *
 * The order matters for balance: when one switch's terminals are routed one after the other, early
 * choices pile up on the same links before others are heard. Round-robin over switches spreads them
 * (busiest channel of a 10×10×10 torus under minhop: 29,080 routes instead of 38,076).
 *
 * Cost: linear.
 */
#include "routing/engine.h"

#include <stdio.h>

#include "lanes/lanes.h"

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

uint32_t *sv__destinations(sv__job *job, uint32_t *count)
{
    const sv_fabric *f = job->fabric;
    const sv_routes *r = job->routes;
    uint32_t *order = SV_ARENA_NEW(job->arena, uint32_t, r->num_destinations);
    const sv_hop **next = SV_ARENA_NEW(job->arena, const sv_hop *, f->num_switches);
    if (order == NULL || next == NULL)
        return NULL;
    *count = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        next[s] = f->hops + f->first[s];
    for (uint32_t round = most_terminals(f); round > 0; round--)
        for (uint32_t s = 0; s < f->num_switches; s++) {
            const sv_hop *end = f->hops + f->first[s + 1];
            while (next[s] < end && sv_is_switch(f, next[s]->to))
                next[s]++;
            if (next[s] == end)
                continue;
            uint32_t v = (next[s]++)->to.i;
            for (uint32_t d = r->first[v]; d < r->first[v + 1]; d++)
                order[(*count)++] = d;
        }
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
