/*
 * systems.c: three real machines, rebuilt from what the papers publish.
 *
 * Only counts and a sketch of each fabric are published; where cables end is inferred, in the most
 * regular way that gives all published counts. docs/topologies.md lists which is which.
 *
 * Deimos: three 288-port directors in series, 30 cables between neighbours; a director is 24 leaf
 * and 12 spine chips of 24 ports, each leaf joined to each spine. 108 chips, 864 + 60 cables, and
 * 729 terminals, which makes the published 1,653 links (726 compute nodes; three more ports).
 *
 * TSUBAME2: each rail a full-bisection fat tree of 36-port switches: edge switches below six
 * 324-port directors (18 leaf and 9 spine chips, two cables each). Rail 1 is published with 258
 * switches, 1,555 terminals and 3,621 links, rail 2 with 243, 1,408 and 3,384; without the
 * directors' 162 chips and 1,944 cables that leaves 96 and 81 edge switches with 1,677 and 1,440
 * uplinks, spread evenly.
 *
 * Taurus: six islands, each a two-level fat tree with 18 uplinks a leaf, under one 216-port
 * director (12 leaf and 6 spine chips, three cables each). 211 switches, 2,090 terminals, 2,490
 * links and the 180-node QDR island are published; the table below is the inferred split, in which
 * every island's spine has two cables to the director.
 *
 * Slots: on leaf chips outward cables, then spines; on spine chips leaves, then outward cables.
 * Cost: linear.
 */
#include <string.h>

#include "topology/net.h"

enum { OUTWARD = 0, SPINES = 1 << 10, SPINE_OUTWARD = 1 << 11 };

sv_status sv__director(sv__topology_net *net, const char *name, uint32_t first, uint32_t leaves,
                       uint32_t spines, uint32_t copies)
{
    for (uint32_t i = 0; i < leaves; i++) {
        SV_TRY(sv__net_name(net, first + i, "%s-leaf%u", name, i));
        for (uint32_t j = 0; j < spines; j++)
            SV_TRY(sv__net_cable(net, first + i, SPINES + j, first + leaves + j, i, copies));
    }
    for (uint32_t j = 0; j < spines; j++) {
        net->leaf[first + leaves + j] = false;
        SV_TRY(sv__net_name(net, first + leaves + j, "%s-spine%u", name, j));
    }
    return SV_OK;
}

/* Deals terminals to switches first … first + count - 1 in turn, at most room[i] each. */
static uint32_t deal(uint32_t *hosts, uint32_t first, uint32_t count, const uint32_t *room,
                     uint32_t terminals)
{
    uint32_t dealt = 0;
    for (uint32_t before = SV_NONE; dealt < terminals && dealt != before;) {
        before = dealt;
        for (uint32_t i = 0; i < count && dealt < terminals; i++)
            if (hosts[first + i] < room[i]) {
                hosts[first + i]++;
                dealt++;
            }
    }
    return dealt;
}

static sv_status begin_system(sv__topology_net *net, uint32_t switches, sv_speed speed)
{
    SV_TRY(sv__net_begin(net, switches));
    net->default_speed = speed;
    net->hosts = SV_ARENA_NEW(&net->arena, uint32_t, switches);
    return net->hosts == NULL ? SV_NO_MEMORY : SV_OK;
}

/* ---- Deimos ---- */

static sv_status build_deimos(sv__topology_net *net)
{
    enum { LEAVES = 24, SPINE_CHIPS = 12, CHIPS = LEAVES + SPINE_CHIPS, BETWEEN = 30 };
    static const char *const names[3] = {"d0", "d1", "d2"};
    uint32_t room[3][LEAVES];
    uint64_t total;
    SV_TRY(sv__spec_number(net->spec, "total", 0, 744, 729, &total));
    SV_TRY(begin_system(net, 3 * CHIPS, SV_SPEED_SDR));
    net->compute = 726;
    for (uint32_t d = 0; d < 3; d++) {
        SV_TRY(sv__director(net, names[d], d * CHIPS, LEAVES, SPINE_CHIPS, 1));
        for (uint32_t i = 0; i < LEAVES; i++)
            room[d][i] = 12;
    }
    for (uint32_t d = 0; d < 2; d++)
        for (uint32_t k = 0; k < BETWEEN; k++) {
            uint32_t from = (k + 12 * d) % LEAVES, to = k % LEAVES;
            room[d][from]--;
            room[d + 1][to]--;
            SV_TRY(sv__net_cable(net, d * CHIPS + from, OUTWARD + d, (d + 1) * CHIPS + to,
                                 OUTWARD + d, 1));
        }
    /* The idle ports (744 less the terminals) are shared by the three directors, in turn. */
    uint32_t terminals[3] = {258, 228, 258};
    for (uint32_t idle = 744 - (uint32_t)total, d = 0; idle > 0; d = (d + 1) % 3)
        if (terminals[d] > 0) {
            terminals[d]--;
            idle--;
        }
    for (uint32_t d = 0; d < 3; d++)
        deal(net->hosts, d * CHIPS, LEAVES, room[d], terminals[d]);
    return SV_OK;
}

/* ---- TSUBAME2 ---- */

static sv_status build_tsubame2(sv__topology_net *net)
{
    enum { DIRECTORS = 6, LEAVES = 18, SPINE_CHIPS = 9, CHIPS = LEAVES + SPINE_CHIPS };
    static const struct {
        uint32_t edges, uplinks, terminals;
    } rails[2] = {{96, 1677, 1555}, {81, 1440, 1408}};
    uint64_t rail;
    SV_TRY(sv__spec_number(net->spec, "rail", 1, 2, 1, &rail));
    uint32_t edges = rails[rail - 1].edges, uplinks = rails[rail - 1].uplinks;
    SV_TRY(begin_system(net, edges + DIRECTORS * CHIPS, SV_SPEED_QDR));
    net->compute = 1408;
    uint32_t used[DIRECTORS] = {0}, *room = SV_ARENA_NEW(&net->arena, uint32_t, edges);
    if (room == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < edges; e++) {
        uint32_t mine = uplinks / edges + (e < uplinks % edges);
        room[e] = 36 - mine;
        SV_TRY(sv__net_name(net, e, "edge%u", e));
        for (uint32_t k = 0; k < mine; k++) {
            uint32_t d = (k + e) % DIRECTORS, chip = used[d]++ % LEAVES;
            SV_TRY(sv__net_cable(net, e, d, edges + d * CHIPS + chip, OUTWARD, 1));
        }
    }
    static const char *const names[DIRECTORS] = {"d0", "d1", "d2", "d3", "d4", "d5"};
    for (uint32_t d = 0; d < DIRECTORS; d++) {
        SV_TRY(sv__director(net, names[d], edges + d * CHIPS, LEAVES, SPINE_CHIPS, 2));
        for (uint32_t i = 0; i < LEAVES; i++)
            net->leaf[edges + d * CHIPS + i] = false;
    }
    deal(net->hosts, 0, edges, room, rails[rail - 1].terminals);
    return SV_OK;
}

/* ---- Taurus ---- */

struct island {
    const char *name;
    uint32_t leaves, spines, copies, terminals;
    sv_speed speed;
};

static const struct island islands[6] = {
    {"i1", 15, 18, 1, 270, SV_SPEED_FDR}, {"i3", 10, 6, 3, 180, SV_SPEED_QDR},
    {"i4", 14, 9, 2, 232, SV_SPEED_FDR},  {"i5", 34, 18, 1, 612, SV_SPEED_FDR},
    {"i6", 34, 18, 1, 612, SV_SPEED_FDR}, {"i2", 11, 6, 3, 184, SV_SPEED_FDR}};

static sv_status taurus_island(sv__topology_net *net, const struct island *island, uint32_t first,
                               uint32_t director, uint32_t *uplinks)
{
    enum { DIRECTOR_LEAVES = 12, UPLINKS = 2 };
    uint32_t room[64];
    SV_TRY(sv__director(net, island->name, first, island->leaves, island->spines, island->copies));
    for (uint32_t i = 0; i < island->leaves + island->spines; i++)
        net->speeds[first + i] = (uint8_t)island->speed;
    for (uint32_t j = 0; j < island->spines; j++)
        for (uint32_t k = 0; k < UPLINKS; k++)
            SV_TRY(sv__net_cable(net, first + island->leaves + j, SPINE_OUTWARD,
                                 director + (*uplinks)++ % DIRECTOR_LEAVES, OUTWARD, 1));
    for (uint32_t i = 0; i < island->leaves; i++)
        room[i] = 18;
    deal(net->hosts, first, island->leaves, room, island->terminals);
    return SV_OK;
}

static sv_status build_taurus(sv__topology_net *net)
{
    enum { SWITCHES = 211, DIRECTOR = SWITCHES - 18 };
    SV_TRY(begin_system(net, SWITCHES, SV_SPEED_FDR));
    net->compute = 2014;
    net->speeds = SV_ARENA_NEW(&net->arena, uint8_t, SWITCHES);
    if (net->speeds == NULL)
        return SV_NO_MEMORY;
    memset(net->speeds, SV_SPEED_FDR, SWITCHES);
    uint32_t first = 0, uplinks = 0;
    for (int i = 0; i < 6; i++) {
        SV_TRY(taurus_island(net, &islands[i], first, DIRECTOR, &uplinks));
        first += islands[i].leaves + islands[i].spines;
    }
    return sv__director(net, "core", DIRECTOR, 12, 6, 3);
}

const sv__family sv__deimos = {
    {"deimos", "Deimos (TU Dresden, 2007): three directors in series", "deimos",
     (const sv_topology_key[]){{"total", "terminals, at most 744 (default 729)"}, {NULL, NULL}}},
    build_deimos};
const sv__family sv__tsubame2 = {
    {"tsubame2", "TSUBAME2 (Tokyo Tech, 2010): one rail", "tsubame2:rail=2",
     (const sv_topology_key[]){{"rail", "1 (default) or 2"}, {NULL, NULL}}},
    build_tsubame2};
const sv__family sv__taurus = {
    {"taurus", "Taurus (TU Dresden, 2015): six islands under a director", "taurus", NULL},
    build_taurus};
