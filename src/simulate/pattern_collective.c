/*
 * pattern_collective.c: all-reduce and all-gather, by a ring and by recursive doubling.
 *
 * bytes is what each rank contributes: the vector of an all-reduce, a block of an all-gather.
 *
 * Ring: messages go to the next rank only. All-gather: N - 1 steps; in step 0 a rank sends its own
 * block, in step s the one it received in step s - 1. All-reduce: the vector is cut into N
 * pieces (the first bytes mod N of them one byte longer); 2 (N - 1) steps, in step s rank i sends
 * piece i - s (mod N): N - 1 steps sum up, N - 1 spread the sums. So message n of a rank waits for
 * message n - 1 of the rank before, through all steps and rounds.
 *
 * Recursive doubling: in step s rank v exchanges all it has with v xor 2^s. For N = 2^m + e with
 * e > 0, as MPICH has it: of the first 2 e ranks the even ones hand what they have to the odd one
 * above (kind EXTRA), which takes their part and hands back the result (the same kind: a rank
 * expects one of the two only). The 2^m others are numbered without them.
 *
 * Receptions ahead of messages (depth): while the message of step s in a round waits to be asked
 * for, its receiver cannot have finished the round, so nothing of step s in the next round can be
 * here: of m (or m + 1) receptions a round at most m + 1 are ahead, and of each kind one is early.
 *
 * Cost: O(1) a message.
 */
#include "simulate/traffic.h"

static const char *const algorithms[] = {"ring", "doubling", NULL};

/* ---- ring ---- */

static uint64_t steps_of(const sv__play *play)
{
    uint64_t others = play->size - 1;
    return play->param[0] ? 2 * others : others;
}

static uint64_t ring_sends(const sv__play *play, uint32_t rank)
{
    (void)rank;
    return sv__in_rounds(play, steps_of(play));
}

static uint64_t ring_needs(const sv__play *play, uint32_t rank, uint64_t g)
{
    (void)play, (void)rank;
    return g;
}

static unsigned ring_expects(const sv__play *play, uint32_t rank, uint64_t n)
{
    (void)play, (void)rank, (void)n;
    return 0;
}

static sv__send ring_send(const sv__play *play, uint32_t rank, uint64_t g)
{
    sv__send send = {.to = rank + 1 < play->size ? rank + 1 : 0, .bytes = play->bytes};
    uint32_t back = (uint32_t)(g % steps_of(play) % play->size);
    uint32_t piece = rank >= back ? rank - back : rank + (play->size - back);
    if (play->param[0])
        send.bytes = play->bytes / play->size + (piece < play->bytes % play->size);
    return send;
}

/* ---- recursive doubling ---- */

enum { EXTRA = SV__KINDS - 1 };

/* param: reduces, m, e. Who a rank is: */
enum part { CORE, DOUBLE, LEFT_OUT };

static enum part part_of(const sv__play *play, uint32_t rank)
{
    return rank >= 2 * play->param[2] ? CORE : rank % 2 == 1 ? DOUBLE : LEFT_OUT;
}

/* Messages, and receptions, of a round. */
static uint32_t turns_of(const sv__play *play, uint32_t rank)
{
    enum part part = part_of(play, rank);
    return part == LEFT_OUT ? 1 : play->param[1] + (part == DOUBLE);
}

static uint64_t doubling_sends(const sv__play *play, uint32_t rank)
{
    return sv__in_rounds(play, turns_of(play, rank));
}

static uint64_t doubling_needs(const sv__play *play, uint32_t rank, uint64_t g)
{
    return g + (part_of(play, rank) == DOUBLE);
}

static unsigned doubling_expects(const sv__play *play, uint32_t rank, uint64_t n)
{
    enum part part = part_of(play, rank);
    unsigned turn = (unsigned)(n % turns_of(play, rank));
    if (part == LEFT_OUT || (part == DOUBLE && turn == 0))
        return EXTRA;
    return part == DOUBLE ? turn - 1 : turn;
}

/* Blocks of an all-gather that v (numbered without those left out) has before step s. */
static uint32_t blocks_before(const sv__play *play, uint32_t v, unsigned s)
{
    uint32_t e = play->param[2], first = v >> s << s, end = first + (1u << s);
    return (1u << s) + (end < e ? end : e) - (first < e ? first : e);
}

static sv__send doubling_send(const sv__play *play, uint32_t rank, uint64_t g)
{
    uint32_t m = play->param[1], e = play->param[2];
    unsigned s = (unsigned)(g % turns_of(play, rank));
    enum part part = part_of(play, rank);
    sv__send send = {.bytes = play->bytes, .kind = EXTRA};
    if (part == LEFT_OUT) {
        send.to = rank + 1;
    } else if (s == m) { /* to the one that was left out: all but its own block */
        send.to = rank - 1;
        if (!play->param[0])
            send.bytes *= play->size - 1;
    } else {
        uint32_t v = part == DOUBLE ? rank / 2 : rank - e, w = v ^ 1u << s;
        send.to = w < e ? 2 * w + 1 : w + e;
        send.kind = s;
        if (!play->param[0])
            send.bytes *= blocks_before(play, v, s);
    }
    return send;
}

/* ---- both ---- */

static sv_status open(sv__play *play, sv__spec *spec, bool reduces)
{
    static const sv__moves ring = {
        .sends = ring_sends, .send = ring_send, .needs = ring_needs, .expects = ring_expects};
    static const sv__moves doubling = {.sends = doubling_sends,
                                       .send = doubling_send,
                                       .needs = doubling_needs,
                                       .expects = doubling_expects};
    unsigned algorithm;
    uint32_t m = 0;
    SV_TRY(sv__key_choice(spec, "by", algorithms, &algorithm));
    while ((uint64_t)play->size >> (m + 1) > 0)
        m++;
    play->param[0] = reduces;
    play->param[1] = m;
    play->param[2] = play->size - (1u << m);
    play->moves = algorithm == 0 ? &ring : &doubling;
    play->depth = algorithm == 0 ? 0 : m + 1;
    if (algorithm == 1 && !reduces && (uint64_t)play->bytes * play->size > UINT32_MAX)
        return sv__spec_fail(spec, "%u blocks of %u bytes are more than 4 GiB", play->size,
                             play->bytes);
    return sv__key_rounds(play, spec, 1);
}

static sv_status reduce_open(sv__play *play, sv__spec *spec)
{
    return open(play, spec, true);
}

static sv_status gather_open(sv__play *play, sv__spec *spec)
{
    return open(play, spec, false);
}

static const sv_sim_pattern_key keys[] = {
    {"by", "ring, or doubling (recursive; any number of ranks)", "ring"},
    {"rounds", "one after the other; 0: endlessly", "1"},
    {NULL, NULL, NULL}};

const sv__pattern sv__allreduce = {
    .info = {.name = "allreduce",
             .summary = "all-reduce of a vector of bytes, by ring or recursive doubling",
             .keys = keys,
             .waits = true},
    .open = reduce_open};

const sv__pattern sv__allgather = {
    .info = {.name = "allgather",
             .summary = "all-gather of blocks of bytes, by ring or recursive doubling",
             .keys = keys,
             .waits = true},
    .open = gather_open};
