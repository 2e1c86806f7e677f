/*
 * cmd_discover.c: selvage discover -o DIR: a live fabric and what is programmed into it.
 */
#include <selvage/experimental/discover.h>
#include <string.h>

#include "selvage/app.h"

struct discover {
    const char *output;
    uint64_t port, timeout, tries, window;
    bool json;
    sv_format format;
    sv_discover_options options;
};

static void print_text(sv_text *out, const struct discover *o, const sv_fabric *f,
                       const sv_routes *r, const sv_discovery *found)
{
    static const char *const sl_forms[] = {[SV_SL_UNKNOWN] = "not asked for (--sls)",
                                           [SV_SL_CONSTANT] = "one for all",
                                           [SV_SL_BY_DESTINATION] = "by destination",
                                           [SV_SL_BY_SWITCH] = "by switch and destination",
                                           [SV_SL_BY_NODE] = "by source and destination"};
    uint32_t others, links = app_count_links(f, &others);
    sv_text_print(out, "from           %s\n", found->device);
    sv_text_print(out, "fabric         %u switches, %u terminals, %u links: %.2f s\n",
                  f->live_switches, f->live_terminals, links, found->fabric_seconds);
    if (r != NULL) {
        sv_text_print(out,
                      "tables         %llu blocks of 64 LIDs, %llu of VLs, %llu of multicast (%u "
                      "groups): %.2f s\n",
                      (unsigned long long)found->lft_blocks,
                      (unsigned long long)found->sl2vl_tables,
                      (unsigned long long)found->mft_blocks, r->num_groups, found->tables_seconds);
        sv_text_print(out, "SLs            %s", sl_forms[r->sl_form]);
        if (o->options.sls)
            sv_text_print(out, ": %llu paths, %.2f s", (unsigned long long)found->paths,
                          found->path_seconds);
        sv_text_print(out, "\ndatagrams      %llu, %llu of them again\n",
                      (unsigned long long)found->datagrams, (unsigned long long)found->again);
    }
    if (found->unanswered > 0)
        sv_text_print(out, "missing        %llu answers, %u nodes do not answer\n",
                      (unsigned long long)found->unanswered, found->silent);
    sv_text_print(out, "written        %s\n",
                  o->output != NULL ? o->output : "nothing: give -o DIR, or -o FILE.svr");
}

static void print_json(sv_text *out, const struct discover *o, const sv_fabric *f,
                       const sv_routes *r, const sv_discovery *found)
{
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "from", found->device);
    sv_json_number(&j, "switches", f->live_switches);
    sv_json_number(&j, "terminals", f->live_terminals);
    sv_json_number(&j, "links", app_count_links(f, NULL));
    sv_json_bool(&j, "tables", r != NULL);
    sv_json_number(&j, "lft_blocks", found->lft_blocks);
    sv_json_number(&j, "sl2vl_tables", found->sl2vl_tables);
    sv_json_bool(&j, "sl2vl_known", r != NULL && r->sl2vl_known);
    sv_json_number(&j, "multicast_blocks", found->mft_blocks);
    sv_json_number(&j, "multicast_groups", r != NULL ? r->num_groups : 0);
    sv_json_bool(&j, "sl_known", r != NULL && r->sl_form != SV_SL_UNKNOWN);
    sv_json_number(&j, "paths", found->paths);
    sv_json_number(&j, "datagrams", found->datagrams);
    sv_json_number(&j, "sent_again", found->again);
    sv_json_number(&j, "unanswered", found->unanswered);
    sv_json_number(&j, "silent_nodes", found->silent);
    sv_json_real(&j, "fabric_seconds", found->fabric_seconds, 3);
    sv_json_real(&j, "tables_seconds", found->tables_seconds, 3);
    sv_json_real(&j, "path_seconds", found->path_seconds, 3);
    sv_json_text(&j, "output", o->output);
    sv_json_end(&j, '}');
}

static sv_status run(struct app *app, const struct discover *o, int *code)
{
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    sv_discovery found;
    sv_text out;
    SV_TRY(sv_fabric_discover(app->ctx, &o->options, &f, &r, &found));
    sv_status status = SV_OK;
    if (o->output != NULL)
        status = r == NULL ? sv_fabric_save(app->ctx, f, o->format, o->output)
                           : sv_dump_write(app->ctx, f, r, o->output);
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status == SV_OK) {
        (o->json ? print_json : print_text)(&out, o, f, r, &found);
        status = app_print_end(app, &out);
    }
    *code = found.unanswered > 0 ? EXIT_NO : EXIT_YES;
    sv_routes_free(r);
    sv_fabric_free(f);
    return status;
}

/* -1 to go on, or an exit code. */
static int check_line(struct app *app, struct discover *o)
{
    if (o->port > 255)
        return app_usage_error(app, "--port is 1 to 255");
    if (o->timeout < 1 || o->timeout > 3600000)
        return app_usage_error(app, "--timeout is 1 to 3600000 ms");
    if (o->tries < 1 || o->tries > 100)
        return app_usage_error(app, "--tries is 1 to 100");
    if (o->window < 1 || o->window > 1024)
        return app_usage_error(app, "--window is 1 to 1024");
    if (o->options.fabric_only && o->options.sls)
        return app_usage_error(app, "--no-tables leaves nothing for --sls");
    if (!o->options.fabric_only && o->output != NULL && strcmp(o->output, "-") == 0)
        return app_usage_error(app, "tables are a directory or a .svr file, not a stream");
    const char *const outputs[] = {"-", o->output};
    int code = app_one_stream(app, "output", outputs, 2);
    if (code < 0 && o->options.fabric_only && o->output != NULL)
        code = app_format(app, NULL, o->output, &o->format);
    o->options.port = (unsigned)o->port;
    o->options.timeout_ms = (unsigned)o->timeout;
    o->options.tries = (unsigned)o->tries;
    o->options.window = (unsigned)o->window;
    return code;
}

int cmd_discover(struct app *app, int argc, char **argv)
{
    struct discover o = {.timeout = 500, .tries = 3, .window = 64};
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &o.output, "DIR",
         "where to write: a directory as OpenSM dumps it, or FILE.svr"},
        {"ca", 0, OPTION_TEXT, &o.options.device, "NAME",
         "the adapter of this host to use (default: the first that is active)"},
        {"port", 0, OPTION_NUMBER, &o.port, "N", "its port (default: the first that is active)"},
        {"sls", 0, OPTION_FLAG, &o.options.sls, NULL,
         "ask the subnet manager for the service level of every pair of nodes"},
        {"no-tables", 0, OPTION_FLAG, &o.options.fabric_only, NULL,
         "only the fabric; --output is a file then, as for convert"},
        {"timeout", 0, OPTION_NUMBER, &o.timeout, "MS",
         "how long an answer may take (default 500)"},
        {"tries", 0, OPTION_NUMBER, &o.tries, "N", "how often a question is asked (default 3)"},
        {"window", 0, OPTION_NUMBER, &o.window, "N",
         "questions on the wire at once, up to 1024 (default 64)"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "[-o DIR] [--sls]",
        "Read the fabric that this host is cabled to, and what its switches and adapters are\n"
        "programmed with now: forwarding tables, VLs, multicast. Nothing is changed in it.\n"
        "Exit code 1: some of them did not answer, and what was written is not complete.",
        "selvage discover -o now && selvage check now\n"
        "selvage discover --sls -o now.svr",
        options};
    int code = app_parse(app, &usage, argc, argv, NULL, 0, 0);
    if (code < 0)
        code = check_line(app, &o);
    if (code >= 0)
        return code;
    sv_status status = run(app, &o, &code);
    return status == SV_OK ? code : app_exit(app, status);
}
