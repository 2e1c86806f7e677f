/*
 * test_mpi_replay.c: replays of random traces, against a second account of what ranks do.
 *
 * The replay is believed only in when the k-th message (question, answer, data) of one rank for
 * another arrived, messages of each collective counted by themselves. From that and the trace
 * everything else is computed again in a slow way, by the rules of docs/traces.md: all ranks run
 * from their beginning with the arrivals that are known, which tells when messages were ready; in
 * that order they get their arrivals; again and again, until nothing changes. Then all messages of
 * all terminals, with their times, the end, the waiting and who is blocked where must be those of
 * the replay.
 *
 * usage: oracle_test_mpi_replay [TRIALS [SEED]]
 */
#include "support/simulating.h"
#include "support/tracing.h"
#include "support/trials.h"

#include "traces/replay.h"

enum {
    MAX_RANKS = 8,
    MAX_SENDS = 3000,
    MAX_POSTS = 3000,
    LEGS = 3,
    MAX_LOG = 40000,
    MAX_GROUPS = 8
};

/* ---- what the simulator says ---- */

/* Whose message it is. */
struct whose {
    uint32_t from, to;
    int leg;             /* 0: all of it, or the question */
    uint64_t collective; /* its group, and which of that it is; 0: of none */
};

struct logged {
    uint32_t from, to, bytes; /* terminals */
    uint64_t ready, time;
    struct whose whose;
};

struct log {
    const sv_sim_source *source;
    struct logged at[MAX_LOG]; /* in the order of arrivals at each terminal */
    uint32_t count;
    struct whose whose[MAX_LOG]; /* by tag */
};

/* Groups of collectives are odd. */
static uint64_t which(uint32_t group, uint32_t tag)
{
    return group % 2 ? (uint64_t)group << 32 | tag : 0;
}

static bool log_next(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct log *log = user;
    const sv_mpi_replay *replay = log->source->user;
    if (!log->source->next(log->source->user, terminal, message))
        return false;
    assert_true(message->tag < MAX_LOG);
    const sv__replay_message *parcel = &replay->parcels.at[message->tag];
    log->whose[message->tag] = (struct whose){parcel->from, parcel->to,
                                              parcel->leg == SV__ANSWER ? 1
                                              : parcel->leg == SV__DATA ? 2
                                                                        : 0,
                                              which(parcel->group, parcel->tag)};
    return true;
}

static void log_back(void *user, uint32_t terminal, const sv_sim_message *message)
{
    struct log *log = user;
    log->source->back(log->source->user, terminal, message);
}

static void log_arrived(void *user, const sv_sim_arrival *a)
{
    struct log *log = user;
    assert_true(log->count < MAX_LOG);
    log->at[log->count++] =
        (struct logged){a->from, a->to, a->bytes, a->ready, a->time, log->whose[a->tag]};
    log->source->arrived(log->source->user, a);
}

/* ---- the second account ---- */

/* The k-th message that a rank sends; legs: all of it or the question; the answer; the data. */
struct send {
    uint32_t from, to, tag, group;
    uint64_t bytes;
    bool asks, taken;
    uint64_t ready[LEGS], arrive[LEGS];
    uint64_t order[LEGS];
};

struct account {
    const sv_mpi_trace *t;
    const uint32_t *terminal; /* of each rank */
    uint64_t eager;
    double compute;
    uint32_t rounds;
    struct send sends[MAX_RANKS][MAX_SENDS];
    uint32_t num_sends[MAX_RANKS]; /* made so far in this run */
    uint64_t orders;
    /* A rank as it runs. */
    uint64_t time[MAX_RANKS], waiting;
    uint64_t request[MAX_RANKS][MAX_POSTS];
    bool done[MAX_RANKS];
    uint64_t at[MAX_RANKS];
    uint32_t turns[MAX_RANKS][MAX_GROUPS]; /* collectives so far */
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A message of a rank that goes at a time; when that can go on. */
static uint64_t hand_over(const struct account *a, struct send *s, uint64_t now)
{
    s->asks = a->eager > 0 && s->bytes > a->eager;
    s->ready[0] = now;
    return s->asks ? s->arrive[1] : now;
}

static struct send *new_send(struct account *a, uint32_t rank)
{
    assert_true(a->num_sends[rank] < MAX_SENDS);
    struct send *s = &a->sends[rank][a->num_sends[rank]++];
    s->from = rank;
    s->order[0] = a->orders++;
    return s;
}

/* A rank hands a message over; when it can go on. */
static uint64_t do_send(struct account *a, uint32_t rank, const sv_mpi_event *e, uint32_t group)
{
    struct send *s = new_send(a, rank);
    s->to = e->peer;
    s->tag = e->tag;
    s->group = group;
    s->bytes = e->amount;
    return hand_over(a, s, a->time[rank]);
}

/* At a time a receive is posted: of what has arrived and nobody has taken, it takes what came
 * first. When it is done. */
static uint64_t take(struct account *a, uint32_t rank, const sv_mpi_event *e, uint32_t group,
                     uint64_t now)
{
    struct send *best = NULL;
    for (uint32_t from = 0; from < a->t->num_ranks; from++)
        for (uint32_t k = 0; k < MAX_SENDS; k++) {
            struct send *s = &a->sends[from][k];
            if (s->arrive[0] == SV_NEVER)
                continue;
            if (s->to != rank || s->taken || s->group != group ||
                (e->peer != SV_MPI_ANY && e->peer != from) ||
                (e->tag != SV_MPI_ANY && e->tag != s->tag))
                continue;
            /* In order between two ranks, whatever arrives at the same time. */
            if (best == NULL || s->arrive[0] < best->arrive[0])
                best = s;
        }
    if (best == NULL)
        return SV_NEVER;
    best->taken = true;
    uint64_t there = later(now, best->arrive[0]);
    if (!best->asks)
        return there;
    best->ready[1] = there;
    best->order[1] = a->orders++;
    if (best->arrive[1] != SV_NEVER) {
        best->ready[2] = best->arrive[1];
        best->order[2] = a->orders++;
    }
    return best->arrive[2];
}

static uint64_t do_receive(struct account *a, uint32_t rank, const sv_mpi_event *e, uint32_t group)
{
    return take(a, rank, e, group, a->time[rank]);
}

/* Goes on at a time, or not. */
static bool go_on(struct account *a, uint32_t rank, uint64_t when)
{
    if (when == SV_NEVER)
        return false;
    if (when > a->time[rank]) {
        a->waiting += when - a->time[rank];
        a->time[rank] = when;
    }
    return true;
}

/* When a collective that begins now is over for a rank that does nothing else: SV_NEVER: not as far
 * as is known, and *reached is as far as it came. All its messages have their places, those too
 * that do not go yet. */
static uint64_t collective_ends(struct account *a, uint32_t rank, const sv_mpi_event *e,
                                uint64_t *reached)
{
    const sv_mpi_group *g = &a->t->groups[e->group];
    sv__coll c = {.call = e->call, .size = g->size, .bytes = e->amount};
    sv__coll_step s;
    uint32_t group = 2u * e->group + 1, turn = a->turns[rank][e->group]++;
    uint64_t now = *reached = a->time[rank];
    for (uint32_t i = 0; i < g->size; i++) {
        c.me = g->ranks[i] == rank ? i : c.me;
        c.root = g->ranks[i] == e->peer ? i : c.root;
    }
    for (uint32_t step = 0; sv__coll_step_at(&c, step, &s); step++) {
        struct send *made = s.to != SV_NONE ? new_send(a, rank) : NULL;
        uint64_t received = 0, sent = 0;
        if (now == SV_NEVER)
            continue;
        if (s.from != SV_NONE)
            received =
                take(a, rank, &(sv_mpi_event){.peer = g->ranks[s.from], .tag = turn}, group, now);
        if (made != NULL) {
            made->to = g->ranks[s.to];
            made->tag = turn;
            made->group = group;
            made->bytes = s.to_bytes;
            sent = hand_over(a, made, now);
        }
        if (sent != SV_NEVER)
            *reached = later(now, received == SV_NEVER ? sent : later(sent, received));
        now = later(now, later(sent, received));
    }
    return now;
}

static uint64_t ticks(const struct account *a, uint64_t ns)
{
    return a->compute == 1 ? ns * 1800 : (uint64_t)((double)ns * 1800 * a->compute + 0.5);
}

/* False: it waits for ever (as far as is known). */
static bool do_event(struct account *a, uint32_t rank, const sv_mpi_event *e)
{
    uint64_t when, reached;
    switch ((sv_mpi_kind)e->kind) {
    case SV_MPI_COMPUTE:
        a->time[rank] += ticks(a, e->amount);
        return true;
    case SV_MPI_SEND:
        return go_on(a, rank, do_send(a, rank, e, 2u * e->group));
    case SV_MPI_RECV:
        return go_on(a, rank, do_receive(a, rank, e, 2u * e->group));
    case SV_MPI_ISEND:
        a->request[rank][e->request] = do_send(a, rank, e, 2u * e->group);
        return true;
    case SV_MPI_IRECV:
        a->request[rank][e->request] = do_receive(a, rank, e, 2u * e->group);
        return true;
    case SV_MPI_WAIT:
        return go_on(a, rank, a->request[rank][e->request]);
    case SV_MPI_COLLECTIVE:
        when = collective_ends(a, rank, e, &reached);
        go_on(a, rank, reached);
        return go_on(a, rank, when);
    case SV_MPI_ICOLLECTIVE:
        a->request[rank][e->request] = collective_ends(a, rank, e, &reached);
        return true;
    case SV_MPI_KINDS:
        break;
    }
    fail();
    return false;
}

static void run_rank(struct account *a, uint32_t rank)
{
    const sv_mpi_rank *of = &a->t->ranks[rank];
    a->done[rank] = true;
    for (uint32_t round = 0; round < a->rounds; round++)
        for (uint64_t i = 0; i < of->length; i++) {
            a->at[rank] = i;
            if (!do_event(a, rank, &of->events[i])) {
                a->done[rank] = false;
                return;
            }
        }
}

static void run_all(struct account *a)
{
    a->waiting = a->orders = 0;
    memset(a->turns, 0, sizeof a->turns);
    for (uint32_t rank = 0; rank < a->t->num_ranks; rank++) {
        a->time[rank] = 0;
        a->num_sends[rank] = 0;
        for (uint32_t k = 0; k < MAX_SENDS; k++) {
            struct send *s = &a->sends[rank][k];
            s->taken = false;
            s->ready[0] = s->ready[1] = s->ready[2] = SV_NEVER;
        }
    }
    for (uint32_t rank = 0; rank < a->t->num_ranks; rank++)
        run_rank(a, rank);
}

/* ---- from ready to arrival ---- */

/* One leg of a message between two terminals. */
struct leg {
    struct send *s;
    int leg;
    bool given;
};

static int by_ready(const void *x, const void *y)
{
    const struct leg *a = x, *b = y;
    uint64_t p = a->s->ready[a->leg], q = b->s->ready[b->leg];
    if (p != q)
        return p < q ? -1 : 1;
    p = a->s->order[a->leg];
    q = b->s->order[b->leg];
    return p < q ? -1 : p > q;
}

static struct leg legs[MAX_RANKS * MAX_SENDS];

static bool on_wire(const struct account *a, const struct send *s)
{
    return a->terminal[s->from] != a->terminal[s->to];
}

/* All legs of one kind of one rank for another that are ready some time, in order. */
static uint32_t list_legs(struct account *a, uint32_t from, uint32_t to, int leg)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < a->num_sends[from]; k++) {
        struct send *s = &a->sends[from][k];
        if (s->ready[leg] != SV_NEVER && s->to == to && on_wire(a, s))
            legs[count++] = (struct leg){s, leg, false};
    }
    qsort(legs, count, sizeof *legs, by_ready);
    return count;
}

static bool set(uint64_t *where, uint64_t time)
{
    bool changes = *where != time;
    *where = time;
    return changes;
}

/* Gives the legs of one kind between two ranks their arrivals. */
static bool assign_legs(struct account *a, const struct log *log, uint32_t from, uint32_t to,
                        int leg)
{
    uint32_t count = list_legs(a, from, to, leg);
    bool changed = false;
    for (uint32_t i = 0; i < log->count; i++) {
        const struct whose *whose = &log->at[i].whose;
        if (whose->from != from || whose->to != to || whose->leg != leg)
            continue;
        uint32_t n = 0;
        while (n < count &&
               (legs[n].given || which(legs[n].s->group, legs[n].s->tag) != whose->collective))
            n++;
        if (n == count)
            continue;
        legs[n].given = true;
        changed |= set(&legs[n].s->arrive[leg], log->at[i].time);
    }
    for (uint32_t n = 0; n < count; n++)
        if (!legs[n].given)
            changed |= set(&legs[n].s->arrive[leg], SV_NEVER);
    return changed;
}

/* All of them; whether some was another before. */
static bool assign(struct account *a, const struct log *log)
{
    bool changed = false;
    for (uint32_t rank = 0; rank < a->t->num_ranks; rank++)
        for (uint32_t k = 0; k < MAX_SENDS; k++)
            for (int leg = 0; leg < LEGS; leg++) {
                struct send *s = &a->sends[rank][k];
                bool made = k < a->num_sends[rank];
                if (!made || s->ready[leg] == SV_NEVER || !on_wire(a, s))
                    changed |= set(&s->arrive[leg], s->ready[leg]);
            }
    for (uint32_t from = 0; from < a->t->num_ranks; from++)
        for (uint32_t to = 0; to < a->t->num_ranks; to++)
            for (int leg = 0; leg < LEGS; leg++)
                changed |= assign_legs(a, log, from, to, leg);
    return changed;
}

static int by_logged(const void *x, const void *y)
{
    const struct logged *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->ready != b->ready)
        return a->ready < b->ready ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* What the account says was sent is what was. */
static void compare_messages(struct account *a, struct log *log)
{
    static struct logged mine[MAX_LOG];
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < a->t->num_ranks; rank++)
        for (uint32_t k = 0; k < a->num_sends[rank]; k++)
            for (int leg = 0; leg < LEGS; leg++) {
                const struct send *s = &a->sends[rank][k];
                if (!on_wire(a, s) || s->ready[leg] == SV_NEVER)
                    continue;
                bool loaded = leg == 2 || (leg == 0 && !s->asks);
                mine[count++] = (struct logged){.from = a->terminal[leg == 1 ? s->to : s->from],
                                                .to = a->terminal[leg == 1 ? s->from : s->to],
                                                .bytes = loaded ? (uint32_t)s->bytes : 0,
                                                .ready = s->ready[leg]};
            }
    assert_int_equal(count, log->count);
    qsort(mine, count, sizeof *mine, by_logged);
    qsort(log->at, count, sizeof *log->at, by_logged);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(mine[i].from, log->at[i].from);
        assert_int_equal(mine[i].ready, log->at[i].ready);
        assert_int_equal(mine[i].to, log->at[i].to);
        assert_int_equal(mine[i].bytes, log->at[i].bytes);
    }
}

static void compare_end(const struct account *a, const sv_mpi_replay_result *end)
{
    uint64_t last = 0;
    uint32_t blocked = SV_NONE;
    for (uint32_t rank = a->t->num_ranks; rank-- > 0;) {
        if (a->done[rank])
            last = later(last, a->time[rank]);
        else
            blocked = rank;
    }
    assert_int_equal(end->status, SV_OK);
    assert_int_equal(end->done, blocked == SV_NONE);
    assert_int_equal(end->blocked, blocked);
    if (blocked != SV_NONE)
        assert_int_equal(end->blocked_at, a->at[blocked]);
    assert_int_equal(end->time, last);
    assert_int_equal(end->waiting, a->waiting);
}

/* ---- trials ---- */

struct trial {
    sim_case c;
    sv_mpi_trace *t;
    sv_mpi_replay_request request;
    sv_node map[MAX_RANKS];
    uint32_t terminal[MAX_RANKS];
};

static struct trial draw(sv_ctx *ctx, uint64_t seed)
{
    static const char *const fabrics[] = {"mesh:2x2,hosts=2", "torus:3,hosts=3", "mesh:1x4,hosts=2",
                                          "mesh:1x1,hosts=8"};
    struct trial x = {0};
    sv_rng rng;
    sv_rng_init(&rng, seed);
    x.c = sim_begin(ctx, test_fabric(ctx, fabrics[sv_rng_below(&rng, 4)]));
    x.c.model.input = 40 + (uint32_t)sv_rng_below(&rng, 200);
    x.c.model.drain = 1 + sv_rng_below(&rng, 600);
    x.c.model.open = 1 + (uint32_t)sv_rng_below(&rng, 5);
    uint32_t ranks = 1 + (uint32_t)sv_rng_below(&rng, MAX_RANKS);
    bool shared = sv_rng_below(&rng, 2);
    x.t = trace_random(ctx, seed,
                       (trace_wish){.ranks = ranks,
                                    .groups = (uint32_t)sv_rng_below(&rng, 4),
                                    .acts = 5 + (uint32_t)sv_rng_below(&rng, 120),
                                    .bytes = sv_rng_below(&rng, 2) ? 6000 : 300,
                                    .any = !shared && sv_rng_below(&rng, 2),
                                    .collectives = sv_rng_below(&rng, 2),
                                    .computes = sv_rng_below(&rng, 4) > 0,
                                    .begins = seed % 2 == 0});
    x.request = (sv_mpi_replay_request){.model = &x.c.model,
                                        .map = x.map,
                                        .num_map = ranks,
                                        .eager_bytes = sv_rng_below(&rng, 2) ? 200 : 0,
                                        .compute = sv_rng_below(&rng, 2) ? 0.370123 : 0,
                                        .repeat = (uint32_t)sv_rng_below(&rng, 3)};
    uint32_t places[64];
    for (uint32_t i = 0; i < x.c.f->num_terminals; i++)
        places[i] = i;
    sv_rng_shuffle(&rng, places, x.c.f->num_terminals);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        x.terminal[rank] = places[shared ? sv_rng_below(&rng, 3) : rank];
        x.map[rank] = (sv_node){x.c.f->num_switches + x.terminal[rank]};
    }
    /* Ranks of one terminal do not begin together: who is first would be anybody's guess. */
    for (uint32_t rank = 0; shared && rank < ranks; rank++) {
        sv_mpi_event begin = {.kind = SV_MPI_COMPUTE, .amount = 1 + sv_rng_below(&rng, 1000000)};
        OK(ctx, sv_mpi_add(x.t, rank, &begin));
        sv_mpi_rank *of = &x.t->ranks[rank];
        memmove(of->events + 1, of->events, (of->length - 1) * sizeof *of->events);
        of->events[0] = begin;
    }
    return x;
}

static void check(struct trial *x, struct log *log, const sv_mpi_replay_result *end)
{
    static struct account a;
    memset(&a, 0, sizeof a);
    a.t = x->t;
    a.terminal = x->terminal;
    a.eager = x->request.eager_bytes;
    a.compute = x->request.compute == 0 ? 1 : x->request.compute;
    a.rounds = x->request.repeat == 0 ? 1 : x->request.repeat;
    for (uint32_t rank = 0; rank < MAX_RANKS; rank++)
        for (uint32_t k = 0; k < MAX_SENDS; k++)
            for (int leg = 0; leg < LEGS; leg++)
                a.sends[rank][k].arrive[leg] = SV_NEVER;
    for (uint32_t round = 0;; round++) {
        assert_true(round < 100000);
        run_all(&a);
        if (!assign(&a, log))
            break;
    }
    compare_messages(&a, log);
    compare_end(&a, end);
}

static uint64_t first_seed = 1, trials = 150, present, blocked;

static void trial(sv_ctx *ctx, uint64_t seed)
{
    static struct log log;
    struct trial x = draw(ctx, seed);
    x.request.model = &x.c.model;
    x.request.map = x.map;
    sv_mpi_replay *replay = NULL;
    sv_sim_result *result = NULL;
    OK(ctx, sv_mpi_check(ctx, x.t));
    OK(ctx, sv_mpi_replay_new(ctx, x.c.f, x.c.r, x.t, &x.request, &replay));
    log.source = sv_mpi_replay_source(replay);
    log.count = 0;
    const sv_sim_source source = {
        .user = &log, .next = log_next, .arrived = log_arrived, .back = log_back};
    const sv_sim_setup setup = {x.c.model, x.c.control, &source};
    OK(ctx, sv_simulate(ctx, x.c.f, x.c.r, &setup, &result));
    assert_int_equal(result->end, SV_SIM_COMPLETED);
    sv_mpi_replay_result end = sv_mpi_replay_end(replay);
    blocked += !end.done;
    check(&x, &log, &end);
    sv_sim_free(result);
    sv_mpi_replay_free(replay);
    sv_mpi_free(x.t);
    sim_finish(&x.c);
}

static void replays_are_what_the_rules_say(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    for (present = first_seed; present < first_seed + trials; present++)
        trial(ctx, present);
    print_message("%llu trials, %llu of them blocked\n", (unsigned long long)trials,
                  (unsigned long long)blocked);
    sv_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, (uint32_t)trials);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(replays_are_what_the_rules_say)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed)
        fprintf(stderr, "both disagree: oracle_test_mpi_replay 1 %llu\n",
                (unsigned long long)present);
    return failed;
}
