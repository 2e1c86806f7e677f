/*
 * testing.h: what C tests share: cmocka with its many includes, fabrics in one line, and a context
 * whose n-th allocation fails.
 */
#ifndef SELVAGE_TESTING_H
#define SELVAGE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <selvage/experimental.h>
#include <selvage/selvage.h>

/* A context for a whole test program, ctx, with begin and end for cmocka. */
#define TEST_CONTEXT                                                                               \
    static sv_ctx *ctx;                                                                            \
    static int begin(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        ctx = sv_ctx_new(NULL);                                                                    \
        return ctx == NULL;                                                                        \
    }                                                                                              \
    static int end(void **state)                                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        sv_ctx_free(ctx);                                                                          \
        return 0;                                                                                  \
    }

/* A call that must succeed; its message is shown when it does not. */
#define OK(ctx, call)                                                                              \
    do {                                                                                           \
        sv_status ok_status_ = (call);                                                             \
        if (ok_status_ != SV_OK)                                                                   \
            fail_msg("%s: %s", #call, sv_ctx_message(ctx));                                        \
    } while (0)

/* A call that must fail with a status, and a message that holds a text. */
#define FAILS(ctx, call, wanted, text)                                                             \
    do {                                                                                           \
        assert_int_equal((call), (wanted));                                                        \
        if (strstr(sv_ctx_message(ctx), (text)) == NULL)                                           \
            fail_msg("\"%s\" does not say \"%s\"", sv_ctx_message(ctx), (text));                   \
    } while (0)

/* A fabric from a spec, checked. */
sv_fabric *test_fabric(sv_ctx *ctx, const char *spec);

/* Tables by an engine, checked. */
sv_routes *test_routed(sv_ctx *ctx, const sv_fabric *fabric, const char *engine, unsigned lmc);

/* A fabric from text in a file format, checked. */
sv_fabric *test_read(sv_ctx *ctx, const char *text);

/* Live cables between different switches. */
uint32_t test_links(const sv_fabric *fabric);

/* A sink into memory. Release text when done. */
typedef struct test_buffer {
    char *text;
    size_t length;
} test_buffer;

sv_sink test_sink(test_buffer *buffer);

/* A host that counts allocations and fails the one with a chosen number (0: none). */
typedef struct test_memory {
    uint64_t count, fail_at;
    int64_t blocks; /* allocated and not yet freed */
} test_memory;

sv_host test_host(test_memory *memory);

/*
 * Runs a call with its 1st, 2nd, 3rd … allocation failing until it succeeds (with few trials: the
 * first hundred, then every fifth, say). Each failing run must return NO_MEMORY and leave nothing
 * allocated. body makes its own objects and frees them.
 */
typedef sv_status test_body(sv_ctx *ctx, void *arg);
void test_out_of_memory(const char *what, test_body *body, void *arg);

#endif
