/*
 * sssp.c: engine sssp: shortest paths, balanced over the whole fabric (IPDPS'11 Alg. 1, thesis Alg.
 * 3.1).
 *
 * Destinations are routed one after the other. Every channel has a weight, the number of routes
 * from terminals over it so far; the paths to the next destination are those of least weight among
 * the shortest. The paper gets "among the shortest" by starting all weights at |V|²; comparing
 * (hops, weight) is the same and needs no heap: which hops lead one step closer does not change
 * with the weights (dag.c), and in the order of distance all next hops of a switch are known before
 * its turn comes.
 *
 * What the paper leaves open decides the balance: destinations go round-robin over switches
 * (shared.c), and among equals it is drawn by lot.
 *
 * On large fabrics destinations are routed in batches (shared.c), so that several threads have
 * work: all of a batch see the weights of its beginning. Then the weights are added up, switch by
 * switch: what a tree adds to the cables of a switch concerns that switch alone.
 *
 * With a job map only routes inside jobs count, and so on (schedule.c, thesis Alg. 5.1).
 *
 * Takes any fabric; may deadlock.
 * Cost: O(channels) a destination.
 */
#include "routing/sssp.h"

#include <string.h>

enum { SLICES = 16 };

static sv_status init_batch(sv__sssp *x)
{
    sv_arena *arena = x->job->arena;
    uint32_t n = x->core.num_switches;
    x->threads = sv_ctx_threads(x->job->ctx, x->batch);
    x->workers = SV_ARENA_NEW(arena, sv__sssp_worker, x->threads);
    x->trees = SV_ARENA_NEW(arena, sv__sssp_tree, x->batch);
    if (x->workers == NULL || x->trees == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < x->threads; i++) {
        SV_TRY(sv__dag_maker_init(&x->workers[i].maker, &x->dags));
        if ((x->workers[i].path = SV_ARENA_NEW(arena, uint64_t, n)) == NULL)
            return SV_NO_MEMORY;
    }
    for (uint32_t i = 0; i < x->batch; i++) {
        x->trees[i].cable = SV_ARENA_NEW(arena, uint8_t, n);
        x->trees[i].routes = SV_ARENA_NEW(arena, uint32_t, n);
        if (x->trees[i].cable == NULL || x->trees[i].routes == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

static void clear_weights(sv__sssp *x)
{
    for (uint32_t e = 0; e < x->core.num_entries; e++)
        x->weight[e] = sv__lot(x->core.back[e], sv__lots(x->job, SV_NONE));
}

sv_status sv__sssp_init(sv__sssp *x, sv__routing_job *job, void *engine, sv__search_fn *search,
                        sv__allow_fn *allow)
{
    *x = (sv__sssp){.job = job, .batch = sv__batch(job->fabric)};
    SV_TRY(sv_core_init(&x->core, job->arena, job->fabric));
    SV_TRY(sv__dags_init(&x->dags, job, &x->core, engine, search, allow));
    x->weight = SV_ARENA_NEW(job->arena, uint64_t, x->core.num_entries);
    if (x->weight == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__schedule_init(&x->schedule, job, x->batch));
    x->order = x->schedule.order;
    x->count = x->schedule.count;
    clear_weights(x);
    return init_batch(x);
}

/* Each switch takes the way of least weight; those it may go on to have taken theirs. */
static void choose(const sv__sssp *x, const sv__dag *dag, uint64_t *path, sv__sssp_tree *t)
{
    const sv_core *core = &x->core;
    path[dag->order[0]] = 0;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], first = core->first[s], best = 0;
        const uint32_t *neighbour = core->neighbour + first;
        const uint64_t *weight = x->weight + first;
        uint64_t min = UINT64_MAX;
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
            uint32_t cable = dag->cables[k];
            uint64_t key = path[neighbour[cable]] + weight[cable];
            /* No branch: which of them is least cannot be foreseen. */
            best = key < min ? cable : best;
            min = key < min ? key : min;
        }
        path[s] = min & ~(uint64_t)SV__LOT;
        t->cable[s] = (uint8_t)best;
        t->row[s] = core->port[first + best];
    }
}

/* Counts the routes of all terminals that count, from the tips inwards. */
void sv__sssp_count(const sv__sssp *x, const sv__dag *dag, sv__sssp_tree *t)
{
    const sv_core *core = &x->core;
    const uint32_t *sources = sv__schedule_sources(&x->schedule, x->job->routes, t->destination,
                                                   core->terminals, t->routes);
    if (sources != t->routes)
        memcpy(t->routes, sources, core->num_switches * sizeof *t->routes);
    for (uint32_t i = dag->count; i-- > 1;) {
        uint32_t s = dag->order[i];
        t->routes[core->neighbour[core->first[s] + t->cable[s]]] += t->routes[s];
    }
}

/* Grows a tree of the batch. */
static sv_status grow(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    sv__sssp *x = arg;
    sv__sssp_tree *t = &x->trees[piece];
    sv__sssp_worker *w = &x->workers[worker];
    if (t->home == SV_NONE)
        return SV_OK;
    const sv__dag *dag = sv__dag_make(&x->dags, &w->maker, t->home);
    if (dag == NULL)
        return sv_fail(ctx, SV_NO_MEMORY, "out of memory");
    if (t->terminal && dag->count < x->core.num_switches)
        memset(t->cable, SV__NO_CABLE, x->core.num_switches);
    choose(x, dag, w->path, t);
    t->cable[t->home] = SV__NO_CABLE;
    if (t->terminal)
        sv__sssp_count(x, dag, t);
    return SV_OK;
}

/* Adds the routes of a batch to the weights of some switches, tree by tree. */
static sv_status weigh(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    const sv__sssp *x = arg;
    const sv_core *core = &x->core;
    uint64_t n = core->num_switches, slices = x->batch == 1 ? 1 : SLICES;
    uint32_t begin = (uint32_t)(piece * n / slices), end = (uint32_t)((piece + 1) * n / slices);
    (void)ctx;
    (void)worker;
    for (const sv__sssp_tree *t = x->trees; t < x->trees + x->batch; t++) {
        if (t->home == SV_NONE || !t->terminal)
            continue;
        for (uint32_t s = begin; s < end; s++) {
            uint32_t e = core->first[s] + t->cable[s];
            if (t->cable[s] != SV__NO_CABLE)
                x->weight[e] = sv__weigh(x->weight[e], t->routes[s], core->back[e], t->lots);
        }
    }
    return SV_OK;
}

/* The next destinations become the batch. */
static sv_status begin_batch(sv__sssp *x)
{
    if (sv__schedule_turns(&x->schedule, x->done))
        clear_weights(x);
    for (uint32_t i = 0; i < x->batch; i++) {
        sv__sssp_tree *t = &x->trees[i];
        t->home = SV_NONE;
        uint32_t d = x->done < x->count ? x->order[x->done++] : SV_NONE;
        if (d == SV_NONE)
            continue;
        sv_node home;
        t->destination = d;
        SV_TRY(sv__end_row(x->job, d, &t->row, &home));
        t->home = t->row == NULL ? SV_NONE : home.i;
        t->lots = sv__lots(x->job, d);
        t->terminal = !sv_is_switch(x->job->fabric, x->job->routes->node[d]);
    }
    return SV_OK;
}

struct some {
    sv__sssp *x;
    uint32_t end;
};

static sv_status route_some(sv_threads *pool, void *arg)
{
    const struct some *some = arg;
    sv__sssp *x = some->x;
    for (uint32_t shown = 0; x->done < some->end;) {
        if (x->done >= shown) {
            SV_TRY(sv_progress(x->job->ctx, "routing", x->done, x->count));
            shown = x->done + 64;
        }
        SV_TRY(begin_batch(x));
        SV_TRY(sv_threads_run(pool, NULL, x->batch, grow, x));
        SV_TRY(sv_threads_run(pool, NULL, x->batch == 1 ? 1 : SLICES, weigh, x));
    }
    return SV_OK;
}

sv_status sv__sssp_some(sv__sssp *x, uint32_t count)
{
    struct some some = {x, x->count - x->done < count ? x->count : x->done + count};
    return sv_threads_use(x->job->ctx, x->threads, route_some, &some);
}

sv_status sv__sssp_run(sv__sssp *x)
{
    return sv__sssp_some(x, x->count);
}

static sv_status route(sv__routing_job *job)
{
    sv__sssp x;
    SV_TRY(sv__sssp_init(&x, job, NULL, NULL, NULL));
    return sv__sssp_run(&x);
}

const sv__engine sv__engine_sssp = {
    {"sssp", "shortest paths, balanced over the whole fabric; may deadlock",
     "IPDPS'11 Alg. 1, thesis Alg. 3.1",
     SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL | SV_ENGINE_JOBS, NULL},
    route};
