/*
 * skeleton_sweep.c: Sweep3D: wavefronts of a transport sweep from the corners of a grid of ranks.
 *
 * The box is cut in columns over sides[0] × sides[1] ranks, the first side (i, from west to east)
 * counting fastest. For each of eight octants, each block of angles and each block of planes a rank
 * waits for what flows in along i and along j, computes, and hands on what flows out. Two octants
 * after each other start at the same corner; the corners come in the order of j first, so j turns
 * round at every second octant and i at the fifth. Each iteration ends with two all-reduces (fixed
 * cells, error); four broadcasts, three barriers and eight sums around it. Defaults are those of
 * the program's largest usual input: 150³ cells, six angles an octant, blocks of ten planes and
 * three angles, twelve iterations. 40 operations a cell and angle.
 *
 * Source: the ASCI Sweep3D benchmark, release 2.2 (facts only); Koch, Baker and Alcouffe 1992.
 * Cost: linear in what is written: 5 events a block.
 */
#include "traces/skeleton.h"

enum { DOUBLE = 8, ANGLES = 6, FLOPS = 40 };

typedef struct sweep {
    uint32_t sides[2]; /* ranks */
    uint32_t cells[3];
    uint32_t planes, angles; /* of a block */
    uint32_t iterations;
} sweep;

/* One block: from the ranks before it to those behind; SV_NONE at the edge of the box. */
typedef struct block {
    uint32_t from[2], to[2]; /* along i, along j */
    uint32_t tag[2];
    uint64_t bytes[2];
    double flops;
} block;

static block block_of(const sweep *w, uint32_t rank, uint32_t octant)
{
    uint32_t at[2] = {rank % w->sides[0], rank / w->sides[0]}, stride[2] = {1, w->sides[0]};
    bool up[2] = {octant >= 4, octant / 2 % 2 == 1};
    uint32_t mine[2];
    block b = {.flops = (double)FLOPS * w->planes * w->angles};
    for (int d = 0; d < 2; d++) {
        uint32_t before = at[d] > 0 ? rank - stride[d] : SV_NONE;
        uint32_t behind = at[d] + 1 < w->sides[d] ? rank + stride[d] : SV_NONE;
        b.from[d] = up[d] ? before : behind;
        b.to[d] = up[d] ? behind : before;
        b.tag[d] = (octant + 1) * 1000 * (1 + (uint32_t)d + (up[d] ? 0 : 2));
        mine[d] = w->cells[d] / w->sides[d] + (at[d] < w->cells[d] % w->sides[d]);
        b.flops *= mine[d];
    }
    b.bytes[0] = (uint64_t)mine[1] * w->planes * w->angles * DOUBLE;
    b.bytes[1] = (uint64_t)mine[0] * w->planes * w->angles * DOUBLE;
    return b;
}

static void write_block(sv__skel *s, const block *b)
{
    for (int d = 0; d < 2; d++)
        if (b->from[d] != SV_NONE)
            sv__skel_recv(s, b->from[d], b->tag[d], b->bytes[d]);
    sv__skel_compute(s, b->flops);
    for (int d = 0; d < 2; d++)
        if (b->to[d] != SV_NONE)
            sv__skel_send(s, b->to[d], b->tag[d], b->bytes[d]);
}

static void sweep_program(sv__skel *s, const void *user)
{
    const sweep *w = user;
    uint32_t blocks = (w->cells[2] + w->planes - 1) / w->planes * (ANGLES / w->angles);
    sv__skel_all(s, SV_CALL_BCAST, 4, 1);
    sv__skel_all(s, SV_CALL_BCAST, 4 * (uint64_t)s->ranks, 1);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    sv__skel_all(s, SV_CALL_BCAST, 60, 1);
    sv__skel_all(s, SV_CALL_BCAST, 32, 1);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    for (uint32_t i = 0; i < w->iterations; i++) {
        for (uint32_t octant = 0; octant < 8; octant++) {
            block b = block_of(w, s->rank, octant);
            for (uint32_t k = 0; k < blocks; k++)
                write_block(s, &b);
        }
        sv__skel_all(s, SV_CALL_ALLREDUCE, 4, 1);
        sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 1);
    }
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 8);
}

static sv_status read_box(sv__skel *s, sweep *w)
{
    static const char *const keys[] = {"nx", "ny", "nz"};
    for (int d = 0; d < 3; d++) {
        uint64_t cells;
        SV_TRY(sv__spec_number(&s->spec, keys[d], 1, 100000, 150, &cells));
        w->cells[d] = (uint32_t)cells;
        if (d < 2 && w->cells[d] < w->sides[d])
            return sv__spec_fail(&s->spec, "%s=%u is too few for %u ranks a side", keys[d],
                                 w->cells[d], w->sides[d]);
    }
    return SV_OK;
}

static sv_status sweep_write(sv__skel *s)
{
    sweep w = {.planes = 0};
    uint64_t planes, angles, iterations;
    sv__skel_square(s->ranks, w.sides);
    SV_TRY(read_box(s, &w));
    SV_TRY(sv__spec_number(&s->spec, "planes", 1, 100000, 10, &planes));
    SV_TRY(sv__spec_number(&s->spec, "angles", 1, ANGLES, 3, &angles));
    SV_TRY(sv__spec_number(&s->spec, "iterations", 1, 1000000, 12, &iterations));
    if (ANGLES % angles != 0)
        return sv__spec_fail(&s->spec, "angles=%u does not divide %d", (unsigned)angles, ANGLES);
    w.planes = (uint32_t)planes;
    w.angles = (uint32_t)angles;
    w.iterations = (uint32_t)iterations;
    SV_TRY(sv__skel_begin(s, &sv__skeleton_sweep));
    return sv__skel_ranks(s, sweep_program, &w);
}

const sv__skeleton sv__skeleton_sweep = {
    .info = {.name = "sweep3d",
             .summary = "Sweep3D: wavefronts of a transport sweep from four corners in turn",
             .source = "ASCI Sweep3D 2.2",
             .keys = "ranks=64, nx=150, ny=150, nz=150 (cells), planes=10, angles=3 (of a block), "
                     "iterations=12, speed=1000 (Mflop/s of a core)"},
    .write = sweep_write};
