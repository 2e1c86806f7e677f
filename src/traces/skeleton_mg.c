/*
 * skeleton_mg.c: NAS MG: V-cycles of a multigrid method on a periodic box.
 *
 * The n³ points are cut over sides[0] × sides[1] × sides[2] ranks, the first side counting fastest.
 * Level k has 2^k points a side. After each operator a rank exchanges faces with its two neighbours
 * in each dimension, one dimension after the other (both receives posted, both sends, both waits);
 * faces of later dimensions include the edges that earlier ones have brought. On levels with fewer
 * points than ranks a side only every second, fourth … rank has points, and neighbours are two,
 * four … ranks away: so the program talks over short and over long distances. On the way up, ranks
 * that have points again get their faces from those that had some (two layers one way, one the
 * other).
 *
 * Around it: seven broadcasts; twice the choice of twenty random points (40 all-reduces); one
 * V-cycle to warm up; norms (two all-reduces); a reduction of the time. A rank may be its own
 * neighbour (a side of one): it then sends to itself, as the program does. Operations a point are
 * those that the program states for each operator.
 *
 * Source: Bailey et al., The NAS Parallel Benchmarks; release 3 of their MPI programs (facts only).
 * Cost: linear in what is written: 18 events an operator and level.
 */
#include "traces/skeleton.h"

enum { MAX_LEVELS = 10, DOUBLE = 8 };
enum { RESIDUAL = 15, SMOOTH = 16, PROJECT = 24, INTERPOLATE = 20, NORM = 4 };

typedef struct mg {
    uint32_t levels, iterations;
    uint32_t sides[3]; /* ranks */
} mg;

/* A level as a rank sees it. */
typedef struct mg_level {
    uint32_t points[3];    /* its own; 0 in any: it has none */
    uint32_t near[3][2];   /* ranks before and after it */
    bool give[3], take[3]; /* faces of those that had no points one level down */
    bool dead;
} mg_level;

/* How many of ng points the rank at a place of p has; places go round. */
static uint32_t points_at(uint64_t place, uint64_t ng, uint64_t p)
{
    return (uint32_t)((place + 1) * ng / p - place * ng / p);
}

/* The levels of a rank, the finest (g->levels) first: whom it borders on changes downwards. */
static void levels_of(const mg *g, uint32_t rank, mg_level *level)
{
    uint32_t at[3] = {rank % g->sides[0], rank / g->sides[0] % g->sides[1],
                      rank / g->sides[0] / g->sides[1]};
    uint32_t stride[3] = {1, g->sides[0], g->sides[0] * g->sides[1]}, next[3] = {1, 1, 1};
    for (uint32_t k = g->levels; k >= 1; k--) {
        level[k] = (mg_level){.dead = false};
        for (int d = 0; d < 3; d++) {
            uint32_t p = g->sides[d];
            uint32_t mine = points_at(at[d], 1U << k, p);
            uint32_t after = points_at((uint64_t)at[d] + next[d], 1U << k, p);
            level[k].points[d] = mine;
            level[k].dead = level[k].dead || mine == 0;
            if (k < g->levels) {
                level[k + 1].give[d] = mine == 1 && after == 0;
                level[k + 1].take[d] = mine == 0 && after == 1;
            }
            if (mine == 0 || after == 0)
                next[d] *= 2;
            uint32_t up = (at[d] + next[d]) % p, down = (at[d] + p - next[d] % p) % p;
            level[k].near[d][0] = rank - at[d] * stride[d] + down * stride[d];
            level[k].near[d][1] = rank - at[d] * stride[d] + up * stride[d];
        }
    }
}

/* Bytes of a face, which has the ghost points of dimensions done before it. */
static uint64_t face(const mg_level *l, int d)
{
    uint64_t a = l->points[0], b = l->points[1], c = l->points[2];
    return DOUBLE * (d == 0 ? b * c : d == 1 ? (a + 2) * c : (a + 2) * (b + 2));
}

/* Bytes of a face with all ghost points. */
static uint64_t wide_face(const mg_level *l, int d)
{
    uint64_t bytes = DOUBLE;
    for (int other = 0; other < 3; other++)
        bytes *= other == d ? 1 : l->points[other] + 2;
    return bytes;
}

/* Tags of messages that go down (0) and up (1). */
static uint32_t tag_of(int d, int way)
{
    return (uint32_t)(100 * (1 + 2 * way + 10 * (d + 1)));
}

static void ready(sv__skel *s, const mg_level *l, int d, const uint64_t *bytes)
{
    sv__skel_irecv(s, l->near[d][1], tag_of(d, 0), bytes[0], 0);
    sv__skel_irecv(s, l->near[d][0], tag_of(d, 1), bytes[1], 1);
}

static void give(sv__skel *s, const mg_level *l, int d, const uint64_t *bytes)
{
    sv__skel_send(s, l->near[d][1], tag_of(d, 1), bytes[1]);
    sv__skel_send(s, l->near[d][0], tag_of(d, 0), bytes[0]);
}

static void take(sv__skel *s)
{
    sv__skel_wait(s, 0);
    sv__skel_wait(s, 1);
}

static void exchange(sv__skel *s, const mg_level *l)
{
    for (int d = 0; d < 3 && !l->dead && s->ranks > 1; d++) {
        uint64_t bytes[2] = {face(l, d), face(l, d)};
        ready(s, l, d, bytes);
        give(s, l, d, bytes);
        take(s);
    }
}

static void expand(sv__skel *s, const mg_level *l)
{
    for (int d = 0; d < 3 && s->ranks > 1; d++) {
        uint64_t bytes[2] = {wide_face(l, d), 2 * wide_face(l, d)};
        if (l->take[d]) {
            ready(s, l, d, bytes);
            take(s);
        }
        if (l->give[d])
            give(s, l, d, bytes);
    }
}

static void apply(sv__skel *s, const mg_level *l, double flops)
{
    sv__skel_compute(s, flops * l->points[0] * l->points[1] * l->points[2]);
    exchange(s, l);
}

static void cycle(sv__skel *s, const mg *g, const mg_level *level)
{
    for (uint32_t k = g->levels - 1; k >= 1; k--)
        apply(s, &level[k], PROJECT);
    apply(s, &level[1], SMOOTH);
    for (uint32_t k = 2; k <= g->levels; k++) {
        const mg_level *below = &level[k - 1];
        sv__skel_compute(s, INTERPOLATE * (double)below->points[0] * below->points[1] *
                                below->points[2]);
        expand(s, &level[k]);
        apply(s, &level[k], RESIDUAL);
        apply(s, &level[k], SMOOTH);
    }
}

static void norm(sv__skel *s, const mg_level *l)
{
    sv__skel_compute(s, NORM * (double)l->points[0] * l->points[1] * l->points[2]);
    sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 2);
}

/* Ten largest and ten smallest of random numbers, each by its value and its place. */
static void random_points(sv__skel *s, const mg_level *l)
{
    sv__skel_compute(s, 20.0 * l->points[0] * l->points[1] * l->points[2]);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    for (int i = 0; i < 20; i++) {
        sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 1);
        sv__skel_all(s, SV_CALL_ALLREDUCE, 16, 1);
    }
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    exchange(s, l);
}

static void mg_program(sv__skel *s, const void *user)
{
    const mg *g = user;
    mg_level level[MAX_LEVELS + 1];
    levels_of(g, s->rank, level);
    const mg_level *top = &level[g->levels];
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    sv__skel_all(s, SV_CALL_BCAST, 4, 5);
    sv__skel_all(s, SV_CALL_BCAST, 32, 1);
    sv__skel_all(s, SV_CALL_BCAST, 4, 1);
    random_points(s, top);
    norm(s, top);
    apply(s, top, RESIDUAL);
    norm(s, top);
    cycle(s, g, level); /* to warm up */
    apply(s, top, RESIDUAL);
    random_points(s, top);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    apply(s, top, RESIDUAL);
    norm(s, top);
    for (uint32_t i = 0; i < g->iterations; i++) {
        cycle(s, g, level);
        apply(s, top, RESIDUAL);
    }
    norm(s, top);
    sv__skel_all(s, SV_CALL_REDUCE, DOUBLE, 1);
}

static sv_status mg_write(sv__skel *s)
{
    static const uint32_t levels[] = {5, 7, 8, 8, 9}, times[] = {4, 4, 4, 20, 20};
    unsigned class;
    uint64_t iterations;
    SV_TRY(sv__skel_class(s, &class));
    SV_TRY(sv__spec_number(&s->spec, "iterations", 1, 1000000, times[class], &iterations));
    mg g = {.levels = levels[class], .iterations = (uint32_t)iterations};
    uint32_t log = 0;
    while (1U << log < s->ranks)
        log++;
    g.sides[0] = 1U << log / 3;
    g.sides[1] = 1U << (log - log / 3) / 2;
    g.sides[2] = s->ranks / g.sides[0] / g.sides[1];
    if (g.sides[2] > 1U << g.levels)
        return sv__spec_fail(&s->spec, "%u points a side are too few for %u ranks", 1U << g.levels,
                             s->ranks);
    SV_TRY(sv__skel_begin(s, &sv__skeleton_mg));
    return sv__skel_ranks(s, mg_program, &g);
}

const sv__skeleton sv__skeleton_mg = {
    .info = {.name = "mg",
             .summary = "NAS MG: V-cycles of a multigrid method on a periodic box",
             .source = "NAS Parallel Benchmarks, release 3 (MPI)",
             .keys = "class=A (S, W, A, B, C), ranks=64 (a power of two), iterations=the class's, "
                     "speed=1000 (Mflop/s of a core)"},
    .powers = true,
    .write = mg_write};
