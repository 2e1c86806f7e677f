/*
 * torus_ways.c: ways through a torus in the order of dimensions, and their SLs.
 *
 * A packet goes along the first dimension in which it is not yet where it has to be, the shorter
 * way round; where a ring or line is broken, the way that is open. Ways to one destination are
 * computed for all points at once: points that agree in the dimensions before lie side by side, and
 * whole slabs of them have the same way, so that most is memset; then the points of broken lines
 * are looked at again.
 *
 * Cost: O(points) bytes a destination, and some steps for each point of a broken line.
 */
#include <string.h>

#include "routing/torus2qos.h"

/* The shorter way round from one coordinate to another, whatever has failed. */
static uint8_t wanted_way(const sv__grid *x, uint32_t d, uint32_t from, uint32_t to, unsigned tie)
{
    uint32_t n = x->t->size[d];
    bool back = to < from;
    if (x->t->wraps[d]) {
        uint32_t forth = to >= from ? to - from : to + n - from;
        back = 2 * forth > n || (2 * forth == n && ((from % (n / 2) + (n == 4 ? 0 : tie)) & 1));
    }
    return (uint8_t)(2 * d + back);
}

/* What decides in a dimension when both ways are as short: destination, variant, other axes. */
static unsigned tie_of(const sv__grid *x, uint32_t target, unsigned variant, uint32_t d)
{
    for (uint32_t e = 0; e < x->t->dims; e++)
        variant += e == d ? 0 : sv__grid_coordinate(x, target, e);
    return variant & 1;
}

/* A way out of a point that is on a broken line, in the first dimension that differs. */
static uint8_t open_way(const sv__grid *x, uint32_t point, uint32_t d, uint32_t to, unsigned tie)
{
    uint32_t n = x->t->size[d], from = sv__grid_coordinate(x, point, d);
    uint8_t way = wanted_way(x, d, from, to, tie);
    for (int k = 0; k < 2; k++, way ^= 1) {
        uint32_t steps = way % 2 == (to < from) ? (to < from ? from - to : to - from)
                         : x->t->wraps[d]       ? n - (to < from ? from - to : to - from)
                                                : SV_NONE;
        if (x->run[point][way] >= steps)
            return way;
    }
    return SV__WAY_BLOCKED;
}

/* Whether a line counts for a target: packets are on it only once the dimensions before are done.
 */
static bool is_on_the_way(const sv__grid *x, const sv__torus_line *line, uint32_t target)
{
    for (uint32_t i = 0; x->order[i] != line->d; i++)
        if (sv__grid_coordinate(x, line->point, x->order[i]) !=
            sv__grid_coordinate(x, target, x->order[i]))
            return false;
    return true;
}

static bool mend_lines(const sv__grid *x, uint32_t target, unsigned variant, uint8_t *ways)
{
    bool blocked = false;
    for (uint32_t i = 0; i < x->num_broken; i++) {
        const sv__torus_line *line = &x->broken[i];
        if (!is_on_the_way(x, line, target))
            continue;
        uint32_t to = sv__grid_coordinate(x, target, line->d), stride = x->t->stride[line->d];
        unsigned tie = tie_of(x, target, variant, line->d);
        for (uint32_t c = 0, point = line->point; c < x->t->size[line->d]; c++, point += stride)
            if (c != to && x->t->at[point] != SV_NONE) {
                ways[point] = open_way(x, point, line->d, to, tie);
                blocked |= ways[point] == SV__WAY_BLOCKED;
            }
    }
    return blocked;
}

/* One dimension of some points that agree in those before; the last dimension counts fastest. */
static void fill_ways(const sv__grid *x, uint32_t target, unsigned variant, uint8_t *ways)
{
    for (uint32_t d = 0, base = 0; d < x->t->dims; d++) {
        uint32_t to = sv__grid_coordinate(x, target, d), stride = x->t->stride[d];
        unsigned tie = tie_of(x, target, variant, d);
        for (uint32_t c = 0; c < x->t->size[d]; c++)
            if (c != to)
                memset(ways + base + c * stride, wanted_way(x, d, c, to, tie), stride);
        base += to * stride;
    }
}

/* The same for any order of dimensions. */
static void fill_ways_in_order(const sv__grid *x, uint32_t target, unsigned variant, uint8_t *ways)
{
    unsigned tie[SV_TORUS_DIMS];
    for (uint32_t d = 0; d < x->t->dims; d++)
        tie[d] = tie_of(x, target, variant, d);
    for (uint32_t p = 0; p < x->t->points; p++)
        for (uint32_t i = 0; i < x->t->dims; i++) {
            uint32_t d = x->order[i], from = sv__grid_coordinate(x, p, d);
            uint32_t to = sv__grid_coordinate(x, target, d);
            if (from == to)
                continue;
            ways[p] = wanted_way(x, d, from, to, tie[d]);
            break;
        }
}

bool sv__grid_ways(const sv__grid *x, uint32_t target, unsigned variant, uint8_t *ways)
{
    bool natural = true;
    for (uint32_t d = 0; d < x->t->dims; d++)
        natural &= x->order[d] == d;
    if (natural)
        fill_ways(x, target, variant, ways);
    else
        fill_ways_in_order(x, target, variant, ways);
    ways[target] = SV__WAY_HOME;
    return mend_lines(x, target, variant, ways);
}

void sv__grid_sls(const sv__grid *x, uint32_t target, unsigned variant, uint8_t *sls)
{
    uint32_t length = 1;
    sls[0] = 0;
    for (uint32_t d = x->t->dims; d-- > 0; length *= x->t->size[d]) {
        uint32_t to = sv__grid_coordinate(x, target, d);
        unsigned tie = tie_of(x, target, variant, d);
        for (uint32_t c = x->t->size[d]; c-- > 0;) {
            bool back = wanted_way(x, d, c, to, tie) % 2;
            bool crosses = x->bit[d] != SV__NO_BIT && c != to && (back ? to > c : to < c);
            uint8_t bit = (uint8_t)(crosses ? 1u << x->bit[d] : 0);
            for (uint32_t i = 0; i < length; i++)
                sls[c * length + i] = sls[i] | bit;
        }
    }
}

/* The bundle behind each way out of each point. */
static sv_status find_bundles(sv__grid *x)
{
    const sv_torus *t = x->t;
    x->way = sv_arena_alloc(x->job->arena, t->points, sizeof *x->way);
    x->run = sv_arena_alloc(x->job->arena, t->points, sizeof *x->run);
    x->next = sv_arena_alloc(x->job->arena, t->points, sizeof *x->next);
    x->port = sv_arena_alloc(x->job->arena, t->points, sizeof *x->port);
    if (x->next == NULL || x->way == NULL || x->run == NULL || x->port == NULL)
        return SV_NO_MEMORY;
    for (uint32_t p = 0; p < t->points; p++)
        for (uint8_t way = 0; way < 2 * t->dims; way++) {
            uint32_t s = t->at[p], next = sv_torus_step(t, p, way / 2, way % 2);
            x->next[p][way] = next;
            x->way[p][way] = SV_NONE;
            if (s == SV_NONE || next == SV_NONE || t->at[next] == SV_NONE)
                continue;
            for (uint32_t b = x->g->first[s]; b < x->g->first[s + 1]; b++)
                if (x->g->to[b] == t->at[next]) {
                    x->way[p][way] = b;
                    x->port[p][way] = x->g->ports[x->g->first_port[b]];
                }
        }
    return SV_OK;
}

/* How far one can go along a line from each of its points; true: it is whole. */
static bool measure_line(sv__grid *x, uint32_t point, uint32_t d)
{
    uint32_t n = x->t->size[d], stride = x->t->stride[d];
    bool whole = true;
    for (unsigned back = 0; back < 2; back++) {
        uint32_t run = 0;
        /* Twice around, so that runs across the beginning are known. */
        for (uint32_t i = 0; i < 2 * n; i++) {
            uint32_t c = back ? i % n : n - 1 - i % n, p = point + c * stride;
            run = x->way[p][2 * d + back] == SV_NONE ? 0 : run + 1;
            run = run > n ? n : run;
            x->run[p][2 * d + back] = run;
            bool edge = !x->t->wraps[d] && c == (back ? 0 : n - 1);
            whole &= run > 0 || edge;
        }
    }
    return whole;
}

/* Which lines are not whole. */
static sv_status find_lines(sv__grid *x)
{
    const sv_torus *t = x->t;
    uint32_t max = 0;
    for (uint32_t d = 0; d < t->dims; d++)
        max += t->points / t->size[d];
    x->broken = SV_ARENA_NEW(x->job->arena, sv__torus_line, max);
    if (x->broken == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < t->dims; d++)
        for (uint32_t p = 0; p < t->points; p++)
            if (sv__grid_coordinate(x, p, d) == 0 && t->size[d] > 1 && !measure_line(x, p, d))
                x->broken[x->num_broken++] = (sv__torus_line){p, d};
    return SV_OK;
}

sv_status sv__grid_look(sv__grid *x)
{
    SV_TRY(find_bundles(x));
    return find_lines(x);
}
