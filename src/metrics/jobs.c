/*
 * jobs.c: what routes inside jobs do: effective edge forwarding index, dark fibre, links of a job.
 *
 * Idea: a job has terminals on few switches, and all terminals of a switch go the same way to a
 * destination. So follow the way from each of a job's switches once, with the number of terminals
 * there. A worker does a whole job at a time, because a job's own largest load is wanted.
 *
 * Invariants: mine[] is zero between jobs. Sums are integers, so the number of threads does not
 * show. What does not arrive loads nothing.
 * Cost: terminals × switches with terminals × hops, summed over jobs.
 * Source: thesis Def. 5.1 (effective edge forwarding index) and 5.2 (dark fibre percentage).
 */
#include <string.h>

#include "base/threads.h"
#include "metrics/tree.h"

/* What a worker has for itself. */
struct part {
    uint64_t *all, *mine;   /* [channels]: of all jobs so far, of this one */
    uint32_t *touched;      /* [channels]: with a load of this job */
    uint32_t *path;         /* [switches] */
    uint32_t *homes, *here; /* [switches]: those of the job, and how many terminals each has */
};

struct count {
    const sv_fabric *fabric;
    const sv_routes *routes;
    const sv_jobmap *map;
    sv_portmap ports;
    sv_job_load *jobs; /* [num_jobs] */
    struct part *parts;
};

/* The switches with terminals of a job; here[] counts those. */
static uint32_t gather(const struct count *c, struct part *p, const sv_job *job)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->num_terminals; i++) {
        uint32_t s = sv_switch_of(c->fabric, job->terminals[i]).i;
        if (s != SV_NONE && p->here[s]++ == 0)
            p->homes[count++] = s;
    }
    return count;
}

/* All routes of the job to one destination. */
static void count_destination(const struct count *c, struct part *p, uint32_t homes, uint32_t d,
                              sv_job_load *job)
{
    sv_node to = c->routes->node[d];
    const uint8_t *row = c->routes->ports[d];
    uint32_t own = sv_switch_of(c->fabric, to).i;
    for (uint32_t i = 0; i < homes; i++) {
        uint32_t s = p->homes[i], routes = p->here[s] - (s == own);
        uint32_t hops = routes == 0
                            ? SV_NONE
                            : sv__follow(&c->ports, c->fabric->num_switches, row, s, to.i, p->path);
        if (hops == SV_NONE)
            continue;
        job->pairs += routes;
        for (uint32_t k = 0; k < hops; k++) {
            uint64_t *load = &p->mine[p->path[k]];
            if (*load == 0)
                p->touched[job->links++] = p->path[k];
            *load += routes;
        }
    }
}

static sv_status count_job(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct count *c = arg;
    const sv_routes *r = c->routes;
    struct part *p = &c->parts[worker];
    const sv_job *job = &c->map->jobs[piece];
    sv_job_load *result = &c->jobs[piece];
    uint32_t homes = gather(c, p, job);
    for (uint32_t i = 0; i < job->num_terminals; i++) {
        uint32_t to = job->terminals[i].i;
        for (uint32_t d = r->first[to]; d < r->first[to + 1]; d++)
            count_destination(c, p, homes, d, result);
    }
    for (uint32_t i = 0; i < result->links; i++) {
        uint64_t *load = &p->mine[p->touched[i]];
        result->max = *load > result->max ? *load : result->max;
        p->all[p->touched[i]] += *load;
        *load = 0;
    }
    for (uint32_t i = 0; i < homes; i++)
        p->here[p->homes[i]] = 0;
    return SV_OK;
}

static sv_status prepare(struct count *c, sv_arena *arena, unsigned workers)
{
    const sv_fabric *f = c->fabric;
    SV_TRY(sv_portmap_init(&c->ports, arena, f));
    c->jobs = SV_ARENA_NEW(arena, sv_job_load, c->map->num_jobs);
    c->parts = SV_ARENA_NEW(arena, struct part, workers);
    if (c->jobs == NULL || c->parts == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < workers; i++) {
        struct part *p = &c->parts[i];
        p->all = SV_ARENA_NEW(arena, uint64_t, f->num_channels);
        p->mine = SV_ARENA_NEW(arena, uint64_t, f->num_channels);
        p->touched = SV_ARENA_NEW(arena, uint32_t, f->num_channels);
        p->path = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->homes = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->here = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        if (p->all == NULL || p->mine == NULL || p->touched == NULL || p->path == NULL ||
            p->homes == NULL || p->here == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

static sv_jobs_load sum_up(const struct count *c, unsigned workers)
{
    sv_jobs_load about = {0};
    uint64_t *all = c->parts[0].all, max = 0, links = 0;
    for (unsigned i = 1; i < workers; i++)
        for (uint32_t k = 0; k < c->fabric->num_channels; k++)
            all[k] += c->parts[i].all[k];
    about.efi = sv__efi(c->fabric, all);
    about.dark_fibre = about.efi.channels > 0 ? 100.0 * about.efi.unused / about.efi.channels : 0;
    for (uint32_t j = 0; j < c->map->num_jobs; j++) {
        about.pairs += c->jobs[j].pairs;
        about.spread += c->jobs[j].links > 0;
        max += c->jobs[j].max;
        links += c->jobs[j].links;
    }
    if (about.spread > 0) {
        about.job_max_avg = (double)max / about.spread;
        about.job_links_avg = (double)links / about.spread;
    }
    return about;
}

sv_status sv_jobs_count(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const sv_jobmap *map, uint64_t *load, sv_job_load *jobs,
                        sv_jobs_load *about)
{
    SV_TRY(sv__tables_fit(ctx, fabric, routes));
    unsigned workers = sv_ctx_threads(ctx, map->num_jobs);
    struct count c = {.fabric = fabric, .routes = routes, .map = map};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = prepare(&c, &arena, workers);
    if (status == SV_OK)
        status = sv_parallel(ctx, "counting routes of jobs", map->num_jobs, count_job, &c);
    if (status == SV_OK) {
        *about = sum_up(&c, workers);
        if (load != NULL)
            memcpy(load, c.parts[0].all, fabric->num_channels * sizeof *load);
        if (jobs != NULL && map->num_jobs > 0)
            memcpy(jobs, c.jobs, map->num_jobs * sizeof *jobs);
    }
    sv_arena_release(&arena);
    return status;
}
