/*
 * update_search.c: plans by trying (update_search.h).
 *
 * Idea. What may happen while a destination moves depends on which have moved before it and not on
 * their order. So the sets of moved destinations are searched, depth first, each once. To move
 * destinations together, or a switch before others on its new path, can only make more mixtures;
 * but to move a part of one destination before a part of another might help, and is not tried: this
 * search finds much, not all.
 *
 * Cost: 2^destinations judgements at worst.
 */
#include "update_search.h"

#include <stdlib.h>
#include <string.h>

/* Whether somebody's SL changes; one that was not known, or will not be, does not. */
static bool sls_differ(const oracle *o, uint32_t d)
{
    for (uint32_t v = 0; v < o->nodes; v++) {
        unsigned old_sl = sv_route_sl(o->before, (sv_node){v}, d);
        unsigned new_sl = sv_route_sl(o->after, (sv_node){v}, d);
        if (v != o->after->node[d].i && sv_node_alive(o->f, (sv_node){v}) &&
            sv_node_alive(o->f, o->after->node[d]) && old_sl != new_sl && old_sl != SV_NO_SL &&
            new_sl != SV_NO_SL)
            return true;
    }
    return false;
}

uint32_t search_moving(const oracle *o, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < o->dests; d++) {
        bool moves = sls_differ(o, d);
        for (uint32_t s = 0; s < o->switches; s++)
            moves |= oracle_differs(o, s, d);
        if (moves && list != NULL)
            list[count] = d;
        count += moves;
    }
    return count;
}

oracle_plan search_at_once(const oracle *o)
{
    oracle_plan p = oracle_plan_new(o);
    uint32_t *list = calloc(o->dests + 1, sizeof *list), count = search_moving(o, list);
    p.vls = oracle_vls_differ(o) == ORACLE_VLS_DIFFER;
    p.steps = p.vls || count > 0;
    for (uint32_t k = 0; k < count; k++) {
        p.first[list[k]] = 0;
        for (uint32_t s = 0; s < o->switches; s++)
            if (oracle_differs(o, s, list[k]))
                p.step[(size_t)list[k] * o->switches + s] = 0;
    }
    free(list);
    return p;
}

/* Gives a destination steps from one on: each switch after those on its new path. How many. */
static uint32_t lay_out(const oracle *o, oracle_plan *p, uint32_t d, uint32_t from)
{
    uint32_t *list = malloc((o->switches + 1) * sizeof *list), steps = 1;
    uint32_t *step = p->step + (size_t)d * o->switches;
    bool arrives;
    for (uint32_t s = 0; s < o->switches; s++) /* all are new, for what follows */
        step[s] = oracle_differs(o, s, d) ? 0 : SV_NONE;
    oracle_plan done = *p;
    done.step = malloc((size_t)o->dests * o->switches * sizeof *done.step);
    memcpy(done.step, p->step, (size_t)o->dests * o->switches * sizeof *done.step);
    for (uint32_t s = 0; s < o->switches; s++) {
        uint32_t level = 0, count = oracle_path(o, &done, s, d, 1, list, &arrives);
        for (uint32_t k = 1; k < count; k++)
            level += oracle_differs(o, list[k], d);
        if (step[s] == SV_NONE)
            continue;
        step[s] = from + level;
        steps = level + 1 > steps ? level + 1 : steps;
    }
    p->first[d] = from;
    free(done.step);
    free(list);
    return steps;
}

static void take_back(const oracle *o, oracle_plan *p, uint32_t d)
{
    for (uint32_t s = 0; s < o->switches; s++)
        p->step[(size_t)d * o->switches + s] = SV_NONE;
    p->first[d] = SV_NONE;
}

struct search {
    oracle *o;
    oracle_plan p; /* steps of those that have moved */
    uint32_t *list, count, judged, max;
    uint8_t *seen; /* [2^count] */
};

static bool safe_between(struct search *x, uint32_t first, uint32_t steps)
{
    uint32_t all = x->p.steps;
    bool safe = true;
    x->p.steps = first + steps;
    for (uint32_t time = first; time < first + steps && safe; time++)
        safe = oracle_judge_time(x->o, &x->p, time) == ORACLE_FINE;
    x->p.steps = all;
    x->judged++;
    return safe;
}

static bool search_from(struct search *x, uint32_t moved)
{
    if (moved == (1u << x->count) - 1)
        return true;
    x->seen[moved] = 1;
    for (uint32_t k = 0; k < x->count; k++) {
        if (moved >> k & 1 || x->seen[moved | 1u << k] || x->judged >= x->max)
            continue;
        uint32_t d = x->list[k], first = x->p.steps;
        uint32_t steps = lay_out(x->o, &x->p, d, first);
        if (safe_between(x, first, steps)) {
            x->p.steps = first + steps;
            if (search_from(x, moved | 1u << k))
                return true;
            x->p.steps = first;
        }
        take_back(x->o, &x->p, d);
    }
    return false;
}

search_answer search_order(oracle *o, uint32_t max, oracle_plan *plan)
{
    uint32_t *list = calloc(o->dests + 1, sizeof *list), count = search_moving(o, list);
    struct search x = {o, oracle_plan_new(o), list, count, 0, max, NULL};
    bool found = false;
    x.p.vls = oracle_vls_differ(o) == ORACLE_VLS_DIFFER;
    if (x.p.vls)
        x.p.steps = 1;
    if (count <= 16) {
        x.seen = calloc((size_t)1 << count, 1);
        found = (!x.p.vls || safe_between(&x, 0, 1)) && search_from(&x, 0);
        free(x.seen);
    }
    free(list);
    if (found) {
        *plan = x.p;
        return SEARCH_FOUND;
    }
    oracle_plan_free(&x.p);
    return count > 16 || x.judged >= max ? SEARCH_GAVE_UP : SEARCH_NONE;
}
