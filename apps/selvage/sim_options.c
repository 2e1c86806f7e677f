/*
 * sim_options.c: the command line of `selvage sim`: what it means, and what of it is nonsense.
 */
#include <string.h>

#include "selvage/sim_shared.h"
#include "text/quantity.h"

enum { MAX_OPTIONS = 64 };

/* ---- values ---- */

int sim_parse_time(struct app *app, const char *name, const char *text, bool positive,
                   uint64_t *ticks)
{
    *ticks = SIM_NOT_GIVEN;
    if (text == NULL)
        return -1;
    if (!sv_span_ticks(sv_span_of(text), 1000, SV_TICKS_PER_NS, ticks) || (positive && *ticks == 0))
        return app_usage_error(app, "--%s: '%s' is no time%s (microseconds, or such as 5ms)", name,
                               text, positive ? " above 0" : "");
    return -1;
}

int sim_parse_share(struct app *app, const char *name, const char *text, double *share)
{
    *share = 0;
    if (text != NULL && (!sv_span_decimal(sv_span_of(text), share) || !(*share > 0 && *share <= 1)))
        return app_usage_error(app, "--%s: '%s' is not more than 0 and at most 1", name, text);
    return -1;
}

int sim_parse_message(struct app *app, struct sim_options *o)
{
    if (o->message != NULL &&
        (!sv_span_bytes(sv_span_of(o->message), UINT32_MAX, &o->message_bytes) ||
         o->message_bytes == 0))
        return app_usage_error(
            app, "--message: '%s' is no number of bytes below 4 GiB (2048, 2KiB, 1MiB)",
            o->message);
    return -1;
}

static int parse_values(struct app *app, struct sim_options *o)
{
    const struct {
        const char *name, *text;
        uint64_t *ticks;
    } times[] = {{"warm-up", o->warm_up, &o->warm_up_ticks},
                 {"sample", o->sample, &o->sample_ticks},
                 {"interval", o->interval, &o->interval_ticks},
                 {"limit", o->limit, &o->limit_ticks}};
    int code = -1;
    for (size_t i = 0; code < 0 && i < sizeof times / sizeof times[0]; i++)
        code = sim_parse_time(app, times[i].name, times[i].text, i > 0, times[i].ticks);
    if (code < 0)
        code = sim_parse_share(app, "load", o->load, &o->load_share);
    if (code < 0)
        code = sim_parse_share(app, "precision", o->precision, &o->precision_share);
    return code < 0 ? sim_parse_message(app, o) : code;
}

/* Whether a spec has a key. */
static bool has_key(const char *spec, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = strpbrk(spec, ":,"); at != NULL; at = strpbrk(at + 1, ":,"))
        if (strncmp(at + 1, key, length) == 0 && at[1 + length] == '=')
            return true;
    return false;
}

int sim_check_twice(struct app *app, const struct sim_options *o)
{
    const struct {
        const char *option, *key;
        bool given;
    } same[] = {{"load", "load", o->load != NULL},
                {"load", "rate", o->load != NULL},
                {"message", "bytes", o->message != NULL},
                {"messages", "messages", o->messages != SIM_NOT_GIVEN}};
    /* Of jobs with traffic of their own it is what the options say. */
    for (size_t i = 0; o->traffic != NULL && o->job_traffic.length == 0 && i < 4; i++)
        if (same[i].given && has_key(o->traffic, same[i].key))
            return app_usage_error(app, "--%s and %s= of --traffic exclude each other",
                                   same[i].option, same[i].key);
    return -1;
}

/* Options that make no sense together; -1 or an exit code. */
static int check_together(struct app *app, const struct sim_options *o)
{
    if (o->engine == NULL && (o->vls != SIM_NOT_GIVEN || o->engine_options.length > 0))
        return app_usage_error(app, "--vls and --option go with --engine");
    if (o->engine != NULL && o->assume_sl != SIM_NOT_GIVEN)
        return app_usage_error(app, "--assume-sl is for tables that do not tell, not for --engine");
    if (o->job_traffic.length > 0 && o->jobs == NULL)
        return app_usage_error(app, "--job-traffic goes with --jobs");
    if (o->list != NULL && (o->traffic != NULL || o->jobs != NULL || o->load != NULL ||
                            o->message != NULL || o->messages != SIM_NOT_GIVEN))
        return app_usage_error(app, "--file tells all messages: no --traffic, --jobs, --message, "
                                    "--messages or --load");
    if (sim_path_of(o->traffic) != NULL &&
        (o->load != NULL || o->message != NULL || o->messages != SIM_NOT_GIVEN))
        return app_usage_error(app,
                               "--traffic file:PATH tells all messages: no --message, --messages "
                               "or --load");
    if (o->steady && o->sample != NULL)
        return app_usage_error(app, "--steady and --sample exclude each other");
    if (o->precision != NULL && !o->steady)
        return app_usage_error(app, "--precision goes with --steady");
    if (o->interval != NULL && !o->steady && o->files[SIM_TIMELINE] == NULL && o->picture == NULL)
        return app_usage_error(app, "--interval goes with --steady, --timeline or --latency-map");
    if (o->picture != NULL && strcmp(o->picture, "-") != 0 &&
        (strlen(o->picture) < 4 || strcmp(o->picture + strlen(o->picture) - 4, ".svg") != 0))
        return app_usage_error(
            app, "--latency-map: '%s' does not end in .svg, which is what is drawn", o->picture);
    return -1;
}

/* Numbers out of range; -1 or an exit code. */
static int check_numbers(struct app *app, const struct sim_options *o)
{
    const app_limit limits[] = {{"vls", o->vls, 1, SV_MAX_VLS},
                                {"assume-sl", o->assume_sl, 0, SV_HARDWARE_SLS - 1},
                                {"messages", o->messages, 1, UINT32_MAX},
                                {"wall", o->wall, 1, 1000000000}};
    return app_check_limits(app, limits, sizeof limits / sizeof limits[0]);
}

/* Standard input and output have one use each; -1 or an exit code. */
static int check_streams(struct app *app, struct sim_options *o)
{
    /* Those before the last two are read for each run. */
    const char *const inputs[] = {
        o->order, o->jobs, o->list, sim_path_of(o->traffic), o->store, sim_path_of(o->map),
        o->input, o->trace};
    enum { INPUTS = sizeof inputs / sizeof inputs[0] };
    for (int i = 0; o->several && i < INPUTS - 2; i++)
        if (inputs[i] != NULL && strcmp(inputs[i], "-") == 0)
            return app_usage_error(app, "standard input cannot be read for each run again");
    const char *outputs[SIM_NUM_FILES + 3] = {o->json ? "-" : NULL, o->picture, o->store_out};
    for (int i = 0; i < SIM_NUM_FILES; i++)
        outputs[i + 3] = o->files[i];
    for (int i = 1; i < SIM_NUM_FILES + 3; i++)
        o->file_on_output |= outputs[i] != NULL && strcmp(outputs[i], "-") == 0;
    int code = app_one_stream(app, "input", inputs, INPUTS);
    return code >= 0 ? code : app_one_stream(app, "output", outputs, SIM_NUM_FILES + 3);
}

int sim_parse_model(struct app *app, struct sim_options *o)
{
    if (sv_profile_model(app->ctx, o->profile, &o->model) != SV_OK)
        return app_usage_error(app, "--profile: %s", sv_ctx_message(app->ctx));
    for (size_t i = 0; i < o->set.length; i++)
        if (sv_sim_param_set(app->ctx, &o->model, o->set.at[i]) != SV_OK)
            return app_usage_error(app, "--set: %s", sv_ctx_message(app->ctx));
    return -1;
}

/* Names of engines, policies and patterns, before anything is loaded; -1 or an exit code. */
static int check_names(struct app *app, const struct sim_options *o)
{
    const sv_route_request request = {.options = o->engine_options.at,
                                      .num_options = o->engine_options.length};
    sv_status status = SV_OK;
    int code = o->engine != NULL ? app_check_engine(app, o->engine, &request) : -1;
    if (code >= 0)
        return code;
    for (size_t i = 0; status == SV_OK && i < o->policies.length; i++)
        status = sv_adapt_check(app->ctx, o->policies.at[i]);
    if (status == SV_OK && o->traffic != NULL)
        status = sv_sim_traffic_check(app->ctx, o->traffic);
    return status == SV_OK ? -1 : app_exit(app, status);
}

static int check(struct app *app, struct sim_options *o)
{
    int code = parse_values(app, o);
    if (code < 0)
        code = check_names(app, o);
    if (code < 0)
        code = check_numbers(app, o);
    if (code < 0)
        code = check_together(app, o);
    if (code < 0)
        code = sim_check_twice(app, o);
    if (code < 0)
        code = sim_parse_policies(app, o);
    if (code < 0)
        code = check_streams(app, o);
    if (code < 0)
        code = sim_parse_model(app, o);
    return code < 0 ? sim_check_outputs(app, o) : code;
}

/* ---- what there is ---- */

/* Options that belong together, put where they go; how many they are. */
#define PUT(options, own) (memcpy(options, own, sizeof own), sizeof own / sizeof(own)[0])

static size_t put_traffic(struct sim_options *o, app_option *options)
{
    const app_option own[] = {
        {"traffic", 't', OPTION_TEXT, &o->traffic, "SPEC",
         "who sends what to whom (default exchange); help lists"},
        {"message", 'm', OPTION_TEXT, &o->message, "BYTES",
         "of a message: 2048, 2KiB, 1MiB (default: one MTU)"},
        {"messages", 0, OPTION_NUMBER, &o->messages, "N", "of a terminal, of endless traffic"},
        {"load", 0, OPTION_TEXT, &o->load, "F",
         "offered share of each terminal's link, up to 1 (default: as fast as it goes)"},
        {"seed", 0, OPTION_SEED, &o->seed, "N", "of traffic, and of the engine (default 1)"},
        {"order", 0, OPTION_TEXT, &o->order, "FILE",
         "port GUIDs of hosts in the order of ranks (as route --order-out)"},
        {"jobs", 0, OPTION_TEXT, &o->jobs, "MAP", "job map: jobs talk each for themselves"},
        {"job-traffic", 0, OPTION_LIST, &o->job_traffic, "JOB=SPEC", "of a job, instead"},
        {"file", 0, OPTION_TEXT, &o->list, "FILE", "the messages themselves, one a line"}};
    return PUT(options, own);
}

static size_t put_policies(struct sim_options *o, app_option *options)
{
    const app_option own[] = {
        {"trace", 0, OPTION_TEXT, &o->trace, "FILE|SKELETON",
         "replay a program (selvage trace): ranks send when what they wait for is there"},
        {"map", 0, OPTION_TEXT, &o->map, "HOW",
         "with --trace: ranks to hosts, linear (default), random or file:FILE (a host a line)"},
        {"eager", 0, OPTION_TEXT, &o->eager, "BYTES",
         "with --trace: larger messages ask first (default: none does)"},
        {"compute", 0, OPTION_TEXT, &o->compute, "F",
         "with --trace: computing takes so many times as long (default 1)"},
        {"repeat", 0, OPTION_NUMBER, &o->repeat, "N", "with --trace: so often (default 1)"},
        {"policy", 0, OPTION_LIST, &o->policies, "SPEC",
         "packets choose their ways; several are compared with the first; help lists"},
        {"store", 0, OPTION_TEXT, &o->store, "FILE", "with --policy pr-…: solutions to begin with"},
        {"store-out", 0, OPTION_TEXT, &o->store_out, "FILE", "write those that were found"},
        {"seeds", 0, OPTION_TEXT, &o->seeds, "N|A..B",
         "so many runs from --seed on, or these: means with 95 % confidence"}};
    return PUT(options, own);
}

static size_t put_tables(struct sim_options *o, app_option *options)
{
    const app_option own[] = {
        {"profile", 'p', OPTION_TEXT, &o->profile, "NAME",
         "qdr (default), dla, drb, ndr; help lists all their numbers"},
        {"set", 0, OPTION_LIST, &o->set, "NAME=VALUE", "a number of the model instead"},
        {"engine", 'e', OPTION_TEXT, &o->engine, "ENGINE",
         "compute the tables first (see selvage engines; or auto)"},
        {"vls", 0, OPTION_NUMBER, &o->vls, "N", "with --engine: VLs that may be used"},
        {"option", 0, OPTION_LIST, &o->engine_options, "NAME=VALUE", "with --engine: of it"},
        {"assume-sl", 0, OPTION_NUMBER, &o->assume_sl, "N",
         "everybody uses this service level (for tables that do not tell)"}};
    return PUT(options, own);
}

static size_t put_endings(struct sim_options *o, app_option *options)
{
    const app_option own[] = {
        {"warm-up", 0, OPTION_TEXT, &o->warm_up, "US",
         "do not count before (1000 for a sample of endless traffic, else 0)"},
        {"sample", 0, OPTION_TEXT, &o->sample, "US",
         "count for so long, then stop (5000 for endless traffic, unless told otherwise)"},
        {"steady", 0, OPTION_FLAG, &o->steady, NULL, "stop when all bandwidths are known"},
        {"precision", 0, OPTION_TEXT, &o->precision, "F",
         "with --steady: 99 % sure to this share (default 0.01)"},
        {"interval", 0, OPTION_TEXT, &o->interval, "US",
         "of a row of --timeline, an observation of --steady (10), of --latency-map"},
        {"limit", 0, OPTION_TEXT, &o->limit, "US", "stop then"},
        {"wall", 0, OPTION_NUMBER, &o->wall, "SECONDS", "stop after so long on the clock"}};
    return PUT(options, own);
}

static size_t put_files(struct sim_options *o, app_option *options)
{
    const app_option own[] = {
        {"terminals", 0, OPTION_TEXT, &o->files[SIM_TERMINALS], "FILE", "CSV: each terminal"},
        {"channels", 0, OPTION_TEXT, &o->files[SIM_CHANNELS], "FILE", "CSV: each channel"},
        {"latencies", 0, OPTION_TEXT, &o->files[SIM_LATENCIES], "FILE", "CSV: histogram"},
        {"timeline", 0, OPTION_TEXT, &o->files[SIM_TIMELINE], "FILE",
         "CSV: each switch, interval by interval"},
        {"routers", 0, OPTION_TEXT, &o->files[SIM_ROUTERS], "FILE",
         "CSV: each switch: how long packets waited, what policies found there"},
        {"latency-map", 0, OPTION_TEXT, &o->picture, "FILE.svg",
         "picture: waits over the switches, and over time, of each policy"},
        {"stuck", 0, OPTION_TEXT, &o->files[SIM_STUCK], "FILE", "CSV: packets of a deadlock"},
        {"json", 'j', OPTION_FLAG, &o->json, NULL, "print JSON"}};
    return PUT(options, own);
}

static void put_all(struct sim_options *o, app_option *options)
{
    static const app_option end = {NULL, 0, OPTION_FLAG, NULL, NULL, NULL};
    options += put_traffic(o, options);
    options += put_policies(o, options);
    options += put_tables(o, options);
    options += put_endings(o, options);
    options += put_files(o, options);
    *options = end;
}

int sim_parse(struct app *app, struct sim_options *o, int argc, char **argv)
{
    app_option options[MAX_OPTIONS];
    put_all(o, options);
    const app_usage usage = {
        "DIR|FILE.svr|FABRIC [options]",
        "Simulate traffic over forwarding tables, packet by packet: throughput, latencies, and\n"
        "whether it deadlocks (exit code 1). A fabric without tables is routed with --engine.\n"
        "Times are in microseconds, or with a unit (5ms). With --policy packets choose among "
        "ways;\n"
        "several policies, or several seeds, are compared in a table.",
        "selvage sim tables\n"
        "selvage sim tables --traffic uniform --load 0.6 --profile ndr\n"
        "selvage sim torus:4x4x3,hosts=4 --engine nue --message 20KiB --channels load.csv\n"
        "selvage sim kary:k=4,n=3,hosts=4 -e dmodk -p drb --trace lu:class=A,iterations=9 "
        "--policy deterministic --policy pr-drb",
        options};
    int code = app_parse(app, &usage, argc, argv, &o->input, 0, 1);
    if (code >= 0)
        return code;
    if (strcmp(o->profile, "help") == 0)
        return sim_list(app, sim_list_profiles, o->json);
    if (o->traffic != NULL && strcmp(o->traffic, "help") == 0)
        return sim_list(app, sim_list_traffic, o->json);
    if (o->policies.length == 1 && strcmp(o->policies.at[0], "help") == 0)
        return sim_list(app, sim_list_policies, o->json);
    if (o->input == NULL)
        return app_usage_error(app, "1 argument is missing: selvage sim %s", usage.arguments);
    return check(app, o);
}
