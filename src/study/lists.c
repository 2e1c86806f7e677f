/*
 * lists.c: what lists in a plan stand for: "0,1%,3%", "1..10", "random:…,seed={1..1000}".
 *
 * Cost: linear in what comes out.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "study/study.h"

/* More are a slip of the finger. */
enum { MAX = 1000000 };

char *sv__print(sv_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : sv_arena_raw(arena, (size_t)length + 1, 1);
    if (text != NULL)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

sv_status sv__words_add(sv_arena *arena, sv__words *words, const char *text, size_t length)
{
    if (words->length == MAX)
        return sv_refuse(arena->ctx, "a list has more than a million entries");
    if (words->length == words->room) {
        size_t room = 2 * words->room + 8;
        const char **at = sv_arena_raw(arena, room, sizeof *at);
        if (at == NULL)
            return SV_NO_MEMORY;
        if (words->length > 0)
            memcpy(at, words->at, words->length * sizeof *at);
        words->at = at;
        words->room = room;
    }
    char *copy = sv_arena_text(arena, text, length);
    if (copy == NULL)
        return SV_NO_MEMORY;
    words->at[words->length++] = copy;
    return SV_OK;
}

/* "3..7"; false: it is something else. */
static bool range_of(sv_span piece, uint64_t *first, uint64_t *last)
{
    sv_scan scan = sv_scan_of(piece);
    return sv_scan_number(&scan, UINT64_MAX / 2, first) && sv_scan_text(&scan, "..") &&
           sv_scan_number(&scan, UINT64_MAX / 2, last) && sv_scan_done(&scan);
}

static sv_status add_range(sv_arena *arena, sv_span piece, uint64_t first, uint64_t last,
                           sv__words *words)
{
    if (last < first || last - first >= MAX)
        return sv_refuse(arena->ctx,
                         "'%.*s' is no range: the first is larger, or they are too many",
                         SV_SPAN(piece));
    for (uint64_t i = first; i <= last; i++) {
        char text[24];
        int length = snprintf(text, sizeof text, "%llu", (unsigned long long)i);
        SV_TRY(sv__words_add(arena, words, text, (size_t)length));
    }
    return SV_OK;
}

sv_status sv__expand_numbers(sv_arena *arena, const char *text, sv__words *words)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    for (bool more = true; more;) {
        sv_span piece;
        uint64_t first, last;
        more = sv_scan_until(&scan, ',', &piece);
        if (!more)
            piece = sv_scan_rest(&scan);
        if (piece.length == 0)
            return sv_refuse(arena->ctx, "list '%.200s' has an empty entry", text);
        if (range_of(piece, &first, &last))
            SV_TRY(add_range(arena, piece, first, last, words));
        else
            SV_TRY(sv__words_add(arena, words, piece.at, piece.length));
    }
    return SV_OK;
}

sv_status sv__expand_spec(sv_arena *arena, const char *text, sv__words *words)
{
    const char *open = strchr(text, '{'), *close = open != NULL ? strchr(open, '}') : NULL;
    if (open == NULL)
        return sv__words_add(arena, words, text, strlen(text));
    if (close == NULL)
        return sv_refuse(arena->ctx, "'%.200s' has a { without a }", text);
    sv__words inside = {0};
    char *list = sv_arena_text(arena, open + 1, (size_t)(close - open - 1));
    if (list == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__expand_numbers(arena, list, &inside));
    for (size_t i = 0; i < inside.length; i++) {
        char *one = sv__print(arena, "%.*s%s%s", (int)(open - text), text, inside.at[i], close + 1);
        if (one == NULL)
            return SV_NO_MEMORY;
        SV_TRY(sv__expand_spec(arena, one, words));
    }
    return SV_OK;
}
