/*
 * cdg.c: dependency graphs that are kept acyclic, turn by turn.
 *
 * Each VL keeps an order of all channels in which every turn ascends (Pearce and Kelly's way, ACM
 * JEA 2006). A turn that agrees with the order needs no search at all. One that does not is
 * searched between the two places only: what can be reached from its end, up to its beginning. If
 * the beginning is among that, the turn would close a cycle; if not, those found ahead are moved
 * behind those found to lead here, within the places that both hold already.
 *
 * What can be reached is searched depth first, so that a cycle is found soon; what leads here,
 * along the places. Both mark places, not channels, so that nothing has to be sorted. At each
 * switch a search looks at every cable once, however many turns lead there.
 *
 * Turns of a switch are bits of small matrices, by row and by column, so that a search reads a word
 * or two for each channel. For engines that ask "in which VLs?" all the time, the same is kept
 * as one mask a turn.
 *
 * Invariants: no two entries have the same place; place[in] < place[out] for every turn of a VL;
 * after, before and VLs say the same.
 *
 * Cost: O(1) for turns along the order; for others, the channels between the two places that are
 * connected to them, and a 64th of all between.
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
    cdg->sums = SV_ARENA_NEW(arena, size_t, n);
    if (cdg->turns == NULL || cdg->rows == NULL || cdg->words == NULL || cdg->sums == NULL)
        return SV_NO_MEMORY;
    size_t sum = 0;
    for (uint32_t s = 0; s < n; s++) {
        size_t degree = core->first[s + 1] - core->first[s];
        cdg->turns[s] = cdg->num_turns;
        cdg->rows[s] = cdg->num_words;
        cdg->words[s] = (uint32_t)sv_bitset_words(degree);
        cdg->sums[s] = sum;
        sum += cdg->words[s];
        cdg->num_turns += degree * degree;
        cdg->num_words += degree * cdg->words[s];
    }
    cdg->vls = SV_ARENA_NEW(arena, sv_vl_mask, cdg->num_turns);
    cdg->ahead = SV_ARENA_NEW(arena, uint32_t, count);
    cdg->behind = SV_ARENA_NEW(arena, uint32_t, count);
    cdg->places = SV_ARENA_NEW(arena, uint32_t, count);
    cdg->found = sv_bitset_new(arena, count);
    cdg->done = SV_ARENA_NEW(arena, uint64_t, sum);
    return cdg->vls == NULL || cdg->ahead == NULL || cdg->behind == NULL || cdg->places == NULL ||
                   cdg->found == NULL || cdg->done == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

/* Pairs of a number and an entry, so that equals keep the order of entries. */
static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static sv_status set_order(sv_cdg *cdg, sv_cdg_vl *vl, const uint32_t *start)
{
    uint32_t count = cdg->core->num_entries;
    if (start == NULL) {
        for (uint32_t e = 0; e < count; e++)
            vl->place[e] = vl->at[e] = e;
        return SV_OK;
    }
    uint64_t *keys = SV_ARENA_NEW(cdg->arena, uint64_t, count);
    if (keys == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < count; e++)
        keys[e] = (uint64_t)start[e] << 32 | e;
    qsort(keys, count, sizeof *keys, ascending);
    for (uint32_t i = 0; i < count; i++) {
        vl->at[i] = (uint32_t)keys[i];
        vl->place[vl->at[i]] = i;
    }
    return SV_OK;
}

static sv_status add_vl(sv_cdg *cdg, const uint32_t *start, bool ordered)
{
    uint32_t count = cdg->core->num_entries;
    if (cdg->num_vls == SV_CDG_MAX_VLS)
        return SV_INFEASIBLE;
    sv_cdg_vl *vl = &cdg->vl[cdg->num_vls];
    if (vl->after != NULL) { /* it was there before */
        memset(vl->after, 0, cdg->num_words * sizeof *vl->after);
        memset(vl->before, 0, cdg->num_words * sizeof *vl->before);
    } else {
        vl->after = SV_ARENA_NEW(cdg->arena, uint64_t, cdg->num_words);
        vl->before = SV_ARENA_NEW(cdg->arena, uint64_t, cdg->num_words);
    }
    if (!ordered)
        vl->place = vl->at = NULL;
    else if (vl->place == NULL) {
        vl->place = SV_ARENA_NEW(cdg->arena, uint32_t, count);
        vl->at = SV_ARENA_NEW(cdg->arena, uint32_t, count);
    }
    if (vl->after == NULL || vl->before == NULL ||
        (ordered && (vl->place == NULL || vl->at == NULL)))
        return SV_NO_MEMORY;
    if (ordered)
        SV_TRY(set_order(cdg, vl, start));
    cdg->num_vls++;
    return SV_OK;
}

void sv_cdg_clear(sv_cdg *cdg)
{
    cdg->num_vls = 0;
    memset(cdg->vls, 0, cdg->num_turns * sizeof *cdg->vls);
}

sv_status sv_cdg_add_vl(sv_cdg *cdg, const uint32_t *start)
{
    return add_vl(cdg, start, true);
}

sv_status sv_cdg_add_plain_vl(sv_cdg *cdg)
{
    return add_vl(cdg, NULL, false);
}

/* The row of a cable's matrix: after (its inward entry) or before (its outward one). */
static uint64_t *row_of(const sv_cdg *cdg, uint64_t *matrix, uint32_t s, uint32_t inward)
{
    return matrix + cdg->rows[s] + (size_t)(inward - cdg->core->first[s]) * cdg->words[s];
}

/* The cables in a row that the search has not come upon at this switch before. */
static uint64_t fresh(uint64_t *done, uint64_t row)
{
    uint64_t new = row & ~*done;
    *done |= row;
    return new;
}

/* Clears what a search has marked at switches: those that entries lead into, or leave. */
static void clear_done(sv_cdg *cdg, const uint32_t *list, uint32_t count, bool into)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = into ? cdg->core->to[list[i]] : cdg->core->entries[list[i]].from;
        for (uint32_t w = 0; w < cdg->words[s]; w++)
            cdg->done[cdg->sums[s] + w] = 0;
    }
}

/* Lists the entries at places that were found, in order, and forgets them. */
static uint32_t list_found(sv_cdg *cdg, const sv_cdg_vl *vl, uint32_t first, uint32_t last)
{
    uint32_t count = 0;
    for (uint32_t word = first >> 6; word <= last >> 6; word++)
        for (; cdg->found[word] != 0; cdg->found[word] &= cdg->found[word] - 1)
            cdg->ahead[count++] = vl->at[word * 64 + (uint32_t)__builtin_ctzll(cdg->found[word])];
    return count;
}

/* Whether a search has come upon too much. */
static bool too_long(sv_cdg *cdg, uint32_t count)
{
    cdg->gave_up = cdg->gave_up || (cdg->patience > 0 && count > cdg->patience);
    return cdg->gave_up;
}

/*
 * Everything that can be reached from an entry at places up to last, in order, listed in ahead;
 * returns how many. SV_NONE if what is at last is among it, or the search is given up. Depth first:
 * if it is, it is found soon.
 */
static uint32_t look_ahead(sv_cdg *cdg, const sv_cdg_vl *vl, uint32_t from, uint32_t last)
{
    const sv_core *core = cdg->core;
    uint32_t *stack = cdg->places, depth = 0, count = 0;
    bool cycle = false;
    sv_bit_set(cdg->found, vl->place[from]);
    stack[depth++] = cdg->ahead[count++] = from;
    while (depth > 0 && !cycle && !too_long(cdg, count)) {
        uint32_t e = stack[--depth], s = core->to[e];
        const uint64_t *row = row_of(cdg, vl->after, s, e);
        for (uint32_t w = 0; w < cdg->words[s]; w++)
            for (uint64_t bits = fresh(&cdg->done[cdg->sums[s] + w], row[w]); bits != 0;
                 bits &= bits - 1) {
                uint32_t cable = w * 64 + (uint32_t)__builtin_ctzll(bits);
                uint32_t next = core->back[core->first[s] + cable], place = vl->place[next];
                cycle = cycle || place == last;
                if (place < last) { /* a cable is fresh once, so an entry comes once */
                    sv_bit_set(cdg->found, place);
                    stack[depth++] = cdg->ahead[count++] = next;
                }
            }
    }
    clear_done(cdg, cdg->ahead, count, true);
    if (!cycle && !cdg->gave_up)
        return list_found(cdg, vl, vl->place[from], last);
    while (count > 0)
        sv_bit_clear(cdg->found, vl->place[cdg->ahead[--count]]);
    return SV_NONE;
}

/*
 * Everything that leads to an entry at places from first on, the last first; listed in behind.
 * SV_NONE if the search is given up.
 */
static uint32_t look_behind(sv_cdg *cdg, const sv_cdg_vl *vl, uint32_t to, uint32_t first)
{
    const sv_core *core = cdg->core;
    uint64_t *found = cdg->found;
    uint32_t count = 0;
    sv_bit_set(found, vl->place[to]);
    for (uint32_t word = (vl->place[to] >> 6) + 1; word-- > first >> 6;)
        while (found[word] != 0) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(found[word]);
            uint32_t e = vl->at[word * 64 + bit], s = core->entries[e].from;
            const uint64_t *row = row_of(cdg, vl->before, s, core->back[e]);
            found[word] &= ~((uint64_t)1 << bit);
            cdg->behind[count++] = e;
            if (too_long(cdg, count))
                continue; /* only empties found */
            for (uint32_t w = 0; w < cdg->words[s]; w++)
                for (uint64_t bits = fresh(&cdg->done[cdg->sums[s] + w], row[w]); bits != 0;
                     bits &= bits - 1) {
                    uint32_t previous = core->first[s] + w * 64 + (uint32_t)__builtin_ctzll(bits);
                    if (vl->place[previous] > first)
                        sv_bit_set(found, vl->place[previous]);
                }
        }
    clear_done(cdg, cdg->behind, count, false);
    return cdg->gave_up ? SV_NONE : count;
}

/* Whether one entry can be reached from another, in a VL without an order. */
static bool reaches(sv_cdg *cdg, const sv_cdg_vl *vl, uint32_t from, uint32_t to)
{
    const sv_core *core = cdg->core;
    uint32_t *stack = cdg->ahead, *seen = cdg->behind, depth = 0, count = 0;
    bool found = from == to;
    sv_bit_set(cdg->found, from);
    stack[depth++] = seen[count++] = from;
    while (depth > 0 && !found) {
        uint32_t e = stack[--depth], s = core->to[e];
        const uint64_t *row = row_of(cdg, vl->after, s, e);
        for (uint32_t w = 0; w < cdg->words[s]; w++)
            for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
                uint32_t cable = w * 64 + (uint32_t)__builtin_ctzll(bits);
                uint32_t next = core->back[core->first[s] + cable];
                found = found || next == to;
                if (!sv_bit(cdg->found, next)) {
                    sv_bit_set(cdg->found, next);
                    stack[depth++] = seen[count++] = next;
                }
            }
    }
    while (count > 0)
        sv_bit_clear(cdg->found, seen[--count]);
    return found;
}

/* Those behind move before those ahead, within the places they all hold. */
static void reorder(sv_cdg *cdg, sv_cdg_vl *vl, uint32_t ahead, uint32_t behind)
{
    uint32_t i = 0, j = behind, count = 0;
    while (i < ahead || j > 0)
        cdg->places[count++] =
            j == 0 || (i < ahead && vl->place[cdg->ahead[i]] < vl->place[cdg->behind[j - 1]])
                ? vl->place[cdg->ahead[i++]]
                : vl->place[cdg->behind[--j]];
    for (uint32_t k = 0; k < count; k++) {
        uint32_t e = k < behind ? cdg->behind[behind - 1 - k] : cdg->ahead[k - behind];
        vl->place[e] = cdg->places[k];
        vl->at[cdg->places[k]] = e;
    }
}

static void put(sv_cdg *cdg, unsigned number, uint32_t in, uint32_t out)
{
    const sv_core *core = cdg->core;
    sv_cdg_vl *vl = &cdg->vl[number];
    uint32_t s = core->entries[out].from, outward = core->back[out];
    cdg->vls[sv_cdg_turn(cdg, in, out)] |= (sv_vl_mask)1 << number;
    sv_bit_set(row_of(cdg, vl->after, s, in), outward - core->first[s]);
    sv_bit_set(row_of(cdg, vl->before, s, outward), in - core->first[s]);
}

bool sv_cdg_add(sv_cdg *cdg, unsigned number, uint32_t in, uint32_t out)
{
    sv_cdg_vl *vl = &cdg->vl[number];
    cdg->gave_up = false;
    if (cdg->vls[sv_cdg_turn(cdg, in, out)] >> number & 1)
        return true;
    if (vl->place == NULL) {
        if (reaches(cdg, vl, out, in))
            return false;
    } else if (vl->place[in] >= vl->place[out]) {
        uint32_t ahead = look_ahead(cdg, vl, out, vl->place[in]), behind;
        if (ahead == SV_NONE || (behind = look_behind(cdg, vl, in, vl->place[out])) == SV_NONE)
            return false;
        reorder(cdg, vl, ahead, behind);
    }
    put(cdg, number, in, out);
    return true;
}

void sv_cdg_join(sv_cdg *cdg, unsigned number, uint32_t in, uint32_t out)
{
    put(cdg, number, in, out);
}

void sv_cdg_remove(sv_cdg *cdg, unsigned number, uint32_t in, uint32_t out)
{
    const sv_core *core = cdg->core;
    sv_cdg_vl *vl = &cdg->vl[number];
    uint32_t s = core->entries[out].from, outward = core->back[out];
    cdg->vls[sv_cdg_turn(cdg, in, out)] &= ~((sv_vl_mask)1 << number);
    sv_bit_clear(row_of(cdg, vl->after, s, in), outward - core->first[s]);
    sv_bit_clear(row_of(cdg, vl->before, s, outward), in - core->first[s]);
}

/* How many turns lead to an entry. */
static uint32_t count_before(const sv_cdg *cdg, const sv_cdg_vl *vl, uint32_t e)
{
    uint32_t s = cdg->core->entries[e].from, count = 0;
    const uint64_t *row = row_of(cdg, vl->before, s, cdg->core->back[e]);
    for (uint32_t w = 0; w < cdg->words[s]; w++)
        count += (uint32_t)__builtin_popcountll(row[w]);
    return count;
}

void sv_cdg_sort(sv_cdg *cdg, unsigned number, const uint32_t *key, uint32_t keys, uint32_t *first)
{
    const sv_core *core = cdg->core;
    sv_cdg_vl *vl = &cdg->vl[number];
    uint32_t *waits = cdg->ahead, *next = cdg->behind, low = 0; /* lists by key of what may come */
    for (uint32_t k = 0; k < keys; k++)
        first[k] = SV_NONE;
    for (uint32_t e = core->num_entries; e-- > 0;)
        if ((waits[e] = count_before(cdg, vl, e)) == 0) {
            next[e] = first[key[e]];
            first[key[e]] = e;
        }
    for (uint32_t place = 0; place < core->num_entries; place++) {
        while (first[low] == SV_NONE)
            low++;
        uint32_t e = first[low], s = core->to[e];
        const uint64_t *row = row_of(cdg, vl->after, s, e);
        first[low] = next[e];
        vl->place[e] = place;
        vl->at[place] = e;
        for (uint32_t w = 0; w < cdg->words[s]; w++)
            for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
                uint32_t cable = w * 64 + (uint32_t)__builtin_ctzll(bits);
                uint32_t then = core->back[core->first[s] + cable];
                if (--waits[then] > 0)
                    continue;
                next[then] = first[key[then]];
                first[key[then]] = then;
                low = key[then] < low ? key[then] : low;
            }
    }
}
