/*
 * joint.c: shortest paths and their lanes, chosen together.
 *
 * To put paths into lanes after they were chosen takes many lanes: nobody asked, when a path was
 * chosen among equally short ones, whether it fits those that are there. Here every lane has its
 * dependency graph from the beginning (cdg.c), and while the tree of a destination grows outwards,
 * each switch knows in which lanes all turns of its path are. Of a way from v over u on, that is
 *
 *     open(v) = open(u) & lanes(turn from v over u)
 *
 * so a switch takes, of the ways one step closer, one that is open in some lane: one look each.
 *
 * 1. Lay: one tree for each switch as a home, thriftily: the way that is open in the most lanes; a
 *    turn is added only where no way is open, to the first lane that stays acyclic, and a lane only
 *    where none does. That many lanes are needed. From here on nothing can fail: there is a tree
 *    for every home, and turns are never taken away.
 * 2. Enrich: each lane gets all turns that agree with the order of channels it has come to, which
 *    needs no search; lanes that are still idle get those of an up/down order, each from another
 *    root.
 * 3. Spread: all destinations are routed as sssp does, by the least weight among open ways. Where
 *    that leads into a dead end the tree of step 1 serves, mended: from the home outwards, each
 *    switch goes over to the way of least weight with which all behind it stay open.
 *
 * Paths between two switches without terminals (docs/decisions/0008) never cost a lane; those that
 * fit none are counted and go to lane 0.
 *
 * Invariant: every path that counts has all its turns in the lane it is given; every lane's graph
 * is acyclic.
 * Cost: as sssp, the additions to graphs in step 1, and the sum of all path lengths for each tree
 * that is mended.
 * Figures and what else was tried: docs/decisions/0010.
 */
#include "routing/joint.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "cdg/cdg.h"
#include "lanes/lanes.h"

struct joint {
    sv__sssp *x;
    const sv_core *core;
    sv_cdg cdg;
    sv_lane_mask *open; /* [switches]: lanes that have all turns of its path to the home at hand */
    uint32_t *out;      /* [switches]: the entry it takes; SV_NONE at home */
    uint32_t *added;    /* [switches]: scratch */
    sv_lane_mask *closed;         /* [turns]: lanes in which it closes a cycle, and always will */
    const uint32_t *start;        /* the order that the first lane begins with */
    uint32_t home;                /* at hand */
    uint32_t *child, *sibling;    /* [switches]: who sends through each */
    uint32_t *stack;              /* [switches]: scratch */
    sv_lane_mask *trial;          /* [switches]: scratch */
    uint8_t *laid;                /* [home][place in its dag]: which of its ways, after step 1 */
    uint64_t load[SV_MOST_LANES]; /* terminals' paths in each lane */
    uint64_t unsafe;              /* paths that do not count, and fit no lane */
};

/* Whether some packets from a switch to a home, or what is on it, count. */
static bool counts(const struct joint *j, uint32_t s, uint32_t home)
{
    return j->core->terminals[s] > 0 || j->core->terminals[home] > 0;
}

/* The lanes in which a way is open. */
static sv_lane_mask lanes_of(const struct joint *j, uint32_t entry)
{
    uint32_t to = j->core->to[entry], out = j->out[to];
    return out == SV_NONE ? j->open[to]
                          : j->open[to] & j->cdg.lanes[sv_cdg_turn(&j->cdg, entry, out)];
}

/*
 * Adds all turns from an entry on to a lane, or none. What a lane refuses without turns that are
 * taken back it refuses for good, and is not asked again: nearly all searches would be repetitions.
 */
static bool add_path(struct joint *j, unsigned lane, uint32_t first)
{
    const uint32_t *to = j->core->to;
    sv_lane_mask bit = (sv_lane_mask)1 << lane;
    uint32_t count = 0;
    for (uint32_t in = first; j->out[to[in]] != SV_NONE; in = j->out[to[in]]) {
        uint32_t out = j->out[to[in]];
        size_t turn = sv_cdg_turn(&j->cdg, in, out);
        if (j->cdg.lanes[turn] & bit)
            continue;
        if (j->closed[turn] & bit || !sv_cdg_add(&j->cdg, lane, in, out)) {
            j->closed[turn] |= count == 0 ? bit : 0;
            while (count-- > 0)
                sv_cdg_remove(&j->cdg, lane, j->added[count], j->out[to[j->added[count]]]);
            return false;
        }
        j->added[count++] = in;
    }
    return true;
}

/* No way is open: the first that fits a lane is added to it. SV_NONE: none does. */
static uint32_t open_way(struct joint *j, const sv__dag *dag, uint32_t i)
{
    for (unsigned l = 0; l < j->cdg.num_lanes; l++)
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++)
            if (add_path(j, l, dag->ways[k].entry)) {
                j->open[dag->order[i]] = (sv_lane_mask)1 << l;
                return k;
            }
    return SV_NONE;
}

/* A switch takes a way. */
static void take(struct joint *j, const sv__dag *dag, uint32_t i, uint32_t k)
{
    uint32_t s = dag->order[i];
    const sv__way *way = &dag->ways[k];
    j->x->via[s] = k;
    j->out[s] = way->entry;
    j->x->path[s] = (j->x->path[way->next] + j->x->weight[way->entry]) & ~(uint64_t)SV__LOT;
}

static void begin(struct joint *j, const sv__dag *dag)
{
    uint32_t home = dag->order[0];
    j->x->path[home] = 0;
    j->out[home] = SV_NONE;
    j->open[home] = ~(sv_lane_mask)0 >> (SV_CDG_MOST_LANES - j->cdg.num_lanes);
}

/* ---- step 1: lay ---- */

/* The way that is open in the most lanes, then that of the least weight. SV_NONE: none is open. */
static uint32_t most_open(struct joint *j, const sv__dag *dag, uint32_t i)
{
    uint32_t best = SV_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
        sv_lane_mask lanes = lanes_of(j, dag->ways[k].entry);
        uint64_t weight = j->x->path[dag->ways[k].next] + j->x->weight[dag->ways[k].entry];
        uint64_t closed = (uint64_t)(SV_CDG_MOST_LANES - __builtin_popcountll(lanes));
        if (lanes != 0 && (closed << 56 | weight) < least) {
            least = closed << 56 | weight;
            best = k;
            j->open[dag->order[i]] = lanes;
        }
    }
    return best;
}

static sv_status lay_one(struct joint *j, uint32_t home)
{
    const sv__dag *dag = sv__dag_to(&j->x->dags, home);
    if (dag == NULL)
        return SV_NO_MEMORY;
    begin(j, dag);
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], k = most_open(j, dag, i);
        if (k == SV_NONE)
            k = open_way(j, dag, i);
        if (k == SV_NONE && counts(j, s, home)) {
            sv_status status = sv_cdg_add_lane(&j->cdg, NULL);
            if (status == SV_INFEASIBLE)
                return sv_fail(j->x->job->ctx, status, "dfsssp needs more than %d lanes",
                               SV_CDG_MOST_LANES);
            SV_TRY(status);
            k = dag->first[i];
            j->open[home] |= (sv_lane_mask)1 << (j->cdg.num_lanes - 1);
            add_path(j, j->cdg.num_lanes - 1, dag->ways[k].entry); /* alone there: fits */
            j->open[s] = (sv_lane_mask)1 << (j->cdg.num_lanes - 1);
        }
        if (k == SV_NONE) {
            k = dag->first[i];
            j->open[s] = 0;
        }
        take(j, dag, i, k);
        j->laid[(size_t)home * j->core->num_switches + i] = (uint8_t)(k - dag->first[i]);
    }
    sv__sssp_weigh(j->x, dag, sv__lots(j->x->job, home));
    return SV_OK;
}

/* One attempt: homes in an order that depends on its number, the first as they are numbered. */
static sv_status lay_all(struct joint *j, unsigned attempt, uint32_t *homes)
{
    uint32_t n = j->core->num_switches;
    sv_rng rng;
    sv_cdg_clear(&j->cdg);
    memset(j->closed, 0, j->cdg.num_turns * sizeof *j->closed);
    sv__sssp_clear(j->x);
    SV_TRY(sv_cdg_add_lane(&j->cdg, j->start));
    for (uint32_t s = 0; s < n; s++)
        homes[s] = s;
    sv_rng_init(&rng, attempt);
    if (attempt > 0)
        sv_rng_shuffle(&rng, homes, n);
    for (uint32_t i = 0; i < n; i++) {
        if (i % 16 == 0)
            SV_TRY(sv_progress(j->x->job->ctx, "lanes", i, n));
        if (sv_node_alive(j->x->job->fabric, (sv_node){homes[i]}))
            SV_TRY(lay_one(j, homes[i]));
    }
    return SV_OK;
}

/* How often it is tried to do with fewer lanes, which small fabrics can afford. */
static unsigned attempts(uint32_t switches)
{
    return switches <= 32 ? 48 : switches <= 64 ? 3 : 1;
}

static sv_status lay(struct joint *j)
{
    uint32_t n = j->core->num_switches, *homes = SV_ARENA_NEW(j->x->job->arena, uint32_t, n);
    unsigned best = 0, least = SV_CDG_MOST_LANES + 1, tried = 0;
    j->start = sv_core_inside_out(j->core, j->x->job->arena);
    if (homes == NULL || j->start == NULL)
        return SV_NO_MEMORY;
    for (; tried < attempts(n) && least > 1; tried++) {
        SV_TRY(lay_all(j, tried, homes));
        best = j->cdg.num_lanes < least ? tried : best;
        least = j->cdg.num_lanes < least ? j->cdg.num_lanes : least;
    }
    return best + 1 == tried ? SV_OK : lay_all(j, best, homes);
}

/* ---- step 2: enrich ---- */

/* Distances from a root, and the switches in their order. */
static void rank(const sv_core *core, uint32_t root, uint32_t *hops, uint32_t *queue)
{
    uint32_t tail = 1;
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    hops[root] = 0;
    queue[0] = root;
    for (uint32_t i = 0; i < tail; i++)
        for (uint32_t e = core->first[queue[i]]; e < core->first[queue[i] + 1]; e++) {
            uint32_t u = core->entries[e].from;
            if (hops[u] == SV_NONE) {
                hops[u] = hops[queue[i]] + 1;
                queue[tail++] = u;
            }
        }
    /* Other components follow; their order does not matter. */
    for (uint32_t s = 0; s < core->num_switches; s++)
        if (hops[s] == SV_NONE)
            queue[tail++] = s;
}

/* A lane with all turns that go up first, then down, in an order of the switches. */
static sv_status add_order(struct joint *j, const uint32_t *queue)
{
    const sv_core *core = j->core;
    sv_arena *arena = j->x->job->arena;
    uint32_t n = core->num_switches, *place = j->added;
    uint32_t *start = SV_ARENA_NEW(arena, uint32_t, core->num_entries);
    if (start == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        place[queue[i]] = i;
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t from = place[core->entries[e].from], to = place[core->to[e]];
        start[e] = to < from ? n - 1 - to : n + to;
    }
    SV_TRY(sv_cdg_add_lane(&j->cdg, start));
    for (uint32_t in = 0; in < core->num_entries; in++) {
        uint32_t s = core->to[in], from = core->entries[in].from;
        bool came_down = place[s] > place[from];
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t to = core->entries[e].from;
            if (to != from && !(came_down && place[to] < place[s]))
                sv_cdg_add(&j->cdg, j->cdg.num_lanes - 1, in, core->back[e]);
        }
    }
    return SV_OK;
}

/* Idle lanes get orders, from roots far from each other. */
static sv_status add_orders(struct joint *j, unsigned vls)
{
    sv_arena *arena = j->x->job->arena;
    uint32_t n = j->core->num_switches, root = 0;
    uint32_t *hops = SV_ARENA_NEW(arena, uint32_t, n), *queue = SV_ARENA_NEW(arena, uint32_t, n);
    uint32_t *nearest = SV_ARENA_NEW(arena, uint32_t, n);
    if (hops == NULL || queue == NULL || nearest == NULL)
        return SV_NO_MEMORY;
    memset(nearest, 0xff, n * sizeof *nearest);
    while (j->cdg.num_lanes < vls) {
        rank(j->core, root, hops, queue);
        SV_TRY(add_order(j, queue));
        uint32_t farthest = 0;
        for (uint32_t s = 0; s < n; s++) {
            nearest[s] = hops[s] < nearest[s] ? hops[s] : nearest[s];
            if (nearest[s] != SV_NONE && nearest[s] > farthest) {
                farthest = nearest[s];
                root = s;
            }
        }
    }
    return SV_OK;
}

/* Lanes get all turns that agree with the order they have come to. */
static sv_status enrich(struct joint *j, unsigned vls)
{
    const sv_core *core = j->core;
    for (unsigned l = 0; l < j->cdg.num_lanes; l++) {
        const uint32_t *place = j->cdg.lane[l].place;
        for (uint32_t in = 0; in < core->num_entries; in++) {
            uint32_t s = core->to[in];
            for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
                if (place[in] < place[core->back[e]] && core->back[e] != core->back[in])
                    sv_cdg_add(&j->cdg, l, in, core->back[e]);
        }
    }
    return add_orders(j, vls);
}

/* ---- step 3: spread ---- */

/* The open way of the least weight. SV_NONE: none is open. */
static uint32_t cheapest(struct joint *j, const sv__dag *dag, uint32_t i)
{
    uint32_t best = SV_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
        sv_lane_mask lanes = lanes_of(j, dag->ways[k].entry);
        uint64_t key = j->x->path[dag->ways[k].next] + j->x->weight[dag->ways[k].entry];
        if (lanes != 0 && key < least) {
            least = key;
            best = k;
            j->open[dag->order[i]] = lanes;
        }
    }
    return best;
}

static bool grow(struct joint *j, const sv__dag *dag)
{
    begin(j, dag);
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], k = cheapest(j, dag, i);
        if (k == SV_NONE && counts(j, s, dag->order[0]))
            return false;
        if (k == SV_NONE && (k = open_way(j, dag, i)) == SV_NONE) {
            k = dag->first[i];
            j->open[s] = 0;
        }
        take(j, dag, i, k);
    }
    return true;
}

/* The tree of step 1. */
static void use_laid(struct joint *j, const sv__dag *dag)
{
    const uint8_t *laid = j->laid + (size_t)dag->order[0] * j->core->num_switches;
    begin(j, dag);
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t k = dag->first[i] + laid[i];
        j->open[dag->order[i]] = lanes_of(j, dag->ways[k].entry);
        take(j, dag, i, k);
    }
}

/*
 * Whether the switches that send through s stay open if s takes another entry; the lanes that
 * remain are written if keep.
 */
static bool stays_open(struct joint *j, uint32_t s, uint32_t entry, sv_lane_mask lanes, bool keep)
{
    uint32_t depth = 0, old = j->out[s], home = j->home;
    j->out[s] = entry;
    j->trial[s] = lanes;
    j->stack[depth++] = s;
    bool open = true;
    while (depth > 0 && open) {
        uint32_t u = j->stack[--depth];
        if (keep)
            j->open[u] = j->trial[u];
        for (uint32_t c = j->child[u]; c != SV_NONE && open; c = j->sibling[c]) {
            j->trial[c] = j->trial[u] & j->cdg.lanes[sv_cdg_turn(&j->cdg, j->out[c], j->out[u])];
            open = j->trial[c] != 0 || !counts(j, c, home);
            j->stack[depth++] = c;
        }
    }
    if (!keep)
        j->out[s] = old;
    return open;
}

/* Moves a switch from those that send through one to those that send through another. */
static void adopt(struct joint *j, uint32_t s, uint32_t from, uint32_t to)
{
    uint32_t *link = &j->child[from];
    while (*link != s)
        link = &j->sibling[*link];
    *link = j->sibling[s];
    j->sibling[s] = j->child[to];
    j->child[to] = s;
}

/*
 * Betters the tree at hand: from the home outwards, each switch takes the way of least weight with
 * which it and all behind it stay open.
 */
static void mend(struct joint *j, const sv__dag *dag)
{
    for (uint32_t i = 0; i < dag->count; i++)
        j->child[dag->order[i]] = SV_NONE;
    for (uint32_t i = dag->count; i-- > 1;) {
        uint32_t s = dag->order[i], to = j->core->to[j->out[s]];
        j->sibling[s] = j->child[to];
        j->child[to] = s;
    }
    j->home = dag->order[0];
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], now = j->x->via[s], best = now;
        uint64_t least = UINT64_MAX;
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
            const sv__way *way = &dag->ways[k];
            uint64_t key = j->x->path[way->next] + j->x->weight[way->entry];
            sv_lane_mask lanes = k == now ? 1 : lanes_of(j, way->entry);
            if (key < least && lanes != 0 &&
                (k == now || stays_open(j, s, way->entry, lanes, false))) {
                least = key;
                best = k;
            }
        }
        if (best != now) {
            uint32_t entry = dag->ways[best].entry;
            adopt(j, s, dag->ways[now].next, dag->ways[best].next);
            stays_open(j, s, entry, lanes_of(j, entry), true);
        }
        take(j, dag, i, best);
    }
}

/* Each path goes to the least loaded lane that is open to it. */
static void pick_lanes(struct joint *j, const sv__dag *dag, bool terminal, uint8_t *sls)
{
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i];
        unsigned best = 0;
        uint64_t least = UINT64_MAX;
        for (sv_lane_mask m = j->open[s]; m != 0; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctzll(m);
            best = j->load[l] < least ? l : best;
            least = j->load[l] < least ? j->load[l] : least;
        }
        j->unsafe += j->open[s] == 0;
        j->load[best] += terminal ? j->core->terminals[s] : 0;
        sls[s] = (uint8_t)best;
    }
}

static sv_status route_one(struct joint *j, uint32_t d)
{
    sv__job *job = j->x->job;
    uint8_t *row, *sls = sv_routes_sl_row(job->ctx, job->routes, d);
    sv_node home;
    SV_TRY(sv__end_row(job, d, &row, &home));
    if (sls == NULL)
        return SV_NO_MEMORY;
    memset(sls, 0, job->routes->num_switches);
    if (row == NULL)
        return SV_OK;
    const sv__dag *dag = sv__dag_to(&j->x->dags, home.i);
    if (dag == NULL)
        return SV_NO_MEMORY;
    bool terminal = !sv_is_switch(job->fabric, job->routes->node[d]);
    if (!grow(j, dag)) {
        use_laid(j, dag);
        mend(j, dag);
    }
    for (uint32_t i = 1; i < dag->count; i++)
        row[dag->order[i]] = j->core->entries[j->out[dag->order[i]]].port;
    pick_lanes(j, dag, terminal, sls);
    if (terminal)
        sv__sssp_weigh(j->x, dag, sv__lots(job, d));
    return SV_OK;
}

static sv_status spread(struct joint *j)
{
    sv__job *job = j->x->job;
    uint32_t count, *order = sv__destinations(job, &count);
    if (order == NULL)
        return SV_NO_MEMORY;
    sv__sssp_clear(j->x);
    SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, SV_SL_BY_SWITCH));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(route_one(j, order[i]));
    }
    return SV_OK;
}

sv_status sv__joint_run(sv__sssp *x)
{
    sv__job *job = x->job;
    struct joint j = {.x = x, .core = &x->core};
    size_t n = x->core.num_switches;
    j.open = SV_ARENA_NEW(job->arena, sv_lane_mask, n);
    j.out = SV_ARENA_NEW(job->arena, uint32_t, n);
    j.added = SV_ARENA_NEW(job->arena, uint32_t, n);
    j.laid = SV_ARENA_NEW(job->arena, uint8_t, n * n);
    j.child = SV_ARENA_NEW(job->arena, uint32_t, n);
    j.sibling = SV_ARENA_NEW(job->arena, uint32_t, n);
    j.stack = SV_ARENA_NEW(job->arena, uint32_t, n);
    j.trial = SV_ARENA_NEW(job->arena, sv_lane_mask, n);
    if (j.open == NULL || j.out == NULL || j.added == NULL || j.laid == NULL || j.child == NULL ||
        j.sibling == NULL || j.stack == NULL || j.trial == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_cdg_init(&j.cdg, job->arena, j.core));
    if ((j.closed = SV_ARENA_NEW(job->arena, sv_lane_mask, j.cdg.num_turns)) == NULL)
        return SV_NO_MEMORY;
    SV_TRY(lay(&j));
    job->report->vls_needed = j.cdg.num_lanes;
    if (j.cdg.num_lanes > job->vls)
        return sv_fail(job->ctx, SV_INFEASIBLE, "dfsssp needs %u lanes, %u %s there",
                       j.cdg.num_lanes, job->vls, job->vls == 1 ? "is" : "are");
    unsigned used = sv_lanes_to_use(j.cdg.num_lanes, job->vls);
    SV_TRY(enrich(&j, used));
    SV_TRY(spread(&j));
    job->report->vls_used = job->report->sls_used = used;
    if (j.unsafe > 0)
        snprintf(job->report->note, sizeof job->report->note,
                 "%llu paths between switches without terminals fit no lane",
                 (unsigned long long)j.unsafe);
    return sv_lanes_straight(job->ctx, job->routes, used);
}
