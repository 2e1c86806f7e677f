/*
 * make_draw.c: jobs as their users submit them.
 *
 * Idea: every job takes the same number of random numbers, so that plans that differ in one share
 * draw like jobs. Jobs are drawn until their work is the load that is wanted; their moments are
 * then drawn all together, which is what a Poisson process looks like once the number of its
 * events is known. So the load is met however heavy the tail of run times is.
 *
 * Rhythm: an hour's rate follows a cosine with its top at 14:00; Saturdays and Sundays have a part
 * of it. Sizes: one node, or uniform in the logarithm, rounded to a power of two more often than
 * not. Run times: log-normal. Limits: users ask for the run time over a uniform number, rounded up
 * to a time that people like; a few ask for too little and are killed.
 *
 * Invariants: 1 <= nodes <= largest, 1 <= run <= limit <= a week, submits ascend.
 * Cost: linear in jobs, and sorting.
 * Source: the shapes, not the numbers, are those of U. Lublin and D. Feitelson, The workload on
 * parallel supercomputers, JPDC 63 (2003), and of A. Mu'alem and D. Feitelson, Utilization,
 * predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with
 * backfilling, IEEE TPDS 12 (2001).
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/rng.h"
#include "jobs/make.h"

enum { HOUR = 3600, DAY = 24 * HOUR, SHORTEST = 60, MAX_JOBS = 5000000 };

/* Limits that people like, in minutes. */
static const int64_t liked[] = {15,   30,   60,   120,  240,  480,  720,
                                1440, 2880, 4320, 5760, 7200, 10080};
enum { NUM_LIKED = sizeof liked / sizeof liked[0] };

static const double weekend = 0.45;    /* of a weekday's rate */
static const double swing = 0.7;       /* of the rate, about its mean */
static const double max_asked = 20;    /* times the run time */
static const double too_little = 0.05; /* share of jobs */

/* Above 0, below 1. */
static double uniform(sv_rng *rng)
{
    return ((double)(sv_rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

/* ---- one job ---- */

static uint32_t draw_nodes(sv_rng *rng, const sv_history_plan *plan)
{
    double alone = uniform(rng), tail = uniform(rng), size = uniform(rng), power = uniform(rng);
    if (alone < plan->single)
        return 1;
    double low = log2(tail < plan->large ? plan->usual : 2);
    double high = log2(tail < plan->large ? plan->largest : plan->usual);
    double exponent = low + size * (high - low);
    double nodes = power < plan->powers ? exp2(round(exponent)) : round(exp2(exponent));
    return nodes > plan->largest ? plan->largest : nodes < 2 ? 2 : (uint32_t)nodes;
}

static void draw_times(sv_rng *rng, const sv_history_plan *plan, sv__wish *wish)
{
    /* A normal number, after Box and Muller. */
    double length = sqrt(-2 * log(uniform(rng))), angle = 6.283185307179586 * uniform(rng);
    double run = plan->run_hours * HOUR * exp(plan->run_spread * length * cos(angle));
    double share = 1 / max_asked + uniform(rng) * (1 - 1 / max_asked);
    bool rash = uniform(rng) < too_little;
    double longest = 60.0 * (double)liked[NUM_LIKED - 1];
    run = run < SHORTEST ? SHORTEST : run > longest ? longest : run;
    wish->run = (int64_t)run;
    int i = 0;
    while (i + 1 < NUM_LIKED && 60.0 * (double)liked[i] < run / share)
        i++;
    if (rash && wish->run >= 60 * liked[0])
        while (60 * liked[i] > wish->run)
            i--;
    wish->limit = 60 * liked[i];
    wish->killed = wish->run >= wish->limit;
    wish->run = wish->killed ? wish->limit : wish->run;
}

/* ---- when ---- */

/* What an hour's rate is, in some unit. */
static double rate(int64_t at)
{
    int64_t day = at / DAY, hour = at % DAY / HOUR;
    int week_day = (int)((day + 4) % 7); /* 1970 began on a Thursday; 0 is Sunday */
    double share = week_day == 0 || week_day == 6 ? weekend : 1;
    return share * (1 + swing * cos(6.283185307179586 * ((double)hour + 0.5 - 14) / 24));
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static sv_status draw_submits(sv_rng *rng, const sv_history_plan *plan, sv_arena *arena,
                              sv__wish *wishes, uint32_t count)
{
    int64_t begin = plan->begin - (int64_t)plan->warm_up * DAY;
    uint32_t hours = 24 * (plan->warm_up + plan->days), hour = 0;
    double *moments = sv_arena_raw(arena, count, sizeof *moments), total = 0, passed = 0;
    if (moments == NULL)
        return SV_NO_MEMORY;
    for (uint32_t h = 0; h < hours; h++)
        total += rate(begin + (int64_t)h * HOUR);
    for (uint32_t i = 0; i < count; i++)
        moments[i] = uniform(rng) * total;
    qsort(moments, count, sizeof *moments, ascending);
    for (uint32_t i = 0; i < count; i++) {
        double here = rate(begin + (int64_t)hour * HOUR);
        while (hour + 1 < hours && passed + here < moments[i]) {
            passed += here;
            here = rate(begin + (int64_t)++hour * HOUR);
        }
        double part = (moments[i] - passed) / here;
        wishes[i].submit = begin + (int64_t)hour * HOUR +
                           (int64_t)(HOUR * (part < 0        ? 0
                                             : part > 0.9999 ? 0.9999
                                                             : part));
    }
    return SV_OK;
}

sv_status sv__draw_jobs(sv_ctx *ctx, const sv_history_plan *plan, uint32_t hosts, sv_arena *arena,
                        sv__wish **wishes, uint32_t *count)
{
    SV_ARRAY(sv__wish) drawn = {0};
    double wanted = plan->load * hosts * DAY * ((double)plan->warm_up + plan->days), work = 0;
    sv_status status = SV_OK;
    sv_rng rng;
    sv_rng_init(&rng, plan->seed);
    while (status == SV_OK && work < wanted) {
        sv__wish wish = {.nodes = draw_nodes(&rng, plan)};
        draw_times(&rng, plan, &wish);
        work += (double)wish.nodes * (double)wish.run;
        status = drawn.length < MAX_JOBS
                     ? sv_array_push(ctx, &drawn, wish)
                     : sv_fail(ctx, SV_INFEASIBLE, "more than %d jobs: fewer days, or longer jobs",
                               MAX_JOBS);
        if (status == SV_OK && drawn.length % 4096 == 0)
            status = sv_progress(ctx, "drawing jobs", drawn.length, 0);
    }
    if (status == SV_OK)
        status = draw_submits(&rng, plan, arena, drawn.at, (uint32_t)drawn.length);
    sv__wish *kept = status == SV_OK ? sv_arena_raw(arena, drawn.length, sizeof *kept) : NULL;
    for (size_t i = 0; kept != NULL && i < drawn.length; i++)
        kept[i] = drawn.at[i];
    *wishes = kept;
    *count = (uint32_t)drawn.length;
    sv_array_release(ctx, &drawn);
    return status != SV_OK ? status : kept == NULL ? SV_NO_MEMORY : SV_OK;
}
