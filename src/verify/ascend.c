/*
 * ascend.c: packets held against the orders that tables come with.
 *
 * An order is a number for each lane of each channel between switches. If every turn that packets
 * take goes from a smaller number to a larger one, packets cannot wait for each other in a ring
 * (Dally and Seitz), and to see that a turn ascends is to compare two numbers. So where tables are
 * known to keep to their orders, a change of some rows is judged by looking at these rows alone.
 *
 * For each destination the old and the new way out of every switch are taken together, as in
 * transition.c. If they have no circle, they are gone through from the tips inwards, handing on the
 * set of lanes that packets are on; each turn must ascend in all of them. A packet stays on its
 * lane because tables are asked to send an SL to the same lane everywhere; for others there is
 * transition.c.
 *
 * This knows nothing of who computed the tables, nor of how.
 * Cost: O(switches) a destination.
 */
#include <selvage/verify.h>
#include <string.h>

#include "base/bitset.h"
#include "base/threads.h"
#include "verify/judge.h"

enum { WAYS = 2, ROWS_A_PIECE = 16 };
enum { NOWHERE, GOES, ENDS };

/* What a worker needs, for each switch; those of ways at [s * WAYS + way]. */
struct scratch {
    uint8_t *ways, *kind;
    uint32_t *next, *place; /* where it leads; the port it leaves by, as orders count */
    uint32_t *feeders, *queue;
    uint64_t *lanes;
    bool *strands, *strands_old, *strands_new;
    sv_ascent found;
};

struct climb {
    const sv_fabric *f;
    const sv_routes *old, *new;
    sv_traffic traffic;
    const uint64_t *only;
    bool quiet;
    sv_portmap ports;
    uint8_t lane_of[SV_MOST_SLS];
    uint32_t *terminals; /* [switches]: live ones on each */
    struct scratch *scratch;
};

/* ---- tables that keep an SL on one lane ---- */

static bool same_lanes(const sv_routes *r, uint32_t v, const sv_lanes *wanted, size_t pairs)
{
    const uint16_t *by_ports = v < r->num_switches ? r->lanes_by_ports[v] : NULL;
    for (size_t i = 0; i < (by_ports == NULL ? 1 : pairs); i++) {
        const sv_lanes *lanes = &r->lane_tables[by_ports == NULL ? r->lanes_of[v] : by_ports[i]];
        if (lanes != wanted && memcmp(lanes, wanted, sizeof *lanes) != 0)
            return false;
    }
    return true;
}

/* Whether all live nodes have one table, in which every SL goes to a lane that has numbers. */
static bool one_table(const sv_fabric *f, const sv_routes *r, unsigned lanes,
                      const sv_lanes **table)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        size_t ports = v < f->num_switches ? f->switches[v].ports + 1u : 1;
        if (!sv_node_alive(f, (sv_node){v}))
            continue;
        if (*table == NULL)
            *table = &r->lane_tables[r->lanes_of[v]];
        if (!same_lanes(r, v, *table, ports * ports))
            return false;
    }
    for (unsigned sl = 0; *table != NULL && sl < r->num_sls; sl++)
        if ((*table)->of_sl[sl] >= lanes)
            return false;
    return true;
}

/* ---- one destination ---- */

struct row {
    const struct climb *c;
    struct scratch *x;
    uint32_t d;
    sv_node to;
};

static void add_way(struct row *row, uint32_t s, unsigned way, unsigned port)
{
    const struct climb *c = row->c;
    struct scratch *x = row->x;
    uint32_t i = s * WAYS + way;
    const sv_place *place = sv_portmap_place(&c->ports, s, port);
    uint32_t next = place->end >> 8;
    x->kind[i] = NOWHERE;
    if (place->channel == SV_NONE) {
        if (port == 0 && s == row->to.i)
            x->kind[i] = ENDS;
    } else if (next < c->f->num_switches) {
        x->kind[i] = GOES;
        x->next[i] = next;
        x->place[i] = c->ports.first[s] + port;
        x->feeders[next]++;
    } else if (next == row->to.i) {
        x->kind[i] = ENDS;
    }
}

static void list_ways(struct row *row)
{
    const struct climb *c = row->c;
    const uint8_t *a = c->old->ports[row->d], *b = c->new->ports[row->d];
    memset(row->x->feeders, 0, c->f->num_switches * sizeof *row->x->feeders);
    for (uint32_t s = 0; s < c->f->num_switches; s++) {
        row->x->ways[s] = a[s] == b[s] ? 1 : 2;
        if (!sv_node_alive(c->f, (sv_node){s}))
            continue;
        add_way(row, s, 0, a[s]);
        if (a[s] != b[s])
            add_way(row, s, 1, b[s]);
    }
}

/* Queues switches from the tips inwards; fewer than are alive if there is a circle. */
static uint32_t line_up(struct row *row)
{
    const sv_fabric *f = row->c->f;
    struct scratch *x = row->x;
    uint32_t tail = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (x->feeders[s] == 0 && sv_node_alive(f, (sv_node){s}))
            x->queue[tail++] = s;
    for (uint32_t i = 0; i < tail; i++) {
        uint32_t s = x->queue[i];
        for (uint32_t w = s * WAYS; w < s * WAYS + x->ways[s]; w++)
            if (x->kind[w] == GOES && --x->feeders[x->next[w]] == 0)
                x->queue[tail++] = x->next[w];
    }
    return tail;
}

/* The lanes of a node's packets, before and after. */
static uint64_t lanes_of(const struct row *row, sv_node from)
{
    const struct climb *c = row->c;
    unsigned sl[] = {sv_route_sl(c->old, from, row->d), sv_route_sl(c->new, from, row->d)};
    uint64_t lanes = 0;
    if (c->quiet && sl[0] != sl[1])
        return 0;
    for (int k = 0; k < 2; k++) {
        if (sl[k] < SV_MOST_SLS)
            lanes |= (uint64_t)1 << c->lane_of[sl[k]];
        else /* not known: any */
            for (unsigned any = 0; any < c->new->num_sls; any++)
                lanes |= (uint64_t)1 << c->lane_of[any];
    }
    return lanes;
}

/* The lanes of what starts at a switch: its own packets, and its terminals'. */
static uint64_t starting(const struct row *row, uint32_t s)
{
    const struct climb *c = row->c;
    unsigned to_switch = sv_is_switch(c->f, row->to);
    bool alike = c->old->sl_form != SV_SL_BY_NODE && c->new->sl_form != SV_SL_BY_NODE;
    bool own = s != row->to.i && to_switch + 1 <= (unsigned)c->traffic;
    uint64_t lanes = own ? lanes_of(row, (sv_node){s}) : 0;
    if (c->terminals[s] == 0 || to_switch > (unsigned)c->traffic || (own && alike))
        return lanes;
    SV_FOR_HOPS (c->f, ((sv_node){s}), hop)
        if (!sv_is_switch(c->f, hop->to) && hop->to.i != row->to.i)
            lanes |= lanes_of(row, hop->to);
    return lanes;
}

/* Lanes among some in which a turn does not ascend. */
static uint64_t descending(const struct climb *c, uint32_t in, uint32_t out, uint64_t lanes)
{
    const uint32_t *a = c->new->orders + (size_t)in * c->new->order_lanes;
    const uint32_t *b = c->new->orders + (size_t)out * c->new->order_lanes;
    uint64_t bad = 0;
    for (uint64_t left = lanes; left != 0; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctzll(left);
        if (a[l] >= b[l] || b[l] == SV_NONE)
            bad |= (uint64_t)1 << l;
    }
    return bad;
}

static void climb_row(struct row *row, uint32_t count)
{
    const struct climb *c = row->c;
    struct scratch *x = row->x;
    memset(x->lanes, 0, c->f->num_switches * sizeof *x->lanes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = x->queue[i];
        x->lanes[s] |= starting(row, s);
        for (uint32_t w = s * WAYS; w < s * WAYS + x->ways[s]; w++) {
            if (x->kind[w] != GOES)
                continue;
            uint32_t to = x->next[w];
            for (uint32_t k = to * WAYS; k < to * WAYS + x->ways[to]; k++)
                if (x->kind[k] == GOES && descending(c, x->place[w], x->place[k], x->lanes[s]) != 0)
                    x->found.descents++;
            x->lanes[to] |= x->lanes[s];
        }
    }
}

/* Who ends nowhere: by some way, by the old ones alone, by the new ones alone. */
static void strand(struct row *row, uint32_t count)
{
    struct scratch *x = row->x;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t s = x->queue[i], a = s * WAYS, b = a + x->ways[s] - 1;
        bool old = x->kind[a] == GOES ? x->strands_old[x->next[a]] : x->kind[a] == NOWHERE;
        bool new = x->kind[b] == GOES ? x->strands_new[x->next[b]] : x->kind[b] == NOWHERE;
        bool any = old || new;
        for (uint32_t w = a; w <= b; w++)
            any |= x->kind[w] == GOES && x->strands[x->next[w]];
        x->strands_old[s] = old;
        x->strands_new[s] = new;
        x->strands[s] = any;
    }
}

static void count_stranded(struct row *row, uint32_t count)
{
    const struct climb *c = row->c;
    struct scratch *x = row->x;
    bool to_terminal = !sv_is_switch(c->f, row->to);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = x->queue[i];
        if (!x->strands[s])
            continue;
        uint64_t pairs = c->terminals[s];
        SV_FOR_HOPS (c->f, ((sv_node){s}), hop)
            pairs -= hop->to.i == row->to.i;
        x->found.dead_ends += to_terminal ? pairs : 0;
        x->found.broken += to_terminal && x->strands_old[s] ? pairs : 0;
        x->found.lost += to_terminal && x->strands_new[s] ? pairs : 0;
        x->found.lost_others +=
            x->strands_new[s] ? (to_terminal ? 0 : pairs) + (s != row->to.i) : 0;
    }
}

static void judge_row(const struct climb *c, struct scratch *x, uint32_t d)
{
    struct row row = {c, x, d, c->new->node[d]};
    if (!sv_node_alive(c->f, row.to))
        return;
    x->found.destinations++;
    list_ways(&row);
    uint32_t count = line_up(&row);
    if (count < c->f->live_switches) {
        x->found.looping++;
        return;
    }
    climb_row(&row, count);
    strand(&row, count);
    count_stranded(&row, count);
}

/* ---- all of them ---- */

static sv_status judge_piece(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct climb *c = arg;
    uint64_t end = (piece + 1) * ROWS_A_PIECE;
    if (end > c->new->num_destinations)
        end = c->new->num_destinations;
    for (uint64_t d = piece * ROWS_A_PIECE; d < end; d++)
        if (c->only == NULL || sv_bit(c->only, d))
            judge_row(c, &c->scratch[worker], (uint32_t)d);
    return SV_OK;
}

static sv_status make_scratch(struct climb *c, sv_arena *arena, unsigned workers)
{
    size_t n = c->f->num_switches;
    c->scratch = SV_ARENA_NEW(arena, struct scratch, workers);
    for (unsigned i = 0; c->scratch != NULL && i < workers; i++) {
        struct scratch *x = &c->scratch[i];
        x->ways = SV_ARENA_NEW(arena, uint8_t, n);
        x->kind = SV_ARENA_NEW(arena, uint8_t, n * WAYS);
        x->next = SV_ARENA_NEW(arena, uint32_t, n * WAYS);
        x->place = SV_ARENA_NEW(arena, uint32_t, n * WAYS);
        x->feeders = SV_ARENA_NEW(arena, uint32_t, n);
        x->queue = SV_ARENA_NEW(arena, uint32_t, n);
        x->lanes = SV_ARENA_NEW(arena, uint64_t, n);
        x->strands = SV_ARENA_NEW(arena, bool, n);
        x->strands_old = SV_ARENA_NEW(arena, bool, n);
        x->strands_new = SV_ARENA_NEW(arena, bool, n);
        if (x->ways == NULL || x->kind == NULL || x->next == NULL || x->place == NULL ||
            x->feeders == NULL || x->queue == NULL || x->lanes == NULL || x->strands == NULL ||
            x->strands_old == NULL || x->strands_new == NULL)
            return SV_NO_MEMORY;
    }
    return c->scratch == NULL ? SV_NO_MEMORY : SV_OK;
}

static void sum_up(const struct climb *c, unsigned workers, sv_ascent *sum)
{
    *sum = (sv_ascent){0};
    for (unsigned i = 0; i < workers; i++) {
        const sv_ascent *part = &c->scratch[i].found;
        sum->destinations += part->destinations;
        sum->looping += part->looping;
        sum->dead_ends += part->dead_ends;
        sum->broken += part->broken;
        sum->lost += part->lost;
        sum->lost_others += part->lost_others;
        sum->descents += part->descents;
    }
}

static sv_status climb(sv_ctx *ctx, sv_arena *arena, struct climb *c, sv_ascent *result)
{
    const sv_fabric *f = c->f;
    uint64_t pieces = (c->new->num_destinations + ROWS_A_PIECE - 1) / ROWS_A_PIECE;
    unsigned workers = sv_ctx_threads(ctx, pieces);
    SV_TRY(sv_portmap_init(&c->ports, arena, f));
    SV_TRY(make_scratch(c, arena, workers));
    c->terminals = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    if (c->terminals == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            c->terminals[s] += !sv_is_switch(f, hop->to);
    SV_TRY(sv_parallel(ctx, "checking", pieces, judge_piece, c));
    sum_up(c, workers, result);
    return SV_OK;
}

sv_status sv_verify_ascent(sv_ctx *ctx, const sv_fabric *f, const sv_routes *old_routes,
                           const sv_routes *new_routes, sv_traffic traffic,
                           const uint64_t *destinations, bool quiet, sv_ascent *result)
{
    const sv_lanes *table = NULL;
    struct climb c = {.f = f,
                      .old = old_routes,
                      .new = new_routes,
                      .traffic = traffic,
                      .only = destinations,
                      .quiet = quiet};
    if (old_routes->num_destinations != new_routes->num_destinations ||
        new_routes->num_switches != f->num_switches)
        return sv_fail(ctx, SV_BAD_INPUT, "tables that belong to another fabric");
    if (new_routes->orders == NULL || old_routes->num_sls != new_routes->num_sls ||
        !one_table(f, new_routes, new_routes->order_lanes, &table) ||
        !one_table(f, old_routes, new_routes->order_lanes, &table))
        return SV_UNSUPPORTED;
    if (table != NULL)
        memcpy(c.lane_of, table->of_sl, sizeof c.lane_of);
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = climb(ctx, &arena, &c, result);
    sv_arena_release(&arena);
    return status;
}

sv_status sv_verify_orders(sv_ctx *ctx, const sv_fabric *f, sv_routes *r, sv_traffic traffic)
{
    sv_verification *found = NULL;
    uint32_t *numbers;
    SV_TRY(sv_verify(ctx, f, r, NULL, &found));
    sv_status status = SV_OK;
    if (found->order == NULL || found->deadlock_free[traffic] != SV_VERDICT_YES)
        status = sv_fail(ctx, SV_INFEASIBLE, "these tables can deadlock: there is no order");
    if (status == SV_OK)
        status = sv_routes_set_orders(ctx, f, r, found->order_lanes, &numbers);
    if (status == SV_OK)
        memcpy(numbers, found->order,
               (size_t)r->order_first[f->num_switches] * r->order_lanes * sizeof *numbers);
    sv_verification_free(found);
    return status;
}
