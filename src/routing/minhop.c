/*
 * minhop.c: engines minhop and dor: shortest paths, balanced at each switch for itself.
 *
 * minhop (thesis 3.3.1): a search from the destination's switch gives every switch its distance.
 * Among the ports that lead one step closer, each switch takes the one that carries the fewest
 * routes so far. What lies behind a port, and how loaded that is, does not matter; sssp is for
 * that. Among equals it is drawn by lot: taking the first again and again makes symmetric fabrics
 * resonate (11 times the routes on the busiest channel of a 10-ary 3-tree).
 *
 * dor (thesis 3.3.3), as OpenSM understands it: of the switches one step closer, always that behind
 * the lowest port; ports are taken to be in the order of dimensions. Only between parallel cables
 * to that same switch is there a choice. On meshes and hypercubes so cabled this cannot deadlock;
 * elsewhere it may, which sv_verify tells.
 *
 * Both take any fabric and may deadlock.
 * Cost: O(channels) a destination; distances are found once for all terminals of a switch.
 */
#include <string.h>

#include "routing/engine.h"

struct minhop {
    sv__job *job;
    sv__core core;
    uint32_t *distance, *queue; /* [switches] */
    uint32_t searched, reached; /* the switch that distances are from, and how many reach it */
    uint64_t *load;             /* [channels]: routes on each */
    uint64_t *flow;             /* [switches]: routes that come by, of the destination at hand */
    uint32_t *mine;             /* [channels]: the same, of the terminal being routed */
};

static void search(struct minhop *m, uint32_t from)
{
    uint32_t head = 0, tail = 0;
    if (m->searched == from)
        return;
    m->searched = from;
    memset(m->distance, 0xff, m->core.num_switches * sizeof *m->distance);
    m->distance[from] = 0;
    m->queue[tail++] = from;
    while (head < tail) {
        uint32_t s = m->queue[head++];
        for (uint32_t e = m->core.first[s]; e < m->core.first[s + 1]; e++) {
            uint32_t u = m->core.entries[e].from;
            if (m->distance[u] == SV_NONE) {
                m->distance[u] = m->distance[s] + 1;
                m->queue[tail++] = u;
            }
        }
    }
    m->reached = tail;
}

/* A number that looks drawn by lot, always the same for the same channel and destination. */
static uint32_t lot(uint32_t channel, uint32_t d)
{
    uint32_t x = channel * 0x9e3779b1u ^ d * 0x85ebca77u;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    return x ^ x >> 13;
}

/* Whether a channel is better than the best so far: less used, then by lot. */
static bool better(const struct minhop *m, uint32_t c, uint32_t best, uint32_t d)
{
    if (m->mine[c] != m->mine[best])
        return m->mine[c] < m->mine[best];
    if (m->load[c] != m->load[best])
        return m->load[c] < m->load[best];
    return lot(c, d) < lot(best, d);
}

/* The way out of a switch: a channel one step closer. first_only: to the first such switch only. */
static sv_channel choose(const struct minhop *m, uint32_t s, uint32_t d, bool first_only)
{
    const sv_fabric *f = m->job->fabric;
    sv_channel best = SV_NO_CHANNEL;
    SV_FOR_HOPS (f, (sv_node){s}, hop) {
        uint32_t c = hop->channel.i;
        if (!sv_is_switch(f, hop->to) || m->distance[hop->to.i] + 1 != m->distance[s])
            continue;
        if (first_only && best.i != SV_NONE && hop->to.i != f->head[best.i].i)
            continue;
        if (best.i == SV_NONE || better(m, c, best.i, d))
            best = hop->channel;
    }
    return best;
}

static sv_status route_one(struct minhop *m, uint32_t d, bool first_only)
{
    const sv_fabric *f = m->job->fabric;
    const sv_routes *r = m->job->routes;
    sv_node home, to = r->node[d];
    uint8_t *row;
    bool terminal = !sv_is_switch(f, to), several = r->first[to.i + 1] - r->first[to.i] > 1;
    SV_TRY(sv__end_row(m->job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    search(m, home.i);
    if (several && d == r->first[to.i])
        memset(m->mine, 0, f->num_channels * sizeof *m->mine);
    for (uint32_t i = 0; i < m->reached; i++)
        m->flow[m->queue[i]] = m->core.terminals[m->queue[i]];
    /* The farthest first, so that each switch knows what comes by. */
    for (uint32_t i = m->reached; i-- > 1;) {
        uint32_t s = m->queue[i];
        sv_channel c = choose(m, s, d, first_only);
        row[s] = (uint8_t)f->port[c.i];
        if (terminal)
            m->load[c.i] += m->flow[s];
        m->flow[f->head[c.i].i] += m->flow[s];
        m->mine[c.i] += several;
    }
    if (several && d + 1 == r->first[to.i + 1])
        memset(m->mine, 0, f->num_channels * sizeof *m->mine);
    return SV_OK;
}

static sv_status route(sv__job *job, bool first_only)
{
    const sv_fabric *f = job->fabric;
    struct minhop m = {.job = job,
                       .distance = SV_ARENA_NEW(job->arena, uint32_t, f->num_switches),
                       .queue = SV_ARENA_NEW(job->arena, uint32_t, f->num_switches),
                       .load = SV_ARENA_NEW(job->arena, uint64_t, f->num_channels),
                       .flow = SV_ARENA_NEW(job->arena, uint64_t, f->num_switches),
                       .mine = SV_ARENA_NEW(job->arena, uint32_t, f->num_channels),
                       .searched = SV_NONE};
    uint32_t count;
    uint32_t *order = sv__destinations(job, &count);
    if (m.distance == NULL || m.queue == NULL || m.load == NULL || m.flow == NULL ||
        m.mine == NULL || order == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__core_init(&m.core, job));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(route_one(&m, order[i], first_only));
    }
    return SV_OK;
}

static sv_status route_minhop(sv__job *job)
{
    return route(job, false);
}

static sv_status route_dor(sv__job *job)
{
    return route(job, true);
}

const sv__engine sv__engine_minhop = {
    {"minhop", "shortest paths, balanced at each switch for itself; may deadlock", "thesis 3.3.1",
     SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL, NULL},
    route_minhop};

const sv__engine sv__engine_dor = {
    {"dor", "dimension order by port order; deadlock-free on meshes and hypercubes only",
     "thesis 3.3.3", SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL, NULL},
    route_dor};
