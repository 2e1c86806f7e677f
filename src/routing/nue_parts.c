/*
 * nue_parts.c: which destinations share a layer (thesis 6.2.5).
 *
 * kway: METIS cuts the fabric into parts of equally many destinations with few cables between them:
 * destinations of a layer are near to each other, and their paths share turns.
 *
 * random: drawn by lot, equally many in each layer.
 *
 * clustered: all that is on a switch stays together: switches in the order of a breadth-first
 * search from one at the rim, cut into equally many destinations. Neighbours often share a layer
 * then; on a 7×7×7 torus with 8 VLs a third as many searches fail as with switches drawn by lot.
 *
 * Invariant: no layer is empty. Cost: linear, and METIS' passes.
 */
#include <string.h>

#include "base/metis.h"
#include "base/rng.h"
#include "routing/nue.h"

static sv_status by_lot(sv__routing_job *job, const uint32_t *destinations, uint32_t count,
                        unsigned layers, uint8_t *layer)
{
    uint32_t *list = SV_ARENA_NEW(job->arena, uint32_t, count);
    sv_rng rng;
    if (list == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        list[i] = destinations[i];
    sv_rng_init(&rng, job->request->seed);
    sv_rng_shuffle(&rng, list, count);
    for (uint32_t i = 0; i < count; i++)
        layer[list[i]] = (uint8_t)(i % layers);
    return SV_OK;
}

/* Adds everything that can be reached from a switch to a list, by distance. */
static uint32_t flood(const sv_fabric *f, uint32_t from, uint32_t *list, uint32_t tail, bool *seen)
{
    uint32_t head = tail;
    seen[from] = true;
    list[tail++] = from;
    for (; head < tail; head++)
        SV_FOR_HOPS (f, (sv_node){list[head]}, hop)
            if (sv_is_switch(f, hop->to) && !seen[hop->to.i]) {
                seen[hop->to.i] = true;
                list[tail++] = hop->to.i;
            }
    return tail;
}

static sv_status by_switch(sv__routing_job *job, const uint32_t *destinations, uint32_t count,
                           unsigned layers, uint8_t *layer)
{
    const sv_fabric *f = job->fabric;
    uint32_t n = f->num_switches, tail = 0, first = (uint32_t)(job->request->seed % n);
    uint64_t done = 0;
    uint32_t *list = SV_ARENA_NEW(job->arena, uint32_t, n);
    uint32_t *on = SV_ARENA_NEW(job->arena, uint32_t, n);
    uint8_t *of = SV_ARENA_NEW(job->arena, uint8_t, n);
    bool *seen = SV_ARENA_NEW(job->arena, bool, n);
    if (list == NULL || on == NULL || of == NULL || seen == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        on[sv__home_of(job, destinations[i])]++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = (first + i) % n;
        if (seen[s])
            continue;
        uint32_t end = flood(f, s, list, tail, seen), rim = list[end - 1];
        for (uint32_t k = tail; k < end; k++) /* again, from the farthest */
            seen[list[k]] = false;
        tail = flood(f, rim, list, tail, seen);
    }
    for (uint32_t i = 0; i < n; i++) {
        of[list[i]] = (uint8_t)(done * layers / count);
        done += on[list[i]];
    }
    for (uint32_t i = 0; i < count; i++)
        layer[destinations[i]] = of[sv__home_of(job, destinations[i])];
    return SV_OK;
}

#ifdef SELVAGE_METIS

/* Switches are vertices 0 … n - 1, other destinations follow, each joined to its switch. */
static sv_status draw(sv__routing_job *job, const sv_core *core, const uint32_t *destinations,
                      uint32_t count, sv_metis_graph *g, idx_t *vertex)
{
    const sv_fabric *f = job->fabric;
    uint32_t n = core->num_switches, edges = 0;
    g->n = (idx_t)n;
    for (uint32_t i = 0; i < count; i++) {
        bool terminal = !sv_is_switch(f, job->routes->node[destinations[i]]);
        vertex[i] = terminal ? g->n++ : (idx_t)sv__home_of(job, destinations[i]);
        if (terminal)
            g->first[sv__home_of(job, destinations[i]) + 1]++; /* counted first */
    }
    for (uint32_t s = 0; s < n; s++)
        g->first[s + 1] += g->first[s] + (idx_t)(core->first[s + 1] - core->first[s]);
    edges = (uint32_t)g->first[n];
    idx_t *at = SV_ARENA_NEW(job->arena, idx_t, n);
    if (at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        at[s] = g->first[s];
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++)
            g->peer[at[s]++] = (idx_t)core->entries[e].from;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (vertex[i] < (idx_t)n)
            continue;
        uint32_t home = sv__home_of(job, destinations[i]);
        g->peer[at[home]++] = vertex[i];
        g->peer[edges] = (idx_t)home;
        g->first[vertex[i] + 1] = (idx_t)++edges;
    }
    for (idx_t v = 0; v < g->n; v++)
        g->vertex_weight[v] = 1;
    for (uint32_t k = 0; k < edges; k++)
        g->edge_weight[k] = 1;
    return SV_OK;
}

/* No layer stays empty: the largest gives one away. */
static void fill(const uint32_t *destinations, uint32_t count, unsigned layers, uint8_t *layer)
{
    uint32_t load[SV_CDG_MAX_VLS] = {0};
    for (uint32_t i = 0; i < count; i++)
        load[layer[destinations[i]]]++;
    for (unsigned l = 0; l < layers; l++) {
        unsigned max = 0;
        for (unsigned k = 1; k < layers; k++)
            max = load[k] > load[max] ? k : max;
        for (uint32_t i = 0; i < count && load[l] == 0; i++)
            if (layer[destinations[i]] == max) {
                layer[destinations[i]] = (uint8_t)l;
                load[max]--;
                load[l]++;
            }
    }
}

static sv_status by_metis(sv__routing_job *job, const uint32_t *destinations, uint32_t count,
                          unsigned layers, uint8_t *layer)
{
    sv_core core;
    sv_arena *arena = job->arena;
    SV_TRY(sv_core_init(&core, arena, job->fabric));
    size_t max = (size_t)core.num_switches + count, edges = core.num_entries + 2 * (size_t)count;
    sv_metis_graph g = {.first = SV_ARENA_NEW(arena, idx_t, max + 1),
                        .peer = SV_ARENA_NEW(arena, idx_t, edges),
                        .edge_weight = SV_ARENA_NEW(arena, idx_t, edges),
                        .vertex_weight = SV_ARENA_NEW(arena, idx_t, max),
                        .part = SV_ARENA_NEW(arena, idx_t, max)};
    idx_t *vertex = SV_ARENA_NEW(arena, idx_t, count);
    if (g.first == NULL || g.peer == NULL || g.edge_weight == NULL || g.vertex_weight == NULL ||
        g.part == NULL || vertex == NULL)
        return SV_NO_MEMORY;
    SV_TRY(draw(job, &core, destinations, count, &g, vertex));
    sv_metis_how how = {.parts = layers, .seed = (uint32_t)job->request->seed};
    SV_TRY(sv_metis_split(job->ctx, &g, &how));
    for (uint32_t i = 0; i < count; i++)
        layer[destinations[i]] = (uint8_t)g.part[vertex[i]];
    fill(destinations, count, layers, layer);
    return SV_OK;
}

#endif

static sv_status divide(sv__routing_job *job, const uint32_t *destinations, uint32_t count,
                        sv__nue_partition *how, unsigned layers, uint8_t *layer)
{
    if (*how == SV__NUE_RANDOM)
        return by_lot(job, destinations, count, layers, layer);
#ifdef SELVAGE_METIS
    if (*how == SV__NUE_KWAY)
        return by_metis(job, destinations, count, layers, layer);
#endif
    *how = SV__NUE_CLUSTERED;
    return by_switch(job, destinations, count, layers, layer);
}

sv_status sv__nue_parts(sv__routing_job *job, const uint32_t *destinations, uint32_t count,
                        sv__nue_partition *how, uint8_t *layer, unsigned *layers)
{
    unsigned max = job->vls < SV_CDG_MAX_VLS ? job->vls : SV_CDG_MAX_VLS;
    uint8_t number[SV_CDG_MAX_VLS];
    max = max < count ? max : count;
    *layers = 0;
    memset(number, 0xff, sizeof number);
    if (max > 1)
        SV_TRY(divide(job, destinations, count, how, max, layer));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *l = &layer[destinations[i]];
        if (number[*l] == 0xff)
            number[*l] = (uint8_t)(*layers)++;
        *l = number[*l];
    }
    return SV_OK;
}
