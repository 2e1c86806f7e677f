/*
 * torus2qos.h: what the files of engine torus2qos share: torus2qos.c (tables), torus_ways.c (ways
 * in the order of dimensions) and torus_detour.c (ways around what is missing).
 *
 * The way out of a point is a code: twice the dimension, plus one to go back.
 */
#ifndef SV_ROUTING_TORUS2QOS_H
#define SV_ROUTING_TORUS2QOS_H

#include "routing/engine.h"
#include "structure/torus.h"

enum {
    SV__WAYS = 2 * SV_TORUS_DIMS,
    SV__WAY_HOME = 253,    /* here it is */
    SV__WAY_BLOCKED = 254, /* in the order of dimensions there is no way */
    SV__NO_BIT = 255,
    SV__TORUS_VLS = 4 /* of one level: dateline crossed or not, turn in order or not */
};

/* A line of points that is not whole: a ring or line with a missing switch or cable. */
typedef struct sv__torus_line {
    uint32_t point, d; /* where it begins: coordinate 0 */
} sv__torus_line;

/* A piece that is being routed. */
typedef struct sv__grid {
    sv__routing_job *job;
    const sv_bundles *g;
    const sv_torus *t;
    uint8_t order[SV_TORUS_DIMS]; /* dimensions as they are gone through */
    uint8_t place[SV_TORUS_DIMS]; /* where each is in it */
    uint8_t bit[SV_TORUS_DIMS];   /* of an SL: crosses the dateline; SV__NO_BIT: none needed */
    bool ties;                    /* some rings are even: two ways are the shortest */
    uint32_t (*way)[SV__WAYS];    /* [points]: bundle, or SV_NONE */
    uint32_t (*next)[SV__WAYS];   /* [points]: the point behind it, or SV_NONE */
    uint8_t (*port)[SV__WAYS];    /* [points]: the first port of the bundle */
    uint32_t (*run)[SV__WAYS];    /* [points]: steps that can be made that way */
    sv__torus_line *broken;
    uint32_t num_broken;
    uint8_t
        *detours; /* NULL, or [(point × 2 + variant) × points]: all ways, as detours found them */
    uint8_t turned; /* hops after turns against the order: bit 1 << (dateline crossed) each */
} sv__grid;

static inline uint32_t sv__grid_coordinate(const sv__grid *x, uint32_t point, uint32_t d)
{
    return sv_torus_coordinate(x->t, point, d);
}

/* The point behind a way. */
static inline uint32_t sv__grid_step(const sv__grid *x, uint32_t point, uint8_t way)
{
    return x->next[point][way];
}

/* Whether a turn from one way into another is against the order of dimensions. */
static inline bool sv__grid_illegal(const sv__grid *x, uint8_t in, uint8_t out)
{
    return x->place[in / 2] > x->place[out / 2];
}

/* Which ways there are: bundles, ports, how far each leads, broken lines. */
sv_status sv__grid_look(sv__grid *x);

/* The ways to a point as the order of dimensions has them; true: some are blocked. */
bool sv__grid_ways(const sv__grid *x, uint32_t target, unsigned variant, uint8_t *ways);

/* The SLs of packets to a point from all points: from coordinates alone, whatever failed. */
void sv__grid_sls(const sv__grid *x, uint32_t target, unsigned variant, uint8_t *sls);

/* Finds ways for all points to all points where some are blocked. INFEASIBLE names two switches. */
sv_status sv__grid_detour(sv__grid *x);

#endif
