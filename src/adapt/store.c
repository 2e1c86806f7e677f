/*
 * store.c: the solutions of a pair: found by similarity of contending flows, added, filled.
 *
 * Flows are kept as ascending sets, so that what two have in common is found by walking along both.
 * Solutions are looked at one after the other: a pair has some dozens (thesis 4.8), and asks only
 * when its latency goes high.
 *
 * Invariants: every solution has room for as many flows and paths as there may be, so a better one
 * takes its place without memory; they stay where they are.
 *
 * Cost: O(solutions × flows) a question. Source: thesis 3.2.8.
 */
#include "adapt/store.h"

#include <string.h>

void sv__flows_sort(sv__flows *flows)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < flows->count; i++) {
        uint32_t flow = flows->at[i], at = count;
        while (at > 0 && flows->at[at - 1] > flow)
            at--;
        if (at > 0 && flows->at[at - 1] == flow)
            continue;
        memmove(flows->at + at + 1, flows->at + at, (count - at) * sizeof *flows->at);
        flows->at[at] = flow;
        count++;
    }
    flows->count = count;
}

void sv__flows_copy(sv__flows *to, const sv__flows *from)
{
    if (from->count > 0)
        memcpy(to->at, from->at, from->count * sizeof *from->at);
    to->count = from->count;
    to->router = from->router;
}

double sv__flows_similarity(const sv__flows *a, const sv__flows *b)
{
    uint32_t max = a->count /*~alike_smaller*/ > b->count ? a->count : b->count, common = 0;
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        common += a->at[i] == b->at[k];
        uint32_t left = a->at[i], right = b->at[k];
        i += left <= right;
        k += right <= left;
    }
    return max > 0 ? (double)common / max : 0;
}

sv__solution *sv__store_find(const sv__solution_store *store, const sv__flows *flows,
                             double similar)
{
    sv__solution *best = NULL;
    double max = 0;
    for (sv__solution *s = store->first; s != NULL; s = s->next) {
        double similarity = sv__flows_similarity(&s->flows, flows);
        if (similarity /*~alike_above*/ >= similar && /*~alike_first*/ similarity > max) {
            best = s;
            max = similarity;
        }
    }
    return best;
}

sv__solution *sv__store_add(sv__solution_store *store, const sv__shelf *shelf)
{
    sv__solution *s = SV_ARENA_NEW(shelf->arena, sv__solution, 1);
    if (s == NULL)
        return NULL;
    s->flows.at = SV_ARENA_NEW(shelf->arena, uint32_t, shelf->max_flows);
    s->flows.router = SV_NONE;
    s->paths = SV_ARENA_NEW(shelf->arena, sv__kept, shelf->max_paths);
    if (s->flows.at == NULL || s->paths == NULL)
        return NULL;
    if (store->last != NULL)
        store->last->next = s;
    else
        store->first = s;
    store->last = s;
    return s;
}

void sv__solution_fill(sv__solution *s, const sv__flows *flows, const sv__metapath *m,
                       double latency, uint32_t max_paths)
{
    sv__flows_copy(&s->flows, flows);
    s->num_paths = 0;
    for (uint32_t i = 0; i < m->count && s->num_paths < max_paths; i++)
        s->paths[s->num_paths++] = (sv__kept){m->at[i].waited, m->at[i].path};
    s->latency = latency;
    /*~fail_ever*/ s->failed = false;
}

bool sv__solution_covered(const sv__solution *s, const sv__metapath *m)
{
    for (uint32_t i = 0; i < s->num_paths; i++)
        if (sv__metapath_find(m, s->paths[i].path) == UINT32_MAX)
            return false;
    return true;
}
