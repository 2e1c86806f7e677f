/*
 * grow.c: new ways for many switches of one destination.
 *
 * Ring by ring: a switch without a path takes a way to one that has a path, the nearest first, if
 * all turns from there on ascend in some VL (strict: in those its packets are on). Among equally
 * near ones the old entry wins, then, where SLs may change, the way that leaves most VLs open,
 * then the one with the fewest routes. This may leave a switch without a way although there is a
 * tree.
 *
 * In one VL there is a method that does not: channels are gone through from the highest number
 * down, and a switch takes the first that leads to one with a path of higher numbers. So everybody
 * leaves by the highest number possible, which leaves the most to those behind; whoever has an
 * ascending path in this VL at all gets one. Paths may be long: it is the last resort.
 *
 * Cost: O(rings × channels of those without a path); O(channels × log) for each VL.
 */
#include <stdlib.h>
#include <string.h>

#include "repair/repair.h"

struct growth {
    sv__mend *m;
    bool strict;    /* SLs stay */
    bool desperate; /* packets that do not count need not ascend */
    uint32_t left;  /* the first so many of m->broken have no path yet */
};

struct choice {
    unsigned port;
    uint32_t to, load;
    bool old, keeps;
    int vls;
};

static bool is_better(const struct growth *g, const struct choice *a, const struct choice *b)
{
    if (b->port == 0)
        return true;
    if (a->old != b->old)
        return a->old;
    if (!g->strict && a->keeps != b->keeps)
        return a->keeps;
    if (!g->strict && a->vls != b->vls)
        return a->vls > b->vls;
    return a->load < b->load;
}

/* The best way of a switch to one that is so many hops from home. */
static struct choice choose(const struct growth *g, uint32_t s, uint32_t hops)
{
    sv__mend *m = g->m;
    struct choice best = {0};
    bool counts = sv__counts(m, s);
    SV_FOR_HOPS (m->f, ((sv_node){s}), hop) {
        uint32_t to = hop->to.i;
        if (to >= m->f->num_switches || m->state[to] != SV__GOOD || m->length[to] != hops)
            continue;
        struct choice way = {.port = m->f->port[hop->channel.i], .to = to};
        uint32_t place = m->carried->ports.first[s] + way.port;
        sv__vl_set open = sv__open_by(m, place, to);
        way.keeps = (m->need[s] & ~open) == 0;
        if (!(g->desperate && !counts) && (open == 0 || (g->strict && !way.keeps)))
            continue;
        way.vls = __builtin_popcountll(open);
        way.old = way.port == m->before->ports[m->d][s] && !sv_bit(m->carried->changed, place);
        way.load = *sv__load_at(m, s, way.port);
        if (is_better(g, &way, &best))
            best = way;
    }
    return best;
}

void sv__pin_path(sv__mend *m, uint32_t s)
{
    sv__vl_set open = sv__open_vls(m, s);
    if (m->need[s] != 0 && (m->need[s] & ~open) == 0)
        open = m->need[s];
    for (uint32_t in = m->out[s]; in != SV_NONE;) {
        uint32_t out = m->out[m->carried->ports.places[in].end >> 8];
        if (out != SV_NONE)
            sv__reorder_add(m->reorder, in, out, open);
        in = out;
    }
}

/* A switch takes a way. */
static void settle(sv__mend *m, uint32_t s, unsigned port, uint32_t to)
{
    m->state[s] = SV__GOOD;
    m->ports[s] = (uint8_t)port;
    m->length[s] = m->length[to] + 1;
    m->out[s] = m->carried->ports.first[s] + port;
    m->open_known[s] = false;
    if (m->reorder != NULL)
        sv__pin_path(m, s);
}

/* The farthest of those that have a path. */
static uint32_t farthest(const sv__mend *m)
{
    uint32_t max = 0;
    for (uint32_t s = 0; s < m->f->num_switches; s++)
        if (m->state[s] == SV__GOOD && m->length[s] > max)
            max = m->length[s];
    return max;
}

/* Ring by ring; those that found a way go to the end of the list. */
static void attach(struct growth *g)
{
    sv__mend *m = g->m;
    uint32_t max = farthest(m);
    for (uint32_t hops = 0; hops <= max && g->left > 0; hops++)
        for (uint32_t i = 0; i < g->left;) {
            uint32_t s = m->broken[i];
            struct choice best = choose(g, s, hops);
            if (best.port == 0) {
                i++;
                continue;
            }
            settle(m, s, best.port, best.to);
            max = hops + 1 > max ? hops + 1 : max;
            m->broken[i] = m->broken[--g->left];
            m->broken[g->left] = s;
        }
}

/* Takes back what was done, from some of the list on. */
static void undo(sv__mend *m, const uint8_t *ports, uint32_t from)
{
    for (uint32_t i = from; i < m->num_broken; i++) {
        uint32_t s = m->broken[i];
        m->state[s] = SV__BROKEN;
        m->ports[s] = ports[s];
        m->open_known[s] = false;
    }
}

static void finish(sv__mend *m)
{
    for (uint32_t i = 0; i < m->num_broken; i++)
        ++*sv__load_at(m, m->broken[i], m->ports[m->broken[i]]);
    m->num_broken = 0;
}

bool sv__grow(sv__mend *m, bool strict)
{
    struct growth g = {.m = m, .strict = strict, .left = m->num_broken};
    memcpy(m->saved, m->ports, m->f->num_switches);
    attach(&g);
    g.desperate = true;
    attach(&g);
    if (g.left > 0) {
        undo(m, m->saved, g.left);
        return false;
    }
    m->refit |= !strict;
    finish(m);
    return true;
}

/* ---- with turns that are added ---- */

/* Whether turns can be added so that all that comes through a switch may leave by a port. */
static bool open_port(sv__mend *m, uint32_t s, unsigned port)
{
    uint32_t place = m->carried->ports.first[s] + port;
    for (uint32_t in = place, out; in != SV_NONE; in = out) {
        out = m->out[m->carried->ports.places[in].end >> 8];
        if (out != SV_NONE && sv__reorder_add(m->reorder, in, out, m->through[s]) != m->through[s])
            return false;
    }
    for (uint32_t x = m->child[s]; x != SV_NONE; x = m->sibling[x]) {
        uint32_t in = m->carried->ports.first[x] + m->ports[x];
        if (sv__reorder_add(m->reorder, in, place, m->through[x]) != m->through[x])
            return false;
    }
    if (m->through[s] != 0 || !sv__counts(m, s))
        return true;
    /* It has no SL yet, so any VL will do. */
    uint32_t to = m->carried->ports.places[place].end >> 8;
    if (m->out[to] != SV_NONE)
        sv__reorder_add(m->reorder, place, m->out[to], sv__open_vls(m, to));
    return sv__open_by(m, place, to) != 0;
}

bool sv__bypass_adding(sv__mend *m, uint32_t s)
{
    uint32_t last = farthest(m);
    for (uint32_t hops = 0; hops <= last; hops++)
        SV_FOR_HOPS (m->f, ((sv_node){s}), hop) {
            uint32_t to = hop->to.i;
            unsigned port = m->f->port[hop->channel.i];
            if (to >= m->f->num_switches || m->state[to] != SV__GOOD || m->length[to] != hops ||
                !open_port(m, s, port))
                continue;
            m->ports[s] = (uint8_t)port;
            m->fresh[s] = true;
            ++*sv__load_at(m, s, port);
            return true;
        }
    return false;
}

/* A way that can be opened to a switch that is so many hops from home. */
static bool force_one(sv__mend *m, uint32_t s, uint32_t hops, bool strict)
{
    SV_FOR_HOPS (m->f, ((sv_node){s}), hop) {
        uint32_t to = hop->to.i;
        if (to >= m->f->num_switches || m->state[to] != SV__GOOD || m->length[to] != hops ||
            m->out[to] == SV_NONE)
            continue;
        unsigned port = m->f->port[hop->channel.i];
        uint32_t place = m->carried->ports.first[s] + port;
        sv__vl_set wanted = strict && m->need[s] != 0 ? m->need[s] : m->all;
        if (strict && (wanted & ~sv__open_vls(m, to)) && m->need[s] != 0)
            continue;
        sv__reorder_add(m->reorder, place, m->out[to], wanted & sv__open_vls(m, to));
        sv__vl_set open = sv__open_by(m, place, to);
        if (open == 0 || (strict && (m->need[s] & ~open)))
            continue;
        settle(m, s, port, to);
        return true;
    }
    return false;
}

/* The first switch without a way that finds one by force, the nearest first. */
static bool force(struct growth *g)
{
    sv__mend *m = g->m;
    uint32_t max = farthest(m);
    for (uint32_t hops = 0; hops <= max; hops++)
        for (uint32_t i = 0; i < g->left; i++) {
            uint32_t s = m->broken[i];
            if (!force_one(m, s, hops, g->strict))
                continue;
            m->broken[i] = m->broken[--g->left];
            m->broken[g->left] = s;
            return true;
        }
    return false;
}

bool sv__grow_adding(sv__mend *m, bool strict)
{
    struct growth g = {.m = m, .strict = strict, .left = m->num_broken};
    memcpy(m->saved, m->ports, m->f->num_switches);
    do
        attach(&g);
    while (g.left > 0 && force(&g));
    g.desperate = true;
    attach(&g);
    if (g.left > 0) {
        undo(m, m->saved, g.left);
        return false;
    }
    m->refit |= !strict;
    finish(m);
    return true;
}

/* ---- one VL ---- */

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* All channels between switches, the highest number in a VL first. */
static uint32_t list_channels(const sv__mend *m, unsigned vl, uint64_t *list)
{
    const sv_portmap *ports = &m->carried->ports;
    uint32_t count = 0;
    for (uint32_t s = 0; s < m->f->num_switches; s++)
        SV_FOR_HOPS (m->f, ((sv_node){s}), hop) {
            uint32_t place = ports->first[s] + m->f->port[hop->channel.i];
            uint32_t number = m->made->orders[(size_t)place * m->vls + vl];
            if (sv_is_switch(m->f, hop->to) && number != SV_NONE)
                list[count++] = (uint64_t)number << 32 | hop->channel.i;
        }
    qsort(list, count, sizeof *list, descending);
    return count;
}

/* A tree in one VL; what does not count may be left. */
static bool try_vl(sv__mend *m, unsigned vl, uint64_t *list)
{
    uint32_t count = list_channels(m, vl, list);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t channel = (uint32_t)list[i], number = (uint32_t)(list[i] >> 32);
        uint32_t s = m->f->tail[channel].i, to = m->f->head[channel].i;
        if (m->state[s] != SV__BROKEN || m->state[to] != SV__GOOD)
            continue;
        if (m->out[to] == SV_NONE || number < m->made->orders[(size_t)m->out[to] * m->vls + vl])
            settle(m, s, m->f->port[channel], to);
    }
    struct growth g = {.m = m, .desperate = true};
    for (uint32_t i = 0; i < m->num_broken; i++)
        if (m->state[m->broken[i]] == SV__BROKEN) {
            uint32_t s = m->broken[i];
            m->broken[i] = m->broken[g.left];
            m->broken[g.left++] = s;
        }
    attach(&g);
    return g.left == 0;
}

bool sv__grow_one_vl(sv__mend *m)
{
    memcpy(m->saved, m->ports, m->f->num_switches);
    for (unsigned vl = 0; vl < m->vls; vl++) {
        if (!(m->all >> vl & 1))
            continue;
        if (try_vl(m, vl, m->list)) {
            m->refit = true;
            finish(m);
            return true;
        }
        undo(m, m->saved, 0);
    }
    return false;
}
