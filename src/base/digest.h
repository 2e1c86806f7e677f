/*
 * digest.h: a number for bytes (FNV-1a, 64 bits): equal bytes, equal numbers; different ones differ
 * as a rule. Not for anything that somebody may want to forge.
 */
#ifndef SV_BASE_DIGEST_H
#define SV_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define SV_DIGEST_START UINT64_C(0xcbf29ce484222325)

/* Goes on from what came before. */
static inline uint64_t sv_digest(uint64_t so_far, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        so_far = (so_far ^ at[i]) * UINT64_C(0x100000001b3);
    return so_far;
}

#endif
