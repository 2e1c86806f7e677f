/*
 * multicast.c: trees of multicast groups.
 *
 * OpenSM calls once for each multicast LID, in sweeps and whenever somebody joins or leaves. The
 * ports come from a tree that is proven already (selvage/experimental/live.h); here members are
 * looked up and bits are set.
 *
 * Invariant: a group whose service level has no proven tree gets no ports.
 * Cost: linear in switches and members.
 */
#include <stddef.h>
#include <stdlib.h>

#include "plugin.h"

/* What an item of a list or map is part of. */
#define HOLDER(item, type, field) ((type *)(void *)((char *)(item)-offsetof(type, field)))

struct members {
    sv_node *at;
    size_t count, room;
    int sl; /* of all groups with that LID; -1: none yet, -2: they differ */
};

static bool add_member(struct members *m, uint32_t node)
{
    if (m->count == m->room) {
        size_t room = m->room == 0 ? 64 : 2 * m->room;
        sv_node *at = realloc(m->at, room * sizeof *at);
        if (at == NULL)
            return false;
        m->at = at;
        m->room = room;
    }
    m->at[m->count++] = (sv_node){node};
    return true;
}

/* The members of one group; those that are not in the fabric (any more) are left out. */
static bool add_group(const plugin *p, struct members *m, osm_mgrp_t *group)
{
    uint8_t sl, hops;
    uint32_t flow;
    ib_member_get_sl_flow_hop(group->mcmember_rec.sl_flow_hop, &sl, &flow, &hops);
    m->sl = m->sl == -1 || m->sl == sl ? sl : -2;
    for (cl_map_item_t *item = cl_qmap_head(&group->mcm_port_tbl);
         item != cl_qmap_end(&group->mcm_port_tbl); item = cl_qmap_next(item)) {
        const osm_mcm_port_t *member = HOLDER(item, osm_mcm_port_t, map_item);
        const osm_port_t *port = member->port;
        if (port == NULL || port->p_node == NULL)
            continue;
        uint32_t v = osm_node_get_type(port->p_node) == IB_NODE_TYPE_SWITCH
                         ? guid_index_switch(p->index, osm_node_get_node_guid(port->p_node))
                         : guid_index_terminal(p->index, port->guid);
        if (v != SV_NONE && !add_member(m, v))
            return false;
    }
    return true;
}

static void set_ports(plugin *p, uint16_t mlid, uint64_t (*ports)[4])
{
    cl_qmap_t *table = &p->osm->subn.sw_guid_tbl;
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
         item = cl_qmap_next(item)) {
        osm_switch_t *sw = (osm_switch_t *)item;
        uint32_t s = guid_index_switch(p->index, osm_node_get_node_guid(sw->p_node));
        if (s == SV_NONE || sw->mcast_tbl.p_mask_tbl == NULL ||
            mlid - IB_LID_MCAST_START_HO >= sw->mcast_tbl.mft_depth)
            continue;
        for (unsigned port = 0; port < sw->num_ports; port++)
            if (ports[s][port / 64] >> (port % 64) & 1)
                osm_mcast_tbl_set(&sw->mcast_tbl, mlid, (uint8_t)port);
    }
}

static ib_api_status_t build(plugin *p, uint16_t mlid, const struct members *m)
{
    const sv_fabric *f = sv_live_fabric(p->live);
    uint64_t(*ports)[4] = calloc(f->num_switches + 1, sizeof *ports);
    if (ports == NULL)
        return IB_INSUFFICIENT_MEMORY;
    sv_status status = sv_live_group(p->live, (unsigned)m->sl, m->at, m->count, ports);
    if (status == SV_OK) {
        set_ports(p, mlid, ports);
        p->trees[(mlid - IB_LID_MCAST_START_HO) / 64 % 0x100] |= 1ull << mlid % 64;
    } else {
        plugin_log(p, OSM_LOG_ERROR, "ERR SV05: multicast group 0x%04x (SL %d, %zu members): %s",
                   mlid, m->sl, m->count, sv_live_message(p->live));
    }
    free(ports);
    return status == SV_OK ? IB_SUCCESS : IB_ERROR;
}

ib_api_status_t plugin_build_tree(void *context, osm_mgrp_box_t *box)
{
    plugin *p = context;
    struct members m = {.sl = -1};
    ib_api_status_t result = IB_SUCCESS;
    bool done = true;
    if (sv_live_routes(p->live) == NULL)
        return IB_ERROR;
    osm_purge_mtree(&p->osm->sm, box);
    p->trees[(box->mlid - IB_LID_MCAST_START_HO) / 64 % 0x100] &= ~(1ull << box->mlid % 64);
    for (cl_list_item_t *item = cl_qlist_head(&box->mgrp_list);
         item != cl_qlist_end(&box->mgrp_list) && done; item = cl_qlist_next(item)) {
        osm_mgrp_t *group = HOLDER(item, osm_mgrp_t, list_item);
        done = add_group(p, &m, group);
    }
    if (!done) {
        result = IB_INSUFFICIENT_MEMORY;
    } else if (m.sl == -2) {
        plugin_log(p, OSM_LOG_ERROR,
                   "ERR SV05: multicast LID 0x%04x is shared by groups with different SLs: "
                   "no tree is built",
                   box->mlid);
        result = IB_ERROR;
    } else if (m.count >= 2) {
        result = build(p, box->mlid, &m);
    }
    free(m.at);
    return result;
}
