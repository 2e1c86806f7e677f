/*
 * vias.c: random switches to go by.
 *
 * Switches that may be a via stand in one list, by group, then by number. Who may not be one for a
 * pair, its own two switches or, of a dragonfly, the groups of both, are at most two stretches of
 * the list; so a number below what is left, moved on over those stretches, draws each of the others
 * as likely. Without groups all switches are one group each that has its number.
 *
 * On a dragonfly (via=far) packets between two groups go by a switch of a third (Kim et al. 2008),
 * so that no detour is in the way of packets that take the only cable between the two; inside a
 * group they go by another switch of the group.
 *
 * A via counts if tables lead there and on, and have VLs all the way: where some table discards
 * some service level, VLs are followed, too.
 *
 * Cost: that of finding groups; then O(1) a draw, and O(length) to see that it leads on.
 */
#include "adapt/vias.h"

#include "structure/dragonfly.h"

enum { TRIES = 8 }; /* draws, where failures have left switches that lead nowhere */

struct sv__vias {
    uint32_t *at; /* switches, by group, then by number */
    uint32_t count;
    uint32_t *place;    /* [switches]: in at, or where it would be */
    uint32_t *group;    /* [switches], or NULL */
    uint32_t *first;    /* [groups + 1]: of at */
    uint32_t *switches; /* [terminals]: of each, or SV_NONE */
    bool discards;      /* some VL table discards some SL */
};

/* A stretch of the list. */
struct stretch {
    uint32_t from, until;
};

/* How many switches have a cable to every other group. seen: [groups], scratch. */
static uint32_t count_central(const sv_dragonfly *d, uint32_t switches, uint32_t *seen)
{
    uint32_t central = 0;
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t groups = 0;
        for (uint32_t i = d->near_first[s]; i < d->near_first[s + 1]; i++) {
            uint32_t g = d->group[d->near[i]];
            if (g == d->group[s] || seen[g] == s + 1)
                continue;
            seen[g] = s + 1;
            groups++;
        }
        central += groups + 1 == d->num_groups;
    }
    return central;
}

/* Where most switches are joined to all other groups (rows of a HyperX, planes of a torus, pairs of
 * leaf and spine), it is no dragonfly, or one whose groups do not matter. */
static sv_status find_groups(sv_adapt *a, sv__vias *v, uint32_t *num_groups)
{
    sv_core core;
    sv_dragonfly d;
    SV_TRY(sv_core_init(&core, &a->arena, a->f));
    SV_TRY(sv_dragonfly_find(&d, &a->arena, &core, a->f, 0));
    if (!d.found || d.num_groups < 3 /*~ring_dragonfly*/ ||
        2 * d.smallest <= d.largest) /* a ring is none */
        return SV_OK;
    uint32_t *seen = SV_ARENA_NEW(&a->arena, uint32_t, d.num_groups);
    if (seen == NULL)
        return SV_NO_MEMORY;
    if (/*~hyperx_groups*/ 2 * count_central(&d, a->f->num_switches, seen) > a->f->live_switches)
        return SV_OK;
    v->group = d.group;
    *num_groups = d.num_groups;
    return SV_OK;
}

static bool may_be(const sv_adapt *a, sv_node s)
{
    if (!sv_node_alive(a->f, s))
        return false;
    bool may = /*~via_bare*/ a->set.via == SV__VIA_ALL;
    SV_FOR_HOPS (a->f, s, hop)
        may |= !sv_is_switch(a->f, hop->to);
    return may;
}

static void list(const sv_adapt *a, sv__vias *v, uint32_t group)
{
    for (uint32_t s = 0; s < a->f->num_switches; s++) {
        if (v->group != NULL && v->group[s] != group)
            continue;
        v->place[s] = v->count;
        if (may_be(a, (sv_node){s}))
            v->at[v->count++] = s;
    }
}

sv_status sv__vias_new(sv_adapt *a)
{
    uint32_t n = a->f->num_switches, groups = 1;
    sv__vias *v = SV_ARENA_NEW(&a->arena, sv__vias, 1);
    if (v == NULL)
        return SV_NO_MEMORY;
    if (a->set.via == SV__VIA_FAR)
        SV_TRY(find_groups(a, v, &groups));
    v->at = SV_ARENA_NEW(&a->arena, uint32_t, n);
    v->place = SV_ARENA_NEW(&a->arena, uint32_t, n);
    v->first = SV_ARENA_NEW(&a->arena, uint32_t, (size_t)groups + 1);
    v->switches = SV_ARENA_NEW(&a->arena, uint32_t, a->f->num_terminals);
    if (v->at == NULL || v->place == NULL || v->first == NULL || v->switches == NULL)
        return SV_NO_MEMORY;
    for (uint32_t g = 0; g < groups; g++) {
        list(a, v, g);
        v->first[g + 1] = v->count;
    }
    for (uint32_t t = 0; t < a->f->num_terminals; t++)
        v->switches[t] = sv_switch_of(a->f, (sv_node){n + t}).i;
    for (uint32_t t = 0; t < a->r->num_vl_tables; t++)
        for (unsigned sl = 0; sl < a->r->num_sls; sl++)
            v->discards |= a->r->vl_tables[t].of_sl[sl] == SV_NO_VL;
    a->state = v;
    return SV_OK;
}

/* One switch, if it is in the list. */
static struct stretch alone(const sv__vias *v, uint32_t s)
{
    uint32_t i = v->place[s];
    bool listed = i < v->count && v->at[i] == s;
    return (struct stretch){i, i + listed};
}

/* What is looked at, and two stretches of it, the first first, that are left out. */
static struct stretch allowed(const sv__vias *v, uint32_t s, uint32_t d, struct stretch out[2])
{
    struct stretch all = {0, v->count}, a = alone(v, s), b = alone(v, d);
    if (v->group != NULL && v->group[s] == v->group[d]) {
        all = (struct stretch){v->first[v->group[s]], v->first[v->group[s] + 1]};
    } else if (v->group != NULL) {
        a = (struct stretch){v->first[v->group[s]], v->first[v->group[s] + 1]};
        /*~group_end*/ b = (struct stretch){v->first[v->group[d]], v->first[v->group[d] + 1]};
    }
    out[0] = a.from <= b.from ? a : b;
    out[1] = a.from <= b.from ? b : a;
    return all;
}

uint32_t sv__vias_count(const sv__vias *v, uint32_t s, uint32_t d)
{
    struct stretch out[2], all = allowed(v, s, d, out);
    return s == d
               ? 0
               : all.until - all.from - (out[0].until - out[0].from) - (out[1].until - out[1].from);
}

uint32_t sv__vias_at(const sv__vias *v, uint32_t s, uint32_t d, uint32_t i)
{
    struct stretch out[2], all = allowed(v, s, d, out);
    i += all.from;
    for (int k = 0; k < /*~stretch_two*/ 2; k++)
        if (i >= out[k].from)
            i += out[k].until - out[k].from;
    return v->at[i];
}

/* Whether packets from a node to a destination, which tables lead to, have VLs all the way. */
static bool has_vls(const sv_adapt *a, sv_node at, uint32_t destination)
{
    const sv_fabric *f = a->f;
    unsigned sl = sv_route_sl(a->r, at, destination), in = 0;
    while (at.i != a->r->node[destination].i) {
        sv_channel c = sv_is_switch(f, at) ? sv__ways_next(a, at.i, destination)
                                           : f->hops[f->first[at.i]].channel;
        const sv_sl2vl *vls = sv_route_sl2vl(a->r, f, at, in, f->port[c.i]);
        if (sl >= SV_MAX_SLS || vls->of_sl[sl] == SV_NO_VL)
            return false;
        at = f->head[c.i];
        in = f->port[f->reverse[c.i].i];
    }
    return true;
}

sv__detour sv__vias_draw(sv_adapt *a, const sv__vias *v, uint32_t from, uint32_t destination)
{
    uint32_t d = v->switches[a->r->node[destination].i - a->f->num_switches];
    sv__detour detour = {v->switches[from], SV_NONE, 0};
    if (detour.s == SV_NONE || d == SV_NONE)
        return detour;
    uint32_t count = sv__vias_count(v, detour.s, d);
    for (int tries = 0; count > 0 && tries < TRIES; tries++) {
        uint32_t via = sv__vias_at(v, detour.s, d, (uint32_t)sv_rng_below(&a->rng, count));
        uint32_t there = sv__ways_length(a, detour.s, a->r->first[via]);
        uint32_t on = sv__ways_length(a, via, destination);
        if (there == SV_NONE /*~via_nowhere*/ || on == SV_NONE)
            continue;
        if (v->discards &&
            (!has_vls(a, (sv_node){/*~vls_to*/ a->f->num_switches + from}, a->r->first[via]) ||
             /*~vls_on*/ !has_vls(a, (sv_node){via}, destination)))
            continue;
        detour.via = a->r->first[via];
        detour.channels = there + on;
        break;
    }
    return detour;
}

void sv__vias_take(sv_adapt *a, const sv__detour *detour, sv_sim_way *way)
{
    *way = (sv_sim_way){.via = {detour->via}, .vias = 1};
    a->report.detours++;
}
