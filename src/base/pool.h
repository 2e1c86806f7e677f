/*
 * pool.h: who owns the memory of results.
 *
 * Each object that a caller owns (fabric, tables, verification …) lives in a pool of its own: an
 * arena with a copy of the host's allocator, so that the object can be freed after the context that
 * made it. A pool holds a reference to the one it borrows arrays from: a masked fabric's to the
 * whole fabric's.
 */
#ifndef SV_BASE_POOL_H
#define SV_BASE_POOL_H

#include <selvage/base.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/bitset.h"

struct sv_pool {
    atomic_uint references;
    sv_pool *parent;
    sv_ctx ctx; /* for its allocator only */
    sv_arena arena;
};

/* A pool with one reference; parent (may be NULL) gets one more. NULL with NO_MEMORY in ctx. */
sv_pool *sv__pool_new(sv_ctx *ctx, sv_pool *parent);
void sv__pool_drop(sv_pool *pool);

/* As sv_arena_alloc, with the failure recorded in the caller's context. */
void *sv__pool_alloc(sv_pool *pool, sv_ctx *ctx, size_t count, size_t size);

#define SV_POOL_NEW(pool, ctx, type, count)                                                        \
    ((type *)sv__pool_alloc((pool), (ctx), (count), sizeof(type)))

#endif
