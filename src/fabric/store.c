/*
 * store.c: reference-counted arenas.
 *
 * Invariant: a store lives as long as anything that borrows from it; the count is atomic because
 * fabrics that share arrays may be freed from different threads.
 * Cost: O(1), freeing is O(chunks).
 */
#include "fabric/store.h"

sv__store *sv__store_new(sv_ctx *ctx, sv__store *parent)
{
    sv__store *store = sv_alloc(ctx, 1, sizeof *store);
    if (store == NULL)
        return NULL;
    atomic_init(&store->references, 1);
    store->ctx.host = (sv_host){
        .user = ctx->host.user, .resize = ctx->host.resize, .clock_ns = ctx->host.clock_ns};
    sv_arena_init(&store->arena, &store->ctx);
    store->parent = parent;
    if (parent != NULL)
        atomic_fetch_add(&parent->references, 1);
    return store;
}

void sv__store_drop(sv__store *store)
{
    while (store != NULL && atomic_fetch_sub(&store->references, 1) == 1) {
        sv__store *parent = store->parent;
        sv_ctx allocator = store->ctx;
        sv_arena_release(&store->arena);
        sv_release(&allocator, store);
        store = parent;
    }
}

void *sv__store_alloc(sv__store *store, sv_ctx *ctx, size_t count, size_t size)
{
    void *block = sv_arena_alloc(&store->arena, count, size);
    if (block == NULL)
        sv_fail(ctx, SV_NO_MEMORY, "%s", sv_ctx_message(&store->ctx));
    return block;
}
