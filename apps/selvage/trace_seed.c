/*
 * trace_seed.c: selvage trace seed TRACE FABRIC: solutions worked out beforehand for what a program
 * will do: a store that predictive policies begin with (sim --store).
 */
#include <selvage/adapt.h>
#include <selvage/profiles.h>
#include <string.h>

#include "base/file.h"
#include "selvage/sim_shared.h"
#include "selvage/trace_shared.h"

struct seed {
    const char *words[2]; /* trace, fabric or tables */
    const char *engine, *profile, *map, *output;
    uint64_t vls, paths, flows, seed;
    sv_sim_model model;
};

static int check_options(struct app *app, struct seed *o)
{
    const struct {
        const char *name;
        uint64_t value;
    } small[] = {{"vls", o->vls}, {"paths", o->paths}, {"flows", o->flows}};
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        if (small[i].value > 1000)
            return app_usage_error(app, "--%s: %llu is more than 1000", small[i].name,
                                   (unsigned long long)small[i].value);
    if (o->output == NULL)
        return app_usage_error(app, "where to? (--output FILE)");
    if (strcmp(o->map, "linear") != 0 && strcmp(o->map, "random") != 0 &&
        strncmp(o->map, "file:", 5) != 0)
        return app_usage_error(app, "--map: '%s' is none of linear, random and file:FILE", o->map);
    if (sv_profile_model(app->ctx, o->profile, &o->model) != SV_OK)
        return app_usage_error(app, "--profile: %s", sv_ctx_message(app->ctx));
    if (o->engine == NULL && sim_is_fabric(o->words[1]))
        return app_usage_error(
            app, "'%s' is a fabric without tables: --engine ENGINE computes them", o->words[1]);
    const char *const inputs[] = {o->words[0], o->words[1],
                                  strncmp(o->map, "file:", 5) == 0 ? o->map + 5 : NULL};
    return app_one_stream(app, "input", inputs, 3);
}

static sv_status load(struct app *app, const struct seed *o, sv_mpi_trace **trace, struct sim *sim)
{
    const sv_route_request request = {.vls = (unsigned)o->vls, .seed = o->seed};
    SV_TRY(sim_load_trace(app, o->words[0], trace));
    sim->trace = *trace;
    if (o->engine == NULL)
        return app_load_tables(app, o->words[1], &sim->f, &sim->r);
    SV_TRY(app_load(app, o->words[1], &sim->f));
    return sv_route(app->ctx, sim->f, o->engine, &request, &sim->r, NULL);
}

/* Where ranks are. *map: to be released. */
static sv_status place(struct app *app, const struct seed *o, const struct sim *sim, sv_node **map)
{
    if (strncmp(o->map, "file:", 5) == 0)
        return sim_read_map(app, sim, o->map + 5, map);
    *map = sv_alloc(app->ctx, sim->trace->num_ranks, sizeof **map);
    if (*map == NULL)
        return SV_NO_MEMORY;
    return sv_mpi_place(app->ctx, sim->f, sim->trace->num_ranks, strcmp(o->map, "random") == 0,
                        o->seed, *map);
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
    if (o->model.lanes == 0)
        o->model.lanes = (uint8_t)sv_sim_lanes(sim->f, sim->r);
    sv_status status = place(app, o, sim, &map);
    sv_adapt_seed_request request = {.model = &o->model,
                                     .map = map,
                                     .paths = (unsigned)o->paths,
                                     .flows = (unsigned)o->flows,
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
        if (status == SV_OK)
            sv_note(app->ctx, "%s: %llu solutions", o->output,
                    (unsigned long long)(counted.lines - 1));
    }
    sv_release(app->ctx, map);
    return status;
}

int trace_seed(struct app *app, int argc, char **argv)
{
    struct seed o = {.profile = "qdr", .map = "linear", .seed = 1};
    const app_option options[] = {
        {"engine", 'e', OPTION_TEXT, &o.engine, "ENGINE", "route the fabric with this first"},
        {"vls", 0, OPTION_NUMBER, &o.vls, "N", "lanes the engine may use"},
        {"map", 0, OPTION_TEXT, &o.map, "MAP",
         "ranks to hosts: linear (default), random or file:FILE (a host a line)"},
        {"profile", 'p', OPTION_TEXT, &o.profile, "NAME", "of the model, as for sim (default qdr)"},
        {"paths", 0, OPTION_NUMBER, &o.paths, "N", "at most, of a pair (default 4)"},
        {"flows", 0, OPTION_NUMBER, &o.flows, "N", "at most, of a pattern"},
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
    sv_status status = load(app, &o, &trace, &sim);
    if (status == SV_OK)
        status = write_store(app, &o, &sim);
    sv_mpi_free(trace);
    sv_routes_free(sim.r);
    sv_fabric_free(sim.f);
    return app_exit(app, status);
}
