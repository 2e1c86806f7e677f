/*
 * plan.c: how to bring new tables into the switches.
 *
 * If all mixtures of old and new entries are safe, they may be set in any order. If not, then in
 * steps, by two rules (below) or one of them, whichever each step is judged safe with as a change
 * by itself, for old and new SLs. Where old and new tables keep to the same orders, destinations
 * have nothing to do with each other: each gets steps by itself, and only if it needs them.
 *
 * If some mixture is unsafe only because packets have their old SLs, pairs whose SL changes are
 * listed: they must be quiet until all is done. If nothing helps, all pairs are listed whose
 * packets meet an entry that changes.
 *
 * Judged by verify/ alone: by orders where old and new tables keep to the same, else by a search
 * for cycles in the union, for all destinations together.
 *
 * Cost: O(switches) for each destination that changes and each step; without common orders as
 * sv_verify_transition for each step.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "repair/repair.h"

enum {
    MAX_STEPS = 64,
    MAX_STEPS_BY_SEARCH = 16,
    MAX_ENTRIES_BY_SEARCH = 1 << 22,
    MAX_PAIRS = 1 << 24
};

/* An entry that changes, and in which step. */
struct entry {
    uint32_t d, s, level;
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
    uint64_t *at_level, *left;
    size_t words; /* of such a set */
    bool by_orders;
    sv_repair_report *report;
    struct entry *entries; /* by destination */
    uint64_t num_entries;
    uint32_t *entry_of;        /* [switches]: among those of the destination at hand */
    uint32_t *earlier, *later; /* pairs of them: one before the other */
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
        safe = sv_transition_safe(t);
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

/* ---- entries ---- */

static bool differs(const struct plan *p, uint32_t d, uint32_t s)
{
    return p->before->ports[d][s] != p->made->ports[d][s] && sv_node_alive(p->f, (sv_node){s});
}

static sv_status list_entries(struct plan *p)
{
    uint32_t n = p->f->num_switches;
    if (!p->by_orders && p->report->entries > MAX_ENTRIES_BY_SEARCH)
        return SV_OK;
    p->entries = SV_ARENA_NEW(p->arena, struct entry, p->report->entries);
    p->entry_of = SV_ARENA_NEW(p->arena, uint32_t, n);
    p->earlier = SV_ARENA_NEW(p->arena, uint32_t, 2 * (size_t)n);
    p->later = SV_ARENA_NEW(p->arena, uint32_t, 2 * (size_t)n);
    if (p->entries == NULL || p->entry_of == NULL || p->earlier == NULL || p->later == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < p->made->num_destinations; d++) {
        const uint8_t *was = p->before->ports[d], *is = p->made->ports[d];
        if (!sv_bit(p->changed, d) || was == is)
            continue;
        for (uint32_t s = 0; (s = sv__rows_differ(was, is, s, n)) < n; s++)
            if (sv_node_alive(p->f, (sv_node){s}))
                p->entries[p->num_entries++] = (struct entry){d, s, 0};
    }
    return SV_OK;
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

/* Who has to wait for whom among the entries of one destination; returns how many pairs. */
static uint32_t list_waiting(const struct plan *p, const struct entry *e, uint32_t count,
                             unsigned rules)
{
    uint32_t pairs = 0, to;
    for (uint32_t i = 0; i < count; i++) {
        if (rules & NEW_PATH_FIRST && (to = next_changed(p, p->made, e->d, e[i].s)) != SV_NONE) {
            p->earlier[pairs] = p->entry_of[to];
            p->later[pairs++] = i;
        }
        if (rules & OLD_PATH_LAST && (to = next_changed(p, p->before, e->d, e[i].s)) != SV_NONE) {
            p->earlier[pairs] = i;
            p->later[pairs++] = p->entry_of[to];
        }
    }
    return pairs;
}

/* Levels for the entries of one destination; false: they wait for each other. */
static bool level(const struct plan *p, struct entry *e, uint32_t count, unsigned rules)
{
    for (uint32_t i = 0; i < count; i++) {
        p->entry_of[e[i].s] = i;
        e[i].level = 0;
    }
    uint32_t pairs = list_waiting(p, e, count, rules);
    bool news = true;
    for (uint32_t round = 0; news && round <= count; round++) {
        news = false;
        for (uint32_t i = 0; i < pairs; i++) {
            const struct entry *a = &e[p->earlier[i]];
            struct entry *b = &e[p->later[i]];
            if (b->level <= a->level) {
                b->level = a->level + 1;
                news = true;
            }
        }
    }
    for (uint32_t i = 0; news && i < count; i++)
        e[i].level = 0;
    return !news;
}

/* How many entries from one on are of the same destination. */
static uint32_t of_destination(const struct plan *p, uint64_t first)
{
    uint32_t count = 1;
    while (first + count < p->num_entries && p->entries[first + count].d == p->entries[first].d)
        count++;
    return count;
}

/* Levels for a set of destinations; those that have none by these rules are put into left. */
static void level_all(const struct plan *p, const uint64_t *set, unsigned rules, uint64_t *left)
{
    uint32_t count;
    for (uint64_t i = 0; i < p->num_entries; i += count) {
        count = of_destination(p, i);
        if (sv_bit(set, p->entries[i].d) && !level(p, &p->entries[i], count, rules))
            sv_bit_set(left, p->entries[i].d);
    }
}

static uint32_t count_levels(const struct plan *p)
{
    uint32_t levels = 1;
    for (uint64_t i = 0; i < p->num_entries; i++)
        levels = p->entries[i].level >= levels ? p->entries[i].level + 1 : levels;
    return levels;
}

/* ---- steps ---- */

/* Puts the new entries of a level into tables. */
static sv_status apply(const struct plan *p, sv_routes *tables, uint32_t at)
{
    for (uint64_t i = 0; i < p->num_entries; i++) {
        const struct entry *e = &p->entries[i];
        if (e->level != at)
            continue;
        uint8_t *row = sv_routes_row(p->ctx, tables, e->d);
        if (row == NULL)
            return SV_NO_MEMORY;
        row[e->s] = p->made->ports[e->d][e->s];
    }
    return SV_OK;
}

/* Destinations of a set that change at a level, or whose SLs change. */
static void list_level(const struct plan *p, const uint64_t *set, uint32_t at)
{
    memset(p->at_level, 0, p->words * sizeof *p->at_level);
    for (uint64_t i = 0; i < p->num_entries; i++)
        if (p->entries[i].level == at)
            sv_bit_set(p->at_level, p->entries[i].d);
    for (size_t i = 0; i < p->words; i++)
        p->at_level[i] = (p->at_level[i] | p->sls_change[i]) & set[i];
}

/* One step: from tables at a level to those at the next, with old and new SLs. */
static sv_status judge_step(const struct plan *p, const uint64_t *set, const sv_routes *now,
                            sv_routes **then, uint32_t at, bool quiet, uint64_t *unsafe)
{
    sv_routes *with_sls = NULL;
    sv_ascent found;
    SV_TRY(sv_routes_clone(p->ctx, now, then));
    sv_status status = apply(p, *then, at);
    if (status == SV_OK)
        status = sv_routes_clone(p->ctx, p->made, &with_sls);
    if (status == SV_OK) {
        /* Borrowed for a while: with_sls goes before *then does, and is not written to. */
        memcpy(with_sls->ports, (*then)->ports,
               p->made->num_destinations * sizeof *with_sls->ports);
        list_level(p, set, at);
        status = judge(p, now, with_sls, quiet, p->at_level, unsafe, &found);
    }
    sv_routes_free(with_sls);
    return status;
}

/* unsafe: gets the destinations of a set that are so in some step. */
static sv_status judge_steps(const struct plan *p, const uint64_t *set, bool quiet,
                             uint64_t *unsafe)
{
    uint32_t levels = count_levels(p), max = p->by_orders ? MAX_STEPS : MAX_STEPS_BY_SEARCH;
    if (levels < 2 || levels > max) {
        for (size_t i = 0; i < p->words; i++)
            unsafe[i] |= set[i];
        return SV_OK;
    }
    sv_routes *now = NULL;
    SV_TRY(sv_routes_clone(p->ctx, p->before, &now));
    sv_status status = SV_OK;
    for (uint32_t at = 0; status == SV_OK && at < levels; at++) {
        sv_routes *then = NULL;
        status = judge_step(p, set, now, &then, at, quiet, unsafe);
        sv_routes_free(now);
        now = then;
    }
    sv_routes_free(now);
    return status;
}

/*
 * Looks for levels with which a set of destinations is safe, by one set of rules after the other;
 * those that are stay out of the set then.
 */
static sv_status find_steps(const struct plan *p, bool quiet, uint64_t *set)
{
    static const unsigned rules[] = {NEW_PATH_FIRST | OLD_PATH_LAST, NEW_PATH_FIRST, OLD_PATH_LAST};
    for (int i = 0; i < 3 && !is_empty(p, set); i++) {
        memset(p->left, 0, p->words * sizeof *p->left);
        level_all(p, set, rules[i], p->left);
        SV_TRY(judge_steps(p, set, quiet, p->left));
        if (!p->by_orders && !is_empty(p, p->left)) /* then all of them together are not */
            continue;
        for (size_t k = 0; k < p->words; k++)
            set[k] &= p->left[k];
    }
    level_all(p, set, 0, p->left);
    return SV_OK;
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

/*
 * Lists pairs, or only counts them: those whose SL changes, and of destinations in a set all that
 * meet a change.
 */
static uint64_t list_pairs(const struct plan *p, const uint64_t *set, uint8_t *scratch,
                           uint32_t *stack, sv_repath *pairs)
{
    uint64_t count = 0;
    for (uint32_t d = 0; d < p->made->num_destinations; d++) {
        uint8_t *marks = sv_bit(set, d) ? scratch : NULL;
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

static sv_status keep_pairs(const struct plan *p, const uint64_t *set)
{
    sv_repair_report *r = p->report;
    uint8_t *marks = SV_ARENA_NEW(p->arena, uint8_t, p->f->num_switches);
    uint32_t *stack = SV_ARENA_NEW(p->arena, uint32_t, p->f->num_switches);
    if (stack == NULL || marks == NULL)
        return SV_NO_MEMORY;
    uint64_t count = list_pairs(p, set, marks, stack, NULL);
    r->num_pairs = count;
    if (count > MAX_PAIRS)
        return SV_OK;
    r->pairs = SV_POOL_NEW(r->store, p->ctx, sv_repath, count + 1);
    if (r->pairs == NULL)
        return SV_NO_MEMORY;
    list_pairs(p, set, marks, stack, r->pairs);
    return SV_OK;
}

/* ---- the plan ---- */

static uint32_t block_of(const struct plan *p, const struct entry *e)
{
    return sv__routes_block(p->made, e->d);
}

static int compare(const void *a, const void *b)
{
    const sv_repair_entry *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->s.i != y->s.i)
        return x->s.i < y->s.i ? -1 : 1;
    return x->destination < y->destination ? -1 : x->destination > y->destination;
}

/* The entries by step, block and switch. */
static sv_status keep_entries(const struct plan *p)
{
    sv_repair_report *r = p->report;
    r->entry = SV_POOL_NEW(r->store, p->ctx, sv_repair_entry, p->num_entries + 1);
    if (r->entry == NULL)
        return SV_NO_MEMORY;
    for (uint64_t i = 0; i < p->num_entries; i++) {
        const struct entry *e = &p->entries[i];
        r->entry[i] = (sv_repair_entry){{e->s}, e->d, block_of(p, e), e->level};
    }
    r->listed = p->num_entries;
    qsort(r->entry, p->num_entries, sizeof *r->entry, compare);
    r->steps = count_levels(p);
    r->writes = p->num_entries == 0 ? r->blocks : 0;
    for (uint64_t i = 0; i < p->num_entries; i++)
        r->writes += i == 0 || r->entry[i].step != r->entry[i - 1].step ||
                     r->entry[i].block != r->entry[i - 1].block ||
                     r->entry[i].s.i != r->entry[i - 1].s.i;
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

static sv_status make_sets(struct plan *p)
{
    uint32_t n = p->made->num_destinations;
    p->words = sv_bitset_words(n);
    p->unsafe = sv_bitset_new(p->arena, n);
    p->sls_change = sv_bitset_new(p->arena, n);
    p->at_level = sv_bitset_new(p->arena, n);
    p->left = sv_bitset_new(p->arena, n);
    if (p->unsafe == NULL || p->sls_change == NULL || p->at_level == NULL || p->left == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < n; d++)
        if (sv_bit(p->changed, d) && may_change_sls(p, d))
            sv_bit_set(p->sls_change, d);
    return SV_OK;
}

/* What is unsafe in some mixture, and neither in steps, so pairs have to be quiet. */
static sv_status silence(struct plan *p)
{
    sv_repair_report *r = p->report;
    uint64_t *set = sv_bitset_new(p->arena, p->made->num_destinations);
    if (set == NULL)
        return SV_NO_MEMORY;
    r->safety = SV_SAFE_QUIET;
    SV_TRY(judge(p, p->before, p->made, true, p->unsafe, set, &(sv_ascent){0}));
    SV_TRY(find_steps(p, true, set));
    if (!is_empty(p, set))
        r->safety = SV_SAFE_NEVER;
    return keep_pairs(p, set);
}

static sv_status decide(struct plan *p)
{
    sv_repair_report *r = p->report;
    SV_TRY(make_sets(p));
    SV_TRY(list_entries(p));
    SV_TRY(judge(p, p->before, p->made, false, p->changed, p->unsafe, &r->followed));
    r->lost = r->followed.lost;
    r->safety = SV_SAFE_ANYHOW;
    if (is_empty(p, p->unsafe))
        return SV_OK;
    SV_TRY(judge_new(p, p->left));
    r->safety = SV_SAFE_STEPS;
    SV_TRY(find_steps(p, false, p->unsafe));
    return is_empty(p, p->unsafe) ? SV_OK : silence(p);
}

sv_status sv__repair_plan(const sv__carried *c, const sv_routes *made,
                          const sv_repair_request *request, const uint64_t *changed,
                          sv_repair_report *report)
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
    return keep_entries(&p);
}
