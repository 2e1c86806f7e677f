/*
 * random.c: random topologies: the thesis' ring plus random cables, and Jellyfish.
 *
 * random (thesis 3.2.5): a ring of all switches keeps it connected; then pairs of different
 * switches are drawn and joined until there are enough cables. A pair with a switch that has no
 * free port is drawn again; drawing among the switches that have one comes to the same. Two
 * switches may be joined more than once. When only one switch has free ports left, a random cable
 * is taken out and its ends are joined to that one, as in Jellyfish.
 *
 * jellyfish (Singla et al. 2012): a random regular simple graph. Switches with free ports that are
 * not neighbours are joined at random; when that gets stuck, a random cable x-y is taken out and
 * its ends are joined to the free ports instead. A result that is not connected is thrown away and
 * drawn again. Of a dense graph (more than half of all pairs joined) the pairs that are not joined
 * are drawn, in the same way.
 *
 * Slots: in the order drawn.
 * Cost: random is linear; jellyfish is O(cables * degree), expected.
 */
#include "base/rng.h"
#include "topology/net.h"

static sv_status read_seed(sv__topology_net *net, sv_rng *rng)
{
    uint64_t seed;
    SV_TRY(sv__spec_number(net->spec, "seed", 0, UINT64_MAX - 1, 1, &seed));
    sv_rng_init(rng, seed);
    return SV_OK;
}

/* ---- ring plus random ---- */

/* Free ports of each switch when terminals and the ring are cabled. */
static sv_status free_ports(sv__topology_net *net, uint64_t radix, uint64_t r, uint64_t *ports)
{
    uint32_t *hosts;
    SV_TRY(sv__net_count_hosts(net, &hosts));
    uint32_t ring = net->num_switches > 2 ? 2 : net->num_switches - 1;
    for (uint32_t s = 0; s < net->num_switches; s++) {
        uint64_t used = hosts[s] + ring * r;
        ports[s] = radix == 0 ? UINT64_MAX : used > radix ? 0 : (radix - used) / r;
    }
    return SV_OK;
}

/* The random cables being drawn, and the switches that still have free ports. */
struct draw {
    sv__topology_net *net;
    sv_rng rng;
    uint64_t *ports; /* free ones of each switch */
    uint32_t *open, num_open;
    size_t ring; /* cables of the ring, which stay */
};

/* Takes a port of the i-th open switch; a full one leaves the list. */
static void take_port(struct draw *d, uint32_t i)
{
    if (--d->ports[d->open[i]] == 0)
        d->open[i] = d->open[--d->num_open];
}

static sv_status join_two(struct draw *d)
{
    uint32_t i = (uint32_t)sv_rng_below(&d->rng, d->num_open);
    uint32_t j = (uint32_t)sv_rng_below(&d->rng, d->num_open - 1);
    j += j >= i;
    SV_TRY(sv__net_cable(d->net, d->open[i], 2, d->open[j], 2, 1));
    take_port(d, i > j ? i : j); /* the later one first: it may be replaced by the last */
    take_port(d, i > j ? j : i);
    return SV_OK;
}

/* Puts the only open switch s into a cable x-y: x-s and s-y. False if there is no such cable. */
static sv_status split_one(struct draw *d, bool *done)
{
    uint32_t s = d->open[0], choices = 0;
    for (size_t k = d->ring; k < d->net->cables.length; k++)
        choices += d->net->cables.at[k].a != s && d->net->cables.at[k].b != s;
    *done = choices > 0 && d->ports[s] >= 2;
    if (!*done)
        return SV_OK;
    uint64_t chosen = sv_rng_below(&d->rng, choices);
    for (size_t k = d->ring; k < d->net->cables.length; k++) {
        struct sv__net_cable *cable = &d->net->cables.at[k];
        if (cable->a == s || cable->b == s || chosen-- > 0)
            continue;
        uint32_t y = cable->b;
        cable->b = s;
        take_port(d, 0);
        if (d->num_open > 0)
            take_port(d, 0);
        return sv__net_cable(d->net, s, 2, y, 2, 1);
    }
    return SV_OK;
}

static sv_status draw_cables(struct draw *d, uint64_t links)
{
    for (uint64_t n = d->ring; n < links; n++) {
        bool done = d->num_open > 1;
        if (done)
            SV_TRY(join_two(d));
        else if (d->num_open == 1)
            SV_TRY(split_one(d, &done));
        if (!done)
            return sv__spec_infeasible(d->net->spec, "no free ports left after %llu of %llu links",
                                       (unsigned long long)n, (unsigned long long)links);
    }
    return SV_OK;
}

static sv_status build_random(sv__topology_net *net)
{
    uint64_t switches, links, radix, r;
    struct draw d = {.net = net};
    SV_TRY(sv__spec_number(net->spec, "switches", 1, 1 << 22, SV__REQUIRED, &switches));
    SV_TRY(sv__spec_number(net->spec, "links", 0, 1 << 26, SV__REQUIRED, &links));
    SV_TRY(sv__spec_number(net->spec, "radix", 1, 65000, 0, &radix));
    SV_TRY(sv__spec_number(net->spec, "r", 1, 10000, 1, &r));
    SV_TRY(read_seed(net, &d.rng));
    SV_TRY(sv__net_begin(net, switches));
    d.ring = switches > 2 ? switches : switches - 1;
    if (links < d.ring)
        return sv__spec_infeasible(net->spec, "%llu links: the ring alone needs %zu",
                                   (unsigned long long)links, d.ring);
    for (uint32_t s = 0; s < d.ring; s++)
        SV_TRY(sv__net_cable(net, s, 1, (uint32_t)((s + 1) % switches), 0, 1));
    d.ports = SV_ARENA_NEW(&net->arena, uint64_t, switches);
    d.open = SV_ARENA_NEW(&net->arena, uint32_t, switches);
    if (d.ports == NULL || d.open == NULL)
        return SV_NO_MEMORY;
    SV_TRY(free_ports(net, radix, r, d.ports));
    for (uint32_t s = 0; s < switches; s++)
        if (d.ports[s] > 0)
            d.open[d.num_open++] = s;
    return draw_cables(&d, links);
}

/* ---- Jellyfish ---- */

struct jelly {
    uint32_t n, degree;
    uint32_t *peers;  /* [n * degree] */
    uint32_t *filled; /* how many peers a switch has */
    uint32_t *open;   /* switches with free ports */
    uint32_t *place;  /* of a switch in open */
    uint32_t num_open;
    sv_rng *rng;
};

static bool joined(const struct jelly *g, uint32_t a, uint32_t b)
{
    const uint32_t *peers = g->peers + (size_t)a * g->degree;
    for (uint32_t i = 0; i < g->filled[a]; i++)
        if (peers[i] == b)
            return true;
    return false;
}

/* Gives a another neighbour; one that is full leaves the open list. */
static void put_peer(struct jelly *g, uint32_t a, uint32_t b)
{
    g->peers[(size_t)a * g->degree + g->filled[a]++] = b;
    if (g->filled[a] == g->degree) {
        uint32_t last = g->open[--g->num_open];
        g->open[g->place[a]] = last;
        g->place[last] = g->place[a];
    }
}

static void swap_peer(struct jelly *g, uint32_t a, uint32_t from, uint32_t to)
{
    uint32_t *peers = g->peers + (size_t)a * g->degree;
    for (uint32_t i = 0; i < g->filled[a]; i++)
        if (peers[i] == from) {
            peers[i] = to;
            return;
        }
}

/* Joins two open switches that are not neighbours, if any are found; draws before searching. */
static bool join_open(struct jelly *g)
{
    for (uint32_t k = 0; k < 8 * g->num_open + 64 && g->num_open > 1; k++) {
        uint32_t i = (uint32_t)sv_rng_below(g->rng, g->num_open);
        uint32_t j = (uint32_t)sv_rng_below(g->rng, g->num_open - 1);
        j += j >= i;
        uint32_t a = g->open[i], b = g->open[j];
        if (joined(g, a, b))
            continue;
        put_peer(g, a, b);
        put_peer(g, b, a);
        return true;
    }
    return false;
}

/* Takes a random cable x-y out and joins x to a and y to b (a and b may be the same). */
static bool reconnect(struct jelly *g, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < 1000 + 20 * g->n; k++) {
        uint32_t x = (uint32_t)sv_rng_below(g->rng, g->n);
        if (g->filled[x] == 0)
            continue;
        uint32_t y = g->peers[(size_t)x * g->degree + sv_rng_below(g->rng, g->filled[x])];
        if (x == a || x == b || y == a || y == b || joined(g, x, a) || joined(g, y, b))
            continue;
        swap_peer(g, x, y, a);
        swap_peer(g, y, x, b);
        put_peer(g, a, x);
        put_peer(g, b, y);
        return true;
    }
    return false;
}

static bool grow(struct jelly *g)
{
    g->num_open = g->degree == 0 ? 0 : g->n;
    for (uint32_t s = 0; s < g->n; s++) {
        g->filled[s] = 0;
        g->open[s] = g->place[s] = s;
    }
    while (g->num_open > 0) {
        if (join_open(g))
            continue;
        uint32_t a = g->open[0], b = g->num_open > 1 ? g->open[1] : a;
        if (g->degree - g->filled[a] >= 2)
            b = a;
        else if (a == b)
            return false;
        if (!reconnect(g, a, b))
            return false;
    }
    return true;
}

static bool connected(const struct jelly *g, uint32_t *queue, bool *seen)
{
    uint32_t head = 0, tail = 0;
    for (uint32_t s = 0; s < g->n; s++)
        seen[s] = s == 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t s = queue[head++];
        for (uint32_t i = 0; i < g->filled[s]; i++) {
            uint32_t to = g->peers[(size_t)s * g->degree + i];
            if (!seen[to]) {
                seen[to] = true;
                queue[tail++] = to;
            }
        }
    }
    return tail == g->n;
}

/* Draws until it is connected (dense graphs are, and a complement need not be). */
static sv_status draw(sv__topology_net *net, struct jelly *g, bool complement)
{
    uint32_t *queue = SV_ARENA_NEW(&net->arena, uint32_t, g->n);
    bool *seen = SV_ARENA_NEW(&net->arena, bool, g->n);
    g->peers = SV_ARENA_NEW(&net->arena, uint32_t, (size_t)g->n * g->degree);
    g->filled = SV_ARENA_NEW(&net->arena, uint32_t, g->n);
    g->open = SV_ARENA_NEW(&net->arena, uint32_t, g->n);
    g->place = SV_ARENA_NEW(&net->arena, uint32_t, g->n);
    if (queue == NULL || seen == NULL || g->peers == NULL || g->filled == NULL || g->open == NULL ||
        g->place == NULL)
        return SV_NO_MEMORY;
    for (int attempt = 0; attempt < 100; attempt++) {
        SV_TRY(sv_progress(net->ctx, "drawing", (uint64_t)attempt, 0));
        if (grow(g) && (complement || connected(g, queue, seen)))
            return SV_OK;
    }
    return sv__spec_infeasible(net->spec, "100 draws gave no connected graph of degree %u",
                               g->degree);
}

static sv_status build_jellyfish(sv__topology_net *net)
{
    uint64_t switches, degree;
    sv_rng rng;
    SV_TRY(sv__spec_number(net->spec, "switches", 1, 1 << 22, SV__REQUIRED, &switches));
    SV_TRY(sv__spec_number(net->spec, "degree", 0, 60000, SV__REQUIRED, &degree));
    SV_TRY(read_seed(net, &rng));
    if (degree >= switches || switches * degree % 2 != 0)
        return sv__spec_infeasible(net->spec,
                                   "no simple graph has %llu switches, each with %llu cables",
                                   (unsigned long long)switches, (unsigned long long)degree);
    if ((degree == 0 && switches > 1) || (degree == 1 && switches > 2))
        return sv__spec_infeasible(net->spec, "no connected graph has %llu switches of degree %llu",
                                   (unsigned long long)switches, (unsigned long long)degree);
    if (switches * degree > UINT64_C(1) << 27)
        return sv__spec_infeasible(net->spec, "more than 2^27 cabled ports");
    SV_TRY(sv__net_begin(net, switches));
    bool complement = degree > (switches - 1) / 2;
    struct jelly g = {.n = (uint32_t)switches, .rng = &rng};
    g.degree = (uint32_t)(complement ? switches - 1 - degree : degree);
    SV_TRY(draw(net, &g, complement));
    for (uint32_t s = 0; complement && s < g.n; s++)
        for (uint32_t to = s + 1; to < g.n; to++)
            if (!joined(&g, s, to))
                SV_TRY(sv__net_cable(net, s, 0, to, 0, 1));
    for (uint32_t s = 0; !complement && s < g.n; s++)
        for (uint32_t i = 0; i < g.filled[s]; i++)
            if (s < g.peers[(size_t)s * g.degree + i])
                SV_TRY(sv__net_cable(net, s, 0, g.peers[(size_t)s * g.degree + i], 0, 1));
    return SV_OK;
}

const sv__family sv__random = {
    {"random", "a ring plus random cables, as the thesis builds it",
     "random:switches=125,links=1000,total=1000,radix=36,seed=1",
     (const sv_topology_key[]){{"switches", "how many"},
                               {"links", "cables between switches, the ring's included"},
                               {NULL, NULL}}},
    build_random};
const sv__family sv__jellyfish = {
    {"jellyfish", "random regular graph", "jellyfish:switches=64,degree=8,seed=1",
     (const sv_topology_key[]){{"switches", "how many"},
                               {"degree", "cables of a switch to other switches"},
                               {NULL, NULL}}},
    build_jellyfish};
