/*
 * torus_axes.c: which dimension is x, which way it points, and where it begins.
 *
 * Coordinates that are found from the graph are right up to turning the torus round. A routing
 * whose service levels follow from coordinates wants the same ones again after a failure. With a
 * torus-2QoS.conf they are what its seed says. Without, GUIDs decide, by vote, so that a failed
 * switch has one voice of many: the dimension with the largest steps in the order of GUIDs is the
 * first; a ring begins where most of its parallel lines have their lowest GUID, and goes on to the
 * side where most have the lower one. Where GUIDs were given along the axes, every vote is
 * unanimous.
 *
 * Dimensions of two switches are first paired to rings of four (torus.c tells why): those with the
 * smallest steps go together.
 *
 * Cost: O(switches × dimensions + switches × log switches).
 */
#include "structure/torus_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dimension as it will be: one that was found, or two of them that make a ring of four. */
struct axis {
    uint32_t one, other; /* found dimensions; SV_NONE: there is none */
    uint32_t size;
    bool wraps;
    double step; /* mean difference of ranks between neighbours */
    /* The coordinate is (turn × (c - origin) + shift) modulo size. */
    int32_t turn, origin, shift;
};

struct axes {
    const sv__raw *x;
    struct axis list[SV_TORUS_DIMS];
    uint32_t count;
    double step[SV_TORUS_DIMS]; /* of found dimensions */
    bool taken[SV_TORUS_DIMS];
    uint32_t *rank; /* [switches]: in the order of GUIDs */
};

struct ranked {
    uint64_t guid;
    uint32_t s;
};

static int by_guid(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    return p->guid != q->guid ? (p->guid < q->guid ? -1 : 1) : p->s < q->s ? -1 : p->s > q->s;
}

static sv_status rank_switches(struct axes *a)
{
    const sv__raw *x = a->x;
    struct ranked *list = SV_ARENA_NEW(x->arena, struct ranked, x->count);
    a->rank = SV_ARENA_NEW(x->arena, uint32_t, x->fabric->num_switches);
    if (list == NULL || a->rank == NULL)
        return SV_NO_MEMORY;
    for (uint32_t m = 0; m < x->count; m++)
        list[m] = (struct ranked){x->fabric->switches[x->members[m]].guid, x->members[m]};
    qsort(list, x->count, sizeof *list, by_guid);
    for (uint32_t m = 0; m < x->count; m++)
        a->rank[list[m].s] = m;
    return SV_OK;
}

/* The found dimension of a step between two neighbours. */
static uint32_t dim_of_step(const sv__raw *x, uint32_t s, uint32_t t)
{
    uint32_t d = 0;
    while (x->at[s][d] == x->at[t][d])
        d++;
    return d;
}

static void measure_steps(struct axes *a)
{
    const sv__raw *x = a->x;
    double count[SV_TORUS_DIMS] = {0};
    for (uint32_t m = 0; m < x->count; m++)
        for (uint32_t s = x->members[m], b = x->g->first[s]; b < x->g->first[s + 1]; b++) {
            uint32_t d = dim_of_step(x, s, x->g->to[b]);
            a->step[d] += abs((int)a->rank[s] - (int)a->rank[x->g->to[b]]);
            count[d]++;
        }
    for (uint32_t d = 0; d < x->dims; d++)
        a->step[d] /= count[d] > 0 ? count[d] : 1;
}

static bool is_pairable(const sv__raw *x, uint32_t d)
{
    return sv__raw_size(x, d) == 2 && !x->closed[d];
}

/* An axis of one found dimension, or of two. */
static struct axis axis_of(struct axes *a, uint32_t one, uint32_t other)
{
    const sv__raw *x = a->x;
    a->taken[one] = true;
    if (other == SV_NONE)
        return (struct axis){.one = one,
                             .other = SV_NONE,
                             .size = (uint32_t)sv__raw_size(x, one),
                             .wraps = x->closed[one],
                             .step = a->step[one],
                             .turn = 1};
    a->taken[other] = true;
    return (struct axis){.one = one,
                         .other = other,
                         .size = 4,
                         .wraps = true,
                         .step = (a->step[one] + a->step[other]) / 2,
                         .turn = 1};
}

/* The coordinate of a switch along an axis, before it is turned. */
static int32_t raw_coordinate(const sv__raw *x, const struct axis *axis, uint32_t s)
{
    if (axis->one == SV_NONE)
        return 0;
    int32_t c = x->at[s][axis->one] - x->low[axis->one];
    if (axis->other == SV_NONE)
        return c;
    return x->at[s][axis->other] == x->low[axis->other] ? c : 3 - c;
}

static uint32_t coordinate(const sv__raw *x, const struct axis *axis, uint32_t s)
{
    int32_t size = (int32_t)axis->size;
    int32_t c = axis->turn * (raw_coordinate(x, axis, s) - axis->origin) + axis->shift;
    return (uint32_t)((c % size + size) % size);
}

/* ---- by GUIDs ---- */

/* The found dimension, of those not taken, with the smallest steps; pairable: of two switches. */
static uint32_t smallest_step(const struct axes *a, bool pairable)
{
    uint32_t best = SV_NONE;
    for (uint32_t d = 0; d < a->x->dims; d++)
        if (!a->taken[d] && (!pairable || is_pairable(a->x, d)) &&
            (best == SV_NONE || a->step[d] < a->step[best]))
            best = d;
    return best;
}

static void list_axes(struct axes *a)
{
    for (uint32_t one; (one = smallest_step(a, true)) != SV_NONE;) {
        a->taken[one] = true;
        a->list[a->count++] = axis_of(a, one, smallest_step(a, true));
    }
    for (uint32_t one; (one = smallest_step(a, false)) != SV_NONE;)
        a->list[a->count++] = axis_of(a, one, SV_NONE);
    for (uint32_t i = 1; i < a->count; i++) /* the largest steps first */
        for (uint32_t k = i; k > 0 && a->list[k - 1].step < a->list[k].step; k--) {
            struct axis held = a->list[k];
            a->list[k] = a->list[k - 1];
            a->list[k - 1] = held;
        }
}

/* The ranks along one line of an axis, SV_NONE where there is no switch; how many there are. */
static uint32_t read_line(const struct axes *a, const uint32_t *at, const uint32_t *stride,
                          uint32_t axis, uint32_t point, uint32_t *ranks)
{
    uint32_t there = 0;
    for (uint32_t c = 0; c < a->list[axis].size; c++) {
        uint32_t s = at[point + c * stride[axis]];
        ranks[c] = s == SV_NONE ? SV_NONE : a->rank[s];
        there += s != SV_NONE;
    }
    return there;
}

struct votes {
    uint32_t *origin; /* [size] */
    int32_t turn;
};

/* Votes of all lines of an axis: for where it begins, or (with an origin) for where it leads. */
static void vote(const struct axes *a, const uint32_t *at, uint32_t points, const uint32_t *stride,
                 uint32_t axis, bool whole, uint32_t *ranks, struct votes *votes)
{
    uint32_t size = a->list[axis].size, origin = (uint32_t)a->list[axis].origin;
    for (uint32_t point = 0; point < points; point++) {
        if (point / stride[axis] % size != 0)
            continue;
        uint32_t there = read_line(a, at, stride, axis, point, ranks), min = 0;
        if (there == 0 || (whole && there < size))
            continue;
        for (uint32_t c = 1; c < size; c++)
            min = ranks[c] < ranks[min] ? c : min;
        votes->origin[min]++;
        uint32_t next = ranks[(origin + 1) % size], before = ranks[(origin + size - 1) % size];
        if (!a->list[axis].wraps) {
            next = ranks[0];
            before = ranks[size - 1];
        }
        if (next != SV_NONE && before != SV_NONE)
            votes->turn += next < before ? 1 : -1;
    }
}

static sv_status turn_axis(struct axes *a, const uint32_t *at, uint32_t points,
                           const uint32_t *stride, uint32_t axis)
{
    struct axis *it = &a->list[axis];
    struct votes votes = {SV_ARENA_NEW(a->x->arena, uint32_t, it->size), 0};
    uint32_t *ranks = SV_ARENA_NEW(a->x->arena, uint32_t, it->size), best = 0;
    if (votes.origin == NULL || ranks == NULL)
        return SV_NO_MEMORY;
    vote(a, at, points, stride, axis, true, ranks, &votes);
    for (uint32_t c = 0; c < it->size; c++)
        best = votes.origin[c] > votes.origin[best] ? c : best;
    if (votes.origin[best] == 0) {
        vote(a, at, points, stride, axis, false, ranks, &votes);
        for (uint32_t c = 0; c < it->size; c++)
            best = votes.origin[c] > votes.origin[best] ? c : best;
    }
    if (it->wraps) {
        it->origin = (int32_t)best;
        votes.turn = 0;
        vote(a, at, points, stride, axis, false, ranks, &votes);
    }
    it->turn = votes.turn < 0 ? -1 : 1;
    if (!it->wraps && it->turn < 0)
        it->origin = (int32_t)it->size - 1;
    return SV_OK;
}

static sv_status axes_by_guids(struct axes *a)
{
    const sv__raw *x = a->x;
    uint32_t stride[SV_TORUS_DIMS], points = 1;
    list_axes(a);
    for (uint32_t d = a->count; d-- > 0; points *= a->list[d].size)
        stride[d] = points;
    uint32_t *at = SV_ARENA_NEW(x->arena, uint32_t, points);
    if (at == NULL)
        return SV_NO_MEMORY;
    memset(at, 0xff, points * sizeof *at);
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t point = 0;
        for (uint32_t d = 0; d < a->count; d++)
            point += coordinate(x, &a->list[d], x->members[m]) * stride[d];
        at[point] = x->members[m];
    }
    for (uint32_t d = 0; d < a->count; d++)
        SV_TRY(turn_axis(a, at, points, stride, d));
    return SV_OK;
}

/* ---- by a configuration ---- */

static uint32_t find_guid(const sv__raw *x, uint64_t guid)
{
    for (uint32_t m = 0; guid != 0 && m < x->count; m++)
        if (x->fabric->switches[x->members[m]].guid == guid)
            return x->members[m];
    return SV_NONE;
}

/* The neighbour that a seed names in a direction, SV_NONE: none, or it is not (cabled) there. */
static uint32_t seed_neighbour(const sv__raw *x, const sv_torus_seed *seed, uint32_t d, int minus)
{
    uint32_t from = find_guid(x, seed->from), to = find_guid(x, seed->to[d][minus]);
    for (uint32_t b = from == SV_NONE ? 0 : x->g->first[from];
         to != SV_NONE && from != SV_NONE && b < x->g->first[from + 1]; b++)
        if (x->g->to[b] == to)
            return to;
    return SV_NONE;
}

/* Whether a seed can be used: one neighbour at least in each dimension. */
static bool seed_holds(const sv__raw *x, const sv_torus_conf *conf, const sv_torus_seed *seed)
{
    if (find_guid(x, seed->from) == SV_NONE)
        return false;
    for (uint32_t d = 0; d < 3; d++)
        if (conf->radix[d] > 1 && seed_neighbour(x, seed, d, 0) == SV_NONE &&
            seed_neighbour(x, seed, d, 1) == SV_NONE)
            return false;
    return true;
}

static sv_status differs(const struct axes *a, const sv_torus_conf *conf, const char *what)
{
    return sv_fail(a->x->ctx, SV_INFEASIBLE,
                   "%s says %u%s x %u%s x %u%s, but the fabric around '%s' differs: %s", conf->name,
                   conf->radix[0], conf->wraps[0] ? "t" : "m", conf->radix[1],
                   conf->wraps[1] ? "t" : "m", conf->radix[2], conf->wraps[2] ? "t" : "m",
                   sv__raw_name(a->x, a->x->members[0]), what);
}

/* The second found dimension of a ring of four: what the other link of the seed says, or any. */
static uint32_t partner_of(const struct axes *a, const sv_torus_seed *seed, uint32_t d,
                           uint32_t from, uint32_t one)
{
    const sv__raw *x = a->x;
    uint32_t minus = seed_neighbour(x, seed, d, 1);
    if (minus != SV_NONE && dim_of_step(x, from, minus) != one)
        return dim_of_step(x, from, minus);
    for (uint32_t e = 0; e < x->dims; e++) {
        bool named = a->taken[e] || e == one || !is_pairable(x, e);
        for (uint32_t k = 0; k < 6 && !named; k++) {
            uint32_t to = seed_neighbour(x, seed, k / 2, k % 2);
            named = to != SV_NONE && dim_of_step(x, from, to) == e;
        }
        if (!named)
            return e;
    }
    return SV_NONE;
}

/* One axis as the configuration has it. */
static sv_status conf_axis(struct axes *a, const sv_torus_conf *conf, const sv_torus_seed *seed,
                           uint32_t d)
{
    const sv__raw *x = a->x;
    const char letter = (char)('x' + d);
    uint32_t from = find_guid(x, seed->from), radix = conf->radix[d], other = SV_NONE;
    uint32_t plus = seed_neighbour(x, seed, d, 0);
    int32_t sign = plus != SV_NONE ? 1 : -1;
    uint32_t to = plus != SV_NONE ? plus : seed_neighbour(x, seed, d, 1);
    uint32_t one = dim_of_step(x, from, to);
    char what[120];
    if (is_pairable(x, one) && radix > 2 && conf->wraps[d])
        other = partner_of(a, seed, d, from, one);
    snprintf(what, sizeof what, "the %c links of the seed lead along another dimension", letter);
    if (a->taken[one] || (other != SV_NONE && (a->taken[other] || !is_pairable(x, other))))
        return differs(a, conf, what);
    struct axis axis = axis_of(a, one, other);
    bool rings = conf->wraps[d] && radix > 2;
    snprintf(what, sizeof what, "%c has %u switches in a %s", letter, axis.size,
             axis.wraps ? "ring" : "line");
    /* A line may be part of a ring of which switches or cables are gone. */
    if (axis.wraps ? axis.size != radix || !rings : axis.size > radix || radix > 2 * axis.size)
        return differs(a, conf, what);
    int32_t here = raw_coordinate(x, &axis, from), there = raw_coordinate(x, &axis, to);
    axis.turn = sign * (there == (here + 1) % (int32_t)axis.size ? 1 : -1);
    if (rings) {
        axis.origin = here;
        axis.shift = -seed->dateline[d];
    } else {
        axis.origin = axis.turn > 0 ? 0 : (int32_t)axis.size - 1;
    }
    axis.size = radix;
    axis.wraps = rings;
    a->list[d] = axis;
    return SV_OK;
}

static sv_status axes_by_conf(struct axes *a, const sv_torus_conf *conf, const sv_torus_seed *seed)
{
    a->count = 3;
    for (uint32_t d = 0; d < 3; d++)
        if (conf->radix[d] == 1)
            a->list[d] = (struct axis){.one = SV_NONE, .other = SV_NONE, .size = 1, .turn = 1};
        else
            SV_TRY(conf_axis(a, conf, seed, d));
    for (uint32_t d = 0; d < a->x->dims; d++)
        if (!a->taken[d] && sv__raw_size(a->x, d) > 1)
            return differs(a, conf, "there is one more dimension");
    return SV_OK;
}

/* ---- the result ---- */

static uint32_t count_missing_links(const sv__raw *x, const sv_torus *t)
{
    uint32_t steps = 0, cables = 0;
    for (uint32_t p = 0; p < t->points; p++)
        for (uint32_t d = 0; d < t->dims && t->at[p] != SV_NONE; d++) {
            uint32_t next = sv_torus_step(t, p, d, false);
            steps += next != SV_NONE && t->at[next] != SV_NONE;
        }
    for (uint32_t m = 0; m < x->count; m++)
        cables += x->g->first[x->members[m] + 1] - x->g->first[x->members[m]];
    return steps - cables / 2;
}

static sv_status fill(const struct axes *a, sv_tori *tori, sv_torus *t)
{
    const sv__raw *x = a->x;
    uint64_t points = 1;
    t->dims = a->count;
    t->switches = x->count;
    for (uint32_t d = t->dims; d-- > 0;) {
        t->stride[d] = (uint32_t)points;
        t->size[d] = a->list[d].size;
        t->wraps[d] = a->list[d].wraps;
        points *= t->size[d];
        if (points > (uint64_t)x->count * 256)
            return sv_fail(x->ctx, SV_INFEASIBLE,
                           "no mesh or torus: %u switches around '%s' on more than %llu points",
                           x->count, sv__raw_name(x, x->members[0]), (unsigned long long)points);
    }
    t->points = (uint32_t)points;
    t->at = SV_ARENA_NEW(x->arena, uint32_t, points);
    if (t->at == NULL)
        return SV_NO_MEMORY;
    memset(t->at, 0xff, points * sizeof *t->at);
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t s = x->members[m], point = 0;
        for (uint32_t d = 0; d < t->dims; d++)
            point += coordinate(x, &a->list[d], s) * t->stride[d];
        tori->point[s] = point;
        t->at[point] = s;
    }
    t->missing_links = count_missing_links(x, t);
    return SV_OK;
}

sv_status sv__torus_axes(const sv__raw *x, const sv_torus_conf *conf, sv_tori *tori,
                         sv_torus *piece)
{
    struct axes a = {.x = x};
    const sv_torus_seed *seed = NULL;
    SV_TRY(rank_switches(&a));
    measure_steps(&a);
    for (uint32_t i = 0; conf != NULL && seed == NULL && i < conf->num_seeds; i++)
        if (seed_holds(x, conf, &conf->seeds[i]))
            seed = &conf->seeds[i];
    if (conf != NULL && seed == NULL && piece == tori->pieces)
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "%s: no seed is all there, of %u: switch 0x%016llx or a neighbour that it "
                       "names is missing around '%s'",
                       conf->name, conf->num_seeds,
                       (unsigned long long)(conf->num_seeds > 0 ? conf->seeds[0].from : 0),
                       sv__raw_name(x, x->members[0]));
    SV_TRY(seed != NULL ? axes_by_conf(&a, conf, seed) : axes_by_guids(&a));
    return fill(&a, tori, piece);
}
