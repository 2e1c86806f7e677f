/*
 * status.c: what those who watch want to know, as JSON and for Prometheus' node_exporter (its
 * textfile collector). Both files are replaced at once: nobody reads half of one. A status that is
 * not ours to give (another engine routes, or another subnet manager) says so and claims nothing.
 *
 * Invariant: whatever bytes names and texts hold, both files are valid (docs/operate.md, Watching).
 * Cost: O(1).
 */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "live/live.h"

const char *sv_live_how_name(sv_live_how how)
{
    static const char *const names[SV_LIVE_COUNT] = {
        "nothing", "same", "pinned", "returned", "repaired", "routed", "fell back", "reinstalled"};
    return (unsigned)how < SV_LIVE_COUNT ? names[how] : "unknown";
}

const char *sv_passage_name(sv_passage passage)
{
    static const char *const names[SV_PASSAGE_COUNT] = {
        "not judged",        "no path changes",   "safe in any order",
        "safe step by step", "free of deadlocks", "safe while pairs with other SLs are quiet",
        "not safe"};
    return (unsigned)passage < SV_PASSAGE_COUNT ? names[passage] : "unknown";
}

static void json_problem(sv_json *j, const char *key, const char *text, int64_t time)
{
    if (time == 0) {
        sv_json_null(j, key);
        return;
    }
    sv_json_begin_row(j, key, '{');
    sv_json_text(j, "text", text);
    sv_json_number(j, "unix_time", (uint64_t)time);
    sv_json_end(j, '}');
}

static void print_json(sv_text *out, const sv_live_status *s)
{
    const sv_live_report *r = &s->last;
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "selvage", sv_version());
    sv_json_text(&j, "subnet_manager", s->version);
    sv_json_bool(&j, "active", s->active);
    if (s->active)
        sv_json_null(&j, "inactive_reason");
    else
        sv_json_text(&j, "inactive_reason", s->inactive);
    sv_json_number(&j, "heartbeat_unix_time", (uint64_t)s->heartbeat);
    sv_json_number(&j, "heartbeat_seconds", s->heartbeat_seconds);
    sv_json_bool(&j, "dry_run", s->dry_run);
    sv_json_number(&j, "unix_time", (uint64_t)s->unix_time);
    sv_json_number(&j, "sweeps", s->sweeps);
    sv_json_number(&j, "changes", s->changes);
    sv_json_number(&j, "failures", s->failures);
    sv_json_text(&j, "how", sv_live_how_name(r->how));
    sv_json_text(&j, "engine", r->engine);
    sv_json_bool(&j, "proven", s->active && r->proven);
    sv_json_bool(&j, "dry_run_proven", s->dry_run && r->proven);
    sv_json_bool(&j, "whole", r->whole);
    sv_json_number(&j, "switches", s->switches);
    sv_json_number(&j, "terminals", s->terminals);
    sv_json_number(&j, "pairs", r->pairs);
    sv_json_number(&j, "lost_pairs", r->lost);
    sv_json_number(&j, "split_pairs", r->split);
    sv_json_number(&j, "vls_used", r->vls);
    sv_json_number(&j, "dependencies", r->dependencies);
    sv_json_number(&j, "efi_max", r->efi);
    sv_json_number(&j, "jobs", r->jobs);
    sv_json_number(&j, "jobs_terminals", r->jobs_terminals);
    sv_json_number(&j, "jobs_efi_max", r->jobs_efi);
    sv_json_real(&j, "hops_avg", r->hops, 4);
    sv_json_number(&j, "multicast_groups", s->groups);
    sv_json_text(&j, "passage", sv_passage_name(r->passage));
    sv_json_number(&j, "entries_changed", s->entries);
    sv_json_number(&j, "lft_blocks_sent", s->blocks);
    sv_json_real(&j, "seconds", s->seconds, 6);
    sv_json_real(&j, "route_seconds", (double)r->route_ns / 1e9, 6);
    sv_json_real(&j, "verify_seconds", (double)r->verify_ns / 1e9, 6);
    sv_json_number(&j, "step", s->step);
    sv_json_number(&j, "steps", s->steps);
    if (s->phase != NULL) {
        sv_json_text(&j, "update_phase", s->phase);
        sv_json_number(&j, "subscribers", s->subscribers);
        sv_json_number(&j, "updates", s->updates);
        sv_json_number(&j, "called_off", s->called_off);
        sv_json_number(&j, "expelled", s->expelled);
    }
    json_problem(&j, "last_fault", s->last_fault, s->last_fault_time);
    json_problem(&j, "last_problem", s->last_problem, s->last_problem_time);
    sv_json_end(&j, '}');
}

/* One metric with its help. */
static void metric(sv_text *out, const char *name, const char *kind, const char *help, double value)
{
    sv_text_print(out, "# HELP selvage_%s %s\n# TYPE selvage_%s %s\nselvage_%s ", name, help, name,
                  kind, name);
    if (isfinite(value))
        sv_text_print(out, "%.15g\n", value);
    else
        sv_text_print(out, "%s\n", isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
}

/* name="value" with escapes; bytes that are no UTF-8 become U+FFFD. */
static void label(sv_text *out, const char *name, const char *value)
{
    sv_text_print(out, "%s=\"", name);
    for (const char *c = value; *c != 0;) {
        size_t length = sv_utf8_length(c);
        if (length == 0)
            sv_text_add(out, "\xef\xbf\xbd", 3);
        else if (*c == '\n')
            sv_text_add(out, "\\n", 2);
        else if (*c == '"' || *c == '\\')
            sv_text_print(out, "\\%c", *c);
        else
            sv_text_add(out, c, length);
        c += length == 0 ? 1 : length;
    }
    sv_text_add(out, "\"", 1);
}

/* Of updates step by step, or in five phases. */
static void print_update(sv_text *out, const sv_live_status *s)
{
    metric(out, "steps_left", "gauge", "Steps of an update that are still to be handed over.",
           s->steps - s->step);
    if (s->phase == NULL)
        return;
    sv_text_print(out, "# HELP selvage_update_phase The phase of an update of tables.\n"
                       "# TYPE selvage_update_phase gauge\nselvage_update_phase{");
    label(out, "phase", s->phase);
    sv_text_print(out, "} 1\n");
    metric(out, "subscribers", "gauge", "Who is told before base entries change.", s->subscribers);
    metric(out, "updates_total", "counter", "Updates in five phases that were begun.", s->updates);
    metric(out, "updates_called_off_total", "counter",
           "Updates that were called off because somebody did not leave.", s->called_off);
    metric(out, "subscribers_expelled_total", "counter", "Subscribers that did not answer.",
           s->expelled);
}

static void print_prometheus(sv_text *out, const sv_live_status *s)
{
    const sv_live_report *r = &s->last;
    sv_text_print(out, "# HELP selvage_info What routes the fabric.\n# TYPE selvage_info gauge\n"
                       "selvage_info{");
    label(out, "version", sv_version());
    sv_text_print(out, ",");
    label(out, "engine", r->engine);
    sv_text_print(out, ",");
    label(out, "how", sv_live_how_name(r->how));
    sv_text_print(out, "} 1\n");
    metric(out, "active", "gauge", "Whether the tables in the switches are selvage's.", s->active);
    metric(out, "heartbeat_timestamp_seconds", "gauge",
           "When OpenSM with the plugin was last seen running.", (double)s->heartbeat);
    metric(out, "heartbeat_interval_seconds", "gauge",
           "How often that is written; 0: only when something happens.", s->heartbeat_seconds);
    metric(out, "proven", "gauge",
           "Whether the tables in the switches are selvage's, and proven free of credit loops and "
           "forwarding loops.",
           s->active && r->proven);
    metric(out, "dry_run_proven", "gauge",
           "In a dry run: whether the tables that would be handed over are proven.",
           s->dry_run && r->proven);
    metric(out, "whole", "gauge", "Whether every pair that cables allow has a path.", r->whole);
    metric(out, "dry_run", "gauge", "Whether tables are only computed, not handed over.",
           s->dry_run);
    metric(out, "switches", "gauge", "Switches in the fabric.", s->switches);
    metric(out, "terminals", "gauge", "Ports of host adapters in the fabric.", s->terminals);
    metric(out, "lost_pairs", "gauge", "Pairs of terminals without a path though cables allow one.",
           (double)r->lost);
    metric(out, "split_pairs", "gauge", "Pairs of terminals in different parts of the fabric.",
           (double)r->split);
    metric(out, "vls", "gauge", "Virtual lanes in use.", r->vls);
    metric(out, "efi_max", "gauge", "Routes over the busiest channel.", (double)r->efi);
    metric(out, "jobs", "gauge", "Jobs in the job map that tables are for.", r->jobs);
    metric(out, "jobs_terminals", "gauge", "Terminals that run such a job.", r->jobs_terminals);
    metric(out, "jobs_efi_max", "gauge", "Routes inside jobs over the busiest channel.",
           (double)r->jobs_efi);
    metric(out, "hops_avg", "gauge", "Channels between switches on a route, on average.", r->hops);
    metric(out, "multicast_groups", "gauge", "Multicast groups with a tree.", (double)s->groups);
    metric(out, "entries_changed", "gauge", "LFT entries that the last sweep changed.",
           (double)s->entries);
    metric(out, "lft_blocks_sent", "gauge", "LFT blocks that the last sweep sent.",
           (double)s->blocks);
    metric(out, "sweep_seconds", "gauge", "What the last sweep took here.", s->seconds);
    metric(out, "route_seconds", "gauge", "Of that, engines and repairs.",
           (double)r->route_ns / 1e9);
    metric(out, "verify_seconds", "gauge", "Of that, proofs.", (double)r->verify_ns / 1e9);
    metric(out, "sweeps_total", "counter", "Sweeps.", (double)s->sweeps);
    metric(out, "changes_total", "counter", "Sweeps that changed tables.", (double)s->changes);
    metric(out, "failures_total", "counter", "Sweeps after which no tables could be proven.",
           (double)s->failures);
    metric(out, "last_sweep_timestamp_seconds", "gauge", "When the last sweep was.",
           (double)s->unix_time);
    metric(out, "last_fault_timestamp_seconds", "gauge",
           "When the fabric lost something; 0: never.", (double)s->last_fault_time);
    metric(out, "last_problem_timestamp_seconds", "gauge",
           "When something went wrong here; 0: never.", (double)s->last_problem_time);
    print_update(out, s);
}

static sv_status write(sv_ctx *ctx, const sv_live_status *status, const char *path,
                       void (*print)(sv_text *, const sv_live_status *))
{
    sv_file file;
    sv_text out;
    SV_TRY(sv_file_create_public(&file, ctx, path)); /* for whoever watches */
    sv_text_init(&out, ctx, &file.sink);
    print(&out, status);
    sv_status done = sv_text_finish(&out);
    sv_text_release(&out);
    if (done == SV_OK)
        done = sv_file_commit(&file);
    sv_file_close(&file);
    return done;
}

sv_status sv_live_write_json(sv_ctx *ctx, const sv_live_status *status, const char *path)
{
    return write(ctx, status, path, print_json);
}

sv_status sv_live_write_prometheus(sv_ctx *ctx, const sv_live_status *status, const char *path)
{
    return write(ctx, status, path, print_prometheus);
}
