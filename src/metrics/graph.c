/*
 * graph.c: the switch graph without its parallel edges.
 *
 * Cost: linear in the channels.
 */
#include "metrics/graph.h"

#include <string.h>

sv_status sv__graph_make(sv__metrics_graph *graph, sv_arena *arena, const sv_fabric *f)
{
    *graph = (sv__metrics_graph){0};
    uint32_t *number = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    uint32_t *seen_at = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    graph->id = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    graph->first = SV_ARENA_NEW(arena, uint32_t, (size_t)f->num_switches + 1);
    graph->peer = SV_ARENA_NEW(arena, uint32_t, f->live_channels);
    graph->cables = SV_ARENA_NEW(arena, uint32_t, f->live_channels);
    if (number == NULL || seen_at == NULL || graph->id == NULL || graph->first == NULL ||
        graph->peer == NULL || graph->cables == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        seen_at[s] = SV_NONE;
        if (sv_node_alive(f, (sv_node){s})) {
            number[s] = graph->n;
            graph->id[graph->n++] = s;
        }
    }
    uint32_t at = 0;
    for (uint32_t v = 0; v < graph->n; v++) {
        graph->first[v] = at;
        sv_node s = {graph->id[v]};
        SV_FOR_HOPS (f, s, hop) {
            if (!sv_is_switch(f, hop->to) || hop->to.i == s.i)
                continue;
            uint32_t *place = &seen_at[number[hop->to.i]];
            if (*place == SV_NONE || *place < graph->first[v]) {
                *place = at;
                graph->peer[at] = number[hop->to.i];
                graph->cables[at++] = 1;
            } else {
                graph->cables[*place]++;
            }
        }
    }
    graph->first[graph->n] = at;
    return SV_OK;
}

bool sv__graph_is_connected(const sv__metrics_graph *graph, sv_arena *arena, sv_status *status)
{
    uint32_t *stack = SV_ARENA_NEW(arena, uint32_t, graph->n), depth = 0, seen = 0;
    bool *visited = SV_ARENA_NEW(arena, bool, graph->n);
    *status = stack == NULL || visited == NULL ? SV_NO_MEMORY : SV_OK;
    if (*status != SV_OK || graph->n == 0)
        return false;
    visited[0] = true;
    stack[depth++] = 0;
    while (depth > 0) {
        uint32_t v = stack[--depth];
        seen++;
        for (uint32_t k = graph->first[v]; k < graph->first[v + 1]; k++)
            if (!visited[graph->peer[k]]) {
                visited[graph->peer[k]] = true;
                stack[depth++] = graph->peer[k];
            }
    }
    return seen == graph->n;
}
