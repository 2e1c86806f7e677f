/*
 * skeleton_pop.c: the Parallel Ocean Program: halos of a slowly changing ocean, and many small ones
 * of a conjugate-gradient solver with its sums.
 *
 * nx × ny columns of water are cut in blocks over sides[0] × sides[1] ranks, one a rank, the first
 * side (from west to east) counting fastest. The ocean goes round from east to west; in the south
 * it ends; in the north it ends too or is folded at two poles (north=tripole): the northern row of
 * ranks then borders on its own mirror image, which is how ranks that are far apart talk.
 *
 * A halo is two exchanges, east and west first, then north and south (whose rows include the
 * corners): receives are posted, messages sent, then one MPI_Waitall for the receives and one for
 * the sends. Neighbours that are the same rank share a message. A step has halos of whole fields
 * (levels × points: velocities and tracers, twice) and of flat ones, and a solver with `iterations`
 * iterations of one flat halo and `sums` sums: 2 as in the conjugate-gradient method, 1 as in that
 * of Chronopoulos and Gear, 3 with the residual looked at in each iteration. After a step come its
 * diagnostics: largest Courant numbers, eight of each level. Barriers and broadcasts, three a step,
 * are as many as thesis Table 2.1 has.
 *
 * Defaults of size are those of the small grid that POP comes with.
 *
 * Source: POP 2 (facts only); Jones 1997; iterations: thesis Fig. 2.13 (5050 in 50 steps). 2000
 * operations a point and step, 30 a column and iteration of the solver.
 * Cost: linear in what is written: about 15 events a halo.
 */
#include "traces/skeleton.h"

enum { DOUBLE = 8, GHOST = 2, FLOPS_POINT = 2000, FLOPS_COLUMN = 30 };
enum { TAG = 3000, MAX_NEAR = 6 };

typedef struct pop {
    uint32_t sides[2], points[2], levels;
    uint32_t steps, iterations, sums, diagnostics;
    bool tripole;
} pop;

/* Ranks that one exchange is with, and how many edges each shares with us. */
typedef struct near {
    uint32_t rank[MAX_NEAR], edges[MAX_NEAR], count;
    uint64_t bytes; /* of an edge, one level */
} near;

typedef struct pop_rank {
    near along, across; /* east and west; north and south */
    double columns;
} pop_rank;

static void add_near(near *n, uint32_t me, uint32_t rank)
{
    uint32_t i = 0;
    if (rank == me)
        return; /* copied where it is */
    while (i < n->count && n->rank[i] != rank)
        i++;
    if (i == n->count)
        n->rank[n->count++] = rank;
    n->edges[i]++;
}

static uint32_t share(uint32_t points, uint32_t parts, uint32_t part)
{
    return points / parts + (part < points % parts);
}

static pop_rank place_of(const pop *p, uint32_t me)
{
    uint32_t px = p->sides[0], py = p->sides[1], x = me % px, y = me / px;
    uint32_t row = me - x;
    /* blocks are as large as the largest, as the program has them */
    uint64_t wide = share(p->points[0], px, 0) + 2 * GHOST;
    uint64_t high = share(p->points[1], py, 0) + 2 * GHOST;
    pop_rank r = {.along = {.bytes = high * GHOST * DOUBLE},
                  .across = {.bytes = wide * (GHOST + 1) * DOUBLE},
                  .columns = (double)share(p->points[0], px, x) * share(p->points[1], py, y)};
    add_near(&r.along, me, row + (x + 1) % px);
    add_near(&r.along, me, row + (x + px - 1) % px);
    if (y > 0)
        add_near(&r.across, me, me - px);
    if (y + 1 < py)
        add_near(&r.across, me, me + px);
    for (uint32_t i = 0; i < 3 && p->tripole && y + 1 == py; i++)
        add_near(&r.across, me, row + (2 * px - 2 - x + i) % px);
    return r;
}

static void exchange(sv__skel *s, const near *n, uint32_t levels)
{
    for (uint32_t i = 0; i < n->count; i++)
        sv__skel_irecv(s, n->rank[i], TAG + n->rank[i], n->bytes * n->edges[i] * levels, i);
    for (uint32_t i = 0; i < n->count; i++)
        sv__skel_isend(s, n->rank[i], TAG + s->rank, n->bytes * n->edges[i] * levels, n->count + i);
    sv__skel_waitall(s, 0, n->count);
    sv__skel_waitall(s, n->count, n->count);
}

static void halo(sv__skel *s, const pop_rank *r, uint32_t levels)
{
    exchange(s, &r->along, levels);
    exchange(s, &r->across, levels);
}

static void solve(sv__skel *s, const pop *p, const pop_rank *r)
{
    halo(s, r, 1);
    for (uint32_t i = 0; i < p->iterations; i++) {
        sv__skel_compute(s, FLOPS_COLUMN * r->columns / 2);
        if (p->sums > 1)
            sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 1);
        halo(s, r, 1);
        sv__skel_compute(s, FLOPS_COLUMN * r->columns / 2);
        sv__skel_all(s, SV_CALL_ALLREDUCE, p->sums > 1 ? DOUBLE : 2 * DOUBLE, 1);
        sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, p->sums > 2 ? p->sums - 2 : 0);
    }
}

static void step(sv__skel *s, const pop *p, const pop_rank *r)
{
    sv__skel_all(s, SV_CALL_BCAST, DOUBLE, 3);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    sv__skel_compute(s, 0.7 * FLOPS_POINT * p->levels * r->columns);
    for (int field = 0; field < 2; field++) /* velocities */
        halo(s, r, p->levels);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    halo(s, r, 1); /* the forcing of the solver */
    solve(s, p, r);
    halo(s, r, 1);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    sv__skel_compute(s, 0.3 * FLOPS_POINT * p->levels * r->columns);
    for (int field = 0; field < 2; field++) /* tracers */
        halo(s, r, p->levels);
    sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, p->diagnostics);
}

static void pop_program(sv__skel *s, const void *user)
{
    const pop *p = user;
    pop_rank r = place_of(p, s->rank);
    sv__skel_all(s, SV_CALL_BCAST, 4, 10);
    for (int field = 0; field < 4; field++)
        halo(s, &r, p->levels);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    for (uint32_t i = 0; i < p->steps; i++)
        step(s, p, &r);
}

static sv_status read_ocean(sv__skel *s, pop *p)
{
    static const char *const keys[] = {"nx", "ny"};
    static const uint32_t usual[] = {192, 128};
    for (int d = 0; d < 2; d++) {
        uint64_t points;
        SV_TRY(sv__spec_number(&s->spec, keys[d], 1, 1000000, usual[d], &points));
        p->points[d] = (uint32_t)points;
        if (p->points[d] < p->sides[d])
            return sv__spec_fail(&s->spec, "%s=%u is too few for %u ranks a side", keys[d],
                                 p->points[d], p->sides[d]);
    }
    sv_span north = sv__spec_text(&s->spec, "north");
    p->tripole = north.at == NULL || sv_span_is(north, "tripole");
    if (!p->tripole && !sv_span_is(north, "closed"))
        return sv__spec_fail(&s->spec, "north=%.*s is none of tripole, closed", SV_SPAN(north));
    return SV_OK;
}

static sv_status pop_write(sv__skel *s)
{
    pop p = {.levels = 0};
    uint64_t levels, steps, iterations, sums, diagnostics;
    sv__skel_square(s->ranks, p.sides);
    SV_TRY(read_ocean(s, &p));
    SV_TRY(sv__spec_number(&s->spec, "levels", 1, 1000, 20, &levels));
    SV_TRY(sv__spec_number(&s->spec, "steps", 1, 1000000, 50, &steps));
    SV_TRY(sv__spec_number(&s->spec, "iterations", 0, 100000, 101, &iterations));
    SV_TRY(sv__spec_number(&s->spec, "sums", 1, 10, 2, &sums));
    SV_TRY(sv__spec_number(&s->spec, "diagnostics", 0, 100000, 8 * levels, &diagnostics));
    p.levels = (uint32_t)levels;
    p.steps = (uint32_t)steps;
    p.iterations = (uint32_t)iterations;
    p.sums = (uint32_t)sums;
    p.diagnostics = (uint32_t)diagnostics;
    SV_TRY(sv__skel_begin(s, &sv__skeleton_pop));
    return sv__skel_ranks(s, pop_program, &p);
}

const sv__skeleton sv__skeleton_pop = {
    .info = {.name = "pop",
             .summary = "Parallel Ocean Program: halos, and a solver with small halos and sums",
             .source = "POP 2; PR-DRB thesis Table 2.1 and Fig. 2.13",
             .keys = "ranks=64, steps=50, iterations=101 (of the solver, a step), sums=2 (an "
                     "iteration), diagnostics=8 × levels (all-reduces a step), nx=192, ny=128, "
                     "levels=20, north=tripole (or closed), speed=1000 (Mflop/s of a core)"},
    .write = pop_write};
