/*
 * ctx.h: the inside of the context: failing, warning, allocating, progress, cancelling.
 *
 * The first function that sees an error reports it with sv_fail; those above only pass the status
 * on (SV_TRY). So a message is written once, where most is known.
 */
#ifndef SV_BASE_CTX_H
#define SV_BASE_CTX_H

#include <selvage/base.h>
#include <stdarg.h>

struct sv_ctx {
    sv_host host;
    sv_status status;
    bool in_request; /* the last failure: sv_refuse's */
    unsigned threads;
    char message[1024];
};

/* Passes a status that is not SV_OK on to the caller. */
#define SV_TRY(call)                                                                               \
    do {                                                                                           \
        sv_status sv_try_ = (call);                                                                \
        if (sv_try_ != SV_OK)                                                                      \
            return sv_try_;                                                                        \
    } while (0)

/* Records why a call fails and returns status, so that "return sv_fail(...)" reads well. */
sv_status sv_fail(sv_ctx *ctx, sv_status status, const char *format, ...) SV_PRINTF(3, 4);
/*
 * The same for BAD_INPUT whose place is the request, not a file: a name that is not known, a value
 * that its key cannot take (sv_ctx_in_request).
 */
sv_status sv_refuse(sv_ctx *ctx, const char *format, ...) SV_PRINTF(2, 3);
sv_status sv_vfail(sv_ctx *ctx, sv_status status, const char *format, va_list args) SV_PRINTF(3, 0);

void sv_warn(sv_ctx *ctx, const char *format, ...) SV_PRINTF(2, 3);
void sv_note(sv_ctx *ctx, const char *format, ...) SV_PRINTF(2, 3);

/* count * size bytes of zeroes, or NULL with NO_MEMORY recorded. count 0 gives a valid block. */
void *sv_alloc(sv_ctx *ctx, size_t count, size_t size);
/* As realloc of count * size bytes; new bytes are not cleared. NULL as sv_alloc. */
void *sv_resize(sv_ctx *ctx, void *block, size_t count, size_t size);
void sv_release(sv_ctx *ctx, void *block);

/* Tells the host how far a long computation is; SV_CANCELLED when it wants to stop. */
sv_status sv_progress(sv_ctx *ctx, const char *what, uint64_t done, uint64_t total);

/* Whether the host wants to stop; records nothing. */
bool sv_cancelled(const sv_ctx *ctx);

uint64_t sv_now_ns(sv_ctx *ctx);

/* The number of threads to use for a job in that many independent pieces: at least 1. */
unsigned sv_ctx_threads(const sv_ctx *ctx, uint64_t pieces);

#endif
