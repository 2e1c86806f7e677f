/*
 * multicast.h: trees for multicast packets that cannot deadlock together with unicast ones.
 *
 * A switch copies a multicast packet to all ports of its group but the one it came in at. So along
 * a tree every channel into a switch waits for every other channel out of it, in both directions,
 * on the VLs that belong to the group's SL. Unicast tables that cannot deadlock by themselves may
 * well do so together with a tree that nobody asked them about.
 *
 * One tree an SL serves all its groups: a group gets the smallest part that joins its members
 * (sv_mtree_prune), and what a part of the tree waits for, the whole tree waits for. So it is
 * enough to prove the whole tree (sv_mtree_add_all, then sv_verify).
 */
#ifndef SELVAGE_MULTICAST_H
#define SELVAGE_MULTICAST_H

#include <selvage/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A spanning tree of the live switches (one of each piece, if the fabric is in pieces). */
typedef struct sv_mtree {
    uint32_t num_switches;
    uint8_t sl;   /* of the packets that it is for */
    uint32_t *up; /* [num_switches]: the channel towards the root; SV_NONE at roots and the dead */
    uint32_t *order; /* [num_order]: the live switches, parents before children */
    uint32_t num_order;
    uint32_t num_pieces; /* roots */
    uint32_t depth;      /* channels from a root to the switch that is farthest from it, at most */
    sv_pool *store;
} sv_mtree;

/*
 * Finds a tree for an SL, such that packets from anybody to any groups along it, the unicast
 * packets of a kind of traffic and the packets of other trees together cannot deadlock.
 *
 * Groups that the tables have do not count; trees in others do. Packets whose SL is not known may
 * have any. Where traffic is more than that of terminals, switches send to groups, too. Shallow
 * trees are preferred. *tree: owned by the caller (sv_mtree_free); keeps nothing of the rest.
 * INFEASIBLE: none was found, or what is there can deadlock already; the message says which.
 * Time: a walk over all destinations, and linear in the turns for each root that is tried.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_mtree *tree = NULL;
 * if (sv_topology_generate(ctx, "torus:4x4", &fabric) == SV_OK &&
 *     sv_route(ctx, fabric, "updn", NULL, &routes, NULL) == SV_OK &&
 *     sv_mtree_new(ctx, fabric, routes, SV_TRAFFIC_ALL, 0, NULL, 0, &tree) == SV_OK)
 *     printf("%u switches\n", tree->num_order);
 * sv_mtree_free(tree);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_mtree_new(sv_ctx *ctx, const sv_fabric *fabric,
                                          const sv_routes *routes, sv_traffic traffic, unsigned sl,
                                          const sv_mtree *const *others, size_t num_others,
                                          sv_mtree **tree);
SV_API void sv_mtree_free(sv_mtree *tree);

/*
 * The same; but if there is no tree for the SL as tables are, one is looked for on the VLs of
 * another SL, and tables are changed so that these are the VLs of sl: the names of the two SLs
 * are exchanged, of all paths and in all VL tables, so that every packet keeps its way and its
 * VLs (orders stay as they are, too). If no path has the SL sl, it just gets the other's VLs.
 *
 * *other: the SL it was exchanged with, or sl itself if nothing changed. others: as above; their
 * SLs are not exchanged. On failure the tables are as they were.
 * Time: as sv_mtree_new, with more to try.
 */
SV_API SV_MUST_USE sv_status sv_mtree_make_room(sv_ctx *ctx, const sv_fabric *fabric,
                                                sv_routes *routes, sv_traffic traffic, unsigned sl,
                                                const sv_mtree *const *others, size_t num_others,
                                                sv_mtree **tree, unsigned *other);

/*
 * The last resort: gives an SL a VL that no table leads to yet, where packets of the tree are
 * alone. Paths that have the SL get the name of one that nobody has, and keep their VLs.
 *
 * *other: the SL that those paths have now, or sl itself if there were none. INFEASIBLE: the VL
 * is in use, no name is left, it is not known which SLs paths have, or what is there can deadlock.
 * Otherwise as sv_mtree_make_room.
 */
SV_API SV_MUST_USE sv_status sv_mtree_own_vl(sv_ctx *ctx, const sv_fabric *fabric,
                                             sv_routes *routes, sv_traffic traffic, unsigned sl,
                                             unsigned vl, const sv_mtree *const *others,
                                             size_t num_others, sv_mtree **tree, unsigned *other);

/*
 * The same tree in another fabric, as a match from the tree's fabric to that tells: to keep it
 * where it still joins everybody. INFEASIBLE if it does not. Whether it is still safe is not looked
 * at. *result: owned by the caller. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_mtree_carry(sv_ctx *ctx, const sv_mtree *tree,
                                            const sv_fabric *fabric, const sv_match *match,
                                            sv_mtree **result);

/*
 * The ports of a group: the smallest part of the tree that joins its members, and their ports.
 *
 * members: terminals, and switches (their port 0); one that is there twice counts once, a dead one
 * not at all. In each piece of the fabric the members there are joined; a member that is alone in
 * its piece gets nothing. ports: [num_switches], bit p is port p; cleared first, untouched on
 * failure. BAD_INPUT: a member that is no node. Time: linear in switches and members.
 */
SV_API SV_MUST_USE sv_status sv_mtree_prune(sv_ctx *ctx, const sv_mtree *tree,
                                            const sv_fabric *fabric, const sv_node *members,
                                            size_t count, uint64_t (*ports)[4]);

/*
 * Adds the whole tree to tables as a group, with all live terminals as members: whatever groups
 * along the tree wait for, it waits for. So one sv_verify proves them all. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_mtree_add_all(sv_ctx *ctx, const sv_mtree *tree,
                                              const sv_fabric *fabric, sv_routes *routes,
                                              unsigned mlid);

#ifdef __cplusplus
}
#endif
#endif
