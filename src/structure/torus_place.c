/*
 * torus_place.c: switches that walls and slabs left over, and the last word on all of them.
 *
 * A switch next to failures may be in no square at all: the corner of a mesh, say, beside a failed
 * cable. It goes where it is one step from all its neighbours that have a place. If there are
 * several such points, that is taken where the fewest cables are missing, within the bounds of the
 * rest if possible; the switches with the fewest choices go first, and a choice that leaves another
 * switch without any is taken back (some thousand times). A mesh may grow by that, and become a
 * ring when the last switch is next to the first.
 *
 * Small pieces with many failures may not come out so. They are fitted, switch by switch, into
 * boxes of points: the smallest first, with as few rings as can be.
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
    int32_t min[SV_TORUS_DIMS];
    uint32_t length[SV_TORUS_DIMS];
    uint32_t *who;  /* switch at each point, with some room around: SV_NONE: nobody */
    uint32_t stuck; /* the last that had no place */
    uint32_t spare; /* cables that may still be missing */
};

enum { OUTSIDE = 1000, IMPOSSIBLE = 1000000, TRIES = 2000, SMALL = 100 };

/* The point of some coordinates; SV_NONE: beyond all bounds. */
static size_t point_of(const struct box *b, const int32_t *at)
{
    size_t point = 0;
    for (uint32_t d = 0; d < b->x->dims; d++) {
        int64_t c = (int64_t)at[d] - b->min[d];
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
        b->min[d] = x->low[d] - margin;
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
        if (b->who[point] == SV_NONE)
            b->who[point] = s;
        else
            x->placed[s] = false;
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

/* Moves a point a step; in a ring it comes round. */
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

/* A point where a switch may be. */
struct candidate {
    int32_t at[SV_TORUS_DIMS];
    uint32_t bad;
};

enum { MAX_CANDIDATES = 2 * SV_TORUS_DIMS };

/*
 * The points where a switch may be, the best first; returns how many. SV_NONE: none of its
 * neighbours has a place, it may be anywhere.
 */
static uint32_t list_points(const struct box *b, uint32_t u, struct candidate *list)
{
    const sv__raw *x = b->x;
    uint32_t beside = SV_NONE, count = 0;
    for (uint32_t i = x->g->first[u]; i < x->g->first[u + 1]; i++)
        if (x->placed[x->g->to[i]])
            beside = x->g->to[i];
    if (beside == SV_NONE)
        return SV_NONE;
    for (uint32_t way = 0; way < 2 * x->dims; way++) {
        struct candidate c = {{0}, 0};
        memcpy(c.at, x->at[beside], sizeof c.at);
        step(x, c.at, way / 2, way % 2 ? 1 : -1);
        c.bad = judge(b, u, c.at);
        if (c.bad == IMPOSSIBLE)
            continue;
        uint32_t k = count++;
        for (; k > 0 && list[k - 1].bad > c.bad; k--)
            list[k] = list[k - 1];
        list[k] = c;
    }
    return count;
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

/* The switch with the fewest choices, SV_NONE: all have a place. Equals: the one that fits best. */
static uint32_t max_certain(const struct box *b, const uint32_t *left, uint32_t count,
                            struct candidate *list, uint32_t *choices)
{
    struct candidate own[MAX_CANDIDATES];
    uint32_t chosen = SV_NONE;
    uint64_t min = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (b->x->placed[left[i]])
            continue;
        uint32_t found = list_points(b, left[i], own);
        uint32_t as_good = 0;
        while (found != SV_NONE && as_good < found && own[as_good].bad == own[0].bad)
            as_good++;
        if (found == SV_NONE)
            continue;
        uint64_t key = found == 0 ? 0 : (uint64_t)as_good << 32 | own[0].bad;
        if (key < min) {
            min = key;
            chosen = left[i];
            *choices = found;
            memcpy(list, own, sizeof own);
        }
    }
    return chosen;
}

/* Places all that are left, each where it fits best, and elsewhere if others then fit nowhere. */
static bool place_all(struct box *b, const uint32_t *left, uint32_t count, uint32_t *budget)
{
    sv__raw *x = b->x;
    struct candidate list[MAX_CANDIDATES];
    sv__raw before = *x;
    uint32_t choices = 0, u = max_certain(b, left, count, list, &choices);
    if (u == SV_NONE)
        return true;
    b->stuck = u;
    for (uint32_t i = 0; *budget > 0 && i < choices; i++) {
        uint32_t missing = list[i].bad % OUTSIDE;
        if (missing > b->spare)
            break;
        --*budget;
        b->spare -= missing;
        settle(b, u, list[i].at);
        if (place_all(b, left, count, budget))
            return true;
        b->spare += missing;
        *x = before;
        x->placed[u] = false;
        b->who[point_of(b, list[i].at)] = SV_NONE;
    }
    return false;
}

/*
 * A slab that failures cut in two may have been counted twice, as the first and as the last of what
 * is a ring: cables lead from the one to what is beside the other. Then they are one.
 */
static void fold_ends(sv__raw *x, uint32_t d)
{
    const sv_bundles *g = x->g;
    int32_t low = x->low[d], high = x->high[d];
    bool twice = false;
    if (x->closed[d] || high - low < 3)
        return;
    for (uint32_t m = 0; m < x->count; m++)
        for (uint32_t s = x->members[m], i = g->first[s]; i < g->first[s + 1]; i++) {
            int32_t a = x->at[s][d], b = x->at[g->to[i]][d];
            twice |= (a == low && b == high - 1) || (a == low + 1 && b == high);
        }
    if (!twice)
        return;
    x->closed[d] = true;
    x->high[d]--;
    for (uint32_t m = 0; m < x->count; m++)
        if (x->at[x->members[m]][d] == high)
            x->at[x->members[m]][d] = low;
}

/* Takes the places of switches away that contradict each other; they are looked for again. */
static void clear_doubts(struct box *b)
{
    sv__raw *x = b->x;
    const sv_bundles *g = x->g;
    uint32_t unused;
    for (uint32_t m = 0; m < x->count; m++)
        for (uint32_t s = x->members[m], i = g->first[s]; i < g->first[s + 1]; i++) {
            uint32_t t = g->to[i];
            if (!x->placed[s] || !x->placed[t] || one_step(x, x->at[s], x->at[t], &unused))
                continue;
            b->who[point_of(b, x->at[s])] = b->who[point_of(b, x->at[t])] = SV_NONE;
            x->placed[s] = x->placed[t] = false;
        }
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

/* ---- boxes ---- */

/* A search for a box of points that small fabrics with many failures fit into. */
struct hunt {
    struct box b;
    uint32_t seed, cables, budget;
};

/* Fits all switches into a box whose sizes and rings x tells. */
static bool fit(struct hunt *h, uint32_t points)
{
    sv__raw *x = h->b.x;
    bool rings = true;
    for (uint32_t d = 0; d < x->dims; d++) {
        h->b.min[d] = 0;
        h->b.length[d] = (uint32_t)sv__raw_size(x, d);
        rings &= x->closed[d] || h->b.length[d] == 2;
    }
    /* Where everything is a ring or a pair, one point is as good as another. */
    for (uint32_t p = 0; p < (rings ? 1 : points) && h->budget > 0; p++) {
        sv__raw before = *x;
        int32_t at[SV_TORUS_DIMS] = {0};
        uint32_t rest = p, steps = 0;
        for (uint32_t d = x->dims; d-- > 0; rest /= h->b.length[d]) {
            at[d] = (int32_t)(rest % h->b.length[d]);
            steps += points / h->b.length[d] * (h->b.length[d] - !x->closed[d]);
        }
        memset(h->b.who, 0xff, points * sizeof *h->b.who);
        for (uint32_t m = 0; m < x->count; m++)
            x->placed[x->members[m]] = false;
        h->b.spare = steps - h->cables;
        settle(&h->b, h->seed, at);
        uint32_t budget = h->budget < 300 ? h->budget : 300, spent = budget;
        if (place_all(&h->b, x->members, x->count, &budget))
            return true;
        h->budget -= spent - budget + 1 < h->budget ? spent - budget + 1 : h->budget;
        *x = before;
    }
    return false;
}

/* Every choice of rings for a box, those with the fewest first; must have room for all cables. */
static bool fit_rings(struct hunt *h, uint32_t points)
{
    sv__raw *x = h->b.x;
    for (uint32_t wanted = 0; wanted <= x->dims; wanted++)
        for (uint32_t mask = 0; mask < 1u << x->dims; mask++) {
            uint32_t rings = 0, steps = 0;
            bool good = true;
            for (uint32_t d = 0; d < x->dims; d++) {
                uint32_t size = (uint32_t)sv__raw_size(x, d);
                x->closed[d] = mask >> d & 1;
                good &= !x->closed[d] || size > 2;
                rings += x->closed[d];
                steps += points / size * (size - !x->closed[d]);
            }
            if (good && rings == wanted && steps >= h->cables && 3 * h->cables >= 2 * steps &&
                fit(h, points))
                return true;
        }
    return false;
}

/* Every box of some points, sizes from d on descending. */
static bool fit_boxes(struct hunt *h, uint32_t d, uint32_t left, uint32_t points)
{
    sv__raw *x = h->b.x;
    if (d == x->dims)
        return left == 1 && fit_rings(h, points);
    for (uint32_t size = d > 0 ? (uint32_t)sv__raw_size(x, d - 1) : left; size >= 2; size--) {
        if (left % size != 0)
            continue;
        x->low[d] = 0;
        x->high[d] = (int32_t)size - 1;
        if (fit_boxes(h, d + 1, left / size, points))
            return true;
    }
    return false;
}

/* Places all switches of a small piece in the smallest box that takes them; false: none was found.
 */
static sv_status hunt(sv__raw *x, bool *found)
{
    uint32_t max = x->count + (x->count < 12 ? 3 : x->count / 4);
    struct hunt h = {.b = {.x = x, .who = SV_ARENA_NEW(x->arena, uint32_t, max)},
                     .seed = x->members[0],
                     .budget = 8000};
    const sv_bundles *g = x->g;
    *found = false;
    if (h.b.who == NULL)
        return SV_NO_MEMORY;
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t s = x->members[m];
        h.cables += g->first[s + 1] - g->first[s];
        if (g->first[s + 1] - g->first[s] > g->first[h.seed + 1] - g->first[h.seed])
            h.seed = s;
    }
    h.cables /= 2;
    for (uint32_t points = x->count; points <= max && !*found && x->count <= SMALL; points++)
        *found = fit_boxes(&h, 0, points, points);
    return SV_OK;
}

/* Places what walls and slabs left over; INFEASIBLE if that does not fit. */
static sv_status place_rest(sv__raw *x)
{
    struct box b = {.x = x, .spare = UINT32_MAX};
    uint32_t *left = SV_ARENA_NEW(x->arena, uint32_t, x->count), count = 0;
    if (left == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < x->dims; d++)
        fold_ends(x, d);
    SV_TRY(box_init(&b, x));
    clear_doubts(&b);
    for (uint32_t m = 0; m < x->count; m++)
        if (!x->placed[x->members[m]])
            left[count++] = x->members[m];
    if (count == x->count || (count > 64 && count > x->count / 4))
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "no mesh or torus: %u of %u switches, '%s' for one, are in no place that "
                       "squares of cables tell",
                       count, x->count, sv__raw_name(x, left[0]));
    SV_TRY(check_steps(x));
    uint32_t budget = TRIES + 2 * count;
    if (!place_all(&b, left, count, &budget))
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "no mesh or torus: switch '%s' is next to switches that have no free point "
                       "between them",
                       sv__raw_name(x, b.stuck));
    return count > 0 ? check_steps(x) : SV_OK;
}

sv_status sv__torus_place(sv__raw *x)
{
    bool found;
    sv_status status = place_rest(x);
    if (status != SV_INFEASIBLE || x->count > SMALL)
        return status;
    SV_TRY(hunt(x, &found));
    return found ? check_steps(x) : SV_INFEASIBLE;
}
