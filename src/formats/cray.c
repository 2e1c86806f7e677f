/*
 * cray.c: interconnect dumps of Cray XC machines.
 *
 * A line for each tile of each Aries router, in octal-looking pairs of row and column:
 *
 *     c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)
 *     c0-0c0s0a0l04(0:0:0) blue -> unused
 *     c0-0c0s0a0l50(0:0:0) ptile -> processor
 *
 * A router becomes a switch with 48 ports, tile lRC its port 8 R + C + 1. Green cables join a
 * chassis, black ones the chassis of a group, blue ones groups. Two processor tiles serve one of
 * the router's four network interfaces (Aries' data sheet; the dump does not say), so an even and
 * its following odd processor tile become one terminal at the even one's port. Routers have no
 * GUIDs here; they are numbered. Speeds are not in the dump.
 *
 * Cost: linear in the text.
 */
#include <stdio.h>
#include <string.h>

#include "formats/draft.h"
#include "formats/formats.h"

enum { TILES = 48 };
#define ROUTER_GUID UINT64_C(0x02005e1c00000000)
#define NODE_GUID   UINT64_C(0x02005e1d00000000)

struct reader {
    sv__draft draft;
    sv_lines *lines;
    SV_ARRAY(uint32_t) tiles; /* listed, of each device */
};

/* c0-0c0s0a0l00(0:0:0): the router's name and the tile as a port. */
static bool scan_tile(sv_scan *scan, sv_span *router, uint64_t *port)
{
    static const char *const letters[] = {"c", "-", "c", "s", "a"};
    sv_scan inside = *scan;
    uint64_t number, row_column;
    for (int i = 0; i < 5; i++)
        if (!sv_scan_text(&inside, letters[i]) || !sv_scan_number(&inside, 99999, &number))
            return false;
    *router = (sv_span){scan->at, (size_t)(inside.at - scan->at)};
    const char *digits = inside.at + 1;
    if (!sv_scan_char(&inside, 'l') || !sv_scan_number(&inside, 57, &row_column) ||
        inside.at != digits + 2 || row_column % 10 > 7)
        return false;
    *port = row_column / 10 * 8 + row_column % 10 + 1;
    sv_span place;
    if (!sv_scan_char(&inside, '(') || !sv_scan_until(&inside, ')', &place))
        return false;
    *scan = inside;
    return true;
}

static sv_status note_router(struct reader *r, sv_span name, uint32_t *index)
{
    *index = sv__draft_find(&r->draft, name);
    if (*index != SV_ABSENT)
        return SV_OK;
    sv__draft_device d = {.id = name, .kind = SV__SWITCH, .ports = TILES, .line = r->lines->number};
    d.guid = d.system_guid = ROUTER_GUID + r->draft.devices.length + 1;
    d.name = sv__draft_text(&r->draft, name);
    return d.name == NULL ? SV_NO_MEMORY : sv__draft_add_device(&r->draft, &d, index);
}

/* A node at a pair of processor tiles. */
static sv_status add_node(struct reader *r, uint32_t router, sv_span name, uint64_t port)
{
    char id[240]; /* SV_SPAN shows 200 characters of a name */
    uint32_t device;
    int length = snprintf(id, sizeof id, "%.*sn%u", SV_SPAN(name), (unsigned)(port - 41) / 2);
    sv__draft_device d = {
        .id = {id, (size_t)length}, .kind = SV__HOST, .ports = 1, .line = r->lines->number};
    d.guid = d.system_guid = NODE_GUID + 16 * (r->draft.devices.length + 1);
    d.name = sv__draft_text(&r->draft, d.id);
    if (d.name == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__draft_add_device(&r->draft, &d, &device));
    sv__draft_end here = {.device = router,
                          .port = (uint16_t)port,
                          .remote = d.id,
                          .remote_port = 1,
                          .line = r->lines->number};
    sv__draft_end there = {.device = device,
                           .port = 1,
                           .remote = name,
                           .remote_port = (uint16_t)port,
                           .line = r->lines->number};
    SV_TRY(sv__draft_add_end(&r->draft, &here));
    return sv__draft_add_end(&r->draft, &there);
}

static sv_status read_line(struct reader *r, sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    sv_span router, colour, peer;
    uint64_t port, peer_port;
    uint32_t device;
    if (!scan_tile(&scan, &router, &port))
        return sv_lines_fail(r->lines, "not a tile like c0-0c0s0a0l00(0:0:0)");
    sv_scan_blanks(&scan);
    if (!sv_scan_word(&scan, &colour) || !sv_scan_text(&scan, " -> "))
        return sv_lines_fail(r->lines, "a colour and '->' are missing");
    SV_TRY(note_router(r, router, &device));
    while (r->tiles.length <= device)
        SV_TRY(sv_array_push(r->draft.ctx, &r->tiles, 0));
    r->tiles.at[device]++;
    if (sv_scan_text(&scan, "unused") && sv_scan_done(&scan))
        return SV_OK;
    if (sv_scan_text(&scan, "processor") && sv_scan_done(&scan)) {
        if (port <= 40)
            return sv_lines_fail(r->lines, "tile %u is no processor tile", (unsigned)port);
        return port % 2 == 1 ? add_node(r, device, router, port) : SV_OK;
    }
    if (!scan_tile(&scan, &peer, &peer_port) || !sv_scan_done(&scan))
        return sv_lines_fail(r->lines, "'->' is not followed by a tile, unused or processor");
    sv__draft_end end = {.device = device,
                         .port = (uint16_t)port,
                         .remote = peer,
                         .remote_port = (uint16_t)peer_port,
                         .line = r->lines->number};
    return sv__draft_add_end(&r->draft, &end);
}

/* Routers list all their tiles, used or not; one that lists fewer was cut off. */
static sv_status check_tiles(const struct reader *r)
{
    for (uint32_t i = 1; i < r->tiles.length; i++)
        if (r->tiles.at[i] != 0 && r->tiles.at[i] != r->tiles.at[0])
            return sv__draft_fail(&r->draft, r->draft.devices.at[i].line,
                                  "router \"%.*s\" lists %u tiles, the first one %u: is the file "
                                  "cut off?",
                                  SV_SPAN(r->draft.devices.at[i].id), r->tiles.at[i],
                                  r->tiles.at[0]);
    return SV_OK;
}

sv_status sv__read_cray(sv_lines *lines, sv_fabric **fabric)
{
    struct reader r = {.lines = lines};
    sv__draft_init(&r.draft, lines->ctx, lines->source->name);
    sv_status status = SV_OK;
    for (sv_span line; status == SV_OK;) {
        bool more;
        status = sv_lines_next(lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        if (line.length > 0)
            status = read_line(&r, line);
    }
    if (status == SV_OK)
        status = check_tiles(&r);
    if (status == SV_OK)
        status = sv__draft_finish(&r.draft, fabric);
    sv_array_release(lines->ctx, &r.tiles);
    sv__draft_release(&r.draft);
    return status;
}
