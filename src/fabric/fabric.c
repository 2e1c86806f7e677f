/*
 * fabric.c: reading single facts out of a fabric.
 *
 * Cost: O(1), but for sv_channel_at, which searches a node's ports.
 */
#include <selvage/fabric.h>

#include "base/pool.h"

sv_channel sv_channel_at(const sv_fabric *f, sv_node v, unsigned port)
{
    uint32_t low = f->first[v.i], high = f->first[v.i + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->port[f->hops[middle].channel.i] < port)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->first[v.i + 1] && f->port[f->hops[low].channel.i] == port)
        return f->hops[low].channel;
    return SV_NO_CHANNEL;
}

sv_node sv_switch_of(const sv_fabric *f, sv_node terminal)
{
    if (sv_degree(f, terminal) == 0)
        return SV_NO_NODE;
    sv_node to = f->hops[f->first[terminal.i]].to;
    return sv_is_switch(f, to) ? to : SV_NO_NODE;
}

const char *sv_node_name(const sv_fabric *f, sv_node v)
{
    if (sv_is_switch(f, v))
        return f->switches[v.i].name;
    return f->adapters[sv_terminal_of(f, v)->adapter].name;
}

uint64_t sv_node_guid(const sv_fabric *f, sv_node v)
{
    return sv_is_switch(f, v) ? f->switches[v.i].guid : sv_terminal_of(f, v)->guid;
}

const char *sv_speed_name(sv_speed speed)
{
    static const char *const names[SV_SPEED_COUNT] = {"?",   "SDR", "DDR", "QDR", "FDR10",
                                                      "FDR", "EDR", "HDR", "NDR", "XDR"};
    return (unsigned)speed < SV_SPEED_COUNT ? names[speed] : "?";
}

const char *sv_role_name(sv_role role)
{
    static const char *const names[] = {"compute", "io", "other"};
    return (unsigned)role <= SV_ROLE_OTHER ? names[role] : "?";
}

uint32_t sv_link_mbit(const sv_link *link)
{
    /* Of one VL, after 8b/10b (SDR to QDR) or 64b/66b coding. */
    static const uint32_t mbit[SV_SPEED_COUNT] = {0,     2000,  4000,  8000,   10000,
                                                  13636, 25000, 50000, 100000, 200000};
    return link->speed < SV_SPEED_COUNT ? mbit[link->speed] * link->width : 0;
}

void sv_fabric_free(sv_fabric *fabric)
{
    if (fabric != NULL)
        sv__pool_drop(fabric->store);
}
