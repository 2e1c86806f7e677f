/*
 * witness.c: who makes a cycle: for each of its steps a pair whose packets hold the one channel and
 * want the next.
 *
 * A destination qualifies if its row leads from the one channel into the other; then its sources
 * are followed until one comes along on the right VLs. Steps of multicast trees are recognised by
 * what is left over.
 *
 * Cost: a step takes O(destinations) plus the traces that fail before one fits.
 */
#include <selvage/fabric.h>

#include "base/pool.h"
#include "verify/judge.h"

struct step {
    const sv__verify_case *c;
    sv_traffic traffic;
    sv__unknown unknown;
    sv__vertex a, b;
    sv_hop_taken *hops; /* room for a path */
};

/* Whether a packet from a node with an SL goes over a and then b. */
static bool passes(const struct step *step, sv_node from, uint32_t d, unsigned sl)
{
    const sv_fabric *f = step->c->fabric;
    uint32_t max = f->num_switches + 2, count;
    sv_node at;
    sv_routes_trace(f, step->c->routes, from, d, sl, step->hops, max, &count, &at);
    for (uint32_t i = 0; i + 1 < count && i + 1 < max; i++)
        if (step->hops[i].channel.i == step->a.channel.i && step->hops[i].vl == step->a.vl &&
            step->hops[i + 1].channel.i == step->b.channel.i && step->hops[i + 1].vl == step->b.vl)
            return true;
    return false;
}

/* An SL that the pair really has, of those that are treated as one. */
static unsigned real_sl(const sv__verify_case *c, sv_node from, uint32_t d, unsigned class)
{
    unsigned sl = sv_route_sl(c->routes, from, d);
    if (c->options.assume)
        return c->options.assumed_sl;
    if (sl < c->routes->num_sls && c->class_of[sl] == class)
        return sl;
    for (uint32_t back = c->routes->first[from.i];
         c->options.reversible && back < c->routes->first[from.i + 1]; back++) {
        sl = sv_route_sl(c->routes, c->routes->node[d], back);
        if (sl < c->routes->num_sls && c->class_of[sl] == class)
            return sl;
    }
    return class;
}

/* A source of packets for a destination that passes; SL in *sl. */
static bool find_source(const struct step *step, uint32_t d, sv_wait *wait)
{
    const sv__verify_case *c = step->c;
    const sv_fabric *f = c->fabric;
    bool to_switch = sv_is_switch(f, c->routes->node[d]);
    uint32_t nodes = sv_num_nodes(f);
    for (uint32_t i = 0; i < nodes; i++) {
        /* Terminals first: people know their names. */
        sv_node from = {(i + f->num_switches) % nodes};
        unsigned switches = to_switch + sv_is_switch(f, from);
        if (!sv_node_alive(f, from) || from.i == c->routes->node[d].i ||
            switches > (unsigned)step->traffic)
            continue;
        for (uint64_t sls = sv__case_sls(c, from, d, step->unknown); sls != 0; sls &= sls - 1) {
            unsigned sl = (unsigned)__builtin_ctzll(sls);
            if (!passes(step, from, d, sl))
                continue;
            wait->from = from;
            wait->destination = d;
            wait->sl = (uint8_t)real_sl(c, from, d, sl);
            return true;
        }
    }
    return false;
}

static void find_pair(const struct step *step, sv_wait *wait)
{
    const sv__verify_case *c = step->c;
    const sv_fabric *f = c->fabric;
    sv_node s = f->tail[step->a.channel.i], t = f->head[step->a.channel.i];
    unsigned p = f->port[step->a.channel.i], q = f->port[step->b.channel.i];
    for (uint32_t d = 0; d < c->routes->num_destinations; d++) {
        if (!sv_node_alive(f, c->routes->node[d]))
            continue;
        bool leads = !sv_is_switch(f, s) || sv_route_port(c->routes, s, d) == p;
        if (leads && sv_is_switch(f, t) && sv_route_port(c->routes, t, d) == q &&
            find_source(step, d, wait))
            return;
    }
    wait->multicast = c->routes->num_groups > 0;
}

sv_status sv__explain(sv_ctx *ctx, const sv__verify_case *c, sv_traffic traffic,
                      sv__unknown unknown, const sv__vertex *cycle, size_t length, sv_pool *store,
                      sv_wait **steps)
{
    sv_wait *made = SV_POOL_NEW(store, ctx, sv_wait, length + 1);
    sv_hop_taken *hops = sv_alloc(ctx, (size_t)c->fabric->num_switches + 2, sizeof *hops);
    if (made == NULL || hops == NULL) {
        sv_release(ctx, hops);
        return SV_NO_MEMORY;
    }
    enum { MAX = 64 }; /* nobody reads more, and each costs some traces */
    for (size_t i = 0; i < length; i++) {
        struct step step = {c, traffic, unknown, cycle[i], cycle[(i + 1) % length], hops};
        made[i] = (sv_wait){.channel = cycle[i].channel,
                            .vl = cycle[i].vl,
                            .sl = SV_NO_SL,
                            .from = SV_NO_NODE,
                            .destination = SV_NONE};
        if (i < MAX)
            find_pair(&step, &made[i]);
    }
    sv_release(ctx, hops);
    *steps = made;
    return SV_OK;
}
