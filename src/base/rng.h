/*
 * rng.h: the one random generator of the tree: xoshiro256** (Blackman and Vigna), seeded through
 * splitmix64, so that neighbouring seeds give unrelated streams. Same seed, same numbers, on every
 * machine. Not for secrets.
 */
#ifndef SV_BASE_RNG_H
#define SV_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct sv_rng {
    uint64_t state[4];
} sv_rng;

void sv_rng_init(sv_rng *rng, uint64_t seed);
uint64_t sv_rng_next(sv_rng *rng);

/* A number below bound (bound > 0), each exactly as likely as the others. */
uint64_t sv_rng_below(sv_rng *rng, uint64_t bound);

/* Puts the elements into random order, each order as likely as the others. */
void sv_rng_shuffle(sv_rng *rng, uint32_t *at, size_t length);

#endif
