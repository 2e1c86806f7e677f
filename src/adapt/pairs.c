/*
 * pairs.c: pairs of terminals that talk, and the paths that each of them knows.
 *
 * A pair is made when it talks for the first time, with path 0 only. Candidates are looked for when
 * a path is opened for the first time, so pairs that meet no crowd cost a hundred bytes or two.
 * Paths have numbers of eight bits, which packets carry: path 0, those of a store that was read,
 * the candidates; none has two numbers.
 *
 * Cost: O(1) a question; making one O(length of its path); a search as sv__ways_find.
 */
#include <string.h>

#include "adapt/balance.h"

uint32_t sv__pairs_find(const sv__balance *b, uint32_t from, uint32_t destination)
{
    return sv_cells_get(&b->index, from, destination);
}

/* What an acknowledgement takes, empty: tables may lead back another way. */
static uint64_t back_of(const sv_adapt *a, const sv__drb_pair *p)
{
    uint32_t home = a->r->first[a->f->num_switches + p->from];
    sv_node s = sv_switch_of(a->f, a->r->node[p->destination]);
    uint32_t channels = s.i == SV_NONE ? SV_NONE : sv__ways_length(a, s.i, home);
    channels = /*~back_there*/ channels == SV_NONE ? p->paths[0].channels : channels + 1;
    return sv__ways_empty(a, p->from, channels, SV__WIRE_HEADER);
}

static sv_status fill(sv__balance *b, sv__drb_pair *p)
{
    sv_adapt *a = b->a;
    uint32_t count;
    p->paths = SV_ARENA_NEW(&a->arena, sv__adapt_path, 1);
    if (p->paths == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__ways_find(a, p->from, p->destination, 1, p->paths, &count));
    p->room = p->num_paths = 1;
    p->to = a->r->node[p->destination].i - a->f->num_switches;
    p->base = (double)sv__ways_empty(a, p->from, p->paths[0].channels, /*~empty_payload*/ b->full);
    p->back = back_of(a, p);
    p->round = (uint64_t)p->base + p->back;
    p->meta.at = &p->alone;
    sv__metapath_open(&p->meta, 0, p->base, 0);
    p->zone = SV__MEDIUM;
    p->probe = SV__NO_PATH;
    p->newest.router = p->episode.router = SV_NONE;
    return SV_OK;
}

sv_status sv__pairs_get(sv__balance *b, uint32_t from, uint32_t destination, uint32_t *pair)
{
    sv_adapt *a = b->a;
    uint32_t held = sv__pairs_find(b, from, destination);
    if (held == SV_ABSENT) {
        sv__drb_pair *p = SV_ARENA_NEW(&a->arena, sv__drb_pair, 1);
        if (p == NULL)
            return SV_NO_MEMORY;
        p->from = from;
        p->destination = destination;
        SV_TRY(fill(b, p));
        SV_TRY(sv_array_push(a->ctx, &b->pairs, p));
        SV_TRY(sv_cells_add(&b->index, from, destination, (uint32_t)b->pairs.length - 1, &held));
    }
    *pair = held;
    return SV_OK;
}

static bool same_vias(const sv_sim_way *a, const sv_sim_way *b)
{
    for (unsigned i = 0; i < a->vias && i < b->vias; i++)
        if (a->via[i] != b->via[i])
            return false;
    return a->vias == b->vias;
}

/* Adds a path that may be known already. */
static sv_status note_path(sv__balance *b, sv__drb_pair *p, const sv__adapt_path *found,
                           uint32_t *path)
{
    for (uint32_t i = 0; i < p->num_paths; i++)
        if (same_vias(&p->paths[i].way, &found->way)) {
            *path = i;
            return SV_OK;
        }
    if (p->num_paths == SV__MAX_KNOWN)
        return sv_fail(b->a->ctx, SV_INFEASIBLE, "a pair of terminals has more than %d paths",
                       SV__MAX_KNOWN);
    if (p->num_paths == p->room) {
        uint32_t room = 2u * p->room + 2;
        sv__adapt_path *grown = SV_ARENA_NEW(&b->a->arena, sv__adapt_path, room);
        if (grown == NULL)
            return SV_NO_MEMORY;
        memcpy(grown, p->paths, p->num_paths * sizeof *grown);
        p->paths = grown;
        p->room = (uint16_t)room;
    }
    *path = p->num_paths;
    p->paths[p->num_paths++] = *found;
    return SV_OK;
}

sv_status sv__pairs_path(sv__balance *b, sv__drb_pair *p, const sv_sim_way *way, uint32_t *path)
{
    sv__adapt_path found = {.way = *way};
    uint32_t count;
    sv_channel first;
    SV_TRY(sv__ways_channels(b->a, p->from, p->destination, way, &first, 1, &count));
    found.channels = (uint16_t)count;
    return note_path(b, p, &found, path);
}

/* Candidates of point 2, as numbers of paths. */
static sv_status find_candidates(sv__balance *b, sv__drb_pair *p)
{
    sv_adapt *a = b->a;
    uint32_t count, path = 0, max = a->set.paths;
    sv__adapt_path *found = SV_ARENA_NEW(&a->arena, sv__adapt_path, max);
    uint8_t *order = SV_ARENA_NEW(&a->arena, uint8_t, max);
    if (found == NULL || order == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__ways_find(a, p->from, p->destination, max, found, &count));
    p->num_order = 0;
    for (uint32_t i = 1; i < count; i++) {
        SV_TRY(note_path(b, p, &found[i], &path));
        order[p->num_order++] = (uint8_t)path;
    }
    p->order = order;
    return SV_OK;
}

sv_status sv__pairs_search(sv__balance *b, sv__drb_pair *p)
{
    sv_adapt *a = b->a;
    if (p->searched)
        return SV_OK;
    sv__open_path *open = SV_ARENA_NEW(&a->arena, sv__open_path, a->set.paths);
    if (open == NULL)
        return SV_NO_MEMORY;
    SV_TRY(find_candidates(b, p));
    open[0] = p->meta.at[0];
    p->meta.at = open;
    p->searched = true;
    return SV_OK;
}

sv_status sv__pairs_learn(sv__balance *b, sv__drb_pair *p)
{
    if (p->newest.at != NULL)
        return SV_OK;
    uint32_t *at = SV_ARENA_NEW(&b->a->arena, uint32_t, 2 * (size_t)b->shelf.max_flows);
    if (at == NULL)
        return SV_NO_MEMORY;
    p->newest.at = at;
    p->episode.at = at + b->shelf.max_flows;
    return SV_OK;
}
