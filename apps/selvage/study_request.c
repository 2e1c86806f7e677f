/*
 * study_request.c: options of `selvage study` as a plan; the line that shows how far it is; the
 * script for Slurm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "selvage/study_shared.h"

/* ---- options ---- */

static sv_study_list list_of(app_list *list, const char *otherwise)
{
    if (list->length == 0 && otherwise != NULL)
        list->at[list->length++] = otherwise;
    return (sv_study_list){list->at, list->length};
}

/* "4GiB", "500MB", "1000000": bytes. */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1},         {"kB", 1e3},        {"MB", 1e6},          {"GB", 1e9},
                 {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0) || value > 1e15)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *bytes = (uint64_t)(value * units[i].factor);
            return true;
        }
    return false;
}

static int parse_limits(struct app *app, const struct study_options *o, sv_study_limits *limits)
{
    *limits = (sv_study_limits){.threads = app->ctx->threads, .stop_after = o->stop_after};
    if (o->seconds != NULL) {
        char *end;
        limits->seconds = strtod(o->seconds, &end);
        if (*end != 0 || end == o->seconds || !(limits->seconds > 0 && limits->seconds < 1e9))
            return app_usage_error(app, "--cell-seconds: '%s' is not a number of seconds",
                                   o->seconds);
    }
    if (o->memory != NULL && !parse_bytes(o->memory, &limits->bytes))
        return app_usage_error(app, "--cell-memory: '%s' is not an amount (4GiB, 500MB)",
                               o->memory);
    return -1;
}

static int parse_part(struct app *app, const char *text, sv_study_request *q)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    uint64_t part, parts;
    if (!sv_scan_number(&scan, 1000000, &part) || !sv_scan_char(&scan, '/') ||
        !sv_scan_number(&scan, 1000000, &parts) || !sv_scan_done(&scan) || part == 0 ||
        part > parts)
        return app_usage_error(app, "--part: '%s' is not I/N, I from 1 to N", text);
    q->part = (uint32_t)part;
    q->parts = (uint32_t)parts;
    return -1;
}

int study_request(struct app *app, struct study_options *o, const study_kind *kind,
                  sv_study_request *q, sv_study_limits *limits)
{
    bool failures =
        o->links.length + o->switches.length + o->both.length + o->years.length + o->states.length >
        0;
    if (o->fabrics.length == 0 && kind->fabric == NULL && o->tables.length == 0)
        return app_usage_error(app, "which fabric? give --fabric");
    if (o->tables.length > 0 && (o->engines.length > 0 || o->fabrics.length > 0))
        return app_usage_error(app, "--tables stands in place of --engine and --fabric");
    if (o->ebb > 10000000)
        return app_usage_error(app, "--ebb: at most 10000000 matchings");
    if (strpbrk(o->database, "\"$`\\") != NULL && o->slurm > 0)
        return app_usage_error(app, "--db: a script cannot have '%s'", o->database);
    if (o->both.length > 0 && o->ratio == NULL)
        return app_usage_error(app, "--both needs --ratio");
    uint32_t switches, links;
    if (o->ratio != NULL && sv_ratio_parse(app->ctx, o->ratio, &switches, &links) != SV_OK)
        return app_usage_error(app, "--ratio: %s", sv_ctx_message(app->ctx));
    if (o->keep != NULL && strcmp(o->keep, "all") != 0 && strcmp(o->keep, "none") != 0 &&
        strcmp(o->keep, "first") != 0)
        return app_usage_error(app, "--keep: '%s' is not first, all or none", o->keep);
    *q = (sv_study_request){
        .study = kind->name,
        .fabrics = list_of(&o->fabrics, o->tables.length > 0 ? NULL : kind->fabric),
        .links = list_of(&o->links, failures || o->tables.length > 0 ? NULL : kind->links),
        .switches = list_of(&o->switches, NULL),
        .both = list_of(&o->both, NULL),
        .ratio = o->ratio,
        .years = list_of(&o->years, failures || o->tables.length > 0 ? NULL : kind->years),
        .model = o->model != NULL ? o->model : kind->model,
        .states = list_of(&o->states, NULL),
        .seeds = list_of(&o->seeds, kind->seeds),
        .engines = list_of(&o->engines, kind->engines),
        .tables = list_of(&o->tables, NULL),
        .vls = list_of(&o->vls, kind->vls),
        .traffic = list_of(&o->traffic, NULL),
        .messages = list_of(&o->messages, kind->messages),
        .loads = list_of(&o->loads, NULL),
        .profile = o->profile,
        .no_simulation = o->no_sim || (kind->no_sim && o->traffic.length == 0),
        .bound = o->bound,
        .matchings = o->ebb > 0 ? (uint32_t)o->ebb : kind->ebb,
        .lost = o->lost != NULL ? o->lost : kind->lost,
        .keep_all = o->keep != NULL && strcmp(o->keep, "all") == 0,
        .keep_none = o->keep != NULL && strcmp(o->keep, "none") == 0};
    int code = o->part != NULL ? parse_part(app, o->part, q) : -1;
    return code >= 0 ? code : parse_limits(app, o, limits);
}

/* ---- how far it is ---- */

enum { BAR = 20, WIDEST = 400 };

/* The part of a key that people tell cells apart by. */
static void print_cell(char *text, size_t room, const char *key)
{
    const char *fabric = strstr(key, "fabric="), *end = strstr(key, " vls=");
    const char *from = fabric != NULL ? fabric + 7 : key;
    size_t length = end != NULL && end > from ? (size_t)(end - from) : strlen(from);
    snprintf(text, room, "%.*s", (int)(length < room ? length : room - 1), from);
}

static void print_time(char *text, size_t room, double seconds)
{
    if (seconds < 120)
        snprintf(text, room, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(text, room, "%.0f min", seconds / 60);
    else
        snprintf(text, room, "%.1f h", seconds / 3600);
}

void study_bar_show(void *user, const sv_study_progress *p)
{
    struct study_bar *bar = user;
    uint64_t now = sv_now_ns(bar->app->ctx);
    if (!bar->app->progress || now - bar->told_ns < 100000000u || p->total == 0)
        return;
    bar->told_ns = now;
    char line[WIDEST], cell[200] = "", left[32] = "?";
    int full = (int)((uint64_t)BAR * p->done / p->total);
    double rate = p->seconds > 0 ? p->done / p->seconds : 0;
    if (rate > 0)
        print_time(left, sizeof left, (p->total - p->done) / rate);
    if (p->current != NULL)
        print_cell(cell, sizeof cell, p->current);
    int length = snprintf(line, sizeof line, "[%.*s%.*s] %u/%u cells, %.*f/s, %s left", full,
                          "####################", BAR - full, "....................", p->done,
                          p->total, rate < 10 ? 1 : 0, rate, left);
    if (p->not_ok > 0)
        length += snprintf(line + length, sizeof line - (size_t)length, ", %u not ok", p->not_ok);
    struct winsize size;
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
    if (cell[0] != 0)
        snprintf(line + length, sizeof line - (size_t)length, "  %s", cell);
    fprintf(stderr, "\r\033[K%.*s", width - 1, line);
    bar->shown = true;
}

void study_bar_clear(struct study_bar *bar)
{
    if (bar->shown)
        fputs("\r\033[K", stderr);
    bar->shown = false;
}

/* ---- Slurm ---- */

void study_print_slurm(sv_text *out, const struct study_options *o, const char *words)
{
    sv_text_print(
        out,
        "#!/bin/sh\n"
        "# A selvage study as an array of %llu jobs, each with a part of the cells and a\n"
        "# database of its own. Submit it with sbatch; jobs that are run again go on where\n"
        "# they were. When all have ended, put the parts together:\n"
        "#   selvage study merge --db \"%s\" \"%s\".part-*\n"
        "#SBATCH --job-name=selvage-study\n"
        "#SBATCH --array=1-%llu\n"
        "#SBATCH --ntasks=1\n"
        "#SBATCH --cpus-per-task=1\n"
        "#SBATCH --requeue\n"
        "set -eu\n"
        "exec selvage study %s",
        (unsigned long long)o->slurm, o->database, o->database, (unsigned long long)o->slurm,
        words);
    if (o->seconds != NULL)
        sv_text_print(out, " --cell-seconds %s", o->seconds);
    if (o->memory != NULL)
        sv_text_print(out, " --cell-memory %s", o->memory);
    sv_text_print(
        out,
        " --threads \"${SLURM_CPUS_PER_TASK:-1}\" --no-answer \\\n"
        "    --part \"$SLURM_ARRAY_TASK_ID/%llu\" --db \"%s.part-$SLURM_ARRAY_TASK_ID\"\n",
        (unsigned long long)o->slurm, o->database);
}
