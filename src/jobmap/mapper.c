/*
 * mapper.c: job maps out of (name of a host, job) pairs.
 *
 * Idea: names are what batch systems know, so a name stands for every host adapter that is called
 * so, or whose description starts with it and a blank. Adapters of one name are chained; what is
 * added becomes (job, terminal) pairs, which are sorted once at the end.
 *
 * Invariants: the terminals of a job are live, ascending and different; jobs keep the order in
 * which they came.
 * Cost: linear in the fabric and in what is added, expected, and sorting the pairs.
 * Source: thesis 5.1 (a job is a set of nodes that work together) and 5.2.2.1 (those on several
 * switches matter).
 */
#include <stdlib.h>
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"
#include "jobmap/jobmap.h"

/* ---- names ---- */

static sv_status add_name(sv__mapper *m, sv_span name, uint32_t adapter)
{
    uint32_t held, number = (uint32_t)m->links.length;
    if (name.length == 0)
        return SV_OK;
    SV_TRY(sv_array_push(m->ctx, &m->links, (sv__name_link){adapter, SV_NONE}));
    SV_TRY(sv_names_add(&m->nodes, name, number, &held));
    if (held != number) { /* behind the first of the name: the order does not matter */
        m->links.at[number].next = m->links.at[held].next;
        m->links.at[held].next = number;
    }
    return SV_OK;
}

static sv_status index_names(sv__mapper *m)
{
    for (uint32_t a = 0; a < m->f->num_adapters; a++) {
        if (m->f->adapters[a].kind != SV_ADAPTER_HOST)
            continue;
        sv_span whole = sv_span_of(m->f->adapters[a].name);
        sv_span word = {whole.at, strcspn(whole.at, " \t")};
        SV_TRY(add_name(m, whole, a));
        if (word.length < whole.length)
            SV_TRY(add_name(m, word, a));
    }
    return SV_OK;
}

/* The live terminals of each adapter. */
static sv_status index_terminals(sv__mapper *m)
{
    const sv_fabric *f = m->f;
    m->first = SV_ARENA_NEW(&m->arena, uint32_t, (size_t)f->num_adapters + 2);
    m->terminals = SV_ARENA_NEW(&m->arena, uint32_t, f->num_terminals);
    if (m->first == NULL || m->terminals == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            m->first[f->terminals[t].adapter + 2]++;
    for (uint32_t a = 0; a < f->num_adapters; a++)
        m->first[a + 2] += m->first[a + 1];
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            m->terminals[m->first[f->terminals[t].adapter + 1]++] = f->num_switches + t;
    return SV_OK;
}

sv_status sv__mapper_init(sv__mapper *m, sv_ctx *ctx, const sv_fabric *fabric)
{
    *m = (sv__mapper){.ctx = ctx, .f = fabric};
    sv_arena_init(&m->arena, ctx);
    sv_names_init(&m->nodes, ctx);
    sv_names_init(&m->jobs, ctx);
    SV_TRY(index_names(m));
    return index_terminals(m);
}

void sv__mapper_release(sv__mapper *m)
{
    sv_array_release(m->ctx, &m->pairs);
    sv_array_release(m->ctx, &m->names);
    sv_array_release(m->ctx, &m->links);
    sv_names_release(&m->jobs);
    sv_names_release(&m->nodes);
    sv_arena_release(&m->arena);
}

/* ---- adding ---- */

sv_status sv__mapper_job(sv__mapper *m, sv_span span, uint32_t *job)
{
    *job = sv_names_get(&m->jobs, span);
    if (*job != SV_ABSENT)
        return SV_OK;
    *job = (uint32_t)m->names.length;
    const char *name = sv_arena_text(&m->arena, span.at, span.length);
    if (name == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_array_push(m->ctx, &m->names, name));
    return sv_names_add(&m->jobs, (sv_span){name, span.length}, *job, NULL);
}

uint32_t sv__mapper_find(const sv__mapper *m, sv_span name)
{
    uint32_t link = sv_names_get(&m->nodes, name);
    return link == SV_ABSENT ? SV_NONE : link;
}

sv_status sv__mapper_add_adapter(sv__mapper *m, uint32_t job, uint32_t adapter)
{
    for (uint32_t i = m->first[adapter]; i < m->first[adapter + 1]; i++)
        SV_TRY(sv_array_push(m->ctx, &m->pairs, (sv__job_pair){job, m->terminals[i]}));
    return SV_OK;
}

sv_status sv__mapper_add(sv__mapper *m, uint32_t job, uint32_t link)
{
    for (; link != SV_NONE; link = m->links.at[link].next)
        SV_TRY(sv__mapper_add_adapter(m, job, m->links.at[link].adapter));
    return SV_OK;
}

/* ---- the map ---- */

static int by_job(const void *a, const void *b)
{
    const sv__job_pair *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* On how many switches terminals hang: 0 (there are none), 1, or 2 for more. */
static unsigned count_switches(const sv_fabric *f, const sv_node *nodes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (sv_switch_of(f, nodes[i]).i != sv_switch_of(f, nodes[0]).i)
            return 2;
    return count > 0;
}

static sv_status keep_job(sv__mapper *m, sv_jobmap *map, sv_job *list, uint64_t *busy,
                          const sv_node *nodes, size_t count, const char *called)
{
    size_t bytes = strlen(called) + 1;
    char *name = SV_POOL_NEW(map->store, m->ctx, char, bytes);
    if (name == NULL)
        return SV_NO_MEMORY;
    memcpy(name, called, bytes);
    for (size_t i = 0; i < count; i++) {
        map->num_terminals += !sv_bit(busy, nodes[i].i);
        sv_bit_set(busy, nodes[i].i);
    }
    list[map->num_jobs++] = (sv_job){name, nodes, (uint32_t)count};
    return SV_OK;
}

static sv_status fill(sv__mapper *m, unsigned switches, sv_jobmap *map, sv__homes *homes)
{
    size_t jobs = m->names.length, length = m->pairs.length, used = 0;
    sv_job *list = SV_POOL_NEW(map->store, m->ctx, sv_job, jobs + 1);
    sv_node *nodes = SV_POOL_NEW(map->store, m->ctx, sv_node, length + 1);
    uint64_t *busy = sv_bitset_new(&m->arena, sv_num_nodes(m->f));
    if (list == NULL || nodes == NULL || busy == NULL)
        return SV_NO_MEMORY;
    if (length > 0)
        qsort(m->pairs.at, length, sizeof *m->pairs.at, by_job);
    for (size_t j = 0, i = 0; j < jobs; j++) {
        size_t begin = used;
        for (; i < length && m->pairs.at[i].job == j; i++)
            if (used == begin || nodes[used - 1].i != m->pairs.at[i].node)
                nodes[used++] = (sv_node){m->pairs.at[i].node};
        unsigned on = count_switches(m->f, nodes + begin, used - begin);
        homes->homeless += on == 0;
        homes->one_switch += on == 1;
        if (on < switches)
            used = begin;
        else
            SV_TRY(keep_job(m, map, list, busy, nodes + begin, used - begin, m->names.at[j]));
    }
    map->jobs = list;
    return SV_OK;
}

sv_status sv__mapper_finish(sv__mapper *m, unsigned switches, sv_jobmap **result, sv__homes *homes)
{
    sv__homes found = {0};
    sv_pool *store = sv__pool_new(m->ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_jobmap *map = SV_POOL_NEW(store, m->ctx, sv_jobmap, 1);
    sv_status status = map == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        map->store = store;
        status = fill(m, switches, map, &found);
    }
    if (status != SV_OK) {
        sv__pool_drop(store);
        return status;
    }
    if (homes != NULL)
        *homes = found;
    *result = map;
    return SV_OK;
}
