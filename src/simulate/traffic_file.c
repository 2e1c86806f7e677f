/*
 * traffic_file.c: messages from a file, a line "TIME FROM TO BYTES [TAG]" each.
 *
 * Idea: lines come in any order; they are kept with their terminal and sorted once by terminal,
 * time and line, which is the order in which the engine asks.
 *
 * Invariant: every message that is kept is from one terminal on a switch to another.
 * Cost: linear in the lines, expected, and sorting; 24 bytes a message stay.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "simulate/traffic.h"

struct entry {
    sv_sim_message message;
    uint32_t from;
    uint64_t line;
};

struct reader {
    sv_ctx *ctx;
    const sv_fabric *f;
    const sv_routes *r;
    const uint32_t *order;
    uint32_t num_order;
    sv_index *index;
    sv_lines lines;
    SV_ARRAY(struct entry) entries;
};

/* ---- a line ---- */

/* The terminal that a word stands for. */
static sv_status find(struct reader *r, const char *word, bool quoted, uint32_t *terminal)
{
    uint64_t rank;
    sv_node v;
    if (!quoted && *word == '@') {
        if (!sv_span_number(sv_span_of(word + 1), UINT32_MAX, &rank) || rank >= r->num_order)
            return sv_lines_fail(&r->lines, "'%.200s' is no rank: there are @0 … @%u", word,
                                 r->num_order - 1);
        *terminal = r->order[rank];
        return SV_OK;
    }
    if (sv_index_find(r->ctx, r->index, word, &v) != SV_OK) {
        char why[900];
        strncpy(why, sv_ctx_message(r->ctx), sizeof why - 1);
        why[sizeof why - 1] = 0;
        return sv_lines_fail(&r->lines, "%s", why);
    }
    if (sv_is_switch(r->f, v))
        return sv_lines_fail(&r->lines, "'%.200s' is a switch: messages are for hosts", word);
    if (sv_switch_of(r->f, v).i == SV_NONE)
        return sv_lines_fail(&r->lines, "'%.200s' is not on a switch", word);
    *terminal = v.i - r->f->num_switches;
    return SV_OK;
}

static bool at_end(sv_scan *scan)
{
    sv_scan_blanks(scan);
    return sv_scan_done(scan) || *scan->at == '#';
}

/* A number that ends with its word. */
static sv_status number(struct reader *r, sv_scan *scan, const char *what, uint32_t *value)
{
    sv_span word;
    uint64_t wide;
    if (at_end(scan))
        return sv_lines_fail(&r->lines, "%s is missing", what);
    sv_scan_word(scan, &word);
    if (!sv_span_number(word, UINT32_MAX, &wide))
        return sv_lines_fail(&r->lines, "%s '%.*s' is not a number up to %u", what, SV_SPAN(word),
                             UINT32_MAX);
    *value = (uint32_t)wide;
    return SV_OK;
}

/* A host; text has room for the rest of the line. */
static sv_status host(struct reader *r, sv_scan *scan, const char *what, char *text,
                      uint32_t *terminal)
{
    if (at_end(scan))
        return sv_lines_fail(&r->lines, "%s is missing", what);
    bool quoted = *scan->at == '"';
    if (!sv_scan_quoted(scan, text))
        return sv_lines_fail(&r->lines, "a quote is not closed");
    if (*text == 0)
        return sv_lines_fail(&r->lines, "an empty name");
    return find(r, text, quoted, terminal);
}

static sv_status read_line(struct reader *r, sv_span line, char *text)
{
    const uint64_t max_ns = 1000000000000000, billion = 1000000000;
    sv_scan scan = sv_scan_of(line);
    struct entry entry = {.line = r->lines.number};
    uint64_t whole, billionths;
    uint32_t to;
    sv_span word;
    if (at_end(&scan))
        return SV_OK;
    sv_scan_word(&scan, &word);
    sv_scan in = sv_scan_of(word);
    if (!sv__scan_decimal(&in, max_ns, &whole, &billionths) || !sv_scan_done(&in))
        return sv_lines_fail(&r->lines, "time '%.*s' is not nanoseconds", SV_SPAN(word));
    entry.message.ready = whole * SV_TICKS_PER_NS + billionths * SV_TICKS_PER_NS / billion;
    SV_TRY(host(r, &scan, "the sender", text, &entry.from));
    SV_TRY(host(r, &scan, "the receiver", text, &to));
    SV_TRY(number(r, &scan, "the number of bytes", &entry.message.bytes));
    if (!at_end(&scan))
        SV_TRY(number(r, &scan, "the tag", &entry.message.tag));
    if (!at_end(&scan))
        return sv_lines_fail(&r->lines, "'%.*s' is too much", SV_SPAN(sv_scan_rest(&scan)));
    if (entry.from == to)
        return sv_lines_fail(&r->lines, "the sender is the receiver");
    entry.message.destination = r->r->first[r->f->num_switches + to];
    return sv_array_push(r->ctx, &r->entries, entry);
}

static sv_status read_lines(struct reader *r)
{
    SV_ARRAY(char) text = {0};
    sv_status status = SV_OK;
    bool more = true;
    for (sv_span line; status == SV_OK;) {
        status = sv_lines_next(&r->lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        status = sv_array_reserve(r->ctx, &text, line.length + 1);
        if (status == SV_OK)
            status = read_line(r, line, text.at);
    }
    sv_array_release(r->ctx, &text);
    if (status == SV_OK && r->entries.length == 0)
        status = sv_lines_fail(&r->lines, "no message in it");
    return status;
}

/* ---- the list ---- */

static int by_terminal(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->message.ready != y->message.ready)
        return x->message.ready < y->message.ready ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static sv_status fill(struct reader *r, sv_pool *store, sv__traffic_list *list)
{
    size_t count = r->entries.length;
    uint32_t terminals = r->f->num_terminals;
    list->count = count;
    list->messages = SV_POOL_NEW(store, r->ctx, sv_sim_message, count);
    list->first = SV_POOL_NEW(store, r->ctx, size_t, (size_t)terminals + 1);
    if (list->messages == NULL || list->first == NULL)
        return SV_NO_MEMORY;
    qsort(r->entries.at, count, sizeof *r->entries.at, by_terminal);
    for (size_t i = 0; i < count; i++) {
        list->messages[i] = r->entries.at[i].message;
        list->first[r->entries.at[i].from + 1]++;
    }
    for (uint32_t t = 0; t < terminals; t++)
        list->first[t + 1] += list->first[t];
    return SV_OK;
}

sv_status sv__list_read(sv_ctx *ctx, sv_pool *store, const sv_fabric *fabric,
                        const sv_routes *routes, const uint32_t *order, uint32_t num_order,
                        const sv_source *source, sv__traffic_list *list)
{
    struct reader r = {
        .ctx = ctx, .f = fabric, .r = routes, .order = order, .num_order = num_order};
    SV_TRY(sv_lines_init(&r.lines, ctx, source));
    r.index = sv_index_new(ctx, fabric);
    sv_status status = r.index == NULL ? SV_NO_MEMORY : read_lines(&r);
    if (status == SV_OK)
        status = fill(&r, store, list);
    sv_array_release(ctx, &r.entries);
    sv_index_free(r.index);
    sv_lines_release(&r.lines);
    return status;
}
