/*
 * test_traffic_waits.c: patterns whose messages wait for others, on a network that delays each
 * message at random (in order between two terminals) and asks terminals at once or at any later
 * time.
 *
 * What a pattern says is checked against the algorithm it is named after, written down again here
 * with real data: what a message carries is what its sender holds of its round, every rank must
 * end up with every contribution once, and each message must be ready exactly when the last
 * thing it depends on has arrived, however late the network asks.
 */
#include "unit/traffic_bed.h"

#include "base/file.h"
#include "base/rng.h"

TEST_CONTEXT

enum { MAX_RANKS = 17, MAX_ROUNDS = 4, BYTES = 1000 };

/* ---- the network ---- */

struct flight {
    uint64_t time;
    uint32_t from, to, number; /* of the message from one to the other */
    sv_sim_message message;
};

struct net {
    const struct bed *bed;
    uint32_t size;
    sv_rng rng;
    bool lazy;
    uint64_t now;
    struct flight flights[4096];
    uint32_t num_flights;
    uint32_t sent[MAX_RANKS], pair[MAX_RANKS][MAX_RANKS]; /* messages so far */
    uint32_t landed[MAX_RANKS][MAX_RANKS];
    uint64_t last[MAX_RANKS][MAX_RANKS]; /* arrival between two */
    uint64_t ready[MAX_RANKS];           /* of the last message */
    /* Arrivals of messages between two; SV_NEVER: not yet. */
    uint64_t arrived[MAX_RANKS][MAX_RANKS][512];
};

/* Told of each message as it is sent, and as it arrives; number counts those between the two. */
struct algorithm {
    void *user;
    void (*sent)(void *user, const struct net *net, const struct flight *flight, uint32_t nth);
    void (*arrived)(void *user, const struct net *net, const struct flight *flight);
};

static void send_all(struct net *net, uint32_t from, const struct algorithm *algorithm)
{
    struct flight flight = {.from = from};
    while (next(net->bed, from, &flight.message)) {
        uint32_t to = flight.to = terminal_of(net->bed, flight.message.destination);
        assert_true(flight.message.ready >= net->ready[from]);
        assert_true(flight.message.ready <= net->now);
        net->ready[from] = flight.message.ready;
        flight.number = net->pair[from][to]++;
        flight.time = net->now + 1 + sv_rng_below(&net->rng, 1000);
        if (sv_rng_below(&net->rng, 10) == 0) /* some are very late */
            flight.time += 20000;
        if (flight.time <= net->last[from][to])
            flight.time = net->last[from][to] + 1;
        net->last[from][to] = flight.time;
        algorithm->sent(algorithm->user, net, &flight, net->sent[from]++);
        assert_true(net->num_flights < 4096);
        net->flights[net->num_flights++] = flight;
        if (net->lazy && sv_rng_below(&net->rng, 2) == 0)
            return;
    }
}

static void land(struct net *net, const struct algorithm *algorithm)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < net->num_flights; i++)
        if (net->flights[i].time < net->flights[first].time)
            first = i;
    struct flight flight = net->flights[first];
    net->flights[first] = net->flights[--net->num_flights];
    net->now = flight.time;
    assert_int_equal(flight.number, net->landed[flight.from][flight.to]++);
    net->arrived[flight.from][flight.to][flight.number] = flight.time;
    algorithm->arrived(algorithm->user, net, &flight);
    sv_sim_arrival arrival = {.ready = flight.message.ready,
                              .time = flight.time,
                              .from = flight.from,
                              .to = flight.to,
                              .bytes = flight.message.bytes,
                              .tag = flight.message.tag};
    net->bed->source->arrived(net->bed->source->user, &arrival);
    if (!net->lazy)
        send_all(net, flight.to, algorithm);
    else if (sv_rng_below(&net->rng, 3) == 0)
        send_all(net, (uint32_t)sv_rng_below(&net->rng, net->size), algorithm);
}

/* Runs until nothing is under way and nobody has anything to say. */
static void run(struct net *net, const struct bed *bed, uint32_t size, uint64_t seed, bool lazy,
                const struct algorithm *algorithm)
{
    memset(net, 0, sizeof *net);
    memset(net->arrived, 0xff, sizeof net->arrived);
    net->bed = bed;
    net->size = size;
    net->lazy = lazy;
    sv_rng_init(&net->rng, seed);
    uint64_t total = 0;
    do {
        while (net->num_flights > 0)
            land(net, algorithm);
        for (uint32_t i = 0; i < size; i++)
            send_all(net, i, algorithm);
    } while (net->num_flights > 0);
    for (uint32_t i = 0; i < size; i++)
        total += net->sent[i];
    if (bed->source->messages != 0)
        assert_int_equal(total, bed->source->messages);
}

static struct net the_net;

static void ignore(void *user, const struct net *net, const struct flight *flight)
{
    (void)user, (void)net, (void)flight;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- ping-pong and ring ---- */

static void check_pingpong(void *user, const struct net *net, const struct flight *f, uint32_t nth)
{
    const uint32_t *partner = user;
    assert_int_equal(f->to, partner[f->from]);
    assert_int_equal(f->message.bytes, BYTES);
    uint64_t ready = 0;
    if (f->from > f->to)
        ready = net->arrived[f->to][f->from][nth];
    else if (nth > 0)
        ready = net->arrived[f->to][f->from][nth - 1];
    assert_int_equal(f->message.ready, ready);
}

static void pingpong_takes_turns(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= MAX_RANKS; n++) {
        struct bed bed = bed_of(ctx, n);
        for (int kind = 0; kind < 6; kind++) {
            uint32_t partner[MAX_RANKS], pairs = n / 2;
            const char *const specs[] = {"pingpong:rounds=20", "pingpong:rounds=20,pairs=far",
                                         "pingpong:rounds=20,pairs=random"};
            ask(ctx, &bed,
                (sv_sim_traffic_request){.spec = specs[kind / 2], .bytes = BYTES, .seed = n});
            assert_int_equal(bed.source->messages, 40 * pairs);
            for (uint32_t i = 0; i < n; i++)
                partner[i] = kind / 2 == 0 ? i ^ 1 : i < pairs ? i + pairs : i - pairs;
            if (kind / 2 == 2) { /* who they are is told by who begins */
                for (uint32_t i = 0; i < n; i++) {
                    uint32_t to = next_to(&bed, i);
                    if (to != SV_NONE)
                        assert_true(to > i), partner[i] = to, partner[to] = i;
                }
                ask(ctx, &bed,
                    (sv_sim_traffic_request){.spec = specs[2], .bytes = BYTES, .seed = n});
            }
            struct algorithm algorithm = {partner, check_pingpong, ignore};
            run(&the_net, &bed, n, n, kind % 2 == 1, &algorithm);
        }
        release(&bed);
    }
}

static void check_ring(void *user, const struct net *net, const struct flight *f, uint32_t nth)
{
    uint32_t n = net->size, up = (f->from + 1) % n, down = (f->from + n - 1) % n, round = nth / 2;
    (void)user;
    assert_int_equal(f->to, nth % 2 == 0 ? up : down);
    uint64_t ready = 0;
    if (round > 0 && n > 2)
        ready =
            larger(net->arrived[up][f->from][round - 1], net->arrived[down][f->from][round - 1]);
    else if (round > 0)
        ready = net->arrived[up][f->from][2 * round - 1];
    assert_int_equal(f->message.ready, ready);
}

static void rings_go_in_rounds(void **state)
{
    (void)state;
    struct algorithm algorithm = {NULL, check_ring, ignore};
    for (uint32_t n = 2; n <= MAX_RANKS; n++) {
        struct bed bed = bed_of(ctx, n);
        for (int lazy = 0; lazy < 8; lazy++) {
            ask(ctx, &bed, (sv_sim_traffic_request){.spec = "ring:rounds=30"});
            assert_int_equal(bed.source->messages, 60 * n);
            run(&the_net, &bed, n, n + 100 * (uint64_t)lazy, lazy > 0, &algorithm);
        }
        release(&bed);
    }
}

/* ---- collectives by ring ---- */

/* How often each rank is in a piece that a rank holds. */
struct pieces {
    bool reduces;
    uint8_t held[MAX_ROUNDS][MAX_RANKS][MAX_RANKS][MAX_RANKS];
    uint8_t carried[MAX_ROUNDS * 2 * MAX_RANKS][MAX_RANKS][MAX_RANKS]; /* [message][from] */
};

static uint32_t ring_steps(const struct pieces *p, uint32_t n)
{
    return (p->reduces ? 2 : 1) * (n - 1);
}

static void ring_sent(void *user, const struct net *net, const struct flight *f, uint32_t nth)
{
    struct pieces *p = user;
    uint32_t n = net->size, round = nth / ring_steps(p, n), step = nth % ring_steps(p, n);
    uint32_t down = (f->from + n - 1) % n, piece = (f->from + 2 * n - step) % n;
    uint32_t bytes = BYTES * (piece + 1) / n - BYTES * piece / n;
    assert_int_equal(f->to, (f->from + 1) % n);
    if (!p->reduces)
        assert_int_equal(f->message.bytes, BYTES);
    else /* as even as can be */
        assert_true(f->message.bytes + 1 >= bytes && f->message.bytes <= bytes + 1);
    assert_int_equal(f->message.ready, nth == 0 ? 0 : net->arrived[down][f->from][nth - 1]);
    memcpy(p->carried[nth][f->from], p->held[round][f->from][piece], MAX_RANKS);
    if (!p->reduces)
        assert_int_equal(p->held[round][f->from][piece][piece], 1);
}

static void ring_arrived(void *user, const struct net *net, const struct flight *f)
{
    struct pieces *p = user;
    uint32_t n = net->size, nth = f->number, round = nth / ring_steps(p, n);
    uint32_t step = nth % ring_steps(p, n), piece = (f->from + 2 * n - step) % n;
    for (uint32_t k = 0; k < n; k++) {
        uint8_t *held = &p->held[round][f->to][piece][k];
        *held = (uint8_t)(p->carried[nth][f->from][k] + (p->reduces && step < n - 1 ? *held : 0));
    }
}

static void try_ring(const char *spec, uint32_t n, bool reduces, uint64_t seed)
{
    static struct pieces p;
    struct bed bed = bed_of(ctx, n);
    struct algorithm algorithm = {&p, ring_sent, ring_arrived};
    memset(&p, 0, sizeof p);
    p.reduces = reduces;
    for (uint32_t round = 0; round < MAX_ROUNDS; round++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t piece = 0; piece < n; piece++)
                p.held[round][i][piece][i] = reduces || piece == i;
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = spec, .bytes = BYTES});
    assert_int_equal(bed.source->messages, MAX_ROUNDS * n * ring_steps(&p, n));
    run(&the_net, &bed, n, seed, seed % 2 == 1, &algorithm);
    for (uint32_t round = 0; round < MAX_ROUNDS; round++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t piece = 0; piece < n; piece++)
                for (uint32_t k = 0; k < n; k++)
                    assert_int_equal(p.held[round][i][piece][k], reduces || k == piece);
    release(&bed);
}

static void rings_reduce_and_gather(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= MAX_RANKS; n++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            try_ring("allreduce:rounds=4", n, true, seed);
            try_ring("allgather:by=ring,rounds=4", n, false, seed);
        }
}

/* Pieces of a vector that does not divide are the vector. */
static void pieces_sum_up(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 7);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "allreduce", .bytes = 101});
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 7; i++) {
        sv_sim_message message;
        assert_true(next(&bed, i, &message));
        sum += message.bytes;
    }
    assert_int_equal(sum, 101);
    release(&bed);
}

/* ---- collectives by recursive doubling ---- */

struct doubling {
    bool reduces;
    /* What a message between two in a round carried: how often each rank. */
    uint8_t carried[MAX_ROUNDS][MAX_RANKS][MAX_RANKS][MAX_RANKS];
};

/* The partners of a rank in the order of its steps, as MPICH's all-reduce finds them; -1: the one
 * below is left out and stands first and last. Returns how many steps. */
static uint32_t partners(uint32_t n, uint32_t rank, uint32_t *list, bool *left_out, bool *doubles)
{
    uint32_t pof2 = 1, count = 0;
    while (2 * pof2 <= n)
        pof2 *= 2;
    uint32_t rem = n - pof2;
    *left_out = rank < 2 * rem && rank % 2 == 0;
    *doubles = rank < 2 * rem && rank % 2 == 1;
    if (*left_out)
        return 0;
    uint32_t newrank = *doubles ? rank / 2 : rank - rem;
    for (uint32_t mask = 1; mask < pof2; mask <<= 1) {
        uint32_t other = newrank ^ mask;
        list[count++] = other < rem ? other * 2 + 1 : other + rem;
    }
    return count;
}

/* What a rank has before a step of a round, and when it had it. All it needs must be there. */
static uint64_t holds(const struct doubling *d, const struct net *net, uint32_t round,
                      uint32_t rank, uint32_t step, uint8_t *sum)
{
    uint32_t list[8];
    bool left_out, doubles;
    uint32_t steps = partners(net->size, rank, list, &left_out, &doubles);
    uint64_t time = 0;
    if (round > 0) { /* all of the round before */
        uint8_t unused[MAX_RANKS];
        time = holds(d, net, round - 1, rank, left_out ? 1 : steps, unused);
    }
    memset(sum, 0, MAX_RANKS);
    sum[rank] = 1;
    for (uint32_t i = 0; i < step + doubles; i++) {
        uint32_t from = left_out ? rank + 1 : !doubles ? list[i] : i == 0 ? rank - 1 : list[i - 1];
        assert_true(net->arrived[from][rank][round] != SV_NEVER);
        time = larger(time, net->arrived[from][rank][round]);
        for (uint32_t k = 0; k < net->size; k++)
            sum[k] = (uint8_t)(left_out && d->reduces ? d->carried[round][from][rank][k]
                                                      : sum[k] + d->carried[round][from][rank][k]);
    }
    return time;
}

static void doubling_sent(void *user, const struct net *net, const struct flight *f, uint32_t nth)
{
    struct doubling *d = user;
    uint32_t list[8], blocks = 0;
    bool left_out, doubles;
    uint32_t steps = partners(net->size, f->from, list, &left_out, &doubles);
    uint32_t turns = left_out ? 1 : steps + doubles, round = nth / turns, step = nth % turns;
    uint32_t to = left_out ? f->from + 1 : step < steps ? list[step] : f->from - 1;
    uint8_t *carried = d->carried[round][f->from][f->to];
    assert_int_equal(f->to, to);
    assert_int_equal(f->number, round);
    assert_int_equal(f->message.ready, holds(d, net, round, f->from, step, carried));
    if (!d->reduces && !left_out && step == steps)
        carried[to] = 0;
    for (uint32_t k = 0; k < net->size; k++)
        blocks += carried[k];
    assert_int_equal(f->message.bytes, d->reduces ? BYTES : blocks * BYTES);
}

static void try_doubling(const char *spec, uint32_t n, bool reduces, uint64_t seed)
{
    static struct doubling d;
    struct bed bed = bed_of(ctx, n);
    struct algorithm algorithm = {&d, doubling_sent, ignore};
    memset(&d, 0, sizeof d);
    d.reduces = reduces;
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = spec, .bytes = BYTES});
    run(&the_net, &bed, n, seed, seed % 2 == 1, &algorithm);
    for (uint32_t round = 0; round < MAX_ROUNDS; round++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t list[8];
            uint8_t sum[MAX_RANKS];
            bool left_out, doubles;
            uint32_t steps = partners(n, i, list, &left_out, &doubles);
            holds(&d, &the_net, round, i, left_out ? 1 : steps, sum);
            for (uint32_t k = 0; k < n; k++)
                assert_int_equal(sum[k], 1);
        }
    release(&bed);
}

static void doubling_reduces_and_gathers(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= MAX_RANKS; n++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            try_doubling("allreduce:by=doubling,rounds=4", n, true, seed);
            try_doubling("allgather:by=doubling,rounds=4", n, false, seed);
        }
}

/* ---- jobs ---- */

static void count(void *user, const struct net *net, const struct flight *f, uint32_t nth)
{
    uint32_t *messages = user;
    (void)net, (void)nth;
    messages[f->message.tag >> 8]++;
}

/* Jobs on the same hosts wait for their own messages only, and all come to their end. */
static void jobs_do_not_mix_up(void **state)
{
    (void)state;
    const char *const specs[] = {"a=allreduce:by=doubling,rounds=5", "b=ring:rounds=9",
                                 "c=allgather:rounds=2", "d=pingpong"};
    struct bed bed = bed_of(ctx, 11);
    char text[2000] = "";
    for (uint32_t i = 0; i < 11; i++)
        for (uint32_t job = 0; job < 4; job++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "host%u %c\n", i, 'a' + job);
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "map");
    sv_jobmap *map = NULL;
    OK(ctx, sv_jobmap_read(ctx, bed.f, &source, &map));
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint32_t messages[4] = {0};
        struct algorithm algorithm = {messages, count, ignore};
        ask(ctx, &bed,
            (sv_sim_traffic_request){.jobs = map, .job_specs = specs, .num_job_specs = 4});
        run(&the_net, &bed, 11, seed, seed % 2 == 1, &algorithm);
        assert_int_equal(messages[0], 5 * (8 * 3 + 2 * 3));
        assert_int_equal(messages[1], 9 * 2 * 11);
        assert_int_equal(messages[2], 2 * 11 * 10);
        assert_int_equal(messages[3], 10 * 2 * 5);
    }
    sv_jobmap_free(map);
    release(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pingpong_takes_turns),         cmocka_unit_test(rings_go_in_rounds),
        cmocka_unit_test(rings_reduce_and_gather),      cmocka_unit_test(pieces_sum_up),
        cmocka_unit_test(doubling_reduces_and_gathers), cmocka_unit_test(jobs_do_not_mix_up),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
