/*
 * jobs.h: what a batch system says of jobs: who runs where now, and who ran where in a history.
 *
 * Allocations know names of hosts, nothing of a fabric; sv_allocations_map makes of them, at one
 * moment, a job map for a fabric (jobmap.h).
 */
#ifndef SELVAGE_JOBS_H
#define SELVAGE_JOBS_H

#include <selvage/jobmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times are seconds since 1970, UTC. */
#define SV_TIME_UNKNOWN INT64_MIN /* when it began is not told */
#define SV_TIME_OPEN    INT64_MAX /* it has not ended */

typedef struct sv_allocation {
    const char *job; /* as the batch system calls it */
    int64_t begin, end;
    const uint32_t *hosts; /* numbers of names, ascending, each once; at least one */
    uint32_t num_hosts;
} sv_allocation;

/* Whether it runs at a moment; at SV_TIME_OPEN: whether it has not ended. */
static inline bool sv_allocation_runs(const sv_allocation *one, int64_t at)
{
    return one->begin <= at && (at < one->end || one->end == SV_TIME_OPEN);
}

typedef struct sv_allocations {
    const sv_allocation *list; /* by begin, then as they came */
    uint32_t count;
    const char *const *hosts; /* the names, as they came */
    const uint32_t *lines;    /* of the file, in which each name came first; 0: not known (JSON) */
    uint32_t num_hosts;
    int64_t begin, end; /* of the history: the first known begin, the last begin or known end;
                           SV_TIME_UNKNOWN both if no time is known */
    uint32_t left_out;  /* entries that are no allocation: not running (or never), without nodes,
                           of no length */
    bool blank; /* not a word was there, not even titles: nothing runs, or nobody answered */
    sv_pool *store;
} sv_allocations;

/* How allocations are written down. */
typedef enum sv_jobs_format {
    SV_JOBS_AUTO,   /* recognised by content */
    SV_JOBS_SQUEUE, /* squeue's columns, with its line of titles or as -h -o "%i %T %N" */
    SV_JOBS_JSON,   /* squeue --json, slurmrestd's jobs */
    SV_JOBS_SACCT,  /* sacct --parsable2: titles, then fields between | */
    SV_JOBS_SWF,    /* the Standard Workload Format, with lists of node numbers */
    SV_JOBS_MAP,    /* NODE JOB a line, as jobmap.h */
    SV_JOBS_FORMATS
} sv_jobs_format;

/* "auto", "squeue", "json", "sacct", "swf", "map"; NULL beyond the last. Time: O(1). */
SV_API const char *sv_jobs_format_name(sv_jobs_format format);

/*
 * Calls take for each name that a host list stands for, in its order: "n[001-018,33]-ib,login".
 * Numbers have as many digits as the low end of their range at least. BAD_INPUT (without a place:
 * the caller knows it; and take has not been called) for brackets that do not match, ranges that
 * descend, empty names, blanks, more than a million names; what take returns otherwise.
 * Time: linear in the names.
 */
typedef sv_status sv_host_fn(void *user, const char *name, size_t length);
SV_API SV_MUST_USE sv_status sv_hostlist_expand(sv_ctx *ctx, const char *text, size_t length,
                                                sv_host_fn *take, void *user);

/*
 * Reads allocations.
 *
 * Of squeue, JSON and maps all that run now (their end is SV_TIME_OPEN); of sacct and SWF all that
 * ever ran. Of Slurm's states RUNNING counts, and RESIZING and SIGNALING, which are RUNNING, too.
 * SUSPENDED and STOPPED jobs do not, since they are silent; nor do CONFIGURING ones, which have not
 * begun, nor COMPLETING ones, which are over (and of which Slurm lists fewer nodes each time).
 * Tasks of an array ("12_3") are jobs of their own; parts of a heterogeneous job ("12+0", "12+1")
 * are one ("12"). A job that comes twice with the same times is one; with other times (requeued) it
 * is several allocations of one name.
 *
 * *result: owned by the caller (sv_allocations_free). BAD_INPUT with "name:line: what" ("name:
 * what" in JSON). UNSUPPORTED: an SWF that does not tell where jobs ran, or JSON in a build without
 * jansson. An empty list is not wrong: nothing runs. Time: linear, and sorting.
 */
SV_API SV_MUST_USE sv_status sv_allocations_read(sv_ctx *ctx, const sv_source *source,
                                                 sv_jobs_format format, sv_allocations **result);

/* The same from a file ("-": standard input). IO when it cannot be read. */
SV_API SV_MUST_USE sv_status sv_allocations_load(sv_ctx *ctx, const char *path,
                                                 sv_jobs_format format, sv_allocations **result);

/* Frees them. NULL is fine. */
SV_API void sv_allocations_free(sv_allocations *allocations);

/* How names of hosts find nodes of a fabric. */
typedef enum sv_placing {
    SV_PLACE_BY_NAME, /* as jobmap.h does; what is not there is counted as unknown */
    SV_PLACE_IN_ORDER /* the k-th name of all (ascending, numbers as numbers) is the k-th host
                         adapter that computes, dead or not: for histories whose fabric is not
                         known */
} sv_placing;

enum { SV_PLACED_NAMED = 5 };

/* What a job map made of allocations leaves out. */
typedef struct sv_placed {
    uint32_t running;                  /* jobs at that moment */
    uint32_t unknown_hosts;            /* names of them that are not in the fabric, each once */
    uint32_t unknown[SV_PLACED_NAMED]; /* numbers of the first of these */
    uint32_t homeless;                 /* jobs without a live terminal: never in the map */
    uint32_t one_switch;               /* jobs whose terminals hang on one switch */
} sv_placed;

/*
 * The jobs that run at a moment (begin <= at < end; at SV_TIME_OPEN: those that have not ended), on
 * a fabric, in their order. several_switches: only those whose terminals hang on at least two
 * switches. Nobody is warned of hosts that are not there: *placed tells (it may be NULL).
 * *map: owned by the caller (sv_jobmap_free); its unknown is placed->unknown_hosts. INFEASIBLE:
 * more names than adapters, in order. Time: linear in fabric and allocations, expected, and
 * sorting.
 */
SV_API SV_MUST_USE sv_status sv_allocations_map(sv_ctx *ctx, const sv_allocations *allocations,
                                                int64_t at, const sv_fabric *fabric,
                                                sv_placing placing, bool several_switches,
                                                sv_jobmap **map, sv_placed *placed);

/*
 * Writes the jobs that run at a moment as a job map, a line for each host and job, with the names
 * of the hosts as they came: hosts ascending, then jobs, numbers as numbers. The file ("-":
 * standard output) appears whole or not at all. Time: linear, and sorting hosts.
 */
SV_API SV_MUST_USE sv_status sv_allocations_save(sv_ctx *ctx, const sv_allocations *allocations,
                                                 int64_t at, const char *path);

/*
 * What a moment means in a history: seconds since 1970, a date ("2013-01-05", with a time of day
 * "2013-01-05T12:00:00" and perhaps a zone; UTC without one), or a length of time from the
 * beginning ("+36h": s, m or min, h, d, y). BAD_INPUT (without a place) for anything else.
 */
SV_API SV_MUST_USE sv_status sv_allocations_moment(sv_ctx *ctx, const sv_allocations *allocations,
                                                   const char *text, int64_t *at);

/* Text order in which runs of digits are numbers: n9 before n10. As strcmp. Time: linear. */
SV_API int sv_hosts_compare(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
