/*
 * torus_detour.c: ways around what is missing from a torus.
 *
 * Where the order of dimensions leads to a missing switch, or a line is cut in two, a packet has to
 * turn against the order somewhere. The hop after such a turn has VLs of its own (as in OpenSM's
 * torus-2QoS: the tables know by in and out port that it is one), and the packet then goes on as
 * all others do. That alone does not exclude deadlocks, so each detour is proven: there is a graph
 * of all dependencies that packets in order can have, whatever their SLs, and a detour is taken
 * only if its dependencies close no circle in it (cdg/cdg.h). Else the next best is tried.
 *
 * The dependencies in order: turns from a dimension to a later one, on all VLs; straight on
 * within a whole ring on the first VL, but for the dateline, and on the second as far as a path
 * that crosses the dateline can reach; straight on along broken lines on both.
 *
 * Points that have no way to a destination in order are taken in by a search from those that have:
 * the one with the cheapest way on first. A hop costs, a turn against the order costs more; of
 * equals that in the earliest dimension is taken, which brings the turn close to what is missing.
 * All SLs stay what they were.
 *
 * If some point cannot be taken in, all is tried again, the destination that this was about first;
 * after some tries with the dimensions in another order (SLs do not depend on it), until there is
 * none left, 24 were tried, or it takes too long: on large tori there are fewer tries.
 *
 * Cost: O(turns) for the graph; for each destination with points that have no way O(points), and
 * points without a way × their number.
 */
#include <string.h>

#include "cdg/cdg.h"
#include "routing/torus2qos.h"

#define NO_COST UINT32_MAX

enum { HOP = 8, SHUNNED = 400 };

/*
 * How detours are chosen, in one try and the next: what a turn against the order costs, and which
 * direction is shunned (2: neither). Detours that all go round on the same side do not get into
 * circles with each other as easily.
 */
static const struct manner {
    uint32_t against, shun;
} manners[] = {{12, 2}, {12, 2}, {40, 2}, {12, 1}, {12, 0}, {12, 2}, {2, 2}, {40, 1}, {40, 0}};

/* All orders of up to four dimensions; of eight there are 40,320, and a refusal has to come. */
enum { NUM_MANNERS = sizeof manners / sizeof manners[0], TRIES = 2 * NUM_MANNERS, MAX_ORDERS = 24 };

struct detour {
    sv__grid *x;
    sv_core core, wide; /* wide: each bundle once a VL */
    sv_cdg cdg;
    uint8_t *sls;      /* of the destination at hand, by point */
    uint8_t *ways;     /* to it */
    uint32_t *cost;    /* [points]: NO_COST: has no way yet */
    uint32_t *offer;   /* [points]: the least it could have */
    uint8_t *by;       /* [points]: going which way */
    uint16_t *refused; /* [points]: ways that closed a circle, one bit each */
    uint32_t *list, *stack, *start;
    struct turn {
        uint32_t in, out;
    } * added; /* by the path at hand */
    uint32_t num_added;
    struct manner manner;
    uint32_t *targets;      /* [points]: in which order they are looked at */
    uint32_t stuck, target; /* who could not be helped */
};

/* The VL of a packet with an SL on a way, after another (255: none). */
static unsigned vl_of(const sv__grid *x, unsigned sl, uint8_t in, uint8_t out)
{
    uint8_t bit = x->bit[out / 2];
    unsigned vl = bit == SV__NO_BIT ? 0 : sl >> bit & 1;
    return vl + (in != 255 && sv__grid_illegal(x, in, out) ? 2 : 0);
}

/* The vertex of the graph for a way out of a point on a VL. */
static uint32_t vertex(const struct detour *q, uint32_t point, uint8_t way, unsigned vl)
{
    return q->x->g->back[q->x->way[point][way]] * SV__TORUS_VLS + vl;
}

/* ---- dependencies in order ---- */

/* Whether packets in order may go straight on at a point, on a VL. */
static bool goes_straight(const sv__grid *x, uint32_t point, uint8_t way, unsigned vl)
{
    uint32_t d = way / 2, n = x->t->size[d], c = sv__grid_coordinate(x, point, d);
    bool whole = x->t->wraps[d] && x->run[point][way] >= n;
    if (!whole)
        return true;
    if (n <= 4) /* forwards from 0 to 2 and back so, backwards between 1 and 3 */
        return n == 4 && c % 2 != way % 2;
    if (way % 2)
        c = n - 1 - c;
    /* From c - 1 over c to c + 1. */
    if (vl == 0)
        return c != 0 && c != n - 1;
    return c > (n + 1) / 2 || c + 1 < n / 2;
}

static bool join_in_order(struct detour *q, uint32_t point, uint8_t in, uint8_t out)
{
    const sv__grid *x = q->x;
    uint32_t from = sv__grid_step(x, point, in ^ 1);
    unsigned ins = x->bit[in / 2] == SV__NO_BIT ? 1 : 2;
    unsigned outs = x->bit[out / 2] == SV__NO_BIT ? 1 : 2;
    for (unsigned i = 0; i < ins; i++)
        for (unsigned o = 0; o < outs; o++) {
            bool there = in == out ? i == o && goes_straight(x, point, in, i)
                                   : x->place[in / 2] < x->place[out / 2];
            if (there && !sv_cdg_add(&q->cdg, 0, vertex(q, from, in, i), vertex(q, point, out, o)))
                return false;
        }
    return true;
}

/* Numbers in which paths in order ascend, nearly, into q->start. */
static void start_order(struct detour *q)
{
    const sv__grid *x = q->x;
    uint32_t longest = 0;
    for (uint32_t d = 0; d < x->t->dims; d++)
        longest = x->t->size[d] > longest ? x->t->size[d] : longest;
    for (uint32_t p = 0; p < x->t->points; p++)
        for (uint8_t way = 0; way < 2 * x->t->dims; way++) {
            uint32_t d = way / 2, n = x->t->size[d], c = sv__grid_coordinate(x, p, d);
            if (x->way[p][way] == SV_NONE)
                continue;
            c = way % 2 ? n - 1 - c : c;
            for (unsigned vl = 0; vl < SV__TORUS_VLS; vl++)
                q->start[vertex(q, p, way, vl)] =
                    x->place[d] * longest * 2 + (vl == 1 ? (c + n / 2) % n : c);
        }
}

static sv_status start_graph(struct detour *q, bool *good)
{
    const sv__grid *x = q->x;
    sv_cdg_clear(&q->cdg);
    start_order(q);
    SV_TRY(sv_cdg_add_vl(&q->cdg, q->start));
    *good = true;
    for (uint32_t p = 0; p < x->t->points && *good; p++)
        for (uint8_t in = 0; in < 2 * x->t->dims; in++)
            for (uint8_t out = 0; out < 2 * x->t->dims && *good; out++)
                if (x->way[p][in ^ 1] != SV_NONE && x->way[p][out] != SV_NONE && out != (in ^ 1))
                    *good = join_in_order(q, p, in, out);
    return SV_OK;
}

/* ---- one destination ---- */

/* Costs of all points whose way leads to the target; the rest is listed. Returns how many. */
static uint32_t find_stranded(struct detour *q, uint32_t target)
{
    const sv__grid *x = q->x;
    uint32_t stranded = 0;
    memset(q->cost, 0xff, x->t->points * sizeof *q->cost);
    q->cost[target] = 0;
    for (uint32_t p = 0; p < x->t->points; p++) {
        uint32_t depth = 0, at = p;
        if (x->t->at[p] == SV_NONE)
            continue;
        while (q->cost[at] == NO_COST && q->ways[at] != SV__WAY_BLOCKED) {
            q->stack[depth++] = at;
            at = sv__grid_step(x, at, q->ways[at]);
        }
        while (depth > 0 && q->cost[at] != NO_COST) {
            uint32_t next = at;
            at = q->stack[--depth];
            q->cost[at] = q->cost[next] + HOP;
        }
        if (q->cost[p] == NO_COST) {
            q->list[stranded++] = p;
            q->refused[p] = 0;
        }
    }
    return stranded;
}

/* What it costs to go a way; NO_COST: it leads nowhere, or was refused. */
static uint32_t price(const struct detour *q, uint32_t point, uint8_t way)
{
    const sv__grid *x = q->x;
    if (x->way[point][way] == SV_NONE || q->refused[point] >> way & 1)
        return NO_COST;
    uint32_t next = sv__grid_step(x, point, way);
    if (q->cost[next] == NO_COST)
        return NO_COST;
    uint32_t cost = q->cost[next] + HOP;
    uint8_t on = q->ways[next];
    if (on != SV__WAY_HOME && sv__grid_illegal(x, way, on))
        cost += q->manner.against;
    if (way == q->ways[point])
        return cost;
    return cost + 1 + (way % 2 == q->manner.shun ? SHUNNED : 0);
}

/* Takes back what a path added. */
static void take_back(struct detour *q)
{
    while (q->num_added > 0) {
        q->num_added--;
        sv_cdg_remove(&q->cdg, 0, q->added[q->num_added].in, q->added[q->num_added].out);
    }
}

/* Adds the dependencies of the path from a point on; false (and nothing changes): a circle. */
static bool add_path(struct detour *q, uint32_t point, uint8_t first)
{
    const sv__grid *x = q->x;
    unsigned sl = q->sls[point];
    uint8_t before = 255;
    uint32_t held = SV_NONE;
    q->num_added = 0;
    for (uint8_t way = first; way != SV__WAY_HOME; way = q->ways[point]) {
        uint32_t v = vertex(q, point, way, vl_of(x, sl, before, way));
        if (held != SV_NONE && !(q->cdg.vls[sv_cdg_turn(&q->cdg, held, v)] & 1)) {
            if (!sv_cdg_add(&q->cdg, 0, held, v)) {
                take_back(q);
                return false;
            }
            q->added[q->num_added++] = (struct turn){held, v};
        }
        held = v;
        before = way;
        point = sv__grid_step(x, point, way);
    }
    return true;
}

/* The VLs that a path is on after turns against the order, as sv__grid.turned has them. */
static uint8_t turns_against(const struct detour *q, uint32_t point)
{
    const sv__grid *x = q->x;
    unsigned sl = q->sls[point];
    uint8_t turned = 0;
    for (uint8_t before = 255, way = q->ways[point]; way != SV__WAY_HOME; way = q->ways[point]) {
        unsigned vl = vl_of(x, sl, before, way);
        turned |= (uint8_t)(1u << vl >> 2);
        before = way;
        point = sv__grid_step(x, point, way);
    }
    return turned;
}

/* The cheapest way that a point has now; of equals the earliest dimension. */
static void find_offer(struct detour *q, uint32_t point)
{
    const sv__grid *x = q->x;
    q->offer[point] = NO_COST;
    for (uint32_t k = 0; k < 2 * x->t->dims; k++) {
        uint8_t way = (uint8_t)(2 * x->order[k / 2] + k % 2);
        uint32_t cost = price(q, point, way);
        if (cost < q->offer[point]) {
            q->offer[point] = cost;
            q->by[point] = way;
        }
    }
}

/* A point has its way: what is beside it may have a better one now. */
static void settle(struct detour *q, uint32_t point)
{
    sv__grid *x = q->x;
    q->ways[point] = q->by[point];
    q->cost[point] = q->offer[point];
    x->turned |= turns_against(q, point);
    for (uint8_t way = 0; way < 2 * x->t->dims; way++)
        if (x->way[point][way] != SV_NONE && q->cost[sv__grid_step(x, point, way)] == NO_COST)
            find_offer(q, sv__grid_step(x, point, way));
}

/* Takes in the stranded points; false: some cannot be. */
static bool take_in(struct detour *q, uint32_t stranded)
{
    for (uint32_t i = 0; i < stranded; i++)
        find_offer(q, q->list[i]);
    while (stranded > 0) {
        uint32_t which = 0;
        for (uint32_t i = 1; i < stranded; i++)
            which = q->offer[q->list[i]] < q->offer[q->list[which]] ? i : which;
        uint32_t point = q->stuck = q->list[which];
        if (q->offer[point] == NO_COST)
            return false;
        if (add_path(q, point, q->by[point])) {
            settle(q, point);
            q->list[which] = q->list[--stranded];
        } else {
            q->refused[point] |= (uint16_t)(1u << q->by[point]);
            find_offer(q, point);
        }
    }
    return true;
}

/* All destinations, with the dimensions in one order. */
static sv_status attempt(struct detour *q, bool *good)
{
    sv__grid *x = q->x;
    x->turned = 0;
    SV_TRY(start_graph(q, good));
    for (uint32_t i = 0; i < x->t->points && *good; i++) {
        uint32_t p = q->targets[i];
        for (unsigned variant = 0; variant < 2 && *good && x->t->at[p] != SV_NONE; variant++) {
            if (variant == 1 && !x->ties)
                continue;
            if (i % 64 == 0)
                SV_TRY(sv_progress(x->job->ctx, "detours", i, x->t->points));
            q->ways = x->detours + ((size_t)p * 2 + variant) * x->t->points;
            q->target = p;
            if (!sv__grid_ways(x, p, variant, q->ways))
                continue;
            sv__grid_sls(x, p, variant, q->sls);
            *good = take_in(q, find_stranded(q, p));
        }
    }
    return SV_OK;
}

/* The next order of dimensions, as in a dictionary; false: that was the last. */
static bool next_order(sv__grid *x)
{
    uint32_t dims = x->t->dims, i = dims - 1, k = dims - 1;
    while (i > 0 && x->order[i - 1] > x->order[i])
        i--;
    if (i == 0)
        return false;
    while (x->order[k] < x->order[i - 1])
        k--;
    uint8_t held = x->order[k];
    x->order[k] = x->order[i - 1];
    x->order[i - 1] = held;
    for (k = dims - 1; i < k; i++, k--) {
        held = x->order[i];
        x->order[i] = x->order[k];
        x->order[k] = held;
    }
    for (uint8_t p = 0; p < dims; p++)
        x->place[x->order[p]] = p;
    return true;
}

/* Puts the destination that could not be helped in front. */
static void look_first(struct detour *q)
{
    uint32_t i = 0;
    while (q->targets[i] != q->target)
        i++;
    memmove(q->targets + 1, q->targets, i * sizeof *q->targets);
    q->targets[0] = q->target;
}

static sv_status init(struct detour *q, sv__grid *x)
{
    sv_arena *arena = x->job->arena;
    uint32_t points = x->t->points;
    *q = (struct detour){.x = x,
                         .sls = SV_ARENA_NEW(arena, uint8_t, points),
                         .cost = SV_ARENA_NEW(arena, uint32_t, points),
                         .offer = SV_ARENA_NEW(arena, uint32_t, points),
                         .by = SV_ARENA_NEW(arena, uint8_t, points),
                         .refused = SV_ARENA_NEW(arena, uint16_t, points),
                         .list = SV_ARENA_NEW(arena, uint32_t, points),
                         .stack = SV_ARENA_NEW(arena, uint32_t, points),
                         .added = SV_ARENA_NEW(arena, struct turn, points),
                         .targets = SV_ARENA_NEW(arena, uint32_t, points)};
    x->detours = SV_ARENA_NEW(arena, uint8_t, 2 * (size_t)points * points);
    if (q->sls == NULL || q->cost == NULL || q->offer == NULL || q->by == NULL ||
        q->refused == NULL || q->list == NULL || q->stack == NULL || q->added == NULL ||
        q->targets == NULL || x->detours == NULL)
        return SV_NO_MEMORY;
    for (uint32_t p = 0; p < points; p++)
        q->targets[p] = p;
    SV_TRY(sv_bundles_core(x->g, arena, &q->core));
    SV_TRY(sv_core_widen(&q->core, arena, SV__TORUS_VLS, &q->wide));
    q->start = SV_ARENA_NEW(arena, uint32_t, q->wide.num_entries);
    if (q->start == NULL)
        return SV_NO_MEMORY;
    return sv_cdg_init(&q->cdg, arena, &q->wide);
}

/* How often it may be tried: a try takes time by the square of the points, and a user waits. */
static uint32_t max_tries(const sv__grid *x)
{
    const uint64_t pairs = 600 * 1000 * 1000;
    uint64_t max = pairs / ((uint64_t)x->t->points * x->t->points + 1);
    return max > TRIES * MAX_ORDERS ? TRIES * MAX_ORDERS
           : max < NUM_MANNERS      ? NUM_MANNERS
                                    : (uint32_t)max;
}

sv_status sv__grid_detour(sv__grid *x)
{
    struct detour q;
    bool good = false;
    uint32_t stuck = SV_NONE, target = SV_NONE, orders = 0, tries = 0, max = max_tries(x);
    SV_TRY(init(&q, x));
    do
        for (uint32_t k = 0; k < TRIES && !good && tries < max; k++, tries++) {
            q.manner = manners[k % NUM_MANNERS];
            SV_TRY(attempt(&q, &good));
            if (stuck == SV_NONE) {
                stuck = q.stuck;
                target = q.target;
            }
            if (!good)
                look_first(&q);
        }
    while (!good && ++orders < MAX_ORDERS && tries < max && next_order(x));
    if (good)
        return SV_OK;
    const sv_fabric *f = x->job->fabric;
    return sv_fail(x->job->ctx, SV_INFEASIBLE,
                   "no way without deadlock from switch '%s' to '%s' around what is missing (%u "
                   "switches and %u links of the torus), in %u order%s of dimensions",
                   sv_node_name(f, (sv_node){x->t->at[stuck]}),
                   sv_node_name(f, (sv_node){x->t->at[target]}), x->t->points - x->t->switches,
                   x->t->missing_links, orders, orders == 1 ? "" : "s");
}
