/*
 * graph.c: the dependencies among which a tree is grown.
 *
 * depend.c tells what unicast packets of all SLs wait for: exactly, not what tables would allow.
 * For one SL only some VLs matter: those that multicast packets of it go to, and those that
 * packets change to and from these. With VLs that stay as they are that is one; with VLs by
 * turn (docs/decisions/0014) a pair. Each channel is there once for each of them, in a graph that
 * is kept free of cycles (cdg.h).
 *
 * On a channel out of a switch, packets of the tree have the VLs that the switch gives them by
 * the port they came in at: from its terminals, its own port, and the tree's other channels. Not by
 * the VL they came on. So a cable that comes to the tree changes the VLs of its neighbours and
 * what these wait for, but nothing farther away.
 *
 * Invariants: the graph has no cycle; for every two cables of the tree at a switch, and each VL
 * of the one inwards, there is a turn to the VL on which packets leave by the other.
 *
 * Cost: that of one walk over all destinations (depend.c), and 8 bytes for each two cables of a
 * switch times VLs squared. A cable costs the tree's cables at its two ends, times VLs.
 */
#include <string.h>

#include "base/bitset.h"
#include "multicast/multicast.h"

/* ---- unicast ---- */

static void join_vls(sv__mcast *m, unsigned a, unsigned b)
{
    m->joined[a] |= (uint64_t)1 << b;
    m->joined[b] |= (uint64_t)1 << a;
}

static sv_status note_vls(void *arg, sv__muse waits, sv__muse for_whom)
{
    join_vls(arg, waits.vl, for_whom.vl);
    return SV_OK;
}

static sv_status walk(sv__mcast *m)
{
    bool cyclic;
    SV_TRY(sv__mdeps_init(&m->deps, m->arena, m->fabric, m->routes, m->traffic, &m->core,
                          m->entry_of));
    m->place = SV_ARENA_NEW(m->arena, uint32_t, (size_t)m->core.num_entries * m->deps.vls);
    if (m->place == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__mdeps_order(&m->deps, m->arena, m->place, &cyclic));
    if (cyclic)
        return sv_fail(m->ctx, SV_INFEASIBLE,
                       "these tables can deadlock even without multicast packets");
    return sv__mdeps_each(&m->deps, note_vls, m);
}

static unsigned vl_at(const sv__mcast *m, unsigned sl, uint32_t s, unsigned in, unsigned out)
{
    return sv_route_sl2vl(m->routes, m->fabric, (sv_node){s}, in, out)->of_sl[sl];
}

/* All VLs that switches send packets of an SL to. */
static uint64_t vls_of_sl(const sv__mcast *m, unsigned sl)
{
    const sv_fabric *f = m->fabric;
    uint64_t all = 0;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        bool by_ports = m->routes->sl2vl_by_port[s] != NULL;
        unsigned vl = vl_at(m, sl, s, 0, 0);
        all |= vl == SV_NO_VL ? 0 : (uint64_t)1 << vl;
        SV_FOR_HOPS (f, (sv_node){s}, out) {
            if (!by_ports)
                break;
            vl = vl_at(m, sl, s, 0, f->port[out->channel.i]);
            all |= vl == SV_NO_VL ? 0 : (uint64_t)1 << vl;
            SV_FOR_HOPS (f, (sv_node){s}, in) {
                vl = vl_at(m, sl, s, f->port[in->channel.i], f->port[out->channel.i]);
                all |= vl == SV_NO_VL || in == out ? 0 : (uint64_t)1 << vl;
            }
        }
    }
    return all;
}

/* VLs of another tree's packets matter together or not at all. */
static void join_tree(sv__mcast *m, const sv_mtree *tree)
{
    uint64_t all = vls_of_sl(m, tree->sl);
    for (uint64_t left = all; left != 0; left &= left - 1)
        m->joined[__builtin_ctzll(left)] |= all;
}

sv_status sv__mcast_init(sv__mcast *m, sv_arena *arena, const sv_fabric *f, const sv_routes *r,
                         sv_traffic traffic, unsigned sl, const sv_mtree *const *others,
                         size_t num_others)
{
    *m = (sv__mcast){.ctx = arena->ctx,
                     .arena = arena,
                     .fabric = f,
                     .routes = r,
                     .traffic = traffic,
                     .others = others,
                     .num_others = num_others};
    if ((unsigned)traffic >= SV_TRAFFIC_COUNT)
        return sv_fail(m->ctx, SV_BAD_INPUT, "there is no such kind of traffic");
    if (sl >= r->num_sls)
        return sv_fail(m->ctx, SV_BAD_INPUT, "the tables have no SL %u (they have 0 to %u)", sl,
                       r->num_sls - 1u);
    for (size_t i = 0; i < num_others; i++)
        if (others[i]->num_switches != f->num_switches || others[i]->sl >= r->num_sls)
            return sv_fail(m->ctx, SV_BAD_INPUT, "a tree that belongs to other tables");
    SV_TRY(sv_core_init(&m->core, arena, f));
    m->entry_of = SV_ARENA_NEW(arena, uint32_t, f->num_channels);
    if (m->entry_of == NULL)
        return SV_NO_MEMORY;
    memset(m->entry_of, 0xff, f->num_channels * sizeof *m->entry_of);
    for (uint32_t e = 0; e < m->core.num_entries; e++)
        m->entry_of[m->core.entries[e].channel] = e;
    SV_TRY(walk(m));
    for (size_t i = 0; i < num_others; i++)
        join_tree(m, others[i]);
    return SV_OK;
}

/* ---- VLs ---- */

/* The VL on which packets leave by one entry that came by another. */
static unsigned vl_of(const sv__mgraph *g, uint32_t in, uint32_t out)
{
    const sv_core *core = &g->m->core;
    return vl_at(g->m, g->sl, core->to[in], core->port[in], core->entries[out].port);
}

/* On which VLs packets set out by an entry, from the terminals of its switch and from itself. */
static uint64_t starts_of(const sv__mcast *m, unsigned sl, uint32_t entry)
{
    const sv_fabric *f = m->fabric;
    uint32_t s = m->core.entries[entry].from;
    unsigned out = m->core.entries[entry].port, vl;
    uint64_t vls = 0;
    if (m->traffic != SV_TRAFFIC_TERMINALS) {
        if ((vl = vl_at(m, sl, s, 0, out)) == SV_NO_VL)
            return SV__MBLOCKED;
        vls |= (uint64_t)1 << vl;
    }
    SV_FOR_HOPS (f, (sv_node){s}, hop) {
        unsigned port = f->port[hop->channel.i];
        if (sv_is_switch(f, hop->to))
            continue;
        if ((vl = vl_at(m, sl, s, port, out)) == SV_NO_VL || vl_at(m, sl, s, out, port) == SV_NO_VL)
            return SV__MBLOCKED;
        vls |= (uint64_t)1 << vl;
    }
    return vls;
}

static void find_starts(sv__mgraph *g, unsigned sl)
{
    g->sl = sl;
    for (uint32_t e = 0; e < g->m->core.num_entries; e++)
        g->starts[e] = starts_of(g->m, sl, e);
}

/* The VLs that matter: those of the SL on any turn, and whatever packets change to or from. */
static void find_vls(sv__mgraph *g, unsigned sl)
{
    uint64_t all = vls_of_sl(g->m, sl);
    for (uint64_t seen = 0; seen != all;) {
        unsigned vl = (unsigned)__builtin_ctzll(all & ~seen);
        seen |= (uint64_t)1 << vl;
        all |= g->m->joined[vl];
    }
    memset(g->number, SV_NO_VL, sizeof g->number);
    for (g->matter = all; all != 0; all &= all - 1)
        g->number[__builtin_ctzll(all)] = (uint8_t)g->num_vls++;
}

static uint32_t vertex(const sv__mgraph *g, uint32_t entry, unsigned vl)
{
    return entry * g->num_vls + g->number[vl];
}

/* ---- the tree at hand ---- */

/* The number of a VL of an entry in the orders of the tables; SV_NONE: it has none. */
static uint32_t order_of(const sv__mgraph *g, uint32_t entry, unsigned vl)
{
    const sv_routes *r = g->m->routes;
    const sv_fabric *f = g->m->fabric;
    uint32_t c = g->m->core.entries[entry].channel;
    return vl >= r->order_vls ? SV_NONE : sv_route_order(r, f->tail[c], f->port[c])[vl];
}

/*
 * Repairs of unicast tables keep to the orders that these have. A tree that does so, too, goes with
 * whatever they come to.
 */
static bool ascends(const sv__mgraph *g, uint32_t in, unsigned vl_in, uint32_t out, unsigned vl_out)
{
    uint32_t to = order_of(g, out, vl_out);
    return to != SV_NONE && order_of(g, in, vl_in) < to;
}

/* A turn that the tree needs; *fits becomes false if it closes a cycle. */
static sv_status add_turn(sv__mgraph *g, uint32_t in, unsigned vl_in, uint32_t out, unsigned vl_out,
                          bool *fits)
{
    sv__mturn turn = {vertex(g, in, vl_in), vertex(g, out, vl_out)};
    if (g->m->by_orders && !ascends(g, in, vl_in, out, vl_out))
        *fits = false;
    if (!*fits || g->cdg.vls[sv_cdg_turn(&g->cdg, turn.in, turn.out)] != 0)
        return SV_OK;
    *fits = sv_cdg_add(&g->cdg, 0, turn.in, turn.out);
    g->gave_up = g->cdg.gave_up;
    return *fits ? sv_array_push(g->m->ctx, &g->turns, turn) : SV_OK;
}

/* Packets of the tree are on a VL of an entry, and wait for all they may go on to. */
static sv_status use(sv__mgraph *g, uint32_t entry, unsigned vl, bool *fits)
{
    const sv_core *core = &g->m->core;
    uint32_t s = core->to[entry];
    if (!*fits || g->vls[entry] >> vl & 1)
        return SV_OK;
    SV_TRY(sv_array_push(g->m->ctx, &g->uses, (sv__muse){entry, vl}));
    g->vls[entry] |= (uint64_t)1 << vl;
    for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++)
        if (g->taken[k] && k != entry)
            SV_TRY(add_turn(g, entry, vl, core->back[k], vl_of(g, entry, core->back[k]), fits));
    return SV_OK;
}

/* Packets that came by one entry leave by the other. */
static sv_status join(sv__mgraph *g, uint32_t in, uint32_t out, bool *fits)
{
    unsigned vl = vl_of(g, in, out);
    if (vl == SV_NO_VL)
        *fits = false;
    else
        SV_TRY(use(g, out, vl, fits));
    for (uint64_t left = g->vls[in]; left != 0 && *fits; left &= left - 1)
        SV_TRY(add_turn(g, in, (unsigned)__builtin_ctzll(left), out, vl, fits));
    return SV_OK;
}

/* All that comes to one direction of a cable, and all that goes on from it. */
static sv_status take_way(sv__mgraph *g, uint32_t entry, bool *fits)
{
    const sv_core *core = &g->m->core;
    uint32_t from = core->entries[entry].from, to = core->to[entry];
    *fits = *fits && g->starts[entry] != SV__MBLOCKED;
    for (uint64_t left = g->starts[entry]; left != 0 && *fits; left &= left - 1)
        SV_TRY(use(g, entry, (unsigned)__builtin_ctzll(left), fits));
    for (uint32_t k = core->first[from]; k < core->first[from + 1] && *fits; k++)
        if (g->taken[k] && k != core->back[entry])
            SV_TRY(join(g, k, entry, fits));
    for (uint32_t k = core->first[to]; k < core->first[to + 1] && *fits; k++)
        if (g->taken[k] && k != entry)
            SV_TRY(join(g, entry, core->back[k], fits));
    return SV_OK;
}

static void take_back(sv__mgraph *g, size_t turns, size_t uses)
{
    while (g->turns.length > turns) {
        sv__mturn turn = g->turns.at[--g->turns.length];
        sv_cdg_remove(&g->cdg, 0, turn.in, turn.out);
    }
    while (g->uses.length > uses) {
        sv__muse last = g->uses.at[--g->uses.length];
        g->vls[last.entry] &= ~((uint64_t)1 << last.vl);
    }
}

sv_status sv__mgraph_take(sv__mgraph *g, uint32_t entry, bool *fits)
{
    uint32_t back = g->m->core.back[entry];
    size_t turns = g->turns.length, uses = g->uses.length;
    *fits = true;
    g->gave_up = false;
    g->taken[entry] = g->taken[back] = true;
    SV_TRY(take_way(g, entry, fits));
    SV_TRY(take_way(g, back, fits));
    if (!*fits) {
        take_back(g, turns, uses);
        g->taken[entry] = g->taken[back] = false;
    }
    return SV_OK;
}

void sv__mgraph_back(sv__mgraph *g, size_t turns, size_t uses, const uint32_t *cables,
                     uint32_t count)
{
    take_back(g, turns, uses);
    for (uint32_t i = 0; i < count; i++)
        g->taken[cables[i]] = g->taken[g->m->core.back[cables[i]]] = false;
}

/* ---- making ---- */

static sv_status add_unicast(void *arg, sv__muse waits, sv__muse for_whom)
{
    sv__mgraph *g = arg;
    if (g->number[waits.vl] != SV_NO_VL)
        sv_cdg_add(&g->cdg, 0, vertex(g, waits.entry, waits.vl),
                   vertex(g, for_whom.entry, for_whom.vl));
    return SV_OK;
}

/* Another tree stays: its turns are not to be taken back. */
static sv_status add_tree(sv__mgraph *g, const sv_mtree *tree)
{
    const uint32_t *entry_of = g->m->entry_of;
    bool fits = true;
    if ((vls_of_sl(g->m, tree->sl) & g->matter) == 0)
        return SV_OK;
    find_starts(g, tree->sl);
    for (uint32_t s = 0; s < tree->num_switches && fits; s++)
        if (tree->up[s] != SV_NONE && entry_of[tree->up[s]] != SV_NONE)
            SV_TRY(sv__mgraph_take(g, entry_of[tree->up[s]], &fits));
    g->turns.length = 0;
    take_back(g, 0, 0);
    memset(g->taken, 0, g->m->core.num_entries * sizeof *g->taken);
    return fits ? SV_OK
                : sv_fail(g->m->ctx, SV_INFEASIBLE,
                          "the tree of SL %u can deadlock with these tables", tree->sl);
}

static sv_status make(sv__mgraph *g, unsigned sl)
{
    const sv__mcast *m = g->m;
    uint32_t count = m->core.num_entries, *start;
    g->taken = SV_ARENA_NEW(&g->arena, bool, count);
    g->vls = SV_ARENA_NEW(&g->arena, uint64_t, count);
    g->starts = SV_ARENA_NEW(&g->arena, uint64_t, count);
    if (g->taken == NULL || g->vls == NULL || g->starts == NULL)
        return SV_NO_MEMORY;
    find_vls(g, sl);
    SV_TRY(sv_core_widen(&m->core, &g->arena, g->num_vls, &g->wide));
    SV_TRY(sv_cdg_init(&g->cdg, &g->arena, &g->wide));
    if ((start = SV_ARENA_NEW(&g->arena, uint32_t, g->wide.num_entries)) == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < count; e++)
        for (uint64_t left = g->matter; left != 0; left &= left - 1) {
            unsigned vl = (unsigned)__builtin_ctzll(left);
            start[vertex(g, e, vl)] = m->place[(size_t)e * m->deps.vls + vl];
        }
    SV_TRY(sv_cdg_add_vl(&g->cdg, start));
    SV_TRY(sv__mdeps_each(&m->deps, add_unicast, g));
    for (size_t i = 0; i < m->num_others; i++)
        SV_TRY(add_tree(g, m->others[i]));
    find_starts(g, sl);
    return SV_OK;
}

sv_status sv__mgraph_init(sv__mgraph *g, const sv__mcast *m, unsigned sl)
{
    *g = (sv__mgraph){.m = m};
    sv_arena_init(&g->arena, m->ctx);
    return make(g, sl);
}

void sv__mgraph_release(sv__mgraph *g)
{
    sv_array_release(g->m->ctx, &g->turns);
    sv_array_release(g->m->ctx, &g->uses);
    sv_arena_release(&g->arena);
}
