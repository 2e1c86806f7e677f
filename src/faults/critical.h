/*
 * critical.h: would losing this part cut terminals off from each other?
 */
#ifndef SV_FAULTS_CRITICAL_H
#define SV_FAULTS_CRITICAL_H

#include <selvage/fabric.h>

#include "base/bitset.h"

/* The fabric as it is in the middle of a draw: what failed so far, and scratch for searches. */
typedef struct sv__state {
    const sv_fabric *f;
    uint64_t *dead_nodes, *dead_channels; /* on top of what is dead in f */
    uint32_t *mark;                       /* [switches] of the search that saw it last */
    uint32_t *queue[2];                   /* [switches] each */
    uint32_t marks;                       /* marks used so far */
} sv__state;

sv_status sv__state_init(sv__state *state, sv_arena *arena, const sv_fabric *fabric);

/* Whether the failure of a cable between switches would separate live terminals. */
bool sv__cable_is_critical(sv__state *state, sv_channel c);

/* The same for a switch; its own terminals do not count, they go with it. */
bool sv__switch_is_critical(sv__state *state, sv_node s);

void sv__fail_cable(sv__state *state, sv_channel c);
/* Fails a node, all its cables, and the terminals that hang on it. Returns how many of those. */
uint32_t sv__fail_node(sv__state *state, sv_node v);

/* Adds what failed to a mask. */
void sv__state_mask(const sv__state *state, sv_mask *mask);

#endif
