/*
 * pattern_spots.c: hot spots inside a mesh: flows that share part of their way, but neither where
 * they come from nor where they go (PR-DRB thesis, section 4.5, Figs. 4.8 and 4.9).
 *
 * The figures have no coordinates, so these are ours, with the properties that the text tells, for
 * a mesh of 8 × 8 with a rank at each switch and dimension-order routing, rows (the first
 * coordinate) first. Rank 8 x + y is at (x, y).
 *
 *     1: five flows along line y = 3 have channel (4,3) → (5,3) in common; one along y = 4 meets
 *        none of them, but every detour by way of that line.
 *     2: seven flows have channel (6,3) → (7,3) in common: more than two links' worth at 600 Mbps,
 *        so that each needs more than one further path.
 *     3: flow (0,1) → (5,7) goes through two spots, each with four other flows: channels
 *        (4,1) → (5,1) and (5,2) → (5,3).
 *
 * All other ranks make noise: uniform random messages to all, without bursts.
 * Cost: O(1) a message.
 */
#include "simulate/traffic.h"

enum { SIDE = 8, POINTS = SIDE * SIDE, MAX_FLOWS = 9 };

struct flow {
    uint8_t from[2], to[2];
};

static const struct flow flows[3][MAX_FLOWS + 1] = {
    {{{0, 3}, {7, 5}},
     {{1, 3}, {6, 6}},
     {{2, 3}, {7, 1}},
     {{3, 3}, {5, 0}},
     {{4, 3}, {6, 2}},
     {{1, 4}, {7, 4}}},
    {{{0, 3}, {7, 7}},
     {{1, 3}, {7, 0}},
     {{2, 3}, {7, 6}},
     {{3, 3}, {7, 1}},
     {{4, 3}, {7, 5}},
     {{5, 3}, {7, 2}},
     {{6, 3}, {7, 4}}},
    {{{0, 1}, {5, 7}},
     {{1, 1}, {6, 0}},
     {{2, 1}, {7, 3}},
     {{3, 1}, {6, 4}},
     {{4, 1}, {7, 0}},
     {{2, 2}, {5, 3}},
     {{3, 2}, {5, 4}},
     {{6, 2}, {5, 5}},
     {{7, 2}, {5, 6}}},
};

/* param[0]: which; at[rank]: the partner, or the rank itself: noise. */
static bool is_noise(const sv__play *play, uint32_t rank)
{
    return play->at[rank] == rank;
}

static uint64_t spot_sends(const sv__play *play, uint32_t rank)
{
    return is_noise(play, rank) && play->noise == 0 ? 0 : SV_NEVER;
}

static uint32_t spot_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    (void)k;
    return is_noise(play, rank) ? sv__other_rank(play, rank) : play->at[rank];
}

static double spot_load(const sv__play *play, uint32_t rank)
{
    return is_noise(play, rank) ? play->noise : sv__rank_load(play, rank);
}

static sv_status spot_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {
        .sends = spot_sends, .to = spot_to, .load = spot_load, .steady = is_noise, .draws = true};
    uint64_t which;
    SV_TRY(sv__spec_number(spec, "which", 1, 3, 1, &which));
    SV_TRY(sv__key_load(spec, "noise", 0, &play->noise));
    if (play->size != POINTS)
        return sv__spec_fail(spec, "%u ranks are no mesh of %d by %d with one each", play->size,
                             SIDE, SIDE);
    uint32_t *at = SV_POOL_NEW(play->store, spec->ctx, uint32_t, POINTS);
    if (at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t rank = 0; rank < POINTS; rank++)
        at[rank] = rank;
    const struct flow *flow = flows[which - 1];
    for (; flow->from[0] + flow->from[1] + flow->to[0] + flow->to[1] > 0; flow++)
        at[flow->from[0] * SIDE + flow->from[1]] = flow->to[0] * (uint32_t)SIDE + flow->to[1];
    play->at = at;
    play->count = POINTS;
    play->moves = &moves;
    if (play->load == 0) { /* noise has a load, so flows have one, too */
        play->load = 1;
        play->kind = SV__PACED;
    }
    return SV_OK;
}

static const sv_sim_pattern_key spot_keys[] = {
    {"which", "situation 1, 2 or 3", "1"},
    {"noise", "load of uniform random messages of all that are in no flow, bursts or not", "0"},
    {NULL, NULL, NULL}};

const sv__pattern sv__meshspot = {
    .info = {.name = "meshspot",
             .summary = "flows that share part of their way in a mesh of 8 x 8",
             .keys = spot_keys,
             .endless = true},
    .open = spot_open};
