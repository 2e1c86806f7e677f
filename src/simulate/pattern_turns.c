/*
 * pattern_turns.c: ranks that answer each other: ping-pong and the ordered ring.
 *
 * Ping-pong: of each pair one sends, the other sends back when that has arrived, and so on; a round
 * is there and back. All pairs play at once.
 *
 * Ring (the naturally ordered ring of HPCC): in a round each rank sends to the next and to the one
 * before it, and the next round is its turn when it has both neighbours' messages of this one.
 *
 * Why few times are enough (depth): a partner of ping-pong is never ahead. In the ring a neighbour
 * sends in round r + 1 only when it has what this rank sent in round r. So while a message of round
 * r waits to be asked for, the two receptions before it and those of round r are all that can have
 * been counted, and of each kind at most two are early: those of rounds r and r + 1.
 *
 * Cost: O(1) a message (O(log N) for random pairs).
 */
#include "simulate/traffic.h"

/* ---- ping-pong ---- */

enum { NEAR, FAR, RANDOM };

/* The partner, or SV_NONE. */
static uint32_t partner(const sv__play *play, uint32_t rank)
{
    uint32_t half = play->size / 2;
    if (play->param[0] == RANDOM)
        return sv__matched(play, 0, rank);
    if (rank >= 2 * half)
        return SV_NONE;
    if (play->param[0] == NEAR)
        return rank ^ 1;
    return rank < half ? rank + half : rank - half;
}

static uint64_t pingpong_sends(const sv__play *play, uint32_t rank)
{
    return play->at[rank] == SV_NONE ? 0 : sv__in_rounds(play, 1);
}

static uint64_t pingpong_needs(const sv__play *play, uint32_t rank, uint64_t g)
{
    return rank < play->at[rank] ? g : g + 1;
}

static unsigned one_kind(const sv__play *play, uint32_t rank, uint64_t n)
{
    (void)play, (void)rank, (void)n;
    return 0;
}

static sv__send pingpong_send(const sv__play *play, uint32_t rank, uint64_t g)
{
    (void)g;
    return (sv__send){.to = play->at[rank], .bytes = play->bytes};
}

static sv_status pingpong_open(sv__play *play, sv__spec *spec)
{
    static const char *const words[] = {"near", "far", "random", NULL};
    static const sv__moves moves = {.sends = pingpong_sends,
                                    .send = pingpong_send,
                                    .needs = pingpong_needs,
                                    .expects = one_kind};
    unsigned pairs;
    SV_TRY(sv__key_choice(spec, "pairs", words, &pairs));
    play->param[0] = pairs;
    uint32_t *at = SV_POOL_NEW(play->store, spec->ctx, uint32_t, play->size);
    if (at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t rank = 0; rank < play->size; rank++)
        at[rank] = partner(play, rank);
    play->at = at;
    play->moves = &moves;
    play->depth = 1;
    return sv__key_rounds(play, spec, 10);
}

static const sv_sim_pattern_key pingpong_keys[] = {
    {"pairs", "near (0 and 1, 2 and 3 …), far (half of all ranks apart) or random", "near"},
    {"rounds", "there and back; 0: endlessly", "10"},
    {NULL, NULL, NULL}};

const sv__pattern sv__pingpong = {
    .info = {.name = "pingpong",
             .summary = "pairs of ranks send to and fro, each when the other's message is there",
             .keys = pingpong_keys,
             .waits = true},
    .open = pingpong_open};

/* ---- ring ---- */

static uint64_t ring_sends(const sv__play *play, uint32_t rank)
{
    (void)rank;
    return sv__in_rounds(play, 2);
}

static uint64_t ring_needs(const sv__play *play, uint32_t rank, uint64_t g)
{
    (void)play, (void)rank;
    return g / 2 * 2;
}

/* Kind 0 goes up, kind 1 down. */
static unsigned ring_expects(const sv__play *play, uint32_t rank, uint64_t n)
{
    (void)play, (void)rank;
    return n % 2;
}

static sv__send ring_send(const sv__play *play, uint32_t rank, uint64_t g)
{
    uint64_t up = g % 2 == 0 ? 1 : play->size - 1;
    return (sv__send){.to = (uint32_t)((rank + up) % play->size),
                      .bytes = play->bytes,
                      .kind = (unsigned)(g % 2)};
}

static sv_status ring_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {
        .sends = ring_sends, .send = ring_send, .needs = ring_needs, .expects = ring_expects};
    play->moves = &moves;
    play->depth = 3;
    return sv__key_rounds(play, spec, 10);
}

static const sv_sim_pattern_key ring_keys[] = {
    {"rounds", "messages to each side; 0: endlessly", "10"}, {NULL, NULL, NULL}};

const sv__pattern sv__ring = {
    .info = {.name = "ring",
             .summary = "ordered ring: to both neighbours, again when both have sent",
             .keys = ring_keys,
             .waits = true},
    .open = ring_open};
