/*
 * pattern_exchange.c: everybody to everybody, one to everybody, everybody to one.
 *
 * Exchange is the all-to-all of growing shifts (thesis 4.3.3.2, after Zahavi): +1, -1, +2, -2 …, so
 * that the two messages of a pair meet on the cables between them. N - 1 messages a rank: for an
 * even N the last shift, N / 2, comes once. (The thesis has one more for odd N, and its Eq. 4.2
 * does not: this follows the equation.)
 *
 * Cost: O(1) a message.
 */
#include "simulate/traffic.h"

static const sv_sim_pattern_key round_keys[] = {
    {"rounds", "how often all of it is sent; 0: endlessly", "1"}, {NULL, NULL, NULL}};

static const sv_sim_pattern_key root_keys[] = {
    {"root", "the one's rank", "0"},
    {"rounds", "messages to (from) each of the others; 0: endlessly", "1"},
    {NULL, NULL, NULL}};

/* ---- exchange ---- */

static uint64_t exchange_sends(const sv__play *play, uint32_t rank)
{
    (void)rank;
    return sv__in_rounds(play, play->size - 1);
}

static uint32_t exchange_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    uint32_t step = (uint32_t)(k % (play->size - 1)), shift = step / 2 + 1;
    uint64_t forward = step % 2 == 0 ? shift : play->size - shift;
    return (uint32_t)((rank + forward) % play->size);
}

static sv_status exchange_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = exchange_sends, .to = exchange_to};
    play->moves = &moves;
    return sv__key_rounds(play, spec, 1);
}

const sv__pattern sv__exchange = {
    .info = {.name = "exchange",
             .summary = "all-to-all by growing shifts: ranks +1, -1, +2, -2 …",
             .keys = round_keys},
    .open = exchange_open};

/* ---- one and the others ---- */

static sv_status read_root(sv__play *play, sv__spec *spec)
{
    uint64_t root;
    SV_TRY(sv__spec_number(spec, "root", 0, play->size - 1, 0, &root));
    play->param[0] = (uint32_t)root;
    return sv__key_rounds(play, spec, 1);
}

static uint64_t one_sends(const sv__play *play, uint32_t rank)
{
    return rank == play->param[0] ? sv__in_rounds(play, play->size - 1) : 0;
}

static uint32_t one_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    return (uint32_t)((rank + 1 + k % (play->size - 1)) % play->size);
}

static sv_status one_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = one_sends, .to = one_to};
    play->moves = &moves;
    return read_root(play, spec);
}

const sv__pattern sv__one_to_n = {
    .info = {.name = "1toN", .summary = "one rank to all others in turn", .keys = root_keys},
    .open = one_open};

static uint64_t others_send(const sv__play *play, uint32_t rank)
{
    return rank == play->param[0] ? 0 : sv__in_rounds(play, 1);
}

static uint32_t to_root(const sv__play *play, uint32_t rank, uint64_t k)
{
    (void)rank, (void)k;
    return play->param[0];
}

static sv_status others_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = others_send, .to = to_root};
    play->moves = &moves;
    return read_root(play, spec);
}

const sv__pattern sv__n_to_one = {
    .info = {.name = "Nto1", .summary = "all ranks to one", .keys = root_keys},
    .open = others_open};
