/*
 * weave.h: paths and lanes chosen together: what the files of engines dfsssp and weave share.
 *
 * A lane is a set of turns without a cycle (cdg.h). A switch's path to a home is open in the lanes
 * that have all its turns.
 */
#ifndef SV_ROUTING_WEAVE_H
#define SV_ROUTING_WEAVE_H

#include "cdg/cdg.h"
#include "routing/dag.h"

enum { SV__NO_CABLE = 255 };

/* The paths to one home: a tree. */
typedef struct sv__wtree {
    uint32_t home, count;
    uint32_t *order;           /* [count]: switches that reach it, each after the one it sends to */
    uint32_t *length;          /* [switches]: hops to the home; SV_NONE: no path */
    uint32_t *out;             /* [switches]: the entry it takes; SV_NONE at home */
    uint64_t *path;            /* [switches]: weight of its path, without lots */
    sv_lane_mask *open;        /* [switches]: lanes that have all turns of its path */
    uint32_t *child, *sibling; /* [switches]: who sends through each (sv__wtree_children) */
} sv__wtree;

typedef struct sv__weave {
    sv__job *job;
    const char *name; /* of the engine, for messages */
    bool detours;     /* paths may be longer than the shortest; lanes are those there are */
    sv_core core;
    sv__dags dags;
    sv_cdg cdg;
    sv__wtree tree;
    sv_lane_mask *closed; /* [turns]: lanes in which it closes a cycle, and always will */
    uint64_t *weight;     /* [entries]: routes on each channel, and its lot (sv__weigh) */
    uint8_t *laid;  /* [home][switch]: the cable it takes in the tree laid first, or SV__NO_CABLE */
    bool *needed;   /* [switches]: whether its path to the home at hand must be open */
    bool *spanning; /* [entries]: is in the spanning tree that some lane has; NULL: none */
    uint64_t load[SV_MOST_LANES]; /* terminals' paths in each lane */
    uint64_t unsafe, fallbacks;   /* paths open in no lane; homes left to the spanning tree */
    /* Scratch, [switches] each. */
    uint32_t *flow, *added, *stack, *pending, *spare;
    sv_lane_mask *trial;
} sv__weave;

/* ---- weave_tree.c ---- */

sv_status sv__weave_init(sv__weave *w, sv__job *job, const char *name, bool detours);

/* Begins a tree. */
void sv__wtree_begin(sv__weave *w, uint32_t home);

/* The lanes in which a way is open: an entry that leads to a switch of the tree. */
static inline sv_lane_mask sv__weave_lanes(const sv__weave *w, uint32_t entry)
{
    uint32_t to = w->core.to[entry], out = w->tree.out[to];
    return out == SV_NONE ? w->tree.open[to]
                          : w->tree.open[to] & w->cdg.lanes[sv_cdg_turn(&w->cdg, entry, out)];
}

/* What a way weighs, lot included. */
static inline uint64_t sv__weave_key(const sv__weave *w, uint32_t entry)
{
    return w->tree.path[w->core.to[entry]] + w->weight[entry];
}

/* A switch of the tree takes a way; a new one is put into it. */
void sv__wtree_take(sv__weave *w, uint32_t s, uint32_t entry, sv_lane_mask lanes);
void sv__wtree_settle(sv__weave *w, uint32_t s, uint32_t entry, sv_lane_mask lanes);

/* Orders the tree by length again. */
void sv__wtree_sort(sv__weave *w);

/* Lists who sends through each. */
void sv__wtree_children(sv__weave *w);

/*
 * Whether all that send through s (and must) stay open if it takes another entry, which is open in
 * lanes. keep: it does, and lengths and lanes of all behind follow.
 */
bool sv__wtree_move(sv__weave *w, uint32_t s, uint32_t entry, sv_lane_mask lanes, bool keep);

/*
 * Betters the tree once: from the home outwards, each switch goes over to a shorter way, or one as
 * long of less weight, with which all behind it stay open. False: nothing was found.
 */
bool sv__wtree_mend(sv__weave *w);

/* Adds the routes of all terminals to the weights. */
void sv__wtree_weigh(sv__weave *w, uint32_t lots);

/* Forgets all weights. */
void sv__weave_clear(sv__weave *w);

/* The tree that was laid for a home. */
void sv__wtree_use_laid(sv__weave *w, uint32_t home);

/* ---- weave_lay.c ---- */

/* Lanes that are there before the first tree is laid: vls of them, the last with a spanning tree.
 */
sv_status sv__weave_lanes_begin(sv__weave *w, unsigned vls);

/* Lays a tree for every home, with the lanes that are there or as many as it takes. */
sv_status sv__weave_lay(sv__weave *w, const uint32_t *homes);

/* Keeps the tree at hand as that laid for its home. */
void sv__wtree_keep(sv__weave *w);

/*
 * Gives switches that have no path in the tree laid for a home one: with detours if need be, then
 * one that is open in no lane.
 */
sv_status sv__weave_lay_rest(sv__weave *w, uint32_t home);

/* ---- weave_enrich.c ---- */

/*
 * Lanes get all turns that agree with the order they have come to; further ones, up to vls, those
 * of up/down orders.
 */
sv_status sv__weave_enrich(sv__weave *w, unsigned vls);

/* ---- weave_spread.c ---- */

/* Routes all destinations: rows, SLs by switch, loads of lanes. */
sv_status sv__weave_spread(sv__weave *w);

/* ---- orders.c ---- */

/* Gives the tables the orders of the first lanes. */
sv_status sv__weave_keep_orders(const sv__weave *w, unsigned lanes);

/* ---- weave.c ---- */

/*
 * All of it, for an engine; report: lanes needed and used, fallbacks. Without detours INFEASIBLE,
 * with the number of lanes that it would take, if the job has fewer.
 */
sv_status sv__weave_route(sv__job *job, const char *name, bool detours);

#endif
