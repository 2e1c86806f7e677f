/*
 * qos.c: VL arbitration, as lines for OpenSM's configuration file:
 *
 *     qos_ca_high_limit 0
 *     qos_ca_vlarb_high 0:4,1:4
 *     qos_ca_vlarb_low 0:0,1:4
 *
 * with ca, swe (switches) and sw0 (their own ports). Other lines of such a file are left alone.
 * Tables without arbitration of their own make a file with a comment only.
 */
#include <stdio.h>
#include <string.h>

#include "formats/tables.h"

static const char *const who_names[] = {"ca", "swe", "sw0"};

/* "0:4,1:4" */
static sv_status read_table(sv_lines *lines, sv_scan *scan, sv_vlarb_table *table)
{
    *table = (sv_vlarb_table){0};
    for (;;) {
        uint64_t vl, weight;
        if (table->length == 64 || !sv_scan_number(scan, 14, &vl) || !sv_scan_char(scan, ':') ||
            !sv_scan_number(scan, 255, &weight))
            return sv_lines_fail(lines, "expected up to 64 of LANE:WEIGHT, with commas");
        table->vl[table->length] = (uint8_t)vl;
        table->weight[table->length++] = (uint8_t)weight;
        if (!sv_scan_char(scan, ',')) {
            sv_scan_blanks(scan);
            return sv_scan_done(scan) || *scan->at == '#'
                       ? SV_OK
                       : sv_lines_fail(lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(scan)));
        }
    }
}

static sv_status read_line(sv__tables *t, sv_lines *lines, sv_span line)
{
    for (int who = 0; who < SV_VLARB_COUNT; who++) {
        sv_scan scan = sv_scan_of(line);
        sv_vlarb *v = &t->routes->vlarb[who];
        uint64_t limit;
        sv_scan_blanks(&scan);
        if (!sv_scan_text(&scan, "qos_") || !sv_scan_text(&scan, who_names[who]))
            continue;
        bool is_limit = sv_scan_text(&scan, "_high_limit");
        bool is_high = !is_limit && sv_scan_text(&scan, "_vlarb_high");
        bool is_low = !is_limit && !is_high && sv_scan_text(&scan, "_vlarb_low");
        const char *end = scan.at;
        sv_scan_blanks(&scan);
        if (!(is_limit || is_high || is_low) || scan.at == end || sv_scan_text(&scan, "(null)"))
            return SV_OK; /* something else, or not set */
        if (is_limit && !sv_scan_number(&scan, 255, &limit))
            return sv_lines_fail(lines, "expected a limit of 0 to 255");
        if (is_limit)
            v->high_limit = (uint8_t)limit;
        else
            SV_TRY(read_table(lines, &scan, is_high ? &v->high : &v->low));
        v->given = true;
    }
    return SV_OK;
}

sv_status sv__read_qos(sv__tables *t, sv_lines *lines)
{
    for (;;) {
        sv_span line;
        bool more;
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            return SV_OK;
        SV_TRY(read_line(t, lines, line));
    }
}

static void write_table(sv_text *out, const char *who, const char *which,
                        const sv_vlarb_table *table)
{
    sv_text_print(out, "qos_%s_vlarb_%s ", who, which);
    for (unsigned i = 0; i < table->length; i++)
        sv_text_print(out, "%s%u:%u", i > 0 ? "," : "", table->vl[i], table->weight[i]);
    sv_text_print(out, "\n");
}

sv_status sv__write_qos(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    (void)f;
    sv_text_print(out, "# VL arbitration, for opensm.conf\n");
    for (int who = 0; who < SV_VLARB_COUNT; who++) {
        const sv_vlarb *v = &r->vlarb[who];
        if (!v->given)
            continue;
        sv_text_print(out, "qos_%s_high_limit %u\n", who_names[who], v->high_limit);
        if (v->high.length > 0)
            write_table(out, who_names[who], "high", &v->high);
        if (v->low.length > 0)
            write_table(out, who_names[who], "low", &v->low);
    }
    return out->status;
}
