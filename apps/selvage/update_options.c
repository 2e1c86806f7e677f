/*
 * update_options.c: the command line of `selvage update`: what it means, and what of it is
 * nonsense.
 */
#include <string.h>

#include "selvage/update_shared.h"
#include "text/quantity.h"

const char *const update_ways[SV_REHEARSE_WAYS] = {"at-once", "steps", "hold", "five"};

static int parse_ways(struct app *app, struct update_options *o)
{
    bool all = o->rehearse != NULL && strcmp(o->rehearse, "all") == 0, any = all;
    for (int i = 0; o->rehearse != NULL && i < SV_REHEARSE_WAYS; i++) {
        o->ways[i] = all || strcmp(o->rehearse, update_ways[i]) == 0;
        any |= o->ways[i];
    }
    o->one = !all;
    if (o->rehearse != NULL && !any)
        return app_usage_error(app, "--rehearse: '%s' is not at-once, steps, hold, five or all",
                               o->rehearse);
    return -1;
}

/* "5-50", or "5" for both. */
static int parse_delay(struct app *app, struct update_options *o)
{
    const char *dash = strchr(o->delay, '-');
    size_t length = dash != NULL ? (size_t)(dash - o->delay) : strlen(o->delay);
    const sv_span min = {o->delay, length}, max = dash != NULL ? sv_span_of(dash + 1) : min;
    if (!sv_span_ticks(min, 1000, SV_TICKS_PER_NS, &o->delay_min) ||
        !sv_span_ticks(max, 1000, SV_TICKS_PER_NS, &o->delay_max))
        return app_usage_error(app, "--delay: '%s' is no time, or two such as 5-50 (microseconds)",
                               o->delay);
    if (o->delay_min > o->delay_max)
        return app_usage_error(app, "--delay: '%s' ends before it begins", o->delay);
    return -1;
}

static int parse_values(struct app *app, struct update_options *o)
{
    const struct {
        const char *name, *text;
        uint64_t *ticks;
        bool positive;
    } times[] = {{"begin", o->begin, &o->begin_ticks, true},
                 {"retry", o->retry, &o->retry_ticks, true},
                 {"settle", o->settle, &o->settle_ticks, false},
                 {"rest", o->rest, &o->rest_ticks, true},
                 {"limit", o->sim.limit, &o->sim.limit_ticks, true}};
    int code = parse_delay(app, o);
    for (size_t i = 0; code < 0 && i < sizeof times / sizeof times[0]; i++)
        code = sim_parse_time(app, times[i].name, times[i].text, times[i].positive, times[i].ticks);
    if (code < 0)
        code = sim_parse_share(app, "load", o->sim.load, &o->sim.load_share);
    if (code < 0)
        code = sim_parse_message(app, &o->sim);
    if (code < 0 && o->sim.traffic != NULL) {
        sv_status status = sv_sim_traffic_check(app->ctx, o->sim.traffic);
        code = status == SV_OK ? -1 : app_exit(app, status);
    }
    if (code < 0)
        code = sim_check_twice(app, &o->sim);
    return code < 0 ? sim_parse_model(app, &o->sim) : code;
}

static int check_numbers(struct app *app, const struct update_options *o)
{
    const app_limit limits[] = {{"vls", o->vls, 1, SV_MAX_VLS},
                                {"loss", o->loss, 0, 900},
                                {"window", o->window, 0, UINT32_MAX},
                                {"runs", o->runs, 1, 1000000},
                                {"most-steps", o->max_steps, 1, 65536},
                                {"messages", o->sim.messages, 1, UINT32_MAX},
                                {"assume-sl", o->assume_sl, 0, SV_HARDWARE_SLS - 1}};
    return app_check_limits(app, limits, sizeof limits / sizeof limits[0]);
}

static int check(struct app *app, struct update_options *o)
{
    if (o->strict && o->terminals_only)
        return app_usage_error(app, "--strict and --terminals-only exclude each other");
    o->traffic = o->strict           ? SV_TRAFFIC_ALL
                 : o->terminals_only ? SV_TRAFFIC_TERMINALS
                                     : SV_TRAFFIC_MANAGED;
    if (o->output != NULL && strcmp(o->output, "-") == 0)
        return app_usage_error(app, "--output is a file: --json prints what is to be told");
    const char *const inputs[] = {o->sim.order, o->sim.jobs};
    for (int i = 0; i < 2; i++)
        if (inputs[i] != NULL && strcmp(inputs[i], "-") == 0)
            return app_usage_error(app, "standard input cannot be read for each run again");
    int code = parse_ways(app, o);
    if (code < 0)
        code = check_numbers(app, o);
    return code < 0 ? parse_values(app, o) : code;
}

int update_parse(struct app *app, struct update_options *o, int argc, char **argv)
{
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &o->output, "FILE", "write the plan, as JSON"},
        {"strict", 0, OPTION_FLAG, &o->strict, NULL, "traffic between switches counts, too"},
        {"terminals-only", 0, OPTION_FLAG, &o->terminals_only, NULL,
         "only traffic from terminals to terminals counts"},
        {"most-steps", 0, OPTION_NUMBER, &o->max_steps, "N", "steps of a plan (default 256)"},
        {"assume-sl", 0, OPTION_NUMBER, &o->assume_sl, "N",
         "everybody uses this service level (for tables that do not tell)"},
        {"rehearse", 0, OPTION_TEXT, &o->rehearse, "[=WAY]",
         "simulate it: at-once, steps, hold, five, or all (default)"},
        {"traffic", 't', OPTION_TEXT, &o->sim.traffic, "SPEC",
         "who sends what to whom (default uniform; selvage sim --traffic help lists)"},
        {"message", 'm', OPTION_TEXT, &o->sim.message, "BYTES", "of a message (default: one MTU)"},
        {"messages", 0, OPTION_NUMBER, &o->sim.messages, "N", "of a terminal, of endless traffic"},
        {"load", 0, OPTION_TEXT, &o->sim.load, "F",
         "offered share of each terminal's link (default: as fast as it goes)"},
        {"order", 0, OPTION_TEXT, &o->sim.order, "FILE", "port GUIDs in the order of ranks"},
        {"jobs", 0, OPTION_TEXT, &o->sim.jobs, "MAP",
         "job map: jobs talk each for themselves, and each is an application"},
        {"job-traffic", 0, OPTION_LIST, &o->sim.job_traffic, "JOB=SPEC", "of a job, instead"},
        {"profile", 'p', OPTION_TEXT, &o->sim.profile, "NAME", "qdr (default), dla, drb, ndr"},
        {"set", 0, OPTION_LIST, &o->sim.set, "NAME=VALUE", "a number of the model instead"},
        {"vls", 0, OPTION_NUMBER, &o->vls, "N", "VLs there are (default: what links offer)"},
        {"begin", 0, OPTION_TEXT, &o->begin, "US", "when the update begins (default 400)"},
        {"delay", 0, OPTION_TEXT, &o->delay, "MIN-MAX",
         "what datagrams take each way, drawn (default 5-50)"},
        {"loss", 0, OPTION_NUMBER, &o->loss, "N", "of 1000 datagrams are lost (default 0)"},
        {"retry", 0, OPTION_TEXT, &o->retry, "US",
         "until a datagram that is not answered is sent again (default 200)"},
        {"window", 0, OPTION_NUMBER, &o->window, "N",
         "datagrams that wait for an answer (default 4, as OpenSM; 0: all)"},
        {"settle", 0, OPTION_TEXT, &o->settle, "US",
         "at least, where packets must leave between steps (default 10)"},
        {"rest", 0, OPTION_TEXT, &o->rest, "US", "how long traffic goes on after it (default 100)"},
        {"limit", 0, OPTION_TEXT, &o->sim.limit, "US", "a run stops then (default 100ms)"},
        {"runs", 0, OPTION_NUMBER, &o->runs, "N", "with so many seeds of delays (default 1)"},
        {"seed", 0, OPTION_SEED, &o->seed, "N", "of traffic and the first run (default 1)"},
        {"json", 'j', OPTION_FLAG, &o->json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "OLD NEW [options]",
        "From old tables to new ones while traffic runs (directories, or .svr files): an order of\n"
        "updates in which nothing is lost, circles or deadlocks, and who has to be silent\n"
        "meanwhile. Exit code 0: there is one without anybody's help; 1: some must be silent.\n"
        "--rehearse[=WAY] simulates: all blocks at once; by the plan's steps; the same with all\n"
        "whose path changes silent (hold); five phases with two addresses a terminal.",
        "selvage update old new\n"
        "selvage update old new -o plan.json\n"
        "selvage update old new --rehearse --runs 20 --loss 10\n"
        "selvage update old new --rehearse=five --jobs jobs.txt --load 0.5",
        options};
    int code = app_parse(app, &usage, argc, argv, o->words, 2, 2);
    return code >= 0 ? code : check(app, o);
}
