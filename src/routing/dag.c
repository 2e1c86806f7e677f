/*
 * dag.c: allowed hops towards a switch, worked out once for each.
 *
 * A way is one byte, the number of a cable at its switch: all ways of a fabric of 65,536 terminals
 * take some hundred megabytes, and what belongs to the cables of a switch stands side by side.
 *
 * Invariants: every way leads one step closer, so order is one in which each switch comes after all
 * its next hops; ways stand in the order of ports. What is kept does not change any more, so
 * threads read it without a lock; who keeps what first does not matter, all would be the same.
 *
 * Cost: O(channels) for each switch that has destinations; at most 1 GB are kept, beyond that they
 * are worked out again each time.
 */
#include "routing/dag.h"

#include <string.h>

enum { KEEP_BYTES = 1 << 30 };

sv_status sv__dag_maker_init(sv__dag_maker *m, sv__dags *d)
{
    sv_arena *arena = d->job->arena;
    uint32_t n = d->core->num_switches;
    *m = (sv__dag_maker){.last_home = SV_NONE};
    m->hops = SV_ARENA_NEW(arena, uint32_t, n);
    m->order = SV_ARENA_NEW(arena, uint32_t, n);
    m->first = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    m->cables = SV_ARENA_NEW(arena, uint8_t, (size_t)d->core->num_entries + 1);
    m->mark = SV_ARENA_NEW(arena, bool, (size_t)n * 2);
    return m->hops == NULL || m->order == NULL || m->first == NULL || m->cables == NULL ||
                   m->mark == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

sv_status sv__dags_init(sv__dags *d, sv__routing_job *job, const sv_core *core, void *engine,
                        sv__search_fn *search, sv__allow_fn *allow)
{
    *d = (sv__dags){.job = job,
                    .core = core,
                    .engine = engine,
                    .search = search,
                    .allow = allow,
                    .bytes_left = KEEP_BYTES,
                    .lock = PTHREAD_MUTEX_INITIALIZER};
    d->kept = sv_arena_alloc(job->arena, core->num_switches, sizeof *d->kept);
    return d->kept == NULL ? SV_NO_MEMORY : sv__dag_maker_init(&d->maker, d);
}

/* The ways of one switch, added to the others. */
static uint32_t list_ways(const sv__dags *d, sv__dag_maker *m, uint32_t s, uint32_t count)
{
    const sv_core *core = d->core;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        /* Entries are of channels that come in; the way back is the same cable's other channel. */
        uint32_t next = core->neighbour[e];
        if (m->hops[next] != SV_NONE && m->hops[next] + 1 == m->hops[s] &&
            (d->allow == NULL || d->allow(d->engine, m->mark, s, next)))
            m->cables[count++] = (uint8_t)(e - core->first[s]);
    }
    return count;
}

/*
 * All shortest ways to a home: a switch is taken from the queue when all that are closer have been
 * in it, so one look at its cables tells both its ways and who comes later.
 */
static uint32_t search_all(const sv__dags *d, sv__dag_maker *m, uint32_t home)
{
    const sv_core *core = d->core;
    uint32_t *hops = m->hops, *order = m->order, tail = 1, ways = 0;
    uint8_t *cables = m->cables;
    memset(hops, 0xff, core->num_switches * sizeof *hops);
    hops[home] = 0;
    order[0] = home;
    for (uint32_t i = 0; i < tail; i++) {
        uint32_t s = order[i], mine = hops[s], degree = core->first[s + 1] - core->first[s];
        const uint32_t *neighbour = core->neighbour + core->first[s];
        m->first[i] = ways;
        for (uint32_t j = 0; j < degree; j++) {
            uint32_t u = neighbour[j], theirs = hops[u];
            if (theirs == SV_NONE) {
                hops[u] = mine + 1;
                order[tail++] = u;
            }
            /* No branch: on irregular fabrics it could not be foreseen. */
            cables[ways] = (uint8_t)j;
            ways += theirs < mine;
        }
    }
    m->first[tail] = ways;
    return tail;
}

/* The same where an engine says what is allowed. */
static uint32_t search(const sv__dags *d, sv__dag_maker *m, uint32_t home)
{
    uint32_t count = d->search(d->engine, home, m->order, m->hops, m->mark), ways = 0;
    for (uint32_t i = 0; i < count; i++) {
        m->first[i] = ways;
        if (i > 0)
            ways = list_ways(d, m, m->order[i], ways);
    }
    m->first[count] = ways;
    return count;
}

/* A copy of the last one that stays. */
static const sv__dag *keep(sv__dags *d, const sv__dag_maker *m)
{
    const sv__dag *from = &m->last;
    sv_arena *arena = d->job->arena;
    sv__dag *to = SV_ARENA_NEW(arena, sv__dag, 1);
    uint32_t *order = SV_ARENA_NEW(arena, uint32_t, from->count);
    uint32_t *first = SV_ARENA_NEW(arena, uint32_t, (size_t)from->count + 1);
    uint8_t *cables = SV_ARENA_NEW(arena, uint8_t, from->first[from->count]);
    if (to == NULL || order == NULL || first == NULL || cables == NULL)
        return NULL;
    memcpy(order, from->order, from->count * sizeof *order);
    memcpy(first, from->first, (from->count + (size_t)1) * sizeof *first);
    memcpy(cables, from->cables, from->first[from->count]);
    *to = (sv__dag){from->count, order, first, cables};
    atomic_store_explicit(&d->kept[m->last_home], to, memory_order_release);
    return to;
}

const sv__dag *sv__dag_make(sv__dags *d, sv__dag_maker *m, uint32_t home)
{
    const sv__dag *kept = atomic_load_explicit(&d->kept[home], memory_order_acquire);
    if (kept != NULL)
        return kept;
    if (m->last_home == home)
        return &m->last;
    uint32_t count = d->search == NULL ? search_all(d, m, home) : search(d, m, home);
    m->last = (sv__dag){count, m->order, m->first, m->cables};
    m->last_home = home;
    if (d->core->terminals[home] == 0)
        return &m->last; /* the only destination there is the switch itself */
    size_t bytes = (size_t)count * 8 + m->first[count] + 128;
    const sv__dag *result = &m->last;
    pthread_mutex_lock(&d->lock);
    if (bytes <= d->bytes_left && atomic_load(&d->kept[home]) == NULL) {
        d->bytes_left -= bytes;
        result = keep(d, m);
    }
    pthread_mutex_unlock(&d->lock);
    return result;
}
