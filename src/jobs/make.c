/*
 * make.c: histories of jobs made up for a fabric: draw, schedule, count, write.
 *
 * Idea: make_draw.c says what users submit, make_queue.c when and where it runs. A wanted share of
 * jobs on several switches is met by halving: fewer jobs of one node, more on several switches. As
 * all tries draw from one stream of random numbers, the answer hardly jumps; the nearest one that
 * was seen counts.
 *
 * Invariants: what is told begins after the warm-up; the same plan gives the same bytes.
 * Cost: as make_queue.c; TRIES times that if a share is wanted.
 * Source: thesis 5.1 (what the job mix of two machines looks like).
 */
#include "jobs/make.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include <selvage/fabric.h>

#include "base/pool.h"
#include "text/hostlist.h"
#include "text/times.h"

enum { DAY = 86400, MAX_DAYS = 3660, TRIES = 10 };

sv_history_plan sv_history_defaults(void)
{
    return (sv_history_plan){.seed = 1,
                             .begin = INT64_C(1422748800), /* 2015-02-01, a Sunday */
                             .days = 30,
                             .warm_up = 14,
                             .load = 0.85,
                             .single = 0.3,
                             .powers = 0.6,
                             .large = 0.01,
                             .run_hours = 4,
                             .run_spread = 1.5,
                             .several = -1};
}

/* ---- the plan ---- */

static sv_status check_plan(sv_ctx *ctx, const sv_history_plan *plan)
{
    const struct {
        const char *name;
        double value, min, max;
    } bounds[] = {{"days", plan->days, 1, MAX_DAYS},
                  {"days of warm-up", plan->warm_up, 0, MAX_DAYS},
                  {"load", plan->load, 0.001, 1},
                  {"share of jobs with one node", plan->single, 0, 1},
                  {"share of powers of two", plan->powers, 0, 1},
                  {"share of large jobs", plan->large, 0, 1},
                  {"hours of a run", plan->run_hours, 1 / 60.0, 168},
                  {"spread of run times", plan->run_spread, 0, 5},
                  {"share on several switches", plan->several, -1, 1}};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (!(bounds[i].value >= bounds[i].min && bounds[i].value <= bounds[i].max))
            return sv_refuse(ctx, "%s: %g is not in %g…%g", bounds[i].name, bounds[i].value,
                             bounds[i].min, bounds[i].max);
    int64_t warm_up = (int64_t)plan->warm_up * DAY;
    if (plan->begin < warm_up || plan->begin > INT64_C(1) << 37)
        return sv_refuse(ctx, "the warm-up begins before 1970, or too late");
    return SV_OK;
}

/* Sizes that were left open. */
static sv_status fit_sizes(sv_ctx *ctx, sv_history_plan *plan, uint32_t hosts)
{
    if (plan->usual > hosts || plan->largest > hosts)
        return sv_refuse(ctx, "jobs of %u nodes: there are %u",
                         plan->usual > plan->largest ? plan->usual : plan->largest, hosts);
    uint32_t quarter = hosts / 4 > 2 ? hosts / 4 : 2;
    if (plan->largest == 0)
        plan->largest = quarter > plan->usual ? quarter : plan->usual;
    if (plan->usual == 0)
        plan->usual = plan->largest < 32 ? plan->largest : 32;
    return plan->usual >= 2 && plan->usual <= plan->largest
               ? SV_OK
               : sv_refuse(ctx, "jobs of 2 to %u nodes, large ones up to %u: that does not ascend",
                           plan->usual, plan->largest);
}

/* ---- counting ---- */

/* What is told; seen[switches]: the last job that was seen there, and one. */
static void count_told(sv_history *h, const sv__hosts *hosts, sv_made_job *jobs, uint32_t *seen)
{
    double busy = 0, nodes = 0, switches = 0, waited = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        sv_made_job *job = &jobs[i];
        if (job->begin == SV_TIME_OPEN)
            continue;
        for (uint32_t k = 0; k < job->num_hosts; k++)
            for (uint32_t s = hosts->first[job->hosts[k]]; s < hosts->first[job->hosts[k] + 1]; s++)
                if (seen[hosts->switches[s]] != i + 1) {
                    seen[hosts->switches[s]] = i + 1;
                    job->switches++;
                }
        if (job->begin >= h->end || job->end <= h->begin)
            continue;
        int64_t from = job->begin > h->begin ? job->begin : h->begin;
        int64_t to = job->end < h->end ? job->end : h->end;
        h->told++;
        h->several += job->switches > 1;
        h->max_hosts = job->num_hosts > h->max_hosts ? job->num_hosts : h->max_hosts;
        busy += (double)(to - from) * job->num_hosts;
        nodes += job->num_hosts;
        switches += job->switches;
        waited += (double)(job->begin - job->submit) / 3600;
    }
    double told = h->told > 0 ? h->told : 1;
    h->utilisation = busy / ((double)(h->end - h->begin) * h->num_hosts);
    h->mean_hosts = nodes / told;
    h->mean_switches = switches / told;
    h->mean_wait_hours = waited / told;
}

/* ---- making ---- */

struct making {
    sv_ctx *ctx;
    const sv_fabric *fabric;
    const sv__hosts *hosts;
    sv_history_plan plan;
};

static sv_status make_in(const struct making *m, sv_pool *store, sv_arena *scratch, sv_history *h)
{
    const sv_history_plan *plan = &m->plan;
    sv__wish *wishes;
    const char **names = SV_POOL_NEW(store, m->ctx, const char *, m->hosts->count);
    uint32_t *seen = SV_ARENA_NEW(scratch, uint32_t, m->fabric->num_switches);
    if (names == NULL || seen == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < m->hosts->count; i++) {
        names[i] = sv_arena_text(&store->arena, m->hosts->names[i], strlen(m->hosts->names[i]));
        if (names[i] == NULL)
            return sv_fail(m->ctx, SV_NO_MEMORY, "out of memory");
    }
    *h = (sv_history){.hosts = names,
                      .num_hosts = m->hosts->count,
                      .warm = plan->begin - (int64_t)plan->warm_up * DAY,
                      .begin = plan->begin,
                      .end = plan->begin + (int64_t)plan->days * DAY,
                      .single = plan->single,
                      .store = store};
    SV_TRY(sv__draw_jobs(m->ctx, plan, h->num_hosts, scratch, &wishes, &h->count));
    sv_made_job *jobs = SV_POOL_NEW(store, m->ctx, sv_made_job, (size_t)h->count + 1);
    if (jobs == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__run_queue(m->ctx, wishes, h->count, h->num_hosts, h->end, plan->best_fit,
                         &store->arena, jobs));
    count_told(h, m->hosts, jobs, seen);
    h->jobs = jobs;
    return SV_OK;
}

/* One history as the plan has it. */
static sv_status make_once(const struct making *m, sv_history **history)
{
    sv_arena scratch;
    sv_pool *store = sv__pool_new(m->ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_history *h = SV_POOL_NEW(store, m->ctx, sv_history, 1);
    sv_arena_init(&scratch, m->ctx);
    sv_status status = h == NULL ? SV_NO_MEMORY : make_in(m, store, &scratch, h);
    sv_arena_release(&scratch);
    if (status == SV_OK)
        *history = h;
    else
        sv__pool_drop(store);
    return status;
}

static double share_of(const sv_history *h)
{
    return h->told > 0 ? (double)h->several / h->told : 0;
}

/* The history whose share of jobs on several switches is nearest to the one wanted. */
static sv_status make_share(struct making *m, sv_history **history)
{
    double low = 0, high = 0.98, wanted = m->plan.several;
    sv_history *best = NULL, *next;
    for (int i = 0; i < TRIES; i++) {
        m->plan.single = (low + high) / 2;
        sv_status status = make_once(m, &next);
        if (status != SV_OK) {
            sv_history_free(best);
            return status;
        }
        double share = share_of(next);
        *(share > wanted ? &low : &high) = m->plan.single;
        if (best == NULL || fabs(share - wanted) < fabs(share_of(best) - wanted)) {
            sv_history *worse = best;
            best = next;
            next = worse;
        }
        sv_history_free(next);
    }
    if (fabs(share_of(best) - wanted) > 0.02)
        sv_warn(m->ctx,
                "%.1f %% of the jobs are on several switches, not %.1f %%: it went no nearer",
                100 * share_of(best), 100 * wanted);
    *history = best;
    return SV_OK;
}

sv_status sv_history_make(sv_ctx *ctx, const sv_fabric *fabric, const sv_history_plan *plan,
                          sv_history **history)
{
    sv__hosts hosts;
    sv_arena arena;
    SV_TRY(check_plan(ctx, plan));
    sv_arena_init(&arena, ctx);
    sv_status status = sv__find_hosts(ctx, fabric, &arena, &hosts);
    struct making m = {.ctx = ctx, .fabric = fabric, .hosts = &hosts, .plan = *plan};
    if (status == SV_OK)
        status = fit_sizes(ctx, &m.plan, hosts.count);
    if (status == SV_OK)
        status = plan->several < 0 ? make_once(&m, history) : make_share(&m, history);
    sv_arena_release(&arena);
    return status;
}

void sv_history_free(sv_history *history)
{
    if (history != NULL)
        sv__pool_drop(history->store);
}

/* ---- writing ---- */

sv_status sv_history_write(sv_ctx *ctx, const sv_history *history, const sv_sink *sink)
{
    const sv_history *h = history;
    const char **names = sv_alloc(ctx, h->num_hosts, sizeof *names);
    sv_text out;
    if (names == NULL)
        return SV_NO_MEMORY;
    sv_text_init(&out, ctx, sink);
    sv_text_print(&out, "JobID|Start|End|State|NodeList\n");
    for (uint32_t i = 0; i < h->count; i++) {
        const sv_made_job *job = &h->jobs[i];
        char from[SV__DATE_ROOM], to[SV__DATE_ROOM];
        if (job->begin == SV_TIME_OPEN || job->begin >= h->end || job->end <= h->begin)
            continue;
        sv__date_text(job->begin > h->begin ? job->begin : h->begin, from);
        sv__date_text(job->end < h->end ? job->end : h->end, to);
        for (uint32_t k = 0; k < job->num_hosts; k++)
            names[k] = h->hosts[job->hosts[k]];
        sv_text_print(&out, "%u|%s|%s|%s|", i + 1, from, to, job->killed ? "TIMEOUT" : "COMPLETED");
        sv_hostlist_write(&out, names, job->num_hosts);
        sv_text_print(&out, "\n");
    }
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    sv_release(ctx, names);
    return status;
}

sv_status sv_history_write_trace(sv_ctx *ctx, const sv_history *history, const sv_sink *sink)
{
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_text_print(&out, "job,submit,nodes,limit,begin,end,promised,switches\n");
    for (uint32_t i = 0; i < history->count; i++) {
        const sv_made_job *job = &history->jobs[i];
        sv_text_print(&out, "%u,%lld,%u,%lld,", i + 1, (long long)(job->submit - history->warm),
                      job->num_hosts, (long long)job->limit);
        if (job->begin != SV_TIME_OPEN)
            sv_text_print(&out, "%lld,%lld", (long long)(job->begin - history->warm),
                          (long long)(job->end - history->warm));
        else
            sv_text_print(&out, ",");
        if (job->promised != SV_TIME_UNKNOWN)
            sv_text_print(&out, ",%lld", (long long)(job->promised - history->warm));
        else
            sv_text_print(&out, ",");
        sv_text_print(&out, ",%u\n", job->switches);
    }
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}
