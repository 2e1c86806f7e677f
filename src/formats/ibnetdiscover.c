/*
 * ibnetdiscover.c: the text that ibnetdiscover prints and ibsim reads.
 *
 * A section for each node, switches first:
 *
 *     vendid=0x2c9
 *     devid=0xd2f0
 *     sysimgguid=0xb8599f0300fc6de4
 *     switchguid=0xb8599f0300fc6de4(b8599f0300fc6de4)
 *     Switch  41 "S-b8599f0300fc6de4"     # "name" enhanced port 0 lid 13 lmc 0
 *     [3]     "S-0002c903007b78b0"[1]     # "name of the other end" lid 19 4xFDR
 *     [41]    "H-b8599f0300fc6dec"[1](b8599f0300fc6dec)   # "…" lid 14 4xHDR
 *
 * An adapter's section has caguid= and Ca; its ports are "[1](port guid) "S-…"[24] # lid 28 lmc 0
 * "name" lid 13 4xEDR". Everything from # on is a comment to ibsim and facts to us. ibsim's
 * hand-written files need neither GUIDs nor comments; nodes without a GUID get the one ibsim would
 * give them (switches from 0x200000, adapters from 0x100000, routers from 0x300000, one for each
 * port in between).
 *
 * Blanks may be missing where nothing else changes: a file that was captured from a terminal has
 * lost its tabs. Such a file's first lines (a capture program's banner) and last one (a prompt)
 * are skipped, with a warning; any other line that is not understood is an error.
 *
 * Cost: linear in the text.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/derive.h"
#include "formats/draft.h"
#include "formats/formats.h"

/* ---- reading ---- */

struct reader {
    sv__draft draft;
    sv_lines *lines;
    bool speeds;      /* saw a port with a speed */
    bool started;     /* saw a line that is certainly ibnetdiscover's */
    uint64_t skipped; /* lines before that */
    uint32_t device;  /* whose section this is, or SV_ABSENT */
    uint64_t next_guid[3];
    uint64_t system_guid;
    uint32_t vendor, device_id;
};

/* Unassigned LIDs are written as 0 or 65535; multicast ones are nobody's own. */
static uint16_t unicast(uint64_t lid)
{
    return lid > SV_LID_MAX ? 0 : (uint16_t)lid;
}

/* "key=0x…"; the rest of the line (ibnetdiscover repeats the GUID in brackets) is not needed. */
static sv_status read_assignment(struct reader *r, sv_scan *scan, const char *key)
{
    uint64_t value;
    if (!sv_scan_hex(scan, &value))
        return sv_lines_fail(r->lines, "%s is not followed by a hexadecimal number", key);
    bool short_id = strcmp(key, "vendid=") == 0 || strcmp(key, "devid=") == 0;
    if (short_id && value > UINT32_MAX)
        return sv_lines_fail(r->lines, "%s is more than 32 bits", key);
    if (strcmp(key, "vendid=") == 0)
        r->vendor = (uint32_t)value;
    else if (strcmp(key, "devid=") == 0)
        r->device_id = (uint32_t)value;
    else if (strcmp(key, "sysimgguid=") == 0)
        r->system_guid = value;
    else if (strcmp(key, "switchguid=") == 0)
        r->next_guid[SV__SWITCH] = value;
    else if (strcmp(key, "rtguid=") == 0)
        r->next_guid[SV__ROUTER] = value;
    else
        r->next_guid[SV__HOST] = value;
    r->device = SV_ABSENT;
    return SV_OK;
}

/* A quoted text that may itself hold quotes: up to the last one of the line. */
static bool scan_description(sv_scan *scan, sv_span *text)
{
    sv_scan inside = *scan;
    if (!sv_scan_char(&inside, '"'))
        return false;
    const char *last = inside.end;
    while (last > inside.at && last[-1] != '"')
        last--;
    if (last == inside.at)
        return false;
    *text = (sv_span){inside.at, (size_t)(last - 1 - inside.at)};
    scan->at = last;
    return true;
}

/* " lid N" and " lmc N", either of which may be missing. */
static sv_status scan_lid(struct reader *r, sv_scan *scan, uint16_t *lid, uint8_t *lmc)
{
    uint64_t number;
    sv_scan_blanks(scan);
    if (sv_scan_text(scan, "lid ")) {
        sv_scan_blanks(scan);
        if (!sv_scan_number(scan, 65535, &number))
            return sv_lines_fail(r->lines, "lid is not followed by a number up to 65535");
        *lid = unicast(number);
    }
    sv_scan_blanks(scan);
    if (sv_scan_text(scan, "lmc ")) {
        sv_scan_blanks(scan);
        if (!sv_scan_number(scan, 7, &number))
            return sv_lines_fail(r->lines, "lmc is not followed by a number up to 7");
        *lmc = (uint8_t)number;
    }
    return SV_OK;
}

/* What stands behind # in the first line of a section. */
static sv_status read_node_comment(struct reader *r, sv_scan *scan, sv__draft_device *d)
{
    sv_span name = d->id;
    sv_scan_blanks(scan);
    if (sv_scan_char(scan, '#')) {
        sv_scan_blanks(scan);
        scan_description(scan, &name);
        sv_scan_blanks(scan);
        d->enhanced_port0 = sv_scan_text(scan, "enhanced port 0");
        if (!d->enhanced_port0)
            sv_scan_text(scan, "base port 0");
        SV_TRY(scan_lid(r, scan, &d->lid, &d->lmc));
        sv_scan_blanks(scan);
    }
    if (!sv_scan_done(scan))
        return sv_lines_fail(r->lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(scan)));
    d->name = sv__draft_name(&r->draft, name);
    return d->name == NULL ? SV_NO_MEMORY : SV_OK;
}

/* Switch 41 "S-…" # "…" …; the keyword is behind us. */
static sv_status read_node(struct reader *r, sv_scan *scan, sv__draft_kind kind)
{
    uint64_t ports;
    sv__draft_device d = {.kind = kind, .line = r->lines->number};
    sv_scan_blanks(scan);
    if (!sv_scan_number(scan, UINT64_MAX, &ports)) {
        bool digits = !sv_scan_done(scan) && *scan->at >= '0' && *scan->at <= '9';
        return sv_lines_fail(r->lines, "the number of ports is %s", digits ? "absurd" : "missing");
    }
    if (ports < 1 || ports > SV__MAX_PORTS)
        return sv_lines_fail(r->lines, "%llu ports: a node has 1 to %d", (unsigned long long)ports,
                             SV__MAX_PORTS);
    sv_scan_blanks(scan);
    if (!sv_scan_char(scan, '"') || !sv_scan_until(scan, '"', &d.id))
        return sv_lines_fail(r->lines, "the node's id in quotes is missing");
    SV_TRY(read_node_comment(r, scan, &d));
    d.ports = (uint16_t)ports;
    d.guid = r->next_guid[kind];
    d.system_guid = r->system_guid != 0 ? r->system_guid : d.guid;
    d.vendor = r->vendor;
    d.device = r->device_id;
    r->next_guid[kind] += kind == SV__SWITCH ? 1 : ports + 1;
    r->system_guid = 0;
    return sv__draft_add_device(&r->draft, &d, &r->device);
}

/* " s=4 w=2 v=4", which ibnetdiscover -f adds: enabled speeds and widths, and the VLCap code. */
static void scan_full(sv_scan *scan, sv_link *link)
{
    static const uint8_t vls[] = {0, 1, 2, 4, 8, 15};
    sv_scan inside = *scan;
    uint64_t speeds, widths, vlcap;
    sv_scan_blanks(&inside);
    if (!sv_scan_text(&inside, "s=") || !sv_scan_number(&inside, 255, &speeds))
        return;
    sv_scan_blanks(&inside);
    if (!sv_scan_text(&inside, "w=") || !sv_scan_number(&inside, 255, &widths))
        return;
    sv_scan_blanks(&inside);
    if (!sv_scan_text(&inside, "v=") || !sv_scan_number(&inside, 255, &vlcap))
        return;
    link->vls = vlcap < sizeof vls ? vls[vlcap] : 0;
    *scan = inside;
}

/* "[ext 3]", the number on a chassis' outside, which ibnetdiscover -g adds. */
static void scan_external(sv_scan *scan)
{
    sv_scan inside = *scan;
    uint64_t number;
    if (sv_scan_text(&inside, "[ext ") && sv_scan_number(&inside, UINT16_MAX, &number) &&
        sv_scan_char(&inside, ']'))
        *scan = inside;
}

/* What stands behind # in a port's line. */
static sv_status read_port_comment(struct reader *r, sv_scan *scan, bool host, sv__draft_end *end)
{
    sv_span name;
    uint16_t remote_lid;
    uint8_t lmc;
    sv_scan_blanks(scan);
    if (host)
        SV_TRY(scan_lid(r, scan, &end->lid, &end->lmc));
    sv_scan_blanks(scan);
    scan_description(scan, &name);
    SV_TRY(scan_lid(r, scan, &remote_lid, &lmc));
    sv_scan_blanks(scan);
    if (!sv_scan_done(scan) && !sv__scan_link(scan, &end->link))
        return sv_lines_fail(r->lines, "'%.*s' is not a width and speed like 4xQDR",
                             SV_SPAN(sv_scan_rest(scan)));
    scan_full(scan, &end->link);
    if (!sv_scan_done(scan))
        return sv_lines_fail(r->lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(scan)));
    return SV_OK;
}

/* "(guid)", which may be missing. */
static sv_status scan_port_guid(struct reader *r, sv_scan *scan, uint64_t *guid)
{
    if (!sv_scan_char(scan, '('))
        return SV_OK;
    if (!sv_scan_hex(scan, guid) || !sv_scan_char(scan, ')'))
        return sv_lines_fail(r->lines, "a port's GUID in brackets is not a hexadecimal number");
    return SV_OK;
}

/* [3] "S-…"[1] # …; the bracket is behind us. */
static sv_status read_port(struct reader *r, sv_scan *scan)
{
    uint64_t port, remote_port = 1;
    sv__draft_end end = {.device = r->device, .line = r->lines->number};
    if (r->device == SV_ABSENT)
        return sv_lines_fail(r->lines, "a port outside of a node's section");
    if (!sv_scan_number(scan, UINT16_MAX, &port) || !sv_scan_char(scan, ']'))
        return sv_lines_fail(r->lines, "'[' is not followed by a port's number and ']'");
    scan_external(scan);
    SV_TRY(scan_port_guid(r, scan, &end.guid));
    sv_scan_blanks(scan);
    if (!sv_scan_char(scan, '"') || !sv_scan_until(scan, '"', &end.remote))
        return sv_lines_fail(r->lines, "the other node's id in quotes is missing");
    if (sv_scan_char(scan, '[') &&
        (!sv_scan_number(scan, UINT16_MAX, &remote_port) || !sv_scan_char(scan, ']')))
        return sv_lines_fail(r->lines, "the other port is not a number in brackets");
    scan_external(scan);
    SV_TRY(scan_port_guid(r, scan, &end.remote_guid));
    sv_scan_blanks(scan);
    end.port = (uint16_t)port;
    end.remote_port = (uint16_t)remote_port;
    bool host = r->draft.devices.at[r->device].kind != SV__SWITCH;
    if (sv_scan_char(scan, '#'))
        SV_TRY(read_port_comment(r, scan, host, &end));
    else if (!sv_scan_done(scan))
        return sv_lines_fail(r->lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(scan)));
    if (r->lines->unterminated && r->speeds && end.link.width == 0)
        return sv_lines_fail(r->lines, "the file is cut off: other ports have a speed here");
    r->speeds = r->speeds || end.link.width != 0;
    return sv__draft_add_end(&r->draft, &end);
}

static const struct {
    const char *word;
    sv__draft_kind kind;
} node_words[] = {{"Switch", SV__SWITCH}, {"Hca", SV__HOST}, {"Ca", SV__HOST}, {"Rt", SV__ROUTER}};

static const char *const keys[] = {
    "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "hcaguids="};

/* One line; *known is false if it is nothing of ours. */
static sv_status read_line(struct reader *r, sv_span line, bool *known)
{
    sv_scan scan = sv_scan_of(line);
    *known = true;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan))
        return SV_OK;
    if (sv_scan_char(&scan, '#')) {
        r->started = true;
        return SV_OK;
    }
    sv_scan bracket = scan;
    if (sv_scan_char(&bracket, '[') &&
        (sv_scan_done(&bracket) || (*bracket.at >= '0' && *bracket.at <= '9')))
        return read_port(r, &bracket);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (sv_scan_text(&scan, keys[i]))
            return read_assignment(r, &scan, keys[i]);
    for (size_t i = 0; i < sizeof node_words / sizeof node_words[0]; i++) {
        sv_scan after = scan;
        if (sv_scan_text(&after, node_words[i].word) && !sv_scan_done(&after) &&
            (*after.at == ' ' || *after.at == '\t' || (*after.at >= '0' && *after.at <= '9')))
            return read_node(r, &after, node_words[i].kind);
    }
    if (sv_scan_text(&scan, "Chassis ") || sv_scan_text(&scan, "Non-Chassis Nodes"))
        return SV_OK; /* ibnetdiscover -g */
    *known = false;
    return SV_OK;
}

/* Whether text could be the beginning of a line that was cut off. */
static bool could_be_cut(sv_span line)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strncmp(keys[i], line.at,
                    line.length < strlen(keys[i]) ? line.length : strlen(keys[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof node_words / sizeof node_words[0]; i++) {
        size_t length = strlen(node_words[i].word);
        if (strncmp(node_words[i].word, line.at, line.length < length ? line.length : length) == 0)
            return true;
    }
    return false;
}

static sv_status read_all(struct reader *r)
{
    for (;;) {
        sv_span line;
        bool more, known;
        SV_TRY(sv_lines_next(r->lines, &line, &more));
        if (!more)
            return SV_OK;
        SV_TRY(read_line(r, line, &known));
        if (known) {
            r->started = r->started || r->draft.devices.length > 0;
        } else if (!r->started) {
            r->skipped++;
        } else if (r->lines->unterminated && r->draft.devices.length > 0 && !could_be_cut(line)) {
            sv_warn_content(r->draft.ctx, r->draft.name, r->lines->number,
                            "skipped '%.*s' at the end (a terminal's prompt?)", SV_SPAN(line));
        } else {
            return sv_lines_fail(r->lines, "not understood: '%.*s'", SV_SPAN(line));
        }
    }
}

sv_status sv__read_ibnetdiscover(sv_lines *lines, sv_fabric **fabric)
{
    struct reader r = {.lines = lines, .device = SV_ABSENT};
    r.next_guid[SV__SWITCH] = 0x200000;
    r.next_guid[SV__HOST] = 0x100000;
    r.next_guid[SV__ROUTER] = 0x300000;
    sv__draft_init(&r.draft, lines->ctx, lines->source->name);
    sv_status status = read_all(&r);
    if (status == SV_OK && r.skipped > 0)
        sv_warn(lines->ctx, "%s:1: skipped %llu line(s) before the topology", r.draft.name,
                (unsigned long long)r.skipped);
    if (status == SV_OK)
        status = sv__draft_finish(&r.draft, fabric);
    sv__draft_release(&r.draft);
    return status;
}

/* ---- writing ---- */

/* The id of a node: S- or H- and its GUID; its number where it has none. */
static void write_id(sv_text *out, const sv_fabric *f, sv_node v)
{
    bool is_switch = sv_is_switch(f, v);
    const sv_adapter_info *adapter = is_switch ? NULL : &f->adapters[sv_terminal_of(f, v)->adapter];
    uint64_t guid = is_switch ? f->switches[v.i].guid : adapter->guid;
    char kind = is_switch ? 'S' : adapter->kind == SV_ADAPTER_ROUTER ? 'R' : 'H';
    sv_text_print(out, "\"%c-%016llx\"", kind, (unsigned long long)guid);
}

static void write_ids(sv_text *out, uint32_t vendor, uint32_t device, uint64_t system_guid)
{
    sv_text_print(out, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%llx\n", vendor, device,
                  (unsigned long long)system_guid);
}

static void write_link(sv_text *out, const sv_link *link)
{
    if (link->width == 0)
        return;
    sv_text_print(out, " %ux%s", link->width,
                  link->speed == SV_SPEED_UNKNOWN ? "?" : sv_speed_name(link->speed));
}

static uint16_t lid_of(const sv_fabric *f, sv_node v)
{
    return sv_is_switch(f, v) ? f->switches[v.i].lid : sv_terminal_of(f, v)->lid;
}

static void write_switch(sv_text *out, const sv_fabric *f, sv_node v)
{
    const sv_switch_info *s = &f->switches[v.i];
    write_ids(out, s->vendor, s->device, s->system_guid);
    sv_text_print(out, "switchguid=0x%llx(%llx)\nSwitch\t%u ", (unsigned long long)s->guid,
                  (unsigned long long)s->guid, s->ports);
    write_id(out, f, v);
    sv_text_print(out, "\t\t# \"%s\" %s port 0 lid %u lmc %u\n", s->name,
                  s->enhanced_port0 ? "enhanced" : "base", s->lid, s->lmc);
    SV_FOR_HOPS (f, v, hop) {
        sv_channel back = f->reverse[hop->channel.i];
        sv_text_print(out, "[%u]\t", f->port[hop->channel.i]);
        write_id(out, f, hop->to);
        sv_text_print(out, "[%u]", f->port[back.i]);
        if (!sv_is_switch(f, hop->to))
            sv_text_print(out, "(%llx) ", (unsigned long long)sv_terminal_of(f, hop->to)->guid);
        sv_text_print(out, "\t\t# \"%s\" lid %u", sv_node_name(f, hop->to), lid_of(f, hop->to));
        write_link(out, sv_link_of(f, hop->channel));
        sv_text_print(out, "\n");
    }
}

static void write_adapter(sv_text *out, const sv_fabric *f, uint32_t a, const uint32_t *terminals,
                          uint32_t count)
{
    const sv_adapter_info *card = &f->adapters[a];
    bool router = card->kind == SV_ADAPTER_ROUTER;
    write_ids(out, card->vendor, card->device, card->system_guid);
    sv_text_print(out, "%s=0x%llx\n%s\t%u \"%c-%016llx\"\t\t# \"%s\"\n",
                  router ? "rtguid" : "caguid", (unsigned long long)card->guid,
                  router ? "Rt" : "Ca", card->ports, router ? 'R' : 'H',
                  (unsigned long long)card->guid, card->name);
    for (uint32_t i = 0; i < count; i++) {
        sv_node v = {f->num_switches + terminals[i]};
        const sv_terminal_info *t = &f->terminals[terminals[i]];
        SV_FOR_HOPS (f, v, hop) {
            sv_text_print(out, "[%u](%llx) \t", t->port, (unsigned long long)t->guid);
            write_id(out, f, hop->to);
            sv_text_print(out, "[%u]", f->port[f->reverse[hop->channel.i].i]);
            if (!sv_is_switch(f, hop->to))
                sv_text_print(out, "(%llx) ", (unsigned long long)sv_terminal_of(f, hop->to)->guid);
            sv_text_print(out, "\t\t# lid %u lmc %u \"%s\" lid %u", t->lid, t->lmc,
                          sv_node_name(f, hop->to), lid_of(f, hop->to));
            write_link(out, sv_link_of(f, hop->channel));
            sv_text_print(out, "\n");
        }
    }
}

/* The terminals of each adapter, in the order of their ports as given. */
static sv_status group_terminals(sv_arena *arena, const sv_fabric *f, uint32_t **first,
                                 uint32_t **list)
{
    *first = SV_ARENA_NEW(arena, uint32_t, (size_t)f->num_adapters + 2);
    *list = SV_ARENA_NEW(arena, uint32_t, f->num_terminals);
    if (*first == NULL || *list == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        (*first)[f->terminals[t].adapter + 2]++;
    for (uint32_t a = 0; a < f->num_adapters; a++)
        (*first)[a + 2] += (*first)[a + 1];
    for (uint32_t t = 0; t < f->num_terminals; t++)
        (*list)[(*first)[f->terminals[t].adapter + 1]++] = t;
    return SV_OK;
}

static sv_status write_all(sv_text *out, const sv_fabric *f, sv_arena *arena)
{
    uint32_t *first, *list;
    bool *live = sv_live_adapters(arena, f);
    if (live == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__fits_infiniband(out->ctx, f, live));
    SV_TRY(group_terminals(arena, f, &first, &list));
    sv_text_print(out, "#\n# Topology file: generated by selvage %s\n#\n", sv_version());
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            write_switch(out, f, (sv_node){s});
    for (uint32_t a = 0; a < f->num_adapters; a++)
        if (live[a])
            write_adapter(out, f, a, list + first[a], first[a + 1] - first[a]);
    return out->status;
}

sv_status sv__write_ibnetdiscover(sv_text *out, const sv_fabric *fabric)
{
    sv_arena arena;
    sv_arena_init(&arena, out->ctx);
    sv_status status = write_all(out, fabric, &arena);
    sv_arena_release(&arena);
    return status;
}
