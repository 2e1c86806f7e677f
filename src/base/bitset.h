/* bitset.h: sets of small numbers, one bit each; the words come from an arena, cleared. */
#ifndef SV_BASE_BITSET_H
#define SV_BASE_BITSET_H

#include "base/arena.h"

static inline size_t sv_bitset_words(size_t bits)
{
    return (bits + 63) / 64;
}

static inline uint64_t *sv_bitset_new(sv_arena *arena, size_t bits)
{
    return SV_ARENA_NEW(arena, uint64_t, sv_bitset_words(bits) + 1);
}

static inline bool sv_bit(const uint64_t *set, size_t i)
{
    return (set[i >> 6] >> (i & 63)) & 1;
}

static inline void sv_bit_set(uint64_t *set, size_t i)
{
    set[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void sv_bit_clear(uint64_t *set, size_t i)
{
    set[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

#endif
