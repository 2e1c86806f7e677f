/*
 * json.c: a JSON writer.
 *
 * Invariants: at most 60 containers deep; whatever bytes a name holds, the output is valid JSON:
 * control characters, quotes and backslashes are escaped, and bytes that are not UTF-8 become
 * U+FFFD; a real that is no number or infinite is null.
 * Cost: linear in the output.
 */
#include "base/json.h"

#include <math.h>
#include <string.h>

void sv_json_init(sv_json *json, sv_text *out)
{
    *json = (sv_json){.out = out};
}

static void quoted(sv_text *out, const char *value)
{
    sv_text_add(out, "\"", 1);
    for (const unsigned char *c = (const unsigned char *)value; *c != 0;) {
        size_t length = sv_utf8_length((const char *)c);
        if (length == 0) {
            sv_text_add(out, "\\ufffd", 6);
            length = 1;
        } else if (*c == '"' || *c == '\\') {
            sv_text_print(out, "\\%c", *c);
        } else if (*c < 0x20 || *c == 0x7f) {
            sv_text_print(out, "\\u%04x", *c);
        } else {
            sv_text_add(out, (const char *)c, length);
        }
        c += length;
    }
    sv_text_add(out, "\"", 1);
}

static bool is_flat(const sv_json *json)
{
    return (json->flat >> json->depth) & 1;
}

static void new_line(sv_json *json)
{
    sv_text_add(json->out, "\n", 1);
    for (unsigned i = 0; i < json->depth; i++)
        sv_text_add(json->out, "  ", 2);
}

static void lead(sv_json *json, const char *key)
{
    if ((json->filled >> json->depth) & 1)
        sv_text_add(json->out, is_flat(json) ? ", " : ",", is_flat(json) ? 2 : 1);
    json->filled |= (uint64_t)1 << json->depth;
    if (json->depth > 0 && !is_flat(json))
        new_line(json);
    if (key != NULL) {
        quoted(json->out, key);
        sv_text_add(json->out, ": ", 2);
    }
}

static void begin(sv_json *json, const char *key, char bracket, bool flat)
{
    lead(json, key);
    sv_text_add(json->out, &bracket, 1);
    flat = flat || is_flat(json);
    json->depth++;
    uint64_t bit = (uint64_t)1 << json->depth;
    json->filled &= ~bit;
    json->flat = flat ? json->flat | bit : json->flat & ~bit;
}

void sv_json_begin_object(sv_json *json, const char *key)
{
    begin(json, key, '{', false);
}

void sv_json_begin_array(sv_json *json, const char *key)
{
    begin(json, key, '[', false);
}

void sv_json_begin_row(sv_json *json, const char *key, char bracket)
{
    begin(json, key, bracket, true);
}

void sv_json_end(sv_json *json, char bracket)
{
    bool newline = ((json->filled >> json->depth) & 1) && !is_flat(json);
    json->depth--;
    if (newline)
        new_line(json);
    sv_text_add(json->out, &bracket, 1);
    if (json->depth == 0)
        sv_text_add(json->out, "\n", 1);
}

void sv_json_text(sv_json *json, const char *key, const char *value)
{
    lead(json, key);
    if (value == NULL)
        sv_text_add(json->out, "null", 4);
    else
        quoted(json->out, value);
}

void sv_json_number(sv_json *json, const char *key, uint64_t value)
{
    lead(json, key);
    sv_text_print(json->out, "%llu", (unsigned long long)value);
}

void sv_json_real(sv_json *json, const char *key, double value, int digits)
{
    lead(json, key);
    if (isfinite(value))
        sv_text_print(json->out, "%.*f", digits, value);
    else
        sv_text_add(json->out, "null", 4);
}

void sv_json_bool(sv_json *json, const char *key, bool value)
{
    lead(json, key);
    sv_text_print(json->out, "%s", value ? "true" : "false");
}

void sv_json_guid(sv_json *json, const char *key, uint64_t guid)
{
    lead(json, key);
    sv_text_print(json->out, "\"0x%016llx\"", (unsigned long long)guid);
}

void sv_json_null(sv_json *json, const char *key)
{
    lead(json, key);
    sv_text_add(json->out, "null", 4);
}
