/*
 * dag.c: allowed hops towards a switch, worked out once for each.
 *
 * Invariants: every way leads one step closer, so order is one in which each switch comes after all
 * its next hops; ways stand in the order of ports.
 *
 * Cost: O(channels) for each switch that has destinations; at most 128 MB are kept, beyond that
 * they are worked out again each time.
 */
#include "routing/dag.h"

#include <string.h>

enum { KEEP_BYTES = 128 << 20 };

sv_status sv__dags_init(sv__dags *d, sv__job *job, const sv_core *core, void *engine,
                        sv__search_fn *search, sv__allow_fn *allow)
{
    uint32_t n = core->num_switches;
    *d = (sv__dags){.job = job,
                    .core = core,
                    .engine = engine,
                    .search = search,
                    .allow = allow,
                    .bytes_left = KEEP_BYTES,
                    .last_home = SV_NONE};
    d->hops = SV_ARENA_NEW(job->arena, uint32_t, n);
    d->order = SV_ARENA_NEW(job->arena, uint32_t, n);
    d->first = SV_ARENA_NEW(job->arena, uint32_t, (size_t)n + 1);
    d->ways = SV_ARENA_NEW(job->arena, sv__way, (size_t)core->first[n] + 1);
    d->kept = SV_ARENA_NEW(job->arena, sv__dag *, n);
    return d->hops == NULL || d->order == NULL || d->first == NULL || d->ways == NULL ||
                   d->kept == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

/* The ways of one switch, added to the others. */
static uint32_t list_ways(sv__dags *d, uint32_t s, uint32_t count)
{
    const sv_core *core = d->core;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        /* Entries are of channels that come in; the way back is the same cable's other channel. */
        uint32_t next = core->entries[e].from;
        if (d->hops[next] != SV_NONE && d->hops[next] + 1 == d->hops[s] &&
            (d->allow == NULL || d->allow(d->engine, s, next)))
            d->ways[count++] = (sv__way){next, core->back[e]};
    }
    return count;
}

/*
 * All shortest ways to a home: a switch is taken from the queue when all that are closer have been
 * in it, so one look at its cables tells both its ways and who comes later.
 */
static uint32_t search_all(sv__dags *d, uint32_t home)
{
    const sv_core *core = d->core;
    uint32_t *hops = d->hops, *order = d->order, tail = 1, ways = 0;
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    hops[home] = 0;
    order[0] = home;
    for (uint32_t i = 0; i < tail; i++) {
        uint32_t s = order[i], mine = hops[s];
        d->first[i] = ways;
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t u = core->entries[e].from, theirs = hops[u];
            if (theirs == SV_NONE) {
                hops[u] = mine + 1;
                order[tail++] = u;
            }
            /* No branch: on irregular fabrics it could not be foreseen. */
            d->ways[ways] = (sv__way){u, core->back[e]};
            ways += theirs < mine;
        }
    }
    d->first[tail] = ways;
    return tail;
}

/* The same where an engine says what is allowed. */
static uint32_t search(sv__dags *d, uint32_t home)
{
    uint32_t count = d->search(d->engine, home, d->order, d->hops), ways = 0;
    for (uint32_t i = 0; i < count; i++) {
        d->first[i] = ways;
        if (i > 0)
            ways = list_ways(d, d->order[i], ways);
    }
    d->first[count] = ways;
    return count;
}

/* A copy of the last one that stays. */
static const sv__dag *keep(sv__dags *d)
{
    const sv__dag *from = &d->last;
    sv_arena *arena = d->job->arena;
    sv__dag *to = SV_ARENA_NEW(arena, sv__dag, 1);
    uint32_t *order = SV_ARENA_NEW(arena, uint32_t, from->count);
    uint32_t *first = SV_ARENA_NEW(arena, uint32_t, (size_t)from->count + 1);
    sv__way *ways = SV_ARENA_NEW(arena, sv__way, from->first[from->count]);
    if (to == NULL || order == NULL || first == NULL || ways == NULL)
        return NULL;
    memcpy(order, from->order, from->count * sizeof *order);
    memcpy(first, from->first, (from->count + (size_t)1) * sizeof *first);
    memcpy(ways, from->ways, from->first[from->count] * sizeof *ways);
    *to = (sv__dag){from->count, order, first, ways};
    return d->kept[d->last_home] = to;
}

const sv__dag *sv__dag_to(sv__dags *d, uint32_t home)
{
    if (d->kept[home] != NULL)
        return d->kept[home];
    if (d->last_home == home)
        return &d->last;
    uint32_t count = d->search == NULL ? search_all(d, home) : search(d, home);
    uint32_t ways = d->first[count];
    d->last = (sv__dag){count, d->order, d->first, d->ways};
    d->last_home = home;
    size_t bytes = (size_t)count * 8 + (size_t)ways * sizeof(sv__way) + 64;
    if (d->core->terminals[home] == 0 || bytes > d->bytes_left)
        return &d->last; /* the only destination there is the switch itself */
    d->bytes_left -= bytes;
    return keep(d);
}
