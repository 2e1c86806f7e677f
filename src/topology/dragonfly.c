/*
 * dragonfly.c: dragonflies, dragonflies with fat-tree groups (dragonfly+), and Cray's Cascade.
 *
 * Idea: groups, complete inside (or a leaf-spine tree, or a 16 x 6 HyperX), and every pair of
 * groups joined by equally many cables: floor(ports of a group / (g - 1)), the remaining ports
 * idle, which is where the link counts of the thesis' tables come from. Global port n of a group is
 * port n mod h of its switch n / h; ports are used in rounds of g - 1, one port a peer and round.
 * Which port of a round leads to which group is the arrangement (Kim et al. 2008; Camarero et al.
 * 2014; Hastings et al. 2015), with j = 0 … g - 2 and i the own group:
 *   absolute   group j, or j + 1 from the own number on
 *   relative   group i + j + 1
 *   circulant  groups i + 1, i - 1, i + 2, i - 2, …
 *   palmtree   group i - j - 1
 *
 * Slots: cables inside the group by the peer's index, then global ones.
 * Cost: linear in the cables.
 */
#include "topology/net.h"

sv_status sv__spec_arrangement(sv__spec *spec, sv__arrangement *arrangement)
{
    static const char *const names[] = {"absolute", "relative", "circulant", "palmtree"};
    sv_span value = sv__spec_text(spec, "arrangement");
    *arrangement = SV__ABSOLUTE;
    if (value.at == NULL)
        return SV_OK;
    for (int i = 0; i < 4; i++)
        if (sv_span_is(value, names[i])) {
            *arrangement = (sv__arrangement)i;
            return SV_OK;
        }
    return sv__spec_fail(spec,
                         "arrangement=%.*s is none of absolute, relative, circulant, palmtree",
                         SV_SPAN(value));
}

/* The group that port j of a round leads to, and the port of the round it comes in at there. */
static uint32_t peer_of(sv__arrangement arrangement, uint32_t g, uint32_t i, uint32_t j,
                        uint32_t *back)
{
    uint32_t step = j / 2 + 1;
    switch (arrangement) {
    case SV__RELATIVE:
        *back = g - 2 - j;
        return (i + j + 1) % g;
    case SV__PALMTREE:
        *back = g - 2 - j;
        return (i + g - j - 1) % g;
    case SV__CIRCULANT:
        if (j % 2 == 0) {
            *back = j + 1 < g - 1 ? j + 1 : j; /* half way round an even g: the same port */
            return (i + step) % g;
        }
        *back = j - 1;
        return (i + g - step) % g;
    case SV__ABSOLUTE:
        break;
    }
    uint32_t peer = j < i ? j : j + 1;
    *back = i < peer ? i : i - 1;
    return peer;
}

sv_status sv__net_global(sv__topology_net *net, uint32_t groups, uint32_t ports,
                         sv__arrangement arrangement, sv__global_end *end, const void *arg)
{
    if (groups < 2)
        return SV_OK;
    if (ports < groups - 1)
        return sv__spec_infeasible(net->spec, "%u groups need %u global ports each and have %u",
                                   groups, groups - 1, ports);
    for (uint32_t round = 0; round < ports / (groups - 1); round++)
        for (uint32_t i = 0; i < groups; i++)
            for (uint32_t j = 0; j < groups - 1; j++) {
                uint32_t back, s, slot, peer_s, peer_slot;
                uint32_t peer = peer_of(arrangement, groups, i, j, &back);
                if (peer < i)
                    continue;
                end(arg, i, round * (groups - 1) + j, &s, &slot);
                end(arg, peer, round * (groups - 1) + back, &peer_s, &peer_slot);
                SV_TRY(sv__net_cable(net, s, slot, peer_s, peer_slot, 1));
            }
    return SV_OK;
}

/* ---- dragonfly ---- */

struct shape {
    uint32_t a, h, size, offset; /* global ports sit on switches offset … offset + a - 1 */
};

static void global_end(const void *arg, uint32_t group, uint32_t port, uint32_t *s, uint32_t *slot)
{
    const struct shape *shape = arg;
    *s = group * shape->size + shape->offset + port / shape->h;
    *slot = SV__SLOTS / 2 + port % shape->h;
}

static sv_status read_groups(sv__topology_net *net, uint64_t *g, uint64_t *h,
                             sv__arrangement *arrangement)
{
    uint64_t p;
    SV_TRY(sv__spec_number(net->spec, "g", 1, 1 << 20, SV__REQUIRED, g));
    SV_TRY(sv__spec_number(net->spec, "h", 0, 60000, SV__REQUIRED, h));
    if (sv__spec_has(net->spec, "p") &&
        (sv__spec_has(net->spec, "hosts") || sv__spec_has(net->spec, "total")))
        return sv__spec_fail(net->spec, "p= and hosts= or total= exclude each other");
    SV_TRY(sv__spec_number(net->spec, "p", 0, 60000, 1, &p));
    net->default_hosts = (uint32_t)p;
    return sv__spec_arrangement(net->spec, arrangement);
}

static sv_status build_dragonfly(sv__topology_net *net)
{
    uint64_t a, h, g, switches;
    sv__arrangement arrangement;
    SV_TRY(sv__spec_number(net->spec, "a", 1, 60000, SV__REQUIRED, &a));
    SV_TRY(read_groups(net, &g, &h, &arrangement));
    if (!sv__product(a, g, &switches))
        return sv__spec_infeasible(net->spec, "more than 2^32 switches");
    SV_TRY(sv__net_begin(net, switches));
    SV_TRY(sv__net_expect(net, switches * (a - 1 + h)));
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t first = s - s % (uint32_t)a, own = s % (uint32_t)a;
        SV_TRY(sv__net_name(net, s, "g%u-sw%u", first / (uint32_t)a, own));
        for (uint32_t peer = own + 1; peer < a; peer++)
            SV_TRY(sv__net_cable(net, s, peer, first + peer, own, 1));
    }
    struct shape shape = {(uint32_t)a, (uint32_t)h, (uint32_t)a, 0};
    return sv__net_global(net, (uint32_t)g, (uint32_t)(a * h), arrangement, global_end, &shape);
}

static sv_status build_dragonflyplus(sv__topology_net *net)
{
    uint64_t l, s, h, g, switches;
    sv__arrangement arrangement;
    SV_TRY(sv__spec_number(net->spec, "l", 1, 30000, SV__REQUIRED, &l));
    SV_TRY(sv__spec_number(net->spec, "s", 1, 30000, SV__REQUIRED, &s));
    SV_TRY(read_groups(net, &g, &h, &arrangement));
    if (!sv__product(l + s, g, &switches))
        return sv__spec_infeasible(net->spec, "more than 2^32 switches");
    SV_TRY(sv__net_begin(net, switches));
    SV_TRY(sv__net_expect(net, g * (2 * l * s + s * h)));
    for (uint32_t i = 0; i < g; i++) {
        uint32_t first = i * (uint32_t)(l + s), spine = first + (uint32_t)l;
        for (uint32_t k = 0; k < l; k++) {
            SV_TRY(sv__net_name(net, first + k, "g%u-leaf%u", i, k));
            for (uint32_t up = 0; up < s; up++)
                SV_TRY(sv__net_cable(net, first + k, up, spine + up, k, 1));
        }
        for (uint32_t up = 0; up < s; up++) {
            net->leaf[spine + up] = false;
            SV_TRY(sv__net_name(net, spine + up, "g%u-spine%u", i, up));
        }
    }
    struct shape shape = {(uint32_t)s, (uint32_t)h, (uint32_t)(l + s), (uint32_t)l};
    return sv__net_global(net, (uint32_t)g, (uint32_t)(s * h), arrangement, global_end, &shape);
}

/* ---- Cascade ---- */

enum { COLUMNS = 16, ROWS = 6, GROUP = COLUMNS * ROWS, SHORT_AXIS = 3, OPTICAL = 10 * GROUP };

static sv_status cascade_group(sv__topology_net *net, uint32_t group)
{
    for (uint32_t own = 0; own < GROUP; own++) {
        uint32_t s = group * GROUP + own, x = own % COLUMNS, y = own / COLUMNS;
        SV_TRY(sv__net_name(net, s, "g%u-x%u-y%u", group, x, y));
        for (uint32_t to = x + 1; to < COLUMNS; to++)
            SV_TRY(sv__net_cable(net, s, to, s + to - x, x, 1));
        for (uint32_t to = y + 1; to < ROWS; to++)
            SV_TRY(sv__net_cable(net, s, COLUMNS + to, s + (to - y) * COLUMNS, COLUMNS + y,
                                 SHORT_AXIS));
    }
    return SV_OK;
}

/*
 * The switch that a group's global port sits on: ports are dealt to the switches in laps. Each lap
 * is turned by some rows, in each group by another number, so that a second cable between two
 * groups does not join the same two switches again.
 */
static uint32_t cascade_switch(uint32_t group, uint32_t port)
{
    return group * GROUP + (port + port / GROUP * COLUMNS * group) % GROUP;
}

static sv_status cascade_pair(sv__topology_net *net, uint32_t low, uint32_t high, uint32_t cables)
{
    for (uint32_t k = 0; k < cables; k++) {
        uint32_t port = (high - 1) * cables + k, peer = low * cables + k;
        SV_TRY(sv__net_cable(net, cascade_switch(low, port), SV__SLOTS / 2 + port,
                             cascade_switch(high, peer), SV__SLOTS / 2 + peer, 1));
    }
    return SV_OK;
}

static sv_status build_cascade(sv__topology_net *net)
{
    uint64_t g, cables;
    net->default_hosts = 8;
    SV_TRY(sv__spec_number(net->spec, "g", 1, OPTICAL / 4 + 1, SV__REQUIRED, &g));
    uint64_t max = g < 2 ? 0 : OPTICAL / (g - 1);
    uint64_t usual = (max < 192 ? max : 192) / 4 * 4;
    SV_TRY(sv__spec_number(net->spec, "global", 1, OPTICAL, usual, &cables));
    if (g > 1 && cables > max)
        return sv__spec_infeasible(net->spec, "%u groups leave each pair %u of %u global ports",
                                   (unsigned)g, (unsigned)max, OPTICAL);
    SV_TRY(sv__net_begin(net, g * GROUP));
    for (uint32_t i = 0; i < g; i++)
        SV_TRY(cascade_group(net, i));
    for (uint32_t low = 0; low < g; low++)
        for (uint32_t high = low + 1; high < g; high++)
            SV_TRY(cascade_pair(net, low, high, (uint32_t)cables));
    return SV_OK;
}

#define ARRANGEMENT                                                                                \
    {                                                                                              \
        "arrangement", "absolute (default), relative, circulant or palmtree"                       \
    }

const sv__family sv__dragonfly = {
    {"dragonfly", "dragonfly, complete graphs inside and between groups",
     "dragonfly:a=12,p=6,h=6,g=15",
     (const sv_topology_key[]){{"a", "switches in a group"},
                               {"p", "terminals on a switch (default 1)"},
                               {"h", "global ports of a switch"},
                               {"g", "groups, at most a * h + 1"},
                               ARRANGEMENT,
                               {NULL, NULL}}},
    build_dragonfly};
const sv__family sv__dragonflyplus = {
    {"dragonfly+", "dragonfly of leaf-spine groups", "dragonfly+:l=8,s=8,p=8,h=8,g=9",
     (const sv_topology_key[]){{"l", "leaf switches in a group"},
                               {"s", "spine switches in a group"},
                               {"p", "terminals on a leaf switch (default 1)"},
                               {"h", "global ports of a spine switch"},
                               {"g", "groups, at most s * h + 1"},
                               ARRANGEMENT,
                               {NULL, NULL}}},
    build_dragonflyplus};
const sv__family sv__cascade = {
    {"cascade", "Cray Cascade: groups of 16 x 6 switches, 8 terminals each", "cascade:g=2",
     (const sv_topology_key[]){
         {"g", "groups, at most 241"},
         {"global", "cables between two groups (default 192 or what the ports allow)"},
         {NULL, NULL}}},
    build_cascade};
