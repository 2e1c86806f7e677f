/*
 * nue.h: what the files of engine nue share. nue.c says how they work together.
 */
#ifndef SV_ROUTING_NUE_H
#define SV_ROUTING_NUE_H

#include "cdg/cdg.h"
#include "routing/schedule.h"

/* How many destinations a switch stands for: terminals (their addresses) on it, and itself. */
typedef struct sv__wanted {
    uint32_t terminals, itself;
} sv__wanted;

/* The escape paths of a layer: a spanning tree of every component that has destinations in it. */
typedef struct sv__nue_layer {
    uint32_t *up;          /* [switches]: the channel to its parent; SV_NONE: root, or outside */
    uint32_t *first_child; /* [switches + 1] */
    uint32_t *child;       /* channels from children: child[first_child[s]] … */
    sv__wanted *wanted;    /* [switches] */
} sv__nue_layer;

typedef enum sv__nue_partition {
    SV__NUE_KWAY,
    SV__NUE_RANDOM,
    SV__NUE_CLUSTERED
} sv__nue_partition;

typedef struct sv__nue {
    sv__routing_job *job;
    sv_core core;
    sv_cdg cdg;
    sv__nue_layer layer[SV_CDG_MAX_VLS];
    unsigned num_layers;
    uint32_t *component, *size; /* [switches]: its component; how many switches that has */
    uint32_t max_cables;        /* of a switch */

    /* nue_turns.c */
    bool omega;
    uint64_t *blocked[SV_CDG_MAX_VLS]; /* by layer, a bit a turn: known to close a cycle */
    uint32_t *subgraph;                /* [layers × entries]: ω, as a forest; only if omega */
    uint64_t *added;                   /* turns added since the mark was set, in << 32 | out */
    size_t *refused;                   /* [turns]: numbers of turns blocked since then */
    size_t num_added, num_refused;

    /* The tree that grows: of one destination in one layer. */
    unsigned at; /* the layer */
    uint32_t home, count;
    bool guarded, thrifty;
    uint64_t *weight;  /* [entries]: routes on each channel, and its lot (sv__weigh) */
    uint64_t *path;    /* [switches]: weight of the way from each, without lots */
    uint32_t *hops;    /* [switches]: SV_NONE: not reached */
    uint32_t *out;     /* [switches]: the channel it takes; SV_NONE at home, and if not reached */
    size_t *turns;     /* [switches]: number of the turn from entry 0 into out, were there one */
    uint32_t *order;   /* [count]: those reached, each after the one it sends to */
    uint32_t *routes;  /* [switches]: scratch */
    uint32_t *counted; /* [switches]: the same */
    uint32_t *now, *next, num_now, num_next; /* who may be reached in this step, and the next */
    uint32_t *queued, round;                 /* [switches]: in which round it was put there */
    uint32_t *way;    /* [switches]: of the ways that were noted in this round, the best */
    uint64_t *key;    /* [switches]: its weight */
    uint32_t *missed; /* [switches]: the tree in which it could not be reached at first */
    uint32_t *path_round, *path_down, trips; /* [switches]: the way from the root to the home */
    bool *promised; /* [switches]: the turn behind its escape channel was added for its sake only */
    struct sv__nue_try *tries; /* scratch: ways into an island */
} sv__nue;

/* ---- nue_parts.c ---- */

/*
 * Puts destinations into layers: layer[d] for each of them, numbered without gaps; *layers of them.
 * *how changes if the build lacks what it takes.
 */
sv_status sv__nue_parts(sv__routing_job *job, const uint32_t *destinations, uint32_t count,
                        sv__nue_partition *how, uint8_t *layer, unsigned *layers);

/* ---- nue_root.c ---- */

/* The switches on shortest paths between those wanted, and these (Alg. 6.1): inside[switches]. */
sv_status sv__convex(sv_arena *arena, const sv_core *core, const sv__wanted *wanted, bool *inside);

/*
 * Betweenness of switches: the share of shortest paths between any two destinations that lead over
 * each (Brandes). inside: as from sv__convex. score[switches].
 */
sv_status sv__betweenness(sv_arena *arena, const sv_core *core, const sv__wanted *wanted,
                          const bool *inside, double *score);

/* The spanning trees of a layer whose destinations are in layer->wanted. */
sv_status sv__nue_plant(sv__nue *x, sv__nue_layer *layer);

/* Adds a layer to the dependency graphs, with the turns of its escape paths (Def. 6.2). */
sv_status sv__nue_open(sv__nue *x, const sv__nue_layer *layer);

/* ---- nue_turns.c ---- */

sv_status sv__nue_turns_init(sv__nue *x);

static inline bool sv__nue_blocked(const sv__nue *x, size_t turn)
{
    return x->blocked[x->at][turn >> 6] >> (turn & 63) & 1;
}

/* Adds a turn to the layer at hand; false if it would close a cycle. */
bool sv__nue_add(sv__nue *x, uint32_t in, uint32_t out);

/* Takes back all that was added since num_added was this, and what was found out meanwhile. */
void sv__nue_undo(sv__nue *x, size_t added, size_t refused);

/* Takes one turn out again, if it was added since the mark. */
void sv__nue_drop(sv__nue *x, uint32_t in, uint32_t out);

/* What to add an entry to for the number of the turn from there into a channel. */
static inline size_t sv__nue_turns_into(const sv__nue *x, uint32_t channel)
{
    uint32_t first = x->core.first[x->core.entries[channel].from];
    return sv_cdg_turn(&x->cdg, first, channel) - first;
}

/* ---- nue_grow.c ---- */

/* The escape channel of a switch towards the home at hand. */
static inline uint32_t sv__nue_escape(const sv__nue *x, uint32_t s)
{
    return x->path_round[s] == x->trips ? x->path_down[s] : x->layer[x->at].up[s];
}

enum { SV__NUE_GUARDED = 1, SV__NUE_THRIFTY = 2 };

/*
 * Grows the tree of a home in layer x->at; false: no way was found to every switch, and the graph
 * is as before. how: guarded searches always find one; thrifty ones use few new turns.
 */
bool sv__nue_grow(sv__nue *x, uint32_t home, unsigned how);

/* The tree that is made of escape paths alone. */
void sv__nue_fall_back(sv__nue *x);

/* A switch is reached, by a channel. */
void sv__nue_reach(sv__nue *x, uint32_t s, uint32_t channel);

/* ---- nue_island.c ---- */

struct sv__nue_try {
    uint64_t path;
    uint32_t hops, channel, other; /* from the island; what the neighbour takes instead */
};

/* One switch that was not reached gets a way, by another way of its neighbour; false: none does. */
bool sv__nue_backtrack(sv__nue *x);

/* Neighbours that are nearer to the home over a switch now take that way, if turns allow. */
void sv__nue_shortcut(sv__nue *x, uint32_t s);

/* Puts x->order right after ways have changed. */
void sv__nue_reorder(sv__nue *x);

#endif
