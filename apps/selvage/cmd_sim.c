/*
 * cmd_sim.c: selvage sim DIR: what tables deliver under traffic.
 *
 * Tables come from a directory or a .svr file, or from an engine that routes a fabric first.
 * Ctrl-C while it simulates ends the run early, and what there is so far is told, marked as
 * partial; before that there is nothing to tell. Several runs, of policies or seeds, are
 * sim_runs.c's.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "selvage/sim_shared.h"

/* Chosen as for uniform traffic in the paper on DLA: 5 ms after 1 ms. */
enum { WARM_UP_US = 1000, SAMPLE_US = 5000, INTERVAL_US = 10, STEADY_LIMIT_US = 100000 };

static uint64_t ticks_of_us(uint64_t us)
{
    return us * 1000 * SV_TICKS_PER_NS;
}

/* ---- tables ---- */

sv_status sim_route(struct app *app, struct sim *sim)
{
    const struct sim_options *o = sim->o;
    const sv_route_request request = {.vls = o->vls == SIM_NOT_GIVEN ? 0 : (unsigned)o->vls,
                                      .seed = o->seed,
                                      .options = o->engine_options.at,
                                      .num_options = o->engine_options.length};
    sv_selection tried;
    sv_route_report report;
    SV_TRY(app_load(app, o->input, &sim->f));
    sim->engine = o->engine;
    if (strcmp(o->engine, "auto") != 0) {
        SV_TRY(sv_route(app->ctx, sim->f, o->engine, &request, &sim->r, &report));
    } else {
        SV_TRY(sv_route_auto(app->ctx, sim->f, &request, SV_TRAFFIC_MANAGED, &sim->r, &report,
                             &tried));
        sim->engine = tried.candidates[tried.chosen].engine;
    }
    app_warn_vls(app, o->vls, report.vls_used);
    return SV_OK;
}

bool sim_is_fabric(const char *argument)
{
    struct stat about;
    size_t length = strlen(argument);
    if (strcmp(argument, "-") == 0)
        return true;
    if (stat(argument, &about) == 0)
        return S_ISREG(about.st_mode) && (length < 4 || strcmp(argument + length - 4, ".svr") != 0);
    return sv_topology_is_spec(argument);
}

/* Gets fabric and tables; an exit code, or -1. */
static int load(struct app *app, struct sim *sim)
{
    const struct sim_options *o = sim->o;
    if (o->engine == NULL && sim_is_fabric(o->input))
        return app_usage_error(
            app, "'%s' is a fabric without tables: --engine ENGINE computes them", o->input);
    sv_status status =
        o->engine != NULL ? sim_route(app, sim) : app_load_tables(app, o->input, &sim->f, &sim->r);
    if (status == SV_OK && o->assume_sl != SIM_NOT_GIVEN) {
        status = sv_routes_set_sl_form(app->ctx, sim->r, SV_SL_CONSTANT);
        sim->r->sl = (uint8_t)o->assume_sl;
    }
    if (status != SV_OK)
        return app_exit(app, status);
    if (sim->r->sl_form != SV_SL_UNKNOWN)
        return -1;
    sv_fail(app->ctx, SV_BAD_INPUT,
            "%s: service levels are not known, there is no opensm.psl (--assume-sl 0 takes all to "
            "be 0)",
            o->input);
    app_exit(app, SV_BAD_INPUT);
    return EXIT_UNDECIDED;
}

/* ---- running ---- */

/* How long a row of a latency map is: a picture has few columns, and who knows how long a run
 * takes. */
static uint64_t map_interval(const struct sim *sim)
{
    const sv_sim_control *k = &sim->setup.control;
    uint64_t min = ticks_of_us(INTERVAL_US);
    if (k->sample > 0)
        return (k->warm_up + k->sample) / 64 > min ? (k->warm_up + k->sample) / 64 : min;
    return sim->trace != NULL ? 100 * min : 10 * min;
}

/* What was typed, and else: traffic that ends runs to its end, endless traffic has a window. */
static void make_control(struct sim *sim)
{
    const struct sim_options *o = sim->o;
    sv_sim_control *k = &sim->setup.control;
    bool told = o->sample != NULL || o->steady || o->limit != NULL || o->wall != SIM_NOT_GIVEN;
    k->limit = o->limit_ticks; /* not given: never */
    k->wall_ns = o->wall == SIM_NOT_GIVEN ? 0 : o->wall * 1000000000;
    k->sample = o->sample != NULL ? o->sample_ticks : 0;
    if (sim->endless && !told)
        k->sample = ticks_of_us(SAMPLE_US);
    if (o->warm_up != NULL)
        k->warm_up = o->warm_up_ticks;
    else if (sim->endless && (k->sample > 0 || o->steady))
        k->warm_up = ticks_of_us(WARM_UP_US);
    uint64_t interval = o->interval != NULL ? o->interval_ticks : ticks_of_us(INTERVAL_US);
    if (o->files[SIM_TIMELINE] != NULL)
        k->interval = interval;
    else if (o->picture != NULL)
        k->interval = o->interval != NULL ? interval : map_interval(sim);
    if (!o->steady)
        return;
    k->steady = interval;
    k->precision = o->precision != NULL ? o->precision_share : 0.01;
    if (sim->endless && o->limit == NULL && k->wall_ns == 0)
        k->limit = ticks_of_us(STEADY_LIMIT_US);
}

/* Who counts, and what those could inject: not terminals that nothing went from or to. */
static void count_terminals(struct sim *sim)
{
    const sv_sim_source *source = sim->setup.source;
    for (uint32_t t = 0; t < sim->f->num_terminals; t++) {
        const sv_sim_terminal *about = &sim->result->terminals[t];
        sv_node v = {sim->f->num_switches + t};
        bool idle = about->sent_bytes == 0 && about->received_bytes == 0 && about->messages == 0;
        if (idle || (source->counts != NULL && !source->counts(source->user, t)))
            continue;
        uint64_t link = sim_byte_ticks(sim, sim->f->hops[sim->f->first[v.i]].channel);
        uint64_t ticks = link > sim->setup.model.inject ? link : sim->setup.model.inject;
        sim->counting++;
        sim->injection += SV_TICKS_PER_NS * 1e9 / (double)ticks;
    }
}

bool sim_blocked(const struct sim *sim)
{
    return sim->replay != NULL && sim->result->end == SV_SIM_COMPLETED && !sim->replayed.done;
}

static sv_status end_replay(struct app *app, struct sim *sim)
{
    if (sim->replay == NULL)
        return SV_OK;
    sim->replayed = sv_mpi_replay_end(sim->replay);
    if (sim_blocked(sim) && sim->replayed.status == SV_OK)
        sv_warn(app->ctx, "%s: rank %u waits for ever at its event %llu", sim->o->trace,
                sim->replayed.blocked, (unsigned long long)sim->replayed.blocked_at);
    return sim->replayed.status;
}

sv_status sim_run(struct app *app, struct sim *sim)
{
    SV_TRY(sim_fit_model(app, sim));
    SV_TRY(sim_make_policy(app, sim));
    SV_TRY(sim->trace != NULL ? sim_make_replay(app, sim) : sim_load_traffic(app, sim));
    make_control(sim);
    uint64_t begun = sv_now_ns(app->ctx);
    SV_TRY(sv_simulate(app->ctx, sim->f, sim->r, &sim->setup, &sim->result));
    sim->seconds = (double)(sv_now_ns(app->ctx) - begun) / 1e9;
    SV_TRY(end_replay(app, sim));
    count_terminals(sim);
    if (sim->result->end != SV_SIM_DEADLOCK)
        return SV_OK;
    return sim_find_cycle(app, sim, &sim->cycle, &sim->cycle_length);
}

void sim_end_run(struct app *app, struct sim *sim)
{
    sv_release(app->ctx, sim->cycle);
    sv_sim_free(sim->result);
    sv_mpi_replay_free(sim->replay);
    sv_sim_traffic_free(sim->made);
    sv_adapt_free(sim->adapt);
    sim->cycle = NULL;
    sim->result = NULL;
    sim->replay = NULL;
    sim->made = NULL;
    sim->adapt = NULL;
    sim->setup = (sv_sim_setup){0};
    sim->counting = 0;
    sim->injection = 0;
}

/* ---- telling ---- */

sv_status sim_save(struct app *app, const char *path, sim_write_fn *write, const void *what)
{
    sv_file file;
    sv_text out;
    if (strcmp(path, "-") == 0) {
        SV_TRY(app_print_begin(app, &out));
        write(&out, what);
        return app_print_end(app, &out);
    }
    SV_TRY(sv_file_create(&file, app->ctx, path));
    sv_text_init(&out, app->ctx, &file.sink);
    write(&out, what);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    if (status == SV_OK)
        return sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

struct csv {
    const struct sim *sim;
    enum sim_file which;
};

static void write_csv(sv_text *out, const void *what)
{
    const struct csv *csv = what;
    sim_print_csv(out, csv->sim, csv->which);
}

static sv_status write_files(struct app *app, const struct sim *sim)
{
    for (int i = 0; i < SIM_NUM_FILES; i++) {
        const struct csv csv = {sim, (enum sim_file)i};
        if (sim->o->files[i] != NULL)
            SV_TRY(sim_save(app, sim->o->files[i], write_csv, &csv));
    }
    SV_TRY(sim_write_store(app, sim));
    if (sim->o->picture == NULL)
        return SV_OK;
    sim_contender alone = {.policy = sim->policy};
    sv_status status = sim_take_map(app, sim, &alone, true);
    if (status == SV_OK)
        status = sim_draw_map(app, sim, &alone, 1);
    sim_release_map(app, &alone);
    return status;
}

static sv_status tell(struct app *app, const struct sim *sim)
{
    sv_text out;
    SV_TRY(write_files(app, sim));
    if (sim->o->file_on_output)
        return SV_OK;
    SV_TRY(app_print_begin(app, &out));
    (sim->o->json ? sim_print_json : sim_print_text)(&out, sim);
    return app_print_end(app, &out);
}

static int exit_of(const struct sim *sim)
{
    if (sim_blocked(sim))
        return EXIT_NO;
    switch (sim->result->end) {
    case SV_SIM_DEADLOCK:
        return EXIT_NO;
    case SV_SIM_CANCELLED:
        return EXIT_CANCELLED;
    default:
        return EXIT_YES;
    }
}

static int run_once(struct app *app, struct sim *sim)
{
    sim->policy = sim->o->policies.length > 0 ? sim->o->policies.at[0] : NULL;
    sv_status status = sim_run(app, sim);
    if (status == SV_OK) {
        app->concluding = true;
        status = tell(app, sim);
    }
    int code = status == SV_OK ? exit_of(sim) : app_exit(app, status);
    sim_end_run(app, sim);
    return code;
}

int cmd_sim(struct app *app, int argc, char **argv)
{
    struct sim_options o = {.profile = "qdr",
                            .seed = 1,
                            .vls = SIM_NOT_GIVEN,
                            .assume_sl = SIM_NOT_GIVEN,
                            .messages = SIM_NOT_GIVEN,
                            .wall = SIM_NOT_GIVEN,
                            .repeat = SIM_NOT_GIVEN};
    struct sim sim = {.o = &o};
    sv_mpi_trace *trace = NULL;
    int code = sim_parse(app, &o, argc, argv);
    if (code >= 0)
        return code;
    code = load(app, &sim);
    if (code < 0 && o.trace != NULL) {
        sv_status status = sim_load_trace(app, o.trace, &trace);
        code = status == SV_OK ? -1 : app_exit(app, status);
        sim.trace = trace;
    }
    if (code < 0)
        code = o.several ? sim_compare(app, &sim) : run_once(app, &sim);
    sv_mpi_free(trace);
    sv_routes_free(sim.r);
    sv_fabric_free(sim.f);
    return code;
}
