/*
 * cmd_engines.c: selvage engines: what there is to route with.
 */
#include "selvage/app.h"

static const struct trait {
    unsigned bit;
    const char *key, *text;
} traits[] = {
    {SV_ENGINE_ANY_TOPOLOGY, "any_topology", "any topology"},
    {SV_ENGINE_DEADLOCK_FREE, "deadlock_free", "deadlock-free"},
    {SV_ENGINE_MINIMAL, "minimal", "shortest paths"},
    {SV_ENGINE_VLS, "vls", "several VLs"},
    {SV_ENGINE_ROOTS, "roots", "heeds --roots"},
    {SV_ENGINE_HOSTS, "hosts", "heeds --order, --cn-guids and --io-guids"},
    {SV_ENGINE_JOBS, "jobs", "heeds --jobs"},
};

enum { NUM_TRAITS = sizeof traits / sizeof traits[0] };

static void print_text(sv_text *out, const sv_engine_info *e)
{
    sv_text_print(out, "%-10s%s\n          from %s;", e->name, e->summary, e->source);
    const char *comma = "";
    for (int i = 0; i < NUM_TRAITS; i++)
        if (e->traits & traits[i].bit) {
            sv_text_print(out, "%s %s", comma, traits[i].text);
            comma = ",";
        }
    sv_text_print(out, "\n");
    for (const sv_engine_option *o = e->options; o != NULL && o->name != NULL; o++)
        sv_text_print(out, "          --option %s=%s: %s\n", o->name, o->values, o->help);
}

static void print_json(sv_json *j, const sv_engine_info *e)
{
    sv_json_begin_object(j, NULL);
    sv_json_text(j, "name", e->name);
    sv_json_text(j, "summary", e->summary);
    sv_json_text(j, "source", e->source);
    for (int i = 0; i < NUM_TRAITS; i++)
        sv_json_bool(j, traits[i].key, (e->traits & traits[i].bit) != 0);
    sv_json_begin_array(j, "options");
    for (const sv_engine_option *o = e->options; o != NULL && o->name != NULL; o++) {
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "name", o->name);
        sv_json_text(j, "values", o->values);
        sv_json_text(j, "help", o->help);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
    sv_json_end(j, '}');
}

int cmd_engines(struct app *app, int argc, char **argv)
{
    bool json = false;
    const app_option options[] = {{"json", 'j', OPTION_FLAG, &json, NULL, "print JSON"},
                                  {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {"", "The routing engines, their traits and options.",
                             "selvage engines", options};
    int code = app_parse(app, &usage, argc, argv, NULL, 0, 0);
    if (code >= 0)
        return code;
    sv_text out;
    sv_json j;
    sv_status status = app_print_begin(app, &out);
    if (status != SV_OK)
        return app_exit(app, status);
    if (json) {
        sv_json_init(&j, &out);
        sv_json_begin_array(&j, NULL);
    }
    for (size_t i = 0; sv_engine_at(i) != NULL; i++)
        if (json)
            print_json(&j, sv_engine_at(i));
        else
            print_text(&out, sv_engine_at(i));
    if (json)
        sv_json_end(&j, ']');
    else
        sv_text_print(&out, "auto      tries those that fit the fabric and takes the best: "
                            "selvage route --engine auto\n");
    return app_exit(app, app_print_end(app, &out));
}
