/*
 * rows.c: follows all packets for a destination at once.
 *
 * Idea: a row gives every switch at most one way out, so the switches form trees that run together
 * towards the destination, with a ring at the root where tables are wrong. We go from the tips
 * inwards: when it is a switch's turn, all that flows into it is known, as a set of SLs for each
 * VL of its way out. Handing those sets on to the next switch gives exactly the dependencies that
 * packets for this destination induce, each at most once for a VL and an SL. Rings are gone
 * around until the sets do not grow any more.
 *
 * Invariants: sets is all zero between destinations; every live switch is either in order or on a
 * ring.
 * Cost: O(switches × VLs) a destination, plus O(terminals) where SLs or VLs differ between the
 * terminals of a switch.
 */
#include "verify/rows.h"

#include <string.h>

#include "base/threads.h"

/* ---- one destination ---- */

enum { DEAD, GOES, ENDS }; /* nowhere, on to another switch, at the destination */

/* What a worker needs for itself, for each switch. */
struct scratch {
    uint8_t *kind;
    bool *arrives;
    sv_channel *out;   /* of a switch that GOES; where it ENDS, the channel to the terminal */
    uint32_t *next;    /* the switch it leads to, shifted by 8, and the port it comes in at */
    uint32_t *feeders; /* switches that go on to this one and had no turn yet */
    uint32_t *order;
    uint64_t *sets; /* [switches × VLs]: SLs on each VL of its way out */
    uint8_t *seen;  /* [turns]: VLs on which it is known already, if it stays on them; or NULL */
    uint8_t *used;  /* [channels]: the same for channels; only if VLs are straight */
    uint8_t *vls;   /* [switches]: what flows into it; only if VLs are straight */
};

struct walk {
    const sv__verify_case *c;
    sv_traffic traffic;
    sv__unknown unknown;
    const sv__deps *deps;
    struct scratch *scratch; /* one a worker */
    sv__verify_tally *tallies;
    bool tally;
    bool plain; /* one VL, and every source sends: what flows needs no sets */
    /*
     * Everywhere an SL goes the same VL, and terminals send on the SL of their switch: what flows
     * is a set of VLs. vl_of: [SLs]; sl_of: [VLs], one that goes there.
     */
    bool straight;
    const sv_sl2vl *vl_of;
    uint8_t sl_of[8];
};

struct row {
    const struct walk *w;
    struct scratch *x;
    sv__verify_tally *tally;
    uint32_t d;
    sv_node to;
    const uint8_t *ports;
    bool dropped; /* some VL table discarded something */
};

static void classify(struct row *row)
{
    const sv__verify_case *c = row->w->c;
    struct scratch *x = row->x;
    uint32_t switches = c->fabric->num_switches;
    memset(x->feeders, 0, switches * sizeof *x->feeders);
    for (uint32_t s = 0; s < switches; s++) {
        unsigned port = row->ports[s];
        const sv_place *place = sv_portmap_place(&c->ports, s, port);
        uint32_t next = place->end >> 8;
        x->out[s] = (sv_channel){place->channel};
        x->next[s] = place->end;
        if (place->channel == SV_NONE) {
            x->kind[s] = port == 0 && s == row->to.i ? ENDS : DEAD;
        } else if (next < switches) {
            x->kind[s] = GOES;
            x->feeders[next]++;
        } else {
            x->kind[s] = next == row->to.i ? ENDS : DEAD;
        }
    }
}

/* Whether sources of a kind send to the destination in this traffic. */
static bool sends(const struct row *row, bool terminal)
{
    bool to_terminal = !sv_is_switch(row->w->c->fabric, row->to);
    unsigned switches = !terminal + !to_terminal;
    return switches <= (unsigned)row->w->traffic;
}

/* Adds SLs to the VLs of a switch's way out as a table says; true if that was news. */
static bool put(struct row *row, uint32_t s, const sv_sl2vl *vls, uint64_t sls)
{
    uint64_t *sets = &row->x->sets[(size_t)s * row->w->c->vls];
    bool news = false;
    for (; sls != 0; sls &= sls - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(sls), vl = vls->of_sl[sl];
        if (vl == SV_NO_VL) {
            row->dropped = true;
            continue;
        }
        news |= !(sets[vl] >> sl & 1);
        sets[vl] |= (uint64_t)1 << sl;
    }
    return news;
}

/* What one terminal sends: from its own channel to the way out of its switch. */
static void inject_terminal(struct row *row, uint32_t s, const sv_hop *hop)
{
    const sv__verify_case *c = row->w->c;
    const sv_fabric *f = c->fabric;
    const sv__deps *deps = row->w->deps;
    if (hop->to.i == row->to.i)
        return;
    uint64_t sls = sv__case_sls(c, hop->to, row->d, row->w->unknown);
    sv_channel out = row->x->out[s], in = f->reverse[hop->channel.i];
    const sv_sl2vl *first = sv_route_sl2vl(c->routes, f, hop->to, 0, f->port[in.i]);
    const sv_sl2vl *second =
        sv_route_sl2vl(c->routes, f, (sv_node){s}, f->port[hop->channel.i], f->port[out.i]);
    for (uint64_t left = sls; left != 0; left &= left - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(left);
        unsigned a = first->of_sl[sl], b = second->of_sl[sl];
        if (a == SV_NO_VL) {
            row->dropped = true;
            sls &= ~((uint64_t)1 << sl);
            continue;
        }
        if (deps->ends && b != SV_NO_VL)
            sv__deps_add(deps, in, a, out, b);
    }
    put(row, s, second, sls);
}

/* All terminals of a switch at once, where nothing tells them apart. */
static void inject_alike(struct row *row, uint32_t s)
{
    const sv__verify_case *c = row->w->c;
    const sv_fabric *f = c->fabric;
    SV_FOR_HOPS (f, (sv_node){s}, hop) {
        if (sv_is_switch(f, hop->to) || hop->to.i == row->to.i)
            continue;
        put(row, s, &c->routes->vl_tables[c->routes->vls_of[s]],
            sv__case_sls(c, hop->to, row->d, row->w->unknown));
        return;
    }
}

/* What starts at a switch: its terminals' packets, and its own. */
static void inject(struct row *row, uint32_t s)
{
    const sv__verify_case *c = row->w->c;
    const sv_fabric *f = c->fabric;
    const sv_routes *r = c->routes;
    if (c->terminals[s] > 0 && sends(row, true)) {
        bool alike = !row->w->deps->ends && !c->discards && r->sl2vl_by_port[s] == NULL &&
                     (c->options.assume ||
                      (!c->options.reversible && r->sl_form != SV_SL_BY_NODE) || !c->sl_matters);
        if (alike) {
            inject_alike(row, s);
        } else {
            SV_FOR_HOPS (f, (sv_node){s}, hop)
                if (!sv_is_switch(f, hop->to))
                    inject_terminal(row, s, hop);
        }
    }
    if (s != row->to.i && sends(row, false))
        put(row, s, sv_route_sl2vl(r, f, (sv_node){s}, 0, f->port[row->x->out[s].i]),
            sv__case_sls(c, (sv_node){s}, row->d, row->w->unknown));
}

/*
 * Most turns have been seen before, and on most the VL stays. A byte for all VLs of a turn is
 * found sooner than bits of the dependency set, which is larger than any cache. Those of a way out
 * stand together: all that goes a destination leaves a switch there.
 */
static uint8_t *seen_at(const sv__deps *deps, uint8_t *seen, uint32_t s, unsigned in, unsigned out)
{
    uint64_t ports = deps->fabric->switches[s].ports + 1u;
    return &seen[deps->first[s] / (deps->vls * deps->vls) + out * ports + in];
}

/* Hands what leaves a switch on to the next; true if that was news there. */
static bool hand_on(struct row *row, uint32_t s)
{
    const sv__verify_case *c = row->w->c;
    const sv_fabric *f = c->fabric;
    const sv__deps *deps = row->w->deps;
    const struct scratch *x = row->x;
    uint32_t next = x->next[s] >> 8;
    unsigned in = x->next[s] & 255;
    const uint64_t *sets = &x->sets[(size_t)s * c->vls];
    bool goes =
        x->kind[s] == GOES && x->out[next].i != SV_NONE && (x->kind[next] != DEAD || deps->ends);
    bool counts = goes && (x->kind[next] == GOES || deps->ends), news = false;
    unsigned out = goes ? row->ports[next] : 0;
    const sv_sl2vl *vls = goes ? sv_route_sl2vl(c->routes, f, (sv_node){next}, in, out) : NULL;
    uint8_t *seen = counts && x->seen != NULL ? seen_at(deps, x->seen, next, in, out) : NULL;
    for (unsigned vl = 0; vl < c->vls; vl++) {
        if (sets[vl] == 0)
            continue;
        sv__deps_use(deps, x->out[s], vl);
        for (uint64_t sls = counts ? sets[vl] : 0; sls != 0; sls &= sls - 1) {
            unsigned then = vls->of_sl[__builtin_ctzll(sls)];
            if (then == SV_NO_VL || (seen != NULL && then == vl && *seen >> vl & 1))
                continue;
            sv__deps_turn(deps, next, in, vl, out, then);
            if (seen != NULL && then == vl)
                *seen |= (uint8_t)(1u << vl);
        }
        if (goes)
            news |= put(row, next, vls, sets[vl]);
    }
    return news;
}

static void forget(struct row *row, uint32_t s)
{
    memset(&row->x->sets[(size_t)s * row->w->c->vls], 0, row->w->c->vls * sizeof *row->x->sets);
}

/* Whether a switch has a channel that its packets take. */
static bool leaves(const struct row *row, uint32_t s)
{
    return row->x->out[s].i != SV_NONE &&
           (row->x->kind[s] == GOES || row->w->deps->ends || row->w->c->discards);
}

/* Whether a switch, or a terminal on it, sends to the destination. */
static bool starts(const struct row *row, uint32_t s)
{
    const sv__verify_case *c = row->w->c;
    uint32_t own = c->terminals[s];
    if (s != row->to.i && sends(row, false))
        return true;
    return own > 0 && sends(row, true) &&
           (own > 1 || sv_is_switch(c->fabric, row->to) || sv_switch_of(c->fabric, row->to).i != s);
}

/* The same as inject and hand_on where there is one VL: sets[s] is 1 if anything flows. */
static void step_plain(struct row *row, uint32_t s)
{
    const struct scratch *x = row->x;
    uint32_t next = x->next[s] >> 8;
    bool flows = x->sets[s] != 0 || starts(row, s);
    x->sets[s] = 0;
    if (!flows || x->kind[s] != GOES)
        return;
    sv__deps_use(row->w->deps, x->out[s], 0);
    if (x->kind[next] != GOES)
        return;
    sv__deps_turn(row->w->deps, next, x->next[s] & 255, 0, row->ports[next], 0);
    x->sets[next] = 1;
}

/* VLs on which a channel, or a turn, is new to this worker. */
static unsigned news(uint8_t *seen, unsigned vls)
{
    unsigned new = vls & ~(unsigned)*seen;
    *seen |= (uint8_t) new;
    return new;
}

/* The same as inject and hand_on where VLs are straight. */
static void step_straight(struct row *row, uint32_t s)
{
    const struct walk *w = row->w;
    const struct scratch *x = row->x;
    uint32_t next = x->next[s] >> 8;
    unsigned in = x->next[s] & 255, out = row->ports[next < w->c->fabric->num_switches ? next : s];
    unsigned vls = x->vls[s];
    x->vls[s] = 0;
    if (x->kind[s] != GOES)
        return;
    if (starts(row, s))
        for (uint64_t sls = sv__case_sls(w->c, (sv_node){s}, row->d, w->unknown); sls != 0;
             sls &= sls - 1)
            vls |= 1u << w->vl_of->of_sl[__builtin_ctzll(sls)];
    for (unsigned new = news(&x->used[x->out[s].i], vls); new != 0; new &= new - 1)
        sv__deps_use(w->deps, x->out[s], (unsigned)__builtin_ctz(new));
    if (x->kind[next] != GOES)
        return;
    for (unsigned new = news(seen_at(w->deps, x->seen, next, in, out), vls); new != 0;
         new &= new - 1) {
        unsigned vl = (unsigned)__builtin_ctz(new);
        sv__deps_turn(w->deps, next, in, vl, out, vl);
    }
    x->vls[next] |= (uint8_t)vls;
}

/* From the tips inwards. Returns how many switches had their turn. */
static uint32_t walk_trees(struct row *row)
{
    const sv_fabric *f = row->w->c->fabric;
    struct scratch *x = row->x;
    uint32_t tail = 0;
    bool plain = row->w->plain;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (x->feeders[s] == 0 && sv_node_alive(f, (sv_node){s}))
            x->order[tail++] = s;
    for (uint32_t i = 0; i < tail; i++) {
        uint32_t s = x->order[i];
        if (plain) {
            step_plain(row, s);
        } else if (row->w->straight) {
            step_straight(row, s);
        } else {
            if (leaves(row, s)) {
                inject(row, s);
                hand_on(row, s);
            }
            forget(row, s);
        }
        if (x->kind[s] == GOES && --x->feeders[x->next[s] >> 8] == 0)
            x->order[tail++] = x->next[s] >> 8;
    }
    return tail;
}

/* VLs that flow into a switch become SLs on them. */
static void widen(struct row *row, uint32_t s)
{
    const struct walk *w = row->w;
    unsigned vls = w->straight ? row->x->vls[s] : 0;
    for (; vls != 0; vls &= vls - 1) {
        unsigned vl = (unsigned)__builtin_ctz(vls);
        row->x->sets[(size_t)s * w->c->vls + vl] |= (uint64_t)1 << w->sl_of[vl];
    }
    if (w->straight)
        row->x->vls[s] = 0;
}

/* The rings that are left: those with feeders still waiting. */
static void walk_rings(struct row *row)
{
    const sv_fabric *f = row->w->c->fabric;
    struct scratch *x = row->x;
    for (uint32_t start = 0; start < f->num_switches; start++) {
        if (x->feeders[start] == 0)
            continue;
        uint32_t length = 0, s = start;
        do {
            x->feeders[s] = 0;
            x->order[length++] = s;
            widen(row, s);
            inject(row, s);
            s = x->next[s] >> 8;
        } while (s != start);
        row->tally->loops++;
        if (row->d < row->tally->loop_destination) {
            row->tally->loop_destination = row->d;
            row->tally->loop_at = (sv_node){start};
        }
        for (bool news = true; news;) {
            news = false;
            for (uint32_t i = 0; i < length; i++)
                news |= hand_on(row, x->order[i]);
        }
        for (uint32_t i = 0; i < length; i++)
            forget(row, x->order[i]);
    }
}

static void lose(struct row *row, sv_pairs pairs, sv_node from)
{
    sv__verify_tally *t = row->tally;
    t->unreachable[pairs]++;
    bool sooner =
        row->d < t->lost_destination || (row->d == t->lost_destination && from.i < t->lost_from.i);
    /* A pair of terminals is a better example than one with a switch. */
    if (pairs == SV_PAIRS_TERMINAL_TERMINAL && sooner) {
        t->lost_destination = row->d;
        t->lost_from = from;
    }
}

/* Which of some SLs bring a packet to its destination. */
static uint64_t arriving(const struct row *row, sv_node from, uint64_t sls)
{
    const sv__verify_case *c = row->w->c;
    uint64_t good = 0;
    uint32_t count;
    sv_node at;
    for (; sls != 0; sls &= sls - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(sls);
        if (sv_routes_trace(c->fabric, c->routes, from, row->d, sl, NULL, 0, &count, &at) ==
            SV_TRACE_ARRIVED)
            good |= (uint64_t)1 << sl;
    }
    return good;
}

/* Whether a packet arrives: with every SL that is known, and with one at least. */
static bool arrives_by_trace(const struct row *row, sv_node from)
{
    const sv__verify_case *c = row->w->c;
    uint64_t known = sv__case_sls(c, from, row->d, SV__UNKNOWN_NONE);
    uint64_t all = sv__case_sls(c, from, row->d, SV__UNKNOWN_ANY);
    uint64_t good = arriving(row, from, all | known);
    return good != 0 && (known & ~good) == 0;
}

static void judge_source(struct row *row, sv_node from, bool arrives)
{
    const sv__verify_case *c = row->w->c;
    bool terminal = !sv_is_switch(c->fabric, from), to_terminal = !sv_is_switch(c->fabric, row->to);
    sv_pairs pairs = (sv_pairs)((terminal ? 0 : 2) + (to_terminal ? 0 : 1));
    if (from.i == row->to.i)
        return;
    if (row->dropped || (terminal && sv_switch_of(c->fabric, from).i == SV_NONE))
        arrives = arrives_by_trace(row, from);
    if (arrives)
        return;
    lose(row, pairs, from);
    if (pairs == SV_PAIRS_TERMINAL_TERMINAL && c->component[from.i] != c->component[row->to.i])
        row->tally->split_pairs++;
}

/* Counts who cannot reach the destination. order holds the trees from the tips inwards. */
static void judge(struct row *row, uint32_t in_trees)
{
    const sv__verify_case *c = row->w->c;
    const sv_fabric *f = c->fabric;
    struct scratch *x = row->x;
    uint32_t arriving = 0;
    if (in_trees < f->live_switches)
        memset(x->arrives, 0, f->num_switches * sizeof *x->arrives);
    for (uint32_t i = in_trees; i-- > 0;) {
        uint32_t s = x->order[i];
        x->arrives[s] =
            x->kind[s] == ENDS || (x->kind[s] == GOES && x->arrives[f->head[x->out[s].i].i]);
        arriving += x->arrives[s];
    }
    bool to_terminal = !sv_is_switch(f, row->to);
    row->tally->pairs[to_terminal ? SV_PAIRS_TERMINAL_TERMINAL : SV_PAIRS_TERMINAL_SWITCH] +=
        f->live_terminals - to_terminal;
    row->tally->pairs[to_terminal ? SV_PAIRS_SWITCH_TERMINAL : SV_PAIRS_SWITCH_SWITCH] +=
        f->live_switches - !to_terminal;
    if (arriving == f->live_switches && !row->dropped && !c->split)
        return;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        sv_node from = {v};
        if (!sv_node_alive(f, from))
            continue;
        sv_node at = sv_is_switch(f, from) ? from : sv_switch_of(f, from);
        judge_source(row, from, at.i != SV_NONE && x->arrives[at.i]);
    }
}

/* The channels out of terminals: packets take them whatever becomes of them behind. */
static void use_ends(const struct row *row)
{
    const sv__verify_case *c = row->w->c;
    const sv_fabric *f = c->fabric;
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
        SV_FOR_HOPS (f, ((sv_node){v}), hop) {
            const sv_sl2vl *vls =
                sv_route_sl2vl(c->routes, f, (sv_node){v}, 0, f->port[hop->channel.i]);
            uint64_t sls =
                v == row->to.i ? 0 : sv__case_sls(c, (sv_node){v}, row->d, row->w->unknown);
            for (; sls != 0; sls &= sls - 1) {
                unsigned vl = vls->of_sl[__builtin_ctzll(sls)];
                if (vl != SV_NO_VL)
                    sv__deps_use(row->w->deps, hop->channel, vl);
            }
        }
}

static void walk_row(const struct walk *w, unsigned worker, uint32_t d)
{
    const sv__verify_case *c = w->c;
    struct row row = {.w = w,
                      .x = &w->scratch[worker],
                      .tally = &w->tallies[worker],
                      .d = d,
                      .to = c->routes->node[d],
                      .ports = c->routes->ports[d],
                      .dropped = c->adapters_discard};
    if (!sv_node_alive(c->fabric, row.to))
        return;
    classify(&row);
    if (w->deps->ends)
        use_ends(&row);
    uint32_t in_trees = walk_trees(&row);
    /* walk_rings uses order for rings, so count first. */
    if (w->tally)
        judge(&row, in_trees);
    walk_rings(&row);
}

/* ---- all of them ---- */

enum { ROWS_A_PIECE = 32 };

static sv_status walk_piece(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct walk *w = arg;
    uint64_t end = (piece + 1) * ROWS_A_PIECE;
    if (end > w->c->routes->num_destinations)
        end = w->c->routes->num_destinations;
    for (uint64_t d = piece * ROWS_A_PIECE; d < end; d++)
        walk_row(w, worker, (uint32_t)d);
    return SV_OK;
}

static sv_status make_scratch(struct walk *w, sv_arena *arena, unsigned workers)
{
    size_t n = w->c->fabric->num_switches;
    w->scratch = SV_ARENA_NEW(arena, struct scratch, workers);
    w->tallies = SV_ARENA_NEW(arena, sv__verify_tally, workers);
    if (w->scratch == NULL || w->tallies == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < workers; i++) {
        w->tallies[i] = (sv__verify_tally){.lost_destination = SV_NONE,
                                           .loop_destination = SV_NONE,
                                           .lost_from = SV_NO_NODE,
                                           .loop_at = SV_NO_NODE};
        struct scratch *x = &w->scratch[i];
        x->kind = SV_ARENA_NEW(arena, uint8_t, n);
        x->arrives = SV_ARENA_NEW(arena, bool, n);
        x->out = SV_ARENA_NEW(arena, sv_channel, n);
        x->next = SV_ARENA_NEW(arena, uint32_t, n);
        x->feeders = SV_ARENA_NEW(arena, uint32_t, n);
        x->order = SV_ARENA_NEW(arena, uint32_t, n);
        x->sets = SV_ARENA_NEW(arena, uint64_t, n * w->c->vls);
        if (w->c->vls > 1 && w->c->vls <= 8) {
            uint64_t turns = w->deps->num_bits / (w->deps->vls * w->deps->vls);
            if ((x->seen = SV_ARENA_NEW(arena, uint8_t, turns)) == NULL)
                return SV_NO_MEMORY;
        }
        if (w->straight) {
            x->used = SV_ARENA_NEW(arena, uint8_t, w->c->fabric->num_channels);
            x->vls = SV_ARENA_NEW(arena, uint8_t, n);
            if (x->used == NULL || x->vls == NULL)
                return SV_NO_MEMORY;
        }
        if (x->kind == NULL || x->arrives == NULL || x->out == NULL || x->next == NULL ||
            x->feeders == NULL || x->order == NULL || x->sets == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

static void sum_up(sv__verify_tally *sum, const sv__verify_tally *part)
{
    for (int i = 0; i < SV_PAIRS_COUNT; i++) {
        sum->pairs[i] += part->pairs[i];
        sum->unreachable[i] += part->unreachable[i];
    }
    sum->split_pairs += part->split_pairs;
    sum->loops += part->loops;
    if (part->lost_destination < sum->lost_destination) {
        sum->lost_destination = part->lost_destination;
        sum->lost_from = part->lost_from;
    }
    if (part->loop_destination < sum->loop_destination) {
        sum->loop_destination = part->loop_destination;
        sum->loop_at = part->loop_at;
    }
}

/* Whether VLs are straight, and which SL goes which. */
static void find_straight(struct walk *w)
{
    const sv__verify_case *c = w->c;
    const sv_routes *r = c->routes;
    w->straight = c->vls > 1 && c->vls <= 8 && !c->discards && !w->deps->ends &&
                  r->sl_form != SV_SL_BY_NODE && !c->options.reversible;
    for (uint32_t v = 0; w->straight && v < r->num_switches + r->num_terminals; v++)
        w->straight =
            r->vls_of[v] == r->vls_of[0] && (v >= r->num_switches || r->sl2vl_by_port[v] == NULL);
    if (!w->straight)
        return;
    w->vl_of = &r->vl_tables[r->vls_of[0]];
    for (uint64_t sls = c->sls; sls != 0 && w->straight; sls &= sls - 1) {
        unsigned sl = (unsigned)__builtin_ctzll(sls), vl = w->vl_of->of_sl[sl];
        w->straight = vl < c->vls;
        w->sl_of[vl < c->vls ? vl : 0] = (uint8_t)sl;
    }
}

sv_status sv__walk_all(sv_ctx *ctx, const sv__verify_case *c, sv_traffic traffic,
                       sv__unknown unknown, const sv__deps *deps, sv__verify_tally *tally)
{
    uint64_t pieces = (c->routes->num_destinations + ROWS_A_PIECE - 1) / ROWS_A_PIECE;
    unsigned workers = sv_ctx_threads(ctx, pieces);
    struct walk w = {.c = c,
                     .traffic = traffic,
                     .unknown = unknown,
                     .deps = deps,
                     .tally = tally != NULL,
                     .plain = c->vls == 1 && !c->discards && !deps->ends && !c->sl_matters};
    sv_arena arena;
    find_straight(&w);
    sv_arena_init(&arena, ctx);
    sv_status status = make_scratch(&w, &arena, workers);
    if (status == SV_OK)
        status = sv_parallel(ctx, "checking", pieces, walk_piece, &w);
    if (status == SV_OK && tally != NULL) {
        *tally = w.tallies[0];
        for (unsigned i = 1; i < workers; i++)
            sum_up(tally, &w.tallies[i]);
    }
    sv_arena_release(&arena);
    return status;
}
