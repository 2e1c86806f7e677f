/*
 * weave.h: paths and VLs chosen together: what the files of engines dfsssp and weave share.
 *
 * A VL is a set of turns without a cycle (cdg.h). A switch's path to a home is open in the VLs
 * that have all its turns.
 */
#ifndef SV_ROUTING_WEAVE_H
#define SV_ROUTING_WEAVE_H

#include "cdg/cdg.h"
#include "routing/sssp.h"

/* The paths to one home: a tree. */
typedef struct sv__wtree {
    uint32_t home, count;
    uint32_t *order;           /* [count]: switches that reach it, each after the one it sends to */
    uint32_t *length;          /* [switches]: hops to the home; SV_NONE: no path */
    uint32_t *out;             /* [switches]: the entry it takes; SV_NONE at home */
    uint64_t *path;            /* [switches]: weight of its path, without lots */
    sv_vl_mask *open;          /* [switches]: VLs that have all turns of its path */
    uint32_t *child, *sibling; /* [switches]: who sends through each (sv__wtree_children) */
} sv__wtree;

/*
 * VLs by turn (weave_turns.c): VLs stand in pairs, and an SL is a pair. Bits of a pair stand
 * side by side, that of the VL on which packets set out first.
 */
enum { SV__PAIR = 2 };

typedef struct sv__turns {
    sv_vl_mask *label; /* [turns]: the VL that packets take after it, a bit a pair; 0: open */
    uint32_t *start;   /* [virtual channels]: the order to begin with */
    sv_core core;      /* of the fabric with every cable twice */
    sv_cdg cdg;        /* of that: what waits for each other, one VL a pair of VLs */
} sv__turns;

/* The first VLs of all pairs. */
#define SV__FIRST_VLS ((sv_vl_mask)0x5555555555555555u)

typedef struct sv__weave {
    sv__routing_job *job;
    const char *name; /* of the engine, for messages */
    const struct sv__mode *mode;
    void *own;           /* of the mode */
    bool spare_detours;  /* paths between switches without terminals may be longer in any case */
    bool by_destination; /* a tree is in one VL */
    bool room;           /* some VL is to have a spanning tree, for multicast packets */
    bool tough;          /* shortest paths of least weight were not open for this home before */
    sv_vl_mask play;     /* by_destination: the VL of the tree at hand */
    bool detours;        /* paths may be longer than the shortest; VLs are those there are */
    sv_core core;
    sv__dags dags;
    sv_cdg cdg;
    sv__wtree tree;
    sv_vl_mask *closed; /* [turns]: VLs in which it closes a cycle, and always will */
    sv_vl_mask *want;   /* [switches]: the VLs of which some must be open to it */
    sv__turns *turns;   /* VLs by turn; NULL: a packet stays on its VL */
    uint64_t *weight;   /* [entries]: by cable: routes that leave by it, and its lot (sv__weigh) */
    uint8_t *narrow;    /* [turns]: VLs that have it, if there are no more than 8; or NULL */
    uint8_t *laid;  /* [home][switch]: the cable it takes in the tree laid first, or SV__NO_CABLE */
    bool *needed;   /* [switches]: whether its path to the home at hand must be open */
    bool *spanning; /* [entries]: is in the spanning tree that some VL has; NULL: none */
    const uint32_t *start[2];   /* orders that the first VLs begin with, or NULL (weave_start.c) */
    const uint32_t *sources;    /* [switches]: terminals whose routes to the home at hand count */
    uint64_t load[SV_MAX_VLS];  /* terminals' paths in each VL */
    uint64_t unsafe, fallbacks; /* paths open in no VL; homes left to the spanning tree */
    uint64_t stranded;          /* paths that found no way, without a spanning tree to fall to */
    /* Scratch, [switches] each. */
    uint32_t *flow, *added, *stack, *pending, *spare, *counted;
    sv_vl_mask *trial;
    size_t *into; /* the first turn into what each has taken: the others follow as entries do */
} sv__weave;

/* ---- weave_tree.c ---- */

sv_status sv__weave_init(sv__weave *w, sv__routing_job *job, const char *name, bool detours);

/*
 * The same for a further thread: tree and scratch are its own, everything else is shared and must
 * not be changed while several are at work. Its dags must not be used (sv__dag_make with those of
 * the original).
 */
sv_status sv__weave_copy(sv__weave *copy, const sv__weave *w);

/* Begins a tree. */
void sv__wtree_begin(sv__weave *w, uint32_t home);

/*
 * The VLs that are open before a turn if those of a mask are behind it. With VLs by turn the
 * turn itself says which VL of a pair packets go to, whichever they come from.
 */
static inline sv_vl_mask sv__weave_pass(const sv__weave *w, sv_vl_mask mask, size_t turn)
{
    if (w->narrow != NULL)
        return mask & w->narrow[turn];
    if (w->turns == NULL)
        return mask & w->cdg.vls[turn];
    sv_vl_mask to = mask & w->turns->label[turn];
    sv_vl_mask pairs = (to | to >> 1) & SV__FIRST_VLS;
    return w->cdg.vls[turn] & (pairs | pairs << 1);
}

/* The VLs in which a way is open: an entry that leads to a switch of the tree. */
static inline sv_vl_mask sv__weave_vls(const sv__weave *w, uint32_t entry)
{
    uint32_t to = w->core.to[entry];
    return w->tree.out[to] == SV_NONE
               ? w->tree.open[to]
               : sv__weave_pass(w, w->tree.open[to], w->into[to] + entry - w->core.first[to]);
}

/* How many VLs there are, so far. */
static inline unsigned sv__weave_num_vls(const sv__weave *w)
{
    return w->turns == NULL ? w->cdg.num_vls : SV__PAIR * w->turns->cdg.num_vls;
}

/* What a way weighs, lot included. */
static inline uint64_t sv__weave_key(const sv__weave *w, uint32_t entry)
{
    return w->tree.path[w->core.to[entry]] + w->weight[w->core.back[entry]];
}

/* A switch of the tree takes a way; a new one is put into it. */
void sv__wtree_take(sv__weave *w, uint32_t s, uint32_t entry, sv_vl_mask vls);
void sv__wtree_settle(sv__weave *w, uint32_t s, uint32_t entry, sv_vl_mask vls);

/* Orders the tree by length again. */
void sv__wtree_sort(sv__weave *w);

/* Lists who sends through each. */
void sv__wtree_children(sv__weave *w);

/*
 * Whether all that send through s (and must) stay open if it takes another entry, which is open in
 * VLs. keep: it does, and lengths and VLs of all behind follow.
 */
bool sv__wtree_move(sv__weave *w, uint32_t s, uint32_t entry, sv_vl_mask vls, bool keep);

/*
 * Betters the tree once: from the home outwards, each switch goes over to a shorter way, or one as
 * long of less weight, with which all behind it stay open. bound: those with a number other than 0
 * stay as they are; NULL: none. False: nothing was found.
 */
bool sv__wtree_mend(sv__weave *w, const uint32_t *bound);

/* The same until it finds nothing, or has been done often enough. */
void sv__wtree_mend_often(sv__weave *w);

/* Writes its ports into a row; returns how many paths are not open. */
uint64_t sv__wtree_write(const sv__weave *w, uint8_t *row);

/* How many routes of terminals take the way of each switch, into w->flow. */
void sv__wtree_flows(sv__weave *w);

/* Adds the routes of all terminals to the weights. */
void sv__wtree_weigh(sv__weave *w, uint32_t lots);

/* Forgets all weights. */
void sv__weave_clear(sv__weave *w);

/* The tree that was laid for a home. */
void sv__wtree_use_laid(sv__weave *w, uint32_t home);

/* ---- weave_start.c ---- */

/* Finds orders for the first two VLs, where that saves searching. */
sv_status sv__weave_find_starts(sv__weave *w);

/* ---- weave_seed.c ---- */

/* What the last VL begins with, so that there is always some tree. */
typedef enum sv__seed {
    SV__SEED_NONE,  /* nothing: there may be pairs without a path */
    SV__SEED_FIRST, /* a spanning tree, each switch behind the first port that leads to the root */
    SV__SEED_LAST,  /* behind the last */
    SV__SEED_UPDN,  /* all turns of an order of the switches, as engine updn has it */
    SV__SEED_DEEP   /* of one in which they are found depth first */
} sv__seed;

/* One way to lay trees. attempt: what orders are drawn by; 0 is as switches are numbered. */
typedef struct sv__weave_plan {
    sv__seed seed;
    unsigned attempt;
    bool detours;
} sv__weave_plan;

/* Adds a turn to the last VL; it closes no cycle. */
void sv__weave_add_turn(sv__weave *w, uint32_t in, uint32_t out);

/* Adds that VL. start: the order of entries to begin with, or NULL. */
sv_status sv__weave_seed_vl(sv__weave *w, sv__weave_plan plan, const uint32_t *start);

/* ---- weave_turns.c ---- */

/* From now on VLs are by turn. */
sv_status sv__turns_init(sv__weave *w);

/* Begins again, with so many pairs of VLs, without turns. start: the order of entries at first.
 */
sv_status sv__turns_clear(sv__weave *w, unsigned pairs, const uint32_t *start);

/* Packets that have just set out may turn; they go to a VL unless it is settled to which. */
bool sv__turns_join(sv__weave *w, unsigned vl, uint32_t in, uint32_t out);

/* The way that begins with an entry opens, by a turn that goes to a VL unless that is settled. */
bool sv__turns_open(sv__weave *w, unsigned vl, uint32_t first);

/* A pair of VLs more, with as much as possible of the trees that are laid, in an order of homes.
 */
sv_status sv__turns_add_pair(sv__weave *w, const uint32_t *homes);

/* All that agrees with the orders that virtual channels have come to. */
void sv__turns_enrich(sv__weave *w);

/* VL tables by ports. *used: VLs that they send to. */
sv_status sv__turns_finish(sv__weave *w, unsigned *used);

/* ---- weave_lay.c ---- */

/* VLs that are there before the first tree is laid: vls of them, the last with a seed. */
sv_status sv__weave_vls_begin(sv__weave *w, unsigned vls, sv__weave_plan plan);

/* Lays a tree for every home, with the VLs that are there or as many as it takes. */
sv_status sv__weave_lay(sv__weave *w, const uint32_t *homes);

/*
 * Adds a VL with a spanning tree, and lays homes along it to which some path, between switches
 * without terminals, is open in no VL.
 */
sv_status sv__weave_rescue(sv__weave *w);

/* With SLs by destination: the VL in which the trees of a home are laid; else all VLs. */
static inline sv_vl_mask sv__weave_home_vls(const sv__weave *w, uint32_t home)
{
    unsigned vls = sv__weave_num_vls(w);
    return w->by_destination ? (sv_vl_mask)1 << home % vls
                             : ~(sv_vl_mask)0 >> (SV_CDG_MAX_VLS - vls);
}

/* Keeps the tree at hand as that laid for its home. */
void sv__wtree_keep(sv__weave *w);

/*
 * Gives switches that have no path in the tree laid for a home one: with detours if need be, then
 * one that is open in no VL.
 */
sv_status sv__weave_lay_rest(sv__weave *w, uint32_t home);

/* ---- weave_enrich.c ---- */

/*
 * VLs get all turns that agree with the order they have come to; further ones, up to vls, those
 * of up/down orders.
 */
sv_status sv__weave_enrich(sv__weave *w, unsigned vls);

/* Adds a VL with all turns that go up first, then down, in an order of the switches. */
sv_status sv__weave_add_order(sv__weave *w, const uint32_t *queue);

/* ---- weave_plan.c ---- */

/*
 * Lays shortest paths if they fit and nothing else is better, or if w->detours is false (then
 * INFEASIBLE if they do not fit). needed: VLs it takes; used: over which they are spread.
 */
sv_status sv__weave_lay_shortest(sv__weave *w, unsigned *needed, unsigned *used);

/* Lays trees with detours, by the best of several plans. used: VLs in all. */
sv_status sv__weave_lay_best(sv__weave *w, unsigned used);

/* ---- weave_spread.c ---- */

/* What a routing is judged by. */
typedef struct sv__grade {
    uint64_t busiest, hops; /* routes on the busiest channel; hops of all routes */
    uint64_t longer;        /* homes that are not routed by shortest paths alone */
    uint64_t lost;          /* paths that are not there, or not open, and must be */
} sv__grade;

/*
 * Routes as many destinations a switch as there are rounds, each for its share of the terminals:
 * about what a spread will come to.
 */
sv_status sv__weave_sample(sv__weave *w, unsigned rounds, sv__grade *grade);

/* A tree of shortest paths, all open; false if some switch finds none. */
bool sv__weave_grow(sv__weave *w, const sv__dag *dag);

/* The tree of a home: of shortest open paths, or else (false) what was laid, mended. */
bool sv__weave_find_tree(sv__weave *w, const sv__dag *dag);

/* From now on routes count that do for a destination. */
void sv__weave_aim(sv__weave *w, const sv__schedule *schedule, uint32_t destination);

/* Routes all destinations, phase by phase: rows, SLs, loads of VLs; then once more. */
sv_status sv__weave_spread(sv__weave *w);

/* ---- weave_again.c ---- */

/* Up to so many switches destinations are routed twice: by weave, and on trees. */
enum { SV__SMALL = 512, SV__SMALL_TREE = 2048 };

/* How often they are: as option rounds says, or twice on fabrics up to a size. */
unsigned sv__weave_rounds(const sv__routing_job *job, uint32_t small);

/*
 * Routes the destinations of a phase again if fabric or option rounds want it. load, unsafe: as
 * they were before the phase.
 */
sv_status sv__weave_again(sv__weave *w, const sv__schedule *schedule, uint32_t begin, uint32_t end,
                          const uint64_t *load, uint64_t unsafe);

/* ---- weave_modes.c ---- */

/* A destination, whose SLs are to be chosen. */
typedef struct sv__pick {
    uint32_t destination;
    bool terminal;
    uint8_t *sls;              /* in the form of the mode; NULL if that is constant */
    uint64_t load[SV_MAX_VLS]; /* of VLs: before, and with it */
} sv__pick;

/* What service levels may depend on (sv_sl_mode). */
typedef struct sv__mode {
    sv_sl_form form; /* in which SLs are kept while destinations are routed */
    /*
     * Before the tree of a destination is looked for: sets w->want or w->play. NULL: nothing, and
     * destinations may be routed on several threads.
     */
    void (*prepare)(sv__weave *w, const sv__dag *dag);
    /* The tree at hand is that of a destination: notes or writes its SLs. NULL: nothing. */
    void (*record)(sv__weave *w, sv__pick *pick);
} sv__mode;

extern const sv__mode sv__mode_pair;

/* What record gets: SLs as the form wants them, all 0; loads as they are. */
sv_status sv__weave_pick(sv__weave *w, uint32_t destination, sv__pick *pick);

/* Routes, in the modes other than SV_SLS_PAIR. */
sv_status sv__weave_run_one(sv__weave *w);
sv_status sv__weave_run_reversible(sv__weave *w);
sv_status sv__weave_run_destination(sv__weave *w);

/* Tables that are safe on one VL are spread over all, as the mode wants it. */
sv_status sv__weave_share(sv__routing_job *job, unsigned vls);

/* ---- orders.c ---- */

/* Gives the tables the orders of the first VLs. */
sv_status sv__weave_keep_orders(const sv__weave *w, unsigned vls);

/* ---- weave.c ---- */

/*
 * All of it, for an engine; report: VLs needed and used, fallbacks. Without detours INFEASIBLE,
 * with the number of VLs that it would take, if the job has fewer.
 */
sv_status sv__weave_route(sv__routing_job *job, const char *name, bool detours);

#endif
