/*
 * dmodk_slots.c: the digits of engine dmodk: which cable up each switch takes for each of them.
 *
 * Zahavi numbers a host i and lets it go up from level l by parent (i / w_1 … w_l) mod w_(l+1),
 * over the parallel cable that the next digit says. This needs switches of different subtrees to
 * agree in how they number their parents. Here the numbers are found from above: switches of a
 * level that share parents are a group; parents in a group are numbered by the group they are in
 * themselves, then by node. So the first parents of all subtrees are those under the same roots.
 *
 * A cable is a slot, numbered by parallel cable and parent. What most switches of a level have is
 * taken as its number of slots; a switch without a cable for a slot is lame there, and spreads the
 * destinations of that slot over the cables it has (dmodk_home.c). Groups in which most lack most
 * parents (leaves that hang on a few line cards of many) number the parents each for themselves.
 *
 * Indices: hosts that compute on the level that has most of them come first, leaf by leaf in tree
 * order, each leaf having as many places as the fullest, and dead hosts keeping theirs; the others
 * follow. With an order given it is that.
 *
 * Cost: O(channels + slots × switches) and sorting.
 */
#include "base/sets.h"
#include <stdlib.h>
#include <string.h>

#include "routing/dmodk.h"

/* A parent of a group. */
struct parent {
    uint32_t head, group, s;
};

struct sorter {
    sv__dmodk *k;
    uint32_t *head;  /* of groups on the level at hand */
    uint32_t *group; /* [switches]: the first of their group */
    uint32_t *rank;  /* [switches]: number in the group, as parent */
    uint32_t *mark, stamp;
    uint32_t *width; /* [switches]: of heads: parents of the group */
    uint64_t *pairs, *members;
    struct parent *parents;
    uint32_t *tally;
};

static sv_status sort_cables(sv__dmodk *k)
{
    const sv_core *core = &k->core;
    uint32_t n = core->num_switches;
    k->ups = SV_ARENA_NEW(k->job->arena, uint32_t, core->num_entries);
    k->downs = SV_ARENA_NEW(k->job->arena, uint32_t, core->num_entries);
    k->up_first = SV_ARENA_NEW(k->job->arena, uint32_t, (size_t)n + 1);
    k->down_first = SV_ARENA_NEW(k->job->arena, uint32_t, (size_t)n + 1);
    if (k->ups == NULL || k->downs == NULL || k->up_first == NULL || k->down_first == NULL)
        return SV_NO_MEMORY;
    uint32_t up = 0, down = 0;
    for (uint32_t s = 0; s < n; s++) {
        k->up_first[s] = up;
        k->down_first[s] = down;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t to = k->level_of[core->neighbour[e]];
            if (to > k->level_of[s])
                k->ups[up++] = e;
            else if (to < k->level_of[s])
                k->downs[down++] = e;
        }
    }
    k->up_first[n] = up;
    k->down_first[n] = down;
    return SV_OK;
}

static int by_group(const void *a, const void *b)
{
    const struct parent *x = a, *y = b;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->s < y->s ? -1 : x->s > y->s;
}

/* Finds the groups of a level, and numbers their parents. */
static void find_groups(struct sorter *x, uint32_t level)
{
    sv__dmodk *k = x->k;
    uint32_t n = k->core.num_switches, count = 0, stamp = ++x->stamp;
    for (uint32_t s = 0; s < n; s++)
        x->head[s] = s;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t i = k->up_first[s]; k->level_of[s] == level && i < k->up_first[s + 1]; i++) {
            uint32_t up = k->core.neighbour[k->ups[i]];
            uint32_t a = sv_set_head(x->head, s), b = sv_set_head(x->head, up);
            x->head[a < b ? b : a] = a < b ? a : b;
            if (x->mark[up] != stamp) {
                x->mark[up] = stamp;
                x->parents[count++] = (struct parent){.s = up};
            }
        }
    for (uint32_t i = 0; i < count; i++) {
        x->parents[i].head = sv_set_head(x->head, x->parents[i].s);
        x->parents[i].group = x->group[x->parents[i].s];
    }
    qsort(x->parents, count, sizeof *x->parents, by_group);
    for (uint32_t i = 0, rank = 0; i < count; i++) {
        rank = i > 0 && x->parents[i].head == x->parents[i - 1].head ? rank + 1 : 0;
        x->rank[x->parents[i].s] = rank;
        x->width[x->parents[i].head] = rank + 1;
        x->pairs[x->parents[i].head] = x->members[x->parents[i].head] = 0;
    }
    stamp = ++x->stamp; /* now of heads whose first member has been met */
    for (uint32_t s = 0; s < n; s++) {
        if (k->level_of[s] != level || k->up_first[s] == k->up_first[s + 1])
            continue;
        uint32_t head = sv_set_head(x->head, s);
        if (x->mark[head] != stamp) {
            x->mark[head] = stamp;
            x->tally[head] = s;
        }
        x->group[s] = x->tally[head];
        k->sibling[s] = (uint32_t)x->members[head]++;
    }
}

/* Sorts the cables up of a switch by parent, and counts its parents. */
static uint32_t sort_ups(struct sorter *x, uint32_t s)
{
    const sv__dmodk *k = x->k;
    uint32_t *ups = k->ups + k->up_first[s], count = k->up_first[s + 1] - k->up_first[s];
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i;
             j > 0 && x->rank[k->core.neighbour[ups[j]]] < x->rank[k->core.neighbour[ups[j - 1]]];
             j--) {
            uint32_t e = ups[j];
            ups[j] = ups[j - 1];
            ups[j - 1] = e;
        }
    uint32_t parents = 0;
    for (uint32_t i = 0; i < count; i++)
        parents += i == 0 || k->core.neighbour[ups[i]] != k->core.neighbour[ups[i - 1]];
    return parents;
}

/* Whether most switches of a group have most of its parents. */
static bool is_regular(const struct sorter *x, uint32_t head)
{
    return 4 * x->pairs[head] >= 3 * x->members[head] * x->width[head];
}

/* The number that occurs most often, the larger of equals. */
static uint32_t max_common(const uint32_t *tally, uint32_t length)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < length; i++)
        if (tally[i] > 0 && tally[i] >= tally[best])
            best = i;
    return best;
}

/* How many parents and parallel cables a switch of a level has, usually. */
static void usual_width(struct sorter *x, uint32_t level, const uint32_t *parents)
{
    sv__dmodk *k = x->k;
    sv__dmodk_level *l = &k->level[level];
    uint32_t n = k->core.num_switches;
    int64_t balance = 0;
    memset(x->tally, 0, ((size_t)n + 256) * sizeof *x->tally);
    for (uint32_t s = 0; s < n; s++)
        if (k->level_of[s] == level && parents[s] > 0) {
            uint32_t head = sv_set_head(x->head, s);
            x->tally[is_regular(x, head) ? x->width[head] : parents[s]]++;
            balance += is_regular(x, head) ? 1 : -1;
        }
    l->mixed = balance < 0;
    l->parents = max_common(x->tally, n + 1);
    memset(x->tally, 0, ((size_t)n + 256) * sizeof *x->tally);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t i = k->up_first[s], run = 0;
             k->level_of[s] == level && i < k->up_first[s + 1]; i++) {
            run++;
            if (i + 1 == k->up_first[s + 1] ||
                k->core.neighbour[k->ups[i]] != k->core.neighbour[k->ups[i + 1]]) {
                x->tally[run]++;
                run = 0;
            }
        }
    l->cables = max_common(x->tally, 256);
    /* Slots are eight bits, as ports are: groups wider than any switch use a part of theirs. */
    if (l->parents * l->cables > SV_MAX_PORTS)
        l->parents = l->cables > 0 ? SV_MAX_PORTS / l->cables : 0;
    l->slots = l->parents * l->cables;
}

/* Gives the cables up of a switch their slots; a switch with many cables beyond has none. */
static void fill_slots(struct sorter *x, uint32_t s, bool regular)
{
    sv__dmodk *k = x->k;
    const sv__dmodk_level *l = &k->level[k->level_of[s]];
    uint32_t first = k->up_first[s], count = k->up_first[s + 1] - first;
    uint32_t number = 0, cable = 0, beyond = 0;
    uint8_t *slot_up = k->slot_up[s];
    memset(slot_up, SV__NO_SLOT, l->slots);
    for (uint32_t i = 0; i < count; i++) {
        bool same = i > 0 && k->core.neighbour[k->ups[first + i]] ==
                                 k->core.neighbour[k->ups[first + i - 1]];
        cable = same ? cable + 1 : 0;
        number += i > 0 && !same;
        uint32_t parent = regular ? x->rank[k->core.neighbour[k->ups[first + i]]] : number;
        bool fits = parent < l->parents && cable < l->cables;
        beyond += !fits;
        k->up_slot[first + i] = fits ? (uint8_t)(cable * l->parents + parent) : SV__NO_SLOT;
        if (fits)
            slot_up[k->up_slot[first + i]] = (uint8_t)i;
    }
    if (4 * beyond > count) {
        memset(slot_up, SV__NO_SLOT, l->slots);
        memset(k->up_slot + first, SV__NO_SLOT, count);
    }
}

/* The rows of a level, and who is lame. */
static sv_status fill_rows(sv__dmodk *k, uint32_t level)
{
    sv__dmodk_level *l = &k->level[level];
    uint32_t n = k->core.num_switches, count = 0;
    l->up = SV_ARENA_NEW(k->job->arena, uint8_t *, l->slots);
    l->lame_first = SV_ARENA_NEW(k->job->arena, uint32_t, (size_t)l->slots + 1);
    uint8_t *rows = SV_ARENA_NEW(k->job->arena, uint8_t, (size_t)l->slots * n);
    if (l->up == NULL || l->lame_first == NULL || rows == NULL)
        return SV_NO_MEMORY;
    for (uint32_t slot = 0; slot < l->slots; slot++)
        l->up[slot] = rows + (size_t)slot * n;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t slot = 0; slot < l->slots; slot++) {
            if (k->level_of[s] != level || k->up_first[s] == k->up_first[s + 1])
                break;
            uint8_t i = k->slot_up[s][slot];
            if (i != SV__NO_SLOT)
                l->up[slot][s] = k->core.port[k->ups[k->up_first[s] + i]];
            count += i == SV__NO_SLOT;
        }
    l->lame = SV_ARENA_NEW(k->job->arena, uint32_t, count);
    if (l->lame == NULL)
        return SV_NO_MEMORY;
    for (uint32_t slot = 0, at = 0; slot < l->slots; slot++) {
        for (uint32_t s = 0; s < n && count > 0; s++)
            if (k->level_of[s] == level && k->up_first[s] < k->up_first[s + 1] &&
                k->slot_up[s][slot] == SV__NO_SLOT)
                l->lame[at++] = s;
        l->lame_first[slot + 1] = at;
    }
    return SV_OK;
}

static sv_status slots_of(struct sorter *x, uint32_t level, uint32_t *parents)
{
    sv__dmodk *k = x->k;
    uint32_t n = k->core.num_switches, count = 0;
    find_groups(x, level);
    for (uint32_t s = 0; s < n; s++) {
        parents[s] = k->level_of[s] == level ? sort_ups(x, s) : 0;
        if (parents[s] > 0)
            x->pairs[sv_set_head(x->head, s)] += parents[s];
        count += parents[s] > 0;
    }
    usual_width(x, level, parents);
    uint8_t *slots = SV_ARENA_NEW(k->job->arena, uint8_t, (size_t)count * k->level[level].slots);
    if (slots == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        if (parents[s] > 0) {
            k->slot_up[s] = slots;
            slots += k->level[level].slots;
            fill_slots(x, s, is_regular(x, sv_set_head(x->head, s)));
        }
    return fill_rows(k, level);
}

sv_status sv__dmodk_slots(sv__dmodk *k)
{
    sv_arena *arena = k->job->arena;
    uint32_t n = k->core.num_switches;
    SV_TRY(sort_cables(k));
    struct sorter x = {.k = k,
                       .head = SV_ARENA_NEW(arena, uint32_t, n),
                       .group = SV_ARENA_NEW(arena, uint32_t, n),
                       .rank = SV_ARENA_NEW(arena, uint32_t, n),
                       .mark = SV_ARENA_NEW(arena, uint32_t, n),
                       .width = SV_ARENA_NEW(arena, uint32_t, n),
                       .pairs = SV_ARENA_NEW(arena, uint64_t, n),
                       .members = SV_ARENA_NEW(arena, uint64_t, n),
                       .parents = SV_ARENA_NEW(arena, struct parent, n),
                       .tally = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 256)};
    uint32_t *parents = SV_ARENA_NEW(arena, uint32_t, n);
    k->level = SV_ARENA_NEW(arena, sv__dmodk_level, k->levels);
    k->slot_up = SV_ARENA_NEW(arena, uint8_t *, n);
    k->up_slot = SV_ARENA_NEW(arena, uint8_t, k->core.num_entries);
    k->sibling = SV_ARENA_NEW(arena, uint32_t, n);
    if (x.head == NULL || x.group == NULL || x.rank == NULL || x.mark == NULL || x.width == NULL ||
        x.pairs == NULL || x.members == NULL || x.parents == NULL || x.tally == NULL ||
        parents == NULL || k->level == NULL || k->slot_up == NULL || k->up_slot == NULL ||
        k->sibling == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        x.group[s] = s;
    for (uint32_t l = k->levels; l-- > 0;)
        SV_TRY(slots_of(&x, l, parents));
    uint64_t divisor = 1;
    for (uint32_t l = 0; l < k->levels; l++) {
        k->level[l].divisor = divisor;
        if (l >= k->base && k->level[l].parents > 0 && divisor < UINT32_MAX)
            divisor *= k->level[l].parents;
    }
    return SV_OK;
}

/* ---- indices ---- */

/* Whether a host is one of those that the digits are made for. */
static bool is_main(const sv__dmodk *k, sv_node host)
{
    const sv_fabric *f = k->job->fabric;
    const sv_terminal_info *about = sv_terminal_of(f, host);
    sv_node at = sv_switch_of(f, host);
    return about->role == SV_ROLE_COMPUTE && f->adapters[about->adapter].kind == SV_ADAPTER_HOST &&
           at.i != SV_NONE && k->level_of[at.i] == k->base;
}

/* For each terminal how many (dead ones, too) of the same switch have a lower port; SV_NONE: none.
 */
static uint32_t *seats(const sv__dmodk *k)
{
    const sv_fabric *f = k->job->fabric;
    uint32_t *seat = SV_ARENA_NEW(k->job->arena, uint32_t, f->num_terminals), last = SV_NONE;
    uint32_t taken = 0;
    if (seat == NULL)
        return NULL;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        if (!sv_is_switch(f, f->tail[c]) || sv_is_switch(f, f->head[c]))
            continue;
        const sv_terminal_info *about = sv_terminal_of(f, f->head[c]);
        taken = f->tail[c].i == last ? taken : 0;
        last = f->tail[c].i;
        seat[f->head[c].i - f->num_switches] = taken;
        taken +=
            about->role == SV_ROLE_COMPUTE && f->adapters[about->adapter].kind == SV_ADAPTER_HOST;
    }
    return seat;
}

/* How many places a leaf has: as many as nine of ten leaves need, of those with main hosts. */
static sv_status places(const sv__dmodk *k, const uint32_t *seat, uint32_t *size)
{
    const sv_fabric *f = k->job->fabric;
    uint32_t tally[SV_MAX_PORTS + 1] = {0}, leaves = 0, max = 0, last = SV_NONE;
    for (uint32_t i = 0; i <= k->tree.num_hosts; i++) {
        sv_node host = {i < k->tree.num_hosts ? k->tree.hosts[i] : SV_NONE};
        if (i < k->tree.num_hosts && !is_main(k, host))
            continue;
        uint32_t at = i < k->tree.num_hosts ? sv_switch_of(f, host).i : SV_NONE;
        if (at != last && last != SV_NONE) {
            tally[max]++;
            leaves++;
            max = 0;
        }
        last = at;
        if (at != SV_NONE && seat[host.i - f->num_switches] + 1 > max)
            max = seat[host.i - f->num_switches] + 1;
    }
    uint32_t above = 0;
    for (*size = SV_MAX_PORTS; *size > 1; --*size) {
        above += tally[*size];
        if (10 * above > leaves)
            break;
    }
    return SV_OK;
}

/*
 * Where leaves share some parents with these and some with those, consecutive leaves need not be
 * consecutive below any parent, and higher digits would pile up. There hosts count anew below the
 * parent that they are reached through.
 */
static sv_status count_below_parents(sv__dmodk *k)
{
    const sv_fabric *f = k->job->fabric;
    const sv__dmodk_level *l = &k->level[k->base];
    uint32_t *below = SV_ARENA_NEW(k->job->arena, uint32_t, k->core.num_switches);
    bool wanted = l->mixed && l->cables == 1 && k->job->request->num_hosts == 0;
    if (below == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < k->tree.num_hosts && wanted; i++) {
        uint32_t t = k->tree.hosts[i] - f->num_switches;
        uint32_t at = sv_switch_of(f, (sv_node){k->tree.hosts[i]}).i;
        if (k->level_of[at] != k->base || k->up_first[at] == k->up_first[at + 1])
            continue;
        uint64_t slot = k->index[t] % l->slots;
        uint8_t up = k->slot_up[at][slot];
        if (up != SV__NO_SLOT)
            k->index[t] = slot + (uint64_t)l->slots *
                                     below[k->core.neighbour[k->ups[k->up_first[at] + up]]]++;
    }
    return SV_OK;
}

sv_status sv__dmodk_indices(sv__dmodk *k)
{
    const sv_fabric *f = k->job->fabric;
    const sv_route_request *request = k->job->request;
    uint32_t n = k->core.num_switches, size, leaves = 0, last = SV_NONE;
    uint32_t *seat = seats(k), *next = SV_ARENA_NEW(k->job->arena, uint32_t, k->levels);
    uint64_t count = 0;
    k->index = SV_ARENA_NEW(k->job->arena, uint64_t, f->num_terminals);
    k->ordinal = SV_ARENA_NEW(k->job->arena, uint32_t, n);
    if (seat == NULL || next == NULL || k->index == NULL || k->ordinal == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        k->ordinal[s] = next[k->level_of[s]]++;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        k->index[t] = UINT64_MAX;
    for (size_t i = 0; i < request->num_hosts; i++)
        if (!sv_is_switch(f, request->hosts[i]) &&
            k->index[request->hosts[i].i - f->num_switches] == UINT64_MAX)
            k->index[request->hosts[i].i - f->num_switches] = count++;
    SV_TRY(places(k, seat, &size));
    for (uint32_t i = 0; i < k->tree.num_hosts && request->num_hosts == 0; i++) {
        uint32_t host = k->tree.hosts[i], t = host - f->num_switches;
        if (!is_main(k, (sv_node){host}))
            continue;
        uint32_t at = sv_switch_of(f, (sv_node){host}).i;
        leaves += at != last;
        last = at;
        k->index[t] = (uint64_t)(leaves - 1) * size + seat[t];
        count = (uint64_t)leaves * size;
    }
    for (uint32_t i = 0; i < k->tree.num_hosts; i++) {
        uint32_t t = k->tree.hosts[i] - f->num_switches;
        if (k->index[t] == UINT64_MAX)
            k->index[t] = count++;
    }
    return count_below_parents(k);
}
