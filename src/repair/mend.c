/*
 * mend.c: one destination after the other.
 *
 * A switch is broken when its path meets a cable that is gone. Only broken switches get other
 * entries, so paths that still work are left alone, whatever becomes of the others meanwhile. In
 * turn, the first that works:
 *
 * 1. Only the switch in front of the gap takes another way, one on which all that comes through it
 *    keeps ascending on the VLs it is on. Then no SL changes, and packets that meet old entries
 *    at some switches and new ones at others are safe: there is but one entry to be old or new.
 *    On all but large fabrics orders may be changed for that, too (reorder.c).
 * 2. It takes a way that suits most of what comes through it; switches behind it whose packets it
 *    does not suit look for other ways in turn.
 * 3. All that are still broken look for new ways, nearest first (grow.c), keeping their SLs.
 * 4. The same, with other SLs where need be.
 * 5. The whole tree anew, in the same two ways, then in one VL, where a tree is found if there is
 *    any.
 *
 * A new terminal takes over the row of another on its switch.
 *
 * Invariant: all paths ascend in the orders on the VLs that their packets have.
 * Cost: O(switches) a destination; O(channels) where much has to be grown.
 */
#include <string.h>

#include "base/ctx.h"
#include "repair/repair.h"

enum { PATIENCE = 1 << 26 }; /* entries of tables that are gone through to have fewer steps */

/* ---- what is known of ways ---- */

sv__vl_set sv__ascends(const sv__mend *m, uint32_t in, uint32_t out)
{
    const uint32_t *a = m->made->orders + (size_t)in * m->vls;
    const uint32_t *b = m->made->orders + (size_t)out * m->vls;
    sv__vl_set vls = 0;
    if (m->reorder != NULL)
        return sv__reorder_ascends(m->reorder, in, out);
    for (unsigned l = 0; l < m->vls; l++)
        vls |= (sv__vl_set)(a[l] < b[l] && b[l] != SV_NONE) << l;
    return vls & m->all;
}

sv__vl_set sv__open_by(sv__mend *m, uint32_t place, uint32_t to)
{
    if (m->out[to] == SV_NONE)
        return m->all;
    return sv__open_vls(m, to) & sv__ascends(m, place, m->out[to]);
}

sv__vl_set sv__open_vls(sv__mend *m, uint32_t s)
{
    uint32_t depth = 0;
    while (!m->open_known[s] && m->out[s] != SV_NONE) {
        m->stack[depth++] = s;
        s = m->carried->ports.places[m->out[s]].end >> 8;
    }
    sv__vl_set open = m->open_known[s] ? m->open[s] : m->all;
    while (depth > 0) {
        uint32_t to = s;
        s = m->stack[--depth];
        if (m->out[to] != SV_NONE)
            open &= sv__ascends(m, m->out[s], m->out[to]);
        m->open[s] = open;
        m->open_known[s] = m->reorder == NULL; /* else it may change */
    }
    return open;
}

uint32_t *sv__load_at(sv__mend *m, uint32_t s, unsigned port)
{
    enum { SAMPLE = 2048 };
    const sv_routes *r = m->before;
    uint32_t *load = &m->stride_load[m->carried->ports.first[s]];
    if (load[0] == SV_NONE) {
        uint32_t stride = r->num_destinations / SAMPLE + 1;
        for (unsigned p = 0; p <= m->f->switches[s].ports; p++)
            load[p] = 0;
        for (uint32_t d = 0; d < r->num_destinations; d += stride)
            if (r->ports[d][s] != SV_NO_PORT)
                load[r->ports[d][s]] += stride;
    }
    return &load[port];
}

bool sv__counts(const sv__mend *m, uint32_t s)
{
    unsigned to_switch = sv_is_switch(m->f, m->to);
    return s != m->home && (to_switch + 1 <= (unsigned)m->traffic ||
                            (m->terminals[s] > 0 && to_switch <= (unsigned)m->traffic));
}

/* ---- SLs ---- */

/* The VL of a node's packets; what has no SL yet needs none. */
static sv__vl_set vl_of(const sv__mend *m, const sv_routes *r, sv_node from)
{
    unsigned sl = sv_route_sl(r, from, m->d);
    if (sl < SV_MAX_SLS)
        return (sv__vl_set)1 << m->vl_of[sl];
    return r->sl_form == SV_SL_UNKNOWN ? m->all : 0;
}

/* The VLs of packets that start at a switch. */
static sv__vl_set vls_by(const sv__mend *m, const sv_routes *r, uint32_t s)
{
    if (!sv__counts(m, s))
        return 0;
    sv__vl_set vls = vl_of(m, r, (sv_node){s});
    if (r->sl_form != SV_SL_BY_NODE)
        return vls;
    SV_FOR_HOPS (m->f, ((sv_node){s}), hop)
        if (!sv_is_switch(m->f, hop->to))
            vls |= vl_of(m, r, hop->to);
    return vls;
}

static sv__vl_set vls_at(const sv__mend *m, uint32_t s)
{
    return vls_by(m, m->made, s);
}

/* Which destination is at hand. */
static void turn_to(sv__mend *m, uint32_t d)
{
    m->d = d;
    m->to = m->made->node[d];
    m->home = sv_is_switch(m->f, m->to) ? m->to.i : sv_switch_of(m->f, m->to).i;
}

sv__vl_set sv__vls_of_both(sv__mend *m, uint32_t d, uint32_t s)
{
    turn_to(m, d);
    return vls_by(m, m->before, s) | vls_by(m, m->made, s);
}

/* An SL for a VL: the first, but rather one that is in use for this destination. */
static uint8_t sl_for(const sv__mend *m, unsigned vl)
{
    const sv_routes *r = m->made;
    uint32_t length = r->num_switches + (r->sl_form == SV_SL_BY_NODE ? r->num_terminals : 0);
    for (uint32_t v = 0; v < length; v++)
        if (r->sls[m->d][v] < SV_MAX_SLS && m->vl_of[r->sls[m->d][v]] == vl)
            return r->sls[m->d][v];
    uint8_t sl = 0;
    while (m->vl_of[sl] != vl)
        sl++;
    return sl;
}

/* A node whose path is not open on its VL, or that has none, gets another. */
static sv_status fit_sl(sv__mend *m, uint32_t s, sv_node from)
{
    unsigned sl = m->made->sls[m->d][from.i], best = 0;
    sv__vl_set open = sv__open_vls(m, s);
    if (sl < SV_MAX_SLS && (open == 0 || open >> m->vl_of[sl] & 1))
        return SV_OK;
    if (open == 0) /* does not count */
        open = m->all;
    for (unsigned l = SV_MAX_VLS; l-- > 0;)
        if (open >> l & 1 && (!(open >> best & 1) || m->vl_load[l] <= m->vl_load[best]))
            best = l;
    uint8_t chosen = sl_for(m, best), *row = sv_routes_sl_row(m->ctx, m->made, m->d);
    if (row == NULL)
        return SV_NO_MEMORY;
    m->vl_load[best]++;
    row[from.i] = chosen;
    return SV_OK;
}

/* Where orders may change, paths are as open as they are only if that is said. */
static void pin_paths(sv__mend *m)
{
    for (uint32_t s = 0; m->reorder != NULL && s < m->f->num_switches; s++)
        if (m->state[s] == SV__GOOD) {
            m->need[s] = vls_at(m, s);
            sv__pin_path(m, s);
        }
}

static sv_status fit_sls(sv__mend *m)
{
    bool by_node = m->made->sl_form == SV_SL_BY_NODE;
    if (!by_node && m->made->sl_form != SV_SL_BY_SWITCH)
        return SV_OK;
    for (uint32_t s = 0; s < m->f->num_switches; s++) {
        if (m->state[s] != SV__GOOD)
            continue;
        SV_TRY(fit_sl(m, s, (sv_node){s}));
        SV_FOR_HOPS (m->f, ((sv_node){s}), hop)
            if (by_node && !sv_is_switch(m->f, hop->to))
                SV_TRY(fit_sl(m, s, hop->to));
    }
    pin_paths(m);
    return SV_OK;
}

/* ---- what is broken ---- */

/* The switch that an entry leads to; SV_NONE: none, or not as before. */
static uint32_t next_of(const sv__mend *m, uint32_t s)
{
    unsigned port = m->ports[s];
    const sv_portmap *ports = &m->carried->ports;
    if (port == SV_NO_PORT || port == 0 || m->shut[s] ||
        sv_bit(m->carried->changed, ports->first[s] + port))
        return SV_NONE;
    const sv_place *place = sv_portmap_place(ports, s, port);
    uint32_t to = place->end >> 8;
    return place->channel == SV_NONE || to >= m->f->num_switches ? SV_NONE : to;
}

/* Follows the path of a switch; all on the way are good or broken then. */
static void follow(sv__mend *m, uint32_t s)
{
    uint32_t depth = 0, to = s;
    while (to != SV_NONE && m->state[to] == SV__UNSEEN) {
        m->state[to] = SV__ON_WAY;
        m->stack[depth++] = to;
        to = next_of(m, to);
    }
    bool good = to != SV_NONE && m->state[to] == SV__GOOD;
    while (depth > 0) {
        uint32_t at = m->stack[--depth];
        m->state[at] = good ? SV__GOOD : SV__BROKEN;
        if (good) {
            m->out[at] = m->carried->ports.first[at] + m->ports[at];
            m->length[at] = m->length[to] + 1;
        } else {
            m->broken[m->num_broken++] = at;
        }
        to = at;
    }
}

static void follow_all(sv__mend *m)
{
    uint32_t n = m->f->num_switches;
    memset(m->state, SV__UNSEEN, n);
    memset(m->open_known, 0, n);
    m->num_broken = 0;
    m->state[m->home] = SV__GOOD;
    m->length[m->home] = 0;
    m->out[m->home] = SV_NONE;
    for (uint32_t s = 0; s < n; s++)
        if (m->component[s] != m->component[m->home])
            m->state[s] = SV__AWAY;
    for (uint32_t s = 0; s < n; s++)
        if (m->state[s] == SV__UNSEEN)
            follow(m, s);
}

/*
 * Paths that nobody took when tables were made need not ascend; a terminal that is new on a switch
 * takes them all. Whether there are such.
 */
static bool find_shut(sv__mend *m)
{
    bool fixed = m->made->sl_form != SV_SL_BY_SWITCH && m->made->sl_form != SV_SL_BY_NODE;
    bool any = false;
    for (uint32_t s = 0; s < m->f->num_switches; s++) {
        if (m->state[s] == SV__AWAY || !sv__counts(m, s))
            continue;
        if (m->state[s] == SV__GOOD) {
            sv__vl_set open = sv__open_vls(m, s);
            m->shut[s] = open == 0 || (fixed && (vls_at(m, s) & ~open) != 0);
        } else {
            m->shut[s] = m->settled[s] == 0; /* nobody looked at what is left of its path */
        }
        any |= m->shut[s];
    }
    return any;
}

static void find_broken(sv__mend *m)
{
    memset(m->shut, 0, m->f->num_switches);
    follow_all(m);
    if (m->carried->grown && find_shut(m))
        follow_all(m);
}

/* Lists who sends through each broken switch, and on which VLs. */
static void list_broken(sv__mend *m)
{
    for (uint32_t i = 0; i < m->num_broken; i++) {
        uint32_t s = m->broken[i];
        m->child[s] = SV_NONE;
        m->cut[s] = m->fresh[s] = false;
        m->need[s] = m->through[s] = vls_at(m, s);
    }
    for (uint32_t i = m->num_broken; i-- > 0;) {
        uint32_t s = m->broken[i], to = next_of(m, s);
        if (to == SV_NONE || m->state[to] != SV__BROKEN)
            continue;
        m->sibling[s] = m->child[to];
        m->child[to] = s;
        m->through[to] |= m->through[s];
    }
}

/* ---- the first way ---- */

/* Whether what comes through a switch behind another may go on by a place of that one. */
static bool takes(const sv__mend *m, uint32_t behind, uint32_t place, sv__vl_set open)
{
    uint32_t in = m->carried->ports.first[behind] + m->ports[behind];
    open &= sv__ascends(m, in, place);
    return (m->through[behind] & ~open) == 0 && (open != 0 || !sv__counts(m, behind));
}

/* How many switches behind one could not go on by a place; SV_NONE: it cannot itself. */
static uint32_t misfits(sv__mend *m, uint32_t s, uint32_t place, uint32_t to)
{
    sv__vl_set open = sv__open_by(m, place, to);
    uint32_t count = 0;
    if ((m->need[s] & ~open) || (open == 0 && sv__counts(m, s)))
        return SV_NONE;
    for (uint32_t x = m->child[s]; x != SV_NONE; x = m->sibling[x])
        count += !m->cut[x] && !takes(m, x, place, open);
    return count;
}

/* A switch leaves by another port; those behind it that cannot are cut off from it. */
static void divert(sv__mend *m, uint32_t s, unsigned port, uint32_t to)
{
    uint32_t place = m->carried->ports.first[s] + port;
    sv__vl_set open = sv__open_by(m, place, to);
    for (uint32_t x = m->child[s]; x != SV_NONE; x = m->sibling[x])
        m->cut[x] |= !takes(m, x, place, open);
    ++*sv__load_at(m, s, port);
    m->ports[s] = (uint8_t)port;
    m->cut[s] = false;
    m->fresh[s] = true;
}

/* Another way for one switch, that suits the most behind it (split: it need not suit all). */
static bool bypass(sv__mend *m, uint32_t s, bool split)
{
    uint32_t best = 0, target = 0, min = split ? SV_NONE - 1 : 0, length = SV_NONE, load = 0;
    SV_FOR_HOPS (m->f, ((sv_node){s}), hop) {
        uint32_t to = hop->to.i;
        unsigned port = m->f->port[hop->channel.i];
        if (to >= m->f->num_switches || m->state[to] != SV__GOOD)
            continue;
        uint32_t bad = misfits(m, s, m->carried->ports.first[s] + port, to);
        if (bad > min || (bad == min && m->length[to] > length))
            continue;
        uint32_t here = *sv__load_at(m, s, port);
        if (best != 0 && bad == min && m->length[to] == length && here >= load)
            continue;
        best = port;
        target = to;
        min = bad;
        length = m->length[to];
        load = here;
    }
    if (best != 0)
        divert(m, s, best, target);
    return best != 0;
}

/* Switches whose way leads to one that is good are good. */
static void spread_good(sv__mend *m)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < m->num_broken; i++) {
        uint32_t s = m->broken[i];
        const sv_place *place = sv_portmap_place(&m->carried->ports, s, m->ports[s]);
        uint32_t to = place->channel == SV_NONE ? SV_NONE : place->end >> 8;
        bool led = !m->cut[s] && to < m->f->num_switches && m->state[to] == SV__GOOD &&
                   (m->fresh[s] || next_of(m, s) != SV_NONE);
        if (!led) {
            m->broken[left++] = s;
            continue;
        }
        m->state[s] = SV__GOOD;
        m->length[s] = m->length[to] + 1;
        m->out[s] = m->carried->ports.first[s] + m->ports[s];
    }
    m->num_broken = left;
}

/* Whether a broken switch has no way that it could keep. */
static bool is_root(const sv__mend *m, uint32_t s)
{
    return !m->fresh[s] && (m->cut[s] || next_of(m, s) == SV_NONE);
}

static void bypass_all(sv__mend *m, bool split)
{
    for (uint32_t i = 0; i < m->num_broken; i++) {
        uint32_t s = m->broken[i];
        if (is_root(m, s) && bypass(m, s, split)) {
            spread_good(m);
            i = SV_NONE; /* again from the beginning: the list is another */
        }
    }
}

/* ---- all of it ---- */

/* All switches but the home are to be grown anew. */
static void forget_tree(sv__mend *m)
{
    m->num_broken = 0;
    memset(m->open_known, 0, m->f->num_switches);
    for (uint32_t s = 0; s < m->f->num_switches; s++)
        if (m->state[s] != SV__AWAY && s != m->home) {
            m->state[s] = SV__BROKEN;
            m->broken[m->num_broken++] = s;
            m->need[s] = vls_at(m, s);
        }
}

/*
 * The same where orders may change: first so that one switch takes another way with all that comes
 * through it, then with as many turns added as it takes.
 */
static bool mend_adding(sv__mend *m, bool may_change)
{
    for (uint32_t i = 0; i < m->num_broken; i++)
        if (is_root(m, m->broken[i]) && sv__bypass_adding(m, m->broken[i])) {
            spread_good(m);
            i = SV_NONE;
        }
    bypass_all(m, true);
    pin_paths(m);
    if (m->num_broken == 0 || sv__grow_adding(m, true) || (may_change && sv__grow_adding(m, false)))
        return true;
    forget_tree(m);
    return sv__grow_adding(m, true) || (may_change && sv__grow_adding(m, false));
}

static bool mend_tree(sv__mend *m)
{
    bool may_change = m->made->sl_form == SV_SL_BY_SWITCH || m->made->sl_form == SV_SL_BY_NODE;
    list_broken(m);
    if (m->reorder != NULL)
        return mend_adding(m, may_change);
    bypass_all(m, false);
    if (m->num_broken == 0 || m->patient)
        return m->num_broken == 0;
    bypass_all(m, true);
    if (m->num_broken == 0 || sv__grow(m, true) || (may_change && sv__grow(m, false)))
        return true;
    forget_tree(m);
    return sv__grow(m, true) || (may_change && (sv__grow(m, false) || sv__grow_one_vl(m)));
}

/* The last hop: to the terminal, or the switch itself. */
static uint8_t last_port(const sv__mend *m)
{
    const sv_fabric *f = m->f;
    if (sv_is_switch(f, m->to))
        return 0;
    return (uint8_t)f->port[f->reverse[f->hops[f->first[m->to.i]].channel.i].i];
}

/* Another terminal of the home that has a row from before; SV_NONE: none. */
static uint32_t neighbour(const sv__mend *m)
{
    SV_FOR_HOPS (m->f, ((sv_node){m->home}), hop)
        if (!sv_is_switch(m->f, hop->to) && m->carried->was[hop->to.i] != SV_NONE)
            return m->made->first[hop->to.i];
    return SV_NONE;
}

/* SLs of a new destination: those of another, if there is one. */
static sv_status begin_sls(sv__mend *m, uint32_t like)
{
    sv_routes *r = m->made;
    bool rows = r->sl_form != SV_SL_BY_DESTINATION;
    if (rows && like == SV_NONE)
        return SV_OK;
    uint8_t *sls = sv_routes_sl_row(m->ctx, r, rows ? m->d : 0);
    if (sls == NULL)
        return SV_NO_MEMORY;
    if (rows)
        memcpy(sls, r->sls[like],
               r->num_switches + (r->sl_form == SV_SL_BY_NODE ? r->num_terminals : 0));
    else
        sls[m->d] = like == SV_NONE ? 0 : sls[like];
    return SV_OK;
}

/* A new terminal begins with the row and SLs of a neighbour, if it has one. */
static sv_status begin(sv__mend *m)
{
    uint32_t like =
        m->carried->was[m->to.i] == SV_NONE && !sv_is_switch(m->f, m->to) ? neighbour(m) : SV_NONE;
    memcpy(m->ports, m->made->ports[like == SV_NONE ? m->d : like], m->f->num_switches);
    m->ports[m->home] = last_port(m);
    return m->carried->was[m->to.i] == SV_NONE && sv__routes_sl_rows(m->made) > 0
               ? begin_sls(m, like)
               : SV_OK;
}

/*
 * What cannot get there has no entries: those from before end somewhere, and a cable that came back
 * would make them go on, in ways that nobody looked at.
 */
static void clear_away(sv__mend *m)
{
    for (uint32_t s = 0; m->carried->grown && s < m->f->num_switches; s++)
        if (m->state[s] == SV__AWAY)
            m->ports[s] = SV_NO_PORT;
}

sv_status sv__mend_one(sv__mend *m, uint32_t d, bool *done)
{
    turn_to(m, d);
    m->refit = false;
    *done = true;
    if (!sv_node_alive(m->f, m->to) || m->home == SV_NONE)
        return SV_OK;
    SV_TRY(begin(m));
    find_broken(m);
    clear_away(m);
    if (m->num_broken > 0)
        *done = mend_tree(m);
    if (!*done)
        return SV_OK;
    pin_paths(m);
    if (memcmp(m->ports, m->made->ports[d], m->f->num_switches) != 0) {
        uint8_t *row = sv_routes_row(m->ctx, m->made, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        memcpy(row, m->ports, m->f->num_switches);
    }
    return m->refit || m->carried->grown ? fit_sls(m) : SV_OK;
}

static sv_status find_components(sv__mend *m)
{
    const sv_fabric *f = m->f;
    m->component = SV_ARENA_NEW(m->arena, uint32_t, f->num_switches);
    if (m->component == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0, count = 0; v < f->num_switches; v++) {
        uint32_t depth = 0;
        if (m->component[v] != 0 || !sv_node_alive(f, (sv_node){v}))
            continue;
        m->component[v] = ++count;
        m->stack[depth++] = v;
        while (depth > 0) {
            sv_node at = {m->stack[--depth]};
            SV_FOR_HOPS (f, at, hop)
                if (sv_is_switch(f, hop->to) && m->component[hop->to.i] == 0) {
                    m->component[hop->to.i] = count;
                    m->stack[depth++] = hop->to.i;
                }
        }
    }
    return SV_OK;
}

static sv_status make_scratch(sv__mend *m)
{
    size_t n = m->f->num_switches;
    size_t places = m->carried->ports.first[n];
    m->terminals = SV_ARENA_NEW(m->arena, uint32_t, n);
    m->settled = SV_ARENA_NEW(m->arena, uint32_t, n);
    m->stride_load = SV_ARENA_NEW(m->arena, uint32_t, places);
    m->ports = SV_ARENA_NEW(m->arena, uint8_t, n);
    m->saved = SV_ARENA_NEW(m->arena, uint8_t, n);
    m->state = SV_ARENA_NEW(m->arena, uint8_t, n);
    m->length = SV_ARENA_NEW(m->arena, uint32_t, n);
    m->out = SV_ARENA_NEW(m->arena, uint32_t, n);
    m->open = SV_ARENA_NEW(m->arena, sv__vl_set, n);
    m->open_known = SV_ARENA_NEW(m->arena, uint8_t, n);
    m->need = SV_ARENA_NEW(m->arena, sv__vl_set, n);
    m->through = SV_ARENA_NEW(m->arena, sv__vl_set, n);
    m->broken = SV_ARENA_NEW(m->arena, uint32_t, n);
    m->cut = SV_ARENA_NEW(m->arena, uint8_t, n);
    m->fresh = SV_ARENA_NEW(m->arena, uint8_t, n);
    m->shut = SV_ARENA_NEW(m->arena, uint8_t, n);
    m->stack = SV_ARENA_NEW(m->arena, uint32_t, n + 1);
    m->child = SV_ARENA_NEW(m->arena, uint32_t, n);
    m->sibling = SV_ARENA_NEW(m->arena, uint32_t, n);
    m->list = SV_ARENA_NEW(m->arena, uint64_t, m->f->live_channels);
    if (m->terminals == NULL || m->settled == NULL || m->stride_load == NULL || m->ports == NULL ||
        m->saved == NULL || m->state == NULL || m->length == NULL || m->out == NULL ||
        m->open == NULL || m->open_known == NULL || m->need == NULL || m->through == NULL ||
        m->broken == NULL || m->cut == NULL || m->fresh == NULL || m->shut == NULL ||
        m->stack == NULL || m->child == NULL || m->sibling == NULL || m->list == NULL)
        return SV_NO_MEMORY;
    memset(m->stride_load, 0xff, places * sizeof *m->stride_load);
    return SV_OK;
}

sv_status sv__mend_init(sv__mend *m, const sv__carried *carried, sv_routes *made,
                        sv_traffic traffic)
{
    const sv_fabric *f = carried->f;
    *m = (sv__mend){.ctx = carried->ctx,
                    .arena = carried->arena,
                    .f = f,
                    .carried = carried,
                    .before = carried->before,
                    .made = made,
                    .traffic = traffic,
                    .vls = made->order_vls};
    SV_TRY(make_scratch(m));
    SV_TRY(find_components(m));
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            if (!sv_is_switch(f, hop->to)) {
                m->terminals[s]++;
                m->settled[s] += carried->was[hop->to.i] != SV_NONE;
            }
    uint32_t first = 0;
    while (first + 1 < sv_num_nodes(f) && !sv_node_alive(f, (sv_node){first}))
        first++;
    m->patient = (uint64_t)made->num_destinations * f->num_switches <= PATIENCE;
    memcpy(m->vl_of, made->vl_tables[made->vls_of[first]].of_sl, sizeof m->vl_of);
    for (unsigned sl = 0; sl < made->num_sls; sl++)
        m->all |= (sv__vl_set)1 << m->vl_of[sl];
    return SV_OK;
}
