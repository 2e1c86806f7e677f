/*
 * plan.c: how to bring new tables into the switches.
 *
 * A block of 64 LIDs of a switch is what one datagram sets. If all mixtures of old and new entries
 * are safe, blocks may be set in any order. If not, then in steps, by two rules (below), or one of
 * them. In a block the paths to its 64 destinations are asked for together; blocks of different
 * LIDs have nothing to do with each other. Each step is then judged as a change by itself, with old
 * and new SLs.
 *
 * If some mixture is unsafe only because packets have their old SLs, pairs whose SL changes are
 * listed: they must be quiet until all is done. If nothing helps, all pairs are listed whose
 * packets meet an entry that changes.
 *
 * Judged by verify/ alone: by orders where old and new tables keep to the same, else by a search
 * for cycles in the union.
 *
 * Cost: O(switches) for each destination that changes and each step; without common orders as
 * sv_verify_transition for each step.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "fabric/store.h"
#include "repair/repair.h"

enum { MOST_STEPS = 64, MOST_STEPS_BY_SEARCH = 16 };

struct unit {
    uint32_t s, block, level, group; /* group: the first of its destinations in the list */
};

struct plan {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv__carried *c;
    const sv_fabric *f;
    const sv_routes *before, *made;
    sv_traffic traffic;
    const uint64_t *changed;
    uint64_t *unsafe;     /* of those, in some mixture */
    uint64_t *sls_change; /* of those, whose SLs change */
    uint64_t *at_level;
    size_t words; /* of such a set */
    bool by_orders;
    sv_repair_report *report;
    uint64_t *list; /* destinations that change: block and number, sorted */
    uint32_t count;
    struct unit *units;
    uint64_t num_units;
    uint32_t *unit_of;         /* [switches]: in the block at hand */
    uint32_t *earlier, *later; /* pairs of units: one before the other */
    unsigned rules;
    uint32_t levels;
};

/*
 * When a switch may have its new entry: after those that change on its new path, so that whoever
 * meets a new entry meets only new ones behind it; and before those that change on its old path, so
 * that nobody is led on by them whom they are not for.
 */
enum { NEW_PATH_FIRST = 1, OLD_PATH_LAST = 2 };

/* ---- judging ---- */

/*
 * Which destinations of a set are not safe while tables go from a to b. Where there are common
 * orders each destination is judged by itself; else all of them are unsafe if one is.
 */
static sv_status judge(const struct plan *p, const sv_routes *a, const sv_routes *b, bool quiet,
                       const uint64_t *only, uint64_t *unsafe, sv_ascent *found)
{
    if (p->by_orders)
        return sv_verify_ascent(p->ctx, p->f, a, b, p->traffic, only, quiet, unsafe, found);
    sv_transition *t = NULL;
    bool safe = false;
    if (!quiet) {
        SV_TRY(sv_verify_transition(p->ctx, p->f, a, b, p->traffic, &t));
        safe = t->looping == 0 && t->dead_ends == t->broken && !t->discards &&
               t->deadlock_free == SV_VERDICT_YES;
    }
    sv_transition_free(t);
    for (size_t i = 0; !safe && i < p->words; i++)
        unsafe[i] |= only[i];
    return SV_OK;
}

static bool is_empty(const struct plan *p, const uint64_t *set)
{
    for (size_t i = 0; i < p->words; i++)
        if (set[i] != 0)
            return false;
    return true;
}

/* Whether the new tables by themselves are right; where all mixtures are, they are one of them. */
static sv_status judge_new(const struct plan *p, uint64_t *scratch)
{
    sv_ascent found;
    if (!p->by_orders)
        return SV_OK;
    SV_TRY(judge(p, p->made, p->made, false, p->unsafe, scratch, &found));
    if (is_empty(p, scratch))
        return SV_OK;
    return sv_fail(p->ctx, SV_INFEASIBLE,
                   "the repaired tables do not hold: %llu descents, %llu loops (please report "
                   "this)",
                   (unsigned long long)found.descents, (unsigned long long)found.looping);
}

/* ---- units ---- */

static bool differs(const struct plan *p, uint32_t d, uint32_t s)
{
    return p->before->ports[d][s] != p->made->ports[d][s] && sv_node_alive(p->f, (sv_node){s});
}

/* The first live switch from one on whose entry changes; their number: none. */
static uint32_t next_differing(const struct plan *p, uint32_t d, uint32_t s)
{
    uint32_t n = p->f->num_switches;
    do
        s = sv__rows_differ(p->before->ports[d], p->made->ports[d], s, n);
    while (s < n && !sv_node_alive(p->f, (sv_node){s}) && ++s < n);
    return s;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static sv_status list_destinations(struct plan *p)
{
    uint64_t entries = 0;
    p->list = SV_ARENA_NEW(p->arena, uint64_t, p->made->num_destinations);
    p->units = SV_ARENA_NEW(p->arena, struct unit, p->report->blocks);
    p->unit_of = SV_ARENA_NEW(p->arena, uint32_t, p->f->num_switches);
    if (p->list == NULL || p->units == NULL || p->unit_of == NULL)
        return SV_NO_MEMORY;
    memset(p->unit_of, 0xff, p->f->num_switches * sizeof *p->unit_of);
    for (uint32_t d = 0; d < p->made->num_destinations; d++)
        if (sv_bit(p->changed, d) && p->before->ports[d] != p->made->ports[d])
            p->list[p->count++] = (uint64_t)sv__routes_block(p->made, d) << 32 | d;
    qsort(p->list, p->count, sizeof *p->list, ascending);
    for (uint32_t i = 0; i < p->count; i++) {
        entries = i > 0 && p->list[i] >> 32 == p->list[i - 1] >> 32 ? entries : 0;
        for (uint32_t s = 0, d = (uint32_t)p->list[i];
             (s = next_differing(p, d, s)) < p->f->num_switches; s++)
            entries++;
        if (entries > p->levels)
            p->levels = (uint32_t)entries; /* for the moment: the most in a block */
    }
    p->earlier = SV_ARENA_NEW(p->arena, uint32_t, 2 * (size_t)p->levels);
    p->later = SV_ARENA_NEW(p->arena, uint32_t, 2 * (size_t)p->levels);
    p->levels = 0;
    return p->earlier == NULL || p->later == NULL ? SV_NO_MEMORY : SV_OK;
}

/* The next switch on a path behind s that changes; SV_NONE: none. */
static uint32_t next_changed(const struct plan *p, const sv_routes *r, uint32_t d, uint32_t s)
{
    const sv_portmap *ports = &p->c->ports;
    for (uint32_t hops = 0; hops < p->f->num_switches; hops++) {
        const sv_place *place = sv_portmap_place(ports, s, r->ports[d][s]);
        if (place->channel == SV_NONE || place->end >> 8 >= p->f->num_switches)
            return SV_NONE;
        s = place->end >> 8;
        if (differs(p, d, s))
            return s;
    }
    return SV_NONE;
}

/* Levels of the units of one block, from unit first on; false: they wait for each other. */
static bool level_block(struct plan *p, uint64_t first, uint32_t edges)
{
    uint64_t count = p->num_units - first;
    bool news = true;
    for (uint64_t round = 0; news && round <= count; round++) {
        news = false;
        for (uint32_t i = 0; i < edges; i++) {
            struct unit *a = &p->units[p->earlier[i]], *b = &p->units[p->later[i]];
            if (b->level <= a->level) {
                b->level = a->level + 1;
                news = true;
            }
        }
    }
    return !news;
}

/* Who has to wait for whom, for one destination and switch. */
static uint32_t add_edges(struct plan *p, uint32_t d, uint32_t u, uint32_t edges)
{
    uint32_t s = p->units[u].s, to;
    if (!sv_bit(p->unsafe, d) || !differs(p, d, s))
        return edges;
    if (p->rules & NEW_PATH_FIRST && (to = next_changed(p, p->made, d, s)) != SV_NONE) {
        p->earlier[edges] = p->unit_of[to];
        p->later[edges++] = u;
    }
    if (p->rules & OLD_PATH_LAST && (to = next_changed(p, p->before, d, s)) != SV_NONE) {
        p->earlier[edges] = u;
        p->later[edges++] = p->unit_of[to];
    }
    return edges;
}

/* All units of the block whose destinations are list[begin] … list[end - 1]. */
static bool plan_block(struct plan *p, uint32_t begin, uint32_t end)
{
    uint64_t first = p->num_units;
    uint32_t edges = 0;
    for (uint32_t i = begin; i < end; i++)
        for (uint32_t s = 0, d = (uint32_t)p->list[i];
             (s = next_differing(p, d, s)) < p->f->num_switches; s++)
            if (p->unit_of[s] == SV_NONE) {
                p->unit_of[s] = (uint32_t)p->num_units;
                p->units[p->num_units++] = (struct unit){s, (uint32_t)(p->list[i] >> 32), 0, begin};
            }
    for (uint32_t i = begin; i < end; i++)
        for (uint64_t u = first; u < p->num_units; u++)
            edges = add_edges(p, (uint32_t)p->list[i], (uint32_t)u, edges);
    bool good = level_block(p, first, edges);
    for (uint64_t u = first; u < p->num_units; u++) {
        p->unit_of[p->units[u].s] = SV_NONE;
        p->levels = p->units[u].level >= p->levels ? p->units[u].level + 1 : p->levels;
    }
    return good;
}

/* Levels for all blocks by some rules; false: there are none. */
static bool plan_blocks(struct plan *p, unsigned rules)
{
    bool good = true;
    p->rules = rules;
    p->num_units = 0;
    p->levels = 0;
    for (uint32_t begin = 0, end; begin < p->count; begin = end) {
        for (end = begin; end < p->count && p->list[end] >> 32 == p->list[begin] >> 32;)
            end++;
        good &= plan_block(p, begin, end);
    }
    return good;
}

/* ---- steps ---- */

/* Puts the new entries of a level into tables. */
static sv_status apply(const struct plan *p, sv_routes *tables, uint32_t level)
{
    for (uint64_t u = 0; u < p->num_units; u++) {
        const struct unit *unit = &p->units[u];
        for (uint32_t i = unit->group;
             unit->level == level && i < p->count && p->list[i] >> 32 == unit->block; i++) {
            uint32_t d = (uint32_t)p->list[i];
            if (!differs(p, d, unit->s))
                continue;
            uint8_t *row = sv_routes_row(p->ctx, tables, d);
            if (row == NULL)
                return SV_NO_MEMORY;
            row[unit->s] = p->made->ports[d][unit->s];
        }
    }
    return SV_OK;
}

/* Destinations among the unsafe that change at a level, or whose SLs change. */
static void list_level(const struct plan *p, uint32_t level, uint64_t *set)
{
    memset(set, 0, p->words * sizeof *set);
    for (uint64_t u = 0; u < p->num_units; u++)
        for (uint32_t i = p->units[u].group;
             p->units[u].level == level && i < p->count && p->list[i] >> 32 == p->units[u].block;
             i++)
            if (differs(p, (uint32_t)p->list[i], p->units[u].s))
                sv_bit_set(set, (uint32_t)p->list[i]);
    for (size_t i = 0; i < p->words; i++)
        set[i] = (set[i] | p->sls_change[i]) & p->unsafe[i];
}

/* One step: from tables at a level to those at the next, with old and new SLs. */
static sv_status judge_step(const struct plan *p, const sv_routes *now, sv_routes **then,
                            uint32_t level, bool quiet, uint64_t *unsafe)
{
    sv_routes *with_sls = NULL;
    sv_ascent found;
    SV_TRY(sv_routes_clone(p->ctx, now, then));
    sv_status status = apply(p, *then, level);
    if (status == SV_OK)
        status = sv_routes_clone(p->ctx, p->made, &with_sls);
    if (status == SV_OK) {
        /* Borrowed for a while: with_sls goes before *then does, and is not written to. */
        memcpy(with_sls->ports, (*then)->ports,
               p->made->num_destinations * sizeof *with_sls->ports);
        list_level(p, level, p->at_level);
        status = judge(p, now, with_sls, quiet, p->at_level, unsafe, &found);
    }
    sv_routes_free(with_sls);
    return status;
}

/* unsafe: gets the destinations that are so in some step. */
static sv_status judge_steps(const struct plan *p, bool quiet, uint64_t *unsafe)
{
    memset(unsafe, 0, p->words * sizeof *unsafe);
    if (p->levels < 2 || p->levels > (p->by_orders ? MOST_STEPS : MOST_STEPS_BY_SEARCH)) {
        memcpy(unsafe, p->unsafe, p->words * sizeof *unsafe);
        return SV_OK;
    }
    sv_routes *now = NULL;
    SV_TRY(sv_routes_clone(p->ctx, p->before, &now));
    sv_status status = SV_OK;
    for (uint32_t level = 0; status == SV_OK && level < p->levels; level++) {
        sv_routes *then = NULL;
        status = judge_step(p, now, &then, level, quiet, unsafe);
        sv_routes_free(now);
        now = then;
    }
    sv_routes_free(now);
    return status;
}

/* ---- pairs ---- */

static bool sl_differs(const struct plan *p, uint32_t d, sv_node v)
{
    unsigned was = sv_route_sl(p->before, v, d);
    return was != SV_NO_SL && was != sv_route_sl(p->made, v, d);
}

/* Marks switches whose old path meets an entry that changes. */
static void mark_crossing(const struct plan *p, uint32_t d, uint8_t *mark, uint32_t *stack)
{
    enum { UNSEEN, NO, YES };
    memset(mark, UNSEEN, p->f->num_switches);
    for (uint32_t s = 0; s < p->f->num_switches; s++) {
        uint32_t depth = 0, at = s, end = NO;
        while (mark[at] == UNSEEN) {
            mark[at] = NO;
            stack[depth++] = at;
            const sv_place *place = sv_portmap_place(&p->c->ports, at, p->before->ports[d][at]);
            if (differs(p, d, at) || place->channel == SV_NONE ||
                place->end >> 8 >= p->f->num_switches) {
                end = differs(p, d, at) ? YES : NO;
                break;
            }
            at = place->end >> 8;
            end = mark[at] == YES ? YES : NO;
        }
        while (depth > 0)
            mark[stack[--depth]] = (uint8_t)end;
    }
    for (uint32_t s = 0; s < p->f->num_switches; s++)
        mark[s] = mark[s] == YES;
}

/* Whether a pair is listed. crossing: NULL, or marks. */
static bool is_listed(const struct plan *p, uint32_t d, uint32_t v, const uint8_t *crossing)
{
    sv_node node = {v}, to = p->made->node[d];
    if (!sv_node_alive(p->f, node) || v == to.i)
        return false;
    bool by_node = p->before->sl_form == SV_SL_BY_NODE || p->made->sl_form == SV_SL_BY_NODE;
    if (v >= p->f->num_switches)
        return by_node && sl_differs(p, d, node);
    return sl_differs(p, d, node) || (crossing != NULL && crossing[v]);
}

/* Lists pairs, or only counts them. */
static uint64_t list_pairs(const struct plan *p, uint8_t *marks, uint32_t *stack, sv_repath *pairs)
{
    uint64_t count = 0;
    for (uint32_t d = 0; d < p->made->num_destinations; d++) {
        if (!sv_bit(p->unsafe, d) || !sv_node_alive(p->f, p->made->node[d]))
            continue;
        if (marks != NULL)
            mark_crossing(p, d, marks, stack);
        for (uint32_t v = 0; v < sv_num_nodes(p->f); v++) {
            if (!is_listed(p, d, v, marks))
                continue;
            if (pairs != NULL)
                pairs[count] = (sv_repath){{v}, d};
            count++;
        }
    }
    return count;
}

static sv_status keep_pairs(const struct plan *p, bool all)
{
    sv_repair_report *r = p->report;
    uint8_t *marks = all ? SV_ARENA_NEW(p->arena, uint8_t, p->f->num_switches) : NULL;
    uint32_t *stack = SV_ARENA_NEW(p->arena, uint32_t, p->f->num_switches);
    if (stack == NULL || (all && marks == NULL))
        return SV_NO_MEMORY;
    uint64_t count = list_pairs(p, marks, stack, NULL);
    r->pairs = SV_STORE_NEW(r->store, p->ctx, sv_repath, count + 1);
    if (r->pairs == NULL)
        return SV_NO_MEMORY;
    r->num_pairs = list_pairs(p, marks, stack, r->pairs);
    return SV_OK;
}

/* ---- the plan ---- */

/* The blocks by step. */
static sv_status keep_blocks(const struct plan *p)
{
    sv_repair_report *r = p->report;
    uint64_t count = 0;
    r->block = SV_STORE_NEW(r->store, p->ctx, sv_repair_block, p->num_units + 1);
    if (r->block == NULL)
        return SV_NO_MEMORY;
    bool steps = r->steps > 1;
    for (uint32_t level = 0; level < (steps ? r->steps : 1); level++)
        for (uint64_t u = 0; u < p->num_units; u++)
            if (!steps || p->units[u].level == level)
                r->block[count++] = (sv_repair_block){{p->units[u].s}, p->units[u].block, level};
    return SV_OK;
}

/* Looks for steps by one set of rules after the other. left: what is unsafe even so. */
static sv_status find_steps(struct plan *p, bool quiet, uint64_t *left, bool *safe)
{
    static const unsigned rules[] = {NEW_PATH_FIRST | OLD_PATH_LAST, NEW_PATH_FIRST, OLD_PATH_LAST};
    *safe = false;
    for (int i = 0; i < 3 && !*safe; i++) {
        if (!plan_blocks(p, rules[i]))
            continue;
        SV_TRY(judge_steps(p, quiet, left));
        *safe = is_empty(p, left);
        p->report->steps = p->levels;
    }
    return SV_OK;
}

static bool may_change_sls(const struct plan *p, uint32_t d)
{
    const sv_routes *a = p->before, *b = p->made;
    if (a->sl_form != b->sl_form)
        return true;
    if (a->sl_form == SV_SL_BY_SWITCH || a->sl_form == SV_SL_BY_NODE)
        return a->sls[d] != b->sls[d];
    return sv_route_sl(a, a->node[d], d) != sv_route_sl(b, b->node[d], d);
}

static sv_status make_sets(struct plan *p, uint64_t **left)
{
    uint32_t n = p->made->num_destinations;
    p->words = sv_bitset_words(n);
    p->unsafe = sv_bitset_new(p->arena, n);
    p->sls_change = sv_bitset_new(p->arena, n);
    p->at_level = sv_bitset_new(p->arena, n);
    *left = sv_bitset_new(p->arena, n);
    if (p->unsafe == NULL || p->sls_change == NULL || p->at_level == NULL || *left == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < n; d++)
        if (sv_bit(p->changed, d) && may_change_sls(p, d))
            sv_bit_set(p->sls_change, d);
    return SV_OK;
}

static sv_status decide(struct plan *p)
{
    sv_repair_report *r = p->report;
    uint64_t *left;
    bool safe;
    SV_TRY(make_sets(p, &left));
    SV_TRY(list_destinations(p));
    plan_blocks(p, 0);
    SV_TRY(judge(p, p->before, p->made, false, p->changed, p->unsafe, &r->followed));
    r->lost = r->followed.lost;
    r->safety = SV_SAFE_ANYHOW;
    r->steps = 1;
    if (is_empty(p, p->unsafe))
        return SV_OK;
    SV_TRY(judge_new(p, left));
    r->safety = SV_SAFE_STEPS;
    SV_TRY(find_steps(p, false, left, &safe));
    if (safe)
        return SV_OK;
    memset(left, 0, p->words * sizeof *left);
    r->safety = SV_SAFE_QUIET;
    r->steps = 1;
    SV_TRY(judge(p, p->before, p->made, true, p->unsafe, left, &(sv_ascent){0}));
    safe = is_empty(p, left);
    if (!safe)
        SV_TRY(find_steps(p, true, left, &safe));
    if (safe)
        return keep_pairs(p, false);
    r->safety = SV_SAFE_NEVER;
    r->steps = 0;
    return keep_pairs(p, true);
}

sv_status sv__plan(const sv__carried *c, const sv_routes *made, const sv_repair_request *request,
                   const uint64_t *changed, sv_repair_report *report)
{
    struct plan p = {.ctx = c->ctx,
                     .arena = c->arena,
                     .c = c,
                     .f = c->f,
                     .before = c->before,
                     .made = made,
                     .traffic = request->traffic,
                     .changed = changed,
                     .by_orders = !report->full,
                     .report = report};
    SV_TRY(decide(&p));
    return keep_blocks(&p);
}
