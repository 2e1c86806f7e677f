/*
 * import.c: OpenSM's subnet as an sv_fabric.
 *
 * Idea: nodes in the order of OpenSM's own tables, cables as its ports know their peers. A switch
 * that OpenSM has no switch information of (it vanished while it was being asked) is left out, and
 * so is every cable that its two ends do not agree on, that is down or that OpenSM calls unhealthy;
 * with avoid_throttled_links, cables between switches that run below what both ends can do, too, as
 * OpenSM's own engines leave them out.
 *
 * Invariant: everything in the fabric is alive; LIDs are those that OpenSM gave.
 * Cost: linear in ports.
 */
#include <stdlib.h>

#include "base/file.h"
#include "fabric/derive.h"
#include "plugin.h"

struct import {
    plugin *p;
    osm_subn_t *subn;
    sv_builder *builder;
    struct place *places; /* of nodes, by number in OpenSM's table */
    size_t count;
    bool fdr10;
};

/* Where a node went. */
struct place {
    osm_node_t *node;
    bool is_switch;
    uint32_t index;      /* of the switch, or adapter */
    uint32_t *terminals; /* of an adapter, by port; SV_NONE: none */
};

unsigned plugin_vls(unsigned code)
{
    static const unsigned vls[] = {0, 1, 2, 4, 8, 15};
    return code < sizeof vls / sizeof vls[0] ? vls[code] : 0;
}

/* ---- links ---- */

static sv_speed speed_of(const osm_physp_t *port, const osm_physp_t *first)
{
    const ib_port_info_t *info = &port->port_info;
    if (first->port_info.capability_mask & IB_PORT_CAP_HAS_EXT_SPEEDS)
        switch (info->link_speed_ext >> 4) {
        case 1:
            return SV_SPEED_FDR;
        case 2:
            return SV_SPEED_EDR;
        case 4:
            return SV_SPEED_HDR;
        case 8:
            return SV_SPEED_NDR;
        default:
            break;
        }
    switch (ib_port_info_get_link_speed_active(info)) {
    case 1:
        return SV_SPEED_SDR;
    case 2:
        return SV_SPEED_DDR;
    case 4:
        return port->ext_port_info.link_speed_active & 1 ? SV_SPEED_FDR10 : SV_SPEED_QDR;
    default:
        return SV_SPEED_UNKNOWN;
    }
}

/* VLs of one end: what it can do, or, if that proved wrong, what it does. A switch that takes no
 * SL2VL tables has one. */
static unsigned code_of(const struct import *im, const osm_physp_t *end)
{
    unsigned can = ib_port_info_get_vl_cap(&end->port_info);
    unsigned does = ib_port_info_get_op_vls(&end->port_info);
    const osm_physp_t *first = osm_node_get_physp_ptr(end->p_node, 0);
    if (end->p_node->sw != NULL && first != NULL &&
        !(first->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP))
        return 1;
    return im->p->distrust && does > 0 && does < can ? does : can;
}

/* VLs that a cable will have: what both ends can do and OpenSM allows; one without QoS, since
 * nobody sets SL2VL tables then (a dry run shows what would be with it). */
static uint8_t vls_of(const struct import *im, const osm_physp_t *a, const osm_physp_t *b)
{
    unsigned code = code_of(im, a), other = code_of(im, b);
    if (!im->subn->opt.qos && !im->p->options.dry_run)
        return 1;
    code = other < code ? other : code;
    if (code > im->subn->opt.max_op_vls)
        code = im->subn->opt.max_op_vls;
    return (uint8_t)plugin_vls(code);
}

static sv_link link_of(const struct import *im, osm_physp_t *a, const osm_physp_t *b)
{
    static const uint16_t bytes[] = {0, 256, 512, 1024, 2048, 4096};
    const osm_physp_t *first = osm_node_get_physp_ptr(a->p_node, 0);
    unsigned mtu = ib_port_info_get_neighbor_mtu(&a->port_info);
    if (osm_node_get_type(a->p_node) != IB_NODE_TYPE_SWITCH || first == NULL)
        first = a;
    return (sv_link){.mtu_bytes = mtu < 6 ? bytes[mtu] : 0,
                     .width = sv_width_of_code(a->port_info.link_width_active),
                     .speed = (uint8_t)speed_of(a, first),
                     .vls = vls_of(im, a, b)};
}

/* Whether packets may go over a cable. Those that may not are counted, if that is wanted. */
static bool is_usable(struct import *im, osm_physp_t *a, osm_physp_t *b, bool count)
{
    if (b->p_remote_physp != a || a == b ||
        ib_port_info_get_port_state(&a->port_info) == IB_LINK_DOWN)
        return false;
    if (!osm_link_is_healthy(a)) {
        im->p->unhealthy += count;
        return false;
    }
    if (im->subn->opt.avoid_throttled_links && a->p_node->sw != NULL && b->p_node->sw != NULL &&
        osm_link_is_throttled(a, im->fdr10)) {
        im->p->throttled += count;
        return false;
    }
    return true;
}

/* ---- nodes ---- */

static const char *name_of(const osm_node_t *node)
{
    return node->print_desc != NULL ? node->print_desc : "";
}

/* The LID of a port that OpenSM knows as an end port; 0 if it has none. */
static uint16_t lid_of(const struct import *im, ib_net64_t guid)
{
    osm_port_t *port = osm_get_port_by_guid(im->subn, guid);
    uint16_t lid = port == NULL ? 0 : cl_ntoh16(osm_port_get_base_lid(port));
    return lid <= SV_LID_MAX ? lid : 0;
}

static sv_status add_switch(struct import *im, struct place *place)
{
    osm_node_t *node = place->node;
    const osm_physp_t *first = osm_node_get_physp_ptr(node, 0);
    sv_switch_info about = {.name = name_of(node),
                            .guid = cl_ntoh64(osm_node_get_node_guid(node)),
                            .system_guid = cl_ntoh64(node->node_info.sys_guid),
                            .device = cl_ntoh16(node->node_info.device_id),
                            .vendor = cl_ntoh32(node->node_info.port_num_vendor_id) & 0xffffff,
                            .ports = node->node_info.num_ports,
                            .enhanced_port0 =
                                ib_switch_info_is_enhanced_port0(&node->sw->switch_info),
                            .lid = first == NULL ? 0 : lid_of(im, first->port_guid)};
    place->is_switch = true;
    return sv_builder_add_switch(im->builder, &about, &place->index);
}

/* Whether a port of an adapter is cabled to something that is in the fabric. */
static osm_physp_t *end_port(struct import *im, osm_node_t *node, unsigned port)
{
    osm_physp_t *at = osm_node_get_physp_ptr(node, port);
    if (at == NULL || at->p_remote_physp == NULL || lid_of(im, at->port_guid) == 0)
        return NULL;
    osm_node_t *peer = at->p_remote_physp->p_node;
    if (osm_node_get_type(peer) == IB_NODE_TYPE_SWITCH && peer->sw == NULL)
        return NULL;
    return is_usable(im, at, at->p_remote_physp, false) ? at : NULL;
}

static sv_status add_adapter(struct import *im, struct place *place)
{
    osm_node_t *node = place->node;
    unsigned ports = node->node_info.num_ports;
    sv_adapter_info about = {.name = name_of(node),
                             .guid = cl_ntoh64(osm_node_get_node_guid(node)),
                             .system_guid = cl_ntoh64(node->node_info.sys_guid),
                             .device = cl_ntoh16(node->node_info.device_id),
                             .vendor = cl_ntoh32(node->node_info.port_num_vendor_id) & 0xffffff,
                             .ports = (uint16_t)ports,
                             .kind = osm_node_get_type(node) == IB_NODE_TYPE_ROUTER
                                         ? SV_ADAPTER_ROUTER
                                         : SV_ADAPTER_HOST};
    sv_status status = sv_builder_add_adapter(im->builder, &about, &place->index);
    place->terminals = malloc((ports + 1) * sizeof *place->terminals);
    if (place->terminals == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i <= ports; i++)
        place->terminals[i] = SV_NONE;
    for (unsigned i = 1; i <= ports && status == SV_OK; i++) {
        osm_physp_t *at = end_port(im, node, i);
        if (at == NULL)
            continue;
        sv_terminal_info terminal = {.guid = cl_ntoh64(at->port_guid),
                                     .adapter = place->index,
                                     .port = (uint16_t)i,
                                     .lid = lid_of(im, at->port_guid),
                                     .lmc = im->subn->opt.lmc};
        status = sv_builder_add_terminal(im->builder, &terminal, &place->terminals[i]);
    }
    return status;
}

static int by_node(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct place *)a)->node;
    uintptr_t y = (uintptr_t)((const struct place *)b)->node;
    return x < y ? -1 : x > y;
}

static sv_status add_nodes(struct import *im)
{
    cl_qmap_t *table = &im->subn->node_guid_tbl;
    sv_status status = SV_OK;
    im->places = calloc(cl_qmap_count(table) + 1, sizeof *im->places);
    if (im->places == NULL)
        return SV_NO_MEMORY;
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table) && status == SV_OK;
         item = cl_qmap_next(item)) {
        struct place *place = &im->places[im->count];
        place->node = (osm_node_t *)item;
        bool is_switch = osm_node_get_type(place->node) == IB_NODE_TYPE_SWITCH;
        if (is_switch && place->node->sw == NULL)
            continue;
        im->count++;
        status = is_switch ? add_switch(im, place) : add_adapter(im, place);
    }
    qsort(im->places, im->count, sizeof *im->places, by_node);
    return status;
}

/* ---- cables ---- */

static bool find_end(const struct import *im, const osm_physp_t *at, sv_end *end)
{
    const struct place key = {.node = at->p_node};
    const struct place *place = bsearch(&key, im->places, im->count, sizeof *im->places, by_node);
    if (place == NULL)
        return false;
    *end = (sv_end){.terminal = !place->is_switch, .port = at->port_num, .index = place->index};
    if (!place->is_switch)
        end->index = place->terminals[at->port_num];
    return end->index != SV_NONE;
}

static sv_status add_cables_of(struct import *im, const struct place *place)
{
    unsigned ports = place->node->node_info.num_ports;
    sv_status status = SV_OK;
    for (unsigned i = 1; i <= ports && status == SV_OK; i++) {
        osm_physp_t *a = osm_node_get_physp_ptr(place->node, i), *b;
        sv_end ends[2];
        if (a == NULL || (b = a->p_remote_physp) == NULL || b->port_num == 0)
            continue;
        /* Each cable once: from the end that comes first. */
        if (a->p_node > b->p_node || (a->p_node == b->p_node && a->port_num >= b->port_num))
            continue;
        if (!is_usable(im, a, b, true) || !find_end(im, a, &ends[0]) || !find_end(im, b, &ends[1]))
            continue;
        sv_link link = link_of(im, a, b);
        status = sv_builder_add_cable(im->builder, ends[0], ends[1], &link);
    }
    return status;
}

/* ---- roles ---- */

static sv_status read_roles(struct import *im, const sv_fabric *f, const char *path, sv_role role,
                            sv_role *roles)
{
    sv_file file;
    sv_status status = sv_file_open(&file, im->p->ctx, path);
    if (status == SV_OK) {
        status = sv_roles_read(im->p->ctx, f, &file.source, role, roles, NULL);
        sv_file_close(&file);
    }
    if (status != SV_OK)
        plugin_log(im->p, OSM_LOG_ERROR, "ERR SV07: %s; roles stay as they are",
                   sv_ctx_message(im->p->ctx));
    return SV_OK;
}

/* Roles as OpenSM's cn_guid_file and io_guid_file say. */
static sv_status give_roles(struct import *im, sv_fabric **fabric)
{
    const osm_subn_opt_t *opt = &im->subn->opt;
    sv_fabric *f = *fabric, *with = NULL;
    if (opt->cn_guid_file == NULL && opt->io_guid_file == NULL)
        return SV_OK;
    sv_role *roles = malloc((f->num_terminals + 1) * sizeof *roles);
    if (roles == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        roles[t] = opt->cn_guid_file != NULL ? SV_ROLE_OTHER : SV_ROLE_COMPUTE;
    sv_status status = SV_OK;
    if (opt->cn_guid_file != NULL)
        status = read_roles(im, f, opt->cn_guid_file, SV_ROLE_COMPUTE, roles);
    if (status == SV_OK && opt->io_guid_file != NULL)
        status = read_roles(im, f, opt->io_guid_file, SV_ROLE_IO, roles);
    if (status == SV_OK)
        status = sv_fabric_with_roles(im->p->ctx, f, roles, &with);
    free(roles);
    if (status == SV_OK) {
        sv_fabric_free(f);
        *fabric = with;
    }
    return status;
}

sv_status plugin_import(plugin *p, sv_fabric **fabric)
{
    struct import im = {.p = p, .subn = &p->osm->subn};
    sv_status status;
    im.fdr10 = im.subn->opt.fdr10 != 0;
    im.builder = sv_builder_new(p->ctx);
    if (im.builder == NULL)
        return SV_NO_MEMORY;
    p->throttled = p->unhealthy = 0;
    status = add_nodes(&im);
    for (size_t i = 0; i < im.count && status == SV_OK; i++)
        status = add_cables_of(&im, &im.places[i]);
    for (size_t i = 0; i < im.count; i++)
        free(im.places[i].terminals);
    free(im.places);
    if (status != SV_OK) {
        sv_builder_free(im.builder);
        return status;
    }
    status = sv_builder_finish(im.builder, fabric);
    if (status == SV_OK && (status = give_roles(&im, fabric)) != SV_OK)
        sv_fabric_free(*fabric);
    return status;
}
