/*
 * VLs.h: which VL each path goes, for engines that leave it open.
 *
 * A path is that from a switch to a destination; all terminals on the switch share it. Paths of one
 * VL must not be able to wait for each other in a circle: the acyclic path partitioning problem
 * (IPDPS'11), NP-complete, so there are several heuristics.
 */
#ifndef SV_VLS_VLS_H
#define SV_VLS_VLS_H

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

typedef enum sv_vl_method {
    SV_VLS_WEAKEST,   /* break cycles where the fewest paths are (Alg. 3.6) */
    SV_VLS_STRONGEST, /* where the most are */
    SV_VLS_FIRST,     /* where the search found it */
    SV_VLS_ONLINE     /* path by path, each to the first VL that takes it */
} sv_vl_method;

typedef struct sv_layering {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv_fabric *fabric;
    const sv_core *core;
    sv_routes *routes; /* rows are read, SLs by switch and destination written */
    sv_core_ports ports;
    sv_tree tree;            /* of the destination looked at last */
    unsigned vls;            /* needed so far */
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
 * Puts all paths that count into VLs, the fewest that the method finds, at most most: into
 * x->VLs and the SLs. INFEASIBLE (no message) if that is not enough.
 */
sv_status sv_layering_run(sv_layering *x, sv_vl_method method, unsigned max);

/*
 * Whether the paths to some destinations, and to those asked about before, fit one VL; INFEASIBLE
 * (no message) if not. SV_NONE among them is left out.
 */
sv_status sv_layering_probe(sv_layering *x, const uint32_t *destinations, uint32_t count);

/* The two kinds of method; called by sv_layering_run. */
sv_status sv__vls_break(sv_layering *x, sv_vl_method method, unsigned max);
sv_status sv__vls_online(sv_layering *x, unsigned max);

/*
 * What remains: paths between switches that do not count are put where they do no harm (first VLs
 * that take them; *unsafe counts those that none does), then VLs that are left are filled with a
 * share of each busy one. VL tables send SL n to VL n. used: VLs that have paths at the end.
 */
sv_status sv_layering_finish(sv_layering *x, unsigned vls, unsigned *used, uint64_t *unsafe);

/* Which idle VLs take paths over from which that are needed. */
typedef struct sv_vl_shares {
    unsigned count[SV_MAX_VLS];             /* VLs that share the paths of a VL */
    uint8_t member[SV_MAX_VLS][SV_MAX_VLS]; /* which: itself first */
} sv_vl_shares;

/* paths: in each of the VLs that are needed. vls: VLs in all. */
void sv_vl_shares_init(sv_vl_shares *shares, const uint64_t *paths, unsigned needed, unsigned vls);

/*
 * Over how many VLs paths are spread when some are needed and vls may be used: all of them, but
 * no more than hardware has unless they are needed.
 */
static inline unsigned sv_vls_to_use(unsigned needed, unsigned vls)
{
    unsigned hardware = vls < SV_HARDWARE_VLS ? vls : SV_HARDWARE_VLS;
    return needed > hardware ? needed : hardware;
}

/* SL n goes to VL n everywhere. */
sv_status sv_sl2vl_identity(sv_ctx *ctx, sv_routes *routes, unsigned vls);

#endif
