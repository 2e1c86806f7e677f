/*
 * updn.c: engines updn and dnup: up first, then down (thesis 3.3.4).
 *
 * Switches are put in an order (orient.c); a hop to an earlier one goes up, to a later one down. No
 * packet goes up after it has gone down. So along any chain of dependencies channels first climb
 * and then descend, and none can come back to where it began: no deadlock, with one lane, on any
 * fabric.
 *
 * A switch has one entry a destination, for packets from above and below alike. So a switch from
 * which the destination can be reached by going down only must go down, even if there is a shorter
 * way up; all others go up to the neighbour from where it is nearest. Among equals the least
 * weight decides, as in sssp.
 *
 * dnup differs in where ranks come from: the distance from the leaves instead of that from the
 * roots, which suits trees with terminals on several levels.
 *
 * Cost: O(channels) a destination; finding roots O(switches × channels).
 */
#include <stdio.h>
#include <string.h>

#include "routing/orient.h"
#include "routing/sssp.h"

struct updn {
    sv__sssp x;
    uint32_t *place;    /* [switches] */
    uint32_t *by_place; /* the live switches in order */
    uint32_t live;
};

/* Offers a switch a way; true if it had none before. */
static bool offer(struct updn *u, uint32_t s, uint32_t entry, uint32_t next)
{
    struct sv__reached *at = &u->x.at[s];
    const struct sv__reached *to = &u->x.at[next];
    uint64_t weight = to->weight + u->x.weight[entry];
    bool first = at->hops == SV_NONE;
    if (first || to->hops + 1 < at->hops || (to->hops + 1 == at->hops && weight < at->weight)) {
        at->hops = to->hops + 1;
        at->weight = weight;
        at->via = entry;
        at->next = next;
    }
    return first;
}

/* All switches that reach a destination going down only, by distance, into the queue. */
static uint32_t search_down(struct updn *u, uint32_t to)
{
    const sv__core *core = &u->x.core;
    uint32_t head = 0, tail = 0;
    for (uint32_t s = 0; s < core->num_switches; s++)
        u->x.at[s].hops = SV_NONE;
    u->x.at[to] = (struct sv__reached){.hops = 0, .via = SV_NONE};
    u->x.queue[tail++] = to;
    while (head < tail) {
        uint32_t s = u->x.queue[head++];
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t from = core->entries[e].from;
            if (u->place[from] > u->place[s])
                continue;
            if (u->x.at[from].hops != SV_NONE && u->x.at[from].hops != u->x.at[s].hops + 1)
                continue;
            if (offer(u, from, e, s))
                u->x.queue[tail++] = from;
        }
    }
    return tail;
}

/* The rest, in order, so that all that lies above has its way already. */
static uint32_t search_up(struct updn *u, uint32_t tail)
{
    const sv__core *core = &u->x.core;
    for (uint32_t i = 0; i < u->live; i++) {
        uint32_t s = u->by_place[i];
        if (u->x.at[s].hops != SV_NONE)
            continue;
        bool found = false;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            /* Entries are of channels that come in; those that go out have the same ends. */
            uint32_t up = core->entries[e].from;
            if (u->place[up] < i && u->x.at[up].hops != SV_NONE) {
                offer(u, s, core->back[e], up);
                found = true;
            }
        }
        if (found)
            u->x.queue[tail++] = s;
    }
    return tail;
}

static sv_status route_one(struct updn *u, uint32_t d)
{
    sv__job *job = u->x.job;
    uint8_t *row;
    sv_node home;
    SV_TRY(sv__end_row(job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    uint32_t reached = search_up(u, search_down(u, home.i));
    for (uint32_t i = 1; i < reached; i++)
        row[u->x.queue[i]] = u->x.core.entries[u->x.at[u->x.queue[i]].via].port;
    if (!sv_is_switch(job->fabric, job->routes->node[d]))
        sv__sssp_weigh(&u->x, reached);
    return SV_OK;
}

static sv_status route(sv__job *job, sv__ranking ranking)
{
    struct updn u = {0};
    uint32_t count, roots, n = job->fabric->num_switches;
    uint32_t *order = sv__destinations(job, &count);
    u.place = SV_ARENA_NEW(job->arena, uint32_t, n);
    u.by_place = SV_ARENA_NEW(job->arena, uint32_t, n);
    if (order == NULL || u.place == NULL || u.by_place == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__sssp_init(&u.x, job));
    SV_TRY(sv__orient(job, &u.x.core, ranking, job->request->roots, job->request->num_roots,
                      u.place, &roots));
    for (uint32_t s = 0; s < n; s++)
        if (u.place[s] != SV_NONE) {
            u.by_place[u.place[s]] = s;
            u.live++;
        }
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        SV_TRY(route_one(&u, order[i]));
    }
    snprintf(job->report->note, sizeof job->report->note, "%u root%s %s", roots,
             roots == 1 ? "" : "s", job->request->num_roots > 0 ? "given" : "found");
    return SV_OK;
}

static sv_status route_updn(sv__job *job)
{
    return route(job, SV__RANK_ROOTS);
}

static sv_status route_dnup(sv__job *job)
{
    return route(job, SV__RANK_LEAVES);
}

enum { TRAITS = SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_ROOTS };

const sv__engine sv__engine_updn = {{"updn",
                                     "up to a root, then down; ranks by distance from the roots",
                                     "thesis 3.3.4", TRAITS, NULL},
                                    route_updn};

const sv__engine sv__engine_dnup = {
    {"dnup", "up and then down, ranks by distance from the leaves", "thesis 3.3.4", TRAITS, NULL},
    route_dnup};
