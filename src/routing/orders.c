/*
 * orders.c: the orders of lanes go with the tables, so that a repair can keep to them.
 *
 * A lane's dependency graph keeps its channels in an order along which all its turns ascend
 * (cdg.c); these are the numbers, from 1 on. Where paths agree with an order of the switches,
 * channels up come first, those to higher switches later, then channels down (agree.c). Cost:
 * linear in channels and lanes.
 */
#include "routing/agree.h"
#include "routing/weave.h"

/* The place of a channel in a lane. Lanes beyond those that have an order share them. */
static uint32_t place_of(const sv__weave *w, unsigned lane, uint32_t entry)
{
    lane %= sv__weave_num_lanes(w);
    if (w->turns == NULL)
        return w->cdg.lane[lane].place[entry];
    return w->turns->cdg.lane[lane / SV__PAIR].place[entry * SV__PAIR + lane % SV__PAIR];
}

sv_status sv__agree_keep_orders(const sv__agree *a, unsigned lanes)
{
    const sv_core *core = &a->x->core;
    const sv__job *job = a->x->job;
    const sv_fabric *f = job->fabric;
    uint32_t n = core->num_switches, *numbers;
    SV_TRY(sv_routes_set_orders(job->ctx, f, job->routes, lanes, &numbers));
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t channel = core->entries[e].channel;
        uint32_t from = a->place[core->entries[e].from], to = a->place[core->to[e]];
        size_t at =
            (size_t)(job->routes->order_first[f->tail[channel].i] + f->port[channel]) * lanes;
        for (unsigned l = 0; l < lanes; l++)
            numbers[at + l] = 1 + (to < from ? n - 1 - to : n + to);
    }
    return SV_OK;
}

sv_status sv__weave_keep_orders(const sv__weave *w, unsigned lanes)
{
    const sv__job *job = w->job;
    const sv_fabric *f = job->fabric;
    uint32_t *numbers;
    SV_TRY(sv_routes_set_orders(job->ctx, f, job->routes, lanes, &numbers));
    for (uint32_t e = 0; e < w->core.num_entries; e++) {
        uint32_t channel = w->core.entries[e].channel;
        size_t at =
            (size_t)(job->routes->order_first[f->tail[channel].i] + f->port[channel]) * lanes;
        for (unsigned l = 0; l < lanes; l++)
            numbers[at + l] = place_of(w, l, e) + 1;
    }
    return SV_OK;
}
