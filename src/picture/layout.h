/*
 * layout.h: where each switch of a fabric is drawn.
 */
#ifndef SV_PICTURE_LAYOUT_H
#define SV_PICTURE_LAYOUT_H

#include <selvage/fabric.h>

#include "base/arena.h"

typedef struct sv__picture_wire {
    uint32_t a, b; /* switches */
    uint16_t port_a, port_b;
} sv__picture_wire;

/* A fabric as the database has it: switches, how many terminals each has, cables between them. */
typedef struct sv__picture_net {
    uint32_t num_switches, num_wires;
    const char **names;
    uint32_t *terminals;
    sv__picture_wire *wires;
} sv__picture_net;

/*
 * How a cable runs: 0 straight; up to ± 64 it swerves so many 1/64 of its length, to the left of
 * a → b; SV__AROUND + n (n up to 27): around the back of a row that is n steps long, so only its
 * ends are drawn.
 */
enum { SV__AROUND = 100 };

typedef struct sv__layout {
    const char *kind; /* "grid", "tree", "groups", "coordinates", "distance" */
    char words[160];  /* what was recognised: "a torus of 4 × 4 × 3 switches" */
    float *x, *y;     /* [switches]: y grows downwards; neighbours are some units apart */
    int8_t *bend;     /* [wires]: see below */
} sv__layout;

/*
 * Places the switches, in the arena: tori and meshes as grids, trees by level, dragonflies by
 * group, names with coordinates by those, all else by distance. Same fabric, same places. Fails
 * only with NO_MEMORY or CANCELLED. Time: as that of recognising (structure/), else O(switches²)
 * with a bound.
 */
sv_status sv__layout_find(sv_ctx *ctx, sv_arena *arena, const sv__picture_net *net,
                          sv__layout *layout);

/* layout_distance.c: by distance alone. */
sv_status sv__layout_by_distance(sv_arena *arena, const sv__picture_net *net, sv__layout *layout);

/* layout_shapes.c: from what was recognised. found is false if it is none of these. */
sv_status sv__layout_by_shape(sv_ctx *ctx, sv_arena *arena, const sv__picture_net *net,
                              sv__layout *layout, bool *found);

#endif
