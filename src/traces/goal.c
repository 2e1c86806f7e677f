/*
 * goal.c: reads GOAL schedules, the language of LogGOPSim.
 *
 *     num_ranks 2
 *     rank 0 {
 *     a: send 10b to 1 tag 5 cpu 0 nic 0
 *     b: calc 100
 *     b requires a
 *     }
 *
 * A statement a line, or before a ';'; comments as in C++; -1 is anybody, or any tag. "b requires
 * a": b begins when a is done; "irequires": when a has begun. All else happens at once. calc is in
 * nanoseconds.
 *
 * Idea: a rank of ours is one sequence, so operations are put in an order in which each comes after
 * what it requires: whatever can begin does, in the order of the file, receives first, then
 * messages, then computing (as ISEND, IRECV, COMPUTE, which nobody waits for). When nothing can,
 * the sequence waits for all that the first operation requires which could begin then. What is
 * waited for right after it began is a SEND, or RECV.
 *
 * That is exact as long as there is one such operation, or the others require as much: else they
 * wait for what they do not require. Computing is one after the other, whatever its cpu. Both are
 * told in a warning.
 *
 * Invariants: labels are those of their rank. Cost: linear in the text.
 * Source: Hoefler, Siebert, Lumsdaine (2009): Group operation assembly language; Hoefler,
 * Schneider, Lumsdaine (2010): LogGOPSim.
 */
#include <string.h>

#include "traces/goal.h"

/* ---- words ---- */

/* The next word: letters and digits, or one sign; an empty one is the end of the text. Ends of
 * lines and ';' are words, too: both are "\n". */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static sv_status bad(const sv__goal *g, const char *what)
{
    return sv_fail(g->ctx, SV_BAD_INPUT, "%s:%llu: %s", g->name, (unsigned long long)g->line, what);
}

static sv_status bad_word(const sv__goal *g, const char *wanted)
{
    if (g->word.length == 0 || sv_span_is(g->word, "\n"))
        return sv_fail(g->ctx, SV_BAD_INPUT, "%s:%llu: %s is missing", g->name,
                       (unsigned long long)g->line, wanted);
    return sv_fail(g->ctx, SV_BAD_INPUT, "%s:%llu: '%.*s' where %s should be", g->name,
                   (unsigned long long)g->line, SV_SPAN(g->word), wanted);
}

/* Skips blanks and comments. */
static sv_status skip(sv__goal *g)
{
    for (;;) {
        size_t left = (size_t)(g->end - g->at);
        if (left > 0 && (*g->at == ' ' || *g->at == '\t' || *g->at == '\r')) {
            g->at++;
        } else if (left > 1 && g->at[0] == '/' && g->at[1] == '/') {
            while (g->at < g->end && *g->at != '\n')
                g->at++;
        } else if (left > 1 && g->at[0] == '/' && g->at[1] == '*') {
            for (g->at += 2; g->end - g->at < 2 || g->at[0] != '*' || g->at[1] != '/'; g->at++) {
                if (g->at >= g->end)
                    return bad(g, "a comment has no end");
                g->line += *g->at == '\n';
            }
            g->at += 2;
        } else {
            return SV_OK;
        }
    }
}

static sv_status next_word(sv__goal *g)
{
    g->line += g->new_line;
    g->new_line = false;
    SV_TRY(skip(g));
    const char *from = g->at;
    if (g->at == g->end) {
        g->word = (sv_span){from, 0};
        return SV_OK;
    }
    if (*g->at == '\n' || *g->at == ';') {
        g->new_line = *g->at++ == '\n';
        g->word = (sv_span){"\n", 1};
        return SV_OK;
    }
    if (*g->at == '-')
        g->at++;
    while (g->at < g->end && is_letter(*g->at))
        g->at++;
    g->at += g->at == from;
    g->word = (sv_span){from, (size_t)(g->at - from)};
    return SV_OK;
}

static bool word_is(const sv__goal *g, const char *text)
{
    return sv_span_is(g->word, text);
}

static bool at_line_end(const sv__goal *g)
{
    return g->word.length == 0 || word_is(g, "\n");
}

/* The word must be a number; the next is read. */
static sv_status take_number(sv__goal *g, uint64_t max, const char *what, uint64_t *number)
{
    if (!sv_span_number(g->word, max, number))
        return bad_word(g, what);
    return next_word(g);
}

/* A number, or -1. */
static sv_status take_or_any(sv__goal *g, uint32_t max, const char *what, uint32_t *number)
{
    uint64_t found = SV_MPI_ANY;
    if (!word_is(g, "-1"))
        SV_TRY(take_number(g, max, what, &found));
    else
        SV_TRY(next_word(g));
    *number = (uint32_t)found;
    return SV_OK;
}

/* ---- statements ---- */

/* Bytes may stick to their 'b' ("10b"). */
static sv_status take_bytes(sv__goal *g, uint64_t *bytes)
{
    sv_span digits = g->word;
    if (digits.length > 1 && digits.at[digits.length - 1] == 'b') {
        digits.length--;
        if (!sv_span_number(digits, UINT64_MAX, bytes))
            return bad_word(g, "a number of bytes");
        return next_word(g);
    }
    SV_TRY(take_number(g, UINT64_MAX, "a number of bytes", bytes));
    return word_is(g, "b") ? next_word(g) : bad_word(g, "'b'");
}

static sv_status take_places(sv__goal *g, sv__goal_op *op)
{
    uint64_t number;
    if (word_is(g, "cpu")) {
        SV_TRY(next_word(g));
        SV_TRY(take_number(g, UINT32_MAX, "a cpu", &number));
        op->cpu = (uint32_t)number;
    }
    if (word_is(g, "nic")) {
        SV_TRY(next_word(g));
        SV_TRY(take_number(g, UINT32_MAX, "a nic", &number));
    }
    return at_line_end(g) ? SV_OK : bad_word(g, "the end of the line");
}

static sv_status read_op(sv__goal *g)
{
    sv__goal_op op = {.line = g->line,
                      .kind = word_is(g, "calc")   ? SV_MPI_COMPUTE
                              : word_is(g, "send") ? SV_MPI_ISEND
                                                   : SV_MPI_IRECV};
    if (op.kind == SV_MPI_IRECV && !word_is(g, "recv"))
        return bad_word(g, "calc, send or recv");
    SV_TRY(next_word(g));
    if (op.kind == SV_MPI_COMPUTE) {
        SV_TRY(take_number(g, UINT64_MAX, "a time", &op.amount));
    } else {
        bool sends = op.kind == SV_MPI_ISEND;
        SV_TRY(take_bytes(g, &op.amount));
        if (!word_is(g, sends ? "to" : "from"))
            return bad_word(g, sends ? "'to'" : "'from'");
        SV_TRY(next_word(g));
        if (sends && word_is(g, "-1"))
            return bad_word(g, "a rank");
        SV_TRY(take_or_any(g, g->trace->num_ranks - 1, "a rank of those there are", &op.peer));
        if (word_is(g, "tag")) {
            SV_TRY(next_word(g));
            if (sends && word_is(g, "-1"))
                return bad_word(g, "a tag");
            SV_TRY(take_or_any(g, UINT32_MAX - 1, "a tag", &op.tag));
        }
    }
    SV_TRY(take_places(g, &op));
    return sv_array_push(g->ctx, &g->ops, op);
}

/* "label: operation" or "label requires label". */
static sv_status read_labelled(sv__goal *g)
{
    sv_span label = g->word;
    uint32_t held;
    if (!is_letter(label.at[0]) || (label.at[0] >= '0' && label.at[0] <= '9'))
        return bad_word(g, "an operation, a label or '}'");
    SV_TRY(next_word(g));
    if (word_is(g, ":")) {
        SV_TRY(sv_names_add(&g->labels, label, (uint32_t)g->ops.length, &held));
        if (held != g->ops.length)
            return sv_fail(g->ctx, SV_BAD_INPUT, "%s:%llu: label '%.*s' is there twice", g->name,
                           (unsigned long long)g->line, SV_SPAN(label));
        SV_TRY(next_word(g));
        return read_op(g);
    }
    sv__goal_edge edge = {.what = label, .line = g->line, .starts = word_is(g, "irequires")};
    if (!edge.starts && !word_is(g, "requires"))
        return bad_word(g, "':', 'requires' or 'irequires'");
    SV_TRY(next_word(g));
    if (at_line_end(g) || !is_letter(g->word.at[0]))
        return bad_word(g, "a label");
    edge.needs = g->word;
    SV_TRY(sv_array_push(g->ctx, &g->edges, edge));
    SV_TRY(next_word(g));
    return at_line_end(g) ? SV_OK : bad_word(g, "the end of the line");
}

static sv_status read_rank(sv__goal *g, uint8_t *seen)
{
    uint64_t rank;
    SV_TRY(take_number(g, g->trace->num_ranks - 1, "a rank of those there are", &rank));
    if (seen[rank]++ > 0)
        return bad(g, "the rank is there twice");
    if (!word_is(g, "{"))
        return bad_word(g, "'{'");
    g->rank = (uint32_t)rank;
    g->ops.length = g->edges.length = 0;
    for (;;) {
        SV_TRY(next_word(g));
        if (g->word.length == 0)
            return bad(g, "the end is missing: '}'");
        if (word_is(g, "}"))
            break;
        if (word_is(g, "\n"))
            continue;
        bool op = word_is(g, "calc") || word_is(g, "send") || word_is(g, "recv");
        SV_TRY(op ? read_op(g) : read_labelled(g));
    }
    SV_TRY(sv__goal_order(g));
    return next_word(g);
}

static sv_status read_ranks(sv__goal *g, uint8_t *seen)
{
    while (g->word.length > 0) {
        if (word_is(g, "\n")) {
            SV_TRY(next_word(g));
            continue;
        }
        if (!word_is(g, "rank"))
            return bad_word(g, "'rank'");
        sv_names_init(&g->labels, g->ctx);
        sv_status status = next_word(g);
        if (status == SV_OK)
            status = read_rank(g, seen);
        sv_names_release(&g->labels);
        SV_TRY(status);
    }
    return SV_OK;
}

static sv_status read_all(sv__goal *g)
{
    uint64_t ranks;
    do
        SV_TRY(next_word(g));
    while (word_is(g, "\n"));
    if (!word_is(g, "num_ranks"))
        return bad_word(g, "'num_ranks'");
    SV_TRY(next_word(g));
    SV_TRY(take_number(g, SV__MAX_RANKS, "a number of ranks", &ranks));
    if (ranks == 0)
        return bad(g, "a schedule without ranks");
    SV_TRY(sv_mpi_new(g->ctx, g->name, (uint32_t)ranks, &g->trace));
    uint8_t *seen = sv_alloc(g->ctx, (size_t)ranks, 1);
    sv_status status = seen == NULL ? SV_NO_MEMORY : read_ranks(g, seen);
    sv_release(g->ctx, seen);
    return status;
}

bool sv__looks_like_goal(const uint8_t *bytes, size_t length)
{
    sv__goal g = {.at = (const char *)bytes, .end = (const char *)bytes + length};
    for (;;) {
        size_t left = (size_t)(g.end - g.at);
        if (left > 1 && g.at[0] == '/' && (g.at[1] == '/' || g.at[1] == '*')) {
            bool lines = g.at[1] == '/';
            for (g.at += 2; g.at < g.end; g.at++)
                if (lines ? *g.at == '\n' : *g.at == '/' && g.at[-1] == '*')
                    break;
            g.at += g.at < g.end;
        } else if (left > 0 && strchr(" \t\r\n;", *g.at) != NULL && *g.at != 0) {
            g.at++;
        } else {
            return left >= 9 && memcmp(g.at, "num_ranks", 9) == 0;
        }
    }
}

sv_status sv_mpi_read_goal(sv_ctx *ctx, const sv_source *source, sv_mpi_trace **trace)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    SV_TRY(sv__slurp(ctx, source, &bytes, &length));
    sv__goal g = {.ctx = ctx,
                  .name = source->name,
                  .at = (const char *)bytes,
                  .end = (const char *)bytes + length,
                  .line = 1};
    sv_status status = read_all(&g);
    sv_array_release(ctx, &g.ops);
    sv_array_release(ctx, &g.edges);
    sv_release(ctx, bytes);
    if (status != SV_OK) {
        sv_mpi_free(g.trace);
        return status;
    }
    if (g.several > 0)
        sv_warn(ctx,
                "%s: %u ranks do things at once that one sequence has to order: some wait for "
                "more than they require",
                source->name, g.several);
    if (g.cpus > 0)
        sv_warn(ctx, "%s: %u ranks compute on several processors: here one after the other",
                source->name, g.cpus);
    *trace = g.trace;
    return SV_OK;
}
