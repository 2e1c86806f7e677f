/*
 * text.c: buffered text out, lines and scanning in.
 *
 * Idea: writers print and never look back; readers pull lines and walk over them with a cursor
 * that moves only when it recognised something. No regular expressions, no locale, no copying.
 *
 * Invariants: a span from sv_lines_next lies inside the buffer and is not terminated; sv_text.at
 * is terminated whenever it is not NULL.
 * Cost: linear in the bytes; the line buffer is 128 KiB whatever the size of the file, or twice the
 * longest line that was allowed.
 */
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FLUSH_AT = 64 * 1024, LONGEST_LINE = 64 * 1024, BUFFER_SIZE = 128 * 1024 };

/* ---- out ---- */

void sv_text_init(sv_text *text, sv_ctx *ctx, const sv_sink *sink)
{
    *text = (sv_text){.ctx = ctx, .sink = sink};
}

void sv_text_release(sv_text *text)
{
    sv_release(text->ctx, text->at);
    sv_text_init(text, text->ctx, text->sink);
}

static void text_flush(sv_text *text)
{
    if (text->sink == NULL || text->length == 0 || text->status != SV_OK)
        return;
    text->status = sv_progress(text->ctx, "writing", 0, 0);
    if (text->status == SV_OK && !text->sink->write(text->sink->user, text->at, text->length)) {
        if (sv_cancelled(text->ctx))
            text->status = sv_fail(text->ctx, SV_CANCELLED, "cancelled during writing");
        else
            text->status = sv_fail(text->ctx, SV_IO, "cannot write '%s': %s", text->sink->name,
                                   strerror(errno));
    }
    text->length = 0;
}

static bool text_reserve(sv_text *text, size_t more)
{
    if (text->status != SV_OK)
        return false;
    if (text->sink != NULL && text->length + more > FLUSH_AT)
        text_flush(text);
    size_t wanted = text->length + more + 1;
    if (wanted > text->room) {
        size_t room = text->room * 2 > wanted ? text->room * 2 : wanted + 256;
        char *grown = sv_resize(text->ctx, text->at, room, 1);
        if (grown == NULL) {
            text->status = SV_NO_MEMORY;
            return false;
        }
        text->at = grown;
        text->room = room;
    }
    return text->status == SV_OK;
}

void sv_text_add(sv_text *text, const char *bytes, size_t length)
{
    if (!text_reserve(text, length))
        return;
    memcpy(text->at + text->length, bytes, length);
    text->length += length;
    text->at[text->length] = 0;
}

void sv_text_print(sv_text *text, const char *format, ...)
{
    va_list args;
    char small[512];
    if (text->status != SV_OK)
        return;
    va_start(args, format);
    int length = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (length < 0)
        return;
    if ((size_t)length < sizeof small) {
        sv_text_add(text, small, (size_t)length);
        return;
    }
    if (!text_reserve(text, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(text->at + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

sv_status sv_text_finish(sv_text *text)
{
    text_flush(text);
    return text->status;
}

/* ---- lines ---- */

bool sv_span_is(sv_span span, const char *text)
{
    size_t length = strlen(text);
    return span.length == length && memcmp(span.at, text, length) == 0;
}

size_t sv_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

sv_status sv_lines_init(sv_lines *lines, sv_ctx *ctx, const sv_source *source)
{
    *lines = (sv_lines){.ctx = ctx, .source = source, .room = BUFFER_SIZE, .longest = LONGEST_LINE};
    lines->buffer = sv_alloc(ctx, BUFFER_SIZE, 1);
    return lines->buffer == NULL ? SV_NO_MEMORY : SV_OK;
}

void sv_lines_release(sv_lines *lines)
{
    sv_release(lines->ctx, lines->buffer);
    lines->buffer = NULL;
}

int64_t sv_lines_raw(sv_lines *lines, void *buffer, size_t size)
{
    size_t held = lines->end - lines->start;
    if (held == 0)
        return lines->source->read(lines->source->user, buffer, size);
    size_t some = held < size ? held : size;
    memcpy(buffer, lines->buffer + lines->start, some);
    lines->start += some;
    return (int64_t)some;
}

/* A format with dots in the place of what it would print. */
static void leave_out(char *to, size_t size, const char *format)
{
    size_t length = 0;
    while (*format != 0 && length + 4 < size) {
        if (*format != '%') {
            to[length++] = *format++;
            continue;
        }
        format++;
        format += strspn(format, "-+ #0123456789.*hlzjt");
        if (*format == '%')
            to[length++] = '%';
        else
            length += (size_t)snprintf(to + length, size - length, "…");
        format += *format != 0;
    }
    to[length] = 0;
}

static void print_content(const sv_ctx *ctx, char *to, size_t size, const char *format,
                          va_list args) SV_PRINTF(4, 0);

static void print_content(const sv_ctx *ctx, char *to, size_t size, const char *format,
                          va_list args)
{
    if (ctx->host.privileged)
        leave_out(to, size, format);
    else
        vsnprintf(to, size, format, args);
}

void sv_warn_content(sv_ctx *ctx, const char *name, uint64_t line, const char *format, ...)
{
    char what[900];
    va_list args;
    va_start(args, format);
    print_content(ctx, what, sizeof what, format, args);
    va_end(args);
    if (line == 0)
        sv_warn(ctx, "%s: %s", name, what);
    else
        sv_warn(ctx, "%s:%llu: %s", name, (unsigned long long)line, what);
}

sv_status sv_vfail_content(sv_ctx *ctx, const char *name, uint64_t line, const char *format,
                           va_list args)
{
    char what[900];
    print_content(ctx, what, sizeof what, format, args);
    if (line == 0)
        return sv_fail(ctx, SV_BAD_INPUT, "%s: %s", name, what);
    return sv_fail(ctx, SV_BAD_INPUT, "%s:%llu: %s", name, (unsigned long long)line, what);
}

sv_status sv_fail_content(sv_ctx *ctx, const char *name, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sv_status status = sv_vfail_content(ctx, name, line, format, args);
    va_end(args);
    return status;
}

sv_status sv_lines_fail(const sv_lines *lines, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sv_status status = sv_vfail_content(lines->ctx, lines->source->name,
                                        lines->number == 0 ? 1 : lines->number, format, args);
    va_end(args);
    return status;
}

/* Moves what is left to the front and reads until the buffer is full or the source is empty. */
static sv_status lines_fill(sv_lines *lines)
{
    if (lines->start > 0) {
        memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
    }
    while (!lines->at_end && lines->end < lines->room) {
        int64_t got = lines->source->read(lines->source->user, lines->buffer + lines->end,
                                          lines->room - lines->end);
        if (got < 0 && sv_cancelled(lines->ctx))
            return sv_fail(lines->ctx, SV_CANCELLED, "cancelled during reading");
        if (got < 0)
            return sv_fail(lines->ctx, SV_IO, "cannot read '%s': %s", lines->source->name,
                           strerror(errno));
        if (got == 0)
            lines->at_end = true;
        lines->end += (size_t)got;
    }
    return sv_progress(lines->ctx, "reading", lines->number, 0);
}

sv_status sv_lines_peek(sv_lines *lines, sv_span *start)
{
    SV_TRY(lines_fill(lines));
    *start = (sv_span){lines->buffer + lines->start, lines->end - lines->start};
    return SV_OK;
}

sv_status sv_lines_skip_mark(sv_lines *lines)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    sv_span start;
    SV_TRY(sv_lines_peek(lines, &start));
    if (start.length >= sizeof mark && memcmp(start.at, mark, sizeof mark) == 0)
        lines->start += sizeof mark;
    return SV_OK;
}

/* Twice the room, for a line that does not fit; never more than two of the longest need. */
static sv_status lines_grow(sv_lines *lines)
{
    char *grown = sv_resize(lines->ctx, lines->buffer, 2 * lines->room, 1);
    if (grown == NULL)
        return SV_NO_MEMORY;
    lines->buffer = grown;
    lines->room *= 2;
    return SV_OK;
}

sv_status sv_lines_next(sv_lines *lines, sv_span *line, bool *more)
{
    char *from = lines->buffer + lines->start;
    char *newline = memchr(from, '\n', lines->end - lines->start);
    while (newline == NULL && !lines->at_end) {
        size_t looked_at = lines->end - lines->start;
        if (looked_at == lines->room) {
            if (looked_at > lines->longest)
                break;
            SV_TRY(lines_grow(lines));
        }
        SV_TRY(lines_fill(lines));
        from = lines->buffer;
        newline = memchr(from + looked_at, '\n', lines->end - looked_at);
    }
    size_t left = lines->end - lines->start;
    *more = newline != NULL || left > 0;
    if (!*more)
        return SV_OK;
    lines->number++;
    lines->unterminated = newline == NULL;
    size_t length = newline == NULL ? left : (size_t)(newline - from);
    lines->start += length + (newline != NULL);
    if (memchr(from, 0, length) != NULL)
        return sv_lines_fail(lines, "zero byte: this is not a text file");
    if (length > lines->longest)
        return sv_lines_fail(lines, "line is longer than %zu bytes", lines->longest);
    while (length > 0 && from[length - 1] == '\r')
        length--;
    while (length > 0 && *from == '\r')
        from++, length--;
    *line = (sv_span){from, length};
    return SV_OK;
}

/* ---- scanning ---- */

void sv_scan_blanks(sv_scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
        scan->at++;
}

bool sv_scan_char(sv_scan *scan, char wanted)
{
    if (scan->at == scan->end || *scan->at != wanted)
        return false;
    scan->at++;
    return true;
}

bool sv_scan_text(sv_scan *scan, const char *wanted)
{
    size_t length = strlen(wanted);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, wanted, length) != 0)
        return false;
    scan->at += length;
    return true;
}

bool sv_scan_number(sv_scan *scan, uint64_t max, uint64_t *number)
{
    uint64_t value = 0;
    const char *c = scan->at;
    for (; c < scan->end && *c >= '0' && *c <= '9'; c++) {
        unsigned digit = (unsigned)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (c == scan->at || value > max)
        return false;
    scan->at = c;
    *number = value;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool sv_scan_hex(sv_scan *scan, uint64_t *number)
{
    sv_scan inside = *scan;
    if (!sv_scan_text(&inside, "0x"))
        sv_scan_text(&inside, "0X");
    uint64_t value = 0;
    unsigned digits = 0;
    for (int digit; inside.at < inside.end && (digit = hex_digit(*inside.at)) >= 0; inside.at++) {
        if (++digits > 16)
            return false;
        value = value << 4 | (unsigned)digit;
    }
    if (digits == 0)
        return false;
    *scan = inside;
    *number = value;
    return true;
}

bool sv_scan_until(sv_scan *scan, char stop, sv_span *piece)
{
    size_t left = (size_t)(scan->end - scan->at);
    const char *found = left == 0 ? NULL : memchr(scan->at, stop, left);
    if (found == NULL)
        return false;
    *piece = (sv_span){scan->at, (size_t)(found - scan->at)};
    scan->at = found + 1;
    return true;
}

bool sv_scan_word(sv_scan *scan, sv_span *word)
{
    const char *c = scan->at;
    while (c < scan->end && *c != ' ' && *c != '\t')
        c++;
    if (c == scan->at)
        return false;
    *word = (sv_span){scan->at, (size_t)(c - scan->at)};
    scan->at = c;
    return true;
}

bool sv_scan_quoted(sv_scan *scan, char *text)
{
    bool quoted = sv_scan_char(scan, '"');
    for (; !sv_scan_done(scan); scan->at++) {
        char c = *scan->at;
        if (quoted ? c == '"' : c == ' ' || c == '\t')
            break;
        if (quoted && c == '\\' && scan->at + 1 < scan->end)
            c = *++scan->at;
        *text++ = c;
    }
    *text = 0;
    return !quoted || sv_scan_char(scan, '"');
}

bool sv_span_number(sv_span span, uint64_t max, uint64_t *number)
{
    sv_scan scan = sv_scan_of(span);
    return sv_scan_number(&scan, max, number) && sv_scan_done(&scan);
}
