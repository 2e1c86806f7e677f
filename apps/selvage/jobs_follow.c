/*
 * jobs_follow.c: selvage jobs follow: asks the batch system every few minutes who runs where, and
 * has the subnet manager reroute when that is worth it.
 *
 * Idea: a look goes through questions, each cheaper than the next: does the batch system answer,
 * did the jobs that have several switches change, is it long enough since the last time, would
 * tables for the new jobs be better. Only then is the map replaced, whole, and the subnet manager
 * told, whose plugin reads it. Why it ended where it did is one line of log.
 *
 * Invariants: the map is replaced at once or not at all; it is what is compared with, so there is
 * no second truth that could differ. That somebody has to be told is remembered before the map is
 * replaced; a subnet manager that could not be told is told again, of the jobs as they are then.
 * Cost: one command of the batch system a look; routing when jobs changed.
 * Source: thesis 5.2.2 and Fig. 5.6.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "selvage/follow.h"
#include "selvage/jobs_times.h"

#define NOT_GIVEN UINT64_MAX

/* What a look works on. */
struct view {
    sv_allocations *jobs;
    sv_jobmap *all, *map, *old; /* all jobs; those on several switches; those of the file */
    bool spoilt;                /* the file cannot be read as a map */
    sv_placed placed;
};

/* ---- asking ---- */

/* What the batch system says. False: why not. */
static bool ask(follow *f, struct view *v, char *why, size_t size)
{
    static const char *const squeue[] = {"squeue", "-a", "-h",       "-t",
                                         "R,CG",   "-o", "%i|%T|%N", NULL};
    follow_text said = {0};
    double begun = follow_now();
    bool done =
        follow_run(f, f->o.from == NULL ? squeue : NULL, f->o.from, f->o.timeout, &said, why, size);
    if (done) {
        sv_memory memory = {said.at != NULL ? said.at : "", said.length};
        sv_source source = sv_memory_source(&memory, "jobs");
        done = sv_allocations_read(f->ctx, &source, SV_JOBS_AUTO, &v->jobs) == SV_OK;
        if (!done)
            snprintf(why, size, "%s", sv_ctx_message(f->ctx));
    }
    sv_array_release(f->ctx, &said);
    f->slow = done && follow_now() - begun > f->o.timeout / 2;
    return done;
}

/* The map that is there. One that cannot be read is as good as none, and to be replaced. */
static sv_status read_old(follow *f, struct view *v, follow_decision *d)
{
    sv_memory nothing = {"", 0};
    sv_source source = sv_memory_source(&nothing, "nothing");
    SV_TRY(sv_follow_check_file(f->ctx, f->o.map, false));
    if (access(f->o.map, F_OK) == 0 || errno != ENOENT) {
        sv_status status = sv_jobmap_load(f->ctx, f->fabric, f->o.map, &v->old);
        if (status != SV_IO && status != SV_BAD_INPUT)
            return status;
        snprintf(d->problem, sizeof d->problem, "the map of before is of no use: %s",
                 sv_ctx_message(f->ctx));
        v->spoilt = true;
    }
    return sv_jobmap_read(f->ctx, f->fabric, &source, &v->old);
}

static sv_status place(follow *f, struct view *v, follow_decision *d)
{
    sv_jobmap_change change;
    SV_TRY(sv_allocations_map(f->ctx, v->jobs, SV_TIME_OPEN, f->fabric, SV_PLACE_BY_NAME, false,
                              &v->all, &v->placed));
    SV_TRY(sv_allocations_map(f->ctx, v->jobs, SV_TIME_OPEN, f->fabric, SV_PLACE_BY_NAME, true,
                              &v->map, NULL));
    SV_TRY(read_old(f, v, d));
    SV_TRY(sv_jobmap_compare(f->ctx, v->old, v->map, &change));
    d->jobs = v->placed.running;
    d->spread = v->map->num_jobs;
    d->unknown = v->placed.unknown_hosts;
    d->added = change.added;
    d->gone = change.gone;
    return SV_OK;
}

/* ---- deciding ---- */

static void remember(follow *f)
{
    if (f->o.state != NULL && !f->o.dry_run &&
        sv_follow_state_save(f->ctx, f->o.state, &f->state) != SV_OK)
        follow_note(f, "the state could not be written: %s", sv_ctx_message(f->ctx));
}

/* Tells the subnet manager; if that fails, it is told again. */
static follow_verdict tell(follow *f, follow_decision *d)
{
    char why[400];
    if (follow_tell(f, why, sizeof why)) {
        f->state.pending = false;
        f->state.rerouted = follow_time();
        f->rerouted = true;
        f->rerouted_s = follow_now();
        f->untold = 0;
        return FOLLOW_ACTED;
    }
    snprintf(d->problem, sizeof d->problem, "%s", why);
    f->state.pending = true;
    f->untold++;
    return FOLLOW_UNTOLD;
}

/* Whether the change is worth it; *tables: what is expected then. */
static sv_status weigh(follow *f, const struct view *v, follow_decision *d, bool *worth,
                       sv_routes **tables)
{
    bool same = false;
    *worth = true;
    if (f->o.gain <= 0)
        return SV_OK;
    if (f->judged != NULL)
        SV_TRY(sv_jobmap_same(f->ctx, f->judged, v->map, &same));
    if (same) { /* nothing new since it was not worth it */
        d->now = f->because.now;
        d->then = f->because.then;
        d->gain = f->because.gain;
        d->weighed = true;
        *worth = false;
        return SV_OK;
    }
    sv_status status = follow_weigh(f, v->old, v->map, d, tables);
    if (status == SV_CANCELLED || status == SV_NO_MEMORY)
        return status;
    if (status != SV_OK) { /* who routes then, and proves, is the subnet manager */
        snprintf(d->problem, sizeof d->problem, "the gain is not known: %s",
                 sv_ctx_message(f->ctx));
        return SV_OK;
    }
    *worth = d->gain >= f->o.gain;
    return SV_OK;
}

/* The map takes its place, and the subnet manager is told. */
static void act(follow *f, struct view *v, follow_decision *d, sv_routes **tables)
{
    if (f->o.dry_run) {
        d->verdict = FOLLOW_WOULD;
        return;
    }
    bool pending = f->state.pending;
    f->state.pending = true; /* whatever becomes of us from now on */
    remember(f);
    if (sv_jobmap_save(f->ctx, f->fabric, v->map, f->o.map) != SV_OK) {
        snprintf(d->problem, sizeof d->problem, "%s", sv_ctx_message(f->ctx));
        d->verdict = FOLLOW_BROKEN;
        f->state.pending = pending;
        return;
    }
    sv_jobmap_free(f->judged); /* it was judged by other tables */
    f->judged = NULL;
    if (!f->dumped) { /* from now on these are taken for those in use */
        sv_routes_free(f->tables);
        f->tables = *tables;
        *tables = NULL;
    }
    d->verdict = tell(f, d);
}

/*
 * Jobs changed: is it time, and is it worth it? If somebody has yet to be told of the map that is
 * there, all is rerouted anyway; so better for the jobs of now, at once. A map that cannot be read
 * is of no use to anybody, whatever is gained.
 */
static sv_status consider(follow *f, struct view *v, follow_decision *d)
{
    bool worth = true;
    sv_routes *tables = NULL;
    d->left = f->rerouted ? sv_follow_floor_left(f->o.floor, follow_now() - f->rerouted_s) : 0;
    if (d->left > 0 && !f->state.pending) {
        d->verdict = FOLLOW_FLOOR;
        return SV_OK;
    }
    d->left = 0;
    sv_status status = weigh(f, v, d, &worth, &tables);
    worth |= f->state.pending || v->spoilt;
    if (status == SV_OK && !worth) {
        d->verdict = FOLLOW_GAIN;
        sv_jobmap_free(f->judged);
        f->judged = v->map;
        f->because = *d;
        v->map = NULL;
    } else if (status == SV_OK) {
        act(f, v, d, &tables);
    }
    sv_routes_free(tables);
    return status;
}

/* The batch system answered: what now? */
static sv_status decide(follow *f, struct view *v, follow_decision *d)
{
    SV_TRY(follow_look(f, d->problem, sizeof d->problem));
    SV_TRY(place(f, v, d));
    uint64_t all = sv_follow_digest(v->all);
    bool inside = f->state.known && all != f->state.all;
    f->state.all = all;
    f->state.known = true;
    if (v->placed.running > 0 && v->placed.homeless == v->placed.running) {
        d->verdict = FOLLOW_STRANGERS;
        return SV_OK;
    }
    if (d->added + d->gone > 0 || v->spoilt)
        return consider(f, v, d);
    d->verdict = inside ? FOLLOW_ONE_SWITCH : FOLLOW_SAME;
    if (f->state.pending && !f->o.dry_run) {
        d->retried = true;
        d->verdict = tell(f, d);
    }
    return SV_OK;
}

static void release(struct view *v)
{
    sv_jobmap_free(v->old);
    sv_jobmap_free(v->map);
    sv_jobmap_free(v->all);
    sv_allocations_free(v->jobs);
}

/* ---- the loop ---- */

/* The batch system does not answer: said once, and asked less and less often. */
static double back_off(follow *f, follow_decision *d)
{
    f->state.failures += f->state.failures < 1000;
    d->verdict = FOLLOW_AWAY;
    d->left = sv_follow_wait(f->o.every, f->state.failures);
    f->state.retry = follow_time() + (int64_t)d->left;
    if (f->state.failures == 1 || f->o.once)
        follow_say(f, d, f->o.once ? -1 : d->left);
    return d->left;
}

static void come_back(follow *f)
{
    if (f->state.failures > 0)
        follow_note(f, "slurm is back after %u attempt%s", f->state.failures,
                    f->state.failures == 1 ? "" : "s");
    f->state.failures = 0;
    f->state.retry = 0;
}

/* Seconds until the next look. */
static double wait_after(const follow *f, const follow_decision *d)
{
    const double first = 10; /* until a subnet manager is told again */
    double wait = f->slow ? sv_follow_wait(f->o.every, 1) : f->o.every;
    double soon = f->o.every < first ? f->o.every : first;
    if (d->verdict == FOLLOW_UNTOLD)
        wait = sv_follow_wait(soon, f->untold - 1);
    if (d->verdict == FOLLOW_FLOOR && d->left < wait)
        wait = d->left + 0.01;
    return wait;
}

/* One look. *wait: seconds until the next. Anything but SV_OK ends it all. */
static sv_status glance(follow *f, follow_decision *d, double *wait)
{
    struct view v = {.jobs = NULL};
    bool slow = f->slow;
    bool answered = ask(f, &v, d->problem, sizeof d->problem);
    if (follow_stopped(f)) {
        release(&v);
        return sv_fail(f->ctx, SV_CANCELLED, "stopped");
    }
    if (!answered) {
        *wait = back_off(f, d);
        remember(f);
        return SV_OK;
    }
    come_back(f);
    sv_status status = decide(f, &v, d);
    release(&v);
    if (status == SV_CANCELLED || status == SV_NO_MEMORY)
        return status;
    if (status != SV_OK) {
        d->verdict = FOLLOW_BROKEN;
        snprintf(d->problem, sizeof d->problem, "%s", sv_ctx_message(f->ctx));
    }
    remember(f);
    *wait = wait_after(f, d);
    if (f->slow != slow)
        follow_note(f,
                    f->slow ? "slurm is slow: it is asked half as often" : "slurm is quick again");
    follow_say(f, d, f->o.once ? -1 : *wait);
    return SV_OK;
}

static int run_once(follow *f)
{
    follow_decision d = {.verdict = FOLLOW_WAITING};
    double wait;
    int64_t left = f->state.failures > 0 ? f->state.retry - follow_time() : 0;
    if (left > 0 && (double)left <= sv_follow_wait(f->o.every, f->state.failures)) {
        d.left = (double)left;
        follow_say(f, &d, -1);
        return EXIT_YES;
    }
    sv_status status = glance(f, &d, &wait);
    if (status != SV_OK)
        return app_exit(f->app, sv_fail(f->app->ctx, status, "%s", sv_ctx_message(f->ctx)));
    bool bad = d.verdict == FOLLOW_AWAY || d.verdict == FOLLOW_UNTOLD || d.verdict == FOLLOW_BROKEN;
    return bad ? EXIT_SYSTEM : EXIT_YES;
}

static int run_on(follow *f)
{
    for (;;) {
        follow_decision d = {.verdict = FOLLOW_SAME};
        double wait = f->o.every;
        sv_status status = glance(f, &d, &wait);
        if (follow_stopped(f)) {
            follow_note(f, "asked to stop");
            return EXIT_YES;
        }
        if (status != SV_OK)
            return app_exit(f->app, sv_fail(f->app->ctx, status, "%s", sv_ctx_message(f->ctx)));
        follow_sleep(f, wait, true);
        if (follow_stopped(f)) {
            follow_note(f, "asked to stop");
            return EXIT_YES;
        }
    }
}

/* ---- beginning and end ---- */

static bool is_stopped(void *user)
{
    return sv_cancelled(((const struct app *)user)->ctx);
}

/* What was remembered; a time in the future is one that a clock has lost. */
static sv_status recall(follow *f)
{
    if (f->o.state == NULL)
        return SV_OK;
    sv_status status = sv_follow_state_load(f->ctx, f->o.state, &f->state);
    if (status == SV_BAD_INPUT) {
        follow_note(f, "what was remembered is of no use: %s", sv_ctx_message(f->ctx));
        status = SV_OK;
    }
    int64_t now = follow_time();
    if (f->state.rerouted > now) {
        f->state.rerouted = now;
        remember(f);
    }
    f->rerouted = f->state.rerouted > 0;
    f->rerouted_s = follow_now() - (double)(now - f->state.rerouted);
    return status;
}

static int run(struct app *app, const follow_options *o)
{
    follow *f = sv_alloc(app->ctx, 1, sizeof *f);
    const sv_host host = {.user = app, .cancelled = is_stopped};
    char warning[600];
    int code = EXIT_SYSTEM;
    if (f == NULL)
        return app_exit(app, SV_NO_MEMORY);
    f->app = app;
    f->o = *o;
    f->ctx = sv_ctx_new(&host);
    sv_status status = f->ctx == NULL ? sv_fail(app->ctx, SV_NO_MEMORY, "out of memory") : SV_OK;
    if (status == SV_OK) {
        sv_ctx_set_threads(f->ctx, app->ctx->threads);
        follow_catch(f);
        status = recall(f);
        if (status == SV_OK)
            status = follow_look(f, warning, sizeof warning);
        if (status != SV_OK)
            status = sv_fail(app->ctx, status, "%s", sv_ctx_message(f->ctx));
    }
    if (status != SV_OK)
        code = !o->once && status == SV_CANCELLED ? EXIT_YES : app_exit(app, status);
    else
        code = o->once ? run_once(f) : run_on(f);
    if (f->ctx != NULL)
        follow_forget(f);
    sv_ctx_free(f->ctx);
    sv_release(app->ctx, f);
    return code;
}

/* Options that are lengths of time, or numbers with a point. -1, or EXIT_USAGE. */
static int read_values(struct app *app, follow_options *o, const char *const *texts)
{
    const struct {
        const char *name;
        double *value, min;
    } spans[] = {{"every", &o->every, 0.05},
                 {"timeout", &o->timeout, 0.05},
                 {"floor", &o->floor, 0},
                 {"settle", &o->settle, 0}};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        if (texts[i] != NULL &&
            (!jobs_wait(texts[i], spans[i].value) || *spans[i].value < spans[i].min))
            return app_usage_error(app, "--%s: '%s' is no length of time (90s, 5m, 1h)",
                                   spans[i].name, texts[i]);
    char *end = NULL;
    if (texts[4] != NULL) {
        o->gain = strtod(texts[4], &end);
        if (*texts[4] < '0' || *texts[4] > '9' || *end != 0 || o->gain > 100)
            return app_usage_error(app, "--gain: '%s' is no percentage", texts[4]);
    }
    if (o->vls != NOT_GIVEN && (o->vls < 1 || o->vls > 15))
        return app_usage_error(app, "--vls: %llu is not in 1…15", (unsigned long long)o->vls);
    o->vls = o->vls == NOT_GIVEN ? 0 : o->vls;
    return -1;
}

/* -1, or EXIT_USAGE. */
static int check(struct app *app, follow_options *o, const char *const *texts)
{
    if (o->fabric == NULL || strcmp(o->fabric, "-") == 0)
        return app_usage_error(app,
                               "which fabric? a file, or the directory that OpenSM dumps into");
    if (o->map == NULL || strcmp(o->map, "-") == 0)
        return app_usage_error(app, "--map FILE: where is the job map to be?");
    const sv_jobmap some = {0};
    const sv_route_request request = {.jobs = &some};
    int code = read_values(app, o, texts);
    if (code < 0)
        code = follow_check_trigger(app, o->trigger);
    if (code < 0)
        code = app_check_engine(app, o->engine, &request);
    return code;
}

int jobs_follow(struct app *app, int argc, char **argv)
{
    follow_options o = {.engine = "weave",
                        .trigger = "none",
                        .every = 300,
                        .timeout = 60,
                        .floor = 600,
                        .settle = 1,
                        .gain = 5,
                        .vls = NOT_GIVEN,
                        .seed = 1};
    const char *texts[5] = {NULL};
    const app_option options[] = {
        {"map", 'm', OPTION_TEXT, &o.map, "FILE", "the job map to keep, as the plugin's jobs="},
        {"every", 0, OPTION_TEXT, &texts[0], "TIME", "ask that often (default 5m)"},
        {"from", 0, OPTION_TEXT, &o.from, "COMMAND",
         "what tells the jobs (default: squeue); through the shell"},
        {"timeout", 0, OPTION_TEXT, &texts[1], "TIME", "for a command (default 60s)"},
        {"floor", 0, OPTION_TEXT, &texts[2], "TIME", "least time between reroutes (default 10m)"},
        {"gain", 0, OPTION_TEXT, &texts[4], "PERCENT",
         "least gain for a reroute (default 5; 0: any)"},
        {"engine", 'e', OPTION_TEXT, &o.engine, "NAME", "as the plugin's (default weave)"},
        {"vls", 0, OPTION_NUMBER, &o.vls, "N", "VLs, as the plugin's"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "as the plugin's (default 1)"},
        {"trigger", 0, OPTION_TEXT, &o.trigger, "WHO",
         "pid:FILE, signal:PID, console:HOST:PORT, command:COMMAND, none (default)"},
        {"settle", 0, OPTION_TEXT, &texts[3], "TIME",
         "read FABRIC once it did not change for that long (default 1s)"},
        {"state", 0, OPTION_TEXT, &o.state, "FILE", "what to remember from one run to the next"},
        {"once", 0, OPTION_FLAG, &o.once, NULL,
         "one look, for a timer; floor and waits by --state"},
        {"dry-run", 'n', OPTION_FLAG, &o.dry_run, NULL, "only say what would be done"},
        {"log", 0, OPTION_TEXT, &o.log, "FILE", "lines go there instead of standard error"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "also a line of JSON a decision"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FABRIC --map FILE [options]",
        "Asks the batch system who runs where, keeps a job map of the jobs on several\n"
        "switches, and has OpenSM reroute when that is worth it. FABRIC is a directory that\n"
        "OpenSM dumps into, the plugin's state file, or any fabric. SIGHUP: look at once.",
        "selvage jobs follow /var/log/opensm --map /var/lib/selvage/jobs/map "
        "--trigger pid:/run/opensm.pid\n"
        "selvage jobs follow net.txt --map jobs --once --dry-run --from 'cat squeue.txt'",
        options};
    int code = app_parse(app, &usage, argc, argv, &o.fabric, 0, 1);
    if (code >= 0)
        return code;
    code = check(app, &o, texts);
    return code >= 0 ? code : run(app, &o);
}
