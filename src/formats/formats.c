/*
 * formats.c: the table of formats; finding out which one a file has.
 *
 * Idea: look at the first lines that are not blank or comments. Formats differ so much there that
 * one word is enough. A file that went through a terminal may have strange lines in front; so the
 * search goes on through the first block until a line looks familiar.
 *
 * Cost: O(1), the first 128 KiB at most.
 */
#include "formats/formats.h"

#include <string.h>

#include "base/file.h"
#include "base/map.h"

static const struct row {
    sv_format_info info;
    sv__read_fn *read;
    sv__write_fn *write;
} table[SV_FORMAT_COUNT] = {
    [SV_FORMAT_IBNETDISCOVER] = {{"ibnetdiscover", "what ibnetdiscover prints and ibsim reads",
                                  "ibnetdiscover net topo txt", true, true},
                                 sv__read_ibnetdiscover,
                                 sv__write_ibnetdiscover},
    [SV_FORMAT_SUBNET] = {{"subnet", "OpenSM's opensm-subnet.lst", "lst", true, true},
                          sv__read_subnet,
                          sv__write_subnet},
    [SV_FORMAT_NETLOC] = {{"netloc", "netloc's nodes file", "ndat", true, false},
                          sv__read_netloc,
                          NULL},
    [SV_FORMAT_CRAY] = {{"cray", "Cray XC interconnect dump", "interconnect", true, false},
                        sv__read_cray,
                        NULL},
    [SV_FORMAT_DOT] = {{"dot", "GraphViz picture of the switches", "dot gv", false, true},
                       NULL,
                       sv__write_dot},
    [SV_FORMAT_JSON] = {{"json", "everything, for other programs", "json", false, true},
                        NULL,
                        sv__write_json},
    [SV_FORMAT_SLURM] = {{"slurm", "Slurm's topology.conf", "conf", false, true},
                         NULL,
                         sv__write_slurm},
    [SV_FORMAT_ROOT_GUIDS] = {{"root-guids", "OpenSM's root_guid_file", "", false, true},
                              NULL,
                              sv__write_root_guids},
    [SV_FORMAT_CN_GUIDS] = {{"cn-guids", "OpenSM's cn_guid_file: compute ports", "", false, true},
                            NULL,
                            sv__write_cn_guids},
    [SV_FORMAT_IO_GUIDS] = {{"io-guids", "OpenSM's io_guid_file: I/O ports", "", false, true},
                            NULL,
                            sv__write_io_guids},
};

const sv_format_info *sv_format_about(sv_format format)
{
    bool known = (unsigned)format < SV_FORMAT_COUNT && format != SV_FORMAT_AUTO;
    return known ? &table[format].info : NULL;
}

sv_format sv_format_named(const char *name)
{
    for (int i = SV_FORMAT_AUTO + 1; i < SV_FORMAT_COUNT; i++)
        if (strcmp(table[i].info.name, name) == 0)
            return (sv_format)i;
    return SV_FORMAT_COUNT;
}

sv_format sv_format_of_path(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (dot == NULL || (slash != NULL && dot < slash))
        return SV_FORMAT_AUTO;
    for (int i = SV_FORMAT_AUTO + 1; i < SV_FORMAT_COUNT; i++) {
        sv_scan scan = sv_scan_of(sv_span_of(table[i].info.suffixes));
        for (sv_span word; sv_scan_word(&scan, &word); sv_scan_blanks(&scan))
            if (sv_span_is(word, dot + 1))
                return (sv_format)i;
    }
    return SV_FORMAT_AUTO;
}

/* ---- reading ---- */

/* Whether a line starts the way lines of a Cray dump do: c0-0c0s0a0l00(… */
static bool looks_cray(sv_scan scan)
{
    static const char *const letters[] = {"c", "-", "c", "s", "a", "l"};
    uint64_t number;
    for (int i = 0; i < 6; i++)
        if (!sv_scan_text(&scan, letters[i]) || !sv_scan_number(&scan, 99999, &number))
            return false;
    return sv_scan_char(&scan, '(');
}

static bool looks_ibnetdiscover(sv_scan scan)
{
    static const char *const keys[] = {"vendid=", "devid=",  "sysimgguid=", "switchguid=",
                                       "caguid=", "rtguid=", "hcaguids=",   "# Topology file"};
    static const char *const nodes[] = {"Switch", "Hca", "Ca", "Rt"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (sv_scan_text(&scan, keys[i]))
            return true;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        sv_scan after = scan;
        if (!sv_scan_text(&after, nodes[i]))
            continue;
        const char *word = after.at;
        sv_scan_blanks(&after);
        if (after.at > word || (!sv_scan_done(&after) && *after.at >= '0' && *after.at <= '9'))
            return true; /* but not SwitchName= of a topology.conf */
    }
    return false;
}

static sv_format guess_line(sv_span line)
{
    sv_scan scan = sv_scan_of(line);
    while (sv_scan_char(&scan, '\r'))
        ;
    sv_scan_blanks(&scan);
    if (sv_scan_char(&scan, '{')) {
        sv_scan_blanks(&scan);
        bool subnet =
            sv_scan_text(&scan, "SW") || sv_scan_text(&scan, "CA") || sv_scan_text(&scan, "RT");
        return subnet ? SV_FORMAT_SUBNET : SV_FORMAT_NETLOC;
    }
    if (looks_cray(scan))
        return SV_FORMAT_CRAY;
    return looks_ibnetdiscover(scan) ? SV_FORMAT_IBNETDISCOVER : SV_FORMAT_AUTO;
}

static sv_status guess(sv_lines *lines, sv_format *format)
{
    sv_span start;
    SV_TRY(sv_lines_peek(lines, &start));
    if (start.length == 0)
        return sv_lines_fail(lines, "the file is empty");
    if (memchr(start.at, 0, start.length) != NULL)
        return sv_lines_fail(lines, "zero bytes: this is not a text file");
    const char *at = start.at, *end = start.at + start.length;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        sv_span line = {at, (size_t)((newline != NULL ? newline : end) - at)};
        *format = guess_line(line);
        if (*format != SV_FORMAT_AUTO)
            return SV_OK;
        at += line.length + 1;
    }
    return sv_lines_fail(lines, "not a fabric in a format that selvage knows (ibnetdiscover, "
                                "opensm-subnet.lst, netloc nodes, Cray interconnect)");
}

sv_status sv_fabric_read(sv_ctx *ctx, const sv_source *source, sv_format format, sv_fabric **fabric)
{
    sv_lines lines;
    sv_status status = sv_lines_init(&lines, ctx, source);
    if (status == SV_OK && format == SV_FORMAT_AUTO)
        status = guess(&lines, &format);
    if (status == SV_OK) {
        sv__read_fn *read = (unsigned)format < SV_FORMAT_COUNT ? table[format].read : NULL;
        status = read == NULL ? sv_fail(ctx, SV_UNSUPPORTED, "this format cannot be read")
                              : read(&lines, fabric);
    }
    sv_lines_release(&lines);
    return status;
}

sv_status sv_fabric_load(sv_ctx *ctx, const char *path, sv_fabric **fabric)
{
    sv_file file;
    SV_TRY(sv_file_open(&file, ctx, path));
    sv_status status = sv_fabric_read(ctx, &file.source, SV_FORMAT_AUTO, fabric);
    sv_file_close(&file);
    return status;
}

/* ---- writing ---- */

sv_status sv_fabric_write(sv_ctx *ctx, const sv_fabric *fabric, sv_format format,
                          const sv_sink *sink)
{
    if (format == SV_FORMAT_AUTO)
        format = SV_FORMAT_IBNETDISCOVER;
    if ((unsigned)format >= SV_FORMAT_COUNT || table[format].write == NULL)
        return sv_fail(ctx, SV_UNSUPPORTED, "this format cannot be written");
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_status status = table[format].write(&out, fabric);
    if (status == SV_OK)
        status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

sv_status sv_fabric_save(sv_ctx *ctx, const sv_fabric *fabric, sv_format format, const char *path)
{
    sv_file file;
    SV_TRY(sv_file_create(&file, ctx, path));
    sv_status status = sv_fabric_write(ctx, fabric, format, &file.sink);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    else
        sv_file_close(&file);
    return status;
}

/* The name of a switch, or of an adapter behind them. */
static const char *name_of(const sv_fabric *f, uint32_t number)
{
    return number < f->num_switches ? f->switches[number].name
                                    : f->adapters[number - f->num_switches].name;
}

/* One node of InfiniBand's: its ports, its GUID, its name. */
static sv_status check_node(sv_ctx *ctx, const sv_fabric *f, unsigned ports, uint64_t guid,
                            sv_map *guids, uint32_t number)
{
    enum { MAX = 254 };
    const char *name = name_of(f, number);
    uint32_t held = number;
    if (ports > MAX)
        return sv_fail(ctx, SV_INFEASIBLE, "'%s' has %u ports: InfiniBand numbers at most %d", name,
                       ports, MAX);
    if (strpbrk(name, "\n\r") != NULL)
        return sv_fail(ctx, SV_INFEASIBLE, "the name '%s' has a line break in it", name);
    if (guid != 0)
        SV_TRY(sv_map_add(guids, guid, number, &held));
    if (guid == 0)
        return sv_fail(ctx, SV_INFEASIBLE, "'%s' has no GUID, which this format needs", name);
    if (held != number)
        return sv_fail(ctx, SV_INFEASIBLE,
                       "'%s' and '%s' share GUID 0x%016llx: this format tells nodes apart by it",
                       name_of(f, held), name, (unsigned long long)guid);
    return SV_OK;
}

sv_status sv__fits_infiniband(sv_ctx *ctx, const sv_fabric *f, const bool *live)
{
    sv_map guids;
    sv_map_init(&guids, ctx);
    sv_status status = SV_OK;
    for (uint32_t s = 0; status == SV_OK && s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            status = check_node(ctx, f, f->switches[s].ports, f->switches[s].guid, &guids, s);
    for (uint32_t a = 0; status == SV_OK && a < f->num_adapters; a++)
        if (live[a])
            status = check_node(ctx, f, f->adapters[a].ports, f->adapters[a].guid, &guids,
                                f->num_switches + a);
    sv_map_release(&guids);
    return status;
}
