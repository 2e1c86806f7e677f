/*
 * orders.c: the orders of VLs go with the tables, so that a repair can keep to them.
 *
 * A VL's dependency graph keeps its channels in an order along which all its turns ascend
 * (cdg.c); these are the numbers, from 1 on. Where paths agree with an order of the switches,
 * channels up come first, those to higher switches later, then channels down (agree.c). Cost:
 * linear in channels and VLs.
 */
#include "routing/agree.h"
#include "routing/weave.h"

/* The place of a channel in a VL. VLs beyond those that have an order share them. */
static uint32_t place_of(const sv__weave *w, unsigned vl, uint32_t entry)
{
    vl %= sv__weave_num_vls(w);
    if (w->turns == NULL)
        return w->cdg.vl[vl].place[entry];
    return w->turns->cdg.vl[vl / SV__PAIR].place[entry * SV__PAIR + vl % SV__PAIR];
}

sv_status sv__agree_keep_orders(const sv__agree *a, unsigned vls)
{
    const sv_core *core = &a->x->core;
    const sv__routing_job *job = a->x->job;
    const sv_fabric *f = job->fabric;
    uint32_t n = core->num_switches, *numbers;
    SV_TRY(sv_routes_set_orders(job->ctx, f, job->routes, vls, &numbers));
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t channel = core->entries[e].channel;
        uint32_t from = a->place[core->entries[e].from], to = a->place[core->to[e]];
        size_t at = (size_t)(job->routes->order_first[f->tail[channel].i] + f->port[channel]) * vls;
        for (unsigned l = 0; l < vls; l++)
            numbers[at + l] = 1 + (to < from ? n - 1 - to : n + to);
    }
    return SV_OK;
}

sv_status sv__weave_keep_orders(const sv__weave *w, unsigned vls)
{
    const sv__routing_job *job = w->job;
    const sv_fabric *f = job->fabric;
    uint32_t *numbers;
    SV_TRY(sv_routes_set_orders(job->ctx, f, job->routes, vls, &numbers));
    for (uint32_t e = 0; e < w->core.num_entries; e++) {
        uint32_t channel = w->core.entries[e].channel;
        size_t at = (size_t)(job->routes->order_first[f->tail[channel].i] + f->port[channel]) * vls;
        for (unsigned l = 0; l < vls; l++)
            numbers[at + l] = place_of(w, l, e) + 1;
    }
    return SV_OK;
}
