/*
 * break.c: VLs by breaking cycles: DFSSSP's own way (IPDPS'11 Alg. 2, thesis Alg. 3.6).
 *
 * All paths begin in the first VL. As long as its dependency graph has a cycle, one turn of it is
 * chosen and all paths that take this turn move to the next VL; then the same is done there. The
 * heuristics differ in which turn: the one with the fewest paths (weakest), the most (strongest),
 * or the first of the cycle.
 *
 * One search serves a VL. While cycles are broken a VL only loses turns, so what the search has
 * left behind stays free of cycles; after a break it goes back to the last channel on its stack
 * whose way there still exists, and goes on.
 *
 * Which paths take a turn follows from the tables: to every destination for which the switches send
 * that way, from all switches behind it in the tree. So no list of paths is kept, only a number for
 * each turn, and the tables by switch (one byte a switch and destination) once there is a cycle.
 *
 * Cost: O(switches × destinations) a VL to count; O(destinations) and the size of the trees
 * behind it for a break.
 */
#include "vls/vls.h"

struct breaker {
    sv_layering *x;
    sv_cdg shape; /* for the numbers of turns; has no VLs */
    sv_vl_method method;
    uint64_t *paths;    /* [turns]: how many terminals' paths take it, in the VL at hand */
    uint64_t *flow;     /* [switches]: scratch: paths that come through */
    uint8_t *by_switch; /* [switch][destination]: port */
    uint32_t *stack;    /* [entries]: the search */
    uint32_t *next;     /* [entries]: the cable to look at next */
    uint8_t *color;     /* [entries]: 0 new, 1 on the stack, 2 left behind */
    uint32_t depth;
    uint32_t *branch; /* [switches]: scratch: part of a tree */
    uint32_t from;    /* the channel that the search at hand began at */
    unsigned vl;
    bool moved;
};

static sv_status breaker_init(struct breaker *b, sv_layering *x, sv_vl_method method)
{
    uint32_t n = x->core->num_switches, count = x->core->num_entries;
    b->x = x;
    b->method = method;
    SV_TRY(sv_cdg_init(&b->shape, x->arena, x->core));
    b->paths = SV_ARENA_NEW(x->arena, uint64_t, b->shape.num_turns);
    b->flow = SV_ARENA_NEW(x->arena, uint64_t, n);
    b->branch = SV_ARENA_NEW(x->arena, uint32_t, n);
    b->stack = SV_ARENA_NEW(x->arena, uint32_t, count);
    b->next = SV_ARENA_NEW(x->arena, uint32_t, count);
    b->color = SV_ARENA_NEW(x->arena, uint8_t, count);
    return b->paths == NULL || b->flow == NULL || b->branch == NULL || b->stack == NULL ||
                   b->next == NULL || b->color == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

/* How many packets a path stands for: one a terminal, or the switch itself. */
static uint64_t weight_of(const sv_layering *x, uint32_t s)
{
    return x->core->terminals[s] > 0 ? x->core->terminals[s] : 1;
}

/* Counts the paths of the VL at hand on each turn. */
static void count_paths(struct breaker *b)
{
    sv_layering *x = b->x;
    for (size_t t = 0; t < b->shape.num_turns; t++)
        b->paths[t] = 0;
    for (uint32_t d = 0; d < x->routes->num_destinations; d++) {
        sv_layering_tree(x, d);
        const uint8_t *vls = x->routes->sls[d];
        for (uint32_t i = 0; i < x->tree.count; i++) {
            uint32_t s = x->tree.order[i];
            b->flow[s] = vls[s] == b->vl ? weight_of(x, s) : 0;
        }
        for (uint32_t i = x->tree.count; i-- > 1;) {
            uint32_t s = x->tree.order[i], in = x->tree.via[s], to = x->core->to[in];
            if (x->tree.via[to] != SV_NONE && b->flow[s] > 0)
                b->paths[sv_cdg_turn(&b->shape, in, x->tree.via[to])] += b->flow[s];
            b->flow[to] += b->flow[s];
        }
    }
}

/* The tables by switch, the first time they are needed. */
static sv_status turn_tables(struct breaker *b)
{
    const sv_routes *r = b->x->routes;
    size_t n = r->num_switches, count = r->num_destinations;
    if (b->by_switch != NULL)
        return SV_OK;
    b->by_switch = SV_ARENA_NEW(b->x->arena, uint8_t, n * count);
    if (b->by_switch == NULL)
        return SV_NO_MEMORY;
    for (size_t d = 0; d < count; d++)
        for (size_t s = 0; s < n; s++)
            b->by_switch[s * count + d] = r->ports[d][s];
    return SV_OK;
}

/*
 * Moves the paths to a destination that come through a switch to the next VL; returns how many.
 * The numbers of turns behind the switch are brought down.
 */
static uint64_t move_branch(struct breaker *b, uint32_t d, uint32_t top, uint8_t *vls)
{
    sv_layering *x = b->x;
    const sv_core *core = x->core;
    const uint8_t *row = x->routes->ports[d];
    uint32_t count = 0;
    b->branch[count++] = top;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = b->branch[i];
        bool moves = vls[s] == b->vl;
        b->flow[s] = moves ? weight_of(x, s) : 0;
        vls[s] = (uint8_t)(vls[s] + moves);
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
            if (row[core->entries[e].from] == core->entries[e].port)
                b->branch[count++] = core->entries[e].from;
    }
    for (uint32_t i = count; i-- > 1;) {
        uint32_t s = b->branch[i];
        uint32_t in = sv_core_entry(&x->ports, s, row[s]), to = core->to[in];
        b->paths[sv_cdg_turn(&b->shape, in, sv_core_entry(&x->ports, to, row[to]))] -= b->flow[s];
        b->flow[to] += b->flow[s];
    }
    return b->flow[top];
}

/* All paths with a turn move to the next VL. */
static sv_status break_turn(struct breaker *b, uint32_t in, uint32_t out)
{
    sv_layering *x = b->x;
    const sv_core *core = x->core;
    size_t count = x->routes->num_destinations;
    SV_TRY(turn_tables(b));
    const uint8_t *from = b->by_switch + core->entries[in].from * count;
    const uint8_t *to = b->by_switch + core->entries[out].from * count;
    uint8_t port_in = core->entries[in].port, port_out = core->entries[out].port;
    for (uint32_t d = 0; d < count; d++) {
        if (from[d] != port_in || to[d] != port_out)
            continue;
        uint8_t *vls = sv_routes_sl_row(x->ctx, x->routes, d);
        if (vls == NULL)
            return SV_NO_MEMORY;
        uint64_t moved = move_branch(b, d, core->entries[in].from, vls);
        b->moved |= moved > 0;
        /* And on the way home. */
        for (uint32_t e = in; moved > 0;) {
            uint32_t s = core->to[e], next = sv_core_entry(&x->ports, s, x->routes->ports[d][s]);
            if (next == SV_NONE)
                break;
            b->paths[sv_cdg_turn(&b->shape, e, next)] -= moved;
            e = next;
        }
    }
    return SV_OK;
}

/* The turn to break, of the cycle on the stack from place begin on. */
static void choose(const struct breaker *b, uint32_t begin, uint32_t *in, uint32_t *out)
{
    uint64_t best = 0;
    for (uint32_t i = begin; i < b->depth; i++) {
        uint32_t from = b->stack[i], to = b->stack[i + 1 < b->depth ? i + 1 : begin];
        uint64_t paths = b->paths[sv_cdg_turn(&b->shape, from, to)];
        bool better = b->method == SV_VLS_WEAKEST     ? paths < best
                      : b->method == SV_VLS_STRONGEST ? paths > best
                                                      : false;
        if (i == begin || better) {
            best = paths;
            *in = from;
            *out = to;
        }
    }
}

/* Goes back to where the way still exists. */
static void unwind(struct breaker *b)
{
    uint32_t keep = 1;
    while (keep < b->depth &&
           b->paths[sv_cdg_turn(&b->shape, b->stack[keep - 1], b->stack[keep])] > 0)
        keep++;
    for (uint32_t i = keep; i < b->depth; i++)
        b->color[b->stack[i]] = 0;
    b->depth = keep;
}

static sv_status close_cycle(struct breaker *b, uint32_t at)
{
    uint32_t begin = b->depth - 1, in = 0, out = 0;
    SV_TRY(sv_progress(b->x->ctx, "vls", b->from, b->x->core->num_entries));
    while (b->stack[begin] != at)
        begin--;
    choose(b, begin, &in, &out);
    SV_TRY(break_turn(b, in, out));
    unwind(b);
    return SV_OK;
}

static void push(struct breaker *b, uint32_t e)
{
    b->stack[b->depth++] = e;
    b->color[e] = 1;
    b->next[e] = 0;
}

/* Searches from one channel on, breaking what it finds. */
static sv_status search(struct breaker *b, uint32_t from)
{
    const sv_core *core = b->x->core;
    b->from = from;
    push(b, from);
    while (b->depth > 0) {
        uint32_t e = b->stack[b->depth - 1], s = core->to[e];
        uint32_t degree = core->first[s + 1] - core->first[s];
        while (b->next[e] < degree &&
               b->paths[sv_cdg_turn(&b->shape, e, core->back[core->first[s] + b->next[e]])] == 0)
            b->next[e]++;
        if (b->next[e] == degree) {
            b->color[e] = 2;
            b->depth--;
            continue;
        }
        uint32_t to = core->back[core->first[s] + b->next[e]];
        if (b->color[to] == 1) {
            SV_TRY(close_cycle(b, to));
            continue; /* the same cable again, if it is still there */
        }
        b->next[e]++;
        if (b->color[to] == 0)
            push(b, to);
    }
    return SV_OK;
}

sv_status sv__vls_break(sv_layering *x, sv_vl_method method, unsigned max)
{
    struct breaker b = {0};
    SV_TRY(breaker_init(&b, x, method));
    for (uint32_t d = 0; d < x->routes->num_destinations; d++) {
        uint8_t *vls = sv_routes_sl_row(x->ctx, x->routes, d);
        if (vls == NULL)
            return SV_NO_MEMORY;
        for (uint32_t s = 0; s < x->core->num_switches; s++)
            vls[s] = sv_layering_counts(x, s, d) ? 0 : SV_NO_SL;
    }
    do {
        b.moved = false;
        count_paths(&b);
        for (uint32_t e = 0; e < x->core->num_entries; e++)
            b.color[e] = 0;
        for (uint32_t e = 0; e < x->core->num_entries; e++) {
            if (e % 64 == 0)
                SV_TRY(sv_progress(x->ctx, "vls", e, x->core->num_entries));
            if (b.color[e] == 0)
                SV_TRY(search(&b, e));
        }
        x->vls = b.vl + 1;
        if (b.moved && b.vl + 1 == max)
            return SV_INFEASIBLE;
        b.vl++;
    } while (b.moved);
    return SV_OK;
}
