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

/* The next word of a line, quotes taken off; an empty span at the end. */
static bool next_word(sv_scan *scan, sv_span *word)
{
    sv_scan_blanks(scan);
    *word = (sv_span){scan->at, 0};
    if (sv_scan_done(scan) || *scan->at == '#')
        return true;
    if (sv_scan_char(scan, '"'))
        return sv_scan_until(scan, '"', word);
    return sv_scan_word(scan, word);
}

static sv_status find_node(sv_ctx *ctx, const sv_index *index, sv_span word, sv_node *v)
{
    char text[256];
    if (word.length == 0)
        return sv_fail(ctx, SV_BAD_INPUT, "a node's name is missing");
    if (word.length >= sizeof text)
        return sv_fail(ctx, SV_BAD_INPUT, "no node is called '%.*s…'", SV_SPAN(word));
    memcpy(text, word.at, word.length);
    text[word.length] = 0;
    return sv_index_find(ctx, index, text, v);
}

/* A node and a port of it, and the channel there. */
static sv_status find_channel(sv_ctx *ctx, const sv_index *index, const sv_fabric *f, sv_span node,
                              sv_span port, sv_channel *channel)
{
    sv_node v;
    uint64_t number;
    SV_TRY(find_node(ctx, index, node, &v));
    if (!sv_span_number(port, UINT16_MAX, &number))
        return sv_fail(ctx, SV_BAD_INPUT, "'%.*s' is not the number of a port", SV_SPAN(port));
    *channel = sv_channel_at(f, v, (unsigned)number);
    if (channel->i == SV_NONE)
        return sv_fail(ctx, SV_BAD_INPUT, "port %u of '%s' has no cable", (unsigned)number,
                       sv_node_name(f, v));
    return SV_OK;
}

static void count_cable(const sv_fabric *f, sv_mask *mask, sv_channel c, sv_fault_report *report)
{
    if (sv_bit(mask->channels, c.i))
        return;
    sv_mask_cable(mask, f, c);
    bool terminal = !sv_is_switch(f, f->tail[c.i]) || !sv_is_switch(f, f->head[c.i]);
    report->links += !terminal;
    report->lost_terminals += terminal;
}

static sv_status fail_switch(sv_ctx *ctx, const sv_fabric *f, sv_node v, sv_mask *mask,
                             sv_fault_report *report)
{
    if (!sv_is_switch(f, v))
        return sv_fail(ctx, SV_BAD_INPUT, "'%s' is not a switch", sv_node_name(f, v));
    if (sv_bit(mask->nodes, v.i))
        return SV_OK;
    sv_mask_node(mask, v);
    report->switches++;
    SV_FOR_HOPS (f, v, hop)
        report->lost_terminals += !sv_is_switch(f, hop->to) && !sv_bit(mask->nodes, hop->to.i) &&
                                  !sv_bit(mask->channels, hop->channel.i);
    return SV_OK;
}

static sv_status fail_adapter(sv_ctx *ctx, const sv_fabric *f, sv_node v, sv_mask *mask,
                              sv_fault_report *report)
{
    if (sv_is_switch(f, v))
        return sv_fail(ctx, SV_BAD_INPUT, "'%s' is a switch", sv_node_name(f, v));
    uint32_t adapter = sv_terminal_of(f, v)->adapter;
    bool some = false;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (f->terminals[t].adapter == adapter) {
            sv_node terminal = {f->num_switches + t};
            bool lost = sv_node_alive(f, terminal) && !sv_bit(mask->nodes, terminal.i);
            some = some || lost;
            report->lost_terminals += lost;
            sv_mask_node(mask, terminal);
        }
    report->adapters += some;
    return SV_OK;
}

sv_status sv_faults_add(sv_ctx *ctx, const sv_index *index, const sv_fabric *f, const char *line,
                        sv_mask *mask, sv_fault_report *report)
{
    sv_scan scan = sv_scan_of(sv_span_of(line));
    sv_span words[6];
    size_t count = 0;
    for (; count < 6; count++) {
        if (!next_word(&scan, &words[count]))
            return sv_fail(ctx, SV_BAD_INPUT, "a quote is not closed");
        if (words[count].length == 0)
            break;
    }
    sv_node v;
    sv_channel c, other;
    if (count == 2 && sv_span_is(words[0], "switch")) {
        SV_TRY(find_node(ctx, index, words[1], &v));
        return fail_switch(ctx, f, v, mask, report);
    }
    if (count == 2 && sv_span_is(words[0], "adapter")) {
        SV_TRY(find_node(ctx, index, words[1], &v));
        return fail_adapter(ctx, f, v, mask, report);
    }
    if ((count == 3 && sv_span_is(words[0], "port")) ||
        (count == 5 && sv_span_is(words[0], "link"))) {
        SV_TRY(find_channel(ctx, index, f, words[1], words[2], &c));
        if (count == 5) {
            SV_TRY(find_channel(ctx, index, f, words[3], words[4], &other));
            if (f->reverse[c.i].i != other.i)
                return sv_fail(ctx, SV_BAD_INPUT,
                               "no cable joins '%.*s' port %.*s and '%.*s' "
                               "port %.*s",
                               SV_SPAN(words[1]), SV_SPAN(words[2]), SV_SPAN(words[3]),
                               SV_SPAN(words[4]));
        }
        count_cable(f, mask, c, report);
        return SV_OK;
    }
    return sv_fail(ctx, SV_BAD_INPUT,
                   "not 'switch NODE', 'adapter NODE', 'port NODE PORT' or "
                   "'link NODE PORT NODE PORT'");
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
            char why[512];
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

/* A GUID where there is one, else the name in quotes. */
static void write_node(sv_text *out, const sv_fabric *f, sv_node v)
{
    if (sv_node_guid(f, v) != 0)
        sv_text_print(out, " 0x%016llx", (unsigned long long)sv_node_guid(f, v));
    else
        sv_text_print(out, " \"%s\"", sv_node_name(f, v));
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
            sv_text_print(out, " # %s\n", f->switches[s].name);
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
        sv_text_print(out, " # %s\n", sv_node_name(f, v));
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
        sv_text_print(out, " %u # %s %s\n", f->port[f->reverse[c].i], sv_node_name(f, f->tail[c]),
                      sv_node_name(f, f->head[c]));
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
    uint32_t *stack = SV_ARENA_NEW(&arena, uint32_t, sv_num_nodes(fabric)), most = 0;
    sv_status status = seen == NULL || stack == NULL ? SV_NO_MEMORY : SV_OK;
    for (uint32_t v = fabric->num_switches; status == SV_OK && v < sv_num_nodes(fabric); v++)
        if (sv_node_alive(fabric, (sv_node){v}) && !sv_bit(seen, v)) {
            uint32_t size = sv_flood(fabric, (sv_node){v}, false, seen, stack);
            most = size > most ? size : most;
        }
    if (status == SV_OK)
        *terminals = fabric->live_terminals - most;
    sv_arena_release(&arena);
    return status;
}
