/*
 * pack.c: data for the page.
 *
 * Numbers are not rounded: what is no small integer is written with all of its 64 bits, so that the
 * page shows what the database holds. Bytes are put into order by hand, so that pages of all
 * machines are the same.
 *
 * Invariant: whatever names hold, the result is valid JSON and has no '<'. Cost: linear.
 */
#include "report/pack.h"

#include <math.h>
#include <string.h>

/* ---- a script element ---- */

static bool write_script(void *user, const void *bytes, size_t size)
{
    const sv__script *script = user;
    const char *at = bytes, *end = at + size;
    while (at < end) {
        const char *found = memchr(at, '<', (size_t)(end - at));
        const char *stop = found == NULL ? end : found;
        if (stop > at && !script->to->write(script->to->user, at, (size_t)(stop - at)))
            return false;
        if (found != NULL && !script->to->write(script->to->user, "\\u003c", 6))
            return false;
        at = found == NULL ? end : found + 1;
    }
    return true;
}

void sv__script_init(sv__script *script, const sv_sink *to)
{
    script->to = to;
    script->sink = (sv_sink){.name = to->name, .user = script, .write = write_script};
}

void sv__html_text(sv_text *out, const char *text)
{
    for (const char *c = text; *c != 0;) {
        size_t length = sv_utf8_length(c);
        if (*c == '<')
            sv_text_add(out, "&lt;", 4);
        else if (*c == '&')
            sv_text_add(out, "&amp;", 5);
        else if (*c == '"')
            sv_text_add(out, "&quot;", 6);
        else if (length == 0)
            sv_text_add(out, "\xef\xbf\xbd", 3);
        else
            sv_text_add(out, c, length);
        c += length == 0 ? 1 : length;
    }
}

/* ---- base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64(sv_text *out, const uint8_t *at, size_t length)
{
    char piece[4];
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t three = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
                         (left > 2 ? at[i + 2] : 0);
        for (int d = 0; d < 4; d++)
            piece[d] = digits[three >> (18 - 6 * d) & 63];
        if (left < 3)
            piece[3] = '=';
        if (left < 2)
            piece[2] = '=';
        sv_text_add(out, piece, 4);
    }
}

void sv__pack_bytes(sv_json *json, const char *key, const void *bytes, size_t length)
{
    sv_text text;
    sv_text_init(&text, json->out->ctx, NULL);
    base64(&text, bytes, length);
    if (text.status == SV_OK)
        sv_json_text(json, key, text.at == NULL ? "" : text.at);
    else
        json->out->status = text.status;
    sv_text_release(&text);
}

/* ---- numbers ---- */

static const struct form {
    const char *name;
    unsigned bytes;
    double max; /* and the same below zero; one less than that is NAN */
} forms[] = {{"i8", 1, 127}, {"i16", 2, 32767}, {"i32", 4, 2147483647}, {"f64", 8, INFINITY}};

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* The smallest form that holds all; *all_same: one number stands for all. */
static const struct form *form_of(const double *numbers, size_t count, bool *all_same)
{
    size_t form = 0;
    *all_same = count > 1;
    for (size_t i = 0; i < count; i++) {
        double x = numbers[i];
        *all_same = *all_same && same(x, numbers[0]);
        if (isnan(x))
            continue;
        if (x != floor(x) || (x == 0 && signbit(x)))
            form = 3;
        while (fabs(x) > forms[form].max)
            form++;
    }
    return &forms[form];
}

static void encode(uint8_t *at, const struct form *form, double x)
{
    uint64_t bits = 0;
    if (form->bytes == 8)
        memcpy(&bits, &x, sizeof bits);
    else
        bits = (uint64_t)(int64_t)(isnan(x) ? -form->max - 1 : x);
    for (unsigned b = 0; b < form->bytes; b++)
        at[b] = (uint8_t)(bits >> 8 * b);
}

void sv__pack_numbers(sv_json *json, const char *key, const double *numbers, size_t count)
{
    bool all_same;
    const struct form *form = form_of(numbers, count, &all_same);
    size_t written = all_same ? 1 : count;
    uint8_t *bytes = sv_alloc(json->out->ctx, written, form->bytes);
    if (bytes == NULL) {
        json->out->status = SV_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < written; i++)
        encode(bytes + i * form->bytes, form, numbers[i]);
    sv_json_begin_row(json, key, '{');
    sv_json_text(json, "type", form->name);
    sv_json_number(json, "length", count);
    sv__pack_bytes(json, "data", bytes, written * form->bytes);
    sv_json_end(json, '}');
    sv_release(json->out->ctx, bytes);
}
