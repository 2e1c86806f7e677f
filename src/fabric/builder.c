/*
 * builder.c: from a list of parts to a fabric.
 *
 * Idea: parts are collected in growing arrays; finishing sorts the two ends of every cable by
 * (node, port) with two counting sorts. A channel's number is its place in that order, its reverse
 * is the place of the cable's other end. A port that appears twice then stands next to itself.
 *
 * Invariants: those that sv_fabric_check proves (check.c).
 * Cost: linear in parts, ports and name lengths. For each channel 24 bytes are kept and at most
 * 64 more are in use while finishing.
 */
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include <selvage/fabric.h>

#include "base/pool.h"

struct cable {
    uint32_t node[2]; /* terminals have TERMINAL set until finishing */
    uint16_t port[2];
    uint16_t link;
};

#define TERMINAL UINT32_C(0x80000000)
enum { MAX_CABLES = 1 << 29 };

struct sv_builder {
    sv_ctx *ctx;
    sv_pool *store;
    sv_status status; /* of the first failing call */
    SV_ARRAY(sv_switch_info) switches;
    SV_ARRAY(sv_adapter_info) adapters;
    SV_ARRAY(sv_terminal_info) terminals;
    SV_ARRAY(struct cable) cables;
    SV_ARRAY(sv_link) links;
    sv_map link_index;
};

sv_builder *sv_builder_new(sv_ctx *ctx)
{
    sv_builder *builder = sv_alloc(ctx, 1, sizeof *builder);
    if (builder == NULL)
        return NULL;
    builder->ctx = ctx;
    builder->store = sv__pool_new(ctx, NULL);
    if (builder->store == NULL) {
        sv_release(ctx, builder);
        return NULL;
    }
    sv_map_init(&builder->link_index, ctx);
    return builder;
}

void sv_builder_free(sv_builder *builder)
{
    if (builder == NULL)
        return;
    sv_ctx *ctx = builder->ctx;
    sv_array_release(ctx, &builder->switches);
    sv_array_release(ctx, &builder->adapters);
    sv_array_release(ctx, &builder->terminals);
    sv_array_release(ctx, &builder->cables);
    sv_array_release(ctx, &builder->links);
    sv_map_release(&builder->link_index);
    sv__pool_drop(builder->store);
    sv_release(ctx, builder);
}

static const char *keep_name(sv_builder *builder, const char *name)
{
    if (name == NULL)
        name = "";
    size_t length = strlen(name);
    char *copy = SV_POOL_NEW(builder->store, builder->ctx, char, length + 1);
    if (copy != NULL)
        memcpy(copy, name, length);
    return copy;
}

/* Remembers the first failure: what comes after it is not to be trusted. */
static sv_status latch(sv_builder *builder, sv_status status)
{
    if (builder->status == SV_OK)
        builder->status = status;
    return status;
}

sv_status sv_builder_add_switch(sv_builder *builder, const sv_switch_info *about, uint32_t *index)
{
    sv_switch_info kept = *about;
    kept.name = keep_name(builder, about->name);
    if (kept.name == NULL || sv_array_push(builder->ctx, &builder->switches, kept) != SV_OK)
        return latch(builder, SV_NO_MEMORY);
    if (index != NULL)
        *index = (uint32_t)builder->switches.length - 1;
    return SV_OK;
}

sv_status sv_builder_add_adapter(sv_builder *builder, const sv_adapter_info *about, uint32_t *index)
{
    sv_adapter_info kept = *about;
    kept.name = keep_name(builder, about->name);
    if (kept.name == NULL || sv_array_push(builder->ctx, &builder->adapters, kept) != SV_OK)
        return latch(builder, SV_NO_MEMORY);
    if (index != NULL)
        *index = (uint32_t)builder->adapters.length - 1;
    return SV_OK;
}

sv_status sv_builder_add_terminal(sv_builder *builder, const sv_terminal_info *about,
                                  uint32_t *index)
{
    if (about->adapter >= builder->adapters.length)
        return latch(builder, sv_fail(builder->ctx, SV_BAD_INPUT, "terminal of unknown adapter %u",
                                      about->adapter));
    const sv_adapter_info *adapter = &builder->adapters.at[about->adapter];
    if (about->port < 1 || about->port > adapter->ports)
        return latch(builder,
                     sv_fail(builder->ctx, SV_BAD_INPUT, "adapter '%s' has no port %u: it has %u",
                             adapter->name, about->port, adapter->ports));
    if (sv_array_push(builder->ctx, &builder->terminals, *about) != SV_OK)
        return latch(builder, SV_NO_MEMORY);
    if (index != NULL)
        *index = (uint32_t)builder->terminals.length - 1;
    return SV_OK;
}

/* Cables that are alike share one sv_link. */
static sv_status link_number(sv_builder *builder, const sv_link *link, uint16_t *number)
{
    uint64_t key = (uint64_t)link->mtu_bytes << 32 | (uint64_t)link->width << 24 |
                   (uint64_t)link->speed << 16 | (uint64_t)link->vls << 8 | link->one_sided;
    uint32_t held;
    SV_TRY(sv_map_add(&builder->link_index, key, (uint32_t)builder->links.length, &held));
    if (held == builder->links.length) {
        if (held > UINT16_MAX)
            return sv_fail(builder->ctx, SV_UNSUPPORTED, "more than 65536 kinds of link");
        SV_TRY(sv_array_push(builder->ctx, &builder->links, *link));
    }
    *number = (uint16_t)held;
    return SV_OK;
}

/* Checks one end and writes it in the builder's form. */
static sv_status cable_end(sv_builder *builder, sv_end end, uint32_t *node)
{
    if (end.terminal) {
        if (end.index >= builder->terminals.length)
            return sv_fail(builder->ctx, SV_BAD_INPUT, "cable to unknown terminal %u", end.index);
        if (end.port != builder->terminals.at[end.index].port)
            return sv_fail(builder->ctx, SV_BAD_INPUT,
                           "cable to port %u of a terminal that is port %u", end.port,
                           builder->terminals.at[end.index].port);
        *node = end.index | TERMINAL;
        return SV_OK;
    }
    if (end.index >= builder->switches.length)
        return sv_fail(builder->ctx, SV_BAD_INPUT, "cable to unknown switch %u", end.index);
    const sv_switch_info *about = &builder->switches.at[end.index];
    if (end.port < 1 || end.port > about->ports)
        return sv_fail(builder->ctx, SV_BAD_INPUT, "switch '%s' has no port %u: it has %u",
                       about->name, end.port, about->ports);
    *node = end.index;
    return SV_OK;
}

sv_status sv_builder_add_cable(sv_builder *builder, sv_end a, sv_end b, const sv_link *link)
{
    struct cable cable = {.port = {a.port, b.port}};
    sv_status status = cable_end(builder, a, &cable.node[0]);
    if (status == SV_OK)
        status = cable_end(builder, b, &cable.node[1]);
    if (status == SV_OK)
        status = link_number(builder, link, &cable.link);
    if (status == SV_OK && builder->cables.length >= MAX_CABLES)
        status = sv_fail(builder->ctx, SV_UNSUPPORTED, "more than %d cables", MAX_CABLES);
    if (status == SV_OK)
        status = sv_array_push(builder->ctx, &builder->cables, cable);
    return status == SV_OK ? SV_OK : latch(builder, status);
}

/* ---- finishing ---- */

/* An end of a cable is 2 * cable + side. */
static uint32_t end_node(const sv_builder *builder, uint32_t end)
{
    return builder->cables.at[end >> 1].node[end & 1];
}

static uint16_t end_port(const sv_builder *builder, uint32_t end)
{
    return builder->cables.at[end >> 1].port[end & 1];
}

/* Turns terminal indices into node numbers: switches come first. */
static void number_nodes(sv_builder *builder)
{
    uint32_t switches = (uint32_t)builder->switches.length;
    for (size_t i = 0; i < builder->cables.length; i++)
        for (int side = 0; side < 2; side++)
            if (builder->cables.at[i].node[side] & TERMINAL)
                builder->cables.at[i].node[side] =
                    (builder->cables.at[i].node[side] & ~TERMINAL) + switches;
}

/* Counts into starts: starts[k] is how many ends have a key below k. */
static void to_starts(uint32_t *counts, size_t keys)
{
    uint32_t sum = 0;
    for (size_t k = 0; k <= keys; k++) {
        uint32_t count = counts[k];
        counts[k] = sum;
        sum += count;
    }
}

/* All ends by (node, port): a counting sort by port, then a stable one by node. */
static sv_status sort_ends(sv_builder *builder, sv_arena *scratch, uint32_t *first,
                           uint32_t **sorted)
{
    uint32_t ends = 2 * (uint32_t)builder->cables.length;
    size_t nodes = builder->switches.length + builder->terminals.length;
    uint32_t *by_port = SV_ARENA_NEW(scratch, uint32_t, ends);
    uint32_t *by_node = SV_ARENA_NEW(scratch, uint32_t, ends);
    uint32_t *starts = SV_ARENA_NEW(scratch, uint32_t, UINT16_MAX + 2);
    uint32_t *next = SV_ARENA_NEW(scratch, uint32_t, nodes + 1);
    if (by_port == NULL || by_node == NULL || starts == NULL || next == NULL)
        return SV_NO_MEMORY;
    for (uint32_t end = 0; end < ends; end++) {
        starts[end_port(builder, end)]++;
        first[end_node(builder, end)]++;
    }
    to_starts(starts, UINT16_MAX);
    to_starts(first, nodes);
    memcpy(next, first, (nodes + 1) * sizeof *next);
    for (uint32_t end = 0; end < ends; end++)
        by_port[starts[end_port(builder, end)]++] = end;
    for (uint32_t i = 0; i < ends; i++)
        by_node[next[end_node(builder, by_port[i])]++] = by_port[i];
    *sorted = by_node;
    return SV_OK;
}

static const char *node_name(const sv_builder *builder, uint32_t node)
{
    if (node < builder->switches.length)
        return builder->switches.at[node].name;
    const sv_terminal_info *about = &builder->terminals.at[node - builder->switches.length];
    return builder->adapters.at[about->adapter].name;
}

/* The arrays of the graph, in the store. */
struct graph {
    sv_hop *hops;
    sv_node *tail, *head;
    sv_channel *reverse;
    uint16_t *port, *link;
};

static sv_status graph_alloc(sv_builder *builder, struct graph *graph, uint32_t channels)
{
    sv_pool *store = builder->store;
    sv_ctx *ctx = builder->ctx;
    graph->hops = SV_POOL_NEW(store, ctx, sv_hop, channels);
    graph->tail = SV_POOL_NEW(store, ctx, sv_node, channels);
    graph->head = SV_POOL_NEW(store, ctx, sv_node, channels);
    graph->reverse = SV_POOL_NEW(store, ctx, sv_channel, channels);
    graph->port = SV_POOL_NEW(store, ctx, uint16_t, channels);
    graph->link = SV_POOL_NEW(store, ctx, uint16_t, channels);
    bool all = graph->hops != NULL && graph->tail != NULL && graph->head != NULL &&
               graph->reverse != NULL && graph->port != NULL && graph->link != NULL;
    return all ? SV_OK : SV_NO_MEMORY;
}

/* Fills the graph from the sorted ends; place[end] is the channel that leaves at an end. */
static sv_status graph_fill(sv_builder *builder, const struct graph *graph, const uint32_t *sorted,
                            uint32_t *place)
{
    uint32_t channels = 2 * (uint32_t)builder->cables.length;
    for (uint32_t c = 0; c < channels; c++)
        place[sorted[c]] = c;
    for (uint32_t c = 0; c < channels; c++) {
        uint32_t end = sorted[c];
        graph->tail[c].i = end_node(builder, end);
        graph->head[c].i = end_node(builder, end ^ 1);
        graph->reverse[c].i = place[end ^ 1];
        graph->port[c] = end_port(builder, end);
        graph->link[c] = builder->cables.at[end >> 1].link;
        graph->hops[c] = (sv_hop){{c}, graph->head[c]};
        if (c > 0 && graph->tail[c].i == graph->tail[c - 1].i &&
            graph->port[c] == graph->port[c - 1])
            return sv_fail(builder->ctx, SV_BAD_INPUT, "port %u of '%s' is used twice",
                           graph->port[c], node_name(builder, graph->tail[c].i));
    }
    return SV_OK;
}

/* Moves a builder array into the store. */
static void *keep(sv_builder *builder, const void *at, size_t length, size_t size)
{
    void *kept = sv__pool_alloc(builder->store, builder->ctx, length, size);
    if (kept != NULL && length > 0)
        memcpy(kept, at, length * size);
    return kept;
}

static sv_status fill(sv_builder *builder, sv_arena *scratch, sv_fabric *f)
{
    sv_ctx *ctx = builder->ctx;
    uint32_t channels = 2 * (uint32_t)builder->cables.length, *sorted;
    size_t nodes = builder->switches.length + builder->terminals.length;
    uint32_t *first = SV_POOL_NEW(builder->store, ctx, uint32_t, nodes + 1);
    uint32_t *place = SV_ARENA_NEW(scratch, uint32_t, channels);
    struct graph graph;
    if (first == NULL || place == NULL)
        return SV_NO_MEMORY;
    number_nodes(builder);
    SV_TRY(sort_ends(builder, scratch, first, &sorted));
    SV_TRY(graph_alloc(builder, &graph, channels));
    SV_TRY(graph_fill(builder, &graph, sorted, place));
    *f = (sv_fabric){
        .num_switches = (uint32_t)builder->switches.length,
        .num_terminals = (uint32_t)builder->terminals.length,
        .num_adapters = (uint32_t)builder->adapters.length,
        .num_channels = channels,
        .live_switches = (uint32_t)builder->switches.length,
        .live_terminals = (uint32_t)builder->terminals.length,
        .live_channels = channels,
        .switches = keep(builder, builder->switches.at, builder->switches.length,
                         sizeof *builder->switches.at),
        .terminals = keep(builder, builder->terminals.at, builder->terminals.length,
                          sizeof *builder->terminals.at),
        .adapters = keep(builder, builder->adapters.at, builder->adapters.length,
                         sizeof *builder->adapters.at),
        .first = first,
        .hops = graph.hops,
        .tail = graph.tail,
        .head = graph.head,
        .reverse = graph.reverse,
        .port = graph.port,
        .link = graph.link,
        .links = keep(builder, builder->links.at, builder->links.length, sizeof *builder->links.at),
        .num_links = (uint32_t)builder->links.length,
        .store = builder->store};
    bool all =
        f->switches != NULL && f->terminals != NULL && f->adapters != NULL && f->links != NULL;
    return all ? SV_OK : SV_NO_MEMORY;
}

sv_status sv_builder_finish(sv_builder *builder, sv_fabric **fabric)
{
    sv_status status = builder->status;
    size_t nodes = builder->switches.length + builder->terminals.length;
    if (status == SV_OK && nodes >= TERMINAL)
        status = sv_fail(builder->ctx, SV_UNSUPPORTED, "more than %u nodes", TERMINAL - 1);
    sv_arena scratch;
    sv_arena_init(&scratch, builder->ctx);
    sv_fabric *f = NULL;
    if (status == SV_OK) {
        f = SV_POOL_NEW(builder->store, builder->ctx, sv_fabric, 1);
        status = f == NULL ? SV_NO_MEMORY : fill(builder, &scratch, f);
    }
    sv_arena_release(&scratch);
    if (status == SV_OK) {
        builder->store = NULL; /* the fabric's now */
        *fabric = f;
    }
    sv_builder_free(builder);
    return status;
}
