/*
 * threads.c: parallel loops on POSIX threads.
 *
 * Idea: threads take pieces from a common counter; the calling thread works, too, and is the only
 * one that talks to the host (progress, cancelling). POSIX threads rather than OpenMP because the
 * library also runs inside OpenSM, where a second thread pool that never ends is unwelcome
 * (docs/decisions/0003).
 *
 * A loop is open while it has pieces. Threads enter and leave it under a lock; the caller closes it
 * when it finds no piece left, and waits for those who are inside. Who wakes up too late finds it
 * closed, so nobody waits for a thread that has nothing to do.
 *
 * Invariants: every started thread is joined before sv_threads_use returns; if a thread cannot be
 * started the others do its share; a loop's numbers change only while nobody is inside.
 * Cost: starting and joining threads, some tens of microseconds; a loop, two turns of a lock and
 * some microseconds to wake others.
 */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct worker {
    struct sv_threads *pool;
    sv_ctx ctx;
    unsigned number;
    pthread_t thread;
    uint64_t failed_piece;
    sv_status status;
};

struct sv_threads {
    sv_ctx *ctx;
    struct worker *workers;
    unsigned started;
    pthread_mutex_t lock;
    pthread_cond_t opened, left;
    /* Under the lock. */
    uint64_t loop;   /* its number */
    unsigned inside; /* threads that work on it, the caller not counted */
    bool open, ending;
    /* The loop. */
    atomic_uint_fast64_t next, done;
    atomic_bool stop;
    uint64_t pieces;
    sv_piece_fn *fn;
    void *arg;
};

/* Does one piece; false when there is none left or the work is to stop. */
static bool step(struct worker *worker)
{
    sv_threads *pool = worker->pool;
    if (atomic_load(&pool->stop))
        return false;
    uint64_t piece = atomic_fetch_add(&pool->next, 1);
    if (piece >= pool->pieces)
        return false;
    sv_status status = pool->fn(&worker->ctx, worker->number, piece, pool->arg);
    atomic_fetch_add(&pool->done, 1);
    if (status == SV_OK)
        return true;
    worker->status = status;
    worker->failed_piece = piece;
    atomic_store(&pool->stop, true);
    return false;
}

/* Takes part in every loop until the pool ends. */
static void *run(void *arg)
{
    struct worker *worker = arg;
    sv_threads *pool = worker->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->ending && !(pool->open && pool->loop != seen))
            pthread_cond_wait(&pool->opened, &pool->lock);
        if (pool->ending)
            break;
        seen = pool->loop;
        pool->inside++;
        pthread_mutex_unlock(&pool->lock);
        while (step(worker))
            ;
        pthread_mutex_lock(&pool->lock);
        if (--pool->inside == 0)
            pthread_cond_signal(&pool->left);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void worker_init(struct worker *worker, sv_threads *pool, unsigned number)
{
    *worker = (struct worker){.pool = pool, .number = number};
    worker->ctx.host = pool->ctx->host;
    worker->ctx.host.log = NULL;
    worker->ctx.host.progress = NULL;
    worker->ctx.host.cancelled = NULL;
    worker->ctx.threads = 1;
}

/* Lets threads in. */
static void open_loop(sv_threads *pool, uint64_t pieces, sv_piece_fn *fn, void *arg)
{
    pthread_mutex_lock(&pool->lock);
    pool->pieces = pieces;
    pool->fn = fn;
    pool->arg = arg;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->done, 0);
    atomic_store(&pool->stop, false);
    pool->loop++;
    pool->open = true;
    if (pieces > 1 && pool->started > 1)
        pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
}

/* Waits until all have left. */
static void close_loop(sv_threads *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->open = false;
    while (pool->inside > 0)
        pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* The failure with the lowest piece, unless the loop has failed already; workers forget theirs. */
static sv_status gather(sv_threads *pool, sv_status status)
{
    const struct worker *first = NULL;
    for (unsigned i = 0; i < pool->started; i++)
        if (pool->workers[i].status != SV_OK &&
            (first == NULL || pool->workers[i].failed_piece < first->failed_piece))
            first = &pool->workers[i];
    if (status == SV_OK && first != NULL) {
        status = pool->ctx->status = first->status;
        memcpy(pool->ctx->message, first->ctx.message, sizeof pool->ctx->message);
    }
    for (unsigned i = 0; i < pool->started; i++)
        pool->workers[i].status = SV_OK;
    return status;
}

unsigned sv_threads_count(const sv_threads *pool)
{
    return pool->started;
}

sv_status sv_threads_run(sv_threads *pool, const char *what, uint64_t pieces, sv_piece_fn *fn,
                         void *arg)
{
    sv_status status = SV_OK;
    open_loop(pool, pieces, fn, arg);
    while (status == SV_OK && step(&pool->workers[0]))
        if (what != NULL)
            status = sv_progress(pool->ctx, what, atomic_load(&pool->done), pieces);
    if (status != SV_OK)
        atomic_store(&pool->stop, true);
    close_loop(pool);
    return gather(pool, status);
}

static void end(sv_threads *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->opened);
    pthread_mutex_destroy(&pool->lock);
}

sv_status sv_threads_use(sv_ctx *ctx, unsigned threads, sv_threads_fn *fn, void *arg)
{
    sv_threads pool = {.ctx = ctx, .started = 1};
    pool.workers = sv_alloc(ctx, threads, sizeof *pool.workers);
    if (pool.workers == NULL)
        return SV_NO_MEMORY;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.opened, NULL);
    pthread_cond_init(&pool.left, NULL);
    for (unsigned i = 0; i < threads; i++)
        worker_init(&pool.workers[i], &pool, i);
    while (pool.started < threads && pthread_create(&pool.workers[pool.started].thread, NULL, run,
                                                    &pool.workers[pool.started]) == 0)
        pool.started++;
    sv_status status = fn(&pool, arg);
    end(&pool);
    sv_release(ctx, pool.workers);
    return status;
}

struct loop {
    const char *what;
    uint64_t pieces;
    sv_piece_fn *fn;
    void *arg;
};

static sv_status run_loop(sv_threads *pool, void *arg)
{
    const struct loop *loop = arg;
    return sv_threads_run(pool, loop->what, loop->pieces, loop->fn, loop->arg);
}

sv_status sv_parallel(sv_ctx *ctx, const char *what, uint64_t pieces, sv_piece_fn *fn, void *arg)
{
    struct loop loop = {what, pieces, fn, arg};
    return sv_threads_use(ctx, sv_ctx_threads(ctx, pieces), run_loop, &loop);
}
