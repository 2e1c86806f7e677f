/*
 * multicast.h: what the files of this room share: the unicast dependencies of tables, the graph in
 * which a tree for one SL is grown, and the growing.
 */
#ifndef SV_MULTICAST_MULTICAST_H
#define SV_MULTICAST_MULTICAST_H

#include <selvage/experimental/multicast.h>

#include "base/array.h"
#include "cdg/cdg.h"
#include "routes/routes.h"

/* A VL of a channel: of an entry of the core. */
typedef struct sv__muse {
    uint32_t entry, vl;
} sv__muse;

/* What unicast packets wait for (depend.c). */
typedef struct sv__mdeps {
    const sv_core *core;
    unsigned vls;                 /* highest VL of any SL2VL table, plus one */
    uint64_t classes;             /* one SL of each class that all SL2VL tables treat alike */
    uint8_t class_of[SV_MAX_SLS]; /* which SL stands for each */
    uint64_t *first;              /* [switches]: its first bit */
    _Atomic uint64_t *bits;       /* a bit for each (cable in, VL, cable out, VL) of a switch */
} sv__mdeps;

/*
 * Follows all unicast packets of a kind of traffic. entry_of: [channels]: or SV_NONE. Everything
 * lives in the arena.
 */
sv_status sv__mdeps_init(sv__mdeps *deps, sv_arena *arena, const sv_fabric *fabric,
                         const sv_routes *routes, sv_traffic traffic, const sv_core *core,
                         const uint32_t *entry_of);

/* Calls fn for each dependency, in the order of what waits. */
typedef sv_status sv__mdeps_fn(void *arg, sv__muse waits, sv__muse for_whom);
sv_status sv__mdeps_each(const sv__mdeps *deps, sv__mdeps_fn *fn, void *arg);

/* place: [entries × VLs]: an order in which every dependency ascends, unless they are cyclic. */
sv_status sv__mdeps_order(const sv__mdeps *deps, sv_arena *arena, uint32_t *place, bool *cyclic);

/* What trees are grown beside; the same for all SLs that a tree is looked for. */
typedef struct sv__mcast {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv_fabric *fabric;
    const sv_routes *routes;
    sv_traffic traffic;
    const sv_mtree *const *others;
    size_t num_others;
    sv__mdeps deps;
    uint32_t *place;             /* [entries × VLs]: an order for them */
    uint64_t joined[SV_MAX_VLS]; /* VLs between which packets change, either way */
    sv_core core;
    uint32_t *entry_of; /* [channels]: SV_NONE if it does not join switches */
    bool by_orders;     /* turns of a tree must ascend in the orders that tables have */
} sv__mcast;

/*
 * Walks all unicast packets. INFEASIBLE if they can deadlock. arena: what all this lives in; sl:
 * one that is to be there.
 */
sv_status sv__mcast_init(sv__mcast *m, sv_arena *arena, const sv_fabric *fabric,
                         const sv_routes *routes, sv_traffic traffic, unsigned sl,
                         const sv_mtree *const *others, size_t num_others);

/* A turn of the graph. */
typedef struct sv__mturn {
    uint32_t in, out;
} sv__mturn;

/*
 * The graph for one SL: a vertex for each channel and each VL that matters to it, the unicast
 * dependencies, those of other trees, and those of the tree at hand.
 */
typedef struct sv__mgraph {
    const sv__mcast *m;
    sv_arena arena;
    unsigned sl;
    uint64_t matter; /* VLs, one bit each */
    unsigned num_vls;
    uint8_t number[SV_MAX_VLS]; /* of each VL among them, or SV_NO_VL */
    sv_core wide;               /* every channel once for each of those VLs */
    sv_cdg cdg;
    bool gave_up; /* the cable that did not fit last: it was not found out, only given up (cdg.h) */
    /* The tree at hand. */
    bool *taken;      /* [entries] */
    uint64_t *vls;    /* [entries]: on which its packets are */
    uint64_t *starts; /* [entries]: on which those are that set out at its switch; SV__MBLOCKED */
    SV_ARRAY(sv__mturn) turns; /* that it brought, for taking them back */
    SV_ARRAY(sv__muse) uses;
} sv__mgraph;

/* Somebody at the switch cannot send that way, or get what comes from there. */
#define SV__MBLOCKED UINT64_MAX

/* To be released even if it failed. INFEASIBLE if others can deadlock already. */
sv_status sv__mgraph_init(sv__mgraph *g, const sv__mcast *m, unsigned sl);
void sv__mgraph_release(sv__mgraph *g);

/*
 * Takes a cable into the tree; *fits is false, and nothing is changed, if that closes a cycle.
 * entry: either direction.
 */
sv_status sv__mgraph_take(sv__mgraph *g, uint32_t entry, bool *fits);

/* Takes cables out again: all that came since there were that many turns and uses. */
void sv__mgraph_back(sv__mgraph *g, size_t turns, size_t uses, const uint32_t *cables,
                     uint32_t count);

/* A tree in entries: what the search for one fills. */
typedef struct sv__mplan {
    uint32_t *up;    /* [switches]: the entry it takes towards the root */
    uint32_t *order; /* [count] */
    uint32_t count, pieces, depth;
} sv__mplan;

/*
 * Looks for a tree of all pieces; *found is false if there is none for some piece. searches: how
 * many share the time there is, this one included; 0: this is a quick look.
 */
sv_status sv__mgrow(sv__mgraph *g, unsigned searches, sv__mplan *plan, bool *found);

/* Makes the tree that the caller gets. */
sv_status sv__mtree_make(const sv__mgraph *g, const sv__mplan *plan, sv_mtree **tree);

/* A tree for an SL; INFEASIBLE if none was found. */
sv_status sv__mtree_try(const sv__mcast *m, unsigned sl, unsigned searches, sv_mtree **tree);

#endif
