/*
 * test_collective.c: schedules of collectives: for all sizes up to 40, all roots and several sizes
 * of data, what is sent is what is waited for, nobody waits for ever, and who must have something
 * in the end has it: contributions are followed as sets.
 *
 * What a message carries is told by the schedule's length of it, in pieces, and what the sender has
 * then; the rules are written down here again, collective by collective (carries).
 */
#include "support/testing.h"

#include "traces/collective.h"

enum { MOST = 40 };

/* Of each rank, for each piece (of a vector, or block): whose contributions are in it. Pieces are
 * numbered by rank; a vector that is not cut is piece 0 … n - 1 together. */
typedef uint64_t sets[MOST][MOST];

struct world {
    uint32_t n, root;
    unsigned call;
    uint64_t bytes;
    sets have;                  /* [rank][piece] */
    uint32_t step[MOST];        /* of each rank */
    bool sent[MOST];            /* its step's message has gone */
    uint32_t taken[MOST][MOST]; /* messages received from … by … */
    uint64_t seen_bytes;
};

/* A message in a queue from one to another. */
struct letter {
    uint64_t bytes, sets[MOST];
};

static struct letter letters[MOST][MOST][2 * MOST];
static uint32_t posted[MOST][MOST];

static uint64_t piece_bytes(const struct world *w, uint32_t i)
{
    return w->bytes / w->n + (i < w->bytes % w->n);
}

static sv__coll coll_of(const struct world *w, uint32_t rank)
{
    return (sv__coll){w->call, w->n, rank, w->root, w->bytes};
}

/* A rank sends everything it has; the length must be possible: at least what the receiver lacks is
 * checked in the end. Of blocks: as many as the length says. */
static void send(struct world *w, uint32_t from, const sv__coll_step *s)
{
    struct letter *letter = &letters[from][s->to][posted[from][s->to]++];
    assert_true(posted[from][s->to] <= 2 * MOST);
    assert_true(s->to < w->n && s->to != from);
    letter->bytes = s->to_bytes;
    for (uint32_t i = 0; i < w->n; i++)
        letter->sets[i] = w->have[from][i];
    w->seen_bytes += s->to_bytes;
}

static bool is_reduction(unsigned call)
{
    return call == SV_CALL_REDUCE || call == SV_CALL_ALLREDUCE || call == SV_CALL_REDUCE_SCATTER ||
           call == SV_CALL_SCAN;
}

/* What is received is joined with what one has. Reductions must never count anybody twice, unless
 * the piece is not wanted any more (those given away by halving). */
static void receive(struct world *w, uint32_t rank, const sv__coll_step *s)
{
    const struct letter *letter = &letters[s->from][rank][w->taken[rank][s->from]++];
    assert_int_equal(letter->bytes, s->from_bytes);
    for (uint32_t i = 0; i < w->n; i++)
        w->have[rank][i] |= letter->sets[i];
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

static uint64_t bit(uint32_t i)
{
    return UINT64_C(1) << i;
}

static uint64_t first(uint32_t n)
{
    return n == 64 ? UINT64_MAX : bit(n) - 1;
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
            default:
                w->have[rank][i] = bit(rank);
            }
        }
}

static void end_with(const struct world *w)
{
    for (uint32_t rank = 0; rank < w->n; rank++)
        for (uint32_t i = 0; i < w->n; i++) {
            uint64_t has = w->have[rank][i], all = first(w->n);
            switch (w->call) {
            case SV_CALL_BARRIER:
            case SV_CALL_ALLREDUCE:
            case SV_CALL_ALLTOALL:
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
        for (uint32_t n = 1; n <= MOST; n++)
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
    (void)is_reduction;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_collective_does_what_it_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
