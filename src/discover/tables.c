/*
 * tables.c: what is programmed into switches and adapters: forwarding tables, VLs, multicast.
 *
 * Idea: everything is asked of all nodes in turn (the first block of every switch, then the second
 * of every switch, and so on): so the questions that are on the wire together go to different
 * nodes, whose small buffers for management datagrams then do not overflow. Answers are put into
 * the tables as they come.
 *
 * - Forwarding tables: blocks of 64 LIDs up to the switch's LinearFDBTop, above which there are no
 *   entries, or the highest LID that anybody has.
 * - SL to VL: every pair of an in port (0: the switch itself) and an out port with a cable; one for
 *   a terminal. A port with one VL in operation has no choice, and is not asked.
 * - Multicast: blocks of 32 MLIDs × 16 ports up to the switch's MulticastFDBTop. Older switches do
 *   not tell that: they are asked until 256 MLIDs in a row were nobody's.
 *
 * A node that leaves a question unanswered is asked no more. VLs of pairs of ports without cables
 * are nobody's: they are taken to be like those of the first pair, so that most switches need one
 * table.
 *
 * Invariants: a port that the switch does not have is no entry (such packets are discarded).
 * Cost: switches × LIDs / 64 + pairs of ports + ports / 16 × MLIDs / 32 datagrams.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "discover/net.h"
#include "formats/tables.h"

enum { EMPTY_ROUNDS = 8, NAMED_AT_MAX = 10 };

struct reading {
    sv__discover_net *net;
    const sv_fabric *fabric;
    sv_routes *routes;
    sv_discovery *found;
    uint32_t *by_lid;    /* [SV_LID_MAX + 1]: destination, or SV_NONE */
    uint32_t last_table; /* of VLs: they are mostly alike */
    uint64_t bad_ports;
    uint32_t round;   /* of multicast: which 32 MLIDs */
    bool vls_missing; /* of a switch */
    bool round_used;
};

/* A question of a node without an answer. */
static void note_silence(struct reading *r, sv_node v)
{
    r->found->unanswered++;
    if (r->net->targets[v.i].silent)
        return;
    r->net->targets[v.i].silent = true;
    if (r->found->silent++ < NAMED_AT_MAX)
        sv_warn(r->net->ctx, "%s \"%s\" (0x%016llx) does not answer: its tables are not known",
                sv_is_switch(r->fabric, v) ? "switch" : "adapter", sv_node_name(r->fabric, v),
                (unsigned long long)sv_node_guid(r->fabric, v));
}

/* Whether an answer is one: it came, and does not say that there is no such thing. */
static bool is_good(struct reading *r, sv_node v, const uint8_t *mad)
{
    if (mad == NULL)
        note_silence(r, v);
    else if (sv__mad_status(mad) != 0)
        r->found->unanswered++;
    return mad != NULL && sv__mad_status(mad) == 0;
}

static sv_status run(struct reading *r, sv__window *window, const char *what, uint64_t count,
                     bool (*ask)(void *, uint64_t, uint8_t *),
                     sv_status (*take)(void *, uint64_t, const uint8_t *))
{
    sv__questions q = {.what = what, .count = count, .user = r, .ask = ask, .take = take};
    return sv__window_run(window, &q);
}

/* ---- forwarding tables ---- */

static sv_status index_lids(struct reading *r)
{
    sv_routes *t = r->routes;
    uint32_t twice = 0, example = 0;
    r->by_lid = SV_ARENA_NEW(&r->net->arena, uint32_t, SV_LID_MAX + 1);
    if (r->by_lid == NULL)
        return SV_NO_MEMORY;
    for (uint32_t lid = 0; lid <= SV_LID_MAX; lid++)
        r->by_lid[lid] = SV_NONE;
    for (uint32_t d = 0; d < t->num_destinations; d++) {
        if (t->lid[d] == 0)
            continue;
        if (r->by_lid[t->lid[d]] == SV_NONE) {
            r->by_lid[t->lid[d]] = d;
        } else {
            twice++;
            example = t->lid[d];
        }
    }
    if (twice > 0)
        sv_warn(r->net->ctx, "%u LID(s) belong to more than one node, %u for example", twice,
                example);
    return SV_OK;
}

static bool ask_lft(void *user, uint64_t i, uint8_t *mad)
{
    const struct reading *r = user;
    uint32_t s = (uint32_t)(i % r->fabric->num_switches);
    uint32_t block = (uint32_t)(i / r->fabric->num_switches);
    const sv__target *target = &r->net->targets[s];
    if (target->silent || block * SV_LFT_BLOCK > r->net->lft_top[s])
        return false;
    sv__mad_ask_node(mad, &target->way, SV__LFT_TABLE, block);
    return true;
}

static sv_status take_lft(void *user, uint64_t i, const uint8_t *mad)
{
    struct reading *r = user;
    sv_node s = {(uint32_t)(i % r->fabric->num_switches)};
    uint32_t first = (uint32_t)(i / r->fabric->num_switches) * SV_LFT_BLOCK;
    if (!is_good(r, s, mad))
        return SV_OK;
    r->found->lft_blocks++;
    for (uint32_t k = 0; k < SV_LFT_BLOCK && first + k <= r->net->lft_top[s.i]; k++) {
        uint32_t d = r->by_lid[first + k];
        unsigned port = mad[SV__MAD_DATA + k];
        if (d == SV_NONE)
            continue;
        if (port != SV_NO_PORT && port > r->fabric->switches[s.i].ports) {
            r->bad_ports++;
            port = SV_NO_PORT;
        }
        uint8_t *row = sv_routes_row(r->net->ctx, r->routes, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        row[s.i] = (uint8_t)port;
    }
    return SV_OK;
}

static sv_status read_lfts(struct reading *r, sv__window *window)
{
    uint64_t blocks = 0;
    uint16_t highest = 0;
    SV_TRY(index_lids(r));
    for (uint32_t d = 0; d < r->routes->num_destinations; d++)
        highest = r->routes->lid[d] > highest ? r->routes->lid[d] : highest;
    for (uint32_t s = 0; s < r->fabric->num_switches; s++) {
        if (r->net->lft_top[s] > highest)
            r->net->lft_top[s] = highest;
        if (blocks < r->net->lft_top[s] / SV_LFT_BLOCK + 1u)
            blocks = r->net->lft_top[s] / SV_LFT_BLOCK + 1u;
    }
    SV_TRY(
        run(r, window, "forwarding tables", blocks * r->fabric->num_switches, ask_lft, take_lft));
    if (r->bad_ports > 0)
        sv_warn(r->net->ctx, "%llu entries name ports that their switch does not have",
                (unsigned long long)r->bad_ports);
    return SV_OK;
}

/* ---- VLs ---- */

/* The ports of a switch that packets come in or go out at: for the in ports, 0 stands before. */
static uint32_t cabled(const struct reading *r, uint32_t s)
{
    return r->fabric->first[s + 1] - r->fabric->first[s];
}

static unsigned cabled_port(const struct reading *r, uint32_t s, uint64_t i)
{
    return r->fabric->port[r->fabric->hops[r->fabric->first[s] + i].channel.i];
}

/* Question i is pair i / nodes of a node: which in and out port that is; false: it has no more. */
static bool pair_of(const struct reading *r, uint64_t i, sv_node *v, unsigned *in, unsigned *out,
                    unsigned *vls)
{
    uint64_t pair = i / sv_num_nodes(r->fabric);
    v->i = (uint32_t)(i % sv_num_nodes(r->fabric));
    uint64_t ports = cabled(r, v->i);
    bool is_switch = sv_is_switch(r->fabric, *v);
    *in = *out = 0;
    if (ports == 0 || pair >= (is_switch ? ports * (ports + 1) : 1))
        return false;
    uint64_t to = pair / (ports + 1), from = pair % (ports + 1);
    if (is_switch) {
        *out = cabled_port(r, v->i, to);
        *in = from == 0 ? 0 : cabled_port(r, v->i, from - 1);
    }
    *vls = r->net->vls[r->fabric->hops[r->fabric->first[v->i] + (is_switch ? to : 0)].channel.i];
    return true;
}

static bool ask_vls(void *user, uint64_t i, uint8_t *mad)
{
    const struct reading *r = user;
    sv_node v;
    unsigned in, out, vls;
    if (!pair_of(r, i, &v, &in, &out, &vls) || vls == 1 || r->net->targets[v.i].silent)
        return false;
    sv__mad_ask_node(mad, &r->net->targets[v.i].way, SV__SL2VL_TABLE, in << 8 | out);
    return true;
}

static sv_status take_vls(void *user, uint64_t i, const uint8_t *mad)
{
    struct reading *r = user;
    sv_routes *t = r->routes;
    sv_node v;
    unsigned in, out, vls;
    if (!pair_of(r, i, &v, &in, &out, &vls))
        return SV_OK;
    if (!is_good(r, v, mad)) {
        r->vls_missing |= sv_is_switch(r->fabric, v);
        return SV_OK;
    }
    r->found->sl2vl_tables++;
    sv_sl2vl told = sv__mad_vls(mad);
    uint32_t table = r->last_table;
    if (memcmp(&t->vl_tables[table], &told, sizeof told) != 0)
        table = sv_routes_sl2vl_table(r->net->ctx, t, &told);
    if (table == SV_NONE)
        return SV_NO_MEMORY;
    r->last_table = table;
    if (sv_is_switch(r->fabric, v))
        return sv_routes_set_sl2vl(r->net->ctx, r->fabric, t, v, in, out, table);
    t->vls_of[v.i] = (uint16_t)table;
    return SV_OK;
}

/* Pairs of ports without cables get the table of the first pair with. */
static void fill_unused(const struct reading *r, uint32_t s)
{
    const sv_fabric *f = r->fabric;
    size_t ports = f->switches[s].ports + 1u;
    uint16_t *held = r->routes->sl2vl_by_port[s];
    uint64_t used[4] = {1};
    if (held == NULL)
        return;
    for (uint32_t i = 0; i < cabled(r, s); i++)
        sv_bit_set(used, cabled_port(r, s, i));
    uint16_t usual = held[cabled_port(r, s, 0)];
    for (size_t in = 0; in < ports; in++)
        for (size_t out = 0; out < ports; out++)
            if (out == 0 || !sv_bit(used, in) || !sv_bit(used, out))
                held[in * ports + out] = usual;
}

static sv_status read_vls(struct reading *r, sv__window *window)
{
    const sv_fabric *f = r->fabric;
    uint64_t max = 1;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        uint64_t ports = cabled(r, s);
        max = ports * (ports + 1) > max ? ports * (ports + 1) : max;
    }
    SV_TRY(run(r, window, "tables of VLs", max * sv_num_nodes(f), ask_vls, take_vls));
    for (uint32_t s = 0; s < f->num_switches; s++) {
        r->vls_missing |= r->net->targets[s].silent;
        fill_unused(r, s);
    }
    sv__simplify_vls(f, r->routes);
    r->routes->sl2vl_known = !r->vls_missing;
    if (r->vls_missing)
        sv_warn(r->net->ctx, "VLs are not known of all switches, and so not written");
    return SV_OK;
}

/* ---- multicast ---- */

static unsigned positions(const struct reading *r, uint32_t s)
{
    return r->fabric->switches[s].ports / SV__MFT_PORTS + 1;
}

/* Question i of a round: switch i % switches, ports from 16 × (i / switches) on. */
static bool ask_groups(void *user, uint64_t i, uint8_t *mad)
{
    const struct reading *r = user;
    uint32_t s = (uint32_t)(i % r->fabric->num_switches);
    uint32_t position = (uint32_t)(i / r->fabric->num_switches);
    const sv__target *target = &r->net->targets[s];
    if (target->silent || position >= positions(r, s) ||
        r->round * SV__MFT_BLOCK >= r->net->groups_top[s])
        return false;
    sv__mad_ask_node(mad, &target->way, SV__MFT_TABLE, position << 28 | r->round);
    return true;
}

static sv_status take_groups(void *user, uint64_t i, const uint8_t *mad)
{
    struct reading *r = user;
    sv_node s = {(uint32_t)(i % r->fabric->num_switches)};
    unsigned base = (unsigned)(i / r->fabric->num_switches) * SV__MFT_PORTS;
    if (!is_good(r, s, mad))
        return SV_OK;
    r->found->mft_blocks++;
    for (unsigned k = 0; k < SV__MFT_BLOCK; k++) {
        unsigned ports = sv__mad_group_ports(mad, k), mlid = SV__FIRST_MLID + k;
        mlid += r->round * SV__MFT_BLOCK;
        if (ports == 0 || mlid > SV__LAST_MLID)
            continue;
        r->round_used = true;
        sv_group *group = NULL;
        for (uint32_t g = r->routes->num_groups; g > 0 && group == NULL; g--)
            if (r->routes->groups[g - 1].mlid == mlid)
                group = &r->routes->groups[g - 1];
        if (group == NULL)
            SV_TRY(sv_routes_add_group(r->net->ctx, r->routes, mlid, &group));
        for (unsigned p = 0; p < SV__MFT_PORTS; p++)
            if (ports >> p & 1 && base + p <= r->fabric->switches[s.i].ports)
                sv_bit_set(group->ports[s.i], base + p);
    }
    return SV_OK;
}

static int by_mlid(const void *a, const void *b)
{
    const sv_group *x = a, *y = b;
    return x->mlid < y->mlid ? -1 : x->mlid > y->mlid;
}

static sv_status read_groups(struct reading *r, sv__window *window)
{
    const sv_fabric *f = r->fabric;
    uint32_t told = 0, room = 0, empty = 0;
    unsigned max = 0;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        uint32_t top = r->net->groups_top[s];
        max = positions(r, s) > max ? positions(r, s) : max;
        room = top > room ? top : room;
        told = r->net->groups_told[s] && top > told ? top : told;
    }
    for (; r->round * SV__MFT_BLOCK < room; r->round++) {
        if (empty >= EMPTY_ROUNDS && r->round * SV__MFT_BLOCK >= told)
            break;
        r->round_used = false;
        SV_TRY(run(r, window, "multicast tables", (uint64_t)max * f->num_switches, ask_groups,
                   take_groups));
        empty = r->round_used ? 0 : empty + 1;
    }
    if (r->routes->num_groups > 1)
        qsort(r->routes->groups, r->routes->num_groups, sizeof(sv_group), by_mlid);
    return SV_OK;
}

sv_status sv__read_tables(sv__discover_net *net, sv__window *window, sv_routes *routes,
                          sv_discovery *found)
{
    struct reading r = {.net = net, .fabric = net->fabric, .routes = routes, .found = found};
    SV_TRY(read_lfts(&r, window));
    SV_TRY(read_vls(&r, window));
    SV_TRY(read_groups(&r, window));
    if (found->silent > NAMED_AT_MAX)
        sv_warn(net->ctx, "%u nodes in all do not answer", found->silent);
    return SV_OK;
}
