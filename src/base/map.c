/*
 * map.c: open addressing with linear probing.
 *
 * Invariants: size is a power of two and more than a third of the slots are empty, so every probe
 * ends; a slot is empty when its value is SV_ABSENT.
 * Cost: O(1) expected. Keys are mixed well enough for GUIDs that differ in a few bits; there is no
 * defence against keys made to collide (files are read by their owner).
 */
#include "base/map.h"

#include "base/digest.h"

#include <string.h>

struct sv__map_slot {
    uint64_t key;
    uint32_t value;
};

struct sv__name_slot {
    uint64_t hash;
    sv_span key;
    uint32_t value;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void sv_map_init(sv_map *map, sv_ctx *ctx)
{
    *map = (sv_map){.ctx = ctx};
}

void sv_map_release(sv_map *map)
{
    sv_release(map->ctx, map->slots);
    sv_map_init(map, map->ctx);
}

static struct sv__map_slot *map_probe(struct sv__map_slot *slots, size_t size, uint64_t key)
{
    size_t i = (size_t)mix(key) & (size - 1);
    while (slots[i].value != SV_ABSENT && slots[i].key != key)
        i = (i + 1) & (size - 1);
    return &slots[i];
}

uint32_t sv_map_get(const sv_map *map, uint64_t key)
{
    return map->size == 0 ? SV_ABSENT : map_probe(map->slots, map->size, key)->value;
}

static sv_status map_grow(sv_map *map)
{
    size_t size = map->size == 0 ? 64 : map->size * 2;
    struct sv__map_slot *slots = sv_alloc(map->ctx, size, sizeof *slots);
    if (slots == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < size; i++)
        slots[i].value = SV_ABSENT;
    for (size_t i = 0; i < map->size; i++)
        if (map->slots[i].value != SV_ABSENT)
            *map_probe(slots, size, map->slots[i].key) = map->slots[i];
    sv_release(map->ctx, map->slots);
    map->slots = slots;
    map->size = size;
    return SV_OK;
}

sv_status sv_map_add(sv_map *map, uint64_t key, uint32_t value, uint32_t *held)
{
    if (map->count * 3 >= map->size * 2)
        SV_TRY(map_grow(map));
    struct sv__map_slot *slot = map_probe(map->slots, map->size, key);
    if (slot->value == SV_ABSENT) {
        *slot = (struct sv__map_slot){key, value};
        map->count++;
    }
    if (held != NULL)
        *held = slot->value;
    return SV_OK;
}

void sv_map_set(sv_map *map, uint64_t key, uint32_t value)
{
    if (map->size == 0)
        return;
    struct sv__map_slot *slot = map_probe(map->slots, map->size, key);
    if (slot->value != SV_ABSENT)
        slot->value = value;
}

static uint64_t hash_text(sv_span key)
{
    return mix(sv_digest(SV_DIGEST_START, key.at, key.length));
}

void sv_names_init(sv_names *names, sv_ctx *ctx)
{
    *names = (sv_names){.ctx = ctx};
}

void sv_names_release(sv_names *names)
{
    sv_release(names->ctx, names->slots);
    sv_names_init(names, names->ctx);
}

static struct sv__name_slot *name_probe(struct sv__name_slot *slots, size_t size, uint64_t hash,
                                        sv_span key)
{
    size_t i = (size_t)hash & (size - 1);
    while (slots[i].value != SV_ABSENT &&
           !(slots[i].hash == hash && slots[i].key.length == key.length &&
             memcmp(slots[i].key.at, key.at, key.length) == 0))
        i = (i + 1) & (size - 1);
    return &slots[i];
}

uint32_t sv_names_get(const sv_names *names, sv_span key)
{
    if (names->size == 0)
        return SV_ABSENT;
    return name_probe(names->slots, names->size, hash_text(key), key)->value;
}

static sv_status names_grow(sv_names *names)
{
    size_t size = names->size == 0 ? 64 : names->size * 2;
    struct sv__name_slot *slots = sv_alloc(names->ctx, size, sizeof *slots);
    if (slots == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < size; i++)
        slots[i].value = SV_ABSENT;
    for (size_t i = 0; i < names->size; i++) {
        struct sv__name_slot *old = &names->slots[i];
        if (old->value != SV_ABSENT)
            *name_probe(slots, size, old->hash, old->key) = *old;
    }
    sv_release(names->ctx, names->slots);
    names->slots = slots;
    names->size = size;
    return SV_OK;
}

sv_status sv_names_add(sv_names *names, sv_span key, uint32_t value, uint32_t *held)
{
    if (names->count * 3 >= names->size * 2)
        SV_TRY(names_grow(names));
    uint64_t hash = hash_text(key);
    struct sv__name_slot *slot = name_probe(names->slots, names->size, hash, key);
    if (slot->value == SV_ABSENT) {
        *slot = (struct sv__name_slot){hash, key, value};
        names->count++;
    }
    if (held != NULL)
        *held = slot->value;
    return SV_OK;
}

void sv_names_set(sv_names *names, sv_span key, uint32_t value)
{
    if (names->size == 0)
        return;
    struct sv__name_slot *slot = name_probe(names->slots, names->size, hash_text(key), key);
    if (slot->value != SV_ABSENT)
        slot->value = value;
}
