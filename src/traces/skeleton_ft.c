/*
 * skeleton_ft.c: NAS FT: Fourier transforms in three dimensions, transposed by all-to-all.
 *
 * With at most nz ranks, planes are spread over all of them, and a transform has one all-to-all of
 * all ranks: nx × ny × nz / ranks² numbers of 16 bytes to each other. With more, columns are spread
 * over nz × (ranks / nz) ranks, and a transform has two, one in each row and one in each column of
 * ranks. Each iteration is a step in time, an inverse transform and a checksum (a reduction of 16
 * bytes); before it two transforms (the first to warm up). Four broadcasts and a barrier.
 * Operations: the published formula of the benchmark, half of a transform before and half after
 * its transposition.
 *
 * Source: Bailey et al., The NAS Parallel Benchmarks; release 3 of their MPI programs (facts only).
 * Cost: linear in what is written.
 */
#include "traces/skeleton.h"

#include <math.h>

typedef struct ft {
    uint32_t iterations;
    uint32_t rows, columns; /* of ranks: rows 1 as long as planes are enough */
    uint64_t bytes;         /* of a rank's numbers */
    double first, step;     /* operations of a rank: before, and of an iteration */
    uint16_t *row, *column; /* groups; NULL with one row */
} ft;

static void transpose(sv__skel *s, const ft *f, bool along)
{
    uint32_t size = along ? f->columns : f->rows;
    uint16_t group = f->row == NULL ? 0
                     : along        ? f->row[s->rank / f->columns]
                                    : f->column[s->rank % f->columns];
    if (size > 1)
        sv__skel_collective(s, SV_CALL_ALLTOALL, group, 0, f->bytes / size);
}

static void transform(sv__skel *s, const ft *f, double flops, bool back)
{
    sv__skel_compute(s, flops / 2);
    transpose(s, f, back);
    if (f->row != NULL)
        sv__skel_compute(s, flops / 4);
    transpose(s, f, !back);
    sv__skel_compute(s, f->row != NULL ? flops / 4 : flops / 2);
}

static void ft_program(sv__skel *s, const void *user)
{
    const ft *f = user;
    sv__skel_all(s, SV_CALL_BCAST, 4, 2);
    sv__skel_all(s, SV_CALL_BCAST, 8, 1);
    sv__skel_all(s, SV_CALL_BCAST, 4, 1);
    transform(s, f, f->first, false); /* to warm up */
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    transform(s, f, f->first, false);
    for (uint32_t i = 0; i < f->iterations; i++) {
        transform(s, f, f->step, true);
        sv__skel_all(s, SV_CALL_REDUCE, 16, 1);
    }
}

/* Groups of the ranks first, first + stride …, count groups whose firsts are `apart`. */
static sv_status make_groups(sv__skel *s, uint32_t count, uint32_t apart, uint32_t size,
                             uint32_t stride, uint16_t **groups)
{
    uint32_t *ranks = sv_alloc(s->ctx, size, sizeof *ranks);
    *groups = sv_alloc(s->ctx, count, sizeof **groups);
    sv_status status = ranks == NULL || *groups == NULL ? SV_NO_MEMORY : SV_OK;
    for (uint32_t i = 0; i < count && status == SV_OK; i++) {
        for (uint32_t j = 0; j < size; j++)
            ranks[j] = i * apart + j * stride;
        status = sv_mpi_add_group(s->trace, ranks, size, 0, &(*groups)[i]);
    }
    sv_release(s->ctx, ranks);
    return status;
}

static sv_status ft_ranks(sv__skel *s, ft *f)
{
    sv_status status = SV_OK;
    if (f->rows > 1)
        status = make_groups(s, f->rows, f->columns, f->columns, 1, &f->row);
    if (f->rows > 1 && status == SV_OK)
        status = make_groups(s, f->columns, 1, f->rows, f->columns, &f->column);
    if (status == SV_OK)
        status = sv__skel_ranks(s, ft_program, f);
    sv_release(s->ctx, f->row);
    sv_release(s->ctx, f->column);
    return status;
}

static sv_status ft_write(sv__skel *s)
{
    static const uint32_t sides[][3] = {
        {64, 64, 64}, {128, 128, 32}, {256, 256, 128}, {512, 256, 256}, {512, 512, 512}};
    static const uint32_t times[] = {6, 6, 6, 20, 20};
    unsigned class;
    uint64_t iterations;
    SV_TRY(sv__skel_class(s, &class));
    SV_TRY(sv__spec_number(&s->spec, "iterations", 1, 1000000, times[class], &iterations));
    uint32_t nz = sides[class][2];
    uint64_t points = (uint64_t)sides[class][0] * sides[class][1] * nz;
    ft f = {.iterations = (uint32_t)iterations,
            .rows = s->ranks <= nz ? 1 : nz,
            .columns = s->ranks <= nz ? s->ranks : s->ranks / nz,
            .bytes = points / s->ranks * 16,
            .first = (14.8157 + 7.19641 * log((double)points)) * (double)points / s->ranks,
            .step = (5.23518 + 7.21113 * log((double)points)) * (double)points / s->ranks};
    if (f.columns > nz)
        return sv__spec_fail(&s->spec, "%u planes are too few for %u ranks", nz, s->ranks);
    SV_TRY(sv__skel_begin(s, &sv__skeleton_ft));
    return ft_ranks(s, &f);
}

const sv__skeleton sv__skeleton_ft = {
    .info = {.name = "ft",
             .summary = "NAS FT: transposes of a Fourier transform in three dimensions",
             .source = "NAS Parallel Benchmarks, release 3 (MPI)",
             .keys = "class=A (S, W, A, B, C), ranks=64 (a power of two), iterations=the class's, "
                     "speed=1000 (Mflop/s of a core)"},
    .powers = true,
    .write = ft_write};
