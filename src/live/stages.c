/*
 * stages.c: tables on their way into switches.
 *
 * A sweep comes to tables; when switches get them is another question. Here is a queue of tables,
 * each with a gate before it: whoever hands tables over (the plugin) looks at the gate, goes
 * through if it is open, and hands over what is held then. If a sweep comes to other tables before
 * that is done, the queue begins anew from what is held.
 *
 * Five phases: (0) high entries are those of the new tables, since nobody uses them but those who
 * have left, base ones stay; (1) once everybody has left, all is new. Addresses that had no entry
 * anywhere get theirs in (0): nobody uses them yet. Where the base entries and SLs are the same
 * anyway there is nobody to wait for.
 *
 * The state file has what is held. After a restart that is what switches are taken to hold, if the
 * fabric is still the same: whoever is on base addresses knows nothing of the restart.
 *
 * Multicast trees go with what is held: those of before, as long as they join everybody, else some
 * that fit. What is held is verified with them; it has lost paths perhaps, but nothing can circle
 * or wait for ever.
 *
 * Steps (steps.c): the tables of each are made when it is its turn, when switches have confirmed
 * the one before.
 * All of them go with the new trees, with which they are proven.
 *
 * Invariants: what is held is of the fabric of now; with an empty queue it is the tables of now.
 * Cost: making a stage is linear in the tables, and sv_verify.
 */
#include <string.h>

#include "live/live.h"
#include "routes/routes.h"

void sv__live_stages_release(sv__stages *stages)
{
    sv_routes_free(stages->held);
    sv_routes_free(stages->from);
    sv_update_free(stages->plan);
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
        sv_mtree_free(stages->trees[sl]);
    *stages = (sv__stages){0};
}

/* ---- base and high addresses ---- */

static bool is_high(const sv_routes *r, uint32_t d)
{
    return d != r->first[r->node[d].i];
}

/* How many SLs the row of a destination has; 0 where there are no rows. */
static size_t sl_row_length(const sv_routes *r)
{
    if (r->sl_form == SV_SL_BY_SWITCH)
        return r->num_switches;
    return r->sl_form == SV_SL_BY_NODE ? (size_t)r->num_switches + r->num_terminals : 0;
}

static bool same_sls(const sv_routes *a, const sv_routes *b, uint32_t d)
{
    uint32_t nodes = a->num_switches + a->num_terminals;
    if (a->sl_form == b->sl_form && sl_row_length(a) > 0)
        return memcmp(a->sls[d], b->sls[d], sl_row_length(a)) == 0;
    for (uint32_t v = 0; v < nodes; v++)
        if (sv_route_sl(a, (sv_node){v}, d) != sv_route_sl(b, (sv_node){v}, d))
            return false;
    return true;
}

/* Whether no switch but its own has an entry for a destination. */
static bool is_new(const sv_fabric *f, const sv_routes *r, uint32_t d)
{
    for (uint32_t s = 0; s < r->num_switches; s++)
        if (r->ports[d][s] != SV_NO_PORT && s != r->node[d].i && sv_node_alive(f, (sv_node){s}))
            return false;
    return true;
}

/* Whether a node was not there when tables were made: nobody has an entry for it, nor has it any.
 */
static bool is_newcomer(const sv_fabric *f, const sv_routes *r, uint32_t v)
{
    if (!is_new(f, r, r->first[v]))
        return false;
    for (uint32_t d = 0; v < r->num_switches && d < r->num_destinations; d++)
        if (r->node[d].i != v && r->ports[d][v] != SV_NO_PORT)
            return false;
    return true;
}

static bool same_vls_at(const sv_fabric *f, const sv_routes *a, const sv_routes *b, uint32_t v)
{
    bool by_ports =
        v < f->num_switches && (a->sl2vl_by_port[v] != NULL || b->sl2vl_by_port[v] != NULL);
    unsigned ports = by_ports ? f->switches[v].ports : 0;
    for (unsigned in = 0; in <= ports; in++)
        for (unsigned out = 0; out <= ports; out++)
            if (memcmp(sv_route_sl2vl(a, f, (sv_node){v}, in, out)->of_sl,
                       sv_route_sl2vl(b, f, (sv_node){v}, in, out)->of_sl, SV_HARDWARE_SLS) != 0)
                return false;
    return true;
}

/* Newcomers do not count: nothing of theirs is on the way. */
static bool same_vls(const sv_fabric *f, const sv_routes *held, const sv_routes *next)
{
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (!same_vls_at(f, held, next, v) && !is_newcomer(f, held, v))
            return false;
    return true;
}

/* Whether nothing that packets to base addresses meet differs. */
static bool same_base(const sv_fabric *f, const sv_routes *a, const sv_routes *b)
{
    for (uint32_t d = 0; d < a->num_destinations; d++)
        if (!is_high(a, d) &&
            (memcmp(a->ports[d], b->ports[d], a->num_switches) != 0 || !same_sls(a, b, d)))
            return false;
    return same_vls(f, a, b);
}

/* Gives one destination the entries and SLs of other tables. */
static sv_status take_row(sv_ctx *ctx, const sv_routes *from, uint32_t d, sv_routes *to)
{
    uint8_t *row = sv_routes_row(ctx, to, d);
    if (row == NULL)
        return SV_NO_MEMORY;
    memcpy(row, from->ports[d], from->num_switches);
    if (to->sl_form < SV_SL_BY_DESTINATION)
        return SV_OK;
    uint8_t *sls = sv_routes_sl_row(ctx, to, d);
    if (sls == NULL)
        return SV_NO_MEMORY;
    if (to->sl_form == SV_SL_BY_DESTINATION)
        sls[d] = (uint8_t)sv_route_sl(from, (sv_node){0}, d);
    for (size_t v = 0; v < sl_row_length(to); v++)
        sls[v] = (uint8_t)sv_route_sl(from, (sv_node){(uint32_t)v}, d);
    return SV_OK;
}

/*
 * Old tables with new high entries, and with all there is for newcomers' addresses. If VLs are to
 * change, all of it waits.
 */
static sv_status mend_high(sv_ctx *ctx, const sv_fabric *f, const sv_routes *next, sv_routes *held)
{
    memcpy(held->lid, next->lid, next->num_destinations * sizeof *held->lid);
    if (!same_vls(f, held, next))
        return SV_OK;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (!same_vls_at(f, held, next, v)) /* a newcomer */
            SV_TRY(sv__routes_take_vls(ctx, f, held, (sv_node){v}, next));
    for (uint32_t d = 0; d < next->num_destinations; d++)
        if (is_high(next, d) || (held->sl_form == next->sl_form && is_new(f, held, d)))
            SV_TRY(take_row(ctx, next, d, held));
    return SV_OK;
}

/* Whether some switch sends packets to an address nowhere, and need not. */
bool sv__live_has_lost(const sv_fabric *f, const sv_routes *held, const sv_routes *next, bool high)
{
    for (uint32_t d = 0; d < held->num_destinations; d++)
        for (uint32_t s = 0; s < held->num_switches && (high || !is_high(held, d)); s++) {
            unsigned port = held->ports[d][s];
            if (next->ports[d][s] == SV_NO_PORT || port == 0 || !sv_node_alive(f, (sv_node){s}))
                continue;
            sv_channel c =
                port == SV_NO_PORT ? (sv_channel){SV_NONE} : sv_channel_at(f, (sv_node){s}, port);
            if (c.i == SV_NONE || !sv_channel_alive(f, c))
                return true;
        }
    return false;
}

/* ---- trees ---- */

/* Trees of before, those that still join everybody, for a new queue. */
static sv_status keep_trees(sv_live *live, const sv_fabric *f, sv__stages *made)
{
    sv_mtree *const *before = live->stages.held != NULL ? live->stages.trees : live->used.trees;
    sv_match *match = NULL;
    if (live->now.fabric == NULL)
        return SV_OK;
    sv_status status = sv_match_new(live->ctx, live->now.fabric, f, SV_MATCH_GUID, &match);
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS && status == SV_OK; sl++) {
        if (before[sl] != NULL)
            status = sv_mtree_carry(live->ctx, before[sl], f, match, &made->trees[sl]);
        status = status == SV_INFEASIBLE ? SV_OK : status;
    }
    sv_match_free(match);
    return status;
}

static sv_status plant(sv_live *live, unsigned sl)
{
    sv__stages *x = &live->stages;
    const sv_mtree *others[SV_HARDWARE_SLS];
    size_t count = 0;
    for (unsigned i = 0; i < SV_HARDWARE_SLS; i++)
        if (x->trees[i] != NULL)
            others[count++] = x->trees[i];
    return sv_mtree_new(live->ctx, live->now.fabric, x->held, live->options.traffic, sl, others,
                        count, &x->trees[sl]);
}

/* Trees for all SLs that groups have, where there are some. */
static sv_status plant_all(sv_live *live)
{
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
        sv_status status = SV_OK;
        if (live->group_sls >> sl & 1 && live->stages.trees[sl] == NULL)
            status = plant(live, sl);
        if (status != SV_OK && status != SV_INFEASIBLE)
            return status;
    }
    return SV_OK;
}

/* Sets `proven`. */
static sv_status prove(sv_live *live)
{
    sv__stages *x = &live->stages;
    sv_traffic traffic = live->options.traffic;
    sv_verification *found = NULL;
    sv_routes *whole = NULL;
    SV_TRY(sv_routes_clone(live->ctx, x->held, &whole));
    sv_status status = SV_OK;
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS && status == SV_OK; sl++)
        if (x->trees[sl] != NULL)
            status =
                sv_mtree_add_all(live->ctx, x->trees[sl], live->now.fabric, whole, 0xc000 + sl);
    if (status == SV_OK)
        status = sv_verify(live->ctx, live->now.fabric, whole, NULL, &found);
    x->proven = status == SV_OK && found->loops == 0 &&
                found->deadlock_free[traffic] == SV_VERDICT_YES &&
                found->together[traffic] == SV_VERDICT_YES && found->multicast == SV_VERDICT_YES;
    sv_verification_free(found);
    sv_routes_free(whole);
    return status;
}

/* Trees for what is held: those of before, or others if these do not do. */
static sv_status find_trees(sv_live *live)
{
    SV_TRY(plant_all(live));
    SV_TRY(prove(live));
    if (live->stages.proven)
        return SV_OK;
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
        sv_mtree_free(live->stages.trees[sl]);
        live->stages.trees[sl] = NULL;
    }
    SV_TRY(plant_all(live));
    return prove(live);
}

/* Whether all steps are safe with all trees of the new tables, those of late included. */
static sv_status prove_steps(sv_live *live, bool *safe)
{
    const sv__stages *x = &live->stages;
    uint32_t bad = SV_NONE;
    sv_routes *whole = NULL;
    SV_TRY(sv_routes_clone(live->ctx, live->now.routes, &whole));
    sv_status status = SV_OK;
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS && status == SV_OK; sl++)
        if (live->used.trees[sl] != NULL)
            status = sv_mtree_add_all(live->ctx, live->used.trees[sl], live->now.fabric, whole,
                                      0xc000 + sl);
    if (status == SV_OK)
        status = sv_update_prove(live->ctx, live->now.fabric, x->from, whole, x->plan,
                                 live->options.traffic, &bad);
    sv_routes_free(whole);
    *safe = status == SV_OK && bad == SV_NONE;
    return status;
}

/* While steps are under way the tree of an SL that had none may close a circle with some of them.
 */
static sv_status admit_tree(sv_live *live, unsigned sl)
{
    bool safe;
    if (live->stages.fits >> sl & 1)
        return SV_OK;
    SV_TRY(prove_steps(live, &safe));
    if (!safe) {
        sv_mtree_free(live->used.trees[sl]);
        live->used.trees[sl] = NULL;
        return sv_fail(live->ctx, SV_INFEASIBLE,
                       "SL %u has no multicast tree until the update is over", sl);
    }
    live->stages.fits |= (uint16_t)(1u << sl);
    return SV_OK;
}

sv_status sv__live_held_tree(sv_live *live, unsigned sl, const sv_mtree **tree)
{
    sv__stages *x = &live->stages;
    if (x->plan != NULL) {
        SV_TRY(admit_tree(live, sl));
        *tree = live->used.trees[sl];
        return SV_OK;
    }
    if (x->trees[sl] == NULL) {
        SV_TRY(plant(live, sl));
        SV_TRY(prove(live));
        if (!x->proven) {
            sv_mtree_free(x->trees[sl]);
            x->trees[sl] = NULL;
            SV_TRY(prove(live));
            return sv_fail(live->ctx, SV_INFEASIBLE,
                           "SL %u has no multicast tree until the update is over", sl);
        }
    }
    *tree = x->trees[sl];
    return SV_OK;
}

/* ---- the queue ---- */

/* What switches are taken to hold; routes NULL: nobody knows. */
static sv__set find_held(const sv_live *live, const sv_fabric *f, unsigned flags)
{
    const sv__set *kept = &live->kept;
    if (live->now.routes == NULL && kept->routes != NULL && sv__live_same(kept->fabric, f) &&
        sv__live_has_sets(live, f, kept->routes))
        return *kept;
    if (flags & SV_LIVE_UNKNOWN)
        return (sv__set){0};
    return (sv__set){.fabric = live->now.fabric,
                     .routes = live->stages.held != NULL ? live->stages.held : live->now.routes};
}

sv_status sv__live_aim(sv_live *live, const sv_fabric *f, unsigned flags,
                       const sv__live_candidate *c, sv__stages *stages)
{
    if (live->options.update != SV_LIVE_FIVE)
        return SV_OK;
    const sv__set from = find_held(live, f, flags);
    if (from.routes == NULL || from.routes->lmc != c->routes->lmc)
        return SV_OK;
    sv__stages made = {.count = 2};
    SV_TRY(sv__live_carry(live->ctx, &from, f, &made.held));
    sv_status status = keep_trees(live, f, &made);
    if (status != SV_OK) {
        sv__live_stages_release(&made);
        return status;
    }
    made.broken = sv__live_has_lost(f, made.held, c->routes, false);
    if (same_base(f, made.held, c->routes))
        made.count = 1;
    *stages = made;
    return SV_OK;
}

sv_live_gate sv_live_next(const sv_live *live)
{
    const sv__stages *x = &live->stages;
    if (x->held == NULL)
        return SV_LIVE_GATE_NONE;
    if (x->plan != NULL)
        return x->done == 0 ? SV_LIVE_GATE_OPEN : SV_LIVE_GATE_CONFIRMED;
    return x->done + 1 < x->count || x->count == 1 ? SV_LIVE_GATE_OPEN : SV_LIVE_GATE_LEFT;
}

/* The tables of the next step. */
static sv_status pass_step(sv_live *live)
{
    sv__stages *x = &live->stages;
    sv_routes *next = NULL;
    SV_TRY(sv_update_tables(live->ctx, live->now.fabric, x->from, live->now.routes, x->plan,
                            x->done + 1, false, &next));
    sv_routes_free(x->held);
    x->held = next;
    x->broken = sv__live_has_lost(live->now.fabric, next, live->now.routes, true);
    x->done++;
    return SV_OK;
}

void sv_live_steps(const sv_live *live, uint32_t *done, uint32_t *count, bool *settle)
{
    const sv__stages *x = &live->stages;
    *done = x->plan != NULL ? x->done : 0;
    *count = x->plan != NULL ? x->count : 0;
    *settle = x->plan != NULL && x->plan->settle;
}

static sv_status pass(sv_live *live)
{
    sv__stages *x = &live->stages;
    if (x->held == NULL)
        return SV_OK;
    if (x->done + 1 == x->count) { /* the last: the tables of now themselves */
        sv__live_stages_release(x);
        return SV_OK;
    }
    sv_routes *next = NULL;
    if (x->plan != NULL)
        return pass_step(live);
    SV_TRY(sv_routes_clone(live->ctx, x->held, &next));
    sv_status status = mend_high(live->ctx, live->now.fabric, live->now.routes, next);
    if (status != SV_OK) {
        sv_routes_free(next);
        return status;
    }
    sv_routes *before = x->held;
    x->held = next;
    status = find_trees(live);
    if (status != SV_OK) { /* trees may be others than before, which is as good */
        x->held = before;
        sv_routes_free(next);
        return status;
    }
    sv_routes_free(before);
    x->done++;
    return SV_OK;
}

sv_status sv_live_pass(sv_live *live)
{
    bool changes = live->stages.held != NULL && live->options.update == SV_LIVE_FIVE;
    SV_TRY(pass(live));
    if (changes)
        sv__live_save(live);
    return SV_OK;
}

const sv_routes *sv_live_held(const sv_live *live)
{
    return live->stages.held != NULL ? live->stages.held : live->now.routes;
}

bool sv_live_broken(const sv_live *live)
{
    return live->stages.held != NULL && live->stages.broken;
}

bool sv_live_held_proven(const sv_live *live)
{
    return live->now.routes != NULL && (live->stages.held == NULL || live->stages.proven);
}
