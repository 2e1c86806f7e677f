/*
 * weave_lay.c: one tree for each switch as a home, thriftily: which VLs there must be, and which
 * turns they must have.
 *
 * Switches come in the order of their distance. Each takes, of the ways one step closer, the one
 * that is open in the most VLs; where none is open, turns are added, to the first VL that stays
 * acyclic. Where no VL takes them:
 *
 * - without detours (dfsssp) a VL is added: all paths are shortest, and the VLs are what it
 * takes;
 * - with detours (weave) VLs are what there is, and the switch waits until all others have their
 *   paths. Then it takes the shortest way that is open, or can be opened, or that opens when a
 *   neighbour goes over to another way. What is left then has the home routed along a spanning
 *   tree, whose turns the last VL has had from the beginning; mending makes that a tree of
 * another kind later on.
 *
 * A path must be open if packets on it count, or go through it (docs/decisions/0008); the others
 * are laid after all that must. For weave those that fit nowhere have their home, a switch without
 * terminals, routed along a spanning tree, if need be that of a VL more; for dfsssp they are
 * counted: they never cost a VL.
 *
 * Invariant: turns are never taken out again, so a tree that was laid stays possible.
 * Cost: additions to graphs; a turn that a VL refuses is not asked again.
 */
#include <string.h>

#include "routing/weave.h"

/*
 * Adds all turns from an entry on to a VL, or none. What a VL refuses without turns that are
 * taken back it refuses for good.
 */
static bool add_path(sv__weave *w, unsigned vl, uint32_t first)
{
    if (w->turns != NULL)
        return sv__turns_open(w, vl, first);
    const uint32_t *to = w->core.to, *out = w->tree.out;
    sv_vl_mask bit = (sv_vl_mask)1 << vl;
    uint32_t count = 0;
    for (uint32_t in = first; out[to[in]] != SV_NONE; in = out[to[in]]) {
        size_t turn = sv_cdg_turn(&w->cdg, in, out[to[in]]);
        if (w->cdg.vls[turn] & bit)
            continue;
        if (w->closed[turn] & bit || !sv_cdg_add(&w->cdg, vl, in, out[to[in]])) {
            w->closed[turn] |= count == 0 ? bit : 0;
            while (count-- > 0)
                sv_cdg_remove(&w->cdg, vl, w->added[count], out[to[w->added[count]]]);
            return false;
        }
        w->added[count++] = in;
    }
    return true;
}

/* A switch takes the way that is open in the most VLs, to somebody of a length. */
static bool settle_open(sv__weave *w, uint32_t s, uint32_t length)
{
    const sv_core *core = &w->core;
    uint32_t best = SV_NONE;
    uint64_t min = UINT64_MAX;
    for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
        if (w->tree.length[core->entries[k].from] != length)
            continue;
        sv_vl_mask vls = sv__weave_vls(w, core->back[k]);
        bool open = (vls & w->want[s]) != 0;
        uint64_t closed = (uint64_t)(SV_CDG_MAX_VLS - __builtin_popcountll(vls));
        uint64_t key = closed << 56 | sv__weave_key(w, core->back[k]);
        if (open && key < min) {
            min = key;
            best = core->back[k];
        }
    }
    if (best != SV_NONE)
        sv__wtree_settle(w, s, best, sv__weave_vls(w, best));
    return best != SV_NONE;
}

/* Whether all turns from an entry on are in a VL or agree with its order. */
static bool agrees(const sv__weave *w, unsigned vl, uint32_t first)
{
    const uint32_t *to = w->core.to, *out = w->tree.out, *place = w->cdg.vl[vl].place;
    for (uint32_t in = first; out[to[in]] != SV_NONE; in = out[to[in]])
        if (!(w->cdg.vls[sv_cdg_turn(&w->cdg, in, out[to[in]])] >> vl & 1) &&
            place[in] >= place[out[to[in]]])
            return false;
    return true;
}

/* It takes the first way to somebody of a length that agrees with a VL's order. */
static bool settle_agreeing(sv__weave *w, uint32_t s, uint32_t length)
{
    const sv_core *core = &w->core;
    for (unsigned l = 0; l < w->cdg.num_vls; l++)
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
            if (w->tree.length[core->neighbour[k]] == length && agrees(w, l, core->back[k])) {
                add_path(w, l, core->back[k]);
                sv__wtree_settle(w, s, core->back[k], (sv_vl_mask)1 << l);
                return true;
            }
    return false;
}

/* It takes the first way to somebody of a length that a VL takes. */
static bool settle_added(sv__weave *w, uint32_t s, uint32_t length)
{
    const sv_core *core = &w->core;
    if (w->start[0] != NULL && settle_agreeing(w, s, length))
        return true;
    for (unsigned l = 0; l < sv__weave_num_vls(w); l++)
        for (uint32_t k = core->first[s];
             w->tree.open[w->tree.home] >> l & 1 && k < core->first[s + 1]; k++)
            if (w->tree.length[core->entries[k].from] == length && add_path(w, l, core->back[k])) {
                sv__wtree_settle(w, s, core->back[k], sv__weave_vls(w, core->back[k]));
                return true;
            }
    return false;
}

/* A VL more, for the first way to somebody of a length. */
static sv_status settle_in_new_vl(sv__weave *w, uint32_t s, uint32_t length)
{
    const sv_core *core = &w->core;
    sv_status status = sv_cdg_add_vl(&w->cdg, NULL);
    if (status == SV_INFEASIBLE)
        return sv_fail(w->job->ctx, status, "%s needs more than %d VLs", w->name, SV_CDG_MAX_VLS);
    SV_TRY(status);
    w->tree.open[w->tree.home] |= (sv_vl_mask)1 << (w->cdg.num_vls - 1);
    for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
        if (w->tree.length[core->entries[k].from] == length) {
            add_path(w, w->cdg.num_vls - 1, core->back[k]); /* alone there: it fits */
            sv__wtree_settle(w, s, core->back[k], (sv_vl_mask)1 << (w->cdg.num_vls - 1));
            return SV_OK;
        }
    return SV_OK;
}

/* Who must have an open path to a home: whoever counts, and whom their shortest paths go through.
 */
static void find_needed(sv__weave *w, const sv__dag *dag)
{
    bool home = w->core.terminals[dag->order[0]] > 0;
    for (uint32_t i = 0; i < dag->count; i++)
        w->needed[dag->order[i]] = home || w->core.terminals[dag->order[i]] > 0;
    for (uint32_t i = dag->count; i-- > 1;)
        if (w->needed[dag->order[i]])
            for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++)
                w->needed[w->core.neighbour[sv__dag_cable(&w->core, dag, dag->order[i], k)]] = true;
}

/* Shortest ways, in the order of distance. *waiting: how many are left, listed in pending. */
static sv_status lay_shortest(sv__weave *w, const sv__dag *dag, uint32_t *waiting)
{
    *waiting = 0;
    for (uint32_t i = 1; i < dag->count; i++) {
        uint32_t s = dag->order[i], length = SV_NONE;
        for (uint32_t k = dag->first[i]; k < dag->first[i + 1]; k++) {
            uint32_t next = w->core.neighbour[sv__dag_cable(&w->core, dag, s, k)];
            length = w->tree.length[next] < length ? w->tree.length[next] : length;
        }
        if (length != SV_NONE &&
            (settle_open(w, s, length) || (w->needed[s] && settle_added(w, s, length))))
            continue;
        if (w->needed[s] && !w->detours)
            SV_TRY(settle_in_new_vl(w, s, length));
        else
            w->pending[(*waiting)++] = s;
    }
    return SV_OK;
}

/* Those who wait, ring by ring; returns how many still do. */
static uint32_t settle_rings(sv__weave *w, uint32_t waiting, bool add)
{
    const sv__wtree *t = &w->tree;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < t->count; i++)
        longest = t->length[t->order[i]] > longest ? t->length[t->order[i]] : longest;
    for (uint32_t length = 0; length <= longest && waiting > 0; length++) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < waiting; i++) {
            uint32_t s = w->pending[i];
            if (settle_open(w, s, length) || (add && settle_added(w, s, length)))
                longest = length + 1 > longest ? length + 1 : longest;
            else
                w->pending[left++] = s;
        }
        waiting = left;
    }
    return waiting;
}

/* A neighbour goes over to a way with which all behind it stay open, and s opens. */
static bool backtrack(sv__weave *w, uint32_t s)
{
    const sv_core *core = &w->core;
    const sv__wtree *t = &w->tree;
    uint32_t best_in = SV_NONE, best_out = SV_NONE, shortest = SV_NONE;
    for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
        uint32_t u = core->entries[k].from, in = core->back[k];
        if (t->length[u] == SV_NONE || u == t->home)
            continue;
        for (uint32_t j = core->first[u]; j < core->first[u + 1]; j++) {
            uint32_t length = t->length[core->entries[j].from], out = core->back[j];
            if (length > t->length[u] || length >= shortest || out == t->out[u])
                continue;
            sv_vl_mask vls = sv__weave_vls(w, out);
            if ((sv__weave_pass(w, vls, sv_cdg_turn(&w->cdg, in, out)) & w->want[s]) != 0 &&
                sv__wtree_move(w, u, out, vls, false)) {
                best_in = in;
                best_out = out;
                shortest = length;
            }
        }
    }
    if (best_in == SV_NONE)
        return false;
    sv__wtree_move(w, core->to[best_in], best_out, sv__weave_vls(w, best_out), true);
    sv__wtree_settle(w, s, best_in, sv__weave_vls(w, best_in));
    sv__wtree_sort(w);
    sv__wtree_children(w);
    return true;
}

/* All that waits gets a path, somehow; returns how many do not. */
static uint32_t settle_waiting(sv__weave *w, uint32_t waiting)
{
    waiting = settle_rings(w, waiting, false);
    waiting = settle_rings(w, waiting, true);
    for (bool moved = true; moved && waiting > 0;) {
        uint32_t left = 0;
        sv__wtree_sort(w);
        sv__wtree_children(w);
        for (uint32_t i = 0; i < waiting; i++)
            if (!backtrack(w, w->pending[i]))
                w->pending[left++] = w->pending[i];
        moved = left < waiting;
        waiting = moved ? settle_rings(w, left, true) : left;
    }
    return waiting;
}

/* Along the spanning tree. */
static void use_spanning(sv__weave *w, uint32_t home)
{
    const sv_core *core = &w->core;
    sv__wtree_begin(w, home);
    for (uint32_t i = 0; i < w->tree.count; i++) {
        uint32_t u = w->tree.order[i];
        for (uint32_t e = core->first[u]; e < core->first[u + 1]; e++)
            if (w->spanning[e] && w->tree.length[core->entries[e].from] == SV_NONE)
                sv__wtree_settle(w, core->entries[e].from, e, sv__weave_vls(w, e));
    }
}

void sv__wtree_keep(sv__weave *w)
{
    const sv__wtree *t = &w->tree;
    uint8_t *laid = w->laid + (size_t)t->home * w->core.num_switches;
    memset(laid, SV__NO_CABLE, w->core.num_switches);
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t s = t->order[i];
        laid[s] = (uint8_t)(w->core.back[t->out[s]] - w->core.first[s]);
    }
}

/* How many of those who wait must not. */
static uint32_t count_needed(const sv__weave *w, uint32_t waiting)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < waiting; i++)
        count += w->needed[w->pending[i]];
    return count;
}

static sv_status lay_one(sv__weave *w, uint32_t home)
{
    const sv__dag *dag = sv__dag_to(&w->dags, home);
    uint32_t waiting;
    if (dag == NULL)
        return SV_NO_MEMORY;
    w->play = sv__weave_home_vls(w, home);
    sv__wtree_begin(w, home);
    find_needed(w, dag);
    SV_TRY(lay_shortest(w, dag, &waiting));
    if (w->detours && count_needed(w, waiting) > 0) {
        waiting = settle_waiting(w, waiting);
        w->stranded += w->spanning == NULL ? count_needed(w, waiting) : 0;
        if (count_needed(w, waiting) > 0 && w->spanning != NULL) {
            use_spanning(w, home);
            w->fallbacks++;
        }
    }
    sv__wtree_keep(w);
    sv__wtree_sort(w);
    sv__wtree_weigh(w, sv__lots(w->job, home));
    return SV_OK;
}

sv_status sv__weave_lay_rest(sv__weave *w, uint32_t home)
{
    const sv__dag *dag = sv__dag_to(&w->dags, home);
    uint32_t waiting = 0;
    if (dag == NULL)
        return SV_NO_MEMORY;
    w->play = sv__weave_home_vls(w, home);
    sv__wtree_use_laid(w, home);
    if (w->tree.count == dag->count)
        return SV_OK;
    for (uint32_t i = 1; i < dag->count; i++)
        if (w->tree.length[dag->order[i]] == SV_NONE)
            w->pending[waiting++] = dag->order[i];
    if (w->detours || w->spare_detours)
        waiting = settle_waiting(w, waiting);
    if (waiting > 0 && w->spanning != NULL) {
        use_spanning(w, home);
        sv__wtree_keep(w);
        return SV_OK;
    }
    for (uint32_t i = 0; i < waiting; i++) { /* in the order of distance: a next is there */
        uint32_t s = w->pending[i], length = SV_NONE;
        for (uint32_t k = w->core.first[s]; k < w->core.first[s + 1]; k++)
            if (w->tree.length[w->core.entries[k].from] < length)
                length = w->tree.length[w->core.entries[k].from];
        if (settle_open(w, s, length) || settle_added(w, s, length))
            continue;
        for (uint32_t k = w->core.first[s]; w->tree.length[s] == SV_NONE; k++)
            if (w->tree.length[w->core.entries[k].from] == length)
                sv__wtree_settle(w, s, w->core.back[k], 0);
        w->stranded += w->spare_detours;
    }
    sv__wtree_keep(w);
    return SV_OK;
}

sv_status sv__weave_rescue(sv__weave *w)
{
    SV_TRY(sv__weave_seed_vl(w, (sv__weave_plan){SV__SEED_FIRST, 0, true}, NULL));
    for (uint32_t home = 0; home < w->core.num_switches; home++) {
        if (!sv_node_alive(w->job->fabric, (sv_node){home}))
            continue;
        bool closed = false;
        sv__wtree_use_laid(w, home);
        for (uint32_t i = 1; i < w->tree.count; i++)
            closed = closed || w->tree.open[w->tree.order[i]] == 0;
        if (closed) {
            use_spanning(w, home);
            sv__wtree_keep(w);
        }
    }
    w->stranded = 0;
    return SV_OK;
}

sv_status sv__weave_lay(sv__weave *w, const uint32_t *homes)
{
    uint32_t n = w->core.num_switches;
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t home = homes[i % n];
        if (i % 16 == 0)
            SV_TRY(sv_progress(w->job->ctx, "vls", i, 2 * (uint64_t)n));
        if (sv_node_alive(w->job->fabric, (sv_node){home}))
            SV_TRY(i < n ? lay_one(w, home) : sv__weave_lay_rest(w, home));
    }
    return SV_OK;
}

/* The order that a VL begins with, or NULL. */
static const uint32_t *first_order(const sv__weave *w, unsigned vl, const uint32_t *start)
{
    if (vl < 2 && w->start[vl] != NULL)
        return w->start[vl];
    return vl == 0 ? start : NULL;
}

sv_status sv__weave_vls_begin(sv__weave *w, unsigned vls, sv__weave_plan plan)
{
    const uint32_t *start = sv_core_inside_out(&w->core, w->job->arena);
    if (start == NULL)
        return SV_NO_MEMORY;
    sv_cdg_clear(&w->cdg);
    if (w->turns != NULL)
        SV_TRY(sv__turns_clear(w, vls / SV__PAIR, start));
    memset(w->closed, 0, w->cdg.num_turns * sizeof *w->closed);
    memset(w->laid, SV__NO_CABLE, (size_t)w->core.num_switches * w->core.num_switches);
    w->spanning = NULL;
    w->fallbacks = w->stranded = 0;
    sv__weave_clear(w);
    unsigned ordered = w->detours ? vls - 1 : w->start[1] != NULL ? 2 : 1;
    for (unsigned l = 0; w->turns == NULL && l < ordered; l++)
        SV_TRY(w->by_destination ? sv__weave_seed_vl(w, plan, NULL)
                                 : sv_cdg_add_vl(&w->cdg, first_order(w, l, start)));
    return w->detours ? sv__weave_seed_vl(w, plan, vls > 1 ? NULL : start) : SV_OK;
}
