/*
 * plan.c: a safe order of updates: from old tables to new ones in steps.
 *
 * Idea: if all mixtures of old and new entries are safe, one step will do. If none of them can
 * deadlock, but some make packets circle or lose their way, entries of each destination change from
 * its end outwards (levels.c), all destinations together. Otherwise destinations move in groups
 * (groups.c).
 *
 * Nothing that is said here is believed: verify/ judges every step at the end.
 *
 * Cost: as sv_verify_transition for each step, and what groups cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "update/update.h"

enum { MAX_STEPS = 256 };

/* ---- which way ---- */

/* SL-to-VL tables change first, if that is safe by itself. */
static sv_status try_vls(sv__update_planner *p, bool *safe)
{
    sv_transition *found = NULL;
    *safe = true;
    if (!p->u->vls)
        return SV_OK;
    SV_TRY(sv__verify_union(&p->x, true, true, &found));
    *safe = !found->discards && found->deadlock_free == SV_VERDICT_YES;
    sv_transition_free(found);
    if (!*safe)
        snprintf(p->u->why, sizeof p->u->why,
                 "SL-to-VL tables change, and old and new ones together can deadlock");
    return SV_OK;
}

/* Everybody is silent, to all destinations; or nothing changes, if nobody is to be. */
static void hush_all(sv__update_planner *p)
{
    p->u->settle = true;
    p->u->moved = 0;
    if (p->partial) {
        p->u->vls = false;
        p->u->left = p->num_changed;
        sv__begin_again(p);
        return;
    }
    sv__move_together(p, SV__HUSHED);
    memset(p->hushed, 0xff, sv_bitset_words(p->x.after->num_destinations) * sizeof *p->hushed);
}

static sv_status choose(sv__update_planner *p)
{
    sv_transition *found = NULL;
    bool vls_safe;
    SV_TRY(sv__verify_union(&p->x, p->u->vls, false, &found));
    bool flows = !found->discards && found->deadlock_free == SV_VERDICT_YES;
    bool arrives = found->looping == 0 && found->dead_ends == found->broken && found->strays == 0;
    sv_transition_free(found);
    p->u->moved = p->num_changed;
    if (flows && arrives) {
        p->u->way = SV_UPDATE_AT_ONCE;
        sv__begin_again(p);
        for (uint32_t i = 0; i < p->num_changed; i++)
            p->u->first_step[p->changed[i]] = p->last_step[p->changed[i]] = 0;
        p->steps = 1;
        return SV_OK;
    }
    p->u->way = SV_UPDATE_STEPS;
    SV_TRY(try_vls(p, &vls_safe));
    if (flows) {
        sv__move_together(p, SV__NOBODY);
        return SV_OK;
    }
    if (!vls_safe) {
        hush_all(p);
        return SV_OK;
    }
    return sv__move_in_groups(p);
}

/* ---- what comes of it ---- */

static int by_step(const void *a, const void *b)
{
    const sv_update_entry *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->s.i != y->s.i)
        return x->s.i < y->s.i ? -1 : 1;
    return x->destination < y->destination ? -1 : x->destination > y->destination;
}

static sv_status count_blocks(sv__update_planner *p)
{
    const sv__sides *x = &p->x;
    sv_routes *made = NULL;
    SV_TRY(sv_update_tables(p->ctx, x->f, x->before, x->after, p->u, p->u->steps, false, &made));
    sv_status status = sv_routes_changed_blocks(p->ctx, x->f, x->before, made, &p->u->blocks);
    sv_routes_free(made);
    return status;
}

static sv_status list_entries(sv__update_planner *p)
{
    sv_update *u = p->u;
    uint64_t room = 0;
    for (uint32_t i = 0; i < p->num_changed; i++)
        for (uint32_t s = 0; s < p->x.f->num_switches; s++)
            room += sv__changes(&p->x, s, p->changed[i]);
    u->entries = SV_POOL_NEW(u->store, p->ctx, sv_update_entry, room + 1);
    if (u->entries == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < p->num_changed; i++) {
        uint32_t d = p->changed[i], block = sv__routes_block(p->x.after, d);
        bool stepwise = u->way != SV_UPDATE_AT_ONCE;
        if (u->first_step[d] == SV_NONE)
            continue;
        if (stepwise)
            sv__level(&p->levels, d, sv_bit(p->fine, d));
        for (uint32_t s = 0; s < p->x.f->num_switches; s++)
            if (sv__changes(&p->x, s, d))
                u->entries[u->num_entries++] = (sv_update_entry){
                    {s}, d, block, u->first_step[d] + (stepwise ? p->levels.level[s] : 0)};
    }
    if (u->num_entries > 0)
        qsort(u->entries, u->num_entries, sizeof *u->entries, by_step);
    for (uint64_t i = 0; i < u->num_entries; i++)
        u->writes += i == 0 || u->entries[i].step != u->entries[i - 1].step ||
                     u->entries[i].block != u->entries[i - 1].block ||
                     u->entries[i].s.i != u->entries[i - 1].s.i;
    return count_blocks(p);
}

/* held: somebody must be silent whose SL stays. */
static void name_way(sv__update_planner *p, bool held)
{
    sv_update *u = p->u;
    u->moved = held || u->left > 0 ? u->moved : p->num_changed;
    if (held || u->steps == 0) {
        u->way = SV_UPDATE_NEVER;
    } else if (u->must_pairs > 0) {
        u->way = SV_UPDATE_REPATH;
        if (u->why[0] == 0 || !u->vls)
            snprintf(u->why, sizeof u->why,
                     "with the SLs that %llu pairs hold from before there could be a deadlock",
                     (unsigned long long)u->must_pairs);
    } else {
        u->way = u->way == SV_UPDATE_AT_ONCE ? u->way : SV_UPDATE_STEPS;
        if (u->left == 0)
            u->why[0] = 0;
    }
}

static sv_status conclude(sv__update_planner *p)
{
    const sv__silence silence = {p->repath, p->hushed};
    sv_update *u = p->u;
    bool hushed = false;
    u->steps = p->steps;
    SV_TRY(list_entries(p));
    SV_TRY(sv__list_pairs(&p->x, p->arena, &silence, p->last_step, u, &hushed));
    name_way(p, hushed);
    return SV_OK;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Destinations that change, by block. */
static sv_status list_changed(sv__update_planner *p)
{
    uint32_t n = p->x.after->num_destinations;
    uint64_t *keys = SV_ARENA_NEW(p->arena, uint64_t, n + 1);
    p->changed = SV_ARENA_NEW(p->arena, uint32_t, n + 1);
    p->group = SV_ARENA_NEW(p->arena, uint32_t, n + 1);
    p->last_step = SV_ARENA_NEW(p->arena, uint32_t, n + 1);
    p->moved = sv_bitset_new(p->arena, n);
    p->fine = sv_bitset_new(p->arena, n);
    p->repath = sv_bitset_new(p->arena, n);
    p->hushed = sv_bitset_new(p->arena, n);
    p->u->first_step = SV_POOL_NEW(p->u->store, p->ctx, uint32_t, n + 1);
    if (keys == NULL || p->changed == NULL || p->group == NULL || p->last_step == NULL ||
        p->moved == NULL || p->fine == NULL || p->repath == NULL || p->hushed == NULL ||
        p->u->first_step == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < n; d++) {
        bool differs = sv__sls_change(&p->x, d);
        for (uint32_t s = 0; !differs && s < p->x.f->num_switches; s++)
            differs = sv__changes(&p->x, s, d);
        if (differs)
            keys[p->num_changed++] = (uint64_t)sv__routes_block(p->x.after, d) << 32 | d;
    }
    if (p->num_changed > 0)
        qsort(keys, p->num_changed, sizeof *keys, ascending);
    for (uint32_t i = 0; i < p->num_changed; i++)
        p->changed[i] = (uint32_t)keys[i];
    sv__begin_again(p);
    return SV_OK;
}

/* Whether tables are fit for a plan. */
static sv_status check(sv__update_planner *p)
{
    sv_verification *found = NULL;
    SV_TRY(sv_verify(p->ctx, p->x.f, p->x.after, NULL, &found));
    sv_verdict free = found->together[p->x.traffic]; /* with multicast */
    uint64_t loops = found->loops;
    sv_verification_free(found);
    if (free != SV_VERDICT_YES || loops > 0)
        return sv_fail(p->ctx,
                       loops == 0 && free == SV_VERDICT_UNKNOWN ? SV_UNSUPPORTED : SV_BAD_INPUT,
                       "the new tables %s",
                       loops > 0               ? "make packets go in circles"
                       : free == SV_VERDICT_NO ? "can deadlock by themselves"
                                               : "may deadlock by themselves: that cannot be told");
    const sv_verify_options quick = {.quick = true};
    SV_TRY(sv_verify(p->ctx, p->x.f, p->x.before, &quick, &found));
    p->circles = found->loops > 0;
    sv_verification_free(found);
    return SV_OK;
}

static sv_status make(sv__update_planner *p)
{
    SV_TRY(sv__gather_init(&p->gather, &p->x, p->arena));
    SV_TRY(sv__levels_init(&p->levels, &p->x, p->arena));
    SV_TRY(check(p));
    p->u->way = SV_UPDATE_NOTHING;
    p->u->vls = sv__vls_change(&p->x);
    SV_TRY(list_changed(p));
    if (p->num_changed == 0 && !p->u->vls)
        return SV_OK;
    if (p->circles) {
        snprintf(p->u->why, sizeof p->u->why, "the old tables make packets go in circles");
        hush_all(p);
    } else {
        SV_TRY(choose(p));
    }
    return conclude(p);
}

/* A step does not hold: because the new tables lose a way that the old ones have; or we are wrong.
 */
static sv_status refuse(sv__update_planner *p, uint32_t bad)
{
    const sv__sides *x = &p->x;
    for (uint32_t i = 0; i < p->num_changed; i++) {
        uint32_t d = p->changed[i];
        if (!sv_node_alive(x->f, x->after->node[d]) || sv__level(&p->levels, d, true) == 0)
            continue;
        for (uint32_t s = 0; s < x->f->num_switches; s++)
            if (sv_node_alive(x->f, (sv_node){s}) && p->levels.was_good[s] && !p->levels.good[s])
                return sv_fail(p->ctx, SV_INFEASIBLE,
                               "the new tables lose the way from '%s' to '%s', which the old ones "
                               "have",
                               sv_node_name(x->f, (sv_node){s}),
                               sv_node_name(x->f, x->after->node[d]));
    }
    return sv_fail(p->ctx, SV_INFEASIBLE, "step %u of %u does not hold (please report this)",
                   bad + 1, p->u->steps);
}

/* Nothing of the above is believed. What is safe in any order was judged already. */
static sv_status prove(sv__update_planner *p)
{
    const sv__sides *x = &p->x;
    const sv_update *u = p->u;
    uint32_t bad;
    bool unlisted =
        u->pairs == NULL && u->must_pairs > 0; /* who is silent: no step can be judged */
    if (u->way == SV_UPDATE_NOTHING || u->way == SV_UPDATE_AT_ONCE || unlisted || p->circles)
        return SV_OK;
    SV_TRY(sv_update_prove(p->ctx, x->f, x->before, x->after, u, x->traffic, &bad));
    if (bad == SV_NONE)
        return SV_OK;
    return refuse(p, bad);
}

/* ---- who need not be silent after all ---- */

struct relief {
    const sv__update_planner *p;
    uint64_t *first; /* of each destination that has pairs which must be silent: its first pair */
    uint32_t proofs; /* that may still be tried */
};

/* Whether pairs from one on, of the same destinations, must be silent. */
static void bid(sv_update *u, uint64_t from, uint64_t until, const uint8_t *musts, bool silent)
{
    for (uint64_t i = from; i < until; i++)
        u->pairs[i].must = silent && musts[i];
}

/* Lets destinations speak, all together or, if that is not safe, each half by itself. */
static sv_status relieve(struct relief *r, const uint8_t *musts, uint32_t from, uint32_t until)
{
    const sv__sides *x = &r->p->x;
    sv_update *u = r->p->u;
    uint32_t bad;
    if (from == until || r->proofs == 0)
        return SV_OK;
    r->proofs--;
    bid(u, r->first[from], r->first[until], musts, false);
    SV_TRY(sv_update_prove(r->p->ctx, x->f, x->before, x->after, u, x->traffic, &bad));
    if (bad == SV_NONE)
        return SV_OK;
    bid(u, r->first[from], r->first[until], musts, true);
    if (until - from == 1)
        return SV_OK;
    uint32_t middle = from + (until - from) / 2;
    SV_TRY(relieve(r, musts, from, middle));
    return relieve(r, musts, middle, until);
}

/* Pairs without a path, or to the dead, were listed because they had to be silent; those that need
 * not are not. */
static void forget_relieved(sv__update_planner *p)
{
    sv_update *u = p->u;
    uint64_t kept = 0;
    uint32_t marked = SV_NONE;
    bool held = false;
    u->must_pairs = 0;
    for (uint64_t i = 0; i < u->num_pairs; i++) {
        sv_update_pair pair = u->pairs[i];
        sv_node home =
            sv_is_switch(p->x.f, pair.from) ? pair.from : sv_switch_of(p->x.f, pair.from);
        bool same = sv__old_sl(&p->x, pair.from, pair.destination) ==
                    sv__new_sl(&p->x, pair.from, pair.destination);
        if (marked != pair.destination)
            sv__mark_paths(&p->x, marked = pair.destination, p->gather.mark, p->gather.stack);
        bool dead = !sv_node_alive(p->x.f, p->x.after->node[pair.destination]);
        if (!pair.must && (dead || (same && p->gather.mark[home.i] == SV__LOST)))
            continue;
        u->pairs[kept++] = pair;
        u->must_pairs += pair.must;
        held |= pair.must && same;
    }
    u->num_pairs = kept;
    name_way(p, held);
}

/*
 * Groups are careful: they take all mixtures of their destinations for possible at once. Steps are
 * not, so many who are silent need not be. Found by trying, as far as that is affordable.
 */
static sv_status relax(sv__update_planner *p)
{
    enum { MAX_PROOFS = 256 };
    sv_update *u = p->u;
    uint64_t work = (uint64_t)p->x.f->num_switches * p->x.after->num_destinations * (u->steps + 1);
    struct relief r = {.p = p, .proofs = (uint32_t)((1 << 26) / (work + 1))};
    uint32_t count = 0;
    if (u->must_pairs == 0 || u->pairs == NULL || u->vls || p->circles)
        return SV_OK;
    r.proofs = r.proofs < MAX_PROOFS ? r.proofs : MAX_PROOFS;
    uint8_t *musts = SV_ARENA_NEW(p->arena, uint8_t, u->num_pairs);
    r.first = SV_ARENA_NEW(p->arena, uint64_t, p->x.after->num_destinations + 2);
    if (musts == NULL || r.first == NULL)
        return SV_NO_MEMORY;
    for (uint64_t i = 0; i < u->num_pairs; i++) {
        musts[i] = u->pairs[i].must;
        if (i == 0 || u->pairs[i].destination != u->pairs[i - 1].destination)
            r.first[count++] = i;
    }
    r.first[count] = u->num_pairs;
    SV_TRY(relieve(&r, musts, 0, count));
    forget_relieved(p);
    return SV_OK;
}

static sv_status run(sv__update_planner *p, const sv_fabric *fabric, const sv_routes *before,
                     const sv_routes *after, const sv_update_request *request)
{
    static const sv_update_request usual = {.traffic = SV_TRAFFIC_MANAGED};
    request = request != NULL ? request : &usual;
    uint64_t begun = sv_now_ns(p->ctx);
    p->max_steps = request->max_steps > 0 ? request->max_steps : MAX_STEPS;
    p->partial = request->partial;
    SV_TRY(sv__sides_init(&p->x, p->arena, p->ctx, fabric, before, after, request->traffic));
    sv_status status = make(p);
    sv__gather_release(&p->gather);
    sv__graph_release(&p->graph);
    for (int l = 0; l < SV__MAX_LEVELS; l++)
        sv__graph_release(&p->fine_graphs[l]);
    if (status == SV_OK && !request->unproven)
        status = relax(p);
    if (status != SV_OK)
        return status;
    uint64_t planned = sv_now_ns(p->ctx);
    p->u->plan_ns = planned - begun;
    if (!request->unproven)
        SV_TRY(prove(p));
    p->u->prove_ns = sv_now_ns(p->ctx) - planned;
    return SV_OK;
}

sv_status sv_update_plan(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *before,
                         const sv_routes *after, const sv_update_request *request,
                         sv_update **update)
{
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv__update_planner p = {.ctx = ctx, .arena = &arena};
    p.u = SV_POOL_NEW(store, ctx, sv_update, 1);
    sv_status status = p.u == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        p.u->store = store;
        status = run(&p, fabric, before, after, request);
    }
    sv_arena_release(&arena);
    if (status == SV_OK)
        *update = p.u;
    else
        sv__pool_drop(store);
    return status;
}

void sv_update_free(sv_update *update)
{
    if (update != NULL)
        sv__pool_drop(update->store);
}

const char *sv_update_way_name(sv_update_way way)
{
    static const char *const names[SV_UPDATE_WAYS] = {
        "no plan",
        "nothing changes",
        "in any order",
        "step by step",
        "step by step, with pairs whose SLs change silent meanwhile",
        "step by step, with pairs whose paths change silent meanwhile"};
    return way < SV_UPDATE_WAYS ? names[way] : "?";
}
