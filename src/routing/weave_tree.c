/*
 * weave_tree.c: the tree of a home: grown switch by switch, mended, weighed.
 *
 * Invariants: a switch of the tree sends to one that is in it and one hop nearer; its path is open
 * in all VLs of its mask (a mask may lack VLs that were added later, never the other way
 * round).
 *
 * Mending is what makes the difference (docs/decisions/0010, 0012): a tree that is known to work is
 * changed one switch at a time, and a change is made only if everything behind the switch still has
 * a VL. So no choice can lead into a dead end.
 *
 * Cost: a tree O(channels); mending it the sum of all path lengths times the ways tried.
 */
#include "routing/weave.h"

#include <string.h>

/* A tree, and what is needed to grow and mend it. */
static sv_status init_scratch(sv__weave *w)
{
    sv_arena *a = w->job->arena;
    sv__wtree *t = &w->tree;
    size_t n = w->core.num_switches;
    uint32_t **lists[] = {&t->order, &t->length, &t->out,     &t->child, &t->sibling, &w->flow,
                          &w->added, &w->stack,  &w->pending, &w->spare, &w->counted};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if ((*lists[i] = SV_ARENA_NEW(a, uint32_t, n + 2)) == NULL)
            return SV_NO_MEMORY;
    t->path = SV_ARENA_NEW(a, uint64_t, n);
    t->open = SV_ARENA_NEW(a, sv_vl_mask, n);
    w->trial = SV_ARENA_NEW(a, sv_vl_mask, n);
    w->needed = SV_ARENA_NEW(a, bool, n);
    w->want = SV_ARENA_NEW(a, sv_vl_mask, n);
    w->into = SV_ARENA_NEW(a, size_t, n);
    return t->path == NULL || t->open == NULL || w->trial == NULL || w->needed == NULL ||
                   w->want == NULL || w->into == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

sv_status sv__weave_init(sv__weave *w, sv__routing_job *job, const char *name, bool detours)
{
    sv_arena *a = job->arena;
    *w = (sv__weave){.job = job, .name = name, .detours = detours, .mode = &sv__mode_pair};
    SV_TRY(sv_core_init(&w->core, a, job->fabric));
    SV_TRY(sv__dags_init(&w->dags, job, &w->core, NULL, NULL, NULL));
    SV_TRY(sv_cdg_init(&w->cdg, a, &w->core));
    w->sources = w->core.terminals;
    SV_TRY(init_scratch(w));
    size_t n = w->core.num_switches;
    w->weight = SV_ARENA_NEW(a, uint64_t, w->core.num_entries);
    w->laid = SV_ARENA_NEW(a, uint8_t, n * n);
    w->closed = SV_ARENA_NEW(a, sv_vl_mask, w->cdg.num_turns);
    if (w->weight == NULL || w->laid == NULL || w->closed == NULL)
        return SV_NO_MEMORY;
    memset(w->laid, SV__NO_CABLE, n * n);
    memset(w->want, 0xff, n * sizeof *w->want);
    sv__weave_clear(w);
    return SV_OK;
}

sv_status sv__weave_copy(sv__weave *copy, const sv__weave *w)
{
    *copy = *w;
    SV_TRY(init_scratch(copy));
    memcpy(copy->want, w->want, w->core.num_switches * sizeof *w->want);
    return SV_OK;
}

void sv__weave_clear(sv__weave *w)
{
    for (uint32_t e = 0; e < w->core.num_entries; e++)
        w->weight[e] = sv__lot(w->core.back[e], sv__lots(w->job, SV_NONE));
}

void sv__wtree_begin(sv__weave *w, uint32_t home)
{
    sv__wtree *t = &w->tree;
    for (uint32_t s = 0; s < w->core.num_switches; s++)
        t->length[s] = SV_NONE;
    t->home = home;
    t->count = 1;
    t->order[0] = home;
    t->length[home] = 0;
    t->path[home] = 0;
    t->out[home] = SV_NONE;
    t->open[home] = w->by_destination ? w->play : sv__weave_home_vls(w, home);
}

void sv__wtree_take(sv__weave *w, uint32_t s, uint32_t entry, sv_vl_mask vls)
{
    sv__wtree *t = &w->tree;
    t->out[s] = entry;
    w->into[s] = sv_cdg_turn(&w->cdg, w->core.first[s], entry);
    t->open[s] = vls;
    t->length[s] = t->length[w->core.to[entry]] + 1;
    t->path[s] = sv__weave_key(w, entry) & ~(uint64_t)SV__LOT;
}

void sv__wtree_settle(sv__weave *w, uint32_t s, uint32_t entry, sv_vl_mask vls)
{
    sv__wtree_take(w, s, entry, vls);
    w->tree.order[w->tree.count++] = s;
}

void sv__wtree_sort(sv__weave *w)
{
    sv__wtree *t = &w->tree;
    uint32_t longest = 0, *at = w->spare, *sorted = w->stack;
    for (uint32_t i = 0; i < t->count; i++)
        longest = t->length[t->order[i]] > longest ? t->length[t->order[i]] : longest;
    memset(at, 0, (longest + 2) * sizeof *at);
    for (uint32_t i = 0; i < t->count; i++)
        at[t->length[t->order[i]] + 1]++;
    for (uint32_t i = 0; i < longest; i++)
        at[i + 1] += at[i];
    for (uint32_t i = 0; i < t->count; i++)
        sorted[at[t->length[t->order[i]]]++] = t->order[i];
    memcpy(t->order, sorted, t->count * sizeof *sorted);
}

void sv__wtree_children(sv__weave *w)
{
    sv__wtree *t = &w->tree;
    for (uint32_t i = 0; i < t->count; i++)
        t->child[t->order[i]] = SV_NONE;
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t s = t->order[i], to = w->core.to[t->out[s]];
        t->sibling[s] = t->child[to];
        t->child[to] = s;
    }
}

/* The lists of children, once a switch sends elsewhere. */
static void adopt(sv__weave *w, uint32_t s, uint32_t from, uint32_t to)
{
    sv__wtree *t = &w->tree;
    uint32_t *link = &t->child[from];
    while (*link != s)
        link = &t->sibling[*link];
    *link = t->sibling[s];
    t->sibling[s] = t->child[to];
    t->child[to] = s;
}

bool sv__wtree_move(sv__weave *w, uint32_t s, uint32_t entry, sv_vl_mask vls, bool keep)
{
    sv__wtree *t = &w->tree;
    uint32_t depth = 0, old = t->out[s];
    size_t old_into = w->into[s];
    bool open = true;
    if (keep)
        adopt(w, s, w->core.to[old], w->core.to[entry]);
    t->out[s] = entry;
    w->into[s] = sv_cdg_turn(&w->cdg, w->core.first[s], entry);
    w->trial[s] = vls;
    w->stack[depth++] = s;
    while (depth > 0 && open) {
        uint32_t u = w->stack[--depth];
        if (keep) {
            t->open[u] = w->trial[u];
            t->length[u] = t->length[w->core.to[t->out[u]]] + 1;
        }
        for (uint32_t c = t->child[u]; c != SV_NONE && open; c = t->sibling[c]) {
            w->trial[c] = sv__weave_pass(w, w->trial[u], w->into[u] + t->out[c] - w->core.first[u]);
            open = (w->trial[c] & w->want[c]) != 0 || (t->open[c] & w->want[c]) == 0;
            w->stack[depth++] = c;
        }
    }
    if (!keep) {
        t->out[s] = old;
        w->into[s] = old_into;
    }
    return open;
}

/* The best way of a switch with which all behind it stay open. */
static uint32_t better_way(sv__weave *w, uint32_t s)
{
    const sv_core *core = &w->core;
    const sv__wtree *t = &w->tree;
    uint32_t best = t->out[s], shortest = t->length[s];
    uint64_t min = sv__weave_key(w, best);
    for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
        uint32_t length = t->length[core->entries[k].from], e = core->back[k];
        /* Nobody behind s is as near as that. */
        if (length == SV_NONE || length + 1 > shortest || e == t->out[s])
            continue;
        if (length + 1 == shortest && sv__weave_key(w, e) >= min)
            continue;
        sv_vl_mask vls = sv__weave_vls(w, e);
        if ((vls & w->want[s]) != 0 && sv__wtree_move(w, s, e, vls, false)) {
            min = sv__weave_key(w, e);
            best = e;
            shortest = length + 1;
        }
    }
    return best;
}

bool sv__wtree_mend(sv__weave *w, const uint32_t *bound)
{
    sv__wtree *t = &w->tree;
    bool changed = false;
    sv__wtree_children(w);
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t s = t->order[i];
        uint32_t best = bound != NULL && bound[s] > 0 ? t->out[s] : better_way(w, s);
        if (best != t->out[s]) {
            changed = true;
            sv__wtree_move(w, s, best, sv__weave_vls(w, best), true);
        }
        sv__wtree_take(w, s, best, t->open[s]);
    }
    sv__wtree_sort(w);
    return changed;
}

void sv__wtree_mend_often(sv__weave *w)
{
    enum { MAX = 6 };
    for (unsigned i = 0; i < (w->detours ? MAX : 1) && sv__wtree_mend(w, NULL); i++)
        ;
}

uint64_t sv__wtree_write(const sv__weave *w, uint8_t *row)
{
    const sv__wtree *t = &w->tree;
    uint64_t closed = 0;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t s = t->order[i];
        row[s] = w->core.entries[t->out[s]].port;
        closed += (t->open[s] & w->want[s]) == 0;
    }
    return closed;
}

void sv__wtree_flows(sv__weave *w)
{
    const sv__wtree *t = &w->tree;
    for (uint32_t i = 0; i < t->count; i++)
        w->flow[t->order[i]] = w->sources[t->order[i]];
    for (uint32_t i = t->count; i-- > 1;)
        w->flow[w->core.to[t->out[t->order[i]]]] += w->flow[t->order[i]];
}

void sv__wtree_weigh(sv__weave *w, uint32_t lots)
{
    const sv__wtree *t = &w->tree;
    sv__wtree_flows(w);
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t s = t->order[i], e = t->out[s], cable = w->core.back[e];
        w->weight[cable] = sv__weigh(w->weight[cable], w->flow[s], e, lots);
    }
}

void sv__wtree_use_laid(sv__weave *w, uint32_t home)
{
    const sv_core *core = &w->core;
    const uint8_t *laid = w->laid + (size_t)home * core->num_switches;
    sv__wtree *t = &w->tree;
    sv__wtree_begin(w, home);
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t e = core->first[t->order[i]]; e < core->first[t->order[i] + 1]; e++) {
            uint32_t s = core->entries[e].from;
            if (laid[s] != SV__NO_CABLE && t->length[s] == SV_NONE &&
                core->back[core->first[s] + laid[s]] == e)
                sv__wtree_settle(w, s, e, sv__weave_vls(w, e));
        }
}
