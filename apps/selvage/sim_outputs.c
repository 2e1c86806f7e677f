/*
 * sim_outputs.c: files that `selvage sim` writes when it is over: whether it could, before it runs.
 */
#include "base/file.h"
#include "selvage/sim_shared.h"

enum { OUTPUTS = SIM_NUM_FILES + 2 };

struct output {
    const char *option, *path;
};

static void list_outputs(const struct sim_options *o, struct output *all)
{
    const struct output known[OUTPUTS] = {{"terminals", o->files[SIM_TERMINALS]},
                                          {"channels", o->files[SIM_CHANNELS]},
                                          {"latencies", o->files[SIM_LATENCIES]},
                                          {"timeline", o->files[SIM_TIMELINE]},
                                          {"routers", o->files[SIM_ROUTERS]},
                                          {"stuck", o->files[SIM_STUCK]},
                                          {"latency-map", o->picture},
                                          {"store-out", o->store_out}};
    for (int i = 0; i < OUTPUTS; i++)
        all[i] = known[i];
}

/* What is read is not written over; a store may be. */
static int check_inputs(struct app *app, const struct sim_options *o, const struct output *one)
{
    const struct output inputs[] = {{"trace", o->trace},
                                    {"map", sim_path_of(o->map)},
                                    {"traffic", sim_path_of(o->traffic)},
                                    {"file", o->list},
                                    {"order", o->order},
                                    {"jobs", o->jobs},
                                    {"store", one->path != o->store_out ? o->store : NULL}};
    int code = -1;
    if (app_same_file(o->input, one->path))
        return app_usage_error(app, "--%s: '%s' is what is simulated", one->option, one->path);
    for (size_t i = 0; code < 0 && i < sizeof inputs / sizeof inputs[0]; i++)
        code = app_two_files(app, inputs[i].option, inputs[i].path, one->option, one->path);
    return code;
}

int sim_check_outputs(struct app *app, const struct sim_options *o)
{
    struct output all[OUTPUTS];
    int code = -1;
    list_outputs(o, all);
    for (int i = 0; code < 0 && i < OUTPUTS; i++)
        code = check_inputs(app, o, &all[i]);
    for (int i = 0; code < 0 && i < OUTPUTS; i++)
        for (int k = 0; code < 0 && k < i; k++)
            code = app_two_files(app, all[k].option, all[k].path, all[i].option, all[i].path);
    for (int i = 0; code < 0 && i < OUTPUTS; i++) {
        sv_status status = all[i].path != NULL ? sv_file_try(app->ctx, all[i].path) : SV_OK;
        code = status == SV_OK ? -1 : app_exit(app, status);
    }
    return code;
}
