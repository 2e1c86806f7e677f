/*
 * json.h: JSON out. Calls follow the structure; commas, indentation and escaping are done here.
 * Inside an object every call takes a key; inside an array the key is NULL.
 */
#ifndef SV_BASE_JSON_H
#define SV_BASE_JSON_H

#include "base/text.h"

typedef struct sv_json {
    sv_text *out;
    unsigned depth;
    uint64_t filled; /* bit d: the container at depth d has an element already */
    uint64_t flat;   /* bit d: the container at depth d is written on one line */
} sv_json;

void sv_json_init(sv_json *json, sv_text *out);
void sv_json_begin_object(sv_json *json, const char *key);
void sv_json_begin_array(sv_json *json, const char *key);
/* A container on one line, for the many small ones of a long list. */
void sv_json_begin_row(sv_json *json, const char *key, char bracket);
void sv_json_end(sv_json *json, char bracket);
void sv_json_text(sv_json *json, const char *key, const char *value); /* NULL is null */
void sv_json_number(sv_json *json, const char *key, uint64_t value);
void sv_json_real(sv_json *json, const char *key, double value, int digits);
void sv_json_bool(sv_json *json, const char *key, bool value);
void sv_json_guid(sv_json *json, const char *key, uint64_t guid); /* "0x…" of 16 digits */
void sv_json_null(sv_json *json, const char *key);

#endif
