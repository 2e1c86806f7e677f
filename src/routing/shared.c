/*
 * shared.c: what engines share: rows' last hops, what they found, the end of assigning VLs.
 *
 * Cost: linear.
 */
#include "routing/engine.h"

#include <stdarg.h>
#include <stdio.h>

#include "vls/vls.h"

void sv__found(sv__routing_job *job, const char *kind, const char *words, ...)
{
    va_list arguments;
    sv_structure *found = &job->report->structure;
    *found = (sv_structure){.kind = kind};
    va_start(arguments, words);
    vsnprintf(found->words, sizeof found->words, words, arguments);
    va_end(arguments);
}

void sv__fact_list(sv__routing_job *job, const char *name, const uint32_t *values, uint32_t count)
{
    sv_structure *found = &job->report->structure;
    if (found->num_facts == SV_MAX_FACTS)
        return;
    sv_structure_fact *fact = &found->facts[found->num_facts++];
    *fact = (sv_structure_fact){.name = name, .list = true};
    while (fact->count < count && fact->count < SV_MAX_FACT_VALUES) {
        fact->values[fact->count] = values[fact->count];
        fact->count++;
    }
}

void sv__fact(sv__routing_job *job, const char *name, uint32_t value)
{
    sv__fact_list(job, name, &value, 1);
    job->report->structure.facts[job->report->structure.num_facts - 1].list = false;
}

sv_status sv__end_row(sv__routing_job *job, uint32_t d, uint8_t **row, sv_node *home)
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

void sv__note_unsafe(sv__routing_job *job, uint64_t paths)
{
    if (paths > 0)
        snprintf(job->report->note, sizeof job->report->note,
                 "%llu path%s between switches without terminals fit%s no VL",
                 (unsigned long long)paths, paths == 1 ? "" : "s", paths == 1 ? "s" : "");
}

sv_status sv__finish_vls(sv__routing_job *job, sv_layering *vls)
{
    uint64_t unsafe;
    job->report->vls_needed = vls->vls;
    SV_TRY(sv_layering_finish(vls, job->vls, &job->report->vls_used, &unsafe));
    job->report->sls_used = job->report->vls_used;
    sv__note_unsafe(job, unsafe);
    return SV_OK;
}
