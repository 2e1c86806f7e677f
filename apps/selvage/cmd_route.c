/*
 * cmd_route.c: selvage route FABRIC --engine E -o DIR: compute tables, judge them, write them.
 * With --repair OLD: change those that were there as little as possible.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "selvage/app.h"

#define NOT_GIVEN UINT64_MAX

struct route {
    const char *input, *output, *engine, *roots, *order, *order_out, *cn, *io, *sl, *repair, *jobs;
    sv_jobmap *map;
    app_list options;
    uint64_t vls, lmc, sl_offset, seed;
    bool json, no_check, full, proven;
    app_two_sets sets;
    app_multicast multicast;
    sv_selection tried; /* of engine auto */
    sv_traffic traffic;
    sv_sl_mode sl_mode;
};

static const char *const sl_modes[SV_SLS_COUNT] = {"pair", "reversible", "destination", "one"};

/* sv_roots_read or sv_hosts_read. */
typedef sv_status read_fn(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source,
                          sv_node *nodes, size_t *count, uint32_t *unknown);

/* Reads a list of nodes, room for most of them, into *nodes (to be released). */
static sv_status read_nodes(struct app *app, const char *path, const sv_fabric *fabric,
                            read_fn *read, size_t max, sv_node **nodes, size_t *count)
{
    sv_file file;
    uint32_t unknown = 0;
    *nodes = sv_alloc(app->ctx, max, sizeof **nodes);
    if (*nodes == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_file_open(&file, app->ctx, path));
    sv_status status = read(app->ctx, fabric, &file.source, *nodes, count, &unknown);
    sv_file_close(&file);
    return status;
}

/* What the engine is asked for. *roots, *hosts: to be released. */
static sv_status make_request(struct app *app, const struct route *o, const sv_fabric *fabric,
                              sv_route_request *request, sv_node **roots, sv_node **hosts)
{
    *request = (sv_route_request){.vls = o->vls == NOT_GIVEN ? 0 : (unsigned)o->vls,
                                  .lmc = o->lmc == NOT_GIVEN ? 0 : (unsigned)o->lmc,
                                  .sl_offset = (unsigned)o->sl_offset,
                                  .sl_mode = o->sl_mode,
                                  .seed = o->seed,
                                  .options = o->options.at,
                                  .num_options = o->options.length};
    request->jobs = o->map;
    if (o->order != NULL) {
        SV_TRY(read_nodes(app, o->order, fabric, sv_hosts_read, fabric->num_terminals, hosts,
                          &request->num_hosts));
        request->hosts = *hosts;
    }
    if (o->roots != NULL) {
        SV_TRY(read_nodes(app, o->roots, fabric, sv_roots_read, fabric->num_switches, roots,
                          &request->num_roots));
        request->roots = *roots;
    }
    return SV_OK;
}

static void print_text(sv_text *out, const struct route *o, const sv_fabric *f, const sv_routes *r,
                       const sv_route_report *report, const sv_verification *found)
{
    if (o->tried.count > 0)
        app_print_selection(out, &o->tried);
    sv_text_print(out, "engine         %s%s%s: %u VL%s, %u service level%s, %.3f s\n", o->engine,
                  report->note[0] != 0 ? ", " : "", report->note, report->vls_used,
                  report->vls_used == 1 ? "" : "s", report->sls_used,
                  report->sls_used == 1 ? "" : "s", (double)report->nanoseconds / 1e9);
    if (report->structure.kind != NULL)
        sv_text_print(out, "structure      %s: %s\n", report->structure.kind,
                      report->structure.words);
    sv_text_print(out, "tables         %u switch%s, %u destinations\n", f->live_switches,
                  f->live_switches == 1 ? "" : "es",
                  f->live_switches + (f->live_terminals << r->lmc));
    if (report->components > 1)
        sv_text_print(out, "components     %u: terminals of different ones cannot talk\n",
                      report->components);
    app_print_two_sets(out, &o->sets);
    app_print_multicast(out, &o->multicast);
    if (found != NULL)
        app_print_verification(out, f, r, found, o->traffic);
    if (o->output != NULL)
        sv_text_print(out, "written        %s\n", o->output);
    else
        sv_text_print(out, "written        nothing: give -o DIR, or -o FILE.svr\n");
}

static void json_structure(sv_json *j, const sv_structure *found)
{
    if (found->kind == NULL) {
        sv_json_null(j, "structure");
        return;
    }
    sv_json_begin_object(j, "structure");
    sv_json_text(j, "kind", found->kind);
    sv_json_text(j, "words", found->words);
    for (uint32_t i = 0; i < found->num_facts; i++) {
        const sv_structure_fact *fact = &found->facts[i];
        if (!fact->list) {
            sv_json_number(j, fact->name, fact->values[0]);
            continue;
        }
        sv_json_begin_row(j, fact->name, '[');
        for (uint32_t k = 0; k < fact->count; k++)
            sv_json_number(j, NULL, fact->values[k]);
        sv_json_end(j, ']');
    }
    sv_json_end(j, '}');
}

static void print_json(sv_text *out, const struct route *o, const sv_fabric *f, const sv_routes *r,
                       const sv_route_report *report, const sv_verification *found)
{
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "engine", o->engine);
    sv_json_text(&j, "note", report->note);
    sv_json_text(&j, "sl_mode", sl_modes[o->sl_mode]);
    sv_json_number(&j, "vls_needed", report->vls_needed);
    sv_json_number(&j, "vls_used", report->vls_used);
    sv_json_number(&j, "sls_used", report->sls_used);
    sv_json_real(&j, "route_seconds", (double)report->nanoseconds / 1e9, 6);
    sv_json_number(&j, "fallbacks", report->fallbacks);
    sv_json_number(&j, "components", report->components);
    json_structure(&j, &report->structure);
    if (o->tried.count > 0)
        app_json_selection(&j, &o->tried);
    sv_json_number(&j, "switches", f->live_switches);
    sv_json_number(&j, "destinations", f->live_switches + ((uint64_t)f->live_terminals << r->lmc));
    app_json_two_sets(&j, &o->sets);
    app_json_multicast(&j, &o->multicast);
    sv_json_text(&j, "output", o->output);
    if (found != NULL) {
        sv_json_begin_object(&j, "check");
        app_json_verification(&j, f, r, found, o->traffic);
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, '}');
}

/* Tables without orders get those that the judgement came by: a repair will need them. */
static sv_status keep_orders(struct app *app, const struct route *o, const sv_fabric *f,
                             sv_routes *r, const sv_verification *found)
{
    uint32_t *numbers;
    if (r->orders != NULL || found == NULL || found->order == NULL ||
        found->deadlock_free[o->traffic] != SV_VERDICT_YES)
        return SV_OK;
    SV_TRY(sv_routes_set_orders(app->ctx, f, r, found->order_vls, &numbers));
    memcpy(numbers, found->order,
           (size_t)r->order_first[f->num_switches] * r->order_vls * sizeof *numbers);
    return SV_OK;
}

/* Judges and writes. */
static sv_status conclude(struct app *app, const struct route *o, const sv_fabric *fabric,
                          sv_routes *routes, const sv_dump_extra *extra, sv_verification **found)
{
    if (!o->no_check)
        SV_TRY(sv_verify(app->ctx, fabric, routes, NULL, found));
    SV_TRY(keep_orders(app, o, fabric, routes, *found));
    if (o->output != NULL)
        SV_TRY(sv_dump_write_with(app->ctx, fabric, routes, o->output, extra));
    if (*found != NULL && app_verdict(*found, o->traffic) == SV_VERDICT_NO)
        sv_warn(app->ctx, "these tables can deadlock");
    return SV_OK;
}

/* Whether the engine can be told to leave room for a tree. */
static bool can_leave_room(const struct route *o)
{
    for (size_t i = 0; i < o->options.length; i++)
        if (strncmp(o->options.at[i], "multicast=", 10) == 0)
            return false;
    return strcmp(o->engine, "weave") == 0 && o->options.length < APP_MAX_LIST;
}

/* What auto tells its engines is only what they heed. */
static void leave_out_unheeded(const struct route *o, sv_route_request *asked)
{
    const sv_engine_info *engine;
    for (size_t i = 0; o->tried.count > 0 && (engine = sv_engine_at(i)) != NULL; i++)
        if (strcmp(engine->name, o->engine) == 0) {
            asked->num_roots = engine->traits & SV_ENGINE_ROOTS ? asked->num_roots : 0;
            asked->num_hosts = engine->traits & SV_ENGINE_HOSTS ? asked->num_hosts : 0;
            asked->jobs = engine->traits & SV_ENGINE_JOBS ? asked->jobs : NULL;
        }
}

/* Once more, with room for a tree, or a VL less so that it has one for itself. */
static sv_status compute_again(struct app *app, struct route *o, const sv_fabric *fabric,
                               const sv_route_request *request, sv_routes **routes,
                               sv_route_report *report)
{
    sv_route_request asked = *request;
    o->multicast.again = true;
    leave_out_unheeded(o, &asked);
    if (can_leave_room(o)) {
        o->options.at[asked.num_options++] = "multicast=yes";
    } else {
        asked.vls = o->multicast.vl = report->vls_used - 1;
        o->multicast.own_vl = true;
    }
    sv_routes_free(*routes);
    *routes = NULL;
    SV_TRY(sv_route(app->ctx, fabric, o->engine, &asked, routes, report));
    return app_add_multicast(app, fabric, *routes, o->traffic, &o->multicast);
}

/* Tables, with a multicast group if wanted. */
static sv_status compute_base(struct app *app, struct route *o, const sv_fabric *fabric,
                              const sv_route_request *request, sv_routes **routes,
                              sv_route_report *report)
{
    char why[300];
    if (strcmp(o->engine, "auto") == 0) {
        SV_TRY(sv_route_auto(app->ctx, fabric, request, o->traffic, routes, report, &o->tried));
        o->engine = o->tried.candidates[o->tried.chosen].engine;
    } else {
        SV_TRY(sv_route(app->ctx, fabric, o->engine, request, routes, report));
    }
    if (!o->multicast.wanted)
        return SV_OK;
    sv_status status = app_add_multicast(app, fabric, *routes, o->traffic, &o->multicast);
    if (status != SV_INFEASIBLE || (!can_leave_room(o) && report->vls_used < 2))
        return status;
    snprintf(why, sizeof why, "%s", sv_ctx_message(app->ctx));
    status = compute_again(app, o, fabric, request, routes, report);
    return status == SV_INFEASIBLE ? sv_fail(app->ctx, status, "%s", why) : status;
}

/* The same, for two sets as the base one of them. */
static sv_status compute(struct app *app, struct route *o, const sv_fabric *fabric,
                         const sv_route_request *request, sv_routes **routes,
                         sv_route_report *report)
{
    sv_route_request asked = *request;
    if (o->sets.wanted)
        SV_TRY(app_two_sets_begin(app, fabric, &asked, &o->sets));
    SV_TRY(compute_base(app, o, fabric, &asked, routes, report));
    return o->sets.wanted ? app_two_sets_end(app, fabric, request, &o->sets, routes, report)
                          : SV_OK;
}

/* VLs of the links between switches that have fewest; 0: they do not tell. */
static unsigned vls_of_links(const sv_fabric *f)
{
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (sv_channel_alive(f, channel) && sv_joins_switches(f, channel) &&
            sv_link_of(f, channel)->vls > 0)
            return sv_vls_offered(f);
    }
    return 0;
}

/* Says where VLs are others than who asked for them, or who sees the tables, would think. */
static void warn_vls(struct app *app, const struct route *o, const sv_fabric *f, unsigned used)
{
    unsigned offered = vls_of_links(f);
    app_warn_vls(app, o->vls, used);
    if (offered > 0 && used > offered)
        sv_warn(app->ctx,
                "these tables use %u VLs, and links offer %u: for these switches give --vls %u",
                used, offered, offered);
}

static sv_status route_anew(struct app *app, struct route *o, const sv_fabric *fabric,
                            const sv_route_request *request, sv_routes **routes,
                            sv_verification **found)
{
    sv_route_report report;
    sv_text out;
    SV_TRY(compute(app, o, fabric, request, routes, &report));
    warn_vls(app, o, fabric, report.vls_used);
    if (report.no_lids && o->output == NULL)
        sv_warn(app->ctx, "more destinations than LIDs: only a .svr file can hold these tables");
    if (o->order_out != NULL)
        SV_TRY(app_write_order(app, fabric, request, &report, o->engine, o->order_out));
    SV_TRY(conclude(app, o, fabric, *routes, NULL, found));
    SV_TRY(app_print_begin(app, &out));
    if (o->json)
        print_json(&out, o, fabric, *routes, &report, *found);
    else
        print_text(&out, o, fabric, *routes, &report, *found);
    return app_print_end(app, &out);
}

static sv_status print_repair(struct app *app, const struct route *o, const sv_fabric *f,
                              const sv_routes *r, const sv_repair_report *report,
                              const sv_verification *found, const char *pairs)
{
    sv_text out;
    sv_json j;
    SV_TRY(app_print_begin(app, &out));
    if (o->json) {
        sv_json_init(&j, &out);
        sv_json_begin_object(&j, NULL);
        app_json_repair(&j, f, r, report, o->engine, pairs);
        app_json_multicast(&j, &o->multicast);
        sv_json_text(&j, "output", o->output);
        if (found != NULL) {
            sv_json_begin_object(&j, "check");
            app_json_verification(&j, f, r, found, o->traffic);
            sv_json_end(&j, '}');
        }
        sv_json_end(&j, '}');
    } else {
        app_print_repair(&out, f, report, o->engine, pairs);
        app_print_multicast(&out, &o->multicast);
        if (found != NULL)
            app_print_verification(&out, f, r, found, o->traffic);
        sv_text_print(&out, "written        %s\n",
                      o->output != NULL ? o->output : "nothing: give -o DIR, or -o FILE.svr");
    }
    return app_print_end(app, &out);
}

static sv_status repair(struct app *app, struct route *o, const sv_fabric *fabric,
                        const sv_route_request *request, sv_routes **routes,
                        sv_verification **found)
{
    sv_route_request asked = *request;
    const sv_repair_request wanted = {.engine = o->engine,
                                      .route = &asked,
                                      .traffic = o->traffic,
                                      .full = o->full,
                                      .proven = o->proven};
    sv_fabric *old_fabric = NULL;
    sv_routes *old = NULL;
    sv_repair_report *report = NULL;
    app_pairs pairs = {0};
    sv_status status = app_load_tables(app, o->repair, &old_fabric, &old);
    if (status == SV_OK && o->lmc != NOT_GIVEN && o->lmc != old->lmc)
        status = sv_fail(app->ctx, SV_INFEASIBLE, "the LMC is %u and stays so", old->lmc);
    if (status == SV_OK && o->sl == NULL && strcmp(o->engine, "weave") == 0)
        asked.sl_mode = sv_routes_sl_mode(old_fabric, old);
    if (status == SV_OK)
        status = sv_repair(app->ctx, old_fabric, old, fabric, &wanted, routes, &report);
    o->multicast.keep = true; /* so that paths keep their SLs */
    if (status == SV_OK && o->multicast.wanted)
        status = app_add_multicast(app, fabric, *routes, o->traffic, &o->multicast);
    if (status == SV_OK)
        status = app_pairs_init(&pairs, app, fabric, *routes, report, o->output);
    if (status == SV_OK)
        status = conclude(app, o, fabric, *routes, pairs.path != NULL ? &pairs.extra : NULL, found);
    if (status == SV_OK)
        status = print_repair(app, o, fabric, *routes, report, *found, pairs.path);
    sv_release(app->ctx, pairs.path);
    sv_repair_report_free(report);
    sv_routes_free(old);
    sv_fabric_free(old_fabric);
    return status;
}

static sv_status run(struct app *app, struct route *o, const sv_fabric *fabric, sv_routes **routes,
                     sv_verification **found)
{
    sv_route_request request;
    sv_node *roots = NULL, *hosts = NULL;
    sv_status status = make_request(app, o, fabric, &request, &roots, &hosts);
    if (status == SV_OK)
        status = o->repair != NULL ? repair(app, o, fabric, &request, routes, found)
                                   : route_anew(app, o, fabric, &request, routes, found);
    sv_release(app->ctx, roots);
    sv_release(app->ctx, hosts);
    return status;
}

/* Whether the engine takes what it is to be asked; an exit code, or -1. */
static int check_engine(struct app *app, const struct route *o)
{
    const sv_jobmap some = {0};
    const sv_route_request request = {.sl_mode = o->sl_mode,
                                      .num_roots = o->roots != NULL,
                                      .num_hosts = o->order != NULL,
                                      .jobs = o->jobs != NULL ? &some : NULL,
                                      .options = o->options.at,
                                      .num_options = o->options.length};
    return app_check_engine(app, o->engine, &request);
}

/* What the options alone tell to be wrong: an exit code, or -1. --sl becomes a mode. */
static int check_line(struct app *app, struct route *o)
{
    if (o->lmc != NOT_GIVEN && o->lmc > 7)
        return app_usage_error(app, "--lmc is 0 to 7");
    if (o->vls != NOT_GIVEN && (o->vls < 1 || o->vls > SV_MAX_VLS))
        return app_usage_error(app, "--vls is 1 to %d", SV_MAX_VLS);
    if (o->vls != NOT_GIVEN && o->vls > SV_HARDWARE_VLS && o->output != NULL &&
        !app_is_svr(o->output))
        return app_usage_error(
            app, "--vls %llu: InfiniBand has %d data VLs; more are for models: -o FILE.svr",
            (unsigned long long)o->vls, SV_HARDWARE_VLS);
    if (o->sl_offset >= SV_HARDWARE_SLS)
        return app_usage_error(app, "--sl-offset is 0 to %d", SV_HARDWARE_SLS - 1);
    while (o->sl != NULL && o->sl_mode < SV_SLS_COUNT && strcmp(o->sl, sl_modes[o->sl_mode]) != 0)
        o->sl_mode++;
    if (o->sl_mode == SV_SLS_COUNT)
        return app_usage_error(app, "--sl is pair, reversible, destination or one, not '%s'",
                               o->sl);
    if ((o->full || o->proven) && o->repair == NULL)
        return app_usage_error(app, "--full and --proven are for --repair");
    if (o->repair != NULL && strcmp(o->engine, "auto") == 0)
        return app_usage_error(app, "--repair needs the engine that is to route what cannot be "
                                    "mended, not auto");
    if (o->sets.wanted && o->repair != NULL)
        return app_usage_error(app, "--two-sets is for routing anew, not for --repair");
    if (o->sets.wanted && o->lmc != NOT_GIVEN && o->lmc != 1)
        return app_usage_error(app, "--two-sets means --lmc 1");
    if (o->sets.wanted && o->vls != NOT_GIVEN && o->vls < 2)
        return app_usage_error(app, "--two-sets needs two VLs or more");
    if (o->sets.wanted && o->sl_mode == SV_SLS_ONE)
        return app_usage_error(app, "--two-sets takes a service level of its own, so --sl one "
                                    "cannot be");
    if (o->full && o->proven)
        return app_usage_error(app, "--full leaves nothing for --proven");
    if (o->order_out != NULL && o->repair != NULL)
        return app_usage_error(app, "--order-out is for routing anew");
    if (o->output != NULL && strcmp(o->output, "-") == 0)
        return app_usage_error(app, "tables are a directory or a .svr file, not a stream");
    const char *const inputs[] = {o->input, o->roots, o->order, o->cn, o->io, o->jobs};
    int code = app_one_stream(app, "input", inputs, 6);
    return code >= 0 ? code : check_engine(app, o);
}

/* All that the line asks for; an exit code. */
static int load_and_run(struct app *app, struct route *o)
{
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    sv_verification *found = NULL;
    sv_status status = app_load_roles(app, o->input, o->cn, o->io, &fabric);
    if (status == SV_OK && o->jobs != NULL)
        status = sv_jobmap_load(app->ctx, fabric, o->jobs, &o->map);
    if (status == SV_OK)
        status = run(app, o, fabric, &routes, &found);
    sv_jobmap_free(o->map);
    sv_verification_free(found);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    return app_exit(app, status);
}

int cmd_route(struct app *app, int argc, char **argv)
{
    struct route o = {.engine = "weave",
                      .vls = NOT_GIVEN,
                      .lmc = NOT_GIVEN,
                      .seed = 1,
                      .traffic = SV_TRAFFIC_MANAGED};
    const app_option options[] = {
        {"engine", 'e', OPTION_TEXT, &o.engine, "ENGINE",
         "see selvage engines; auto tries those that fit (default weave)"},
        {"output", 'o', OPTION_TEXT, &o.output, "DIR",
         "where to write: a directory as OpenSM dumps it, or FILE.svr"},
        {"vls", 0, OPTION_NUMBER, &o.vls, "N",
         "VLs that may be used (default: what all links offer; more than 15: models only)"},
        {"lmc", 0, OPTION_NUMBER, &o.lmc, "N", "2^N addresses a terminal (default 0)"},
        {"sl", 0, OPTION_TEXT, &o.sl, "MODE",
         "service levels by pair (default), reversible, by destination, or one"},
        {"sl-offset", 0, OPTION_NUMBER, &o.sl_offset, "N",
         "use service levels from N on (default 0)"},
        {"roots", 0, OPTION_TEXT, &o.roots, "FILE", "GUIDs of root switches (root_guid_file)"},
        {"order", 0, OPTION_TEXT, &o.order, "FILE",
         "port GUIDs of hosts in the order to route them (guid_routing_order_file)"},
        {"order-out", 0, OPTION_TEXT, &o.order_out, "FILE",
         "write hosts in the order in which shifts do not contend (ftree, dmodk)"},
        {"jobs", 0, OPTION_TEXT, &o.jobs, "MAP",
         "balance routes inside these jobs first (sar, weave, dfsssp, nue, sssp)"},
        {"cn-guids", 0, OPTION_TEXT, &o.cn, "FILE",
         "only these port GUIDs compute (as for opensm)"},
        {"io-guids", 0, OPTION_TEXT, &o.io, "FILE", "these port GUIDs do I/O (as for opensm)"},
        {"option", 0, OPTION_LIST, &o.options, "NAME=VALUE", "an option of the engine"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "where the engine draws lots (default 1)"},
        {"multicast", 0, OPTION_FLAG, &o.multicast.wanted, NULL,
         "a multicast group of all terminals, safe together with the rest"},
        {"two-sets", 0, OPTION_FLAG, &o.sets.wanted, NULL,
         "two addresses a terminal: high ones by updn on the last VL, for five phases"},
        {"repair", 0, OPTION_TEXT, &o.repair, "OLD",
         "change the tables in OLD as little as possible"},
        {"proven", 0, OPTION_FLAG, &o.proven, NULL,
         "with --repair: the old tables are known to be right"},
        {"full", 0, OPTION_FLAG, &o.full, NULL,
         "with --repair: route everything anew all the same"},
        {"no-check", 0, OPTION_FLAG, &o.no_check, NULL, "do not judge the tables"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FABRIC [-o DIR] [--engine ENGINE] [--repair OLD]",
        "Compute forwarding tables, judge them independently, and write them as OpenSM\n"
        "dumps its own: opensm -R file -U DIR/opensm-lfts.dump loads them. With --repair, from\n"
        "the tables in OLD: what still works stays, and it is said how to change the rest.",
        "selvage route torus:4x4x3,hosts=4 -o tables\n"
        "selvage route now.txt --repair tables -o new\n"
        "selvage route kary:k=4,n=3,hosts=4 --engine auto\n"
        "selvage route fabric.txt --jobs jobs.txt -o tables\n"
        "selvage route fabric.txt --engine sssp --json",
        options};
    int code = app_parse(app, &usage, argc, argv, &o.input, 1, 1);
    if (code < 0)
        code = check_line(app, &o);
    return code >= 0 ? code : load_and_run(app, &o);
}
