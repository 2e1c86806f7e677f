/*
 * array.h: growing arrays of any type, on the context's allocator.
 *
 *     SV_ARRAY(uint32_t) queue = {0};
 *     SV_TRY(sv_array_push(ctx, &queue, 7));
 *     ... queue.at[0], queue.length ...
 *     sv_array_release(ctx, &queue);
 *
 * Pushing is O(1) amortised; growth is by half, so that the slack stays below a third.
 */
#ifndef SV_BASE_ARRAY_H
#define SV_BASE_ARRAY_H

#include "base/ctx.h"

#define SV_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t length, room;                                                                       \
    }

/* Makes room for at least wanted elements. */
static inline sv_status sv__array_grow(sv_ctx *ctx, void **at, size_t *room, size_t wanted,
                                       size_t size)
{
    if (wanted <= *room)
        return SV_OK;
    size_t next = *room + *room / 2 + 8;
    if (next < wanted)
        next = wanted;
    void *grown = sv_resize(ctx, *at, next, size);
    if (grown == NULL)
        return SV_NO_MEMORY;
    *at = grown;
    *room = next;
    return SV_OK;
}

#define sv_array_reserve(ctx, array, wanted)                                                       \
    sv__array_grow((ctx), (void **)&(array)->at, &(array)->room, (wanted), sizeof *(array)->at)

#define sv_array_push(ctx, array, ...)                                                             \
    (sv_array_reserve((ctx), (array), (array)->length + 1) == SV_OK                                \
         ? ((array)->at[(array)->length++] = (__VA_ARGS__), SV_OK)                                 \
         : SV_NO_MEMORY)

#define sv_array_release(ctx, array)                                                               \
    do {                                                                                           \
        sv_release((ctx), (array)->at);                                                            \
        (array)->at = NULL;                                                                        \
        (array)->length = (array)->room = 0;                                                       \
    } while (0)

#endif
