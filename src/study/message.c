/*
 * message.c: a result as bytes, for the process that has the database.
 *
 * All processes of a study are the same program on machines of the same kind (the plan's greeting
 * makes sure of it), so the struct itself goes first, and what it points to follows.
 *
 * Cost: linear in the bytes.
 */
#include <string.h>

#include "study/study.h"

struct message {
    uint32_t kind; /* first, as of all messages */
    uint32_t cell;
    size_t body; /* with its end */
    sv__result result;
};

static size_t put(char *at, size_t place, const void *bytes, size_t length)
{
    if (length > 0)
        memcpy(at + place, bytes, length);
    return place + length;
}

sv_status sv__message_pack(sv_ctx *ctx, uint32_t kind, uint32_t cell, const sv__result *r,
                           void **bytes, size_t *length)
{
    struct message message = {kind, cell, r->body != NULL ? strlen(r->body) + 1 : 0, *r};
    size_t lost = r->num_lost * sizeof *r->lost;
    *length =
        sizeof message + lost + message.body + r->cables_bytes + r->nodes_bytes + r->timeline_bytes;
    char *at = sv_alloc(ctx, *length, 1);
    if (at == NULL)
        return SV_NO_MEMORY;
    size_t place = put(at, 0, &message, sizeof message);
    place = put(at, place, r->lost, lost);
    place = put(at, place, r->body, message.body);
    place = put(at, place, r->cables, r->cables_bytes);
    place = put(at, place, r->nodes, r->nodes_bytes);
    put(at, place, r->timeline, r->timeline_bytes);
    *bytes = at;
    return SV_OK;
}

/* A copy of the next bytes in the arena; NULL if there are none. */
static sv_status get(sv_arena *arena, const char **at, size_t *left, size_t length, void *copy)
{
    void *made = NULL;
    if (length > *left)
        return sv_fail(arena->ctx, SV_BAD_INPUT, "a result from another process is cut short");
    if (length > 0) {
        made = sv_arena_raw(arena, length, 1);
        if (made == NULL)
            return SV_NO_MEMORY;
        memcpy(made, *at, length);
    }
    *at += length;
    *left -= length;
    memcpy(copy, &made, sizeof made);
    return SV_OK;
}

sv_status sv__message_unpack(sv_arena *arena, const void *bytes, size_t length, uint32_t *cell,
                             sv__result *r)
{
    struct message message;
    if (length < sizeof message)
        return sv_fail(arena->ctx, SV_BAD_INPUT, "a result from another process is cut short");
    memcpy(&message, bytes, sizeof message);
    const char *at = (const char *)bytes + sizeof message;
    size_t left = length - sizeof message;
    *cell = message.cell;
    *r = message.result;
    SV_TRY(get(arena, &at, &left, r->num_lost * sizeof *r->lost, &r->lost));
    SV_TRY(get(arena, &at, &left, message.body, &r->body));
    SV_TRY(get(arena, &at, &left, r->cables_bytes, &r->cables));
    SV_TRY(get(arena, &at, &left, r->nodes_bytes, &r->nodes));
    return get(arena, &at, &left, r->timeline_bytes, &r->timeline);
}
