/*
 * ctx.c: the context.
 *
 * Idea: one small object carries everything the library would otherwise take from the outside
 * world behind its caller's back. Tests replace the allocator to make the n-th allocation fail,
 * the clock to make time repeatable, and the cancel hook to stop at a chosen point.
 *
 * Invariants: host.resize, host.clock_ns are never NULL; message is always a terminated string of
 * one line (a newline inside a message, from a name in a file say, becomes a blank).
 *
 * Cost: O(1) everywhere.
 */
#include "base/ctx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef SELVAGE_VERSION
#error "SELVAGE_VERSION comes from the build"
#endif

static void *default_resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

static uint64_t default_clock_ns(void *user)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

sv_ctx *sv_ctx_new(const sv_host *host)
{
    sv_host filled = {0};
    if (host != NULL)
        filled = *host;
    if (filled.resize == NULL)
        filled.resize = default_resize;
    if (filled.clock_ns == NULL)
        filled.clock_ns = default_clock_ns;
    sv_ctx *ctx = filled.resize(filled.user, NULL, sizeof *ctx);
    if (ctx == NULL)
        return NULL;
    memset(ctx, 0, sizeof *ctx);
    ctx->host = filled;
    return ctx;
}

void sv_ctx_free(sv_ctx *ctx)
{
    if (ctx != NULL)
        ctx->host.resize(ctx->host.user, ctx, 0);
}

const char *sv_ctx_message(const sv_ctx *ctx)
{
    return ctx->message;
}

sv_status sv_ctx_status(const sv_ctx *ctx)
{
    return ctx->status;
}

bool sv_ctx_in_request(const sv_ctx *ctx)
{
    return ctx->in_request;
}

void sv_ctx_set_threads(sv_ctx *ctx, unsigned threads)
{
    ctx->threads = threads;
}

unsigned sv_ctx_threads(const sv_ctx *ctx, uint64_t pieces)
{
    uint64_t threads = ctx->threads;
    if (threads == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        threads = online > 0 ? (uint64_t)online : 1;
    }
    if (threads > pieces)
        threads = pieces;
    if (threads > 256)
        threads = 256;
    return threads == 0 ? 1 : (unsigned)threads;
}

const char *sv_status_name(sv_status status)
{
    switch (status) {
    case SV_OK:
        return "ok";
    case SV_BAD_INPUT:
        return "bad input";
    case SV_IO:
        return "input or output error";
    case SV_NO_MEMORY:
        return "out of memory";
    case SV_UNSUPPORTED:
        return "unsupported";
    case SV_INFEASIBLE:
        return "infeasible";
    case SV_CANCELLED:
        return "cancelled";
    }
    return "unknown status";
}

const char *sv_version(void)
{
    return SELVAGE_VERSION;
}

const char *sv_features(void)
{
    return ""
#ifdef SELVAGE_METIS
           "metis "
#endif
#ifdef SELVAGE_JANSSON
           "jansson "
#endif
#ifdef SELVAGE_OTF2
           "otf2 "
#endif
           "threads";
}

/* Control characters (names come from files) must not break the one-line rule. */
static void flatten(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != 0; c++)
        if (*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

sv_status sv_vfail(sv_ctx *ctx, sv_status status, const char *format, va_list args)
{
    vsnprintf(ctx->message, sizeof ctx->message, format, args);
    flatten(ctx->message);
    ctx->status = status;
    ctx->in_request = false;
    return status;
}

sv_status sv_refuse(sv_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sv_vfail(ctx, SV_BAD_INPUT, format, args);
    va_end(args);
    ctx->in_request = true;
    return SV_BAD_INPUT;
}

sv_status sv_fail(sv_ctx *ctx, sv_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sv_vfail(ctx, status, format, args);
    va_end(args);
    return status;
}

static void SV_PRINTF(3, 0) say(sv_ctx *ctx, sv_log_level level, const char *format, va_list args)
{
    if (ctx->host.log == NULL)
        return;
    char line[1024];
    vsnprintf(line, sizeof line, format, args);
    flatten(line);
    ctx->host.log(ctx->host.user, level, line);
}

void sv_warn(sv_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(ctx, SV_LOG_WARNING, format, args);
    va_end(args);
}

void sv_note(sv_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(ctx, SV_LOG_INFO, format, args);
    va_end(args);
}

void *sv_resize(sv_ctx *ctx, void *block, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 2) / size) {
        sv_fail(ctx, SV_NO_MEMORY, "out of memory: %zu times %zu bytes asked for", count, size);
        return NULL;
    }
    size_t bytes = count * size;
    void *grown = ctx->host.resize(ctx->host.user, block, bytes == 0 ? 1 : bytes);
    if (grown == NULL)
        sv_fail(ctx, SV_NO_MEMORY, "out of memory: %zu bytes asked for", bytes);
    return grown;
}

void *sv_alloc(sv_ctx *ctx, size_t count, size_t size)
{
    void *block = sv_resize(ctx, NULL, count, size);
    if (block != NULL)
        memset(block, 0, count * size);
    return block;
}

void sv_release(sv_ctx *ctx, void *block)
{
    if (block != NULL)
        ctx->host.resize(ctx->host.user, block, 0);
}

bool sv_cancelled(const sv_ctx *ctx)
{
    return ctx->host.cancelled != NULL && ctx->host.cancelled(ctx->host.user);
}

sv_status sv_progress(sv_ctx *ctx, const char *what, uint64_t done, uint64_t total)
{
    if (ctx->host.progress != NULL)
        ctx->host.progress(ctx->host.user, what, done, total);
    if (sv_cancelled(ctx))
        return sv_fail(ctx, SV_CANCELLED, "cancelled during %s", what);
    return SV_OK;
}

uint64_t sv_now_ns(sv_ctx *ctx)
{
    return ctx->host.clock_ns(ctx->host.user);
}
