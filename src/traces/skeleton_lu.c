/*
 * skeleton_lu.c: NAS LU: symmetric successive over-relaxation, two wavefronts an iteration.
 *
 * The n × n × n points are cut in columns over xdim × ydim ranks (x the longer side, rank =
 * column × xdim + row). The lower sweep goes from plane to plane, and in each from the rank in the
 * north-west to the one in the south-east: a rank waits for north and west, computes its part of
 * the plane, and sends to south and east (5 doubles a point of its edge). The upper sweep is the
 * way back. Then the right-hand side: two layers of faces to all four neighbours (10 doubles a
 * point of the face), one direction after the other.
 *
 * Around it, as release 3 does: ten broadcasts; right-hand sides of the exact solution; one
 * iteration to warm up; norms at the beginning and the end; error and three surface integrals
 * (whose few messages are left out). LU itself refuses ranks with less than three points a side;
 * here they may have one. Operations: the published formula of the benchmark; 35 % of an iteration
 * is in each sweep, the rest in the right-hand side.
 *
 * Source: Bailey et al., The NAS Parallel Benchmarks; release 3 of their MPI programs (facts only).
 * Cost: linear in what is written: 4 events a neighbour, plane and iteration.
 */
#include "traces/skeleton.h"

enum { FROM_S = 1, FROM_N = 2, FROM_E = 3, FROM_W = 4, DOUBLE = 8 };

typedef struct lu {
    uint32_t n, iterations, xdim, ydim;
    double sweep, rhs; /* operations of a rank: of a plane, and of the whole right-hand side */
} lu;

/* Where a rank is. */
typedef struct lu_rank {
    uint32_t north, south, east, west; /* or SV_NONE */
    uint32_t nx, ny;                   /* its points */
    uint32_t ni, nj;                   /* those of them that sweeps compute */
} lu_rank;

static uint32_t share(uint32_t points, uint32_t parts, uint32_t part)
{
    return points / parts + (part < points % parts);
}

static lu_rank place_of(const lu *g, uint32_t rank)
{
    uint32_t row = rank % g->xdim, column = rank / g->xdim;
    lu_rank r = {.north = row > 0 ? rank - 1 : SV_NONE,
                 .south = row + 1 < g->xdim ? rank + 1 : SV_NONE,
                 .west = column > 0 ? rank - g->xdim : SV_NONE,
                 .east = column + 1 < g->ydim ? rank + g->xdim : SV_NONE,
                 .nx = share(g->n, g->xdim, row),
                 .ny = share(g->n, g->ydim, column)};
    uint32_t edge_x = (r.north == SV_NONE) + (r.south == SV_NONE);
    uint32_t edge_y = (r.west == SV_NONE) + (r.east == SV_NONE);
    r.ni = r.nx > edge_x ? r.nx - edge_x : 1;
    r.nj = r.ny > edge_y ? r.ny - edge_y : 1;
    return r;
}

static void send(sv__skel *s, uint32_t to, uint32_t tag, uint64_t doubles)
{
    if (to != SV_NONE)
        sv__skel_send(s, to, tag, doubles * DOUBLE);
}

static void recv(sv__skel *s, uint32_t from, uint32_t tag, uint64_t doubles)
{
    if (from != SV_NONE)
        sv__skel_recv(s, from, tag, doubles * DOUBLE);
}

static void sweeps(sv__skel *s, const lu *g, const lu_rank *r)
{
    for (uint32_t k = 2; k < g->n; k++) {
        recv(s, r->north, FROM_N, 5 * r->nj);
        recv(s, r->west, FROM_W, 5 * r->ni);
        sv__skel_compute(s, g->sweep);
        send(s, r->south, FROM_N, 5 * r->nj);
        send(s, r->east, FROM_W, 5 * r->ni);
    }
    for (uint32_t k = 2; k < g->n; k++) {
        recv(s, r->south, FROM_S, 5 * r->nj);
        recv(s, r->east, FROM_E, 5 * r->ni);
        sv__skel_compute(s, g->sweep);
        send(s, r->north, FROM_S, 5 * r->nj);
        send(s, r->west, FROM_E, 5 * r->ni);
    }
}

/* Faces from one side to the other: what comes from `from` is what the next rank is sent. */
static void shift(sv__skel *s, uint32_t from, uint32_t to, uint32_t tag, uint64_t doubles)
{
    if (from != SV_NONE)
        sv__skel_irecv(s, from, tag, doubles * DOUBLE, 0);
    send(s, to, tag, doubles);
    if (from != SV_NONE)
        sv__skel_wait(s, 0);
}

static void right_hand_side(sv__skel *s, const lu *g, const lu_rank *r)
{
    uint64_t across = (uint64_t)10 * r->ny * g->n, along = (uint64_t)10 * r->nx * g->n;
    shift(s, r->north, r->south, FROM_N, across);
    shift(s, r->south, r->north, FROM_S, across);
    sv__skel_compute(s, g->rhs / 2);
    shift(s, r->west, r->east, FROM_W, along);
    shift(s, r->east, r->west, FROM_E, along);
    sv__skel_compute(s, g->rhs / 2);
}

static void ssor(sv__skel *s, const lu *g, const lu_rank *r, uint32_t iterations, bool norms)
{
    right_hand_side(s, g, r);
    sv__skel_all(s, SV_CALL_ALLREDUCE, 5 * DOUBLE, 1);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    for (uint32_t i = 1; i <= iterations; i++) {
        sweeps(s, g, r);
        if (norms && i == iterations)
            sv__skel_all(s, SV_CALL_ALLREDUCE, 5 * DOUBLE, 1);
        right_hand_side(s, g, r);
        if (norms && i == iterations)
            sv__skel_all(s, SV_CALL_ALLREDUCE, 5 * DOUBLE, 1);
    }
    sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 1); /* the time it took */
}

static void lu_program(sv__skel *s, const void *user)
{
    const lu *g = user;
    lu_rank r = place_of(g, s->rank);
    sv__skel_all(s, SV_CALL_BCAST, 4, 3);
    sv__skel_all(s, SV_CALL_BCAST, DOUBLE, 2);
    sv__skel_all(s, SV_CALL_BCAST, 5 * DOUBLE, 1);
    sv__skel_all(s, SV_CALL_BCAST, 4, 4);
    right_hand_side(s, g, &r); /* of the exact solution */
    ssor(s, g, &r, 1, false);
    ssor(s, g, &r, g->iterations, true);
    sv__skel_all(s, SV_CALL_ALLREDUCE, 5 * DOUBLE, 1); /* error */
    sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 3);     /* surface integrals */
}

static sv_status lu_write(sv__skel *s)
{
    static const uint32_t points[] = {12, 33, 64, 102, 162}, times[] = {50, 300, 250, 250, 250};
    unsigned class;
    uint64_t iterations;
    SV_TRY(sv__skel_class(s, &class));
    SV_TRY(sv__spec_number(&s->spec, "iterations", 1, 1000000, times[class], &iterations));
    lu g = {.n = points[class], .iterations = (uint32_t)iterations, .xdim = 1, .ydim = 1};
    while (g.xdim * g.ydim < s->ranks)
        *(g.xdim == g.ydim ? &g.xdim : &g.ydim) *= 2;
    if (g.xdim > g.n)
        return sv__spec_fail(&s->spec, "%u points a side are too few for %u ranks", g.n, s->ranks);
    double n = g.n;
    double flops = (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010) / s->ranks;
    g.sweep = 0.35 * flops / (n - 2);
    g.rhs = 0.3 * flops;
    SV_TRY(sv__skel_begin(s, &sv__skeleton_lu));
    return sv__skel_ranks(s, lu_program, &g);
}

const sv__skeleton sv__skeleton_lu = {
    .info = {.name = "lu",
             .summary = "NAS LU: two wavefronts over a grid of ranks an iteration",
             .source = "NAS Parallel Benchmarks, release 3 (MPI)",
             .keys = "class=A (S, W, A, B, C), ranks=64 (a power of two), iterations=the class's, "
                     "speed=1000 (Mflop/s of a core)"},
    .powers = true,
    .write = lu_write};
