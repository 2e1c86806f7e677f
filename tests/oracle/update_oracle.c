/*
 * update_oracle.c: whether the steps of a plan are safe (update_oracle.h), the obvious way.
 *
 * Idea. For one destination and one time every switch has one entry or two (old and new). Whoever
 * follows both wherever there are two meets all that any mixture does, for a way through such a
 * graph that meets no switch twice is a way through some mixture, and one that does is a circle in
 * some mixture. Where entries are few all mixtures are tried one by one as well, and both must say
 * the same. What waits for what is the union over all packets and all mixtures.
 *
 * A plan that does not settle lets packets live through several steps: they meet a switch at
 * some time, and the next at the same or a later one, and all that may wait at any time counts
 * together.
 *
 * Cost: steps × destinations × SLs × channels, and 2^entries for mixtures.
 */
#include "update_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (block == NULL)
        abort();
    return block;
}

/* ---- what is there ---- */

bool oracle_differs(const oracle *o, uint32_t s, uint32_t d)
{
    return sv_node_alive(o->f, (sv_node){s}) && o->before->ports[d][s] != o->after->ports[d][s];
}

const sv_sl2vl *oracle_vls(const oracle *o, const sv_routes *r, uint32_t v, unsigned in,
                           unsigned out)
{
    uint32_t table = r->vls_of[v];
    if (v < o->switches && r->sl2vl_by_port[v] != NULL)
        table = r->sl2vl_by_port[v][in * (o->f->switches[v].ports + 1u) + out];
    return &r->vl_tables[table];
}

bool oracle_counts(const oracle *o, uint32_t v, uint32_t d)
{
    uint32_t to = o->after->node[d].i;
    unsigned switches = (v < o->switches) + (to < o->switches);
    return v != to && switches <= (unsigned)o->traffic && sv_node_alive(o->f, (sv_node){v});
}

bool oracle_by_node(const oracle *o)
{
    return o->before->sl_form == SV_SL_BY_NODE || o->after->sl_form == SV_SL_BY_NODE;
}

static unsigned vls_of(const sv_routes *r)
{
    unsigned max = 0;
    for (uint32_t t = 0; t < r->num_vl_tables; t++)
        for (unsigned sl = 0; sl < SV_MAX_SLS; sl++) {
            unsigned vl = r->vl_tables[t].of_sl[sl];
            max = vl != SV_NO_VL && vl > max ? vl : max;
        }
    return max + 1;
}

void oracle_init(oracle *o, const sv_fabric *f, const sv_routes *before, const sv_routes *after,
                 sv_traffic traffic)
{
    *o = (oracle){.f = f, .before = before, .after = after, .traffic = traffic, .max_mix = 8};
    o->switches = f->num_switches;
    o->nodes = sv_num_nodes(f);
    o->dests = after->num_destinations;
    o->vls = vls_of(before) > vls_of(after) ? vls_of(before) : vls_of(after);
    o->ports = 2;
    for (uint32_t s = 0; s < o->switches; s++)
        o->ports = f->switches[s].ports >= o->ports ? f->switches[s].ports + 1u : o->ports;
    for (uint32_t c = 0; c < f->num_channels; c++)
        o->ports = f->port[c] >= o->ports ? f->port[c] + 1u : o->ports;
    o->channel = room((size_t)o->nodes * o->ports, sizeof *o->channel);
    memset(o->channel, 0xff, (size_t)o->nodes * o->ports * sizeof *o->channel);
    o->vertex = room(f->num_channels, sizeof *o->vertex);
    for (uint32_t c = 0; c < f->num_channels; c++) {
        o->vertex[c] = SV_NONE;
        if (!sv_channel_alive(f, (sv_channel){c}))
            continue;
        o->channel[f->tail[c].i * o->ports + f->port[c]] = c;
        if (f->tail[c].i >= o->switches || f->head[c].i >= o->switches)
            continue;
        o->vertex[c] = o->vertices;
        o->vertices += o->vls;
    }
    o->words = o->vertices / 64 + 1;
    o->waits = room((size_t)o->vertices * o->words, sizeof *o->waits);
    o->reached = room((size_t)f->num_channels * o->vls, 1);
    o->queue = room((size_t)f->num_channels * o->vls, sizeof *o->queue);
}

void oracle_release(oracle *o)
{
    free(o->channel);
    free(o->vertex);
    free(o->waits);
    free(o->reached);
    free(o->queue);
}

oracle_plan oracle_plan_new(const oracle *o)
{
    size_t entries = (size_t)o->dests * o->switches, pairs = (size_t)o->dests * o->nodes;
    oracle_plan p = {.settle = true,
                     .step = room(entries, 4),
                     .first = room(o->dests, 4),
                     .from = room(pairs, 4),
                     .to = room(pairs, 4)};
    memset(p.step, 0xff, entries * 4);
    memset(p.first, 0xff, o->dests * 4u);
    memset(p.from, 0xff, pairs * 4);
    memset(p.to, 0xff, pairs * 4);
    return p;
}

oracle_plan oracle_plan_copy(const oracle *o, const oracle_plan *p)
{
    size_t entries = (size_t)o->dests * o->switches, pairs = (size_t)o->dests * o->nodes;
    oracle_plan copy = oracle_plan_new(o);
    copy.steps = p->steps;
    copy.settle = p->settle;
    copy.vls = p->vls;
    memcpy(copy.step, p->step, entries * 4);
    memcpy(copy.first, p->first, o->dests * 4u);
    memcpy(copy.from, p->from, pairs * 4);
    memcpy(copy.to, p->to, pairs * 4);
    return copy;
}

void oracle_plan_free(oracle_plan *p)
{
    free(p->step);
    free(p->first);
    free(p->from);
    free(p->to);
    *p = (oracle_plan){0};
}

/* ---- where packets go ---- */

/* The entries that a switch may have at a time: one or two. */
static unsigned entries_at(const oracle *o, const oracle_plan *p, uint32_t s, uint32_t d,
                           uint32_t time, unsigned *port)
{
    uint32_t step = p->step[(size_t)d * o->switches + s];
    bool changes = step != SV_NONE;
    port[0] = changes && step < time ? o->after->ports[d][s] : o->before->ports[d][s];
    port[1] = o->after->ports[d][s];
    return changes && step == time ? 2 : 1;
}

enum { ARRIVED = -1, DROPPED = -2 };

/* Where an entry leads: a switch, or ARRIVED, or DROPPED. */
static int next_switch(const oracle *o, uint32_t s, uint32_t d, unsigned port)
{
    uint32_t to = o->after->node[d].i;
    if (port == 0)
        return s == to ? ARRIVED : DROPPED;
    if (port >= o->ports || o->channel[s * o->ports + port] == SV_NONE)
        return DROPPED;
    uint32_t v = o->f->head[o->channel[s * o->ports + port]].i;
    if (v < o->switches)
        return (int)v;
    return v == to ? ARRIVED : DROPPED;
}

/* The only cable of a terminal, and the switch behind it. */
static uint32_t cable_of(const oracle *o, uint32_t terminal)
{
    for (uint32_t port = 0; port < o->ports; port++)
        if (o->channel[terminal * o->ports + port] != SV_NONE)
            return o->channel[terminal * o->ports + port];
    return SV_NONE;
}

uint32_t oracle_path(const oracle *o, const oracle_plan *p, uint32_t v, uint32_t d, uint32_t time,
                     uint32_t *list, bool *arrives)
{
    uint32_t count = 0;
    int at = (int)v;
    *arrives = false;
    if (v >= o->switches) {
        uint32_t c = cable_of(o, v);
        if (c == SV_NONE || o->f->head[c].i >= o->switches)
            return 0;
        at = (int)o->f->head[c].i;
    }
    while (at >= 0 && count < o->switches) {
        uint32_t s = (uint32_t)at, step = p->step[(size_t)d * o->switches + s];
        list[count++] = s;
        bool changed = step != SV_NONE && step < time;
        at = next_switch(o, s, d, changed ? o->after->ports[d][s] : o->before->ports[d][s]);
    }
    *arrives = at == ARRIVED;
    return count;
}

/* ---- nobody loses a path, nothing goes in circles ---- */

/* What a walk through old and new entries alike meets. */
struct meets {
    bool drop, circle;
};

static void explore(const oracle *o, const oracle_plan *p, uint32_t s, uint32_t d, uint32_t time,
                    uint8_t *colour, struct meets *m)
{
    unsigned port[2], count = entries_at(o, p, s, d, time, port);
    colour[s] = 1;
    for (unsigned k = 0; k < count; k++) {
        int next = next_switch(o, s, d, port[k]);
        m->drop |= next == DROPPED;
        if (next >= 0 && colour[next] == 1)
            m->circle = true;
        else if (next >= 0 && colour[next] == 0)
            explore(o, p, (uint32_t)next, d, time, colour, m);
    }
    colour[s] = 2;
}

static struct meets explored(const oracle *o, const oracle_plan *p, uint32_t s, uint32_t d,
                             uint32_t time)
{
    struct meets m = {false, false};
    uint8_t *colour = room(o->switches, 1);
    explore(o, p, s, d, time, colour, &m);
    free(colour);
    return m;
}

/* The same by following one mixture after the other. */
static struct meets mixed(oracle *o, const oracle_plan *p, uint32_t s, uint32_t d, uint32_t time,
                          const uint32_t *moving, uint32_t count)
{
    struct meets m = {false, false};
    for (uint32_t mixture = 0; mixture < 1u << count; mixture++) {
        uint32_t hops = 0;
        int at = (int)s;
        while (at >= 0 && hops <= o->switches) {
            unsigned port[2];
            bool new_one = false;
            entries_at(o, p, (uint32_t)at, d, time, port);
            for (uint32_t k = 0; k < count; k++)
                new_one |= moving[k] == (uint32_t)at && (mixture >> k & 1);
            at = next_switch(o, (uint32_t)at, d, port[new_one]);
            hops++;
        }
        o->mixtures++;
        m.drop |= at == DROPPED;
        m.circle |= at >= 0;
    }
    return m;
}

/* Whether a switch, or a terminal on it, sends to a destination at a time: who is silent loses
 * nothing. */
static bool somebody_sends(const oracle *o, const oracle_plan *p, uint32_t s, uint32_t d,
                           uint32_t time)
{
    for (uint32_t v = 0; v < o->nodes; v++) {
        size_t pair = (size_t)d * o->nodes + v;
        bool silent = p->from[pair] != SV_NONE && p->from[pair] <= time && time <= p->to[pair];
        if (oracle_counts(o, v, d) && !silent &&
            (v == s || (v >= o->switches && sv_switch_of(o->f, (sv_node){v}).i == s)))
            return true;
    }
    return false;
}

static oracle_rule judge_from(oracle *o, const oracle_plan *p, uint32_t s, uint32_t d,
                              uint32_t time, const uint32_t *moving, uint32_t count)
{
    bool joined, kept, once;
    uint32_t *list = room(o->switches, sizeof *list);
    uint32_t hops = oracle_path(o, p, s, d, 0, list, &once);
    bool turned = !once && hops == o->switches; /* old tables may do so by themselves */
    oracle_path(o, p, s, d, time, list, &joined);
    oracle_path(o, p, s, d, p->steps, list, &kept);
    free(list);
    struct meets m = explored(o, p, s, d, time);
    if (count <= o->max_mix) {
        struct meets again = mixed(o, p, s, d, time, moving, count);
        /* One that turns in circles is not followed to its end: it may or may not meet a drop. */
        if (again.circle != m.circle || (!m.circle && again.drop != m.drop))
            abort();
    }
    if (m.circle && !turned) {
        snprintf(o->why, sizeof o->why, "step %u: circle from switch %u to destination %u", time, s,
                 d);
        return ORACLE_CIRCLE;
    }
    if (joined && kept && m.drop && somebody_sends(o, p, s, d, time)) {
        snprintf(o->why, sizeof o->why, "step %u: switch %u loses destination %u", time, s, d);
        return ORACLE_LOST;
    }
    return ORACLE_FINE;
}

static oracle_rule judge_paths(oracle *o, const oracle_plan *p, uint32_t time)
{
    uint32_t *moving = room(o->switches, sizeof *moving);
    oracle_rule rule = ORACLE_FINE;
    for (uint32_t d = 0; d < o->dests && rule == ORACLE_FINE; d++) {
        uint32_t count = 0;
        for (uint32_t s = 0; s < o->switches; s++)
            if (p->step[(size_t)d * o->switches + s] == time)
                moving[count++] = s;
        if (count == 0)
            continue;
        for (uint32_t s = 0; s < o->switches && rule == ORACLE_FINE; s++)
            if (sv_node_alive(o->f, (sv_node){s}))
                rule = judge_from(o, p, s, d, time, moving, count);
    }
    free(moving);
    return rule;
}

/* ---- what waits for what ---- */

/* Packets with one SL to one destination, on their way between two times. */
struct walk {
    oracle *o;
    const oracle_plan *p;
    uint32_t d, sl, count;
};

static void reach(struct walk *w, uint32_t c, unsigned vl)
{
    uint32_t state = c * w->o->vls + vl;
    if (w->o->f->head[c].i >= w->o->switches || w->o->reached[state])
        return;
    w->o->reached[state] = 1;
    w->o->queue[w->count++] = state;
}

/* A packet that holds a channel (SV_NONE: none) on a VL leaves a node by a port. */
static void leave(struct walk *w, uint32_t held, unsigned held_vl, uint32_t v, unsigned port,
                  uint32_t time)
{
    oracle *o = w->o;
    uint32_t c = port == 0 || port >= o->ports ? SV_NONE : o->channel[v * o->ports + port];
    unsigned in = held == SV_NONE ? 0 : o->f->port[o->f->reverse[held].i];
    if (c == SV_NONE)
        return;
    for (int old = 0; old < 2; old++) {
        if (old && !(w->p->vls && time == 0))
            continue;
        unsigned vl = oracle_vls(o, old ? o->before : o->after, v, in, port)->of_sl[w->sl];
        if (vl == SV_NO_VL)
            continue;
        if (held != SV_NONE && o->vertex[held] != SV_NONE && o->vertex[c] != SV_NONE) {
            uint32_t a = o->vertex[held] + held_vl, b = o->vertex[c] + vl;
            o->waits[(size_t)a * o->words + b / 64] |= (uint64_t)1 << (b & 63);
        }
        reach(w, c, vl);
    }
}

static void set_out(struct walk *w, uint32_t v, uint32_t time)
{
    unsigned port[2], count = 1;
    if (v < w->o->switches)
        count = entries_at(w->o, w->p, v, w->d, time, port);
    else
        port[0] = cable_of(w->o, v) == SV_NONE ? 0 : w->o->f->port[cable_of(w->o, v)];
    for (unsigned k = 0; k < count; k++)
        leave(w, SV_NONE, 0, v, port[k], time);
}

/* All that is on its way goes on, as far as it gets at a time. */
static void go_on(struct walk *w, uint32_t time)
{
    oracle *o = w->o;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t c = o->queue[i] / o->vls, s = o->f->head[c].i;
        unsigned port[2], count = entries_at(o, w->p, s, w->d, time, port);
        if (s == o->after->node[w->d].i)
            continue;
        for (unsigned k = 0; k < count; k++)
            leave(w, c, o->queue[i] % o->vls, s, port[k], time);
    }
}

/*
 * Spans of time in which a pair sends with an SL: with the old one until it must be silent, or for
 * ever; with the new one from its destination's first step on, but for its silence.
 */
struct span {
    uint32_t first, last, sl; /* first > last: none */
};

static void spans_of(const oracle *o, const oracle_plan *p, uint32_t v, uint32_t d,
                     struct span span[3])
{
    uint32_t from = p->from[(size_t)d * o->nodes + v], to = p->to[(size_t)d * o->nodes + v];
    uint32_t old_sl = sv_route_sl(o->before, (sv_node){v}, d);
    uint32_t new_sl = sv_route_sl(o->after, (sv_node){v}, d);
    const struct span none = {1, 0, 0};
    span[0] = (struct span){0, p->steps, old_sl};
    span[1] = span[2] = none;
    if (p->first[d] != SV_NONE)
        span[1] = (struct span){p->first[d], p->steps, new_sl};
    if (from == SV_NONE)
        return;
    span[2] = (struct span){to + 1, p->steps, new_sl};
    if (from == 0) {
        span[0] = span[1] = none;
        return;
    }
    span[0].last = from - 1;
    if (span[1].first <= span[1].last)
        span[1].last = from - 1;
}

/* Packets of everybody who sends at a time, all of which live in it. */
static void wait_at(oracle *o, const oracle_plan *p, uint32_t d, uint32_t time)
{
    uint64_t sls = 0; /* that somebody has */
    uint64_t *of = room(o->nodes, sizeof *of);
    for (uint32_t v = 0; v < o->nodes; v++) {
        struct span span[3];
        if (!oracle_counts(o, v, d))
            continue;
        spans_of(o, p, v, d, span);
        for (int k = 0; k < 3; k++)
            if (span[k].first <= time && time <= span[k].last && span[k].sl < SV_MAX_SLS)
                of[v] |= (uint64_t)1 << span[k].sl;
        sls |= of[v];
    }
    for (uint32_t sl = 0; sl < SV_MAX_SLS; sl++) {
        struct walk w = {o, p, d, sl, 0};
        if (!(sls >> sl & 1))
            continue;
        memset(o->reached, 0, (size_t)o->f->num_channels * o->vls);
        for (uint32_t v = 0; v < o->nodes; v++)
            if (of[v] >> sl & 1)
                set_out(&w, v, time);
        go_on(&w, time);
    }
    free(of);
}

static bool alive_in(struct span a)
{
    return a.first <= a.last && a.sl < SV_MAX_SLS;
}

/* Packets of all who have the same span, and may live from its first time to its last. */
static void wait_through(oracle *o, const oracle_plan *p, uint32_t d, struct span (*spans)[3],
                         struct span which)
{
    struct walk w = {o, p, d, which.sl, 0};
    memset(o->reached, 0, (size_t)o->f->num_channels * o->vls);
    for (uint32_t time = which.first; time <= which.last; time++) {
        for (uint32_t v = 0; v < o->nodes; v++)
            for (int k = 0; k < 3; k++)
                if (memcmp(&spans[v][k], &which, sizeof which) == 0)
                    set_out(&w, v, time);
        go_on(&w, time);
    }
    for (uint32_t v = 0; v < o->nodes; v++)
        for (int k = 0; k < 3; k++)
            if (memcmp(&spans[v][k], &which, sizeof which) == 0)
                spans[v][k] = (struct span){1, 0, 0};
}

static bool cycle_from(const oracle *o, uint32_t v, uint8_t *colour)
{
    colour[v] = 1;
    for (uint32_t word = 0; word < o->words; word++)
        for (uint64_t bits = o->waits[(size_t)v * o->words + word]; bits != 0; bits &= bits - 1) {
            uint32_t u = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (colour[u] == 1 || (colour[u] == 0 && cycle_from(o, u, colour)))
                return true;
        }
    colour[v] = 2;
    return false;
}

static bool has_cycle(const oracle *o)
{
    uint8_t *colour = room(o->vertices, 1);
    bool found = false;
    for (uint32_t v = 0; v < o->vertices && !found; v++)
        found = colour[v] == 0 && cycle_from(o, v, colour);
    free(colour);
    return found;
}

static void forget(oracle *o)
{
    memset(o->waits, 0, (size_t)o->vertices * o->words * sizeof *o->waits);
}

/* ---- judgements ---- */

oracle_rule oracle_judge_time(oracle *o, const oracle_plan *p, uint32_t time)
{
    oracle_rule rule = judge_paths(o, p, time);
    if (rule != ORACLE_FINE)
        return rule;
    forget(o);
    for (uint32_t d = 0; d < o->dests; d++)
        wait_at(o, p, d, time);
    if (!has_cycle(o))
        return ORACLE_FINE;
    snprintf(o->why, sizeof o->why, "step %u of %u: packets can wait for each other for ever", time,
             p->steps);
    return ORACLE_DEADLOCK;
}

static oracle_rule judge_together(oracle *o, const oracle_plan *p)
{
    struct span(*spans)[3] = room(o->nodes, sizeof *spans);
    forget(o);
    for (uint32_t d = 0; d < o->dests; d++) {
        for (uint32_t v = 0; v < o->nodes; v++) {
            spans_of(o, p, v, d, spans[v]);
            for (int k = 0; k < 3; k++)
                if (!oracle_counts(o, v, d))
                    spans[v][k] = (struct span){1, 0, 0};
        }
        for (uint32_t v = 0; v < o->nodes; v++)
            for (int k = 0; k < 3; k++)
                if (alive_in(spans[v][k]))
                    wait_through(o, p, d, spans, spans[v][k]);
    }
    free(spans);
    if (!has_cycle(o))
        return ORACLE_FINE;
    snprintf(o->why, sizeof o->why, "not settled: packets can wait for each other for ever");
    return ORACLE_DEADLOCK;
}

oracle_rule oracle_judge(oracle *o, const oracle_plan *p)
{
    oracle_rule rule = ORACLE_FINE;
    if (p->settle)
        for (uint32_t time = 0; time <= p->steps && rule == ORACLE_FINE; time++)
            rule = oracle_judge_time(o, p, time);
    else {
        for (uint32_t time = 0; time < p->steps && rule == ORACLE_FINE; time++)
            rule = judge_paths(o, p, time);
        if (rule == ORACLE_FINE)
            rule = judge_together(o, p);
    }
    return rule;
}

bool oracle_acyclic(oracle *o, bool new_ones)
{
    const sv_routes *old = o->before, *young = o->after;
    oracle_plan p = oracle_plan_new(o);
    forget(o);
    o->before = o->after = new_ones ? young : old;
    for (uint32_t d = 0; d < o->dests; d++)
        wait_at(o, &p, d, 0);
    o->before = old;
    o->after = young;
    oracle_plan_free(&p);
    return !has_cycle(o);
}
