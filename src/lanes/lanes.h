/*
 * lanes.h: which lane each path goes, for engines that leave it open.
 *
 * A path is that from a switch to a destination; all terminals on the switch share it. Paths of one
 * lane must not be able to wait for each other in a circle: the acyclic path partitioning problem
 * (IPDPS'11), NP-complete, so there are several heuristics.
 */
#ifndef SV_LANES_LANES_H
#define SV_LANES_LANES_H

#include "cdg/cdg.h"
#include "routes/routes.h"

/* The paths to one destination: a tree that leads to its switch. */
typedef struct sv_tree {
    uint32_t count;  /* switches that reach it */
    uint32_t *order; /* [count]: each after the one it sends to; the home first */
    uint32_t *via;   /* [switches]: the entry it takes, SV_NONE: it is home, or has no way */
    uint32_t *chain; /* scratch */
    uint8_t *state;  /* scratch: 1 being followed, 2 listed, 3 leads nowhere */
} sv_tree;

typedef enum sv_lane_method {
    SV_LANES_WEAKEST,   /* break cycles where the fewest paths are (Alg. 3.6) */
    SV_LANES_STRONGEST, /* where the most are */
    SV_LANES_FIRST,     /* where the search found it */
    SV_LANES_ONLINE     /* path by path, each to the first lane that takes it */
} sv_lane_method;

typedef struct sv_layering {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv_fabric *fabric;
    const sv_core *core;
    sv_routes *routes; /* rows are read, SLs by switch and destination written */
    sv_core_ports ports;
    sv_tree tree;            /* of the destination looked at last */
    unsigned lanes;          /* needed so far */
    struct sv_packer *probe; /* what sv_layering_probe was asked so far */
} sv_layering;

/*
 * Gives routes SLs by switch and destination, all SV_NO_SL. core: of the same fabric.
 * Time: O(switches + destinations).
 */
sv_status sv_layering_init(sv_layering *x, sv_ctx *ctx, sv_arena *arena, const sv_fabric *fabric,
                           const sv_core *core, sv_routes *routes);

/* The tree of a destination, into x->tree. Time: O(switches). */
void sv_layering_tree(sv_layering *x, uint32_t destination);

/*
 * Whether packets from a switch (or its terminals) to a destination count: not those between two
 * switches without terminals (docs/decisions/0008).
 */
static inline bool sv_layering_counts(const sv_layering *x, uint32_t s, uint32_t destination)
{
    return x->core->terminals[s] > 0 || !sv_is_switch(x->fabric, x->routes->node[destination]);
}

/*
 * Puts all paths that count into lanes, the fewest that the method finds, at most most: into
 * x->lanes and the SLs. INFEASIBLE (no message) if that is not enough.
 */
sv_status sv_layering_run(sv_layering *x, sv_lane_method method, unsigned most);

/*
 * Whether the paths to some destinations, and to those asked about before, fit one lane; INFEASIBLE
 * (no message) if not. SV_NONE among them is left out.
 */
sv_status sv_layering_probe(sv_layering *x, const uint32_t *destinations, uint32_t count);

/* The two kinds of method; called by sv_layering_run. */
sv_status sv__lanes_break(sv_layering *x, sv_lane_method method, unsigned most);
sv_status sv__lanes_online(sv_layering *x, unsigned most);

/*
 * What remains: paths between switches that do not count are put where they do no harm (first lanes
 * that take them; *unsafe counts those that none does), then lanes that are left are filled with a
 * share of each busy one. Lane tables send SL n to lane n. used: lanes that have paths at the end.
 */
sv_status sv_layering_finish(sv_layering *x, unsigned vls, unsigned *used, uint64_t *unsafe);

/* Which idle lanes take paths over from which that are needed. */
typedef struct sv_lane_shares {
    unsigned count[SV_MOST_LANES];                /* lanes that share the paths of a lane */
    uint8_t member[SV_MOST_LANES][SV_MOST_LANES]; /* which: itself first */
} sv_lane_shares;

/* paths: in each of the lanes that are needed. vls: lanes in all. */
void sv_lane_shares_init(sv_lane_shares *shares, const uint64_t *paths, unsigned lanes,
                         unsigned vls);

/*
 * Over how many lanes paths are spread when some are needed and vls may be used: all of them, but
 * no more than hardware has unless they are needed.
 */
static inline unsigned sv_lanes_to_use(unsigned needed, unsigned vls)
{
    unsigned hardware = vls < SV_HARDWARE_LANES ? vls : SV_HARDWARE_LANES;
    return needed > hardware ? needed : hardware;
}

/* SL n goes to lane n everywhere. */
sv_status sv_lanes_straight(sv_ctx *ctx, sv_routes *routes, unsigned lanes);

#endif
