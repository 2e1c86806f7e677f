/*
 * main.c: where libFuzzer comes in. Every input gets a context of its own, with limited memory, so
 * that absurd sizes end in NO_MEMORY and not in a slow machine; and all of it must come back.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t used;

/* Each block has its size in front; used is the sum of them. */
static void *limited(void *user, void *block, size_t size)
{
    (void)user;
    size_t *head = block == NULL ? NULL : (size_t *)block - 2;
    size_t old = head == NULL ? 0 : head[0];
    if (size == 0) {
        used -= old;
        free(head);
        return NULL;
    }
    if (used - old + size > fuzz_memory)
        return NULL;
    head = realloc(head, size + 2 * sizeof *head);
    if (head == NULL)
        return NULL;
    used += size - old;
    head[0] = size;
    return head + 2;
}

const sv_host *fuzz_host(void)
{
    static const sv_host host = {.resize = limited};
    return &host;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sv_ctx *ctx = sv_ctx_new(fuzz_host());
    if (ctx == NULL)
        return 0;
    fuzz_run(ctx, data, size);
    sv_ctx_free(ctx);
    if (used != 0)
        abort();
    return 0;
}
