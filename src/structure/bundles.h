/*
 * bundles.h: the switches and their neighbours, parallel cables taken as one.
 *
 * A bundle is all live cables from one switch to another, in one direction; the bundles that leave
 * a switch stand side by side, in the order of their first ports.
 */
#ifndef SV_STRUCTURE_BUNDLES_H
#define SV_STRUCTURE_BUNDLES_H

#include <selvage/fabric.h>

#include "base/arena.h"
#include "cdg/core.h"

typedef struct sv_bundles {
    uint32_t num_switches, count;
    const uint32_t *first; /* [switches + 1]: bundles that leave switch s */
    const uint32_t *from, *to;
    const uint32_t *back;       /* the same cables the other way */
    const uint32_t *first_port; /* [bundles + 1] */
    const uint8_t *ports;       /* at the switch it leaves, ascending */
} sv_bundles;

/* Time: linear in the cables, times the neighbours of a switch. */
sv_status sv_bundles_init(sv_bundles *g, sv_arena *arena, const sv_fabric *fabric);

/* The same as a core, with an entry a bundle: what leaves as bundle b is entry back[b] of it. */
sv_status sv_bundles_core(const sv_bundles *g, sv_arena *arena, sv_core *core);

#endif
