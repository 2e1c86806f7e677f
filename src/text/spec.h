/*
 * spec.h: spec strings taken apart: "family:size,key=value,…".
 *
 * A family asks for the keys it knows; what nobody asked for is an error in the end
 * (sv__spec_done), so a misspelt key is never ignored.
 */
#ifndef SV_TEXT_SPEC_H
#define SV_TEXT_SPEC_H

#include "base/text.h"

enum { SV__MAX_KEYS = 24, SV__MAX_VALUES = 24 };

typedef struct sv__spec {
    sv_ctx *ctx;
    const char *text;     /* as the user typed it */
    sv_span family, size; /* size.at is NULL when there is none */
    struct {
        sv_span key, value;
        bool used;
    } keys[SV__MAX_KEYS];
    size_t num_keys;
    bool size_used;
} sv__spec;

/* Splits a string. The spec points into text. */
sv_status sv__spec_parse(sv__spec *spec, sv_ctx *ctx, const char *text);

/* BAD_INPUT with "spec '…': " in front. */
sv_status sv__spec_fail(const sv__spec *spec, const char *format, ...) SV_PRINTF(2, 3);
/* INFEASIBLE, likewise. */
sv_status sv__spec_infeasible(const sv__spec *spec, const char *format, ...) SV_PRINTF(2, 3);

/* Whether a key is given. Does not count as asking for it. */
bool sv__spec_has(const sv__spec *spec, const char *key);

/* Whether a key is given that nobody has asked for yet. */
bool sv__spec_unasked(const sv__spec *spec, const char *key);

/* The value of a key as text; an empty span at NULL when it is not given. */
sv_span sv__spec_text(sv__spec *spec, const char *key);

/* A number in min … max; absent stands for a key that is not given (SV__REQUIRED: an error). */
#define SV__REQUIRED UINT64_MAX
sv_status sv__spec_number(sv__spec *spec, const char *key, uint64_t min, uint64_t max,
                          uint64_t absent, uint64_t *number);

/* Numbers with '/' between them ("6/6"). *count is 0 when the key is not given. */
sv_status sv__spec_list(sv__spec *spec, const char *key, uint64_t min, uint64_t max,
                        uint64_t *numbers, size_t *count);

/* The size as numbers with 'x' between them ("4x4x3"); required. */
sv_status sv__spec_dims(sv__spec *spec, uint64_t min, uint64_t max, uint64_t *dims, size_t *count);

/* The size as one number; required. */
sv_status sv__spec_size(sv__spec *spec, uint64_t min, uint64_t max, uint64_t *size);

/* Whether a key is given, by span: a preset's own is then left out. */
bool sv__spec_overrides(const sv__spec *spec, sv_span key);

/* Says that there is no such key, and which there are ("hosts, total, …"). */
sv_status sv__spec_unknown(const sv__spec *spec, sv_span key, const char *known);

/* Everything asked for? */
sv_status sv__spec_done(const sv__spec *spec, const char *known);

#endif
