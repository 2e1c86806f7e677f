/*
 * test_adapt_seed.c: stores that are worked out from traces (sv_adapt_seed), against those that
 * seed_oracle.c works out.
 *
 *     oracle_test_adapt_seed [TRIALS [SEED]]
 *
 * Random fabrics with failures and tables of several engines, random programs with loops (who sends
 * to everybody, who hears from everybody, permutations, collectives, ranks that share a terminal),
 * random numbers of paths and flows. Every line must be the same, in the same order.
 */
#include "seed_oracle.h"
#include "support/trials.h"

static sv_ctx *ctx;
static uint32_t trials = 300;
static uint64_t seed = 1;

static uint32_t below(seed_trial *x, uint32_t bound)
{
    return (uint32_t)sv_rng_below(&x->rng, bound);
}

/* ---- files ---- */

/* The same words, and numbers that are the same but for their last digit. */
static bool same_line(const char *a, const char *b)
{
    for (;;) {
        size_t i = strcspn(a, " \n"), k = strcspn(b, " \n");
        if (i != k || strncmp(a, b, i) != 0) {
            char *a_end, *b_end;
            double x = strtod(a, &a_end), y = strtod(b, &b_end);
            if (a_end != a + i || b_end != b + k || x - y > 2e-6 || y - x > 2e-6)
                return false;
        }
        a += i;
        b += k;
        if (*a != ' ' || *b != ' ')
            return (*a == 0 || *a == '\n') && (*b == 0 || *b == '\n');
        a++;
        b++;
    }
}

static void compare(const seed_trial *x, const char *text)
{
    char line[SEED_LINE];
    uint32_t last = SV_NONE;
    assert_true(text[0] == '#');
    text = strchr(text, '\n') + 1;
    for (uint32_t i = 0; i < x->num_kept; i++) { /* pairs in the order of their first */
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || (x->kept[k].from == x->kept[i].from && x->kept[k].to == x->kept[i].to);
        for (uint32_t k = i; !again && k < x->num_kept; k++) {
            if (x->kept[k].from != x->kept[i].from || x->kept[k].to != x->kept[i].to)
                continue;
            seed_oracle_line(x, &x->kept[k], line);
            if (!same_line(line, text))
                fail_msg("%s by %s, %u paths, %u flows, solution %u:\n%.*s\nnot\n%s", x->c.spec,
                         x->c.engine, x->paths, x->flows, k, (int)strcspn(text, "\n"), text, line);
            text += strcspn(text, "\n");
            text += *text == '\n';
            last = k;
        }
    }
    if (*text != 0)
        fail_msg("%s by %s: more than %u solutions (the last is %u):\n%s", x->c.spec, x->c.engine,
                 x->num_kept, last, text);
}

/* ---- random programs ---- */

static void event(seed_trial *x, uint32_t rank, sv_mpi_event e)
{
    OK(ctx, sv_mpi_add(x->t, rank, &e));
}

static uint64_t draw_bytes(seed_trial *x)
{
    static const uint32_t sizes[] = {0, 1, 8, 1000, 1024, 4096, 4097, 100000};
    return below(x, 3) == 0 ? below(x, 5000) : sizes[below(x, 8)];
}

static void add_message(seed_trial *x, uint32_t from, uint32_t to, uint64_t bytes, bool arrives)
{
    sv_mpi_event e = {.amount = bytes, .peer = arrives ? from : to};
    e.kind = arrives ? SV_MPI_RECV : SV_MPI_SEND;
    e.call = arrives ? SV_CALL_RECV : SV_CALL_SEND;
    if (from != to)
        event(x, arrives ? to : from, e);
}

static void add_collective(seed_trial *x)
{
    static const uint8_t calls[] = {SV_CALL_ALLTOALL, SV_CALL_ALLREDUCE, SV_CALL_BCAST,
                                    SV_CALL_BARRIER,  SV_CALL_GATHER,    SV_CALL_ALLGATHER};
    sv_mpi_event e = {.kind = SV_MPI_COLLECTIVE, .call = calls[below(x, 6)]};
    e.amount = e.call == SV_CALL_BARRIER ? 0 : draw_bytes(x);
    e.peer = e.call == SV_CALL_BCAST || e.call == SV_CALL_GATHER ? below(x, x->t->num_ranks) : 0;
    for (uint32_t r = 0; r < x->t->num_ranks; r++)
        event(x, r, e);
}

/* Who sends to whom; then all wait for it. */
static void add_round(seed_trial *x, bool permutes)
{
    uint32_t n = x->t->num_ranks, to[MAX_RANKS], one = below(x, n);
    uint32_t kind = permutes ? 5 : below(x, 6);
    uint32_t part = 1 + below(x, n);
    uint64_t bytes = draw_bytes(x), sizes[MAX_RANKS];
    if (kind == 0) {
        add_collective(x);
        return;
    }
    for (uint32_t r = 0; r < n; r++) {
        to[r] = kind == 1 ? below(x, n) : kind == 4 ? (r + part) % n : r;
        sizes[r] = below(x, 4) == 0 ? draw_bytes(x) : bytes;
    }
    if (kind == 5)
        sv_rng_shuffle(&x->rng, to, n);
    for (int arrives = 0; arrives < 2; arrives++)
        for (uint32_t r = 0; r < n; r++)
            if (kind == 2) /* one to all; all to one; others */
                add_message(x, one, r, sizes[r], arrives);
            else if (kind == 3)
                add_message(x, r, one, sizes[r], arrives);
            else if (r < part || kind == 5)
                add_message(x, r, to[r], sizes[r], arrives);
}

/* Loops: the rounds of each are the same every time. */
static void draw_program(seed_trial *x)
{
    uint32_t loops = 1 + below(x, 3);
    for (uint32_t loop = 0; loop < loops; loop++) {
        bool is_long = x->t->num_ranks < 9 && below(x, 5) == 0; /* phases of many steps */
        uint32_t rounds = is_long ? 70 : 1 + below(x, 4), times = 1 + below(x, 4);
        sv_rng begin = x->rng;
        for (uint32_t time = 0; time < times; time++) {
            x->rng = begin;
            for (uint32_t i = 0; i < rounds; i++)
                add_round(x, is_long);
            event(x, 0, (sv_mpi_event){.kind = SV_MPI_COMPUTE, .amount = 1000});
        }
    }
    OK(ctx, sv_mpi_check(ctx, x->t));
}

/* Takes an entry out, or turns it to another port. */
static void spoil(seed_trial *x)
{
    uint32_t d = below(x, x->c.r->num_destinations), s = below(x, x->c.f->num_switches);
    if (x->c.r->node[d].i != s)
        sv_routes_row(ctx, x->c.r, d)[s] =
            below(x, 2) == 0 ? SV_NO_PORT : (uint8_t)(1 + below(x, x->c.f->switches[s].ports));
}

static void draw_trial(seed_trial *x)
{
    sv_node joined[256];
    unsigned vls;
    sv_rng_init(&x->rng, seed);
    x->c = adapt_draw(ctx, &x->rng, true);
    if (below(x, 4) == 0)
        spoil(x);
    assert_true(x->c.f->num_channels <= MAX_CHANNELS && x->c.f->num_terminals <= 256);
    uint32_t there = adapt_ranks(&x->c, joined), max = there + below(x, 1 + there);
    uint32_t ranks = 1 + below(x, max < MAX_RANKS ? max : MAX_RANKS);
    for (uint32_t i = 0; i < there; i++) { /* in random order */
        uint32_t k = i + below(x, there - i);
        sv_node other = joined[k];
        joined[k] = joined[i];
        joined[i] = other;
    }
    for (uint32_t r = 0; r < ranks; r++)
        x->map[r] = r < there ? joined[r] : joined[below(x, there)];
    if (below(x, 2) == 0) /* perhaps one that is not joined */
        x->map[below(x, ranks)].i = x->c.f->num_switches + below(x, x->c.f->num_terminals);
    OK(ctx, sv_profile_model(ctx, below(x, 2) == 0 ? "drb" : "qdr", &x->model));
    x->paths = below(x, 3) == 0 ? 1 + below(x, 12) : 4;
    x->flows = below(x, 2) == 0 ? 1 + below(x, 64) / (1 + below(x, 9)) : 8;
    sv_adapt_request request = {.spec = "pr-drb",
                                .model = &x->model,
                                .seed = seed,
                                .max_vls = SV_MAX_VLS,
                                .unproven = true};
    OK(ctx, sv_adapt_new(ctx, x->c.f, x->c.r, &request, &x->a, &vls));
    OK(ctx, sv_mpi_new(ctx, "random", ranks, &x->t));
    draw_program(x);
}

static void same_stores(void **state)
{
    (void)state;
    seed_trial *x = calloc(1, sizeof *x);
    assert_non_null(x);
    x->ctx = ctx;
    x->flow = malloc(MAX_FLOWS * sizeof *x->flow);
    x->kept = malloc(MAX_KEPT * sizeof *x->kept);
    assert_true(x->flow != NULL && x->kept != NULL);
    for (uint32_t i = 0; i < trials; i++, seed++) {
        draw_trial(x);
        test_buffer buffer;
        sv_sink sink = test_sink(&buffer);
        sv_adapt_seed_request request = {.model = &x->model,
                                         .map = x->map,
                                         .paths = x->paths != 4 || i % 2 == 0 ? x->paths : 0,
                                         .flows = x->flows != 8 || i % 2 == 0 ? x->flows : 0,
                                         .seed = seed};
        bool joined = seed_oracle(x);
        sv_status status = sv_adapt_seed(ctx, x->c.f, x->c.r, x->t, &request, &sink);
        assert_int_equal(status, joined ? SV_OK : SV_BAD_INPUT);
        if (joined)
            compare(x, buffer.text);
        x->met.refused += !joined;
        free(buffer.text);
        sv_mpi_free(x->t);
        sv_adapt_free(x->a);
        adapt_free(&x->c);
    }
    const seed_met met = x->met;
    free(x->flow);
    free(x->kept);
    free(x);
    if (trials >= 100) { /* what trials are to meet has been met */
        assert_true(met.spread > trials && met.still > trials && met.moved > 0);
        assert_true(met.cut > 0 && met.one_source > 0 && met.outside > 0 && met.alike > 0);
        assert_true(met.merged > 0 && met.late > 0 && met.refused > 0);
    }
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, trials);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_stores)};
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0) /* seed is still that of the trial */
        print_error("oracle_test_adapt_seed 1 %llu shows it\n", (unsigned long long)seed);
    sv_ctx_free(ctx);
    return failed;
}
