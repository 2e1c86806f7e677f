/*
 * spec.c: the parser of spec strings.
 *
 * Idea: split once at ':', ',' and '=', keep spans, convert when asked. All complaints name the
 * whole string and the piece that is wrong.
 *
 * Cost: linear in the string, times the number of keys (at most 24).
 */
#include "text/spec.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"

static sv_status SV_PRINTF(3, 0)
    vfail(const sv__spec *spec, sv_status status, const char *format, va_list args)
{
    char what[700];
    vsnprintf(what, sizeof what, format, args);
    return status == SV_BAD_INPUT
               ? sv_refuse(spec->ctx, "spec '%.200s': %s", spec->text, what)
               : sv_fail(spec->ctx, status, "spec '%.200s': %s", spec->text, what);
}

sv_status sv__spec_fail(const sv__spec *spec, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sv_status status = vfail(spec, SV_BAD_INPUT, format, args);
    va_end(args);
    return status;
}

sv_status sv__spec_infeasible(const sv__spec *spec, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sv_status status = vfail(spec, SV_INFEASIBLE, format, args);
    va_end(args);
    return status;
}

static sv_span take(sv_scan *scan, const char *stops)
{
    const char *from = scan->at;
    while (scan->at < scan->end && strchr(stops, *scan->at) == NULL)
        scan->at++;
    return (sv_span){from, (size_t)(scan->at - from)};
}

static bool same(sv_span a, sv_span b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

static sv_status add_item(sv__spec *spec, sv_span item, bool first)
{
    sv_scan scan = sv_scan_of(item);
    sv_span key = take(&scan, "=");
    if (!sv_scan_char(&scan, '=')) {
        if (!first || item.length == 0)
            return sv__spec_fail(spec, "'%.*s' is not key=value", SV_SPAN(item));
        spec->size = item;
        return SV_OK;
    }
    if (key.length == 0 || sv_scan_done(&scan))
        return sv__spec_fail(spec, "'%.*s' is not key=value", SV_SPAN(item));
    for (size_t i = 0; i < spec->num_keys; i++)
        if (same(spec->keys[i].key, key))
            return sv__spec_fail(spec, "key '%.*s' is given twice", SV_SPAN(key));
    if (spec->num_keys == SV__MAX_KEYS)
        return sv__spec_fail(spec, "more than %d keys", SV__MAX_KEYS);
    spec->keys[spec->num_keys].key = key;
    spec->keys[spec->num_keys].value = sv_scan_rest(&scan);
    spec->num_keys++;
    return SV_OK;
}

sv_status sv__spec_parse(sv__spec *spec, sv_ctx *ctx, const char *text)
{
    *spec = (sv__spec){.ctx = ctx, .text = text};
    sv_scan scan = sv_scan_of(sv_span_of(text));
    spec->family = take(&scan, ":,");
    bool first = sv_scan_char(&scan, ':'); /* else it is "preset,key=value" */
    if (first && sv_scan_done(&scan))
        return sv__spec_fail(spec, "nothing after the colon");
    if (!first)
        sv_scan_char(&scan, ',');
    while (!sv_scan_done(&scan)) {
        sv_span item = take(&scan, ",");
        bool comma = sv_scan_char(&scan, ',');
        SV_TRY(add_item(spec, item, first));
        if (comma && sv_scan_done(&scan))
            return sv__spec_fail(spec, "nothing after the last comma");
        first = false;
    }
    return SV_OK;
}

bool sv__spec_overrides(const sv__spec *spec, sv_span key)
{
    for (size_t i = 0; i < spec->num_keys; i++)
        if (same(spec->keys[i].key, key))
            return true;
    return false;
}

bool sv__spec_has(const sv__spec *spec, const char *key)
{
    return sv__spec_overrides(spec, sv_span_of(key));
}

bool sv__spec_unasked(const sv__spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->num_keys; i++)
        if (sv_span_is(spec->keys[i].key, key))
            return !spec->keys[i].used;
    return false;
}

sv_span sv__spec_text(sv__spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->num_keys; i++)
        if (sv_span_is(spec->keys[i].key, key)) {
            spec->keys[i].used = true;
            return spec->keys[i].value;
        }
    return (sv_span){NULL, 0};
}

sv_status sv__spec_number(sv__spec *spec, const char *key, uint64_t min, uint64_t max,
                          uint64_t absent, uint64_t *number)
{
    sv_span value = sv__spec_text(spec, key);
    if (value.at == NULL && absent == SV__REQUIRED)
        return sv__spec_fail(spec, "key '%s' is missing", key);
    if (value.at == NULL) {
        *number = absent;
        return SV_OK;
    }
    if (!sv_span_number(value, max, number) || *number < min)
        return sv__spec_fail(spec, "%s=%.*s is not a number in %llu…%llu", key, SV_SPAN(value),
                             (unsigned long long)min, (unsigned long long)max);
    return SV_OK;
}

/* Numbers with a separator between them, out of what is called name in messages. */
static sv_status numbers_in(const sv__spec *spec, const char *name, sv_span value, char separator,
                            uint64_t min, uint64_t max, uint64_t *numbers, size_t *count)
{
    sv_scan scan = sv_scan_of(value);
    *count = 0;
    do {
        if (*count == SV__MAX_VALUES)
            return sv__spec_fail(spec, "%s has more than %d numbers", name, SV__MAX_VALUES);
        if (!sv_scan_number(&scan, max, &numbers[*count]) || numbers[*count] < min)
            return sv__spec_fail(
                spec, "%s '%.*s' is not numbers in %llu…%llu with '%c' between them", name,
                SV_SPAN(value), (unsigned long long)min, (unsigned long long)max, separator);
        ++*count;
    } while (sv_scan_char(&scan, separator));
    if (!sv_scan_done(&scan))
        return sv__spec_fail(spec, "%s '%.*s' has something odd at its end", name, SV_SPAN(value));
    return SV_OK;
}

sv_status sv__spec_list(sv__spec *spec, const char *key, uint64_t min, uint64_t max,
                        uint64_t *numbers, size_t *count)
{
    sv_span value = sv__spec_text(spec, key);
    *count = 0;
    if (value.at == NULL)
        return SV_OK;
    return numbers_in(spec, key, value, '/', min, max, numbers, count);
}

sv_status sv__spec_dims(sv__spec *spec, uint64_t min, uint64_t max, uint64_t *dims, size_t *count)
{
    if (spec->size.at == NULL)
        return sv__spec_fail(spec, "the size is missing (\"%.*s:4x4\", say)",
                             SV_SPAN(spec->family));
    spec->size_used = true;
    return numbers_in(spec, "size", spec->size, 'x', min, max, dims, count);
}

sv_status sv__spec_size(sv__spec *spec, uint64_t min, uint64_t max, uint64_t *size)
{
    uint64_t numbers[SV__MAX_VALUES];
    size_t count;
    if (spec->size.at == NULL)
        return sv__spec_fail(spec, "the size is missing (\"%.*s:8\", say)", SV_SPAN(spec->family));
    spec->size_used = true;
    SV_TRY(numbers_in(spec, "size", spec->size, 'x', min, max, numbers, &count));
    if (count != 1)
        return sv__spec_fail(spec, "the size is not one number");
    *size = numbers[0];
    return SV_OK;
}

sv_status sv__spec_unknown(const sv__spec *spec, sv_span key, const char *known)
{
    sv_near near;
    return sv__spec_fail(spec, "unknown key '%.*s'%s (known: %s)", SV_SPAN(key),
                         sv_near_hint(&near, key, known), known);
}

sv_status sv__spec_done(const sv__spec *spec, const char *known)
{
    if (spec->size.at != NULL && !spec->size_used)
        return sv__spec_fail(spec, "'%.*s' is not key=value", SV_SPAN(spec->size));
    for (size_t i = 0; i < spec->num_keys; i++)
        if (!spec->keys[i].used)
            return sv__spec_unknown(spec, spec->keys[i].key, known);
    return SV_OK;
}
