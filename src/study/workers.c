/*
 * workers.c: threads that run cells, each cell on one of them.
 *
 * The thread that made the workers gives cells and takes finished ones; it computes nothing, so
 * that the database, other processes and whoever watches are served at once.
 *
 * Invariants: lists and counts change under the lock; a thread's context is used by that thread
 * only, but for memory that it leaves behind in a finished job.
 * Cost: two turns of a lock for each cell.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "study/study.h"

enum { MAX_THREADS = 256 };

struct worker {
    sv__study_workers *workers;
    sv_ctx *ctx;
    pthread_t thread;
    uint32_t cell; /* SV_NONE: none */
};

struct sv__study_workers {
    sv_ctx *ctx;
    const sv_study *study;
    sv__cell_limits limits;
    pthread_mutex_t lock;
    pthread_cond_t given, finished;
    sv__study_job *to_do, *last, *done; /* to_do: first to last */
    uint32_t busy;
    bool ending;
    atomic_bool stop;
    struct worker at[MAX_THREADS];
    unsigned num_threads;
    char machine[64];
};

static bool asked_to_stop(void *user)
{
    return atomic_load(&((sv__study_workers *)user)->stop);
}

static void run_job(struct worker *worker, sv__study_job *job)
{
    const sv__study_workers *workers = worker->workers;
    sv_arena_init(&job->arena, worker->ctx);
    job->status =
        sv__cell_run(workers->study, job->cell, &workers->limits, &job->arena, &job->result);
    if (job->status != SV_OK)
        snprintf(job->message, sizeof job->message, "%s", sv_ctx_message(worker->ctx));
    memcpy(job->result.machine, workers->machine, sizeof job->result.machine);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    sv__study_workers *workers = worker->workers;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        while (workers->to_do == NULL && !workers->ending)
            pthread_cond_wait(&workers->given, &workers->lock);
        if (workers->ending)
            break;
        sv__study_job *job = workers->to_do;
        workers->to_do = job->next;
        worker->cell = job->cell;
        pthread_mutex_unlock(&workers->lock);
        run_job(worker, job);
        pthread_mutex_lock(&workers->lock);
        worker->cell = SV_NONE;
        job->next = workers->done;
        workers->done = job;
        pthread_cond_signal(&workers->finished);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* A context for a thread: same memory, nobody to talk to. */
static sv_ctx *own_context(const sv_ctx *ctx)
{
    sv_host host = ctx->host;
    host.log = NULL;
    host.progress = NULL;
    host.cancelled = NULL;
    sv_ctx *made = sv_ctx_new(&host);
    if (made != NULL)
        sv_ctx_set_threads(made, 1);
    return made;
}

sv_status sv__workers_new(sv_ctx *ctx, const sv_study *study, const sv_study_limits *limits,
                          sv__study_workers **workers)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = limits->threads > 0 ? limits->threads : (unsigned)(cores > 0 ? cores : 1);
    sv__study_workers *c = sv_alloc(ctx, 1, sizeof *c);
    *workers = NULL;
    if (c == NULL)
        return SV_NO_MEMORY;
    c->ctx = ctx;
    c->study = study;
    c->limits = (sv__cell_limits){limits->seconds, limits->bytes, asked_to_stop, c};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->given, NULL);
    pthread_cond_init(&c->finished, NULL);
    if (gethostname(c->machine, sizeof c->machine - 1) != 0)
        c->machine[0] = 0;
    for (unsigned i = 0; i < wanted && i < MAX_THREADS; i++) {
        struct worker *worker = &c->at[i];
        *worker = (struct worker){.workers = c, .ctx = own_context(ctx), .cell = SV_NONE};
        if (worker->ctx == NULL || pthread_create(&worker->thread, NULL, work, worker) != 0) {
            sv_ctx_free(worker->ctx);
            break;
        }
        c->num_threads++;
    }
    if (c->num_threads == 0) {
        sv__workers_free(c);
        return sv_fail(ctx, SV_IO, "cannot start a thread");
    }
    *workers = c;
    return SV_OK;
}

unsigned sv__workers_threads(const sv__study_workers *workers)
{
    return workers->num_threads;
}

sv_status sv__workers_give(sv__study_workers *workers, uint32_t cell)
{
    sv__study_job *job = sv_alloc(workers->ctx, 1, sizeof *job);
    if (job == NULL)
        return SV_NO_MEMORY;
    job->cell = cell;
    pthread_mutex_lock(&workers->lock);
    if (workers->to_do == NULL)
        workers->to_do = job;
    else
        workers->last->next = job;
    workers->last = job;
    workers->busy++;
    pthread_cond_signal(&workers->given);
    pthread_mutex_unlock(&workers->lock);
    return SV_OK;
}

uint32_t sv__workers_busy(sv__study_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    uint32_t busy = workers->busy;
    pthread_mutex_unlock(&workers->lock);
    return busy;
}

sv__study_job *sv__workers_take(sv__study_workers *workers, unsigned milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&workers->lock);
    int code = 0;
    while (workers->done == NULL && code == 0 && milliseconds > 0)
        code = pthread_cond_timedwait(&workers->finished, &workers->lock, &until);
    sv__study_job *job = workers->done;
    if (job != NULL) {
        workers->done = job->next;
        workers->busy--;
    }
    pthread_mutex_unlock(&workers->lock);
    return job;
}

void sv__workers_release(sv__study_workers *workers, sv__study_job *job)
{
    if (job->arena.ctx != NULL) {
        job->arena.ctx = workers->ctx;
        sv_arena_release(&job->arena);
    }
    sv_release(workers->ctx, job);
}

uint32_t sv__workers_current(sv__study_workers *workers)
{
    uint32_t cell = SV_NONE;
    pthread_mutex_lock(&workers->lock);
    for (unsigned i = 0; i < workers->num_threads && cell == SV_NONE; i++)
        cell = workers->at[i].cell;
    pthread_mutex_unlock(&workers->lock);
    return cell;
}

static void release_all(sv__study_workers *workers, sv__study_job *list)
{
    for (sv__study_job *next; list != NULL; list = next) {
        next = list->next;
        sv__workers_release(workers, list);
    }
}

void sv__workers_free(sv__study_workers *workers)
{
    if (workers == NULL)
        return;
    atomic_store(&workers->stop, true);
    pthread_mutex_lock(&workers->lock);
    workers->ending = true;
    pthread_cond_broadcast(&workers->given);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->num_threads; i++)
        pthread_join(workers->at[i].thread, NULL);
    release_all(workers, workers->to_do);
    release_all(workers, workers->done);
    for (unsigned i = 0; i < workers->num_threads; i++)
        sv_ctx_free(workers->at[i].ctx);
    pthread_cond_destroy(&workers->finished);
    pthread_cond_destroy(&workers->given);
    pthread_mutex_destroy(&workers->lock);
    sv_release(workers->ctx, workers);
}
