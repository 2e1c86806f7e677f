/*
 * store.h: what a source has learned: contending flows, and the paths that helped against them.
 */
#ifndef SV_ADAPT_STORE_H
#define SV_ADAPT_STORE_H

#include "adapt/metapath.h"
#include "base/arena.h"

#include <selvage/fabric.h>

/* Contending flows (wire.h), ascending. */
typedef struct sv__flows {
    uint32_t *at;
    uint32_t count;  /* 0: not known */
    uint32_t router; /* the switch that found them, or SV_NONE */
} sv__flows;

/* A path of a solution. */
typedef struct sv__kept {
    double waited; /* ticks, when it was kept */
    uint8_t path;
} sv__kept;

typedef struct sv__solution {
    struct sv__solution *next; /* of its pair, as they were found */
    sv__flows flows;
    sv__kept *paths;
    uint32_t num_paths;
    double latency; /* of the metapath, ticks */
    uint64_t applied;
    bool seeded; /* from a file */
    bool failed; /* was not enough: any other is better */
} sv__solution;

/* The solutions of a pair. */
typedef struct sv__solution_store {
    sv__solution *first, *last;
} sv__solution_store;

/* Room of flows and of paths in every solution, from the arena. */
typedef struct sv__shelf {
    sv_arena *arena;
    uint32_t max_flows, max_paths;
} sv__shelf;

/* Brings flows into the order of sets, each once. Time: O(count²), of a few. */
void sv__flows_sort(sv__flows *flows);
/* Copies flows; room for as many as there may be. */
void sv__flows_copy(sv__flows *to, const sv__flows *from);
/* |A ∩ B| / max(|A|, |B|); 0 of nothing. Time: O(|A| + |B|). */
double sv__flows_similarity(const sv__flows *a, const sv__flows *b);

/* The most similar solution that is alike, of several the first; NULL: none. Time: O(solutions ×
 * flows). */
sv__solution *sv__store_find(const sv__solution_store *store, const sv__flows *flows,
                             double similar);
/* A new solution at the end, with room and nothing else; NULL: no memory. */
sv__solution *sv__store_add(sv__solution_store *store, const sv__shelf *shelf);
/* Writes what a metapath is into a solution: flows, paths and latency. */
void sv__solution_fill(sv__solution *s, const sv__flows *flows, const sv__metapath *m,
                       double latency, uint32_t max_paths);
/* Whether all paths of a solution are open. */
bool sv__solution_covered(const sv__solution *s, const sv__metapath *m);

#endif
