/*
 * map.h: two hash maps to 32-bit values: from 64-bit keys (GUIDs) and from pieces of text (names,
 * whose bytes the caller keeps).
 */
#ifndef SV_BASE_MAP_H
#define SV_BASE_MAP_H

#include "base/text.h"

#define SV_ABSENT UINT32_MAX

typedef struct sv_map {
    sv_ctx *ctx;
    struct sv__map_slot *slots;
    size_t count, size; /* size is a power of two, or 0 */
} sv_map;

void sv_map_init(sv_map *map, sv_ctx *ctx);
void sv_map_release(sv_map *map);
/* The value of a key, or SV_ABSENT. */
uint32_t sv_map_get(const sv_map *map, uint64_t key);
/* Adds a key unless it is there already. *held is then the value in the map: value, or the old. */
sv_status sv_map_add(sv_map *map, uint64_t key, uint32_t value, uint32_t *held);
/* Gives a key that is there another value. */
void sv_map_set(sv_map *map, uint64_t key, uint32_t value);

typedef struct sv_names {
    sv_ctx *ctx;
    struct sv__name_slot *slots;
    size_t count, size;
} sv_names;

void sv_names_init(sv_names *names, sv_ctx *ctx);
void sv_names_release(sv_names *names);
uint32_t sv_names_get(const sv_names *names, sv_span key);
sv_status sv_names_add(sv_names *names, sv_span key, uint32_t value, uint32_t *held);
void sv_names_set(sv_names *names, sv_span key, uint32_t value);

#endif
