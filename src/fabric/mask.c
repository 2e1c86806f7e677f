/*
 * mask.c: failures as a second fabric over the same numbers.
 *
 * Idea: everything that describes parts is shared with the fabric it came from; only the lists of
 * live hops and the dead bits are new. Walking a masked fabric costs what walking a whole one
 * does: there is no test for dead channels in anybody's inner loop.
 *
 * Invariants: dead_channels is closed under reverse; all channels of a dead node are dead; a
 * terminal without a live channel is dead if it had one before. A mask never revives anything.
 * Cost: O(nodes + channels), and 8 bytes a live channel.
 */
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"

sv_mask *sv_mask_new(sv_ctx *ctx, const sv_fabric *fabric)
{
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return NULL;
    sv_mask *mask = SV_POOL_NEW(store, ctx, sv_mask, 1);
    uint64_t *nodes = sv_bitset_new(&store->arena, sv_num_nodes(fabric));
    uint64_t *channels = sv_bitset_new(&store->arena, fabric->num_channels);
    if (mask == NULL || nodes == NULL || channels == NULL) {
        sv_fail(ctx, SV_NO_MEMORY, "out of memory");
        sv__pool_drop(store);
        return NULL;
    }
    *mask = (sv_mask){nodes, channels, sv_num_nodes(fabric), fabric->num_channels, store};
    return mask;
}

void sv_mask_free(sv_mask *mask)
{
    if (mask != NULL)
        sv__pool_drop(mask->store);
}

void sv_mask_node(sv_mask *mask, sv_node v)
{
    sv_bit_set(mask->nodes, v.i);
}

void sv_mask_cable(sv_mask *mask, const sv_fabric *fabric, sv_channel c)
{
    sv_bit_set(mask->channels, c.i);
    sv_bit_set(mask->channels, fabric->reverse[c.i].i);
}

/* The union of two sets, the second of which may be NULL. */
static uint64_t *joined(sv_pool *store, size_t bits, const uint64_t *a, const uint64_t *b)
{
    uint64_t *set = sv_bitset_new(&store->arena, bits);
    if (set != NULL)
        for (size_t w = 0; w < sv_bitset_words(bits); w++)
            set[w] = a[w] | (b != NULL ? b[w] : 0);
    return set;
}

/* Channels die with their nodes; terminals die with their channel. */
static void spread(const sv_fabric *f, uint64_t *nodes, uint64_t *channels)
{
    for (uint32_t c = 0; c < f->num_channels; c++) {
        if (sv_bit(nodes, f->tail[c].i) || sv_bit(nodes, f->head[c].i)) {
            sv_bit_set(channels, c);
            sv_bit_set(channels, f->reverse[c].i);
        }
    }
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_bit(channels, c) && !sv_is_switch(f, f->tail[c]))
            sv_bit_set(nodes, f->tail[c].i);
}

static uint32_t count_live(const uint64_t *dead, uint32_t from, uint32_t to)
{
    uint32_t live = 0;
    for (uint32_t i = from; i < to; i++)
        live += !sv_bit(dead, i);
    return live;
}

/* Lists the live hops of every node. */
static void list_hops(const sv_fabric *f, const uint64_t *channels, uint32_t *first, sv_hop *hops)
{
    uint32_t at = 0;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        first[v] = at;
        SV_FOR_HOPS (f, ((sv_node){v}), hop)
            if (!sv_bit(channels, hop->channel.i))
                hops[at++] = *hop;
    }
    first[sv_num_nodes(f)] = at;
}

static sv_status mask_into(sv_ctx *ctx, const sv_fabric *fabric, const sv_mask *mask,
                           sv_pool *store, sv_fabric **result)
{
    uint32_t nodes = sv_num_nodes(fabric);
    uint64_t *dead_nodes = joined(store, nodes, mask->nodes, fabric->dead_nodes);
    uint64_t *dead_channels =
        joined(store, fabric->num_channels, mask->channels, fabric->dead_channels);
    sv_fabric *f = SV_POOL_NEW(store, ctx, sv_fabric, 1);
    if (dead_nodes == NULL || dead_channels == NULL || f == NULL)
        return sv_fail(ctx, SV_NO_MEMORY, "out of memory");
    spread(fabric, dead_nodes, dead_channels);
    uint32_t live = count_live(dead_channels, 0, fabric->num_channels);
    uint32_t *first = SV_POOL_NEW(store, ctx, uint32_t, (size_t)nodes + 1);
    sv_hop *hops = SV_POOL_NEW(store, ctx, sv_hop, live);
    if (first == NULL || hops == NULL)
        return SV_NO_MEMORY;
    list_hops(fabric, dead_channels, first, hops);
    *f = *fabric;
    f->first = first;
    f->hops = hops;
    f->dead_nodes = dead_nodes;
    f->dead_channels = dead_channels;
    f->live_channels = live;
    f->live_switches = count_live(dead_nodes, 0, f->num_switches);
    f->live_terminals = count_live(dead_nodes, f->num_switches, nodes);
    f->store = store;
    *result = f;
    return SV_OK;
}

sv_status sv_fabric_mask(sv_ctx *ctx, const sv_fabric *fabric, const sv_mask *mask,
                         sv_fabric **result)
{
    if (mask->num_nodes != sv_num_nodes(fabric) || mask->num_channels != fabric->num_channels)
        return sv_fail(ctx, SV_BAD_INPUT, "a mask made for another fabric");
    sv_pool *store = sv__pool_new(ctx, fabric->store);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_status status = mask_into(ctx, fabric, mask, store, result);
    if (status != SV_OK)
        sv__pool_drop(store);
    return status;
}

sv_status sv_fabric_with_roles(sv_ctx *ctx, const sv_fabric *fabric, const sv_role *roles,
                               sv_fabric **result)
{
    sv_pool *store = sv__pool_new(ctx, fabric->store);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_fabric *f = SV_POOL_NEW(store, ctx, sv_fabric, 1);
    sv_terminal_info *terminals = SV_POOL_NEW(store, ctx, sv_terminal_info, fabric->num_terminals);
    if (f == NULL || terminals == NULL) {
        sv__pool_drop(store);
        return SV_NO_MEMORY;
    }
    *f = *fabric;
    for (uint32_t t = 0; t < fabric->num_terminals; t++) {
        terminals[t] = fabric->terminals[t];
        terminals[t].role = (uint8_t)roles[t];
    }
    f->terminals = terminals;
    f->store = store;
    *result = f;
    return SV_OK;
}
