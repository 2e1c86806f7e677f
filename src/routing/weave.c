/*
 * weave.c: shortest or nearly shortest paths and their lanes, chosen together.
 *
 * To put paths into lanes after they were chosen takes many lanes: nobody asked, when a path was
 * chosen among equally short ones, whether it fits those that are there. Here every lane has its
 * dependency graph from the beginning (cdg.c), and while the tree of a home grows outwards, each
 * switch knows in which lanes all turns of its path are. Of a way from v over u on, that is
 *
 *     open(v) = open(u) & lanes(turn from v over u)
 *
 * so a switch takes a way that is open in some lane: one look each.
 *
 * 1. Lay (weave_lay.c): one tree for each switch as a home, thriftily. From here on nothing can
 *    fail: there is a tree for every home, and turns are never taken away.
 * 2. Enrich (weave_enrich.c): each lane gets all turns that agree with the order of channels it has
 * come to, which needs no search; lanes that are still idle get those of an up/down order, each
 * from another root.
 * 3. Spread (weave_spread.c): all destinations are routed as sssp does, by the least weight among
 * open shortest ways. Where that leads into a dead end the tree of step 1 serves, mended
 * (weave_tree.c).
 *
 * dfsssp does this without detours, with as many lanes as that takes. weave does it with the lanes
 * there are: without detours if that is possible, else with. Both keep sssp's tables as they are if
 * these fit one lane, as on trees.
 *
 * Invariant: every path that counts has all its turns in the lane it is given; every lane's graph
 * is acyclic.
 * Cost: as sssp, the additions to graphs in step 1, and some ten times the sum of all path lengths
 * for each tree that is mended.
 * Figures and what else was tried: docs/decisions/0010 and 0012.
 */
#include "routing/weave.h"

#include <string.h>

#include "base/rng.h"
#include "lanes/lanes.h"
#include "routing/sssp.h"

/* ---- step 1, several times ---- */

/* How often it is tried to do with fewer lanes, which small fabrics can afford. */
static unsigned attempts(uint32_t switches)
{
    return switches <= 32 ? 48 : switches <= 64 ? 3 : 1;
}

/* One attempt: homes in an order that depends on its number, the first as they are numbered. */
static sv_status lay_all(sv__weave *w, unsigned attempt, uint32_t *homes)
{
    sv_rng rng;
    for (uint32_t s = 0; s < w->core.num_switches; s++)
        homes[s] = s;
    sv_rng_init(&rng, attempt);
    if (attempt > 0)
        sv_rng_shuffle(&rng, homes, w->core.num_switches);
    SV_TRY(sv__weave_lanes_begin(w, w->job->vls));
    return sv__weave_lay(w, homes);
}

/* Without detours: the fewest lanes that are found. */
static sv_status lay_fewest(sv__weave *w, uint32_t *homes)
{
    unsigned best = 0, least = SV_CDG_MOST_LANES + 1, tried = 0;
    for (; tried < attempts(w->core.num_switches) && least > 1; tried++) {
        SV_TRY(lay_all(w, tried, homes));
        best = w->cdg.num_lanes < least ? tried : best;
        least = w->cdg.num_lanes < least ? w->cdg.num_lanes : least;
    }
    return best + 1 == tried ? SV_OK : lay_all(w, best, homes);
}

static sv_status run(sv__weave *w)
{
    sv__job *job = w->job;
    bool detours = w->detours;
    uint32_t *homes = SV_ARENA_NEW(job->arena, uint32_t, w->core.num_switches);
    if (homes == NULL)
        return SV_NO_MEMORY;
    w->detours = false;
    SV_TRY(lay_fewest(w, homes));
    if (w->cdg.num_lanes > job->vls && !detours)
        return sv_fail(job->ctx, SV_INFEASIBLE, "%s needs %u lanes, %u %s there", w->name,
                       w->cdg.num_lanes, job->vls, job->vls == 1 ? "is" : "are");
    w->detours = w->cdg.num_lanes > job->vls;
    if (w->detours)
        SV_TRY(lay_all(w, 0, homes));
    unsigned used = sv_lanes_to_use(w->cdg.num_lanes, job->vls);
    job->report->vls_needed = w->cdg.num_lanes;
    SV_TRY(sv__weave_enrich(w, used));
    SV_TRY(sv__weave_spread(w));
    job->report->vls_used = job->report->sls_used = used;
    job->report->fallbacks = w->fallbacks;
    sv__note_unsafe(job, w->unsafe);
    SV_TRY(sv__weave_keep_orders(w, used));
    return sv_lanes_straight(job->ctx, job->routes, used);
}

/* ---- tables that fit one lane ---- */

/* The tree at hand becomes that of a destination as far as its paths have a lane, which gets them.
 */
static void take_over(sv__weave *w, sv_layering *lanes, uint32_t d, uint32_t home)
{
    const sv_tree *from = &lanes->tree;
    sv_layering_tree(lanes, d);
    sv__wtree_begin(w, home);
    for (uint32_t i = 1; i < from->count; i++) {
        uint32_t s = from->order[i], e = from->via[s];
        if (lanes->routes->sls[d][s] == SV_NO_SL || w->tree.length[w->core.to[e]] == SV_NONE)
            continue;
        if (w->tree.out[w->core.to[e]] != SV_NONE)
            sv_cdg_add(&w->cdg, 0, e, w->tree.out[w->core.to[e]]);
        sv__wtree_settle(w, s, e, 1);
    }
}

/*
 * Paths between switches without terminals, which sssp's may not be open for, get others: the rest
 * of the tables stays.
 */
static sv_status weave_rest(sv__weave *w, sv_layering *lanes)
{
    sv__job *job = w->job;
    sv_routes *r = job->routes;
    const uint32_t *start = sv_core_inside_out(&w->core, job->arena);
    if (start == NULL)
        return SV_NO_MEMORY;
    for (unsigned l = 0; l < job->vls && l < SV_HARDWARE_LANES; l++)
        SV_TRY(sv_cdg_add_lane(&w->cdg, start));
    for (uint32_t d = r->num_destinations; d-- > 0;) { /* switches come last: they stand first */
        sv_node to = r->node[d];
        bool is_switch = sv_is_switch(job->fabric, to);
        uint32_t home = is_switch ? to.i : sv_switch_of(job->fabric, to).i;
        if (home == SV_NONE || !sv_node_alive(job->fabric, to))
            continue;
        take_over(w, lanes, d, home);
        if (is_switch)
            sv__wtree_keep(w);
    }
    for (uint32_t home = 0; home < r->num_switches; home++) {
        uint32_t d = r->first[home];
        if (w->core.terminals[home] > 0 || !sv_node_alive(job->fabric, (sv_node){home}))
            continue;
        SV_TRY(sv__weave_lay_rest(w, home));
        uint8_t *row = sv_routes_row(job->ctx, r, d), *sls = sv_routes_sl_row(job->ctx, r, d);
        if (row == NULL || sls == NULL)
            return SV_NO_MEMORY;
        for (uint32_t i = 1; i < w->tree.count; i++) {
            uint32_t s = w->tree.order[i];
            row[s] = w->core.entries[w->tree.out[s]].port;
            sls[s] = w->tree.open[s] == 0 ? SV_NO_SL : (uint8_t)__builtin_ctzll(w->tree.open[s]);
            if (sls[s] != SV_NO_SL && sls[s] >= lanes->lanes)
                lanes->lanes = sls[s] + 1u;
        }
    }
    return SV_OK;
}

sv_status sv__weave_route(sv__job *job, const char *name, bool detours)
{
    sv__sssp x = {0};
    sv_layering lanes;
    sv__weave w;
    SV_TRY(sv__sssp_init(&x, job, NULL, NULL, NULL));
    SV_TRY(sv__sssp_run(&x));
    SV_TRY(sv_layering_init(&lanes, job->ctx, job->arena, job->fabric, &x.core, job->routes));
    sv_status status = sv_layering_run(&lanes, SV_LANES_ONLINE, 1);
    if (status != SV_OK && status != SV_INFEASIBLE)
        return status;
    SV_TRY(sv__weave_init(&w, job, name, detours));
    if (status == SV_INFEASIBLE)
        return run(&w);
    if (detours)
        SV_TRY(weave_rest(&w, &lanes));
    return sv__finish_lanes(job, &lanes);
}

static sv_status route(sv__job *job)
{
    return sv__weave_route(job, "weave", true);
}

const sv__engine sv__engine_weave = {
    {"weave", "nearly shortest, balanced paths that cannot deadlock, with the lanes there are",
     "our own", SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_LANES, NULL},
    route};
