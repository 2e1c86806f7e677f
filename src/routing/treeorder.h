/*
 * treeorder.h: an order of the switches of a fat tree for going up first and then down, and what is
 * told about the tree.
 */
#ifndef SV_ROUTING_TREEORDER_H
#define SV_ROUTING_TREEORDER_H

#include "routing/engine.h"
#include "structure/tree.h"

typedef struct sv__tree_order {
    uint32_t *place;    /* [switches]: SV_NONE: dead */
    uint32_t *by_place; /* the live switches in order */
    uint32_t live;
    bool plain; /* places follow levels: switches without hosts may not reach each other */
} sv__tree_order;

/* Says in the report what tree was found. */
void sv__tree_tell(sv__routing_job *job, const sv_fat_tree *tree);

/*
 * With one summit (orient.h) unless that costs ways; then by levels alone, as long as these join
 * everybody but switches without hosts to each other. From the job's arena.
 * Time: O(channels × switches / 64).
 */
sv_status sv__tree_order_find(sv__tree_order *order, sv__routing_job *job, const sv_core *core,
                              const sv_fat_tree *tree);

#endif
