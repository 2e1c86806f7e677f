/*
 * net.h: a topology on the drawing board, between a family's construction rule and the fabric.
 *
 * A family says how many switches there are, what they are called, which of them take terminals,
 * and which pairs are cabled in which slot. Slots order the ports of a switch: terminals come
 * first, then cables by ascending slot. All the rest (spreading terminals, redundancy, radix,
 * speeds, GUIDs) is the same for every family and done here.
 *
 * To add a family: one file with a build function and an sv__family, one line in registry.c, a row
 * in tests/unit/topology/test_families.c, a section in docs/topologies.md.
 */
#ifndef SV_TOPOLOGY_NET_H
#define SV_TOPOLOGY_NET_H

#include <selvage/topology.h>

#include "base/arena.h"
#include "base/array.h"
#include "text/spec.h"

struct sv__net_cable {
    uint32_t a, b;           /* switches */
    uint32_t slot_a, slot_b; /* below SV__SLOTS */
    uint32_t copies;
};

enum { SV__SLOTS = 1 << 22 };

typedef struct sv__topology_net {
    sv_ctx *ctx;
    sv_arena arena;
    sv__spec *spec;
    uint32_t num_switches;
    const char **names;
    bool *leaf;             /* takes terminals; all do by default */
    uint32_t *hosts;        /* terminals of each switch, if the family fixes them; else NULL */
    uint8_t *speeds;        /* sv_speed of each switch, if the family fixes them; else NULL */
    uint32_t default_hosts; /* on each leaf; 1 unless the family changes it */
    uint32_t compute;       /* the first so many terminals compute, others are other: SV_NONE */
    sv_speed default_speed;
    SV_ARRAY(struct sv__net_cable) cables;
} sv__topology_net;

typedef struct sv__family {
    sv_topology_info info;
    sv_status (*build)(sv__topology_net *net);
} sv__family;

/* Sets the number of switches. INFEASIBLE when that is absurd. Must come before what follows. */
sv_status sv__net_begin(sv__topology_net *net, uint64_t switches);

/* Refuses an absurd number of cabled ports before anybody starts cabling. */
sv_status sv__net_expect(sv__topology_net *net, uint64_t ports);

/* Names a switch. Unnamed ones are called "sw" and their number. */
sv_status sv__net_name(sv__topology_net *net, uint32_t s, const char *format, ...) SV_PRINTF(3, 4);

/* Joins two switches by copies cables (times r). */
sv_status sv__net_cable(sv__topology_net *net, uint32_t a, uint32_t slot_a, uint32_t b,
                        uint32_t slot_b, uint32_t copies);

/* How many terminals each switch will get, by hosts=, total= or the family's default. */
sv_status sv__net_count_hosts(sv__topology_net *net, uint32_t **hosts);

/* Builds the fabric. */
sv_status sv__net_finish(sv__topology_net *net, sv_fabric **fabric);

/* x = a * b, or false when that is more than 2^32. */
bool sv__product(uint64_t a, uint64_t b, uint64_t *x);

/* Ways to pair the global ports of groups (dragonflies). */
typedef enum sv__arrangement {
    SV__ABSOLUTE,
    SV__RELATIVE,
    SV__CIRCULANT,
    SV__PALMTREE
} sv__arrangement;

sv_status sv__spec_arrangement(sv__spec *spec, sv__arrangement *arrangement);

/*
 * Joins every pair of groups by as many cables as the ports allow, equally many for each pair;
 * ports that are left stay idle. end says which switch and slot a group's port is.
 */
typedef void sv__global_end(const void *arg, uint32_t group, uint32_t port, uint32_t *s,
                            uint32_t *slot);
sv_status sv__net_global(sv__topology_net *net, uint32_t groups, uint32_t ports,
                         sv__arrangement arrangement, sv__global_end *end, const void *arg);

/* All families; ends with NULL. */
extern const sv__family *const sv__families[];

/* Two constructions that several families share. */
sv_status sv__build_xgft(sv__topology_net *net, uint32_t h, const uint64_t *m, const uint64_t *w);
sv_status sv__build_hyperx(sv__topology_net *net, const uint64_t *dims, size_t count,
                           const uint64_t *copies);
/* A director-class switch: leaf chips, each joined to each spine chip by copies cables. */
sv_status sv__director(sv__topology_net *net, const char *name, uint32_t first, uint32_t leaves,
                       uint32_t spines, uint32_t copies);

#endif
