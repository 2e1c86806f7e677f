/*
 * psl.c: the service level of each path.
 *
 *     0x<port guid of the source> <destination LID> <SL>
 *     @0x<switch guid> <destination LID> <SL>      for the switch and all its terminals
 *     * <destination LID> <SL>                     for everybody
 *
 * LIDs and SLs are decimal; the more specific line wins, wherever it stands; # starts a comment.
 * What no line tells is not known. ibdmchk's own form has the GUID of the source's node instead of
 * its port's, and no other kinds of lines.
 *
 * SLs are worth nothing without the forwarding tables that they were made for: proven together, the
 * same SLs beside other tables can deadlock. OpenSM, which dumps those, knows nothing of this file.
 * So one comment says which tables they are:
 *
 *     # selvage forwarding 0123456789abcdef
 *
 * a sum over all entries (switch, LID, port); a file beside other tables is refused. Files without
 * such a line are accepted.
 *
 * Idea: the three kinds are kept apart while reading; the smallest form that holds all of them is
 * then filled from the general to the specific.
 *
 * Cost: linear in the text; memory as the form (routes.h).
 */
#include <string.h>

#include "fabric/derive.h"
#include "formats/formats.h"
#include "formats/tables.h"

#define FORWARDING "# selvage forwarding "

/* ---- names ---- */

sv_status sv__names_are_own(sv_ctx *ctx, const sv_fabric *f)
{
    sv_map guids;
    sv_status status = SV_OK;
    sv_map_init(&guids, ctx);
    for (uint32_t v = 0; status == SV_OK && v < sv_num_nodes(f); v++) {
        uint64_t guid = sv_node_guid(f, (sv_node){v});
        uint32_t held = v;
        if (guid == 0 || !sv_node_alive(f, (sv_node){v}))
            continue;
        status = sv_map_add(&guids, guid, v, &held);
        if (status != SV_OK || held == v)
            continue;
        char first[240], second[240];
        sv_node_words(f, (sv_node){held}, first, sizeof first);
        sv_node_words(f, (sv_node){v}, second, sizeof second);
        status =
            sv_fail(ctx, SV_INFEASIBLE,
                    "%s and %s share their GUID 0x%016llx, by which files of tables tell nodes "
                    "apart",
                    first, second, (unsigned long long)guid);
    }
    sv_map_release(&guids);
    return status;
}

/* ---- reading ---- */

struct reader {
    sv__tables *t;
    sv_lines *lines;
    uint8_t *any;      /* [destinations] */
    uint8_t **special; /* [destinations]: NULL, or [switches] and then [nodes] */
    bool by_switch, by_node;
};

/* The place of a line that is for a switch (with its terminals) or one node. */
static uint8_t *place(struct reader *r, uint32_t d, uint32_t node, bool whole_switch)
{
    size_t switches = r->t->fabric->num_switches;
    if (r->special[d] == NULL) {
        size_t length = switches + sv_num_nodes(r->t->fabric);
        r->special[d] = SV_ARENA_NEW(&r->t->arena, uint8_t, length);
        if (r->special[d] == NULL)
            return NULL;
        memset(r->special[d], SV_NO_SL, length);
    }
    return &r->special[d][whole_switch ? node : switches + node];
}

/* The source of a line: the node, or SV_ABSENT for strangers. */
static sv_status read_source(struct reader *r, sv_scan *scan, bool *any, bool *whole_switch,
                             uint32_t *node)
{
    uint64_t guid;
    *any = sv_scan_char(scan, '*');
    *whole_switch = !*any && sv_scan_char(scan, '@');
    *node = SV_ABSENT;
    if (*any)
        return SV_OK;
    if (!sv_scan_text(scan, "0x") || !sv_scan_hex(scan, &guid))
        return sv_lines_fail(r->lines, "expected 0x<guid>, @0x<guid> or *");
    *node = sv_map_get(&r->t->switches, guid);
    if (*node == SV_ABSENT && !*whole_switch) {
        *node = sv_map_get(&r->t->terminals, guid);
        if (*node != SV_ABSENT)
            *node += r->t->fabric->num_switches;
    }
    if (*node == SV_ABSENT)
        sv__stranger(r->t, "0x%016llx", (unsigned long long)guid);
    return SV_OK;
}

/* A sum over all entries of forwarding tables, whatever their order. */
static uint64_t forwarding_sum(const sv_fabric *f, const sv_routes *r)
{
    uint64_t sum = 0;
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        if (r->lid[d] == 0 || !sv__is_told(f, r->node[d]))
            continue;
        for (uint32_t s = 0; s < f->num_switches; s++) {
            unsigned port = sv_route_port(r, (sv_node){s}, d);
            if (port == SV_NO_PORT || r->node[d].i == s || !sv__is_told(f, (sv_node){s}))
                continue;
            uint64_t entry = f->switches[s].guid + ((uint64_t)r->lid[d] << 8 | port);
            entry = (entry ^ entry >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
            entry = (entry ^ entry >> 27) * UINT64_C(0x94d049bb133111eb);
            sum += entry ^ entry >> 31;
        }
    }
    return sum;
}

/* A comment may say which forwarding tables these SLs are for. */
static sv_status read_comment(struct reader *r, sv_scan *scan)
{
    uint64_t sum;
    if (!sv_scan_text(scan, FORWARDING) || !sv_scan_hex(scan, &sum) ||
        sum == forwarding_sum(r->t->fabric, r->t->routes))
        return SV_OK;
    return sv_lines_fail(r->lines,
                         "these service levels are for other forwarding tables than those "
                         "beside them: dump both again, or remove this file");
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    bool any, whole_switch;
    uint32_t node;
    uint64_t lid, sl;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan))
        return SV_OK;
    if (*scan.at == '#')
        return read_comment(r, &scan);
    SV_TRY(read_source(r, &scan, &any, &whole_switch, &node));
    sv_scan_blanks(&scan);
    if (!sv_scan_number(&scan, SV_LID_MAX, &lid) || lid == 0)
        return sv_lines_fail(r->lines, "expected the LID of a destination");
    sv_scan_blanks(&scan);
    if (!sv_scan_number(&scan, 15, &sl))
        return sv_lines_fail(r->lines, "expected a service level of 0 to 15");
    sv_scan_blanks(&scan);
    if (!sv_scan_done(&scan) && *scan.at != '#')
        return sv_lines_fail(r->lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(&scan)));
    uint32_t d = r->t->by_lid[lid];
    if (d == SV_NONE) {
        sv__stranger(r->t, "LID %llu", (unsigned long long)lid);
        return SV_OK;
    }
    uint8_t *to = any ? &r->any[d] : NULL;
    if (!any && node == SV_ABSENT)
        return SV_OK;
    if (!any) {
        to = place(r, d, node, whole_switch);
        if (to == NULL)
            return SV_NO_MEMORY;
        r->by_switch |= whole_switch;
        r->by_node |= !whole_switch;
    }
    *to = (uint8_t)sl;
    return SV_OK;
}

/* The SL of a node for a destination: the most specific line. */
static uint8_t resolve(const struct reader *r, uint32_t d, uint32_t node)
{
    const sv_fabric *f = r->t->fabric;
    uint8_t sl = r->any[d];
    if (r->special[d] == NULL)
        return sl;
    uint32_t home = node < f->num_switches ? node : r->t->routes->home[node - f->num_switches];
    if (home != SV_NONE && r->special[d][home] != SV_NO_SL)
        sl = r->special[d][home];
    uint8_t own = r->special[d][f->num_switches + node];
    return own != SV_NO_SL ? own : sl;
}

/* Whether every live destination has the same SL for everybody. */
static bool is_constant(const struct reader *r)
{
    const sv_routes *t = r->t->routes;
    uint8_t first = SV_NO_SL;
    for (uint32_t d = 0; d < t->num_destinations; d++) {
        if (!sv_node_alive(r->t->fabric, t->node[d]) || t->lid[d] == 0)
            continue;
        if (first == SV_NO_SL)
            first = r->any[d];
        if (r->any[d] == SV_NO_SL || r->any[d] != first)
            return false;
    }
    r->t->routes->sl = first == SV_NO_SL ? 0 : first;
    return true;
}

static sv_status fill(struct reader *r)
{
    sv_ctx *ctx = r->t->ctx;
    sv_routes *t = r->t->routes;
    sv_sl_form form = r->by_node     ? SV_SL_BY_NODE
                      : r->by_switch ? SV_SL_BY_SWITCH
                                     : SV_SL_BY_DESTINATION;
    SV_TRY(sv_routes_set_sl_form(ctx, t, form));
    if (form == SV_SL_BY_DESTINATION) {
        uint8_t *row = sv_routes_sl_row(ctx, t, 0);
        if (row == NULL)
            return SV_NO_MEMORY;
        memcpy(row, r->any, t->num_destinations);
        if (is_constant(r))
            t->sl_form = SV_SL_CONSTANT;
        return SV_OK;
    }
    uint32_t length = t->num_switches + (form == SV_SL_BY_NODE ? t->num_terminals : 0);
    for (uint32_t d = 0; d < t->num_destinations; d++) {
        uint8_t *row = sv_routes_sl_row(ctx, t, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        for (uint32_t v = 0; v < length; v++)
            row[v] = resolve(r, d, v);
    }
    return SV_OK;
}

sv_status sv__read_psl(sv__tables *t, sv_lines *lines)
{
    uint32_t n = t->routes->num_destinations;
    struct reader r = {.t = t,
                       .lines = lines,
                       .any = SV_ARENA_NEW(&t->arena, uint8_t, n),
                       .special = SV_ARENA_NEW(&t->arena, uint8_t *, n)};
    if (r.any == NULL || r.special == NULL)
        return SV_NO_MEMORY;
    memset(r.any, SV_NO_SL, n);
    for (;;) {
        sv_span line;
        bool more;
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            return fill(&r);
        SV_TRY(read_line(&r, line));
    }
}

/* ---- writing ---- */

/* Lines for one destination. */
static void write_destination(sv_text *out, const sv_fabric *f, const sv_routes *r, uint32_t d)
{
    unsigned form = r->sl_form, lid = r->lid[d];
    if (form == SV_SL_UNKNOWN)
        return;
    if (form == SV_SL_CONSTANT || form == SV_SL_BY_DESTINATION) {
        unsigned sl = sv_route_sl(r, r->node[d], d);
        if (sl != SV_NO_SL)
            sv_text_print(out, "* %u %u\n", lid, sl);
        return;
    }
    uint32_t length = r->num_switches + (form == SV_SL_BY_NODE ? r->num_terminals : 0);
    for (uint32_t v = 0; v < length; v++) {
        unsigned sl = r->sls[d][v];
        if (sl != SV_NO_SL && sv__is_told(f, (sv_node){v}))
            sv_text_print(out, "%s0x%016llx %u %u\n", form == SV_SL_BY_SWITCH ? "@" : "",
                          (unsigned long long)sv_node_guid(f, (sv_node){v}), lid, sl);
    }
}

sv_status sv__write_psl(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    sv_text_print(out, FORWARDING "%016llx\n", (unsigned long long)forwarding_sum(f, r));
    for (uint32_t d = 0; d < r->num_destinations && out->status == SV_OK; d++)
        if (r->lid[d] != 0 && sv__is_told(f, r->node[d]))
            write_destination(out, f, r, d);
    return out->status;
}

/* The lines of one adapter, whose terminals are linked from first on. */
static sv_status write_adapter(sv_text *out, const sv_fabric *f, const sv_routes *r, uint32_t a,
                               uint32_t first, const uint32_t *next)
{
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        unsigned agreed = SV_NO_SL;
        for (uint32_t t = first; t != SV_NONE; t = next[t]) {
            sv_node v = {f->num_switches + t};
            if (!sv_node_alive(f, v) || r->lid[d] == 0)
                continue;
            unsigned sl = sv_route_sl(r, v, d);
            if (agreed != SV_NO_SL && sl != agreed)
                return sv_fail(out->ctx, SV_INFEASIBLE,
                               "ports of \"%s\" use different service levels for LID %u, which "
                               "ibdmchk cannot be told",
                               f->adapters[a].name, r->lid[d]);
            agreed = sl;
        }
        if (agreed != SV_NO_SL)
            sv_text_print(out, "0x%016llx %u %u\n", (unsigned long long)f->adapters[a].guid,
                          r->lid[d], agreed);
    }
    return out->status;
}

sv_status sv__write_ibdmchk_psl(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    sv_arena arena;
    sv_arena_init(&arena, out->ctx);
    /* Terminals of an adapter need not stand side by side: they are linked. */
    uint32_t *first = SV_ARENA_NEW(&arena, uint32_t, f->num_adapters);
    uint32_t *next = SV_ARENA_NEW(&arena, uint32_t, f->num_terminals);
    sv_status status = first == NULL || next == NULL ? SV_NO_MEMORY : SV_OK;
    for (uint32_t a = 0; status == SV_OK && a < f->num_adapters; a++)
        first[a] = SV_NONE;
    for (uint32_t t = f->num_terminals; status == SV_OK && t-- > 0;) {
        next[t] = first[f->terminals[t].adapter];
        first[f->terminals[t].adapter] = t;
    }
    bool *live = status == SV_OK ? sv_live_adapters(&arena, f) : NULL;
    if (status == SV_OK)
        status = live == NULL ? SV_NO_MEMORY : sv__fits_infiniband(out->ctx, f, live);
    for (uint32_t a = 0; status == SV_OK && a < f->num_adapters; a++)
        status = write_adapter(out, f, r, a, first[a], next);
    sv_arena_release(&arena);
    return status;
}
