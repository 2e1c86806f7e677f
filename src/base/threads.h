/*
 * threads.h: independent pieces of work on several threads.
 *
 * Results must not depend on who did which piece: write to places that belong to the piece, or
 * combine with operations whose order does not matter (integer sums, minima).
 */
#ifndef SV_BASE_THREADS_H
#define SV_BASE_THREADS_H

#include "base/ctx.h"

/*
 * One piece. ctx is the worker's own (same allocator, no log, no progress); worker is below the
 * number of threads that sv_ctx_threads(ctx, pieces) gave.
 */
typedef sv_status sv_piece_fn(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg);

/*
 * Does all pieces, showing progress as what. If some fail, the one with the lowest number among
 * those that were tried gives the status and message, and the rest is not started.
 */
sv_status sv_parallel(sv_ctx *ctx, const char *what, uint64_t pieces, sv_piece_fn *fn, void *arg);

/* Threads that wait for work, for computations that have many small loops one after the other. */
typedef struct sv_threads sv_threads;

/* What is done while the threads are there. */
typedef sv_status sv_threads_fn(sv_threads *pool, void *arg);

/* Starts threads (this one counts), calls fn, ends them, and returns what fn did. */
sv_status sv_threads_use(sv_ctx *ctx, unsigned threads, sv_threads_fn *fn, void *arg);

/* How many threads there are, this one counted. */
unsigned sv_threads_count(const sv_threads *pool);

/* As sv_parallel, on the threads that are there. what NULL: no progress is shown. */
sv_status sv_threads_run(sv_threads *pool, const char *what, uint64_t pieces, sv_piece_fn *fn,
                         void *arg);

#endif
