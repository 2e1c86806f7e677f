#include "support/testing.h"

#include "base/file.h"
#include "support/trials.h"

sv_fabric *test_fabric(sv_ctx *ctx, const char *spec)
{
    sv_fabric *fabric = NULL;
    OK(ctx, sv_topology_generate(ctx, spec, &fabric));
    OK(ctx, sv_fabric_check(ctx, fabric));
    return fabric;
}

sv_routes *test_routed(sv_ctx *ctx, const sv_fabric *f, const char *engine, unsigned lmc)
{
    const sv_route_request request = {.lmc = lmc, .seed = 1};
    sv_routes *r = NULL;
    OK(ctx, sv_route(ctx, f, engine, &request, &r, NULL));
    OK(ctx, sv_routes_check(ctx, f, r));
    return r;
}

sv_fabric *test_read(sv_ctx *ctx, const char *text)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "test");
    sv_fabric *fabric = NULL;
    OK(ctx, sv_fabric_read(ctx, &source, SV_FORMAT_AUTO, &fabric));
    OK(ctx, sv_fabric_check(ctx, fabric));
    return fabric;
}

uint32_t test_links(const sv_fabric *f)
{
    uint32_t links = 0;
    for (uint32_t c = 0; c < f->num_channels; c++)
        links += sv_channel_alive(f, (sv_channel){c}) && sv_is_cable(f, (sv_channel){c}) &&
                 sv_joins_switches(f, (sv_channel){c});
    return links;
}

static bool append(void *user, const void *bytes, size_t size)
{
    test_buffer *buffer = user;
    char *grown = realloc(buffer->text, buffer->length + size + 1);
    if (grown == NULL)
        return false;
    buffer->text = grown;
    memcpy(grown + buffer->length, bytes, size);
    buffer->length += size;
    grown[buffer->length] = 0;
    return true;
}

sv_sink test_sink(test_buffer *buffer)
{
    *buffer = (test_buffer){NULL, 0};
    append(buffer, "", 0);
    return (sv_sink){"buffer", buffer, append};
}

static void *counting_resize(void *user, void *block, size_t size)
{
    test_memory *memory = user;
    if (size == 0) {
        memory->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (++memory->count == memory->fail_at)
        return NULL;
    void *grown = realloc(block, size);
    memory->blocks += block == NULL && grown != NULL;
    return grown;
}

sv_host test_host(test_memory *memory)
{
    *memory = (test_memory){0, 0, 0};
    return (sv_host){.user = memory, .resize = counting_resize};
}

void test_out_of_memory(const char *what, test_body *body, void *arg)
{
    uint32_t seen = 0;
    for (uint64_t n = 1;; n++) {
        test_memory memory;
        if (n > 100 && !test_takes(&seen))
            continue;
        sv_host host = test_host(&memory);
        sv_ctx *ctx = sv_ctx_new(&host);
        assert_non_null(ctx);
        sv_ctx_set_threads(ctx, 1);
        memory.fail_at = memory.count + n;
        sv_status status = body(ctx, arg);
        bool reached = memory.count >= memory.fail_at;
        if (reached && status != SV_NO_MEMORY)
            fail_msg("%s: allocation %llu fails, but the call says \"%s\" (%s)", what,
                     (unsigned long long)n, sv_status_name(status), sv_ctx_message(ctx));
        if (!reached && status != SV_OK)
            fail_msg("%s: %s", what, sv_ctx_message(ctx));
        sv_ctx_free(ctx);
        if (memory.blocks != 0)
            fail_msg("%s: %lld blocks left when allocation %llu fails", what,
                     (long long)memory.blocks, (unsigned long long)n);
        if (!reached) {
            print_message("%s: %llu allocations\n", what,
                          (unsigned long long)(memory.count - (memory.fail_at - n)));
            return;
        }
    }
}
