/*
 * pattern_random.c: uniform random destinations, hot spots, random perfect matchings.
 *
 * Hot spots are those of the DLA paper (Maglione-Mathey et al. 2019, section 5.2): of N ranks,
 * h_s = floor(0.06 N), chosen at random, send to h_d = floor(log2 h_s) others, chosen at random,
 * at all of their bandwidth; all the rest send at random to all, at the load. What the h_d receive
 * does not count. The paper leaves open whether a sender may be a hot spot: here none is, and each
 * message of a sender goes to one of the h_d at random.
 *
 * Matchings are drawn without being stored: ranks are permuted by a permutation of the round, and
 * neighbours (2j, 2j + 1) are partners. The permutation is Hoang, Morris and Rogaway's swap-or-not
 * (2012): each of some steps has a random K, and each pair {x, K - x} is swapped or not by a random
 * bit of its own. Such a step undoes itself, so any rank's place, and who is at a place, take
 * O(steps) and no memory.
 *
 * Cost: O(1) a message; O(log N) for matchings, some microseconds.
 */
#include "simulate/traffic.h"

static uint64_t endless(const sv__play *play, uint32_t rank)
{
    (void)play, (void)rank;
    return SV_NEVER;
}

/* ---- uniform ---- */

uint32_t sv__other_rank(const sv__play *play, uint32_t rank)
{
    uint32_t to = (uint32_t)sv_rng_below(&play->rng[rank], play->size - 1);
    return to + (to >= rank);
}

static uint32_t uniform_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    (void)k;
    return sv__other_rank(play, rank);
}

static sv_status uniform_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = endless, .to = uniform_to, .draws = true};
    (void)spec;
    play->moves = &moves;
    return SV_OK;
}

static const sv_sim_pattern_key no_keys[] = {{NULL, NULL, NULL}};

const sv__pattern sv__uniform = {
    .info = {.name = "uniform",
             .summary = "each message to a random other rank, all as likely",
             .keys = no_keys,
             .endless = true},
    .open = uniform_open};

/* ---- hot spots ---- */

enum { OTHER, SENDER, SPOT };

static uint32_t hotspot_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    (void)k;
    if (play->role[rank] == SENDER)
        return play->at[sv_rng_below(&play->rng[rank], play->count)];
    return sv__other_rank(play, rank);
}

static double hotspot_load(const sv__play *play, uint32_t rank)
{
    return play->role[rank] == SENDER ? 1 : sv__rank_load(play, rank);
}

static bool hotspot_counts(const sv__play *play, uint32_t rank)
{
    return play->role[rank] != SPOT;
}

/* Senders, then spots, out of all ranks in random order. */
static sv_status draw_spots(sv__play *play, sv_ctx *ctx, uint32_t senders, uint32_t spots)
{
    uint32_t *order = SV_POOL_NEW(play->store, ctx, uint32_t, play->size);
    uint8_t *role = SV_POOL_NEW(play->store, ctx, uint8_t, play->size);
    if (order == NULL || role == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < play->size; i++)
        order[i] = i;
    sv_rng rng;
    sv_rng_init(&rng, play->seed);
    sv_rng_shuffle(&rng, order, play->size);
    for (uint32_t i = 0; i < senders + spots; i++)
        role[order[i]] = i < senders ? SENDER : SPOT;
    play->at = order + senders;
    play->count = spots;
    play->role = role;
    return SV_OK;
}

static sv_status hotspot_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = endless,
                                    .to = hotspot_to,
                                    .load = hotspot_load,
                                    .counts = hotspot_counts,
                                    .draws = true};
    uint64_t senders, spots, log2 = 0;
    SV_TRY(sv__spec_number(spec, "senders", 1, play->size - 1, (uint64_t)play->size * 6 / 100,
                           &senders));
    while (senders >> (log2 + 1) > 0)
        log2++;
    SV_TRY(sv__spec_number(spec, "spots", 1, play->size - 1, log2, &spots));
    if (senders == 0 || spots == 0)
        return sv__spec_fail(spec, "6 %% of %u ranks are too few: give senders and spots",
                             play->size);
    if (senders + spots > play->size)
        return sv__spec_fail(spec, "%llu senders and %llu spots are more than %u ranks",
                             (unsigned long long)senders, (unsigned long long)spots, play->size);
    play->moves = &moves;
    return draw_spots(play, spec->ctx, (uint32_t)senders, (uint32_t)spots);
}

static const sv_sim_pattern_key hotspot_keys[] = {
    {"senders", "ranks that send to hot spots, with load 1", "6 % of the ranks"},
    {"spots", "hot spots; what they receive does not count", "the logarithm to base 2 of senders"},
    {NULL, NULL, NULL}};

const sv__pattern sv__hotspot = {
    .info = {.name = "hotspot",
             .summary = "some random ranks to a few hot spots, the others uniform",
             .keys = hotspot_keys,
             .endless = true},
    .open = hotspot_open};

/* ---- matchings ---- */

enum { MAX_STEPS = 6 * 32 + 16 };

/* The steps of a round's permutation: K of each, and the key of its bits. */
struct steps {
    uint32_t count, around[MAX_STEPS];
    uint64_t key[MAX_STEPS];
};

static void draw_steps(const sv__play *play, uint64_t round, struct steps *steps)
{
    sv_rng rng;
    sv_rng_init(&rng, play->seed);
    sv_rng_init(&rng, sv_rng_next(&rng) + round);
    steps->count = 16; /* and 6 log2 N */
    for (uint32_t left = play->size; left > 1; left >>= 1)
        steps->count += 6;
    for (uint32_t i = 0; i < steps->count; i++) {
        steps->around[i] = (uint32_t)sv_rng_below(&rng, play->size);
        steps->key[i] = sv_rng_next(&rng);
    }
}

static uint32_t swap_or_not(const struct steps *steps, uint32_t i, uint32_t size, uint32_t x)
{
    uint32_t around = steps->around[i], other = around >= x ? around - x : around + (size - x);
    sv_rng rng;
    sv_rng_init(&rng, steps->key[i] + (x > other ? x : other));
    return sv_rng_next(&rng) >> 63 != 0 ? other : x;
}

uint32_t sv__matched(const sv__play *play, uint64_t round, uint32_t rank)
{
    struct steps steps;
    uint32_t x = rank;
    draw_steps(play, round, &steps);
    for (uint32_t i = 0; i < steps.count; i++)
        x = swap_or_not(&steps, i, play->size, x);
    x ^= 1;
    if (x >= play->size)
        return SV_NONE;
    for (uint32_t i = steps.count; i-- > 0;)
        x = swap_or_not(&steps, i, play->size, x);
    return x;
}

static uint64_t matching_sends(const sv__play *play, uint32_t rank)
{
    (void)rank;
    return sv__in_rounds(play, 1);
}

static uint32_t matching_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    uint32_t partner = sv__matched(play, k, rank);
    return partner == SV_NONE ? rank : partner;
}

static sv_status matching_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = matching_sends, .to = matching_to};
    play->moves = &moves;
    play->skips = play->size % 2 == 1;
    return sv__key_rounds(play, spec, 1);
}

static const sv_sim_pattern_key matching_keys[] = {
    {"rounds", "matchings, one message to the partner in each; 0: endlessly", "1"},
    {NULL, NULL, NULL}};

const sv__pattern sv__matching = {
    .info = {.name = "matching",
             .summary = "each round a new random perfect matching; if odd, one has no partner",
             .keys = matching_keys},
    .open = matching_open};
