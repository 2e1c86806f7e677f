/*
 * watch.c: what administrators see: lines in OpenSM's log, status files, and opensm.psl beside
 * OpenSM's own dump files.
 *
 * Every line begins with "selvage: ". Lines that need somebody to act are errors and have a number
 * (docs/operate.md lists them all); the rest is at the level that OpenSM logs by default.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "plugin.h"

uint64_t plugin_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void plugin_log(plugin *p, osm_log_level_t level, const char *format, ...)
{
    char line[1500];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    osm_log(&p->osm->log, level, "selvage: %s\n", line);
}

void plugin_log_hook(void *user, sv_log_level level, const char *message)
{
    plugin_log(user, level == SV_LOG_WARNING ? OSM_LOG_INFO : OSM_LOG_VERBOSE, "%s%s",
               level == SV_LOG_WARNING ? "warning: " : "", message);
}

static void log_proof(plugin *p, const sv_live_report *r)
{
    plugin_log(p, OSM_LOG_INFO,
               "proven: no loop and no deadlock among %llu dependencies, %u lane%s; %llu pairs of "
               "terminals, %llu without a path%s",
               (unsigned long long)r->dependencies, r->lanes, r->lanes == 1 ? "" : "s",
               (unsigned long long)r->pairs, (unsigned long long)(r->lost + r->split),
               r->split > 0 ? " (no cables join them)" : "");
}

static void log_jobs(plugin *p, const sv_live_report *r)
{
    if (p->options.live.jobs_path != NULL)
        plugin_log(p, OSM_LOG_INFO,
                   "jobs: %u on %u terminals, busiest channel %llu routes inside jobs", r->jobs,
                   r->jobs_terminals, (unsigned long long)r->jobs_efi);
}

void plugin_log_sweep(plugin *p, const sv_live_report *r, double seconds)
{
    const sv_live_status *s = &p->status;
    if (r->fabric[0] != 0)
        plugin_log(p, OSM_LOG_INFO, "fabric: %s", r->fabric);
    bool as_wanted = r->how == SV_LIVE_PINNED || r->how == SV_LIVE_RETURNED ||
                     r->how == SV_LIVE_REPAIRED || r->how == SV_LIVE_ROUTED;
    if (r->problem[0] != 0 && as_wanted)
        plugin_log(p, OSM_LOG_INFO, "on the way: %s", r->problem);
    else if (r->problem[0] != 0)
        plugin_log(p, OSM_LOG_ERROR, "ERR SV02: %s", r->problem);
    if (r->how == SV_LIVE_SAME) {
        plugin_log(p, OSM_LOG_INFO,
                   "sweep %llu: the fabric is as it was, and so are its tables%s%s",
                   (unsigned long long)s->sweeps, r->note[0] != 0 ? "; " : "", r->note);
        if (r->note[0] != 0)
            log_jobs(p, r);
        return;
    }
    plugin_log(p, OSM_LOG_INFO,
               "sweep %llu: %s (%s): %u switches, %u terminals, busiest channel %llu routes, %.3f "
               "hops, %.3f s of which %.3f s for the proof%s%s",
               (unsigned long long)s->sweeps, sv_live_how_name(r->how), r->engine, s->switches,
               s->terminals, (unsigned long long)r->efi, r->hops, seconds,
               (double)r->verify_ns / 1e9, r->note[0] != 0 ? "; " : "", r->note);
    log_proof(p, r);
    log_jobs(p, r);
    if (r->lost + r->lost_others > 0)
        plugin_log(p, OSM_LOG_ERROR,
                   "ERR SV03: %llu pairs of terminals and %llu with switches have no path though "
                   "cables would allow one",
                   (unsigned long long)r->lost, (unsigned long long)r->lost_others);
    if (p->throttled + p->unhealthy > 0)
        plugin_log(p, OSM_LOG_INFO, "left out: %llu throttled and %llu unhealthy cables",
                   (unsigned long long)p->throttled, (unsigned long long)p->unhealthy);
}

void plugin_write_status(plugin *p)
{
    const char *json = p->options.status_path, *prometheus = p->options.prometheus_path;
    pthread_mutex_lock(&p->writing);
    five_status(p);
    p->status.groups = 0;
    for (size_t i = 0; i < sizeof p->trees / sizeof p->trees[0]; i++)
        p->status.groups += (uint64_t)__builtin_popcountll(p->trees[i]);
    if (json != NULL && sv_live_write_json(p->ctx, &p->status, json) != SV_OK)
        plugin_log(p, OSM_LOG_ERROR, "ERR SV06: %s", sv_ctx_message(p->ctx));
    if (prometheus != NULL && sv_live_write_prometheus(p->ctx, &p->status, prometheus) != SV_OK)
        plugin_log(p, OSM_LOG_ERROR, "ERR SV06: %s", sv_ctx_message(p->ctx));
    pthread_mutex_unlock(&p->writing);
}

static bool to_file(void *user, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, user) == size;
}

void plugin_dump_sls(plugin *p)
{
    char path[1100], temporary[1120];
    const sv_routes *r = sv_live_held(p->live);
    if (r == NULL || !osm_log_is_active(&p->osm->log, OSM_LOG_ROUTING))
        return;
    snprintf(path, sizeof path, "%s/opensm.psl", p->osm->subn.opt.dump_files_dir);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    const sv_sink sink = {.name = path, .user = file, .write = to_file};
    if (file == NULL) {
        plugin_log(p, OSM_LOG_ERROR, "ERR SV06: cannot write \"%s\": %s", path, strerror(errno));
        return;
    }
    pthread_mutex_lock(&p->writing); /* the thread of five.c uses the same context */
    sv_status status = sv_routes_write(p->ctx, sv_live_fabric(p->live), r, SV_ROUTES_PSL, &sink);
    bool done = fclose(file) == 0 && status == SV_OK && rename(temporary, path) == 0;
    if (!done) {
        plugin_log(p, OSM_LOG_ERROR, "ERR SV06: cannot write \"%s\": %s", path,
                   status != SV_OK ? sv_ctx_message(p->ctx) : strerror(errno));
        remove(temporary);
    }
    pthread_mutex_unlock(&p->writing);
}
