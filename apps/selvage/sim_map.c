/*
 * sim_map.c: latency maps of runs: how long packets waited at each switch, in the mean of all runs
 * of a policy; and over time, in its first.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "selvage/sim_shared.h"

/* Columns of time that are drawn at most. */
enum { MAX_COLUMNS = 64 };

static sv_status take_time(struct app *app, const struct sim *sim, sim_contender *c)
{
    const sv_sim_result *r = sim->result;
    uint32_t switches = sim->f->num_switches, wide = (r->rows + MAX_COLUMNS - 1) / MAX_COLUMNS;
    if (r->rows == 0)
        return SV_OK;
    c->columns = (r->rows + wide - 1) / wide;
    c->column_us = sim_us(sim->setup.control.interval) * wide;
    c->cells = sv_alloc(app->ctx, (size_t)c->columns * switches, sizeof *c->cells);
    if (c->cells == NULL)
        return SV_NO_MEMORY;
    for (uint32_t column = 0; column < c->columns; column++)
        for (uint32_t s = 0; s < switches; s++) {
            uint64_t packets = 0, waited = 0;
            for (uint32_t row = column * wide; row < (column + 1) * wide && row < r->rows; row++) {
                packets += r->timeline[(size_t)row * switches + s].packets;
                waited += r->timeline[(size_t)row * switches + s].waited;
            }
            c->cells[(size_t)column * switches + s] =
                packets > 0 ? sim_us(waited) / (double)packets : NAN;
        }
    return SV_OK;
}

sv_status sim_take_map(struct app *app, const struct sim *sim, sim_contender *c, bool times)
{
    uint32_t switches = sim->f->num_switches;
    c->packets = sv_alloc(app->ctx, switches, sizeof *c->packets);
    c->waited = sv_alloc(app->ctx, switches, sizeof *c->waited);
    if (c->packets == NULL || c->waited == NULL)
        return SV_NO_MEMORY;
    if (times)
        SV_TRY(take_time(app, sim, c));
    for (uint32_t s = 0; s < switches; s++) {
        uint64_t packets;
        sv_sim_sum waited;
        sim_router(sim, s, &packets, &waited);
        c->packets[s] = (double)packets;
        c->waited[s] = sim_us(waited);
    }
    return SV_OK;
}

void sim_add_map(sim_contender *c, sim_contender *from, uint32_t switches)
{
    if (from->packets == NULL)
        return;
    if (c->packets != NULL) {
        for (uint32_t s = 0; s < switches; s++) {
            c->packets[s] += from->packets[s];
            c->waited[s] += from->waited[s];
        }
        return;
    }
    c->packets = from->packets;
    c->waited = from->waited;
    c->cells = from->cells;
    c->columns = from->columns;
    c->column_us = from->column_us;
    from->packets = from->waited = from->cells = NULL;
}

void sim_release_map(struct app *app, sim_contender *c)
{
    sv_release(app->ctx, c->packets);
    sv_release(app->ctx, c->waited);
    sv_release(app->ctx, c->cells);
}

static sv_status draw(struct app *app, const struct sim *sim, const sv_surface_panel *panels,
                      uint32_t count)
{
    char title[300];
    snprintf(title, sizeof title, "Where packets wait: %.100s, %.150s", sim->o->input,
             sim->traffic != NULL ? sim->traffic : "");
    const sv_surface surface = {.fabric = sim->f,
                                .panels = panels,
                                .count = count,
                                .title = title,
                                .unit = "us",
                                .time_unit = "us"};
    sv_file file;
    SV_TRY(sv_file_create(&file, app->ctx, sim->o->picture));
    sv_status status = sv_surface_write(app->ctx, &surface, &file.sink);
    if (status == SV_OK)
        return sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

sv_status sim_draw_map(struct app *app, const struct sim *sim, const sim_contender *all,
                       size_t count)
{
    uint32_t switches = sim->f->num_switches, shown = 0;
    sv_surface_panel *panels = sv_alloc(app->ctx, count, sizeof *panels);
    double *heights = sv_alloc(app->ctx, count * switches, sizeof *heights);
    sv_status status = panels == NULL || heights == NULL ? SV_NO_MEMORY : SV_OK;
    for (size_t i = 0; i < count && status == SV_OK; i++) {
        const sim_contender *c = &all[i];
        double *height = heights + i * switches;
        if (c->packets == NULL)
            continue;
        for (uint32_t s = 0; s < switches; s++)
            height[s] = c->packets[s] > 0 ? c->waited[s] / c->packets[s] : NAN;
        panels[shown++] =
            (sv_surface_panel){.title = c->policy != NULL ? c->policy : "the tables' ways",
                               .height = height,
                               .cells = c->cells,
                               .columns = c->columns,
                               .column = c->column_us};
    }
    if (status == SV_OK)
        status = draw(app, sim, panels, shown);
    sv_release(app->ctx, panels);
    sv_release(app->ctx, heights);
    return status;
}
