/*
 * cmd_convert.c: selvage convert IN -o OUT --format F.
 */
#include "selvage/app.h"

static sv_status report(struct app *app, const char *format, const sv_fabric *f)
{
    sv_text out;
    sv_json j;
    SV_TRY(app_print_begin(app, &out));
    sv_json_init(&j, &out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "format", format);
    sv_json_number(&j, "switches", f->live_switches);
    sv_json_number(&j, "terminals", f->live_terminals);
    sv_json_number(&j, "links", app_count_links(f, NULL));
    sv_json_end(&j, '}');
    return app_print_end(app, &out);
}

int cmd_convert(struct app *app, int argc, char **argv)
{
    const char *input, *output = NULL, *format_name = NULL, *cn = NULL, *io = NULL;
    bool json = false;
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "FILE", "where to write (default: standard output)"},
        {"format", 'f', OPTION_TEXT, &format_name, "FORMAT",
         "ibnetdiscover, subnet, dot, json, slurm, root-guids, cn-guids, io-guids "
         "(default: by the file's suffix, else ibnetdiscover)"},
        {"cn-guids", 0, OPTION_TEXT, &cn, "FILE", "only these port GUIDs compute (as for opensm)"},
        {"io-guids", 0, OPTION_TEXT, &io, "FILE", "these port GUIDs are I/O nodes"},
        {"json", 'j', OPTION_FLAG, &json, NULL,
         "print the counts as JSON (the fabric only goes to --output)"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {"FABRIC [-o FILE] [--format FORMAT]",
                             "Read a fabric in one format and write it in another.",
                             "selvage convert opensm-subnet.lst -o fabric.dot\n"
                             "selvage convert fabric.txt --format slurm -o topology.conf",
                             options};
    sv_format format;
    int code = app_parse(app, &usage, argc, argv, &input, 1, 1);
    if (code >= 0)
        return code;
    const char *const outputs[] = {output, json ? "-" : NULL}, *const inputs[] = {input, cn, io};
    code = app_format(app, format_name, output == NULL ? "" : output, &format);
    if (code < 0)
        code = app_one_stream(app, "output", outputs, 2);
    if (code < 0)
        code = app_one_stream(app, "input", inputs, 3);
    if (code >= 0)
        return code;
    sv_fabric *fabric = NULL;
    sv_status status = app_load_roles(app, input, cn, io, &fabric);
    if (status == SV_OK && (output != NULL || !json))
        status = sv_fabric_save(app->ctx, fabric, format, output == NULL ? "-" : output);
    if (format == SV_FORMAT_AUTO)
        format = SV_FORMAT_IBNETDISCOVER;
    if (status == SV_OK && json)
        status = report(app, sv_format_about(format)->name, fabric);
    sv_fabric_free(fabric);
    return app_exit(app, status);
}
