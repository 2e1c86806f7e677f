/*
 * sl2vl.c: which VL each service level takes: OpenSM's opensm-sl2vl.dump.
 *
 *     Switch 0x02005e1a00000001, base LID 2, "sw0-0"
 *     #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 *     #--------------------------------------------------------
 *     0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
 *
 * and so on for every in port (0: the switch itself) and out port; an adapter's port ("Channel
 * Adapter", port GUID) has the one row "0 0". VL 15 is the management VL: data is discarded.
 * What a file does not tell goes to VL 0.
 *
 * Cost: linear in the text.
 */
#include <stdio.h>
#include <string.h>

#include "base/bitset.h"
#include "formats/tables.h"

/* ---- reading ---- */

struct reader {
    sv__tables *t;
    sv_lines *lines;
    uint32_t node; /* whose table it is; SV_ABSENT: a stranger's */
    bool inside;
    uint32_t last_table; /* of the previous row: rows are mostly alike */
};

static sv_status begin_node(struct reader *r, sv_scan scan, bool is_switch)
{
    uint64_t guid;
    if (!sv_scan_hex(&scan, &guid))
        return sv_lines_fail(r->lines, "a guid is missing");
    r->inside = true;
    r->node = sv_map_get(is_switch ? &r->t->switches : &r->t->terminals, guid);
    if (r->node == SV_ABSENT)
        sv__stranger(r->t, "0x%016llx", (unsigned long long)guid);
    else if (!is_switch)
        r->node += r->t->fabric->num_switches;
    return SV_OK;
}

static sv_status read_vls(struct reader *r, sv_scan *scan, sv_sl2vl *vls)
{
    memset(vls, 0, sizeof *vls);
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
        uint64_t vl;
        sv_scan_blanks(scan);
        if (!sv_scan_number(scan, 15, &vl))
            return sv_lines_fail(r->lines, "expected 16 VLs of 0 to 15, found %u", sl);
        vls->of_sl[sl] = vl == 15 ? SV_NO_VL : (uint8_t)vl;
    }
    sv_scan_blanks(scan);
    if (!sv_scan_done(scan))
        return sv_lines_fail(r->lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(scan)));
    return SV_OK;
}

static sv_status set_vls(struct reader *r, unsigned in, unsigned out, const sv_sl2vl *vls)
{
    sv_routes *routes = r->t->routes;
    const sv_fabric *f = r->t->fabric;
    uint32_t table = r->last_table;
    if (memcmp(&routes->vl_tables[table], vls, sizeof *vls) != 0)
        table = sv_routes_sl2vl_table(r->t->ctx, routes, vls);
    if (table == SV_NONE)
        return SV_NO_MEMORY;
    r->last_table = table;
    if (r->node >= f->num_switches) {
        routes->vls_of[r->node] = (uint16_t)table;
        return SV_OK;
    }
    unsigned ports = f->switches[r->node].ports;
    if (in > ports || out > ports)
        return sv_lines_fail(r->lines, "port %u of switch \"%s\", which has %u",
                             in > ports ? in : out, f->switches[r->node].name, ports);
    return sv_routes_set_sl2vl(r->t->ctx, f, routes, (sv_node){r->node}, in, out, table);
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    uint64_t in, out;
    sv_sl2vl vls;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#')
        return SV_OK;
    if (sv_scan_text(&scan, "Switch 0x"))
        return begin_node(r, scan, true);
    if (sv_scan_text(&scan, "Channel Adapter 0x") || sv_scan_text(&scan, "Router 0x"))
        return begin_node(r, scan, false);
    if (!sv_scan_number(&scan, 255, &in))
        return sv_lines_fail(r->lines, "neither a node nor a row of VLs: '%.*s'", SV_SPAN(line));
    sv_scan_blanks(&scan);
    if (!r->inside || !sv_scan_number(&scan, 255, &out))
        return sv_lines_fail(r->lines,
                             r->inside ? "expected an out port" : "a row before any node");
    sv_scan_blanks(&scan);
    if (!sv_scan_char(&scan, ':'))
        return sv_lines_fail(r->lines, "expected ':' after the ports");
    SV_TRY(read_vls(r, &scan, &vls));
    return r->node == SV_ABSENT ? SV_OK : set_vls(r, (unsigned)in, (unsigned)out, &vls);
}

/* Port 0 is no way out. */
void sv__simplify_vls(const sv_fabric *f, sv_routes *r)
{
    for (uint32_t s = 0; s < r->num_switches; s++) {
        size_t ports = f->switches[s].ports + 1u;
        const uint16_t *by_ports = r->sl2vl_by_port[s];
        bool alike = by_ports != NULL && ports > 1;
        for (size_t i = 0; alike && i < ports * ports; i++)
            alike = i % ports == 0 || by_ports[i] == by_ports[1];
        if (alike) {
            r->vls_of[s] = by_ports[1];
            r->sl2vl_by_port[s] = NULL;
            sv_bit_clear(r->own_vls, s);
        }
    }
}

sv_status sv__read_sl2vl(sv__tables *t, sv_lines *lines)
{
    struct reader r = {.t = t, .lines = lines};
    for (;;) {
        sv_span line;
        bool more;
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            break;
        SV_TRY(read_line(&r, line));
    }
    if (!r.inside)
        return sv_lines_fail(lines, "no table of VLs in the file");
    sv__simplify_vls(t->fabric, t->routes);
    t->routes->sl2vl_known = true;
    return SV_OK;
}

/* ---- writing ---- */

static const char rule[] = "#--------------------------------------------------------\n";

static void write_row(sv_text *out, unsigned in, unsigned to, const sv_sl2vl *vls)
{
    char line[128];
    size_t used = (size_t)snprintf(line, sizeof line, "%-3u %-3u : ", in, to);
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
        unsigned vl = vls->of_sl[sl] == SV_NO_VL ? 15 : vls->of_sl[sl];
        used += (size_t)snprintf(line + used, sizeof line - used, "%-2u ", vl);
    }
    line[used++] = '\n';
    sv_text_add(out, line, used);
}

static void write_head(sv_text *out, const char *kind, uint64_t guid, unsigned lid,
                       const char *name)
{
    sv_text_print(out, "%s 0x%016llx, base LID %u, \"%s\"\n", kind, (unsigned long long)guid, lid,
                  name);
    sv_text_print(out, "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n%s", rule);
}

sv_status sv__write_sl2vl(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    for (uint32_t s = 0; s < f->num_switches && out->status == SV_OK; s++) {
        sv_node v = {s};
        if (!sv__is_told(f, v))
            continue;
        write_head(out, "Switch", f->switches[s].guid, r->lid[r->first[s]], f->switches[s].name);
        for (unsigned to = 1; to <= f->switches[s].ports; to++)
            for (unsigned in = 0; in <= f->switches[s].ports; in++)
                write_row(out, in, to, sv_route_sl2vl(r, f, v, in, to));
        sv_text_print(out, "%s\n", rule);
    }
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t};
        if (!sv__is_told(f, v))
            continue;
        bool router = f->adapters[f->terminals[t].adapter].kind == SV_ADAPTER_ROUTER;
        write_head(out, router ? "Router" : "Channel Adapter", f->terminals[t].guid,
                   r->lid[r->first[v.i]], sv_node_name(f, v));
        write_row(out, 0, 0, sv_route_sl2vl(r, f, v, 0, 0));
        sv_text_print(out, "%s\n", rule);
    }
    return out->status;
}
