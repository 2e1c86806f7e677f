/*
 * sssp.c: engine sssp: shortest paths, balanced over the whole fabric (IPDPS'11 Alg. 1, thesis Alg.
 * 3.1).
 *
 * Destinations are routed one after the other. Every channel has a weight, the number of routes
 * from terminals over it so far; the paths to the next destination are those of least weight among
 * the shortest. The paper gets "among the shortest" by starting all weights at |V|²; comparing
 * (hops, weight) is the same and needs no heap: a breadth-first search meets all switches of one
 * distance before those of the next, so a switch's weight is final when its turn comes.
 *
 * What the paper leaves open decides the balance: destinations go round-robin over switches
 * (core.c), and among equals the choice is
 * spread instead of always the first.
 *
 * Takes any fabric; may deadlock (lanes are added by dfsssp).
 * Cost: O(channels) a destination.
 */
#include <string.h>

#include "routing/engine.h"
#include "routing/sssp.h"

sv_status sv__sssp_init(sv__sssp *x, sv__job *job)
{
    uint32_t n = job->fabric->num_switches;
    x->job = job;
    SV_TRY(sv__core_init(&x->core, job));
    x->weight = SV_ARENA_NEW(job->arena, uint64_t, x->core.first[n]);
    x->at = SV_ARENA_NEW(job->arena, struct sv__reached, n);
    x->queue = SV_ARENA_NEW(job->arena, uint32_t, n);
    return x->weight == NULL || x->at == NULL || x->queue == NULL ? SV_NO_MEMORY : SV_OK;
}

/* Fills x->at for all switches that can reach one; returns how many, in queue by distance. */
static uint32_t search(sv__sssp *x, uint32_t from)
{
    const sv__core *core = &x->core;
    struct sv__reached *at = x->at;
    uint32_t head = 0, tail = 0;
    for (uint32_t s = 0; s < core->num_switches; s++)
        at[s].hops = SV_NONE;
    at[from] = (struct sv__reached){.hops = 0, .via = SV_NONE};
    x->queue[tail++] = from;
    while (head < tail) {
        uint32_t s = x->queue[head++], hops = at[s].hops + 1;
        uint64_t weight = at[s].weight;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            struct sv__reached *u = &at[core->entries[e].from];
            uint64_t sum = weight + x->weight[e];
            if (u->hops == SV_NONE) {
                *u = (struct sv__reached){.hops = hops, .via = e, .next = s, .weight = sum};
                x->queue[tail++] = core->entries[e].from;
            } else if (u->hops == hops && sum < u->weight) {
                u->via = e;
                u->next = s;
                u->weight = sum;
            }
        }
    }
    return tail;
}

/* Adds the routes of all terminals to the weights, from the tips inwards. */
void sv__sssp_weigh(sv__sssp *x, uint32_t reached)
{
    struct sv__reached *at = x->at;
    for (uint32_t i = 0; i < reached; i++)
        at[x->queue[i]].routes = x->core.terminals[x->queue[i]];
    for (uint32_t i = reached; i-- > 1;) {
        const struct sv__reached *s = &at[x->queue[i]];
        x->weight[s->via] += s->routes;
        at[s->next].routes += s->routes;
    }
}

sv_status sv__sssp_route(sv__sssp *x, uint32_t d)
{
    const sv_fabric *f = x->job->fabric;
    uint8_t *row;
    sv_node home;
    SV_TRY(sv__end_row(x->job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    uint32_t reached = search(x, home.i);
    for (uint32_t i = 1; i < reached; i++)
        row[x->queue[i]] = x->core.entries[x->at[x->queue[i]].via].port;
    if (!sv_is_switch(f, x->job->routes->node[d]))
        sv__sssp_weigh(x, reached);
    return SV_OK;
}

static sv_status route(sv__job *job)
{
    sv__sssp x = {0};
    uint32_t count;
    uint32_t *order = sv__destinations(job, &count);
    if (order == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__sssp_init(&x, job));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(sv__sssp_route(&x, order[i]));
    }
    return SV_OK;
}

const sv__engine sv__engine_sssp = {
    {"sssp", "shortest paths, balanced over the whole fabric; may deadlock",
     "IPDPS'11 Alg. 1, thesis Alg. 3.1", SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL, NULL},
    route};
