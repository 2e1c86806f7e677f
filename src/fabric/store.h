/*
 * store.h: who owns a fabric's memory.
 *
 * Each object the room hands out (fabric, mask, match, diff) lives in a store of its own: an arena
 * with a copy of the host's allocator, so that the object can be freed after the context that made
 * it. A masked fabric's store holds a reference to the store it borrows arrays from.
 */
#ifndef SV_FABRIC_STORE_H
#define SV_FABRIC_STORE_H

#include <selvage/fabric.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/bitset.h"

typedef struct sv__store {
    atomic_uint references;
    struct sv__store *parent;
    sv_ctx ctx; /* for its allocator only */
    sv_arena arena;
} sv__store;

/* A store with one reference; parent (may be NULL) gets one more. NULL with NO_MEMORY in ctx. */
sv__store *sv__store_new(sv_ctx *ctx, sv__store *parent);
void sv__store_drop(sv__store *store);

/* As sv_arena_alloc, with the failure recorded in the caller's context. */
void *sv__store_alloc(sv__store *store, sv_ctx *ctx, size_t count, size_t size);

#define SV_STORE_NEW(store, ctx, type, count)                                                      \
    ((type *)sv__store_alloc((store), (ctx), (count), sizeof(type)))

#endif
