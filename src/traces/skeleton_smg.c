/*
 * skeleton_smg.c: SMG2000: semicoarsening multigrid: V-cycles along z whose smoother solves planes
 * by V-cycles along y, whose smoother solves lines along x by cyclic reduction.
 *
 * Each of sides[0] × sides[1] × sides[2] ranks (the first side counting fastest) has n³ points.
 * Level l of a dimension has the points whose coordinate is a multiple of 2^l, so on coarse levels
 * some ranks have none, and the next rank that has some is far away. An exchange is with all
 * neighbours at once in the dimensions that an operator couples, corners included (27 points in
 * space, 9 in a plane, 3 on a line): receives, sends, one MPI_Waitall.
 *
 * A V-cycle along z: on each level down and up, planes are solved in two colours; after the way
 * down a residual (exchange in space), restriction and, on the way up, interpolation (exchanges
 * along z). Planes do the same along y; lines go down and up the levels of x with an exchange on
 * each. An all-reduce (norm) ends an iteration. What is simplified: planes of one colour are solved
 * together whatever their number, the setup is left out but for its broadcasts, and every level has
 * an exchange also where the program would find its ghost points still good. Operations: 54 a point
 * of a residual in space, 18 in a plane, 8 on a line.
 *
 * Source: the ASC SMG2000 benchmark (facts only); Brown, Falgout and Jones 2000.
 * Cost: linear in what is written: iterations × log³ (n × a side) exchanges.
 */
#include "traces/skeleton.h"

enum { DOUBLE = 8, MAX_NEAR = 26, X = 1, Y = 2, Z = 4 };

typedef struct smg {
    uint32_t sides[3], n, iterations;
    uint32_t levels[3]; /* of each dimension */
} smg;

/* What a rank has of one dimension on one level. */
typedef struct span {
    uint32_t points;   /* 0: none */
    uint32_t down, up; /* coordinates of the next ranks that have some, or SV_NONE */
} span;

static span span_of(const smg *g, int d, uint32_t at, uint32_t level)
{
    uint64_t step = UINT64_C(1) << level, begin = (uint64_t)at * g->n, end = begin + g->n;
    uint64_t first = (begin + step - 1) / step * step, all = (uint64_t)g->sides[d] * g->n;
    span r = {.points = first < end ? (uint32_t)((end - 1 - first) / step + 1) : 0,
              .down = SV_NONE,
              .up = SV_NONE};
    if (r.points == 0)
        return r;
    uint64_t last = first + (r.points - 1) * step;
    if (first >= step)
        r.down = (uint32_t)((first - step) / g->n);
    if (last + step < all)
        r.up = (uint32_t)((last + step) / g->n);
    return r;
}

/* A rank's view of a level of each dimension. */
typedef struct view {
    const smg *g;
    uint32_t at[3];
    span spans[3];
} view;

static void set_level(view *v, int d, uint32_t level)
{
    v->spans[d] = span_of(v->g, d, v->at[d], level);
}

static bool has_points(const view *v)
{
    return v->spans[0].points > 0 && v->spans[1].points > 0 && v->spans[2].points > 0;
}

/* The neighbour in a direction (each -1, 0, 1), or SV_NONE, and the bytes that it is sent. */
static uint32_t neighbour(const view *v, const int *way, uint64_t *bytes)
{
    uint32_t rank = 0;
    *bytes = DOUBLE;
    for (int d = 2; d >= 0; d--) {
        const span *s = &v->spans[d];
        uint32_t to = way[d] < 0 ? s->down : way[d] > 0 ? s->up : v->at[d];
        if (to == SV_NONE)
            return SV_NONE;
        *bytes *= way[d] == 0 ? s->points : 1;
        rank = rank * v->g->sides[d] + to;
    }
    return rank;
}

/* An exchange in some dimensions. A message's tag is its direction. */
static void exchange(sv__skel *s, const view *v, unsigned dims)
{
    struct {
        uint32_t rank, tag;
        uint64_t bytes;
    } near[MAX_NEAR];
    uint32_t count = 0;
    for (int i = 0; i < 27 && has_points(v); i++) {
        int way[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        bool inside = i != 13;
        for (int d = 0; d < 3; d++)
            inside = inside && (way[d] == 0 || (dims >> d & 1) != 0);
        uint64_t bytes;
        uint32_t rank = inside ? neighbour(v, way, &bytes) : SV_NONE;
        if (rank != SV_NONE) {
            near[count].rank = rank;
            near[count].tag = (uint32_t)i;
            near[count++].bytes = bytes;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        sv__skel_irecv(s, near[i].rank, 26 - near[i].tag, near[i].bytes, i);
    for (uint32_t i = 0; i < count; i++)
        sv__skel_isend(s, near[i].rank, near[i].tag, near[i].bytes, count + i);
    sv__skel_waitall(s, 0, 2 * count);
}

static void compute(sv__skel *s, const view *v, double flops)
{
    sv__skel_compute(s, flops * v->spans[0].points * v->spans[1].points * v->spans[2].points);
}

/* Lines along x: down and up. */
static void solve_lines(sv__skel *s, view *v)
{
    uint32_t levels = v->g->levels[0];
    for (uint32_t i = 0; i < 2 * levels - 1; i++) {
        set_level(v, 0, i < levels ? i : 2 * levels - 2 - i);
        compute(s, v, 8);
        exchange(s, v, X);
    }
    set_level(v, 0, 0);
}

/* Both colours of lines or planes: the residual of what is around them, then each solved. */
static void smooth(sv__skel *s, view *v, int d, void (*solve)(sv__skel *s, view *v))
{
    for (int colour = 0; colour < 2; colour++) {
        compute(s, v, (d == 1 ? 18.0 : 54.0) / 2);
        exchange(s, v, d == 1 ? X | Y : X | Y | Z);
        solve(s, v);
    }
}

static void cycle(sv__skel *s, view *v, int d, void (*solve)(sv__skel *s, view *v))
{
    uint32_t levels = v->g->levels[d];
    unsigned own = d == 1 ? Y : Z, all = d == 1 ? X | Y : X | Y | Z;
    for (uint32_t l = 0; l + 1 < levels; l++) {
        set_level(v, d, l);
        smooth(s, v, d, solve);
        compute(s, v, d == 1 ? 18 : 54);
        exchange(s, v, all);
        exchange(s, v, own);
    }
    set_level(v, d, levels - 1);
    solve(s, v);
    for (uint32_t l = levels - 1; l-- > 0;) {
        set_level(v, d, l);
        exchange(s, v, own);
        smooth(s, v, d, solve);
    }
    set_level(v, d, 0);
}

static void solve_planes(sv__skel *s, view *v)
{
    cycle(s, v, 1, solve_lines);
}

static void smg_program(sv__skel *s, const void *user)
{
    const smg *g = user;
    view v = {.g = g,
              .at = {s->rank % g->sides[0], s->rank / g->sides[0] % g->sides[1],
                     s->rank / g->sides[0] / g->sides[1]}};
    for (int d = 0; d < 3; d++)
        set_level(&v, d, 0);
    sv__skel_all(s, SV_CALL_BCAST, 4, 2);
    sv__skel_all(s, SV_CALL_BARRIER, 0, 1);
    sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 1);
    for (uint32_t i = 0; i < g->iterations; i++) {
        cycle(s, &v, 2, solve_planes);
        sv__skel_all(s, SV_CALL_ALLREDUCE, DOUBLE, 1);
    }
}

/* As cubic as can be, the longest side first. */
static void cube(uint32_t ranks, uint32_t *sides)
{
    sides[2] = 1;
    for (uint64_t i = 1; i * i * i <= ranks; i++)
        if (ranks % i == 0)
            sides[2] = (uint32_t)i;
    sv__skel_square(ranks / sides[2], sides);
}

static sv_status smg_write(sv__skel *s)
{
    smg g = {.n = 0};
    uint64_t n, iterations;
    SV_TRY(sv__spec_number(&s->spec, "n", 1, 1000, 10, &n));
    SV_TRY(sv__spec_number(&s->spec, "iterations", 1, 1000000, 7, &iterations));
    g.n = (uint32_t)n;
    g.iterations = (uint32_t)iterations;
    cube(s->ranks, g.sides);
    for (int d = 0; d < 3; d++)
        for (uint64_t all = (uint64_t)g.sides[d] * n; (UINT64_C(1) << g.levels[d]) <= all;)
            g.levels[d]++;
    SV_TRY(sv__skel_begin(s, &sv__skeleton_smg));
    return sv__skel_ranks(s, smg_program, &g);
}

const sv__skeleton sv__skeleton_smg = {
    .info = {.name = "smg2000",
             .summary = "SMG2000: semicoarsening multigrid, planes and lines within it",
             .source = "ASC SMG2000",
             .keys = "ranks=64, n=10 (points a side of a rank), iterations=7, speed=1000 (Mflop/s "
                     "of a core)"},
    .write = smg_write};
