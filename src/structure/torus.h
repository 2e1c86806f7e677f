/*
 * torus.h: meshes and tori, found from the graph of the switches alone.
 *
 * A fabric may be in pieces; each of them is a torus (or mesh) of its own, with its own sizes.
 * Where switches or cables have failed there are holes in it: points without a switch, neighbours
 * without a cable.
 */
#ifndef SV_STRUCTURE_TORUS_H
#define SV_STRUCTURE_TORUS_H

#include "structure/bundles.h"

enum { SV_TORUS_DIMS = 8 };

/* OpenSM's torus-2QoS.conf (manual page torus-2QoS.conf(5)). */
typedef struct sv_torus_seed {
    uint64_t from;     /* GUID of the switch that all its links leave */
    uint64_t to[3][2]; /* [dimension][plus, minus]: 0: not given */
    int32_t dateline[3];
    uint64_t line; /* where it begins */
} sv_torus_seed;

typedef struct sv_torus_conf {
    const char *name;  /* of the file */
    uint32_t radix[3]; /* 1: there is no such dimension */
    bool wraps[3];
    sv_torus_seed *seeds;
    uint32_t num_seeds;
    uint8_t *port_order; /* of terminals on their switch */
    uint32_t num_port_order;
} sv_torus_conf;

/* Reads one, in the arena. BAD_INPUT names file and line. Time: linear. */
sv_status sv_torus_conf_read(sv_ctx *ctx, sv_arena *arena, const sv_source *source,
                             sv_torus_conf *conf);

/* One piece. */
typedef struct sv_torus {
    uint32_t dims;
    uint32_t size[SV_TORUS_DIMS];
    bool wraps[SV_TORUS_DIMS]; /* lines of three or more are rings */
    uint32_t stride[SV_TORUS_DIMS];
    uint32_t points; /* all sizes multiplied; the last dimension counts fastest */
    uint32_t *at;    /* [points]: the switch there, or SV_NONE */
    uint32_t switches, missing_links;
} sv_torus;

typedef struct sv_tori {
    sv_torus *pieces; /* the largest first */
    uint32_t count;
    uint32_t *piece, *point; /* [switches]: SV_NONE: dead */
} sv_tori;

static inline uint32_t sv_torus_coordinate(const sv_torus *t, uint32_t point, uint32_t d)
{
    return point / t->stride[d] % t->size[d];
}

/* The point one step further (or back) in a dimension; SV_NONE: the edge of a mesh. */
static inline uint32_t sv_torus_step(const sv_torus *t, uint32_t point, uint32_t d, bool back)
{
    uint32_t c = sv_torus_coordinate(t, point, d), last = t->size[d] - 1;
    if (!back && c < last)
        return point + t->stride[d];
    if (back && c > 0)
        return point - t->stride[d];
    if (!t->wraps[d])
        return SV_NONE;
    return back ? point + last * t->stride[d] : point - last * t->stride[d];
}

/*
 * Finds them. conf: NULL, or what the piece with its seed must be, and which way its axes point.
 * INFEASIBLE: it is no mesh or torus, and the message says where that shows. Time: linear in the
 * cables (times neighbours of a switch) as long as little has failed.
 */
sv_status sv_tori_find(sv_ctx *ctx, sv_arena *arena, const sv_fabric *fabric, const sv_bundles *g,
                       const sv_torus_conf *conf, sv_tori *tori);

#endif
