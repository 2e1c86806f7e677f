/*
 * follow.c: what jobs follow decides by.
 *
 * Idea: whether a reroute is worth it is told by two numbers of Def. 5.1, before and after: the
 * routes inside jobs over the busiest channel, and the mean over jobs of their own busiest. The
 * state is a few lines of text, so that somebody who looks at it understands it.
 *
 * Invariants: nothing here knows what time it is.
 * Cost: as routing and counting.
 * Source: thesis 5.2.2 (the change filter, and rerouting every few minutes at most).
 */
#include "jobs/follow.h"

#include <errno.h>
#include <selvage/auto.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"

/* ---- gains ---- */

static double percent_lower(double now, double then)
{
    return now > 0 ? 100 * (now - then) / now : 0;
}

double sv_follow_gain(sv_follow_weight now, sv_follow_weight then)
{
    double max = percent_lower((double)now.max, (double)then.max);
    double mean = percent_lower(now.mean, then.mean);
    double more = max > mean ? max : mean, less = max > mean ? mean : max;
    return less < 0 ? more + less : more;
}

sv_status sv_follow_weigh(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                          const sv_jobmap *map, sv_follow_weight *weight)
{
    sv_jobs_load load = {0};
    SV_TRY(sv_jobs_count(ctx, fabric, routes, map, NULL, NULL, &load));
    *weight = (sv_follow_weight){load.efi.max, load.job_max_avg};
    return SV_OK;
}

sv_status sv_follow_predict(sv_ctx *ctx, const sv_fabric *fabric, const char *engine,
                            const sv_route_request *request, const sv_jobmap *map,
                            sv_routes **routes)
{
    sv_route_request asked = *request;
    asked.jobs = map != NULL && map->num_jobs > 0 ? map : NULL;
    if (strcmp(engine, "auto") != 0)
        return sv_route(ctx, fabric, engine, &asked, routes, NULL);
    sv_route_report report;
    sv_selection *tried = sv_alloc(ctx, 1, sizeof *tried);
    if (tried == NULL)
        return SV_NO_MEMORY;
    sv_status status =
        sv_route_auto(ctx, fabric, &asked, SV_TRAFFIC_MANAGED, routes, &report, tried);
    sv_release(ctx, tried);
    return status;
}

/* ---- waits ---- */

double sv_follow_wait(double every, uint32_t failures)
{
    double wait = every;
    for (uint32_t i = 0; i < failures && wait < SV_FOLLOW_MAX_WAIT; i++)
        wait *= 2;
    double max = every > SV_FOLLOW_MAX_WAIT ? every : SV_FOLLOW_MAX_WAIT;
    return wait < max ? wait : max;
}

double sv_follow_floor_left(double floor, double since)
{
    if (since < 0)
        return floor;
    return since < floor ? floor - since : 0;
}

/* ---- what is remembered ---- */

uint64_t sv_follow_digest(const sv_jobmap *map)
{
    uint64_t all = 0;
    for (uint32_t j = 0; j < map->num_jobs; j++) {
        const sv_job *job = &map->jobs[j];
        uint64_t one =
            sv_digest(SV_DIGEST_START, job->terminals, job->num_terminals * sizeof(sv_node));
        all += (one ^ one >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    }
    return all;
}

/* "name value"; names that are not known are somebody else's. */
static bool take_line(sv_span line, sv_follow_state *state)
{
    sv_scan scan = sv_scan_of(line);
    sv_span name;
    uint64_t value = 0;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#')
        return true;
    if (!sv_scan_word(&scan, &name))
        return false;
    sv_scan_blanks(&scan);
    bool hex = sv_span_is(name, "all");
    if (!(hex ? sv_scan_hex(&scan, &value) : sv_scan_number(&scan, INT64_MAX, &value)) ||
        !sv_scan_done(&scan))
        return false;
    if (sv_span_is(name, "rerouted"))
        state->rerouted = (int64_t)value;
    else if (sv_span_is(name, "retry"))
        state->retry = (int64_t)value;
    else if (sv_span_is(name, "failures"))
        state->failures = value > 1000 ? 1000 : (uint32_t)value;
    else if (sv_span_is(name, "pending"))
        state->pending = value != 0;
    else if (hex)
        state->all = value;
    state->known |= hex;
    return true;
}

static sv_status read_state(sv_lines *lines, sv_follow_state *state)
{
    bool more = true;
    for (sv_span line;;) {
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            return SV_OK;
        if (!take_line(line, state))
            return sv_lines_fail(lines, "'%.*s' is nothing to remember", SV_SPAN(line));
    }
}

sv_status sv_follow_check_file(sv_ctx *ctx, const char *path, bool directory)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode) || (directory && S_ISDIR(about.st_mode)))
        return SV_OK;
    return sv_fail(ctx, SV_IO, "'%s' is no regular file", path);
}

sv_status sv_follow_state_load(sv_ctx *ctx, const char *path, sv_follow_state *state)
{
    sv_file file;
    sv_lines lines;
    sv_follow_state found = {0};
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        *state = found;
        return SV_OK;
    }
    SV_TRY(sv_follow_check_file(ctx, path, false));
    SV_TRY(sv_file_open(&file, ctx, path));
    sv_status status = sv_lines_init(&lines, ctx, &file.source);
    if (status == SV_OK) {
        status = read_state(&lines, &found);
        sv_lines_release(&lines);
    }
    sv_file_close(&file);
    if (status == SV_OK)
        *state = found;
    return status;
}

sv_status sv_follow_state_save(sv_ctx *ctx, const char *path, const sv_follow_state *state)
{
    sv_file file;
    sv_text out;
    SV_TRY(sv_file_create(&file, ctx, path));
    sv_text_init(&out, ctx, &file.sink);
    sv_text_print(&out,
                  "# what selvage jobs follow remembers; times are seconds since 1970\n"
                  "rerouted %lld\nretry %lld\nfailures %u\npending %d\n",
                  (long long)state->rerouted, (long long)state->retry, state->failures,
                  state->pending);
    if (state->known)
        sv_text_print(&out, "all %016llx\n", (unsigned long long)state->all);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}
