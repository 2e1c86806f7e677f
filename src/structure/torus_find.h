/*
 * torus_find.h: what the steps of finding a torus share: torus.c (walls and slabs), torus_place.c
 * (what they leave over), torus_axes.c (which way axes point).
 */
#ifndef SV_STRUCTURE_TORUS_FIND_H
#define SV_STRUCTURE_TORUS_FIND_H

#include "structure/torus.h"

/* A piece while it is being found. Coordinates may be negative; low and high are their bounds. */
typedef struct sv__raw {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv_fabric *fabric;
    const sv_bundles *g;
    const uint32_t *members; /* its switches */
    uint32_t count;
    uint32_t dims;
    int32_t low[SV_TORUS_DIMS], high[SV_TORUS_DIMS];
    bool closed[SV_TORUS_DIMS];   /* rings */
    int32_t (*at)[SV_TORUS_DIMS]; /* [switches] */
    bool *placed;                 /* [switches] */
} sv__raw;

static inline const char *sv__raw_name(const sv__raw *x, uint32_t s)
{
    return sv_node_name(x->fabric, (sv_node){s});
}

static inline int32_t sv__raw_size(const sv__raw *x, uint32_t d)
{
    return x->high[d] - x->low[d] + 1;
}

/* Places the switches that have no coordinates yet, and checks that all cables are steps. */
sv_status sv__torus_place(sv__raw *x);

/* Turns a piece the way it is to be: conf, if it is about this one, or by GUIDs. */
sv_status sv__torus_axes(const sv__raw *x, const sv_torus_conf *conf, sv_tori *tori,
                         sv_torus *piece);

#endif
