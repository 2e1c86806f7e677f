/*
 * update.h: what the files of this room share about plans.
 *
 *     plan.c    which way, and what comes of it
 *     groups.c  groups of destinations that may move together, one group after the other
 *     levels.c  in which order the entries of one destination change
 *     gather.c  what waits for what on account of one destination
 *     graph.c   all of that together, free of cycles
 *     tables.c  tables between steps; proof of a plan
 *     pairs.c   who is to be silent
 */
#ifndef SV_UPDATE_UPDATE_H
#define SV_UPDATE_UPDATE_H

#include <selvage/experimental/update.h>

#include "base/bitset.h"
#include "routes/routes.h"
#include "update/graph.h"

/* Old and new tables, and what both mean. */
typedef struct sv__sides {
    sv_ctx *ctx;
    const sv_fabric *f;
    const sv_routes *before, *after;
    sv_traffic traffic;
    sv_portmap ports;
    bool by_node; /* SLs of terminals on one switch may differ */
    unsigned vls; /* that tables name */
} sv__sides;

sv_status sv__sides_init(sv__sides *x, sv_arena *arena, sv_ctx *ctx, const sv_fabric *f,
                         const sv_routes *before, const sv_routes *after, sv_traffic traffic);

/*
 * The SL that a connection may hold from before, and the one it is told now; SV_NO_SL: it never had
 * a path. Where SLs go by switch, a terminal that is new has its switch's.
 */
static inline unsigned sv__old_sl(const sv__sides *x, sv_node from, uint32_t d)
{
    uint32_t n = x->f->num_switches;
    if (from.i >= n && x->before->sl_form == SV_SL_BY_SWITCH &&
        x->after->home[from.i - n] != SV_NONE)
        from.i = x->after->home[from.i - n];
    unsigned sl = sv_route_sl(x->before, from, d);
    return sl == SV_NO_SL ? sv_route_sl(x->after, from, d) : sl;
}

static inline unsigned sv__new_sl(const sv__sides *x, sv_node from, uint32_t d)
{
    unsigned sl = sv_route_sl(x->after, from, d);
    return sl == SV_NO_SL ? sv_route_sl(x->before, from, d) : sl;
}

/* The switch that a way out of one leads to; SV_NONE: to none. */
static inline uint32_t sv__next_switch(const sv__sides *x, uint32_t s, unsigned port)
{
    const sv_place *place = sv_portmap_place(&x->ports, s, port);
    uint32_t next = place->end >> 8;
    return place->channel == SV_NONE || next >= x->f->num_switches ? SV_NONE : next;
}

/* Whether a way out of a switch ends where packets to a destination are to end. */
static inline bool sv__is_end(const sv__sides *x, uint32_t s, unsigned port, uint32_t d)
{
    const sv_place *place = sv_portmap_place(&x->ports, s, port);
    uint32_t to = x->after->node[d].i;
    return place->channel == SV_NONE ? port == 0 && s == to : place->end >> 8 == to;
}

/* Whether an entry changes. */
static inline bool sv__changes(const sv__sides *x, uint32_t s, uint32_t d)
{
    return x->before->ports[d][s] != x->after->ports[d][s] && sv_node_alive(x->f, (sv_node){s});
}

/* ---- gather.c ---- */

/* Which SLs packets have. */
typedef enum sv__sls {
    SV__OLD_SLS,
    SV__NEW_SLS,
    SV__BOTH_SLS,
    SV__KEPT_SLS, /* those that do not change: whose SL does is silent */
    SV__STILL_SLS /* of these, where the path does not change either: others are silent, too */
} sv__sls;

typedef struct sv__gatherer {
    const sv__sides *x;
    sv_arena *arena;
    uint64_t *sets;   /* [switches × 2 × VLs]: SLs on each VL of each way out */
    uint32_t *queue;  /* [switches × 2 + 1]: ways out whose sets grew */
    uint64_t *queued; /* bits */
    uint32_t head, count;
    uint8_t *mark;       /* [switches]: of STILL_SLS, an sv__update_path */
    uint32_t *stack;     /* [switches] */
    sv__turn_key *edges; /* [num_edges], sorted, each once */
    size_t num_edges, room;
} sv__gatherer;

sv_status sv__gather_init(sv__gatherer *g, const sv__sides *x, sv_arena *arena);
void sv__gather_release(sv__gatherer *g);
/*
 * Lists in g->edges what waits for what on account of packets to a destination, while each switch
 * has the entry of row a or of row b.
 */
sv_status sv__gather(sv__gatherer *g, uint32_t d, const uint8_t *a, const uint8_t *b, sv__sls sls);
/* The same on account of packets of multicast groups, by the trees of the new tables. */
sv_status sv__gather_trees(sv__gatherer *g);

/* ---- levels.c ---- */

typedef struct sv__levels {
    const sv__sides *x;
    uint32_t *level;               /* [switches]: of those whose entry changes */
    uint32_t *stack;               /* [switches + 1] */
    uint8_t *colour;               /* [switches] */
    bool *good, *was_good, *lured; /* [switches] */
    uint8_t *rows[2];              /* [switches] each: between levels */
} sv__levels;

sv_status sv__levels_init(sv__levels *l, const sv__sides *x, sv_arena *arena);
/*
 * Levels for the entries of a destination, so that nobody circles and nobody loses a path: as few
 * as there must be, 1 if all may change at once; or fine ones in any case. Returns how many, 0:
 * nothing changes.
 */
uint32_t sv__level(sv__levels *l, uint32_t d, bool fine);
/* The row when all levels below one have changed, in rows[which]. */
const uint8_t *sv__row_at(sv__levels *l, uint32_t d, uint32_t level, int which);

/* ---- tables.c ---- */

/* Whether SLs may be different for a destination. */
bool sv__sls_change(const sv__sides *x, uint32_t d);
/* What going from the old tables, with the SLs that connections hold, to the new ones does in any
 * order; or to the old ones with new SL-to-VL tables. VLs: these change. */
sv_status sv__verify_union(const sv__sides *x, bool vls, bool vls_only, sv_transition **found);
/* Whether SL-to-VL tables differ for an SL that somebody uses. */
bool sv__vls_change(const sv__sides *x);

/* ---- pairs.c ---- */

/* What becomes of a switch's path to a destination. */
enum sv__update_path { SV__UNSEEN, SV__ON_WAY, SV__LOST, SV__SAME, SV__OTHER };

/* mark, stack: [switches]. LOST: it had none that leads there. Time: O(switches). */
void sv__mark_paths(const sv__sides *x, uint32_t d, uint8_t *mark, uint32_t *stack);

/* Who must be silent: one bit a destination. */
typedef struct sv__silence {
    const uint64_t *repath; /* pairs whose SL changes */
    const uint64_t *hushed; /* and those whose path does, or who have none */
} sv__silence;

/* Fills in what concerns pairs. *held: somebody must be silent whose SL stays. */
sv_status sv__list_pairs(const sv__sides *x, sv_arena *arena, const sv__silence *silence,
                         const uint32_t *last_step, sv_update *u, bool *held);

/* ---- groups.c ---- */

/* Who is silent while a destination moves: nobody, pairs whose SL changes, those whose path does or
 * who have none, too. */
typedef enum sv__who { SV__NOBODY, SV__REPATH, SV__HUSHED } sv__who;

enum { SV__MAX_LEVELS = 16 };

/* A plan in the making. */
typedef struct sv__update_planner {
    sv_ctx *ctx;
    sv_arena *arena;
    sv__sides x;
    sv__gatherer gather;
    sv__levels levels;
    sv__update_graph graph;
    sv__update_graph fine_graphs[SV__MAX_LEVELS]; /* made when they are needed */
    uint32_t num_levels;                          /* of those, in use */
    sv_update *u;
    uint32_t max_steps;
    bool partial;      /* who cannot move stays */
    uint32_t *changed; /* [num_changed]: destinations, by block */
    uint32_t num_changed;
    uint32_t *last_step;       /* [destinations]; u->first_step is the first */
    uint64_t *moved, *fine;    /* one bit a destination */
    uint64_t *repath, *hushed; /* the same: as sv__silence has them */
    uint32_t *group, num_group;
    uint32_t num_moved, steps;
    bool circles; /* old tables have some: there is nothing to keep to */
} sv__update_planner;

/* Nothing has moved yet. */
void sv__begin_again(sv__update_planner *p);
/* All destinations move at once, each by its levels. */
void sv__move_together(sv__update_planner *p, sv__who who);
/* All destinations move, group after group, so that nothing waits for ever. */
sv_status sv__move_in_groups(sv__update_planner *p);

#endif
