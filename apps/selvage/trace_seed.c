/*
 * trace_seed.c: selvage trace seed TRACE FABRIC: solutions worked out beforehand for what a program
 * will do: a store that predictive policies begin with (sim --store).
 */
#include <selvage/experimental/adapt.h>
#include <selvage/profiles.h>
#include <string.h>

#include "base/file.h"
#include "selvage/sim_shared.h"
#include "selvage/trace_shared.h"

/* As the keys of policies have it. */
enum { MAX_PATHS = 64, MAX_FLOWS = 64 };

struct seed {
    const char *words[2]; /* trace, fabric or tables */
    const char *engine, *profile, *map, *output;
    uint64_t vls, paths, flows, seed;
    sv_sim_model model;
};

static int check_options(struct app *app, struct seed *o)
{
    const app_limit limits[] = {{"vls", o->vls, 1, SV_MAX_VLS},
                                {"paths", o->paths, 1, MAX_PATHS},
                                {"flows", o->flows, 1, MAX_FLOWS}};
    int code = app_check_limits(app, limits, sizeof limits / sizeof limits[0]);
    if (code >= 0)
        return code;
    if (o->engine == NULL && o->vls != SIM_NOT_GIVEN)
        return app_usage_error(app, "--vls goes with --engine");
    if (o->output == NULL)
        return app_usage_error(app, "where to? (--output FILE)");
    code = sim_check_map(app, o->map);
    if (code >= 0)
        return code;
    if (sv_profile_model(app->ctx, o->profile, &o->model) != SV_OK)
        return app_usage_error(app, "--profile: %s", sv_ctx_message(app->ctx));
    if (o->engine == NULL && sim_is_fabric(o->words[1]))
        return app_usage_error(
            app, "'%s' is a fabric without tables: --engine ENGINE computes them", o->words[1]);
    const char *const inputs[] = {o->words[0], o->words[1], sim_path_of(o->map)};
    return app_one_stream(app, "input", inputs, 3);
}

static sv_status load(struct app *app, const struct seed *o, sv_mpi_trace **trace, struct sim *sim)
{
    const struct sim_options asked = {
        .input = o->words[1], .engine = o->engine, .vls = o->vls, .seed = o->seed};
    SV_TRY(sim_load_trace(app, o->words[0], trace));
    sim->trace = *trace;
    if (o->engine == NULL)
        return app_load_tables(app, o->words[1], &sim->f, &sim->r);
    sim->o = &asked;
    sv_status status = sim_route(app, sim);
    sim->o = NULL;
    return status;
}

/* Where ranks are. *map: to be released. */
static sv_status place(struct app *app, const struct seed *o, const struct sim *sim, sv_node **map)
{
    if (sim_path_of(o->map) != NULL)
        return sim_read_map(app, sim, sim_path_of(o->map), map);
    *map = sv_alloc(app->ctx, sim->trace->num_ranks, sizeof **map);
    if (*map == NULL)
        return SV_NO_MEMORY;
    return trace_in(app, o->words[0],
                    sv_mpi_place(app->ctx, sim->f, sim->trace->num_ranks,
                                 strcmp(o->map, "random") == 0, o->seed, *map));
}

/* Passes a store on to its file, and counts solutions: lines but the first, which says what it is.
 */
struct counted {
    const sv_sink *sink;
    uint64_t lines;
};

static bool count_lines(void *user, const void *bytes, size_t size)
{
    struct counted *counted = user;
    const char *text = bytes;
    for (size_t i = 0; i < size; i++)
        counted->lines += text[i] == '\n';
    return counted->sink->write(counted->sink->user, bytes, size);
}

static sv_status write_store(struct app *app, struct seed *o, const struct sim *sim)
{
    sv_node *map = NULL;
    sv_file file;
    if (o->model.vls == 0)
        o->model.vls = (uint8_t)sv_sim_vls(sim->f, sim->r);
    sv_status status = place(app, o, sim, &map);
    sv_adapt_seed_request request = {.model = &o->model,
                                     .map = map,
                                     .paths = o->paths == SIM_NOT_GIVEN ? 0 : (unsigned)o->paths,
                                     .flows = o->flows == SIM_NOT_GIVEN ? 0 : (unsigned)o->flows,
                                     .seed = o->seed};
    if (status == SV_OK)
        status = sv_file_create(&file, app->ctx, o->output);
    if (status == SV_OK) {
        struct counted counted = {&file.sink, 0};
        const sv_sink sink = {o->output, &counted, count_lines};
        status = sv_adapt_seed(app->ctx, sim->f, sim->r, sim->trace, &request, &sink);
        if (status == SV_OK)
            status = sv_file_commit(&file);
        sv_file_close(&file);
        if (status == SV_OK && strcmp(o->output, "-") != 0)
            sv_note(app->ctx, "%s: %llu solutions", o->output,
                    (unsigned long long)(counted.lines - 1));
    }
    sv_release(app->ctx, map);
    return status;
}

int trace_seed(struct app *app, int argc, char **argv)
{
    struct seed o = {.profile = "qdr",
                     .map = "linear",
                     .vls = SIM_NOT_GIVEN,
                     .paths = SIM_NOT_GIVEN,
                     .flows = SIM_NOT_GIVEN,
                     .seed = 1};
    const app_option options[] = {
        {"engine", 'e', OPTION_TEXT, &o.engine, "ENGINE",
         "route the fabric with this first (or auto)"},
        {"vls", 0, OPTION_NUMBER, &o.vls, "N", "VLs the engine may use"},
        {"map", 0, OPTION_TEXT, &o.map, "MAP",
         "ranks to hosts: linear (default), random or file:FILE (a host a line)"},
        {"profile", 'p', OPTION_TEXT, &o.profile, "NAME", "of the model, as for sim (default qdr)"},
        {"paths", 0, OPTION_NUMBER, &o.paths, "N", "at most, of a pair (default 4)"},
        {"flows", 0, OPTION_NUMBER, &o.flows, "N", "at most, of a pattern (default 8)"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "of what is drawn, and of the engine (default 1)"},
        {"output", 'o', OPTION_TEXT, &o.output, "FILE", "the store (required)"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "TRACE FABRIC|TABLES -o FILE [options]",
        "Work out beforehand what predictive policies find while they run: for each phase of a\n"
        "program that comes again, who contends where by these tables, and paths that balance\n"
        "it. TRACE may be a skeleton (selvage trace make help).",
        "selvage trace seed pop.svt kary:k=4,n=3,hosts=4 -e dmodk -o pop.store\n"
        "selvage sim kary:k=4,n=3,hosts=4 -e dmodk --trace pop.svt --policy pr-drb "
        "--store pop.store",
        options};
    int code = app_parse(app, &usage, argc, argv, o.words, 2, 2);
    if (code < 0)
        code = check_options(app, &o);
    if (code >= 0)
        return code;
    struct sim sim = {.f = NULL};
    sv_mpi_trace *trace = NULL;
    sv_status status = sv_file_try(app->ctx, o.output);
    if (status == SV_OK)
        status = load(app, &o, &trace, &sim);
    if (status == SV_OK)
        status = write_store(app, &o, &sim);
    sv_mpi_free(trace);
    sv_routes_free(sim.r);
    sv_fabric_free(sim.f);
    return app_exit(app, status);
}
