/*
 * orders.c: selvage.orders: why tables cannot deadlock, for a later repair.
 *
 *     selvage-orders 1
 *     lanes 2
 *     # comments
 *     0x<guid> <port> <number of VL 0> <number of VL 1>
 *
 * A line a port of a switch that leads to another, or did once. A number may be '-': none. Numbers
 * are believed by nobody: sv_repair holds all paths against them.
 *
 * Cost: linear in the text.
 */
#include "formats/tables.h"

/* ---- reading ---- */

static sv_status read_head(sv_lines *lines, uint64_t *vls)
{
    sv_span line;
    bool more = true;
    do /* the generation of the set, say */
        SV_TRY(sv_lines_next(lines, &line, &more));
    while (more && line.length > 0 && line.at[0] == '#');
    if (!more || !sv_span_is(line, "selvage-orders 1"))
        return sv_lines_fail(lines, "not orders: they begin with \"selvage-orders 1\"");
    SV_TRY(sv_lines_next(lines, &line, &more));
    sv_scan scan = sv_scan_of(line);
    if (!more || !sv_scan_text(&scan, "lanes ") || !sv_scan_number(&scan, SV_MAX_VLS, vls) ||
        *vls == 0 || !sv_scan_done(&scan))
        return sv_lines_fail(lines, "expected \"lanes N\", N from 1 to %d", SV_MAX_VLS);
    return SV_OK;
}

static sv_status read_line(sv__tables *t, sv_lines *lines, sv_scan *scan, uint32_t *numbers)
{
    const sv_routes *r = t->routes;
    uint64_t guid, port;
    bool good = sv_scan_text(scan, "0x") && sv_scan_hex(scan, &guid);
    sv_scan_blanks(scan);
    if (!good || !sv_scan_number(scan, SV_MAX_PORTS, &port) || port == 0)
        return sv_lines_fail(lines, "expected 0x<guid> <port> and %u numbers", r->order_vls);
    uint32_t s = sv_map_get(&t->switches, guid), unused[SV_MAX_VLS];
    bool known = s != SV_ABSENT && port <= t->fabric->switches[s].ports;
    uint32_t *to = known ? numbers + (r->order_first[s] + port) * r->order_vls : unused;
    if (!known)
        sv__stranger(t, "0x%016llx port %llu", (unsigned long long)guid, (unsigned long long)port);
    for (unsigned l = 0; l < r->order_vls; l++) {
        uint64_t number = SV_NONE;
        sv_scan_blanks(scan);
        if (!sv_scan_char(scan, '-') && !sv_scan_number(scan, SV_NONE - 1, &number))
            return sv_lines_fail(lines, "expected %u numbers (or '-')", r->order_vls);
        to[l] = (uint32_t)number;
    }
    sv_scan_blanks(scan);
    if (!sv_scan_done(scan) && *scan->at != '#')
        return sv_lines_fail(lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(scan)));
    return SV_OK;
}

sv_status sv__read_orders(sv__tables *t, sv_lines *lines)
{
    uint64_t vls;
    uint32_t *numbers;
    SV_TRY(read_head(lines, &vls));
    SV_TRY(sv_routes_set_orders(t->ctx, t->fabric, t->routes, (unsigned)vls, &numbers));
    for (;;) {
        sv_span line;
        bool more;
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            return SV_OK;
        sv_scan scan = sv_scan_of(line);
        sv_scan_blanks(&scan);
        if (!sv_scan_done(&scan) && *scan.at != '#')
            SV_TRY(read_line(t, lines, &scan, numbers));
    }
}

/* ---- writing ---- */

static void write_port(sv_text *out, const sv_fabric *f, const sv_routes *r, uint32_t s,
                       unsigned port)
{
    const uint32_t *numbers = sv_route_order(r, (sv_node){s}, port);
    bool any = false;
    for (unsigned l = 0; l < r->order_vls; l++)
        any |= numbers[l] != SV_NONE;
    if (!any)
        return;
    sv_text_print(out, "0x%016llx %u", (unsigned long long)f->switches[s].guid, port);
    for (unsigned l = 0; l < r->order_vls; l++)
        if (numbers[l] == SV_NONE)
            sv_text_print(out, " -");
        else
            sv_text_print(out, " %u", numbers[l]);
    sv_text_print(out, "\n");
}

sv_status sv__write_orders(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    sv_text_print(out, "selvage-orders 1\nlanes %u\n", r->order_vls);
    for (uint32_t s = 0; s < f->num_switches && out->status == SV_OK; s++)
        for (unsigned port = 1; port <= f->switches[s].ports && sv__is_told(f, (sv_node){s});
             port++)
            write_port(out, f, r, s, port);
    return out->status;
}
