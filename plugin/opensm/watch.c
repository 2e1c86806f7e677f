/*
 * watch.c: what administrators see: lines in OpenSM's log, status files, and opensm.psl beside
 * OpenSM's own dump files.
 *
 * Every line begins with "selvage: ". Lines that need somebody to act are errors and have a number
 * (docs/operate.md lists them all); the rest is at the level that OpenSM logs by default.
 *
 * Status files are true at any time: they say that tables are proven only while ours are in the
 * switches, and are written again every heartbeat, so that one that nobody keeps any more can be
 * recognised.
 *
 * Invariant: what is told is a copy; only its mutex guards it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "plugin.h"

uint64_t plugin_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool plugin_cond_init(pthread_cond_t *wake)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(wake, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return done;
}

void plugin_cond_wait(pthread_cond_t *wake, pthread_mutex_t *mutex, uint64_t ms)
{
    struct timespec then;
    clock_gettime(CLOCK_MONOTONIC, &then);
    then.tv_nsec += (long)(ms % 1000) * 1000000;
    then.tv_sec += (time_t)(ms / 1000) + then.tv_nsec / 1000000000;
    then.tv_nsec %= 1000000000;
    pthread_cond_timedwait(wake, mutex, &then);
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
               "proven: no loop and no deadlock among %llu dependencies, %u VL%s; %llu pairs of "
               "terminals, %llu without a path%s",
               (unsigned long long)r->dependencies, r->vls, r->vls == 1 ? "" : "s",
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

/* ---- status files ---- */

static const char not_master[] = "this subnet manager is not the master";

struct watch {
    plugin *p;
    pthread_mutex_t mutex; /* of all below, and of p->ctx while files are written */
    pthread_cond_t wake;
    pthread_t thread;
    bool running, stopping;
    uint64_t told_at;    /* when it was, by plugin_now_ms */
    sv_live_status told; /* a copy, so that it can be told again whatever sweeps do meanwhile */
};

/* Writes what is told, the mutex held. */
static void tell(struct watch *w)
{
    plugin *p = w->p;
    const char *json = p->options.status_path, *prometheus = p->options.prometheus_path;
    w->told_at = plugin_now_ms();
    w->told.heartbeat = (int64_t)time(NULL);
    w->told.heartbeat_seconds = w->running ? p->options.heartbeat_s : 0;
    if (json != NULL && sv_live_write_json(p->ctx, &w->told, json) != SV_OK)
        plugin_log(p, OSM_LOG_ERROR, "ERR SV06: %s", sv_ctx_message(p->ctx));
    if (prometheus != NULL && sv_live_write_prometheus(p->ctx, &w->told, prometheus) != SV_OK)
        plugin_log(p, OSM_LOG_ERROR, "ERR SV06: %s", sv_ctx_message(p->ctx));
}

/* What is told is not true any more: nothing of it is left but counters. */
static void withdraw(struct watch *w, const char *why)
{
    w->p->routes = false;
    if (!w->told.active && strcmp(why, w->told.inactive) == 0)
        return;
    w->told.active = false;
    snprintf(w->told.inactive, sizeof w->told.inactive, "%s", why);
    w->told.last = (sv_live_report){0};
    w->told.step = w->told.steps = 0;
    w->told.dry_run = w->p->options.dry_run;
    w->told.version = w->p->status.version;
    tell(w);
}

/*
 * Tells the same again every heartbeat, so that whoever reads it knows that somebody is still
 * there; and looks whether this is still the master (OpenSM does not always say when it is not).
 */
static void *beat(void *data)
{
    struct watch *w = data;
    plugin *p = w->p;
    pthread_mutex_lock(&w->mutex);
    while (!w->stopping) {
        plugin_cond_wait(&w->wake, &w->mutex, 1000);
        if (w->stopping)
            break;
        if (w->told.active && p->osm->subn.sm_state != IB_SMINFO_STATE_MASTER)
            withdraw(w, not_master);
        else if (p->options.heartbeat_s > 0 &&
                 plugin_now_ms() >= w->told_at + 1000 * (uint64_t)p->options.heartbeat_s)
            tell(w);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

void plugin_write_status(plugin *p)
{
    struct watch *w = p->watch;
    pthread_mutex_lock(&w->mutex);
    five_status(p);
    p->status.groups = 0;
    for (size_t i = 0; i < sizeof p->trees / sizeof p->trees[0]; i++)
        p->status.groups += (uint64_t)__builtin_popcountll(p->trees[i]);
    if (p->routes || p->options.dry_run) { /* else it was withdrawn, and stays so */
        w->told = p->status;
        w->told.active = p->routes;
        snprintf(w->told.inactive, sizeof w->told.inactive, "%s",
                 p->routes ? "" : "dry-run: the rest is about tables that would be handed over");
    }
    tell(w);
    pthread_mutex_unlock(&w->mutex);
}

void plugin_withdraw_status(plugin *p, const char *format, ...)
{
    struct watch *w = p->watch;
    char why[sizeof w->told.inactive];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    pthread_mutex_lock(&w->mutex);
    withdraw(w, why);
    pthread_mutex_unlock(&w->mutex);
}

void plugin_lock_ctx(plugin *p)
{
    pthread_mutex_lock(&p->watch->mutex);
}

void plugin_unlock_ctx(plugin *p)
{
    pthread_mutex_unlock(&p->watch->mutex);
}

bool watch_start(plugin *p)
{
    struct watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        return false;
    w->p = p;
    if (!plugin_cond_init(&w->wake)) {
        free(w);
        return false;
    }
    pthread_mutex_init(&w->mutex, NULL);
    p->watch = w;
    return true;
}

void watch_beat(plugin *p)
{
    struct watch *w = p->watch;
    bool wanted = p->options.status_path != NULL || p->options.prometheus_path != NULL;
    pthread_mutex_lock(&w->mutex);
    if (wanted && !w->running)
        w->running = pthread_create(&w->thread, NULL, beat, w) == 0;
    pthread_mutex_unlock(&w->mutex);
}

void watch_stop(plugin *p)
{
    struct watch *w = p->watch;
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->mutex);
    w->stopping = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mutex);
    if (w->running)
        pthread_join(w->thread, NULL);
    w->running = false;
    plugin_withdraw_status(p, "OpenSM has ended");
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->mutex);
    free(w);
    p->watch = NULL;
}

/* ---- SLs of paths ---- */

enum { SLS_PATH = 1100 };

static void sls_path(const plugin *p, char path[SLS_PATH])
{
    snprintf(path, SLS_PATH, "%s/opensm.psl", p->osm->subn.opt.dump_files_dir);
}

void plugin_dump_sls(plugin *p)
{
    char path[SLS_PATH];
    sv_file file;
    const sv_routes *r = sv_live_held(p->live);
    if (r == NULL || !osm_log_is_active(&p->osm->log, OSM_LOG_ROUTING))
        return;
    sls_path(p, path);
    plugin_lock_ctx(p); /* other threads write files with the same context */
    sv_status status = sv_file_create_public(&file, p->ctx, path); /* as what OpenSM dumps there */
    if (status == SV_OK) {
        status = sv_routes_write(p->ctx, sv_live_fabric(p->live), r, SV_ROUTES_PSL, &file.sink);
        if (status == SV_OK)
            status = sv_file_commit(&file);
        else
            sv_file_close(&file);
    }
    if (status != SV_OK)
        plugin_log(p, OSM_LOG_ERROR, "ERR SV06: %s", sv_ctx_message(p->ctx));
    plugin_unlock_ctx(p);
}

/* Whether a file begins as those that plugin_dump_sls writes. */
static bool is_ours(plugin *p, const char *path)
{
    static const char begin[] = "# selvage forwarding ";
    char text[sizeof begin - 1];
    sv_file file;
    if (sv_file_open(&file, p->ctx, path) != SV_OK)
        return false;
    bool ours = file.source.read(file.source.user, text, sizeof text) == sizeof text &&
                memcmp(text, begin, sizeof text) == 0;
    sv_file_close(&file);
    return ours;
}

void plugin_drop_sls(plugin *p)
{
    char path[SLS_PATH], name[NAME_MAX + 1];
    sv_folder folder;
    sls_path(p, path);
    plugin_lock_ctx(p);
    if (is_ours(p, path) && sv_folder_above(&folder, p->ctx, "remove", path, name) == SV_OK) {
        if (unlinkat(folder.descriptor, name, 0) != 0)
            plugin_log(p, OSM_LOG_ERROR, "ERR SV06: cannot remove '%s': %s", path, strerror(errno));
        sv_folder_close(&folder);
    }
    plugin_unlock_ctx(p);
}
