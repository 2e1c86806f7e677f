/*
 * crew.c: threads that run cells, each cell on one of them.
 *
 * The thread that made the crew gives cells and takes finished ones; it computes nothing, so that
 * the database, other processes and whoever watches are served at once.
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

enum { MOST_THREADS = 256 };

struct hand {
    sv__crew *crew;
    sv_ctx *ctx;
    pthread_t thread;
    uint32_t cell; /* SV_NONE: none */
};

struct sv__crew {
    sv_ctx *ctx;
    const sv_study *study;
    sv__cell_limits limits;
    pthread_mutex_t lock;
    pthread_cond_t given, finished;
    sv__job *to_do, *last, *done; /* to_do: first to last */
    uint32_t busy;
    bool ending;
    atomic_bool stop;
    struct hand hands[MOST_THREADS];
    unsigned num_hands;
    char machine[64];
};

static bool asked_to_stop(void *user)
{
    return atomic_load(&((sv__crew *)user)->stop);
}

static void run_job(struct hand *hand, sv__job *job)
{
    const sv__crew *crew = hand->crew;
    sv_arena_init(&job->arena, hand->ctx);
    job->status = sv__cell_run(crew->study, job->cell, &crew->limits, &job->arena, &job->result);
    if (job->status != SV_OK)
        snprintf(job->message, sizeof job->message, "%s", sv_ctx_message(hand->ctx));
    memcpy(job->result.machine, crew->machine, sizeof job->result.machine);
}

static void *work(void *arg)
{
    struct hand *hand = arg;
    sv__crew *crew = hand->crew;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->to_do == NULL && !crew->ending)
            pthread_cond_wait(&crew->given, &crew->lock);
        if (crew->ending)
            break;
        sv__job *job = crew->to_do;
        crew->to_do = job->next;
        hand->cell = job->cell;
        pthread_mutex_unlock(&crew->lock);
        run_job(hand, job);
        pthread_mutex_lock(&crew->lock);
        hand->cell = SV_NONE;
        job->next = crew->done;
        crew->done = job;
        pthread_cond_signal(&crew->finished);
    }
    pthread_mutex_unlock(&crew->lock);
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

sv_status sv__crew_new(sv_ctx *ctx, const sv_study *study, const sv_study_limits *limits,
                       sv__crew **crew)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = limits->threads > 0 ? limits->threads : (unsigned)(cores > 0 ? cores : 1);
    sv__crew *c = sv_alloc(ctx, 1, sizeof *c);
    *crew = NULL;
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
    for (unsigned i = 0; i < wanted && i < MOST_THREADS; i++) {
        struct hand *hand = &c->hands[i];
        *hand = (struct hand){.crew = c, .ctx = own_context(ctx), .cell = SV_NONE};
        if (hand->ctx == NULL || pthread_create(&hand->thread, NULL, work, hand) != 0) {
            sv_ctx_free(hand->ctx);
            break;
        }
        c->num_hands++;
    }
    if (c->num_hands == 0) {
        sv__crew_free(c);
        return sv_fail(ctx, SV_IO, "cannot start a thread");
    }
    *crew = c;
    return SV_OK;
}

unsigned sv__crew_threads(const sv__crew *crew)
{
    return crew->num_hands;
}

sv_status sv__crew_give(sv__crew *crew, uint32_t cell)
{
    sv__job *job = sv_alloc(crew->ctx, 1, sizeof *job);
    if (job == NULL)
        return SV_NO_MEMORY;
    job->cell = cell;
    pthread_mutex_lock(&crew->lock);
    if (crew->to_do == NULL)
        crew->to_do = job;
    else
        crew->last->next = job;
    crew->last = job;
    crew->busy++;
    pthread_cond_signal(&crew->given);
    pthread_mutex_unlock(&crew->lock);
    return SV_OK;
}

uint32_t sv__crew_busy(sv__crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    uint32_t busy = crew->busy;
    pthread_mutex_unlock(&crew->lock);
    return busy;
}

sv__job *sv__crew_take(sv__crew *crew, unsigned milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&crew->lock);
    int code = 0;
    while (crew->done == NULL && code == 0 && milliseconds > 0)
        code = pthread_cond_timedwait(&crew->finished, &crew->lock, &until);
    sv__job *job = crew->done;
    if (job != NULL) {
        crew->done = job->next;
        crew->busy--;
    }
    pthread_mutex_unlock(&crew->lock);
    return job;
}

void sv__crew_release(sv__crew *crew, sv__job *job)
{
    if (job->arena.ctx != NULL) {
        job->arena.ctx = crew->ctx;
        sv_arena_release(&job->arena);
    }
    sv_release(crew->ctx, job);
}

uint32_t sv__crew_current(sv__crew *crew)
{
    uint32_t cell = SV_NONE;
    pthread_mutex_lock(&crew->lock);
    for (unsigned i = 0; i < crew->num_hands && cell == SV_NONE; i++)
        cell = crew->hands[i].cell;
    pthread_mutex_unlock(&crew->lock);
    return cell;
}

static void release_all(sv__crew *crew, sv__job *list)
{
    for (sv__job *next; list != NULL; list = next) {
        next = list->next;
        sv__crew_release(crew, list);
    }
}

void sv__crew_free(sv__crew *crew)
{
    if (crew == NULL)
        return;
    atomic_store(&crew->stop, true);
    pthread_mutex_lock(&crew->lock);
    crew->ending = true;
    pthread_cond_broadcast(&crew->given);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->num_hands; i++)
        pthread_join(crew->hands[i].thread, NULL);
    release_all(crew, crew->to_do);
    release_all(crew, crew->done);
    for (unsigned i = 0; i < crew->num_hands; i++)
        sv_ctx_free(crew->hands[i].ctx);
    pthread_cond_destroy(&crew->finished);
    pthread_cond_destroy(&crew->given);
    pthread_mutex_destroy(&crew->lock);
    sv_release(crew->ctx, crew);
}
