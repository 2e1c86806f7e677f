/*
 * test_events.c: which output the simulator looks at next (src/simulate/events.c), against a list
 * that is searched from one end to the other.
 *
 *     oracle_test_events [TRIALS [SEED]]
 *
 * Random numbers of channels and terminals, links and packets (so buckets of all lengths); plans
 * for now, for the next ticks, for the ends of a bucket and of a round of buckets, for rounds
 * ahead, and for a few ticks at which many meet; plans that are brought forward, or come too late;
 * and those made after somebody has looked ahead, before what was seen there. Whole simulations
 * seldom plan anything so far ahead that a round of buckets is not enough.
 */
#include "base/rng.h"
#include "simulate/state.h"
#include "support/testing.h"
#include "support/trials.h"

enum { MAX_SLOTS = 700, MEETINGS = 4 };

static sv_ctx *ctx;
static uint32_t trials = 300;
static uint64_t seed = 1;

typedef struct queue {
    sv_rng rng;
    sv__sim x;
    sv_fabric f;
    sv_sim_model m;
    sv__output outputs[MAX_SLOTS];
    uint32_t slots, base;     /* terminals, which come first, and channels; terminals */
    uint64_t when[MAX_SLOTS]; /* SV_NEVER: nothing is planned */
    uint64_t now;
    uint64_t meeting[MEETINGS]; /* ticks for which much is planned */
    uint64_t hops;              /* the farthest plan, in rounds */
} queue;

static uint64_t below(queue *q, uint64_t bound)
{
    return sv_rng_below(&q->rng, bound);
}

static void queue_init(queue *q)
{
    static const uint32_t bytes[] = {1, 8, 125, 1000, 4000}, sizes[] = {1, 3, 20, 120, MAX_SLOTS};
    *q = (queue){0};
    sv_rng_init(&q->rng, seed);
    q->m.mtu_bytes = 64u << below(q, 7);
    q->slots = 1 + (uint32_t)below(q, sizes[below(q, 5)]);
    q->base = below(q, 2) == 0 ? 0 : (uint32_t)below(q, q->slots);
    q->f.num_terminals = q->base;
    q->f.num_channels = q->slots - q->base;
    for (uint32_t i = 0; i < q->slots; i++) {
        q->outputs[i].byte = bytes[below(q, 5)];
        q->when[i] = SV_NEVER;
    }
    q->x = (sv__sim){.ctx = ctx,
                     .f = &q->f,
                     .m = &q->m,
                     .outputs = q->outputs + q->base,
                     .header = (uint32_t)below(q, 60),
                     .listens = below(q, 2) == 0,
                     .policy = q->base > 0 ? (struct sv__policy *)q : NULL}; /* is one there? */
    sv_arena_init(&q->x.arena, ctx);
    OK(ctx, sv__events_init(&q->x));
    q->hops = 1 + below(q, 3) * below(q, 100);
}

/* A time from now on. */
static uint64_t draw_time(queue *q)
{
    uint64_t bucket = (uint64_t)1 << q->x.events.shift, round = bucket * q->x.events.buckets;
    uint64_t edge = below(q, 3);
    uint64_t *meeting = &q->meeting[below(q, MEETINGS)];
    switch (below(q, 9)) {
    case 0:
        return q->now;
    case 1:
        return q->now + below(q, 4);
    case 2:
        return q->now + below(q, 2 * bucket);
    case 3: /* a bucket's ends */
        return (q->now / bucket + 1 + below(q, 3)) * bucket - 1 + edge;
    case 4: /* somewhere in this round */
        return q->now + below(q, round);
    case 5: /* where a round ends */
        return (q->now / bucket + q->x.events.buckets) * bucket - 2 + edge + below(q, 2) * bucket;
    case 6:
        return q->now + below(q, q->hops * round);
    default: /* where others are */
        if (*meeting < q->now)
            *meeting = q->now + below(q, 2) * below(q, q->hops * round) + below(q, round);
        return *meeting + below(q, 2) * below(q, 3);
    }
}

static void plan(queue *q, uint32_t slot, uint64_t time)
{
    if (slot < q->base)
        sv__events_arrival(&q->x, slot, time);
    else
        sv__events_plan(&q->x, slot - q->base, time);
    if (time < q->when[slot])
        q->when[slot] = time;
}

/* The first of all that is planned. */
static uint32_t first(const queue *q)
{
    uint32_t slot = SV_NONE;
    for (uint32_t i = 0; i < q->slots; i++)
        if (q->when[i] != SV_NEVER && (slot == SV_NONE || q->when[i] < q->when[slot]))
            slot = i;
    return slot;
}

static void look_ahead(queue *q)
{
    uint32_t slot = first(q);
    uint64_t time = slot != SV_NONE ? q->when[slot] : SV_NEVER, found = sv__events_peek(&q->x);
    if (found != time)
        fail_msg("tick %llu: next is %llu, not %llu", (unsigned long long)q->now,
                 (unsigned long long)found, (unsigned long long)time);
    if (slot != SV_NONE)
        assert_int_equal(sv__events_arrives(&q->x), slot < q->base);
}

/* Whether there was something. */
static bool take(queue *q)
{
    uint32_t slot = first(q), found = sv__events_next(&q->x);
    if (found != slot)
        fail_msg("tick %llu: next is slot %u, not %u at %llu", (unsigned long long)q->now, found,
                 slot, (unsigned long long)(slot != SV_NONE ? q->when[slot] : SV_NEVER));
    if (slot == SV_NONE)
        return false;
    q->now = q->when[slot];
    q->when[slot] = SV_NEVER;
    assert_int_equal(q->x.now, q->now);
    return true;
}

static void same_order(void **state)
{
    (void)state;
    queue *q = malloc(sizeof *q);
    assert_non_null(q);
    for (uint32_t trial = 0; trial < trials; trial++, seed++) {
        queue_init(q);
        uint64_t looks = below(q, 4), busy = 1 + below(q, 6);
        for (uint32_t i = 0; i < q->slots; i++)
            plan(q, i, below(q, 9) == 0 ? SV_NEVER : draw_time(q));
        for (uint32_t step = 0; step < 4 * q->slots + 50; step++) {
            if (below(q, 4) < looks)
                look_ahead(q);
            if (below(q, busy) == 0)
                take(q);
            for (uint64_t n = below(q, 4); n > 0; n--)
                plan(q, (uint32_t)below(q, q->slots), below(q, 20) == 0 ? SV_NEVER : draw_time(q));
        }
        while (take(q))
            ;
        look_ahead(q);
        sv_arena_release(&q->x.arena);
    }
    free(q);
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, trials);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_order)};
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0) /* seed is still that of the trial */
        print_error("oracle_test_events 1 %llu shows it\n", (unsigned long long)seed);
    sv_ctx_free(ctx);
    return failed;
}
