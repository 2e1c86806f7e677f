/*
 * base.h: what every other room stands on: results, and the context through which the library
 * reaches the program that uses it.
 *
 * The library never prints, never exits and reads no clock of its own. Memory, messages, progress,
 * cancelling and time come in through an sv_host; whatever is not supplied gets a sane default
 * (the C library's allocator, silence, never cancelled, the monotonic clock).
 *
 * A context belongs to one thread at a time. Objects made with a context (fabrics, say) may be
 * read from many threads, and outlive neither the host's allocator nor its user pointer.
 */
#ifndef SELVAGE_BASE_H
#define SELVAGE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SV_API          __attribute__((visibility("default")))
#define SV_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define SV_MUST_USE     __attribute__((warn_unused_result))
#else
#define SV_API
#define SV_PRINTF(f, a)
#define SV_MUST_USE
#endif

/*
 * How a call ended. Everything but SV_OK leaves its outputs untouched and a one-line explanation
 * in the context (sv_ctx_message).
 */
typedef enum sv_status {
    SV_OK = 0,
    SV_BAD_INPUT,   /* a file or a spec string is wrong; the message says where */
    SV_IO,          /* the system refused to read or write */
    SV_NO_MEMORY,   /* the allocator said no */
    SV_UNSUPPORTED, /* this build or this format cannot do that */
    SV_INFEASIBLE,  /* the question is fine, the answer is "it does not fit": a result, not a crash
                     */
    SV_CANCELLED    /* the host asked to stop */
} sv_status;

typedef enum sv_log_level { SV_LOG_DEBUG, SV_LOG_INFO, SV_LOG_WARNING } sv_log_level;

/* What the embedding program supplies. Every slot may be NULL. */
typedef struct sv_host {
    void *user;
    /* As C's realloc, but size 0 frees; must be callable from several threads at once. */
    void *(*resize)(void *user, void *block, size_t size);
    void (*log)(void *user, sv_log_level level, const char *message);
    /* total is 0 where the amount of work is not known beforehand. */
    void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
    bool (*cancelled)(void *user);
    uint64_t (*clock_ns)(void *user);
    /*
     * This process may do what those who can change the files it is told to use may not: a daemon
     * that runs as root, say. Then only regular files are read and replaced, symbolic links in
     * directories that others can write are refused, new files are not for everybody (0640), and
     * messages do not quote what files hold.
     */
    bool privileged;
} sv_host;

typedef struct sv_ctx sv_ctx;

/* Memory that results share: who holds it is the library's business alone. */
typedef struct sv_pool sv_pool;

/*
 * Makes a context.
 *
 * host: copied; NULL for all defaults.
 * Returns the context, owned by the caller (sv_ctx_free), or NULL when there is no memory.
 * Time: O(1).
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * if (sv_topology_generate(ctx, "torus:4x4x3,hosts=4", &fabric) != SV_OK)
 *     fprintf(stderr, "%s\n", sv_ctx_message(ctx));
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API sv_ctx *sv_ctx_new(const sv_host *host);

/* Frees a context. NULL is fine. Time: O(1). */
SV_API void sv_ctx_free(sv_ctx *ctx);

/*
 * The explanation of the last call that did not return SV_OK: one line, lower case, no full stop;
 * for bad input it starts with "file:line: ". Empty when nothing failed yet. Owned by the context,
 * valid until its next failing call. Time: O(1).
 */
SV_API const char *sv_ctx_message(const sv_ctx *ctx);

/* The status that belongs to sv_ctx_message. Time: O(1). */
SV_API sv_status sv_ctx_status(const sv_ctx *ctx);

/*
 * Whether the last failure was SV_BAD_INPUT in the request itself: an engine, option, policy,
 * pattern, topology family … that is not known, a key that it does not have, a value that the key
 * cannot take. False for what is wrong in a file. The command exits with 2 and 3 accordingly.
 * Time: O(1).
 */
SV_API bool sv_ctx_in_request(const sv_ctx *ctx);

/*
 * How many threads long computations may use; 0 (the default) means one for each online core.
 * Results do not depend on it. Time: O(1).
 */
SV_API void sv_ctx_set_threads(sv_ctx *ctx, unsigned threads);

/* A short name of a status ("bad input"), never NULL. Time: O(1). */
SV_API const char *sv_status_name(sv_status status);

/*
 * Where bytes come from: a file, a pipe, a piece of memory. read returns the number of bytes put
 * into buffer, 0 at the end, or -1 with errno set. name goes into messages.
 */
typedef struct sv_source {
    const char *name;
    void *user;
    int64_t (*read)(void *user, void *buffer, size_t size);
} sv_source;

/*
 * Where bytes go: write takes all of them or returns false with errno set. name goes into messages.
 */
typedef struct sv_sink {
    const char *name;
    void *user;
    bool (*write)(void *user, const void *bytes, size_t size);
} sv_sink;

/* The version of the library, "major.minor.patch". Time: O(1). */
SV_API const char *sv_version(void);

/* The optional parts in this build, separated by blanks ("metis jansson"). Time: O(1). */
SV_API const char *sv_features(void);

#ifdef __cplusplus
}
#endif
#endif
