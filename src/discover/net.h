/*
 * net.h: what the files of this room share: the fabric with ways to its nodes, the port that
 * datagrams go through, and the three stages.
 */
#ifndef SV_DISCOVER_NET_H
#define SV_DISCOVER_NET_H

#include <selvage/experimental/discover.h>

#include "discover/window.h"

/* A node that can be asked. */
typedef struct sv__target {
    sv__way way;
    bool silent; /* it left a question unanswered, and is asked no more */
} sv__target;

typedef struct sv__discover_net {
    sv_ctx *ctx;
    sv_arena arena;
    sv_fabric *fabric;
    sv__target *targets;  /* [nodes] */
    uint16_t *lft_top;    /* [switches]: the highest LID with an entry */
    uint32_t *groups_top; /* [switches]: multicast LIDs that may have one, from 0xc000 on */
    bool *groups_told;    /* [switches]: that is exact; else it is what there is room for */
    uint8_t *vls;         /* [channels]: data VLs that are in operation, or 0 */
    uint16_t sm_lid;
    uint8_t sm_sl;
    unsigned lmc;
} sv__discover_net;

/* An adapter's port of this host, with libibumad behind it. */
typedef struct sv__port {
    sv_ctx *ctx;
    char device[32];
    int number;
    int descriptor, directed, sa; /* agents; -1: not there */
    unsigned timeout_ms;
    uint16_t sm_lid;
    uint8_t sm_sl;
    uint64_t flying; /* sent, and nothing came back yet */
    uint8_t *buffer;
} sv__port;

/* Finds the port and makes sure that it may be used. device NULL, number 0: the first active. */
sv_status sv__port_find(sv__port *port, sv_ctx *ctx, const char *device, unsigned number);
/* Opens it for datagrams of both classes. After discovery: a simulated port knows one user. */
sv_status sv__port_open(sv__port *port);
void sv__port_close(sv__port *port);
sv__discover_wire sv__port_wire(sv__port *port);

/* The fabric through libibnetdisc, and the ways. net->arena must be there. */
sv_status sv__net_discover(sv__discover_net *net, const sv__port *port,
                           const sv_discover_options *options);

/* Fills tables for the fabric of a net; both count what they do. */
sv_status sv__read_tables(sv__discover_net *net, sv__window *window, sv_routes *routes,
                          sv_discovery *found);
sv_status sv__read_sls(sv__discover_net *net, sv__window *window, sv_routes *routes,
                       sv_discovery *found);

/* SLs by node, all of them asked for, in the smallest form that says the same. */
sv_status sv__shrink_sls(sv_ctx *ctx, const sv_fabric *fabric, sv_routes *routes);

#endif
