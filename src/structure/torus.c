/*
 * torus.c: finding meshes and tori: walls and slabs.
 *
 * Idea: in a grid, opposite sides of a square are parallel. Cables that are parallel to each other,
 * from square to square, make a wall: all cables between coordinate c and c + 1 of one dimension.
 * Two walls that meet in some square are of different dimensions; walls of the same dimension never
 * meet. So the dimensions are found by elimination: as many walls as can all meet each other are
 * one of each, and a wall that meets walls of all dimensions but one is of that. Without the cables
 * of a dimension the fabric falls into its slabs; the walls tell in which order they follow each
 * other and whether the last comes before the first again (a ring). A switch's coordinates are the
 * slabs that it is in.
 *
 * A failure takes squares away and never makes one, so walls can only fall to pieces, and a piece
 * of any size knows as much as a whole one. What has lost all its squares is left to torus_place.c.
 * No names, numbers or ports are looked at.
 *
 * A ring of four is a square itself. Its walls are two, each of a dimension of two switches:
 * as a graph it is nothing else (a 4x4 torus is a hypercube). torus_axes.c makes rings of such
 * pairs.
 *
 * Without any square: a chain or a ring is told by its switches having one or two neighbours.
 *
 * Cost: O(switches × neighbours²) and some passes over all squares.
 * Source: Cartesian products of graphs, their unique prime factors (Sabidussi, Vizing); the
 * parallel-cables relation is Djoković's.
 */
#include "structure/torus_find.h"

#include <string.h>

enum { MAX_NEIGHBOURS = 2 * SV_TORUS_DIMS, MAX_WAYS = MAX_NEIGHBOURS * MAX_NEIGHBOURS };

struct finder {
    sv__raw *x;
    const sv_bundles *g;
    uint32_t *parent; /* [bundles]: of those that stand for their cables: union-find */
    uint8_t *flip;    /* whether it points the other way than its parent */
    uint32_t *walls, num_walls;
    uint32_t *wall;   /* [bundles]: once they are complete: the wall of each */
    uint8_t *against; /* and whether it points the other way */
    uint32_t *width;  /* [bundles]: of walls, by root: cables */
    uint8_t *dim;     /* of walls: its dimension, or NO_DIM */
    uint16_t *met;    /* of walls: dimensions it meets, one bit each */
    uint32_t *slab, *slab_size, *tail, *head, (*beside)[2], *weight; /* of order_slabs */
    struct meeting {
        uint32_t a, b; /* bundles, later walls, that are sides of a square */
    } * meetings;
    size_t num_meetings, room;
    bool changed;
    sv_status status;
};

enum { NO_DIM = 255 };

static sv_status contradiction(struct finder *q, uint32_t s, uint32_t a, uint32_t b)
{
    const sv__raw *x = q->x;
    return sv_fail(x->ctx, SV_INFEASIBLE,
                   "no mesh or torus: at switch '%s' the cables to '%s' and '%s' contradict each "
                   "other: they would lead the same way",
                   sv__raw_name(x, s), sv__raw_name(x, a), sv__raw_name(x, b));
}

/* The wall of a bundle; *against: whether it points the other way than the wall does. */
static uint32_t wall_of(struct finder *q, uint32_t b, uint8_t *against)
{
    uint32_t u = b < q->g->back[b] ? b : q->g->back[b], root = u;
    uint8_t flip = 0;
    for (; q->parent[root] != root; root = q->parent[root])
        flip ^= q->flip[root];
    uint8_t rest = flip;
    while (q->parent[u] != root && u != root) {
        uint32_t next = q->parent[u];
        uint8_t own = q->flip[u];
        q->parent[u] = root;
        q->flip[u] = rest;
        rest ^= own;
        u = next;
    }
    *against = flip ^ (b > q->g->back[b]);
    return root;
}

static void join(struct finder *q, uint32_t a, uint32_t b)
{
    uint8_t one, other;
    uint32_t r = wall_of(q, a, &one), s = wall_of(q, b, &other);
    if (r != s) {
        q->parent[s] = r;
        q->flip[s] = one ^ other;
        q->width[r] += q->width[s];
    } else if (one != other && q->status == SV_OK) {
        q->status = contradiction(q, q->g->from[a], q->g->to[a], q->g->to[b]);
    }
}

/* Notes that two bundles are sides of a square, next to each other. */
static sv_status note_meeting(struct finder *q, uint32_t a, uint32_t b)
{
    if (q->num_meetings == q->room) {
        size_t room = 2 * q->room + 4 * (size_t)q->x->count;
        struct meeting *more = SV_ARENA_NEW(q->x->arena, struct meeting, room);
        if (more == NULL)
            return SV_NO_MEMORY;
        if (q->num_meetings > 0)
            memcpy(more, q->meetings, q->num_meetings * sizeof *more);
        q->meetings = more;
        q->room = room;
    }
    q->meetings[q->num_meetings++] = (struct meeting){a, b};
    return SV_OK;
}

/*
 * All squares: from a switch v, two ways of two bundles to the same other switch. Each is found
 * once from each of two opposite corners.
 */
static sv_status find_squares(struct finder *q)
{
    const sv_bundles *g = q->g;
    uint32_t one[MAX_WAYS], two[MAX_WAYS], older[MAX_WAYS];
    uint32_t *latest = q->slab; /* [switches]: the last way to each; not needed for slabs yet */
    for (uint32_t m = 0; m < q->x->count; m++)
        latest[q->x->members[m]] = SV_NONE;
    for (uint32_t m = 0; m < q->x->count; m++) {
        uint32_t v = q->x->members[m], ways = 0;
        for (uint32_t a = g->first[v]; a < g->first[v + 1]; a++)
            for (uint32_t b = g->first[g->to[a]]; b < g->first[g->to[a] + 1]; b++) {
                uint32_t w = g->to[b];
                if (w <= v)
                    continue;
                for (uint32_t k = latest[w]; k != SV_NONE; k = older[k]) {
                    join(q, one[k], b);
                    join(q, a, two[k]);
                    SV_TRY(note_meeting(q, one[k], a));
                }
                one[ways] = a;
                two[ways] = b;
                older[ways] = latest[w];
                latest[w] = ways++;
            }
        for (uint32_t k = 0; k < ways; k++)
            latest[g->to[two[k]]] = SV_NONE;
    }
    return q->status;
}

/* Walls are complete: from now on each bundle knows its own, and meetings are of walls. */
static void name_walls(struct finder *q)
{
    const sv_bundles *g = q->g;
    for (uint32_t m = 0; m < q->x->count; m++)
        for (uint32_t s = q->x->members[m], b = g->first[s]; b < g->first[s + 1]; b++) {
            q->wall[b] = wall_of(q, b, &q->against[b]);
            if (q->wall[b] == b)
                q->walls[q->num_walls++] = b;
        }
    for (size_t i = 0; i < q->num_meetings; i++) {
        q->meetings[i].a = q->wall[q->meetings[i].a];
        q->meetings[i].b = q->wall[q->meetings[i].b];
    }
}

/* Each wall tells those that it meets which dimension they are not of. */
static void meet(struct finder *q)
{
    for (size_t i = 0; i < q->num_meetings; i++) {
        uint32_t a = q->meetings[i].a, b = q->meetings[i].b;
        if (q->dim[a] != NO_DIM)
            q->met[b] |= (uint16_t)(1u << q->dim[a]);
        if (q->dim[b] != NO_DIM)
            q->met[a] |= (uint16_t)(1u << q->dim[b]);
    }
}

/* Cables that are parallel, but leave the same switch: there is no such grid. */
static sv_status check_walls(struct finder *q)
{
    const sv_bundles *g = q->g;
    for (uint32_t m = 0; m < q->x->count; m++) {
        uint32_t s = q->x->members[m];
        for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
            for (uint32_t b = g->first[s]; b < a; b++)
                if (q->wall[a] == q->wall[b])
                    return contradiction(q, s, g->to[b], g->to[a]);
    }
    return SV_OK;
}

/* The widest wall that meets all dimensions known so far; SV_NONE: none does. */
static uint32_t new_dimension(struct finder *q)
{
    uint16_t all = (uint16_t)((1u << q->x->dims) - 1);
    uint32_t best = SV_NONE;
    for (uint32_t i = 0; i < q->num_walls; i++) {
        uint32_t b = q->walls[i];
        if (q->width[b] > 1 && q->dim[b] == NO_DIM && q->met[b] == all &&
            (best == SV_NONE || q->width[b] > q->width[best]))
            best = b;
    }
    return best;
}

/* Walls whose dimension follows by elimination. */
static void eliminate(struct finder *q)
{
    uint16_t all = (uint16_t)((1u << q->x->dims) - 1);
    for (uint32_t i = 0; i < q->num_walls; i++) {
        uint32_t b = q->walls[i];
        uint16_t left = all & (uint16_t)~q->met[b];
        if (q->dim[b] != NO_DIM || left == 0 || (left & (left - 1)) != 0)
            continue;
        for (q->dim[b] = 0; left > 1; left >>= 1)
            q->dim[b]++;
        q->changed = true;
    }
}

static sv_status find_dimensions(struct finder *q)
{
    sv__raw *x = q->x;
    for (uint32_t wall; (wall = new_dimension(q)) != SV_NONE; meet(q)) {
        if (x->dims == SV_TORUS_DIMS)
            return sv_fail(x->ctx, SV_INFEASIBLE,
                           "no mesh or torus of at most %d dimensions (rings of four count twice): "
                           "the cable from '%s' to '%s' is across more",
                           SV_TORUS_DIMS, sv__raw_name(x, q->g->from[wall]),
                           sv__raw_name(x, q->g->to[wall]));
        q->dim[wall] = (uint8_t)x->dims++;
    }
    do {
        q->changed = false;
        eliminate(q);
        if (q->changed)
            meet(q);
    } while (q->changed);
    return SV_OK;
}

/* ---- slabs ---- */

static uint32_t slab_of(struct finder *q, uint32_t s)
{
    while (q->slab[s] != s)
        s = q->slab[s] = q->slab[q->slab[s]];
    return s;
}

static void merge(struct finder *q, uint32_t a, uint32_t b)
{
    a = slab_of(q, a);
    b = slab_of(q, b);
    if (a != b) {
        q->slab[b] = a;
        q->slab_size[a] += q->slab_size[b];
    }
}

/* What is on one side of a wall is one slab, and so is what other dimensions' cables join. */
static void make_slabs(struct finder *q, uint32_t d)
{
    const sv_bundles *g = q->g;
    for (uint32_t m = 0; m < q->x->count; m++) {
        uint32_t s = q->x->members[m];
        q->slab[s] = s;
        q->slab_size[s] = 1;
        for (uint32_t b = g->first[s]; b < g->first[s + 1]; b++)
            q->tail[b] = q->head[b] = SV_NONE;
    }
    for (uint32_t m = 0; m < q->x->count; m++)
        for (uint32_t s = q->x->members[m], b = g->first[s]; b < g->first[s + 1]; b++) {
            uint32_t wall = q->wall[b];
            if (q->dim[wall] != NO_DIM && q->dim[wall] != d)
                merge(q, s, g->to[b]);
            if (q->dim[wall] != d || q->against[b])
                continue;
            if (q->tail[wall] == SV_NONE) {
                q->tail[wall] = s;
                q->head[wall] = g->to[b];
            }
            merge(q, q->tail[wall], s);
            merge(q, q->head[wall], g->to[b]);
        }
}

/* The two slabs beside a switch in a dimension; false: it has not both. */
static bool sides_of(struct finder *q, uint32_t s, uint32_t d, uint32_t *sides)
{
    const sv_bundles *g = q->g;
    uint32_t count = 0;
    for (uint32_t b = g->first[s]; b < g->first[s + 1]; b++)
        if (q->dim[q->wall[b]] == d && count < 2)
            sides[count++] = slab_of(q, g->to[b]);
    return count == 2 && sides[0] != sides[1];
}

/*
 * A slab has two sides. If what is beside one of its switches on one side is the same slab as for
 * another, then so it is on the other side: this joins slabs that failures cut in two.
 */
static bool join_sides(struct finder *q, uint32_t d)
{
    bool joined = false;
    for (uint32_t m = 0; m < q->x->count; m++)
        q->beside[q->x->members[m]][0] = SV_NONE;
    for (uint32_t m = 0; m < q->x->count; m++) {
        uint32_t sides[2], s = q->x->members[m];
        if (!sides_of(q, s, d, sides))
            continue;
        uint32_t *known = q->beside[slab_of(q, s)];
        if (known[0] == SV_NONE) {
            known[0] = sides[0];
            known[1] = sides[1];
            continue;
        }
        known[0] = slab_of(q, known[0]);
        known[1] = slab_of(q, known[1]);
        for (int k = 0; k < 4; k++) {
            uint32_t a = sides[k % 2], b = sides[1 - k % 2];
            uint32_t same = known[k / 2], other = known[1 - k / 2];
            if (a != same || b == other || b == same || other == a)
                continue;
            merge(q, b, other);
            joined = true;
            break;
        }
    }
    return joined;
}

/* Notes that two slabs are next to each other; the two with the widest walls between them count. */
static void next_to(struct finder *q, uint32_t a, uint32_t b, uint32_t width)
{
    uint32_t *beside = q->beside[a], *weight = q->weight + 2 * (size_t)a;
    for (int k = 0; k < 2; k++)
        if (beside[k] == b) {
            weight[k] += width;
            return;
        }
    int min = beside[0] == SV_NONE || (beside[1] != SV_NONE && weight[0] < weight[1]) ? 0 : 1;
    if (beside[min] == SV_NONE || weight[min] < width) {
        beside[min] = b;
        weight[min] = width;
    }
}

static sv_status join_slabs(struct finder *q, uint32_t d)
{
    for (uint32_t m = 0; m < q->x->count; m++)
        q->beside[q->x->members[m]][0] = q->beside[q->x->members[m]][1] = SV_NONE;
    for (uint32_t i = 0; i < q->num_walls; i++) {
        uint32_t b = q->walls[i];
        if (q->dim[b] != d)
            continue;
        uint32_t tail = slab_of(q, q->tail[b]), head = slab_of(q, q->head[b]);
        if (tail == head)
            return sv_fail(q->x->ctx, SV_INFEASIBLE,
                           "no mesh or torus: the cable from '%s' to '%s' joins switches that "
                           "other cables say have the same coordinate",
                           sv__raw_name(q->x, q->tail[b]), sv__raw_name(q->x, q->head[b]));
        next_to(q, tail, head, q->width[b]);
        next_to(q, head, tail, q->width[b]);
    }
    return SV_OK;
}

/* Gives the slabs beyond one their coordinates, going one way; true: it is a ring. */
static bool number_slabs(struct finder *q, uint32_t first, uint32_t next, int32_t by,
                         int32_t *where, int32_t *last)
{
    uint32_t before = first;
    int32_t at = by;
    while (next != SV_NONE && where[next] == INT32_MIN) {
        where[next] = *last = at;
        at += by;
        uint32_t after = q->beside[next][0] == before ? q->beside[next][1] : q->beside[next][0];
        before = next;
        next = after;
    }
    return next == first && (*last > 1 || *last < -1);
}

static sv_status order_slabs(struct finder *q, uint32_t d, int32_t *where)
{
    sv__raw *x = q->x;
    uint32_t largest = SV_NONE;
    make_slabs(q, d);
    while (join_sides(q, d))
        ;
    SV_TRY(join_slabs(q, d));
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t s = x->members[m];
        where[s] = INT32_MIN;
        if (slab_of(q, s) == s && (largest == SV_NONE || q->slab_size[s] > q->slab_size[largest]))
            largest = s;
    }
    where[largest] = x->low[d] = x->high[d] = 0;
    x->closed[d] = number_slabs(q, largest, q->beside[largest][0], 1, where, &x->high[d]);
    if (!x->closed[d])
        number_slabs(q, largest, q->beside[largest][1], -1, where, &x->low[d]);
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t s = x->members[m];
        x->at[s][d] = where[slab_of(q, s)];
        x->placed[s] &= x->at[s][d] != INT32_MIN;
    }
    return SV_OK;
}

/* ---- pieces ---- */

static sv_status find_walls(struct finder *q, int32_t *where)
{
    sv__raw *x = q->x;
    const sv_bundles *g = q->g;
    for (uint32_t m = 0; m < x->count; m++)
        for (uint32_t s = x->members[m], b = g->first[s]; b < g->first[s + 1]; b++) {
            q->parent[b] = b;
            q->width[b] = 1;
            q->dim[b] = NO_DIM;
        }
    q->num_meetings = 0;
    q->num_walls = 0;
    SV_TRY(find_squares(q));
    name_walls(q);
    SV_TRY(check_walls(q));
    SV_TRY(find_dimensions(q));
    if (x->dims == 0) {
        uint32_t s = x->members[0];
        for (uint32_t m = 0; m < x->count; m++)
            if (g->first[x->members[m] + 1] - g->first[x->members[m]] > 2)
                s = x->members[m];
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "no mesh or torus: switch '%s' has %u neighbours, but no four switches are "
                       "cabled in a square",
                       sv__raw_name(x, s), g->first[s + 1] - g->first[s]);
    }
    for (uint32_t m = 0; m < x->count; m++)
        x->placed[x->members[m]] = true;
    for (uint32_t d = 0; d < x->dims; d++)
        SV_TRY(order_slabs(q, d, where));
    return SV_OK;
}

/* A chain or a ring: nobody has more than two neighbours. */
static void follow_line(sv__raw *x)
{
    const sv_bundles *g = x->g;
    uint32_t s = x->members[0], before = SV_NONE;
    for (uint32_t m = 0; m < x->count; m++)
        if (g->first[x->members[m] + 1] - g->first[x->members[m]] < 2)
            s = x->members[m];
    x->dims = 1;
    x->closed[0] = x->count > 2 && g->first[s + 1] - g->first[s] == 2;
    x->high[0] = (int32_t)x->count - 1;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t next = SV_NONE;
        x->at[s][0] = (int32_t)i;
        x->placed[s] = true;
        for (uint32_t b = g->first[s]; b < g->first[s + 1]; b++)
            if (g->to[b] != before && next == SV_NONE)
                next = g->to[b];
        before = s;
        s = next;
    }
}

static sv_status find_piece(struct finder *q, int32_t *where)
{
    sv__raw *x = q->x;
    const sv_bundles *g = q->g;
    uint32_t max = 0;
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t s = x->members[m], neighbours = g->first[s + 1] - g->first[s];
        if (neighbours > MAX_NEIGHBOURS)
            return sv_fail(
                x->ctx, SV_INFEASIBLE,
                "no mesh or torus of at most %d dimensions: switch '%s' has %u neighbours",
                SV_TORUS_DIMS, sv__raw_name(x, s), neighbours);
        max = neighbours > max ? neighbours : max;
    }
    if (max <= 2) {
        follow_line(x);
        return SV_OK;
    }
    SV_TRY(find_walls(q, where));
    return sv__torus_place(x);
}

struct piece {
    uint32_t first, count;
};

/* All switches, piece by piece, the largest piece first. */
static sv_status list_pieces(sv_arena *arena, const sv_fabric *f, const sv_bundles *g,
                             uint32_t *list, struct piece *pieces, uint32_t *count)
{
    bool *seen = SV_ARENA_NEW(arena, bool, f->num_switches);
    uint32_t tail = 0;
    if (seen == NULL)
        return SV_NO_MEMORY;
    *count = 0;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        if (seen[s] || !sv_node_alive(f, (sv_node){s}))
            continue;
        uint32_t first = tail;
        seen[s] = true;
        list[tail++] = s;
        for (uint32_t head = first; head < tail; head++)
            for (uint32_t b = g->first[list[head]]; b < g->first[list[head] + 1]; b++)
                if (!seen[g->to[b]]) {
                    seen[g->to[b]] = true;
                    list[tail++] = g->to[b];
                }
        uint32_t k = (*count)++;
        for (; k > 0 && pieces[k - 1].count < tail - first; k--)
            pieces[k] = pieces[k - 1];
        pieces[k] = (struct piece){first, tail - first};
    }
    return SV_OK;
}

static sv_status init(struct finder *q, sv__raw *x, int32_t **where)
{
    size_t n = x->fabric->num_switches, bundles = x->g->count;
    q->x = x;
    q->g = x->g;
    q->parent = SV_ARENA_NEW(x->arena, uint32_t, bundles);
    q->flip = SV_ARENA_NEW(x->arena, uint8_t, bundles);
    q->walls = SV_ARENA_NEW(x->arena, uint32_t, bundles);
    q->wall = SV_ARENA_NEW(x->arena, uint32_t, bundles);
    q->against = SV_ARENA_NEW(x->arena, uint8_t, bundles);
    q->width = SV_ARENA_NEW(x->arena, uint32_t, bundles);
    q->dim = SV_ARENA_NEW(x->arena, uint8_t, bundles);
    q->met = SV_ARENA_NEW(x->arena, uint16_t, bundles);
    q->tail = SV_ARENA_NEW(x->arena, uint32_t, bundles);
    q->head = SV_ARENA_NEW(x->arena, uint32_t, bundles);
    q->slab = SV_ARENA_NEW(x->arena, uint32_t, n);
    q->slab_size = SV_ARENA_NEW(x->arena, uint32_t, n);
    q->beside = sv_arena_alloc(x->arena, n, sizeof *q->beside);
    q->weight = SV_ARENA_NEW(x->arena, uint32_t, 2 * n);
    x->at = sv_arena_alloc(x->arena, n, sizeof *x->at);
    x->placed = SV_ARENA_NEW(x->arena, bool, n);
    *where = SV_ARENA_NEW(x->arena, int32_t, n);
    bool good = q->parent && q->flip && q->walls && q->wall && q->against && q->width && q->dim &&
                q->met && q->tail && q->head && q->slab && q->slab_size && q->beside && q->weight &&
                x->at && x->placed && *where;
    return good ? SV_OK : SV_NO_MEMORY;
}

sv_status sv_tori_find(sv_ctx *ctx, sv_arena *arena, const sv_fabric *f, const sv_bundles *g,
                       const sv_torus_conf *conf, sv_tori *tori)
{
    struct finder q = {0};
    sv__raw x = {.ctx = ctx, .arena = arena, .fabric = f, .g = g};
    int32_t *where;
    uint32_t n = f->num_switches, *list = SV_ARENA_NEW(arena, uint32_t, n);
    struct piece *pieces = SV_ARENA_NEW(arena, struct piece, n);
    tori->piece = SV_ARENA_NEW(arena, uint32_t, n);
    tori->point = SV_ARENA_NEW(arena, uint32_t, n);
    if (list == NULL || pieces == NULL || tori->piece == NULL || tori->point == NULL)
        return SV_NO_MEMORY;
    SV_TRY(init(&q, &x, &where));
    SV_TRY(list_pieces(arena, f, g, list, pieces, &tori->count));
    tori->pieces = SV_ARENA_NEW(arena, sv_torus, tori->count);
    if (tori->pieces == NULL)
        return SV_NO_MEMORY;
    memset(tori->piece, 0xff, n * sizeof *tori->piece);
    memset(tori->point, 0xff, n * sizeof *tori->point);
    for (uint32_t i = 0; i < tori->count; i++) {
        x.members = list + pieces[i].first;
        x.count = pieces[i].count;
        x.dims = 0;
        memset(x.low, 0, sizeof x.low);
        memset(x.high, 0, sizeof x.high);
        memset(x.closed, 0, sizeof x.closed);
        SV_TRY(find_piece(&q, where));
        for (uint32_t m = 0; m < x.count; m++)
            tori->piece[x.members[m]] = i;
        SV_TRY(sv__torus_axes(&x, conf, tori, &tori->pieces[i]));
    }
    return SV_OK;
}
