/*
 * sim_terms.c: a case in the terms of the slow simulator (sim_oracle.h): its model, its cables.
 */
#include <stdlib.h>

#include "sim_case.h"

/* Rule 1. */
static uint64_t ticks_of(const sv_sim_model *m, const sv_link *link)
{
    static const uint64_t of_four[] = {450, 1800, 900, 450, 360, 264, 144, 72, 36, 18};
    return (m->byte_ticks > 0 ? m->byte_ticks : of_four[link->speed]) * 4 / link->width;
}

oracle_params sim_case_params(const sim_case *c)
{
    const sv_sim_model *m = &c->model;
    return (oracle_params){.cable = m->cable,
                           .credit = m->credit,
                           .switch_delay = m->switch_delay,
                           .input = m->input,
                           .output = m->output,
                           .speedup = m->speedup,
                           .ways = m->ways,
                           .vls = m->vls,
                           .mtu = m->mtu_bytes,
                           .header = m->header_bytes,
                           .inject = m->inject,
                           .drain = m->drain,
                           .pause = m->pause,
                           .period = m->period,
                           .open = m->open,
                           .inband = m->inband_bytes,
                           .voq = m->voq,
                           .limit = c->limit};
}

oracle_cable *sim_case_cables(const sim_case *c, uint32_t *ports, uint32_t *count)
{
    const sv_fabric *f = c->f;
    oracle_cable *cables = calloc(f->num_channels + 1, sizeof *cables);
    *count = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        ports[s] = f->switches[s].ports;
    for (uint32_t i = 0; i < f->num_channels; i++)
        if (sv_is_cable(f, (sv_channel){i}) && sv_channel_alive(f, (sv_channel){i}))
            cables[(*count)++] =
                (oracle_cable){f->tail[i].i, f->port[i], f->head[i].i, f->port[f->reverse[i].i],
                               ticks_of(&c->model, sv_link_of(f, (sv_channel){i}))};
    return cables;
}
