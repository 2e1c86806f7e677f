/*
 * rng.c: xoshiro256** 1.0 and splitmix64, from their published definitions (Blackman, Vigna 2018).
 *
 * Invariant: the state is never all zero (splitmix64 visits zero once, not four times in a row).
 * Cost: a few cycles a number; bounded numbers reject less than once on average.
 */
#include "base/rng.h"

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

void sv_rng_init(sv_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        rng->state[i] = z ^ (z >> 31);
    }
}

uint64_t sv_rng_next(sv_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t sv_rng_below(sv_rng *rng, uint64_t bound)
{
    /* Numbers below this threshold would favour small results: 2^64 mod bound of them. */
    uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        uint64_t number = sv_rng_next(rng);
        if (number >= threshold)
            return number % bound;
    }
}

void sv_rng_shuffle(sv_rng *rng, uint32_t *at, size_t length)
{
    for (size_t i = length; i > 1; i--) {
        size_t j = (size_t)sv_rng_below(rng, i);
        uint32_t kept = at[i - 1];
        at[i - 1] = at[j];
        at[j] = kept;
    }
}
