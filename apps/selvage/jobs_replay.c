/*
 * jobs_replay.c: selvage jobs replay FABRIC HISTORY: what engines would have done for the jobs of a
 * month.
 */
#include <string.h>

#include "base/file.h"
#include "selvage/jobs_shared.h"
#include "selvage/jobs_times.h"
#include "selvage/replayed.h"

#define NOT_GIVEN UINT64_MAX

/* ---- what is asked ---- */

/* Cuts a piece off a text at a character; the rest, or NULL. */
static char *cut(char *text, char at)
{
    char *found = strchr(text, at);
    if (found == NULL)
        return NULL;
    *found = 0;
    return found + 1;
}

/* "nue+jobs:parts=4": name is a copy of the label that may be cut; -1 or an exit code. */
static int parse_engine(struct app *app, struct replay_options *o, const char *label, char *name)
{
    uint32_t number = o->num_engines;
    if (number == SV_MAX_REPLAY_ENGINES)
        return app_usage_error(app, "--engines: more than %d", SV_MAX_REPLAY_ENGINES);
    for (uint32_t i = 0; i < number; i++)
        if (strcmp(o->engines[i].label, label) == 0)
            return app_usage_error(app, "--engines: '%s' is there twice", label);
    sv_replay_engine *engine = &o->engines[o->num_engines++];
    *engine = (sv_replay_engine){.name = name, .options = o->options[number], .label = label};
    for (char *rest = cut(name, ':'); rest != NULL;) {
        if (engine->num_options == REPLAY_MAX_OPTIONS)
            return app_usage_error(app, "--engines: '%s' has too many options", label);
        o->options[number][engine->num_options++] = rest;
        rest = cut(rest, ':');
    }
    const char *plus = cut(name, '+');
    if (*name == 0 || (plus != NULL && strcmp(plus, "jobs") != 0))
        return app_usage_error(app, "--engines: '%s' is no engine", label);
    engine->jobs = plus != NULL || strcmp(name, "sar") == 0; /* sar without jobs is dfsssp */
    const sv_jobmap some = {0};
    const sv_route_request request = {.jobs = engine->jobs ? &some : NULL,
                                      .options = engine->options,
                                      .num_options = engine->num_options};
    sv_status status = sv_route_check(app->ctx, name, &request);
    return status == SV_OK ? -1 : app_exit(app, status);
}

/* "sar,dfsssp,nue+jobs", and --against; -1 or an exit code. */
static int parse_engines(struct app *app, struct replay_options *o)
{
    size_t length = strlen(o->engines_text);
    o->names = sv_alloc(app->ctx, 2 * length + 2, 1); /* labels, then names */
    if (o->names == NULL)
        return app_exit(app, SV_NO_MEMORY);
    memcpy(o->names, o->engines_text, length);
    memcpy(o->names + length + 1, o->engines_text, length);
    for (char *label = o->names, *next; label != NULL; label = next) {
        char *name = label + length + 1;
        next = cut(label, ',');
        cut(name, ',');
        int code = parse_engine(app, o, label, name);
        if (code >= 0)
            return code;
    }
    for (o->against = 0; o->against_text != NULL && o->against < o->num_engines; o->against++)
        if (strcmp(o->engines[o->against].label, o->against_text) == 0)
            return -1;
    return o->against_text == NULL
               ? -1
               : app_usage_error(app, "--against: '%s' is none of --engines", o->against_text);
}

/* All that can be told without the history; -1 or an exit code. */
static int check_line(struct app *app, struct replay_options *o)
{
    if (o->every != NULL && !jobs_length(o->every, &o->plan.every))
        return app_usage_error(app, "--every: '%s' is no length of time (10m)", o->every);
    bool order = o->hosts != NULL && strcmp(o->hosts, "order") == 0;
    if (o->hosts != NULL && !order && strcmp(o->hosts, "name") != 0)
        return app_usage_error(app, "--hosts: '%s' is neither name nor order", o->hosts);
    if (o->vls != NOT_GIVEN && (o->vls < 1 || o->vls > 15))
        return app_usage_error(app, "--vls: %llu is not in 1…15", (unsigned long long)o->vls);
    o->plan.placing = order ? SV_PLACE_IN_ORDER : SV_PLACE_BY_NAME;
    o->plan.vls = o->vls == NOT_GIVEN ? 0 : (unsigned)o->vls;
    o->plan.seed = o->seed;
    const char *const outputs[] = {o->csv, o->svg, "-"};
    int code = app_two_files(app, "csv", o->csv, "svg", o->svg);
    if (code < 0)
        code = app_one_stream(app, "output", outputs, 3);
    if (code < 0)
        code = app_one_stream(app, "input", o->inputs, 2);
    if (code < 0)
        code = jobs_format(app, o->format_name, &o->format);
    return code < 0 ? parse_engines(app, o) : code;
}

/* ---- doing it ---- */

/* Both files, or neither. */
static sv_status save(struct app *app, const struct replay_options *o, const sv_replay *r)
{
    sv_file csv = {.ctx = app->ctx, .descriptor = -1}, svg = csv;
    sv_status status = SV_OK;
    if (o->csv != NULL)
        status = sv_file_create(&csv, app->ctx, o->csv);
    if (status == SV_OK && o->csv != NULL)
        status = sv_replay_write_csv(app->ctx, r, &csv.sink);
    if (status == SV_OK && o->svg != NULL)
        status = sv_file_create(&svg, app->ctx, o->svg);
    if (status == SV_OK && o->svg != NULL)
        status = sv_replay_write_svg(app->ctx, r, o->inputs[0], &svg.sink);
    if (status == SV_OK)
        status = sv_files_commit((sv_file *const[]){&svg, &csv}, 2);
    sv_file_close(&csv);
    sv_file_close(&svg);
    return status;
}

/* --begin and --until, now that the history is known; -1 or an exit code. */
static int find_span(struct app *app, struct replay_options *o, const sv_allocations *history)
{
    sv_replay_plan *plan = &o->plan;
    plan->begin = plan->until = SV_TIME_UNKNOWN;
    if (history->begin == SV_TIME_UNKNOWN && (o->begin == NULL || o->until == NULL))
        return app_exit(app, sv_fail(app->ctx, SV_BAD_INPUT,
                                     "%s: tells no times of jobs: give --begin and --until, or a "
                                     "history with times (sacct --parsable2)",
                                     o->inputs[1]));
    if (o->begin != NULL &&
        sv_allocations_moment(app->ctx, history, o->begin, &plan->begin) != SV_OK)
        return app_usage_error(app, "--begin: %s", sv_ctx_message(app->ctx));
    if (o->until != NULL &&
        sv_allocations_moment(app->ctx, history, o->until, &plan->until) != SV_OK)
        return app_usage_error(app, "--until: %s", sv_ctx_message(app->ctx));
    return -1;
}

/* Writes and prints; an exit code. */
static int tell(struct app *app, const struct replay_options *o, const sv_allocations *history,
                const sv_replay *r)
{
    sv_text out;
    bool proven = true;
    sv_placed placed = {.unknown_hosts = r->unknown_hosts};
    memcpy(placed.unknown, r->unknown, sizeof placed.unknown);
    jobs_warn_unknown(app, o->inputs[1], history, &placed);
    sv_status status = save(app, o, r);
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status == SV_OK) {
        (o->json ? replay_print_json : replay_print_text)(&out, o, r);
        status = app_print_end(app, &out);
    }
    for (uint32_t e = 0; e < r->num_engines; e++)
        proven = proven && r->tables[e].unconnected + r->tables[e].deadlocking == 0;
    int code = app_exit(app, status);
    return code == EXIT_YES && !proven ? EXIT_NO : code;
}

static int run(struct app *app, struct replay_options *o)
{
    sv_fabric *fabric = NULL;
    sv_allocations *history = NULL;
    sv_replay *r = NULL;
    o->plan.engines = o->engines;
    o->plan.num_engines = o->num_engines;
    sv_status status = app_load(app, o->inputs[0], &fabric);
    if (status == SV_OK)
        status = sv_allocations_load(app->ctx, o->inputs[1], o->format, &history);
    int code = status == SV_OK ? find_span(app, o, history) : app_exit(app, status);
    if (code < 0) {
        status = sv_replay_run(app->ctx, fabric, history, &o->plan, &r);
        code = status == SV_OK ? tell(app, o, history, r) : app_exit(app, status);
    }
    sv_replay_free(r);
    sv_allocations_free(history);
    sv_fabric_free(fabric);
    return code;
}

int jobs_replay(struct app *app, int argc, char **argv)
{
    struct replay_options o = {.engines_text = "sar,dfsssp,ftree,updn",
                               .seed = 1,
                               .vls = NOT_GIVEN,
                               .plan = {.every = 600}};
    const app_option options[] = {
        {"engines", 0, OPTION_TEXT, &o.engines_text, "E,E,...",
         "default sar,dfsssp,ftree,updn; nue+jobs follows jobs, nue does not;\n"
         "                             options behind colons: sar:rounds=1"},
        {"against", 0, OPTION_TEXT, &o.against_text, "E",
         "which of them the others are held against"},
        {"every", 0, OPTION_TEXT, &o.every, "TIME", "between samples (default 10m)"},
        {"begin", 0, OPTION_TEXT, &o.begin, "T",
         "first sample: a date, or +3d from where the history begins"},
        {"until", 0, OPTION_TEXT, &o.until, "T", "no samples from here on: a date, or +7d"},
        {"hosts", 0, OPTION_TEXT, &o.hosts, "name|order",
         "known by name (default), or the k-th host is the k-th of the fabric"},
        {"format", 'f', OPTION_TEXT, &o.format_name, "F", "of the history (default: recognised)"},
        {"csv", 0, OPTION_TEXT, &o.csv, "FILE", "write all samples"},
        {"svg", 0, OPTION_TEXT, &o.svg, "FILE", "draw them"},
        {"vls", 0, OPTION_NUMBER, &o.vls, "N", "VLs that engines may use"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "of engines that draw (default 1)"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FABRIC HISTORY [options]",
        "Play a history of jobs (sacct --parsable2, SWF with lists of nodes) over a fabric:\n"
        "sample it, route it with several engines wherever jobs on several switches have\n"
        "changed, prove the tables, and tell what they do for routes inside jobs.",
        "selvage jobs replay taurus taurus.sacct --csv taurus.csv --svg taurus.svg\n"
        "selvage jobs replay kary:k=6,n=2,hosts=6 log.swf --hosts order --every 1h\n"
        "selvage jobs replay fabric.txt log --engines weave+jobs,weave,sar --until +7d",
        options};
    int code = app_parse(app, &usage, argc, argv, o.inputs, 2, 2);
    if (code < 0)
        code = check_line(app, &o);
    if (code < 0)
        code = run(app, &o);
    sv_release(app->ctx, o.names);
    return code;
}
