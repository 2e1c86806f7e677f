/*
 * json_walk.c: lines of a JSON text.
 *
 * Idea: values are skipped by counting brackets outside of strings, newlines are counted on the
 * way. Nothing is checked, since jansson has parsed the same text; but whatever it is, a walk stays
 * inside it and ends.
 *
 * Invariant: a walk is before a member (behind '{', '[' or ','), or, after sv_json_walk_next, at
 * the value of one.
 * Cost: linear in what is walked over; members are skipped once more when walked into.
 */
#include "base/json_walk.h"

#include <errno.h>
#include <string.h>

static void blanks(sv_json_walk *w)
{
    while (!sv_scan_done(&w->scan) && strchr(" \t\r\n", *w->scan.at) != NULL && *w->scan.at != 0)
        w->line += *w->scan.at++ == '\n';
}

/* A string with its quotes; the walk is at the first of them. */
static sv_span string(sv_json_walk *w)
{
    const char *from = ++w->scan.at;
    while (!sv_scan_done(&w->scan) && *w->scan.at != '"') {
        w->scan.at += *w->scan.at == '\\' && w->scan.at + 1 < w->scan.end;
        w->line += *w->scan.at++ == '\n';
    }
    sv_span inside = {from, (size_t)(w->scan.at - from)};
    sv_scan_char(&w->scan, '"');
    return inside;
}

/* Over one value. */
static void skip(sv_json_walk *w)
{
    size_t depth = 0;
    do {
        blanks(w);
        if (sv_scan_done(&w->scan))
            return;
        char c = *w->scan.at;
        if (c == '"') {
            string(w);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return; /* a value that is missing */
        w->scan.at++;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (strchr("{}[],:", c) == NULL)
            while (!sv_scan_done(&w->scan) && strchr(",:{}[]\" \t\r\n", *w->scan.at) == NULL)
                w->scan.at++;
    } while (depth > 0);
}

static sv_json_walk enter(sv_scan scan, uint64_t line)
{
    sv_json_walk w = {.scan = scan, .line = line};
    blanks(&w);
    if (!sv_scan_char(&w.scan, '{') && !sv_scan_char(&w.scan, '['))
        w.scan.at = w.scan.end; /* neither has any */
    return w;
}

sv_json_walk sv_json_walk_of(sv_span text)
{
    return enter(sv_scan_of(text), 1);
}

sv_json_walk sv_json_walk_into(const sv_json_walk *walk)
{
    return enter(walk->scan, walk->line);
}

bool sv_json_walk_next(sv_json_walk *w)
{
    if (w->key.at != NULL) { /* at a value */
        skip(w);
        blanks(w);
        if (!sv_scan_char(&w->scan, ','))
            w->scan.at = w->scan.end;
    }
    blanks(w);
    if (sv_scan_done(&w->scan) || *w->scan.at == '}' || *w->scan.at == ']')
        return false;
    sv_json_walk ahead = *w;
    w->key = (sv_span){w->scan.at, 0};
    if (*w->scan.at != '"')
        return true;
    sv_span key = string(&ahead);
    blanks(&ahead);
    if (sv_scan_char(&ahead.scan, ':')) {
        w->key = key;
        w->scan = ahead.scan;
    }
    return true;
}

bool sv_json_walk_to(sv_json_walk *walk, const char *key)
{
    while (sv_json_walk_next(walk))
        if (sv_span_is(walk->key, key))
            return true;
    return false;
}

size_t sv_json_feed_more(void *buffer, size_t size, void *arg)
{
    sv_json_feed *feed = arg;
    sv_lines *lines = feed->lines;
    int64_t got = sv_lines_raw(lines, buffer, size);
    if (got < 0)
        feed->status = sv_cancelled(lines->ctx)
                           ? sv_fail(lines->ctx, SV_CANCELLED, "cancelled during reading")
                           : sv_fail(lines->ctx, SV_IO, "cannot read '%s': %s", lines->source->name,
                                     strerror(errno));
    else
        feed->status =
            sv_array_reserve(lines->ctx, &feed->text, feed->text.length + (size_t)got + 1);
    if (feed->status != SV_OK)
        return (size_t)-1;
    memcpy(feed->text.at + feed->text.length, buffer, (size_t)got);
    feed->text.length += (size_t)got;
    return (size_t)got;
}
