/*
 * multicast.c: the dependencies of multicast trees.
 *
 * A switch copies a packet of a group to all ports of its mask but the one it came in at. So a
 * packet that holds a channel into a switch waits for every one of those. Anybody may send to a
 * group, and stale masks are believed: a channel that some switch copies to is taken to carry
 * packets. A mask that forms a ring is no tree, and shows as a cycle.
 *
 * SLs of groups are in no dump: a group without one is taken to use SL 0, OpenSM's default.
 *
 * Cost: for each group, channels × VLs × ports of the masks.
 */
#include "base/bitset.h"
#include "verify/judge.h"

struct tree {
    const sv__verify_case *c;
    const sv__deps *deps;
    const sv_group *group;
    uint64_t *seen;  /* vertices: channel × VLs + VL */
    uint64_t *queue; /* [vertices] */
    uint64_t tail;
};

static void reach(struct tree *t, sv_channel c, unsigned vl)
{
    uint64_t vertex = (uint64_t)c.i * t->c->vls + vl;
    if (sv_bit(t->seen, vertex))
        return;
    sv_bit_set(t->seen, vertex);
    sv__deps_use(t->deps, c, vl);
    t->queue[t->tail++] = vertex;
}

static bool in_mask(const struct tree *t, sv_node s, unsigned port)
{
    return t->group->ports[s.i][port >> 6] >> (port & 63) & 1;
}

/* Whether packets of the group may come in over a channel: from a terminal, or copied into it. */
static bool carries(const struct tree *t, sv_channel c)
{
    const sv_fabric *f = t->c->fabric;
    return !sv_is_switch(f, f->tail[c.i]) || in_mask(t, f->tail[c.i], f->port[c.i]);
}

/* The VL on which a switch copies a packet from one port to another. */
static unsigned vl_of(const struct tree *t, sv_node v, unsigned in, unsigned out)
{
    unsigned sl = t->group->sl < SV_MAX_SLS ? t->group->sl : 0;
    return sv_route_sl2vl(t->c->routes, t->c->fabric, v, in, out)->of_sl[sl];
}

/* All copies of a packet that came over a channel on a VL. */
static void copy(struct tree *t, sv_channel in, unsigned vl)
{
    const sv_fabric *f = t->c->fabric;
    sv_node s = f->head[in.i];
    if (!sv_is_switch(f, s))
        return;
    unsigned in_port = f->port[f->reverse[in.i].i];
    SV_FOR_HOPS (f, s, hop) {
        unsigned port = f->port[hop->channel.i];
        if (port == in_port || !in_mask(t, s, port))
            continue;
        unsigned then = vl_of(t, s, in_port, port);
        if (then == SV_NO_VL)
            continue;
        if (sv__deps_has(t->deps, in) && sv__deps_has(t->deps, hop->channel))
            sv__deps_add(t->deps, in, vl, hop->channel, then);
        reach(t, hop->channel, then);
    }
}

/* What a node sends out, whatever came in: the VLs of its channels that the group uses. */
static void start_at(struct tree *t, sv_node v)
{
    const sv_fabric *f = t->c->fabric;
    SV_FOR_HOPS (f, v, hop) {
        unsigned port = f->port[hop->channel.i];
        if (!sv_is_switch(f, v)) {
            unsigned vl = vl_of(t, v, 0, port);
            if (vl != SV_NO_VL)
                reach(t, hop->channel, vl);
            continue;
        }
        SV_FOR_HOPS (f, v, back) {
            unsigned in = f->port[back->channel.i], vl;
            if (in == port || !in_mask(t, v, port) || !carries(t, f->reverse[back->channel.i]))
                continue;
            vl = vl_of(t, v, in, port);
            if (vl != SV_NO_VL)
                reach(t, hop->channel, vl);
        }
    }
}

sv_status sv__walk_groups(sv_ctx *ctx, const sv__verify_case *c, const sv__deps *deps)
{
    const sv_fabric *f = c->fabric;
    sv_arena arena;
    uint64_t vertices = (uint64_t)f->num_channels * c->vls;
    sv_status status = SV_OK;
    for (uint32_t g = 0; g < c->routes->num_groups && status == SV_OK; g++) {
        sv_arena_init(&arena, ctx);
        struct tree t = {.c = c,
                         .deps = deps,
                         .group = &c->routes->groups[g],
                         .seen = sv_bitset_new(&arena, vertices),
                         .queue = SV_ARENA_NEW(&arena, uint64_t, vertices)};
        status = t.seen == NULL || t.queue == NULL ? SV_NO_MEMORY : SV_OK;
        for (uint32_t v = 0; status == SV_OK && v < sv_num_nodes(f); v++)
            start_at(&t, (sv_node){v});
        for (uint64_t i = 0; i < t.tail; i++)
            copy(&t, (sv_channel){(uint32_t)(t.queue[i] / c->vls)},
                 (unsigned)(t.queue[i] % c->vls));
        sv_arena_release(&arena);
    }
    return status;
}
