/*
 * sim_setup.c: the model and the traffic of a simulation, as options ask for them.
 */
#include <string.h>

#include "base/file.h"
#include "selvage/sim_shared.h"

/* ---- model ---- */

bool sim_is_set(const struct sim_options *o, const char *name_and_equals)
{
    for (size_t i = 0; i < o->set.length; i++)
        if (strncmp(o->set.at[i], name_and_equals, strlen(name_and_equals)) == 0)
            return true;
    return false;
}

sv_status sim_fit_model(struct app *app, struct sim *sim)
{
    sv_sim_model *model = &sim->setup.model;
    unsigned vls = sv_sim_vls(sim->f, sim->r);
    *model = sim->o->model;
    sim->vls = vls;
    if (model->vls == 0)
        model->vls = vls;
    if (model->vls < vls)
        return sv_fail(app->ctx, SV_INFEASIBLE, "tables use %u VLs, the model has %u", vls,
                       model->vls);
    for (uint32_t i = 0; i < sim->f->num_channels && !sim_is_set(sim->o, "inject-gbit="); i++)
        if (!sv_is_switch(sim->f, sim->f->tail[i]) &&
            sim_byte_ticks(sim, (sv_channel){i}) < model->inject) {
            sv_warn(app->ctx,
                    "adapters of profile %s are slower than their links: see --profile help",
                    sim->o->profile);
            break;
        }
    return SV_OK;
}

/* ---- traffic ---- */

/* Ranks, if an order was given. *nodes: to be released. */
static sv_status read_order(struct app *app, const struct sim *sim, sv_node **nodes, size_t *count)
{
    const char *path = sim->o->order;
    uint32_t unknown = 0;
    sv_file file;
    if (path == NULL)
        return SV_OK;
    *nodes = sv_alloc(app->ctx, sim->f->num_terminals, sizeof **nodes);
    if (*nodes == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_file_open(&file, app->ctx, path));
    sv_status status = sv_hosts_read(app->ctx, sim->f, &file.source, *nodes, count, &unknown);
    sv_file_close(&file);
    return status;
}

static sv_status make_traffic(struct app *app, struct sim *sim, sv_sim_traffic_request *request)
{
    const struct sim_options *o = sim->o;
    sv_file file;
    if (o->list == NULL)
        return sv_sim_traffic_new(app->ctx, sim->f, sim->r, request, &sim->made);
    SV_TRY(sv_file_open(&file, app->ctx, o->list));
    request->spec = "file";
    request->file = &file.source;
    sv_status status = sv_sim_traffic_new(app->ctx, sim->f, sim->r, request, &sim->made);
    sv_file_close(&file);
    return status;
}

sv_status sim_load_traffic(struct app *app, struct sim *sim)
{
    const struct sim_options *o = sim->o;
    sv_node *order = NULL;
    size_t count = 0;
    sv_jobmap *jobs = NULL;
    sv_sim_traffic_request request = {.spec = o->traffic != NULL ? o->traffic : "exchange",
                                      .model = &sim->setup.model,
                                      .bytes = sim_message_bytes(sim),
                                      .load = o->load_share,
                                      .seed = o->seed,
                                      .messages = o->messages == SIM_NOT_GIVEN ? 0 : o->messages,
                                      .job_specs = o->job_traffic.at,
                                      .num_job_specs = (uint32_t)o->job_traffic.length};
    sv_status status = read_order(app, sim, &order, &count);
    if (status == SV_OK && o->jobs != NULL)
        status = sv_jobmap_load(app->ctx, sim->f, o->jobs, &jobs);
    request.order = order;
    request.num_order = (uint32_t)count;
    request.jobs = jobs;
    if (status == SV_OK)
        status = make_traffic(app, sim, &request);
    sim->traffic = o->list != NULL ? o->list : request.spec;
    sv_jobmap_free(jobs);
    sv_release(app->ctx, order);
    if (status != SV_OK)
        return status;
    sim->setup.source = sv_sim_traffic_source(sim->made);
    sim->endless = sv_sim_traffic_endless(sim->made);
    return SV_OK;
}
