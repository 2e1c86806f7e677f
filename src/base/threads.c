/*
 * threads.c: a parallel loop on POSIX threads.
 *
 * Idea: threads take pieces from a common counter; the calling thread works, too, and is the only
 * one that talks to the host (progress, cancelling). POSIX threads rather than OpenMP because the
 * library also runs inside OpenSM, where a second thread pool that never ends is unwelcome
 * (docs/decisions/0003).
 *
 * Invariants: every started thread is joined before sv_parallel returns; if a thread cannot be
 * started the others do its share.
 * Cost: starting and joining threads, some tens of microseconds.
 */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct job {
    atomic_uint_fast64_t next, done;
    atomic_bool stop;
    uint64_t pieces;
    sv_piece_fn *fn;
    void *arg;
};

struct worker {
    struct job *job;
    sv_ctx ctx;
    unsigned number;
    pthread_t thread;
    uint64_t failed_piece;
    sv_status status;
};

/* Does one piece; false when there is none left or the work is to stop. */
static bool step(struct worker *worker)
{
    struct job *job = worker->job;
    if (atomic_load(&job->stop))
        return false;
    uint64_t piece = atomic_fetch_add(&job->next, 1);
    if (piece >= job->pieces)
        return false;
    sv_status status = job->fn(&worker->ctx, worker->number, piece, job->arg);
    atomic_fetch_add(&job->done, 1);
    if (status == SV_OK)
        return true;
    worker->status = status;
    worker->failed_piece = piece;
    atomic_store(&job->stop, true);
    return false;
}

static void *run(void *arg)
{
    while (step(arg))
        ;
    return NULL;
}

static void worker_init(struct worker *worker, struct job *job, const sv_ctx *ctx, unsigned number)
{
    *worker = (struct worker){.job = job, .number = number};
    worker->ctx.host = ctx->host;
    worker->ctx.host.log = NULL;
    worker->ctx.host.progress = NULL;
    worker->ctx.host.cancelled = NULL;
    worker->ctx.threads = 1;
}

sv_status sv_parallel(sv_ctx *ctx, const char *what, uint64_t pieces, sv_piece_fn *fn, void *arg)
{
    struct job job = {.pieces = pieces, .fn = fn, .arg = arg};
    unsigned threads = sv_ctx_threads(ctx, pieces), started = 1;
    struct worker *workers = sv_alloc(ctx, threads, sizeof *workers);
    if (workers == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < threads; i++)
        worker_init(&workers[i], &job, ctx, i);
    while (started < threads &&
           pthread_create(&workers[started].thread, NULL, run, &workers[started]) == 0)
        started++;

    sv_status status = SV_OK;
    while (status == SV_OK && step(&workers[0]))
        status = sv_progress(ctx, what, atomic_load(&job.done), pieces);
    if (status != SV_OK)
        atomic_store(&job.stop, true);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);

    const struct worker *first = NULL;
    for (unsigned i = 0; i < started; i++)
        if (workers[i].status != SV_OK &&
            (first == NULL || workers[i].failed_piece < first->failed_piece))
            first = &workers[i];
    if (status == SV_OK && first != NULL) {
        status = first->status;
        ctx->status = status;
        memcpy(ctx->message, first->ctx.message, sizeof ctx->message);
    }
    sv_release(ctx, workers);
    return status;
}
