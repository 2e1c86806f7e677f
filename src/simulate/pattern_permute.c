/*
 * pattern_permute.c: permutations: each rank has one partner to send to, for ever.
 *
 * Those of bits (Dally and Towles, ch. 3; Table 4.1 of the PR-DRB thesis) are about the first 2^b
 * ranks, with b as large as fits; ranks beyond are idle. A rank that would send to itself is idle,
 * too. With s_i the bits of the sender and d_i those of its partner:
 *
 *     bitreverse  d_i = s_(b - 1 - i)
 *     shuffle     d_i = s_(i - 1 mod b)
 *     transpose   d_i = s_(i + floor(b / 2) mod b): a matrix with 2^ceil(b / 2) rows, by row, is
 *                 sent to where it is by column
 *
 * Shift and tornado are for any number of ranks. Tornado goes almost half round (ceil(k / 2) - 1 of
 * k) in each dimension, which is the worst for rings routed on shortest ways.
 *
 * Cost: O(1) a message, O(b) for bitreverse.
 */
#include "simulate/traffic.h"

static const sv_sim_pattern_key no_keys[] = {{NULL, NULL, NULL}};

static uint64_t endless_unless_own(const sv__play *play, uint32_t rank)
{
    return play->moves->to(play, rank, 0) == rank ? 0 : SV_NEVER;
}

/* ---- bits ---- */

/* param[0] is b. */
static sv_status open_bits(sv__play *play, const sv__moves *moves)
{
    play->moves = moves;
    while ((uint64_t)play->size >> (play->param[0] + 1) > 0)
        play->param[0]++;
    return SV_OK;
}

/* The low b bits of a rank rotated to the left. */
static uint32_t rotated(const sv__play *play, uint32_t rank, unsigned by)
{
    unsigned bits = play->param[0];
    if (rank >> bits != 0)
        return rank;
    uint64_t twice = (uint64_t)rank << bits | rank;
    return (uint32_t)(twice >> (bits - by) & ((UINT64_C(1) << bits) - 1));
}

static uint32_t reversed(const sv__play *play, uint32_t rank, uint64_t k)
{
    uint32_t to = 0;
    (void)k;
    if (rank >> play->param[0] != 0)
        return rank;
    for (unsigned i = 0; i < play->param[0]; i++)
        to = to << 1 | (rank >> i & 1);
    return to;
}

static uint32_t shuffled(const sv__play *play, uint32_t rank, uint64_t k)
{
    (void)k;
    return rotated(play, rank, 1);
}

static uint32_t transposed(const sv__play *play, uint32_t rank, uint64_t k)
{
    (void)k;
    return rotated(play, rank, play->param[0] - play->param[0] / 2);
}

static sv_status reverse_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = endless_unless_own, .to = reversed};
    (void)spec;
    return open_bits(play, &moves);
}

static sv_status shuffle_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = endless_unless_own, .to = shuffled};
    (void)spec;
    return open_bits(play, &moves);
}

static sv_status transpose_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = endless_unless_own, .to = transposed};
    (void)spec;
    return open_bits(play, &moves);
}

const sv__pattern sv__bitreverse = {
    .info = {.name = "bitreverse",
             .summary = "permutation: the rank's bits in reverse (the first 2^b ranks)",
             .keys = no_keys,
             .endless = true},
    .open = reverse_open};

const sv__pattern sv__shuffle = {
    .info = {.name = "shuffle",
             .summary = "permutation: the rank's bits rotated left (the first 2^b ranks)",
             .keys = no_keys,
             .endless = true},
    .open = shuffle_open};

const sv__pattern sv__transpose = {
    .info = {.name = "transpose",
             .summary = "permutation: the rank's bits rotated by half (the first 2^b ranks)",
             .keys = no_keys,
             .endless = true},
    .open = transpose_open};

/* ---- shift ---- */

static uint32_t shifted(const sv__play *play, uint32_t rank, uint64_t k)
{
    (void)k;
    return (uint32_t)(((uint64_t)rank + play->param[0]) % play->size);
}

static sv_status shift_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = endless_unless_own, .to = shifted};
    uint64_t by;
    SV_TRY(sv__spec_number(spec, "by", 1, play->size - 1, 1, &by));
    play->param[0] = (uint32_t)by;
    play->moves = &moves;
    return SV_OK;
}

static const sv_sim_pattern_key shift_keys[] = {{"by", "how far: 1 … ranks - 1", "1"},
                                                {NULL, NULL, NULL}};

const sv__pattern sv__shift = {.info = {.name = "shift",
                                        .summary = "permutation: to a higher rank, all by as much",
                                        .keys = shift_keys,
                                        .endless = true},
                               .open = shift_open};

/* ---- tornado ---- */

/* param: up to three sides, the last coordinate counting fastest but for ranks of one point. */
static uint32_t tornado_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    const uint32_t *sides = play->param;
    uint32_t points = sides[0] * sides[1] * sides[2], local = play->size / points;
    uint32_t point = rank / local, to = 0, stride = 1;
    (void)k;
    for (int i = 2; i >= 0; point /= sides[i], stride *= sides[i], i--)
        to += (uint32_t)(((uint64_t)(point % sides[i]) + (sides[i] - 1) / 2) % sides[i]) * stride;
    return to * local + rank % local;
}

static sv_status tornado_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = endless_unless_own, .to = tornado_to};
    size_t count;
    uint64_t points = 1;
    uint32_t sides[3] = {play->size, 1, 1};
    SV_TRY(sv__key_dims(spec, "dims", sides, 3, &count));
    for (int i = 0; i < 3; i++) {
        play->param[i] = i < (count > 0 ? (int)count : 1) ? sides[i] : 1;
        points = points > play->size ? points : points * play->param[i];
    }
    if (points > play->size || play->size % points != 0)
        return sv__spec_fail(spec, "dims do not divide %u ranks", play->size);
    play->moves = &moves;
    return SV_OK;
}

static const sv_sim_pattern_key tornado_keys[] = {
    {"dims", "XxYxZ, XxY or X points in row order, with ranks / points neighbouring ranks each",
     "as many as there are ranks, in a ring"},
    {NULL, NULL, NULL}};

const sv__pattern sv__tornado = {
    .info = {.name = "tornado",
             .summary = "permutation: almost half round in each dimension",
             .keys = tornado_keys,
             .endless = true},
    .open = tornado_open};
