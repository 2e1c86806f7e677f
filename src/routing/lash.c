/*
 * lash.c: engine lash: layered shortest paths (thesis 3.3.6, Alg. 3.5).
 *
 * Between two switches there is one shortest path each way, for all that is on them: of the
 * switches one step closer, always that behind the lowest port, so that on grids cabled in the
 * order of dimensions paths take the dimensions in order. Pairs of switches are put into VLs one
 * after the other, both directions together into the first VL whose dependency graph stays
 * acyclic: so a connection can use one SL both ways.
 *
 * How many VLs it takes depends on the order of pairs, and no order is always best: the farthest
 * first, the nearest first and that of numbers are tried (on fabrics of up to 64 switches; beyond,
 * the farthest first).
 *
 * Pairs of two switches without terminals come last and get VLs of their own only if there are
 * idle ones (docs/decisions/0008).
 *
 * Takes any fabric; needs as many VLs as it needs, or is infeasible. No balancing but between
 * VLs: that is sssp's.
 * Cost: O(switches × channels) for the paths, O(switches² × hops) for the pairs, and the additions
 * to graphs.
 */
#include <string.h>

#include "cdg/cdg.h"
#include "routing/dag.h"
#include "vls/vls.h"

struct lash {
    sv__routing_job *job;
    sv_core core;
    sv__dags dags;
    sv_cdg cdg;
    const uint32_t *start;      /* of the first VL */
    const uint32_t *outside_in; /* of VLs for pairs that do not count */
    uint8_t *way;               /* [home][switch]: the port it sends out of, SV_NO_PORT at home */
    uint8_t *hops;              /* [home][switch]: distance, at most 255; SV_NO_PORT: none */
    uint8_t *vl;                /* [home][switch] */
    sv_core_ports ports;
    uint32_t *path; /* [2 × (switches + 1)]: entries of a pair's paths, each ended by SV_NONE */
    uint32_t *added;
    sv_vl_mask *closed; /* [turns]: VLs in which it closes a cycle, and always will */
    uint64_t unsafe;
};

static size_t at(const struct lash *h, uint32_t home, uint32_t s)
{
    return (size_t)home * h->core.num_switches + s;
}

/* The path from every switch to a home. */
static sv_status route_home(struct lash *h, uint32_t home)
{
    const sv__dag *dag = sv__dag_to(&h->dags, home);
    if (dag == NULL)
        return SV_NO_MEMORY;
    h->hops[at(h, home, home)] = 0;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i];
        uint32_t cable = sv__dag_cable(&h->core, dag, s, dag->first[i]);
        unsigned nearer = h->hops[at(h, home, h->core.neighbour[cable])];
        h->way[at(h, home, s)] = h->core.port[cable];
        h->hops[at(h, home, s)] = (uint8_t)(nearer < 254 ? nearer + 1 : 254);
    }
    return SV_OK;
}

/* Lists the entries of the path from s to home. */
static uint32_t list_path(const struct lash *h, uint32_t s, uint32_t home, uint32_t *path)
{
    uint32_t count = 0;
    while (s != home) {
        uint32_t e = sv_core_entry(&h->ports, s, h->way[at(h, home, s)]);
        path[count++] = e;
        s = h->core.to[e];
    }
    path[count++] = SV_NONE;
    return count;
}

/* Whether entry i of the list and the next are a turn. */
static bool is_turn(const struct lash *h, uint32_t i)
{
    return h->path[i] != SV_NONE && h->path[i + 1] != SV_NONE;
}

/*
 * Adds the turns of both paths to a VL, or none. What a VL refuses without turns that are taken
 * back it refuses for good, and is not asked again.
 */
static bool add_pair(struct lash *h, unsigned vl, uint32_t count)
{
    sv_vl_mask bit = (sv_vl_mask)1 << vl;
    uint32_t added = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        if (!is_turn(h, i))
            continue;
        size_t turn = sv_cdg_turn(&h->cdg, h->path[i], h->path[i + 1]);
        if (h->cdg.vls[turn] & bit)
            continue;
        if (h->closed[turn] & bit || !sv_cdg_add(&h->cdg, vl, h->path[i], h->path[i + 1])) {
            h->closed[turn] |= added == 0 ? bit : 0;
            while (added-- > 0)
                sv_cdg_remove(&h->cdg, vl, h->path[h->added[added]], h->path[h->added[added] + 1]);
            return false;
        }
        h->added[added++] = i;
    }
    return true;
}

/* Puts a pair into the first VL that takes it; opens one if it counts and none does. */
static sv_status place_pair(struct lash *h, uint32_t a, uint32_t b, bool counts)
{
    uint32_t count = list_path(h, a, b, h->path);
    count += list_path(h, b, a, h->path + count);
    sv_vl_mask open = ~(sv_vl_mask)0 >> (SV_CDG_MAX_VLS - h->cdg.num_vls);
    for (uint32_t i = 0; i + 1 < count; i++)
        if (is_turn(h, i))
            open &= h->cdg.vls[sv_cdg_turn(&h->cdg, h->path[i], h->path[i + 1])];
    unsigned vl = open != 0 ? (unsigned)__builtin_ctzll(open) : 0;
    while (open == 0 && vl < h->cdg.num_vls && !add_pair(h, vl, count))
        vl++;
    if (vl == h->cdg.num_vls && (counts || vl < h->job->vls)) {
        sv_status status = sv_cdg_add_vl(&h->cdg, counts ? NULL : h->outside_in);
        if (status == SV_INFEASIBLE)
            return sv_fail(h->job->ctx, status, "lash needs more than %d VLs", SV_CDG_MAX_VLS);
        SV_TRY(status);
        add_pair(h, vl, count); /* two shortest paths alone: no cycle */
    }
    if (vl == h->cdg.num_vls) {
        h->unsafe += 2;
        vl = 0;
    }
    h->vl[at(h, a, b)] = h->vl[at(h, b, a)] = (uint8_t)vl;
    return SV_OK;
}

enum { MAX_TRIED = 64 /* switches */ };

/* Orders in which pairs are placed. */
typedef enum pair_order { FARTHEST_FIRST, NEAREST_FIRST, BY_NUMBER, NUM_ORDERS } pair_order;

/* All pairs at a distance (0: at any) that count, or all that do not. */
static sv_status place_pairs(struct lash *h, unsigned hops, bool counting)
{
    uint32_t n = h->core.num_switches;
    for (uint32_t a = 0; a < n; a++) {
        if (a % 64 == 0)
            SV_TRY(sv_progress(h->job->ctx, "vls", a, n));
        for (uint32_t b = a + 1; b < n; b++) {
            bool counts = h->core.terminals[a] > 0 || h->core.terminals[b] > 0;
            unsigned between = h->hops[at(h, a, b)];
            if (between != SV_NO_PORT && (hops == 0 || between == hops) && counts == counting)
                SV_TRY(place_pair(h, a, b, counts));
        }
    }
    return SV_OK;
}

static sv_status place_in_order(struct lash *h, pair_order order, unsigned farthest)
{
    sv_cdg_clear(&h->cdg);
    memset(h->closed, 0, h->cdg.num_turns * sizeof *h->closed);
    SV_TRY(sv_cdg_add_vl(&h->cdg, h->start));
    if (order == BY_NUMBER)
        return place_pairs(h, 0, true);
    for (unsigned i = 1; i <= farthest; i++)
        SV_TRY(place_pairs(h, order == NEAREST_FIRST ? i : farthest + 1 - i, true));
    return SV_OK;
}

/* Places all pairs, in the order that takes the fewest VLs. */
static sv_status place_all(struct lash *h)
{
    unsigned farthest = 0, min = SV_CDG_MAX_VLS + 1;
    pair_order best = FARTHEST_FIRST, last = FARTHEST_FIRST;
    size_t n = h->core.num_switches;
    for (size_t i = 0; i < n * n; i++)
        if (h->hops[i] != SV_NO_PORT && h->hops[i] > farthest)
            farthest = h->hops[i];
    pair_order tried = n <= MAX_TRIED ? NUM_ORDERS : 1;
    for (pair_order order = 0; order < tried && min > 1; order++) {
        SV_TRY(place_in_order(h, order, farthest));
        last = order;
        if (h->cdg.num_vls < min) {
            min = h->cdg.num_vls;
            best = order;
        }
    }
    if (best != last)
        SV_TRY(place_in_order(h, best, farthest));
    h->job->report->vls_needed = h->cdg.num_vls;
    return place_pairs(h, 0, false);
}

/* The rows and SLs of a destination. */
static sv_status fill(struct lash *h, uint32_t d)
{
    sv__routing_job *job = h->job;
    uint8_t *row, *sls = sv_routes_sl_row(job->ctx, job->routes, d);
    sv_node home;
    SV_TRY(sv__end_row(job, d, &row, &home));
    if (sls == NULL)
        return SV_NO_MEMORY;
    memset(sls, 0, job->routes->num_switches);
    for (uint32_t s = 0; row != NULL && s < h->core.num_switches; s++)
        if (s != home.i) {
            row[s] = h->way[at(h, home.i, s)];
            sls[s] = h->vl[at(h, home.i, s)];
        }
    return SV_OK;
}

/* Idle VLs take pairs over, both directions together. */
static void share(struct lash *h, unsigned vls)
{
    uint32_t n = h->core.num_switches;
    uint64_t paths[SV_MAX_VLS] = {0};
    sv_vl_shares shares;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            paths[h->vl[at(h, a, b)]] += (uint64_t)h->core.terminals[a] * h->core.terminals[b];
    sv_vl_shares_init(&shares, paths, h->cdg.num_vls, vls);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            uint8_t *vl = &h->vl[at(h, a, b)];
            *vl = shares.member[*vl][(a + b) % shares.count[*vl]];
        }
}

static sv_status lash_init(struct lash *h, sv__routing_job *job)
{
    sv_arena *arena = job->arena;
    h->job = job;
    SV_TRY(sv_core_init(&h->core, arena, job->fabric));
    SV_TRY(sv_core_ports_init(&h->ports, arena, &h->core, job->fabric));
    SV_TRY(sv__dags_init(&h->dags, job, &h->core, NULL, NULL, NULL));
    SV_TRY(sv_cdg_init(&h->cdg, arena, &h->core));
    size_t n = h->core.num_switches;
    h->way = SV_ARENA_NEW(arena, uint8_t, n * n);
    h->hops = SV_ARENA_NEW(arena, uint8_t, n * n);
    h->vl = SV_ARENA_NEW(arena, uint8_t, n * n);
    h->path = SV_ARENA_NEW(arena, uint32_t, 2 * (n + 1));
    h->added = SV_ARENA_NEW(arena, uint32_t, 2 * (n + 1));
    h->closed = SV_ARENA_NEW(arena, sv_vl_mask, h->cdg.num_turns);
    h->start = sv_core_inside_out(&h->core, arena);
    h->outside_in = sv_core_outside_in(&h->core, arena);
    if (h->start == NULL || h->outside_in == NULL || h->way == NULL || h->hops == NULL ||
        h->vl == NULL || h->path == NULL || h->added == NULL || h->closed == NULL)
        return SV_NO_MEMORY;
    memset(h->way, SV_NO_PORT, n * n);
    memset(h->hops, SV_NO_PORT, n * n);
    return SV_OK;
}

static sv_status route(sv__routing_job *job)
{
    struct lash h = {0};
    SV_TRY(lash_init(&h, job));
    for (uint32_t home = 0; home < h.core.num_switches; home++) {
        if (home % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", home, h.core.num_switches));
        if (sv_node_alive(job->fabric, (sv_node){home}))
            SV_TRY(route_home(&h, home));
    }
    SV_TRY(place_all(&h));
    if (h.cdg.num_vls > job->vls)
        return sv_fail(job->ctx, SV_INFEASIBLE, "lash needs %u VLs, %u %s there", h.cdg.num_vls,
                       job->vls, job->vls == 1 ? "is" : "are");
    unsigned used = sv_vls_to_use(h.cdg.num_vls, job->vls);
    if (used > h.cdg.num_vls)
        share(&h, used);
    SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, SV_SL_BY_SWITCH));
    for (uint32_t d = 0; d < job->routes->num_destinations; d++)
        SV_TRY(fill(&h, d));
    job->report->vls_used = job->report->sls_used = used;
    sv__note_unsafe(job, h.unsafe);
    return sv_sl2vl_identity(job->ctx, job->routes, used);
}

const sv__engine sv__engine_lash = {
    {"lash", "one shortest path between two switches each way, both in one VL", "thesis Alg. 3.5",
     SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS, NULL},
    route};
