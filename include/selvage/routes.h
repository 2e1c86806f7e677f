/*
 * routes.h: forwarding tables: what engines fill and everybody else reads.
 *
 * A destination is something a packet can be sent to: one of the 2^LMC addresses of a terminal, or
 * a switch. Destinations are numbered by node and offset, whatever has failed: tables of a fabric
 * and of the same fabric with failures (sv_fabric_mask) have the same numbers. LIDs are only names
 * that files use for them; a fabric with more destinations than InfiniBand has LIDs is routed all
 * the same.
 *
 * For each destination there is a row: the port out of which each switch sends packets for it. A
 * service level (SL) belongs to each pair of source and destination, and is kept in the smallest
 * form that serves: one for all, by destination, by source switch and destination, or by source and
 * destination. A packet's VL (VL) on each channel follows from its SL and the tables of the
 * switch it leaves: by in port, out port and SL.
 *
 * Tables can be cloned: the clone shares all rows with the original and copies a row when it is
 * first changed (sv_routes_row). So old and new tables are held at the cost of their difference.
 */
#ifndef SELVAGE_ROUTES_H
#define SELVAGE_ROUTES_H

#include <selvage/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No way out: the switch drops packets for that destination. */
#define SV_NO_PORT 255
/* An SL that is not known, because a file does not tell it. */
#define SV_NO_SL 255
/* No VL: packets with that SL are discarded (InfiniBand writes 15 into its tables). */
#define SV_NO_VL 255

enum {
    SV_MAX_PORTS = 254,   /* of a switch: out ports are eight bits */
    SV_HARDWARE_SLS = 16, /* what InfiniBand has; more is for studies only */
    SV_HARDWARE_VLS = 15,
    SV_MAX_SLS = 64,
    SV_MAX_VLS = 64,
    SV_LFT_BLOCK = 64 /* LIDs that one management datagram sets */
};

typedef enum sv_sl_form {
    SV_SL_UNKNOWN,        /* nobody told */
    SV_SL_CONSTANT,       /* one for all */
    SV_SL_BY_DESTINATION, /* sls[0][destination] */
    SV_SL_BY_SWITCH,      /* sls[destination][switch]: of the source switch, and its terminals */
    SV_SL_BY_NODE         /* sls[destination][node] */
} sv_sl_form;

/* Which VL each SL goes to. */
typedef struct sv_sl2vl {
    uint8_t of_sl[SV_MAX_SLS];
} sv_sl2vl;

/* One table of VL arbitration: VLs with weights, of which the first with packets goes first. */
typedef struct sv_vlarb_table {
    uint8_t length;
    uint8_t vl[64], weight[64];
} sv_vlarb_table;

/* Who a VL arbitration is for, as in OpenSM's options: adapters, switches, switches' own ports. */
typedef enum sv_vlarb_who { SV_VLARB_CA, SV_VLARB_SWE, SV_VLARB_SW0, SV_VLARB_COUNT } sv_vlarb_who;

typedef struct sv_vlarb {
    bool given;
    uint8_t high_limit;
    sv_vlarb_table high, low;
} sv_vlarb;

/* Whose packets are on the way. Each kind includes the one before it. */
typedef enum sv_traffic {
    SV_TRAFFIC_TERMINALS, /* from terminals to terminals */
    SV_TRAFFIC_MANAGED,   /* and between terminals and switches, both ways */
    SV_TRAFFIC_ALL,       /* and between switches */
    SV_TRAFFIC_COUNT
} sv_traffic;

/* A multicast group: the ports out of which each switch sends a copy (never back). */
typedef struct sv_group {
    uint16_t mlid;
    uint8_t sl;           /* or SV_NO_SL */
    uint64_t (*ports)[4]; /* [switches]: bit p is port p */
} sv_group;

typedef struct sv_routes {
    uint32_t num_switches, num_terminals, num_destinations;
    uint8_t lmc; /* of terminals */

    const uint32_t *first; /* [nodes + 1]: node v has destinations first[v] … first[v + 1] - 1 */
    const sv_node *node;   /* [num_destinations] */
    const uint32_t *home;  /* [num_terminals]: the switch it hangs on, or SV_NONE */

    uint16_t *lid;   /* [num_destinations]: 0 where it has none */
    uint8_t **ports; /* [num_destinations][num_switches]; 0 is the switch itself */

    uint8_t sl_form; /* an sv_sl_form */
    uint8_t sl;      /* the constant */
    uint8_t **sls;

    /* SL to VL. A table of its own for a node, or for each pair of ports of a switch. */
    bool sl2vl_known;
    uint8_t num_sls; /* that tables tell something about: at least 16 */
    sv_sl2vl *vl_tables;
    uint32_t num_vl_tables;
    uint16_t *vls_of;         /* [nodes]: index into vl_tables */
    uint16_t **sl2vl_by_port; /* [num_switches]: NULL, or [in * (ports + 1) + out] */

    /*
     * Orders: a number for each VL of each port of each switch (of the channel that leaves it),
     * such that whatever packets do, they go from smaller to larger ones: why these tables cannot
     * deadlock, and what a repair has to keep to. NULL: nobody told. Never changed in place.
     */
    const uint32_t *orders;      /* [(order_first[s] + port) * order_vls + VL], or SV_NONE */
    const uint32_t *order_first; /* [num_switches + 1]: ports and port 0 of the switches before */
    uint8_t order_vls;

    sv_vlarb vlarb[SV_VLARB_COUNT];
    sv_group *groups;
    uint32_t num_groups;

    sv_pool *store;
    /* One bit each: this row of ports, row of SLs, table of VLs by ports is not shared. */
    uint64_t *own_ports, *own_sls, *own_vls;
} sv_routes;

/* ---- reading ---- */

static inline unsigned sv_route_port(const sv_routes *r, sv_node s, uint32_t destination)
{
    return r->ports[destination][s.i];
}

/* The SL of packets from a node, or SV_NO_SL where it is not known. */
static inline unsigned sv_route_sl(const sv_routes *r, sv_node from, uint32_t destination)
{
    switch (r->sl_form) {
    case SV_SL_CONSTANT:
        return r->sl;
    case SV_SL_BY_DESTINATION:
        return r->sls[0][destination];
    case SV_SL_BY_SWITCH:
        if (from.i >= r->num_switches) {
            uint32_t home = r->home[from.i - r->num_switches];
            return home == SV_NONE ? SV_NO_SL : r->sls[destination][home];
        }
        return r->sls[destination][from.i];
    case SV_SL_BY_NODE:
        return r->sls[destination][from.i];
    default:
        return SV_NO_SL;
    }
}

/* The SL-to-VL table for packets that come into a node at one port and leave at another. */
static inline const sv_sl2vl *sv_route_sl2vl(const sv_routes *r, const sv_fabric *f, sv_node v,
                                             unsigned in, unsigned out)
{
    uint32_t table = r->vls_of[v.i];
    if (v.i < r->num_switches && r->sl2vl_by_port[v.i] != NULL)
        table = r->sl2vl_by_port[v.i][in * (f->switches[v.i].ports + 1u) + out];
    return &r->vl_tables[table];
}

/* The numbers of a port, one a VL; orders must be there. */
static inline const uint32_t *sv_route_order(const sv_routes *r, sv_node s, unsigned port)
{
    return r->orders + (size_t)(r->order_first[s.i] + port) * r->order_vls;
}

/* ---- making ---- */

/*
 * Empty tables for a fabric: no entry anywhere but each switch's own, one SL (0), every SL on VL
 * 0, no LIDs.
 *
 * lmc: 0 … 7. *routes: owned by the caller (sv_routes_free); keeps nothing of the fabric.
 * INFEASIBLE when a switch has more than 254 ports. Time and memory: switches × destinations.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * if (sv_topology_generate(ctx, "mesh:1x2", &fabric) == SV_OK &&
 *     sv_routes_new(ctx, fabric, 0, &routes) == SV_OK)
 *     printf("%u destinations\n", routes->num_destinations);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_routes_new(sv_ctx *ctx, const sv_fabric *fabric, unsigned lmc,
                                           sv_routes **routes);
SV_API void sv_routes_free(sv_routes *routes);

/*
 * The same tables again, sharing rows and VLs until one of the two changes them (pointers to rows
 * that were got for writing before are not to be written through any more). routes may be freed
 * before its clone. Time: O(destinations + switches).
 */
SV_API SV_MUST_USE sv_status sv_routes_clone(sv_ctx *ctx, const sv_routes *routes,
                                             sv_routes **clone);

/* The row of a destination for writing; NULL when there is no memory. Time: O(1), or O(switches) at
 * the first change of a shared row. */
SV_API uint8_t *sv_routes_row(sv_ctx *ctx, sv_routes *routes, uint32_t destination);

/* The same for a row of SLs (row 0 where they go by destination alone). */
SV_API uint8_t *sv_routes_sl_row(sv_ctx *ctx, sv_routes *routes, uint32_t destination);

/*
 * Room for SLs in a form; all are 0 (constant) or SV_NO_SL. Replaces what was there.
 * Time: O(destinations).
 */
SV_API SV_MUST_USE sv_status sv_routes_set_sl_form(sv_ctx *ctx, sv_routes *routes, sv_sl_form form);

/* The number of a VL table, which is added if there is none like it; SV_NONE: no memory. */
SV_API uint32_t sv_routes_sl2vl_table(sv_ctx *ctx, sv_routes *routes, const sv_sl2vl *vls);

/* Gives one pair of ports of a switch a VL table of its own. */
SV_API SV_MUST_USE sv_status sv_routes_set_sl2vl(sv_ctx *ctx, const sv_fabric *fabric,
                                                 sv_routes *routes, sv_node s, unsigned in,
                                                 unsigned out, uint32_t table);

/*
 * Room for orders of a number of VLs, all SV_NONE, in *numbers (laid out as routes->orders, which
 * they are from now on); the caller fills them in. VLs 0: takes orders away.
 * Time: O(ports × VLs).
 */
SV_API SV_MUST_USE sv_status sv_routes_set_orders(sv_ctx *ctx, const sv_fabric *fabric,
                                                  sv_routes *routes, unsigned vls,
                                                  uint32_t **numbers);

/* Adds a multicast group with no ports; *group is valid until the next is added. */
SV_API SV_MUST_USE sv_status sv_routes_add_group(sv_ctx *ctx, sv_routes *routes, unsigned mlid,
                                                 sv_group **group);

/*
 * Gives every live destination a LID: the fabric's own where it has one that fits (aligned to the
 * LMC, nobody else's), else the next that is free. INFEASIBLE, with the count, when there are more
 * destinations than LIDs. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_routes_assign_lids(sv_ctx *ctx, const sv_fabric *fabric,
                                                   sv_routes *routes);

/*
 * Gives a LID to every live destination that has none; LIDs that are in use, and those that the
 * tables before (NULL: none) have for anybody, are not given. INFEASIBLE when none is left.
 * Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_routes_add_lids(sv_ctx *ctx, const sv_fabric *fabric,
                                                sv_routes *routes, const sv_routes *before);

/*
 * The same fabric with the LIDs of the tables. Owned by the caller. Time: linear in the nodes.
 */
SV_API SV_MUST_USE sv_status sv_fabric_with_lids(sv_ctx *ctx, const sv_fabric *fabric,
                                                 const sv_routes *routes, sv_fabric **result);

/*
 * Proves the invariants of the struct against the fabric: numbers in range, ports that exist.
 * BAD_INPUT names the first that does not hold. Says nothing about where packets end up (sv_verify
 * does). Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_routes_check(sv_ctx *ctx, const sv_fabric *fabric,
                                             const sv_routes *routes);

/*
 * How many blocks of 64 LIDs (as management datagrams set them) differ between two tables of the
 * same fabric; those of switches that are dead in it do not count. Blocks are by destination
 * number where there are no LIDs. Time: O(switches × destinations).
 */
SV_API SV_MUST_USE sv_status sv_routes_changed_blocks(sv_ctx *ctx, const sv_fabric *fabric,
                                                      const sv_routes *a, const sv_routes *b,
                                                      uint64_t *blocks);

/*
 * A mixture: the old tables with one block of 64 LIDs of one switch from the new ones. Call again
 * for more blocks. Time: O(destinations), and a copy of each row that changes first.
 */
SV_API SV_MUST_USE sv_status sv_routes_mix_block(sv_ctx *ctx, sv_routes *mixture,
                                                 const sv_routes *with, sv_node s, uint32_t block);

/*
 * Tables of one fabric in the numbers of another, as a match from the first to the second tells.
 * What is new in the second has no entries. Multicast groups are not carried over. *result is owned
 * by the caller. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_routes_remap(sv_ctx *ctx, const sv_fabric *from,
                                             const sv_routes *routes, const sv_fabric *to,
                                             const sv_match *match, sv_routes **result);

/* A LID that is another node's than before. */
typedef struct sv_lid_move {
    uint16_t lid;
    sv_node was, is; /* of the first fabric and of the second */
} sv_lid_move;

/*
 * Switches know LIDs and no nodes. Where a LID of now, the tables of the second fabric, was another
 * node's in the first, carried (which sv_routes_remap made) gets that one's entries and SLs: they
 * are what switches have for it until they are reprogrammed. A node that kept its place but got
 * another LID is left alone.
 *
 * moves: room for now->num_destinations of them; *count: how many there are. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_routes_remap_lids(sv_ctx *ctx, const sv_fabric *from,
                                                  const sv_routes *routes, const sv_fabric *to,
                                                  const sv_match *match, const sv_routes *now,
                                                  sv_routes *carried, sv_lid_move *moves,
                                                  uint32_t *count);

/* ---- following ---- */

typedef enum sv_trace_end {
    SV_TRACE_ARRIVED,
    SV_TRACE_NO_CABLE,  /* the source has no cable */
    SV_TRACE_NO_ENTRY,  /* a switch has no entry */
    SV_TRACE_DEAD_PORT, /* an entry leads to a port without a live cable */
    SV_TRACE_ASTRAY, /* an entry leads to a terminal that is not meant, or into a switch itself */
    SV_TRACE_DISCARDED, /* the VL table discards the SL */
    SV_TRACE_LOOP
} sv_trace_end;

/* A channel that a packet takes, and its VL there. */
typedef struct sv_hop_taken {
    sv_channel channel;
    uint8_t vl;
} sv_hop_taken;

/*
 * Follows a packet from a node to a destination with an SL. hops gets at most most channels, *count
 * is how many there are; *at is the node where it ends. Time: O(hops × log ports).
 */
SV_API sv_trace_end sv_routes_trace(const sv_fabric *fabric, const sv_routes *routes, sv_node from,
                                    uint32_t destination, unsigned sl, sv_hop_taken *hops,
                                    uint32_t max, uint32_t *count, sv_node *at);

/* What an end of a trace means, in a few words. Time: O(1). */
SV_API const char *sv_trace_end_name(sv_trace_end end);

#ifdef __cplusplus
}
#endif
#endif
