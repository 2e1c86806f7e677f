/*
 * schedule.c: in which order destinations are routed, and whose routes to them count (thesis Alg.
 * 5.1 where a job map is given).
 *
 * The order matters for balance: when one switch's terminals are routed one after the other, early
 * choices pile up on the same links before others are heard. Round-robin over switches spreads them
 * (busiest channel of a 10×10×10 torus under minhop: 29,080 routes instead of 38,076).
 *
 * On large fabrics several destinations are routed side by side. Those of neighbours would all take
 * the same way, which nobody has taken yet, and pile up on it (sssp on a tree of 1,280 switches:
 * 34,768 routes instead of 14,336, when tried with batches of 4). So a batch has one destination of
 * each part of the round: every stride-th switch. Then batches do no harm (13,744), and on tori the
 * balance gets better than one by one (10×10×10: 21,656 instead of 23,004). Trees need as many
 * branches at the top as a batch has destinations, so batches are small. A job with few switches
 * has none to spare: its terminals go one by one, in batches that are otherwise empty.
 *
 * With a job map only routes inside jobs count, those of the largest job are laid first; storage
 * and the rest then find the channels as empty as jobs did. Jobs on one switch are the rest: none
 * of their routes takes a channel between switches, so they must not make a difference. (What jobs
 * load is not taken into account for them: the thesis forgets it, and traffic to storage comes from
 * all jobs alike.)
 *
 * Invariants: every live terminal's addresses and every live switch are in the order once; a batch
 * never belongs to two phases.
 * Cost: linear, and sorting terminals.
 */
#include "routing/schedule.h"

#include <stdlib.h>

/* A terminal and what it is sorted by. */
struct guest {
    uint32_t group, rank; /* rank: how many of its group come before it on its switch */
    uint32_t place;       /* as switches list their terminals */
    uint32_t terminal;    /* node */
};

struct maker {
    sv__routing_job *job;
    sv__schedule *s;
    uint32_t batch;
    uint32_t *group;              /* [terminals]: what they are routed with */
    uint32_t storage, num_groups; /* groups below storage are jobs; the last is the rest */
    struct guest *guests;
    uint32_t num_guests;
    uint32_t *list; /* [switches]: a round */
};

uint32_t sv__batch(const sv_fabric *f)
{
    return f->num_switches < 512 ? 1 : f->num_switches < 4096 ? 4 : 8;
}

/* ---- groups ---- */

/* Whether a job has terminals on several switches; the others take no channel between switches. */
static bool is_spread(const sv__schedule *s, uint32_t job)
{
    return s->first_home[job + 1] - s->first_home[job] > 1;
}

/* Larger jobs first; equally large ones by their terminals. */
static int by_size(const void *a, const void *b)
{
    const sv_job *x = *(const sv_job *const *)a, *y = *(const sv_job *const *)b;
    if (x->num_terminals != y->num_terminals)
        return x->num_terminals > y->num_terminals ? -1 : 1;
    for (uint32_t i = 0; i < x->num_terminals; i++)
        if (x->terminals[i].i != y->terminals[i].i)
            return x->terminals[i].i < y->terminals[i].i ? -1 : 1;
    return 0;
}

/* Each terminal goes with the first of its jobs, the largest being first. */
static sv_status group_jobs(struct maker *m)
{
    const sv_jobmap *map = m->s->map;
    uint32_t switches = m->job->fabric->num_switches, used = 0;
    const sv_job **jobs = SV_ARENA_NEW(m->job->arena, const sv_job *, map->num_jobs);
    if (jobs == NULL)
        return SV_NO_MEMORY;
    for (uint32_t j = 0; j < map->num_jobs; j++)
        if (is_spread(m->s, j))
            jobs[used++] = &map->jobs[j];
    if (used > 0)
        qsort(jobs, used, sizeof *jobs, by_size);
    for (uint32_t i = 0; i < used; i++)
        for (uint32_t k = 0; k < jobs[i]->num_terminals; k++) {
            uint32_t *group = &m->group[jobs[i]->terminals[k].i - switches];
            *group = *group == SV_NONE ? i : *group;
        }
    m->storage = used;
    return SV_OK;
}

static sv_status make_groups(struct maker *m)
{
    const sv_fabric *f = m->job->fabric;
    m->group = SV_ARENA_NEW(m->job->arena, uint32_t, f->num_terminals);
    if (m->group == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        m->group[t] = SV_NONE;
    if (m->s->map != NULL)
        SV_TRY(group_jobs(m));
    m->num_groups = m->storage + 2;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (m->group[t] == SV_NONE)
            m->group[t] =
                m->storage + (m->s->map == NULL || f->terminals[t].role != SV_ROLE_IO ? 1 : 0);
    return SV_OK;
}

/* ---- the order ---- */

static int by_round(const void *a, const void *b)
{
    const struct guest *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The live terminals of all switches, sorted by groups, and in them by rounds. */
static sv_status sort_guests(struct maker *m)
{
    const sv_fabric *f = m->job->fabric;
    struct {
        uint32_t home, count;
    } *seen = NULL;
    seen = sv_arena_alloc(m->job->arena, m->num_groups, sizeof *seen);
    m->guests = SV_ARENA_NEW(m->job->arena, struct guest, f->num_terminals);
    if (seen == NULL || m->guests == NULL)
        return SV_NO_MEMORY;
    for (uint32_t g = 0; g < m->num_groups; g++)
        seen[g].home = SV_NONE;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, (sv_node){s}, hop) {
            if (sv_is_switch(f, hop->to))
                continue;
            uint32_t g = m->group[hop->to.i - f->num_switches];
            seen[g].count = seen[g].home == s ? seen[g].count + 1 : 0;
            seen[g].home = s;
            m->guests[m->num_guests] = (struct guest){g, seen[g].count, m->num_guests, hop->to.i};
            m->num_guests++;
        }
    if (m->num_guests > 0)
        qsort(m->guests, m->num_guests, sizeof *m->guests, by_round);
    return SV_OK;
}

/* The bits of a number, the last first. */
static uint32_t mirror(uint32_t number, unsigned bits)
{
    uint32_t result = 0;
    for (; bits > 0; bits--, number >>= 1)
        result = result << 1 | (number & 1);
    return result;
}

/*
 * Adds the destinations of a round's terminals. In batches: every stride-th of the round makes one,
 * filled up with SV_NONE; the next begins about half a stride further, and so on.
 */
static void append_round(const struct maker *m, uint32_t length, bool alone)
{
    const sv_routes *r = m->job->routes;
    uint32_t *order = m->s->order, *count = &m->s->count, batch = m->batch;
    uint32_t addresses = 1u << r->lmc, stride = alone ? length : (length + batch - 1) / batch;
    unsigned bits = 0;
    for (uint32_t i = 0; i < length && batch == 1; i++)
        for (uint32_t k = 0; k < addresses; k++)
            order[(*count)++] = r->first[m->list[i]] + k;
    while (stride > 1u << bits)
        bits++;
    for (uint32_t k = 0; k < addresses && batch > 1; k++)
        for (uint32_t i = 0; i < 1u << bits; i++)
            for (uint32_t j = 0, at = mirror(i, bits); j < batch && mirror(i, bits) < stride; j++) {
                order[(*count)++] = at < length ? r->first[m->list[at]] + k : SV_NONE;
                at += stride;
            }
}

/* Where the round that begins with a guest ends. */
static uint32_t round_end(const struct maker *m, uint32_t begin)
{
    uint32_t end = begin + 1;
    while (end < m->num_guests && m->guests[end].group == m->guests[begin].group &&
           m->guests[end].rank == m->guests[begin].rank)
        end++;
    return end;
}

/* Whether a round of a job is too short for batches. */
static bool is_short(const struct maker *m, uint32_t begin, uint32_t end)
{
    enum { ENOUGH = 16 };
    return m->guests[begin].group < m->storage && end - begin < ENOUGH * m->batch;
}

static sv_status make_order(struct maker *m)
{
    const sv_fabric *f = m->job->fabric;
    const sv_routes *r = m->job->routes;
    uint64_t room = f->num_switches;
    for (uint32_t i = 0, end; i < m->num_guests; i = end) {
        end = round_end(m, i);
        uint64_t length = end - i;
        room += (is_short(m, i, end) ? length * m->batch : length + m->batch) << r->lmc;
    }
    m->s->order = SV_ARENA_NEW(m->job->arena, uint32_t, room);
    m->list = SV_ARENA_NEW(m->job->arena, uint32_t, f->num_switches);
    if (m->s->order == NULL || m->list == NULL)
        return SV_NO_MEMORY;
    unsigned phase = m->storage > 0 ? 0 : 1;
    for (uint32_t i = 0, end; i < m->num_guests; i = end) {
        uint32_t g = m->guests[i].group;
        end = round_end(m, i);
        for (; phase < 2 && g >= m->storage + phase; phase++)
            m->s->end[phase] = m->s->count;
        for (uint32_t k = i; k < end; k++)
            m->list[k - i] = m->guests[k].terminal;
        append_round(m, end - i, is_short(m, i, end));
    }
    for (; phase < 2; phase++)
        m->s->end[phase] = m->s->count;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            m->s->order[m->s->count++] = r->first[s];
    m->s->end[2] = m->s->count;
    return SV_OK;
}

/* ---- who counts ---- */

/* The jobs of each terminal that are spread. */
static sv_status index_terminals(sv__schedule *s, sv_arena *arena)
{
    const sv_fabric *f = s->fabric;
    uint64_t all = 0;
    for (uint32_t j = 0; j < s->map->num_jobs; j++)
        all += s->map->jobs[j].num_terminals;
    s->first_job = SV_ARENA_NEW(arena, uint32_t, (size_t)f->num_terminals + 2);
    s->jobs_of = SV_ARENA_NEW(arena, uint32_t, all);
    if (s->first_job == NULL || s->jobs_of == NULL)
        return SV_NO_MEMORY;
    for (uint32_t j = 0; j < s->map->num_jobs; j++)
        for (uint32_t i = 0; i < s->map->jobs[j].num_terminals && is_spread(s, j); i++)
            s->first_job[s->map->jobs[j].terminals[i].i - f->num_switches + 2]++;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        s->first_job[t + 2] += s->first_job[t + 1];
    for (uint32_t j = 0; j < s->map->num_jobs; j++)
        for (uint32_t i = 0; i < s->map->jobs[j].num_terminals && is_spread(s, j); i++)
            s->jobs_of[s->first_job[s->map->jobs[j].terminals[i].i - f->num_switches + 1]++] = j;
    return SV_OK;
}

/* The switches of each job, with how many of its terminals. */
static sv_status index_homes(sv__schedule *s, sv_arena *arena)
{
    const sv_fabric *f = s->fabric;
    uint64_t all = 0;
    for (uint32_t j = 0; j < s->map->num_jobs; j++)
        all += s->map->jobs[j].num_terminals;
    uint32_t used = 0, *place = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    s->first_home = SV_ARENA_NEW(arena, uint32_t, (size_t)s->map->num_jobs + 1);
    s->homes = SV_ARENA_NEW(arena, struct sv__crowd, all);
    if (place == NULL || s->first_home == NULL || s->homes == NULL)
        return SV_NO_MEMORY;
    for (uint32_t j = 0; j < s->map->num_jobs; j++) {
        const sv_job *job = &s->map->jobs[j];
        uint32_t begin = used;
        for (uint32_t i = 0; i < job->num_terminals; i++) {
            uint32_t home = sv_switch_of(f, job->terminals[i]).i;
            if (home == SV_NONE)
                continue;
            if (place[home] < begin || place[home] >= used || s->homes[place[home]].home != home) {
                place[home] = used;
                s->homes[used++] = (struct sv__crowd){home, 0};
            }
            s->homes[place[home]].count++;
        }
        s->first_home[j + 1] = used;
    }
    return SV_OK;
}

/* Whether one of the first jobs in a list runs on a terminal. */
static bool runs_on(const sv_jobmap *map, const uint32_t *jobs, uint32_t count, sv_node terminal)
{
    for (uint32_t k = 0; k < count; k++) {
        const sv_job *job = &map->jobs[jobs[k]];
        uint32_t low = 0, high = job->num_terminals;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (job->terminals[middle].i < terminal.i)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < job->num_terminals && job->terminals[low].i == terminal.i)
            return true;
    }
    return false;
}

const uint32_t *sv__schedule_sources(const sv__schedule *s, const sv_routes *routes, uint32_t d,
                                     const uint32_t *all, uint32_t *room)
{
    sv_node to = routes->node[d];
    if (s->map == NULL || sv_is_switch(s->fabric, to))
        return all;
    uint32_t t = to.i - s->fabric->num_switches, count = s->first_job[t + 1] - s->first_job[t];
    const uint32_t *jobs = s->jobs_of + s->first_job[t];
    if (count == 0)
        return all;
    for (uint32_t i = 0; i < s->fabric->num_switches; i++)
        room[i] = 0;
    if (count == 1)
        for (uint32_t i = s->first_home[jobs[0]]; i < s->first_home[jobs[0] + 1]; i++)
            room[s->homes[i].home] = s->homes[i].count;
    for (uint32_t k = 0; k < count && count > 1; k++)
        for (uint32_t i = 0; i < s->map->jobs[jobs[k]].num_terminals; i++) {
            sv_node from = s->map->jobs[jobs[k]].terminals[i];
            uint32_t home = sv_switch_of(s->fabric, from).i;
            if (home != SV_NONE && !runs_on(s->map, jobs, k, from))
                room[home]++;
        }
    return room;
}

sv_status sv__schedule_init(sv__schedule *schedule, sv__routing_job *job, uint32_t batch)
{
    *schedule = (sv__schedule){.map = job->request->jobs, .fabric = job->fabric};
    struct maker m = {.job = job, .s = schedule, .batch = batch};
    if (schedule->map != NULL) {
        SV_TRY(index_homes(schedule, job->arena));
        SV_TRY(index_terminals(schedule, job->arena));
    }
    SV_TRY(make_groups(&m));
    SV_TRY(sort_guests(&m));
    return make_order(&m);
}

uint32_t *sv__destinations(sv__routing_job *job, uint32_t batch, uint32_t *count)
{
    sv__schedule schedule;
    if (sv__schedule_init(&schedule, job, batch) != SV_OK)
        return NULL;
    *count = schedule.count;
    return schedule.order;
}
