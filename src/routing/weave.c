/*
 * weave.c: shortest or nearly shortest paths and their VLs, chosen together.
 *
 * To put paths into VLs after they were chosen takes many VLs: nobody asked, when a path was
 * chosen among equally short ones, whether it fits those that are there. Here every VL has its
 * dependency graph from the beginning (cdg.c), and while the tree of a home grows outwards, each
 * switch knows in which VLs all turns of its path are. Of a way from v over u on, that is
 *
 *     open(v) = open(u) & VLs(turn from v over u)
 *
 * so a switch takes a way that is open in some VL: one look each.
 *
 * 1. Lay (weave_lay.c): one tree for each switch as a home, thriftily, by the best of several plans
 *    (weave_plan.c, weave_seed.c, weave_start.c). From here on nothing can fail: there is a tree
 * for every home, and turns are never taken away.
 * 2. Enrich (weave_enrich.c): each VL gets all turns that agree with the order of channels it has
 *    come to, which needs no search; idle VLs get those of up/down orders.
 * 3. Spread (weave_spread.c): all destinations are routed as sssp does, by the least weight among
 *    open shortest ways. Where that leads into a dead end the tree of step 1 serves, mended
 *    (weave_tree.c). Then, on fabrics that are not large, once more (weave_again.c).
 *
 * What service levels may depend on is in weave_modes.c; VLs that change by turn, which two of
 * the modes need, in weave_turns.c.
 *
 * dfsssp does this without detours, with as many VLs as that takes. weave does it with the VLs
 * there are: without detours if that is possible, else with. Both keep sssp's tables, balanced once
 * more (sssp_again.c), if these fit one VL, as on trees.
 *
 * Invariant: every path that counts has all its turns in the VL it is given; every VL's graph
 * is acyclic.
 * Cost: as sssp, the additions to graphs in step 1, and some ten times the sum of all path lengths
 * for each tree that is mended.
 * Figures and what else was tried: docs/decisions/0010, 0012 and 0014.
 */
#include "routing/weave.h"

#include <string.h>

#include "routing/agree.h"
#include "vls/vls.h"

static sv_status run(sv__weave *w)
{
    sv__routing_job *job = w->job;
    unsigned needed, used;
    SV_TRY(sv__weave_find_starts(w));
    SV_TRY(sv__weave_lay_shortest(w, &needed, &used));
    job->report->vls_needed = needed;
    SV_TRY(sv__weave_spread(w));
    job->report->vls_used = job->report->sls_used = used;
    job->report->fallbacks = w->fallbacks;
    sv__note_unsafe(job, w->unsafe);
    SV_TRY(sv__weave_keep_orders(w, used));
    return sv_sl2vl_identity(job->ctx, job->routes, used);
}

static sv_status run_mode(sv__weave *w)
{
    sv_sl_mode mode = w->job->request->sl_mode;
    if (mode == SV_SLS_PAIR || w->job->vls == 1) {
        SV_TRY(run(w));
        return mode == SV_SLS_PAIR
                   ? SV_OK
                   : sv_routes_set_sl_form(w->job->ctx, w->job->routes, SV_SL_CONSTANT);
    }
    SV_TRY(mode == SV_SLS_ONE          ? sv__weave_run_one(w)
           : mode == SV_SLS_REVERSIBLE ? sv__weave_run_reversible(w)
                                       : sv__weave_run_destination(w));
    w->job->report->vls_needed = w->job->report->vls_used;
    w->job->report->fallbacks = w->fallbacks;
    sv__note_unsafe(w->job, w->unsafe);
    return sv__weave_keep_orders(w, w->job->report->vls_used);
}

/* ---- tables that fit one VL ---- */

/* The tree at hand becomes that of a destination as far as its paths have a VL, which gets them.
 */
static void take_over(sv__weave *w, sv_layering *vls, uint32_t d, uint32_t home)
{
    const sv_tree *from = &vls->tree;
    const uint8_t *sls = vls->routes->sls[d];
    bool *carries = w->needed;
    sv_layering_tree(vls, d);
    sv__wtree_begin(w, home);
    /* Turns of paths that have a VL, also through switches whose own path has none. */
    for (uint32_t i = 0; i < from->count; i++)
        carries[from->order[i]] = sls[from->order[i]] != SV_NO_SL;
    for (uint32_t i = from->count; i-- > 1;) {
        uint32_t e = from->via[from->order[i]], to = w->core.to[e];
        if (!carries[from->order[i]])
            continue;
        carries[to] = true;
        if (from->via[to] != SV_NONE)
            sv_cdg_add(&w->cdg, 0, e, from->via[to]);
    }
    for (uint32_t i = 1; i < from->count; i++) {
        uint32_t s = from->order[i], e = from->via[s];
        if (sls[s] != SV_NO_SL && w->tree.length[w->core.to[e]] != SV_NONE)
            sv__wtree_settle(w, s, e, 1);
    }
}

/* To a switch with terminals packets go as they do to its first one, if some path has no VL. */
static sv_status borrow_row(sv__weave *w, uint32_t home)
{
    sv__routing_job *job = w->job;
    sv_routes *r = job->routes;
    const sv_fabric *f = job->fabric;
    uint32_t d = r->first[home], n = r->num_switches;
    uint8_t *row = sv_routes_row(job->ctx, r, d), *sls = sv_routes_sl_row(job->ctx, r, d);
    if (row == NULL || sls == NULL)
        return SV_NO_MEMORY;
    bool lacks = false;
    for (uint32_t s = 0; s < n; s++)
        lacks = lacks || (s != home && row[s] != SV_NO_PORT && sls[s] == SV_NO_SL);
    SV_FOR_HOPS (f, (sv_node){home}, hop) {
        if (!lacks || sv_is_switch(f, hop->to))
            continue;
        memcpy(row, r->ports[r->first[hop->to.i]], n);
        memcpy(sls, r->sls[r->first[hop->to.i]], n);
        row[home] = 0;
        break;
    }
    return SV_OK;
}

/*
 * Paths between switches without terminals, which sssp's may not be open for, get others: the rest
 * of the tables stays.
 */
static sv_status weave_rest(sv__weave *w, sv_layering *vls)
{
    sv__routing_job *job = w->job;
    sv_routes *r = job->routes;
    const uint32_t *start = sv_core_inside_out(&w->core, job->arena);
    w->spare_detours = true;
    if (start == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_cdg_add_vl(&w->cdg, start));
    if (job->vls > 1)
        SV_TRY(sv__weave_seed_vl(w, (sv__weave_plan){SV__SEED_FIRST, 0, true}, start));
    for (uint32_t d = r->num_destinations; d-- > 0;) { /* switches come last: they stand first */
        sv_node to = r->node[d];
        bool is_switch = sv_is_switch(job->fabric, to);
        uint32_t home = sv__home_of(job, d);
        if (home == SV_NONE || !sv_node_alive(job->fabric, to))
            continue;
        take_over(w, vls, d, home);
        if (is_switch)
            sv__wtree_keep(w);
    }
    for (uint32_t home = 0; home < r->num_switches; home++) {
        uint32_t d = r->first[home];
        if (!sv_node_alive(job->fabric, (sv_node){home}))
            continue;
        if (w->core.terminals[home] > 0) {
            SV_TRY(borrow_row(w, home));
            continue;
        }
        SV_TRY(sv__weave_lay_rest(w, home));
        uint8_t *row = sv_routes_row(job->ctx, r, d), *sls = sv_routes_sl_row(job->ctx, r, d);
        if (row == NULL || sls == NULL)
            return SV_NO_MEMORY;
        for (uint32_t i = 1; i < w->tree.count; i++) {
            uint32_t s = w->tree.order[i];
            row[s] = w->core.entries[w->tree.out[s]].port;
            sls[s] = w->tree.open[s] == 0 ? SV_NO_SL : (uint8_t)__builtin_ctzll(w->tree.open[s]);
            if (sls[s] != SV_NO_SL && sls[s] >= vls->vls)
                vls->vls = sls[s] + 1u;
        }
    }
    return SV_OK;
}

/*
 * Whether sssp's tables fit one VL. Most that do not show it within the first destinations, and
 * the rest is not even routed. agree: it was seen from the order of switches alone.
 */
static sv_status fit_one_vl(sv__sssp *x, sv_layering *vls, sv__agree *a, bool *agree)
{
    enum { FIRST = 64 };
    SV_TRY(sv__sssp_some(x, FIRST));
    SV_TRY(sv__agree_test(a, x->order, x->done, agree));
    for (uint32_t begin = 0; !*agree; begin = x->done) {
        if (begin > 0)
            SV_TRY(sv__sssp_some(x, begin));
        SV_TRY(sv_layering_probe(vls, x->order + begin, x->done - begin));
        if (x->done == x->count)
            break;
    }
    SV_TRY(sv__sssp_run(x));
    SV_TRY(sv__sssp_again(x, sv__weave_rounds(x->job, SV__SMALL_TREE),
                          sv__weave_rounds(x->job, UINT32_MAX)));
    if (*agree)
        SV_TRY(sv__agree_test(a, x->order, x->done, agree));
    return *agree ? SV_OK : sv_layering_run(vls, SV_VLS_ONLINE, 1);
}

/* Whether some VL is to have room for a spanning tree. */
static bool wants_room(const sv__routing_job *job)
{
    const char *text = sv__job_option(job, "multicast");
    return text != NULL && strcmp(text, "yes") == 0;
}

sv_status sv__weave_route(sv__routing_job *job, const char *name, bool detours)
{
    sv__sssp x;
    sv_layering layering;
    sv__weave w;
    sv__agree a;
    bool agree, room = wants_room(job);
    SV_TRY(sv__sssp_init(&x, job, NULL, NULL, NULL));
    SV_TRY(sv_layering_init(&layering, job->ctx, job->arena, job->fabric, &x.core, job->routes));
    SV_TRY(sv__agree_init(&a, &x, &layering));
    sv_status status = fit_one_vl(&x, &layering, &a, &agree);
    if (status != SV_OK && status != SV_INFEASIBLE)
        return status;
    unsigned vls = job->vls;
    if (status == SV_OK && job->request->sl_mode != SV_SLS_PAIR)
        job->vls = 1;
    if (agree)
        SV_TRY(sv__agree_finish(&a, detours, job->vls));
    else {
        SV_TRY(sv__weave_init(&w, job, name, detours));
        w.room = room && w.core.num_entries > 0;
        if (status == SV_INFEASIBLE || w.room) {
            job->vls = vls;
            return run_mode(&w);
        }
        if (detours)
            SV_TRY(weave_rest(&w, &layering));
        if (w.stranded > 0) {
            job->vls = vls;
            return run_mode(&w);
        }
    }
    SV_TRY(sv__finish_vls(job, &layering));
    if (agree)
        job->report->vls_needed = 1;
    if (job->request->sl_mode != SV_SLS_PAIR)
        SV_TRY(sv__weave_share(job, vls));
    return agree && detours ? sv__agree_keep_orders(&a, job->report->vls_used) : SV_OK;
}

static sv_status route(sv__routing_job *job)
{
    return sv__weave_route(job, "weave", true);
}

static const sv_engine_option options[] = {
    {"multicast", "yes|no", "leave room for a tree of multicast packets, always (default no)"},
    {"rounds", "1-9", "how often destinations are routed (default 2, on large fabrics 1)"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_weave = {
    {"weave", "nearly shortest, balanced paths that cannot deadlock, with the VLs there are",
     "our own",
     SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS | SV_ENGINE_SL_MODES |
         SV_ENGINE_JOBS,
     options},
    route};
