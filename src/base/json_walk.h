/*
 * json_walk.h: which line of a JSON text the members of an object, or elements of an array, begin
 * in. jansson tells lines of what is no JSON, and forgets them of what is.
 */
#ifndef SV_BASE_JSON_WALK_H
#define SV_BASE_JSON_WALK_H

#include "base/array.h"
#include "base/text.h"

/* A walk over the members or elements of one object or array. The text is JSON: it was parsed. */
typedef struct sv_json_walk {
    sv_scan scan;
    uint64_t line; /* of the member's key, or the element; of the object itself before the first */
    sv_span key;   /* as written, without quotes; empty in arrays */
} sv_json_walk;

/* Before the first member of the object (or element of the array) that the whole text is. */
sv_json_walk sv_json_walk_of(sv_span text);

/* On to the next one; false: there is none. */
bool sv_json_walk_next(sv_json_walk *walk);

/* Before the first member of what the current member, or element, has as its value. */
sv_json_walk sv_json_walk_into(const sv_json_walk *walk);

/* Walks on to a member; false: there is none of that key. */
bool sv_json_walk_to(sv_json_walk *walk, const char *key);

/*
 * What jansson reads by (json_load_callback), and keeps: the text for a walk. status: how reading
 * went, apart from what jansson says.
 */
typedef struct sv_json_feed {
    sv_lines *lines;
    SV_ARRAY(char) text; /* to be released (sv_array_release) */
    sv_status status;
} sv_json_feed;

/* Hands on what the line buffer has already taken, then the rest of the source. arg: the feed. */
size_t sv_json_feed_more(void *buffer, size_t size, void *arg);

#endif
