/*
 * cdg.c: dependency graphs that are kept acyclic, turn by turn.
 *
 * Each lane keeps an order of all channels in which every turn ascends (Pearce and Kelly's way, ACM
 * JEA 2006). A turn that agrees with the order needs no search at all. One that does not is
 * searched between the two places only: what can be reached from its end, up to its beginning. If
 * the beginning is among that, the turn would close a cycle; if not, those found ahead are moved
 * behind those found to lead here, within the places that both hold already.
 *
 * Turns of a switch are bits of small matrices, by row and by column, so that a search reads a word
 * or two for each channel. For engines that ask "in which lanes?" all the time, the same is kept
 * as one mask a turn.
 *
 * Invariants: no two entries have the same place; place[in] < place[out] for every turn of a lane;
 * after, before and lanes say the same.
 *
 * Cost: O(1) for turns along the order; for others, the channels between the two places that are
 * connected to them, and their sorting.
 */
#include "cdg/cdg.h"

#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"

sv_status sv_cdg_init(sv_cdg *cdg, sv_arena *arena, const sv_core *core)
{
    uint32_t n = core->num_switches, count = core->num_entries;
    *cdg = (sv_cdg){.core = core, .arena = arena};
    cdg->turns = SV_ARENA_NEW(arena, size_t, n);
    cdg->rows = SV_ARENA_NEW(arena, size_t, n);
    cdg->words = SV_ARENA_NEW(arena, uint32_t, n);
    if (cdg->turns == NULL || cdg->rows == NULL || cdg->words == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        size_t degree = core->first[s + 1] - core->first[s];
        cdg->turns[s] = cdg->num_turns;
        cdg->rows[s] = cdg->num_words;
        cdg->words[s] = (uint32_t)sv_bitset_words(degree);
        cdg->num_turns += degree * degree;
        cdg->num_words += degree * cdg->words[s];
    }
    cdg->lanes = SV_ARENA_NEW(arena, sv_lane_mask, cdg->num_turns);
    cdg->ahead = SV_ARENA_NEW(arena, uint32_t, count);
    cdg->behind = SV_ARENA_NEW(arena, uint32_t, count);
    cdg->stack = SV_ARENA_NEW(arena, uint32_t, count);
    cdg->places = SV_ARENA_NEW(arena, uint32_t, count);
    cdg->seen = SV_ARENA_NEW(arena, uint32_t, count);
    return cdg->lanes == NULL || cdg->ahead == NULL || cdg->behind == NULL || cdg->stack == NULL ||
                   cdg->places == NULL || cdg->seen == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

/* Pairs of a number and an entry, so that equals keep the order of entries. */
static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static sv_status set_order(sv_cdg *cdg, sv_cdg_lane *lane, const uint32_t *start)
{
    uint32_t count = cdg->core->num_entries;
    if (start == NULL) {
        for (uint32_t e = 0; e < count; e++)
            lane->place[e] = e;
        return SV_OK;
    }
    uint64_t *keys = SV_ARENA_NEW(cdg->arena, uint64_t, count);
    if (keys == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < count; e++)
        keys[e] = (uint64_t)start[e] << 32 | e;
    qsort(keys, count, sizeof *keys, ascending);
    for (uint32_t i = 0; i < count; i++)
        lane->place[(uint32_t)keys[i]] = i;
    return SV_OK;
}

sv_status sv_cdg_add_lane(sv_cdg *cdg, const uint32_t *start)
{
    uint32_t count = cdg->core->num_entries;
    if (cdg->num_lanes == SV_CDG_MOST_LANES)
        return SV_INFEASIBLE;
    sv_cdg_lane *lane = &cdg->lane[cdg->num_lanes];
    if (lane->place != NULL) { /* it was there before */
        memset(lane->after, 0, cdg->num_words * sizeof *lane->after);
        memset(lane->before, 0, cdg->num_words * sizeof *lane->before);
    } else {
        lane->after = SV_ARENA_NEW(cdg->arena, uint64_t, cdg->num_words);
        lane->before = SV_ARENA_NEW(cdg->arena, uint64_t, cdg->num_words);
        lane->place = SV_ARENA_NEW(cdg->arena, uint32_t, count);
    }
    if (lane->after == NULL || lane->before == NULL || lane->place == NULL)
        return SV_NO_MEMORY;
    SV_TRY(set_order(cdg, lane, start));
    cdg->num_lanes++;
    return SV_OK;
}

void sv_cdg_clear(sv_cdg *cdg)
{
    cdg->num_lanes = 0;
    memset(cdg->lanes, 0, cdg->num_turns * sizeof *cdg->lanes);
}

/* The row of a cable's matrix: after (its inward entry) or before (its outward one). */
static uint64_t *row_of(const sv_cdg *cdg, uint64_t *matrix, uint32_t s, uint32_t inward)
{
    return matrix + cdg->rows[s] + (size_t)(inward - cdg->core->first[s]) * cdg->words[s];
}

static bool visit(sv_cdg *cdg, uint32_t e)
{
    bool fresh = cdg->seen[e] != cdg->round;
    cdg->seen[e] = cdg->round;
    return fresh;
}

static void next_round(sv_cdg *cdg)
{
    if (++cdg->round != 0)
        return;
    for (uint32_t e = 0; e < cdg->core->num_entries; e++)
        cdg->seen[e] = 0;
    cdg->round = 1;
}

/*
 * Everything that can be reached from an entry at places up to last; SV_NONE if what is there is
 * among it. Else the number of entries listed in ahead.
 */
static uint32_t look_ahead(sv_cdg *cdg, const sv_cdg_lane *lane, uint32_t from, uint32_t last)
{
    const sv_core *core = cdg->core;
    uint32_t count = 0, depth = 0;
    next_round(cdg);
    visit(cdg, from);
    cdg->stack[depth++] = from;
    while (depth > 0) {
        uint32_t e = cdg->stack[--depth], s = core->to[e];
        const uint64_t *row = row_of(cdg, lane->after, s, e);
        cdg->ahead[count++] = e;
        for (uint32_t w = 0; w < cdg->words[s]; w++)
            for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
                uint32_t cable = w * 64 + (uint32_t)__builtin_ctzll(bits);
                uint32_t next = core->back[core->first[s] + cable];
                if (lane->place[next] == last)
                    return SV_NONE;
                if (lane->place[next] < last && visit(cdg, next))
                    cdg->stack[depth++] = next;
            }
    }
    return count;
}

/* Everything that leads to an entry at places from first on; listed in behind. */
static uint32_t look_behind(sv_cdg *cdg, const sv_cdg_lane *lane, uint32_t to, uint32_t first)
{
    const sv_core *core = cdg->core;
    uint32_t count = 0, depth = 0;
    visit(cdg, to);
    cdg->stack[depth++] = to;
    while (depth > 0) {
        uint32_t e = cdg->stack[--depth], s = core->entries[e].from;
        const uint64_t *row = row_of(cdg, lane->before, s, core->back[e]);
        cdg->behind[count++] = e;
        for (uint32_t w = 0; w < cdg->words[s]; w++)
            for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
                uint32_t previous = core->first[s] + w * 64 + (uint32_t)__builtin_ctzll(bits);
                if (lane->place[previous] > first && visit(cdg, previous))
                    cdg->stack[depth++] = previous;
            }
    }
    return count;
}

/* Sorts entries by place: by insertion where they are few. */
static void sort_by_place(const sv_cdg_lane *lane, uint32_t *list, uint32_t count, uint32_t *spare)
{
    if (count > 24) { /* merge halves */
        uint32_t half = count / 2, i = 0, j = half, k = 0;
        sort_by_place(lane, list, half, spare);
        sort_by_place(lane, list + half, count - half, spare);
        while (i < half || j < count)
            spare[k++] = j == count || (i < half && lane->place[list[i]] < lane->place[list[j]])
                             ? list[i++]
                             : list[j++];
        for (k = 0; k < count; k++)
            list[k] = spare[k];
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t e = list[i], place = lane->place[e], k = i;
        for (; k > 0 && lane->place[list[k - 1]] > place; k--)
            list[k] = list[k - 1];
        list[k] = e;
    }
}

/* Those behind move before those ahead, within the places they all hold. */
static void reorder(sv_cdg *cdg, sv_cdg_lane *lane, uint32_t ahead, uint32_t behind)
{
    uint32_t i = 0, j = 0, count = 0;
    sort_by_place(lane, cdg->ahead, ahead, cdg->stack);
    sort_by_place(lane, cdg->behind, behind, cdg->stack);
    while (i < ahead || j < behind)
        cdg->places[count++] =
            j == behind || (i < ahead && lane->place[cdg->ahead[i]] < lane->place[cdg->behind[j]])
                ? lane->place[cdg->ahead[i++]]
                : lane->place[cdg->behind[j++]];
    for (uint32_t k = 0; k < count; k++) {
        uint32_t e = k < behind ? cdg->behind[k] : cdg->ahead[k - behind];
        lane->place[e] = cdg->places[k];
    }
}

bool sv_cdg_add(sv_cdg *cdg, unsigned number, uint32_t in, uint32_t out)
{
    const sv_core *core = cdg->core;
    sv_cdg_lane *lane = &cdg->lane[number];
    sv_lane_mask *mask = &cdg->lanes[sv_cdg_turn(cdg, in, out)];
    uint32_t s = core->entries[out].from, outward = core->back[out];
    if (*mask >> number & 1)
        return true;
    if (lane->place[in] >= lane->place[out]) {
        uint32_t ahead = look_ahead(cdg, lane, out, lane->place[in]);
        if (ahead == SV_NONE)
            return false;
        reorder(cdg, lane, ahead, look_behind(cdg, lane, in, lane->place[out]));
    }
    *mask |= (sv_lane_mask)1 << number;
    sv_bit_set(row_of(cdg, lane->after, s, in), outward - core->first[s]);
    sv_bit_set(row_of(cdg, lane->before, s, outward), in - core->first[s]);
    return true;
}

void sv_cdg_remove(sv_cdg *cdg, unsigned number, uint32_t in, uint32_t out)
{
    const sv_core *core = cdg->core;
    sv_cdg_lane *lane = &cdg->lane[number];
    uint32_t s = core->entries[out].from, outward = core->back[out];
    cdg->lanes[sv_cdg_turn(cdg, in, out)] &= ~((sv_lane_mask)1 << number);
    sv_bit_clear(row_of(cdg, lane->after, s, in), outward - core->first[s]);
    sv_bit_clear(row_of(cdg, lane->before, s, outward), in - core->first[s]);
}
