/*
 * jobs_filter.c: selvage jobs filter FABRIC FILE --map MAP: whether jobs changed in a way that
 * routing should follow (thesis, Fig. 5.6). Only jobs on several switches count, and what they are
 * called does not; the map is written only if there is something new in it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "selvage/jobs_shared.h"

struct filter {
    const char *fabric, *file, *map, *format;
    bool json, empty;
    sv_fabric *f;
    sv_allocations *jobs, *before;
    sv_jobmap *now, *then;
    sv_placed placed;
    sv_jobmap_change change;
    bool is_new, written;
};

/* Whether a file begins as those that selvage writes. */
static bool has_heading(const char *path)
{
    static const char heading[] = "# job map";
    char start[sizeof heading] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t got = fread(start, 1, sizeof start - 1, file);
    fclose(file);
    return got == sizeof start - 1 && strcmp(start, heading) == 0;
}

/*
 * What the map holds; there need not be one. Nodes that are gone from the fabric do not matter, but
 * words of which not one is a node may be anybody's file.
 */
static sv_status load_before(struct app *app, struct filter *o)
{
    sv_placed placed;
    o->is_new = access(o->map, F_OK) != 0 && errno == ENOENT;
    if (o->is_new)
        return SV_OK;
    SV_TRY(sv_allocations_load(app->ctx, o->map, SV_JOBS_MAP, &o->before));
    SV_TRY(sv_allocations_map(app->ctx, o->before, SV_TIME_OPEN, o->f, SV_PLACE_BY_NAME, true,
                              &o->then, &placed));
    if (placed.unknown_hosts == 0 || placed.unknown_hosts < o->before->num_hosts ||
        has_heading(o->map))
        return SV_OK;
    return sv_fail(app->ctx, SV_BAD_INPUT,
                   "%s: no node of this fabric, and no heading '# job map': it is not replaced",
                   o->map);
}

/*
 * A squeue -h that fails prints nothing, as one that found nothing does; a history of jobs that are
 * over says nothing of now. Neither may empty the map. -1 or an exit code.
 */
static int read_jobs(struct app *app, struct filter *o, sv_jobs_format format)
{
    const char *name = strcmp(o->file, "-") == 0 ? "<stdin>" : o->file;
    sv_status status = sv_allocations_load(app->ctx, o->file, format, &o->jobs);
    if (status == SV_OK && o->jobs->blank && !o->empty)
        status = sv_fail(app->ctx, SV_BAD_INPUT,
                         "%s: not a word in it, not even titles: did squeue fail? without -h it "
                         "prints titles; --empty: nothing runs",
                         name);
    if (status != SV_OK)
        return app_exit(app, status);
    if (jobs_all_ended(o->jobs))
        return app_usage_error(app, "%s: all of these jobs have ended: which run now is not told",
                               name);
    return -1;
}

static sv_status compare(struct app *app, struct filter *o)
{
    const sv_jobmap nothing = {.jobs = NULL};
    SV_TRY(sv_allocations_map(app->ctx, o->jobs, SV_TIME_OPEN, o->f, SV_PLACE_BY_NAME, true,
                              &o->now, &o->placed));
    jobs_warn_unknown(app, o->file, o->jobs, &o->placed);
    SV_TRY(jobs_must_be_there(app, o->file, o->jobs, &o->placed));
    SV_TRY(load_before(app, o));
    SV_TRY(sv_jobmap_compare(app->ctx, o->then != NULL ? o->then : &nothing, o->now, &o->change));
    if (!o->is_new && o->change.added == 0 && o->change.gone == 0)
        return SV_OK;
    SV_TRY(sv_jobmap_save(app->ctx, o->f, o->now, o->map));
    o->written = true;
    return SV_OK;
}

/* ---- telling ---- */

static void print_text(sv_text *out, const struct filter *o)
{
    uint32_t several = o->now->num_jobs;
    sv_text_print(out,
                  "jobs       %u run: %u on several switches, %u on one, %u outside the fabric\n",
                  o->placed.running, several, o->placed.one_switch, o->placed.homeless);
    sv_text_print(out, "compared   %u new, %u gone, %u the same\n", o->change.added, o->change.gone,
                  o->change.same);
    sv_text_print(out, "terminals  %u\n", o->now->num_terminals);
    if (!o->written)
        sv_text_print(out, "map        %s: nothing changed, left alone\n", o->map);
    else
        sv_text_print(out, "map        %s: %s\n", o->map,
                      o->is_new ? "there was none, written" : "jobs changed, written");
}

static void print_json(sv_text *out, const struct filter *o)
{
    sv_json json;
    sv_json_init(&json, out);
    sv_json_begin_object(&json, NULL);
    sv_json_bool(&json, "changed", o->written);
    sv_json_bool(&json, "first", o->is_new);
    sv_json_number(&json, "running", o->placed.running);
    sv_json_number(&json, "several_switches", o->now->num_jobs);
    sv_json_number(&json, "one_switch", o->placed.one_switch);
    sv_json_number(&json, "homeless", o->placed.homeless);
    sv_json_number(&json, "unknown_hosts", o->placed.unknown_hosts);
    sv_json_number(&json, "new", o->change.added);
    sv_json_number(&json, "gone", o->change.gone);
    sv_json_number(&json, "same", o->change.same);
    sv_json_number(&json, "terminals", o->now->num_terminals);
    sv_json_text(&json, "map", o->map);
    sv_json_end(&json, '}');
}

static int run(struct app *app, struct filter *o, sv_jobs_format format)
{
    sv_text out;
    sv_status status = app_load(app, o->fabric, &o->f);
    int code = status == SV_OK ? read_jobs(app, o, format) : -1;
    if (status == SV_OK && code < 0)
        status = compare(app, o);
    if (status == SV_OK && code < 0)
        status = app_print_begin(app, &out);
    if (status == SV_OK && code < 0) {
        (o->json ? print_json : print_text)(&out, o);
        status = app_print_end(app, &out);
    }
    sv_jobmap_free(o->then);
    sv_jobmap_free(o->now);
    sv_allocations_free(o->before);
    sv_allocations_free(o->jobs);
    sv_fabric_free(o->f);
    if (code >= 0)
        return code;
    if (status != SV_OK)
        return app_exit(app, status);
    return o->written ? EXIT_YES : EXIT_NO;
}

int jobs_filter(struct app *app, int argc, char **argv)
{
    struct filter o = {.fabric = NULL};
    const char *words[2] = {NULL, NULL};
    sv_jobs_format format;
    const app_option options[] = {
        {"map", 'm', OPTION_TEXT, &o.map, "MAP", "the job map to compare with, and to write"},
        {"format", 'f', OPTION_TEXT, &o.format, "F",
         "squeue, json, sacct, swf or map (default: recognised)"},
        {"empty", 0, OPTION_FLAG, &o.empty, NULL, "a FILE without a word means that nothing runs"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FABRIC FILE --map MAP [options]",
        "Whether the jobs that run are others than those of MAP. Only jobs on several\n"
        "switches count, and what they are called does not: then tables would be the same.\n"
        "If they are others MAP is written, whole or not at all, and the exit code is 0; if\n"
        "not it is left alone, and the exit code is 1. FILE is as for jobs read.",
        "squeue -o \"%i|%T|%N\" | selvage jobs filter net.txt - --map jobs.txt", options};
    int code = app_parse(app, &usage, argc, argv, words, 1, 2);
    if (code >= 0)
        return code;
    o.fabric = words[0];
    o.file = words[1];
    if (o.file == NULL)
        return app_usage_error(app,
                               "which jobs? a file, or: squeue -o \"%%i|%%T|%%N\" | "
                               "selvage jobs filter %s -",
                               o.fabric);
    if (o.map == NULL)
        return app_usage_error(app, "--map MAP is missing");
    if (strcmp(o.map, "-") == 0)
        return app_usage_error(app, "--map: a file, not standard output");
    code = app_one_stream(app, "input", words, 2);
    if (code < 0)
        code = jobs_format(app, o.format, &format);
    return code >= 0 ? code : run(app, &o, format);
}
