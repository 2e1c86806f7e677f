/*
 * pack.h: data for the page: JSON that may stand in a script element, long arrays as base64.
 */
#ifndef SV_REPORT_PACK_H
#define SV_REPORT_PACK_H

#include "base/json.h"

/*
 * A sink in front of another one that writes each '<' as \u003c. JSON has that character in strings
 * only, so it stays the same JSON, and no name in it can end the script element that it stands in.
 */
typedef struct sv__script {
    const sv_sink *to;
    sv_sink sink;
} sv__script;

void sv__script_init(sv__script *script, const sv_sink *to);

/* Text in HTML: outside of tags, or in an attribute with double quotes. */
void sv__html_text(sv_text *out, const char *text);

/* A string of base64. */
void sv__pack_bytes(sv_json *json, const char *key, const void *bytes, size_t length);

/*
 * Numbers as {"type": …, "length": n, "data": base64}: in the smallest of i8, i16, i32 and f64 that
 * holds all of them (little end first; integers: the smallest number stands for NAN), one number
 * only where all are the same.
 */
void sv__pack_numbers(sv_json *json, const char *key, const double *numbers, size_t count);

#endif
