/*
 * torus_conf.c: OpenSM's torus-2QoS.conf, as its manual page torus-2QoS.conf(5) describes it.
 *
 *     torus|mesh X Y Z               sizes; each may end with t (ring) or m (line); 1: none
 *     xp_link 0xFROM 0xTO            of a seed: from the common switch along +x; also ym_link …
 *
 *     x_dateline N                   how far the origin is from the common switch
 *
 *     next_seed                      what follows belongs to another seed
 *
 *     port_order P P P …             in which order terminals of a switch are looked at
 *
 *     portgroup_max_ports N          checked, and not needed; so is max_changes N
 *
 * Lines that are blank or begin with # do not count, nor does what follows the words of a line.
 *
 * Cost: linear in the text.
 */
#include <string.h>

#include "base/text.h"
#include "structure/torus.h"

struct reader {
    sv_lines lines;
    sv_arena *arena;
    sv_torus_conf *conf;
    uint32_t room;
    bool sized;
};

static bool word(sv_scan *scan, sv_span *text)
{
    sv_scan_blanks(scan);
    return sv_scan_word(scan, text);
}

static sv_status read_sizes(struct reader *r, sv_scan *scan, bool torus)
{
    sv_torus_conf *conf = r->conf;
    uint32_t dims = 0;
    for (uint32_t d = 0; d < 3; d++) {
        sv_span text;
        uint64_t radix;
        conf->wraps[d] = torus;
        if (!word(scan, &text))
            return sv_lines_fail(&r->lines, "expected three sizes");
        char last = text.at[text.length - 1];
        if (last == 't' || last == 'T' || last == 'm' || last == 'M') {
            conf->wraps[d] = last == 't' || last == 'T';
            text.length--;
        }
        if (!sv_span_number(text, 65535, &radix) || radix == 0)
            return sv_lines_fail(&r->lines, "'%.*s' is not a size (a number, then t or m)",
                                 SV_SPAN(text));
        conf->radix[d] = (uint32_t)radix;
        dims += radix > 1;
    }
    if (dims == 0)
        return sv_lines_fail(&r->lines, "all sizes are 1");
    r->sized = true;
    return SV_OK;
}

/* The seed that lines belong to now; begun if there is none. NULL: no memory. */
static sv_torus_seed *seed_of(struct reader *r, bool next)
{
    sv_torus_conf *conf = r->conf;
    if (conf->num_seeds > 0 && !next)
        return &conf->seeds[conf->num_seeds - 1];
    if (conf->num_seeds == r->room) {
        r->room = 2 * r->room + 4;
        sv_torus_seed *more = SV_ARENA_NEW(r->arena, sv_torus_seed, r->room);
        if (more == NULL)
            return NULL;
        if (conf->num_seeds > 0)
            memcpy(more, conf->seeds, conf->num_seeds * sizeof *more);
        conf->seeds = more;
    }
    conf->seeds[conf->num_seeds] = (sv_torus_seed){.line = r->lines.number};
    return &conf->seeds[conf->num_seeds++];
}

static sv_status read_link(struct reader *r, sv_scan *scan, uint32_t d, bool minus)
{
    uint64_t guid[2];
    sv_torus_seed *seed = seed_of(r, false);
    if (seed == NULL)
        return SV_NO_MEMORY;
    for (int i = 0; i < 2; i++) {
        sv_span text = {"", 0};
        bool good = word(scan, &text);
        sv_scan inside = sv_scan_of(text);
        if (!good || !sv_scan_hex(&inside, &guid[i]) || !sv_scan_done(&inside) || guid[i] == 0)
            return sv_lines_fail(&r->lines, "expected the GUIDs of two switches");
    }
    if (seed->from != 0 && seed->from != guid[0])
        return sv_lines_fail(&r->lines, "links of one seed leave one switch: 0x%llx, not 0x%llx",
                             (unsigned long long)seed->from, (unsigned long long)guid[0]);
    if (guid[0] == guid[1])
        return sv_lines_fail(&r->lines, "a link from a switch to itself");
    seed->from = guid[0];
    seed->to[d][minus] = guid[1];
    return SV_OK;
}

static sv_status read_dateline(struct reader *r, sv_scan *scan, uint32_t d)
{
    uint64_t number;
    sv_torus_seed *seed = seed_of(r, false);
    if (seed == NULL)
        return SV_NO_MEMORY;
    sv_scan_blanks(scan);
    bool minus = sv_scan_char(scan, '-');
    if (!sv_scan_number(scan, 65535, &number))
        return sv_lines_fail(&r->lines, "expected a position");
    seed->dateline[d] = minus ? -(int32_t)number : (int32_t)number;
    return SV_OK;
}

static sv_status read_ports(struct reader *r, sv_scan *scan)
{
    sv_torus_conf *conf = r->conf;
    sv_span text;
    if (conf->port_order == NULL)
        conf->port_order = SV_ARENA_NEW(r->arena, uint8_t, 256);
    if (conf->port_order == NULL)
        return SV_NO_MEMORY;
    while (word(scan, &text) && text.at[0] != '#') {
        uint64_t port;
        if (!sv_span_number(text, 254, &port))
            return sv_lines_fail(&r->lines, "'%.*s' is not a port", SV_SPAN(text));
        if (memchr(conf->port_order, (int)port, conf->num_port_order) == NULL)
            conf->port_order[conf->num_port_order++] = (uint8_t)port;
    }
    return SV_OK;
}

static sv_status read_number(struct reader *r, sv_scan *scan)
{
    uint64_t number;
    sv_scan_blanks(scan);
    if (!sv_scan_number(scan, UINT32_MAX, &number))
        return sv_lines_fail(&r->lines, "expected a number");
    return SV_OK;
}

static sv_status read_line(struct reader *r, sv_scan *scan)
{
    sv_span key;
    word(scan, &key);
    if (sv_span_is(key, "torus") || sv_span_is(key, "mesh"))
        return read_sizes(r, scan, sv_span_is(key, "torus"));
    if (!r->sized)
        return sv_lines_fail(&r->lines, "the first word must be torus or mesh, not '%.*s'",
                             SV_SPAN(key));
    uint32_t d = (uint32_t)(key.at[0] - 'x');
    sv_span rest = {key.at + 1, key.length - 1};
    if (d < 3 && (sv_span_is(rest, "p_link") || sv_span_is(rest, "m_link")))
        return read_link(r, scan, d, rest.at[0] == 'm');
    if (d < 3 && sv_span_is(rest, "_dateline"))
        return read_dateline(r, scan, d);
    if (sv_span_is(key, "next_seed"))
        return seed_of(r, true) == NULL ? SV_NO_MEMORY : SV_OK;
    if (sv_span_is(key, "port_order"))
        return read_ports(r, scan);
    if (sv_span_is(key, "portgroup_max_ports") || sv_span_is(key, "max_changes"))
        return read_number(r, scan);
    return sv_lines_fail(&r->lines, "unknown word '%.*s'", SV_SPAN(key));
}

static sv_status read_all(struct reader *r)
{
    for (;;) {
        sv_span line;
        bool more;
        SV_TRY(sv_lines_next(&r->lines, &line, &more));
        if (!more)
            break;
        sv_scan scan = sv_scan_of(line);
        sv_scan_blanks(&scan);
        if (!sv_scan_done(&scan) && *scan.at != '#')
            SV_TRY(read_line(r, &scan));
    }
    if (!r->sized)
        return sv_lines_fail(&r->lines, "neither torus nor mesh");
    for (uint32_t i = 0; i < r->conf->num_seeds; i++)
        for (uint32_t d = 0; d < 3; d++)
            if (r->conf->radix[d] > 1 && r->conf->seeds[i].to[d][0] == 0 &&
                r->conf->seeds[i].to[d][1] == 0) {
                r->lines.number = r->conf->seeds[i].line;
                return sv_lines_fail(&r->lines, "the seed that begins here has no %c link",
                                     (char)('x' + d));
            }
    return SV_OK;
}

sv_status sv_torus_conf_read(sv_ctx *ctx, sv_arena *arena, const sv_source *source,
                             sv_torus_conf *conf)
{
    struct reader r = {.arena = arena, .conf = conf};
    *conf = (sv_torus_conf){.name = sv_arena_text(arena, source->name, strlen(source->name))};
    if (conf->name == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_lines_init(&r.lines, ctx, source));
    sv_status status = read_all(&r);
    if (status == SV_OK && conf->num_seeds == 0)
        status = sv_lines_fail(&r.lines, "no seed: there is no xp_link, ym_link or the like");
    sv_lines_release(&r.lines);
    return status;
}
