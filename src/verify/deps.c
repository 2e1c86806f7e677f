/*
 * deps.c: the dependency set and its order.
 *
 * A set of dependencies is free of deadlocks exactly when it can be put in order (Dally and
 * Seitz): we take away vertices without predecessors until none is left. What then remains holds a
 * cycle, and a search from some of its vertices finds a short one, which people can read.
 *
 * This is the only cycle search that vouches for tables; what engines use to compute them
 * (src/cdg) is not known here.
 *
 * Cost: linear in vertices and bits. A bit a (in port, VL, out port, VL) of every switch:
 * 1 MB for a 10×10×10 torus with 8 VLs, 3 MB for a 65,536-terminal fat tree with one.
 */
#include "verify/deps.h"

#include <string.h>

#include "base/bitset.h"

sv_status sv__deps_init(sv__deps *deps, sv_arena *arena, const sv_fabric *f,
                        const sv_portmap *ports, unsigned vls, bool ends)
{
    *deps = (sv__deps){.fabric = f, .ports = ports, .vls = vls, .ends = ends};
    deps->first = SV_ARENA_NEW(arena, uint64_t, f->num_switches);
    if (deps->first == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        uint64_t vertices = (f->switches[s].ports + 1u) * (uint64_t)vls;
        deps->first[s] = deps->num_bits;
        if (sv_node_alive(f, (sv_node){s}))
            deps->num_bits += vertices * vertices;
    }
    deps->bits = sv_arena_alloc(arena, deps->num_bits / 64 + 1, sizeof *deps->bits);
    deps->used =
        sv_arena_alloc(arena, (uint64_t)f->num_channels * vls / 64 + 1, sizeof *deps->used);
    return deps->bits == NULL || deps->used == NULL ? SV_NO_MEMORY : SV_OK;
}

void sv__deps_clear(sv__deps *deps)
{
    for (uint64_t i = 0; i <= deps->num_bits / 64; i++)
        atomic_store_explicit(&deps->bits[i], 0, memory_order_relaxed);
    for (uint64_t i = 0; i <= (uint64_t)deps->fabric->num_channels * deps->vls / 64; i++)
        atomic_store_explicit(&deps->used[i], 0, memory_order_relaxed);
}

/* Where a walk over the successors of a vertex stands. */
struct successors {
    const sv__deps *deps;
    const sv_place *places; /* of the switch that the channel leads to */
    uint64_t bit, end, begin;
};

static struct successors successors_of(const sv__deps *deps, uint64_t vertex)
{
    const sv_fabric *f = deps->fabric;
    sv_channel c = {(uint32_t)(vertex / deps->vls)};
    sv_node head = f->head[c.i];
    struct successors s = {.deps = deps};
    /* A terminal forwards nothing: what arrives there depends on nothing any more. */
    if (!sv_is_switch(f, head) || !sv_channel_alive(f, c))
        return s;
    uint64_t row = (f->switches[head.i].ports + 1u) * (uint64_t)deps->vls;
    uint64_t in = f->port[f->reverse[c.i].i];
    s.places = &deps->ports->places[deps->ports->first[head.i]];
    s.begin = s.bit = deps->first[head.i] + (in * deps->vls + vertex % deps->vls) * row;
    s.end = s.begin + row;
    return s;
}

/* The next successor, or UINT64_MAX. */
static uint64_t next_successor(struct successors *s)
{
    while (s->bit < s->end) {
        uint64_t word = atomic_load_explicit(&s->deps->bits[s->bit >> 6], memory_order_relaxed) >>
                        (s->bit & 63);
        if (word == 0) {
            s->bit = (s->bit | 63) + 1;
            continue;
        }
        s->bit += (uint64_t)__builtin_ctzll(word);
        if (s->bit >= s->end)
            break;
        uint64_t place = s->bit++ - s->begin, vls = s->deps->vls;
        return s->places[place / vls].channel * vls + place % vls;
    }
    return UINT64_MAX;
}

uint64_t sv__deps_count(const sv__deps *deps, bool inner)
{
    const sv_fabric *f = deps->fabric;
    uint64_t count = 0, vertices = (uint64_t)f->num_channels * deps->vls;
    for (uint64_t v = 0; v < vertices; v++) {
        sv_channel c = {(uint32_t)(v / deps->vls)};
        if (inner && !sv_is_switch(f, f->tail[c.i]))
            continue;
        struct successors s = successors_of(deps, v);
        for (uint64_t w; (w = next_successor(&s)) != UINT64_MAX;)
            count += !inner || sv_is_switch(f, f->head[w / deps->vls]);
    }
    return count;
}

static sv__vertex vertex_of(const sv__deps *deps, uint64_t v)
{
    return (sv__vertex){{(uint32_t)(v / deps->vls)}, (uint8_t)(v % deps->vls)};
}

sv_status sv__deps_each(const sv__deps *deps, sv__deps_fn *fn, void *arg)
{
    uint64_t vertices = (uint64_t)deps->fabric->num_channels * deps->vls;
    for (uint64_t v = 0; v < vertices; v++) {
        struct successors s = successors_of(deps, v);
        for (uint64_t w; (w = next_successor(&s)) != UINT64_MAX;)
            SV_TRY(fn(arg, vertex_of(deps, v), vertex_of(deps, w)));
    }
    return SV_OK;
}

unsigned sv__deps_vls_used(const sv__deps *deps)
{
    const sv_fabric *f = deps->fabric;
    uint64_t vls = 0;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_is_switch(f, f->tail[c]) && sv_is_switch(f, f->head[c]))
            for (unsigned v = 0; v < deps->vls; v++)
                if (sv__get_bit(deps->used, (uint64_t)c * deps->vls + v))
                    vls |= (uint64_t)1 << v;
    return (unsigned)__builtin_popcountll(vls);
}

/* Vertices that are left when those without predecessors are taken away again and again. */
struct peeling {
    uint32_t *predecessors; /* of each vertex, still there */
    uint64_t *queue;
    uint64_t taken, vertices;
};

static sv_status peel(const sv__deps *deps, sv_arena *arena, uint32_t *place, struct peeling *p)
{
    p->vertices = (uint64_t)deps->fabric->num_channels * deps->vls;
    p->predecessors = SV_ARENA_NEW(arena, uint32_t, p->vertices);
    p->queue = SV_ARENA_NEW(arena, uint64_t, p->vertices);
    if (p->predecessors == NULL || p->queue == NULL)
        return SV_NO_MEMORY;
    for (uint64_t v = 0; v < p->vertices; v++) {
        struct successors s = successors_of(deps, v);
        for (uint64_t w; (w = next_successor(&s)) != UINT64_MAX;)
            p->predecessors[w]++;
    }
    uint64_t tail = 0;
    for (uint64_t v = 0; v < p->vertices; v++)
        if (p->predecessors[v] == 0)
            p->queue[tail++] = v;
    for (p->taken = 0; p->taken < tail; p->taken++) {
        uint64_t v = p->queue[p->taken];
        if (place != NULL)
            place[v] = (uint32_t)p->taken;
        struct successors s = successors_of(deps, v);
        for (uint64_t w; (w = next_successor(&s)) != UINT64_MAX;)
            if (--p->predecessors[w] == 0)
                p->queue[tail++] = w;
    }
    return SV_OK;
}

/* A shortest way from a vertex back to itself among the vertices that are left, or length 0. */
static size_t shortest_round(const sv__deps *deps, const struct peeling *p, uint64_t start,
                             size_t below, uint32_t *came_from, uint64_t *queue, uint32_t *touched)
{
    uint64_t head = 0, tail = 0, level_end = 1;
    size_t depth = 1, length = 0;
    queue[tail++] = start;
    while (head < tail && length == 0 && depth < below) {
        struct successors s = successors_of(deps, queue[head]);
        for (uint64_t w; (w = next_successor(&s)) != UINT64_MAX && length == 0;) {
            if (w == start)
                length = depth;
            if (p->predecessors[w] == 0 || came_from[w] != 0 || w == start)
                continue;
            came_from[w] = (uint32_t)head + 1;
            queue[tail++] = w;
        }
        if (length == 0 && ++head == level_end) {
            level_end = tail;
            depth++;
        }
    }
    *touched = (uint32_t)tail;
    return length > 0 ? (size_t)head + 1 : 0;
}

/* Scratch for finding cycles, for each vertex. */
struct search {
    uint32_t *came_from;
    uint64_t *queue;
    struct successors *stack;
    uint32_t touched; /* the first entries of queue whose came_from is not 0 */
};

/*
 * Walks on from a vertex that is left until the walk meets itself; what it backed out of is not
 * entered again. came_from is 1 on the walk and 2 where it was before. Returns how many vertices at
 * the end of the queue (the walk) are the cycle, or 0 if there is none from here.
 */
static size_t some_round(const sv__deps *deps, const struct peeling *p, uint64_t start,
                         struct search *x, uint64_t *depth)
{
    *depth = 0;
    x->queue[0] = start;
    x->stack[(*depth)++] = successors_of(deps, start);
    x->came_from[start] = 1;
    while (*depth > 0) {
        uint64_t w = next_successor(&x->stack[*depth - 1]);
        if (w == UINT64_MAX) {
            x->came_from[x->queue[--*depth]] = 2;
        } else if (x->came_from[w] == 1) {
            size_t n = 1;
            while (x->queue[*depth - n] != w)
                n++;
            return n;
        } else if (p->predecessors[w] != 0 && x->came_from[w] == 0) {
            x->came_from[w] = 1;
            x->queue[*depth] = w;
            x->stack[(*depth)++] = successors_of(deps, w);
        }
    }
    return 0;
}

static sv_status keep_round(const sv__deps *deps, sv_arena *arena, const uint64_t *vertices,
                            size_t n, sv__vertex **cycle, size_t *length)
{
    sv__vertex *round = SV_ARENA_NEW(arena, sv__vertex, n);
    if (round == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        round[i] = vertex_of(deps, vertices[i]);
    *cycle = round;
    *length = n;
    return SV_OK;
}

/* Replaces the cycle by a shortest one through a vertex, if that is shorter. */
static sv_status shorten(const sv__deps *deps, sv_arena *arena, const struct peeling *p,
                         uint64_t through, struct search *x, sv__vertex **cycle, size_t *length)
{
    size_t end = shortest_round(deps, p, through, *length, x->came_from, x->queue, &x->touched);
    sv_status status = SV_OK;
    if (end > 0) {
        size_t n = 0, i = end;
        for (; i != 0; i = x->came_from[x->queue[i - 1]])
            n++;
        uint64_t *round = SV_ARENA_NEW(arena, uint64_t, n);
        status = round == NULL ? SV_NO_MEMORY : SV_OK;
        size_t at = n;
        for (i = end; status == SV_OK && i != 0; i = x->came_from[x->queue[i - 1]])
            round[--at] = x->queue[i - 1];
        if (status == SV_OK)
            status = keep_round(deps, arena, round, n, cycle, length);
    }
    for (uint32_t i = 0; i < x->touched; i++)
        x->came_from[x->queue[i]] = 0;
    return status;
}

/* A cycle, and then shorter ones through some of its vertices and some others that are left. */
static sv_status find_cycle(const sv__deps *deps, sv_arena *arena, const struct peeling *p,
                            sv__vertex **cycle, size_t *length)
{
    enum { TRIES = 100 };
    struct search x = {.came_from = SV_ARENA_NEW(arena, uint32_t, p->vertices),
                       .queue = SV_ARENA_NEW(arena, uint64_t, p->vertices),
                       .stack = SV_ARENA_NEW(arena, struct successors, p->vertices)};
    if (x.came_from == NULL || x.queue == NULL || x.stack == NULL)
        return SV_NO_MEMORY;
    for (uint64_t v = 0, depth; v < p->vertices && *length == 0; v++) {
        size_t n =
            p->predecessors[v] == 0 || x.came_from[v] != 0 ? 0 : some_round(deps, p, v, &x, &depth);
        if (n > 0)
            SV_TRY(keep_round(deps, arena, &x.queue[depth - n], n, cycle, length));
    }
    memset(x.came_from, 0, p->vertices * sizeof *x.came_from);
    const sv__vertex *first = *cycle;
    for (size_t n = *length, i = 0; i < n; i += n / TRIES + 1)
        SV_TRY(shorten(deps, arena, p, (uint64_t)first[i].channel.i * deps->vls + first[i].vl, &x,
                       cycle, length));
    uint64_t seen = 0, step = (p->vertices - p->taken) / TRIES + 1;
    for (uint64_t v = 0; v < p->vertices; v++)
        if (p->predecessors[v] != 0 && seen++ % step == 0)
            SV_TRY(shorten(deps, arena, p, v, &x, cycle, length));
    return SV_OK;
}

sv_status sv__deps_order(const sv__deps *deps, sv_arena *arena, uint32_t *place, sv__vertex **cycle,
                         size_t *length)
{
    struct peeling p;
    *cycle = NULL;
    *length = 0;
    SV_TRY(peel(deps, arena, place, &p));
    return p.taken == p.vertices ? SV_OK : find_cycle(deps, arena, &p, cycle, length);
}

bool sv__deps_descends(const sv__deps *deps, const uint32_t *place, sv__vertex *from,
                       sv__vertex *to)
{
    uint64_t vertices = (uint64_t)deps->fabric->num_channels * deps->vls;
    for (uint64_t v = 0; v < vertices; v++) {
        struct successors s = successors_of(deps, v);
        for (uint64_t w; (w = next_successor(&s)) != UINT64_MAX;)
            if (place[v] == SV_NONE || place[w] == SV_NONE || place[v] >= place[w]) {
                *from = vertex_of(deps, v);
                *to = vertex_of(deps, w);
                return true;
            }
    }
    return false;
}
