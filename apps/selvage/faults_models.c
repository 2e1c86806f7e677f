/*
 * faults_models.c: models of failures on the command line: --years, and --model help, which tells
 * every number of every preset and where it comes from.
 */
#include <stdio.h>

#include "selvage/faults_shared.h"
#include "text/times.h"

bool faults_years(const char *text, double *years)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    return sv__scan_plain(&scan, years) && sv_scan_done(&scan) && *years <= 1000;
}

static void print_preset(sv_text *out, const sv_failure_preset *preset)
{
    sv_text_print(out, "\n%s: %s\nfrom %s\n", preset->name, preset->summary, preset->source);
    for (const sv_failure_value *v = preset->values; v->name != NULL; v++) {
        char value[40];
        snprintf(value, sizeof value, "%s=%s", v->name, v->value == NULL ? "?" : v->value);
        sv_text_print(out, "  %-15s %-14s %s\n", value,
                      v->value == NULL ? "not published:"
                      : v->published   ? "published:"
                                       : "ours:",
                      v->why);
    }
}

static void print_models(sv_text *out)
{
    sv_text_print(
        out, "--model PRESET, KEY=VALUE pairs, or a preset and pairs that replace its numbers:\n"
             "  link, switch, adapter  P%%  annual rate of failures\n"
             "  shape                  K   of the Weibull distribution (1: constant rate)\n"
             "  link-shape, switch-shape, adapter-shape\n"
             "                         K   of one kind\n"
             "  over                   Y   years that the annual rates are the mean of (1)\n"
             "Within t years a share 1 - exp(ln(1 - rate) Y (t / Y)^K) fails. What is =? has to be "
             "given.\n");
    for (size_t i = 0; sv_failure_preset_at(i) != NULL; i++)
        print_preset(out, sv_failure_preset_at(i));
}

static void json_models(sv_text *out)
{
    sv_json j;
    const sv_failure_preset *preset;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_begin_array(&j, "presets");
    for (size_t i = 0; (preset = sv_failure_preset_at(i)) != NULL; i++) {
        sv_json_begin_object(&j, NULL);
        sv_json_text(&j, "name", preset->name);
        sv_json_text(&j, "summary", preset->summary);
        sv_json_text(&j, "source", preset->source);
        sv_json_begin_array(&j, "values");
        for (const sv_failure_value *v = preset->values; v->name != NULL; v++) {
            sv_json_begin_row(&j, NULL, '{');
            sv_json_text(&j, "name", v->name);
            sv_json_text(&j, "value", v->value);
            sv_json_bool(&j, "published", v->published);
            sv_json_text(&j, "why", v->why);
            sv_json_end(&j, '}');
        }
        sv_json_end(&j, ']');
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
}

int faults_list_models(struct app *app, bool json)
{
    sv_text out;
    sv_status status = app_print_begin(app, &out);
    if (status == SV_OK) {
        (json ? json_models : print_models)(&out);
        status = app_print_end(app, &out);
    }
    return app_exit(app, status);
}
