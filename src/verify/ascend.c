/*
 * ascend.c: packets held against the orders that tables come with.
 *
 * An order is a number for each VL of each channel between switches. If every turn that packets
 * take goes from a smaller number to a larger one, packets cannot wait for each other in a ring
 * (Dally and Seitz), and to see that a turn ascends is to compare two numbers. So where tables are
 * known to keep to their orders, a change of some rows is judged by looking at these rows alone.
 *
 * For each destination the old and the new way out of every switch are taken together, as in
 * transition.c. If they have no circle, they are gone through from the tips inwards, handing on the
 * set of VLs that packets are on; each turn must ascend in all of them. A packet stays on its
 * VL because tables are asked to send an SL to the same VL everywhere; for others there is
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

enum { WAYS = 2, ROWS_A_PIECE = 64 }; /* a word of a set of destinations */
enum { NOWHERE, GOES, ENDS };

/* A switch, for the destination at hand: the old way out first, then the new if it is another. */
struct stop {
    uint32_t next[WAYS], place[WAYS]; /* where a way leads; its port, as orders count */
    uint32_t feeders;                 /* ways into it that had no turn yet */
    uint8_t kind[WAYS], ways;
    bool strands, strands_old, strands_new; /* by some ways, by old ones, by new ones alone */
    uint64_t vls;                           /* of all packets that come through or start here */
};

/* What a worker needs. */
struct scratch {
    struct stop *stops; /* [switches] */
    uint32_t *queue;
    sv_ascent found;
};

struct climb {
    const sv_fabric *f;
    const sv_routes *old, *new;
    sv_traffic traffic;
    const uint64_t *only;
    uint64_t *unsafe; /* or NULL */
    bool quiet;
    sv_portmap ports;
    uint8_t vl_of[SV_MAX_SLS];
    uint64_t any_vl;     /* where any SL may lead */
    bool alike;          /* everybody has the same SL for a destination, and it stays */
    bool by_node;        /* terminals of a switch may have different ones */
    uint32_t *terminals; /* [switches]: live ones on each */
    struct scratch *scratch;
};

/* ---- tables that keep an SL on one VL ---- */

static bool same_vls(const sv_routes *r, uint32_t v, const sv_sl2vl *wanted, size_t pairs)
{
    const uint16_t *by_ports = v < r->num_switches ? r->sl2vl_by_port[v] : NULL;
    for (size_t i = 0; i < (by_ports == NULL ? 1 : pairs); i++) {
        const sv_sl2vl *vls = &r->vl_tables[by_ports == NULL ? r->vls_of[v] : by_ports[i]];
        if (vls != wanted && memcmp(vls, wanted, sizeof *vls) != 0)
            return false;
    }
    return true;
}

/* Whether all live nodes have one table, in which every SL goes to a VL that has numbers. */
static bool one_table(const sv_fabric *f, const sv_routes *r, unsigned vls, const sv_sl2vl **table)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        size_t ports = v < f->num_switches ? f->switches[v].ports + 1u : 1;
        if (!sv_node_alive(f, (sv_node){v}))
            continue;
        if (*table == NULL)
            *table = &r->vl_tables[r->vls_of[v]];
        if (!same_vls(r, v, *table, ports * ports))
            return false;
    }
    for (unsigned sl = 0; *table != NULL && sl < r->num_sls; sl++)
        if ((*table)->of_sl[sl] >= vls)
            return false;
    return true;
}

/* ---- one destination ---- */

struct row {
    const struct climb *c;
    struct scratch *x;
    uint32_t d;
    sv_node to;
    uint64_t alike; /* VLs of everybody's packets, where all have the same; else 0 */
    bool gaps;      /* some way leads nowhere */
};

static void add_way(struct row *row, uint32_t s, unsigned way, unsigned port)
{
    const struct climb *c = row->c;
    struct stop *stop = &row->x->stops[s];
    const sv_place *place = sv_portmap_place(&c->ports, s, port);
    uint32_t next = place->end >> 8;
    bool ends = place->channel == SV_NONE ? port == 0 && s == row->to.i : next == row->to.i;
    stop->kind[way] = ends ? ENDS : NOWHERE;
    if (place->channel != SV_NONE && next < c->f->num_switches) {
        stop->kind[way] = GOES;
        stop->next[way] = next;
        stop->place[way] = c->ports.first[s] + port;
        row->x->stops[next].feeders++;
    }
    row->gaps |= stop->kind[way] == NOWHERE;
}

static void list_ways(struct row *row)
{
    const struct climb *c = row->c;
    const uint8_t *a = c->old->ports[row->d], *b = c->new->ports[row->d];
    struct stop *stops = row->x->stops;
    for (uint32_t s = 0; s < c->f->num_switches; s++) {
        stops[s].feeders = 0;
        stops[s].vls = 0;
    }
    for (uint32_t s = 0; s < c->f->num_switches; s++) {
        stops[s].ways = a[s] == b[s] ? 1 : 2;
        if (!sv_node_alive(c->f, (sv_node){s}))
            continue;
        add_way(row, s, 0, a[s]);
        if (a[s] != b[s])
            add_way(row, s, 1, b[s]);
    }
}

/* The VLs of a node's packets, before and after. */
static uint64_t vls_of(const struct row *row, sv_node from)
{
    const struct climb *c = row->c;
    unsigned sl[] = {sv_route_sl(c->old, from, row->d), sv_route_sl(c->new, from, row->d)};
    uint64_t vls = 0;
    if (c->quiet && sl[0] != sl[1])
        return 0;
    for (int k = 0; k < 2; k++)
        vls |= sl[k] < SV_MAX_SLS ? (uint64_t)1 << c->vl_of[sl[k]] : c->any_vl;
    return vls;
}

/* The VLs of what starts at a switch: its own packets, and its terminals'. */
static uint64_t starting(const struct row *row, uint32_t s)
{
    const struct climb *c = row->c;
    unsigned to_switch = sv_is_switch(c->f, row->to);
    bool own = s != row->to.i && to_switch + 1 <= (unsigned)c->traffic;
    bool others = c->terminals[s] > 0 && to_switch <= (unsigned)c->traffic;
    if (row->alike != 0)
        return own || others ? row->alike : 0;
    uint64_t vls = own || (others && !c->by_node) ? vls_of(row, (sv_node){s}) : 0;
    if (!others || !c->by_node)
        return vls;
    SV_FOR_HOPS (c->f, ((sv_node){s}), hop)
        if (!sv_is_switch(c->f, hop->to) && hop->to.i != row->to.i)
            vls |= vls_of(row, hop->to);
    return vls;
}

/* Whether a turn ascends in all of some VLs. */
static bool ascends(const struct climb *c, uint32_t in, uint32_t out, uint64_t vls)
{
    const uint32_t *a = c->new->orders + (size_t)in * c->new->order_vls;
    const uint32_t *b = c->new->orders + (size_t)out * c->new->order_vls;
    for (uint64_t left = vls; left != 0; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctzll(left);
        if (a[l] >= b[l] || b[l] == SV_NONE)
            return false;
    }
    return true;
}

/* A switch's turn: all that comes through it is known, and goes on. Returns the new tail. */
static uint32_t go_on(struct row *row, uint32_t s, uint32_t tail)
{
    struct stop *stops = row->x->stops, *stop = &stops[s];
    stop->vls |= starting(row, s);
    for (unsigned w = 0; w < stop->ways; w++) {
        if (stop->kind[w] != GOES)
            continue;
        struct stop *to = &stops[stop->next[w]];
        for (unsigned k = 0; k < to->ways; k++)
            if (to->kind[k] == GOES && !ascends(row->c, stop->place[w], to->place[k], stop->vls))
                row->x->found.descents++;
        to->vls |= stop->vls;
        if (--to->feeders == 0)
            row->x->queue[tail++] = stop->next[w];
    }
    return tail;
}

/* From the tips inwards; returns how many had their turn: fewer than are alive if there is a
 * circle. */
static uint32_t climb_row(struct row *row)
{
    const sv_fabric *f = row->c->f;
    struct scratch *x = row->x;
    uint32_t tail = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (x->stops[s].feeders == 0 && sv_node_alive(f, (sv_node){s}))
            x->queue[tail++] = s;
    for (uint32_t i = 0; i < tail; i++)
        tail = go_on(row, x->queue[i], tail);
    return tail;
}

/* Who ends nowhere. */
static void strand(struct row *row, uint32_t count)
{
    struct stop *stops = row->x->stops;
    for (uint32_t i = count; i-- > 0;) {
        struct stop *stop = &stops[row->x->queue[i]];
        unsigned last = stop->ways - 1;
        stop->strands = false;
        for (unsigned w = 0; w <= last; w++)
            stop->strands |=
                stop->kind[w] == GOES ? stops[stop->next[w]].strands : stop->kind[w] == NOWHERE;
        stop->strands_old =
            stop->kind[0] == GOES ? stops[stop->next[0]].strands_old : stop->kind[0] == NOWHERE;
        stop->strands_new = stop->kind[last] == GOES ? stops[stop->next[last]].strands_new
                                                     : stop->kind[last] == NOWHERE;
    }
}

static void count_stranded(struct row *row, uint32_t count)
{
    const struct climb *c = row->c;
    sv_ascent *found = &row->x->found;
    bool to_terminal = !sv_is_switch(c->f, row->to);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = row->x->queue[i];
        const struct stop *stop = &row->x->stops[s];
        if (!stop->strands)
            continue;
        uint64_t pairs = c->terminals[s];
        SV_FOR_HOPS (c->f, ((sv_node){s}), hop)
            pairs -= hop->to.i == row->to.i;
        if (!stop->strands_old && s != row->to.i && c->traffic >= SV_TRAFFIC_MANAGED) {
            found->strays += to_terminal ? 0 : pairs;
            found->strays += to_terminal || c->traffic == SV_TRAFFIC_ALL;
        }
        found->dead_ends += to_terminal ? pairs : 0;
        found->broken += to_terminal && stop->strands_old ? pairs : 0;
        found->lost += to_terminal && stop->strands_new ? pairs : 0;
        found->lost_others += stop->strands_new ? (to_terminal ? 0 : pairs) + (s != row->to.i) : 0;
    }
}

static void judge_row(const struct climb *c, struct scratch *x, uint32_t d)
{
    struct row row = {.c = c, .x = x, .d = d, .to = c->new->node[d]};
    if (!sv_node_alive(c->f, row.to))
        return;
    if (c->alike)
        row.alike = vls_of(&row, row.to);
    sv_ascent sum = x->found;
    x->found.destinations++;
    list_ways(&row);
    uint32_t count = climb_row(&row);
    if (count < c->f->live_switches)
        x->found.looping++;
    else if (row.gaps) {
        strand(&row, count);
        count_stranded(&row, count);
    }
    bool safe = x->found.looping == sum.looping && x->found.descents == sum.descents &&
                x->found.dead_ends - sum.dead_ends == x->found.broken - sum.broken &&
                x->found.strays == sum.strays;
    if (!safe && c->unsafe != NULL)
        sv_bit_set(c->unsafe, d);
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
        c->scratch[i].stops = SV_ARENA_NEW(arena, struct stop, n);
        c->scratch[i].queue = SV_ARENA_NEW(arena, uint32_t, n);
        if (c->scratch[i].stops == NULL || c->scratch[i].queue == NULL)
            return SV_NO_MEMORY;
    }
    return c->scratch == NULL ? SV_NO_MEMORY : SV_OK;
}

static void sum_up(const struct climb *c, unsigned workers, sv_ascent *sum)
{
    *sum = (sv_ascent){.judged = true};
    for (unsigned i = 0; i < workers; i++) {
        const sv_ascent *part = &c->scratch[i].found;
        sum->destinations += part->destinations;
        sum->looping += part->looping;
        sum->dead_ends += part->dead_ends;
        sum->broken += part->broken;
        sum->strays += part->strays;
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

/* What the form of SLs spares us. */
static void note_sls(struct climb *c)
{
    unsigned a = c->old->sl_form, b = c->new->sl_form;
    for (unsigned sl = 0; sl < c->new->num_sls; sl++)
        c->any_vl |= (uint64_t)1 << c->vl_of[sl];
    c->by_node = a == SV_SL_BY_NODE || b == SV_SL_BY_NODE;
    c->alike = a != SV_SL_BY_SWITCH && b != SV_SL_BY_SWITCH && !c->by_node && !c->quiet;
}

sv_status sv_verify_ascent(sv_ctx *ctx, const sv_fabric *f, const sv_routes *old_routes,
                           const sv_routes *new_routes, sv_traffic traffic,
                           const uint64_t *destinations, bool quiet, uint64_t *unsafe,
                           sv_ascent *result)
{
    const sv_sl2vl *table = NULL;
    struct climb c = {.f = f,
                      .old = old_routes,
                      .new = new_routes,
                      .traffic = traffic,
                      .only = destinations,
                      .unsafe = unsafe,
                      .quiet = quiet};
    if (old_routes->num_destinations != new_routes->num_destinations ||
        new_routes->num_switches != f->num_switches)
        return sv_fail(ctx, SV_BAD_INPUT, "tables that belong to another fabric");
    if (new_routes->orders == NULL || old_routes->num_sls != new_routes->num_sls ||
        !one_table(f, new_routes, new_routes->order_vls, &table) ||
        !one_table(f, old_routes, new_routes->order_vls, &table))
        return SV_UNSUPPORTED;
    if (table != NULL)
        memcpy(c.vl_of, table->of_sl, sizeof c.vl_of);
    note_sls(&c);
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
        status = sv_routes_set_orders(ctx, f, r, found->order_vls, &numbers);
    if (status == SV_OK)
        memcpy(numbers, found->order,
               (size_t)r->order_first[f->num_switches] * r->order_vls * sizeof *numbers);
    sv_verification_free(found);
    return status;
}
