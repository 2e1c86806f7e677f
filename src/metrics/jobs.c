/*
 * jobs.c: what routes inside jobs do: effective edge forwarding index, dark fibre, links of a job.
 *
 * Idea: a job has terminals on few switches, and all terminals of a switch go the same way to a
 * destination. So follow the way from each of a job's switches once, with the number of terminals
 * there. A worker does a whole job at a time, because a job's own largest load is wanted; large
 * jobs are done one by one, their destinations shared among the workers.
 *
 * Invariants: mine[], here[], links and pairs are zero between jobs. Sums are integers, so the
 * number of threads does not show. What does not arrive loads nothing. Cost: terminals × switches
 * with terminals × hops, summed over jobs. Source: thesis Def. 5.1 (effective edge forwarding
 * index) and 5.2 (dark fibre percentage).
 */
#include <string.h>

#include "base/threads.h"
#include "metrics/tree.h"

enum { LARGE = 512 }; /* terminals */

/* The switches with terminals of a job. */
struct crowd {
    uint32_t *homes, count;
    uint32_t *here; /* [switches]: how many terminals of the job each has */
};

/* What a worker has for itself. */
struct part {
    uint64_t *all, *mine; /* [channels]: of all jobs so far, of this one */
    uint32_t *users;      /* [channels]: how many jobs have routes there */
    uint32_t *touched;    /* [links]: channels with a load of this job */
    uint32_t *path;       /* [switches] */
    uint32_t links;
    uint64_t pairs;
    struct crowd crowd;
};

struct count {
    const sv_fabric *fabric;
    const sv_routes *routes;
    const sv_jobmap *map;
    const sv_job *large; /* that all workers are busy with */
    sv_portmap ports;
    sv_job_load *jobs; /* [num_jobs] */
    struct part *parts;
};

static void gather(const struct count *c, struct crowd *crowd, const sv_job *job)
{
    for (uint32_t i = 0; i < job->num_terminals; i++) {
        uint32_t s = sv_switch_of(c->fabric, job->terminals[i]).i;
        if (s != SV_NONE && crowd->here[s]++ == 0)
            crowd->homes[crowd->count++] = s;
    }
}

static void disperse(struct crowd *crowd)
{
    for (; crowd->count > 0; crowd->count--)
        crowd->here[crowd->homes[crowd->count - 1]] = 0;
}

static void add_load(struct part *p, uint32_t channel, uint64_t routes)
{
    if (p->mine[channel] == 0)
        p->touched[p->links++] = channel;
    p->mine[channel] += routes;
}

/* All routes of the job to one of its terminals. */
static void count_terminal(const struct count *c, struct part *p, const struct crowd *crowd,
                           sv_node to)
{
    const sv_routes *r = c->routes;
    uint32_t own = sv_switch_of(c->fabric, to).i;
    for (uint32_t d = r->first[to.i]; d < r->first[to.i + 1]; d++)
        for (uint32_t i = 0; i < crowd->count; i++) {
            uint32_t s = crowd->homes[i], routes = crowd->here[s] - (s == own);
            uint32_t hops = routes == 0 ? SV_NONE
                                        : sv__follow(&c->ports, c->fabric->num_switches,
                                                     r->ports[d], s, to.i, p->path);
            if (hops == SV_NONE)
                continue;
            p->pairs += routes;
            for (uint32_t k = 0; k < hops; k++)
                add_load(p, p->path[k], routes);
        }
}

/* What a job did, which is then forgotten but for the sum over jobs. */
static sv_job_load finish(struct part *p)
{
    sv_job_load job = {.links = p->links, .pairs = p->pairs};
    for (uint32_t i = 0; i < p->links; i++) {
        uint64_t *load = &p->mine[p->touched[i]];
        job.max = *load > job.max ? *load : job.max;
        p->all[p->touched[i]] += *load;
        p->users[p->touched[i]]++;
        *load = 0;
    }
    p->links = 0;
    p->pairs = 0;
    return job;
}

static sv_status count_job(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct count *c = arg;
    struct part *p = &c->parts[worker];
    const sv_job *job = &c->map->jobs[piece];
    if (job->num_terminals >= LARGE)
        return SV_OK;
    gather(c, &p->crowd, job);
    for (uint32_t i = 0; i < job->num_terminals; i++)
        count_terminal(c, p, &p->crowd, job->terminals[i]);
    c->jobs[piece] = finish(p);
    disperse(&p->crowd);
    return SV_OK;
}

static sv_status count_some(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct count *c = arg;
    count_terminal(c, &c->parts[worker], &c->parts[0].crowd, c->large->terminals[piece]);
    return SV_OK;
}

static sv_status count_large(sv_ctx *ctx, struct count *c, unsigned workers)
{
    struct part *sum = &c->parts[0];
    for (uint32_t j = 0; j < c->map->num_jobs; j++) {
        c->large = &c->map->jobs[j];
        if (c->large->num_terminals < LARGE)
            continue;
        gather(c, &sum->crowd, c->large);
        SV_TRY(
            sv_parallel(ctx, "counting routes of a job", c->large->num_terminals, count_some, c));
        for (unsigned w = 1; w < workers; w++) {
            struct part *p = &c->parts[w];
            sum->pairs += p->pairs;
            for (uint32_t i = 0; i < p->links; i++) {
                add_load(sum, p->touched[i], p->mine[p->touched[i]]);
                p->mine[p->touched[i]] = 0;
            }
            p->links = 0;
            p->pairs = 0;
        }
        c->jobs[j] = finish(sum);
        disperse(&sum->crowd);
    }
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
        p->users = SV_ARENA_NEW(arena, uint32_t, f->num_channels);
        p->touched = SV_ARENA_NEW(arena, uint32_t, f->num_channels);
        p->path = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->crowd.homes = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->crowd.here = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        if (p->all == NULL || p->mine == NULL || p->users == NULL || p->touched == NULL ||
            p->path == NULL || p->crowd.homes == NULL || p->crowd.here == NULL)
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

/* What the two public calls want of it; each may be NULL. */
struct wanted {
    uint64_t *load;
    uint32_t *users;
    sv_job_load *jobs;
};

static void hand_over(const struct count *c, unsigned workers, const struct wanted *wanted)
{
    size_t channels = c->fabric->num_channels;
    if (wanted->load != NULL)
        memcpy(wanted->load, c->parts[0].all, channels * sizeof *wanted->load);
    if (wanted->jobs != NULL && c->map->num_jobs > 0)
        memcpy(wanted->jobs, c->jobs, c->map->num_jobs * sizeof *wanted->jobs);
    for (size_t k = 0; wanted->users != NULL && k < channels; k++) {
        wanted->users[k] = 0;
        for (unsigned i = 0; i < workers; i++)
            wanted->users[k] += c->parts[i].users[k];
    }
}

static sv_status count_all(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                           const sv_jobmap *map, const struct wanted *wanted, sv_jobs_load *about)
{
    SV_TRY(sv__tables_fit(ctx, fabric, routes));
    unsigned workers = sv_ctx_threads(ctx, (uint64_t)map->num_jobs + fabric->num_terminals);
    struct count c = {.fabric = fabric, .routes = routes, .map = map};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = prepare(&c, &arena, workers);
    if (status == SV_OK)
        status = sv_parallel(ctx, "counting routes of jobs", map->num_jobs, count_job, &c);
    if (status == SV_OK)
        status = count_large(ctx, &c, workers);
    if (status == SV_OK) {
        *about = sum_up(&c, workers);
        hand_over(&c, workers, wanted);
    }
    sv_arena_release(&arena);
    return status;
}

sv_status sv_jobs_count(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const sv_jobmap *map, uint64_t *load, sv_job_load *jobs,
                        sv_jobs_load *about)
{
    const struct wanted wanted = {.load = load, .jobs = jobs};
    return count_all(ctx, fabric, routes, map, &wanted, about);
}

sv_status sv_jobs_share(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const sv_jobmap *map, uint32_t *users)
{
    const struct wanted wanted = {.users = users};
    sv_jobs_load about;
    return count_all(ctx, fabric, routes, map, &wanted, &about);
}
