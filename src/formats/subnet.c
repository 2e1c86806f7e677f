/*
 * subnet.c: OpenSM's opensm-subnet.lst.
 *
 * A line for each port that is up, with both ends of its cable:
 *
 *     { SW Ports:08 SystemGUID:… NodeGUID:… PortGUID:… VenID:000002C9 DevID:… Rev:… {name}
 *     LID:0002 PN:05 } { CA … LID:0004 PN:01 } PHY=4x LOG=ACT SPD=10
 *
 * (on one line). Every cable has two lines, one from each end. Old dumps have no SPD. The kind may
 * have a suffix (CA-SM: the node the subnet manager runs on). LIDs are hexadecimal. What has no
 * cable cannot be said in this format.
 *
 * Cost: linear in the text.
 */
#include <string.h>

#include "fabric/derive.h"
#include "formats/draft.h"
#include "formats/formats.h"

/* ---- reading ---- */

/* One side of a line. */
struct port {
    sv__draft_device device;
    char id[20];
    uint64_t port_guid, lid, port;
};

struct reader {
    sv__draft draft;
    sv_lines *lines;
    SV_ARRAY(sv__draft_device) seen; /* on the right side, before any line of their own */
};

/* " Key:hex" */
static bool scan_field(sv_scan *scan, const char *key, uint64_t *value)
{
    sv_scan_blanks(scan);
    return sv_scan_text(scan, key) && sv_scan_hex(scan, value);
}

static bool scan_kind(sv_scan *scan, sv__draft_kind *kind)
{
    sv_scan_blanks(scan);
    if (sv_scan_text(scan, "SW"))
        *kind = SV__SWITCH;
    else if (sv_scan_text(scan, "CA"))
        *kind = SV__HOST;
    else if (sv_scan_text(scan, "RT"))
        *kind = SV__ROUTER;
    else
        return false;
    while (!sv_scan_done(scan) && *scan->at != ' ')
        scan->at++; /* -SM, and whatever else is appended */
    return true;
}

/* The name in braces; it ends where "} LID:" follows. */
static bool scan_name(sv_scan *scan, sv_span *name)
{
    sv_scan_blanks(scan);
    if (!sv_scan_char(scan, '{'))
        return false;
    for (const char *c = scan->at; c + 6 <= scan->end; c++)
        if (memcmp(c, "} LID:", 6) == 0) {
            *name = (sv_span){scan->at, (size_t)(c - scan->at)};
            scan->at = c + 1;
            return true;
        }
    return false;
}

/* { SW Ports:08 … PN:05 } */
static sv_status read_port(struct reader *r, sv_scan *scan, struct port *p)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t ports, vendor, device, revision;
    sv_span name;
    *p = (struct port){.device.line = r->lines->number};
    sv_scan_blanks(scan);
    bool good = sv_scan_char(scan, '{') && scan_kind(scan, &p->device.kind) &&
                scan_field(scan, "Ports:", &ports) &&
                scan_field(scan, "SystemGUID:", &p->device.system_guid) &&
                scan_field(scan, "NodeGUID:", &p->device.guid) &&
                scan_field(scan, "PortGUID:", &p->port_guid) &&
                scan_field(scan, "VenID:", &vendor) && scan_field(scan, "DevID:", &device) &&
                scan_field(scan, "Rev:", &revision) && scan_name(scan, &name) &&
                scan_field(scan, "LID:", &p->lid) && scan_field(scan, "PN:", &p->port);
    sv_scan_blanks(scan);
    if (!good || !sv_scan_char(scan, '}'))
        return sv_lines_fail(r->lines, "not a port as in opensm-subnet.lst, from '%.*s'",
                             SV_SPAN(sv_scan_rest(scan)));
    if (ports < 1 || ports > SV__MAX_PORTS)
        return sv_lines_fail(r->lines, "%llu ports: a node has 1 to %d", (unsigned long long)ports,
                             SV__MAX_PORTS);
    if (p->lid > 65535 || p->port > 255)
        return sv_lines_fail(r->lines, "LID %llx or port %llx is out of range",
                             (unsigned long long)p->lid, (unsigned long long)p->port);
    for (int i = 0; i < 16; i++)
        p->id[i] = digits[p->device.guid >> (60 - 4 * i) & 15];
    p->device.id = (sv_span){p->id, 16};
    p->device.ports = (uint16_t)ports;
    p->device.vendor = (uint32_t)vendor;
    p->device.device = (uint32_t)device;
    p->lid = p->lid > SV_LID_MAX ? 0 : p->lid;
    p->device.name = sv__draft_name(&r->draft, name);
    return p->device.name == NULL ? SV_NO_MEMORY : SV_OK;
}

static sv_status agree(const struct reader *r, const sv__draft_device *known, const struct port *p)
{
    if (known->ports == p->device.ports && known->kind == p->device.kind)
        return SV_OK;
    return sv_lines_fail(r->lines, "node %.16s is described differently in line %llu", p->id,
                         (unsigned long long)known->line);
}

/* The device whose line this is. Devices are numbered by their first line. */
static sv_status note_left(struct reader *r, const struct port *p, uint32_t *index)
{
    *index = sv__draft_find(&r->draft, p->device.id);
    if (*index != SV_ABSENT)
        return agree(r, &r->draft.devices.at[*index], p);
    sv__draft_device d = p->device;
    d.lid = d.kind == SV__SWITCH ? (uint16_t)p->lid : 0;
    return sv__draft_add_device(&r->draft, &d, index);
}

/* The device at the other end, which may have no line of its own anywhere. */
static sv_status note_right(struct reader *r, const struct port *p)
{
    uint32_t index = sv__draft_find(&r->draft, p->device.id);
    if (index != SV_ABSENT)
        return agree(r, &r->draft.devices.at[index], p);
    sv__draft_device d = p->device;
    d.lid = d.kind == SV__SWITCH ? (uint16_t)p->lid : 0;
    d.id.at = sv__draft_text(&r->draft, p->device.id);
    return d.id.at == NULL ? SV_NO_MEMORY : sv_array_push(r->draft.ctx, &r->seen, d);
}

/* Adds those that were only ever seen from the other end. */
static sv_status add_seen(struct reader *r)
{
    uint32_t index;
    for (size_t i = 0; i < r->seen.length; i++)
        if (sv__draft_find(&r->draft, r->seen.at[i].id) == SV_ABSENT)
            SV_TRY(sv__draft_add_device(&r->draft, &r->seen.at[i], &index));
    return SV_OK;
}

/* "4x"; "???" where OpenSM does not know. */
static bool read_width(sv_span text, sv_link *link)
{
    sv_scan scan = sv_scan_of(text);
    uint64_t width;
    if (sv_span_is(text, "???"))
        return true;
    if (!sv_scan_number(&scan, 12, &width) || !sv_scan_char(&scan, 'x') || !sv_scan_done(&scan) ||
        !(width == 1 || width == 2 || width == 4 || width == 8 || width == 12))
        return false;
    link->width = (uint8_t)width;
    return true;
}

/* What OpenSM calls speeds; it does not know all of them itself. */
static bool read_speed(sv_span text, sv_link *link)
{
    static const struct {
        const char *text;
        sv_speed speed;
    } speeds[] = {{"2.5", SV_SPEED_SDR},     {"5", SV_SPEED_DDR},       {"10", SV_SPEED_QDR},
                  {"FDR10", SV_SPEED_FDR10}, {"14", SV_SPEED_FDR},      {"25", SV_SPEED_EDR},
                  {"50", SV_SPEED_HDR},      {"100", SV_SPEED_NDR},     {"200", SV_SPEED_XDR},
                  {"Ext", SV_SPEED_UNKNOWN}, {"Std", SV_SPEED_UNKNOWN}, {"????", SV_SPEED_UNKNOWN}};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++)
        if (sv_span_is(text, speeds[i].text)) {
            link->speed = (uint8_t)speeds[i].speed;
            return true;
        }
    return false;
}

static sv_status read_link(struct reader *r, sv_scan *scan, sv_link *link)
{
    sv_span word;
    bool any = false;
    for (sv_scan_blanks(scan); sv_scan_word(scan, &word); sv_scan_blanks(scan)) {
        if (word.at[0] == '#')
            break; /* a comment: the generation of a set of tables, say */
        sv_scan inside = sv_scan_of(word);
        bool good = false;
        if (sv_scan_text(&inside, "PHY="))
            any = good = read_width(sv_scan_rest(&inside), link);
        else if (sv_scan_text(&inside, "SPD="))
            good = read_speed(sv_scan_rest(&inside), link);
        else if (sv_scan_text(&inside, "LOG="))
            good = true;
        if (!good)
            return sv_lines_fail(r->lines, "'%.*s' is not understood", SV_SPAN(word));
    }
    return any ? SV_OK : sv_lines_fail(r->lines, "PHY= is missing: is the line cut off?");
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    struct port sides[2];
    sv__draft_end end = {.line = r->lines->number};
    SV_TRY(read_port(r, &scan, &sides[0]));
    SV_TRY(read_port(r, &scan, &sides[1]));
    SV_TRY(read_link(r, &scan, &end.link));
    SV_TRY(note_left(r, &sides[0], &end.device));
    SV_TRY(note_right(r, &sides[1]));
    end.port = (uint16_t)sides[0].port;
    end.remote = sides[1].device.id;
    end.remote_port = (uint16_t)sides[1].port;
    if (sides[0].device.kind != SV__SWITCH) {
        end.guid = sides[0].port_guid;
        end.lid = (uint16_t)sides[0].lid;
    }
    if (sides[1].device.kind != SV__SWITCH) {
        end.remote_guid = sides[1].port_guid;
        end.remote_lid = (uint16_t)sides[1].lid;
    }
    return sv__draft_add_end(&r->draft, &end);
}

sv_status sv__read_subnet(sv_lines *lines, sv_fabric **fabric)
{
    struct reader r = {.lines = lines};
    sv__draft_init(&r.draft, lines->ctx, lines->source->name);
    sv_status status = SV_OK;
    for (sv_span line; status == SV_OK;) {
        bool more;
        status = sv_lines_next(lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        sv_scan scan = sv_scan_of(line);
        sv_scan_blanks(&scan);
        if (!sv_scan_done(&scan) && *scan.at != '#')
            status = read_line(&r, line);
    }
    if (status == SV_OK)
        status = add_seen(&r);
    if (status == SV_OK)
        status = sv__draft_finish(&r.draft, fabric);
    sv_array_release(lines->ctx, &r.seen);
    sv__draft_release(&r.draft);
    return status;
}

/* ---- writing ---- */

static void write_port(sv_text *out, const sv_fabric *f, sv_node v, unsigned port)
{
    bool is_switch = sv_is_switch(f, v);
    const sv_switch_info *s = is_switch ? &f->switches[v.i] : NULL;
    const sv_terminal_info *t = is_switch ? NULL : sv_terminal_of(f, v);
    const sv_adapter_info *a = is_switch ? NULL : &f->adapters[t->adapter];
    const char *kind = is_switch ? "SW" : a->kind == SV_ADAPTER_ROUTER ? "RT" : "CA";
    sv_text_print(out,
                  "{ %s Ports:%02X SystemGUID:%016llx NodeGUID:%016llx PortGUID:%016llx "
                  "VenID:%08X DevID:%04X Rev:00000000 {%s} LID:%04X PN:%02X }",
                  kind, is_switch ? s->ports : a->ports,
                  (unsigned long long)(is_switch ? s->system_guid : a->system_guid),
                  (unsigned long long)(is_switch ? s->guid : a->guid),
                  (unsigned long long)(is_switch ? s->guid : t->guid),
                  is_switch ? s->vendor : a->vendor, is_switch ? s->device : a->device,
                  is_switch ? s->name : a->name, is_switch ? s->lid : t->lid, port);
}

static void write_link(sv_text *out, const sv_link *link)
{
    static const char *const speeds[SV_SPEED_COUNT] = {"",   "2.5", "5",  "10",  "FDR10",
                                                       "14", "25",  "50", "100", "200"};
    if (link->width == 0)
        sv_text_print(out, " PHY=??? LOG=ACT");
    else
        sv_text_print(out, " PHY=%ux LOG=ACT", link->width);
    if (link->speed != SV_SPEED_UNKNOWN)
        sv_text_print(out, " SPD=%s", speeds[link->speed]);
    sv_text_print(out, "\n");
}

/* Names end where "} LID:" follows, so they must not hold that. */
static sv_status check_names(sv_ctx *ctx, const sv_fabric *f)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (sv_node_alive(f, (sv_node){v}) &&
            strstr(sv_node_name(f, (sv_node){v}), "} LID:") != NULL)
            return sv_fail(ctx, SV_INFEASIBLE, "this format cannot hold the name '%s'",
                           sv_node_name(f, (sv_node){v}));
    return SV_OK;
}

static sv_status check_fabric(sv_ctx *ctx, const sv_fabric *f)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    bool *live = sv_live_adapters(&arena, f);
    sv_status status = live == NULL ? SV_NO_MEMORY : sv__fits_infiniband(ctx, f, live);
    sv_arena_release(&arena);
    if (status == SV_OK && f->live_channels == 0)
        status = sv_fail(ctx, SV_INFEASIBLE,
                         "a fabric without cables cannot be written in this "
                         "format");
    return status == SV_OK ? check_names(ctx, f) : status;
}

sv_status sv__write_subnet(sv_text *out, const sv_fabric *f)
{
    uint32_t lost = 0;
    SV_TRY(check_fabric(out->ctx, f));
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        lost += sv_node_alive(f, (sv_node){v}) && sv_degree(f, (sv_node){v}) == 0;
        SV_FOR_HOPS (f, ((sv_node){v}), hop) {
            write_port(out, f, (sv_node){v}, f->port[hop->channel.i]);
            sv_text_print(out, " ");
            write_port(out, f, hop->to, f->port[f->reverse[hop->channel.i].i]);
            write_link(out, sv_link_of(f, hop->channel));
        }
    }
    if (lost > 0)
        sv_warn(out->ctx, "%u node(s) without a cable cannot be written in this format", lost);
    return out->status;
}
