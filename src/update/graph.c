/*
 * graph.c: a graph that stays free of cycles while edges come and go (graph.h).
 *
 * Idea: Pearce and Kelly's: an edge that descends in the order makes us look at what lies between
 * its ends: ahead of its head and behind its tail. If the two meet, there is a cycle; else these
 * vertices share their places anew, those behind first.
 *
 * Invariant: place[from] < place[to] for each edge with a count.
 * Cost: searches go over edges that nobody needs any more, too; there are at most as many as there
 * are turns and pairs of VLs.
 */
#include "update/graph.h"

#include <selvage/fabric.h>
#include <stdlib.h>
#include <string.h>

enum { FORWARD = 1, BACKWARD = 2 };

sv_status sv__graph_init(sv__update_graph *g, sv_ctx *ctx, sv_arena *arena, uint32_t n)
{
    *g = (sv__update_graph){.ctx = ctx, .vertices = n};
    g->place = SV_ARENA_NEW(arena, uint32_t, n);
    g->at = SV_ARENA_NEW(arena, uint32_t, n);
    g->out = SV_ARENA_NEW(arena, uint32_t, n);
    g->in = SV_ARENA_NEW(arena, uint32_t, n);
    g->ahead = SV_ARENA_NEW(arena, uint32_t, n);
    g->behind = SV_ARENA_NEW(arena, uint32_t, n);
    g->stack = SV_ARENA_NEW(arena, uint32_t, n);
    g->places = SV_ARENA_NEW(arena, uint32_t, n);
    g->seen = SV_ARENA_NEW(arena, uint8_t, n);
    if (g->place == NULL || g->at == NULL || g->out == NULL || g->in == NULL || g->ahead == NULL ||
        g->behind == NULL || g->stack == NULL || g->places == NULL || g->seen == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < n; v++) {
        g->place[v] = g->at[v] = v;
        g->out[v] = g->in[v] = SV_NONE;
    }
    return SV_OK;
}

void sv__graph_release(sv__update_graph *g)
{
    if (g->ctx == NULL)
        return;
    sv_release(g->ctx, g->edges);
    sv_release(g->ctx, g->table);
    g->edges = NULL;
    g->table = NULL;
}

void sv__graph_clear(sv__update_graph *g)
{
    for (uint32_t e = 0; e < g->num_edges; e++)
        g->edges[e].count = 0;
}

sv_status sv__graph_copy(sv__update_graph *g, const sv__update_graph *from)
{
    size_t n = g->vertices;
    sv__edge *edges = sv_resize(g->ctx, g->edges, from->room, sizeof *edges);
    g->edges = edges != NULL ? edges : g->edges;
    uint32_t *table = sv_resize(g->ctx, g->table, from->table_size, sizeof *table);
    g->table = table != NULL ? table : g->table;
    if (edges == NULL || table == NULL)
        return SV_NO_MEMORY;
    memcpy(g->place, from->place, n * sizeof *g->place);
    memcpy(g->at, from->at, n * sizeof *g->at);
    memcpy(g->out, from->out, n * sizeof *g->out);
    memcpy(g->in, from->in, n * sizeof *g->in);
    memcpy(edges, from->edges, from->num_edges * sizeof *edges);
    memcpy(table, from->table, from->table_size * sizeof *table);
    g->num_edges = from->num_edges;
    g->room = from->room;
    g->table_size = from->table_size;
    return SV_OK;
}

/* ---- edges by their ends ---- */

static uint32_t hash(const sv__update_graph *g, uint32_t from, uint32_t to)
{
    uint64_t key = ((uint64_t)from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(key >> 32) & (g->table_size - 1);
}

/* Where an edge stands in the table, or would. */
static uint32_t slot_of(const sv__update_graph *g, uint32_t from, uint32_t to)
{
    uint32_t slot = hash(g, from, to);
    while (g->table[slot] != SV_NONE &&
           (g->edges[g->table[slot]].from != from || g->edges[g->table[slot]].to != to))
        slot = (slot + 1) & (g->table_size - 1);
    return slot;
}

static sv_status grow(sv__update_graph *g)
{
    uint32_t room = g->room == 0 ? 1024 : 2 * g->room;
    sv__edge *edges = sv_resize(g->ctx, g->edges, room, sizeof *edges);
    if (edges == NULL)
        return SV_NO_MEMORY;
    g->edges = edges;
    uint32_t *table = sv_alloc(g->ctx, 2 * (size_t)room, sizeof *table);
    if (table == NULL)
        return SV_NO_MEMORY;
    sv_release(g->ctx, g->table);
    g->table = table;
    g->table_size = 2 * room;
    g->room = room;
    memset(table, 0xff, g->table_size * sizeof *table);
    for (uint32_t e = 0; e < g->num_edges; e++)
        table[slot_of(g, edges[e].from, edges[e].to)] = e;
    return SV_OK;
}

/* The number of an edge, which is made if there is none; SV_NONE: no memory. */
static uint32_t edge_of(sv__update_graph *g, uint32_t from, uint32_t to)
{
    if (g->num_edges == g->room && grow(g) != SV_OK)
        return SV_NONE;
    uint32_t slot = slot_of(g, from, to), e = g->table[slot];
    if (e != SV_NONE)
        return e;
    e = g->table[slot] = g->num_edges++;
    g->edges[e] =
        (sv__edge){.from = from, .to = to, .next_out = g->out[from], .next_in = g->in[to]};
    g->out[from] = g->in[to] = e;
    return e;
}

/* ---- the order ---- */

/* Lists what can be reached ahead of (or behind) a vertex and has a place within a bound; returns
 * how many. Stops at `goal`, and *met is true then. */
static uint32_t search(sv__update_graph *g, uint32_t start, unsigned way, uint32_t bound,
                       uint32_t goal, bool *met, uint32_t *list)
{
    uint32_t depth = 0, count = 0;
    g->stack[depth++] = start;
    g->seen[start] |= way;
    list[count++] = start;
    while (depth > 0) {
        uint32_t v = g->stack[--depth];
        uint32_t e = way == FORWARD ? g->out[v] : g->in[v];
        for (; e != SV_NONE; e = way == FORWARD ? g->edges[e].next_out : g->edges[e].next_in) {
            const sv__edge *edge = &g->edges[e];
            uint32_t to = way == FORWARD ? edge->to : edge->from;
            bool within = way == FORWARD ? g->place[to] <= bound : g->place[to] >= bound;
            if (edge->count == 0 || !within || g->seen[to] & way)
                continue;
            g->seen[to] |= way;
            list[count++] = to;
            g->stack[depth++] = to;
            if ((*met = to == goal))
                return count;
        }
    }
    return count;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Replaces vertices by their places, sorts them, and turns them back. */
static void sort_by_place(const sv__update_graph *g, uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        list[i] = g->place[list[i]];
    qsort(list, count, sizeof *list, ascending);
    for (uint32_t i = 0; i < count; i++)
        list[i] = g->at[list[i]];
}

/* Those behind come first now, then those ahead, in the places that both had. */
static void share_places(sv__update_graph *g, uint32_t behind, uint32_t ahead)
{
    uint32_t count = behind + ahead;
    sort_by_place(g, g->behind, behind);
    sort_by_place(g, g->ahead, ahead);
    for (uint32_t i = 0; i < behind; i++)
        g->places[i] = g->place[g->behind[i]];
    for (uint32_t i = 0; i < ahead; i++)
        g->places[behind + i] = g->place[g->ahead[i]];
    qsort(g->places, count, sizeof *g->places, ascending);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = i < behind ? g->behind[i] : g->ahead[i - behind];
        g->place[v] = g->places[i];
        g->at[g->places[i]] = v;
    }
}

/* Makes the order fit for an edge; false: it would close a cycle. */
static bool make_room(sv__update_graph *g, uint32_t from, uint32_t to)
{
    if (from == to)
        return false;
    if (g->place[from] < g->place[to])
        return true;
    bool closed = false, no = false;
    uint32_t ahead = search(g, to, FORWARD, g->place[from], from, &closed, g->ahead);
    uint32_t behind = closed ? 0 : search(g, from, BACKWARD, g->place[to], SV_NONE, &no, g->behind);
    for (uint32_t i = 0; i < ahead; i++)
        g->seen[g->ahead[i]] = 0;
    for (uint32_t i = 0; i < behind; i++)
        g->seen[g->behind[i]] = 0;
    if (!closed)
        share_places(g, behind, ahead);
    return !closed;
}

/* ---- coming and going ---- */

sv_status sv__graph_add(sv__update_graph *g, const sv__turn_key *edges, size_t count, bool *closed)
{
    *closed = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t from = (uint32_t)(edges[i] >> 32), to = (uint32_t)edges[i];
        uint32_t e = edge_of(g, from, to);
        if (e == SV_NONE) {
            sv__graph_remove(g, edges, i);
            return SV_NO_MEMORY;
        }
        if (g->edges[e].count == 0 && !make_room(g, from, to)) {
            *closed = true;
            sv__graph_remove(g, edges, i);
            return SV_OK;
        }
        g->edges[e].count++;
    }
    return SV_OK;
}

void sv__graph_remove(sv__update_graph *g, const sv__turn_key *edges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        g->edges[g->table[slot_of(g, (uint32_t)(edges[i] >> 32), (uint32_t)edges[i])]].count--;
}
