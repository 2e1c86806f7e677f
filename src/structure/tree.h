/*
 * tree.h: a fabric taken for a fat tree: which level each switch is on, and an order of the hosts
 * in which those of every subtree stand side by side.
 */
#ifndef SV_STRUCTURE_TREE_H
#define SV_STRUCTURE_TREE_H

#include "cdg/core.h"

typedef struct sv_fat_tree {
    uint32_t levels;       /* of switches: at least 1 */
    uint32_t *level;       /* [switches]: 0 is the lowest; SV_NONE: dead, or no way to a leaf */
    uint32_t *count;       /* [levels]: live switches on each */
    uint32_t num_leaves;   /* switches with terminals */
    uint32_t *leaves;      /* those, in tree order: of each subtree side by side */
    uint32_t num_hosts;    /* live terminals on them */
    uint32_t *hosts;       /* their nodes, in tree order, by port on each leaf */
    uint32_t cables;       /* between different switches */
    uint32_t sideways;     /* of them, joining two of one level */
    uint32_t odd_a, odd_b; /* the first such two, or SV_NONE */
    uint32_t skipping;     /* cables that skip a level or more */
} sv_fat_tree;

/*
 * roots: the switches on top; NULL to find them, as is done in components that none of them is in.
 * All from the arena. Anything with hosts has levels; whether it is a tree sv_fat_tree_fits says.
 * NO_MEMORY only. Time: linear, times levels; with hosts above the leaves times switches.
 */
sv_status sv_fat_tree_find(sv_fat_tree *tree, sv_arena *arena, const sv_fabric *fabric,
                           const sv_core *core, const sv_node *roots, size_t num_roots);

/*
 * Whether it is a tree, give or take some cables: there are levels (or one switch), and at most one
 * cable of eight joins switches of one level. INFEASIBLE otherwise, with a message that begins with
 * who wants to know and says where it is none.
 */
sv_status sv_fat_tree_fits(sv_ctx *ctx, const sv_fat_tree *tree, const sv_fabric *fabric,
                           const char *who);

#endif
