/*
 * index.c: from what a user typed to a node.
 *
 * Idea: three maps, by GUID, by name and by LID. A key that two nodes answer to maps to AMBIGUOUS,
 * so that asking for it is refused instead of answered at random. A port's own GUID or name wins
 * over its adapter's, which names a node only if the adapter has one live port.
 *
 * Invariant: only live nodes are found.
 * Cost: linear expected to build, O(length) expected to ask.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "fabric/store.h"

#define AMBIGUOUS (SV_ABSENT - 1)

struct sv_index {
    sv_ctx ctx; /* for its allocator */
    sv_arena arena;
    const sv_fabric *fabric;
    sv_map ports, adapters, lids;
    sv_names names;
};

static sv_status map_node(sv_map *map, uint64_t key, uint32_t node)
{
    uint32_t held;
    SV_TRY(sv_map_add(map, key, node, &held));
    if (held != node)
        sv_map_set(map, key, AMBIGUOUS);
    return SV_OK;
}

static sv_status name_node(sv_index *index, sv_span name, uint32_t node)
{
    uint32_t held;
    if (name.length == 0)
        return SV_OK;
    SV_TRY(sv_names_add(&index->names, name, node, &held));
    if (held != node)
        sv_names_set(&index->names, name, AMBIGUOUS);
    return SV_OK;
}

/* A name, and what stands before its first blank ("host7 mlx5_0" answers to "host7"). */
static sv_status add_names(sv_index *index, const char *name, uint32_t node)
{
    sv_span whole = sv_span_of(name), word = {name, strcspn(name, " ")};
    SV_TRY(name_node(index, whole, node));
    return word.length == whole.length ? SV_OK : name_node(index, word, node);
}

static sv_status add_switch(sv_index *index, uint32_t s)
{
    const sv_switch_info *about = &index->fabric->switches[s];
    if (about->guid != 0)
        SV_TRY(map_node(&index->ports, about->guid, s));
    if (about->lid != 0)
        SV_TRY(map_node(&index->lids, about->lid, s));
    return add_names(index, about->name, s);
}

static sv_status add_terminal(sv_index *index, uint32_t t)
{
    const sv_fabric *f = index->fabric;
    const sv_terminal_info *about = &f->terminals[t];
    const sv_adapter_info *adapter = &f->adapters[about->adapter];
    uint32_t node = f->num_switches + t;
    if (about->guid != 0)
        SV_TRY(map_node(&index->ports, about->guid, node));
    if (adapter->guid != 0)
        SV_TRY(map_node(&index->adapters, adapter->guid, node));
    for (uint32_t k = 0; about->lid != 0 && k < 1u << about->lmc; k++)
        SV_TRY(map_node(&index->lids, about->lid + k, node));
    SV_TRY(add_names(index, adapter->name, node));
    size_t room = strlen(adapter->name) + 8;
    char *numbered = sv_arena_alloc(&index->arena, room, 1);
    if (numbered == NULL)
        return SV_NO_MEMORY;
    snprintf(numbered, room, "%s/%u", adapter->name, about->port);
    return name_node(index, sv_span_of(numbered), node);
}

static sv_status add_all(sv_index *index)
{
    const sv_fabric *f = index->fabric;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            SV_TRY(add_switch(index, s));
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            SV_TRY(add_terminal(index, t));
    return SV_OK;
}

sv_index *sv_index_new(sv_ctx *ctx, const sv_fabric *fabric)
{
    sv_index *index = sv_alloc(ctx, 1, sizeof *index);
    if (index == NULL)
        return NULL;
    index->ctx.host = (sv_host){.user = ctx->host.user, .resize = ctx->host.resize};
    index->fabric = fabric;
    sv_arena_init(&index->arena, &index->ctx);
    sv_map_init(&index->ports, &index->ctx);
    sv_map_init(&index->adapters, &index->ctx);
    sv_map_init(&index->lids, &index->ctx);
    sv_names_init(&index->names, &index->ctx);
    if (add_all(index) != SV_OK) {
        sv_fail(ctx, SV_NO_MEMORY, "out of memory");
        sv_index_free(index);
        return NULL;
    }
    return index;
}

void sv_index_free(sv_index *index)
{
    if (index == NULL)
        return;
    sv_map_release(&index->ports);
    sv_map_release(&index->adapters);
    sv_map_release(&index->lids);
    sv_names_release(&index->names);
    sv_arena_release(&index->arena);
    sv_ctx allocator = index->ctx;
    sv_release(&allocator, index);
}

static uint32_t find_guid(const sv_index *index, uint64_t guid)
{
    uint32_t node = sv_map_get(&index->ports, guid);
    return node != SV_ABSENT ? node : sv_map_get(&index->adapters, guid);
}

sv_status sv_index_find(sv_ctx *ctx, const sv_index *index, const char *text, sv_node *node)
{
    uint64_t number;
    uint32_t found = sv_names_get(&index->names, sv_span_of(text));
    sv_scan scan = sv_scan_of(sv_span_of(text));
    if (found == SV_ABSENT && sv_scan_text(&scan, "lid ")) {
        sv_scan_blanks(&scan);
        if (sv_scan_number(&scan, SV_LID_MAX, &number) && sv_scan_done(&scan))
            found = sv_map_get(&index->lids, number);
    } else if (found == SV_ABSENT && strncmp(text, "0x", 2) == 0) {
        if (sv_scan_hex(&scan, &number) && sv_scan_done(&scan))
            found = find_guid(index, number);
    }
    if (found == SV_ABSENT)
        return sv_fail(ctx, SV_BAD_INPUT, "no node is called '%s'", text);
    if (found == AMBIGUOUS)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "'%s' names more than one node: give the GUID of the one you mean", text);
    *node = (sv_node){found};
    return SV_OK;
}
