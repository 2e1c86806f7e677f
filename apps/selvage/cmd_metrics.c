/*
 * cmd_metrics.c: selvage metrics DIR: how evenly tables load the channels, how long paths are.
 */
#include "selvage/app.h"

static void print_text(sv_text *out, const sv_fabric *f, const sv_load *load, unsigned vls)
{
    sv_text_print(out, "switches       %u\nterminals      %u\n", f->live_switches,
                  f->live_terminals);
    sv_text_print(out, "channels       %u between switches\n", load->channels);
    sv_text_print(out, "routes         %llu to %llu a channel, %.2f on average, deviation %.2f\n",
                  (unsigned long long)load->min, (unsigned long long)load->max, load->avg,
                  load->sdv);
    sv_text_print(out, "hops           %.4f on average, %u at most\n", load->hops_avg,
                  load->hops_max);
    sv_text_print(out, "pairs          %llu joined\nlanes          %u used\n",
                  (unsigned long long)load->pairs, vls);
}

static void print_json(sv_text *out, const sv_fabric *f, const sv_load *load, unsigned vls)
{
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_number(&j, "switches", f->live_switches);
    sv_json_number(&j, "terminals", f->live_terminals);
    sv_json_number(&j, "channels", load->channels);
    sv_json_begin_row(&j, "efi", '{');
    sv_json_number(&j, "min", load->min);
    sv_json_real(&j, "avg", load->avg, 4);
    sv_json_number(&j, "max", load->max);
    sv_json_real(&j, "sdv", load->sdv, 4);
    sv_json_end(&j, '}');
    sv_json_begin_row(&j, "hops", '{');
    sv_json_real(&j, "avg", load->hops_avg, 6);
    sv_json_number(&j, "max", load->hops_max);
    sv_json_end(&j, '}');
    sv_json_number(&j, "pairs", load->pairs);
    sv_json_number(&j, "vls_used", vls);
    sv_json_end(&j, '}');
}

int cmd_metrics(struct app *app, int argc, char **argv)
{
    const char *input;
    bool json = false;
    const app_option options[] = {{"json", 'j', OPTION_FLAG, &json, NULL, "print JSON"},
                                  {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "DIR",
        "How many routes between terminals each channel between switches carries (edge\n"
        "forwarding index), and how many such channels a route takes.",
        "selvage metrics tables", options};
    int code = app_parse(app, &usage, argc, argv, &input, 1, 1);
    if (code >= 0)
        return code;
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    sv_verification *found = NULL;
    const sv_verify_options quick = {.quick = true};
    sv_load load;
    sv_text out;
    sv_status status = app_load_tables(app, input, &f, &r);
    if (status == SV_OK)
        status = sv_routes_load(app->ctx, f, r, NULL, &load);
    if (status == SV_OK)
        status = sv_verify(app->ctx, f, r, &quick, &found);
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status == SV_OK) {
        if (json)
            print_json(&out, f, &load, found->vls_used);
        else
            print_text(&out, f, &load, found->vls_used);
        status = app_print_end(app, &out);
    }
    sv_verification_free(found);
    sv_routes_free(r);
    sv_fabric_free(f);
    return app_exit(app, status);
}
