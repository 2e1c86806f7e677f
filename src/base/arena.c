/*
 * arena.c: a bump allocator.
 *
 * Idea: chunks of 64 KiB and growing; a request that does not fit gets a chunk of its own size
 * without wasting what is left of the newest one. Nothing is freed before the arena is.
 *
 * Invariant: chunks is a list whose head is the chunk that small requests are cut from.
 * Cost: O(1) a request plus clearing; at most a quarter of the memory is slack.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

struct sv__chunk {
    struct sv__chunk *next;
    alignas(max_align_t) unsigned char bytes[];
};

enum { FIRST_CHUNK = 64 * 1024, LARGEST_CHUNK = 1024 * 1024 };

void sv_arena_init(sv_arena *arena, sv_ctx *ctx)
{
    *arena = (sv_arena){.ctx = ctx};
}

void sv_arena_release(sv_arena *arena)
{
    for (struct sv__chunk *chunk = arena->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        sv_release(arena->ctx, chunk);
    }
    sv_arena_init(arena, arena->ctx);
}

static struct sv__chunk *chunk_new(sv_arena *arena, size_t bytes)
{
    struct sv__chunk *chunk = sv_resize(arena->ctx, NULL, 1, sizeof(struct sv__chunk) + bytes);
    if (chunk != NULL)
        arena->taken += sizeof(struct sv__chunk) + bytes;
    return chunk;
}

/* A large request: a chunk for it alone, put behind the head so that the head goes on serving. */
static void *alloc_alone(sv_arena *arena, size_t bytes)
{
    struct sv__chunk *chunk = chunk_new(arena, bytes);
    if (chunk == NULL)
        return NULL;
    if (arena->chunks == NULL) {
        chunk->next = NULL;
        arena->chunks = chunk;
        arena->used = arena->size = bytes;
    } else {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    }
    return chunk->bytes;
}

/* What a request takes. */
static size_t rounded(size_t bytes)
{
    bytes = (bytes + alignof(max_align_t) - 1) & ~(size_t)(alignof(max_align_t) - 1);
    return bytes == 0 ? alignof(max_align_t) : bytes;
}

void *sv_arena_raw(sv_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 4) / size) {
        sv_fail(arena->ctx, SV_NO_MEMORY, "out of memory: %zu times %zu bytes", count, size);
        return NULL;
    }
    size_t bytes = rounded(count * size);
    if (arena->chunks == NULL || arena->size - arena->used < bytes) {
        if (bytes > FIRST_CHUNK / 4)
            return alloc_alone(arena, bytes);
        size_t next = arena->size < FIRST_CHUNK ? FIRST_CHUNK : arena->size * 2;
        if (next > LARGEST_CHUNK)
            next = LARGEST_CHUNK;
        struct sv__chunk *chunk = chunk_new(arena, next);
        if (chunk == NULL)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->size = next;
        arena->used = 0;
    }
    void *block = arena->chunks->bytes + arena->used;
    arena->used += bytes;
    return block;
}

void *sv_arena_alloc(sv_arena *arena, size_t count, size_t size)
{
    void *block = sv_arena_raw(arena, count, size);
    return block == NULL ? NULL : memset(block, 0, rounded(count * size));
}

char *sv_arena_text(sv_arena *arena, const char *text, size_t length)
{
    char *copy = sv_arena_alloc(arena, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}
