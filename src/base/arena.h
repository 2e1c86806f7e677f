/*
 * arena.h: memory that is freed all at once.
 *
 * A computation takes its scratch from an arena and has no clean-up labels: whoever made the arena
 * releases it, however the computation ended.
 */
#ifndef SV_BASE_ARENA_H
#define SV_BASE_ARENA_H

#include "base/ctx.h"

typedef struct sv_arena {
    sv_ctx *ctx;
    struct sv__chunk *chunks; /* newest first */
    size_t used, size;        /* of the newest chunk */
    size_t taken;             /* bytes in all chunks */
} sv_arena;

void sv_arena_init(sv_arena *arena, sv_ctx *ctx);
void sv_arena_release(sv_arena *arena);

/* count * size bytes of zeroes, aligned for anything, or NULL with NO_MEMORY in the context. */
void *sv_arena_alloc(sv_arena *arena, size_t count, size_t size);

/* The same with anything in it: for what is large, and filled by several threads. */
void *sv_arena_raw(sv_arena *arena, size_t count, size_t size);

/* A copy of length bytes of text, terminated. NULL as sv_arena_alloc. */
char *sv_arena_text(sv_arena *arena, const char *text, size_t length);

/* An array of count zeroed things of a type. */
#define SV_ARENA_NEW(arena, type, count) ((type *)sv_arena_alloc((arena), (count), sizeof(type)))

#endif
