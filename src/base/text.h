/*
 * text.h: text out (a buffer in front of a sink) and text in (lines of a source, and a scanner
 * that walks over one of them).
 */
#ifndef SV_BASE_TEXT_H
#define SV_BASE_TEXT_H

#include "base/arena.h"

/* ---- out ---- */

/*
 * Text on its way to a sink, or collected in memory when there is none. Errors are kept: write
 * away and look at the status once, at the end.
 */
typedef struct sv_text {
    sv_ctx *ctx;
    const sv_sink *sink;
    char *at; /* always terminated when not NULL */
    size_t length, room;
    sv_status status;
} sv_text;

void sv_text_init(sv_text *text, sv_ctx *ctx, const sv_sink *sink);
void sv_text_release(sv_text *text);
void sv_text_add(sv_text *text, const char *bytes, size_t length);
void sv_text_print(sv_text *text, const char *format, ...) SV_PRINTF(2, 3);
/* Hands the rest to the sink, if there is one, and tells how it all went. */
sv_status sv_text_finish(sv_text *text);

/* ---- in ---- */

/* A piece of somebody else's text; not terminated. */
typedef struct sv_span {
    const char *at;
    size_t length;
} sv_span;

static inline sv_span sv_span_of(const char *text)
{
    size_t length = 0;
    while (text[length] != 0)
        length++;
    return (sv_span){text, length};
}

bool sv_span_is(sv_span span, const char *text);

/* The length of the UTF-8 sequence at a terminated text (not at its end), or 0 if it is none. */
size_t sv_utf8_length(const char *text);

/* For printf's "%.*s". */
#define SV_SPAN(span) (int)((span).length > 200 ? 200 : (span).length), (span).at

/*
 * The lines of a source, one at a time. Both ends of a line lose their carriage returns (files
 * that went through a terminal have them). Lines longer than 64 KiB and zero bytes are bad input;
 * who expects longer lines sets longest before the first one is asked for.
 */
typedef struct sv_lines {
    sv_ctx *ctx;
    const sv_source *source;
    char *buffer;
    size_t start, end;
    size_t room, longest; /* of the buffer; of a line, without its newline */
    bool at_end;          /* the source has no more */
    bool unterminated;    /* the last line had no newline: the end of a file, perhaps a cut one */
    uint64_t number;      /* of the last line, from 1 */
} sv_lines;

sv_status sv_lines_init(sv_lines *lines, sv_ctx *ctx, const sv_source *source);
void sv_lines_release(sv_lines *lines);
/* What the buffer holds of the beginning, behind a mark that was left out; only before the first
 * sv_lines_next. */
sv_status sv_lines_peek(sv_lines *lines, sv_span *start);
/* Leaves a byte order mark out, which some editors write in front; as sv_lines_peek, before it. */
sv_status sv_lines_skip_mark(sv_lines *lines);
/* The next line; *more is false at the end. The span is valid until the next call. */
sv_status sv_lines_next(sv_lines *lines, sv_span *line, bool *more);
/*
 * What comes next, whatever it is, for readers of other things than lines: as a source's read, from
 * the buffer first. Lines are no longer counted.
 */
int64_t sv_lines_raw(sv_lines *lines, void *buffer, size_t size);
/* BAD_INPUT with "name:line: " in front. What it would quote is left out as below. */
sv_status sv_lines_fail(const sv_lines *lines, const char *format, ...) SV_PRINTF(2, 3);

/*
 * Messages about what a file holds, with "name:line: " in front (line 0: "name: "). With a
 * privileged host dots stand for what they would quote: whoever reads the log may not be meant to
 * read the file.
 */
sv_status sv_fail_content(sv_ctx *ctx, const char *name, uint64_t line, const char *format, ...)
    SV_PRINTF(4, 5);
sv_status sv_vfail_content(sv_ctx *ctx, const char *name, uint64_t line, const char *format,
                           va_list args) SV_PRINTF(4, 0);
void sv_warn_content(sv_ctx *ctx, const char *name, uint64_t line, const char *format, ...)
    SV_PRINTF(4, 5);

/* A walk over a span. A scan_ call that returns false has not moved. */
typedef struct sv_scan {
    const char *at, *end;
} sv_scan;

static inline sv_scan sv_scan_of(sv_span span)
{
    return (sv_scan){span.at, span.at + span.length};
}

static inline bool sv_scan_done(const sv_scan *scan)
{
    return scan->at == scan->end;
}

static inline sv_span sv_scan_rest(const sv_scan *scan)
{
    return (sv_span){scan->at, (size_t)(scan->end - scan->at)};
}

void sv_scan_blanks(sv_scan *scan); /* blanks and tabs */
bool sv_scan_char(sv_scan *scan, char wanted);
bool sv_scan_text(sv_scan *scan, const char *wanted);
/* A decimal number of at most 20 digits that is not above max. */
bool sv_scan_number(sv_scan *scan, uint64_t max, uint64_t *number);
/* One to sixteen hexadecimal digits, with or without 0x. */
bool sv_scan_hex(sv_scan *scan, uint64_t *number);
/* Everything up to a character, which is skipped; false if it does not come. */
bool sv_scan_until(sv_scan *scan, char stop, sv_span *piece);
/* Everything up to a blank or the end; false if that is nothing. */
bool sv_scan_word(sv_scan *scan, sv_span *word);
/*
 * A word as people type it: up to a blank, or in double quotes, where \" is a quote and \\ a
 * backslash. text must have room for the rest of the span and a zero. False: a quote is not closed
 * (and the scan is at the end).
 */
bool sv_scan_quoted(sv_scan *scan, char *text);

/* A whole span as a decimal number. */
bool sv_span_number(sv_span span, uint64_t max, uint64_t *number);

#endif
