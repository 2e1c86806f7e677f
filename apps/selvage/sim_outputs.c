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

int sim_check_outputs(struct app *app, const struct sim_options *o)
{
    struct output all[OUTPUTS];
    int code = -1;
    list_outputs(o, all);
    for (int i = 0; code < 0 && i < OUTPUTS; i++)
        for (int k = 0; code < 0 && k < i; k++)
            code = app_two_files(app, all[k].option, all[k].path, all[i].option, all[i].path);
    for (int i = 0; code < 0 && i < OUTPUTS; i++) {
        sv_status status = all[i].path != NULL ? sv_file_try(app->ctx, all[i].path) : SV_OK;
        code = status == SV_OK ? -1 : app_exit(app, status);
    }
    return code;
}
