/*
 * cdg.h: channel dependency graphs that stay free of cycles: one a VL.
 *
 * A vertex is an entry of the core (a channel between switches), an edge a turn: packets that hold
 * the one wait for the other. Turns are added one by one; one that would close a cycle is refused.
 */
#ifndef SV_CDG_CDG_H
#define SV_CDG_CDG_H

#include "cdg/core.h"

/* One bit a VL. */
typedef uint64_t sv_vl_mask;

enum { SV_CDG_MAX_VLS = 64 };

/* The graph of one VL. */
typedef struct sv_cdg_vl {
    uint64_t *after;  /* rows by entry: the cables of the switch it leads into, taken next */
    uint64_t *before; /* rows by entry: the cables of the switch it leaves, come from */
    uint32_t *place;  /* [entries]: an order in which every turn ascends; NULL: it keeps none */
    uint32_t *at;     /* [entries]: who has a place */
} sv_cdg_vl;

typedef struct sv_cdg {
    const sv_core *core;
    sv_arena *arena;
    unsigned num_vls;
    size_t *turns;   /* [switches]: number of its first turn; cable × cable each */
    size_t *rows;    /* [switches]: its first row's first word */
    uint32_t *words; /* [switches]: of a row */
    size_t *sums;    /* [switches]: its first word among those of one row a switch */
    sv_vl_mask *vls; /* [turns]: in which it is */
    sv_cdg_vl vl[SV_CDG_MAX_VLS];
    size_t num_turns, num_words;
    /* Scratch of a search: entries found forwards and backwards; places found, one bit each. */
    uint32_t *ahead, *behind, *places;
    uint64_t *found;
    uint64_t *done; /* one row a switch: cables that need not be looked at again */
    /*
     * How many entries a search may come upon, in either direction, before it is given up: then the
     * turn is refused, as if it closed a cycle, and gave_up is set. 0: as many as there are.
     */
    uint32_t patience;
    bool gave_up;
} sv_cdg;

/* No VLs yet. Memory: 8 bytes a turn (cables² a switch), and what VLs take. */
sv_status sv_cdg_init(sv_cdg *cdg, sv_arena *arena, const sv_core *core);

/*
 * One more VL, without turns. INFEASIBLE (no message) when there are SV_CDG_MAX_VLS.
 * start: NULL, or a number for each entry: the order to begin with, lower first.
 * Memory: some 20 bytes an entry.
 */
sv_status sv_cdg_add_vl(sv_cdg *cdg, const uint32_t *start);

/* Takes all turns and VLs out; their memory is used again. Time: O(turns). */
void sv_cdg_clear(sv_cdg *cdg);

/*
 * The same, but without an order: whether a turn closes a cycle is searched from its end, through
 * everything that can be reached. For comparison, and for callers that often know the answer.
 */
sv_status sv_cdg_add_plain_vl(sv_cdg *cdg);

/*
 * The number of a turn: from one entry, at the switch it leads into, to another that leaves it.
 * Turns into the same one stand side by side, in the order of entries.
 */
static inline size_t sv_cdg_turn(const sv_cdg *cdg, uint32_t in, uint32_t out)
{
    const sv_core *core = cdg->core;
    uint32_t s = core->entries[out].from, degree = core->first[s + 1] - core->first[s];
    return cdg->turns[s] + (size_t)(core->back[out] - core->first[s]) * degree +
           (in - core->first[s]);
}

/*
 * Adds a turn to a VL; false (and nothing changes) if it would close a cycle. True if it is there
 * already. Time: O(1) when the order of the VL agrees; else what lies between the two in it.
 */
bool sv_cdg_add(sv_cdg *cdg, unsigned vl, uint32_t in, uint32_t out);

/* Adds a turn of which the caller knows that it closes no cycle, to a plain VL. Time: O(1). */
void sv_cdg_join(sv_cdg *cdg, unsigned vl, uint32_t in, uint32_t out);

/*
 * Gives a VL another order in which its turns ascend: of what may come next, something with the
 * lowest key does. Additions are quick where the order agrees with them, so who knows which will
 * come can make it so. key: [entries], below keys; first: [keys], scratch. Time: linear in entries,
 * turns and, if keys are few, nothing else.
 */
void sv_cdg_sort(sv_cdg *cdg, unsigned vl, const uint32_t *key, uint32_t keys, uint32_t *first);

/* Takes a turn out again. Time: O(1). */
void sv_cdg_remove(sv_cdg *cdg, unsigned vl, uint32_t in, uint32_t out);

#endif
