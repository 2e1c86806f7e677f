/*
 * treeorder.c: chooses between two orders for the switches of a fat tree.
 *
 * By levels alone, the top first, hosts on leaves reach each other, but roots do not reach roots,
 * nor do hosts on them. An order with one summit (orient.c) joins everything, because it turns one
 * leaf and all that stands above it upside down. In a regular tree that costs nothing. Where it
 * does, it is because a switch has two ways down to the same leaf, over a turned neighbour and over
 * one that is not: the first has become a way up, and who can go down must. So that is looked for:
 * if no switch sees a leaf below both kinds of neighbours, the summit is free.
 *
 * Cost: O(channels × switches / 64), and a bit for each pair of switches.
 */
#include "routing/treeorder.h"

#include <stdio.h>
#include <string.h>

#include "base/bitset.h"
#include "routing/orient.h"

struct chooser {
    sv__routing_job *job;
    const sv_core *core;
    const sv_fat_tree *tree;
    sv__tree_order *order;
    size_t words; /* of a row of bits */
};

static void place_by_level(const struct chooser *x, uint32_t *place)
{
    uint32_t next = 0, n = x->core->num_switches;
    for (uint32_t l = x->tree->levels; l-- > 0;)
        for (uint32_t s = 0; s < n; s++)
            if (x->tree->level[s] == l)
                place[s] = next++;
    for (uint32_t s = 0; s < n; s++)
        if (x->tree->level[s] == SV_NONE)
            place[s] = sv_node_alive(x->job->fabric, (sv_node){s}) ? next++ : SV_NONE;
}

static sv_status place_with_summit(const struct chooser *x, uint32_t *place)
{
    uint32_t n = x->core->num_switches, *rank = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    if (rank == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        rank[s] = x->tree->level[s] == SV_NONE ? 0 : x->tree->levels - 1 - x->tree->level[s];
    return sv__orient_ranks(x->job, x->core, rank, place);
}

static void list_places(const struct chooser *x)
{
    sv__tree_order *o = x->order;
    o->live = 0;
    for (uint32_t s = 0; s < x->core->num_switches; s++)
        if (o->place[s] != SV_NONE) {
            o->by_place[o->place[s]] = s;
            o->live++;
        }
}

/* row |= other, of bits */
static void add_bits(uint64_t *row, const uint64_t *other, size_t words)
{
    for (size_t w = 0; w < words; w++)
        row[w] |= other[w];
}

/* What each switch has below it, itself included: a row of bits of each. */
static void collect_below(const struct chooser *x, uint64_t *below)
{
    const sv__tree_order *o = x->order;
    for (uint32_t i = o->live; i-- > 0;) {
        uint32_t s = o->by_place[i];
        sv_bit_set(below + s * x->words, s);
        for (uint32_t e = x->core->first[s]; e < x->core->first[s + 1]; e++)
            if (o->place[x->core->neighbour[e]] > i)
                add_bits(below + s * x->words, below + x->core->neighbour[e] * x->words, x->words);
    }
}

/* From that, in place, what each reaches by going up first and then down. */
static void collect_reached(const struct chooser *x, uint64_t *reached)
{
    const sv__tree_order *o = x->order;
    for (uint32_t i = 0; i < o->live; i++) {
        uint32_t s = o->by_place[i];
        for (uint32_t e = x->core->first[s]; e < x->core->first[s + 1]; e++)
            if (o->place[x->core->neighbour[e]] < i)
                add_bits(reached + s * x->words, reached + x->core->neighbour[e] * x->words,
                         x->words);
    }
}

/* Whether a switch sees something below both turned neighbours and others. */
static bool loses_ways(const struct chooser *x, uint32_t s, const uint32_t *summit,
                       const uint64_t *below, uint64_t *turned)
{
    const uint32_t *plain = x->order->place, *neighbour = x->core->neighbour;
    bool any = false;
    memset(turned, 0, x->words * sizeof *turned);
    for (uint32_t e = x->core->first[s]; e < x->core->first[s + 1]; e++)
        if (plain[neighbour[e]] > plain[s] && summit[neighbour[e]] < summit[s]) {
            add_bits(turned, below + neighbour[e] * x->words, x->words);
            any = true;
        }
    for (uint32_t e = x->core->first[s]; any && e < x->core->first[s + 1]; e++)
        if (plain[neighbour[e]] > plain[s] && summit[neighbour[e]] > summit[s])
            for (size_t w = 0; w < x->words; w++)
                if (turned[w] & below[neighbour[e] * x->words + w])
                    return true;
    return false;
}

static sv_status summit_costs(const struct chooser *x, const uint32_t *summit,
                              const uint64_t *below, bool *costs)
{
    uint64_t *turned = SV_ARENA_NEW(x->job->arena, uint64_t, x->words);
    if (turned == NULL)
        return SV_NO_MEMORY;
    *costs = false;
    for (uint32_t s = 0; s < x->core->num_switches && !*costs; s++)
        *costs = loses_ways(x, s, summit, below, turned);
    return SV_OK;
}

/* Numbers the components. */
static sv_status number_pieces(const struct chooser *x, uint32_t *piece)
{
    uint32_t n = x->core->num_switches, *queue = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    if (queue == NULL)
        return SV_NO_MEMORY;
    memset(piece, 0xff, n * sizeof *piece);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t tail = 0;
        if (piece[s] != SV_NONE)
            continue;
        piece[s] = s;
        queue[tail++] = s;
        for (uint32_t head = 0; head < tail; head++)
            for (uint32_t e = x->core->first[queue[head]]; e < x->core->first[queue[head] + 1]; e++)
                if (piece[x->core->neighbour[e]] == SV_NONE) {
                    piece[x->core->neighbour[e]] = s;
                    queue[tail++] = x->core->neighbour[e];
                }
    }
    return SV_OK;
}

/* Whether all of a component reach each other, but for switches without hosts on either side. */
static sv_status joins(const struct chooser *x, const uint64_t *reached, bool *all)
{
    uint32_t n = x->core->num_switches, *piece = SV_ARENA_NEW(x->job->arena, uint32_t, n);
    if (piece == NULL)
        return SV_NO_MEMORY;
    SV_TRY(number_pieces(x, piece));
    *all = true;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t t = 0; t < n && *all; t++)
            *all = piece[s] != piece[t] || x->order->place[s] == SV_NONE ||
                   (x->core->terminals[s] == 0 && x->core->terminals[t] == 0) ||
                   sv_bit(reached + s * x->words, t);
    return SV_OK;
}

sv_status sv__tree_order_find(sv__tree_order *order, sv__routing_job *job, const sv_core *core,
                              const sv_fat_tree *tree)
{
    uint32_t n = core->num_switches;
    struct chooser x = {job, core, tree, order, sv_bitset_words(n)};
    uint32_t *summit = SV_ARENA_NEW(job->arena, uint32_t, n);
    uint64_t *bits = SV_ARENA_NEW(job->arena, uint64_t, (size_t)n * x.words);
    bool costs;
    *order = (sv__tree_order){.place = SV_ARENA_NEW(job->arena, uint32_t, n),
                              .by_place = SV_ARENA_NEW(job->arena, uint32_t, n)};
    if (summit == NULL || bits == NULL || order->place == NULL || order->by_place == NULL)
        return SV_NO_MEMORY;
    place_by_level(&x, order->place);
    list_places(&x);
    collect_below(&x, bits);
    SV_TRY(place_with_summit(&x, summit));
    SV_TRY(summit_costs(&x, summit, bits, &costs));
    if (costs) {
        collect_reached(&x, bits);
        SV_TRY(joins(&x, bits, &order->plain));
    }
    if (order->plain)
        return SV_OK;
    order->place = summit;
    list_places(&x);
    return SV_OK;
}

void sv__tree_tell(sv__routing_job *job, const sv_fat_tree *t)
{
    char sizes[100] = "", odd[60] = "";
    size_t used = 0;
    for (uint32_t l = t->levels; l-- > 0;) {
        if (used > sizeof sizes - 20) {
            snprintf(sizes + used, sizeof sizes - used, " ...");
            break;
        }
        used += (size_t)snprintf(sizes + used, sizeof sizes - used, "%s%u", used > 0 ? ", " : "",
                                 t->count[l]);
    }
    if (t->sideways > 0)
        snprintf(odd, sizeof odd, ", %u cable%s within a level", t->sideways,
                 t->sideways == 1 ? "" : "s");
    if (t->levels == 1)
        sv__found(job, "fat tree", "1 level: %s switch%s, %u host%s%s", sizes,
                  t->count[0] == 1 ? "" : "es", t->num_hosts, t->num_hosts == 1 ? "" : "s", odd);
    else
        sv__found(job, "fat tree", "%u levels of %s switches from the top, %u hosts on %u%s",
                  t->levels, sizes, t->num_hosts, t->num_leaves, odd);
    sv__fact(job, "levels", t->levels);
    sv__fact_list(job, "switches_by_level", t->count, t->levels);
    sv__fact(job, "hosts", t->num_hosts);
    sv__fact(job, "switches_with_hosts", t->num_leaves);
    sv__fact(job, "cables", t->cables);
    sv__fact(job, "sideways_cables", t->sideways);
    sv__fact(job, "skipping_cables", t->skipping);
}
