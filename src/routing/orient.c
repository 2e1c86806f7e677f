/*
 * orient.c: finds an order of the switches for up/down routing.
 *
 * Ranks come first: the distance from the roots. Roots of a tree are all its top switches, so that
 * traffic spreads over them. But with several roots there is no way from one to another that only
 * goes up and then down, and in some fabrics not even between all terminals (this is where the
 * incumbent leaves switches unreachable or lets loops in). The remedy: take a switch at the bottom
 * and turn its ways up to all roots upside down. It becomes the one switch that comes first,
 * followed by what lies above it, by distance, up to the roots; everything else keeps its rank. In
 * a tree no path between leaves gets longer by this: what goes up to a root and down again still
 * does, and where it passes the turned part it meets its summit earlier. Roots that are not above
 * that switch are joined to the turned part by a shortest way.
 *
 * Without roots given there are two guesses, the top level of the fabric and a switch in its
 * middle, and that with the shorter paths between terminals wins.
 *
 * Cost: O(channels) for an order, O(switches × channels) to compare the two guesses.
 */
#include "routing/orient.h"

#include <string.h>

#include "base/bitset.h"
#include "fabric/derive.h"

struct orient {
    sv__routing_job *job;
    const sv_core *core;
    uint32_t *rank, *queue, *mark; /* [switches] */
    uint32_t *block;               /* [switches]: those that come first, in order */
    uint32_t length;               /* of block */
    uint64_t *in_block;
};

static bool alive(const struct orient *o, uint32_t s)
{
    return sv_node_alive(o->job->fabric, (sv_node){s});
}

/* Whether one switch comes before another by rank. */
static bool before(const struct orient *o, uint32_t a, uint32_t b)
{
    return o->rank[a] != o->rank[b] ? o->rank[a] < o->rank[b] : a < b;
}

/* Ranks by distance from all switches whose rank is 0; others are SV_NONE before. */
static void spread(struct orient *o)
{
    uint32_t tail = 0;
    for (uint32_t s = 0; s < o->core->num_switches; s++)
        if (o->rank[s] == 0)
            o->queue[tail++] = s;
    sv_core_spread(o->core, o->rank, o->queue, 0, tail);
}

/* Switches that no root reaches get one of their own, the first of their component. */
static void spread_everywhere(struct orient *o)
{
    spread(o);
    for (uint32_t s = 0; s < o->core->num_switches; s++)
        if (alive(o, s) && o->rank[s] == SV_NONE) {
            o->rank[s] = 0;
            o->queue[0] = s;
            sv_core_spread(o->core, o->rank, o->queue, 0, 1);
        }
}

/* Whether a switch has no neighbour that comes before it. */
static bool is_summit(const struct orient *o, uint32_t s)
{
    for (uint32_t e = o->core->first[s]; e < o->core->first[s + 1]; e++)
        if (before(o, o->core->entries[e].from, s))
            return false;
    return true;
}

/* All that lies above a switch, by distance, into queue; mark becomes stamp. */
static uint32_t climb(struct orient *o, uint32_t from, uint32_t stamp)
{
    uint32_t head = 0, tail = 0;
    o->mark[from] = stamp;
    o->queue[tail++] = from;
    while (head < tail) {
        uint32_t s = o->queue[head++];
        for (uint32_t e = o->core->first[s]; e < o->core->first[s + 1]; e++) {
            uint32_t u = o->core->entries[e].from;
            if (o->mark[u] != stamp && before(o, u, s)) {
                o->mark[u] = stamp;
                o->queue[tail++] = u;
            }
        }
    }
    return tail;
}

/* Of a component (its switches in members), a low switch with as many summits above as can be. */
static uint32_t choose_foot(struct orient *o, const uint32_t *members, uint32_t count,
                            uint32_t *stamp)
{
    enum { TRIES = 32 };
    uint32_t lowest = 0, best = members[0], max = 0, tries = 0;
    for (uint32_t i = 0; i < count; i++)
        lowest = o->rank[members[i]] > lowest ? o->rank[members[i]] : lowest;
    for (uint32_t i = 0; i < count && tries < TRIES; i++) {
        if (o->rank[members[i]] != lowest)
            continue;
        uint32_t above = climb(o, members[i], ++*stamp), summits = 0;
        for (uint32_t k = 0; k < above; k++)
            summits += is_summit(o, o->queue[k]);
        tries++;
        if (summits > max) {
            max = summits;
            best = members[i];
        }
    }
    return best;
}

static void append(struct orient *o, uint32_t s)
{
    o->block[o->length++] = s;
    sv_bit_set(o->in_block, s);
}

/* Appends a shortest way from the block to the nearest summit outside it; false: there is none. */
static bool join_summit(struct orient *o, uint32_t block_start, uint32_t *came_from,
                        uint32_t *stamp)
{
    uint32_t head = 0, tail = 0, found = SV_NONE, mark = ++*stamp;
    for (uint32_t i = block_start; i < o->length; i++) {
        o->queue[tail++] = o->block[i];
        o->mark[o->block[i]] = mark;
    }
    while (head < tail && found == SV_NONE) {
        uint32_t s = o->queue[head++];
        for (uint32_t e = o->core->first[s]; e < o->core->first[s + 1]; e++) {
            uint32_t u = o->core->entries[e].from;
            if (o->mark[u] == mark)
                continue;
            o->mark[u] = mark;
            came_from[u] = s;
            o->queue[tail++] = u;
            if (is_summit(o, u)) {
                found = u;
                break;
            }
        }
    }
    if (found == SV_NONE)
        return false;
    uint32_t steps = 0;
    for (uint32_t s = found; !sv_bit(o->in_block, s); s = came_from[s])
        o->queue[steps++] = s;
    while (steps > 0)
        append(o, o->queue[--steps]);
    return true;
}

/* Puts what must come first of one component into the block. */
static void top_of(struct orient *o, const uint32_t *members, uint32_t count, uint32_t *came_from,
                   uint32_t *stamp)
{
    uint32_t summits = 0, start = o->length;
    for (uint32_t i = 0; i < count; i++)
        summits += is_summit(o, members[i]);
    if (summits < 2)
        return;
    uint32_t foot = choose_foot(o, members, count, stamp);
    uint32_t above = climb(o, foot, ++*stamp);
    for (uint32_t i = 0; i < above; i++)
        append(o, o->queue[i]);
    while (join_summit(o, start, came_from, stamp))
        ;
}

/* Turns ranks into places: the block first, then by rank. */
static void number(struct orient *o, uint32_t *place)
{
    uint32_t n = o->core->num_switches, next = 0;
    for (uint32_t i = 0; i < o->length; i++)
        place[o->block[i]] = next++;
    uint32_t highest = 0;
    for (uint32_t s = 0; s < n; s++)
        if (alive(o, s) && o->rank[s] > highest)
            highest = o->rank[s];
    /* Counting sort; within a rank by number. */
    memset(o->queue, 0, n * sizeof *o->queue);
    for (uint32_t s = 0; s < n; s++)
        if (alive(o, s) && !sv_bit(o->in_block, s))
            o->queue[o->rank[s]]++;
    for (uint32_t k = 0; k <= highest && k < n; k++) {
        uint32_t count = o->queue[k];
        o->queue[k] = next;
        next += count;
    }
    for (uint32_t s = 0; s < n; s++)
        if (!alive(o, s))
            place[s] = SV_NONE;
        else if (!sv_bit(o->in_block, s))
            place[s] = o->queue[o->rank[s]]++;
}

/* From ranks (0 … switches - 1) to an order with one summit in each component. */
static sv_status order_by_rank(struct orient *o, uint32_t *place)
{
    uint32_t n = o->core->num_switches, stamp = 0;
    uint32_t *members = SV_ARENA_NEW(o->job->arena, uint32_t, n);
    uint32_t *came_from = SV_ARENA_NEW(o->job->arena, uint32_t, n);
    uint64_t *seen = sv_bitset_new(o->job->arena, n);
    if (members == NULL || came_from == NULL || seen == NULL)
        return SV_NO_MEMORY;
    memset(o->mark, 0, n * sizeof *o->mark);
    memset(o->in_block, 0, sv_bitset_words(n) * sizeof *o->in_block);
    o->length = 0;
    for (uint32_t s = 0; s < n; s++) {
        if (!alive(o, s) || sv_bit(seen, s))
            continue;
        uint32_t count = 0;
        members[count++] = s;
        sv_bit_set(seen, s);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t e = o->core->first[members[i]]; e < o->core->first[members[i] + 1]; e++) {
                uint32_t u = o->core->entries[e].from;
                if (!sv_bit(seen, u)) {
                    sv_bit_set(seen, u);
                    members[count++] = u;
                }
            }
        top_of(o, members, count, came_from, &stamp);
    }
    number(o, place);
    return SV_OK;
}

/* Sum of the distances from a switch to the terminals it can reach, and how many those are. */
static uint64_t distances_from(struct orient *o, uint32_t from, uint64_t *terminals,
                               uint32_t *farthest)
{
    uint64_t sum = 0;
    memset(o->rank, 0xff, o->core->num_switches * sizeof *o->rank);
    o->rank[from] = 0;
    spread(o);
    *terminals = 0;
    *farthest = 0;
    for (uint32_t s = 0; s < o->core->num_switches; s++)
        if (o->rank[s] != SV_NONE) {
            sum += (uint64_t)o->rank[s] * o->core->terminals[s];
            *terminals += o->core->terminals[s];
            if (o->rank[s] > *farthest)
                *farthest = o->rank[s];
        }
    return sum;
}

/* Ranks from the switch that is nearest to all terminals, of the component with most of them. */
static sv_status rank_from_middle(struct orient *o)
{
    uint32_t best = SV_NONE, best_far = 0;
    uint64_t best_terminals = 0, best_sum = 0;
    for (uint32_t s = 0; s < o->core->num_switches; s++) {
        uint64_t terminals;
        uint32_t far;
        if (!alive(o, s))
            continue;
        if (s % 64 == 0)
            SV_TRY(sv_progress(o->job->ctx, "looking for roots", s, o->core->num_switches));
        uint64_t sum = distances_from(o, s, &terminals, &far);
        bool better = best == SV_NONE || terminals > best_terminals ||
                      (terminals == best_terminals &&
                       (far < best_far || (far == best_far && sum < best_sum)));
        if (better) {
            best = s;
            best_far = far;
            best_sum = sum;
            best_terminals = terminals;
        }
    }
    memset(o->rank, 0xff, o->core->num_switches * sizeof *o->rank);
    if (best != SV_NONE)
        o->rank[best] = 0;
    spread_everywhere(o);
    return SV_OK;
}

/* Levels turned into ranks: the highest level is 0. Returns how many switches are there. */
static sv_status rank_by_level(struct orient *o, uint32_t *tops)
{
    uint32_t highest, *level = sv_switch_levels(o->job->arena, o->job->fabric, &highest);
    if (level == NULL)
        return SV_NO_MEMORY;
    *tops = 0;
    for (uint32_t s = 0; s < o->core->num_switches; s++) {
        /* Switches that no terminal is anywhere near count as leaves. */
        o->rank[s] = highest - (level[s] == SV_NONE ? 0 : level[s]);
        *tops += alive(o, s) && o->rank[s] == 0;
    }
    return SV_OK;
}

/* Sum of path lengths between terminals, up and then down. */
static sv_status path_lengths(struct orient *o, const uint32_t *place, uint64_t *sum)
{
    const sv_core *core = o->core;
    uint32_t n = core->num_switches;
    uint32_t *by_place = SV_ARENA_NEW(o->job->arena, uint32_t, n);
    uint32_t *hops = SV_ARENA_NEW(o->job->arena, uint32_t, n);
    if (by_place == NULL || hops == NULL)
        return SV_NO_MEMORY;
    uint32_t live = 0;
    for (uint32_t s = 0; s < n; s++)
        if (place[s] != SV_NONE) {
            by_place[place[s]] = s;
            live++;
        }
    *sum = 0;
    for (uint32_t to = 0; to < n; to++) {
        if (to % 64 == 0)
            SV_TRY(sv_progress(o->job->ctx, "looking for roots", to, n));
        if (core->terminals[to] == 0 || place[to] == SV_NONE)
            continue;
        uint32_t head = 0, tail = 0;
        memset(hops, 0xff, n * sizeof *hops);
        hops[to] = 0;
        o->queue[tail++] = to;
        while (head < tail) {
            uint32_t s = o->queue[head++];
            for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
                uint32_t u = core->entries[e].from;
                if (hops[u] == SV_NONE && place[u] < place[s]) {
                    hops[u] = hops[s] + 1;
                    o->queue[tail++] = u;
                }
            }
        }
        for (uint32_t i = 0; i < live; i++) {
            uint32_t s = by_place[i], min = hops[s];
            bool down = min != SV_NONE;
            for (uint32_t e = core->first[s]; !down && e < core->first[s + 1]; e++) {
                uint32_t u = core->entries[e].from;
                if (place[u] < i && hops[u] != SV_NONE && hops[u] + 1 < min)
                    min = hops[u] + 1;
            }
            hops[s] = min;
            if (min != SV_NONE)
                *sum += (uint64_t)min * core->terminals[s] * core->terminals[to];
        }
    }
    return SV_OK;
}

/* Both guesses; the one with the shorter paths. */
static sv_status guess(struct orient *o, uint32_t *place, uint32_t *found)
{
    uint32_t n = o->core->num_switches, tops;
    uint32_t *other = SV_ARENA_NEW(o->job->arena, uint32_t, n);
    uint64_t by_level, by_middle;
    if (other == NULL)
        return SV_NO_MEMORY;
    SV_TRY(rank_from_middle(o));
    SV_TRY(order_by_rank(o, place));
    *found = 1;
    SV_TRY(rank_by_level(o, &tops));
    if (tops == o->job->fabric->live_switches)
        return SV_OK; /* no levels at all */
    /* Ranks are distances from the top, as with roots that are given. */
    for (uint32_t s = 0; s < n; s++)
        o->rank[s] = alive(o, s) && o->rank[s] == 0 ? 0 : SV_NONE;
    spread_everywhere(o);
    SV_TRY(order_by_rank(o, other));
    SV_TRY(path_lengths(o, place, &by_middle));
    SV_TRY(path_lengths(o, other, &by_level));
    if (by_level <= by_middle) {
        memcpy(place, other, n * sizeof *place);
        *found = tops;
    }
    return SV_OK;
}

static sv_status init(struct orient *o, sv__routing_job *job, const sv_core *core)
{
    uint32_t n = core->num_switches;
    *o = (struct orient){.job = job,
                         .core = core,
                         .rank = SV_ARENA_NEW(job->arena, uint32_t, n),
                         .queue = SV_ARENA_NEW(job->arena, uint32_t, (size_t)n + 1),
                         .mark = SV_ARENA_NEW(job->arena, uint32_t, n),
                         .block = SV_ARENA_NEW(job->arena, uint32_t, n),
                         .in_block = sv_bitset_new(job->arena, n)};
    bool there = o->rank != NULL && o->queue != NULL && o->mark != NULL && o->block != NULL &&
                 o->in_block != NULL;
    return there ? SV_OK : SV_NO_MEMORY;
}

sv_status sv__orient_ranks(sv__routing_job *job, const sv_core *core, const uint32_t *rank,
                           uint32_t *place)
{
    struct orient o;
    SV_TRY(init(&o, job, core));
    memcpy(o.rank, rank, core->num_switches * sizeof *rank);
    return order_by_rank(&o, place);
}

sv_status sv__orient(sv__routing_job *job, const sv_core *core, sv__ranking ranking,
                     const sv_node *roots, size_t num_roots, uint32_t *place, uint32_t *found)
{
    uint32_t n = core->num_switches;
    struct orient o;
    SV_TRY(init(&o, job, core));
    if (num_roots > 0) {
        memset(o.rank, 0xff, n * sizeof *o.rank);
        *found = 0;
        for (size_t i = 0; i < num_roots; i++)
            if (sv_is_switch(job->fabric, roots[i]) && o.rank[roots[i].i] != 0) {
                o.rank[roots[i].i] = 0;
                ++*found;
            }
        spread_everywhere(&o);
        return order_by_rank(&o, place);
    }
    if (ranking == SV__RANK_ROOTS)
        return guess(&o, place, found);
    SV_TRY(rank_by_level(&o, found));
    if (*found == job->fabric->live_switches) { /* no levels: all switches are alike */
        *found = 1;
        SV_TRY(rank_from_middle(&o));
    }
    return order_by_rank(&o, place);
}

/* ---- ways ---- */

sv_status sv__updn_init(sv__updn *u, sv__routing_job *job, const sv_core *core,
                        const uint32_t *place)
{
    uint32_t n = core->num_switches, length = 0;
    *u = (sv__updn){.core = core,
                    .place = place,
                    .by_place = SV_ARENA_NEW(job->arena, uint32_t, n),
                    .first = SV_ARENA_NEW(job->arena, uint32_t, (size_t)n + 1),
                    .ups = SV_ARENA_NEW(job->arena, uint32_t, core->num_entries)};
    uint32_t *listed = SV_ARENA_NEW(job->arena, uint32_t, n);
    if (u->by_place == NULL || u->first == NULL || u->ups == NULL || listed == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        u->first[s] = length;
        if (place[s] == SV_NONE)
            continue;
        u->by_place[place[s]] = s;
        u->live++;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t up = core->neighbour[e];
            if (place[up] < place[s] && listed[up] != s + 1) {
                listed[up] = s + 1;
                u->ups[length++] = e;
            }
        }
    }
    u->first[n] = length;
    return SV_OK;
}

/* All switches that reach a home going down only, by distance. */
static uint32_t search_down(const sv__updn *u, uint32_t home, uint32_t *order, uint32_t *hops,
                            bool *down, uint32_t *via)
{
    uint32_t head = 0, tail = 0;
    memset(hops, 0xff, u->core->num_switches * sizeof *hops);
    memset(down, 0, u->core->num_switches * sizeof *down);
    hops[home] = 0;
    down[home] = true;
    order[tail++] = home;
    while (head < tail) {
        uint32_t s = order[head++];
        for (uint32_t i = u->first[s]; i < u->first[s + 1]; i++) {
            uint32_t from = u->core->neighbour[u->ups[i]];
            if (hops[from] != SV_NONE)
                continue;
            hops[from] = hops[s] + 1;
            down[from] = true;
            order[tail++] = from;
            if (via != NULL)
                via[from] = u->ups[i];
        }
    }
    return tail;
}

uint32_t sv__updn_search(const sv__updn *u, uint32_t home, uint32_t *order, uint32_t *hops,
                         bool *down, uint32_t *via)
{
    uint32_t tail = search_down(u, home, order, hops, down, via);
    /* The rest in order, so that all that lies above has its distance already. */
    for (uint32_t i = 0; i < u->live; i++) {
        uint32_t s = u->by_place[i], min = SV_NONE, best = SV_NONE;
        if (hops[s] != SV_NONE)
            continue;
        for (uint32_t k = u->first[s]; k < u->first[s + 1]; k++) {
            uint32_t up = hops[u->core->neighbour[u->ups[k]]];
            best = up < min ? u->ups[k] : best;
            min = up < min ? up : min;
        }
        if (best == SV_NONE)
            continue;
        hops[s] = min + 1;
        order[tail++] = s;
        if (via != NULL)
            via[s] = u->core->back[best];
    }
    return tail;
}
