/*
 * proof.c: proofs that anybody can check.
 *
 *     selvage-proof 1
 *     # comments
 *     0x<guid> <port> <VL> <number>
 *
 * A line a (channel, VL) pair: the GUID of the switch, or of the adapter's port, that the channel
 * leaves, the port it leaves by, the VL, and its number. Tables are free of deadlocks if every
 * dependency goes from a smaller number to a larger one: then waiting packets cannot form a ring.
 * To see that, one pass over all packets' hops is enough; no search for cycles is needed. Where two
 * nodes have the same GUID, lines could be about either: there are no proofs then.
 *
 * Cost: writing as sv_verify; checking linear.
 */
#include <selvage/verify.h>

#include "base/map.h"
#include "base/text.h"
#include "verify/judge.h"

/* Nodes with cables by GUID, which must tell them apart. */
static sv_status name_nodes(sv_ctx *ctx, const sv_fabric *f, sv_map *nodes)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        sv_node node = {v};
        uint64_t guid = sv_node_guid(f, node);
        uint32_t held;
        if (!sv_node_alive(f, node) || sv_degree(f, node) == 0)
            continue;
        SV_TRY(sv_map_add(nodes, guid, v, &held));
        if (held != v)
            return sv_fail(ctx, SV_INFEASIBLE,
                           "\"%s\" and \"%s\" have the same GUID 0x%016llx: a proof cannot tell "
                           "their channels apart",
                           sv_node_name(f, (sv_node){held}), sv_node_name(f, node),
                           (unsigned long long)guid);
    }
    return SV_OK;
}

/* Dependencies of all packets, multicast ones too, with those at terminals. */
static sv_status collect(sv_ctx *ctx, sv_arena *arena, const sv_fabric *f, const sv_routes *r,
                         const sv_verify_options *options, sv__verify_case *c, sv__deps *deps)
{
    SV_TRY(sv__case_init(c, arena, f, r, options));
    SV_TRY(sv__deps_init(deps, arena, f, &c->ports, c->vls, true));
    SV_TRY(sv__walk_all(ctx, c, SV_TRAFFIC_ALL, SV__UNKNOWN_ANY, deps, NULL));
    return sv__walk_groups(ctx, c, deps);
}

static sv_status write_lines(sv_ctx *ctx, const sv__deps *deps, const uint32_t *place,
                             const sv_sink *sink)
{
    const sv_fabric *f = deps->fabric;
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_text_print(&out, "selvage-proof 1\n# %u switches, %u terminals, %llu dependencies\n",
                  f->live_switches, f->live_terminals,
                  (unsigned long long)sv__deps_count(deps, false));
    for (uint32_t c = 0; c < f->num_channels && out.status == SV_OK; c++)
        for (unsigned vl = 0; vl < deps->vls; vl++)
            if (sv_channel_alive(f, (sv_channel){c}) &&
                sv__get_bit(deps->used, (uint64_t)c * deps->vls + vl))
                sv_text_print(&out, "0x%016llx %u %u %u\n",
                              (unsigned long long)sv_node_guid(f, f->tail[c]), f->port[c], vl,
                              place[(size_t)c * deps->vls + vl]);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

sv_status sv_proof_write(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                         const sv_verify_options *options, const sv_sink *sink)
{
    sv_arena arena;
    sv__verify_case c;
    sv__deps deps;
    sv__vertex *cycle;
    size_t length = 0;
    sv_map nodes;
    sv_arena_init(&arena, ctx);
    sv_map_init(&nodes, ctx);
    sv_status status = name_nodes(ctx, fabric, &nodes);
    sv_map_release(&nodes);
    if (status == SV_OK)
        status = collect(ctx, &arena, fabric, routes, options, &c, &deps);
    uint32_t *place = NULL;
    if (status == SV_OK) {
        place = SV_ARENA_NEW(&arena, uint32_t, (size_t)fabric->num_channels * deps.vls);
        status =
            place == NULL ? SV_NO_MEMORY : sv__deps_order(&deps, &arena, place, &cycle, &length);
    }
    if (status == SV_OK && length > 0)
        status = sv_fail(ctx, SV_INFEASIBLE,
                         "there is no proof: %zu channels wait for each other in a ring", length);
    if (status == SV_OK)
        status = write_lines(ctx, &deps, place, sink);
    sv_arena_release(&arena);
    return status;
}

/* Reads numbers; SV_NONE where a pair has none. */
static sv_status read_numbers(sv_lines *lines, const sv_fabric *f, const sv_map *nodes,
                              unsigned vls, uint32_t *place)
{
    sv_span line;
    bool more;
    SV_TRY(sv_lines_next(lines, &line, &more));
    if (!more || !sv_span_is(line, "selvage-proof 1"))
        return sv_lines_fail(lines, "not a proof: the first line is not \"selvage-proof 1\"");
    for (;;) {
        uint64_t guid, port, vl, number;
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            return SV_OK;
        sv_scan scan = sv_scan_of(line);
        sv_scan_blanks(&scan);
        if (sv_scan_done(&scan) || *scan.at == '#')
            continue;
        bool good = sv_scan_text(&scan, "0x") && sv_scan_hex(&scan, &guid);
        sv_scan_blanks(&scan);
        good = good && sv_scan_number(&scan, 255, &port);
        sv_scan_blanks(&scan);
        good = good && sv_scan_number(&scan, 255, &vl);
        sv_scan_blanks(&scan);
        good = good && sv_scan_number(&scan, SV_NONE - 1, &number);
        sv_scan_blanks(&scan);
        if (!good || !sv_scan_done(&scan))
            return sv_lines_fail(lines, "expected 0x<guid> <port> <VL> <number>");
        uint32_t v = sv_map_get(nodes, guid);
        sv_channel c =
            v == SV_ABSENT ? SV_NO_CHANNEL : sv_channel_at(f, (sv_node){v}, (unsigned)port);
        if (c.i != SV_NONE && vl < vls) /* what tables do not use does not matter */
            place[(size_t)c.i * vls + vl] = (uint32_t)number;
    }
}

static sv_status load(sv_ctx *ctx, sv_arena *arena, const sv_fabric *f, const sv_source *source,
                      unsigned vls, uint32_t **place)
{
    sv_map nodes;
    sv_lines lines;
    size_t count = (size_t)f->num_channels * vls;
    *place = SV_ARENA_NEW(arena, uint32_t, count);
    if (*place == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        (*place)[i] = SV_NONE;
    sv_map_init(&nodes, ctx);
    sv_status status = name_nodes(ctx, f, &nodes);
    if (status == SV_OK)
        status = sv_lines_init(&lines, ctx, source);
    if (status == SV_OK) {
        status = read_numbers(&lines, f, &nodes, vls, *place);
        sv_lines_release(&lines);
    }
    sv_map_release(&nodes);
    return status;
}

sv_status sv_proof_check(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                         const sv_verify_options *options, const sv_source *source, bool *holds,
                         bool *numbered, sv_wait *from, sv_wait *to, uint64_t *dependencies)
{
    sv_arena arena;
    sv__verify_case c;
    sv__deps deps;
    uint32_t *place;
    sv_arena_init(&arena, ctx);
    sv_status status = collect(ctx, &arena, fabric, routes, options, &c, &deps);
    if (status == SV_OK)
        status = load(ctx, &arena, fabric, source, deps.vls, &place);
    if (status == SV_OK) {
        sv__vertex a = {0}, b = {0};
        *holds = !sv__deps_descends(&deps, place, &a, &b);
        *dependencies = sv__deps_count(&deps, false);
        *numbered = *holds || (place[(size_t)a.channel.i * deps.vls + a.vl] != SV_NONE &&
                               place[(size_t)b.channel.i * deps.vls + b.vl] != SV_NONE);
        *from = (sv_wait){.channel = a.channel, .vl = a.vl, .from = SV_NO_NODE};
        *to = (sv_wait){.channel = b.channel, .vl = b.vl, .from = SV_NO_NODE};
    }
    sv_arena_release(&arena);
    return status;
}
