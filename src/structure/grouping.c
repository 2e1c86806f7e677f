/*
 * grouping.c: what a grouping of switches lacks to be a fully connected dragonfly, and how it
 * looks.
 *
 * It lacks a cable for every two switches of a group that have none, and one for every two groups
 * of the same part of the fabric that have none. Which groups are joined is a bit a pair. A
 * grouping with so many groups that they could not all be joined is not looked at any closer.
 *
 * Cost: linear in the cables, and bits for the pairs of groups.
 */
#include <string.h>

#include "base/bitset.h"
#include "structure/dragonfly.h"

/* More pairs of groups than that for each cable there is: this is no dragonfly. */
enum { PAIRS_PER_CABLE = 4, FEW_PAIRS = 4096 };

sv_status sv__grouping_init(sv__grouping *g, sv_arena *arena, const sv_dragonfly *d)
{
    uint32_t n = d->core->num_switches;
    *g = (sv__grouping){.room = (uint64_t)d->core->num_entries * PAIRS_PER_CABLE + FEW_PAIRS};
    g->group = SV_ARENA_NEW(arena, uint32_t, n);
    g->size = SV_ARENA_NEW(arena, uint32_t, n);
    g->in_part = SV_ARENA_NEW(arena, uint32_t, n);
    g->volume = SV_ARENA_NEW(arena, uint64_t, n);
    g->joined = sv_bitset_new(arena, g->room);
    return g->group == NULL || g->size == NULL || g->in_part == NULL || g->volume == NULL ||
                   g->joined == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

void sv__grouping_number(sv__grouping *g, uint32_t *scratch, uint32_t switches)
{
    memset(scratch, 0xff, switches * sizeof *scratch);
    memset(g->size, 0, switches * sizeof *g->size);
    g->num_groups = 0;
    for (uint32_t s = 0; s < switches; s++) {
        if (g->group[s] == SV_NONE)
            continue;
        if (scratch[g->group[s]] == SV_NONE)
            scratch[g->group[s]] = g->num_groups++;
        g->group[s] = scratch[g->group[s]];
        g->size[g->group[s]]++;
    }
}

static uint64_t pairs_of(uint64_t count)
{
    return count < 2 ? 0 : count * (count - 1) / 2;
}

/* The bit of two groups. */
static uint64_t pair_bit(uint32_t a, uint32_t b)
{
    return a < b ? pairs_of(b) + a : pairs_of(a) + b;
}

/* Pairs of groups that could have a cable: those of one part. part: of switches. */
static uint64_t pairs_in_parts(const sv__grouping *g, const sv_dragonfly *d, const uint32_t *part)
{
    uint64_t pairs = 0;
    uint32_t now = 0;
    memset(g->in_part, 0, d->core->num_switches * sizeof *g->in_part);
    /* Groups are numbered by their first switch: the first of each comes in order. */
    for (uint32_t s = 0; s < d->core->num_switches && now < g->num_groups; s++)
        if (g->group[s] == now) {
            pairs += g->in_part[part[s]]++;
            now++;
        }
    return pairs;
}

/* How much more cables stay inside groups than they would by chance. */
static int64_t modularity_of(const sv__grouping *g, const sv_core *core)
{
    int64_t inside = 0, result = 0;
    memset(g->volume, 0, g->num_groups * sizeof *g->volume);
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t group = g->group[core->to[e]];
        inside += g->group[core->neighbour[e]] == group;
        g->volume[group]++;
    }
    for (uint32_t i = 0; i < g->num_groups; i++)
        result -= (int64_t)(g->volume[i] * g->volume[i]);
    return result + inside * (int64_t)core->num_entries;
}

sv_dragonfly_lack sv__grouping_judge(const sv__grouping *g, const sv_dragonfly *d,
                                     const uint32_t *part, uint64_t max)
{
    sv_dragonfly_lack lack = {.cables = UINT64_MAX, .groups = g->num_groups};
    uint64_t inside = 0, joined = 0;
    uint32_t smallest = UINT32_MAX, largest = 0, n = d->core->num_switches;
    if (pairs_of(g->num_groups) > g->room)
        return lack;
    for (uint32_t i = 0; i < g->num_groups; i++) {
        inside += pairs_of(g->size[i]);
        smallest = g->size[i] < smallest ? g->size[i] : smallest;
        largest = g->size[i] > largest ? g->size[i] : largest;
    }
    lack.inside_pairs = inside;
    if (inside > max && inside - max > d->near_first[n] / 2)
        return lack;
    memset(g->joined, 0, sv_bitset_words(pairs_of(g->num_groups)) * sizeof *g->joined);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1] && d->near[k] < s; k++) {
            uint32_t a = g->group[s], b = g->group[d->near[k]];
            if (a == b)
                inside--;
            else if (!sv_bit(g->joined, pair_bit(a, b))) {
                sv_bit_set(g->joined, pair_bit(a, b));
                joined++;
            }
        }
    lack.pairs = pairs_in_parts(g, d, part);
    lack.between = lack.pairs - joined;
    lack.cables = inside + lack.between;
    lack.modularity = modularity_of(g, d->core);
    lack.smallest = smallest;
    lack.uneven = g->num_groups > 0 ? largest - smallest : 0;
    return lack;
}

/* ---- how it looks ---- */

/* The first two switches of a group that no cable joins. */
static void find_apart(sv_dragonfly *d)
{
    for (uint32_t i = 0; i < d->num_groups; i++)
        for (uint32_t k = d->first[i]; k < d->first[i + 1]; k++) {
            uint32_t s = d->members[k], at = d->near_first[s];
            for (uint32_t l = d->first[i]; l < d->first[i + 1]; l++) {
                while (at < d->near_first[s + 1] && d->near[at] < d->members[l])
                    at++;
                if (l <= k || (at < d->near_first[s + 1] && d->near[at] == d->members[l]))
                    continue;
                if (d->unjoined_switches++ == 0) {
                    d->apart[0] = s;
                    d->apart[1] = d->members[l];
                }
            }
        }
}

/* Counts the cables from one group to each of the others. between: [groups], scratch. */
static void count_between(sv_dragonfly *d, uint32_t group, uint32_t *between)
{
    const sv_core *core = d->core;
    memset(between, 0, d->num_groups * sizeof *between);
    for (uint32_t k = d->first[group]; k < d->first[group + 1]; k++) {
        uint32_t s = d->members[k];
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
            between[d->group[core->neighbour[e]]]++;
    }
    d->local_cables += between[group] / 2;
    for (uint32_t other = group + 1; other < d->num_groups; other++) {
        d->global_cables += between[other];
        if (d->part[other] != d->part[group])
            continue;
        if (between[other] == 0 && d->unjoined_groups++ == 0) {
            d->strangers[0] = group;
            d->strangers[1] = other;
        }
        if (between[other] < d->fewest_between)
            d->fewest_between = between[other];
        if (between[other] > d->max_between)
            d->max_between = between[other];
    }
}

/* Whether all members of a group reach each other inside it. queue, seen: [switches] scratch. */
static bool holds_together(const sv_dragonfly *d, uint32_t group, uint32_t *queue, bool *seen)
{
    uint32_t head = 0, tail = 0;
    queue[tail++] = d->members[d->first[group]];
    seen[queue[0]] = true;
    while (head < tail) {
        uint32_t s = queue[head++];
        for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1]; k++) {
            uint32_t to = d->near[k];
            if (d->group[to] != group || seen[to])
                continue;
            seen[to] = true;
            queue[tail++] = to;
        }
    }
    return tail == d->first[group + 1] - d->first[group];
}

sv_status sv__dragonfly_describe(sv_dragonfly *d, sv_arena *arena)
{
    uint32_t n = d->core->num_switches;
    uint32_t *between = SV_ARENA_NEW(arena, uint32_t, (size_t)d->num_groups + 1);
    uint32_t *queue = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    bool *seen = SV_ARENA_NEW(arena, bool, n);
    if (between == NULL || queue == NULL || seen == NULL)
        return SV_NO_MEMORY;
    d->apart[0] = d->apart[1] = d->strangers[0] = d->strangers[1] = d->split = SV_NONE;
    d->smallest = d->fewest_between = UINT32_MAX;
    find_apart(d);
    for (uint32_t i = 0; i < d->num_groups; i++) {
        uint32_t size = d->first[i + 1] - d->first[i];
        d->smallest = size < d->smallest ? size : d->smallest;
        d->largest = size > d->largest ? size : d->largest;
        count_between(d, i, between);
        if (d->split == SV_NONE && !holds_together(d, i, queue, seen))
            d->split = i;
    }
    if (d->max_between == 0)
        d->fewest_between = 0;
    if (d->num_groups == 0)
        d->smallest = 0;
    return SV_OK;
}
