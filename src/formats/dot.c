/*
 * dot.c: a picture of the switches for GraphViz.
 *
 * Idea: switches are boxes with their name and number of terminals; parallel cables are one line
 * with their number beside it. Terminals are drawn, as dots, only in small fabrics: a thousand of
 * them hide everything else. Levels (distance from the terminals) become ranks if there is more
 * than one, so that dot draws trees as trees; the comment in the first line says which of
 * GraphViz's programs suits.
 *
 * Cost: linear in the output.
 */
#include "fabric/derive.h"
#include "formats/formats.h"

enum { MAX_DRAWN_TERMINALS = 64 };

/* GraphViz wants UTF-8 and its quotes escaped; what is neither is shown as '?'. */
static void write_quoted(sv_text *out, const char *text)
{
    sv_text_add(out, "\"", 1);
    for (size_t length; *text != 0; text += length) {
        length = sv_utf8_length(text);
        bool odd = length == 0 || (unsigned char)*text < 0x20;
        length = length == 0 ? 1 : length;
        if (*text == '"' || *text == '\\')
            sv_text_add(out, "\\", 1);
        sv_text_add(out, odd ? "?" : text, odd ? 1 : length);
    }
    sv_text_add(out, "\"", 1);
}

static uint32_t terminals_of(const sv_fabric *f, sv_node s)
{
    uint32_t count = 0;
    SV_FOR_HOPS (f, s, hop)
        count += !sv_is_switch(f, hop->to);
    return count;
}

static void write_switches(sv_text *out, const sv_fabric *f, bool hosts)
{
    for (uint32_t s = 0; s < f->num_switches; s++) {
        if (!sv_node_alive(f, (sv_node){s}))
            continue;
        uint32_t count = terminals_of(f, (sv_node){s});
        sv_text_print(out, "  s%u [label=", s);
        write_quoted(out, f->switches[s].name);
        if (count > 0 && !hosts)
            sv_text_print(out, " xlabel=\"%u\" style=filled", count);
        sv_text_print(out, "]\n");
    }
}

static void write_ranks(sv_text *out, const sv_fabric *f, const uint32_t *level, uint32_t highest)
{
    for (uint32_t i = 0; i <= highest; i++) {
        sv_text_print(out, "  { rank=same;");
        for (uint32_t s = 0; s < f->num_switches; s++)
            if (level[s] == i && sv_node_alive(f, (sv_node){s}))
                sv_text_print(out, " s%u;", s);
        sv_text_print(out, " }\n");
    }
}

/* Neighbours above a switch in number, each once with the number of cables to it. */
static void write_neighbours(sv_text *out, const sv_fabric *f, uint32_t s, uint32_t *count,
                             const uint32_t *level)
{
    SV_FOR_HOPS (f, ((sv_node){s}), hop)
        if (sv_is_switch(f, hop->to) && hop->to.i >= s)
            count[hop->to.i]++;
    SV_FOR_HOPS (f, ((sv_node){s}), hop) {
        uint32_t to = hop->to.i, cables = to < f->num_switches ? count[to] : 0;
        if (cables == 0 || to < s)
            continue;
        count[to] = 0;
        cables = to == s ? cables / 2 : cables;
        bool upwards = level[s] < level[to]; /* dot puts the first end on top */
        sv_text_print(out, "  s%u -- s%u", upwards ? to : s, upwards ? s : to);
        if (cables > 1)
            sv_text_print(out, " [label=\"%u\"]", cables);
        sv_text_print(out, "\n");
    }
}

static void write_hosts(sv_text *out, const sv_fabric *f)
{
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t}, s = sv_switch_of(f, v);
        if (!sv_node_alive(f, v))
            continue;
        sv_text_print(out, "  t%u [shape=point xlabel=", t);
        write_quoted(out, sv_node_name(f, v));
        sv_text_print(out, "]\n");
        if (s.i != SV_NONE)
            sv_text_print(out, "  s%u -- t%u\n", s.i, t);
        SV_FOR_HOPS (f, v, hop) /* two terminals back to back */
            if (!sv_is_switch(f, hop->to) && hop->to.i > v.i)
                sv_text_print(out, "  t%u -- t%u\n", t, hop->to.i - f->num_switches);
    }
}

sv_status sv__write_dot(sv_text *out, const sv_fabric *f)
{
    sv_arena arena;
    sv_arena_init(&arena, out->ctx);
    uint32_t highest, *level = sv_switch_levels(&arena, f, &highest);
    uint32_t *count = SV_ARENA_NEW(&arena, uint32_t, f->num_switches);
    if (level == NULL || count == NULL) {
        sv_arena_release(&arena);
        return SV_NO_MEMORY;
    }
    bool hosts = f->live_terminals <= MAX_DRAWN_TERMINALS;
    sv_text_print(out, "// %u switches, %u terminals; draw with: %s -Tsvg\n", f->live_switches,
                  f->live_terminals, highest > 0 ? "dot" : "neato");
    sv_text_print(out, "graph fabric {\n  node [shape=box fontsize=10]\n  overlap=false\n"
                       "  splines=true\n");
    write_switches(out, f, hosts);
    if (highest > 0)
        write_ranks(out, f, level, highest);
    for (uint32_t s = 0; s < f->num_switches; s++)
        write_neighbours(out, f, s, count, level);
    if (hosts)
        write_hosts(out, f);
    sv_text_print(out, "}\n");
    sv_arena_release(&arena);
    return out->status;
}
