/*
 * lfts.c: forwarding tables: OpenSM's opensm-lfts.dump and opensm.fdbs.
 *
 * opensm-lfts.dump, which "opensm -R file -U" loads:
 *
 *     Unicast lids [0-31] of switch Lid 4 guid 0x02005e1a00000001 ('sw0-0'):
 *     0x0002 001 # Channel Adapter portguid 0x02005e1b00000011: 'host0'
 *     …
 *     31 lids dumped
 *
 * LIDs are hexadecimal, ports decimal. The port GUIDs behind # tell which LIDs belong to one
 * terminal. opensm.fdbs, which ibdmchk reads:
 *
 *     dump_ucast_routes: Switch 0x02005e1a00000001
 *     LID    : Port : Hops : Optimal
 *     0x0001 : UNREACHABLE
 *     0x0002 : 001  : 01   : yes
 *
 * has no such hints: there a terminal has 2^LMC LIDs if that accounts for every LID in the tables.
 *
 * Idea: tables are first kept by switch and LID, as they come, since only all of them together tell
 * the LMC; then turned into rows.
 *
 * Cost: linear in the text and in switches × LIDs.
 */
#include <string.h>

#include "base/array.h"
#include "formats/tables.h"

/* ---- reading ---- */

struct reader {
    sv__tables *t;
    sv_lines *lines;
    uint8_t **ports; /* [switches][SV_LID_MAX + 1], NULL without a table */
    uint8_t *kind;   /* [SV_LID_MAX + 1]: what is known of a LID */
    uint32_t *owner; /* [SV_LID_MAX + 1]: the node a comment names, or SV_NONE */
    uint32_t top;    /* the highest LID with an entry */
    uint32_t at;     /* the switch whose table is being read; SV_NONE: one to be skipped */
    bool inside;     /* a table has begun */
};

enum { UNUSED, ENTRY, NAMED };

static sv_status begin_table(struct reader *r, uint64_t guid)
{
    r->inside = true;
    r->at = sv_map_get(&r->t->switches, guid);
    if (r->at == SV_ABSENT) {
        sv__stranger(r->t, "switch 0x%016llx", (unsigned long long)guid);
        return SV_OK;
    }
    if (r->ports[r->at] != NULL)
        return sv_lines_fail(r->lines, "a second table of switch 0x%016llx",
                             (unsigned long long)guid);
    r->ports[r->at] = SV_ARENA_NEW(&r->t->arena, uint8_t, SV_LID_MAX + 1);
    if (r->ports[r->at] == NULL)
        return SV_NO_MEMORY;
    memset(r->ports[r->at], SV_NO_PORT, SV_LID_MAX + 1);
    return SV_OK;
}

/* A comment tells whose LID it is. */
static void note_owner(struct reader *r, uint64_t lid, uint64_t guid)
{
    uint32_t v = sv_map_get(&r->t->switches, guid);
    if (v == SV_ABSENT) {
        v = sv_map_get(&r->t->terminals, guid);
        if (v != SV_ABSENT)
            v += r->t->fabric->num_switches;
    }
    r->kind[lid] = NAMED;
    r->owner[lid] = v;
}

/* An entry; guid 0: nobody told whose LID it is. */
static sv_status add_entry(struct reader *r, uint64_t lid, uint64_t port, uint64_t guid)
{
    if (!r->inside)
        return sv_lines_fail(r->lines, "an entry before the first switch");
    if (lid == 0 || lid > SV_LID_MAX)
        return sv_lines_fail(r->lines, "0x%llx is no unicast LID", (unsigned long long)lid);
    if (r->at == SV_ABSENT || (port == SV_NO_PORT && guid == 0))
        return SV_OK;
    const sv_switch_info *s = &r->t->fabric->switches[r->at];
    if (port != SV_NO_PORT && port > s->ports)
        return sv_lines_fail(r->lines, "port %llu of switch \"%s\", which has %u",
                             (unsigned long long)port, s->name, s->ports);
    if (r->ports[r->at][lid] != SV_NO_PORT)
        return sv_lines_fail(r->lines, "a second entry for LID 0x%04llx", (unsigned long long)lid);
    r->ports[r->at][lid] = (uint8_t)port;
    r->top = lid > r->top ? (uint32_t)lid : r->top;
    if (r->kind[lid] == UNUSED)
        r->kind[lid] = ENTRY;
    if (guid != 0)
        note_owner(r, lid, guid);
    return SV_OK;
}

/* "0x0002 001 # Channel Adapter portguid 0x…: 'host0'" */
static sv_status read_lft_entry(struct reader *r, sv_scan scan)
{
    uint64_t lid, port, guid = 0;
    sv_span skipped;
    if (!sv_scan_hex(&scan, &lid))
        return sv_lines_fail(r->lines, "expected a LID");
    sv_scan_blanks(&scan);
    if (!sv_scan_number(&scan, 255, &port))
        return sv_lines_fail(r->lines, "expected a port");
    sv_scan_blanks(&scan);
    if (!sv_scan_done(&scan) && *scan.at != '#')
        return sv_lines_fail(r->lines, "unexpected '%.*s'", SV_SPAN(sv_scan_rest(&scan)));
    while (sv_scan_until(&scan, ' ', &skipped))
        if (sv_scan_text(&scan, "portguid 0x")) {
            if (!sv_scan_hex(&scan, &guid))
                return sv_lines_fail(r->lines, "portguid without a GUID");
            break;
        }
    return add_entry(r, lid, port, guid);
}

/* "Unicast lids [0-31] of switch Lid 4 guid 0x… ('name'):" */
static sv_status read_lft_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    sv_span skipped;
    uint64_t guid, count;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#')
        return SV_OK;
    if (sv_scan_text(&scan, "Unicast lids")) {
        while (sv_scan_until(&scan, ' ', &skipped))
            if (sv_scan_text(&scan, "guid 0x"))
                return sv_scan_hex(&scan, &guid) ? begin_table(r, guid)
                                                 : sv_lines_fail(r->lines, "a guid is missing");
        return sv_lines_fail(r->lines, "a table without the guid of its switch");
    }
    if (sv_scan_text(&scan, "0x"))
        return read_lft_entry(r, scan);
    if (sv_scan_number(&scan, UINT32_MAX, &count) && sv_scan_text(&scan, " ") &&
        (sv_scan_text(&scan, "lids dumped") || sv_scan_text(&scan, "valid lids dumped"))) {
        r->inside = false;
        return SV_OK;
    }
    return sv_lines_fail(r->lines, "neither a switch nor an entry: '%.*s'", SV_SPAN(line));
}

/* "dump_ucast_routes: Switch 0x…", "0x0002 : 001  : 01   : yes", "0x0001 : UNREACHABLE" */
static sv_status read_fdb_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    uint64_t guid, lid, port;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || sv_scan_text(&scan, "LID"))
        return SV_OK;
    if (sv_scan_text(&scan, "dump_ucast_routes: Switch 0x"))
        return sv_scan_hex(&scan, &guid) ? begin_table(r, guid)
                                         : sv_lines_fail(r->lines, "a guid is missing");
    if (!sv_scan_text(&scan, "0x") || !sv_scan_hex(&scan, &lid))
        return sv_lines_fail(r->lines, "neither a switch nor an entry: '%.*s'", SV_SPAN(line));
    sv_scan_blanks(&scan);
    if (!sv_scan_char(&scan, ':'))
        return sv_lines_fail(r->lines, "expected ':' after the LID");
    sv_scan_blanks(&scan);
    if (sv_scan_text(&scan, "UNREACHABLE"))
        return SV_OK;
    if (!sv_scan_number(&scan, 255, &port))
        return sv_lines_fail(r->lines, "expected a port");
    return add_entry(r, lid, port, 0);
}

static uint32_t base_lid(const sv_fabric *f, uint32_t v)
{
    return v < f->num_switches ? f->switches[v].lid : f->terminals[v - f->num_switches].lid;
}

/* Gives LIDs that files name no owner of to the node whose base LID is the next below. */
static void guess_owners(struct reader *r)
{
    const sv_fabric *f = r->t->fabric;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        uint32_t lid = base_lid(f, v);
        if (lid > 0 && lid <= SV_LID_MAX && sv_node_alive(f, (sv_node){v}) &&
            r->kind[lid] != NAMED) {
            r->kind[lid] = NAMED;
            r->owner[lid] = v;
        }
    }
    for (uint32_t lid = 1, last = SV_NONE; lid <= r->top; lid++) {
        if (r->kind[lid] == NAMED)
            last = r->owner[lid];
        else if (r->kind[lid] == ENTRY && last != SV_NONE && last >= f->num_switches &&
                 lid - base_lid(f, last) < 128)
            r->owner[lid] = last;
    }
}

/* How far a LID is from the base LID of the terminal that it is said to belong to; 0: not at all.
 */
static uint32_t offset_of(const struct reader *r, uint32_t lid)
{
    const sv_fabric *f = r->t->fabric;
    uint32_t v = r->owner[lid];
    if (r->kind[lid] == UNUSED || v == SV_NONE || v < f->num_switches)
        return 0;
    uint32_t base = base_lid(f, v);
    return base == 0 || lid < base || lid - base > 127 ? 0 : lid - base;
}

/*
 * The LMC of the terminals: the least that reaches all LIDs said to be theirs, if it accounts for
 * more than half of what it promises. Otherwise those LIDs are left over from something else.
 */
static unsigned find_lmc(const struct reader *r)
{
    const sv_fabric *f = r->t->fabric;
    unsigned lmc = 0;
    uint64_t there = 0, terminals = 0;
    for (uint32_t lid = 1; lid <= r->top; lid++) {
        uint32_t offset = offset_of(r, lid);
        there += offset > 0;
        while (offset >> lmc != 0)
            lmc++;
    }
    for (uint32_t t = 0; t < f->num_terminals; t++)
        terminals += f->terminals[t].lid != 0;
    return 2 * there > terminals * ((1u << lmc) - 1) ? lmc : 0;
}

static sv_status make_routes(struct reader *r)
{
    sv__tables *t = r->t;
    const sv_fabric *f = t->fabric;
    guess_owners(r);
    unsigned lmc = find_lmc(r);
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
        if (base_lid(f, v) % (1u << lmc) != 0) {
            sv_warn(t->ctx,
                    "LID %u of \"%s\" does not fit an LMC of %u: one LID a terminal assumed",
                    base_lid(f, v), sv_node_name(f, (sv_node){v}), lmc);
            lmc = 0;
        }
    SV_TRY(sv_routes_new(t->ctx, f, lmc, &t->routes));
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        for (uint32_t d = t->routes->first[v], lid = base_lid(f, v);
             lid > 0 && d < t->routes->first[v + 1] && sv_node_alive(f, (sv_node){v}); d++)
            t->routes->lid[d] = (uint16_t)lid++;
    SV_TRY(sv__tables_index(t));
    for (uint32_t d = 0; d < t->routes->num_destinations; d++) {
        uint32_t lid = t->routes->lid[d];
        if (lid == 0 || lid > SV_LID_MAX)
            continue;
        uint8_t *row = sv_routes_row(t->ctx, t->routes, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        for (uint32_t s = 0; s < f->num_switches; s++)
            row[s] = r->ports[s] == NULL ? SV_NO_PORT : r->ports[s][lid];
    }
    for (uint32_t lid = 1; lid <= r->top; lid++)
        if (r->kind[lid] != UNUSED && t->by_lid[lid] == SV_NONE)
            sv__stranger(t, "LID %u", lid);
    return SV_OK;
}

/* Which of the two formats it is, from the first line that is neither empty nor a comment. */
static bool is_fdb(sv_span start)
{
    for (bool comment = false; start.length > 0; start.at++, start.length--) {
        comment = *start.at != '\n' && (comment || *start.at == '#');
        if (!comment && *start.at != '\n' && *start.at != '\r' && *start.at != ' ')
            break;
    }
    return start.length >= 4 && memcmp(start.at, "dump", 4) == 0;
}

sv_status sv__read_lfts(sv__tables *t, sv_lines *lines)
{
    sv_span start, line;
    bool more, fdb, any = false;
    struct reader r = {.t = t,
                       .lines = lines,
                       .ports = SV_ARENA_NEW(&t->arena, uint8_t *, t->fabric->num_switches),
                       .kind = SV_ARENA_NEW(&t->arena, uint8_t, SV_LID_MAX + 1),
                       .owner = SV_ARENA_NEW(&t->arena, uint32_t, SV_LID_MAX + 1)};
    if (r.ports == NULL || r.kind == NULL || r.owner == NULL)
        return SV_NO_MEMORY;
    for (uint32_t lid = 0; lid <= SV_LID_MAX; lid++)
        r.owner[lid] = SV_NONE;
    SV_TRY(sv_lines_peek(lines, &start));
    fdb = is_fdb(start);
    for (;;) {
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            break;
        SV_TRY(fdb ? read_fdb_line(&r, line) : read_lft_line(&r, line));
        any |= r.inside;
    }
    if (!any)
        return sv_lines_fail(lines, "no forwarding table in the file");
    if (!fdb && r.inside)
        return sv_lines_fail(lines, "the last table does not end: is the file cut off?");
    return make_routes(&r);
}

/* ---- writing ---- */

/* Destinations by LID: [0 … *top], SV_NONE where nobody has it. */
static uint32_t *by_lid(sv_arena *arena, const sv_fabric *f, const sv_routes *r, uint32_t *top)
{
    uint32_t *map = SV_ARENA_NEW(arena, uint32_t, SV_LID_MAX + 1);
    *top = 0;
    for (uint32_t lid = 0; map != NULL && lid <= SV_LID_MAX; lid++)
        map[lid] = SV_NONE;
    for (uint32_t d = 0; map != NULL && d < r->num_destinations; d++)
        if (r->lid[d] != 0 && sv__is_told(f, r->node[d])) {
            map[r->lid[d]] = d;
            *top = r->lid[d] > *top ? r->lid[d] : *top;
        }
    return map;
}

static const char *kind_name(const sv_fabric *f, sv_node v)
{
    if (sv_is_switch(f, v))
        return "Switch";
    return f->adapters[sv_terminal_of(f, v)->adapter].kind == SV_ADAPTER_ROUTER ? "Router"
                                                                                : "Channel Adapter";
}

sv_status sv__write_lfts(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    sv_arena arena;
    uint32_t top;
    sv_arena_init(&arena, out->ctx);
    uint32_t *map = by_lid(&arena, f, r, &top);
    for (uint32_t s = 0; map != NULL && s < f->num_switches && out->status == SV_OK; s++) {
        if (!sv__is_told(f, (sv_node){s}))
            continue;
        sv_text_print(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016llx ('%s'):\n", top,
                      r->lid[r->first[s]], (unsigned long long)f->switches[s].guid,
                      f->switches[s].name);
        for (uint32_t lid = 1; lid <= top; lid++) {
            uint32_t d = map[lid];
            if (d == SV_NONE || r->ports[d][s] == SV_NO_PORT)
                continue;
            sv_text_print(out, "0x%04x %03u # %s portguid 0x%016llx: '%s'\n", lid, r->ports[d][s],
                          kind_name(f, r->node[d]), (unsigned long long)sv_node_guid(f, r->node[d]),
                          sv_node_name(f, r->node[d]));
        }
        sv_text_print(out, "%u lids dumped\n", top);
    }
    sv_arena_release(&arena);
    return map == NULL ? SV_NO_MEMORY : out->status;
}

/* Hops that packets from each switch take; SV_NONE where they do not arrive. */
static void count_hops(const sv_fabric *f, const sv_routes *r, const sv_portmap *ports, uint32_t d,
                       uint32_t *hops, uint32_t *path)
{
    const uint32_t fresh = UINT32_MAX - 1;
    sv_node to = r->node[d];
    for (uint32_t s = 0; s < f->num_switches; s++)
        hops[s] = fresh;
    for (uint32_t start = 0; start < f->num_switches; start++) {
        uint32_t length = 0, s = start, end = SV_NONE;
        /* A switch on the way is SV_NONE until the end is known, so a ring ends by itself. */
        for (;;) {
            if (hops[s] != fresh) {
                end = hops[s];
                break;
            }
            hops[s] = SV_NONE;
            path[length++] = s;
            sv_channel c = sv_portmap_at(ports, s, r->ports[d][s]);
            if (c.i == SV_NONE || !sv_is_switch(f, f->head[c.i])) {
                bool there =
                    c.i == SV_NONE ? s == to.i && r->ports[d][s] == 0 : f->head[c.i].i == to.i;
                end = there ? 0 : SV_NONE;
                hops[s] = there && c.i != SV_NONE ? 1 : end;
                end = hops[s];
                length--;
                break;
            }
            s = f->head[c.i].i;
        }
        while (length > 0) {
            end = end == SV_NONE ? SV_NONE : end + 1;
            hops[path[--length]] = end;
        }
    }
}

/* Fewest hops from every switch, for comparison. */
static void search(const sv_fabric *f, sv_node to, uint32_t *min, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    sv_node home = sv_is_switch(f, to) ? to : sv_switch_of(f, to);
    memset(min, 0xff, f->num_switches * sizeof *min);
    if (home.i == SV_NONE)
        return;
    min[home.i] = sv_is_switch(f, to) ? 0 : 1;
    queue[tail++] = home.i;
    while (head < tail) {
        sv_node s = {queue[head++]};
        SV_FOR_HOPS (f, s, hop)
            if (sv_is_switch(f, hop->to) && min[hop->to.i] == SV_NONE) {
                min[hop->to.i] = min[s.i] + 1;
                queue[tail++] = hop->to.i;
            }
    }
}

/* For each destination and switch: hops in the low 15 bits, the highest says "optimal". */
static sv_status tell_hops(sv_arena *arena, const sv_fabric *f, const sv_routes *r,
                           uint16_t **table)
{
    size_t n = f->num_switches;
    uint32_t *hops = SV_ARENA_NEW(arena, uint32_t, n), *path = SV_ARENA_NEW(arena, uint32_t, n);
    uint32_t *min = SV_ARENA_NEW(arena, uint32_t, n), searched = SV_NONE;
    sv_portmap ports;
    *table = SV_ARENA_NEW(arena, uint16_t, n * r->num_destinations);
    if (hops == NULL || path == NULL || min == NULL || *table == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_portmap_init(&ports, arena, f));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        if (r->lid[d] == 0)
            continue;
        count_hops(f, r, &ports, d, hops, path);
        if (searched != r->node[d].i)
            search(f, r->node[d], min, path);
        searched = r->node[d].i;
        for (uint32_t s = 0; s < n; s++) {
            uint32_t h = hops[s] == SV_NONE || hops[s] > 255 ? 255 : hops[s];
            (*table)[n * d + s] = (uint16_t)(h | (hops[s] == min[s] ? 0x8000u : 0));
        }
    }
    return SV_OK;
}

sv_status sv__write_fdbs(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    sv_arena arena;
    uint32_t top;
    uint16_t *hops = NULL;
    sv_arena_init(&arena, out->ctx);
    uint32_t *map = by_lid(&arena, f, r, &top);
    sv_status status = map == NULL ? SV_NO_MEMORY : tell_hops(&arena, f, r, &hops);
    for (uint32_t s = 0; status == SV_OK && s < f->num_switches && out->status == SV_OK; s++) {
        if (!sv__is_told(f, (sv_node){s}))
            continue;
        sv_text_print(out, "dump_ucast_routes: Switch 0x%016llx\nLID    : Port : Hops : Optimal\n",
                      (unsigned long long)f->switches[s].guid);
        for (uint32_t lid = 1; lid <= top; lid++) {
            uint32_t d = map[lid];
            if (d == SV_NONE || r->ports[d][s] == SV_NO_PORT) {
                sv_text_print(out, "0x%04X : UNREACHABLE\n", lid);
                continue;
            }
            uint16_t about = hops[(size_t)f->num_switches * d + s];
            sv_text_print(out, "0x%04X : %03u  : %02u   : %s\n", lid, r->ports[d][s], about & 255,
                          about & 0x8000 ? "yes" : "no");
        }
    }
    sv_arena_release(&arena);
    return status != SV_OK ? status : out->status;
}
