/*
 * test_collective.c: schedules of collectives: for all sizes up to 40, all roots and several sizes
 * of data, what is sent is what is waited for, nobody waits for ever, and who must have something
 * in the end has it.
 *
 * Data is followed piece by piece: a piece is what belongs to one rank (its part of a vector, its
 * block), and of each rank's copy of it is known whose contributions are in it. Which pieces a
 * message carries is said here again, call by call (carries), in other words than the schedules;
 * its length must be that of these pieces. Reductions must never add anybody twice.
 */
#include "support/testing.h"

#include "traces/collective.h"

enum { MAX = 40, SHORT = 2048, LONG = 524288, BRUCK = 81920 };

typedef uint64_t set; /* of ranks, or of pieces */

struct world {
    uint32_t n, root;
    unsigned call;
    uint64_t bytes;
    set have[MAX][MAX];           /* [rank][piece]: whose contributions */
    uint32_t low[MAX], high[MAX]; /* of core ranks: those whose pieces are still added up here */
    uint32_t step[MAX];           /* of each rank */
    bool sent[MAX];               /* its step's message has gone */
    uint32_t taken[MAX][MAX];     /* messages received from … by … */
    uint64_t seen_bytes;
};

/* A message in a queue from one to another. */
struct letter {
    uint64_t bytes;
    set pieces, sets[MAX];
};

static struct letter letters[MAX][MAX][2 * MAX];
static uint32_t posted[MAX][MAX];

static set bit(uint32_t i)
{
    return UINT64_C(1) << i;
}

static set first(uint32_t n)
{
    return bit(n) - 1;
}

static uint64_t piece_bytes(const struct world *w, uint32_t i)
{
    return w->bytes / w->n + (i < w->bytes % w->n);
}

static bool is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static uint32_t core_size(uint32_t n)
{
    uint32_t p = 1;
    while (2 * p <= n)
        p *= 2;
    return p;
}

/* The core rank that stands for a rank; the pieces of core ranks. */
static uint32_t core_of(const struct world *w, uint32_t rank)
{
    uint32_t extra = w->n - core_size(w->n);
    return rank < 2 * extra ? rank / 2 : rank - extra;
}

static set core_pieces(const struct world *w, uint32_t from, uint32_t until)
{
    set pieces = 0;
    for (uint32_t rank = 0; rank < w->n; rank++)
        if (core_of(w, rank) >= from && core_of(w, rank) < until)
            pieces |= bit(rank);
    return pieces;
}

static bool is_vector(unsigned call)
{
    return call == SV_CALL_BCAST || call == SV_CALL_REDUCE || call == SV_CALL_ALLREDUCE ||
           call == SV_CALL_REDUCE_SCATTER || call == SV_CALL_SCAN;
}

static bool adds(unsigned call)
{
    return is_vector(call) && call != SV_CALL_BCAST;
}

/* By halving: a message between core ranks whose pieces are still added up is about the half where
 * the receiver is; else it is all that is done. */
static set halves(struct world *w, uint32_t from, uint32_t to)
{
    uint32_t low = w->low[from], high = w->high[from], middle = (low + high) / 2;
    if (core_of(w, from) == core_of(w, to)) { /* within a pair */
        if (to % 2 == 1)
            return first(w->n);
        return w->call == SV_CALL_ALLREDUCE ? first(w->n) : bit(to);
    }
    if (high - low == 1) { /* all is added up: back */
        set done = 0;
        for (uint32_t i = 0; i < w->n; i++)
            done |= w->have[from][i] == first(w->n) ? bit(i) : 0;
        return done;
    }
    bool upper = core_of(w, to) >= middle;
    w->low[from] = upper ? low : middle;
    w->high[from] = upper ? middle : high;
    return upper ? core_pieces(w, middle, high) : core_pieces(w, low, middle);
}

static set blocks_from(const struct world *w, uint32_t rank, uint64_t count)
{
    set blocks = 0;
    for (uint64_t i = 0; i < count; i++)
        blocks |= bit((uint32_t)((rank + i) % w->n));
    return blocks;
}

/* The pieces in a message. */
static set carries(struct world *w, uint32_t from, const sv__coll_step *s)
{
    set has = 0;
    uint64_t count = w->bytes == 0 ? 0 : s->to_bytes / w->bytes, all = w->bytes * w->n;
    for (uint32_t i = 0; i < w->n; i++)
        has |= w->have[from][i] != 0 ? bit(i) : 0;
    switch (w->call) {
    case SV_CALL_ALLREDUCE:
        if (w->bytes <= SHORT || w->bytes < core_size(w->n))
            return first(w->n);
        return halves(w, from, s->to);
    case SV_CALL_REDUCE_SCATTER:
        return w->bytes > LONG ? bit(s->to) : halves(w, from, s->to);
    case SV_CALL_GATHER:
        return has;
    case SV_CALL_SCATTER: /* those of the receiver's subtree: it and who follows */
        return blocks_from(w, s->to, w->bytes == 0 ? w->n : count);
    case SV_CALL_ALLGATHER:
        if (all > (is_power(w->n) ? LONG : BRUCK)) /* the ring: what came last */
            return bit((from + w->n - w->step[from]) % w->n);
        return is_power(w->n) ? has : blocks_from(w, from, w->bytes == 0 ? w->n : count);
    case SV_CALL_ALLTOALL:
        return bit(from);
    default:
        return first(w->n);
    }
}

static uint64_t length_of(const struct world *w, set pieces)
{
    uint64_t length = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (pieces >> i & 1)
            length += w->call == SV_CALL_BARRIER ? 0
                      : is_vector(w->call)       ? piece_bytes(w, i)
                                                 : w->bytes;
    return length;
}

static void send(struct world *w, uint32_t from, const sv__coll_step *s)
{
    struct letter *letter = &letters[from][s->to][posted[from][s->to]++];
    assert_true(posted[from][s->to] <= 2 * MAX);
    assert_true(s->to < w->n && s->to != from);
    letter->bytes = s->to_bytes;
    letter->pieces = carries(w, from, s);
    assert_int_equal(letter->bytes, length_of(w, letter->pieces));
    for (uint32_t i = 0; i < w->n; i++) {
        letter->sets[i] = letter->pieces >> i & 1 ? w->have[from][i] : 0;
        if (letter->pieces >> i & 1 && w->bytes > 0)
            assert_true(letter->sets[i] != 0);
    }
    w->seen_bytes += s->to_bytes;
}

/* What comes is added to what is there. Of a reduction nobody is added twice: either both have
 * nothing in common, or what comes is the whole result, or (of a scan) it is not for this one. */
static void receive(struct world *w, uint32_t rank, const sv__coll_step *s)
{
    const struct letter *letter = &letters[s->from][rank][w->taken[rank][s->from]++];
    assert_int_equal(letter->bytes, s->from_bytes);
    for (uint32_t i = 0; i < w->n; i++) {
        if (adds(w->call) && letter->sets[i] != first(w->n))
            assert_int_equal(w->have[rank][i] & letter->sets[i], 0);
        w->have[rank][i] |= letter->sets[i];
    }
}

static sv__coll coll_of(const struct world *w, uint32_t rank)
{
    return (sv__coll){w->call, w->n, rank, w->root, w->bytes};
}

/* Ranks go on as long as one of them can. */
static void play(struct world *w)
{
    memset(posted, 0, sizeof posted);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t rank = 0; rank < w->n; rank++) {
            sv__coll coll = coll_of(w, rank);
            sv__coll_step s;
            if (!sv__coll_step_at(&coll, w->step[rank], &s))
                continue;
            assert_true(s.to != SV_NONE || s.from != SV_NONE);
            if (s.to != SV_NONE && !w->sent[rank]) {
                send(w, rank, &s);
                w->sent[rank] = moved = true;
            }
            if (s.from != SV_NONE && posted[s.from][rank] == w->taken[rank][s.from])
                continue;
            if (s.from != SV_NONE)
                receive(w, rank, &s);
            w->step[rank]++;
            w->sent[rank] = false;
            moved = true;
        }
    }
    for (uint32_t rank = 0; rank < w->n; rank++) {
        sv__coll coll = coll_of(w, rank);
        sv__coll_step s;
        assert_false(sv__coll_step_at(&coll, w->step[rank], &s));
        for (uint32_t from = 0; from < w->n; from++)
            assert_int_equal(posted[from][rank], w->taken[rank][from]);
    }
}

/* What ranks have before: of reductions each its own contribution to all pieces; of gathers its own
 * block; of broadcast and scatter the root all blocks; of all-to-all everything of its own. */
static void begin_with(struct world *w)
{
    for (uint32_t rank = 0; rank < w->n; rank++)
        for (uint32_t i = 0; i < w->n; i++) {
            bool own = i == rank, root = rank == w->root;
            switch (w->call) {
            case SV_CALL_BCAST:
            case SV_CALL_SCATTER:
                w->have[rank][i] = root ? bit(rank) : 0;
                break;
            case SV_CALL_GATHER:
            case SV_CALL_ALLGATHER:
                w->have[rank][i] = own ? bit(rank) : 0;
                break;
            case SV_CALL_ALLTOALL: /* piece i: what comes from rank i */
                w->have[rank][i] = own ? bit(rank) : 0;
                break;
            default:
                w->have[rank][i] = bit(rank);
            }
            w->low[rank] = 0;
            w->high[rank] = core_size(w->n);
        }
}

static void end_with(const struct world *w)
{
    for (uint32_t rank = 0; rank < w->n; rank++)
        for (uint32_t i = 0; i < w->n; i++) {
            set has = w->have[rank][i], all = first(w->n);
            switch (w->call) {
            case SV_CALL_BARRIER:
            case SV_CALL_ALLREDUCE:
                assert_int_equal(has, all);
                break;
            case SV_CALL_BCAST:
                assert_int_equal(has, bit(w->root));
                break;
            case SV_CALL_SCATTER:
                assert_true(i != rank || has == bit(w->root));
                break;
            case SV_CALL_REDUCE:
                assert_true(rank != w->root || has == all);
                break;
            case SV_CALL_GATHER:
                assert_true(rank != w->root || has == bit(i));
                break;
            case SV_CALL_ALLGATHER:
            case SV_CALL_ALLTOALL:
                assert_int_equal(has, bit(i));
                break;
            case SV_CALL_REDUCE_SCATTER:
                assert_true(i != rank || has == all);
                break;
            case SV_CALL_SCAN:
                assert_int_equal(has & first(rank + 1), first(rank + 1));
                break;
            default:
                fail();
            }
        }
}

/* What all ranks send together, at least and at most, where that is known. */
static void count_bytes(const struct world *w)
{
    uint64_t n = w->n, b = w->bytes, m = 0;
    while (n >> (m + 1) > 0)
        m++;
    uint64_t p = UINT64_C(1) << m, e = n - p, all = w->seen_bytes;
    switch (w->call) {
    case SV_CALL_BARRIER:
        assert_int_equal(all, 0);
        break;
    case SV_CALL_BCAST:
    case SV_CALL_REDUCE:
        assert_int_equal(all, (n - 1) * b);
        break;
    case SV_CALL_ALLTOALL:
    case SV_CALL_ALLGATHER:
        assert_int_equal(all, n * (n - 1) * b);
        break;
    case SV_CALL_ALLREDUCE:
        /* There and back for those beyond; in the core all of it m times, or all but the own part
         * twice: of each piece p - 1 copies there, and as many back. */
        assert_int_equal(all, 2 * e * b + (b > 2048 && b >= p ? 2 * (p - 1) * b : p * m * b));
        break;
    case SV_CALL_REDUCE_SCATTER: {
        uint64_t back = 0;
        for (uint32_t i = 0; i < e; i++)
            back += piece_bytes(w, 2 * i);
        assert_int_equal(all, b > 524288 ? (n - 1) * b : e * b + (p - 1) * b + back);
        break;
    }
    default: /* trees of blocks: each block once for each level above it */
        assert_true(all >= (n - 1) * b || w->call == SV_CALL_SCAN);
        assert_true(all <= n * (m + 1) * b);
    }
}

static void every_collective_does_what_it_says(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 7, 2048, 2049, 5000, 100003, 600001};
    static struct world w;
    for (unsigned call = SV_CALL_BARRIER; call < SV_CALL_COUNT; call++)
        for (uint32_t n = 1; n <= MAX; n++)
            for (uint32_t root = 0; root < n; root++)
                for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
                    bool rooted = call == SV_CALL_BCAST || call == SV_CALL_REDUCE ||
                                  call == SV_CALL_GATHER || call == SV_CALL_SCATTER;
                    if (root > 0 && (!rooted || k > 2))
                        break;
                    memset(&w, 0, sizeof w);
                    w.n = n;
                    w.root = root;
                    w.call = call;
                    w.bytes = call == SV_CALL_BARRIER ? 0 : sizes[k];
                    begin_with(&w);
                    play(&w);
                    end_with(&w);
                    count_bytes(&w);
                }
}

/* Trees: the largest subtree goes first from the root, and comes last to it. */
static void trees_have_an_order(void **state)
{
    (void)state;
    static const uint32_t children[] = {4, 2, 1}; /* of 0, among six */
    for (uint32_t step = 0; step < 4; step++) {
        sv__coll_step s;
        sv__coll c = {.call = SV_CALL_BCAST, .size = 6, .me = 5, .root = 5, .bytes = 9};
        assert_int_equal(sv__coll_step_at(&c, step, &s), step < 3);
        if (step < 3)
            assert_true(s.to == (children[step] + 5) % 6 && s.from == SV_NONE && s.to_bytes == 9);
        c.call = SV_CALL_GATHER;
        assert_int_equal(sv__coll_step_at(&c, step, &s), step < 3);
        if (step < 3)
            assert_true(s.from == (children[2 - step] + 5) % 6 && s.to == SV_NONE &&
                        s.from_bytes == (step == 0 ? 9 : 18));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_collective_does_what_it_says),
                                       cmocka_unit_test(trees_have_an_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
