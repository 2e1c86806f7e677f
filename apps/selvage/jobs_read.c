/*
 * jobs_read.c: selvage jobs read FILE: what a batch system says of running jobs, or of those of
 * another time, becomes a job map.
 */
#include <string.h>

#include "selvage/jobs_shared.h"
#include "selvage/jobs_times.h"

struct read_options {
    const char *file, *format, *fabric, *at, *hosts, *output;
    bool json;
};

/* What is known once all is read. */
struct found {
    sv_allocations *jobs;
    sv_fabric *fabric; /* NULL: not asked for */
    sv_jobmap *map;
    sv_placed placed;
    int64_t at;
};

/* ---- shared with jobs filter ---- */

int jobs_format(struct app *app, const char *name, sv_jobs_format *format)
{
    *format = SV_JOBS_AUTO;
    for (int f = 0; name != NULL && f < SV_JOBS_FORMATS; f++)
        if (strcmp(name, sv_jobs_format_name(f)) == 0) {
            *format = (sv_jobs_format)f;
            return -1;
        }
    return name == NULL ? -1
                        : app_usage_error(app,
                                          "--format: '%s' is none of auto, squeue, json, "
                                          "sacct, swf and map",
                                          name);
}

void jobs_warn_unknown(struct app *app, const char *file, const sv_allocations *jobs,
                       const sv_placed *placed)
{
    const char *name = strcmp(file, "-") == 0 ? "<stdin>" : file;
    for (uint32_t i = 0; i < placed->unknown_hosts && i < SV_PLACED_NAMED; i++) {
        uint32_t host = placed->unknown[i];
        if (jobs->lines[host] > 0)
            sv_warn(app->ctx, "%s:%u: host '%.200s' is not in the fabric", name, jobs->lines[host],
                    jobs->hosts[host]);
        else
            sv_warn(app->ctx, "%s: host '%.200s' is not in the fabric", name, jobs->hosts[host]);
    }
    if (placed->unknown_hosts > SV_PLACED_NAMED)
        sv_warn(app->ctx, "%s: %u more host%s not in the fabric", name,
                placed->unknown_hosts - SV_PLACED_NAMED,
                placed->unknown_hosts == SV_PLACED_NAMED + 1 ? " is" : "s are");
}

sv_status jobs_must_be_there(struct app *app, const char *file, const sv_allocations *jobs,
                             const sv_placed *placed)
{
    if (placed->running == 0 || placed->homeless < placed->running || placed->unknown_hosts == 0)
        return SV_OK;
    const char *name = strcmp(file, "-") == 0 ? "<stdin>" : file;
    uint32_t line = jobs->lines[placed->unknown[0]] > 0 ? jobs->lines[placed->unknown[0]] : 1;
    if (placed->unknown_hosts == 1)
        return sv_fail(app->ctx, SV_BAD_INPUT,
                       "%s:%u: the only host is not in the fabric: is it the right one?", name,
                       line);
    return sv_fail(app->ctx, SV_BAD_INPUT,
                   "%s:%u: none of the %u hosts is in the fabric: is it the right one?", name, line,
                   placed->unknown_hosts);
}

bool jobs_all_ended(const sv_allocations *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++)
        if (jobs->list[i].end == SV_TIME_OPEN)
            return false;
    return jobs->count > 0;
}

/* ---- reading ---- */

/* -1 or an exit code: the moment asked for. */
static int find_moment(struct app *app, const struct read_options *o, struct found *found)
{
    char from[JOBS_DATE_ROOM], to[JOBS_DATE_ROOM];
    found->at = SV_TIME_OPEN;
    if (o->at != NULL) {
        if (sv_allocations_moment(app->ctx, found->jobs, o->at, &found->at) != SV_OK)
            return app_usage_error(app, "--at: %s", sv_ctx_message(app->ctx));
        if (found->jobs->count > 0 && found->jobs->begin == SV_TIME_UNKNOWN)
            return app_usage_error(app, "--at: when these jobs began is not told: they run now");
        return -1;
    }
    if (found->jobs->blank)
        sv_warn(app->ctx, "%s: not a word in it, not even titles: taken as that nothing runs",
                strcmp(o->file, "-") == 0 ? "<stdin>" : o->file);
    if (!jobs_all_ended(found->jobs))
        return -1;
    return app_usage_error(app, "all of these jobs have ended: --at says when, from %s to %s",
                           jobs_date(found->jobs->begin, from), jobs_date(found->jobs->end, to));
}

static sv_status make_map(struct app *app, const struct read_options *o, struct found *found)
{
    sv_placing placing =
        o->hosts != NULL && strcmp(o->hosts, "order") == 0 ? SV_PLACE_IN_ORDER : SV_PLACE_BY_NAME;
    SV_TRY(app_load(app, o->fabric, &found->fabric));
    SV_TRY(sv_allocations_map(app->ctx, found->jobs, found->at, found->fabric, placing, false,
                              &found->map, &found->placed));
    jobs_warn_unknown(app, o->file, found->jobs, &found->placed);
    return jobs_must_be_there(app, o->file, found->jobs, &found->placed);
}

/* Jobs of the moment, and hosts that run at least one, where there is no fabric to ask. */
static sv_status count_jobs(struct app *app, struct found *found, uint32_t *hosts)
{
    const sv_allocations *a = found->jobs;
    bool *busy = sv_alloc(app->ctx, a->num_hosts, sizeof *busy);
    sv_names jobs;
    sv_status status = busy == NULL ? SV_NO_MEMORY : SV_OK;
    sv_names_init(&jobs, app->ctx);
    *hosts = 0;
    for (uint32_t i = 0; status == SV_OK && i < a->count; i++) {
        const sv_allocation *one = &a->list[i];
        if (!sv_allocation_runs(one, found->at))
            continue;
        status = sv_names_add(&jobs, sv_span_of(one->job), i, NULL);
        for (uint32_t h = 0; h < one->num_hosts; h++) {
            *hosts += !busy[one->hosts[h]];
            busy[one->hosts[h]] = true;
        }
    }
    if (status == SV_OK && found->map == NULL)
        found->placed.running = (uint32_t)jobs.count;
    sv_names_release(&jobs);
    sv_release(app->ctx, busy);
    return status;
}

/* ---- telling ---- */

static void print_text(sv_text *out, const struct read_options *o, const struct found *found,
                       uint32_t hosts)
{
    char at[JOBS_DATE_ROOM], from[JOBS_DATE_ROOM], to[JOBS_DATE_ROOM];
    const sv_allocations *a = found->jobs;
    if (found->at != SV_TIME_OPEN)
        sv_text_print(out, "at            %s\n", jobs_date(found->at, at));
    if (a->begin != SV_TIME_UNKNOWN)
        sv_text_print(out, "history       %s to %s\n", jobs_date(a->begin, from),
                      jobs_date(a->end, to));
    sv_text_print(out, "jobs          %u on %u host%s\n", found->placed.running, hosts,
                  hosts == 1 ? "" : "s");
    sv_text_print(out, "left out      %u\n", a->left_out);
    if (found->map != NULL) {
        sv_text_print(out, "terminals     %u\n", found->map->num_terminals);
        sv_text_print(out, "one switch    %u\n", found->placed.one_switch);
        sv_text_print(out, "unknown hosts %u\n", found->placed.unknown_hosts);
        sv_text_print(out, "homeless jobs %u\n", found->placed.homeless);
    }
    if (o->output != NULL)
        sv_text_print(out, "map           %s\n", o->output);
}

static void json_jobs(sv_json *json, const struct found *found)
{
    const sv_allocations *a = found->jobs;
    sv_json_begin_array(json, "jobs");
    for (uint32_t i = 0; i < a->count; i++) {
        const sv_allocation *one = &a->list[i];
        if (!sv_allocation_runs(one, found->at))
            continue;
        sv_json_begin_row(json, NULL, '{');
        sv_json_text(json, "job", one->job);
        jobs_json_time(json, "begin", one->begin);
        jobs_json_time(json, "end", one->end);
        sv_json_begin_row(json, "hosts", '[');
        for (uint32_t h = 0; h < one->num_hosts; h++)
            sv_json_text(json, NULL, a->hosts[one->hosts[h]]);
        sv_json_end(json, ']');
        sv_json_end(json, '}');
    }
    sv_json_end(json, ']');
}

static void print_json(sv_text *out, const struct read_options *o, const struct found *found,
                       uint32_t hosts)
{
    sv_json json;
    sv_json_init(&json, out);
    sv_json_begin_object(&json, NULL);
    jobs_json_time(&json, "at", found->at);
    jobs_json_time(&json, "begin", found->jobs->begin);
    jobs_json_time(&json, "end", found->jobs->end);
    sv_json_number(&json, "running", found->placed.running);
    sv_json_number(&json, "hosts", hosts);
    sv_json_number(&json, "left_out", found->jobs->left_out);
    if (found->map != NULL) {
        sv_json_number(&json, "terminals", found->map->num_terminals);
        sv_json_number(&json, "one_switch", found->placed.one_switch);
        sv_json_number(&json, "unknown_hosts", found->placed.unknown_hosts);
        sv_json_number(&json, "homeless", found->placed.homeless);
    }
    if (o->output != NULL)
        sv_json_text(&json, "map", o->output);
    json_jobs(&json, found);
    sv_json_end(&json, '}');
}

/* The map, into its file or, where nothing else is printed, onto standard output. */
static sv_status write_map(struct app *app, const struct read_options *o, const struct found *found)
{
    const char *path = o->output != NULL ? o->output : "-";
    if (found->map != NULL)
        return sv_jobmap_save(app->ctx, found->fabric, found->map, path);
    return sv_allocations_save(app->ctx, found->jobs, found->at, path);
}

static sv_status tell(struct app *app, const struct read_options *o, struct found *found)
{
    sv_text out;
    uint32_t hosts;
    bool counts = o->json || (o->fabric != NULL && o->output == NULL) ||
                  (o->output != NULL && strcmp(o->output, "-") != 0);
    SV_TRY(count_jobs(app, found, &hosts));
    if (o->output != NULL || !counts)
        SV_TRY(write_map(app, o, found));
    if (!counts)
        return SV_OK;
    SV_TRY(app_print_begin(app, &out));
    (o->json ? print_json : print_text)(&out, o, found, hosts);
    return app_print_end(app, &out);
}

static int run(struct app *app, const struct read_options *o, sv_jobs_format format)
{
    struct found found = {.jobs = NULL};
    int code = -1;
    sv_status status = sv_allocations_load(app->ctx, o->file, format, &found.jobs);
    if (status == SV_OK)
        code = find_moment(app, o, &found);
    if (status == SV_OK && code < 0 && o->fabric != NULL)
        status = make_map(app, o, &found);
    if (status == SV_OK && code < 0)
        status = tell(app, o, &found);
    sv_jobmap_free(found.map);
    sv_fabric_free(found.fabric);
    sv_allocations_free(found.jobs);
    return code >= 0 ? code : app_exit(app, status);
}

int jobs_read(struct app *app, int argc, char **argv)
{
    struct read_options o = {.file = NULL};
    sv_jobs_format format;
    const app_option options[] = {
        {"format", 'f', OPTION_TEXT, &o.format, "F",
         "squeue, json, sacct, swf or map (default: recognised)"},
        {"fabric", 0, OPTION_TEXT, &o.fabric, "FABRIC", "check hosts against it, and tell counts"},
        {"at", 0, OPTION_TEXT, &o.at, "TIME",
         "of a history: 2013-01-05T12:00:00, seconds since 1970, +36h"},
        {"hosts", 0, OPTION_TEXT, &o.hosts, "name|order",
         "known by name (default), or the k-th host is the k-th of the fabric"},
        {"output", 'o', OPTION_TEXT, &o.output, "MAP", "write the map there"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FILE [options]",
        "Who runs where, as a job map (a line NODE JOB for each node of a job). FILE is what\n"
        "squeue printed (plain or --json), jobs of slurmrestd, sacct --parsable2 with JobID,\n"
        "Start, End and NodeList, a log in the Standard Workload Format with lists of nodes,\n"
        "or a job map; - is standard input.",
        "squeue -o \"%i|%T|%N\" | selvage jobs read - -o jobs.txt\n"
        "squeue --json | selvage jobs read - --fabric net.txt\n"
        "selvage jobs read log.swf --at +36h --fabric taurus --hosts order -o jobs.txt",
        options};
    int code = app_parse(app, &usage, argc, argv, &o.file, 0, 1);
    if (code >= 0)
        return code;
    if (o.file == NULL)
        return app_usage_error(app, "which file? or: squeue -o \"%%i|%%T|%%N\" | selvage jobs "
                                    "read -");
    if (o.hosts != NULL && strcmp(o.hosts, "name") != 0 && strcmp(o.hosts, "order") != 0)
        return app_usage_error(app, "--hosts: '%s' is neither name nor order", o.hosts);
    if (o.hosts != NULL && o.fabric == NULL)
        return app_usage_error(app, "--hosts goes with --fabric");
    if (o.json && o.output != NULL && strcmp(o.output, "-") == 0)
        return app_usage_error(app, "--json and --output - both want standard output");
    code = app_one_stream(app, "input", (const char *const[]){o.file, o.fabric}, 2);
    if (code < 0)
        code = jobs_format(app, o.format, &format);
    return code >= 0 ? code : run(app, &o, format);
}
