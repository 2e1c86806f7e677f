/*
 * follow_say.c: why something was done, or was not: one line a decision.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "selvage/follow.h"

static void stamp(char *text, size_t size)
{
    struct tm parts;
    time_t now = (time_t)follow_time();
    if (gmtime_r(&now, &parts) == NULL || strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(text, size, "%lld", (long long)now);
}

/* A line on standard error, or at the end of a file, which others may move away. */
static void put(follow *f, const char *line)
{
    char text[2048], when[32];
    stamp(when, sizeof when);
    int length = snprintf(text, sizeof text, "%s %s\n", when, line);
    size_t bytes = length < (int)sizeof text ? (size_t)length : sizeof text - 1;
    int file = f->o.log == NULL ? STDERR_FILENO
                                : open(f->o.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (bytes == sizeof text - 1)
        text[bytes - 1] = '\n';
    if (file < 0 || write(file, text, bytes) < 0)
        fprintf(stderr, "%s", text);
    if (file >= 0 && file != STDERR_FILENO)
        close(file);
}

void follow_note(follow *f, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    put(f, line);
}

static const char *name_of(const follow_decision *d)
{
    static const char *const names[FOLLOW_VERDICTS] = {
        "same", "one_switch", "floor",  "gain",   "strangers",    "away",
        "wait", "rerouted",   "untold", "broken", "would_reroute"};
    return d->verdict == FOLLOW_ACTED && d->retried ? "told_again" : names[d->verdict];
}

static void print_gain(sv_text *out, const follow_decision *d)
{
    if (d->weighed)
        sv_text_print(out,
                      "; gain %.1f %%: busiest channel %llu to %llu, mean of jobs %.1f to %.1f",
                      d->gain, (unsigned long long)d->now.max, (unsigned long long)d->then.max,
                      d->now.mean, d->then.mean);
}

/* What was done, or why it was not. */
static void print_verdict(sv_text *out, const follow *f, const follow_decision *d)
{
    switch (d->verdict) {
    case FOLLOW_SAME:
        sv_text_print(out, "nothing changed");
        break;
    case FOLLOW_ONE_SWITCH:
        sv_text_print(out, "only inside one switch");
        break;
    case FOLLOW_FLOOR:
        sv_text_print(out, "floor: %.0f s left", d->left);
        break;
    case FOLLOW_GAIN:
        sv_text_print(out,
                      "gain %.1f %% below %g %%: busiest channel %llu to %llu, mean of jobs %.1f "
                      "to %.1f",
                      d->gain, f->o.gain, (unsigned long long)d->now.max,
                      (unsigned long long)d->then.max, d->now.mean, d->then.mean);
        break;
    case FOLLOW_STRANGERS:
        sv_text_print(out, "not one of their hosts is in the fabric: is it the right one?");
        break;
    case FOLLOW_ACTED:
        sv_text_print(out, d->retried ? "nothing changed, and the subnet manager is told now"
                                      : "rerouted");
        break;
    case FOLLOW_UNTOLD:
        sv_text_print(out, "the map is there, but the subnet manager could not be told");
        break;
    case FOLLOW_WOULD:
        sv_text_print(out, "would reroute");
        break;
    default:
        sv_text_print(out, "nothing done");
    }
}

static void print_line(sv_text *out, const follow *f, const follow_decision *d)
{
    if (d->verdict == FOLLOW_AWAY || d->verdict == FOLLOW_WAITING) {
        sv_text_print(out, "slurm away, retry in %.0f s%s%s", d->left,
                      d->problem[0] != 0 ? ": " : "", d->problem);
        return;
    }
    sv_text_print(out, "%u job%s, %u over several switches", d->jobs, d->jobs == 1 ? "" : "s",
                  d->spread);
    if (d->added + d->gone > 0)
        sv_text_print(out, ", %u new, %u gone", d->added, d->gone);
    if (d->unknown > 0)
        sv_text_print(out, ", %u host%s unknown", d->unknown, d->unknown == 1 ? "" : "s");
    sv_text_print(out, ": ");
    print_verdict(out, f, d);
    if (d->verdict == FOLLOW_ACTED || d->verdict == FOLLOW_UNTOLD || d->verdict == FOLLOW_WOULD)
        print_gain(out, d);
    if (d->problem[0] != 0)
        sv_text_print(out, " (%s)", d->problem);
}

static void print_json(sv_text *out, const follow_decision *d, double next)
{
    sv_json j;
    char when[32];
    stamp(when, sizeof when);
    sv_json_init(&j, out);
    sv_json_begin_row(&j, NULL, '{');
    sv_json_text(&j, "time", when);
    sv_json_text(&j, "decision", name_of(d));
    sv_json_bool(&j, "acted", d->verdict == FOLLOW_ACTED);
    sv_json_number(&j, "jobs", d->jobs);
    sv_json_number(&j, "several_switches", d->spread);
    sv_json_number(&j, "added", d->added);
    sv_json_number(&j, "gone", d->gone);
    sv_json_number(&j, "unknown_hosts", d->unknown);
    if (d->weighed) {
        sv_json_real(&j, "gain_percent", d->gain, 3);
        sv_json_begin_row(&j, "efi_max", '[');
        sv_json_number(&j, NULL, d->now.max);
        sv_json_number(&j, NULL, d->then.max);
        sv_json_end(&j, ']');
        sv_json_begin_row(&j, "job_max_avg", '[');
        sv_json_real(&j, NULL, d->now.mean, 3);
        sv_json_real(&j, NULL, d->then.mean, 3);
        sv_json_end(&j, ']');
    }
    sv_json_real(&j, "seconds_left", d->left, 3);
    if (next >= 0)
        sv_json_real(&j, "next_seconds", next, 3);
    else
        sv_json_null(&j, "next_seconds");
    sv_json_text(&j, "problem", d->problem[0] != 0 ? d->problem : NULL);
    sv_json_end(&j, '}');
}

void follow_say(follow *f, const follow_decision *d, double next)
{
    sv_text line;
    sv_text_init(&line, f->ctx, NULL);
    print_line(&line, f, d);
    put(f, line.at != NULL ? line.at : "out of memory");
    sv_text_release(&line);
    if (!f->o.json || app_print_begin(f->app, &line) != SV_OK)
        return;
    print_json(&line, d, next);
    if (app_print_end(f->app, &line) != SV_OK)
        follow_note(f, "%s", sv_ctx_message(f->app->ctx));
}
