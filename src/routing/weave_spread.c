/*
 * weave_spread.c: all destinations are routed as sssp does, by the least weight among ways that are
 * open; where that leads into a dead end, the tree that was laid for the home serves, mended.
 *
 * As in sssp, large fabrics are done in batches: each thread has a tree and scratch of its own and
 * reads weights, VLs and laid trees, which do not change while trees grow. Loads of VLs are
 * counted from the batch's beginning for each tree, and added up after it.
 *
 * Invariant: every path that must be open is, and gets a VL that has all its turns.
 * Cost: as sssp; some ten times the sum of all path lengths for each tree that is mended.
 */
#include <string.h>

#include "routing/weave.h"

enum { SLICES = 16 };

/* A destination of the batch at hand. */
struct tree {
    uint32_t home, lots; /* home SV_NONE: there is nothing to do */
    uint8_t *row;
    uint32_t *cable;  /* [switches]: the one it takes, over all switches, or SV_NONE */
    uint32_t *routes; /* [switches]: from terminals behind it, its own included */
    sv__pick pick;
    bool grown; /* without mending */
    uint64_t unsafe;
};

struct worker {
    sv__weave weave; /* tree and scratch are its own */
    sv__dag_maker maker;
};

struct spread {
    sv__weave *w;
    struct worker *workers; /* [threads] */
    struct tree *trees;     /* [batch] */
    sv__schedule schedule;
    uint32_t batch, done, end; /* of the phase at hand */
    bool *tough; /* [switches]: trees of such a home had to be mended: growing is not tried again */
};

/* The VLs in which a switch's way over a cable is open; as sv__weave_vls, with fewer accesses.
 */
static sv_vl_mask open_vls(const sv__weave *w, uint32_t cable)
{
    uint32_t to = w->core.neighbour[cable];
    size_t turn = w->into[to] + w->core.back[cable] - w->core.first[to];
    if (w->tree.out[to] == SV_NONE)
        return w->tree.open[to];
    return sv__weave_pass(w, w->tree.open[to], turn);
}

/* The open shortest way of the least weight, its cable. SV_NONE: none is open. */
static uint32_t cheapest(const sv__weave *w, const sv__dag *dag, uint32_t i)
{
    uint32_t s = dag->order[i], best = SV_NONE, first = w->core.first[s];
    uint64_t min = UINT64_MAX;
    for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
        uint32_t cable = first + dag->cables[k];
        uint64_t key = w->tree.path[w->core.neighbour[cable]] + w->weight[cable];
        if (key < min && (open_vls(w, cable) & w->want[s]) != 0) {
            min = key;
            best = cable;
        }
    }
    return best;
}

bool sv__weave_grow(sv__weave *w, const sv__dag *dag)
{
    sv__wtree_begin(w, dag->order[0]);
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t best = cheapest(w, dag, i);
        if (best == SV_NONE)
            return false;
        sv__wtree_settle(w, dag->order[i], w->core.back[best], open_vls(w, best));
    }
    return true;
}

/* The tree that was laid for a home, if its paths are shortest: then distance is an order. */
static void use_shortest(sv__weave *w, const sv__dag *dag)
{
    const sv_core *core = &w->core;
    const uint8_t *laid = w->laid + (size_t)dag->order[0] * core->num_switches;
    sv__wtree *t = &w->tree;
    sv__wtree_begin(w, dag->order[0]);
    t->child[dag->order[0]] = SV_NONE;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], e = core->back[core->first[s] + laid[s]], to = core->to[e];
        sv__wtree_settle(w, s, e, sv__weave_vls(w, e));
        t->child[s] = SV_NONE;
        t->sibling[s] = t->child[to];
        t->child[to] = s;
    }
}

/* As sv__wtree_mend, among shortest ways only: neither lengths nor the order change. */
static void mend_shortest(sv__weave *w, const sv__dag *dag)
{
    const sv_core *core = &w->core;
    sv__wtree *t = &w->tree;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], first = core->first[s], now = core->back[t->out[s]], best = now;
        uint64_t min = t->path[core->neighbour[now]] + w->weight[now];
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
            uint32_t cable = first + dag->cables[k];
            uint64_t key = t->path[core->neighbour[cable]] + w->weight[cable];
            if (key >= min || cable == now)
                continue;
            sv_vl_mask vls = open_vls(w, cable);
            if ((vls & w->want[s]) != 0 && sv__wtree_move(w, s, core->back[cable], vls, false)) {
                min = key;
                best = cable;
            }
        }
        if (best != now)
            sv__wtree_move(w, s, core->back[best], open_vls(w, best), true);
        t->path[s] = min & ~(uint64_t)SV__LOT;
    }
}

bool sv__weave_find_tree(sv__weave *w, const sv__dag *dag)
{
    if (!w->tough && sv__weave_grow(w, dag))
        return true;
    w->play = sv__weave_home_vls(w, dag->order[0]);
    if (w->detours || w->core.terminals[dag->order[0]] == 0) {
        sv__wtree_use_laid(w, dag->order[0]);
        sv__wtree_mend_often(w);
    } else {
        use_shortest(w, dag);
        mend_shortest(w, dag);
    }
    return false;
}

void sv__weave_aim(sv__weave *w, const sv__schedule *schedule, uint32_t d)
{
    w->sources = sv__schedule_sources(schedule, w->job->routes, d, w->core.terminals, w->counted);
}

/* Takes what the others need to know from the tree at hand. */
static void save(sv__weave *w, struct tree *t)
{
    const sv_core *core = &w->core;
    const uint32_t *order = w->tree.order;
    t->unsafe = sv__wtree_write(w, t->row);
    if (!t->pick.terminal)
        return;
    memset(t->cable, 0xff, core->num_switches * sizeof *t->cable);
    memcpy(t->routes, w->sources, core->num_switches * sizeof *t->routes);
    for (uint32_t i = w->tree.count; i-- > 1;) {
        uint32_t s = order[i];
        t->cable[s] = core->back[w->tree.out[s]];
        t->routes[core->neighbour[t->cable[s]]] += t->routes[s];
    }
}

static sv_status route_one(sv_ctx *ctx, unsigned number, uint64_t piece, void *arg)
{
    struct spread *x = arg;
    struct tree *t = &x->trees[piece];
    sv__weave *w = &x->workers[number].weave;
    if (t->home == SV_NONE)
        return SV_OK;
    const sv__dag *dag = sv__dag_make(&x->w->dags, &x->workers[number].maker, t->home);
    if (dag == NULL)
        return sv_fail(ctx, SV_NO_MEMORY, "out of memory");
    memcpy(w->load, x->w->load, sizeof w->load);
    sv__weave_aim(w, &x->schedule, t->pick.destination);
    if (w->mode->prepare != NULL)
        w->mode->prepare(w, dag);
    w->tough = x->tough[t->home];
    t->grown = sv__weave_find_tree(w, dag);
    if (w->mode->record != NULL)
        w->mode->record(w, &t->pick);
    save(w, t);
    return SV_OK;
}

/* Adds the routes of a batch to the weights of some switches, tree by tree. */
static sv_status weigh(sv_ctx *ctx, unsigned number, uint64_t piece, void *arg)
{
    const struct spread *x = arg;
    uint64_t n = x->w->core.num_switches, slices = x->batch == 1 ? 1 : SLICES;
    uint32_t begin = (uint32_t)(piece * n / slices), end = (uint32_t)((piece + 1) * n / slices);
    uint64_t *weight = x->w->weight;
    (void)ctx;
    (void)number;
    for (const struct tree *t = x->trees; t < x->trees + x->batch; t++)
        for (uint32_t s = begin; t->home != SV_NONE && t->pick.terminal && s < end; s++) {
            uint32_t e = t->cable[s];
            if (e != SV_NONE)
                weight[e] = sv__weigh(weight[e], t->routes[s], x->w->core.back[e], t->lots);
        }
    return SV_OK;
}

sv_status sv__weave_pick(sv__weave *w, uint32_t d, sv__pick *p)
{
    sv__routing_job *job = w->job;
    sv_sl_form form = w->mode->form;
    p->destination = d;
    p->terminal = !sv_is_switch(job->fabric, job->routes->node[d]);
    p->sls = NULL;
    memcpy(p->load, w->load, sizeof p->load);
    if (form == SV_SL_CONSTANT)
        return SV_OK;
    p->sls = sv_routes_sl_row(job->ctx, job->routes, form == SV_SL_BY_DESTINATION ? 0 : d);
    if (p->sls == NULL)
        return SV_NO_MEMORY;
    if (form == SV_SL_BY_DESTINATION)
        p->sls[d] = 0;
    else
        memset(p->sls, 0, job->routes->num_switches);
    return SV_OK;
}

/* The next destinations become the batch. */
static sv_status begin_batch(struct spread *x)
{
    sv__routing_job *job = x->w->job;
    for (struct tree *t = x->trees; t < x->trees + x->batch; t++) {
        uint32_t d = x->done < x->end ? x->schedule.order[x->done++] : SV_NONE;
        sv_node home;
        t->home = SV_NONE;
        if (d == SV_NONE)
            continue;
        SV_TRY(sv__end_row(job, d, &t->row, &home));
        SV_TRY(sv__weave_pick(x->w, d, &t->pick));
        t->home = t->row == NULL ? SV_NONE : home.i;
        t->lots = sv__lots(job, d);
    }
    return SV_OK;
}

/* Adds up what the trees of a batch have brought to the VLs. */
static void end_batch(struct spread *x)
{
    uint64_t before[SV_MAX_VLS];
    memcpy(before, x->w->load, sizeof before);
    for (const struct tree *t = x->trees; t < x->trees + x->batch; t++) {
        if (t->home == SV_NONE)
            continue;
        x->w->unsafe += t->unsafe;
        x->tough[t->home] = !t->grown && x->w->mode->prepare == NULL;
        for (unsigned l = 0; l < SV_MAX_VLS; l++)
            x->w->load[l] += t->pick.load[l] - before[l];
    }
}

static sv_status route_all(sv_threads *pool, void *arg)
{
    struct spread *x = arg;
    for (uint32_t shown = 0; x->done < x->end;) {
        if (x->done >= shown) {
            SV_TRY(sv_progress(x->w->job->ctx, "routing", x->done, x->schedule.count));
            shown = x->done + 64;
        }
        SV_TRY(begin_batch(x));
        SV_TRY(sv_threads_run(pool, NULL, x->batch, route_one, x));
        SV_TRY(sv_threads_run(pool, NULL, x->batch == 1 ? 1 : SLICES, weigh, x));
        end_batch(x);
    }
    return SV_OK;
}

/* The tree at hand, so many times, goes into weights and grade. */
static void weigh_sample(sv__weave *w, const sv__dag *dag, uint64_t times, sv__grade *grade)
{
    const sv__wtree *t = &w->tree;
    sv__wtree_flows(w);
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t s = t->order[i], e = t->out[s], cable = w->core.back[e];
        w->weight[cable] =
            sv__weigh(w->weight[cable], times * w->flow[s], e, sv__lots(w->job, t->home));
        grade->hops += times * w->core.terminals[s] * t->length[s];
        grade->lost += (t->open[s] & w->want[s]) == 0;
    }
    grade->lost += dag->count - t->count;
}

sv_status sv__weave_sample(sv__weave *w, unsigned rounds, sv__grade *grade)
{
    *grade = (sv__grade){0};
    sv__weave_clear(w);
    for (unsigned i = 0; i < rounds; i++)
        for (uint32_t home = 0; home < w->core.num_switches; home++) {
            uint64_t times = ((uint64_t)w->core.terminals[home] + rounds - 1 - i) / rounds;
            if (times == 0)
                continue;
            const sv__dag *dag = sv__dag_to(&w->dags, home);
            if (dag == NULL)
                return SV_NO_MEMORY;
            if (home % 64 == 0)
                SV_TRY(sv_progress(w->job->ctx, "comparing VLs", home, w->core.num_switches));
            w->play = sv__weave_home_vls(w, home);
            grade->longer += !sv__weave_find_tree(w, dag);
            weigh_sample(w, dag, times, grade);
        }
    for (uint32_t e = 0; e < w->core.num_entries; e++)
        if (w->weight[e] >> SV__LOT_BITS > grade->busiest)
            grade->busiest = w->weight[e] >> SV__LOT_BITS;
    return SV_OK;
}

/* Masks in a byte each: a table that caches hold an eighth of otherwise. */
static sv_status init_narrow(sv__weave *w)
{
    const sv_cdg *cdg = &w->cdg;
    w->narrow = NULL;
    if (cdg->num_vls > 8 || w->turns != NULL)
        return SV_OK;
    uint8_t *narrow = SV_ARENA_NEW(w->job->arena, uint8_t, cdg->num_turns);
    if (narrow == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < cdg->num_turns; i++)
        narrow[i] = (uint8_t)cdg->vls[i];
    w->narrow = narrow;
    return SV_OK;
}

/* Workers, and room for a batch. */
static sv_status prepare(struct spread *x, unsigned threads)
{
    sv_arena *a = x->w->job->arena;
    uint32_t n = x->w->core.num_switches;
    x->workers = SV_ARENA_NEW(a, struct worker, threads);
    x->trees = SV_ARENA_NEW(a, struct tree, x->batch);
    x->tough = SV_ARENA_NEW(a, bool, n);
    if (x->workers == NULL || x->trees == NULL || x->tough == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < threads; i++) {
        SV_TRY(sv__weave_copy(&x->workers[i].weave, x->w));
        SV_TRY(sv__dag_maker_init(&x->workers[i].maker, &x->w->dags));
    }
    for (uint32_t i = 0; i < x->batch; i++) {
        x->trees[i].cable = SV_ARENA_NEW(a, uint32_t, n);
        x->trees[i].routes = SV_ARENA_NEW(a, uint32_t, n);
        if (x->trees[i].cable == NULL || x->trees[i].routes == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

sv_status sv__weave_spread(sv__weave *w)
{
    sv__routing_job *job = w->job;
    uint64_t before[SV_MAX_VLS], unsafe;
    struct spread x = {.w = w, .batch = w->mode->prepare == NULL ? sv__batch(job->fabric) : 1};
    unsigned threads = sv_ctx_threads(job->ctx, x.batch);
    SV_TRY(sv__schedule_init(&x.schedule, job, x.batch));
    SV_TRY(init_narrow(w));
    SV_TRY(prepare(&x, threads));
    SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, w->mode->form));
    for (unsigned phase = 0; phase < SV__PHASES; phase++) {
        uint32_t begin = x.done;
        x.end = x.schedule.end[phase];
        if (x.end == begin)
            continue;
        sv__weave_clear(w);
        memcpy(before, w->load, sizeof before);
        unsafe = w->unsafe;
        SV_TRY(sv_threads_use(job->ctx, threads, route_all, &x));
        SV_TRY(sv__weave_again(w, &x.schedule, begin, x.end, before, unsafe));
    }
    return SV_OK;
}
