/*
 * verify.h: what forwarding tables really do, from fabric and tables alone: does every packet
 * arrive, does none go round in circles, can no set of packets wait for each other for ever.
 *
 * A packet that holds a channel on one VL and wants the next channel on some VL makes the first
 * depend on the second. Packets can wait for each other for ever exactly when dependencies can form
 * a cycle. All packets that any source can send count, with the SL that belongs to the pair and the
 * VLs that tables give it, hop by hop.
 */
#ifndef SELVAGE_VERIFY_H
#define SELVAGE_VERIFY_H

#include <selvage/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sv_verdict {
    SV_VERDICT_UNJUDGED, /* nobody has looked: what a zeroed struct says */
    SV_VERDICT_YES,
    SV_VERDICT_NO,
    SV_VERDICT_UNKNOWN, /* it depends on SLs or VLs that are not given */
    SV_VERDICT_COUNT
} sv_verdict;

/* Kinds of pairs: source, then destination. */
typedef enum sv_pairs {
    SV_PAIRS_TERMINAL_TERMINAL,
    SV_PAIRS_TERMINAL_SWITCH,
    SV_PAIRS_SWITCH_TERMINAL,
    SV_PAIRS_SWITCH_SWITCH,
    SV_PAIRS_COUNT
} sv_pairs;

/* What senders do about SLs. */
typedef struct sv_verify_options {
    bool assume;        /* everybody uses one SL, whatever the tables say */
    uint8_t assumed_sl; /* that one */
    bool reversible;    /* a pair may use the SL of either direction in both */
    bool quick;         /* only count: unicast verdicts are yes if that comes for free, all others
                           unjudged; of multicast nothing is judged if there are groups */
} sv_verify_options;

/* A step of a cycle: a packet that holds a channel on a VL and wants that of the next step. */
typedef struct sv_wait {
    sv_channel channel;
    uint8_t vl, sl;
    bool multicast;       /* then destination is the number of a group */
    sv_node from;         /* an example of a sender; SV_NO_NODE if none was looked for */
    uint32_t destination; /* and where it sends to */
} sv_wait;

/* A pair that cannot talk, and why. */
typedef struct sv_lost_pair {
    sv_node from, at; /* at: where its packets end */
    uint32_t destination;
    uint8_t why; /* an sv_trace_end */
} sv_lost_pair;

typedef struct sv_verification {
    /* Pairs of a source and a destination that is another node, and those that cannot talk. */
    uint64_t pairs[SV_PAIRS_COUNT], unreachable[SV_PAIRS_COUNT];
    uint64_t split_pairs; /* of terminal to terminal: no tables could join them */
    sv_lost_pair lost;    /* an example; from is SV_NO_NODE if there is none */

    uint64_t loops;            /* forwarding loops, over all destinations */
    uint32_t loop_destination; /* of an example */
    sv_node loop_at;

    sv_verdict deadlock_free[SV_TRAFFIC_COUNT]; /* unicast */
    sv_verdict on_sl0[SV_TRAFFIC_COUNT];        /* if SLs are not known: were they all 0 */
    sv_verdict multicast;                       /* multicast trees alone */
    sv_verdict together[SV_TRAFFIC_COUNT];      /* unicast of a kind and multicast */

    uint64_t dependencies;        /* between channels that join switches, all unicast */
    unsigned vls_used;            /* VLs on those channels */
    bool sl_unknown, vls_unknown; /* and it matters */

    /* A cycle of the first kind of traffic that has one (or of multicast). */
    sv_wait *cycle;
    size_t cycle_length;
    sv_traffic cycle_traffic;
    bool cycle_certain;   /* it needs nothing that is unknown */
    bool cycle_multicast; /* it needs multicast */

    /*
     * An order for the largest kind of unicast traffic that can be put in one: a number from 1 on
     * for each VL of each port (laid out as orders of tables are, routes.h). NULL: none can, or
     * only counts were wanted.
     */
    uint32_t *order;
    unsigned order_vls;

    sv_pool *store;
} sv_verification;

/*
 * Judges tables.
 *
 * options: NULL for all defaults. *result: owned by the caller (sv_verification_free).
 * Time: O(destinations × switches × SLs in use); memory: some bits for each pair of channels that
 * follow each other.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_verification *found = NULL;
 * if (sv_topology_generate(ctx, "torus:4x4", &fabric) == SV_OK &&
 *     sv_route(ctx, fabric, "updn", NULL, &routes, NULL) == SV_OK &&
 *     sv_verify(ctx, fabric, routes, NULL, &found) == SV_OK)
 *     printf("%s\n", found->deadlock_free[SV_TRAFFIC_ALL] == SV_VERDICT_YES ? "safe" : "not safe");
 * sv_verification_free(found);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_verify(sv_ctx *ctx, const sv_fabric *fabric,
                                       const sv_routes *routes, const sv_verify_options *options,
                                       sv_verification **result);
SV_API void sv_verification_free(sv_verification *result);

/*
 * Writes a proof: a number for every (channel, VL) pair in use, such that every dependency of all
 * packets, multicast ones too, ascends (docs/formats.md). INFEASIBLE when there is none, or when
 * two nodes have the same GUID.
 */
SV_API SV_MUST_USE sv_status sv_proof_write(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_routes *routes,
                                            const sv_verify_options *options, const sv_sink *sink);

/*
 * Reads a proof and checks tables against it in one pass: *holds is false when some dependency does
 * not ascend, and *from and *to are then the two ends of it; *numbered is false if one of them has
 * no number.
 */
SV_API SV_MUST_USE sv_status sv_proof_check(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_routes *routes,
                                            const sv_verify_options *options,
                                            const sv_source *source, bool *holds, bool *numbered,
                                            sv_wait *from, sv_wait *to, uint64_t *dependencies);

/* What can happen while switches go from old tables to new ones in any order. */
typedef struct sv_transition {
    uint64_t looping;   /* destinations for which some mixture goes round in circles */
    uint64_t dead_ends; /* (terminal, destination) pairs that some mixture strands */
    uint64_t broken;    /* of those, pairs that the old tables do not join even by themselves */
    uint64_t strays;    /* pairs with a switch that the old tables join and some mixture strands */
    bool discards;      /* some VL table discards packets on the way */
    uint32_t loop_destination;
    sv_node loop_at;
    sv_lost_pair lost;
    sv_verdict deadlock_free; /* unicast, old and new SLs, all mixtures, and new multicast trees */
    sv_wait *cycle;
    size_t cycle_length;
    uint64_t changed_blocks;
    sv_pool *store;
} sv_transition;

/*
 * Judges a change of tables of one fabric (that which is there now): every switch may already have,
 * or not have, each entry and VL table of the new ones, and a packet may carry the old or the new
 * SL. traffic: whose packets can wait for each other. An answer on the safe side: a yes holds for
 * every order of updates, a no for their union. Old tables of another fabric come through
 * sv_routes_remap and sv_routes_remap_lids; packets to a node that is dead are followed as far as
 * they get. Time: as sv_verify, some times more.
 */
SV_API SV_MUST_USE sv_status sv_verify_transition(sv_ctx *ctx, const sv_fabric *fabric,
                                                  const sv_routes *old_routes,
                                                  const sv_routes *new_routes, sv_traffic traffic,
                                                  sv_transition **result);
SV_API void sv_transition_free(sv_transition *result);

/* Whether a change is safe in any order of updates. */
static inline bool sv_transition_safe(const sv_transition *t)
{
    return t->looping == 0 && t->dead_ends == t->broken && t->strays == 0 && !t->discards &&
           t->deadlock_free == SV_VERDICT_YES;
}

/*
 * The same where some are silent until the change is over. quiet: [destinations]: NULL, or one bit
 * a node that sends nothing to it; circles count for everybody all the same.
 */
SV_API SV_MUST_USE sv_status sv_verify_transition_quiet(
    sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *old_routes, const sv_routes *new_routes,
    sv_traffic traffic, const uint64_t *const *quiet, sv_transition **result);

/* ---- by orders ---- */

/* Packets to some destinations, held against the orders of the new tables. */
typedef struct sv_ascent {
    bool judged;           /* false: nothing below means anything */
    uint64_t destinations; /* that were followed */
    uint64_t looping;      /* of those, that some mixture goes round in circles for */
    uint64_t dead_ends;    /* (terminal, destination) pairs that some mixture strands */
    uint64_t broken;       /* of those, pairs that the old tables do not join even by themselves */
    uint64_t strays;      /* pairs with a switch that some mixture strands, and old tables do not */
    uint64_t lost;        /* pairs of terminals that the new tables alone do not join */
    uint64_t lost_others; /* the same of pairs with switches */
    uint64_t descents;    /* turns that packets take and that do not ascend */
} sv_ascent;

/*
 * The same question as sv_verify_transition, for some destinations only, and answered by the orders
 * of the new tables instead of a search for cycles: if no turn descends, nothing can deadlock
 * among packets to these destinations and all others that keep to the orders.
 *
 * For what keeps an SL on one VL everywhere, in old and new tables alike; UNSUPPORTED (no
 * message) otherwise, and without orders. destinations: one bit each; NULL: all. quiet: pairs whose
 * SL changes send nothing until the change is over. unsafe: NULL, or gets a bit for each
 * destination that is followed and not safe in any order of updates (no other bit is touched). With
 * old_routes == new_routes: whether tables keep to their orders. Time: O(switches) a destination,
 * on several threads.
 */
SV_API SV_MUST_USE sv_status sv_verify_ascent(sv_ctx *ctx, const sv_fabric *fabric,
                                              const sv_routes *old_routes,
                                              const sv_routes *new_routes, sv_traffic traffic,
                                              const uint64_t *destinations, bool quiet,
                                              uint64_t *unsafe, sv_ascent *result);

/* Whether an ascent is safe in any order of updates. */
static inline bool sv_ascent_safe(const sv_ascent *a)
{
    return a->judged && a->looping == 0 && a->dead_ends == a->broken && a->strays == 0 &&
           a->descents == 0;
}

/*
 * Finds orders for tables, which get them (those that they have are forgotten). INFEASIBLE if there
 * are none for this traffic. Time: as sv_verify.
 */
SV_API SV_MUST_USE sv_status sv_verify_orders(sv_ctx *ctx, const sv_fabric *fabric,
                                              sv_routes *routes, sv_traffic traffic);

#ifdef __cplusplus
}
#endif
#endif
