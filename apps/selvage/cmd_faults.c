/*
 * cmd_faults.c: selvage faults FABRIC: let parts fail and write what is left. What is asked of
 * logs, selvage faults fit LOG, is in faults_fit.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "selvage/faults_shared.h"

struct faults {
    const char *input, *output, *format_name, *list, *save_list;
    const char *links, *switches, *adapters, *both, *ratio, *level;
    const char *years_text, *model_text;
    sv_failure_model model;
    double years;
    app_list named_switches, named_adapters, named_ports;
    sv_fault_plan plan;
    bool json;
    uint64_t seed;
};

/* --years and --model; -1 or an exit code. */
static int make_model(struct app *app, struct faults *o)
{
    if (o->years_text == NULL && o->model_text == NULL)
        return -1;
    if (o->years_text == NULL || o->model_text == NULL)
        return app_usage_error(app, "--years and --model go together");
    if (o->links || o->switches || o->adapters || o->both || o->ratio)
        return app_usage_error(app,
                               "--years stands for --links, --switches, --adapters and --both");
    if (o->level || o->plan.only || o->plan.touching || o->plan.keep_terminals)
        return app_usage_error(app, "--years lets any part fail: no --level, --only, --touching or "
                                    "--keep-terminals");
    if (!faults_years(o->years_text, &o->years))
        return app_usage_error(app, "--years: '%s' is not a number from 0 to 1000", o->years_text);
    if (sv_failure_model_parse(app->ctx, o->model_text, &o->model) != SV_OK)
        return app_usage_error(app, "--model: %s", sv_ctx_message(app->ctx));
    return -1;
}

/* The plan from the options; -1 or an exit code. */
static int make_plan(struct app *app, struct faults *o)
{
    const struct {
        const char *name, *text;
        sv_amount *amount;
    } amounts[] = {{"links", o->links, &o->plan.links},
                   {"switches", o->switches, &o->plan.switches},
                   {"adapters", o->adapters, &o->plan.adapters},
                   {"both", o->both, &o->plan.both}};
    for (int i = 0; i < 4; i++)
        if (amounts[i].text != NULL &&
            sv_amount_parse(app->ctx, amounts[i].text, amounts[i].amount) != SV_OK)
            return app_usage_error(app, "--%s: %s", amounts[i].name, sv_ctx_message(app->ctx));
    if ((o->both != NULL) != (o->ratio != NULL))
        return app_usage_error(app, "--both and --ratio go together");
    if (o->both != NULL && (o->links != NULL || o->switches != NULL))
        return app_usage_error(app, "--both stands for --links and --switches");
    if (o->ratio != NULL &&
        sv_ratio_parse(app->ctx, o->ratio, &o->plan.ratio_switches, &o->plan.ratio_links) != SV_OK)
        return app_usage_error(app, "--ratio: %s", sv_ctx_message(app->ctx));
    uint64_t level;
    if (o->level != NULL) {
        if (!sv_span_number(sv_span_of(o->level), UINT32_MAX - 1, &level))
            return app_usage_error(app, "--level: '%s' is not a number", o->level);
        o->plan.limit_level = true;
        o->plan.level = (uint32_t)level;
    }
    o->plan.seed = o->seed;
    bool some = o->links || o->switches || o->adapters || o->both || o->list || o->years_text ||
                o->named_switches.length || o->named_adapters.length || o->named_ports.length;
    return some ? -1
                : app_usage_error(app, "what is to fail? give --links, --switches, --adapters, "
                                       "--both, --years, --list, --switch, --adapter or --port");
}

/* Each stream and each file is for one thing. */
static int check_streams(struct app *app, const struct faults *o)
{
    const char *fabric = o->output != NULL || o->json ? o->output : "-";
    const char *const outputs[] = {fabric, o->save_list, o->json ? "-" : NULL};
    const char *const inputs[] = {o->input, o->list};
    if (o->output != NULL && o->save_list != NULL && strcmp(o->output, o->save_list) == 0)
        return app_usage_error(app, "--output and --save-list are the same file");
    int code = app_one_stream(app, "output", outputs, 3);
    return code >= 0 ? code : app_one_stream(app, "input", inputs, 2);
}

/* One failure from the command line, as a line of a list. NAME/PORT becomes two words. */
static sv_status add_named(struct app *app, const sv_index *index, const sv_fabric *fabric,
                           const char *word, const char *name, sv_mask *mask,
                           sv_fault_report *report)
{
    const char *slash = strcmp(word, "port") == 0 ? strrchr(name, '/') : NULL;
    const char *end = slash != NULL ? slash : name + strlen(name);
    sv_text line;
    sv_text_init(&line, app->ctx, NULL);
    sv_text_print(&line, "%s \"", word);
    for (const char *c = name; c < end; c++)
        sv_text_print(&line, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    sv_text_print(&line, "\" %s", slash != NULL ? slash + 1 : "");
    sv_status status = sv_text_finish(&line);
    if (status == SV_OK)
        status = sv_faults_add(app->ctx, index, fabric, line.at, mask, report);
    sv_text_release(&line);
    return status;
}

static sv_status add_all_named(struct app *app, const struct faults *o, const sv_fabric *fabric,
                               sv_mask *mask, sv_fault_report *report)
{
    const struct {
        const char *word;
        const app_list *names;
    } lists[] = {
        {"switch", &o->named_switches}, {"adapter", &o->named_adapters}, {"port", &o->named_ports}};
    sv_index *index = sv_index_new(app->ctx, fabric);
    sv_status status = index == NULL ? SV_NO_MEMORY : SV_OK;
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; status == SV_OK && k < lists[i].names->length; k++)
            status =
                add_named(app, index, fabric, lists[i].word, lists[i].names->at[k], mask, report);
    sv_index_free(index);
    return status;
}

static sv_status add_listed(struct app *app, const struct faults *o, const sv_fabric *fabric,
                            sv_mask *mask, sv_fault_report *report)
{
    sv_file file;
    if (o->list == NULL)
        return SV_OK;
    SV_TRY(sv_file_open(&file, app->ctx, o->list));
    sv_status status = sv_faults_read(app->ctx, fabric, &file.source, mask, report);
    sv_file_close(&file);
    return status;
}

/* Random failures among what is left after those that were named. */
static sv_status draw(struct app *app, const struct faults *o, const sv_fabric *left, sv_mask *mask,
                      sv_fault_report *drawn, double expected[SV_FAILURE_PARTS])
{
    uint32_t parts[SV_FAILURE_PARTS];
    if (o->years_text == NULL)
        return sv_faults_draw(app->ctx, left, &o->plan, mask, drawn);
    SV_TRY(sv_failure_parts(app->ctx, left, parts));
    for (unsigned k = 0; k < SV_FAILURE_PARTS; k++)
        expected[k] = parts[k] * sv_failure_share(&o->model, k, o->years);
    return sv_faults_age(app->ctx, left, &o->model, o->years, o->seed, mask, drawn);
}

/* Named failures first; random ones are then drawn from what is left. */
static sv_status choose(struct app *app, const struct faults *o, const sv_fabric *whole,
                        sv_mask *mask, sv_fault_report *report, double expected[SV_FAILURE_PARTS])
{
    sv_fault_report drawn = {0};
    sv_fabric *left = NULL;
    SV_TRY(add_listed(app, o, whole, mask, report));
    SV_TRY(add_all_named(app, o, whole, mask, report));
    SV_TRY(sv_fabric_mask(app->ctx, whole, mask, &left));
    sv_status status = draw(app, o, left, mask, &drawn, expected);
    sv_fabric_free(left);
    report->links += drawn.links;
    report->switches += drawn.switches;
    report->adapters += drawn.adapters;
    report->lost_terminals += drawn.lost_terminals;
    report->critical += drawn.critical;
    return status;
}

/* Writes what is left and the list of what failed: both, or neither. */
static sv_status save(struct app *app, const struct faults *o, sv_format format,
                      const sv_fabric *whole, const sv_fabric *left, const sv_mask *mask)
{
    sv_file list = {.ctx = app->ctx, .descriptor = -1}, fabric = list;
    bool wanted = o->output != NULL || !o->json;
    sv_status status = SV_OK;
    if (o->save_list != NULL)
        status = sv_file_create(&list, app->ctx, o->save_list);
    if (status == SV_OK && o->save_list != NULL)
        status = sv_faults_write(app->ctx, whole, mask, &list.sink);
    if (status == SV_OK && wanted)
        status = sv_file_create(&fabric, app->ctx, o->output == NULL ? "-" : o->output);
    if (status == SV_OK && wanted)
        status = sv_fabric_write(app->ctx, left, format, &fabric.sink);
    if (status == SV_OK)
        status = sv_files_commit((sv_file *const[]){&list, &fabric}, 2);
    sv_file_close(&list);
    sv_file_close(&fabric);
    return status;
}

static void json_model(sv_json *j, const struct faults *o, const double expected[SV_FAILURE_PARTS])
{
    char text[SV_FAILURE_MODEL_TEXT];
    sv_failure_model_text(&o->model, text);
    sv_json_text(j, "model", text);
    sv_json_real(j, "years", o->years, 6);
    sv_json_begin_row(j, "expected", '{');
    sv_json_real(j, "links", expected[SV_FAILURE_LINK], 3);
    sv_json_real(j, "switches", expected[SV_FAILURE_SWITCH], 3);
    sv_json_real(j, "adapters", expected[SV_FAILURE_ADAPTER], 3);
    sv_json_end(j, '}');
}

static sv_status print_json(struct app *app, const struct faults *o, const sv_fabric *f,
                            const sv_fault_report *report, uint32_t cut_off,
                            const double expected[SV_FAILURE_PARTS])
{
    sv_text out;
    sv_json j;
    SV_TRY(app_print_begin(app, &out));
    sv_json_init(&j, &out);
    sv_json_begin_object(&j, NULL);
    sv_json_begin_row(&j, "failed", '{');
    sv_json_number(&j, "links", report->links);
    sv_json_number(&j, "switches", report->switches);
    sv_json_number(&j, "adapters", report->adapters);
    sv_json_end(&j, '}');
    sv_json_number(&j, "lost_terminals", report->lost_terminals);
    sv_json_number(&j, "skipped_critical", report->critical);
    sv_json_number(&j, "cut_off_terminals", cut_off);
    sv_json_number(&j, "switches", f->live_switches);
    sv_json_number(&j, "terminals", f->live_terminals);
    sv_json_number(&j, "links", app_count_links(f, NULL));
    if (o->years_text != NULL)
        json_model(&j, o, expected);
    sv_json_end(&j, '}');
    return app_print_end(app, &out);
}

/* "2 links", "1 switch" */
static const char *counted(char *text, size_t room, uint32_t count, const char *one,
                           const char *many)
{
    snprintf(text, room, "%u %s", count, count == 1 ? one : many);
    return text;
}

static void print_note(struct app *app, const struct faults *o, const sv_fault_report *report,
                       const double expected[SV_FAILURE_PARTS])
{
    char links[40], switches[40], adapters[40], terminals[40], skipped[60] = "";
    if (report->critical > 0)
        snprintf(skipped, sizeof skipped, "; %u critical %s%s %s", report->critical,
                 o->years_text != NULL ? "failure" : "choice", report->critical == 1 ? "" : "s",
                 o->years_text != NULL ? "repaired" : "skipped");
    sv_note(app->ctx, "failed: %s, %s, %s; %s went with them%s",
            counted(links, sizeof links, report->links, "link", "links"),
            counted(switches, sizeof switches, report->switches, "switch", "switches"),
            counted(adapters, sizeof adapters, report->adapters, "adapter", "adapters"),
            counted(terminals, sizeof terminals, report->lost_terminals, "terminal", "terminals"),
            skipped);
    if (o->years_text != NULL)
        sv_note(app->ctx, "expected after %g years: %.1f links, %.1f switches, %.1f adapters",
                o->years, expected[SV_FAILURE_LINK], expected[SV_FAILURE_SWITCH],
                expected[SV_FAILURE_ADAPTER]);
}

static sv_status run(struct app *app, const struct faults *o, sv_format format,
                     const sv_fabric *whole, sv_mask *mask)
{
    sv_fault_report report = {0};
    sv_fabric *left = NULL;
    uint32_t cut_off = 0;
    double expected[SV_FAILURE_PARTS] = {0};
    SV_TRY(choose(app, o, whole, mask, &report, expected));
    SV_TRY(sv_fabric_mask(app->ctx, whole, mask, &left));
    sv_status status = sv_faults_cut_off(app->ctx, left, &cut_off);
    if (status == SV_OK && cut_off > 0)
        sv_warn(app->ctx, "%u terminal(s) cannot reach the others", cut_off);
    if (status == SV_OK && left->live_switches + left->live_terminals == 0)
        status = sv_fail(app->ctx, SV_INFEASIBLE, "nothing would be left of the fabric");
    if (status == SV_OK)
        status = save(app, o, format, whole, left, mask);
    if (status == SV_OK && o->json)
        status = print_json(app, o, left, &report, cut_off, expected);
    else if (status == SV_OK)
        print_note(app, o, &report, expected);
    sv_fabric_free(left);
    return status;
}

int cmd_faults(struct app *app, int argc, char **argv)
{
    struct faults o = {.seed = 1};
    const app_option options[] = {
        {"links", 0, OPTION_TEXT, &o.links, "N|P%", "so many cables between switches"},
        {"switches", 0, OPTION_TEXT, &o.switches, "N|P%", "so many switches, with their terminals"},
        {"adapters", 0, OPTION_TEXT, &o.adapters, "N|P%", "so many host adapters"},
        {"both", 0, OPTION_TEXT, &o.both, "N|P%", "so many links, and switches by --ratio"},
        {"ratio", 0, OPTION_TEXT, &o.ratio, "S:L", "S switches for every L links (1:13)"},
        {"years", 0, OPTION_TEXT, &o.years_text, "Y",
         "what fails in so many years without repairs, by --model"},
        {"model", 0, OPTION_TEXT, &o.model_text, "M",
         "a preset, or link=P%,switch=P%,adapter=P%,shape=K; help lists all"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "of the random choice (default 1)"},
        {"level", 0, OPTION_TEXT, &o.level, "L",
         "only switches of level L, links whose lower end is (0: with terminals)"},
        {"only", 0, OPTION_TEXT, &o.plan.only, "PATTERN",
         "only switches so named, links with both ends so named (g0-*)"},
        {"touching", 0, OPTION_TEXT, &o.plan.touching, "PATTERN", "links with an end so named"},
        {"keep-terminals", 0, OPTION_FLAG, &o.plan.keep_terminals, NULL,
         "no switches that have terminals"},
        {"list", 0, OPTION_TEXT, &o.list, "FILE", "all that a file lists (see selvage(1))"},
        {"switch", 0, OPTION_LIST, &o.named_switches, "NODE", "this switch (may be repeated)"},
        {"adapter", 0, OPTION_LIST, &o.named_adapters, "NODE", "this adapter"},
        {"port", 0, OPTION_LIST, &o.named_ports, "NODE/PORT", "this port, and the cable in it"},
        {"save-list", 0, OPTION_TEXT, &o.save_list, "FILE", "write what failed, for --list"},
        {"output", 'o', OPTION_TEXT, &o.output, "FILE", "where to write what is left"},
        {"format", 'f', OPTION_TEXT, &o.format_name, "FORMAT", "as for convert"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL,
         "print the counts as JSON (the fabric only goes to --output)"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FABRIC [options]\n       selvage faults fit LOG [options]",
        "Let parts of a fabric fail and write what is left. Random failures never cut\n"
        "terminals off from each other; percentages are rounded down. fit makes a model\n"
        "for --model from a log of failures.",
        "selvage faults torus:10x10x10,hosts=4 --links 1% --seed 7 -o broken.net\n"
        "selvage faults deimos --both 3% --ratio 1:2 --seed 1 -o deimos-3.net\n"
        "selvage faults tsubame2:rail=1 --years 5 --model tsubame2 -o old.net",
        options};
    sv_format format;
    if (argc > 1 && strcmp(argv[1], "fit") == 0)
        return faults_fit(app, argc - 1, argv + 1);
    int code = app_parse(app, &usage, argc, argv, &o.input, 0, 1);
    if (code < 0 && o.model_text != NULL && strcmp(o.model_text, "help") == 0)
        return faults_list_models(app, o.json);
    if (code < 0 && o.input == NULL)
        code = app_usage_error(app, "1 argument is missing: selvage faults FABRIC [options]");
    if (code < 0)
        code = make_model(app, &o);
    if (code < 0)
        code = make_plan(app, &o);
    if (code < 0)
        code = app_format(app, o.format_name, o.output == NULL ? "" : o.output, &format);
    if (code < 0)
        code = check_streams(app, &o);
    if (code >= 0)
        return code;
    sv_fabric *whole = NULL;
    sv_status status = app_load(app, o.input, &whole);
    if (status == SV_OK) {
        sv_mask *mask = sv_mask_new(app->ctx, whole);
        status = mask == NULL ? SV_NO_MEMORY : run(app, &o, format, whole, mask);
        sv_mask_free(mask);
    }
    sv_fabric_free(whole);
    return app_exit(app, status);
}
