/*
 * jobs_make.c: selvage jobs make FABRIC: a history of jobs made up for a fabric, as sacct would
 * write it.
 */
#include <string.h>

#include "base/file.h"
#include "selvage/jobs_shared.h"
#include "selvage/jobs_times.h"

struct make {
    const char *input, *output, *trace, *place, *begin;
    const char *load, *single, *multi, *powers, *large, *run, *spread;
    uint64_t days, warm_up, usual, largest;
    sv_history_plan plan;
    bool json;
};

#define NOT_GIVEN UINT64_MAX

/* ---- what is asked ---- */

/* Shares, percents and hours; bounds are those of sv_history_plan. -1 or an exit code. */
static int take_reals(struct app *app, struct make *o)
{
    sv_history_plan *plan = &o->plan;
    const struct {
        const char *name, *text;
        double min, max, scale, *value;
    } reals[] = {{"load", o->load, 0.001, 1, 1, &plan->load},
                 {"single", o->single, 0, 100, 0.01, &plan->single},
                 {"multi", o->multi, 0, 100, 0.01, &plan->several},
                 {"powers", o->powers, 0, 100, 0.01, &plan->powers},
                 {"large", o->large, 0, 100, 0.01, &plan->large},
                 {"run", o->run, 1 / 60.0, 168, 1, &plan->run_hours},
                 {"spread", o->spread, 0, 5, 1, &plan->run_spread}};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        double value;
        if (reals[i].text == NULL)
            continue;
        if (!jobs_real(reals[i].text, &value))
            return app_usage_error(app, "--%s: '%s' is not a number", reals[i].name, reals[i].text);
        if (value < reals[i].min || value > reals[i].max)
            return app_usage_error(app, "--%s: %s is not in %.3g…%g", reals[i].name, reals[i].text,
                                   reals[i].min, reals[i].max);
        *reals[i].value = value * reals[i].scale;
    }
    return -1;
}

/* Days and nodes; -1 or an exit code. */
static int take_numbers(struct app *app, struct make *o)
{
    enum { MAX_DAYS = 3660, MAX_NODES = 1000000 };
    sv_history_plan *plan = &o->plan;
    const struct {
        const char *name;
        uint64_t given, min, max;
        uint32_t *value;
    } numbers[] = {{"days", o->days, 1, MAX_DAYS, &plan->days},
                   {"warm-up", o->warm_up, 0, MAX_DAYS, &plan->warm_up},
                   {"usual", o->usual, 2, MAX_NODES, &plan->usual},
                   {"largest", o->largest, 2, MAX_NODES, &plan->largest}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].given == NOT_GIVEN)
            continue;
        if (numbers[i].given < numbers[i].min || numbers[i].given > numbers[i].max)
            return app_usage_error(app, "--%s: %llu is not in %llu…%llu", numbers[i].name,
                                   (unsigned long long)numbers[i].given,
                                   (unsigned long long)numbers[i].min,
                                   (unsigned long long)numbers[i].max);
        *numbers[i].value = (uint32_t)numbers[i].given;
    }
    return -1;
}

/* The plan from the options; -1 or an exit code. */
static int make_plan(struct app *app, struct make *o)
{
    sv_history_plan *plan = &o->plan;
    int code = take_reals(app, o);
    if (code < 0)
        code = take_numbers(app, o);
    if (code >= 0)
        return code;
    if (o->single != NULL && o->multi != NULL)
        return app_usage_error(app, "--multi finds the number that --single gives");
    if (o->begin != NULL && !jobs_moment(o->begin, &plan->begin))
        return app_usage_error(app, "--begin: '%s' is no date (2015-02-01)", o->begin);
    if (plan->begin < (int64_t)plan->warm_up * 86400 || plan->begin > INT64_C(1) << 37)
        return app_usage_error(app, "--begin: the warm-up begins before 1970, or too late");
    plan->best_fit = o->place != NULL && strcmp(o->place, "best") == 0;
    if (o->place != NULL && !plan->best_fit && strcmp(o->place, "first") != 0)
        return app_usage_error(app, "--place: '%s' is neither first nor best", o->place);
    code = app_two_files(app, "output", o->output, "trace", o->trace);
    if (code >= 0)
        return code;
    const char *const outputs[] = {o->output != NULL || o->json ? o->output : "-", o->trace,
                                   o->json ? "-" : NULL};
    return app_one_stream(app, "output", outputs, 3);
}

/* ---- what came of it ---- */

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void print_json(sv_text *out, const struct make *o, const sv_history *h)
{
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_number(&j, "hosts", h->num_hosts);
    jobs_json_time(&j, "begin", h->begin);
    sv_json_number(&j, "days", (uint64_t)(h->end - h->begin) / 86400);
    sv_json_number(&j, "jobs", h->told);
    sv_json_number(&j, "several_switches", h->several);
    sv_json_real(&j, "several_switches_percent", percent(h->several, h->told), 2);
    sv_json_real(&j, "utilisation_percent", 100 * h->utilisation, 2);
    sv_json_real(&j, "single_percent", 100 * h->single, 2);
    sv_json_real(&j, "hosts_avg", h->mean_hosts, 3);
    sv_json_number(&j, "hosts_max", h->max_hosts);
    sv_json_real(&j, "switches_avg", h->mean_switches, 3);
    sv_json_real(&j, "wait_hours_avg", h->mean_wait_hours, 3);
    sv_json_text(&j, "output", o->output);
    sv_json_end(&j, '}');
}

static void print_text(sv_text *out, const struct make *o, const sv_history *h)
{
    char date[JOBS_DATE_ROOM];
    double days = (double)(h->end - h->begin) / 86400;
    sv_text_print(out, "hosts             %u\n", h->num_hosts);
    sv_text_print(out, "time              %.0f day%s from %s\n", days, days > 1 ? "s" : "",
                  jobs_date(h->begin, date));
    sv_text_print(out, "jobs              %u (%.1f a day; of one node %.1f %% were asked for)\n",
                  h->told, h->told / days, 100 * h->single);
    sv_text_print(out, "several switches  %u (%.1f %%)\n", h->several,
                  percent(h->several, h->told));
    sv_text_print(out, "hosts a job       mean %.2f, most %u\n", h->mean_hosts, h->max_hosts);
    sv_text_print(out, "switches a job    mean %.2f\n", h->mean_switches);
    sv_text_print(out, "utilisation       %.1f %%\n", 100 * h->utilisation);
    sv_text_print(out, "waited            mean %.2f h\n", h->mean_wait_hours);
    sv_text_print(out, "output            %s\n", o->output);
}

/* Both files, or neither. */
static sv_status save(struct app *app, const struct make *o, const sv_history *h)
{
    sv_file history = {.ctx = app->ctx, .descriptor = -1}, trace = history;
    bool wanted = o->output != NULL || !o->json;
    sv_status status = SV_OK;
    if (wanted)
        status = sv_file_create(&history, app->ctx, o->output != NULL ? o->output : "-");
    if (status == SV_OK && wanted)
        status = sv_history_write(app->ctx, h, &history.sink);
    if (status == SV_OK && o->trace != NULL)
        status = sv_file_create(&trace, app->ctx, o->trace);
    if (status == SV_OK && o->trace != NULL)
        status = sv_history_write_trace(app->ctx, h, &trace.sink);
    if (status == SV_OK)
        status = sv_files_commit((sv_file *const[]){&trace, &history}, 2);
    sv_file_close(&history);
    sv_file_close(&trace);
    return status;
}

static sv_status run(struct app *app, const struct make *o, const sv_history *h)
{
    sv_text out;
    SV_TRY(save(app, o, h));
    if (!o->json && (o->output == NULL || strcmp(o->output, "-") == 0)) {
        sv_note(app->ctx, "%u jobs, %.1f %% on several switches, utilisation %.1f %%", h->told,
                percent(h->several, h->told), 100 * h->utilisation);
        return SV_OK;
    }
    SV_TRY(app_print_begin(app, &out));
    (o->json ? print_json : print_text)(&out, o, h);
    return app_print_end(app, &out);
}

int jobs_make(struct app *app, int argc, char **argv)
{
    struct make o = {.plan = sv_history_defaults(),
                     .days = NOT_GIVEN,
                     .warm_up = NOT_GIVEN,
                     .usual = NOT_GIVEN,
                     .largest = NOT_GIVEN};
    const app_option options[] = {
        {"days", 0, OPTION_NUMBER, &o.days, "N", "that are told (default 30)"},
        {"seed", 0, OPTION_SEED, &o.plan.seed, "N", "of all that is drawn (default 1)"},
        {"load", 0, OPTION_TEXT, &o.load, "SHARE", "of the nodes that are busy (default 0.85)"},
        {"multi", 0, OPTION_TEXT, &o.multi, "PERCENT",
         "of jobs that use several switches: --single is found for it"},
        {"single", 0, OPTION_TEXT, &o.single, "PERCENT", "of jobs with one node (default 30)"},
        {"usual", 0, OPTION_NUMBER, &o.usual, "NODES", "others have 2 to so many (default 32)"},
        {"large", 0, OPTION_TEXT, &o.large, "PERCENT", "of the others are large (default 1)"},
        {"largest", 0, OPTION_NUMBER, &o.largest, "NODES",
         "that large ones have (default: a quarter of all)"},
        {"powers", 0, OPTION_TEXT, &o.powers, "PERCENT",
         "of the others have a power of two (default 60)"},
        {"run", 0, OPTION_TEXT, &o.run, "HOURS", "median of run times (default 4)"},
        {"spread", 0, OPTION_TEXT, &o.spread, "SIGMA", "of their logarithm (default 1.5)"},
        {"place", 0, OPTION_TEXT, &o.place, "first|best",
         "lowest free nodes (default), or fewest runs of neighbours"},
        {"begin", 0, OPTION_TEXT, &o.begin, "DATE", "first day (default 2015-02-01)"},
        {"warm-up", 0, OPTION_NUMBER, &o.warm_up, "DAYS", "before that, not told (default 14)"},
        {"trace", 0, OPTION_TEXT, &o.trace, "FILE", "all jobs as the scheduler saw them, as CSV"},
        {"output", 'o', OPTION_TEXT, &o.output, "FILE", "where to write the history"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL,
         "print the counts as JSON (the history only goes to --output)"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FABRIC [options]",
        "Make up a history of jobs on the hosts of a fabric that compute, as sacct\n"
        "--parsable2 writes it: arrivals with the rhythm of days and weeks, first come\n"
        "first served with backfilling, whole nodes. The same seed makes the same.",
        "selvage jobs make taurus --multi 66 -o taurus.sacct\n"
        "selvage jobs make kary:k=6,n=2,hosts=6 --days 7 --load 0.7 -o week.sacct",
        options};
    int code = app_parse(app, &usage, argc, argv, &o.input, 1, 1);
    if (code < 0)
        code = make_plan(app, &o);
    if (code >= 0)
        return code;
    sv_fabric *fabric = NULL;
    sv_history *history = NULL;
    sv_status status = app_load(app, o.input, &fabric);
    if (status == SV_OK)
        status = sv_history_make(app->ctx, fabric, &o.plan, &history);
    if (status == SV_OK)
        status = run(app, &o, history);
    sv_history_free(history);
    sv_fabric_free(fabric);
    return app_exit(app, status);
}
