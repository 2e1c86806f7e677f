/*
 * trace.c: one packet, followed hop by hop through the tables.
 *
 * The slow and obvious way through the tables: proofs and metrics walk whole rows instead, and
 * tests compare them with this. A packet that visits more switches than there are is in a loop.
 * Cost: O(hops × log ports).
 */
#include "routes/routes.h"

static const char *const end_names[] = {
    [SV_TRACE_ARRIVED] = "arrives",
    [SV_TRACE_NO_CABLE] = "the source has no cable",
    [SV_TRACE_NO_ENTRY] = "no entry for the destination",
    [SV_TRACE_DEAD_PORT] = "the entry leads to a port without a cable",
    [SV_TRACE_ASTRAY] = "the entry leads to the wrong node",
    [SV_TRACE_DISCARDED] = "the VL table discards the service level",
    [SV_TRACE_LOOP] = "the packet goes round in circles",
};

const char *sv_trace_end_name(sv_trace_end end)
{
    return end <= SV_TRACE_LOOP ? end_names[end] : "?";
}

struct walk {
    const sv_fabric *fabric;
    const sv_routes *routes;
    uint32_t destination;
    unsigned sl;
    sv_hop_taken *hops;
    uint32_t max, count;
    sv_node at;
    unsigned in; /* the port it came in at; 0 where it starts */
};

/* Takes a channel; false when the VL table of the node it leaves discards the packet. */
static bool take(struct walk *w, sv_channel c)
{
    const sv_sl2vl *vls = sv_route_sl2vl(w->routes, w->fabric, w->at, w->in, w->fabric->port[c.i]);
    uint8_t vl = w->sl < SV_MAX_SLS ? vls->of_sl[w->sl] : SV_NO_VL;
    if (vl == SV_NO_VL)
        return false;
    if (w->count < w->max)
        w->hops[w->count] = (sv_hop_taken){c, vl};
    w->count++;
    w->at = w->fabric->head[c.i];
    w->in = w->fabric->port[w->fabric->reverse[c.i].i];
    return true;
}

static sv_trace_end walk(struct walk *w)
{
    const sv_fabric *f = w->fabric;
    sv_node to = w->routes->node[w->destination];
    if (w->at.i == to.i)
        return SV_TRACE_ARRIVED;
    if (!sv_is_switch(f, w->at)) {
        if (sv_degree(f, w->at) == 0)
            return SV_TRACE_NO_CABLE;
        if (!take(w, f->hops[f->first[w->at.i]].channel))
            return SV_TRACE_DISCARDED;
    }
    for (uint32_t visits = 0; visits <= f->num_switches; visits++) {
        if (w->at.i == to.i &&
            (!sv_is_switch(f, w->at) || sv_route_port(w->routes, w->at, w->destination) == 0))
            return SV_TRACE_ARRIVED;
        if (!sv_is_switch(f, w->at))
            return SV_TRACE_ASTRAY;
        unsigned port = sv_route_port(w->routes, w->at, w->destination);
        if (port == SV_NO_PORT)
            return SV_TRACE_NO_ENTRY;
        if (port == 0)
            return SV_TRACE_ASTRAY;
        sv_channel c = sv_channel_at(f, w->at, port);
        if (c.i == SV_NONE)
            return SV_TRACE_DEAD_PORT;
        if (!take(w, c))
            return SV_TRACE_DISCARDED;
    }
    return SV_TRACE_LOOP;
}

sv_trace_end sv_routes_trace(const sv_fabric *fabric, const sv_routes *routes, sv_node from,
                             uint32_t destination, unsigned sl, sv_hop_taken *hops, uint32_t max,
                             uint32_t *count, sv_node *at)
{
    struct walk w = {fabric, routes, destination, sl, hops, max, 0, from, 0};
    sv_trace_end end = walk(&w);
    *count = w.count;
    *at = w.at;
    return end;
}
