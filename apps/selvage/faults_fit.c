/*
 * faults_fit.c: selvage faults fit LOG: a log of failures becomes rates, times between failures and
 * to repair, Weibull shapes, and a model for --model.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "selvage/faults_shared.h"

struct fit {
    const char *log, *since, *until, *span;
    uint64_t parts[SV_FAILURE_PARTS];
    bool json;
    sv_fit_request request;
};

/* ---- what is asked ---- */

/* -1 or an exit code: what options say of the time observed, in the log's terms. */
static int make_request(struct app *app, struct fit *o, const sv_failure_log *log)
{
    sv_fit_request *request = &o->request;
    memcpy(request->parts, o->parts, sizeof o->parts);
    request->has_begin = o->since != NULL;
    request->has_end = o->until != NULL;
    if (o->since != NULL &&
        sv_failure_moment(app->ctx, log, o->since, false, &request->begin_hours) != SV_OK)
        return app_usage_error(app, "--since: %s", sv_ctx_message(app->ctx));
    if (o->until != NULL &&
        sv_failure_moment(app->ctx, log, o->until, true, &request->end_hours) != SV_OK)
        return app_usage_error(app, "--until: %s", sv_ctx_message(app->ctx));
    if (o->span != NULL && sv_failure_hours(app->ctx, o->span, &request->span_hours) != SV_OK)
        return app_usage_error(app, "--span: %s", sv_ctx_message(app->ctx));
    if (o->span != NULL && request->span_hours == 0)
        return app_usage_error(app, "--span: nothing can be observed in no time");
    return -1;
}

/* Whether there is a model: the number of parts of some kind is known. */
static bool has_model(const struct fit *o)
{
    return o->parts[0] + o->parts[1] + o->parts[2] > 0;
}

/* ---- text ---- */

/* A moment of the log, at most room bytes. */
static void moment_text(const sv_failure_log *log, double hours, char *text, size_t room)
{
    struct tm parts;
    time_t seconds = (time_t)(hours * 3600 + 0.5);
    if (log->dated && gmtime_r(&seconds, &parts) != NULL)
        strftime(text, room, "%Y-%m-%d %H:%M", &parts);
    else
        snprintf(text, room, "%.1f days", hours / 24);
}

/* A length of time in the largest unit that it is at least one of. */
static const char *length_text(double hours, char *text, size_t room)
{
    if (hours >= 24)
        snprintf(text, room, "%.1f d", hours / 24);
    else if (hours >= 1)
        snprintf(text, room, "%.1f h", hours);
    else
        snprintf(text, room, "%.1f min", hours * 60);
    return text;
}

static const char *estimate_text(const sv_estimate *e, double factor, const char *unit, char *text,
                                 size_t room)
{
    if (e->known)
        snprintf(text, room, "%.3g%s (%.3g to %.3g)", factor * e->value, unit, factor * e->low,
                 factor * e->high);
    else
        snprintf(text, room, "-");
    return text;
}

/* hardware: of how many failures the share is told, too; 0: not of this kind. */
static void print_kind(sv_text *out, const char *name, const sv_fit_kind *k, uint64_t hardware)
{
    char of_hardware[32] = "-", rate[64], mtbf[32] = "-", mttr[32] = "-", shape[64], between[64];
    if (k->failures > 0)
        length_text(k->mtbf_hours, mtbf, sizeof mtbf);
    if (k->repairs > 0)
        length_text(k->mttr_hours, mttr, sizeof mttr);
    if (hardware > 0)
        snprintf(of_hardware, sizeof of_hardware, "%.1f%%",
                 100.0 * (double)k->failures / (double)hardware);
    sv_text_print(out, "%-12s %8llu %5.1f%% %6s  %-28s %9s %9s  %-23s %s\n", name,
                  (unsigned long long)k->failures, 100 * k->share, of_hardware,
                  estimate_text(&k->annual, 100, "%", rate, sizeof rate), mtbf, mttr,
                  estimate_text(&k->shape, 1, "", shape, sizeof shape),
                  estimate_text(&k->between, 1, "", between, sizeof between));
}

static void print_verdict(sv_text *out, const sv_estimate *shape, bool begin_known)
{
    if (!begin_known)
        sv_text_print(out, "hardware: whether age matters cannot be told without the day on which "
                           "the machine began (--since); the model takes shape 1\n");
    else if (!shape->known)
        sv_text_print(out, "hardware: too few failures to tell a shape; the model takes 1\n");
    else if (shape->low <= 1 && shape->high >= 1)
        sv_text_print(out, "hardware: a constant rate fits (shape 1 is within the interval)\n");
    else
        sv_text_print(out, "hardware: failures get %s with age (95 %% sure)\n",
                      shape->value < 1 ? "rarer" : "more frequent");
}

static void print_text(sv_text *out, const struct fit *o, const sv_failure_log *log,
                       const sv_failure_fit *fit)
{
    char begin[40], end[40], model[SV_FAILURE_MODEL_TEXT];
    moment_text(log, fit->begin_hours, begin, sizeof begin);
    moment_text(log, fit->end_hours, end, sizeof end);
    sv_text_print(out, "observed %.4g years, from %s%s to %s%s\n", fit->years, begin,
                  o->since != NULL || !log->dated ? "" : " (the day of the first failure)", end,
                  o->until != NULL || o->span != NULL ? "" : " (the last failure)");
    if (fit->outside > 0)
        sv_text_print(out, "%llu failures before or after that are left out\n",
                      (unsigned long long)fit->outside);
    sv_text_print(out, "%-12s %8s %6s %6s  %-28s %9s %9s  %-23s %s\n", "kind", "failures", "share",
                  "hw", "a part and year (95 %)", "MTBF", "MTTR", "shape (95 %)", "between (95 %)");
    for (unsigned k = 0; k < SV_FAILURE_KINDS; k++)
        print_kind(out, sv_failure_kind_name(k), &fit->of[k],
                   k < SV_FAILURE_PARTS ? fit->hardware.failures : 0);
    print_kind(out, "hardware", &fit->hardware, fit->hardware.failures);
    print_kind(out, "all", &fit->all, 0);
    print_verdict(out, &fit->hardware.shape, fit->begin_known);
    if (has_model(o)) {
        sv_failure_model_text(&fit->model, model);
        sv_text_print(out, "for selvage faults FABRIC --years Y --model:\n%s\n", model);
    } else {
        sv_text_print(out, "no model: --links, --switches, --adapters tell how many parts there "
                           "are\n");
    }
}

/* ---- JSON ---- */

static void json_estimate(sv_json *j, const char *key, const sv_estimate *e)
{
    if (!e->known) {
        sv_json_null(j, key);
        return;
    }
    sv_json_begin_row(j, key, '{');
    sv_json_real(j, "value", e->value, 9);
    sv_json_real(j, "low", e->low, 9);
    sv_json_real(j, "high", e->high, 9);
    sv_json_end(j, '}');
}

static void json_hours(sv_json *j, const char *key, bool known, double hours)
{
    if (known)
        sv_json_real(j, key, hours, 6);
    else
        sv_json_null(j, key);
}

static void json_kind(sv_json *j, const char *name, const sv_fit_kind *k)
{
    sv_json_begin_object(j, name);
    sv_json_number(j, "failures", k->failures);
    sv_json_real(j, "share", k->share, 6);
    json_estimate(j, "annual_rate", &k->annual);
    json_hours(j, "mtbf_hours", k->failures > 0, k->mtbf_hours);
    json_hours(j, "mttr_hours", k->repairs > 0, k->mttr_hours);
    sv_json_number(j, "repairs", k->repairs);
    json_estimate(j, "shape", &k->shape);
    json_estimate(j, "between_shape", &k->between);
    sv_json_end(j, '}');
}

static void print_json(sv_text *out, const struct fit *o, const sv_failure_log *log,
                       const sv_failure_fit *fit)
{
    char begin[40], end[40], model[SV_FAILURE_MODEL_TEXT];
    sv_json j;
    moment_text(log, fit->begin_hours, begin, sizeof begin);
    moment_text(log, fit->end_hours, end, sizeof end);
    sv_failure_model_text(&fit->model, model);
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "begin", begin);
    sv_json_text(&j, "end", end);
    sv_json_real(&j, "years", fit->years, 9);
    sv_json_number(&j, "outside", fit->outside);
    sv_json_begin_object(&j, "kinds");
    for (unsigned k = 0; k < SV_FAILURE_KINDS; k++)
        json_kind(&j, sv_failure_kind_name(k), &fit->of[k]);
    sv_json_end(&j, '}');
    json_kind(&j, "hardware", &fit->hardware);
    json_kind(&j, "all", &fit->all);
    sv_json_text(&j, "model", has_model(o) ? model : NULL);
    sv_json_end(&j, '}');
}

/* ---- running ---- */

static sv_status run(struct app *app, const struct fit *o, const sv_failure_log *log)
{
    sv_failure_fit fit;
    sv_text out;
    SV_TRY(sv_failure_fit_log(app->ctx, log, &o->request, &fit));
    for (unsigned k = 0; k < SV_FAILURE_PARTS && has_model(o); k++)
        if (o->parts[k] == 0 && fit.of[k].failures > 0)
            sv_warn(app->ctx,
                    "the model lets no %s fail, because it is not known how many there are",
                    sv_failure_kind_name(k));
    SV_TRY(app_print_begin(app, &out));
    (o->json ? print_json : print_text)(&out, o, log, &fit);
    return app_print_end(app, &out);
}

int faults_fit(struct app *app, int argc, char **argv)
{
    struct fit o = {0};
    const app_option options[] = {
        {"links", 0, OPTION_NUMBER, &o.parts[SV_FAILURE_LINK], "N", "cables there are"},
        {"switches", 0, OPTION_NUMBER, &o.parts[SV_FAILURE_SWITCH], "N", "switches there are"},
        {"adapters", 0, OPTION_NUMBER, &o.parts[SV_FAILURE_ADAPTER], "N",
         "host adapters there are"},
        {"since", 0, OPTION_TEXT, &o.since, "TIME",
         "when the observation began (default: the day of the first failure)"},
        {"until", 0, OPTION_TEXT, &o.until, "TIME",
         "when it ended (default: with the last failure)"},
        {"span", 0, OPTION_TEXT, &o.span, "LENGTH", "or how long it lasted (18000h, 750d, 2.5y)"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print it as JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "LOG [options]",
        "Fit annual rates, times between failures and to repair, and Weibull shapes to a\n"
        "log of failures: TIME KIND [REPAIR] a line, TIME a date or a number with h or d,\n"
        "KIND link, switch, adapter, software or unspecified (see selvage(1)).",
        "selvage faults fit failures.log --links 7005 --switches 501 --adapters 2816 \\\n"
        "    --since 2010-09-01 --until 2013-08-31",
        options};
    app->verb = "faults fit";
    int code = app_parse(app, &usage, argc, argv, &o.log, 1, 1);
    if (code < 0 && o.until != NULL && o.span != NULL)
        code = app_usage_error(app, "--until and --span both tell the end");
    if (code >= 0)
        return code;
    sv_failure_log *log = NULL;
    sv_status status = sv_failure_log_load(app->ctx, o.log, &log);
    if (status == SV_OK)
        code = make_request(app, &o, log);
    if (status == SV_OK && code < 0)
        status = run(app, &o, log);
    sv_failure_log_free(log);
    return code >= 0 ? code : app_exit(app, status);
}
