/*
 * test_skeleton.c: skeletons of programs: all sizes are traces (sv_mpi_check), counts by closed
 * forms, whom ranks talk to, the mix of calls that the PR-DRB thesis has (Table 2.1), and refusals.
 */
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

static sv_mpi_trace *make(const char *spec)
{
    sv_mpi_trace *trace = NULL;
    OK(ctx, sv_mpi_skeleton_make(ctx, spec, &trace));
    if (sv_mpi_check(ctx, trace) != SV_OK)
        fail_msg("%s: %s", spec, sv_ctx_message(ctx));
    return trace;
}

static sv_mpi_summary *summary_of(const char *spec)
{
    sv_mpi_trace *trace = make(spec);
    sv_mpi_summary *summary = NULL;
    OK(ctx, sv_mpi_summarise(ctx, trace, &summary));
    sv_mpi_free(trace);
    return summary;
}

static void listed(void **state)
{
    (void)state;
    static const char *const names[] = {"lu", "mg", "ft", "pop", "smg2000", "sweep3d"};
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(sv_mpi_skeleton_at(i)->name, names[i]);
        assert_non_null(strstr(sv_mpi_skeleton_at(i)->keys, "ranks=64"));
        assert_true(strlen(sv_mpi_skeleton_at(i)->summary) > 0);
        assert_true(strlen(sv_mpi_skeleton_at(i)->source) > 0);
    }
    assert_null(sv_mpi_skeleton_at(6));
}

/* Every class with every number of ranks. */
static void classes_are_traces(void **state)
{
    (void)state;
    static const char *const programs[] = {"lu", "mg", "ft"};
    for (int p = 0; p < 3; p++)
        for (const char *class = "SWAB"; *class != 0; class ++)
            for (unsigned ranks = 1; ranks <= 128; ranks *= 2) {
                char spec[80];
                if (p == 0 && *class == 'S' && ranks > 64)
                    continue; /* 12 points a side are too few for 16 ranks a side */
                snprintf(spec, sizeof spec, "%s:class=%c,ranks=%u,iterations=2", programs[p],
                         *class, ranks);
                sv_mpi_free(make(spec));
            }
}

static void others_are_traces(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "pop:steps=2,iterations=3", "pop:steps=1,iterations=2,north=closed",
        "sweep3d:iterations=1",     "sweep3d:iterations=1,planes=7,angles=1,nx=151,ny=149,nz=10",
        "smg2000:iterations=1,n=2", "smg2000:iterations=1,n=5"};
    static const unsigned ranks[] = {1, 2, 3, 4, 6, 8, 16, 24, 36, 64, 100, 128};
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++) {
            char spec[120];
            if (!test_takes(&seen))
                continue;
            snprintf(spec, sizeof spec, "%s,ranks=%u", specs[i], ranks[r]);
            sv_mpi_free(make(spec));
        }
}

/* ---- closed forms ---- */

static uint64_t sends(const sv_mpi_summary *s)
{
    return s->calls[SV_CALL_SEND] + s->calls[SV_CALL_ISEND];
}

/* Directed neighbours of a grid that is not closed. */
static uint64_t grid_edges(uint64_t x, uint64_t y)
{
    return 2 * ((x - 1) * y + x * (y - 1));
}

static void lu_counts(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint64_t n, iterations, x, y;
    } cases[] = {{"lu:class=S,ranks=16", 12, 50, 4, 4},
                 {"lu:class=W,ranks=8,iterations=5", 33, 5, 4, 2},
                 {"lu:iterations=3", 64, 3, 8, 8},
                 {"lu:class=B,ranks=128,iterations=1", 102, 1, 16, 8}};
    for (size_t i = 0; i < 4; i++) {
        sv_mpi_summary *s = summary_of(cases[i].spec);
        uint64_t edges = grid_edges(cases[i].x, cases[i].y), its = cases[i].iterations;
        uint64_t ranks = cases[i].x * cases[i].y;
        uint64_t sweeps = (its + 1) * (cases[i].n - 2) * edges, sides = (its + 4) * edges;
        assert_int_equal(s->ranks, ranks);
        assert_int_equal(s->calls[SV_CALL_SEND], sweeps + sides);
        assert_int_equal(s->calls[SV_CALL_RECV], sweeps);
        assert_int_equal(s->calls[SV_CALL_IRECV], sides);
        assert_int_equal(s->calls[SV_CALL_WAIT], sides);
        assert_int_equal(s->calls[SV_CALL_BCAST], 10 * ranks);
        assert_int_equal(s->calls[SV_CALL_ALLREDUCE], 10 * ranks);
        assert_int_equal(s->calls[SV_CALL_BARRIER], 2 * ranks);
        sv_mpi_summary_free(s);
    }
}

/* 2 × 2 × 2 ranks have points on all levels. */
static void mg_counts(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint64_t levels, iterations;
    } cases[] = {{"mg:class=S,ranks=8", 5, 4},
                 {"mg:class=A,ranks=8", 8, 4},
                 {"mg:class=B,ranks=8", 8, 20},
                 {"mg:class=W,ranks=8,iterations=1", 7, 1}};
    for (size_t i = 0; i < 4; i++) {
        sv_mpi_summary *s = summary_of(cases[i].spec);
        uint64_t its = cases[i].iterations;
        uint64_t exchanges = 5 + its + (its + 1) * (3 * cases[i].levels - 2);
        assert_int_equal(s->calls[SV_CALL_SEND], 8 * 6 * exchanges);
        assert_int_equal(s->calls[SV_CALL_IRECV], 8 * 6 * exchanges);
        assert_int_equal(s->calls[SV_CALL_WAIT], 8 * 6 * exchanges);
        assert_int_equal(s->calls[SV_CALL_ALLREDUCE], 8 * 88);
        assert_int_equal(s->calls[SV_CALL_BARRIER], 8 * 6);
        assert_int_equal(s->degree_max, 3); /* both neighbours of a dimension are one */
        sv_mpi_summary_free(s);
    }
}

/* The largest message of MG is a face of the finest level with the edges of two dimensions. */
static void mg_sizes(void **state)
{
    (void)state;
    sv_mpi_trace *trace = make("mg:class=A,iterations=1");
    uint64_t largest = 0, smallest = UINT64_MAX;
    for (uint64_t i = 0; i < trace->ranks[21].length; i++) {
        const sv_mpi_event *e = &trace->ranks[21].events[i];
        if (e->kind == SV_MPI_SEND) {
            largest = e->amount > largest ? e->amount : largest;
            smallest = e->amount < smallest ? e->amount : smallest;
        }
    }
    assert_int_equal(largest, 8 * 66 * 66);
    assert_int_equal(smallest, 8);
    sv_mpi_free(trace);
}

static void ft_counts(void **state)
{
    (void)state;
    sv_mpi_summary *s = summary_of("ft:class=A");
    assert_int_equal(s->calls[SV_CALL_ALLTOALL], 8 * 64);
    assert_int_equal(s->calls[SV_CALL_REDUCE], 6 * 64);
    /* all but what stays where it is, eight times */
    uint64_t all = (uint64_t)256 * 256 * 128 * 16, small = 6 * 63 * 16 + 63 * (3 * 4 + 8);
    assert_int_equal(s->bytes, 8 * (all - all / 64) + small);
    assert_int_equal(s->degree_max, 0);
    sv_mpi_summary_free(s);
    s = summary_of("ft:class=W,ranks=64"); /* 32 planes: rows of two, columns of 32 */
    assert_int_equal(s->calls[SV_CALL_ALLTOALL], 2 * 8 * 64);
    all = (uint64_t)128 * 128 * 32 * 16;
    assert_int_equal(s->bytes, 8 * (all - all / 2 + all - all / 32) + small);
    sv_mpi_summary_free(s);
}

static void sweep_counts(void **state)
{
    (void)state;
    sv_mpi_summary *s = summary_of("sweep3d:iterations=3,ranks=24,planes=40,angles=2");
    uint64_t blocks = 4 * 3; /* 150 planes in blocks of 40, 6 angles in blocks of 2 */
    /* every octant uses half of the directed neighbours of 6 × 4 ranks */
    assert_int_equal(s->calls[SV_CALL_SEND], 3 * 8 * blocks * grid_edges(6, 4) / 2);
    assert_int_equal(s->calls[SV_CALL_RECV], s->calls[SV_CALL_SEND]);
    assert_int_equal(s->calls[SV_CALL_ALLREDUCE], 24 * (2 * 3 + 8));
    assert_int_equal(s->point_bytes[1],
                     3 * 4 * blocks * 8 * 40 * 2 * 38); /* 150 = 2 × 38 + 2 × 37 */
    assert_int_equal(s->degree_max, 4);
    sv_mpi_summary_free(s);
}

/* The rank in the south-west of four: waits for both, east, north, nobody; each twice. */
static void sweep_order(void **state)
{
    (void)state;
    static const char wanted[] = "R1R2 R1R2 R1S2 R1S2 R2S1 R2S1 S1S2 S1S2 ";
    char seen[120] = "";
    size_t length = 0;
    sv_mpi_trace *trace = make("sweep3d:ranks=4,planes=150,angles=6,iterations=1");
    for (uint64_t i = 0; i < trace->ranks[0].length; i++) {
        const sv_mpi_event *e = &trace->ranks[0].events[i];
        if ((e->kind != SV_MPI_SEND && e->kind != SV_MPI_RECV) || length + 4 > sizeof seen)
            continue;
        seen[length++] = e->kind == SV_MPI_SEND ? 'S' : 'R';
        seen[length++] = (char)('0' + e->peer);
        if (length % 5 == 4)
            seen[length++] = ' ';
    }
    seen[length] = 0;
    assert_string_equal(seen, wanted);
    sv_mpi_free(trace);
}

static void pop_counts(void **state)
{
    (void)state;
    sv_mpi_summary *s = summary_of("pop:steps=3,iterations=7,north=closed,ranks=32");
    uint64_t halos = 4 + 3 * (2 + 1 + 1 + 7 + 1 + 2), around = 2 * 32, across = 2 * 8 * 3;
    assert_int_equal(s->calls[SV_CALL_ISEND], halos * (around + across));
    assert_int_equal(s->calls[SV_CALL_WAITALL], halos * 4 * 32);
    assert_int_equal(s->calls[SV_CALL_ALLREDUCE], 32 * 3 * (2 * 7 + 160));
    assert_int_equal(s->degree_max, 4);
    sv_mpi_summary_free(s);
    s = summary_of("pop:steps=1,iterations=1");
    assert_int_equal(s->degree_max, 6); /* the fold: three more, and no north */
    assert_int_equal(s->degree[0], 3);
    assert_int_equal(s->degree[9], 4);
    assert_true(s->point_bytes[56 * 64 + 63] > 0); /* the north-west corner and its mirror image */
    assert_int_equal(s->degree[56], 4);            /* 57, 63, 48, and 62 beside the image */
    for (uint32_t to = 60; to < 64; to++) /* third from the west: third from the east, both sides */
        assert_int_equal(s->point_bytes[58 * 64 + to] > 0, to < 63);
    sv_mpi_summary_free(s);
}

/* Exchanges go both ways, with as many bytes. */
static void symmetric(void **state)
{
    (void)state;
    static const char *const specs[] = {"lu:class=A,iterations=2", "pop:steps=1,iterations=3",
                                        "sweep3d:iterations=1", "smg2000:iterations=1",
                                        "smg2000:iterations=1,n=3,ranks=48"};
    uint32_t seen = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        if (!test_takes(&seen))
            continue;
        sv_mpi_summary *s = summary_of(specs[i]);
        for (uint32_t a = 0; a < s->ranks; a++)
            for (uint32_t b = 0; b < a; b++)
                assert_int_equal(s->point_bytes[a * s->ranks + b],
                                 s->point_bytes[b * s->ranks + a]);
        assert_true(sends(s) > 0);
        sv_mpi_summary_free(s);
    }
}

/* ---- as published ---- */

static void share(const sv_mpi_summary *s, sv_mpi_call call, double percent, double within)
{
    uint64_t calls = 0; /* the thesis counts no MPI_Irecv in programs that post receives first */
    for (int i = 1; i < SV_CALL_COUNT; i++)
        calls += i == SV_CALL_IRECV ? 0 : s->calls[i];
    double ours = 100.0 * (double)s->calls[call] / (double)calls;
    if (ours < percent - within || ours > percent + within)
        fail_msg("%s is %.3f %%, not %.3f %%", sv_mpi_call_name(call), ours, percent);
}

static void mix_of_mg(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double send, allreduce, barrier, bcast;
    } cases[] = {{"mg:class=S", 44.42, 9.6, 0.65, 0.76},
                 {"mg:class=A", 46.49, 6.04, 0.41, 0.48},
                 {"mg:class=B", 49.09, 1.56, 0.10, 0.12}};
    for (int i = 0; i < 3; i++) {
        sv_mpi_summary *s = summary_of(cases[i].spec);
        share(s, SV_CALL_SEND, cases[i].send, 0.02);
        share(s, SV_CALL_WAIT, cases[i].send, 0.02);
        share(s, SV_CALL_ALLREDUCE, cases[i].allreduce, 0.02);
        share(s, SV_CALL_BARRIER, cases[i].barrier, 0.01);
        share(s, SV_CALL_BCAST, cases[i].bcast, 0.01);
        assert_int_equal(s->degree_max, 9); /* short distances and long ones */
        sv_mpi_summary_free(s);
    }
}

static void mix_of_others(void **state)
{
    (void)state;
    sv_mpi_summary *s = summary_of(test_enough() ? "pop:steps=10" : "pop:steps=2");
    share(s, SV_CALL_ISEND, 34.9, 1);
    share(s, SV_CALL_WAITALL, 34.9, 1);
    share(s, SV_CALL_ALLREDUCE, 29.3, 1);
    sv_mpi_summary_free(s);
    if (!test_enough()) /* of the next one there are millions of messages */
        return;
    s = summary_of("sweep3d:planes=1,angles=1,iterations=2");
    share(s, SV_CALL_SEND, 49.99, 0.03);
    share(s, SV_CALL_RECV, 49.99, 0.03);
    sv_mpi_summary_free(s);
}

/* Twice the speed, half the time; half the iterations, half the work. */
static void computing(void **state)
{
    (void)state;
    sv_mpi_summary *slow = summary_of("lu:class=A,ranks=16,iterations=9,speed=500");
    sv_mpi_summary *fast = summary_of("lu:class=A,ranks=16,iterations=9,speed=1000");
    double ratio = (double)slow->compute_ns / (double)fast->compute_ns;
    assert_true(ratio > 1.9999 && ratio < 2.0001);
    /* iterations, one to warm up, and three right-hand sides without sweeps */
    double flops = 1984.77 * 262144 - 10923.3 * 4096 + 27770.9 * 64 - 144010;
    double wanted = flops * (10 + 3 * 0.3);
    assert_true((double)fast->compute_ns > 0.999 * wanted);
    assert_true((double)fast->compute_ns < 1.001 * wanted);
    sv_mpi_summary_free(slow);
    sv_mpi_summary_free(fast);
}

static void refusals(void **state)
{
    (void)state;
    sv_mpi_trace *trace = NULL;
    static const struct {
        const char *spec, *says;
    } cases[] = {{"ep:class=A", "no skeleton 'ep' (there are lu, mg, ft, pop, smg2000, sweep3d)"},
                 {"lu:class=D", "class=D is none of S, W, A, B, C"},
                 {"lu:class=AB", "class=AB is none of"},
                 {"lu:ranks=48", "ranks=48 is not a power of two"},
                 {"lu:ranks=0", "ranks"},
                 {"lu:class=S,ranks=256", "12 points a side are too few for 256 ranks"},
                 {"lu:iterations=0", "iterations"},
                 {"mg:class=S,ranks=65536", "32 points a side are too few for 65536 ranks"},
                 {"mg:steps=3", "steps"},
                 {"ft:class=W,ranks=2048", "32 planes are too few for 2048 ranks"},
                 {"pop:north=open", "north=open is none of tripole, closed"},
                 {"pop:nx=5", "nx=5 is too few for 8 ranks a side"},
                 {"sweep3d:angles=4", "angles=4 does not divide 6"},
                 {"sweep3d:ny=2", "ny=2 is too few for 8 ranks a side"},
                 {"smg2000:n=0", "n"},
                 {"pop:speed=fast", "speed"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        FAILS(ctx, sv_mpi_skeleton_make(ctx, cases[i].spec, &trace), SV_BAD_INPUT, cases[i].says);
    assert_null(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listed),
        cmocka_unit_test(classes_are_traces),
        cmocka_unit_test(others_are_traces),
        cmocka_unit_test(lu_counts),
        cmocka_unit_test(mg_counts),
        cmocka_unit_test(mg_sizes),
        cmocka_unit_test(ft_counts),
        cmocka_unit_test(sweep_counts),
        cmocka_unit_test(sweep_order),
        cmocka_unit_test(pop_counts),
        cmocka_unit_test(symmetric),
        cmocka_unit_test(mix_of_mg),
        cmocka_unit_test(mix_of_others),
        cmocka_unit_test(computing),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
