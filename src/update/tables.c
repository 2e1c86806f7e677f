/*
 * tables.c: tables between the steps of a plan, and the proof of a plan: each step is a change of
 * tables like any other, and verify/ judges it.
 *
 * SLs while a plan is carried out: connections from before hold theirs for as long as they live,
 * unless their pair had to be silent; new ones are told the new SL as soon as their destination's
 * first step begins.
 *
 * Cost: O(switches × destinations) for tables; a step costs as much as sv_verify_transition.
 */
#include <string.h>

#include "base/ctx.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "update/update.h"

/* ---- old and new ---- */

static unsigned count_vls(const sv_routes *r)
{
    unsigned vls = 1;
    for (uint32_t t = 0; t < r->num_vl_tables; t++)
        for (unsigned sl = 0; sl < r->num_sls && sl < SV_MAX_SLS; sl++) {
            unsigned vl = r->vl_tables[t].of_sl[sl];
            vls = vl != SV_NO_VL && vl >= vls ? vl + 1 : vls;
        }
    return vls;
}

sv_status sv__sides_init(sv__sides *x, sv_arena *arena, sv_ctx *ctx, const sv_fabric *f,
                         const sv_routes *before, const sv_routes *after, sv_traffic traffic)
{
    *x = (sv__sides){.ctx = ctx, .f = f, .before = before, .after = after, .traffic = traffic};
    if (before->num_destinations != after->num_destinations ||
        before->num_switches != f->num_switches || after->num_switches != f->num_switches)
        return sv_fail(ctx, SV_BAD_INPUT, "old and new tables have different destinations");
    if (memcmp(before->lid, after->lid, before->num_destinations * sizeof *before->lid) != 0)
        return sv_fail(ctx, SV_BAD_INPUT, "old and new tables have different LIDs");
    if (before->sl_form == SV_SL_UNKNOWN || after->sl_form == SV_SL_UNKNOWN)
        return sv_fail(ctx, SV_UNSUPPORTED, "the service levels of the %s tables are not known",
                       before->sl_form == SV_SL_UNKNOWN ? "old" : "new");
    x->by_node = before->sl_form == SV_SL_BY_NODE || after->sl_form == SV_SL_BY_NODE;
    unsigned was = count_vls(before), is = count_vls(after);
    x->vls = was > is ? was : is;
    return sv_portmap_init(&x->ports, arena, f);
}

/* How many sources have an SL of their own. */
static uint32_t sources(const sv__sides *x)
{
    return x->by_node ? sv_num_nodes(x->f) : x->f->num_switches;
}

bool sv__sls_change(const sv__sides *x, uint32_t d)
{
    const sv_routes *a = x->before, *b = x->after;
    if (a->sl_form == SV_SL_CONSTANT && b->sl_form == SV_SL_CONSTANT)
        return a->sl != b->sl;
    if (a->sl_form == b->sl_form && a->sl_form != SV_SL_BY_DESTINATION && a->sls[d] == b->sls[d])
        return false;
    for (uint32_t v = 0; v < sources(x); v++)
        if (sv__old_sl(x, (sv_node){v}, d) != sv__new_sl(x, (sv_node){v}, d))
            return true;
    return false;
}

/* SLs that somebody has, before or after. */
static uint64_t used_sls(const sv__sides *x)
{
    uint64_t used = 0;
    for (uint32_t d = 0; d < x->after->num_destinations; d++)
        for (uint32_t v = 0; v < sources(x); v++) {
            unsigned was = sv__old_sl(x, (sv_node){v}, d), is = sv__new_sl(x, (sv_node){v}, d);
            used |= was < SV_MAX_SLS ? (uint64_t)1 << was : 0;
            used |= is < SV_MAX_SLS ? (uint64_t)1 << is : 0;
        }
    for (uint32_t g = 0; g < x->after->num_groups; g++) {
        unsigned sl = x->after->groups[g].sl;
        used |= (uint64_t)1 << (sl < SV_MAX_SLS ? sl : 0);
    }
    return used;
}

static bool vls_differ(const sv__sides *x, sv_node v, unsigned in, unsigned out, uint64_t sls)
{
    const sv_sl2vl *a = sv_route_sl2vl(x->before, x->f, v, in, out);
    const sv_sl2vl *b = sv_route_sl2vl(x->after, x->f, v, in, out);
    for (; sls != 0; sls &= sls - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(sls);
        if (a->of_sl[sl] != b->of_sl[sl])
            return true;
    }
    return false;
}

/* Whether a node was not there before: nothing of its VLs is in use. */
static bool is_newcomer(const sv__sides *x, uint32_t v)
{
    if (v >= x->f->num_switches)
        return x->before->home[v - x->f->num_switches] == SV_NONE;
    for (uint32_t d = 0; d < x->before->num_destinations; d++)
        if (x->before->node[d].i != v && x->before->ports[d][v] != SV_NO_PORT)
            return false;
    return true;
}

bool sv__vls_change(const sv__sides *x)
{
    uint64_t sls = used_sls(x);
    for (uint32_t v = 0; v < sv_num_nodes(x->f); v++) {
        bool is_switch = v < x->f->num_switches, differ = false;
        unsigned ports = is_switch ? x->f->switches[v].ports : 0;
        bool plain =
            is_switch && x->before->sl2vl_by_port[v] == NULL && x->after->sl2vl_by_port[v] == NULL;
        if (!sv_node_alive(x->f, (sv_node){v}))
            continue;
        for (unsigned in = 0; !differ && in <= (plain ? 0 : ports); in++)
            for (unsigned out = 0; !differ && out <= (plain ? 0 : ports); out++)
                differ = vls_differ(x, (sv_node){v}, in, out, sls);
        if (differ && !is_newcomer(x, v))
            return true;
    }
    return false;
}

/* ---- tables between steps ---- */

/* Which SLs tables are to have. */
struct choice {
    const sv_update *u;
    uint32_t begun;         /* told: destinations whose first step is before this have new ones */
    const uint64_t *redone; /* held: bits, destination × sources + source: those that have new ones;
                               NULL: what is told is wanted */
};

static unsigned choose(const sv__sides *x, const struct choice *c, sv_node v, uint32_t d)
{
    bool is_new = c->redone != NULL ? sv_bit(c->redone, (size_t)d * sources(x) + v.i)
                                    : c->u->first_step[d] < c->begun;
    return is_new ? sv__new_sl(x, v, d) : sv__old_sl(x, v, d);
}

/* SLs for all, in a form that has room for them. */
static sv_status choose_sls(const sv__sides *x, const struct choice *c, sv_routes *tables)
{
    if (x->before->sl_form == SV_SL_CONSTANT && x->after->sl_form == SV_SL_CONSTANT &&
        x->before->sl == x->after->sl)
        return SV_OK;
    SV_TRY(sv_routes_set_sl_form(x->ctx, tables, x->by_node ? SV_SL_BY_NODE : SV_SL_BY_SWITCH));
    for (uint32_t d = 0; d < tables->num_destinations; d++) {
        uint8_t *row = sv_routes_sl_row(x->ctx, tables, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        for (uint32_t v = 0; v < sources(x); v++)
            row[v] = (uint8_t)choose(x, c, (sv_node){v}, d);
    }
    return SV_OK;
}

/* Old rows where tables have new ones. */
static sv_status bring_back(const sv__sides *x, sv_routes *tables)
{
    for (uint32_t d = 0; d < tables->num_destinations; d++) {
        if (memcmp(x->before->ports[d], x->after->ports[d], x->f->num_switches) == 0)
            continue;
        uint8_t *row = sv_routes_row(x->ctx, tables, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        memcpy(row, x->before->ports[d], x->f->num_switches);
    }
    return SV_OK;
}

/* Nodes may have come back since the old tables were made. */
static sv_status take_newcomers(const sv__sides *x, sv_routes *tables)
{
    uint32_t *home = SV_POOL_NEW(tables->store, x->ctx, uint32_t, x->f->num_terminals + 1);
    if (home == NULL)
        return SV_NO_MEMORY;
    memcpy(home, x->after->home, x->f->num_terminals * sizeof *home);
    tables->home = home;
    for (uint32_t v = 0; v < sv_num_nodes(x->f); v++)
        if (sv_node_alive(x->f, (sv_node){v}) && is_newcomer(x, v))
            SV_TRY(sv__routes_take_vls(x->ctx, x->f, tables, (sv_node){v}, x->after));
    return SV_OK;
}

static sv_status fill(const sv__sides *x, const sv_update *u, uint32_t done, const struct choice *c,
                      sv_routes *tables)
{
    if (!u->vls || done > 0)
        SV_TRY(bring_back(x, tables));
    else
        SV_TRY(take_newcomers(x, tables));
    for (uint64_t i = 0; i < u->num_entries && u->entries[i].step < done; i++) {
        const sv_update_entry *e = &u->entries[i];
        uint8_t *row = sv_routes_row(x->ctx, tables, e->destination);
        if (row == NULL)
            return SV_NO_MEMORY;
        row[e->s.i] = x->after->ports[e->destination][e->s.i];
    }
    return choose_sls(x, c, tables);
}

static sv_status between(const sv__sides *x, const sv_update *u, uint32_t done,
                         const struct choice *c, sv_routes **tables)
{
    sv_routes *made = NULL;
    SV_TRY(sv_routes_clone(x->ctx, u->vls && done == 0 ? x->before : x->after, &made));
    sv_status status = fill(x, u, done, c, made);
    if (status == SV_OK)
        *tables = made;
    else
        sv_routes_free(made);
    return status;
}

sv_status sv_update_tables(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *before,
                           const sv_routes *after, const sv_update *update, uint32_t done,
                           bool begun, sv_routes **tables)
{
    if (done == 0 && !begun)
        return sv_routes_clone(ctx, before, tables);
    if (done >= update->steps && update->left == 0)
        return sv_routes_clone(ctx, after, tables);
    sv_arena arena;
    sv__sides x;
    sv_arena_init(&arena, ctx);
    sv_status status = sv__sides_init(&x, &arena, ctx, fabric, before, after, SV_TRAFFIC_ALL);
    const struct choice told = {.u = update, .begun = done + begun};
    if (status == SV_OK)
        status = between(&x, update, done, &told, tables);
    sv_arena_release(&arena);
    return status;
}

/* ---- proof ---- */

struct proof {
    const sv__sides *x;
    const sv_update *u;
    sv_arena *arena;
    uint64_t *redone; /* as struct choice has it */
    uint64_t **quiet; /* [destinations]: NULL, or bits of nodes */
};

/* Sets, or clears, the bits of a pair: its source and, of a switch, its terminals. */
static sv_status hush(struct proof *p, const sv_update_pair *pair, bool silent)
{
    const sv_fabric *f = p->x->f;
    uint64_t **row = &p->quiet[pair->destination];
    if (*row == NULL && (*row = sv_bitset_new(p->arena, sv_num_nodes(f))) == NULL)
        return SV_NO_MEMORY;
    void (*set)(uint64_t *, size_t) = silent ? sv_bit_set : sv_bit_clear;
    set(*row, pair->from.i);
    if (!p->x->by_node)
        SV_FOR_HOPS (f, pair->from, hop)
            if (!sv_is_switch(f, hop->to))
                set(*row, hop->to.i);
    return SV_OK;
}

/* Who is silent in a step, and who holds a new SL since one of those before. */
static sv_status enter(struct proof *p, uint32_t step)
{
    for (uint64_t i = 0; i < p->u->num_pairs; i++) {
        const sv_update_pair *pair = &p->u->pairs[i];
        if (!pair->must)
            continue;
        if (pair->from_step == step)
            SV_TRY(hush(p, pair, true));
        if (pair->to_step + 1 == step) {
            SV_TRY(hush(p, pair, false));
            sv_bit_set(p->redone, (size_t)pair->destination * sources(p->x) + pair->from.i);
        }
    }
    return SV_OK;
}

/* One step; or, after the last, that all may stay as it is: who was silent is back. */
static sv_status prove_step(struct proof *p, uint32_t step, bool *safe)
{
    const sv__sides *x = p->x;
    const struct choice held = {.u = p->u, .redone = p->redone};
    const struct choice told = {.u = p->u, .begun = step + 1};
    sv_routes *now = NULL, *then = NULL;
    sv_transition *found = NULL;
    SV_TRY(enter(p, step));
    sv_status status = between(x, p->u, step, &held, &now);
    if (status == SV_OK)
        status = between(x, p->u, step < p->u->steps ? step + 1 : step, &told, &then);
    if (status == SV_OK)
        status = sv_verify_transition_quiet(x->ctx, x->f, now, then, x->traffic,
                                            (const uint64_t *const *)p->quiet, &found);
    if (status == SV_OK)
        *safe = sv_transition_safe(found);
    sv_transition_free(found);
    sv_routes_free(then);
    sv_routes_free(now);
    return status;
}

sv_status sv__verify_union(const sv__sides *x, bool vls, bool vls_only, sv_transition **found)
{
    const sv_update first = {.vls = vls};
    sv_arena arena;
    sv_routes *now = NULL, *then = NULL;
    sv_arena_init(&arena, x->ctx);
    struct choice held = {.u = &first};
    held.redone = sv_bitset_new(&arena, (size_t)x->after->num_destinations * sources(x));
    sv_status status = held.redone == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK)
        status = between(x, &first, 0, &held, &now);
    if (status == SV_OK)
        status = vls_only ? between(x, &first, 1, &held, &then)
                          : sv_routes_clone(x->ctx, x->after, &then);
    if (status == SV_OK)
        status = sv_verify_transition(x->ctx, x->f, now, then, x->traffic, found);
    sv_routes_free(then);
    sv_routes_free(now);
    sv_arena_release(&arena);
    return status;
}

/* Without settling, packets of all steps may be there together. */
static sv_status prove_union(const sv__sides *x, const sv_update *u, bool *safe)
{
    sv_transition *found = NULL;
    SV_TRY(sv__verify_union(x, u->vls, false, &found));
    *safe = found->deadlock_free == SV_VERDICT_YES;
    sv_transition_free(found);
    return SV_OK;
}

static sv_status prove(struct proof *p, uint32_t *bad)
{
    const sv_update *u = p->u;
    size_t destinations = p->x->after->num_destinations;
    bool safe = true;
    *bad = SV_NONE;
    if (u->num_pairs > 0 && u->pairs == NULL && u->must_pairs > 0)
        return sv_fail(p->x->ctx, SV_UNSUPPORTED,
                       "too many pairs must be silent for a proof of each step");
    p->redone = sv_bitset_new(p->arena, destinations * sources(p->x));
    p->quiet = SV_ARENA_NEW(p->arena, uint64_t *, destinations);
    if (p->redone == NULL || p->quiet == NULL)
        return SV_NO_MEMORY;
    if (!u->settle && u->steps > 1)
        SV_TRY(prove_union(p->x, u, &safe));
    for (uint32_t step = 0; u->steps > 0 && safe && step <= u->steps; step++) {
        SV_TRY(sv_progress(p->x->ctx, "proving steps", step, u->steps + 1));
        SV_TRY(prove_step(p, step, &safe));
        *bad = safe ? SV_NONE : step;
    }
    if (!safe && *bad == SV_NONE)
        *bad = 0;
    return SV_OK;
}

sv_status sv_update_prove(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *before,
                          const sv_routes *after, const sv_update *update, sv_traffic traffic,
                          uint32_t *bad)
{
    sv_arena arena;
    sv__sides x;
    sv_arena_init(&arena, ctx);
    struct proof p = {.x = &x, .u = update, .arena = &arena};
    sv_status status = sv__sides_init(&x, &arena, ctx, fabric, before, after, traffic);
    if (status == SV_OK)
        status = prove(&p, bad);
    sv_arena_release(&arena);
    return status;
}
