/*
 * handover.c: proven tables into OpenSM's hands.
 *
 * LFTs are filled in once a sweep; SLs, SL2VL tables and arbitration are told when OpenSM asks. All
 * of it comes from the same tables, those of sv_live_held, and none of it waits for
 * anything: path SLs are asked for by many threads at once.
 *
 * Invariant: what is not in the fabric gets no entry, and keeps what OpenSM had for it otherwise.
 * Cost: O(switches × LIDs) a sweep; path SLs O(1), SL2VL tables O(log nodes).
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

/* ---- nodes by GUID ---- */

struct guid_place {
    uint64_t guid;
    uint32_t node;
};

struct guid_index {
    uint32_t num_switches, num_terminals;
    struct guid_place *switches, *terminals; /* by GUID */
};

static int by_guid(const void *a, const void *b)
{
    uint64_t x = ((const struct guid_place *)a)->guid, y = ((const struct guid_place *)b)->guid;
    return x < y ? -1 : x > y;
}

struct guid_index *guid_index_new(const sv_fabric *f)
{
    struct guid_index *index = calloc(1, sizeof *index);
    if (index == NULL)
        return NULL;
    index->num_switches = f->num_switches;
    index->num_terminals = f->num_terminals;
    index->switches = malloc((f->num_switches + 1) * sizeof *index->switches);
    index->terminals = malloc((f->num_terminals + 1) * sizeof *index->terminals);
    if (index->switches == NULL || index->terminals == NULL) {
        guid_index_free(index);
        return NULL;
    }
    for (uint32_t s = 0; s < f->num_switches; s++)
        index->switches[s] = (struct guid_place){f->switches[s].guid, s};
    for (uint32_t t = 0; t < f->num_terminals; t++)
        index->terminals[t] = (struct guid_place){f->terminals[t].guid, f->num_switches + t};
    qsort(index->switches, f->num_switches, sizeof *index->switches, by_guid);
    qsort(index->terminals, f->num_terminals, sizeof *index->terminals, by_guid);
    return index;
}

void guid_index_free(struct guid_index *index)
{
    if (index == NULL)
        return;
    free(index->switches);
    free(index->terminals);
    free(index);
}

static uint32_t find(const struct guid_place *places, uint32_t count, ib_net64_t guid)
{
    const struct guid_place key = {cl_ntoh64(guid), 0};
    const struct guid_place *found = bsearch(&key, places, count, sizeof key, by_guid);
    return found == NULL ? SV_NONE : found->node;
}

uint32_t guid_index_switch(const struct guid_index *index, ib_net64_t guid)
{
    return index == NULL ? SV_NONE : find(index->switches, index->num_switches, guid);
}

uint32_t guid_index_terminal(const struct guid_index *index, ib_net64_t guid)
{
    return index == NULL ? SV_NONE : find(index->terminals, index->num_terminals, guid);
}

/* ---- LIDs ---- */

/* The LIDs of a node beyond those that tables have: an enhanced port 0 may have several. */
static void add_port0(plugin *p, const sv_fabric *f)
{
    cl_qmap_t *table = &p->osm->subn.sw_guid_tbl;
    const sv_routes *r = sv_live_held(p->live);
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
         item = cl_qmap_next(item)) {
        osm_node_t *node = ((osm_switch_t *)item)->p_node;
        uint32_t s = guid_index_switch(p->index, osm_node_get_node_guid(node));
        osm_physp_t *first = osm_node_get_physp_ptr(node, 0);
        osm_port_t *port =
            first == NULL ? NULL : osm_get_port_by_guid(&p->osm->subn, first->port_guid);
        uint16_t from = 0, to = 0;
        if (s == SV_NONE || port == NULL || f->switches[s].lid == 0)
            continue;
        osm_port_get_lid_range_ho(port, &from, &to);
        for (uint32_t lid = from; from > 0 && lid <= to && lid <= SV_LID_MAX; lid++)
            p->lids[lid] = (plugin_lid){s, r->first[s]};
    }
}

/* Whether OpenSM has a LID for the node that tables have it for. */
static bool is_current(const plugin *p, const sv_fabric *f, const sv_routes *r, uint32_t d)
{
    const osm_port_t *port = osm_get_port_by_lid_ho(&p->osm->subn, r->lid[d]);
    if (port == NULL || port->p_node == NULL)
        return false;
    if (sv_is_switch(f, r->node[d]))
        return cl_ntoh64(osm_node_get_node_guid(port->p_node)) == sv_node_guid(f, r->node[d]);
    return cl_ntoh64(port->guid) == sv_node_guid(f, r->node[d]);
}

/* One more than the highest VL that some SL goes to. */
static unsigned count_vls(const sv_routes *r)
{
    unsigned vls = 1;
    for (uint32_t t = 0; t < r->num_vl_tables; t++)
        for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
            unsigned vl = r->vl_tables[t].of_sl[sl];
            vls = vl != SV_NO_VL && vl >= vls ? vl + 1 : vls;
        }
    return vls;
}

bool plugin_prepare(plugin *p)
{
    const sv_fabric *f = sv_live_fabric(p->live);
    const sv_routes *r = sv_live_held(p->live);
    struct guid_index *index = guid_index_new(f);
    if (p->lids == NULL)
        p->lids = malloc((SV_LID_MAX + 1) * sizeof *p->lids);
    if (index == NULL || p->lids == NULL) {
        guid_index_free(index);
        return false;
    }
    guid_index_free(p->index);
    p->index = index;
    for (uint32_t lid = 0; lid <= SV_LID_MAX; lid++)
        p->lids[lid] = (plugin_lid){SV_NONE, SV_NONE};
    for (uint32_t d = 0; d < r->num_destinations; d++)
        if (r->lid[d] != 0 && r->lid[d] <= SV_LID_MAX && is_current(p, f, r, d))
            p->lids[r->lid[d]] = (plugin_lid){r->node[d].i, d};
    add_port0(p, f);
    p->vls = count_vls(r);
    return true;
}

/* ---- LFTs ---- */

/* What differs between what a switch has and what it is to get. */
static void count_changes(plugin *p, const osm_switch_t *sw)
{
    bool all = sw->need_update || p->osm->subn.need_update;
    for (uint32_t begin = 0; begin <= sw->max_lid_ho && begin < sw->lft_size; begin += 64) {
        uint32_t length = sw->lft_size - begin < 64 ? sw->lft_size - begin : 64, changed = 0;
        for (uint32_t i = begin; i < begin + length; i++)
            changed += sw->lft == NULL || sw->lft[i] != sw->new_lft[i];
        p->status.entries += changed;
        p->status.blocks += all || changed > 0;
    }
}

/* Switches keep what they have. */
static void keep_lft(osm_switch_t *sw)
{
    if (sw->lft != NULL)
        memcpy(sw->new_lft, sw->lft, sw->lft_size);
}

void plugin_keep_lfts(plugin *p)
{
    cl_qmap_t *table = &p->osm->subn.sw_guid_tbl;
    p->status.entries = p->status.blocks = 0;
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
         item = cl_qmap_next(item)) {
        osm_switch_t *sw = (osm_switch_t *)item;
        if (sw->new_lft != NULL)
            keep_lft(sw);
    }
}

void plugin_fill_lfts(plugin *p)
{
    cl_qmap_t *table = &p->osm->subn.sw_guid_tbl;
    const sv_routes *r = sv_live_held(p->live);
    p->status.entries = p->status.blocks = 0;
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
         item = cl_qmap_next(item)) {
        osm_switch_t *sw = (osm_switch_t *)item;
        uint32_t s = guid_index_switch(p->index, osm_node_get_node_guid(sw->p_node));
        if (sw->new_lft == NULL)
            continue;
        if (s == SV_NONE) {
            keep_lft(sw);
            continue;
        }
        memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
        for (uint32_t lid = 1; lid <= sw->max_lid_ho && lid < sw->lft_size; lid++)
            if (lid <= SV_LID_MAX && p->lids[lid].destination != SV_NONE)
                sw->new_lft[lid] = r->ports[p->lids[lid].destination][s];
        count_changes(p, sw);
    }
}

bool plugin_confirmed(plugin *p)
{
    bool all = true;
    cl_plock_acquire(&p->osm->lock);
    cl_qmap_t *table = &p->osm->subn.sw_guid_tbl;
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
         item = cl_qmap_next(item)) {
        const osm_switch_t *sw = (osm_switch_t *)item;
        size_t length =
            (size_t)sw->max_lid_ho + 1 < sw->lft_size ? (size_t)sw->max_lid_ho + 1 : sw->lft_size;
        all &= sw->new_lft == NULL || memcmp(sw->lft, sw->new_lft, length) == 0;
    }
    cl_plock_release(&p->osm->lock);
    return all;
}

/* ---- answers ---- */

uint8_t plugin_path_sl(void *context, uint8_t hint, ib_net16_t slid, ib_net16_t dlid)
{
    const plugin *p = context;
    uint16_t from = cl_ntoh16(slid), to = cl_ntoh16(dlid);
    if (p->lids == NULL || from > SV_LID_MAX || to > SV_LID_MAX || p->lids[from].node == SV_NONE ||
        p->lids[to].destination == SV_NONE)
        return hint;
    unsigned sl =
        sv_route_sl(sv_live_held(p->live), (sv_node){p->lids[from].node}, p->lids[to].destination);
    return sl < SV_HARDWARE_SLS ? (uint8_t)sl : hint;
}

void plugin_update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
                         ib_slvl_table_t *table)
{
    const plugin *p = context;
    const sv_fabric *f = sv_live_fabric(p->live);
    const sv_routes *r = sv_live_held(p->live);
    bool is_switch = osm_node_get_type(port->p_node) == IB_NODE_TYPE_SWITCH;
    uint32_t v = is_switch ? guid_index_switch(p->index, osm_node_get_node_guid(port->p_node))
                           : guid_index_terminal(p->index, port->port_guid);
    if (v == SV_NONE || r == NULL)
        return;
    if (is_switch && (in > f->switches[v].ports || out > f->switches[v].ports))
        return;
    const sv_sl2vl *vls = sv_route_sl2vl(r, f, (sv_node){v}, in, out);
    for (uint8_t sl = 0; sl < SV_HARDWARE_SLS; sl++)
        ib_slvl_table_set(table, sl, vls->of_sl[sl] == SV_NO_VL ? 15 : vls->of_sl[sl]);
}

/* ---- arbitration ---- */

/* Element i of a table that was given. */
static ib_vl_arb_element_t given(const sv_vlarb_table *table, unsigned i)
{
    if (i >= table->length || i >= 64)
        return (ib_vl_arb_element_t){0, 0};
    return (ib_vl_arb_element_t){table->vl[i], table->weight[i]};
}

/*
 * Every VL in use gets the same share: all of them are in the low-priority table once, in turn
 * if it is longer; nothing has priority. VLs that a short table has no room for go to the other.
 */
static ib_vl_arb_element_t even(unsigned vls, unsigned room, unsigned i, bool high)
{
    enum { WEIGHT = 16 };
    if (high)
        return (ib_vl_arb_element_t){(uint8_t)(room + i < vls ? room + i : 0),
                                     room + i < vls ? WEIGHT : 0};
    return (ib_vl_arb_element_t){(uint8_t)(i % vls), i < vls ? WEIGHT : 0};
}

void plugin_update_vlarb(void *context, osm_physp_t *port, uint8_t port_num,
                         ib_vl_arb_table_t *block, unsigned length, unsigned number)
{
    const plugin *p = context;
    const sv_routes *r = sv_live_held(p->live);
    bool is_switch = osm_node_get_type(port->p_node) == IB_NODE_TYPE_SWITCH;
    sv_vlarb_who who = !is_switch ? SV_VLARB_CA : port_num == 0 ? SV_VLARB_SW0 : SV_VLARB_SWE;
    unsigned first = number & 1 ? 32 : 0;
    bool high = number >= 2;
    if (r == NULL || p->options.keep_vlarb || length > IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK)
        return;
    for (unsigned i = 0; i < length; i++)
        block->vl_entry[i] = r->vlarb[who].given
                                 ? given(high ? &r->vlarb[who].high : &r->vlarb[who].low, first + i)
                                 : even(p->vls, port->port_info.vl_arb_low_cap, first + i, high);
}
