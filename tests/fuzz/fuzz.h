/*
 * fuzz.h: what all fuzz targets share. A target is a fuzz_run, in a file of its own or in fuzz.c.
 */
#ifndef SELVAGE_FUZZ_H
#define SELVAGE_FUZZ_H

#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One input. The context's memory is limited and must all be released again. */
void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size);

/* How many bytes of memory an input may take. */
extern const size_t fuzz_memory;

/* Of the context: for what makes contexts of its own. */
const sv_host *fuzz_host(void);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,                     \
                    sv_ctx_message(ctx));                                                          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A refusal must explain itself in one line. */
static inline void must_explain(sv_ctx *ctx, sv_status status)
{
    MUST(status == SV_BAD_INPUT || status == SV_NO_MEMORY || status == SV_INFEASIBLE ||
         status == SV_UNSUPPORTED);
    MUST(sv_ctx_message(ctx)[0] != 0 && strchr(sv_ctx_message(ctx), '\n') == NULL);
}

/* The same; invalid input begins with its place. */
static inline void must_refuse(sv_ctx *ctx, sv_status status, const char *place)
{
    must_explain(ctx, status);
    if (status == SV_BAD_INPUT)
        MUST(strncmp(sv_ctx_message(ctx), place, strlen(place)) == 0);
}

/* ---- memory ---- */

struct bytes {
    char *at; /* terminated once there are any */
    size_t length;
};

/* A sink's write: user is a struct bytes, whose at is to be freed. */
static inline bool keep_bytes(void *user, const void *more, size_t size)
{
    struct bytes *bytes = user;
    char *grown = realloc(bytes->at, bytes->length + size + 1);
    if (grown == NULL)
        return false;
    bytes->at = grown;
    memcpy(grown + bytes->length, more, size);
    bytes->length += size;
    grown[bytes->length] = 0;
    return true;
}

#endif
