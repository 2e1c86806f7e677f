/*
 * net.c: the fabric through libibnetdisc, and a directed route to each of its nodes.
 *
 * Idea: libibnetdisc walks the fabric with many datagrams at once; what it finds is put into the
 * same draft that readers of files fill, so that a live fabric and ibnetdiscover's text of it give
 * the same result: names, special adapters, what the two ends of a cable agree on. Nodes are sorted
 * by GUID, so that the result does not depend on whose answer came first.
 *
 * A node is asked along the way that libibnetdisc found it. Port by port that is not enough: an
 * adapter answers for the port at which a question comes in, so the way to a terminal is that of
 * its switch and one port more.
 *
 * Cost: O(n log n) in nodes, linear in ports.
 */
#include <infiniband/ibnetdisc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/net.h"
#include "fabric/derive.h"
#include "formats/draft.h"

/* Of PortInfo's CapabilityMask. */
enum { HAS_EXTENDED_SPEEDS = 1 << 14, HAS_GROUPS_TOP = 1 << 30, PORT_ACTIVE = 4 };

/* Of what vendors tell beyond PortInfo. */
enum { VENDORS_FDR10 = 1 };

struct scan {
    sv__discover_net *net;
    ibnd_fabric_t *found;
    ibnd_node_t **nodes; /* [count]: by kind and GUID */
    size_t count;
    sv__draft draft;
    sv_map by_guid; /* node GUID to its place in nodes */
    uint32_t loopbacks, inactive;
};

static unsigned field(const uint8_t *info, enum MAD_FIELDS which)
{
    uint8_t copy[IB_SMP_DATA_SIZE]; /* the library wants to be able to write */
    memcpy(copy, info, sizeof copy);
    return mad_get_field(copy, 0, which);
}

static uint64_t long_field(const uint8_t *info, enum MAD_FIELDS which)
{
    uint8_t copy[IB_SMP_DATA_SIZE];
    memcpy(copy, info, sizeof copy);
    return mad_get_field64(copy, 0, which);
}

/* ---- nodes ---- */

static int by_kind_and_guid(const void *a, const void *b)
{
    const ibnd_node_t *x = *(ibnd_node_t *const *)a, *y = *(ibnd_node_t *const *)b;
    if ((x->type == IB_NODE_SWITCH) != (y->type == IB_NODE_SWITCH))
        return x->type == IB_NODE_SWITCH ? -1 : 1;
    return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static sv_status sort_nodes(struct scan *s)
{
    for (const ibnd_node_t *n = s->found->nodes; n != NULL; n = n->next)
        s->count++;
    s->nodes = SV_ARENA_NEW(&s->draft.arena, ibnd_node_t *, s->count);
    if (s->nodes == NULL)
        return SV_NO_MEMORY;
    size_t i = 0;
    for (ibnd_node_t *n = s->found->nodes; n != NULL; n = n->next)
        s->nodes[i++] = n;
    qsort(s->nodes, s->count, sizeof(ibnd_node_t *), by_kind_and_guid);
    for (i = 0; i < s->count; i++) {
        uint32_t held;
        SV_TRY(sv_map_add(&s->by_guid, s->nodes[i]->guid, (uint32_t)i, &held));
    }
    return SV_OK;
}

/* How ports call a node: its GUID. text: 17 bytes. */
static sv_span id_of(const ibnd_node_t *n, char *text)
{
    return (sv_span){text, (size_t)snprintf(text, 17, "%016llx", (unsigned long long)n->guid)};
}

/* A description as ibnetdiscover prints it: whatever is no printable ASCII is a blank. */
static const char *name_of(struct scan *s, const ibnd_node_t *n)
{
    char name[IB_SMP_DATA_SIZE];
    size_t length = 0;
    for (; length < sizeof name - 1 && n->nodedesc[length] != 0; length++) {
        unsigned char c = (unsigned char)n->nodedesc[length];
        name[length] = c < 0x20 || c > 0x7e ? ' ' : (char)c;
    }
    return sv__draft_name(&s->draft, (sv_span){name, length});
}

static uint16_t unicast(unsigned lid)
{
    return lid > SV_LID_MAX ? 0 : (uint16_t)lid;
}

static sv_status add_device(struct scan *s, const ibnd_node_t *n)
{
    char text[17];
    uint32_t index;
    sv__draft_device d = {.id = id_of(n, text),
                          .kind = n->type == IB_NODE_SWITCH   ? SV__SWITCH
                                  : n->type == IB_NODE_ROUTER ? SV__ROUTER
                                                              : SV__HOST,
                          .name = name_of(s, n),
                          .guid = n->guid,
                          .system_guid = long_field(n->info, IB_NODE_SYSTEM_GUID_F),
                          .vendor = field(n->info, IB_NODE_VENDORID_F),
                          .device = field(n->info, IB_NODE_DEVID_F),
                          .ports = (uint16_t)n->numports};
    if (d.name == NULL)
        return SV_NO_MEMORY;
    if (d.system_guid == 0)
        d.system_guid = d.guid;
    if (n->numports < 1 || n->numports > SV__MAX_PORTS)
        return sv__draft_fail(&s->draft, 0, "node \"%s\" has %d ports: 1 to %d can be numbered",
                              d.name, n->numports, SV__MAX_PORTS);
    if (d.kind == SV__SWITCH) {
        d.lid = unicast(n->smalid);
        d.lmc = n->smalmc;
        d.enhanced_port0 = n->smaenhsp0 != 0;
    }
    return sv__draft_add_device(&s->draft, &d, &index);
}

/* ---- cables ---- */

/* capable: the port whose capabilities count, port 0 of a switch. vendors: what they add. */
static uint8_t speed_of(const uint8_t *info, const uint8_t *capable, const uint8_t *vendors)
{
    static const uint8_t plain[] = {0, SV_SPEED_SDR, SV_SPEED_DDR, 0, SV_SPEED_QDR};
    static const uint8_t extended[] = {0, SV_SPEED_FDR, SV_SPEED_EDR, 0, SV_SPEED_HDR, 0, 0,
                                       0, SV_SPEED_NDR};
    unsigned speed = field(info, IB_PORT_LINK_SPEED_ACTIVE_F), beyond = 0;
    if (field(capable, IB_PORT_CAPMASK_F) & HAS_EXTENDED_SPEEDS)
        beyond = field(info, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
    if (beyond == 0 && field(vendors, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) & VENDORS_FDR10)
        return SV_SPEED_FDR10;
    if (beyond > 0)
        return beyond < sizeof extended ? extended[beyond] : 0;
    return speed < sizeof plain ? plain[speed] : 0;
}

/* Data VLs from their code. */
static uint8_t vls_of(unsigned code)
{
    static const uint8_t vls[] = {0, 1, 2, 4, 8, 15};
    return code < sizeof vls ? vls[code] : 0;
}

static sv_link link_of(const ibnd_port_t *p)
{
    const ibnd_node_t *n = p->node;
    bool is_switch = n->type == IB_NODE_SWITCH && n->ports[0] != NULL;
    unsigned mtu = field(p->info, IB_PORT_NEIGHBOR_MTU_F);
    return (sv_link){.mtu_bytes = mtu >= 1 && mtu <= 5 ? (uint16_t)(128u << mtu) : 0,
                     .width = sv_width_of_code(field(p->info, IB_PORT_LINK_WIDTH_ACTIVE_F)),
                     .speed =
                         speed_of(p->info, is_switch ? n->ports[0]->info : p->info, p->ext_info),
                     .vls = vls_of(field(p->info, IB_PORT_VL_CAP_F))};
}

static sv_status add_end(struct scan *s, uint32_t device, const ibnd_port_t *p)
{
    char text[17];
    const ibnd_port_t *other = p->remoteport;
    if (other == p) { /* a loopback plug */
        s->loopbacks++;
        return SV_OK;
    }
    s->inactive += field(p->info, IB_PORT_STATE_F) != PORT_ACTIVE;
    sv__draft_end end = {.device = device,
                         .port = (uint16_t)p->portnum,
                         .remote = id_of(other->node, text),
                         .remote_port = (uint16_t)other->portnum,
                         .link = link_of(p)};
    if (p->node->type != IB_NODE_SWITCH) {
        end.guid = p->guid;
        end.lid = unicast(p->base_lid);
        end.lmc = p->lmc;
    }
    return sv__draft_add_end(&s->draft, &end);
}

static sv_status build(struct scan *s)
{
    SV_TRY(sort_nodes(s));
    for (size_t i = 0; i < s->count; i++)
        SV_TRY(add_device(s, s->nodes[i]));
    for (size_t i = 0; i < s->count; i++)
        for (int p = 1; p <= s->nodes[i]->numports; p++)
            if (s->nodes[i]->ports[p] != NULL && s->nodes[i]->ports[p]->remoteport != NULL)
                SV_TRY(add_end(s, (uint32_t)i, s->nodes[i]->ports[p]));
    SV_TRY(sv__draft_finish(&s->draft, &s->net->fabric));
    if (s->loopbacks > 0)
        sv_warn(s->net->ctx, "%u port(s) are cabled to themselves: left out", s->loopbacks);
    if (s->inactive > 0)
        sv_warn(s->net->ctx, "%u port(s) with a cable are not active: they carry no data yet",
                s->inactive);
    return SV_OK;
}

/* ---- ways, and what else is known of nodes ---- */

static const ibnd_node_t *node_of(const struct scan *s, uint64_t guid)
{
    return s->nodes[sv_map_get(&s->by_guid, guid)];
}

static sv__way way_of(const ibnd_node_t *n)
{
    sv__way way = {0};
    int hops = n->path_portid.drpath.cnt;
    way.hops = (uint8_t)(hops < 0 ? 0 : hops > SV__MAX_HOPS ? SV__MAX_HOPS : hops);
    memcpy(way.ports + 1, n->path_portid.drpath.p + 1, way.hops);
    return way;
}

static void note_switch(const struct scan *s, uint32_t i)
{
    sv__discover_net *net = s->net;
    const sv_fabric *f = net->fabric;
    const ibnd_node_t *n = node_of(s, f->switches[i].guid);
    unsigned top = field(n->switchinfo, IB_SW_LINEAR_FDB_TOP_F);
    net->targets[i].way = way_of(n);
    bool told = field(n->switchinfo, IB_SW_LINEAR_FDB_CAP_F) != 0; /* else it did not answer that */
    net->lft_top[i] = (uint16_t)(!told || top > SV_LID_MAX ? SV_LID_MAX : top);
    net->groups_top[i] = field(n->switchinfo, IB_SW_MCAST_FDB_CAP_F);
    unsigned last = field(n->switchinfo, IB_SW_MCAST_FDB_TOP_F); /* 0xbfff: none, 0: not set */
    net->groups_told[i] = n->ports[0] != NULL && last != 0 &&
                          (field(n->ports[0]->info, IB_PORT_CAPMASK_F) & HAS_GROUPS_TOP) != 0;
    if (net->groups_told[i])
        net->groups_top[i] = last >= SV__FIRST_MLID ? last - SV__FIRST_MLID + 1 : 0;
    SV_FOR_HOPS (f, (sv_node){i}, hop) {
        const ibnd_port_t *p = n->ports[f->port[hop->channel.i]];
        net->vls[hop->channel.i] = p == NULL ? 0 : vls_of(field(p->info, IB_PORT_OPER_VLS_F));
    }
}

static void note_terminal(const struct scan *s, uint32_t t)
{
    sv__discover_net *net = s->net;
    const sv_fabric *f = net->fabric;
    sv_node v = {f->num_switches + t};
    const sv_terminal_info *about = &f->terminals[t];
    const ibnd_node_t *n = node_of(s, f->adapters[about->adapter].guid);
    sv__target *target = &net->targets[v.i];
    bool own = n == s->found->from_node && about->port == s->found->from_portnum;
    target->way = way_of(n);
    SV_FOR_HOPS (f, v, hop) {
        const ibnd_port_t *p = n->ports[about->port];
        net->vls[hop->channel.i] = p == NULL ? 0 : vls_of(field(p->info, IB_PORT_OPER_VLS_F));
        if (own || !sv_is_switch(f, hop->to))
            continue;
        sv__way way = net->targets[hop->to.i].way;
        if (sv__way_extend(&way, f->port[f->reverse[hop->channel.i].i]))
            target->way = way;
    }
}

static sv_status note_nodes(const struct scan *s)
{
    sv__discover_net *net = s->net;
    const sv_fabric *f = net->fabric;
    net->targets = SV_ARENA_NEW(&net->arena, sv__target, sv_num_nodes(f));
    net->lft_top = SV_ARENA_NEW(&net->arena, uint16_t, f->num_switches);
    net->groups_top = SV_ARENA_NEW(&net->arena, uint32_t, f->num_switches);
    net->groups_told = SV_ARENA_NEW(&net->arena, bool, f->num_switches);
    net->vls = SV_ARENA_NEW(&net->arena, uint8_t, f->num_channels);
    if (net->targets == NULL || net->lft_top == NULL || net->groups_top == NULL ||
        net->groups_told == NULL || net->vls == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < f->num_switches; i++)
        note_switch(s, i);
    for (uint32_t t = 0; t < f->num_terminals; t++)
        note_terminal(s, t);
    const ibnd_port_t *own = s->found->from_node->ports[s->found->from_portnum];
    if (own != NULL) {
        net->sm_lid = unicast(field(own->info, IB_PORT_SMLID_F));
        net->sm_sl = (uint8_t)field(own->info, IB_PORT_SMSL_F);
    }
    return SV_OK;
}

sv_status sv__net_discover(sv__discover_net *net, const sv__port *port,
                           const sv_discover_options *o)
{
    struct scan s = {.net = net};
    struct ibnd_config config = {.max_smps = o->window,
                                 .timeout_ms = o->timeout_ms,
                                 .retries = o->tries > 1 ? o->tries - 1 : 1,
                                 .flags = IBND_CONFIG_MLX_EPI};
    char device[sizeof port->device], name[64];
    snprintf(device, sizeof device, "%s", port->device);
    snprintf(name, sizeof name, "%s port %d", port->device, port->number);
    SV_TRY(sv_progress(net->ctx, "discovering", 0, 0));
    s.found = ibnd_discover_fabric(device, port->number, NULL, &config);
    if (sv_cancelled(net->ctx) || s.found == NULL || s.found->from_node == NULL) {
        ibnd_destroy_fabric(s.found);
        SV_TRY(sv_progress(net->ctx, "discovering", 0, 0));
        return sv_fail(net->ctx, SV_IO, "cannot discover the fabric at port %d of '%s'",
                       port->number, port->device);
    }
    sv__draft_init(&s.draft, net->ctx, name);
    sv_map_init(&s.by_guid, net->ctx);
    sv_status status = build(&s);
    if (status == SV_OK)
        status = note_nodes(&s);
    sv_map_release(&s.by_guid);
    sv__draft_release(&s.draft);
    ibnd_destroy_fabric(s.found);
    return status;
}
