/*
 * cmd_topo.c: selvage topo SPEC: generate a fabric; selvage topo --list: what there is.
 */
#include <string.h>

#include "selvage/app.h"

static void list_keys(sv_text *out, const sv_topology_key *keys)
{
    for (; keys != NULL && keys->name != NULL; keys++)
        sv_text_print(out, "    %-12s %s\n", keys->name, keys->meaning);
}

static int list_text(struct app *app)
{
    sv_text out;
    app_print_begin(app, &out);
    sv_text_print(&out, "families:\n");
    for (size_t i = 0; sv_topology_at(i) != NULL; i++) {
        const sv_topology_info *family = sv_topology_at(i);
        sv_text_print(&out, "\n  %s  %s\n    %s\n", family->name, family->summary, family->example);
        list_keys(&out, family->keys);
    }
    sv_text_print(&out, "\nkeys of all families:\n");
    list_keys(&out, sv_topology_common_keys());
    sv_text_print(&out, "\npresets (switches, terminals, links as published):\n");
    for (size_t i = 0; sv_preset_at(i) != NULL; i++) {
        const sv_preset *preset = sv_preset_at(i);
        sv_text_print(&out, "  %-18s %-56s %s\n", preset->name, preset->spec, preset->source);
    }
    return app_exit(app, app_print_end(app, &out));
}

static int list_json(struct app *app)
{
    sv_text out;
    sv_json j;
    app_print_begin(app, &out);
    sv_json_init(&j, &out);
    sv_json_begin_object(&j, NULL);
    sv_json_begin_array(&j, "families");
    for (size_t i = 0; sv_topology_at(i) != NULL; i++) {
        const sv_topology_info *family = sv_topology_at(i);
        sv_json_begin_object(&j, NULL);
        sv_json_text(&j, "name", family->name);
        sv_json_text(&j, "summary", family->summary);
        sv_json_text(&j, "example", family->example);
        sv_json_begin_object(&j, "keys");
        for (const sv_topology_key *key = family->keys; key != NULL && key->name != NULL; key++)
            sv_json_text(&j, key->name, key->meaning);
        sv_json_end(&j, '}');
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, ']');
    sv_json_begin_array(&j, "presets");
    for (size_t i = 0; sv_preset_at(i) != NULL; i++) {
        const sv_preset *preset = sv_preset_at(i);
        sv_json_begin_row(&j, NULL, '{');
        sv_json_text(&j, "name", preset->name);
        sv_json_text(&j, "spec", preset->spec);
        sv_json_text(&j, "source", preset->source);
        sv_json_number(&j, "switches", preset->switches);
        sv_json_number(&j, "terminals", preset->terminals);
        sv_json_number(&j, "links", preset->links);
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
    return app_exit(app, app_print_end(app, &out));
}

static sv_status report(struct app *app, const char *spec, const sv_fabric *f)
{
    sv_text out;
    sv_json j;
    SV_TRY(app_print_begin(app, &out));
    sv_json_init(&j, &out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "spec", spec);
    sv_json_number(&j, "switches", f->live_switches);
    sv_json_number(&j, "terminals", f->live_terminals);
    sv_json_number(&j, "links", app_count_links(f, NULL));
    sv_json_end(&j, '}');
    return app_print_end(app, &out);
}

int cmd_topo(struct app *app, int argc, char **argv)
{
    const char *output = NULL, *format_name = NULL, *spec = NULL;
    bool list = false, json = false;
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "FILE", "where to write (default: standard output)"},
        {"format", 'f', OPTION_TEXT, &format_name, "FORMAT",
         "as for convert (default: by the file's suffix, else ibnetdiscover)"},
        {"list", 'l', OPTION_FLAG, &list, NULL, "list all families, their keys and the presets"},
        {"json", 'j', OPTION_FLAG, &json, NULL,
         "print the counts as JSON (the fabric only goes to --output)"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {"SPEC [-o FILE]", "Generate a fabric from a topology spec.",
                             "selvage topo torus:4x4x3,hosts=4 -o torus.net\n"
                             "selvage topo --list",
                             options};
    sv_format format;
    int code = app_parse(app, &usage, argc, argv, &spec, 0, 1);
    if (code >= 0)
        return code;
    if (list)
        return json ? list_json(app) : list_text(app);
    if (spec == NULL)
        return app_usage_error(app, "which topology?");
    const char *const outputs[] = {output, json ? "-" : NULL};
    code = app_one_stream(app, "output", outputs, 2);
    if (code >= 0)
        return code;
    code = app_format(app, format_name, output == NULL ? "" : output, &format);
    if (code >= 0)
        return code;
    sv_fabric *fabric = NULL;
    sv_status status = sv_topology_generate(app->ctx, spec, &fabric);
    if (status == SV_OK && (output != NULL || !json))
        status = sv_fabric_save(app->ctx, fabric, format, output == NULL ? "-" : output);
    if (status == SV_OK && json)
        status = report(app, spec, fabric);
    sv_fabric_free(fabric);
    return app_exit(app, status);
}
