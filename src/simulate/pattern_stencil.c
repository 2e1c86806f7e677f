/*
 * pattern_stencil.c: the 6-point stencil in three dimensions: neighbours of a periodic box in turn.
 *
 * Ranks fill the box in row order, the last coordinate counting fastest; ranks beyond it are idle.
 * Each sends to -x, +x, -y, +y, -z, +z, and again. A side of one has no neighbours; on a side of
 * two both are the same.
 *
 * Without sides in the request the box is as large as it can be such that six neighbours are six
 * (no side below 3), and of those the one with the shortest longest side, then the largest shortest
 * one, longest side first; of fewer than 27 ranks all are in the box, whatever its sides.
 *
 * Cost: O(1) a message; choosing sides O(N^(2/3)) for each size tried, of which there are few.
 */
#include "simulate/traffic.h"

/* at lists the moves there are: 2 × dimension + (0 down, 1 up). */
static uint64_t stencil_sends(const sv__play *play, uint32_t rank)
{
    uint32_t points = play->param[0] * play->param[1] * play->param[2];
    return rank < points && play->count > 0 ? SV_NEVER : 0;
}

static uint32_t stencil_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    const uint32_t *sides = play->param;
    uint32_t move = play->at[k % play->count], side = sides[move / 2];
    uint32_t stride = move / 2 == 0 ? sides[1] * sides[2] : move / 2 == 1 ? sides[2] : 1;
    uint32_t x = rank / stride % side, to = (x + (move % 2 == 1 ? 1 : side - 1)) % side;
    return rank - x * stride + to * stride;
}

/* The best sides a >= b >= c >= least of exactly that many points; false: there are none. */
static bool factor(uint32_t points, uint32_t min, uint32_t *sides)
{
    sides[0] = 0;
    for (uint64_t c = min; c * c * c <= points; c++) {
        if (points % c != 0)
            continue;
        for (uint64_t b = c; b * b <= points / c; b++) {
            uint32_t a = (uint32_t)(points / c / b);
            if (points / c % b == 0 &&
                (sides[0] == 0 || a < sides[0] || (a == sides[0] && c > sides[2]))) {
                sides[0] = a;
                sides[1] = (uint32_t)b;
                sides[2] = (uint32_t)c;
            }
        }
    }
    return sides[0] > 0;
}

static void choose_sides(uint32_t ranks, uint32_t *sides)
{
    uint32_t min = ranks < 27 ? 1 : 3, points = ranks;
    while (!factor(points, min, sides))
        points--;
}

static sv_status stencil_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {.sends = stencil_sends, .to = stencil_to};
    size_t count;
    uint64_t points = 1;
    SV_TRY(sv__key_dims(spec, "dims", play->param, 3, &count));
    if (count == 0)
        choose_sides(play->size, play->param);
    else if (count != 3)
        return sv__spec_fail(spec, "dims has not three sides");
    uint32_t *at = SV_POOL_NEW(play->store, spec->ctx, uint32_t, 6);
    if (at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < 3; i++) {
        points = points > play->size ? points : points * play->param[i];
        for (uint32_t way = 0; way < 2 && play->param[i] > 1; way++)
            at[play->count++] = 2 * i + way;
    }
    if (points > play->size)
        return sv__spec_fail(spec, "dims need more than %u ranks", play->size);
    play->at = at;
    play->moves = &moves;
    return SV_OK;
}

static const sv_sim_pattern_key stencil_keys[] = {
    {"dims", "XxYxZ ranks, periodic; what is beyond is idle", "near a cube of all or most ranks"},
    {NULL, NULL, NULL}};

const sv__pattern sv__stencil = {
    .info = {.name = "stencil",
             .summary = "6-point 3D stencil: the neighbours in a periodic box in turn",
             .keys = stencil_keys,
             .endless = true},
    .open = stencil_open};
