/*
 * update_spoil.c: correct plans made wrong (update_spoil.h). A wrong word must be noticed; a wrong
 * order need not be unsafe, but often is.
 */
#include "update_spoil.h"

#include <stdlib.h>
#include <string.h>

const char *spoil_name(spoil how)
{
    static const char *const names[] = {"two entries swapped", "two steps merged",  "all at once",
                                        "one silence less",    "silence too short", "not settled",
                                        "SLs from the start"};
    return how < SPOILS ? names[how] : "?";
}

/* ---- orders ---- */

static bool swap_entries(update_case *c, const oracle *o, oracle_plan *p)
{
    for (uint32_t tries = 0; tries < 50; tries++) {
        uint32_t *row = p->step + (size_t)update_draw(c, o->dests) * o->switches;
        uint32_t x = update_draw(c, o->switches), y = update_draw(c, o->switches), held = row[x];
        if (held == SV_NONE || row[y] == SV_NONE || held == row[y])
            continue;
        row[x] = row[y];
        row[y] = held;
        return true;
    }
    return false;
}

/* Steps first … last become one. */
static void merge(const oracle *o, oracle_plan *p, uint32_t first, uint32_t last)
{
    size_t pairs = (size_t)o->dests * o->nodes;
    uint32_t *const all[] = {p->step, p->first, p->from, p->to};
    const size_t count[] = {(size_t)o->dests * o->switches, o->dests, pairs, pairs};
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < count[k]; i++)
            if (all[k][i] != SV_NONE && all[k][i] > first)
                all[k][i] = all[k][i] <= last ? first : all[k][i] - (last - first);
    p->steps -= last - first;
}

/* A switch and the terminals for which it stands, if it does. */
static bool speak(update_case *c, const oracle *o, oracle_plan *p)
{
    for (uint32_t tries = 0; tries < 300; tries++) {
        uint32_t d = update_draw(c, o->dests), v = update_draw(c, o->nodes);
        uint32_t *from = p->from + (size_t)d * o->nodes, *to = p->to + (size_t)d * o->nodes;
        uint32_t home = v < o->switches ? v : sv_switch_of(o->f, (sv_node){v}).i;
        if (from[v] == SV_NONE)
            continue;
        for (uint32_t t = 0; t < o->nodes; t++) {
            uint32_t at = t < o->switches ? t : sv_switch_of(o->f, (sv_node){t}).i;
            if (t == v || (at == home && !oracle_by_node(o)))
                from[t] = to[t] = SV_NONE;
        }
        return true;
    }
    return false;
}

static bool come_back(const oracle *o, oracle_plan *p)
{
    bool any = false;
    for (size_t i = 0; i < (size_t)o->dests * o->nodes; i++)
        if (p->from[i] != SV_NONE && p->to[i] > p->from[i]) {
            p->to[i]--;
            any = true;
        }
    return any;
}

bool spoil_plan(update_case *c, const oracle *o, oracle_plan *p, spoil how)
{
    uint32_t first = p->vls && p->steps > 1, any = 0; /* after the step of VLs */
    switch (how) {
    case SPOIL_SWAP:
        return swap_entries(c, o, p);
    case SPOIL_MERGE:
    case SPOIL_ONCE:
        if (p->steps < first + 2)
            return false;
        if (how == SPOIL_MERGE)
            first += update_draw(c, p->steps - first - 1);
        merge(o, p, first, how == SPOIL_MERGE ? first + 1 : p->steps - 1);
        return true;
    case SPOIL_MUST:
        return speak(c, o, p);
    case SPOIL_BACK:
        return come_back(o, p);
    case SPOIL_SETTLE:
        any = p->settle && p->steps > 1;
        p->settle = false;
        return any;
    default:
        for (uint32_t d = 0; d < o->dests; d++)
            if (p->first[d] != SV_NONE && p->first[d] > first) {
                p->first[d] = first;
                any = 1;
            }
        return any;
    }
}

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

void spoil_apply(const oracle *o, const oracle_plan *p, sv_update *u)
{
    u->steps = p->steps;
    u->settle = p->settle;
    u->must_pairs = 0;
    memcpy(u->first_step, p->first, o->dests * sizeof *p->first);
    for (uint64_t i = 0; i < u->num_entries; i++)
        u->entries[i].step =
            p->step[(size_t)u->entries[i].destination * o->switches + u->entries[i].s.i];
    qsort(u->entries, u->num_entries, sizeof *u->entries, compare_entries);
    for (uint64_t i = 0; i < u->num_pairs; i++) {
        sv_update_pair *pair = &u->pairs[i];
        size_t at = (size_t)pair->destination * o->nodes + pair->from.i;
        pair->must = p->from[at] != SV_NONE;
        u->must_pairs += pair->must;
        if (pair->must) {
            pair->from_step = p->from[at];
            pair->to_step = p->to[at];
        }
    }
}

/* ---- words ---- */

const char *tell_name(tell how)
{
    static const char *const names[] = {
        "way",  "steps",  "vls",    "an entry less", "an entry twice", "step",  "block",
        "sort", "blocks", "writes", "SLs",           "first step",     "moved", "a pair less",
        "span", "musts"};
    return how < TELLS ? names[how] : "?";
}

static void *copied(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 64);
    if (to == NULL)
        abort();
    if (bytes > 0)
        memcpy(to, from, bytes);
    return to;
}

sv_update *spoil_copy(const sv_update *u, uint32_t dests)
{
    sv_update *copy = copied(u, sizeof *u);
    copy->entries = copied(u->entries, u->num_entries * sizeof *u->entries);
    copy->pairs = copied(u->pairs, u->num_pairs * sizeof *u->pairs);
    copy->first_step = copied(u->first_step, dests * sizeof *u->first_step);
    return copy;
}

void spoil_free(sv_update *u)
{
    free(u->entries);
    free(u->pairs);
    free(u->first_step);
    free(u);
}

static bool tell_entry(update_case *c, sv_update *u, tell how)
{
    if (u->num_entries == 0)
        return false;
    uint32_t at = update_draw(c, (uint32_t)u->num_entries);
    sv_update_entry *e = &u->entries[at], held = *e;
    switch (how) {
    case TELL_LESS:
        memmove(e, e + 1, (u->num_entries - at - 1) * sizeof *e);
        u->num_entries--;
        return true;
    case TELL_TWICE:
        memmove(e + 1, e, (u->num_entries - at) * sizeof *e);
        u->num_entries++;
        return true;
    case TELL_STEP:
        e->step = u->steps;
        return true;
    case TELL_BLOCK:
        e->block++;
        return true;
    default:
        if (at == 0)
            return false;
        *e = e[-1];
        e[-1] = held;
        return true;
    }
}

static bool tell_pair(update_case *c, const oracle *o, sv_update *u, tell how)
{
    if (u->num_pairs == 0)
        return false;
    uint32_t at = update_draw(c, (uint32_t)u->num_pairs);
    sv_update_pair *pair = &u->pairs[at];
    if (how == TELL_SPAN) {
        if (pair->to_step + 1 < u->steps && update_draw(c, 2))
            pair->to_step++;
        else if (pair->to_step > pair->from_step)
            pair->to_step--;
        else
            pair->from_step = pair->from_step > 0 ? pair->from_step - 1 : pair->from_step + 1;
        return true;
    }
    /* Pairs that are not of the traffic need not be listed. */
    if (!oracle_counts(o, pair->from.i, pair->destination) || pair->must)
        return false;
    if (u->way == SV_UPDATE_NEVER)
        return false;
    memmove(pair, pair + 1, (u->num_pairs - at - 1) * sizeof *pair);
    u->num_pairs--;
    return true;
}

static bool tell_first(update_case *c, const oracle *o, sv_update *u)
{
    uint32_t d = update_draw(c, o->dests);
    u->first_step[d] = u->first_step[d] == SV_NONE ? 0 : u->first_step[d] + 1;
    return true;
}

bool spoil_told(update_case *c, const oracle *o, sv_update *u, tell how)
{
    if (u->way == SV_UPDATE_NOTHING)
        return false;
    switch (how) {
    case TELL_WAY: {
        sv_update_way was = u->way;
        u->way = update_draw(c, SV_UPDATE_WAYS);
        /* Those of whole orders are for who judges them. */
        return u->way != was && !(was == SV_UPDATE_AT_ONCE && u->way == SV_UPDATE_STEPS) &&
               !(was == SV_UPDATE_NEVER && u->way == SV_UPDATE_REPATH);
    }
    case TELL_STEPS:
        u->steps++;
        return true;
    case TELL_VLS:
        u->vls = !u->vls;
        return oracle_vls_differ(o) != ORACLE_VLS_UNUSED;
    case TELL_LESS:
    case TELL_TWICE:
    case TELL_STEP:
    case TELL_BLOCK:
    case TELL_SORT:
        return tell_entry(c, u, how);
    case TELL_BLOCKS:
        u->blocks++;
        return true;
    case TELL_WRITES:
        u->writes--;
        return true;
    case TELL_SLS:
        u->sls++;
        return true;
    case TELL_FIRST:
        return tell_first(c, o, u);
    case TELL_MOVED:
        u->moved += 1000;
        return true;
    case TELL_PAIR:
    case TELL_SPAN:
        return tell_pair(c, o, u, how);
    default:
        u->must_pairs++;
        return true;
    }
}
