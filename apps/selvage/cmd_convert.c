/*
 * cmd_convert.c: selvage convert IN -o OUT --format F: fabrics, and tables with the fabric they are
 * for.
 */
#include <string.h>

#include "base/file.h"
#include "selvage/app.h"

/* Whether tables are asked for, and not just a fabric: by format, or by the name of the output. */
static bool wants_tables(const char *format, const char *output)
{
    size_t length = output == NULL ? 0 : strlen(output);
    if (format == NULL)
        return length > 4 && strcmp(output + length - 4, ".svr") == 0;
    return strcmp(format, "tables") == 0 ||
           sv_routes_format_named(format) != SV_ROUTES_FORMAT_COUNT;
}

static sv_status write_part(struct app *app, const sv_fabric *f, const sv_routes *r,
                            sv_routes_format format, const char *output)
{
    sv_file file;
    SV_TRY(sv_file_create(&file, app->ctx, output));
    sv_status status = sv_routes_write(app->ctx, f, r, format, &file.sink);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    else
        sv_file_close(&file);
    return status;
}

/* Tables to a directory, a .svr file, or one part of them to a file. */
static int convert_tables(struct app *app, const char *input, const char *format,
                          const char *output)
{
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    bool whole = format == NULL || strcmp(format, "tables") == 0;
    if (whole && (output == NULL || strcmp(output, "-") == 0))
        return app_usage_error(app, "tables go to a directory or a .svr file: give -o");
    sv_status status = app_load_tables(app, input, &f, &r);
    if (status == SV_OK)
        status = whole ? sv_dump_write(app->ctx, f, r, output)
                       : write_part(app, f, r, sv_routes_format_named(format),
                                    output == NULL ? "-" : output);
    sv_routes_free(r);
    sv_fabric_free(f);
    return app_exit(app, status);
}

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
         "(default: by the file's suffix, else ibnetdiscover); of tables: tables, lfts, fdbs, "
         "sl2vl, psl, ibdmchk-psl, mcfdbs, qos"},
        {"cn-guids", 0, OPTION_TEXT, &cn, "FILE", "only these port GUIDs compute (as for opensm)"},
        {"io-guids", 0, OPTION_TEXT, &io, "FILE", "these port GUIDs are I/O nodes"},
        {"json", 'j', OPTION_FLAG, &json, NULL,
         "print the counts as JSON (the fabric only goes to --output)"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {"FABRIC [-o FILE] [--format FORMAT]",
                             "Read a fabric, or a directory of tables, and write it in another "
                             "format.",
                             "selvage convert opensm-subnet.lst -o fabric.dot\n"
                             "selvage convert fabric.txt --format slurm -o topology.conf\n"
                             "selvage convert tables -o tables.svr",
                             options};
    sv_format format;
    int code = app_parse(app, &usage, argc, argv, &input, 1, 1);
    if (code >= 0)
        return code;
    if (wants_tables(format_name, output)) {
        if (json || cn != NULL || io != NULL)
            return app_usage_error(app, "tables are converted without --json, --cn-guids, "
                                        "--io-guids");
        return convert_tables(app, input, format_name, output);
    }
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
