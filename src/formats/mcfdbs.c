/*
 * mcfdbs.c: multicast tables: OpenSM's opensm.mcfdbs.
 *
 *     Switch 0x02005e1a00000001
 *     LID    : Out Port(s)
 *     0xC000 : 0x001 0x003
 *
 * MLIDs and ports are hexadecimal. A file without groups is empty.
 *
 * Cost: linear in the text, plus groups × switches.
 */
#include "formats/tables.h"

enum { FIRST_MLID = 0xc000, LAST_MLID = 0xfffe };

struct reader {
    sv__tables *t;
    sv_lines *lines;
    sv_map groups; /* MLID to number */
    uint32_t at;   /* switch, or SV_ABSENT */
    bool inside;
};

static sv_status find_group(struct reader *r, uint64_t mlid, sv_group **group)
{
    uint32_t held, number = r->t->routes->num_groups;
    SV_TRY(sv_map_add(&r->groups, mlid, number, &held));
    if (held != number) {
        *group = &r->t->routes->groups[held];
        return SV_OK;
    }
    return sv_routes_add_group(r->t->ctx, r->t->routes, (unsigned)mlid, group);
}

static sv_status read_ports(struct reader *r, sv_scan scan, uint64_t mlid)
{
    sv_group *group;
    if (mlid < FIRST_MLID || mlid > LAST_MLID)
        return sv_lines_fail(r->lines, "0x%llx is no multicast LID", (unsigned long long)mlid);
    if (r->at == SV_ABSENT)
        return SV_OK;
    SV_TRY(find_group(r, mlid, &group));
    for (;;) {
        uint64_t port;
        sv_scan_blanks(&scan);
        if (sv_scan_done(&scan))
            return SV_OK;
        if (!sv_scan_text(&scan, "0x") || !sv_scan_hex(&scan, &port))
            return sv_lines_fail(r->lines, "expected ports, found '%.*s'",
                                 SV_SPAN(sv_scan_rest(&scan)));
        const sv_switch_info *s = &r->t->fabric->switches[r->at];
        if (port > s->ports)
            return sv_lines_fail(r->lines, "port %llu of switch \"%s\", which has %u",
                                 (unsigned long long)port, s->name, s->ports);
        group->ports[r->at][port >> 6] |= (uint64_t)1 << (port & 63);
    }
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    uint64_t number;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#' || sv_scan_text(&scan, "LID"))
        return SV_OK;
    if (sv_scan_text(&scan, "Switch 0x")) {
        if (!sv_scan_hex(&scan, &number))
            return sv_lines_fail(r->lines, "a guid is missing");
        r->inside = true;
        r->at = sv_map_get(&r->t->switches, number);
        if (r->at == SV_ABSENT)
            sv__stranger(r->t, "switch 0x%016llx", (unsigned long long)number);
        return SV_OK;
    }
    if (!r->inside || !sv_scan_text(&scan, "0x") || !sv_scan_hex(&scan, &number))
        return sv_lines_fail(r->lines, "neither a switch nor a group: '%.*s'", SV_SPAN(line));
    sv_scan_blanks(&scan);
    if (!sv_scan_char(&scan, ':'))
        return sv_lines_fail(r->lines, "expected ':' after the MLID");
    return read_ports(r, scan, number);
}

sv_status sv__read_mcfdbs(sv__tables *t, sv_lines *lines)
{
    struct reader r = {.t = t, .lines = lines};
    sv_status status = SV_OK;
    sv_map_init(&r.groups, t->ctx);
    for (bool more = true; status == SV_OK && more;) {
        sv_span line;
        status = sv_lines_next(lines, &line, &more);
        if (status == SV_OK && more)
            status = read_line(&r, line);
    }
    sv_map_release(&r.groups);
    return status;
}

sv_status sv__write_mcfdbs(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    for (uint32_t s = 0; s < f->num_switches && r->num_groups > 0; s++) {
        if (!sv__is_told(f, (sv_node){s}))
            continue;
        sv_text_print(out, "\nSwitch 0x%016llx\nLID    : Out Port(s)\n",
                      (unsigned long long)f->switches[s].guid);
        for (uint32_t g = 0; g < r->num_groups; g++) {
            const uint64_t *ports = r->groups[g].ports[s];
            if ((ports[0] | ports[1] | ports[2] | ports[3]) == 0)
                continue;
            sv_text_print(out, "0x%04X :", r->groups[g].mlid);
            for (unsigned p = 0; p < 256; p++)
                if (ports[p >> 6] >> (p & 63) & 1)
                    sv_text_print(out, " 0x%03X", p);
            sv_text_print(out, " \n");
        }
    }
    return out->status;
}
