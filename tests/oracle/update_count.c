/*
 * update_count.c: whether a plan as the library tells it holds together (update_oracle.h): every
 * entry that changes has one step, all numbers are counted again, pairs are those whose path
 * changes and are silent when it does, and sv_update_tables are what they should be.
 *
 * SLs that one of the tables does not know do not count, nor do those to dead nodes. Where the
 * contract leaves something open both are taken: whether pairs are listed that are not of the
 * traffic; and in which step SLs of a destination begin to change, if not later than its first
 * entry.
 */
#include "update_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (block == NULL)
        abort();
    return block;
}

#define WRONG(o, rule, ...) (snprintf((o)->why, sizeof(o)->why, __VA_ARGS__), (rule))

/* ---- VLs ---- */

static void mark_sls(const oracle *o, const sv_routes *r, bool *used)
{
    for (uint32_t d = 0; d < o->dests; d++)
        for (uint32_t v = 0; v < o->nodes; v++)
            if (oracle_counts(o, v, d) && sv_route_sl(r, (sv_node){v}, d) < SV_MAX_SLS)
                used[sv_route_sl(r, (sv_node){v}, d)] = true;
}

/* Whether old tables know a node: what they say of another's VLs means nothing. */
static bool was_there(const oracle *o, uint32_t v)
{
    bool entry = v >= o->switches && o->before->home[v - o->switches] != SV_NONE;
    for (uint32_t d = 0; d < o->dests && v < o->switches; d++)
        entry |= o->before->node[d].i != v && o->before->ports[d][v] != SV_NO_PORT;
    return entry;
}

int oracle_vls_differ(const oracle *o)
{
    bool used[SV_MAX_SLS] = {false};
    int found = ORACLE_VLS_SAME;
    mark_sls(o, o->before, used);
    mark_sls(o, o->after, used);
    for (uint32_t v = 0; v < o->nodes; v++) {
        unsigned ports = v < o->switches ? o->f->switches[v].ports : 1u;
        bool alive = sv_node_alive(o->f, (sv_node){v}) && was_there(o, v);
        for (unsigned in = 0; in <= ports; in++)
            for (unsigned out = 0; out <= ports; out++) {
                const sv_sl2vl *x = oracle_vls(o, o->before, v, in, out);
                const sv_sl2vl *y = oracle_vls(o, o->after, v, in, out);
                if (memcmp(x, y, sizeof *x) == 0)
                    continue;
                found = ORACLE_VLS_UNUSED;
                bool live = alive && o->channel[v * o->ports + out] != SV_NONE &&
                            (in == 0 || o->channel[v * o->ports + in] != SV_NONE);
                for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
                    if (live && used[sl] && x->of_sl[sl] != y->of_sl[sl])
                        return ORACLE_VLS_DIFFER;
            }
    }
    return found;
}

/* ---- entries ---- */

static int compare_entries(const void *x, const void *y)
{
    const sv_update_entry *a = x, *b = y;
    const uint32_t one[] = {a->step, a->block, a->s.i, a->destination};
    const uint32_t other[] = {b->step, b->block, b->s.i, b->destination};
    for (int k = 0; k < 4; k++)
        if (one[k] != other[k])
            return one[k] < other[k] ? -1 : 1;
    return 0;
}

/* Blocks go by LID, or by destination if there are no LIDs at all. */
static uint32_t block_of(const oracle *o, uint32_t d)
{
    bool lids = false;
    for (uint32_t k = 0; k < o->dests; k++)
        lids |= o->before->lid[k] != 0 || o->after->lid[k] != 0;
    uint32_t lid = o->after->lid[d] != 0 ? o->after->lid[d] : o->before->lid[d];
    return (lids ? lid : d) / SV_LFT_BLOCK;
}

static oracle_rule count_entries(oracle *o, const sv_update *u, oracle_plan *p)
{
    uint64_t differ = 0;
    for (uint32_t d = 0; d < o->dests; d++)
        for (uint32_t s = 0; s < o->switches; s++)
            differ += oracle_differs(o, s, d);
    for (uint64_t i = 0; i < u->num_entries; i++) {
        const sv_update_entry *e = &u->entries[i];
        if (e->s.i >= o->switches || e->destination >= o->dests || e->step >= u->steps)
            return WRONG(o, ORACLE_SHAPE, "entry %llu is out of range", (unsigned long long)i);
        uint32_t *step = &p->step[(size_t)e->destination * o->switches + e->s.i];
        if (!oracle_differs(o, e->s.i, e->destination) || *step != SV_NONE)
            return WRONG(o, ORACLE_SHAPE, "entry of switch %u to %u does not change, or twice",
                         e->s.i, e->destination);
        if (e->block != block_of(o, e->destination))
            return WRONG(o, ORACLE_SHAPE, "entry of switch %u to %u is not in block %u", e->s.i,
                         e->destination, e->block);
        if (i > 0 && compare_entries(e - 1, e) >= 0)
            return WRONG(o, ORACLE_SHAPE, "entry %llu is out of order", (unsigned long long)i);
        if (u->vls && e->step == 0 && u->steps > 1)
            return WRONG(o, ORACLE_SHAPE, "an entry in the step of VLs");
        *step = e->step;
    }
    if (differ != u->num_entries)
        return WRONG(o, ORACLE_SHAPE, "%llu entries change, not %llu", (unsigned long long)differ,
                     (unsigned long long)u->num_entries);
    return ORACLE_FINE;
}

static oracle_rule count_blocks(oracle *o, const sv_update *u)
{
    uint64_t blocks = 0, writes = 0;
    for (uint64_t i = 0; i < u->num_entries; i++) {
        bool first = true, first_of_step = true;
        for (uint64_t k = 0; k < i; k++) {
            const sv_update_entry *a = &u->entries[i], *b = &u->entries[k];
            bool same = a->s.i == b->s.i && a->block == b->block;
            first &= !same;
            first_of_step &= !(same && a->step == b->step);
        }
        blocks += first;
        writes += first_of_step;
    }
    if (blocks != u->blocks || writes != u->writes)
        return WRONG(o, ORACLE_SHAPE, "%llu blocks and %llu writes, not %llu and %llu",
                     (unsigned long long)blocks, (unsigned long long)writes,
                     (unsigned long long)u->blocks, (unsigned long long)u->writes);
    return ORACLE_FINE;
}

/* ---- SLs and first steps ---- */

static bool sl_differs(const oracle *o, uint32_t v, uint32_t d)
{
    sv_node from = {v}, to = o->after->node[d];
    return v != to.i && sv_node_alive(o->f, from) && sv_node_alive(o->f, to) &&
           sv_route_sl(o->before, from, d) != sv_route_sl(o->after, from, d);
}

/* Whether an SL changes, to the dead, too, and both are known: nobody holds one that was not. */
static bool sl_moves(const oracle *o, uint32_t v, uint32_t d)
{
    unsigned was = sv_route_sl(o->before, (sv_node){v}, d);
    unsigned is = sv_route_sl(o->after, (sv_node){v}, d);
    return v != o->after->node[d].i && sv_node_alive(o->f, (sv_node){v}) && was != is &&
           was != SV_NO_SL && is != SV_NO_SL;
}

static bool sl_changes(const oracle *o, uint32_t v, uint32_t d)
{
    return sl_differs(o, v, d) && sl_moves(o, v, d);
}

static oracle_rule count_first(oracle *o, const sv_update *u, oracle_plan *p)
{
    uint32_t sources = oracle_by_node(o) ? o->nodes : o->switches;
    uint64_t sls = 0, moved = 0;
    for (uint32_t d = 0; d < o->dests; d++) {
        uint32_t first = SV_NONE, told = u->first_step[d], here = 0, known = 0;
        bool may = false; /* begin: SLs of whoever is dead, or of a switch to itself, differ */
        for (uint32_t v = 0; v < o->nodes; v++) {
            here += v < sources && sl_differs(o, v, d);
            known += v < sources && sl_changes(o, v, d);
            may |=
                sv_route_sl(o->before, (sv_node){v}, d) != sv_route_sl(o->after, (sv_node){v}, d);
        }
        for (uint32_t s = 0; s < o->switches; s++)
            if (p->step[(size_t)d * o->switches + s] < first)
                first = p->step[(size_t)d * o->switches + s];
        sls += known;
        moved += told != SV_NONE;
        p->first[d] = told;
        if (told != SV_NONE && (told >= u->steps || (u->vls && told == 0 && u->steps > 1)))
            return WRONG(o, ORACLE_SHAPE, "destination %u begins in step %u", d, told);
        if (here == 0 && !may ? told != first : (known > 0 && told == SV_NONE) || told > first)
            return WRONG(o, ORACLE_SHAPE, "destination %u begins in step %u, not %u (%u SLs)", d,
                         told, first, here);
    }
    if (sls != u->sls || (u->way == SV_UPDATE_NEVER ? moved < u->moved : moved != u->moved))
        return WRONG(o, ORACLE_SHAPE, "%llu SLs of %llu destinations, not %llu of %llu",
                     (unsigned long long)sls, (unsigned long long)moved, (unsigned long long)u->sls,
                     (unsigned long long)u->moved);
    return ORACLE_FINE;
}

/* ---- pairs ---- */

/*
 * The first and the last step that changes an entry that a pair's packets meet; false: there is
 * none. Before the first its path is the old one, and whatever it meets then it has a span of
 * steps.
 */
static bool touched(const oracle *o, const oracle_plan *p, uint32_t v, uint32_t d, uint32_t *first,
                    uint32_t *last)
{
    uint32_t *list = room(o->switches, sizeof *list);
    bool any = false, arrives;
    for (uint32_t time = 0; time < p->steps; time++) {
        uint32_t count = oracle_path(o, p, v, d, time, list, &arrives);
        bool here = false;
        for (uint32_t k = 0; k < count; k++)
            here |= p->step[(size_t)d * o->switches + list[k]] == time;
        if (here) {
            *first = any ? *first : time;
            *last = time;
            any = true;
        }
    }
    free(list);
    return any;
}

/* The first and the last step of a destination. */
static void span_of(const oracle *o, const oracle_plan *p, uint32_t d, uint32_t *first,
                    uint32_t *last)
{
    *first = *last = p->first[d] == SV_NONE ? 0 : p->first[d];
    for (uint32_t s = 0; s < o->switches; s++) {
        uint32_t step = p->step[(size_t)d * o->switches + s];
        *last = step != SV_NONE && step > *last ? step : *last;
    }
    *first = p->vls ? 0 : *first;
}

/* Whether somebody for whom a node stands is of the traffic. */
static bool matters(const oracle *o, uint32_t v, uint32_t d)
{
    if (oracle_counts(o, v, d))
        return true;
    if (v >= o->switches || oracle_by_node(o))
        return false;
    for (uint32_t t = o->switches; t < o->nodes; t++)
        if (oracle_counts(o, t, d) && sv_switch_of(o->f, (sv_node){t}).i == v)
            return true;
    return false;
}

/*
 * Whether a pair is to be listed: it has a path, and that, or its VLs, change, or its SL does.
 * pathless: it may be listed even so.
 */
static bool is_listed(const oracle *o, const sv_update *u, const oracle_plan *p, uint32_t v,
                      uint32_t d, bool pathless)
{
    uint32_t first, last, *list = room(o->switches, sizeof *list);
    bool arrives;
    oracle_path(o, p, v, d, 0, list, &arrives);
    free(list);
    if (v == o->after->node[d].i || !sv_node_alive(o->f, o->after->node[d]))
        return v != o->after->node[d].i && pathless;
    return sl_changes(o, v, d) ||
           ((arrives || pathless) && (u->vls || touched(o, p, v, d, &first, &last)));
}

/* Makes a pair silent, and all whom its node stands for. */
static void silence(const oracle *o, oracle_plan *p, const sv_update_pair *pair)
{
    for (uint32_t v = 0; v < o->nodes; v++) {
        bool stands = v == pair->from.i || (v >= o->switches && !oracle_by_node(o) &&
                                            sv_switch_of(o->f, (sv_node){v}).i == pair->from.i);
        if (!stands)
            continue;
        p->from[(size_t)pair->destination * o->nodes + v] = pair->from_step;
        p->to[(size_t)pair->destination * o->nodes + v] = pair->to_step;
    }
}

/* Whether the SL of somebody changes for whom a node stands. */
static bool stands_for_change(const oracle *o, uint32_t v, uint32_t d)
{
    bool found = sl_moves(o, v, d);
    for (uint32_t t = o->switches; t < o->nodes && v < o->switches && !oracle_by_node(o); t++)
        found |= sv_switch_of(o->f, (sv_node){t}).i == v && sl_moves(o, t, d);
    return found;
}

static oracle_rule check_pair(oracle *o, const sv_update *u, oracle_plan *p,
                              const sv_update_pair *pair)
{
    uint32_t v = pair->from.i, d = pair->destination, first, last;
    if (v >= (oracle_by_node(o) ? o->nodes : o->switches) || d >= o->dests ||
        pair->from_step > pair->to_step || pair->to_step >= u->steps || o->after->node[d].i == v ||
        !sv_node_alive(o->f, pair->from))
        return WRONG(o, ORACLE_PAIRS, "pair %u to %u is out of range", v, d);
    bool dead = !sv_node_alive(o->f, o->after->node[d]); /* then only those are listed who must */
    if (!is_listed(o, u, p, v, d, u->way == SV_UPDATE_NEVER || dead) || (dead && !pair->must))
        return WRONG(o, ORACLE_PAIRS, "pair %u to %u is listed and does not change", v, d);
    if (pair->must && u->way == SV_UPDATE_REPATH && !u->vls && !stands_for_change(o, v, d))
        return WRONG(o, ORACLE_PAIRS, "pair %u to %u must be silent, and its SL stays", v, d);
    if (touched(o, p, v, d, &first, &last) && (first < pair->from_step || last > pair->to_step))
        return WRONG(o, ORACLE_PAIRS, "pair %u to %u changes from step %u to %u, not from %u to %u",
                     v, d, first, last, pair->from_step, pair->to_step);
    span_of(o, p, d, &first, &last);
    if (first != pair->from_step || last != pair->to_step)
        return WRONG(o, ORACLE_PAIRS, "pair %u to %u is silent from %u to %u, not from %u to %u", v,
                     d, pair->from_step, pair->to_step, first, last);
    if (pair->must)
        silence(o, p, pair);
    return ORACLE_FINE;
}

static oracle_rule count_pairs(oracle *o, const sv_update *u, oracle_plan *p)
{
    uint32_t sources = oracle_by_node(o) ? o->nodes : o->switches;
    bool *listed = room((size_t)o->dests * o->nodes, 1);
    uint64_t must = 0, stay = 0; /* whose SL stays */
    oracle_rule rule = ORACLE_FINE;
    for (uint64_t i = 0; i < u->num_pairs && rule == ORACLE_FINE; i++) {
        rule = check_pair(o, u, p, &u->pairs[i]);
        if (rule != ORACLE_FINE)
            break;
        bool *here = &listed[(size_t)u->pairs[i].destination * o->nodes + u->pairs[i].from.i];
        if (*here)
            rule = WRONG(o, ORACLE_PAIRS, "pair %u to %u is listed twice", u->pairs[i].from.i,
                         u->pairs[i].destination);
        *here = true;
        must += u->pairs[i].must;
        stay +=
            u->pairs[i].must && !stands_for_change(o, u->pairs[i].from.i, u->pairs[i].destination);
    }
    for (uint32_t d = 0; d < o->dests && rule == ORACLE_FINE; d++)
        for (uint32_t v = 0; v < sources && rule == ORACLE_FINE; v++)
            if (!listed[(size_t)d * o->nodes + v] && matters(o, v, d) &&
                is_listed(o, u, p, v, d, false))
                rule = WRONG(o, ORACLE_PAIRS, "pair %u to %u changes and is not listed", v, d);
    free(listed);
    if (rule == ORACLE_FINE && u->way == SV_UPDATE_NEVER && stay == 0)
        rule = WRONG(o, ORACLE_PAIRS, "never, but all who must be silent have other SLs");
    if (rule == ORACLE_FINE && must != u->must_pairs)
        rule = WRONG(o, ORACLE_PAIRS, "%llu pairs must be silent, not %llu",
                     (unsigned long long)must, (unsigned long long)u->must_pairs);
    return rule;
}

/* ---- as a whole ---- */

static bool anything_differs(const oracle *o)
{
    for (uint32_t d = 0; d < o->dests; d++) {
        for (uint32_t v = 0; v < o->nodes; v++)
            if (sl_differs(o, v, d))
                return true;
        for (uint32_t s = 0; s < o->switches; s++)
            if (oracle_differs(o, s, d))
                return true;
    }
    return false;
}

static oracle_rule check_way(oracle *o, const sv_update *u)
{
    int vls = oracle_vls_differ(o);
    bool more = anything_differs(o), way = u->way == SV_UPDATE_NOTHING;
    if (u->way == SV_UPDATE_UNPLANNED)
        return WRONG(o, ORACLE_SHAPE, "no plan");
    if (vls == ORACLE_VLS_SAME ? way == more : way && (more || vls == ORACLE_VLS_DIFFER))
        return WRONG(o, ORACLE_SHAPE, "way %d, though %s", (int)u->way,
                     more ? "something differs" : "nothing differs");
    if ((u->steps == 0) != way)
        return WRONG(o, ORACLE_SHAPE, "way %d in %u steps", (int)u->way, u->steps);
    if (u->way == SV_UPDATE_AT_ONCE && u->steps != 1)
        return WRONG(o, ORACLE_SHAPE, "at once, but %u steps", u->steps);
    if ((u->why[0] != 0) != (u->way == SV_UPDATE_REPATH || u->way == SV_UPDATE_NEVER))
        return WRONG(o, ORACLE_SHAPE, "way %d: why is \"%s\"", (int)u->way, u->why);
    if (u->vls ? vls == ORACLE_VLS_SAME : vls == ORACLE_VLS_DIFFER)
        return WRONG(o, ORACLE_SHAPE, "VL tables %s", u->vls ? "do not change" : "change");
    if ((u->must_pairs != 0) != (u->way == SV_UPDATE_REPATH || u->way == SV_UPDATE_NEVER))
        return WRONG(o, ORACLE_SHAPE, "way %d with %llu pairs that must be silent", (int)u->way,
                     (unsigned long long)u->must_pairs);
    return ORACLE_FINE;
}

oracle_rule oracle_count(oracle *o, const sv_update *u, oracle_plan *p)
{
    *p = oracle_plan_new(o);
    p->steps = u->steps;
    p->settle = u->settle;
    p->vls = u->vls;
    oracle_rule rule = check_way(o, u);
    if (rule != ORACLE_FINE)
        return rule;
    if ((rule = count_entries(o, u, p)) != ORACLE_FINE ||
        (rule = count_blocks(o, u)) != ORACLE_FINE)
        return rule;
    if ((rule = count_first(o, u, p)) != ORACLE_FINE)
        return rule;
    bool *busy = room(u->steps, 1);
    for (uint64_t i = 0; i < u->num_entries; i++)
        busy[u->entries[i].step] = true;
    for (uint32_t d = 0; d < o->dests; d++)
        if (p->first[d] != SV_NONE)
            busy[p->first[d]] = true;
    for (uint32_t i = u->vls; i < u->steps; i++)
        if (!busy[i])
            rule = WRONG(o, ORACLE_SHAPE, "nothing happens in step %u", i);
    free(busy);
    return rule == ORACLE_FINE ? count_pairs(o, u, p) : rule;
}

/* ---- tables of a step ---- */

static oracle_rule compare_rows(oracle *o, const oracle_plan *p, const sv_routes *r, uint32_t done,
                                bool begun)
{
    for (uint32_t d = 0; d < o->dests; d++) {
        for (uint32_t s = 0; s < o->switches; s++) {
            uint32_t step = p->step[(size_t)d * o->switches + s];
            const sv_routes *as = step != SV_NONE && step < done ? o->after : o->before;
            if (sv_node_alive(o->f, (sv_node){s}) && r->ports[d][s] != as->ports[d][s])
                return WRONG(o, ORACLE_TABLES, "%u steps done: switch %u sends %u by port %u", done,
                             s, d, r->ports[d][s]);
        }
        bool new_sls = p->first[d] != SV_NONE && p->first[d] < done + begun;
        for (uint32_t v = 0; v < o->nodes; v++) {
            sv_node from = {v};
            unsigned sl = sv_route_sl(new_sls ? o->after : o->before, from, d);
            bool open = sl_differs(o, v, d) && !sl_changes(o, v, d); /* who has none is told any */
            if (open &&
                (done < p->steps || sv_route_sl(r, from, d) == sv_route_sl(o->after, from, d)))
                continue;
            if (sl_differs(o, v, d) && sv_route_sl(r, from, d) != sl)
                return WRONG(o, ORACLE_TABLES, "%u steps done%s: SL of %u to %u is not %u", done,
                             begun ? ", one begun" : "", v, d, sl);
        }
    }
    return ORACLE_FINE;
}

oracle_rule oracle_tables(oracle *o, sv_ctx *ctx, const sv_update *u, const oracle_plan *p)
{
    oracle_rule rule = ORACLE_FINE;
    for (uint32_t done = 0; done <= u->steps && rule == ORACLE_FINE; done++)
        for (int begun = 0; begun < 2 && rule == ORACLE_FINE; begun++) {
            sv_routes *r = NULL;
            if (sv_update_tables(ctx, o->f, o->before, o->after, u, done, begun != 0, &r) != SV_OK)
                return WRONG(o, ORACLE_TABLES, "no tables: %s", sv_ctx_message(ctx));
            rule = compare_rows(o, p, r, done, begun != 0);
            const sv_routes *old = o->before;
            if (rule == ORACLE_FINE && (done > 0 || u->steps == 0)) {
                o->before = r;
                if (oracle_vls_differ(o) == ORACLE_VLS_DIFFER)
                    rule = WRONG(o, ORACLE_TABLES, "%u steps done: VLs are not new", done);
                o->before = old;
            } else if (rule == ORACLE_FINE) {
                const sv_routes *young = o->after;
                o->after = r;
                if (oracle_vls_differ(o) == ORACLE_VLS_DIFFER)
                    rule = WRONG(o, ORACLE_TABLES, "nothing done: VLs are not old");
                o->after = young;
            }
            sv_routes_free(r);
        }
    return rule;
}
