/*
 * list.c: failures by name: lists read and written.
 *
 * Idea: one failure a line, in words a person can type; what selvage writes it reads back to the
 * same mask. Nodes are written by GUID, with their name in a comment.
 *
 * Cost: linear in the fabric and the file.
 */
#include <selvage/faults.h>
#include <string.h>

#include "base/bitset.h"
#include "base/text.h"
#include "fabric/derive.h"

/* The words of one line, each terminated, in memory of the arena. */
struct words {
    char *at[6];
    size_t count;
};

static sv_status split(sv_ctx *ctx, sv_arena *arena, const char *line, struct words *words)
{
    sv_span whole = sv_span_of(line);
    sv_scan scan = sv_scan_of(whole);
    words->count = 0;
    for (sv_scan_blanks(&scan); !sv_scan_done(&scan) && *scan.at != '#'; sv_scan_blanks(&scan)) {
        if (words->count == 6)
            return SV_OK; /* more than any line may have */
        char *word = sv_arena_alloc(arena, whole.length + 1, 1);
        if (word == NULL)
            return SV_NO_MEMORY;
        if (!sv_scan_quoted(&scan, word))
            return sv_fail(ctx, SV_BAD_INPUT, "a quote is not closed");
        words->at[words->count++] = word;
    }
    return SV_OK;
}

static sv_status find_port(sv_ctx *ctx, const sv_index *index, const char *node, const char *port,
                           sv_channel *channel)
{
    uint64_t number;
    if (!sv_span_number(sv_span_of(port), UINT16_MAX, &number))
        return sv_fail(ctx, SV_BAD_INPUT, "'%.100s' is not the number of a port", port);
    return sv_index_find_port(ctx, index, node, (unsigned)number, channel);
}

/* Whether a terminal is lost already: itself, its cable or its switch failed. */
static bool is_lost(const sv_fabric *f, const sv_mask *mask, sv_node terminal)
{
    if (!sv_node_alive(f, terminal) || sv_bit(mask->nodes, terminal.i))
        return true;
    SV_FOR_HOPS (f, terminal, hop)
        if (sv_bit(mask->channels, hop->channel.i) || sv_bit(mask->nodes, hop->to.i))
            return true;
    return false;
}

static void fail_cable(const sv_fabric *f, sv_mask *mask, sv_channel c, sv_fault_report *report)
{
    if (sv_bit(mask->channels, c.i))
        return;
    sv_node ends[2] = {f->tail[c.i], f->head[c.i]};
    bool terminal = false;
    for (int i = 0; i < 2; i++)
        if (!sv_is_switch(f, ends[i])) {
            terminal = true;
            report->lost_terminals += !is_lost(f, mask, ends[i]);
        }
    sv_mask_cable(mask, f, c);
    report->links += !terminal;
}

static void fail_switch(const sv_fabric *f, sv_node v, sv_mask *mask, sv_fault_report *report)
{
    if (sv_bit(mask->nodes, v.i))
        return;
    SV_FOR_HOPS (f, v, hop)
        report->lost_terminals += !sv_is_switch(f, hop->to) && !is_lost(f, mask, hop->to);
    sv_mask_node(mask, v);
    report->switches++;
}

static void fail_adapter(const sv_fabric *f, const sv_index *index, uint32_t adapter, sv_mask *mask,
                         sv_fault_report *report)
{
    const sv_node *nodes;
    uint32_t count = sv_index_terminals(index, adapter, &nodes);
    bool some = false;
    for (uint32_t i = 0; i < count; i++) {
        some = some || !sv_bit(mask->nodes, nodes[i].i);
        report->lost_terminals += !is_lost(f, mask, nodes[i]);
        sv_mask_node(mask, nodes[i]);
    }
    report->adapters += some;
}

static sv_status fail_words(sv_ctx *ctx, const sv_index *index, const sv_fabric *f,
                            const struct words *words, sv_mask *mask, sv_fault_report *report)
{
    char *const *w = words->at;
    size_t count = words->count;
    if (count == 2 && strcmp(w[0], "switch") == 0) {
        sv_node v;
        SV_TRY(sv_index_find_switch(ctx, index, w[1], &v));
        fail_switch(f, v, mask, report);
    } else if (count == 2 && strcmp(w[0], "adapter") == 0) {
        uint32_t adapter;
        SV_TRY(sv_index_find_adapter(ctx, index, w[1], &adapter));
        fail_adapter(f, index, adapter, mask, report);
    } else if ((count == 3 && strcmp(w[0], "port") == 0) ||
               (count == 5 && strcmp(w[0], "link") == 0)) {
        sv_channel c, other;
        SV_TRY(find_port(ctx, index, w[1], w[2], &c));
        if (count == 5) {
            SV_TRY(find_port(ctx, index, w[3], w[4], &other));
            if (f->reverse[c.i].i != other.i)
                return sv_fail(ctx, SV_BAD_INPUT,
                               "no cable joins '%.100s' port %.10s and '%.100s' port %.10s", w[1],
                               w[2], w[3], w[4]);
        }
        fail_cable(f, mask, c, report);
    } else {
        return sv_fail(ctx, SV_BAD_INPUT,
                       "not 'switch NODE', 'adapter NODE', 'port NODE PORT' or "
                       "'link NODE PORT NODE PORT'");
    }
    return SV_OK;
}

sv_status sv_faults_add(sv_ctx *ctx, const sv_index *index, const sv_fabric *f, const char *line,
                        sv_mask *mask, sv_fault_report *report)
{
    sv_arena arena;
    struct words words;
    sv_arena_init(&arena, ctx);
    sv_status status = split(ctx, &arena, line, &words);
    if (status == SV_OK)
        status = fail_words(ctx, index, f, &words, mask, report);
    sv_arena_release(&arena);
    return status;
}

static sv_status read_lines(sv_ctx *ctx, const sv_fabric *f, const sv_index *index, sv_lines *lines,
                            sv_mask *mask, sv_fault_report *report)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = SV_OK;
    for (sv_span line; status == SV_OK;) {
        bool more;
        status = sv_lines_next(lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        sv_scan scan = sv_scan_of(line);
        sv_scan_blanks(&scan);
        if (sv_scan_done(&scan) || *scan.at == '#')
            continue;
        char *text = sv_arena_text(&arena, line.at, line.length);
        status = text == NULL ? SV_NO_MEMORY : sv_faults_add(ctx, index, f, text, mask, report);
        if (status == SV_BAD_INPUT) {
            char why[900];
            strncpy(why, sv_ctx_message(ctx), sizeof why - 1);
            why[sizeof why - 1] = 0;
            status = sv_lines_fail(lines, "%s", why);
        }
        sv_arena_release(&arena);
    }
    sv_arena_release(&arena);
    return status;
}

sv_status sv_faults_read(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source,
                         sv_mask *mask, sv_fault_report *report)
{
    sv_index *index = sv_index_new(ctx, fabric);
    sv_mask *read = sv_mask_new(ctx, fabric);
    sv_fault_report counts = *report;
    sv_lines lines = {.ctx = ctx};
    sv_status status =
        index == NULL || read == NULL ? SV_NO_MEMORY : sv_lines_init(&lines, ctx, source);
    if (status == SV_OK)
        status = read_lines(ctx, fabric, index, &lines, read, &counts);
    if (status == SV_OK) {
        for (size_t w = 0; w < sv_bitset_words(read->num_nodes); w++)
            mask->nodes[w] |= read->nodes[w];
        for (size_t w = 0; w < sv_bitset_words(read->num_channels); w++)
            mask->channels[w] |= read->channels[w];
        *report = counts;
    }
    sv_lines_release(&lines);
    sv_mask_free(read);
    sv_index_free(index);
    return status;
}

/* ---- writing ---- */

/* A name behind #; control characters would end the line or worse. */
static void write_comment(sv_text *out, const sv_fabric *f, sv_node v)
{
    sv_text_add(out, " ", 1);
    for (const char *c = sv_node_name(f, v); *c != 0; c++)
        sv_text_add(out, (unsigned char)*c < 0x20 || *c == 0x7f ? " " : c, 1);
}

/* A GUID where there is one, else the name in quotes. */
static void write_node(sv_text *out, const sv_fabric *f, sv_node v)
{
    if (sv_node_guid(f, v) != 0) {
        sv_text_print(out, " 0x%016llx", (unsigned long long)sv_node_guid(f, v));
        return;
    }
    sv_text_add(out, " \"", 2);
    for (const char *c = sv_node_name(f, v); *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            sv_text_add(out, "\\", 1);
        sv_text_add(out, c, 1);
    }
    sv_text_add(out, "\"", 1);
}

/* Whether a node's own failure already says that a cable failed. */
static bool implied(const sv_fabric *f, const sv_mask *mask, sv_channel c)
{
    return sv_bit(mask->nodes, f->tail[c.i].i) || sv_bit(mask->nodes, f->head[c.i].i);
}

static void write_switches(sv_text *out, const sv_fabric *f, const sv_mask *mask)
{
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_bit(mask->nodes, s) && sv_node_alive(f, (sv_node){s})) {
            sv_text_print(out, "switch");
            write_node(out, f, (sv_node){s});
            sv_text_print(out, " #");
            write_comment(out, f, (sv_node){s});
            sv_text_print(out, "\n");
        }
}

/* Whether all live ports of an adapter failed; then it is the adapter that did. */
static bool *whole_adapters(sv_arena *arena, const sv_fabric *f, const sv_mask *mask)
{
    bool *whole = SV_ARENA_NEW(arena, bool, f->num_adapters);
    if (whole == NULL)
        return NULL;
    memset(whole, true, f->num_adapters);
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t};
        if (sv_node_alive(f, v) && !sv_bit(mask->nodes, v.i))
            whole[f->terminals[t].adapter] = false;
    }
    return whole;
}

static sv_status write_terminals(sv_text *out, const sv_fabric *f, const sv_mask *mask,
                                 sv_arena *arena)
{
    bool *whole = whole_adapters(arena, f, mask);
    if (whole == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t}, at = sv_switch_of(f, v);
        bool with_switch = at.i != SV_NONE && sv_bit(mask->nodes, at.i);
        if (!sv_bit(mask->nodes, v.i) || !sv_node_alive(f, v) || with_switch)
            continue;
        bool adapter = whole[f->terminals[t].adapter];
        sv_text_print(out, adapter ? "adapter" : "port");
        write_node(out, f, v);
        if (!adapter)
            sv_text_print(out, " %u", f->terminals[t].port);
        sv_text_print(out, " #");
        write_comment(out, f, v);
        sv_text_print(out, "\n");
    }
    return SV_OK;
}

static void write_links(sv_text *out, const sv_fabric *f, const sv_mask *mask)
{
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_bit(mask->channels, c) || !sv_channel_alive(f, channel) ||
            !sv_is_cable(f, channel) || implied(f, mask, channel))
            continue;
        sv_text_print(out, "link");
        write_node(out, f, f->tail[c]);
        sv_text_print(out, " %u", f->port[c]);
        write_node(out, f, f->head[c]);
        sv_text_print(out, " %u #", f->port[f->reverse[c].i]);
        write_comment(out, f, f->tail[c]);
        write_comment(out, f, f->head[c]);
        sv_text_print(out, "\n");
    }
}

sv_status sv_faults_write(sv_ctx *ctx, const sv_fabric *fabric, const sv_mask *mask,
                          const sv_sink *sink)
{
    sv_text out;
    sv_arena arena;
    sv_text_init(&out, ctx, sink);
    sv_arena_init(&arena, ctx);
    write_switches(&out, fabric, mask);
    sv_status status = write_terminals(&out, fabric, mask, &arena);
    if (status == SV_OK) {
        write_links(&out, fabric, mask);
        status = sv_text_finish(&out);
    }
    sv_arena_release(&arena);
    sv_text_release(&out);
    return status;
}

/* ---- what is left ---- */

sv_status sv_faults_cut_off(sv_ctx *ctx, const sv_fabric *fabric, uint32_t *terminals)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    uint64_t *seen = sv_bitset_new(&arena, sv_num_nodes(fabric));
    uint32_t *stack = SV_ARENA_NEW(&arena, uint32_t, sv_num_nodes(fabric)), max = 0;
    sv_status status = seen == NULL || stack == NULL ? SV_NO_MEMORY : SV_OK;
    for (uint32_t v = fabric->num_switches; status == SV_OK && v < sv_num_nodes(fabric); v++)
        if (sv_node_alive(fabric, (sv_node){v}) && !sv_bit(seen, v)) {
            uint32_t size = sv_flood(fabric, (sv_node){v}, false, seen, stack);
            max = size > max ? size : max;
        }
    if (status == SV_OK)
        *terminals = fabric->live_terminals - max;
    sv_arena_release(&arena);
    return status;
}
