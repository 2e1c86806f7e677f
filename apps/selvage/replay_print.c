/*
 * replay_print.c: what a replay says, as text and as JSON: improvements as in thesis Tables 5.1 and
 * 5.2, and changes a day.
 */
#include "selvage/replayed.h"

#include <math.h>
#include <string.h>

#include "selvage/jobs_times.h"

static const char *const rows[SV_REPLAY_METRICS] = {
    "most routes on a link", "the same of a job, mean", "dark fibre [%]", "links of a job, mean"};

static int64_t last_at(const sv_replay *r)
{
    return r->samples[r->num_samples - 1].at;
}

/* ---- text ---- */

/* A number, right-aligned in width; "-" if it is missing. */
static void number(sv_text *out, int width, int digits, double value)
{
    if (isnan(value))
        sv_text_print(out, " %*s", width, "-");
    else
        sv_text_print(out, " %*.*f", width, digits, value);
}

static void print_tables(sv_text *out, const sv_replay *r)
{
    sv_text_print(out, "\n%-24s %8s %6s %10s  %s\n", "engine", "tables", "vls", "s a table",
                  "proven");
    for (uint32_t e = 0; e < r->num_engines; e++) {
        const sv_replay_tables *t = &r->tables[e];
        uint32_t wrong = t->unconnected + t->deadlocking + t->undecided;
        sv_text_print(out, "%-24s %8u %6u %10.3f  ", r->engines[e].label, t->routed, t->vls,
                      t->routed > 0 ? (double)t->nanoseconds / 1e9 / t->routed : 0);
        if (t->routed == 0)
            sv_text_print(out, "-");
        else if (wrong == 0)
            sv_text_print(out, "all");
        else
            sv_text_print(out, "NO: %u not connected, %u can deadlock, %u undecided",
                          t->unconnected, t->deadlocking, t->undecided);
        if (t->infeasible > 0 && !r->engines[e].jobs)
            sv_text_print(out, " (none for this fabric)");
        else if (t->infeasible > 0)
            sv_text_print(out, "; %u time%s there were none", t->infeasible,
                          t->infeasible == 1 ? "" : "s");
        sv_text_print(out, "\n");
    }
}

/* Of a column of an engine. */
static int width_of(const sv_replay *r, uint32_t engine)
{
    size_t length = strlen(r->engines[engine].label);
    return length > 11 ? (int)length : 11;
}

static void print_means(sv_text *out, const sv_replay *r)
{
    sv_text_print(out, "\n%-24s", "mean");
    for (uint32_t e = 0; e < r->num_engines; e++)
        sv_text_print(out, " %*s", width_of(r, e), r->engines[e].label);
    for (int m = 0; m < SV_REPLAY_METRICS; m++) {
        sv_text_print(out, "\n%-24s", rows[m]);
        for (uint32_t e = 0; e < r->num_engines; e++)
            number(out, width_of(r, e), 2, sv_replay_improvement(r, m, e, e).value);
    }
    sv_text_print(out, "\n");
}

static void print_improvements(sv_text *out, const struct replay_options *o, const sv_replay *r,
                               uint32_t other)
{
    sv_text_print(out, "\n%s better than %s\n%-24s %9s %8s %9s %8s\n", r->engines[o->against].label,
                  r->engines[other].label, "", "max", "%", "mean", "%");
    for (int m = 0; m < SV_REPLAY_METRICS; m++) {
        sv_improvement found = sv_replay_improvement(r, m, o->against, other);
        sv_text_print(out, "%-24s", rows[m]);
        number(out, 9, 2, found.max);
        number(out, 8, 1, m == SV_REPLAY_DARK ? NAN : found.max_percent);
        number(out, 9, 2, found.mean);
        number(out, 8, 1, m == SV_REPLAY_DARK ? NAN : found.mean_percent);
        sv_text_print(out, "\n");
    }
}

void replay_print_text(sv_text *out, const struct replay_options *o, const sv_replay *r)
{
    char every[JOBS_DATE_ROOM], from[JOBS_DATE_ROOM], to[JOBS_DATE_ROOM];
    sv_replay_changes changes = sv_replay_count_changes(r);
    sv_text_print(out, "samples         %u, every %s, %s to %s\n", r->num_samples,
                  jobs_span(r->every, every), jobs_date(r->samples[0].at, from),
                  jobs_date(last_at(r), to));
    sv_text_print(out, "jobs change     %u times; a day %u to %u, mean %.1f (%u day%s)\n",
                  r->num_scenes - 1, changes.min, changes.max, changes.mean, changes.days,
                  changes.days == 1 ? "" : "s");
    sv_text_print(out, "without jobs    %u samples (on several switches; they do not count)\n",
                  r->idle);
    if (r->unknown_hosts > 0)
        sv_text_print(out, "unknown hosts   %u at most\n", r->unknown_hosts);
    print_tables(out, r);
    print_means(out, r);
    for (uint32_t e = 0; e < r->num_engines; e++)
        if (e != o->against)
            print_improvements(out, o, r, e);
}

/* ---- JSON ---- */

/* A number, or null if it is missing. */
static void real(sv_json *j, const char *key, double value, int digits)
{
    if (isnan(value))
        sv_json_null(j, key);
    else
        sv_json_real(j, key, value, digits);
}

static void json_engine(sv_json *j, const sv_replay *r, uint32_t e)
{
    const sv_replay_tables *t = &r->tables[e];
    sv_json_begin_row(j, NULL, '{');
    sv_json_text(j, "engine", r->engines[e].label);
    sv_json_bool(j, "follows_jobs", r->engines[e].jobs);
    sv_json_number(j, "tables", t->routed);
    sv_json_number(j, "infeasible", t->infeasible);
    sv_json_number(j, "not_connected", t->unconnected);
    sv_json_number(j, "not_deadlock_free", t->deadlocking);
    sv_json_number(j, "undecided", t->undecided);
    sv_json_number(j, "vls_used", t->vls);
    sv_json_real(j, "route_seconds", (double)t->nanoseconds / 1e9, 6);
    sv_json_begin_row(j, "mean", '{');
    for (int m = 0; m < SV_REPLAY_METRICS; m++)
        real(j, sv_replay_metric_name(m), sv_replay_improvement(r, m, e, e).value, 6);
    sv_json_end(j, '}');
    sv_json_end(j, '}');
}

static void json_improvements(sv_json *j, const struct replay_options *o, const sv_replay *r)
{
    for (uint32_t e = 0; e < r->num_engines; e++)
        for (int m = 0; m < SV_REPLAY_METRICS && e != o->against; m++) {
            sv_improvement found = sv_replay_improvement(r, m, o->against, e);
            sv_json_begin_row(j, NULL, '{');
            sv_json_text(j, "than", r->engines[e].label);
            sv_json_text(j, "metric", sv_replay_metric_name(m));
            sv_json_number(j, "samples", found.samples);
            real(j, "max", found.max, 6);
            real(j, "max_percent", found.max_percent, 6);
            real(j, "mean", found.mean, 6);
            real(j, "mean_percent", found.mean_percent, 6);
            sv_json_end(j, '}');
        }
}

void replay_print_json(sv_text *out, const struct replay_options *o, const sv_replay *r)
{
    sv_json j;
    sv_replay_changes changes = sv_replay_count_changes(r);
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_number(&j, "samples", r->num_samples);
    sv_json_number(&j, "every_seconds", (uint64_t)r->every);
    jobs_json_time(&j, "begin", r->samples[0].at);
    jobs_json_time(&j, "last", last_at(r));
    sv_json_number(&j, "scenes", r->num_scenes);
    sv_json_number(&j, "idle_samples", r->idle);
    sv_json_number(&j, "unknown_hosts", r->unknown_hosts);
    sv_json_begin_row(&j, "changes_a_day", '{');
    sv_json_number(&j, "days", changes.days);
    sv_json_number(&j, "min", changes.min);
    sv_json_real(&j, "mean", changes.mean, 3);
    sv_json_number(&j, "max", changes.max);
    sv_json_end(&j, '}');
    sv_json_begin_array(&j, "engines");
    for (uint32_t e = 0; e < r->num_engines; e++)
        json_engine(&j, r, e);
    sv_json_end(&j, ']');
    sv_json_text(&j, "against", r->engines[o->against].label);
    sv_json_begin_array(&j, "improvements");
    json_improvements(&j, o, r);
    sv_json_end(&j, ']');
    sv_json_text(&j, "csv", o->csv);
    sv_json_text(&j, "svg", o->svg);
    sv_json_end(&j, '}');
}
