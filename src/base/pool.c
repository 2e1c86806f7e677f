/*
 * pool.c: reference-counted arenas.
 *
 * Invariant: a pool lives as long as anything that borrows from it; the count is atomic because
 * fabrics that share arrays may be freed from different threads.
 * Cost: O(1), freeing is O(chunks).
 */
#include "base/pool.h"

sv_pool *sv__pool_new(sv_ctx *ctx, sv_pool *parent)
{
    sv_pool *pool = sv_alloc(ctx, 1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    atomic_init(&pool->references, 1);
    pool->ctx.host = (sv_host){
        .user = ctx->host.user, .resize = ctx->host.resize, .clock_ns = ctx->host.clock_ns};
    sv_arena_init(&pool->arena, &pool->ctx);
    pool->parent = parent;
    if (parent != NULL)
        atomic_fetch_add(&parent->references, 1);
    return pool;
}

void sv__pool_drop(sv_pool *pool)
{
    while (pool != NULL && atomic_fetch_sub(&pool->references, 1) == 1) {
        sv_pool *parent = pool->parent;
        sv_ctx allocator = pool->ctx;
        sv_arena_release(&pool->arena);
        sv_release(&allocator, pool);
        pool = parent;
    }
}

void *sv__pool_alloc(sv_pool *pool, sv_ctx *ctx, size_t count, size_t size)
{
    void *block = sv_arena_alloc(&pool->arena, count, size);
    if (block == NULL)
        sv_fail(ctx, SV_NO_MEMORY, "%s", sv_ctx_message(&pool->ctx));
    return block;
}
