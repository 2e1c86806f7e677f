/*
 * make_queue.c: first come first served, with EASY backfilling, on whole nodes.
 *
 * Idea: whenever something comes or ends, jobs begin in the order of the queue as long as they fit.
 * The first that does not gets a reservation: the earliest moment at which enough nodes are free if
 * all that run take as long as they may. Jobs behind it begin now if they fit and either end by
 * then, as far as is known, or need only nodes that the first will leave free.
 *
 * Nodes are alike, so a reservation is a number of nodes. Which ones a job gets is chosen when it
 * begins: the lowest that are free, or as few runs of neighbours as can be (the shortest run that
 * is long enough, else the longest ones first). Both leave holes when jobs end out of order, and
 * the system fragments as time goes by.
 *
 * Invariants: a node has one job; jobs end by their limits, so a reservation, once made, is never
 * later than promised; running is ordered by the latest end. Cost: O(hosts + running + queue) for
 * each begin and end. Source: D. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995.
 */
#include <string.h>

#include "base/array.h"
#include "jobs/make.h"

struct system {
    sv_ctx *ctx;
    const sv__wish *wishes;
    sv_made_job *jobs;
    sv_arena *arena;
    bool *busy; /* [hosts] */
    uint32_t hosts, free;
    bool best_fit;
    int64_t now;
    uint32_t next; /* job to come */
    SV_ARRAY(uint32_t) queue;
    SV_ARRAY(uint32_t) running; /* by the latest end */
};

/* The latest end of a job that runs. */
static int64_t latest(const struct system *s, uint32_t job)
{
    return s->jobs[job].begin + s->wishes[job].limit;
}

/* ---- nodes ---- */

/* The run of free nodes to take from next: the shortest of at least wanted, else the longest. */
static uint32_t best_run(const struct system *s, uint32_t wanted, uint32_t *length)
{
    uint32_t best = 0;
    *length = 0;
    for (uint32_t h = 0, end; h < s->hosts; h = end + 1) {
        for (end = h; end < s->hosts && !s->busy[end];)
            end++;
        uint32_t here = end - h;
        bool fits = here >= wanted, fitted = *length >= wanted;
        if (here > 0 && (fitted ? fits && here < *length : here > *length)) {
            best = h;
            *length = here;
        }
    }
    return best;
}

/* Makes nodes of a job busy: list[nodes], ascending. */
static void take_nodes(struct system *s, uint32_t nodes, uint32_t *list)
{
    uint32_t taken = 0, length;
    while (s->best_fit && taken < nodes) {
        uint32_t from = best_run(s, nodes - taken, &length);
        for (uint32_t i = 0; i < length && taken < nodes; i++, taken++)
            list[taken] = from + i, s->busy[from + i] = true;
    }
    for (uint32_t h = 0; taken < nodes; h++)
        if (!s->busy[h]) {
            list[taken++] = h;
            s->busy[h] = true;
        }
    for (uint32_t i = 1; i < nodes; i++) /* runs may have come in another order */
        for (uint32_t k = i; k > 0 && list[k - 1] > list[k]; k--) {
            uint32_t held = list[k];
            list[k] = list[k - 1];
            list[k - 1] = held;
        }
}

/* ---- beginning and ending ---- */

static sv_status begin_job(struct system *s, uint32_t job)
{
    const sv__wish *wish = &s->wishes[job];
    uint32_t *list = sv_arena_raw(s->arena, wish->nodes, sizeof *list);
    if (list == NULL)
        return sv_fail(s->ctx, SV_NO_MEMORY, "out of memory");
    SV_TRY(sv_array_push(s->ctx, &s->running, job));
    take_nodes(s, wish->nodes, list);
    s->free -= wish->nodes;
    s->jobs[job].hosts = list;
    s->jobs[job].begin = s->now;
    s->jobs[job].end = s->now + wish->run;
    for (size_t i = s->running.length - 1; i > 0; i--) {
        uint32_t before = s->running.at[i - 1];
        if (latest(s, before) <= latest(s, job))
            break;
        s->running.at[i] = before;
        s->running.at[i - 1] = job;
    }
    return SV_OK;
}

static void end_jobs(struct system *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->running.length; i++) {
        uint32_t job = s->running.at[i];
        if (s->jobs[job].end > s->now) {
            s->running.at[kept++] = job;
            continue;
        }
        s->free += s->wishes[job].nodes;
        for (uint32_t k = 0; k < s->wishes[job].nodes; k++)
            s->busy[s->jobs[job].hosts[k]] = false;
    }
    s->running.length = kept;
}

/* ---- the queue ---- */

/* When the first of the queue can begin at the latest, and how many nodes it leaves free then. */
static int64_t reserve(const struct system *s, uint32_t nodes, uint32_t *spare)
{
    uint32_t free = s->free;
    int64_t at = s->now;
    for (size_t i = 0; i < s->running.length; i++) {
        uint32_t job = s->running.at[i];
        if (free >= nodes && latest(s, job) > at)
            break;
        at = latest(s, job);
        free += s->wishes[job].nodes;
    }
    *spare = free - nodes;
    return at;
}

/* Begins what may overtake the first of the queue; those that wait on stay, in order. */
static sv_status backfill(struct system *s)
{
    uint32_t spare, first = s->queue.at[0];
    int64_t at = reserve(s, s->wishes[first].nodes, &spare);
    size_t kept = 1;
    if (s->jobs[first].promised == SV_TIME_UNKNOWN)
        s->jobs[first].promised = at;
    for (size_t i = 1; i < s->queue.length; i++) {
        uint32_t job = s->queue.at[i], nodes = s->wishes[job].nodes;
        bool in_time = s->now + s->wishes[job].limit <= at;
        if (nodes > s->free || (!in_time && nodes > spare)) {
            s->queue.at[kept++] = job;
            continue;
        }
        spare -= in_time ? 0 : nodes;
        SV_TRY(begin_job(s, job));
    }
    s->queue.length = kept;
    return SV_OK;
}

static sv_status begin_jobs(struct system *s)
{
    size_t begun = 0;
    while (begun < s->queue.length && s->wishes[s->queue.at[begun]].nodes <= s->free)
        SV_TRY(begin_job(s, s->queue.at[begun++]));
    if (begun > 0)
        memmove(s->queue.at, s->queue.at + begun, (s->queue.length - begun) * sizeof *s->queue.at);
    s->queue.length -= begun;
    return s->queue.length > 0 ? backfill(s) : SV_OK;
}

/* The next moment at which something comes or ends; SV_TIME_OPEN: nothing does. */
static int64_t next_moment(const struct system *s, uint32_t count)
{
    int64_t at = s->next < count ? s->wishes[s->next].submit : SV_TIME_OPEN;
    for (size_t i = 0; i < s->running.length; i++) {
        int64_t end = s->jobs[s->running.at[i]].end;
        at = end < at ? end : at;
    }
    return at;
}

static sv_status run(struct system *s, uint32_t count, int64_t until)
{
    for (uint64_t steps = 0;; steps++) {
        s->now = next_moment(s, count);
        if (s->now >= until)
            return SV_OK;
        end_jobs(s);
        for (; s->next < count && s->wishes[s->next].submit <= s->now; s->next++)
            SV_TRY(sv_array_push(s->ctx, &s->queue, s->next));
        SV_TRY(begin_jobs(s));
        if (steps % 256 == 0)
            SV_TRY(sv_progress(s->ctx, "scheduling jobs", s->next, count));
    }
}

sv_status sv__run_queue(sv_ctx *ctx, const sv__wish *wishes, uint32_t count, uint32_t hosts,
                        int64_t until, bool best_fit, sv_arena *arena, sv_made_job *jobs)
{
    struct system s = {.ctx = ctx,
                       .wishes = wishes,
                       .jobs = jobs,
                       .arena = arena,
                       .busy = SV_ARENA_NEW(arena, bool, hosts),
                       .hosts = hosts,
                       .free = hosts,
                       .best_fit = best_fit};
    if (s.busy == NULL)
        return sv_fail(ctx, SV_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        jobs[i] = (sv_made_job){.submit = wishes[i].submit,
                                .begin = SV_TIME_OPEN,
                                .end = SV_TIME_OPEN,
                                .limit = wishes[i].limit,
                                .promised = SV_TIME_UNKNOWN,
                                .num_hosts = wishes[i].nodes,
                                .killed = wishes[i].killed};
    sv_status status = run(&s, count, until);
    sv_array_release(ctx, &s.queue);
    sv_array_release(ctx, &s.running);
    return status;
}
