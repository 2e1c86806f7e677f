/*
 * torus_place.c: switches that walls and slabs left over, and the last word on all of them.
 *
 * A switch next to failures may be in no square at all: the corner of a mesh, say, beside a failed
 * cable. It goes where it is one step from all its neighbours that have a place. If there are
 * several such points, that is taken where the fewest cables are missing, within the bounds of the
 * rest if possible; the switches with the fewest choices go first. A mesh may grow by that, and
 * become a ring when the last switch is next to the first.
 *
 * In the end every cable must be one step in one dimension. That is all a routing needs: whatever
 * was guessed on the way, coordinates are right if this holds.
 *
 * Cost: linear, and quadratic in the switches left over.
 */
#include <stdlib.h>
#include <string.h>

#include "structure/torus_find.h"

struct box {
    sv__raw *x;
    int32_t least[SV_TORUS_DIMS];
    uint32_t length[SV_TORUS_DIMS];
    uint32_t *who; /* switch at each point, with some room around: SV_NONE: nobody */
};

enum { OUTSIDE = 1000, IMPOSSIBLE = 1000000 };

/* The point of some coordinates; SV_NONE: beyond all bounds. */
static size_t point_of(const struct box *b, const int32_t *at)
{
    size_t point = 0;
    for (uint32_t d = 0; d < b->x->dims; d++) {
        int64_t c = (int64_t)at[d] - b->least[d];
        if (c < 0 || c >= b->length[d])
            return SV_NONE;
        point = point * b->length[d] + (size_t)c;
    }
    return point;
}

static sv_status box_init(struct box *b, sv__raw *x)
{
    int32_t margin = x->dims > 4 ? 1 : 3;
    uint64_t points = 1;
    b->x = x;
    for (uint32_t d = 0; d < x->dims; d++) {
        b->least[d] = x->low[d] - margin;
        b->length[d] = (uint32_t)(sv__raw_size(x, d) + 2 * margin);
        points *= b->length[d];
        if (points > (uint64_t)x->count * 4096 + 1000000)
            return sv_fail(
                x->ctx, SV_INFEASIBLE,
                "no mesh or torus: the %u switches around '%s' would be spread over more "
                "than %llu points",
                x->count, sv__raw_name(x, x->members[0]), (unsigned long long)points);
    }
    b->who = SV_ARENA_NEW(x->arena, uint32_t, points);
    if (b->who == NULL)
        return SV_NO_MEMORY;
    memset(b->who, 0xff, points * sizeof *b->who);
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t s = x->members[m];
        if (!x->placed[s])
            continue;
        size_t point = point_of(b, x->at[s]);
        if (b->who[point] != SV_NONE)
            return sv_fail(x->ctx, SV_INFEASIBLE,
                           "no mesh or torus: switches '%s' and '%s' would have the same "
                           "coordinates",
                           sv__raw_name(x, b->who[point]), sv__raw_name(x, s));
        b->who[point] = s;
    }
    return SV_OK;
}

/*
 * Whether two points are one step apart. *closing: SV_TORUS_DIMS, or the dimension that has to be a
 * ring for that, and is not known as one.
 */
static bool one_step(const sv__raw *x, const int32_t *a, const int32_t *b, uint32_t *closing)
{
    uint32_t differ = SV_TORUS_DIMS;
    *closing = SV_TORUS_DIMS;
    for (uint32_t d = 0; d < x->dims; d++)
        if (a[d] != b[d]) {
            if (differ != SV_TORUS_DIMS)
                return false;
            differ = d;
        }
    if (differ == SV_TORUS_DIMS)
        return false;
    int32_t apart = abs(a[differ] - b[differ]), low = x->low[differ], high = x->high[differ];
    if (apart == 1)
        return true;
    low = a[differ] < low ? a[differ] : b[differ] < low ? b[differ] : low;
    high = a[differ] > high ? a[differ] : b[differ] > high ? b[differ] : high;
    if (apart != high - low || apart < 2)
        return false;
    if (!x->closed[differ])
        *closing = differ;
    return true;
}

static bool are_cabled(const sv_bundles *g, uint32_t a, uint32_t b)
{
    for (uint32_t i = g->first[a]; i < g->first[a + 1]; i++)
        if (g->to[i] == b)
            return true;
    return false;
}

/* Moves a point a step; false: beyond a ring's bounds there is nothing, it comes round. */
static void step(const sv__raw *x, int32_t *at, uint32_t d, int32_t by)
{
    at[d] += by;
    if (x->closed[d] && at[d] > x->high[d])
        at[d] = x->low[d];
    if (x->closed[d] && at[d] < x->low[d])
        at[d] = x->high[d];
}

/* How bad it is to put a switch at a point: what is missing there. */
static uint32_t judge(const struct box *b, uint32_t u, const int32_t *at)
{
    const sv__raw *x = b->x;
    uint32_t bad = 0, unused;
    size_t point = point_of(b, at);
    if (point == SV_NONE || b->who[point] != SV_NONE)
        return IMPOSSIBLE;
    for (uint32_t i = x->g->first[u]; i < x->g->first[u + 1]; i++)
        if (x->placed[x->g->to[i]] && !one_step(x, at, x->at[x->g->to[i]], &unused))
            return IMPOSSIBLE;
    for (uint32_t d = 0; d < x->dims; d++) {
        bad += at[d] < x->low[d] || at[d] > x->high[d] ? OUTSIDE : 0;
        for (int32_t by = -1; by <= 1; by += 2) {
            int32_t next[SV_TORUS_DIMS];
            memcpy(next, at, sizeof next);
            step(x, next, d, by);
            size_t beside = point_of(b, next);
            if (beside != SV_NONE && b->who[beside] != SV_NONE && b->who[beside] != u &&
                !are_cabled(x->g, u, b->who[beside]))
                bad++;
        }
    }
    return bad;
}

/* The best point for a switch that has a neighbour with a place, how bad it is, and how many are.
 */
static uint32_t best_point(const struct box *b, uint32_t u, int32_t *best, uint32_t *choices)
{
    const sv__raw *x = b->x;
    uint32_t beside = SV_NONE, least = IMPOSSIBLE;
    *choices = 0;
    for (uint32_t i = x->g->first[u]; i < x->g->first[u + 1]; i++)
        if (x->placed[x->g->to[i]])
            beside = x->g->to[i];
    if (beside == SV_NONE)
        return IMPOSSIBLE;
    for (uint32_t d = 0; d < x->dims; d++)
        for (int32_t by = -1; by <= 1; by += 2) {
            int32_t at[SV_TORUS_DIMS] = {0};
            memcpy(at, x->at[beside], sizeof at);
            step(x, at, d, by);
            uint32_t bad = judge(b, u, at);
            if (bad < least) {
                memcpy(best, at, sizeof at);
                least = bad;
                *choices = 0;
            }
            *choices += bad == least && bad < IMPOSSIBLE;
        }
    return least;
}

/* The bounds as they are with a switch in its place. */
static void settle(struct box *b, uint32_t u, const int32_t *at)
{
    sv__raw *x = b->x;
    uint32_t closing;
    for (uint32_t i = x->g->first[u]; i < x->g->first[u + 1]; i++)
        if (x->placed[x->g->to[i]] && one_step(x, at, x->at[x->g->to[i]], &closing) &&
            closing < SV_TORUS_DIMS)
            x->closed[closing] = true;
    memcpy(x->at[u], at, sizeof x->at[u]);
    x->placed[u] = true;
    b->who[point_of(b, at)] = u;
    for (uint32_t d = 0; d < x->dims; d++) {
        x->low[d] = at[d] < x->low[d] ? at[d] : x->low[d];
        x->high[d] = at[d] > x->high[d] ? at[d] : x->high[d];
    }
}

/* Places the switch with the fewest choices; false: none has any. */
static bool place_one(struct box *b, const uint32_t *left, uint32_t count)
{
    sv__raw *x = b->x;
    int32_t at[SV_TORUS_DIMS] = {0}, best[SV_TORUS_DIMS] = {0};
    uint32_t chosen = SV_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t choices;
        if (x->placed[left[i]])
            continue;
        uint32_t bad = best_point(b, left[i], at, &choices);
        uint64_t key = (uint64_t)choices << 32 | bad;
        if (bad < IMPOSSIBLE && key < least) {
            least = key;
            chosen = left[i];
            memcpy(best, at, sizeof best);
        }
    }
    if (chosen != SV_NONE)
        settle(b, chosen, best);
    return chosen != SV_NONE;
}

/* Cables between the two ends of lines make them rings. */
static sv_status check_steps(sv__raw *x)
{
    const sv_bundles *g = x->g;
    for (uint32_t m = 0; m < x->count; m++)
        for (uint32_t s = x->members[m], b = g->first[s]; b < g->first[s + 1]; b++) {
            uint32_t closing;
            if (!x->placed[s] || !x->placed[g->to[b]])
                continue;
            if (!one_step(x, x->at[s], x->at[g->to[b]], &closing))
                return sv_fail(x->ctx, SV_INFEASIBLE,
                               "no mesh or torus: '%s' and '%s' are cabled, but not next to each "
                               "other by what their neighbours say",
                               sv__raw_name(x, s), sv__raw_name(x, g->to[b]));
            if (closing < SV_TORUS_DIMS)
                x->closed[closing] = true;
        }
    return SV_OK;
}

sv_status sv__torus_place(sv__raw *x)
{
    struct box b = {.x = x};
    uint32_t *left = SV_ARENA_NEW(x->arena, uint32_t, x->count), count = 0;
    if (left == NULL)
        return SV_NO_MEMORY;
    for (uint32_t m = 0; m < x->count; m++)
        if (!x->placed[x->members[m]])
            left[count++] = x->members[m];
    if (count > 64 && count > x->count / 4)
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "no mesh or torus: %u of %u switches, '%s' for one, are in no place that "
                       "squares of cables tell",
                       count, x->count, sv__raw_name(x, left[0]));
    SV_TRY(box_init(&b, x));
    SV_TRY(check_steps(x));
    for (uint32_t i = 0; i < count; i++)
        if (!place_one(&b, left, count)) {
            uint32_t s = 0;
            while (x->placed[left[s]])
                s++;
            return sv_fail(x->ctx, SV_INFEASIBLE,
                           "no mesh or torus: switch '%s' is next to switches that have no free "
                           "point between them",
                           sv__raw_name(x, left[s]));
        }
    return check_steps(x);
}
