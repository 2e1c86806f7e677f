/*
 * test_mpi_speed.c: what faster links do to a program (docs/traces.md): where no message ever
 * stands in the way of another, nobody ends later, and nobody waits longer.
 *
 * Two kinds of random programs are such: those with one message under way at a time, on any fabric
 * (also with rendezvous: question, answer and data follow each other); and pairs of ranks that talk
 * with each other alone, on one switch, as much as they like in both directions (without
 * rendezvous: what an adapter sends is then in the order of the program). Each is replayed with two
 * speeds of all links and all else the same.
 *
 * Where messages meet, an output port may take them in another order with faster links, and the
 * program may end later: how many of some random programs do is told, for comparison.
 *
 * usage: oracle_test_mpi_speed [TRIALS [SEED]]
 */
#include "support/simulating.h"
#include "support/tracing.h"
#include "support/trials.h"

enum { MAX_RANKS = 8, MAX_PAIRS = 4 };

static const char *const speeds[] = {"SDR", "DDR", "QDR", "FDR", "EDR", "HDR", "NDR"};

/* How a program is replayed, but for the speed. */
struct bed {
    const char *fabric; /* with a place for the speed */
    sv_mpi_replay_request request;
    uint32_t input, open;
    uint64_t drain;
};

static sv_mpi_replay_result replayed(sv_ctx *ctx, const sv_mpi_trace *t, const struct bed *bed,
                                     const char *speed)
{
    char spec[100];
    sv_mpi_replay *replay = NULL;
    snprintf(spec, sizeof spec, "%s,speed=%s", bed->fabric, speed);
    sim_case c = sim_begin(ctx, test_fabric(ctx, spec));
    c.model.input = bed->input;
    c.model.drain = bed->drain;
    c.model.open = bed->open;
    sv_mpi_replay_request request = bed->request;
    request.model = &c.model;
    OK(ctx, sv_mpi_replay_new(ctx, c.f, c.r, t, &request, &replay));
    const sv_sim_setup setup = {c.model, c.control, sv_mpi_replay_source(replay)};
    OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    sv_mpi_replay_result end = sv_mpi_replay_end(replay);
    assert_true(end.done);
    sv_mpi_replay_free(replay);
    sim_finish(&c);
    return end;
}

/* ---- one message at a time ---- */

static void put(sv_ctx *ctx, sv_mpi_trace *t, uint32_t rank, sv_mpi_event e)
{
    OK(ctx, sv_mpi_add(t, rank, &e));
}

static void compute(sv_ctx *ctx, sv_mpi_trace *t, sv_rng *rng, uint32_t rank)
{
    if (sv_rng_below(rng, 2))
        put(ctx, t, rank,
            (sv_mpi_event){.kind = SV_MPI_COMPUTE, .amount = sv_rng_below(rng, 3000)});
}

/* Who has received the last message sends the next, whatever else ranks do. */
static sv_mpi_trace *draw_chain(sv_ctx *ctx, sv_rng *rng)
{
    sv_mpi_trace *t = NULL;
    uint32_t ranks = 2 + (uint32_t)sv_rng_below(rng, MAX_RANKS - 1), from = 0;
    OK(ctx, sv_mpi_new(ctx, "chain", ranks, &t));
    for (uint64_t hops = 1 + sv_rng_below(rng, 40); hops > 0 || from != 0; hops -= hops > 0) {
        uint32_t to = (from + 1 + (uint32_t)sv_rng_below(rng, ranks - 1)) % ranks;
        to = hops == 0 ? 0 : to; /* who begins again is the last */
        uint32_t max = sv_rng_below(rng, 2) ? 20000 : 300;
        bool posts = sv_rng_below(rng, 2), begins = sv_rng_below(rng, 2);
        sv_mpi_event send = {.kind = begins ? SV_MPI_ISEND : SV_MPI_SEND,
                             .peer = to,
                             .amount = sv_rng_below(rng, max)};
        sv_mpi_event receive = {.kind = posts ? SV_MPI_IRECV : SV_MPI_RECV, .peer = from};
        compute(ctx, t, rng, from);
        put(ctx, t, from, send);
        compute(ctx, t, rng, from);
        if (begins)
            put(ctx, t, from, (sv_mpi_event){.kind = SV_MPI_WAIT});
        compute(ctx, t, rng, to);
        put(ctx, t, to, receive);
        compute(ctx, t, rng, to);
        if (posts)
            put(ctx, t, to, (sv_mpi_event){.kind = SV_MPI_WAIT});
        from = to;
    }
    return t;
}

/* ---- pairs ---- */

/* Adds the two ranks of a trace to a larger one, from a rank on. */
static void add_pair(sv_ctx *ctx, sv_mpi_trace *t, const sv_mpi_trace *pair, uint32_t first)
{
    uint16_t groups[8];
    for (uint32_t g = 0; g < pair->num_groups; g++) {
        uint32_t ranks[2];
        for (uint32_t i = 0; i < pair->groups[g].size; i++)
            ranks[i] = pair->groups[g].ranks[i] + first;
        OK(ctx,
           sv_mpi_add_group(t, ranks, pair->groups[g].size, pair->groups[g].ordinal, &groups[g]));
    }
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < pair->ranks[rank].length; i++) {
            sv_mpi_event e = pair->ranks[rank].events[i];
            e.peer += first;
            e.group = e.kind == SV_MPI_COMPUTE || e.kind == SV_MPI_WAIT ? 0 : groups[e.group];
            put(ctx, t, first + rank, e);
        }
}

static sv_mpi_trace *draw_pairs(sv_ctx *ctx, sv_rng *rng)
{
    sv_mpi_trace *t = NULL;
    uint32_t pairs = 1 + (uint32_t)sv_rng_below(rng, MAX_PAIRS);
    OK(ctx, sv_mpi_new(ctx, "pairs", 2 * pairs, &t));
    for (uint32_t i = 0; i < pairs; i++) {
        sv_mpi_trace *pair = trace_random(ctx, sv_rng_next(rng),
                                          (trace_wish){.ranks = 2,
                                                       .groups = (uint32_t)sv_rng_below(rng, 3),
                                                       .acts = 5 + (uint32_t)sv_rng_below(rng, 80),
                                                       .bytes = sv_rng_below(rng, 2) ? 20000 : 300,
                                                       .collectives = sv_rng_below(rng, 2),
                                                       .computes = true});
        add_pair(ctx, t, pair, 2 * i);
        sv_mpi_free(pair);
    }
    return t;
}

/* ---- trials ---- */

static uint64_t first_seed = 1, trials = 150, present;

static struct bed draw_bed(sv_rng *rng)
{
    static const char *const fabrics[] = {"mesh:1x1,hosts=8", "mesh:2x2,hosts=2",
                                          "mesh:1x4,hosts=2", "torus:3,hosts=3"};
    return (struct bed){.fabric = fabrics[sv_rng_below(rng, 4)],
                        .request = {.compute = sv_rng_below(rng, 2) ? 0.370123 : 0,
                                    .eager_bytes = sv_rng_below(rng, 2) ? 200 : 0,
                                    .repeat = 1 + (uint32_t)sv_rng_below(rng, 2)},
                        .input = 40 + (uint32_t)sv_rng_below(rng, 200),
                        .open = 1 + (uint32_t)sv_rng_below(rng, 5),
                        .drain = 1 + sv_rng_below(rng, 600)};
}

static void never_later(sv_ctx *ctx, sv_mpi_trace *t, const struct bed *bed, sv_rng *rng)
{
    uint64_t slow = sv_rng_below(rng, 6), fast = slow + 1 + sv_rng_below(rng, 6 - slow);
    OK(ctx, sv_mpi_check(ctx, t));
    sv_mpi_replay_result x = replayed(ctx, t, bed, speeds[slow]);
    sv_mpi_replay_result y = replayed(ctx, t, bed, speeds[fast]);
    if (y.time > x.time || y.waiting > x.waiting)
        fail_msg("seed %llu: %s ends at %llu, %s at %llu; waiting %llu, %llu",
                 (unsigned long long)present, speeds[slow], (unsigned long long)x.time,
                 speeds[fast], (unsigned long long)y.time, (unsigned long long)x.waiting,
                 (unsigned long long)y.waiting);
    sv_mpi_free(t);
}

/* alone: pairs on one switch, none of which has to ask before it sends. */
static void try_all(bool alone)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    for (present = first_seed; present < first_seed + trials; present++) {
        sv_rng rng;
        sv_rng_init(&rng, present);
        struct bed bed = draw_bed(&rng);
        if (alone) {
            bed.fabric = "mesh:1x1,hosts=8";
            bed.request.eager_bytes = 0;
        }
        never_later(ctx, alone ? draw_pairs(ctx, &rng) : draw_chain(ctx, &rng), &bed, &rng);
    }
    sv_ctx_free(ctx);
}

static void one_message_at_a_time(void **state)
{
    (void)state;
    try_all(false);
}

static void pairs_of_their_own(void **state)
{
    (void)state;
    try_all(true);
}

static void others_may_be_later(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    uint64_t later = 0;
    for (present = first_seed; present < first_seed + trials; present++) {
        sv_rng rng;
        sv_rng_init(&rng, present);
        struct bed bed = draw_bed(&rng);
        sv_mpi_trace *t = trace_random(ctx, present,
                                       (trace_wish){.ranks = 6,
                                                    .acts = 40,
                                                    .bytes = 6000,
                                                    .collectives = true,
                                                    .computes = true,
                                                    .begins = true});
        later += replayed(ctx, t, &bed, "FDR10").time > replayed(ctx, t, &bed, "QDR").time;
        sv_mpi_free(t);
    }
    print_message(
        "of %llu programs whose messages meet, %llu end later with links faster by a quarter\n",
        (unsigned long long)trials, (unsigned long long)later);
    assert_true(later <= 2 + trials / 20); /* rare: more would be time that gets lost */
    sv_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, (uint32_t)trials);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_message_at_a_time),
                                       cmocka_unit_test(pairs_of_their_own),
                                       cmocka_unit_test(others_may_be_later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
